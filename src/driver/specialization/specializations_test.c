/* Copies for some sizes: ahead and while sessions run, their cache, failures, the end. */
#include <sys/wait.h>
#include <unistd.h>

#include "driver/specialization/specializations_testing.h"

static copies_result copies_want, copies_got;

static wick_met_size copies_met(const wick_compiled *k, int64_t n)
{
  wick_met_size m;
  for (uint32_t i = 0; wick_compiled_met(k, i, &m); i++)
    if (m.sizes[0] == n) return m;
  fail_msg("%lld rows were not met", (long long)n);
  return m;
}

static void test_background(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *k = copies_of(c, copies_model, (wick_compile_options){.copies = 2});
  assert_int_equal(wick_compiled_nsize(k), 1);
  assert_string_equal(wick_compiled_size(k, 0).name, "N");
  assert_int_equal(wick_compiled_size(k, 0).most, 64);
  wick_session *s = copies_session(k, 2);
  copies_shape(s, 5);
  for (int i = 0; i < 2; i++) copies_run(s, copies_want);
  assert_int_equal(copies_met(k, 5).copy, WICK_COPY_NONE);
  copies_run(s, copies_want);
  wick_compiled_settle(k);
  assert_int_equal(copies_met(k, 5).copy, WICK_COPY_READY);
  assert_int_equal(copies_met(k, 5).copy_nanoseconds, 0);
  unsigned long before = atomic_load(&copies_count);
  copies_run(s, copies_got); /* goes over to it, and takes no memory */
  assert_int_equal(atomic_load(&copies_count), before);
  assert_true(copies_met(k, 5).copy_nanoseconds > 0);
  assert_int_equal(copies_met(k, 5).nrun, 4);
  copies_same(copies_want, copies_got, 5);
  for (int64_t n = 7; n <= 9; n++) copies_runs(k, n, 4, copies_got), wick_compiled_settle(k);
  assert_int_equal(copies_met(k, 7).copy, WICK_COPY_READY);
  assert_int_equal(copies_met(k, 8).copy, WICK_COPY_NONE); /* there are two */
  copies_shape(s, 9);
  copies_run(s, copies_got);
  copies_shape(s, 5); /* and back */
  copies_run(s, copies_got);
  copies_same(copies_want, copies_got, 5);
  wick_session_free(s);
  wick_compiled_free(k);
  wick_context_free(c);
}

static void test_ahead(void **state)
{
  (void)state;
  char path[] = "/tmp/wick-copies-XXXXXX";
  assert_true(close(mkstemp(path)) == 0);
  wick_context *c = copies_context();
  const wick_size pins[] = {{"N", 6}, {"N", 64}};
  wick_compiled *k = copies_of(c, copies_model, (wick_compile_options){.npin = 2, .pins = pins}),
                *again;
  copies_ok(wick_save(k, path));
  copies_ok(wick_open(c, path, &again));
  wick_compiled *plain = copies_of(c, copies_model, (wick_compile_options){0});
  for (int64_t n = 6; n <= 64; n += 58) {
    copies_runs(plain, n, 1, copies_want);
    copies_runs(again, n, 1, copies_got);
    copies_same(copies_want, copies_got, n);
    assert_true(copies_met(again, n).ahead && copies_met(again, n).copy_nanoseconds);
    assert_true(!copies_met(plain, n).ahead && copies_met(plain, n).generic_nanoseconds);
  }
  wick_compiled_free(plain);
  wick_compiled_free(again);
  wick_compiled_free(k);
  unlink(path);
  wick_context_free(c);
}

static void test_pins(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  copies_refused(c, copies_model, (wick_compile_options){.npin = 1, .pins = &(wick_size){"M", 3}},
                 "model: there is no size M that varies");
  copies_refused(c, copies_model, (wick_compile_options){.npin = 1, .pins = &(wick_size){"N", 65}},
                 "model: the size N is not 65 for any N in 1..64");
  wick_context_free(c);
}

static void test_cache(void **state)
{
  (void)state;
  char folder[] = "/tmp/wick-copies-XXXXXX";
  assert_non_null(mkdtemp(folder));
  wick_context *c = copies_context();
  for (int i = 0; i < 3; i++) {
    wick_compiled *k =
        copies_of(c, copies_model, (wick_compile_options){.cache = folder, .copies = 1});
    assert_int_equal(wick_compiled_cached(k), i > 0);
    copies_runs(k, 11, 3, i ? copies_got : copies_want);
    wick_compiled_settle(k);
    copies_runs(k, 11, 1, copies_got);
    wick_met_size m = copies_met(k, 11);
    assert_true(m.copy == WICK_COPY_READY && m.copy_nanoseconds && m.cached == (i > 0));
    copies_same(copies_want, copies_got, 11);
    wick_compiled_free(k);
  }
  wick_context_free(c);
  copies_empty(folder);
}

/* What goes wrong is kept, and harms nobody. */
static void test_failure(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *k = copies_of(c, copies_model, (wick_compile_options){.copies = 1});
  const char *old = getenv("WICK_CODEGEN");
  char *kept = old ? strdup(old) : NULL;
  setenv("WICK_CODEGEN", "/nowhere/wick-codegen", 1);
  copies_runs(k, 3, 4, copies_want);
  wick_compiled_settle(k);
  copies_runs(k, 3, 1, copies_got);
  if (kept)
    setenv("WICK_CODEGEN", kept, 1);
  else
    unsetenv("WICK_CODEGEN");
  free(kept);
  wick_met_size m = copies_met(k, 3);
  assert_int_equal(m.copy, WICK_COPY_FAILED);
  assert_non_null(strstr(m.why, "wick-codegen"));
  copies_same(copies_want, copies_got, 3);
  wick_compiled_free(k);
  wick_context_free(c);
}

/* Freed while a copy is made; and in a process that has forked. */
static void test_end(void **state)
{
  (void)state;
  wick_context *c = copies_context();
  wick_compiled *k = copies_of(c, copies_model, (wick_compile_options){.copies = 4});
  copies_runs(k, 2, 3, copies_want);
  pid_t child = fork();
  if (!child) {
    copies_runs(k, 2, 5, copies_got);
    copies_runs(k, 40, 5, copies_got);
    wick_compiled_settle(k);
    wick_compiled_free(k);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  copies_runs(k, 4, 3, copies_want);
  wick_compiled_free(k);
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_background), cmocka_unit_test(test_ahead),
      cmocka_unit_test(test_pins),       cmocka_unit_test(test_cache),
      cmocka_unit_test(test_failure),    cmocka_unit_test(test_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
