"""Functions of functions, grids, and what is written with brackets: mgrid, ogrid, r_, c_, s_."""
import builtins
import math

import numpy as np

from wick.errors import InvalidArgument, TypeMismatch, Unsupported
from wick.numpy.creation import asarray as _asarray
from wick.numpy.elementwise import where as _where
from wick.numpy.manipulation import concatenate as _concatenate
from wick.trace import ops
from wick.trace.eager import api, is_traced, made
from wick.trace.scope import fail


def vectorize(pyfunc=None, *, excluded=frozenset(), signature=None):
    """pyfunc, which takes single elements, or arrays of the dimensions that `signature` names ("(n),(n)->()"), for arrays
    that broadcast."""
    if pyfunc is None:
        return lambda f: vectorize(f, excluded=excluded, signature=signature)
    from wick.trace.function import Function

    def vectorized(*args):
        args = [x if k in excluded else ops.array(x) for k, x in enumerate(args)]
        ranks = [0 if k not in excluded else None for k in range(len(args))]
        if signature is not None:
            terms = [t.strip(" ()") for t in signature.split("->")[0].split("),")]
            if len(terms) != len(args):
                fail(InvalidArgument, f"vectorize: the signature {signature!r} is for {len(terms)} arguments, {len(args)} are given")
            ranks = [None if k in excluded else len([n for n in t.split(",") if n]) for k, t in enumerate(terms)]
        return _vectorized(pyfunc, args, ranks)

    vectorized.__name__ = getattr(pyfunc, "__name__", "vectorized")
    return Function(vectorized)


def _vectorized(f, args, ranks):
    """Adds the dimensions before the last `rank` of each argument by vmap, one after another."""
    from wick.trace.transform import vmap
    outer = [x.shape[:x.ndim - r] if r is not None else () for x, r in zip(args, ranks)]
    shape = ops.broadcast_shapes("vectorize", *outer)
    for k in range(len(shape)):  # from the last dimension, which is innermost
        axes = []
        for s in outer:
            there = k < len(s) and (s[-1 - k] != 1 or shape[-1 - k] == 1)
            axes.append(0 if there else None)
        f = _over(vmap, f, tuple(axes))
    flat = []
    for x, s in zip(args, outer):
        if hasattr(x, "scope"):
            kept = [n for k, n in enumerate(s) if n != 1 or shape[k + len(shape) - len(s)] == 1]
            x = ops.reshape(x, tuple(kept) + x.shape[len(s):])
        flat.append(x)
    return f(*flat)


def _over(vmap, f, axes):
    return vmap(f, in_axes=axes) if any([a is not None for a in axes]) else f


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d of each vector along an axis."""
    from wick.trace.function import Function

    def applied(x):
        from wick.trace.transform import vmap
        a = ops.axis_of("apply_along_axis", axis, x.ndim)
        rows = ops.move(x, a, x.ndim - 1)
        f = lambda v: func1d(v, *args, **kwargs)
        for _ in range(x.ndim - 1):
            f = vmap(f)
        out = ops.array(f(rows))
        for k in range(out.ndim - (x.ndim - 1)):  # the result's own dimensions go to the axis
            out = ops.move(out, x.ndim - 1 + k, a + k)
        return out

    return Function(applied)(ops.array(arr) if is_traced(arr) else arr)


def apply_over_axes(func, a, axes):
    """func(a, axis) for one axis after another, with the dimensions kept."""
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        b = func(a, axis=axis)
        a = b if b.ndim == a.ndim else b.reshape(a.shape[:axis % a.ndim] + (1,) + a.shape[axis % a.ndim + 1:])
    return a


@api
def piecewise(x, condlist, funclist, *args, **kw):
    """The value of the function of the last condition that is true; one more function is for the others."""
    x = ops.array(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    functions = list(funclist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        fail(InvalidArgument, f"piecewise: {len(functions)} functions for {len(conditions)} conditions")
    value = lambda f: f(x, *args, **kw) if callable(f) else f
    out = value(functions[-1]) if len(functions) > len(conditions) else 0
    out = ops.broadcast_to(ops.as_elem(out, x.elem), x.shape)
    for c, f in zip(conditions, functions):
        out = ops.as_elem(_where(c, value(f), out), x.elem)
    return out


def fromfunction(function, shape, *, dtype=float, **kwargs):
    """function of the positions along each axis."""
    at = np.indices(shape)
    return function(*[_asarray(a, dtype=dtype) for a in at], **kwargs)


def ix_(*args):
    """Index arrays for the product of positions."""
    if not is_traced(*args):
        return tuple([made(x) for x in np.ix_(*[np.asarray(a) for a in args])])
    rank, out = len(args), []
    for k, a in enumerate(args):
        if (a := ops.array(a)).ndim != 1 or a.elem == "bool":
            fail(InvalidArgument, f"ix_: argument {k} has to be a vector of whole numbers, it has the shape {a.shape}")
        out.append(ops.reshape(a, (1,) * k + a.shape + (1,) * (rank - 1 - k)))
    return tuple(out)


class _Grid:
    """A grid of numbers: grid[0:3, 0:1:5j]."""

    def __init__(self, name, sparse):
        self._name, self._sparse = name, sparse

    def __getitem__(self, key):
        grid = (np.ogrid if self._sparse else np.mgrid)[key]
        narrow = lambda x: made(x.astype(np.float32) if x.dtype == np.float64 else x)
        return [narrow(x) for x in grid] if self._sparse and isinstance(key, tuple) else narrow(grid)

    def __repr__(self):
        return f"<{self._name}>"


mgrid, ogrid = _Grid("mgrid", False), _Grid("ogrid", True)


class _Joined:
    """r_[a, b, 0:3] and c_[a, b]: arrays, numbers and ranges one after another."""

    def __init__(self, name, columns):
        self._name, self._columns = name, columns

    def __getitem__(self, key):
        parts = []
        for item in key if isinstance(key, tuple) else (key,):
            if isinstance(item, str):
                fail(Unsupported, f"{self._name} with the directive {item!r} is not supported")
            if isinstance(item, builtins.slice):
                item = np.r_[item]
                item = item.astype(np.float32) if item.dtype == np.float64 else item
            x = item if hasattr(item, "ndim") else _asarray(item)
            x = x.reshape((1,)) if x.ndim == 0 else x
            parts.append(x.reshape(x.shape + (1,)) if self._columns and x.ndim == 1 else x)
        return _concatenate(parts, axis=-1 if self._columns else 0)

    def __repr__(self):
        return f"<{self._name}>"


r_, c_ = _Joined("r_", False), _Joined("c_", True)
s_, index_exp = np.s_, np.index_exp


def unravel_index(indices, shape):
    """The positions in each dimension of positions in a flat array."""
    return _unravel(indices, tuple(shape) if isinstance(shape, (tuple, list)) else (shape,))


@api
def _unravel(indices, shape):
    at, out = ops.array(indices), []
    n = math.prod(shape)
    at = ops.where(ops.binary("lt", at, 0, "bool"), ops.binary("add", at, n), at)
    at = ops.binary("max", ops.binary("min", at, n - 1), 0)
    for n in reversed(shape):
        out.append(ops.binary("mod", at, n))
        at = ops.binary("div", at, n)
    return tuple(reversed(out))


@api
def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Positions in a flat array of positions in each dimension; mode "wrap" or "clip" for those outside."""
    if order != "C":
        fail(Unsupported, f"ravel_multi_index: the order {order!r} is not supported")
    flat = None
    for at, n in zip(multi_index, dims):
        at = ops.array(at)
        if mode == "wrap":
            at = ops.binary("mod", ops.binary("add", ops.binary("mod", at, n), n), n)
        elif mode == "clip":
            at = ops.binary("max", ops.binary("min", at, n - 1), 0)
        flat = at if flat is None else ops.binary("add", ops.binary("mul", flat, n), at)
    return flat


@api
def block(arrays):
    """An array of nested lists of blocks: the innermost are joined along the last axis."""

    def depth(x):
        return 1 + depth(x[0]) if isinstance(x, list) else 0

    def joined(x, level, rank):
        if not isinstance(x, list):
            x = ops.array(x)
            return ops.reshape(x, (1,) * (rank - x.ndim) + x.shape)
        return _concatenate([joined(v, level - 1, rank) for v in x], axis=-level)

    def ranks(x):
        return builtins.max([ranks(v) for v in x]) if isinstance(x, list) else ops.array(x).ndim

    deep = depth(arrays)
    return joined(arrays, deep, builtins.max(deep, ranks(arrays)))


def _weights_of_bits(what, bitorder):
    if bitorder not in ("big", "little"):
        fail(InvalidArgument, f"{what}: the order {bitorder!r} is none of big, little")
    return 2 ** (np.arange(8)[::-1] if bitorder == "big" else np.arange(8))


@api
def packbits(a, axis=None, bitorder="big"):
    """Groups of eight elements along an axis as the bits of a byte; zeros fill the last."""
    weights, a = _weights_of_bits("packbits", bitorder), ops.array(a)
    a, axis = (ops.reshape(a, (a.size,)), 0) if axis is None else (a, ops.axis_of("packbits", axis, a.ndim))
    bits = ops.move(ops.as_elem(ops.binary("ne", a, 0, "bool"), "i64"), axis, a.ndim - 1)
    bits = ops.pad(bits, (0,) * a.ndim, (0,) * (a.ndim - 1) + (-bits.shape[-1] % 8,))
    bits = ops.reshape(bits, bits.shape[:-1] + (bits.shape[-1] // 8, 8))
    return ops.move(ops.as_elem(ops.reduce("sum", ops.binary("mul", bits, weights), -1), "u8"), a.ndim - 1, axis)


@api
def unpackbits(a, axis=None, count=None, bitorder="big"):
    """The bits of bytes as elements along an axis."""
    weights, a = _weights_of_bits("unpackbits", bitorder), ops.array(a)
    if a.elem != "u8":
        fail(TypeMismatch, f"unpackbits: an array of {a.elem} is given, expected uint8")
    a, axis = (ops.reshape(a, (a.size,)), 0) if axis is None else (a, ops.axis_of("unpackbits", axis, a.ndim))
    rows = ops.as_elem(ops.move(a, axis, a.ndim - 1), "i64")
    bits = ops.binary("bit_and", ops.reshape(rows, rows.shape + (1,)), weights)
    bits = ops.reshape(ops.as_elem(ops.binary("ne", bits, 0, "bool"), "u8"), rows.shape[:-1] + (rows.shape[-1] * 8,))
    if count is not None:
        n = bits.shape[-1]
        bits = ops.slice_axis(bits, bits.ndim - 1, 0, builtins.min(count, n) if count >= 0 else n + count)
    return ops.move(bits, a.ndim - 1, axis)
