/* Tables of counts: one for each session, sums over all, many threads, and no memory. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/torture.h"
#include "runtime/flow_counters.h"

static const wick_program_flow flow_counters_places[] = {{"choice", WICK_FLOW_IF},
                                                         {"scan", WICK_FLOW_LOOP}};
static const wick_program flow_counters_program = {.nflow = 2, .flow = flow_counters_places};

/* Counts as generated code does at a branch, and after a loop. */
static void flow_counters_branch(int64_t *c, bool taken) { c[taken]++; }

static void flow_counters_loop(int64_t *c, int64_t steps)
{
  c += WICK_FLOW_SLOTS;
  c[0]++, c[1] += steps;
  if (steps < c[WICK_FLOW_LEAST]) c[WICK_FLOW_LEAST] = steps;
  if (steps > c[WICK_FLOW_MOST]) c[WICK_FLOW_MOST] = steps;
}

static void test_sum(void **state)
{
  (void)state;
  wick_flow_counters *f = wick_flow_counters_begin(&flow_counters_program, wick_allocator_malloc());
  wick_flow none = wick_flow_counters_sum(f, 1);
  assert_true(!none.nloop && !none.least && !none.most);
  int64_t *a = wick_flow_counters_take(f), *b = wick_flow_counters_take(f);
  assert_true(a != b && (uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0);
  flow_counters_branch(a, true), flow_counters_branch(b, true), flow_counters_branch(b, false);
  flow_counters_loop(b, 7), flow_counters_loop(b, 3);
  wick_flow x = wick_flow_counters_sum(f, 0), y = wick_flow_counters_sum(f, 1);
  assert_string_equal(x.location, "choice");
  assert_true(x.kind == WICK_FLOW_IF && x.ntaken[0] == 1 && x.ntaken[1] == 2);
  assert_string_equal(y.location, "scan");
  assert_true(y.kind == WICK_FLOW_LOOP && y.nloop == 2 && y.nstep == 10 && y.least == 3);
  assert_int_equal(y.most, 7);
  wick_flow_counters_give(f, b);
  assert_ptr_equal(wick_flow_counters_take(f), b); /* with its counts */
  flow_counters_loop(a, 0);
  y = wick_flow_counters_sum(f, 1);
  assert_true(y.nloop == 3 && y.nstep == 10 && y.least == 0 && y.most == 7);
  wick_flow_counters_free(f);
}

static wick_flow_counters *flow_counters_shared;

static void *flow_counters_thread(void *arg)
{
  for (int i = 0; i < 50; i++) {
    int64_t *c = wick_flow_counters_take(flow_counters_shared);
    for (int k = 0; k < 100; k++)
      __atomic_store_n(&c[1], __atomic_load_n(&c[1], __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    if (wick_flow_counters_sum(flow_counters_shared, 0).ntaken[1] < 100) return arg;
    wick_flow_counters_give(flow_counters_shared, c);
  }
  return NULL;
}

static void test_threads(void **state)
{
  (void)state;
  pthread_t thread[8];
  flow_counters_shared = wick_flow_counters_begin(&flow_counters_program, wick_allocator_malloc());
  for (uintptr_t i = 0; i < 8; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, flow_counters_thread, (void *)(i + 1)), 0);
  for (int i = 0; i < 8; i++) {
    void *bad;
    assert_int_equal(pthread_join(thread[i], &bad), 0);
    assert_null(bad);
  }
  assert_int_equal(wick_flow_counters_sum(flow_counters_shared, 0).ntaken[1], 8 * 50 * 100);
  wick_flow_counters_free(flow_counters_shared);
}

static void test_memory(void **state)
{
  (void)state;
  for (uint64_t n = 1; n <= 2; n++) {
    wick_torture torture = {.fail_at = n};
    wick_flow_counters *f =
        wick_flow_counters_begin(&flow_counters_program, wick_torture_allocator(&torture));
    assert_true((f == NULL) == (n == 1));
    if (f) assert_null(wick_flow_counters_take(f));
    wick_flow_counters_give(f, NULL);
    wick_flow_counters_free(f);
    assert_int_equal(torture.live, 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sum), cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
