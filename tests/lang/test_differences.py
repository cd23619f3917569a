"""Derivatives of the programs in tests/lang/programs, in f64, natively, beside central differences of their values."""

import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
WICK = os.environ.get("WICK_COMMAND", str(HERE.parents[1] / "build" / "wick"))

# file, what is added to it, a function of one number, and where
FUNCTIONS = [
    ("trees", "let w = weights()\n score(Weights(table = w.table * x, left = w.left * sin(x), right = w.right + x, out = w.out * x), tree())", 0.7),
    ("numeric", "newton(x * x + 1.0)", 1.3),
    ("numeric", "sum(rk4(fn(y) { [y[1], -x * y[0]] }, [1.0, x], 0.1, 12))", 1.3),
    ("numeric", "sum(cg([[4.0 * x, 1.0], [1.0, 3.0]], [1.0, x]))", 1.3),
    ("numeric", "let (m, p) = filtered([1.1 * x, 1.9, 3.2 + x])\n sum(m) + sum(p) * x", 0.8),
    ("numeric", "power_method([[2.0, x], [x, 3.0]], 9)", 0.6),
    ("numeric", "sum(kmeans([[0.0, x], [0.0, 1.0], [5.0, 5.0], [6.0, 5.0 * x]], [[0.0, 0.0], [4.0, 4.0]], 3) * [[1.0, 2.0], [3.0, x]])", 0.9),
    ("networks", "let m = model()\n let n = m with .w = m.w * x\n scores(n, step(n, step(n, [x, 0.1, 0.2], 1), 2))[0]", 0.8),
    ("networks", "let (a, b) = mlp([[0.1, x, 0.3], [1.0, -1.0, 0.5], [0.0, 0.0, x], [0.3, 0.2, 0.1]], ([[1.0, x], [0.1, 0.2], [0.4, 0.5]], [[x], [0.2], [0.3]]))\n sum(a * a) + sum(b)", 0.8),
    ("functions", "simpson(fn(t) { sin(t * x) }, 0.0, x, 10)", 1.1),
    ("functions", "iterate(fn(y) { sin(y) * x }, 5, x) + compose(fn(t) { t * x }, sin)(x) + three(fn(t) { t * x + 1.0 })(x)", 1.1),
    ("functions", "times(fn(f) { fn(y) { f(f(y)) } }, fn(f) { fn(y) { f(y) * x } })(sin)(x)", 1.1),
    ("closures", "apply_all(Cons(fn(y) { y * x }, Cons(chosen(0), Cons(chosen(1), Cons(chosen(2), Nil)))), x)", 1.1),
    ("lists", "fold(fn(a, b) { a * sin(b) + x }, x, map(fn(y) { x * y }, append(Cons(1.5, Nil), reverse(Cons(0.5, Cons(2.0, Nil))))))", 0.9),
    ("derivatives", "loss(Layer(w = [[x, 0.2, 0.3], [0.4, x * x, 0.6]], b = [0.0, x, 0.1]), [[0.1, x], [0.5, 0.3], [0.2, 0.2], [x, 1.0]], [[x, 0.0, 0.2], [0.3, 0.1, 0.2], [0.0, 0.4, 0.1], [0.3, 0.5, 0.2]])", 0.7),
    ("references", "metered(x)", 0.8),
    ("references", "filled(ref(broadcast_to(0.0 * x, shape = (8,))), x, 7)", 0.8),
    ("references", "chosen(x, 5)", 0.8),
    ("references", "hooked(x, 3)", 0.8),
    ("derivatives", "root(fn(y) { y * y - x }, 1.5, 4)", 2.2),
]  # fmt: skip


@pytest.mark.parametrize("file, body, at", FUNCTIONS, ids=[f"{f}: {b[:40]}" for f, b, _ in FUNCTIONS])
def test_differences(file, body, at, tmp_path):
    text = re.sub(r"\bf32\b", "f64", (HERE / "programs" / f"{file}.wick").read_text())
    text = re.sub(r"\b\d+\.\d+\b", r"\g<0>f64", text)
    text += f"""
fn differentiated(x: f64) -> f64 {{ {body} }}
fn both(x: f64) {{
  let f = differentiated
  (grad(f)(x), jvp(f)(x, 1.0).1, f(x - 0.002), f(x - 0.001), f(x + 0.001), f(x + 0.002), grad(grad(f))(x), grad(f)(x - 0.001), grad(f)(x + 0.001),
   grad(f)(x - 0.002), grad(f)(x + 0.002))
}}
"""
    (tmp_path / "p.wick").write_text(text)
    np.save(tmp_path / "x.npy", np.float64(at))
    words = [WICK, "run", "p.wick", "--entry", "both", "--inputs", "x.npy", "--outputs", "out", "--no-cache"]
    r = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert r.returncode == 0, r.stderr
    g, t, a, b, c, d, h, gb, gc, ga, gd = (float(np.load(tmp_path / "out" / f"output_{i}.npy")) for i in range(11))
    slope, second = (8 * (c - b) - (d - a)) / 0.012, (8 * (gc - gb) - (gd - ga)) / 0.012
    assert abs(g - t) <= 1e-12 * max(1, abs(g))
    assert abs(g - slope) <= 1e-6 * max(1, abs(slope)) and abs(h - second) <= 1e-6 * max(1, abs(second))
