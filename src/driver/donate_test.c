/* Donated inputs: which output shares the memory of which, and what a run does. */
#include "driver/donate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/compile_testing.h"

/* The new weights are two nodes from the old ones, and the loss has the bias's type. */
static const char step[] = "graph @main(%b: f32[], %v: f32[3], %w: f32[3], %g: f32[3]) -> "
                           "(f32[], f32[], f32[3], f32[3]) {\n"
                           "  %m = mul %w, %g\n"
                           "  %s = reduce_sum %m {axes=[0]}; %loss = reshape %s {shape=[]}\n"
                           "  %b2 = add %b, %loss\n"
                           "  %v2 = sub %v, %g\n"
                           "  %w2 = sub %w, %v2\n"
                           "  return %loss, %b2, %w2, %v2\n"
                           "}\n";

static void begin(fixture *t, const char *text)
{
  *t = (fixture){0};
  ok(wick_context_create(NULL, &t->context));
  ok(wick_load_bytes(t->context, "step.txt", text, strlen(text), &t->model));
}

static wick_error *compile(fixture *t, uint32_t n, const char *const *donate)
{
  wick_compile_options o = {.size = sizeof o, .cache = "", .ndonate = n, .donate = donate};
  return wick_compile(t->model, &o, &t->compiled);
}

static void test_pairs(void **state)
{
  (void)state;
  static const char *const all[] = {"w", "v", "b"};
  fixture t;
  begin(&t, step);
  ok(compile(&t, 3, all));
  assert_int_equal(wick_compiled_donor(t.compiled, 0), UINT32_MAX);
  assert_int_equal(wick_compiled_donor(t.compiled, 1), 0);
  assert_int_equal(wick_compiled_donor(t.compiled, 2), 2);
  assert_int_equal(wick_compiled_donor(t.compiled, 3), 1);
  assert_int_equal(wick_compiled_donor(t.compiled, 4), UINT32_MAX);
  end(&t);
}

static void test_runs(void **state)
{
  (void)state;
  static const char *const all[] = {"w", "v", "b"};
  static const float w1[3] = {1 - 0.5f, 2 - 1.5f, 3 - 2.5f}, v1[3] = {0.5f, 1.5f, 2.5f};
  fixture t;
  begin(&t, step);
  ok(compile(&t, 3, all));
  ok(wick_session_create(t.compiled, NULL, &t.session));
  float b = 10, v[3] = {1, 2, 3}, w[3] = {1, 2, 3}, g[3] = {0.5f, 0.5f, 0.5f}, loss;
  float b2, v2[3], w2[3];
  const void *in[] = {&b, v, w, g};
  ok(wick_run(t.session, in, (void *[]){&loss, &b2, w2, v2})); /* the inputs stay as they are */
  assert_true(loss == 3 && b2 == 13 && b == 10 && w[0] == 1 && v[2] == 3);
  assert_memory_equal(w2, w1, sizeof w1);
  assert_memory_equal(v2, v1, sizeof v1);
  ok(wick_run(t.session, in, (void *[]){&loss, &b, w, v}));
  assert_true(loss == 3 && b == 13);
  assert_memory_equal(w, w1, sizeof w1);
  assert_memory_equal(v, v1, sizeof v1);
  fails(wick_run(t.session, in, (void *[]){&loss, &b, v, w}), WICK_EINVAL,
        "input \"v\" is in the memory of output 2");
  fails(wick_run(t.session, in, (void *[]){&loss, &b, w2, g}), WICK_EINVAL,
        "input \"g\" is in the memory of output 3");
  end(&t);
}

static void test_refused(void **state)
{
  (void)state;
  static const char *const wrong[] = {"g", "w", "v", "u"}, *const none[] = {NULL};
  fixture t;
  begin(&t, step);
  fails(compile(&t, 4, wrong), WICK_ETYPE, "there is no input \"u\" to donate");
  fails(compile(&t, 3, wrong), WICK_ETYPE,
        "input \"g\" is donated, but no output of its type is left for it");
  fails(compile(&t, 1, none), WICK_EINVAL, "donate[0] is NULL");
  fails(compile(&t, 1, NULL), WICK_EINVAL, "donate is NULL");
  end(&t);
}

/* Text of graphs may say it, too; what is wrong in it is an error. */
static void test_text(void **state)
{
  (void)state;
  static const struct {
    const char *text, *message;
  } row[] = {
      {"graph @main(@given(1) %x: f32[2]) -> f32[2] { return %x }",
       "step.txt:1:7: @main: parameter 0 is given to result 1, which does not have its type"},
      {"graph @main(@given(0) %x: f32[2], @given(0) %y: f32[2]) -> f32[2] { return %x }",
       "step.txt:1:7: @main: two parameters are given to result 0"},
      {"graph @main(@given(0) %x: f32[2]) -> f32[1,2] { %y = reshape %x {shape=[1,2]}; return %y }",
       "step.txt:1:7: @main: parameter 0 is given to result 0, which does not have its type"},
      {"graph @main(@given(-1) %x: f32[2]) -> f32[2] { return %x }",
       "step.txt:1:20: there is no such result"},
      {"graph @main(@given %x: f32[2]) -> f32[2] { return %x }",
       "step.txt:1:20: `%x`, expected `(` and the number of a result"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    fixture t = {0};
    ok(wick_context_create(NULL, &t.context));
    wick_error *e =
        wick_load_bytes(t.context, "step.txt", row[i].text, strlen(row[i].text), &t.model);
    assert_non_null(e);
    assert_string_equal(wick_error_message(e), row[i].message);
    wick_error_free(e);
    end(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_runs),
                                     cmocka_unit_test(test_refused), cmocka_unit_test(test_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
