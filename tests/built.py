"""Importing this lets `import wick` find the Python package that was built, or skips the file if there is none."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("WICK_BUILD", ROOT / "build")).resolve()
PACKAGE = BUILD / "python"
if not list(PACKAGE.glob("wick/_core*.so")):
    pytest.skip("the Python package is not built: Python's headers were not found", allow_module_level=True)
sys.path.insert(0, str(PACKAGE))
