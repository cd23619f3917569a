/* Specializations for sizes: ahead of time and while sessions run, in the cache, failures, and
 * freeing. */
#include <sys/wait.h>
#include <unistd.h>

#include "driver/specialization/specializations_testing.h"

static specializations_result specializations_want, specializations_got;

static wick_profile_entry specializations_met(const wick_compiled *k, int64_t n)
{
  wick_profile_entry m;
  for (uint32_t i = 0; wick_compiled_profile(k, i, &m); i++)
    if (m.sizes[0] == n) return m;
  fail_msg("%lld rows have no entry", (long long)n);
  return m;
}

static void test_background(void **state)
{
  (void)state;
  wick_context *c = specializations_context();
  wick_compiled *k =
      specializations_of(c, specializations_model, (wick_compile_options){.auto_specialize = 2});
  assert_int_equal(wick_compiled_nsize(k), 1);
  assert_string_equal(wick_compiled_size(k, 0).name, "N");
  assert_int_equal(wick_compiled_size(k, 0).most, 64);
  wick_session *s = specializations_session(k, 2);
  specializations_shape(s, 5);
  for (int i = 0; i < 2; i++) specializations_run(s, specializations_want);
  assert_int_equal(specializations_met(k, 5).specialization, WICK_SPECIALIZATION_NONE);
  specializations_run(s, specializations_want);
  wick_compiled_wait(k);
  assert_int_equal(specializations_met(k, 5).specialization, WICK_SPECIALIZATION_READY);
  assert_int_equal(specializations_met(k, 5).specialized_nanoseconds, 0);
  unsigned long before = atomic_load(&specializations_count);
  specializations_run(s, specializations_got); /* changes to it, and does not allocate */
  assert_int_equal(atomic_load(&specializations_count), before);
  assert_true(specializations_met(k, 5).specialized_nanoseconds > 0);
  assert_int_equal(specializations_met(k, 5).nrun, 4);
  specializations_same(specializations_want, specializations_got, 5);
  for (int64_t n = 7; n <= 9; n++)
    specializations_runs(k, n, 4, specializations_got), wick_compiled_wait(k);
  assert_int_equal(specializations_met(k, 7).specialization, WICK_SPECIALIZATION_READY);
  assert_int_equal(specializations_met(k, 8).specialization,
                   WICK_SPECIALIZATION_NONE); /* there are two */
  specializations_shape(s, 9);
  specializations_run(s, specializations_got);
  specializations_shape(s, 5); /* and back */
  specializations_run(s, specializations_got);
  specializations_same(specializations_want, specializations_got, 5);
  wick_session_free(s);
  wick_compiled_free(k);
  wick_context_free(c);
}

static void test_ahead(void **state)
{
  (void)state;
  char path[] = "/tmp/wick-specialized-XXXXXX";
  assert_true(close(mkstemp(path)) == 0);
  wick_context *c = specializations_context();
  const wick_size pins[] = {{"N", 6}, {"N", 64}};
  wick_compiled *k = specializations_of(
                    c, specializations_model,
                    (wick_compile_options){.nspecialize_dim = 2, .specialize_dims = pins}),
                *again;
  specializations_ok(wick_save(k, path));
  specializations_ok(wick_compiled_load(c, path, &again));
  wick_compiled *plain = specializations_of(c, specializations_model, (wick_compile_options){0});
  for (int64_t n = 6; n <= 64; n += 58) {
    specializations_runs(plain, n, 1, specializations_want);
    specializations_runs(again, n, 1, specializations_got);
    specializations_same(specializations_want, specializations_got, n);
    assert_true(specializations_met(again, n).ahead &&
                specializations_met(again, n).specialized_nanoseconds);
    assert_true(!specializations_met(plain, n).ahead &&
                specializations_met(plain, n).base_nanoseconds);
  }
  wick_compiled_free(plain);
  wick_compiled_free(again);
  wick_compiled_free(k);
  unlink(path);
  wick_context_free(c);
}

static void test_specialize_dims(void **state)
{
  (void)state;
  wick_context *c = specializations_context();
  specializations_refused(
      c, specializations_model,
      (wick_compile_options){.nspecialize_dim = 1, .specialize_dims = &(wick_size){"M", 3}},
      "model: there is no size M that varies");
  specializations_refused(
      c, specializations_model,
      (wick_compile_options){.nspecialize_dim = 1, .specialize_dims = &(wick_size){"N", 65}},
      "model: the size N is not 65 for any N in 1..64");
  wick_context_free(c);
}

static void test_cache(void **state)
{
  (void)state;
  char folder[] = "/tmp/wick-specialized-XXXXXX";
  assert_non_null(mkdtemp(folder));
  wick_context *c = specializations_context();
  for (int i = 0; i < 3; i++) {
    wick_compiled *k = specializations_of(
        c, specializations_model, (wick_compile_options){.cache = folder, .auto_specialize = 1});
    assert_int_equal(wick_compiled_cached(k), i > 0);
    specializations_runs(k, 11, 3, i ? specializations_got : specializations_want);
    wick_compiled_wait(k);
    specializations_runs(k, 11, 1, specializations_got);
    wick_profile_entry m = specializations_met(k, 11);
    assert_true(m.specialization == WICK_SPECIALIZATION_READY && m.specialized_nanoseconds &&
                m.cached == (i > 0));
    specializations_same(specializations_want, specializations_got, 11);
    wick_compiled_free(k);
  }
  wick_context_free(c);
  specializations_empty(folder);
}

/* A failure is kept, and does not affect runs. */
static void test_failure(void **state)
{
  (void)state;
  wick_context *c = specializations_context();
  wick_compiled *k =
      specializations_of(c, specializations_model, (wick_compile_options){.auto_specialize = 1});
  const char *old = getenv("WICK_CODEGEN");
  char *kept = old ? strdup(old) : NULL;
  setenv("WICK_CODEGEN", "/nowhere/wick-codegen", 1);
  specializations_runs(k, 3, 4, specializations_want);
  wick_compiled_wait(k);
  specializations_runs(k, 3, 1, specializations_got);
  if (kept)
    setenv("WICK_CODEGEN", kept, 1);
  else
    unsetenv("WICK_CODEGEN");
  free(kept);
  wick_profile_entry m = specializations_met(k, 3);
  assert_int_equal(m.specialization, WICK_SPECIALIZATION_FAILED);
  assert_non_null(strstr(m.why, "wick-codegen"));
  specializations_same(specializations_want, specializations_got, 3);
  wick_compiled_free(k);
  wick_context_free(c);
}

/* Freed while a specialization is compiled; and in a process after a fork. */
static void test_end(void **state)
{
  (void)state;
  wick_context *c = specializations_context();
  wick_compiled *k =
      specializations_of(c, specializations_model, (wick_compile_options){.auto_specialize = 4});
  specializations_runs(k, 2, 3, specializations_want);
  pid_t child = fork();
  if (!child) {
    specializations_runs(k, 2, 5, specializations_got);
    specializations_runs(k, 40, 5, specializations_got);
    wick_compiled_wait(k);
    wick_compiled_free(k);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  specializations_runs(k, 4, 3, specializations_want);
  wick_compiled_free(k);
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_background),      cmocka_unit_test(test_ahead),
      cmocka_unit_test(test_specialize_dims), cmocka_unit_test(test_cache),
      cmocka_unit_test(test_failure),         cmocka_unit_test(test_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
