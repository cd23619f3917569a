"""Programs in Relay's text run natively and by the evaluator; both give what is expected."""

import os
import pathlib
import subprocess

import numpy as np
import pytest
import built  # noqa: F401: finds the package
import wick
from networks_in_text import NETWORKS
from programs import PROGRAMS as SHORT
from relay_text import module
from structures import STRUCTURES

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
PROGRAMS = {**SHORT, **STRUCTURES, **NETWORKS}
CONSTANTS = [np.array([1, 2], np.float32), np.int64(3)]


def flat(x):
    return [t for item in x for t in flat(item)] if isinstance(x, tuple) else [np.asarray(x)]


def agree(found, expected):
    found, expected = flat(found), flat(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    text, args, expected = PROGRAMS[name]
    path = tmp_path / "program.relay"
    path.write_text(module(text, CONSTANTS if "meta[relay" in text else ()))
    agree(wick.load(path).main(*args), expected)


def literal(x):
    """An argument in the language's syntax."""
    names = {"float32": "f32", "float64": "f64", "float16": "f16", "int32": "i32", "int64": "i64", "int8": "i8", "uint8": "u8"}
    x = np.asarray(x)
    if x.dtype == bool:
        return str(bool(x)).lower()
    if not x.ndim:
        return f"{names[str(x.dtype)]}({x.item()})"
    return "[" + ", ".join(literal(row) for row in x) + "]"


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "deep"])  # the evaluator recurses
def test_evaluated(name, tmp_path):
    text, args, expected = PROGRAMS[name]
    path = tmp_path / "program.relay"
    path.write_text(module(text, CONSTANTS if "meta[relay" in text else ()))
    r = subprocess.run([WICK, "eval", "--file", path, f"main({', '.join(map(literal, args))})"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    found = eval(r.stdout.rpartition(" : ")[0], {"true": True, "false": False, "inf": np.inf, "nan": np.nan})
    agree(tuple(np.array(t) for t in flat(found)) if isinstance(found, tuple) else np.array(found), expected)
