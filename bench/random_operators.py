#!/usr/bin/env python3
"""Single operators of random kinds, shapes and attributes on Wick, ONNX Runtime and OpenVINO, in turns.

    build/venv/bin/python bench/random_operators.py [--seed 1] [--count 200] [--threads 1] [--save FOLDER] [FAMILY ...]

A case is an ONNX model of one node that takes between 20 us and 5 ms on the faster peer; others are drawn again. The ratio
is Wick's time over that of the faster of the peers that run the model, each the least of all rounds. Outputs are compared
with ONNX Runtime's. Without a FAMILY (elementwise, broadcast, cast, reduce, softmax, norm, conv, transposed, pool, matmul, move,
gather, pad, resize, recurrent, quantize, search) cases of all are drawn; `integer`, products of bytes, is drawn by name. The package `wick` is the one that PYTHONPATH names.
"""

import argparse
import itertools
import math
import pathlib
import statistics
import warnings

import numpy as np
import onnx
from onnx import helper, numpy_helper

import report
from side_by_side import Runtimes

SHORTEST, LONGEST = 20e-6, 5e-3  # seconds on the faster peer
TOLERANCE = 1e-3
NP = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


class Case:
    """A model of one node. `inputs` maps a name to an array, or to a tuple of one array that is constant."""

    def __init__(self, op, inputs, outputs=1, opset=21, **attributes):
        self.op, self.inputs, self.outputs, self.opset = op, inputs, outputs, opset
        self.attributes = {k: v for k, v in attributes.items() if v is not None}

    def __str__(self):
        show = lambda a: f"{a.dtype.name}{list(a.shape)}"
        args = [show(a[0]) + "!" if isinstance(a, tuple) else show(a) for a in self.inputs.values() if a is not None]
        return f"{self.op}({', '.join(args)}{''.join(f', {k}={v}' for k, v in self.attributes.items())})"

    def model(self):
        fixed = {n: a[0] for n, a in self.inputs.items() if isinstance(a, tuple)}
        self.feed = {n: a for n, a in self.inputs.items() if a is not None and not isinstance(a, tuple)}
        names = [n if a is not None else "" for n, a in self.inputs.items()]
        outputs = [f"y{i}" for i in range(self.outputs)]
        info = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in self.feed.items()]
        node = helper.make_node(self.op, names, outputs, **self.attributes)
        graph = helper.make_graph([node], "one", info, [helper.make_empty_tensor_value_info(o) for o in outputs],
                                  [numpy_helper.from_array(a, n) for n, a in fixed.items()])  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)


class Draw:
    """Random numbers, shapes and tensors of one seed."""

    def __init__(self, seed):
        self.r = np.random.default_rng(seed)

    def pick(self, *of):
        return of[int(self.r.integers(len(of)))]

    def whole(self, low, high):
        return int(self.r.integers(low, high + 1))

    def near(self, low, high):
        """A whole number whose logarithm is uniform."""
        return int(round(math.exp(self.r.uniform(math.log(low), math.log(high)))))

    def shape(self, elements=None, rank=None, least=1):
        """About so many elements, in dimensions of any length."""
        elements = elements or self.near(10_000, 1_500_000)
        rank = rank or self.whole(1, 5)
        w = self.r.dirichlet(np.ones(rank))
        return [max(least, round(elements**x)) for x in w]

    def tensor(self, shape, kind="f32"):
        if kind == "bool":
            return self.r.random(shape) < 0.5
        if kind[0] in "iu":
            top = 100 if kind in ("i8", "u8") else 1000
            return self.r.integers(1 if kind == "u8" else -top, top, shape).astype(NP[kind])
        return self.r.standard_normal(shape).astype(NP[kind])

    def weights(self, *shape):
        return (self.tensor(shape) / np.float32(math.sqrt(max(1, np.prod(shape[1:])))),)

    def axes(self, rank, most=None):
        n = self.whole(1, min(rank, most or rank))
        return sorted(int(x) for x in self.r.choice(rank, n, replace=False))


UNARY = "Exp Tanh Erf Sigmoid Relu LeakyRelu Gelu HardSwish HardSigmoid Mish Softplus Elu Selu Celu Abs Neg Floor Ceil Round Sin Cos Atan Sign Softsign ThresholdedRelu"
POSITIVE = "Log Sqrt Reciprocal"


def elementwise(d):
    op = d.pick(*UNARY.split(), *POSITIVE.split(), "Clip", "Not", "IsNaN")
    x = d.tensor(d.shape(), "bool" if op == "Not" else "f32")
    if op in POSITIVE:
        x = np.abs(x) + np.float32(0.1)
    more = {"lo": (np.float32(-0.5),), "hi": (np.float32(0.7),)} if op == "Clip" else {}
    return Case(op, {"x": x, **{k: (np.array(v[0]),) for k, v in more.items()}}, **({"approximate": d.pick("none", "tanh")} if op == "Gelu" else {}))


def broadcast(d):
    op = d.pick("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "PRelu", "Mod", "Div", "Equal", "Less", "GreaterOrEqual", "And", "Where", "Sum", "BitwiseAnd")
    kind = {"And": "bool", "BitwiseAnd": "i32", "Mod": d.pick("i32", "i64", "f32")}.get(op, "f32" if op in ("PRelu", "Pow", "Sum") else d.pick("f32", "f32", "f32", "i32", "i64"))
    shape = d.shape()
    other = [n if d.r.random() < 0.6 else 1 for n in shape][d.whole(0, len(shape) - 1) if d.r.random() < 0.4 else 0 :]
    a, b = d.tensor(shape, kind), d.tensor(other, kind)
    if op in ("Mod", "Div", "Pow") and kind[0] == "i":
        b = np.abs(b) + b.dtype.type(1)
    if op == "Pow":
        a = np.abs(a) + np.float32(0.1)
    if d.r.random() < 0.3 and op not in ("PRelu",):
        a, b = b, a
        if op in ("Div", "Mod") and kind[0] == "i":
            b = np.abs(b) + b.dtype.type(1)
    if op == "Div" and kind == "f32":
        b = np.abs(b) + np.float32(0.1)
    if op == "Where":
        return Case(op, {"c": d.tensor(shape, "bool"), "a": a, "b": b})
    if op in ("PRelu",) and d.r.random() < 0.8:
        b = (b,)
    return Case(op, {"a": a, "b": b}, **({"fmod": 1} if op == "Mod" and kind == "f32" else {}))


def cast(d):
    source = d.pick("f32", "f32", "f64", "f16", "i8", "u8", "i32", "i64", "bool")
    target = d.pick("f32", "f64", "f16", "i8", "u8", "i32", "i64", "bool")
    if source == target:
        target = "i32" if source != "i32" else "f32"
    x = d.tensor(d.shape(), source)
    if source[0] == "f" and target == "u8":
        x = np.abs(x)
    return Case("Cast", {"x": x}, to=helper.np_dtype_to_tensor_dtype(np.dtype(NP[target])))


def reduce(d):
    op = d.pick("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1", "ReduceLogSumExp", "ReduceSumSquare", "ReduceProd", "ArgMax", "ArgMin")
    shape = d.shape()
    if op[0] == "A":
        kind = d.pick("f32", "f32", "f32", "i32", "f64", "i8")
        return Case(op, {"x": d.tensor(shape, kind)}, axis=d.whole(0, len(shape) - 1), keepdims=d.whole(0, 1), select_last_index=d.pick(None, None, 1))
    kind = d.pick("f32", "f32", "f32", "i32", "i64", "f64") if op in ("ReduceSum", "ReduceMax", "ReduceMin") else d.pick("f32", "f32", "f32", "f64")
    return Case(op, {"x": d.tensor(shape, kind), "axes": (np.array(d.axes(len(shape)), np.int64),)}, keepdims=d.whole(0, 1))


def softmax(d):
    shape = d.shape(d.near(5_000, 700_000))
    return Case(d.pick("Softmax", "Softmax", "LogSoftmax", "Hardmax"), {"x": d.tensor(shape)}, axis=d.whole(0, len(shape) - 1))


def norm(d):
    op = d.pick("LayerNormalization", "InstanceNormalization", "GroupNormalization", "BatchNormalization", "LpNormalization", "MeanVarianceNormalization", "LRN")
    if op == "LayerNormalization":
        shape = d.shape(rank=d.whole(2, 4))
        axis = d.whole(1, len(shape) - 1)
        return Case(op, {"x": d.tensor(shape), "s": (d.tensor(shape[axis:]),), "b": (d.tensor(shape[axis:]),)}, axis=axis)
    if op == "LpNormalization":
        shape = d.shape()
        return Case(op, {"x": d.tensor(shape)}, axis=d.whole(0, len(shape) - 1), p=d.whole(1, 2))
    n, g = d.pick(1, 1, 2, 4), d.pick(2, 4, 8)
    c = d.near(2, 128) * (g if op[0] == "G" else 1)
    shape = [n, c, *d.shape(max(16, 400_000 // (n * c)), d.whole(1, 2) if op not in ("LRN", "MeanVarianceNormalization") else 2, 2)]
    x, v = d.tensor(shape), lambda: (d.tensor([c]),)
    if op == "BatchNormalization":
        return Case(op, {"x": x, "s": v(), "b": v(), "m": v(), "v": (np.abs(v()[0]) + np.float32(0.5),)})
    if op[0] == "L":
        return Case(op, {"x": x}, size=d.pick(3, 5, 7))
    if op[0] == "M":
        return Case(op, {"x": x}, opset=13, axes=d.pick([0, 2, 3], [2, 3]))
    return Case(op, {"x": x, "s": v(), "b": v()}, **({"num_groups": g} if op[0] == "G" else {}))


def geometry(d, rank, most):
    kernel = [d.pick(1, 2, 3, 3, 3, 4, 5, 7)] * rank
    if d.r.random() < 0.25:
        kernel = [d.pick(1, 3, 5) for _ in range(rank)]
    strides = [d.pick(1, 1, 1, 2, 2, 3)] * rank
    dilations = [d.pick(1, 1, 1, 1, 2, 3)] * rank
    least = [(k - 1) * e + 1 for k, e in zip(kernel, dilations)]
    size = [max(l, round(most ** (1 / rank) * d.r.uniform(0.6, 1.5))) for l in least]
    pads = [d.whole(0, k // 2) for k in kernel]
    return kernel, strides, dilations, size, pads + pads


def conv(d):
    rank = d.pick(1, 2, 2, 2, 2, 3)
    kind = d.pick("dense", "dense", "dense", "depthwise", "multiplier", "grouped", "grouped")
    g = d.near(2, 192) if kind in ("depthwise", "multiplier") else d.pick(2, 3, 4, 8, 16, 32) if kind == "grouped" else 1
    cg, mg = (1, 1) if kind == "depthwise" else (1, d.pick(2, 3, 4)) if kind == "multiplier" else (d.near(1, 256 // g if g > 1 else 256), d.near(1, 256 // g if g > 1 else 256))
    kernel, strides, dilations, size, pads = geometry(d, rank, 1)
    work = d.near(2_000_000, 400_000_000)
    pixels = max(16, min(40_000, work / (2 * g * cg * mg * np.prod(kernel)) * np.prod(strides)))
    size = [max((k - 1) * e + 1, round(pixels ** (1 / rank) * d.r.uniform(0.7, 1.4))) for k, e in zip(kernel, dilations)]
    x = d.tensor([d.pick(1, 1, 1, 2, 4) if pixels < 5000 else 1, g * cg, *size])
    bias = {"b": (d.tensor([g * mg]),)} if d.r.random() < 0.7 else {}
    return Case("Conv", {"x": x, "w": d.weights(g * mg, cg, *kernel), **bias}, group=g, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads)


def transposed(d):
    rank = d.pick(1, 2, 2, 2, 3)
    g = d.pick(1, 1, 1, 2, 4)
    cg, mg = d.near(2, 128), d.near(2, 96)
    kernel = [d.pick(1, 2, 3, 4, 5)] * rank
    strides = [d.pick(1, 2, 2, 2, 3, 4)] * rank
    pads = [d.whole(0, max(0, (kernel[0] - 1) // 2))] * (2 * rank)
    pixels = max(9, min(10_000, d.near(2_000_000, 200_000_000) / (2 * g * cg * mg * np.prod(kernel))))
    x = d.tensor([1, g * cg, *[max(2, round(pixels ** (1 / rank) * d.r.uniform(0.7, 1.4))) for _ in range(rank)]])
    return Case("ConvTranspose", {"x": x, "w": d.weights(g * cg, mg, *kernel)}, group=g, strides=strides, pads=pads)


def pool(d):
    op = d.pick("MaxPool", "MaxPool", "AveragePool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool")
    rank = d.pick(1, 2, 2, 2, 3)
    n, c = d.pick(1, 1, 2), d.near(2, 256)
    pixels = max(64, min(60_000, d.near(20_000, 1_500_000) / (n * c)))
    size = [max(8, round(pixels ** (1 / rank) * d.r.uniform(0.7, 1.4))) for _ in range(rank)]
    x = d.tensor([n, c, *size])
    if op[0] == "G":
        return Case(op, {"x": x})
    k = [d.pick(2, 2, 3, 3, 5)] * rank
    pad = d.whole(0, k[0] // 2)
    more = {"count_include_pad": d.whole(0, 1)} if op[0] == "A" else {}
    return Case(op, {"x": x}, kernel_shape=k, strides=[d.pick(1, 2, 2, k[0])] * rank, pads=[pad] * (2 * rank), **more)


def matmul(d):
    kind = d.pick("plain", "weights", "weights", "gemm", "batched", "vector", "heads", "bytes")
    m, n, k = d.near(2, 600), d.near(8, 1200), d.near(8, 1200)
    while m * n * k > 150e6:
        m, n, k = max(1, m // 2), max(1, n * 2 // 3), max(1, k * 2 // 3)
    if kind == "vector":
        m, n, k = d.pick(1, 1, n), d.near(100, 2000), d.near(100, 2000)
        n = 1 if m != 1 else n
        return Case("MatMul", {"a": d.tensor([m, k]), "b": d.weights(k, n) if d.r.random() < 0.6 else d.tensor([k, n])})
    if kind == "gemm":
        ta, tb = d.whole(0, 1), d.whole(0, 1)
        b = d.tensor([n, k] if tb else [k, n])
        return Case("Gemm", {"a": d.tensor([k, m] if ta else [m, k]), "b": (b,) if d.r.random() < 0.7 else b, "c": (d.tensor([n]),)}, transA=ta, transB=tb)
    if kind in ("batched", "heads"):
        batch = [d.near(2, 24)] if kind == "batched" else [1, d.pick(2, 4, 8, 12)]
        while m * n * k * np.prod(batch) > 100e6:
            m, n, k = max(1, m // 2), max(1, n // 2), max(1, k * 2 // 3)
        return Case("MatMul", {"a": d.tensor([*batch, m, k]), "b": d.tensor([*(batch if d.r.random() < 0.8 else []), k, n])})
    if kind == "bytes":
        return Case("MatMulInteger", {"a": d.tensor([m, k], "u8"), "b": (d.tensor([k, n], "i8"),)})
    a = d.tensor([m, k] if d.r.random() < 0.6 else [d.pick(1, 2), m, k])
    return Case("MatMul", {"a": a, "b": d.weights(k, n) if kind == "weights" else d.tensor([k, n])})


def integer(d):
    """Products of bytes: signs, zero points, and constant or other factors."""
    op = d.pick("MatMulInteger", "MatMulInteger", "QLinearMatMul", "ConvInteger", "QLinearConv")
    ta, tb = d.pick("u8", "u8", "i8"), d.pick("i8", "i8", "u8")
    zero = lambda t: (np.array(d.whole(1, 99), NP[t]),)
    scale = lambda: (np.array(d.r.uniform(0.01, 0.1), np.float32),)
    if "MatMul" in op:
        m, n, k = d.near(1, 600), d.near(8, 1200), d.near(8, 1200)
        while m * n * k > 200e6:
            m, n, k = max(1, m // 2), max(1, n * 2 // 3), max(1, k * 2 // 3)
        a, b = d.tensor([m, k], ta), d.tensor([k, n], tb)
    else:
        g, c, o = d.pick(1, 1, 1, 2), d.near(2, 128), d.near(2, 128)
        kernel, strides, dilations, _, pads = geometry(d, 2, 1)
        size = [max((e - 1) * l + 1, round(math.sqrt(min(20_000, d.near(2_000_000, 200_000_000) / (g * c * o * np.prod(kernel)))) * d.r.uniform(0.7, 1.4))) for e, l in zip(kernel, dilations)]
        a, b = d.tensor([1, g * c, *size], ta), d.tensor([g * o, c, *kernel], tb)
    b = b if "MatMul" in op and d.r.random() < 0.2 else (b,)
    more = {} if "MatMul" in op else {"group": g, "kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads}
    if op[0] == "Q":
        ty = d.pick("u8", "i8")
        return Case(op, {"a": a, "sa": scale(), "za": zero(ta), "b": b, "sb": scale(), "zb": zero(tb), "sy": (np.array(d.r.uniform(20, 200), np.float32),), "zy": zero(ty)}, **more)
    zeros = {"za": zero(ta), "zb": zero(tb)} if d.r.random() < 0.5 else {"za": zero(ta)} if d.r.random() < 0.5 else {}
    return Case(op, {"a": a, "b": b, **zeros}, **more)


def move(d):
    op = d.pick("Transpose", "Transpose", "Transpose", "Concat", "Split", "Slice", "Tile", "Expand", "DepthToSpace", "SpaceToDepth", "Trilu")
    kind = d.pick("f32", "f32", "f32", "i64", "u8", "f16")
    shape = d.shape(rank=d.whole(2, 5))
    x, axis = d.tensor(shape, kind), d.whole(0, len(shape) - 1)
    i64 = lambda a: (np.array(a, np.int64),)
    if op == "Transpose":
        return Case(op, {"x": x}, perm=[int(p) for p in d.r.permutation(len(shape))])
    if op == "Concat":
        parts = [d.tensor([*shape[:axis], d.near(1, 2 * shape[axis]), *shape[axis + 1 :]], kind) for _ in range(d.whole(2, 4))]
        return Case(op, {f"x{i}": p for i, p in enumerate(parts)}, axis=axis)
    if op == "Split":
        n = d.whole(2, 4)
        shape[axis] = max(n, shape[axis])
        cuts = np.diff([0, *sorted(int(c) for c in d.r.choice(np.arange(1, shape[axis]), n - 1, replace=False)), shape[axis]])
        return Case(op, {"x": d.tensor(shape, kind), "split": i64(cuts)}, n, axis=axis)
    if op == "Slice":
        axes = d.axes(len(shape))
        begin = [d.whole(0, shape[a] // 3) for a in axes]
        end = [max(b + 1, shape[a] - d.whole(0, shape[a] // 3)) for a, b in zip(axes, begin)]
        return Case(op, {"x": x, "starts": i64(begin), "ends": i64(end), "axes": i64(axes), "steps": i64([d.pick(1, 1, 2, 3) for _ in axes])})
    if op == "Tile":
        return Case(op, {"x": d.tensor([max(1, n // 2) for n in shape], kind), "r": i64([d.pick(1, 1, 2, 3) for _ in shape])})
    if op == "Expand":
        return Case(op, {"x": d.tensor([n if d.r.random() < 0.5 else 1 for n in shape], kind), "s": i64(shape)})
    if op == "Trilu":
        return Case(op, {"x": d.tensor(shape, d.pick("f32", "i64"))}, upper=d.whole(0, 1))
    b = d.pick(2, 2, 4)
    c, hw = d.near(1, 32), d.near(8, 64)
    shape = [d.pick(1, 2), c * b * b, hw, hw] if op[0] == "D" else [d.pick(1, 2), c, hw // b * b, hw // b * b]
    return Case(op, {"x": d.tensor(shape)}, blocksize=b, **({"mode": d.pick("DCR", "CRD")} if op[0] == "D" else {}))


def gather(d):
    op = d.pick("Gather", "Gather", "Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "OneHot")
    shape = d.shape(rank=d.whole(2, 4), least=2)
    axis = d.whole(0, len(shape) - 1)
    x = d.tensor(shape)
    if op == "Gather":
        count = max(1, d.near(10_000, 800_000) // max(1, x.size // shape[axis]))
        return Case(op, {"x": (x,) if d.r.random() < 0.4 else x, "i": d.r.integers(0, shape[axis], [count])}, axis=axis)
    if op in ("GatherElements", "ScatterElements"):
        n = [max(1, s - d.whole(0, s // 2)) for s in shape]
        if op[0] == "G":
            return Case(op, {"x": x, "i": d.r.integers(0, shape[axis], n)}, axis=axis)
        n[axis] = min(n[axis], shape[axis])
        index = np.argsort(d.r.random([*n[:axis], shape[axis], *n[axis + 1 :]]), axis=axis)  # no index twice
        index = np.take(index, np.arange(n[axis]), axis=axis).astype(np.int64)
        return Case(op, {"x": x, "i": index, "u": d.tensor(n)}, axis=axis)
    if op == "OneHot":
        n = d.near(100, 5000)
        depth = d.near(4, 200)
        return Case(op, {"i": d.r.integers(0, depth, [n]), "depth": (np.array(depth, np.int64),), "v": (np.array([0, 1], np.float32),)}, axis=d.pick(-1, 0))
    k = d.whole(1, len(shape) - 1)
    count = max(1, d.near(5_000, 400_000) // int(np.prod(shape[k:])))
    if op == "ScatterND":
        count = min(count, int(np.prod(shape[:k])))
        flat = d.r.permutation(int(np.prod(shape[:k])))[:count]
    else:
        flat = d.r.integers(0, int(np.prod(shape[:k])), count)
    index = np.stack(np.unravel_index(flat, shape[:k]), -1).astype(np.int64)
    if op == "GatherND":
        return Case(op, {"x": x, "i": index})
    return Case(op, {"x": x, "i": index, "u": d.tensor([count, *shape[k:]])})


def pad(d):
    shape = d.shape(rank=d.whole(2, 4), least=4)
    mode = d.pick("constant", "constant", "reflect", "edge", "wrap")
    pads = [d.whole(0, 3) if d.r.random() < 0.7 else 0 for _ in range(2 * len(shape))]
    return Case("Pad", {"x": d.tensor(shape), "p": (np.array(pads, np.int64),)}, mode=mode)


def resize(d):
    mode = d.pick("nearest", "linear", "linear", "cubic")
    n, c = d.pick(1, 2), d.near(1, 128)
    hw = [max(4, round(math.sqrt(d.near(10_000, 400_000) / (n * c)) * d.r.uniform(0.7, 1.4))) for _ in range(2)]
    out = [n, c, *[max(2, round(s * d.pick(0.5, 2, 2, 3, d.r.uniform(0.4, 2.5)))) for s in hw]]
    modes = ["half_pixel", "align_corners", "asymmetric"] + ["pytorch_half_pixel"] * (mode != "nearest")
    more = {"nearest_mode": d.pick("floor", "round_prefer_floor")} if mode == "nearest" else {}
    return Case("Resize", {"x": d.tensor([n, c, *hw]), "roi": None, "s": None, "z": (np.array(out, np.int64),)}, mode=mode, coordinate_transformation_mode=d.pick(*modes), **more)


def recurrent(d):
    op, gates = d.pick(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    steps, batch, size, hidden = d.near(4, 60), d.pick(1, 1, 2, 8), d.near(8, 200), d.near(8, 200)
    ways = d.pick(1, 1, 2)
    w = {"w": d.weights(ways, gates * hidden, size), "r": d.weights(ways, gates * hidden, hidden), "b": (d.tensor([ways, 2 * gates * hidden]),)}
    w["w"], w["r"] = ((w[k][0] * np.float32(math.sqrt(gates * hidden)),) for k in "wr")
    more = {"linear_before_reset": d.whole(0, 1)} if op == "GRU" else {}
    if d.r.random() < 0.25:
        w["lens"] = (np.array([d.whole(1, steps) for _ in range(batch)], np.int32),)
    return Case(op, {"x": d.tensor([steps, batch, size]), **w}, 2, hidden_size=hidden, direction="bidirectional" if ways == 2 else d.pick("forward", "reverse"), **more)


def quantize(d):
    shape = d.shape()
    op = d.pick("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
    if op[1] == "y":
        return Case(op, {"x": d.tensor(shape)}, 3)
    kind, axis = d.pick("u8", "i8"), d.whole(0, len(shape) - 1)
    n = [shape[axis]] if d.r.random() < 0.4 else []
    scale = np.abs(d.tensor(n)) / np.float32(20) + np.float32(0.01)
    x = d.tensor(shape, "f32" if op[0] == "Q" else kind)
    if n and d.r.random() < 0.3:  # a scale for each block of elements along the axis
        block = d.pick(16, 32, 128)
        blocks = [*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :]]
        scale = np.abs(d.tensor(blocks)) / np.float32(20) + np.float32(0.01)
        return Case(op, {"x": x, "s": (scale,), "z": (np.zeros(blocks, NP[kind]) + NP[kind](3),)}, axis=axis, block_size=block)
    return Case(op, {"x": x, "s": (np.asarray(scale, np.float32),), "z": (np.zeros(n, NP[kind]) + NP[kind](3),)}, axis=axis)


def search(d):
    op = d.pick("TopK", "TopK", "CumSum", "NonZero", "GridSample")
    shape = d.shape(d.near(5_000, 300_000), least=2)
    axis = d.whole(0, len(shape) - 1)
    if op == "TopK":
        return Case(op, {"x": d.tensor(shape), "k": (np.array([min(shape[axis], d.pick(1, 3, 10, 50))], np.int64),)}, 2, axis=axis, largest=d.pick(None, None, 0))
    if op == "CumSum":
        return Case(op, {"x": d.tensor(shape, d.pick("f32", "f32", "i32", "i64", "f64")), "axis": (np.array(axis, np.int64),)}, exclusive=d.whole(0, 1), reverse=d.whole(0, 1))
    if op == "NonZero":
        return Case(op, {"x": d.tensor(shape, "bool")})
    c, h = d.near(1, 64), d.near(16, 80)
    return Case(op, {"x": d.tensor([1, c, h, h]), "g": np.clip(d.tensor([1, h, h, 2]), -1, 1)}, mode=d.pick("linear", "nearest"), align_corners=d.whole(0, 1))


FAMILIES = {f.__name__: f for f in (elementwise, broadcast, cast, reduce, softmax, norm, conv, transposed, pool, matmul, move, gather, pad, resize, recurrent, quantize, search, integer)}


def summary(table, names, threads):
    """Prints the means of (ratio, family, ..., own and the peer's microseconds); gives the line and the rows."""
    ratios = sorted(t[0] for t in table)
    mean = lambda r: statistics.geometric_mean(r) if r else math.nan
    over = lambda x: sum(t[0] > x and t[-2] - t[-1] > 5 for t in table)
    line = f"geometric mean {mean(ratios):.2f}, 95th percentile {ratios[int(0.95 * len(ratios))]:.2f}, most {ratios[-1]:.2f}, over 1.1 (and 5 us): {over(1.1)}"
    print(f"\n{len(table)} cases, {threads} thread(s): {line}")
    rows = []
    for n in names:
        own = [t[0] for t in table if t[1] == n]
        if own:
            rows.append([n, len(own), f"{mean(own):.2f}", f"{max(own):.2f}", sum(r > 1.1 for r in own)])
            print(f"{n:12s} {len(own):4d} cases, geometric mean {mean(own):.2f}, most {max(own):.2f}, over 1.1: {sum(r > 1.1 for r in own)}")
    return line, rows


def write(section, seed, threads, line, rows):
    about = (f"{report.machine()}; {report.versions(['onnxruntime', 'openvino'])}; {report.today()}; seed {seed}, {threads} thread"
             f"{'s' * (threads > 1)}; {line}.\n\n")  # fmt: skip
    report.write(section, about + report.table(["family", "cases", "geometric mean", "most", "over 1.1"], rows))


def arguments(doc, families, count, rounds):
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=count)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=rounds)
    p.add_argument("--write", action="store_true", help="the summary into README.md")
    p.add_argument("--only", type=int, nargs="*", help="numbers of cases")
    p.add_argument("--save", type=pathlib.Path, help="a folder for the models")
    p.add_argument("families", nargs="*", metavar="FAMILY")
    a = p.parse_args()
    a.families = a.families or list(families)
    return a


def cases(a, families, draw):
    """Yields (number, family, result of `draw` for the family and a seed), without end or for the given numbers."""
    for number in a.only or itertools.count(1):
        name = a.families[number % len(a.families)]
        yield number, name, draw(families[name], [a.seed, number, list(families).index(name)])


def main():
    a = arguments(__doc__, [f for f in FAMILIES if f != "integer"], 200, 7)
    warnings.filterwarnings("ignore")
    table, runtimes = [], Runtimes(a.threads)
    for number, name, case in cases(a, FAMILIES, lambda family, seed: family(Draw(seed))):
        if len(table) == a.count:
            break
        try:
            model = case.model().SerializeToString()
        except onnx.shape_inference.InferenceError:
            continue
        if a.save:
            a.save.mkdir(parents=True, exist_ok=True)
            (a.save / f"{number}.onnx").write_bytes(model)
        measured = runtimes.measure(model, case.feed, a.rounds, SHORTEST, LONGEST)
        if measured is None:
            continue
        ms, error = measured
        peer = min((n for n in ms if n != "wick"), key=ms.get)
        ratio = ms["wick"] / ms[peer]
        table.append((ratio, name, ms["wick"] * 1e6, ms[peer] * 1e6))
        wrong = f"  DIFFERS {error:.0e}" if error > TOLERANCE else ""
        print(f"{ratio:7.2f} {ms['wick'] * 1e6:9.1f} us {ms[peer] * 1e6:9.1f} us {peer:11s} {number:5d} {case}{wrong}", flush=True)
    line, rows = summary(table, a.families, a.threads)
    if a.write:
        write("random operators", a.seed, a.threads, line, rows)


if __name__ == "__main__":
    main()
