"""Polynomials with the highest power first, and windows of signals."""
import builtins
import functools
import math

import numpy as np

from wick import types
from wick.errors import InvalidArgument, Unsupported
from wick.numpy.creation import elem_of
from wick.numpy.linalg import eigvals
from wick.numpy.products import convolve as _convolve, vander as _vander
from wick.trace import elements, index, ops
from wick.trace.complex import both_parts, pair
from wick.trace.eager import api, is_traced, made
from wick.trace.scope import fail


def _padded(a, b):
    a, b = ops.convert(a, b)
    n = builtins.max(a.size, b.size)
    return [ops.pad(x, (n - x.size,), (0,)) for x in (a, b)]


@api
def polyadd(a1, a2):
    """The sum of two polynomials."""
    return ops.same("add", *_padded(a1, a2))


@api
def polysub(a1, a2):
    """The difference of two polynomials."""
    return ops.same("sub", *_padded(a1, a2))


@functools.partial(api, takes_complex=True)
def _roots(p, zeros):
    """The eigenvalues of the companion matrix, and so many zeros."""
    re, im = both_parts(p)
    n = re.size - 1
    if n > 0:
        z = pair(re, im)
        below = pair(*[np.eye(n, k=-1, dtype=types.dtype(re.elem)) * k for k in (1, 0)])
        found = eigvals(below.at[0].set(-z[1:] / z[0]))
        re, im = found.real, found.imag
    else:
        re, im = re[:0], im[:0]
    rest = ops.full((zeros,), 0, re.elem)
    return pair(ops.concat([re, rest], 0), ops.concat([im, rest], 0))


def roots(p, *, strip_zeros=True):
    """The roots of a polynomial as complex numbers, in no certain order. Of a known one zeros at the front and at the end are taken
    away, unless `strip_zeros` is false; the first number of a traced one must not be 0."""
    known, zeros = not is_traced(p), 0
    p = np.asarray(p) if known else p
    if known and strip_zeros and p.any():
        at = np.flatnonzero(p)
        p, zeros = p[at[0]:at[-1] + 1], int(len(p) - 1 - at[-1])
    return _roots(p, zeros) if math.prod(p.shape) > 1 or zeros else made(np.zeros(0, np.complex64))


@api
def polydiv(u, v, *, trim_leading_zeros=False):
    """(quotient, remainder) of two polynomials; the remainder keeps its leading zeros."""
    if trim_leading_zeros:
        fail(Unsupported, "polydiv: the number of leading zeros is not known when the function is compiled")
    u, v = [ops.floating(x) for x in ops.convert(u, v)]
    if u.size < v.size:
        return ops.full((1,), 0, u.elem), u
    quotient = []
    for k in range(u.size - v.size + 1):
        q = u[k] / v[0]
        quotient.append(q)
        u = u.at[k:k + v.size].add(-(v * q))
    return ops.concat([ops.reshape(q, (1,)) for q in quotient], 0), u


@api
def polymul(a1, a2, *, trim_leading_zeros=False):
    """The product of two polynomials."""
    if trim_leading_zeros:
        fail(Unsupported, "polymul: the number of leading zeros is not known when the function is compiled")
    return _convolve(a1, a2)


@api
def polyder(p, m=1):
    """The m-th derivative of a polynomial."""
    p = ops.floating(p)
    for _ in range(ops.whole("polyder", m)):
        n = p.shape[0]
        p = ops.same("mul", ops.slice(p, (0,), (n - 1,)), ops.as_elem(np.arange(n - 1, 0, -1), p.elem)) if n > 1 else ops.full((1,), 0, p.elem)
    return p


@api
def polyint(p, m=1, k=0):
    """The m-th integral of a polynomial, with the constant k."""
    p = ops.floating(p)
    for _ in range(ops.whole("polyint", m)):
        p = ops.same("div", p, ops.as_elem(np.arange(p.shape[0], 0, -1), p.elem))
        p = ops.concat([p, ops.full((1,), k, p.elem)], 0)
    return p


@api
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial with the least squared distance to points."""
    if full or cov:
        fail(Unsupported, "polyfit with full or cov is not supported")
    x, y = [ops.floating(v) for v in ops.convert(x, y)]
    rows, right = _vander(x, ops.whole("polyfit", deg) + 1), y
    if w is not None:
        w = ops.as_elem(w, x.elem)
        rows, right = rows * w[:, None], right * (w[:, None] if y.ndim > 1 else w)
    size = ops.unary("sqrt", ops.reduce("sum", ops.same("mul", rows, rows), 0))
    q, r = _qr(rows / size)
    made = _solve(r, ops.matmul(ops.transpose(q, (1, 0)), right))
    return made / (size[:, None] if y.ndim > 1 else size)


def _qr(x):
    from wick.numpy.linalg import qr
    return qr(x)


def _solve(r, b):
    from wick.numpy.linalg import solve_triangular
    return solve_triangular(r, b, lower=False)


@api
def poly(roots):
    """The polynomial with these roots."""
    roots = ops.floating(roots)
    if roots.ndim != 1:
        fail(InvalidArgument, f"poly: an array of the shape {roots.shape} is given, expected a vector of roots")
    p = ops.full((1,), 1, roots.elem)
    for k in range(roots.shape[0]):
        longer = ops.concat([p, ops.full((1,), 0, p.elem)], 0)
        p = longer - ops.concat([ops.full((1,), 0, p.elem), p * index.get(roots, k)], 0)
    return p


def _window(name, of):
    def window(M, *args):
        return made(of(ops.whole(name, M), *args).astype(types.dtype(elem_of(None, elements.FLOAT))))
    window.__name__, window.__doc__, window.__module__ = name, f"NumPy's window {name}.", __name__
    return window


bartlett, blackman = _window("bartlett", np.bartlett), _window("blackman", np.blackman)
hamming, hanning, kaiser = _window("hamming", np.hamming), _window("hanning", np.hanning), _window("kaiser", np.kaiser)
