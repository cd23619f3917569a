"""More programs of practice: networks, optimizers, solvers, losses and names, compared with results of JAX."""

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np

from trace_programs import program

RNG = np.random.default_rng(17)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def between(*shape, lo=0.1, hi=0.9):
    return RNG.uniform(lo, hi, size=shape).astype(np.float32)


def given(*arguments, tolerance=2e-4):
    return program(lambda rng: arguments, tolerance)



@given(normal(4, 8, 8, 3), np.array([0, 1, 2, 1]))
def residual_block_with_statistics(jax):
    jnp = jax.numpy
    @dataclasses.dataclass(frozen=True)
    class Conv:
        features: int; kernel: tuple = (3, 3); strides: int = 1
        def init(self, x): return {"kernel": jnp.sin(jnp.arange(math.prod(self.kernel) * x.shape[-1] * self.features, dtype=jnp.float32)).reshape(self.kernel + (x.shape[-1], self.features)) * 0.1}
        def __call__(self, p, x):
            return jax.lax.conv_general_dilated(x, p["kernel"], (self.strides,) * 2, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    @dataclasses.dataclass(frozen=True)
    class BatchNorm:
        momentum: float = 0.9
        def __call__(self, p, s, x, train):
            if train:
                m = x.mean((0, 1, 2)); v = jnp.var(x, axis=(0, 1, 2))
                s = {"mean": self.momentum * s["mean"] + (1 - self.momentum) * m, "var": self.momentum * s["var"] + (1 - self.momentum) * v}
            else: m, v = s["mean"], s["var"]
            return (x - m) * jax.lax.rsqrt(v + 1e-5) * p["scale"] + p["bias"], s
    c1, c2, proj, bn = Conv(6, strides=2), Conv(6), Conv(6, (1, 1), 2), BatchNorm()
    def f(x, y):
        p = {"c1": c1.init(x), "c2": {"kernel": jnp.cos(jnp.arange(324.)).reshape(3, 3, 6, 6) * 0.1}, "proj": proj.init(x),
             **{k: {"scale": jnp.ones(6), "bias": jnp.zeros(6)} for k in ("bn1", "bn2")}, "head": jnp.ones((6, 3)) * jnp.arange(3)}
        st = {k: {"mean": jnp.zeros(6), "var": jnp.ones(6)} for k in ("bn1", "bn2")}
        def apply(p, st, x, train):
            h, s1 = bn(p["bn1"], st["bn1"], c1(p["c1"], x), train); h = jax.nn.relu(h)
            h, s2 = bn(p["bn2"], st["bn2"], c2(p["c2"], h), train)
            h = jax.nn.relu(h + proj(p["proj"], x))
            return h.mean((1, 2)) @ p["head"], {"bn1": s1, "bn2": s2}
        def loss(p, st):
            lg, st = apply(p, st, x, True)
            return -(jax.nn.one_hot(y, 3) * jax.nn.log_softmax(lg)).sum(-1).mean() + 1e-4 * sum(jnp.vdot(l, l) for l in jax.tree_util.tree_leaves(p)), st
        (l, st), g = jax.value_and_grad(loss, has_aux=True)(p, st)
        p = jax.tree_util.tree_map_with_path(lambda path, a, b: a - (0.1 if path[0].key != "head" else 0.01) * b, p, g)
        return l, st, p, apply(p, st, x, False)[0]
    return f


@given(normal(3, 4), normal(4), normal(5, 3))
def partition_and_combine(jax):
    jnp = jax.numpy
    class Linear(NamedTuple):
        w: Any; b: Any; act: Any; n: int
    def f(w, b, x):
        m = {"l": Linear(w, b, "tanh", 3), "scale": 2.0, "none": None}
        isarr = lambda v: hasattr(v, "shape")
        dyn = jax.tree.map(lambda v: v if isarr(v) else None, m)
        sta = jax.tree.map(lambda v: None if isarr(v) else v, m)
        comb = lambda *ts: jax.tree.map(lambda *v: next((u for u in v if u is not None), None), *ts, is_leaf=lambda v: v is None)
        def loss(dyn):
            m = comb(dyn, sta)
            return m["scale"] * jnp.sum(getattr(jnp, m["l"].act)(x @ m["l"].w + m["l"].b) ** m["l"].n)
        v, g = jax.value_and_grad(loss)(dyn)
        new = jax.tree.map(lambda p, u: None if u is None else p - 0.1 * u, dyn, g, is_leaf=lambda v: v is None)
        return v, g, new, jax.tree.reduce(lambda a, l: a + l.sum(), g, 0.0), len(jax.tree_util.tree_leaves(m))
    return f


@given(normal(6, 4), normal(6), normal(8, 4, 6))
def updates_of_optimizers(jax):
    jnp = jax.numpy
    def f(w, b, xs):
        loss = lambda p, x: jnp.mean((jnp.tanh(x @ p["w"]) - p["b"].mean()) ** 2)
        p = {"w": w, "b": b}
        def accumulate(p):
            def body(c, x):
                l, g = jax.value_and_grad(loss)(p, x)
                return (c[0] + l, jax.tree.map(jnp.add, c[1], g)), None
            (l, g), _ = jax.lax.scan(body, (0.0, jax.tree.map(jnp.zeros_like, p)), xs)
            return l / 8, jax.tree.map(lambda t: t / 8, g)
        l, g = accumulate(p)
        lion = jax.tree.map(lambda p, g: p - 1e-2 * (jnp.sign(0.9 * 0 + 0.1 * g) + 0.01 * p), p, g)
        def factored(p, g):
            if g.ndim < 2: return p - 0.1 * g * jax.lax.rsqrt(g ** 2 + 1e-30)
            r = jnp.mean(g ** 2 + 1e-30, -1); c = jnp.mean(g ** 2 + 1e-30, -2)
            u = g * jnp.expand_dims(jax.lax.rsqrt(r / r.mean(-1, keepdims=True)), -1) * jnp.expand_dims(jax.lax.rsqrt(c), -2)
            u = u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(u ** 2)))
            return p - 0.1 * u
        ada = jax.tree_util.tree_map(factored, p, g)
        def shampoo(p, g):
            if g.ndim < 2: return p - g
            def root(m):
                e, v = jnp.linalg.eigh(m + 1e-3 * jnp.eye(m.shape[0]))
                return (v * jnp.maximum(e, 1e-4) ** -0.25) @ v.T
            return p - 0.1 * root(g @ g.T) @ g @ root(g.T @ g)
        sh = jax.tree.map(shampoo, p, g)
        lars = jax.tree.map(lambda p, g: p - jnp.where((n := jnp.linalg.norm(p)) * (k := jnp.linalg.norm(g)) > 0, n / (k + 1e-4 * n), 1.0) * 1e-2 * g, p, g)
        gc = jax.tree.map(lambda g: g - g.mean(tuple(range(1, g.ndim)), keepdims=True) if g.ndim > 1 else g, g)
        clip = jax.tree.map(lambda g: jnp.clip(g, -0.01, 0.01), g)
        gn = jnp.sqrt(sum(jax.tree.leaves(jax.tree.map(lambda x: jnp.sum(jnp.square(x)), g))))
        H = jax.hessian(lambda v: loss({"w": w, "b": v}, xs[0]))(b)
        return l, lion, ada, sh, lars, gc, clip, gn, H
    return f


@given(normal(5, 5) * 0.2, normal(5))
def accelerated_fixed_point(jax):
    jnp = jax.numpy
    def f(W, b):
        g = lambda z: jnp.tanh(W @ z + b)
        m, beta, lam = 3, 1.0, 1e-4
        x0 = jnp.zeros(5)
        X = jnp.zeros((m, 5)).at[0].set(x0).at[1].set(g(x0)); F = jnp.zeros((m, 5)).at[0].set(g(x0)).at[1].set(g(g(x0)))
        class S(NamedTuple): k: Any; X: Any; F: Any; res: Any
        def body(s):
            n = jnp.minimum(s.k, m)
            mask = jnp.arange(m) < n
            G = jnp.where(mask[:, None], s.F - s.X, 0)
            GG = G @ G.T + lam * jnp.eye(m) + jnp.where(mask, 0.0, 1e6) * jnp.eye(m)
            al = jnp.linalg.solve(GG, mask.astype(GG.dtype)); al = al / al.sum()
            xk = beta * al @ s.F + (1 - beta) * al @ s.X
            fk = g(xk)
            return S(s.k + 1, s.X.at[s.k % m].set(xk), s.F.at[s.k % m].set(fk), jnp.linalg.norm(fk - xk) / (1e-5 + jnp.linalg.norm(fk)))
        s = jax.lax.while_loop(lambda s: (s.res > 1e-4) & (s.k < 30), body, S(jnp.array(2), X, F, jnp.array(1e3)))
        return jnp.take(s.F, (s.k - 1) % m, axis=0), s.res < 1e-3
    return f


@given(normal(2), between(3))
def steps_that_are_refused(jax):
    jnp = jax.numpy
    def f(y0, th):
        vf = lambda t, y: jnp.stack([y[1], -th[0] * y[0] - th[1] * y[1] + jnp.cos(t)])
        a = [[1/5], [3/40, 9/40], [44/45, -56/15, 32/9], [19372/6561, -25360/2187, 64448/6561, -212/729], [9017/3168, -355/33, 46732/5247, 49/176, -5103/18656], [35/384, 0, 500/1113, 125/192, -2187/6784, 11/84]]
        c = jnp.array([0, 1/5, 3/10, 4/5, 8/9, 1, 1]); e = jnp.array([71/57600, 0, -71/16695, 71/1920, -17253/339200, 22/525, -1/40])
        def step(t, y, h):
            k = [vf(t, y)]
            for i, row in enumerate(a): k.append(vf(t + c[i + 1] * h, y + h * sum(x * kk for x, kk in zip(row, k))))
            K = jnp.stack(k)
            return y + h * sum(x * kk for x, kk in zip(a[-1], k)), h * e @ K
        def cond(s): return (s["t"] < 3.0) & (s["n"] < 200)
        def body(s):
            h = jnp.minimum(s["h"], 3.0 - s["t"])
            y, err = step(s["t"], s["y"], h)
            r = jnp.sqrt(jnp.mean((err / (1e-5 + 1e-4 * jnp.maximum(jnp.abs(s["y"]), jnp.abs(y)))) ** 2))
            ok = r <= 1
            fac = jnp.clip(0.9 * r ** -0.2, 0.2, 5.0)
            return jax.tree.map(lambda a, b: jnp.where(ok, a, b), dict(s, t=s["t"] + h, y=y, h=h * fac, n=s["n"] + 1, acc=s["acc"] + 1), dict(s, h=h * fac, n=s["n"] + 1))
        s = jax.lax.while_loop(cond, body, {"t": jnp.float32(0), "y": y0, "h": jnp.float32(0.1), "n": 0, "acc": 0})
        sol = jax.experimental.ode.odeint(lambda y, t, th: vf(t, y), y0, jnp.linspace(0, 2.0, 4), th, rtol=1e-6, atol=1e-6)
        root = jax.lax.custom_root(lambda x: x ** 3 - th[2] - 1, 1.0, lambda g, x: jax.lax.fori_loop(0, 20, lambda _, x: x - g(x) / (3 * x ** 2), x), lambda g, y: y / g(1.0))
        return s["y"], sol, root, jax.grad(lambda t: jax.lax.custom_root(lambda x: x ** 3 - t, 1.0, lambda g, x: jax.lax.fori_loop(0, 20, lambda _, x: x - g(x) / (3 * x ** 2), x), lambda g, y: y / g(1.0)))(th[2])
    return f


@given(normal(20), between(6), normal(4, 4), normal(12, 12), tolerance=5e-4)
def names_of_scipy(jax):
    jnp = jax.numpy
    def f(x, p, A, img):
        sp, st, sg, nd, la, op = jax.scipy.special, jax.scipy.stats, jax.scipy.signal, jax.scipy.ndimage, jax.scipy.linalg, jax.scipy.optimize
        S = A @ A.T + jnp.eye(4)
        r = op.minimize(lambda v: jnp.sum((v - jnp.arange(3)) ** 2) + 0.1 * jnp.sum(v ** 4), jnp.zeros(3), method="BFGS", tol=1e-4)
        return (sp.betainc(p, 1 + p, p), sp.gammaincc(p * 3, 1.0), sp.zeta(2 + p, 1.0), sp.polygamma(1, p), sp.ndtri(p), sp.log_ndtr(x), sp.multigammaln(p + 3, 2), sp.erfinv(p), sp.expi(p), sp.exp1(p), sp.i0e(x), 
                st.norm.cdf(x, 0.1, 2.0), st.t.logpdf(x, 3.0), st.beta.logpdf(p, 2., 3.), st.gamma.logpdf(p, 2.0), st.dirichlet.logpdf(p / p.sum(), jnp.ones(6) * 2), st.nbinom.logpmf(jnp.arange(5), 3.0, 0.4), st.laplace.cdf(x), st.logistic.sf(x), st.truncnorm.logpdf(x, -1., 2.), st.vonmises.logpdf(x, 2.0), st.wrapcauchy.logpdf(jnp.abs(x), 0.3), st.gennorm.logpdf(x, 1.5), st.gaussian_kde(x).evaluate(jnp.linspace(-1, 1, 5)), st.rankdata(x), st.mode(jnp.round(x))[0],
                sg.convolve(x, p, mode="same"), sg.correlate(x, p, "valid"), sg.fftconvolve(x, p), sg.detrend(x), sg.welch(x, nperseg=8), jnp.abs(sg.stft(x, nperseg=8)[2]), sg.correlate2d(img, A, "same"),
                nd.map_coordinates(img, jnp.stack([jnp.linspace(0, 11, 7), jnp.linspace(11, 0, 7)]), order=1, mode="nearest"), nd.map_coordinates(img, [jnp.array([0.5, 13.2]), jnp.array([1.0, -2.0])], 1, mode="reflect"), nd.map_coordinates(img, [jnp.array([0.5, 13.2]), jnp.array([1.0, -2.0])], 0, mode="constant", cval=3.0),
                la.expm(A * 0.3), la.solve(S, x[:4], assume_a="pos"), la.cho_solve(la.cho_factor(S), x[:4]), la.block_diag(A, S), la.eigh(S, eigvals_only=True), jnp.abs(la.polar(A)[1]), la.lu_solve(la.lu_factor(S), A), la.toeplitz(p), la.solve_sylvester(S, S, A),
                r.x, r.fun, jnp.trapezoid(x), jax.scipy.integrate.trapezoid(x, dx=0.5), sp.softmax(x), sp.rel_entr(p, p[::-1]), sp.entr(p), sp.kl_div(p, p[::-1]), sp.spence(p), sp.bernoulli(4), sp.factorial(jnp.arange(5)), sp.hyp1f1(1.0, 2.0, p), sp.poch(p, 2.0), sp.gammasgn(x), sp.xlogy(p, p), sp.logsumexp(x, b=jnp.abs(x)), jnp.sqrt(p))
    return f


@given(normal(2, 3, 4, 5), normal(2, 3, 5, 4), normal(3, 5), normal(4), normal(2, 2, 2, 2))
def products_by_more_letters(jax):
    jnp = jax.numpy
    def f(a, b, c, v, t):
        e = jnp.einsum
        return (e("bhqd,bhdk->bhqk", a, b), e("bhqd,hd->bq", a, c), e("...qd,...dk->...qk", a, b), e("bhqd,bhqd->bh", a, a), e("abab->ab", t), e("aabb->", t), e("abcd->dcba", t), e("iiii->i", t), e("ij...->...ji", a),
                e("bhqd,q,hd->bd", a, v, c), e("b...,b...->b", a, a), e("hd,Hd->hH", c, c), e("i,j,k->ijk", v, v[:2], v[:3]), e("...,...", a, 2.0), e("bhqd->hb", a), e("bhqd, bhdk -> bhqk", a, b), e("ij,jk->", c, c.T), e("a...b,b->a...", a, jnp.ones(5)),
                e("bhqd,bhkd,bhkv->bhqv", a, a, a), e(",ij->ij", 2.0, c), e("ijkl,jkl->i", a, a[0]), jax.grad(lambda a: e("bhqd,bhqe,bhde->", a, a, jnp.ones((2, 3, 5, 5))))(a), jax.vmap(lambda x: e("ij,j", c, x))(a[0, 0]),
                jnp.tensordot(a, b, axes=((0, 1), (0, 1))), jnp.inner(a[0, 0], a[1, 2]), jnp.outer(v, v), jnp.matmul(a, v @ jnp.ones((4, 5))), jnp.dot(a, b[0, 0]))
    return f


@given(normal(6, 4), np.array([[0], [5], [2]]), normal(3, 4))
def gathers_and_scatters_by_hand(jax):
    jnp, lax = jax.numpy, jax.lax
    def f(x, i, u):
        dn = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
        sn = lax.ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
        s = jnp.asarray(i)
        return (lax.gather(x, s, dn, (1, 4)), lax.gather(x, s + 3, dn, (1, 4), mode="clip"), lax.gather(x, s + 3, dn, (1, 4), mode=lax.GatherScatterMode.FILL_OR_DROP, fill_value=-1),
                lax.scatter_add(x, s, u, sn), lax.scatter(x, s, u, sn, unique_indices=True), lax.scatter_max(x, s, u, sn), lax.scatter_mul(x, s, u, sn),
                lax.reduce_precision(x, 5, 10), lax.sort([x[:, 0], x[:, 1]], num_keys=1), lax.clamp(-0.5, x, 0.5), lax.cummax(x, 1), lax.dot_general(x, u, (((1,), (1,)), ((), ()))),
                lax.dot_general(x.reshape(2, 3, 4), u.reshape(1, 3, 4).repeat(2, 0), (((2,), (2,)), ((0,), (0,)))), lax.population_count(jnp.arange(5)), lax.integer_pow(x, 3), lax.top_k(x.T, 2), lax.nextafter(x, u[0, 0]), lax.bitcast_convert_type(x, jnp.int32),
                lax.stop_gradient(x), lax.full((2, 2), 3), lax.approx_max_k(x, 2)[0], lax.linalg.cholesky(x.T @ x + 4 * jnp.eye(4)), lax.linalg.triangular_solve(jnp.tril(x[:4]) + 3 * jnp.eye(4), u.T, left_side=True, lower=True), lax.map(lambda r: r.sum(), x), lax.map(lambda r: r * 2, x, batch_size=4))
    return f


@given(normal(3, 9, 4), np.array([9, 4, 6]), normal(4, 20), normal(5, 20), normal(20), between(3, 5, lo=0, hi=1))
def normalized_cells_of_lengths(jax):
    jnp = jax.numpy
    def ln(x): return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-6)
    def f(x, n, wi, wh, b, u):
        drop = jnp.where(u < 0.8, 1 / 0.8, 0.0)
        def step(c, t):
            (h, c), x, m = c, t[0], t[1][:, None]
            i, g, fo, o = jnp.split(ln(x @ wi) + ln((h * drop) @ wh) + b, 4, -1)
            c2 = jax.nn.sigmoid(fo + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h2 = jax.nn.sigmoid(o) * jnp.tanh(ln(c2))
            return (jnp.where(m, h2, h), jnp.where(m, c2, c)), jnp.where(m, h2, 0)
        mask = jnp.arange(9)[None] < n[:, None]
        z = jnp.zeros((3, 5))
        (h, c), ys = jax.lax.scan(step, (z, z), (x.swapaxes(0, 1), mask.T))
        (hb, _), yb = jax.lax.scan(step, (z, z), (x.swapaxes(0, 1), mask.T), reverse=True)
        idx = jnp.where(mask, (n[:, None] - 1 - jnp.arange(9)) % 9, jnp.arange(9))
        return h, c, ys, hb, jnp.take_along_axis(x, idx[..., None], 1), jnp.concatenate([ys, yb], -1).max(0)
    return f


@given(normal(10, 4), normal(2, 23), normal(4, 4), normal(4, 4))
def splines_that_couple(jax):
    jnp = jax.numpy
    def spline(x, w, h, d, B=3.0):
        K = w.shape[-1]
        w = jax.nn.softmax(w) * (1 - 1e-3 * K) + 1e-3; h = jax.nn.softmax(h) * (1 - 1e-3 * K) + 1e-3
        cw = jnp.pad(jnp.cumsum(w, -1), [(0, 0)] * (w.ndim - 1) + [(1, 0)]) * 2 * B - B
        ch = jnp.pad(jnp.cumsum(h, -1), [(0, 0)] * (h.ndim - 1) + [(1, 0)]) * 2 * B - B
        d = jnp.pad(jax.nn.softplus(d) + 1e-3, [(0, 0)] * (d.ndim - 1) + [(1, 1)], constant_values=1.0)
        inside = (x > -B) & (x < B); xc = jnp.clip(x, -B, B - 1e-4)
        k = jnp.clip(jnp.sum(xc[..., None] >= cw[..., 1:-1], -1), 0, K - 1)[..., None]
        g = lambda a: jnp.take_along_axis(jnp.broadcast_to(a, xc.shape + a.shape[-1:]), k, -1)[..., 0]
        x0, x1, y0, y1, d0, d1 = g(cw[..., :-1]), g(cw[..., 1:]), g(ch[..., :-1]), g(ch[..., 1:]), g(d[..., :-1]), g(d[..., 1:])
        s = (y1 - y0) / (x1 - x0); t = (xc - x0) / (x1 - x0)
        den = s + (d1 + d0 - 2 * s) * t * (1 - t)
        y = y0 + (y1 - y0) * (s * t ** 2 + d0 * t * (1 - t)) / den
        ld = 2 * jnp.log(s) + jnp.log(d1 * t ** 2 + 2 * s * t * (1 - t) + d0 * (1 - t) ** 2) - 2 * jnp.log(den)
        return jnp.where(inside, y, x), jnp.where(inside, ld, 0.0)
    def f(x, net, W, V):
        def forward(x, W):
            x = x @ W; ld = jnp.linalg.slogdet(W)[1]
            a, b = jnp.split(x, 2, -1)
            th = (jnp.tanh(a) @ net).reshape(-1, 1, 23)
            y, l = spline(b, th[..., :8], th[..., 8:16], th[..., 16:23])
            z = jnp.concatenate([a, y], -1)
            mask = jnp.tril(jnp.ones((4, 4)), -1)
            mu = z @ (V * mask).T
            return (z - mu), ld + l.sum(-1)
        nll = lambda W: -(jax.scipy.stats.norm.logpdf((o := forward(x, W))[0]).sum(-1) + o[1]).mean()
        return forward(x, W), jax.value_and_grad(nll)(W)
    return f


@given(normal(4, 6), normal(8, 6), normal(6, 6), normal(3, 6), np.array([0, 1, 2, 0]))
def guided_sampling(jax):
    jnp = jax.numpy
    def f(x, w1, w2, emb, y):
        def net(x, s, c):
            cs = 1 / (s ** 2 + 0.25); skip = 0.25 * cs; out = s * 0.5 * jnp.sqrt(cs); cin = jnp.sqrt(cs)
            t = jnp.log(s) / 4
            h = jnp.concatenate([cin * x, jnp.broadcast_to(jnp.stack([jnp.sin(t), jnp.cos(t)]), (4, 2))], -1) @ w1 + c
            return skip * x + out * (jax.nn.silu(h) @ w2)
        i = jnp.arange(8)
        sig = (80 ** (1 / 7) + i / 7 * (0.002 ** (1 / 7) - 80 ** (1 / 7))) ** 7
        sig = jnp.append(sig, 0.0)
        def D(x, s):
            both = jax.vmap(net, (None, None, 0))(x, s, jnp.stack([emb[y], jnp.zeros((4, 6))]))
            return both[1] + 2.0 * (both[0] - both[1])
        def step(x, ss):
            s, n = ss
            d = (x - D(x, s)) / s
            e = x + (n - s) * d
            h = jax.lax.cond(n > 0, lambda: x + (n - s) * 0.5 * (d + (e - D(e, n)) / jnp.maximum(n, 1e-8)), lambda: e)
            return h, jnp.abs(h).mean()
        return jax.lax.scan(step, x * 80, (sig[:-1], sig[1:]))
    return f


@given(normal(5, 3), normal(5, 6), between(5), RNG.random(5) < 0.3, normal(5, 4, 11))
def losses_of_agents(jax):
    jnp = jax.numpy
    def f(obs, eps, r, done, q):
        mu, ls = jnp.split(eps, 2, -1); ls = jnp.clip(ls, -5, 2)
        u = mu + jnp.exp(ls) * obs
        lp = jax.scipy.stats.norm.logpdf(u, mu, jnp.exp(ls)).sum(-1) - (2 * (jnp.log(2) - u - jax.nn.softplus(-2 * u))).sum(-1)
        z = jnp.linspace(-2, 2, 11); dz = z[1] - z[0]
        p = jax.nn.softmax(q)
        a = jnp.argmax((p * z).sum(-1), -1)
        tz = jnp.clip(r[:, None] + 0.9 * (1 - done)[:, None] * z, -2, 2)
        b = (tz + 2) / dz; lo, hi = jnp.floor(b).astype(int), jnp.ceil(b).astype(int)
        pn = p[jnp.arange(5), a]
        m = jax.vmap(lambda lo, hi, b, pn: jnp.zeros(11).at[lo].add(pn * (hi + (lo == hi) - b)).at[hi].add(pn * (b - lo)))(lo, hi, b, pn)
        proj = (jnp.clip(1 - jnp.abs(tz[:, None, :] - z[None, :, None]) / dz, 0, 1) * pn[:, None]).sum(-1)
        huber = lambda e, d=1.0: jnp.where(jnp.abs(e) <= d, 0.5 * e ** 2, d * (jnp.abs(e) - 0.5 * d))
        tau = (jnp.arange(11) + 0.5) / 11
        qr = (jnp.abs(tau[None, :, None] - (q[:, 0][:, None] - q[:, 1][..., None] < 0)) * huber(q[:, 1][..., None] - q[:, 0][:, None])).mean()
        w = (r / r.sum()) ** -0.4
        return lp, m, proj, qr, w / w.max(), jax.lax.stop_gradient(p).sum(), jnp.searchsorted(jnp.cumsum(r / r.sum()), jnp.array([0.1, 0.5, 0.99]))
    return f


@given(normal(9, 4), normal(4, 4))
def best_path_of_labels(jax):
    jnp = jax.numpy
    def f(em, tr):
        def vit(c, e):
            s = c[:, None] + tr + e[None]
            return s.max(0), s.argmax(0)
        last, bp = jax.lax.scan(vit, em[0], em[1:])
        end = last.argmax()
        _, path = jax.lax.scan(lambda k, b: (b[k], b[k]), end, bp, reverse=True)
        lm = lambda a, b: jax.nn.logsumexp(a[..., :, :, None] + b[..., None, :, :], axis=-2)
        M = tr[None] + em[1:, None, :]
        pre = jax.lax.associative_scan(lm, M)
        logz = jax.nn.logsumexp(em[0][:, None] + pre[-1])
        ent = lambda em, tr: jax.nn.logsumexp(jax.lax.scan(lambda c, e: (jax.nn.logsumexp(c[:, None] + tr + e[None], 0), None), em[0], em[1:])[0])
        marg, trans = jax.grad(ent, (0, 1))(em, tr)
        return jnp.append(path, end), last.max(), logz, marg, trans, pre
    return f


@given(normal(3, 4), normal(4, 5, 3), normal(5))
def batches_of_all_structures(jax):
    jnp = jax.numpy
    def f(a, b, c):
        g = lambda d, s: {"u": d["x"] @ d["y"][0], "v": (d["y"][1] * s).sum()}
        r1 = jax.vmap(g, in_axes=({"x": 0, "y": [None, 1]}, None), out_axes={"u": 0, "v": 0})({"x": a, "y": [c[:4], b[:, :3]]}, 2.0) 
        r2 = jax.vmap(jax.vmap(lambda x, y: jnp.where(x > y, x, y), (None, 0)), (0, None))(a[0], c)
        r3 = jax.vmap(lambda x: jax.lax.switch(jnp.int32(jnp.abs(x).sum() * 3) % 3, [jnp.sin, jnp.cos, lambda t: t * 2], x))(a)
        r4 = jax.vmap(lambda m: jnp.linalg.cholesky(m @ m.T + jnp.eye(4)), in_axes=2, out_axes=-1)(b)
        r5 = jax.vmap(lambda i, x: x.at[i].set(0.0).sort()[::-1])(jnp.array([0, 3, 1]), a)
        r6 = jax.vmap(lambda x: jax.lax.while_loop(lambda s: s[0].sum() < 10, lambda s: (s[0] * 1.5 + 0.1, s[1] + 1), (jnp.abs(x), 0)))(a)
        r7 = jax.vmap(lambda x, k: jax.lax.dynamic_slice(x, (k,), (2,)), (0, 0))(a, jnp.arange(3))
        r8 = jax.vmap(lambda x: jax.lax.psum(x, "i") / 3, axis_name="i")(a)
        r9 = jax.vmap(lambda x: jax.lax.cond(x.sum() > 0, lambda: jnp.linalg.norm(x), lambda: x[0]))(a)
        r10 = jax.vmap(jax.grad(lambda x, y: jnp.sum(jnp.sort(x * y[:4]) * jnp.arange(4))), (0, None))(a, c)
        r11 = jax.vmap(lambda x: jnp.histogram(x, bins=3, range=(-2, 2))[0])(a)
        r12 = jax.vmap(lambda x: jnp.convolve(x, c[:2]))(a)
        r13 = jax.vmap(lambda x: jnp.interp(x, jnp.arange(5.), c))(a)
        r14 = jax.vmap(lambda k: jax.lax.fori_loop(0, k, lambda i, s: s + i * c.sum(), 0.0))(jnp.arange(4))
        return r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14
    return f



@given(normal(3, 4), normal(4), RNG.integers(0, 5, 6))
def methods_of_functions(jax):
    jnp = jax.numpy
    def f(x, v, i):
        return (jnp.add.reduce(x, axis=1), jnp.multiply.accumulate(v), jnp.maximum.outer(v, v[:2]), jnp.add.at(jnp.zeros(5), i, 1.0, inplace=False), jnp.logaddexp.reduce(x, axis=0), jnp.subtract.outer(v, v),
                jnp.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(x, v), jnp.vectorize(lambda a: jnp.outer(a, a), signature="(n)->(n,n)")(x), jnp.apply_over_axes(jnp.sum, x, (0, 1)), jnp.apply_along_axis(jnp.sort, 1, x),
                jnp.add.reduceat(v, np.array([0, 2])), jnp.vectorize(lambda a, b: jnp.where(a > b, a, -b))(x, v), jnp.minimum.reduce(x, keepdims=True), jnp.frompyfunc(lambda a, b: a + 2 * b, 2, 1, identity=0)(v, v))
    return f


@given(normal(5, 3), normal(3), normal(2, 5))
def structures_turned(jax):
    jnp, tu = jax.numpy, jax.tree_util
    def f(x, w, z):
        p = tu.Partial(lambda a, b, c=1.0: a @ b * c, x)
        t = {"a": [w, x], "b": (z, None)}
        l, d = tu.tree_flatten(t)
        inner = tu.tree_structure((0, 0))
        outs = tu.tree_transpose(d, inner, tu.tree_map(lambda l: (l * 2, l.sum()), t))
        return (p(w), p(w, c=2.0), jax.jit(lambda g, w: g(w))(p, w), outs, tu.tree_unflatten(d, [a + 1 for a in l]), tu.tree_all(tu.tree_map(lambda a: a.ndim > 0, t)), tu.tree_reduce(lambda a, b: a + b.sum(), t, 0.0),
                tu.tree_map(lambda a, b: a + b, t, t), jax.tree.map(lambda *s: jnp.stack(s), *[{"q": w * k} for k in range(3)]), [tu.keystr(k) == "['a'][0]" for k, _ in tu.tree_flatten_with_path(t)[0]][:1],
                jax.tree.leaves(jax.tree.map(lambda a: None, t)), jax.eval_shape(lambda t: tu.tree_map(lambda a: a.T, t), t)["b"][0].shape, jax.vmap(lambda t: t["q"].sum())({"q": x}))
    return f


@given(normal(6, 6), normal(4, 5, 3), between(7))
def images_and_statistics(jax):
    jnp = jax.numpy
    def f(im, ch, p):
        return (jax.image.resize(im, (9, 4), "bilinear"), jax.image.resize(ch, (8, 10, 3), "nearest"), jax.image.resize(im, (3, 3), "cubic"), jax.image.resize(im, (12, 12), "lanczos3", antialias=False), jax.image.scale_and_translate(im, (6, 6), (0, 1), jnp.array([1.5, 0.8]), jnp.array([0.3, -1.0]), "linear"),
                jnp.histogramdd(jnp.stack([p, p[::-1]], 1), bins=3, range=[(0, 1), (0, 1)])[0], jnp.cov(im, aweights=jnp.arange(1.0, 7)), jnp.corrcoef(im), jnp.average(im, axis=0, weights=p[:6]), jnp.ptp(im, 1), jnp.nanvar(jnp.where(im > 1, jnp.nan, im)), jnp.quantile(im, p[:3], axis=1, method="midpoint"), jnp.digitize(p, jnp.array([0.2, 0.5])),
                jnp.gradient(im, 0.5, axis=0), jnp.trapezoid(im, dx=0.1, axis=1), jnp.unwrap(im * 3, axis=0), jnp.interp(p, jnp.linspace(0, 1, 6), im[0], left=-1, right=9), jnp.polyfit(jnp.arange(7.0), p, 2), jnp.polyval(im[0], p), jnp.roots(jnp.array([1.0, -3, 2]), strip_zeros=False).real.sum(), jnp.packbits(im > 0, axis=1), jnp.unpackbits(jnp.array([7, 130], jnp.uint8)), jnp.lexsort((im[0], im[1])), jnp.triu_indices(3)[0], jnp.tri(3, 4, -1), jnp.vander(p, 3), jnp.i0(p), jnp.sinc(im), jnp.nan_to_num(jnp.log(im)), jnp.resize(im, (4, 10)), jnp.rot90(im, 3), jnp.roll(ch, (1, 2), (0, 2)), jnp.diff(im, 2, prepend=0.0), jnp.ediff1d(p, to_end=jnp.array([3.0])), jnp.cross(ch[0], ch[1]), jnp.choose(jnp.array([0, 1, 0]), [p[:3], p[3:6]], mode="clip"), jnp.argpartition(p, 2)[2], jnp.partition(p, 2)[2])
    return f


@given(normal(4, 6), np.array([2, 0, 3, 1]))
def types_mixed(jax):
    jnp = jax.numpy
    def f(x, i):
        h, b, u = x.astype(jnp.float16), x.astype(jnp.bfloat16), (x * 10).astype(jnp.int8)
        return (h + x, b * 2, (h @ h.T).astype(jnp.float32), jnp.matmul(b, b.T, preferred_element_type=jnp.float32), u + jnp.int16(3), u // 3, u % 5, -7 // jnp.array([2, -2]), jnp.uint8(250) + jnp.arange(10, dtype=jnp.uint8), h.sum(), b.mean().astype(jnp.float32), jnp.sum(u), jnp.prod(u.astype(jnp.int32) % 3 + 1, axis=1), (x > 0) + (x > 1), (x > 0).sum(0), jnp.mean(x > 0), jnp.cumsum(x > 0, 1), jnp.exp(h), jnp.arange(3, dtype=jnp.bfloat16), jnp.linspace(0, 1, 5, dtype=jnp.float16), jnp.true_divide(u, 3), jnp.float32(u).max(), u << 1, u >> 1, ~u, jnp.where(x > 0, h, 1), jnp.where(x > 0, 1, 2.5), jnp.maximum(u, 0), jnp.clip(u, -5, 5), u.astype(bool), jnp.bitwise_count(u.astype(jnp.uint8)), jnp.abs(u), jnp.round(x, 1), jnp.sign(u), jnp.power(u.astype(jnp.int32), 2), jnp.argmax(h, 1), jnp.take(b, i, axis=0), jnp.concatenate([h, x]), jnp.stack([u.astype(jnp.int32), i[:, None] * jnp.ones((4, 6), jnp.int32)]), jax.nn.softmax(h).astype(jnp.float32).round(2), jax.lax.convert_element_type(x, jnp.int32), jax.grad(lambda h: (h * h).sum().astype(jnp.float32))(h), jnp.dot(u, u.T), jnp.einsum("ij,kj->ik", h, x), jnp.array(3) / 2, i / 2, i ** 2, i * 0.5, jnp.sqrt(i), jnp.mean(i), jnp.var(i), jnp.median(i))
    return f


@given(normal(8), normal(8))
def loops_with_early_ends(jax):
    jnp, lax = jax.numpy, jax.lax
    def f(x, y):
        def bisect(f, lo, hi):
            def body(s):
                lo, hi, n = s
                m = 0.5 * (lo + hi)
                return lax.cond(f(m) > 0, lambda: (lo, m, n + 1), lambda: (m, hi, n + 1))
            return lax.while_loop(lambda s: (s[1] - s[0] > 1e-5) & (s[2] < 60), body, (jnp.float32(lo), jnp.float32(hi), 0))
        gold = lax.fori_loop(0, 30, lambda _, s: jax.tree.map(lambda a, b: jnp.where((s[1] - s[0]) * 0.618 + s[0] > 0.3, a, b), (s[0], s[0] + (s[1] - s[0]) * 0.618), (s[1] - (s[1] - s[0]) * 0.618, s[1])), (0.0, 1.0))
        qs = lax.while_loop(lambda s: s["lo"] < s["hi"], lambda s: (lambda m: {"lo": jnp.where(jnp.sort(x)[m] < 0.1, m + 1, s["lo"]), "hi": jnp.where(jnp.sort(x)[m] < 0.1, s["hi"], m)})((s["lo"] + s["hi"]) // 2), {"lo": 0, "hi": 8})
        gcd = lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (jnp.int32(462), jnp.int32(1071)))
        found = lax.scan(lambda c, t: (jnp.where((c < 0) & (t[0] > 0), t[1], c), c < 0), -1, (x, jnp.arange(8)))
        bub = lax.fori_loop(0, 8, lambda i, a: lax.fori_loop(0, 7, lambda j, a: lax.cond(a[j] > a[j + 1], lambda a: a.at[j].set(a[j + 1]).at[j + 1].set(a[j]), lambda a: a, a), a), x)
        mask = lax.map(lambda t: lax.cond(t > 0, lambda t: jnp.sqrt(t), lambda t: -t, t), x)
        unr = lax.scan(lambda c, t: (c * 0.9 + t, c), 0.0, x, unroll=3)
        two = lax.scan(lambda c, t: (lax.scan(lambda d, u: (d + u * t, d), c, y)[0], c), 0.0, x)
        em = lax.fori_loop(3, 3, lambda i, c: c + 1, 5)
        rng = lax.fori_loop(jnp.int8(2), jnp.int8(5), lambda i, c: c + i, jnp.int8(0))
        return bisect(lambda t: t ** 3 - 2, 0, 3), gold, qs, gcd, found, bub, mask, unr, two, em, rng
    return f


@given(normal(5, 5), normal(5), between(5))
def more_linear_algebra(jax):
    jnp, la, sl = jax.numpy, jax.numpy.linalg, jax.scipy.linalg
    def f(a, b, d):
        s = a @ a.T + jnp.eye(5)
        P, L, U = sl.lu(a)
        return (la.matrix_power(a, -2), la.slogdet(a), la.cond(s), la.pinv(a[:, :3]), la.lstsq(a[:, :2], b)[0], la.matrix_rank(a[:, :2] @ a[:2]), la.norm(a, 2), la.norm(a, -1), la.multi_dot([a, s, b]), P @ L @ U, sl.expm(jnp.triu(a) * 0.2, upper_triangular=True), sl.sqrtm(s).real, sl.polar(s)[0], sl.eigh_tridiagonal(d, b[:4], eigvals_only=True), sl.toeplitz(b, d), sl.solve_triangular(jnp.tril(s), b, lower=True, unit_diagonal=True), sl.cho_solve((sl.cholesky(s, lower=True), True), b), jnp.abs(sl.qr(a[:, :3], mode="economic")[1]), jnp.sort(la.eigvals(a).real), jnp.sort(jnp.abs(la.eigvals(a))), la.svd(a, compute_uv=False), la.eigvalsh(s), la.det(a), jnp.trace(la.inv(s)), la.tensorsolve(jnp.eye(6).reshape(2, 3, 2, 3) * 3, a[:2, :3]), la.vecdot(a, s), la.outer(b, d), la.cholesky(s, upper=True), sl.hilbert(3), sl.hadamard(4), la.matrix_norm(a, ord="nuc"), jax.lax.linalg.lu(a)[0], jax.lax.linalg.tridiagonal_solve(jnp.append(0.0, b[1:]), d + 3, jnp.append(b[:-1], 0.0), b[:, None]), jnp.kron(a[:2, :2], s[:2, :2]), jax.grad(lambda a: la.svd(a, compute_uv=False).sum())(a), jax.grad(lambda a: jnp.sum(la.eigh(a + a.T)[0] ** 3))(a), jax.grad(lambda a: sl.expm(a * 0.1).sum())(a), jax.jvp(la.inv, (s,), (a,))[1], jax.grad(lambda a: la.qr(a)[1].trace())(s), jax.vmap(la.det)(jnp.stack([a, s])))
    return f


@given(normal(16, 3), normal(4, 3))
def neighbours_and_clusters(jax):
    jnp = jax.numpy
    def f(x, c):
        d = jnp.linalg.norm(x[:, None] - c, axis=-1)
        lab = d.argmin(1)
        def fcm(u, _):
            w = u ** 2
            c = (w.T @ x) / w.sum(0)[:, None]
            d = ((x[:, None] - c) ** 2).sum(-1) + 1e-6
            u = (1 / d) / (1 / d).sum(1, keepdims=True)
            return u, c
        u, cs = jax.lax.scan(fcm, jax.nn.softmax(-d), None, 4)
        ms = jax.lax.fori_loop(0, 5, lambda _, y: (lambda k: k @ x / k.sum(1, keepdims=True))(jnp.exp(-((y[:, None] - x) ** 2).sum(-1))), x)
        knn = jax.lax.top_k(-((x[:, None] - x) ** 2).sum(-1), 4)[1][:, 1:]
        dens = jax.nn.logsumexp(-0.5 * ((x[:, None] - x) ** 2).sum(-1), axis=1)
        adj = jnp.zeros((16, 16), bool).at[jnp.arange(16)[:, None], knn].set(True)
        adj = adj | adj.T
        comp = jax.lax.while_loop(lambda s: s[1], lambda s: (lambda n: (n, (n != s[0]).any()))(jnp.minimum(s[0], jnp.where(adj, s[0][None], 99).min(1))), (jnp.arange(16), True))[0]
        L = jnp.diag(adj.sum(1)) - adj
        w, v = jnp.linalg.eigh(L.astype(jnp.float32))
        sil = jax.vmap(lambda i: jnp.where(lab == lab[i], ((x - x[i]) ** 2).sum(-1), 0).sum() / jnp.maximum((lab == lab[i]).sum() - 1, 1))(jnp.arange(16))
        code, dist = jax.scipy.cluster.vq.vq(x, c)
        return lab, u, cs, ms, knn, dens, comp, w, sil, code, dist, jnp.bincount(lab, length=4), jax.ops.segment_sum(x, lab, 4)
    return f
