"""The command `wick` that `pip install .` gives: what the wheel holds, and the entry point, in an environment of its own."""
import os
import pathlib
import subprocess
import tomllib
import venv

import pytest

np = pytest.importorskip("numpy")

from built import BUILD  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SCRIPT = """#!{python}
import sys
from {module} import {function}
sys.exit({function}())
"""  # as pip writes it


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A fresh environment with the files of the wheel and its entry point; its `wick`."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=False, symlinks=True)
    packages, = folder.glob("lib/python*/site-packages")
    component, = PROJECT["tool"]["scikit-build"]["install"]["components"]
    subprocess.run(["cmake", "--install", BUILD, "--component", component, "--prefix", packages], check=True, capture_output=True)
    (packages / "numpy.pth").write_text(str(pathlib.Path(np.__file__).parents[1]))
    module, function = PROJECT["project"]["scripts"]["wick"].split(":")
    script = folder / "bin" / "wick"
    script.write_text(SCRIPT.format(python=folder / "bin" / "python", module=module, function=function))
    script.chmod(0o755)
    return script


def wick(command, *args, **more):
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "WICK_CODEGEN", "WICK_COMMAND")}
    return subprocess.run([*command, *map(str, args)], capture_output=True, text=True, cwd="/", env={**environment, **more})


def test_targets_are_built():
    """What the wheel installs, the build makes."""
    assert {"wick_python", "wick", "wick-codegen"} <= set(PROJECT["tool"]["scikit-build"]["build"]["targets"])


def test_the_command_runs(installed, tmp_path):
    packages, = installed.parents[1].glob("lib/python*/site-packages")
    assert {"wick", "wick-codegen", "command.py", "__init__.py"} <= {p.name for p in (packages / "wick").iterdir()}
    said = wick([installed], "--version")
    assert said.returncode == 0 and said.stdout == wick([BUILD / "wick"], "--version").stdout
    digits = ROOT / "examples" / "digits"
    said = wick([installed], "run", digits / "digits.onnx", "-i", digits / "seven.png", "--no-cache")  # by the code generator beside it
    assert said.returncode == 0 and said.stdout == wick([BUILD / "wick"], "run", digits / "digits.onnx", "-i", digits / "seven.png", "--no-cache").stdout


def test_status_and_arguments(installed, tmp_path):
    said = wick([installed], "run", tmp_path / "a b", "--threads", "1")
    assert said.returncode == 1 and "a b" in said.stderr
    assert wick([installed], "chekc").returncode == 2
    assert wick([installed.parent / "python", "-m", "wick"], "--version").stdout.startswith("wick ")


def test_the_program_is_missing(installed, tmp_path):
    packages, = installed.parents[1].glob("lib/python*/site-packages")
    program = packages / "wick" / "wick"
    program.rename(tmp_path / "wick")
    said = wick([installed], "--version")
    (tmp_path / "wick").rename(program)
    assert said.returncode == 1 and "is missing: install the package again" in said.stderr
