"""Statistics: functions of all elements, or of those along axes."""
import builtins
import math

import numpy as np

from wick.errors import InvalidArgument
from wick.trace import elements, ops
from wick.trace.eager import api
from wick.trace.scope import fail


def _elem(dtype):
    from wick.numpy.creation import elem_of
    return elem_of(dtype)


def _wide(x):
    """x as sums and products have it: whole numbers of the widest type."""
    if elements.is_float(x.elem):
        return x
    return ops.as_elem(x, "u64" if x.elem in elements.UNSIGNED else "i64")


def _masked(x, where, neutral):
    return x if where is None else ops.where(where, x, neutral)


def _total(op, x, axis, dtype, keepdims, neutral, initial=None, where=None):
    x = ops.array(x)
    x = _wide(x) if dtype is None else ops.as_elem(x, _elem(dtype))
    made = ops.reduce(op, _masked(x, where, neutral), axis, keepdims)
    if initial is not None:
        made = ops.binary("add" if op == "sum" else "mul", made, initial)
    return made


@api
def sum(x, /, axis=None, *, dtype=None, keepdims=False, initial=None, where=None):
    """The sum along axes. Small whole numbers are summed as i64 or u64."""
    return _total("sum", x, axis, dtype, keepdims, 0, initial, where)


@api
def prod(x, /, axis=None, *, dtype=None, keepdims=False, initial=None, where=None):
    """The product along axes."""
    return _total("prod", x, axis, dtype, keepdims, 1, initial, where)


def _extreme(op, x, axis, keepdims, initial, where):
    x = ops.array(x)
    if where is not None and initial is None:
        fail(InvalidArgument, f"{op} with `where` needs `initial`")
    axes = ops.axes_of(op, axis, x.ndim)
    if initial is None and 0 in [x.shape[a] for a in axes]:
        fail(InvalidArgument, f"{op}: an array of the shape {x.shape} has no elements along {axes}")
    made = ops.reduce(op, _masked(x, where, initial), axis, keepdims)
    return made if initial is None else ops.as_elem(ops.binary(op, made, initial), x.elem)


@api
def max(x, /, axis=None, *, keepdims=False, initial=None, where=None):
    """The largest element along axes; NaN if there is one."""
    return _extreme("max", x, axis, keepdims, initial, where)


@api
def min(x, /, axis=None, *, keepdims=False, initial=None, where=None):
    """The least element along axes; NaN if there is one."""
    return _extreme("min", x, axis, keepdims, initial, where)


amax, amin = max, min


@api
def ptp(x, /, axis=None, *, keepdims=False):
    """The largest element minus the least."""
    return ops.binary("sub", max(x, axis=axis, keepdims=keepdims), min(x, axis=axis, keepdims=keepdims))


def _count(x, axis):
    return math.prod([x.shape[a] for a in ops.axes_of("mean", axis, x.ndim)])


@api
def mean(x, /, axis=None, *, dtype=None, keepdims=False, where=None):
    """The mean along axes, as floats."""
    x = ops.floating(x) if dtype is None else ops.as_elem(x, _elem(dtype))
    if where is not None:
        n = sum(ops.broadcast_to(ops.array(where), x.shape), axis=axis, keepdims=keepdims)
        return ops.same("div", sum(x, axis=axis, keepdims=keepdims, where=where), ops.as_elem(n, x.elem))
    return ops.reduce("mean", x, axis, keepdims)


@api
def average(x, /, axis=None, weights=None, *, returned=False, keepdims=False):
    """The mean, with weights."""
    x = ops.floating(x)
    if weights is None:
        made = mean(x, axis=axis, keepdims=keepdims)
        return (made, ops.full(made.shape, _count(x, axis), made.elem)) if returned else made
    weights = ops.as_elem(weights, x.elem)
    if weights.shape != x.shape:
        axis = ops.axis_of("average", axis, x.ndim)
        weights = ops.reshape(weights, (-1,) + (1,) * (x.ndim - axis - 1))
    total = sum(ops.broadcast_to(weights, x.shape), axis=axis, keepdims=keepdims)
    made = ops.same("div", sum(ops.same("mul", x, weights), axis=axis, keepdims=keepdims), total)
    return (made, total) if returned else made


@api
def var(x, /, axis=None, *, dtype=None, correction=0.0, ddof=None, keepdims=False, mean=None, where=None):
    """The mean of the squared distances from the mean. The sum is divided by the number of elements less `correction`."""
    x = ops.floating(x) if dtype is None else ops.as_elem(x, _elem(dtype))
    if where is not None:
        fail(InvalidArgument, "var: `where` is not supported")
    count = _count(x, axis) - (correction if ddof is None else ddof)
    center = ops.reduce("mean", x, axis, True) if mean is None else mean
    apart = ops.binary("sub", x, center)
    total = ops.reduce("sum", ops.same("mul", apart, apart), axis, keepdims)
    return ops.binary("div", total, float(builtins.max(count, 0)))


@api
def std(x, /, axis=None, *, dtype=None, correction=0.0, ddof=None, keepdims=False, mean=None, where=None):
    """The root of the variance."""
    return ops.unary("sqrt", var(x, axis=axis, dtype=dtype, correction=correction, ddof=ddof, keepdims=keepdims, mean=mean, where=where))


def _truth(op, x, axis, keepdims):
    from wick.numpy.elementwise import truth
    x = truth(x)
    if x.size == 0 or not ops.axes_of(op, axis, x.ndim):
        shape = ops.reduce("min", ops.full(x.shape, 0, "u8"), axis, keepdims).shape
        return x if x.size else ops.full(shape, op == "all", "bool")
    return ops.reduce("min" if op == "all" else "max", x, axis, keepdims)


@api
def all(x, /, axis=None, *, keepdims=False, where=None):
    """Whether all elements along axes are true, of those where `where` is true."""
    return _truth("all", _masked(x, where, True), axis, keepdims)


@api
def any(x, /, axis=None, *, keepdims=False, where=None):
    """Whether an element along axes is true, of those where `where` is true."""
    return _truth("any", _masked(x, where, False), axis, keepdims)


@api
def count_nonzero(x, /, axis=None, *, keepdims=False):
    """The number of elements that are not 0."""
    from wick.numpy.elementwise import truth
    return sum(truth(x), axis=axis, keepdims=keepdims)


@api
def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """The sums of the elements up to each position."""
    return _cumulative("cumsum", x, axis, dtype, include_initial, 0)


@api
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """The products of the elements up to each position."""
    return _cumulative("cumprod", x, axis, dtype, include_initial, 1)


def _cumulative(op, x, axis, dtype, initial, neutral):
    x = ops.array(x)
    if axis is None:
        if x.ndim > 1:
            fail(InvalidArgument, f"{op}: axis is needed for an array of the shape {x.shape}")
        x, axis = ops.reshape(x, (x.size,)), 0
    x = _wide(x) if dtype is None else ops.as_elem(x, _elem(dtype))
    axis = ops.axis_of(op, axis, x.ndim)
    made = ops.cumulative(op, x, axis)
    if not initial:
        return made
    first = ops.full(x.shape[:axis] + (1,) + x.shape[axis + 1:], neutral, x.elem)
    return ops.concat([first, made], axis)


def cumsum(x, /, axis=None, dtype=None):
    """The sums of the elements up to each position, in their type; without an axis those of the flat array."""
    return cumulative_sum(_flat(x, axis), axis=0 if axis is None else axis, dtype=_own(x, dtype))


def cumprod(x, /, axis=None, dtype=None):
    """The products of the elements up to each position, in their type; without an axis those of the flat array."""
    return cumulative_prod(_flat(x, axis), axis=0 if axis is None else axis, dtype=_own(x, dtype))


def _own(x, dtype):
    """The type of a running sum or product: that of whole numbers, else the default."""
    return dtype if dtype is not None or np.dtype(getattr(x, "dtype", bool)).kind not in "iu" else x.dtype


def _flat(x, axis):
    from wick.numpy.manipulation import ravel
    return ravel(x) if axis is None else x


def _running(op, x, axis):
    """The extremes of the elements up to each position, in log2(n) steps."""
    x = ops.array(x)
    axis = ops.axis_of(op, axis, x.ndim)
    n, step = x.shape[axis], 1
    while step < n:
        moved = ops.concat([ops.slice_axis(x, axis, 0, step), ops.slice_axis(x, axis, 0, n - step)], axis)
        x, step = ops.same(op, x, moved), 2 * step
    return x


@api
def cummax(x, /, axis=0):
    """The largest of the elements up to each position."""
    return _running("max", x, axis)


@api
def cummin(x, /, axis=0):
    """The least of the elements up to each position."""
    return _running("min", x, axis)


@api
def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """The differences of neighbours along an axis."""
    x = ops.array(x)
    axis = ops.axis_of("diff", axis, x.ndim)
    if n == 0:
        return x
    ends = [v if v is None else ops.as_elem(v, x.elem) for v in (prepend, append)]
    ends = [v if v is None or v.ndim else ops.broadcast_to(v, x.shape[:axis] + (1,) + x.shape[axis + 1:]) for v in ends]
    x = ops.concat([v for v in (ends[0], x, ends[1]) if v is not None], axis)
    for _ in range(n):
        m = x.shape[axis]
        a, b = ops.slice_axis(x, axis, 1, builtins.max(0, m - 1)), ops.slice_axis(x, axis, 0, builtins.max(0, m - 1))
        x = ops.same("ne" if x.elem == "bool" else "sub", a, b, elem=x.elem)
    return x


@api
def ediff1d(x, to_end=None, to_begin=None):
    """The differences of neighbours of the flat array, between numbers that are given."""
    from wick.numpy.manipulation import concat
    made = diff(_flat(x, None))
    parts = [ops.as_elem(v, made.elem) for v in (to_begin, made, to_end) if v is not None]
    return concat([ops.reshape(p, (p.size,)) for p in parts])


@api
def gradient(x, *spacing, axis=None):
    """Central differences, one-sided ones at the ends."""
    x = ops.floating(x)
    axes = ops.axes_of("gradient", axis, x.ndim)
    steps = list(spacing) * len(axes) if len(spacing) == 1 else list(spacing) or [1.0] * len(axes)
    out = []
    for a, h in zip(axes, steps):
        n = x.shape[a]
        part = lambda begin, count: ops.slice_axis(x, a, begin, count)
        inner = ops.binary("div", ops.same("sub", part(2, n - 2), part(0, n - 2)), 2 * h)
        first = ops.binary("div", ops.same("sub", part(1, 1), part(0, 1)), h)
        last = ops.binary("div", ops.same("sub", part(n - 1, 1), part(n - 2, 1)), h)
        out.append(ops.concat([first, inner, last], a))
    return out[0] if len(out) == 1 else out


@api
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral by the trapezoidal rule."""
    y = ops.floating(y)
    axis = ops.axis_of("trapezoid", axis, y.ndim)
    n = y.shape[axis]
    both = ops.same("add", ops.slice_axis(y, axis, 1, n - 1), ops.slice_axis(y, axis, 0, n - 1))
    width = dx
    if x is not None:
        x = ops.array(x)
        width = diff(x, axis=axis if x.ndim > 1 else 0)
        width = width if x.ndim > 1 else ops.reshape(width, (-1,) + (1,) * (y.ndim - axis - 1))
    return ops.binary("mul", sum(ops.binary("mul", both, width), axis=axis), 0.5)


# ---- without those that are no numbers ----


def _without(name, reduce, neutral):
    def made(x, /, axis=None, *, keepdims=False):
        from wick.numpy.elementwise import isnan
        x = ops.array(x)
        bad = isnan(x)
        out = reduce(ops.where(bad, neutral(x), x), axis=axis, keepdims=keepdims)
        if name in ("nansum", "nanprod") or not elements.is_float(x.elem):
            return out
        return ops.where(all(bad, axis=axis, keepdims=keepdims), math.nan, out)
    made.__name__, made.__doc__ = name, f"{name[3:]} without elements that are no numbers."
    return api(made)


nansum = _without("nansum", sum, lambda x: 0)
nanprod = _without("nanprod", prod, lambda x: 1)
nanmax = _without("nanmax", max, lambda x: elements.lowest(x.elem))
nanmin = _without("nanmin", min, lambda x: elements.highest(x.elem))


@api
def nanmean(x, /, axis=None, *, keepdims=False, where=None):
    """The mean without elements that are no numbers."""
    from wick.numpy.elementwise import isnan
    x = _masked(ops.floating(x), where, math.nan)
    return mean(x, axis=axis, keepdims=keepdims, where=ops.unary("not", isnan(x)))


@api
def nanvar(x, /, axis=None, *, keepdims=False, ddof=0, where=None):
    """The variance without elements that are no numbers."""
    from wick.numpy.elementwise import isnan
    x = _masked(ops.floating(x), where, math.nan)
    good = ops.unary("not", isnan(x))
    apart = ops.same("sub", x, nanmean(x, axis=axis, keepdims=True))
    total = sum(ops.same("mul", apart, apart), axis=axis, keepdims=keepdims, where=good)
    return ops.same("div", total, ops.as_elem(ops.binary("sub", sum(good, axis=axis, keepdims=keepdims), ddof), x.elem))


@api
def nanstd(x, /, axis=None, *, keepdims=False, ddof=0, where=None):
    """The standard deviation without elements that are no numbers."""
    return ops.unary("sqrt", nanvar(x, axis=axis, keepdims=keepdims, ddof=ddof, where=where))


@api
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    """The covariances of rows (`rowvar`) or columns, whose observations count `fweights` times and have the weights `aweights`."""
    from wick.numpy.manipulation import vstack
    m = ops.floating(m)
    m = ops.reshape(m, (1, m.size)) if m.ndim == 1 else m if rowvar else ops.transpose(m, (1, 0))
    if y is not None:
        m = vstack([m, y])
    ddof = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        mean, weighted, count = ops.reduce("mean", m, 1, True), lambda x: x, float(m.shape[1] - ddof)
    else:
        given = [ops.as_elem(ops.array(w), m.elem) for w in (fweights, aweights) if w is not None]
        if builtins.any([w.shape != m.shape[1:] for w in given]):
            fail(InvalidArgument, f"cov: the weights have the shapes {[w.shape for w in given]}, expected {m.shape[1:]}")
        w = ops.same("mul", *given) if len(given) == 2 else given[0]
        whole = ops.reduce("sum", w, None, False)
        lost = ops.same("div", ops.reduce("sum", ops.same("mul", w, given[-1]), None, False), whole)
        weighted = lambda x: ops.same("mul", x, w)
        mean = ops.same("div", ops.reduce("sum", weighted(m), 1, True), whole)
        count = ops.same("sub", whole, ops.binary("mul", lost, float(ddof)) if aweights is not None else ops.full((), float(ddof), m.elem))
    apart = ops.same("sub", m, mean)
    made = ops.binary("div", ops.matmul(weighted(apart), ops.transpose(apart, (1, 0))), count)
    return ops.reshape(made, ()) if made.size == 1 else made


@api
def corrcoef(x, y=None, rowvar=True):
    """The correlations of rows or columns."""
    from wick.numpy.manipulation import diagonal
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return ops.same("div", c, c)
    d = ops.unary("sqrt", diagonal(c))
    return ops.same("div", ops.same("div", c, ops.reshape(d, (-1, 1))), ops.reshape(d, (1, -1)))


@api
def nancumsum(x, axis=None):
    """The sums up to each position, without elements that are no numbers."""
    from wick.numpy.elementwise import isnan
    x = ops.array(x)
    return cumsum(ops.where(isnan(x), 0, x), axis=axis)


@api
def nancumprod(x, axis=None):
    """The products up to each position, without elements that are no numbers."""
    from wick.numpy.elementwise import isnan
    x = ops.array(x)
    return cumprod(ops.where(isnan(x), 1, x), axis=axis)
