"""`wick run --reference` and `wick check --outputs` say how long they take, and ask before they take very long."""
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
F, I = TensorProto.FLOAT, TensorProto.INT64


def save(folder, nodes, **constants):
    initializers = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    x, y = (helper.make_tensor_value_info(n, F, None if n == "y" else [1, 1]) for n in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "m.onnx")
    np.save(folder / "x.npy", np.full((1, 1), 0.5, np.float32))


def run(folder, *args, status=0):
    args = [WICK, *args, "m.onnx", "--inputs", "x.npy", "--outputs", "out"]
    r = subprocess.run(args, capture_output=True, text=True, timeout=30, cwd=folder)
    assert r.returncode == status, r.stderr
    return r.stderr


def product(folder, n):
    nodes = [helper.make_node("Expand", ["x", "shape"], ["a"]), helper.make_node("MatMul", ["a", "a"], ["b"]),
             helper.make_node("ReduceMean", ["b"], ["y"])]  # fmt: skip
    save(folder, nodes, shape=np.array([n, n]))


@pytest.mark.parametrize("command", [["run", "--reference"], ["check"]])
def test_too_long(command, tmp_path):
    product(tmp_path, 60000)
    message = run(tmp_path, *command, status=1)
    assert message == "m.onnx: the operators' definitions take about 24 hours; --no-limit evaluates them nevertheless\n"
    product(tmp_path, 10)
    assert run(tmp_path, *command, "--no-limit") == run(tmp_path, *command) == ""
    np.testing.assert_allclose(np.load(tmp_path / "out" / "output_0.npy").ravel(), [2.5])


def test_a_loop_counts_as_often_as_it_runs(tmp_path):
    body = helper.make_graph([helper.make_node("Tanh", ["v"], ["w"]), helper.make_node("Identity", ["c"], ["d"])], "body",
                             [helper.make_tensor_value_info("i", I, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                              helper.make_tensor_value_info("v", F, [1, 1])],
                             [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_tensor_value_info("w", F, [1, 1])])  # fmt: skip
    save(tmp_path, [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)], n=np.int64(10**15))
    assert "the operators' definitions take about 347 days; --no-limit" in run(tmp_path, "run", "--reference", status=1)


def test_a_note(tmp_path):
    """From ten seconds on it says how long it takes."""
    product(tmp_path, 3000)
    args = [WICK, "run", "--reference", "m.onnx", "--inputs", "x.npy"]
    with subprocess.Popen(args, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as p:
        note = p.stderr.readline()
        p.kill()
    assert note == "wick run: m.onnx: the operators' definitions take about 11 seconds\n"
