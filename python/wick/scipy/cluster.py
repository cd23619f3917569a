"""Nearest centres, as in jax.scipy.cluster: cluster.vq.vq(observations, centres)."""
import types

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.trace import ops
from wick.trace.eager import api
from wick.trace.scope import fail


@api
def _nearest(observations, centres, check_finite=True):
    """(for each row the number of the nearest centre, and its distance)"""
    x, c = ops.convert(observations, centres)
    if x.ndim != 2 or c.ndim != 2 or x.shape[1] != c.shape[1]:
        fail(InvalidArgument, f"vq: expected rows of one length, the shapes are {x.shape} and {c.shape}")
    distances = wnp.linalg.norm(x[:, None] - c, axis=-1)
    return wnp.argmin(distances, axis=-1), wnp.min(distances, axis=-1)


vq = types.SimpleNamespace(vq=_nearest)
