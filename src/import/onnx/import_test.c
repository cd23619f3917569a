/* The importer: what models become, and all that they are refused for. */
#include "import/onnx/onnx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "import/onnx/onnx_testing.h"
#include "ir/text.h"
#include "ir/verify.h"

static wick_guard guard;
static wick_arena mem;
static wick_module *module;

static int begin(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  return setjmp(guard.where);
}

static int end(void **state)
{
  (void)state;
  wick_arena_free(&mem);
  return 0;
}

/* The text of the import, or its error. */
static const char *import(wick_span bytes, unsigned flags)
{
  const wick_func *f;
  module = wick_module_create(&guard, "");
  wick_status s = wick_import_onnx(module, bytes, "dir/m.onnx", NULL, &mem, &mem, &f);
  if (!s) s = wick_verify_func(f, &mem);
  wick_text t = wick_text_begin(&mem);
  if (s)
    wick_text_add(&t, s->message);
  else
    wick_print_func(f, flags, &t);
  wick_module_free(module);
  return t.at;
}

typedef struct row {
  const char *model, *want;
} row;

static void check(const row *rows, size_t n)
{
  size_t bad = 0;
  for (size_t i = 0; i < n; i++) {
    const char *got = import(onnx_encode(&mem, rows[i].model), 0);
    while (*got == '\n') got++;
    size_t len = strlen(got);
    while (len && got[len - 1] == '\n') len--;
    if (len == strlen(rows[i].want) && memcmp(got, rows[i].want, len) == 0) continue;
    print_error("%s\n--- got\n%s\n--- wanted\n%s\n", rows[i].model, got, rows[i].want);
    bad++;
  }
  assert_int_equal(bad, 0);
}

static void test_values(void **state)
{
  (void)state;
  static const row rows[] = {
      {"opset 13; in x 1 N,3; const w 1 3 = 0,-1,2; Add x,w -> y; LeakyRelu y -> z alpha=f0.5; out "
       "z; out y",
       "graph @main(%p0: f32[N[1..2147483647],3]) -> (f32[N,3], f32[N,3]) {\n"
       "  %0 = const @w : f32[3]\n"
       "  %1 = add %p0, %0 : f32[N,3]\n"
       "  %2 = leaky_relu %1 {alpha=0.5} : f32[N,3]\n"
       "  return %2, %1\n"
       "}"},
  };
  check(rows, WICK_COUNT(rows));
}

static void test_errors(void **state)
{
  (void)state;
  static const row rows[] = {
      {"opset 13; in x 1 2; Foo x -> y; Bar y -> z; Foo z -> w; a/Foo x -> v; Relu u -> q; Elu x "
       "-> e alpha=i1; out z",
       "m.onnx: node \"q\" (Relu): the input \"u\" is not defined before it is used\n"
       "m.onnx: node \"e\" (Elu): attribute \"alpha\" is an integer, wanted a float\n"
       "m.onnx: node \"y\" (Foo): the operator Foo is not supported (2 such nodes)\n"
       "m.onnx: node \"z\" (Bar): the operator Bar is not supported\n"
       "m.onnx: node \"v\" (Foo): the operator a.Foo is not supported"},
  };
  check(rows, WICK_COUNT(rows));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
  const struct CMUnitTest tests[] = {TEST(test_values), TEST(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
