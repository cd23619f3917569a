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
    """The name, the introduction and the items of each module; an item is its declaration, its comment and its examples."""
    for path in sorted((ROOT / "library").glob("*.wick")):
        text = path.read_text()
        introduction = [line[3:] for line in re.match(r"(//.*\n)*", text)[0].splitlines()]
        items = []
        for m in re.finditer(r"((?:^//.*\n)*)^(fn|type|struct) (\w+)(.*)$", text, re.M):
            comment = [line[3:] for line in m[1].splitlines()]
            examples = [line.strip() for line in comment if line.startswith("  ")]
            prose = [line for line in comment if not line.startswith("  ")]
            items.append((m[2], m[3], m[4], prose, examples))
        yield path, introduction, items


def examples():
    for path, _, items in modules():
        for _, name, _, _, lines in items:
            for line in lines:
                text, _, value = line.rpartition(" -> ")
                yield path, name, text, value


def signatures(path):
    out = subprocess.run([WICK, "check", str(path)], capture_output=True, text=True, check=True).stdout
    return dict((m[1], m[0].strip()) for m in re.finditer(r"^  fn (\w+)\(.*$", out, re.M))


def page():
    lines = [INTRODUCTION]
    for path, introduction, items in modules():
        lines += [f"## {path.stem}", "", *introduction, ""]
        types = signatures(path)
        for kind, name, rest, prose, shown in items:
            if name.startswith("_"):
                continue  # for the module's own use
            declared = types[name] if kind == "fn" else f"{kind} {name}{rest.rstrip(' {') if rest.endswith('{') else rest}"
            lines += [f"### {path.stem}.{name}", "", f"    {declared}", ""]
            lines += [" ".join(prose), ""] if prose else []
            lines += ["```", *shown, "```", ""] if shown else []
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        pathlib.Path(sys.argv[2]).write_text(page())
    else:
        print(page(), end="")
