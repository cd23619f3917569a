#!/usr/bin/env python3
"""Writes docs/library.md from the comments of library/*.wick; other programs read the examples with examples()."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
INTRODUCTION = """# The library

Modules of the language that come with it (`make docs` writes this page from `library/`). `use list` makes `list.map` known, `use list { map, List }` also
`map`; a file `list.wick` beside the program comes before the library's. Each example is an expression, its value and its type, and a test evaluates it.
"""


def modules():
    """The name, the introduction and the items of each module; an item is its kind, its name, its declaration, its comment and its examples."""
    for path in sorted((ROOT / "library").glob("*.wick")):
        text = path.read_text()
        introduction = [line[3:] for line in re.match(r"(//.*\n)*", text)[0].splitlines()]
        items = []
        for m in re.finditer(r"((?:^//.*\n)*)^((fn|type|struct) (\w+)[^{]*)(.*)$", text, re.M):
            comment = [line[3:] for line in m[1].splitlines()]
            examples = [line.strip() for line in comment if line.startswith("  ")]
            prose = [line for line in comment if not line.startswith("  ")]
            declaration = " ".join((m[2] if m[3] == "fn" else m[2] + m[5]).split()).rstrip(" {")
            items.append((m[3], m[4], declaration, prose, examples))
        yield path, introduction, items


def examples():
    for path, _, items in modules():
        for _, name, _, _, lines in items:
            for line in lines:
                text, _, value = line.rpartition(" -> ")
                yield path, name, text, value


def page():
    lines = [INTRODUCTION]
    for path, introduction, items in modules():
        lines += [f"## {path.stem}", "", *introduction, ""]
        for _, name, declaration, prose, shown in items:
            if name.startswith("_"):
                continue  # for the module's own use
            lines += [f"### {path.stem}.{name}", "", f"    {declaration}", ""]
            lines += [" ".join(prose), ""] if prose else []
            lines += ["```", *shown, "```", ""] if shown else []
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        pathlib.Path(sys.argv[2]).write_text(page())
    else:
        print(page(), end="")
