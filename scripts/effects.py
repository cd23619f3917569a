#!/usr/bin/env python3
"""Builds the smallest model that shows the effect of each graph pass of Glow and Relay, counts the kernels that Wick
makes of it, and writes the table into docs/passes.md. `make docs` runs it; tests/forms/test_effects.py checks it.

usage: scripts/effects.py [--write FILE] [NAME...]    WICK_COMMAND: the command `wick`; else build/wick"""
import pathlib
import re
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/forms"))
import models  # noqa: E402

BEGIN, END = "<!-- effects: scripts/effects.py writes this -->", "<!-- end of effects -->"


@dataclass
class Effect:
    """One pass: what does its work in Wick, a model, how many kernels are left of it, and which operators are not."""

    passes: str
    wick: str
    types: str = ""
    nodes: str = ""
    after: int = 0
    gone: str = ""  # operators that must not be in the kernels
    missing: bool = False  # not yet: the effect is a defect that is known
    why: str = ""  # instead of a model: the reason why Wick has nothing that corresponds

    def model(self):
        return models.graph(self.types, self.nodes)


IMAGE, SMALL = "float[1,4,8,8] x", "float[4,8] x"
W3, W1 = "float[4,4,3,3] w", "float[4,4,1,1] w"

GLOW = [
    Effect("DCE", "the builder of functions, at the end of each pass", f"({SMALL}) => (y)", "a = Exp(x)  b = Sin(a)  y = Relu(x)", 1, "sin exp"),
    Effect("SinkCode", "`sink_data_movement`, `simplify`", "(float[1,3,8,8] x) => (y) <float[1] s>",
           "a = Transpose<perm=[0,2,3,1]>(x)  b = Relu(a)  c = Mul(b, s)  y = Transpose<perm=[0,3,1,2]>(c)", 1),
    Effect("SinkConversions", "`sink_data_movement`, `simplify`", "(int8[4,8] x, int8[4,8] z) => (y) <float s = {0.5}, int8 k = {0}>",
           "a = DequantizeLinear(x, s)  b = DequantizeLinear(z, s)  c = Concat<axis=0>(a, b)  y = QuantizeLinear(c, s, k)", 2, "div mul"),
    Effect("SinkReshapes", "reshapes are views", f"({SMALL}) => (y) <int64[1] s = {{32}}>", "a = Reshape(x, s)  b = Sigmoid(a)  y = Relu(b)", 1),
    Effect("HoistCode", "`delay_scalars`", f"({SMALL}) => (y) <int64[2] r = {{2,1}}>",
           "a = Tanh(x)  b = Transpose<perm=[1,0]>(a)  y = Tile(b, r)", 2),
    Effect("MergeMatMulOnLHS", "epilogues of products", "(float[16,32] x) => (y) <float[32,64] v, float[32,64] w>", "a = MatMul(x, v)  b = MatMul(x, w)  s = Sigmoid(a)  y = Mul(s, b)", 2),
    Effect("MergeMatMulOnRHS", "epilogues of products", "(float[4,32] x, float[4,32] z) => (y) <float[32,64] w>", "a = MatMul(x, w)  b = MatMul(z, w)  y = Mul(a, b)", 2),
    Effect("MergeBatchedAdd", "epilogues of products", "(float[4,32] x, float[4,32] z) => (y) <float[32,64] w, float[64] b>",
           "a = MatMul(x, w)  c = Add(a, b)  d = MatMul(z, w)  e = Add(d, b)  y = Mul(c, e)", 2),
    Effect("MergePadIntoConvolution", "`simplify`: the zeros are the border of a buffer", f"({IMAGE}) => (y) <{W1}, float[4,4,3,3] v, int64[8] p = {{0,0,1,1,0,0,1,1}}>", "a = Conv(x, w)  b = Pad(a, p)  y = Conv(b, v)", 3, "pad"),
    Effect("OptimizeSmallConv", "`simplify`", f"(float[1,4,1,1] x) => (y) <{W3}>", "y = Conv<pads=[1,1,1,1]>(x, w)", 2),
    Effect("FoldDilatedConv", "`simplify`", f"(float[1,4,8,8] x) => (y) <{W3}, int64[8] p = {{0,0,2,2,0,0,2,2}}, int64[6] s = {{1,4,6,2,6,2}}, int64[4] t = {{4,4,6,6}}, int64[6] u = {{2,2,1,4,4,4}}, int64[4] v = {{1,4,8,8}}>",
           "a = Pad(x, p)  b = Reshape(a, s)  c = Transpose<perm=[3,5,0,1,2,4]>(b)  d = Reshape(c, t)  e = Conv(d, w)  f = Reshape(e, u)  g = Transpose<perm=[2,3,4,0,5,1]>(f)  y = Reshape(g, v)", 3, "transpose"),
    Effect("MergeTransposeIntoMatMulOrFC", "`absorb_transpose`", "(float[2,3,4,5] x) => (y) <float[60,8] w>", "a = Transpose<perm=[0,2,3,1]>(x)  b = Flatten(a)  y = MatMul(b, w)", 1),
    Effect("ConvertBroadcastedBatchMatMul", "`simplify`", "(float[4,16,32] x) => (y) <float[1,32,64] w>", "y = MatMul(x, w)", 1),
    Effect("OptimizeReduceMean", "template `reduce`", f"({IMAGE}) => (y)", "y = ReduceMean<keepdims=1>(x)", 1),
    Effect("FoldArithmeticChainUnderConvIntoBN", "`fold_scale`", f"({IMAGE}) => (y) <{W3}, float[4,1,1] s, float[4,1,1] t, float[4] g, float[4] h, float[4] m, float[4] v>",
           "a = Conv(x, w)  b = Mul(a, s)  c = Add(b, t)  y = BatchNormalization(c, g, h, m, v)", 1, "mul div sqrt"),
    Effect("FoldBatchNormalizationWithArithmeticChain", "`fold_scale`", f"({IMAGE}) => (y) <{W3}, float[4] g, float[4] h, float[4] m, float[4] v, float[4,1,1] s, float[4,1,1] t, float[4,1,1] u>",
           "a = Conv(x, w)  b = BatchNormalization(a, g, h, m, v)  c = Mul(b, s)  d = Sub(c, t)  y = Div(d, u)", 1, "mul div sqrt sub"),
    Effect("ConvTransposeBiasAddFold", "`fold_scale`", f"({IMAGE}) => (y) <{W3}, float[1,4,1,1] b>", "a = ConvTranspose<pads=[2,2,2,2]>(x, w)  y = Add(a, b)", 1),
    Effect("OptimizeBatchNorm", "`fold_scale`", f"({IMAGE}) => (y) <{W3}, float[4] g, float[4] h, float[4] m, float[4] v>", "a = Conv(x, w)  y = BatchNormalization(a, g, h, m, v)", 1, "mul div sqrt"),
    Effect("FoldLayerNormArithmetic", "template `normalize`", "(float[4,64] x) => (y) <float[64] g, float[64] s, float[64] t>", "a = LayerNormalization(x, g)  b = Mul(a, s)  y = Add(b, t)", 1),
    Effect("OptimizeConcatNodes", "`simplify`, `copy_elim`", f"(float[2,8] x, float[2,8] z) => (y)", "a = Relu(x)  b = Concat<axis=0>(a, z)  c = Concat<axis=0>(b, x)  d = Concat<axis=0>(c)  y = Exp(d)", 3),
    Effect("EliminateConcatSlice", "`simplify`", "(float[2,8] x, float[3,8] z) => (y, u) <int64[1] o = {0}, int64[1] m = {2}, int64[1] e = {5}>",
           "a = Concat<axis=0>(x, z)  b = Slice(a, o, m, o)  c = Slice(a, m, e, o)  y = Relu(b)  u = Exp(c)", 2),
    Effect("EliminateSliceConcat", "`simplify`", f"({SMALL}) => (y) <int64[1] o = {{0}}, int64[1] m = {{2}}, int64[1] e = {{4}}>",
           "a = Slice(x, o, m, o)  b = Slice(x, m, e, o)  c = Concat<axis=0>(a, b)  y = Relu(c)", 1),
    Effect("FoldSlicesIntoConstants", "`constant_fold`", f"({SMALL}) => (y) <float[6,8] w, int64[1] o = {{0}}, int64[1] m = {{4}}>", "a = Slice(w, o, m, o)  y = Add(x, a)", 1),
    Effect("GatherToSlice", "`simplify`", f"({SMALL}) => (y) <int64 i = {{2}}>", "a = Gather(x, i)  y = Relu(a)", 1, "wait"),
    Effect("OptimizeArithmeticNodes", "`simplify`, `drop_identity`; not x+0 and x*0, whose bits differ for -0, infinity and NaN", f"({SMALL}) => (y) <float one = {{1}}, float zero = {{0}}>",
           "a = Mul(one, x)  b = Div(a, one)  c = Sub(b, zero)  y = Relu(c)", 1, "mul div sub"),
    Effect("CSE", "`cse`", f"({SMALL}) => (y)", "a = Exp(x)  b = Exp(x)  y = Mul(a, b)", 1),
    Effect("ConstantFold", "`constant_fold`", f"({SMALL}) => (y) <float[8] u, float[8] v>", "a = Mul(u, v)  b = Sqrt(a)  y = Add(x, b)", 1, "sqrt mul"),
    Effect("TransposeConstants", "`constant_fold`", f"({SMALL}) => (y) <float[8,4] w>", "a = Transpose<perm=[1,0]>(w)  y = Add(x, a)", 1),
    Effect("OptimizeSplat", "`constant_fold`, `simplify`", f"({SMALL}) => (y) <int64[2] s = {{4,8}}>", "a = ConstantOfShape<value = float[1] {2}>(s)  b = Transpose<perm=[1,0]>(a)  c = Flatten(b)  d = Transpose<perm=[1,0]>(c)  y = Mul(x, d)", 1),
    Effect("OptimizeTransposeIntoReshape", "`simplify`", "(float[1,4,1,8] x) => (y)", "a = Transpose<perm=[2,1,3,0]>(x)  y = Relu(a)", 1),
    Effect("OptimizeReshape", "reshapes are views", f"({SMALL}) => (y) <int64[1] s = {{32}}, int64[2] t = {{2,16}}>", "a = Reshape(x, s)  b = Reshape(a, t)  y = Relu(b)", 1),
    Effect("OptimizeResize", "`decompose_resize`", "(float[1,4,1,1] x) => (y) <float[4] s = {1,1,8,8}>", 'a = Resize<mode="linear">(x, , s)  y = Relu(a)', 1, "resample resize"),
    Effect("OptimizeInsert", "`copy_elim`: a concat writes no splat first", "(float[2,8] x, float[2,8] z) => (y)", "a = Exp(x)  b = Neg(z)  y = Concat<axis=0>(a, b)", 2),
    Effect("EliminateNoop", "the importer", f"({SMALL}) => (y)", "a = Identity(x)  b = Dropout(a)  y = Relu(b)", 1),
    Effect("OptimizeClips", "`simplify`", f"({SMALL}) => (y) <float a = {{-1}}, float b = {{2}}, float c = {{0}}, float d = {{1}}>", "p = Clip(x, a, b)  y = Clip(p, c, d)", 1),
    Effect("RaiseClipsAboveShapeNodes", "`delay_scalars`: a clip goes into the kernel that moves", f"({SMALL}) => (y) <float a = {{0}}, float b = {{1}}, int64[1] s = {{32}}>",
           "t = Transpose<perm=[1,0]>(x)  r = Reshape(t, s)  y = Clip(r, a, b)", 1),
    Effect("EliminateClipsOutsideFP16Range", "", why="a clip at the largest f16 turns infinity into a number, so that dropping it changes results"),
    Effect("FoldMinMaxToClip", "both are the same two operations", f"({SMALL}) => (y) <float a = {{0}}, float b = {{6}}>", "p = Max(x, a)  y = Min(p, b)", 1),
    Effect("RemoveIdentityRelu", "`simplify`", f"({SMALL}) => (y)", "a = Sigmoid(x)  b = Relu(a)  y = Neg(b)", 1, "relu"),
    Effect("RemoveIdentityClip", "`simplify`", f"({SMALL}) => (y) <float s = {{0.5}}, uint8 z = {{0}}>", "a = Relu(x)  y = QuantizeLinear(a, s, z)", 1, "relu"),
    Effect("OptimizeConversions", "`simplify`", "(float16[4,8] x) => (y)", "a = Cast<to=1>(x)  b = Cast<to=11>(a)  c = Cast<to=10>(b)  y = Neg(c)", 1, "cast"),
    Effect("OptimizeOutIntermediateConversions", "`simplify`", "(uint8[4,8] x) => (y)", "a = Cast<to=5>(x)  b = Cast<to=6>(a)  y = Cast<to=1>(b)", 1),
    Effect("FoldElemKindConversionIntoInputs", "", why="the types of inputs are the model's interface; the cast goes into the kernel that reads the input"),
    Effect("FoldElemKindConversionIntoOutputs", "", why="the types of outputs are the model's interface; the cast goes into the kernel that writes the output"),
    Effect("OptimizeQuantization", "`simplify`", "(int8[4,8] x) => (y) <float s = {0.5}, int64[2] t = {8,4}>",
           "a = DequantizeLinear(x, s)  b = Reshape(a, t)  c = QuantizeLinear<output_dtype=3>(b, s)  d = DequantizeLinear(c, s)  y = Neg(d)", 1, "round_even div"),
    Effect("OptimizeQuantizeClip", "`simplify`", f"({SMALL}) => (y) <float a = {{0}}, float s = {{0.5}}, uint8 z = {{0}}>", "b = Clip(x, a)  y = QuantizeLinear(b, s, z)", 1, "max"),
    Effect("OptimizeQuantFCFloatRelu", "`fuse_qdq`, `fold_requantize`", "(uint8[4,32] x) => (y) <float s = {0.5}, int8[32,8] w, float t = {0.25}>",
           "a = DequantizeLinear(x, s)  b = DequantizeLinear(w, t)  c = MatMul(a, b)  d = Relu(c)  y = QuantizeLinear<output_dtype=2>(d, s)", 1, "relu"),
    Effect("OptimizeConcatQuantization", "`sink_data_movement`, `copy_elim`", "(float[2,8] x, float[2,8] z) => (y) <float s = {0.5}, int8 k = {0}>",
           "a = QuantizeLinear(x, s, k)  b = DequantizeLinear(a, s)  c = QuantizeLinear(z, s, k)  d = DequantizeLinear(c, s)  e = Concat<axis=0>(b, d)  y = QuantizeLinear(e, s, k)", 2),
    Effect("SinkConcatBelowQuantize", "`sink_data_movement`, `copy_elim`: both parts write into the result", "(float[2,8] x, float[2,8] z) => (y) <float s = {0.5}>", "a = Concat<axis=0>(x, z)  y = QuantizeLinear<output_dtype=3>(a, s)", 2),
    Effect("QuantizeSwish", "`tabulate`: a table of 256 bytes", "(uint8[64,64] x) => (y) <float s = {0.0625}, uint8 z = {128}>",
           "a = DequantizeLinear(x, s, z)  b = Sigmoid(a)  c = Mul(a, b)  y = QuantizeLinear(c, s, z)", 1, "sigmoid exp"),
    Effect("ReplaceZeroScaleFP16QuantNodes", "", why="ONNX allows no scale of 0, and Wick's scales are f32"),
    Effect("ReplaceQuantizedHardSwishWithLookupTable", "`tabulate`: a table of 256 bytes", "(uint8[64,64] x) => (y) <float s = {0.0625}, uint8 z = {128}>",
           "a = DequantizeLinear(x, s, z)  b = HardSwish(a)  y = QuantizeLinear(b, s, z)", 1, "hard_swish max"),
    Effect("FoldLeakyRelu", "`form_kernels`: one kernel", f"({SMALL}) => (y) <float s = {{0.1}}>", "a = Mul(x, s)  y = Max(x, a)", 1),
    Effect("FoldChannelShuffle", "`fuse_channel_shuffle`, `delay_scalars`", "(float[1,4,8,8] x) => (y) <int64[5] s = {1,2,2,8,8}, int64[4] t = {1,4,8,8}>",
           "a = Reshape(x, s)  b = Transpose<perm=[0,2,1,3,4]>(a)  c = Reshape(b, t)  y = Relu(c)", 1, "transpose"),
    Effect("FoldMatMulAddIntoFullyConnected", "epilogues of products", "(float[4,32] x) => (y) <float[32,64] w, float[64] b>", "a = MatMul(x, w)  y = Add(a, b)", 1),
    Effect("ConvertMatMulToFullyConnected", "both are `matmul`", "(float[4,32] x) => (y) <float[32,64] w>", "y = MatMul(x, w)", 1),
    Effect("ConvertFullyConnectedToConvolution", "the layouts of packed products are those of convolutions", "(float[4,32] x) => (y) <float[64,32] w, float[64] b>", "y = Gemm<transB=1>(x, w, b)", 1),
    Effect("FoldTileAddIntoBatchedAdd", "`form_kernels`: a tile is read in place", "(float[4,8] x, float[1,8] b) => (y) <int64[2] r = {4,1}>", "a = Tile(b, r)  y = Add(x, a)", 1),
    Effect("FoldExpSumDivIntoSoftmax", "template `normalize`", "(float[4,64] x) => (y) <int64[1] a = {-1}>", "e = Exp(x)  s = ReduceSum(e, a)  y = Div(e, s)", 1),
]

RELAY = [
    Effect("InferType, InferTypeLocal", "the builder of functions, with each node", f"({SMALL}) => (y)", "y = Relu(x)", 1),
    Effect("FoldConstant", "`constant_fold`", f"({SMALL}) => (y) <float[4,8] w>", "a = Shape(w)  b = ConstantOfShape<value = float[1] {2}>(a)  y = Mul(x, b)", 1),
    Effect("DeadCodeElimination", "the builder of functions, `region_dce`", f"({SMALL}) => (y)", "a = Exp(x)  y = Relu(x)", 1, "exp"),
    Effect("EliminateCommonSubexpr", "`cse`", f"({SMALL}) => (y)", "a = Tanh(x)  b = Tanh(x)  y = Add(a, b)", 1),
    Effect("SimplifyInference", "`decompose`, `simplify`", f"({IMAGE}) => (y) <float[4] g, float[4] h, float[4] m, float[4] v>", "a = BatchNormalization(x, g, h, m, v)  y = Dropout(a)", 1, "div sqrt"),
    Effect("SimplifyExpr: ConcretizeLike", "`constant_fold`", f"({SMALL}) => (y)", "s = Shape(x)  a = ConstantOfShape<value = float[1] {1}>(s)  y = Add(x, a)", 1),
    Effect("SimplifyExpr: CastLike, SameCast, ConsecutiveCast", "`simplify`", f"({SMALL}) => (y)", "a = CastLike(x, x)  b = Cast<to=11>(a)  c = Cast<to=1>(b)  y = Relu(c)", 1, "cast"),
    Effect("SimplifyExpr: SimplifyAdd", "`simplify`", f"({SMALL}) => (y)", "y = Add(x, x)", 1),
    Effect("SimplifyExpr: SimplifyRSqrt", "`expand_math`", f"({SMALL}) => (y) <float one = {{1}}>", "a = Sqrt(x)  y = Div(one, a)", 1),
    Effect("SimplifyExpr: EliminateIdentity", "`drop_identity`, `simplify`; not x+0", f"({SMALL}) => (y) <float one = {{1}}>", "a = Mul(x, one)  y = Relu(a)", 1, "mul"),
    Effect("SimplifyExpr: SimplifyReshape", "reshapes are views", f"({SMALL}) => (y) <int64[1] s = {{-1}}, int64[2] t = {{8,4}}>", "a = Reshape(x, s)  b = Reshape(a, t)  y = Relu(b)", 1),
    Effect("SimplifyExpr: SimplifyTranspose, NoOpTranspose", "`simplify`", f"({IMAGE}) => (y)", "a = Transpose<perm=[0,2,3,1]>(x)  b = Transpose<perm=[0,3,1,2]>(a)  c = Transpose<perm=[0,1,2,3]>(b)  y = Relu(c)", 1),
    Effect("SimplifyExpr: FullElementwise", "`constant_fold`, `simplify`", f"({SMALL}) => (y) <int64[2] s = {{4,8}}>", "a = ConstantOfShape<value = float[1] {1}>(s)  b = Mul(x, a)  y = Relu(b)", 1, "mul"),
    Effect("SimplifyExpr: SwitchAddMultiply, AdjacentMultiplyOrAdd", "`form_kernels`: one kernel; constants are not regrouped, because sums would round differently", f"({SMALL}) => (y) <float[8] a, float[8] b, float[8] c>", "p = Add(x, a)  q = Mul(p, b)  y = Mul(q, c)", 1),
    Effect("SimplifyExpr: DQArgMax, DQArgMin, DQArgSort", "`simplify`", "(int8[4,64] x) => (y) <float s = {0.5}>", "a = DequantizeLinear(x, s)  y = ArgMax<axis=1>(a)", 1, "mul"),
    Effect("SimplifyExpr: Clip and cast", "`simplify`", "(uint8[4,8] x) => (y) <float a = {0}, float b = {255}>", "c = Cast<to=1>(x)  d = Clip(c, a, b)  y = Cast<to=2>(d)", 1, "max min"),
    Effect("SimplifyExpr: SimplifyBinomial", "`form_kernels`: one kernel; a*a + 2*a*b + b*b is not factored, because it would round differently", "(float[4,8] x, float[4,8] z) => (y) <float two = {2}>",
           "a = Mul(x, x)  b = Mul(x, z)  c = Mul(b, two)  d = Mul(z, z)  e = Add(a, c)  y = Add(e, d)", 1),
    Effect("FoldScaleAxis: BackwardFoldScaleAxis", "`fold_scale`", f"({IMAGE}) => (y) <{W3}, float[4,1,1] s>", "a = Conv(x, w)  b = Relu(a)  y = Mul(b, s)", 1, "mul"),
    Effect("FoldScaleAxis: ForwardFoldScaleAxis", "`fold_scale`", f"({IMAGE}) => (y) <{W3}, float[4,1,1] s>", "a = Mul(x, s)  b = Relu(a)  y = Conv(b, w)", 2, "mul"),
    Effect("CombineParallelConv2D", "epilogues of products", f"({IMAGE}) => (y) <{W1}, float[4,4,1,1] v>", "a = Conv(x, v)  b = Conv(x, w)  c = Relu(a)  y = Mul(c, b)", 2),
    Effect("CombineParallelDense", "epilogues of products", "(float[16,32] x) => (y) <float[64,32] v, float[64,32] w, float[64,32] u>", "a = Gemm<transB=1>(x, v)  b = Gemm<transB=1>(x, w)  c = Gemm<transB=1>(x, u)  d = Mul(a, b)  y = Add(d, c)", 2, missing=True),
    Effect("CombineParallelBatchMatmul", "epilogues of products", "(float[2,16,32] x) => (y) <float[2,32,16] v, float[2,32,16] w>", "a = MatMul(x, v)  b = MatMul(x, w)  y = Mul(a, b)", 2),
    Effect("AlterOpLayout, ConvertLayout", "`assign_layouts`", f"({IMAGE}) => (y) <{W3}, float[4,4,3,3] v>", "a = Conv(x, w)  b = Relu(a)  y = Conv(b, v)", 3),
    Effect("Legalize, CanonicalizeOps", "`decompose`, `legalize`", f"({SMALL}) => (y)", "y = Mish(x)", 1),
    Effect("CanonicalizeCast", "a cast is computed in each kernel that reads it", "(int8[4,8] x) => (y, z)", "a = Cast<to=1>(x)  y = Exp(a)  z = Neg(a)", 2, missing=True),
    Effect("FastMath", "`expand_math`, always, with stated errors", f"({SMALL}) => (y)", "a = Erf(x)  b = Exp(a)  y = Tanh(b)", 1),
    Effect("FlattenAtrousConv", "`simplify`", f"(float[1,4,8,8] x) => (y) <{W3}, int64[8] p = {{0,0,2,2,0,0,2,2}}, int64[6] s = {{1,4,6,2,6,2}}, int64[4] t = {{4,4,6,6}}, int64[6] u = {{2,2,1,4,4,4}}, int64[4] v = {{1,4,8,8}}>",
           "a = Pad(x, p)  b = Reshape(a, s)  c = Transpose<perm=[3,5,0,1,2,4]>(b)  d = Reshape(c, t)  e = Conv(d, w)  f = Reshape(e, u)  g = Transpose<perm=[2,3,4,0,5,1]>(f)  y = Reshape(g, v)", 3, "transpose"),
    Effect("FoldExplicitPadding", "`simplify`", f"({IMAGE}) => (y) <int64[8] p = {{0,0,1,1,0,0,1,1}}>", "r = Relu(x)  a = Pad(r, p)  y = AveragePool<kernel_shape=[3,3]>(a)", 3, "pad"),
    Effect("SimplifyFCTranspose", "`constant_fold`", "(float[4,32] x) => (y) <float[64,32] w>", "a = Transpose<perm=[1,0]>(w)  y = MatMul(x, a)", 1),
    Effect("DenseToSparse, Conv2dToSparse", "", why="Wick has no sparse products: sparse initializers become dense ones"),
    Effect("FuseOps, DefuseOps", "`assign_layouts`, `form_kernels`", "(float[4,32] x, float[4,64] r) => (y) <float[32,64] w, float[64] b>", "a = MatMul(x, w)  c = Add(a, b)  d = Sigmoid(c)  e = Mul(c, d)  y = Add(e, r)", 1),
    Effect("ToANormalForm, ToBasicBlockNormalForm, ToGraphNormalForm", "", why="functions are lists of nodes with regions, which is the normal form"),
    Effect("PartialEvaluate", "`inline`, `fold_control_flow`, `constant_fold`", f"({SMALL}) => (y) <bool c = {{1}}>",
           "y = If<then_branch = g1 () => (float[4,8] a) { a = Relu(x) }, else_branch = g2 () => (float[4,8] b) { b = Neg(x) }>(c)", 1, "neg"),
    Effect("FirstOrderGradient, gradient", "`grad`", why="gradients are asked for by `--grad`; tests/python/test_gradient.py has their tests"),
    Effect("LazyGradientInit", "", why="`grad` builds no zeros for values that have no derivative"),
    Effect("Defunctionalization, ToCPS, UnCPS, EtaExpand, LambdaLift", "", why="graphs have no functions as values"),
    Effect("Inline, RemoveUnusedFunctions", "`inline`", why="a model of ONNX has its functions inlined: src/graph/inline.test"),
    Effect("DeDuplicate", "`cse`", f"({SMALL}) => (y) <float[8] u, float[8] v>", "a = Add(x, u)  b = Exp(a)  y = Mul(b, v)", 1),
    Effect("DynamicToStatic", "`constant_fold`", f"({SMALL}) => (y)", "s = Shape(x)  r = ReduceProd<keepdims=0>(s)  i = Cast<to=1>(r)  y = Mul(x, i)", 1),
    Effect("PlanDevices", "", why="a program runs on one device"),
    Effect("AnnotateTarget, MergeCompilerRegions, PartitionGraph, MergeComposite, OutlineCompilerFunctions, CollagePartition", "", why="no part of a graph goes to another compiler"),
    Effect("FakeQuantizationToInteger", "`fuse_qdq`, `fold_requantize`; a kernel before the convolution moves the input into its layout", "(uint8[1,4,8,8] x) => (y) <float s = {0.5}, uint8 z = {3}, int8[4,4,3,3] w, float t = {0.25}>",
           "a = DequantizeLinear(x, s, z)  b = DequantizeLinear(w, t)  c = Conv(a, b)  d = Relu(c)  y = QuantizeLinear(d, s, z)", 3, "dequantize_linear"),
    Effect("ToMixedPrecision", "`demote_to_f16`, `demote_to_bf16`", why="asked for by `--precision`; src/graph/demote_to_f16.test"),
    Effect("ManifestAlloc, ManifestLifetimes, MemoryPlan, AnnotateUsedMemory", "`insert_frees`, `plan_memory`", "(float[64,64] x) => (y) <float[64,64] w, float[64,64] v>", "a = MatMul(x, w)  b = MatMul(a, v)  y = Softmax(b)", 3),
    Effect("AnnotateTextureStorage", "", why="textures are memory of devices that Wick does not compile for"),
    Effect("SplitArgs", "", why="kernels have no limit on their operands that a graph could reach"),
    Effect("RemoveStandaloneReshapes", "reshapes are views", f"(float[4,8] x) => (y) <float[8,8] w, int64[2] s = {{2,16}}>", "a = MatMul(x, w)  b = Reshape(a, s)  y = Softmax(b)", 2),
    Effect("DivToMul", "`simplify`, `fold_scale`", f"({SMALL}) => (y) <float c = {{8}}>", "a = Div(x, c)  y = Neg(a)", 1, "div"),
    Effect("CapturePostDfsIndexInSpans, AnnotateSpans, LabelOps", "", why="every node carries its place in the model through all passes"),
    Effect("quantize.partition, annotate, calibrate, realize", "", why="Wick compiles quantized models; it does not quantize"),
]


def measure(e):
    """Kernels before, kernels after, and the operators that are left although they should not be."""
    model = e.model()
    text = models.low(model)
    groups = text[text.index("\ngroup") :] if "\ngroup" in text else ""
    left = [op for op in e.gone.split() if re.search(rf"= {op} ", groups)]
    return models.operators(model), len(models.launches(text)), left


def table(rows):
    out = ["| pass | in Wick | model | before | after |", "| --- | --- | --- | --- | --- |"]
    for e in rows:
        if e.why:
            out.append(f"| {e.passes} | {e.wick + '; ' if e.wick else ''}{e.why} | | | |")
        else:
            before, after, _ = measure(e)
            where = "not yet" if e.missing else e.wick
            out.append(f"| {e.passes} | {where} | `{re.sub(r'  +', '; ', e.nodes)}` | {before} | {after} |")
    return "\n".join(out)


def page():
    return f"""{BEGIN}

## The effects of Glow's and Relay's passes

Each row has the smallest model that shows the effect of a pass, in ONNX's text without its weights. "Before" is the number of its
operators, each of which would be a kernel; "after" is the number of kernels and copies that Wick runs (for {models.TARGET}). `scripts/effects.py`
has the models, with the operators that must be gone; `tests/forms/test_effects.py` checks them, and that results agree with ONNX Runtime's.
The result of a convolution is moved into the layout of the output by one more kernel.

### Glow

{table(GLOW)}

### Relay

{table(RELAY)}

{END}
"""


def outside(text):
    """The part of docs/passes.md that `wick opt --passes --markdown` prints."""
    return text[: text.index(BEGIN)].rstrip("\n") + "\n" if BEGIN in text else text


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        file = pathlib.Path(sys.argv[2])
        file.write_text(outside(file.read_text()) + "\n" + page())
    else:
        for e in GLOW + RELAY:
            if not e.why and (not sys.argv[1:] or any(n in e.passes for n in sys.argv[1:])):
                before, after, left = measure(e)
                as_expected = after == e.after and not left
                mark = "" if as_expected else f"   expected {e.after}, left: {' '.join(left)}"
                print(f"{before} -> {after}  {e.passes}{mark}{'  (known)' if e.missing and not as_expected else ''}")
