"""Programs in Relay's text run natively and by the evaluator; both give what is expected."""

import os
import pathlib
import subprocess

import numpy as np
import pytest
import built  # noqa: F401: finds the package
import wick
from networks_in_text import NETWORKS
from printed import PRINTED
from programs import PROGRAMS as SHORT
from relay_text import module
from structures import STRUCTURES

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
PROGRAMS = {**SHORT, **STRUCTURES, **NETWORKS, **PRINTED}
CONSTANTS = [np.array([1, 2], np.float32), np.int64(3), np.array([-1, 3]), np.array([0, -5]), np.array([-3, -1])]


def flat(x):
    return [t for item in x for t in flat(item)] if isinstance(x, tuple) else [np.asarray(x)]


def row(name):
    """The text of a program, its arguments and what is expected; a row names its constants if they are others."""
    text, args, expected, *constants = PROGRAMS[name]
    return module(text, constants[0] if constants else CONSTANTS if "meta[relay" in text else ()), args, expected


def agree(found, expected):
    found, expected = flat(found), flat(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.shape == b.shape
        if b.dtype == np.float16:
            a = np.asarray(a, b.dtype)  # the evaluator prints the shortest decimals that have the value
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    text, args, expected = row(name)
    path = tmp_path / "program.relay"
    path.write_text(text)
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
    text, args, expected = row(name)
    path = tmp_path / "program.relay"
    path.write_text(text)
    r = subprocess.run([WICK, "eval", "--file", path, f"main({', '.join(map(literal, args))})"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    found = eval(r.stdout.rpartition(" : ")[0], {"true": True, "false": False, "inf": np.inf, "nan": np.nan})
    agree(tuple(np.array(t) for t in flat(found)) if isinstance(found, tuple) else np.array(found), expected)


SIZES = [np.array([2, 3]), np.array([1, 2, 1]), np.array([2, 3, 3]), np.array([1, 1, 1]), np.array([0]), np.array([[0, 0], [1, 2], [0, 1]]), np.array([-1, 3])]
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
M = "meta[relay.Constant]"
# Calls of operators whose sizes are operands, with constants.
DYNAMIC = {
    f"dyn.reshape(strided_slice(%x, begin=[0], end=[1], strides=[1]), {M}[6], newshape=[])": X[:1].reshape(4, 3),
    f"dyn.broadcast_to(2f, {M}[0], shape=[])": np.full((2, 3), 2),
    'dyn.topk(%x, 2, axis=-1, ret_type="values")': np.sort(X)[..., ::-1][..., :2],
    f"dyn.tile(%x, {M}[1], reps=[])": np.tile(X, (1, 2, 1)),
    f"dyn.strided_slice(%x, {M}[1], {M}[2], {M}[3], begin=None, end=None, strides=None)": X[1:2, 2:3, 1:3],
    f'dyn.full(2f, {M}[0], shape=None, dtype="float32")': np.full((2, 3), 2),
    f'dyn.ones({M}[0], dtype="float32")': np.ones((2, 3)),
    f'dyn.zeros({M}[0], dtype="float32")': np.zeros((2, 3)),
    "dyn.expand_dims(%x, 1, num_newaxis=1)": X[:, None],
    f"dyn.squeeze(expand_dims(%x, axis=0), {M}[4])": X,
    f"dyn.nn.pad(%x, {M}[5], 7f, pad_mode=\"constant\")": np.pad(X, ((0, 0), (1, 2), (0, 1)), constant_values=7),
    f'dyn.one_hot({M}[0], 1f, 0f, 4, axis=-1, dtype="float32")': np.eye(4)[[2, 3]],
}


def test_sizes_that_are_operands(tmp_path):
    path = tmp_path / "p.relay"
    calls = list(DYNAMIC)
    path.write_text(module(f"def @main(%x: Tensor[(2, 3, 4), float32]) {{ ({', '.join(calls)}) }}", SIZES))
    for text, found in zip(calls, wick.load(path).main(X)):
        assert found.shape == DYNAMIC[text].shape, text
        np.testing.assert_allclose(found, DYNAMIC[text], err_msg=text)
