"""What programs/formulas.wick and programs/learning.wick give, by NumPy and SciPy."""

import itertools

import numpy as np
import scipy.linalg

# ---- formulas ----


def expression(x):
    return (x + 12) * (x - 3) / -7


def slope(f, x, h=1e-30):
    """The gradient, by complex steps."""
    x = np.array(x, float)
    steps = np.eye(x.size).reshape(-1, *x.shape) * 1j * h
    return np.array([np.imag(f(x + s)) / h for s in steps]).reshape(x.shape)


def bend(f, x, h=1e-4):
    """The Hessian, by differences of gradients."""
    x = np.array(x, float)
    g = [(8 * (slope(f, x + h * e) - slope(f, x - h * e)) - slope(f, x + 2 * h * e) + slope(f, x - 2 * h * e)) / (12 * h) for e in np.eye(x.size)]
    return np.array(g)


def tries():
    words = [(tuple(i * 37 % 256 // 4**k % 4 for k in range(1 + i % 4))) for i in range(40)]
    nodes = {w[:k] for w in words for k in range(len(w) + 1)}
    return len(nodes), len({w for w in words if len(w) == 4})


SPD = np.array([[5.0, 1.0, 0.5, 0.2], [1.0, 4.0, 0.3, 0.1], [0.5, 0.3, 3.0, 0.7], [0.2, 0.1, 0.7, 2.0]])


def lower(a):
    """Cholesky's factor, also of complex numbers; it reads the lower triangle."""
    m = np.zeros_like(a)
    for i, j in itertools.product(range(len(a)), repeat=2):
        if j < i:
            m[i, j] = (a[i, j] - m[i, :j] @ m[j, :j]) / m[j, j]
        elif i == j:
            m[i, i] = np.sqrt(a[i, i] - m[i, :i] @ m[i, :i])
    return m


def choleskys():
    def logdet(a):
        return 2 * np.sum(np.log(np.diag(lower(a.astype(complex)))))

    return np.linalg.cholesky(SPD), np.linalg.slogdet(SPD)[1], slope(logdet, SPD)


def factored():
    _, low, up = scipy.linalg.lu(SPD)
    q, r = np.linalg.qr(SPD[:, :3])
    s = np.sign(np.diag(r))
    return low, up, q * s, r * s[:, None]


def likelihood(p):
    x, y = np.array([0.0, 0.7, 1.3, 2.2, 3.0]), np.array([0.1, 0.6, 0.9, 0.7, 0.1])
    d = x[:, None] - x
    low = lower((np.exp(2 * p[0]) * np.exp(-0.5 * d * d * np.exp(-2 * p[1])) + np.exp(2 * p[2]) * np.eye(5)).astype(complex))
    z = np.linalg.solve(low, y)
    return 0.5 * np.sum(z * z) + np.sum(np.log(np.diag(low)))


def process():
    p = [0.1, -0.2, -1.0]
    return np.real(likelihood(np.array(p))), slope(likelihood, p), bend(likelihood, p)


def exponentials():
    a, w = np.array([[0.1, 1.0], [-1.0, 0.2]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    e, de = scipy.linalg.expm_frechet(a, np.array([[1.0, 0.0], [0.0, 0.0]]))
    return e, scipy.linalg.expm_frechet(a.T, w)[1], e, de


def golden(x):
    for _ in range(30):
        x = 1.0 + 1.0 / x
    return x


def continued():
    y, d = 1.0, 1.0  # of golden(x, n) = x + 1 / golden(x, n - 1)
    for _ in range(30):
        y, d = 1.0 + 1.0 / y, 1.0 - d / y**2
    return np.pi, d


FORMULAS = {
    "parser": lambda: (21, expression(2.0), (2 * 2.0 + 9) / -7, expression(5.0), (2 * 5.0 + 9) / -7, [expression(x) for x in (1.0, 2.0, 3.0)]),
    "symbolic": lambda: ((2 * 2.0 + 9) / -7, 2 / -7, 0.0), "tries": tries, "choleskys": choleskys, "factored": factored, "gp": process,
    "exponentials": exponentials, "continued": continued, "sorted": lambda: sorted([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0]),
}  # fmt: skip

# ---- learning ----

START, MOVE, EMIT = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
SEEN = [0, 1, 2, 2, 0, 1]


def probability(path, start=START, move=MOVE, emit=EMIT):
    p = start[path[0]] * emit[path[0], SEEN[0]]
    for i in range(1, len(path)):
        p = p * move[path[i - 1], path[i]] * emit[path[i], SEEN[i]]
    return p


def viterbi():
    best = max(itertools.product(range(2), repeat=6), key=probability)
    return np.log(probability(best)), np.array(best)


def counts():
    """Expected counts, over all paths."""
    start, move, emit, all_ = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3)), 0.0
    for path in itertools.product(range(2), repeat=6):
        p = probability(path)
        all_ += p
        start[path[0]] += p
        for i in range(6):
            emit[path[i], SEEN[i]] += p
            if i:
                move[path[i - 1], path[i]] += p
    return np.log(all_), start / all_, move / all_, emit / all_


def chain():
    u = np.array([[0.1, 0.2, 0.3], [0.5, -0.1, 0.0], [0.3, 0.3, -0.3], [0.0, 0.2, 0.1]])
    pair, tags = np.array([[0.1, 0.0, -0.1], [0.2, 0.1, 0.0], [0.0, -0.2, 0.3]]), [0, 1, 1, 2]

    def score(path, u, pair):
        return sum(u[i, t] for i, t in enumerate(path)) + sum(pair[a, b] for a, b in zip(path, path[1:]))

    def loss(u, pair):
        return np.log(sum(np.exp(score(p, u, pair)) for p in itertools.product(range(3), repeat=4))) - score(tags, u, pair)

    return loss(u, pair), slope(lambda u: loss(u, pair), u), slope(lambda p: loss(u, p), pair)


def table_steps():
    table = np.sin(np.arange(3000.0).reshape(1000, 3))
    after = table.copy()
    for words in [5, 900, 5, -1], [7, 5, 13, 13], [0, 1, 2, 900]:
        step = np.zeros_like(after)
        np.add.at(step, words, 0.3 * after[words] ** 2)
        after -= step
    return after[[0, 1, 2, 3, 5, 7, 13, 900, 999]], (after - table).sum()


def planar_flow():
    def f(z, w, u, b):
        return z + u * np.tanh(w @ z + b)

    def volume(z, w, u, b):
        return np.log(1 + (u @ w) * (1 - np.tanh(w @ z + b) ** 2))

    def loss(w, u, b):
        total = 0
        for z in ([0.1, 0.2], [1.0, -0.5], [-0.3, 0.8]):
            z1 = f(np.array(z), w, u, b)
            y = f(z1, w, u, b)
            total = total + 0.5 * y @ y - volume(np.array(z), w, u, b) - volume(z1, w, u, b)
        return total / 3

    w, u, b = np.array([0.5, -0.2]), np.array([0.3, 0.4]), 0.1
    return loss(w, u, b), slope(lambda w: loss(w, u, b), w), slope(lambda u: loss(w, u, b), u), slope(lambda b: loss(w, u, b), b)


def softmax(x):
    e = np.exp(x - np.real(x).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(q, k, v, bias):
    return softmax(q @ k.T / np.sqrt(q.shape[1]) + bias) @ v


def attentions():
    x = np.array([[0.1, 0.5, -0.2, 0.3], [1.0, -0.3, 0.2, 0.1], [0.0, 0.4, 0.3, -0.6], [0.7, 0.1, 0.2, 0.2], [-0.5, 0.3, 0.9, 0.0]])
    w, i = np.sin(np.arange(48.0).reshape(4, 12)), np.arange(5)
    causal, near = np.where(i <= i[:, None], 0, -1e9), -0.5 * abs(i - i[:, None])

    def linear(x):
        def elu(x):
            return np.where(np.real(x) > 0, x, np.exp(x) - 1) + 1

        s = np.cumsum(elu(x)[:, :, None] * x[:, None, :], 0)
        z = np.cumsum(elu(x), 0)
        return np.einsum("td,tde->te", elu(x), s) / np.sum(elu(x) * z, 1, keepdims=True)

    def heads(w):
        h = np.transpose((x @ w).reshape(5, 3, 2, 2), (1, 2, 0, 3))
        return np.concatenate([attend(h[0, k], h[1, k], h[2, k], causal) for k in range(2)], 1)

    return (attend(x, x, x, causal), attend(x, x, x, near), linear(x), heads(w),
            slope(lambda w: np.sum(heads(w) ** 2), w), slope(lambda x: np.sum(linear(x) ** 2), x))  # fmt: skip


def bilevel():
    x, y = np.array([[1.0, 0.5], [0.3, -1.0], [0.8, 0.7], [-0.5, 0.2]]), np.array([1.0, 0.2, 0.9, -0.4])

    def outer(r):
        w = np.zeros(2)
        for _ in range(30):
            w = w - 0.2 * (x.T @ (x @ w - y) / 2 + 2 * np.exp(r) * w)
        return (w[0] - 0.7) ** 2 + (w[1] + 0.1) ** 2

    r = 0.0
    for _ in range(5):
        r = r - slope(outer, r)
    return r


def pendulum():
    q, v, g, m1, m2 = np.array([1.0, 0.5]), np.zeros(2), 9.81, 1.0, 0.5
    for _ in range(100):
        c, s = np.cos(q[0] - q[1]), np.sin(q[0] - q[1])
        mass = np.array([[m1 + m2, m2 * c], [m2 * c, m2]])
        force = [-m2 * v[1] ** 2 * s - (m1 + m2) * g * np.sin(q[0]), m2 * v[0] ** 2 * s - m2 * g * np.sin(q[1])]
        v = v + 0.01 * np.linalg.solve(mass, force)
        q = q + 0.01 * v
    return q, v


def products():
    a, b = np.sin(np.arange(64.0).reshape(8, 8)), np.cos(np.arange(64.0).reshape(8, 8))
    return a @ b, b.sum(1)


def ensemble():
    w, x = np.sin(np.arange(12.0).reshape(2, 3, 2) * 1.7 + 0.3), np.array([[1.0, 2.0], [0.5, -0.5]])
    y = np.tanh(w @ x[0])
    return np.tanh(w @ x.T).sum(1), (1 - y * y)[:, :, None] * x[0]


def heat():
    a = 1.6 * np.eye(8) - 0.3 * np.eye(8, k=1) - 0.3 * np.eye(8, k=-1)
    u, step = np.eye(8)[3], np.linalg.inv(a)
    two = step @ step
    return np.linalg.matrix_power(step, 10) @ u, 2 * two.T @ two @ u


def advect():
    u = np.exp(-((np.arange(16.0) - 4) ** 2))
    for _ in range(20):
        u = u - 0.5 * (u - np.roll(u, 1))
    return u


def escape(c):
    z, n = 0j, 0
    while abs(z) ** 2 <= 4 and n < 50:
        z, n = z * z + c, n + 1
    return n


LEARNING = {
    "decoded": viterbi, "forward_backward": counts, "crf_step": chain, "embedded": table_steps, "flow": planar_flow, "attentions": attentions, "bilevel": bilevel,
    "pendulum": pendulum, "products": products, "scans": lambda: np.cumsum([3, 1, 4, 1, 5, 9, 2, 6, 5]),
    "multiplied": lambda: np.append(np.convolve(np.arange(1, 9), [2, 0, 1, 0, 3, 0, 1, 1]), 0), "ensemble": ensemble,
    "vstruct": lambda: np.sin(np.arange(12.0).reshape(2, 3, 2) * 1.7 + 0.3) @ [1.0, -1.0] + np.array([[1.0], [2.0]]),
    "heat": heat, "advect": advect, "mandel": lambda: np.array([[escape(-2), escape(-1 + 0.3j), escape(0)], [escape(0.3 + 0.5j), escape(-0.5 + 0.5j), escape(1 + 1j)]]),
    # the evaluator is the only oracle of random numbers
    "hmc": None, "particles": None, "gan": None, "policy": None,
}  # fmt: skip
