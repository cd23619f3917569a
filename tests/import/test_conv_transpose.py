"""Transposed convolutions of every form of decompose_conv_transpose, compared with the sum of their definition."""

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

# window, stride, pads (begins, ends), dilation, output padding, group, channels, channels of the result
CASES = {
    "a stride beyond the window": ([2, 2], [3, 3], [0, 0, 0, 0], 1, 0, 1, 5, 3),
    "a window of one": ([1, 1], [2, 2], [0, 0, 0, 0], 1, 1, 1, 9, 20),
    "3-D, a stride beyond the window": ([2, 2, 2], [4, 4, 4], [0] * 6, 1, 0, 1, 6, 5),
    "3-D in groups": ([3, 3, 3], [2, 2, 2], [1] * 6, 1, 1, 2, 4, 6),
    "pads beyond the window": ([1, 3], [1, 2], [1, 4, 2, 3], 1, 0, 1, 3, 2),
    "many channels into few": ([4, 4], [2, 2], [1, 1, 1, 1], 1, 0, 1, 64, 3),
    "many phases": ([16, 16], [9, 9], [3, 4, 4, 3], 1, 0, 1, 4, 2),
    "many phases in groups, a window below the stride": ([7, 9], [11, 8], [1, 0, 2, 1], 1, 3, 2, 6, 4),
    "a long stride": ([70], [100], [5, 7], 1, 0, 1, 3, 2),
    "a window of several strides": ([200], [80], [60, 60], 1, 1, 1, 8, 1),
    "dilation": ([3, 2], [2, 3], [1, 1, 1, 1], 2, 0, 1, 3, 4),
}


def definition(x, w, b, stride, pads, dilation, more, group):
    rank, size = len(stride), x.shape[2:]
    full = [(n - 1) * s + (k - 1) * dilation + 1 + more for n, s, k in zip(size, stride, w.shape[2:])]
    y = np.zeros((x.shape[0], w.shape[1] * group, *full))
    xs, ws = np.split(x.astype(np.float64), group, 1), np.split(w.astype(np.float64), group)
    for g, tap in itertools.product(range(group), itertools.product(*map(range, w.shape[2:]))):
        at = tuple(slice(t * dilation, t * dilation + (n - 1) * s + 1, s) for t, n, s in zip(tap, size, stride))
        y[(slice(None), slice(g * w.shape[1], (g + 1) * w.shape[1]), *at)] += np.einsum("nc...,cm->nm...", xs[g], ws[g][(..., *tap)])
    cut = tuple(slice(p, n - e) for p, e, n in zip(pads[:rank], pads[rank:], full))
    return y[(..., *cut)] + b.reshape(-1, *[1] * rank)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_forms(name, dynamic):
    window, stride, pads, dilation, more, group, channels, results = CASES[name]
    rng = np.random.default_rng(len(name))
    rank = len(window)
    x = rng.standard_normal((2, channels, *rng.integers(5, 9, rank))).astype(np.float32)
    w = rng.standard_normal((channels, results // group, *window)).astype(np.float32)
    b = rng.standard_normal(results).astype(np.float32)
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], strides=stride, pads=pads, dilations=[dilation] * rank,
                            output_padding=[more] * rank, group=group)  # fmt: skip
    shape = ["n", channels, *[f"s{k}" for k in range(rank)]] if dynamic else x.shape
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    want = definition(x, w, b, stride, pads, dilation, more, group)
    (got,) = wick.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    assert got.shape == want.shape
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()
