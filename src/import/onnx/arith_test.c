/* Element-wise operators, activations, constants and casts: the operators that they become. */
#include <stddef.h>

#include "import/onnx/onnx_testing.h"

/* Before opset 7, `axis` aligns the second operand's axes. */
static void test_broadcast(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 9; in x 6 2; Erf x -> y; out y", "graph @main(%p0: i32[2]) -> i32[2] {\n"
                                               "  %0 = cast %p0 : f64[2]\n"
                                               "  %1 = erf %0 : f64[2]\n"
                                               "  %2 = cast %1 : i32[2]\n"
                                               "  return %2\n"
                                               "}"},
      {"opset 20; in x 17 2; IsNaN x -> y; out y", "graph @main(%p0: f8e4m3[2]) -> bool[2] {\n"
                                                   "  %0 = cast %p0 : f32[2]\n"
                                                   "  %1 = isnan %0 : bool[2]\n"
                                                   "  return %1\n"
                                                   "}"},
      {"opset 6; in x 1 2,3,4; in y 1 3; Add x,y -> z broadcast=i1 axis=i1; out z",
       "graph @main(%p0: f32[2,3,4], %p1: f32[3]) -> f32[2,3,4] {\n"
       "  %0 = reshape %p1 {shape=[3, 1]} : f32[3,1]\n"
       "  %1 = add %p0, %0 : f32[2,3,4]\n"
       "  return %1\n"
       "}"},
      {"opset 6; in x 1 N,C,H,4; in y 1 C,H; Mul x,y -> z broadcast=i1 axis=i1; out z",
       "graph @main(%p0: f32[N[1..536870912],C[1..536870912],H[1..536870912],4], %p1: f32[C,H]) -> "
       "f32[N,C,H,4] {\n"
       "  %0 = reshape %p1 {shape=[C, H, 1]} : f32[C,H,1]\n"
       "  %1 = mul %p0, %0 : f32[N,C,H,4]\n"
       "  return %1\n"
       "}"},
      {"opset 6; in x 1 2,3,4; in y 1 3,4; Sub x,y -> z broadcast=i1; out z",
       "graph @main(%p0: f32[2,3,4], %p1: f32[3,4]) -> f32[2,3,4] {\n"
       "  %0 = sub %p0, %p1 : f32[2,3,4]\n"
       "  return %0\n"
       "}"},
      {"opset 6; in x 1 2,3,4; in y 1 3; Add x,y -> z broadcast=i1 axis=i3; out z",
       "m.onnx: node \"z\" (Add): axis 3 does not align rank 1 with rank 3"},
      {"opset 7; in x 1 2,3,4; in y 1 3; Add x,y -> z axis=i1; out z",
       "m.onnx: node \"z\" (Add): there is no attribute \"axis\" in opset 7"},
      {"opset 7; in x 1 2,3,4; in y 1 3,1; Add x,y -> z; out z",
       "graph @main(%p0: f32[2,3,4], %p1: f32[3,1]) -> f32[2,3,4] {\n"
       "  %0 = add %p0, %p1 : f32[2,3,4]\n"
       "  return %0\n"
       "}"},
      {"opset 7; in x 1 2,3; in y 1 4; Add x,y -> z; out z",
       "m.onnx: node \"z\" (Add): shapes do not broadcast: f32[2,3] and f32[4]"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_variadic(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 8; in x 1 2; in y 1 1; in z 1 2; Sum x,y,z -> s; Mean x,y,z -> m; Max x,y -> a; Min "
       "x,z -> b; out s; out m; out a; out b",
       "graph @main(%p0: f32[2], %p1: f32[1], %p2: f32[2]) -> (f32[2], f32[2], f32[2], f32[2]) {\n"
       "  %0 = add %p0, %p1 : f32[2]\n"
       "  %1 = add %0, %p2 : f32[2]\n"
       "  %2 = add %p0, %p1 : f32[2]\n"
       "  %3 = add %2, %p2 : f32[2]\n"
       "  %4 = const 3 : f32[]\n"
       "  %5 = div %3, %4 : f32[2]\n"
       "  %6 = max %p0, %p1 : f32[2]\n"
       "  %7 = min %p0, %p2 : f32[2]\n"
       "  return %1, %5, %6, %7\n"
       "}"},
      {"opset 8; in x 1 2; Sum x -> s; out s", "graph @main(%p0: f32[2]) -> f32[2] {\n"
                                               "  %0 = reshape %p0 {shape=[2]} : f32[2]\n"
                                               "  return %0\n"
                                               "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_powers(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2; in y 7 2; Pow x,y -> z; out z",
       "graph @main(%p0: f32[2], %p1: i64[2]) -> f32[2] {\n"
       "  %0 = cast %p1 : f32[2]\n"
       "  %1 = pow %p0, %0 : f32[2]\n"
       "  return %1\n"
       "}"},
      {"opset 13; in x 6 2; in y 1 2; Pow x,y -> z; out z",
       "graph @main(%p0: i32[2], %p1: f32[2]) -> i32[2] {\n"
       "  %0 = cast %p0 : f64[2]\n"
       "  %1 = cast %p1 : f64[2]\n"
       "  %2 = pow %0, %1 : f64[2]\n"
       "  %3 = cast %2 : i32[2]\n"
       "  return %3\n"
       "}"},
      {"opset 6; in x 1 2; in y 1 2; Pow x,y -> z; out z",
       "graph @main(%p0: f32[2], %p1: f32[2]) -> f32[2] {\n"
       "  %0 = pow %p0, %p1 : f32[2]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 2; in y 1 2; Mod x,y -> z fmod=i1; out z",
       "graph @main(%p0: f32[2], %p1: f32[2]) -> f32[2] {\n"
       "  %0 = fmod %p0, %p1 : f32[2]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 2; in y 1 2; Mod x,y -> z; out z",
       "m.onnx: node \"z\" (Mod): fmod must be 1 for f32"},
      {"opset 28; in x 1 2; in y 1 2; Mod x,y -> z; out z",
       "graph @main(%p0: f32[2], %p1: f32[2]) -> f32[2] {\n"
       "  %0 = mod %p0, %p1 : f32[2]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_others(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 2 2; in y 2 2; BitShift x,y -> z direction=sRIGHT; out z",
       "graph @main(%p0: u8[2], %p1: u8[2]) -> u8[2] {\n"
       "  %0 = shift_right %p0, %p1 : u8[2]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 2 2; in y 2 2; BitShift x,y -> z direction=sUP; out z",
       "m.onnx: node \"z\" (BitShift): direction \"UP\" is not one of: LEFT RIGHT"},
      {"opset 13; in x 2 2; in y 2 2; BitShift x,y -> z; out z",
       "m.onnx: node \"z\" (BitShift): attribute \"direction\" is missing"},
      {"opset 13; in x 1 2; IsInf x -> z detect_negative=i0; Abs x -> a; Round x -> r; out z; out "
       "a; out r",
       "graph @main(%p0: f32[2]) -> (bool[2], f32[2], f32[2]) {\n"
       "  %0 = isinf %p0 {detect_negative=false} : bool[2]\n"
       "  %1 = abs %p0 : f32[2]\n"
       "  %2 = round_even %p0 : f32[2]\n"
       "  return %0, %1, %2\n"
       "}"},
      {"opset 13; in c 9 2; in x 1 2; in y 1 1; Where c,x,y -> z; Not c -> n; out z; out n",
       "graph @main(%p0: bool[2], %p1: f32[2], %p2: f32[1]) -> (f32[2], bool[2]) {\n"
       "  %0 = where %p0, %p1, %p2 : f32[2]\n"
       "  %1 = not %p0 : bool[2]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 13; in x 1 2; in y 1 2; And x,y -> z; out z",
       "m.onnx: node \"z\" (And): and has no form for f32 (operand 0)"},
      {"opset 5; in x 1 2; Abs x -> y consumed_inputs=I0; out y",
       "graph @main(%p0: f32[2]) -> f32[2] {\n"
       "  %0 = abs %p0 : f32[2]\n"
       "  return %0\n"
       "}"},
      {"opset 6; in x 1 2; Abs x -> y consumed_inputs=I0; out y",
       "m.onnx: node \"y\" (Abs): there is no attribute \"consumed_inputs\" in opset 6"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_activations(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 2; LeakyRelu x -> a; Elu x -> b alpha=f2; HardSigmoid x -> c beta=f0.25; "
       "out a; out b; out c",
       "graph @main(%p0: f32[2]) -> (f32[2], f32[2], f32[2]) {\n"
       "  %0 = leaky_relu %p0 {alpha=0.009999999776482582} : f32[2]\n"
       "  %1 = elu %p0 {alpha=2} : f32[2]\n"
       "  %2 = hard_sigmoid %p0 {alpha=0.20000000298023224, beta=0.25} : f32[2]\n"
       "  return %0, %1, %2\n"
       "}"},
      {"opset 5; in x 1 2; Selu x -> a; out a",
       "graph @main(%p0: f32[2]) -> f32[2] {\n"
       "  %0 = selu %p0 {alpha=1.673200011253357, gamma=1.0506999492645264} : f32[2]\n"
       "  return %0\n"
       "}"},
      {"opset 6; in x 1 2; Selu x -> a gamma=f1; out a", "graph @main(%p0: f32[2]) -> f32[2] {\n"
                                                         "  %0 = selu %p0 {gamma=1} : f32[2]\n"
                                                         "  return %0\n"
                                                         "}"},
      {"opset 20; in x 1 2; Gelu x -> a approximate=stanh; out a",
       "graph @main(%p0: f32[2]) -> f32[2] {\n"
       "  %0 = gelu %p0 {approximate=tanh} : f32[2]\n"
       "  return %0\n"
       "}"},
      {"opset 5; in x 1 2; Clip x -> a min=f0; Clip x -> b max=f6; Clip x -> c; out a; out b; out "
       "c",
       "graph @main(%p0: f32[2]) -> (f32[2], f32[2], f32[2]) {\n"
       "  %0 = const 0 : f32[]\n"
       "  %1 = clip %p0, %0, _ : f32[2]\n"
       "  %2 = const 6 : f32[]\n"
       "  %3 = clip %p0, _, %2 : f32[2]\n"
       "  %4 = clip %p0, _, _ : f32[2]\n"
       "  return %1, %3, %4\n"
       "}"},
      {"opset 6; in x 1 2; Clip x -> a min=f0; out a", "graph @main(%p0: f32[2]) -> f32[2] {\n"
                                                       "  %0 = const 0 : f32[]\n"
                                                       "  %1 = const 3.4028235e+38 : f32[]\n"
                                                       "  %2 = clip %p0, %0, %1 : f32[2]\n"
                                                       "  return %2\n"
                                                       "}"},
      {"opset 13; in x 1 2; const lo 1 - = 0; Clip x,_,lo -> a; Clip x,lo -> b; out a; out b",
       "graph @main(%p0: f32[2]) -> (f32[2], f32[2]) {\n"
       "  %0 = const @lo : f32[]\n"
       "  %1 = clip %p0, _, %0 : f32[2]\n"
       "  %2 = clip %p0, %0, _ : f32[2]\n"
       "  return %1, %2\n"
       "}"},
      {"opset 6; in x 1 2,3,4; in s 1 3; PRelu x,s -> a; out a",
       "graph @main(%p0: f32[2,3,4], %p1: f32[3]) -> f32[2,3,4] {\n"
       "  %0 = reshape %p1 {shape=[3, 1]} : f32[3,1]\n"
       "  %1 = prelu %p0, %0 : f32[2,3,4]\n"
       "  return %1\n"
       "}"},
      {"opset 9; in x 1 2,3,4; in s 1 3,1; PRelu x,s -> a; out a",
       "graph @main(%p0: f32[2,3,4], %p1: f32[3,1]) -> f32[2,3,4] {\n"
       "  %0 = prelu %p0, %p1 : f32[2,3,4]\n"
       "  return %0\n"
       "}"},
      {"opset 28; in x 1 2; in y 1 2; SwiGLU x,y -> a; out a",
       "graph @main(%p0: f32[2], %p1: f32[2]) -> f32[2] {\n"
       "  %0 = swish %p0 : f32[2]\n"
       "  %1 = mul %0, %p1 : f32[2]\n"
       "  return %1\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_constants(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; Constant -> a value_float=f2; Constant -> b value_ints=I3,4; Constant -> c "
       "value_floats=F1; Constant -> d value_int=i-1; out a; out b; out c; out d",
       "graph @main() -> (f32[], i64[2], f32[1], i64[]) {\n"
       "  %0 = const 2 : f32[]\n"
       "  %1 = const @b : i64[2]\n"
       "  %2 = const @c : f32[1]\n"
       "  %3 = const -1 : i64[]\n"
       "  return %0, %1, %2, %3\n"
       "}"},
      {"opset 13; Constant -> a value_float=f2 value_int=i1; Constant -> b; out a",
       "m.onnx: node \"a\" (Constant): it has both value_float and value_int\n"
       "m.onnx: node \"b\" (Constant): it has no value"},
      {"opset 13; Constant -> a value_string=sx; Constant -> b value_strings=Sy,x; out a; out b",
       "graph @main() -> (string[], string[2]) {\n"
       "  %0 = const \"x\" : string[]\n"
       "  %1 = const @b : string[2]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 11; Constant -> a value_float=f2; out a",
       "m.onnx: node \"a\" (Constant): there is no attribute \"value_float\" in opset 11"},
      {"opset 13; in x 1 N,3; Shape x -> s; ConstantOfShape s -> y; out y",
       "graph @main(%p0: f32[N[1..536870912],3]) -> f32[N,3] {\n"
       "  %0 = const 0 : f32[N,3]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 7 2; ConstantOfShape x -> y; out y",
       "m.onnx: node \"y\" (ConstantOfShape): the shape must be known when the model is compiled"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_casts(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 5; in x 1 2; Cast x -> y to=sINT64; out y", "graph @main(%p0: f32[2]) -> i64[2] {\n"
                                                          "  %0 = cast %p0 : i64[2]\n"
                                                          "  return %0\n"
                                                          "}"},
      {"opset 13; in x 1 2; Cast x -> y to=i11; Cast x -> z to=i1; out y; out z",
       "graph @main(%p0: f32[2]) -> (f64[2], f32[2]) {\n"
       "  %0 = cast %p0 : f64[2]\n"
       "  %1 = reshape %p0 {shape=[2]} : f32[2]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 19; in x 1 2; Cast x -> y to=i17; Cast x -> z to=i19 saturate=i0; out y; out z",
       "graph @main(%p0: f32[2]) -> (f8e4m3[2], f8e5m2[2]) {\n"
       "  %0 = const -448 : f32[]\n"
       "  %1 = const 448 : f32[]\n"
       "  %2 = clip %p0, %0, %1 : f32[2]\n"
       "  %3 = cast %2 : f8e4m3[2]\n"
       "  %4 = cast %p0 : f8e5m2[2]\n"
       "  return %3, %4\n"
       "}"},
      {"opset 13; in x 1 2; in s 8 2; Cast x -> y to=i8; Cast s -> z to=i7; out y; out z",
       "graph @main(%p0: f32[2], %p1: string[2]) -> (string[2], i64[2]) {\n"
       "  %0 = format_number %p0 : string[2]\n"
       "  %1 = parse_number %p1 : i64[2]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 15; in x 1 2; in t 10 1; CastLike x,t -> y; out y",
       "graph @main(%p0: f32[2], %p1: f16[1]) -> f16[2] {\n"
       "  %0 = cast %p0 : f16[2]\n"
       "  return %0\n"
       "}"},
      {"opset 26; in x 1 2; BitCast x -> y to=i6; out y", "graph @main(%p0: f32[2]) -> i32[2] {\n"
                                                          "  %0 = bitcast %p0 : i32[2]\n"
                                                          "  return %0\n"
                                                          "}"},
      {"opset 24; in x 1 2; Cast x -> y to=i24 round_mode=snearest saturate=i0; out y",
       "graph @main(%p0: f32[2]) -> f8e8m0[2] {\n"
       "  %0 = cast %p0 : f64[2]\n"
       "  %1 = bitcast %0 : i64[2]\n"
       "  %2 = const 0 : i64[]\n"
       "  %3 = const 4503599627370495 : i64[]\n"
       "  %4 = bit_and %1, %3 : i64[2]\n"
       "  %5 = const 52 : i64[]\n"
       "  %6 = shift_right %1, %5 : i64[2]\n"
       "  %7 = const 896 : i64[]\n"
       "  %8 = sub %6, %7 : i64[2]\n"
       "  %9 = const 2251799813685248 : i64[]\n"
       "  %10 = ge %4, %9 : bool[2]\n"
       "  %11 = cast %10 : i64[2]\n"
       "  %12 = add %8, %11 : i64[2]\n"
       "  %13 = const 254 : i64[]\n"
       "  %14 = const 255 : i64[]\n"
       "  %15 = lt %12, %2 : bool[2]\n"
       "  %16 = gt %12, %13 : bool[2]\n"
       "  %17 = where %15, %14, %12 : i64[2]\n"
       "  %18 = where %16, %14, %17 : i64[2]\n"
       "  %19 = const 0 : f64[]\n"
       "  %20 = ge %0, %19 : bool[2]\n"
       "  %21 = where %20, %18, %14 : i64[2]\n"
       "  %22 = cast %21 : u8[2]\n"
       "  %23 = bitcast %22 : f8e8m0[2]\n"
       "  return %23\n"
       "}"},
      {"opset 24; in x 24 2; Cast x -> y to=i24 round_mode=ssideways; out y",
       "graph @main(%p0: f8e8m0[2]) -> f8e8m0[2] {\n"
       "  %0 = reshape %p0 {shape=[2]} : f8e8m0[2]\n"
       "  return %0\n"
       "}"},
      {"opset 24; in x 1 2; Cast x -> y to=i24 round_mode=ssideways; out y",
       "m.onnx: node \"y\" (Cast): round_mode \"sideways\" is not one of: up down nearest"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_broadcast),   cmocka_unit_test(test_variadic),
      cmocka_unit_test(test_powers),      cmocka_unit_test(test_others),
      cmocka_unit_test(test_activations), cmocka_unit_test(test_constants),
      cmocka_unit_test(test_casts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
