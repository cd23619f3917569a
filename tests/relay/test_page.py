"""The examples of docs/from_relay.md run, and its file names work."""

import os
import pathlib
import re
import subprocess
import sys

import built
import pytest
import wick
from relay_text import module

ROOT = pathlib.Path(__file__).parents[2]
WICK = pathlib.Path(os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))).resolve()
PAGE = (ROOT / "docs" / "from_relay.md").read_text()
BLOCKS = re.findall(r"^<!-- tests/relay runs this block -->\n```(sh|python)\n(.*?)^```$", PAGE, re.M | re.S)


def test_examples(tmp_path):
    assert len(BLOCKS) == 3
    env = {**os.environ, "PATH": f"{WICK.parent}:{os.environ['PATH']}", "PYTHONPATH": str(built.PACKAGE)}
    out = []
    for language, text in BLOCKS:
        command = ["sh", "-euc", text] if language == "sh" else [sys.executable, "-c", text]
        r = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
        out.append(r.stdout)
    assert "fn main(f32[1, 3, 8, 8], f32[4, 3, 3, 3], f32[4]) -> f32[1, 4]" in out[0]
    assert out[1].split() == ["512.0", ":", "f32", "1024.0", ":", "f32"]


@pytest.mark.parametrize("name, text", [("a.relay", "def @main() { 1 }"), ("a.rly", "def @main() { 1 }"), ("a.txt", module("def @main() { 1 }")),
                                        ("b.txt", "// a comment\n/* another */ " + module("def @main() { 1 }"))])
def test_files(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    assert wick.load(tmp_path / name).main() == 1


def test_transformations(tmp_path):
    (tmp_path / "p.relay").write_text(module("def @f(%x: float32, %n: int32) -> float32 { if (%n == 0) { 1f } else { %x * @f(%x, %n - 1) } }\n"
                                             "def @norm(%x: Tensor[(2, 2), float32]) -> float32 { sum(nn.softmax(%x * %x)) + sum(%x * %x) }"))
    for expression, expected in [("grad(fn(x) { f(x, 3i32) })(2.0)", "12.0 : f32"), ("grad(norm)([[1.0, 2.0], [3.0, 4.0]])", "[[2.0, 4.0], [6.0, 8.0]] : f32[2, 2]"),
                                 ("vmap(fn(x) { f(x, 2i32) })([1.0, 2.0])", "[1.0, 4.0] : f32[2]")]:
        r = subprocess.run([WICK, "eval", "--file", tmp_path / "p.relay", expression], capture_output=True, text=True)
        assert r.stdout.strip() == expected, r.stderr
