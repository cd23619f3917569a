"""Operators of com.microsoft in random configurations, beside ONNX Runtime's CPU provider."""
import math
import os
import pathlib
import random
import re
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
import generators  # noqa: E402
import wick  # noqa: E402

COUNT = int(os.environ.get("WICK_CONFIGURATIONS", 3))  # configurations of each operator


def model(op, operands, constants, outputs, attributes):
    """operands: arrays, or None for one that is missing; constants: the indices of those that are initializers."""
    names = [f"x{k}" if a is not None else "" for k, a in enumerate(operands)]
    kind = {k: helper.np_dtype_to_tensor_dtype(a.dtype) for k, a in enumerate(operands) if a is not None}
    inputs = [helper.make_tensor_value_info(names[k], kind[k], operands[k].shape) for k in kind if k not in constants]
    first = [numpy_helper.from_array(operands[k], names[k]) for k in kind if k in constants]
    while names and not names[-1]:
        names.pop()
    node = helper.make_node(op, names, [f"y{k}" if wanted else "" for k, wanted in enumerate(outputs)], domain="com.microsoft", **attributes)
    results = [helper.make_empty_tensor_value_info(f"y{k}") for k, wanted in enumerate(outputs) if wanted]
    graph = helper.make_graph([node], "g", inputs, results, first)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    feeds = {names[k]: operands[k] for k in kind if k not in constants}
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString(), feeds


def compare(op, operands, *, constants=(), outputs=1, rtol=1e-4, atol=2e-5, steps=0, **attributes):
    """steps: by how many integers results may differ, because ONNX Runtime does not round once."""
    outputs = [True] * outputs if isinstance(outputs, int) else outputs
    bytes_, feeds = model(op, operands, constants, outputs, attributes)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    expected = ort.InferenceSession(bytes_, options, providers=["CPUExecutionProvider"]).run(None, feeds)
    got = wick.InferenceSession(bytes_, cache="").run(None, feeds)
    for e, g in zip(expected, got, strict=True):
        assert e.dtype == g.dtype and e.shape == g.shape, (op, attributes, e.shape, g.shape)
        if e.dtype.kind in "iu":
            assert np.abs(e.astype(np.int64) - g.astype(np.int64)).max(initial=0) <= steps, (op, attributes)
        else:
            np.testing.assert_allclose(g, e, rtol=rtol, atol=atol, err_msg=f"{op} {attributes}")


def against(op, operands, expected, *, constants=(), steps=0, **attributes):
    """Compares an operator that ONNX Runtime's CPU provider lacks with what its documentation says."""
    bytes_, feeds = model(op, operands, constants, [True] * len(expected), attributes)
    for g, e in zip(wick.InferenceSession(bytes_, cache="").run(None, feeds), expected, strict=True):
        assert g.shape == e.shape and g.dtype == e.dtype, (op, attributes, g.shape, e.shape)
        if e.dtype.kind in "iu":
            assert np.abs(e.astype(np.int64) - g.astype(np.int64)).max(initial=0) <= steps, (op, attributes)
        else:
            np.testing.assert_allclose(g, e, rtol=1e-4, atol=2e-5, err_msg=f"{op} {attributes}")


class Draw:
    def __init__(self, seed):
        self.r, self.np = random.Random(seed), np.random.default_rng(seed)

    def f(self, *shape, scale=1.0):
        return (self.np.standard_normal(shape) * scale).astype(np.float32)

    def i(self, low, high, *shape, kind=np.int64):
        return self.np.integers(low, high, shape).astype(kind)

    def n(self, low, high):
        return self.r.randint(low, high)

    def one(self, *values):
        return self.r.choice(values)

    def maybe(self, a):
        return a if self.r.random() < 0.5 else None


def tokens(d):
    for a in d.i(-2**31, 2**31, 7, kind=np.int32), d.i(0, 2**32, 3, 2, kind=np.uint32), d.i(-2**62, 2**62, 5), d.f(2, 3):
        compare("MurmurHash3", [a], seed=d.n(0, 1000), positive=d.n(0, 1))
    size, vocabulary = d.n(1, 4), d.n(3, 6)
    compare("NGramRepeatBlock", [d.i(0, vocabulary, 2, d.n(1, 14)), d.f(2, vocabulary)], ngram_size=size)
    compare("Unique", [np.round(d.f(d.n(1, 30)))], outputs=3)


def hashes(d):
    kind, size, heads = d.one(np.int64, np.int32), d.n(2, 5), d.n(1, 3)
    number = lambda low, high, *shape: d.i(low, high, *shape, kind=kind)  # noqa: E731
    tables = [number(-2**30, 2**30, size), number(1, 99991, (size - 1) * heads)]
    eos = d.maybe(np.array(d.n(0, 4), kind))
    b, s = d.n(1, 3), d.n(1, 9)
    attributes = dict(max_ngram_size=size, n_head_per_ngram=heads, pad_id=d.n(0, 9), reset_on_eos=d.n(0, 1))
    segment = d.one(None, np.sort(d.i(0, 3, b, s, kind=np.int32)))
    past, offset = d.maybe(number(0, 5, b, size - 1)), d.maybe(number(0, 99, (size - 1) * heads))
    compare("NGramHashMapping", [number(0, 5, b, s), *tables, past, offset, eos, segment], outputs=2, **attributes)
    ends = np.cumsum([0, *d.i(1, 5, b)]).astype(np.int32)
    segment = d.maybe(np.sort(d.i(0, 3, ends[-1], kind=np.int32)))
    old = d.maybe(d.i(0, 2, b, size - 1, kind=np.int32)) if segment is not None and past is not None else None
    room = d.n(0, 3)
    count = d.i(0, 6, b, kind=np.int32) if room else None
    outputs = [True, d.one(True, False), segment is not None, room > 0]
    compare("VarlenNGramHashMapping", [number(0, 5, ends[-1]), *tables, ends, past, offset, eos, segment, old, count], outputs=outputs, state_update_capacity=room, **attributes)


# ---- activations and sums ----

def gelu(d):
    shape = [d.n(1, 3), d.n(1, 9), d.n(1, 40)]
    compare("Gelu", [d.f(*shape)])
    compare("QuickGelu", [d.f(*shape)], alpha=d.one(1.0, 1.702, 2.5))
    compare("BiasGelu", [d.f(*shape), d.f(shape[-1])])
    compare("FastGelu", [d.f(*shape), d.maybe(d.f(shape[-1]))])


def norms(d):
    shape = [d.n(1, 3), d.n(1, 9), 8 * d.n(1, 8)]
    h, eps = shape[-1], d.one(1e-12, 1e-5)
    skip = d.one(d.f(*shape), d.f(1, *shape[1:]), d.f(*shape[1:]))
    compare("SkipLayerNormalization", [d.f(*shape), skip, d.f(h), d.maybe(d.f(h)), d.maybe(d.f(h))], outputs=[True, False, False, d.one(True, False)], epsilon=eps)
    compare("SkipSimplifiedLayerNormalization", [d.f(*shape), d.f(*shape), d.f(h), d.maybe(d.f(h))], outputs=[True, False, False, d.one(True, False)], epsilon=eps)
    c = d.one(1, 2, 4)
    compare("BranchwiseRMSNorm", [d.f(*shape), d.one(None, d.f(h), d.f(c, h // c), d.f(h // c))], num_branches=c)
    compare("GatedRMSNorm", [d.f(*shape), d.f(h // c), d.f(*shape)], activation=d.one("silu", "swish", "sigmoid"))
    compare("GatedAdd", [d.f(*shape), d.f(*shape), d.f(*shape[:-1], 1)])
    compare("LinearAttentionGate", [d.f(*shape), d.f(h), d.f(h), d.f(*shape)], outputs=2)
    m = d.n(1, 3)
    compare("EngramGate", [d.f(*shape[:2], m, h), d.f(*shape[:2], m, h), d.f(*shape), d.f(m, h), d.f(m, h), d.f(m, h)], outputs=2)


def embeddings(d):
    b, s, h, words = d.n(1, 3), d.n(1, 8), 8 * d.n(1, 4), 20
    ids, segments = d.i(0, words, b, s, kind=np.int32), d.i(0, 2, b, s, kind=np.int32)
    both = d.one(True, False)
    mask = (np.arange(s) < d.i(1, s + 1, b, 1)).astype(np.int32)
    operands = [ids, segments if both else None, d.f(words, h), d.f(16, h), d.f(2, h) if both else None, d.f(h), d.f(h), mask,
                d.maybe(d.i(0, 16, b, s, kind=np.int32))]
    compare("EmbedLayerNormalization", operands, outputs=[True, True, d.one(True, False)])


def quantized_embeddings(d):
    b, s, h, words = d.n(1, 3), d.n(1, 8), 8 * d.n(1, 4), 20
    q = lambda *shape: d.i(0, 256, *shape, kind=np.uint8)  # noqa: E731
    operands = [d.i(0, words, b, s, kind=np.int32), d.i(0, 2, b, s, kind=np.int32), q(words, h), q(16, h), q(2, h), q(h), q(h), None,
                *[scale(d) for _ in range(5)], *[q() for _ in range(5)]]
    compare("QEmbedLayerNormalization", operands, outputs=2, rtol=1e-3, atol=1e-3)


# ---- products ----

def products(d):
    m, k, n, batch = d.n(1, 9), d.n(1, 20), d.n(1, 17), d.n(1, 4)
    ta, tb = d.one(0, 1), d.one(0, 1)
    a, b = d.f(batch, *([k, m] if ta else [m, k])), d.f(batch, *([n, k] if tb else [k, n]))
    compare("FusedMatMul", [a, b], transA=ta, transB=tb, alpha=d.one(1.0, 0.5))
    compare("TransposeMatMul", [a, b], transA=ta, transB=tb, alpha=d.one(1.0, 2.0))
    ba, bb = d.one(0, 1), d.one(0, 1)  # the first dimension of a factor goes before its last one
    whole = lambda rows, turned, shape: d.f(*([shape[0], batch, shape[1]] if turned else [batch, *shape]))  # noqa: E731
    compare("FusedMatMul", [whole(m, ba, [k, m] if ta else [m, k]), whole(k, bb, [n, k] if tb else [k, n])],
            transA=ta, transB=tb, transBatchA=ba, transBatchB=bb)
    act, more = d.one(("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.2}), ("Tanh", {}), ("Sigmoid", {}))
    compare("FusedGemm", [a[0], b[0], d.maybe(d.f(n))], transA=ta, transB=tb, activation=act, **more)
    compare("CDist", [d.f(m, k), d.f(n, k)], metric=d.one("sqeuclidean", "euclidean"), rtol=1e-3, atol=1e-3)
    compare("MatMulInteger16", [d.i(-99, 99, m, k, kind=np.int16), d.i(-99, 99, k, n, kind=np.int16)])


def convolutions(d):
    c, o, size = d.n(1, 6), d.n(1, 8), d.n(5, 9)
    x, w = d.f(d.n(1, 2), c, size, size), d.f(o, c, 3, 3)
    act, more = d.one(("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]), ("Clip", [0.0, 6.0]), ("HardSigmoid", [0.3, 0.4]))
    compare("FusedConv", [x, w, d.maybe(d.f(o))], pads=[1, 1, 1, 1], activation=act, **({"activation_params": more} if more else {}))
    p = d.i(-128, 128, 1, size, size, c, kind=np.int8)
    compare("NhwcMaxPool", [p], kernel_shape=[3, 3], strides=[d.one(1, 2)] * 2, pads=[d.one(0, 1)] * 4)


def moves(d):
    x = d.f(d.n(1, 4), d.n(3, 6), d.n(3, 7))
    compare("Trilu", [x, np.array(d.n(-2, 2))], constants=[1], upper=d.one(0, 1))
    compare("ExpandDims", [x, np.array(d.n(-4, 3), np.int32)], constants=[1])
    compare("Pad", [x, np.array([d.n(0, 2) for _ in range(6)]), np.array([1.5], np.float32)], constants=[1, 2], mode="constant")
    compare("UnfoldTensor", [x], dim=d.one(-1, 1), size=d.n(1, 3), step=d.n(1, 2))
    compare("Range", [np.array(d.n(-3, 3)), np.array(d.n(4, 9)), d.maybe(np.array(d.n(1, 3)))], constants=[0, 1, 2])
    compare("GatherND", [x, d.i(0, 3, 5, 2) % [x.shape[0], x.shape[1]]])
    compare("GridSample", [d.f(1, 2, 5, 6), d.f(1, 3, 4, 2)], mode=d.one("bilinear", "nearest"), padding_mode=d.one("zeros", "border"), align_corners=d.one(0, 1))


# ---- attention ----

def attention(d):
    b, s, heads, size, inner, past = d.n(1, 3), d.n(1, 7), d.n(1, 4), 8 * d.n(1, 3), d.n(3, 17), d.one(0, 0, d.n(1, 5))
    h, total = heads * size, s + past
    raw = (d.i(0, 4, b, total) > 0).astype(np.int32)
    mask = d.one(None, raw, (d.i(0, 4, b, s, total) > 0).astype(np.int32), *([d.i(1, s + 1, b, kind=np.int32)] if not past else []))
    kept = d.f(2, b, heads, past, size) if past else None
    bias = d.maybe(d.f(b, heads, s, total))
    compare("Attention", [d.f(b, s, inner), d.f(inner, 3 * h), d.f(3 * h), mask, kept, bias], outputs=2,
            num_heads=heads, unidirectional=d.one(0, 1), **d.one({}, {"scale": 0.2}))
    if not past:
        width = 4 * heads
        compare("Attention", [d.f(b, s, inner), d.f(inner, 2 * h + width), d.f(2 * h + width), mask], num_heads=heads, qkv_hidden_sizes=[h, h, width])


def multi_head(d):
    b, s, heads, size = d.n(1, 3), d.n(1, 6), d.n(1, 4), 8 * d.n(1, 2)
    h, past = heads * size, d.one(0, d.n(1, 4))
    length = s if past else d.n(1, 7)
    total = length + past
    cache = [d.f(b, heads, past, size), d.f(b, heads, past, size)] if past else [None, None]
    mask = d.one(None, (d.i(0, 4, b, total) > 0).astype(np.int32), *([d.i(1, length + 1, b, kind=np.int32)] if not past else []))
    compare("MultiHeadAttention", [d.f(b, s, h), d.f(b, length, h), d.f(b, length, h), d.maybe(d.f(3 * h)), mask, d.maybe(d.f(d.one(1, b), d.one(1, heads), s, total)), *cache],
            outputs=3, num_heads=heads, unidirectional=d.one(0, 1) if length == s else 0)


def grouped(d):
    b, shared, each, size = d.n(1, 3), d.n(1, 3), d.n(1, 3), 16
    heads, first = shared * each, d.one(True, False)
    s = d.n(1, 6) if first else 1
    past = 0 if first else d.n(1, 6)
    total = s + past
    ends = np.array([total - 1] + [d.n(0 if first else 1, total - 1) for _ in range(b - 1)], np.int32)
    if first and b > 1 and d.one(True, False):
        ends[:] = total - 1
    cache = [d.f(b, shared, past, size), d.f(b, shared, past, size)]
    rotary = d.one(0, 1)
    tables = [d.f(32, size // 2), d.f(32, size // 2)] if rotary else [None, None]
    packed = d.one(True, False)
    qkv = [d.f(b, s, (heads + 2 * shared) * size), None, None] if packed else [d.f(b, s, heads * size), d.f(b, s, shared * size), d.f(b, s, shared * size)]
    operands = [*qkv, *cache, ends, np.array(total, np.int32), *tables]
    attributes = dict(num_heads=heads, kv_num_heads=shared, do_rotary=rotary, rotary_interleaved=d.one(0, 1), softcap=d.one(0.0, 5.0),
                      local_window_size=d.one(-1, -1, 3), scale=d.one(0.0, 0.3), smooth_softmax=d.one(-1, 1))
    bytes_, feeds = model("GroupQueryAttention", operands, [6], [True] * 3, attributes)
    expected = ort.InferenceSession(bytes_, providers=["CPUExecutionProvider"]).run(None, feeds)
    got = wick.InferenceSession(bytes_, cache="").run(None, feeds)
    for i in range(b):  # what follows a sequence's end is padding
        valid = int(ends[i]) + 1
        rows = min(s, valid) if first else s
        np.testing.assert_allclose(got[0][i, :rows], expected[0][i, :rows], rtol=1e-4, atol=2e-5, err_msg=str(attributes))
        for k in (1, 2):
            assert got[k].shape == expected[k].shape
            np.testing.assert_allclose(got[k][i, :, :valid], expected[k][i, :, :valid], rtol=1e-5, atol=1e-6, err_msg=str(attributes))


def bound(op, operands, outputs, attributes, places):
    """What ONNX Runtime computes if results share the memory of operands: {result: operand}."""
    bytes_, feeds = model(op, operands, (), [True] * outputs, attributes)
    session = ort.InferenceSession(bytes_, providers=["CPUExecutionProvider"])
    values = {k: ort.OrtValue.ortvalue_from_numpy(v) for k, v in feeds.items()}
    binding = session.io_binding()
    for k, v in values.items():
        binding.bind_ortvalue_input(k, v)
    for k in range(outputs):
        if k in places:
            binding.bind_ortvalue_output(f"y{k}", values[f"x{places[k]}"])
        else:
            binding.bind_output(f"y{k}")
    session.run_with_iobinding(binding)
    return bytes_, feeds, [v.numpy() for v in binding.get_outputs()]


def block_layouts(d, layouts, blocks):
    """Layouts as rows and columns of blocks, without those after the diagonal, which all have."""
    masks = [np.tril((d.i(0, 3, blocks, blocks) > 0) | np.eye(blocks, dtype=bool)) for _ in range(layouts)]
    most = max(int(m.sum()) for m in masks)
    rows = np.array([[0, *np.cumsum(m.sum(1))] for m in masks], np.int32)
    columns = np.array([[*np.nonzero(m)[1], *[-1] * (most - int(m.sum()))] for m in masks], np.int32)
    return rows, columns


def sparse_oracle(q, k, v, keys, values, rows, columns, longest, totals, heads, block):
    b, s = q.shape[:2]
    keys, values, y = keys.copy(), values.copy(), np.zeros(q.shape, np.float32).reshape(b, s, heads, -1)
    shared, size = keys.shape[1], keys.shape[3]
    for i, h in np.ndindex(b, heads):
        past, layout, kv = 0 if longest == s else totals[i] - s, h % len(rows), h * shared // heads
        for cache, new in (keys, k), (values, v):
            cache[i, :, past : past + s] = new[i].reshape(s, shared, size).transpose(1, 0, 2)
        for at in range(s):
            row, end = (past + at) // block, past + at + 1
            seen = np.isin(np.arange(end) // block, columns[layout, rows[layout, row] : rows[layout, row + 1]])
            p = np.where(seen, keys[i, kv, :end] @ q[i, at].reshape(heads, size)[h] / math.sqrt(size), -np.inf)
            p = np.exp(p - p.max())
            y[i, at, h] = p / p.sum() @ values[i, kv, :end]
    return y.reshape(b, s, -1), keys, values


def sparse_attention(d):
    """ONNX Runtime is no oracle for rows of different lengths: it takes weights of other rows for all after the first."""
    b, shared, each, size, block, blocks = d.n(1, 3), d.n(1, 2), d.n(1, 4), 16, 16, d.n(2, 4)
    heads, layouts = shared * each, d.n(1, 2)
    layouts = layouts if heads % layouts == 0 else 1
    room = block * blocks
    first = d.one(True, False)
    s = d.n(1, room) if first else d.n(1, 3)
    totals = np.full(b, s if first else d.n(s + 1, room), np.int32)
    rotary = d.one(0, 1)
    tables = [d.f(room, size // 2), d.f(room, size // 2)] if rotary else []
    parts = [d.f(b, s, heads * size), d.f(b, s, shared * size), d.f(b, s, shared * size)]
    cache, layout = [d.f(b, shared, room, size), d.f(b, shared, room, size)], block_layouts(d, layouts, blocks)
    longest = lambda totals: np.array([totals.max()], np.int32)  # noqa: E731
    operands = [*d.one(parts, [np.concatenate(parts, -1), None, None]), *cache, *layout, longest(totals), totals, *tables]
    heads_of = dict(num_heads=heads, kv_num_heads=shared, sparse_block_size=block)
    attributes = dict(heads_of, do_rotary=rotary, rotary_interleaved=d.n(0, 1), **d.one({}, {"scale": 0.3}))
    bytes_, feeds, expected = bound("SparseAttention", [None if a is None else a.copy() for a in operands], 3, attributes, {1: 3, 2: 4})
    got = wick.InferenceSession(bytes_, cache="").run(None, {k: operands[int(k[1:])] for k in feeds})
    for g, e in zip(got, expected, strict=True):
        assert g.shape == e.shape
        np.testing.assert_allclose(g, e, rtol=1e-4, atol=2e-5, err_msg=str(attributes))
    if not first:
        totals = d.i(s + 1, room + 1, b, kind=np.int32)
    operands = [*parts, *cache, *layout, longest(totals), totals]
    against("SparseAttention", operands, sparse_oracle(*operands[:7], totals.max(), totals, heads, block), **heads_of)


def quantized_attention(d):
    b, s, heads, size, inner = d.n(1, 3), d.n(1, 7), d.n(1, 4), 8 * d.n(1, 3), d.n(3, 17)
    h, kind = heads * size, d.one(np.uint8, np.int8)
    columns = d.one([], [3 * h])
    weights = d.i(-60, 60, inner, 3 * h).astype(kind) if kind == np.int8 else d.i(0, 120, inner, 3 * h, kind=kind)
    zero = np.zeros(columns, kind) if kind == np.int8 else np.full(columns, 60, kind)
    operands = [d.i(0, 256, b, s, inner, kind=np.uint8), weights, d.f(3 * h), np.array(0.02, np.float32), np.full(columns, 0.03, np.float32),
                d.one(None, d.i(1, s + 1, b, kind=np.int32)), np.array(128, np.uint8), zero]
    compare("QAttention", operands, constants=[1, 2, 3, 4, 6, 7], num_heads=heads, unidirectional=d.one(0, 1), rtol=1e-3, atol=1e-3)


def linear_attention(d):
    b, s, heads, size = d.n(1, 2), d.n(1, 5), d.n(1, 3), 8
    keys = d.f(b, s, heads, size)
    keys = (keys / np.linalg.norm(keys, axis=-1, keepdims=True)).reshape(b, s, -1)
    rule = d.one("linear", "gated", "delta", "gated_delta")
    decay = -np.abs(d.f(b, s, heads)) if rule.startswith("gated") else None
    beta = 1 / (1 + np.exp(d.f(b, s, heads))) if rule.endswith("delta") else None
    operands = [d.f(b, s, heads * size), keys, d.f(b, s, heads * size), d.maybe(d.f(b, heads, size, size)), decay, beta]
    compare("LinearAttention", operands, outputs=2, q_num_heads=heads, kv_num_heads=heads, update_rule=rule)


def rotary(d):
    b, s, heads, size = d.n(1, 3), d.n(1, 6), d.n(1, 4), 16
    half = d.one(size // 2, size // 2, size // 4)
    tables = [d.f(20, half), d.f(20, half)]
    at = d.one(np.array([d.n(0, 9)]), d.i(0, 20, b, s))
    more = {"num_heads": heads, "rotary_embedding_dim": 2 * half} if half < size // 2 else d.one({}, {"num_heads": heads})
    compare("RotaryEmbedding", [d.f(b, s, heads * size), at, *tables], interleaved=d.one(0, 1), **more)
    compare("RotaryEmbedding", [d.f(b, heads, s, size), at, *tables], interleaved=d.one(0, 1), **more)


def rotary_streams(d):
    b, s, heads, layout = d.n(1, 2), d.n(1, 5), d.n(1, 3), d.one(0, 1)
    section = [d.n(1, 3) for _ in range(3)] if not layout else [4, 2, 2]
    half = sum(section)
    operands = [d.i(0, 20, 3, b, s), d.f(20, half), d.f(20, half)]
    more = dict(mrope_section=section, mrope_layout=layout, interleaved=d.one(0, 1))
    compare("MRotaryEmbedding", [d.f(b, s, heads * 2 * half), *operands], num_heads=heads, **more)
    compare("MRotaryEmbedding", [d.f(b, heads, s, 2 * half), *operands], **more)


def decoders(d):
    """Caches have room for all positions, and ONNX Runtime writes them in place. With beams, each position of a row comes from the row of its beam then."""
    beams, heads, size, past, room = d.one(1, 2), d.n(1, 3), 8, d.n(1, 5), d.n(6, 9)
    b, h, total = beams * d.n(1, 2), heads * size, past + 1
    cache = [d.f(b, heads, room, size), d.f(b, heads, room, size)]
    beam = d.i(0, beams, b // beams, beams, room, kind=np.int32)
    beam[:, :, past] = np.arange(beams)
    mask, bias = d.maybe((d.i(0, 4, b, total) > 0).astype(np.int32)), d.maybe(d.f(b, heads, 1, total))
    if bias is not None and beams > 1:  # ONNX Runtime 1.31 reads that of another row, and of its first head
        bias[:] = bias[0, 0]
    number = lambda v: np.array([v], np.int32)  # noqa: E731
    operands = [d.f(b, 1, h), d.f(b, 1, h), d.f(b, 1, h), mask, bias, *cache, number(past), number(beams), beam if beams > 1 else None, d.maybe(d.f(3 * h))]
    bytes_, feeds = model("DecoderMaskedMultiHeadAttention", operands, (), [True] * 3, dict(num_heads=heads, past_present_share_buffer=1, **d.one({}, {"scale": 0.3})))
    got = wick.InferenceSession(bytes_, cache="").run(None, feeds)
    values = {k: ort.OrtValue.ortvalue_from_numpy(v) for k, v in feeds.items()}
    session = ort.InferenceSession(bytes_, providers=["CPUExecutionProvider"])
    binding, y = session.io_binding(), ort.OrtValue.ortvalue_from_numpy(np.zeros_like(got[0]))
    for k, v in values.items():
        binding.bind_ortvalue_input(k, v)
    for k, v in ("y0", y), ("y1", values["x5"]), ("y2", values["x6"]):
        binding.bind_ortvalue_output(k, v)
    session.run_with_iobinding(binding)
    for g, e in zip(got, (y, values["x5"], values["x6"]), strict=True):
        np.testing.assert_allclose(g, e.numpy(), rtol=1e-4, atol=1e-5)
    kept = [d.f(b, heads, past, size), d.f(b, heads, past, size)]  # of an encoder
    compare("DecoderMaskedMultiHeadAttention", [d.f(b, 1, h), *kept, d.maybe((d.i(0, 4, b, past) > 0).astype(np.int32))], num_heads=heads)


def quantized_experts(d):
    tokens, n, h, inner, bits, block = d.n(1, 6), d.n(2, 4), 32, 32, d.one(4, 8), d.one(0, 16)
    swiglu = d.one(True, False)
    q = lambda *shape: d.i(0, 256, *shape[:-1], shape[-1] * bits // 8, kind=np.uint8)  # noqa: E731
    scales = lambda rows, k: np.abs(d.f(n, rows, *([k // block] if block else []), scale=0.02))  # noqa: E731
    wide = inner * (2 if swiglu else 1)
    more = dict(activation_type="swiglu", swiglu_fusion=1) if swiglu else dict(activation_type=d.one("silu", "relu", "gelu", "identity"))
    router = d.maybe(np.abs(d.f(tokens, n)))
    operands = [d.f(tokens, h), d.f(tokens, n), q(n, wide, h), scales(wide, h), d.maybe(d.f(n, wide)), q(n, h, inner), scales(h, inner), d.maybe(d.f(n, h)), *[None] * 6, router]
    more |= dict(k=d.n(1, 2), expert_weight_bits=bits, normalize_routing_weights=d.one(0, 1), **({"block_size": block} if block else {}))
    wanted = experts_oracle(*operands[:8], router, **more)
    size = np.abs(wanted).max()
    compare("QMoE", operands, constants=[2, 3, 5, 6], rtol=0, atol=0.03 * size, **more)  # ONNX Runtime rounds rows to bytes
    bytes_, feeds = model("QMoE", operands, [2, 3, 5, 6], [True], more)
    np.testing.assert_allclose(wick.InferenceSession(bytes_, cache="").run(None, feeds)[0], wanted, rtol=0, atol=2e-6 * size)


ACTIVATIONS = {"silu": lambda x: x / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0), "identity": lambda x: x,
               "gelu": lambda x: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))), "swiglu": lambda x: x[0::2] / (1 + np.exp(-x[0::2])) * x[1::2]}  # fmt: skip


def experts_oracle(x, router, w1, s1, b1, w2, s2, b2, shares, *, activation_type, k, expert_weight_bits, normalize_routing_weights, block_size=0, swiglu_fusion=0):
    def widened(w, s):
        w = w.astype(np.float64) - 128 if expert_weight_bits == 8 else np.stack([w & 15, w >> 4], -1).reshape(*w.shape[:-1], -1) - 8.0
        return w * (np.repeat(s, block_size, -1) if block_size else s[..., None])

    w1, w2 = widened(w1, s1), widened(w2, s2)
    out = np.zeros((len(x), w2.shape[1]))
    for row, r, share, y in zip(x.astype(np.float64), router.astype(np.float64), router if shares is None else shares, out, strict=True):
        top = np.argsort(-r, kind="stable")[:k]
        p = share[top] if shares is not None else np.exp(r[top]) / np.exp(r[top]).sum()
        for e, part in zip(top, p / p.sum() if normalize_routing_weights else p, strict=True):
            inner = ACTIVATIONS[activation_type](w1[e] @ row + (0 if b1 is None else b1[e]))
            y += part * (w2[e] @ inner + (0 if b2 is None else b2[e]))
    return out


def blocks_of_rows(d):
    """Numbers of 4 bits as MatMulFpQ4 has them; its documentation's oracle is ONNX Runtime."""
    k, n, kind = d.n(1, 100), d.n(1, 20), d.n(0, 1)
    scales = np.abs(d.f(n, (k + 31) // 32, 1)).view(np.uint8)
    blob = np.concatenate([scales, *([d.i(0, 16, *scales.shape[:2], 1, kind=np.uint8)] if kind else []), d.i(0, 256, *scales.shape[:2], 16, kind=np.uint8)], -1)
    compare("MatMulFpQ4", [d.f(*d.one([3], [2, 2]), k), blob.reshape(-1), np.array([k, n])], constants=[2, *d.one([], [1])], blk_quant_type=kind, atol=1e-3)


def masked_pools(d):
    """ONNX Runtime reads the masks of other images and channels than the first at wrong places: it has one for all then."""
    rank = d.n(1, 3)
    size, kernel = [d.n(4, 9) for _ in range(rank)], [d.n(1, 4) for _ in range(rank)]
    pads = [d.n(0, k - 1) for k in kernel * 2]
    more = d.one({"pads": pads}, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "VALID"})
    x, mask = d.f(d.n(1, 3), d.n(1, 3), *size), (d.i(0, 5, 1, 1, *size) > 0).astype(np.int32)
    attributes = dict(kernel_shape=kernel, strides=[d.n(1, k) for k in kernel], **more)
    compare("MaxpoolWithMask", [x, mask], **attributes)
    masks = (d.i(0, 5, *x.shape) > 0).astype(np.int32)  # one for each: ONNX Runtime pools them one by one
    session = ort.InferenceSession(model("MaxpoolWithMask", [x[:1, :1], mask], (), [True], attributes)[0], providers=["CPUExecutionProvider"])
    of = lambda i, c: session.run(None, {"x0": x[i : i + 1, c : c + 1], "x1": masks[i : i + 1, c : c + 1]})[0]
    rows = [np.concatenate([of(i, c) for c in range(x.shape[1])], 1) for i in range(x.shape[0])]
    against("MaxpoolWithMask", [x, masks], [np.concatenate(rows)], **attributes)


def bifurcations(d):
    source = d.i(0, d.n(2, 6), d.n(2, 12))
    least = d.n(1, 2)
    sizes = dict(min_ngram_size=least, max_ngram_size=least + d.n(0, 3))
    compare("BifurcationDetector", [source, d.i(0, 4, d.n(1, 6)), np.array([0])], outputs=2, **sizes)
    past = d.n(0, len(source) - 1)
    predicted = np.append(source[past:], 1)
    predicted[d.n(0, len(predicted) - 1):] = d.n(0, 3)
    compare("BifurcationDetector", [source, d.i(0, 4, d.n(1, 6)), np.array([past]), predicted], outputs=2, **sizes)


def tokenizer(texts, **attributes):
    node = helper.make_node("Tokenizer", ["x"], ["y0"], domain="com.microsoft", pad_value="#", **attributes)
    given = helper.make_tensor("x", TensorProto.STRING, texts.shape, [t.encode() for t in texts.reshape(-1)])
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y0", TensorProto.STRING, None)], [given])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], ir_version=9).SerializeToString()


def tokenizers(d):
    """Texts are a constant: the number of their tokens is a size of the result."""
    letters = ["a", "b", "x", " ", " ", ",", "1", "22", "\u00e9", "\u4e16", ".", "\n"]
    text = lambda: "".join(d.r.choices(letters, k=d.n(0, 12)))  # noqa: E731
    shape = d.one([d.n(1, 4)], [d.n(1, 3), d.n(1, 3)])
    texts = np.array([text() for _ in range(math.prod(shape))], object).reshape(shape)
    how = d.one({"separators": [""]}, {"tokenexp": "."}, {"separators": [" "]}, {"separators": [",", " ", "[0-9]+"]}, {"separators": ["a|ab", "\\."]},
                {"separators": ["x*"]}, {"tokenexp": "a|ab|[0-9]+"}, {"tokenexp": "\\w+"}, {"tokenexp": "x*"}, {"separators": ["^a", "(?i)B"]})
    one = how in ({"separators": [""]}, {"tokenexp": "."})
    bytes_ = tokenizer(texts, mark=d.n(0, 1), mincharnum=1 if one else d.n(1, 2), **how)
    expected = ort.InferenceSession(bytes_, providers=["CPUExecutionProvider"]).run(None, {})[0]
    got = wick.InferenceSession(bytes_, cache="").run(None, {})[0]
    assert got.shape == expected.shape and got.tolist() == expected.tolist(), (how, texts.tolist())


def words(d):
    count, length, width, size, filters = d.n(1, 5), d.n(4, 8), d.n(1, 4), d.n(1, 5), d.n(1, 6)
    chars = d.i(1, 9, count, length, kind=np.int32) * (np.arange(length) < d.i(1, length + 1, count, 1))
    compare("WordConvEmbedding", [chars.astype(np.int32), d.f(filters, 1, width, size), d.f(filters), d.f(9, size)], constants=[1, 2, 3])
    c, o, pads = d.n(1, 4), d.n(1, 4), np.array([d.n(0, 1) for _ in range(4)])
    compare("ConvTransposeWithDynamicPads", [d.f(2, c, 4, 5), d.f(c, o, 3, 3), pads, d.maybe(d.f(o))], constants=[2], strides=[d.n(1, 2), d.n(1, 2)])


# ---- bytes ----

def scale(d):
    return np.array(d.r.uniform(0.01, 0.2), np.float32)


def elementwise_bytes(d):
    kind = d.one(np.uint8, np.int8)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max + 1
    shape = [d.n(1, 3), d.n(1, 5), d.n(1, 9)]
    q = lambda *s: [d.i(low, high, *s, kind=kind), scale(d), d.i(low // 2, high // 2, kind=kind)]  # noqa: E731
    z = lambda: [scale(d), d.i(low // 2, high // 2, kind=kind)]  # noqa: E731
    every = [1, 2, 4, 5, 6, 7]
    compare("QLinearAdd", [*q(*shape), *q(*d.one(shape, shape[1:], [1])), *z()], constants=every, steps=1)
    compare("QLinearMul", [*q(*shape), *q(*d.one(shape, shape[1:], [1])), *z()], constants=every, steps=1)
    compare("QLinearLeakyRelu", [*q(*shape), *z()], constants=[1, 2, 3, 4], alpha=0.2, steps=1)
    compare("QLinearSigmoid", [*q(*shape), np.array(1 / 256, np.float32), np.array(low, kind)], constants=[1, 2, 3, 4], steps=1)
    several = [*shape[:2], shape[2] + 1]  # of a single element, ONNX Runtime's is 256 and wraps
    compare("QLinearSoftmax", [*q(*several), np.array(1 / 256, np.float32), np.array(low, kind)], constants=[1, 2, 3, 4], axis=-1, opset=13, steps=1)
    compare("QLinearConcat", [*z(), *q(*shape), *q(*shape)], constants=[0, 1, 3, 4, 6, 7], axis=d.one(0, 1, 2, -1), steps=1)
    compare("QLinearWhere", [d.i(0, 2, *shape).astype(bool), *q(*shape), *q(*shape), *z()], constants=[2, 3, 5, 6, 7, 8], steps=1)
    (x, s, zero), (to, to_zero), axes, keep = q(*shape), z(), d.one([0], [1, 2], [-1], [0, 1, 2]), d.one(0, 1)
    mean = ((x.astype(np.float64) - zero) * s).mean(tuple(axes), keepdims=bool(keep))
    mean = np.clip(np.rint(mean / to) + to_zero, low, high - 1).astype(kind)
    against("QLinearReduceMean", [x, s, zero, to, to_zero], [mean], constants=[1, 2, 3, 4], steps=1, axes=axes, keepdims=keep)
    image = [d.n(1, 2), d.n(1, 5), d.n(4, 9), d.n(4, 9)]
    compare("QLinearAveragePool", [*q(*image), *z()], constants=[1, 2, 3, 4], kernel_shape=[d.n(1, 3), d.n(1, 3)], strides=[d.n(1, 2), d.n(1, 2)],
            channels_last=d.one(0, 1), count_include_pad=d.one(0, 1), steps=1)
    compare("QLinearGlobalAveragePool", [*q(*image), *z()], constants=[1, 2, 3, 4], channels_last=d.one(0, 1), steps=1)


def products_of_bytes(d):
    m, k, n = d.n(1, 9), d.n(1, 40), d.n(1, 17)
    a, kind = d.i(0, 256, m, k, kind=np.uint8), d.one(np.uint8, np.int8)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max + 1
    b, columns = d.i(low // 2, high // 2, k, n, kind=kind), d.one(True, False)  # ONNX Runtime's sums of two products saturate at 16 bits without VNNI
    sb = np.abs(d.f(n, scale=0.1)) + np.float32(0.01) if columns else scale(d)
    zb = d.i(low // 2, high // 2, *([n] if columns else []), kind=kind)
    za = d.i(0, 256, kind=np.uint8)
    compare("MatMulIntegerToFloat", [a, b, scale(d), sb, d.maybe(za), d.maybe(zb), d.maybe(d.f(n))], constants=[1, 2, 3, 4, 5], rtol=1e-4, atol=1e-3)
    compare("DynamicQuantizeMatMul", [d.f(m, k), b, sb, d.maybe(zb), d.maybe(d.f(n))], constants=[1, 2, 3], rtol=1e-3, atol=2e-2)
    out = d.one([None, None], [np.array(0.5, np.float32), np.array(100, np.uint8)])
    compare("QGemm", [a, scale(d), za, b, sb, zb, d.maybe(d.i(-99, 99, n, kind=np.int32)), *out], constants=[1, 2, 3, 4, 5, 6, 7, 8], rtol=1e-4, atol=1e-3, steps=1)
    compare("DequantizeLinear", [a, scale(d), za], constants=[1, 2])
    compare("QuantizeLinear", [d.f(m, k), scale(d), za], constants=[1, 2])


def convolutions_of_bytes(d):
    c, o, size, last = d.n(1, 6), d.n(1, 8), d.n(4, 8), d.one(0, 1)
    x = d.i(0, 256, 1, *([size, size, c] if last else [c, size, size]), kind=np.uint8)
    compare("QLinearConv", [x, scale(d), np.array(100, np.uint8), d.i(-60, 60, o, c, 3, 3, kind=np.int8), np.abs(d.f(o, scale=0.1)) + np.float32(0.01), np.zeros(o, np.int8),
                            np.array(2.0, np.float32), np.array(90, np.uint8), d.maybe(d.i(-99, 99, o, kind=np.int32))], constants=range(1, 9), channels_last=last,
            pads=[1, 1, 1, 1], steps=1)


def recurrent_bytes(d):
    """Sums stay floats, unlike in ONNX Runtime: the weights' values in its float layer are the oracle."""
    steps, b, inner, h, directions = d.n(1, 5), d.n(1, 3), d.n(2, 6), d.n(2, 6), d.one(1, 2)
    q = [d.i(-99, 99, directions, n, 4 * h, kind=np.int8) for n in (inner, h)]
    by = [np.abs(d.f(directions, *d.one([], [4 * h]), scale=0.01)) + np.float32(0.001) for _ in q]
    zeros = [np.zeros(s.shape, np.int8) for s in by]
    x, bias, way = d.f(steps, b, inner), d.f(directions, 8 * h), "bidirectional" if directions == 2 else d.one("forward", "reverse")
    bytes_, feeds = model("DynamicQuantizeLSTM", [x, *q, bias, None, None, None, None, by[0], zeros[0], by[1], zeros[1]], [1, 2, 3, 8, 9, 10, 11],
                          [True] * 3, dict(hidden_size=h, direction=way))
    got = wick.InferenceSession(bytes_, cache="").run(None, feeds)
    wide = [np.ascontiguousarray(np.swapaxes(w * s.reshape(directions, 1, -1), 1, 2)).astype(np.float32) for w, s in zip(q, by)]
    node = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y0", "y1", "y2"], hidden_size=h, direction=way)
    first = [numpy_helper.from_array(a, n) for a, n in ((wide[0], "w"), (wide[1], "r"), (bias, "b"))]
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)], [helper.make_empty_tensor_value_info(f"y{k}") for k in range(3)], first)
    plain = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=9).SerializeToString()
    for g, e in zip(got, ort.InferenceSession(plain, providers=["CPUExecutionProvider"]).run(None, {"x": x}), strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-4, atol=1e-5)


def few_bits(d):
    m, n, block, bits = d.n(1, 5), d.n(1, 12), d.one(16, 32, 64), d.one(4, 4, 8, 2)
    k = d.one(block, 2 * block, 3 * block, block + 8)
    blocks = -(-k // block)
    b = d.i(0, 256, n, blocks, block * bits // 8, kind=np.uint8)
    zero = d.one(None, d.i(0, 256, n, -(-blocks * bits // 8), kind=np.uint8))
    constants = d.one([1, 2, 3], [])
    compare("MatMulNBits", [d.f(m, k), b, d.f(n, blocks, scale=0.1), zero, None, d.maybe(d.f(n))], constants=constants, rtol=1e-3, atol=2e-3 * k ** 0.5,
            K=k, N=n, bits=bits, block_size=block)
    compare("MatMulBnb4", [d.f(m, 2 * block), d.i(0, 256, n * block, kind=np.uint8), np.abs(d.f(n * 2))], constants=[1, 2], rtol=1e-3, atol=1e-3,
            K=2 * block, N=n, block_size=block, quant_type=d.one(0, 1))
    rows, width = d.n(3, 9), d.one(1, 2, 3) * block
    table = d.i(0, 256, rows, width // 2, kind=np.uint8)
    zero = d.maybe(d.i(0, 256, rows, -(-(width // block) // 2), kind=np.uint8))
    compare("GatherBlockQuantized", [table, d.i(0, rows, d.n(1, 3), d.n(1, 4)), d.f(rows, width // block), zero], constants=[0, 2, 3],
            bits=4, block_size=block, gather_axis=0, quantize_axis=1)


def experts(d):
    tokens, experts_, h, inner = d.n(1, 6), d.n(2, 5), 8, d.n(2, 9)
    act = d.one("relu", "gelu", "silu")
    compare("MoE", [d.f(tokens, h), d.f(tokens, experts_), d.f(experts_, inner, h), d.maybe(d.f(experts_, inner)), d.f(experts_, h, inner), d.maybe(d.f(experts_, h))],
            k=d.n(1, 2), activation_type=act, normalize_routing_weights=d.one(0, 1), rtol=1e-3, atol=1e-3)
    compare("MoE", [d.f(1, tokens, h), d.f(tokens, experts_), d.f(experts_, 2 * inner, h), d.f(experts_, 2 * inner), d.f(experts_, h, inner)],
            k=d.n(1, 2), activation_type="swiglu", swiglu_fusion=1, normalize_routing_weights=1, activation_alpha=1.702, activation_beta=1.0, swiglu_limit=d.one(2.0, 7.0), rtol=1e-3, atol=1e-3)


# ---- searches ----

def search(op, operands, constants, outputs, attributes, given):
    """Compares the texts and, if there are several, their scores and those of all words in each step. ONNX Runtime leaves what
    follows the end of all sequences of a greedy search as it is in memory, and the words' scores in steps after it: these are
    not compared. It needs min_length, which is optional."""
    bytes_, feeds = model(op, [np.zeros(1, np.int32) if a is None and k == 2 else a for k, a in enumerate(operands)], constants, outputs, attributes)
    options = ort.SessionOptions()
    options.log_severity_level = 3
    expected = ort.InferenceSession(bytes_, options, providers=["CPUExecutionProvider"]).run(None, feeds)
    bytes_, feeds = model(op, operands, constants, outputs, attributes)
    got = wick.InferenceSession(bytes_, cache="").run(None, feeds)
    n = most = int(operands[1][0])
    while len(outputs) == 1 and n > given and (got[0][..., n - 1] == attributes["pad_token_id"]).all():
        n -= 1
    n = min(n + 1, most)
    assert got[0].shape == expected[0].shape and (got[0][..., :n] == expected[0][..., :n]).all(), op
    if len(outputs) > 1:
        np.testing.assert_allclose(got[1], expected[1], rtol=1e-4, atol=1e-4)
    if len(outputs) > 2:
        steps = int((got[0] != attributes["pad_token_id"]).any(axis=(0, 1)).nonzero()[0].max(initial=given)) + 1 - given
        assert got[2].shape == expected[2].shape and got[2].shape[0] == most - given, op
        np.testing.assert_allclose(got[2][:steps], expected[2][:steps], rtol=1e-4, atol=1e-4)


def searches(d):
    words, b, s, beams = d.n(9, 12), d.n(1, 2), d.n(1, 3), d.n(1, 3)
    most, pad = s + d.n(1, 3), d.one(0, words - 1)
    number = lambda v, kind=np.int32: np.array([v], kind)  # noqa: E731
    masks = [d.maybe(d.i(0, 9, words, kind=np.int32)), d.maybe(d.i(0, 9, b, words, kind=np.int32)), d.maybe((np.arange(s) >= d.i(0, s, b, 1)).astype(np.int32))]
    more = dict(decoder=generators.decoder(d, words, d.n(1, 2), 8), eos_token_id=d.n(0, words - 1), pad_token_id=pad, **d.one({}, {"no_repeat_ngram_size": d.n(1, 2)}))
    ids, least, penalty = d.i(0, words, b, s, kind=np.int32), number(d.one(0, s + 2)), number(d.one(1.0, 1.5), np.float32)
    by = number(d.one(0.5, 1.0, 2.0), np.float32)
    for op, operands, constants, results, extra in (
            ("GreedySearch", [ids, number(most), least, penalty, *masks], [1], 1, {}),
            ("Sampling", [ids, number(most), least, penalty, *masks, None, number(3)], [1], 1, dict(top_p=1e-6, custom=d.one(0, 1), temperature=0.7)),
            ("BeamSearch", [ids, number(most), least, number(beams), number(d.n(1, beams)), by, penalty, *masks], [1, 3, 4], 3, dict(early_stopping=d.one(0, 1)))):
        search(op, operands, constants, [True] * results, {**more, **extra}, s)


def translations(d):
    """Searches with an encoder. Encoders that only give keys and values have the decoder called for the first word, too."""
    first = d.one(True, False)
    net = generators.Translator(d, d.n(9, 12), d.n(1, 2), 4, layers=d.n(1, 2), hidden=first and d.one(True, False), whole=d.one(True, False))
    words, b, s, beams, pad = net.words, d.n(1, 2), d.n(1, 4), d.n(1, 3), d.one(0, 3)
    number = lambda v, kind=np.int32: np.array([v], kind)  # noqa: E731
    masks = [d.maybe(d.i(0, 9, words, kind=np.int32)), d.maybe(d.i(0, 9, b, words, kind=np.int32)), d.maybe((np.arange(s) >= d.i(0, s, b, 1)).astype(np.int32))]
    ids = np.where(np.arange(s) < d.i(0, s, b, 1), pad, d.i(0, words, b, s)).astype(np.int32)
    operands = [ids, number(d.n(3, 5)), d.maybe(number(d.n(0, 3))), number(beams), number(d.n(1, beams)), number(d.one(0.5, 1.0, 2.0), np.float32), number(d.one(1.0, 1.5), np.float32), *masks]
    search("BeamSearch", operands, [1, 3, 4], [True] * 3, dict(
        encoder=net.encoder(first), decoder=net.decoder(), model_type=1, decoder_start_token_id=d.n(0, words - 1), eos_token_id=d.n(0, words - 1), pad_token_id=pad,
        early_stopping=d.one(0, 1), **d.one({}, {"no_repeat_ngram_size": d.n(1, 2)})), 1)


def transcriptions(d):
    """Searches of audio: prompts, temperature, and the rules of timestamps, whose ids are the last ones."""
    net = generators.Translator(d, d.n(24, 40), d.n(1, 2), 4, layers=d.n(1, 2), audio=d.n(2, 4), hidden=d.one(True, False), whole=d.one(True, False))
    words, b, beams, rules = net.words, d.n(1, 2), d.n(1, 3), d.one(0, 1)
    number = lambda v, kind=np.int32: np.array([v], kind)  # noqa: E731
    prompt = d.one(None, d.i(0, words, b, d.n(1, 6), kind=np.int32))
    start, begin = 1 if prompt is None else prompt.shape[1], words // 2
    ids = dict(zip(("transcribe_token_id", "translate_token_id", "start_of_lm_token_id", "no_timestamps_token_id"), range(begin - 4, begin)))
    operands = [d.f(b, net.audio, d.n(1, 5)), number(start + d.n(2, 6)), number(d.n(0, 3)), number(beams), number(d.n(1, beams)), number(d.one(0.5, 1.0), np.float32), number(1, np.float32)]
    attributes = dict(encoder=net.encoder(), decoder=net.decoder(), model_type=2, eos_token_id=begin - 6, decoder_start_token_id=d.n(0, begin - 7), pad_token_id=begin - 6, early_stopping=d.one(0, 1))
    search("BeamSearch", [*operands, None, None, None, prompt], [1, 3, 4], [True] * 3, attributes, start)
    operands += [None, None, None, prompt, number(rules), None, None, d.maybe(number(0.7, np.float32))]
    search("WhisperBeamSearch", operands, [1, 3, 4, 11], [True] * 3, dict(attributes, beginning_timestamp_token_id=begin, **ids), start)


def test_silence():
    """ONNX Runtime's CPU provider leaves the probability of silence as it is in memory: the encoder's numbers say it."""
    d = Draw(0)
    net = generators.Translator(d, 11, 2, 4, audio=3)
    x, prompt = d.f(2, 3, 4), d.i(0, 11, 2, 3, kind=np.int32)
    number = lambda v: np.array([v], np.int32)  # noqa: E731
    bytes_, feeds = model("WhisperBeamSearch", [x, number(5), None, number(3), number(1), *[None] * 5, prompt], [1, 3, 4], [True, False, False, False, True], dict(
        encoder=net.encoder(), decoder=net.decoder(), eos_token_id=1, pad_token_id=0, no_speech_token_id=4))
    encoder = helper.make_model(net.encoder(), opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
    numbers = ort.InferenceSession(encoder, providers=["CPUExecutionProvider"]).run(["logits"], {"encoder_input_ids": x, "decoder_input_ids": prompt})[0][:, -1]
    share = np.exp(numbers) / np.exp(numbers).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(wick.InferenceSession(bytes_, cache="").run(None, feeds)[1], share[:, 4], rtol=1e-4)


# ---- streams, images, matrices ----

def streams(d):
    outer, count, width = d.one([], [d.n(1, 4)], [2, d.n(1, 5)]), d.n(1, 4), d.n(1, 6)
    flat = d.one(0, count) if outer else 0
    x = d.f(*outer, count * width) if flat else d.f(*outer, count, width)
    post = d.one(d.f(*outer, count), d.f(*outer, count, 1), d.f(*outer, count, width))
    pre = d.one(post, d.f(*outer, count * width)) if flat else post
    more = {"num_branches": flat} if flat else {}
    compare("HyperConnectionPreMix", [x, pre], **more, **d.one({}, {"reduction_scale": 0.3}))
    compare("HyperConnectionPostMix", [x, d.f(*outer, width), post, d.maybe(d.f(*outer, count, count))], **more)
    compare("ScaledSiLU", [d.f(d.n(1, 9)), d.maybe(np.array(1.7, np.float32))], alpha=d.one(0.5, 1.702))
    compare("ScaledSiLU", [d.f(3, 5).astype(np.float16)], alpha=1.3, rtol=1e-3, atol=1e-3)
    compare("SampleOp", [d.f(2, 3)])


def causal_oracle(x, w, bias, past, act, last, gap, window):
    """The documentation's definition. x and the states have their channels last if `last`."""
    first = (lambda a: np.moveaxis(a.reshape(*a.shape[:2], -1), 2, 1)) if last else (lambda a: a)  # noqa: E731
    back = (lambda a: np.moveaxis(a, 1, 2).reshape(a.shape[0], a.shape[2], *x.shape[2:])) if last else (lambda a: a)  # noqa: E731
    wide, taps = first(x), w.shape[2]
    before, length = (taps - 1) * gap, wide.shape[2]
    old = np.zeros((*wide.shape[:2], before), x.dtype) if past is None else first(past[-1] if window else past)
    whole = np.concatenate([old, wide], 2)
    y = sum(whole[:, :, k * gap:k * gap + length] * w[None, :, 0, k, None] for k in range(taps)) + (0 if bias is None else bias[None, :, None])
    y = y / (1 + np.exp(-y)) if act != "none" else y
    ends = [length] if not window else range(length - window + 1, length + 1)
    states = [back(whole[:, :, e:e + before]) if e > 0 else back(np.zeros_like(old)) for e in ends]
    return back(y), np.stack(states) if window else states[0]


def causal_convolutions(d):
    b, c, length, taps, gap, last, window = d.n(1, 3), d.n(1, 5), d.n(1, 7), d.n(1, 4), d.n(1, 3), d.one(0, 1), d.one(0, 1, 3)
    inner = d.one([c], [c, 2]) if last else [c]
    channels, before = int(np.prod(inner)), (taps - 1) * gap
    x = d.f(b, length, *inner) if last else d.f(b, *inner, length)
    state = [b, before, *inner] if last else [b, *inner, before]
    act, past = d.one("none", "silu", "swish"), d.maybe(d.f(*([window] if window else []), *state))
    operands = [x, d.f(channels, 1, taps), d.maybe(d.f(channels)), past]
    attributes = dict(activation=act, channels_last=last, dilation=gap, state_window=window)
    against("CausalConvWithState", operands, causal_oracle(*operands, act, last, gap, window), **attributes)
    x, past = d.f(b, c, length), d.maybe(d.f(b, c, taps - 1))  # all that the provider has
    compare("CausalConvWithState", [x, d.f(c, 1, taps), d.maybe(d.f(c)), past], outputs=2, activation=act)


# ---- diffusion models ----

def group_oracle(x, scale, bias, groups, last, epsilon, act):
    wide = (np.moveaxis(x, -1, 1) if last else x).astype(np.float64)
    parts = wide.reshape(x.shape[0], groups, -1)
    parts = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + epsilon)
    along = [1, -1] + [1] * (x.ndim - 2)
    y = parts.reshape(wide.shape) * scale.reshape(along) + bias.reshape(along)
    y = y / (1 + np.exp(-y)) if act else y
    return (np.moveaxis(y, 1, -1) if last else y).astype(x.dtype)


def halves(x):
    left, right = np.split(x.astype(np.float64), 2, -1)
    return (left * right * (0.5 + 0.5 * np.vectorize(math.erf)(right / math.sqrt(2)))).astype(x.dtype)


def diffusion(d):
    n, groups, h, w, last, act, epsilon = d.n(1, 3), d.n(1, 4), d.n(1, 5), d.n(2, 6), d.one(0, 1), d.one(0, 1), d.one(1e-5, 1e-2)
    c = groups * d.n(1, 4)
    shape = [n, h, w, c] if last else [n, c, h, w]
    x, scale, bias = d.f(*shape), d.f(c), d.f(c)
    attributes = dict(groups=groups, channels_last=last, activation=act, epsilon=epsilon)
    against("GroupNorm", [x, scale, bias], [group_oracle(x, scale, bias, groups, last, epsilon, act)], constants=[1, 2], **attributes)
    skip, more = d.one(d.f(*shape), d.f(n, c), d.f(n, 1, 1, c) if last else d.f(n, c, 1, 1)), d.maybe(d.f(c))
    wide = lambda a: a if a.ndim == 4 else a.reshape(-1, 1, 1, c) if last else a.reshape(-1, c, 1, 1)  # noqa: E731
    total = x + wide(skip) + (0 if more is None else wide(more))
    against("SkipGroupNorm", [x, scale, bias, skip, more], [group_oracle(total, scale, bias, groups, last, epsilon, act), total], constants=[1, 2], **attributes)
    x, bias, skip = d.f(n, h, 2 * c), d.f(2 * c), d.f(n, h, 2 * c)
    against("BiasAdd", [x, bias, skip], [x + bias + skip], constants=[1])
    against("BiasSplitGelu", [x, bias], [halves(x + bias)], constants=[1])
    a = np.exp(x + skip[:1])
    against("BiasSoftmax", [x, skip[:1]], [a / a.sum(-1, keepdims=True)], axis=2, is_inner_broadcast=0)
    against("BiasSoftmax", [x, skip[:, :1]], [(b := np.exp(x + skip[:, :1])) / b.sum((1, 2), keepdims=True)], axis=1, is_inner_broadcast=1)


def windows_oracle(x, w, bias, stride, pads):
    x = np.pad(x.astype(np.float64), [(0, 0), (pads[0], pads[2]), (pads[1], pads[3]), (0, 0)])
    v = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (1, 2))[:, ::stride[0], ::stride[1]]
    return np.einsum("nhwcij,ocij->nhwo", v, w) + (0 if bias is None else bias)


def channels_last(d):
    n, c, o, kh, kw = d.n(1, 2), d.n(1, 4), d.n(1, 5), d.n(1, 3), d.n(1, 3)
    x, w, bias, stride, pads = d.f(n, d.n(4, 8), d.n(4, 8), c), d.f(o, c, kh, kw), d.maybe(d.f(o)), [d.n(1, 2), d.n(1, 2)], [d.n(0, 1) for _ in range(4)]
    y = windows_oracle(x, w, bias, stride, pads)
    against("NhwcConv", [x, w, bias], [y.astype(np.float32)], constants=[1, 2], strides=stride, pads=pads)
    z = d.maybe(d.f(*y.shape))
    act, f = d.one(("Relu", lambda v: np.maximum(v, 0)), ("Tanh", np.tanh))
    against("NhwcFusedConv", [x, w, bias, z], [f(y + (0 if z is None else z)).astype(np.float32)], constants=[1, 2], strides=stride, pads=pads, activation=act)


def crops(d):
    n, c, h, w, r = d.n(1, 3), d.n(1, 3), d.n(2, 7), d.n(2, 7), d.n(1, 4)
    box = d.np.uniform(-0.2, 1.2, (r, 4)).astype(np.float32)
    size = np.array([d.n(1, 5), d.n(1, 5)], np.int32)
    compare("CropAndResize", [d.f(n, c, h, w), box, d.i(0, n, r, kind=np.int32), size], constants=[3], mode=d.one("bilinear", "nearest"),
            extrapolation_value=d.one(0.0, 2.5))


def sparse_product(d, kind):
    """A sparse matrix times a dense one. ONNX Runtime takes the former as an input in the form of coordinates, Wick as a dense tensor or as a constant."""
    k, left, right, alpha = [d.n(1, 6) for _ in range(3)], d.one(0, 1), d.one(0, 1), d.one(1.0, 2.0)
    k = d.one(k, k[:1] * 3)
    shape = k[1::-1] if left else k[:2]
    dense = (d.f(*shape) * 4).astype(kind) * (d.f(*shape) > 0.3)
    dense = dense.astype(kind)
    x = (d.f(*(k[:0:-1] if right else k[1:])) * 4).astype(kind)
    at = np.argwhere(dense)
    elem, values = helper.np_dtype_to_tensor_dtype(np.dtype(kind)), dense[tuple(at.T)]
    tensor = helper.make_sparse_tensor(numpy_helper.from_array(values, "a"), numpy_helper.from_array(at, "at"), dense.shape)
    node = helper.make_node("SparseToDenseMatMul", ["a", "x"], ["y"], domain="com.microsoft", transA=left, transB=right, alpha=alpha)
    ports = [helper.make_sparse_tensor_value_info("a", elem, dense.shape)], [helper.make_tensor_value_info("x", elem, x.shape)]
    result = [helper.make_tensor_value_info("y", elem, None)]

    def bytes_of(inputs, constants):
        graph = helper.make_graph([node], "g", inputs, result, sparse_initializer=constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=9).SerializeToString()

    fed, fixed = bytes_of([*ports[0], *ports[1]], []), bytes_of(ports[1], [tensor])
    got = wick.InferenceSession(fed, cache="").run(None, {"a": dense, "x": x})[0]
    np.testing.assert_array_equal(wick.InferenceSession(fixed, cache="").run(None, {"x": x})[0], got)
    oracle = (dense.T if left else dense) @ (x.T if right else x) * kind(alpha)
    assert got.dtype == oracle.dtype
    np.testing.assert_allclose(got, oracle, rtol=1e-4, atol=1e-4)
    # Its types of transposed products are those without transposition, and it multiplies only f32 by alpha.
    if len(values) and len({*k} if left or right else {0}) == 1 and (kind is np.float32 or alpha == 1):
        coo = ort.SparseTensor.sparse_coo_from_numpy(np.array(dense.shape, np.int64), values, at.ravel().astype(np.int64), ort.OrtDevice.make("cpu", 0))
        feeds = {"a": ort.OrtValue.ort_value_from_sparse_tensor(coo), "x": ort.OrtValue.ortvalue_from_numpy(x)}
        want = ort.InferenceSession(fed, providers=["CPUExecutionProvider"]).run_with_ort_values(None, feeds)[0].numpy()
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def matrices(d):
    for kind in np.float32, np.float64:
        n = d.n(1, 6)
        compare("Inverse", [(d.f(*d.one([], [2], [2, 3]), n, n) + 3 * np.eye(n)).astype(kind)], rtol=1e-3, atol=1e-3)
        sparse_product(d, kind)
    sparse_product(d, np.int64)
    cost = np.round(d.f(d.n(1, 9), d.n(1, 12)) * d.one(1, 4)) if d.one(True, False) else d.f(d.n(1, 9), d.n(1, 12))
    compare("DynamicTimeWarping", [d.one(cost, cost[None])])


@pytest.mark.parametrize("kind", [words, rotary_streams, decoders, quantized_experts, searches, translations, transcriptions, streams, causal_convolutions, diffusion, channels_last, crops, matrices, gelu, norms, embeddings, quantized_embeddings, products, convolutions, moves, attention, multi_head, grouped, quantized_attention,
                                  linear_attention, rotary, elementwise_bytes, products_of_bytes, convolutions_of_bytes, recurrent_bytes, few_bits, experts, tokens, hashes, sparse_attention, blocks_of_rows, masked_pools, bifurcations, tokenizers], ids=lambda f: f.__name__)
def test_random(kind):
    for seed in range(COUNT):
        kind(Draw(seed))


def test_every_operator_has_a_test():
    """Each of the importer's rows is an operator of this file or of one beside it."""
    text = "".join(p.read_text() for p in pathlib.Path(__file__).parent.glob("test_microsoft*.py"))
    rows = subprocess.run([os.environ.get("WICK_COMMAND", str(built.BUILD / "wick")), "ops", "--onnx"], capture_output=True, text=True, check=True).stdout.splitlines()
    names = {line.split()[0].removeprefix("com.microsoft.") for line in rows if line.startswith("com.microsoft.")}
    assert names - set(re.findall(r'"([A-Z]\w+)"', text)) == set()


def fails(op, operands, *words, **attributes):
    refuses(op, model(op, operands, (), [True], attributes)[0], *words)


def refuses(op, bytes_, *words):
    with pytest.raises(wick.WickError) as e:
        wick.InferenceSession(bytes_, cache="")
    assert f'node "y0" ({op}): ' in str(e.value) and all(w in str(e.value) for w in words), e.value


@pytest.mark.parametrize("op", ["Gelu", "QuickGelu"])
def test_a_domain_that_is_not_imported_has_the_newest_version(op):
    """As the model that a fusing tool has in memory; ONNX Runtime reads it."""
    info = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3])  # noqa: E731
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], domain="com.microsoft")], "g", [info("x")], [info("y")])
    bytes_ = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
    feeds = {"x": Draw(0).f(2, 3)}
    want = ort.InferenceSession(bytes_, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    np.testing.assert_allclose(wick.InferenceSession(bytes_, cache="").run(None, feeds)[0], want, rtol=1e-5, atol=1e-6)


def test_what_is_refused():
    d = Draw(0)
    x = d.f(2, 3, 8)
    fails("Attention", [x, d.f(8, 24)], "do_rotary is not supported", num_heads=2, do_rotary=1)
    fails("Attention", [x, d.f(8, 24)], "3 heads", num_heads=3)
    fails("MatMulNBits", [x, d.i(0, 255, 4, 1, 6, kind=np.uint8), d.f(4, 1)], "3 bits are not supported", K=8, N=4, bits=3, block_size=16)
    fails("QLinearAdd", [d.i(0, 9, 3, kind=np.uint8), scale(d), None, None, scale(d)], "input 3 is missing", "input 6 is missing")
    fails("GroupQueryAttention", [x, x, x], "input 5 is missing", num_heads=2, kv_num_heads=2)
    fails("BiasGelu", [x], "1 inputs, expected 2")
    fails("SkipLayerNormalization", [x, x, d.f(8)], 'attribute "axis"', axis=1)
    net, ids, one = generators.Translator(d, 9, 1, 4), d.i(0, 9, 1, 3, kind=np.int32), np.array([4], np.int32)
    given, ends = [ids, one, None, one // 4, one // 4], dict(eos_token_id=1, pad_token_id=0)
    both = dict(encoder=net.encoder(False), decoder=net.decoder(), **ends)
    for words, attributes in (("model_type 3 is not supported", dict(both, model_type=3)), ('"encoder" is missing', dict(decoder=both["decoder"], model_type=1, **ends)),
                              ('"decoder_start_token_id" is missing', dict(both, encoder=net.encoder(), model_type=1)), ("do not fit its decoder's 4 keys", dict(both, model_type=1, decoder_start_token_id=1)),
                              ("its decoder has 4 inputs and 2 outputs", dict(both, decoder=generators.decoder(d, 9, 1, 4), model_type=1, decoder_start_token_id=1))):
        refuses("BeamSearch", model("BeamSearch", given, [1, 3, 4], [True], attributes)[0], words)
    bytes_ = model("WhisperBeamSearch", [d.f(1, 3, 4), *given[1:], *[None] * 8, ids], [1, 3, 4], [True], dict(both, encoder=net.encoder()))[0]
    refuses("WhisperBeamSearch", bytes_, "cross_qk and extra_decoding_ids are not supported")
    refuses("Tokenizer", tokenizer(np.array(["aba"], object), mark=0, mincharnum=1, separators=["(a)b\\1"]), "the pattern has a back reference")
