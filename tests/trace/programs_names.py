"""Programs that try many names of a module of JAX each, and windows by random dimension numbers. What they give under JAX is
kept in programs_expected.npz, which programs_expected.py writes."""
import numpy as np

from trace_programs import f32, program


@program(lambda r: f32(r.normal(size=(6, 9))))
def names_of_lax(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x):
        whole = jnp.array([1, 5, 70000], jnp.int32)
        groups = lax.ragged_dot(x[:, :3], jnp.stack([jnp.eye(3), 2 * jnp.eye(3)]), jnp.array([2, 3]))
        parts = jax.vmap(lambda x: lax.psum_scatter(x, "i", tiled=True), axis_name="i")(jnp.ones((3, 6)) * jnp.arange(6))
        return (lax.clz(whole), lax.population_count(whole), lax.reduce_xor(whole, (0,)), lax.broadcast_to_rank(x, 3), groups, parts,
                lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x), lax.linalg.cholesky(x @ x.T + jnp.eye(6)))

    return f


@program(lambda r: f32(r.normal(size=(6, 6)), r.normal(size=6)), 2e-3)
def names_of_solvers(jax):
    jnp, lax, sparse = jax.numpy, jax.lax, jax.scipy.sparse.linalg

    def f(a, b):
        s, n = a @ a.T + 3 * jnp.eye(6), a + 6 * jnp.eye(6)
        linear = lambda b: lax.custom_linear_solve(lambda v: s @ v, b, lambda mv, b: jnp.linalg.solve(s, b), symmetric=True)
        newton = lambda f, x: lax.fori_loop(0, 30, lambda _, v: v - f(v) / jax.grad(f)(v), x)
        root = lambda c: lax.custom_root(lambda v: v ** 3 - c, jnp.array(1.0), newton, lambda g, y: y / g(1.0))
        x = lambda b: sparse.cg(lambda v: s @ v, b)[0]
        tree = sparse.cg(lambda p: {"u": 2 * p["u"], "v": 3 * p["v"]}, {"u": b, "v": b[:2]})[0]
        least = jax.scipy.optimize.minimize(lambda x, a: jnp.sum(a * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), b[:3] * 0 - 1, (5.0,),
                                            method="BFGS", tol=1e-3)
        return (linear(b), jax.grad(lambda b: linear(b).sum())(b), root(5.0), jax.grad(root)(5.0), x(b), sparse.bicgstab(n, b)[0], sparse.gmres(n, b)[0],
                tree, jax.grad(lambda b: x(b).sum())(b), jax.vmap(x)(jnp.stack([b, b * 2])), jax.jacfwd(x)(b),
                jax.grad(lambda n: sparse.gmres(lambda v: n @ v, b)[0].sum())(n), least.fun < 1e-3)

    return f


@program(lambda r: f32(r.normal(size=(5, 3, 3)), r.normal(size=(5, 3))), 2e-3)
def names_of_linear_algebra(jax):
    jnp, sl = jax.numpy, jax.scipy.linalg

    def f(a, b):
        both = sl.lu_factor(a[0])
        return (sl.lu_solve(both, b[0]), sl.lu_solve(both, b[0], trans=1), sl.lu(a[2]), sl.lu(a[0, :2])[2], sl.lu(a.reshape(5, 9))[1], jax.lax.linalg.lu(a[1]),
                jax.lax.linalg.triangular_solve(jnp.tril(a[0]), b, left_side=False, lower=True), sl.expm_frechet(0.1 * a[0], a[1])[1],
                sl.eigh_tridiagonal(b[0], b[1, :2], eigvals_only=True), sl.polar(a[0])[0], jnp.abs(sl.sqrtm(a[0] @ a[0].T + jnp.eye(3))), sl.hilbert(3),
                sl.pascal(4), jax.grad(lambda a: sl.lu_solve(sl.lu_factor(a), b[0]).sum())(a[0]))

    return f


@program(lambda r: f32(r.normal(size=(6, 9))), 1e-3)
def names_of_numpy(jax):
    jnp = jax.numpy

    def f(x):
        four = jnp.array([1, 9, 4])
        return (jnp.frexp(x), jnp.frexp(jnp.array([0.0, jnp.inf, -1e-30])), jnp.i0(x), jnp.polydiv(x[:, 0], x[:3, 1]), jnp.packbits(x > 0, axis=1),
                jnp.packbits(x > 0, bitorder="little"), jnp.unpackbits(jnp.array([3, 200], dtype=jnp.uint8), count=12),
                jnp.intersect1d(jnp.arange(6), four, size=3), jnp.setxor1d(jnp.arange(4), four, size=7), jnp.finfo(x.dtype).max, jnp.iinfo(four.dtype).bits > 8,
                jnp.choose(jnp.array([0, 3]), [x[0, :2], x[1, :2]], mode="wrap"))

    return f


@program(lambda r: f32(r.normal(size=(5, 6)), r.uniform(0.2, 2, size=(5, 6))), 1e-3)
def names_of_statistics(jax):
    jnp, st, special, signal = jax.numpy, jax.scipy.stats, jax.scipy.special, jax.scipy.signal

    def f(x, s):
        return (st.gumbel_r.logpdf(x), st.gumbel_l.logpdf(x), st.rankdata(jnp.round(x[0])), st.mode(jnp.round(x[0])).mode, st.sem(x), st.vonmises.logpdf(x, 1.5),
                st.wrapcauchy.logpdf(s, 0.5), st.gennorm.logpdf(x, 1.5), st.multinomial.logpmf(jnp.array([1, 2, 3]), 6, jnp.array([0.2, 0.3, 0.5])),
                st.betabinom.logpmf(jnp.round(s).astype(int), 5, 2.0, 3.0), special.softmax(x), special.log_softmax(x), special.softmax(x, axis=0),
                special.poch(s, 2.0), signal.detrend(x, axis=0), signal.fftconvolve(x, x[:3, :2]))

    return f


@program(lambda r: f32(r.normal(size=(7, 9, 2)), r.normal(size=(6, 8)), r.uniform(-2, 9, size=(2, 5, 4))))
def names_of_images(jax):
    def f(x, y, at):
        resize, mapped = jax.image.resize, jax.scipy.ndimage.map_coordinates
        modes = [mapped(y, list(at), order, mode=mode, cval=0.5) for order in (0, 1) for mode in ("constant", "nearest", "wrap", "mirror", "reflect")]
        return (resize(x, (14, 18, 2), "nearest"), resize(x, (7, 3, 2), "nearest"), resize(x, (14, 12, 2), "linear"), resize(x, (3, 4, 2), "bilinear"),
                resize(x, (10, 5, 2), "bicubic"), resize(x, (3, 20, 2), "lanczos3"), resize(x, (3, 4, 2), "linear", antialias=False),
                jax.image.scale_and_translate(x, (8, 8, 2), (0, 1), np.array([1.5, 0.7]), np.array([0.5, -1.0]), "linear"),
                jax.grad(lambda x: (resize(x, (4, 4, 2), "cubic") ** 2).sum())(x), modes, jax.grad(lambda at: mapped(y, [at[0], at[1]], 1).sum())(at))

    return f


@program(lambda r: f32(r.normal(size=(8, 3))))
def names_of_the_package(jax):
    jnp = jax.numpy

    def f(x):
        square = jax.custom_gradient(lambda x: (x ** 2, lambda g: g * 3 * x))
        with jax.named_scope("part"):
            y = jax.named_call(lambda x: x + 1, name="more")(jax.device_put(x))
        turned = jax.eval_shape(lambda x: x.T, jax.ShapeDtypeStruct((2, 3), jnp.float32))
        return y, jax.grad(lambda x: square(x).sum())(x), jnp.zeros(turned.shape), jax.default_backend() == "cpu", len(jax.devices())

    return f


# ---- windows by dimension numbers ----


def _window_numbers(r):
    """Random dimension numbers, the shape of the array, positions (some outside), the windows' sizes, the result's shape."""
    rank = int(r.integers(1, 5))
    shape = tuple(map(int, r.integers(2, 6, rank)))
    dims = list(map(int, r.permutation(rank)))
    count = int(r.integers(0, min(2, rank))) if rank > 1 else 0
    placed = int(r.integers(0 if count else 1, rank - count + 1))
    batching, mapped = sorted(dims[:count]), dims[count:count + placed]
    batch = [shape[d] for d in batching] + list(map(int, r.integers(1, 4, int(r.integers(0, 3)))))
    order = list(r.permutation(len(batch)))
    starts_batching, batch = [order.index(k) for k in range(count)], [batch[p] for p in order]
    sizes = [1 if d in batching else int(r.integers(1, n + 1)) for d, n in enumerate(shape)]
    collapsed = [d for d in range(rank) if d not in batching and sizes[d] == 1 and r.uniform() < 0.7]
    total = rank - count - len(collapsed) + len(batch)
    offset = sorted(map(int, r.permutation(total)[:total - len(batch)]))
    window, rows = iter([sizes[d] for d in range(rank) if d not in batching and d not in collapsed]), iter(batch)
    out = tuple([next(window) if k in offset else next(rows) for k in range(total)])
    starts = r.integers(-2, 6, (*batch, placed)).astype(np.int32)
    return (tuple(offset), tuple(collapsed), tuple(mapped), tuple(batching), tuple(starts_batching)), shape, starts, tuple(sizes), out


def _windows(seed, mode):
    numbers, shape, starts, sizes, out = _window_numbers(np.random.default_rng(seed))

    def windows(jax):
        lax = jax.lax
        reads, writes = lax.GatherDimensionNumbers(*numbers), lax.ScatterDimensionNumbers(*numbers)

        def f(x, u, at):
            read = lambda x: lax.gather(x, at, reads, sizes, mode=mode, fill_value=0.5 if mode == "fill" else None)
            write = lambda u: lax.scatter_add(x, at, u, writes, mode=mode)
            return (read(x), write(u), lax.scatter_max(x, at, u, writes, mode=mode), jax.grad(lambda x: (read(x) * u).sum())(x),
                    jax.grad(lambda u: (write(u) ** 2).sum())(u))

        return f

    windows.__name__ = f"windows_{seed}_{mode}"
    program(lambda r: (*f32(r.normal(size=shape), r.normal(size=out)), starts))(windows)


for _seed in (2, 3, 6, 7, 10, 18, 29, 30, 31, 34):
    _windows(_seed, "clip" if _seed % 2 else "fill")
