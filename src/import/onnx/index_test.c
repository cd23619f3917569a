/* Parts of tensors: gather, slice, pad, range, resize. */
#include <stddef.h>

#include "import/onnx/onnx_testing.h"

static void test_gather(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 N,3,4; in i 7 2,5; Gather x,i -> y axis=i1; out y",
       "graph @main(%p0: f32[N[1..536870912],3,4], %p1: i64[2,5]) -> f32[N,2,5,4] {\n"
       "  %0 = gather %p0, %p1 {axis=1} : f32[N,2,5,4]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 N,3,4; in i 7 2,5; Gather x,i -> y axis=i-1; out y",
       "graph @main(%p0: f32[N[1..536870912],3,4], %p1: i64[2,5]) -> f32[N,3,2,5] {\n"
       "  %0 = gather %p0, %p1 {axis=2} : f32[N,3,2,5]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 5,3; in i 7 2,3; GatherElements x,i -> y; out y",
       "graph @main(%p0: f32[5,3], %p1: i64[2,3]) -> f32[2,3] {\n"
       "  %0 = gather_elements %p0, %p1 : f32[2,3]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 2,3,4; in i 7 2,1; GatherND x,i -> y batch_dims=i1; out y",
       "graph @main(%p0: f32[2,3,4], %p1: i64[2,1]) -> f32[2,4] {\n"
       "  %0 = gather_nd %p0, %p1 {batch=1} : f32[2,4]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 5,3; in i 1 2; Gather x,i -> y; out y",
       "m.onnx: node \"y\" (Gather): the indices are f32, expected integers"},
      {"opset 13; in x 1 5,3; in i 7 2; Gather x,i -> y axis=i2; out y",
       "m.onnx: node \"y\" (Gather): axis 2 is outside [-2, 1]"},
      {"opset 11; in x 1 N,C,7; Shape x -> s; const i 7 - = 0; Gather s,i -> g; Unsqueeze g -> u "
       "axes=I0; const m 7 1 = -1; Concat u,m -> t axis=i0; Reshape x,t -> y; out y",
       "graph @main(%p0: f32[N[1..536870912],C[1..536870912],7]) -> f32[N,7*C] {\n"
       "  %0 = reshape %p0 {shape=[N, -1]} : f32[N,7*C]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_slices(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 9; in x 1 10,N; Slice x -> a starts=I1 ends=I-1; Slice x -> b starts=I2,-3 "
       "ends=I100,-1 axes=I0,1; out a; out b",
       "graph @main(%p0: f32[10,N[1..536870912]]) -> (f32[8,N], f32[8,max(N - max(N - 3, 0) - 1, "
       "0)]) {\n"
       "  %0 = slice %p0 {begin=[1, 0], shape=[8, N]} : f32[8,N]\n"
       "  %1 = slice %p0 {begin=[2, max(N - 3, 0)], shape=[8, max(N - max(N - 3, 0) - 1, 0)]} : "
       "f32[8,max(N - max(N - 3, 0) - 1, 0)]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 10; in x 1 10,4; const s 7 1 = 8; const e 7 1 = -9223372036854775807; const a 7 1 = "
       "0; const k 7 1 = -2; Slice x,s,e,a,k -> y; out y",
       "graph @main(%p0: f32[10,4]) -> f32[5,4] {\n"
       "  %0 = slice %p0 {begin=[8, 0], shape=[5, 4], step=[-2,1]} : f32[5,4]\n"
       "  return %0\n"
       "}"},
      {"opset 10; in x 1 10,4; const s 7 1 = -1; const e 7 1 = -9223372036854775808; const a 7 1 = "
       "0; const k 7 1 = -1; Slice x,s,e,a,k -> y; out y",
       "graph @main(%p0: f32[10,4]) -> f32[10,4] {\n"
       "  %0 = slice %p0 {begin=[9, 0], shape=[10, 4], step=[-1,1]} : f32[10,4]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 10,4; const s 7 1 = 1; const e 7 1 = 9223372036854775807; Slice x,s,e -> "
       "y; out y",
       "graph @main(%p0: f32[10,4]) -> f32[9,4] {\n"
       "  %0 = slice %p0 {begin=[1, 0], shape=[9, 4]} : f32[9,4]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 10,4; const s 7 1 = 1; const e 7 1 = 3; const a 7 1 = 2; Slice x,s,e,a -> "
       "y; out y",
       "m.onnx: node \"y\" (Slice): axis 2 is outside [-2, 1]"},
      {"opset 13; in x 1 10,4; const s 7 2 = 1,1; const e 7 2 = 3,3; const a 7 2 = 0,-2; Slice "
       "x,s,e,a -> y; out y",
       "m.onnx: node \"y\" (Slice): axis 0 occurs twice"},
      {"opset 13; in x 1 10,4; const s 7 1 = 1; const e 7 2 = 3,3; Slice x,s,e -> y; out y",
       "m.onnx: node \"y\" (Slice): starts, ends and steps have 1, 2 and 0 numbers"},
      {"opset 13; in x 1 10,4; const s 7 1 = 1; const e 7 1 = 3; const a 7 1 = 0; const k 7 1 = 0; "
       "Slice x,s,e,a,k -> y; out y",
       "m.onnx: node \"y\" (Slice): the step of axis 0 is 0"},
      {"opset 13; in x 1 10,4; in s 7 1; const e 7 1 = 3; Slice x,s,e -> y; out y",
       "m.onnx: node \"y\" (Slice): starts must be known when the model is compiled"},
      {"opset 13; in x 1 N,4; in z 1 M; Shape z -> e; const s 7 1 = 0; Slice x,s,e -> y; out y",
       "graph @main(%p0: f32[N[1..536870912],4], %p1: f32[M[1..536870912]]) -> f32[min(M, N),4] {\n"
       "  %0 = slice %p0 {begin=[0, 0], shape=[min(M, N), 4]} : f32[min(M, N),4]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_pads(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 1; in x 1 2,3; Pad x -> y paddings=I0,1,0,2; out y",
       "graph @main(%p0: f32[2,3]) -> f32[2,6] {\n"
       "  %0 = pad %p0 {pad=[0, 1, 0, 2]} : f32[2,6]\n"
       "  return %0\n"
       "}"},
      {"opset 2; in x 1 2,3; Pad x -> y pads=I0,1,0,2 mode=sreflect; Pad x -> z pads=I0,-1,1,0 "
       "value=f2; out y; out z",
       "graph @main(%p0: f32[2,3]) -> (f32[2,6], f32[3,2]) {\n"
       "  %0 = pad %p0 {pad=[0, 1, 0, 2], mode=reflect} : f32[2,6]\n"
       "  %1 = const 2 : f32[]\n"
       "  %2 = pad %p0, %1 {pad=[0, -1, 1, 0]} : f32[3,2]\n"
       "  return %0, %2\n"
       "}"},
      {"opset 11; in x 1 N,3; const p 7 4 = 0,1,0,2; const v 1 - = 3; Pad x,p,v -> y; Pad x,p -> z "
       "mode=sedge; out y; out z",
       "graph @main(%p0: f32[N[1..536870912],3]) -> (f32[N,6], f32[N,6]) {\n"
       "  %0 = const @v : f32[]\n"
       "  %1 = pad %p0, %0 {pad=[0, 1, 0, 2]} : f32[N,6]\n"
       "  %2 = pad %p0 {pad=[0, 1, 0, 2], mode=edge} : f32[N,6]\n"
       "  return %1, %2\n"
       "}"},
      {"opset 11; in x 1 2,3; const p 7 4 = 0,1,0,2; const v 1 1 = 3; Pad x,p,v -> y; out y",
       "graph @main(%p0: f32[2,3]) -> f32[2,6] {\n"
       "  %0 = const @v : f32[1]\n"
       "  %1 = reshape %0 {shape=[]} : f32[]\n"
       "  %2 = pad %p0, %1 {pad=[0, 1, 0, 2]} : f32[2,6]\n"
       "  return %2\n"
       "}"},
      {"opset 18; in x 1 2,3; const p 7 2 = 1,2; const a 7 1 = -1; Pad x,p,_,a -> y; out y",
       "graph @main(%p0: f32[2,3]) -> f32[2,6] {\n"
       "  %0 = pad %p0 {pad=[0, 1, 0, 2]} : f32[2,6]\n"
       "  return %0\n"
       "}"},
      {"opset 18; in x 1 2,3; const p 7 4 = 0,1,0,2; Pad x,p -> y mode=swrap; out y",
       "m.onnx: node \"y\" (Pad): mode \"wrap\" is not one of: constant reflect edge"},
      {"opset 19; in x 1 2,3; const p 7 4 = 0,1,0,2; Pad x,p -> y mode=swrap; out y",
       "graph @main(%p0: f32[2,3]) -> f32[2,6] {\n"
       "  %0 = pad %p0 {pad=[0, 1, 0, 2], mode=wrap} : f32[2,6]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 2,3; const p 7 3 = 0,1,0; Pad x,p -> y; out y",
       "m.onnx: node \"y\" (Pad): pads has 3 numbers, expected an even count"},
      {"opset 11; in x 1 2,3; const p 7 2 = 0,1; Pad x,p -> y; out y",
       "m.onnx: node \"y\" (Pad): pads has 2 numbers, expected 4"},
      {"opset 11; in x 1 2,3; const p 7 4 = 0,-4,0,0; Pad x,p -> y; out y",
       "m.onnx: node \"y\" (Pad): dimension 1 of the result is negative or overflows"},
      {"opset 11; in x 1 2,3; const p 7 4 = 9223372036854775807,0,9223372036854775807,0; Pad x,p "
       "-> y; out y",
       "m.onnx: node \"y\" (Pad): dimension 0 of the result is negative or overflows"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_repetition(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 13; in x 1 3,1; const s 7 3 = 2,1,4; Expand x,s -> y; out y",
       "graph @main(%p0: f32[3,1]) -> f32[2,3,4] {\n"
       "  %0 = broadcast_to %p0 {shape=[2, 1, 4]} : f32[2,3,4]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 3,2; const s 7 1 = 4; Expand x,s -> y; out y",
       "m.onnx: node \"y\" (Expand): shapes do not broadcast: [3,2] and [4]"},
      {"opset 13; in x 1 3,1; in z 1 N,3,M; Shape z -> s; Expand x,s -> y; out y",
       "graph @main(%p0: f32[3,1], %p1: f32[N[1..536870912],3,M[1..536870912]]) -> f32[N,3,M] {\n"
       "  %0 = broadcast_to %p0 {shape=[N, 3, M]} : f32[N,3,M]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 3,2; const r 7 2 = 2,1; Tile x,r -> y; out y",
       "graph @main(%p0: f32[3,2]) -> f32[6,2] {\n"
       "  %0 = tile %p0 {repeats=[2, 1]} : f32[6,2]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 3,2; const r 7 1 = 2; Tile x,r -> y; out y",
       "m.onnx: node \"y\" (Tile): repeats has 1 numbers, x has rank 2"},
      {"opset 1; in x 1 3,2; const t 1 - = 2; const a 1 - = 1; Tile x,t,a -> y; out y",
       "graph @main(%p0: f32[3,2]) -> f32[3,4] {\n"
       "  %0 = tile %p0 {repeats=[1, 2]} : f32[3,4]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_generators(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 11; const s 7 - = 2; const l 7 - = 11; const d 7 - = 3; Range s,l,d -> y; out y",
       "graph @main() -> i64[3] {\n"
       "  %0 = const @s : i64[]\n"
       "  %1 = const @d : i64[]\n"
       "  %2 = range %0, %1 {count=[3]} : i64[3]\n"
       "  return %2\n"
       "}"},
      {"opset 11; const s 1 - = 0; const l 1 - = 1; const d 1 - = 0.3; Range s,l,d -> y; out y",
       "graph @main() -> f32[4] {\n"
       "  %0 = const @s : f32[]\n"
       "  %1 = const @d : f32[]\n"
       "  %2 = range %0, %1 {count=[4]} : f32[4]\n"
       "  return %2\n"
       "}"},
      {"opset 11; in x 1 N; const s 7 - = 0; const i 7 - = 0; Shape x -> n; Gather n,i -> l; const "
       "d 7 - = 1; Range s,l,d -> y; out y",
       "graph @main(%p0: f32[N[1..536870912]]) -> i64[N] {\n"
       "  %0 = const @s : i64[]\n"
       "  %1 = const @d : i64[]\n"
       "  %2 = range %0, %1 {count=[N]} : i64[N]\n"
       "  return %2\n"
       "}"},
      {"opset 11; const s 7 - = 10; const l 7 - = 1; const d 7 1 = -4; Range s,l,d -> y; out y",
       "graph @main() -> i64[3] {\n"
       "  %0 = const @s : i64[]\n"
       "  %1 = const @d : i64[1]\n"
       "  %2 = reshape %1 {shape=[]} : i64[]\n"
       "  %3 = range %0, %2 {count=[3]} : i64[3]\n"
       "  return %3\n"
       "}"},
      {"opset 11; const s 7 - = 0; const l 7 - = 1; const d 7 - = 0; Range s,l,d -> y; out y",
       "m.onnx: node \"y\" (Range): start, limit and delta are not one number each, delta not 0"},
      {"opset 11; const s 1 - = 0; const l 1 - = 1; const d 1 - = 0; Range s,l,d -> y; out y",
       "m.onnx: node \"y\" (Range): its length is inf"},
      {"opset 11; in s 7 -; const l 7 - = 1; const d 7 - = 1; Range s,l,d -> y; out y",
       "m.onnx: node \"y\" (Range): start must be known when the model is compiled"},
      {"opset 11; in i 7 N; const d 7 - = 5; in v 1 2; OneHot i,d,v -> y; OneHot i,d,v -> z "
       "axis=i0; out y; out z",
       "graph @main(%p0: i64[N[1..536870912]], %p1: f32[2]) -> (f32[N,5], f32[5,N]) {\n"
       "  %0 = one_hot %p0, %p1 {depth=[5]} : f32[N,5]\n"
       "  %1 = one_hot %p0, %p1 {axis=0, depth=[5]} : f32[5,N]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 11; in i 1 N; const d 1 1 = 5; in v 1 2; OneHot i,d,v -> y; out y",
       "graph @main(%p0: f32[N[1..536870912]], %p1: f32[2]) -> f32[N,5] {\n"
       "  %0 = cast %p0 : i64[N]\n"
       "  %1 = cast %0 : f32[N]\n"
       "  %2 = eq %1, %p0 : bool[N]\n"
       "  %3 = const -4611686018427387904 : i64[]\n"
       "  %4 = where %2, %0, %3 : i64[N]\n"
       "  %5 = one_hot %4, %p1 {depth=[5]} : f32[N,5]\n"
       "  return %5\n"
       "}"},
      {"opset 14; in x 1 3,4; const k 7 - = 1; Trilu x -> y; Trilu x,k -> z upper=i0; out y; out z",
       "graph @main(%p0: f32[3,4]) -> (f32[3,4], f32[3,4]) {\n"
       "  %0 = trilu %p0 : f32[3,4]\n"
       "  %1 = trilu %p0 {upper=false, k=1} : f32[3,4]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 9; in x 1 3,4; EyeLike x -> y; EyeLike x -> z dtype=i7 k=i-1; out y; out z",
       "graph @main(%p0: f32[3,4]) -> (f32[3,4], i64[3,4]) {\n"
       "  %0 = eye : f32[3,4]\n"
       "  %1 = eye {k=-1} : i64[3,4]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 11; in x 1 3,4; const a 6 - = 1; CumSum x,a -> y exclusive=i1; out y",
       "graph @main(%p0: f32[3,4]) -> f32[3,4] {\n"
       "  %0 = cumsum %p0 {axis=1, exclusive=true} : f32[3,4]\n"
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
      {"opset 13; in x 1 2,3; ArgMax x -> y; ArgMin x -> z axis=i-1 keepdims=i0 "
       "select_last_index=i1; out y; out z",
       "graph @main(%p0: f32[2,3]) -> (i64[1,3], i64[2]) {\n"
       "  %0 = argmax %p0 : i64[1,3]\n"
       "  %1 = argmin %p0 {axis=1, keepdims=false, last=true} : i64[2]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 11; in x 1 2,3; ArgMax x -> y select_last_index=i1; out y",
       "m.onnx: node \"y\" (ArgMax): there is no attribute \"select_last_index\" in opset 11"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

static void test_resize(void **state)
{
  (void)state;
  static const onnx_row rows[] = {
      {"opset 1; in x 1 1,2,3,4; Upsample x -> y height_scale=f2 width_scale=f1.5; out y",
       "graph @main(%p0: f32[1,2,3,4]) -> f32[1,2,6,6] {\n"
       "  %0 = resize %p0 {shape=[1, 2, 6, 6], scale=[1,1,2,1.5], coordinates=asymmetric, "
       "nearest=floor} : f32[1,2,6,6]\n"
       "  return %0\n"
       "}"},
      {"opset 7; in x 1 1,2,3,4; Upsample x -> y scales=F1,1,2,2 mode=slinear; out y",
       "graph @main(%p0: f32[1,2,3,4]) -> f32[1,2,6,8] {\n"
       "  %0 = resize %p0 {shape=[1, 2, 6, 8], scale=[1,1,2,2], mode=linear, "
       "coordinates=asymmetric, nearest=floor} : f32[1,2,6,8]\n"
       "  return %0\n"
       "}"},
      {"opset 9; in x 1 1,2,H,W; const s 1 4 = 1,1,2,2; Upsample x,s -> y; out y",
       "graph @main(%p0: f32[1,2,H[1..536870912],W[1..536870912]]) -> f32[1,2,2*H,2*W] {\n"
       "  %0 = resize %p0 {shape=[1, 2, 2*H, 2*W], scale=[1,1,2,2], coordinates=asymmetric, "
       "nearest=floor} : f32[1,2,2*H,2*W]\n"
       "  return %0\n"
       "}"},
      {"opset 10; in x 1 1,2,6,4; const s 1 4 = 1,1,0.5,2; Resize x,s -> y; Upsample x,s -> z; out "
       "y",
       "m.onnx: node \"z\" (Upsample): Upsample is not an operator of opset 10"},
      {"opset 10; in x 1 1,2,6,4; const s 1 4 = 1,1,0.5,2; Resize x,s -> y; out y",
       "graph @main(%p0: f32[1,2,6,4]) -> f32[1,2,3,8] {\n"
       "  %0 = resize %p0 {shape=[1, 2, 6, 8], scale=[1,1,1,2], coordinates=asymmetric, "
       "nearest=floor} : f32[1,2,6,8]\n"
       "  %1 = resize %0 {shape=[1, 2, 3, 8], scale=[1,1,0.5,1], coordinates=asymmetric, "
       "nearest=ceil} : f32[1,2,3,8]\n"
       "  return %1\n"
       "}"},
      {"opset 11; in x 1 1,2,H,W; const s 1 4 = 1,1,2,2; Resize x,_,s -> y "
       "coordinate_transformation_mode=sasymmetric nearest_mode=sfloor; out y",
       "graph @main(%p0: f32[1,2,H[1..536870912],W[1..536870912]]) -> f32[1,2,2*H,2*W] {\n"
       "  %0 = resize %p0 {shape=[1, 2, 2*H, 2*W], scale=[1,1,2,2], coordinates=asymmetric, "
       "nearest=floor} : f32[1,2,2*H,2*W]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,2,H,W; const s 1 4 = 1,1,0.3,2; Resize x,_,s -> y; out y",
       "graph @main(%p0: f32[1,2,H[1..536870912],W[1..536870912]]) -> f32[1,2,floordiv(3*H, "
       "10),2*W] {\n"
       "  constraint min(H, 1048576) = H\n"
       "  %0 = resize %p0 {shape=[1, 2, floordiv(3*H, 10), 2*W], "
       "scale=[1,1,0.30000001192092896,2]} "
       ": f32[1,2,floordiv(3*H, 10),2*W]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 1,2,10,10; const s 1 4 = 1,1,0.7,0.7; Resize x,_,s -> y mode=scubic "
       "cubic_coeff_a=f-0.5; out y",
       "graph @main(%p0: f32[1,2,10,10]) -> f32[1,2,7,7] {\n"
       "  %0 = resize %p0 {shape=[1, 2, 7, 7], scale=[1,1,0.699999988079071,0.699999988079071], "
       "mode=cubic, cubic=-0.5} : f32[1,2,7,7]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 1,2,H,W; in z 1 1,1,A,B; Shape z -> s; Resize x,_,_,s -> y mode=slinear "
       "coordinate_transformation_mode=salign_corners; out y",
       "graph @main(%p0: f32[1,2,H[1..536870912],W[1..536870912]], %p1: "
       "f32[1,1,A[1..536870912],B[1..536870912]]) -> f32[1,1,A,B] {\n"
       "  %0 = resize %p0 {shape=[1, 1, A, B], mode=linear, coordinates=align_corners} : "
       "f32[1,1,A,B]\n"
       "  return %0\n"
       "}"},
      {"opset 11; in x 1 1,2,3,4; const e 1 0 =; const s 7 4 = 1,2,6,8; Resize x,e,e,s -> y; out y",
       "graph @main(%p0: f32[1,2,3,4]) -> f32[1,2,6,8] {\n"
       "  %0 = resize %p0 {shape=[1, 2, 6, 8]} : f32[1,2,6,8]\n"
       "  return %0\n"
       "}"},
      {"opset 18; in x 1 1,2,3,4; const s 7 2 = 9,8; Resize x,_,_,s -> y axes=I2,3 "
       "keep_aspect_ratio_policy=snot_larger; Resize x,_,_,s -> z axes=I2,3 "
       "keep_aspect_ratio_policy=snot_smaller antialias=i1; out y; out z",
       "graph @main(%p0: f32[1,2,3,4]) -> (f32[1,2,6,8], f32[1,2,9,12]) {\n"
       "  %0 = resize %p0 {shape=[1, 2, 6, 8], scale=[1,1,2,2]} : f32[1,2,6,8]\n"
       "  %1 = resize %p0 {shape=[1, 2, 9, 12], scale=[1,1,3,3], antialias=true} : f32[1,2,9,12]\n"
       "  return %0, %1\n"
       "}"},
      {"opset 13; in x 1 4,4; const r 1 4 = 0,0.25,1,0.75; const s 7 2 = 3,2; Resize x,r,_,s -> y "
       "mode=slinear coordinate_transformation_mode=stf_crop_and_resize extrapolation_value=f9; "
       "out y",
       "graph @main(%p0: f32[4,4]) -> f32[3,2] {\n"
       "  %0 = resize %p0 {shape=[3, 2], mode=linear, coordinates=crop, roi=[0,0.25,1,0.75], "
       "outside=9} : f32[3,2]\n"
       "  return %0\n"
       "}"},
      {"opset 13; in x 1 4,4; const r 1 4 = 0,0,1,1; const s 7 2 = 3,2; Resize x,_,_,s -> y "
       "coordinate_transformation_mode=stf_crop_and_resize; Resize x,r,_,r -> z; out y",
       "m.onnx: node \"y\" (Resize): tf_crop_and_resize has no roi\n"
       "m.onnx: node \"z\" (Resize): sizes is f32 of rank 1, expected a vector of integers"},
      {"opset 13; in x 1 4,4; Resize x -> y; const s 1 2 = 2,0; Resize x,_,s -> z; Resize x,_,s,s "
       "-> w; out y",
       "m.onnx: node \"y\" (Resize): it has neither scales nor sizes\n"
       "m.onnx: node \"z\" (Resize): the scale of axis 1 is 0\n"
       "m.onnx: node \"w\" (Resize): it has both scales and sizes"},
      {"opset 11; in x 1 4,4; const s 1 2 = 2,2; Resize x,_,s -> y "
       "coordinate_transformation_mode=stf_half_pixel_for_nn; out y",
       "graph @main(%p0: f32[4,4]) -> f32[8,8] {\n"
       "  %0 = resize %p0 {shape=[8, 8], scale=[2,2], coordinates=tf_half_pixel} : f32[8,8]\n"
       "  return %0\n"
       "}"},
      {"opset 19; in x 1 4,4; const s 1 2 = 2,2; Resize x,_,s -> y "
       "coordinate_transformation_mode=shalf_pixel_symmetric; out y",
       "graph @main(%p0: f32[4,4]) -> f32[8,8] {\n"
       "  %0 = resize %p0 {shape=[8, 8], scale=[2,2], coordinates=half_pixel_symmetric} : "
       "f32[8,8]\n"
       "  return %0\n"
       "}"},
  };
  onnx_check(rows, WICK_COUNT(rows));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gather),     cmocka_unit_test(test_slices),
      cmocka_unit_test(test_pads),       cmocka_unit_test(test_repetition),
      cmocka_unit_test(test_generators), cmocka_unit_test(test_resize),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
