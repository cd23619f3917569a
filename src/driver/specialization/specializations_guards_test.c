/* Specializations with guards: ahead of time, while sessions run, and inputs that cannot be
 * guarded. */
#include <unistd.h>

#include "base/base.h"
#include "driver/specialization/specializations_testing.h"

static specializations_result specializations_want, specializations_got;

/* Makes runs with a mode. Each must give the bits of `plain`, and none may allocate. */
static void specializations_modes_run(wick_session *s, wick_session *plain, int64_t mode, int times)
{
  for (int i = 0; i < times; i++) {
    specializations_mode(plain, mode, specializations_want);
    memset(specializations_got, 0, sizeof specializations_got);
    unsigned long before = specializations_own; /* other threads compile meanwhile */
    specializations_mode(s, mode, specializations_got);
    assert_int_equal(specializations_own, before);
    specializations_same(specializations_want, specializations_got, 6);
  }
}

/* Returns the entry of the specialization that guards a mode; for -1 the entry for all modes. */
static wick_profile_entry specializations_met_mode(const wick_compiled *k, int64_t mode)
{
  wick_profile_entry m;
  wick_profile_content x;
  for (uint32_t i = 0; wick_compiled_profile(k, i, &m); i++) {
    assert_true(wick_compiled_profile_content(k, i, 0, &x));
    assert_string_equal(x.input, "mode");
    if (mode < 0 ? !x.guarded : x.guarded && *(const int64_t *)x.data == mode) return m;
  }
  fail_msg("there is no specialization for mode %lld", (long long)mode);
  return m;
}

/* With dynamic sizes, or with constant ones. */
static void specializations_guards_ahead(bool vary)
{
  char path[] = "/tmp/wick-specialized-XXXXXX";
  const char *model = vary ? specializations_modes : specializations_modes_of_6;
  assert_true(close(mkstemp(path)) == 0);
  wick_context *c = specializations_context();
  wick_compile_options guards = {.nspecialize_dim = vary,
                                 .specialize_dims = &specializations_six,
                                 .nspecialize_input = 2,
                                 .specialize_inputs = specializations_both};
  wick_compiled *made = specializations_of(c, model, guards), *k;
  wick_compiled *plain = specializations_of(c, model, (wick_compile_options){0});
  specializations_ok(wick_save(made, path));
  specializations_ok(wick_compiled_load(c, path, &k));
  wick_session *s = specializations_session(k, 2), *p = specializations_session(plain, 1);
  assert_int_equal(wick_compiled_nguard_input(k), 1);
  assert_string_equal(wick_compiled_guard_input(k, 0), "mode");
  for (int64_t mode = 0; mode < 8; mode++) {
    if (vary && mode % 4 == 0) specializations_shape(s, 6), specializations_shape(p, 6);
    specializations_modes_run(s, p, mode, 2);
  }
  assert_int_equal(specializations_met_mode(k, 1).nrun, 2);
  assert_int_equal(specializations_met_mode(k, 5).nrun, 2);
  assert_int_equal(specializations_met_mode(k, -1).nrun, 12);
  assert_true(specializations_met_mode(k, 5).specialized_nanoseconds &&
              !specializations_met_mode(k, 5).base_nanoseconds);
  assert_true(specializations_met_mode(k, 5).ahead && !specializations_met_mode(k, -1).ahead);
  wick_flow f = wick_compiled_flow(k, 0); /* the counts are as if nothing had been decided */
  assert_true(wick_compiled_nflow(k) == 1 && f.ntaken[1] == 2 * 5 && f.ntaken[0] == 2 * 3);
  wick_session_free(s);
  wick_session_free(p);
  wick_compiled_free(plain);
  wick_compiled_free(k);
  wick_compiled_free(made);
  wick_context_free(c);
  unlink(path);
}

static void test_guards_ahead(void **state)
{
  (void)state;
  specializations_guards_ahead(true);
  specializations_guards_ahead(false);
}

/* Contents that were always the same are guarded. If others follow, there is also a specialization
 * for all. */
static void test_guards_later(void **state)
{
  (void)state;
  char folder[] = "/tmp/wick-specialized-XXXXXX";
  assert_non_null(mkdtemp(folder));
  wick_context *c = specializations_context();
  wick_compiled *plain =
      specializations_of(c, specializations_modes_of_6, (wick_compile_options){0});
  wick_session *p = specializations_session(plain, 1);
  for (int round = 0; round < 2; round++) {
    wick_compiled *k =
        specializations_of(c, specializations_modes_of_6,
                           (wick_compile_options){.cache = folder, .auto_specialize = 4});
    wick_session *s = specializations_session(k, 1);
    wick_profile_content observed;
    assert_true(wick_compiled_profile_content(k, 0, 0, &observed) && !observed.data);
    specializations_modes_run(s, p, 5, 2);
    assert_true(wick_compiled_profile_content(k, 0, 0, &observed) && !observed.guarded);
    assert_int_equal(*(const int64_t *)observed.data, 5);
    specializations_modes_run(s, p, 5, 1);
    wick_compiled_wait(k);
    assert_int_equal(specializations_met_mode(k, 5).specialization, WICK_SPECIALIZATION_READY);
    assert_int_equal(specializations_met_mode(k, 5).cached, round == 1);
    assert_int_equal(specializations_met_mode(k, -1).specialization, WICK_SPECIALIZATION_NONE);
    specializations_modes_run(s, p, 5, 2);
    assert_true(specializations_met_mode(k, 5).nrun == 2 &&
                specializations_met_mode(k, 5).specialized_nanoseconds);
    specializations_modes_run(s, p, 1, 2);
    assert_int_equal(specializations_met_mode(k, -1).nrun, 5);
    assert_true(wick_compiled_profile_content(k, 0, 0, &observed) && !observed.data);
    specializations_modes_run(s, p, 0, 1);
    wick_compiled_wait(k);
    assert_int_equal(specializations_met_mode(k, -1).specialization, WICK_SPECIALIZATION_READY);
    specializations_modes_run(s, p, 1, 1), specializations_modes_run(s, p, 5, 1),
        specializations_modes_run(s, p, 9, 1);
    assert_true(specializations_met_mode(k, -1).specialized_nanoseconds);
    wick_session_free(s);
    wick_compiled_free(k);
  }
  wick_session_free(p);
  wick_compiled_free(plain);
  wick_context_free(c);
  specializations_empty(folder);
}

/* Inputs that cannot be guarded. */
static void test_guards_refused(void **state)
{
  (void)state;
  static const char model[] =
      "graph @main(%c: bool[], %n: i32[N[1..9]], %u: u8[3], %x: f32[4]) -> (f32[4], u8[3], i32[N]) "
      "{\n  %0 = if %c () { %1 = neg %x; yield %1 } () { yield %x } : f32[4]\n"
      "  %2 = add %u, %u\n  %3 = add %n, %n\n  return %0, %2, %3\n}\n";
  static const char bytes[16] = {1}, two[1] = {2};
  static const struct {
    wick_content guards[2];
    const char *want;
  } row[] = {
      {{{"y", bytes, 4}}, "model: there is no input \"y\""},
      {{{"x", bytes, 16}},
       "model: input \"x\": specializations guard only inputs of whole numbers and bools"},
      {{{"u", bytes, 3}},
       "model: input \"u\": no branch depends on its contents: a specialization for them would "
       "gain nothing"},
      {{{"n", bytes, 4}},
       "model: input \"n\": no branch depends on its contents: a specialization for them would "
       "gain nothing"},
      {{{"c", bytes, 2}}, "model: input \"c\": it has 1 bytes, 2 are given"},
      {{{"c", two, 1}}, "model: input \"c\": a bool is 0 or 1"},
      {{{"c", bytes, 1}, {"c", bytes, 1}}, "model: input \"c\": the same contents are given twice"},
      {{{"c", bytes, 1}},
       "model: the size N is dynamic, too: a specialization needs a value for it"},
  };
  wick_context *c = specializations_context();
  for (size_t i = 0; i < WICK_COUNT(row); i++) {
    wick_compile_options o = {.nspecialize_dim = i + 1 < WICK_COUNT(row),
                              .specialize_dims = &specializations_six,
                              .nspecialize_input = row[i].guards[1].input ? 2 : 1,
                              .specialize_inputs = row[i].guards};
    specializations_refused(c, model, o, row[i].want);
  }
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_guards_ahead),
                                     cmocka_unit_test(test_guards_later),
                                     cmocka_unit_test(test_guards_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
