/* Shapes: reshape and similar operators, transpose, concat, split. */
#include <stddef.h>

#include "import/onnx/onnx_testing.h"

static void test_reshape(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 1; in x 1 2,3; Reshape x -> y shape=I3,-1; out y",
       "graph @main(%p0: f32[2,3]) -> f32[3,2] {\n"
       "  %0 = reshape %p0 {shape=[3, -1]} : f32[3,2]\n"
       "  return %0\n"
       "}"},
      {"opset 5; in x 1 N,3,4; const s 7 2 = 0,-1; Reshape x,s -> y; out y",
       "graph @main(%p0: f32[N[1..536870912],3,4]) -> f32[N,12] {\n"
       "  %0 = reshape %p0 {shape=[N, -1]} : f32[N,12]\n"
       "  return %0\n"
       "}"},
      {"opset 14; in x 1 0,3; const s 7 2 = 3,0; Reshape x,s -> y allowzero=i1; out y",
       "graph @main(%p0: f32[0,3]) -> f32[3,0] {\n"
       "  %0 = reshape %p0 {shape=[3, 0]} : f32[3,0]\n"
       "  return %0\n"
       "}"},
      {"opset 5; in x 1 2,3; const s 7 2 = 4,2; Reshape x,s -> y; out y",
       "m.onnx: node \"y\" (Reshape): f32[2,3] does not fill [4,2]"},
      {"opset 5; in x 1 2,3; in s 7 2; Reshape x,s -> y; out y",
       "m.onnx: node \"y\" (Reshape): the shape must be known when the model is compiled"},
      {"opset 5; in x 1 N,12; Shape x -> d; const i 7 1 = 0; const k 7 2 = 3,-1; Concat d,k -> c "
       "axis=i0; const four 7 2 = 2,2; out c",
       "graph @main(%p0: f32[N[1..536870912],12]) -> i64[4] {\n"
       "  %0 = const @k : i64[2]\n"
       "  %1 = shape %p0 : i64[2]\n"
       "  %2 = concat %1, %0 : i64[4]\n"
       "  return %2\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_flatten(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 9; in x 1 2,3,4; Flatten x -> a; Flatten x -> b axis=i0; Flatten x -> c axis=i3; "
       "Flatten x -> d axis=i-1; out a; out b; out c; out d",
       "graph @main(%p0: f32[2,3,4]) -> (f32[2,12], f32[1,24], f32[24,1], f32[6,4]) {\n"
       "  %0 = reshape %p0 {shape=[2, 12]} : f32[2,12]\n"
       "  %1 = reshape %p0 {shape=[1, 24]} : f32[1,24]\n"
       "  %2 = reshape %p0 {shape=[24, 1]} : f32[24,1]\n"
       "  %3 = reshape %p0 {shape=[6, 4]} : f32[6,4]\n"
       "  return %0, %1, %2, %3\n"
       "}"},
      {"opset 9; in x 1 N,3,H,W; Flatten x -> a; out a",
       "graph @main(%p0: f32[N[1..536870912],3,H[1..536870912],W[1..536870912]]) -> f32[N,3*H*W] "
       "{\n"
       "  %0 = reshape %p0 {shape=[N, 3*H*W]} : f32[N,3*H*W]\n"
       "  return %0\n"
       "}"},
      {"opset 9; in x 1 N,3,H,4; Flatten x -> a axis=i2; out a",
       "graph @main(%p0: f32[N[1..536870912],3,H[1..536870912],4]) -> f32[3*N,4*H] {\n"
       "  %0 = reshape %p0 {shape=[3*N, 4*H]} : f32[3*N,4*H]\n"
       "  return %0\n"
       "}"},
      {"opset 9; in x 1 N,M,H,W; Flatten x -> a axis=i2; out a",
       "graph @main(%p0: f32[N[1..536870912],M[1..536870912],H[1..536870912],W[1..536870912]]) -> "
       "f32[M*N,H*W] {\n"
       "  %0 = reshape %p0 {shape=[M*N, H*W]} : f32[M*N,H*W]\n"
       "  return %0\n"
       "}"},
      {"opset 9; in x 1 0,3; Flatten x -> a; out a",
       "graph @main(%p0: f32[0,3]) -> f32[0,3] {\n"
       "  %0 = reshape %p0 {shape=[0, 3]} : f32[0,3]\n"
       "  return %0\n"
       "}"},
      {"opset 9; in x 1 2,3; Flatten x -> a axis=i3; out a",
       "m.onnx: node \"a\" (Flatten): axis 3 is outside [-2, 2]"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_squeeze(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 11; in x 1 1,3,1,N; Squeeze x -> a; Squeeze x -> b axes=I0; Squeeze x -> c axes=I-2; "
       "out a; out b; out c",
       "graph @main(%p0: f32[1,3,1,N[1..536870912]]) -> (f32[3,N], f32[3,1,N], f32[1,3,N]) {\n"
       "  constraint min(N, 2) = 2\n"
       "  %0 = reshape %p0 {shape=[3, N]} : f32[3,N]\n"
       "  %1 = reshape %p0 {shape=[3, 1, N]} : f32[3,1,N]\n"
       "  %2 = reshape %p0 {shape=[1, 3, N]} : f32[1,3,N]\n"
       "  return %0, %1, %2\n"
       "}"},
      {"opset 13; in x 1 1,3,1,N; const i 7 1 = 0; Squeeze x,i -> a; out a",
       "graph @main(%p0: f32[1,3,1,N[1..536870912]]) -> f32[3,1,N] {\n"
       "  %0 = reshape %p0 {shape=[3, 1, N]} : f32[3,1,N]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 1,3; const i 7 1 = 1; Squeeze x,i -> a; out a",
       "m.onnx: node \"a\" (Squeeze): axis 1 is of size 3, expected 1"},
      {"opset 13; in x 1 1,3; const i 7 1 = 2; Squeeze x,i -> a; out a",
       "m.onnx: node \"a\" (Squeeze): axis 2 is outside [-2, 1]"},
      {"opset 13; in x 1 1,3; const i 7 2 = 0,-2; Squeeze x,i -> a; out a",
       "m.onnx: node \"a\" (Squeeze): axis 0 occurs twice"},
      {"opset 13; in x 1 1,3; in i 7 1; Squeeze x,i -> a; out a",
       "m.onnx: node \"a\" (Squeeze): axes must be known when the model is compiled"},
      {"opset 13; in x 1 1,N,M; const i 7 1 = 0; Squeeze x,i -> a; out a",
       "graph @main(%p0: f32[1,N[1..536870912],M[1..536870912]]) -> f32[N,M] {\n"
       "  %0 = reshape %p0 {shape=[N, M]} : f32[N,M]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_unsqueeze(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 11; in x 1 3,N; Unsqueeze x -> a axes=I0,3; out a",
       "graph @main(%p0: f32[3,N[1..536870912]]) -> f32[1,3,N,1] {\n"
       "  %0 = reshape %p0 {shape=[1, 3, N, 1]} : f32[1,3,N,1]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 N,M; const i 7 1 = 0; Unsqueeze x,i -> a; out a",
       "graph @main(%p0: f32[N[1..536870912],M[1..536870912]]) -> f32[1,N,M] {\n"
       "  %0 = reshape %p0 {shape=[1, N, M]} : f32[1,N,M]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 0,M; const i 7 1 = 0; Unsqueeze x,i -> a; out a",
       "graph @main(%p0: f32[0,M[1..536870912]]) -> f32[1,0,M] {\n"
       "  %0 = reshape %p0 {shape=[1, 0, M]} : f32[1,0,M]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 -; const i 7 1 = -1; Unsqueeze x,i -> a; out a",
       "graph @main(%p0: f32[]) -> f32[1] {\n"
       "  %0 = reshape %p0 {shape=[1]} : f32[1]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 3; Unsqueeze x -> a axes=I0,0; out a",
       "m.onnx: node \"a\" (Unsqueeze): axis 0 occurs twice"},
      {"opset 11; in x 1 3; Unsqueeze x -> a; out a",
       "m.onnx: node \"a\" (Unsqueeze): attribute \"axes\" is missing"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_depth(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 11; in x 1 N,8,2,3; DepthToSpace x -> a blocksize=i2; DepthToSpace x -> b "
       "blocksize=i2 mode=sCRD; out a; out b",
       "graph @main(%p0: f32[N[1..536870912],8,2,3]) -> (f32[N,2,4,6], f32[N,2,4,6]) {\n"
       "  %0 = depth_to_space %p0 {block=2} : f32[N,2,4,6]\n"
       "  %1 = depth_to_space %p0 {block=2, order=crd} : f32[N,2,4,6]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 13; in x 1 1,2,4,6; SpaceToDepth x -> a blocksize=i2; out a",
       "graph @main(%p0: f32[1,2,4,6]) -> f32[1,8,2,3] {\n"
       "  %0 = space_to_depth %p0 {block=2} : f32[1,8,2,3]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 1,2,4,6; SpaceToDepth x -> a blocksize=i4; out a",
       "m.onnx: node \"a\" (SpaceToDepth): dimension 3 is 6, in blocks of 4"},
      {"opset 13; in x 1 1,3,4,6; DepthToSpace x -> a blocksize=i2; out a",
       "m.onnx: node \"a\" (DepthToSpace): 3 channels in blocks of 4"},
      {"opset 13; in x 1 N,2,H,W; SpaceToDepth x -> a blocksize=i2; out a",
       "graph @main(%p0: f32[N[1..536870912],2,H[1..536870912],W[1..536870912]]) -> "
       "f32[N,8,floordiv(H, 2),floordiv(W, 2)] {\n"
       "  constraint mod(H, 2) = 0\n"
       "  constraint mod(W, 2) = 0\n"
       "  %0 = space_to_depth %p0 {block=2} : f32[N,8,floordiv(H, 2),floordiv(W, 2)]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_order(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2,3,4; Transpose x -> a; Transpose x -> b perm=I0,2,1; out a; out b",
       "graph @main(%p0: f32[2,3,4]) -> (f32[4,3,2], f32[2,4,3]) {\n"
       "  %0 = transpose %p0 : f32[4,3,2]\n"
       "  %1 = transpose %p0 {perm=[0,2,1]} : f32[2,4,3]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 13; in x 1 2,3,4; Transpose x -> a perm=I0,0,1; out a",
       "m.onnx: node \"a\" (Transpose): perm: 0 occurs twice"},
      {"opset 3; in x 1 2,3; in y 1 2,4; Concat x,y -> a; out a",
       "graph @main(%p0: f32[2,3], %p1: f32[2,4]) -> f32[2,7] {\n"
       "  %0 = concat %p0, %p1 {axis=1} : f32[2,7]\n"
       "  return %0\n"
       "}"},
      {"opset 4; in x 1 2,3; in y 1 2,4; Concat x,y -> a; out a",
       "m.onnx: node \"a\" (Concat): attribute \"axis\" is missing"},
      {"opset 13; in x 1 2,3; in y 1 3,3; Concat x,y -> a axis=i-2; Concat x,y -> b axis=i1; out a",
       "m.onnx: node \"b\" (Concat): operand 1, f32[3,3], does not fit f32[2,3] along axis 1"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_split(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 11; in x 1 6,2; Split x -> a,b; Split x -> c,d split=I2,4; out a; out b; out c; out "
       "d",
       "graph @main(%p0: f32[6,2]) -> (f32[3,2], f32[3,2], f32[2,2], f32[4,2]) {\n"
       "  %0, %1 = split %p0 {parts=2} : f32[3,2], f32[3,2]\n"
       "  %2, %3 = split %p0 {sizes=[2, 4]} : f32[2,2], f32[4,2]\n"
       "  return %0, %1, %2, %3\n"
       "}"},
      {"opset 13; in x 1 6,2; const s 7 3 = 1,2,3; Split x,s -> a,b,c; out a; out b; out c",
       "graph @main(%p0: f32[6,2]) -> (f32[1,2], f32[2,2], f32[3,2]) {\n"
       "  %0, %1, %2 = split %p0 {sizes=[1, 2, 3]} : f32[1,2], f32[2,2], f32[3,2]\n"
       "  return %0, %1, %2\n"
       "}"},
      {"opset 18; in x 1 7,2; Split x -> a,b,c num_outputs=i3; out a; out b; out c",
       "graph @main(%p0: f32[7,2]) -> (f32[3,2], f32[3,2], f32[1,2]) {\n"
       "  %0, %1, %2 = split %p0 {parts=3} : f32[3,2], f32[3,2], f32[1,2]\n"
       "  return %0, %1, %2\n"
       "}"},
      {"opset 18; in x 1 7,2; Split x -> a,b num_outputs=i3; out a",
       "m.onnx: node \"a\" (Split): it has 2 outputs, expected 3"},
      {"opset 13; in x 1 6,2; const s 7 2 = 1,2; Split x,s -> a,b; out a",
       "m.onnx: node \"a\" (Split): the parts have 3 elements together, the axis 6"},
      {"opset 13; in x 1 N,6; Split x -> a,b axis=i1; out a; out b",
       "graph @main(%p0: f32[N[1..536870912],6]) -> (f32[N,3], f32[N,3]) {\n"
       "  %0, %1 = split %p0 {axis=1, parts=2} : f32[N,3], f32[N,3]\n"
       "  return %0, %1\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_shapes(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 15; in x 1 N,3,4; Shape x -> a start=i1; Shape x -> b end=i-1; Size x -> c; out a; "
       "out b; out c",
       "graph @main(%p0: f32[N[1..536870912],3,4]) -> (i64[2], i64[2], i64[]) {\n"
       "  %0 = shape %p0 {start=1} : i64[2]\n"
       "  %1 = shape %p0 {end=-1} : i64[2]\n"
       "  %2 = size %p0 : i64[]\n"
       "  return %0, %1, %2\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reshape), cmocka_unit_test(test_flatten),
      cmocka_unit_test(test_squeeze), cmocka_unit_test(test_unsqueeze),
      cmocka_unit_test(test_depth),   cmocka_unit_test(test_order),
      cmocka_unit_test(test_split),   cmocka_unit_test(test_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
