"""The library's modules: the examples in their comments, their form, and their page."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import library  # noqa: E402

PATHS = [path for path, _, _ in library.modules()]


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_examples(path):
    shown = [(name, text, value) for of, name, text, value in library.examples() if of == path]
    assert shown
    for name, text, value in shown:
        r = subprocess.run([library.WICK, "eval", "--file", str(path), "--", text], capture_output=True, text=True, timeout=60)
        assert r.stdout == value + "\n", f"{name}: {text}: {r.stdout}{r.stderr}"


def test_each_function_has_an_example():
    for path, _, items in library.modules():
        for kind, name, _, prose, shown in items:
            assert kind != "fn" or name.startswith("_") or (prose and shown), f"{path.stem}.{name}"


def test_form(tmp_path):
    for path in PATHS:
        copy = tmp_path / path.name
        copy.write_text(path.read_text())
        subprocess.run([library.WICK, "fmt", str(copy)], check=True, timeout=60)
        assert copy.read_text() == path.read_text(), path


def test_page():
    assert library.page() == (ROOT / "docs" / "library.md").read_text(), "make docs writes docs/library.md"
