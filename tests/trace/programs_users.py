"""Programs as tutorials of the field have them: models, filters, planners, simulations and searches. What they give under JAX is
kept in programs_expected.npz, which programs_expected.py writes."""
import collections
import functools

import numpy as np

from trace_programs import f32, program


# ---- models ----


def _transformer(rng):
    d, v, n = 16, 11, 7
    dense = lambda a, b: {"kernel": f32(rng.normal(size=(a, b)) / a ** 0.5)[0], "bias": f32(np.zeros(b))[0]}
    norm = lambda: {"scale": f32(np.ones(d))[0], "bias": f32(np.zeros(d))[0]}
    block = lambda: {"ln1": norm(), "qkv": dense(d, 3 * d), "out": dense(d, d), "ln2": norm(), "up": dense(d, 32), "down": dense(32, d)}
    params = {"embed": f32(rng.normal(size=(v, d)))[0], "pos": f32(rng.normal(size=(n, d)))[0], "blocks": [block() for _ in range(2)], "ln": norm()}
    return params, rng.integers(0, v, (3, n)), np.array([7, 5, 3])


@program(_transformer, 1e-3)
def decoder_with_tied_embeddings(jax):
    jnp = jax.numpy

    def dense(p, x):
        return x @ p["kernel"] + p["bias"]

    def norm(p, x, eps=1e-5):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + eps) * p["scale"] + p["bias"]

    def attention(p, x, heads=4):
        t, d = x.shape
        q, k, v = jnp.split(dense(p["qkv"], x), 3, axis=-1)
        q, k, v = (a.reshape(t, heads, d // heads).transpose(1, 0, 2) for a in (q, k, v))
        scores = jnp.einsum("htd,hsd->hts", q, k) / jnp.sqrt(d // heads)
        scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, jnp.finfo(scores.dtype).min)
        mixed = jnp.einsum("hts,hsd->thd", jax.nn.softmax(scores, axis=-1), v)
        return dense(p["out"], mixed.reshape(t, d))

    def model(params, tokens):
        x = params["embed"][tokens] + params["pos"][: len(tokens)]
        for p in params["blocks"]:
            x = x + attention({k: p[k] for k in ("qkv", "out")}, norm(p["ln1"], x))
            x = x + dense(p["down"], jax.nn.gelu(dense(p["up"], norm(p["ln2"], x))))
        return norm(params["ln"], x) @ params["embed"].T

    def loss(params, tokens, lengths):
        logits = jax.vmap(model, in_axes=(None, 0))(params, tokens[:, :-1])
        logp = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1).squeeze(-1)
        mask = jnp.arange(tokens.shape[1] - 1)[None] < lengths[:, None] - 1
        return -(logp * mask).sum() / mask.sum()

    return jax.value_and_grad(loss)


def _diffusion(rng):
    p = {"w1": rng.normal(size=(3, 24)) / 2, "b1": np.zeros(24), "w2": rng.normal(size=(24, 2)) / 5, "b2": np.zeros(2)}
    return {k: f32(v)[0] for k, v in p.items()}, *f32(rng.normal(size=(32, 2)), rng.normal(size=(32, 2))), rng.integers(0, 50, 32)


@program(_diffusion, 1e-3)
def denoising_diffusion(jax):
    jnp = jax.numpy
    betas = jnp.linspace(1e-4, 0.02, 50)
    kept = jnp.cumprod(1 - betas)

    def predict(p, x, t):
        h = jnp.concatenate([x, (t / 50.0)[..., None]], axis=-1)
        return jax.nn.silu(h @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]

    def loss(p, x, noise, t):
        noisy = jnp.sqrt(kept[t])[:, None] * x + jnp.sqrt(1 - kept[t])[:, None] * noise
        return jnp.mean(jnp.square(predict(p, noisy, t) - noise))

    def backwards(p, x, t):
        e = predict(p, x, jnp.full(x.shape[:1], t))
        return (x - betas[t] / jnp.sqrt(1 - kept[t]) * e) / jnp.sqrt(1 - betas[t]), jnp.abs(x).max()

    def f(p, x, noise, t):
        grads = jax.grad(loss)(p, x, noise, t)
        p = jax.tree.map(lambda w, g: w - 0.1 * g, p, grads)
        last, sizes = jax.lax.scan(functools.partial(backwards, p), noise, jnp.arange(50)[::-1])
        return p, last, sizes

    return f


@program(lambda r: ({"g": f32(r.normal(size=(4, 2)))[0], "d": f32(r.normal(size=(2, 1)))[0]}, *f32(r.normal(size=(20, 4)), 2 + r.normal(size=(20, 2)))), 1e-3)
def adversarial_networks(jax):
    jnp = jax.numpy
    generate = lambda g, z: jnp.tanh(z @ g) * 3
    judge = lambda d, x: (x @ d)[:, 0]
    cross = lambda logits, label: jnp.mean(jax.nn.softplus(logits) - logits * label)

    @jax.jit
    def train(i, p, z, x):
        def loss_d(d, g):
            return cross(judge(d, x), 1.0) + cross(judge(d, generate(jax.lax.stop_gradient(g), z)), 0.0)

        def loss_g(g, d):
            return cross(judge(d, generate(g, z)), 1.0)

        d = p["d"] - 0.1 * jax.grad(loss_d)(p["d"], p["g"])
        return {"d": d, "g": p["g"] - 0.1 * jax.grad(loss_g)(p["g"], d)}

    return lambda p, z, x: jax.lax.fori_loop(0, 20, lambda i, p: train(i, p, z, x), p)


@program(lambda r: ([(f32(r.normal(size=(a, b)) / a ** 0.5)[0], f32(np.zeros(b))[0]) for a, b in ((1, 20), (20, 9))], *f32(r.normal(size=(30, 1)), r.normal(size=(30,)))), 1e-3)
def mixture_density_network(jax):
    jnp = jax.numpy

    def nll(params, x, y):
        (w, b), (v, c) = params
        logits, mean, log_scale = jnp.split(jnp.tanh(x @ w + b) @ v + c, 3, axis=1)
        logp = jax.nn.log_softmax(logits) + jax.scipy.stats.norm.logpdf(y[:, None], mean, jnp.exp(log_scale))
        return -jax.scipy.special.logsumexp(logp, axis=1).mean()

    def f(params, x, y):
        def step(carry, _):
            params, velocity = carry
            value, g = jax.value_and_grad(nll)(params, x, y)
            velocity = jax.tree_util.tree_map(lambda v, g: 0.9 * v + g, velocity, g)
            return (jax.tree_util.tree_map(lambda p, v: p - 0.01 * v, params, velocity), velocity), value

        return jax.lax.scan(step, (params, jax.tree_util.tree_map(jnp.zeros_like, params)), None, length=15)

    return f


def _unet(rng):
    w = lambda *s: f32(rng.normal(size=s) / np.prod(s[:3]) ** 0.5)[0]
    return {"a": w(3, 3, 2, 6), "b": w(3, 3, 6, 8), "c": w(2, 2, 6, 8), "d": w(3, 3, 12, 1), "scale": f32(np.ones(8))[0]}, *f32(rng.normal(size=(2, 8, 8, 2)))


@program(_unet, 1e-3)
def unet_in_channels_last(jax):
    jnp, lax = jax.numpy, jax.lax
    dn = ("NHWC", "HWIO", "NHWC")

    def conv(x, w, stride=1):
        return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=dn)

    def group_norm(x, scale, groups=4):
        n, h, w, c = x.shape
        g = x.reshape(n, h, w, groups, c // groups)
        mean, var = g.mean((1, 2, 4), keepdims=True), g.var((1, 2, 4), keepdims=True)
        return ((g - mean) / jnp.sqrt(var + 1e-5)).reshape(x.shape) * scale

    def model(p, x):
        a = jax.nn.relu(conv(x, p["a"]))
        b = jax.nn.swish(group_norm(conv(a, p["b"], 2), p["scale"]))
        up = lax.conv_transpose(b, jnp.swapaxes(p["c"], 2, 3), (2, 2), "SAME", dimension_numbers=dn)
        return conv(jnp.concatenate([a, up], -1), p["d"])[..., 0]

    return lambda p, x: (model(p, x), jax.grad(lambda p: (model(p, x) ** 2).mean())(p))


@program(lambda r: ({"q": f32(r.normal(size=(5, 8)))[0], "k": f32(r.normal(size=(3, 8)))[0], "v": f32(r.normal(size=(3, 8)))[0]}, *f32(r.normal(size=(4, 5)), r.normal(size=(6, 3)))), 1e-3)
def cross_attention_by_nn(jax):
    jnp = jax.numpy

    def f(p, x, m):
        q, k, v = (a.reshape(1, -1, 2, 4) for a in (x @ p["q"], m @ p["k"], m @ p["v"]))
        full = jax.nn.dot_product_attention(q, k, v)
        causal = jax.nn.dot_product_attention(q, k[:, :4], v[:, :4], is_causal=True, scale=0.3)
        bias = jnp.zeros((1, 2, 4, 6)).at[..., 2].add(-1.0)
        masked = jax.nn.dot_product_attention(q, k, v, bias=bias, mask=jnp.arange(6) < 4)
        return full, causal, masked

    return lambda p, x, m: (f(p, x, m), jax.grad(lambda p: sum(jnp.sum(a ** 2) for a in f(p, x, m)))(p))


def _gru(rng):
    w = lambda a, b: f32(rng.normal(size=(a, b)) / a ** 0.5)[0]
    return {k: (w(3, 5), w(5, 5)) for k in "zrh"}, *f32(rng.normal(size=(9, 4, 3))), np.array([9, 6, 2, 4])


@program(_gru, 1e-3)
def bidirectional_gru_of_lengths(jax):
    jnp, lax = jax.numpy, jax.lax

    def run(p, xs, lengths, reverse):
        def step(h, inputs):
            x, t = inputs
            z = jax.nn.sigmoid(x @ p["z"][0] + h @ p["z"][1])
            r = jax.nn.sigmoid(x @ p["r"][0] + h @ p["r"][1])
            new = (1 - z) * h + z * jnp.tanh(x @ p["h"][0] + (r * h) @ p["h"][1])
            h = jnp.where((t < lengths)[:, None], new, h)
            return h, h

        return lax.scan(step, jnp.zeros((4, 5)), (xs, jnp.arange(9)), reverse=reverse, unroll=3)

    def f(p, xs, lengths):
        (a, ya), (b, yb) = run(p, xs, lengths, False), run(p, xs, lengths, True)
        return jnp.concatenate([a, b], -1), jnp.stack([ya, yb]).mean(0)

    return lambda p, xs, n: (f(p, xs, n), jax.grad(lambda p: jnp.sum(f(p, xs, n)[1] ** 3))(p))


# ---- probability ----


@program(lambda r: f32(r.normal(size=(12, 2))), 1e-3)
def stein_variational_descent(jax):
    jnp = jax.numpy
    logp = lambda x: -0.5 * jnp.sum((x - 1.0) ** 2) + jnp.log1p(jnp.exp(-x[0] * x[1]))

    def kernel(x, y, h):
        return jnp.exp(-jnp.sum((x - y) ** 2) / h)

    def phi(x):
        d = jnp.sum((x[:, None] - x[None]) ** 2, -1)
        h = jnp.median(d) / jnp.log(x.shape[0] + 1.0)
        score = jax.vmap(jax.grad(logp))(x)
        one = lambda a: jax.vmap(lambda b, s: kernel(b, a, h) * s + jax.grad(kernel)(b, a, h))(x, score).mean(0)
        return jax.vmap(one)(x)

    return lambda x: jax.lax.fori_loop(0, 10, lambda _, x: x + 0.2 * phi(x), x)


def _smoother(rng):
    return f32(np.array([[1, 0.1], [0, 0.95]]), np.array([[1, 0.0]]), 0.01 * np.eye(2), 0.2 * np.eye(1), np.cumsum(rng.normal(size=(25, 1)), 0))


@program(_smoother, 2e-3)
def kalman_smoother(jax):
    jnp = jax.numpy
    State = collections.namedtuple("State", "mean cov")

    def f(a, c, q, r, ys):
        def forward(s, y):
            mean, cov = a @ s.mean, a @ s.cov @ a.T + q
            gain = jnp.linalg.solve(c @ cov @ c.T + r, c @ cov).T
            new = State(mean + gain @ (y - c @ mean), (jnp.eye(2) - gain @ c) @ cov)
            return new, (new, State(mean, cov))

        def backward(s, inputs):
            filtered, predicted = inputs
            gain = jnp.linalg.solve(predicted.cov, a @ filtered.cov).T
            new = State(filtered.mean + gain @ (s.mean - predicted.mean), filtered.cov + gain @ (s.cov - predicted.cov) @ gain.T)
            return new, new

        last, (filtered, predicted) = jax.lax.scan(forward, State(jnp.zeros(2), jnp.eye(2)), ys)
        head = jax.tree.map(lambda x: x[:-1], filtered)
        _, smooth = jax.lax.scan(backward, last, (head, jax.tree.map(lambda x: x[1:], predicted)), reverse=True)
        return filtered, smooth

    return f


@program(lambda r: (*f32(r.normal(size=4), r.normal(size=(4, 4)), r.normal(size=(4, 6))), r.integers(0, 6, 20)), 1e-3)
def forward_backward_in_logs(jax):
    jnp = jax.numpy
    lse = jax.nn.logsumexp

    def likelihood(start, move, emit, seen):
        start, move, emit = (jax.nn.log_softmax(x, -1) for x in (start, move, emit))
        first = start + emit[:, seen[0]]

        def step(alpha, o):
            alpha = lse(alpha[:, None] + move, axis=0) + emit[:, o]
            return alpha, alpha

        last, alphas = jax.lax.scan(step, first, seen[1:])
        beta_step = lambda beta, o: (lse(move + emit[:, o] + beta, axis=1),) * 2
        _, betas = jax.lax.scan(beta_step, jnp.zeros(4), seen[1:], reverse=True)
        total = lse(last)
        alphas, betas = jnp.vstack([first, alphas]), jnp.vstack([betas, jnp.zeros(4)])
        return total, jnp.exp(alphas + betas - total)

    def f(*args):
        (total, posterior), grads = jax.value_and_grad(likelihood, argnums=(0, 1, 2), has_aux=True)(*args)
        return total, posterior.sum(-1), grads

    return f


def _ctc(rng):
    return f32(rng.normal(size=(2, 9, 5))) + (np.array([[1, 2, 2], [3, 1, 0]]), np.array([9, 7]), np.array([3, 2]))


@program(_ctc, 1e-3)
def connectionist_classification(jax):
    jnp = jax.numpy

    def one(logits, labels, frames, nlabel):
        logp = jax.nn.log_softmax(logits)
        ext = jnp.zeros(2 * labels.shape[0] + 1, labels.dtype).at[1::2].set(labels)
        skip = jnp.concatenate([jnp.array([False, False]), (ext[2:] != 0) & (ext[2:] != ext[:-2])])
        low = -1e5
        first = jnp.full(ext.shape, low).at[:2].set(logp[0, ext[:2]])

        def step(alpha, t):
            a1 = jnp.concatenate([jnp.array([low]), alpha[:-1]])
            a2 = jnp.where(skip, jnp.concatenate([jnp.array([low, low]), alpha[:-2]]), low)
            new = jax.nn.logsumexp(jnp.stack([alpha, a1, a2]), axis=0) + logp[t, ext]
            return jnp.where(t < frames, new, alpha), None

        alpha, _ = jax.lax.scan(step, first, jnp.arange(1, logits.shape[0]))
        ends = jax.lax.dynamic_slice(alpha, (2 * nlabel - 1,), (2,))
        return -jax.nn.logsumexp(ends)

    return jax.value_and_grad(lambda x, *rest: jax.vmap(one)(x, *rest).mean())


@program(lambda r: f32(r.normal(size=(8, 2)), r.normal(size=(10, 2)) + 1), 1e-3)
def sinkhorn_until_converged(jax):
    jnp = jax.numpy

    def sinkhorn(x, y, eps=0.5):
        cost = jnp.sum((x[:, None] - y[None]) ** 2, axis=-1)
        a, b = -jnp.log(x.shape[0]), -jnp.log(y.shape[0])

        def body(s):
            i, f, g, _ = s
            new = eps * (a - jax.nn.logsumexp((g[None] - cost) / eps, axis=1))
            g = eps * (b - jax.nn.logsumexp((new[:, None] - cost) / eps, axis=0))
            return i + 1, new, g, jnp.abs(new - f).max()

        i, f, g, _ = jax.lax.while_loop(lambda s: (s[-1] > 1e-4) & (s[0] < 500), body, (0, jnp.zeros(len(x)), jnp.zeros(len(y)), jnp.inf))
        f, g = jax.lax.stop_gradient((f, g))
        plan = jnp.exp((f[:, None] + g[None] - cost) / eps)
        return jnp.sum(plan * cost), plan

    return jax.value_and_grad(sinkhorn, argnums=(0, 1), has_aux=True)


@program(lambda r: f32(r.normal(size=(40, 3)), r.normal(size=40)), 2e-3)
def bayesian_linear_regression(jax):
    jnp, st = jax.numpy, jax.scipy.stats

    def log_joint(params, x, y):
        w, log_s = params["w"], params["log_s"]
        return (st.norm.logpdf(w, 0.0, 2.0).sum() + st.gamma.logpdf(jnp.exp(log_s), 2.0, scale=1.5) + log_s
                + st.norm.logpdf(y, x @ w, jnp.exp(log_s)).sum() + st.multivariate_normal.logpdf(w, jnp.zeros(3), jnp.eye(3) * 4))

    def f(x, y):
        flat, unravel = jax.flatten_util.ravel_pytree({"w": jnp.zeros(3), "log_s": jnp.array(0.0)})
        objective = lambda v: -log_joint(unravel(v), x, y)
        newton = lambda i, v: v - jnp.linalg.solve(jax.hessian(objective)(v) + 0.1 * jnp.eye(4), jax.grad(objective)(v))
        best = jax.lax.fori_loop(0, 25, newton, flat)
        cov = jnp.linalg.inv(jax.hessian(objective)(best))
        return unravel(best), jnp.sqrt(jnp.diag(cov)), jnp.linalg.slogdet(cov)

    return f


# ---- control and physics ----


@program(lambda r: f32(r.normal(size=(3, 3)) * 0.5, r.normal(size=(3, 2)), r.normal(size=3)), 1e-3)
def regulator_by_scan(jax):
    jnp = jax.numpy

    def f(a, b, x0):
        q, r = jnp.eye(3), 0.1 * jnp.eye(2)

        def riccati(p, _):
            k = jnp.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
            return q + a.T @ p @ (a - b @ k), k

        p, gains = jax.lax.scan(riccati, q, xs=None, length=12, reverse=True)
        roll = lambda x, k: ((a - b @ k) @ x, (x, -k @ x))
        end, (xs, us) = jax.lax.scan(roll, x0, gains)
        return p, jnp.einsum("ti,ij,tj->", xs, q, xs) + jnp.einsum("ti,ij,tj", us, r, us) + end @ q @ end

    return f


@program(lambda r: f32(0.1 * r.normal(size=(60,)), [0.0, 0.0, 0.2, 0.0]), 1e-2)
def cart_and_pole(jax):
    jnp = jax.numpy

    def dynamics(s, u, m=0.1, big=1.0, l=0.5, g=9.8):
        x, v, th, w = s
        sin, cos = jnp.sin(th), jnp.cos(th)
        temp = (u + m * l * w ** 2 * sin) / (big + m)
        acc = (g * sin - cos * temp) / (l * (4.0 / 3 - m * cos ** 2 / (big + m)))
        return jnp.array([v, temp - m * l * acc * cos / (big + m), w, acc])

    def rk4(s, u, dt=0.02):
        k1 = dynamics(s, u)
        k2 = dynamics(s + dt / 2 * k1, u)
        k3 = dynamics(s + dt / 2 * k2, u)
        k4 = dynamics(s + dt * k3, u)
        return s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def cost(us, s0):
        def step(s, u):
            s = rk4(s, 10 * jnp.tanh(u))
            return s, s[2] ** 2 + 0.1 * s[0] ** 2 + 0.001 * u * u

        return jax.lax.scan(step, s0, us)[1].sum()

    return lambda us, s: jax.lax.fori_loop(0, 5, lambda _, us: us - 0.05 * jnp.clip(jax.grad(cost)(us, s), -1, 1), us)


@program(lambda r: f32(1 - 0.1 * (b := np.pad(np.ones((4, 4)), 6)), b * 0.5), 1e-3)
def reaction_and_diffusion(jax):
    jnp = jax.numpy

    def laplacian(z):
        return jnp.roll(z, 1, 0) + jnp.roll(z, -1, 0) + jnp.roll(z, 1, 1) + jnp.roll(z, -1, 1) - 4 * z

    @functools.partial(jax.jit, static_argnames=("feed", "kill"))
    def step(_, uv, feed=0.037, kill=0.06):
        u, v = uv
        r = u * v * v
        return u + 0.16 * laplacian(u) - r + feed * (1 - u), v + 0.08 * laplacian(v) + r - (feed + kill) * v

    return lambda u, v: jax.lax.fori_loop(0, 60, step, (u, v))


@program(lambda r: f32(r.normal(size=(5, 3)), 0.1 * r.normal(size=(5, 3)), r.uniform(0.5, 1, 5)), 2e-3)
def planets_by_leapfrog(jax):
    jnp = jax.numpy

    def potential(x, m):
        d = x[:, None] - x[None]
        r = jnp.sqrt(jnp.sum(d * d, -1) + 0.01)
        i, k = jnp.triu_indices(5, k=1)
        return -jnp.sum((m[:, None] * m / r)[i, k])

    def f(x, v, m):
        force = jax.grad(lambda x: -potential(x, m))

        def kick(carry, dt):
            x, v = carry
            v = v + dt / 2 * force(x) / m[:, None]
            x = x + dt * v
            v = v + dt / 2 * force(x) / m[:, None]
            return (x, v), 0.5 * jnp.sum(m[:, None] * v ** 2) + potential(x, m)

        return jax.lax.scan(kick, (x, v), jnp.full(40, 0.01))

    return f


@program(lambda r: f32(4 * np.eye(8) + 0.3 * r.normal(size=(8, 8)), r.normal(size=8)), 1e-3)
def gauss_seidel(jax):
    jnp = jax.numpy

    def solve(a, b):
        def sweep(state):
            x, _, n = state
            row = lambda i, x: x.at[i].set((b[i] - a[i] @ x + a[i, i] * x[i]) / a[i, i])
            new = jax.lax.fori_loop(0, b.shape[0], row, x)
            return new, jnp.linalg.norm(new - x, ord=jnp.inf), n + 1

        x, residual, n = jax.lax.while_loop(lambda s: jnp.logical_and(s[1] > 1e-6, s[2] < 100), sweep, (jnp.zeros_like(b), jnp.array(1e9), 0))
        return x, n < 100

    return solve


@program(lambda r: f32(r.uniform(0.2, 2.9, 9), r.uniform(-3, 3, 9)), 1e-3)
def spherical_harmonics(jax):
    jnp = jax.numpy

    def legendre(l, m, x):
        pmm = jnp.ones_like(x)
        for k in range(1, m + 1):
            pmm = -pmm * (2 * k - 1) * jnp.sqrt(1 - x * x)
        if l == m:
            return pmm
        last, now = pmm, x * (2 * m + 1) * pmm
        for k in range(m + 2, l + 1):
            last, now = now, ((2 * k - 1) * x * now - (k + m - 1) * last) / (k - m)
        return now

    def real(l, m, theta, phi):
        a = abs(m)
        norm = jnp.sqrt((2 * l + 1) / (4 * jnp.pi) * jnp.exp(jax.scipy.special.gammaln(l - a + 1.0) - jax.scipy.special.gammaln(l + a + 1.0)))
        p = norm * legendre(l, a, jnp.cos(theta))
        return p if m == 0 else jnp.sqrt(2.0) * p * (jnp.cos(a * phi) if m > 0 else jnp.sin(a * phi))

    every = lambda t, p: jnp.stack([real(l, m, t, p) for l in range(3) for m in range(-l, l + 1)], axis=-1)
    return lambda t, p: (every(t, p), jax.vmap(jax.jacfwd(every, argnums=(0, 1)))(t, p))


@program(lambda r: f32(r.normal(size=6), r.uniform(0.5, 1.5, size=3)), 1e-3)
def adaptive_runge_kutta(jax):
    jnp = jax.numpy

    def f(y0, p):
        rhs = lambda y: jnp.concatenate([y[3:], -p * jnp.sin(y[:3])])

        def body(s):
            t, y, h, n = s
            h = jnp.minimum(h, 1.0 - t)
            k1 = rhs(y)
            k2 = rhs(y + h * k1 / 2)
            k3 = rhs(y + h * 3 / 4 * k2)
            new = y + h / 9 * (2 * k1 + 3 * k2 + 4 * k3)
            k4 = rhs(new)
            err = jnp.max(jnp.abs(h * (-5 / 72 * k1 + k2 / 12 + k3 / 9 - k4 / 8)))
            ok = err < 1e-4
            t, y = jax.tree.map(lambda a, b: jnp.where(ok, a, b), (t + h, new), (t, y))
            return t, y, h * jnp.clip(0.9 * (1e-4 / (err + 1e-12)) ** (1 / 3), 0.2, 5.0), n + 1

        t, y, _, n = jax.lax.while_loop(lambda s: (s[0] < 1.0) & (s[3] < 200), body, (0.0, y0, 0.5, 0))
        return t, y

    return f


# ---- searches, numbers and orders ----


@program(lambda r: (r.permutation(16).astype(np.int32), *f32(r.normal(size=(3, 8)))), 1e-6)
def bitonic_sort(jax):
    jnp = jax.numpy

    def sort(x):
        n = x.shape[-1]
        i, k = jnp.arange(n), 2
        while k <= n:
            step = k // 2
            while step:
                other = i ^ step
                up = (i & k) == 0
                a, b = x, x[other]
                keep_min = (i < other) == up
                x = jnp.where(keep_min, jnp.minimum(a, b), jnp.maximum(a, b))
                step //= 2
            k *= 2
        return x

    return lambda a, b: (sort(a), jax.vmap(sort)(b))


@program(lambda r: (r.integers(0, 2 ** 31, 30).astype(np.uint32), r.integers(-1000, 1000, 30).astype(np.int32)), 1e-6)
def tricks_with_bits(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x, s):
        v = x - ((x >> 1) & 0x55555555)
        v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
        ones = (((v + (v >> 4)) & 0x0F0F0F0F) * jnp.uint32(0x01010101)) >> 24
        r = x
        for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
            r = ((r >> shift) & jnp.uint32(mask)) | ((r & jnp.uint32(mask)) << shift)
        h = x * jnp.uint32(2654435761)
        h ^= h >> jnp.uint32(15)
        sign = s >> 31
        bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)
        half = lax.bitcast_convert_type(x[:4], jnp.uint16)
        return (ones.astype(jnp.int32), (r >> 16).astype(jnp.int32), (h >> 9).astype(jnp.int32), (s ^ sign) - sign, lax.shift_right_logical(s, 3) & 0xFFFF,
                (bits >> 23) - 127 < 40, half.astype(jnp.int32), ~s, s & -s, jnp.left_shift(1, s & 7), lax.population_count(x).astype(jnp.int32), s // 7, s % -7,
                jnp.bitwise_count(x).astype(jnp.int32), lax.rem(s, 7), lax.div(s, -7))

    return f


@program(lambda r: f32(r.normal(size=(4, 10)), r.uniform(size=(4, 10))), 1e-4)
def top_k_and_nucleus_sampling(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(logits, u):
        values, indices = lax.top_k(logits, 3)
        gumbel = -jnp.log(-jnp.log(u))
        inside = jnp.full_like(logits, -jnp.inf).at[jnp.arange(4)[:, None], indices].set(values)
        by_k = jnp.argmax(inside + gumbel, axis=-1)
        order = jnp.argsort(logits, axis=-1, descending=True)
        p = jax.nn.softmax(jnp.take_along_axis(logits, order, -1), axis=-1)
        kept = jnp.cumsum(p, -1) - p < 0.7
        mask = jnp.zeros(logits.shape, bool).at[jnp.arange(4)[:, None], order].set(kept)
        by_p = jnp.argmax(jnp.where(mask, logits, -1e9) + gumbel, axis=1)
        approx, _ = lax.approx_max_k(logits, 2)
        return values, indices, by_k, mask, by_p, approx, jnp.partition(logits, 4, axis=1)[:, 4], jnp.sort(logits, axis=0)[::-1]

    return f


def _language_model(rng):
    return f32(rng.normal(size=(8, 8)) * 2, rng.normal(size=8))


@program(_language_model, 1e-4)
def beam_search_with_ends(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(table, start, beams=3, steps=6, eos=0):
        logp = jax.nn.log_softmax(table, -1)
        score, first = lax.top_k(jax.nn.log_softmax(start), beams)
        tokens = jnp.zeros((beams, steps), jnp.int32).at[:, 0].set(first)

        def step(t, state):
            tokens, score, done = state
            nxt = logp[tokens[:, t - 1]]
            only_eos = jnp.where(jnp.arange(8) == eos, 0.0, -jnp.inf)
            nxt = jnp.where(done[:, None], only_eos, nxt)
            total = (score[:, None] + nxt).reshape(-1)
            score, flat = lax.top_k(total, beams)
            beam, token = jnp.divmod(flat, 8)
            tokens = lax.dynamic_update_slice_in_dim(tokens[beam], token[:, None].astype(tokens.dtype), t, axis=1)
            return tokens, score, done[beam] | (token == eos)

        return lax.fori_loop(1, steps, step, (tokens, score, first == eos))

    return f


@program(lambda r: f32(r.normal(size=(7, 3)), r.uniform(0.1, 0.9, size=(16, 3))), 1e-4)
def scans_by_association(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x, a):
        compose = lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1])
        linear = lax.associative_scan(compose, (a, 1 - a))
        back = lax.associative_scan(jnp.maximum, x, reverse=True)
        last = lax.associative_scan(lambda p, q: p @ q, jnp.stack([jnp.eye(2) + 0.1 * k for k in range(5)]))
        across = lax.associative_scan(jnp.add, x, axis=1)
        return (linear, back, last, across, lax.cumlogsumexp(x, axis=0), lax.cummax(x), lax.cumprod(a, axis=1, reverse=True),
                jax.grad(lambda a: lax.associative_scan(compose, (a, 1 - a))[1].sum())(a))

    return f


# ---- structures and derivatives of one's own ----


@program(lambda r: f32(r.normal(size=(3, 4)), r.normal(size=4)), 1e-4)
def classes_as_structures(jax):
    jnp = jax.numpy

    @jax.tree_util.register_pytree_node_class
    class Dense:
        def __init__(self, w, b, act="tanh"):
            self.w, self.b, self.act = w, b, act

        def __call__(self, x):
            return getattr(jnp, self.act)(x @ self.w + self.b)

        def tree_flatten(self):
            return (self.w, self.b), self.act

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children, act=aux)

    class Chain(list):
        pass

    jax.tree_util.register_pytree_node(Chain, lambda c: (tuple(c), None), lambda _, xs: Chain(xs))

    def f(w, b):
        model = Chain([Dense(w, b), Dense(w.T, jnp.zeros(3), act="sin")])
        run = lambda m, x: functools.reduce(lambda x, layer: layer(x), m, x)
        g = jax.grad(lambda m, x: jnp.sum(run(m, x) ** 2))(model, jnp.ones(3))
        assert isinstance(g, Chain) and g[1].act == "sin"
        leaves, definition = jax.tree_util.tree_flatten(g)
        again = jax.tree_util.tree_unflatten(definition, [2 * x for x in leaves])
        named = jax.tree_util.tree_map_with_path(lambda path, x: x * len(path), {"a": w, "b": [b, b]})
        total = jax.tree_util.tree_reduce(lambda s, x: s + jnp.sum(x), again, 0.0)
        both = jax.tree_util.tree_transpose(jax.tree_util.tree_structure([0, 0]), jax.tree_util.tree_structure((0, 0)), [(b, 1), (b, 2)])
        return leaves, total, named, jax.tree.leaves(both), jax.tree_util.tree_all({"x": True}), len(jax.tree_util.tree_leaves([None, 1, {"a": ()}]))

    return f


@program(lambda r: f32(r.normal(size=5), r.normal(size=5)), 1e-4)
def rules_of_derivatives(jax):
    jnp = jax.numpy

    @jax.custom_vjp
    def clip_gradient(lo, hi, x):
        return x

    clip_gradient.defvjp(lambda lo, hi, x: (x, (lo, hi)), lambda res, g: (None, None, jnp.clip(g, res[0], res[1])))

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def fixed_point(f, a, guess):
        return jax.lax.while_loop(lambda s: jnp.abs(s[0] - s[1]).max() > 1e-6, lambda s: (s[1], f(a, s[1])), (guess, f(a, guess)))[1]

    def forward(f, a, guess):
        x = fixed_point(f, a, guess)
        return x, (a, x)

    def backward(f, res, ct):
        a, x = res
        _, vjp_a = jax.vjp(lambda a: f(a, x), a)
        _, vjp_x = jax.vjp(lambda x: f(a, x), x)
        u = jax.lax.fori_loop(0, 40, lambda _, u: ct + vjp_x(u)[0], ct)
        return vjp_a(u)[0], jnp.zeros_like(x)

    fixed_point.defvjp(forward, backward)

    @jax.custom_jvp
    def log1pexp(x):
        return jnp.log(1.0 + jnp.exp(x))

    @log1pexp.defjvp
    def _(primals, tangents):
        x, = primals
        t, = tangents
        return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t

    @jax.custom_jvp
    def scaled(x, y):
        return jnp.sin(x) * y

    scaled.defjvps(lambda t, out, x, y: jnp.cos(x) * t * y, lambda t, out, x, y: jnp.sin(x) * t)

    def f(x, y):
        newton = lambda a, x: 0.5 * (x + a / x)
        return (jax.grad(lambda x: jnp.sum(clip_gradient(-0.5, 0.5, x) ** 2))(x), jax.grad(lambda a: fixed_point(newton, a, 1.0))(2.0 + x[0] ** 2),
                jax.vmap(jax.grad(log1pexp))(x * 100), jax.grad(jax.grad(log1pexp))(x[0]), jax.jvp(scaled, (x, y), (y, x)), jax.hessian(lambda x: scaled(x, y).sum())(x),
                jax.grad(lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())(x))(x))

    return f


@program(lambda r: ({"a": f32(r.normal(size=(3, 4)))[0], "b": f32(r.normal(size=4))[0]}, *f32(r.normal(size=(4, 3)), r.normal(size=(2, 5, 3)))), 1e-4)
def batches_by_axes(jax):
    jnp = jax.numpy

    def f(p, x, y):
        g = jax.vmap(lambda p, x: p["a"] * p["b"].sum() + x, in_axes=({"a": 0, "b": None}, 1), out_axes=1)(p, x)
        h = jax.vmap(lambda d: d["a"] @ d["b"], in_axes=({"a": 0, "b": None},))(p)
        both = jax.vmap(lambda x, p: (x.sum(), {"s": x * p["b"]}), in_axes=(0, None), out_axes=(0, {"s": -1}))(x[:, :1], p)
        twice = jax.vmap(jax.vmap(jnp.dot, in_axes=(0, None)), in_axes=(None, 0))(x, y[0])
        named = jax.vmap(lambda x: x - jax.lax.pmean(x, "batch") + jax.lax.axis_index("batch"), axis_name="batch")(x)
        sized = jax.vmap(lambda: jnp.ones(2), axis_size=3, in_axes=())()
        spread = jnp.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(y, x[0])
        gu = jnp.vectorize(lambda m, v: (m @ v, v.sum()), signature="(i,j),(j)->(i),()")(y, x[1])
        plain = jnp.vectorize(lambda a, b=2.0: jnp.where(a > 0, a, b))(x)
        along = jnp.apply_along_axis(lambda v: jnp.cumsum(v) / v.size, 1, y)
        pairs = jax.vmap(lambda k: jax.lax.cond(k > 1, lambda v: v * 2, lambda v: v + 1, x[0]))(jnp.arange(4))
        loops = jax.vmap(lambda n: jax.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, 1.0)))(jnp.arange(4))
        return g, h, both, twice, named, sized, spread, gu, plain, along, pairs, loops

    return f


@program(lambda r: f32(r.normal(size=(6, 3)), 3 + r.uniform(size=6), r.normal(size=(6, 2))), 1e-3)
def names_of_other_modules(jax):
    jnp, lax = jax.numpy, jax.lax

    @jax.tree_util.register_pytree_with_keys_class
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def tree_flatten_with_keys(self):
            return [(jax.tree_util.GetAttrKey("a"), self.a), (jax.tree_util.GetAttrKey("b"), self.b)], None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    def f(x, d, b):
        solved = lambda x, d: lax.linalg.tridiagonal_solve(jnp.zeros(6).at[1:].set(x[1:, 0]), d, jnp.zeros(6).at[:-1].set(x[:-1, 1]), b)
        pair = jax.grad(lambda p: jnp.sum(p.a ** 2) + jnp.sum(jnp.sin(p.b)))(Pair(x, d))
        return (solved(x, d), jax.grad(lambda d: solved(x, d).sum())(d), jax.scipy.integrate.trapezoid(x, axis=0), jax.scipy.cluster.vq.vq(x, x[::2] + 0.1), pair,
                jax.scipy.stats.norm.isf(jnp.array([0.1, 0.7])), jax.tree_util.all_leaves([1, 2]), jax.tree_util.all_leaves([1, [2]]))

    return f


# ---- arrays ----


@program(lambda r: f32(r.normal(size=(2, 9, 8, 4)), r.normal(size=(3, 2, 4, 5)), r.normal(size=(3, 2, 2, 4)), r.normal(size=(2, 4, 11))), 1e-4)
def convolutions_of_all_kinds(jax):
    lax, jnp = jax.lax, jax.numpy

    def f(x, w, g, t):
        nhwc = ("NHWC", "HWIO", "NHWC")
        conv = lax.conv_general_dilated
        out = [conv(x, w, (1, 2), "VALID", dimension_numbers=nhwc), conv(x, w, (2, 1), [(1, 2), (0, 3)], dimension_numbers=nhwc),
               conv(x, w, (1, 1), "SAME_LOWER", rhs_dilation=(2, 1), dimension_numbers=nhwc),
               conv(x, w, (1, 1), ((2, 1), (1, 1)), lhs_dilation=(2, 3), dimension_numbers=nhwc),
               conv(x, g, (1, 1), "SAME", dimension_numbers=nhwc, feature_group_count=2),
               conv(x.transpose(3, 0, 1, 2), w.transpose(3, 2, 0, 1), (1, 1), "VALID", dimension_numbers=("CNHW", "OIHW", "NHWC")),
               conv(x, w, (1, 1), ((-1, 0), (0, -2)), dimension_numbers=nhwc),
               lax.conv(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), (2, 2), "SAME"),
               lax.conv_with_general_padding(t, jnp.ones((3, 4, 5)), (2,), [(4, 0)], (1,), (2,)),
               conv(t, jnp.ones((8, 1, 3)) / 3, (1,), "SAME", feature_group_count=4),
               lax.conv_transpose(x, w.transpose(0, 1, 2, 3), (2, 2), "VALID", dimension_numbers=nhwc),
               conv(x[:, :6, :6], w[..., :4], (1, 1), "VALID", dimension_numbers=nhwc, batch_group_count=2)]
        dn = lax.conv_dimension_numbers(x.shape, w.shape, nhwc)
        out.append(conv(x, w, (1, 1), "SAME", None, None, dn))
        return out, jax.grad(lambda w: sum(jnp.sum(o[..., :1] ** 2) for o in (conv(x, w, (2, 1), "SAME", dimension_numbers=nhwc, rhs_dilation=(1, 2)),)))(w)

    return f


@program(lambda r: f32(r.normal(size=(2, 7, 6, 3))), 1e-4)
def windows_and_pools(jax):
    lax, jnp = jax.lax, jax.numpy

    def f(x):
        most = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 2, 1), "SAME")
        mean = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "VALID") / 4
        counts = lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        least = lax.reduce_window(x, jnp.inf, lax.min, (1, 2, 1, 1), (1, 1, 1, 1), ((0, 0), (1, 0), (0, 0), (0, 0)))
        wide = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "VALID", window_dilation=(1, 3, 2, 1))
        whole = lax.reduce_window((x * 10).astype(jnp.int32), jnp.iinfo(jnp.int32).min, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return most(x), mean, counts, least, wide, whole, jax.grad(lambda x: jnp.sum(most(x) ** 2))(x), lax.reduce(x, 0.0, lax.add, (1, 2)), lax.reduce_max(x, (0,))

    return f


@program(lambda r: f32(r.normal(size=(2, 3, 4)), r.normal(size=(2, 4, 5)), r.normal(size=(4, 4))), 1e-4)
def products_of_all_kinds(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(a, b, c):
        e = jnp.einsum
        return (lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))), lax.dot_general(a, b, (((0, 2), (0, 1)), ((), ()))), lax.batch_matmul(a, b),
                lax.dot_general(a, c, dimension_numbers=(([2], [0]), ([], [])), preferred_element_type=jnp.float32),
                e("...ij,...jk->...ik", a, b), e("bij,b...->b...ij", a, b[:, 0]), e("ii->i", c), e("ii", c), e("bij,bjk,kl->l", a, b, b[0].T), e("i...->...", a),
                e("...i,...i", a, a), e(a, [0, 1, 2], c, [2, 3], [3, 0, 1]), jnp.tensordot(a, b, axes=((0, 2), (0, 1))), jnp.tensordot(a, c, 1),
                jnp.inner(a, c), jnp.outer(c[0], c[1]), jnp.kron(c[:2, :2], c[:1, :3]), jnp.vdot(c, c.T), jnp.matmul(a, c), c @ c[0], c[0] @ c,
                jnp.linalg.multi_dot([a[0], c, b[0]]), jnp.cross(a[..., :3], a[::-1, :, :3]), jnp.matvec(a, c[0]), jnp.vecdot(a, a), jnp.linalg.matrix_power(c, 3),
                jnp.trace(a, axis1=0, axis2=1), jnp.convolve(c[0], c[1], mode="same"), jnp.correlate(c[0], c[1], "full"))

    return f


@program(lambda r: f32(r.normal(size=6), r.uniform(0.1, 2, size=6)), 1e-4)
def gradients_beside_kinks(jax):
    jnp = jax.numpy

    def f(x, p):
        safe = lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0).sum()
        xlogx = lambda x: jax.scipy.special.xlogy(x, x).sum()
        norm = lambda x: jnp.linalg.norm(x)
        g = jax.grad
        zero = jnp.zeros(3)
        return (g(safe)(x), g(xlogx)(p), g(norm)(x), g(lambda x: jax.nn.relu(x).sum())(zero), g(lambda x: jnp.maximum(x, 0).sum())(zero),
                g(lambda x: jnp.max(x))(jnp.array([1.0, 2.0, 2.0])), g(lambda x: jnp.sort(x)[2])(x), g(lambda x: jnp.prod(x))(x), g(lambda x: jnp.prod(x))(x.at[1].set(0.0)),
                g(lambda x: jnp.clip(x, -0.5, 0.5).sum())(x), g(lambda x: jnp.select([x > 1, x > 0], [x ** 2, x], -x).sum())(x), g(lambda x: jnp.power(x, 3).sum())(x),
                g(lambda p: jnp.power(p, p).sum())(p), g(lambda x: (x ** 2.0).sum())(zero), g(lambda x: jnp.arctan2(x, p).sum())(x), g(lambda x: jnp.hypot(x, p).sum())(x),
                g(lambda x: jnp.interp(x, jnp.arange(-3.0, 4.0), jnp.arange(7.0) ** 2).sum())(x), g(lambda x: jnp.std(x))(x), g(lambda x: jnp.median(x))(x),
                g(lambda x: jnp.nanmean(jnp.where(x > 0, x, jnp.nan)))(x), g(lambda x: jnp.logaddexp(x, p).sum())(x), g(lambda p: jax.lax.cumprod(p).sum())(p),
                g(lambda x: jnp.round(x).sum() + jnp.sign(x).sum() + jnp.floor(x).sum())(x), g(lambda x: jnp.sinc(x).sum())(zero), g(lambda x: jnp.mod(x, p).sum())(x),
                g(lambda x: jax.lax.reduce_precision(x, 8, 7).sum())(x), g(lambda p: jax.scipy.special.gammaln(p).sum())(p), g(lambda x: jnp.linalg.norm(x, ord=1))(x),
                g(lambda x: jnp.quantile(x, 0.3))(x), g(lambda p: jnp.var(jnp.log(p), ddof=1))(p))

    return f


@program(lambda r: (r.integers(-9, 9, (3, 4)).astype(np.int8), r.integers(0, 9, 4).astype(np.uint8), *f32(r.normal(size=4)), r.integers(0, 2, 4).astype(bool)), 1e-3)
def promotion_of_types(jax):
    jnp = jax.numpy

    def f(i, u, x, b):
        kinds = [i + u, i * 2, u / u.max(), i + x, b + 1, b + b, b * x, x.astype(jnp.float16) + 1, x.astype(jnp.float16) + x, x.astype(jnp.bfloat16) * i[0],
                 jnp.where(b, 1, 2.5), jnp.where(b, x, 0), i.sum(), u.sum(), b.sum(), i.mean(), b.mean(), jnp.cumsum(b), i.prod(0), i.max(), abs(i), -u, ~b, b ^ True,
                 i // 3, i % 3, i << 1, u >> 1, u ** 2, x ** 2, 2 ** x, 1 / x, 1 - b.astype(int), jnp.sqrt(u), jnp.exp(i), round(x * 10), jnp.maximum(i[0], 3), jnp.minimum(x, 0),
                 jnp.concatenate([i[0], x]), jnp.stack([u, b]), jnp.array([1, 2.5]), jnp.arange(3.0), jnp.linspace(0, 1, 3), jnp.full(2, 7), jnp.ones(2, int), jnp.dot(i, u)]
        texts = {"bool": 0, "int8": 1, "uint8": 2, "int16": 3, "int32": 4, "int64": 4, "uint32": 5, "uint64": 5, "float16": 6, "bfloat16": 7, "float32": 8}
        return [k.astype(jnp.float32) for k in kinds], jnp.array([texts[str(k.dtype)] for k in kinds])

    return f


@program(lambda r: f32((a := r.normal(size=(5, 5))) @ a.T + np.eye(5), r.normal(size=(5, 2))), 2e-3)
def linear_algebra_of_numpy(jax):
    jnp = jax.numpy
    la, sl = jnp.linalg, jax.scipy.linalg

    def f(s, b):
        l = la.cholesky(s)
        return (la.cond(s), sl.cho_solve(sl.cho_factor(s, lower=True), b), sl.solve_triangular(l, b, trans=1, lower=True), sl.expm(0.1 * s), sl.block_diag(s[:1, :2], b[:2]),
                sl.toeplitz(b[:, 0]), jax.grad(lambda s: la.slogdet(s)[1])(s), jax.grad(lambda s: jnp.sum(la.eigvalsh(s) ** 2))(s), jax.grad(lambda s: la.cholesky(s).sum())(s),
                jax.jvp(la.inv, (s,), (jnp.eye(5),))[1], jnp.vander(b[:, 0], 3), la.matrix_norm(s), la.vector_norm(b), jnp.trace(jnp.stack([s, l])[..., None], 1, 1, 2))

    return f


@program(lambda r: (*f32(r.normal(size=(5, 6, 7))), r.integers(0, 5, 4), r.integers(0, 6, 4)), 1e-5)
def indices_of_all_kinds(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x, i, k):
        b = jnp.arange(6) % 2 == 0
        return (x[i], x[i, k], x[i, :, k], x[:, k, 2], x[..., -1], x[::-2, 1:5:2], x[None, 2, ..., None].shape[0] + x[0], x[jnp.ix_(i, k)], x[i[:, None], k], x[-1][k][:, ::3],
                x[i[0]], x[i[0], k[1]], jnp.take(x, i, axis=0), jnp.take(x, k, axis=1, mode="clip"), jnp.take_along_axis(x, x.argsort(2), 2)[..., :2],
                x.at[i].add(1.0), x.at[i, k].set(0.0), x.at[:, 1::2].multiply(2.0), x.at[0, ..., 0].max(9.0), x.at[i, :, 0].min(0.0), x.at[1].get(), x.at[7].get(mode="fill", fill_value=-1.0),
                x.at[i[0], 1:3].divide(4.0), x.at[jnp.array([0, 0, 1])].add(x[:3]), x.at[0].apply(jnp.square), x.at[-1, -1, -1].power(2.0), x.at[99].set(1.0),
                lax.dynamic_slice(x, (i[0], 1, k[0]), (1, 3, 2)), lax.dynamic_index_in_dim(x, i[0], 1, keepdims=False), lax.dynamic_update_slice(x, x[:2, :1, :1] * 0, (i[1], 3, 3)),
                lax.slice(x, (1, 0, 2), (4, 6, 7), (2, 3, 1)), lax.slice_in_dim(x, 1, 3, axis=2), lax.index_in_dim(x, -1, 1), jnp.where(b[None, :, None], x, 0), x[:, jnp.flatnonzero(b, size=3)],
                jnp.searchsorted(jnp.arange(5.0), x[0, 0]), jnp.digitize(x[0, 0], jnp.array([-1.0, 0.0, 1.0])), jnp.unravel_index(jnp.argmax(x), x.shape), jnp.ravel_multi_index((i, k), (5, 6), mode="clip"),
                jnp.argwhere(b, size=3), jnp.nonzero(b, size=4, fill_value=-1), jnp.extract(b, jnp.arange(6), size=3), jnp.diagonal(x, 1, 1, 2),
                jnp.fill_diagonal(x[0], 5.0, inplace=False), jnp.put_along_axis(x[0], k[:1, None], 3.0, 0, inplace=False), jnp.insert(x[0, 0], 2, 9.0), jnp.delete(x, 1, axis=2), jnp.append(x[0], x[1], axis=0))

    return f


@program(lambda r: f32(r.normal(size=(4, 6))), 1e-5)
def shapes_and_moves(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x):
        y = x.reshape(2, 2, 3, 2)
        return (jnp.moveaxis(y, 0, -1), jnp.rollaxis(y, 2), jnp.swapaxes(y, 0, 3), y.transpose((3, 1, 0, 2)), lax.transpose(y, (1, 0, 3, 2)), y.T, x.ravel(order="F"), y.reshape(4, -1), jnp.expand_dims(x, (0, 2)),
                jnp.squeeze(x[None, :, None], (0, 2)), jnp.tile(x, (2, 1, 2)), jnp.repeat(x, 2, axis=1), jnp.repeat(x, jnp.array([1, 0, 2, 1]), axis=0, total_repeat_length=4), jnp.roll(x, (1, -2), (0, 1)),
                jnp.rot90(x, k=3), jnp.flip(x, 1), jnp.fliplr(x), jnp.pad(x, ((1, 2), (0, 1)), mode="edge"), jnp.pad(x, 2, mode="reflect"), jnp.pad(x, 1, mode="wrap"), jnp.pad(x, ((0, 1), (2, 0)), constant_values=7.0),
                lax.pad(x, 0.5, ((1, 0, 1), (-1, 2, 0))), jnp.broadcast_to(x[0], (3, 6)), lax.broadcast_in_dim(x, (4, 2, 6), (0, 2)), lax.broadcasted_iota(jnp.int32, (2, 3), 1), jnp.stack([x, x], -1), jnp.hstack([x, x]),
                jnp.dstack([x, x]), jnp.column_stack([x[0], x[1]]), jnp.block([[x, x], [x, x]]), *jnp.array_split(x, 4, axis=1), *jnp.vsplit(x, 2), *jnp.split(x, [1, 4], axis=1), jnp.atleast_3d(x), lax.rev(x, (0,)),
                lax.expand_dims(x, (1,)), lax.collapse(y, 1, 3), lax.concatenate([x, x], 1), jnp.meshgrid(x[0], x[1], indexing="ij"), jnp.mgrid[0:2, 0:3], jnp.ogrid[0:2, 0:3], jnp.r_[x[0], x[1]], jnp.c_[x[0], x[1]],
                jnp.diff(x, n=2), jnp.ediff1d(x), jnp.gradient(x[0]), jnp.trapezoid(x, dx=0.5), jnp.cov(x), jnp.corrcoef(x), jnp.histogram(x, bins=5)[0], jnp.bincount(jnp.array([1, 2, 2]), length=4), jnp.nan_to_num(x / 0.0 * 0),
                jnp.percentile(x, jnp.array([10.0, 50.0]), axis=1), jnp.average(x, axis=0, weights=jnp.arange(4.0)), jnp.ptp(x, axis=1), jnp.cumulative_sum(x, axis=1, include_initial=True), jnp.unstack(x)[2],
                jnp.lexsort((x[0], jnp.round(x[1]))), jnp.argpartition(x[0], 3)[3], jnp.polyval(x[0], x), jnp.polyfit(jnp.arange(6.0), x[0], 2), jnp.isin(jnp.arange(5), jnp.array([1, 3])), jnp.allclose(x, x), jnp.array_equal(x, x),
                jnp.unique(jnp.array([3, 1, 3]), size=3, return_counts=True), jnp.piecewise(x, [x < 0, x > 1], [lambda v: -v, 1.0, lambda v: v * 0]), jnp.triu(x, 1), jnp.heaviside(x, 0.5), jnp.modf(x), jnp.float_power(abs(x), 0.5))

    return f


@program(lambda r: f32(r.normal(size=5)), 1e-4)
def control_in_all_forms(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(x):
        k = jnp.argmax(x)
        operand = {"v": x, "n": k}
        a = lax.cond(x[0] > 0, lambda o: o["v"] * 2, lambda o: o["v"] + o["n"], operand)
        b = lax.cond(jnp.all(x > -99), lambda: x.sum(), lambda: 0.0)
        c = lax.switch(k, [jnp.sin, jnp.cos, lambda v: v, jnp.tanh, jnp.exp], x)
        d = lax.switch(k + 100, [lambda u, v: u + v, lambda u, v: u * v], x, a)
        e = lax.select(x > 0, x, -x)
        g = lax.select_n(jnp.array([0, 1, 2, 0, 1]), x, x * 10, x * 100)
        h = lax.map(lambda v: v ** 2 + k, x)
        i = lax.scan(lambda c, v: (c * v, {"out": c}), 1.0, x)
        j = lax.fori_loop(0, k, lambda i, s: s + x[i], 0.0)
        m = lax.while_loop(lambda s: s["i"] < 4, lambda s: {"i": s["i"] + 1, "y": s["y"] @ jnp.eye(5) + s["i"]}, {"i": 0, "y": x})
        n = lax.scan(lambda c, _: (c + 1, None), 0, None, length=7)[0]
        o = lax.fori_loop(3, 6, lambda i, s: (s[1], s[0] + s[1] * i), (1.0, 1.0), unroll=True)
        p = lax.scan(lambda c, v: lax.cond(v > 0, lambda: (c + v, c), lambda: (c - v, -c)), 0.0, x)
        q = lax.map(lambda p: p[0] * p[1], (x, x[::-1]), batch_size=2)
        r = jax.grad(lambda x: lax.cond(x.sum() > 0, lambda v: jnp.sum(v ** 2), lambda v: jnp.prod(v), x))(x)
        s = jax.jvp(lambda x: lax.fori_loop(0, 3, lambda i, v: jnp.sin(v) * i + v, x), (x,), (jnp.ones(5),))
        t = jax.grad(lambda x: lax.scan(lambda c, v: (c * 0.5 + jnp.tanh(v), c), 0.0, x)[0])(x)
        u = jax.vmap(lambda v, n: lax.fori_loop(0, n, lambda i, s: s * v + i, 1.0))(x, jnp.arange(5))
        return a, b, c, d, e, g, h, i, j, m, n, o, p, q, r, s, t, u, lax.clamp(-0.5, x, 0.5), lax.cond(True, lambda v: v, lambda v: -v, x)

    return f
