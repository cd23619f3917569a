/* Copies, for sizes and for contents, that appear while many threads run sessions. */
#include <pthread.h>

#include "driver/specialization/specializations_testing.h"

enum { COPIES_RUNS = 60, COPIES_THREADS = 8 }; /* of a thread; the most */

typedef struct copies_thread {
  const wick_compiled *k;
  uint64_t random;
} copies_thread;

/* So many threads do `work`, which gives NULL where all is right, `nrun` runs in all. Gives how
 * many copies there are. */
static uint64_t copies_threads(const wick_compiled *k, uint32_t n, void *(*work)(void *),
                               uint64_t nrun)
{
  pthread_t thread[COPIES_THREADS];
  copies_thread arg[COPIES_THREADS];
  for (uint32_t i = 0; i < n; i++) {
    arg[i] = (copies_thread){k, i + 1};
    assert_int_equal(pthread_create(&thread[i], NULL, work, &arg[i]), 0);
  }
  for (uint32_t i = 0; i < n; i++) {
    void *bad;
    assert_int_equal(pthread_join(thread[i], &bad), 0);
    assert_null(bad);
  }
  wick_compiled_settle(k);
  uint64_t all = 0, ready = 0;
  wick_met_size m;
  for (uint32_t i = 0; wick_compiled_met(k, i, &m); i++)
    all += m.nrun, ready += m.copy == WICK_COPY_READY || m.copy == WICK_COPY_SLOWER;
  assert_int_equal(all, nrun);
  return ready;
}

static uint64_t copies_random(copies_thread *t)
{
  return t->random = t->random * 1103515245u + 12345;
}

static copies_result copies_by_rows[8];

static void *copies_size_thread(void *arg)
{
  copies_thread *t = arg;
  wick_session *s = copies_session(t->k, 1);
  copies_result y;
  for (int i = 0; i < COPIES_RUNS; i++) {
    int64_t n = 1 + (int64_t)(copies_random(t) / 65536 % 8);
    copies_shape(s, n);
    copies_run(s, y);
    if (memcmp(y, copies_by_rows[n - 1], (size_t)n * COPIES_OUT * sizeof *y)) return arg;
  }
  wick_session_free(s);
  return NULL;
}

static void test_threads(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *plain = copies_of(c, copies_model, (wick_compile_options){0}),
                *k = copies_of(c, copies_model, (wick_compile_options){.copies = 4});
  for (int64_t n = 1; n <= 8; n++) copies_runs(plain, n, 1, copies_by_rows[n - 1]);
  assert_int_equal(copies_threads(k, 4, copies_size_thread, 4 * COPIES_RUNS), 4);
  wick_compiled_free(k);
  wick_compiled_free(plain);
  wick_context_free(c);
}

static copies_result copies_by_mode[2][4]; /* is it above 2?, rows */

static void *copies_mode_thread(void *arg)
{
  copies_thread *t = arg;
  wick_session *s = copies_session(t->k, 1);
  copies_result y;
  for (int i = 0; i < COPIES_RUNS; i++) {
    uint64_t random = copies_random(t);
    int64_t n = 1 + (int64_t)(random / 65536 % 4),
            mode = i < COPIES_RUNS / 2 ? 5 : (int64_t)(random >> 24 & 7);
    copies_shape(s, n);
    for (int k = 0; k < 3; k++, mode = (mode + 3) % 8) {
      copies_mode(s, mode, y);
      if (memcmp(y, copies_by_mode[mode > 2][n - 1], (size_t)n * COPIES_OUT * sizeof *y))
        return arg;
    }
  }
  wick_session_free(s);
  return NULL;
}

/* Copies for sizes, and for contents, appear while eight threads go from one to the other. */
static void test_held_threads(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *plain = copies_of(c, copies_modes, (wick_compile_options){0}),
                *k = copies_of(c, copies_modes, (wick_compile_options){.copies = 6});
  wick_session *p = copies_session(plain, 1);
  for (int64_t n = 1; n <= 4; n++) {
    copies_shape(p, n);
    for (int mode = 0; mode < 2; mode++) copies_mode(p, 3 * mode, copies_by_mode[mode][n - 1]);
  }
  uint64_t nrun = 8 * COPIES_RUNS * 3, ready = copies_threads(k, 8, copies_mode_thread, nrun);
  assert_true(ready >= 4 && ready <= 6);
  wick_flow f = wick_compiled_flow(k, 0);
  assert_int_equal(f.ntaken[0] + f.ntaken[1], nrun);
  wick_session_free(p);
  wick_compiled_free(k);
  wick_compiled_free(plain);
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads),
                                     cmocka_unit_test(test_held_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
