"""Algorithms as users write them: natively, by the evaluator, as artifacts and as bundles, and in NumPy or SciPy.

Each file of programs is compiled once for all of its rows; the rows of FILES are its functions without parameters.
"""

import numpy as np
import pytest
from algorithms import FILES
from running import HERE, agree, evaluated_program, everywhere, flat, outputs, program_of, shipped, wick


DEEP = {"functional", "library"}  # their calls are nested deeper than the operators' definitions are evaluated


@pytest.mark.parametrize("file", FILES)
def test_algorithms(file, tmp_path):
    rows = FILES[file]
    path = program_of(file, rows, tmp_path)
    found = outputs(tmp_path / "run", path, "--entry", "every")
    agree(found, evaluated_program(path, "every"))
    if file not in DEEP:
        agree(outputs(tmp_path / "reference", path, "--entry", "every", "--reference"), found)
    at = 0
    for name, oracle in rows.items():
        if not oracle:  # the last ones, which only the evaluator checks
            break
        want = flat(oracle())
        agree(found[at : at + len(want)], want, f"{file}.{name}")
        at += len(want)
    assert at == len(found) or not all(rows.values())
    shipped(path, tmp_path, found)


def run(file, entry, folder, **inputs):
    words = []
    for name, a in inputs.items():
        np.save(folder / f"{name}.npy", a)
        words.append(f"{name}={folder / f'{name}.npy'}")
    return outputs(folder / f"{entry}.out", HERE / "programs" / f"{file}.wick", "--entry", entry, "--inputs", *words)


@pytest.mark.parametrize("t, i, u", [(5, 4, 3), (7, 5, 8), (40, 16, 24), (3, 33, 17)])
@pytest.mark.parametrize("cell, gates", [("lstms", 4), ("grus", 3)])
def test_recurrent_operators_and_cells_have_equal_bits(cell, gates, t, i, u, tmp_path):
    rng = np.random.default_rng(t)
    shapes = {"x": (t, i), "w": (gates * u, i), "r": (gates * u, u), "b": (2 * gates * u,)}
    found = run("recurrent", cell, tmp_path, **{k: rng.normal(0, 0.6, s).astype(np.float32) for k, s in shapes.items()})
    half = len(found) // 2
    for a, b in zip(found[:half], found[half:], strict=True):
        assert a.tobytes() == b.tobytes()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def tree_state(w, t):
    if isinstance(t, int):
        return np.tanh(w["table"][t]), w["table"][t]
    (h1, c1), (h2, c2) = tree_state(w, t[0]), tree_state(w, t[1])
    z = np.split(h1 @ w["left"] + h2 @ w["right"] + w["bias"], 5)
    c = sigmoid(z[0]) * np.tanh(z[4]) + sigmoid(z[2]) * c1 + sigmoid(z[3]) * c2
    return sigmoid(z[1]) * np.tanh(c), c


def tree_scores(w, trees):
    return np.array([tree_state(w, t)[0] @ w["out"] for t in trees])


def random_tree(rng, leaves):
    if leaves == 1:
        return int(rng.integers(20))
    k = int(rng.integers(1, leaves))
    return random_tree(rng, k), random_tree(rng, leaves - k)


def tree_code(t):
    return [t] if isinstance(t, int) else [-1, *tree_code(t[0]), *tree_code(t[1])]


@pytest.mark.parametrize("dtype, entry", [(np.float32, "main32"), (np.float64, "main64")])
def test_tree_lstm_over_a_thousand_trees(dtype, entry, tmp_path):
    rng = np.random.default_rng(3)
    trees = [random_tree(rng, int(rng.integers(1, 24))) for _ in range(1000)]
    codes = np.array([(tree_code(t) + 48 * [0])[:48] for t in trees])
    shapes = {"table": (20, 6), "left": (6, 30), "right": (6, 30), "bias": (30,), "out": (6,)}
    w = {k: rng.normal(0, 0.5, s).astype(dtype) for k, s in shapes.items()}
    y = rng.normal(size=1000).astype(dtype)
    inputs = {**{f"w.{k}": x for k, x in w.items()}, "codes": codes, "y": y}
    sizes = {"v": 20, "d": 6, "b": 1000, "n": 48}
    path = HERE / "programs" / "treelstm.wick"
    scores, loss, *slopes = everywhere(path, entry, tmp_path, inputs, sizes, "--heap-bytes", "16777216")
    near = {"rtol": 2e-4, "atol": 2e-5} if dtype == np.float32 else {"rtol": 1e-9}
    want = tree_scores({k: x.astype(np.float64) for k, x in w.items()}, trees)
    assert scores.dtype == dtype and np.allclose(scores, want, **near) and np.allclose(loss, np.sum((want - y) ** 2), **near)
    for name, slope in zip(shapes, slopes, strict=True):  # a complex step in a random direction
        step = rng.normal(size=shapes[name])
        moved = {**w, name: w[name] + 1e-20j * step}
        want = np.imag(np.sum((tree_scores(moved, trees) - y) ** 2)) / 1e-20
        assert np.allclose(np.sum(slope * step), want, rtol=near["rtol"], atol=2e-2 if dtype == np.float32 else 1e-8), name


def test_algorithms_are_in_canonical_form():
    for file in [*FILES, "recurrent", "treelstm"]:
        r = wick("fmt", "--check", HERE / "programs" / f"{file}.wick")
        assert r.returncode == 0, r.stdout + r.stderr


def test_matches_with_many_patterns_stay_small():
    """A tree of all decisions of the red-black tree's two functions of 20 arms had 9,000 lines."""
    path = HERE / "programs" / "collections.wick"
    r = wick("compile", path, "--entry", "deleted", "--emit", "graph", "--no-cache")
    assert r.returncode == 0 and r.stdout.count("\n") < 3000, r.stderr
