"""wick eval: the slow evaluator of the language, against values that are known."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
PROGRAM = """
type L[a] { Nil, Cons(a, L[a]) }
type E { Num(f32), Add(E, E), Mul(E, E) }
struct W[n] { a: f32[n], b: f32 }

fn map(f, l) {
  match l {
    Nil => Nil,
    Cons(x, r) => Cons(f(x), map(f, r)),
  }
}
fn fold(f, a, l) {
  match l {
    Nil => a,
    Cons(x, r) => fold(f, f(a, x), r),
  }
}
fn list(n) { if n == 0 { Nil } else { Cons(n, list(n - 1)) } }
fn append(a, b) {
  match a {
    Nil => b,
    Cons(x, r) => Cons(x, append(r, b)),
  }
}
fn filter(p, l) {
  match l {
    Nil => Nil,
    Cons(x, r) => if p(x) { Cons(x, filter(p, r)) } else { filter(p, r) },
  }
}
fn sort(l) {
  match l {
    Nil => Nil,
    Cons(x, r) => append(sort(filter(fn(y) { y < x }, r)), Cons(x, sort(filter(fn(y) { y >= x }, r)))),
  }
}
fn run(e) {
  match e {
    Num(x) => x,
    Add(a, b) => run(a) + run(b),
    Mul(a, b) => run(a) * run(b),
  }
}
fn ack(m: i64, n: i64) -> i64 {
  if m == 0 { n + 1 } else if n == 0 { ack(m - 1, 1) } else { ack(m - 1, ack(m, n - 1)) }
}
fn even(n) { if n == 0 { true } else { odd(n - 1) } }
fn odd(n) { if n == 0 { false } else { even(n - 1) } }
fn half(x) { x * 0.5 }
fn sizes(x: f32[n, m]) { (n, m, n * m) }
fn total(x: f32[n]) -> f32 { if n == 0 { 0.0 } else { x[0] + total(x[1:]) } }
fn deep(n: i64) -> i64 { if n == 0 { 0 } else { 1 + deep(n - 1) } }
fn forever(n: i64) -> i64 { 1 + forever(n) }
fn counter() {
  let r = ref(0)
  let next = fn() {
    write(r, read(r) + 1)
    read(r)
  }
  (next(), next(), next())
}
fn three(f) { fn(x) { f(f(f(x))) } }
fn newton(x) { while abs(y * y - x) > 0.0001 with y = x { 0.5 * (y + x / y) } }
op matvec(a: f32[m, k], x: f32[k]) { y[i] = sum(j) a[i, j] * x[j] }
op both(a: f32[m, k]) { y[i] = max(j) a[i, j] + 1.0, z[j, i] = a[i, j] * y[i] }
fn same(x: f32[n], y: f32[n]) { x + y }
"""

VALUES = [
    ("1 + 2", "3 : i64"),
    ("1 + 2.5", "3.5 : f32"),
    ("(1.5 : f64) + 1", "2.5 : f64"),
    ("f16(1.1)", "1.1 : f16"),
    ("7 % 3 - 2 ** 3", "-7 : i64"),
    ('("a", true, ())', '("a", true, ()) : (string, bool, ())'),
    ("[1.0, 2.0] @ [[1.0, 2.0], [3.0, 4.0]]", "[7.0, 10.0] : f32[2]"),
    ("[[1, 2], [3, 4]] with [0, 1] = 7 with [1] = [8, 9]", "[[1, 7], [8, 9]] : i64[2, 2]"),
    ("[[1, 2], [3, 4]][:, [1, 0, 1]]", "[[2, 1, 2], [4, 3, 4]] : i64[2, 3]"),
    ("[1, 2, 3, 4, 5][1:-1:2]", "[2, 4] : i64[2]"),
    ("reshape([1, 2, 3, 4, 5, 6], shape = (2, 3))[1, 1:]", "[5, 6] : i64[2]"),
    ("sum([[1.0, 2.0], [3.0, 4.0]], axes = (0,))", "[4.0, 6.0] : f32[2]"),
    ("top_k([3.0, 1.0, 2.0], k = 2)", "([3.0, 2.0], [0, 2]) : (f32[2], i64[2])"),
    ("(op.eye() : f32[2, 2])", "[[1.0, 0.0], [0.0, 1.0]] : f32[2, 2]"),
    ("map(fn(x) { x + 1 }, list(3))", "Cons(4, Cons(3, Cons(2, Nil))) : L[i64]"),
    ("fold(fn(a, x) { a + x }, 0, list(100))", "5050 : i64"),
    ("sort(Cons(3, Cons(1, Cons(2, Nil))))", "Cons(1, Cons(2, Cons(3, Nil))) : L[i64]"),
    ("run(Add(Num(1.0), Mul(Num(2.0), Num(3.0))))", "7.0 : f32"),
    ("ack(2, 3)", "9 : i64"),
    ("(even(10), odd(10))", "(true, false) : (bool, bool)"),
    ("(half(1.5f64), half([1.0]))", "(0.75, [0.5]) : (f64, f32[1])"),
    ("sizes([[1.0, 2.0, 3.0]])", "(1, 3, 3) : (i64, i64, i64)"),
    ("total([1.0, 2.0, 3.5])", "6.5 : f32"),
    ("deep(50000)", "50000 : i64"),
    ("counter()", "(1, 2, 3) : (i64, i64, i64)"),
    ("three(three(fn(x) { x + 1 }))(0)", "9 : i64"),
    ("W([1.0, 2.0], 3.0).a[1]", "2.0 : f32"),
    ("W(b = 1.0, a = [2.0]) with .b = 5.0", "W([2.0], 5.0) : W[1]"),
    ("map_tensors(fn(t) { t * 2.0 }, W([1.0, 2.0], 3.0))", "W([2.0, 4.0], 6.0) : W[2]"),
    ("zip_tensors(fn(a, b) { a - b }, (1.0, [2.0]), (0.5, [1.0]))", "(0.5, [1.0]) : (f32, f32[1])"),
    ("for i in 0..5 with s = 0 { s + i }", "10 : i64"),
    ("while a < 100 with (a, b) = (1, 1) { (b, a + b) }", "(144, 233) : (i64, i64)"),
    ("match (1, Cons(2, Nil)) {\n  (1, Cons(x, Nil)) => x,\n  _ => 0\n}", "2 : i64"),
    ("true && 1 < 2 || false", "true : bool"),
    ("let g = max\ng(2, 3)", "3 : i64"),
    ("vmap(fn(x) { sum(x) })([[1.0, 2.0], [3.0, 4.0]])", "[3.0, 7.0] : f32[2]"),
    ("vmap(fn(x, y) { x + y }, axes = (0, -1))([1.0, 2.0], 10.0)", "[11.0, 12.0] : f32[2]"),
    ("vmap(vmap(half))([[1.0, 2.0], [3.0, 4.0]])", "[[0.5, 1.0], [1.5, 2.0]] : f32[2, 2]"),
    ("matvec([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0])", "[17.0, 39.0] : f32[2]"),
    ("both([[1.0, 2.0]])", "([3.0], [[3.0], [6.0]]) : (f32[1], f32[2, 1])"),
    ("specialize(fn(a, b) { a - b }, 1.0)(3.0)", "-2.0 : f32"),
]

# of tests/lang/programs/larger.txt
LARGER = [
    ("church(3)(fn(x) { x * 2 })(1)", "8 : i64"),
    ("tak(6, 4, 2)", "3 : i64"),
    ("queens(6)", "4 : i64"),
    ("cps(5, fn(x) { x })", "120 : i64"),
    ("filter_positive([1.0, -1.0, 2.0])", "[1.0, 2.0] : f32[?]"),
    ("kmeans([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0]], [[0.0, 0.0], [4.0, 4.0]], 3)", "[[0.0, 0.5], [5.0, 5.0]] : f32[2, 2]"),
    ("eval(Let(Fn(Add(Var(0), Num(1.0))), App(Var(0), Num(41.0))), Nil)", "V(42.0) : Value"),
    ("attend(Attn([[1.0]], [[1.0]], [[1.0]], [[2.0]]), [[1.0], [1.0]])", "[[2.0], [2.0]] : f32[2, 1]"),
]

FAILURES = [
    ("1 / 0", "division by zero"),
    ("let i = 5\n[1, 2, 3][i]", "<expression>:2:11: error: the index 5 is outside of the size 3"),
    ('assert(1 > 2, "no")', 'the assertion does not hold: "no"'),
    ("forever(1)", "calls are nested too deeply for the evaluator"),
    ("same([1.0, 2.0], [1.0])", "size 2 is not 1"),
    ("fodl(1)", "there is no value `fodl`; did you mean `fold`?"),
    ("{ 1", "expected `}`, found the end of the file"),
]


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory):
    path = tmp_path_factory.mktemp("eval") / "p.wick"
    path.write_text(PROGRAM)
    return lambda text: subprocess.run(
        [WICK, "eval", "--file", str(path), text], capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("text, value", VALUES, ids=[t for t, _ in VALUES])
def test_values(evaluate, text, value):
    r = evaluate(text)
    assert (r.returncode, r.stderr, r.stdout) == (0, "", value + "\n")


@pytest.mark.parametrize("text, value", LARGER, ids=[t for t, _ in LARGER])
def test_larger_programs(tmp_path, text, value):
    program = pathlib.Path(__file__).parent / "programs" / "larger.txt"
    path = tmp_path / "larger.wick"
    path.write_text(program.read_text().partition("\n=>")[0])
    r = subprocess.run([WICK, "eval", "--file", str(path), text], capture_output=True, text=True, timeout=60)
    assert (r.returncode, r.stderr, r.stdout) == (0, "", value + "\n")


@pytest.mark.parametrize("text, message", FAILURES, ids=[t for t, _ in FAILURES])
def test_failures(evaluate, text, message):
    r = evaluate(text)
    assert r.returncode == 1 and message in r.stderr


def test_conjugate_gradients(tmp_path):
    program = pathlib.Path(__file__).parent / "programs" / "larger.txt"
    path = tmp_path / "larger.wick"
    path.write_text(program.read_text().partition("\n=>")[0])
    r = subprocess.run(
        [WICK, "eval", "--file", str(path), "cg([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0])"], capture_output=True, text=True
    )
    value = [float(x) for x in r.stdout.partition(" : ")[0].strip("[]").split(", ")]
    assert np.allclose(value, np.linalg.solve([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]), atol=1e-5)


def test_newton(evaluate):
    value = float(evaluate("newton(2.0)").stdout.split()[0])
    assert abs(value - np.sqrt(2)) < 1e-3


def test_print_is_in_order(evaluate):
    r = evaluate("let x = { print(1, 2.5)\n 3 }\nprint(x)")
    assert r.stdout == "1 2.5\n3\n() : ()\n"
