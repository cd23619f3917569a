"""Windows over more than three spatial dimensions: convolutions, their transposes, pools, against ONNX Runtime if it
has them, else against ONNX's reference; other operators with spatial dimensions support more of them, too."""
import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

F = TensorProto.FLOAT


def model(op, feed, constants, attrs, dims=None):
    infos = [helper.make_tensor_value_info(k, F, dims or a.shape) for k, a in feed.items()]
    node = helper.make_node(op, [*feed, *constants], ["y"], "y", **attrs)
    graph = helper.make_graph([node], op, infos, [helper.make_tensor_value_info("y", F, None)],
                              [numpy_helper.from_array(a, k) for k, a in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def runtime(m, feed):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    return ort.InferenceSession(m.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feed)[0]


def same(m, feed, want):
    got, = wick.InferenceSession(m.SerializeToString()).run(None, feed)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


CONV = {
    "plain": ((1, 2, 4, 4, 4, 4), (3, 2, 2, 2, 2, 2), {}),
    "strides and pads": ((2, 2, 5, 4, 6, 3), (3, 2, 3, 2, 3, 1), {"strides": [2, 1, 2, 1], "pads": [1, 0, 1, 0, 0, 1, 2, 0]}),
    "dilations": ((1, 2, 6, 5, 4, 4), (2, 2, 2, 3, 2, 2), {"dilations": [3, 2, 1, 2]}),
    "groups": ((1, 4, 3, 3, 4, 4), (6, 2, 2, 2, 2, 2), {"group": 2}),
    "depthwise": ((1, 3, 3, 4, 3, 4), (3, 1, 2, 2, 2, 3), {"group": 3, "auto_pad": "SAME_UPPER"}),
    "five": ((1, 2, 3, 2, 3, 4, 3), (2, 2, 2, 1, 2, 2, 2), {"pads": [0, 1, 0, 1, 0] * 2}),
}


@pytest.mark.parametrize("bias", (False, True))
@pytest.mark.parametrize("name", CONV)
def test_conv(name, bias):
    x, w, attrs = CONV[name]
    feed, constants = {"x": numbers(*x)}, {"w": numbers(*w), **({"b": numbers(w[0])} if bias else {})}
    m = model("Conv", feed, constants, attrs)
    same(m, feed, runtime(m, feed))


def test_conv_of_any_batch():
    feed, constants = {"x": numbers(3, 2, 4, 4, 4, 4)}, {"w": numbers(3, 2, 2, 2, 2, 2)}
    m = model("Conv", feed, constants, {}, ["N", 2, 4, 4, 4, 4])
    session = wick.InferenceSession(m.SerializeToString())
    for n in 3, 1, 2:
        part = {"x": feed["x"][:n]}
        np.testing.assert_allclose(session.run(None, part)[0], runtime(m, part), rtol=1e-4, atol=1e-4)


TRANSPOSED = {
    "plain": ((1, 2, 3, 3, 3, 3), (2, 3, 2, 2, 2, 2), {}),
    "strides and pads": ((1, 2, 3, 2, 3, 3), (2, 3, 3, 2, 3, 2),
                         {"strides": [2, 3, 2, 1], "pads": [1, 0, 1, 0, 0, 1, 1, 1], "output_padding": [1, 2, 0, 0]}),
    "dilations": ((1, 2, 2, 3, 2, 2), (2, 2, 2, 2, 2, 2), {"dilations": [2, 1, 2, 1]}),
    "groups": ((1, 4, 2, 2, 3, 3), (4, 3, 2, 2, 2, 2), {"group": 2, "strides": [2, 2, 1, 1]}),
    "pads beyond the window": ((1, 1, 4, 4, 2, 2), (1, 1, 2, 2, 2, 2), {"pads": [2, 0, 0, 0, 0, 2, 0, 0]}),
}


def transposed(x, w, strides, pads, dilations, output_padding, group):
    """By definition: every element of x adds its window to y."""
    n, kernel = x.ndim - 2, w.shape[2:]
    whole = [(x.shape[2 + k] - 1) * strides[k] + (kernel[k] - 1) * dilations[k] + 1 + output_padding[k] for k in range(n)]
    y = np.zeros((x.shape[0], w.shape[1] * group, *whole))
    for at in np.ndindex(*x.shape[2:]):
        for tap in np.ndindex(*kernel):
            to = tuple(a * s + t * d for a, s, t, d in zip(at, strides, tap, dilations))
            for g in range(group):
                i, o = slice(g * x.shape[1] // group, (g + 1) * x.shape[1] // group), slice(g * w.shape[1], (g + 1) * w.shape[1])
                y[(slice(None), o, *to)] += x[(slice(None), i, *at)] @ w[(i, slice(None), *tap)]
    return y[(slice(None), slice(None), *(slice(pads[k], whole[k] - pads[n + k]) for k in range(n)))].astype(np.float32)


@pytest.mark.parametrize("name", TRANSPOSED)
def test_conv_transpose(name):
    x, w, attrs = TRANSPOSED[name]
    feed, constants = {"x": numbers(*x)}, {"w": numbers(*w)}
    usual = {"strides": [1] * 4, "pads": [0] * 8, "dilations": [1] * 4, "output_padding": [0] * 4, "group": 1}
    same(model("ConvTranspose", feed, constants, attrs), feed, transposed(feed["x"], constants["w"], **{**usual, **attrs}))


POOLS = {
    "plain": ((1, 2, 4, 4, 4, 4), {"kernel_shape": [2, 2, 2, 2]}),
    "strides and pads": ((2, 3, 5, 4, 6, 3), {"kernel_shape": [3, 2, 3, 1], "strides": [2, 1, 2, 1], "pads": [1, 0, 1, 0, 0, 1, 2, 0]}),
    "seven": ((1, 1, 2, 3, 2, 2, 3, 2, 3), {"kernel_shape": [1, 2, 2, 1, 2, 2, 2]}),
}


def windows(x, kernel_shape, strides=None, pads=None):
    """Each window as one row, outside NaN."""
    n = len(kernel_shape)
    strides, pads = strides or [1] * n, pads or [0] * 2 * n
    x = np.pad(x, [(0, 0)] * 2 + [(pads[k], pads[n + k]) for k in range(n)], constant_values=np.nan)
    seen = np.lib.stride_tricks.sliding_window_view(x, kernel_shape, tuple(range(2, 2 + n)))
    return seen[(slice(None), slice(None), *(slice(None, None, s) for s in strides))].reshape(*x.shape[:2], *(
        (x.shape[2 + k] - kernel_shape[k]) // strides[k] + 1 for k in range(n)), -1)


@pytest.mark.parametrize("op,attrs,meaning", [
    ("MaxPool", {}, lambda w: np.nanmax(w, -1)), ("AveragePool", {}, lambda w: np.nanmean(w, -1)),
    ("AveragePool", {"count_include_pad": 1}, lambda w: np.nan_to_num(w).mean(-1)),
    ("LpPool", {"p": 3}, lambda w: np.nansum(np.abs(w) ** 3, -1) ** (1 / 3))])
@pytest.mark.parametrize("name", POOLS)
def test_pool(name, op, attrs, meaning):
    x, window = POOLS[name]
    feed = {"x": numbers(*x)}
    same(model(op, feed, {}, {**window, **attrs}), feed, meaning(windows(feed["x"], **window)).astype(np.float32))


OTHERS = {  # op: (constants, what it means)
    "GlobalAveragePool": ({}, lambda x: x.mean((2, 3, 4, 5), keepdims=True)),
    "GlobalMaxPool": ({}, lambda x: x.max((2, 3, 4, 5), keepdims=True)),
    "InstanceNormalization": ({"s": np.float32([1, 1]), "b": np.float32([0, 0])},
                              lambda x: (x - x.mean((2, 3, 4, 5), keepdims=True)) / np.sqrt(x.var((2, 3, 4, 5), keepdims=True) + 1e-5)),
}


@pytest.mark.parametrize("op", OTHERS)
def test_others(op):
    constants, meaning = OTHERS[op]
    feed = {"x": numbers(2, 2, 3, 2, 3, 2)}
    same(model(op, feed, constants, {}), feed, meaning(feed["x"]))


@pytest.mark.parametrize("attrs", [{"mode": "linear"}, {"mode": "cubic", "coordinate_transformation_mode": "align_corners"},
                                   {"mode": "linear", "antialias": 1}, {"mode": "nearest"}])
def test_resize(attrs):
    feed = {"x": numbers(1, 2, 4, 5, 3, 4)}
    for more in ({"none": np.float32([]), "scales": np.float32([1, 1, 2, 0.6, 1.5, 2])},
                 {"none": np.float32([]), "scales": np.float32([]), "sizes": np.int64([1, 3, 6, 3, 4, 7])}):
        m = model("Resize", feed, more, attrs)
        same(m, feed, ReferenceEvaluator(m).run(None, feed)[0])


def test_what_is_refused():
    feed = {"x": numbers(1, 1, 2, 2, 2, 2)}
    with pytest.raises(wick.TypeMismatch, match='node "y" \\(Conv\\): its window does not fit into spatial dimension 0'):
        wick.load(model("Conv", feed, {"w": numbers(1, 1, 3, 1, 1, 1)}, {}).SerializeToString())
    with pytest.raises(wick.WickError, match='node "y" \\(Conv\\): an outer size of more than three must be known .* a number must be given for H'):
        wick.load(model("Conv", feed, {"w": numbers(1, 1, 2, 1, 1, 1)}, {}, [1, 1, "H", 2, 2, 2]).SerializeToString()).compile(dynamic=True)
