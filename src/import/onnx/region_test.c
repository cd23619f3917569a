/* Operators on parts of images: the operators that they become. */
#include <stddef.h>

#include "import/onnx/onnx_testing.h"

static void test_center(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 18; in x 1 20,10,3; const s 7 3 = 10,13,3; CenterCropPad x,s -> y; out y",
       "graph @main(%p0: f32[20,10,3]) -> f32[10,13,3] {\n"
       "  %0 = pad %p0 {pad=[-5, 1, 0, -5, 2, 0]} : f32[10,13,3]\n"
       "  return %0\n"
       "}"},
      {"opset 18; in x 1 N,3,9; const s 7 2 = 8,4; CenterCropPad x,s -> y axes=I-3,2; out y",
       "graph @main(%p0: f32[N[1..536870912],3,9]) -> f32[8,3,4] {\n"
       "  %0 = pad %p0 {pad=[floordiv(max(-N + 8, 0), 2) - floordiv(max(N - 8, 0), 2), 0, -2, -N - "
       "floordiv(max(-N + 8, 0), 2) + floordiv(max(N - 8, 0), 2) + 8, 0, -3]} : f32[8,3,4]\n"
       "  return %0\n"
       "}"},
      {"opset 18; in x 1 4,4; const s 7 2 = 3,-1; CenterCropPad x,s -> y; out y",
       "m.onnx: node \"y\" (CenterCropPad): dimension 1 of the result is negative or overflows"},
      {"opset 18; in x 1 4,4; const s 7 1 = 3; CenterCropPad x,s -> y; out y",
       "m.onnx: node \"y\" (CenterCropPad): shape has 1 numbers, expected one for each axis"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_windows(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 18; in x 1 1,5,5; const i 7 2 = 5,5; const b 7 2 = 1,5; Col2Im x,i,b -> y; out y",
       "graph @main(%p0: f32[1,5,5]) -> f32[1,1,5,5] {\n"
       "  %0 = col2im %p0 {stride=[1,1], pad=[0,0,0,0], dilation=[1,1], kernel=[1,5], image=[5, "
       "5]} : f32[1,1,5,5]\n"
       "  return %0\n"
       "}"},
      {"opset 18; in x 9 1,4,9; const i 7 2 = 5,5; const b 7 2 = 2,2; Col2Im x,i,b -> y "
       "strides=I2,2 pads=I0,0,1,1; out y",
       "graph @main(%p0: bool[1,4,9]) -> bool[1,1,5,5] {\n"
       "  %0 = cast %p0 : i64[1,4,9]\n"
       "  %1 = col2im %0 {stride=[2,2], pad=[0,0,1,1], dilation=[1,1], kernel=[2,2], image=[5, 5]} "
       ": i64[1,1,5,5]\n"
       "  %2 = cast %1 : bool[1,1,5,5]\n"
       "  return %2\n"
       "}"},
      {"opset 18; in x 1 1,5,5; const i 7 2 = 5,5; const b 7 2 = 1,5; Col2Im x,i,b -> y "
       "strides=I0,1; out y",
       "m.onnx: node \"y\" (Col2Im): strides has 0, expected 1 to 2147483647"},
      {"opset 18; in x 1 1,5,5; const i 7 2 = 5,5; const b 7 2 = 1,5; Col2Im x,i,b -> y pads=I0,1; "
       "out y",
       "m.onnx: node \"y\" (Col2Im): pads has 2 numbers, expected 4"},
      {"opset 18; in x 1 1,5,5; const i 7 3 = 5,5,5; const b 7 3 = "
       "1000000000,1000000000,1000000000; Col2Im x,i,b -> y; out y",
       "m.onnx: node \"y\" (Col2Im): windows of more than 1073741824 elements"},
      {"opset 11; in x 1 1,1,2,2; in i 7 1,1,2,2; MaxUnpool x,i -> y "
       "kernel_shape=I2000000,2000000; out y",
       "m.onnx: node \"y\" (MaxUnpool): windows of more than 1073741824 elements"},
      {"opset 11; in x 1 1,1,2,2; in i 7 1,1,2,2; const s 7 4 = 1,1,5,5; MaxUnpool x,i,s -> y "
       "kernel_shape=I2,2 strides=I2,2; out y",
       "graph @main(%p0: f32[1,1,2,2], %p1: i64[1,1,2,2]) -> f32[1,1,5,5] {\n"
       "  %0 = max_unpool %p0, %p1 {stride=[2,2], kernel=[2,2]} : f32[1,1,4,4]\n"
       "  %1 = pad %0 {pad=[0, 0, 0, 0, 0, 0, 1, 1]} : f32[1,1,5,5]\n"
       "  return %1\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_regions(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 10; in x 1 1,2,8,8; in r 1 3,4; in i 7 3; RoiAlign x,r,i -> y output_height=i2 "
       "sampling_ratio=i2; out y",
       "graph @main(%p0: f32[1,2,8,8], %p1: f32[3,4], %p2: i64[3]) -> f32[3,2,2,1] {\n"
       "  %0 = roi_align %p0, %p1, %p2 {shape=[2,1], ratio=2} : f32[3,2,2,1]\n"
       "  return %0\n"
       "}"},
      {"opset 16; in x 1 1,2,8,8; in r 1 3,4; in i 7 3; RoiAlign x,r,i -> y mode=smax; out y",
       "graph @main(%p0: f32[1,2,8,8], %p1: f32[3,4], %p2: i64[3]) -> f32[3,2,1,1] {\n"
       "  %0 = roi_align %p0, %p1, %p2 {shape=[1,1], mode=best, half=true} : f32[3,2,1,1]\n"
       "  return %0\n"
       "}"},
      {"opset 1; in x 1 1,2,8,8; in r 1 3,5; MaxRoiPool x,r -> y pooled_shape=I2,3 "
       "spatial_scale=f0.5; out y",
       "graph @main(%p0: f32[1,2,8,8], %p1: f32[3,5]) -> f32[3,2,2,3] {\n"
       "  %0 = roi_max_pool %p0, %p1 {shape=[2,3], scale=0.5} : f32[3,2,2,3]\n"
       "  return %0\n"
       "}"},
      {"opset 1; in x 1 1,2,8,8; in r 1 3,5; MaxRoiPool x,r -> y pooled_shape=I2; out y",
       "m.onnx: node \"y\" (MaxRoiPool): shape has 1 numbers, expected 2"},
      {"opset 16; in x 1 1,2,8,8; in r 1 3,4; in i 7 3; RoiAlign x,r,i -> y output_height=i0; out "
       "y",
       "m.onnx: node \"y\" (RoiAlign): shape has 0, expected 1 to 1048576"},
      {"opset 16; in x 1 1,2,8,8; in r 1 3,4; in i 7 3; RoiAlign x,r,i -> y sampling_ratio=i-1; "
       "out y",
       "m.onnx: node \"y\" (RoiAlign): ratio is -1, expected 0 to 1024"},
      {"opset 11; in x 1 N,3,3; Det x -> y; out y",
       "graph @main(%p0: f32[N[1..536870912],3,3]) -> f32[N] {\n"
       "  %0 = det %p0 : f32[N]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_deform(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 19; in x 1 1,2,3,3; in w 1 4,1,2,2; in o 1 1,16,3,2; DeformConv x,w,o -> y group=i2 "
       "offset_group=i2; out y",
       "m.onnx: node \"y\" (DeformConv): its offsets are for another size of axis 2"},
      {"opset 19; in x 1 1,1,3,3; in w 1 4,1,200000,200000; in o 1 1,8,2,2; DeformConv x,w,o -> y; "
       "out y",
       "m.onnx: node \"y\" (DeformConv): windows of more than 1048576 elements"},
      {"opset 19; in x 1 1,2,3,3; in w 1 4,1,2,2; in o 1 1,16,2,2; DeformConv x,w,o -> y group=i2 "
       "offset_group=i4611686018427387904; out y",
       "m.onnx: node \"y\" (DeformConv): its input, weights, offsets and groups do not fit"},
      {"opset 19; in x 1 1,2,3,3; in w 1 4,1,2,2; in o 1 1,8,2,2; DeformConv x,w,o -> y; out y",
       "m.onnx: node \"y\" (DeformConv): its input, weights, offsets and groups do not fit"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_center),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_regions),
      cmocka_unit_test(test_deform),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
