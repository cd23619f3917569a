/* A round has three measurements: the times of the kernels on one thread, the times of the
 * kernels on all threads, and the time of a whole run on all threads. Each reported time is the
 * minimum over the rounds: other load on the machine slows several threads down more than one,
 * so that medians would not be comparable. Times are in nanoseconds (ns) or in seconds. */
#include "bench_threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { THREADS_MOST = 1000, THREADS_LEAST = 3 }; /* number of rounds */

typedef struct threads_side {
  uint32_t threads;
  wick_session *session;
  uint64_t *ns; /* THREADS_MOST times for each kernel, one for each round */
} threads_side;

typedef struct threads_state {
  const wick_bench_threads *b;
  uint32_t nkernel, round;
  threads_side *now;    /* the one whose kernels are being timed */
  threads_side side[2]; /* one thread, all threads */
  wick_session *whole;  /* all threads; its kernels are not timed */
  uint64_t *ns;         /* times of whole runs, one for each round */
} threads_state;

static void threads_profile(void *arg, uint32_t kernel, uint64_t nanoseconds)
{
  threads_state *s = arg;
  s->now->ns[(size_t)kernel * THREADS_MOST + s->round] += nanoseconds;
}

static wick_status threads_session(threads_state *s, uint32_t threads, bool timed,
                                   wick_session **out)
{
  wick_invocation *j = s->b->invocation;
  wick_session_options o = {.size = sizeof o, .threads = threads};
  if (timed) o.profile = threads_profile, o.arg = s;
  return wick_invocation_take(j, wick_session_create(j->compiled, &o, out));
}

static wick_status threads_run(threads_state *s, wick_session *session)
{
  return wick_invocation_take(s->b->invocation, wick_run(session, s->b->inputs, s->b->outputs));
}

/* Times a whole run, after one that is not timed, so that workers are awake and buffers are in the
 * caches. */
static wick_status threads_whole(threads_state *s)
{
  WICK_TRY(threads_run(s, s->whole));
  double begin = wick_now();
  WICK_TRY(threads_run(s, s->whole));
  s->ns[s->round] = (uint64_t)(1e9 * (wick_now() - begin));
  return NULL;
}

static wick_status threads_rounds(threads_state *s)
{
  wick_invocation *j = s->b->invocation;
  for (int k = 0; k < 2; k++) {
    threads_side *x = &s->side[k];
    x->threads = k ? (uint32_t)j->threads : 1;
    x->ns = wick_new(&j->mem, uint64_t, (size_t)s->nkernel * THREADS_MOST);
    WICK_TRY(threads_session(s, x->threads, true, &x->session));
  }
  WICK_TRY(threads_session(s, (uint32_t)j->threads, false, &s->whole));
  s->ns = wick_new(&j->mem, uint64_t, THREADS_MOST);
  double end = wick_now() + s->b->seconds;
  for (; s->round < THREADS_MOST && (s->round < THREADS_LEAST || wick_now() < end); s->round++) {
    for (int k = 0; k < 2; k++) {
      s->now = &s->side[k];
      WICK_TRY(threads_run(s, s->now->session));
    }
    WICK_TRY(threads_whole(s));
  }
  return NULL;
}

/* Returns the minimum of n times, in seconds. */
static double threads_least(const uint64_t *ns, uint32_t n)
{
  uint64_t least = ns[0];
  for (uint32_t i = 1; i < n; i++) least = ns[i] < least ? ns[i] : least;
  return 1e-9 * (double)least;
}

/* A kernel's times on one thread and on all threads, and its bound, in seconds. */
typedef struct threads_row {
  wick_kernel_facts facts;
  double one, all, bound;
} threads_row;

static int threads_lost(const void *a, const void *b) /* the largest loss first */
{
  double x = ((const threads_row *)a)->all - ((const threads_row *)a)->bound,
         y = ((const threads_row *)b)->all - ((const threads_row *)b)->bound;
  return (x < y) - (x > y);
}

/* Returns the least time with all threads for a kernel that takes this time on one thread. */
static double threads_bound(const threads_state *s, const wick_kernel_facts *f, double one)
{
  wick_memory m = wick_compiled_memory(s->b->invocation->compiled);
  double share = one / wick_session_threads(s->whole),
         memory =
             m.constants + m.arena > s->b->cache_bytes ? (double)f->nweights / s->b->memory : 0;
  return share > memory ? share : memory;
}

static threads_row threads_row_of(const threads_state *s, uint32_t kernel, uint32_t round,
                                  uint32_t n)
{
  size_t at = (size_t)kernel * THREADS_MOST + round;
  threads_row r = {.facts = wick_compiled_kernel(s->b->invocation->compiled, kernel),
                   .one = threads_least(s->side[0].ns + at, n),
                   .all = threads_least(s->side[1].ns + at, n)};
  r.bound = threads_bound(s, &r.facts, r.one);
  return r;
}

/* Returns the sum over all kernels in one round, and the minimum over the rounds. */
static threads_row threads_sum(const threads_state *s)
{
  threads_row least = {.one = 1e300, .all = 1e300, .bound = 1e300};
  for (uint32_t round = 0; round < s->round; round++) {
    threads_row sum = {.one = 0};
    for (uint32_t i = 0; i < s->nkernel; i++) {
      threads_row r = threads_row_of(s, i, round, 1);
      sum.one += r.one, sum.all += r.all, sum.bound += r.bound;
    }
    if (sum.one < least.one) least.one = sum.one;
    if (sum.all < least.all) least.all = sum.all;
    if (sum.bound < least.bound) least.bound = sum.bound;
  }
  return least;
}

static void threads_print(const threads_row *r, const char *name, const char *location)
{
  printf("%10.2f %10.2f %10.2f %10.2f %6.1f%% %6llu  %s%s%s\n", 1e6 * r->one, 1e6 * r->bound,
         1e6 * r->all, 1e6 * (r->all - r->bound), r->all > 0 ? 100 * r->bound / r->all : 100,
         (unsigned long long)r->facts.tasks, name, *location ? "  " : "", location);
}

static void threads_table(threads_state *s)
{
  uint32_t threads = wick_session_threads(s->whole);
  threads_row *row = wick_new(&s->b->invocation->mem, threads_row, s->nkernel),
              sum = threads_sum(s);
  double whole = threads_least(s->ns, s->round);
  for (uint32_t i = 0; i < s->nkernel; i++) row[i] = threads_row_of(s, i, 0, s->round);
  qsort(row, s->nkernel, sizeof *row, threads_lost);
  if (s->b->report) {
    json_object_set_new(s->b->report, "scaling",
                        json_pack("{s:i, s:i, s:f, s:f, s:f}", "rounds", (int)s->round, "threads",
                                  (int)threads, "one_thread_seconds", sum.one, "bound_seconds",
                                  sum.bound, "all_threads_seconds", whole));
    return;
  }
  printf("%u rounds on 1 and %u threads; memory bandwidth %.1f GB/s; times in us\n", s->round,
         threads, 1e-9 * s->b->memory);
  printf("%10s %10s %10s %10s %7s %6s  %s\n", "1 thread", "bound", "all", "all-bound", "reached",
         "tasks", "kernel");
  for (uint32_t i = 0; i < s->nkernel && i < s->b->kernels; i++)
    threads_print(&row[i], row[i].facts.name, row[i].facts.location);
  threads_print(&sum, "sum of the kernels", "");
  printf("threads %u: one %.3f ms, bound %.3f ms, time %.3f ms, bound / time %.3f\n", threads,
         1e3 * sum.one, 1e3 * sum.bound, 1e3 * whole, whole > 0 ? sum.bound / whole : 0);
}

wick_status wick_bench_threads_run(const wick_bench_threads *b)
{
  threads_state s = {.b = b, .nkernel = wick_compiled_nkernel(b->invocation->compiled)};
  wick_status failed = threads_rounds(&s);
  if (!failed) threads_table(&s);
  wick_session_free(s.whole);
  for (int k = 0; k < 2; k++) wick_session_free(s.side[k].session);
  return failed;
}
