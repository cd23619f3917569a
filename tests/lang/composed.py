"""What the functions of collections, machines, estimation and nested give, by NumPy."""

import functools
import heapq

import numpy as np

# ---- collections ----

KEYS = [i * 7919 % 1009 for i in range(300)]


def deleted():
    left, h = set(KEYS) - {i * 2 * 7919 % 1009 for i in range(150)}, 7
    for x in sorted(left):
        h = (h * 31 + x) % 1000003
    return True, True, len(set(KEYS)), sum(left), 0, h


def paired():
    left = {(i % 7, i * i % 11 * 0.5) for i in range(50)} - {(3, 0.5)}
    return sum(p[1] for p in left), sum(p[0] for p in left), len(left)


def dijkstra():
    far, heap = np.full(20, -1.0), [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if far[u] < 0:
            far[u] = d
            for k in range(4):
                heapq.heappush(heap, (d + 1 + (u * k + 3) % 7, (u * 3 + k * 5 + 1) % 20))
    return far


def huffman():
    w = [45, 13, 12, 16, 9, 5]
    cost, heap = 0, list(w)
    heapq.heapify(heap)
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        cost += both
        heapq.heappush(heap, both)
    return 100, cost, [2, 13, 12, 15, 29, 28]


def kruskal():
    edges = sorted((k * 37 % 41, k % 10, (k * 7 + 3) % 10) for k in range(45) if k % 10 != (k * 7 + 3) % 10)
    part, total, n = list(range(10)), 0.0, 0
    for d, i, j in edges:
        if part[i] != part[j]:
            part = [part[j] if p == part[i] else p for p in part]
            total, n = total + d, n + 1
    return total, n


def slope(f, x):
    """The gradient, by complex steps."""
    x = np.array(x, float)
    steps = np.eye(x.size).reshape(-1, *x.shape) * 1e-30j
    return np.array([np.imag(f(x + s)) / 1e-30 for s in steps]).reshape(x.shape)


def segment(x):
    y = np.array(x)
    y[2:7] += x[0] * x[1]
    y[:-1] += x[3]
    return y[1:6].sum() * y[5:].sum()


def segments():
    x = np.array([1.0, -2.0, 3.0, 0.5, 1.5, 2.5, -1.0, 4.0, 0.25, -0.75, 2.0])
    return segment(x), slope(segment, x), [slope(segment, x), slope(segment, 2 * x)], slope_along(segment, x)


def slope_along(f, x, h=1e-4):
    """The derivative of the gradient in the direction of x."""
    return (slope(f, x + h * x) - slope(f, x - h * x)) / (2 * h)


def survivor(n, k):
    circle, at = list(range(1, n + 1)), 0
    while len(circle) > 1:
        at = (at + k - 1) % len(circle)
        circle.pop(at)
    return circle[0]


COLLECTIONS = {
    "deleted": deleted, "paired": paired, "dijkstra": dijkstra, "kruskal": kruskal, "segments": segments,
    "queues": lambda: (survivor(41, 3), survivor(10, 2), 1), "huffman": huffman, "zippers": None,
}  # fmt: skip

# ---- machines ----


def distance(a, b):
    seen = set()

    @functools.cache
    def d(i, j):
        if i == 0 or j == 0:
            return i + j
        seen.add((i, j))
        return min(d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

    return d(len(a), len(b)), len(seen)


SUDOKU = "534678912 672195348 198342567 859761423 426853791 713924856 961537284 287419635 345286179"

MACHINES = {
    "sudoku": lambda: np.array([[int(c) for c in row] for row in SUDOKU.split()]),
    "regex": lambda: (True, False, True, False, True),
    "machine": lambda: ([9, 10, 0, 0], 15, [0, 3628800, 0, 0], 117),
    "interpreted": lambda: (2 * 1.3**5, 10 * 1.3**4, 40 * 1.3**3, [10.0, 10 * 1.3**4, 160.0], 10 * 1.3**4, 80 * 1.3**3),
    "distances": lambda: (*distance(b"kitten", b"sitting"), *distance(b"abc", b"abc")),
    "typing": None, "game": None,
}  # fmt: skip

# ---- estimation ----

A = np.array([[4.0, 1.0, 0.5, -1.0], [1.0, 5.0, 2.0, 0.0], [0.5, 2.0, 6.0, 1.5], [-1.0, 0.0, 1.5, 3.0]])


def lu():
    b, inverse = np.array([1.0, -2.0, 0.5, 3.0]), np.linalg.inv(A)
    x, u = inverse @ b, inverse.T @ b
    return np.linalg.det(A), inverse.T, x, -np.outer(u, x), x + u, -0.1 * inverse.T


def power(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * np.arange(8))


def ffts():
    x = np.array([1.0, 2.0, -1.0, 0.5, 3.0, 0.0, -2.0, 1.5])
    rows = np.fft.fft(np.eye(8))
    g = 2 * np.real(np.conj(rows) @ (rows @ x * np.arange(8)))
    return power(x), g, [power(x), power(x * x)], g @ x


def smoothed(z, q, r=0.3):
    f = np.array([[1.0, 0.5], [0.0, 0.9]])
    m, p, steps = np.zeros(2), np.eye(2), []
    for i in range(6):
        mp, pp = f @ m, f @ p @ f.T + q * np.eye(2)
        k = pp[:, 0] / (pp[0, 0] + r)
        m, p = mp + k * (z[i] - mp[0]), pp - np.outer(k, pp[0])
        steps.append((m, p, mp, pp))
    out = [m]
    for i in range(4, -1, -1):
        c = steps[i][1] @ f.T @ np.linalg.inv(steps[i + 1][3])
        out.insert(0, steps[i][0] + c @ (out[0] - steps[i + 1][2]))
    return np.array(out)


def smoother():
    z = np.array([0.3, 0.9, 1.2, 1.1, 1.9, 2.4])
    return (
        smoothed(z, 0.1), slope(lambda v: np.sum(smoothed(v, 0.1) ** 2), z), slope(lambda q: np.sum(smoothed(z, q) ** 2), 0.1),
        [smoothed(z, 0.1), smoothed(z, 0.2)],
    )  # fmt: skip


def plan(c):
    k, (n, m) = np.exp(-c / 0.3), c.shape
    u, v = np.ones(n), np.ones(m)
    for _ in range(60):
        u = 1 / n / (k @ v)
        v = 1 / m / (u @ k)
    return u[:, None] * k * v


def transports():
    c = np.array([[0.1, 0.9, 0.4, 1.0], [0.7, 0.2, 0.8, 0.3], [0.5, 0.6, 0.1, 0.9]])
    p = plan(c)
    return np.sum(p * c) + 0.3 * np.sum(p * (np.log(p) - 1)), p, p, [p, plan(2 * c)], np.sum(plan(2 * c) * c)


ESTIMATION = {
    "lu": lu, "ffts": ffts, "smoother": smoother, "quasi_newton": lambda: np.ones(4), "transports": transports,
    "gp": None, "hmc": None, "filtered": None, "warped": None, "counts": None,
}  # fmt: skip

# ---- nested ----


def matrix(n, m, k):
    return (0.5 * np.sin(k + 1.7 * np.arange(n * m))).reshape(n, m)


def solved(w, y):
    def f(y):
        return np.tanh(w @ y) - 0.1 * y

    for _ in range(100):
        a = f(y)
        b = f(y + 0.005 * a)
        c = f(y + 0.005 * b)
        y = y + 0.01 / 6 * (a + 2 * b + 2 * c + f(y + 0.01 * c))
    return y


def neural_ode():
    w, y = 2 * matrix(3, 3, 0.3), np.array([1.0, -0.5, 0.2])
    by_w = slope(lambda w: np.sum(solved(w, y) ** 2), w)
    return by_w, by_w, slope(lambda y: np.sum(solved(w, y)), y)


def monoids():
    def f(x):
        return x * 0.5**13 + sum(0.5**i for i in range(13))

    fib = [[165580141, 102334155], [102334155, 63245986]]
    return 6, 3.0, fib, f(3.0), 0.5**13, 11 * 1.1**10, [f(1.0), f(2.0)]


NESTED = {
    "neural_ode": neural_ode, "monoids": monoids,
    "customs": lambda: ([0.03, 0.75, 1.0, 1.0], [0.03, 0.96, 1.0], [1.6, 3.6], [[0.3, 3.7], [4.2, 1.9]]),
    "seq2seq": None, "beams": None, "bilevel": None, "hypernet": None, "newtons": None, "data_loops": None, "cotangents": None,
    "checkpoints": None, "maml": None,
}  # fmt: skip

# ---- streams ----


def effect(x):
    s, w = x, 0
    for _ in range(4):
        w = w + np.sin(s)
        s = s * x + 1
    return s * x + s * w


def effects():
    g = slope(effect, 0.5)
    return effect(0.5), g, (slope(effect, 0.5001) - slope(effect, 0.4999)) / 2e-4, [slope(effect, 0.1), g], effect(0.5), g


def whiles():
    near = [np.sqrt([2.0, 9.0, 100.0]), 0.5 / np.sqrt([2.0, 9.0, 100.0])]
    return [0, 16, 111, 118], *near, np.sqrt([[2.0, 3.0], [4.0, 5.0]]), 0.5 / np.sqrt([2.0, 16.0])


def taped(x):
    for i in range(3, -1, -1):
        y = (y if i < 3 else x) * x + i
    return y


def tapes():
    g = slope(taped, 1.5)
    return taped(1.5), g, (slope(taped, 1.5001) - slope(taped, 1.4999)) / 2e-4, [taped(1.5), taped(2.0)]


STREAMS = {
    "streams": lambda: (functools.reduce(lambda s, p: s * 3 + p, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37], 0), sum(range(7, 37, 3))),
    "backtracking": lambda: (True, False, True, True, False), "effects": effects, "whiles": whiles, "tapes": tapes,
    "lambda": None, "nim": None, "roses": None, "duals": None, "enums": None, "vae": None, "quadtree": None,
}  # fmt: skip

COMPOSED = {"streams": STREAMS, "collections": COLLECTIONS, "machines": MACHINES, "estimation": ESTIMATION, "nested": NESTED}
