/* Kernels with dynamic sizes and given schedules. */
#include "codegen/llvm/sizes_testing.h"

static void loops_that_are_not_scheduled(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[M[1..64],7]) -> f32[M,7] { %1 = tanh %x; return %1 }",
       0,
       "",
       1,
       {{1}, {2}, {33}, {64}}},
      {"graph @main(%x: f32[M[1..20],K[1..30]], %w: f32[K,5]) -> f32[M,5] {"
       "  %1 = matmul %x, %w; return %1 }",
       0,
       "",
       2,
       {{1, 1}, {3, 7}, {20, 30}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

/* Rows and columns of tiles; if rows may be long, blocks of both. Tiles that extend beyond the
 * image, and images smaller than a tile. */
static void tiles_of_winograd(void **state)
{
  (void)state;
  static const sizes_case rows[] = {
      {"graph @main(%x: f32[1,2,H[1..40],W[1..90],16], %u: f32[36,3,2,16,16], %b: f32[3,1,1,16]) "
       "-> "
       "f32[1,3,H,W,16] { %1 = conv_winograd %x, %u {tile=4, taps=3, pad=[1,1,1,1]}; %2 = add %1, "
       "%b; %3 = relu %2; return %3 }",
       0,
       NULL,
       2,
       {{1, 1}, {4, 4}, {3, 90}, {8, 40}, {9, 41}, {10, 42}, {23, 19}, {40, 90}}},
      {"graph @main(%x: f32[N[1..3],4,H[4..100000],W[4..100000],16], %u: f32[16,2,2,16,16]) -> "
       "f32[N,2,H,W,16] { %1 = conv_winograd %x, %u {tile=2, taps=3, pad=[1,1,1,1], group=2}; "
       "return %1 }",
       0,
       NULL,
       3,
       {{1, 4, 4}, {2, 5, 67}, {1, 31, 130}, {3, 14, 64}}},
      {"graph @main(%x: f32[1,1,H[1..4],W[2..4],8], %u: f32[36,1,1,8,8]) -> f32[1,1,H,W,8] { %1 = "
       "conv_winograd %x, %u {tile=4, taps=3, pad=[1,1,1,1]}; return %1 }",
       0,
       NULL,
       2,
       {{1, 2}, {4, 4}, {3, 4}, {4, 3}}},
      {"graph @main(%x: f32[1,1,16*H[1..9] + 4,32*W[1..9] + 4,8], %u: f32[64,1,1,8,8]) -> "
       "f32[1,1,16*H,32*W,8] { %1 = conv_winograd %x, %u {tile=4, taps=5}; return %1 }",
       0,
       NULL,
       2,
       {{1, 1}, {2, 5}, {9, 9}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

static void tails(void **state)
{
  (void)state;
  static const char map[] =
      "graph @main(%x: f32[M[1..64],N[1..200]]) -> f32[M,N] { %1 = relu %x; return %1 }";
  static const char product[] =
      "graph @main(%x: f32[M[1..64],K[1..200]], %w: f32[K,N[1..200]]) -> f32[M,N] {"
      "  %1 = matmul %x, %w; %2 = relu %1; return %2 }";
  static const char sum[] =
      "graph @main(%x: f32[M[1..64],N[1..300]]) -> f32[M] {"
      "  %1 = reduce_sum %x {axes=[1], keepdims=false}; %2 = relu %1; return %2 }";
#define MAP_SIZES                                                                                  \
  {                                                                                                \
    {1, 1}, {1, 3}, {2, 15}, {3, 16}, {5, 17}, {6, 64}, {7, 65}, {64, 200}, { 13, 127 }            \
  }
#define PRODUCT_SIZES                                                                              \
  {                                                                                                \
    {1, 1, 1}, {1, 3, 40}, {5, 4, 16}, {6, 5, 17}, {7, 200, 32}, {11, 9, 33}, {12, 8, 48},         \
    {                                                                                              \
      64, 31, 200                                                                                  \
    }                                                                                              \
  }
  static const sizes_case rows[] = {
      {map, 0, "split relu.d1 lane:16; vector relu.lane; parallel relu.d0", 2, MAP_SIZES},
      {map, 0, "split relu.d1 lane:16; vector relu.lane; parallel relu.d0 relu.d1", 2, MAP_SIZES},
      {map, 0,
       "split relu.d1 lane:16; split relu.d1 vb:4; vector relu.lane; unroll relu.vb; parallel "
       "relu.d0 relu.d1",
       2, MAP_SIZES},
      {map, 0,
       "split relu.d1 lane:16; tail relu.d1 overlap; vector relu.lane; split relu.d0 yi:3; tail "
       "relu.d0 overlap; order relu: d0 d1 yi lane; unroll relu.yi; parallel relu.d0",
       2, MAP_SIZES},
      {map, 0,
       "split relu.d0 yi:7; tail relu.d0 overlap; split relu.d1 lane:16; order relu: d0 d1 yi "
       "lane; "
       "vector relu.lane; unroll relu.yi; parallel relu.d0 relu.d1",
       2, MAP_SIZES},
      {product, 0,
       "split relu.d1 lane:16; split relu.d1 vb:2; split relu.d0 xi:6; order relu: d0 d1 xi vb "
       "lane; "
       "vector relu.lane; unroll relu.xi relu.vb; parallel relu.d0 relu.d1; at matmul relu.d1 reg; "
       "split matmul.k u:4; split matmul.n lane:16; order matmul: k u m n lane; vector "
       "matmul.lane; "
       "unroll matmul.m matmul.n matmul.u",
       3, PRODUCT_SIZES},
      {product, 0,
       "split relu.d1 lane:16; split relu.d1 vb:2; split relu.d0 xi:5; tail relu.d0 overlap; tail "
       "relu.d1 "
       "overlap; order relu: d1 d0 xi vb lane; "
       "vector relu.lane; unroll relu.xi relu.vb; parallel relu.d1; at matmul relu.d0 reg; "
       "split matmul.k u:4; split matmul.n lane:16; order matmul: k u m n lane; vector "
       "matmul.lane; "
       "unroll matmul.m matmul.n matmul.u",
       3, PRODUCT_SIZES},
      {sum, 0,
       "parallel relu.d0; at reduce_sum relu.d0 reg; split reduce_sum.r1 lane:16; vector "
       "reduce_sum.lane; unroll reduce_sum.d0",
       2, MAP_SIZES},
      {sum, 0,
       "parallel relu.d0; at reduce_sum relu.d0 reg; split reduce_sum.r1 lane:16; split "
       "reduce_sum.r1 "
       "part:4; order reduce_sum: r1 d0 part lane; rfactor reduce_sum.part; vector "
       "reduce_sum.lane; "
       "unroll reduce_sum.d0",
       2, MAP_SIZES},
      {product, 0,
       "split relu.d1 lane:16; split relu.d0 xi:5; tail relu.d0 overlap; order relu: d1 d0 xi "
       "lane; "
       "vector relu.lane; unroll relu.xi; parallel relu.d1; at matmul relu.d0 reg; "
       "split matmul.k u:4; split matmul.k s:8; spans matmul.k; split matmul.n lane:16; "
       "order matmul: k s u m n lane; vector matmul.lane; unroll matmul.m matmul.n matmul.u",
       3, PRODUCT_SIZES},
      {product, 0,
       "split relu.d1 lane:16; order relu: d1 d0 lane; vector relu.lane; parallel relu.d1; "
       "at matmul relu.d0 reg; split matmul.k u:4; spans matmul.k; split matmul.n lane:16; "
       "order matmul: k u m n lane; vector matmul.lane; unroll matmul.m matmul.n matmul.u",
       3, PRODUCT_SIZES},
      {sum, 0,
       "parallel relu.d0; at reduce_sum relu.d0 reg; split reduce_sum.r1 lane:16; split "
       "reduce_sum.r1 s:3; spans reduce_sum.r1; order reduce_sum: r1 s d0 lane; "
       "vector reduce_sum.lane; unroll reduce_sum.d0",
       2, MAP_SIZES},
      {sum, 0,
       "parallel relu.d0; at reduce_sum relu.d0 reg; split reduce_sum.r1 part:4; order reduce_sum: "
       "r1 "
       "d0 part; rfactor reduce_sum.part; unroll reduce_sum.d0",
       2, MAP_SIZES},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

/* Ranges without an upper end: the scratch memory is as large as the current sizes require. */
static void scratch(void **state)
{
  (void)state;
#define ENDLESS "[1..536870912]"
  static const char ranks[] =
      "graph @main(%x: f32[M" ENDLESS ",N[2..536870912]]) -> (f32[M,2], i64[M,2]) {"
      "  %1, %2 = top_k %x {k=[2], axis=1}; return %1, %2 }";
  static const char rows_of[] = "graph @main(%x: f32[M" ENDLESS ",N" ENDLESS
                                "]) -> f32[M,N] { %1 = softmax %x {axis=1}; return %1 }";
  static const sizes_case rows[] = {
      {ranks, 0, "", 2, {{1, 3}, {2, 17}, {5, 90}}},
      {ranks, 0, NULL, 2, {{1, 3}, {2, 17}, {5, 90}}},
      {rows_of, 0, NULL, 2, {{1, 1}, {3, 16}, {2, 65}, {7, 300}}},
      {rows_of,
       0,
       "at exp softmax.d0 scratch; parallel softmax.d0; at max softmax.d0 scratch; at sum "
       "softmax.d0 "
       "scratch",
       2,
       {{1, 1}, {3, 16}, {2, 65}, {7, 300}}},
  };
  for (size_t i = 0; i < WICK_COUNT(rows); i++) sizes_check(&rows[i]);
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loops_that_are_not_scheduled),
      cmocka_unit_test(tiles_of_winograd),
      cmocka_unit_test(tails),
      cmocka_unit_test(scratch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
