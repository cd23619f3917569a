"""Idioms of JAX's users, compared with results of JAX: structures, modes, dimension numbers, names, methods and transformations of all kinds."""
import collections
import dataclasses
import functools
import operator

import numpy as np

from trace_programs import program

RNG = np.random.default_rng(5)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def between(*shape):
    return RNG.uniform(0.05, 0.95, size=shape).astype(np.float32)


def given(*arguments):
    return program(lambda rng: arguments, 1e-3)


@given(normal(4, 5), normal(5, 3), normal(3))
def chain_of_optimizers(jax):
    jnp = jax.numpy
    State = collections.namedtuple('State', 'count mu nu')

    class GT(collections.namedtuple('GT', 'init update')):
        pass

    def scale_by_adam(b1=0.9, b2=0.999, eps=1e-08):
        def init(p):
            return State(jnp.zeros([], jnp.int32), jax.tree_util.tree_map(jnp.zeros_like, p), jax.tree_util.tree_map(jnp.zeros_like, p))

        def update(g, s, p=None):
            mu = jax.tree_util.tree_map(lambda a, t: b1 * t + (1 - b1) * a, g, s.mu)
            nu = jax.tree_util.tree_map(lambda a, t: b2 * t + (1 - b2) * a ** 2, g, s.nu)
            c = s.count + 1
            mh = jax.tree_util.tree_map(lambda t: t / (1 - b1 ** c).astype(t.dtype), mu)
            nh = jax.tree_util.tree_map(lambda t: t / (1 - b2 ** c.astype(jnp.float32)), nu)
            return (jax.tree_util.tree_map(lambda m, v: m / (jnp.sqrt(v) + eps), mh, nh), State(c, mu, nu))

        return GT(init, update)

    def clip(norm):
        def update(g, s, p=None):
            gn = jnp.sqrt(sum((jnp.sum(jnp.square(x)) for x in jax.tree_util.tree_leaves(g))))
            t = gn < norm
            return (jax.tree_util.tree_map(lambda x: jax.lax.select(t, x, x / gn.astype(x.dtype) * norm), g), s)

        return GT(lambda p: (), update)

    def sched(step):
        return 0.1 * 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(step, 10) / 10))

    def by_schedule():
        def update(g, s, p=None):
            return (jax.tree_util.tree_map(lambda x: -sched(s) * x, g), s + 1)

        return GT(lambda p: jnp.zeros([], jnp.int32), update)

    def chain(*ts):
        def init(p):
            return tuple((t.init(p) for t in ts))

        def update(g, s, p=None):
            new = []
            for t, ss in zip(ts, s):
                g, ss = t.update(g, ss, p)
                new.append(ss)
            return (g, tuple(new))

        return GT(init, update)

    opt = chain(clip(1.0), scale_by_adam(), by_schedule())

    def f(x, w, b):
        p = {'w': w, 'b': b}
        loss = lambda p: jnp.mean(jnp.square(jnp.tanh(x @ p['w'] + p['b']) - 0.5))

        def step(c, _):
            p, s = c
            l, g = jax.value_and_grad(loss)(p)
            up, s = opt.update(g, s, p)
            return ((jax.tree_util.tree_map(lambda a, b: a + b, p, up), s), l)

        return jax.lax.scan(step, (p, opt.init(p)), None, 12)

    return f


@given(normal(6, 4))
def modules_as_dataclasses(jax):
    jnp = jax.numpy

    @functools.partial(jax.tree_util.register_dataclass, data_fields=['w', 'b'], meta_fields=['act'])
    @dataclasses.dataclass
    class Linear:
        w: object
        b: object
        act: str = 'relu'
    
        def __call__(self, x):
            return getattr(jax.nn, self.act)(self.w @ x + self.b)

    def f(x):
        ws = [Linear(jnp.ones((5, 4)) * 0.1, jnp.arange(5.0) / 5, 'gelu'), Linear(jnp.linspace(-1, 1, 15).reshape(3, 5), jnp.zeros(3), 'softplus')]

        def net(ls, x):
            return functools.reduce(lambda h, l: l(h), ls, x)

        def loss(ls):
            return jnp.mean(jax.vmap(functools.partial(net, ls))(x) ** 2)

        g = jax.grad(loss)(ws)
        flat, tree = jax.tree_util.tree_flatten(g)
        paths = [jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_flatten_with_path(g)[0]]
        assert paths == ['[0].w', '[0].b', '[1].w', '[1].b'], paths
        new = jax.tree_util.tree_unflatten(tree, [a - 0.1 * d for a, d in zip(jax.tree_util.tree_leaves(ws), flat)])
        return (new, loss(new), jax.tree_util.tree_reduce(lambda a, b: a + jnp.sum(b), g, 0.0), jax.tree_util.tree_all(jax.tree_util.tree_map(lambda a: a.ndim > 0, g)))

    return f


@given(normal(5), normal(3, 3))
def rules_with_static_arguments(jax):
    jnp = jax.numpy

    @functools.partial(jax.custom_jvp, nondiff_argnums=(0, 2))
    def app(f, x, k):
        return f(x) * k

    @app.defjvp
    def app_jvp(f, k, primals, tangents):
        x, = primals
        t, = tangents
        return (app(f, x, k), 2 * k * jnp.cos(x) * t)

    @functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
    def clip_g(x, lim):
        return x * 2

    clip_g.defvjp(lambda x, lim: (x * 2, x), lambda lim, res, ct: (jnp.clip(ct * res, -lim, lim),))

    @jax.custom_jvp
    def safe(x, y):
        return x / jnp.where(y == 0, 1, y)

    safe.defjvps(lambda t, ans, x, y: t / jnp.where(y == 0, 1.0, y), None)

    def f(x, m):
        a = jax.grad(lambda x: app(jnp.sin, x, 3).sum())(x)
        b = jax.jacfwd(lambda x: app(jnp.sin, x, 2))(x)
        c = jax.grad(lambda m: jnp.sum(clip_g(m, 0.5) ** 2))(m)
        d = jax.vmap(jax.grad(lambda r: clip_g(r, 0.1).sum()))(m)
        e = jax.grad(lambda x, y: safe(x, y).sum(), (0, 1))(x, x)
        g = jax.hessian(lambda x: app(jnp.sin, x, 3).sum())(x)
        return (a, b, c, d, e, g)

    return f


@given(normal(3, 4, 5), normal(4, 5, 2))
def batches_of_structures(jax):
    jnp = jax.numpy

    def f(a, b):
        d = {'p': a, 'q': (b, 2.0)}
        one = jax.vmap(lambda d, s: d['p'].sum() * s + d['q'][0] @ jnp.ones(2) * d['q'][1], in_axes=({'p': 2, 'q': (1, None)}, None))(d, 3.0)
        two = jax.vmap(lambda x: x * 2, in_axes=-1, out_axes=-2)(a)
        three = jax.vmap(jax.vmap(lambda x, y: jnp.outer(x, y), (0, None)), (None, -1), out_axes=-1)(a[:, 0], b[:, 0])
        four = jax.vmap(lambda x: {'s': x.sum(), 'm': x}, out_axes={'s': 0, 'm': 1})(a)
        five = jax.vmap(lambda **k: k['x'] - k['y'].mean())(x=a, y=a[::-1])
        six = jax.vmap(lambda x: (x.mean(), 7), out_axes=(0, None))(a)
        return (one, two, three, four, five, six)

    return f


@given(normal(10, 3))
def scans_of_structures(jax):
    jnp = jax.numpy

    def f(xs):
        def step(c, x):
            s, (i, h) = c
            x, k = (x['x'], x['k'])
            h = {'a': jnp.tanh(h['a'] + x), 'b': h['b'] * 0.9 + k}
            return ((s + x.sum(), (i + 1, h)), {'y': h['a'][::-1], 'i': i})

        init = (0.0, (jnp.int32(3), {'a': jnp.zeros(3), 'b': 1.0}))
        r1 = jax.lax.scan(step, init, {'x': xs, 'k': jnp.arange(10)}, reverse=True)
        r2 = jax.lax.scan(step, init, {'x': xs, 'k': jnp.arange(10)}, unroll=4)
        r3 = jax.lax.scan(lambda c, _: (c * 2, c), jnp.float32(1), None, length=5, unroll=True)
        r4 = jax.lax.scan(lambda c, x: (None, x + 1), None, xs)
        g = jax.grad(lambda xs: jax.lax.scan(step, init, {'x': xs, 'k': jnp.arange(10.0)}, reverse=True, unroll=3)[0][1][1]['a'].sum())(xs)
        return (r1, r2, r3, r4, g)

    return f


@given(normal(8), np.int32(5))
def loops_of_structures(jax):
    jnp = jax.numpy

    def f(x, k):
        def cond(s):
            return (s['i'] < k) & jnp.all(jnp.abs(s['v'][0]) < 100)

        def body(s):
            return dict(s, i=s['i'] + 1, v=[s['v'][0] * 1.5, s['v'][1].at[s['i']].set(s['v'][0].sum())])

        r = jax.lax.while_loop(cond, body, {'i': 0, 'v': [x, jnp.zeros(8)], 'z': (k, True)})
        t = jax.lax.fori_loop(jnp.int32(2), k, lambda i, c: (c[0] + i, c[1] * x[i]), (0, 1.0))
        b = jax.vmap(lambda m: jax.lax.while_loop(lambda c: c[0] < m, lambda c: (c[0] + 1, c[1] * 2), (0, 1.0)))(jnp.arange(5))
        j = jax.jvp(lambda x: jax.lax.while_loop(lambda c: c[1] < 4, lambda c: (jnp.sin(c[0]) + x, c[1] + 1), (x, 0))[0], (x,), (x * 2,))
        return (r, t, b, j)

    return f


@given(normal(13, 2), between(13), normal(13, 2, 2))
def more_scans_by_association(jax):
    jnp = jax.numpy

    def f(x, a, m):
        lin = jax.lax.associative_scan(lambda l, r: (l[0] * r[0], r[0][:, None] * l[1] + r[1]), (a, x))
        rev = jax.lax.associative_scan(jnp.maximum, x, reverse=True, axis=0)
        mat = jax.lax.associative_scan(lambda p, q: q @ p, m)
        ax = jax.lax.associative_scan(jnp.add, x, axis=1)
        g = jax.grad(lambda a: jax.lax.associative_scan(lambda l, r: {'a': l['a'] * r['a'], 'b': r['a'] * l['b'] + r['b']}, {'a': a, 'b': x[:, 0]})['b'][-1])(a)
        return (
            lin, rev, mat, ax, g, jax.lax.cumlogsumexp(x, axis=0), jax.lax.cummax(x, axis=1, reverse=True), jax.lax.cumprod(a, reverse=True),
            jax.lax.cummin(x),
        )

    return f


@given(normal(7, 3), np.array([0, 2, 2, 1, 9, -1, 2]), normal(7))
def segments_and_modes(jax):
    jnp = jax.numpy

    def f(x, s, w):
        o = jax.ops
        s = jnp.asarray(s)
        return (
            o.segment_sum(x, s, num_segments=4), o.segment_max(w, s, 4), o.segment_min(x, s, num_segments=4),
            o.segment_prod(x, s, num_segments=4), o.segment_sum(x, jnp.array([0, 0, 1, 1, 1, 2, 3]), num_segments=4, indices_are_sorted=True),
            jax.vmap(lambda c: o.segment_sum(c, s, 3), 1, 1)(x), jax.grad(lambda x: (o.segment_max(x, s, 4).at[3].set(0.0) ** 2).sum())(x),
            o.segment_sum(jnp.ones(7, jnp.int32), s, num_segments=3), o.segment_sum(x, s, num_segments=4, mode='clip'),
            o.segment_sum(x, s, num_segments=4, bucket_size=3),
        )

    return f


@given(normal(5, 6), np.array([0, 9, 3]), normal(3))
def updates_and_modes(jax):
    jnp = jax.numpy

    def f(x, i, v):
        y = x[:, 0]
        return (
            y.at[i].set(v), y.at[i].add(v, mode='clip'), y.at[i].mul(v, mode='drop'), y.at[i].min(v, mode='fill'), y.at[i].max(0.0),
            y.at[i].get(mode='fill', fill_value=-7.0), y.at[i].get(mode='clip'), y.at[i].get(), y.at[-1].power(2), y.at[1:4].divide(2.0),
            y.at[::2].subtract(1), y.at[jnp.array([0, 0, 1])].add(v), x.at[1, ::2].set(jnp.arange(3)), x.at[..., -1].apply(jnp.exp),
            x.at[jnp.array([0, 1])[:, None], jnp.array([2, 3])].set(9), x.at[:, None, 0].get(),
            jax.grad(lambda v: (y.at[i].set(v) ** 2).sum())(v), jax.grad(lambda v: (y.at[i].add(v, mode='clip') ** 2).sum())(v),
            jax.grad(lambda x: x.at[1].mul(2.0).sum())(x), jax.grad(lambda y: (y.at[jnp.array([0, 1, 2])].max(v) ** 2).sum())(y),
        )

    return f


@given(normal(2, 3, 4), normal(4, 3, 5), normal(3, 3), normal(2, 5))
def einsum_of_all_kinds(jax):
    jnp = jax.numpy

    def f(a, b, c, d):
        e = jnp.einsum
        return (
            e('ijk,kjl->il', a, b), e('ijk,kjl,il->ij', a, b, d), e('ii', c), e('ii->i', c), e('...k->k...', a), e('ij...,jk->ik...', a, c),
            e('ijk', a), e('kji', a), e(a, [0, 1, 2], b, [2, 1, 3], [0, 3]), e('i,j->ij', d[0], d[1]), e('ij,ij->', d, d), e('ijk->', a),
            e('bij,bkj->bik', a, a), e('ij,kl->ijkl', c, d), e('i...,i...->...', a, a), e('ijk,ljk->il', a, a, optimize='optimal'),
            e('ij,jk,kl,lm->im', c, c, c, c), e('iji->j', jnp.stack([c, c, c])), e('ij,j->i', c, jnp.arange(3)),
            e('...ij,...jk->...ik', a[None], b[:2, :, :].swapaxes(1, 2)[:, :4, :][None]), jax.grad(lambda a: e('ijk,kjl,il->', a, b, d))(a),
            e('ab,ab->ab', d, d, preferred_element_type=jnp.float32), jnp.tensordot(a, b, ([1, 2], [1, 0])), jnp.tensordot(a, b, axes=1),
            jnp.kron(c, d), jnp.vdot(c, c), jnp.matvec(c, c[0]), jnp.vecmat(c[0], c), jnp.vecdot(c, c), jnp.linalg.multi_dot([c, c, c[:, 0]]),
        )

    return f


@given(normal(4, 5, 5), normal(4, 5), normal(4, 5, 3), normal(3, 7, 4))
def linear_algebra_in_batches(jax):
    jnp = jax.numpy

    def f(a, b, c, t):
        L = jnp.linalg
        s = a @ a.mT + 5 * jnp.eye(5)
        q, r = L.qr(t)
        q2, r2 = L.qr(t, mode='complete')
        uu, sv, vt = L.svd(t, full_matrices=False)
        w, v = L.eigh(s)
        return (
            L.cholesky(s), L.solve(s, c), L.inv(s), L.det(s), L.slogdet(a), jnp.abs(r), jnp.abs(r2), q @ r, q2.shape, sv, uu * sv[:, None] @ vt,
            w, L.eigvalsh(s), L.matrix_power(s, 3), L.norm(a, axis=(1, 2)), L.norm(a, 'nuc', axis=(-2, -1)), L.norm(b, 1, axis=1),
            L.norm(b, jnp.inf), L.pinv(t), L.matrix_rank(t), L.lstsq(t[0], t[0][:, 0])[0], L.cond(s[0]), L.trace(a), L.diagonal(a, offset=1),
            L.cross(b[:, :3], b[:, 2:]), L.outer(b[0], b[1]), L.tensorinv(s[:, :4, :4].reshape(4, 4, 4)[0].reshape(2, 2, 2, 2), 2), L.svdvals(t),
            L.matrix_norm(a, ord=2), L.vector_norm(a, axis=(0, 1), ord=3), jax.scipy.linalg.cho_solve((L.cholesky(s), True), c),
            jax.scipy.linalg.solve_triangular(jnp.tril(s), c, lower=True, trans='T'), jax.scipy.linalg.lu_factor(s)[0],
            jax.scipy.linalg.expm(a[0] / 5), jax.scipy.linalg.toeplitz(b[0]), jax.scipy.linalg.lu(s[0]),
            jax.grad(lambda a: L.slogdet(a)[1].sum())(a), jax.grad(lambda s: L.eigh(s)[0][:, 0].sum())(s), jax.vmap(L.inv)(s),
        )

    return f


@given(normal(2, 3, 10, 9), normal(4, 3, 3, 2), normal(6, 1, 3, 3), normal(2, 9, 10, 3))
def convolutions_by_numbers(jax):
    jnp = jax.numpy
    lax = jax.lax

    def f(x, w, wg, xh):
        c = lax.conv_general_dilated
        dn = lax.conv_dimension_numbers(xh.shape, (3, 2, 3, 4), ('NHWC', 'HWIO', 'NHWC'))
        return (
            c(x, w, (2, 1), [(1, 2), (0, 1)], lhs_dilation=(2, 1), rhs_dilation=(1, 2)), c(x, wg, (1, 1), 'SAME', feature_group_count=3),
            c(xh, w.transpose(2, 3, 1, 0), (1, 1), 'SAME', dimension_numbers=dn), c(x, w, (1, 1), [(-1, 0), (2, -1)]),
            c(x.transpose(1, 0, 2, 3)[:, :2], wg[:4, :, :, :].reshape(4, 1, 3, 3), (1, 1), 'VALID', batch_group_count=1, feature_group_count=2),
            c(x[:2], w[:, :, :, :], (1, 1), 'VALID', dimension_numbers=('NCHW', 'OIHW', 'CWNH')),
            lax.conv_transpose(xh, w.transpose(2, 3, 1, 0), (2, 2), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')),
            lax.conv_transpose(xh, w.transpose(2, 3, 0, 1), (2, 3), 'VALID', dimension_numbers=('NHWC', 'HWIO', 'NHWC'), transpose_kernel=True),
            lax.conv(x, w, (1, 1), 'SAME'), lax.conv_with_general_padding(x, w, (1, 1), [(1, 1), (1, 1)], None, None),
            c(x[:, :, :, 0], w[:, :, :, 0], (2,), 'SAME_LOWER'), jax.vmap(lambda w: c(x, w, (1, 1), 'SAME'))(jnp.stack([w, w * 2])),
            jax.grad(lambda w: (c(x, w, (2, 2), 'SAME', rhs_dilation=(2, 1)) ** 2).sum())(w),
            jnp.convolve(x[0, 0, 0], w[0, 0, :, 0], mode='same'), jax.scipy.signal.convolve2d(x[0, 0], w[0, 0], mode='full'),
            c(x.repeat(2, 0), w[:4], (1, 1), 'VALID', batch_group_count=4), c(x, w, (1, 1), 'VALID', preferred_element_type=jnp.float32),
            c(x[..., None], w[..., None], (1, 1, 1), 'SAME'),
        )

    return f


@given(normal(2, 6, 7), normal(3, 4, 5, 6))
def windows_by_functions(jax):
    jnp = jax.numpy
    lax = jax.lax

    def f(x, y):
        rw = lax.reduce_window
        return (
            rw(x, 0.0, lax.add, (1, 2, 3), (1, 2, 1), 'SAME'),
            rw(x, -jnp.inf, lax.max, (1, 3, 3), (1, 1, 1), [(0, 0), (1, 1), (0, 2)], window_dilation=(1, 2, 1)),
            rw(x, jnp.inf, lax.min, (2, 2, 2), (1, 1, 1), 'VALID', base_dilation=(1, 2, 1)), rw(x, 1.0, lax.mul, (1, 2, 2), (1, 2, 2), 'VALID'),
            rw(x > 0, False, lax.bitwise_or, (1, 2, 2), (1, 1, 1), 'VALID'),
            rw((x * 10).astype(jnp.int32), 0, lax.add, (1, 1, 3), (1, 1, 2), 'SAME'),
            jax.grad(lambda x: (rw(x, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), 'VALID') ** 2).sum())(x),
            rw(y, -jnp.inf, lax.max, (2, 2, 2, 1), (1, 2, 1, 3), 'SAME'), rw(x, 0.0, lambda a, b: a + b, (1, 2, 2), (1, 1, 1), 'VALID'),
            lax.reduce(x, 0.0, lax.add, (1,)), lax.reduce(x, jnp.float32(-jnp.inf), lambda a, b: jnp.maximum(a, b), (0, 2)),
            lax.reduce((x, x * 2), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,)), lax.argmax(x, 1, jnp.int32),
            lax.argmin(x, 2, jnp.uint8), rw(x, 5.0, lax.add, (1, 2, 2), (1, 1, 1), 'VALID'),
        )

    return f


@given(normal(4, 6), np.array([[3, 1, 3, 2, 1, 0]] * 4))
def orders_of_all_kinds(jax):
    jnp = jax.numpy
    lax = jax.lax

    def f(x, k):
        k = jnp.asarray(k)
        a, b = lax.sort_key_val(k, x, dimension=1)
        return (
            lax.sort((k, x), dimension=-1, num_keys=2), lax.sort((k, x, jnp.arange(24).reshape(4, 6)), num_keys=1), lax.sort(x, dimension=0), a,
            b, lax.top_k(x, 3), jnp.sort(x, axis=None), jnp.sort(x, descending=True), jnp.argsort(k, stable=True),
            jnp.argsort(k, descending=True), jnp.lexsort((x[0], k[0])), jnp.searchsorted(jnp.sort(x[0]), x[1], side='right'),
            jnp.searchsorted(jnp.arange(5), jnp.array([0, 2, 9]), method='sort'), lax.approx_max_k(x, 2), lax.approx_min_k(x, 2),
            jnp.median(x, axis=1), jnp.quantile(x, jnp.array([0.1, 0.9]), axis=0), jnp.percentile(x, 30, method='lower'), jnp.nanmedian(x),
            jax.grad(lambda x: jnp.sort(x)[:, 0].sum() + lax.top_k(x, 2)[0].sum())(x), jnp.sort(jnp.array([jnp.nan, 1, -jnp.inf, 0.0, -0.0])),
            lax.top_k(k, 2), jnp.unique(k, size=5, fill_value=-1), jnp.unique(k[0], return_inverse=True, return_counts=True, size=4),
            jnp.setdiff1d(k[0], jnp.array([1, 2]), size=3), jnp.isin(k, jnp.array([1, 3])), jnp.intersect1d(k[0], jnp.array([0, 3]), size=2),
            jnp.union1d(k[0], jnp.array([7]), size=5), lax.select_n(jnp.array([2, 0, 1]), jnp.zeros(3), jnp.ones(3), jnp.full(3, 2.0)),
        )

    return f


@given(normal(6, 5), np.int32(2), np.int32(7))
def blocks_at_traced_places(jax):
    jnp = jax.numpy
    lax = jax.lax

    def f(x, i, k):
        return (
            lax.dynamic_slice(x, (i, k), (3, 2)), lax.dynamic_slice(x, jnp.array([i, 1]), slice_sizes=(2, 2)),
            lax.dynamic_slice_in_dim(x, -1, 2, axis=0), lax.dynamic_slice_in_dim(x, k, 2, axis=1),
            lax.dynamic_update_slice(x, jnp.ones((2, 2)), (k, i)), lax.dynamic_update_slice_in_dim(x, jnp.zeros((2, 5)), i, 0),
            lax.dynamic_index_in_dim(x, i, 1), lax.dynamic_index_in_dim(x, i, 0, keepdims=False),
            lax.dynamic_update_index_in_dim(x, jnp.arange(5.0), k, 0), lax.slice_in_dim(x, 1, None, 2), lax.slice_in_dim(x, -3, -1, axis=0),
            lax.slice(x, (1, 1), (5, 4), (2, 1)), lax.index_in_dim(x, -2, 1), lax.index_take(x, (jnp.array([0, 1]), jnp.array([2, 3])), (0, 1)),
            lax.pad(x, 1.0, [(1, -1, 1), (-1, 2, 0)]), lax.rev(x, (0,)), lax.collapse(x[None], 0, 2), lax.expand_dims(x, (0, 2)),
            lax.squeeze(x[None], (0,)), lax.broadcast(x, (2,)), lax.broadcast_in_dim(x[:, 0], (3, 6, 2), (1,)), lax.concatenate([x, x], 1),
            lax.broadcasted_iota(jnp.int32, (2, 3), 1), lax.iota(jnp.float32, 4), lax.split(x, (2, 4)), jnp.take(x, i, axis=1), x[i], x[..., i],
            x[i, ::-1], x[[0, 1], i], x[jnp.array([k])], jax.jit(lambda x, i: x.at[i].get(mode='fill'))(x, k),
            jax.grad(lambda x: lax.dynamic_slice(x, (i, 1), (2, 2)).sum())(x),
            jax.vmap(lambda i: lax.dynamic_slice(x, (i, i), (2, 2)))(jnp.arange(4)),
        )

    return f


@given(normal(5, 4, 3), np.array([[0, 1], [4, 3], [2, 2]]), normal(3, 2, 3))
def gathers_by_numbers(jax):
    jnp = jax.numpy
    lax = jax.lax

    def f(x, i, up):
        D, S = (lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers)
        i = jnp.asarray(i)
        g = D(offset_dims=(1, 2), collapsed_slice_dims=(0,), start_index_map=(0, 1))
        s = S(update_window_dims=(1, 2), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0, 1))
        return (
            lax.gather(x, i, g, slice_sizes=(1, 2, 3)), lax.gather(x, i, g, (1, 2, 3), mode='fill', fill_value=9),
            lax.gather(x, i, g, (1, 2, 3), mode=lax.GatherScatterMode.CLIP), lax.scatter(x, i, up, s), lax.scatter_add(x, i, up, s, mode='clip'),
            lax.scatter_mul(x, i, up, s), lax.scatter_max(x, i, up, s), lax.scatter_min(x, i, up, s),
            jax.vmap(lambda i: lax.gather(x, i[None], g, (1, 2, 3)))(i), jnp.take_along_axis(x, jnp.argsort(x, 1), 1),
            jnp.put_along_axis(x, jnp.argmax(x, 0, keepdims=True), 0.0, 0, inplace=False),
            jnp.compress(jnp.array([True, False, True]), x, axis=2, size=2), jnp.extract(x > 1, x, size=6, fill_value=0),
            jnp.select([x > 1, x > 0], [x, x * 2], -1), jnp.place(x, x > 1, jnp.array([1.0, 2.0]), inplace=False),
            jnp.put(x, jnp.array([0, 7]), 5, inplace=False), jnp.fill_diagonal(x[:, :, 0], 9.0, inplace=False),
            jnp.nonzero(x[:, :, 0] > 0, size=7, fill_value=-1), jnp.argwhere(x > 1, size=5), jnp.flatnonzero(x > 1, size=4),
            jnp.where(x > 1, size=3), jnp.ix_(jnp.arange(2), jnp.arange(3)), x[jnp.ix_(jnp.array([0, 2]), jnp.array([1, 3]))],
            jnp.unravel_index(jnp.argmax(x), x.shape), jnp.ravel_multi_index((jnp.array([1, 2]), jnp.array([3, 9])), (5, 4), mode='clip'),
            jnp.diag_indices(3), jnp.tril_indices(3, 1), jnp.indices((2, 3)),
        )

    return f


@given(normal(6), between(6), np.abs(normal(6)) + 0.1)
def densities(jax):
    jnp = jax.numpy

    def f(x, p, s):
        S = jax.scipy.stats
        k = jnp.arange(6)
        return (
            S.norm.logpdf(x, 1, s), S.norm.cdf(x), S.norm.ppf(p), S.norm.sf(x), S.norm.isf(p), S.norm.logcdf(x), S.norm.logsf(x),
            S.norm.pdf(x, loc=1, scale=2), S.t.logpdf(x, 3, 1, 2), S.t.pdf(x, 4), S.gamma.logpdf(s, 2.0), S.gamma.cdf(s, 2.0),
            S.gamma.sf(s, 2.0, 0, 2), S.beta.logpdf(p, 2, 3), S.beta.cdf(p, 2.0, 3.0), S.beta.sf(p, 2.0, 3.0), S.chi2.logpdf(s, 3),
            S.chi2.cdf(s, 3.0), S.chi2.sf(s, 3.0), S.expon.logpdf(s, 0, 2), S.laplace.logpdf(x), S.laplace.cdf(x), S.cauchy.logpdf(x),
            S.cauchy.cdf(x), S.cauchy.ppf(p), S.logistic.logpdf(x), S.logistic.ppf(p), S.logistic.sf(x), S.uniform.logpdf(p, 0, 2),
            S.uniform.ppf(p), S.poisson.logpmf(k, 2.5), S.poisson.cdf(k, 2.0), S.binom.logpmf(k, 8, 0.3), S.binom.pmf(k, 8.0, p),
            S.bernoulli.logpmf(k % 2, 0.2), S.bernoulli.cdf(k % 2, 0.3), S.geom.logpmf(k + 1, 0.3), S.nbinom.logpmf(k, 3, 0.4),
            S.betabinom.logpmf(k, 7, 2.0, 3.0), S.multinomial.logpmf(jnp.array([1, 2, 2]), 5, jnp.array([0.2, 0.3, 0.5])),
            S.dirichlet.logpdf(jnp.array([0.2, 0.3, 0.5]), jnp.array([1.0, 2.0, 3.0])),
            S.multivariate_normal.logpdf(x[:3], jnp.zeros(3), jnp.eye(3) * 2),
            S.multivariate_normal.pdf(jnp.stack([x[:2], x[2:4]]), jnp.zeros(2), jnp.array([[2.0, 0.3], [0.3, 1.0]])), S.pareto.logpdf(s + 1, 2.0),
            S.truncnorm.logpdf(p, -1.0, 2.0), S.truncnorm.cdf(p, -1, 1), S.gennorm.logpdf(x, 1.5), S.gennorm.cdf(x, 1.5),
            S.vonmises.logpdf(x, 2.0), S.wrapcauchy.logpdf(s, 0.4), S.gumbel_r.logpdf(x), S.gumbel_l.cdf(x), S.gumbel_r.ppf(p), S.rankdata(x),
            S.sem(x), S.gaussian_kde(x)(p), S.gaussian_kde(jnp.stack([x, s]), bw_method='silverman').logpdf(jnp.stack([p, p])),
            jax.grad(lambda x: S.norm.logcdf(x).sum() + S.truncnorm.logpdf(x / 10, -1.0, 2.0).sum())(x),
            jax.grad(lambda a: S.gamma.logpdf(s, a).sum())(2.0), jax.grad(lambda a: S.beta.cdf(p, 2.0, 3.0).sum())(1.0),
        )

    return f


@given(normal(3, 4, 5))
def names_and_methods_of_numpy(jax):
    jnp = jax.numpy

    def f(x):
        return (
            jnp.moveaxis(x, (0, 1), (-1, 0)), jnp.swapaxes(x, 0, -1), jnp.rollaxis(x, 2), jnp.atleast_3d(x[0]), jnp.dstack([x[0], x[1]]),
            jnp.column_stack([x[0, 0], x[0, 1]]), jnp.vstack([x[0], x[1]]), jnp.hstack([x[0], x[1]]), jnp.array_split(x, 3, axis=2),
            jnp.dsplit(x, [2]), jnp.hsplit(x, 2), jnp.split(x, [1, 2]), jnp.block([[x[0], x[0]], [x[1], x[2]]]), jnp.rot90(x, k=3, axes=(1, 2)),
            jnp.flipud(x), jnp.fliplr(x), jnp.flip(x, (0, 2)), jnp.roll(x, (1, -2), (0, 2)), jnp.delete(x, 1, axis=1),
            jnp.delete(x, jnp.array([0, 2]), axis=1, assume_unique_indices=True), jnp.insert(x, 1, 9.0, axis=1), jnp.append(x, x, axis=0),
            jnp.resize(x, (2, 7)), jnp.squeeze(x[:, :1], 1), jnp.ravel(x, order='F'), x.reshape(4, 15, order='F'), jnp.reshape(x, -1),
            x.flatten(), jnp.pad(x, ((0, 0), (1, 2), (3, 0)), mode='reflect'), jnp.pad(x, ((0, 0), (1, 2), (3, 0)), mode='symmetric'),
            jnp.pad(x, 1, 'wrap'), jnp.pad(x, 1, 'edge'), jnp.pad(x, 2, 'linear_ramp', end_values=1.0), jnp.pad(x, 1, 'mean'),
            jnp.pad(x, (1, 2), 'maximum', stat_length=2), jnp.pad(x, 1, 'reflect', reflect_type='odd'), jnp.pad(x, 1, 'empty').shape,
            jnp.tril(x, -1), jnp.triu(x, 1), jnp.diag(x[0, :, 0], 1), jnp.diagonal(x, 1, 0, 2), jnp.diagflat(x[0, 0]), jnp.trace(x),
            jnp.tri(3, 4, 1), jnp.vander(x[0, 0], 3, increasing=True), jnp.meshgrid(x[0, 0], x[0, :, 0], indexing='ij', sparse=True),
            jnp.mgrid[0:2, 0:3], jnp.ogrid[0:2, 0:1:3j], jnp.r_[1:4, 0, 4], jnp.c_[x[0, 0], x[0, 1]], jnp.s_[1:2] == slice(1, 2),
            jnp.geomspace(1, 100, 3), jnp.logspace(0, 2, 3), jnp.fromfunction(lambda i, j: i + j, (2, 3)), jnp.apply_along_axis(jnp.sort, 1, x),
            jnp.apply_over_axes(jnp.sum, x, [0, 2]), jnp.vectorize(lambda a, b: a @ b, signature='(n),(n)->()')(x, x[0]),
            jnp.vectorize(lambda a, b: a + b, excluded={1})(x, 2.0),
            jnp.frompyfunc(lambda a, b: a + b, nin=2, nout=1, identity=0).reduce(x[0, 0]),
            jnp.piecewise(x, [x < 0, x > 1], [-1, 1, lambda v: v * 2]), jnp.nancumsum(x, 1), jnp.nanmin(x, axis=(0, 1)), jnp.nanstd(x),
            jnp.nanpercentile(x, 20), jnp.average(x, 1, weights=jnp.arange(4.0), returned=True),
            jnp.histogram2d(x[0].ravel(), x[1].ravel(), bins=3)[0], jnp.histogram_bin_edges(x, 4), jnp.histogramdd(x[0], bins=2)[0],
            jnp.cross(x[..., :3], x[..., 2:]), jnp.convolve(x[0, 0], jnp.ones(2)), jnp.correlate(x[0, 0], jnp.ones(3), 'full'), jnp.unwrap(x * 3),
            jnp.polyadd(x[0, 0], jnp.ones(2)), jnp.polymul(x[0, 0], jnp.ones(2)), jnp.polyder(x[0, 0], 2), jnp.polyint(x[0, 0]),
            jnp.polydiv(x[0, 0], jnp.array([1.0, 2.0])), jnp.poly(x[0, 0, :3]), jnp.iterable(x), jnp.ndim(x), jnp.shape(x), jnp.size(x, 1),
            jnp.isscalar(2.0), jnp.bartlett(4), jnp.hanning(5), jnp.kaiser(4, 3.0), jnp.hamming(4), jnp.blackman(4), jnp.expand_dims(x, (0, -1)),
            jnp.permute_dims(x, (2, 0, 1)), jnp.matrix_transpose(x), jnp.unstack(x, axis=1), jnp.concat([x, x], axis=None),
            jnp.broadcast_arrays(x, x[0]), jnp.cumulative_sum(x, axis=1, include_initial=True), jnp.cumulative_prod(x, axis=0),
            jnp.bitwise_count(jnp.array([3, 7])), jnp.add.reduce(x, axis=1), jnp.multiply.accumulate(x, axis=1),
            jnp.maximum.outer(x[0, 0], x[0, 1]), jnp.add.at(x[0, 0], jnp.array([0, 0]), 1.0, inplace=False),
            jnp.logical_and.reduce(x > 0, axis=None), jnp.subtract.outer(x[0, 0], x[0, 1]), x.T, x.mT, x.real, x.size, x.itemsize,
            x.sum(-1, keepdims=True), x.std(ddof=1), x.clip(0, 1), x.argsort(axis=0), x.take(jnp.array([1]), axis=1), x.repeat(2, axis=0),
            x.cumsum(0), x.dot(x[0, 0]), x.prod(), x.round(1), x.any(), x.swapaxes(0, 1), x.squeeze(), x.diagonal(), x.trace(), x.var(),
            x.max(initial=3.0), x.min(where=x > 0, initial=9.0), jnp.sum(x, where=x > 0), jnp.mean(x, where=x > 0), x[0, 0].searchsorted(0.0),
            len(x), [r.sum() for r in x], x.conj(), x[0, 0].sort(),
        )

    return f


@given(normal(5), normal(4, 5))
def transformations_of_all_kinds(jax):
    jnp = jax.numpy

    def f(x, m):
        g = lambda x: jnp.sin(m @ x).sum() + (x ** 3).sum()
        y, lin = jax.linearize(g, x)
        tr = jax.linear_transpose(lambda v: m @ v, x)
        part = jax.tree_util.Partial(lambda a, b, c=1: a * b + c, x, c=2.0)
        ck = jax.checkpoint(lambda x: jnp.tanh(m @ jnp.sin(x)), policy=jax.checkpoint_policies.nothing_saveable)
        rm = jax.remat(lambda x: jnp.tanh(m @ x).sum())
        _, vjpf, aux = jax.vjp(lambda x: (m @ x, {'n': x.sum()}), x, has_aux=True)
        jv, jt, ja = jax.jvp(lambda x: (x ** 2, x.max()), (x,), (x,), has_aux=True)
        return (
            y, lin(x), tr(m[:, 0]), part(x), jax.grad(lambda p: p(x).sum())(part), jax.jacrev(ck)(x), jax.grad(rm)(x), vjpf(m[:, 0]), aux, jv, jt,
            ja, jax.hessian(g)(x), jax.jacfwd(jax.grad(g))(x), jax.jvp(jax.grad(g), (x,), (x,))[1],
            jax.grad(lambda x: jnp.vdot(jax.grad(g)(x), x))(x), jax.value_and_grad(lambda p: (p['a'] @ x, p), has_aux=True)({'a': x, 'b': 1.0}),
            jax.grad(lambda a, b: (a * b).sum(), argnums=(1, 0))(x, x), jax.jacrev(lambda a, b: {'o': jnp.outer(a, b)}, argnums=1)(x, m[:, 0]),
            jax.vmap(jax.grad(g))(m), jax.vmap(jax.hessian(g))(m), jax.grad(lambda x: jax.lax.stop_gradient(x) @ x)(x),
            jax.eval_shape(lambda x: m @ x, x).shape, jax.named_call(g, name='g')(x), jax.jit(jax.grad(g), inline=True)(x),
            jax.grad(jax.jit(g))(x), jax.jacfwd(lambda p: p['a'] * 2)({'a': x}), jax.grad(lambda x: x.at[0].set(0.0).sum())(x),
            jax.grad(lambda x: jnp.linalg.norm(x))(x), jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1)), 0).sum())(x),
            jax.grad(lambda x: jnp.prod(x))(x.at[0].set(0)), jax.grad(lambda x: jnp.max(jnp.stack([x[0], x[0], x[1] * 0 - 9])))(x),
            jax.grad(lambda x: jax.nn.relu(x).sum())(x * 0), jax.grad(lambda x: jnp.cumprod(x).sum())(x), jax.grad(lambda x: jnp.std(x))(x),
            jax.grad(lambda x: jnp.clip(x, -0.5, 0.5).sum())(x), jax.grad(lambda x: jnp.linalg.det(m[:, :4] + x[0]))(x),
            jax.jacfwd(jnp.cross)(x[:3], x[2:]), jax.grad(lambda z: jnp.real(jnp.exp(1j * z)).sum())(x),
            jax.grad(lambda z: jnp.abs(z * (1 + 2j)).sum())(x), jnp.abs(jax.grad(lambda z: (z * jnp.conj(z)).real.sum())(x + 1j * x)),
            jnp.abs(jax.vjp(lambda z: z ** 2, x + 1j)[1](x + 0j)[0]), jax.grad(lambda x: jnp.arctan2(x, x[::-1]).sum())(x),
            jax.grad(lambda x: (x % 0.3).sum())(x), jax.grad(lambda x: jnp.floor(x).sum())(x),
            jax.grad(lambda x: jnp.power(jnp.abs(x), x).sum())(x), jax.grad(lambda x: jnp.logaddexp(x, x[::-1]).sum())(x),
            jax.grad(lambda x: jnp.sinc(x).sum())(x * 0), jax.grad(lambda x: jnp.interp(x, jnp.arange(3.0), jnp.array([0.0, 2, 3])).sum())(x),
            jax.grad(lambda x: jnp.quantile(x, 0.3))(x), jax.grad(lambda x: jnp.median(m, axis=0) @ x)(x),
        )

    return f


@given(normal(5), np.int32(2), np.bool_(True))
def branches_and_loops(jax):
    jnp = jax.numpy
    lax = jax.lax

    def f(x, k, b):
        return (
            lax.cond(b, lambda x: (x, 1), lambda x: (x * 2, 0), x), lax.cond(b, lambda: x, lambda: -x),
            lax.cond(k > 3, operand=x, true_fun=lambda x: x, false_fun=lambda x: x + 1),
            lax.cond(b, lambda a, b: a @ b, lambda a, b: a.sum(), x, x), lax.switch(k, [lambda x: x, lambda x: x * 2, lambda x: x * 3], x),
            lax.switch(9, [jnp.sin, jnp.cos], x), lax.switch(k - 5, (lambda *a: a[0], lambda *a: a[1]), x, x * 2), lax.map(lambda r: r ** 2, x),
            lax.map(lambda t: t[0] + t[1]['a'], (x, {'a': x})), lax.map(jnp.sin, x, batch_size=2),
            lax.scan(lambda c, _: (c + 1, None), 0, jnp.zeros((0, 3))), lax.scan(lambda c, x: (c, (c, x)), x, jnp.arange(0)),
            lax.fori_loop(0, 0, lambda i, c: c + 1, x), lax.fori_loop(3, 1, lambda i, c: c + 1.0, 2.0),
            lax.fori_loop(0, k, lambda i, c: c.at[i].add(10), x), lax.fori_loop(0, 4, lambda i, c: jnp.roll(c, i), x, unroll=2),
            lax.while_loop(lambda c: c[0] < 10.0, lambda c: (c[0] * 2, c[1] + 1), (1.0, 0)),
            jax.vmap(lambda k: lax.cond(k > 0, lambda: x.sum(), lambda: 0.0))(x),
            jax.vmap(lambda i, v: lax.switch(i, [jnp.sin, jnp.cos], v))(jnp.array([0, 1, 1, 0, 5]), x),
            jax.grad(lambda x: lax.cond(x[0] > 0, lambda x: (x ** 2).sum(), lambda x: (x ** 3).sum(), x))(x),
            jax.grad(lambda x: lax.switch(k, [lambda x: x[0], lambda x: x[1] ** 2, lambda x: jnp.prod(x)], x))(x),
            jax.grad(lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) * x[0], x).sum())(x),
            jax.jacfwd(lambda x: lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * x, c[1] + 1), (x, 0))[0])(x),
            jax.vmap(jax.grad(lambda x: lax.scan(lambda c, _: (c * x, None), 1.0, None, 4)[0]))(x),
            jax.vmap(lambda x: lax.scan(lambda c, y: (c + y, c), x, jnp.arange(3.0)))(x),
            lax.scan(lambda c, _: (c[::-1], c[0]), (x, x * 2), None, length=3),
            lax.scan(lambda c, x: ((c[0] + 1, jax.tree.map(lambda a: a + x, c[1])), {'z': c[0]}), (0, {'p': x, 'q': [x]}), x),
            lax.scan(lambda c, x: (jnp.where(x > 0, c + 1, c), c), jnp.int32(0), x), lax.cond(True, lambda: 1, lambda: 2),
            lax.cond(jnp.array(0), lambda: 1.0, lambda: 2.0), lax.scan(jax.checkpoint(lambda c, x: (jnp.sin(c + x), c)), 0.1, x),
            jax.grad(lambda x: lax.scan(jax.remat(lambda c, x: (jnp.sin(c * x), c)), 1.0, x)[0])(x), lax.clamp(-1.0, x, 1.0),
            lax.select(x > 0, x, -x), lax.fori_loop(0, 5, lambda i, c: lax.cond(i % 2 == 0, lambda c: c + i, lambda c: c * 2, c), 0),
            lax.while_loop(lambda s: ~s.done, lambda s: s._replace(i=s.i + 1, done=s.i >= 3), collections.namedtuple('S', 'i done')(jnp.array(0), jnp.array(False))),
            lax.scan(lambda c, xs: (c, xs[0] @ xs[1]), None, (jnp.ones((3, 2)), jnp.ones((3, 2)))),
            lax.scan(lambda c, k: (c + jax.nn.one_hot(k, 4), None), jnp.zeros(4), jnp.array([1, 1, 3])),
            jax.jit(lambda n, x: x * n, static_argnums=0)(3, x),
            jax.jit(lambda x, *, mode: x.sum() if mode == 's' else x, static_argnames='mode')(x, mode='s'),
            jax.jit(lambda x, y=2.0: x * y, donate_argnums=())(x), jax.jit(lambda d: d['a'] + 1, donate_argnames='d')({'a': x * 1}),
        )

    return f


@given(normal(4, 3), normal(6))
def paths_of_structures(jax):
    jnp = jax.numpy
    tu = jax.tree_util
    t = jax.tree

    class Bag:
    
        def __init__(self, a, b):
            self.a, self.b = (a, b)

    def reg():
        try:
            tu.register_pytree_with_keys(Bag, lambda o: (((tu.GetAttrKey('a'), o.a), (tu.GetAttrKey('b'), o.b)), None), lambda aux, ch: Bag(*ch))
        except ValueError:
            pass

    @tu.register_pytree_node_class
    class Node:
    
        def __init__(s, v, tag):
            s.v, s.tag = (v, tag)
    
        def tree_flatten(s):
            return ((s.v,), s.tag)
    
        @classmethod
        def tree_unflatten(c, aux, ch):
            return c(*ch, aux)

    reg()

    def f(w, v):
        d = {'w': w, 'l': [v, (v * 2, None)], 'o': collections.OrderedDict(z=1.0, a=2.0)}
        flat, td = t.flatten(d)
        vec, un = jax.flatten_util.ravel_pytree(d)
        names = [tu.keystr(p) for p, _ in t.leaves_with_path(d)]
        assert names == ["['l'][0]", "['l'][1][0]", "['o']['a']", "['o']['z']", "['w']"] or names == ["['l'][0]", "['l'][1][0]", "['o']['z']", "['o']['a']", "['w']"], names
        bag = [tu.keystr(p) for p, _ in t.leaves_with_path(Bag(1.0, [2.0]))]
        assert bag == ['.a', '.b[0]'], bag
        assert tu.keystr(t.leaves_with_path(d)[0][0], simple=True, separator='/') == 'l/0'
        nt = collections.namedtuple('NT', 'x y')(v, w)
        assert [tu.keystr(p) for p, _ in t.leaves_with_path(nt)] == ['.x', '.y']
        return (
            flat, t.unflatten(td, [a + 1 for a in flat]), vec, un(vec * 2), t.map(lambda a, b: a * b, d, d),
            t.map(lambda a: 0 if a is None else a, [None, 1.0], is_leaf=lambda a: a is None), t.map_with_path(lambda p, a: a * len(p), d),
            t.reduce(operator.add, [1.0, 2.0]),
            t.transpose(t.structure([0, 0]), t.structure({'a': 0, 'b': 0}), [{'a': v, 'b': 1.0}, {'a': v, 'b': 2.0}]), t.structure(d).num_leaves,
            td == t.structure(d), jax.vmap(lambda o: o.v.sum())(Node(w, 't')), jax.grad(lambda o: (o.v ** 2).sum())(Node(w, 't')),
            jax.lax.scan(lambda c, x: (Node(c.v + x, c.tag), x), Node(v[:3], 1), w)[0].v, jax.grad(lambda b: b.a @ b.b)(Bag(v, v)).a,
            t.leaves(t.map(jnp.shape, [w, v])), tu.tree_map(lambda x: x, nt), tu.tree_leaves(nt),
            t.map(lambda *xs: jnp.stack(xs), {'a': v}, {'a': v}, {'a': v}), functools.reduce(lambda a, b: t.map(operator.add, a, b), [d, d]),
            tu.all_leaves([1, 2]), tu.tree_structure(1) == tu.tree_structure(2), tu.treedef_is_leaf(td), t.flatten_with_path(d)[0][0][1],
            jax.tree.map(lambda a, b: (a, b), {'x': 1.0}, {'x': 2.0})['x'],
        )

    return f


@given(normal(3, 8), normal(2, 4, 6))
def names_of_nn_and_lax(jax):
    jnp = jax.numpy
    nn = jax.nn

    def f(x, q):
        qq = q.reshape(2, 4, 2, 3)
        return (
            nn.relu(x), nn.relu6(x * 5), nn.sigmoid(x), nn.softplus(x), nn.sparse_plus(x), nn.sparse_sigmoid(x), nn.soft_sign(x), nn.silu(x),
            nn.swish(x), nn.log_sigmoid(x), nn.leaky_relu(x, 0.2), nn.hard_sigmoid(x), nn.hard_silu(x), nn.hard_swish(x), nn.hard_tanh(x),
            nn.elu(x, 2.0), nn.celu(x, 0.5), nn.selu(x), nn.gelu(x), nn.gelu(x, approximate=False), nn.glu(x), nn.squareplus(x), nn.mish(x),
            nn.identity(x), nn.softmax(x, axis=0), nn.log_softmax(x), nn.logsumexp(x, axis=1, keepdims=True), nn.standardize(x),
            nn.one_hot(jnp.array([0, 2, 5]), 4, axis=0), nn.one_hot(jnp.array([1]), 3, dtype=jnp.int32), nn.dot_product_attention(qq, qq, qq),
            nn.dot_product_attention(qq, qq, qq, is_causal=True, scale=0.3),
            nn.dot_product_attention(qq, qq[:, :, :1], qq[:, :, :1], bias=jnp.ones((1, 1, 4, 4))),
            nn.dot_product_attention(qq, qq, qq, mask=jnp.tril(jnp.ones((1, 1, 4, 4), bool))),
            nn.dot_product_attention(qq, qq, qq, query_seq_lengths=jnp.array([2, 3]), key_value_seq_lengths=jnp.array([2, 4]))[:, :2],
            nn.dot_product_attention(qq, qq, qq, local_window_size=(1, 0)), nn.initializers.zeros(jax.random.key(0), (2,)),
            nn.initializers.constant(3.0)(jax.random.key(0), (2,), jnp.float32),
            jax.grad(lambda x: nn.log_sigmoid(x).sum() + nn.squareplus(x).sum() + nn.softmax(x)[:, 0].sum())(x),
            jax.image.resize(q, (2, 8, 3), 'bilinear'), jax.image.resize(q, (2, 2, 6), 'cubic'), jax.image.resize(q, (2, 9, 7), method='nearest'),
            jax.image.resize(q, (2, 3, 3), 'lanczos3'),
            jax.image.scale_and_translate(q, (2, 5, 6), (1, 2), jnp.array([1.3, 0.9]), jnp.array([0.5, -0.3]), 'linear'),
            jax.image.resize(q, (2, 2, 3), 'linear', antialias=False), jax.lax.rsqrt(jnp.abs(x)),
            jax.lax.dot_general(q, q, (((2,), (2,)), ((0,), (0,)))),
            jax.lax.dot_general(q, x[:, :6], (((2,), (1,)), ((), ())), preferred_element_type=jnp.float32),
            jax.lax.dot(x, x.T, precision='highest'), jax.lax.batch_matmul(q, q.mT), jax.lax.erf_inv(x / 9), jax.lax.nextafter(x, x + 1),
            jax.lax.reduce_precision(x, 5, 10), jax.lax.integer_pow(x, 3), jax.lax.round(x, jax.lax.RoundingMethod.TO_NEAREST_EVEN),
            jax.lax.population_count(jnp.array([7, 8])), jax.lax.clz(jnp.array([1, 8], jnp.int32)),
            jax.lax.shift_right_logical(jnp.array([-8], jnp.int32), 1), jax.lax.igamma(2.0, jnp.abs(x)), jax.lax.lgamma(jnp.abs(x)),
            jax.lax.bessel_i0e(x), jax.lax.polygamma(1.0, jnp.abs(x)), jax.lax.tan(x), jax.lax.acosh(jnp.abs(x) + 1), jax.lax.is_finite(x / 0),
            jax.lax.exp2(x), jax.lax.cbrt(x), jax.lax.optimization_barrier((x, q)), jax.lax.stop_gradient({'a': x}),
            jax.lax.conv_general_dilated_patches(q[None], (2, 2), (1, 1), 'VALID'), jax.lax.ragged_dot(x, jnp.ones((2, 8, 3)), jnp.array([1, 2])),
            jax.lax.mul(x, x), jax.lax.full((2,), 1.5), jax.lax.full_like(x, 2), jax.lax.tile(x, (2, 1)), jax.lax.cummax(x, axis=0),
            jax.lax.custom_root(lambda y: y ** 2 - 2.0, 1.0, lambda f, x0: jax.lax.fori_loop(0, 9, lambda _, y: y - f(y) / (2 * y), x0), lambda g, y: y / g(1.0)),
            jax.lax.custom_linear_solve(lambda v: 2 * v, x[0], lambda mv, b: b / 2, symmetric=True), jax.lax.linalg.cholesky(jnp.eye(3) * 4),
            jax.lax.linalg.qr(x.T)[1].shape, jax.lax.linalg.triangular_solve(jnp.tril(jnp.ones((3, 3))), x, left_side=True, lower=True),
            jax.lax.linalg.lu(jnp.eye(3) + 1)[1], jax.lax.linalg.eigh(jnp.eye(3))[1], jax.lax.linalg.svd(x)[1],
            jax.lax.linalg.tridiagonal_solve(jnp.array([0.0, 1, 1]), jnp.array([4.0, 4, 4]), jnp.array([1.0, 1, 0]), jnp.ones((3, 1))),
        )

    return f


@given(normal(4, 3), normal(3))
def parameters_by_scope(jax):
    jnp = jax.numpy

    class Ctx:
    
        def __init__(s, params, rng):
            s.p, s.rng, s.scope = (params, rng, [])
    
        def get(s, name, shape, init):
            k = '/'.join(s.scope + [name])
            if k not in s.p:
                s.rng, r = jax.random.split(s.rng)
                s.p[k] = init(shape)
            return s.p[k]

    import contextlib

    def transform(g):
        def init(rng, *a):
            c = Ctx({}, rng)
            g(c, *a)
            return c.p

        def apply(p, rng, *a):
            return g(Ctx(p, rng), *a)

        return (init, apply)

    def net(c, x):
        for i, m in enumerate((5, 2)):
            c.scope.append(f'linear_{i}')
            w = c.get('w', (x.shape[-1], m), lambda s: jnp.full(s, 0.1))
            b = c.get('b', (m,), jnp.zeros)
            x = jnp.tanh(x @ w + b)
            c.scope.pop()
        return x

    def f(x, v):
        init, apply = transform(net)
        p = init(jax.random.PRNGKey(0), x)
        lossf = lambda p, x: (apply(p, None, x) ** 2).mean()
        g = jax.grad(lossf)(p, x)
        return (p, g, jax.jit(lossf)(p, x), jax.vmap(jax.grad(lossf), (None, 0))(p, x))

    return f


@given(normal(30, 2))
def model_by_handlers(jax):
    jnp = jax.numpy
    import contextlib

    class handler:
        stack = []
    
        def __init__(s, vals):
            s.vals, s.lp = (vals, 0.0)
    
        def __enter__(s):
            handler.stack.append(s)
            return s
    
        def __exit__(s, *a):
            handler.stack.pop()

    def sample(name, logp, obs=None):
        h = handler.stack[-1]
        v = h.vals[name] if obs is None else obs
        h.lp = h.lp + jnp.sum(logp(v))
        return v

    norm = jax.scipy.stats.norm

    def model(x, y):
        w = sample('w', lambda v: norm.logpdf(v, 0, 1))
        b = sample('b', lambda v: norm.logpdf(v, 0.0, 10.0))
        ls = sample('ls', lambda v: jax.scipy.stats.expon.logpdf(jnp.exp(v)) + v)
        sample('y', lambda v: norm.logpdf(v, x * w + b, jnp.exp(ls)), y)

    def f(d):
        x, y = d.T

        def logp(th):
            with handler(th) as h:
                model(x, y)
            return h.lp

        th = {'w': jnp.float32(0.0), 'b': 0.0, 'ls': jnp.zeros(())}

        def leap(s, eps):
            q, p = s
            p = jax.tree.map(lambda p, g: p + eps / 2 * g, p, jax.grad(logp)(q))
            q = jax.tree.map(lambda q, p: q + eps * p, q, p)
            return (jax.tree.map(lambda p, g: p + eps / 2 * g, p, jax.grad(logp)(q)) and (q, jax.tree.map(lambda p, g: p + eps / 2 * g, p, jax.grad(logp)(q))), logp(q))

        out = jax.lax.scan(lambda s, e: leap(s, e), (th, {'w': jnp.float32(1.0), 'b': 0.5, 'ls': jnp.float32(-0.5)}), jnp.full(10, 0.02))
        return (out, jax.hessian(logp)(th))

    return f


@given(np.float32([1.0, 0.5]), np.float32([0.3, 0.8]), np.linspace(0, 2, 7).astype(np.float32))
def differential_equations(jax):
    jnp = jax.numpy
    odeint = jax.experimental.ode.odeint

    def f(y, p, ts):
        pendulum = lambda s, t, p: jnp.stack([s[1], -p[0] * s[1] - p[1] * jnp.sin(s[0])])
        loss = lambda y, p, ts: (odeint(pendulum, y, ts, p, rtol=1e-5, atol=1e-5)[1:] ** 2).sum()
        w = jnp.array([[0.1, 0.5], [-0.5, 0.2]])
        last = lambda w: odeint(lambda y, t: jnp.tanh(w @ y), y, ts, rtol=1e-5, atol=1e-5)[-1].sum()
        return (
            odeint(pendulum, y, ts, p), odeint(pendulum, y, ts, p, rtol=1e-4, atol=1e-4), jax.grad(loss, (0, 1, 2))(y, p, ts), jax.grad(last)(w),
            odeint(lambda s, t: {"a": -s["a"] * t, "b": s["a"][0] * jnp.ones(2)}, {"a": y, "b": p}, ts), odeint(lambda y, t: -y, jnp.float32(2.0), ts),
            jax.vmap(lambda y: odeint(pendulum, y, ts, p, rtol=1e-5, atol=1e-5)[-1])(jnp.stack([y, p])),
            odeint(pendulum, y, ts, p, mxstep=200, hmax=0.1)[-1],
        )

    return f


@given(between(7), between(7) * 3, normal(7), np.float32([-3, -0.4, 0.1, 1.7, 2.5, 6, 11]))
def special_functions_by_series(jax):
    s = jax.scipy.special

    def f(p, x, z, t):
        every = lambda f, x: jax.vmap(jax.grad(f))(x)
        return (
            s.hyp1f1(1.5, 2.5, t), s.hyp2f1(0.5, 1.0, 1.7, p), s.fresnel(t), s.sici(x), s.boxcox(x, 0.5), s.boxcox1p(x, 0.0), s.comb(5, 2), s.erfcx(z), s.owens_t(z, x),
            s.erfc(t), s.log_ndtr(t), s.ndtr(t), every(s.ndtri, p), every(lambda x: s.hyp1f1(0.5, 1.0, x), p), every(lambda x: s.hyp2f1(0.5, 1.0, 1.7, x), p),
            every(lambda x: s.fresnel(x)[0], t), every(lambda x: s.sici(x)[1], x), every(s.erfcx, z), every(s.log_ndtr, t), jax.lax.erfc(t) * 1e6,
        )

    return f


@given(normal(2, 3, 6, 5), normal(4, 3, 2, 3), normal(2, 4, 6))
def convolutions_of_complex_numbers_and_local_ones(jax):
    jnp = jax.numpy

    def f(x, w, q):
        z, v = x * (1 + 1j) + 2j * x[::-1], w - 1j * w[::-1]
        parts = lambda z: (z.real, z.imag)
        local, numbers = jax.lax.conv_general_dilated_local, ("NHWC", "HWIO", "NHWC")
        return (
            parts(jax.lax.conv_general_dilated(z, v, (1, 2), "SAME")), parts(jax.lax.conv(z, v, (1, 1), "VALID")), parts(jnp.sort(z, axis=2)), jnp.argsort(z[0, 0]),
            local(q, jnp.arange(120.0).reshape(3, 8, 5), (1,), "VALID", (2,)),
            local(x.transpose(0, 2, 3, 1), jnp.ones((5, 3, 18, 4)), (1, 1), "VALID", (2, 3), dimension_numbers=numbers),
        )

    return f
