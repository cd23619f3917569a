"""Weights of few bits: products and gathers read the narrow numbers, with the bits of weights that were dequantized before."""

import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models  # noqa: E402

K, N = 192, 128  # more than the 64 KB below which constants are computed at once
BITS = {"int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "uint4": (0, 15)}


def matrix(kind, shared, zero, shape, axis):
    """Initializers and nodes that make the matrix w, and its numbers. Blocks run along `axis`, scales per axis along the other one."""
    rng = np.random.default_rng(180)
    if kind in ("float16", "bfloat16"):
        elem = getattr(onnx.TensorProto, kind.upper())
        tensor = helper.make_tensor("q", elem, shape, rng.standard_normal(shape).astype(np.float32).ravel())
        return [tensor], [helper.make_node("Cast", ["q"], ["w"], to=1)], numpy_helper.to_array(tensor).astype(np.float32)
    least, most = BITS[kind]
    size, attributes = {"tensor": ((), {}), "axis": ((shape[1 - axis],), {"axis": 1 - axis})}.get(shared, (list(shape), {}))
    if shared == "block":
        size[axis] //= 32
        attributes = {"axis": axis, "block_size": 32}
    q, s = rng.integers(least, most + 1, shape), rng.uniform(0.01, 0.1, size).astype(np.float32)
    z = rng.integers(least, most + 1, size) if zero else np.zeros(size, np.int64)
    elem = getattr(onnx.TensorProto, kind.upper())
    tensors = [helper.make_tensor("q", elem, shape, q.ravel()), numpy_helper.from_array(np.asarray(s), "s")]
    if zero:
        tensors.append(helper.make_tensor("z", elem, np.shape(z), np.ravel(z)))
    if shared == "axis":
        s, z = (v.reshape((-1, 1) if axis else (1, -1)) for v in (s, z))
    elif shared == "block":
        s, z = (np.repeat(v, 32, axis) for v in (s, z))
    w = (q - z).astype(np.float32) * s
    return tensors, [helper.make_node("DequantizeLinear", ["q", "s", "z"][: 2 + zero], ["w"], **attributes)], w


def model(nodes, tensors, x, y):
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def run(m, x):
    return wick.InferenceSession(m.SerializeToString()).run(None, {"x": x})[0]


CASES = [(kind, shared, zero) for kind in BITS for shared in ("tensor", "axis", "block") for zero in (False, True)]
CASES += [(kind, "", False) for kind in ("float16", "bfloat16")]


@pytest.mark.parametrize("form", ["plain", "transposed"])
@pytest.mark.parametrize("kind, shared, zero", CASES)
def test_products(kind, shared, zero, form):
    turned = form == "transposed"
    tensors, nodes, w = matrix(kind, shared, zero, (N, K) if turned else (K, N), int(turned))
    for rows in (1, 3):
        x = np.random.default_rng(rows).standard_normal((rows, K)).astype(np.float32)
        x[0, 5] = np.inf
        ends = helper.make_tensor_value_info("x", 1, [rows, K]), helper.make_tensor_value_info("y", 1, [rows, N])
        m = model([*nodes, helper.make_node("Gemm", ["x", "w"], ["y"], transB=int(turned))], tensors, *ends)
        wide = numpy_helper.from_array(np.ascontiguousarray(w.T if turned else w), "w")
        np.testing.assert_array_equal(run(m, x), run(model([helper.make_node("MatMul", ["x", "w"], ["y"])], [wide], *ends), x))
        if rows == 1:
            text = models.low(m)
            assert len(models.launches(text)) == 1
            assert f"f32[{K},{N}]" not in text[text.index("low @main") :]


@pytest.mark.parametrize("kind, shared, zero", CASES)
def test_gathers(kind, shared, zero):
    tensors, nodes, w = matrix(kind, shared, zero, (N, K), 1)
    x = np.array([[3, 0, -1], [N - 1, 7, 3]])
    m = model([*nodes, helper.make_node("Gather", ["w", "x"], ["y"])], tensors, helper.make_tensor_value_info("x", onnx.TensorProto.INT64, x.shape),
              helper.make_tensor_value_info("y", 1, [*x.shape, K]))
    np.testing.assert_array_equal(run(m, x), w[x])
    text = models.low(m)
    assert len(models.launches(text)) == 1 + (shared in ("axis", "block")) * (1 + zero)  # the scales of the rows
    assert f"f32[{N},{K}]" not in text[text.index("low @main") :]
