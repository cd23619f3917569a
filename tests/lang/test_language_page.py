"""The examples of docs/language.md: the program after "Inference" is good, and the values are those that wick eval gives."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
PAGE = (ROOT / "docs" / "language.md").read_text()


def blocks(kind, text=PAGE):
    return re.findall(f"```{kind}\n(.*?)```", text, re.S)


def test_values():
    lines = [line for block in blocks("eval") for line in block.splitlines()]
    assert len(lines) > 25
    for line in lines:
        text, _, value = line.rpartition(" -> ")
        r = subprocess.run([WICK, "eval", "--", text], capture_output=True, text=True, timeout=60)
        assert r.stdout == value + "\n", f"{text}: {r.stdout}{r.stderr}"


def test_types(tmp_path):
    (program,) = blocks("wick", PAGE.partition("## Inference")[2].partition("## Forms")[0])
    path = tmp_path / "a.wick"
    path.write_text(program)
    r = subprocess.run([WICK, "check", str(path)], capture_output=True, text=True, timeout=60)
    assert r.returncode == 0, r.stderr
    for line in program.splitlines():
        if line.startswith("// fn "):
            assert f"  {line[3:]}\n" in r.stdout
