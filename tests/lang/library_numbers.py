"""What the functions of programs/library_numbers.wick give, by NumPy."""

import numpy as np

A = np.array([[5.0, 1.0, 0.5, -1.0], [1.0, 4.0, 0.3, 0.2], [0.5, 0.3, 6.0, 1.5], [-1.0, 0.2, 1.5, 3.0]])
B = np.array([[0.0, 2.0, -1.0, 0.5], [1.0, 0.0, 3.0, 2.0], [-4.0, 1.0, 0.5, 1.0], [2.0, 2.0, 1.0, -3.0]])
C = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0], [-2.0, 1.5]])


def solved():
    return np.linalg.cholesky(A), np.linalg.solve(A, C), np.linalg.solve(B, C), np.linalg.inv(B), np.linalg.det(B), np.linalg.solve(A, C[:, 0])


def decomposed():
    return B, np.eye(4), abs(np.linalg.qr(B)[1]), np.linalg.eigvalsh(A), np.zeros((4, 4)), np.eye(4)


def sensitive():
    inverse = np.linalg.inv(B)
    by_solution = -inverse.T @ np.ones((4, 2)) @ (inverse @ C).T
    return by_solution, np.linalg.det(B) * inverse.T, np.linalg.cholesky(A).sum() / (2 * np.sqrt(2))


# The structure (f64[2], (f64, f64[1, 2])) as one vector, and where its tensors begin.
W = np.array([1.0, -2.0, 0.5, 3.0, 4.0])
PARTS = (slice(0, 2), slice(2, 3), slice(3, 5))


def slope(w):
    return np.concatenate([4 * w[:2] ** 3 + np.sin(w[3:]).sum(), 2 * w[2:3], np.cos(w[3:]) * w[:2].sum()])


def parts(w):
    return w[:2], w[2], w[3:].reshape(1, 2)


def run(step):
    w, kept = W, None
    for t in range(1, 6):
        w, kept = step(w, slope(w), kept, t)
    return parts(w)


def descended():
    zero = np.zeros(5)

    def momentum(w, g, v, _t):
        v = 0.9 * (zero if v is None else v) + g
        return w - 0.01 * v, v

    def nesterov(w, g, v, _t):
        v = 0.9 * (zero if v is None else v) + g
        return w - 0.01 * (g + 0.9 * v), v

    def rmsprop(w, g, v, _t):
        v = 0.9 * (zero if v is None else v) + 0.1 * g**2
        return w - 0.01 * g / (np.sqrt(v) + 1e-8), v

    def adagrad(w, g, v, _t):
        v = (zero if v is None else v) + g**2
        return w - 0.1 * g / (np.sqrt(v) + 1e-8), v

    return tuple(run(f) for f in (lambda w, g, v, _t: (w - 0.01 * g, v), momentum, nesterov, rmsprop, adagrad))


def adaptive():
    def direction(g, kept, t):
        m, v = kept or (0, 0)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2
        return m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8), (m, v)

    def adam(w, g, kept, t, decay=0.0, by_length=False):
        d, kept = direction(g, kept, t)
        d = d + decay * w
        for p in PARTS if by_length else ():
            d[p] *= np.linalg.norm(w[p]) / np.linalg.norm(d[p])
        return w - 0.1 * d, kept

    length = np.linalg.norm(W)
    return (
        run(adam),
        run(lambda *a: adam(*a, decay=0.05)),
        run(lambda *a: adam(*a, decay=0.05, by_length=True)),
        length,
        parts(W * 2 / length),
        parts(np.clip(W, -1.5, 1.5)),
    )


def rates():
    return 0.0, 0.05, 0.1, 0.05 * (1 + np.cos(np.pi / 3)), 0.0, 0.0, 0.0125


def drawn():
    return True, True, True, True, True, 4000 * 3999 // 2, True, True


def begun():
    return (True, np.eye(50), np.eye(50), *[True] * 8, np.zeros(50), np.ones(50))


LIBRARY_NUMBERS = {f.__name__: f for f in (solved, decomposed, sensitive, descended, adaptive, rates, drawn, begun)}
