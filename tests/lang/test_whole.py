"""Whole programs, each a module of its own: natively, by the evaluator, as artifacts and bundles, and in Python.

The programs of a group are compiled together, as modules that one file uses.
"""

import shutil

import numpy as np
import pytest
from running import HERE, agree, evaluated_program, flat, outputs, shipped, wick
from whole import GROUPS, TEXTS

FOLDER = HERE / "programs" / "whole"


def group(names, folder):
    for path in FOLDER.glob("*.wick"):
        shutil.copy(path, folder)
    path = folder / "every.wick"
    uses = "".join(f"use {n}\n" for n in names)
    path.write_text(f"{uses}fn every() {{\n  ({', '.join(n + '.main()' for n in names)},)\n}}\n")
    return path


@pytest.mark.parametrize("name", GROUPS)
def test_programs(name, tmp_path):
    rows = GROUPS[name]
    path = group(rows, tmp_path)
    found = outputs(tmp_path / "run", path, "--entry", "every")
    at = 0
    for program, oracle in rows.items():
        want = evaluated_program(tmp_path / f"{program}.wick", "main")
        agree(found[at : at + len(want)], want, program)
        if oracle:
            agree(found[at : at + len(want)], flat(oracle()), program)
        at += len(want)
    assert at == len(found)
    if name not in TEXTS:  # bundles have no strings
        shipped(path, tmp_path, found)


def test_every_program_is_in_a_group_and_in_canonical_form():
    programs = sorted(path.stem for path in FOLDER.glob("*.wick"))
    assert programs == sorted(n for rows in GROUPS.values() for n in rows)
    r = wick("fmt", "--check", *(FOLDER / f"{n}.wick" for n in programs))
    assert r.returncode == 0, r.stdout + r.stderr
