/* wick explain: the dynamic sizes of a compiled model, its specializations, the profile of sizes,
 * branches and loops, and the schedule template of each kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/shown.h"
#include "driver/specialization/cached_specializations.h"
#include "loop/schedule.h"

#include "command.h"
#include "invocation.h"
#include "profile.h"

typedef struct explain_state {
  wick_invocation invocation;
  const char *profile;
  bool json;
  json_t *record;
} explain_state;

static json_t *explain_sizes(const wick_compiled *k, wick_arena *mem)
{
  json_t *all = json_array();
  for (uint32_t i = 0; i < wick_compiled_nsize(k); i++) {
    wick_size_range r = wick_compiled_size(k, i);
    json_array_append_new(all, json_pack("{s:s, s:I, s:I, s:I}", "name", wick_str_utf8(mem, r.name),
                                         "least", (json_int_t)r.least, "most", (json_int_t)r.most,
                                         "step", (json_int_t)r.step));
  }
  return all;
}

/* "rate=16000", "mode=1:0" */
static void explain_contents(const json_t *contents, const char *between, wick_text *t)
{
  const char *name;
  json_t *numbers, *number;
  size_t i;
  json_object_foreach((json_t *)(uintptr_t)contents, name, numbers)
  {
    wick_text_printf(t, " %s%s", name, between);
    json_array_foreach(numbers, i, number)
        wick_text_printf(t, "%s%" JSON_INTEGER_FORMAT, i ? ":" : "", json_integer_value(number));
  }
}

/* "batch=1 seq=128 rate=16000" */
static const char *explain_values(const wick_compiled *k, const json_t *entry, wick_arena *mem)
{
  const json_t *values = json_object_get(entry, "values");
  wick_text t = wick_text_begin(mem);
  for (uint32_t i = 0; i < wick_compiled_nsize(k); i++)
    wick_text_printf(&t, "%s%s=%" JSON_INTEGER_FORMAT, i ? " " : "", wick_compiled_size(k, i).name,
                     json_integer_value(json_array_get(values, i)));
  explain_contents(json_object_get(entry, "guards"), "=", &t);
  return t.at;
}

/* Returns the reason why there is a specialization or not. */
static const char *explain_why(const json_t *entry, wick_arena *mem)
{
  const char *state = json_string_value(json_object_get(entry, "specialization")),
             *why = json_string_value(json_object_get(entry, "why"));
  if (!json_integer_value(json_object_get(entry, "runs")) && state && strcmp(state, "none") == 0)
    return "no specialization: these sizes have not occurred";
  if (!state || strcmp(state, "none") == 0)
    return "no specialization: these sizes occur too rarely";
  if (strcmp(state, "ahead") == 0)
    return "specialized ahead of time: --specialize-dim, --specialize-input";
  if (strcmp(state, "cached") == 0) return "specialized, in the cache: these sizes occur often";
  if (strcmp(state, "ready") == 0) return "specialized: these sizes occur often";
  if (strcmp(state, "slower") == 0) return "no specialization: it took longer";
  return wick_str_printf(mem, "a specialization %s%s%s", state, why && *why ? ": " : "",
                         why ? why : "");
}

static void explain_entry(explain_state *s, const json_t *entry)
{
  wick_arena *mem = &s->invocation.mem;
  json_int_t runs = json_integer_value(json_object_get(entry, "runs")),
             base = json_integer_value(json_object_get(entry, "base_ns")),
             specialized = json_integer_value(json_object_get(entry, "specialized_ns"));
  printf("  %-28s %8" JSON_INTEGER_FORMAT " runs",
         wick_str_shown(mem, explain_values(s->invocation.compiled, entry, mem)), runs);
  if (base) printf("  %.3f ms by the base program", 1e-6 * (double)base);
  if (specialized) printf("  %.3f ms specialized", 1e-6 * (double)specialized);
  if (base && specialized) printf(" (%.2f)", (double)specialized / (double)base);
  wick_text always = wick_text_begin(mem);
  explain_contents(json_object_get(entry, "always"), " always ", &always);
  printf("  %s%s%s\n", wick_str_shown(mem, explain_why(entry, mem)), always.n ? "; so far" : "",
         wick_str_shown(mem, always.at));
}

/* Prints the counts of a branch or loop. */
static void explain_flow(const json_t *entry, wick_arena *mem)
{
  const char *location = json_string_value(json_object_get(entry, "location")),
             *kind = json_string_value(json_object_get(entry, "kind"));
  json_int_t n[4];
  static const char *const of[2][4] = {{"then", "else", "then", "else"},
                                       {"times", "steps", "least", "most"}};
  bool loop = kind && strcmp(kind, "loop") == 0;
  for (int k = 0; k < 4; k++) n[k] = json_integer_value(json_object_get(entry, of[loop][k]));
  printf("  %s: ", location ? wick_str_shown(mem, location) : "?");
  if (!loop)
    printf("then %" JSON_INTEGER_FORMAT ", else %" JSON_INTEGER_FORMAT "\n", n[0], n[1]);
  else if (!n[0])
    printf("never entered\n");
  else
    printf("entered %" JSON_INTEGER_FORMAT " times, %" JSON_INTEGER_FORMAT
           " to %" JSON_INTEGER_FORMAT " steps, %" JSON_INTEGER_FORMAT " in all\n",
           n[0], n[2], n[3], n[1]);
}

/* Returns the name of the kernel's schedule template; NULL without a schedule. */
static const char *explain_template(const wick_kernel_facts *f, wick_arena *mem)
{
  const char *name = wick_schedule_template(f->schedule, mem);
  return name ? wick_str_utf8(mem, name) : NULL;
}

static json_t *explain_kernels(const wick_compiled *k, wick_arena *mem)
{
  json_t *all = json_array();
  for (uint32_t i = 0; i < wick_compiled_nkernel(k); i++) {
    wick_kernel_facts f = wick_compiled_kernel(k, i);
    json_array_append_new(
        all, json_pack("{s:s, s:s?, s:s, s:s}", "name", wick_str_utf8(mem, f.name), "template",
                       explain_template(&f, mem), "location", wick_str_utf8(mem, f.location),
                       "schedule", wick_str_utf8(mem, f.schedule)));
  }
  return all;
}

static void explain_print_kernels(const wick_compiled *k, wick_arena *mem)
{
  if (wick_compiled_nkernel(k)) printf("kernels and their schedule templates:\n");
  for (uint32_t i = 0; i < wick_compiled_nkernel(k); i++) {
    wick_kernel_facts f = wick_compiled_kernel(k, i);
    const char *template = explain_template(&f, mem);
    printf("  %-32s %-20s %s\n", wick_str_shown(mem, f.name), template ? template : "none",
           wick_str_shown(mem, f.location));
  }
}

static void explain_print(explain_state *s)
{
  const wick_compiled *k = s->invocation.compiled;
  const json_t *entry;
  size_t i;
  printf("%s: %s\n", wick_str_shown(&s->invocation.mem, wick_path_base(s->invocation.path)),
         wick_compiled_nsize(k) ? "one program for all sizes of" : "no size varies");
  for (uint32_t n = 0; n < wick_compiled_nsize(k); n++) {
    wick_size_range r = wick_compiled_size(k, n);
    printf("  %s in %" PRId64 "..%" PRId64, wick_str_shown(&s->invocation.mem, r.name), r.least,
           r.most);
    if (r.step > 1) printf(" by %" PRId64, r.step);
    putchar('\n');
  }
  const json_t *profile = json_object_get(s->record, "entries");
  if (json_array_size(profile)) printf("sizes that have occurred or are specialized:\n");
  json_array_foreach(profile, i, entry) explain_entry(s, entry);
  const json_t *flow = json_object_get(s->record, "flow");
  if (json_array_size(flow)) printf("branches and loops, and what runs did there:\n");
  json_array_foreach(flow, i, entry) explain_flow(entry, &s->invocation.mem);
  explain_print_kernels(k, &s->invocation.mem);
}

/* Lists specializations in the cache that have not occurred in this process. */
static wick_status explain_cached(explain_state *s)
{
  wick_invocation *j = &s->invocation;
  uint32_t n;
  const wick_cached_specialization *cached;
  wick_cached_specializations(j->compiled, &j->files, &j->mem, &n, &cached);
  for (uint32_t i = 0; i < n; i++) {
    json_t *values = json_array();
    for (uint32_t k = 0; k < wick_compiled_nsize(j->compiled); k++)
      json_array_append_new(values, json_integer((json_int_t)cached[i].dims[k]));
    json_t *one =
        json_pack("{s:O, s:[{s:o, s:i, s:s, s:s, s:i, s:i, s:o*}]}", "sizes",
                  json_object_get(s->record, "sizes"), "entries", "values", values, "runs", 0,
                  "specialization", "cached", "why", "", "base_ns", 0, "specialized_ns", 0,
                  "guards", wick_profile_contents(j->compiled, cached[i].guards, &j->mem));
    wick_status bad = wick_profile_add(s->record, one, j->path, &j->mem);
    json_decref(one);
    WICK_TRY(bad);
  }
  return NULL;
}

static wick_status explain_work(explain_state *s)
{
  wick_invocation *j = &s->invocation;
  json_t *profile = NULL;
  WICK_TRY(wick_invocation_load(j));
  j->dynamic = !j->nrange;
  WICK_TRY(wick_invocation_compile(j, NULL));
  s->record = wick_profile_json(j->compiled, &j->mem);
  WICK_TRY(explain_cached(s));
  if (s->profile) WICK_TRY(wick_profile_read(s->profile, &j->mem, &profile));
  if (s->profile && !profile)
    return wick_fail(&j->mem, WICK_EIO, s->profile, "there is no such file");
  wick_status bad = profile ? wick_profile_add(s->record, profile, s->profile, &j->mem) : NULL;
  json_decref(profile);
  WICK_TRY(bad);
  if (!s->json) {
    explain_print(s);
    return NULL;
  }
  json_t *all = json_pack(
      "{s:s, s:o, s:O, s:O, s:o}", "file", wick_str_utf8(&j->mem, j->path), "sizes",
      explain_sizes(j->compiled, &j->mem), "entries", json_object_get(s->record, "entries"), "flow",
      json_object_get(s->record, "flow"), "kernels", explain_kernels(j->compiled, &j->mem));
  json_dumpf(all, stdout, JSON_INDENT(1));
  putchar('\n');
  json_decref(all);
  return NULL;
}

static int explain_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  explain_state *s = arg;
  const wick_flag flag[] = {
      {"profile", 0, WICK_FLAG_FILE, &s->profile, "FILE",
       "what `wick run --record-stats` has recorded"},
      {"json", 0, WICK_FLAG_BOOL, &s->json, NULL, "for programs"},
      WICK_INVOCATION_FLAGS(j),
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_invocation_args(j, &args, argc, argv);
  return stop >= 0 ? stop : wick_invocation_end(j, explain_work(s));
}

int wick_cmd_explain(int argc, char **argv)
{
  explain_state s = {0};
  int status = wick_invocation_main(&s.invocation, explain_main, &s, argc, argv);
  json_decref(s.record);
  return status;
}
