"""Convolutions of three dimensions, which become convolutions of images or stay unchanged, compared with the sum of
their definition."""

import itertools
import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

# images, channels, results, window, strides, pads (begins, ends), dilations, groups
CASES = {
    "as video networks have them": (1, 16, 24, [3, 3, 3], [1, 1, 1], [1] * 6, [1, 1, 1], 1),
    "strides": (1, 5, 9, [3, 3, 3], [2, 2, 2], [0, 1, 1, 1, 0, 1], [1, 1, 1], 1),
    "several images": (3, 4, 8, [2, 3, 3], [1, 2, 2], [1, 1, 1, 0, 1, 1], [2, 1, 1], 1),
    "groups": (2, 12, 36, [3, 3, 3], [1, 1, 1], [1] * 6, [1, 2, 1], 3),
    "depthwise": (1, 10, 10, [3, 3, 3], [2, 2, 2], [1] * 6, [1, 1, 1], 10),
    "a window along the depth": (1, 16, 16, [5, 1, 1], [1, 1, 1], [2, 0, 0, 2, 0, 0], [1, 1, 1], 1),
    "points": (1, 9, 5, [1, 1, 1], [2, 1, 2], [0] * 6, [1, 1, 1], 1),
    "few channels, a large window": (1, 2, 23, [7, 7, 7], [2, 2, 2], [0, 1, 2, 0, 1, 2], [1, 1, 1], 1),
}


def definition(x, w, b, strides, pads, dilations, group):
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *zip(pads[:3], pads[3:])])
    size = [(n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(x.shape[2:], w.shape[2:], dilations, strides)]
    y = np.zeros((x.shape[0], w.shape[0], *size))
    each = w.shape[0] // group
    for g, tap in itertools.product(range(group), itertools.product(*map(range, w.shape[2:]))):
        at = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, size, strides))
        part = x[(slice(None), slice(g * w.shape[1], (g + 1) * w.shape[1]), *at)]
        y[:, g * each : (g + 1) * each] += np.einsum("nc...,mc->nm...", part, w[g * each : (g + 1) * each][(..., *tap)])
    return y + b.reshape(-1, 1, 1, 1)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_two_in_a_row(name, dynamic):
    """The second one reads the images that the first one leaves, after an element-wise operator."""
    images, channels, results, window, strides, pads, dilations, group = CASES[name]
    rng = np.random.default_rng(len(name))
    x = rng.standard_normal((images, channels, *rng.integers(8, 12, 3))).astype(np.float32)
    w = [rng.standard_normal((results, c // group, *window)).astype(np.float32) / 8 for c in (channels, results)]
    b = rng.standard_normal(results).astype(np.float32)
    how = dict(strides=strides, pads=pads, dilations=dilations, group=group)
    again = dict(pads=[k // 2 for k in window] * 2, group=group)
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["a"], **how), helper.make_node("Relu", ["a"], ["r"]),
             helper.make_node("Conv", ["r", "v", "b"], ["c"], **again), helper.make_node("Add", ["c", "r"], ["y"])]  # fmt: skip
    same = all(k % 2 for k in window)
    shape = ["n", channels, "d", "h", "w"] if dynamic else x.shape
    graph = helper.make_graph(nodes if same else nodes[:3], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y" if same else "c", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(v, n) for n, v in (("w", w[0]), ("v", w[1]), ("b", b))])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    first = np.maximum(definition(x, w[0], b, strides, pads, dilations, group), 0)
    want = definition(first, w[1], b, [1, 1, 1], again["pads"], [1, 1, 1], group) + (first if same else 0)
    (got,) = wick.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= 2e-5 * np.abs(want).max()


@pytest.mark.parametrize("shape, window, strides, dilations, group", [
    ((1, 12, 1, 1, 30011), [1, 1, 5], [1, 1, 3], [1, 1, 2], 1),
    ((2, 6, 1, 199, 301), [1, 3, 3], [1, 2, 2], [1, 3, 1], 3),
    ((1, 5, 31, 33, 205), [3, 3, 2], [1, 1, 1], [1, 1, 1], 1),
])  # fmt: skip
def test_borders_of_large_images(shape, window, strides, dilations, group):
    """The tiles at the borders have conditions, instead of a copy of the image with zeros around it."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape).astype(np.float32)
    w = rng.standard_normal((4 * group, shape[1] // group, *window)).astype(np.float32)
    b = rng.standard_normal(4 * group).astype(np.float32)
    pads = [k - 1 for k in window] + [1 if k > 1 else 0 for k in window]
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], strides=strides, pads=pads, dilations=dilations, group=group)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])  # fmt: skip
    want = definition(x, w, b.reshape(-1, 1, 1, 1), strides, pads, dilations, group)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (got,) = wick.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
