/* Random operators: the operators that they become. */
#include <stddef.h>

#include "import/onnx/onnx_testing.h"

static void test_numbers(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 22; RandomUniform -> y shape=I2,3 seed=f1 low=f-1 high=f3; out y",
       "graph @main() -> f32[2,3] {\n"
       "  %0 = const 1065353216 : u64[]\n"
       "  %1 = random %0 : f32[2,3]\n"
       "  %2 = const 4 : f32[]\n"
       "  %3 = mul %1, %2 : f32[2,3]\n"
       "  %4 = const -1 : f32[]\n"
       "  %5 = add %3, %4 : f32[2,3]\n"
       "  return %5\n"
       "}"},
      {"opset 22; RandomUniform -> y shape=I2; out y", "graph @main() -> f32[2] {\n"
                                                       "  %0 = const 5020092376781508543 : u64[]\n"
                                                       "  %1 = random %0 : f32[2]\n"
                                                       "  return %1\n"
                                                       "}"},
      {"opset 22; in x 10 N; RandomNormalLike x -> y seed=f2 mean=f1; out y",
       "graph @main(%p0: f16[N[1..536870912]]) -> f16[N] {\n"
       "  %0 = const 1073741824 : u64[]\n"
       "  %1 = random %0 {kind=normal} : f32[N]\n"
       "  %2 = const 1 : f32[]\n"
       "  %3 = add %1, %2 : f32[N]\n"
       "  %4 = cast %3 : f16[N]\n"
       "  return %4\n"
       "}"},
      {"opset 22; in x 7 2; RandomNormalLike x -> y; out y",
       "m.onnx: node \"y\" (RandomNormalLike): random elements of type i64, expected floats"},
      {"opset 22; in x 7 2; RandomNormalLike x -> y dtype=i8; out y",
       "m.onnx: node \"y\" (RandomNormalLike): elements of type STRING are not supported"},
      {"opset 1; RandomNormal -> y shape=I2,-3; out y",
       "m.onnx: node \"y\" (RandomNormal): dimension 1 is -3"},
      {"opset 22; in x 1 2; Bernoulli x -> y seed=f0 dtype=i7; out y",
       "graph @main(%p0: f32[2]) -> i64[2] {\n"
       "  %0 = const 0 : u64[]\n"
       "  %1 = random %0 : f32[2]\n"
       "  %2 = lt %1, %p0 : bool[2]\n"
       "  %3 = cast %2 : i64[2]\n"
       "  return %3\n"
       "}"},
      {"opset 22; in x 1 2,5; Multinomial x -> y sample_size=i3 seed=f0; out y",
       "graph @main(%p0: f32[2,5]) -> i32[2,3] {\n"
       "  %0 = cast %p0 : f64[2,5]\n"
       "  %1 = reduce_max %0 {axes=[1]} : f64[2,1]\n"
       "  %2 = sub %0, %1 : f64[2,5]\n"
       "  %3 = exp %2 : f64[2,5]\n"
       "  %4 = cumsum %3 {axis=1} : f64[2,5]\n"
       "  %5 = slice %4 {begin=[0, 4], shape=[2, 1]} : f64[2,1]\n"
       "  %6 = const 0 : u64[]\n"
       "  %7 = random %6 : f64[2,3,1]\n"
       "  %8 = reshape %5 {shape=[2, 1, 1]} : f64[2,1,1]\n"
       "  %9 = mul %7, %8 : f64[2,3,1]\n"
       "  %10 = reshape %4 {shape=[2, 1, 5]} : f64[2,1,5]\n"
       "  %11 = le %10, %9 : bool[2,3,5]\n"
       "  %12 = cast %11 : i64[2,3,5]\n"
       "  %13 = reduce_sum %12 {axes=[2], keepdims=false} : i64[2,3]\n"
       "  %14 = const 4 : i64[]\n"
       "  %15 = min %13, %14 : i64[2,3]\n"
       "  %16 = cast %15 : i32[2,3]\n"
       "  return %16\n"
       "}"},
      {"opset 22; in x 1 5; Multinomial x -> y; out y",
       "m.onnx: node \"y\" (Multinomial): rank 1 and 1 samples of i32, expected 2 and 1 or more of "
       "i32 or i64"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_dropout(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 6; in x 1 2; Dropout x -> y,m is_test=i1; out y; out m",
       "graph @main(%p0: f32[2]) -> (f32[2], f32[2]) {\n"
       "  %0 = const 1 : f32[2]\n"
       "  %1 = reshape %p0 {shape=[2]} : f32[2]\n"
       "  return %1, %0\n"
       "}"},
      {"opset 10; in x 1 2; Dropout x -> y,m ratio=f0.1; out m",
       "graph @main(%p0: f32[2]) -> bool[2] {\n"
       "  %0 = const 1 : bool[2]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 2; const r 1 - = 0.5; const t 9 - = 1; Dropout x,r,t -> y; out y",
       "graph @main(%p0: f32[2]) -> f32[2] {\n"
       "  %0 = const @r : f32[]\n"
       "  %1 = cast %0 : f64[]\n"
       "  %2 = cast %1 : f32[]\n"
       "  %3 = const 5020092376781508543 : u64[]\n"
       "  %4 = random %3 : f32[2]\n"
       "  %5 = const 1 : f32[]\n"
       "  %6 = const 0 : f32[]\n"
       "  %7 = sub %5, %2 : f32[]\n"
       "  %8 = div %5, %7 : f32[]\n"
       "  %9 = ge %4, %2 : bool[2]\n"
       "  %10 = mul %p0, %8 : f32[2]\n"
       "  %11 = where %9, %10, %6 : f32[2]\n"
       "  return %11\n"
       "}"},
      {"opset 13; in x 1 2; const r 1 - = 0.5; const t 9 - = 0; Dropout x,r,t -> y; out y",
       "graph @main(%p0: f32[2]) -> f32[2] {\n"
       "  %0 = reshape %p0 {shape=[2]} : f32[2]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_dropout),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
