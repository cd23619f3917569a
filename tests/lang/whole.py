"""What the programs of programs/whole give, by Python and NumPy. None: only the evaluator checks one."""

import functools
import hashlib
import math
import zlib

import numpy as np


def wave(f, n):
    return np.sin(f * np.arange(1.0, n + 1))


def slope(f, x):
    """The gradient by complex steps."""
    x = np.asarray(x, float)
    out = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[i] += 1e-30j
        out[i] = np.imag(f(moved)) / 1e-30
    return out


def slopes(f, *parts):
    """The gradients by each of several tensors."""
    return [slope(lambda x, k=k: f(*parts[:k], x, *parts[k + 1 :]), p) for k, p in enumerate(parts)]


def coded(l, first=7):
    return functools.reduce(lambda s, x: (31 * s + int(x)) % 1000000007, l, first)


def log_softmax(x):
    return x - np.log(np.sum(np.exp(x), -1, keepdims=True))


def softmax(x):
    return np.exp(log_softmax(x))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# ---- text and parsers ----


def lzw():
    text = "the rain in spain falls mainly on the plain and the train in spain stays the same"
    table = {c: i for i, c in enumerate("abcdefghijklmnopqrstuvwxyz ")}
    w, out = "", []
    for c in text:
        if w + c not in table:
            out.append(table[w])
            table[w + c] = len(table)
            w = ""
        w += c
    out.append(table[w])
    return coded(out), len(out), True


def big():
    a, b = 0, 1
    for _ in range(300):
        a, b = b, a + b
    return str(math.factorial(50)), str(a), str(3**200)


PARSED = {
    "json": lambda: (1.5, 0, True, 46, "{a:[1,2,-3],b:{c:yes,d:null},name:'wick',e:[]}"),
    "tape_machine": lambda: (coded(b"Hello World!\n"), 10),
    "trie": lambda: ("tea team ten tent", "i in inn tea team ten tent to", 0),
    "continuations": lambda: (True, True, False, False, True, True, False),
    "combinators": lambda: (7, 7, -1, 7),
    "lzw": lzw,
    "bigint": big,
    "frequencies": lambda: (3, 2, -1, 5),
    "lines": lambda: ("the quick brown|fox jumps over|the lazy dog|again and again", 3, True, False, 121568.25, "dear Ann, Ann owes 5"),
    "threads": lambda: ("ppcppcpcpccc", sum(i * i for i in [0, 1, 2, 3, 10, 11])),
    "objects": lambda: (35, 90, True, False, "-70 +70 !70 +5", 1 + 4 + 7 + 10),
}  # fmt: skip

# ---- data and closures ----


def memoised():
    ways = [1] + 60 * [0]
    for k in range(1, 61):
        for n in range(k, 61):
            ways[n] += ways[n - k]
    x = [2, 1, 3, 1, 2, 2, 5, 1, 3, 2]

    def palindrome(i, j):
        if i >= j:
            return int(i == j)
        return 2 + palindrome(i + 1, j - 1) if x[i] == x[j] else max(palindrome(i + 1, j), palindrome(i, j - 1))

    drops = next(n for n in range(40) if n * (n + 1) // 2 >= 36)
    return ways[60], True, palindrome(0, 9), drops


def classes():
    pairs, seen = [(3, 1), (1, 2), (3, 0), (1, 1)], [[2], [1, 5], [], [1]]
    mixed = sorted(pairs, key=lambda p: (-p[0], p[1]))
    flat = lambda l: coded(x for p in l for x in p)  # noqa: E731
    return flat(sorted(pairs)), flat(mixed), coded(map(coded, sorted(seen))), 3, 7, 9 + 49 + 25, 321


def sums_of_states():
    state, out = 42, []
    for k in (6, 10, 100):
        state = (state * 1103515245 + 12345) % 2147483648
        out.append(state // 65536 % k)
    return coded(out), state, 1 * 3 + 2 * 4 + 3 * 4 + 4 * 6 + 5 * 7, 6


def common_factors():
    # (x + 1)(x + 2)^2 ... both have (x + 1)^2 (x + 2), as rationals with the denominator 1
    p = np.polynomial.polynomial.polyfromroots([-1, -1, -2])
    return coded(10 * int(round(c)) + 1 for c in p), coded([6, 1])


def closed():
    edges = {(i, i + 1) for i in range(8)} | {(8, 3)}
    all, new, rounds = set(edges), set(edges), 0
    while new:
        new = {(a, d) for a, b in new for c, d in edges if b == c} - all
        all |= new
        rounds += 1
    return len(all), rounds, sum(a == b for a, b in all)


def splits():
    l = [1, 2, 3]
    code = lambda l: functools.reduce(lambda s, x: s * 10 + x, reversed(l), 0)  # noqa: E731
    return coded(10000 * code(l[:k]) + code(l[k:]) for k in range(4)), 4


def majority():
    bits = [bin(n).count("1") for n in range(64)]
    return sum(b >= 3 for b in bits[:32]), sum(b % 2 for b in bits), True


def tree_levels():
    i = np.arange(10) ** 2
    return coded([3, 1, 5, 0, 2, 4, 6]), coded(np.convolve(i, [1, 1, 1], "valid"))


DATA = {
    "astar": lambda: (9, 12, -1, True), "scc": lambda: ([3, 3, 3, 1, 2, 1, 1, 0], 4), "memo": memoised, "ratpoly": common_factors,
    "krivine": lambda: (5050, 5), "classes": classes, "state_monad": sums_of_states,
    "skew_lists": lambda: (361, 144, 0, -1, coded([1, 1, 3, 15])),
    "satisfiability": lambda: (False, 4), "unification": splits, "normal_forms": lambda: (True, 3 + 2 * 6, 3 + 2 * 8, True),
    "diagrams": majority, "closure": closed, "queues": tree_levels, "tree_search": None, "events": None,
    "sha": lambda: (np.frombuffer(hashlib.sha256(b"abc").digest(), ">u4").astype(np.uint32), np.uint32(zlib.crc32(b"123456789"))),
}  # fmt: skip

# ---- derivatives through data, recursion and loops ----


def ctc(x, labels):
    lp, ext = log_softmax(x), [0] + [k for y in labels for k in (y, 0)]
    p = np.exp(lp)
    alpha = [p[0, 0], p[0, ext[1]]] + (len(ext) - 2) * [0]
    for row in p[1:]:
        skip = [j > 1 and ext[j] and ext[j] != ext[j - 2] for j in range(len(ext))]
        alpha = [row[ext[j]] * (alpha[j] + (alpha[j - 1] if j else 0) + (alpha[j - 2] if skip[j] else 0)) for j in range(len(ext))]
    return -np.log(alpha[-1] + alpha[-2])


def ctcs():
    x = np.sin(1.7 * np.arange(24.0)).reshape(6, 4)
    l = [1, 3, 3]
    g = lambda x: slope(lambda x: ctc(x, l), x)  # noqa: E731
    along = (g(1.0005 * x) - g(0.9995 * x)) / 2e-3
    return ctc(x, l), g(x), along, [ctc(x, l), ctc(x, [2, 1, 2]), ctc(x, [1, 2, 3])], ctc(x, l)


def inside(rules, terms, words=(0, 3, 1, 2, 1)):
    n, r, t = len(words), np.exp(rules), np.exp(terms)
    chart = {(i, i): t[:, w] for i, w in enumerate(words)}
    for w in range(1, n):
        for i in range(n - w):
            chart[i, i + w] = sum(np.einsum("abc,b,c", r, chart[i, m], chart[m + 1, i + w]) for m in range(i, i + w))
    return np.log(chart[0, n - 1][0])


def grammar():
    r = np.cos(2.3 * np.arange(27.0)).reshape(3, 3, 3) - 2
    t = np.sin(1.1 * np.arange(12.0)).reshape(3, 4) - 1.5
    return inside(r, t), *slopes(inside, r, t), 4.0, 5.0


def memory(w, out, key, erase, scalars):
    mem, at, r = np.full((5, 3), 0.1), np.full(5, 0.2), np.zeros(3)
    for x in wave(0.9, 12).reshape(6, 2):
        c = np.tanh(w @ np.concatenate([x, r]))
        s, k = scalars @ c, np.tanh(key @ c)
        sim = mem @ k / (np.sqrt(np.sum(mem**2, 1)) * np.sqrt(np.sum(k**2)) + 1e-8)
        gate, shift = sigmoid(s[1]), softmax(s[2:5])
        g = gate * softmax(np.log1p(np.exp(s[0])) * sim) + (1 - gate) * at
        p = (shift[0] * np.roll(g, -1) + shift[1] * g + shift[2] * np.roll(g, 1)) ** (1 + np.log1p(np.exp(s[5])))
        at = p / np.sum(p)
        r = at @ mem
        mem = mem * (1 - np.outer(at, sigmoid(erase @ c))) + np.outer(at, np.tanh(out @ c))
    return np.sum((r - [0.3, -0.2, 0.5]) ** 2)


def memory_network():
    w = [wave(f, m * n).reshape(m, n) for f, m, n in [(1.3, 4, 5), (0.7, 3, 4), (2.1, 3, 4), (0.4, 3, 4), (1.9, 6, 4)]]
    return memory(*w), *slopes(memory, *w)


def attention(w1, l1, r1, w2, l2, r2, x):
    edges = [(0, 1), (1, 2), (2, 0), (3, 2), (4, 3), (1, 0)]

    def layer(w, left, right, x):
        h, out = x @ w.T, []
        for v in range(5):
            near = [v] + [a for a, b in edges if b == v]
            e = np.array([h[u] @ left + h[v] @ right for u in near])
            out.append(softmax(np.where(e.real > 0, e, 0.2 * e)) @ h[near])
        return np.array(out)

    h = layer(w1, l1, r1, x)
    z = log_softmax(layer(w2, l2, r2, np.where(h.real > 0, h, np.exp(h) - 1)))
    return -sum(z[i, y] for i, y in enumerate([0, 1, 1, 0, 1]))


def graph_attention():
    s = wave(1.3, 60)
    parts = [s[:12].reshape(4, 3), s[12:16], s[16:20], s[20:28].reshape(2, 4), s[28:30], s[30:32]]
    x = s[32:47].reshape(5, 3)
    return attention(*parts, x), *slopes(lambda *p: attention(*p, x), *parts)


def fixed(w, u, b, x):
    z = np.zeros(3)
    for _ in range(200):
        z = np.tanh(0.4 * (w @ z) + u @ x + b)
    return z


def equilibrium():
    s = wave(1.3, 60)
    parts = s[:9].reshape(3, 3), s[9:15].reshape(3, 2), s[15:18], s[18:20]
    f = lambda *p: np.sum(fixed(*p) ** 2)  # noqa: E731
    g = [f(*parts), *slopes(f, *parts)]
    xs = s[20:28].reshape(4, 2)
    by_x = np.array([slopes(f, *parts[:3], x)[3] for x in xs])
    return *g, *g, np.array([fixed(*parts[:3], x) for x in xs]), by_x, by_x


def flow(w1, b1, w2, y):
    f = lambda y, t: w2 @ np.tanh(w1 @ y + b1) + 0.1 * np.sin(t)  # noqa: E731
    h = 1 / 40
    for i in range(40):
        t = h * i
        a = f(y, t)
        b = f(y + h / 2 * a, t + h / 2)
        c = f(y + h / 2 * b, t + h / 2)
        y = y + h / 6 * (a + 2 * b + 2 * c + f(y + h * c, t + h))
    return np.sum((y - 1) ** 2)


def adjoint():
    w = wave(1.3, 60)
    parts = w[:8].reshape(4, 2), w[8:12], w[12:20].reshape(2, 4), np.array([0.5, -0.3])
    g = [flow(*parts), *slopes(flow, *parts)]
    return *g, *g


def own_rules():
    numbers = (1.5**4, 4 * 1.5**3 * 2.0, 12 * 0.5**2, 4 * 0.5**3, 12 * 0.5**2)  # of x^4
    both = 6 * 1.5**2 * 0.5, 12 * 1.5 * 0.5 * 2.0 + 6 * 1.5**2 * 3.0  # of 6 x^2 y
    return *numbers, *both, 12 * 0.5 * 0.4, 12 * 0.5, 24 * np.array([0.5, 2.0]), 2.0**3 * 0.5, 2.0**3 * 3.0


def encoded(table, left, right, unary):
    leaf = list(table)
    node = lambda a, b: np.tanh(left @ a + right @ b)  # noqa: E731
    once = lambda a: unary * np.sin(a)  # noqa: E731
    return np.sum(node(node(leaf[0], once(leaf[1])), once(node(leaf[2], leaf[3]))) ** 2)


def hessian_trees():
    s = wave(1.3, 90)
    w, v = ([s[k : k + 12].reshape(4, 3), s[k + 12 : k + 21].reshape(3, 3), s[k + 21 : k + 30].reshape(3, 3), s[k + 30 : k + 33]] for k in (0, 33))
    at = lambda h: slopes(encoded, *(a + h * b for a, b in zip(w, v, strict=True)))  # noqa: E731
    product = [(a - b) / 2e-5 for a, b in zip(at(1e-5), at(-1e-5), strict=True)]
    return tuple(3 * product)


def scanned(w, x):
    g, h, total = sigmoid(x @ w), np.zeros(3), 0
    for a, b in zip(g, (1 - g) * x, strict=True):
        h = a * h + b
        total = total + np.sum(h**2)
    return total


def scans():
    s = wave(1.3, 60)
    w, x = s[:9].reshape(3, 3), s[9:36].reshape(9, 3)
    return 2 * (scanned(w, x), slope(lambda w: scanned(w, x), w))


def batched():
    x, f = np.array([0.1, 0.5, 1.5]), lambda x: 2 * x**2 + np.sin(x + 0.5)
    best = lambda x: max([k * x for k in range(1, 6) if k * x > 1], default=-1)  # noqa: E731
    scaled = lambda k, x: 2 * k * x**2 + np.sin(x + 0.5 * k)  # noqa: E731
    by_k = 6 * x**2 + 1.5 * np.cos(1.5 * x)
    return f(x), 4 * x + np.cos(x + 0.5), 4 - np.sin(x + 0.5), by_k, [best(v) for v in x], [0, 5, 5], [scaled(k, x) for k in (1, 2)]


DERIVED = {
    "ctc": ctcs, "inside": grammar, "memory_network": memory_network, "graph_attention": graph_attention, "equilibrium": equilibrium,
    "adjoint": adjoint, "own_rules": own_rules, "hessian_trees": hessian_trees, "selective_scan": scans, "batched_data": batched,
    "straight_through": None, "experts": None, "transducer": None, "unit_graph": None,
}  # fmt: skip

# ---- estimation, optimization, learning ----


def tree_of_decisions():
    x = wave(2.7, 60).reshape(30, 2)
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    return y, y


def nearest():
    points, queries = wave(7.7, 60).reshape(20, 3), np.cos(3.1 * np.arange(1.0, 16)).reshape(5, 3)
    d = np.sum((queries[:, None] - points) ** 2, 2)
    return d.min(1), d.min(1), 2 * (queries[0] - points[d[0].argmin()])


def poisson():
    f = np.sin(np.pi * np.arange(1, 32) / 32)
    a = 32**2 * (2 * np.eye(31) - np.eye(31, k=1) - np.eye(31, k=-1))
    return 0.0, np.linalg.solve(a, f)[15], np.linalg.inv(a)[15]


def haar(x):
    if len(x) == 1:
        return x
    return np.concatenate([haar((x[::2] + x[1::2]) / 2**0.5), (x[::2] - x[1::2]) / 2**0.5])


def unhaar(y):
    if len(y) == 1:
        return y
    a, d = unhaar(y[: len(y) // 2]), y[len(y) // 2 :]
    return np.stack([a + d, a - d], 1).reshape(-1) / 2**0.5


def wavelets():
    x = np.sin(0.7 * np.arange(16.0))
    soft = lambda t: unhaar(np.sign(haar(x)) * np.maximum(np.abs(haar(x)) - t, 0))  # noqa: E731
    cut = np.abs(haar(x)) > 0.3
    return np.zeros(16), soft(0.3), np.sum((soft(0.3) - x) ** 2), 0.6 * np.sum(cut), [soft(0.1), soft(0.2)]


def rows():
    b = np.array([1.0, 0.0, 2.0, -1.0, 0.5])
    matrix = lambda w: (2 + w) * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1)  # noqa: E731

    def steps(w, b):
        a, x, r, p = matrix(w), 0, b, b
        for _ in range(4):
            q, rr = a @ p, np.sum(r * r)
            x, r = x + rr / np.sum(p * q) * p, r - rr / np.sum(p * q) * q
            p = r + np.sum(r * r) / rr * p
        return np.sum(x**2)

    return np.linalg.solve(matrix(0.1), b), steps(0.1, b), *slopes(steps, 0.1, b), [steps(w, b) for w in (0.1, 0.2, 0.4)]


def kernel(a, b, c, d, e):
    x = 0.37 * np.arange(8.0)
    y, t = np.sin(2 * x) + 0.2 * x, x[:, None] - x
    k = np.exp(a) * np.exp(-0.5 * (t / np.exp(b)) ** 2) * np.exp(-2 * (np.sin(np.pi * t / np.exp(c)) / np.exp(d)) ** 2)
    k = k + np.exp(e) * np.eye(8)
    return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.log(np.linalg.det(k))


def kernels():
    p = np.array([0.1, 0.3, 1.0, 0.2, -2.0])
    grad = lambda p: slope(lambda p: kernel(*p), p)  # noqa: E731
    q = p
    for _ in range(5):
        q = q - 0.05 * grad(q)
    return kernel(*p), kernel(*q), grad(p)


def tuned(rate, weight, w, b):
    s = wave(1.3, 60)
    xs, ys, vx, vy = s[:12].reshape(6, 2), s[12:18], s[18:26].reshape(4, 2), s[26:30]
    p, m, v = np.concatenate([w, [b]]), 0, 0
    for k in range(1, 13):
        e = 2 * weight * (xs @ p[:2] + p[2] - ys)
        g = np.concatenate([e @ xs, [np.sum(e)]])
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        p = p - rate * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.99**k)) + 1e-8)
    return np.sum((vx @ p[:2] + p[2] - vy) ** 2)


def through_adam():
    parts = 0.1, np.exp(wave(1.3, 60)[30:36]), np.array([0.1, -0.2]), 0.0
    return tuned(*parts), *slopes(tuned, *parts)


LEARNED = {
    "decision_tree": tree_of_decisions, "kdtree": nearest, "multigrid": poisson, "haar": wavelets, "sparse_rows": rows, "kernels": kernels,
    "through_adam": through_adam, "levenberg": lambda: ([2.0, 1.5, 0.5], 0.0, True, [1.2, 0.3], 0.0, True),
    "mixture": None, "natural": None, "qlearn": None, "contrastive": None, "policy": None, "sphere_tracing": None, "variational": None,
    "hierarchical": None, "control": None, "tours": None, "unscented": None,
}  # fmt: skip

# ---- algorithms ----


def transforms():
    a, b = wave(1, 16), np.cos(np.arange(1.0, 17) / 2)
    k = np.arange(16.0)

    def circular(x, y):
        return np.real(np.fft.ifft(np.fft.fft(x) * np.fft.fft(y)))

    def gradient(x):
        return 2 * 16 * np.real(np.fft.ifft(k * np.fft.fft(x)))

    return circular(a, b), np.sum(k * np.abs(np.fft.fft(a)) ** 2), gradient(a), gradient(b), np.array([circular(a, b), circular(a, a)])


def accepted():
    texts = [f"{n:07b}"[::-1] for n in range(128)]
    return sum(t.count("1") % 2 == 0 and "00" not in t for t in texts), 8, 2


ALGORITHMS = {
    "flows": lambda: (23, 0, 0), "regular": accepted, "fft": transforms, "crf": None, "treap": None, "dual_numbers": None, "own_tape": None, "sinkhorn": None,
    "simplex": lambda: (0, 765 / 41, [89 / 41, 50 / 41, 62 / 41], 1, 0.0, [0.0, 0.0, 0.0], [45 / 41, 24 / 41, 11 / 41]),
}  # fmt: skip

GROUPS = {"parsed": PARSED, "data": DATA, "derived": DERIVED, "learned": LEARNED, "algorithms": ALGORITHMS}
TEXTS = {"parsed", "data"}
