"""What the functions of programs/varied.wick give, by NumPy."""

import math

import numpy as np

M = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
X = np.array([[1.0, 2.0], [3.0, 4.0]])


def mixed():
    nested = np.stack([a + X.T for a in (10.0, 20.0, 30.0)], 2)
    return np.stack([X[:, 0], X[:, 1] ** 2], 1), nested, X.T @ [1.0, 10.0]


def fnv(data):
    h = 14695981039346656037
    for b in data:
        h = (h ^ b) * 1099511628211 % 2**64
    return h


def large():
    return np.uint64(fnv(b"ab")), np.uint64(2**64 - 1), np.uint64(615), 1, -(2**63), np.float32(2.0**64)


def compositions():
    def h(x):
        for _ in range(5):
            x = 1.5 * np.sin(x)
        return x

    slope = [np.imag(h(x + 1e-30j)) / 1e-30 for x in (0.5, 1.0)]
    return h(0.5), slope[0], slope[0], 2 * slope[0], slope


def per_example():
    x, y = np.array([[1.0, 2.0], [3.0, 4.0], [-1.0, 1.0]]), np.array([1.0, 2.0, 3.0])
    error = x @ [2.0, -1.0] + 0.5 - y
    scaled = np.tile(np.outer([1.0, 2.0], [2.0, -1.0]), (3, 1, 1))
    lines = scaled, np.tile([1.0, 2.0], (3, 1)), np.repeat([[1], [2], [3]], 2, 1)
    return error**2, 2 * error[:, None] * x, 2 * error, *lines


VARIED = {
    "columns": lambda: (np.stack([M.sum(0), M[0]]), 2 * M.T),
    "mixed": mixed,
    "jacobians": lambda: np.array([[3.0, 2.0, 0.0], [0.0, 0.0, math.cos(0.5)]]),
    "large": large,
    # what with_vjp captures is constant: no slope by `start`, and twice the slope by the rule of `weighted`
    "captured": lambda: ([0.5, 0.25], (0.25, 0.0), -1 / 32, 20.0),
    "stopped": lambda: (18.0, 1.0),
    "fitted": lambda: (2.0, [-1.0]),
    "heap_sorted": lambda: [1, 1, 2, 3, 4, 5],
    "orders": lambda: (8 * math.e, -math.cos(0.25), math.sin(0.25) + math.cos(0.25) - math.sin(0.25)),
    "compositions": compositions,
    "carried": lambda: 6.0,
    "given_twice": lambda: (3.25, 6.5, 0.25),
    "per_example": per_example,
    "texts": lambda: ([1, 2, 6], [2, 2, 6]),
    "symbolic": lambda: (10.0, 10.0, 12.0, 12.0, [0.0, 6.0]),
}  # fmt: skip
