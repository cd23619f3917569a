/* Sessions, with C functions instead of generated code. */
#include "runtime/session.h"

#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/torture.h"

enum { TASKS = 100, HALF = 37, SCRATCH = 1024, COST = 100000 };

/* What the kernels observed. */
static _Atomic bool seen_nearest;
static int32_t fail_from = TASKS; /* tasks from here on fail */
static pthread_t caller;
static wick_pool *seen_pool;        /* NULL, or the pool of the session */
static _Atomic bool seen_free;      /* nobody had it during the last run */
static _Atomic bool seen_elsewhere; /* a thread other than the caller's has run tasks */

static bool rounds_to_nearest(void)
{
  static const volatile float one = 1, little = 1e-9f;
  volatile float sum = one + little;
  return sum == one;
}

/* y[i] = 2 * x[i], through the worker's scratch memory. */
static void kernel_double(void **args, int64_t begin, int64_t end)
{
  float *y = args[0];
  const float *x = args[1];
  float *scratch = args[2];
  assert_int_equal((uintptr_t)scratch % 64, 0);
  for (int64_t i = begin; i < end; i++) {
    for (int k = 0; k < SCRATCH / 4; k++) scratch[k] = x[i];
    y[i] = scratch[0] + scratch[SCRATCH / 4 - 1];
  }
  if (begin == 0) seen_nearest = rounds_to_nearest();
  if (begin == 0 && seen_pool) {
    wick_pool_run run = wick_pool_begin(seen_pool);
    seen_free = run.pool != NULL;
    wick_pool_end(&run);
  }
  if (!pthread_equal(pthread_self(), caller)) seen_elsewhere = true;
}

static void kernel_fail(void **args, int64_t begin, int64_t end)
{
  wick_fault *fault = args[1];
  for (int64_t i = begin; i < end; i++)
    if (i >= fail_from && (!fault->code || i < fault->task))
      *fault = (wick_fault){.code = WICK_ERANGE, .task = i, .detail = 7 * i};
}

typedef union any {
  void *p;
  wick_launch launch;
} any;

/* arena = 2 * x; y = 2 * arena, whose halves may run concurrently; then a kernel that may fail. */
static int32_t entry_all(void **args)
{
  any launch = {args[0]};
  void *first[] = {args[2], args[4]}, *second[] = {args[5], args[2]},
       *upper[] = {(float *)args[5] + HALF, (float *)args[2] + HALF}, *third[] = {args[5]};
  assert_int_equal(*(const int *)args[3], 42);
  int32_t code = launch.launch(args[1], kernel_double, 0, first, 2, TASKS, 0);
  if (!code) code = launch.launch(args[1], kernel_double, 1, second, 2, HALF, 0);
  if (!code) code = launch.launch(args[1], kernel_double, 1, upper, 2, TASKS - HALF, 1);
  if (!code) code = launch.launch(args[1], kernel_fail, 2, third, 1, TASKS, 0);
  return code;
}

static const wick_io test_io[] = {
    {.name = "x", .elem = WICK_F32, .rank = 1, .dim = {TASKS}, .nbytes = 4 * TASKS},
    {.name = "y", .elem = WICK_F32, .rank = 1, .dim = {TASKS}, .nbytes = 4 * TASKS}};
static const wick_program_kernel test_kernel[] = {
    {.name = "a", .location = "net: a", .scratch = true, .cost = COST},
    {.name = "b", .location = "net: b", .scratch = true, .cost = COST},
    {.name = "c", .location = "net: c", .fault = true, .cost = COST}};
static const wick_program test_program = {.entry = "entry",
                                          .contract = "",
                                          .arena_bytes = 4 * TASKS,
                                          .scratch_bytes = SCRATCH,
                                          .packed_bytes = sizeof(int),
                                          .ninput = 1,
                                          .noutput = 1,
                                          .nkernel = 3,
                                          .io = test_io,
                                          .kernel = test_kernel};
static const int test_constants = 42;

typedef struct fixture {
  wick_guard guard;
  wick_arena mem;
  wick_symbol symbol;
  wick_artifact artifact;
  wick_image image;
} fixture;

/* The image is this program itself. */
static void begin(fixture *t)
{
  union {
    wick_entry f;
    unsigned char *at;
  } entry = {entry_all};
  *t = (fixture){.guard = {.allocator = wick_allocator_malloc()}, .symbol = {"entry", 0}};
  t->mem = wick_arena_make(&t->guard);
  t->artifact = (wick_artifact){.nsymbol = 1, .symbol = &t->symbol};
  t->image = (wick_image){entry.at, 1, &t->artifact};
}

static void profile(void *ctx, uint32_t kernel, uint64_t nanoseconds)
{
  uint64_t *count = ctx;
  (void)nanoseconds;
  count[kernel]++;
}

static void check_runs(fixture *t)
{
  static const uint32_t workers[] = {1, 2, 3, 7};
  for (uint32_t w = 0; w < WICK_COUNT(workers); w++) {
    wick_pool *pool;
    uint64_t count[3] = {0};
    wick_session_state *s;
    assert_null(wick_pool_create(&(wick_pool_options){.nworker = workers[w]}, &t->mem, &pool));
    wick_session_setup setup = {.pool = pool, .profile = profile, .profile_ctx = count};
    assert_null(wick_session_make(&t->image, &test_program, &test_constants, &setup, &t->mem, &s));
    float x[TASKS], y[TASKS];
    for (int i = 0; i < TASKS; i++) x[i] = (float)i;
    fesetround(FE_UPWARD);
    for (int n = 0; n < 20; n++) {
      memset(y, 0, sizeof y);
      assert_int_equal(wick_session_run(s, (const void *[]){x}, (void *[]){y}), WICK_OK);
      for (int i = 0; i < TASKS; i++) assert_true(y[i] == (float)(4 * i));
    }
    assert_true(seen_nearest && !rounds_to_nearest()); /* the caller's rounding mode is restored */
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    assert_int_equal(wick_session_last_fault(s).kernel, 3);
    for (int k = 0; k < 3; k++) assert_int_equal(count[k], k == 1 ? 40 : 20);
    wick_session_drop(s);
    wick_pool_free(pool);
  }
}

/* The lowest failing task is reported, whichever worker ran it. The next run is not affected. */
static void check_faults(fixture *t)
{
  for (uint32_t workers = 1; workers < 6; workers++) {
    wick_pool *pool;
    wick_session_state *s;
    assert_null(wick_pool_create(&(wick_pool_options){.nworker = workers}, &t->mem, &pool));
    wick_session_setup setup = {.pool = pool};
    assert_null(wick_session_make(&t->image, &test_program, &test_constants, &setup, &t->mem, &s));
    float x[TASKS], y[TASKS];
    for (int i = 0; i < TASKS; i++) x[i] = (float)i;
    for (fail_from = 0; fail_from <= TASKS; fail_from += 10) {
      memset(y, 0, sizeof y);
      wick_code code = wick_session_run(s, (const void *[]){x}, (void *[]){y});
      for (int i = 0; i < TASKS; i++) assert_true(y[i] == (float)(4 * i));
      wick_session_fault f = wick_session_last_fault(s);
      assert_int_equal(code, fail_from < TASKS ? WICK_ERANGE : WICK_OK);
      assert_int_equal(f.kernel, fail_from < TASKS ? 2 : 3);
      if (fail_from >= TASKS) continue;
      assert_int_equal(f.fault->task, fail_from);
      assert_int_equal(f.fault->detail, 7 * fail_from);
    }
    fail_from = TASKS;
    wick_session_drop(s);
    wick_pool_free(pool);
  }
}

/* A short run, for which other workers would only cost time, uses only its own thread, and wakes no
 * other: it leaves the pool to others. */
static void check_small(fixture *t)
{
  static const uint64_t cost[] = {500, 2000, 5000, 20000, COST}; /* there are four launches */
  caller = pthread_self();
  for (uint32_t c = 0; c < WICK_COUNT(cost); c++) {
    wick_pool *pool;
    wick_session_state *s;
    wick_program p = test_program;
    wick_program_kernel kernel[3];
    for (int k = 0; k < 3; k++) kernel[k] = test_kernel[k], kernel[k].cost = cost[c];
    p.kernel = kernel;
    assert_null(wick_pool_create(&(wick_pool_options){.nworker = 2}, &t->mem, &pool));
    wick_session_setup setup = {.pool = pool};
    assert_null(wick_session_make(&t->image, &p, &test_constants, &setup, &t->mem, &s));
    float x[TASKS] = {0}, y[TASKS];
    seen_pool = pool;
    for (int run = 0; run < 3; run++) {
      seen_elsewhere = seen_free = false;
      assert_int_equal(wick_session_run(s, (const void *[]){x}, (void *[]){y}), WICK_OK);
      assert_int_equal(seen_elsewhere, cost[c] >= 20000);
      assert_int_equal(seen_free, cost[c] < 20000);
    }
    seen_pool = NULL;
    wick_session_drop(s);
    wick_pool_free(pool);
  }
}

static void check_failures(fixture *t)
{
  wick_session_state *s;
  wick_program p = test_program;
  p.entry = "other";
  wick_status st = wick_session_make(&t->image, &p, &test_constants, NULL, &t->mem, &s);
  assert_non_null(st);
  assert_string_equal(st->message, "the code has no function \"other\"");
  p = test_program;
  p.arena_bytes = UINT64_MAX - 5;
  st = wick_session_make(&t->image, &p, &test_constants, NULL, &t->mem, &s);
  assert_int_equal(st->code, WICK_ENOMEM);
  wick_torture torture = {.fail_at = 1};
  wick_session_setup setup = {.allocator = wick_torture_allocator(&torture)};
  st = wick_session_make(&t->image, &test_program, &test_constants, &setup, &t->mem, &s);
  assert_int_equal(st->code, WICK_ENOMEM);
  torture = (wick_torture){0};
  assert_null(wick_session_make(&t->image, &test_program, &test_constants, &setup, &t->mem, &s));
  float x[TASKS] = {0}, y[TASKS];
  for (int n = 0; n < 100; n++)
    assert_int_equal(wick_session_run(s, (const void *[]){x}, (void *[]){y}), WICK_OK);
  assert_int_equal(torture.calls, 1); /* none during runs */
  wick_session_drop(s);
  wick_session_drop(NULL);
  assert_int_equal(torture.live, 0);
}

static void in_fixture(void (*check)(fixture *t))
{
  fixture t;
  begin(&t);
  if (setjmp(t.guard.where)) fail_msg("out of memory");
  check(&t);
  wick_arena_free(&t.mem);
}

static void runs(void **state)
{
  (void)state;
  in_fixture(check_runs);
}
static void small(void **state)
{
  (void)state;
  in_fixture(check_small);
}

static void faults(void **state)
{
  (void)state;
  in_fixture(check_faults);
}
static void failures(void **state)
{
  (void)state;
  in_fixture(check_failures);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(runs), cmocka_unit_test(small),
                                     cmocka_unit_test(faults), cmocka_unit_test(failures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
