"""Unusual programs of JAX's users, compared with results of JAX: many names and forms in one function each."""

import collections
import dataclasses
import functools

import numpy as np

from trace_programs import program

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def given(*arguments):
    return program(lambda rng: arguments, 2e-4)


@given(normal(6, 3), normal(3, 3))
def affine_invariant_sampler(jax):
    jnp = jax.numpy

    def f(walkers, z):
        def half(a, b, u):
            s = (1 + u[:, 0:1]) ** 2 / 2
            prop = b[::-1][: len(a)] + s * (a - b[::-1][: len(a)])
            acc = -0.5 * jnp.sum(prop**2, -1) + 0.5 * jnp.sum(a**2, -1) + 2 * jnp.log(s[:, 0]) > jnp.log(jnp.abs(u[:, 1]) + 1e-3)
            return jnp.where(acc[:, None], prop, a)

        def step(w, _):
            a, b = jnp.split(w, 2)
            a = half(a, b, jnp.tanh(z))
            b = half(b, a, jnp.tanh(z[::-1]))
            w = jnp.concatenate([a, b])
            return w, w.mean(0)

        return jax.lax.scan(step, walkers, None, length=5)

    return f


@given(normal(8, 8))
def sudoku_like_constraint_prop(jax):
    jnp = jax.numpy

    def f(x):
        poss = (x > 0).astype(jnp.int32)

        def cond(s):
            return jnp.logical_and(s[1] < 10, s[2])

        def body(s):
            p, i, _ = s
            row = jnp.sum(p, 1, keepdims=True)
            col = jnp.sum(p, 0, keepdims=True)
            q = jnp.where((row == 1) | (col == 1), p, jnp.where(row > 4, jnp.roll(p, 1, axis=1) & p, p))
            return q, i + 1, jnp.any(q != p)

        return jax.lax.while_loop(cond, body, (poss, 0, True))

    return f


@given(normal(12), np.int32(3))
def dynamic_window(jax):
    jnp = jax.numpy

    def f(x, i):
        w = jax.lax.dynamic_slice(x, (i,), (4,))
        y = jax.lax.dynamic_update_slice(x, w * 2, (i + 4,))
        return (
            y,
            jax.lax.dynamic_index_in_dim(y, i, keepdims=False),
            jax.lax.dynamic_update_index_in_dim(y, -1.0, i, 0),
            jnp.take(y, jnp.arange(-2, 15), mode="wrap"),
            jnp.take(y, jnp.array([30]), mode="fill"),
        )

    return f


KNOWN = []


@dataclasses.dataclass
class Params:
    w: object
    b: object


@given(normal(4, 3), normal(3), normal(5, 4))
def dataclass_pytree_optimizer(jax):
    jnp = jax.numpy
    if jnp.__name__ not in KNOWN:
        KNOWN.append(jnp.__name__)
        jax.tree_util.register_dataclass(Params, data_fields=["w", "b"], meta_fields=[])

    def f(w, b, x):
        p = Params(w, b)

        def loss(p):
            return jnp.mean(jax.nn.gelu(x @ p.w + p.b) ** 2)

        def upd(p, _):
            l, g = jax.value_and_grad(loss)(p)
            return jax.tree.map(lambda a, b: a - 0.3 * b, p, g), l

        p, ls = jax.lax.scan(upd, p, jnp.arange(10))
        return p.w, p.b, ls

    return f


@given(normal(3, 5, 5), normal(3, 3))
def patches_and_ncc(jax):
    jnp = jax.numpy

    def f(img, t):
        p = jax.lax.conv_general_dilated_patches(img[None], (3, 3), (1, 1), "VALID")
        p = p.reshape(3, 9, 3, 3)
        t0 = (t - t.mean()).ravel()
        pc = p - p.mean(1, keepdims=True)
        return jnp.einsum("ckhw,k->chw", pc, t0) / (jnp.linalg.norm(pc, axis=1) * jnp.linalg.norm(t0) + 1e-6)

    return f


@given(normal(20))
def welford_associative(jax):
    jnp = jax.numpy

    def f(x):
        def comb(a, b):
            na, ma, sa = a
            nb, mb, sb = b
            n = na + nb
            d = mb - ma
            return n, ma + d * nb / n, sa + sb + d * d * na * nb / n

        n, m, s = jax.lax.associative_scan(comb, (jnp.ones_like(x), x, jnp.zeros_like(x)))
        return m, s / n, jax.lax.associative_scan(jnp.maximum, x, reverse=True)

    return f


@given(normal(7), normal(7))
def piecewise_select(jax):
    jnp = jax.numpy

    def f(x, y):
        return (
            jnp.piecewise(x, [x < -0.5, x > 0.5], [lambda t: -(t**2), lambda t: t + 1, 0.25]),
            jnp.select([x > y, x < 0], [x, y], default=jnp.nan_to_num(jnp.log(x))),
            jax.lax.select_n(jnp.array(2), x, y, x * y),
            jnp.interp(x, jnp.sort(y), jnp.arange(7.0)),
            jnp.digitize(x, jnp.sort(y)),
            jnp.heaviside(x, 0.5),
            jnp.copysign(x, y),
            jnp.ldexp(x, jnp.arange(7)),
            jnp.frexp(x)[0],
            jnp.nextafter(x, y),
        )

    return f


@given(normal(4, 4))
def jacobians_of_structures(jax):
    jnp = jax.numpy

    def f(a):
        g = lambda d: {"u": jnp.sin(d["x"]) @ a, "v": (d["y"] ** 2).sum()}
        d = {"x": a[0], "y": a[1]}
        J = jax.jacrev(g)(d)
        K = jax.jacfwd(g)(d)
        H = jax.hessian(lambda d: jnp.prod(d["x"]) * d["y"].sum())(d)
        return J, K, H, jax.jvp(lambda t: jax.vjp(jnp.tanh, t)[1](t)[0], (a,), (a,))[1]

    return f


@given(normal(6), normal(6))
def custom_jvp_logsumexp(jax):
    jnp = jax.numpy

    @jax.custom_jvp
    def safe(x):
        return jnp.log(jnp.sum(jnp.exp(x)))

    @safe.defjvp
    def rule(p, t):
        (x,) = p
        (dx,) = t
        return safe(x), jnp.sum(jax.nn.softmax(x) * dx)

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def clipgrad(c, x):
        return x

    clipgrad.defvjp(lambda c, x: (x, None), lambda c, r, g: (jnp.clip(g, -c, c),))

    def f(x, y):
        return (
            jax.grad(safe)(x),
            jax.hessian(safe)(y),
            jax.grad(lambda x: jnp.sum(clipgrad(0.3, x) ** 3))(x),
            jax.vmap(jax.grad(safe))(jnp.stack([x, y])),
        )

    return f


@given(normal(5, 3), np.int32([0, 2, 1, 2, 0]))
def segments_and_counts(jax):
    jnp = jax.numpy

    def f(x, i):
        return (
            jax.ops.segment_sum(x, i, num_segments=4),
            jax.ops.segment_max(x, i, 4),
            jax.ops.segment_min(x, i, 4),
            jax.ops.segment_prod(x, i, 4),
            jnp.bincount(i, length=4),
            jnp.unique(i, size=4, fill_value=-1, return_counts=True),
            jnp.zeros((4, 3)).at[i].add(x),
            jnp.zeros((4, 3)).at[i].max(x),
            jnp.zeros(4).at[i].min(x[:, 0]),
            jnp.zeros((4, 3)).at[i, 0].mul(3.0),
            jnp.searchsorted(jnp.array([0, 1, 2]), i, side="right"),
        )

    return f


@given(normal(3, 4, 5))
def einsum_zoo(jax):
    jnp = jax.numpy

    def f(x):
        return (
            jnp.einsum("ijk->kji", x),
            jnp.einsum("iij->j", x[:, :3]),
            jnp.einsum("...k,...k->...", x, x),
            jnp.einsum("ijk,ljk->il", x, x),
            jnp.einsum("i...,i...->...", x, x),
            jnp.einsum("ijk,kl,lm->ijm", x, jnp.ones((5, 2)), jnp.ones((2, 3))),
            jnp.einsum(x, [0, 1, 2], [2, 0]),
            jnp.tensordot(x, x, axes=((0, 2), (0, 2))),
            jnp.kron(x[0], x[1]),
            jnp.vdot(x, x),
            jnp.inner(x[0], x[1]),
        )

    return f


@given(normal(16))
def haar_wavelet_recursive(jax):
    jnp = jax.numpy

    def haar(x):
        if x.shape[0] == 1:
            return x
        a = (x[::2] + x[1::2]) / jnp.sqrt(2.0)
        d = (x[::2] - x[1::2]) / jnp.sqrt(2.0)
        return jnp.concatenate([haar(a), d])

    def f(x):
        return haar(x), jax.grad(lambda x: jnp.sum(jnp.abs(haar(x))))(x)

    return f


@given(normal(9, 2))
def convex_hull_area_and_polygons(jax):
    jnp = jax.numpy

    def f(p):
        c = p.mean(0)
        o = jnp.argsort(jnp.arctan2(*(p - c).T[::-1]))
        q = p[o]
        r = jnp.roll(q, -1, 0)
        area = 0.5 * jnp.abs(jnp.sum(jnp.cross(q, r)))
        inside = jnp.sum(((q[:, 1] > 0) != (r[:, 1] > 0)) & (0 < (r[:, 0] - q[:, 0]) * (0 - q[:, 1]) / (r[:, 1] - q[:, 1]) + q[:, 0])) % 2 == 1
        return area, inside, jnp.lexsort((p[:, 0], p[:, 1])), jnp.ptp(p, axis=0)

    return f


@given(normal(4, 6))
def softdtw(jax):
    jnp = jax.numpy

    def f(d):
        def loss(d):
            n, m = d.shape
            big = 1e3

            def row(prev, drow):
                def cell(left, inp):
                    up, diag, c = inp
                    v = c - 0.5 * jax.nn.logsumexp(-jnp.stack([left, up, diag]) / 0.5)
                    return v, v

                _, r = jax.lax.scan(cell, big, (prev[1:], prev[:-1], drow))
                r = jnp.concatenate([jnp.array([big]), r])
                return r, r

            first = jnp.full(m + 1, big).at[0].set(0.0)
            last, _ = jax.lax.scan(row, first, d)
            return last[-1]

        return jax.value_and_grad(loss)(d)

    return f


@given(normal(5))
def fori_with_tuple_and_switch(jax):
    jnp = jax.numpy

    def f(x):
        ops = [lambda a: a + 1, lambda a: a * 2, lambda a: jnp.sin(a), jnp.zeros_like]

        def body(i, c):
            a, (b, k) = c
            a = jax.lax.switch(jnp.minimum(i, 2), ops, a)
            b = jax.lax.cond(a.sum() > 0, lambda t: t[0] - t[1], lambda t: t[1], (a, b))
            return a, (b, k + i)

        return jax.lax.fori_loop(2, 9, body, (x, (x * 0, 0)))

    return f


@given(normal(3, 8), normal(8))
def vmap_axes_zoo(jax):
    jnp = jax.numpy

    def f(a, b):
        g = lambda u, v: (u @ v, u + v)
        return (
            jax.vmap(g, in_axes=(0, None))(a, b),
            jax.vmap(jnp.dot, in_axes=(1, 0), out_axes=0)(jnp.stack([a[0], a[1]]), jnp.stack([b[:2]] * 8)),
            jax.vmap(jax.vmap(jnp.multiply, (None, 0)), (0, None))(b, b),
            jax.vmap(lambda d: d["p"] * d["q"], in_axes=({"p": 0, "q": None},))({"p": a, "q": b}),
            jax.vmap(lambda x: x, out_axes=1)(a),
            jax.vmap(lambda i: jax.lax.dynamic_slice(b, (i,), (3,)))(jnp.arange(4)),
        )

    return f


State = collections.namedtuple("State", "pos vel key")


@given(normal(6, 3), normal(6, 3))
def boids(jax):
    jnp = jax.numpy

    def f(p, v):
        @jax.jit
        def step(s, t):
            d = s.pos[:, None] - s.pos[None]
            r = jnp.linalg.norm(d + jnp.eye(6)[..., None], axis=-1)
            near = (r < 2) & ~jnp.eye(6, dtype=bool)
            n = jnp.maximum(near.sum(1, keepdims=True), 1)
            coh = jnp.where(near[..., None], -d, 0).sum(1) / n
            ali = jnp.where(near[..., None], s.vel[None], 0).sum(1) / n - s.vel
            v = jax.lax.fori_loop(0, 2, lambda i, v: v * 0.9 + 0.05 * (coh + ali), s.vel)
            v = v / jnp.maximum(1, jnp.linalg.norm(v, axis=-1, keepdims=True))
            return s._replace(pos=(s.pos + v * 0.1) % 1.0, vel=v), {"e": (v**2).sum(), "n": n.max()}

        return jax.lax.scan(step, State(p, v, 0), jnp.arange(5))

    return f


@given(normal(10))
def polynomials_and_roots(jax):
    jnp = jax.numpy

    def f(x):
        c = jnp.polyfit(jnp.linspace(-1, 1, 10), x, 3)
        return (
            c,
            jnp.polyval(c, x),
            jnp.polyder(c),
            jnp.polyint(c),
            jnp.polymul(c, c),
            jnp.convolve(x, c, mode="same"),
            jnp.correlate(x, c, mode="full"),
            jnp.trapezoid(x, dx=0.1),
            jnp.gradient(x),
            jnp.diff(x, n=2, prepend=0.0),
            jnp.unwrap(x * 3),
            jnp.vander(x[:3], 4),
        )

    return f


@given(normal(3, 3, 2))
def statistics_zoo(jax):
    jnp = jax.numpy

    def f(x):
        return (
            jnp.percentile(x, jnp.array([10, 50]), axis=0),
            jnp.quantile(x, 0.3, method="nearest"),
            jnp.nanmean(jnp.where(x > 0, x, jnp.nan), axis=1),
            jnp.median(x, axis=-1),
            jnp.cov(x[0]),
            jnp.corrcoef(x[..., 0]),
            jnp.histogram(x, bins=5, range=(-2, 2)),
            jnp.nanmax(x),
            jnp.average(x, axis=0, weights=jnp.arange(1.0, 4)),
            jnp.cumprod(x, axis=1),
            jnp.nancumsum(x),
            jnp.std(x, ddof=1),
            jnp.argpartition(x.ravel(), 3)[3],
            jnp.partition(x.ravel(), 3)[3],
            jnp.histogram2d(x[..., 0].ravel(), x[..., 1].ravel(), bins=3, range=((-2, 2), (-2, 2)))[0],
        )

    return f


@given(np.int32([5, 12, 255, 1024]), np.uint8([3, 200, 17, 255]))
def bits_zoo(jax):
    jnp = jax.numpy

    def f(a, b):
        return (
            jnp.bitwise_count(a),
            jax.lax.population_count(b),
            jax.lax.clz(a),
            a >> 1,
            a << 2,
            a ^ 7,
            ~b,
            jnp.left_shift(b, 1),
            jnp.packbits(b > 100),
            jnp.unpackbits(b),
            jnp.gcd(a, 60),
            jnp.lcm(a, 6),
            a // 3,
            a % 7,
            -a // 3,
            -a % 7,
            jnp.divmod(-a, 5),
            jax.lax.rem(-a, 5),
            jax.lax.div(-a, 5),
            b + b,
            b.astype(jnp.int8),
            jnp.right_shift(-a, 1),
            jax.lax.shift_right_logical(-a, 1),
            jnp.sum(b),
            jnp.prod(a),
            a.astype(jnp.float16),
            jnp.float32(a).view(jnp.int32),
            jnp.invert(a > 6),
            jnp.mean(b),
            a**2,
            jnp.power(2, a[:2]),
        )

    return f


@given(normal(2, 3, 8, 8))
def pooling_zoo(jax):
    jnp = jax.numpy
    lax = jax.lax

    def f(x):
        mp = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        ap = lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "SAME") / 9
        up = jax.image.resize(mp, (2, 3, 8, 8), "bilinear")
        nn = jax.image.resize(mp, (2, 3, 8, 8), "nearest")
        return (
            mp,
            ap,
            up,
            nn,
            jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME").sum())(x),
            lax.cumsum(x, axis=2, reverse=True),
            lax.cummax(x, axis=3),
            lax.cumlogsumexp(x, axis=1),
            jnp.pad(x, ((0, 0), (0, 0), (1, 2), (0, 1)), mode="reflect"),
            jnp.pad(x[0, 0], 2, mode="edge"),
            lax.pad(x[0, 0], 0.0, ((1, -1, 1), (0, 2, 0))),
        )

    return f


@given(normal(2, 8, 8, 3), normal(3, 3, 3, 4), normal(3, 3, 1, 6), normal(4, 4, 3, 2))
def conv_zoo(jax):
    jnp = jax.numpy
    lax = jax.lax

    def f(x, w, d, t):
        dn = ("NHWC", "HWIO", "NHWC")
        a = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=dn)
        b = lax.conv_general_dilated(x, w, (2, 2), ((1, 2), (0, 1)), rhs_dilation=(2, 1), dimension_numbers=dn)
        c = lax.conv_general_dilated(x, d, (1, 1), "VALID", dimension_numbers=dn, feature_group_count=3)
        e = lax.conv_transpose(x, t, (2, 2), "SAME", dimension_numbers=dn)
        g = lax.conv_general_dilated(x, w, (1, 1), ((2, 2), (2, 2)), lhs_dilation=(2, 2), dimension_numbers=dn)
        h = lax.conv(jnp.transpose(x, (0, 3, 1, 2)), jnp.transpose(w, (3, 2, 0, 1)), (1, 1), "SAME")
        one = lax.conv_general_dilated(x[:, :, 0], w[:, 0], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        return a, b, c, e, g, h, one, jax.grad(lambda w: jnp.sum(lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=dn) ** 2))(w)

    return f


@given(normal(5, 4), np.int32([1, 0, 3, 2, 1]))
def losses_zoo(jax):
    jnp = jax.numpy
    nn = jax.nn

    def f(x, y):
        oh = nn.one_hot(y, 4)
        return (
            nn.log_softmax(x),
            nn.softmax(x, axis=0),
            nn.logsumexp(x, axis=1, b=oh),
            nn.relu6(x),
            nn.celu(x),
            nn.selu(x),
            nn.elu(x, 0.5),
            nn.leaky_relu(x),
            nn.hard_tanh(x),
            nn.swish(x),
            nn.glu(x),
            nn.standardize(x),
            nn.soft_sign(x),
            nn.log_sigmoid(x),
            nn.hard_sigmoid(x),
            nn.mish(x),
            nn.gelu(x, approximate=False),
            nn.squareplus(x),
            -jnp.take_along_axis(nn.log_softmax(x), y[:, None], 1).mean(),
            jnp.mean(jnp.maximum(0, 1 - x * jnp.where(oh > 0, 1, -1))),
            nn.dot_product_attention(x.reshape(1, 5, 1, 4), x.reshape(1, 5, 1, 4), x.reshape(1, 5, 1, 4), is_causal=True),
        )

    return f


@given(normal(4, 4))
def jit_in_jit_static(jax):
    jnp = jax.numpy

    @functools.partial(jax.jit, static_argnames=("n", "mode"))
    def power(a, n, mode="mul"):
        out = jnp.eye(4)
        for _ in range(n):
            out = out @ a if mode == "mul" else out + a
        return out

    @jax.checkpoint
    def block(a):
        return jnp.tanh(power(a, 2))

    def f(a):
        return (
            power(a, 3),
            power(a, 2, mode="add"),
            jax.grad(lambda a: block(a).sum())(a),
            jax.linearize(block, a)[1](a),
            jax.vjp(lambda a, b: a @ b, a, a)[1](a),
            jax.eval_shape(block, a).shape[0] * jnp.ones(2),
        )

    return f


@given(normal(3, 4), normal(4))
def broadcasting_and_shapes(jax):
    jnp = jax.numpy

    def f(a, b):
        x = a[:, None, :] * b
        return (
            x.squeeze(1).T.reshape(2, -1),
            jnp.expand_dims(a, (0, 2)).shape[2] * a,
            a[::-1, ::2],
            a[..., -1],
            a[a.argmax(0), jnp.arange(4)],
            jnp.block([[a, a], [a * 2, a]]),
            jnp.stack([a, a], -1),
            jnp.hstack([b, b]),
            jnp.vstack([b, b]),
            jnp.dstack([a, a]),
            jnp.tile(b, (2, 2)),
            jnp.repeat(a, 2, axis=1),
            jnp.rot90(a),
            jnp.flipud(a),
            jnp.moveaxis(x, 0, -1),
            jnp.atleast_2d(b),
            jnp.meshgrid(b, a[:, 0], indexing="ij"),
            jnp.array_split(b, 3),
            jnp.split(a, [1, 3], axis=1),
            jnp.triu_indices(3)[0],
            a[jnp.tril_indices(3)],
            jnp.ravel_multi_index((jnp.array([1, 2]), jnp.array([0, 3])), (3, 4), mode="clip"),
            jnp.unravel_index(jnp.argmax(a), a.shape),
            a.at[1:, ::2].set(0.0),
            a.at[:, 1].apply(jnp.sin),
            a.at[0].get(),
            jnp.insert(b, 1, 7.0),
            jnp.delete(b, 1),
            jnp.append(a, a),
            jnp.resize(b, (3, 3)),
            jnp.where(a > 0, a, b),
            jnp.nonzero(b > 0, size=4, fill_value=9),
            jnp.argwhere(a > 0, size=12)[:2],
            jnp.choose(jnp.array([0, 1, 0, 1]), [b, b * 2], mode="wrap"),
            jnp.apply_along_axis(jnp.sort, 0, a),
            jnp.vectorize(lambda u, v: u @ v, signature="(n),(n)->()")(a, b),
            jnp.isclose(a, a + 1e-9),
            jnp.allclose(a, a),
            jnp.array_equal(a, a),
            jnp.clip(a, -1, None),
            jnp.round(a * 10, 1),
            jnp.trunc(a * 3),
            jnp.fmod(a, 0.3),
            jnp.sinc(a),
            jnp.i0(a),
            jnp.logaddexp(a, b),
            jnp.hypot(a, b),
            jnp.deg2rad(a),
            jnp.cbrt(a),
            jnp.signbit(a),
            jnp.float_power(jnp.abs(a), 2),
            jnp.tri(3),
            jnp.diag(b, 1),
            jnp.fill_diagonal(a[:, :3], 5.0, inplace=False),
            jnp.logspace(0, 1, 4),
            jnp.geomspace(1.0, 8.0, 4),
            jnp.identity(2),
            jnp.indices((2, 2)),
        )

    return f


@given(normal(4), normal(4, 4), normal(4))
def deep_equilibrium_by_closure(jax):
    jnp = jax.numpy

    def solve(f, x0):
        def cond(c):
            return (jnp.abs(c[0] - c[1]).max() > 1e-5) & (c[2] < 100)

        return jax.lax.while_loop(cond, lambda c: (c[1], f(c[1]), c[2] + 1), (x0, f(x0), 0))[1]

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def fix(f, params, x0):
        return solve(lambda z: f(params, z), x0)

    def fwd(f, params, x0):
        z = fix(f, params, x0)
        return z, (params, z)

    def bwd(f, res, g):
        p, z = res
        _, vz = jax.vjp(lambda z: f(p, z), z)
        u = solve(lambda u: vz(u)[0] + g, g)
        _, vp = jax.vjp(lambda p: f(p, z), p)
        return vp(u)[0], jnp.zeros_like(z)

    fix.defvjp(fwd, bwd)

    def f(x, w, b):
        cell = lambda p, z: jnp.tanh(0.1 * p["w"] @ z + p["b"] + x)
        return jax.value_and_grad(lambda p: (fix(cell, p, x * 0) ** 2).sum())({"w": w, "b": b})

    return f


@given(normal(4, 4))
def matrix_functions(jax):
    jnp = jax.numpy
    sl = jax.scipy.linalg

    def f(a):
        s = a @ a.T + jnp.eye(4)
        return (
            sl.expm(a * 0.3),
            jnp.linalg.matrix_power(a, 3),
            sl.sqrtm(s).real,
            jnp.linalg.pinv(a[:, :2]),
            jnp.linalg.slogdet(a),
            jnp.linalg.eigvalsh(s),
            jnp.abs(jnp.linalg.eigh(s)[1]),
            sl.lu(a)[2],
            sl.block_diag(a[:2, :2], a[2:, 2:]),
            sl.toeplitz(a[0]),
            jnp.linalg.cond(s),
            jnp.linalg.matrix_rank(s),
            jnp.linalg.lstsq(a, a[0])[0],
            jnp.linalg.multi_dot([a, s, a]),
            sl.solve_triangular(s, a[0], lower=False),
            sl.cho_solve(sl.cho_factor(s), a[1]),
            jnp.linalg.tensorinv(jnp.eye(4).reshape(2, 2, 2, 2)),
            jax.grad(lambda a: jnp.linalg.norm(a, "nuc"))(a),
            jnp.linalg.norm(a, 2),
            jnp.linalg.qr(a),
            jnp.linalg.svd(a)[1],
            sl.expm_frechet(a * 0.1, s)[1],
            sl.polar(s)[0],
            jnp.linalg.vecdot(a, s),
            jnp.linalg.cross(a[:, :3], s[:, :3]),
        )

    return f


@given(normal(8) / 3)
def special_functions(jax):
    jnp = jax.numpy
    sp = jax.scipy.special

    def f(x):
        p = jnp.abs(x) + 0.5
        return (
            sp.gammaln(p),
            sp.digamma(p),
            sp.polygamma(1, p),
            sp.erf(x),
            sp.erfc(x),
            sp.erfinv(jnp.tanh(x)),
            sp.expit(x),
            sp.logit(jax.nn.sigmoid(x)),
            sp.betaln(p, p),
            sp.betainc(p, p + 1, jax.nn.sigmoid(x)),
            sp.gammainc(p, p),
            sp.gammaincc(p, p * 2),
            sp.i0e(x),
            sp.i1(x),
            sp.ndtr(x),
            sp.ndtri(jax.nn.sigmoid(x)),
            sp.log_ndtr(x),
            sp.xlogy(p, p),
            sp.xlog1py(x, p),
            sp.entr(p),
            sp.kl_div(p, p * 2),
            sp.rel_entr(p, p),
            sp.zeta(p + 2, p),
            sp.expi(p),
            sp.exp1(p),
            sp.expn(2, p),
            sp.factorial(jnp.arange(4)),
            sp.beta(p, p),
            sp.gamma(p),
            sp.gammasgn(-p),
            sp.poch(p, 2.0),
            sp.multigammaln(p + 3, 2),
            sp.logsumexp(x, b=p),
            sp.softmax(x),
            sp.spence(p),
            sp.bernoulli(5),
            sp.factorial(3),
        )

    return f


@given(normal(10, 2), normal(6))
def stats_and_kde(jax):
    jnp = jax.numpy
    st = jax.scipy.stats

    def f(d, x):
        k = st.gaussian_kde(d.T)
        return (
            st.norm.logpdf(x, 0.5, 2.0),
            st.norm.cdf(x),
            st.norm.ppf(jax.nn.sigmoid(x)),
            st.multivariate_normal.logpdf(d, jnp.zeros(2), jnp.eye(2) * 2),
            st.beta.pdf(jax.nn.sigmoid(x), 2.0, 3.0),
            st.gamma.logpdf(jnp.abs(x), 2.0),
            st.t.logpdf(x, 3.0),
            st.poisson.logpmf(jnp.arange(4), 2.5),
            st.binom.logpmf(2, 5, 0.3),
            st.expon.logpdf(jnp.abs(x)),
            st.laplace.cdf(x),
            st.cauchy.logpdf(x),
            st.dirichlet.logpdf(jnp.array([0.2, 0.3, 0.5]), jnp.ones(3) * 2),
            st.uniform.logpdf(x, -1, 2),
            st.logistic.sf(x),
            st.truncnorm.logpdf(x * 0.3, -1, 1),
            st.chi2.logpdf(jnp.abs(x), 3.0),
            st.pareto.logpdf(1 + jnp.abs(x), 2.0),
            st.bernoulli.logpmf(jnp.array([0, 1]), 0.3),
            st.geom.logpmf(3, 0.3),
            st.nbinom.logpmf(3, 2, 0.4),
            st.vonmises.logpdf(x, 2.0),
            st.wrapcauchy.logpdf(jnp.abs(x), 0.3),
            st.gennorm.logpdf(x, 1.5),
            st.rankdata(x),
            st.sem(x),
            st.mode(jnp.array([1, 2, 2, 3]))[0],
            st.betabinom.logpmf(2, 5, 2.0, 3.0),
            st.multinomial.logpmf(jnp.array([1, 2, 1]), 4, jnp.array([0.2, 0.5, 0.3])),
            k.evaluate(d.T[:, :3]),
            k.logpdf(d.T[:, :2]),
        )

    return f


@given(normal(32), normal(8, 8))
def signals(jax):
    jnp = jax.numpy
    ss = jax.scipy.signal

    def f(x, im):
        return (
            ss.convolve(x, x[:5], mode="same"),
            ss.correlate(x, x[:4], mode="valid"),
            ss.convolve2d(im, im[:3, :3], mode="same"),
            ss.fftconvolve(x, x[:7]),
            ss.detrend(x),
            jax.scipy.ndimage.map_coordinates(im, [im[:3] * 2 + 3, im[:3] * 2 + 3], order=1, mode="nearest"),
            jnp.convolve(x, x[:3]),
            jnp.interp(jnp.linspace(0, 31, 9), jnp.arange(32.0), x),
        )

    return f


@given(normal(3, 7))
def dcts(jax):
    sf = jax.scipy.fft

    def f(x):
        return sf.dct(x), sf.idct(x), sf.dct(x, norm="ortho", axis=0), sf.dctn(x), sf.idctn(x, norm="ortho"), sf.dct(x, n=5), sf.dct(x, n=9)

    return f


@given(normal(5), normal(5, 4))
def grid_interpolator(jax):
    jnp = jax.numpy

    def f(q, v):
        r = jax.scipy.interpolate.RegularGridInterpolator((jnp.linspace(-1, 1, 5), jnp.array([0.0, 1, 3, 4])), v, bounds_error=False, fill_value=None)
        n = jax.scipy.interpolate.RegularGridInterpolator(
            (jnp.linspace(-1, 1, 5), jnp.array([0.0, 1, 3, 4])), v, method="nearest", bounds_error=False, fill_value=-7.0
        )
        pts = jnp.stack([q, jnp.abs(q) * 2], -1)
        return r(pts), n(pts)

    return f


@given(normal(4), normal(4, 3))
def closure_converted(jax):
    jnp = jax.numpy

    def f(x, w):
        fn = lambda y: jnp.sin(y) * x
        g, consts = jax.closure_convert(fn, x)
        a = g(x * 2, *consts)
        lin = jax.linearize(lambda t: t @ w, x)[1]
        tr = jax.linear_transpose(lambda t: t @ w, x)(w[0])
        return a, lin(x), tr

    return f


@given(normal(4, 4), normal(4))
def lax_linalg_zoo(jax):
    jnp = jax.numpy
    ll = jax.lax.linalg

    def f(a, b):
        q, r = jnp.linalg.qr(a)
        s = a @ a.T + jnp.eye(4)
        lu, piv, perm = ll.lu(a)
        return (
            ll.lu_pivots_to_permutation(piv, 4),
            perm,
            ll.symmetric_product(a, s, alpha=2.0),
            ll.cholesky_update(jnp.linalg.cholesky(s).T, b),
            ll.triangular_solve(r, a, left_side=True),
            ll.tridiagonal_solve(b, b + 9, b, a),
            jnp.abs(ll.hessenberg(a)[0][0]),
            q,
        )

    return f


@given(normal(2, 3))
def config_and_tree_names(jax):
    jnp = jax.numpy
    tu = jax.tree_util

    def f(x):
        t = {"a": [x, x + 1], "b": (x * 2, None)}
        flat, td = tu.tree_flatten_with_path(t)
        names = [tu.keystr(p) for p, _ in flat]
        assert names == ["['a'][0]", "['a'][1]", "['b'][0]"], names
        u = tu.tree_map_with_path(lambda p, v: v * len(p), t)
        s = tu.tree_structure(t)
        tr = jax.tree.transpose(tu.tree_structure([0, 0]), tu.tree_structure((0, 0)), [(x, x + 1), (x, x + 2)])
        v, un = jax.flatten_util.ravel_pytree(t)
        return (
            u,
            un(v * 2),
            tu.tree_reduce(lambda a, b: a + b.sum(), t, 0.0),
            tr,
            jax.tree.all({"a": True}),
            s.num_leaves + x,
            jnp.float32(x).sum(),
            jnp.asarray(x, dtype=jnp.bfloat16).astype(jnp.float32),
        )

    return f


@given(normal(3, 6), np.int64([1, 2, 1, 1, 3, 1]), np.float32([0.5, 1, 2, 1, 0.25, 3]))
def covs(jax):
    jnp = jax.numpy

    def f(m, fw, aw):
        return (
            jnp.cov(m, fweights=fw),
            jnp.cov(m, aweights=aw),
            jnp.cov(m, fweights=fw, aweights=aw, ddof=0),
            jnp.cov(m[0], m[1]),
            jnp.cov(m, rowvar=False),
        )

    return f


@given(np.float32([0.01, 0.3, 0.37, 1, 5, 20, 39, 41, 60, -0.5, -3]), np.float32([0, 0.1, 0.4, 0.6, 1, 1.4, 1.7, 2.5, 10]))
def exps(jax):
    jnp = jax.numpy
    sp = jax.scipy.special

    def f(x, y):
        return sp.expi(x), jax.vmap(jax.grad(sp.expi))(x), sp.spence(y), sp.bernoulli(8)

    return f


@given(normal(5, 5))
def hess(jax):
    def f(a):
        return jax.lax.linalg.hessenberg(a), jax.lax.linalg.householder_product(
            *((jax.lax.linalg.hessenberg(a)[0][1:, :4], jax.lax.linalg.hessenberg(a)[1]))
        )

    return f
