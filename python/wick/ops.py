"""Reductions of rows by the segment that each belongs to, as in jax.ops."""
import functools

import numpy as np

from wick.errors import Unsupported
from wick.trace import elements, index, ops
from wick.trace.eager import api, is_traced
from wick.trace.scope import fail


def _segments(name, doc, reduction, neutral):
    @api
    def reduced(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None):
        if num_segments is None:
            fail(Unsupported, f"{name}: the number of segments is not known when the function is compiled: give num_segments=")
        data, ids = ops.array(data), ops.array(segment_ids)
        shape = (ops.whole("num_segments", num_segments),) + data.shape[ids.ndim:]
        start = ops.full(shape, neutral(data.elem), data.elem)
        ids = ops.where(ids < 0, 0 if mode == "clip" else shape[0], ids)  # a negative number does not count from the end
        return getattr(index.At(start)[ids], reduction)(data, mode="drop" if mode is None else mode)

    @functools.wraps(reduced)
    def called(data, segment_ids, num_segments=None, *args, **named):
        if num_segments is None and not is_traced(segment_ids):
            num_segments = int(np.max(segment_ids, initial=-1)) + 1
        return reduced(data, segment_ids, num_segments, *args, **named)

    called.__name__, called.__doc__ = name, doc
    return called


segment_sum = _segments("segment_sum", "The sums of the rows of each segment.", "add", lambda elem: 0)
segment_prod = _segments("segment_prod", "The products of the rows of each segment.", "multiply", lambda elem: 1)
segment_max = _segments("segment_max", "The largest rows of each segment.", "max", elements.lowest)
segment_min = _segments("segment_min", "The least rows of each segment.", "min", elements.highest)
