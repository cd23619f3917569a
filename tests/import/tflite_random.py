#!/usr/bin/env python3
"""Compares random TensorFlow Lite models of one operator with LiteRT's reference kernels.

    python tests/import/tflite_random.py --count 200 --seed 1 --wick build/wick [--only CONV_2D]

Needs ai-edge-litert. Integers must be equal; floats may differ by 1e-5 of the largest output. Where the reference set lacks a
kernel, LiteRT's plain built-in kernels are taken. A model that LiteRT refuses is skipped and counted.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

TYPES = {np.dtype(k): getattr(schema.TensorType, v) for k, v in
         {"f4": "FLOAT32", "i4": "INT32", "u1": "UINT8", "i8": "INT64", "?": "BOOL", "i2": "INT16", "i1": "INT8"}.items()}  # fmt: skip


class Tensor:
    """An operand (data: a constant) or a result."""

    def __init__(self, shape, dtype="f4", quant=None, data=None, fixed=False):
        self.shape, self.dtype, self.quant, self.data, self.fixed = list(shape), np.dtype(dtype), quant, data, fixed


def numbers(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (rng.normal(size=shape) * rng.choice([0.3, 1, 4])).astype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.itemsize <= 2:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max + 1, shape).astype(dtype)
    return rng.integers(-50, 50, shape).astype(dtype)


def weights(rng, shape, dtype):
    """Weights of 8 bits are symmetric: LiteRT's products of floats by them overflow at -128."""
    w = numbers(rng, shape, dtype)
    return np.maximum(w, w.dtype.type(-127)) if w.dtype == np.int8 else w


def scale(rng, dtype, zero=None):
    """Odd scales and zero points."""
    info = np.iinfo(dtype)
    symmetric = np.dtype(dtype) == np.int16
    point = 0 if symmetric else int(rng.integers(info.min, info.max + 1)) if zero is None else zero
    return [float(np.float32(rng.uniform(0.002, 0.3) * (2**-8 if symmetric else 1)))], [point], 0


def options(kind, **fields):
    o = getattr(schema, kind + "T")()
    for k, v in fields.items():
        assert hasattr(o, k), (kind, k)
        setattr(o, k, v)
    return kind, o


def model(code, version, operands, results, opts):
    m, g, op = schema.ModelT(), schema.SubGraphT(), schema.OperatorT()
    m.version, m.subgraphs, m.buffers = 3, [g], [schema.BufferT()]
    c = schema.OperatorCodeT()
    c.builtinCode = getattr(schema.BuiltinOperator, code)
    c.deprecatedBuiltinCode = min(c.builtinCode, 127)
    c.version = version
    m.operatorCodes, g.tensors, g.operators = [c], [], [op]
    g.inputs, g.outputs, op.inputs, op.outputs = [], [], [], []
    for i, t in enumerate(operands + results):
        if t is None:
            op.inputs.append(-1)
            continue
        x, index = schema.TensorT(), len(g.tensors)
        x.shape, x.type, x.name = t.shape, TYPES[t.dtype], f"t{index}"
        if t.quant:
            x.quantization = q = schema.QuantizationParametersT()
            q.scale, q.zeroPoint, q.quantizedDimension = [np.float32(s) for s in t.quant[0]], t.quant[1], t.quant[2]
        if t.data is not None and t.fixed:
            b = schema.BufferT()
            b.data = np.frombuffer(np.ascontiguousarray(t.data).tobytes(), np.uint8)
            m.buffers.append(b)
            x.buffer = len(m.buffers) - 1
        elif i < len(operands):
            g.inputs.append(index)
        g.tensors.append(x)
        (op.inputs if i < len(operands) else op.outputs).append(index)
    g.outputs = list(op.outputs)
    if opts:
        op.builtinOptionsType, op.builtinOptions = getattr(schema.BuiltinOptions, opts[0]), opts[1]
    b = flatbuffers.Builder(1024)
    b.Finish(m.Pack(b), b"TFL3")
    return bytes(b.Output())


# ---- operators: each maker returns (code, version, operands, results, options) ----

MAKERS = {}


def maker(*names):
    def add(fn):
        for name in names:
            MAKERS[name] = fn
        return fn

    return add


def shape_of(rng, least=1, most=4):
    return [int(n) for n in rng.integers(1, 7, rng.integers(least, most + 1))]


def pick(rng, *types):
    return str(rng.choice(types))


def operand(rng, shape, dtype, zero=None, fixed=False):
    q = scale(rng, dtype, zero) if dtype in ("i1", "u1", "i2") else None
    return Tensor(shape, dtype, q, numbers(rng, shape, dtype), fixed)


def result(rng, dtype, zero=None, quant=None):
    return Tensor([], dtype, quant or (scale(rng, dtype, zero) if dtype in ("i1", "u1", "i2") else None))


def constant(values, dtype="i4"):
    a = np.array(values, dtype)
    return Tensor(a.shape, dtype, None, a, True)


@maker("ADD", "SUB", "MUL", "DIV")
def binary(rng, name):
    dtype = pick(rng, "f4", "i1", "u1", "i2", "i4") if name != "DIV" else pick(rng, "f4", "i1", "u1")
    shape, act = shape_of(rng), int(rng.choice([0, 0, 1, 2, 3])) if dtype != "i4" else 0
    b = [n if rng.random() < 0.7 else 1 for n in shape][int(rng.integers(0, 2)) if len(shape) > 1 else 0 :]
    y = operand(rng, b, dtype)
    if name == "DIV":  # no divisor of 0
        zero = y.quant[1][0] if y.quant else 0
        y.data = np.where(y.data == zero, y.data.dtype.type(zero + 1 if zero < 100 else zero - 1), y.data)
        y.fixed = True
    extra = {"potScaleInt16": False} if name in ("ADD", "SUB") else {}
    return name, {"i2": 4, "i1": 2}.get(dtype, 1), [operand(rng, shape, dtype), y], [result(rng, dtype)], options(name.title() + "Options", fusedActivationFunction=act, **extra)


@maker("MAXIMUM", "MINIMUM")
def extremes(rng, name):
    dtype, shape = pick(rng, "f4", "i4", "i1", "u1"), shape_of(rng)
    x = operand(rng, shape, dtype)
    y = Tensor(shape, dtype, x.quant, numbers(rng, shape, dtype))
    return name, 2, [x, y], [Tensor([], dtype, x.quant)], options("MaximumMinimumOptions")


@maker("SQUARED_DIFFERENCE")
def squared(rng, name):
    dtype, shape = pick(rng, "f4", "i1", "i4"), shape_of(rng)
    return name, 2, [operand(rng, shape, dtype), operand(rng, shape, dtype)], [result(rng, dtype)], options("SquaredDifferenceOptions")


@maker("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
def compare(rng, name):
    dtype, shape = pick(rng, "f4", "i1", "u1", "i4"), shape_of(rng)
    word = "".join(w.title() for w in name.split("_"))
    return name, 2, [operand(rng, shape, dtype), operand(rng, shape, dtype)], [Tensor([], "?")], options(word + "Options")


@maker("LOGISTIC", "TANH")
def squash(rng, name):
    dtype, shape = pick(rng, "f4", "i1", "u1"), shape_of(rng)
    info = np.iinfo(dtype) if dtype != "f4" else None
    q = None
    if info:
        q = ([1 / 256], [int(info.min)], 0) if name == "LOGISTIC" else ([1 / 128], [0 if dtype == "i1" else 128], 0)
    return name, 2, [operand(rng, [256], dtype)], [result(rng, dtype, quant=q)], None


@maker("ABS", "NEG", "EXP", "LOG", "SQRT", "RSQRT", "SIN", "COS", "FLOOR", "CEIL", "ROUND", "SQUARE", "SIGN")
def unary(rng, name):
    dtype = pick(rng, "f4", "i1") if name in ("ABS", "RSQRT", "EXP") else "f4"
    x = operand(rng, [256] if dtype == "i1" else shape_of(rng), dtype, -128)
    if dtype == "f4" and name in ("LOG", "SQRT", "RSQRT"):
        x.data = np.abs(x.data) + np.float32(0.01)
    return name, 2 if dtype == "i1" else 1, [x], [result(rng, dtype)], None


@maker("RELU", "RELU6", "RELU_N1_TO_1", "ELU", "HARD_SWISH", "LEAKY_RELU", "GELU")
def activation(rng, name):
    dtype = pick(rng, "f4", "i1", "u1") if name not in ("GELU", "ELU") else pick(rng, "f4", "i1")
    o = None
    if name == "LEAKY_RELU":
        o = options("LeakyReluOptions", alpha=float(rng.choice([0.1, 0.3, 0.01])))
    if name == "GELU":
        o = options("GeluOptions", approximate=bool(rng.integers(0, 2)))
    return name, 2 if name not in ("HARD_SWISH", "ELU", "GELU") else 1, [operand(rng, [256], dtype)], [result(rng, dtype)], o


@maker("PRELU")
def prelu(rng, name):
    dtype, shape = pick(rng, "f4", "i1", "u1"), shape_of(rng, 3, 4)
    return name, 1, [operand(rng, shape, dtype), operand(rng, shape[-1:], dtype, fixed=True)], [result(rng, dtype)], None


def convolution(rng, depthwise, groups=1):
    dtype = pick(rng, "f4", "i1", "u1", "hybrid")
    hybrid = dtype == "hybrid"
    xt, wt = ("f4", "i1") if hybrid else (dtype, dtype)
    n, h, w, c = int(rng.integers(1, 3)), int(rng.integers(3, 12)), int(rng.integers(3, 12)), int(rng.integers(1, 6))
    kh, kw, out = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 7))
    multiplier = int(rng.integers(1, 3))
    shape, channels = ([1, kh, kw, c * multiplier], c * multiplier) if depthwise else ([out, kh, kw, c], out)
    axis = 3 if depthwise else 0
    many = wt == "i1" and (hybrid or rng.random() < 0.7)
    k = Tensor(shape, wt, None, weights(rng, shape, wt), True)
    x = operand(rng, [n, h, w, c], xt)
    if wt != "f4":
        s = [float(np.float32(v)) for v in rng.uniform(0.001, 0.02, channels if many else 1)]
        k.quant = (s, [0] * len(s), axis) if wt == "i1" else (s, [int(rng.integers(0, 256))], 0)
    bias = Tensor([channels], "f4", None, numbers(rng, [channels], "f4"), True)
    if not hybrid and xt != "f4":
        product = [x.quant[0][0] * s for s in k.quant[0]]
        bias = Tensor([channels], "i4", (product, [0] * len(product), 0), rng.integers(-2000, 2000, channels).astype("i4"), True)
    common = dict(padding=int(rng.integers(0, 2)), strideH=int(rng.integers(1, 3)), strideW=int(rng.integers(1, 3)), fusedActivationFunction=int(rng.choice([0, 1, 3])))
    common["dilationHFactor"] = common["dilationWFactor"] = int(rng.choice([1, 1, 2])) if common["strideH"] == common["strideW"] == 1 else 1
    y = Tensor([], xt, scale(rng, xt) if xt != "f4" else None)
    return common, multiplier, [x, k, bias], y


@maker("CONV_2D")
def conv(rng, name):
    common, _, operands, y = convolution(rng, False)
    return name, 3 if operands[0].dtype == np.int8 else 1, operands, [y], options("Conv2DOptions", **common)


@maker("DEPTHWISE_CONV_2D")
def depthwise(rng, name):
    common, multiplier, operands, y = convolution(rng, True)
    return name, 3 if operands[0].dtype == np.int8 else 2, operands, [y], options("DepthwiseConv2DOptions", depthMultiplier=multiplier, **common)


@maker("FULLY_CONNECTED")
def fully_connected(rng, name):
    dtype = pick(rng, "f4", "i1", "u1", "hybrid")
    hybrid = dtype == "hybrid"
    xt, wt = ("f4", "i1") if hybrid else (dtype, dtype)
    rows, depth, units = int(rng.integers(1, 5)), int(rng.integers(1, 40)), int(rng.integers(1, 12))
    x, w = operand(rng, [rows, depth], xt), Tensor([units, depth], wt, None, weights(rng, [units, depth], wt), True)
    if wt != "f4":
        w.quant = ([float(np.float32(rng.uniform(0.001, 0.02)))], [0 if wt == "i1" else int(rng.integers(0, 256))], 0)
    bias = Tensor([units], "f4", None, numbers(rng, [units], "f4"), True)
    if xt != "f4":
        bias = Tensor([units], "i4", ([float(np.float32(x.quant[0][0]) * np.float32(w.quant[0][0]))], [0], 0), rng.integers(-2000, 2000, units).astype("i4"), True)
    if rng.random() < 0.2:
        bias = None
    o = options("FullyConnectedOptions", fusedActivationFunction=int(rng.choice([0, 1, 3])), asymmetricQuantizeInputs=bool(hybrid and rng.integers(0, 2)), keepNumDims=bool(rng.integers(0, 2)))
    return name, 9 if hybrid else 4 if wt == "i1" else 1, [x, w, bias], [Tensor([], xt, scale(rng, xt) if xt != "f4" else None)], o


@maker("BATCH_MATMUL")
def batch_matmul(rng, name):
    dtype = pick(rng, "f4", "i1")
    b, i, j, k = (int(v) for v in rng.integers(1, 6, 4))
    adj = [bool(v) for v in rng.integers(0, 2, 2)]
    x, y = operand(rng, [b, k, i] if adj[0] else [b, i, k], dtype), operand(rng, [b, j, k] if adj[1] else [b, k, j], dtype)
    return name, 2, [x, y], [result(rng, dtype)], options("BatchMatMulOptions", adjX=adj[0], adjY=adj[1])


@maker("AVERAGE_POOL_2D", "MAX_POOL_2D")
def pool(rng, name):
    dtype = pick(rng, "f4", "i1", "u1")
    x = operand(rng, [int(rng.integers(1, 3)), int(rng.integers(3, 12)), int(rng.integers(3, 12)), int(rng.integers(1, 5))], dtype)
    o = options("Pool2DOptions", padding=int(rng.integers(0, 2)), strideH=int(rng.integers(1, 3)), strideW=int(rng.integers(1, 3)), filterHeight=int(rng.integers(1, 4)), filterWidth=int(rng.integers(1, 4)), fusedActivationFunction=int(rng.choice([0, 1, 3])))
    return name, 2, [x], [Tensor([], dtype, x.quant)], o


@maker("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION")
def along_last(rng, name):
    dtype = pick(rng, "f4", "i1", "u1") if name == "SOFTMAX" else "f4"
    q = ([1 / 256], [-128 if dtype == "i1" else 0], 0) if dtype != "f4" else None
    o = {"SOFTMAX": lambda: options("SoftmaxOptions", beta=float(rng.choice([1, 0.5, 2]))), "LOG_SOFTMAX": lambda: options("LogSoftmaxOptions"), "L2_NORMALIZATION": lambda: options("L2NormOptions")}[name]()
    return name, 2, [operand(rng, shape_of(rng, 2, 4), dtype)], [Tensor([], dtype, q)], o


@maker("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")
def reduction(rng, name):
    dtype = pick(rng, "f4", "i1", "i4", "u1") if name != "REDUCE_PROD" else "f4"
    x = operand(rng, shape_of(rng, 1, 4), dtype)
    axes = sorted(int(v) for v in rng.choice(len(x.shape), int(rng.integers(1, len(x.shape) + 1)), replace=False))
    y = Tensor([], dtype, x.quant) if name in ("REDUCE_MAX", "REDUCE_MIN") else result(rng, dtype)
    return name, 2, [x, constant(axes)], [y], options("ReducerOptions", keepDims=bool(rng.integers(0, 2)))


@maker("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(rng, name):
    dtype = pick(rng, "f4", "i1", "u1")
    x = operand(rng, [int(v) for v in rng.integers(1, 6, 4)], dtype)
    align, half = [(False, False), (True, False), (False, True)][int(rng.integers(0, 3))]
    kind = "ResizeBilinearOptions" if name == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
    return name, 3, [x, constant([int(v) for v in rng.integers(1, 10, 2)])], [Tensor([], dtype, x.quant)], options(kind, alignCorners=align, halfPixelCenters=half)


@maker("QUANTIZE")
def quantize(rng, name):
    source, target = pick(rng, "f4", "i1", "u1", "i2"), pick(rng, "i1", "u1")
    return name, 2, [operand(rng, shape_of(rng), source)], [result(rng, target)], options("QuantizeOptions")


@maker("DEQUANTIZE")
def dequantize(rng, name):
    return name, 3, [operand(rng, shape_of(rng), pick(rng, "i1", "u1", "i2"))], [Tensor([], "f4")], options("DequantizeOptions")


@maker("STRIDED_SLICE")
def strided(rng, name):
    dtype, shape = pick(rng, "f4", "i1", "i4"), shape_of(rng)
    n = len(shape)
    begin, end, stride = rng.integers(-8, 8, n), rng.integers(-8, 8, n), rng.choice([-2, -1, 1, 2, 3], n)
    masks = {k: int(rng.integers(0, 2**n)) for k in ("beginMask", "endMask")}
    shrink = int(rng.integers(0, 2**n)) if rng.random() < 0.3 else 0
    for k in range(n):
        if shrink >> k & 1:
            stride[k], begin[k] = 1, rng.integers(-shape[k], shape[k])
            end[k] = begin[k] + 1
            masks["endMask"] &= ~(1 << k)
            masks["beginMask"] &= ~(1 << k)
    x = operand(rng, shape, dtype)
    return name, 4, [x, constant(begin), constant(end), constant(stride)], [Tensor([], dtype, x.quant)], options("StridedSliceOptions", shrinkAxisMask=shrink, **masks)


@maker("TRANSPOSE")
def transpose(rng, name):
    x = operand(rng, shape_of(rng), pick(rng, "f4", "i1", "i4"))
    return name, 2, [x, constant(rng.permutation(len(x.shape)))], [Tensor([], x.dtype, x.quant)], options("TransposeOptions")


@maker("PAD", "MIRROR_PAD")
def pad(rng, name):
    x = operand(rng, shape_of(rng), pick(rng, "f4", "i1", "u1"))
    mode = int(rng.integers(0, 2))
    pairs = [[int(rng.integers(0, (n + mode) if name == "MIRROR_PAD" else 4)) for _ in range(2)] for n in x.shape]
    if name == "MIRROR_PAD":
        pairs = [[min(v, n - 1 + mode) for v in p] for p, n in zip(pairs, x.shape)]
    o = options("MirrorPadOptions", mode=mode) if name == "MIRROR_PAD" else options("PadOptions")
    return name, 2, [x, constant(pairs)], [Tensor([], x.dtype, x.quant)], o


@maker("CONCATENATION")
def concat(rng, name):
    dtype, shape = pick(rng, "f4", "i1", "u1", "i4"), shape_of(rng)
    axis = int(rng.integers(0, len(shape)))
    q = scale(rng, dtype) if dtype in ("i1", "u1") else None
    operands = []
    for _ in range(int(rng.integers(1, 4))):
        s = list(shape)
        s[axis] = int(rng.integers(1, 5))
        operands.append(Tensor(s, dtype, scale(rng, dtype) if dtype == "u1" else q, numbers(rng, s, dtype)))
    return name, 2, operands, [Tensor([], dtype, scale(rng, dtype) if dtype == "u1" else q)], options("ConcatenationOptions", axis=axis)


@maker("GATHER")
def gather(rng, name):
    x = operand(rng, shape_of(rng, 2, 4), pick(rng, "f4", "i1", "i4"))
    batch = int(rng.integers(0, 2))
    axis = int(rng.integers(batch, len(x.shape)))
    index = rng.integers(0, x.shape[axis], x.shape[:batch] + shape_of(rng, 1, 2)).astype("i4")
    return name, 2, [x, Tensor(index.shape, "i4", None, index)], [Tensor([], x.dtype, x.quant)], options("GatherOptions", axis=axis, batchDims=batch)


@maker("ARG_MAX", "ARG_MIN")
def arg(rng, name):
    x = operand(rng, shape_of(rng, 1, 4), pick(rng, "f4", "i1", "u1", "i4"))
    kind = "ArgMaxOptions" if name == "ARG_MAX" else "ArgMinOptions"
    return name, 2, [x, constant(int(rng.integers(0, len(x.shape))))], [Tensor([], "i4")], options(kind, outputType=schema.TensorType.INT32)


@maker("TRANSPOSE_CONV")
def transpose_conv(rng, name):
    dtype = pick(rng, "f4", "i1")
    n, h, w, c, out = (int(v) for v in rng.integers(1, 5, 5))
    kh, kw, sh, sw = (int(v) for v in rng.integers(1, 4, 4))
    padding = int(rng.integers(0, 2))
    size = [n, h * sh, w * sw, out] if padding == 0 else [n, (h - 1) * sh + kh, (w - 1) * sw + kw, out]
    x, k = operand(rng, [n, h, w, c], dtype), Tensor([out, kh, kw, c], dtype, None, weights(rng, [out, kh, kw, c], dtype), True)
    bias = None
    if dtype == "i1":
        s = [float(np.float32(v)) for v in rng.uniform(0.001, 0.02, out)]
        k.quant = (s, [0] * out, 0)
    return name, 3 if dtype == "i1" else 1, [constant(size), k, x], [result(rng, dtype)], options("TransposeConvOptions", padding=padding, strideH=sh, strideW=sw)


@maker("SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "REVERSE_V2", "CUMSUM", "TILE", "ONE_HOT", "SPLIT", "PACK", "UNPACK", "SELECT_V2", "FLOOR_DIV", "FLOOR_MOD", "POW", "CAST", "TOPK_V2")
def moves(rng, name):
    dtype = pick(rng, "f4", "i4")
    if name in ("SPACE_TO_DEPTH", "DEPTH_TO_SPACE"):
        x = operand(rng, [2, 4, 6, 8], "f4")
        return name, 1, [x], [Tensor([], "f4")], options("SpaceToDepthOptions" if name[0] == "S" else "DepthToSpaceOptions", blockSize=2)
    if name == "SPACE_TO_BATCH_ND":
        x = operand(rng, [2, 4, 5, 3], pick(rng, "f4", "i1"))
        return name, 3 if x.dtype == np.int8 else 1, [x, constant([2, 3]), constant([[1, 1], [0, 1]])], [Tensor([], x.dtype, x.quant)], options("SpaceToBatchNDOptions")
    x = operand(rng, shape_of(rng, 2, 4), dtype)
    n = len(x.shape)
    axis = int(rng.integers(0, n))
    same = [Tensor([], dtype)]
    if name == "REVERSE_V2":
        return name, 1, [x, constant([axis])], same, options("ReverseV2Options")
    if name == "CUMSUM":
        return name, 1, [x, constant(axis)], same, options("CumsumOptions", exclusive=bool(rng.integers(0, 2)), reverse=bool(rng.integers(0, 2)))
    if name == "TILE":
        return name, 1, [x, constant(rng.integers(1, 4, n))], same, options("TileOptions")
    if name == "ONE_HOT":
        index = rng.integers(-1, 6, shape_of(rng, 1, 3)).astype("i4")
        return name, 1, [Tensor(index.shape, "i4", None, index), constant(5), constant(2, "f4"), constant(-1, "f4")], [Tensor([], "f4")], options("OneHotOptions", axis=-1)
    if name == "SPLIT":
        x = operand(rng, [6, 4], dtype)
        return name, 2, [constant(0), x], [Tensor([], dtype) for _ in range(3)], options("SplitOptions", numSplits=3)
    if name == "PACK":
        return name, 1, [x, operand(rng, x.shape, dtype)], same, options("PackOptions", valuesCount=2, axis=axis)
    if name == "UNPACK":
        return name, 1, [x], [Tensor([], dtype) for _ in range(x.shape[axis])], options("UnpackOptions", num=x.shape[axis], axis=axis)
    if name == "SELECT_V2":
        return name, 1, [operand(rng, x.shape, "?"), x, operand(rng, x.shape[-1:], dtype)], same, options("SelectV2Options")
    if name == "CAST":
        target = pick(rng, "f4", "i4", "?", "u1")
        return name, 1, [x], [Tensor([], target)], options("CastOptions")
    if name == "TOPK_V2":
        return name, 2, [x, constant(int(rng.integers(1, x.shape[-1] + 1)))], [Tensor([], dtype), Tensor([], "i4")], options("TopKV2Options")
    y = operand(rng, x.shape, dtype)
    y.data = np.where(y.data == 0, y.data.dtype.type(3), y.data)
    if name == "POW":
        x.data, y.data = np.abs(x.data) % 5, np.abs(y.data) % 4
    kind = {"FLOOR_DIV": "FloorDivOptions", "FLOOR_MOD": "FloorModOptions", "POW": "PowOptions"}[name]
    return name, 2 if name != "POW" else 1, [x, y], same, options(kind)


# ---- the comparison ----


def litert(path, feeds):
    for kind in (OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
        try:
            it = Interpreter(model_path=str(path), experimental_op_resolver_type=kind)
            it.allocate_tensors()
            for d, x in zip(it.get_input_details(), feeds):
                it.set_tensor(d["index"], x)
            it.invoke()
            return [it.get_tensor(d["index"]) for d in it.get_output_details()]
        except (ValueError, RuntimeError) as e:
            why = str(e)
    return why.strip().split("\n")[-1]


def compare(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    if want.dtype.kind != "f":
        d = np.atleast_1d(np.abs(got.astype(np.int64) - want.astype(np.int64)))
        return f"{int((d > 0).sum())} of {d.size} differ, by at most {d.max()}" if d.size and d.max() else None
    limit = 1e-5 * max(1e-3, np.abs(want[np.isfinite(want)]).max(initial=0))
    d = np.atleast_1d(np.abs(got.astype(np.float64) - want))
    d[np.atleast_1d((got == want) | (np.isnan(got) & np.isnan(want)))] = 0
    return f"error {d.max():.3g} above {limit:.3g}" if d.size and not d.max() <= limit else None


def one(rng, name, wick, folder):
    made = MAKERS[name](rng, name)
    path = folder / "m.tflite"
    path.write_bytes(model(*made))
    feeds = [t.data for t in made[2] if t is not None and not t.fixed]
    want = litert(path, feeds)
    if isinstance(want, str):
        return "skip", want
    files = []
    for i, x in enumerate(feeds):
        files.append(folder / f"in_{i}.npy")
        np.save(files[-1], x)
    out = folder / "out"
    r = subprocess.run([wick, "run", path, "--inputs", *files, "--outputs", out], capture_output=True, text=True, timeout=120)
    if r.returncode:
        return "fail", (r.stderr or f"exit {r.returncode}").strip()[:300]
    for i, w in enumerate(want):
        bad = compare(np.load(out / f"output_{i}.npy"), w)
        if bad:
            types = [(str(t.dtype), t.shape) for t in made[2] if t is not None]
            return "fail", f"output {i}: {bad} {types} {vars(made[4][1]) if made[4] else ''}"
    return "pass", ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only")
    p.add_argument("--wick", default="build/wick")
    a = p.parse_args()
    names = a.only.split(",") if a.only else sorted(MAKERS)
    counts = {"pass": 0, "fail": 0, "skip": 0}
    for i in range(a.count):
        name = names[i % len(names)]
        with tempfile.TemporaryDirectory() as folder:
            what, why = one(np.random.default_rng([a.seed, i]), name, a.wick, pathlib.Path(folder))
        counts[what] += 1
        if what != "pass":
            print(f"{what} {i} {name}: {why}", flush=True)
    print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} refused by LiteRT")
    return 1 if counts["fail"] else 0


if __name__ == "__main__":
    sys.exit(main())
