"""Programs that use many forms of one thing (indices, updates, batches, products, truth values), and further programs of the field, compared with
results of JAX."""
import functools
import operator

import numpy as np

from trace_programs import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape).astype(np.float32)


def between(*shape):
    return lambda rng: rng.uniform(size=shape).astype(np.float32)


def whole(limit, *shape):
    return lambda rng: rng.integers(0, limit, size=shape).astype(np.int32)


def of_bytes(*shape):
    return lambda rng: rng.integers(-128, 128, size=shape).astype(np.int8)


def given(*arguments):
    return program(lambda rng: tuple([a(rng) for a in arguments]), 1e-3)


@given(normal(6, 7))
def boolean_masks(jax):
    jnp = jax.numpy

    def f(x):
        m = x > 0
        y = jnp.where(m, x, 0).sum(axis=1)
        idx = jnp.nonzero(m, size=10, fill_value=0)
        return (
            y, x[idx], jnp.argwhere(m, size=5), jnp.extract(m, x, size=4, fill_value=9.0),
            jnp.compress(jnp.array([True, False, True]), x, axis=0, size=2),
        )

    return f


@given(normal(5, 8, 3))
def negative_strides(jax):
    def f(x):
        return (
            x[::-1], x[:, ::-2], x[..., ::-1], x[::-1, 5:1:-2, 0], x[-1], x[..., None, :], x[None, ..., 1], x[1:4:2, ..., -2:], x[:, -3:-1],
        )

    return f


@given(normal(6, 5), whole(6, 4), whole(5, 4))
def advanced_index_forms(jax):
    jnp = jax.numpy

    def f(x, i, j):
        return (
            x[i], x[i, j], x[:, j], x[i][:, j], x[i[:, None], j[None, :]], x[i, 1:3], x[..., j], x[i, None, 2],
            x[jnp.array([0, 2])[:, None], jnp.array([[1, 3]])],
        )

    return f


@given(normal(6, 5), whole(6, 4), normal(4, 5), normal(4))
def updates_in_many_forms(jax):
    jnp = jax.numpy

    def f(x, i, v, w):
        return (
            x.at[i].add(v), x.at[i].max(v), x.at[i].min(v), x.at[i].mul(v), x.at[0].set(7.0), x.at[:, 1].add(2.0), x.at[i, 2].set(w),
            x.at[::2].multiply(3.0), x.at[-1, -1].power(2.0), x.at[i].get(mode='fill', fill_value=0.0), x.at[1:3, 2:4].divide(2.0),
            x.at[i, jnp.arange(4)].apply(jnp.sin), x.at[..., 0].set(0), x.at[None, 2].get(),
        )

    return f


@given(normal(20), whole(5, 20))
def sums_of_segments(jax):
    jnp = jax.numpy

    def f(x, s):
        return (
            jax.ops.segment_sum(x, s, 5), jax.ops.segment_max(x, s, num_segments=6), jax.ops.segment_min(x, s, num_segments=5),
            jax.ops.segment_prod(x, s, num_segments=5), jax.ops.segment_sum(jnp.stack([x, x * 2], 1), s, num_segments=5), jnp.bincount(s, length=7),
            jnp.bincount(s, weights=x, length=7),
        )

    return f


@given(normal(3, 4), normal(4, 5), normal(2, 3, 4), normal(4, 4))
def products_by_letters(jax):
    jnp = jax.numpy

    def f(a, b, c, d):
        return (
            jnp.einsum('ij,jk->ki', a, b), jnp.einsum('bij,jk', c, b), jnp.einsum('ii->i', d), jnp.einsum('ii', d), jnp.einsum('ij->', a),
            jnp.einsum('...ij,jk->...ik', c, b), jnp.einsum('i,j->ij', a[0], b[0]), jnp.einsum('bij,bkj->bik', c, c), jnp.einsum('ij,ij->j', a, a),
            jnp.einsum('bij,jk,kl->bl', c, b, b.T), jnp.einsum(a, [0, 1], b, [1, 2], [0, 2]), jnp.einsum('ijk->kji', c),
            jnp.einsum('iij->j', jnp.stack([d] * 4)), jnp.tensordot(c, b, axes=1), jnp.tensordot(a, c, axes=[[0, 1], [1, 2]]), jnp.inner(a, a),
            jnp.outer(a, b), jnp.kron(a, d), jnp.vdot(a, a), jnp.matmul(c, b), jnp.einsum('ij,ij->ij', a, 2 * a),
        )

    return f


@given(normal(8))
def nested_transforms(jax):
    jnp = jax.numpy

    def f(x):
        f = lambda x: jnp.sum(jnp.sin(x[:-1]) * x[1:] ** 2) + jnp.prod(x[:3])
        h = jax.hessian(f)(x)
        jj = jax.jacfwd(jax.jacrev(jax.grad(f)))(x)
        vg = jax.vmap(jax.grad(lambda y, k: f(y) * k), (None, 0))(x, jnp.arange(3.0))
        hv = jax.jvp(jax.grad(f), (x,), (jnp.ones_like(x),))[1]
        g3 = jax.grad(jax.grad(jax.grad(lambda t: jnp.tanh(t) * t)))(0.3)
        jac = jax.jacobian(lambda x: {'a': x ** 2, 'b': (x[:2], jnp.cumsum(x))})(x)
        return (h, jj.sum(), vg, hv, g3, jac)

    return f


@given(normal(30))
def control_flow_mix(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x):
        def body(c, t):
            a, b = c
            a = lax.cond(t > 0, lambda a: a + t, lambda a: a * 0.9, a)
            return ((a, jnp.maximum(b, a)), (a, b))
        (a, b), ys = lax.scan(body, (0.0, -1.0), x)
        n = lax.while_loop(lambda s: s[0] < 100, lambda s: (s[0] * 1.5 + 1, s[1] + 1), (1.0, 0))
        sw = lax.switch(n[1] % 3, [lambda v: v, lambda v: v * 2, lambda v: -v], x[:4])
        fr = lax.fori_loop(0, 5, lambda i, s: s.at[i].add(x[i] * i), jnp.zeros(6))
        rev = lax.scan(lambda c, t: (c * 0.5 + t, c), 0.0, x, reverse=True)
        mapped = lax.map(lambda t: jnp.sin(t) + t, x)
        asc = lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (x * 0.1, x))
        cum = (lax.cummax(x), lax.cumsum(x, reverse=True), lax.cumlogsumexp(x))
        return (a, b, ys, n, sw, fr, rev, mapped, asc, cum)

    return f


@given(normal(4, 10), normal(2, 6, 4, 8), whole(10, 7))
def names_of_layers(jax):
    jnp, nn = jax.numpy, jax.nn

    def f(x, q, i):
        return (
            nn.relu(x), nn.gelu(x), nn.gelu(x, approximate=False), nn.silu(x), nn.elu(x), nn.selu(x), nn.celu(x), nn.softplus(x), nn.softmax(x, -1),
            nn.log_softmax(x, 0), nn.sigmoid(x), nn.log_sigmoid(x), nn.leaky_relu(x), nn.hard_tanh(x), nn.hard_sigmoid(x), nn.hard_swish(x),
            nn.relu6(x), nn.glu(x), nn.one_hot(i, 10), nn.standardize(x), nn.logsumexp(x, axis=1), nn.mish(x), nn.squareplus(x), nn.soft_sign(x),
            nn.sparse_plus(x), nn.sparse_sigmoid(x), nn.dot_product_attention(q, q, q), nn.dot_product_attention(q, q, q, is_causal=True),
            nn.dot_product_attention(q, q[:, :, :2], q[:, :, :2], scale=0.3),
            nn.log1mexp(jnp.abs(x) + 0.1), nn.identity(x), nn.silu(x) * nn.swish(x), nn.softmax(x, where=x > -1, axis=1),
        )

    return f


@given(normal(5, 6), normal(3, 5, 6))
def batches_in_many_forms(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x, y):
        f = lambda d, s: d['a'] @ d['b'] * s
        return (
            jax.vmap(f, in_axes=({'a': 0, 'b': None}, None))({'a': x, 'b': x[0]}, 2.0), jax.vmap(lambda a: a.sum(), in_axes=1)(x),
            jax.vmap(jax.vmap(lambda a, b: a * b, (0, None)), (None, 0), out_axes=1)(x[0], x[1]),
            jax.vmap(lambda a: (a, a.sum()), out_axes=(1, 0))(x), jax.vmap(lambda k, v: jnp.dot(k, v), in_axes=(0, -1))(x, x.T),
            jax.vmap(lambda a: lax.while_loop(lambda s: s.sum() < 10, lambda s: s + jnp.abs(s) + 1, a))(x),
            jax.vmap(lambda a: lax.cond(a[0] > 0, jnp.sin, jnp.cos, a))(x), jax.vmap(lambda a: jnp.linalg.inv(a @ a.T + jnp.eye(5)))(y),
            jax.vmap(lambda a, i: lax.dynamic_slice(a, (i,), (2,)), (0, 0))(x, jnp.arange(5) % 4),
            jax.vmap(lambda a, i: a.at[i].set(0.0))(x, jnp.arange(5)), jax.vmap(lambda a: jnp.convolve(a, x[0, :3]))(x),
            jax.vmap(lambda a: lax.scan(lambda c, t: (c + t, c * t), 0.0, a))(x), jax.vmap(jax.grad(lambda a: jnp.sort(a)[0] * a[1]))(x),
            jax.vmap(lambda a: jnp.interp(a, jnp.arange(6.0), a))(x), jax.vmap(lambda a: jnp.searchsorted(jnp.sort(a), a))(x),
            jax.vmap(lambda a: a / lax.psum(a, 'i'), axis_name='i')(x), jax.vmap(lambda a: jnp.where(a > 0, a, 0), in_axes=2, out_axes=-1)(y),
            jax.vmap(jnp.linalg.norm)(x), jax.vmap(functools.partial(jnp.sum, axis=0))(y), jax.vmap(lambda a, b=2.0: a * b)(x),
        )

    return f


@given(normal(64))
def spline_natural(jax):
    jnp = jax.numpy

    def f(y):
        x = jnp.linspace(0.0, 1.0, 64)
        h = jnp.diff(x)
        A = jnp.diag(jnp.concatenate([jnp.ones(1), 2 * (h[:-1] + h[1:]), jnp.ones(1)])) + jnp.diag(jnp.concatenate([jnp.zeros(1), h[1:]]), 1)
        A = A + jnp.diag(jnp.concatenate([h[:-1], jnp.zeros(1)]), -1)
        rhs = jnp.concatenate([jnp.zeros(1), 3 * (jnp.diff(y[1:]) / h[1:] - jnp.diff(y[:-1]) / h[:-1]), jnp.zeros(1)])
        c = jnp.linalg.solve(A, rhs)
        b = jnp.diff(y) / h - h * (2 * c[:-1] + c[1:]) / 3
        d = jnp.diff(c) / (3 * h)
        t = jnp.linspace(0, 0.999, 200)
        i = jnp.clip(jnp.searchsorted(x, t, side='right') - 1, 0, 62)
        u = t - x[i]
        return y[i] + u * (b[i] + u * (c[i] + u * d[i]))

    return f


@given(normal(32, 32))
def sobel_nonmax(jax):
    jnp, lax, jsp = jax.numpy, jax.lax, jax.scipy

    def f(img):
        k = jnp.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], jnp.float32)
        gx = jsp.signal.convolve2d(img, k, mode='same')
        gy = jsp.signal.convolve2d(img, k.T, mode='same')
        mag = jnp.hypot(gx, gy)
        ang = jnp.rad2deg(jnp.arctan2(gy, gx)) % 180
        p = jnp.pad(mag, 1)
        sh = lambda dy, dx: lax.dynamic_slice(p, (1 + dy, 1 + dx), mag.shape)
        q = ((ang + 22.5) // 45).astype(int) % 4
        n1 = jnp.select([q == 0, q == 1, q == 2], [sh(0, 1), sh(1, -1), sh(1, 0)], sh(-1, -1))
        n2 = jnp.select([q == 0, q == 1, q == 2], [sh(0, -1), sh(-1, 1), sh(-1, 0)], sh(1, 1))
        return (
            jnp.where((mag >= n1) & (mag >= n2), mag, 0.0), jax.image.resize(img, (16, 48), 'bilinear'), jax.image.resize(img, (64, 20), 'bicubic'),
            jsp.ndimage.map_coordinates(img, [jnp.linspace(0, 31, 9), jnp.linspace(0, 31, 9)], order=1, mode='nearest'),
        )

    return f


@given(normal(100, 2), whole(3, 100))
def naive_bayes_and_lda(jax):
    jnp, nn, jsp = jax.numpy, jax.nn, jax.scipy

    def f(x, y):
        oh = nn.one_hot(y, 3)
        n = oh.sum(0)
        mu = oh.T @ x / n[:, None]
        var = oh.T @ x ** 2 / n[:, None] - mu ** 2
        lp = jnp.log(n / n.sum()) + jsp.stats.norm.logpdf(x[:, None], mu, jnp.sqrt(var)).sum(-1)
        sw = jnp.einsum('nk,nki,nkj->ij', oh, x[:, None] - mu, x[:, None] - mu)
        sb = jnp.einsum('k,ki,kj->ij', n, mu - x.mean(0), mu - x.mean(0))
        w, v = jnp.linalg.eigh(jnp.linalg.inv(jnp.linalg.cholesky(sw)) @ sb @ jnp.linalg.inv(jnp.linalg.cholesky(sw)).T)
        return (lp.argmax(1), jnp.mean(lp.argmax(1) == y), jsp.special.logsumexp(lp, axis=1), w)

    return f


@given(normal(6, 6))
def floyd_and_matching(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(c):
        d = jnp.abs(c) + 10.0 * (c < 0)
        d = jnp.where(jnp.eye(6, dtype=bool), 0, d)
        d2 = lax.fori_loop(0, 6, lambda k, d: jnp.minimum(d, d[:, k, None] + d[None, k, :]), d)
        def greedy(carry, _):
            m, used = carry
            masked = jnp.where(used[0][:, None] | used[1][None, :], jnp.inf, c)
            i, j = jnp.unravel_index(jnp.argmin(masked), c.shape)
            return ((m.at[i].set(j), (used[0].at[i].set(True), used[1].at[j].set(True))), (i, j, c[i, j]))
        (m, _), tr = lax.scan(greedy, (jnp.full(6, -1), (jnp.zeros(6, bool), jnp.zeros(6, bool))), length=6)
        return (d2, m, tr)

    return f


@given(normal(40), normal(40))
def robust_fits(jax):
    jnp, lax, jsp = jax.numpy, jax.lax, jax.scipy

    def f(x, y):
        def huber(r, d=1.0):
            return jnp.where(jnp.abs(r) < d, 0.5 * r ** 2, d * (jnp.abs(r) - 0.5 * d))
        f = lambda p: huber(p[0] + p[1] * x - y).sum()
        r = jsp.optimize.minimize(f, jnp.zeros(2), method='BFGS')
        def irls(b, _):
            X = jnp.c_[jnp.ones(40), x]
            w = 1 / jnp.maximum(jnp.abs(X @ b - y), 0.001)
            return (jnp.linalg.solve((X * w[:, None]).T @ X, (X * w[:, None]).T @ y), None)
        b, _ = lax.scan(irls, jnp.zeros(2), None, 30)
        theil = jnp.nanmedian(jnp.where(jnp.eye(40, dtype=bool), jnp.nan, (y[:, None] - y) / (x[:, None] - x)))
        return (r.x, r.fun, b, theil, jnp.r_[x[:2], 0.0, y[:2]], jnp.s_[1:2].start)

    return f


@given(normal(3, 3), between(3))
def jacobians_of_solvers(jax):
    jnp, jsp = jax.numpy, jax.scipy

    def f(a, b):
        A = a @ a.T + 3 * jnp.eye(3)
        f = lambda A: jnp.linalg.solve(A, b)
        return (
            jax.jacobian(f)(A), jax.jacfwd(lambda A: jnp.linalg.inv(A))(A), jax.grad(lambda A: jnp.linalg.slogdet(A)[1])(A),
            jax.jacrev(lambda A: jnp.linalg.eigvalsh(A))(A), jax.grad(lambda A: jnp.linalg.cholesky(A).sum())(A),
            jax.grad(lambda A: jnp.linalg.svd(A, compute_uv=False).sum())(a), jax.grad(lambda A: jsp.linalg.expm(A).sum())(a),
            jax.jvp(jnp.linalg.det, (a,), (jnp.ones((3, 3)),)), jax.hessian(lambda b: b @ jnp.linalg.solve(A, b))(b),
            jax.grad(lambda A: jnp.linalg.qr(A)[1].sum())(a), jax.grad(lambda A: jnp.linalg.norm(A, 2))(a),
            jax.grad(lambda a: jnp.linalg.pinv(a).sum())(a),
        )

    return f


@given(of_bytes(6, 30), of_bytes(30, 5), of_bytes(2, 6, 6, 4), of_bytes(3, 3, 4, 5))
def products_in_wider_types(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(a, b, x, k):
        P = jnp.int32
        return (
            lax.dot(a, b, preferred_element_type=P), lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=P),
            jnp.dot(a, b, preferred_element_type=P), jnp.matmul(a, b, preferred_element_type=jnp.float32),
            jnp.einsum('ij,jk->ik', a, b, preferred_element_type=P),
            lax.conv_general_dilated(x, k, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'), preferred_element_type=P), lax.dot(a, b),
            lax.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=jnp.float32),
            lax.conv_transpose(x, k, (2, 2), 'SAME', preferred_element_type=P),
            lax.conv(x.astype(jnp.bfloat16), k.transpose(3, 2, 0, 1)[:, :3, :1, :1].repeat(2, 1).astype(jnp.bfloat16), (1, 1), 'SAME', preferred_element_type=jnp.float32),
            lax.dot(a.astype(jnp.float32), b.astype(jnp.float32), preferred_element_type=jnp.float32), jnp.inner(a, a, preferred_element_type=P),
            jnp.tensordot(a, b, 1, preferred_element_type=P), jnp.vdot(a, a, preferred_element_type=P),
        )

    return f


@given(normal(20), whole(9, 20))
def arrays_of_truth_values(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(v, c):
        m = v > 0
        z = jnp.zeros(8, bool)
        return (
            z.at[c].max(m), z.at[c].min(m), jnp.ones(8, bool).at[c].min(m), z.at[c].set(m), z.at[3].max(m[0]), jnp.maximum(m, m[::-1]),
            jnp.minimum(m, m[::-1]), jax.ops.segment_max(m, c, 9), jax.ops.segment_min(m, c, 9), m.max(), m.min(), jnp.sort(m), jnp.argsort(m),
            jnp.argmax(m), jnp.cumsum(m), m.prod(), jnp.unique(m, size=2), jnp.where(m, m, ~m), lax.reduce(m, False, lax.bitwise_or, (0,)),
            lax.cummax(m.astype(int)), jnp.logical_or.reduce(m), jnp.bincount(m, length=2), m.sum(), m.mean(), jnp.median(v), jnp.roll(m, 1),
            jnp.flip(m), m @ v, jnp.dot(m, m), jnp.tensordot(m, v, 1), jnp.einsum('i,i', m, v), jnp.take(m, c), jnp.repeat(m, 2), jnp.pad(m, 1),
            jnp.diff(m.astype(int)), m * v, m + 1, -v * m, jnp.clip(m, False, True), jnp.logical_xor(m, m[::-1]), jnp.any(m), jnp.all(m),
            jnp.count_nonzero(m), jnp.stack([m, ~m]), m == True, m < m[::-1], jnp.select([m], [v], 0), lax.select(m, v, -v), jnp.nonzero(m, size=3),
            jnp.isin(c, c[:3]), m.astype(jnp.int8), jnp.dot(m.astype(jnp.float32), v),
        )

    return f


@given(normal(4, 16, 32), normal(32, 96), normal(32, 32), normal(2, 64, 32))
def kv_cache_decode_with_rope(jax):
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn

    def f(x, wqkv, wo, cache):
        def rope(x, pos):
            d = x.shape[-1] // 2
            freq = 10000 ** (-jnp.arange(d) / d)
            a = pos[:, None] * freq
            x1, x2 = jnp.split(x, 2, axis=-1)
            return jnp.concatenate([x1 * jnp.cos(a) - x2 * jnp.sin(a), x2 * jnp.cos(a) + x1 * jnp.sin(a)], -1)
        def step(carry, xt):
            (k_c, v_c), t = carry
            q, k, v = jnp.split(xt @ wqkv * 0.1, 3, -1)
            q, k = (rope(q[None], jnp.array([t])), rope(k[None], jnp.array([t])))
            k_c = lax.dynamic_update_slice(k_c, k, (t, 0))
            v_c = lax.dynamic_update_slice_in_dim(v_c, v[None], t, axis=0)
            mask = jnp.arange(64) <= t
            s = jnp.where(mask, (q @ k_c.T)[0] / jnp.sqrt(32.0), -jnp.inf)
            return (((k_c, v_c), t + 1), nn.softmax(s) @ v_c @ wo)
        return jax.vmap(lambda xs: lax.scan(step, ((cache[0], cache[1]), 0), xs)[1])(x)

    return f


@given(normal(64, 3))
def icp_and_umeyama(jax):
    jnp, lax, jsp = jax.numpy, jax.lax, jax.scipy

    def f(p):
        R = jsp.linalg.expm(jnp.array([[0, -0.3, 0.1], [0.3, 0, -0.2], [-0.1, 0.2, 0]]))
        q = p @ R.T + jnp.array([0.1, 0.2, -0.3])
        def it(T, _):
            Rt, t = T
            pp = p @ Rt.T + t
            j = jnp.argmin(((pp[:, None] - q[None]) ** 2).sum(-1), 1)
            y = q[j]
            mp, my = (p.mean(0), y.mean(0))
            u, s, vt = jnp.linalg.svd((y - my).T @ (p - mp))
            D = jnp.diag(jnp.array([1.0, 1.0, jnp.linalg.det(u @ vt)]))
            Rn = u @ D @ vt
            return ((Rn, my - Rn @ mp), jnp.linalg.norm(Rn - R))
        (Rf, tf), err = lax.scan(it, (jnp.eye(3), jnp.zeros(3)), None, length=15)
        return (Rf @ Rf.T, err[-1], tf)

    return f


@given(normal(50, 2), normal(3, 2))
def gmm_em_full_cov(jax):
    jnp, lax, jsp = jax.numpy, jax.lax, jax.scipy

    def f(x, mu):
        def e(params):
            mu, cov, pi = params
            lp = jax.vmap(lambda m, c: jsp.stats.multivariate_normal.logpdf(x, m, c))(mu, cov).T + jnp.log(pi)
            return (jnp.exp(lp - jsp.special.logsumexp(lp, axis=1, keepdims=True)), jsp.special.logsumexp(lp, axis=1).mean())
        def step(params, _):
            r, ll = e(params)
            nk = r.sum(0) + 1e-06
            mu = r.T @ x / nk[:, None]
            d = x[:, None] - mu
            cov = jnp.einsum('nk,nki,nkj->kij', r, d, d) / nk[:, None, None] + 0.01 * jnp.eye(2)
            return ((mu, cov, nk / nk.sum()), ll)
        return lax.scan(step, (mu, jnp.tile(jnp.eye(2), (3, 1, 1)), jnp.ones(3) / 3), None, 20)

    return f


@given(normal(16, 16))
def multigrid_v_cycle(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(f):
        def smooth(u, f, h, n):
            def body(_, u):
                p = jnp.pad(u, 1)
                return u + 0.8 * ((p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - h * h * f) / 4 - u)
            return lax.fori_loop(0, n, body, u)
        def res(u, f, h):
            p = jnp.pad(u, 1)
            return f - (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u) / (h * h)
        def cycle(u, f, h):
            u = smooth(u, f, h, 3)
            if u.shape[0] > 4:
                r = res(u, f, h).reshape(u.shape[0] // 2, 2, -1, 2).mean((1, 3))
                e = cycle(jnp.zeros_like(r), r, 2 * h)
                u = u + jnp.repeat(jnp.repeat(e, 2, 0), 2, 1)
            return smooth(u, f, h, 3)
        u = jnp.zeros_like(f)
        for _ in range(3):
            u = cycle(u, f, 1 / 16)
        return (u, jnp.abs(res(u, f, 1 / 16)).max())

    return f


@given(normal(3))
def lorenz_rk4_with_sensitivities(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(s):
        def f(s, p):
            x, y, z = s
            a, b, c = p
            return jnp.stack([a * (y - x), x * (b - z) - y, x * y - c * z])
        def rk4(s, p, dt=0.01):
            k1 = f(s, p)
            k2 = f(s + dt / 2 * k1, p)
            k3 = f(s + dt / 2 * k2, p)
            k4 = f(s + dt * k3, p)
            return s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        run = lambda p: lax.fori_loop(0, 100, lambda i, s: rk4(s, p), s)
        p = jnp.array([10.0, 28.0, 8 / 3])
        return (run(p), jax.jacfwd(run)(p), jax.jacrev(lambda p: lax.scan(lambda s, _: (rk4(s, p), None), s, None, length=50)[0])(p))

    return f


@given(whole(4, 30), whole(4, 25))
def needleman_wunsch_traceback(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(a, b):
        sub = jnp.where(a[:, None] == b[None], 2, -1)
        def row(prev, i):
            def cell(left, j):
                v = jnp.maximum(jnp.maximum(prev[j] + sub[i, j], prev[j + 1] - 2), left - 2)
                return (v, v)
            first = -2 * (i + 1)
            _, r = lax.scan(cell, first, jnp.arange(25))
            r = jnp.concatenate([first[None], r])
            return (r, r)
        first = -2 * jnp.arange(26)
        _, rows = lax.scan(row, first, jnp.arange(30))
        H = jnp.concatenate([first[None], rows])
        def cond(s):
            return (s[0] > 0) & (s[1] > 0)
        def body(s):
            i, j, path, n = s
            diag = H[i, j] == H[i - 1, j - 1] + sub[i - 1, j - 1]
            up = H[i, j] == H[i - 1, j] - 2
            i2 = jnp.where(diag | up, i - 1, i)
            j2 = jnp.where(diag | ~up, j - 1, j)
            return (i2, j2, path.at[n].set(jnp.stack([i2, j2])), n + 1)
        i, j, path, n = lax.while_loop(cond, body, (30, 25, jnp.full((60, 2), -1), 0))
        return (H[-1, -1], path, n)

    return f


@given(between(2000))
def sieve_and_number_theory(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(u):
        n = 500
        def mark(i, s):
            return jnp.where((jnp.arange(n) % i == 0) & (jnp.arange(n) > i) & s[i], False, s)
        p = lax.fori_loop(2, 23, mark, jnp.ones(n, bool).at[:2].set(False))
        primes = jnp.nonzero(p, size=95, fill_value=0)[0]
        gcd = jnp.gcd(primes[:10], 30)
        lcm = jnp.lcm(jnp.arange(1, 11), 6)
        def powmod(b, e, m):
            return lax.fori_loop(0, 10, lambda k, s: (jnp.where(e >> k & 1, s[0] * s[1] % m, s[0]), s[1] * s[1] % m), (1, b))[0]
        hail = lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1)
        collatz = jax.vmap(lambda n: lax.while_loop(lambda s: s[0] != 1, hail, (n, 0))[1])(jnp.arange(1, 30))
        pi = 4 * jnp.mean(u[::2] ** 2 + u[1::2] ** 2 < 1)
        return (
            p.sum(), primes, gcd, lcm, jax.vmap(powmod, (0, None, None))(jnp.arange(1, 8), 77, 101), collatz, pi, jnp.cumsum(p)[-5:],
            jnp.flip(primes)[:3],
        )

    return f


@given(normal(12, 12), between(12, 12))
def transforms_and_filters_of_images(jax):
    jnp, lax, jsp = jax.numpy, jax.lax, jax.scipy

    def f(x, u):
        d = jsp.fft.dctn(x, norm='ortho')
        k = jnp.abs(d) >= jnp.sort(jnp.abs(d).ravel())[-30]
        y = jsp.fft.idctn(jnp.where(k, d, 0), norm='ortho')
        w = jnp.hanning(12)
        g = jnp.exp(-jnp.linspace(-2, 2, 5) ** 2)
        g = g / g.sum()
        blur = jax.vmap(lambda r: jnp.convolve(r, g, mode='same'))(jax.vmap(lambda c: jnp.convolve(c, g, mode='same'), 1, 1)(x))
        win = jnp.stack([x[i:i + 10, j:j + 10] for i in range(3) for j in range(3)], -1)
        med = jnp.median(win, -1)
        dil = win.max(-1)
        ero = lax.reduce_window(x, jnp.inf, lax.min, (3, 3), (1, 1), 'SAME')
        integral = jnp.cumsum(jnp.cumsum(x, 0), 1)
        around = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
        lbp = sum(((x[1 + dy:11 + dy, 1 + dx:11 + dx] > x[1:11, 1:11]).astype(jnp.uint8) << b for b, (dy, dx) in enumerate(around)))
        hist = jnp.histogram(u, bins=8, range=(0.0, 1.0))[0]
        otsu = jnp.argmax(jnp.cumsum(hist) * (hist.sum() - jnp.cumsum(hist)))
        rot = jsp.ndimage.map_coordinates(x, jnp.stack(jnp.meshgrid(jnp.arange(12.0), jnp.arange(12.0), indexing='ij'))[::-1], order=1)
        psnr = 20 * jnp.log10(1 / jnp.sqrt(jnp.mean((x - y) ** 2)))
        return (
            y, w, blur, med, dil, ero, integral, lbp, hist, otsu, rot, psnr, jnp.fft.fftshift(jnp.abs(jnp.fft.fft2(x * w * w[:, None]))),
        )

    return f


@given(normal(6, 4), normal(5))
def jacobian_products_and_linearize(jax):
    jnp = jax.numpy

    def f(W, x):
        f = lambda W: jnp.tanh(W.T @ W).sum(0)
        y, lin = jax.linearize(f, W)
        t = lin(jnp.ones_like(W))
        y2, vjp = jax.vjp(f, W)
        ct, = vjp(jnp.arange(4.0))
        hvp = lambda v: jax.grad(lambda W: jnp.vdot(jax.grad(lambda W: f(W).sum())(W), v))(W)
        gn = jax.vjp(f, W)[1](jax.jvp(f, (W,), (W,))[1])[0]
        tr = jax.linear_transpose(lambda v: jnp.cumsum(v)[::2], x)(jnp.ones(3))[0]
        diag = jax.vmap(lambda e: jnp.vdot(e, jax.jvp(jax.grad(lambda x: jnp.sum(jnp.sin(x) ** 3)), (x,), (e,))[1]))(jnp.eye(5))
        gr, aux = jax.grad(lambda x: (jnp.sum(x ** 2), {'m': x.mean()}), has_aux=True)(x)
        a, b = jax.grad(lambda a, b: (a * b ** 2).sum(), argnums=(0, 1))(x, x)
        holo = jax.grad(lambda z: jnp.sin(z) * z, holomorphic=True)(1.0 + 2j)
        return (
            t, ct, hvp(W), gn, tr, diag, gr, aux, a, b, holo.real, holo.imag, jax.jacfwd(jax.jacrev(lambda x: jnp.outer(x, x ** 2)))(x),
            jax.vjp(lambda x: {'s': jnp.sin(x), 'c': [jnp.cos(x)]}, x)[1]({'s': x, 'c': [x]})[0], jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x),
            jax.value_and_grad(jax.checkpoint(lambda x: jnp.sin(x @ x)))(x),
        )

    return f


@given(normal(100, 4), whole(3, 100), normal(4, 3))
def metrics_of_classifiers(jax):
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn

    def f(x, y, w):
        logits = x @ w
        p = nn.softmax(logits)
        pred = logits.argmax(-1)
        cm = jnp.zeros((3, 3), int).at[y, pred].add(1)
        prec = jnp.diag(cm) / jnp.maximum(cm.sum(0), 1)
        rec = jnp.diag(cm) / jnp.maximum(cm.sum(1), 1)
        top2 = jnp.any(lax.top_k(logits, 2)[1] == y[:, None], axis=1).mean()
        s, t = (p[:, 1], y == 1)
        o = jnp.argsort(-s)
        tp = jnp.cumsum(t[o])
        fp = jnp.cumsum(~t[o])
        auc = jnp.trapezoid(tp / tp[-1], fp / fp[-1])
        ece = jnp.abs(jax.ops.segment_sum((pred == y) - p.max(1), (p.max(1) * 10).astype(int), 10)).sum() / 100
        ce = -jnp.take_along_axis(nn.log_softmax(logits), y[:, None], 1).mean()
        nll = -jnp.log(p[jnp.arange(100), y]).mean()
        focal = (-(1 - p[jnp.arange(100), y]) ** 2 * jnp.log(p[jnp.arange(100), y])).mean()
        hinge = jnp.maximum(0, 1 + logits - logits[jnp.arange(100), y][:, None]).sum(1).mean()
        kappa = (jnp.trace(cm) / 100 - (cm.sum(0) * cm.sum(1)).sum() / 10000.0) / (1 - (cm.sum(0) * cm.sum(1)).sum() / 10000.0)
        dice = 2 * (t & (pred == 1)).sum() / (t.sum() + (pred == 1).sum())
        mi = (lambda j: jnp.sum(jnp.where(j > 0, j * jnp.log(j / (j.sum(0) * j.sum(1, keepdims=True))), 0)))(cm / 100)
        return (
            cm, prec, rec, top2, auc, ece, ce, nll, focal, hinge, kappa, dice, mi, jnp.corrcoef(x.T), jnp.mean(jnp.square(x), where=x > 0),
           
        )

    return f


@given(normal(24), normal(24))
def class_based_layers(jax):
    jnp, nn = jax.numpy, jax.nn

    def f(x, t):
        class Dense:
            def __init__(self, k, i, o):
                self.w = jnp.sin(jnp.arange(i * o, dtype=jnp.float32) * k).reshape(i, o) / jnp.sqrt(i)
                self.b = jnp.zeros(o)

            def __call__(self, x):
                return x @ self.w + self.b

            @property
            def params(self):
                return {'w': self.w, 'b': self.b}

            def replace(self, p):
                n = object.__new__(Dense)
                n.w, n.b = (p['w'], p['b'])
                return n
        class Seq(list):
            def __call__(self, x):
                for l in self:
                    x = l(x)
                return x
        net = Seq([Dense(1, 24, 16), nn.gelu, Dense(2, 16, 16), lambda v: v / (1e-06 + jnp.linalg.norm(v)), Dense(3, 16, 24)])
        def loss(ps):
            it = iter(ps)
            m = Seq([l.replace(next(it)) if isinstance(l, Dense) else l for l in net])
            return jnp.mean(jnp.abs(m(x) - t) ** 1.5)
        ps = [l.params for l in net if isinstance(l, Dense)]
        m = jax.tree.map(jnp.zeros_like, ps)
        v = jax.tree.map(jnp.zeros_like, ps)
        hist = []
        for i in range(1, 6):
            l, g = jax.value_and_grad(loss)(ps)
            m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
            v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
            ps = jax.tree.map(lambda p, m, v: p - 0.01 * (m / (1 - 0.9 ** i)) / (jnp.sqrt(v / (1 - 0.999 ** i)) + 1e-08), ps, m, v)
            hist.append(l)
        gn = jnp.sqrt(sum((jnp.vdot(q, q) for q in jax.tree.leaves(ps))))
        return (jnp.stack(hist), gn, jax.tree.map(lambda a: a.sum(), ps))

    return f


@given(normal(8, 8), whole(8, 20), whole(8, 20), normal(20))
def sparse_coo_csr_graphs(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(A, r, c, v):
        o = jnp.lexsort((c, r))
        rs, cs, vs = (r[o], c[o], v[o])
        ptr = jnp.searchsorted(rs, jnp.arange(9))
        x = A[0]
        y = jax.ops.segment_sum(vs * x[cs], rs, num_segments=8, indices_are_sorted=True)
        dense = jnp.zeros((8, 8)).at[r, c].add(v)
        deg = jnp.bincount(r, length=8)
        lap = jnp.diag(dense.sum(1)) - dense
        att = jnp.exp(v - jax.ops.segment_max(v, r, 8)[r])
        att = att / jax.ops.segment_sum(att, r, 8)[r]
        def bfs(s):
            def body(st):
                d, f, k = st
                nf = jnp.zeros(8, bool).at[c].max(f[r]) & (d < 0)
                return (jnp.where(nf, k, d), nf, k + 1)
            return lax.while_loop(lambda st: st[1].any(), body, (jnp.where(jnp.arange(8) == s, 0, -1), jnp.arange(8) == s, 1))[0]
        tri = jnp.trace(jnp.linalg.matrix_power((dense != 0).astype(jnp.float32), 3)) / 6
        lab = lax.fori_loop(0, 8, lambda _, l: jnp.minimum(l, jnp.full(8, 99).at[c].min(l[r])), jnp.arange(8))
        return (
            y, dense @ x, ptr, deg, lap, att, jax.vmap(bfs)(jnp.arange(8)), tri, lab, jnp.unique(lab, size=8, fill_value=-1, return_counts=True),
            jax.grad(lambda v: (jnp.zeros((8, 8)).at[r, c].add(v) @ x).sum())(v),
        )

    return f
