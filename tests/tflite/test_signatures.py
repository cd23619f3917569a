"""Signatures of a TensorFlow Lite model are its entries."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
WICK = os.environ.get("WICK_COMMAND", str(HERE.parents[1] / "build" / "wick"))
MODEL = HERE / "models" / "signatures.tflite"
X, Y = (np.arange(6, dtype="f4").reshape(2, 3) * k for k in (1, 10))


def run(tmp_path, arrays, *more):
    files = []
    for k, x in enumerate(arrays):
        files.append(tmp_path / f"in_{k}.npy")
        np.save(files[-1], x)
    command = [WICK, "run", MODEL, "--inputs", *files, "--outputs", tmp_path, *more]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("entry, arrays, want", [((), [X, Y], X + Y), (("--entry", "sum"), [X, Y], X + Y), (("--entry", "square"), [X], X * X)])
def test_entry(tmp_path, entry, arrays, want):
    r = run(tmp_path, arrays, *entry)
    assert r.returncode == 0, r.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "output_0.npy"), want)


def test_unknown_entry(tmp_path):
    r = run(tmp_path, [X], "--entry", "cube")
    assert r.returncode == 1
    assert 'signatures.tflite: the model has no signature "cube", it has sum, square' in r.stderr
