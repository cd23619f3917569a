"""Streaming models: each frame of a session equals what LiteRT computes (make_streaming.py), and again after a reset."""
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")
wick = pytest.importorskip("wick")

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
