"""Models inside of traced functions, beside their own runs, and functions as bundles."""
import re
import shutil
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def _info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def _model(nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(np.asarray(v), k) for k, v in dict(weights).items()])
    return wick.load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString(), "net.onnx")


def _control():
    """A product, a branch, a loop that stops early, one with stacked results, and operators with several results."""
    node = helper.make_node
    arm = lambda name, op: helper.make_graph([node(op, ["y", "c"], [name])], name, [], [_info(name, None)])
    state = [_info("i", [], TensorProto.INT64), _info("on", [], TensorProto.BOOL), _info("s", ["N", 2])]
    stops = helper.make_graph([node("Mul", ["s", "k"], ["s2"]), node("ReduceMax", ["s2"], ["most"], keepdims=0), node("Greater", ["most", "limit"], ["go"])],
                              "stops", state, [_info("go", [], TensorProto.BOOL), _info("s2", ["N", 2])])
    rows = helper.make_graph([node("Identity", ["on"], ["go"]), node("Sub", ["s", "c"], ["s2"]), node("Relu", ["s2"], ["row"])], "rows", state,
                             [_info("go", [], TensorProto.BOOL), _info("s2", ["N", 2]), _info("row", ["N", 2])])
    nodes = [node("MatMul", ["x", "w"], ["y"]), node("ReduceSum", ["y"], ["total"], keepdims=0), node("Greater", ["total", "zero"], ["p"]),
             node("If", ["p"], ["z"], then_branch=arm("t", "Add"), else_branch=arm("e", "Mul")),
             node("Loop", ["thousand", "", "z"], ["last"], body=stops), node("Loop", ["four", "", "z"], ["end", "stack"], body=rows),
             node("TopK", ["last", "one"], ["best", "where"]), node("Split", ["end"], ["a", "b"], axis=1, num_outputs=2), node("Concat", ["b", "a"], ["ba"], axis=1)]
    weights = {"w": np.float32([[1, 2], [3, -4], [.5, .25]]), "c": np.float32([1, 2]), "k": np.float32([.5, .75]), "zero": np.float32(0), "limit": np.float32(1e-2),
               "thousand": np.int64(1000), "four": np.int64(4), "one": np.int64([1])}
    outputs = [_info("last", ["N", 2]), _info("stack", [4, "N", 2]), _info("where", ["N", 1], TensorProto.INT64), _info("ba", ["N", 2])]
    return _model(nodes, [_info("x", ["N", 3])], outputs, weights)


def _dense():
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"]), helper.make_node("Tanh", ["h"], ["y"])]
    rng = np.random.default_rng(0)
    return _model(nodes, [_info("x", ["N", 3])], [_info("y", ["N", 4])], {"w": rng.normal(size=(3, 4)).astype(np.float32), "b": np.zeros(4, np.float32)})


@pytest.mark.parametrize("seed", range(3))
def test_control_flow(seed):
    net, x = _control(), np.random.default_rng(seed).normal(size=(5, 3)).astype(np.float32)
    for found, expected in zip(wick.function(lambda x: net(x))(x), net(x)):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_model_with_images():
    net = wick.load("examples/digits/digits.onnx")
    image = np.random.default_rng(1).integers(0, 255, (1, 1, 64, 64)).astype(np.uint8)
    named = wick.function(lambda x: wnp.argsort(net(image=x)[0])[::-1])(image)
    assert named.tolist() == np.argsort(net(image)[0])[::-1].tolist()


def test_derivatives_and_batches():
    net, x = _dense(), np.float32([[0.5, -1, 2], [1, 0, 0.25]])
    w, b = net.parameters["w"], net.parameters["b"]
    slope = wick.function(lambda x: wick.grad(lambda x: wnp.sum(net(x)))(x))(x)
    np.testing.assert_allclose(slope, (1 - np.tanh(x @ w + b) ** 2) @ w.T, rtol=1e-5)
    rows = wick.vmap(lambda row: net(row[None])[0])(x)
    np.testing.assert_allclose(rows, np.tanh(x @ w + b), rtol=1e-5)


def test_training_of_weights():
    net, rng = _dense(), np.random.default_rng(2)
    x, goal = rng.normal(size=(16, 3)).astype(np.float32), rng.uniform(-0.5, 0.5, size=(16, 4)).astype(np.float32)
    loss = lambda weights: wnp.mean((net.apply(weights, x) - goal) ** 2)

    @wick.function
    def step(weights):
        value, gradient = wick.value_and_grad(loss)(weights)
        return value, wick.tree.map(lambda w, g: w - 0.5 * g, weights, gradient)

    weights, values = dict(net.parameters), []
    for _ in range(50):
        value, weights = step(weights)
        values.append(float(value))
    assert values[-1] < 0.5 * values[0]
    np.testing.assert_allclose(net.apply(weights, x), np.tanh(x @ weights["w"] + weights["b"]), rtol=1e-5)


def test_known_inputs():
    """Shapes that depend on an input are those of what the program gives."""
    net = _model([helper.make_node("Reshape", ["x", "shape"], ["y"])], [_info("x", [6]), _info("shape", [2], TensorProto.INT64)], [_info("y", None)])
    x = np.arange(6, dtype=np.float32)
    for shape in ([2, 3], np.array([3, -1])):
        assert wick.function(lambda x: net(x, shape).T)(x).tolist() == x.reshape(*shape).T.tolist()
    with pytest.raises(wick.Unsupported, match="test_models.py:.*shape must be known"):
        wick.function(lambda x, shape: net(x, shape))(x, np.array([2, 3]))


@pytest.mark.parametrize("call, text", [
    (lambda net, x: net(x[:, :2]), r'the input "x" is f32\[N, 3\], f32\[5, 2\] is given'),
    (lambda net, x: net(x.astype(int)), r'the input "x" is f32\[N, 3\], i64\[5, 3\] is given'),
    (lambda net, x: net(), "the inputs are x; 0 are given by order"),
    (lambda net, x: net(x, x=x), "the inputs are x; 1 are given by order, and x by name"),
    (lambda net, x: net(y=x), "no input.*y"),
    (lambda net, x: net.apply({"v": x}, x), "no parameter.*v"),
    (lambda net, x: net.apply({"w": x}, x), r'the parameter "w" has the shape \(3, 4\), \(5, 3\) is given'),
])
def test_errors(call, text):
    net = _dense()
    with pytest.raises(wick.WickError) as e:
        wick.function(lambda x: call(net, x))(np.zeros((5, 3), np.float32))
    place, _, said = str(e.value).rpartition("`: ")  # the quoted line has the text itself
    assert "test_models.py:" in place and re.search(text, said), e.value


def test_sizes_that_depend_on_data():
    net = _model([helper.make_node("NonZero", ["x"], ["y"])], [_info("x", [6])], [_info("y", None, TensorProto.INT64)])
    with pytest.raises(wick.Unsupported, match="sizes only the run knows"):
        wick.function(net)(np.ones(6, np.float32))


_USE = """
#include <stdio.h>
#include "dense.h"
static _Alignas(DENSE_ALIGN) char weights[DENSE_CONSTANTS_BYTES], data[DENSE_MUTABLE_BYTES], arena[DENSE_ARENA_BYTES];
int main(int argc, char **argv) {
  FILE *f = fopen(argv[argc - 1], "rb");
  if (!f || fread(weights, sizeof weights, 1, f) != 1) return 1;
  if (fread(DENSE_INPUT_0(data), DENSE_INPUT_0_BYTES, 1, stdin) != 1 || fread(DENSE_INPUT_1(data), DENSE_INPUT_1_BYTES, 1, stdin) != 1 ||
      fread(DENSE_INPUT_2(data), DENSE_INPUT_2_BYTES, 1, stdin) != 1) return 2;
  if (dense(weights, data, arena)) return 3;
  return fwrite(DENSE_OUTPUT_0(data), DENSE_OUTPUT_0_BYTES, 1, stdout) != 1;
}
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler, which links the bundle")
def test_a_function_as_bundle(tmp_path):
    spec = wick.ShapeDtype
    dense = wick.function(lambda p, x: wnp.tanh(x @ p["w"] + p["b"]))
    lowered = dense.lower({"w": spec((3, 2)), "b": spec((2,))}, spec((8, 3)))
    assert lowered.bundle(tmp_path, "dense")["flash"] > 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dense.h", "dense.o", "dense.weights.bin"]
    (tmp_path / "use.c").write_text(_USE)
    subprocess.run(["cc", "-std=c11", tmp_path / "use.c", tmp_path / "dense.o", "-o", tmp_path / "use"], check=True)
    rng = np.random.default_rng(0)
    b, w, x = (rng.normal(size=s).astype(np.float32) for s in ((2,), (3, 2), (8, 3)))
    ran = subprocess.run([tmp_path / "use", tmp_path / "dense.weights.bin"], input=b.tobytes() + w.tobytes() + x.tobytes(), stdout=subprocess.PIPE, check=True)
    assert ran.stdout == dense({"w": w, "b": b}, x).tobytes()
    with pytest.raises(wick.InvalidArgument, match="cannot have the name"):
        lowered.bundle(tmp_path, "9")


def test_bundles_are_closed(tmp_path):
    table = np.arange(40, dtype=np.float32)
    with pytest.raises(wick.InvalidArgument, match="pass them as arguments"):
        wick.function(lambda i: wnp.asarray(table)[i]).lower(3).bundle(tmp_path)
