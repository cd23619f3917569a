"""Names of jax, jax.numpy, jax.lax, jax.scipy, jax.ops and jax.tree_util, against NumPy and SciPy, and operations across the
rows of vmap."""
import dataclasses
import math

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402
from wick import lax  # noqa: E402

X = np.linspace(-2, 2, 12).astype(np.float32).reshape(3, 4)
Y = (np.arange(12).reshape(3, 4) % 5).astype(np.float32)
V = np.float32([1, 2, 3, 4])


def close(a, b, tolerance=1e-5):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def run(f, *args):
    return wick.function(f)(*args)


# ---- wick.numpy ----

ROWS = {
    "isclose": (lambda n, x: n.isclose(x, x + np.float32([0, 1e-7, 1, 0]))),
    "allclose": (lambda n, x: n.allclose(x, x)),
    "array_equal": (lambda n, x: n.array_equal(x, x[:2])),
    "matvec": (lambda n, x: n.matvec(x, V)),
    "vecmat": (lambda n, x: n.vecmat(V[:3], x)),
    "polyadd": (lambda n, x: n.polyadd(x[0], x[1, :2])),
    "polysub": (lambda n, x: n.polysub(x[0], x[1, :2])),
    "polymul": (lambda n, x: n.polymul(x[0], x[1])),
    "polyder": (lambda n, x: n.polyder(x[0], 2)),
    "polyint": (lambda n, x: n.polyint(x[0])),
    "polyfit": (lambda n, x: n.polyfit(V, x[0] ** 2, 2)),
    "poly": (lambda n, x: n.poly(x[0])),
    "fix": (lambda n, x: n.fix(x)),
    "around": (lambda n, x: n.around(x, 1)),
    "unwrap": (lambda n, x: n.unwrap(x * 4)),
    "nancumsum": (lambda n, x: n.nancumsum(n.where(x > 0, x, np.nan), axis=1)),
    "nanargmax": (lambda n, x: n.nanargmax(n.where(x < 1, x, np.nan), axis=0)),
    "nanmedian": (lambda n, x: n.nanmedian(n.where(x < 1, x, np.nan), axis=1)),
    "nanpercentile": (lambda n, x: n.nanpercentile(n.where(x < 1, x, np.nan), 30)),
    "piecewise": (lambda n, x: n.piecewise(x, [x < -1, x >= 1], [lambda t: -t, lambda t: t, 0.0])),
    "apply_along_axis": (lambda n, x: n.apply_along_axis(lambda v: v[::-1] * 2, 0, x)),
    "block": (lambda n, x: n.block([[x, x * 0], [x[:, :1], x, x[:, 1:]]])),
    "isposinf": (lambda n, x: n.isposinf(1 / n.maximum(x, 0))),
    "einsum by numbers": (lambda n, x: n.einsum(x, [0, 1], Y, [2, 1], [0, 2])),
    "tensorsolve": (lambda n, x: n.linalg.tensorsolve(n.eye(12).reshape(3, 4, 3, 4) * 2, x)),
    "qr with more columns": (lambda n, x: n.abs(n.linalg.qr(Y)[1])),
    "ravel_multi_index": (lambda n, x: n.ravel_multi_index((np.array([0, 2]), np.array([3, 1])), (3, 4))),
    "unravel_index": (lambda n, x: n.stack(n.unravel_index(np.array([5, 11]), (3, 4)))),
    "histogram2d": (lambda n, x: n.histogram2d(x.reshape(-1), Y.reshape(-1), bins=3)[0]),
    "partition": (lambda n, x: n.sort(n.partition(x, 2, axis=1), axis=1)),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_numpy(name):
    f = ROWS[name]
    close(run(lambda x: f(wnp, x), X), f(np, X), 1e-4)


def test_grids_windows_and_joined_arrays():
    close(wnp.mgrid[0:2, 0:3], np.mgrid[0:2, 0:3])
    for a, b in zip(wnp.ogrid[0:2, 0:1:3j], np.ogrid[0:2, 0:1:3j]):
        close(a, b)
    close(run(lambda x: wnp.r_[x, 0:3, 5], V), np.r_[V, 0:3, 5])
    close(run(lambda x: wnp.c_[x, x], V), np.c_[V, V])
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        close(getattr(wnp, name)(7), getattr(np, name)(7))
    assert wnp.bitwise_count(np.array([7, -8, 255])).tolist() == [3, 1, 8]
    close(wnp.fill_diagonal(X, 9.0, inplace=False)[1], [X[1, 0], 9, X[1, 2], X[1, 3]])
    assert wnp.union1d(np.array([3, 1]), np.array([1, 7]), size=4, fill_value=-1).tolist() == [1, 3, 7, -1]
    assert wnp.setdiff1d(np.array([3, 1, 2, 2]), np.array([2]), size=3, fill_value=-1).tolist() == [1, 3, -1]
    assert wnp.extract(X > 1, X, size=4, fill_value=0).shape == (4,)


def test_frequencies():
    close(wnp.fft.fftfreq(5), np.fft.fftfreq(5)), close(wnp.fft.rfftfreq(6, 0.5), np.fft.rfftfreq(6, 0.5))
    close(run(wnp.fft.fftshift, X), np.fft.fftshift(X)), close(run(wnp.fft.ifftshift, X), np.fft.ifftshift(X))


def test_vectorize():
    f = wnp.vectorize(lambda a, b: wnp.dot(a, b), signature="(n),(n)->()")
    a, b = np.random.default_rng(0).normal(size=(2, 3, 1, 4)), np.random.default_rng(1).normal(size=(5, 4))
    close(f(a, b), np.einsum("xyzn,zn->xyz", a, b), 1e-5)
    close(run(lambda x: wnp.vectorize(lambda t: wick.cond(t > 0, wnp.sin, wnp.cos, t))(x), X), np.where(X > 0, np.sin(X), np.cos(X)))


# ---- wick.lax, wick.ops, wick.scipy ----


def test_printing(capfd):
    @wick.function
    def f(x):
        wick.debug.print("sum {} of {x}", wnp.sum(x), x=x)
        return x

    f(V)
    assert capfd.readouterr().out == '"sum" 10.0 "of" [1.0, 2.0, 3.0, 4.0]\n'
    with pytest.raises(wick.InvalidArgument, match="nothing is given for {y}"):
        run(lambda x: wick.debug.print("{y}", x) or x, V)


def test_halves_types_and_views():
    halves = np.float32([-1.5, -0.5, 0.5, 1.5, 2.5, 0.3])
    assert run(lax.round, halves).tolist() == [-2, -1, 1, 2, 3, 0]
    assert run(lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), halves).tolist() == [-2, 0, 0, 2, 2, 0]
    assert run(lambda x: lax.argmax(x, 1, np.int32), X).dtype == np.int32
    assert run(lambda x: x.view(np.int32), V).tolist() == V.view(np.int32).tolist()
    assert [x.shape for x in run(lambda x: wnp.meshgrid(x, x, sparse=True), V)] == [(1, 4), (4, 1)]


def test_lax():
    close(run(lambda x: lax.collapse(x, 0), X), X.reshape(-1))
    a, b = run(lambda x: lax.split(x, (1, 3), axis=1), X)
    close(a, X[:, :1]), close(b, X[:, 1:])
    close(run(lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 1), "VALID"), X), X[:-1, :-1] * X[1:, :-1] * X[:-1, 1:] * X[1:, 1:])
    patches = run(lambda x: lax.conv_general_dilated_patches(x[None, None], (2, 2), (1, 1), "VALID"), X)
    close(patches[0, :, 0, 0], [X[0, 0], X[0, 1], X[1, 0], X[1, 1]])


def test_segments():
    at = np.array([2, 0, 2])
    for name, f in (("sum", np.add), ("max", np.maximum), ("min", np.minimum), ("prod", np.multiply)):
        found = getattr(wick.ops, f"segment_{name}")(X, at, num_segments=4)
        close(found[2], f(X[0], X[2])), close(found[0], X[1])
    with pytest.raises(wick.Unsupported, match="num_segments"):
        wick.function(wick.ops.segment_sum)(X, at)


Z = np.array([0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.7, 9.0, 25.0])
SPECIAL = ("gammaln digamma gamma erf erfc expit logit entr ndtr log_ndtr i0 i0e i1 i1e exp1 ndtri gammainc gammaincc betainc betaln "
           "xlogy xlog1py rel_entr kl_div zeta").split()


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_special(name, dtype):
    special = pytest.importorskip("scipy.special")
    args = {"gammainc": (Z, Z[::-1]), "gammaincc": (Z, Z[::-1]), "betainc": (Z, Z[::-1], Z / 30), "betaln": (Z, Z + 1), "xlogy": (Z - 0.1, Z),
            "xlog1py": (Z, Z), "rel_entr": (Z, Z[::-1]), "kl_div": (Z, Z[::-1]), "zeta": (Z[3:], Z[3:]), "logit": (Z / 30,), "ndtri": (Z / 30,)}.get(name, (Z,))
    args = [a.astype(dtype) for a in args]
    oracle = getattr(special, name)(*[a.astype(np.float64) for a in args])
    found = getattr(wick.scipy.special, name)(*args)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, oracle, rtol=2e-5 if dtype is np.float32 else 1e-9, atol=1e-6 if dtype is np.float32 else 1e-12)


def test_special_below_zero_and_derivatives():
    special = pytest.importorskip("scipy.special")
    close(wick.scipy.special.gammaln(-Z - 0.25), special.gammaln(-Z - 0.25), 1e-9)
    close(wick.scipy.special.digamma(-Z[:-1] - 0.25), special.digamma(-Z[:-1] - 0.25), 1e-9)
    np.testing.assert_allclose(wick.scipy.special.log_ndtr(-Z), special.log_ndtr(-Z), rtol=1e-12)
    slope = run(lambda z: wick.grad(lambda z: wnp.sum(wick.scipy.special.gammaln(z)))(z), Z)
    close(slope, special.digamma(Z), 1e-9)
    close(wick.scipy.special.polygamma(2, Z), special.polygamma(2, Z), 1e-9)


def test_distributions():
    stats = pytest.importorskip("scipy.stats")
    own, z, k = wick.scipy.stats, Z.astype(np.float32), np.float32([0, 1, 4])
    close(own.norm.logpdf(z, 1.0, 2.0), stats.norm.logpdf(Z, 1, 2), 1e-5)
    for name, args in (("norm", ()), ("expon", ()), ("laplace", ()), ("cauchy", ()), ("logistic", ()), ("gamma", (2.0,)), ("chi2", (3.0,)),
                       ("beta", (2.0, 3.0)), ("uniform", ())):
        x = z / 30 if name == "beta" else z
        for what in ("logpdf", "cdf"):
            close(getattr(getattr(own, name), what)(x, *args), getattr(getattr(stats, name), what)(x.astype(np.float64), *args), 2e-5)
    for name, args in (("poisson", (2.0,)), ("binom", (4.0, 0.3)), ("bernoulli", (0.3,)), ("geom", (0.2,)), ("nbinom", (3.0, 0.4))):
        close(getattr(own, name).logpmf(k, *args), getattr(stats, name).logpmf(k, *args), 2e-5)
    close(own.t.logpdf(z, 3.0), stats.t.logpdf(Z, 3), 1e-5), close(own.pareto.logpdf(z, 2.0), stats.pareto.logpdf(Z, 2), 1e-5)
    cov = np.eye(4, dtype=np.float32) + np.float32(0.1)
    close(own.multivariate_normal.logpdf(X, V, cov), stats.multivariate_normal.logpdf(X, V, cov), 1e-4)
    with pytest.raises(TypeError, match="gamma: the parameters are a, loc, scale"):
        own.gamma.logpdf(z)


def test_linear_algebra_and_signals():
    scipy = pytest.importorskip("scipy")
    import scipy.linalg
    import scipy.signal
    a = Y[:, :3] + 3 * np.eye(3, dtype=np.float32)
    own = wick.scipy.linalg
    close(own.solve_triangular(a, X, lower=True), scipy.linalg.solve_triangular(a, X, lower=True), 1e-4)
    close(own.cho_solve(own.cho_factor(a @ a.T), X), np.linalg.solve(a @ a.T, X), 1e-3)
    close(own.cholesky(a @ a.T), scipy.linalg.cholesky(a @ a.T), 1e-4)
    close(own.block_diag(X, V), scipy.linalg.block_diag(X, V)), close(own.toeplitz(V), scipy.linalg.toeplitz(V))
    for mode in ("full", "same", "valid"):
        close(wick.scipy.signal.convolve2d(X, Y[:2, :3], mode), scipy.signal.convolve2d(X, Y[:2, :3], mode), 1e-4)
        close(wick.scipy.signal.correlate(X[0], V, mode), scipy.signal.correlate(X[0], V, mode), 1e-4)
        for z in (X, X + 1j * Y):
            for w in (Y[:2], Y[1:, :3] - 1j * X[1:, :3], Y[:, :3]):
                for name in ("convolve", "correlate", "convolve2d", "correlate2d"):
                    close(run(lambda z, w: getattr(wick.scipy.signal, name)(z, w, mode), z, w), getattr(scipy.signal, name)(z, w, mode), 1e-4)
            close(run(lambda z: wick.scipy.signal.fftconvolve(z, X[:, 1:], mode, axes=-1), z), scipy.signal.fftconvolve(z, X[:, 1:], mode, axes=-1), 1e-4)


# ---- functions with derivatives of their own ----


def test_custom_jvp():
    @wick.custom_jvp
    def f(x):
        return wnp.log1p(wnp.exp(x))

    @f.defjvp
    def rule(primals, tangents):
        (x,), (d,) = primals, tangents
        return f(x), 2 * (1 - 1 / (1 + wnp.exp(x))) * d  # twice the derivative, to see it used

    half = 1 / (1 + np.exp(-X))
    close(run(lambda x: wick.grad(lambda x: wnp.sum(f(x)))(x), X), 2 * half)
    value, slope = wick.jvp(f, (X,), (Y,))
    close(value, np.log1p(np.exp(X))), close(slope, 2 * half * Y)
    close(run(lambda x: wick.vmap(wick.vmap(wick.grad(wick.grad(f))))(x), X), 2 * half * (1 - half))

    @wick.custom_jvp
    def g(x, y):
        return x * wnp.sin(y)

    g.defjvps(lambda t, ans, x, y: 3 * wnp.sin(y) * t, None)
    dx, dy = wick.grad(g, argnums=(0, 1))(np.float32(2), np.float32(1))
    assert math.isclose(dx, 3 * math.sin(1), rel_tol=1e-5) and dy == 0
    with pytest.raises(wick.InvalidArgument, match="custom_jvp: h has no derivative"):
        def h(x):
            return x
        wick.custom_jvp(h)(np.float32(1))


def test_custom_vjp_uses_arrays_of_the_program():
    table = np.random.default_rng(0).normal(size=(4, 10)).astype(np.float32)

    @wick.custom_vjp
    def f(x):
        return x @ table

    f.defvjp(lambda x: (f(x), None), lambda _, g: (2 * g @ table.T,))
    close(run(lambda x: wick.grad(lambda x: wnp.sum(f(x)))(x), X), np.tile(2 * table.sum(1), (3, 1)), 1e-4)

    def scaled(x, y):
        @wick.custom_vjp
        def own(x):
            return x * y
        own.defvjp(lambda x: (own(x), None), lambda _, g: (g,))
        return wnp.sum(own(x))

    close(run(lambda x, y: wick.grad(lambda x: scaled(x, y))(x), X, X), np.ones_like(X))
    with pytest.raises(wick.Unsupported, match="own refers to a traced f32"):
        run(lambda x, y: wick.grad(lambda y: scaled(x, y))(y), X, X)


def test_linearize():
    value, slope = wick.linearize(wnp.sin, V)
    close(value, np.sin(V)), close(slope(V), np.cos(V) * V)
    close(wick.linear_transpose(lambda x: x @ Y.T, V)(np.float32([1, 2, 3]))[0], Y.T @ [1, 2, 3])


# ---- rows of vmap ----


def test_operations_across_rows():
    def f(r):
        return (r - lax.pmean(r, "b")) / lax.psum(r ** 2, "b"), lax.pmax(r, "b"), lax.axis_index("b"), r / lax.psum(1, "b"), lax.all_gather(r, "b")

    a, b, c, d, e = run(wick.vmap(f, axis_name="b"), X)
    close(a, (X - X.mean(0)) / (X ** 2).sum(0)), close(b, np.tile(X.max(0), (3, 1))), close(d, X / 3)
    assert c.tolist() == [0, 1, 2] and e.shape == (3, 3, 4) and np.array_equal(e[1], X)
    moved = wick.vmap(lambda r: lax.ppermute(r, "b", [(0, 1), (1, 2)]), axis_name="b")(X)
    close(moved, np.concatenate([np.zeros((1, 4), np.float32), X[:2]]))


def test_operations_across_rows_of_an_outer_vmap_and_with_derivatives():
    t = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10
    inner = lambda r: lax.psum(r, "a") * lax.pmean(r, "b") + lax.psum(r, ("a", "b"))
    found = run(wick.vmap(wick.vmap(inner, axis_name="b"), axis_name="a"), t)
    close(found, t.sum(0, keepdims=True) * t.mean(1, keepdims=True) + t.sum((0, 1), keepdims=True))

    def loss(w):
        return wnp.sum(wick.vmap(lambda r: wnp.tanh(w * r - lax.pmean(w * r, "b")), axis_name="b")(X))

    def plain(w):
        return wnp.sum(wnp.tanh(w * X - wnp.mean(w * X, axis=0)))

    close(run(wick.grad(loss), V), run(wick.grad(plain), V))
    mean = wick.vmap(lambda w, r: lax.pmean(wick.grad(lambda w: wnp.sum(wnp.sin(w * r)))(w), "b"), in_axes=(None, 0), axis_name="b")
    close(run(mean, V, X)[0], (np.cos(V * X) * X).mean(0))


def test_errors_of_operations_across_rows():
    with pytest.raises(wick.InvalidArgument, match=r"test_names.py:\d+: .*there is no axis 'c'"):
        run(wick.vmap(lambda r: lax.psum(r, "c"), axis_name="b"), X)
    with pytest.raises(wick.Unsupported, match="inside of a loop, a branch or a derivative"):
        run(wick.vmap(lambda r: wick.fori(0, 2, lambda _, s: lax.psum(s, "b"), r), axis_name="b"), X)


# ---- structures ----


def test_tree_util():
    t = wick.tree_util
    d = {"a": 1, "b": [2, (3, None)]}
    assert t.tree_map_with_path(lambda path, x: t.keystr(path), d) == {"a": "['a']", "b": ["['b'][0]", ("['b'][1][0]", None)]}
    assert t.tree_leaves(t.tree_transpose(t.tree_structure([0, 0]), t.tree_structure({"a": 0, "b": 0}), [{"a": 1, "b": 2}, {"a": 3, "b": 4}])) == [1, 3, 2, 4]
    assert t.tree_reduce(lambda a, b: a + b, d, 0) == 6 and t.tree_structure(d).num_leaves == 3

    @t.register_dataclass
    @dataclasses.dataclass
    class State:
        w: object
        n: int = dataclasses.field(metadata={"static": True}, default=2)

    s = run(lambda s: State(s.w * s.n, s.n + 1), State(V, 3))
    close(s.w, 3 * V)
    assert s.n == 4
    close(run(lambda f: f(V), t.Partial(lambda a, b: a * b, V)), V * V)
    flat, back = wick.flatten_util.ravel_pytree({"x": X, "n": [V]})
    assert flat.shape == (16,) and np.array_equal(back(flat)["x"], X)


def test_jit():
    @wick.jit
    def f(x):
        return x + 1

    close(f(V), V + 1)
    g = wick.jit(lambda x, n, *, sign: sign * x ** n, static_argnums=1, static_argnames=("sign",))
    close(g(V, 2, sign=-1), -V ** 2)
    spec = wick.eval_shape(lambda x: {"y": x.T @ x}, X)
    assert spec["y"].shape == (4, 4) and spec["y"].dtype == np.float32


# ---- random numbers and the surroundings ----

MOMENTS = {
    "binomial": (lambda k: wick.random.binomial(k, 10, 0.3, (20000,)), 3, 2.1),
    "binomial of a likely event": (lambda k: wick.random.binomial(k, 20, 0.8, (20000,)), 16, 3.2),
    "geometric": (lambda k: wick.random.geometric(k, 0.25, (20000,)), 4, 12),
    "lognormal": (lambda k: wick.random.lognormal(k, 0.5, (20000,)), math.exp(0.125), (math.exp(0.25) - 1) * math.exp(0.25)),
    "generalized_normal": (lambda k: wick.random.generalized_normal(k, 2.0, (20000,)), 0, 0.5),
    "wald": (lambda k: wick.random.wald(k, 2.0, (20000,)), 2, 8),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_moments(name):
    draw, mean, variance = MOMENTS[name]
    x = np.asarray(run(draw, wick.random.key(3)), np.float64)
    assert abs(x.mean() - mean) < 5 * (variance / x.size) ** 0.5
    assert abs(x.var() - variance) < 0.1 * variance


def test_multinomial():
    p = np.float32([0.2, 0.3, 0.5])
    draws = wick.vmap(lambda k: wick.random.multinomial(k, 12.0, p))(wick.random.split(wick.random.key(1), 1000))
    assert (np.sum(draws, axis=1) == 12).all()
    close(np.mean(draws, axis=0) / 12, p, 0.03)


def test_programs_for_devices_run_on_the_one():
    P, mesh = wick.sharding.PartitionSpec, wick.make_mesh((1, 1), ("data", "model"))
    rows = wick.sharding.NamedSharding(mesh, P("data", None))

    @wick.jit(in_shardings=(rows, None), out_shardings=rows, keep_unused=True)
    def f(x, y):
        return lax.with_sharding_constraint(x * 2 + y, rows)

    with mesh:
        close(f(wick.device_put(X, rows), Y), X * 2 + Y)
    both = wick.shard_map(lambda x, w: lax.psum(x @ w, "model") + lax.axis_index("data"), mesh=mesh, in_specs=(P("data", "model"), P("model")), out_specs=P("data"))
    close(both(X, Y.T), X @ Y.T), close(run(both, X, Y.T), X @ Y.T)
    close(wick.grad(lambda x: wnp.sum(both(x, Y.T)))(X), np.ones((3, 3)) @ Y)
    close(wick.pmap(lambda x: lax.pmean(x * 2, "i"), axis_name="i")(X[None]), 2 * X[None])
    assert P("a", None) == ("a", None) and mesh.shape == {"data": 1, "model": 1} and rows.is_fully_replicated

    @wick.custom_batching.custom_vmap
    def own(x):
        return wnp.sin(x)

    @own.def_vmap
    def rule(size, batched, x):
        return wnp.sin(x), batched[0]

    close(wick.vmap(own)(X), np.sin(X)), close(wick.vmap(wick.custom_batching.sequential_vmap(own))(X), np.sin(X))


def test_settings_that_change_results_are_refused():
    wick.config.update("jax_platform_name", "cpu")
    for call, words in ((lambda: wick.config.update("jax_enable_x64", True), "float64"), (lambda: wick.pure_callback(print, None), "Python"),
                        (lambda: wick.pmap(lambda x: x)(X), "3 rows, there is one device: use wick.vmap"), (lambda: wick.make_mesh((2,), "x"), "2 devices, there is one")):
        with pytest.raises(wick.Unsupported, match=words):
            call()
    assert "op.sin" in wick.make_jaxpr(lambda x: wnp.sin(x))(V)


def test_numbers_of_windows_that_do_not_fit():
    numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
    with pytest.raises(wick.InvalidArgument, match="a window of 5 elements in dimension 1, which has 4"):
        lax.gather(X, np.array([[1]]), numbers, (1, 5))
    with pytest.raises(wick.InvalidArgument, match="mode"):
        lax.gather(X, np.array([[1]]), numbers, (1, 4), mode="other")


def test_types_are_functions():
    x = np.float32([1.5, -2.5])
    whole, again = run(lambda x: (wnp.int32(x), wnp.float64(wnp.bool_(x))), x)
    assert whole.dtype == wnp.int32 and whole.tolist() == [1, -2] and again.dtype == np.float64 and again.tolist() == [1, 1]
    assert wnp.float32 == np.float32 and x.dtype == wnp.float32 and np.zeros(2, wnp.int8).dtype == np.int8
    assert isinstance(np.float32(1), wnp.float32) and type(wnp.float32(2)) is np.float32 and wnp.issubdtype(wnp.int8, wnp.integer)


def test_bessel_functions():
    scipy = pytest.importorskip("scipy.special")
    z = np.float32([[0, 0.2, 3], [-2, 11, 20]])
    close(wick.scipy.special.bessel_jn(z, v=4), np.stack([scipy.jv(k, z) for k in range(5)]), 1e-5)


def test_scipy_refuses():
    with pytest.raises(wick.Unsupported, match="dct: the type 3 is not supported"):
        wick.scipy.fft.dct(X, type=3)
    with pytest.raises(wick.InvalidArgument, match="the bandwidth 'wide' is none of"):
        wick.scipy.stats.gaussian_kde(X, "wide")
    with pytest.raises(wick.InvalidArgument, match="cov: the weights have the shapes"):
        wnp.cov(X, aweights=np.ones(3, np.float32))
    with pytest.raises(wick.InvalidArgument, match="cross: the vectors have 4 and 4 elements"):
        wnp.cross(X, X)


# ---- transformations outside of traced functions ----


def test_transformed_functions_know_numbers_where_they_need_to():
    def f(x, n, kind="sin", flag=True):
        for _ in range(n):
            x = wnp.sin(x)
        return x.sum() if flag and kind == "sin" else x.prod()

    x = np.float32([0.5, 1, 1.5])
    close(wick.grad(f)(x, 1), np.cos(x))
    close(wick.grad(f)(x, 2), np.cos(np.sin(x)) * np.cos(x))
    close(wick.value_and_grad(f)(x, 1, kind="prod")[0], np.sin(x).prod())
    close(wick.vmap(f, (0, None))(np.stack([x, 2 * x]), 1), [np.sin(x).sum(), np.sin(2 * x).sum()])
    close(wick.function(lambda x: wick.vmap(f, (0, None, None))(x, 1, "prod"))(np.stack([x, x])), [np.sin(x).prod()] * 2)
    power = wick.checkpoint(lambda x, n, kind=None: (x ** n).sum() if n > 2 else x.sum(), static_argnums=1, static_argnames="kind", policy=wick.checkpoint_policies.dots_saveable)
    close(wick.grad(lambda x: power(x, 3, kind="a"))(x), 3 * x ** 2)
    with pytest.raises(TypeError, match=r"test_names.py:\d+"):
        wick.grad(lambda x, n: x if x > 0 else n)(1.0, 2)


def test_without_compilation():
    seen = []
    f = wick.jit(lambda x: (seen.append(float(x)), wnp.sin(x) if x > 0 else x)[1])
    with wick.disable_jit():
        assert f(np.float32(2)) == np.sin(np.float32(2)) and f(np.float32(-1)) == -1
    assert seen == [2, -1]
    with pytest.raises(TypeError):
        f(np.float32(2))
    assert wick.typeof(X).shape == (3, 4) and isinstance(X, wick.typing.ArrayLike)


def test_histograms_and_images_of_traced_numbers():
    points = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    for named in ({"bins": 3}, {"bins": (2, 3, 4), "density": True}, {"bins": 2, "range": [(-1, 1)] * 3, "weights": np.arange(200, dtype=np.float32)}):
        counts, edges = wnp.histogramdd(points, **named)
        wanted, wanted_edges = np.histogramdd(points, **named)
        close(counts, wanted)
        for e, w in zip(edges, wanted_edges):
            close(e, w)
    scale, shift = np.float32([1.5, 0.7]), np.float32([0.3, -0.5])
    for method in ("linear", "cubic", "lanczos3"):
        moved = lambda x, s, t: wick.image.scale_and_translate(x, (5, 6), (0, 1), s, t, method)
        close(wick.function(moved)(X, scale, shift), wick.function(lambda x: moved(x, [1.5, 0.7], [0.3, -0.5]))(X), 1e-4)
    assert abs(wick.random.f(wick.random.key(1), 5.0, 30.0, (20000,)).mean() - 30 / 28) < 0.05


# ---- special matrices and distributions ----


def test_special_matrices():
    from wick.scipy import linalg, stats
    c, r = np.float32([1, 2, 3]), np.float32([3, 5, 6, 7])
    close(linalg.circulant(c), [[1, 3, 2], [2, 1, 3], [3, 2, 1]])
    close(linalg.hankel(c, r), [[1, 2, 3, 5], [2, 3, 5, 6], [3, 5, 6, 7]]), close(linalg.hankel(c), [[1, 2, 3], [2, 3, 0], [3, 0, 0]])
    close(linalg.companion(np.float32([2, 4, 6])), [[-2, -3], [1, 0]])
    for mode in ("full", "same", "valid"):
        close(linalg.convolution_matrix(c, 4, mode) @ r, np.convolve(c, r, mode))
        close(linalg.convolution_matrix(r, 2, mode) @ c[:2], np.convolve(r, c[:2], mode))
    h, o = np.asarray(linalg.hadamard(8)), np.asarray(linalg.helmert(5, True))
    assert (h @ h.T == 8 * np.eye(8)).all()
    close(o @ o.T, np.eye(5)), close(linalg.helmert(5), o[1:])
    close(linalg.dft(6) @ np.arange(6), np.fft.fft(np.arange(6)), 1e-4), close(linalg.dft(6, "n"), linalg.dft(6) / 6)
    a, b, q = np.float32([[2, 1], [0, 3]]), np.float32([[1, 0.5, 0], [0, 2, 1], [0, 0, 1]]), X[:2, :3]
    x = wick.function(linalg.solve_sylvester)(a, b, q)
    close(a @ x + x @ b, q)
    with pytest.raises(wick.InvalidArgument, match="power of two"):
        linalg.hadamard(6)
    close(stats.pareto.cdf(np.float32([0.5, 1, 2]), 2.0), [0, 0, 0.75])
    close(stats.bernoulli.cdf(np.array([-1, 0, 1]), 0.3), [0, 0.7, 1])
    close(stats.gennorm.cdf(np.float32([-1, 0, 1]), 2.0), [0.5 - 0.5 * math.erf(1), 0.5, 0.5 + 0.5 * math.erf(1)])
    close(lax.tile(c, (2,)), np.tile(c, 2)), close(lax.fft(X, lax.FftType.RFFT, (4,)), np.fft.rfft(X))


# ---- arguments as JAX has them ----


def test_arguments_by_the_names_of_jax_and_in_its_order():
    x = np.float32([[1, 2, 4], [8, 16, 32]])
    same = lambda a, b: np.testing.assert_allclose(a, b)
    same(wnp.sum(a=x, axis=0), x.sum(0)), same(wnp.sum(x, 0, None, None, True), x.sum(0, keepdims=True)), same(wnp.diff(x, 2), np.diff(x, 2))
    same(wnp.linspace(0, 1, 5, False), np.linspace(0, 1, 5, False)), same(wnp.clip(x, 2, 8), np.clip(x, 2, 8)), same(wnp.nan_to_num(x, True, 0.0), x)
    same(wnp.concatenate(arrays=[x, x]), np.concatenate([x, x])), same(wnp.linalg.eigvalsh(np.eye(2, dtype=np.float32), "L"), [1, 1])
    same(wick.lax.dynamic_slice_in_dim(operand=x, start_index=1, slice_size=2, axis=1), x[:, 1:]), same(wnp.full_like(a=x, fill_value=2.0), x * 0 + 2)
    total = lambda c, r: (c + r.sum(), None)
    assert wick.function(lambda x: wick.lax.scan(f=total, init=0.0, xs=x)[0])(x) == 63
    assert wick.function(lambda x: wick.lax.while_loop(cond_fun=lambda c: c < 9, body_fun=lambda c: c * 2, init_val=x))(2.0) == 16
    assert wick.function(lambda x: wick.lax.fori_loop(lower=0, upper=3, body_fun=lambda k, c: c + k, init_val=x))(2) == 5
    assert wick.function(lambda x: wick.lax.cond(pred=x > 0, true_fun=lambda: 1, false_fun=lambda: 2))(2.0) == 1
    with pytest.raises(wick.Unsupported, match="argument out"):
        wnp.sum(x, out=x)
    with pytest.raises(TypeError):
        wnp.sum(x, 0, axis=0)


def test_methods_of_functions_of_elements():
    x = np.float32([[1, 2, 4], [8, 16, 32]])
    np.testing.assert_allclose(wnp.add.reduce(x, axis=1), [7, 56])
    np.testing.assert_allclose(wnp.subtract.accumulate(x, axis=1), np.subtract.accumulate(x, axis=1))
    np.testing.assert_allclose(wnp.maximum.outer(x[0], x[1]), np.maximum.outer(x[0], x[1]))
    np.testing.assert_allclose(wnp.minimum.reduceat(x, [0, 2], axis=1), np.minimum.reduceat(x, [0, 2], axis=1))
    np.testing.assert_allclose(wnp.add.at(x[0], np.array([0, 0]), 1.0, inplace=False), [3, 2, 4])
    np.testing.assert_allclose(wnp.frompyfunc(lambda a, b: a * b + 1, 2, 1).reduce(x[0]), 13)
    with pytest.raises(wick.Unsupported, match="inplace=False"):
        wnp.add.at(x[0], np.array([0]), 1.0)


@pytest.mark.parametrize("mode", ["linear_ramp", "mean", "median", "maximum", "minimum"])
def test_pads_that_are_computed_from_the_ends(mode):
    x = np.arange(12, dtype=np.float32).reshape(3, 4) ** 2
    more = {"end_values": 2.0} if mode == "linear_ramp" else {"stat_length": 2}
    np.testing.assert_allclose(wnp.pad(x, ((1, 2), (0, 3)), mode, **more), np.pad(x, ((1, 2), (0, 3)), mode, **more), rtol=1e-6)
    np.testing.assert_allclose(wnp.pad(x, 2, "reflect", reflect_type="odd"), np.pad(x, 2, "reflect", reflect_type="odd"))


def test_types():
    assert wick.dtypes.canonicalize_dtype(float) == np.float32 and wick.dtypes.canonicalize_dtype("int8") == np.int8
    assert wick.dtypes.canonicalize_dtype(complex) == np.complex64
    assert wnp.issubdtype(wick.random.key(0).dtype, wick.dtypes.prng_key) and wnp.issubdtype(wnp.bfloat16, wnp.floating)
    assert not wnp.issubdtype(wnp.bfloat16, wnp.integer)


def test_logsumexp_with_signs():
    x, b = np.float32([[0.5, 2, -1], [3, 0, 1]]), np.float32([1, -2, 0.5])
    total = (b * np.exp(x)).sum(1)
    value, sign = wick.scipy.special.logsumexp(x, axis=1, b=b, return_sign=True)
    close(value, np.log(np.abs(total))), close(sign, np.sign(total))
    numbers = lax.conv_dimension_numbers((1, 4, 4, 3), (2, 2, 3, 5), ("NHWC", "HWIO", "NHWC"))
    assert numbers.lhs_spec == (0, 3, 1, 2) and numbers.rhs_spec == (3, 2, 0, 1) and numbers.out_spec == (0, 3, 1, 2)


# ---- derivatives of special functions ----

SLOPES = {
    "gammaln": lambda s, x: s.gammaln(x), "digamma": lambda s, x: s.digamma(x - 1), "polygamma": lambda s, x: s.polygamma(1, x), "gamma": lambda s, x: s.gamma(x - 1),
    "zeta": lambda s, x: s.zeta(2.5, x), "zeta by its power": lambda s, x: s.zeta(x + 1, 1.5), "betaln": lambda s, x: s.betaln(x, 2 * x), "i0": lambda s, x: s.i0(x - 1.5),
    "i0e": lambda s, x: s.i0e(x), "i1": lambda s, x: s.i1(x - 1.5), "i1e": lambda s, x: s.i1e(x), "gammainc": lambda s, x: s.gammainc(2.0, x),
    "gammaincc": lambda s, x: s.gammaincc(x, x * x), "betainc": lambda s, x: s.betainc(2.0, 3.0, x / 4), "betainc of all": lambda s, x: s.betainc(x, 2 * x, x / 4),
    "erfc": lambda s, x: s.erfc(x), "erfcx": lambda s, x: s.erfcx(x - 1), "log_ndtr": lambda s, x: s.log_ndtr(x - 2.5), "sici": lambda s, x: s.sici(x)[0] * s.sici(x)[1],
    "fresnel": lambda s, x: s.fresnel(x)[0] * s.fresnel(x)[1], "hyp1f1": lambda s, x: s.hyp1f1(0.5, 1.5, x), "hyp1f1 by a": lambda s, x: s.hyp1f1(x, 1.5, 0.7),
    "hyp2f1": lambda s, x: s.hyp2f1(0.5, 1.0, 1.7, x / 4), "owens_t": lambda s, x: s.owens_t(x, 0.4), "owens_t by both": lambda s, x: s.owens_t(x, x / 2),
    "multigammaln": lambda s, x: s.multigammaln(x + 2, 3),
}


def test_derivatives_of_special_functions():
    special = wick.scipy.special
    x, h = np.float64([0.6, 1.1, 1.7, 2.4, 3.1]), 1e-4
    rise = run(lambda x: {n: (f(special, x + h) - f(special, x - h)) / (2 * h) for n, f in SLOPES.items()}, x)
    slopes = run(lambda x: {n: wick.vmap(wick.grad(lambda x, f=f: f(special, x)))(x) for n, f in SLOPES.items()}, x)
    moved = run(lambda x: {n: wick.jvp(lambda x, f=f: f(special, x), (x,), (wnp.ones_like(x),))[1] for n, f in SLOPES.items()}, x)
    for name in SLOPES:
        np.testing.assert_allclose(slopes[name], rise[name], rtol=2e-6, atol=1e-7, err_msg=name)
        np.testing.assert_allclose(moved[name], slopes[name], rtol=1e-12, atol=1e-12, err_msg=name)


def test_second_derivatives_of_special_functions():
    special, x, h = wick.scipy.special, np.float64([0.6, 1.1, 1.7]), 1e-4
    curves = {n: SLOPES[n] for n in ("gammaln", "i1", "erfcx", "hyp1f1", "gammainc")}
    slope = lambda f, x: wick.vmap(wick.grad(lambda x: f(special, x)))(x)
    rise = run(lambda x: {n: (slope(f, x + h) - slope(f, x - h)) / (2 * h) for n, f in curves.items()}, x)
    found = run(lambda x: {n: wnp.diagonal(wick.hessian(lambda x, f=f: f(special, x).sum())(x)) for n, f in curves.items()}, x)
    for name in curves:
        np.testing.assert_allclose(found[name], rise[name], rtol=1e-6, atol=1e-7, err_msg=name)


def test_slopes_at_the_borders():
    special = wick.scipy.special
    slope = lambda f, x: run(lambda x: wick.vmap(wick.grad(f))(x), np.float32(x))
    close(slope(special.i1, [0]), [0.5])
    close(slope(lambda x: special.gammainc(2.0, x), [0]), [0])
    assert np.isfinite(slope(special.log_ndtr, [-30, 0, 30])).all()
    close(slope(lambda x: wick.lax.erfc(x), [-20, 20]), [0, 0])
    close(slope(special.gammaln, [-0.3]), [special.digamma(np.float32(-0.3))])


def test_atan2_of_lax_takes_its_operands_in_order():
    x, y = np.float32([-0.3, 0.3, -1.2]), np.float32([0.7, -1.3, -0.2])
    close(lax.atan2(x, y), np.arctan2(x, y))
    close(run(lax.atan2, x, y), np.arctan2(x, y))


def test_products_in_wider_types():
    a = np.full((2, 300), 100, np.int8)
    assert lax.dot(a, a.T, preferred_element_type=np.int32).tolist() == [[3000000] * 2] * 2
    assert lax.dot_general(a, a, (((1,), (1,)), ((), ())), preferred_element_type=np.int32).tolist() == [[3000000] * 2] * 2
    image = np.full((1, 3, 4, 4), 100, np.int8)
    assert lax.conv(image, image[..., :3, :3], (1, 1), "VALID", preferred_element_type=np.int32).tolist() == [[[[270000] * 2] * 2]]
