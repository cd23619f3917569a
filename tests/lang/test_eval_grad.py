"""Derivatives in the slow evaluator: values that are known, and central differences."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
PROGRAM = """
type Tree { Leaf(f64), Node(Tree, Tree) }
type L[a] { Nil, Cons(a, L[a]) }
type Op { Scale(f64), Shift(f64) }
struct W { m: f64[2, 2], b: f64[2] }

fn tree(t) {
  match t {
    Leaf(x) => x * x,
    Node(l, r) => tree(l) * tree(r),
  }
}
fn power(x: f64, n: i64) -> f64 { if n == 0 { 1.0 } else { x * power(x, n - 1) } }
fn layer(w: W, x: f64[2]) -> f64[2] { tanh(w.m @ x + w.b) }
fn loss(w: W, x: f64[2]) -> f64 { sum(square(layer(w, layer(w, x)))) }
fn compose(l) {
  match l {
    Nil => fn(x) { x },
    Cons(f, r) => {
      let rest = compose(r)
      fn(x) { rest(f(x)) }
    },
  }
}
fn twice(f) { fn(x) { f(f(x)) } }
fn run(ops, x: f64) -> f64 {
  match ops {
    Nil => x,
    Cons(Scale(a), r) => run(r, a * x),
    Cons(Shift(a), r) => run(r, x + a),
  }
}
fn root(a) { while abs(y * y - a) > 1e-12 with y = a { 0.5 * (y + a / y) } }
fn hessian(f: fn(f64[n]) -> f64, x: f64[n]) -> f64[n, n] {
  vmap(fn(v) { jvp(grad(f))(x, v).1 })((op.eye() : f64[n, n]))
}
fn rosenbrock(x: f64[2]) -> f64 { square(1.0 - x[0]) + 100.0 * square(x[1] - square(x[0])) }
op quadratic(a: f64[n, n], x: f64[n]) { y[i] = sum(j) a[i, j] * x[j] * x[i] }
fn clipped(f) { with_vjp(f, fn(x, d) { min(max(d, -1.0), 1.0) }) }
"""

VALUES = [
    ("grad(tree)(Node(Leaf(2.0), Leaf(3.0)))", "Node(Leaf(36.0), Leaf(24.0)) : Tree"),
    ("grad(power)(2.0, 5)", "80.0 : f64"),
    ("grad(grad(power))(2.0, 5)", "160.0 : f64"),
    ("grad(compose(Cons(fn(x) { x * x }, Cons(fn(x) { x * 3.0 }, Nil))))(2.0f64)", "12.0 : f64"),
    ("grad(twice(twice(fn(x) { x * x })))(1.0f64)", "16.0 : f64"),
    ("grad(run)(Cons(Scale(3.0), Cons(Shift(1.0), Cons(Scale(5.0), Nil))), 2.0)",
     "Cons(Scale(10.0), Cons(Shift(5.0), Cons(Scale(7.0), Nil))) : L[Op]"),
    ("grad(fn(w) { sum(w.m @ [1.0, 2.0]) + sum(w.b) })(W([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]))",
     "W([[1.0, 2.0], [1.0, 2.0]], [1.0, 1.0]) : W"),
    ("hessian(rosenbrock, [1.0, 1.0])", "[[802.0, -400.0], [-400.0, 200.0]] : f64[2, 2]"),
    ("grad(fn(x: f64[2]) { sum(quadratic([[1.0, 2.0], [3.0, 4.0]], x)) })([1.0, 1.0])", "[7.0, 13.0] : f64[2]"),
    ("grad(clipped(fn(x) { x * x * x }))(2.0f64)", "1.0 : f64"),
    ("grad(fn(x) { 5.0 * clipped(fn(y) { y * y })(3.0 * x) })(2.0f64)", "3.0 : f64"),
    ("{ let (y, back) = vjp(fn(x, n) { (x * x, n + 1, [x, x]) })(3.0f64, 4); back((1.0f64, (), [1.0f64, 2.0])) }",
     "(9.0, ()) : (f64, ())"),
    ("grad(fn(x, y, z) { x * y * z }, wrt = (2, 0))(2.0f64, 3.0, 5.0)", "(6.0, 15.0) : (f64, f64)"),
    ("{ let r = ref(0.0f64); let f = fn(x) { write(r, x * x); read(r) * x }; (grad(f)(2.0), read(r)) }",
     "(12.0, 4.0) : (f64, f64)"),
    ("vmap(grad(fn(x) { sum(x * x) }))([[1.0f64, 2.0], [3.0, 4.0]])", "[[2.0, 4.0], [6.0, 8.0]] : f64[2, 2]"),
    ("grad(fn(x) { match (x, 3) { (y, 2) => y, (y, n) => y * y } })(4.0f64)", "8.0 : f64"),
    ("grad(grad(fn(x) { grad(fn(y) { x * x * y * y })(x) }))(2.0f64)", "24.0 : f64"),
    ("grad(fn(x) { let y = stop_gradient(x * x); y * x })(3.0f64)", "9.0 : f64"),
    ("grad(fn(i: i64) { 2.0f64 })(1)", "() : ()"),
]

# of one number, with the point and what is added to it
FUNCTIONS = [
    ("root", "2.0", 1e-4),
    ("fn(x) { sum(sort_up([x, 2.0 * x, 0.3])) }", "0.7", 1e-4),
    ("fn(x) { loss(W([[x, 0.5], [0.2, x * x]], [0.1, x]), [x, 1.0]) }", "0.4", 1e-4),
    ("fn(x) { for i in 0..10 with (y, s) = (x, 0.0) { (sin(y), s + y * x) }.1 }", "1.1", 1e-4),
    ("fn(x) { sum(softmax([x, 2.0 * x, 1.0]) * [1.0, 2.0, 3.0]) }", "0.5", 1e-4),
    ("fn(x) { sum([x, x * x, 3.0][1:] with [0] = x * [2.0, 3.0][1]) }", "0.5", 1e-4),
    ("fn(x) { sum(conv([[[x, 1.0, x * x]]], [[[x, 2.0]]])) }", "0.8", 1e-4),
    ("fn(x) { grad(fn(y) { sin(x * y) * y })(x) }", "0.6", 1e-4),
    ("fn(x) { jvp(fn(y) { exp(x * y) })(x, x * x).1 }", "0.6", 1e-4),
    ("fn(x) { vjp(fn(y) { [y * x, y * y] })(x).1([1.0, x]) }", "0.6", 1e-4),
    ("fn(x) { sum(vmap(fn(r) { prod(r) * x })([[x, 1.0], [2.0, x]])) }", "0.6", 1e-4),
]
SORT = "fn sort_up(x: f64[n]) -> f64[n] { top_k(x, k = n, least = true).0 }\n"

FAILURES = [
    ("grad(fn(x) { sum(f64(bitcast_of(x))) })(1.0f64)", "there is no value `bitcast_of`"),
    ("grad(fn(x) { [x][3] })(1.0f64)", "the index 3 is outside of the size 1"),
]


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory):
    path = tmp_path_factory.mktemp("eval") / "p.wick"
    path.write_text(PROGRAM + SORT)
    return lambda text: subprocess.run(
        [WICK, "eval", "--file", str(path), text], capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("text, value", VALUES, ids=[t for t, _ in VALUES])
def test_values(evaluate, text, value):
    r = evaluate(text)
    assert (r.returncode, r.stderr, r.stdout) == (0, "", value + "\n")


@pytest.mark.parametrize("function, point, width", FUNCTIONS, ids=[f for f, _, _ in FUNCTIONS])
def test_differences(evaluate, function, point, width):
    r = evaluate(
        f"{{ let f = {function}; let x = {point}f64; (grad(f)(x), jvp(f)(x, 1.0).1, f(x + {width}), f(x - {width})) }}"
    )
    assert r.returncode == 0, r.stderr
    reverse, forward, up, down = (float(v) for v in re.findall(r"[-\d.e]+", r.stdout.partition(" : ")[0]))
    assert abs(reverse - forward) <= 1e-12 * max(1, abs(reverse))
    assert abs(reverse - (up - down) / (2 * width)) <= 1e-5 * max(1, abs(reverse))


@pytest.mark.parametrize("text, message", FAILURES, ids=[t for t, _ in FAILURES])
def test_failures(evaluate, text, message):
    r = evaluate(text)
    assert r.returncode == 1 and message in r.stderr
