"""What the functions of programs/*.wick give, by NumPy and SciPy."""

import numpy as np
import scipy.integrate
import scipy.optimize
from abstract import ABSTRACT
from composed import COMPOSED
from containers import LIBRARY
from library_numbers import LIBRARY_NUMBERS
from models import FORMULAS, LEARNING
from pullbacks import PULLBACKS
from varied import VARIED

# ---- sizes ----


def slope_of(f, x, h=1e-30):
    """The gradient, by complex steps."""
    x = np.array(x, float)
    steps = np.eye(x.size).reshape(-1, *x.shape) * 1j * h
    return np.array([np.imag(f(x + s)) / h for s in steps]).reshape(x.shape)


def determinant(a):
    """By its first row, also of complex numbers."""
    if len(a) == 1:
        return a[0, 0]
    return sum((-1) ** j * a[0, j] * determinant(np.delete(a[1:], j, 1)) for j in range(len(a)))


def halves():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    return x[:2], x[2:], x.reshape(2, 2), x[1:2], x[1:2]


def windows():
    x = 2.0 ** np.arange(6)
    return sum(x[2 * i] * x[i * i + 1] + x[i] + x[i + 2] for i in range(2))


def determinants():
    a = np.array([[2.0, 1.0, 3.0, 0.5], [0.0, -1.0, 4.0, 1.0], [1.0, 2.0, 5.0, -2.0], [3.0, 0.0, 1.0, 1.0]])
    return np.linalg.det(a), np.linalg.det(a) * np.linalg.inv(a).T


def prefixes(x):
    return sum(x[j:i].sum() * x[:i].sum() for i in range(3) for j in range(i))


def transformed():
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 0.0, 1.0, 5.0])
    g = slope_of(prefixes, x)
    return prefixes(x), g, [prefixes(x), prefixes(y)], prefixes(x), g @ [1.0, 0.0, 1.0, 0.0]


def halved():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    return sum(x[:h].sum() * x[h:].sum() + x[h:].sum() for h in (3, 2, 1))


def triangle():
    a = np.array([[1.0, 0.0, 0.0], [2.0, 3.0, 0.0], [4.0, 5.0, 6.0]])
    a[1, :1] *= 2
    a[2, :2] *= 2
    return a


def attended(x, steps):
    keys = [x]
    for i in range(6):
        k = np.array(keys)
        p = np.exp(k @ x)
        y = p / p.sum() @ k
        x = np.tanh(steps @ y + 0.1 * i)
        keys.append(y)
    return np.sum(np.array(keys) ** 2)


def grown():
    x, w = np.array([0.3, -0.2, 0.5]), np.array([[1.0, 0.2, 0.0], [0.5, -1.0, 0.3], [0.0, 0.4, 0.8]])
    slopes = slope_of(lambda x: attended(x, w), x), slope_of(lambda w: attended(x, w), w)
    return attended(x, w), *slopes, [attended(x, w), attended(-x, w)]


# ---- solvers ----

A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])


def conjugate():
    return np.linalg.solve(A, [1.0, 2.0, 3.0]), 3


def energy(x):
    return np.sum(x**4) * 0.25 + 0.5 * np.sum((x[1:] - x[:-1]) ** 2) - x[0]


def least():
    return scipy.optimize.minimize(energy, [0.5] * 4, tol=1e-12, jac=lambda x: slope_of(energy, x)).x


def gauss_newton():
    t, y = np.arange(8) * 0.5, np.array([3.02, 2.12, 1.55, 1.17, 0.93, 0.79, 0.7, 0.63])
    return scipy.optimize.least_squares(lambda p: p[0] * np.exp(-p[1] * t) + p[2] - y, [2.0, 0.5, 0.0], xtol=1e-14, ftol=1e-14, gtol=1e-14).x


def fixed(a):
    return scipy.optimize.brentq(lambda x: x - np.cos(a * x), 0, 1, xtol=1e-15)


def fixed_slope(a):
    x = fixed(a)
    return -np.sin(a * x) * x / (1 + a * np.sin(a * x))


def implicit():
    y = fixed(0.64)
    return fixed(0.9), fixed_slope(0.9), 2 * y * fixed_slope(0.64) * 1.6, [fixed_slope(a) for a in (0.1, 0.5, 0.9)]


def implicit_linear():
    a, b = np.array([[2.0, 1.0, 0.0], [5.0, 3.0, 1.0], [0.0, 1.0, 2.5]]), np.array([1.0, 2.0, 3.0])
    x = np.linalg.solve(a, b)
    u = np.linalg.solve(a.T, 2 * x)
    return 2 * (x @ x, -np.outer(u, x), u)


def lotka(p, y0, rtol=1e-11):
    def f(t, y):
        return [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]

    return scipy.integrate.solve_ivp(f, (0, 3), y0, rtol=rtol, atol=1e-12).y[:, -1]


def differences(f, x, h=1e-4):
    return np.array([(8 * (f(x + h * e) - f(x - h * e)) - f(x + 2 * h * e) + f(x - 2 * h * e)) / (12 * h) for e in np.eye(len(x))])


P, Y0 = np.array([1.5, 1.0, 1.0, 3.0]), np.array([1.0, 1.0])


def adaptive_gradient():
    return (lotka(P, Y0) @ [1, 2], differences(lambda p: lotka(p, Y0) @ [1, 2], P), differences(lambda y: lotka(P, y) @ [1, 2], Y0))


def hessian():
    x = np.array([0.1, 0.2, 0.3, 0.4])
    return np.diag(3 * x * x) + np.diag([1.0, 2, 2, 1]) - np.eye(4, k=1) - np.eye(4, k=-1)


def per_example():
    w, x, y = np.array([0.1, 0.2, 0.3]), np.array([[1.0, 2.0, 3.0], [0.5, 0.1, 0.2]]), np.array([1.0, -1.0])
    return 2 * (x @ w - y)[:, None] * x


# ---- structures ----


def black_tree():
    return 1000, sum({i * 7919 % 1009 for i in range(1000)}), 13, 8


def chained():
    def ends(k):
        l = [2.0, 3.0]

        def link(level, k):
            if level:
                link(level - 1, k)
                link(level - 1, k * 0.5)
            else:
                l[:] = [l[0] * k + l[1] / (1 + l[0] * l[0]), l[1] + k]

        link(5, k)
        return l[0] * l[0] + l[1] * l[1]

    y, h = ends(0.9), 1e-20
    dy = ends(0.9 + 1j * h).imag / h
    dd = (ends(0.9 + 1e-6 + 1j * h).imag - ends(0.9 - 1e-6 + 1j * h).imag) / h / 2e-6
    return y, dy, y, 2 * dy, dd


def chosen():
    jacobian = np.zeros((4, 2))
    jacobian[2, 0] = jacobian[3, 1] = 1
    return np.array([[5.0, 3.0], [7.0, 6.0]]), np.array([0, 5.0, 0, 3.0]), jacobian, np.array([3.0])


def common(a, b):
    t = np.zeros((len(a) + 1, len(b) + 1), int)
    for i, j in np.ndindex(len(a), len(b)):
        t[i + 1, j + 1] = t[i, j] + 1 if a[i] == b[j] else max(t[i, j + 1], t[i + 1, j])
    return t[-1, -1]


def knapsack():
    w, v = [3, 4, 5, 9, 4], [3, 4, 4, 10, 4]
    picks = [[i for i in range(5) if m >> i & 1] for m in range(32)]
    return max(sum(v[i] for i in p) for p in picks if sum(w[i] for i in p) <= 11)


def distances():
    near, dist = {i: (3 * i + 1) % 10 for i in range(10)}, np.full(10, -1)
    at, n = 0, 0
    while dist[at] < 0:
        dist[at], at, n = n, near[at], n + 1
    return dist


def paths():
    i = np.arange(6)
    x = (i[:, None] * 7 + i * 3) % 11
    w = np.where(x > 6, 1e9, x) * (i[:, None] != i)
    d = w.copy()
    for k in range(6):
        d = np.minimum(d, d[:, k : k + 1] + d[k])
    return d[0], d


def pagerank():
    a = np.array([[0.0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 1, 0]])
    m = 0.15 / 4 + 0.85 * a / a.sum(1, keepdims=True)
    w, v = np.linalg.eig(m.T)
    v = np.real(v[:, np.argmax(np.real(w))])
    return v / v.sum()


def fourier():
    y = np.fft.fft([1.0, 2.0, 3.0, 4.0, -1.0, 0.5, 0.25, 0.125])
    return y.real, y.imag


def polynomials():
    p = np.polynomial.Polynomial([1, 2, 3]) * np.polynomial.Polynomial([-1, 1]) ** 2
    return int(p(2)), int(p(-3)), 5


# ---- functional ----


def collatz(n):
    return 0 if n == 1 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)


def sums():
    c, d, e, f = 1, np.float16(1), 1.0, 1.0
    b = 0
    for i in range(10):
        b = (3 * b + i) % 65536
        c = (c * 6364136223846793005 + 1442695040888963407) % 2**64
        d = np.float16(np.float16(d / np.float16(3)) + np.float16(1))
        bits = np.array(e * 1.5, np.float32).view(np.uint32)  # rounded to bf16
        e = float(((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32))
        f = f / 3 + 1
    return -124, b, np.uint64(c), d, e, f


def mixed():
    x, y = np.array([1, 2, 250, 255], np.uint8), np.array([1, -2, 100, -128], np.int8)
    return x + x, y + y, x * x, y * y, np.uint8(252), np.int8(-29), np.uint8(255), x > 100, x.astype(np.float16) / np.float16(3)


def nested():
    xs = np.array([[1.0, 2.0, 3.0, 4.0], [0.1, 0.2, 0.3, 0.4], [5.0, 6.0, 7.0, 8.0]])
    ys, a = np.array([[1.0, 10.0], [2.0, 20.0]]), np.array([0.0, 0.5, 1.0, 1.5])
    return xs.sum(0)[:, None, None] * ys + a[:, None, None], np.repeat(ys.sum(1)[:, None], 3, 1)


def through():
    return 1.1**10, 10 * 1.1**9, 160.0, [1.5**n for n in (0, 1, 5, 9)], 7 * 1.2**6, 42 * 1.2**5


def leaves(d, x):
    return [x] if d == 0 else leaves(d - 1, x * 0.5) + leaves(d - 1, x + 1)


def tree_slope():
    def f(x):
        v = leaves(4, x)
        while len(v) > 1:
            v = [np.tanh(a * 0.5 + b) for a, b in zip(v[::2], v[1::2])]
        return np.sum(v[0] ** 2)

    x = np.array([0.3, -0.4])
    return f(x), slope_of(f, x)


def tree_rows():
    def f(x):
        v = leaves(3, x)
        while len(v) > 1:
            v = [a * 0.9 + b for a, b in zip(v[::2], v[1::2])]
        return np.sum(v[0])

    return [f(np.array(x)) for x in ([1.0, 2.0], [0.0, 0.5], [-1.0, 3.0])]


def tree_sums():
    v = np.array(leaves(6, np.array([1.0, 2.0])))
    return v.sum(0), v.max(0), v.sum()


def unions():
    parent = list(range(12))

    def root(i):
        return i if parent[i] == i else root(parent[i])

    for a, b in ((0, 1), (2, 3), (1, 3), *((i + 4, i * 3 % 5 + 4) for i in range(4))):
        parent[root(a)] = root(b)
    return root(0) == root(2), root(5) == root(11), root(4) == root(6), np.array(parent)


def hanoi(n, a, b, c):
    return 0 if n == 0 else hanoi(n - 1, a, c, b) * 3 % 1000003 + a * 2 + b + hanoi(n - 1, c, b, a)


def female(n):
    return 1 if n == 0 else n - male(female(n - 1))


def male(n):
    return 0 if n == 0 else n - female(male(n - 1))


def sudoku():
    return True, np.array([[1, 3, 2, 4], [4, 2, 3, 1], [2, 4, 1, 3], [3, 1, 4, 2]])


def optimized():
    p = np.array([3.0, -1.0])
    return 1 + (p - 1) * 0.8**5, p * 0.6**5


def batches():
    xs, ws, y = np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([1.0, 2, 3])
    g = 2 * (ws @ xs.T - y)[:, :, None] * xs
    return g, g.sum(1)


def checkpointed():
    def f(x):
        for _ in range(4):
            x = np.sin(x) * 1.5
        return x

    return np.imag(f(0.7 + 1e-30j)) / 1e-30


# ---- terms ----


def four_times(x):
    """The term doubles a function twice: y * x + 1 is applied four times."""
    y = 0.5
    for _ in range(4):
        y = y * x + 1
    return y


def lambda_terms():
    slopes = [slope_of(four_times, x) for x in (0.7, 0.1, 0.2)]
    return four_times(0.7), slopes[0], np.array(slopes[1:])


def quad(n, x):
    if n == 0:
        return np.array([[x, 1.0], [0.5, x * x]])
    right = quad(n - 1, x * 0.1)
    return np.block([[quad(n - 1, x), right], [np.zeros_like(right), quad(n - 1, np.sin(x))]])


def cube(x):
    q = quad(3, complex(x))
    return np.trace(q @ q @ q)


def quads():
    return cube(0.7).real, slope_of(cube, 0.7)


FUNCTIONAL = {
    "wrap": lambda: (np.uint8(44), np.int8(-56), np.int8(-128), np.uint16(14464), 2147483647, np.uint64(2**64 - 1), 3, -3, 2),
    "bits": lambda: collatz(27), "sums": sums, "ranged": lambda: 753, "mixed": mixed, "fact32": lambda: 1932053504,
    "vsteps": lambda: np.array([collatz(n) for n in range(1, 21)]), "nested": nested, "through": through,
    "roots": lambda: (2**0.5, 0.7390851332151607, np.log(3)), "treesum": tree_sums, "treegrad": tree_slope, "treevmap": tree_rows,
    "primes": lambda: np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29]), "bounced": lambda: (1, 0), "ycombinator": lambda: 3628800,
    "cps": lambda: 60, "union_find": unions, "machine": lambda: (13.0, -1.0, 32.0), "towers": lambda: hanoi(12, 1, 2, 3),
    "seqs": lambda: (female(30), male(30)), "perms": lambda: 360, "sudoku": sudoku, "structs_of_functions": optimized,
    "pick": lambda: (np.array([1.0, 2.0]) * 0.8**5, [0.0, 0.0]), "curried": lambda: (7, -7, 2.5),
    "fixpoints": lambda: (0.7390851332151607, 2**0.5), "fibs": lambda: np.array([[20365011074, 12586269025], [12586269025, 7778742049]]),
    "tuples": lambda: (1.0, np.array([1, 2]), 2.0, np.array([3, 4]), 0.0, np.array([0, 0])), "negative": lambda: 1, "shadows": lambda: 25,
    "nested_vmap_grad": batches, "third": lambda: 60 * 1.5**2 - np.cos(1.5),
    "mixed_modes": lambda: (3 * np.exp(2), 4 * np.exp(2), 12.0, -np.sin(0.5)), "checkpointed": checkpointed, "vmap_closure": lambda: [2.0, 20.0, 4.0],
}  # fmt: skip

STRUCTURES = {
    "quickselect": lambda: (26, 53, 97, -1), "redblack": black_tree, "chained": chained, "heapsort": lambda: np.array(sorted(i * 37 % 23 for i in range(20))),
    "lcs_main": lambda: common([1, 3, 5, 7, 9, 2, 4], [3, 9, 5, 7, 2, 2, 4, 1]), "knapsack": knapsack, "coins_main": lambda: 242,
    "bfs_main": distances, "paths": paths, "pagerank": pagerank, "fft_main": fourier, "polynomials": polynomials,
}  # fmt: skip

MIXED = {
    "by_numbers": lambda: (20, 20, 30, 20, 20), "gives_numbers": lambda: (9, 3, 12, 72), "by_references": lambda: (6, 2, 6, 12),
    "by_structs": lambda: (6, 0.9, 3, np.tanh(0.75), 2 * 0.5 / np.cosh(0.75) ** 2, 2 * 1.5 / np.cosh(0.75) ** 2),
    "by_choices": None, "of_second_order": None, "by_trees": None,
}  # fmt: skip


def static_lists():
    n = np.arange(6.0)
    passed = n.reshape(2, 3), np.zeros((2, 2)), n.reshape(3, 2), np.zeros(3)
    return *passed, np.ones((3, 1)), 5, 6, 6, [5, 6], 6, np.zeros(3), np.zeros((2, 1, 2))


def static_sums():
    rows = np.tile([1.0, 2.0, 3.0], (6, 1))
    return rows, rows, np.arange(12.0).reshape(3, 2, 2).transpose(1, 0, 2)


FILES = {
    "sizes": {"static_sums": static_sums, "static_lists": static_lists, "centres": lambda: (1.0 + 16.0 + 2.0, 3.0), "named": halves, "windows": windows, "determinants": determinants, "transformed": transformed, "halved": halved, "triangle": triangle, "chosen": chosen, "open": lambda: (17.0, [1.0, 2.0, 4.0]), "grown": grown},
    "solvers": {
        "cg64": conjugate, "cg32": conjugate, "newton_cg": least, "nonlinear_cg": lambda: (least(), energy(least())), "gauss_newton": gauss_newton,
        "implicit": implicit, "implicit_linear": implicit_linear, "adaptive": lambda: lotka(P, Y0), "adaptive_gradient": adaptive_gradient,
        "hessian": hessian, "per_example": per_example,
    },
    "structures": STRUCTURES,
    "mixed": MIXED,
    "abstract": ABSTRACT,
    "functional": FUNCTIONAL,
    "formulas": FORMULAS,
    "learning": LEARNING,
    "library": LIBRARY,
    "library_numbers": LIBRARY_NUMBERS,
    "pullbacks": PULLBACKS,
    "varied": VARIED,
    **COMPOSED,
    "terms": {"lambda_terms": lambda_terms, "quads": quads},
}  # fmt: skip
