/* wick plan: plans the allocation traces of a file, a line each; or the memory of a model. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/plan.h"
#include "base/trace.h"
#include "driver/plan_report.h"

#include "args.h"
#include "command.h"
#include "job.h"

typedef struct plan_state {
  wick_job job;
  bool first_fit;
  int64_t align, limit, steps; /* align 0: the trace's own */
} plan_state;

/* ---- traces ---- */

/* name, bytes, lower bound, MEM of the trace ("-" where it has none) */
static void plan_print(const wick_trace *t, const wick_plan *p)
{
  printf("%-36s %12" PRIu64 " %12" PRIu64, t->name, p->nbytes, p->bound_nbytes);
  if (t->mem_nbytes)
    printf(" %12" PRIu64 "\n", t->mem_nbytes);
  else
    printf(" %12s\n", "-");
}

static wick_status plan_one(plan_state *s, const wick_trace *t)
{
  wick_job *j = &s->job;
  wick_plan_options options = {.align_bytes = s->align ? (uint64_t)s->align : t->align_bytes,
                               .limit_bytes = (uint64_t)s->limit,
                               .nstep = s->first_fit ? 0 : (uint64_t)s->steps};
  wick_plan plan;
  WICK_TRY(wick_plan_make(t->buffer, t->nbuffer, &options, &j->mem, &j->tmp, &plan));
  WICK_TRY(wick_plan_check(t->buffer, t->nbuffer, &options, &plan, &j->mem));
  plan_print(t, &plan);
  return NULL;
}

static int plan_traces(plan_state *s, const char *text, size_t nbytes)
{
  wick_job *j = &s->job;
  const wick_trace *trace;
  uint32_t ntrace;
  wick_status bad = wick_trace_read(text, nbytes, j->path, &j->mem, &j->tmp, &trace, &ntrace);
  if (bad) return wick_job_end(j, bad);
  int exit_status = WICK_EXIT_OK;
  for (uint32_t i = 0; i < ntrace; i++) {
    bad = plan_one(s, &trace[i]);
    if (!bad) continue;
    fprintf(stderr, "%s: %s: %s\n", j->path, trace[i].name, bad->message);
    exit_status = WICK_EXIT_FAILURE;
  }
  return exit_status;
}

/* The first word that is no comment is one of a trace's. */
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
  return at == n; /* nothing is an empty list of traces */
}

/* ---- models ---- */

static wick_status plan_model(plan_state *s)
{
  wick_job *j = &s->job;
  WICK_TRY(wick_job_load(j));
  if (!j->model)
    return wick_fail(&j->mem, WICK_EINVAL, j->path, "it is compiled: its plan was made then");
  wick_compile_options o = wick_job_options(j, NULL);
  wick_plan_report r;
  WICK_TRY(wick_job_take(j, wick_plan_report_make(j->model, &o, &r)));
  printf("%s: arena %" PRIu64 ", bound %" PRIu64 ", importer's bound %" PRIu64 ", padding %" PRIu64
         ", scratch %" PRIu64 " a worker, constants %" PRIu64
         "; %u buffers, %u kernels, %u launches\n",
         wick_path_base(j->path), r.arena, r.bound, r.importer_bound, r.padding, r.scratch,
         r.constants, r.nbuffer, r.nkernel, r.nlaunch);
  return NULL;
}

/* ---- the command ---- */

static int plan_main(wick_job *j, void *arg, int argc, char **argv)
{
  plan_state *s = arg;
  const wick_flag flag[] = {
      {"first-fit", 0, WICK_FLAG_BOOL, &s->first_fit, NULL, "first fit by size alone, no search"},
      {"align", 0, WICK_FLAG_INT, &s->align, "N", "offsets are multiples of N, not what FILE says"},
      {"limit", 0, WICK_FLAG_INT, &s->limit, "N", "a plan of more than N bytes is an error"},
      {"steps", 0, WICK_FLAG_INT, &s->steps, "N", "budget of the search, for each trace"},
      WICK_JOB_FLAGS(j),
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_job_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  if (s->align < 0 || (s->align & (s->align - 1)) || s->limit < 0 || s->steps < 0) {
    fputs("wick plan: --align is a power of two, --limit and --steps are not negative\n", stderr);
    return WICK_EXIT_USAGE;
  }
  wick_file *file;
  wick_status bad = wick_files_map(&j->files, j->path, &file);
  if (bad) return wick_job_end(j, bad);
  if (plan_is_traces((const char *)file->at, file->nbytes))
    return plan_traces(s, (const char *)file->at, file->nbytes);
  return wick_job_end(j, plan_model(s));
}

int wick_cmd_plan(int argc, char **argv)
{
  plan_state s = {.steps = WICK_PLAN_STEPS};
  return wick_job_main(&s.job, plan_main, &s, argc, argv);
}
