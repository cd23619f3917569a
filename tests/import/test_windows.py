"""Pools at random sizes against ONNX Runtime: windows that hang over the image by much, on all sides."""

import random

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402


def pool(op, shape, **attributes):
    node = helper.make_node(op, ["x"], ["y"], **attributes)
    x, y = helper.make_tensor_value_info("x", 1, shape), helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph([node], "pool", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9).SerializeToString()


def drawn(seed):
    """An operator, its attributes, and an image whose first window overlaps the image, as ONNX requires: ONNX
    Runtime's results for others are not specified."""
    r = random.Random(seed)
    op = r.choice(["MaxPool", "LpPool", "AveragePool"])
    a = {"ceil_mode": r.randrange(2)}
    for name in ("kernel_shape", "strides", "dilations"):
        a[name] = [r.randint(1, 9 if name == "kernel_shape" else 3) for _ in range(2)]
    a["pads"] = [r.randint(0, a["kernel_shape"][i % 2] - 1) for i in range(4)]
    if op == "AveragePool":
        a["count_include_pad"] = r.randrange(2)
    shape = [1, 2, r.randint(1, 7), r.randint(1, 7)]
    for k in range(2):
        reach = (a["kernel_shape"][k] - 1) * a["dilations"][k] + 1
        room = shape[2 + k] + a["pads"][k] + a["pads"][2 + k] - reach
        if room <= (-a["strides"][k] if a["ceil_mode"] else -1) or a["dilations"][k] > shape[2 + k]:
            return None
    return op, a, shape


def test_pools_agree():
    compared = 0
    for seed in range(200):
        case = drawn(seed)
        if not case:
            continue
        op, a, shape = case
        x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
        model = pool(op, shape, **a)
        want, = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})
        if not np.isfinite(want).all() or np.abs(want).max() > 1e30:
            continue  # a window without an element
        got, = wick.InferenceSession(model, cache="").run(None, {"x": x})
        assert got.shape == want.shape, (op, a, shape)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=str((op, a, shape)))
        compared += 1
    assert compared >= 50


def test_a_window_of_a_million_is_as_large_as_the_image():
    a = {"kernel_shape": [2, 1 << 20], "auto_pad": "SAME_UPPER", "p": 2}
    x = np.ones((1, 3, 32, 32), np.float32)
    y, = wick.InferenceSession(pool("LpPool", x.shape, **a), cache="").run(None, {"x": x})
    np.testing.assert_allclose(y[0, 0, :, 0], np.sqrt([64.0] * 31 + [32.0]), rtol=1e-6)


def drawn_large(seed):
    """A pool whose windows are separated into windows along one axis each."""
    r = random.Random(seed)
    rank = r.choice([2, 3, 3])
    op = r.choice(["MaxPool", "AveragePool"])
    kernel = [r.choice([1, 3, 5, 7] if rank == 2 else [1, 3, 4, 5]) for _ in range(rank)]
    size = [r.randint(max(k, 4), 40 if rank == 2 else 18) for k in kernel]
    a = {"kernel_shape": kernel, "strides": [r.randint(1, 3) for _ in range(rank)], "ceil_mode": r.randrange(2)}
    a["pads"] = [r.randint(0, kernel[i % rank] // 2) for i in range(2 * rank)]
    if op == "AveragePool":
        a["count_include_pad"] = r.randrange(2)
    elif r.random() < 0.3:
        a["dilations"] = [2 if 2 * k < n else 1 for k, n in zip(kernel, size)]
    return op, a, [r.randint(1, 2), r.randint(1, 24), *size]


def test_large_windows_agree():
    for seed in range(60):
        op, a, shape = drawn_large(seed)
        x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
        model = pool(op, shape, **a)
        want, = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})
        got, = wick.InferenceSession(model, cache="").run(None, {"x": x})
        if op == "MaxPool" and np.isfinite(want).all() and np.abs(want).max() < 1e30:
            np.testing.assert_array_equal(got, want, err_msg=str((op, a, shape)))
        inside = np.isfinite(want) & (np.abs(want) < 1e30)
        np.testing.assert_allclose(got[inside], want[inside], rtol=1e-5, atol=1e-6, err_msg=str((op, a, shape)))
