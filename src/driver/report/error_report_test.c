/* The report on small models: exact results, named approximations, and NULL for f64. */
#include "driver/report/error_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct report_test {
  wick_context *context;
  wick_model *model;
  wick_compiled *compiled;
  wick_guard guard;
  wick_arena mem;
  wick_error_report report;
} report_test;

static void report(report_test *t, const char *text, const void *const *inputs)
{
  *t = (report_test){0};
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  t->guard.allocator = wick_allocator_malloc();
  t->mem = wick_arena_make(&t->guard);
  if (setjmp(t->guard.where)) fail_msg("out of memory");
  assert_null(wick_context_create(NULL, &t->context));
  wick_error *e = wick_load_bytes(t->context, "small.wick", text, strlen(text), &t->model);
  if (!e) e = wick_compile(t->model, &o, &t->compiled);
  if (!e) e = wick_error_report_make(t->model, &o, t->compiled, inputs, &t->mem, &t->report);
  if (e) fail_msg("%s", wick_error_message(e));
}

static void report_free(report_test *t)
{
  wick_compiled_free(t->compiled);
  wick_model_free(t->model);
  wick_context_free(t->context);
  wick_arena_free(&t->mem);
}

static void functions(void **state)
{
  (void)state;
  report_test t;
  float x[256];
  for (int i = 0; i < 256; i++) x[i] = (float)i * 0.0173f;
  const void *in[] = {x};
  report(&t,
         "graph @main(%x: f32[256]) -> (f32[256], f32[256], i32[256]) {\n"
         "%0 = exp %x loc(\"a\")\n%1 = abs %x loc(\"b\")\n"
         "%2 = cast %x : i32[256]\nreturn %0, %1, %2 }",
         in);
  assert_int_equal(t.report.n, 3); /* two outputs of floats, and the result of exp */
  const wick_error_line *l = t.report.line;
  assert_null(l[0].bound);
  assert_true(l[0].largest > 0 && l[0].largest < 1e-6);
  assert_true(l[0].rms > 0 && l[0].rms <= l[0].largest);
  assert_true(l[1].largest == 0 && l[1].rms == 0);
  assert_string_equal(l[2].what, "a");
  assert_non_null(strstr(l[2].bound, "exp"));
  assert_true(l[2].largest == l[0].largest);
  report_free(&t);
}

/* The sum cancels in f32: the report must show the difference to f64. */
static void cancellation(void **state)
{
  (void)state;
  report_test t;
  const float x[4] = {1, 1e-8f, -1, 1e-8f};
  const void *in[] = {x};
  report(&t,
         "graph @main(%x: f32[4]) -> f32[1] { %0 = cumsum %x\n"
         "%1 = slice %0 {begin=[3], shape=[1]}\nreturn %1 }",
         in);
  assert_int_equal(t.report.n, 1);
  assert_true(t.report.line[0].largest > 0.4);
  report_free(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(functions), cmocka_unit_test(cancellation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
