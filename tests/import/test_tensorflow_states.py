"""SavedModels whose runs assign variables equal TensorFlow call by call (make_tensorflow_states.py)."""
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
FILES = pathlib.Path(__file__).parent / "tensorflow_states"


@pytest.mark.parametrize("name", sorted(p.name for p in FILES.iterdir()))
def test_calls(name, tmp_path):
    kept = np.load(FILES / name / "calls.npz")
    inputs = sorted(n for n in kept if n.startswith("input"))
    for n in inputs:
        np.save(tmp_path / f"{n}.npy", kept[n])
    p = subprocess.run([WICK, "run", FILES / name, "--frames", "--inputs", *(tmp_path / f"{n}.npy" for n in inputs), "--outputs", tmp_path / "out"],
                       capture_output=True, text=True, timeout=120)
    assert p.returncode == 0, p.stdout + p.stderr
    for n in (n for n in kept if n.startswith("output")):
        got, want = np.load(tmp_path / "out" / f"{n}.npy"), kept[n]
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
