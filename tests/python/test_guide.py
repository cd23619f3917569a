"""Every example of docs/python.md and docs/from_jax.md runs, as it is there."""

import re

import pytest

pytest.importorskip("numpy")
from built import ROOT  # noqa: E402
EXAMPLES = [(page, number, text) for page in ("python", "from_jax")
            for number, text in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.S))]


@pytest.mark.parametrize("page, number, text", EXAMPLES, ids=[f"{page}-{number}" for page, number, _ in EXAMPLES])
def test_example(page, number, text, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))
    exec(compile(text, f"docs/{page}.md", "exec"), {})


def test_there_are_examples():
    assert {page for page, _, _ in EXAMPLES} == {"python", "from_jax"}
