"""Names of jax.scipy.ndimage."""
import itertools

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.trace import ops
from wick.trace.eager import api
from wick.trace.scope import fail


def _mirrored(i, n):
    i = i % (2 * n - 2) if n > 1 else i * 0
    return wnp.minimum(i, 2 * n - 2 - i) if n > 1 else i


def _reflected(i, n):
    i = i % (2 * n)
    return wnp.minimum(i, 2 * n - 1 - i)


#: What a position outside means: (the position to read, whether it counts).
_MODES = {"constant": lambda i, n: (wnp.clip(i, 0, n - 1), (i >= 0) & (i < n)), "nearest": lambda i, n: (wnp.clip(i, 0, n - 1), True),
          "wrap": lambda i, n: (i % n, True), "mirror": lambda i, n: (_mirrored(i, n), True), "reflect": lambda i, n: (_reflected(i, n), True)}


@api
def map_coordinates(input, coordinates, order, mode="constant", cval=0.0):
    """The array at positions between its elements: the nearest element (order 0), or linear between neighbours (order 1)."""
    x = ops.floating(input)
    places = [ops.floating(c) for c in coordinates]
    if mode not in _MODES or order not in (0, 1) or len(places) != x.ndim:
        fail(InvalidArgument, f"map_coordinates: order {order}, mode {mode!r} and {len(places)} coordinates of an array with {x.ndim} dimensions; expected "
                              f"the order 0 or 1, and a mode of {', '.join(_MODES)}")
    parts = []
    for c, n in zip(places, x.shape):
        if order == 0:
            near = [(ops.as_elem(wnp.floor(c + 0.5), "i64"), 1.0)]
        else:
            low = wnp.floor(c)
            at = ops.as_elem(low, "i64")
            near = [(at, 1 - (c - low)), (at + 1, c - low)]
        parts.append([(*_MODES[mode](at, n), weight) for at, weight in near])
    total = 0.0
    for corner in itertools.product(*parts):
        value, weight = x[tuple([at for at, _, _ in corner])], 1.0
        for _, counts, w in corner:
            value = value if counts is True else wnp.where(counts, value, cval)
            weight = weight * w
        total = total + weight * value
    return total
