#!/usr/bin/env python3
"""Says which file includes from a folder below its own.

A file may include only from its own folder and from folders above it in ORDER; src/runtime sees only
include/wick and src/base, so that libwick_rt links alone; LLVM's headers are for src/codegen/llvm alone.
"""
import pathlib
import re
import sys

ORDER = [
    "include/wick", "src/base", "src/runtime", "src/ir", "src/target", "src/loop", "src/low", "src/ops", "src/graph",
    "src/lang", "src/import", "src/export", "src/codegen", "src/lower", "src/driver", "src/tune", "tools/wick", "python",
]
RUNTIME_SEES = ["include/wick", "src/base", "src/runtime"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer(path):
    """The folder of ORDER that contains the path, or None."""
    return next((folder for folder in ORDER if path.startswith(folder + "/")), None)


def resolve(root, file, name):
    """Where the compiler finds `name`, relative to the root; None outside of the project."""
    for folder in (file.parent, root / "src", root / "include"):
        found = folder / name
        if found.is_file():
            return found.resolve().relative_to(root).as_posix()
    return None


def wrong(root, file):
    """(line, message) for each wrong include of the file."""
    path = file.relative_to(root).as_posix()
    mine = layer(path)
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, name = match.groups()
        if name.startswith("llvm-c/") and not path.startswith("src/codegen/llvm/"):
            yield number, f"{name} is for src/codegen/llvm alone"
        target = resolve(root, file, name)
        if target is None:
            if bracket == '"':
                yield number, f"there is no {name}"
            continue
        theirs = layer(target)
        if mine == "src/runtime" and theirs not in RUNTIME_SEES:
            yield number, f"src/runtime may not see {target}"
        elif theirs is None:
            yield number, f"{target} lies outside of the order"
        elif ORDER.index(theirs) > ORDER.index(mine):
            yield number, f"{mine} stands above {theirs} and may not see {target}"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    count = 0
    for folder in ORDER:
        for file in sorted((root / folder).rglob("*.[ch]")):
            for line, what in wrong(root, file):
                print(f"{file.relative_to(root)}:{line}: {what}")
                count += 1
    if count:
        sys.exit(f"{count} wrong includes; the order is: {', '.join(ORDER)}")


if __name__ == "__main__":
    main()
