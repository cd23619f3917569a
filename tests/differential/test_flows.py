"""Some random models with branches, loops and sequences at five sizes; `make flows` tries two thousand."""

import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("onnx")
from built import BUILD  # noqa: E402


def test_random_models():
    command = [sys.executable, "-W", "ignore", pathlib.Path(__file__).with_name("flows.py"), "--models", "40", "--jobs", "1"]
    r = subprocess.run([*command, "--build", BUILD], capture_output=True, text=True)
    assert r.returncode == 0, r.stdout + r.stderr
    assert int(re.search(r"(\d+) agree", r.stdout)[1]) > 20, r.stdout
