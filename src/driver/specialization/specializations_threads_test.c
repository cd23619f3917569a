/* Specializations for sizes and contents that appear while many threads run sessions. */
#include <pthread.h>

#include "driver/specialization/specializations_testing.h"

enum { COPIES_RUNS = 60, COPIES_THREADS = 8 }; /* runs of a thread; most threads */

typedef struct specializations_thread {
  const wick_compiled *k;
  uint64_t random;
} specializations_thread;

/* Starts threads that do `work`, which returns NULL on success, with `nrun` runs in all. Returns
 * the number of specializations. */
static uint64_t specializations_threads(const wick_compiled *k, uint32_t n, void *(*work)(void *),
                                        uint64_t nrun)
{
  pthread_t thread[COPIES_THREADS];
  specializations_thread arg[COPIES_THREADS];
  for (uint32_t i = 0; i < n; i++) {
    arg[i] = (specializations_thread){k, i + 1};
    assert_int_equal(pthread_create(&thread[i], NULL, work, &arg[i]), 0);
  }
  for (uint32_t i = 0; i < n; i++) {
    void *bad;
    assert_int_equal(pthread_join(thread[i], &bad), 0);
    assert_null(bad);
  }
  wick_compiled_wait(k);
  uint64_t all = 0, ready = 0;
  wick_profile_entry m;
  for (uint32_t i = 0; wick_compiled_profile(k, i, &m); i++)
    all += m.nrun, ready += m.specialization == WICK_SPECIALIZATION_READY ||
                            m.specialization == WICK_SPECIALIZATION_SLOWER;
  assert_int_equal(all, nrun);
  return ready;
}

static uint64_t specializations_random(specializations_thread *t)
{
  return t->random = t->random * 1103515245u + 12345;
}

static specializations_result specializations_by_rows[8];

static void *specializations_size_thread(void *arg)
{
  specializations_thread *t = arg;
  wick_session *s = specializations_session(t->k, 1);
  specializations_result y;
  for (int i = 0; i < COPIES_RUNS; i++) {
    int64_t n = 1 + (int64_t)(specializations_random(t) / 65536 % 8);
    specializations_shape(s, n);
    specializations_run(s, y);
    if (memcmp(y, specializations_by_rows[n - 1], (size_t)n * COPIES_OUT * sizeof *y)) return arg;
  }
  wick_session_free(s);
  return NULL;
}

static void test_threads(void **state)
{
  (void)state;
  wick_context *c = specializations_context();
  wick_compiled *plain = specializations_of(c, specializations_model, (wick_compile_options){0}),
                *k = specializations_of(c, specializations_model,
                                        (wick_compile_options){.auto_specialize = 4});
  for (int64_t n = 1; n <= 8; n++)
    specializations_runs(plain, n, 1, specializations_by_rows[n - 1]);
  assert_int_equal(specializations_threads(k, 4, specializations_size_thread, 4 * COPIES_RUNS), 4);
  wick_compiled_free(k);
  wick_compiled_free(plain);
  wick_context_free(c);
}

/* by whether the mode is above 2, and by rows */
static specializations_result specializations_by_mode[2][4];

static void *specializations_mode_thread(void *arg)
{
  specializations_thread *t = arg;
  wick_session *s = specializations_session(t->k, 1);
  specializations_result y;
  for (int i = 0; i < COPIES_RUNS; i++) {
    uint64_t random = specializations_random(t);
    int64_t n = 1 + (int64_t)(random / 65536 % 4),
            mode = i < COPIES_RUNS / 2 ? 5 : (int64_t)(random >> 24 & 7);
    specializations_shape(s, n);
    for (int k = 0; k < 3; k++, mode = (mode + 3) % 8) {
      specializations_mode(s, mode, y);
      if (memcmp(y, specializations_by_mode[mode > 2][n - 1], (size_t)n * COPIES_OUT * sizeof *y))
        return arg;
    }
  }
  wick_session_free(s);
  return NULL;
}

/* Specializations for sizes and contents appear while eight threads change between them. */
static void test_held_threads(void **state)
{
  (void)state;
  wick_context *c = specializations_context();
  wick_compiled *plain = specializations_of(c, specializations_modes, (wick_compile_options){0}),
                *k = specializations_of(c, specializations_modes,
                                        (wick_compile_options){.auto_specialize = 6});
  wick_session *p = specializations_session(plain, 1);
  for (int64_t n = 1; n <= 4; n++) {
    specializations_shape(p, n);
    for (int mode = 0; mode < 2; mode++)
      specializations_mode(p, 3 * mode, specializations_by_mode[mode][n - 1]);
  }
  uint64_t nrun = 8 * COPIES_RUNS * 3,
           ready = specializations_threads(k, 8, specializations_mode_thread, nrun);
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
