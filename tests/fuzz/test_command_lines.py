"""A few hundred random command lines; tests/fuzz/command_lines.py runs as many as are wanted."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
BUILD = os.environ.get("WICK_BUILD", str(HERE.parents[1] / "build"))


def test_command_lines():
    r = subprocess.run([sys.executable, HERE / "command_lines.py", "--build", BUILD, "--count", "400", "--seed", "7"], capture_output=True, text=True)
    assert r.returncode == 0, r.stdout + r.stderr
