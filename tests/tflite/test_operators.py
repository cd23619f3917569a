"""Models of single operators equal what LiteRT computed (make_operators.py), compiled and by the reference."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = sorted((pathlib.Path(__file__).parent / "operators").glob("*.tflite"))
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build/wick"))


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
@pytest.mark.parametrize("how", ["compiled", "reference"])
def test_operator(path, how, tmp_path):
    kept = np.load(path.with_suffix(".npz"))
    inputs, outputs = ([kept[k] for k in sorted(kept) if k.startswith(word)] for word in ("input", "output"))
    for k, x in enumerate(inputs):
        np.save(tmp_path / f"x{k}.npy", x)
    files = ["--inputs", *(tmp_path / f"x{k}.npy" for k in range(len(inputs)))] if inputs else []
    more = ["--reference"] if how == "reference" else []
    r = subprocess.run([WICK, "run", path, *more, *files, "--outputs", tmp_path / "out"], capture_output=True, text=True, errors="replace", timeout=120)
    assert r.returncode == 0, r.stderr
    for k, want in enumerate(outputs):
        got = np.load(tmp_path / "out" / f"output_{k}.npy")
        assert got.shape == want.shape and got.dtype == want.dtype
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * max(1e-3, np.abs(want).max(initial=0)))
        else:
            np.testing.assert_array_equal(got, want)


def test_dynamic_range_layers_multiply_bytes():
    """Transpositions are left before the first convolution and after the last."""
    path = MODELS[0].parent / "dynamic_range.tflite"
    r = subprocess.run([WICK, "compile", path, "--target", "x86-64-v3", "--emit", "graph"], capture_output=True, text=True, timeout=120)
    lines = [line.split(" loc(")[0] for line in r.stdout.splitlines()]
    assert sum("= conv_packed" in line and ": i32[" in line for line in lines) == 2, r.stdout + r.stderr
    assert sum("= transpose" in line for line in lines) <= 2, r.stdout
