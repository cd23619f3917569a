/* wick plan: plans the memory of a model, or of each allocation trace in a file. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/plan.h"
#include "base/shown.h"
#include "base/trace.h"
#include "driver/report/plan_report.h"

#include "args.h"
#include "command.h"
#include "invocation.h"

typedef struct plan_state {
  wick_invocation invocation;
  wick_words inputs;
  bool first_fit, json;
  int64_t align, limit, steps; /* align 0: use the trace's alignment */
} plan_state;

/* ---- traces ---- */

/* Prints the name, the plan's bytes, the lower bound, and the trace's MEM ("-" if it has none). */
static void plan_print(const wick_trace *t, const wick_plan *p, wick_arena *tmp)
{
  printf("%-36s %12" PRIu64 " %12" PRIu64, wick_str_shown(tmp, t->name), p->nbytes,
         p->bound_nbytes);
  if (t->mem_nbytes)
    printf(" %12" PRIu64 "\n", t->mem_nbytes);
  else
    printf(" %12s\n", "-");
}

/* Prints the plan of a trace, or adds it to the list of --json. */
static wick_status plan_one(plan_state *s, const wick_trace *t, json_t *list)
{
  wick_invocation *j = &s->invocation;
  wick_plan_options options = {.align_bytes = s->align ? (uint64_t)s->align : t->align_bytes,
                               .limit_bytes = (uint64_t)s->limit,
                               .nstep = s->first_fit ? 0 : (uint64_t)s->steps};
  wick_plan plan;
  WICK_TRY(wick_plan_make(t->buffer, t->nbuffer, &options, &j->mem, &j->tmp, &plan));
  WICK_TRY(wick_plan_check(t->buffer, t->nbuffer, &options, &plan, &j->mem));
  if (!list) {
    plan_print(t, &plan, &j->tmp);
    return NULL;
  }
  json_t *one = json_pack("{s:o, s:I, s:I}", "name", wick_json_text(t->name), "arena_bytes",
                          (json_int_t)plan.nbytes, "bound_bytes", (json_int_t)plan.bound_nbytes);
  json_object_set_new(one, "trace_bytes",
                      t->mem_nbytes ? json_integer((json_int_t)t->mem_nbytes) : json_null());
  json_array_append_new(list, one);
  return NULL;
}

static int plan_traces(plan_state *s, const char *text, size_t nbytes)
{
  wick_invocation *j = &s->invocation;
  const wick_trace *trace;
  uint32_t ntrace;
  wick_status bad = wick_trace_read(text, nbytes, j->path, &j->mem, &j->tmp, &trace, &ntrace);
  if (bad) return wick_invocation_end(j, bad);
  int exit_status = WICK_EXIT_OK;
  json_t *list = s->json ? json_array() : NULL;
  for (uint32_t i = 0; i < ntrace; i++) {
    bad = plan_one(s, &trace[i], list);
    if (!bad) continue;
    wick_command_message(
        wick_str_printf(&j->mem, "%s: %s: %s", j->path, trace[i].name, bad->message));
    exit_status = WICK_EXIT_FAILURE;
  }
  if (list) {
    bad = wick_invocation_json(
        j, json_pack("{s:o, s:o}", "file", wick_json_text(j->path), "traces", list));
    if (bad) return wick_invocation_end(j, bad);
  }
  return exit_status;
}

/* Returns whether the file begins with a keyword of traces, after comments. */
static bool plan_is_traces(const char *text, size_t n)
{
  static const char *const words[] = {"MODEL", "ALIGN", "ALLOC", "FREE", "MEM", "EFF"};
  size_t at = 0;
  while (at < n && (isspace((unsigned char)text[at]) || text[at] == '#')) {
    if (text[at] == '#')
      while (at < n && text[at] != '\n') at++;
    else
      at++;
  }
  for (size_t i = 0; i < WICK_COUNT(words); i++) {
    size_t len = strlen(words[i]);
    if (n - at > len && memcmp(text + at, words[i], len) == 0 &&
        isspace((unsigned char)text[at + len]))
      return true;
  }
  return at == n; /* an empty file is an empty list of traces */
}

/* ---- models ---- */

/* The plan of an artifact was made when it was compiled, and its bounds are not in it. */
static wick_status plan_artifact(plan_state *s)
{
  wick_invocation *j = &s->invocation;
  wick_memory m = wick_compiled_memory(j->compiled);
  if (s->json)
    return wick_invocation_json(
        j, json_pack("{s:o, s:I, s:n, s:n, s:n, s:I, s:I, s:n, s:n, s:n}", "model",
                     wick_json_text(j->path), "arena_bytes", (json_int_t)m.arena, "bound_bytes",
                     "importer_bound_bytes", "padding_bytes", "scratch_bytes_per_thread",
                     (json_int_t)m.scratch, "constants_bytes", (json_int_t)m.constants, "buffers",
                     "kernels", "launches"));
  printf("%s: arena %" PRIu64 ", scratch %" PRIu64 " a worker, constants %" PRIu64
         "; planned when it was compiled%s\n",
         wick_str_shown(&j->mem, wick_path_base(j->path)), m.arena, m.scratch, m.constants,
         wick_compiled_nsize(j->compiled) ? ", for the largest sizes" : "");
  return NULL;
}

static wick_status plan_model(plan_state *s)
{
  wick_invocation *j = &s->invocation;
  const wick_invocation_image image = {0};
  wick_model_inputs model_inputs = {0};
  WICK_TRY(wick_invocation_load(j));
  if (!j->model) return plan_artifact(s);
  if (s->inputs.n) WICK_TRY(wick_invocation_feed(j, &s->inputs, &image, &model_inputs));
  wick_compile_options o = wick_invocation_options(j, s->inputs.n ? &model_inputs : NULL);
  wick_plan_report r;
  WICK_TRY(wick_invocation_take(j, wick_plan_report_make(j->model, &o, &r)));
  if (s->json)
    return wick_invocation_json(
        j, json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:i}", "model",
                     wick_json_text(j->path), "arena_bytes", (json_int_t)r.arena, "bound_bytes",
                     (json_int_t)r.bound, "importer_bound_bytes", (json_int_t)r.importer_bound,
                     "padding_bytes", (json_int_t)r.padding, "scratch_bytes_per_thread",
                     (json_int_t)r.scratch, "constants_bytes", (json_int_t)r.constants, "buffers",
                     (int)r.nbuffer, "kernels", (int)r.nkernel, "launches", (int)r.nlaunch));
  printf("%s: arena %" PRIu64 ", bound %" PRIu64 ", importer's bound %" PRIu64 ", padding %" PRIu64
         ", scratch %" PRIu64 " a worker, constants %" PRIu64
         "; %u buffers, %u kernels, %u launches\n",
         wick_str_shown(&j->mem, wick_path_base(j->path)), r.arena, r.bound, r.importer_bound,
         r.padding, r.scratch, r.constants, r.nbuffer, r.nkernel, r.nlaunch);
  return NULL;
}

/* ---- the command ---- */

static int plan_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  plan_state *s = arg;
  const wick_flag flag[] = {
      {"first-fit", 0, WICK_FLAG_BOOL, &s->first_fit, NULL,
       "places buffers by first fit in the order of their sizes, without a search"},
      {"align", 0, WICK_FLAG_ALIGN, &s->align, "N",
       "aligns offsets to N bytes, whatever FILE says"},
      {"limit", 0, WICK_FLAG_BYTES, &s->limit, "N", "fails if a plan needs more than N bytes"},
      {"steps", 0, WICK_FLAG_COUNT, &s->steps, "N", "limits the search for each trace to N steps"},
      {"inputs", 'i', WICK_FLAG_FILES, &s->inputs, "FILE...",
       "takes sizes from these tensors, and their contents where sizes depend on them"},
      {"input", 0, WICK_FLAG_FILES, &s->inputs, NULL, NULL},
      {"json", 0, WICK_FLAG_BOOL, &s->json, NULL, "prints one object of JSON (docs/json.md)"},
      WICK_INVOCATION_FLAGS(j),
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_invocation_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  const wick_file *file;
  wick_status bad = wick_invocation_map(j, &file);
  if (bad) return wick_invocation_end(j, bad);
  if (file->at && plan_is_traces((const char *)file->at, file->nbytes)) /* NULL: a folder */
    return plan_traces(s, (const char *)file->at, file->nbytes);
  return wick_invocation_end(j, plan_model(s));
}

int wick_cmd_plan(int argc, char **argv)
{
  plan_state s = {.steps = WICK_PLAN_STEPS};
  return wick_invocation_main(&s.invocation, plan_main, &s, argc, argv);
}
