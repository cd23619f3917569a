/* wick plan: plans the allocation traces of a file, a line each. */
#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/plan.h"
#include "base/trace.h"

#include "args.h"
#include "command.h"

typedef struct plan_flags {
  bool first_fit;
  int64_t align, limit, steps; /* align 0: the trace's own */
} plan_flags;

/* name, bytes, lower bound, MEM of the trace ("-" where it has none) */
static void plan_print(const wick_trace *t, const wick_plan *p)
{
  printf("%-36s %12" PRIu64 " %12" PRIu64, t->name, p->nbytes, p->bound_nbytes);
  if (t->mem_nbytes)
    printf(" %12" PRIu64 "\n", t->mem_nbytes);
  else
    printf(" %12s\n", "-");
}

static wick_status plan_one(const wick_trace *t, const plan_flags *f, wick_arena *mem,
                            wick_arena *tmp)
{
  wick_plan_options options = {.align_bytes = f->align ? (uint64_t)f->align : t->align_bytes,
                               .limit_bytes = (uint64_t)f->limit,
                               .nstep = f->first_fit ? 0 : (uint64_t)f->steps};
  wick_plan plan;
  WICK_TRY(wick_plan_make(t->buffer, t->nbuffer, &options, mem, tmp, &plan));
  WICK_TRY(wick_plan_check(t->buffer, t->nbuffer, &options, &plan, mem));
  plan_print(t, &plan);
  return NULL;
}

static int plan_traces(const char *path, const plan_flags *f, wick_arena *mem, wick_arena *tmp)
{
  char *text;
  size_t nbytes;
  const wick_trace *trace;
  uint32_t ntrace;
  wick_status s = wick_file_read(mem, path, 0, &text, &nbytes);
  if (!s) s = wick_trace_read(text, nbytes, path, mem, tmp, &trace, &ntrace);
  if (s) {
    fprintf(stderr, "%s\n", s->message);
    return WICK_EXIT_FAILURE;
  }
  int exit_status = WICK_EXIT_OK;
  for (uint32_t i = 0; i < ntrace; i++) {
    s = plan_one(&trace[i], f, mem, tmp);
    if (!s) continue;
    fprintf(stderr, "%s: %s: %s\n", path, trace[i].name, s->message);
    exit_status = WICK_EXIT_FAILURE;
  }
  return exit_status;
}

static int plan_run(int argc, char **argv, wick_arena *mem, wick_arena *tmp)
{
  plan_flags f = {.steps = WICK_PLAN_STEPS};
  const wick_flag flag[] = {
      {"first-fit", 0, WICK_FLAG_BOOL, &f.first_fit, NULL, "first fit by size alone, no search"},
      {"align", 0, WICK_FLAG_INT, &f.align, "N", "offsets are multiples of N, not what FILE says"},
      {"limit", 0, WICK_FLAG_INT, &f.limit, "N", "a plan of more than N bytes is an error"},
      {"steps", 0, WICK_FLAG_INT, &f.steps, "N", "budget of the search, for each trace"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_args_parse(&args, mem, argc, argv);
  if (stop >= 0) return stop;
  if (f.align < 0 || (f.align & (f.align - 1)) || f.limit < 0 || f.steps < 0) {
    fputs("wick plan: --align is a power of two, --limit and --steps are not negative\n", stderr);
    return WICK_EXIT_USAGE;
  }
  return plan_traces(args.word.at[0], &f, mem, tmp);
}

int wick_cmd_plan(int argc, char **argv)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  int status = WICK_EXIT_FAILURE;
  if (setjmp(guard.where))
    fputs("wick plan: out of memory\n", stderr);
  else
    status = plan_run(argc, argv, &mem, &tmp);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
  return status;
}
