"""Values between the points of a grid, as in jax.scipy.interpolate."""
import itertools
import math

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.trace import ops
from wick.trace.scope import fail


class RegularGridInterpolator:
    """A function of points, from its values on a grid: linear between them, or that of the nearest one."""

    def __init__(self, points, values, method="linear", bounds_error=False, fill_value=math.nan):
        if method not in ("linear", "nearest"):
            fail(InvalidArgument, f"RegularGridInterpolator: the method {method!r} is none of linear, nearest")
        if bounds_error:
            fail(InvalidArgument, "RegularGridInterpolator: bounds_error is not supported: points outside have fill_value")
        self.grid, self.values, self.method, self.fill_value = tuple(points), values, method, fill_value
        sizes = [wnp.shape(p)[0] for p in self.grid]
        if list(wnp.shape(values)[:len(sizes)]) != sizes:
            fail(InvalidArgument, f"RegularGridInterpolator: the values have the shape {wnp.shape(values)}, the grid {tuple(sizes)}")

    def __call__(self, xi, method=None):
        method = method or self.method
        if isinstance(xi, (tuple, list)):
            xi = wnp.stack(wnp.broadcast_arrays(*xi), axis=-1)
        shape, rank = wnp.shape(xi), len(self.grid)
        if not shape or shape[-1] != rank:
            fail(InvalidArgument, f"RegularGridInterpolator: the points have the shape {shape}, expected a last axis of {rank}")
        xi = wnp.reshape(xi, (-1, rank))
        values = wnp.asarray(self.values)
        lower, share, outside = [], [], False
        for k, p in enumerate(self.grid):
            p, x = wnp.asarray(p), xi[:, k]
            at = wnp.clip(wnp.searchsorted(p, x) - 1, 0, p.shape[0] - 2)
            lower.append(at)
            share.append((x - p[at]) / (p[at + 1] - p[at]))
            outside = outside | (x < p[0]) | (x > p[-1])
        if method == "nearest":
            made = values[tuple([wnp.where(s <= 0.5, at, at + 1) for at, s in zip(lower, share)])]
        else:
            made = 0.0
            for corner in itertools.product((0, 1), repeat=rank):
                weight = math.prod([s if up else 1 - s for up, s in zip(corner, share)], start=1.0)
                part = values[tuple([at + up for at, up in zip(lower, corner)])]
                made = made + part * wnp.reshape(weight, wnp.shape(weight) + (1,) * (part.ndim - 1))
        if self.fill_value is not None:
            made = wnp.where(wnp.reshape(outside, outside.shape + (1,) * (made.ndim - 1)), wnp.asarray(self.fill_value, made.dtype), made)
        return wnp.reshape(made, shape[:-1] + values.shape[rank:])
