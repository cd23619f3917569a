"""What the functions of programs/pullbacks.wick give, by NumPy: slopes are those of complex steps."""

import numpy as np

AT = np.array([0.3, 0.7])
STEP = 1e-30


def f(x):
    return np.array([x[0] * x[1], np.sin(x[0])])


def back(x, v):
    return np.array([x[1] * v[0] + np.cos(x[0]) * v[1], x[0] * v[0]])


def slope(g, x, along):
    return np.imag(g(x + STEP * 1j * np.asarray(along))) / STEP


def gradient(g, x):
    return np.array([slope(g, x, e) for e in np.eye(2)])


def captured(x):
    return gradient(lambda x: 2 * back(x, f(x)).sum(), x)


def composed(x):
    return back(x, back(f(x), np.array([1.0, 0.5]))) + f(f(x))


def many(n, x, v):
    return v if n <= 0 else back(x, many(n - 1, x, v)) + many(n - 2, x, v)


def step(x):
    j = np.array([[-20 * x[0], 10], [-1, 0], [x[1] * np.cos(x[0] * x[1]), x[0] * np.cos(x[0] * x[1])]])
    r = np.array([10 * (x[1] - x[0] * x[0]), 1 - x[0], np.sin(x[0] * x[1])])
    return x - np.linalg.solve(j.T @ j, j.T @ r)


def solved(s):
    x = step(step(np.array([-1.2 * s, 1])))
    return x[0] + 2 * x[1]


PULLBACKS = {
    "captured": lambda: (captured(AT), np.stack([captured(AT), captured(np.array([0.1, 0.2]))])),
    "composed": lambda: slope(composed, AT, [1.0, 2.0]),
    "recursive": lambda: gradient(lambda x: many(5, x, f(x)).sum(), AT),
    "chosen": lambda: gradient(lambda x: back(x, f(x)).sum(), AT),
    "stored": lambda: gradient(lambda x: back(x, back(x, x[0] * f(x))).sum(), AT),
    "gauss_newton": lambda: (solved(1.0), slope(solved, 1.0, 1.0)),
}
