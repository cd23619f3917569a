/* Matrix products, shapes, reductions, normalizations. */
#include "ops/operator_testing.h"

static const row_case products[] = {
    {"matmul", "f32[2,3]: 1 2 3 4 5 6; f32[3,2]: 1 0 0 1 1 1", "", "f32[2,2]: 4 5 10 11", 0},
    {"matmul", "f32[3]: 1 2 3; f32[3]: 4 5 6", "", "f32[]: 32", 0},
    {"matmul", "f32[3]: 1 2 3; f32[3,2]: 1 0 0 1 1 1", "", "f32[2]: 4 5", 0},
    {"matmul", "f32[2,3]: 1 2 3 4 5 6; f32[3]: 1 0 1", "", "f32[2]: 4 10", 0},
    {"matmul", "f32[2,1,1,2]: 1 2 3 4; f32[3,2,1]: 1 0 0 1 1 1", "", "f32[2,3,1,1]: 1 2 3 3 4 7",
     0},
    {"matmul", "i32[1,2]: 3 4; i32[2,1]: 5 -6", "", "i32[1,1]: -9", 0},
    {"matmul", "f32[2,0]; f32[0,2]", "", "f32[2,2]: 0 0 0 0", 0},
    {"matmul", "f32[N[1..9],3]; f32[3,4]", "", "f32[N,4]", 0},
    {"matmul", "f32[2,3]; f32[4,5]", "", "error: inner sizes differ: 3 and 4", 0},
    {"matmul", "f32[2,2,3]; f32[3,3,4]", "", "error: shapes do not broadcast: [2] and [3]", 0},
    {"matmul", "f32[]; f32[1]", "", "error: x has rank 0, expected 1 or more", 0},
};

static const row_case shapes[] = {
    {"reshape", "f32[2,3]: 1 2 3 4 5 6", "shape=[3,2]", "f32[3,2]: 1 2 3 4 5 6", 0},
    {"reshape", "f32[2,3,4,5]", "shape=[2,12,5]", "f32[2,12,5]", 0},
    {"reshape", "f32[2,12,5]", "shape=[2,2,2,3,5]", "f32[2,2,2,3,5]", 0},
    {"reshape", "f32[4,6]", "shape=[8,3]", "f32[8,3]", 0},
    {"reshape", "f32[2,3]", "shape=[-1]", "f32[6]", 0},
    {"reshape", "f32[1,1]", "shape=[]", "f32[]", 0},
    {"reshape", "f32[0,3]", "shape=[3,0]", "f32[3,0]", 0},
    {"reshape", "f32[N[1..9],4,3]", "shape=[-1,12]", "f32[N,12]", 0},
    {"reshape", "f32[N[1..9],S[1..9],12]", "shape=[N,S,3,-1]", "f32[N,S,3,4]", 0},
    {"reshape", "f32[N[1..9],S[1..9],12]", "shape=[-1,12]", "f32[N*S,12]", 0},
    {"reshape", "f32[0,3,4]", "shape=[0,-1]", "f32[0,12]", 0},
    {"reshape", "f32[0,3,0]", "shape=[0,1,-1]", "f32[0,1,0]", 0},
    {"reshape", "f32[0,3]", "shape=[0,4]", "f32[0,4]", 0},
    {"reshape", "f32[0,3]", "shape=[0,2,-1]", "error: f32[0,3] does not fill [0,2,-1]", 0},
    {"reshape", "f32[2,3]", "shape=[4,2]", "error: f32[2,3] does not fill [4,2]", 0},
    {"reshape", "f32[N[1..9],3]", "shape=[4,2]", "error: f32[N,3] is not known to fill [4,2]", 0},
    {"reshape", "f32[2,3]", "shape=[-1,-1]", "error: two dimensions are -1", 0},
    {"transpose", "f32[2,3]: 1 2 3 4 5 6", "", "f32[3,2]: 1 4 2 5 3 6", 0},
    {"transpose", "i4[1,2,3]: 1 2 3 4 5 6", "perm=[1,2,0]", "i4[2,3,1]: 1 2 3 4 5 6", 0},
    {"transpose", "f32[2,3]", "perm=[0,0]", "error: perm: 0 occurs twice", 0},
    {"concat", "f32[1,2]: 1 2; f32[1,0]; f32[1,1]: 3", "axis=1", "f32[1,3]: 1 2 3", 0},
    {"concat", "f32[2,1]: 1 2; f32[2,2]: 3 4 5 6", "axis=-1", "f32[2,3]: 1 3 4 2 5 6", 0},
    {"concat", "f32[N[1..9],2]; f32[3,2]", "", "f32[N + 3,2]", 0},
    {"channel_shuffle", "f32[1,6]: 1 2 3 4 5 6", "groups=2", "f32[1,6]: 1 4 2 5 3 6", 0},
    {"channel_shuffle", "f32[4,1]: 1 2 3 4", "axis=0, groups=4", "f32[4,1]: 1 2 3 4", 0},
    {"channel_shuffle", "f32[1,5]", "groups=2", "error: 5 elements in 2 groups", 0},
    {"pack", "f32[1,3]: 1 2 3", "block=2", "f32[1,2,2]: 1 2 3 0", 0},
    {"interleave", "f32[1,2]: 1 2; f32[1,2]: 3 4", "axis=1", "f32[1,4]: 1 3 2 4", 0},
    {"interleave", "i8[2,1]: 1 2; i8[1,1]: 3; i8[1,1]: 4", "", "i8[4,1]: 1 3 4 2", 0},
    {"interleave", "f32[N[1..9],2]; f32[N,2]", "", "f32[2*N,2]", 0},
    {"interleave", "f32[3]; f32[1]", "",
     "error: operand 1, f32[1], does not alternate with f32[3] on axis 0", 0},
    {"interleave", "f32[3]; f32[2]; f32[3]", "",
     "error: operand 2, f32[3], does not alternate with f32[3] on axis 0", 0},
    {"concat", "f32[2,2]; f32[3,1]", "",
     "error: operand 1, f32[3,1], does not fit f32[2,2] along axis 0", 0},
    {"split", "f32[2,3]: 1 2 3 4 5 6", "axis=1, sizes=[1,2]", "f32[2,1]: 1 4; f32[2,2]: 2 3 5 6",
     0},
    {"split", "f32[5]: 1 2 3 4 5", "parts=2", "f32[3]: 1 2 3; f32[2]: 4 5", 0},
    {"split", "f32[70000]", "parts=65536", "error: parts is 65536, expected 1 to 65535", 0},
    {"split", "f32[5]", "sizes=[1,2]", "error: the parts have 3 elements together, the axis 5", 0},
    {"shape", "f32[N[1..9],3]", "", "i64[2]", 0},
    {"shape", "f32[2,3,4]", "start=-2", "i64[2]: 3 4", 0},
    {"shape", "f32[2,3,4]", "start=2, end=1", "i64[0]", 0},
    {"size", "f32[2,3,4]", "", "i64[]: 24", 0},
};

static const row_case reductions[] = {
    {"reduce_sum", "f32[2,3]: 1 2 3 4 5 6", "axes=[1]", "f32[2,1]: 6 15", 0},
    {"reduce_sum", "f32[2,3]: 1 2 3 4 5 6", "axes=[0], keepdims=false", "f32[3]: 5 7 9", 0},
    {"reduce_sum", "f32[2,3]: 1 2 3 4 5 6", "keepdims=false", "f32[]: 21", 0},
    {"reduce_sum", "f32[2,0]", "axes=[-1]", "f32[2,1]: 0 0", 0},
    {"reduce_sum", "u8[3]: 200 100 0", "", "u8[1]: 44", 0},
    {"reduce_prod", "f32[3]: 2 3 4", "", "f32[1]: 24", 0},
    {"reduce_prod", "f32[4]: 1e30 1e30 1e-30 1e-30", "", "f32[1]: 1", 0},
    /* the squares are outside the range of f32 */
    {"reduce_l2", "f32[2]: 1e-30 0", "", "f32[1]: 0", 0},
    {"reduce_l2", "f32[2]: 1e30 0", "", "f32[1]: inf", 0},
    {"reduce_max", "f32[3]: 2 nan 4", "", "f32[1]: nan", 0},
    {"reduce_max", "i8[2,0]", "axes=[1]", "i8[2,1]: -128 -128", 0},
    {"reduce_min", "u8[3]: 200 3 4", "", "u8[1]: 3", 0},
    {"reduce_extremes", "f32[2,3]: 2 -7 4 1 nan 3", "axes=[1]", "f32[2,1]: -7 nan; f32[2,1]: 4 nan",
     0},
    {"reduce_extremes", "u8[0]", "keepdims=false", "u8[]: 255; u8[]: 0", 0},
    {"reduce_mean", "f32[2,2]: 1 2 3 5", "axes=[1]", "f32[2,1]: 1.5 4", 0},
    {"reduce_mean", "i32[2]: -1 -2", "", "i32[1]: -1", 0},
    {"reduce_mean", "u8[1,2]: 200 100", "axes=[1]", "u8[1,1]: 22", 0}, /* the sum wraps */
    {"reduce_mean", "i8[0,300]", "axes=[1]", "i8[0,1]", 0},
    {"reduce_mean", "f32[0]", "", "f32[1]: nan", 0},
    {"reduce_l1", "f32[3]: 1 -2 3", "", "f32[1]: 6", 0},
    {"reduce_l2", "f32[2]: 3 -4", "", "f32[1]: 5", 0},
    {"reduce_log_sum", "f32[2]: 1 1", "", "f32[1]: 0.693147181", 0},
    {"reduce_log_sum_exp", "f32[2]: 1000 1000", "", "f32[1]: 1000.69315", 0},
    {"reduce_log_sum_exp", "f32[2]: -inf -inf", "", "f32[1]: -inf", 0},
    {"reduce_log_sum_exp", "f32[3]: 1 inf 3e38", "", "f32[1]: inf", 0},
    {"reduce_log_sum_exp", "f32[3]: 100 -1000 5", "", "f32[1]: 100", 0},
    {"reduce_log_sum_exp", "f32[2]: nan inf", "", "f32[1]: nan", 0},
    {"reduce_sum_square", "f32[2]: 3 -4", "", "f32[1]: 25", 0},
    {"reduce_sum", "f32[2,3]", "axes=[2]", "error: axis 2 is outside [-2, 1]", 0},
    {"reduce_sum", "f32[2,3]", "axes=[1,-1]", "error: axis 1 occurs twice", 0},
    {"softmax", "f32[2,2]: 0 0 1000 1000", "", "f32[2,2]: 0.5 0.5 0.5 0.5", 0},
    {"softmax", "f32[3]: -inf 0 -inf", "axis=0", "f32[3]: 0 1 0", 0},
    {"softmax", "f32[2,2]: -inf -inf nan 1", "", "f32[2,2]: nan nan nan nan", 0},
    {"softmax", "f32[2,2]: 0 1 0 1", "axis=0", "f32[2,2]: 0.5 0.5 0.5 0.5", 0},
    {"log_softmax", "f32[2]: 5 5", "", "f32[2]: -0.693147181 -0.693147181", 0},
    {"hardmax", "f32[2,3]: 1 3 3 4 nan nan", "", "f32[2,3]: 0 1 0 0 1 0", 0},
    {"softmax", "f32[]", "", "error: axis -1 is outside [0, -1]", 0},
};

static const row_case norms[] = {
    {"batch_norm", "f32[1,2,1]: 3 5; f32[2]: 2 1; f32[2]: 1 0; f32[2]: 1 1; f32[2]: 4 16",
     "epsilon=0", "f32[1,2,1]: 3 1", 0},
    {"batch_norm", "f32[2,3]; f32[3]; f32[3]; f32[3]; f32[2]", "",
     "error: variance is f32[2], expected [3]", 0},
    {"instance_norm", "f32[1,2,2]: 1 3 5 5; f32[2]: 2 1; f32[2]: 1 7", "epsilon=0.0001",
     "f32[1,2,2]: -0.99990001 2.99990001 7 7", 1e-5},
    {"group_norm", "f32[1,2,1]: 1 3; f32[2]: 2 1; f32[2]: 1 7", "groups=1, epsilon=0",
     "f32[1,2,1]: -1 8", 0},
    {"layer_norm", "f32[2,2]: 1 3 5 9; f32[2]: 2 1; f32[2]: 1 7", "epsilon=0",
     "f32[2,2]: -1 8 -1 8", 0},
    {"layer_norm", "f32[1,2,2]: 1 3 1 3", "axis=1, epsilon=0", "f32[1,2,2]: -1 1 -1 1", 0},
    {"layer_norm", "f32[2,2]; f32[3]", "",
     "error: scale is f32[3], which does not broadcast to x from axis 1", 0},
    {"rms_norm", "f32[1,2]: 1 7; f32[2]: 5 10", "epsilon=0", "f32[1,2]: 1 14", 0},
    {"lrn", "f32[1,3,1]: 1 2 3", "size=3, alpha=3, beta=1, bias=1",
     "f32[1,3,1]: 0.166666667 0.133333333 0.214285714", 0},
    {"lrn", "f32[1,3,1]: 1 2 3", "size=2, alpha=2, beta=1, bias=1",
     "f32[1,3,1]: 0.166666667 0.142857143 0.3", 0},
};

#define TEST(name)                                                                                 \
  static void test_##name(void **state)                                                            \
  {                                                                                                \
    (void)state;                                                                                   \
    row_check(name, WICK_COUNT(name));                                                             \
  }
TEST(products)
TEST(shapes)
TEST(reductions)
TEST(norms)

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_shapes),
                                     cmocka_unit_test(test_reductions),
                                     cmocka_unit_test(test_norms)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
