"""Streaming models: each frame of a session equals what LiteRT computes (make_streaming.py, make_recurrent.py), and again after a reset."""
import json
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402
from states import converted_states  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = pathlib.Path(__file__).parent / "files"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build/wick"))
MODELS = sorted(FILES.glob("*.tflite"))


def frames(name):
    kept = np.load(FILES / f"{name}.npz")
    return ([kept[n] for n in sorted(kept) if n.startswith("input")],
            [kept[n] for n in sorted(kept) if n.startswith("output")])


def same(got, want):
    assert got.shape == want.shape and got.dtype == want.dtype
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(got, want)


def command(*arguments):
    p = subprocess.run([WICK, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=120)
    assert p.returncode == 0, p.stdout + p.stderr
    return p.stdout


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_session(path):
    inputs, outputs = frames(path.stem)
    session = wick.InferenceSession(str(path))
    names = [i.name for i in session.get_inputs()]
    assert session.get_states()
    for _ in range(2):
        for f in range(len(inputs[0])):
            got = session.run(None, dict(zip(names, (i[f] for i in inputs))))
            for g, want in zip(got, outputs):
                same(g, want[f])
        session.reset()


def stream(folder, model, inputs, outputs, *more):
    """Runs all frames in one session of the command, and compares."""
    for k, i in enumerate(inputs):
        np.save(folder / f"input_{k}.npy", i)
    files = [folder / f"input_{k}.npy" for k in range(len(inputs))]
    command("run", model, "--frames", *more, "--inputs", *files, "--outputs", folder / "out")
    for k, want in enumerate(outputs):
        same(np.load(folder / "out" / f"output_{k}.npy"), want)


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
@pytest.mark.parametrize("how", ["compiled", "reference", "artifact"])
def test_command(path, how, tmp_path):
    inputs, outputs = frames(path.stem)
    if how == "artifact":
        command("compile", path, "-o", tmp_path / "m.wick")
        path = tmp_path / "m.wick"
    stream(tmp_path, path, inputs, outputs, *(["--reference"] if how == "reference" else []))


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_converted(path, tmp_path):
    """States become inputs and outputs of the ONNX model, which its metadata name."""
    inputs, outputs = frames(path.stem)
    command("convert", path, "-o", tmp_path / "m.onnx")
    session = wick.InferenceSession(str(tmp_path / "m.onnx"))
    now, following = converted_states(session)
    assert now and not session.get_states()
    plain = [i.name for i in session.get_inputs() if i.name not in now]
    names = [o.name for o in session.get_outputs()]
    for f in range(len(inputs[0])):
        got = dict(zip(names, session.run(None, {**now, **dict(zip(plain, (i[f] for i in inputs)))})))
        now = {own: got[output] for own, output in following.items()}
        for o, want in zip(names, outputs):
            same(got[o], want[f])


def test_check(tmp_path):
    text = command("check", FILES / "counter.tflite")
    assert "  state  count: i32[2]" in text and text.count("output") == 3 and text.count("  input") == 1
    about = json.loads(command("check", "--json", FILES / "counter.tflite"))[0]
    assert sorted(s["name"] for s in about["states"]) == ["count", "sum"]


def test_states_by_name():
    inputs, outputs = frames("counter")
    session = wick.InferenceSession(str(FILES / "counter.tflite"))
    name = session.get_inputs()[0].name
    np.testing.assert_array_equal(session.states["count"], [5, -3])
    for f in range(4):
        session.run(None, {name: inputs[0][f]})
    kept = session.states
    later = [session.run(None, {name: inputs[0][f]}) for f in range(4, 7)]
    session.set_states(kept)
    for f in range(4, 7):
        for g, want, first in zip(session.run(None, {name: inputs[0][f]}), outputs, later[f - 4]):
            np.testing.assert_array_equal(g, first)
            same(g, want[f])
    with pytest.raises(wick.errors.InvalidArgument, match='no state'):
        session.set_states({"other": np.zeros(1, np.float32)})


def test_frames_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.float32(1))
    p = subprocess.run([WICK, "run", FILES / "ring.tflite", "--frames", "--inputs", tmp_path / "x.npy"], capture_output=True, text=True)
    assert p.returncode == 1 and "--frames: a tensor of numbers is expected, whose first dimension are the runs" in p.stderr
