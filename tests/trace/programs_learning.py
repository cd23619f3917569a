"""Programs of machine learning as users of JAX write them: functions of the package (jax, or wick in its place). What they
give under JAX is kept in programs_expected.npz, which programs_expected.py writes."""
import numpy as np

from trace_programs import f32, program


def _weights(rng, *sizes):
    return [{"w": f32(rng.normal(size=(m, n)) / m ** 0.5)[0], "b": f32(0.1 * rng.normal(size=n))[0]} for m, n in zip(sizes, sizes[1:])]


def _mlp(jax, p, x, activation):
    for layer in p[:-1]:
        x = activation(x @ layer["w"] + layer["b"])
    return x @ p[-1]["w"] + p[-1]["b"]


def _cross_entropy(jax, logits, y):
    return -jax.numpy.mean(jax.numpy.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))


# ---- regression and optimizers ----


@program(lambda r: f32(r.normal(size=(300, 20)), r.normal(size=300)))
def ridge_regression(jax):
    jnp = jax.numpy

    def f(x, y):
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        w = jnp.linalg.solve(x.T @ x + 3.0 * jnp.eye(x.shape[1]), x.T @ (y - y.mean()))
        residual = y - y.mean() - x @ w
        return w, jnp.sqrt(jnp.mean(residual ** 2)), 1 - jnp.sum(residual ** 2) / jnp.sum((y - y.mean()) ** 2)

    return f


@program(lambda r: f32(r.normal(size=(120, 30)), r.normal(size=120)))
def lasso_by_proximal_gradient(jax):
    jnp = jax.numpy

    def f(x, y):
        step = 1.0 / jnp.linalg.norm(x.T @ x, ord="fro")
        soft = lambda w, t: jnp.sign(w) * jnp.maximum(jnp.abs(w) - t, 0.0)

        def body(state, _):
            w, z, t = state
            new = soft(z - step * (x.T @ (x @ z - y)), step * 5.0)
            t_new = (1 + jnp.sqrt(1 + 4 * t * t)) / 2
            return (new, new + (t - 1) / t_new * (new - w), t_new), jnp.sum(jnp.abs(new) > 1e-6)

        w0 = jnp.zeros(x.shape[1])
        (w, _, _), counts = jax.lax.scan(body, (w0, w0, 1.0), None, length=100)
        return w, counts[-1]

    return f


@program(lambda r: (f32(np.zeros((12, 4)))[0], *f32(r.normal(size=(256, 12))), r.integers(0, 4, 256)))
def softmax_regression_with_momentum(jax):
    jnp = jax.numpy

    def loss(w, x, y):
        return _cross_entropy(jax, x @ w, y) + 1e-3 * jnp.sum(w ** 2)

    def f(w, x, y):
        def step(_, state):
            w, v = state
            v = 0.9 * v - 0.1 * jax.grad(loss)(w + 0.9 * v, x, y)
            return w + v, v
        w, _ = jax.lax.fori_loop(0, 40, step, (w, jnp.zeros_like(w)))
        return w, jnp.mean(jnp.argmax(x @ w, axis=1) == y)

    return f


@program(lambda r: (_weights(r, 8, 32, 1), *f32(r.normal(size=(256, 8)), r.normal(size=(256, 1))), np.stack([r.permutation(256) for _ in range(2)])))
def training_by_batches(jax):
    jnp = jax.numpy

    def loss(p, x, y):
        return jnp.mean((_mlp(jax, p, x, jnp.tanh) - y) ** 2)

    def f(p, x, y, orders):
        def batch(p, at):
            value, g = jax.value_and_grad(loss)(p, x[at], y[at])
            return jax.tree.map(lambda w, d: w - 0.05 * d, p, g), value

        def epoch(p, order):
            return jax.lax.scan(batch, p, order.reshape(-1, 32))

        return jax.lax.scan(epoch, p, orders)

    return f


@program(lambda r: (_weights(r, 10, 64, 64, 5), *f32(r.normal(size=(64, 10))), r.integers(0, 5, 64)))
def adamw_with_clipping_and_schedule(jax):
    jnp = jax.numpy

    def loss(p, x, y):
        return _cross_entropy(jax, _mlp(jax, p, x, jax.nn.gelu), y)

    def f(p, x, y):
        zeros = jax.tree.map(jnp.zeros_like, p)

        def step(state, t):
            p, m, v = state
            value, g = jax.value_and_grad(loss)(p, x, y)
            norm = jnp.sqrt(sum(jnp.vdot(d, d) for d in jax.tree.leaves(g)))
            g = jax.tree.map(lambda d: d * jnp.minimum(1.0, 0.5 / norm), g)
            m = jax.tree.map(lambda a, d: 0.9 * a + 0.1 * d, m, g)
            v = jax.tree.map(lambda a, d: 0.99 * a + 0.01 * d * d, v, g)
            rate = 0.01 * 0.5 * (1 + jnp.cos(jnp.pi * t / 20))
            fix = lambda a, b: a / (1 - b ** (t + 1.0))
            p = jax.tree.map(lambda w, a, b: w - rate * (fix(a, 0.9) / (jnp.sqrt(fix(b, 0.99)) + 1e-6) + 0.01 * w), p, m, v)
            return (p, m, v), (value, norm)

        (p, _, _), history = jax.lax.scan(step, (p, zeros, zeros), jnp.arange(20))
        return p, history

    return f


@program(lambda r: (f32(r.normal(size=6))[0], *f32(r.normal(size=(80, 6)), r.normal(size=80) > 0)), 1e-3)
def newton_with_conjugate_gradients(jax):
    jnp = jax.numpy

    def loss(w, x, y):
        z = x @ w
        return jnp.mean(jax.nn.softplus(z) - y * z) + 0.05 * jnp.vdot(w, w)

    def f(w, x, y):
        def solve(product, b):
            def body(_, s):
                d, r, p, rr = s
                q = product(p)
                a = rr / (jnp.vdot(p, q) + 1e-20)
                r = r - a * q
                new = jnp.vdot(r, r)
                return d + a * p, r, r + new / (rr + 1e-20) * p, new
            return jax.lax.fori_loop(0, 6, body, (jnp.zeros_like(b), b, b, jnp.vdot(b, b)))[0]

        def step(w, _):
            g = jax.grad(loss)(w, x, y)
            product = lambda v: jax.jvp(lambda w: jax.grad(loss)(w, x, y), (w,), (v,))[1]
            return w - solve(product, g), jnp.linalg.norm(g)

        return jax.lax.scan(step, w, None, length=5)

    return f


@program(lambda r: (_weights(r, 6, 16, 3), *f32(r.normal(size=(32, 6))), r.integers(0, 3, 32), *f32(r.normal(size=(16, 3)))))
def private_gradients_of_each_example(jax):
    jnp = jax.numpy

    def loss(p, x, y):
        return -jax.nn.log_softmax(_mlp(jax, p, x, jnp.tanh))[y]

    def f(p, x, y, noise):
        grads = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(p, x, y)
        norms = jnp.sqrt(sum(jnp.sum(g.reshape(g.shape[0], -1) ** 2, axis=1) for g in jax.tree.leaves(grads)))
        scale = jnp.minimum(1.0, 0.1 / norms)
        mean = jax.tree.map(lambda g: jnp.tensordot(scale, g, axes=1) / len(x), grads)
        mean[1]["w"] = mean[1]["w"] + 0.01 * noise
        return jax.tree.map(lambda w, g: w - g, p, mean), norms

    return f


@program(lambda r: f32(r.normal(size=(40, 10)), r.normal(size=40), r.normal(size=(30, 2, 10)) * 0.1))
def evolution_strategy(jax):
    jnp = jax.numpy

    def f(x, y, noise):
        def fitness(w):
            return -jnp.mean(jnp.abs(x @ w - y))

        def step(w, e):
            e = jnp.concatenate([e, -e])
            scores = jax.vmap(lambda d: fitness(w + d))(e)
            ranks = jnp.argsort(jnp.argsort(scores)) / (len(scores) - 1) - 0.5
            return w + 0.8 * ranks @ e, scores.max()

        return jax.lax.scan(step, jnp.zeros(10), noise)

    return f


# ---- layers and networks ----


@program(lambda r: ({"w": f32(0.5 * r.normal(size=(10, 24)))[0], "scale": f32(np.ones(24))[0], "shift": f32(np.zeros(24))[0],
                     "out": f32(0.3 * r.normal(size=(24, 2)))[0]}, (f32(np.zeros(24))[0], f32(np.ones(24))[0]), *f32(r.normal(size=(64, 10))), r.integers(0, 2, 64)))
def batch_norm_training(jax):
    jnp = jax.numpy

    def loss(p, running, x, y):
        h = x @ p["w"]
        mean, var = h.mean(axis=0), h.var(axis=0)
        running = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, running, (mean, var))
        h = (h - mean) * jax.lax.rsqrt(var + 1e-5) * p["scale"] + p["shift"]
        return _cross_entropy(jax, jax.nn.relu(h) @ p["out"], y), running

    def f(p, running, x, y):
        def step(_, state):
            p, running = state
            (_, running), g = jax.value_and_grad(loss, has_aux=True)(p, running, x, y)
            return {k: p[k] - 0.1 * g[k] for k in p}, running
        return jax.lax.fori_loop(0, 10, step, (p, running))

    return f


@program(lambda r: (_weights(r, 16, 64, 4), *f32(r.normal(size=(48, 16))), r.integers(0, 4, 48), r.random((48, 64)) < 0.8))
def dropout_and_label_smoothing(jax):
    jnp = jax.numpy

    def loss(p, x, y, kept):
        h = jax.nn.silu(x @ p[0]["w"] + p[0]["b"])
        h = jnp.where(kept, h / 0.8, 0.0)
        logits = h @ p[1]["w"] + p[1]["b"]
        target = 0.9 * jax.nn.one_hot(y, 4) + 0.1 / 4
        return -jnp.mean(jnp.sum(target * jax.nn.log_softmax(logits, axis=-1), axis=-1))

    return jax.value_and_grad(loss)


@program(lambda r: ({"c1": f32(0.3 * r.normal(size=(3, 3, 1, 8)))[0], "c2": f32(0.1 * r.normal(size=(3, 3, 8, 16)))[0],
                     "w": f32(0.05 * r.normal(size=(16 * 49, 10)))[0]}, *f32(r.normal(size=(16, 28, 28, 1))), r.integers(0, 10, 16)), 1e-3)
def convolutional_network_step(jax):
    jnp, lax = jax.numpy, jax.lax

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(p, x, y):
        x = pool(jax.nn.relu(conv(x, p["c1"])))
        x = pool(jax.nn.relu(conv(x, p["c2"])))
        return _cross_entropy(jax, x.reshape(x.shape[0], -1) @ p["w"], y)

    def f(p, x, y):
        value, g = jax.value_and_grad(loss)(p, x, y)
        return value, jax.tree.map(lambda w, d: w - 0.1 * d, p, g)

    return f


@program(lambda r: f32(r.normal(size=(2, 16, 16, 8)), 0.3 * r.normal(size=(3, 3, 1, 8)), 0.3 * r.normal(size=(1, 1, 8, 16)), r.normal(size=(3, 3, 8, 4))))
def separable_and_dilated_convolutions(jax):
    lax, jnp = jax.lax, jax.numpy
    numbers = ("NHWC", "HWIO", "NHWC")

    def f(x, depthwise, pointwise, dilated):
        a = lax.conv_general_dilated(x, depthwise, (2, 2), "SAME", dimension_numbers=numbers, feature_group_count=8)
        a = lax.conv_general_dilated(jax.nn.relu6(a), pointwise, (1, 1), "VALID", dimension_numbers=numbers)
        b = lax.conv_general_dilated(x, dilated, (1, 1), [(2, 2), (2, 2)], rhs_dilation=(2, 2), dimension_numbers=numbers)
        averages = lax.reduce_window(b, 0.0, lax.add, (1, 4, 4, 1), (1, 4, 4, 1), "VALID") / 16
        return jax.nn.hard_swish(a), averages, jnp.max(b, axis=(1, 2))

    return f


@program(lambda r: f32(r.normal(size=(4, 16, 16, 1)), 0.3 * r.normal(size=(3, 3, 1, 6)), 0.2 * r.normal(size=(3, 3, 6, 12)), 0.2 * r.normal(size=(3, 3, 12, 6)),
                       0.3 * r.normal(size=(3, 3, 6, 1))), 1e-3)
def convolutional_autoencoder(jax):
    lax, jnp = jax.lax, jax.numpy

    def down(x, w):
        return jax.nn.elu(lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))

    def loss(w, x):
        h = down(down(x, w[0]), w[1])
        h = jax.nn.elu(lax.conv_transpose(h, w[2], (2, 2), "SAME"))
        return jnp.mean((lax.conv_transpose(h, w[3], (2, 2), "SAME") - x) ** 2)

    return lambda x, *w: jax.value_and_grad(loss)(w, x)


@program(lambda r: ({"embed": f32(0.3 * r.normal(size=(20, 16)))[0], "w": f32(0.2 * r.normal(size=(48, 128)))[0], "b": f32(np.zeros(128))[0],
                     "out": f32(0.2 * r.normal(size=(32, 20)))[0]}, r.integers(0, 20, (4, 25))), 1e-3)
def lstm_language_model(jax):
    jnp = jax.numpy

    def loss(p, text):
        def cell(state, x):
            h, c = state
            i, f, g, o = jnp.split(jnp.concatenate([x, h], axis=-1) @ p["w"] + p["b"], 4, axis=-1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h @ p["out"]

        x = jnp.take(p["embed"], text[:, :-1], axis=0).transpose(1, 0, 2)
        zero = jnp.zeros((text.shape[0], 32))
        _, logits = jax.lax.scan(cell, (zero, zero), x)
        return _cross_entropy(jax, logits.reshape(-1, 20), text[:, 1:].T.reshape(-1))

    return jax.value_and_grad(loss)


@program(lambda r: f32(r.normal(size=(12, 5, 8)), 0.3 * r.normal(size=(8, 16)), 0.2 * r.normal(size=(16, 16)), 0.3 * r.normal(size=(8, 16)), 0.2 * r.normal(size=(16, 16))))
def bidirectional_network(jax):
    jnp = jax.numpy

    def run(xs, w, u, reverse):
        step = lambda h, x: (jnp.tanh(x @ w + h @ u),) * 2
        return jax.lax.scan(step, jnp.zeros((xs.shape[1], u.shape[0])), xs, reverse=reverse)[1]

    def f(xs, w, u, w2, u2):
        both = jnp.concatenate([run(xs, w, u, False), run(xs, w2, u2, True)], axis=-1)
        weights = jax.nn.softmax(jnp.sum(both, axis=-1), axis=0)
        return jnp.einsum("tb,tbd->bd", weights, both)

    return f


def _transformer(rng, vocabulary=30, d=32, heads=4):
    n = lambda *s: f32(rng.normal(size=s) / s[0] ** 0.5)[0]
    block = lambda: {"qkv": n(d, 3 * d), "proj": n(d, d), "up": n(d, 4 * d), "down": n(4 * d, d), "g1": f32(np.ones(d))[0], "g2": f32(np.ones(d))[0]}
    return {"embed": n(vocabulary, d), "position": n(16, d), "blocks": [block(), block()]}, rng.integers(0, vocabulary, (4, 16))


@program(_transformer, 2e-3)
def decoder_of_a_transformer(jax):
    jnp = jax.numpy

    def norm(x, g):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * g

    def attend(x, block):
        b, t, d = x.shape
        q, k, v = [a.reshape(b, t, 4, d // 4) for a in jnp.split(x @ block["qkv"], 3, axis=-1)]
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(d // 4)
        scores = jnp.where(jnp.tril(jnp.ones((t, t), dtype=bool)), scores, -1e9)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(b, t, d) @ block["proj"]

    def loss(p, text):
        x = p["embed"][text[:, :-1]] + p["position"][:text.shape[1] - 1]
        for block in p["blocks"]:
            x = x + attend(norm(x, block["g1"]), block)
            x = x + jax.nn.gelu(norm(x, block["g2"]) @ block["up"]) @ block["down"]
        logits = x @ p["embed"].T
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), text[:, 1:, None], axis=-1)
        return -picked.mean()

    return jax.value_and_grad(loss)


@program(lambda r: (*f32(0.5 * r.normal(size=(20, 16)), 0.4 * r.normal(size=(16, 48))), np.int32(3)))
def decoding_with_a_cache(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(embed, w, first):
        def step(state, t):
            token, keys, values = state
            q, k, v = jnp.split(embed[token] @ w, 3)
            keys = lax.dynamic_update_slice(keys, k[None], (t, 0))
            values = lax.dynamic_update_slice_in_dim(values, v[None], t, axis=0)
            scores = jnp.where(jnp.arange(12) <= t, keys @ q / 4.0, -jnp.inf)
            token = jnp.argmax((jax.nn.softmax(scores) @ values + embed[token]) @ embed.T).astype(jnp.int32)
            return (token, keys, values), token

        (_, keys, _), tokens = lax.scan(step, (first, jnp.zeros((12, 16)), jnp.zeros((12, 16))), jnp.arange(12))
        return tokens, keys.sum(axis=0)

    return f


@program(lambda r: f32(r.normal(size=(2, 4, 32, 8)), r.normal(size=(2, 4, 32, 8)), r.normal(size=(2, 4, 32, 16))))
def linear_attention(jax):
    jnp = jax.numpy

    def f(q, k, v):
        q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
        sums = jnp.cumsum(jnp.einsum("bhtd,bhte->bhtde", k, v), axis=2)
        total = jnp.einsum("bhtd,bhtd->bht", q, jnp.cumsum(k, axis=2))
        return jnp.einsum("bhtd,bhtde->bhte", q, sums) / total[..., None]

    return f


@program(lambda r: (*f32(r.normal(size=(40, 12))), r.integers(0, 40, 160), r.integers(0, 40, 160), *f32(0.3 * r.normal(size=(12, 16)), 0.3 * r.normal(size=(16, 3))),
                    r.integers(0, 3, 40)))
def graph_convolutions(jax):
    jnp = jax.numpy

    def loss(w, x, senders, receivers, labels):
        n = x.shape[0]
        ones = jnp.ones(senders.shape[0])
        degree = jax.ops.segment_sum(ones, receivers, num_segments=n) + 1.0

        def layer(x, w):
            h = x @ w
            mixed = jax.ops.segment_sum(h[senders] / jnp.sqrt(degree[senders] * degree[receivers])[:, None], receivers, n)
            return mixed + h / degree[:, None]

        return _cross_entropy(jax, layer(jax.nn.relu(layer(x, w[0])), w[1]), labels)

    return lambda x, s, r, w1, w2, y: jax.value_and_grad(loss)((w1, w2), x, s, r, y)


@program(lambda r: (*f32(r.normal(size=(30, 8))), r.integers(0, 30, 120), r.integers(0, 30, 120), *f32(r.normal(size=8), r.normal(size=8))))
def graph_attention(jax):
    jnp = jax.numpy

    def f(x, senders, receivers, a, b):
        n = x.shape[0]
        logits = jax.nn.leaky_relu((x @ a)[senders] + (x @ b)[receivers], 0.2)
        most = jax.ops.segment_max(logits, receivers, num_segments=n)
        e = jnp.exp(logits - most[receivers])
        weights = e / (jax.ops.segment_sum(e, receivers, num_segments=n)[receivers] + 1e-9)
        return jnp.zeros_like(x).at[receivers].add(weights[:, None] * x[senders])

    return f


@program(lambda r: (*f32(r.normal(size=(50, 16)) * 0.3, r.normal(size=(50, 16)) * 0.3), r.integers(0, 50, 64), r.integers(0, 50, 64), r.integers(0, 50, (64, 5))))
def word_vectors_by_negative_samples(jax):
    jnp = jax.numpy

    def loss(vectors, contexts, center, context, negative):
        v = vectors[center]
        good = jax.nn.log_sigmoid(jnp.sum(v * contexts[context], axis=-1))
        bad = jax.nn.log_sigmoid(-jnp.einsum("bd,bkd->bk", v, contexts[negative])).sum(axis=-1)
        return -jnp.mean(good + bad)

    def f(vectors, contexts, *pairs):
        a, b = jax.grad(loss, argnums=(0, 1))(vectors, contexts, *pairs)
        return vectors - 0.5 * a, contexts - 0.5 * b

    return f


@program(lambda r: f32(r.normal(size=(24, 10)), r.normal(size=(24, 10)), 0.3 * r.normal(size=(10, 8))))
def contrastive_loss(jax):
    jnp = jax.numpy

    def loss(w, a, b):
        z = jnp.concatenate([a, b]) @ w
        z = z / jnp.linalg.norm(z, axis=1, keepdims=True)
        n = a.shape[0]
        scores = z @ z.T / 0.1
        scores = jnp.where(jnp.eye(2 * n, dtype=bool), -jnp.inf, scores)
        partner = jnp.roll(jnp.arange(2 * n), n)
        return jnp.mean(jax.nn.logsumexp(scores, axis=1) - scores[jnp.arange(2 * n), partner])

    return lambda a, b, w: jax.value_and_grad(loss)(w, a, b)


@program(lambda r: f32(r.normal(size=(32, 8)), r.normal(size=(8, 4)), 0.3 * r.normal(size=(4, 8, 16)), 0.3 * r.normal(size=(4, 16, 8))))
def mixture_of_experts(jax):
    jnp = jax.numpy

    def f(x, gate, up, down):
        logits = x @ gate
        best, chosen = jax.lax.top_k(logits, 2)
        weights = jnp.zeros_like(logits).at[jnp.arange(len(x))[:, None], chosen].set(jax.nn.softmax(best))
        every = jax.vmap(lambda u, d: jax.nn.relu(x @ u) @ d)(up, down)
        load = jnp.mean(jax.nn.one_hot(chosen[:, 0], 4), axis=0)
        return jnp.einsum("ne,end->nd", weights, every), 4 * jnp.sum(load * jax.nn.softmax(logits).mean(axis=0))

    return f


@program(lambda r: (_weights(r, 1, 16, 1), *f32(r.normal(size=(6, 10, 1)), r.normal(size=(6, 10, 1)), r.normal(size=(6, 10, 1)), r.normal(size=(6, 10, 1)))), 1e-3)
def learning_to_learn(jax):
    jnp = jax.numpy

    def loss(p, x, y):
        return jnp.mean((_mlp(jax, p, x, jnp.tanh) - y) ** 2)

    def adapted(p, x, y):
        for _ in range(2):
            p = jax.tree.map(lambda w, g: w - 0.1 * g, p, jax.grad(loss)(p, x, y))
        return p

    def meta(p, x1, y1, x2, y2):
        return jnp.mean(jax.vmap(lambda a, b, c, d: loss(adapted(p, a, b), c, d))(x1, y1, x2, y2))

    return jax.value_and_grad(meta)


@program(lambda r: (_weights(r, 4, 16, 2), _weights(r, 2, 16, 1), *f32(r.normal(size=(32, 2)), r.normal(size=(32, 4)))))
def adversarial_training(jax):
    jnp = jax.numpy

    def judge(d, x):
        return _mlp(jax, d, x, jax.nn.leaky_relu)[:, 0]

    def of_judge(d, g, real, noise):
        fake = _mlp(jax, g, noise, jnp.tanh)
        return jnp.mean(jax.nn.softplus(-judge(d, real)) + jax.nn.softplus(judge(d, fake)))

    def of_maker(g, d, noise):
        return jnp.mean(jax.nn.softplus(-judge(d, _mlp(jax, g, noise, jnp.tanh))))

    def f(g, d, real, noise):
        def step(state, _):
            g, d = state
            a, dd = jax.value_and_grad(of_judge)(d, g, real, noise)
            d = jax.tree.map(lambda w, v: w - 0.1 * v, d, dd)
            b, dg = jax.value_and_grad(of_maker)(g, d, noise)
            return (jax.tree.map(lambda w, v: w - 0.1 * v, g, dg), d), (a, b)
        return jax.lax.scan(step, (g, d), None, length=8)

    return f


# ---- generative models and inference ----


@program(lambda r: (_weights(r, 10, 32, 2), *f32(r.normal(size=(64, 2)), r.normal(size=(64, 2))), r.integers(0, 50, 64)))
def denoising_diffusion(jax):
    jnp = jax.numpy

    def features(t):
        angle = t[:, None] * jnp.exp(-jnp.log(100.0) * jnp.arange(4) / 4)
        return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], axis=-1)

    def loss(p, x, noise, t):
        kept = jnp.cumprod(1 - jnp.linspace(1e-3, 0.1, 50))[t][:, None]
        noisy = jnp.sqrt(kept) * x + jnp.sqrt(1 - kept) * noise
        found = _mlp(jax, p, jnp.concatenate([noisy, features(t / 50)], axis=-1), jax.nn.swish)
        return jnp.mean(jnp.sum((found - noise) ** 2, axis=-1))

    return jax.value_and_grad(loss)


@program(lambda r: (_weights(r, 3, 32, 2), *f32(r.normal(size=(40, 2)), r.normal(size=(25, 40, 2)))))
def sampling_by_diffusion(jax):
    jnp = jax.numpy

    def f(p, x, noises):
        beta = jnp.linspace(1e-3, 0.2, len(noises))
        kept = jnp.cumprod(1 - beta)

        def step(x, row):
            noise, b, k, t = row
            given = jnp.concatenate([x, jnp.full((x.shape[0], 1), t)], axis=-1)
            found = _mlp(jax, p, given, jnp.tanh)
            x = (x - b / jnp.sqrt(1 - k) * found) / jnp.sqrt(1 - b)
            return x + jnp.where(t > 0, jnp.sqrt(b), 0.0) * noise, None

        return jax.lax.scan(step, x, (noises, beta[::-1], kept[::-1], jnp.linspace(1, 0, len(noises))))[0]

    return f


@program(lambda r: f32(r.normal(size=(32, 6)), 0.4 * r.normal(size=(6, 4)), r.normal(size=(10, 4)), 0.4 * r.normal(size=(4, 6))))
def vector_quantization(jax):
    jnp = jax.numpy

    def loss(p, x):
        enc, book, dec = p
        z = x @ enc
        nearest = jnp.argmin(jnp.sum((z[:, None] - book) ** 2, axis=-1), axis=1)
        q = book[nearest]
        through = z + jax.lax.stop_gradient(q - z)
        commit = jnp.mean((z - jax.lax.stop_gradient(q)) ** 2) + jnp.mean((q - jax.lax.stop_gradient(z)) ** 2)
        return jnp.mean((through @ dec - x) ** 2) + 0.25 * commit, jnp.bincount(nearest, length=10)

    return lambda x, *p: jax.value_and_grad(loss, has_aux=True)(p, x)


@program(lambda r: ([_weights(r, 2, 16, 4) for _ in range(4)], *f32(r.normal(size=(50, 4)))))
def coupling_flow(jax):
    jnp = jax.numpy

    def density(p, x):
        total = 0.0
        for k, net in enumerate(p):
            a, b = (x[:2], x[2:]) if k % 2 == 0 else (x[2:], x[:2])
            shift, scale = jnp.split(_mlp(jax, net, a, jnp.tanh), 2)
            scale = jnp.tanh(scale)
            b = b * jnp.exp(scale) + shift
            x = jnp.concatenate([a, b] if k % 2 == 0 else [b, a])
            total = total + scale.sum()
        return jax.scipy.stats.norm.logpdf(x).sum() + total

    return jax.value_and_grad(lambda p, xs: -jnp.mean(jax.vmap(density, in_axes=(None, 0))(p, xs)))


@program(lambda r: f32(r.normal(size=5), 0.1 * r.normal(size=5), r.normal(size=(60, 5)), r.normal(size=60), r.normal(size=(16, 5))))
def variational_inference(jax):
    jnp, norm = jax.numpy, jax.scipy.stats.norm

    def bound(mean, log_scale, x, y, noise):
        def one(e):
            w = mean + jnp.exp(log_scale) * e
            likelihood = norm.logpdf(y, x @ w, 0.5).sum()
            return likelihood + norm.logpdf(w).sum() - norm.logpdf(w, mean, jnp.exp(log_scale)).sum()
        return jnp.mean(jax.vmap(one)(noise))

    return jax.value_and_grad(bound, argnums=(0, 1))


@program(lambda r: f32(r.normal(size=(20, 2)), r.normal(size=(30, 20, 2)) * 0.3))
def langevin_sampling(jax):
    jnp = jax.numpy

    def log_density(x):
        centers = jnp.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
        return jax.nn.logsumexp(jax.vmap(lambda c: jax.scipy.stats.multivariate_normal.logpdf(x, c, 0.3 * jnp.eye(2)))(centers))

    def f(x, noises):
        step = lambda x, e: (x + 0.05 * jax.vmap(jax.grad(log_density))(x) + jnp.sqrt(0.1) * e,) * 2
        last, path = jax.lax.scan(step, x, noises)
        return last, path[10:].mean(axis=(0, 1)), jnp.cov(path[10:].reshape(-1, 2), rowvar=False)

    return f


@program(lambda r: (*f32(np.zeros(3), r.uniform(-2, 2, size=25), r.uniform(-2, 2, size=10)), np.float32(0)), 3e-3)
def hyperparameters_of_a_gaussian_process(jax):
    jnp = jax.numpy

    def kernel(p, a, b):
        scale, width, _ = jnp.exp(p)
        return scale * jnp.exp(-0.5 * ((a[:, None] - b) / width) ** 2)

    def loss(p, x, y):
        k = kernel(p, x, x) + (jnp.exp(p[2]) * 0.1 + 1e-3) * jnp.eye(len(x))
        l = jax.scipy.linalg.cholesky(k, lower=True)
        z = jax.scipy.linalg.solve_triangular(l, y, lower=True)
        return 0.5 * z @ z + jnp.log(jnp.diagonal(l)).sum()

    def f(p, x, t, shift):
        y = jnp.sin(2 * x) + shift
        p = jax.lax.fori_loop(0, 15, lambda _, p: p - 0.02 * jax.grad(loss)(p, x, y), p)
        k = kernel(p, x, x) + (jnp.exp(p[2]) * 0.1 + 1e-3) * jnp.eye(len(x))
        c = jax.scipy.linalg.cho_factor(k)
        return p, kernel(p, t, x) @ jax.scipy.linalg.cho_solve(c, y)

    return f


@program(lambda r: (_weights(r, 3, 24, 1), *f32(r.normal(size=(12, 3)))), 1e-3)
def tangent_kernel(jax):
    jnp = jax.numpy

    def f(p, x):
        apply = lambda p, x: _mlp(jax, p, x, jax.nn.softplus)[0]
        jac = jax.vmap(jax.grad(apply), in_axes=(None, 0))(p, x)
        flat = jnp.concatenate([j.reshape(len(x), -1) for j in jax.tree.leaves(jac)], axis=1)
        kernel = flat @ flat.T
        return kernel, jnp.linalg.eigvalsh(kernel / len(x))

    return f


@program(lambda r: ({k: v for k, v in zip("wb", f32(r.normal(size=(5, 8, 1)), r.normal(size=(5, 1))))}, *f32(r.normal(size=(40, 8)), r.normal(size=(40, 1)))))
def ensemble_of_models(jax):
    jnp = jax.numpy

    def loss(p, x, y):
        return jnp.mean(jnp.square(x @ p["w"] + p["b"] - y))

    def f(p, x, y):
        update = jax.vmap(lambda p: jax.tree.map(lambda w, g: w - 0.05 * g, p, jax.grad(loss)(p, x, y)))
        p = jax.lax.fori_loop(0, 20, lambda _, p: update(p), p)
        guesses = jax.vmap(lambda p: x @ p["w"] + p["b"], out_axes=-1)(p)
        return p, guesses.mean(axis=-1), guesses.std(axis=-1)

    return f


@program(lambda r: f32(0.3 * r.normal(size=(8, 8)), r.normal(size=(4, 8)), r.normal(size=(4, 8))))
def implicit_layer(jax):
    """A fixed point, differentiated by the implicit function theorem."""
    jnp = jax.numpy

    def settle(f, z):
        return jax.lax.while_loop(lambda s: (jnp.max(jnp.abs(s[0] - s[1])) > 1e-6) & (s[2] < 200), lambda s: (s[1], f(s[1]), s[2] + 1), (z, f(z), 0))[1]

    @jax.custom_vjp
    def layer(w, x):
        return settle(lambda z: jnp.tanh(0.5 * z @ w + x), jnp.zeros_like(x))

    def forward(w, x):
        z = layer(w, x)
        return z, (w, x, z)

    def backward(kept, cotangent):
        w, x, z = kept
        g = lambda w, x, z: jnp.tanh(0.5 * z @ w + x)
        back = jax.vjp(lambda z: g(w, x, z), z)[1]
        u = settle(lambda u: cotangent + back(u)[0], jnp.zeros_like(z))
        return jax.vjp(lambda w, x: g(w, x, z), w, x)[1](u)

    layer.defvjp(forward, backward)
    return lambda w, x, y: jax.value_and_grad(lambda w: jnp.mean((layer(w, x) - y) ** 2))(w)


# ---- reinforcement learning ----


@program(lambda r: (_weights(r, 4, 16, 2), *f32(r.normal(size=(30, 4))), r.integers(0, 2, 30), *f32(r.normal(size=30))))
def policy_gradient(jax):
    jnp = jax.numpy

    def loss(p, states, actions, rewards):
        returns = jax.lax.scan(lambda g, r: (r + 0.95 * g,) * 2, 0.0, rewards, reverse=True)[1]
        advantage = (returns - returns.mean()) / (returns.std() + 1e-8)
        logs = jax.nn.log_softmax(_mlp(jax, p, states, jnp.tanh))
        entropy = -jnp.sum(jnp.exp(logs) * logs, axis=-1).mean()
        return -jnp.mean(logs[jnp.arange(len(actions)), actions] * advantage) - 0.01 * entropy

    return jax.value_and_grad(loss)


@program(lambda r: (_weights(r, 4, 16, 3), *f32(r.normal(size=(20, 8, 4)), r.normal(size=(20, 8))), r.integers(0, 2, (20, 8)), r.random((20, 8)) < 0.1,
                    *f32(-0.7 + 0.1 * r.normal(size=(20, 8)))))
def proximal_policy_optimization(jax):
    jnp = jax.numpy

    def loss(p, states, rewards, actions, done, old):
        out = _mlp(jax, p, states, jnp.tanh)
        logs, values = jax.nn.log_softmax(out[..., :2]), out[..., 2]
        stopped = jax.lax.stop_gradient(values)

        def back(gae, row):
            r, v, nxt, d = row
            gae = r + 0.99 * nxt * (1 - d) - v + 0.95 * 0.99 * (1 - d) * gae
            return gae, gae

        after = jnp.concatenate([stopped[1:], stopped[-1:]])
        _, advantage = jax.lax.scan(back, jnp.zeros(8), (rewards, stopped, after, done.astype(jnp.float32)), reverse=True)
        chosen = jnp.take_along_axis(logs, actions[..., None], axis=-1)[..., 0]
        ratio = jnp.exp(chosen - old)
        gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage)
        return -gain.mean() + 0.5 * jnp.mean((values - advantage - stopped) ** 2)

    return jax.value_and_grad(loss)
