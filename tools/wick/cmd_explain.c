/* wick explain: which sizes a compiled model leaves open, which copies there are for some of them,
 * what is known of the sizes that were met, and of branches and loops, and which schedule template
 * has made each kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/shown.h"
#include "driver/specialization/specializations_cached.h"
#include "loop/schedule.h"

#include "command.h"
#include "invocation.h"
#include "profile.h"

typedef struct explain_state {
  wick_job job;
  const char *profile;
  bool json;
  json_t *met;
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
  explain_contents(json_object_get(entry, "held"), "=", &t);
  return t.at;
}

/* Why there is a copy, or is none. */
static const char *explain_why(const json_t *entry, wick_arena *mem)
{
  const char *copy = json_string_value(json_object_get(entry, "copy")),
             *why = json_string_value(json_object_get(entry, "why"));
  if (!json_integer_value(json_object_get(entry, "runs")) && copy && strcmp(copy, "none") == 0)
    return "no copy: not met";
  if (!copy || strcmp(copy, "none") == 0) return "no copy: not met often enough";
  if (strcmp(copy, "ahead") == 0) return "a copy, made ahead: --specialize-dim, --specialize-input";
  if (strcmp(copy, "cached") == 0) return "a copy in the cache: met often";
  if (strcmp(copy, "ready") == 0) return "a copy: met often";
  if (strcmp(copy, "slower") == 0) return "no copy: it took longer";
  return wick_str_printf(mem, "a copy %s%s%s", copy, why && *why ? ": " : "", why ? why : "");
}

static void explain_entry(explain_state *s, const json_t *entry)
{
  wick_arena *mem = &s->job.mem;
  json_int_t runs = json_integer_value(json_object_get(entry, "runs")),
             generic = json_integer_value(json_object_get(entry, "generic_ns")),
             copy = json_integer_value(json_object_get(entry, "copy_ns"));
  printf("  %-28s %8" JSON_INTEGER_FORMAT " runs",
         wick_str_shown(mem, explain_values(s->job.compiled, entry, mem)), runs);
  if (generic) printf("  %.3f ms for all sizes", 1e-6 * (double)generic);
  if (copy) printf("  %.3f ms by the copy", 1e-6 * (double)copy);
  if (generic && copy) printf(" (%.2f)", (double)copy / (double)generic);
  wick_text always = wick_text_begin(mem);
  explain_contents(json_object_get(entry, "always"), " always ", &always);
  printf("  %s%s%s\n", wick_str_shown(mem, explain_why(entry, mem)), always.n ? "; so far" : "",
         wick_str_shown(mem, always.at));
}

/* What runs have done at a branch or loop. */
static void explain_flow(const json_t *entry, wick_arena *mem)
{
  const char *place = json_string_value(json_object_get(entry, "place")),
             *kind = json_string_value(json_object_get(entry, "kind"));
  json_int_t n[4];
  static const char *const of[2][4] = {{"then", "else", "then", "else"},
                                       {"times", "steps", "least", "most"}};
  bool loop = kind && strcmp(kind, "loop") == 0;
  for (int k = 0; k < 4; k++) n[k] = json_integer_value(json_object_get(entry, of[loop][k]));
  printf("  %s: ", place ? wick_str_shown(mem, place) : "?");
  if (!loop)
    printf("then %" JSON_INTEGER_FORMAT ", else %" JSON_INTEGER_FORMAT "\n", n[0], n[1]);
  else if (!n[0])
    printf("never entered\n");
  else
    printf("entered %" JSON_INTEGER_FORMAT " times, %" JSON_INTEGER_FORMAT
           " to %" JSON_INTEGER_FORMAT " steps, %" JSON_INTEGER_FORMAT " in all\n",
           n[0], n[2], n[3], n[1]);
}

/* The name of the kernel's schedule template; NULL for kernels without a schedule. */
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
                       explain_template(&f, mem), "place", wick_str_utf8(mem, f.place), "schedule",
                       wick_str_utf8(mem, f.schedule)));
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
           wick_str_shown(mem, f.place));
  }
}

static void explain_print(explain_state *s)
{
  const wick_compiled *k = s->job.compiled;
  const json_t *entry;
  size_t i;
  printf("%s: %s\n", wick_str_shown(&s->job.mem, wick_path_base(s->job.path)),
         wick_compiled_nsize(k) ? "one program for all sizes of" : "no size varies");
  for (uint32_t n = 0; n < wick_compiled_nsize(k); n++) {
    wick_size_range r = wick_compiled_size(k, n);
    printf("  %s in %" PRId64 "..%" PRId64, wick_str_shown(&s->job.mem, r.name), r.least, r.most);
    if (r.step > 1) printf(" by %" PRId64, r.step);
    putchar('\n');
  }
  const json_t *met = json_object_get(s->met, "met");
  if (json_array_size(met)) printf("sizes that were met, or have a copy:\n");
  json_array_foreach(met, i, entry) explain_entry(s, entry);
  const json_t *flow = json_object_get(s->met, "flow");
  if (json_array_size(flow)) printf("branches and loops, and what runs did there:\n");
  json_array_foreach(flow, i, entry) explain_flow(entry, &s->job.mem);
  explain_print_kernels(k, &s->job.mem);
}

/* Copies that the cache has, and nobody of this process has met. */
static wick_status explain_cached(explain_state *s)
{
  wick_job *j = &s->job;
  uint32_t n;
  const wick_copy_cached *cached;
  wick_copies_cached(j->compiled, &j->files, &j->mem, &n, &cached);
  for (uint32_t i = 0; i < n; i++) {
    json_t *values = json_array();
    for (uint32_t k = 0; k < wick_compiled_nsize(j->compiled); k++)
      json_array_append_new(values, json_integer((json_int_t)cached[i].dims[k]));
    json_t *one = json_pack("{s:O, s:[{s:o, s:i, s:s, s:s, s:i, s:i, s:o*}]}", "sizes",
                            json_object_get(s->met, "sizes"), "met", "values", values, "runs", 0,
                            "copy", "cached", "why", "", "generic_ns", 0, "copy_ns", 0, "held",
                            wick_met_contents(j->compiled, cached[i].held, &j->mem));
    wick_status bad = wick_met_add(s->met, one, j->path, &j->mem);
    json_decref(one);
    WICK_TRY(bad);
  }
  return NULL;
}

static wick_status explain_work(explain_state *s)
{
  wick_job *j = &s->job;
  json_t *profile = NULL;
  WICK_TRY(wick_job_load(j));
  j->vary = !j->nrange;
  WICK_TRY(wick_job_compile(j, NULL));
  s->met = wick_met_json(j->compiled, &j->mem);
  WICK_TRY(explain_cached(s));
  if (s->profile) WICK_TRY(wick_met_read(s->profile, &j->mem, &profile));
  if (s->profile && !profile)
    return wick_fail(&j->mem, WICK_EIO, s->profile, "there is no such file");
  wick_status bad = profile ? wick_met_add(s->met, profile, s->profile, &j->mem) : NULL;
  json_decref(profile);
  WICK_TRY(bad);
  if (!s->json) {
    explain_print(s);
    return NULL;
  }
  json_t *all =
      json_pack("{s:s, s:o, s:O, s:O, s:o}", "file", wick_str_utf8(&j->mem, j->path), "sizes",
                explain_sizes(j->compiled, &j->mem), "met", json_object_get(s->met, "met"), "flow",
                json_object_get(s->met, "flow"), "kernels", explain_kernels(j->compiled, &j->mem));
  json_dumpf(all, stdout, JSON_INDENT(1));
  putchar('\n');
  json_decref(all);
  return NULL;
}

static int explain_main(wick_job *j, void *arg, int argc, char **argv)
{
  explain_state *s = arg;
  const wick_flag flag[] = {
      {"profile", 0, WICK_FLAG_FILE, &s->profile, "FILE",
       "what `wick run --record-stats` has recorded"},
      {"json", 0, WICK_FLAG_BOOL, &s->json, NULL, "for programs"},
      WICK_JOB_FLAGS(j),
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_job_args(j, &args, argc, argv);
  return stop >= 0 ? stop : wick_job_end(j, explain_work(s));
}

int wick_cmd_explain(int argc, char **argv)
{
  explain_state s = {0};
  int status = wick_job_main(&s.job, explain_main, &s, argc, argv);
  json_decref(s.met);
  return status;
}
