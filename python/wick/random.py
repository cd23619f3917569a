"""Random values by key, as in jax.random: a key gives the same values on every machine. Use a key once; split makes more.

A key is an array of type u64 and shape (). The numbers are those of the language's module `random` (docs/library.md)."""
import math

import numpy as np

from wick import numpy as wnp
from wick.errors import TypeMismatch
from wick.trace import elements, index, ops, spelling
from wick.trace.control import fori, while_loop
from wick.trace.eager import api, made
from wick.trace.scope import Traced, fail, name_of, type_text

__all__ = ("key PRNGKey key_data wrap_key_data split fold_in bits uniform normal truncated_normal bernoulli categorical randint permutation shuffle "
           "choice exponential gumbel laplace logistic cauchy rademacher gamma beta dirichlet poisson multivariate_normal maxwell pareto "
           "lognormal geometric binomial multinomial f generalized_normal wald clone t chisquare rayleigh weibull_min orthogonal ball loggamma double_sided_maxwell triangular").split()


def key(seed):
    """A key from a number."""
    if isinstance(seed, Traced):
        return ops.as_elem(seed, "u64")
    return made(np.asarray(int(seed) % (1 << 64), np.uint64))


PRNGKey = key


def key_data(key):
    """The key itself."""
    return key


wrap_key_data = key_data


def _key(k):
    k = ops.array(k)
    if k.elem != "u64" or k.shape != ():
        fail(TypeMismatch, f"expected a key, an array of type u64 and shape (), {type_text(k.elem, k.shape)} is given: wick.random.key(seed) makes one, "
                           "wick.vmap maps a function over several")
    return k


def _mixed(k, i):
    """The language's random.split, of each element of i (u64)."""
    shifted = lambda x, n: ops.binary("bit_xor", x, ops.binary("shift_right", x, n))
    a = ops.binary("add", ops.binary("mul", ops.binary("add", k, 1), 0x1E3779B97F4A7C15), i)
    b = ops.binary("mul", shifted(a, 27), 0x3C79AC492BA7B653)
    c = ops.binary("mul", shifted(b, 33), 0x1C69B3F74AC4AE35)
    return shifted(c, 27)


@api
def split(key, num=2):
    """An array of further keys."""
    shape = ops.shape_of("split", num)
    return ops.reshape(_mixed(_key(key), ops.iota(math.prod(shape), "u64")), shape)


@api
def fold_in(key, data):
    """A key for a number: that of split at this position."""
    return _mixed(_key(key), ops.as_elem(data, "u64"))


def _random(key, shape, elem, kind="uniform"):
    return ops.typed(f'op.random({name_of(_key(key))}, kind = "{kind}")', elem, shape)


def _type(dtype):
    elem = elements.FLOAT if dtype is None else elements.of_dtype(dtype)
    if elem is None or not elements.is_float(elem):
        fail(TypeMismatch, f"random floats of the type {dtype} are not supported")
    return elem


def _shape(shape):
    return ops.shape_of("shape", shape)


@api
def bits(key, shape=(), dtype=np.uint32):
    """Whole numbers of any bits."""
    elem, shape = elements.of_dtype(dtype), _shape(shape)
    count = math.prod(shape)
    mixed = _mixed(_mixed(_key(key), ops.as_elem(0, "u64")), ops.iota(count, "u64"))
    mixed = mixed if elem == "u64" else ops.binary("shift_right", mixed, 64 - elements.WIDTH[elem])
    return ops.reshape(ops.as_elem(mixed, elem), shape)


@api
def uniform(key, shape=(), dtype=None, minval=0.0, maxval=1.0):
    """Numbers that are equally likely between minval and maxval, which does not occur."""
    elem = _type(dtype)
    u = _random(key, _shape(shape), elem)
    if ops.is_number(minval) and ops.is_number(maxval):
        return u if (minval, maxval) == (0, 1) else u * float(maxval - minval) + float(minval)
    low, high = ops.as_elem(minval, elem), ops.as_elem(maxval, elem)
    return low + u * (high - low)


@api
def normal(key, shape=(), dtype=None):
    """Numbers of the normal distribution with mean 0 and deviation 1."""
    return _random(key, _shape(shape), _type(dtype), "normal")


@api
def truncated_normal(key, lower, upper, shape=None, dtype=None):
    """Normal numbers between two bounds: by the inverse of the distribution."""
    from wick.lax import erf_inv
    elem = _type(dtype)
    lower, upper = ops.as_elem(lower, elem), ops.as_elem(upper, elem)
    shape = ops.broadcast_shapes("truncated_normal", lower.shape, upper.shape) if shape is None else _shape(shape)
    a, b = [ops.unary("erf", v * (1 / math.sqrt(2))) for v in (lower, upper)]
    u = a + (b - a) * _random(key, shape, elem)
    return wnp.clip(erf_inv(u) * math.sqrt(2), lower, upper)


@api
def bernoulli(key, p=0.5, shape=None):
    """True with probability p."""
    p = ops.floating(p)
    return ops.binary("lt", _random(key, p.shape if shape is None else _shape(shape), p.elem), p, "bool")


@api
def exponential(key, shape=(), dtype=None):
    """Numbers of the exponential distribution with mean 1."""
    return -wnp.log1p(-_random(key, _shape(shape), _type(dtype)))


@api
def gumbel(key, shape=(), dtype=None):
    """Numbers of the Gumbel distribution."""
    return -wnp.log(exponential(key, shape, dtype) + float(elements.finfo(_type(dtype)).tiny))


@api
def categorical(key, logits, axis=-1, shape=None):
    """Positions along an axis with the probabilities softmax(logits)."""
    logits = ops.floating(logits)
    axis = ops.axis_of("categorical", axis, logits.ndim)
    if shape is not None:
        rest = logits.shape[:axis] + logits.shape[axis + 1:]
        shape = _shape(shape)
        axis += len(shape) - len(rest)
        full = list(shape)
        full.insert(axis, logits.shape[axis - len(shape) + len(rest)])
        logits = ops.broadcast_to(logits, tuple(full))
    return wnp.argmax(logits + gumbel(key, logits.shape, logits.dtype), axis=axis)


@api
def randint(key, shape, minval, maxval, dtype=np.int64):
    """Whole numbers from minval up to maxval, without it."""
    elem, shape = elements.of_dtype(dtype), _shape(shape)
    low, high = ops.as_elem(minval, "i64"), ops.as_elem(maxval, "i64")
    span = wnp.maximum(high - low, 1)
    u = _random(key, shape, "f64")
    at = wnp.minimum(ops.as_elem(wnp.floor(u * ops.as_elem(span, "f64")), "i64"), span - 1)
    return ops.as_elem(low + at, elem)


def _order(key, n):
    """The positions 0 .. n-1 in a random order."""
    return wnp.argsort(bits(key, (n,), np.uint64))


@api
def permutation(key, x, axis=0, independent=False):
    """The rows of x, or the numbers below x, in a random order."""
    if isinstance(x, int):
        return _order(key, x)
    x = ops.array(x)
    axis = ops.axis_of("permutation", axis, x.ndim)
    if independent:
        return ops.gather_elements(x, wnp.argsort(bits(key, x.shape, np.uint64), axis=axis), axis)
    return ops.gather(x, _order(key, x.shape[axis]), axis)


def shuffle(key, x, axis=0):
    """The same as permutation."""
    return permutation(key, x, axis)


@api
def choice(key, a, shape=(), replace=True, p=None, axis=0):
    """Elements of a, or numbers below a, with probabilities p."""
    n = a if isinstance(a, int) else ops.array(a).shape[axis]
    shape = _shape(shape)
    count = math.prod(shape)
    if p is None:
        at = randint(key, shape, 0, n) if replace else ops.reshape(ops.slice(_order(key, n), (0,), (count,)), shape)
    elif replace:
        edges = wnp.cumsum(ops.floating(p))
        at = wnp.searchsorted(edges, edges[-1] * (1 - _random(key, shape, edges.elem)))
        at = wnp.minimum(at, n - 1)
    else:
        p = ops.floating(p)
        at = ops.reshape(ops.top_k(wnp.log(p) + gumbel(key, p.shape, p.dtype), count, 0, False)[1], shape)
    return at if isinstance(a, int) else index.get(ops.array(a), (slice(None),) * axis + (at,))


@api
def laplace(key, shape=(), dtype=None):
    """Numbers of the Laplace distribution."""
    u = uniform(key, shape, dtype, -1.0, 1.0)
    return wnp.sign(u) * -wnp.log1p(-wnp.abs(u))


@api
def logistic(key, shape=(), dtype=None):
    """Numbers of the logistic distribution."""
    u = _random(key, _shape(shape), _type(dtype))
    u = wnp.maximum(u, float(elements.finfo(u.elem).tiny))
    return wnp.log(u) - wnp.log1p(-u)


@api
def cauchy(key, shape=(), dtype=None):
    """Numbers of the Cauchy distribution."""
    return wnp.tan(math.pi * (_random(key, _shape(shape), _type(dtype)) - 0.5))


@api
def rademacher(key, shape=(), dtype=np.int64):
    """-1 or 1."""
    return ops.as_elem(bernoulli(key, 0.5, shape), elements.of_dtype(dtype)) * 2 - 1


@api
def pareto(key, b, shape=None, dtype=None):
    """Numbers of the Pareto distribution."""
    b = ops.as_elem(b, _type(dtype))
    return wnp.exp(exponential(key, b.shape if shape is None else shape, dtype) / b)


@api
def rayleigh(key, scale, shape=None, dtype=None):
    """Numbers of the Rayleigh distribution."""
    scale = ops.as_elem(scale, _type(dtype))
    return scale * wnp.sqrt(2.0 * exponential(key, scale.shape if shape is None else shape, dtype))


@api
def weibull_min(key, scale, concentration, shape=(), dtype=None):
    """Numbers of the Weibull distribution."""
    return wnp.power(exponential(key, shape, dtype), 1.0 / ops.as_elem(concentration, _type(dtype))) * scale


@api
def triangular(key, left, mode, right, shape=(), dtype=None):
    """Numbers of the triangular distribution."""
    u = _random(key, _shape(shape), _type(dtype))
    cut = (mode - left) / (right - left)
    return wnp.where(u < cut, left + wnp.sqrt(u * (right - left) * (mode - left)), right - wnp.sqrt((1 - u) * (right - left) * (right - mode)))


@api
def loggamma(key, a, shape=None, dtype=None):
    """The logarithm of numbers of the gamma distribution."""
    return wnp.log(gamma(key, a, shape, dtype))


@api
def gamma(key, a, shape=None, dtype=None):
    """Numbers of the gamma distribution with shape a: Marsaglia and Tsang's method, all elements until the last is done."""
    elem = _type(dtype)
    a = ops.as_elem(a, elem)
    shape = a.shape if shape is None else _shape(shape)
    a = ops.broadcast_to(a, shape)
    small = a < 1
    d = wnp.where(small, a + 1, a) - 1 / 3
    c = 1 / wnp.sqrt(9 * d)
    keys = split(key, 3)

    def step(i, state):
        value, done = state
        z, u = normal(fold_in(keys[0], i), shape, dtype), _random(fold_in(keys[1], i), shape, elem)
        v = (1 + c * z) ** 3
        good = (v > 0) & (wnp.log(u + 1e-30) < 0.5 * z * z + d - d * v + d * wnp.log(wnp.where(v > 0, v, 1)))
        return wnp.where(good & ~done, d * v, value), done | good

    value = fori(0, 24, step, (d, ops.full(shape, False, "bool")))[0]
    boost = wnp.exp(-exponential(keys[2], shape, dtype) / wnp.where(small, a, 1))
    return wnp.where(small, value * boost, value)


@api
def beta(key, a, b, shape=None, dtype=None):
    """Numbers of the beta distribution."""
    one, two = split(key)
    a, b = ops.as_elem(a, _type(dtype)), ops.as_elem(b, _type(dtype))
    shape = ops.broadcast_shapes("beta", a.shape, b.shape) if shape is None else shape
    x, y = gamma(one, a, shape, dtype), gamma(two, b, shape, dtype)
    return x / (x + y)


@api
def dirichlet(key, alpha, shape=None, dtype=None):
    """Vectors of the Dirichlet distribution."""
    alpha = ops.as_elem(alpha, _type(dtype))
    x = gamma(key, alpha, alpha.shape if shape is None else _shape(shape) + alpha.shape[-1:], dtype)
    return x / wnp.sum(x, axis=-1, keepdims=True)


@api
def chisquare(key, df, shape=None, dtype=None):
    """Numbers of the chi-square distribution."""
    return 2 * gamma(key, 0.5 * ops.as_elem(df, _type(dtype)), shape, dtype)


@api
def f(key, dfnum, dfden, shape=None, dtype=None):
    """Numbers of the F distribution."""
    one, two = split(key)
    dfnum, dfden = ops.as_elem(dfnum, _type(dtype)), ops.as_elem(dfden, _type(dtype))
    shape = ops.broadcast_shapes("f", dfnum.shape, dfden.shape) if shape is None else shape
    return (chisquare(one, dfnum, shape, dtype) / dfnum) / (chisquare(two, dfden, shape, dtype) / dfden)


@api
def t(key, df, shape=(), dtype=None):
    """Numbers of Student's t distribution."""
    one, two = split(key)
    half = ops.as_elem(df, _type(dtype)) / 2
    return normal(one, shape, dtype) * wnp.sqrt(half / gamma(two, half, shape or half.shape, dtype))


@api
def poisson(key, lam, shape=None, dtype=np.int64):
    """Numbers of the Poisson distribution: products of uniform numbers."""
    from wick.trace.control import while_loop
    lam = ops.as_elem(lam, "f64")
    shape = lam.shape if shape is None else _shape(shape)
    lam = ops.broadcast_to(lam, shape)
    zero = ops.full(shape, 0, "i64")

    def step(state):
        i, count, total = state
        total = total + exponential(fold_in(key, i), shape, np.float64)
        return i + 1, wnp.where(total < lam, count + 1, count), total

    state = ops.full((), 0, "i64"), zero, ops.full(shape, 0, "f64")
    return ops.as_elem(while_loop(lambda s: wnp.any(s[2] < lam), step, state)[1], elements.of_dtype(dtype))


@api
def multivariate_normal(key, mean, cov, shape=None, dtype=None):
    """Vectors of the normal distribution with a mean and covariances."""
    elem = _type(dtype)
    mean, l = ops.as_elem(mean, elem), wnp.linalg.cholesky(ops.as_elem(cov, elem))
    shape = mean.shape[:-1] if shape is None else _shape(shape)
    z = _random(key, shape + mean.shape[-1:], elem, "normal")
    return mean + (l @ z[..., None])[..., 0]


@api
def maxwell(key, shape=(), dtype=None):
    """Numbers of the Maxwell distribution."""
    z = normal(key, _shape(shape) + (3,), dtype)
    return wnp.linalg.vector_norm(z, axis=-1)


@api
def double_sided_maxwell(key, loc, scale, shape=(), dtype=None):
    """Numbers of the Maxwell distribution with a random sign."""
    one, two = split(key)
    return loc + scale * maxwell(one, shape, dtype) * rademacher(two, shape)


@api
def orthogonal(key, n, shape=(), dtype=None):
    """Orthogonal matrices."""
    q, r = wnp.linalg.qr(normal(key, _shape(shape) + (n, n), dtype))
    return q


@api
def ball(key, d, p=2, shape=(), dtype=None):
    """Points in the unit ball of d dimensions, by the norm of order p."""
    one, two = split(key)
    if p != 2:
        parts = generalized_normal(one, p, _shape(shape) + (d,), dtype)
        total = wnp.sum(wnp.abs(parts) ** p, axis=-1) + exponential(two, _shape(shape), dtype)
        return parts / wnp.expand_dims(total ** (1 / p), axis=-1)
    z = normal(one, _shape(shape) + (d,), dtype)
    radius = uniform(two, _shape(shape) + (1,), dtype) ** (1.0 / d)
    return radius * z / wnp.linalg.vector_norm(z, axis=-1, keepdims=True)


@api
def lognormal(key, sigma=1.0, shape=None, dtype=None):
    """Numbers whose logarithms have the normal distribution."""
    sigma = ops.as_elem(sigma, _type(dtype))
    return wnp.exp(normal(key, sigma.shape if shape is None else shape, dtype) * sigma)


@api
def geometric(key, p, shape=None, dtype=np.int64):
    """How many trials of probability p it takes until one succeeds."""
    p = ops.floating(ops.array(p))
    e = exponential(key, p.shape if shape is None else shape)
    return ops.as_elem(wnp.floor(e / -wnp.log1p(-p)) + 1, elements.of_dtype(dtype))


@api
def binomial(key, n, p, shape=None, dtype=None):
    """How many of n trials of probability p succeed: the distances of successes are geometric."""
    n, p = ops.as_elem(n, _type(dtype)), ops.as_elem(p, _type(dtype))
    shape = ops.broadcast_shapes("binomial", n.shape, p.shape) if shape is None else _shape(shape)
    flipped = p > 0.5
    few = wnp.where(flipped, 1 - p, p)
    scale = -wnp.log1p(-wnp.maximum(few, 1e-30))

    def jump(s):
        i, at, count = s
        at = at + wnp.floor(exponential(fold_in(key, i), shape, dtype) / scale) + 1
        return i + 1, at, count + (at <= n)

    zero = ops.full(shape, 0, n.elem)
    _, _, count = while_loop(lambda s: wnp.any(s[1] <= n), jump, (0, zero, zero))
    return wnp.where(flipped, n - count, count)


@api
def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1):
    """How often each of several events of probabilities p comes in n trials."""
    p = ops.as_elem(p, _type(dtype))
    batch = p.shape[:-1]
    left, rest, counts = ops.broadcast_to(ops.as_elem(n, p.elem), batch), ops.full(batch, 1, p.elem), []
    for k, own in enumerate(split(key, p.shape[-1])):
        part = p[..., k]
        chance = wnp.clip(part / wnp.maximum(rest, 1e-30), 0.0, 1.0)
        count = left if k == p.shape[-1] - 1 else binomial(own, left, chance, batch, dtype)
        left, rest = left - count, rest - part
        counts.append(count)
    return wnp.stack(counts, axis=-1)


@api
def generalized_normal(key, p, shape=(), dtype=None):
    """Numbers with the density exp(-|x|^p)."""
    one, two = split(key)
    p = ops.as_elem(p, _type(dtype))
    return wnp.power(gamma(one, 1 / p, shape, dtype), 1 / p) * rademacher(two, shape)


@api
def wald(key, mean, shape=None, dtype=None):
    """Numbers of the Wald distribution: Michael, Schucany and Haas, 1976."""
    one, two = split(key)
    mean = ops.as_elem(mean, _type(dtype))
    shape = mean.shape if shape is None else _shape(shape)
    y = wnp.square(normal(one, shape, dtype))
    x = mean + mean * mean * y / 2 - mean / 2 * wnp.sqrt(4 * mean * y + mean * mean * y * y)
    return wnp.where(uniform(two, shape, dtype) <= mean / (mean + x), x, mean * mean / x)


def clone(key):
    """The same key."""
    return key


spelling.spell(__name__, globals())
