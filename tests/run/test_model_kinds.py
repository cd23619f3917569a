"""`check`, `opt`, `plan` take whatever `run` takes: ONNX, a module in text, an artifact."""
import json
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", str(pathlib.Path(__file__).parents[2] / "build" / "wick"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))


def wick(*args, status=0, **more):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300, **more)
    assert r.returncode == status, (args, r.stdout, r.stderr)
    return r.stdout if status == 0 else r.stderr


@pytest.fixture
def model(tmp_path):
    """y = exp(x) + 1, of N by 4."""
    nodes = [helper.make_node("Exp", ["x"], ["e"]), helper.make_node("Add", ["e", "w"], ["y"])]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", T.FLOAT, ["N", 4])],
                              [helper.make_tensor_value_info("y", T.FLOAT, ["N", 4])], [numpy_helper.from_array(np.ones(4, "f"), "w")])
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    np.save(tmp_path / "x.npy", np.zeros((3, 4), "f"))
    return path


@pytest.fixture
def contents(tmp_path):
    """The output's size is the contents of the input "shape"."""
    graph = helper.make_graph([helper.make_node("Reshape", ["x", "shape"], ["y"])], "g",
                              [helper.make_tensor_value_info("x", T.FLOAT, [12]), helper.make_tensor_value_info("shape", T.INT64, [2])],
                              [helper.make_tensor_value_info("y", T.FLOAT, ["a", "b"])])
    path = tmp_path / "reshape.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    np.save(tmp_path / "flat.npy", np.arange(12, dtype="f"))
    np.save(tmp_path / "shape.npy", np.array([3, 4]))
    return path, ["--inputs", tmp_path / "flat.npy", tmp_path / "shape.npy"]


@pytest.fixture
def text(tmp_path, model):
    path = tmp_path / "m.txt"
    path.write_text(wick("opt", model))
    return path


def test_opt_of_onnx(model, text, tmp_path):
    said = text.read_text()
    assert "graph @main" in said and "exp" in said and "f32[N,4]" in said
    assert "f32[3,4]" in wick("opt", model, "--dim", "N=3") and "f32[3,4]" in wick("opt", model, "-i", tmp_path / "x.npy")
    assert "[2..6]" in wick("opt", model, "--dim", "N=2..6")
    assert wick("opt", text) == said  # its output can be read and run
    for path in model, text:
        wick("run", path, "-i", tmp_path / "x.npy", "-o", tmp_path / path.name[2:])
    assert np.array_equal(np.load(tmp_path / "onnx" / "output_0.npy"), np.load(tmp_path / "txt" / "output_0.npy"))
    assert "kernel" in wick("opt", model, "--dim", "N=3", "--pipeline", "kernels")
    assert wick("opt", "-", input=said) == said


def test_opt_refuses(model, text, tmp_path):
    wick("compile", model, "-o", tmp_path / "m.wick")
    assert "m.wick: it is compiled and has no graph" in wick("opt", tmp_path / "m.wick", status=1)
    assert "no input has a size named M" in wick("opt", model, "--dim", "M=3", status=1)
    r = subprocess.run([WICK, "opt", "-"], input=model.read_bytes(), capture_output=True)
    assert r.returncode == 1 and b"standard input takes a module in text" in r.stderr
    assert "No such file" in wick("opt", tmp_path / "nowhere", status=1)



def test_opt_reads_programs(tmp_path):
    path = tmp_path / "p.wick"
    path.write_text("fn f(x: f32[n]) -> f32[n] { 2.0 * x }\nfn main(x: f32[3]) -> f32[3] { f(f(x)) }\n")
    assert "call @f" in wick("opt", path) and "call @f" not in wick("opt", path, "--pipeline", "graph")
    assert "f32[5]" in wick("opt", path, "--entry", "f", "--dim", "n=5")

def test_contents_of_inputs(contents):
    path, inputs = contents
    assert "f32[3,4]" in wick("opt", path, *inputs)
    assert "arena" in wick("plan", path, *inputs)
    for command in "opt", "plan":
        assert "reshape.onnx" in wick(command, path, status=1)


def test_check_of_text(text, tmp_path):
    said = wick("check", text)
    assert "input  x: f32[N,4]" in said and "output y: f32[N,4]" in said and "size   N: 1 to" in said
    found, = json.loads(wick("check", text, "--json"))
    assert found["good"] and found["inputs"] == [{"name": "x", "type": "f32[N,4]"}] and found["problems"] == []
    wick("check", text, "-i", tmp_path / "x.npy", "-o", tmp_path / "out")
    assert np.array_equal(np.load(tmp_path / "out" / "output_0.npy"), np.full((3, 4), 2, "f"))
    assert "inputs are given, expected 1" in wick("check", text, "-o", tmp_path / "out", status=1)
    assert "has the ranges of its sizes itself" in wick("check", text, "--dim", "N=1..3", status=1)
    assert "graph @main" in wick("check", text, "--print")
    (tmp_path / "bad.txt").write_text("graph @f(%x: f32[4]) -> f32[4] { return %z }")
    assert "bad.txt" in wick("check", tmp_path / "bad.txt", status=1)


def test_check_of_artifacts(model, tmp_path):
    wick("compile", model, "--dim", "N=1..8", "-o", tmp_path / "m.wick")
    said = wick("check", tmp_path / "m.wick")
    assert "an artifact" in said and "input  x: f32[N,4]" in said and "output y: f32[N,4]" in said and "size   N: 1 to 8" in said
    found, = json.loads(wick("check", tmp_path / "m.wick", "--json"))
    assert found["good"] and found["kind"] == "artifact" and found["inputs"] == [{"name": "x", "type": "f32[N,4]"}]
    assert found["sizes"] == [{"name": "N", "least": 1, "most": 8}] and found["constants_bytes"] > 0
    assert "it is compiled: --print is for models" in wick("check", tmp_path / "m.wick", "--print", status=1)
    (tmp_path / "cut.wick").write_bytes((tmp_path / "m.wick").read_bytes()[:500])
    r = subprocess.run([WICK, "check", tmp_path / "cut.wick", model], capture_output=True, text=True)
    assert r.returncode == 1 and "cut.wick" in r.stderr and "m.onnx" in r.stdout  # the others are checked all the same


def test_output_whose_size_depends_on_data(tmp_path):
    graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", T.FLOAT, [5])],
                              [helper.make_tensor_value_info("y", T.INT64, [1, None])])
    path = tmp_path / "nz.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    wick("compile", path, "-o", tmp_path / "nz.wick")
    outputs = [[line for line in wick("check", p).splitlines() if line.startswith("  output")] for p in (path, tmp_path / "nz.wick")]
    assert outputs[0] == outputs[1] and "depends on data" in outputs[0][0]
    (a,), (b,) = (json.loads(wick("check", p, "--json")) for p in (path, tmp_path / "nz.wick"))
    assert a["outputs"] == b["outputs"] and a["outputs"][0]["depends_on_data"] == [1]


def test_plan(model, text, tmp_path):
    assert "arena" in wick("plan", model, "--dim", "N=3") and "arena" in wick("plan", model, "-i", tmp_path / "x.npy")
    wick("compile", model, "--dim", "N=1..8", "-o", tmp_path / "m.wick")
    said = wick("plan", tmp_path / "m.wick")
    assert "planned when it was compiled" in said and "constants" in said
    found = json.loads(wick("plan", tmp_path / "m.wick", "--json"))
    assert found["constants_bytes"] > 0 and found["bound_bytes"] is None
    (tmp_path / "fixed.txt").write_text(wick("opt", model, "--dim", "N=3"))
    assert "arena" in wick("plan", tmp_path / "fixed.txt")
