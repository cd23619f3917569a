/* Quantized operators: the operators that they become, and the errors.
 * tests/import/test_quantized.py compares their numbers. */
#include "import/onnx/onnx_testing.h"

static void test_rows(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2,3,4; in s 1 3; in z 3 3; QuantizeLinear x,s,z -> y; out y",
       "graph @main(%p0: f32[2,3,4], %p1: f32[3], %p2: i8[3]) -> i8[2,3,4] {\n"
       "  %0 = reshape %p1 {shape=[3, 1]} : f32[3,1]\n"
       "  %1 = reshape %p2 {shape=[3, 1]} : i8[3,1]\n"
       "  %2 = div %p0, %0 : f32[2,3,4]\n"
       "  %3 = round_even %2 : f32[2,3,4]\n"
       "  %4 = cast %1 : f32[3,1]\n"
       "  %5 = add %3, %4 : f32[2,3,4]\n"
       "  %6 = cast %5 : i8[2,3,4]\n"
       "  return %6\n"
       "}"},
      {"opset 10; in x 2 2,3; in s 1 -; DequantizeLinear x,s -> y; out y",
       "graph @main(%p0: u8[2,3], %p1: f32[]) -> f32[2,3] {\n"
       "  %0 = cast %p0 : i32[2,3]\n"
       "  %1 = cast %0 : f32[2,3]\n"
       "  %2 = mul %1, %p1 : f32[2,3]\n"
       "  return %2\n"
       "}"},
      {"opset 10; in x 2 2,3; in w 3 3,4; in z 2 2; MatMulInteger x,w,z -> y; out y",
       "graph @main(%p0: u8[2,3], %p1: i8[3,4], %p2: u8[2]) -> i32[2,4] {\n"
       "  %0 = reshape %p2 {shape=[2, 1]} : u8[2,1]\n"
       "  %1 = cast %p0 : i32[2,3]\n"
       "  %2 = cast %0 : i32[2,1]\n"
       "  %3 = sub %1, %2 : i32[2,3]\n"
       "  %4 = cast %p1 : i32[3,4]\n"
       "  %5 = matmul %3, %4 : i32[2,4]\n"
       "  return %5\n"
       "}"},
      /* the input is reshaped to blocks; one block is not repeated */
      {"opset 21; in x 1 2,6; in s 1 2,3; DequantizeLinear x,s -> y block_size=i2; out y",
       "graph @main(%p0: f32[2,6], %p1: f32[2,3]) -> f32[2,6] {\n"
       "  %0 = reshape %p1 {shape=[2, 3, 1]} : f32[2,3,1]\n"
       "  %1 = reshape %p0 {shape=[2, 3, 2]} : f32[2,3,2]\n"
       "  %2 = mul %1, %0 : f32[2,3,2]\n"
       "  %3 = reshape %2 {shape=[2, 6]} : f32[2,6]\n"
       "  return %3\n"
       "}"},
      {"opset 21; in x 1 2,6; in s 1 2,1; QuantizeLinear x,s -> y block_size=i16; out y",
       "graph @main(%p0: f32[2,6], %p1: f32[2,1]) -> u8[2,6] {\n"
       "  %0 = div %p0, %p1 : f32[2,6]\n"
       "  %1 = round_even %0 : f32[2,6]\n"
       "  %2 = cast %1 : u8[2,6]\n"
       "  return %2\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_errors(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2,3; in s 1 3; QuantizeLinear x,s -> y axis=i2; out y",
       "m.onnx: node \"y\" (QuantizeLinear): axis 2 is outside [-2, 1]"},
      {"opset 13; in x 1 2,3; in s 1 4; QuantizeLinear x,s -> y; out y",
       "m.onnx: node \"y\" (QuantizeLinear): shapes do not broadcast: f32[2,3] and f32[4]"},
      {"opset 21; in x 1 2,6; in s 1 2,2; QuantizeLinear x,s -> y block_size=i2; out y",
       "m.onnx: node \"y\" (QuantizeLinear): the scale does not have a block of 2 for each along "
       "axis 1"},
      {"opset 21; in x 1 2,6; in s 1 3; QuantizeLinear x,s -> y block_size=i2; out y",
       "m.onnx: node \"y\" (QuantizeLinear): the scale has rank 1, expected that of the input, 2, "
       "below 16"},
      {"opset 21; in x 1 2,6; in s 1 -; QuantizeLinear x,s -> y output_dtype=i8; out y",
       "m.onnx: node \"y\" (QuantizeLinear): output_dtype is 8, which is not a numeric type"},
      {"opset 10; in x 2 2,3; in w 3 -; MatMulInteger x,w -> y; out y",
       "m.onnx: node \"y\" (MatMulInteger): a factor has rank 0, expected 1 or more"},
      {"opset 10; in x 2 1,3,8,8; in w 3 4,2,3,3; ConvInteger x,w -> y; out y",
       "m.onnx: node \"y\" (ConvInteger): x has 3 channels, w is for 1 groups of 2"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
