"""Some models that went wrong; `make mutated` tries tens of thousands."""

import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("onnx")
from built import BUILD  # noqa: E402


@pytest.mark.parametrize("script, models", [("mutated", 150), ("mutated_files", 80), ("truncated_files", 40)])
def test_models_that_went_wrong(tmp_path, script, models):
    command = [sys.executable, pathlib.Path(__file__).with_name(f"{script}.py"), "--models", str(models), "--jobs", "1"]
    r = subprocess.run([*command, "--build", BUILD, "--keep", tmp_path], capture_output=True, text=True)
    assert r.returncode == 0, r.stdout + r.stderr
    assert r.stdout.startswith(f"{models} "), r.stdout
    assert " ran, " in r.stdout and " refused " in r.stdout, r.stdout
