"""Searching, sorting, sets and counting."""
import builtins
import math

import numpy as np

from wick.errors import InvalidArgument, Unsupported
from wick.numpy.elementwise import isnan, truth
from wick.numpy.reductions import sum as total
from wick.trace import elements, index, ops
from wick.trace.eager import api, knows, sized
from wick.trace.scope import emit, emit_all, fail, name_of


def _numbers(x):
    x = ops.array(x)
    return ops.as_elem(x, "u8") if x.elem == "bool" else x


@api
def argmax(x, /, axis=None, *, keepdims=False):
    """The position of the largest element; the first one of equal ones."""
    return ops.arg_reduce("argmax", _numbers(x), axis, keepdims)


@api
def argmin(x, /, axis=None, *, keepdims=False):
    """The position of the least element; the first one of equal ones."""
    return ops.arg_reduce("argmin", _numbers(x), axis, keepdims)


def _sorted(x, axis, descending):
    """(the elements in order, their positions)"""
    x = ops.array(x)
    if axis is None:
        x, axis = ops.reshape(x, (x.size,)), 0
    axis = ops.axis_of("sort", axis, x.ndim)
    n = x.shape[axis]
    if n < 2 or not x.size:
        return x, ops.full(x.shape, 0, "i64")
    values, at = ops.top_k(_numbers(x), n, axis, not descending)
    return ops.as_elem(values, x.elem), at


@api
def sort(x, /, axis=-1, *, descending=False, stable=True):
    """The elements along an axis in order."""
    return _sorted(x, axis, descending)[0]


@api
def sort_complex(x, /):
    """The elements of each row in order, as complex numbers."""
    from wick.numpy.creation import astype
    return astype(_sorted(x, -1, False)[0], np.complex128 if ops.array(x).elem == "f64" else np.complex64)


@api
def argsort(x, /, axis=-1, *, descending=False, stable=True):
    """The positions that put the elements along an axis in order; equal elements keep their order."""
    return _sorted(x, axis, descending)[1]


@api
def lexsort(keys, axis=-1):
    """The positions that put rows in order by several keys, of which the last one matters most."""
    keys = [ops.array(k) for k in keys]
    at = argsort(keys[0], axis=axis)
    for k in keys[1:]:
        at = ops.gather_elements(at, argsort(ops.gather_elements(k, at, axis % k.ndim), axis=axis), axis % k.ndim)
    return at


@api
def searchsorted(x1, x2, /, *, side="left", sorter=None, method=None):
    """Where elements of x2 belong in the ascending vector x1. `method` changes nothing."""
    x1, x2 = ops.convert(x1, x2)
    if sorter is not None:
        x1 = index.get(x1, (sorter if isinstance(sorter, np.ndarray) else ops.array(sorter),))
    if x1.ndim != 1:
        fail(InvalidArgument, f"searchsorted: x1 has the shape {x1.shape}, expected a vector")
    if x1.size == 0:
        return ops.full(x2.shape, 0, "i64")
    shape = x2.shape
    if side == "left":
        return emit(f"op.search_sorted({name_of(x2)}, {name_of(x1)})", "i64", shape)
    turn = lambda x: ops.unary("neg" if elements.is_float(x.elem) else "bit_not", x)
    from wick.numpy.manipulation import flip
    back = flip(turn(x1))
    other = turn(x2)
    return ops.binary("sub", x1.size, emit(f"op.search_sorted({name_of(other)}, {name_of(back)})", "i64", shape))


@api
def digitize(x, bins, right=False):
    """The numbers of the bins that elements are in."""
    return searchsorted(bins, x, side="left" if right else "right")


@sized()
@api
def nonzero(x, /, *, size=None, fill_value=0):
    """The positions of elements that are not 0: an array for each dimension, of `size` elements."""
    if size is None:
        fail(Unsupported, "the number of elements that are not 0 is not known when the function is compiled: give size=, or use "
                          "wick.numpy.where(condition, x, y)")
    x = truth(x)
    at, count = emit_all(f"op.nonzero({name_of(ops.reshape(x, (x.size,)))})", [("i64", (x.size,)), ("i64", ())])
    size = ops.whole("nonzero: size", size)
    at = ops.slice(at, (0,), (builtins.min(size, x.size),))
    if size > x.size:
        at = ops.concat([at, ops.full((size - x.size,), 0, "i64")], 0)
    valid = ops.binary("lt", ops.iota(size), count, "bool")
    out = []
    for n in reversed(x.shape):
        out.append(ops.where(valid, ops.binary("mod", at, n), 0 if fill_value is None else fill_value))
        at = ops.binary("div", at, n)
    return tuple(reversed(out))


@sized()
def flatnonzero(x, *, size=None, fill_value=0):
    """The positions of elements of the flat array that are not 0."""
    from wick.numpy.manipulation import ravel
    return nonzero(ravel(x), size=size, fill_value=fill_value)[0]


@sized()
def argwhere(x, *, size=None, fill_value=0):
    """The positions of elements that are not 0, as rows."""
    from wick.numpy.manipulation import stack
    return stack(nonzero(x, size=size, fill_value=fill_value), axis=-1)


@knows("condition")
@api
def compress(condition, x, /, axis=None, *, size=None, fill_value=0):
    """The elements of x where a static condition is true; with `size` the first ones where any is, and `fill_value` after them."""
    x = ops.array(x)
    if axis is None:
        x, axis = ops.reshape(x, (x.size,)), 0
    if size is not None:
        axis, condition = ops.axis_of("compress", axis, x.ndim), ops.array(condition)
        x = ops.slice_axis(x, axis, 0, builtins.min(condition.size, x.shape[axis]))
        at, = nonzero(ops.slice_axis(condition, 0, 0, x.shape[axis]), size=size, fill_value=x.shape[axis])
        return index.At(x)[(builtins.slice(None),) * axis + (at,)].get(mode="fill", fill_value=fill_value)
    if not isinstance(condition, (np.ndarray, list, tuple)):
        fail(Unsupported, "compress needs a condition that is known when the function is compiled")
    at = np.flatnonzero(np.asarray(condition))
    return index.get(x, (builtins.slice(None),) * ops.axis_of("compress", axis, x.ndim) + (at,))


# ---- sets ----


def _rows_in_order(rows):
    """The positions that put rows in order by their first elements, then by their second ones, ..."""
    from wick.trace.control import fori
    count = rows.shape[1]

    def step(k, at):
        column = ops.dynamic_index(rows, ops.binary("sub", count - 1, ops.as_elem(k, "i64")), 1)
        return ops.gather(at, argsort(ops.gather(column, at, 0)), 0)

    return fori(0, count, step, ops.iota(rows.shape[0]))


def _new_ones(x, equal_nan):
    """Which elements along the first axis of a sorted array differ from those before them."""
    n = x.shape[0]
    late, early = [ops.slice_axis(x, 0, begin, n - 1) for begin in (1, 0)]
    different = ops.same("ne", late, early, elem="bool")
    if equal_nan and elements.is_float(x.elem):
        both = ops.same("and", ops.unary("isnan", late, "bool"), ops.unary("isnan", early, "bool"))
        different = ops.same("and", different, ops.unary("not", both))
    if x.ndim > 1:
        from wick.numpy.reductions import any
        different = any(different, axis=1)
    return ops.concat([ops.full((1,), True, "bool"), different], 0)


@api
def _unique(x, size, fill_value, axis=None, equal_nan=True):
    """(values, positions of their first occurrences, inverse, counts), with `size` values; along an axis the values are slices."""
    x = ops.array(x)
    if size is None:
        fail(Unsupported, "the number of different values is not known when the function is compiled: give size=")
    size = ops.whole("unique: size", size)
    if not x.size:
        fail(InvalidArgument, "unique of an array without elements")
    if axis is None:
        count, rest = x.size, ()
        values, at = _sorted(ops.reshape(x, (count,)), 0, False)
        at = at if count > 1 else ops.full((1,), 0, "i64")
    else:
        axis = ops.axis_of("unique", axis, x.ndim)
        moved = ops.move(x, axis, 0)
        count, rest = moved.shape[0], moved.shape[1:]
        rows = ops.reshape(moved, (count, math.prod(rest)))
        at = _rows_in_order(rows)
        values = ops.gather(rows, at, 0)
    number = ops.binary("sub", ops.cumulative("cumsum", ops.as_elem(_new_ones(values, equal_nan), "i64"), 0), 1)
    place = ops.where(ops.binary("lt", number, size, "bool"), number, size)
    begin = index.At(ops.full((size + 1,), count, "i64"))[place].min(ops.iota(count))
    begin = ops.slice(begin, (0,), (size,))
    counts = index.At(ops.full((size + 1,), 0, "i64"))[place].add(1)
    counts = ops.slice(counts, (0,), (size,))
    good = ops.binary("gt", counts, 0, "bool")
    from_ = ops.where(good, begin, 0)
    fill = ops.gather(values, ops.full((), 0, "i64"), 0) if fill_value is None else fill_value
    kept = good if axis is None else ops.reshape(good, (size, 1))
    made = ops.as_elem(ops.where(kept, ops.gather(values, from_, 0), fill), x.elem)
    if axis is not None:
        made = ops.move(ops.reshape(made, (size,) + rest), 0, axis)
    inverse = index.At(ops.full((count,), 0, "i64"))[at].set(number)
    return made, ops.gather(at, from_, 0), ops.reshape(inverse, x.shape) if axis is None else inverse, counts


@sized()
def unique(x, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, size=None, fill_value=None, sorted=True):
    """The `size` least different values, or slices along an axis, in order; fewer are filled up with `fill_value` (the least value)."""
    values, at, inverse, counts = _unique(x, size, fill_value, axis, equal_nan)
    more = [v for v, want in ((at, return_index), (inverse, return_inverse), (counts, return_counts)) if want]
    return (values, *more) if more else values


@sized(numpy=lambda x: np.unique(x, equal_nan=False))
def unique_values(x, /, *, size=None, fill_value=None):
    """The different values."""
    return unique(x, size=size, fill_value=fill_value, equal_nan=False)


@sized(numpy=lambda x: _named("unique_counts", "values counts")(*np.unique(x, return_counts=True, equal_nan=False)))
def unique_counts(x, /, *, size=None, fill_value=None):
    """(values, counts)"""
    return _named("unique_counts", "values counts")(*unique(x, return_counts=True, size=size, fill_value=fill_value, equal_nan=False))


def _known_inverse(x):
    values, inverse = np.unique(x, return_inverse=True, equal_nan=False)
    return _named("unique_inverse", "values inverse_indices")(values, inverse.reshape(np.shape(x)))


@sized(numpy=_known_inverse)
def unique_inverse(x, /, *, size=None, fill_value=None):
    """(values, inverse_indices)"""
    return _named("unique_inverse", "values inverse_indices")(*unique(x, return_inverse=True, size=size, fill_value=fill_value, equal_nan=False))


def _known_all(x):
    values, at, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    return _named("unique_all", "values indices inverse_indices counts")(values, at, inverse.reshape(np.shape(x)), counts)


@sized(numpy=_known_all)
def unique_all(x, /, *, size=None, fill_value=None):
    """(values, indices, inverse_indices, counts)"""
    return _named("unique_all", "values indices inverse_indices counts")(*_unique(x, size, fill_value, None, False))


def _named(name, fields):
    import collections
    return collections.namedtuple(name, fields)


@api
def isin(x, test, /, *, invert=False):
    """Whether each element of x is among those of `test`."""
    x, test = ops.convert(x, test)
    same = ops.same("eq", ops.reshape(x, x.shape + (1,)), ops.reshape(test, (test.size,)), elem="bool")
    from wick.numpy.reductions import any
    made = any(same, axis=-1)
    return ops.unary("not", made) if invert else made


# ---- counting ----


def _bincount(x, weights=None, minlength=0):
    counts = np.bincount(x, weights, minlength)
    return counts if weights is None else counts.astype(np.asarray(weights).dtype)


@sized("length", _bincount)
@api
def bincount(x, weights=None, minlength=0, *, length=None):
    """How often each whole number below `length` occurs, or the sum of its weights."""
    x = ops.array(x)
    if length is None:
        fail(Unsupported, "bincount: the largest number is not known when the function is compiled: give length=")
    weights = ops.full(x.shape, 1, "i64") if weights is None else ops.array(weights)
    length = builtins.max(length, minlength)
    return index.At(ops.full((length,), 0, weights.elem))[ops.as_elem(x, "i64")].add(weights, mode="drop")


@api
def histogram(x, bins=10, range=None, weights=None, density=False):
    """(counts, edges) of elements in intervals."""
    x = ops.floating(ops.reshape(ops.array(x), (-1,)))
    if isinstance(bins, int):
        from wick.numpy.creation import linspace
        low, high = (ops.reduce("min", x), ops.reduce("max", x)) if range is None else range
        edges = linspace(low, high, bins + 1)
    else:
        edges = ops.floating(bins)
    edges = ops.as_elem(edges, x.elem)
    n = edges.shape[0] - 1
    at = ops.binary("sub", searchsorted(edges, x, side="right"), 1)
    last = ops.same("eq", x, index.get(edges, -1), elem="bool")
    at = ops.where(last, n - 1, at)
    at = ops.where(ops.binary("lt", at, 0, "bool"), n, at)
    counts = bincount(at, None if weights is None else ops.reshape(ops.array(weights), (-1,)), length=n)
    counts = ops.as_elem(counts, x.elem) if weights is None else counts
    if not density:
        return counts, edges
    from wick.numpy.reductions import diff
    return ops.same("div", ops.same("div", counts, total(counts)), diff(edges)), edges


# ---- order statistics ----


@api
def quantile(x, q, axis=None, *, method="linear", keepdims=False):
    """The value below which a fraction q of the elements is."""
    x = ops.floating(x)
    axes = ops.axes_of("quantile", axis, x.ndim)
    kept = [k for k in builtins.range(x.ndim) if k not in axes]
    shape = tuple([x.shape[k] for k in kept])
    rows = ops.reshape(ops.transpose(x, kept + list(axes)), shape + (-1,))
    n = rows.shape[-1]
    values = _sorted(rows, -1, False)[0]
    q = ops.as_elem(q, x.elem)
    at = ops.binary("mul", q, float(n - 1))
    low = ops.unary("floor", at)
    pick = lambda i: _moved(index.get(values, (Ellipsis, ops.as_elem(i, "i64"))), q.ndim)
    a, b = pick(low), pick(ops.unary("ceil", at))
    part = ops.reshape(ops.same("sub", at, low), q.shape + (1,) * len(shape))
    if method == "linear":
        made = ops.same("add", a, ops.same("mul", part, ops.same("sub", b, a)))
    elif method in ("lower", "higher", "midpoint", "nearest"):
        near = ops.where(ops.binary("gt", part, 0.5, "bool"), b, a)
        made = {"lower": a, "higher": b, "midpoint": ops.binary("mul", ops.same("add", a, b), 0.5), "nearest": near}[method]
    else:
        fail(InvalidArgument, f"quantile: the method {method!r} is none of linear, lower, higher, midpoint, nearest")
    bad = isnan(rows)
    from wick.numpy.reductions import any
    made = ops.where(any(bad, axis=-1), math.nan, made)
    if not keepdims:
        return made
    return ops.reshape(made, q.shape + tuple([1 if k in axes else m for k, m in enumerate(x.shape)]))


def _moved(x, rank):
    """x with its last `rank` dimensions first."""
    return ops.transpose(x, list(builtins.range(x.ndim - rank, x.ndim)) + list(builtins.range(x.ndim - rank)))


def percentile(x, q, axis=None, *, method="linear", keepdims=False):
    """The value below which q percent of the elements are."""
    from wick.numpy.elementwise import divide
    return quantile(x, divide(q, 100.0), axis, method=method, keepdims=keepdims)


def median(x, axis=None, *, keepdims=False):
    """The element in the middle of the order, or the mean of the two."""
    return quantile(x, 0.5, axis, keepdims=keepdims)


@api
def interp(x, xp, fp, left=None, right=None, period=None):
    """The piecewise linear function through the points (xp, fp); with a period, between the last point and the first one, too."""
    x, xp, fp = [ops.floating(v) for v in ops.convert(x, xp, fp)]
    if period is not None:
        x, xp = [ops.binary("mod", v, builtins.abs(period)) for v in (x, xp)]
        order = argsort(xp)
        xp, fp = ops.gather(xp, order, 0), ops.gather(fp, order, 0)
        around = lambda v, by: ops.concat([ops.binary("sub", index.get(v, builtins.slice(-1, None)), by), v,
                                           ops.binary("add", index.get(v, builtins.slice(0, 1)), by)], 0)
        xp, fp = around(xp, builtins.abs(period)), around(fp, 0)
    n = xp.shape[0]
    k = emit(f"op.clip({name_of(searchsorted(xp, x, side='right'))}, (1 : i64), ({n - 1} : i64))", "i64", x.shape) if n > 1 else None
    if k is None:
        return ops.broadcast_to(fp, x.shape)
    before = ops.binary("sub", k, 1)
    x0, x1, f0, f1 = ops.gather(xp, before, 0), ops.gather(xp, k, 0), ops.gather(fp, before, 0), ops.gather(fp, k, 0)
    width = ops.same("sub", x1, x0)
    flat = ops.binary("eq", width, 0, "bool")
    part = ops.same("div", ops.same("sub", x, x0), ops.where(flat, 1, width))
    made = ops.same("add", f0, ops.same("mul", part, ops.same("sub", f1, f0)))
    made = ops.where(ops.same("lt", x, index.get(xp, 0), elem="bool"), index.get(fp, 0) if left is None else left, made)
    return ops.where(ops.same("gt", x, index.get(xp, -1), elem="bool"), index.get(fp, -1) if right is None else right, made)


@api
def argpartition(x, kth, axis=-1):
    """Positions whose elements are ordered about the kth: those in order are."""
    return argsort(x, axis=axis)


@api
def partition(x, kth, axis=-1):
    """The elements ordered about the kth: in order."""
    return sort(x, axis=axis)


@api
def nanargmax(x, axis=None, keepdims=False):
    """The position of the largest element that is a number; -1 where there is none."""
    return _nan_arg("argmax", -math.inf, x, axis, keepdims)


@api
def nanargmin(x, axis=None, keepdims=False):
    """The position of the least element that is a number; -1 where there is none."""
    return _nan_arg("argmin", math.inf, x, axis, keepdims)


def _nan_arg(op, neutral, x, axis, keepdims):
    from wick.numpy.reductions import all as all_of
    x = ops.floating(x)
    bad = isnan(x)
    at = ops.arg_reduce(op, ops.where(bad, neutral, x), axis, keepdims)
    return ops.where(all_of(bad, axis=axis, keepdims=keepdims), -1, at)


@api
def nanquantile(x, q, axis=None, *, method="linear", keepdims=False):
    """The value below which a fraction q of the elements is, without elements that are no numbers."""
    from wick.numpy.reductions import sum as sum_of
    x = ops.floating(x)
    axes = ops.axes_of("nanquantile", axis, x.ndim)
    kept = [k for k in builtins.range(x.ndim) if k not in axes]
    rows = ops.reshape(ops.transpose(x, kept + list(axes)), tuple([x.shape[k] for k in kept]) + (-1,))
    bad = isnan(rows)
    values = _sorted(ops.where(bad, math.inf, rows), -1, False)[0]
    count = sum_of(ops.unary("not", bad), axis=-1)
    q = ops.as_elem(q, x.elem)
    made = []
    for part in [q] if q.ndim == 0 else [index.get(q, k) for k in builtins.range(q.shape[0])]:
        at = part * ops.as_elem(ops.binary("max", count - 1, 0), x.elem)
        low = ops.unary("floor", at)
        pick = lambda i: ops.reshape(ops.gather_elements(values, ops.reshape(ops.as_elem(i, "i64"), i.shape + (1,)), len(kept)), i.shape)
        a, b = pick(low), pick(ops.unary("ceil", at))
        if method != "linear":
            fail(InvalidArgument, f"nanquantile: the method {method!r} is not supported, only linear")
        value = ops.where(count == 0, math.nan, a + (at - low) * (b - a))
        made.append(ops.reshape(value, tuple([1 if k in axes else m for k, m in enumerate(x.shape)])) if keepdims else value)
    return made[0] if q.ndim == 0 else ops.concat([ops.reshape(m, (1,) + m.shape) for m in made], 0)


def nanpercentile(x, q, axis=None, *, method="linear", keepdims=False):
    """The value below which q percent of the elements are, without elements that are no numbers."""
    from wick.numpy.elementwise import divide
    return nanquantile(x, divide(q, 100.0), axis, method=method, keepdims=keepdims)


def nanmedian(x, axis=None, *, keepdims=False):
    """The median without elements that are no numbers."""
    return nanquantile(x, 0.5, axis, keepdims=keepdims)


@sized()
def union1d(x, y, *, size=None, fill_value=None):
    """The `size` least values that are in x or in y."""
    from wick.numpy.manipulation import concatenate, ravel
    return unique(concatenate([ravel(x), ravel(y)]), size=size, fill_value=fill_value)


@sized()
@api
def setdiff1d(x, y, *, size=None, fill_value=None):
    """The `size` least values that are in x and not in y."""
    if size is None:
        fail(Unsupported, "setdiff1d: the number of elements is not known when the function is compiled: give size=")
    values, _, _, counts = _unique(x, ops.array(x).size, None)
    good = ops.unary("not", isin(values, y)) & (counts > 0)
    return _chosen(values, good, size, fill_value)


@sized()
@api
def intersect1d(x, y, assume_unique=False, return_indices=False, *, size=None, fill_value=None):
    """The `size` least values that are in x and in y."""
    if size is None or return_indices:
        fail(Unsupported, "intersect1d: the number of elements is not known when the function is compiled: give size=, and no return_indices=")
    values, _, _, counts = _unique(x, ops.array(x).size, None)
    return _chosen(values, isin(values, y) & (counts > 0), size, fill_value, first=True)


@sized()
@api
def setxor1d(x, y, assume_unique=False, *, size=None, fill_value=None):
    """The `size` least values that are in only one of x and y."""
    if size is None:
        fail(Unsupported, "setxor1d: the number of elements is not known when the function is compiled: give size=")
    n = ops.array(x).size + ops.array(y).size
    values = union1d(x, y, size=n)
    order = ops.iota(n)
    new = (order == 0) | (values != ops.gather(values, ops.where(order == 0, 0, order - 1), 0))
    return _chosen(values, new & (isin(values, x) != isin(values, y)), size, fill_value, first=True)


def _chosen(values, good, size, fill_value, first=False):
    """The first `size` of the values that are good; the fill is 0, or the first of them."""
    at = nonzero(good, size=size, fill_value=-1)[0]
    fill = ops.as_elem(0 if fill_value is None else fill_value, values.elem)
    if fill_value is None and first:
        some = ops.where(ops.reduce("max", good), ops.arg_reduce("argmax", ops.as_elem(good, "i64"), 0, False), 0)
        fill = ops.gather(values, some, 0)
    return ops.where(at < 0, fill, ops.gather(values, ops.where(at < 0, 0, at), 0))


@sized()
@api
def extract(condition, x, *, size=None, fill_value=0):
    """The first `size` elements of x where a condition is true."""
    if size is None:
        fail(Unsupported, "extract: the number of elements is not known when the function is compiled: give size=")
    x = ops.array(x)
    return _chosen(ops.reshape(x, (x.size,)), ops.reshape(truth(condition), (x.size,)), size, fill_value)


@api
def histogram_bin_edges(x, bins=10, range=None, weights=None):
    """The edges of histogram's intervals."""
    return histogram(x, bins, range)[1]


@api
def histogramdd(sample, bins=10, range=None, weights=None, density=None):
    """(counts, edges along each dimension) of points, which are the rows of an array or a list of their coordinates."""
    points = [ops.array(v) for v in sample] if isinstance(sample, (list, tuple)) else [index.get(sample, (slice(None), k)) for k in builtins.range(sample.shape[1])]
    each = list(bins) if isinstance(bins, (list, tuple)) else [bins] * len(points)
    if len(each) != len(points):
        fail(InvalidArgument, f"histogramdd: {len(each)} bins for points in {len(points)} dimensions")
    edges = [histogram_bin_edges(v, b, r) for v, b, r in zip(points, each, [None] * len(points) if range is None else range)]
    return _counted(points, edges, weights, density), edges


@api
def histogram2d(x, y, bins=10, range=None, weights=None, density=None):
    """(counts, edges of x, edges of y) of points in rectangles."""
    both = bins if isinstance(bins, (list, tuple)) and len(bins) == 2 else (bins, bins)
    ranges = (None, None) if range is None else range
    edges = [histogram_bin_edges(v, b, r) for v, b, r in zip((x, y), both, ranges)]
    return _counted((x, y), edges, weights, density), edges[0], edges[1]


def _counted(points, edges, weights, density):
    """The counts of points between edges, or their density."""
    at, n = None, [e.shape[0] - 1 for e in edges]
    inside, boxes = None, math.prod(n)
    for v, e, m in zip(points, edges, n):
        v = ops.as_elem(v, e.elem)
        k = searchsorted(e, v, side="right") - 1
        k = ops.where(ops.same("eq", v, index.get(e, -1), elem="bool"), m - 1, k)
        good = (k >= 0) & (k < m)
        inside = good if inside is None else inside & good
        at = k if at is None else at * m + k
    at = ops.where(inside, at, boxes)
    counts = ops.reshape(bincount(at, None if weights is None else ops.array(weights), length=boxes), n)
    if density:
        from wick.numpy.reductions import diff
        counts = ops.as_elem(counts, edges[0].elem)
        counts = counts / total(counts)
        for k, e in enumerate(edges):
            counts = counts / ops.reshape(diff(e), (-1,) + (1,) * (len(edges) - 1 - k))
    return counts
