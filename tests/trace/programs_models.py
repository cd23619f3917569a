"""Models of recent papers and their training, as users of JAX write them. What they give under JAX is kept in programs_expected.npz,
which programs_expected.py writes."""
import functools
from typing import NamedTuple

import numpy as np

from trace_programs import f32, program


def _weights(rng, **shapes):
    return {name: f32(0.3 * rng.normal(size=shape))[0] for name, shape in shapes.items()}


# ---- sequences ----


def _language_model(rng):
    shapes = dict(qkv=(16, 48), out=(16, 16), up=(16, 32), gate=(16, 32), down=(32, 16), first=(16,), second=(16,))
    return {"table": f32(rng.normal(size=(30, 16)))[0], "blocks": [_weights(rng, **shapes) for _ in range(2)]}, rng.integers(0, 30, (3, 9))


@program(_language_model, 1e-3)
def language_model_with_rotations(jax):
    jnp = jax.numpy

    def norm(x, scale):
        return x * jax.lax.rsqrt(jnp.mean(x ** 2, -1, keepdims=True) + 1e-6) * (1 + scale)

    def rotated(x):
        n, d = x.shape[-2:]
        angle = jnp.arange(n)[:, None] / (10000 ** (jnp.arange(0, d, 2) / d))
        a, b = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), b * jnp.cos(angle) + a * jnp.sin(angle)], -1)

    @jax.checkpoint
    def block(x, p):
        heads = [jnp.transpose(y.reshape(x.shape[:2] + (4, -1)), (0, 2, 1, 3)) for y in jnp.split(norm(x, p["first"]) @ p["qkv"], 3, axis=-1)]
        q, k, v = rotated(heads[0]), rotated(heads[1]), heads[2]
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:])) == 0, jnp.finfo(scores.dtype).min, scores)
        x = x + jnp.einsum("bhqk,bhkd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ p["out"]
        h = norm(x, p["second"])
        return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]

    def loss(params, tokens):
        x = params["table"][tokens[:, :-1]] * jnp.sqrt(16)
        for p in params["blocks"]:
            x = block(x, p)
        logs = jax.nn.log_softmax(x @ params["table"].T)
        return -jnp.take_along_axis(logs, tokens[:, 1:, None], axis=-1).squeeze(-1).mean()

    return jax.value_and_grad(loss)


@program(lambda rng: f32(*[0.5 * rng.normal(size=s) for s in ((2, 12, 4), (4,), (4, 6), (2, 12, 6), (2, 12, 6))]), 1e-3)
def selective_state_space(jax):
    jnp = jax.numpy

    def model(u, bias, a, b, c):
        step = jax.nn.softplus(u + bias)
        keep = jnp.exp(-step[..., None] * jnp.exp(a))
        given = step[..., None] * b[:, :, None, :] * u[..., None]
        _, h = jax.lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (keep, given), axis=1)
        return jnp.einsum("blds,bls->bld", h, c)

    return lambda *args: (model(*args), jax.grad(lambda *a: jnp.sum(model(*a) ** 2), argnums=(0, 1, 2, 3, 4))(*args))


@program(lambda rng: (_weights(rng, x=(5, 32), h=(8, 32), b=(32,), out=(8, 3)), *f32(rng.normal(size=(4, 9, 5))), np.array([3, 9, 1, 6]), np.array([0, 2, 1, 1])), 1e-3)
def recurrent_classifier_of_lengths(jax):
    jnp = jax.numpy

    def loss(p, x, lengths, labels):
        def cell(state, at):
            (h, c), (x, t) = state, at
            i, g, f, o = jnp.split(x @ p["x"] + h @ p["h"] + p["b"], 4, axis=-1)
            new_c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            new = jax.nn.sigmoid(o) * jnp.tanh(new_c), new_c
            state = jax.tree.map(functools.partial(jnp.where, (t < lengths)[:, None]), new, (h, c))
            return state, state[0]

        zero = jnp.zeros((x.shape[0], 8))
        (h, _), hs = jax.lax.scan(cell, (zero, zero), (x.swapaxes(0, 1), jnp.arange(x.shape[1])))
        logits = h @ p["out"]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[:, None], 1).squeeze(1)), hs

    return jax.value_and_grad(loss, has_aux=True)


# ---- layers with choices ----


@program(lambda rng: f32(*[0.5 * rng.normal(size=s) for s in ((20, 8), (8, 4), (4, 8, 16), (4, 16, 8))]), 1e-3)
def experts_with_capacity(jax):
    jnp = jax.numpy
    capacity = 7

    def layer(x, gates, up, down):
        chance = jax.nn.softmax(x @ gates)
        weight, index = jax.lax.top_k(chance, 2)
        weight = weight / weight.sum(-1, keepdims=True)
        chosen = jax.nn.one_hot(index, 4)
        place = jnp.cumsum(chosen.reshape(-1, 4), axis=0).reshape(chosen.shape) * chosen - 1
        fits = (place >= 0) & (place < capacity)
        sent = jnp.einsum("nk,nkec->nec", weight, jax.nn.one_hot(place.astype(jnp.int32), capacity) * fits[..., None])
        inside = jnp.einsum("nd,nec->ecd", x, (sent > 0).astype(x.dtype))
        made = jnp.einsum("ech,ehd->ecd", jax.nn.gelu(jnp.einsum("ecd,edh->ech", inside, up)), down)
        return jnp.einsum("ecd,nec->nd", made, sent), 4 * jnp.sum(chosen[:, 0].mean(0) * chance.mean(0))

    def loss(*args):
        y, balance = layer(*args)
        return jnp.sum(y ** 2) + balance

    return lambda *args: (layer(*args), jax.grad(loss, argnums=(0, 1, 2, 3))(*args))


@program(lambda rng: f32(rng.normal(size=(12, 8)), 0.5 * rng.normal(size=(8, 8)), 0.5 * rng.normal(size=(8, 4))), 1e-3)
def training_with_few_bits(jax):
    jnp = jax.numpy

    @jax.custom_vjp
    def rounded(x, scale):
        return jnp.clip(jnp.round(x / scale), -8, 7) * scale

    def backward(kept, d):
        x, scale = kept
        inside = jnp.abs(x / scale) <= 8
        return d * inside, jnp.sum(d * jnp.where(inside, jnp.round(x / scale) - x / scale, 8 * jnp.sign(x))).reshape(jnp.shape(scale))

    rounded.defvjp(lambda x, scale: (rounded(x, scale), (x, scale)), backward)

    def f(x, a, b):
        def loss(p):
            return jnp.mean((jax.nn.relu(x @ rounded(p["a"], p["scale_a"])) @ rounded(p["b"], p["scale_b"])) ** 2)

        def step(p, _):
            value, slope = jax.value_and_grad(loss)(p)
            return jax.tree.map(lambda p, g: p - 0.01 * g, p, slope), value

        return jax.lax.scan(step, {"a": a, "b": b, "scale_a": jnp.float32(0.1), "scale_b": jnp.asarray(0.2)}, xs=None, length=5)

    return f


@program(lambda rng: f32(rng.normal(size=(12, 20)), 0.3 * rng.normal(size=(20, 8)), rng.normal(size=(12, 20))), 1e-3)
def pairs_of_views(jax):
    jnp = jax.numpy

    def loss(w, a, b):
        z = jnp.concatenate([a @ w, b @ w])
        z = z / jnp.linalg.norm(z, axis=1, keepdims=True)
        n = z.shape[0]
        likeness = jnp.fill_diagonal(z @ z.T / 0.5, -jnp.inf, inplace=False)
        return -jnp.mean(jax.nn.log_softmax(likeness)[jnp.arange(n), (jnp.arange(n) + n // 2) % n])

    return lambda a, w, b: jax.value_and_grad(loss)(w, a, b)


# ---- filters ----


class Dynamics(NamedTuple):
    move: object
    see: object
    moved: object  # covariances of the noise
    seen: object


def _dynamics(rng):
    return f32(0.9 * np.eye(3), rng.normal(size=(2, 3)), 0.1 * np.eye(3), 0.2 * np.eye(2), rng.normal(size=(15, 2)))


@program(_dynamics, 2e-3)
def covariances_of_a_kalman_filter(jax):
    jnp = jax.numpy

    def likelihood(m, ys):
        def step(state, y):
            mean, cov = m.move @ state[0], m.move @ state[1] @ m.move.T + m.moved
            s = m.see @ cov @ m.see.T + m.seen
            gain = jax.scipy.linalg.solve(s, m.see @ cov, assume_a="pos").T
            apart = y - m.see @ mean
            whitened = jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(s), apart)
            total = state[2] + jax.scipy.stats.multivariate_normal.logpdf(y, m.see @ mean, s) + 0.1 * apart @ whitened
            return (mean + gain @ apart, cov - gain @ s @ gain.T, total), mean

        return jax.lax.scan(step, (jnp.zeros(3), jnp.eye(3), 0.0), ys)[0][2]

    return lambda *args: jax.value_and_grad(likelihood)(Dynamics(*args[:4]), args[4])
