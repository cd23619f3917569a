"""Some models that went wrong; `make mutated` tries ten thousand."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("onnx")
from built import BUILD  # noqa: E402


def test_models_that_went_wrong(tmp_path):
    command = [sys.executable, pathlib.Path(__file__).with_name("mutated.py"), "--models", "150", "--jobs", "1"]
    r = subprocess.run([*command, "--build", BUILD, "--keep", tmp_path], capture_output=True, text=True)
    assert r.returncode == 0, r.stdout + r.stderr
    assert r.stdout.startswith("150 models: "), r.stdout
    assert " ran, " in r.stdout and " refused " in r.stdout, r.stdout
