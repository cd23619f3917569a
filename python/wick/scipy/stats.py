"""Logarithms of densities and distribution functions, as in jax.scipy.stats: stats.norm.logpdf(x, loc, scale)."""
import collections
import math
import types

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.scipy import special
from wick.trace import ops
from wick.trace.eager import api
from wick.trace.scope import fail


def _distribution(name, log_density, parameters, cdf=None, discrete=False, support=None, **more):
    """A namespace with logpdf, pdf, and where `cdf` is given cdf, logcdf, sf and logsf. The density is one of
    (x - loc) / scale, for distributions that are not discrete."""
    density = "pmf" if discrete else "pdf"

    def moved(f, log_scale):
        def standard(x, *args, **named):
            names = parameters + ("loc",) + (() if discrete else ("scale",))
            given = dict(zip(names, args)) | named
            unknown = set(given) - set(names)
            if unknown or any(p not in given for p in parameters):
                raise TypeError(f"{name}: the parameters are {', '.join(names)}; {', '.join(map(str, given)) or 'none'} are given")
            loc, scale = given.pop("loc", 0.0), given.pop("scale", 1.0)
            x, loc, scale, *rest = [ops.floating(v) for v in ops.convert(x, loc, scale, *[given[p] for p in parameters])]
            out = f((x - loc) / scale if not discrete else x - loc, *rest)
            return out - wnp.log(scale) if log_scale and not discrete else out
        return standard

    def log_one(z, *rest):
        if support is None:
            return log_density(z, *rest)
        inside, within = support(z, *rest)
        return wnp.where(inside, log_density(wnp.where(inside, z, within), *rest), -math.inf)

    log = api(moved(log_one, True))
    made = {f"log{density}": log, density: api(lambda *a, **n: wnp.exp(log(*a, **n)))}
    if cdf is not None:
        whole = api(moved(cdf, False))
        made |= {"cdf": whole, "logcdf": api(lambda *a, **n: wnp.log(whole(*a, **n))), "sf": api(lambda *a, **n: 1 - whole(*a, **n)),
                 "logsf": api(lambda *a, **n: wnp.log1p(-whole(*a, **n)))}
    made |= {k: api(moved(f, False)) for k, f in more.items() if k != "ppf"}
    if "ppf" in more:
        def ppf(q, loc=0.0, scale=1.0):
            return loc + scale * more["ppf"](q)
        made |= {"ppf": api(ppf), "isf": api(lambda q, loc=0.0, scale=1.0: ppf(1 - q, loc, scale))}
    return types.SimpleNamespace(**made)


_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_above_0 = lambda z, *_: (z >= 0, 1.0)

norm = _distribution("norm", lambda z: -0.5 * z * z - _HALF_LOG_2PI, (), special.ndtr, ppf=special.ndtri, logcdf=special.log_ndtr,
                     sf=lambda z: special.ndtr(-z), logsf=lambda z: special.log_ndtr(-z))
uniform = _distribution("uniform", lambda z: z * 0, (), lambda z: wnp.clip(z, 0.0, 1.0), support=lambda z: ((z >= 0) & (z <= 1), 0.5),
                        ppf=lambda q: q)
expon = _distribution("expon", lambda z: -z, (), lambda z: -wnp.expm1(-wnp.maximum(z, 0.0)), support=_above_0, ppf=lambda q: -wnp.log1p(-q))
laplace = _distribution("laplace", lambda z: -wnp.abs(z) - math.log(2), (),
                        lambda z: wnp.where(z < 0, 0.5 * wnp.exp(wnp.minimum(z, 0.0)), 1 - 0.5 * wnp.exp(-wnp.maximum(z, 0.0))))
cauchy = _distribution("cauchy", lambda z: -math.log(math.pi) - wnp.log1p(z * z), (), lambda z: 0.5 + wnp.atan(z) / math.pi,
                       ppf=lambda q: wnp.tan(math.pi * (q - 0.5)))
logistic = _distribution("logistic", lambda z: -z - 2 * wnp.logaddexp(-z, 0.0), (), special.expit, ppf=special.logit)
t = _distribution("t", lambda z, df: special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * wnp.log(df * math.pi)
                  - (df + 1) / 2 * wnp.log1p(z * z / df), ("df",))
gamma = _distribution("gamma", lambda z, a: special.xlogy(a - 1, z) - z - special.gammaln(a), ("a",),
                      lambda z, a: special.gammainc(a, wnp.maximum(z, 0.0)), support=_above_0)
chi2 = _distribution("chi2", lambda z, df: special.xlogy(df / 2 - 1, z) - z / 2 - df / 2 * math.log(2) - special.gammaln(df / 2), ("df",),
                     lambda z, df: special.gammainc(df / 2, wnp.maximum(z, 0.0) / 2), support=_above_0)
beta = _distribution("beta", lambda z, a, b: special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b), ("a", "b"),
                     lambda z, a, b: special.betainc(a, b, wnp.clip(z, 0.0, 1.0)), support=lambda z, *_: ((z >= 0) & (z <= 1), 0.5))
pareto = _distribution("pareto", lambda z, b: wnp.log(b) - (b + 1) * wnp.log(z), ("b",),
                       lambda z, b: 1 - wnp.maximum(z, 1.0) ** -b, support=lambda z, _: (z >= 1, 2.0))
truncnorm = _distribution("truncnorm", lambda z, a, b: -0.5 * z * z - _HALF_LOG_2PI - wnp.log(special.ndtr(b) - special.ndtr(a)), ("a", "b"),
                          lambda z, a, b: (special.ndtr(wnp.clip(z, a, b)) - special.ndtr(a)) / (special.ndtr(b) - special.ndtr(a)),
                          support=lambda z, a, b: ((z >= a) & (z <= b), (a + b) / 2))
bernoulli = _distribution("bernoulli", lambda k, p: special.xlogy(k, p) + special.xlog1py(1 - k, -p), ("p",),
                          lambda k, p: wnp.where(k < 0, 0.0, wnp.where(k < 1, 1 - p, 1.0)), discrete=True,
                          support=lambda k, _: ((k == 0) | (k == 1), 1.0))
poisson = _distribution("poisson", lambda k, mu: special.xlogy(k, mu) - special.gammaln(k + 1) - mu, ("mu",),
                        lambda k, mu: wnp.where(k < 0, 0.0, special.gammaincc(wnp.floor(wnp.maximum(k, 0.0)) + 1, mu)), discrete=True, support=_above_0)
geom = _distribution("geom", lambda k, p: special.xlog1py(k - 1, -p) + wnp.log(p), ("p",), discrete=True, support=lambda k, _: (k >= 1, 1.0))
binom = _distribution("binom", lambda k, n, p: special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
                      + special.xlogy(k, p) + special.xlog1py(n - k, -p), ("n", "p"), discrete=True,
                      support=lambda k, n, _: ((k >= 0) & (k <= n), n))
nbinom = _distribution("nbinom", lambda k, n, p: special.gammaln(k + n) - special.gammaln(n) - special.gammaln(k + 1) + n * wnp.log(p)
                       + special.xlog1py(k, -p), ("n", "p"), discrete=True, support=_above_0)
gumbel_r = _distribution("gumbel_r", lambda z: -z - wnp.exp(-z), (), lambda z: wnp.exp(-wnp.exp(-z)), ppf=lambda q: -wnp.log(-wnp.log(q)))
gumbel_l = _distribution("gumbel_l", lambda z: z - wnp.exp(z), (), lambda z: -wnp.expm1(-wnp.exp(z)), ppf=lambda q: wnp.log(-wnp.log1p(-q)))
gennorm = _distribution("gennorm", lambda z, beta: wnp.log(beta / 2) - special.gammaln(1 / beta) - wnp.power(wnp.abs(z), beta), ("beta",),
                        lambda z, beta: 0.5 + 0.5 * wnp.sign(z) * special.gammainc(1 / beta, wnp.power(wnp.abs(z), beta)))
vonmises = _distribution("vonmises", lambda z, kappa: kappa * (wnp.cos(z) - 1) - math.log(2 * math.pi) - wnp.log(special.i0e(kappa)), ("kappa",))
wrapcauchy = _distribution("wrapcauchy", lambda z, c: wnp.log1p(-c * c) - math.log(2 * math.pi) - wnp.log1p(c * c - 2 * c * wnp.cos(z)), ("c",),
                           support=lambda z, _: ((z >= 0) & (z <= 2 * math.pi), 1.0))
betabinom = _distribution("betabinom", lambda k, n, a, b: special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
                          + special.betaln(k + a, n - k + b) - special.betaln(a, b), ("n", "a", "b"), discrete=True,
                          support=lambda k, n, *_: ((k >= 0) & (k <= n), n))


@api
def _multinomial_logpmf(x, n, p):
    x, p = [ops.floating(v) for v in ops.convert(x, p)]
    n = ops.as_elem(n, x.elem)
    made = special.gammaln(n + 1) + wnp.sum(special.xlogy(x, p) - special.gammaln(x + 1), axis=-1)
    return wnp.where(wnp.sum(x, axis=-1) == n, made, -math.inf)


multinomial = types.SimpleNamespace(logpmf=_multinomial_logpmf, pmf=api(lambda x, n, p: wnp.exp(_multinomial_logpmf(x, n, p))))


@api
def sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    """The standard deviation of the mean."""
    a = ops.floating(ops.array(a))
    count = a.size if axis is None else a.shape[axis]
    return wnp.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / math.sqrt(count)


@api
def rankdata(a, method="average", *, axis=None, nan_policy="propagate"):
    """The place of each element in their order, from 1."""
    if method not in ("average", "min", "max", "dense", "ordinal"):
        fail(InvalidArgument, f"rankdata: the method {method!r} is none of average, min, max, dense, ordinal")
    a = ops.array(a)
    a = wnp.ravel(a) if axis is None else wnp.moveaxis(a, axis, -1)
    if method == "ordinal":
        out = wnp.argsort(wnp.argsort(a, axis=-1), axis=-1) + 1
    elif method == "dense":
        values = wnp.sort(a, axis=-1)
        new = wnp.concatenate([values[..., :1] != values[..., :1], values[..., 1:] != values[..., :-1]], axis=-1)
        out = wnp.sum((values[..., None, :] <= a[..., :, None]) & new[..., None, :], axis=-1) + 1
    else:
        less = wnp.sum(a[..., None, :] < a[..., :, None], axis=-1)
        most = wnp.sum(a[..., None, :] <= a[..., :, None], axis=-1)
        out = {"min": lambda: less + 1, "max": lambda: most, "average": lambda: (less + 1 + most) / 2}[method]()
    out = ops.as_elem(out, "f32")
    return out if axis is None else wnp.moveaxis(out, -1, axis)


ModeResult = collections.namedtuple("ModeResult", "mode count")


@api
def mode(a, axis=0, nan_policy="propagate", keepdims=False):
    """(the most frequent element, the least of several; how often it is there)"""
    a = ops.array(a)
    a, axis = (wnp.ravel(a), 0) if axis is None else (a, axis)
    rows = wnp.sort(wnp.moveaxis(a, axis, -1), axis=-1)
    count = wnp.sum(rows[..., None, :] == rows[..., :, None], axis=-1)
    at = wnp.argmax(count, axis=-1, keepdims=True)
    made = [wnp.take_along_axis(v, at, axis=-1) for v in (rows, count)]
    return ModeResult(*[wnp.moveaxis(v, -1, axis) if keepdims else v[..., 0] for v in made])


@api
def _dirichlet_logpdf(x, alpha):
    x, alpha = [ops.floating(v) for v in ops.convert(x, alpha)]
    powers = wnp.sum(special.xlogy(wnp.reshape(alpha - 1, alpha.shape + (1,) * (x.ndim - 1)), x), axis=0)
    return powers + special.gammaln(wnp.sum(alpha)) - wnp.sum(special.gammaln(alpha))


@api
def _multivariate_logpdf(x, mean, cov, allow_singular=None):
    x, mean, cov = [ops.floating(v) for v in ops.convert(x, mean, cov)]
    if cov.ndim < 2:
        return wnp.sum(norm.logpdf(x, mean, wnp.sqrt(cov)), axis=-1) if x.ndim else norm.logpdf(x, mean, wnp.sqrt(cov))
    triangle = wnp.linalg.cholesky(cov)
    apart = wnp.broadcast_to(x - mean, ops.broadcast_shapes("logpdf", x.shape, mean.shape))
    if cov.ndim == 2:
        rows = wnp.linalg.solve_triangular(triangle, wnp.reshape(apart, (-1, apart.shape[-1])).T, lower=True).T
        rows = wnp.reshape(rows, apart.shape)
    else:
        rows = wnp.linalg.solve_triangular(triangle, apart[..., None], lower=True)[..., 0]
    logs = wnp.sum(wnp.log(wnp.diagonal(triangle, 0, -2, -1)), axis=-1)
    return -0.5 * wnp.sum(rows * rows, axis=-1) - x.shape[-1] * _HALF_LOG_2PI - logs


dirichlet = types.SimpleNamespace(logpdf=_dirichlet_logpdf, pdf=api(lambda x, alpha: wnp.exp(_dirichlet_logpdf(x, alpha))))
multivariate_normal = types.SimpleNamespace(
    logpdf=_multivariate_logpdf, pdf=api(lambda x, mean, cov: wnp.exp(_multivariate_logpdf(x, mean, cov))))


class gaussian_kde:
    """A density from samples: a normal distribution around each column of `dataset`."""

    def __init__(self, dataset, bw_method=None, weights=None):
        self.dataset = wnp.atleast_2d(dataset)
        self.d, self.n = self.dataset.shape
        weights = wnp.full(self.n, 1 / self.n, dtype=self.dataset.dtype) if weights is None else wnp.atleast_1d(weights)
        if weights.shape != (self.n,):
            fail(InvalidArgument, f"gaussian_kde: the weights have the shape {weights.shape}, expected {(self.n,)}")
        self.weights = weights / wnp.sum(weights)
        self.neff = 1 / wnp.sum(self.weights ** 2)
        self.factor = self._bandwidth(bw_method)
        spread = wnp.atleast_2d(wnp.cov(self.dataset, aweights=self.weights))
        self.covariance = spread * self.factor ** 2
        self.inv_cov = wnp.linalg.inv(spread) / self.factor ** 2

    def _bandwidth(self, method):
        if method is None or isinstance(method, str) and method == "scott":
            return self.neff ** (-1 / (self.d + 4))
        if isinstance(method, str) and method == "silverman":
            return (self.neff * (self.d + 2) / 4) ** (-1 / (self.d + 4))
        if isinstance(method, str):
            fail(InvalidArgument, f"gaussian_kde: the bandwidth {method!r} is none of scott, silverman, a number or a function")
        return method(self) if callable(method) else method

    def logpdf(self, x):
        """The logarithm of the density at the columns of x."""
        x = wnp.atleast_2d(x)
        if x.shape[0] != self.d and x.shape == (1, self.d):
            x = x.T
        if x.shape[0] != self.d:
            fail(InvalidArgument, f"gaussian_kde: the points have {x.shape[0]} dimensions, the samples {self.d}")
        apart = x.T[:, None] - self.dataset.T
        energy = wnp.einsum("mni,ij,mnj->mn", apart, self.inv_cov, apart)
        norm = 0.5 * wnp.linalg.slogdet(2 * math.pi * self.covariance)[1]
        return special.logsumexp(wnp.log(self.weights) - energy / 2, axis=-1) - norm

    def evaluate(self, points):
        """The density at the columns of `points`."""
        return wnp.exp(self.logpdf(points))

    __call__ = pdf = evaluate
