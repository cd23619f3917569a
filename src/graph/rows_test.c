/* Every tensor row, in every element type that it has: its stages, or those of the rows that define
 * it, against its reference, on made-up elements. A row without a line here fails the test. */
#include "graph/expand_rows.h"
#include "ops/blocked.h"
#include "ops/row_testing.h"

/* T stands for each element type in turn. */
static const row_case lines[] = {
    {"argmax", "T[3,4,2]", "axis=1", "i64[3,1,2]", 0},
    {"argmin", "T[3,4,2]", "axis=2, last=true, keepdims=false", "i64[3,4]", 0},
    {"attention", "T[2,3,5,4]; T[2,3,7,4]; T[2,3,7,6]", "scale=0.5", "T[2,3,5,6]", 0},
    {"attention", "T[2,5,4]; T[7,4]; T[1,7,6]; T[5,7]", "block=3", "T[2,5,6]", 0},
    {"attention", "T[2,5,4]; T[2,6,4]; T[2,6,6]; T[2,1,6]", "block=2", "T[2,5,6]", 0},
    {"attention", "T[2,5,4]; T[2,6,4]; T[2,6,6]; bool[6]: 1 1 0 0 1 0", "block=2", "T[2,5,6]", 0},
    {"attention", "T[2,4]; T[3,4]; T[3,1]; bool[2,3]: 1 0 0 1 1 0", "fill=-2", "T[2,1]", 0},
    {"attention", "T[2,4]; T[3,5]; T[3,1]", "",
     "error: q and k have columns of different sizes: 4 and 5", 0},
    {"attention", "T[2,4]; T[3,4]; T[4,1]", "", "error: there are 3 keys and 4 values", 0},
    {"attention", "T[2,4]; T[3,4]; T[3,1]; bool[2,2,3]", "",
     "error: the mask, bool[2,2,3], is larger than the scores", 0},
    {"avg_pool", "T[2,3,5,6]", "kernel=[3,2], stride=[2,1], pad=[1,0,1,1]", "T[2,3,3,6]", 0},
    {"avg_pool", "T[1,2,7]",
     "kernel=[3], stride=[3], dilation=[2], pad=[1,1], ceil=true, "
     "count_pad=true",
     "T[1,2,3]", 0},
    {"avg_pool", "T[1,2,7]", "kernel=[3], stride=[3], dilation=[2], pad=[2,1], ceil=true",
     "T[1,2,3]", 0},
    {"batch_norm", "T[2,3,4]; T[3]; T[3]; T[3]; T[3]: 0.5 2 1", "", "T[2,3,4]", 0},
    {"clip", "T[3,4]; T[]: 1; T[]: 2", "", "T[3,4]", 0},
    {"channel_shuffle", "T[2,6,3]", "groups=3", "T[2,6,3]", 0},
    {"col2im", "T[2,12,6]", "kernel=[2,3], image=[3,5]", "T[2,2,3,5]", 0},
    {"col2im", "T[1,12,4]",
     "kernel=[2,3], image=[4,5], stride=[2,2], dilation=[1,2], pad=[0,1,0,1]", "T[1,2,4,5]", 0},
    {"col2im", "T[1,6,3]", "kernel=[3], image=[7], stride=[2], pad=[1,0], dilation=[2]",
     "error: x has 3 windows, the image 2", 0},
    {"col2im", "T[1,6,2]", "kernel=[3], image=[7], stride=[2], pad=[1,0], dilation=[2]", "T[1,2,7]",
     0},
    {"col2im", "T[1,8,6]", "kernel=[2,2,2], image=[2,3,4], pad=[0,0,1,0,0,0]",
     "error: x has 6 windows, the image 8", 0},
    {"col2im", "T[1,8,8]", "kernel=[2,2,2], image=[2,3,4], pad=[0,0,1,0,0,0]", "T[1,1,2,3,4]", 0},
    {"concat", "T[2,1,3]; T[2,4,3]; T[2,2,3]", "axis=1", "T[2,7,3]", 0},
    {"conv", "T[2,4,5,6]; T[6,2,3,2]; T[6]", "group=2, stride=[2,1], pad=[1,0,2,1]", "T[2,6,3,6]",
     0},
    {"conv", "T[1,3,9]; T[3,1,3]", "group=3, dilation=[2], pad=[2,2]", "T[1,3,9]", 0},
    {"conv", "T[1,2,3,4,5]; T[2,2,2,1,3]", "", "T[1,2,2,4,3]", 0},
    {"conv", "T[1,2,5]; T[6,1,2]", "group=2", "T[1,6,4]", 0},
    {"conv_packed", "T[2,2,3,4,4]; T[1,2,2,3,4,4]", "pad=[1,0,1,1], stride=[1,2]", "S[2,1,4,2,4]",
     0},
    {"conv_packed", "T[1,3,3,4]; T[2,2,2,3,4]", "dilation=[1,2]", "S[1,2,2,2,4]", 0},
    {"conv_packed", "T[1,2,3,3,4]; T[2,1,2,2,6,4]", "channels=6", "S[1,2,2,2,4]", 0},
    {"conv_packed", "T[1,2,3,3,4]; T[2,2,1,1,3,4]", "channels=6, parts=2", "S[1,2,3,3,4]", 0},
    {"conv_packed", "T[1,2,3,3,4]; T[3,2,2,2,4]", "stride=[2,1], pad=[1,0,0,1]", "S[1,3,2,3]", 0},
    {"conv_packed", "T[1,2,3,3,4]; T[3,2,2,2,4]", "group=2",
     "error: x and w have different channels", 0},
    {"conv_packed", "u8[1,2,3,3,4]; i8[2,2,2,2,1,3,4]", "pad=[1,0,1,1], fill=7", "i32[1,2,4,3,3]",
     0},
    {"conv_packed", "i8[1,2,3,3,8]; i8[2,1,1,1,3,4,4]", "channels=11, fill=-3", "i32[1,2,3,3,4]",
     0},
    {"conv_packed", "i8[1,2,3,3,4]; i32[2,2,2,4]", "group=8, pad=[1,1,1,1], fill=-128",
     "i32[1,2,4,4,4]", 0},
    {"conv_packed", "bf16[1,2,3,3,4]; bf16[2,1,2,2,3,4,2]", "channels=5, pad=[1,0,1,1]",
     "f32[1,2,4,3,4]", 0},
    {"conv_packed", "f16[1,2,3,4,4]; f16[2,1,1,1,2,4,2]", "group=2", "f32[1,2,3,4,4]", 0},
    {"conv_packed", "bf16[1,2,3,3,4]; bf16[1,2,1,1,2,4,2]", "group=2, channels=6, parts=2",
     "error: x and w have different channels", 0},
    {"conv_packed", "bf16[1,3,5,7]; bf16[2,3,2,3,4,2]", "pad=[1,1,1,2], stride=[1,2]",
     "f32[1,2,5,4,4]", 0},
    {"conv_packed", "bf16[1,3,5,7]; bf16[2,3,2,3,4,2]", "dilation=[1,2]",
     "error: x and w have different channels", 0},
    {"conv_packed", "bf16[1,2,3,3,4]; f32[2,2,2,4]", "group=8", "f32[1,2,2,2,4]", 0},
    {"conv_winograd", "bf16[1,1,4,6,4]; f32[16,1,1,4,4]", "tile=3, taps=2", "f32[1,1,3,5,4]", 1e-5},
    {"depthwise_packed", "u8[1,2,3,5,4]; i8[2,3,2,1,4,4]", "taps=3, pad=[1,1,1,1], fill=7",
     "i32[1,2,3,5,4]", 0},
    {"depthwise_packed", "u8[1,1,1,9,8]; i8[1,3,1,1,8,4]",
     "taps=3, stride=[2,2], pad=[1,1,2,2], fill=12", "i32[1,1,1,5,8]", 0},
    {"depthwise_packed", "i8[2,1,4,7,3]; i8[1,2,1,2,3,2]",
     "taps=3, stride=[1,2], pad=[0,1,1,2], fill=-9", "i32[2,1,4,4,3]", 0},
    {"depthwise_packed", "u8[1,2,3,5,4]; i8[2,3,3,1,4,4]", "taps=3",
     "error: the windows of 3 phases take 5 columns of 4", 0},
    {"matmul_packed", "u8[2,3,8]; i8[2,2,5,4]", "", "i32[2,3,2,5]", 0},
    {"matmul_packed", "bf16[2,3,8]; bf16[2,4,5,2]", "", "f32[2,3,2,5]", 0},
    {"matmul_packed", "f16[2,3,8]; f32[2,8,5]", "", "f32[2,3,2,5]", 0},
    {"conv_packed", "T[1,2,3,3,4]; T[2,2,2,4]", "group=8", "S[1,2,2,2,4]", 0},
    {"conv_packed", "T[1,4,2,2,4]; T[2,2,1,1,4,4]", "group=2", "S[1,2,2,2,4]", 0},
    {"conv_packed", "T[1,2,2,2,4]; T[2,1,1,1,3,4]", "group=2, channels=6", "S[1,2,2,2,4]", 0},
    {"conv_packed", "T[1,4,2,2,4]; T[2,2,1,1,5,4]", "group=2, channels=20, parts=4",
     "error: x and w have different channels", 0},
    {"conv_packed", "T[1,8,2,2,4]; T[2,2,1,1,5,4]", "group=2, channels=20, parts=4", "S[1,2,2,2,4]",
     0},
    {"conv_packed", "T[1,4,2,2,4]; T[4,1,1,1,3,4]", "group=4, channels=12, parts=2", "S[1,4,2,2,4]",
     0},
    {"conv_packed", "T[1,6,2,2,4]; T[2,3,1,1,3,4]", "group=2, channels=15, parts=3, shuffle=true",
     "error: x and w have different channels", 0},
    {"conv_packed", "T[1,4,2,2,4]; T[2,2,1,2,3,4]",
     "group=2, channels=12, parts=2, shuffle=true, pad=[0,1,0,0]", "S[1,2,2,2,4]", 0},
    {"conv_transpose", "T[2,4,3,3]; T[4,3,3,2]; T[6]",
     "group=2, stride=[2,3], pad=[1,0,0,1], output_pad=[1,0]", "T[2,6,7,7]", 0},
    {"conv_transpose", "T[1,2,4]; T[2,2,3]", "stride=[2], dilation=[3]", "T[1,2,13]", 0},
    {"conv_transpose", "T[1,2,4]; T[2,2,4]", "stride=[2], dilation=[2]", "T[1,2,13]", 0},
    {"conv_transpose", "T[1,2,4]; T[2,2,4]", "stride=[2], pad=[1,1]", "T[1,2,8]", 0},
    {"conv_transpose", "T[1,1,2,2,3]; T[1,2,2,1,2]", "stride=[1,2,2]", "T[1,2,3,3,6]", 0},
    {"conv_winograd", "T[1,2,5,7,4]; T[16,2,2,4,4]", "tile=2, taps=3, pad=[1,1,1,1]",
     "S[1,2,5,7,4]", 1e-5},
    {"conv_winograd", "T[2,1,9,6,4]; T[36,1,1,4,4]", "tile=4, taps=3, pad=[0,1,1,0]",
     "S[2,1,8,5,4]", 1e-4},
    {"conv_winograd", "T[1,1,7,8,4]; T[64,1,1,4,4]", "tile=4, taps=5, pad=[2,2,2,2]",
     "S[1,1,7,8,4]", 1e-3},
    {"conv_winograd", "T[1,1,4,6,4]; T[16,1,1,4,4]", "tile=3, taps=2", "S[1,1,3,5,4]", 1e-5},
    {"conv_winograd", "T[1,4,5,7,4]; T[16,6,2,4,4]", "tile=2, taps=3, group=2", "S[1,6,3,5,4]",
     1e-5},
    {"conv_winograd", "T[1,1,4,6,4]; T[36,1,1,4,4]", "tile=3, taps=2",
     "error: x and u have different channels, or u another size", 0},
    {"conv_winograd", "T[1,1,4,6,4]; T[25,1,1,4,4]", "tile=3, taps=3",
     "error: no transform gives tiles of 3 with 3 taps", 0},
    {"couple", "T[3,2,2]: 9 .3 .7 9 9 .9 .1 9 9 .5 .5 9", "", "T[2,3]", 1e-5},
    {"couple", "T[1,3,3]: 9 .3 .6 .7 9 .2 .4 .8 9", "", "T[3,1]", 1e-5},
    {"couple", "T[1,3,2]", "", "error: pairs T[1,3,2], wanted [rows, k, k] with k of 2 to 32", 0},
    {"cumprod", "T[2,5]", "axis=1, reverse=true", "T[2,5]", 0},
    {"cumsum", "T[2,5]", "axis=1", "T[2,5]", 0},
    {"cumsum", "T[2,5,2]", "axis=1, exclusive=true, reverse=true", "T[2,5,2]", 0},
    {"cumsum", "T[2,530]", "axis=1", "T[2,530]", 0},
    {"cumsum", "T[530,2]", "axis=0, exclusive=true, reverse=true", "T[530,2]", 0},
    {"depth_to_space", "T[2,8,2,3]", "block=2", "T[2,2,4,6]", 0},
    {"depth_to_space", "T[2,8,2,3]", "block=2, order=crd", "T[2,2,4,6]", 0},
    {"expand", "T[3,1]", "shape=[2,1,4]", "T[2,3,4]", 0},
    {"det", "T[3,2,2]", "", "T[3]", 0},
    {"det", "T[5,5]", "", "T[]", 1e-4},
    {"det", "T[3,3]: 0 0 0 1 2 3 4 5 6", "", "T[]: 0", 0},
    {"det", "T[3,3]: 0 2 0 0 0 3 4 0 0", "", "T[]: 24", 0},
    {"det", "T[1,2,0,0]", "", "T[1,2]: 1 1", 0},
    {"det", "T[3,2]", "", "error: matrices of 3 rows and 2 columns", 0},
    {"eye", "", "k=-1", "T[3,4]", 0},
    {"gather", "T[3,4]; i32[2,2]: 0 3 -1 1", "axis=1", "T[3,2,2]", 0},
    {"take", "T[3,4]; i64[]: 2", "axis=1", "T[3]", 0},
    {"take", "T[3,4]; i64[]: 9", "reverse=true", "T[4]", 0},
    {"gather_elements", "T[3,4]; i64[3,2]: 0 3 -1 1 2 -4", "axis=1", "T[3,2]", 0},
    {"gather_nd", "T[2,3,4]; i64[2,2,1]: 0 2 -1 1", "batch=1", "T[2,2,4]", 0},
    {"tree_walk",
     "T[3,2]; i32[5]: 0 0 0 0 1; T[5]: 0 0 0 1 -1; i32[5,2]: 0 0 1 1 2 2 0 4 1 2; i32[1,2]: 3 4",
     "depth=2", "i32[3,2]", 0},
    {"grid_sample", "T[2,2,3,4]; T[2,2,3,2]", "padding=reflection", "T[2,2,2,3]", 0.02},
    {"grid_sample", "T[1,2,3,4]; T[1,2,3,2]: 0 0 3.5 1 -0.5 0 2.25 1.5 3 2 9 9", "elements=true",
     "T[1,2,2,3]", 0},
    {"group_norm", "T[2,4,3]; T[4]; T[4]", "groups=2", "T[2,4,3]", 0},
    {"gru", "T[4,2,3]; T[15,3]; T[15,5]; T[30]; _; T[2,5]", "", "T[4,2,5]; T[2,5]", 5e-6},
    {"gru", "T[3,2,3]; T[15,3]; T[15,5]; T[30]; i32[2]: 1 3", "late=true, reverse=true",
     "T[3,2,5]; T[2,5]", 5e-6},
    {"gru", "T[2,1,3]; T[51,3]; T[51,17]; _; _; T[1,17]",
     "late=true, clip=0.75, cell=softsign, gate=hard_sigmoid, alpha=[1,0.25], beta=[0,0.5]",
     "T[2,1,17]; T[1,17]", 5e-6},
    {"gru", "T[2,1,3]; T[15,3]; T[15,5]; T[15]", "", "error: the bias is T[15], wanted T[30]", 0},
    {"gru_step", "T[2,3,3,4]; T[2,3,4]; T[2,12]; T[3,10,3,4]; T[3,1,4]", "", "T[2,3,4]", 5e-6},
    {"gru_step", "f32[2,3,3,4]; f32[2,3,4]; bf16[2,12]; bf16[3,5,3,4,2]; f32[3,1,4]", "",
     "f32[2,3,4]", 5e-6},
    {"gru_step", "T[2,3,3,4]; T[2,3,4]", "cell=relu, gate=elu", "T[2,3,4]", 5e-6},
    {"gru_step", "T[2,3,3,4]; T[2,3,4]; T[2,9]; T[3,10,3,4]", "",
     "error: the operands do not fit each other", 0},
    {"hardmax", "T[3,4]", "axis=0", "T[3,4]", 0},
    {"instance_norm", "T[2,3,2,4]; T[3]; T[3]", "", "T[2,3,2,4]", 0},
    {"interleave", "T[2,3]; T[2,3]; T[2,2]", "axis=1", "T[2,8]", 0},
    {"layer_norm", "T[2,3,4]; T[3,4]; T[4]", "axis=1", "T[2,3,4]", 0},
    {"log_softmax", "T[3,4,2]", "axis=1", "T[3,4,2]", 0},
    {"lp_pool", "T[1,2,5,5]", "kernel=[2,3], p=3, pad=[1,0,0,0]", "T[1,2,5,3]", 0},
    {"lp_pool", "T[1,2,5]", "kernel=[2]", "T[1,2,4]", 0},
    {"lrn", "T[2,5,2,2]", "size=3", "T[2,5,2,2]", 0},
    {"lrn", "T[2,5]", "size=4, bias=2, alpha=0.5, beta=0.5", "T[2,5]", 0},
    {"lstm", "T[4,2,3]; T[20,3]; T[20,5]; T[40]", "", "T[4,2,5]; T[2,5]; T[2,5]", 5e-6},
    {"lstm", "T[3,2,3]; T[20,3]; T[20,5]; T[40]; i32[2]: 3 1; T[2,5]; T[2,5]; T[15]",
     "reverse=true, clip=1.5", "T[3,2,5]; T[2,5]; T[2,5]", 5e-6},
    {"lstm", "T[3,1,3]; T[68,3]; T[68,17]; _; _; T[1,17]; T[1,17]",
     "coupled=true, cell=scaled_tanh, gate=affine, hidden=leaky_relu, alpha=[0.5,0.25,0.125], "
     "beta=[0.75,0.5,0]",
     "T[3,1,17]; T[1,17]; T[1,17]", 1e-4},
    {"lstm", "T[2,2,3]; T[20,3]; T[20,5]; T[40]; i64[2]: 1 2", "",
     "error: lengths are i64[2], wanted i32[2]", 0},
    {"lstm", "T[2,2,3]; T[20,3]; T[20,5]", "alpha=[1]", "error: alpha has 1 numbers, wanted 3", 0},
    {"lstm_step", "T[2,3,4,4]; T[2,3,4]; T[2,12]; T[3,10,4,4]; T[3,3,4]", "", "T[2,3,4]; T[2,3,4]",
     5e-6},
    {"lstm_step", "f32[2,3,4,4]; f32[2,3,4]; bf16[2,12]; bf16[3,5,4,4,2]; f32[3,3,4]", "",
     "f32[2,3,4]; f32[2,3,4]", 5e-6},
    {"lstm_step", "f32[2,3,4,4]; f32[2,3,4]; f16[2,12]; f16[3,10,4,4]", "",
     "f32[2,3,4]; f32[2,3,4]", 5e-6},
    {"lstm_step", "f32[2,3,4,4]; f32[2,3,4]; bf16[2,12]; f16[3,10,4,4]", "",
     "error: the operands do not fit each other", 0},
    {"lstm_step", "T[2,3,4,4]; T[2,3,4]", "coupled=true", "T[2,3,4]; T[2,3,4]", 5e-6},
    {"lstm_step", "T[2,3,4,4]; T[2,3,4]; T[2,12]", "", "error: the operands do not fit each other",
     0},
    {"matmul", "T[2,3,5]; T[5,4]", "", "T[2,3,4]", 0},
    {"matmul", "T[2,1,3,5]; T[3,5,4]", "", "T[2,3,3,4]", 0},
    {"matmul", "T[5]; T[3,5,2]", "", "T[3,2]", 0},
    {"max_pool", "T[2,3,5,6]", "kernel=[3,2], stride=[2,1], pad=[1,0,1,1]", "T[2,3,3,6]", 0},
    {"max_pool", "T[2,2,5,6]", "kernel=[3,2], stride=[2,3], pad=[1,0,1,1], indices=true",
     "T[2,2,3,2]; i64[2,2,3,2]", 0},
    {"max_pool", "T[1,2,3,4,5]",
     "kernel=[2,2,2], dilation=[1,2,1], ceil=true, indices=true, column_major=true",
     "T[1,2,2,2,4]; i64[1,2,2,2,4]", 0},
    {"max_unpool", "T[1,2,2,2]; i64[1,2,2,2]: 5 2 8 15 16 19 29 30", "kernel=[2,2], stride=[2,2]",
     "T[1,2,4,4]", 0},
    {"max_unpool", "T[1,1,4]; i64[1,1,4]: 1 1 3 3", "kernel=[3], pad=[1,1]", "T[1,1,4]", 0},
    {"max_unpool", "T[2,1,2]; i64[2,1,2]: 2 1 3 5", "kernel=[2], dilation=[2]",
     "fails: place 3 is outside of its window -> T[2,1,4]", 0},
    {"max_unpool", "T[2,1,2]; i64[2,1,2]: 2 1 4 5", "kernel=[2], dilation=[2]", "T[2,1,4]", 0},
    {"max_unpool", "T[2,1,2]; i32[2,1,2]", "kernel=[2]",
     "error: the places are i32[2,1,2], x is T[2,1,2]", 0},
    {"one_hot", "i64[3]; T[2]", "depth=[4]", "T[3,4]", 0},
    {"pack", "T[2,5,3]", "block=4", "T[2,2,3,4]", 0},
    {"pack", "T[2,10,3]", "block=4, parts=2", "T[2,4,3,4]", 0},
    {"pack", "T[10,3]", "axis=0, block=4, parts=2, shuffle=true", "T[4,3,4]", 0},
    {"pack", "T[16]", "axis=0, block=4, parts=2, shuffle=true", "T[4,4]", 0},
    {"pad", "T[3,4]; T[]", "pad=[1,-1,0,2]", "T[4,5]", 0},
    {"pad", "T[3,4]", "pad=[1,3,2,0], mode=reflect", "T[6,7]", 0},
    {"random", "u64[]: 7", "", "T[3,4]", 0},
    {"random", "u64[]: 7", "kind=normal", "T[2,5]", 0},
    {"random", "u32[]", "", "error: the key is u32[], wanted u64[]", 0},
    {"range", "T[]; T[]", "count=[5]", "T[5]", 0},
    {"reduce_l1", "T[3,4,2]", "axes=[1]", "T[3,1,2]", 0},
    {"reduce_l2", "T[3,4,2]", "axes=[0,2], keepdims=false", "T[4]", 0},
    {"reduce_log_sum", "T[2,2]: 1 2 0.5 0.25", "axes=[1]", "T[2,1]", 0},
    {"reduce_log_sum_exp", "T[3,4,2]", "axes=[1], keepdims=false", "T[3,2]", 0},
    {"reduce_max", "T[3,4,2]", "axes=[1]", "T[3,1,2]", 0},
    {"reduce_mean", "T[3,4,2]", "axes=[1,2]", "T[3,1,1]", 0},
    {"reduce_mean", "T[300]", "", "T[1]", 0},
    {"reduce_min", "T[3,4,2]", "keepdims=false", "T[]", 0},
    {"reduce_prod", "T[3,4,2]", "axes=[0]", "T[1,4,2]", 0},
    {"reduce_sum", "T[3,4,2]", "axes=[0,1]", "T[1,1,2]", 0},
    {"reduce_sum_square", "T[3,4,2]", "axes=[2], keepdims=false", "T[3,4]", 0},
    {"reshape", "T[2,3,4]", "shape=[4,3,2]", "T[4,3,2]", 0},
    {"reshape", "T[2,6,5]", "shape=[2,2,3,5]", "T[2,2,3,5]", 0},
    {"reshape", "T[2,3,2,5]", "shape=[6,10]", "T[6,10]", 0},
    {"resize", "T[2,3,4]", "shape=[2,5,3]", "T[2,5,3]", 0},
    {"rms_norm", "T[2,3,4]; T[4]", "", "T[2,3,4]", 0},
    {"rnn", "T[4,2,3]; T[5,3]; T[5,5]; T[10]; i32[2]: 4 2; T[2,5]", "cell=softplus",
     "T[4,2,5]; T[2,5]", 5e-6},
    {"rnn", "T[3,2,3]; T[16,3]; T[16,16]", "reverse=true, cell=thresholded_relu, alpha=[0.25]",
     "T[3,2,16]; T[2,16]", 5e-6},
    {"rnn", "T[3,2,3]; T[5,4]; T[5,5]", "", "error: w is T[5,4], wanted T[5,3]", 0},
    {"roi_align", "T[2,2,5,6]; T[3,4]: 0 0 5 4 1 1 2.5 6 -3 2 4 3; i64[3]: 1 0 1",
     "shape=[2,3], ratio=2", "T[3,2,2,3]", 0},
    {"roi_align", "T[2,2,5,6]; T[3,4]: 0 0 5 4 1 1 2.5 6 -3 2 4 3; i64[3]: 1 0 1",
     "shape=[2,3], ratio=2, mode=best, half=true", "T[3,2,2,3]", 0},
    {"roi_align", "T[2,2,5,6]; T[3,4]: 0 0 10 8 2 2 5 12 -6 4 8 6; i64[3]: 1 0 1",
     "shape=[2,3], scale=0.5", "T[3,2,2,3]", 0},
    {"roi_align", "T[1,1,7,9]; T[3,4]: -9 -9 20 20 0 0 0 0 3 1 8.5 1.25; i64[3]: 0 0 0",
     "shape=[2,1], half=true", "T[3,1,2,1]", 0},
    {"roi_align", "T[1,2,7,9]; T[4,4]: -9 -9 20 20 0 0 0 0 3 1 8.5 1.25 3 3 1 1; i64[4]: 0 0 0 0",
     "shape=[2,1], half=true, mode=best", "T[4,2,2,1]", 0},
    {"roi_align", "T[1,2,7,9]; T[2,4]: -2 -2 20 20 1 2 6 5.5; i64[2]: 0 0",
     "shape=[1,2], mode=best", "T[2,2,1,2]", 0},
    {"roi_align",
     "T[1,1,7,9]; T[3,4]: -20000 -20000 20000 20000 0 0 inf 1 nan 1 1 nan; i64[3]: 0 0 0",
     "shape=[3,1], half=true, mode=best", "T[3,1,3,1]", 0},
    {"roi_align", "T[1,1,7,9]; T[2,4]: -9000 -9000 9000 9000 5 1 -8000 6; i64[2]: 0 0",
     "shape=[3,1]", "T[2,1,3,1]", 0},
    {"roi_align", "T[1,2,7,9]; T[2,4]; i64[2]: 0 1", "shape=[1,2]",
     "fails: index 1 is outside -> T[2,2,1,2]", 0},
    {"roi_align", "T[1,2,7,9]; T[2,5]; i64[2]", "shape=[1,2]",
     "error: x is T[1,2,7,9] and the regions are T[2,5], wanted 4 numbers each", 0},
    {"roi_max_pool", "T[2,2,5,6]; T[3,5]: 1 0 0 5 4 0 1 1 2.5 6 1 -3 2 4 3", "shape=[2,3]",
     "T[3,2,2,3]", 0},
    {"roi_max_pool", "T[2,2,5,6]; T[3,5]: 1 0 0 10 8 0 9 9 20 20 0 -3 2 4 3",
     "shape=[3,4], scale=0.5", "T[3,2,3,4]", 0},
    {"scatter_elements", "T[3,4]; i32[2,3]: 0 3 1 -1 -2 0; T[2,3]", "axis=1", "T[3,4]", 0},
    {"scatter_elements", "T[3,4]; i64[2,3]: 0 0 0 -1 -2 0; T[2,3]", "", "T[3,4]", 0},
    {"scatter_nd", "T[3,4]; i64[2,2,1]: 0 2 -3 1; T[2,2,4]", "", "T[3,4]", 0},
    {"scatter_nd", "T[3,4]; i64[3,2]: 0 2 -1 1 0 2; T[3]", "", "T[3,4]", 0},
    {"search_sorted", "T[3,2]; T[5]: 0 1 1 1 1", "", "i64[3,2]", 0},
    {"search_sorted", "T[3,2]; T[1]: 1", "", "i64[3,2]", 0},
    {"shape", "T[2,3,4]", "start=1", "i64[2]", 0},
    {"size", "T[2,3,4]", "", "i64[]", 0},
    {"slice", "T[4,5]", "begin=[3,1], shape=[2,2], step=[-2,3]", "T[2,2]", 0},
    {"softmax", "T[3,4,2]", "axis=1", "T[3,4,2]", 0},
    {"space_to_depth", "T[2,2,4,6]", "block=2", "T[2,8,2,3]", 0},
    {"split", "T[3,7]", "axis=1, parts=3", "T[3,3]; T[3,3]; T[3,1]", 0},
    {"tile", "T[2,3]", "repeats=[2,3]", "T[4,9]", 0},
    {"top_k", "T[3,7]", "k=[4]", "T[3,4]; i64[3,4]", 0},
    {"top_k", "T[3,7,2]", "axis=1, k=[3], least=true", "T[3,3,2]; i64[3,3,2]", 0},
    {"transpose", "T[2,3,4]", "perm=[1,2,0]", "T[3,4,2]", 0},
    {"triangle", "T[2,3,4]", "k=1", "T[2,3,4]", 0},
    {"unpack", "T[2,2,3,4]", "extent=[5]", "T[2,5,3]", 0},
    {"unpack", "T[2,4,3,4]", "extent=[10], parts=2", "T[2,10,3]", 0},
    {"unpool", "T[1,2,2,3]: 1 2 3 4 5 6 7 8 9 10 11 12; i64[1,2,2,3]: 1 1 3 5 5 7 9 10 -1 13 14 15",
     "kernel=[2,2], pad=[0,0,1,1], size=[2,4]", "T[1,2,2,4]: 0 3 0 3 0 9 0 6 0 7 8 0 0 10 11 12",
     0},
    {"unpool", "T[1,1,2]; i64[1,1,2]: 2 4", "kernel=[2], stride=[2], dilation=[2], size=[5]",
     "T[1,1,5]", 0},
    {"unpool", "T[1,1,2]; i64[1,2,2]", "kernel=[2], size=[5]",
     "error: the places are i64[1,2,2], x is T[1,1,2]", 0},
    {"unpack", "T[4,3,4]", "axis=0, extent=[10], parts=2, shuffle=true", "T[10,3]", 0},
};

/* `T` in types, where it stands before a dimension list; `S` is the type of its packed sums. */
static const char *rows_typed(wick_arena *mem, const char *s, wick_elem e)
{
  wick_text t = wick_text_begin(mem);
  for (; *s; s++)
    if ((*s == 'T' || *s == 'S') && s[1] == '[')
      wick_text_add(&t, wick_elem_name(*s == 'T' ? e : wick_packed_sum(e)));
    else
      wick_text_char(&t, *s);
  return t.at;
}

static void test_lines(void **state)
{
  (void)state;
  static const wick_elem elems[] = {WICK_F64, WICK_F32, WICK_F16, WICK_BF16, WICK_I64,
                                    WICK_I32, WICK_I8,  WICK_U8,  WICK_U64,  WICK_BOOL};
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  for (size_t i = 0; i < WICK_COUNT(lines); i++) {
    wick_opcode op = wick_op_find(lines[i].op, strlen(lines[i].op));
    for (size_t k = 0; k < WICK_COUNT(elems); k++) {
      if (wick_ops[op]->elems && !(wick_ops[op]->elems & WICK_BIT(elems[k]))) continue;
      row_case line = lines[i];
      line.in = rows_typed(&mem, line.in, elems[k]);
      line.want = rows_typed(&mem, line.want, elems[k]);
      row_check(&line, 1);
    }
  }
  wick_arena_free(&mem);
}

/* Tensor rows have a reference, stages or an expansion, and a line above. */
static void test_all(void **state)
{
  (void)state;
  for (wick_opcode op = 1; op < WICK_NOP; op++) {
    const wick_op *row = wick_ops[op];
    if (row->scalar || !(row->level & WICK_GRAPH) || !row->ref) continue;
    bool found = false;
    for (size_t i = 0; i < WICK_COUNT(lines); i++)
      found = found || strcmp(lines[i].op, row->name) == 0;
    if (strstr(row->name, "_packed")) found = true; /* these have tests of their own */
    if (row->host) found = true;                    /* tests/import/test_text.py */
    bool made = row->host || row->compute || row->expand ||
                op == WICK_OP_retype;      /* a view, and nothing else */
    found = found || op == WICK_OP_retype; /* graph/subbyte.test, tests/python/test_cases.py */
    if (!found || !made) print_error("%s\n", row->name);
    assert_true(found && made);
  }
}

int main(void)
{
  row_expand = wick_pass_expand_rows;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
