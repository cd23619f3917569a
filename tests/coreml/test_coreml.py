"""Models of Core ML, beside the outputs that NumPy computed (make_models.py)."""
import io
import os
import pathlib
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

WICK = os.environ.get("WICK_COMMAND", "build/wick")
HERE = pathlib.Path(__file__).parent
CASES = zipfile.ZipFile(HERE / "cases.zip")
NAMES = sorted({name.split("/")[0] for name in CASES.namelist()})
COMPILED = [n for k, n in enumerate(NAMES) if k % 16 == 0 or n.startswith(("loop", "branch"))]


def arrays(name, kind):
    files = sorted(f for f in CASES.namelist() if f.startswith("%s/%s_" % (name, kind)))
    return [np.load(io.BytesIO(CASES.read(f)), allow_pickle=False) for f in files]


def unpack(name, folder):
    folder.mkdir(parents=True)
    (folder / "model.mlmodel").write_bytes(CASES.read(name + "/model.mlmodel"))
    for k, a in enumerate(arrays(name, "input")):
        np.save(folder / ("input_%d.npy" % k), a)
    return folder / "model.mlmodel"


def run(model, folder, *options):
    inputs = sorted(str(f) for f in folder.glob("input_*.npy"))
    command = [WICK, "run", str(model), "--outputs", str(folder), *options] + (["--inputs"] + inputs if inputs else [])
    return subprocess.run(command, capture_output=True, text=True)


def compare(name, folder):
    """Returns what differs, or None."""
    for k, want in enumerate(arrays(name, "output")):
        file = folder / ("output_%d.npy" % k)
        got = np.load(file, allow_pickle=True)
        if name == "detector":  # the first rows are valid
            got = got[: len(want)]
        if got.shape != want.shape:
            return "output %d has shape %s, expected %s" % (k, got.shape, want.shape)
        if want.dtype.kind not in "fiu":
            same = [str(v) for v in got.ravel()] == [str(v) for v in want.ravel()]
            if not same:
                return "output %d is %s, expected %s" % (k, got, want)
        elif not np.allclose(got, want, rtol=1e-4, atol=2e-5):
            return "output %d differs by %g" % (k, np.abs(got.astype(float) - want).max())
    return None


def one(name, folder, *options):
    model = unpack(name, folder)
    r = run(model, folder, *options)
    return name, r.stderr if r.returncode else compare(name, folder)


def failures(names, tmp_path, *options):
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda n: one(n, tmp_path / n, *options), names))
    return ["%s: %s" % r for r in results if r[1]]


def test_every_layer(tmp_path):
    assert failures(NAMES, tmp_path, "--reference", "--no-limit") == []


def test_compiled(tmp_path):
    assert failures(COMPILED, tmp_path) == []
