"""Every example of docs/python.md runs, as it stands there."""

import os
import pathlib
import re
import sys

import pytest

pytest.importorskip("numpy")
ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = pathlib.Path(os.environ.get("WICK_BUILD", ROOT / "build")) / "python"
if not list(PACKAGE.glob("wick/_core*.so")):
    pytest.skip("the Python package is not built: Python's headers were not found", allow_module_level=True)
sys.path.insert(0, str(PACKAGE))
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.S)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(number, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))
    exec(compile(EXAMPLES[number], "docs/python.md", "exec"), {})


def test_there_are_examples():
    assert len(EXAMPLES) >= 2
