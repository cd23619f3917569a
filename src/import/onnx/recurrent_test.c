/* LSTM, GRU and RNN: directions, layouts, activations, and errors. */
#include <stddef.h>

#include "import/onnx/onnx_testing.h"

static void test_layers(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 14; in x 1 4,2,3; in w 1 1,20,3; in r 1 1,20,5; LSTM x,w,r -> y,h,c hidden_size=i5; "
       "out y; out c",
       "graph @main(%p0: f32[4,2,3], %p1: f32[1,20,3], %p2: f32[1,20,5]) -> (f32[4,1,2,5], "
       "f32[1,2,5]) {\n"
       "  %0 = reshape %p1 {shape=[20, 3]} : f32[20,3]\n"
       "  %1 = reshape %p2 {shape=[20, 5]} : f32[20,5]\n"
       "  %2, %3, %4 = lstm %p0, %0, %1 : f32[4,2,5], f32[2,5], f32[2,5]\n"
       "  %5 = reshape %2 {shape=[4, 1, 2, 5]} : f32[4,1,2,5]\n"
       "  %6 = reshape %4 {shape=[1, 2, 5]} : f32[1,2,5]\n"
       "  return %5, %6\n"
       "}"},
      {"opset 7; in x 1 4,2,3; in w 1 2,5,3; in r 1 2,5,5; RNN x,w,r -> _,z "
       "direction=sbidirectional clip=f0.5; out z",
       "graph @main(%p0: f32[4,2,3], %p1: f32[2,5,3], %p2: f32[2,5,5]) -> f32[2,2,5] {\n"
       "  %0 = slice %p1 {begin=[0, 0, 0], shape=[1, 5, 3]} : f32[1,5,3]\n"
       "  %1 = reshape %0 {shape=[5, 3]} : f32[5,3]\n"
       "  %2 = slice %p2 {begin=[0, 0, 0], shape=[1, 5, 5]} : f32[1,5,5]\n"
       "  %3 = reshape %2 {shape=[5, 5]} : f32[5,5]\n"
       "  %4, %5 = rnn %p0, %1, %3 {clip=0.5} : f32[4,2,5], f32[2,5]\n"
       "  %6 = reshape %5 {shape=[1, 2, 5]} : f32[1,2,5]\n"
       "  %7 = slice %p1 {begin=[1, 0, 0], shape=[1, 5, 3]} : f32[1,5,3]\n"
       "  %8 = reshape %7 {shape=[5, 3]} : f32[5,3]\n"
       "  %9 = slice %p2 {begin=[1, 0, 0], shape=[1, 5, 5]} : f32[1,5,5]\n"
       "  %10 = reshape %9 {shape=[5, 5]} : f32[5,5]\n"
       "  %11, %12 = rnn %p0, %8, %10 {clip=0.5, reverse=true} : f32[4,2,5], f32[2,5]\n"
       "  %13 = reshape %12 {shape=[1, 2, 5]} : f32[1,2,5]\n"
       "  %14 = concat %6, %13 : f32[2,2,5]\n"
       "  return %14\n"
       "}"},
      {"opset 3; in x 1 4,2,3; in w 1 1,15,3; in r 1 1,15,5; in b 1 1,30; in h 1 1,2,5; GRU "
       "x,w,r,b,_,h -> y linear_before_reset=i1; out y",
       "graph @main(%p0: f32[4,2,3], %p1: f32[1,15,3], %p2: f32[1,15,5], %p3: f32[1,30], %p4: "
       "f32[1,2,5]) -> f32[4,1,2,5] {\n"
       "  %0 = reshape %p1 {shape=[15, 3]} : f32[15,3]\n"
       "  %1 = reshape %p2 {shape=[15, 5]} : f32[15,5]\n"
       "  %2 = reshape %p3 {shape=[30]} : f32[30]\n"
       "  %3 = reshape %p4 {shape=[2, 5]} : f32[2,5]\n"
       "  %4, %5 = gru %p0, %0, %1, %2, _, %3 {late=true} : f32[4,2,5], f32[2,5]\n"
       "  %6 = reshape %4 {shape=[4, 1, 2, 5]} : f32[4,1,2,5]\n"
       "  return %6\n"
       "}"},
      {"opset 14; in x 1 2,4,3; in w 1 1,5,3; in r 1 1,5,5; in n 6 2; RNN x,w,r,_,n -> y,h "
       "layout=i1 direction=sreverse; out y; out h",
       "graph @main(%p0: f32[2,4,3], %p1: f32[1,5,3], %p2: f32[1,5,5], %p3: i32[2]) -> "
       "(f32[2,4,1,5], f32[2,1,5]) {\n"
       "  %0 = transpose %p0 {perm=[1,0,2]} : f32[4,2,3]\n"
       "  %1 = reshape %p1 {shape=[5, 3]} : f32[5,3]\n"
       "  %2 = reshape %p2 {shape=[5, 5]} : f32[5,5]\n"
       "  %3, %4 = rnn %0, %1, %2, _, %p3 {reverse=true} : f32[4,2,5], f32[2,5]\n"
       "  %5 = transpose %3 {perm=[1,0,2]} : f32[2,4,5]\n"
       "  %6 = reshape %5 {shape=[2, 4, 1, 5]} : f32[2,4,1,5]\n"
       "  %7 = reshape %4 {shape=[2, 1, 5]} : f32[2,1,5]\n"
       "  return %6, %7\n"
       "}"},
      {"opset 1; in x 1 4,N,3; in w 1 1,20,3; in r 1 1,20,5; in p 1 1,15; LSTM x,w,r,_,_,_,_,p -> "
       "y "
       "input_forget=i1 output_sequence=i1 activations=SHardSigmoid,affine,LeakyRelu "
       "activation_alpha=F0.25,0.5 activation_beta=F0.75; out y",
       "graph @main(%p0: f32[4,N[1..536870912],3], %p1: f32[1,20,3], %p2: f32[1,20,5], %p3: "
       "f32[1,15]) -> f32[4,1,N,5] {\n"
       "  %0 = reshape %p1 {shape=[20, 3]} : f32[20,3]\n"
       "  %1 = reshape %p2 {shape=[20, 5]} : f32[20,5]\n"
       "  %2 = reshape %p3 {shape=[15]} : f32[15]\n"
       "  %3, %4, %5 = lstm %p0, %0, %1, _, _, _, _, %2 {alpha=[0.5,0.25,0.01], beta=[0,0.75,0], "
       "cell=affine, gate=hard_sigmoid, hidden=leaky_relu, coupled=true} : f32[4,N,5], f32[N,5], "
       "f32[N,5]\n"
       "  %6 = reshape %3 {shape=[4, 1, N, 5]} : f32[4,1,N,5]\n"
       "  return %6\n"
       "}"},
      /* steps after the longest sequence are not computed; equal lengths are not needed then */
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; const n 6 2 = 3,1; RNN x,w,r,_,n -> "
       "y,h; out y; out h",
       "graph @main(%p0: f32[4,2,3], %p1: f32[1,5,3], %p2: f32[1,5,5]) -> (f32[4,1,2,5], "
       "f32[1,2,5]) {\n"
       "  %0 = const @n : i32[2]\n"
       "  %1 = slice %p0 {begin=[0, 0, 0], shape=[3, 2, 3]} : f32[3,2,3]\n"
       "  %2 = reshape %p1 {shape=[5, 3]} : f32[5,3]\n"
       "  %3 = reshape %p2 {shape=[5, 5]} : f32[5,5]\n"
       "  %4, %5 = rnn %1, %2, %3, _, %0 : f32[3,2,5], f32[2,5]\n"
       "  %6 = pad %4 {pad=[0, 0, 0, 1, 0, 0]} : f32[4,2,5]\n"
       "  %7 = reshape %6 {shape=[4, 1, 2, 5]} : f32[4,1,2,5]\n"
       "  %8 = reshape %5 {shape=[1, 2, 5]} : f32[1,2,5]\n"
       "  return %7, %8\n"
       "}"},
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; const n 6 2 = 3,3; RNN x,w,r,_,n -> "
       "y,h direction=sreverse; out y",
       "graph @main(%p0: f32[4,2,3], %p1: f32[1,5,3], %p2: f32[1,5,5]) -> f32[4,1,2,5] {\n"
       "  %0 = slice %p0 {begin=[0, 0, 0], shape=[3, 2, 3]} : f32[3,2,3]\n"
       "  %1 = reshape %p1 {shape=[5, 3]} : f32[5,3]\n"
       "  %2 = reshape %p2 {shape=[5, 5]} : f32[5,5]\n"
       "  %3, %4 = rnn %0, %1, %2 {reverse=true} : f32[3,2,5], f32[2,5]\n"
       "  %5 = pad %3 {pad=[0, 0, 0, 1, 0, 0]} : f32[4,2,5]\n"
       "  %6 = reshape %5 {shape=[4, 1, 2, 5]} : f32[4,1,2,5]\n"
       "  return %6\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_errors(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 14; in x 1 4,2,3; in w 1 2,20,3; in r 1 1,20,5; LSTM x,w,r -> y; out y",
       "m.onnx: node \"y\" (LSTM): axis 0 of W is not the number of directions, 1"},
      {"opset 14; in x 1 4,2; in w 1 1,20,3; in r 1 1,20,5; LSTM x,w,r -> y; out y",
       "m.onnx: node \"y\" (LSTM): X has rank 2, expected 3"},
      {"opset 14; in x 1 4,2,3; in w 1 1,20,3; in r 1 1,20,5; LSTM x,w,r -> y hidden_size=i6; out "
       "y",
       "m.onnx: node \"y\" (LSTM): hidden_size is 6, R is for another"},
      {"opset 14; in x 1 4,2,3; in w 1 1,15,3; in r 1 1,15,5; GRU x,w,r -> y activations=STanh; "
       "out y",
       "m.onnx: node \"y\" (GRU): activations has 1 names, expected 2"},
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; RNN x,w,r -> y activations=SSine; out "
       "y",
       "m.onnx: node \"y\" (RNN): there is no activation \"Sine\""},
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; RNN x,w,r -> y clip=f-1; out y",
       "m.onnx: node \"y\" (RNN): clip is -1, expected more than 0"},
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; RNN x,w,r -> y direction=sup; out y",
       "m.onnx: node \"y\" (RNN): direction \"up\" is not one of: forward reverse bidirectional"},
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; in n 7 2; RNN x,w,r,_,n -> y; out y",
       "m.onnx: node \"y\" (RNN): lengths are i64[2], expected i32[2]"},
      {"opset 7; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; RNN x,w,r -> y layout=i1; out y",
       "m.onnx: node \"y\" (RNN): there is no attribute \"layout\" in opset 7"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_layers), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
