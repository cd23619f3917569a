/* The importer: what models become, and all that they are refused for. */
#include "import/onnx/onnx_testing.h"

static void test_values(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 N,3; const w 1 3 = 0,-1,2; Add x,w -> y; LeakyRelu y -> z alpha=f0.5; out "
       "z; out y",
       "graph @main(%p0: f32[N[1..2147483647],3]) -> (f32[N,3], f32[N,3]) {\n"
       "  %0 = const @w : f32[3]\n"
       "  %1 = add %p0, %0 : f32[N,3]\n"
       "  %2 = leaky_relu %1 {alpha=0.5} : f32[N,3]\n"
       "  return %2, %1\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_errors(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2; Foo x -> y; Bar y -> z; Foo z -> w; a/Foo x -> v; Relu u -> q; Elu x "
       "-> e alpha=i1; out z",
       "m.onnx: node \"q\" (Relu): the input \"u\" is not defined before it is used\n"
       "m.onnx: node \"e\" (Elu): attribute \"alpha\" is an integer, wanted a float\n"
       "m.onnx: node \"y\" (Foo): the operator Foo is not supported (2 such nodes)\n"
       "m.onnx: node \"z\" (Bar): the operator Bar is not supported\n"
       "m.onnx: node \"v\" (Foo): the operator a.Foo is not supported"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
