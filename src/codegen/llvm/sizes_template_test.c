/* Kernels with dynamic sizes and the schedules of the templates. */
#include "codegen/llvm/sizes_testing.h"

static void products(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[M[1..512],24], %w: f32[24,80], %b: f32[80]) -> f32[M,80] {"
       "  %1 = matmul %x, %w; %2 = add %1, %b; %3 = gelu %2; return %3 }",
       0,
       NULL,
       1,
       {{1}, {2}, {3}, {5}, {7}, {13}, {14}, {15}, {27}, {28}, {97}, {512}}},
      {"graph @main(%x: f32[B[1..4],S[1..64],24], %w: f32[24,40], %r: f32[B,S,40]) -> f32[B,S,40] {"
       "  %1 = matmul %x, %w; %2 = add %1, %r; return %2 }",
       0,
       NULL,
       2,
       {{1, 1}, {1, 13}, {3, 14}, {4, 64}, {2, 29}}},
      {"graph @main(%q: f32[B[1..3],S[1..90],24], %k: f32[B,24,T[1..90]]) -> f32[B,S,T] {"
       "  %1 = matmul %q, %k; %2 = relu %1; return %2 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 5, 17}, {3, 17, 33}, {1, 90, 90}, {2, 48, 63}}},
      {"graph @main(%p: f32[B[1..3],S[1..90],T[1..90]], %v: f32[B,T,32]) -> f32[B,S,32] {"
       "  %1 = matmul %p, %v; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 5, 17}, {3, 17, 33}, {1, 90, 90}, {2, 48, 63}}},
      {"graph @main(%x: f32[M[1..40],T[1..90]], %w: f32[30,T]) -> f32[M,30] {"
       "  %1 = transpose %w {perm=[1,0]}; %2 = matmul %x, %1; return %2 }",
       0,
       NULL,
       2,
       {{1, 1}, {5, 17}, {17, 33}, {40, 90}}},
      {"graph @main(%x: f32[M[1..9],K[1..1300]], %w: f32[K,20]) -> f32[M,20] {"
       "  %1 = matmul %x, %w; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 256}, {3, 257}, {9, 511}, {4, 1300}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void rows_and_lines(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[B[1..4],S[1..130],S]) -> f32[B,S,S] { %1 = softmax %x; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 2}, {1, 15}, {3, 16}, {2, 33}, {1, 130}}},
      {"graph @main(%x: f32[B[1..4],130,S[1..130]]) -> f32[B,130,S] {"
       "  %1 = softmax %x {axis=1}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 2}, {1, 15}, {3, 16}, {2, 33}, {1, 130}}},
      {"graph @main(%x: f32[B[1..4],S[1..130],17]) -> f32[B,S,17] {"
       "  %1 = softmax %x {axis=1}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 2}, {1, 15}, {3, 16}, {2, 33}, {1, 130}}},
      {"graph @main(%x: f32[B[1..4],S[1..130],40], %g: f32[40], %b: f32[40]) -> f32[B,S,40] {"
       "  %1 = layer_norm %x, %g, %b; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 33}, {4, 130}}},
      {"graph @main(%x: f32[M[1..9],T[1..200]], %g: f32[T], %b: f32[T]) -> f32[M,T] {"
       "  %1 = layer_norm %x, %g, %b; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 15}, {3, 16}, {4, 17}, {9, 200}}},
      {"graph @main(%x: f32[M[1..9],T[1..200]]) -> f32[M,1] {"
       "  %1 = reduce_mean %x {axes=[1]}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 15}, {3, 16}, {4, 17}, {5, 63}, {6, 65}, {9, 200}}},
      {"graph @main(%x: f32[M[1..9],T[1..200],20]) -> f32[M,20] {"
       "  %1 = reduce_max %x {axes=[1], keepdims=false}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 15}, {3, 16}, {9, 200}}},
      {"graph @main(%x: f32[M[1..9],C[1..40],H[1..40],W[1..40]]) -> f32[M,C,1,1] {"
       "  %1 = reduce_mean %x {axes=[2,3]}; return %1 }",
       0,
       NULL,
       4,
       {{1, 1, 1, 1}, {2, 3, 15, 17}, {3, 40, 16, 40}, {1, 2, 33, 5}}},
      {"graph @main(%x: f32[M[1..9],T[1..200]]) -> i64[M,1] { %1 = argmax %x {axis=1}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 15}, {9, 200}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void elements(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[B[1..4],S[1..130],40], %y: f32[40]) -> f32[B,S,40] {"
       "  %1 = mul %x, %y; %2 = tanh %1; return %2 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 33}, {4, 130}}},
      {"graph @main(%x: f32[N[1..9000]]) -> f32[N] { %1 = sigmoid %x; return %1 }",
       0,
       NULL,
       1,
       {{1}, {16}, {4095}, {4096}, {4097}, {9000}}},
      {"graph @main(%x: f32[B[1..4],S[1..130],T[1..50]], %y: f32[B,1,T]) -> f32[B,S,T] {"
       "  %1 = add %x, %y; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 33, 15}, {4, 130, 17}, {3, 5, 50}}},
      {"graph @main(%x: f32[B[1..4],S[1..60],4,16]) -> f32[B,4,S,16] {"
       "  %1 = transpose %x {perm=[0,2,1,3]}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 33}, {4, 60}}},
      {"graph @main(%x: f32[B[1..4],S[1..60],T[1..60]]) -> f32[B,T,S] {"
       "  %1 = transpose %x {perm=[0,2,1]}; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 3, 5}, {2, 15, 16}, {1, 16, 17}, {4, 60, 33}, {3, 2, 60}}},
      {"graph @main(%x: f32[B[1..9],70], %i: i32[2,37], %w: f32[2,37]) -> f32[B,37] {"
       "  %1 = resample %x, %i, %w {axis=1}; return %1 }",
       0,
       NULL,
       1,
       {{1}, {7}, {9}}},
      {"graph @main(%x: i8[S[1..100],T[64..100]]) -> i8[T,S] {"
       "  %1 = transpose %x {perm=[1,0]}; return %1 }",
       0,
       NULL,
       2,
       {{1, 64}, {15, 65}, {64, 64}, {100, 97}}},
      {"graph @main(%x: i8[B[1..40],150]) -> (i8[B,75], i8[B,50]) {"
       "  %1 = slice %x {begin=[0,1], shape=[B,75], step=[1,2]}"
       "  %2 = slice %x {begin=[0,149], shape=[B,50], step=[1,-3]}; return %1, %2 }",
       0,
       NULL,
       1,
       {{1}, {7}, {40}}},
      {"graph @main(%x: f32[B[1..4],3,H[1..60],W[1..60]]) -> f32[B,H,W,3] {"
       "  %1 = transpose %x {perm=[0,2,3,1]}; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 3, 5}, {2, 15, 16}, {1, 16, 17}, {4, 60, 33}}},
      {"graph @main(%x: f32[B[1..4],S[1..60],8], %y: f32[B,T[1..60],8]) -> f32[B,S + T,8] {"
       "  %1 = concat %x, %y {axis=1}; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 3, 5}, {4, 60, 33}}},
      {"graph @main(%x: f32[30,20], %i: i64[B[1..4],S[1..60]]) -> f32[B,S,20] {"
       "  %1 = gather %x, %i; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 3}, {4, 60}}},
      {"graph @main(%x: f32[B[1..4],3,H[1..30],W[1..30]]) -> f32[B,3,2*H,2*W] {"
       "  %1 = resize %x {shape=[B,3,2*H,2*W], scale=[1,1,2,2], coordinates=asymmetric, "
       "nearest=floor}; return %1 }",
       0,
       NULL,
       3,
       {{1, 1, 1}, {2, 3, 5}, {2, 15, 16}, {1, 16, 17}}},
      {"graph @main(%x: f32[B[1..4],S[1..60],8]) -> f32[B,S + 3,8] {"
       "  %1 = pad %x {pad=[0,1,0,0,2,0]}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 3}, {4, 60}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void attention(void **state)
{
  (void)state;
#define ATTENTION_SIZES                                                                            \
  {                                                                                                \
    {1, 1, 1}, {2, 5, 3}, {1, 16, 17}, {3, 17, 16}, {1, 31, 40}, {2, 47, 70}, { 1, 80, 90 }        \
  }
  static const sizes_case rows[] = {
      {"graph @main(%q: f32[B[1..4],2,S[1..90],16], %k: f32[B,2,T[1..90],16], %v: f32[B,2,T,16]) "
       "-> f32[B,2,S,16] { %1 = attention %q, %k, %v {scale=0.25}; return %1 }",
       0, NULL, 3, ATTENTION_SIZES},
      {"graph @main(%q: f32[B[1..4],2,S[1..90],16], %k: f32[B,2,T[1..90],16], %v: f32[B,2,T,16], "
       "%m: f32[B,1,1,T]) -> f32[B,2,S,16] {"
       "  %1 = attention %q, %k, %v, %m {scale=0.25}; return %1 }",
       0, NULL, 3, ATTENTION_SIZES},
      {"graph @main(%q: f32[B[1..4],2,S[1..90],16], %k: f32[B,2,T[1..90],16], %v: f32[B,2,T,16], "
       "%m: f32[1,1,S,T]) -> f32[B,2,S,16] {"
       "  %1 = attention %q, %k, %v, %m {scale=0.25}; return %1 }",
       0, NULL, 3, ATTENTION_SIZES},
      {"graph @main(%q: f32[B[1..4],2,S[1..90],16], %k: f32[B,2,T[1..90],16], %v: f32[B,2,T,16], "
       "%m: f32[1,1,S,T]) -> f32[B,2,S,16] {"
       "  %1 = attention %q, %k, %v, %m {scale=0.25, block=32}; return %1 }",
       0, NULL, 3, ATTENTION_SIZES},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void windows(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[B[1..3],3,H[4..40],W[4..40]], %w: f32[8,3,3,3]) -> f32[B,8,H,W] {"
       "  %1 = conv %x, %w {pad=[1,1,1,1]}; %2 = relu %1; return %2 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {3, 33, 40}}},
      {"graph @main(%x: f32[B[1..3],2,H[2..40],W[2..40],16], %w: f32[3,2,3,3,16,16], %b: "
       "f32[3,1,1,16]) -> f32[B,3,H,W,16] {"
       "  %1 = conv_packed %x, %w {pad=[1,1,1,1]}; %2 = add %1, %b; %3 = relu %2; return %3 }",
       0,
       NULL,
       3,
       {{1, 2, 2}, {2, 5, 16}, {1, 17, 15}, {2, 12, 40}, {1, 3, 13}}},
      {"graph @main(%x: f32[B[1..3],2,H[4..40],W[4..40],16], %w: f32[3,2,1,1,16,16], %r: "
       "f32[B,3,H,W,16]) -> f32[B,3,H,W,16] {"
       "  %1 = conv_packed %x, %w; %2 = add %1, %r; return %2 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {2, 12, 40}, {1, 5, 13}}},
      {"graph @main(%x: f32[B[1..3],2,H[4..40],W[4..40],16], %w: f32[3,2,3,3,16,16]) "
       "-> f32[B,3,floordiv(H + 1, 2),floordiv(W + 1, 2),16] {"
       "  %1 = conv_packed %x, %w {pad=[1,1,1,1], stride=[2,2]}; %2 = relu %1; return %2 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {2, 12, 40}, {1, 5, 13}}},
      {"graph @main(%x: f32[B[1..3],20,H[4..40],W[4..40]], %w: f32[20,1,3,3]) -> f32[B,20,H,W] {"
       "  %1 = conv %x, %w {pad=[1,1,1,1], group=20}; %2 = relu %1; return %2 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {2, 12, 40}, {1, 5, 13}}},
      {"graph @main(%x: f32[B[1..3],3,H[4..40],W[4..40]]) -> f32[B,3,H,W] {"
       "  %1 = max_pool %x {kernel=[3,3], pad=[1,1,1,1]}; return %1 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 16}, {1, 17, 15}, {3, 33, 40}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products),  cmocka_unit_test(rows_and_lines), cmocka_unit_test(elements),
      cmocka_unit_test(attention), cmocka_unit_test(windows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
