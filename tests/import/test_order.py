"""Nodes that are not sorted, operators of later opsets, and those that ONNX had as experiments: taken, with a remark."""
import json
import os
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", "build/wick")
node = helper.make_node


def info(name, *shape, elem=T.FLOAT):
    return helper.make_tensor_value_info(name, elem, shape)


def model_of(nodes, inputs, outputs, opset=17, functions=(), ir=9, **graph):
    outputs = [onnx.ValueInfoProto(name=o) if isinstance(o, str) else o for o in outputs]
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, **graph), opset_imports=opsets, functions=list(functions),
                             ir_version=ir)


def run(model, *arrays):
    s = wick.InferenceSession(model.SerializeToString())
    return s.run(None, dict(zip([i.name for i in s.get_inputs()], arrays)))


def check(folder, model, good=True):
    """-> the remarks of `wick check`, and its problems."""
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    r = subprocess.run([WICK, "check", "--json", str(folder / "m.onnx")], capture_output=True, text=True, timeout=60)
    assert (r.returncode == 0) == good, r.stdout + r.stderr
    said = json.loads(r.stdout)
    said = said[0] if isinstance(said, list) else said
    return said["remarks"], [p["message"] for p in said["problems"]]


X = np.array([1, -2, 3], np.float32)


def test_sorted(tmp_path):
    nodes = [node("Add", ["a", "b"], ["y"], "last"), node("Mul", ["x", "x"], ["b"]), node("Neg", ["c"], ["a"], "n"),
             node("Abs", ["x"], ["c"])]
    model = model_of(nodes, [info("x", 3)], ["y"])
    np.testing.assert_array_equal(run(model, X)[0], X * X - abs(X))
    assert check(tmp_path, model) == (
        ['m.onnx: 2 nodes, first "last" (Add), are listed before nodes that they read; they were sorted'], [])
    text = subprocess.run([WICK, "check", str(tmp_path / "m.onnx")], capture_output=True, text=True).stdout
    assert text.startswith('remark: m.onnx: 2 nodes, first "last" (Add),')
    assert check(tmp_path, model_of(nodes[::-1], [info("x", 3)], ["y"])) == ([], [])


def test_sorted_within_graphs(tmp_path):
    """A branch that reads a later node of the graph around it, and whose own nodes are not sorted."""
    then = helper.make_graph([node("Neg", ["t"], ["r"]), node("Add", ["late", "x"], ["t"])], "then", [], [info("r", 3)])
    other = helper.make_graph([node("Identity", ["late"], ["q"])], "else", [], [info("q", 3)])
    nodes = [node("If", ["c"], ["y"], "if", then_branch=then, else_branch=other), node("Mul", ["x", "x"], ["late"])]
    model = model_of(nodes, [info("c", elem=T.BOOL), info("x", 3)], [info("y", 3)])
    np.testing.assert_array_equal(run(model, np.array(True), X)[0], -(X * X + X))
    np.testing.assert_array_equal(run(model, np.array(False), X)[0], X * X)
    assert len(check(tmp_path, model)[0]) == 2


def test_sorted_within_functions():
    f = helper.make_function("own", "F", ["x"], ["y"], [node("Neg", ["t"], ["y"]), node("Mul", ["x", "x"], ["t"])],
                             [helper.make_opsetid("", 17)])
    np.testing.assert_array_equal(run(model_of([node("F", ["x"], ["y"], domain="own")], [info("x", 3)], ["y"], functions=[f]), X)[0], -X * X)


def test_names_that_graphs_hide():
    """A name within a branch is not the later node's of the same name."""
    branch = lambda op, out: helper.make_graph([node(op, ["x"], ["same"]), node("Neg", ["same"], [out])], op, [], [info(out, 3)])
    nodes = [node("If", ["c"], ["y"], then_branch=branch("Abs", "r"), else_branch=branch("Neg", "q")), node("Mul", ["y", "y"], ["same"])]
    model = model_of(nodes, [info("c", elem=T.BOOL), info("x", 3)], [info("same", 3)])
    np.testing.assert_array_equal(run(model, np.array(True), X)[0], X * X)


def test_cycles(tmp_path):
    nodes = [node("Add", ["x", "c"], ["a"], "first"), node("Neg", ["a"], ["b"]), node("Abs", ["b"], ["c"], "third")]
    said = check(tmp_path, model_of(nodes, [info("x", 3)], ["c"]), good=False)[1]
    assert said == ['nodes depend on each other in a cycle: "b" (Neg), "third" (Abs), "first" (Add)']
    said = check(tmp_path, model_of([node("Add", ["x", "a"], ["a"], "n")], [info("x", 3)], ["a"]), good=False)[1]
    assert said == ['a node depends on itself: "n" (Add)']


def test_many_nodes_backwards():
    """Each of 20,000 nodes is listed before the one that it reads."""
    n = 20000
    nodes = [node("Neg", [f"t{i}"], [f"t{i + 1}"]) for i in range(n)][::-1]
    model = model_of(nodes, [info("t0", 1)], [f"t{n}"])
    assert wick.InferenceSession(model.SerializeToString()).get_outputs()[0].shape == [1]


@pytest.mark.parametrize("op,opset,attributes", [("Gelu", 17, {}), ("Mish", 11, {}), ("HardSwish", 11, {}), ("Erf", 7, {}),
                                                 ("LayerNormalization", 11, {"axis": -1}), ("CumSum", 9, {})])
def test_later_operators(tmp_path, op, opset, attributes):
    more = {"LayerNormalization": [np.ones(3, np.float32)], "CumSum": [np.array(0)]}.get(op, [])
    names = ["x"] + [f"c{i}" for i in range(len(more))]
    constants = [numpy_helper.from_array(c, n) for c, n in zip(more, names[1:])]
    build = lambda opset: model_of([node(op, names, ["y"], "n", **attributes)], [info("x", 3)], ["y"], opset, initializer=constants)
    np.testing.assert_array_equal(run(build(opset), X)[0], run(build(20), X)[0])
    (remark,), problems = check(tmp_path, build(opset))
    since = onnx.defs.get_schema(op, 20).since_version
    first = {"Erf": 9, "CumSum": 11, "HardSwish": 14}.get(op, since)
    assert remark == f'm.onnx: node "n" ({op}): {op} is an operator from opset {first} on, the model has opset {opset}' and not problems


IMAGE = np.random.default_rng(1).normal(size=(2, 3, 5, 6)).astype(np.float32)


@pytest.mark.parametrize("op,attributes,want", [
    ("Affine", {"alpha": 2.0, "beta": 0.5}, 2 * IMAGE + 0.5),
    ("Scale", {"scale": 3.0}, 3 * IMAGE),
    ("ImageScaler", {"scale": 2.0, "bias": [1.0, -1.0, 0.5]}, 2 * IMAGE + np.array([1, -1, 0.5], np.float32)[:, None, None]),
    ("ParametricSoftplus", {"alpha": 2.0, "beta": 0.5}, 2 * np.log1p(np.exp(0.5 * IMAGE))),
    ("ScaledTanh", {"alpha": 2.0, "beta": 0.5}, 2 * np.tanh(0.5 * IMAGE)),
    ("Crop", {"border": [1, 2, 0, 1]}, IMAGE[:, :, 2:4, 1:]),
    ("Crop", {"border": [1, 2, 0, 1], "scale": [3, 2]}, IMAGE[:, :, 2:5, 1:3]),
])
def test_experiments(op, attributes, want):
    model = model_of([node(op, ["x"], ["y"], **attributes)], [info("x", *IMAGE.shape)], ["y"], 8)
    np.testing.assert_allclose(run(model, IMAGE)[0], want, rtol=1e-5, atol=1e-6)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:  # builds of ONNX Runtime may leave them out
        theirs = ort.InferenceSession(model.SerializeToString(), options)
    except Exception:
        return
    np.testing.assert_allclose(theirs.run(None, {"x": IMAGE})[0], want, rtol=1e-5, atol=1e-6)


def test_simplified_layer_normalization():
    scale = np.array([1, 2, 3, 4, 5, 6], np.float32)
    model = model_of([node("SimplifiedLayerNormalization", ["x", "s"], ["y", "r"], axis=-1, epsilon=1e-3)], [info("x", *IMAGE.shape)],
                     [info("y", *IMAGE.shape), info("r", *IMAGE.shape[:-1], 1)], initializer=[numpy_helper.from_array(scale, "s")])
    r = 1 / np.sqrt((IMAGE * IMAGE).mean(-1, keepdims=True) + 1e-3)
    for got, want in zip(run(model, IMAGE), (IMAGE * r * scale, r)):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    for got, want in zip(run(model, IMAGE), ort.InferenceSession(model.SerializeToString(), options).run(None, {"x": IMAGE})):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_experiments_that_do_not_fit(tmp_path):
    for op, attributes, said in (("Crop", {"border": [1, 2]}, "border has 2 numbers"), ("Crop", {"border": [4, 0, 4, 0]}, "the borders"),
                                 ("ImageScaler", {"bias": [1.0]}, "bias has 1 numbers")):
        model = model_of([node(op, ["x"], ["y"], **attributes)], [info("x", *IMAGE.shape)], ["y"], 8)
        assert said in check(tmp_path, model, good=False)[1][0]
