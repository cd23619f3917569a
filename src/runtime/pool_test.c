/* The pool: every task runs once, as a part of one piece; many small launches, more workers than
 * CPUs, runs of several threads, nested runs, forks, and what workers inherit. Also runs under the
 * thread sanitizer. */
#include "runtime/pool.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena_testing.h"
#include "base/torture.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define POOL_TEST_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define POOL_TEST_TSAN 1
#define POOL_TEST_NO_THREADS_IN_CHILD 1 /* gcc 12's sanitizer ends the child with "dup thread" */
#endif
#ifdef POOL_TEST_TSAN
/* The sanitizer also ends a child that starts threads, unless this option is set. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }
enum { LAUNCHES = 20000 };
#else
enum { LAUNCHES = 100000 };
#endif

static wick_pool *pool_of(uint32_t nworker)
{
  wick_pool *p;
  wick_status s = wick_pool_create(&(wick_pool_options){.nworker = nworker}, &mem, &p);
  if (s) fail_msg("%s", s->message);
  return p;
}

/* ---- partitions ---- */

enum { MOST_TASKS = 1000, MOST_WORKERS = 9 };

typedef struct parts {
  int64_t begin[MOST_WORKERS], end[MOST_WORKERS];
  int calls[MOST_WORKERS];
} parts;

static void note_part(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  parts *p = ctx;
  p->begin[worker] = begin;
  p->end[worker] = end;
  p->calls[worker]++;
}

static void check_parts(const parts *p, int64_t npart, int64_t ntask)
{
  int64_t at = 0;
  for (int64_t w = 0; w < MOST_WORKERS; w++) {
    assert_int_equal(p->calls[w], w < npart);
    if (w >= npart) continue;
    int64_t size = p->end[w] - p->begin[w];
    assert_int_equal(p->begin[w], at);
    assert_true(size == ntask / npart || size == ntask / npart + 1);
    at = p->end[w];
  }
  assert_int_equal(at, ntask);
}

static void test_partition(void **state)
{
  (void)state;
  for (uint32_t nworker = 1; nworker <= MOST_WORKERS; nworker++) {
    wick_pool *pool = pool_of(nworker);
    assert_int_equal(wick_pool_size(pool), nworker);
    wick_pool_run run = wick_pool_begin(pool);
    for (int64_t ntask = -1; ntask < 60; ntask++) {
      parts p = {0};
      wick_pool_launch(&run, note_part, &p, ntask);
      check_parts(&p, wick_max_i64(0, wick_min_i64(ntask, nworker)), wick_max_i64(0, ntask));
    }
    parts p = {0};
    wick_pool_launch(&run, note_part, &p, INT64_MAX);
    check_parts(&p, nworker, INT64_MAX);
    wick_pool_end(&run);
    wick_pool_free(pool);
  }
}

static void test_no_pool(void **state)
{
  (void)state;
  wick_pool_run run = wick_pool_begin(NULL);
  parts p = {0};
  wick_pool_launch(&run, note_part, &p, 7);
  check_parts(&p, 1, 7);
  wick_pool_end(&run);
  wick_pool_free(NULL);
  assert_int_equal(wick_pool_size(NULL), 1);
}

/* ---- a chain of launches: each one reads what others have written in the previous one ---- */

typedef struct chain {
  uint32_t n;
  uint32_t *from, *to;
} chain;

static void chain_step(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  const chain *c = ctx;
  (void)worker;
  for (int64_t i = begin; i < end; i++)
    c->to[i] = c->from[((uint64_t)i * 7 + 3) % c->n] * 1664525u + (uint32_t)i;
}

static uint32_t chain_run(wick_pool *pool, uint32_t n, uint32_t nlaunch, uint32_t nrun)
{
  uint32_t a[64] = {0}, b[64] = {0};
  chain c = {.n = n, .from = a, .to = b};
  for (uint32_t r = 0; r < nrun; r++) {
    wick_pool_run run = wick_pool_begin(pool);
    for (uint32_t k = 0; k < nlaunch; k++) {
      wick_pool_launch(&run, chain_step, &c, n);
      uint32_t *swap = c.from;
      c.from = c.to;
      c.to = swap;
    }
    wick_pool_end(&run);
  }
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; i++) sum = sum * 31 + c.from[i];
  return sum;
}

static void test_many_launches(void **state)
{
  (void)state;
  uint32_t want = chain_run(NULL, 13, LAUNCHES, 1);
  wick_pool *pool = pool_of(2);
  assert_int_equal(chain_run(pool, 13, LAUNCHES, 1), want);
  wick_pool_free(pool);
}

/* Four and eight workers, for any number of CPUs. */
static void test_crowded(void **state)
{
  (void)state;
  for (uint32_t nworker = 4; nworker <= 8; nworker += 4) {
    wick_pool *pool = pool_of(nworker);
    assert_int_equal(chain_run(pool, 50, LAUNCHES / 10, 1), chain_run(NULL, 50, LAUNCHES / 10, 1));
    wick_pool_free(pool);
  }
}

static void test_many_runs(void **state)
{
  (void)state;
  wick_pool *pool = pool_of(3);
  assert_int_equal(chain_run(pool, 29, 3, 2000), chain_run(NULL, 29, 3, 2000));
  wick_pool_free(pool);
}

/* Long pauses between launches and between runs, in which the workers go to sleep. */
static void test_sleepers(void **state)
{
  (void)state;
  uint32_t want = chain_run(NULL, 29, 1, 10);
  wick_pool *pool = pool_of(3);
  uint32_t a[29] = {0}, b[29] = {0}, sum = 0;
  chain c = {.n = 29, .from = a, .to = b};
  for (int k = 0; k < 10; k++) {
    usleep(5000);
    wick_pool_run run = wick_pool_begin(pool);
    if (k % 2) usleep(5000);
    wick_pool_launch(&run, chain_step, &c, 29);
    uint32_t *swap = c.from;
    c.from = c.to;
    c.to = swap;
    wick_pool_end(&run);
  }
  for (uint32_t i = 0; i < 29; i++) sum = sum * 31 + c.from[i];
  assert_int_equal(sum, want);
  wick_pool_free(pool);
}

/* A worker is slower than the time for which the launching thread waits actively. */
static void slow_worker(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  if (worker) usleep(10000);
  for (int64_t i = begin; i < end; i++) ((int *)ctx)[i]++;
}

static void test_slow_worker(void **state)
{
  (void)state;
  wick_pool *pool = pool_of(3);
  wick_pool_run run = wick_pool_begin(pool);
  int count[10] = {0};
  for (int k = 0; k < 5; k++) wick_pool_launch(&run, slow_worker, count, 10);
  wick_pool_end(&run);
  for (int i = 0; i < 10; i++) assert_int_equal(count[i], 5);
  wick_pool_free(pool);
}

/* ---- several threads ---- */

typedef struct session {
  wick_pool *pool;
  uint32_t sum;
} session;

static void *session_thread(void *arg)
{
  session *s = arg;
  s->sum = chain_run(s->pool, 40, 5, 500);
  return NULL;
}

static void test_sessions(void **state)
{
  (void)state;
  enum { N = 4 };
  wick_pool *pool = pool_of(3);
  session s[N];
  pthread_t thread[N];
  for (int i = 0; i < N; i++) {
    s[i] = (session){.pool = pool};
    assert_int_equal(pthread_create(&thread[i], NULL, session_thread, &s[i]), 0);
  }
  uint32_t want = chain_run(NULL, 40, 5, 500);
  for (int i = 0; i < N; i++) {
    pthread_join(thread[i], NULL);
    assert_int_equal(s[i].sum, want);
  }
  wick_pool_free(pool);
}

/* A task that has its own run on the same pool executes it alone. */
typedef struct nested {
  wick_pool *pool;
  uint32_t sum[8];
  parts parts[8];
} nested;

static void nested_task(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  nested *n = ctx;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    n->sum[i] = chain_run(n->pool, 20, 10, 3);
    wick_pool_run run = wick_pool_begin(n->pool);
    wick_pool_launch(&run, note_part, &n->parts[i], 100);
    wick_pool_end(&run);
  }
}

static void test_nested(void **state)
{
  (void)state;
  nested n = {.pool = pool_of(3)};
  wick_pool_run run = wick_pool_begin(n.pool);
  wick_pool_launch(&run, nested_task, &n, 8);
  wick_pool_end(&run);
  for (int i = 0; i < 8; i++) {
    assert_int_equal(n.sum[i], chain_run(NULL, 20, 10, 3));
    check_parts(&n.parts[i], 1, 100);
  }
  wick_pool_free(n.pool);
}

/* ---- fork ---- */

/* In a child: runs with new workers, frees the pool, and exits with status 0 if everything was
 * right. */
static void child_runs(wick_pool *pool, uint32_t want)
{
  bool right = chain_run(pool, 40, 5, 20) == want;
  parts p = {0};
  wick_pool_run run = wick_pool_begin(pool);
  wick_pool_launch(&run, note_part, &p, 100);
  wick_pool_end(&run);
  right = right && p.calls[2] == 1; /* there are workers again */
  wick_pool_free(pool);
  _exit(right ? 0 : 1);
}

static void assert_child(pid_t child)
{
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void skip_where_forks_are_refused(void)
{
#ifdef POOL_TEST_NO_THREADS_IN_CHILD
  print_message("this sanitizer allows no threads in the child of a process with threads\n");
  skip();
#endif
}

static void test_fork_idle(void **state)
{
  (void)state;
  skip_where_forks_are_refused();
  wick_pool *pool = pool_of(3);
  uint32_t want = chain_run(NULL, 40, 5, 20);
  assert_int_equal(chain_run(pool, 40, 5, 20), want);
  pid_t child = fork();
  if (child == 0) child_runs(pool, want);
  assert_int_equal(chain_run(pool, 40, 5, 20), want);
  assert_child(child);
  child = fork(); /* and a child that never uses the pool */
  if (child == 0) {
    wick_pool_free(pool);
    _exit(0);
  }
  assert_child(child);
  wick_pool_free(pool);
}

/* Forks while another thread is in a run: the child finds it unfinished, without its owner. */
typedef struct busy {
  wick_pool *pool;
  atomic_bool stop;
} busy;

static void *busy_thread(void *arg)
{
  busy *b = arg;
  while (!atomic_load(&b->stop)) (void)chain_run(b->pool, 40, 50, 1);
  return NULL;
}

static void test_fork_in_a_run(void **state)
{
  (void)state;
  skip_where_forks_are_refused();
  busy b = {.pool = pool_of(3)};
  uint32_t want = chain_run(NULL, 40, 5, 20);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, busy_thread, &b), 0);
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) child_runs(b.pool, want);
    assert_child(child);
  }
  atomic_store(&b.stop, true);
  pthread_join(thread, NULL);
  wick_pool_free(b.pool);
}

/* ---- creation, and what workers inherit ---- */

static void note_environment(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  int *rounding = ctx;
  sigset_t blocked;
  (void)begin, (void)end;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  rounding[worker] = fegetround() + (sigismember(&blocked, SIGUSR1) ? 0 : 1 << 20);
}

static void test_environment(void **state)
{
  (void)state;
  fesetround(FE_UPWARD);
  wick_pool *pool = pool_of(2);
  wick_pool_run run = wick_pool_begin(pool);
  int rounding[2];
  wick_pool_launch(&run, note_environment, rounding, 2);
  wick_pool_end(&run);
  fesetround(FE_TONEAREST);
  assert_int_equal(rounding[0], FE_UPWARD + (1 << 20)); /* the caller's environment */
  assert_int_equal(rounding[1], FE_TONEAREST);
  wick_pool_free(pool);
}

static void note_cpu(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  cpu_set_t set;
  (void)begin, (void)end;
  if (worker && sched_getaffinity(0, sizeof set, &set) == 0) *(int *)ctx = CPU_COUNT(&set);
}

static void test_cpus(void **state)
{
  (void)state;
  wick_pool *pool;
  assert_null(wick_pool_create(NULL, &mem, &pool));
  assert_int_equal(wick_pool_size(pool), wick_pool_cpus());
  wick_pool_free(pool);

  assert_null(wick_pool_create(&(wick_pool_options){.nworker = 2, .pin = true}, &mem, &pool));
  wick_pool_run run = wick_pool_begin(pool);
  int ncpu = 0;
  wick_pool_launch(&run, note_cpu, &ncpu, 2);
  wick_pool_end(&run);
  assert_int_equal(ncpu, 1);
  wick_pool_free(pool);

  cpu_set_t all, one;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (size_t cpu = 0; !CPU_COUNT(&one); cpu++)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  assert_null(wick_pool_create(NULL, &mem, &pool));
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
  assert_int_equal(wick_pool_size(pool), 1);
  wick_pool_free(pool);
}

static void test_creation(void **state)
{
  (void)state;
  wick_pool *pool;
  wick_status s = wick_pool_create(&(wick_pool_options){.nworker = 5000}, &mem, &pool);
  assert_non_null(s);
  assert_string_equal(s->message, "5000 workers are more than 4096");
  assert_null(pool);
  wick_torture t = {.fail_at = 1};
  wick_pool_options o = {.nworker = 2, .allocator = wick_torture_allocator(&t)};
  s = wick_pool_create(&o, &mem, &pool);
  assert_non_null(s);
  assert_int_equal(s->code, WICK_ENOMEM);

  t = (wick_torture){0};
  assert_null(wick_pool_create(&o, &mem, &pool));
  assert_int_equal(chain_run(pool, 40, 5, 20), chain_run(NULL, 40, 5, 20));
  assert_int_equal(t.calls, 1); /* the only request */
  wick_pool_free(pool);
  assert_int_equal(t.live, 0);
}

/* ---- the cost of waiting ---- */

enum { IDLE_US = 200000, IDLE_MOST_NS = IDLE_US * 100 }; /* a tenth of the time of one CPU */

static int64_t cpu_ns(void) /* CPU time of all threads */
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void idle_task(void *ctx, uint32_t worker, int64_t begin, int64_t end)
{
  (void)begin, (void)end;
  if (worker == *(uint32_t *)ctx) usleep(IDLE_US);
}

/* Waiting threads soon sleep: workers between the launches of a run and after it; workers and the
 * caller while another worker is busy. */
static void test_idle(void **state)
{
  (void)state;
  wick_pool *pool = pool_of(3);
  uint32_t slow = UINT32_MAX;
  wick_pool_run run = wick_pool_begin(pool);
  wick_pool_launch(&run, idle_task, &slow, 3);
  int64_t begin = cpu_ns();
  usleep(IDLE_US);
  assert_true(cpu_ns() - begin < IDLE_MOST_NS);
  for (slow = 0; slow < 2; slow++) {
    begin = cpu_ns();
    wick_pool_launch(&run, idle_task, &slow, 3);
    assert_true(cpu_ns() - begin < IDLE_MOST_NS);
  }
  wick_pool_end(&run);
  begin = cpu_ns();
  usleep(IDLE_US);
  assert_true(cpu_ns() - begin < IDLE_MOST_NS);
  wick_pool_free(pool);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_partition, setup, teardown),
      cmocka_unit_test_setup_teardown(test_no_pool, setup, teardown),
      cmocka_unit_test_setup_teardown(test_many_launches, setup, teardown),
      cmocka_unit_test_setup_teardown(test_crowded, setup, teardown),
      cmocka_unit_test_setup_teardown(test_many_runs, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sleepers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_slow_worker, setup, teardown),
      cmocka_unit_test_setup_teardown(test_idle, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sessions, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nested, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fork_idle, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fork_in_a_run, setup, teardown),
      cmocka_unit_test_setup_teardown(test_environment, setup, teardown),
      cmocka_unit_test_setup_teardown(test_cpus, setup, teardown),
      cmocka_unit_test_setup_teardown(test_creation, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
