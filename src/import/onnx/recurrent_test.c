/* LSTM, GRU and RNN: directions, layouts, activations, and what they are refused for. */
#include <stddef.h>

#include "import/onnx/onnx_testing.h"

static void test_layers(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 14; in x 1 4,2,3; in w 1 1,20,3; in r 1 1,20,5; LSTM x,w,r -> y,h,c hidden_size=i5; "
       "out y; out c",
       ""},
      {"opset 7; in x 1 4,2,3; in w 1 2,15,3; in r 1 2,15,5; in b 1 2,30; in h 1 2,2,5; GRU "
       "x,w,r,b,_,h -> _,z direction=sbidirectional linear_before_reset=i1 clip=f0.5; out z",
       ""},
      {"opset 14; in x 1 2,4,3; in w 1 1,5,3; in r 1 1,5,5; in n 6 2; RNN x,w,r,_,n -> y,h "
       "layout=i1 direction=sreverse; out y; out h",
       ""},
      {"opset 1; in x 1 4,N,3; in w 1 1,20,3; in r 1 1,20,5; in p 1 1,15; LSTM x,w,r,_,_,_,_,p -> "
       "y "
       "input_forget=i1 output_sequence=i1 activations=SHardSigmoid,affine,LeakyRelu "
       "activation_alpha=F0.25,0.5 activation_beta=F0.75; out y",
       ""},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_errors(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 14; in x 1 4,2,3; in w 1 2,20,3; in r 1 1,20,5; LSTM x,w,r -> y; out y", ""},
      {"opset 14; in x 1 4,2; in w 1 1,20,3; in r 1 1,20,5; LSTM x,w,r -> y; out y", ""},
      {"opset 14; in x 1 4,2,3; in w 1 1,20,3; in r 1 1,20,5; LSTM x,w,r -> y hidden_size=i6; out "
       "y",
       ""},
      {"opset 14; in x 1 4,2,3; in w 1 1,15,3; in r 1 1,15,5; GRU x,w,r -> y activations=STanh; "
       "out y",
       ""},
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; RNN x,w,r -> y activations=SSine; out "
       "y",
       ""},
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; RNN x,w,r -> y clip=f-1; out y", ""},
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; RNN x,w,r -> y direction=sup; out y",
       ""},
      {"opset 14; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; in n 7 2; RNN x,w,r,_,n -> y; out y",
       ""},
      {"opset 7; in x 1 4,2,3; in w 1 1,5,3; in r 1 1,5,5; RNN x,w,r -> y layout=i1; out y", ""},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_layers), cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
