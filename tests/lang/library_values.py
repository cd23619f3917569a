"""Rows for the library's matrices, optimizers, first values and containers, and the distributions of its random values."""

import math

import numpy as np
from library_layers import Row, apart, positive, some

MATRICES = {
    "identity": Row("linalg.identity(a)", {"a": some(3, 3)}, lambda a: np.eye(3) + 0 * a),
    "log_determinant": Row("linalg.log_determinant(a + transpose(a, perm = (1, 0)))", {"a": positive(3)}, lambda a: np.linalg.slogdet(a + a.T)[1]),
    "diagonal": Row("linalg.diagonal(a)", {"a": some(3, 3)}, lambda a: np.diagonal(a).copy()),
    "trace": Row("linalg.trace(a)", {"a": some(3, 3)}, np.trace),
    "outer": Row("linalg.outer(x, y)", {"x": some(3), "y": some(2)}, lambda x, y: np.outer(x, y)),
    "kronecker": Row("linalg.kronecker(a, b)", {"a": some(2, 3), "b": some(2, 2)}, np.kron),
    "least_squares": Row("linalg.least_squares(a, b)", {"a": some(5, 3), "b": some(5, 2)}, lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]),
    "power": Row("linalg.power(a, 5)", {"a": some(3, 3)}, lambda a: np.linalg.matrix_power(a, 5)),
    "power0": Row("linalg.power(a, 0)", {"a": some(3, 3)}, lambda a: np.eye(3) + 0 * a),
    "exponential": Row("linalg.exponential(a)", {"a": 2 * some(3, 3)}, lambda a: taylor(a)),
}


def taylor(a):
    """exp(a) by 60 terms of its series."""
    y = np.eye(len(a))
    for k in range(60, 0, -1):
        y = np.eye(len(a)) + a @ y / k
    return y


# ---- optimizers ----

W3 = {"w": some(3), "g": some(3)}
MOMENTS = "optim.Moments(first = m, second = v, power1 = 0.81, power2 = 0.9801)"
KEPT = {"m": some(3), "v": some(3, low=0.1)}


def direction(w, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return m / (1 - 0.9**3) / (np.sqrt(v / (1 - 0.99**3)) + 1e-8)


def lamb(w, g, m, v):
    d = direction(w, g, m, v) + 0.05 * w
    return w - 0.1 * d * np.linalg.norm(w) / np.linalg.norm(d)


def adadelta(w, g, v, u):
    v = 0.9 * v + 0.1 * g * g
    d = g * np.sqrt(u + 1e-3) / np.sqrt(v + 1e-3)
    return w - 0.5 * d, v, 0.9 * u + 0.1 * d * d


STEP = {"step": np.array(37.0), "rate": np.array(0.2)}

STEPS = {
    "zeros": Row("{ let (a, b) = optim.zeros((w, g)); a + b }", W3, lambda w, g: 0 * w * g),
    "moments": Row("{ let m = optim.moments(w, 1.0); m.first + m.second + m.power1 * w }", {"w": some(3)}, lambda w: 1.0 * w),
    "adamw": Row(f"optim.adamw(w, g, {MOMENTS}, 0.1, 0.9, 0.99, 1e-8, 0.05).0", W3 | KEPT, lambda w, g, m, v: w - 0.1 * (direction(w, g, m, v) + 0.05 * w)),
    "lamb": Row(f"optim.lamb(w, g, {MOMENTS}, 0.1, 0.9, 0.99, 1e-8, 0.05).0", W3 | KEPT, lamb),
    "clip_elements": Row("optim.clip_elements(g, 0.42)", {"g": apart(6)}, lambda g: np.clip(g, -0.42, 0.42)),
    "adadelta": Row(
        "{ let (a, (b, c)) = optim.adadelta(w, g, (v, u), 0.5, 0.9, 1e-3)\n(a, b, c) }", W3 | {"v": some(3, low=0.1), "u": some(3, low=0.1)}, adadelta, count=3,
    ),
    "lion": Row(
        "optim.lion(w, g, v, 0.1, 0.9, 0.99, 0.05)", {"w": some(3), "g": apart(3) * 10, "v": apart(3)},
        lambda w, g, v: (w - 0.1 * (np.sign(0.9 * v + 0.1 * g) + 0.05 * w), 0.99 * v + 0.01 * g), count=2,
    ),
    "decayed": Row("optim.decayed(w, g, 0.3)", W3, lambda w, g: g + 0.3 * w),
    "averaged": Row("optim.averaged(w, g, 0.9)", W3, lambda w, g: 0.9 * w + 0.1 * g),
    "warm_linear": Row("optim.warm_linear(step, 10.0, 100.0, rate)", STEP, lambda step, rate: rate * (100 - step) / 90),
    "warming": Row("optim.warm_linear(step, 50.0, 100.0, rate)", STEP, lambda step, rate: rate * step / 50),
    "inverse_root": Row("optim.inverse_root(step, 10.0, rate)", STEP, lambda step, rate: rate * np.sqrt(10 / step)),
    "polynomial": Row("optim.polynomial(step, 100.0, 2.0, rate, 0.05)", STEP, lambda step, rate: 0.05 + (rate - 0.05) * (1 - step / 100) ** 2),
    "stairs": Row("optim.stairs(step, 0.5, 10.0, rate)", STEP, lambda step, rate: rate * 0.125 + 0 * step),
}  # fmt: skip

# ---- containers of numbers, and what is done again and again ----

ROWS = {"x": some(4, 3)}
L = "list.from_rows(x)"
SUM = "fn(s, r) { s + r }"


def digest(rows):
    """The last row plus half of the digest of those before it."""
    s = np.zeros_like(rows[0])
    for r in rows:
        s = 0.5 * s + r
    return s


def folded(text):
    return f"list.fold(fn(s, r) {{ 0.5 * s + r }}, 0.0 * x[0], {text})"


CONTAINERS = {
    "scan": Row(folded(f"list.scan(fn(s, r) {{ s * r }}, x[0], {L})"), ROWS, lambda x: digest([*(x[0] * np.cumprod(x, 0))])),
    "fold_right": Row(f"list.fold_right(fn(r, s) {{ r * (1.0 + s) }}, {L}, x[0])", ROWS, lambda x: x[0] * (1 + x[1] * (1 + x[2] * (1 + x[3] * (1 + x[0]))))),
    "map_index": Row(folded(f"list.map_index(fn(i, r) {{ r * x[3 - i] }}, {L})"), ROWS, lambda x: digest(x * x[::-1])),
    "append": Row(folded(f"list.append(list.reverse({L}), list.take({L}, 2))"), ROWS, lambda x: digest([*x[::-1], *x[:2]])),
    "flat_map": Row(folded(f"list.flat_map(fn(r) {{ Cons(r, Cons(r * r, Nil)) }}, list.drop({L}, 2))"), ROWS, lambda x: digest([x[2], x[2] ** 2, x[3], x[3] ** 2])),
    "filter": Row(folded(f"list.filter(fn(r) {{ r[0] > 0.0 }}, {L})"), {"x": apart(4, 3)}, lambda x: digest(x[x[:, 0] > 0])),
    "reduce": Row(f"option.or_else(list.reduce(fn(a, b) {{ a * b }}, {L}), x[0])", ROWS, lambda x: x.prod(0)),
    "unzip": Row(f"{{ let (a, b) = list.unzip(list.zip({L}, list.reverse({L})))\n{folded('a')} * {folded('b')} }}", ROWS, lambda x: digest(x) * digest(x[::-1])),
    "update": Row(folded(f"list.update({L}, 1, x[0] * x[2])"), ROWS, lambda x: digest([x[0], x[0] * x[2], x[2], x[3]])),
    "nth": Row(f"option.or_else(list.nth({L}, 2), x[0]) * option.or_else(list.last({L}), x[0])", ROWS, lambda x: x[2] * x[3]),
    "map_state": Row(f"{{ let (s, l) = list.map_state(fn(s, r) {{ (s + r, s * r) }}, x[0], {L})\ns + {folded('l')} }}", ROWS,
                     lambda x: x[0] + x.sum(0) + digest([(x[0] + x[:i].sum(0)) * x[i] for i in range(4)])),
    "unfold": Row(folded("list.unfold(fn(s) { if s.1 == 0 { None } else { Some((s.0 * s.0, (s.0 * 0.9, s.1 - 1))) } }, (x[0], 3))"), ROWS,
                  lambda x: digest([(x[0] * 0.9**i) ** 2 for i in range(3)])),
    "chunks": Row(folded(f"list.map(fn(l) {{ list.fold({SUM}, 0.0 * x[0], l) * x[0] }}, list.chunks({L}, 3))"), ROWS, lambda x: digest([x[:3].sum(0) * x[0], x[3] * x[0]])),
    "to_rows": Row(f"list.to_rows(list.map(fn(r) {{ r * r[0] }}, {L}), x)", ROWS, lambda x: x * x[:, :1]),
    "array_map": Row(folded(f"array.to_list(array.map(fn(r) {{ sin(r) }}, array.from_list({L})))"), ROWS, lambda x: digest(np.sin(x))),
    "array_set": Row("array.fold(fn(s, r) { 0.5 * s + r }, 0.0 * x[0], array.push(array.set(array.from_list(list.from_rows(x)), 2, x[0] * x[1]), x[3] * x[3]))",
                     ROWS, lambda x: digest([x[0], x[1], x[0] * x[1], x[3], x[3] ** 2])),
    "array_zip": Row("array.fold(fn(s, r) { 0.5 * s + r }, 0.0 * x[0], array.zip_with(fn(a, b) { a * b }, array.from_list(list.from_rows(x)), array.reverse(array.from_list(list.from_rows(x)))))",
                     ROWS, lambda x: digest(x * x[::-1])),
    "array_sort": Row("array.fold(fn(s, r) { 0.5 * s + r }, 0.0, array.sort(fn(a, b) { a < b }, array.slice(array.from_list(list.from_rows(x)), 1, 5)))", {"x": apart(6)},
                      lambda x: digest(list(np.sort(x[1:5])))),
    "tree": Row("tree.fold(fn(v, below) { list.fold(fn(s, t) { s + sin(t) }, v, below) }, tree.map(fn(v) { v * v }, Rose(x[0], Cons(Rose(x[1], Nil), Cons(Rose(x[2], Nil), Nil)))))",
                ROWS, lambda x: x[0] ** 2 + np.sin(x[1] ** 2) + np.sin(x[2] ** 2)),
    "option": Row("option.or_else(option.map(fn(r) { r * x[1] }, option.filter(fn(r) { r[0] > -9.0 }, Some(x[0]))), x[2])", ROWS, lambda x: x[0] * x[1]),
    "orbit": Row(folded("iteration.orbit(fn(y) { 0.5 * y * y }, 3, x[0])"), ROWS, lambda x: digest(orbit(x[0]))),
    "until": Row("iteration.until(fn(y) { sum(y) > 20.0 }, fn(y) { 1.5 * y + 0.1 }, 1.0 + x[0] * x[0])", ROWS, lambda x: until(1 + x[0] ** 2)),
    "fixpoint": Row("iteration.fixpoint(fn(y) { 0.5 * sin(y) + x[0] }, fn(a, b) { maximum(abs(a - b)) < 1e-14 }, 60, x[0]).0", ROWS, lambda x: fixpoint(x[0])),
}  # fmt: skip


def orbit(y):
    out = [y]
    for _ in range(2):
        out.append(0.5 * out[-1] ** 2)
    return out


def until(y):
    while y.sum() <= 20:
        y = 1.5 * y + 0.1
    return y


def fixpoint(x):
    y = x
    for _ in range(60):
        y = 0.5 * np.sin(y) + x
    return y


VALUES = {"matrices": MATRICES, "steps": STEPS, "containers": CONTAINERS}

# ---- random values: a call with the key 7, and the distribution function ----


def phi(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def integral(density, low):
    """The distribution function of a density, by the trapezoidal rule from `low` on."""

    def of(x):
        at = np.linspace(low, x.max(), 400001)
        d = density(at)
        sums = np.concatenate([[0], np.cumsum((d[1:] + d[:-1]) / 2 * (at[1] - at[0]))])
        return np.interp(x, at, sums)

    return of


def gamma(k):
    return integral(lambda t: t ** (k - 1) * np.exp(-t) / math.gamma(k), 1e-12)


BOUND = math.sqrt(6 / (300 + 200))

DRAWS = {
    "random.uniform(7, x, -1.0, 3.0)": lambda v: (v + 1) / 4,
    "random.normal(7, x)": phi,
    "random.exponential(7, x)": lambda v: 1 - np.exp(-v),
    "random.gumbel(7, x)": lambda v: np.exp(-np.exp(-v)),
    "random.laplace(7, x)": lambda v: np.where(v < 0, np.exp(np.minimum(v, 0)) / 2, 1 - np.exp(-np.maximum(v, 0)) / 2),
    "random.logistic(7, x)": lambda v: 1 / (1 + np.exp(-v)),
    "random.cauchy(7, x)": lambda v: 0.5 + np.arctan(v) / np.pi,
    "random.lognormal(7, x, 0.5)": lambda v: phi(np.log(v) / 0.5),
    "random.weibull(7, x, 1.7)": lambda v: 1 - np.exp(-(v**1.7)),
    "random.pareto(7, x, 2.5)": lambda v: 1 - v**-2.5,
    "random.gamma(7, 0.0 * x + 2.5)": gamma(2.5),
    "random.gamma(7, 0.0 * x + 1.0)": lambda v: 1 - np.exp(-v),
    "random.gamma(7, 0.0 * x + 0.5)": lambda v: np.vectorize(math.erf)(np.sqrt(v)),
    "random.beta(7, 0.0 * x + 2.0, 0.0 * x + 3.0)": lambda v: 6 * v**2 - 8 * v**3 + 3 * v**4,
    "random.dirichlet(7, broadcast_to((1.0: f64), shape = (20000, 3)))[:, 1]": lambda v: 1 - (1 - v) ** 2,
    "random.geometric(7, x, 0.3) + random.uniform(8, x, 0.0, 1.0)": lambda v: 1 - 0.7 ** np.floor(v) * (1 - 0.3 * (v - np.floor(v))),
    "f64(random.integers(7, i64(0.0 * x), -2, 5)) + random.uniform(8, x, 0.0, 1.0)": lambda v: (v + 2) / 7,
    "random.rademacher(7, x) + random.uniform(8, x, 0.0, 1.0)": lambda v: np.where(v < 1, np.minimum(v + 1, 1) / 2, 0.5 + (v - 1) / 2),
    "where(random.bernoulli(7, x, 0.3), 1.0, 0.0) + random.uniform(8, x, 0.0, 1.0)": lambda v: np.where(v < 1, 0.7 * v, 0.7 + 0.3 * (v - 1)),
    "random.shuffle(7, x + f64(range(0, 1, count = (20000,))))": lambda v: (v + 0.5) / 20000,
    "random.multivariate_normal(7, x[:500] + 1.0, linalg.identity(broadcast_to((1.0: f64), shape = (500, 500))) * 4.0)": lambda v: phi((v - 1) / 2),
    "vmap(fn(k) { random.choice(k, x + f64(range(0, 1, count = (20000,)))) })(u64(range(0, 1, count = (4000,))))": lambda v: (v + 0.5) / 20000,
    "random.dropout(7, 0.25, x + 1.0) + random.uniform(8, x, 0.0, 1.0)": lambda v: np.where(v < 4 / 3, 0.25 * np.minimum(v, 1), 0.25 + 0.75 * (v - 4 / 3)),
    "init.normal(7, x, 1.0, 2.0)": lambda v: phi((v - 1) / 2),
    "init.glorot_uniform(7, x, 300, 200)": lambda v: (v / BOUND + 1) / 2,
    "init.glorot_normal(7, x, 300, 200) / sqrt(2.0 / 500.0)": phi,
    "init.he_uniform(7, x, 300)": lambda v: (v / math.sqrt(6 / 300) + 1) / 2,
    "init.he_normal(7, x, 300) / sqrt(2.0 / 300.0)": phi,
    "init.lecun_normal(7, x, 300) / sqrt(1.0 / 300.0)": phi,
}  # fmt: skip
# Functions that other rows, programs or the module's examples check, and why no derivative is compared.
ELSEWHERE = {
    "init.zeros", "init.ones", "init.orthogonal", "init.truncated_normal", "nn.new_dense", "nn.new_filter", "nn.new_batch_norm",  # programs/library_numbers.wick
    "random.split", "random.categorical", "random.permutation",  # whole numbers: programs/library_numbers.wick
}  # fmt: skip
