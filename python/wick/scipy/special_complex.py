"""Special functions with complex results, and Dawson's integral: Faddeeva's function and spherical harmonics."""
import functools
import math

import numpy as np

from wick import numpy as wnp
from wick.errors import InvalidArgument, Unsupported
from wick.trace import complex as pairs, ops
from wick.trace.array import Array
from wick.trace.control import scan
from wick.trace.custom import slopes
from wick.trace.eager import api
from wick.trace.scope import fail

#: The step and the number of terms of Rybicki's sum: the error is exp(-(pi / (2 h))^2), 7e-18.
_STEP, _TERMS = 0.25, 25


@slopes(lambda y, x: 1 - 2 * x * y)
def _dawsn(x):
    size = wnp.abs(x)
    # exp(-x^2) times the integral of exp(t^2), by powers of x: without loss of digits where x is small.
    square, power, series = x * x, 1.0, 1.0
    square = wnp.where(size < 1, square, 0.0)
    for k in range(1, 20):
        power = power * (-2 * square / (2 * k + 1))
        series = series + power
    # Rybicki 1989, Computers in Physics 3: a sum over the odd numbers n near x / h of exp(-(x - n h)^2) / n.
    x1 = wnp.where(size < 1e3, x, 1.0)
    middle = 2 * wnp.round(x1 / (2 * _STEP))
    rest = x1 - middle * _STEP
    up, total = wnp.exp(2 * rest * _STEP), 0.0
    forth = back = wnp.exp(-rest * rest)
    forth, back = forth * up, back / up
    for n in range(1, 2 * _TERMS, 2):
        weight = math.exp(-(n * _STEP) ** 2)
        total = total + weight * (forth / (middle + n) + back / (middle - n))
        forth, back = forth * up * up, back / (up * up)
    far = wnp.where(size < 1e3, 1.0, 1 / wnp.where(size < 1e3, 1.0, x))
    square_of_far = far * far
    return wnp.where(size < 0.5, x * series, wnp.where(size < 1e3, total / math.sqrt(math.pi), far / 2 * (1 + square_of_far / 2 * (1 + square_of_far * 1.5))))


@api
def dawsn(x, /):
    """Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x."""
    return _dawsn(ops.floating(x))


def _weideman(n):
    """(l, coefficients) of the polynomial (Weideman 1994, SIAM Journal on Numerical Analysis 31)."""
    m = 2 * n
    l = math.sqrt(n / math.sqrt(2))
    t = l * np.tan(np.arange(1 - m, m) * math.pi / (2 * m))
    f = np.concatenate([[0.0], np.exp(-t * t) * (l * l + t * t)])
    made = np.fft.fft(np.fft.fftshift(f)).real / (2 * m)
    return l, made[1:n + 1][::-1]


@functools.partial(api, takes_complex=True)
def wofz(z, /):
    """Faddeeva's function exp(-z^2) erfc(-i z), of complex numbers."""
    re, im = pairs.both_parts(z)
    below = im < 0
    upper = pairs.pair(wnp.where(below, -re, re), wnp.abs(im))
    l, coefficients = _weideman(24 if re.elem == "f32" else 64)
    turned = 1 / pairs.pair(l + upper.im, -upper.re)  # 1 / (l - i z)
    ratio, total = pairs.pair(l - upper.im, upper.re) * turned, 0.0
    for c in coefficients:
        total = total * ratio + float(c)
    made = (2 * total * turned + 1 / math.sqrt(math.pi)) * turned
    z = pairs.pair(wnp.where(below, re, 0.0), wnp.where(below, im, 0.0))
    other = 2 * wnp.exp(-(z * z)) - made
    return pairs.pair(wnp.where(below, other.re, made.re), wnp.where(below, other.im, made.im))


def _legendre(most, cosine, sine):
    """Normalized associated Legendre functions with the phase of Condon and Shortley: [degree, ..., order]."""
    l, m = np.arange(1, most + 1)[:, None], np.arange(most + 1)[None, :]
    inside = m < l
    with np.errstate(divide="ignore", invalid="ignore"):
        on = np.where(inside, np.sqrt((4 * l * l - 1) / (l * l - m * m)), 0.0)
        before = np.where(m < l - 1, on * np.sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1)), 0.0)
    turn = np.where(m == l, -np.sqrt((2 * l + 1) / (2 * l)), 0.0)
    elem = lambda t: wnp.asarray(t, dtype=cosine.dtype)
    start = wnp.zeros(cosine.shape + (most + 1,), dtype=cosine.dtype).at[..., 0].set(math.sqrt(0.25 / math.pi))
    cosine, sine = cosine[..., None], sine[..., None]

    def degree(state, row):
        last, second = state
        shifted = wnp.concatenate([wnp.zeros_like(last[..., :1]), last[..., :-1]], axis=-1)
        made = row[0] * cosine * last - row[1] * second + row[2] * sine * shifted
        return (made, last), made

    if not most:
        return start[None]
    return wnp.concatenate([start[None], scan(degree, (start, wnp.zeros_like(start)), (elem(on), elem(before), elem(turn)))[1]])


def sph_harm_y(n, m, theta, phi, diff_n=None, n_max=None):
    """Spherical harmonics of the degree n and the order m at the polar angle theta and the azimuth phi; n_max is the largest degree, which traced n need."""
    if diff_n is not None:
        raise Unsupported("sph_harm_y: diff_n is not supported")
    if n_max is None:
        if isinstance(n, Array):
            fail(InvalidArgument, "sph_harm_y: the degrees are traced: n_max must be a number")
        n_max = int(np.max(n))
    return _harmonics(n, m, theta, phi, n_max=int(n_max))


@api
def _harmonics(n, m, theta, phi, n_max):
    theta, phi = [ops.floating(x) for x in ops.convert(theta, phi)]
    n, m = wnp.asarray(n), wnp.asarray(m)
    shape = np.broadcast_shapes(n.shape, m.shape, theta.shape, phi.shape)
    n, m, theta, phi = [ops.broadcast_to(x, shape) for x in (n, m, theta, phi)]
    n, size = wnp.clip(n, 0, n_max), wnp.abs(m)
    table = _legendre(n_max, wnp.cos(theta), wnp.sin(theta))
    table = wnp.moveaxis(table, 0, -2)
    chosen = wnp.take_along_axis(table, n[..., None, None], axis=-2)
    chosen = wnp.take_along_axis(chosen, wnp.minimum(size, n_max)[..., None, None], axis=-1)[..., 0, 0]
    chosen = wnp.where(size > n, 0.0, wnp.where((m < 0) & (size % 2 == 1), -chosen, chosen))
    angle = ops.as_elem(m, phi.elem) * phi
    return pairs.pair(chosen * wnp.cos(angle), chosen * wnp.sin(angle))
