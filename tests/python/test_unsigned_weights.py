"""Products of bytes whose weights have a zero point of their own, as quantizers write them, equal ONNX Runtime's."""
import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import helper, numpy_helper  # noqa: E402

from built import PACKAGE  # noqa: E402, F401
import wick  # noqa: E402


def run(node, x, output, constants):
    info = helper.make_tensor_value_info
    kind = lambda a: helper.np_dtype_to_tensor_dtype(np.dtype(a))
    graph = helper.make_graph([node], "g", [info("x", kind(x.dtype), x.shape)], [info("y", kind(output), None)],
                              [numpy_helper.from_array(a, n) for n, a in constants.items()])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
    want = ort.InferenceSession(model).run(None, {"x": x})[0]
    got = wick.InferenceSession(model).run(None, {"x": x})[0]
    assert got.dtype == want.dtype
    return got, want


@pytest.fixture(params=range(12))
def draw(request):
    return np.random.default_rng(request.param)


def test_matmul_integer(draw):
    m, k, n = (int(draw.integers(1, 40)) for _ in range(3))
    x, w = (draw.integers(0, 256, s).astype(np.uint8) for s in ([2, m, k], [k, n]))
    zero = draw.integers(0, 256, n if draw.integers(2) else 1).astype(np.uint8)
    node = helper.make_node("MatMulInteger", ["x", "w", "p", "q"], ["y"])
    got, want = run(node, x, np.int32, {"w": w, "p": zero[0], "q": zero if len(zero) == n else zero[0]})
    np.testing.assert_array_equal(got, want)


def test_conv_integer(draw):
    c, o, group = int(draw.integers(1, 6)), int(draw.integers(1, 20)), int(draw.choice([1, 1, 2]))
    kernel, stride = draw.integers(1, 4, 2).tolist(), draw.integers(1, 3, 2).tolist()
    pad = [int(draw.integers(k)) for k in kernel]
    x = draw.integers(0, 256, [2, c * group, 9, 11]).astype(np.uint8)
    w = draw.integers(0, 256, [o * group, c, *kernel]).astype(np.uint8)
    zero = draw.integers(0, 256, 2).astype(np.uint8)
    node = helper.make_node("ConvInteger", ["x", "w", "p", "q"], ["y"], strides=stride, pads=pad + pad, group=group)
    got, want = run(node, x, np.int32, {"w": w, "p": zero[0], "q": zero[1]})
    np.testing.assert_array_equal(got, want)


def test_qlinear_conv(draw):
    c, o = (int(draw.integers(1, 40)) for _ in range(2))
    k = int(draw.choice([1, 3]))
    x = draw.integers(0, 256, [1, c, 8, 7]).astype(np.uint8)
    w = draw.integers(0, 256, [o, c, k, k]).astype(np.uint8)
    b = draw.integers(-2000, 2000, o).astype(np.int32)
    scale = np.float32([0.02, 0.01, 0.05 * c * k])
    zero = draw.integers(90, 170, 3).astype(np.uint8)
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
    node = helper.make_node("QLinearConv", names, ["y"], pads=[k // 2] * 4)
    got, want = run(node, x, np.uint8, {"xs": scale[0], "xz": zero[0], "w": w, "ws": scale[1], "wz": zero[1],
                                        "ys": scale[2], "yz": zero[2], "b": b})  # fmt: skip
    assert np.abs(got.astype(int) - want).max() <= 1  # of a tie
    assert (got != want).mean() < 0.01
