"""Fourier transforms, of the passes that the operator dft_pass computes."""
import functools
import math

import numpy as np

from wick import types
from wick.errors import InvalidArgument
from wick.numpy.creation import elem_of
from wick.numpy.manipulation import flip as _flip, roll as _roll
from wick.trace import elements, ops
from wick.trace.complex import is_complex, pair, parts
from wick.trace.eager import api, made as _made
from wick.trace.scope import emit, fail, name_of

_api = functools.partial(api, takes_complex=True)
_MOST = 32  # of the numbers that one pass transforms
_DENSE = 64  # up to here, primes are a product with a matrix


def _frequencies(f, n, d, dtype):
    return _made(f(n, d).astype(types.dtype(elem_of(dtype, elements.FLOAT))))


def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of a transform's elements."""
    return _frequencies(np.fft.fftfreq, n, d, dtype)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of the elements of a real array's transform."""
    return _frequencies(np.fft.rfftfreq, n, d, dtype)


def _shifted(x, axes, half):
    axes = tuple(range(len(x.shape))) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    return _roll(x, tuple([half(x.shape[a]) for a in axes]), axis=axes)


@_api
def fftshift(x, axes=None):
    """x with the frequency 0 in the middle."""
    return _shifted(x, axes, lambda n: n // 2)


@_api
def ifftshift(x, axes=None):
    """The inverse of fftshift."""
    return _shifted(x, axes, lambda n: -(n // 2))


# ---- one transform: planes [1 or 2, lines, n] -> [2, n, lines] ----


def _roots(first, rows, columns, n, inverse, elem):
    """exp(-2 pi i j k / n) for j in [first, first + rows) and k in [0, columns), as planes [2, rows, columns]. The program
    computes them when it is compiled."""
    j = emit(f"reshape(range({first}i64, 1i64, count = {rows}), shape = (-1, 1))", "i64", (rows, 1))
    k = emit(f"range(0i64, 1i64, count = {columns})", "i64", (columns,))
    turn = f"mod({name_of(j)} * {name_of(k)}, {n}i64)"
    angle = emit(f"f64({turn}) * {(2 if inverse else -2) * math.pi / n!r}", "f64", (rows, columns))
    planes = [ops.reshape(ops.as_elem(ops.unary(f, angle), elem), (1, rows, columns)) for f in ("cos", "sin")]
    return ops.concat(planes, 0)


def _plane(x, k):
    return ops.slice_axis(x, 0, k, 1)


def _times(f, x, y):
    """The product of planes, where y is complex."""
    c, d = _plane(y, 0), _plane(y, 1)
    a = _plane(x, 0)
    if x.shape[0] == 1:
        return ops.concat([f(a, c), f(a, d)], 0)
    b = _plane(x, 1)
    return ops.concat([ops.same("sub", f(a, c), f(b, d)), ops.same("add", f(a, d), f(b, c))], 0)


_multiplied = functools.partial(ops.same, "mul")


def _dense(x, r, inverse):
    """[planes, lines, r, rest] -> [2, r, lines, rest] by a matrix."""
    matrix = ops.reshape(_roots(0, r, r, r, inverse, x.elem), (2, 1, r, r))
    return ops.transpose(_times(ops.matmul, ops.transpose(x, (0, 1, 3, 2)), matrix), (0, 3, 1, 2))


def _pass(x, lines, r, rest, inverse):
    """One pass: the transforms of r numbers, and the roots for those of r * rest."""
    last, planes = rest == 1, x.shape[0]
    if r > _MOST:
        x = _dense(ops.reshape(x, (planes, lines, r, rest)), r, inverse)
        return x if last else _times(_multiplied, x, ops.reshape(_roots(0, r, rest, r * rest, inverse, x.elem), (2, r, 1, rest)))
    roots = None if last else _roots(1, r - 1, rest, r * rest, inverse, x.elem)
    if last:  # all lines are contiguous
        x = ops.transpose(ops.reshape(x, (planes, lines, r)), (0, 2, 1))
        lines, rest = 1, lines
    x = ops.reshape(x, (planes, lines, r, rest))
    given = name_of(x) if roots is None else f"{name_of(x)}, {name_of(roots)}"
    return emit(f"op.dft_pass({given}, inverse = {'true' if inverse else 'false'})", x.elem, (2, r, lines, rest))


@functools.cache
def _factors(n):
    """The sizes of the passes for n numbers, the first one first; () if n has a large prime."""
    if n <= _MOST // 2 or _is_prime(n):
        return (n,) if n <= _DENSE else ()
    best = ()
    for r in range(_DENSE, 1, -1):
        if n % r == 0 and r != n and (r <= _MOST // 2 or _is_prime(r)):
            rest = _factors(n // r)
            key = lambda f: (len(f), max(f) + (64 if f[-1] != max(f) and n // f[0] < 16 else 0))
            if rest and (not best or key((r,) + rest) < key(best)):
                best = (r,) + rest
    return best


def _is_prime(n):
    return n > 1 and all([n % p for p in range(2, math.isqrt(n) + 1)])


def _chirped(x, n, inverse):
    """Bluestein's algorithm: j k = (j^2 + k^2 - (k - j)^2) / 2 makes a transform a convolution, which one of a power of two
    computes."""
    m = 1 << (2 * n - 2).bit_length()
    square = emit(f"range(0i64, 1i64, count = {n})", "i64", (n,))
    angle = emit(f"f64(mod({name_of(square)} * {name_of(square)}, {2 * n}i64)) * {math.pi / n!r}", "f64", (n,))
    c, s = [ops.as_elem(ops.unary(f, angle), x.elem) for f in ("cos", "sin")]
    s = s if inverse else ops.unary("neg", s)
    planes = lambda re, im: ops.concat([ops.reshape(v, (1, 1, v.size)) for v in (re, im)], 0)
    chirp, back = planes(c, s), planes(c, ops.unary("neg", s))
    mirrored = _flip(ops.slice_axis(back, 2, 1, n - 1), axis=2) if n > 1 else back
    gap = ops.full((2, 1, m - 2 * n + 1), 0, x.elem)
    turned = lambda v: ops.transpose(v, (0, 2, 1))
    spectrum = turned(_lines(ops.concat([back, gap, mirrored], 2), m, False))
    y = _times(_multiplied, x, chirp)
    y = turned(_lines(ops.concat([y, ops.full((2, y.shape[1], m - n), 0, x.elem)], 2), m, False))
    y = turned(_lines(_times(_multiplied, y, spectrum), m, True))
    y = ops.binary("div", ops.slice_axis(y, 2, 0, n), float(m))
    return turned(_times(_multiplied, y, chirp))


def _lines(x, n, inverse):
    """Transforms planes [1 or 2, lines, n] along their last axis, not divided by n: [2, n, lines]."""
    lines = x.shape[1]
    if n == 1:
        x = x if x.shape[0] == 2 else ops.concat([x, ops.full(x.shape, 0, x.elem)], 0)
        return ops.transpose(x, (0, 2, 1))
    factors = (n,) if n <= _MOST else _factors(n)
    if not factors:
        return _chirped(x, n, inverse)
    rest, all_lines = n, lines
    for r in factors:
        rest //= r
        x = _pass(x, all_lines, r, rest, inverse)
        all_lines *= r
    return ops.reshape(x, (2, n, lines))


# ---- transforms of arrays ----


def _scale(n, norm, inverse):
    if norm not in (None, "backward", "forward", "ortho"):
        fail(InvalidArgument, f"fft: norm is {norm!r}, expected backward, forward or ortho")
    if norm == "ortho":
        return 1 / math.sqrt(n)
    return 1 / n if (norm == "forward") != inverse else 1.0


def _fit(x, n, axis):
    """x with n elements along its axis: the first ones, or zeros after them."""
    have = x.shape[axis]
    if n < 1:
        fail(InvalidArgument, f"fft: {n} elements are transformed, expected at least 1")
    if have > n:
        return ops.slice_axis(x, axis, 0, n)
    return x if have == n else ops.concat([x, ops.full(x.shape[:axis] + (n - have,) + x.shape[axis + 1:], 0, x.elem)], axis)


def _planes(x):
    re, im = parts(x)
    re = ops.floating(re)
    if re.elem in ("f16", "bf16"):
        re = ops.as_elem(re, "f32")
    return [re] if im is None else [re, im]


def _along(x, n, axis, norm, inverse, keep=None):
    """The transform along an axis; `keep` of its elements."""
    planes = _planes(x)
    rank = planes[0].ndim
    if not rank:
        fail(InvalidArgument, "fft: an array of rank 0 has no axis")
    axis = ops.axis_of("fft", axis, rank)
    n = planes[0].shape[axis] if n is None else ops.whole("fft: n", n)
    planes = [ops.move(_fit(p, n, axis), axis, rank - 1) for p in planes]
    shape = planes[0].shape[:-1]
    lines = math.prod(shape)
    if lines == 0:
        made = ops.full(shape + (keep or n,), 0, planes[0].elem)
        return pair(*[ops.move(made, rank - 1, axis)] * 2)
    made = _lines(ops.concat([ops.reshape(p, (1, lines, n)) for p in planes], 0), n, inverse)
    made = ops.slice_axis(made, 1, 0, keep) if keep is not None and keep < n else made
    by = _scale(n, norm, inverse)
    made = made if by == 1 else ops.binary("mul", made, by)
    parts_of = [ops.reshape(_plane(made, k), (keep or n,) + shape) for k in (0, 1)]
    return pair(*[ops.move(p, 0, axis) for p in parts_of])


@_api
def fft(a, n=None, axis=-1, norm=None):
    """The Fourier transform along an axis, of the first n elements."""
    return _along(a, n, axis, norm, False)


@_api
def ifft(a, n=None, axis=-1, norm=None):
    """The inverse of fft."""
    return _along(a, n, axis, norm, True)


@_api
def rfft(a, n=None, axis=-1, norm=None):
    """The first n / 2 + 1 elements of a real array's transform: the others are their conjugates."""
    if is_complex(a):
        fail(InvalidArgument, "rfft is of real arrays: use fft")
    count = n if n is not None else ops.array(a).shape[axis]
    return _along(a, n, axis, norm, False, count // 2 + 1)


@_api
def irfft(a, n=None, axis=-1, norm=None):
    """The inverse of rfft: n real elements, by default twice as many as there are conjugate ones."""
    planes = _planes(a)
    planes = planes if len(planes) == 2 else planes + [ops.full(planes[0].shape, 0, planes[0].elem)]
    axis = ops.axis_of("irfft", axis, planes[0].ndim)
    n = 2 * (planes[0].shape[axis] - 1) if n is None else ops.whole("irfft: n", n)
    planes = [_fit(p, n // 2 + 1, axis) for p in planes]
    # the imaginary part of the first element, and of the one in the middle, count as 0
    count = n // 2 + 1
    inner = [ops.slice_axis(p, axis, 1, (n - 1) // 2) for p in planes]
    first = ops.slice_axis(planes[0], axis, 0, 1)
    middle = [ops.slice_axis(planes[0], axis, count - 1, 1)] if n % 2 == 0 and n > 1 else []
    none = ops.full(first.shape, 0, first.elem)
    re = ops.concat([first, inner[0]] + middle + [_flip(inner[0], axis=axis)], axis)
    im = ops.concat([none, inner[1]] + [none for _ in middle] + [ops.unary("neg", _flip(inner[1], axis=axis))], axis)
    return _along(pair(re, im), n, axis, norm, True).re


@_api
def hfft(a, n=None, axis=-1, norm=None):
    """The real transform of a signal of which the second half is the conjugate of the first."""
    turned = {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)
    re, im = parts(a)
    return irfft(a if im is None else pair(re, -im), n, axis, turned)


@_api
def ihfft(a, n=None, axis=-1, norm=None):
    """The inverse of hfft."""
    turned = {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)
    made = rfft(a, n, axis, turned)
    return pair(made.re, -made.im)


def _axes(a, s, axes):
    rank = len(a.shape)
    if axes is None:
        axes = range(rank) if s is None else range(rank - len(s), rank)
    axes = tuple(axes)
    return axes, (None,) * len(axes) if s is None else tuple(s)


def _of_axes(name, one, first=None, last=None):
    def transform(a, s=None, axes=None, norm=None):
        axes, s = _axes(a, s, axes)
        pairs = list(zip(axes, s))
        if first is not None:
            a = first(a, pairs[-1][1], pairs[-1][0], norm)
            pairs.pop()
        for axis, n in reversed(pairs[:-1] if last is not None else pairs):
            a = one(a, n, axis, norm)
        return a if last is None else last(a, pairs[-1][1], pairs[-1][0], norm)

    def plane(a, s=None, axes=(-2, -1), norm=None):
        return transform(a, s, axes, norm)

    for f, kind, doc in ((transform, "n", "several axes, by default all"), (plane, "2", "two axes")):
        f.__name__ = f.__qualname__ = f"{name}{kind}"
        f.__doc__ = f"{name} along {doc}."
        globals()[f.__name__] = _api(f)


_of_axes("fft", fft)
_of_axes("ifft", ifft)
_of_axes("rfft", fft, first=rfft)
_of_axes("irfft", ifft, last=irfft)
