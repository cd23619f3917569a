"""Logarithms of densities and distribution functions, as in jax.scipy.stats: stats.norm.logpdf(x, loc, scale)."""
import math
import types

from wick import numpy as wnp
from wick.scipy import special
from wick.trace import ops
from wick.trace.eager import api


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
        made["ppf"] = api(ppf)
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
pareto = _distribution("pareto", lambda z, b: wnp.log(b) - (b + 1) * wnp.log(z), ("b",), support=lambda z, _: (z >= 1, 2.0))
truncnorm = _distribution("truncnorm", lambda z, a, b: -0.5 * z * z - _HALF_LOG_2PI - wnp.log(special.ndtr(b) - special.ndtr(a)), ("a", "b"),
                          lambda z, a, b: (special.ndtr(wnp.clip(z, a, b)) - special.ndtr(a)) / (special.ndtr(b) - special.ndtr(a)),
                          support=lambda z, a, b: ((z >= a) & (z <= b), (a + b) / 2))
bernoulli = _distribution("bernoulli", lambda k, p: special.xlogy(k, p) + special.xlog1py(1 - k, -p), ("p",), discrete=True,
                          support=lambda k, _: ((k == 0) | (k == 1), 1.0))
poisson = _distribution("poisson", lambda k, mu: special.xlogy(k, mu) - special.gammaln(k + 1) - mu, ("mu",),
                        lambda k, mu: wnp.where(k < 0, 0.0, special.gammaincc(wnp.floor(wnp.maximum(k, 0.0)) + 1, mu)), discrete=True, support=_above_0)
geom = _distribution("geom", lambda k, p: special.xlog1py(k - 1, -p) + wnp.log(p), ("p",), discrete=True, support=lambda k, _: (k >= 1, 1.0))
binom = _distribution("binom", lambda k, n, p: special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
                      + special.xlogy(k, p) + special.xlog1py(n - k, -p), ("n", "p"), discrete=True,
                      support=lambda k, n, _: ((k >= 0) & (k <= n), n))
nbinom = _distribution("nbinom", lambda k, n, p: special.gammaln(k + n) - special.gammaln(n) - special.gammaln(k + 1) + n * wnp.log(p)
                       + special.xlog1py(k, -p), ("n", "p"), discrete=True, support=_above_0)


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
