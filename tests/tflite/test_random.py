"""Random operators of TensorFlow Lite beside LiteRT: a few of each; `make tflite` compares a thousand."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
WICK = os.environ.get("WICK_COMMAND", str(HERE.parents[1] / "build" / "wick"))
LITERT = os.environ.get("WICK_LITERT", sys.executable)


def test_operators():
    """WICK_LITERT names the Python that has ai-edge-litert, if it is not this one."""
    if subprocess.run([LITERT, "-c", "import ai_edge_litert, flatbuffers, ml_dtypes"], capture_output=True).returncode:
        pytest.skip("ai-edge-litert is not installed")
    command = [LITERT, HERE / "random_models.py", "--wick", WICK, "--count", "50", "--seed", "7"]
    r = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    assert r.returncode == 0, r.stdout[-3000:] + r.stderr[-1000:]
