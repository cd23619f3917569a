#!/usr/bin/env python3
"""The smallest model of each kind of file that `mutated_files.py` knows, cut after each of its bytes, or after every n-th one.
Each is imported, compiled and run by the Python package.

    build/venv/bin/python tests/fuzz/truncated_files.py [--models NUMBER] [--jobs 2] [--build build] [--keep DIR]

`watched.py` says what a failure is. Fewer models than there are cuts are spread over them."""

import functools
import pathlib
import shutil
import sys
import tempfile

import mutated_files
import watched


@functools.cache
def cuts():
    """(model, file, bytes that are left) for each cut."""
    every = []
    for kind in mutated_files.seeds():
        name, content = min(kind, key=lambda m: sum(map(len, m[1].values())))
        every += [(name, content, path, n) for path, b in sorted(content.items()) for n in range(len(b))]
    return every


def write(seed, folder):
    name, content, cut, n = cuts()[seed * 7919 % len(cuts())]  # a prime: any number of them is spread over all
    for path, b in content.items():
        at = folder / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_bytes(b[:n] if path == cut else b)
    return folder / name


def model(seed, wick):
    with tempfile.TemporaryDirectory() as folder:
        return watched.run(wick, str(write(seed, pathlib.Path(folder))))


def keep(seed, folder):
    folder = folder / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    return write(seed, folder)


if __name__ == "__main__":
    sys.exit(watched.main(__doc__, __file__, len(cuts()), "cuts", model, keep))
