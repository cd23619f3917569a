"""Casts of floats to integers: the fraction is dropped, numbers beyond the limits become a limit, NaN becomes 0; in
vectors and in their remainder."""

import math
import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import helper  # noqa: E402

EDGES = [0, -0.0, 0.5, -0.5, 0.99, -0.99, 1, -1, 127.5, 128, -128.5, -129, 255.9, 256, 32767.9, 65536, -32769, 2.0**31, 2.0**31 - 128,
         -(2.0**31), -(2.0**31) - 256, 2147483520, 2.0**32, 2.0**32 - 256, 2.0**63, -(2.0**63), 2.0**63 * 0.9999, -9.3e18, 2.0**64, 1e30,
         -1e30, math.inf, -math.inf, math.nan]  # fmt: skip


def exact(x, kind):
    info = np.iinfo(kind)
    if math.isnan(x):
        return 0
    return int(info.max if x >= info.max else info.min if x <= info.min else math.trunc(x))


@pytest.mark.parametrize("to", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_edges(source, to):
    x = np.array(EDGES, source)
    info = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(t)), x.shape) for n, t in (("x", source), ("y", to))]
    node = helper.make_node("Cast", ["x"], ["y"], to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))
    graph = helper.make_graph([node], "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (got,) = wick.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    assert [int(v) for v in got] == [exact(float(v), to) for v in x]
