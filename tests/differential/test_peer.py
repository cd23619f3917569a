"""Compares some random graphs with ONNX Runtime; `make peer` tries two thousand."""

import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from built import BUILD  # noqa: E402


def test_random_graphs():
    command = [sys.executable, pathlib.Path(__file__).with_name("peer.py"), "--graphs", "40", "--alone", "700", "--jobs", "1"]
    r = subprocess.run([*command, "--build", BUILD], capture_output=True, text=True)
    assert r.returncode == 0, r.stdout + r.stderr
    assert int(re.search(r"(\d+) compared,", r.stdout)[1]) > 15, r.stdout
