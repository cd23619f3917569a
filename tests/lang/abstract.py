"""What the functions of programs/abstract.wick give."""

import heapq
import math

import numpy as np


def streams():
    primes = [p for p in range(2, 98) if all(p % q for q in range(2, p))]
    code = 0
    for p in primes:
        code = code * 31 + p
    fibonacci = [0, 1]
    while len(fibonacci) < 15:
        fibonacci.append(sum(fibonacci[-2:]))
    squares = sum(k * k for k in range(1, 11))
    wrapped = (code + 2**63) % 2**64 - 2**63
    return squares, squares, 11, wrapped, sum(f * (2 * i + 1) for i, f in enumerate(fibonacci))


def distances(n):
    far = [math.inf] * n
    far[0] = 0.0
    queue = [(0.0, 0)]
    while queue:
        d, u = heapq.heappop(queue)
        for to, cost in (((u * 3 + 1) % n, u % 5 + 1.0), ((u + 1) % n, 2.5)):
            if d == far[u] and d + cost < far[to]:
                far[to] = d + cost
                heapq.heappush(queue, (far[to], to))
    return far


def code_length(weights):
    total = 0
    while len(weights) > 1:
        weights = sorted(weights)
        total += weights[0] + weights[1]
        weights = [weights[0] + weights[1], *weights[2:]]
    return total


def heaps():
    x = np.array([3.0, 1.0, 2.0, 6.0, 5.0, 4.0])
    slope = 2.0 ** np.argsort(np.argsort(x))
    return distances(12), code_length([5, 9, 12, 13, 16, 45]), np.sort(np.sin(np.arange(20.0)))[3:6], slope


def shape(t):
    """Of a type: int is 1, bool 2, a variable 4, and a pair a function."""
    return t if isinstance(t, int) else 3 + 10 * shape(t[0]) + 1000 * shape(t[1])


ABSTRACT = {
    "interpreted": lambda: (float(math.factorial(6)), 7.0, 40.0, -5.0, 36.0),
    "differentiated": lambda: (21.0, 2 + 6 * 3.0, 3.0, [(x + 1) ** 2 * x for x in (1.0, 2.0, 3.0)]),
    "inferred": lambda: (1, shape(((4, 4), (4, 4))), -1, -1, shape((1, 1)), -1),
    "streams": streams,
    "heaps": heaps,
    # 2 x^2 + y^2 at 1 and 3, each x three times 0.6 x, y 0.8 y; the gradient of 16 x^2 + 4 y^2; 16 x^2 + 16 + 36
    "descended": lambda: (2 * 0.6**6 + (3 * 0.8**3) ** 2, 32.0**2 + 24.0**2, 32.0, [68.0, 116.0]),
}
