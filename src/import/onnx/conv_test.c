/* Convolutions and pools: their geometry, and the errors. */
#include <stddef.h>

#include "import/onnx/onnx_testing.h"

static void test_conv(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 11; in x 1 N,3,H,W; in w 1 4,3,3,3; in b 1 4; Conv x,w,b -> y pads=I1,1,1,1; out y",
       "graph @main(%p0: f32[N[1..536870912],3,H[1..536870912],W[1..536870912]], %p1: "
       "f32[4,3,3,3], %p2: f32[4]) -> f32[N,4,H,W] {\n"
       "  %0 = conv %p0, %p1, %p2 {pad=[1,1,1,1]} : f32[N,4,H,W]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,4,9; in w 1 4,1,3; Conv x,w -> y group=i4 strides=I2 dilations=I2 "
       "kernel_shape=I3; out y",
       "graph @main(%p0: f32[1,4,9], %p1: f32[4,1,3]) -> f32[1,4,3] {\n"
       "  %0 = conv %p0, %p1 {stride=[2], dilation=[2], group=4} : f32[1,4,3]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,2,8,9,7; in w 1 4,2,3,3,2; Conv x,w -> y auto_pad=sSAME_UPPER "
       "strides=I2,3,1; out y",
       "graph @main(%p0: f32[1,2,8,9,7], %p1: f32[4,2,3,3,2]) -> f32[1,4,4,3,7] {\n"
       "  %0 = conv %p0, %p1 {stride=[2,3,1], pad=[0,0,0,1,0,1]} : f32[1,4,4,3,7]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,2,8,9; in w 1 4,2,3,4; Conv x,w -> y auto_pad=sSAME_LOWER; Conv x,w -> "
       "z auto_pad=sVALID pads=I1,1,1,1; out y; out z",
       "graph @main(%p0: f32[1,2,8,9], %p1: f32[4,2,3,4]) -> (f32[1,4,8,9], f32[1,4,6,6]) {\n"
       "  %0 = conv %p0, %p1 {pad=[1,2,1,1]} : f32[1,4,8,9]\n"
       "  %1 = conv %p0, %p1 : f32[1,4,6,6]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 11; in x 1 1,2,H,9; in w 1 4,2,3,3; Conv x,w -> y auto_pad=sSAME_UPPER; out y",
       "graph @main(%p0: f32[1,2,H[1..536870912],9], %p1: f32[4,2,3,3]) -> f32[1,4,H,9] {\n"
       "  %0 = conv %p0, %p1 {pad=[1,1,1,1]} : f32[1,4,H,9]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,2,H,9; in w 1 4,2,3,3; Conv x,w -> y auto_pad=sSAME_UPPER strides=I2,2; "
       "out y",
       "m.onnx: node \"y\" (Conv): the input's size, for auto_pad with a stride, must be known "
       "when "
       "the model is compiled: a number must be given for H"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

/* Each case has a clear error, also stride 0, group 0 and wrong shapes. */
static void test_conv_errors(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3,3; Conv x,w -> y strides=I0,1; out y",
       "m.onnx: node \"y\" (Conv): strides has 0, expected 1 to 2147483647"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3,3; Conv x,w -> y strides=I1; out y",
       "m.onnx: node \"y\" (Conv): strides has 1 numbers, expected 2"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3,3; Conv x,w -> y group=i0; out y",
       "m.onnx: node \"y\" (Conv): group is 0, expected 1 to 1073741824"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3,3; Conv x,w -> y group=i2; out y",
       "m.onnx: node \"y\" (Conv): x has 3 channels, w is for 2 groups of 3"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,2,3,3; Conv x,w -> y; out y",
       "m.onnx: node \"y\" (Conv): x has 3 channels, w is for 1 groups of 2"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3,3; Conv x,w -> y kernel_shape=I3,4; out y",
       "m.onnx: node \"y\" (Conv): kernel_shape has 4 for axis 1, the weights 3"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3; Conv x,w -> y; out y",
       "m.onnx: node \"y\" (Conv): the input's rank is 4 and the weights' 3, expected the same, 3 "
       "or "
       "more"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3,3; Conv x,w -> y pads=I-1,0,0,0; out y",
       "m.onnx: node \"y\" (Conv): pads has -1, expected 0 to 2147483647"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3,3; Conv x,w -> y dilations=I9223372036854775807,1; "
       "out y",
       "m.onnx: node \"y\" (Conv): dilations has 9223372036854775807, expected 1 to 2147483647"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3,3; Conv x,w -> y auto_pad=sMAYBE; out y",
       "m.onnx: node \"y\" (Conv): auto_pad \"MAYBE\" is not one of: NOTSET VALID SAME_UPPER "
       "SAME_LOWER"},
      {"opset 11; in x 1 1,3,2,2; in w 1 4,3,3,3; Conv x,w -> y; out y",
       "m.onnx: node \"y\" (Conv): the window reaches over 3 elements of dimension 2, which has 2 "
       "with its padding"},
      {"opset 11; in x 1 1,3,8,8; in w 1 4,3,3,3; in b 1 5; Conv x,w,b -> y; out y",
       "m.onnx: node \"y\" (Conv): bias is f32[5], expected [4]"},
      {"opset 11; in x 6 1,3,8,8; in w 1 4,3,3,3; Conv x,w -> y; out y",
       "m.onnx: node \"y\" (Conv): w is f32, expected i32"},
      {"opset 11; in x 1 3,8; in w 1 4,3; Conv x,w -> y; out y",
       "m.onnx: node \"y\" (Conv): the input's rank is 2 and the weights' 2, expected the same, 3 "
       "or "
       "more"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_transposed(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 11; in x 1 1,3,4,4; in w 1 3,2,3,3; ConvTranspose x,w -> y strides=I2,2 "
       "pads=I1,1,1,1 output_padding=I1,1; out y",
       "graph @main(%p0: f32[1,3,4,4], %p1: f32[3,2,3,3]) -> f32[1,2,8,8] {\n"
       "  %0 = conv_transpose %p0, %p1 {stride=[2,2], pad=[1,1,1,1], output_pad=[1,1]} : "
       "f32[1,2,8,8]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,3,4,4; in w 1 3,2,3,3; ConvTranspose x,w -> y strides=I2,2 "
       "output_shape=I8,9; out y",
       "graph @main(%p0: f32[1,3,4,4], %p1: f32[3,2,3,3]) -> f32[1,2,8,9] {\n"
       "  %0 = conv_transpose %p0, %p1 {stride=[2,2], pad=[1,0,0,0]} : f32[1,2,8,9]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,3,4,4; in w 1 3,2,3,3; ConvTranspose x,w -> y strides=I3,2 "
       "auto_pad=sSAME_UPPER; out y",
       "graph @main(%p0: f32[1,3,4,4], %p1: f32[3,2,3,3]) -> f32[1,2,12,8] {\n"
       "  %0 = conv_transpose %p0, %p1 {stride=[3,2], pad=[0,0,0,1]} : f32[1,2,12,8]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,3,H,4; in w 1 3,2,4,4; ConvTranspose x,w -> y strides=I2,2 "
       "auto_pad=sSAME_LOWER; out y",
       "graph @main(%p0: f32[1,3,H[1..536870912],4], %p1: f32[3,2,4,4]) -> f32[1,2,2*H,8] {\n"
       "  %0 = conv_transpose %p0, %p1 {stride=[2,2], pad=[1,1,1,1]} : f32[1,2,2*H,8]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,3,H,4; in w 1 3,2,4,4; ConvTranspose x,w -> y output_shape=I5,5; out y",
       "m.onnx: node \"y\" (ConvTranspose): the input's size, for output_shape, must be known "
       "when the model is compiled: a number must be given for H"},
      {"opset 11; in x 1 1,4,5; in w 1 4,1,3; ConvTranspose x,w -> y group=i2 dilations=I2; out y",
       "graph @main(%p0: f32[1,4,5], %p1: f32[4,1,3]) -> f32[1,2,9] {\n"
       "  %0 = conv_transpose %p0, %p1 {dilation=[2], group=2} : f32[1,2,9]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_pools(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 12; in x 1 N,3,8,9; MaxPool x -> y kernel_shape=I3,3 strides=I2,2 ceil_mode=i1; out "
       "y",
       "graph @main(%p0: f32[N[1..536870912],3,8,9]) -> f32[N,3,4,4] {\n"
       "  %0 = max_pool %p0 {stride=[2,2], kernel=[3,3], ceil=true} : f32[N,3,4,4]\n"
       "  return %0\n"
       "}"},
      {"opset 12; in x 1 1,3,8; MaxPool x -> y,i kernel_shape=I2 storage_order=i1; out y; out i",
       "graph @main(%p0: f32[1,3,8]) -> (f32[1,3,7], i64[1,3,7]) {\n"
       "  %0, %1 = max_pool %p0 {kernel=[2], indices=true, column_major=true} : f32[1,3,7], "
       "i64[1,3,7]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 7; in x 1 1,3,8,8; AveragePool x -> y kernel_shape=I3,3 pads=I1,1,1,1 "
       "count_include_pad=i1; out y",
       "graph @main(%p0: f32[1,3,8,8]) -> f32[1,3,8,8] {\n"
       "  %0 = avg_pool %p0 {pad=[1,1,1,1], kernel=[3,3], count_pad=true} : f32[1,3,8,8]\n"
       "  return %0\n"
       "}"},
      {"opset 19; in x 1 1,3,8,8; AveragePool x -> y kernel_shape=I2,2 dilations=I2,2 "
       "auto_pad=sSAME_UPPER strides=I2,2; out y",
       "graph @main(%p0: f32[1,3,8,8]) -> f32[1,3,4,4] {\n"
       "  %0 = avg_pool %p0 {stride=[2,2], pad=[0,0,1,1], dilation=[2,2], kernel=[2,2]} : "
       "f32[1,3,4,4]\n"
       "  return %0\n"
       "}"},
      {"opset 1; in x 1 1,3,8; LpPool x -> y kernel_shape=I2 p=f3; out y",
       "graph @main(%p0: f32[1,3,8]) -> f32[1,3,7] {\n"
       "  %0 = lp_pool %p0 {kernel=[2], p=3} : f32[1,3,7]\n"
       "  return %0\n"
       "}"},
      {"opset 1; in x 1 1,3,8; LpPool x -> y kernel_shape=I2 p=f1.5; out y",
       "m.onnx: node \"y\" (LpPool): p is 1.5, expected a whole number from 1 to 1024"},
      {"opset 12; in x 1 1,3,8; MaxPool x -> y; out y",
       "m.onnx: node \"y\" (MaxPool): attribute \"kernel_shape\" is missing"},
      {"opset 7; in x 1 1,3,8; MaxPool x -> y kernel_shape=I2 ceil_mode=i1; out y",
       "m.onnx: node \"y\" (MaxPool): there is no attribute \"ceil_mode\" in opset 7"},
      {"opset 12; in x 1 N,3,H,W; GlobalAveragePool x -> y; GlobalMaxPool x -> z; GlobalLpPool x "
       "-> p p=i1; GlobalLpPool x -> q p=i3; out y; out z; out p; out q",
       "graph @main(%p0: f32[N[1..536870912],3,H[1..536870912],W[1..536870912]]) -> (f32[N,3,1,1], "
       "f32[N,3,1,1], f32[N,3,1,1], f32[N,3,1,1]) {\n"
       "  %0 = reduce_mean %p0 {axes=[2,3]} : f32[N,3,1,1]\n"
       "  %1 = reduce_max %p0 {axes=[2,3]} : f32[N,3,1,1]\n"
       "  %2 = reduce_l1 %p0 {axes=[2,3]} : f32[N,3,1,1]\n"
       "  %3 = abs %p0 : f32[N,3,H,W]\n"
       "  %4 = const 3 : f32[]\n"
       "  %5 = pow %3, %4 : f32[N,3,H,W]\n"
       "  %6 = reduce_sum %5 {axes=[2,3]} : f32[N,3,1,1]\n"
       "  %7 = const 0.33333334 : f32[]\n"
       "  %8 = pow %6, %7 : f32[N,3,1,1]\n"
       "  return %0, %1, %2, %8\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conv),
      cmocka_unit_test(test_conv_errors),
      cmocka_unit_test(test_transposed),
      cmocka_unit_test(test_pools),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
