#!/usr/bin/env python3
"""Checks the excerpts of output in Markdown files, or writes them again.

An excerpt is a fenced block after a comment that names the command and the lines:

    <!-- excerpt: wick compile examples/digits/digits.onnx --emit low | /^low/ +2; /kernel @main.conv/ -->
    ```text
    ...
    ```

Each part after `|` is a regular expression for the first line that matches after the part before, and how many
lines follow it. Lines that are left out are shown as `...`; locations (`loc("...")`) are left out.

usage: scripts/excerpts.py [--write] FILE...    WICK_COMMAND: the command `wick`; else build/wick
"""
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
BLOCK = re.compile(r"^<!-- excerpt: (.*?) \| (.*?) -->\n```(\w+)\n(.*?)^```$", re.M | re.S)
PART = re.compile(r"/(.*?)/(?:\s*\+(\d+))?\s*(?:;|$)")
LOCATION = re.compile(r' loc\((".*?(?<!\\)"(, )?)+\)')


@functools.cache
def output(command):
    words = shlex.split(command)
    assert words[0] == "wick", command
    r = subprocess.run([WICK, *words[1:]], cwd=ROOT, capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"{command}: {r.stderr}")
    return [LOCATION.sub("", line) for line in r.stdout.splitlines()]


def excerpt(command, parts):
    lines, shown, at = output(command), [], 0
    for pattern, more in PART.findall(parts):
        first = next((i for i in range(at, len(lines)) if re.search(pattern, lines[i])), None)
        if first is None:
            sys.exit(f"{command}: no line matches /{pattern}/ after line {at}")
        if first > at:
            shown.append("...")
        at = first + 1 + int(more or 0)
        shown += lines[first:at]
    if at < len(lines):
        shown.append("...")
    return "".join(line + "\n" for line in shown)


def main(args):
    write, stale = "--write" in args, []
    for path in [pathlib.Path(a) for a in args if a != "--write"]:
        text = path.read_text()
        now = BLOCK.sub(lambda m: f"<!-- excerpt: {m[1]} | {m[2]} -->\n```{m[3]}\n{excerpt(m[1], m[2])}```", text)
        if now != text and write:
            path.write_text(now)
        elif now != text:
            stale.append(str(path))
    if stale:
        sys.exit(f"{', '.join(stale)}: excerpts are stale: make docs")


if __name__ == "__main__":
    main(sys.argv[1:])
