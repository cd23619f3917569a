"""Functions that move elements."""
import builtins
import math

import numpy as np

from wick.errors import InvalidArgument, TypeMismatch, Unsupported
from wick.trace import elements, index, ops
from wick.trace.eager import api, is_traced, knows, made
from wick.trace.scope import Traced, emit, fail, name_of, sizes


def _arrays(what, xs, dtype=None):
    xs = [ops.array(x) for x in xs]
    if not xs:
        fail(InvalidArgument, f"{what}: there are no arrays")
    if dtype is not None:
        from wick.numpy.creation import elem_of
        return [ops.as_elem(x, elem_of(dtype)) for x in xs]
    return ops.convert(*xs)


@api
def reshape(x, /, shape, *, copy=None, order="C"):
    """The elements of x, in their order, with another shape; one size may be -1. In the order "F" the first axis is the fastest one."""
    x, shape = ops.array(x), ops.shape_of("reshape", shape)
    turned = lambda x: ops.transpose(x, range(x.ndim)[::-1])
    return turned(ops.reshape(turned(x), shape[::-1])) if _is_turned("reshape", order) else ops.reshape(x, shape)


def _is_turned(what, order):
    if order not in ("C", "K", "A", "F"):
        fail(InvalidArgument, f"{what}: the order {order!r} is not C or F")
    return order == "F"


@api
def ravel(x, /, order="C"):
    """The elements of x as a vector, in the order "F" with the first axis as the fastest one."""
    x = ops.array(x)
    return ops.reshape(ops.transpose(x, range(x.ndim)[::-1]) if _is_turned("ravel", order) else x, (x.size,))


@api
def concat(arrays, /, *, axis=0, dtype=None):
    """Arrays one after another along an axis; None: flattened."""
    xs = _arrays("concat", arrays, dtype)
    if isinstance(axis, Traced):
        fail(TypeMismatch, f"concat: the axis is an array of the shape {axis.shape}; arrays go into one list: concatenate([x, y])")
    if axis is None:
        xs, axis = [ops.reshape(x, (x.size,)) for x in xs], 0
    return ops.concat(xs, ops.axis_of("concat", axis, xs[0].ndim))


def concatenate(arrays, axis=0, dtype=None):
    """The same as concat."""
    return concat(arrays, axis=axis, dtype=dtype)


@api
def stack(arrays, /, axis=0, dtype=None):
    """Arrays of one shape along a new axis."""
    xs = _arrays("stack", arrays, dtype)
    for x in xs:
        if x.shape != xs[0].shape:
            fail(InvalidArgument, f"stack: the shapes differ: {' and '.join([str(x.shape) for x in xs])}")
    axis = ops.axis_of("stack", axis, xs[0].ndim + 1)
    return ops.concat([expand_dims(x, axis=axis) for x in xs], axis)


@api
def vstack(arrays):
    """Arrays one below another."""
    return ops.concat([x if x.ndim > 1 else ops.reshape(x, (1, x.size)) for x in _arrays("vstack", arrays)], 0)


@api
def hstack(arrays):
    """Arrays side by side."""
    xs = [x if x.ndim else ops.reshape(x, (1,)) for x in _arrays("hstack", arrays)]
    return ops.concat(xs, 0 if xs[0].ndim == 1 else 1)


@api
def dstack(arrays):
    """Arrays along the third axis."""
    return ops.concat([_at_least(x, 3) for x in _arrays("dstack", arrays)], 2)


@api
def column_stack(arrays):
    """Vectors as the columns of a matrix."""
    return ops.concat([x if x.ndim > 1 else ops.reshape(x, (x.size, 1)) for x in _arrays("column_stack", arrays)], 1)


row_stack = vstack


def _at_least(x, rank):
    if x.ndim >= rank:
        return x
    if rank == 3 and x.ndim:
        return ops.reshape(x, (1,) + x.shape + (1,) if x.ndim == 1 else x.shape + (1,))
    return ops.reshape(x, (1,) * (rank - x.ndim) + x.shape)


@api
def atleast_1d(x):
    """x with a dimension at least."""
    return _at_least(ops.array(x), 1)


@api
def atleast_2d(x):
    """x with two dimensions at least."""
    return _at_least(ops.array(x), 2)


@api
def atleast_3d(x):
    """x with three dimensions at least."""
    return _at_least(ops.array(x), 3)


@api
def expand_dims(x, /, axis=0):
    """x with new dimensions of size 1."""
    x = ops.array(x)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = x.ndim + len(axes)
    axes = ops.axes_of("expand_dims", tuple(axes), rank)
    rest = iter(x.shape)
    return ops.reshape(x, [1 if k in axes else next(rest) for k in range(rank)])


@api
def squeeze(x, /, axis=None):
    """x without dimensions of size 1."""
    x = ops.array(x)
    axes = [k for k, n in enumerate(x.shape) if n == 1] if axis is None else ops.axes_of("squeeze", axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            fail(InvalidArgument, f"squeeze: axis {a} of the shape {x.shape} has a size other than 1")
    return ops.reshape(x, [n for k, n in enumerate(x.shape) if k not in axes])


@api
def permute_dims(x, /, axes):
    """x with its dimensions in another order."""
    x = ops.array(x)
    axes = ops.axes_of("permute_dims", tuple(axes), x.ndim)
    if len(axes) != x.ndim:
        fail(InvalidArgument, f"permute_dims: {len(axes)} axes for the shape {x.shape}")
    return ops.transpose(x, axes)


@api
def transpose(x, /, axes=None):
    """x with its dimensions in another order, or reversed."""
    x = ops.array(x)
    return permute_dims(x, tuple(range(x.ndim))[::-1] if axes is None else tuple(axes))


@api
def matrix_transpose(x, /):
    """x with its last two dimensions exchanged."""
    return swapaxes(x, -1, -2)


@api
def swapaxes(x, axis1, axis2):
    """x with two dimensions exchanged."""
    x = ops.array(x)
    a, b = ops.axis_of("swapaxes", axis1, x.ndim), ops.axis_of("swapaxes", axis2, x.ndim)
    perm = list(range(x.ndim))
    perm[a], perm[b] = b, a
    return ops.transpose(x, perm)


@api
def moveaxis(x, source, destination, /):
    """x with dimensions at other places."""
    x = ops.array(x)
    source, to = ops.axes_of("moveaxis", source, x.ndim), ops.axes_of("moveaxis", destination, x.ndim)
    if len(source) != len(to):
        fail(InvalidArgument, "moveaxis: as many destinations as sources are needed")
    perm = [k for k in range(x.ndim) if k not in source]
    for d, s in sorted(zip(to, source)):
        perm.insert(d, s)
    return ops.transpose(x, perm)


@api
def rollaxis(x, axis, start=0):
    """x with an axis moved before another one."""
    x = ops.array(x)
    axis = ops.axis_of("rollaxis", axis, x.ndim)
    start = start + x.ndim if start < 0 else start
    return moveaxis(x, axis, start - (axis < start))


@api
def broadcast_to(x, /, shape):
    """x repeated along dimensions of size 1."""
    return ops.broadcast_to(ops.array(x), ops.shape_of("broadcast_to", shape))


@api
def broadcast_arrays(*arrays):
    """Arrays of the shape that they broadcast to."""
    xs = [ops.array(x) for x in arrays]
    shape = ops.broadcast_shapes("broadcast_arrays", *[x.shape for x in xs])
    return [ops.broadcast_to(x, shape) for x in xs]


@api
def flip(x, /, axis=None):
    """x backwards along axes."""
    x = ops.array(x)
    axes = ops.axes_of("flip", axis, x.ndim)
    if not x.size or not axes:
        return x
    return ops.slice(x, [n - 1 if k in axes else 0 for k, n in enumerate(x.shape)], x.shape,
                     [-1 if k in axes else 1 for k in range(x.ndim)])


def fliplr(x):
    """x with its columns backwards."""
    return flip(x, axis=1)


def flipud(x):
    """x with its rows backwards."""
    return flip(x, axis=0)


@api
def rot90(x, k=1, axes=(0, 1)):
    """x turned by k right angles."""
    k, (a, b) = k % 4, axes
    if k == 0:
        return ops.array(x)
    if k == 2:
        return flip(x, axis=(a, b))
    return swapaxes(flip(x, axis=b), a, b) if k == 1 else flip(swapaxes(x, a, b), axis=b)


@api
def roll(x, /, shift, axis=None):
    """x with its elements moved along axes; those that leave come in on the other side."""
    x = ops.array(x)
    if axis is None:
        return ops.reshape(roll(ops.reshape(x, (x.size,)), shift, 0), x.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for s, a in zip(shifts, axes):
        a = ops.axis_of("roll", a, x.ndim)
        n = x.shape[a]
        if n == 0:
            continue
        if hasattr(s, "scope"):
            at = ops.binary("mod", ops.binary("sub", ops.iota(n), ops.as_elem(s, "i64")), n)
            x = ops.gather(x, at, a)
        elif ops.whole("roll", s) % n:
            cut = n - s % n
            x = ops.concat([ops.slice_axis(x, a, cut, n - cut), ops.slice_axis(x, a, 0, cut)], a)
    return x


def trim_zeros(x, /, trim="fb"):
    """A vector without the zeros at its front (f) and back (b)."""
    if is_traced(x):
        fail(Unsupported, "trim_zeros: the number of zeros is not known when the function is compiled")
    return made(np.trim_zeros(np.asarray(x), trim))


@knows("repeats")
@api
def repeat(x, repeats, /, axis=None, *, total_repeat_length=None):
    """x with each element repeated along an axis."""
    x = ops.array(x)
    if axis is None:
        x, axis = ops.reshape(x, (x.size,)), 0
    axis = ops.axis_of("repeat", axis, x.ndim)
    if isinstance(repeats, Traced) and total_repeat_length is not None:
        from wick.numpy.reductions import cumsum
        from wick.numpy.searching import searchsorted
        ends = cumsum(ops.broadcast_to(repeats, (x.shape[axis],)))
        places = searchsorted(ends, ops.iota(ops.whole("repeat: total_repeat_length", total_repeat_length), ends.elem), side="right")
        return index.get(x, (builtins.slice(None),) * axis + (ops.binary("min", places, x.shape[axis] - 1),))
    if isinstance(repeats, (list, tuple, np.ndarray)) and np.ndim(repeats) and len(repeats) != 1:
        return index.get(x, (builtins.slice(None),) * axis + (np.repeat(np.arange(x.shape[axis]), np.asarray(repeats, np.int64 if not len(repeats) else None)),))
    if isinstance(repeats, (list, tuple, np.ndarray)):
        repeats = int(np.asarray(repeats).reshape(()))
    n = ops.whole("repeat: repeats", repeats)
    head, tail = x.shape[:axis], x.shape[axis + 1:]
    wide = ops.broadcast_to(ops.reshape(x, head + (x.shape[axis], 1) + tail), head + (x.shape[axis], n) + tail)
    return ops.reshape(wide, head + (x.shape[axis] * n,) + tail)


@api
def tile(x, repetitions, /):
    """x repeated as a whole along each dimension."""
    x = ops.array(x)
    times = ops.shape_of("tile", repetitions)
    times = (1,) * (x.ndim - len(times)) + times
    x = ops.reshape(x, (1,) * (len(times) - x.ndim) + x.shape)
    if all([t == 1 for t in times]):
        return x
    return emit(f"op.tile({name_of(x)}, repeats = {sizes(times)})", x.elem, tuple([n * t for n, t in zip(x.shape, times)]))


@api
def unstack(x, /, *, axis=0):
    """The parts of x along an axis, as a tuple."""
    x = ops.array(x)
    axis = ops.axis_of("unstack", axis, x.ndim)
    return tuple([index.get(x, (builtins.slice(None),) * axis + (k,)) for k in range(x.shape[axis])])


@knows("indices_or_sections")
@api
def split(x, indices_or_sections, /, axis=0):
    """x in equal parts, or cut at positions."""
    x = ops.array(x)
    axis = ops.axis_of("split", axis, x.ndim)
    n = x.shape[axis]
    if isinstance(indices_or_sections, (list, tuple, np.ndarray)):
        cuts = [builtins.min(c if c >= 0 else n + c, n) for c in map(int, indices_or_sections)]
    else:
        parts = ops.whole("split", indices_or_sections)
        if parts < 1 or n % parts:
            fail(InvalidArgument, f"split: {n} elements do not make {parts} equal parts")
        cuts = [n // parts * k for k in range(1, parts)]
    ends = [0] + cuts + [n]
    return [ops.slice_axis(x, axis, a, builtins.max(0, b - a)) for a, b in zip(ends, ends[1:])]


@knows("sections")
@api
def array_split(x, sections, /, axis=0):
    """x in parts, of which the first ones may have one element more."""
    n = ops.array(x).shape[axis]
    if isinstance(sections, (list, tuple, np.ndarray)):
        return split(x, sections, axis)
    small, more = n // sections, n % sections
    return split(x, list(np.cumsum([small + 1] * more + [small] * (sections - more))[:-1]), axis)


def hsplit(x, sections):
    """split along the columns."""
    return split(x, sections, 1 if len(np.shape(x) if not hasattr(x, "shape") else x.shape) > 1 else 0)


def vsplit(x, sections):
    """split along the rows."""
    return split(x, sections, 0)


def dsplit(x, sections):
    """split along the third axis."""
    return split(x, sections, 2)


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


@api
def pad(x, pad_width, mode="constant", *, constant_values=0, end_values=0, stat_length=None, reflect_type="even"):
    """x with elements added at the ends of its dimensions."""
    x = ops.array(x)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(k, pad_width.get(k - x.ndim, 0)) for k in range(x.ndim)]
        pad_width = [w if isinstance(w, (tuple, list)) else (w, w) for w in pad_width]
    if np.shape(pad_width) not in ((), (1,), (2,), (1, 2), (x.ndim, 1), (x.ndim, 2)):
        fail(InvalidArgument, f"pad: the widths {pad_width} are none for the {x.ndim} dimensions of x")
    widths = np.broadcast_to(np.asarray(pad_width, np.int64), (x.ndim, 2)).tolist()
    if any([w < 0 for row in widths for w in row]):
        fail(InvalidArgument, f"pad: a width in {pad_width} is negative")
    before, after = [w[0] for w in widths], [w[1] for w in widths]
    if mode == "symmetric" and reflect_type == "even":
        return _pad_symmetric(x, widths)
    if mode in _OF_ENDS or reflect_type == "odd":
        return _pad_by_ends(x, widths, mode, end_values, stat_length)
    if mode not in _MODES:
        fail(InvalidArgument, f"pad: the mode {mode!r} is none of {', '.join([*_MODES, *_OF_ENDS])}, symmetric")
    if mode == "constant" and isinstance(constant_values, (tuple, list)):
        return _pad_unequal(x, widths, constant_values)
    if mode == "wrap" or (mode == "reflect" and any([builtins.max(w) >= n for w, n in zip(widths, x.shape)])):
        return _pad_by_positions(x, widths, mode)
    if x.elem == "bool":
        return ops.as_elem(ops.pad(ops.as_elem(x, "u8"), before, after, mode, constant_values), "bool")
    return ops.pad(x, before, after, mode, constant_values)


_OF_ENDS = ("linear_ramp", "maximum", "minimum", "mean", "median", "empty")


def _pad_by_ends(x, widths, mode, end_values, stat_length):
    """Of each axis by itself: numbers that are computed from the elements at its ends."""
    goals = np.broadcast_to(np.asarray(end_values), (x.ndim, 2)).tolist()
    lengths = None if stat_length is None else np.broadcast_to(np.asarray(stat_length), (x.ndim, 2)).tolist()
    for a, ends in enumerate(widths):
        parts = []
        for high, n in enumerate(ends):
            turned = ops.slice_axis(x, a, x.shape[a] - 1, x.shape[a], -1) if high else x
            length = None if lengths is None else lengths[a][high]
            part = _end(turned, a, n, mode, goals[a][high], length) if n else None
            parts.append(ops.slice_axis(part, a, n - 1, n, -1) if n and high else part)
        x = ops.concat([p for p in (parts[0], x, parts[1]) if p is not None], a)
    return x


def _end(x, axis, n, mode, goal, length):
    """The n elements that come before those of an axis."""
    shape = x.shape[:axis] + (n,) + x.shape[axis + 1:]
    if mode == "empty":
        return ops.full(shape, 0, x.elem)
    if mode in ("reflect", "symmetric"):
        first, skipped = ops.slice_axis(x, axis, 0, 1), int(mode == "reflect")
        if n > x.shape[axis] - skipped:
            fail(Unsupported, f"pad: odd reflections of more than the {x.shape[axis]} elements of an axis are not supported")
        turned = ops.slice_axis(x, axis, n - 1 + skipped, n, -1)
        return ops.same("sub", ops.same("add", first, first), turned)
    if mode == "linear_ramp":
        at = ops.reshape(ops.constant((np.arange(n) / n).astype(np.float32)), [n if k == axis else 1 for k in range(x.ndim)])
        first = ops.floating(ops.slice_axis(x, axis, 0, 1))
        ramp = ops.binary("add", goal, ops.binary("mul", ops.binary("sub", first, goal), ops.as_elem(at, first.elem)))
        return ops.as_elem(ramp, x.elem)
    from wick.numpy import reductions
    some = x if length is None else ops.slice_axis(x, axis, 0, builtins.min(length, x.shape[axis]))
    if mode == "median":
        from wick.numpy.searching import median
        made = median(some, axis=axis, keepdims=True)
    else:
        made = getattr(reductions, {"maximum": "max", "minimum": "min", "mean": "mean"}[mode])(some, axis=axis, keepdims=True)
    if not elements.is_float(x.elem):
        made = ops.unary("round_even", made) if elements.is_float(made.elem) else made
    return ops.broadcast_to(ops.as_elem(made, x.elem), shape)


def _pad_by_positions(x, widths, mode):
    for a, (b, e) in enumerate(widths):
        if b or e:
            at = np.pad(np.arange(x.shape[a]), (b, e), mode=mode)
            x = index.get(x, (builtins.slice(None),) * a + (at,))
    return x


def _pad_symmetric(x, widths):
    return _pad_by_positions(x, widths, "symmetric")


def _pad_unequal(x, widths, values):
    values = np.broadcast_to(np.asarray(values), (x.ndim, 2)).tolist()
    for a, ((b, e), (v, w)) in enumerate(zip(widths, values)):
        part = lambda n, value: ops.full(x.shape[:a] + (n,) + x.shape[a + 1:], value, x.elem)
        x = ops.concat([part(b, v), x, part(e, w)], a)
    return x


@api
def append(x, values, axis=None):
    """x, and values after it."""
    return concat([x, values], axis=axis)


@api
def delete(x, at, axis=None, *, assume_unique_indices=False):
    """x without the elements at static positions, or at traced ones that are different."""
    x = ops.array(x)
    if axis is None:
        x, axis = ops.reshape(x, (x.size,)), 0
    if isinstance(at, Traced) and (at.size == 1 or assume_unique_indices):
        from wick.numpy.searching import nonzero
        axis = ops.axis_of("delete", axis, x.ndim)
        kept = index.At(ops.full((x.shape[axis],), True, "bool"))[ops.reshape(at, (at.size,))].set(False)
        at, = nonzero(kept, size=x.shape[axis] - at.size)
        return index.get(x, (builtins.slice(None),) * axis + (at,))
    kept = np.delete(np.arange(x.shape[axis]), at)
    return index.get(x, (builtins.slice(None),) * ops.axis_of("delete", axis, x.ndim) + (kept,))


@api
def insert(x, at, values, axis=None):
    """x with values before static positions."""
    x = ops.array(x)
    if axis is None:
        x, axis = ops.reshape(x, (x.size,)), 0
    axis = ops.axis_of("insert", axis, x.ndim)
    n, at = x.shape[axis], np.atleast_1d(np.asarray(at))
    if len(at) != 1:
        fail(InvalidArgument, "insert: one position is supported")
    k = int(at[0]) % (n + 1) if at[0] >= 0 else n + int(at[0])
    values = ops.as_elem(values, x.elem)
    if values.ndim < x.ndim:
        count = values.shape[0] if values.ndim == 1 and x.ndim == 1 else 1
        values = ops.broadcast_to(values if x.ndim > 1 else ops.reshape(values, (count,)), x.shape[:axis] + (count,) + x.shape[axis + 1:])
    return ops.concat([ops.slice_axis(x, axis, 0, k), values, ops.slice_axis(x, axis, k, n - k)], axis)


@api
def diag(x, /, k=0):
    """The diagonal of a matrix, or a matrix with this diagonal."""
    x = ops.array(x)
    if x.ndim not in (1, 2):
        fail(InvalidArgument, f"diag: x has the shape {x.shape}, expected a vector or a matrix")
    if x.ndim == 1:
        n = x.size + builtins.abs(k)
        at = np.arange(x.size)
        return index.At(ops.full((n, n), 0, x.elem))[at + builtins.max(-k, 0), at + builtins.max(k, 0)].set(x)
    return diagonal(x, k)


@api
def diagonal(x, /, offset=0, axis1=0, axis2=1):
    """The elements on a diagonal of matrices, along a last axis."""
    x = ops.array(x)
    a, b = ops.axis_of("diagonal", axis1, x.ndim), ops.axis_of("diagonal", axis2, x.ndim)
    x = ops.transpose(x, [k for k in range(x.ndim) if k not in (a, b)] + [a, b])
    n, m = x.shape[-2:]
    count = builtins.max(0, builtins.min(n + builtins.min(offset, 0), m - builtins.max(offset, 0)))
    at = np.arange(count)
    return index.get(x, (Ellipsis, at + builtins.max(-offset, 0), at + builtins.max(offset, 0)))


@api
def trace(x, /, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of the elements on a diagonal of matrices."""
    from wick.numpy.reductions import sum as sum_of
    return sum_of(diagonal(x, offset, axis1, axis2), axis=-1, dtype=dtype)


@api
def diagflat(x, k=0):
    """A matrix with the elements of x on a diagonal."""
    return diag(ravel(x), k)


@api
def take(x, indices, /, axis=None, *, mode=None, fill_value=None, unique_indices=False, indices_are_sorted=False):
    """Elements or rows at indices. Those outside: mode "fill" (the default) gives `fill_value`, the number that is none for
    floats; "clip" takes the nearest, "wrap" counts on from the other end."""
    x, indices = ops.array(x), indices
    if axis is None:
        x, axis = ops.reshape(x, (x.size,)), 0
    axis = ops.axis_of("take", axis, x.ndim)
    indices = indices if isinstance(indices, np.ndarray) and indices.size and -x.shape[axis] <= indices.min() and indices.max() < x.shape[axis] \
        else ops.array(indices)
    if mode not in (None, "fill", "clip", "wrap"):
        fail(InvalidArgument, f"take: the mode {mode!r} is none of fill, clip, wrap")
    if mode == "wrap":
        n = x.shape[axis]
        indices = ops.as_elem(indices, "i64") % n
    if mode == "clip":
        indices = ops.binary("max", indices, 0)
    place = (builtins.slice(None),) * axis + (indices,)
    return index.At(x)[place].get(mode="fill" if mode is None else mode, fill_value=fill_value)


@api
def take_along_axis(x, indices, /, axis=-1, *, mode="clip", fill_value=None):
    """For each element of the indices the element of x at this position along an axis; with the mode "fill", `fill_value`
    for positions outside."""
    x, indices = ops.array(x), ops.as_elem(indices, "i64")
    if axis is None:
        x, axis = ops.reshape(x, (x.size,)), 0
    axis = ops.axis_of("take_along_axis", axis, x.ndim)
    if indices.ndim != x.ndim:
        fail(InvalidArgument, f"take_along_axis: the shapes {x.shape} and {indices.shape} have different ranks")
    shape = ops.broadcast_shapes("take_along_axis", x.shape[:axis] + (1,) + x.shape[axis + 1:], indices.shape[:axis] + (1,) + indices.shape[axis + 1:])
    x = ops.broadcast_to(x, shape[:axis] + (x.shape[axis],) + shape[axis + 1:])
    indices = ops.broadcast_to(indices, shape[:axis] + (indices.shape[axis],) + shape[axis + 1:])
    made = ops.gather_elements(x, index._clamped(indices, x.shape[axis]), axis)
    if getattr(mode, "name", mode) not in ("fill", "FILL_OR_DROP"):
        return made
    return ops.where(index._inside(indices, x.shape[axis]), made, index.missing(x.elem) if fill_value is None else fill_value)


@api
def put_along_axis(x, indices, values, axis, *, inplace=False):
    """x with values at these positions along an axis."""
    x, indices = ops.array(x), ops.as_elem(indices, "i64")
    axis = ops.axis_of("put_along_axis", axis, x.ndim)
    if indices.ndim != x.ndim:
        fail(InvalidArgument, f"put_along_axis: the indices have {indices.ndim} dimensions, the array has {x.ndim}")
    count = ops.broadcast_shapes("put_along_axis", indices.shape[axis:axis + 1], np.shape(values)[axis - x.ndim:][:1])
    shape = x.shape[:axis] + count + x.shape[axis + 1:]
    indices, values = ops.broadcast_to(indices, shape), ops.broadcast_to(ops.as_elem(values, x.elem), shape)
    return emit(f'op.scatter_elements({name_of(x)}, {name_of(indices)}, {name_of(values)}, axis = {axis})', x.elem, x.shape)


@api
def choose(a, choices, out=None, mode="clip"):
    """For each element of a, the element of that choice; numbers outside are clamped, or wrapped with mode="wrap"."""
    if out is not None or mode not in ("clip", "wrap", "raise"):
        fail(InvalidArgument, f"choose: out={out!r} and mode={mode!r}, expected no out, and a mode of clip, wrap")
    a, choices = ops.as_elem(a, "i64"), _arrays("choose", choices)
    if mode == "wrap":
        a = ops.array(a % len(choices))
    shape = ops.broadcast_shapes("choose", a.shape, *[c.shape for c in choices])
    table = ops.concat([ops.reshape(ops.broadcast_to(c, shape), (1,) + shape) for c in choices], 0)
    at = index._clamped(ops.reshape(ops.broadcast_to(a, shape), (1,) + shape), len(choices))
    return ops.reshape(ops.gather_elements(table, at, 0), shape)


@api
def resize(x, shape):
    """The elements of x, repeated as often as the shape needs."""
    x, shape = ravel(x), ops.shape_of("resize", shape)
    count = math.prod(shape)
    return ops.reshape(index.get(x, (np.arange(count) % x.size,)), shape)


@api
def fill_diagonal(x, value, wrap=False, *, inplace=False):
    """x with a value, or a vector of them, on its diagonal."""
    x = ops.array(x)
    n = builtins.min(x.shape)
    at = np.arange(n)
    value = ops.as_elem(value, x.elem)
    value = ops.reshape(value, (value.size,))
    value = index.get(value, (np.arange(n) % value.size,))
    return index.At(x)[(at,) * x.ndim].set(value)


@api
def put(x, at, values, mode=None, *, inplace=False):
    """x with values at positions of the flat array."""
    x = ops.array(x)
    at = ops.array(at)
    flat = index.At(ops.reshape(x, (x.size,)))[ops.reshape(at, (at.size,))].set(values, mode="drop" if mode is None else "clip")
    return ops.reshape(flat, x.shape)


@api
def place(x, mask, values, *, inplace=False):
    """x with values, one after another, where a mask is true."""
    from wick.numpy.reductions import cumsum
    x, values = ops.array(x), ops.as_elem(values, ops.array(x).elem)
    mask = ops.reshape(ops.as_elem(mask, "bool"), (x.size,))
    at = (cumsum(ops.as_elem(mask, "i64")) - 1) % values.size
    at = ops.binary("max", at, 0)
    return ops.reshape(ops.where(mask, ops.gather(ops.reshape(values, (values.size,)), at, 0), ops.reshape(x, (x.size,))), x.shape)
