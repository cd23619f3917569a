"""Special functions by Chebyshev's and power series: error functions, Fresnel's and the trigonometric integrals, hypergeometric functions."""
import math

import numpy as np

from wick import numpy as wnp
from wick.trace import ops
from wick.trace.control import fori
from wick.trace.custom import slopes
from wick.trace.eager import api

# Chebyshev's coefficients, computed from values with 15 digits or more.
#: (1 + x) erfcx(x) for x >= 0, of (x - 3) / (x + 3).
_ERFCX = (0.75371267447479839, -0.22415380799909312, 0.033311418699360301, 0.0047292022031603514, -0.0046675840285749434,
          0.0015054589918591585, -0.0002662794018507518, 1.4873372028843812e-05, 4.6080561305721079e-06, -9.6768022951609911e-07,
          -4.5804960401019112e-08, 3.4038358770471788e-08, -2.5183398422168324e-10, -1.1966480861769213e-09, 3.1644228903893179e-11,
          4.6321335656074325e-11, -8.0832562865396085e-13, -1.9624302183274267e-12, -3.3875680038875089e-14, 8.6750051586648169e-14,
          6.6960326172704754e-15, -3.5041414214731503e-15, -8.7430063189231078e-16, 3.6429192995512949e-16)
#: Of 2 (4 / x) - 1, for x >= 4: x f(x) and x^2 g(x) with si(x) = pi / 2 - f cos(x) - g sin(x), ci(x) = f sin(x) - g cos(x).
_SICI_F = (0.96578828035185182, -0.043060837778596601, -0.0073143711748105099, 0.0014705235789868806, -9.8657685732777244e-05,
           -2.2743202204716928e-05, 9.8240257322221997e-06, -1.8973430148672144e-06, 1.0063435934917764e-07, 8.0819364464690402e-08,
           -3.8976283023989255e-08, 1.0335650640902472e-08, -1.4104344428500504e-09, -2.5232113620710095e-10, 2.5699819355962106e-10,
           -1.0597878130624849e-10, 2.896949347075406e-11, -4.1023295871411847e-12, -1.0435888264659354e-12, 1.0996481503156019e-12,
           -5.2194446681363971e-13, 1.749017597418856e-13)
_SICI_G = (0.91204882552965827, -0.10747890964438699, -0.0140428629123832, 0.0049592034540746899, -0.00062691780467460066,
           -4.2656567192433936e-05, 4.4682517374276982e-05, -1.2701604662199162e-05, 1.7726989407617494e-06, 2.2043478718758447e-07,
           -2.369723149913544e-07, 8.841029383588328e-08, -2.0102730952098469e-08, 1.2607663524288881e-09, 1.4522794841709263e-09,
           -9.1899038379139597e-10, 3.4212072064221388e-10, -8.473233226169441e-11, 6.8536287756160164e-12, 6.8957478616127332e-12,
           -5.1720017157919074e-12, 2.2990984116511015e-12)
#: Of 2 (1.6 / x)^2 - 1, for x >= 1.6: pi x f(x) and pi^2 x^3 g(x) with the phase p = pi x^2 / 2 and
#: S(x) = 1 / 2 - f cos(p) - g sin(p), C(x) = 1 / 2 + f sin(p) - g cos(p).
_FRESNEL_F = (0.98633632014408934, -0.017434711935667715, -0.0032843323295991683, 0.00047917600017892414, -1.8619619802488514e-05,
              -8.1509185400480133e-06, 2.5877267889669753e-06, -3.9252934992684008e-07, -2.1512432547138305e-09, 2.2836876376053361e-08,
              -8.4997269231626427e-09, 1.8421521114087014e-09, -1.409507341572358e-10, -8.8829971156556553e-11, 5.4765799534228776e-11,
              -1.8742785101721893e-11, 4.1632808311931058e-12, -2.4152901900720281e-13, -3.276112020555999e-13, 2.135930321500723e-13,
              -8.4423787405363271e-14, 2.3897550605056495e-14)
_FRESNEL_G = (0.94099995669642866, -0.073238014959653347, -0.011080882163852845, 0.0029448994832484629, -0.00027899517938691221,
              -3.8060334305145549e-05, 2.3134774956046558e-05, -5.4027917520266255e-06, 5.1741714454222459e-07, 1.6576137365498234e-07,
              -1.0664447591419296e-07, 3.3164597124102357e-08, -5.963027452024483e-09, -2.1851701004216295e-10, 7.0120379294658086e-10,
              -3.4345920552070197e-10, 1.0849554588077126e-10, -2.0941748335445709e-11, -1.0171655184798567e-12, 3.215233634890069e-12,
              -1.8088846392982916e-12, 6.8653416285258118e-13)


def _series(coefficients, t):
    """Chebyshev's series at t, by Clenshaw's recurrence."""
    on, after = 0.0, 0.0
    for c in coefficients[:0:-1]:
        on, after = c + 2 * t * on - after, on
    return coefficients[0] + t * on - after


def _scaled(x):
    """exp(x^2) erfc(x) for x >= 0."""
    x = wnp.minimum(x, 1e15)
    return _series(_ERFCX, (x - 3) / (x + 3)) / (1 + x)


@slopes(lambda y, x: wnp.exp(-x * x) * (-2 / math.sqrt(math.pi)))
def erfc_of(x):
    """1 - erf(x), with all its digits where it is small."""
    size = wnp.abs(x)
    near = size < 0.5
    far = wnp.where(near, 0.5, wnp.minimum(size, 30.0))
    tail = wnp.exp(-far * far) * _scaled(far)
    return wnp.where(near, 1 - ops.unary("erf", wnp.where(near, x, 0.0)), wnp.where(x < 0, 2 - tail, wnp.where(size > 29, 0.0, tail)))


@slopes(lambda y, x: 2 * x * y - 2 / math.sqrt(math.pi))
def _erfcx(x):
    below = x < 0
    made = _scaled(wnp.abs(x))
    square = wnp.where(below, x * x, 0.0)
    return wnp.where(below, 2 * wnp.exp(square) - made, made)


@api
def erfcx(x, /):
    """exp(x^2) erfc(x)"""
    return _erfcx(ops.floating(x))


def _split(x, at):
    """(x below a number, x above it, is it below?), each with another number where it is not."""
    near = x < at
    return wnp.where(near, x, 0.5 * at), wnp.where(near, at, x), near


@slopes(lambda y, x: (wnp.sinc(x / math.pi), wnp.cos(x) / x))
def _sici(x):
    size = wnp.abs(x)
    small, large, near = _split(size, 4.0)
    square, si, ci, term = small * small, 0.0, 0.0, 1.0
    for k in range(1, 18):  # term: x^(2k - 2) / (2k - 2)!
        si = si + term / ((2 * k - 1) * (2 * k - 1))
        term = term * -square / ((2 * k - 1) * (2 * k))
        ci = ci + term / (2 * k)
    positive = wnp.where(small > 0, small, 1.0)
    t = 8 / large - 1
    f, g = _series(_SICI_F, t) / large, _series(_SICI_G, t) / (large * large)
    sine, cosine = wnp.sin(large), wnp.cos(large)
    si = wnp.where(near, si * small, math.pi / 2 - f * cosine - g * sine)
    ci = wnp.where(near, 0.57721566490153286 + wnp.log(positive) + ci, f * sine - g * cosine)
    return wnp.where(x < 0, -si, si), wnp.where(x > 0, ci, wnp.where(x == 0, -math.inf, math.nan))


@api
def sici(x, /):
    """The sine and the cosine integral (si, ci); ci is NaN for negative x."""
    return _sici(ops.floating(x))


def _phase(x):
    """pi x^2 / 2 less whole turns, for x >= 0: x^2 / 4 turns, which without those keeps its digits."""
    turn = x % 2
    return (0.5 * math.pi) * ((x - turn) * 2 * turn % 4 + turn * turn)


def _fresnel_slopes(y, x):
    phase = _phase(wnp.abs(x))
    return wnp.sin(phase), wnp.cos(phase)


@slopes(_fresnel_slopes)
def _fresnel(x):
    small, large, near = _split(wnp.abs(x), 1.6)
    square = (0.5 * math.pi) * small * small
    s, c, term = 0.0, 0.0, 1.0
    for k in range(0, 26, 2):  # term: (pi x^2 / 2)^k / k!
        c = c + term / (2 * k + 1)
        term = term * square / (k + 1)
        s = s + term / (2 * k + 3)
        term = term * -square / (k + 2)
    t = 2 * (1.6 / large) ** 2 - 1
    f, g = _series(_FRESNEL_F, t) / (math.pi * large), _series(_FRESNEL_G, t) / (math.pi ** 2 * large ** 3)
    phase = _phase(large)
    sine, cosine = wnp.sin(phase), wnp.cos(phase)
    s = wnp.where(near, s * small, 0.5 - f * cosine - g * sine)
    c = wnp.where(near, c * small, 0.5 + f * sine - g * cosine)
    return wnp.where(x < 0, -s, s), wnp.where(x < 0, -c, c)


@api
def fresnel(x, /):
    """Fresnel's integrals (S, C): of sin(pi t^2 / 2) and cos(pi t^2 / 2) from 0 to x."""
    return _fresnel(ops.floating(x))


def _floats(*xs):
    return wnp.broadcast_arrays(*[ops.floating(x) for x in ops.convert(*xs)])


def _powers(count, x, factor):
    """The sum of terms that begin with 1, each x * factor(k) times the one before."""

    def add(k, state):
        term, total = state
        term = term * x * factor(ops.as_elem(k, x.elem))
        return term, total + term

    return fori(0, count, add, (wnp.ones_like(x), wnp.ones_like(x)))[1]


@slopes(None, None, lambda y, a, b, x: a / b * _hyp1f1(a + 1, b + 1, x))
def _hyp1f1(a, b, x):
    from wick.scipy.special import gammaln, gammasgn
    a, b, x = _floats(a, b, x)
    negative = x < 0
    a = wnp.where(negative, b - a, a)  # Kummer's transformation
    size = wnp.abs(x)
    near = size < 60
    small, large = wnp.where(near, size, 1.0), wnp.where(near, 60.0, size)
    series = _powers(220, small, lambda k: (a + k) / ((b + k) * (k + 1)))
    tail = _powers(12, 1 / large, lambda k: (b - a + k) * (1 - a + k) / (k + 1))
    whole = (a <= 0) & (a == wnp.floor(a))  # a polynomial: 1 / gamma(a) is 0
    log = gammaln(b) - gammaln(wnp.where(whole, 1.0, a)) + (a - b) * wnp.log(large)
    sign = gammasgn(b) * gammasgn(wnp.where(whole, 1.0, a))
    scale = wnp.where(negative, 0.0, size)
    by_series = series * wnp.exp(wnp.where(negative, -small, 0.0))
    by_tail = sign * wnp.exp(log + scale) * tail
    return wnp.where(near, by_series, wnp.where(whole, _polynomial(a, b, size, negative), by_tail))


@api
def hyp1f1(a, b, x):
    """Kummer's function 1F1(a, b, x): its power series, and from 60 on the asymptotic one."""
    return _hyp1f1(*[ops.floating(v) for v in ops.convert(a, b, x)])


def _polynomial(a, b, x, negative):
    """1F1 for a whole number a from -40 to 0."""
    made = _powers(40, x, lambda k: (a + k) / ((b + k) * (k + 1)))
    return wnp.where(a < -40, math.nan, made * wnp.exp(wnp.where(negative, -x, 0.0)))


@slopes(None, None, None, lambda y, a, b, c, x: a * b / c * _hyp2f1(a + 1, b + 1, c + 1, x))
def _hyp2f1(a, b, c, x):
    from wick.scipy.special import gammaln, gammasgn
    a, b, c, x = _floats(a, b, c, x)
    negative = x < 0
    b = wnp.where(negative, c - b, b)  # Pfaff's transformation
    z = wnp.where(negative, x / (x - 1), x)
    factor = wnp.where(negative, wnp.exp(-a * wnp.log1p(wnp.where(negative, -x, 0.0))), 1.0)
    near = z < 0.9
    s = c - a - b
    whole = s == wnp.floor(s)
    series = _powers(600, wnp.where(near | (whole & (z < 0.97)), z, 0.5), lambda k: (a + k) * (b + k) / ((c + k) * (k + 1)))
    y = wnp.where(near, 0.1, 1 - z)
    apart = wnp.where(whole, 0.5, s)

    def quotient(top, bottom):
        """The product of two values of gamma divided by that of two others, which may be infinite."""
        poles = [(v <= 0) & (v == wnp.floor(v)) for v in bottom]
        bottom = [wnp.where(p, 1.0, v) for p, v in zip(poles, bottom)]
        sign = math.prod([gammasgn(v) for v in (*top, *bottom)])
        log = sum([gammaln(v) for v in top]) - sum([gammaln(v) for v in bottom])
        return wnp.where(poles[0] | poles[1], 0.0, sign * wnp.exp(log))

    first = quotient((c, apart), (c - a, c - b)) * _powers(120, y, lambda k: (a + k) * (b + k) / ((1 - apart + k) * (k + 1)))
    second = quotient((c, -apart), (a, b)) * wnp.where(y > 0, y, 1.0) ** apart * _powers(120, y, lambda k: (c - a + k) * (c - b + k) / ((1 + apart + k) * (k + 1)))
    about_1 = first + wnp.where((y > 0) | (s < 0), second, 0.0)
    at_1 = wnp.where(s > 0, quotient((c, wnp.where(s > 0, s, 1.0)), (c - a, c - b)), math.inf)
    far = wnp.where(z == 1, at_1, wnp.where(whole, wnp.where(z < 0.97, series, math.nan), about_1))
    return wnp.where(x > 1, math.nan, factor * wnp.where(near, series, far))


@api
def hyp2f1(a, b, c, x):
    """Gauss's function 2F1(a, b, c, x) for x <= 1. From 0.97 to 1 it is NaN where c - a - b is a whole number, but for x = 1."""
    return _hyp2f1(*[ops.floating(v) for v in ops.convert(a, b, c, x)])


@api
def boxcox(x, lmbda):
    """(x^lmbda - 1) / lmbda, and log(x) where lmbda is 0."""
    x, power = _floats(x, lmbda)
    flat = power == 0
    safe = wnp.where(flat, 1.0, power)
    return wnp.where(flat, wnp.log(x), wnp.expm1(safe * wnp.log(x)) / safe)


@api
def boxcox1p(x, lmbda):
    """boxcox(1 + x, lmbda)"""
    x, power = _floats(x, lmbda)
    flat = power == 0
    safe = wnp.where(flat, 1.0, power)
    return wnp.where(flat, wnp.log1p(x), wnp.expm1(safe * wnp.log1p(x)) / safe)


@api
def comb(N, k, *, exact=False, repetition=False):
    """The number of choices of k out of N, as a float."""
    from wick.scipy.special import gammaln
    n, k = _floats(N, k)
    n = n + k - 1 if repetition else n
    good = (k >= 0) & (n >= k)
    n, k = wnp.where(good, n, 1.0), wnp.where(good, k, 0.0)
    return wnp.where(good, wnp.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)), 0.0)


@slopes(lambda y, h, a: wnp.exp(-0.5 * h * h) * ops.unary("erf", a * h * math.sqrt(0.5)) * (-0.5 / math.sqrt(2 * math.pi)),
        lambda y, h, a: wnp.exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a)))
def _owens_t(h, a):
    h, a = wnp.broadcast_arrays(h, a)
    h, size = wnp.abs(h), wnp.abs(a)
    above = size > 1
    upper = lambda x: 0.5 * erfc_of(x * math.sqrt(0.5))
    height = wnp.where(above, wnp.minimum(size, 1e15) * h, h)
    width = wnp.where(above, 1 / wnp.where(above, size, 1.0), size)
    total = 0.0
    for t, w in zip(*np.polynomial.legendre.leggauss(24)):
        square = (0.5 + 0.5 * float(t)) ** 2 * width * width + 1
        total = total + float(w) * wnp.exp(-0.5 * wnp.minimum(height, 1e15) ** 2 * square) / square
    total = total * width * (0.25 / math.pi)
    other = 0.5 * (upper(h) + upper(height)) - upper(h) * upper(height) - total
    return wnp.sign(a) * wnp.where(above, other, total)


@api
def owens_t(h, a):
    """Owen's T function, by Gauss and Legendre's rule of 24 points."""
    return _owens_t(*[ops.floating(v) for v in ops.convert(h, a)])
