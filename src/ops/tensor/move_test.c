/* Operators that move elements: slices, pads, repeats, gathers; tensors made from indices;
 * running sums. */
#include "ops/operator_testing.h"
#include "ops/tensor/slice.h"

static const row_case moves[] = {
    {"slice", "f32[5]: 1 2 3 4 5", "begin=[1], shape=[2]", "f32[2]: 2 3", 0},
    {"slice", "f32[5]: 1 2 3 4 5", "begin=[4], shape=[3], step=[-2]", "f32[3]: 5 3 1", 0},
    {"slice", "f32[2,3]: 1 2 3 4 5 6", "begin=[0,1], shape=[2,1]", "f32[2,1]: 2 5", 0},
    {"slice", "f32[5]", "begin=[5], shape=[0]", "f32[0]", 0},
    {"slice", "f32[N[3..9]]", "begin=[1], shape=[N - 2]", "f32[N - 2]", 0},
    {"slice", "f32[5]", "begin=[4], shape=[2]", "error: axis 0: elements 4 to 5 of 5", 0},
    {"slice", "f32[5]", "begin=[4], shape=[2], step=[0]", "error: the step of axis 0 is 0", 0},
    {"slice", "f32[5,2]", "begin=[4], shape=[2]", "error: begin has 1 numbers, x has rank 2", 0},
    {"pad", "f32[3]: 1 2 3", "pad=[1,2]", "f32[6]: 0 1 2 3 0 0", 0},
    {"pad", "f32[3]: 1 2 3; f32[]: 7", "pad=[-1,1]", "f32[3]: 2 3 7", 0},
    {"pad", "f32[3]: 1 2 3", "pad=[4,3], mode=reflect", "f32[10]: 1 2 3 2 1 2 3 2 1 2", 0},
    {"pad", "f32[1]: 5", "pad=[1,2], mode=reflect", "f32[4]: 5 5 5 5", 0},
    {"pad", "f32[3]: 1 2 3", "pad=[2,1], mode=edge", "f32[6]: 1 1 1 2 3 3", 0},
    {"pad", "f32[3]: 1 2 3", "pad=[4,2], mode=wrap", "f32[9]: 3 1 2 3 1 2 3 1 2", 0},
    {"pad", "f32[2,2]: 1 2 3 4", "pad=[0,1,1,0], mode=reflect", "f32[3,3]: 2 1 2 4 3 4 2 1 2", 0},
    {"pad", "f32[0]", "pad=[1,0], mode=edge", "error: dimension 0 of x has no elements to repeat",
     0},
    {"pad", "f32[2,2]", "pad=[1,0]", "error: pad has 2 numbers, expected 4", 0},
    {"broadcast_to", "f32[2,1]: 1 2", "shape=[3,1,2]", "f32[3,2,2]: 1 1 2 2 1 1 2 2 1 1 2 2", 0},
    {"broadcast_to", "f32[]: 4", "shape=[2]", "f32[2]: 4 4", 0},
    {"broadcast_to", "f32[3]: 1 2 3", "shape=[1]", "f32[3]: 1 2 3", 0},
    {"broadcast_to", "f32[1,3]", "shape=[N,3]", "f32[N[1..9],3]", 0},
    {"broadcast_to", "f32[2]", "shape=[3]", "error: shapes do not broadcast: [2] and [3]", 0},
    {"tile", "f32[2]: 1 2", "repeats=[3]", "f32[6]: 1 2 1 2 1 2", 0},
    {"tile", "f32[1,2]: 1 2", "repeats=[2,2]", "f32[2,4]: 1 2 1 2 1 2 1 2", 0},
    {"depth_to_space", "f32[1,4,1,2]: 1 2 3 4 5 6 7 8", "block=2", "f32[1,1,2,4]: 1 3 2 4 5 7 6 8",
     0},
    {"depth_to_space", "f32[1,8,1,1]: 0 1 2 3 4 5 6 7", "block=2", "f32[1,2,2,2]: 0 2 4 6 1 3 5 7",
     0},
    {"depth_to_space", "f32[1,8,1,1]: 0 1 2 3 4 5 6 7", "block=2, order=crd",
     "f32[1,2,2,2]: 0 1 2 3 4 5 6 7", 0},
    {"space_to_depth", "f32[1,2,2,2]: 0 2 4 6 1 3 5 7", "block=2", "f32[1,8,1,1]: 0 1 2 3 4 5 6 7",
     0},
    {"space_to_depth", "f32[1,1,2,3]", "block=2", "error: dimension 3 is 3, in blocks of 2", 0},
};

static const row_case gathers[] = {
    {"gather", "f32[3,2]: 1 2 3 4 5 6; i64[2]: 2 -3", "", "f32[2,2]: 5 6 1 2", 0},
    {"gather", "f32[2,3]: 1 2 3 4 5 6; i32[]: 1", "axis=1", "f32[2]: 2 5", 0},
    {"gather", "f32[2,3,2]; i32[2,2]: 0 -1 2 1", "axis=1", "f32[2,2,2,2]", 0},
    {"gather", "f32[3]; u8[1]: 3", "", "fails: index 3 is outside [-3, 2] -> f32[1]", 0},
    {"dynamic_index", "f32[3,2]: 1 2 3 4 5 6; i64[]: 1", "", "f32[2]: 3 4", 0},
    {"dynamic_index", "f32[2,3]: 1 2 3 4 5 6; i64[]: 0", "axis=1, reverse=true", "f32[2]: 3 6", 0},
    {"dynamic_index", "f32[3]: 1 2 3; i64[]: -5", "", "f32[]: 1", 0},
    {"dynamic_index", "f32[3]: 1 2 3; i64[]: 7", "", "f32[]: 3", 0},
    {"dynamic_index", "f32[3]; i64[1]", "", "error: the index is no i64 of rank 0", 0},
    {"dynamic_index", "f32[0]; i64[]", "", "error: there is nothing along axis 0", 0},
    {"gather", "f32[3]; f32[1]", "", "error: the indices are f32, expected integers", 0},
    {"gather_elements", "f32[2,2]: 1 2 3 4; i64[2,2]: 0 0 1 -2", "axis=1", "f32[2,2]: 1 1 4 3", 0},
    {"gather_elements", "f32[3,3]: 1 2 3 4 5 6 7 8 9; i64[2,3]: 1 2 0 2 0 0", "",
     "f32[2,3]: 4 8 3 7 2 3", 0},
    {"gather_elements", "f32[2,2]; i64[2,3]", "", "error: dimension 1 of the indices is 3, x has 2",
     0},
    {"gather_nd", "f32[2,2]: 1 2 3 4; i64[2,2]: 0 0 1 -1", "", "f32[2]: 1 4", 0},
    {"gather_nd", "f32[2,2]: 1 2 3 4; i64[2,1]: 1 0", "", "f32[2,2]: 3 4 1 2", 0},
    {"gather_nd", "f32[2,2,2]: 1 2 3 4 5 6 7 8; i64[2,1]: 1 0", "batch=1", "f32[2,2]: 3 4 5 6", 0},
    {"gather_nd", "f32[2,2]; i64[2,3]", "",
     "error: tuples of 3 indices after 0 batch dimensions into f32[2,2]", 0},
};

static const row_case searches[] = {
    {"search_sorted", "f32[6]: 0 1 2 3 9 nan; f32[3]: 1 2 4", "", "i64[6]: 0 0 1 2 3 0", 0},
    {"search_sorted", "u8[2,2]: 0 200 7 255; u8[4]: 5 7 200 255", "", "i64[2,2]: 0 2 1 3", 0},
    {"search_sorted", "i64[3]: -5 -4 7; i64[1]: -4", "", "i64[3]: 0 0 1", 0},
    {"search_sorted", "i64[3]; i64[0]", "",
     "error: the list is i64[0], expected a vector of at least one element", 0},
    {"search_sorted", "i64[3]; i32[2]", "", "error: the list is i32, expected i64", 0},
};

/* Leaves 0 to 2; node 3 splits column 0 at 1, node 4 column 1 at -1. */
#define TREE "i32[5]: 0 0 0 0 1; f32[5]: 0 0 0 1 -1; i32[5,2]: 0 0 1 1 2 2 0 4 1 2; "
static const row_case trees[] = {
    {"tree_walk", "f32[3,2]: 1 5 2 -1 2 0; " TREE "i32[1,2]: 3 4", "depth=2",
     "i32[3,2]: 0 2 1 1 2 2", 0},
    {"tree_walk", "f32[3,2]: 1 5 2 -1 2 0; " TREE "i32[2,1]: 3 4", "depth=2, rows_last=true",
     "i32[2,3]: 0 1 2 2 1 2", 0},
    {"tree_walk", "f32[1,2]: nan nan; " TREE "i32[1,1]: 3", "depth=1", "i32[1,1]: 4", 0},
    {"tree_walk", "f32[1,2]: nan nan; " TREE "i32[1,1]: 99", "depth=3", "i32[1,1]: 2", 0},
    {"tree_walk", "f32[1,2]: 5 -5; " TREE "i32[1,1]: -1", "depth=1", "i32[1,1]: 1", 0},
    {"tree_walk", "f32[N[1..9],2]; " TREE "i32[1,2]: 3 4", "depth=1", "i32[N,2]", 0},
    {"tree_walk", "f32[3,2]; " TREE "i32[2,2]: 3 4 3 4", "depth=1",
     "error: i32[2,2] as first nodes of x f32[3,2]", 0},
    {"tree_walk", "f32[3,2]; " TREE "i64[1,1]: 3", "depth=1",
     "error: i64[1,1] as first nodes of x f32[3,2]", 0},
    {"tree_walk", "f32[3,2]; i32[2]: 0 0; f32[1]: 0; i32[2,2]: 0 0 1 1; i32[1,1]: 0", "depth=1",
     "error: 2 columns, 1 thresholds and children i32[2,2]", 0},
};

static const row_case scatters[] = {
    {"scatter_elements", "f32[3]: 1 2 3; i64[2]: 2 -3; f32[2]: 8 9", "", "f32[3]: 9 2 8", 0},
    {"scatter_elements", "f32[1,5]: 1 2 3 4 5; i64[1,3]: 1 3 1; f32[1,3]: 10 20 30", "axis=1",
     "f32[1,5]: 1 30 3 20 5", 0},
    {"scatter_elements", "f32[1,5]: 1 2 3 4 5; i64[1,3]: 1 3 1; f32[1,3]: 10 20 30",
     "axis=1, reduction=add", "f32[1,5]: 1 42 3 24 5", 0},
    {"scatter_elements", "u8[3]: 1 2 3; i64[2]: 1 1; u8[2]: 5 0", "reduction=max", "u8[3]: 1 5 3",
     0},
    {"scatter_elements", "f32[3,2]: 1 2 3 4 5 6; i64[1,1]: 2; f32[1,1]: 9", "",
     "f32[3,2]: 1 2 3 4 9 6", 0},
    {"scatter_elements", "f32[3]; i64[1]: 3; f32[1]", "",
     "fails: index 3 is outside [-3, 2] -> f32[3]", 0},
    {"scatter_elements", "f32[3]; i64[2]; f32[1]", "",
     "error: dimension 0 of the indices is 2, x has 3, the updates 1", 0},
    {"scatter_nd", "f32[4]: 1 2 3 4; i64[2,1]: 3 -4; f32[2]: 8 9", "", "f32[4]: 9 2 3 8", 0},
    {"scatter_nd", "f32[2,2]: 1 2 3 4; i64[1,1]: 1; f32[1,2]: 8 9", "reduction=mul",
     "f32[2,2]: 1 2 24 36", 0},
    {"scatter_nd", "f32[2,2]: 1 2 3 4; i64[2,2]: 1 0 1 0; f32[2]: 8 9", "reduction=min",
     "f32[2,2]: 1 2 3 4", 0},
    {"scatter_nd", "f32[2,2]; i64[1,2]: 1 -3; f32[1]", "",
     "fails: index -3 is outside [-2, 1] -> f32[2,2]", 0},
    {"scatter_nd", "f32[2,2]; i64[1,2]; f32[1,2]", "",
     "error: the updates are f32[1,2], which does not fit f32[2,2] and i64[1,2]", 0},
};

static const row_case made[] = {
    {"range", "i64[]: 3; i64[]: -2", "count=[4]", "i64[4]: 3 1 -1 -3", 0},
    {"range", "f32[]: 0.5; f32[]: 0.25", "count=[3]", "f32[3]: 0.5 0.75 1", 0},
    {"range", "f32[2]; f32[]", "count=[3]", "error: start has rank 1, expected 0", 0},
    {"one_hot", "i64[3]: 0 -1 5; f32[2]: 2 9", "depth=[3]", "f32[3,3]: 9 2 2 2 2 9 2 2 2", 0},
    {"one_hot", "i64[2]: 1 0; i8[2]: 0 1", "depth=[3], axis=0", "i8[3,2]: 0 1 1 0 0 0", 0},
    {"trilu", "f32[2,3]: 1 2 3 4 5 6", "", "f32[2,3]: 1 2 3 0 5 6", 0},
    {"trilu", "f32[1,3,2]: 1 2 3 4 5 6", "upper=false, k=-1", "f32[1,3,2]: 0 0 3 0 5 6", 0},
    {"eye", "", "k=1", "i32[2,3]: 0 1 0 0 0 1", 0},
    {"eye", "", "", "f16[2,2]: 1 0 0 1", 0},
    {"argmax", "f32[2,3]: 1 3 3 nan 2 nan", "axis=1", "i64[2,1]: 1 0", 0},
    {"argmax", "f32[2,3]: 1 3 3 nan 2 nan", "axis=1, last=true, keepdims=false", "i64[2]: 2 2", 0},
    {"argmin", "i8[3]: 3 -1 -1", "", "i64[1]: 1", 0},
    {"argmin", "u8[3]: 200 3 100", "keepdims=false", "i64[]: 1", 0},
    {"argmax", "f32[2,0]", "axis=1", "error: axis 1 has no elements", 0},
    {"top_k", "f32[6]: 1 nan 5 2 nan 5", "k=[1]", "f32[1]: nan; i64[1]: 1", 0},
    {"top_k", "f32[2,3]: -inf -inf -inf -1 -0 0", "k=[1]", "f32[2,1]: -inf -0; i64[2,1]: 0 1", 0},
    {"top_k", "u8[2,3]: 200 3 3 255 255 255", "k=[1], least=true", "u8[2,1]: 3 255; i64[2,1]: 1 0",
     0},
    {"top_k", "f32[5]: 1 nan 5 2 5", "k=[4]", "f32[4]: nan 5 5 2; i64[4]: 1 2 4 3", 0},
    {"top_k", "f32[5]: 1 nan 5 2 5", "k=[5], least=true", "f32[5]: 1 2 5 5 nan; i64[5]: 0 3 2 4 1",
     0},
    {"top_k", "u8[2,3]: 200 3 100 1 1 1", "k=[2]", "u8[2,2]: 200 100 1 1; i64[2,2]: 0 2 0 1", 0},
    {"top_k", "f32[0]", "k=[0]", "f32[0]; i64[0]", 0},
    {"top_k", "f32[3,5]: 1 nan 0 -0 5 1 2 -0 0 nan 3 nan inf -inf nan", "axis=0, k=[2]",
     "f32[2,5]: 3 nan inf -0 nan 1 nan 0 0 nan; i64[2,5]: 2 0 2 0 1 0 2 0 1 2", 0},
    {"top_k", "f32[3,5]: 1 nan 0 -0 5 1 2 -0 0 nan 3 nan inf -inf nan", "axis=0, k=[2], least=true",
     "f32[2,5]: 1 2 0 -inf 5 1 nan -0 -0 nan; i64[2,5]: 0 1 0 2 0 1 0 1 0 1", 0},
    {"top_k", "f32[22]: 3 0 -0 nan 9 -5 inf -inf 1 2 4 8 7 3 3 -5 0 -0 6 nan -1 5",
     "k=[20], least=true",
     "f32[20]: -inf -5 -5 -1 0 -0 0 -0 1 2 3 3 3 4 5 6 7 8 9 inf; i64[20]: 7 5 15 20 1 2 16 17 8 9 "
     "0 13 14 10 21 18 12 11 4 6",
     0},
    {"top_k", "i8[18]: 3 -7 0 127 -128 5 6 7 8 9 9 1 2 3 4 5 6 7", "k=[17]",
     "i8[17]: 127 9 9 8 7 7 6 6 5 5 4 3 3 2 1 0 -7; i64[17]: 3 9 10 8 7 17 6 16 5 15 14 0 13 12 11 "
     "2 1",
     0},
    {"top_k",
     "i8[36]: -2 9 8 -5 2 6 9 -7 -9 6 -1 8 -2 -3 6 8 8 6 3 -5 -2 -5 7 3 -9 -7 -4 9 -8 0 -9 -1 6 3 "
     "4 3",
     "k=[34]",
     "i8[34]: 9 9 9 8 8 8 8 7 6 6 6 6 6 4 3 3 3 3 2 0 -1 -1 -2 -2 -2 -3 -4 -5 -5 -5 -7 -7 -8 -9; "
     "i64[34]: 1 6 27 2 11 15 16 22 5 9 14 17 32 34 18 23 33 35 4 29 10 31 0 12 20 13 26 3 19 21 7 "
     "25 28 8",
     0},
    {"non_max_suppression",
     "f32[1,4,4]: 0 0 5 0 0 0 5 .1 2 2 7 1 2 2 7 2.1; f32[1,2,4]: .9 .8 .7 .6 nan .8 .7 -inf; "
     "i64[1,2,4]: 1 0 2 3 2 3 0 1",
     "most=[3], overlap=0.4", "i64[1,2,3]: 1 2 0 3 0 0; i64[1,2]: 2 1; bool[1,2]: 1 0", 0},
    {"non_max_suppression", "f32[1,4,2]: 0 0 0 0 2 2 2 2; f32[1,1,2]: 2 1; i64[1,1,2]: 0 1",
     "most=[1]", "i64[1,1,1]: 0; i64[1,1]: 1; bool[1,1]: 0", 0},
    {"non_max_suppression", "f32[1,3,2]; f32[1,1,2]; i64[1,1,2]", "most=[1]",
     "error: boxes f32[1,3,2], scores f32[1,1,2] and their order i64[1,1,2] do not fit each other",
     0},
    {"nonzero", "bool[6]: 0 1 1 0 0 1", "", "i64[6]: 1 2 5 5 5 5; i64[]: 3", 0},
    {"nonzero", "bool[2]: 1 1", "", "i64[2]: 0 1; i64[]: 2", 0},
    {"nonzero", "bool[0]", "", "i64[0]; i64[]: 0", 0},
    {"nonzero", "bool[2,3]: 0 1 1 0 0 1", "", "i64[2,6]: 0 0 1 1 1 1 1 2 2 2 2 2; i64[]: 3", 0},
    {"nonzero", "bool[2,0,3]", "", "i64[3,0]; i64[]: 0", 0},
    {"nonzero", "bool[1,2,2]: 0 0 0 0", "", "i64[3,4]: 0 0 0 0 1 1 1 1 1 1 1 1; i64[]: 0", 0},
    {"nonzero", "bool[]", "", "error: x has rank 0, expected 1 or more", 0},
    {"top_k", "f32[3]", "k=[4]", "error: the first 4 of 3 elements", 0},
    {"cumprod", "f32[3]: 2 3 4", "exclusive=true", "f32[3]: 1 2 6", 0},
    {"cumsum", "f32[3]: 1 2 3", "", "f32[3]: 1 3 6", 0},
    {"cumsum", "f32[3]: 1 2 3", "exclusive=true", "f32[3]: 0 1 3", 0},
    {"cumsum", "f32[3]: 1 2 3", "reverse=true", "f32[3]: 6 5 3", 0},
    {"cumsum", "i32[2,2]: 1 2 3 4", "axis=1, exclusive=true, reverse=true", "i32[2,2]: 2 0 4 0", 0},
};

/* The numbers are those of ONNX's reference implementation, except for the case with NaN: its
 * fifth coordinate is exactly 3, but less than 3 in doubles with a rounded scale. */
static const row_case resizes[] = {
    {"resize", "f32[7]: 0 1 nan 3 4 5 6", "shape=[9], mode=linear",
     "f32[9]: 0 0.66666667 nan nan 3 3.7777778 4.5555556 5.3333333 6", 1e-6},
    {"resize", "f32[4]: 1 4 2 8", "shape=[7]", "f32[7]: 1 1 4 4 2 8 8", 0},
    {"resize", "i8[4]: 1 4 2 8", "shape=[8], scale=[2], coordinates=asymmetric, nearest=floor",
     "i8[8]: 1 1 4 4 2 2 8 8", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[7], nearest=ceil, coordinates=asymmetric",
     "f32[7]: 1 4 2 2 8 8 8", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[3], nearest=round_prefer_ceil, coordinates=align_corners",
     "f32[3]: 1 2 8", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[6], scale=[1.7], mode=linear",
     "f32[6]: 1 2.14705873 3.91176462 2.88235307 2.88235259 6.41176414", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[6], mode=linear, coordinates=align_corners",
     "f32[6]: 1 2.8 3.6 2.4 4.4 8", 0},
    {"resize", "f32[4]: 1 4 2 8",
     "shape=[6], scale=[1.7], mode=linear, "
     "coordinates=half_pixel_symmetric",
     "f32[6]: 1.08823538 2.85294127 3.58823538 2.41176462 4.29411745 7.82352924", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[6], mode=cubic",
     "f32[6]: 0.739583671 2.6875 3.86921644 1.81828737 4.8125 8.52083683", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[6], mode=cubic, exclude=true, cubic=-0.5",
     "f32[6]: 0.802632391 2.52941179 3.86342454 1.92824233 5.05882359 8.39473534", 0},
    {"resize", "f32[4]: 1 2 3 4", "shape=[2], scale=[0.6], mode=linear, coordinates=align_corners",
     "f32[2]: 1 3.14285708", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[2], mode=cubic, coordinates=asymmetric", "f32[2]: 1 2",
     0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[2], mode=linear, antialias=true", "f32[2]: 2.25 5.25", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[3], mode=linear, antialias=true",
     "f32[3]: 1.81818187 3 6.36363649", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[2], mode=cubic, antialias=true",
     "f32[2]: 1.95703125 5.33203125", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[3], mode=cubic, antialias=true, exclude=true",
     "f32[3]: 1.91061234 2.84113836 6.34994316", 0},
    {"resize", "f32[4]: 1 4 2 8",
     "shape=[5], mode=linear, coordinates=crop, roi=[0.25, 1.25], outside=9",
     "f32[5]: 3.25 3 3.5 8 9", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[1], mode=linear, coordinates=pytorch_half_pixel",
     "f32[1]: 1", 0},
    {"resize", "f32[2,2]: 1 2 3 5", "shape=[3,4], mode=linear",
     "f32[3,4]: 1 1.25 1.75 2 2 2.375 3.125 3.5 3 3.5 4.5 5", 0},
    {"resize", "f32[2,2]: 1 2 3 5", "shape=[3,3], mode=cubic",
     "f32[3,3]: 0.747119188 1.28298664 1.81885517 1.86979246 2.75 3.63020992 2.9924674 4.21701574 "
     "5.44156742",
     0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[8], scale=[2], coordinates=tf_half_pixel, nearest=floor",
     "f32[8]: 1 1 4 4 2 2 8 8", 0},
    {"resize", "f32[4]: 1 4 2 8", "shape=[3], mode=linear, coordinates=tf_half_pixel",
     "f32[3]: 3 2 8", 0},
    {"resize", "f16[1,2,3,4]", "shape=[1,2,5,9], mode=linear", "f16[1,2,5,9]", 0},
    {"resize", "f32[1,1,H[1..9],4]", "shape=[1,1,2*H,8], mode=linear", "f32[1,1,2*H,8]", 0},
    {"resize", "f32[4]", "shape=[8], scale=[-2]", "error: the scale of axis 0 is -2", 0},
    {"resize", "u8[4]", "shape=[8], mode=linear",
     "error: u8 is resized to the nearest element only", 0},
    {"resize", "f32[4]", "shape=[8,1]", "error: shape has 2 numbers, x has rank 1", 0},
};

/* The numbers are those of ONNX's reference implementation. */
#define GRID_X                                                                                     \
  "f32[1,1,3,4]: 1 4 2 8 5 7 3 6 9 2 4 1; f32[1,1,5,2]: 0.3 -0.4 -1.3 0.2 0.9 1.4 -0.7 -2.6 1.9 "  \
  "0.1"
static const row_case samples[] = {
    {"grid_sample", GRID_X, "mode=linear, padding=zeros", "f32[1,1,1,5]: 2.88 0 0 0 0", 2e-5},
    {"grid_sample", GRID_X, "mode=linear, padding=zeros, align=true",
     "f32[1,1,1,5]: 2.76 3.190001 0.87 0 0", 2e-5},
    {"grid_sample", GRID_X, "mode=linear, padding=border", "f32[1,1,1,5]: 2.88 6.2 1 1.3 5.25",
     2e-5},
    {"grid_sample", GRID_X, "mode=linear, padding=border, align=true",
     "f32[1,1,1,5]: 2.76 5.8 1.45 2.35 5.5", 2e-5},
    {"grid_sample", GRID_X, "mode=linear, padding=reflection",
     "f32[1,1,1,5]: 2.88 6.13 1.500001 7.989999 4.08", 2e-5},
    {"grid_sample", GRID_X, "mode=linear, padding=reflection, align=true",
     "f32[1,1,1,5]: 2.76 5.89 3.090001 5.87 4.290001", 2e-5},
    {"grid_sample", GRID_X, "mode=nearest, padding=zeros", "f32[1,1,1,5]: 2 0 0 0 0", 2e-5},
    {"grid_sample", GRID_X, "mode=nearest, padding=zeros, align=true", "f32[1,1,1,5]: 3 5 1 0 0",
     2e-5},
    {"grid_sample", GRID_X, "mode=nearest, padding=border", "f32[1,1,1,5]: 2 5 1 1 6", 2e-5},
    {"grid_sample", GRID_X, "mode=nearest, padding=border, align=true", "f32[1,1,1,5]: 3 5 1 1 6",
     2e-5},
    {"grid_sample", GRID_X, "mode=nearest, padding=reflection", "f32[1,1,1,5]: 2 5 1 9 3", 2e-5},
    {"grid_sample", GRID_X, "mode=nearest, padding=reflection, align=true",
     "f32[1,1,1,5]: 3 5 1 9 3", 2e-5},
    {"grid_sample", GRID_X, "mode=cubic, padding=zeros",
     "f32[1,1,1,5]: 2.866128 -0.4241701 -0.02370775 0 0", 2e-5},
    {"grid_sample", GRID_X, "mode=cubic, padding=zeros, align=true",
     "f32[1,1,1,5]: 2.63477 3.490688 0.4218783 -0.1872428 -0.6072401", 2e-5},
    {"grid_sample", GRID_X, "mode=cubic, padding=border",
     "f32[1,1,1,5]: 2.553089 6.556994 0.6692509 1.259501 5.198998", 2e-5},
    {"grid_sample", GRID_X, "mode=cubic, padding=border, align=true",
     "f32[1,1,1,5]: 2.499344 6.088004 1.411751 2.4985 5.4685", 2e-5},
    {"grid_sample", GRID_X, "mode=cubic, padding=reflection",
     "f32[1,1,1,5]: 2.553089 6.523242 0.998297 8.174874 3.973537", 2e-5},
    {"grid_sample", GRID_X, "mode=cubic, padding=reflection, align=true",
     "f32[1,1,1,5]: 2.414501 6.469466 2.329804 6.597793 4.159076", 2e-5},
    {"grid_sample", "f32[1,2,5]; f32[1,3,1]", "", "f32[1,2,3]", 0},
    {"grid_sample", "f32[1,2,2,3,4]; f32[1,1,2,3,3]", "padding=border", "f32[1,2,1,2,3]", 0},
    {"grid_sample", "f32[1,2,2,3]; f32[1,2,2,3]", "",
     "error: the grid f32[1,2,2,3] does not fit f32[1,2,2,3]", 0},
};

/* ---- slices as importers have them ---- */

static void test_resolve(void **state)
{
  (void)state;
  static const struct {
    int64_t dim, start, end, step, begin, size;
  } rows[] = {
      {5, 1, 3, 1, 1, 2},           {5, -2, INT64_MAX, 1, 3, 2},  {5, 0, -1, 2, 0, 2},
      {5, 7, 9, 1, 5, 0},           {5, -1, INT64_MIN, -1, 4, 5}, {5, 9, 0, -2, 4, 2},
      {5, INT64_MIN, 2, 1, 0, 2},   {5, 3, 1, 1, 3, 0},           {0, 0, 9, 1, 0, 0},
      {5, INT64_MAX, -9, -1, 4, 5}, {5, 2, 2, -1, 2, 0},
  };
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  wick_dims *t = wick_dims_create(&mem);
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_dim begin, size;
    assert_true(wick_slice_resolve(t, wick_dim_const(rows[i].dim), wick_dim_const(rows[i].start),
                                   wick_dim_const(rows[i].end), rows[i].step, &begin, &size));
    assert_int_equal(size.v, rows[i].size);
    if (size.v) assert_int_equal(begin.v, rows[i].begin);
  }
  wick_dim n = wick_dim_symbol(t, "N", 1, 100), begin, size;
  assert_true(
      wick_slice_resolve(t, n, wick_dim_const(0), wick_dim_const(INT64_MAX), 1, &begin, &size));
  assert_true(wick_dim_is(begin, 0) && wick_dim_eq(size, n));
  assert_true(
      wick_slice_resolve(t, n, wick_dim_const(-1), wick_dim_const(INT64_MAX), 1, &begin, &size));
  assert_true(wick_dim_is(size, 1));
  assert_true(wick_slice_resolve(t, n, wick_dim_const(0), n, 1, &begin, &size));
  assert_true(wick_dim_eq(size, n));
  wick_dim any = wick_dim_symbol(t, "S", -3, 3);
  assert_true(wick_slice_resolve(t, n, any, n, 1, &begin, &size));
  for (int64_t s = -3; s <= 3; s++) {
    int64_t at;
    assert_true(wick_dim_eval(t, begin, 2, (wick_dim[]){n, any}, (int64_t[]){5, s}, &at));
    assert_int_equal(at, s < 0 ? 5 + s : s);
  }
  wick_dim wide = wick_dim_symbol(t, "S", INT64_MIN / 4, 3);
  assert_false(wick_slice_resolve(t, n, wide, n, 1, &begin, &size));
  wick_arena_free(&mem);
}

#define TEST(name)                                                                                 \
  static void test_##name(void **state)                                                            \
  {                                                                                                \
    (void)state;                                                                                   \
    row_check(name, WICK_COUNT(name));                                                             \
  }
TEST(moves)
TEST(gathers)
TEST(scatters)
TEST(made)
TEST(resizes)
TEST(samples)
TEST(trees)
TEST(searches)

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_moves),    cmocka_unit_test(test_gathers),
      cmocka_unit_test(test_scatters), cmocka_unit_test(test_made),
      cmocka_unit_test(test_resizes),  cmocka_unit_test(test_samples),
      cmocka_unit_test(test_trees),    cmocka_unit_test(test_searches),
      cmocka_unit_test(test_resolve)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
