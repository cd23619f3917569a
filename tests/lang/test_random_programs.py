"""Random programs of the language, and small ones that came of larger ones which went wrong once.

All run natively, differentiated and batched, and are compared with the evaluator. `make programs` runs a thousand,
`make mutated-programs` a thousand with small mistakes.
"""

import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from mutated_programs import COUNTED, one  # noqa: E402
from random_programs import batch, differ, evaluated, run  # noqa: E402
import random_sketches  # noqa: E402

import numpy as np  # noqa: E402

# Functions of x: f64, v: f64[3]: each with what it is about.
FOUND = {
    "rows of with_vjp whose argument is the same in all rows, and that captures the row":
        "vmap(fn(t) { with_vjp(fn(y) { y * t }, fn(y, d) { d * t })(x) })(v)",
    "the derivative of such rows":
        "grad(fn(c) { sum(vmap(fn(t, s) { with_vjp(fn(y, w) { y * t * w }, fn(y, w, d) { (d * t * w, d * y * t) })(s, c) })(v, v * c)) })(x)",
    "an argument that is given twice, pushed in two directions":
        "(jvp(fn(p: f64, q: f64) { with_vjp(fn(a, b) { a * sin(b) }, fn(a, b, d) { (d * sin(b), d * a * cos(b)) })(p, q) })(x, x, x, 1.0),"
        " jvp(fn(p: f64[3], q: f64[3], r: f64[3]) { op.gather_elements(op.mul(p, q), [0, 2, 2], axis = 0) @ op.softmax(r, axis = 0) })(v, v, v, v, v * x, v * v))",
    "an infinite cotangent of one element, and the others":
        "let k = i64(x)\n(grad(fn(u: f64[3]) { u[k] / f64(k) })(v), grad(fn(u: f64[3]) { sum(u[k:k + 1] / f64(k)) })(v))",
    "a closure in a reference that nobody reads": "let r = ref(fn(y: f64) -> f64 { y * x }); x",
    "a reference to the result of a call": "let r = ref(first((Nil : L[f64]))); x",
    "rows of a loop that forgets them, pushed":
        "vmap(fn(t) { jvp(fn(y, u) { (while c < 1 with (c, z) = (0, sum(u)) { (c + 1, 0.1f64) }).1 + y })(x, v, t, v * t).1 })(v)",
    "rows of a loop that forgets them, pulled":
        "vmap(fn(y) { grad(fn(u: f64[3]) { (while c < 2 with (c, z) = (0, u) { (c + 1, v) }).1 @ u })(y * v) })(v)",
    "derivatives of a function that only the running program knows":
        "let f = compose(Cons(pick(x, 2.0), Cons(pick(2.0, x), Nil)))\n"
        "let g = fn(y) { grad(pick(y, y))(y * x) }\n"
        "(grad(f)(x), grad(g)(x), vmap(f)(v), vjp(f)(x).1(2.0), jvp(f)(x, 1.0), grad(grad(f))(x), vmap(grad(f))(v))",
    "functions as arguments of functions that are transformed":
        "let f = compose(Cons(pick(x, 2.0), Nil))\n"
        "(grad(fn(y, h) { h(y) * y })(x, f), grad(fn(y, h) { h(y) * y })(x, sin), vjp(fn(y, h) { h(y * y) })(x, cos).1(x).0,"
        " vmap(fn(y, h) { h(y) }, axes = (0, -1))(v, tanh))",
    "a function value that vjp gives beside others":
        "let f = pick(x, 2.0)\nlet back = vjp(fn(y) { f(y) * sin(y) })(x).1\n"
        "apply_all(Cons(back, Cons(f, Nil)), 0.5) + back(2.0)",
    "a product with constant weights whose result is a vector, scaled": "([x, 2.0, x] @ [1.0, -0.5, 2.0]) * 3.0 + (v @ [1.0, -0.5, 2.0]) / 2.0",
    "a recursion that is differentiated twice at one place": "grad(power)(x, 3) + grad(fn(y) { power(y, 2) * sin(grad(power)(y, 4)) })(x)",
    "recursion that passes a new function to itself":
        "deeper(3, x, fn(y) { y + x })",
    "second derivatives that take elements away and add zeros":
        "let g = fn(y) { let z = v[1:2][0] * y\n sum([z, z, z] * [1.0, 2.0, 3.0] * y) }\ngrad(fn(y) { grad(fn(u) { sum(grad(fn(w: f64[3]) { w[1] * u * g(u) })(v)) })(y) })(x)",
    "a switch that decides nothing that is differentiated, in third derivatives":
        "let t = if x > 0.5 { Cons(v, Nil) } else { Cons(v * v, Nil) }\n"
        "grad(grad(grad(fn(y: f64) -> f64 { apply_all(match t { Nil => Nil, Cons(w, r) => Cons(fn(z) { z * y * w[1] }, Nil) }, y) })))(x)",
    "rows of a recursion that calls itself with a new tensor": "vmap(fn(y) { halves(2, v * y, [v, v]) })(v)",
    "a row whose number is computed after it, in rows": "vmap(fn(y, k) { put(compose(Cons(pick(y, x), Nil)), y, k) })(v, [0, 1, 2])",
    "references that functions take, differentiated":
        "let f = fn(y) { let r = ref(y * x)\n bump(r, fn(z) { z * y }) + bump(r, sin) }\n"
        "(grad(f)(x), jvp(f)(x, 1.0), grad(grad(f))(x), jvp(grad(f))(x, 2.0).1, vmap(grad(f))(v))",
    "references in data, of recursions, with two names":
        "let f = fn(y) { let r = ref(y * x)\n let s = ref(sin(y))\n writes(Cons(r, Cons(s, Cons(r, Nil))), y) * read(r) + read(s) }\n"
        "(grad(f)(x), jvp(f)(x, 1.0), grad(grad(f))(x), jvp(grad(f))(x, 2.0).1, grad(fn(y) { jvp(f)(y, y).1 })(x), grad(grad(grad(f)))(x),"
        " vmap(grad(f))(v), grad(fn(u: f64[3]) { sum(vmap(f)(u)) })(v))",
    "a derivative that is pulled several times through references":
        "let f = fn(y) { let r = ref(y * y)\n writes(Cons(r, Cons(r, Nil)), y) * read(r) }\n"
        "let (y, back) = vjp(f)(x)\n (y, back(1.0), back(2.0), grad(fn(z) { vjp(f)(z).1(z * 3.0) })(x), back(back(0.5)))",
    "references from outside: one that is written, and some in data that are read":
        "let r = ref(x)\n let f = fn(y) { write(r, y * y); read(r) * y }\n let g = fn(y) { total(Cons(r, Cons(ref(y), Nil))) * y }\n"
        "let (a, back) = vjp(f)(x)\n (grad(f)(x), read(r), jvp(f)(2.0, 3.0), read(r), back(1.0), back(1.0), grad(g)(x), jvp(g)(x, 1.0), vjp(g)(x).1(2.0), grad(grad(g))(x))",
    "two references from outside, both written":
        "let r = ref(x)\n let s = ref(x * 2.0)\n"
        "let f = fn(y) { write(r, y * 2.0)\n write(s, read(s) * read(r) + y)\n read(r) * read(s) * y }\n"
        "(grad(f)(x), read(r), read(s), jvp(f)(x, 1.0), read(s), value_and_grad(f)(x))",
    "a type that holds references to itself":
        "let f = fn(y) { let r = ref(End(y * y))\n let l = Link(y, r)\n write(r, Link(sin(y), ref(End(y))))\n chain(l) * y }\n"
        "(grad(f)(x), jvp(f)(x, 1.0), grad(grad(f))(x), jvp(grad(f))(x, 1.0).1)",
    "a checkpoint of a function with a reference": "grad(checkpoint(fn(y) { let r = ref(0.0f64)\n for i in 0..2 { write(r, y) }; read(r) * y }))(x)",
}  # fmt: skip
TYPES = """
fn compose(l) { match l { Nil => fn(x) { x }, Cons(f, r) => { let g = compose(r); fn(x) { g(f(x)) } } } }
fn apply_all(l, x) { match l { Nil => x, Cons(f, r) => apply_all(r, f(x)) } }
fn pick(n: f64, c: f64) -> fn(f64) -> f64 { if n > 1.0 { fn(x) { x * c } } else { fn(x) { sin(x) + c * x * x } } }
fn halves(n: i64, w: f64[3], m: f64[2, 3]) -> f64[3] { if n <= 0 { m[1] } else { others(n - 1, [0.5, 0.25] @ m, m) with [2] = 0.5 } }
fn others(n: i64, w: f64[3], m: f64[2, 3]) -> f64[3] { if n <= 0 { w } else { swapped(halves(n - 1, w, m)) } }
fn swapped(w: f64[3]) -> f64[3] { let c = Some(ref(w))\n match c { Some(r) => { let old = read(r)\n write(r, w * 2.0)\n old }, None => w } }
fn put(f: fn(f64) -> f64, y: f64, k: i64) -> f64[2, 3] { tanh([[y, 1.0, 2.0], [3.0, y, 4.0]]) with [k % 2] = [0.5, f(y), y] }
fn bump(r, f) { write(r, f(read(r))); read(r) }
fn power(x: f64, n: i64) -> f64 { if n == 0 { 1.0 } else { x * power(x, n - 1) } }
fn deeper(n: i64, x: f64, f: fn(f64) -> f64) -> f64 { if n <= 0 { f(x) } else { deeper(n - 1, f(x), fn(y) { x * sin(y) }) } }
type L[a] { Nil, Cons(a, L[a]) }
type O[a] { None, Some(a) }
type Chain { End(f64), Link(f64, Ref[Chain]) }
fn chain(l: Chain) -> f64 { match l { End(y) => y, Link(y, r) => { let z = chain(read(r))\n write(r, End(z * y))\n y * z } } }
fn writes(l: L[Ref[f64]], y: f64) -> f64 { match l { Nil => y, Cons(r, t) => { let v = read(r)\n write(r, v * y + 1.0)\n v * writes(t, v) + read(r) } } }
fn total(l: L[Ref[f64]]) -> f64 { match l { Nil => 1.0, Cons(r, t) => read(r) * total(t) } }
fn first(l) { match l { Nil => 1, Cons(_, _) => 2 } }
"""


@pytest.mark.parametrize("name", FOUND)
def test_found(name, tmp_path):
    (tmp_path / "p.wick").write_text(f"{TYPES}\nfn main(x: f64, v: f64[3]) {{ {FOUND[name]} }}\n")
    np.save(tmp_path / "x.npy", np.float64(0.75))
    np.save(tmp_path / "v.npy", np.array([0.5, -1.25, 2.0]))
    want, r = evaluated(tmp_path, "p.wick", "main(0.75, [0.5, -1.25, 2.0])")
    assert want is not None, r.stderr
    r = run("run", "p.wick", "--inputs", "x.npy", "v.npy", "--outputs", "out", "--no-cache", cwd=tmp_path)
    assert r.returncode == 0, r.stderr
    found = [np.load(tmp_path / "out" / f"output_{i}.npy") for i in range(len(want))]
    assert differ(found, want) is None


# What the compiler refuses although the evaluator runs it.
REFUSED = re.compile(r"a cycle through transformations")


@pytest.mark.parametrize("first", range(1, 61, 12))
def test_random(first):
    found = batch(range(first, first + 12))
    assert not [f for f in found if f[2] != "refused" or not REFUSED.search(f[3])]


@pytest.mark.parametrize("first", range(1, 33, 8))
def test_sketches(first):
    assert not batch(range(first, first + 8), random_sketches.make)


@pytest.mark.parametrize("first", range(1, 17, 8))
def test_mutated(first):
    found = [f for seed in range(first, first + 8) for f in one(seed)]
    assert any(f[2] == "accepted" for f in found)
    assert not [f for f in found if f[2] not in COUNTED]


def test_rows_print_what_they_all_compute_alike(tmp_path):
    rows = "vmap(fn(x) { vmap(fn(y) { with_vjp(fn(z: f64) -> f64 { print(7); sin(z) }, fn(z, d) { d })(0.5) + y })(v) })(v)"
    (tmp_path / "p.wick").write_text(f"fn main(v: f64[3]) {{ {rows} }}\n")
    np.save(tmp_path / "v.npy", np.ones(3))
    r = run("run", "p.wick", "--inputs", "v.npy", "--no-cache", cwd=tmp_path)
    assert r.returncode == 0, r.stderr
    assert r.stdout.splitlines().count("7") == 9
