"""Programs by method: optimal transport, hidden Markov models, filters, implicit derivatives, state-space models, decoding with a cache,
mixtures of experts, graphs, dynamic programming. What they give under JAX is kept in programs_expected.npz."""
import collections
import functools

import numpy as np

from trace_programs import f32, program


# ---- inference ----


@program(lambda r: f32(r.normal(size=(6, 2)), r.normal(size=(5, 2))), 2e-3)
def optimal_transport(jax):
    jnp, logsumexp = jax.numpy, jax.scipy.special.logsumexp

    def cost(x, y, eps=0.5):
        distances = jnp.sum((x[:, None, :] - y[None, :, :]) ** 2, -1)
        n, m = distances.shape

        def step(carry, _):
            u, v = carry
            u = eps * (-jnp.log(n) - logsumexp((v[None] - distances) / eps, axis=1))
            v = eps * (-jnp.log(m) - logsumexp((u[:, None] - distances) / eps, axis=0))
            return (u, v), jnp.abs(jnp.exp((u[:, None] + v[None] - distances) / eps).sum(1) - 1 / n).sum()

        (u, v), errors = jax.lax.scan(step, (jnp.zeros(n), jnp.zeros(m)), xs=None, length=25)
        return jnp.vdot(jnp.exp((u[:, None] + v[None] - distances) / eps), distances), errors

    return lambda x, y: (cost(x, y), jax.grad(lambda x: cost(x, y)[0])(x))


@program(lambda r: (*f32(r.normal(size=(4, 4)), r.normal(size=(4, 5))), r.integers(0, 5, (3, 9))))
def hidden_markov_model(jax):
    jnp, lax, logsumexp = jax.numpy, jax.lax, jax.nn.logsumexp

    def decode(moves, emits, seen):
        moves, emits = jax.nn.log_softmax(moves), jax.nn.log_softmax(emits)

        def best(d, o):
            scores = d[:, None] + moves
            return jnp.max(scores, 0) + emits[:, o], jnp.argmax(scores, 0)

        d, pointers = lax.scan(best, emits[:, seen[0]], seen[1:])
        last = jnp.argmax(d)
        _, path = lax.scan(lambda s, back: (back[s], back[s]), last, pointers, reverse=True)
        alpha, _ = lax.scan(lambda a, o: (logsumexp(a[:, None] + moves, axis=0) + emits[:, o], None), emits[:, seen[0]], seen[1:])
        return jnp.append(path, last), logsumexp(alpha)

    return lambda moves, emits, seen: (jax.vmap(decode, (None, None, 0))(moves, emits, seen), jax.grad(lambda m: decode(m, emits, seen[0])[1])(moves))


@program(lambda r: f32(r.normal(size=(4, 12, 1))), 1e-3)
def filters_of_several_series(jax):
    jnp = jax.numpy
    move, see, noise = jnp.array([[1.0, 0.1], [0.0, 1.0]]), jnp.array([[1.0, 0.0]]), 0.01 * jnp.eye(2)

    def kalman(ys):
        def step(carry, y):
            m, cov = carry
            m, cov = move @ m, move @ cov @ move.T + noise
            s = see @ cov @ see.T + 0.1 * jnp.eye(1)
            gain = jnp.linalg.solve(s, see @ cov).T
            r = y - see @ m
            likelihood = -0.5 * (r @ jnp.linalg.solve(s, r) + jnp.linalg.slogdet(2 * jnp.pi * s)[1])
            return (m + gain @ r, cov - gain @ s @ gain.T), (m, likelihood)

        _, (means, likelihoods) = jax.lax.scan(step, (jnp.zeros(2), jnp.eye(2)), ys)
        return means, likelihoods.sum()

    return jax.vmap(kalman)


@program(lambda r: (*f32(r.normal(size=12), r.normal(size=6)), np.float32(r.uniform(size=6)), *f32(r.normal(size=(6, 12)))), 1e-3)
def particles_that_are_resampled(jax):
    jnp = jax.numpy

    def resampled(x, w, u):
        places = (jnp.arange(w.shape[0]) + u) / w.shape[0]
        return x[jnp.clip(jnp.searchsorted(jnp.cumsum(w), places), 0, w.shape[0] - 1)]

    def step(x, inputs):
        y, u, noise = inputs
        x = 0.9 * x + noise
        w = jax.nn.softmax(-0.5 * (y - x) ** 2)
        size = 1 / jnp.sum(w ** 2)
        return jax.lax.cond(size < 0.7 * x.shape[0], lambda x: resampled(x, w, u), lambda x: x, x), (jnp.sum(w * x), size)

    return lambda x, ys, us, noise: jax.lax.scan(step, x, (ys, us, noise))


Mixture = collections.namedtuple("Mixture", "logits means logstd")


@program(lambda r: (Mixture(*f32(r.normal(size=3), r.normal(size=(3, 2)), r.normal(size=(3, 2)))), *f32(r.normal(size=(20, 2)))), 2e-3)
def mixture_as_named_tuple(jax):
    jnp = jax.numpy

    def joint(p, x):
        parts = jax.scipy.stats.norm.logpdf(x[:, None, :], p.means[None], jnp.exp(p.logstd)[None]).sum(-1)
        return parts + jax.nn.log_softmax(p.logits)

    def update(x, p):
        r = jax.nn.softmax(joint(p, x), -1)
        n = r.sum(0)
        means = (r.T @ x) / n[:, None]
        var = (r[..., None] * (x[:, None] - means) ** 2).sum(0) / n[:, None]
        return p._replace(logits=jnp.log(n / n.sum()), means=means, logstd=0.5 * jnp.log(var + 1e-4))

    def fit(p, x):
        p = jax.lax.fori_loop(0, 10, lambda _, p: update(x, p), p)
        leaves, structure = jax.tree.flatten(p)
        slopes = jax.grad(lambda p: jax.nn.logsumexp(joint(p, x), axis=-1).mean())(p)
        return jax.tree.unflatten(structure, leaves), slopes, jax.tree_util.tree_map_with_path(lambda path, v: v * len(path), p)

    return fit


# ---- derivatives of one's own ----


@program(lambda r: f32(2.0))
def fixed_point_with_implicit_derivative(jax):
    jnp = jax.numpy

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def fixed_point(f, a, guess):
        def body(carry):
            _, x = carry
            return x, f(a, x)

        return jax.lax.while_loop(lambda c: jnp.max(jnp.abs(c[0] - c[1])) > 1e-6, body, (guess, f(a, guess)))[1]

    def forward(f, a, guess):
        x = fixed_point(f, a, guess)
        return x, (a, x)

    def iterate(f, packed, u):
        a, x, cotangent = packed
        return cotangent + jax.vjp(lambda x: f(a, x), x)[1](u)[0]

    def backward(f, kept, cotangent):
        a, x = kept
        found = fixed_point(functools.partial(iterate, f), (a, x, cotangent), cotangent)
        return jax.vjp(lambda a: f(a, x), a)[1](found)[0], jnp.zeros_like(x)

    fixed_point.defvjp(forward, backward)
    root = lambda a: fixed_point(lambda a, x: 0.5 * (x + a / x), a, a)
    return lambda a: (root(a), jax.grad(root)(a), jax.grad(jax.grad(root))(a))


@program(lambda r: f32(r.normal(size=(7, 3)), r.normal(size=(5, 3))))
def quantized_vectors(jax):
    jnp, stop = jax.numpy, jax.lax.stop_gradient

    def quantized(z, codes):
        at = jnp.argmin((z ** 2).sum(-1, keepdims=True) - 2 * z @ codes.T + (codes ** 2).sum(-1), -1)
        q = codes[at]
        return z + stop(q - z), ((stop(q) - z) ** 2).mean() + 0.25 * ((q - stop(z)) ** 2).mean(), at

    def loss(z, codes):
        q, penalty, at = quantized(z, codes)
        rounded = 3 * z + stop(jnp.round(3 * z) - 3 * z)
        return (q ** 3).sum() + penalty + rounded.sum(), at

    return lambda z, codes: jax.grad(loss, argnums=(0, 1), has_aux=True)(z, codes)


# ---- networks ----


@program(lambda r: f32(r.normal(size=(2, 7, 3)), r.normal(size=(3, 4)), r.normal(size=(2, 7, 4)), r.normal(size=(2, 7, 4)), r.normal(size=3), r.normal(size=(2, 7, 3))), 2e-3)
def selective_state_space(jax):
    jnp = jax.numpy

    def layer(x, a, b, c, d, dt):
        dt = jax.nn.softplus(dt)
        decay = jnp.exp(jnp.einsum("bld,dn->bldn", dt, -jnp.exp(a)))
        added = jnp.einsum("bld,bln,bld->bldn", dt, b, x)
        _, h = jax.lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (decay, added), axis=1)
        return jnp.einsum("bldn,bln->bld", h, c) + x * d

    return lambda *p: (layer(*p), jax.grad(lambda *p: jnp.sum(layer(*p) ** 2), argnums=(0, 1, 2, 5))(*p))


@program(lambda r: f32(*[r.normal(size=(8, 8)) for _ in range(4)], r.normal(size=(10, 8))), 2e-3)
def decoding_with_rotary_cache(jax):
    jnp, lax = jax.numpy, jax.lax
    heads, width, steps = 2, 4, 8

    def rotated(x, place):
        angle = place / 10000 ** (jnp.arange(0, width, 2) / width)
        even, odd = x[..., ::2], x[..., 1::2]
        return jnp.stack([even * jnp.cos(angle) - odd * jnp.sin(angle), even * jnp.sin(angle) + odd * jnp.cos(angle)], -1).reshape(x.shape)

    def generate(wq, wk, wv, wo, embed):
        def step(carry, i):
            token, keys, values = carry
            x = embed[token]
            q, k, v = [(x @ w).reshape(heads, width) for w in (wq, wk, wv)]
            keys = lax.dynamic_update_slice(keys, rotated(k, i)[None], (i, 0, 0))
            values = values.at[i].set(v)
            scores = jnp.einsum("hd,thd->ht", rotated(q, i), keys) / jnp.sqrt(width)
            scores = jnp.where(jnp.arange(steps)[None] <= i, scores, -1e9)
            logits = (x + jnp.einsum("ht,thd->hd", jax.nn.softmax(scores), values).reshape(-1) @ wo) @ embed.T
            return (jnp.argmax(logits).astype(token.dtype), keys, values), logits

        empty = jnp.zeros((steps, heads, width))
        return lax.scan(step, (jnp.int32(1), empty, empty), jnp.arange(steps))[1]

    return generate


@program(lambda r: f32(r.normal(size=(8, 5)), r.normal(size=(5, 4)), r.normal(size=(4, 5, 6)), r.normal(size=(4, 6, 5))), 2e-3)
def experts_with_limited_room(jax):
    jnp = jax.numpy

    def layer(x, gate, up, down, room=3):
        values, at = jax.lax.top_k(x @ gate, 2)
        share = (jax.nn.one_hot(at, 4) * jax.nn.softmax(values)[..., None]).sum(1)
        place = jnp.cumsum((share > 0).astype(jnp.int32), 0) - 1
        kept = (place < room) & (share > 0)
        slots = jax.nn.one_hot(jnp.where(kept, place, room), room) * kept[..., None]
        hidden = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", jnp.einsum("tec,td->ecd", slots, x), up))
        return jnp.einsum("tec,te,ecd->td", slots, share, jnp.einsum("ecf,efd->ecd", hidden, down))

    return lambda *p: (layer(*p), jax.grad(lambda *p: (layer(*p) ** 2).mean(), (0, 1, 2))(*p))


@program(lambda r: (*f32(r.normal(size=(6, 3))), r.integers(0, 6, 14), np.concatenate([np.arange(6), r.integers(0, 6, 8)]), *f32(r.normal(size=(3, 4)), r.normal(size=8))))
def attention_on_a_graph(jax):
    jnp, ops = jax.numpy, jax.ops

    def layer(h, src, dst, w, a):
        n, h = h.shape[0], h @ w
        e = jax.nn.leaky_relu(jnp.concatenate([h[src], h[dst]], -1) @ a, 0.2)
        e = jnp.exp(e - ops.segment_max(e, dst, n)[dst])
        return ops.segment_sum((e / ops.segment_sum(e, dst, n)[dst])[:, None] * h[src], dst, num_segments=n)

    return lambda h, src, dst, w, a: (layer(h, src, dst, w, a), jnp.zeros(h.shape[0]).at[dst].add(1),
                                      jax.grad(lambda w: (layer(h, src, dst, w, a) ** 2).sum())(w))


# ---- recurrences and dynamic programs ----


@program(lambda r: f32(*[r.normal(size=6) for _ in range(3)], r.normal(size=(6, 2))), 1e-3)
def tridiagonal_systems(jax):
    jnp = jax.numpy

    def solve(a, b, c, d):
        def forward(carry, row):
            cp, dp = carry
            a, b, c, d = row
            m = b - a * cp
            carry = c / m, (d - a * dp) / m
            return carry, carry

        def backward(x, row):
            x = row[1] - row[0] * x
            return x, x

        _, rows = jax.lax.scan(forward, (0.0, 0.0), (a, b, c, d))
        return jax.lax.scan(backward, 0.0, rows, reverse=True)[1]

    def f(a, b, c, d):
        b = b ** 2 + 4
        same = jax.lax.linalg.tridiagonal_solve(a.at[0].set(0), b, c.at[-1].set(0), d)
        return jax.vmap(solve, in_axes=(None, None, None, 1), out_axes=1)(a, b, c, d), same, jax.jacobian(lambda b: solve(a, b, c, d[:, 0]))(b)

    return f


@program(lambda r: (r.integers(0, 4, (3, 7)), r.integers(0, 4, (3, 6))))
def edit_distances(jax):
    jnp = jax.numpy

    def distance(a, b):
        def row(before, letter):
            def cell(left, inputs):
                up, diagonal, other = inputs
                v = jnp.minimum(jnp.minimum(left + 1, up + 1), diagonal + jnp.where(letter == other, 0, 1))
                return v, v

            first = before[0] + 1
            _, rest = jax.lax.scan(cell, first, (before[1:], before[:-1], b))
            return jnp.concatenate([first[None], rest]), None

        return jax.lax.scan(row, jnp.arange(b.shape[0] + 1), a)[0][-1]

    return jax.vmap(distance)


@program(lambda r: f32(r.normal(size=(6, 4)), r.normal(size=(3, 4))) + (np.array([0, 2, 2]),))
def updates_of_many_kinds(jax):
    jnp = jax.numpy

    def f(x, v, i):
        return (x.at[1:4].add(v), x.at[::2, 1].max(0.5), x.at[i].min(v[0]), x.at[i, i].multiply(2.0), x.at[..., -1].set(7), x.at[i].apply(jnp.sin),
                x.at[i].get(mode="fill", fill_value=-1), x.at[:, None, 2].get(), x.at[jnp.array([10, 1])].add(1.0, mode="drop"), x.at[5:0:-2].divide(3.0),
                x.at[i].power(2), jnp.where(x > 0, size=4), jnp.unique(jnp.round(x).astype(int), size=6, fill_value=99, return_counts=True))

    return f


@program(lambda r: f32(r.normal(size=(4, 3)), r.normal(size=3)))
def transformations_of_transformations(jax):
    jnp = jax.numpy

    def f(w, x):
        g = lambda w, x: jnp.sin(w @ x)
        y, pull = jax.vjp(g, w, x)
        turned = jax.linear_transpose(lambda t: jax.jvp(lambda x: g(w, x), (x,), (t,))[1], x)(y)
        curvature = jnp.trace(jax.hessian(lambda x: g(w, x).sum())(x))
        each = jax.vmap(jax.grad(lambda w, x: g(w, x).sum()), (None, 0))(w, jnp.stack([x, 2 * x]))
        third = jax.jacfwd(jax.jacrev(jax.jacfwd(lambda s: jnp.sum(g(w, x * s)))))(1.0)
        _, pull_aux, aux = jax.vjp(lambda x: (g(w, x), 2 * x), x, has_aux=True)
        return pull(y), turned, curvature, each, third, aux, pull_aux(y), jax.linearize(lambda x: g(w, x), x)[1](x)

    return f
