"""docs/onnx.md is the current output of `make docs`; without the onnx package, only its facts about the importer's
table are checked."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build/wick"))
PAGE = ROOT / "docs/onnx.md"


def test_the_page_is_not_stale():
    try:
        import onnx
    except ImportError:
        importer_alone()
        return
    said = re.search(r"onnx (\d\S*)", PAGE.read_text())[1]
    if said != onnx.__version__:
        importer_alone()
        return
    made = subprocess.run([sys.executable, "-W", "ignore", str(ROOT / "scripts/onnx_table.py")], capture_output=True, text=True,
                          env={**os.environ, "WICK_COMMAND": WICK}, check=True).stdout
    have, want = PAGE.read_text().splitlines(), made.splitlines()
    assert have == want, "docs/onnx.md is stale: make docs"


def importer_alone():
    """Every operator that `wick ops --onnx` has is read there, and no other."""
    domain, op, read = "", "", set()
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            domain = "" if line == "## ai.onnx" else line[3:] + "."
        if m := re.match(r"\| (\w*) ?\| \d+-\d+ \| (\S+) \|", line):
            op = m[1] or op
            if m[2] not in ("no", "deprecated"):
                read.add(domain + op)
    rows = subprocess.run([WICK, "ops", "--onnx"], capture_output=True, text=True, check=True).stdout
    assert read == {line.split()[0] for line in rows.splitlines()}, "docs/onnx.md is stale: make docs"
