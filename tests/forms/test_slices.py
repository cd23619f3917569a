"""Operators on slices: softmax and its relatives, positions of extremes, the first k; for slices of any length, at any axis."""

import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401
import wick  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402

SHAPES = [(70, 5), (70, 10), (20, 7, 33), (33, 6, 2), (70, 13, 3), (2, 500, 3), (1, 900, 2), (64, 2), (3, 40, 4), (9, 11), (7, 200), (50, 1, 12), (300,), (20, 4, 4, 2)]


def run(op, x, outputs, dynamic, more=None, **attributes):
    names = [f"y{i}" for i in range(outputs)]
    shape = ["N", *x.shape[1:]] if dynamic else x.shape
    info = [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), shape)]
    fixed = [onnx.numpy_helper.from_array(np.array([more]), "k")] if more else []
    node = helper.make_node(op, ["x", *(["k"] if more else [])], names, **attributes)
    graph = helper.make_graph([node], "one", info, [helper.make_empty_tensor_value_info(n) for n in names], fixed)
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))
    return wick.InferenceSession(model.SerializeToString()).run(None, {"x": x})


def tensor(shape, dtype, special, seed):
    r = np.random.default_rng(seed)
    x = r.integers(-4, 5, shape).astype(dtype)  # many equal elements
    if special and np.issubdtype(dtype, np.floating):
        x[r.random(shape) < 0.15] = -np.inf
        x[r.random(shape) < 0.03] = np.nan
        x[r.random(shape) < 0.05] = np.inf
    return x


def index(x, axis):
    return np.broadcast_to(np.arange(x.shape[axis]).reshape([-1 if k == axis else 1 for k in range(x.ndim)]), x.shape)


def best(x, axis, least, last):
    """NaN comes before all numbers."""
    v = np.where(np.isnan(x), 0, x).astype(np.float64) * (1 if least else -1)
    at = index(x, axis) * (-1 if last else 1)
    return np.abs(np.take(np.take_along_axis(at, np.lexsort((at, v, ~np.isnan(x)), axis=axis), axis), 0, axis))


@pytest.mark.parametrize("seed", range(len(SHAPES)))
def test_positions(seed):
    shape, others = SHAPES[seed], [np.float64, np.float16, np.int32, np.int8, np.uint8, np.int64]
    for axis in range(len(shape)):
        for op, last, dtype in ("ArgMax", 0, np.float32), ("ArgMin", 1, np.float32), ("ArgMin", 0, others[seed % 6]), ("ArgMax", 1, others[(seed + 3) % 6]):
            x = tensor(shape, dtype, True, seed)
            (y,) = run(op, x, 1, last, axis=axis, keepdims=0, select_last_index=last)
            assert (y == best(x, axis, op == "ArgMin", last)).all(), (op, dtype, axis, last)
        x = np.full(shape, -np.inf, np.float32)
        assert (run("ArgMax", x, 1, False, axis=axis)[0] == 0).all()
        assert (run("ArgMax", x, 1, False, axis=axis, select_last_index=1)[0] == shape[axis] - 1).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_softmax(shape):
    for axis in range(len(shape)):
        x = tensor(shape, np.float32, False, 3)
        e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
        s = e.sum(axis, keepdims=True)
        np.testing.assert_allclose(run("Softmax", x, 1, False, axis=axis)[0], e / s, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(run("LogSoftmax", x, 1, True, axis=axis)[0], np.log(e / s), rtol=1e-5, atol=1e-5)
        at = np.expand_dims(best(x, axis, False, 0), axis)
        want = np.zeros(shape, np.float32)
        np.put_along_axis(want, at, 1, axis)
        assert (run("Hardmax", x, 1, False, axis=axis)[0] == want).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_first(shape):
    for axis in range(len(shape)):
        for k in {1, min(3, shape[axis]), min(17, shape[axis])}:
            for largest in {0, k % 2}:
                x = tensor(shape, np.float32, k != 3, 5)
                y, at = run("TopK", x, 2, largest, more=k, axis=axis, largest=largest)
                key = -x if largest else x
                number = ~np.isnan(x) if largest else np.isnan(x)
                order = np.take(np.lexsort((index(x, axis), np.where(np.isnan(x), 0, key), number), axis=axis), range(k), axis)
                assert (at == order).all(), (axis, k, largest)
                np.testing.assert_array_equal(y, np.take_along_axis(x, order, axis))
