"""Programs with data in bundles: a TreeLSTM and a decoder with its cache, whose memory and depth are stated. A run that
needs more memory, or is nested more deeply, returns a status, and the next run is not disturbed."""

import pathlib
import subprocess

import numpy as np
import pytest
from bundles import NAMES, HOST, WICK, Bundle

PROGRAM = pathlib.Path(__file__).parents[1] / "lang" / "programs" / "devices.wick"
ELIMIT = 6
DEEP = 65536  # enough for all trees and texts here
MACHINES = [HOST, *(NAMES[n] for n in ("armv8-a", "rv64gc", "cortex-m0", "cortex-m4", "cortex-m55"))]
each_machine = pytest.mark.parametrize("target", MACHINES, ids=repr)


def program(entry, target, folder, heap, recursion):
    target.want()
    b = Bundle(PROGRAM, folder / f"{entry}.{heap}.{recursion}", target, entry=entry, more=["--heap-bytes", heap, "--recursion-bytes", recursion])
    assert b.size("HEAP") == heap and b.size("RECURSION") == recursion < b.size("STACK") and heap < b.size("ARENA")
    assert not b.needs()
    return b


def waves(n, *shape):
    return 0.5 * np.sin(n * (np.arange(np.prod(shape)).reshape(shape) + 1.0))


TABLE, LEFT, RIGHT, BIAS = waves(1, 5, 4), waves(2, 4, 20), waves(3, 4, 20), waves(4, 20)


def encode(t):
    if isinstance(t, int):
        return np.tanh(TABLE[t]), TABLE[t]
    (h1, c1), (h2, c2) = encode(t[0]), encode(t[1])
    z = np.split(h1 @ LEFT + h2 @ RIGHT + BIAS, 5)
    i, o, f, g = (1 / (1 + np.exp(-x)) for x in z[:4])
    c = i * np.tanh(z[4]) + f * c1 + g * c2
    return o * np.tanh(c), c


def codes(t):
    flat = [t]
    while any(isinstance(x, tuple) for x in flat):
        flat = [y for x in flat for y in ((-1, *x) if isinstance(x, tuple) else (x,))]
    return np.array((flat + 64 * [0])[:64])


def spine(n):
    t = 0
    for i in range(n):
        t = (t, i % 5)
    return t


BALANCED = (((0, 1), (2, 3)), ((4, 0), (1, (2, 3))))


@each_machine
def test_tree_lstm(target, tmp_path):
    b = program("tree_lstm", target, tmp_path, 4096, DEEP)
    for t in (3, (1, 2), BALANCED, spine(31)):
        (score,) = b.run(codes(t))
        assert np.allclose(score, encode(t)[0] @ [1.0, -1.0, 0.5, 2.0], atol=1e-5)


@each_machine
def test_too_many_nodes_are_a_status(target, tmp_path):
    b = program("tree_lstm", target, tmp_path, 1024, DEEP)
    assert b.code(codes(spine(31))) == ELIMIT
    assert np.allclose(b.run(codes(BALANCED)), encode(BALANCED)[0] @ [1.0, -1.0, 0.5, 2.0], atol=1e-5)


@each_machine
def test_too_deep_a_tree_is_a_status(target, tmp_path):
    b = program("tree_lstm", target, tmp_path, 4096, 3072)
    assert b.code(codes(spine(31))) == ELIMIT
    assert np.allclose(b.run(codes((1, 2))), encode((1, 2))[0] @ [1.0, -1.0, 0.5, 2.0], atol=1e-5)


@each_machine
def test_decoder(target, tmp_path):
    """What is sampled is the evaluator's; a longer text needs more memory, and more depth, than there is."""
    said = subprocess.run([WICK, "eval", "--file", PROGRAM, "decoder(1, 40)"], capture_output=True, text=True, check=True).stdout
    want = [int(x) for x in said.partition(" : ")[0].strip("[]").split(",")]
    start, length = np.array(1), np.array(40)
    (found,) = program("decoder", target, tmp_path, 4096, DEEP).run(start, length)
    assert list(found) == want
    for heap, recursion in ((2048, DEEP), (4096, 2048)):
        b = program("decoder", target, tmp_path, heap, recursion)
        assert b.code(start, length) == ELIMIT
        assert list(b.run(start, np.array(5))[0]) == want[:5] + 59 * [-1]
