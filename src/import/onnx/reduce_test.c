/* Reductions, softmax, products of matrices, norms. */
#include <stddef.h>

#include "import/onnx/onnx_testing.h"

static void test_reductions(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 11; in x 1 2,3,N; ReduceSum x -> a; ReduceMean x -> b axes=I-1 keepdims=i0; ReduceL2 "
       "x -> c axes=I0,1; out a; out b; out c",
       "graph @main(%p0: f32[2,3,N[1..536870912]]) -> (f32[1,1,1], f32[2,3], f32[1,1,N]) {\n"
       "  %0 = reduce_sum %p0 : f32[1,1,1]\n"
       "  %1 = reduce_mean %p0 {axes=[2], keepdims=false} : f32[2,3]\n"
       "  %2 = reduce_l2 %p0 {axes=[0,1]} : f32[1,1,N]\n"
       "  return %0, %1, %2\n"
       "}"},
      {"opset 13; in x 1 2,3; const i 7 1 = 1; ReduceSum x,i -> a keepdims=i0; ReduceMax x -> b "
       "axes=I0; out a; out b",
       "graph @main(%p0: f32[2,3]) -> (f32[2], f32[1,3]) {\n"
       "  %0 = reduce_sum %p0 {axes=[1], keepdims=false} : f32[2]\n"
       "  %1 = reduce_max %p0 {axes=[0]} : f32[1,3]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 18; in x 1 2,3; const i 7 1 = 1; const e 7 0 =; ReduceMax x,i -> a; ReduceSum x,e -> "
       "b; ReduceSum x,_ -> c noop_with_empty_axes=i1; out a; out b; out c",
       "graph @main(%p0: f32[2,3]) -> (f32[2,1], f32[1,1], f32[2,3]) {\n"
       "  %0 = reduce_max %p0 {axes=[1]} : f32[2,1]\n"
       "  %1 = reduce_sum %p0 : f32[1,1]\n"
       "  %2 = reshape %p0 {shape=[2, 3]} : f32[2,3]\n"
       "  return %0, %1, %2\n"
       "}"},
      {"opset 18; in x 1 2,3; const e 7 0 =; ReduceSumSquare x,e -> a noop_with_empty_axes=i1; "
       "ReduceL2 x,e -> b noop_with_empty_axes=i1; ReduceLogSum x,e -> c noop_with_empty_axes=i1; "
       "out a; out b; out c",
       "graph @main(%p0: f32[2,3]) -> (f32[2,3], f32[2,3], f32[2,3]) {\n"
       "  %0 = mul %p0, %p0 : f32[2,3]\n"
       "  %1 = abs %p0 : f32[2,3]\n"
       "  %2 = log %p0 : f32[2,3]\n"
       "  return %0, %1, %2\n"
       "}"},
      {"opset 20; in x 9 2,3; ReduceMax x -> a keepdims=i0; out a",
       "graph @main(%p0: bool[2,3]) -> bool[] {\n"
       "  %0 = cast %p0 : u8[2,3]\n"
       "  %1 = reduce_max %0 {keepdims=false} : u8[]\n"
       "  %2 = cast %1 : bool[]\n"
       "  return %2\n"
       "}"},
      {"opset 18; in x 1 -; ReduceSum x -> a; ReduceSumSquare x -> b; out a; out b",
       "graph @main(%p0: f32[]) -> (f32[], f32[]) {\n"
       "  %0 = mul %p0, %p0 : f32[]\n"
       "  %1 = reshape %p0 {shape=[]} : f32[]\n"
       "  return %1, %0\n"
       "}"},
      {"opset 11; in x 1 2,3; ReduceSum x -> a axes=I2; out a",
       "m.onnx: node \"a\" (ReduceSum): axis 2 is outside [-2, 1]"},
      {"opset 11; in x 1 2,3; ReduceSum x -> a axes=I0,-2; out a",
       "m.onnx: node \"a\" (ReduceSum): axis 0 occurs twice"},
      {"opset 18; in x 1 2,3; in i 7 1; ReduceSum x,i -> a; out a",
       "m.onnx: node \"a\" (ReduceSum): axes must be known when the model is compiled"},
      {"opset 18; in x 1 2,3; ReduceMean x -> a axes=I0; out a",
       "m.onnx: node \"a\" (ReduceMean): there is no attribute \"axes\" in opset 18"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_softmax(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2,3,4; Softmax x -> a; LogSoftmax x -> b axis=i1; Hardmax x -> c axis=i0; "
       "out a; out b; out c",
       "graph @main(%p0: f32[2,3,4]) -> (f32[2,3,4], f32[2,3,4], f32[2,3,4]) {\n"
       "  %0 = softmax %p0 : f32[2,3,4]\n"
       "  %1 = log_softmax %p0 {axis=1} : f32[2,3,4]\n"
       "  %2 = hardmax %p0 {axis=0} : f32[2,3,4]\n"
       "  return %0, %1, %2\n"
       "}"},
      {"opset 11; in x 1 N,3; Softmax x -> a; out a",
       "graph @main(%p0: f32[N[1..536870912],3]) -> f32[N,3] {\n"
       "  %0 = softmax %p0 : f32[N,3]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 N,3,1,1; Softmax x -> a; out a",
       "graph @main(%p0: f32[N[1..536870912],3,1,1]) -> f32[N,3,1,1] {\n"
       "  %0 = softmax %p0 {axis=1} : f32[N,3,1,1]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 N,3,4; Softmax x -> a; out a",
       "graph @main(%p0: f32[N[1..536870912],3,4]) -> f32[N,3,4] {\n"
       "  %0 = reshape %p0 {shape=[N, 12]} : f32[N,12]\n"
       "  %1 = softmax %0 : f32[N,12]\n"
       "  %2 = reshape %1 {shape=[N, 3, 4]} : f32[N,3,4]\n"
       "  return %2\n"
       "}"},
      {"opset 11; in x 1 N,3,H,W; Softmax x -> a; out a",
       "graph @main(%p0: f32[N[1..536870912],3,H[1..536870912],W[1..536870912]]) -> f32[N,3,H,W] "
       "{\n"
       "  %0 = reshape %p0 {shape=[N, 3*H*W]} : f32[N,3*H*W]\n"
       "  %1 = softmax %0 : f32[N,3*H*W]\n"
       "  %2 = reshape %1 {shape=[N, 3, H, W]} : f32[N,3,H,W]\n"
       "  return %2\n"
       "}"},
      {"opset 11; in x 1 2,3; Softmax x -> a axis=i-1; LogSoftmax x -> b axis=i0; out a; out b",
       "graph @main(%p0: f32[2,3]) -> (f32[2,3], f32[2,3]) {\n"
       "  %0 = softmax %p0 : f32[2,3]\n"
       "  %1 = reshape %p0 {shape=[6]} : f32[6]\n"
       "  %2 = log_softmax %1 : f32[6]\n"
       "  %3 = reshape %2 {shape=[2, 3]} : f32[2,3]\n"
       "  return %0, %3\n"
       "}"},
      {"opset 11; in x 1 2,3; Softmax x -> a axis=i2; out a",
       "m.onnx: node \"a\" (Softmax): axis 2 is outside [-2, 1]"},
      {"opset 13; in x 1 -; Softmax x -> a; out a",
       "m.onnx: node \"a\" (Softmax): axis -1 is outside [0, -1]"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_products(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 N,3; in w 1 4,3; in c 1 4; Gemm x,w,c -> y transB=i1; out y",
       "graph @main(%p0: f32[N[1..536870912],3], %p1: f32[4,3], %p2: f32[4]) -> f32[N,4] {\n"
       "  %0 = transpose %p1 {perm=[1,0]} : f32[3,4]\n"
       "  %1 = matmul %p0, %0 : f32[N,4]\n"
       "  %2 = add %1, %p2 : f32[N,4]\n"
       "  return %2\n"
       "}"},
      {"opset 13; in x 1 2,3; in w 1 3,4; in c 1 -; Gemm x,w,c -> y alpha=f0.5 beta=f2; Gemm x,w "
       "-> z; out y; out z",
       "graph @main(%p0: f32[2,3], %p1: f32[3,4], %p2: f32[]) -> (f32[2,4], f32[2,4]) {\n"
       "  %0 = matmul %p0, %p1 : f32[2,4]\n"
       "  %1 = const 0.5 : f32[]\n"
       "  %2 = mul %0, %1 : f32[2,4]\n"
       "  %3 = const 2 : f32[]\n"
       "  %4 = mul %p2, %3 : f32[]\n"
       "  %5 = add %2, %4 : f32[2,4]\n"
       "  %6 = matmul %p0, %p1 : f32[2,4]\n"
       "  return %5, %6\n"
       "}"},
      {"opset 6; in x 1 2,3; in w 1 3,4; in c 1 4; Gemm x,w,c -> y broadcast=i1; out y",
       "graph @main(%p0: f32[2,3], %p1: f32[3,4], %p2: f32[4]) -> f32[2,4] {\n"
       "  %0 = matmul %p0, %p1 : f32[2,4]\n"
       "  %1 = add %0, %p2 : f32[2,4]\n"
       "  return %1\n"
       "}"},
      {"opset 6; in x 1 2,3; in w 1 3,4; Gemm x,w -> y; out y",
       "m.onnx: node \"y\" (Gemm): it has 2 inputs, expected 3"},
      {"opset 13; in x 1 2,3; in w 1 3,4; in c 1 3; Gemm x,w,c -> y; out y",
       "m.onnx: node \"y\" (Gemm): shapes do not broadcast: f32[2,4] and f32[3]"},
      {"opset 13; in x 1 1,3; in w 1 3,4; in c 1 5,4; Gemm x,w,c -> y; out y",
       "m.onnx: node \"y\" (Gemm): C does not broadcast to the product"},
      {"opset 13; in x 1 2,2,3; in w 1 3,4; Gemm x,w -> y; out y",
       "m.onnx: node \"y\" (Gemm): input 0 has rank 3, expected 2"},
      {"opset 13; in x 1 N,2,3; in w 1 3,4; MatMul x,w -> y; out y",
       "graph @main(%p0: f32[N[1..536870912],2,3], %p1: f32[3,4]) -> f32[N,2,4] {\n"
       "  %0 = matmul %p0, %p1 : f32[N,2,4]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 2,3; in w 1 4,3; MatMul x,w -> y; out y",
       "m.onnx: node \"y\" (MatMul): inner sizes differ: 3 and 4"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_norms(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 9; in x 1 N,3,4,4; in s 1 3; BatchNormalization x,s,s,s,s -> y epsilon=f0.001 "
       "momentum=f0.5; out y",
       "graph @main(%p0: f32[N[1..536870912],3,4,4], %p1: f32[3]) -> f32[N,3,4,4] {\n"
       "  %0 = batch_norm %p0, %p1, %p1, %p1, %p1 {epsilon=0.0010000000474974513} : f32[N,3,4,4]\n"
       "  return %0\n"
       "}"},
      {"opset 8; in x 1 N,3,4; in s 1 3,4; BatchNormalization x,s,s,s,s -> y spatial=i0; out y",
       "graph @main(%p0: f32[N[1..536870912],3,4], %p1: f32[3,4]) -> f32[N,3,4] {\n"
       "  %0 = const 1e-05 : f32[]\n"
       "  %1 = add %p1, %0 : f32[3,4]\n"
       "  %2 = sqrt %1 : f32[3,4]\n"
       "  %3 = sub %p0, %p1 : f32[N,3,4]\n"
       "  %4 = div %3, %2 : f32[N,3,4]\n"
       "  %5 = mul %4, %p1 : f32[N,3,4]\n"
       "  %6 = add %5, %p1 : f32[N,3,4]\n"
       "  return %6\n"
       "}"},
      {"opset 9; in x 1 N,3,4,4; in s 1 3; BatchNormalization x,s,s,s,s -> y,m,v; out y",
       "graph @main(%p0: f32[N[1..536870912],3,4,4], %p1: f32[3]) -> f32[N,3,4,4] {\n"
       "  %0 = reduce_mean %p0 {axes=[0,2,3]} : f32[1,3,1,1]\n"
       "  %1 = sub %p0, %0 : f32[N,3,4,4]\n"
       "  %2 = mul %1, %1 : f32[N,3,4,4]\n"
       "  %3 = reduce_mean %2 {axes=[0,2,3], keepdims=false} : f32[3]\n"
       "  %4 = reshape %0 {shape=[3]} : f32[3]\n"
       "  %5 = batch_norm %p0, %p1, %p1, %4, %3 {epsilon=9.999999747378752e-06} : f32[N,3,4,4]\n"
       "  return %5\n"
       "}"},
      {"opset 9; in x 1 N,3,4,4; in s 1 3; BatchNormalization x,s,s,s,s -> y,m,v; Relu m -> r; out "
       "y; out v; out m",
       "graph @main(%p0: f32[N[1..536870912],3,4,4], %p1: f32[3]) -> (f32[N,3,4,4], f32[3], "
       "f32[3]) {\n"
       "  %0 = reduce_mean %p0 {axes=[0,2,3]} : f32[1,3,1,1]\n"
       "  %1 = sub %p0, %0 : f32[N,3,4,4]\n"
       "  %2 = mul %1, %1 : f32[N,3,4,4]\n"
       "  %3 = reduce_mean %2 {axes=[0,2,3], keepdims=false} : f32[3]\n"
       "  %4 = reshape %0 {shape=[3]} : f32[3]\n"
       "  %5 = batch_norm %p0, %p1, %p1, %4, %3 {epsilon=9.999999747378752e-06} : f32[N,3,4,4]\n"
       "  %6 = const 0.9 : f32[]\n"
       "  %7 = mul %p1, %6 : f32[3]\n"
       "  %8 = const 0.100000024 : f32[]\n"
       "  %9 = mul %4, %8 : f32[3]\n"
       "  %10 = add %7, %9 : f32[3]\n"
       "  %11 = const 0.9 : f32[]\n"
       "  %12 = mul %p1, %11 : f32[3]\n"
       "  %13 = const 0.100000024 : f32[]\n"
       "  %14 = mul %3, %13 : f32[3]\n"
       "  %15 = add %12, %14 : f32[3]\n"
       "  return %5, %15, %10\n"
       "}"},
      {"opset 15; in x 10 N,3,4,4; in s 10 3; in m 1 3; BatchNormalization x,s,s,m,m -> y; out y",
       "graph @main(%p0: f16[N[1..536870912],3,4,4], %p1: f16[3], %p2: f32[3]) -> f16[N,3,4,4] {\n"
       "  %0 = cast %p0 : f32[N,3,4,4]\n"
       "  %1 = cast %p1 : f32[3]\n"
       "  %2 = cast %p1 : f32[3]\n"
       "  %3 = batch_norm %0, %1, %2, %p2, %p2 {epsilon=9.999999747378752e-06} : f32[N,3,4,4]\n"
       "  %4 = cast %3 : f16[N,3,4,4]\n"
       "  return %4\n"
       "}"},
      {"opset 15; in x 10 N,3; in s 1 3; BatchNormalization x,s,s,s,s -> y,m,v training_mode=i1; "
       "out y; out m; out v",
       "graph @main(%p0: f16[N[1..536870912],3], %p1: f32[3]) -> (f16[N,3], f32[3], f32[3]) {\n"
       "  %0 = cast %p0 : f32[N,3]\n"
       "  %1 = reduce_mean %0 {axes=[0]} : f32[1,3]\n"
       "  %2 = sub %0, %1 : f32[N,3]\n"
       "  %3 = mul %2, %2 : f32[N,3]\n"
       "  %4 = reduce_mean %3 {axes=[0], keepdims=false} : f32[3]\n"
       "  %5 = reshape %1 {shape=[3]} : f32[3]\n"
       "  %6 = cast %p0 : f32[N,3]\n"
       "  %7 = batch_norm %6, %p1, %p1, %5, %4 {epsilon=9.999999747378752e-06} : f32[N,3]\n"
       "  %8 = cast %7 : f16[N,3]\n"
       "  %9 = const 0.9 : f32[]\n"
       "  %10 = mul %p1, %9 : f32[3]\n"
       "  %11 = const 0.100000024 : f32[]\n"
       "  %12 = mul %5, %11 : f32[3]\n"
       "  %13 = add %10, %12 : f32[3]\n"
       "  %14 = const 0.9 : f32[]\n"
       "  %15 = mul %p1, %14 : f32[3]\n"
       "  %16 = const 0.100000024 : f32[]\n"
       "  %17 = mul %4, %16 : f32[3]\n"
       "  %18 = add %15, %17 : f32[3]\n"
       "  return %8, %13, %18\n"
       "}"},
      {"opset 7; in x 1 2,3; in s 1 3; BatchNormalization x,s,s,s,s -> y,m,v,n,w spatial=i0; out "
       "y; out v; out w",
       "graph @main(%p0: f32[2,3], %p1: f32[3]) -> (f32[2,3], f32[3], f32[3]) {\n"
       "  %0 = reduce_mean %p0 {axes=[0]} : f32[1,3]\n"
       "  %1 = sub %p0, %0 : f32[2,3]\n"
       "  %2 = mul %1, %1 : f32[2,3]\n"
       "  %3 = reduce_mean %2 {axes=[0], keepdims=false} : f32[3]\n"
       "  %4 = reshape %0 {shape=[3]} : f32[3]\n"
       "  %5 = const 1e-05 : f32[]\n"
       "  %6 = add %3, %5 : f32[3]\n"
       "  %7 = sqrt %6 : f32[3]\n"
       "  %8 = sub %p0, %4 : f32[2,3]\n"
       "  %9 = div %8, %7 : f32[2,3]\n"
       "  %10 = mul %9, %p1 : f32[2,3]\n"
       "  %11 = add %10, %p1 : f32[2,3]\n"
       "  %12 = const 0.9 : f32[]\n"
       "  %13 = mul %p1, %12 : f32[3]\n"
       "  %14 = const 0.100000024 : f32[]\n"
       "  %15 = mul %3, %14 : f32[3]\n"
       "  %16 = add %13, %15 : f32[3]\n"
       "  return %11, %16, %3\n"
       "}"},
      {"opset 9; in x 1 N,3; in s 1 4; BatchNormalization x,s,s,s,s -> y; out y",
       "m.onnx: node \"y\" (BatchNormalization): scale is f32[4], expected [3]"},
      {"opset 6; in x 1 N,3,4; in s 1 3; InstanceNormalization x,s,s -> y; out y",
       "graph @main(%p0: f32[N[1..536870912],3,4], %p1: f32[3]) -> f32[N,3,4] {\n"
       "  %0 = instance_norm %p0, %p1, %p1 {epsilon=9.999999747378752e-06} : f32[N,3,4]\n"
       "  return %0\n"
       "}"},
      {"opset 21; in x 1 N,4,4; in s 1 4; GroupNormalization x,s,s -> y num_groups=i2; out y",
       "graph @main(%p0: f32[N[1..536870912],4,4], %p1: f32[4]) -> f32[N,4,4] {\n"
       "  %0 = group_norm %p0, %p1, %p1 {epsilon=9.999999747378752e-06, groups=2} : f32[N,4,4]\n"
       "  return %0\n"
       "}"},
      {"opset 18; in x 1 N,4,4; in s 1 2; GroupNormalization x,s,s -> y num_groups=i2; out y",
       "graph @main(%p0: f32[N[1..536870912],4,4], %p1: f32[2]) -> f32[N,4,4] {\n"
       "  %0 = reshape %p1 {shape=[2, 1]} : f32[2,1]\n"
       "  %1 = broadcast_to %0 {shape=[2, 2]} : f32[2,2]\n"
       "  %2 = reshape %1 {shape=[4]} : f32[4]\n"
       "  %3 = reshape %p1 {shape=[2, 1]} : f32[2,1]\n"
       "  %4 = broadcast_to %3 {shape=[2, 2]} : f32[2,2]\n"
       "  %5 = reshape %4 {shape=[4]} : f32[4]\n"
       "  %6 = group_norm %p0, %2, %5 {epsilon=9.999999747378752e-06, groups=2} : f32[N,4,4]\n"
       "  return %6\n"
       "}"},
      {"opset 17; in x 1 N,3,4; in s 1 4; LayerNormalization x,s,s -> y; LayerNormalization x,s -> "
       "z axis=i1; out y; out z",
       "graph @main(%p0: f32[N[1..536870912],3,4], %p1: f32[4]) -> (f32[N,3,4], f32[N,3,4]) {\n"
       "  %0 = layer_norm %p0, %p1, %p1 {epsilon=9.999999747378752e-06} : f32[N,3,4]\n"
       "  %1 = layer_norm %p0, %p1 {epsilon=9.999999747378752e-06, axis=1} : f32[N,3,4]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 17; in x 1 N,4; in s 1 4; LayerNormalization x,s -> y,m,d axis=i-1; out y; out m; "
       "out d",
       "graph @main(%p0: f32[N[1..536870912],4], %p1: f32[4]) -> (f32[N,4], f32[N,1], f32[N,1]) {\n"
       "  %0 = layer_norm %p0, %p1 {epsilon=9.999999747378752e-06} : f32[N,4]\n"
       "  %1 = reduce_mean %p0 {axes=[1]} : f32[N,1]\n"
       "  %2 = sub %p0, %1 : f32[N,4]\n"
       "  %3 = mul %2, %2 : f32[N,4]\n"
       "  %4 = reduce_mean %3 {axes=[1]} : f32[N,1]\n"
       "  %5 = const 1e-05 : f32[]\n"
       "  %6 = add %4, %5 : f32[N,1]\n"
       "  %7 = sqrt %6 : f32[N,1]\n"
       "  %8 = reciprocal %7 : f32[N,1]\n"
       "  return %0, %1, %8\n"
       "}"},
      {"opset 23; in x 1 N,4; in s 1 4; RMSNormalization x,s -> y; out y",
       "graph @main(%p0: f32[N[1..536870912],4], %p1: f32[4]) -> f32[N,4] {\n"
       "  %0 = rms_norm %p0, %p1 {epsilon=9.999999747378752e-06} : f32[N,4]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 1,5,2,2; LRN x -> y size=i3 alpha=f0.001; out y",
       "graph @main(%p0: f32[1,5,2,2]) -> f32[1,5,2,2] {\n"
       "  %0 = lrn %p0 {size=3, alpha=0.0010000000474974513} : f32[1,5,2,2]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 1,5,2,2; LRN x -> y; out y",
       "m.onnx: node \"y\" (LRN): attribute \"size\" is missing"},
      {"opset 13; in x 1 1,5,2,2; MeanVarianceNormalization x -> y; out y",
       "graph @main(%p0: f32[1,5,2,2]) -> f32[1,5,2,2] {\n"
       "  %0 = reduce_mean %p0 {axes=[0,2,3]} : f32[1,5,1,1]\n"
       "  %1 = sub %p0, %0 : f32[1,5,2,2]\n"
       "  %2 = mul %1, %1 : f32[1,5,2,2]\n"
       "  %3 = reduce_mean %2 {axes=[0,2,3]} : f32[1,5,1,1]\n"
       "  %4 = sqrt %3 : f32[1,5,1,1]\n"
       "  %5 = const 1e-09 : f32[]\n"
       "  %6 = add %4, %5 : f32[1,5,1,1]\n"
       "  %7 = div %1, %6 : f32[1,5,2,2]\n"
       "  return %7\n"
       "}"},
      {"opset 13; in x 1 2,5; LpNormalization x -> y p=i1 axis=i0; LpNormalization x -> z p=i3; "
       "out y",
       "m.onnx: node \"z\" (LpNormalization): p is 3, expected 1 or 2"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reductions),
      cmocka_unit_test(test_softmax),
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_norms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
