"""Every example of docs/python.md runs, as it is there."""

import re

import pytest

pytest.importorskip("numpy")
from built import ROOT  # noqa: E402
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.S)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(number, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))
    exec(compile(EXAMPLES[number], "docs/python.md", "exec"), {})


def test_there_are_examples():
    assert len(EXAMPLES) >= 2
