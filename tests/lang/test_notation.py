"""Index notation: which operators of the graph its sums of products become."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))

# the operator, the types of its arguments, what its graph computes with
FORMS = [
    ("(a: e[m, k], b: e[k, n]) { c[i, j] = sum(l) a[i, l] * b[l, j] }", "f32[4, 5], f32[5, 6]", "matmul"),
    ("(a: e[k, m], b: e[n, k]) { c[i, j] = sum(l) a[l, i] * b[j, l] }", "f32[5, 4], f32[6, 5]", "matmul"),
    ("(a: e[b, m, k], w: e[b, k, n]) { c[p, i, j] = sum(l) a[p, i, l] * w[p, l, j] }", "f32[2, 4, 5], f32[2, 5, 6]", "matmul"),
    ("(x: e[b, k], w: e[n, k], v: e[n]) { y[i, j] = relu(sum(l) x[i, l] * w[j, l] + v[j]) }",
     "f32[4, 5], f32[6, 5], f32[6]", "matmul"),
    ("(x: e[n, c, h, v], w: e[o, c, r, s]) { y[b, p, i, j] = sum(q, e, f) x[b, q, 2 * i + e, 2 * j + f] * w[p, q, e, f] }",
     "f32[1, 3, 9, 9], f32[4, 3, 3, 3]", "conv"),
    ("(x: e[n, h, v, c], w: e[r, s, c, o]) { y[b, i, j, p] = sum(e, f, q) x[b, i + e, j + 2 * f, q] * w[e, f, q, p] }",
     "f32[1, 9, 9, 3], f32[3, 3, 3, 4]", "conv"),
    ("(x: e[n, g, c, h], w: e[g, o, c, r]) { y[b, d, p, i] = sum(q, e) x[b, d, q, i + e] * w[d, p, q, e] }",
     "f32[2, 3, 2, 9], f32[3, 2, 2, 3]", "conv"),
    ("(x: e[n], w: e[k]) { y[i: n] = sum(j) (if i + j >= 1 && i + j - 1 < n { x[i + j - 1] } else { 0.0 }) * w[j] }",
     "f32[9], f32[3]", "conv"),
    ("(x: e[n], w: e[k]) { y[i] = sum(j) x[i - j + 2] * w[j] }", "f32[9], f32[3]", "conv"),
    # two windows of one index, and sums of other things, are not convolutions
    ("(x: e[n, n], w: e[k]) { y[i] = sum(j) x[i + j, i + j] * w[j] }", "f32[9, 9], f32[3]", "affine_gather matmul"),
    ("(x: e[n], w: e[k]) { y[i] = sum(j) abs(x[i + j] - w[j]) }", "f32[9], f32[3]", "affine_gather reduce_sum"),
    ("(x: i32[n], w: i32[k]) { y[i] = sum(j) x[i] * w[j] }", "i32[9], i32[3]", "reduce_sum"),
    ("(t: e[v, d], k: i64[b, l]) { y[i, j] = sum(q) t[k[i, q], j] }", "f32[9, 4], i64[2, 3]", "gather reduce_sum"),
]


@pytest.mark.parametrize("op, types, want", FORMS)
def test_forms(op, types, want, tmp_path):
    parts = re.findall(r"\w+\[[^\]]*\]", types)
    names = [f"a{i}" for i in range(len(parts))]
    heads = ", ".join(f"{n}: {t}" for n, t in zip(names, parts))
    (tmp_path / "a.wick").write_text(f"op o{op}\nfn main({heads}) {{ o({', '.join(names)}) }}\n")
    r = subprocess.run([WICK, "compile", "a.wick", "--emit", "graph"], capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 0, r.stderr
    kind = {"conv_packed": "conv", "conv_winograd": "conv", "depthwise_packed": "conv", "matmul_packed": "matmul"}
    found = {kind.get(x, x) for x in re.findall(r"= (\w+) ", r.stdout)}
    assert found & {"conv", "matmul", "affine_gather", "gather", "gather_nd", "reduce_sum"} == set(want.split()), r.stdout


def test_a_window_that_ends_within_a_vector():
    """Elements of a transposed read that are outside stay so one by one."""
    np = pytest.importorskip("numpy")
    import built  # noqa: F401: finds the package
    import wick
    text = "op shift(x: f64[7]) { y[m: 2, q: 4] = if m + 2 * q - 1 >= 0 { x[m + 2 * q - 1] } else { 0.0f64 } }\nfn main(x: f64[7]) { shift(x) }"
    found = wick.load(text, "shift.wick").main(np.arange(1.0, 8.0))
    assert found.tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]


FUNCTIONS = """
fn gate(x: f32, k: f32) -> f32 { if x > 0.0 { x * k } else { exp(x) - 1.0 } }
fn gcd(a: i64, b: i64) -> i64 { if b == 0 { a } else { gcd(b, a % b) } }
op gated(x: f32[m, n], k: f32[n]) { y[i, j] = gate(x[i, j], k[j]) }
op total(x: f32[m, n], k: f32[n]) { y[i] = sum(j) gate(x[i, j], 2.0) * k[j] }
op scaled(x: f32[m, n]) { y[i] = gate(sum(j, k) x[j, k], 0.5) + x[i, 0] }
op fixed(x: f32[m, n], k: f32[n]) { y[i] = gate(x[i, 1], k[2]) + gate(x[0, 0], k[0] + 1.0) }
op table(a: i64[m]) { y[i, j: 4] = gcd(a[i], j + 1) }
fn loss(x: f32[m, n], k: f32[n]) { sum(gated(x, k)) + sum(total(x, k)) }
fn main(x: f32[3, 4], k: f32[4], a: i64[2]) { (gated(x, k), total(x, k), scaled(x), fixed(x, k), table(a), grad(loss, wrt = (0, 1))(x, k)) }
"""


def test_elements_call_functions():
    np = pytest.importorskip("numpy")
    import built  # noqa: F401: finds the package
    import wick
    rng = np.random.default_rng(3)
    x, k, a = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=4).astype(np.float32), np.array([12, 35])
    gated, total, scaled, fixed, table, (dx, dk) = wick.load(FUNCTIONS, "functions.wick").main(x, k, a)
    gate = lambda k: np.where(x > 0, x * k, np.expm1(x))
    np.testing.assert_allclose(gated, gate(k), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(total, gate(2.0) @ k, rtol=1e-5, atol=1e-6)
    all = x.sum()
    np.testing.assert_allclose(scaled, (all / 2 if all > 0 else np.expm1(all)) + x[:, 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fixed, gate(k[2])[:, 1] + gate(k[0] + 1)[0, 0], rtol=1e-5, atol=1e-6)
    assert table.tolist() == np.gcd(a[:, None], np.arange(1, 5)).tolist()
    np.testing.assert_allclose(dx, np.where(x > 0, k, np.exp(x)) + np.where(x > 0, 2, np.exp(x)) * k, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dk, (np.where(x > 0, x, 0) + gate(2.0)).sum(0), rtol=1e-5, atol=1e-6)


# calls that are refused, and what the error says
REFUSED = [
    ("if x[i] > 0.0 { half(x[i]) } else { 0.0 }", "1:42: error: index notation calls no functions in a branch: put the condition into the function"),
    ("half(x = x[i])", "1:31: error: index notation calls functions without the names of their parameters"),
    ("pair(x[i])", "1:26: error: an element of `y`: expected e, found (f32, f32)"),
    ("most(x[i])", "1:26: error: an element of `y`"),
]


@pytest.mark.parametrize("element, why", REFUSED)
def test_calls_that_are_refused(element, why, tmp_path):
    (tmp_path / "a.wick").write_text(f"op o(x: f32[n]) {{ y[i] = {element} }}\nfn half(x: f32) -> f32 {{ x / 2.0 }}\n"
                                     "fn pair(x: f32) { (x, x) }\nfn most(x: f32) { [x, 1.0] }\nfn main(x: f32[3]) { o(x) }\n")
    r = subprocess.run([WICK, "compile", "a.wick", "--emit", "graph"], capture_output=True, text=True, cwd=tmp_path)
    assert r.returncode == 1 and why in r.stderr, r.stderr
