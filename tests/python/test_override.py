"""Initializers that are inputs, too: defaults that a run may override."""
import os
import pickle
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
X = np.arange(6, dtype=np.float32).reshape(2, 3)
W, B = np.array([1, 2, 3], np.float32), np.array(10, np.float32)


def model_of(ir=8):
    """y = x * w + b, where w and b are inputs with defaults, and k is a constant."""
    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Mul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["q"]), helper.make_node("Add", ["q", "k"], ["y"])]
    inputs = [info("w", T.FLOAT, [3]), info("x", T.FLOAT, ["N", 3]), info("b", T.FLOAT, [])]
    constants = [numpy_helper.from_array(W, "w"), numpy_helper.from_array(B, "b"), numpy_helper.from_array(np.float32([0.5]), "k")]
    if ir < 4:
        inputs.append(info("k", T.FLOAT, [1]))
    graph = helper.make_graph(nodes, "g", inputs, [info("y", T.FLOAT, ["N", 3])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=ir).SerializeToString()


def ports(nodes):
    return [(n.name, n.type, n.shape) for n in nodes]


@pytest.mark.parametrize("ir", [3, 4, 8])
def test_lists(ir):
    ours, theirs = wick.InferenceSession(model_of(ir)), ort.InferenceSession(model_of(ir))
    assert ports(ours.get_inputs()) == ports(theirs.get_inputs())
    assert sorted(ports(ours.get_overridable_initializers())) == sorted(ports(theirs.get_overridable_initializers()))
    assert [n.name for n in ours.get_overridable_initializers()] == (["w", "b"] if ir >= 4 else [])


FEEDS = [{}, {"w": W * 2}, {"b": np.asarray(B + 1)}, {"w": W - 1, "b": np.asarray(B * 3)}, {}, {"w": W * 5}]


def test_session():
    ours, theirs = wick.InferenceSession(model_of()), ort.InferenceSession(model_of())
    ours = pickle.loads(pickle.dumps(ours))
    for n, feed in enumerate(FEEDS):
        x = np.concatenate([X] * (1 + n % 2))
        np.testing.assert_array_equal(ours.run(None, {"x": x, **feed})[0], theirs.run(None, {"x": x, **feed})[0])
    with pytest.raises(Exception, match="no input nothing|no input \"nothing\"|nothing"):
        ours.run(None, {"x": X, "nothing": W})
    with pytest.raises(Exception, match="w"):
        ours.run(None, {"x": X, "w": np.float32([1, 2])})
    with pytest.raises(Exception):
        wick.InferenceSession(model_of(3)).run(None, {"x": X, "w": W})


def test_binding():
    s = wick.InferenceSession(model_of())
    b = s.io_binding()
    b.bind_cpu_input("x", X)
    b.bind_cpu_input("w", W * 2)
    b.bind_output("y")
    s.run_with_iobinding(b)
    np.testing.assert_array_equal(b.copy_outputs_to_cpu()[0], X * W * 2 + B + np.float32(0.5))


def test_model():
    model = wick.Model(model_of())
    assert [p.name for p in model.inputs] == ["x"] and [p.name for p in model.overridable] == ["w", "b"]
    other = model.override("b")
    assert [p.name for p in other.inputs] == ["x", "b"] and [p.name for p in other.overridable] == ["w", "b"]
    assert [p.name for p in other.override("b", "w").inputs] == ["w", "x", "b"]
    assert [p.name for p in other.override().inputs] == ["x"]
    with pytest.raises(wick.InvalidArgument, match='no overridable initializer "k"'):
        model.override("k")
    y = other.compile(sizes={"N": 2})(X, B * 7)
    np.testing.assert_array_equal(y, X * W + B * 7 + np.float32(0.5))
    slope = model.override("w").grad("w")
    assert [p.name for p in slope.outputs] == ["y", "w.grad"]
    np.testing.assert_array_equal(slope.compile(sizes={"N": 2})(W, X)[1], X.sum(0))


def test_commands(tmp_path):
    (tmp_path / "m.onnx").write_bytes(model_of())
    for name, array in (("x", X), ("w", W * 2)):
        np.save(tmp_path / f"{name}.npy", array)
    command = lambda *words: subprocess.run([WICK, *map(str, words)], capture_output=True, text=True, timeout=300)
    r = command("run", tmp_path / "m.onnx", "--inputs", f"x={tmp_path / 'x.npy'}", f"w={tmp_path / 'w.npy'}", "-o", tmp_path / "out", "--no-cache")
    assert r.returncode == 0, r.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "output_0.npy"), X * W * 2 + B + np.float32(0.5))
    r = command("compile", tmp_path / "m.onnx", "--override", "w", "--dim", "N=2", "-o", tmp_path / "m.wick", "--no-cache")
    assert r.returncode == 0, r.stderr
    r = command("run", tmp_path / "m.wick", "--inputs", f"x={tmp_path / 'x.npy'}", f"w={tmp_path / 'w.npy'}", "-o", tmp_path / "out2")
    assert r.returncode == 0, r.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out2" / "output_0.npy"), X * W * 2 + B + np.float32(0.5))
    r = command("compile", tmp_path / "m.onnx", "--override", "k", "-o", tmp_path / "n.wick", "--no-cache")
    assert r.returncode != 0 and 'no overridable initializer "k"' in r.stderr
