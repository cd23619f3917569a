#!/usr/bin/env python3
"""Lists unused code: columns of an operator's entry, functions that are declared and not defined or not called,
enumerators with a value of their own that appear once. Lists attributes that are read by position, too.

A column counts as read if `->NAME` or `.NAME` appears outside of a designated initializer. A function of a header counts as
used if its name appears outside of its declaration and its definition. wick.h and bundle.h are the public interface: their
functions must be defined, and need no caller. `attr[3]` needs the operator's entry to be understood: it is
`attr[WICK_ATTR_conv_group]`.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["src", "tools", "include", "python"]
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)

def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            yield path, COMMENT.sub(" ", path.read_text(encoding="utf-8"))


def columns(texts):
    op = next(text for path, text in texts if path.match("src/ir/op.h"))
    body = re.search(r"typedef struct wick_op \{(.*?)\} wick_op;", op, re.S).group(1)
    names = re.findall(r"\(\*(\w+)\)\(|(\w+)(?:\[[^\]]*\])*\s*[;,]", body)
    names = {a or b for a, b in names} - {"c", "b", "n", "in", "out", "s", "nin", "extent", "k", "first"}
    every = "\n".join(text for _, text in texts)
    for name in sorted(names):
        if not re.search(r"(?:->|\w\.|\)\.|\]\.)" + name + r"\b(?!\s*=[^=])", every):
            yield f"src/ir/op.h: nobody reads the column `{name}`"


def functions(texts):
    words = {}
    for path, text in texts:
        for word in re.findall(r"\bwick_\w+", text):
            words.setdefault(word, []).append(path)
    defined = set()
    for path, text in texts:
        if path.suffix == ".c" or "static inline" in text:
            defined.update(re.findall(r"^(?:[\w*]+[ \n*]+)+(wick_\w+)\([^;{}]*\)\s*\{", text, re.M))
    for path, text in texts:
        if path.suffix != ".h":
            continue
        public = "include" in path.parts
        for name in re.findall(r"^(?:[\w*]+[ \n*]+)+(wick_\w+)\([^;{}]*\)[^;{}]*;", text, re.M):
            where = f"{path.relative_to(ROOT)}: {name}"
            if name not in defined and not re.search(r"_testing\.h$|random_", path.name):
                if any(re.search(r"typedef [^;]*\b" + name + r"\(", t) for _, t in texts):
                    continue
                yield f"{where} is declared and not defined"
            elif not public and len(words[name]) < 3:
                yield f"{where} is defined and not called"


def enumerators(texts):
    every = "\n".join(text for _, text in texts)
    for path, text in texts:
        if "include" in path.parts:
            continue
        for body in re.findall(r"\benum(?: \w+)? \{(.*?)\}", text, re.S):
            for name in re.findall(r"\b(WICK_[A-Z0-9_]+)\s*=[^,]*", body):  # without a value it is an index of a list
                if len(re.findall(r"\b" + name + r"\b", every)) < 2:
                    yield f"{path.relative_to(ROOT)}: nobody uses {name}"


def positions():
    for folder in [*FOLDERS, "tests"]:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                for found in re.findall(r"\battr\[\d+\]", line):
                    yield f"{path.relative_to(ROOT)}:{number}: {found} has a name: WICK_ATTR_operator_attribute"


def main():
    texts = list(sources())
    found = [*columns(texts), *functions(texts), *enumerators(texts), *positions()]
    print("\n".join(found) or f"{len(texts)} files: all that is declared is used, and attributes have names")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
