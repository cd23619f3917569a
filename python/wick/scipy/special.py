"""Special functions of elements, as in jax.scipy.special."""
import fractions
import math

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.lax import erf, erf_inv as erfinv, erfc  # noqa: F401
from wick import nn
from wick.nn import logsumexp, sigmoid as expit  # noqa: F401
from wick.scipy.special_complex import dawsn, sph_harm_y, wofz  # noqa: F401
from wick.scipy.special_series import boxcox, boxcox1p, comb, erfcx, fresnel, hyp1f1, hyp2f1, owens_t, sici  # noqa: F401
from wick.trace import ops, spelling
from wick.trace.control import fori, scan
from wick.trace.custom import custom_jvp, slopes
from wick.trace.eager import api
from wick.trace.scope import fail

#: Lanczos' coefficients for g = 7 (Godfrey's), relative error 1e-15.
_LANCZOS = (0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
            -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7)
#: Bernoulli's numbers B2, B4, ...
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def _floats(*xs):
    return [ops.floating(x) for x in ops.convert(*xs)]


def _stirling(x):
    """log(gamma(x)) for x >= 8, by Stirling's series."""
    inverse = 1 / x
    square = inverse * inverse
    tail = None
    for k in range(5, -1, -1):
        c = _BERNOULLI[k] / ((2 * k + 1) * (2 * k + 2))
        tail = c if tail is None else c + square * tail
    return (x - 0.5) * wnp.log(x) - x + 0.5 * math.log(2 * math.pi) + inverse * tail


def _between(x, low, high):
    """x, and whether it lies there; elsewhere a number that does lie there, so that no derivative is infinite."""
    inside = (x >= low) & (x < high)
    return wnp.where(inside, x, 0.5 * (low + min(high, low + 1))), inside


def _lgamma_above(x):
    """log(gamma(x)) for x >= 0.5."""
    small, inside = _between(x, 0.5, 8.0)
    z = small - 1
    total = _LANCZOS[0]
    for k, c in enumerate(_LANCZOS[1:]):
        total = total + c / (z + (k + 1))
    t = z + 7.5
    lanczos = 0.5 * math.log(2 * math.pi) + (z + 0.5) * wnp.log(t) - t + wnp.log(total)
    near, close = _between(x, 0.5, 2.5)
    lanczos = wnp.where(close, _near_zeros(near), lanczos)
    return wnp.where(inside, lanczos, _stirling(wnp.where(inside, 8.0, x)))


def _zeta_less_1(k, n=30):
    """zeta(k) - 1, by Euler and Maclaurin's formula after n terms."""
    tail = n ** (1.0 - k) / (k - 1) + 0.5 * n ** -float(k) + k / 12 * n ** (-k - 1.0) - k * (k + 1) * (k + 2) / 720 * n ** (-k - 3.0)
    return sum([m ** -float(k) for m in range(2, n)]) + tail


def _near_zeros(x):
    """log(gamma(x)) for 0.5 <= x < 2.5: Euler's series about 2, and from 1 on down the recurrence."""
    upper = x >= 1.5
    z = wnp.where(upper, x - 2, x - 1)
    total = 0.0
    for k in range(40, 1, -1):
        total = (_zeta_less_1(k) * (-1) ** k / k + total) * (z if k > 2 else z * z)
    about_2 = z * (1 - 0.57721566490153286) + total
    return wnp.where(upper, about_2, about_2 - wnp.log1p(z))


@slopes(lambda y, x: digamma(x))
def _gammaln(x):
    below = x < 0.5
    reflected = wnp.where(below, 1 - x, x)
    positive = _lgamma_above(reflected)
    sine = wnp.abs(wnp.sin(math.pi * wnp.where(below, x - wnp.floor(x), 0.5)))
    return wnp.where(below, math.log(math.pi) - wnp.log(sine) - positive, positive)


@api
def gammaln(x, /):
    """The logarithm of the size of the gamma function."""
    return _gammaln(ops.floating(x))


@api
def gammasgn(x, /):
    """The sign of the gamma function."""
    x = ops.floating(x)
    odd = wnp.floor(x) % 2 != 0
    return wnp.where((x < 0) & odd, -1.0, 1.0).astype(x.dtype)


@api
def gamma(x, /):
    """The gamma function."""
    return gammasgn(x) * wnp.exp(gammaln(x))


@api
def factorial(n, exact=False):
    """gamma(n + 1); 0 for negative n."""
    n = ops.floating(n)
    return wnp.where(n < 0, 0.0, wnp.exp(gammaln(wnp.where(n < 0, 0.0, n) + 1)))


def _over(f, x, axis):
    """f along an axis; without one, of all elements."""
    x = ops.array(x)
    return f(x, axis=axis) if axis is not None else ops.reshape(f(ops.reshape(x, (x.size,))), x.shape)


@api
def softmax(x, /, *, axis=None):
    """exp(x) divided by its sum, which is of all elements unless there is an axis."""
    return _over(nn.softmax, x, axis)


@api
def log_softmax(x, /, *, axis=None):
    """The logarithm of softmax."""
    return _over(nn.log_softmax, x, axis)


@api
def poch(z, m):
    """gamma(z + m) / gamma(z)"""
    z, m = _floats(z, m)
    return gammasgn(z + m) * gammasgn(z) * wnp.exp(gammaln(z + m) - gammaln(z))


def _trigamma(x):
    """The derivative of digamma."""
    below = x < 0.5
    positive = zeta(2.0, wnp.where(below, 1 - x, x))
    sine = wnp.sin(math.pi * wnp.where(below, x, 0.25))
    return wnp.where(below, math.pi ** 2 / (sine * sine) - positive, positive)


@slopes(lambda y, x: _trigamma(x))
def _digamma(x):
    below = x < 0.5
    z = wnp.where(below, 1 - x, x)
    shift = 0.0
    for k in range(8):
        shift = shift + 1 / (z + k)
    z = z + 8
    square = 1 / (z * z)
    tail = 0.0
    for k in range(5, -1, -1):
        tail = square * (_BERNOULLI[k] / (2 * k + 2) + tail)
    positive = wnp.log(z) - 0.5 / z - tail - shift
    cotangent = math.pi / wnp.tan(math.pi * wnp.where(below, x, 0.25))
    return wnp.where(below, positive - cotangent, positive)


@api
def digamma(x, /):
    """The derivative of gammaln."""
    return _digamma(ops.floating(x))


psi = digamma


@slopes(None, lambda y, x, q: -x * zeta(x + 1, q))
def _zeta(x, q):
    total = 0.0
    for k in range(10):
        total = total + wnp.power(q + k, -x)
    a = q + 10
    power = wnp.power(a, -x)
    total = total + power * a / (x - 1) + 0.5 * power
    factor, square = x * power / a, 1 / (a * a)
    fact = 2.0
    for k in range(8):
        total = total + _BERNOULLI[k] / fact * factor
        factor = factor * (x + 2 * k + 1) * (x + 2 * k + 2) * square
        fact *= (2 * k + 3) * (2 * k + 4)
    return total


@api
def zeta(x, q=1.0):
    """Hurwitz's zeta function, the sum of (q + k) to the power -x: Euler and Maclaurin's formula after 10 terms."""
    return _zeta(*_floats(x, q))


@api
def polygamma(n, x):
    """The n-th derivative of digamma, for a whole number n."""
    x = ops.floating(x)
    if not isinstance(n, (int, float)):
        n = ops.floating(n)
        sign = wnp.where(n % 2 == 1, 1.0, -1.0)
        return wnp.where(n == 0, digamma(x), sign * wnp.exp(gammaln(n + 1)) * zeta(wnp.where(n == 0, 1.0, n) + 1, x))
    n = int(n)
    return digamma(x) if n == 0 else (-1) ** (n + 1) * float(math.factorial(n)) * zeta(float(n + 1), x)


@api
def betaln(a, b):
    """The logarithm of the beta function."""
    a, b = _floats(a, b)
    return gammaln(a) + gammaln(b) - gammaln(a + b)


@api
def beta(a, b):
    """The beta function."""
    a, b = _floats(a, b)
    return gammasgn(a) * gammasgn(b) * gammasgn(a + b) * wnp.exp(betaln(a, b))


@api
def multigammaln(a, d):
    """The logarithm of the multivariate gamma function of dimension d."""
    a = ops.floating(a)
    total = 0.25 * d * (d - 1) * math.log(math.pi)
    for k in range(d):
        total = total + gammaln(a - 0.5 * k)
    return total


@api
def logit(x, /):
    """log(x / (1 - x))"""
    x = ops.floating(x)
    return wnp.log(x) - wnp.log1p(-x)


def _nothing_at_0(x, f):
    """x * f(), and 0 where x is 0."""
    zero = x == 0
    return wnp.where(zero, 0.0, wnp.where(zero, 1.0, x) * f(zero))


@api
def xlogy(x, y):
    """x * log(y), and 0 where x is 0."""
    x, y = _floats(x, y)
    return _nothing_at_0(x, lambda zero: wnp.log(wnp.where(zero, 1.0, y)))


@api
def xlog1py(x, y):
    """x * log1p(y), and 0 where x is 0."""
    x, y = _floats(x, y)
    return _nothing_at_0(x, lambda zero: wnp.log1p(wnp.where(zero, 0.0, y)))


@api
def entr(x, /):
    """-x * log(x), 0 at 0 and -inf below."""
    x = ops.floating(x)
    return wnp.where(x < 0, -math.inf, -xlogy(x, wnp.where(x > 0, x, 1.0)))


@api
def rel_entr(p, q):
    """p * log(p / q)"""
    p, q = _floats(p, q)
    both = (p > 0) & (q > 0)
    value = wnp.where(both, p, 1.0) * (wnp.log(wnp.where(both, p, 1.0)) - wnp.log(wnp.where(both, q, 1.0)))
    return wnp.where(both, value, wnp.where((p == 0) & (q >= 0), 0.0, math.inf))


@api
def kl_div(p, q):
    """p * log(p / q) - p + q"""
    p, q = _floats(p, q)
    return rel_entr(p, q) - p + q


@api
def ndtr(x, /):
    """The probability that a normal number is at most x."""
    return 0.5 * erfc(ops.floating(x) * -math.sqrt(0.5))


@slopes(lambda y, x: wnp.exp(-0.5 * x * x - y) / math.sqrt(2 * math.pi))
def _log_ndtr(x):
    low = x < -1
    below = wnp.where(low, x, -1.0) * -math.sqrt(0.5)
    upper = x > 1
    return wnp.where(low, wnp.log(0.5 * erfcx(below)) - below * below,
                     wnp.where(upper, wnp.log1p(-ndtr(wnp.where(upper, -x, 0.0))), wnp.log(ndtr(wnp.where(low | upper, 0.0, x)))))


@api
def log_ndtr(x, /):
    """log(ndtr(x)), exact in the lower tail."""
    return _log_ndtr(ops.floating(x))


@api
def ndtri(p, /):
    """The inverse of ndtr."""
    p = ops.floating(p)
    return math.sqrt(2) * erfinv(2 * p - 1)


def _bessel(x, order, scaled):
    """The modified function by the trapezoidal rule on its integral, which has exponential convergence, and from 30 on by
    its asymptotic series."""
    size = wnp.abs(x)
    near, inside = _between(size, 0.0, 30.0)
    count = 32
    total = 0.5 * (1 + (-1) ** order * wnp.exp(-2 * near))
    for k in range(1, count):
        angle = math.pi * k / count
        total = total + math.cos(order * angle) * wnp.exp(near * (math.cos(angle) - 1))
    total = total / count
    far = wnp.where(inside, 30.0, size)
    series, term = 1.0, 1.0
    for k in range(1, 10):
        term = term * -(4 * order * order - (2 * k - 1) ** 2) / (8 * k * far)
        series = series + term
    made = wnp.where(inside, total, series / wnp.sqrt(2 * math.pi * far))
    made = made if scaled else made * wnp.exp(size)
    return made * wnp.sign(x) if order % 2 else made


def _over_x(y, x):
    """y / x, where y is x / 2 near 0."""
    return wnp.where(x == 0, 0.5, y / wnp.where(x == 0, 1.0, x))


_i0 = slopes(lambda y, x: i1(x))(lambda x: _bessel(x, 0, False))


@api
def i0(x, /):
    """The modified Bessel function of order 0."""
    return _i0(ops.floating(x))


_i0e = slopes(lambda y, x: i1e(x) - wnp.sign(x) * y)(lambda x: _bessel(x, 0, True))


@api
def i0e(x, /):
    """exp(-|x|) * i0(x)"""
    return _i0e(ops.floating(x))


_i1 = slopes(lambda y, x: i0(x) - _over_x(y, x))(lambda x: _bessel(x, 1, False))


@api
def i1(x, /):
    """The modified Bessel function of order 1."""
    return _i1(ops.floating(x))


_i1e = slopes(lambda y, x: i0e(x) - wnp.sign(x) * y - _over_x(y, x))(lambda x: _bessel(x, 1, True))


@api
def i1e(x, /):
    """exp(-|x|) * i1(x)"""
    return _i1e(ops.floating(x))


def _incomplete(a, x):
    """(the lower part, the upper part) of the incomplete gamma function: a series below a + 1, a continued fraction above."""
    a, x = wnp.broadcast_arrays(*_floats(a, x))
    lower = x < a + 1
    front = wnp.exp(a * wnp.log(wnp.where(x > 0, x, 1.0)) - x - gammaln(a))
    near = wnp.where(lower, x, 0.0)

    def add(k, state):
        term, total = state
        term = term * near / (a + k)
        return term, total + term

    _, series = fori(1, 200, add, (1 / a, 1 / a))
    far = wnp.where(lower, a + 1, x)

    def deepen(k, state):
        n = 200 - k
        return far + (n - a) / (1 + n / state)

    fraction = 1 / fori(0, 200, deepen, far + 0.0)
    below = wnp.where(x > 0, wnp.where(lower, front * series, 1 - front * fraction), 0.0)
    return below, wnp.where(x > 0, wnp.where(lower, 1 - front * series, front * fraction), 1.0)


def _incomplete_slope(a, x):
    """The derivative of the lower part by x."""
    return wnp.where(x > 0, wnp.exp(xlogy(a - 1, wnp.where(x > 0, x, 1.0)) - x - gammaln(a)), 0.0)


_gammainc = slopes(None, lambda y, a, x: _incomplete_slope(a, x))(lambda a, x: _incomplete(a, x)[0])
_gammaincc = slopes(None, lambda y, a, x: -_incomplete_slope(a, x))(lambda a, x: _incomplete(a, x)[1])


@api
def gammainc(a, x):
    """The lower incomplete gamma function, divided by gamma(a)."""
    return _gammainc(*_floats(a, x))


@api
def gammaincc(a, x):
    """1 - gammainc(a, x)"""
    return _gammaincc(*_floats(a, x))


@slopes(None, None, lambda y, a, b, x: wnp.exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)))
def _betainc(a, b, x):
    a, b, x = wnp.broadcast_arrays(a, b, x)
    turned = x > (a + 1) / (a + b + 2)
    p, q, z = wnp.where(turned, b, a), wnp.where(turned, a, b), wnp.where(turned, 1 - x, x)

    def deepen(k, state):
        n = 100 - k
        even = n * (q - n) * z / ((p + 2 * n - 1) * (p + 2 * n))
        odd = -(p + n) * (p + q + n) * z / ((p + 2 * n) * (p + 2 * n + 1))
        return 1 + even / (1 + odd / state)

    inner = fori(0, 100, deepen, z * 0 + 1.0)
    first = -(p + q) * z / (p + 1)
    front = wnp.exp(xlogy(p, z) + xlog1py(q, -z) - betaln(p, q)) / p
    made = front / (1 + first / inner)
    return wnp.where(turned, 1 - made, made)


@api
def betainc(a, b, x):
    """The incomplete beta function, divided by beta(a, b): Lentz's continued fraction."""
    return _betainc(*_floats(a, b, x))


@api
def expn(n, x):
    """The exponential integral of a whole order n >= 1 at x > 0."""
    n = ops.whole("expn", n)
    if n < 1:
        fail(InvalidArgument, f"expn: the order {n} is below 1")
    x = ops.floating(x)
    near, inside = _between(x, 1e-30, 1.0)
    total, term = 0.0, 1.0
    for k in range(1, 20):
        term = term * -near / k
        total = total - term / k
    first = -0.57721566490153286 - wnp.log(near) + total
    for k in range(1, n):
        first = (wnp.exp(-near) - near * first) / k
    far = wnp.where(inside, 1.0, x)
    fraction = far + 0.0
    for k in range(60, 0, -1):
        fraction = far + (n + k - 1) / (1 + k / fraction)
    return wnp.where(inside, first, wnp.exp(-far) / fraction)


@api
def exp1(x, /):
    """The exponential integral of order 1."""
    return expn(1, x)


@custom_jvp
def _expi(x):
    near, inside = _between(x, 1e-30, 40.0)
    _, total = fori(1, 160, lambda k, s: (s[0] * near / k, s[1] + s[0] * near / (k * k)), (wnp.ones_like(x), wnp.zeros_like(x)))
    far = wnp.where(x > 40, x, 40.0)
    _, tail = fori(1, 40, lambda k, s: (s[0] * k / far, s[1] + s[0] * k / far), (wnp.ones_like(x), wnp.ones_like(x)))
    below, _ = _between(-x, 1e-30, math.inf)
    positive = wnp.where(inside, 0.57721566490153286 + wnp.log(near) + total, wnp.exp(far) / far * tail)
    return wnp.where(x < 0, -expn(1, below), positive)


@_expi.defjvp
def _expi_jvp(primals, tangents):
    return _expi(*primals), tangents[0] * wnp.exp(primals[0]) / primals[0]


@api
def expi(x, /):
    """The exponential integral Ei."""
    return _expi(ops.floating(x))


@api
def spence(x, /):
    """The integral of log(t) / (1 - t) from 1 to x >= 0. Series of the dilogarithm, after its reflections (Cephes)."""
    x = ops.floating(x)
    large = x > 2
    y = wnp.where(large, 1 / wnp.where(large, x, 1.0), x)
    above, small = y > 1.5, y < 0.5
    w = wnp.where(above, 1 / y - 1, wnp.where(small, -y, y - 1))
    total, power = 0.0, 1.0
    for k in range(1, 60):
        power = power * -w
        total = total + power / (k * k)
    safe = wnp.where(small & (y > 0), y, 0.25)
    reflected = math.pi ** 2 / 6 - wnp.where(y > 0, wnp.log(safe) * wnp.log1p(-safe), 0.0) - total
    total = wnp.where(small, reflected, total)
    turned = large | above
    log = wnp.log(wnp.where(turned, x, 1.0))
    return wnp.where(x < 0, math.nan, wnp.where(turned, -log * log / 2 - total, total))


def bernoulli(n):
    """Bernoulli's numbers B0 to Bn."""
    numbers = [fractions.Fraction(1)]
    for m in range(1, ops.whole("bernoulli", n) + 1):
        numbers.append(-sum([math.comb(m + 1, k) * b for k, b in enumerate(numbers)]) / (m + 1))
    return wnp.asarray([float(b) for b in numbers])


@api
def bessel_jn(z, *, v, n_iter=50):
    """Bessel's functions of the first kind, of the orders 0 to v, by Miller's recurrence from the order n_iter down."""
    z, v = ops.floating(z), ops.whole("bessel_jn: v", v)
    zero = z == 0
    safe = wnp.where(zero, 1.0, z)

    def down(carry, k):
        upper, on, total = carry
        lower = 2 * k / safe * on - upper
        large = wnp.abs(lower) > 1e10
        scale = wnp.where(large, 1e-10, 1.0)
        return (on * scale, lower * scale, (total + wnp.where(k % 2 == 1, 2.0, 0.0) * lower) * scale), (on, scale)

    orders = ops.as_elem(wnp.arange(n_iter, 0, -1), z.elem)
    start = wnp.zeros_like(z), wnp.full_like(z, 1e-10), wnp.full_like(z, 2e-10 if n_iter % 2 == 0 else 0.0)
    (_, first, total), (found, scales) = scan(down, start, orders)
    later = wnp.flip(wnp.cumprod(wnp.flip(scales, axis=0), axis=0), axis=0)
    whole = wnp.concatenate([first[None], wnp.flip(found * later, axis=0)])[:v + 1] / (total - first)
    at_zero = wnp.reshape(wnp.arange(v + 1) == 0, (v + 1,) + (1,) * z.ndim)
    return wnp.where(zero, ops.as_elem(at_zero, z.elem), whole)


@api
def sinc(x, /):
    """sin(pi x) / (pi x)"""
    return wnp.sinc(x)


spelling.spell(__name__, globals())
