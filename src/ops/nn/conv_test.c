/* Convolutions and pools. */
#include "ops/operator_testing.h"

static const row_case convs[] = {
    {"conv", "f32[1,1,3]: 1 2 3; f32[1,1,2]: 1 10", "", "f32[1,1,2]: 21 32", 0},
    {"conv", "f32[1,1,3]: 1 2 3; f32[1,1,2]: 1 10", "pad=[1,0]", "f32[1,1,3]: 10 21 32", 0},
    {"conv", "f32[1,1,3]: 1 2 3; f32[1,1,2]: 1 10; f32[1]: 0.5", "stride=[2]", "f32[1,1,1]: 21.5",
     0},
    {"conv", "f32[1,1,5]: 1 2 3 4 5; f32[1,1,2]: 1 10", "dilation=[3]", "f32[1,1,2]: 41 52", 0},
    {"conv", "f32[1,2,2]: 1 2 3 4; f32[2,1,1]: 10 100", "group=2", "f32[1,2,2]: 10 20 300 400", 0},
    {"conv", "f32[1,2,2]: 1 2 3 4; f32[1,2,1]: 10 100", "", "f32[1,1,2]: 310 420", 0},
    {"conv", "f32[1,1,3,3]: 1 2 3 4 5 6 7 8 9; f32[1,1,2,2]: 1 0 0 1", "",
     "f32[1,1,2,2]: 6 8 12 14", 0},
    {"conv", "f32[1,1,3,3]: 1 2 3 4 5 6 7 8 9; f32[1,1,3,3]: 0 0 0 0 1 0 0 0 1",
     "pad=[1,1,1,1], stride=[2,2]", "f32[1,1,2,2]: 6 3 7 9", 0},
    {"conv", "f32[1,1,2,2,2]: 1 2 3 4 5 6 7 8; f32[1,1,2,2,2]: 1 1 1 1 1 1 1 1", "",
     "f32[1,1,1,1,1]: 36", 0},
    {"conv", "i32[1,1,2]: 2147483647 1; i32[1,1,2]: 1 1", "", "i32[1,1,1]: -2147483648", 0},
    {"conv", "f32[1,1,3]: 1 2 3; f32[1,1,2]: inf 1", "pad=[1,1]", "f32[1,1,4]: nan inf inf inf", 0},
    {"conv", "f32[0,1,3]; f32[1,1,2]", "", "f32[0,1,2]", 0},
    {"conv", "f32[N[1..8],3,8,8]; f32[4,3,3,3]", "pad=[1,1,1,1]", "f32[N,4,8,8]", 0},
    {"conv", "f32[1,3,H[7..99],8]; f32[4,3,3,3]", "stride=[2,2]",
     "f32[1,4,floordiv(H - 3, 2) + 1,3]", 0},
    {"conv", "f32[1,3,8,8]; f32[4,2,3,3]", "", "error: x has 3 channels, w is for 1 groups of 2",
     0},
    {"conv", "f32[1,2,8,8]; f32[3,1,3,3]", "group=2", "error: 3 output channels in 2 groups", 0},
    {"conv", "f32[1,3,8]; f32[4,3,3,3]", "", "error: w has rank 4, expected 3 as x has", 0},
    {"conv", "f32[3,8]; f32[4,3]", "", "error: x has rank 2, expected 3 to 5", 0},
    {"conv", "f32[1,3,8]; f64[4,3,3]", "", "error: w is f64, expected f32", 0},
    {"conv", "f32[1,3,8]; f32[4,3,3]; f32[3]", "", "error: bias is f32[3], expected [4]", 0},
    {"conv", "f32[1,3,8]; f32[4,3,3]", "pad=[1]", "error: pad has 1 numbers, expected 2", 0},
    {"conv", "f32[1,3,2]; f32[4,3,3]", "",
     "error: the window reaches over 3 elements of dimension 2, which has 2 with its padding", 0},
    {"conv_transpose", "f32[1,1,2]: 1 2; f32[1,1,3]: 1 10 100", "", "f32[1,1,4]: 1 12 120 200", 0},
    {"conv_transpose", "f32[1,1,2]: 1 2; f32[1,1,3]: 1 10 100; f32[1]: 0.5", "stride=[2]",
     "f32[1,1,5]: 1.5 10.5 102.5 20.5 200.5", 0},
    {"conv_transpose", "f32[1,1,2]: 1 2; f32[1,1,3]: 1 10 100",
     "stride=[2], pad=[1,1], output_pad=[1]", "f32[1,1,4]: 10 102 20 200", 0},
    {"conv_transpose", "f32[1,1,2]: 1 2; f32[1,1,2]: 1 10", "dilation=[2]", "f32[1,1,4]: 1 2 10 20",
     0},
    {"conv_transpose", "f32[1,2,1]: 1 2; f32[2,1,1]: 10 100", "group=2", "f32[1,2,1]: 10 200", 0},
    {"conv_transpose", "f32[1,2,1]: 1 2; f32[2,2,1]: 10 20 100 200", "", "f32[1,2,1]: 210 420", 0},
    {"conv_transpose", "f32[1,1,2,2]: 1 2 3 4; f32[1,1,2,2]: 1 1 1 1", "stride=[2,2]",
     "f32[1,1,4,4]: 1 1 2 2 1 1 2 2 3 3 4 4 3 3 4 4", 0},
    {"conv_transpose", "f32[1,3,4,4]; f32[2,1,2,2]", "", "error: x has 3 channels, w is for 2", 0},
};

static const row_case pools[] = {
    {"max_pool", "f32[1,1,4]: 1 3 2 -1", "kernel=[2]", "f32[1,1,3]: 3 3 2", 0},
    {"max_pool", "f32[1,1,4]: 1 3 2 -1", "kernel=[2], indices=true",
     "f32[1,1,3]: 3 3 2; i64[1,1,3]: 1 1 2", 0},
    {"max_pool", "f32[1,1,4]: 1 nan 2 -1", "kernel=[2]", "f32[1,1,3]: nan nan 2", 0},
    {"max_pool", "f32[1,1,3]: -1 -3 -2", "kernel=[2], stride=[2], pad=[1,0]", "f32[1,1,2]: -1 -2",
     0},
    {"max_pool", "f32[1,1,5]: 1 2 3 4 5", "kernel=[2], stride=[2], ceil=true", "f32[1,1,3]: 2 4 5",
     0},
    /* the third window would begin in the end pad */
    {"max_pool", "f32[1,1,4]: 1 2 3 4", "kernel=[1], stride=[3], pad=[0,1], ceil=true",
     "f32[1,1,2]: 1 4", 0},
    {"max_pool", "f32[1,1,2,3]: 1 2 3 6 5 4", "kernel=[2,2], indices=true, column_major=true",
     "f32[1,1,1,2]: 6 5; i64[1,1,1,2]: 1 3", 0},
    {"max_pool", "i8[1,2,2]: 1 -2 -128 -127", "kernel=[2], indices=true",
     "i8[1,2,1]: 1 -127; i64[1,2,1]: 0 3", 0},
    {"max_pool", "f32[1,1,5]: 1 2 3 4 5", "kernel=[2], dilation=[3]", "f32[1,1,2]: 4 5", 0},
    {"max_pool", "f32[1,1,H[8..64]]", "kernel=[3], stride=[2], ceil=true",
     "f32[1,1,min(-floordiv(-H, 2), -floordiv(-H + 3, 2) + 1)]", 0},
    {"avg_pool", "f32[1,1,4]: 1 3 2 -1", "kernel=[2]", "f32[1,1,3]: 2 2.5 0.5", 0},
    {"avg_pool", "f32[1,1,3]: 1 3 2", "kernel=[2], pad=[1,1]", "f32[1,1,4]: 1 2 2.5 2", 0},
    {"avg_pool", "f32[1,1,3]: 1 3 2", "kernel=[2], pad=[1,1], count_pad=true",
     "f32[1,1,4]: 0.5 2 2.5 1", 0},
    /* the last window has one element in x, and two beyond all padding */
    {"avg_pool", "f32[1,1,4]: 1 2 3 4", "kernel=[3], stride=[3], ceil=true, count_pad=true",
     "f32[1,1,2]: 2 4", 0},
    {"avg_pool", "f32[1,1,4]: 1 2 3 4",
     "kernel=[3], stride=[3], pad=[0,1], ceil=true, count_pad=true", "f32[1,1,2]: 2 2", 0},
    {"avg_pool", "f32[1,1,2,2]: 1 2 3 4", "kernel=[2,2], pad=[1,1,0,0]",
     "f32[1,1,2,2]: 1 1.5 2 2.5", 0},
    {"lp_pool", "f32[1,1,3]: 3 -4 0", "kernel=[2]", "f32[1,1,2]: 5 4", 0},
    {"lp_pool", "f32[1,1,3]: 3 -4 0", "kernel=[2], p=1", "f32[1,1,2]: 7 4", 0},
    {"avg_pool", "i32[1,1,4]", "kernel=[2]", "error: avg_pool has no form for i32 (operand 0)", 0},
    {"max_pool", "f32[1,1,4]", "kernel=[2,2]", "error: kernel has 2 numbers, expected 1", 0},
};

static void test_convs(void **state)
{
  (void)state;
  row_check(convs, WICK_COUNT(convs));
}
static void test_pools(void **state)
{
  (void)state;
  row_check(pools, WICK_COUNT(pools));
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_convs), cmocka_unit_test(test_pools)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
