"""Programs of further fields: adaptive and swarm searches, games, factorizations, fits of models of time and of survival,
networks of unusual layers, drawings and simulations. What they give under JAX is kept in
programs_expected.npz, which programs_expected.py writes."""
import dataclasses
import functools
import typing

import numpy as np

from trace_programs import program

RNG = np.random.default_rng(41)


def normal(*s):
    return RNG.normal(size=s).astype(np.float32)


def between(*s, low=0.1, high=0.9):
    return RNG.uniform(low, high, size=s).astype(np.float32)


def given(*arguments, tol=5e-4):
    return program(lambda rng: arguments, tol)


@given(normal(5), normal(6, 8, 5), tol=2e-3)
def covariance_matrix_adaptation(jax):
    jnp = jax.numpy

    @functools.partial(jax.tree_util.register_dataclass, data_fields=["mean", "sigma", "c", "p", "q"], meta_fields=["n"])
    @dataclasses.dataclass(frozen=True)
    class State:
        mean: typing.Any
        sigma: typing.Any
        c: typing.Any
        p: typing.Any
        q: typing.Any
        n: int = 8

    def f(x0, noise):
        d = x0.size
        weights = jnp.log(4.5) - jnp.log(jnp.arange(1, 5))
        weights /= weights.sum()
        mu = 1 / (weights ** 2).sum()

        def step(s, z):
            w, b = jnp.linalg.eigh(s.c)
            root = (b * jnp.sqrt(jnp.maximum(w, 1e-8))) @ b.T
            y = z @ root
            x = s.mean + s.sigma * y
            fit = jax.vmap(lambda v: jnp.sum((v - 1) ** 2 * jnp.arange(1, d + 1)))(x)
            best = jnp.argsort(fit)[:4]
            move = weights @ y[best]
            q = 0.7 * s.q + jnp.sqrt(0.51 * mu) * (weights @ z[best])
            p = 0.8 * s.p + jnp.sqrt(0.36 * mu) * move
            c = 0.8 * s.c + 0.1 * jnp.outer(p, p) + 0.1 * jnp.einsum("k,ki,kj->ij", weights, y[best], y[best])
            sigma = s.sigma * jnp.exp(0.2 * (jnp.linalg.norm(q) / jnp.sqrt(d) - 1))
            return dataclasses.replace(s, mean=s.mean + s.sigma * move, sigma=sigma, c=(c + c.T) / 2, p=p, q=q), fit.min() / s.n

        start = State(x0, jnp.float32(0.5), jnp.eye(d), jnp.zeros(d), jnp.zeros(d))
        return jax.lax.scan(step, start, noise)

    return f


@given(between(12, 2, low=-2, high=2), between(5, 2, 12, 2))
def swarm_of_particles(jax):
    jnp = jax.numpy

    def rastrigin(x):
        return 10 * x.shape[-1] + jnp.sum(x ** 2 - 10 * jnp.cos(2 * jnp.pi * x), -1)

    def f(x, chance):
        def body(i, s):
            x, v, mine, value = s
            best = mine[jnp.argmin(value)]
            v = 0.7 * v + 1.4 * chance[i, 0] * (mine - x) + 1.4 * chance[i, 1] * (best - x)
            x = jnp.clip(x + v, -3, 3)
            new = rastrigin(x)
            better = new < value
            return x, v, jnp.where(better[:, None], x, mine), jnp.where(better, new, value)
        x, v, mine, value = jax.lax.fori_loop(0, 5, body, (x, jnp.zeros_like(x), x, rastrigin(x)))
        return mine[value.argmin()], value.min(), jnp.sort(value)

    return f


@given(normal(3, 4))
def equilibrium_by_regret(jax):
    jnp = jax.numpy

    class Player(typing.NamedTuple):
        regret: typing.Any
        total: typing.Any

    def policy(r):
        pos = jnp.maximum(r, 0)
        return jnp.where(pos.sum() > 0, pos / jnp.where(pos.sum() > 0, pos.sum(), 1), 1 / r.size)

    def f(payoff):
        def step(players, _):
            p, q = (policy(x.regret) for x in players)
            u, w = payoff @ q, -payoff.T @ p
            new = tuple(Player(x.regret + g - g @ s, x.total + s) for x, g, s in zip(players, (u, w), (p, q)))
            return new, p @ payoff @ q
        start = tuple(Player(jnp.zeros(n), jnp.zeros(n)) for n in payoff.shape)
        (a, b), values = jax.lax.scan(step, start, length=60)
        a, b = a.total / 60, b.total / 60
        return a, b, (payoff @ b).max() - (payoff.T @ a).min(), values[-3:]

    return f


@given(between(6, 5), between(6, 2), between(2, 5))
def factors_without_signs(jax):
    jnp = jax.numpy

    def f(v, w, h):
        def body(s):
            w, h, i, _ = s
            h = h * (w.T @ v) / (w.T @ w @ h + 1e-9)
            w = w * (v @ h.T) / (w @ (h @ h.T) + 1e-9)
            return w, h, i + 1, jnp.linalg.norm(v - w @ h)
        w, h, i, error = jax.lax.while_loop(lambda s: (s[2] < 40) & (s[3] > 0.05), body, (w, h, 0, jnp.inf))
        return w @ h, i, error

    return f


@given(normal(4, 5, 6), normal(4, 2), normal(5, 2), normal(6, 2))
def tensor_by_alternating_squares(jax):
    jnp = jax.numpy

    def khatri_rao(a, b):
        return jax.vmap(jnp.kron, in_axes=1, out_axes=1)(a, b)

    def f(t, *factors):
        factors = list(factors)
        for _ in range(4):
            for k in range(3):
                a, b = (factors[j] for j in range(3) if j != k)
                gram = (a.T @ a) * (b.T @ b) + 1e-3 * jnp.eye(2)
                unfolded = jnp.moveaxis(t, k, 0).reshape(t.shape[k], -1)
                factors[k] = jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(gram, lower=True), (unfolded @ khatri_rao(a, b)).T).T
        back = jnp.einsum("ir,jr,kr->ijk", *factors)
        return back, jnp.sum((t - back) ** 2) / jnp.sum(t ** 2)

    return f


@given(between(10), (RNG.random(10) < 0.7), normal(10, 3), normal(3))
def proportional_hazards(jax):
    jnp = jax.numpy

    def loss(beta, time, event, x):
        order = jnp.argsort(-time)
        eta = (x @ beta)[order]
        risk = jax.lax.cumlogsumexp(eta)
        return -jnp.sum(jnp.where(event[order], eta - risk, 0.0)) / event.sum() + 0.01 * beta @ beta

    def f(time, event, x, beta):
        def newton(b, _):
            g, h = jax.grad(loss)(b, time, event, x), jax.hessian(loss)(b, time, event, x)
            step = jnp.linalg.solve(h, g)
            return b - 0.5 * step, jnp.linalg.norm(step)
        b, steps = jax.lax.scan(newton, beta * 0.1, None, length=6)
        return b, steps, jnp.sqrt(jnp.diag(jnp.linalg.inv(jax.hessian(loss)(b, time, event, x))))

    return f


@given(np.sin(np.arange(36) / 2).astype(np.float32) + np.arange(36, dtype=np.float32) / 20 + 0.1 * normal(36), normal(3))
def smoothing_of_seasons(jax):
    jnp = jax.numpy

    def run(p, y):
        alpha, beta, gamma = jax.nn.sigmoid(p)

        def step(carry, obs):
            level, trend, season = carry
            guess = level + trend + season[0]
            new = alpha * (obs - season[0]) + (1 - alpha) * (level + trend)
            slope = beta * (new - level) + (1 - beta) * trend
            here = gamma * (obs - new) + (1 - gamma) * season[0]
            return (new, slope, jnp.roll(season, -1).at[-1].set(here)), (guess - obs) ** 2
        start = (y[:12].mean(), jnp.array(0.0), y[:12] - y[:12].mean())
        last, errors = jax.lax.scan(step, start, y)
        return errors.mean(), last

    def f(y, p):
        (value, (level, trend, season)), g = jax.value_and_grad(run, has_aux=True)(p, y)
        ahead = level + trend * jnp.arange(1, 7) + season[:6]
        return value, g, ahead

    return f


@given(normal(20, 3), normal(3, 8) / 2, normal(8, 2) / 2, tol=2e-3)
def spikes_with_a_surrogate_slope(jax):
    jnp = jax.numpy

    @jax.custom_jvp
    def spike(v):
        return (v > 0).astype(v.dtype)

    @spike.defjvp
    def _(primals, tangents):
        (v,), (t,) = primals, tangents
        return spike(v), t / (1 + 10 * jnp.abs(v)) ** 2

    def f(x, w1, w2):
        def loss(w):
            def step(s, i):
                v, u = s
                v = 0.9 * v + i @ w[0]
                out = spike(v - 0.5)
                v = v - jax.lax.stop_gradient(out) * 0.5
                u = 0.8 * u + out @ w[1]
                return (v, u), (out, u)
            _, (spikes, us) = jax.lax.scan(step, (jnp.zeros(8), jnp.zeros(2)), x, unroll=4)
            return jax.nn.logsumexp(us.max(0)) - us.max(0)[1] + 0.01 * spikes.mean(), spikes.sum(0)
        return jax.value_and_grad(loss, has_aux=True)((w1, w2))

    return f


@given(normal(6, 3), normal(3, 4, 7) / 3, normal(4, 1, 7) / 3)
def network_of_splines(jax):
    jnp = jax.numpy
    grid = jnp.linspace(-1.6, 1.6, 11)

    def basis(x, degree=3):
        x = x[..., None]
        b = ((x >= grid[:-1]) & (x < grid[1:])).astype(x.dtype)
        for k in range(1, degree + 1):
            left = (x - grid[:-k - 1]) / (grid[k:-1] - grid[:-k - 1]) * b[..., :-1]
            right = (grid[k + 1:] - x) / (grid[k + 1:] - grid[1:-k]) * b[..., 1:]
            b = left + right
        return b

    def f(x, *params):
        def model(params, x):
            for c in params:
                x = jnp.tanh(x)
                x = jnp.einsum("...ik,iok->...o", basis(x), c) + jax.nn.silu(x).sum(-1, keepdims=True)
            return x[..., 0]
        return model(params, x), jax.grad(lambda p: jnp.mean((model(p, x) - 1) ** 2))(params), jax.vmap(jax.grad(model, argnums=1), (None, 0))(params, x)

    return f


@given(normal(5, 4) / 3, normal(5, 4) / 3, np.array([[0, 1], [1, 2], [3, 4]]))
def distances_in_a_ball(jax):
    jnp = jax.numpy

    def distance(u, v):
        s = jnp.sum((u - v) ** 2, -1)
        a, b = 1 - jnp.sum(u * u, -1), 1 - jnp.sum(v * v, -1)
        return jnp.arccosh(1 + 2 * s / (a * b))

    def loss(e, pairs):
        d = distance(e[:, None], e[None] + 1e-4)
        here = d[pairs[:, 0], pairs[:, 1]]
        return jnp.mean(here + jax.nn.logsumexp(-d[pairs[:, 0]], axis=1, where=~jnp.eye(len(e), dtype=bool)[pairs[:, 0]]))

    def f(e, t, pairs):
        e = e / (1 + jnp.linalg.norm(e, axis=1, keepdims=True))
        def step(e, _):
            value, g = jax.value_and_grad(loss)(e, pairs)
            e = e - 0.1 * ((1 - jnp.sum(e * e, -1, keepdims=True)) ** 2 / 4) * g
            n = jnp.linalg.norm(e, axis=-1, keepdims=True)
            return jnp.where(n >= 1, e / n * 0.999, e), value
        e, values = jax.lax.scan(step, e, None, length=8)
        return e, values, jax.jvp(lambda e: loss(e, pairs), (e,), (t,))

    return f


@given(normal(4, 4) * 0.05, between(2))
def cloth_with_constraints(jax):
    jnp = jax.numpy

    def f(noise, wind):
        y, x = jnp.mgrid[0:4, 0:4].astype(jnp.float32)
        pos = jnp.stack([x, -y, noise], -1)
        pinned = jnp.zeros((4, 4), bool).at[0, ::3].set(True)[..., None]

        def relax(pos):
            for axis in (0, 1):
                a = jax.lax.slice_in_dim(pos, 0, 3, axis=axis)
                b = jax.lax.slice_in_dim(pos, 1, 4, axis=axis)
                d = b - a
                length = jnp.sqrt(jnp.sum(d * d, -1, keepdims=True) + 1e-9)
                shift = 0.25 * d * (1 - 1.0 / length)
                pad = lambda v, before: jnp.pad(v, [(int(before), int(not before)) if k == axis else (0, 0) for k in range(3)])
                pos = jnp.where(pinned, pos, pos + pad(shift, False) - pad(shift, True))
            return pos

        def simulate(force):
            def step(s, _):
                pos, old = s
                gravity = jnp.array([0, -0.01, 0]).at[2].set(force[0] * 0.01)
                new = jnp.where(pinned, pos, 2 * pos - old + gravity)
                return (jax.lax.fori_loop(0, 3, lambda i, p: relax(p), new), pos), new[..., 2].mean()
            (pos, _), track = jax.lax.scan(step, (pos_start, pos_start), None, length=6)
            return pos[-1, :, 2].sum(), (pos, track)
        pos_start = pos
        return jax.value_and_grad(simulate, has_aux=True)(wind)

    return f


@given(normal(8, 2) * 2, between(3))
def arm_by_damped_squares(jax):
    jnp = jax.numpy

    @jax.tree_util.register_pytree_node_class
    class Arm:
        def __init__(self, lengths, name):
            self.lengths, self.name = lengths, name

        def tree_flatten(self):
            return (self.lengths,), self.name

        @classmethod
        def tree_unflatten(cls, name, children):
            return cls(*children, name)

        def __call__(self, q):
            a = jnp.cumsum(q)
            return jnp.stack([self.lengths @ jnp.cos(a), self.lengths @ jnp.sin(a)])

    def solve(arm, target):
        def body(s):
            q, lam, i, err = s
            r, j = arm(q) - target, jax.jacfwd(arm)(q)
            new = q - jnp.linalg.solve(j.T @ j + lam * jnp.eye(3), j.T @ r)
            e = jnp.sum((arm(new) - target) ** 2)
            return jnp.where(e < err, new, q), jnp.where(e < err, lam / 3, lam * 2), i + 1, jnp.minimum(e, err)
        q0 = jnp.full(3, 0.3)
        return jax.lax.while_loop(lambda s: (s[2] < 12) & (s[3] > 1e-6), body, (q0, 0.1, 0, jnp.sum((arm(q0) - target) ** 2)))

    def f(targets, lengths):
        arm = Arm(lengths + 0.5, "planar")
        q, lam, n, e = jax.vmap(solve, in_axes=(None, 0))(arm, targets)
        return jax.vmap(arm)(q), e, jax.tree.map(lambda x: x * 2, arm).lengths

    return f


@given(between(10, 3), between(7, low=0.2), normal(7, 3))
def splats_on_a_screen(jax):
    jnp = jax.numpy

    def render(g, size=8):
        yx = jnp.stack(jnp.meshgrid(jnp.linspace(0, 1, size), jnp.linspace(0, 1, size), indexing="ij"), -1)

        def one(carry, s):
            color, left = carry
            d = yx - s["at"]
            c, n = jnp.cos(s["angle"]), jnp.sin(s["angle"])
            rot = jnp.array([[c, -n], [n, c]])
            z = d @ rot / jnp.exp(s["scale"])
            alpha = jnp.minimum(0.99, jax.nn.sigmoid(s["opacity"]) * jnp.exp(-0.5 * jnp.sum(z * z, -1)))
            return (color + (left * alpha)[..., None] * jax.nn.sigmoid(s["rgb"]), left * (1 - alpha)), None
        order = jnp.argsort(g["depth"])
        (color, left), _ = jax.lax.scan(jax.checkpoint(one), (jnp.zeros((size, size, 3)), jnp.ones((size, size))), jax.tree.map(lambda v: v[order], {k: v for k, v in g.items() if k != "depth"}))
        return color + left[..., None] * 0.1

    def f(a, b, c):
        g = {"at": a[:7, :2], "angle": b * 3, "scale": c[:, :2] * 0.2 - 1.5, "opacity": c[:, 2], "rgb": c, "depth": a[:7, 2]}
        image = render(g)
        grads = jax.grad(lambda g: jnp.mean((render(g) - 0.5) ** 2))(g)
        return image.mean((0, 1)), image[::3, ::3], grads

    return f


@given(normal(9, 2), tol=2e-3)
def neighbours_embedded(jax):
    jnp = jax.numpy

    def f(x):
        d = jnp.sum((x[:, None] - x[None]) ** 2, -1)
        off = ~jnp.eye(len(x), dtype=bool)

        def entropy(beta, row, mask):
            p = jax.nn.softmax(jnp.where(mask, -row * beta, -jnp.inf))
            return -jnp.sum(jnp.where(mask, p * jnp.log(jnp.maximum(p, 1e-12)), 0)), p

        def search(row, mask):
            def body(_, s):
                lo, hi = s
                mid = jnp.sqrt(lo * hi)
                high = entropy(mid, row, mask)[0] > jnp.log(4.0)
                return jnp.where(high, mid, lo), jnp.where(high, hi, mid)
            lo, hi = jax.lax.fori_loop(0, 20, body, (1e-3, 1e3))
            return entropy(jnp.sqrt(lo * hi), row, mask)[1]
        p = jax.vmap(search)(d, off)
        p = (p + p.T) / (2 * len(x))

        def loss(y):
            q = jnp.where(off, 1 / (1 + jnp.sum((y[:, None] - y[None]) ** 2, -1)), 0)
            q = q / q.sum()
            return jnp.sum(jax.scipy.special.rel_entr(p, jnp.where(off, q, 1.0)))
        y, v = x * 0.1, jnp.zeros_like(x)
        for i in range(5):
            v = 0.5 * v - 2.0 * jax.grad(loss)(y)
            y = y + v
        return p, y, loss(y)

    return f


@given(normal(4, 6), normal(4, 6), normal(6, 6) / 3, normal(6, 6) / 3)
def preferences_and_groups(jax):
    jnp = jax.numpy

    def logp(w, x, y):
        return jnp.take_along_axis(jax.nn.log_softmax(x @ w), y[:, None], 1)[:, 0]

    def f(good, bad, w, ref):
        y, z = jnp.argmax(good, 1), jnp.argmin(bad, 1)

        def dpo(w):
            ratio = (logp(w, good, y) - logp(ref, good, y)) - (logp(w, bad, z) - logp(ref, bad, z))
            return -jax.nn.log_sigmoid(0.1 * ratio).mean(), (ratio > 0).mean()

        def grpo(w, reward):
            group = reward.reshape(2, 2)
            adv = ((group - group.mean(1, keepdims=True)) / (group.std(1, keepdims=True, ddof=1) + 1e-6)).reshape(-1)
            r = jnp.exp(logp(w, good, y) - jax.lax.stop_gradient(logp(ref, good, y)))
            kl = jnp.expm1(logp(ref, good, y) - logp(w, good, y)) - (logp(ref, good, y) - logp(w, good, y))
            return -jnp.minimum(r * adv, jnp.clip(r, 0.8, 1.2) * adv).mean() + 0.04 * kl.mean()
        return jax.value_and_grad(dpo, has_aux=True)(w), jax.value_and_grad(grpo)(w, good[:, 0])

    return f


@given(between(9, 9))
def total_variation_by_primal_and_dual(jax):
    jnp = jax.numpy

    def forward(u):
        return jnp.stack([jnp.diff(u, axis=0, append=u[-1:]), jnp.diff(u, axis=1, append=u[:, -1:])])

    def f(noisy):
        back = jax.linear_transpose(forward, jax.ShapeDtypeStruct(noisy.shape, noisy.dtype))

        def step(s, _):
            u, bar, p = s
            p = p + 0.3 * forward(bar)
            p = p / jnp.maximum(1.0, jnp.linalg.norm(p, axis=0))
            new = (u - 0.3 * back(p)[0] + 0.3 * 4 * noisy) / (1 + 0.3 * 4)
            return (new, 2 * new - u, p), jnp.abs(forward(new)).sum()
        (u, _, p), tv = jax.lax.scan(step, (noisy, noisy, jnp.zeros((2, *noisy.shape))), None, length=15)
        return u, tv, p[:, 0]

    return f


@given(normal(6, 6), normal(6))
def krylov_and_dynamic_modes(jax):
    jnp = jax.numpy

    def f(a, v):
        sym = (a + a.T) / 4

        def step(carry, _):
            q, before, beta = carry
            w = sym @ q - beta * before
            alpha = w @ q
            w = w - alpha * q
            b = jnp.linalg.norm(w)
            return (w / b, q, b), (q, alpha, b)
        n = jnp.linalg.norm(v)
        _, (q, alpha, beta) = jax.lax.scan(step, (v / n, jnp.zeros_like(v), jnp.float32(0)), None, length=4)
        t = jnp.diag(alpha) + jnp.diag(beta[:-1], 1) + jnp.diag(beta[:-1], -1)
        w, s = jnp.linalg.eigh(t)
        near = n * q.T @ (s @ (jnp.exp(w) * s[0]))
        snapshots = jnp.stack([jnp.linalg.matrix_power(sym, k) @ v for k in range(4)], 1)
        u, sv, vt = jnp.linalg.svd(snapshots[:, :-1], full_matrices=False)
        reduced = u.T @ snapshots[:, 1:] @ vt.T / sv
        return near, jax.scipy.linalg.expm(sym) @ v, jnp.trace(reduced), jnp.linalg.slogdet(reduced)[1]

    return f


@given(normal(3, 8), np.array([2, 0, 1, 2, 1, 0, 0, 2]), tol=2e-3)
def hopfield_and_capsules(jax):
    jnp = jax.numpy

    def squash(s):
        n = jnp.sum(s * s, -1, keepdims=True)
        return n / (1 + n) * s / jnp.sqrt(n + 1e-8)

    def f(x, labels):
        def routed(u):
            b = jnp.zeros(u.shape[:2])
            for _ in range(3):
                c = jax.nn.softmax(b, axis=1)
                v = squash(jnp.einsum("ij,ijd->jd", c, u))
                b = b + jnp.einsum("ijd,jd->ij", jax.lax.stop_gradient(u), v)
            return v
        u = x.T[:, None, :] * jnp.arange(1.0, 4)[None, :, None]
        found = jax.lax.fori_loop(0, 4, lambda i, s: x.T @ jax.nn.softmax(2 * x @ s), x[0] + 0.3)
        hot = jax.nn.one_hot(labels, 3)
        return routed(u), jax.grad(lambda u: (routed(u) ** 2).sum())(u), found, jax.nn.standardize(x, axis=1), (hot.T @ x.T) / hot.sum(0)[:, None], jax.nn.sparse_plus(x), jax.nn.hard_sigmoid(x), jax.nn.glu(x, axis=1)

    return f
