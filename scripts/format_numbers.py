#!/usr/bin/env python3
"""Writes the numbers of operators in README.md's table of formats, as docs/formats.md has them; with --check, exits
with 1 if they differ. `make docs` runs it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[1]
# A row of the table in README.md, and the section of docs/formats.md.
ROWS = {"TensorFlow": "TensorFlow", "TensorFlow Lite": "TensorFlow Lite", "Keras 2 and 3": "Keras", "MXNet": "MXNet", "Core ML": "Core ML",
        "Core ML: ML programs": "Core ML programs", "Caffe2": "Caffe2", "Caffe": "Caffe"}


def written(readme, formats, onnx):
    numbers = dict(re.findall(r"^## (.+)\n(?:(?!## ).*\n)*?Supported: (\d+)", formats, re.M))
    for row, section in ROWS.items():
        readme = re.sub(rf"^(\| {re.escape(row)} \|[^|]*\| )\d+", rf"\g<1>{numbers[section]}", readme, flags=re.M)
    own = onnx[onnx.index("## com.microsoft"):]
    return re.sub(r"and \d+( \| 204)", rf"and {len(re.findall(r'^[|] [A-Z]', own, re.M))}\1", readme)


texts = [(ROOT / name).read_text() for name in ("README.md", "docs/formats.md", "docs/onnx.md")]
if "--check" in sys.argv:
    sys.exit(0 if written(*texts) == texts[0] else "README.md: the numbers of operators are stale: make docs")
(ROOT / "README.md").write_text(written(*texts))
