/* The report on the memory plans of small models. */
#include "driver/report/plan_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static wick_plan_report report(const char *text)
{
  wick_context *context;
  wick_model *model;
  wick_plan_report r = {0};
  assert_null(wick_context_create(NULL, &context));
  wick_error *e = wick_load_bytes(context, "small.wick", text, strlen(text), &model);
  if (!e) e = wick_plan_report_make(model, NULL, &r);
  if (e) fail_msg("%s", wick_error_message(e));
  wick_model_free(model);
  wick_context_free(context);
  return r;
}

/* At most two tensors of 1001 floats are live at a time. The last one is the output. */
static void chain(void **state)
{
  (void)state;
  wick_plan_report r = report("graph @main(%x: f32[7,143]) -> f32[143,7] {\n"
                              "%0 = softmax %x {axis=1}\n%1 = transpose %0 {perm=[1, 0]}\n"
                              "%2 = softmax %1 {axis=1}\nreturn %2 }");
  assert_int_equal(r.bound, 2 * 4004);
  assert_int_equal(r.padding, 2 * 28); /* 4004 is not a multiple of 64 */
  assert_int_equal(r.arena, r.bound + r.padding);
  assert_true(r.importer_bound >= r.bound);
  assert_int_equal(r.nlaunch, 3);
}

/* Element-wise operators only use the output's memory. */
static void in_place(void **state)
{
  (void)state;
  wick_plan_report r = report("graph @main(%x: f32[9]) -> f32[9] {\n%0 = softmax %x {axis=0}\n"
                              "%1 = softmax %0 {axis=0}\nreturn %1 }");
  assert_int_equal(r.arena, 0);
  assert_true(r.importer_bound >= 36);
}

static void not_closed(void **state)
{
  (void)state;
  const char *text = "graph @main(%x: f32[N[1..9]]) -> f32[N] { %0 = neg %x; return %0 }";
  wick_context *context;
  wick_model *model;
  wick_plan_report r;
  assert_null(wick_context_create(NULL, &context));
  assert_null(wick_load_bytes(context, "small.wick", text, strlen(text), &model));
  wick_error *e = wick_plan_report_make(model, NULL, &r);
  assert_non_null(e);
  assert_string_equal(wick_error_message(e), "small.wick: the size N of \"x\" is dynamic");
  wick_error_free(e);
  wick_model_free(model);
  wick_context_free(context);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(chain), cmocka_unit_test(in_place),
                                     cmocka_unit_test(not_closed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
