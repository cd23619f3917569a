"""Programs as users of JAX write them. Each is a function of a namespace, its arguments, and an oracle in NumPy; those of
programs_learning.py and programs_science.py are compared with results of JAX."""
import types

import numpy as np

PROGRAMS = {}


def namespace(package):
    """What programs use of a package, jax or wick."""
    names = ("numpy lax nn ops scipy image tree jacobian tree_util flatten_util grad value_and_grad vmap jvp vjp hessian jacfwd jacrev custom_vjp custom_jvp checkpoint linearize jit "
             "custom_gradient closure_convert linear_transpose checkpoint_policies remat random experimental named_scope named_call device_put devices default_backend eval_shape ShapeDtypeStruct")
    own = {name: getattr(package, name) for name in names.split()}
    lax = package.lax
    return types.SimpleNamespace(**own, np=package.numpy, scan=lax.scan, fori=lax.fori_loop, cond=lax.cond, while_loop=lax.while_loop,
                                 tree_map=package.tree.map)


def sample(x):
    """Elements of a result at equal distances, at most 200."""
    return x.reshape(-1)[::max(1, -(-x.size // 200))]


def program(arguments, oracle=2e-4, tolerance=2e-4):
    """Registers build(namespace) -> f, with arguments(rng) and oracle(*arguments), or with the tolerance alone."""
    if not callable(oracle):
        oracle, tolerance = None, oracle

    def register(build):
        PROGRAMS[build.__name__] = types.SimpleNamespace(build=build, arguments=arguments, oracle=oracle, tolerance=tolerance)
        return build
    return register


def f32(*arrays):
    return tuple([np.asarray(a, np.float32) for a in arrays])


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# ---- regression ----


def _regression(rng):
    x = rng.normal(size=(200, 8))
    return f32(np.zeros(8), x, x @ np.arange(8) + 0.1 * rng.normal(size=200))


def _descend(w, x, y):
    for _ in range(100):
        w = w - 0.1 * 2 * x.T @ (x @ w - y) / len(y)
    return w


@program(_regression, _descend)
def linear_regression(j):
    def loss(w, x, y):
        return j.np.mean((x @ w - y) ** 2)

    return lambda w, x, y: j.fori(0, 100, lambda _, w: w - 0.1 * j.grad(loss)(w, x, y), w)


def _logistic(rng):
    x = rng.normal(size=(150, 5))
    return f32(np.zeros(5), x, x[:, 0] + 0.5 * x[:, 1] > 0)


def _logistic_np(w, x, y):
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ w))
        w = w - 0.5 * (x.T @ (p - y) / len(y) + 0.02 * w)
    return w


@program(_logistic, _logistic_np)
def logistic_regression(j):
    def loss(w, x, y):
        logits = x @ w
        return j.np.mean(j.np.logaddexp(0.0, logits) - y * logits) + 0.01 * j.np.sum(w ** 2)

    return lambda w, x, y: j.fori(0, 60, lambda i, w: w - 0.5 * j.grad(loss)(w, x, y), w)


def _newton_np(w, x, y):
    for _ in range(6):
        p = 1 / (1 + np.exp(-x @ w))
        g, h = x.T @ (p - y) + w, x.T @ (x * (p * (1 - p))[:, None]) + np.eye(5)
        w = w - np.linalg.solve(h, g)
    return w


@program(_logistic, _newton_np, 2e-3)
def newtons_method(j):
    def loss(w, x, y):
        logits = x @ w
        return j.np.sum(j.np.logaddexp(0.0, logits) - y * logits) + 0.5 * j.np.sum(w ** 2)

    def step(_, w, x, y):
        return w - j.np.linalg.solve(j.hessian(loss)(w, x, y), j.grad(loss)(w, x, y))

    return lambda w, x, y: j.fori(0, 6, lambda i, w: step(i, w, x, y), w)


def _poisson_np(w, x, y):
    for _ in range(40):
        w = w - 0.05 * x.T @ (np.exp(x @ w) - y) / len(y)
    return w


@program(lambda rng: f32(np.zeros(4), (x := 0.5 * rng.normal(size=(80, 4))), rng.poisson(np.exp(x[:, 0]))), _poisson_np)
def poisson_regression(j):
    loss = lambda w, x, y: j.np.mean(j.np.exp(x @ w) - y * (x @ w))
    return lambda w, x, y: j.fori(0, 40, lambda i, w: w - 0.05 * j.grad(loss)(w, x, y), w)


# ---- networks ----


def _mlp(rng):
    p = [{"w": f32(rng.normal(size=(a, b)) / a ** 0.5)[0], "b": f32(np.zeros(b))[0]} for a, b in ((10, 32), (32, 32), (32, 3))]
    return p, *f32(rng.normal(size=(64, 10))), rng.integers(0, 3, 64)


def _mlp_np(p, x, y):
    p = [{k: v.astype(np.float64) for k, v in layer.items()} for layer in p]
    for _ in range(10):
        hs = [x.astype(np.float64)]
        for layer in p[:-1]:
            hs.append(np.maximum(hs[-1] @ layer["w"] + layer["b"], 0))
        d = (softmax(hs[-1] @ p[-1]["w"] + p[-1]["b"]) - np.eye(3)[y]) / len(y)
        new = []
        for k in range(2, -1, -1):
            new.append({"w": p[k]["w"] - 0.1 * hs[k].T @ d, "b": p[k]["b"] - 0.1 * d.sum(0)})
            d = d @ p[k]["w"].T * (hs[k] > 0)
        p = new[::-1]
    return p


@program(_mlp, _mlp_np)
def mlp_training(j):
    def loss(p, x, y):
        for layer in p[:-1]:
            x = j.nn.relu(x @ layer["w"] + layer["b"])
        logits = x @ p[-1]["w"] + p[-1]["b"]
        return -j.np.mean(j.np.sum(j.nn.log_softmax(logits) * j.nn.one_hot(y, 3), axis=-1))

    def step(_, p, x, y):
        g = j.grad(loss)(p, x, y)
        return j.tree_map(lambda p, d: p - 0.1 * d, p, g)

    return lambda p, x, y: j.fori(0, 10, lambda i, p: step(i, p, x, y), p)


def _adam_np(p, x, y):
    m, v = np.zeros_like(p), np.zeros_like(p)
    for t in range(1, 31):
        g = 2 * x.T @ (np.tanh(x @ p) - y) * 0 + x.T @ (2 * (np.tanh(x @ p) - y) * (1 - np.tanh(x @ p) ** 2)) / len(y)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        p = p - 0.05 * (m / (1 - 0.9 ** t)) / (np.sqrt(v / (1 - 0.999 ** t)) + 1e-8)
    return p


@program(lambda rng: f32(0.1 * rng.normal(size=6), (x := rng.normal(size=(50, 6))), np.tanh(x[:, 0] - x[:, 1])), _adam_np, 1e-3)
def adam(j):
    loss = lambda p, x, y: j.np.mean((j.np.tanh(x @ p) - y) ** 2)

    def step(state, t):
        p, m, v, x, y = state
        g = j.grad(loss)(p, x, y)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        p = p - 0.05 * (m / (1 - 0.9 ** t)) / (j.np.sqrt(v / (1 - 0.999 ** t)) + 1e-8)
        return (p, m, v, x, y), None

    return lambda p, x, y: j.scan(step, (p, j.np.zeros_like(p), j.np.zeros_like(p), x, y), j.np.arange(1, 31).astype(j.np.float32))[0][0]


def _cnn(rng):
    return {"w": f32(rng.normal(size=(4, 1, 3, 3)) / 3)[0], "v": f32(rng.normal(size=(4 * 3 * 3, 2)) / 6)[0]}, *f32(rng.normal(size=(5, 1, 8, 8))), rng.integers(0, 2, 5)


def _cnn_np(p, x, y):
    w, v = p["w"].astype(float), p["v"].astype(float)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(float), (3, 3), (2, 3))
    pre = np.einsum("nchwij,mcij->nmhw", windows, w)
    h = np.maximum(pre, 0)
    pooled = h.reshape(5, 4, 3, 2, 3, 2).max((3, 5))
    logits = pooled.reshape(5, -1) @ v
    d = (softmax(logits) - np.eye(2)[y]) / 5
    loss = -np.mean(np.log(softmax(logits))[np.arange(5), y])
    gv = pooled.reshape(5, -1).T @ d
    dp = (d @ v.T).reshape(5, 4, 3, 1, 3, 1) * (h.reshape(5, 4, 3, 2, 3, 2) == pooled[:, :, :, None, :, None])
    dh = dp.reshape(5, 4, 6, 6) * (pre > 0)
    return loss, {"w": np.einsum("nchwij,nmhw->mcij", windows, dh), "v": gv}


@program(_cnn, _cnn_np, 1e-3)
def cnn_gradient(j):
    def loss(p, x, y):
        h = j.nn.relu(j.lax.conv_general_dilated(x, p["w"], (1, 1), "VALID"))
        h = j.lax.reduce_window(h, -j.np.inf, j.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        logits = h.reshape(x.shape[0], -1) @ p["v"]
        return -j.np.mean(j.np.take_along_axis(j.nn.log_softmax(logits), y[:, None], axis=1))

    return j.value_and_grad(loss)


def _rnn(rng):
    return {"u": f32(rng.normal(size=(3, 8)) / 2)[0], "w": f32(rng.normal(size=(8, 8)) / 3)[0], "v": f32(rng.normal(size=8))[0]}, *f32(rng.normal(size=(12, 4, 3)), rng.normal(size=(12, 4)))


def _rnn_np(p, xs, ys):
    hs = [np.zeros((4, 8))]
    for x in xs:
        hs.append(np.tanh(x @ p["u"] + hs[-1] @ p["w"]))
    out = np.stack(hs[1:]) @ p["v"]
    d = 2 * (out - ys) / ys.size
    g, dh = {k: np.zeros(v.shape) for k, v in p.items()}, 0
    for t in range(11, -1, -1):
        g["v"] = g["v"] + hs[t + 1].T @ d[t]
        dz = (dh + np.outer(d[t], p["v"])) * (1 - hs[t + 1] ** 2)
        g["u"] = g["u"] + xs[t].T @ dz
        g["w"] = g["w"] + hs[t].T @ dz
        dh = dz @ p["w"].T
    return np.mean((out - ys) ** 2), g


@program(_rnn, _rnn_np)
def rnn_by_scan(j):
    def loss(p, xs, ys):
        def step(h, x):
            h = j.np.tanh(x @ p["u"] + h @ p["w"])
            return h, h @ p["v"]
        return j.np.mean((j.scan(step, j.np.zeros((xs.shape[1], 8)), xs)[1] - ys) ** 2)

    return j.value_and_grad(loss)


def _attention(rng):
    return f32(rng.normal(size=(2, 6, 8)), *[rng.normal(size=(8, 8)) / 3 for _ in range(4)])


def _attention_np(x, wq, wk, wv, wo):
    head = lambda w: (x @ w).reshape(2, 6, 2, 4).transpose(0, 2, 1, 3)
    q, k, v = head(wq), head(wk), head(wv)
    scores = np.where(np.tri(6, dtype=bool), q @ k.swapaxes(-1, -2) / 2, -1e9)
    out = (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(2, 6, 8) @ wo
    y = x + out
    return (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)


@program(_attention, _attention_np)
def attention_block(j):
    def f(x, wq, wk, wv, wo):
        b, n, d = x.shape
        head = lambda w: (x @ w).reshape(b, n, 2, d // 2).transpose(0, 2, 1, 3)
        q, k, v = head(wq), head(wk), head(wv)
        scores = j.np.einsum("bhid,bhjd->bhij", q, k) / (d // 2) ** 0.5
        scores = j.np.where(j.np.tril(j.np.ones((n, n), dtype=bool)), scores, -1e9)
        out = j.np.einsum("bhij,bhjd->bhid", j.nn.softmax(scores, axis=-1), v).transpose(0, 2, 1, 3).reshape(b, n, d)
        return j.nn.standardize(x + out @ wo)

    return f


def _vae(rng):
    return f32(rng.normal(size=(6, 4)) / 2, rng.normal(size=(2, 6)) / 2, rng.normal(size=(10, 6)), rng.normal(size=(10, 2)))


def _vae_np(enc, dec, x, noise):
    h = x @ enc
    mu, logvar = h[:, :2], h[:, 2:]
    z = mu + np.exp(0.5 * logvar) * noise
    out = z @ dec
    n = len(x)
    loss = np.mean(np.sum((out - x) ** 2, -1) - 0.5 * np.sum(1 + logvar - mu ** 2 - np.exp(logvar), -1))
    do = 2 * (out - x) / n
    dz = do @ dec.T
    dh = np.concatenate([dz + mu / n, dz * noise * 0.5 * np.exp(0.5 * logvar) - 0.5 * (1 - np.exp(logvar)) / n], 1)
    return loss, (x.T @ dh, z.T @ do)


@program(_vae, _vae_np)
def variational_autoencoder(j):
    def loss(enc, dec, x, noise):
        mu, logvar = j.np.split(x @ enc, 2, axis=-1)
        z = mu + j.np.exp(0.5 * logvar) * noise
        kl = -0.5 * j.np.sum(1 + logvar - mu ** 2 - j.np.exp(logvar), axis=-1)
        return j.np.mean(j.np.sum((z @ dec - x) ** 2, axis=-1) + kl)

    return j.value_and_grad(loss, argnums=(0, 1))


def _flow_np(x, ws):
    total = np.zeros(len(x))
    for k, w in enumerate(ws):
        a, b = (x[:, :2], x[:, 2:]) if k % 2 == 0 else (x[:, 2:], x[:, :2])
        h = np.tanh(a @ w)
        s, t = h[:, :2], h[:, 2:]
        b = b * np.exp(s) + t
        total += s.sum(-1)
        x = np.concatenate([a, b] if k % 2 == 0 else [b, a], 1)
    return x, -0.5 * (x ** 2).sum(-1) + total


@program(lambda rng: f32(rng.normal(size=(7, 4)), rng.normal(size=(4, 2, 4))), _flow_np)
def normalizing_flow(j):
    def one(x, ws):
        total = 0.0
        for k in range(ws.shape[0]):
            a, b = (x[:2], x[2:]) if k % 2 == 0 else (x[2:], x[:2])
            s, t = j.np.split(j.np.tanh(a @ ws[k]), 2)
            b = b * j.np.exp(s) + t
            total += s.sum()
            x = j.np.concatenate([a, b] if k % 2 == 0 else [b, a])
        return x, -0.5 * j.np.sum(x ** 2) + total

    return j.vmap(one, in_axes=(0, None))


# ---- probability ----


def _hmc_np(x, momenta):
    logp = lambda x: -0.5 * x @ x - 0.1 * np.sum(x ** 4)
    g = lambda x: -x - 0.4 * x ** 3
    out = []
    for p in momenta:
        y, q = x, p + 0.05 * g(x)
        for _ in range(9):
            y = y + 0.1 * q
            q = q + 0.1 * g(y)
        y = y + 0.1 * q
        q = q + 0.05 * g(y)
        x = y if logp(y) - 0.5 * q @ q - logp(x) + 0.5 * p @ p > -0.01 else x
        out.append(x)
    return np.stack(out)


@program(lambda rng: f32(rng.normal(size=3), rng.normal(size=(8, 3))), _hmc_np, 1e-3)
def hamiltonian_monte_carlo(j):
    logp = lambda x: -0.5 * x @ x - 0.1 * j.np.sum(x ** 4)
    g = j.grad(logp)

    def leap(_, state):
        y, q = state
        y = y + 0.1 * q
        return y, q + 0.1 * g(y)

    def step(x, p):
        y, q = j.fori(0, 9, leap, (x, p + 0.05 * g(x)))
        y = y + 0.1 * q
        q = q + 0.05 * g(y)
        accept = logp(y) - 0.5 * q @ q - logp(x) + 0.5 * p @ p > -0.01
        x = j.np.where(accept, y, x)
        return x, x

    return lambda x, momenta: j.scan(step, x, momenta)[1]


def _gp_np(x, y, t):
    k = lambda a, b: np.exp(-0.5 * (a[:, None] - b[None]) ** 2 / 0.5 ** 2)
    a = k(x, x) + 0.1 * np.eye(len(x))
    return k(t, x) @ np.linalg.solve(a, y), np.diag(k(t, t) - k(t, x) @ np.linalg.solve(a, k(x, t))), -0.5 * y @ np.linalg.solve(a, y) - 0.5 * np.linalg.slogdet(a)[1]


@program(lambda rng: f32((x := np.sort(rng.uniform(-2, 2, 15))), np.sin(2 * x), np.linspace(-2, 2, 7)), _gp_np, 1e-3)
def gaussian_process(j):
    kernel = lambda a, b: j.np.exp(-0.5 * (a - b) ** 2 / 0.5 ** 2)
    table = j.vmap(j.vmap(kernel, (None, 0)), (0, None))

    def f(x, y, t):
        l = j.np.linalg.cholesky(table(x, x) + 0.1 * j.np.eye(x.shape[0]))
        v = j.np.linalg.solve(l, table(x, t))
        a = j.np.linalg.solve(l, y)
        return v.T @ a, 1 - j.np.sum(v * v, axis=0), -0.5 * a @ a - j.np.sum(j.np.log(j.np.diag(l)))

    return f


def _kalman_np(ys):
    a, q, r = np.array([[1, 0.1], [0, 1]]), 0.01 * np.eye(2), 0.5
    m, p, out = np.zeros(2), np.eye(2), []
    for y in ys:
        m, p = a @ m, a @ p @ a.T + q
        k = p[:, 0] / (p[0, 0] + r)
        m, p = m + k * (y - m[0]), p - np.outer(k, p[0])
        out.append(m)
    return np.stack(out)


@program(lambda rng: f32(np.cumsum(rng.normal(size=20))), _kalman_np)
def kalman_filter(j):
    a = np.float32([[1, 0.1], [0, 1]])

    def step(state, y):
        m, p = state
        m, p = a @ m, a @ p @ a.T + 0.01 * j.np.eye(2)
        k = p[:, 0] / (p[0, 0] + 0.5)
        m, p = m + k * (y - m[0]), p - j.np.outer(k, p[0])
        return (m, p), m

    return lambda ys: j.scan(step, (j.np.zeros(2), j.np.eye(2)), ys)[1]


def _viterbi_np(start, move, emit):
    score, back = start + emit[0], []
    for e in emit[1:]:
        all = score[:, None] + move
        back.append(all.argmax(0))
        score = all.max(0) + e
    path = [int(score.argmax())]
    for b in back[::-1]:
        path.append(int(b[path[-1]]))
    return score.max(), np.array(path[::-1])


@program(lambda rng: f32(rng.normal(size=4), rng.normal(size=(4, 4)), rng.normal(size=(9, 4))), _viterbi_np)
def viterbi(j):
    def f(start, move, emit):
        def forward(score, e):
            all = score[:, None] + move
            return j.np.max(all, axis=0) + e, j.np.argmax(all, axis=0)
        score, back = j.scan(forward, start + emit[0], emit[1:])
        last = j.np.argmax(score)
        first, path = j.scan(lambda k, b: (b[k], k), last, back, reverse=True)
        return j.np.max(score), j.np.concatenate([first[None], path])

    return f


# ---- simulation ----


def _ode_np(w, x):
    f = lambda x: np.tanh(w @ x)
    for _ in range(20):
        a = f(x)
        b = f(x + 0.05 * a)
        c = f(x + 0.05 * b)
        x = x + 0.1 / 6 * (a + 2 * b + 2 * c + f(x + 0.1 * c))
    return np.sum(x ** 2)


def _ode_slope(w, x):
    w, x, h = w.astype(float), x.astype(float), 1e-5
    g = np.zeros_like(w)
    for i in np.ndindex(w.shape):
        d = np.zeros_like(w)
        d[i] = h
        g[i] = (_ode_np(w + d, x) - _ode_np(w - d, x)) / (2 * h)
    return _ode_np(w, x), g


@program(lambda rng: f32(rng.normal(size=(3, 3)), rng.normal(size=3)), _ode_slope, 1e-3)
def neural_ode(j):
    def loss(w, x):
        f = lambda x: j.np.tanh(w @ x)

        def step(x, _):
            a = f(x)
            b = f(x + 0.05 * a)
            c = f(x + 0.05 * b)
            return x + 0.1 / 6 * (a + 2 * b + 2 * c + f(x + 0.1 * c)), None

        return j.np.sum(j.scan(step, x, None, length=20)[0] ** 2)

    return j.value_and_grad(loss)


def _bodies_np(x, v):
    for _ in range(15):
        d = x[None] - x[:, None]
        a = (d / ((d ** 2).sum(-1, keepdims=True) + 0.1) ** 1.5).sum(1)
        v = v + 0.01 * a
        x = x + 0.01 * v
    return x, v


@program(lambda rng: f32(rng.normal(size=(6, 3)), rng.normal(size=(6, 3))), _bodies_np)
def bodies_in_space(j):
    def energy(x):
        d = x[None] - x[:, None]
        pairs = 1 / j.np.sqrt(j.np.sum(d ** 2, axis=-1) + 0.1)
        return -0.5 * j.np.sum(pairs * (1 - j.np.eye(x.shape[0])))

    def step(_, state):
        x, v = state
        v = v - 0.01 * j.grad(energy)(x)
        return x + 0.01 * v, v

    return lambda x, v: j.fori(0, 15, step, (x, v))


def _heat_np(u):
    for _ in range(30):
        u = u + 0.2 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u)
    return u


@program(lambda rng: f32(rng.normal(size=(16, 16))), _heat_np)
def heat_equation(j):
    def step(_, u):
        around = sum([j.np.roll(u, s, a) for s in (1, -1) for a in (0, 1)])
        return u + 0.2 * (around - 4 * u)

    return lambda u: j.fori(0, 30, step, u)


def _life_np(g):
    for _ in range(5):
        n = sum([np.roll(np.roll(g, a, 0), b, 1) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)])
        g = ((n == 3) | ((g == 1) & (n == 2))).astype(np.int32)
    return g


@program(lambda rng: (rng.integers(0, 2, (12, 12)).astype(np.int32),), _life_np)
def game_of_life(j):
    def step(_, g):
        n = sum([j.np.roll(g, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)])
        return ((n == 3) | ((g == 1) & (n == 2))).astype(j.np.int32)

    return lambda g: j.fori(0, 5, step, g)


def _control_cost(u):
    x = np.array([0.0, 0.0])
    cost = 0
    for a in u:
        x = np.array([x[0] + 0.1 * x[1], x[1] + 0.1 * (a - 0.5 * np.sin(x[0]))])
        cost += 0.01 * a * a
    return cost + (x[0] - 1) ** 2 + x[1] ** 2


def _control_np(u):
    u = u.astype(float)
    for _ in range(10):
        g = np.array([(_control_cost(u + d) - _control_cost(u - d)) / 2e-6 for d in 1e-6 * np.eye(len(u))])
        u = u - 2.0 * g
    return u


@program(lambda rng: f32(0.1 * rng.normal(size=15)), _control_np, 1e-3)
def control_by_gradient(j):
    def cost(u):
        def step(x, a):
            return j.np.stack([x[0] + 0.1 * x[1], x[1] + 0.1 * (a - 0.5 * j.np.sin(x[0]))]), 0.01 * a * a
        x, costs = j.scan(step, j.np.zeros(2), u)
        return j.np.sum(costs) + (x[0] - 1) ** 2 + x[1] ** 2

    return lambda u: j.fori(0, 10, lambda _, u: u - 2.0 * j.grad(cost)(u), u)


# ---- algorithms ----


def _pagerank_np(links):
    m = links / np.maximum(links.sum(0), 1)
    x = np.full(len(m), 1 / len(m))
    for _ in range(50):
        x = 0.85 * m @ x + 0.15 / len(m)
    return x


@program(lambda rng: f32(rng.integers(0, 2, (10, 10))), _pagerank_np)
def pagerank(j):
    def f(links):
        n = links.shape[0]
        m = links / j.np.maximum(j.np.sum(links, axis=0), 1)

        def step(state):
            x, _, k = state
            y = 0.85 * m @ x + 0.15 / n
            return y, j.np.max(j.np.abs(y - x)), k + 1

        return j.while_loop(lambda s: (s[1] > 1e-9) & (s[2] < 50), step, (j.np.full(n, 1 / n), j.np.inf, 0))[0]

    return f


def _kmeans_np(x, c):
    for _ in range(8):
        k = ((x[:, None] - c[None]) ** 2).sum(-1).argmin(1)
        c = np.stack([x[k == i].mean(0) if (k == i).any() else c[i] for i in range(len(c))])
    return c, k


@program(lambda rng: f32((x := np.concatenate([rng.normal(size=(20, 2)) + m for m in ([0, 0], [5, 5], [0, 5])])), x[[0, 20, 40]]), _kmeans_np)
def k_means(j):
    def step(_, state):
        x, c, _ = state
        k = j.np.argmin(j.np.sum((x[:, None] - c[None]) ** 2, axis=-1), axis=1)
        members = j.nn.one_hot(k, c.shape[0])
        count = members.sum(axis=0)[:, None]
        return x, j.np.where(count > 0, members.T @ x / j.np.maximum(count, 1), c), k

    def f(x, c):
        return j.fori(0, 8, step, (x, c, j.np.zeros(x.shape[0], dtype=int)))[1:]

    return f


def _beam_np(logits):
    beams = [(0.0, [])]
    for step in logits:
        new = [(s + step[p[-1] if p else 0][t], p + [t]) for s, p in beams for t in range(step.shape[1])]
        beams = sorted(new, key=lambda b: -b[0])[:3]
    return np.array([s for s, _ in beams]), np.array([p for _, p in beams])


@program(lambda rng: f32(rng.normal(size=(6, 5, 5))), _beam_np)
def beam_search(j):
    def f(logits):
        steps, n = logits.shape[0], logits.shape[2]
        scores = j.np.where(j.np.arange(3) == 0, 0.0, -1e9)

        def step(state, row):
            scores, paths, last, t = state
            all = (scores[:, None] + row[last]).reshape(-1)
            scores, at = j.lax.top_k(all, 3)
            paths = paths[at // n].at[:, t].set(at % n)
            return (scores, paths, at % n, t + 1), None

        start = (scores, j.np.zeros((3, steps), dtype=int), j.np.zeros(3, dtype=int), 0)
        scores, paths, _, _ = j.scan(step, start, logits)[0]
        return scores, paths

    return f


def _edit_np(a, b):
    d = np.arange(len(b) + 1)
    for i, x in enumerate(a, 1):
        row = [i]
        for k, y in enumerate(b, 1):
            row.append(min(d[k] + 1, row[-1] + 1, d[k - 1] + (x != y)))
        d = np.array(row)
    return d[-1]


@program(lambda rng: (rng.integers(0, 4, 12), rng.integers(0, 4, 10)), _edit_np)
def edit_distance(j):
    def f(a, b):
        def outer(row, x):
            def inner(left, cell):
                up, corner, y = cell
                v = j.np.minimum(j.np.minimum(up, left) + 1, corner + (x != y))
                return v, v
            first = row[0] + 1
            rest = j.scan(inner, first, (row[1:], row[:-1], b))[1]
            return j.np.concatenate([first[None], rest]), None
        return j.scan(outer, j.np.arange(b.shape[0] + 1), a)[0][-1]

    return f


def _conjugate_np(a, b):
    return np.linalg.solve(a, b)


@program(lambda rng: f32((m := rng.normal(size=(12, 12))) @ m.T + 12 * np.eye(12), rng.normal(size=12)), _conjugate_np, 1e-3)
def conjugate_gradients(j):
    def f(a, b):
        def step(s):
            x, r, p, rs = s
            q = a @ p
            alpha = rs / (p @ q)
            r = r - alpha * q
            new = r @ r
            return x + alpha * p, r, r + new / rs * p, new
        return j.while_loop(lambda s: s[3] > 1e-9, step, (j.np.zeros_like(b), b, b, b @ b))[0]

    return f


def _mandel_np(re, im):
    x, y, n = np.zeros_like(re), np.zeros_like(re), np.zeros(re.shape, int)
    for _ in range(30):
        x, y, n = np.where(x * x + y * y < 4, x * x - y * y + re, x), np.where(x * x + y * y < 4, 2 * x * y + im, y), n + (x * x + y * y < 4)
    return n


@program(lambda rng: tuple(np.meshgrid(np.linspace(-2, 1, 24), np.linspace(-1.3, 1.3, 16))), _mandel_np)
def mandelbrot(j):
    def one(re, im):
        def step(s):
            x, y, n = s
            return x * x - y * y + re, 2 * x * y + im, n + 1
        return j.while_loop(lambda s: (s[0] ** 2 + s[1] ** 2 < 4) & (s[2] < 30), step, (0.0 * re, 0.0 * im, 0))[2]

    return j.vmap(j.vmap(one))


def _meta_np(w, x, y):
    def outer(w):
        g = 2 * x.T @ (x @ w - y) / len(y)
        v = w - 0.1 * g
        return np.mean((x @ v - y) ** 2)
    w = w.astype(float)
    return np.array([(outer(w + d) - outer(w - d)) / 2e-5 for d in 1e-5 * np.eye(len(w))])


@program(lambda rng: f32(rng.normal(size=4), rng.normal(size=(9, 4)), rng.normal(size=9)), _meta_np, 1e-3)
def gradient_through_a_step(j):
    loss = lambda w, x, y: j.np.mean((x @ w - y) ** 2)
    return j.grad(lambda w, x, y: loss(w - 0.1 * j.grad(loss)(w, x, y), x, y))


def _penalty_np(w, x):
    w = w.astype(float)
    f = lambda w: np.sum((w * (1 - np.tanh(x @ w)[:, None] ** 2)) ** 2)
    return np.array([(f(w + d) - f(w - d)) / 2e-6 for d in 1e-6 * np.eye(len(w))])


@program(lambda rng: f32(rng.normal(size=3) / 2, rng.normal(size=(5, 3))), _penalty_np, 1e-3)
def gradient_penalty(j):
    f = lambda w, x: j.np.tanh(x @ w)
    return j.grad(lambda w, x: j.np.sum(j.vmap(j.grad(f, argnums=1), in_axes=(None, 0))(w, x) ** 2))


def _sparse_np(rows, cols, values, x):
    out = np.zeros(8, np.float32)
    np.add.at(out, rows, values * x[cols])
    return out


@program(lambda rng: (rng.integers(0, 8, 30), rng.integers(0, 6, 30), *f32(rng.normal(size=30), rng.normal(size=6))), _sparse_np)
def sparse_product(j):
    return lambda rows, cols, values, x: j.np.zeros(8).at[rows].add(values * x[cols])


def _embedding_np(table, at, y):
    g = np.zeros_like(table)
    v = table[at].mean(1)
    np.add.at(g, at, (2 * (v - y) / y.size / at.shape[1])[:, None])
    return g


@program(lambda rng: (*f32(rng.normal(size=(20, 4))), rng.integers(0, 20, (6, 3)), *f32(rng.normal(size=(6, 4)))), _embedding_np)
def embedding_gradient(j):
    return j.grad(lambda table, at, y: j.np.mean((j.np.mean(table[at], axis=1) - y) ** 2))


# ---- more of each kind ----


def _gru_np(wz, wr, wh, xs):
    h, out = np.zeros((3, 5)), []
    s = lambda v: 1 / (1 + np.exp(-v))
    for x in xs:
        c = np.concatenate([x, h], -1)
        z, r = s(c @ wz), s(c @ wr)
        h = (1 - z) * h + z * np.tanh(np.concatenate([x, r * h], -1) @ wh)
        out.append(h)
    return h, np.stack(out)


@program(lambda rng: f32(*[rng.normal(size=(7, 5)) / 2 for _ in range(3)], rng.normal(size=(6, 3, 2))), _gru_np)
def gated_recurrent_units(j):
    def f(wz, wr, wh, xs):
        def step(h, x):
            c = j.np.concatenate([x, h], axis=-1)
            z, r = j.nn.sigmoid(c @ wz), j.nn.sigmoid(c @ wr)
            h = (1 - z) * h + z * j.np.tanh(j.np.concatenate([x, r * h], axis=-1) @ wh)
            return h, h
        return j.scan(step, j.np.zeros((xs.shape[1], wz.shape[1])), xs)

    return f


def _svm_np(w, x, y):
    for t in range(1, 41):
        margin = y * (x @ w)
        w = w - (0.1 * w - (x * (y * (margin < 1))[:, None]).mean(0)) / t
    return w


@program(lambda rng: f32(np.zeros(3), (x := rng.normal(size=(60, 3))), np.sign(x[:, 0] + 0.3)), _svm_np, 1e-3)
def support_vectors(j):
    loss = lambda w, x, y: 0.05 * w @ w + j.np.mean(j.np.maximum(0.0, 1 - y * (x @ w)))
    return lambda w, x, y: j.fori(1, 41, lambda t, w: w - j.grad(loss)(w, x, y) / t, w)


def _pca_np(x):
    x = x - x.mean(0)
    v = np.linalg.eigh(x.T @ x / len(x))[1][:, ::-1][:, :2]
    v = v * np.sign(v[np.abs(v).argmax(0), np.arange(2)])
    return x @ v


@program(lambda rng: f32(rng.normal(size=(40, 5)) * np.array([5, 3, 1, 0.5, 0.1])), _pca_np, 1e-3)
def principal_components(j):
    def f(x):
        x = x - j.np.mean(x, axis=0)
        v = j.np.linalg.eigh(x.T @ x / x.shape[0])[1][:, ::-1][:, :2]
        return x @ (v * j.np.sign(v[j.np.argmax(j.np.abs(v), axis=0), j.np.arange(2)]))

    return f


def _power_np(a, x):
    for _ in range(60):
        x = a @ x / np.linalg.norm(a @ x)
    return x @ a @ x


@program(lambda rng: f32((m := rng.normal(size=(6, 6))) @ m.T, np.ones(6)), _power_np, 1e-3)
def power_iteration(j):
    def f(a, x):
        def step(_, x):
            y = a @ x
            return y / j.np.linalg.norm(y)
        x = j.fori(0, 60, step, x)
        return x @ a @ x

    return f


def _sinkhorn_np(cost):
    k = np.exp(-cost / 0.5)
    u, v = np.ones(6), np.ones(8)
    for _ in range(50):
        u = (1 / 6) / (k @ v)
        v = (1 / 8) / (k.T @ u)
    return u[:, None] * k * v


@program(lambda rng: f32(rng.uniform(size=(6, 8))), _sinkhorn_np)
def optimal_transport(j):
    def f(cost):
        n, m = cost.shape

        def step(state, _):
            g = state
            a = -0.5 * j.nn.logsumexp((g - cost) / 0.5, axis=1) - 0.5 * j.np.log(float(n))
            return -0.5 * j.nn.logsumexp((a[:, None] - cost) / 0.5, axis=0) - 0.5 * j.np.log(float(m)), a

        g, a = j.scan(step, j.np.zeros(m), None, length=50)
        return j.np.exp((a[-1][:, None] + g - cost) / 0.5)

    return f


def _q_np(q, steps):
    for s, a, r, t in steps:
        s, a, t = int(s), int(a), int(t)
        q = q.copy()
        q[s, a] += 0.5 * (r + 0.9 * q[t].max() - q[s, a])
    return q


@program(lambda rng: (np.zeros((5, 2), np.float32), np.stack([rng.integers(0, 5, 40), rng.integers(0, 2, 40), rng.integers(-1, 2, 40), rng.integers(0, 5, 40)], 1).astype(np.float32)), _q_np)
def q_learning(j):
    def f(q, steps):
        def step(q, row):
            s, a, t = row[0].astype(int), row[1].astype(int), row[3].astype(int)
            return q.at[s, a].add(0.5 * (row[2] + 0.9 * j.np.max(q[t]) - q[s, a])), None
        return j.scan(step, q, steps)[0]

    return f


def _value_np(p, r):
    v = np.zeros(6)
    while True:
        new = (r + 0.9 * np.einsum("ast,t->sa", p, v)).max(1)
        if np.abs(new - v).max() < 1e-5:
            return new, (r + 0.9 * np.einsum("ast,t->sa", p, new)).argmax(1)
        v = new


@program(lambda rng: f32((p := rng.uniform(size=(3, 6, 6))) / p.sum(-1, keepdims=True), rng.normal(size=(6, 3))), _value_np, 1e-3)
def value_iteration(j):
    def f(p, r):
        q = lambda v: r + 0.9 * j.np.einsum("ast,t->sa", p, v)

        def step(s):
            v = j.np.max(q(s[0]), axis=1)
            return v, j.np.max(j.np.abs(v - s[0]))

        v = j.while_loop(lambda s: s[1] >= 1e-5, step, (j.np.zeros(p.shape[1]), j.np.inf))[0]
        return v, j.np.argmax(q(v), axis=1)

    return f


def _pendulum_np(x):
    out = []
    for _ in range(30):
        q, p = x
        p = p - 0.05 * np.sin(q)
        q = q + 0.1 * p
        p = p - 0.05 * np.sin(q)
        x = np.array([q, p])
        out.append(0.5 * p * p - np.cos(q))
    return x, np.array(out)


@program(lambda rng: f32(rng.normal(size=2)), _pendulum_np)
def hamiltons_equations(j):
    def f(x):
        h = lambda q, p: 0.5 * p * p - j.np.cos(q)
        dq, dp = j.grad(h, argnums=0), j.grad(h, argnums=1)

        def step(x, _):
            q, p = x[0], x[1]
            p = p - 0.05 * dq(q, p)
            q = q + 0.1 * dp(q, p)
            p = p - 0.05 * dq(q, p)
            return j.np.stack([q, p]), h(q, p)

        return j.scan(step, x, None, length=30)

    return f


def _pinn_np(w, v, x):
    h = np.tanh(x[:, None] * w)
    first = (1 - h ** 2) * w
    second = -2 * h * (1 - h ** 2) * w ** 2
    return np.mean((second @ v + h @ v) ** 2), first @ v


@program(lambda rng: f32(rng.normal(size=6), rng.normal(size=6), rng.normal(size=9)), _pinn_np, 1e-3)
def network_for_an_equation(j):
    def f(w, v, x):
        u = lambda x: j.np.tanh(x * w) @ v
        residual = lambda x: j.grad(j.grad(u))(x) + u(x)
        return j.np.mean(j.vmap(residual)(x) ** 2), j.vmap(j.grad(u))(x)

    return f


def _gmm_np(x, mu, var, pi):
    for _ in range(5):
        logp = np.log(pi) - 0.5 * np.log(2 * np.pi * var) - 0.5 * (x[:, None] - mu) ** 2 / var
        r = softmax(logp)
        n = r.sum(0)
        mu = (r * x[:, None]).sum(0) / n
        var = (r * (x[:, None] - mu) ** 2).sum(0) / n + 1e-3
        pi = n / len(x)
    return mu, var, pi


@program(lambda rng: f32(np.concatenate([rng.normal(size=30) - 3, rng.normal(size=30) + 2]), [-1, 1], [1, 1], [0.5, 0.5]), _gmm_np, 1e-3)
def mixture_of_gaussians(j):
    def f(x, mu, var, pi):
        def step(_, state):
            mu, var, pi = state
            r = j.nn.softmax(j.np.log(pi) - 0.5 * j.np.log(2 * j.np.pi * var) - 0.5 * (x[:, None] - mu) ** 2 / var, axis=-1)
            n = r.sum(axis=0)
            mu = (r * x[:, None]).sum(axis=0) / n
            return mu, (r * (x[:, None] - mu) ** 2).sum(axis=0) / n + 1e-3, n / x.shape[0]
        return j.fori(0, 5, step, (mu, var, pi))

    return f


def _hmm_np(start, move, emit):
    a = start * emit[0]
    total = np.log(a.sum())
    a = a / a.sum()
    for e in emit[1:]:
        a = (a @ move) * e
        total += np.log(a.sum())
        a = a / a.sum()
    return total


@program(lambda rng: f32(np.full(3, 1 / 3), softmax(rng.normal(size=(3, 3))), rng.uniform(0.1, 1, (12, 3))), _hmm_np)
def hidden_states(j):
    def f(start, move, emit):
        def step(a, e):
            a = j.nn.logsumexp(a[:, None] + j.np.log(move), axis=0) + j.np.log(e)
            return a, None
        return j.nn.logsumexp(j.scan(step, j.np.log(start) + j.np.log(emit[0]), emit[1:])[0])

    return f


def _primes_np(n):
    marks = np.ones(60, bool)
    marks[:2] = False
    for k in range(2, 8):
        if marks[k]:
            marks[k * k::k] = False
    return marks, marks[:int(n)].sum()


@program(lambda rng: (np.int64(50),), _primes_np)
def sieve(j):
    def f(n):
        at = j.np.arange(60)

        def step(k, marks):
            return j.np.where(marks[k] & (at >= k * k) & (at % k == 0), False, marks)

        marks = j.fori(2, 8, step, at >= 2)
        return marks, j.np.sum(j.np.where(at < n, marks, False))

    return f


def _shortest_np(d):
    d = d.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k:k + 1] + d[k:k + 1])
    return d


@program(lambda rng: f32(np.where(rng.uniform(size=(9, 9)) < 0.4, rng.uniform(1, 5, (9, 9)), 100.0)), _shortest_np)
def shortest_paths(j):
    return lambda d: j.fori(0, d.shape[0], lambda k, d: j.np.minimum(d, d[:, k][:, None] + d[k][None]), d)


def _resnet_np(p, x):
    conv = lambda x, w: np.einsum("nchwij,mcij->nmhw", np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3)), w)
    norm = lambda x, g: g[:, None, None] * (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
    h = np.maximum(norm(conv(x, p["a"]), p["g"]), 0)
    return np.maximum(x + norm(conv(h, p["b"]), p["g"]), 0).mean((2, 3))


@program(lambda rng: ({"a": f32(rng.normal(size=(4, 4, 3, 3)) / 6)[0], "b": f32(rng.normal(size=(4, 4, 3, 3)) / 6)[0], "g": f32(np.ones(4))[0]}, *f32(rng.normal(size=(3, 4, 6, 6)))), _resnet_np, 1e-3)
def residual_block(j):
    def norm(x, g):
        mean = j.np.mean(x, axis=(0, 2, 3), keepdims=True)
        return g[:, None, None] * (x - mean) / j.np.sqrt(j.np.var(x, axis=(0, 2, 3), keepdims=True) + 1e-5)

    def f(p, x):
        conv = lambda x, w: j.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        h = j.nn.relu(norm(conv(x, p["a"]), p["g"]))
        return j.np.mean(j.nn.relu(x + norm(conv(h, p["b"]), p["g"])), axis=(2, 3))

    return f
