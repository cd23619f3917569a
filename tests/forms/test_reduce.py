"""Reductions along any axes, of slices that are contiguous or alternate, beside NumPy in f64."""

import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401
import wick  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402

SHAPES = [(3, 70, 2), (41, 3), (5, 17, 3), (2, 3, 4, 2), (70, 1, 2), (4, 9, 1, 3), (1, 300, 2), (6, 2), (33, 5, 4), (7, 2, 31)]
SUMS = {"ReduceSum": lambda x, a: x.sum(a), "ReduceMean": lambda x, a: x.mean(a), "ReduceL1": lambda x, a: np.abs(x).sum(a), "ReduceL2": lambda x, a: np.sqrt((x * x).sum(a)),
        "ReduceLogSumExp": lambda x, a: np.log(np.exp(x).sum(a))}  # fmt: skip
EXACT = {"ReduceMax": lambda x, a: x.max(a), "ReduceMin": lambda x, a: x.min(a)}


def run(op, x, axes, dynamic):
    shape = [f"N{k}" if dynamic and k < x.ndim - 1 else n for k, n in enumerate(x.shape)]
    node = helper.make_node(op, ["x", "a"], ["y"], keepdims=0)
    info = helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), shape)
    fixed = [onnx.numpy_helper.from_array(np.array(axes, np.int64), "a")]
    graph = helper.make_graph([node], "one", [info], [helper.make_empty_tensor_value_info("y")], fixed)
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10))
    return wick.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]


def sets(rank):
    return [[k for k in range(rank) if bits >> k & 1] for bits in range(1, 1 << rank)]


@pytest.mark.parametrize("shape", SHAPES)
def test_reduce(shape):
    r = np.random.default_rng(len(shape))
    for i, axes in enumerate(sets(len(shape))):
        x = r.standard_normal(shape).astype([np.float32, np.float64][i % 2])
        op = list(SUMS)[i % len(SUMS)]
        np.testing.assert_allclose(run(op, x, axes, i % 3 == 0), SUMS[op](x.astype(np.float64), tuple(axes)), rtol=2e-5, atol=2e-5)
        op = list(EXACT)[i % 2]
        x = r.integers(-50, 50, shape).astype([np.float32, np.int32, np.int8, np.uint8, np.float16, np.int64][i % 6])
        np.testing.assert_array_equal(run(op, x, axes, i % 3 == 1), EXACT[op](x, tuple(axes)))
        if x.dtype.kind == "f":
            x = np.where(r.random(shape) < 0.2, np.nan, x).astype(x.dtype)
            np.testing.assert_array_equal(run(op, x, axes, False), EXACT[op](x, tuple(axes)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_sum_exp_of_any_size(dtype):
    """Large numbers, whose powers vanish beside the largest, and infinite ones."""
    x = (np.random.default_rng(7).standard_normal((6, 37)) * 80).astype(dtype)
    x[1, 3:5], x[2], x[3, 5], x[4, 0], x[5] = [np.inf, 3e38], -np.inf, -np.inf, np.nan, 3e38
    most = x.astype(np.float64).max(1)
    with np.errstate(all="ignore"):
        shift = np.where(np.isinf(most), 0, most)
        expected = np.log(np.exp(x.astype(np.float64) - shift[:, None]).sum(1)) + most
    np.testing.assert_allclose(run("ReduceLogSumExp", x, [1], False), expected, rtol=1e-6)
