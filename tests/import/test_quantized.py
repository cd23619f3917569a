"""Quantized operators, to the bit: compiled code and the reference against ONNX's own cases and against ONNX Runtime."""
import os
import subprocess

import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
ort = pytest.importorskip("onnxruntime")
from onnx import helper, numpy_helper  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
KINDS = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "QLinearConv",
         "QLinearMatMul"}
NOT_TAKEN = ("float6", "_expanded")
PLAIN = {np.dtype(k) for k in ("u1", "i1", "u2", "i2", "i4", "f2", "f4")}


def wick(folder, model, feeds, *flags):
    """The outputs of a run."""
    onnx.save(model, folder / "m.onnx")
    given = []
    for k, x in enumerate(feeds):
        np.save(folder / f"in{k}.npy", np.ascontiguousarray(x))
        given.append(str(folder / f"in{k}.npy"))
    out = folder / "out"
    args = [WICK, "run", str(folder / "m.onnx"), "--inputs", *given, "-o", str(out), "--no-cache", *flags]
    r = subprocess.run(args, capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, r.stderr
    return [np.load(out / f"output_{k}.npy") for k in range(len(model.graph.output))]


# The machine, one without dot products where this is x86, the reference.
WAYS = [[], ["--reference"], *([["--target", "x86-64-v2"]] if os.uname().machine == "x86_64" else [])]


def compare(folder, model, feeds, want):
    for flags in WAYS:
        for got, expected in zip(wick(folder, model, feeds, *flags), want, strict=True):
            assert got.dtype == expected.dtype and got.shape == expected.shape
            if expected.dtype.kind == "f":
                assert got.tobytes() == np.ascontiguousarray(expected).tobytes(), flags
            else:
                np.testing.assert_array_equal(got, expected, str(flags))


def cases():
    from onnx.backend.test.case.node import collect_testcases
    chosen = []
    for t in collect_testcases(None):
        if t.model is None or any(word in t.name for word in NOT_TAKEN):
            continue
        kinds = {n.op_type for n in t.model.graph.node}
        tensors = [*t.data_sets[0][0], *t.data_sets[0][1]]
        if kinds <= KINDS and all(isinstance(v, np.ndarray) and v.dtype in PLAIN for v in tensors):
            chosen.append(t)
    return chosen


@pytest.mark.parametrize("case", cases(), ids=lambda t: t.name)
def test_onnx_case(tmp_path, case):
    feeds, want = case.data_sets[0]
    compare(tmp_path, case.model, feeds, [np.asarray(w) for w in want])


# ---- against ONNX Runtime ----

def one(op, inputs, results, variable=1, opset=21, **attrs):
    """A model of one node: the first `variable` inputs are its inputs, the others constants."""
    infos = [helper.make_tensor_value_info(f"i{k}", helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
             for k, v in enumerate(inputs[:variable])]
    outs = [f"o{k}" for k in range(len(results))]
    names = ["" if v is None else f"i{k}" for k, v in enumerate(inputs)]
    constants = [numpy_helper.from_array(v, f"i{k}") for k, v in enumerate(inputs) if k >= variable and v is not None]
    graph = helper.make_graph([helper.make_node(op, names, outs, **attrs)], "g", infos,
                              [helper.make_tensor_value_info(n, t, None) for n, t in zip(outs, results)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def runtime(model, feeds):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: x for i, x in zip(session.get_inputs(), feeds)})


def random(rng, shape, dtype):
    i = np.iinfo(dtype)
    return rng.integers(i.min, i.max + 1, shape).astype(dtype)


U8, I8, F32, I32 = 2, 3, 1, 6


def runtime_saturates():
    """Whether ONNX Runtime adds two products of u8 and i8 in 16 bits, as its kernels for AVX2 do (its documentation of
    quantization names it): 255 * 127 twice is more."""
    a, b = np.full((16, 64), 255, np.uint8), np.full((64, 16), 127, np.int8)
    whole, zero = np.array(64 * 127, np.float32), np.array(0, np.uint8)
    inputs = [a, np.array(1, np.float32), zero, b, np.array(1, np.float32), np.array(0, np.int8), whole, zero]
    return (runtime(one("QLinearMatMul", inputs, [U8]), [a])[0] != 255).any()


SATURATES = runtime_saturates()


def weights(rng, shape, x, w):
    """Weights whose products with x ONNX Runtime adds exactly: seven bits where it may not."""
    return random(rng, shape, w) // (2 if SATURATES and (x, w) == ("uint8", "int8") else 1)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_quantize_linear(tmp_path, dtype, axis):
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((3, 5, 70)) * 40).astype(np.float32)
    x.ravel()[:6] = [0.25, 0.75, 1.25, -0.25, 1e30, -np.inf]
    n = () if axis is None else (x.shape[axis],)
    scale = rng.uniform(0.1, 0.5, n).astype(np.float32) if n else np.array(0.5, np.float32)
    zero = np.asarray(rng.integers(0, 100, n)).astype(dtype)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    attrs = {} if axis is None else {"axis": axis}
    model = one("QuantizeLinear", [x, scale, zero], [kind], **attrs)
    compare(tmp_path, model, [x], runtime(model, [x]))
    q = random(rng, x.shape, dtype)
    model = one("DequantizeLinear", [q, scale, zero], [F32], **attrs)
    compare(tmp_path, model, [q], runtime(model, [q]))


@pytest.mark.parametrize("x", ["uint8", "int8"])
@pytest.mark.parametrize("w", ["uint8", "int8"])
@pytest.mark.parametrize("zeros", [False, True])
def test_matmul_integer(tmp_path, x, w, zeros):
    rng = np.random.default_rng(2)
    a, b = random(rng, (2, 7, 37), x), random(rng, (37, 50), w)
    more = [np.array(3, x), random(rng, 50, w)] if zeros else []
    model = one("MatMulInteger", [a, b, *more], [I32])
    compare(tmp_path, model, [a], [onnx.reference.ReferenceEvaluator(model).run(None, {"i0": a})[0]])


# channels, size, outputs, kernel, stride, pad, group
SHAPES = [(3, 17, 16, 3, 2, 1, 1), (16, 9, 20, 1, 1, 0, 1), (24, 8, 40, 3, 1, 1, 1), (32, 7, 32, 3, 1, 1, 32), (8, 6, 12, 3, 2, 1, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("x", ["uint8", "int8"])
@pytest.mark.parametrize("zeros", [False, True])
def test_conv_integer(tmp_path, shape, x, zeros):
    c, size, m, k, stride, pad, group = shape
    rng = np.random.default_rng(3)
    image, w = random(rng, (2, c, size, size + 1), x), random(rng, (m, c // group, k, k), "int8")
    more = [np.array(5, x)] if zeros else []
    attrs = {"strides": [stride] * 2, "pads": [pad] * 4, "group": group}
    model = one("ConvInteger", [image, w, *more], [I32], **attrs)
    wide = [image.astype(np.int64) - (5 if zeros else 0), w.astype(np.int64)]
    floats = [v.astype(np.float64) for v in wide]  # exact
    same = one("Conv", floats, [11], **attrs)
    want = onnx.reference.ReferenceEvaluator(same).run(None, {"i0": floats[0]})[0].astype(np.int32)
    compare(tmp_path, model, [image], [want])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("x, w, channels", [("uint8", "uint8", False), ("uint8", "int8", True), ("int8", "int8", True),
                                            ("int8", "int8", False)])
def test_qlinear_conv(tmp_path, shape, x, w, channels):
    c, size, m, k, stride, pad, group = shape
    rng = np.random.default_rng(4)
    image, weight = random(rng, (1, c, size, size + 2), x), weights(rng, (m, c // group, k, k), x, w)
    scale_w = rng.uniform(0.001, 0.01, m if channels else ()).astype(np.float32)
    zero_w = np.zeros(m if channels else (), w) if w == "int8" else np.array(120, w)
    bias = rng.integers(-10000, 10000, m).astype(np.int32)
    inputs = [image, np.array(0.02, np.float32), np.array(7, x), weight, scale_w, zero_w, np.array(0.05, np.float32),
              np.array(11, x), bias]
    attrs = {"strides": [stride] * 2, "pads": [pad] * 4, "group": group}
    model = one("QLinearConv", inputs, [U8 if x == "uint8" else I8], **attrs)
    compare(tmp_path, model, [image], runtime(model, [image]))


@pytest.mark.parametrize("x, w", [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")])
@pytest.mark.parametrize("columns", [False, True])
def test_qlinear_matmul(tmp_path, x, w, columns):
    rng = np.random.default_rng(5)
    a, b = random(rng, (3, 9, 33), x), weights(rng, (33, 48), x, w)
    scale = rng.uniform(0.001, 0.01, 48 if columns else ()).astype(np.float32)
    zero = random(rng, 48, w) // 8 if columns else np.array(9, w)
    inputs = [a, np.array(0.03, np.float32), np.array(4, x), b, scale, zero, np.array(0.1, np.float32), np.array(3, x)]
    model = one("QLinearMatMul", inputs, [U8 if x == "uint8" else I8])
    compare(tmp_path, model, [a], runtime(model, [a]))


@pytest.mark.parametrize("shift", [-100, -0.3, 0, 2, 100])
def test_dynamic_quantize_linear(tmp_path, shift):
    x = (np.random.default_rng(6).standard_normal((5, 31)) + shift).astype(np.float32)
    model = one("DynamicQuantizeLinear", [x], [U8, F32, U8])
    compare(tmp_path, model, [x], runtime(model, [x]))


def test_dynamic_quantize_linear_of_zeros(tmp_path):
    x = np.zeros((4, 3), np.float32)
    model = one("DynamicQuantizeLinear", [x], [U8, F32, U8])
    compare(tmp_path, model, [x], runtime(model, [x]))


# ---- Q/DQ graphs: exact i32 sums, one product with all scales, the bias in the sums or after ----

def quantized_graph(x, w, bias, scales, zeros, attrs):
    """Dequantize, convolve with a bias, Relu, quantize; a bias of integers is in units of its scale."""
    (sx, sw, sy), (zx, zy) = scales, zeros
    constants = {"sx": sx, "zx": zx, "w": w, "sw": sw, "zw": np.zeros(sw.shape, np.int8), "sy": sy, "zy": zy,
                 "b": bias}
    first = []
    if bias.dtype == np.int32:
        constants |= {"whole": constants.pop("b"), "sb": sx * sw, "zb": np.zeros(sw.shape, np.int32)}
        first = [helper.make_node("DequantizeLinear", ["whole", "sb", "zb"], ["b"], axis=0)]
    nodes = [*first,
             helper.make_node("DequantizeLinear", ["x", "sx", "zx"], ["xf"]),
             helper.make_node("DequantizeLinear", ["w", "sw", "zw"], ["wf"], axis=0),
             helper.make_node("Conv", ["xf", "wf", "b"], ["c"], **attrs),
             helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("QuantizeLinear", ["r", "sy", "zy"], ["y"])]
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", kind, x.shape)],
                              [helper.make_tensor_value_info("y", kind, None)],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize("shape", SHAPES[:4], ids=str)
@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("whole", [False, True])
def test_quantized_graph(tmp_path, shape, kind, whole):
    c, size, m, k, stride, pad, group = shape
    rng = np.random.default_rng(7)
    x, w = random(rng, (1, c, size, size), kind), random(rng, (m, c // group, k, k), "int8")
    scales = np.float32(0.02), rng.uniform(0.001, 0.01, m).astype(np.float32), np.float32(0.05)
    zeros, bias = (np.array(5, kind), np.array(3, kind)), rng.standard_normal(m).astype(np.float32)
    if whole:
        bias = rng.integers(-9999, 9999, m).astype(np.int32)
    attrs = {"strides": [stride] * 2, "pads": [pad] * 4, "group": group}
    model = quantized_graph(x, w, bias, scales, zeros, attrs)
    wide = [x.astype(np.float64) - 5, w.astype(np.float64)]  # exact
    acc = onnx.reference.ReferenceEvaluator(one("Conv", wide, [11], **attrs)).run(None, {"i0": wide[0]})[0]
    row = lambda v: v.reshape(-1, 1, 1)
    factor = row(scales[0] * scales[1] / scales[2])
    if whole:
        y = (acc + row(bias)).astype(np.float32) * factor
    else:
        y = acc.astype(np.float32) * factor + row(bias / scales[2])
    q = np.rint(np.maximum(y, 0)) + np.float32(3)
    limits = np.iinfo(kind)
    want = np.clip(q, limits.min, limits.max).astype(kind)
    for flags in ([], WAYS[-1]):
        np.testing.assert_array_equal(wick(tmp_path, model, [x], *flags)[0], want)
    assert np.abs(runtime(model, [x])[0].astype(int) - want).max() <= 1
