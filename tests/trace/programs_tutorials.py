"""Programs of tutorials, as users of JAX write them: functions of the package (jax, or wick in its place). What they give
under JAX is kept in programs_expected.npz, which programs_expected.py writes."""
import collections
import functools

import numpy as np

from trace_programs import f32, program


def one(a):
    return f32(a)[0]


# ---- networks ----


@program(lambda r: ([(one(r.normal(size=(m, n)) * (2 / m) ** 0.5), one(np.zeros(n))) for m, n in ((2, 16), (16, 16), (16, 3))],
                    *f32(r.normal(size=(90, 2))), np.arange(90) % 3))
def spirals_with_adam(jax):
    jnp = jax.numpy
    State = collections.namedtuple("State", "params m v step")

    def predict(params, x):
        *hidden, (w, b) = params
        for a, c in hidden:
            x = jax.nn.gelu(jnp.dot(x, a) + c)
        return jnp.dot(x, w) + b

    def loss(params, x, y):
        logits = predict(params, x)
        logits -= jax.scipy.special.logsumexp(logits, axis=1, keepdims=True)
        return -logits[jnp.arange(x.shape[0]), y].mean()

    def update(state, _, x, y):
        value, g = jax.value_and_grad(loss)(state.params, x, y)
        t = state.step + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state.m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * jnp.square(g), state.v, g)
        c1, c2 = 1 - 0.9 ** t, 1 - 0.999 ** t
        params = jax.tree_util.tree_map(lambda p, m, v: p - 0.01 * (m / c1) / (jnp.sqrt(v / c2) + 1e-8), state.params, m, v)
        return State(params, m, v, t), value

    def f(params, x, y):
        zeros = jax.tree.map(jnp.zeros_like, params)
        state, values = jax.lax.scan(functools.partial(update, x=x, y=y), State(params, zeros, zeros, 0), xs=None, length=20)
        accuracy = jnp.mean(jnp.argmax(predict(state.params, x), axis=1) == y)
        return values, accuracy, state.step, state.params

    return f


@program(lambda r: ({"conv1": one(r.normal(size=(3, 3, 1, 8)) / 3), "conv2": one(r.normal(size=(3, 3, 8, 16)) / 8),
                     "dense": one(r.normal(size=(16 * 3 * 3, 10)) / 12), "bias": one(np.zeros(10))}, *f32(r.normal(size=(4, 12, 12, 1))), r.integers(0, 10, 4)))
def cnn_in_nhwc(jax):
    jnp, lax = jax.numpy, jax.lax

    def forward(p, x):
        dn = lax.conv_dimension_numbers(x.shape, p["conv1"].shape, ("NHWC", "HWIO", "NHWC"))
        for name in ("conv1", "conv2"):
            x = lax.conv_general_dilated(x, p[name], (1, 1), "SAME", (1, 1), (1, 1), dn)
            x = jax.nn.relu(x)
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jnp.reshape(x, (x.shape[0], -1))
        return x @ p["dense"] + p["bias"]

    def loss(p, x, y):
        labels = jax.nn.one_hot(y, 10)
        return jnp.mean(-jnp.sum(labels * jax.nn.log_softmax(forward(p, x)), -1))

    return lambda p, x, y: (forward(p, x), jax.grad(loss)(p, x, y))


def _gru_weights(r, n, h):
    return {k: {"w": one(r.normal(size=(n, h)) / n ** 0.5), "u": one(r.normal(size=(h, h)) / h ** 0.5), "b": one(np.zeros(h))} for k in "zrh"}


@program(lambda r: (_gru_weights(r, 4, 7), *f32(r.normal(size=(3, 9, 4))), r.integers(2, 10, 3)))
def gru_with_masks(jax):
    jnp, lax = jax.numpy, jax.lax

    def cell(p, h, x):
        z = jax.nn.sigmoid(x @ p["z"]["w"] + h @ p["z"]["u"] + p["z"]["b"])
        r = jax.nn.sigmoid(x @ p["r"]["w"] + h @ p["r"]["u"] + p["r"]["b"])
        n = jnp.tanh(x @ p["h"]["w"] + (r * h) @ p["h"]["u"] + p["h"]["b"])
        return (1 - z) * h + z * n

    def run(p, xs, lengths):
        mask = jnp.arange(xs.shape[1])[None, :] < lengths[:, None]

        def step(h, inputs):
            x, m = inputs
            new = cell(p, h, x)
            h = lax.select(jnp.broadcast_to(m[:, None], h.shape), new, h)
            return h, h

        h0 = jnp.zeros((xs.shape[0], 7), xs.dtype)
        last, all_h = lax.scan(step, h0, (xs.swapaxes(0, 1), mask.T), unroll=2)
        return jnp.sum(last ** 2), jnp.moveaxis(all_h, 0, 1)

    return jax.value_and_grad(run, has_aux=True)


@program(lambda r: (*f32(r.normal(size=(2, 5, 12))), {k: one(r.normal(size=(12, 3, 4)) / 4) for k in "qkv"} | {"o": one(r.normal(size=(3, 4, 12)) / 4)}))
def multi_head_attention_by_einsum(jax):
    jnp = jax.numpy

    def rotary(x, base=10000.0):
        half = x.shape[-1] // 2
        inv = base ** (-jnp.arange(half, dtype=jnp.float32) / half)
        angle = jnp.einsum("s,f->sf", jnp.arange(x.shape[1], dtype=jnp.float32), inv)
        cos, sin = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
        a, b = x[..., :half], x[..., half:]
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def rms(x):
        return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + 1e-6)

    def attention(x, p):
        h = rms(x)
        q, k, v = (jnp.einsum("bsd,dhf->bshf", h, p[n]) for n in "qkv")
        q, k = rotary(q), rotary(k)
        scores = jnp.einsum("bqhf,bkhf->bhqk", q, k) / jnp.sqrt(q.shape[-1])
        mask = jnp.tril(jnp.ones((x.shape[1],) * 2, bool))
        scores = jnp.where(mask[None, None], scores, jnp.finfo(scores.dtype).min)
        w = jax.nn.softmax(scores.astype(jnp.float32), axis=-1)
        return x + jnp.einsum("bhqk,bkhf,hfd->bqd", w, v, p["o"])

    return lambda x, p: (attention(x, p), jax.grad(lambda p: attention(x, p).sum())(p))


@program(lambda r: ([[one(r.normal(size=(2, 8)) * 0.5), one(np.zeros(8)), one(r.normal(size=(8, 4)) * 0.3), one(np.zeros(4))] for _ in range(4)], *f32(r.normal(size=(16, 4)))))
def real_nvp(jax):
    jnp = jax.numpy

    def shift_and_log_scale(p, x):
        w1, b1, w2, b2 = p
        s, t = jnp.split(jnp.maximum(x @ w1 + b1, 0) @ w2 + b2, 2, axis=-1)
        return t, jnp.tanh(s)

    def forward(params, x):
        total = jnp.zeros(x.shape[0])
        for k, p in enumerate(params):
            lower, upper = x[:, :2], x[:, 2:]
            if k % 2:
                lower, upper = upper, lower
            t, s = shift_and_log_scale(p, lower)
            upper = upper * jnp.exp(s) + t
            total += s.sum(axis=1)
            x = jnp.hstack([upper, lower] if k % 2 else [lower, upper])
        return x, total

    def inverse(params, z):
        for k, p in reversed(list(enumerate(params))):
            lower, upper = (z[:, 2:], z[:, :2]) if k % 2 else (z[:, :2], z[:, 2:])
            t, s = shift_and_log_scale(p, lower)
            upper = (upper - t) * jnp.exp(-s)
            z = jnp.hstack([upper, lower] if k % 2 else [lower, upper])
        return z

    def nll(params, x):
        z, total = forward(params, x)
        return -jnp.mean(jax.scipy.stats.norm.logpdf(z).sum(-1) + total)

    def f(params, x):
        z, total = forward(params, x)
        jacobian = jax.vmap(jax.jacfwd(lambda x: forward(params, x[None])[0][0]))(x)
        return inverse(params, z) - x, total - jnp.linalg.slogdet(jacobian)[1], jax.grad(nll)(params, x)

    return f


@program(lambda r: f32(r.normal(size=(6, 6)), r.normal(size=(6, 2)), r.normal(size=(2, 6)), r.normal(size=(10, 6)), r.normal(size=(10, 6))))
def low_rank_adaptation(jax):
    jnp = jax.numpy

    def f(w, a, b, x, y):
        frozen = {"w": w}

        def loss(lora, frozen):
            frozen = jax.lax.stop_gradient(frozen)
            out = x @ (frozen["w"] + 0.5 * lora["a"] @ lora["b"])
            return jnp.mean(jnp.sum((out - y) ** 2, axis=1)) + 1e-2 * sum(jnp.vdot(p, p) for p in jax.tree.leaves(lora))

        def step(lora, _):
            value, g = jax.value_and_grad(loss)(lora, frozen)
            norm = jnp.sqrt(sum(jnp.sum(g ** 2) for g in jax.tree.leaves(g)))
            scale = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
            return jax.tree.map(lambda p, g: p - 0.1 * scale * g, lora, g), value

        return jax.lax.scan(step, {"a": a, "b": b}, jnp.arange(15))

    return f


@program(lambda r: (*f32(r.normal(size=(20, 6)) * 0.3, r.normal(size=(20, 6)) * 0.3), r.integers(0, 20, (40, 2)), r.integers(0, 20, (40, 5))))
def word2vec(jax):
    jnp = jax.numpy

    def f(centers, contexts, pairs, negatives):
        def loss(tables, pair, negative):
            u, v = tables
            c = jnp.take(u, pair[0], axis=0)
            score = lambda k: v[k] @ c
            return -jax.nn.log_sigmoid(score(pair[1])) - jnp.sum(jax.nn.log_sigmoid(-jax.vmap(score)(negative)))

        def step(tables, batch):
            g = jax.grad(lambda t: jax.vmap(loss, in_axes=(None, 0, 0))(t, *batch).mean())(tables)
            return jax.tree.map(lambda t, g: t - 0.5 * g, tables, g), None

        batches = (pairs.reshape(8, 5, 2), negatives.reshape(8, 5, 5))
        (u, v), _ = jax.lax.scan(step, (centers, contexts), batches)
        unit = u / jnp.linalg.norm(u, axis=-1, keepdims=True)
        near, which = jax.lax.top_k(unit @ unit[3], 4)
        return u, v, near, which

    return f


def _graph(r):
    return *f32(r.normal(size=(10, 5))), r.integers(0, 10, 30), r.integers(0, 10, 30), *f32(r.normal(size=(30, 3)), r.normal(size=(13, 6)) / 3, r.normal(size=(11, 5)) / 3)


@program(_graph)
def message_passing(jax):
    jnp = jax.numpy

    def f(nodes, senders, receivers, edges, we, wn):
        def loss(we, wn):
            h, e = nodes, edges
            for _ in range(2):
                messages = jnp.tanh(jnp.concatenate([h[senders], h[receivers], edges], axis=1) @ we)
                total = jax.ops.segment_sum(messages, receivers, num_segments=h.shape[0])
                count = jax.ops.segment_sum(jnp.ones_like(receivers, dtype=jnp.float32), receivers, num_segments=h.shape[0])
                most = jnp.where(count[:, None] > 0, jax.ops.segment_max(messages, receivers, h.shape[0]), 0.0)
                h = h + jax.nn.silu(jnp.hstack((h, total / jnp.maximum(count, 1)[:, None])) @ wn) + most[:, :5]
            return jnp.mean(h ** 2), h
        (value, h), grads = jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(we, wn)
        return value, h, grads

    return f


@program(lambda r: (one(r.normal(size=(2, 16)) / 2), one(r.normal(size=(16, 2)) / 4), *f32(r.normal(size=(5, 2)), np.linspace(0, 1, 6))))
def neural_ode_by_adjoint(jax):
    jnp = jax.numpy

    def rk4(f, y, t, dt):
        k1 = f(y, t)
        k2 = f(jax.tree.map(lambda y, k: y + dt / 2 * k, y, k1), t + dt / 2)
        k3 = f(jax.tree.map(lambda y, k: y + dt / 2 * k, y, k2), t + dt / 2)
        k4 = f(jax.tree.map(lambda y, k: y + dt * k, y, k3), t + dt)
        return jax.tree.map(lambda y, a, b, c, d: y + dt / 6 * (a + 2 * b + 2 * c + d), y, k1, k2, k3, k4)

    def field(params, y, t):
        return jnp.tanh(y @ params[0]) @ params[1] * jnp.cos(t)

    @functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
    def odeint(params, y0, steps, t1):
        return jax.lax.fori_loop(0, steps, lambda i, y: rk4(lambda y, t: field(params, y, t), y, i * t1 / steps, t1 / steps), y0)

    def forward(params, y0, steps, t1):
        y1 = odeint(params, y0, steps, t1)
        return y1, (params, y1, t1)

    def backward(steps, saved, g):
        params, y1, t1 = saved

        def augmented(state, t):
            y, a, _ = state
            value, pull = jax.vjp(lambda p, y: field(p, y, t1 - t), params, y)
            dp, dy = pull(a)
            return -value, dy, dp

        state = y1, g, jax.tree.map(jnp.zeros_like, params)
        state = jax.lax.fori_loop(0, steps, lambda i, s: rk4(augmented, s, i * t1 / steps, t1 / steps), state)
        return state[2], state[1], jnp.zeros_like(t1)

    odeint.defvjp(forward, backward)

    def f(w, v, y0, ts):
        loss = lambda params: jnp.mean(odeint(params, y0, 12, ts[-1]) ** 2)
        return loss((w, v)), jax.grad(loss)((w, v))

    return f


@program(lambda r: (*f32(r.normal(size=(5, 4)) * 0.3, r.normal(size=(5, 4)), r.normal(size=(4, 6)), r.normal(size=(6, 3))), r.integers(0, 3, 12), *f32(r.uniform(size=12))))
def reinforce_on_a_chain(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(table, features, w, v, actions, noise):
        def policy(params, s):
            return jax.nn.log_softmax(jnp.tanh(features[s] @ params[0]) @ params[1])

        def rollout(params, start):
            def step(carry, u):
                s, done = carry
                logp = policy(params, s)
                a = jnp.searchsorted(jnp.cumsum(jnp.exp(logp)), u)
                a = jnp.clip(a, 0, 2)
                s2 = lax.switch(a, [lambda s: jnp.maximum(s - 1, 0), lambda s: s, lambda s: jnp.minimum(s + 1, 4)], s)
                reward = jnp.where(done, 0.0, jnp.where(s2 == 4, 1.0, -0.1))
                return (s2, done | (s2 == 4)), (logp[a], reward)

            _, (logps, rewards) = lax.scan(step, (start, False), noise)
            returns = lax.scan(lambda g, r: (r + 0.9 * g, r + 0.9 * g), 0.0, rewards, reverse=True)[1]
            advantage = lax.stop_gradient((returns - returns.mean()) / (returns.std() + 1e-6))
            return -jnp.sum(logps * advantage), returns

        value, g = jax.value_and_grad(lambda p: jnp.mean(jax.vmap(rollout, (None, 0))(p, jnp.array([0, 1, 2]))[0]))((w, v))
        return value, g

    return f


# ---- probability ----


@program(lambda r: f32(r.normal(size=2), r.normal(size=(20, 2)), r.uniform(size=20)))
def metropolis_and_leapfrog_by_while(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(q, momenta, uniforms):
        potential = lambda q: 0.05 * (1 - q[0]) ** 2 + (q[1] - q[0] ** 2) ** 2
        force = jax.grad(potential)

        def leapfrog(q, p, eps, n):
            def body(s):
                i, q, p = s
                p = p - 0.5 * eps * force(q)
                q = q + eps * p
                return i + 1, q, p - 0.5 * eps * force(q)
            return lax.while_loop(lambda s: s[0] < n, body, (0, q, p))[1:]

        def kernel(state, inputs):
            q, accepted = state
            p, u = inputs
            new_q, new_p = leapfrog(q, p, 0.05, 15)
            energy = lambda q, p: potential(q) + 0.5 * jnp.dot(p, p)
            log_ratio = energy(q, p) - energy(new_q, new_p)
            take = jnp.log(u) < log_ratio
            q = lax.cond(take, lambda a, b: a, lambda a, b: b, new_q, q)
            return (q, accepted + take), q

        (q, accepted), chain = lax.scan(kernel, (q, 0), (momenta, uniforms))
        return accepted, chain

    return f


@program(lambda r: f32(r.normal(size=3), r.normal(size=3)))
def no_u_turn_doubling(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(q, p):
        force = jax.grad(lambda q: jnp.sum(0.5 * q ** 2 + 0.1 * q ** 4))

        def leap(q, p, d):
            p = p - 0.5 * d * force(q)
            q = q + d * p
            return q, p - 0.5 * d * force(q)

        def turned(a, b):
            d = b[0] - a[0]
            return (jnp.dot(d, a[1]) < 0) | (jnp.dot(d, b[1]) < 0)

        def go(s):
            depth, left, right, _ = s
            forward = depth % 2 == 0
            end = jax.tree.map(lambda l, r: jnp.where(forward, r, l), left, right)
            end = lax.fori_loop(0, 2 ** depth, lambda _, e: leap(*e, jnp.where(forward, 0.1, -0.1)), end)
            left = jax.tree.map(lambda l, e: jnp.where(forward, l, e), left, end)
            right = jax.tree.map(lambda r, e: jnp.where(forward, e, r), right, end)
            return depth + 1, left, right, turned(left, right)

        depth, left, right, stop = lax.while_loop(lambda s: jnp.logical_and(s[0] < 8, ~s[3]), go, (0, (q, p), (q, p), False))
        return depth, left, right, stop

    return f


@program(lambda r: f32((x := np.sort(r.uniform(-3, 3, (24, 1)), axis=0)), np.sin(x[:, 0]), np.linspace(-3, 3, 9)[:, None]))
def gaussian_process_by_cholesky(jax):
    jnp = jax.numpy
    from_scipy = jax.scipy.linalg

    def f(x, y, x_test):
        def kernel(p, a, b):
            d = jnp.sum((a[:, None] - b[None, :]) ** 2, -1)
            return jnp.exp(p["scale"]) * jnp.exp(-0.5 * d / jnp.exp(2 * p["length"]))

        def nll(p):
            k = kernel(p, x, x) + (jnp.exp(p["noise"]) + 1e-4) * jnp.eye(len(x))
            l = jnp.linalg.cholesky(k)
            alpha = from_scipy.cho_solve((l, True), y)
            return 0.5 * y @ alpha + jnp.log(jnp.diagonal(l)).sum() + 0.5 * len(x) * jnp.log(2 * jnp.pi)

        p = {"scale": jnp.array(0.0), "length": jnp.array(0.0), "noise": jnp.array(-2.0)}
        p, values = jax.lax.scan(lambda p, _: (jax.tree.map(lambda p, g: p - 0.02 * g, p, jax.grad(nll)(p)), nll(p)), p, None, length=10)
        k = kernel(p, x, x) + (jnp.exp(p["noise"]) + 1e-4) * jnp.eye(len(x))
        l = jnp.linalg.cholesky(k)
        ks = kernel(p, x, x_test)
        v = from_scipy.solve_triangular(l, ks, lower=True)
        mean = ks.T @ from_scipy.solve_triangular(l.T, from_scipy.solve_triangular(l, y, lower=True), lower=False)
        return values, p, mean, jnp.diag(kernel(p, x_test, x_test)) - jnp.sum(v ** 2, axis=0)

    return f


@program(lambda r: f32(np.concatenate([r.normal(size=(40, 2)), r.normal(size=(40, 2)) + 3])), 1e-3)
def em_for_a_mixture_in_two_dimensions(jax):
    jnp = jax.numpy
    mvn = jax.scipy.stats.multivariate_normal

    def f(x):
        def step(state, _):
            pi, mu, cov = state
            logp = jax.vmap(lambda m, c: mvn.logpdf(x, m, c))(mu, cov).T + jnp.log(pi)
            total = jax.nn.logsumexp(logp, axis=1, keepdims=True)
            r = jnp.exp(logp - total)
            n = r.sum(0)
            mu = jnp.einsum("nk,nd->kd", r, x) / n[:, None]
            d = x[:, None, :] - mu
            cov = jnp.einsum("nk,nki,nkj->kij", r, d, d) / n[:, None, None] + 1e-3 * jnp.eye(2)
            return (n / len(x), mu, cov), total.mean()

        start = jnp.full(2, 0.5), jnp.array([[-1.0, 0.0], [2.0, 2.0]]), jnp.tile(jnp.eye(2), (2, 1, 1))
        return jax.lax.scan(step, start, None, length=10)

    return f


@program(lambda r: f32(r.normal(size=(30, 2))), 1e-3)
def kalman_smoother(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(ys):
        dt = 0.1
        a = jnp.array([[1, 0, dt, 0], [0, 1, 0, dt], [0, 0, 1, 0], [0, 0, 0, 1]])
        c = jnp.eye(2, 4)
        q, r = 0.01 * jnp.eye(4), 0.5 * jnp.eye(2)

        def filt(carry, y):
            m, p = carry
            mp, pp = a @ m, a @ p @ a.T + q
            s = c @ pp @ c.T + r
            k = jnp.linalg.solve(s, c @ pp).T
            m, p = mp + k @ (y - c @ mp), (jnp.eye(4) - k @ c) @ pp
            ll = -0.5 * ((y - c @ mp) @ jnp.linalg.inv(s) @ (y - c @ mp) + jnp.log(jnp.linalg.det(s)))
            return (m, p), (m, p, mp, pp, ll)

        _, (ms, ps, mps, pps, lls) = lax.scan(filt, (jnp.zeros(4), jnp.eye(4)), ys)

        def smooth(carry, inputs):
            m_next, p_next = carry
            m, p, mp, pp = inputs
            g = p @ a.T @ jnp.linalg.inv(pp)
            m, p = m + g @ (m_next - mp), p + g @ (p_next - pp) @ g.T
            return (m, p), m

        last = (ms[-1], ps[-1])
        _, smoothed = lax.scan(smooth, last, (ms[:-1], ps[:-1], mps[1:], pps[1:]), reverse=True)
        return jnp.vstack([smoothed, ms[-1:]]), lls.sum()

    return f


# ---- solvers ----


@program(lambda r: f32(r.uniform(size=(8, 2)), r.uniform(size=(10, 2))), 1e-3)
def sinkhorn_and_its_gradient(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x, y):
        def cost(x):
            c = jnp.sum((x[:, None] - y[None]) ** 2, axis=-1)
            eps = 0.1
            log_a, log_b = jnp.full(8, -jnp.log(8.0)), jnp.full(10, -jnp.log(10.0))

            def body(_, fg):
                u, v = fg
                u = eps * (log_a - jax.nn.logsumexp((v[None] - c) / eps, axis=1))
                v = eps * (log_b - jax.nn.logsumexp((u[:, None] - c) / eps, axis=0))
                return u, v

            u, v = lax.fori_loop(0, 30, body, (jnp.zeros(8), jnp.zeros(10)))
            p = jnp.exp((u[:, None] + v[None] - c) / eps)
            return jnp.sum(p * c)

        return jax.value_and_grad(cost)(x)

    return f


@program(lambda r: f32(np.array([-1.2, 1.0, 0.5, 2.0])), 5e-3)
def l_bfgs_on_rosenbrock(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x):
        fun = lambda x: jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
        m = 4

        def direction(g, s, y, rho, k):
            def first(i, qa):
                q, alpha = qa
                j = m - 1 - i
                a = rho[j] * jnp.dot(s[j], q)
                return q - a * y[j], alpha.at[j].set(a)
            q, alpha = lax.fori_loop(0, m, first, (g, jnp.zeros(m)))
            gamma = jnp.where(k > 0, jnp.dot(s[-1], y[-1]) / jnp.maximum(jnp.dot(y[-1], y[-1]), 1e-10), 1.0)
            def second(j, r):
                b = rho[j] * jnp.dot(y[j], r)
                return r + s[j] * (alpha[j] - b)
            return -lax.fori_loop(0, m, second, gamma * q)

        def line(x, g, d):
            return lax.while_loop(lambda t: fun(x + t * d) > fun(x) + 1e-4 * t * jnp.vdot(g, d), lambda t: t * 0.5, 1.0)

        def step(k, state):
            x, g, s, y, rho = state
            d = direction(g, s, y, rho, k)
            t = line(x, g, d)
            new = x + t * d
            ng = jax.grad(fun)(new)
            ds, dy = new - x, ng - g
            s, y = jnp.roll(s, -1, 0).at[-1].set(ds), jnp.roll(y, -1, 0).at[-1].set(dy)
            sy = jnp.dot(ds, dy)
            rho = jnp.roll(rho, -1).at[-1].set(jnp.where(sy > 1e-10, 1.0 / sy, 0.0))
            return new, ng, s, y, rho

        n = x.shape[0]
        return fun(lax.fori_loop(0, 12, step, (x, jax.grad(fun)(x), jnp.zeros((m, n)), jnp.zeros((m, n)), jnp.zeros(m)))[0])

    return f


@program(lambda r: f32(r.normal(size=(9, 6))), 2e-3)
def singular_values_by_deflation(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(a):
        def top(a):
            v = lax.fori_loop(0, 200, lambda _, v: (lambda w: w / jnp.linalg.norm(w))(a.T @ (a @ v)), jnp.ones(a.shape[1]))
            u = a @ v
            s = jnp.sqrt(jnp.sum(u * u))
            return u / s, s, v

        def step(a, _):
            u, s, v = top(a)
            return a - s * jnp.outer(u, v), s
        rest, s = lax.scan(step, a, None, 3)
        return s, jnp.linalg.norm(rest, 2), s - jnp.linalg.svd(a, compute_uv=False)[:3]

    return f


@program(lambda r: (np.float32(30), *f32(r.uniform(0.5, 1.5, 4), r.uniform(5, 30, (20, 2)))), 2e-3)
def lotka_volterra_fitting(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(_, theta, data):
        def field(y, t, theta):
            a, b, c, d = theta
            prey, predator = y
            return jnp.array([a * prey - 0.05 * b * prey * predator, -c * predator + 0.05 * d * prey * predator])

        def solve(theta):
            def step(y, t):
                k1 = field(y, t, theta)
                k2 = field(y + 0.05 * k1, t, theta)
                return y + 0.1 * k2, y
            return lax.scan(step, jnp.array([20.0, 10.0]), jnp.arange(20) * 0.1)[1]

        loss = lambda theta: jnp.mean((jnp.log1p(solve(jnp.exp(theta))) - jnp.log1p(data)) ** 2)
        value, g = jax.value_and_grad(loss)(jnp.log(theta))
        return value, g, jax.jacrev(solve)(theta)[-1]

    return f


@program(lambda r: f32(r.normal(size=(7, 3)), r.normal(size=(7, 3)) * 0.1, r.uniform(0.5, 2, 7)), 1e-3)
def n_bodies(jax):
    jnp = jax.numpy

    def f(x, v, m):
        def potential(x):
            d = x[:, None, :] - x[None, :, :]
            r = jnp.sqrt(jnp.sum(d * d, -1) + 0.1)
            i, j = jnp.triu_indices(x.shape[0], k=1)
            return -jnp.sum(m[i] * m[j] / r[i, j])

        def step(carry, _):
            x, v = carry
            a = -jax.grad(potential)(x) / m[:, None]
            v = v + 0.01 * a
            x = x + 0.01 * v
            energy = potential(x) + 0.5 * jnp.sum(m[:, None] * v ** 2)
            return (x, v), energy

        return jax.lax.scan(step, (x, v), None, length=25)

    return f


@program(lambda r: f32(r.normal(size=(4, 8)) * 0.5, r.normal(size=8) * 0.5, np.array([0.1, 0, 0.05, 0])), 2e-3)
def cart_pole_by_gradient(jax):
    jnp = jax.numpy

    def f(w1, w2, start):
        def dynamics(s, u):
            x, dx, th, dth = s
            sin, cos = jnp.sin(th), jnp.cos(th)
            temp = (u + 0.05 * dth ** 2 * sin) / 1.1
            ddth = (9.8 * sin - cos * temp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
            ddx = temp - 0.05 * ddth * cos / 1.1
            return jnp.stack([x + 0.02 * dx, dx + 0.02 * ddx, th + 0.02 * dth, dth + 0.02 * ddth])

        def cost(params):
            def step(s, _):
                u = 5 * jnp.tanh(jnp.tanh(s @ params[0]) @ params[1])
                s = dynamics(s, u)
                return s, s[2] ** 2 + 0.01 * s[0] ** 2 + 1e-4 * u ** 2
            _, costs = jax.lax.scan(step, start, None, length=40)
            return costs.sum()

        def update(params, _):
            value, g = jax.value_and_grad(cost)(params)
            return [p - 0.05 * d for p, d in zip(params, g)], value

        return jax.lax.scan(update, [w1, w2], None, length=6)

    return f


@program(lambda r: (r.integers(0, 12, 40), r.integers(0, 12, 40)))
def page_rank_of_an_edge_list(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(src, dst):
        n = 12
        out = jnp.zeros(n).at[src].add(1.0)

        def body(s):
            rank, _, it = s
            share = jnp.where(out > 0, rank / jnp.maximum(out, 1), 0.0)
            new = jnp.zeros(n).at[dst].add(share[src])
            new = 0.85 * (new + jnp.sum(jnp.where(out == 0, rank, 0)) / n) + 0.15 / n
            return new, jnp.abs(new - rank).sum(), it + 1

        rank, _, it = lax.while_loop(lambda s: (s[1] > 1e-6) & (s[2] < 100), body, (jnp.full(n, 1 / n), jnp.inf, 0))
        return rank, jnp.argsort(-rank)[:3]

    return f


@program(lambda r: f32(np.concatenate([r.normal(size=(20, 2)) + c for c in ([0, 0], [4, 4], [0, 5])])))
def k_means_until_it_settles(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x):
        def assign(c):
            return jnp.argmin(jnp.linalg.norm(x[:, None] - c[None], axis=-1), axis=-1)

        def body(s):
            c, old, _ = s
            a = assign(c)
            hot = jax.nn.one_hot(a, 3)
            new = (hot.T @ x) / jnp.clip(hot.sum(0), 1)[:, None]
            return new, a, jnp.any(a != old)

        c, a, _ = lax.while_loop(lambda s: s[2], body, (x[jnp.array([0, 25, 50])], jnp.full(len(x), -1), jnp.array(True)))
        return c, a, jnp.bincount(a, length=3)

    return f


@program(lambda r: f32(r.normal(size=(6, 10, 10))))
def beam_search(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(logits):
        k, v, steps = 3, 10, 6

        def step(state, t):
            scores, tokens, ended = state
            logp = jax.nn.log_softmax(logits[t])[tokens[:, t]]
            pad = jnp.where(jnp.arange(v) == 0, 0.0, -jnp.inf)
            logp = jnp.where(ended[:, None], pad, logp)
            total = (scores[:, None] + logp).reshape(-1)
            best, at = lax.top_k(total, k)
            beam, token = jnp.divmod(at, v)
            tokens = tokens[beam].at[:, t + 1].set(token)
            return (best, tokens, ended[beam] | (token == 0)), best

        start = jnp.array([0.0] + [-1e9] * (k - 1)), jnp.zeros((k, steps + 1), dtype=jnp.int32).at[:, 0].set(1), jnp.zeros(k, bool)
        (scores, tokens, ended), trail = lax.scan(step, start, jnp.arange(steps))
        return scores, tokens, ended, trail

    return f


# ---- transformations ----


@program(lambda r: f32(r.normal(size=5), r.normal(size=(4, 5))))
def derivatives_of_all_kinds(jax):
    jnp = jax.numpy

    def f(x, a):
        g = lambda x: jnp.sin(a @ x) * jnp.prod(jnp.cos(x))
        h = lambda x: jnp.sum(jnp.exp(-x ** 2)) * x[0] ** 3
        hvp = lambda x, v: jax.jvp(jax.grad(h), (x,), (v,))[1]
        value, pull = jax.vjp(g, x)
        out, tangent = jax.jvp(g, (x,), (jnp.ones_like(x),))
        third = jax.jacfwd(jax.jacrev(jax.grad(h)))(x)
        y, lin = jax.linearize(g, x)
        return jax.jacfwd(g)(x), jax.jacrev(g)(x), jax.hessian(h)(x), hvp(x, x), pull(value), tangent, third, lin(x), jax.vmap(lin)(jnp.eye(5))

    return f


@program(lambda r: f32(r.normal(size=(3, 8)), r.normal(size=(8,))))
def scans_in_batches(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x, w):
        def ema(x, a):
            return lax.scan(lambda h, v: ((1 - a) * h + a * v,) * 2, x[0], x)[1]

        def linear_recurrence(a, b):
            def combine(l, r):
                return r[0] * l[0], r[0] * l[1] + r[1]
            return lax.associative_scan(combine, (a, b))[1]

        batched = jax.vmap(ema, in_axes=(0, None))(x, 0.3)
        both = jax.vmap(jax.vmap(ema, in_axes=(None, 0)), in_axes=(0, None))(x, jnp.array([0.1, 0.5]))
        lin = jax.vmap(linear_recurrence, in_axes=(None, 0))(jax.nn.sigmoid(w), x)
        g = jax.grad(lambda x: jax.vmap(ema, in_axes=(0, None))(x, 0.3).var())(x)
        return batched, both, lin, g, lax.cumsum(x, axis=1), lax.cummax(x, axis=1, reverse=True), lax.associative_scan(jnp.maximum, x, axis=1)

    return f


@program(lambda r: f32(r.normal(size=6)))
def custom_rules(jax):
    jnp = jax.numpy

    @jax.custom_vjp
    def clip_gradient(lo, hi, x):
        return x

    clip_gradient.defvjp(lambda lo, hi, x: (x, (lo, hi)), lambda res, g: (None, None, jnp.clip(g, *res)))

    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log(1.0 + jnp.exp(x))

    @log1pexp.defjvp
    def _(primals, tangents):
        x, = primals
        t, = tangents
        return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t

    @jax.custom_vjp
    def straight_through(x):
        return jnp.round(x)

    straight_through.defvjp(lambda x: (straight_through(x), None), lambda _, g: (g,))

    def f(x):
        a = jax.grad(lambda x: jnp.sum(clip_gradient(-0.5, 0.5, x) ** 3))(x)
        b = jax.vmap(jax.grad(log1pexp))(x * 50)
        c = jax.grad(lambda x: jnp.sum(straight_through(3 * x) * x))(x)
        d = jax.vmap(jax.grad(jax.grad(log1pexp)))(x)
        return a, b, c, d

    return f


@program(lambda r: f32(np.array(2.0), np.array([1.0, 5.0, 9.0])))
def implicit_root_by_newton(jax):
    jnp, lax = jax.numpy, jax.lax

    def fixed_point(f, a, x0):
        return lax.while_loop(lambda c: jnp.abs(c[0] - c[1]) > 1e-6, lambda c: (c[1], f(a, c[1])), (x0, f(a, x0)))[1]

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def solve(f, a, x0):
        return fixed_point(f, a, x0)

    def fwd(f, a, x0):
        x = solve(f, a, x0)
        return x, (a, x)

    def bwd(f, res, g):
        a, x = res
        _, vjp_a = jax.vjp(lambda a: f(a, x), a)
        slope = jax.grad(lambda x: f(a, x))(x)
        return vjp_a(g / (1 - slope))[0], jnp.zeros_like(x)

    solve.defvjp(fwd, bwd)

    def f(a, many):
        newton = lambda a, x: 0.5 * (x + a / x)
        root = lambda a: solve(newton, a, a)
        return root(a), jax.grad(root)(a), jax.vmap(root)(many), jax.vmap(jax.grad(root))(many)

    return f


# ---- images and signals ----


@program(lambda r: f32(r.normal(size=(9, 9)), r.normal(size=32), r.normal(size=5)))
def convolutions_without_transforms(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(image, signal, taps):
        kernel = jnp.outer(jnp.hanning(5), jnp.hanning(5))
        kernel /= kernel.sum()
        blurred = jax.scipy.signal.convolve2d(image, kernel, mode="same")
        sobel = jnp.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1.0]])
        gx = lax.conv(image[None, None], sobel[None, None], (1, 1), "SAME")[0, 0]
        gy = jax.scipy.signal.correlate2d(image, sobel.T, "same")
        up = lax.conv_transpose(image[None, :, :, None], kernel[:, :, None, None], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        patches = lax.conv_general_dilated_patches(image[None, None], (3, 3), (1, 1), "VALID")
        return blurred, jnp.hypot(gx, gy), up, jnp.convolve(signal, taps, mode="same"), jnp.correlate(signal, taps, "full"), patches

    return f


@program(lambda r: f32(r.normal(size=16)), 1e-3)
def discrete_cosines_by_products(jax):
    jnp = jax.numpy

    def f(x):
        n = x.shape[0]
        k = jnp.arange(n)
        basis = jnp.cos(jnp.pi / n * (k[None] + 0.5) * k[:, None]) * jnp.where(k == 0, jnp.sqrt(1 / n), jnp.sqrt(2 / n))[:, None]
        y = basis @ x
        kept = jnp.where(jnp.abs(y) >= jnp.sort(jnp.abs(y))[-4], y, 0)
        angle = 2 * jnp.pi * jnp.outer(k, k) / n
        power = (jnp.cos(angle) @ x) ** 2 + (jnp.sin(angle) @ x) ** 2
        return y, basis.T @ kept, power[: n // 2 + 1], jnp.allclose(basis @ basis.T, jnp.eye(n), atol=1e-5)

    return f


@program(lambda r: f32(np.array([0.0, 0.0, -3.0]), np.array([0.3, 0.5, 0.2])), 2e-3)
def ray_marching_with_normals(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(eye, light):
        def scene(p):
            sphere = jnp.linalg.norm(p) - 1.0
            box = jnp.linalg.norm(jnp.maximum(jnp.abs(p - jnp.array([0.8, 0.2, 0.0])) - 0.4, 0.0)) - 0.1
            k = 8.0
            return -jnp.log(jnp.exp(-k * sphere) + jnp.exp(-k * box)) / k

        def march(d):
            t = lax.fori_loop(0, 40, lambda _, t: t + scene(eye + t * d), 0.0)
            p = eye + t * d
            n = jax.grad(scene)(p)
            n = n / jnp.maximum(jnp.linalg.norm(n), 1e-6)
            hit = t < 6.0
            return jnp.where(hit, jnp.clip(jnp.dot(n, light / jnp.linalg.norm(light)), 0, 1) + 0.1, 0.0)

        u = jnp.linspace(-0.6, 0.6, 8)
        xs, ys = jnp.meshgrid(u, u, indexing="xy")
        dirs = jnp.stack([xs, ys, jnp.ones_like(xs)], axis=-1)
        dirs /= jnp.linalg.norm(dirs, axis=-1, keepdims=True)
        return jnp.clip(jax.vmap(jax.vmap(march))(dirs), 0, 1) ** (1 / 2.2)

    return f


@program(lambda r: (r.integers(0, 2, (10, 10)).astype(np.int32),))
def game_of_life(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(board):
        def step(b, _):
            n = sum(jnp.roll(b, (i, j), axis=(0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
            b = ((n == 3) | ((b == 1) & (n == 2))).astype(b.dtype)
            return b, b.sum()
        return lax.scan(step, board, None, length=8)

    return f


@program(lambda r: (np.int32(30), *f32(np.array([-0.7, 0.3]))))
def mandelbrot_and_julia_by_pairs(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(limit, c):
        y, x = jnp.mgrid[-1.2:1.2:9j, -2:0.8:12j]

        def escape(zx, zy, cx, cy):
            def body(s):
                zx, zy, n = s
                return zx * zx - zy * zy + cx, 2 * zx * zy + cy, n + 1
            return lax.while_loop(lambda s: (s[0] ** 2 + s[1] ** 2 < 4) & (s[2] < limit), body, (zx, zy, 0))[2]

        zero = jnp.zeros_like(x)
        mandel = jax.vmap(jax.vmap(escape))(zero, zero, x, y)
        julia = jnp.vectorize(escape, excluded=(2, 3))(x, y, c[0], c[1])
        return mandel, julia

    return f


# ---- data ----


@program(lambda r: (*f32(r.normal(size=(30, 4))), r.integers(0, 2, 30)), 1e-3)
def metrics_of_a_classifier(jax):
    jnp = jax.numpy

    def f(x, y):
        score = x[:, 0] + 0.5 * x[:, 1]
        order = jnp.argsort(score)[::-1]
        tp = jnp.cumsum(y[order])
        fp = jnp.cumsum(1 - y[order])
        tpr, fpr = tp / tp[-1], fp / fp[-1]
        auc = jnp.trapezoid(tpr, fpr)
        rank = jnp.argsort(jnp.argsort(score))
        pred = (score > jnp.median(score)).astype(jnp.int32)
        confusion = jnp.zeros((2, 2), jnp.int32).at[y, pred].add(1)
        quantiles = jnp.percentile(x, jnp.array([5, 25, 50, 75, 95]), axis=0)
        hist, edges = jnp.histogram(score, bins=6, range=(-3, 3))
        return auc, rank, confusion, quantiles, hist, edges, jnp.corrcoef(x.T), jnp.cov(x, rowvar=False), jnp.digitize(score, edges), jnp.nanmean(jnp.where(x > 0, x, jnp.nan), axis=0)

    return f


@program(lambda r: (*f32(r.normal(size=(6, 4)), r.normal(size=(3, 4, 5))), r.integers(0, 6, (2, 3))))
def indexing_of_all_kinds(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x, y, i):
        a = x[i]
        b = x[..., None, ::2]
        c = y[jnp.array([0, 2]), :, jnp.array([1, 3])]
        d = jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1)
        e = x.at[i].add(1.0).at[::2, 1].multiply(3.0).at[-1].set(0)
        g = jnp.where(x > 0)[0].shape if False else jnp.nonzero(x > 0, size=8, fill_value=-1)
        h = lax.dynamic_slice(y, (i[0, 0] % 3, 1, i[0, 1]), (1, 2, 3))
        k = lax.dynamic_update_slice(y, jnp.ones((1, 2, 2)), (0, i[1, 0], 3))
        l = lax.dynamic_index_in_dim(x, i[0, 2], keepdims=False)
        m = jnp.put_along_axis(x, jnp.argmax(x, axis=1, keepdims=True), 9.0, axis=1, inplace=False)
        n = jnp.select([x < -1, x < 0, x < 1], [x * 2, x * 3, x * 4], default=7.0)
        o = jnp.piecewise(x, [x < 0, x >= 1], [lambda v: -v, lambda v: v ** 2, 0.5])
        p = jnp.delete(x, 2, axis=0), jnp.insert(x, 1, 0.0, axis=1), jnp.append(x, x[:1], axis=0)
        q = jnp.unravel_index(jnp.argmax(y), y.shape), jnp.ravel_multi_index((i[0], i[1] % 4), (6, 4), mode="clip")
        return a, b, c, d, e, g, h, k, l, m, n, o, p, q, lax.slice_in_dim(x, 1, 5, 2), lax.index_take(y, (i[0] % 3,), (0,)) if hasattr(lax, "index_take") else 0

    return f


# ---- structures ----


@program(lambda r: f32(r.normal(size=(5, 4)), r.normal(size=5)))
def registered_class(jax):
    jnp = jax.numpy
    class Linear:
        def __init__(self, w, b, name): self.w, self.b, self.name = w, b, name
        def __call__(self, x): return x @ self.w + self.b
    jax.tree_util.register_pytree_node(Linear, lambda l: ((l.w, l.b), l.name), lambda n, c: Linear(*c, n))
    def f(x, y):
        m = Linear(jnp.ones(4), jnp.zeros(()), "linear")
        def loss(m): return jnp.mean((m(x) - y) ** 2)
        g = jax.grad(loss)(m)
        m2 = jax.tree.map(lambda p, g: p - 0.1 * g, m, g)
        flat, unflatten = jax.tree.flatten(m2)
        return [p * 2 for p in flat], loss(m2), loss(jax.tree.unflatten(unflatten, flat))
    return f


@program(lambda r: f32(r.normal(size=(12, 3)), r.normal(size=12)))
def minibatches_with_permutation(jax):
    jnp = jax.numpy
    def f(x, y):
        order = jnp.array([3,1,0,2,11,10,9,8,4,5,6,7])
        xs, ys = x[order].reshape(3, 4, 3), y[order].reshape(3, 4)
        def epoch(w, _):
            return jax.lax.scan(lambda w, b: (w - 0.1 * jax.grad(lambda w: jnp.mean((b[0] @ w - b[1]) ** 2))(w), None), w, (xs, ys))
        w, _ = jax.lax.scan(epoch, jnp.zeros(3), jnp.arange(5))
        return w
    return f
