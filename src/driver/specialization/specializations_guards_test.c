/* Copies that hold what an input contains: ahead, while sessions run, and what cannot be held. */
#include <unistd.h>

#include "base/base.h"
#include "driver/specialization/specializations_testing.h"

static copies_result copies_want, copies_got;

/* So many runs of that mode; each gives the bits of `plain`, and none takes memory. */
static void copies_modes_run(wick_session *s, wick_session *plain, int64_t mode, int times)
{
  for (int i = 0; i < times; i++) {
    copies_mode(plain, mode, copies_want);
    memset(copies_got, 0, sizeof copies_got);
    unsigned long before = copies_own; /* others make copies meanwhile */
    copies_mode(s, mode, copies_got);
    assert_int_equal(copies_own, before);
    copies_same(copies_want, copies_got, 6);
  }
}

/* The entry of a mode that a copy holds; of -1: that of all modes. */
static wick_met_size copies_met_mode(const wick_compiled *k, int64_t mode)
{
  wick_met_size m;
  wick_met_content x;
  for (uint32_t i = 0; wick_compiled_met(k, i, &m); i++) {
    assert_true(wick_compiled_met_content(k, i, 0, &x));
    assert_string_equal(x.input, "mode");
    if (mode < 0 ? !x.held : x.held && *(const int64_t *)x.data == mode) return m;
  }
  fail_msg("there is no copy for mode %lld", (long long)mode);
  return m;
}

/* With sizes that vary, or that do not. */
static void copies_held_ahead(bool vary)
{
  char path[] = "/tmp/wick-copies-XXXXXX";
  const char *model = vary ? copies_modes : copies_modes_of_6;
  assert_true(close(mkstemp(path)) == 0);
  wick_context *c = copies_context();
  wick_compile_options held = {.npin = vary, .pins = &copies_six, .nheld = 2, .held = copies_both};
  wick_compiled *made = copies_of(c, model, held), *k;
  wick_compiled *plain = copies_of(c, model, (wick_compile_options){0});
  copies_ok(wick_save(made, path));
  copies_ok(wick_open(c, path, &k));
  wick_session *s = copies_session(k, 2), *p = copies_session(plain, 1);
  assert_int_equal(wick_compiled_nwatch(k), 1);
  assert_string_equal(wick_compiled_watch(k, 0), "mode");
  for (int64_t mode = 0; mode < 8; mode++) {
    if (vary && mode % 4 == 0) copies_shape(s, 6), copies_shape(p, 6);
    copies_modes_run(s, p, mode, 2);
  }
  assert_int_equal(copies_met_mode(k, 1).nrun, 2);
  assert_int_equal(copies_met_mode(k, 5).nrun, 2);
  assert_int_equal(copies_met_mode(k, -1).nrun, 12);
  assert_true(copies_met_mode(k, 5).copy_nanoseconds && !copies_met_mode(k, 5).generic_nanoseconds);
  assert_true(copies_met_mode(k, 5).ahead && !copies_met_mode(k, -1).ahead);
  wick_flow f = wick_compiled_flow(k, 0); /* as if nobody had decided before */
  assert_true(wick_compiled_nflow(k) == 1 && f.ntaken[1] == 2 * 5 && f.ntaken[0] == 2 * 3);
  wick_session_free(s);
  wick_session_free(p);
  wick_compiled_free(plain);
  wick_compiled_free(k);
  wick_compiled_free(made);
  wick_context_free(c);
  unlink(path);
}

static void test_held_ahead(void **state)
{
  (void)state;
  copies_held_ahead(true);
  copies_held_ahead(false);
}

/* What has always been the same is held; where it then is not, there is a copy for all. */
static void test_held_later(void **state)
{
  (void)state;
  char folder[] = "/tmp/wick-copies-XXXXXX";
  assert_non_null(mkdtemp(folder));
  wick_context *c = copies_context();
  wick_compiled *plain = copies_of(c, copies_modes_of_6, (wick_compile_options){0});
  wick_session *p = copies_session(plain, 1);
  for (int round = 0; round < 2; round++) {
    wick_compiled *k =
        copies_of(c, copies_modes_of_6, (wick_compile_options){.cache = folder, .copies = 4});
    wick_session *s = copies_session(k, 1);
    wick_met_content seen;
    assert_true(wick_compiled_met_content(k, 0, 0, &seen) && !seen.data);
    copies_modes_run(s, p, 5, 2);
    assert_true(wick_compiled_met_content(k, 0, 0, &seen) && !seen.held);
    assert_int_equal(*(const int64_t *)seen.data, 5);
    copies_modes_run(s, p, 5, 1);
    wick_compiled_settle(k);
    assert_int_equal(copies_met_mode(k, 5).copy, WICK_COPY_READY);
    assert_int_equal(copies_met_mode(k, 5).cached, round == 1);
    assert_int_equal(copies_met_mode(k, -1).copy, WICK_COPY_NONE);
    copies_modes_run(s, p, 5, 2);
    assert_true(copies_met_mode(k, 5).nrun == 2 && copies_met_mode(k, 5).copy_nanoseconds);
    copies_modes_run(s, p, 1, 2);
    assert_int_equal(copies_met_mode(k, -1).nrun, 5);
    assert_true(wick_compiled_met_content(k, 0, 0, &seen) && !seen.data);
    copies_modes_run(s, p, 0, 1);
    wick_compiled_settle(k);
    assert_int_equal(copies_met_mode(k, -1).copy, WICK_COPY_READY);
    copies_modes_run(s, p, 1, 1), copies_modes_run(s, p, 5, 1), copies_modes_run(s, p, 9, 1);
    assert_true(copies_met_mode(k, -1).copy_nanoseconds);
    wick_session_free(s);
    wick_compiled_free(k);
  }
  wick_session_free(p);
  wick_compiled_free(plain);
  wick_context_free(c);
  copies_empty(folder);
}

/* What cannot be held. */
static void test_held_refused(void **state)
{
  (void)state;
  static const char model[] =
      "graph @main(%c: bool[], %n: i32[N[1..9]], %u: u8[3], %x: f32[4]) -> (f32[4], u8[3], i32[N]) "
      "{\n  %0 = if %c () { %1 = neg %x; yield %1 } () { yield %x } : f32[4]\n"
      "  %2 = add %u, %u\n  %3 = add %n, %n\n  return %0, %2, %3\n}\n";
  static const char bytes[16] = {1}, two[1] = {2};
  static const struct {
    wick_content held[2];
    const char *want;
  } row[] = {
      {{{"y", bytes, 4}}, "model: there is no input \"y\""},
      {{{"x", bytes, 16}},
       "model: input \"x\": copies hold whole numbers and bools, it is of others"},
      {{{"u", bytes, 3}},
       "model: input \"u\": no branch follows from what it holds, copies gain nothing from it"},
      {{{"n", bytes, 4}},
       "model: input \"n\": no branch follows from what it holds, copies gain nothing from it"},
      {{{"c", bytes, 2}}, "model: input \"c\": it has 1 bytes, 2 are given"},
      {{{"c", two, 1}}, "model: input \"c\": a bool is 0 or 1"},
      {{{"c", bytes, 1}, {"c", bytes, 1}}, "model: input \"c\": the same contents are given twice"},
      {{{"c", bytes, 1}}, "model: the size N varies, too: copies want a value for it"},
  };
  wick_context *c = copies_context();
  for (size_t i = 0; i < WICK_COUNT(row); i++) {
    wick_compile_options o = {.npin = i + 1 < WICK_COUNT(row),
                              .pins = &copies_six,
                              .nheld = row[i].held[1].input ? 2 : 1,
                              .held = row[i].held};
    copies_refused(c, model, o, row[i].want);
  }
  wick_context_free(c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_held_ahead),
                                     cmocka_unit_test(test_held_later),
                                     cmocka_unit_test(test_held_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
