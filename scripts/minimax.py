#!/usr/bin/env python3
"""Derives the coefficients of src/ops/poly/poly_*.c. Needs mpmath.

For a function f on [lo, hi], powers p_0 < p_1 < ... and a weight w, Remez' exchange finds the c_k that minimise max
|w(x) (f(x) - sum c_k x^p_k)| in 60 digits. Then the coefficients are rounded to the type from the lowest power up,
each time with a new fit of the rest, so that later ones compensate for the rounding.

    scripts/minimax.py            all tables
    scripts/minimax.py exp log    some

A table's line says the largest weighted error as a power of two, before and after rounding, and
whether the sources have these coefficients; where they have not, the script ends with 1."""
import pathlib
import re
import sys

from mpmath import (asin, atan, cos, erf, erfc, exp, expm1, factorial, floor, log, log1p, lu_solve,
                    matrix, mp, mpf, nstr, pi, sin, sinh, cosh, sqrt, tan)

mp.dps = 60
TINY = mpf('1e-9')
LN2 = log(mpf(2))


def nodes(lo, hi, n):
    return [(lo + hi) / 2 - (hi - lo) / 2 * cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]


def remez(f, powers, lo, hi, w, rounds=30):
    """Coefficients and the levelled error."""
    n = len(powers)
    if n == 0:
        grid = nodes(lo, hi, 400)
        return [], max(abs(w(x) * f(x)) for x in grid)
    x = nodes(lo, hi - (hi - lo) / 271, n + 1)  # not at 0, where weights may vanish
    grid = nodes(lo, hi, 60 * (n + 1))
    fg, wg = [f(t) for t in grid], [w(t) for t in grid]
    pg = [[t ** p for p in powers] for t in grid]
    best = None
    for _ in range(rounds):
        a, r = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for i, t in enumerate(x):
            for k, p in enumerate(powers):
                a[i, k] = t ** p
            a[i, n] = (-1) ** i / w(t)
            r[i] = f(t)
        s = lu_solve(a, r)
        c = [s[k] for k in range(n)]
        e = [wg[i] * (fg[i] - sum(ck * q for ck, q in zip(c, pg[i]))) for i in range(len(grid))]
        worst = max(abs(v) for v in e)
        if best is None or worst < best[1]:
            best = (c, worst)
        if worst <= abs(s[n]) * mpf('1.0005'):
            break
        runs = []  # one extreme of each run of equal sign
        for i, v in enumerate(e):
            if runs and (e[runs[-1]] > 0) == (v > 0):
                if abs(v) > abs(e[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > n + 1:
            runs.pop(0 if abs(e[runs[0]]) < abs(e[runs[-1]]) else -1)
        if len(runs) < n + 1:
            break
        x = [grid[i] for i in runs]
    return best


def rounded(x, bits):
    if x == 0:
        return x
    with mp.workprec(bits):
        return +x


def fit(f, powers, lo, hi, w, bits, fixed=()):
    """Coefficients rounded to `bits`; `fixed` ones (power, value) are taken as they are."""
    lo, hi = mpf(lo), mpf(hi)
    done = list(fixed)

    def rest(x):
        return f(x) - sum(c * x ** p for p, c in done)

    first, ideal = remez(rest, powers, lo, hi, w)
    nearest = done + [(p, rounded(c, bits)) for p, c in zip(powers, first)]
    for k in range(len(powers)):
        c, _ = remez(rest, powers[k:], lo, hi, w)
        done.append((powers[k], rounded(c[0], bits)))

    def worst(terms):
        return max(abs(w(x) * (f(x) - sum(c * x ** p for p, c in terms)))
                   for x in nodes(lo, hi, 800))

    # Where 0 is inside, the powers without 1 may not fit: then plain rounding is better.
    best = min((worst(done), done), (worst(nearest), nearest))
    return [c for _, c in best[1]], ideal, best[0]


def tidy(x):
    """A hexadecimal float without trailing zeros."""
    m, p = float(x).hex().split('p')
    if '.' in m:
        m = m.rstrip('0').rstrip('.')
    return m + 'p' + p


SOURCES = re.sub(r'\s', '', ''.join(p.read_text() for p in sorted(
    (pathlib.Path(__file__).parent.parent / 'src/ops/poly').glob('poly_*.c'))))
missing = []


def expect(name, text):
    print('    ' + text)
    if re.sub(r'\s', '', text) not in SOURCES:
        print('    NOT IN THE SOURCES')
        missing.append(name)


def show(name, c, ideal, worst):
    print('%s: 2^%s, rounded 2^%s' % (name, nstr(log(ideal, 2), 5), nstr(log(worst, 2), 5)))
    expect(name, '{%d, {%s}}' % (len(c), ', '.join(tidy(x) for x in c)))


TABLES = {}


def table(fn):
    TABLES[fn.__name__.rstrip('_')] = fn
    return fn


def series(coefficient, x, n=40):
    """sum coefficient(k) x^k: a Taylor series without its first terms."""
    return sum(coefficient(k) * x ** k for k in range(n))


@table
def exp_():
    """e^r = 1 + r + r^2 P(r) on |r| <= ln2 / 2 and a little; the error relative to e^r, then
    relative to e^r - 1."""
    h = LN2 / 2 * mpf('1.01')

    def tail(r):
        return series(lambda k: 1 / factorial(k + 2), r)

    for bits, n in ((24, 5), (53, 11)):
        show('exp %d' % bits, *fit(tail, range(n), -h, h, lambda r: r * r / exp(r), bits))
    for bits, n in ((24, 6), (53, 12)):
        show('expm1 %d' % bits, *fit(tail, range(n), -h, h, lambda r: abs(
            r if abs(r) < TINY else r * r / expm1(r)), bits))


@table
def sinh_():
    """sinh r = r + r^3 P(r^2), cosh r = 1 + r^2 P(r^2), |r| <= ln2 / 2 and a little."""
    h = (LN2 / 2 * mpf('1.01')) ** 2
    for bits, n in ((24, 3), (53, 6)):
        show('sinh %d' % bits, *fit(lambda z: series(lambda k: 1 / factorial(2 * k + 3), z),
                                    range(n), TINY, h, lambda z: z * sqrt(z) / sinh(sqrt(z)), bits))
        show('cosh %d' % bits, *fit(lambda z: series(lambda k: 1 / factorial(2 * k + 2), z),
                                    range(n), TINY, h, lambda z: z / cosh(sqrt(z)), bits))


@table
def erf_():
    """erf x = x + x P(x^2) for small |x|, the error relative to erf. From there on, erf t = 1 - (P(t) / 1.6)^4
    in f32, and log(erfc t) = P(t) in f64."""
    for bits, n, c in ((24, 7, mpf('1.06')), (53, 12, mpf('0.92'))):
        show('erf small %d' % bits, *fit(lambda z: erf(sqrt(z)) / sqrt(z) - 1, range(n), TINY,
                                         c * c, lambda z: sqrt(z) / erf(sqrt(z)), bits))
    k = mpf('1.6')
    show('erf large 24', *fit(lambda t: k * erfc(t) ** mpf('0.25'), range(9), mpf('1.06'), mpf('3.95'),
                              lambda t: 4 * erfc(t) ** mpf('0.75') / erf(t) / k, 24))
    show('erf large 53', *fit(lambda t: log(erfc(t)), range(20), mpf('0.92'), mpf('5.95'),
                              lambda t: erfc(t) / erf(t), 53))


@table
def phi():
    """(t + c) Phi(-t) e^(t^2 / 2) for the normal distribution's Phi, in t / (t + c) - 1/2."""
    half = mpf(1) / 2
    for bits, n, c, hi in ((24, 10, 4, 15), (53, 24, 5, 39)):
        def f(s):
            t = c * (s + half) / (half - s)
            return (t + c) * erfc(t / sqrt(2)) / 2 * exp(t * t / 2)
        show('phi %d' % bits, *fit(f, range(n), -half, mpf(hi) / (hi + c) - half,
                                   lambda s: 1 / f(s), bits))


@table
def log_():
    """log(1 + f) = f - f^2 / 2 + f^3 P(f) for 1 + f in [2/3, 4/3]."""
    def tail(f):
        if abs(f) < mpf('0.01'):
            return series(lambda k: mpf(-1) ** k / (k + 3), f)
        return (log1p(f) - f + f * f / 2) / f ** 3

    for bits, n in ((24, 8), (53, 20)):
        show('log %d' % bits, *fit(tail, range(n), mpf(-1) / 3 - TINY, mpf(1) / 3 + TINY,
                                   lambda f: abs(f) ** 3 / abs(log1p(f)), bits))


@table
def atanh_():
    """2 atanh s = 2 s + s^3 (2 / 3 + s^2 P(s^2)) for (1 + s) / (1 - s) in [2/3, 4/3]."""
    show('atanh 53', *fit(lambda z: series(lambda k: mpf(2) / (2 * k + 5), z, 60), range(9), TINY,
                          mpf('0.0401'), lambda z: mpf(1), 53))


@table
def sin_():
    """sin r = r + r^3 P(r^2), cos r = 1 - r^2 / 2 + r^4 P(r^2), |r| <= pi / 4 and a little."""
    h = (pi / 4 * mpf('1.001')) ** 2
    for bits, n in ((24, 3), (53, 6)):
        show('sin %d' % bits, *fit(lambda z: -series(lambda k: (-1) ** k / factorial(2 * k + 3), z),
                                   range(n), TINY, h, lambda z: z * sqrt(z) / sin(sqrt(z)), bits))
        show('cos %d' % bits, *fit(lambda z: series(lambda k: (-1) ** k / factorial(2 * k + 4), z),
                                   range(n), TINY, h, lambda z: z * z / cos(sqrt(z)), bits))


@table
def asin_():
    """asin x = x + x^3 P(x^2) for |x| <= 1/2."""
    for bits, n in ((24, 5), (53, 13)):
        show('asin %d' % bits, *fit(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, range(n), TINY,
                                    mpf(1) / 4, lambda z: z * sqrt(z) / asin(sqrt(z)), bits))


@table
def atan_():
    """atan x = x + x^3 P(x^2) for |x| <= tan(pi / 8)."""
    for bits, n in ((24, 5), (53, 11)):
        show('atan %d' % bits, *fit(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, range(n), TINY,
                                    tan(pi / 8) ** 2 * mpf('1.001'),
                                    lambda z: z * sqrt(z) / atan(sqrt(z)), bits))


@table
def two_over_pi():
    """The bits of 2 / pi after the point, in words of 32 and 64 bits; pi / 2 in parts."""
    with mp.workprec(1500):
        for bits, n in ((32, 8), (64, 20)):
            words = [int(floor(2 / pi * 2 ** (bits * (k + 1)))) % 2 ** bits for k in range(n)]
            expect('2 / pi', ', '.join('0x%0*x' % (bits // 4, w) for w in words))
        for upper, whole in ((12, 24), (26, 53)):
            parts = [rounded(pi / 2, upper), rounded(pi / 2, whole)]
            expect('pi / 2', ', '.join('%s, %s' % (tidy(p), tidy(pi / 2 - p)) for p in parts))


if __name__ == '__main__':
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
    sys.exit(1 if missing else 0)
