"""Powers of a constant exponent, some of which are products and roots, beside f64: within two units in the last place, and equal where C
says what a power of zeros, infinities and NaN is."""

import math
import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper  # noqa: E402

EDGES = [0.0, -0.0, 1, -1, 2, -2, 0.3, -0.3, 1e-14, 3e18, -3e18, 1e-30, 7e30, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 5, -1, -2, -3, 0.5, -0.5, 1.5, 2.5, 0.25])
def test_constant_exponent(exponent, kind):
    rng = np.random.default_rng(1)
    x = np.concatenate([EDGES, np.exp(rng.uniform(-12, 12, 200)), -np.exp(rng.uniform(-12, 12, 21))]).astype(kind)
    info = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), x.shape) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Pow", ["x", "e"], ["y"])], "g", info[:1], info[1:],
                              [numpy_helper.from_array(np.array(exponent, kind), "e")])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (got,) = wick.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.longdouble), np.longdouble(exponent)).astype(kind)
    special = np.isnan(want) | np.isinf(want) | (want == 0)
    assert np.array_equal(got[special], want[special], equal_nan=True)
    assert np.array_equal(np.signbit(got[special & ~np.isnan(want)]), np.signbit(want[special & ~np.isnan(want)]))
    got, want = got[~special], want[~special]
    assert np.all(np.abs(got - want) <= 2 * np.spacing(np.abs(want)))
