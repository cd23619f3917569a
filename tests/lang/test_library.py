"""The library's modules: the examples in their comments, their form, and their page."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.path.insert(0, str(ROOT / "tests"))
import built  # noqa: E402, F401: finds the package
import library  # noqa: E402
import wick  # noqa: E402

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


TEXTS = ["", "a", "banana", " na\u00efve \u00e9t\u00e9\n", "\u65e5\u672c\u8a9e na na", "\U0001f600x\U0001f600", "aaaa"]


def test_text_natively(tmp_path):
    """Functions of `strings` in native code beside Python's."""
    (tmp_path / "p.wick").write_text(
        "use strings\n"
        "fn of(s: string, t: string, i: i64, j: i64) {\n"
        "  (strings.length(s), strings.slice(s, i, j), strings.replace(s, t, \"<>\"), strings.strip(s), strings.compare(s, t),\n"
        "    strings.contains(s, t), strings.starts_with(s, t), strings.concat(s, t), string_find(s, t, i))\n}\n"
        "fn each(s: string[n]) { (strings.length(s), strings.slice(s, 1, -1), strings.upper(s)) }\n"
    )
    module = wick.load(tmp_path / "p.wick")
    for s in TEXTS:
        for t, i, j in (("na", 0, 3), ("a", -3, -1), ("\u65e5", 1, 100), (s, 2, 1), ("x", -100, 2)):
            found = list(module.of(s, t, i, j))
            want = [len(s), s[i:j], s.replace(t, "<>") if t else s, s.strip(), (s > t) - (s < t), t in s, s.startswith(t), s + t, s.find(t, i)]
            assert found == want, (s, t, i, j)
    found = module.each(np.array(TEXTS, object))
    assert [x.tolist() for x in found] == [[len(s) for s in TEXTS], [s[1:-1] for s in TEXTS], [s.upper() for s in TEXTS]]
