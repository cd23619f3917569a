"""Stateful recurrent layers: the frames of a session equal what Keras computes for them, one after the other."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = pathlib.Path(__file__).parent / "stateful"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build/wick"))


def run(*words):
    r = subprocess.run([WICK, "run", *map(str, words), "--no-cache"], capture_output=True, text=True, timeout=120)
    assert r.returncode == 0, r.stderr


@pytest.mark.parametrize("path", sorted([*FILES.glob("*.keras"), *FILES.glob("*.h5")]), ids=lambda p: p.name)
def test_frames(path, tmp_path):
    kept = np.load(path.with_suffix(".npz"))
    np.save(tmp_path / "x.npy", kept["x"])
    for k, more in enumerate(([], ["--reference"])):
        run(path, "--frames", *more, "--inputs", tmp_path / "x.npy", "--outputs", tmp_path / str(k))
        found = np.load(tmp_path / str(k) / "output_0.npy")
        assert found.shape == kept["y"].shape and np.allclose(found, kept["y"], rtol=1e-5, atol=1e-6)


def test_each_session_begins_with_zeros(tmp_path):
    kept = np.load(FILES / "lstm.npz")
    np.save(tmp_path / "x.npy", kept["x"][0])
    for _ in range(2):
        run(FILES / "lstm.keras", "--inputs", tmp_path / "x.npy", "--outputs", tmp_path / "out")
        assert np.allclose(np.load(tmp_path / "out" / "output_0.npy"), kept["y"][0], rtol=1e-5, atol=1e-6)


def test_states_need_a_known_batch(tmp_path):
    """Keras refuses it, too, but a file can say it."""
    import json
    import zipfile

    path = tmp_path / "open.keras"
    with zipfile.ZipFile(FILES / "lstm.keras") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "config.json":
                data = json.dumps(json.loads(data)).replace('"batch_shape": [2,', '"batch_shape": [null,').encode()
            new.writestr(name, data)
    r = subprocess.run([WICK, "check", path], capture_output=True, text=True)
    assert r.returncode == 1 and "its shape is not constant" in r.stderr + r.stdout
