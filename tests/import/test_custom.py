"""Operators of imported models that are functions of the language: --ops FILE.wick."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
F = TensorProto.FLOAT

OPS = """use option { Option }

@onnx("com.example", "ScaledGelu", alpha = 1.5)
fn scaled(static alpha: f32, x: f32[...s]) -> f32[...s] { alpha * gelu(x) }

@onnx("com.example", "SoftRows")
fn rows(x: f32[...s], static axis: i64) -> f32[...s] { softmax(x, axis = axis) }

// By its name: the operator BiasAdd of any domain.
fn bias_add(x: f32[...s, n], b: Option[f32[n]]) -> f32[...s, n] {
  match b {
    None => x,
    Some(v) => x + v,
  }
}

@onnx("com.example", "Windows")
op windows(x: f32[b, n], w: f32[k]) { y[p, i] = sum(j) x[p, i + j] * w[j], z[p] = max(i: n) x[p, i] }

@onnx("", "Relu")
fn leaky(x: f32[...s]) -> f32[...s] { where(x > 0.0, x, 0.1 * x) }

fn choose(x: f32[n], static mode: string) -> f32[n] { if mode == "twice" { x + x } else { x } }

fn narrow(x: f64[n]) -> f64[n] { x }

fn broken(x: f32[n]) { x[0:9] }
"""


def node(op, inputs, outputs, domain="com.example", **attributes):
    return helper.make_node(op, inputs, outputs, domain=domain, name=op.lower(), **attributes)


def save(folder, nodes, inputs, outputs, functions=()):
    (folder / "ops.wick").write_text(OPS)
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, F, s) for n, s in inputs.items()],
                              [helper.make_tensor_value_info(n, F, None) for n in outputs])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.example", 1), helper.make_opsetid("other", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, functions=functions), folder / "m.onnx")
    return str(folder / "m.onnx"), str(folder / "ops.wick")


def gelu(x):
    from math import erf
    return x * 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("nodes, want", [
    ([node("ScaledGelu", ["x"], ["y"], alpha=2.0)], lambda x: 2 * gelu(x)),
    ([node("ScaledGelu", ["x"], ["y"], alpha=3)], lambda x: 3 * gelu(x)),
    ([node("ScaledGelu", ["x"], ["y"])], lambda x: 1.5 * gelu(x)),
    ([node("SoftRows", ["x"], ["y"], axis=0)], lambda x: np.exp(x) / np.exp(x).sum(0)),
    ([node("BiasAdd", ["x"], ["y"])], lambda x: x),
    ([node("BiasAdd", ["x", ""], ["y"], "other")], lambda x: x),
    ([node("SoftRows", ["x"], ["r"], axis=1), node("BiasAdd", ["x", "b"], ["y"])], lambda x: x + 1),
    ([node("Relu", ["x"], ["y"], "")], lambda x: np.where(x > 0, x, np.float32(0.1) * x)),
], ids=lambda n: n[0].op_type if isinstance(n, list) else "")
@pytest.mark.parametrize("rows", [3, "N"])
def test_values(nodes, want, rows, tmp_path):
    inputs = {"x": [rows, 4]}
    if any("b" in n.input for n in nodes):
        inputs["b"] = [4]
    model, ops = save(tmp_path, nodes, inputs, ["y"])
    feed = {"x": X, "b": np.ones(4, np.float32)}
    y, = wick.InferenceSession(model, ops=ops).run(["y"], {n: feed[n] for n in inputs})
    np.testing.assert_allclose(y, want(X), rtol=1e-5, atol=1e-6)


def test_results_and_derivatives(tmp_path):
    model, ops = save(tmp_path, [node("Windows", ["x", "w"], ["y", "z"])], {"x": [3, 4], "w": [2]}, ["y", "z"])
    w = np.array([1, 10], np.float32)
    y, z = wick.compile(model, ops=ops)(X, w)
    np.testing.assert_allclose(y, X[:, :-1] + 10 * X[:, 1:], rtol=1e-5)
    np.testing.assert_allclose(z, X.max(1))
    _, g = wick.grad(model, ["x", "w"], "y", ops=ops)(X, w)
    np.testing.assert_allclose(g["w"], [X[:, :-1].sum(), X[:, 1:].sum()], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(g["x"], np.tile([1, 11, 11, 10], (3, 1)))


def test_optional_results_are_left_out(tmp_path):
    model, ops = save(tmp_path, [node("Windows", ["x", "w"], ["", "z"])], {"x": [3, 4], "w": [2]}, ["z"])
    np.testing.assert_allclose(wick.compile(model, ops=ops)(X, np.ones(2, np.float32)), X.max(1))


def test_a_function_of_the_model_is_replaced_by_one_that_is_declared(tmp_path):
    body = [helper.make_node("Identity", ["x"], ["y"])]
    functions = [helper.make_function("com.example", name, ["x"], ["y"], body, [helper.make_opsetid("", 18)])
                 for name in ("ScaledGelu", "BiasAdd")]
    nodes = [node("ScaledGelu", ["x"], ["y"]), node("BiasAdd", ["x"], ["z"])]
    model, ops = save(tmp_path, nodes, {"x": [3, 4]}, ["y", "z"], functions)
    y, z = wick.compile(model, ops=ops)(X)
    np.testing.assert_allclose(y, 1.5 * gelu(X), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(z, X)


@pytest.mark.parametrize("nodes, says", [
    ([node("Missing", ["x"], ["y"])], '"missing" (Missing): the operator com.example.Missing is not supported, and ops.wick has no function'),
    ([node("ScaledGelu", ["x", "x"], ["y"])], '"scaledgelu" (ScaledGelu): ops.wick:4:4: the node has 2 inputs, `scaled` takes 1'),
    ([node("ScaledGelu", [""], ["y"])], "ops.wick:4:30: the node has no input 0, the parameter `x` of `scaled`"),
    ([node("ScaledGelu", ["x"], ["y", "z"])], "ops.wick:4:4: the node has 2 outputs, `scaled` gives 1"),
    ([node("ScaledGelu", ["x"], ["y"], alpha="a")], "ops.wick:4:11: the attribute `alpha` of the node is text, expected f32"),
    ([node("ScaledGelu", ["x"], ["y"], beta=1)], "the node has an attribute `beta`, `scaled` has no static parameter of this name"),
    ([node("SoftRows", ["x"], ["y"])], "ops.wick:7:23: the node has no attribute `axis`, which `rows` needs"),
    ([node("SoftRows", ["x"], ["y"], axis=1.5)], "the attribute `axis` of the node is a float, expected i64"),
    ([node("SoftRows", ["x"], ["y"], axis=[0.5])], "the attribute `axis` of the node is a tensor, a graph or a list"),
    ([node("Narrow", ["v"], ["y"])], "ops.wick:25:11: input 0 of the node is f32[4], the parameter `x` of `narrow` is f64["),
    ([node("BiasAdd", ["x", "w"], ["y"])], "input 1 of the node is f32[5], the parameter `b` of `bias_add` is f32[4]"),
    ([node("Broken", ["v"], ["y"])], '"broken" (Broken): ops.wick:27:24: the slice ends at 9, beyond the size 4'),
], ids=lambda n: n[0].op_type if isinstance(n, list) else "")
def test_refused(nodes, says, tmp_path):
    model, ops = save(tmp_path, nodes, {"x": [3, 4], "w": [5], "v": [4]}, ["y"])
    r = subprocess.run([WICK, "check", "m.onnx", "--ops", "ops.wick"], capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 1 and says in r.stderr, r.stderr
    with pytest.raises(Exception, match=nodes[0].op_type):
        wick.InferenceSession(model, ops=ops)


def test_a_file_with_mistakes(tmp_path):
    model, _ = save(tmp_path, [node("ScaledGelu", ["x"], ["y"])], {"x": [3, 4]}, ["y"])
    (tmp_path / "bad.wick").write_text('@onnx("d", 3)\nfn f(x) { x }\n')
    (tmp_path / "worse.wick").write_text("fn f(x) { y }\nfn g(x) { z }\n")
    r = subprocess.run([WICK, "run", "m.onnx", "--ops", "bad.wick"], capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 1 and "bad.wick:1:12: error: expected the name of the operator in quotes" in r.stderr, r.stderr
    r = subprocess.run([WICK, "run", "m.onnx", "--ops", "worse.wick"], capture_output=True, text=True, cwd=tmp_path)
    assert "worse.wick:1:11: error: there is no value `y`" in r.stderr and "worse.wick:2:11" in r.stderr
    r = subprocess.run([WICK, "run", "m.onnx", "--ops", "no.wick"], capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 1 and "no.wick: cannot open it" in r.stderr


def test_the_cache_knows_the_functions(tmp_path):
    model, ops = save(tmp_path, [node("ScaledGelu", ["x"], ["y"])], {"x": [3, 4]}, ["y"])
    np.save(tmp_path / "x.npy", X)
    for factor in (1.5, 4.0):
        (tmp_path / "ops.wick").write_text(OPS.replace("alpha = 1.5", f"alpha = {factor}"))
        words = [WICK, "run", "m.onnx", "--ops", "ops.wick", "--inputs", "x.npy", "--outputs", "out"]
        subprocess.run(words, check=True, capture_output=True, cwd=tmp_path, env={**os.environ, "WICK_CACHE_DIR": str(tmp_path / "cache")})
        np.testing.assert_allclose(np.load(tmp_path / "out" / "output_0.npy"), factor * gelu(X), rtol=1e-5, atol=1e-6)
