/* Programs of the language through the public interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/torture.h"
#include "wick/wick.h"

static const char language_program[] =
    "struct Pair[n] { a: f32[n], b: f32 }\n"
    "fn scaled(p: Pair[n], k: f32) { (p.a * k + p.b, len(p.a)) }\n"
    "fn wrong(n: i64) { [1, 2, 3][n] + missing }\n";

static wick_error *language_load(wick_context *context, const char *entry, bool broken,
                                 wick_model **model)
{
  char path[] = "/tmp/wick_languageXXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  size_t n = strlen(language_program) - (broken ? 0 : strlen(strstr(language_program, "fn wrong")));
  assert_int_equal(write(fd, language_program, n), (long)n);
  close(fd);
  wick_error *e = wick_load_program(context, path, entry, model);
  unlink(path);
  return e;
}

static void test_run(void **state)
{
  (void)state;
  wick_context *context;
  wick_model *model;
  wick_compiled *compiled;
  wick_session *session;
  const float a[3] = {1, 2, 3}, b = 10, k = 2;
  float y[3];
  int64_t n = 0;
  const wick_size size = {"n", 3};
  const wick_compile_options o = {.size = sizeof o, .nsize = 1, .sizes = &size, .cache = ""};
  assert_null(wick_context_create(NULL, &context));
  assert_null(language_load(context, "scaled", false, &model));
  assert_int_equal(wick_model_ninput(model), 3);
  assert_string_equal(wick_model_input(model, 0)->name, "p.a");
  assert_string_equal(wick_model_input(model, 0)->dim_name[0], "n");
  assert_string_equal(wick_model_output(model, 1)->name, "result.1");
  assert_null(wick_compile(model, &o, &compiled));
  assert_null(wick_session_create(compiled, NULL, &session));
  assert_null(wick_run(session, (const void *[]){a, &b, &k}, (void *[]){y, &n}));
  for (int i = 0; i < 3; i++) assert_float_equal(y[i], a[i] * k + b, 0);
  assert_int_equal(n, 3);
  wick_session_free(session);
  wick_compiled_free(compiled);
  wick_model_free(model);
  wick_context_free(context);
}

static void language_refuses(wick_error *e, wick_code code, const char *message)
{
  assert_int_equal(wick_error_code(e), code);
  assert_non_null(strstr(wick_error_message(e), message));
  wick_error_free(e);
}

static void test_errors(void **state)
{
  (void)state;
  wick_context *context;
  wick_model *model;
  assert_null(wick_context_create(NULL, &context));
  language_refuses(language_load(context, "scale", false, &model), WICK_EINVAL,
                   "there is no function `scale`; did you mean `scaled`?");
  assert_null(model);
  language_refuses(language_load(context, "wrong", true, &model), WICK_ETYPE,
                   ":3:35: error: there is no value `missing`");
  language_refuses(wick_load_program(context, "/nonexistent.wick", "f", &model), WICK_EIO,
                   "nonexistent");
  language_refuses(wick_load_program(context, NULL, "f", &model), WICK_EINVAL, "path is NULL");
  language_refuses(wick_load_program_bytes(context, "p.wick", "f", NULL, 0, &model), WICK_EINVAL,
                   "bytes is NULL");
  language_refuses(wick_load_program_bytes(context, "p.wick", "f", "fn f() {", 8, &model),
                   WICK_ETYPE, "p.wick:1:");
  language_refuses(wick_load_program(context, "p.wick", NULL, &model), WICK_EINVAL,
                   "entry is NULL");
  wick_context_free(context);
}

static void test_is_program(void **state)
{
  (void)state;
  static const struct {
    const char *bytes;
    size_t nbytes;
    bool want;
  } row[] = {
      {"fn f() { 1 }", 12, true},
      {"// a comment\n\n  op\tf", 21, true},
      {"struct", 6, false},
      {"fnord()", 7, false},
      {"/ fn f", 6, false},
      {"// fn f", 7, false},
      {"\0fn f", 5, false},
      {"\x08\x07", 2, false},
      {"", 0, false},
      {NULL, 0, false},
      {NULL, 9, false},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    assert_int_equal(wick_is_program(row[i].bytes, row[i].nbytes), row[i].want);
}

static void test_memory(void **state)
{
  (void)state;
  for (uint64_t n = 1;; n++) {
    wick_torture t = {.fail_at = n};
    const wick_options o = {.size = sizeof o, .allocator = wick_torture_allocator(&t)};
    wick_context *context = NULL;
    wick_model *model = NULL;
    wick_error *e = wick_context_create(&o, &context);
    if (!e) e = language_load(context, "scaled", false, &model);
    wick_code code = wick_error_code(e);
    assert_true(code == WICK_OK || code == WICK_ENOMEM);
    wick_error_free(e);
    wick_model_free(model);
    wick_context_free(context);
    assert_int_equal(t.live, 0);
    if (t.calls < n) break;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_is_program),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
