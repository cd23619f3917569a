"""Outputs whose size depends on data: the command shows and writes only the part that the run wrote."""

import json
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto as T  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))

BOXES = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3], [5, 5, 6, 6]]], np.float32)
SCORES = np.array([[[0.9, 0.8, 0.7, 0.1]]], np.float32)
X = np.array([[0, 1, 0, 2], [3, 0, 0, 0], [0, 0, 5, 1]], np.float32)
MASK = np.array([True, False, True, False])
ONES = np.array([1, 1, 2, 1, 2, 3, 3, 1], np.int64)

# name: (nodes, inputs, outputs as (name, element, rank), constants)
CASES = {
    "nonzero": ([("NonZero", ["x"], ["y"], {})], {"x": X}, [("y", T.INT64, 2)], {}),
    "compress_middle": ([("Compress", ["x", "c"], ["y"], {"axis": 1})], {"x": X, "c": MASK}, [("y", T.FLOAT, 2)], {}),
    "compress_flat": ([("Compress", ["x", "c"], ["y"], {})], {"x": X, "c": MASK}, [("y", T.FLOAT, 1)], {}),
    "compress_none": ([("Compress", ["x", "c"], ["y"], {"axis": 0})], {"x": X, "c": np.zeros(3, bool)}, [("y", T.FLOAT, 2)], {}),
    "unique": ([("Unique", ["x"], ["y", "i", "r", "n"], {})], {"x": ONES}, [(k, T.INT64, 1) for k in "yirn"], {}),
    "suppression": (
        [("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["y"], {})],
        {"boxes": BOXES, "scores": SCORES},
        [("y", T.INT64, 2)],
        {"most": np.array([3], np.int64), "iou": np.array([0.5], np.float32), "least": np.array([0.3], np.float32)},
    ),
    "after_it": (  # the other outputs keep their positions
        [("Relu", ["x"], ["a"], {}), ("NonZero", ["x"], ["y"], {}), ("Neg", ["x"], ["b"], {})],
        {"x": X},
        [("a", T.FLOAT, 2), ("y", T.INT64, 2), ("b", T.FLOAT, 2)],
        {},
    ),
}


def build(folder, name):
    nodes, inputs, outputs, constants = CASES[name]
    graph = helper.make_graph(
        [helper.make_node(op, i, o, **a) for op, i, o, a in nodes],
        "g",
        [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in inputs.items()],
        [helper.make_tensor_value_info(k, e, [None] * rank) for k, e, rank in outputs],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    files = []
    for k, v in inputs.items():
        files.append(folder / f"{k}.npy")
        np.save(files[-1], v)
    return folder / "m.onnx", files, ort.InferenceSession(folder / "m.onnx").run(None, inputs)


def wick(*args, **more):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300, **more)
    assert r.returncode == 0, (args, r.stdout, r.stderr)
    return r.stdout


def same(folder, want):
    assert len(list(folder.iterdir())) == len(want)
    for k, w in enumerate(want):
        got = np.load(folder / f"output_{k}.npy")
        assert got.dtype == w.dtype and got.shape == w.shape and (got == w).all(), k


@pytest.mark.parametrize("name", CASES)
def test_what_there_is(name, tmp_path, monkeypatch):
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))
    model, files, want = build(tmp_path, name)
    wick("compile", model, "-o", tmp_path / "m.wick")
    for k, args in enumerate([[model], [model, "--reference"], [tmp_path / "m.wick"]]):
        said = wick("run", *args, "-o", tmp_path / f"out{k}", "--inputs", *files)
        same(tmp_path / f"out{k}", want)
        assert ".size." not in said
        for at, w in enumerate(want):
            assert f"output_{at} {CASES[name][2][at][0]}: " in said and f"[{','.join(map(str, w.shape))}]" in said
    wick("check", model, "-o", tmp_path / "check", "--inputs", *files)
    same(tmp_path / "check", want)
    wick("bench", model, "--pipe", "--inputs", *files, input=f"output {tmp_path / 'pipe'}\n")
    same(tmp_path / "pipe", want)


def test_check_says_it(tmp_path):
    model, _, _ = build(tmp_path, "after_it")
    said = wick("check", model)
    assert "output y: i64[2,12], at most: its size along axis 1 depends on data\n" in said and ".size." not in said
    outputs = json.loads(wick("check", model, "--json"))[0]["outputs"]
    assert [o["name"] for o in outputs] == ["a", "y", "b"]
    assert outputs[1]["depends_on_data"] == [1] and "depends_on_data" not in outputs[0]


def test_errors_are_of_what_there_is(tmp_path, monkeypatch):
    """The numbers of `wick compile --inputs` are finite, whatever was in memory before."""
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))
    model, files, _ = build(tmp_path, "compress_middle")
    said = wick("compile", model, "-o", tmp_path / "m.wick", "--inputs", *files).splitlines()
    (line,) = [s for s in said if s.split()[-1] == "y"]
    assert line.split()[:2] == ["0.0e+00", "0.0e+00"]
