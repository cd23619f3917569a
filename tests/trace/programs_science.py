"""Programs of simulation, control, finance, images and algorithms as users of JAX write them; as in programs_learning.py."""
import numpy as np

from trace_programs import f32, program


# ---- equations of motion and fields ----


@program(lambda r: f32(np.exp(-np.linspace(-3, 3, 200) ** 2), np.zeros(200)))
def wave_equation(jax):
    jnp = jax.numpy

    def f(u, v):
        def step(state, _):
            u, v = state
            v = v + 0.2 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))
            u = (u + 0.9 * v).at[0].set(0.0).at[-1].set(0.0)
            return (u, v), 0.5 * jnp.sum(v ** 2) + 0.5 * jnp.sum(jnp.diff(u) ** 2)
        return jax.lax.scan(step, (u, v), None, length=150)

    return f


@program(lambda r: f32(1 - 0.5 * (a := (r.random((32, 32)) < 0.1)), 0.25 * a))
def reaction_and_diffusion(jax):
    jnp = jax.numpy

    def f(u, v):
        kernel = jnp.array([[0.05, 0.2, 0.05], [0.2, -1.0, 0.2], [0.05, 0.2, 0.05]])
        lap = lambda a: jax.scipy.signal.convolve2d(jnp.pad(a, 1, mode="wrap"), kernel, mode="valid")

        def step(_, s):
            u, v = s
            r = u * v * v
            return u + 0.16 * lap(u) - r + 0.035 * (1 - u), v + 0.08 * lap(v) + r - 0.1 * v

        return jax.lax.fori_loop(0, 60, step, (u, v))

    return f


@program(lambda r: f32(r.normal(size=(48, 48))), 1e-3)
def poisson_until_it_settles(jax):
    jnp = jax.numpy

    def f(b):
        def sweep(state):
            u, _, k = state
            inner = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - b[1:-1, 1:-1]) / 4
            new = u.at[1:-1, 1:-1].set(inner)
            return new, jnp.abs(new - u).max(), k + 1

        u, change, _ = jax.lax.while_loop(lambda s: (s[1] > 1e-3) & (s[2] < 150), sweep, (jnp.zeros_like(b), jnp.inf, 0))
        return u

    return f


@program(lambda r: f32(1 + 0.1 * r.random((24, 32))))
def lattice_boltzmann(jax):
    jnp = jax.numpy
    steps = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    weights = np.float32([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)

    def f(density):
        c, w = jnp.array(steps, dtype=jnp.float32), jnp.array(weights)

        def balance(rho, u):
            cu = jnp.einsum("qd,dyx->qyx", c, u)
            return w[:, None, None] * rho * (1 + 3 * cu + 4.5 * cu ** 2 - 1.5 * jnp.sum(u ** 2, axis=0))

        def step(_, g):
            rho = g.sum(axis=0)
            u = jnp.einsum("qd,qyx->dyx", c, g) / rho
            g = g + (balance(rho, u) - g) / 0.8
            return jnp.stack([jnp.roll(g[k], s, axis=(1, 0)) for k, s in enumerate(steps)])

        g = jax.lax.fori_loop(0, 30, step, balance(density, jnp.zeros((2, *density.shape))))
        return g.sum(axis=0)

    return f


@program(lambda r: f32(np.array([1.0, 1.0, 1.0])), 5e-3)
def exponents_of_the_lorenz_system(jax):
    jnp = jax.numpy

    def slope(s):
        x, y, z = s
        return jnp.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    def rk4(s, h=0.01):
        a = slope(s)
        b = slope(s + h / 2 * a)
        c = slope(s + h / 2 * b)
        return s + h / 6 * (a + 2 * b + 2 * c + slope(s + h * c))

    def f(s):
        def step(state, _):
            s, d, total = state
            d = jax.jacfwd(rk4)(s) @ d
            size = jnp.linalg.norm(d)
            return (rk4(s), d / size, total + jnp.log(size)), s
        (s, _, total), path = jax.lax.scan(step, (s, jnp.array([1.0, 0.0, 0.0]), 0.0), None, length=100)
        return s, total, path.mean(axis=0)

    return f


@program(lambda r: f32(np.array([2.0, 0.0]), 3.0), 2e-3)
def adaptive_steps(jax):
    jnp = jax.numpy

    def f(y, mu):
        slope = lambda y: jnp.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

        def body(state):
            t, y, h, n = state
            k1 = slope(y)
            k2 = slope(y + h * k1)
            better = y + h / 2 * (k1 + k2)
            error = jnp.max(jnp.abs(better - (y + h * k1))) / 1e-2
            good = error <= 1
            return (jnp.where(good, t + h, t), jnp.where(good, better, y),
                    jnp.minimum(h * jnp.clip(0.9 / jnp.sqrt(error + 1e-12), 0.2, 2.0), 2.0 - jnp.where(good, t + h, t) + 1e-4), n + 1)

        t, y, _, n = jax.lax.while_loop(lambda s: (s[0] < 2.0) & (s[3] < 2000), body, (0.0, y, 0.05, 0))
        return y

    return f


@program(lambda r: f32(np.array([1.0, 0.5]), np.array([0.0, 0.0])), 2e-3)
def double_pendulum_by_its_lagrangian(jax):
    jnp = jax.numpy

    def lagrangian(q, v):
        a, b = q
        kinetic = v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * jnp.cos(a - b)
        return kinetic + 9.8 * (2 * jnp.cos(a) + jnp.cos(b))

    def acceleration(q, v):
        mass = jax.hessian(lagrangian, 1)(q, v)
        force = jax.grad(lagrangian, 0)(q, v) - jax.jacfwd(jax.grad(lagrangian, 1), 0)(q, v) @ v
        return jnp.linalg.solve(mass, force)

    def f(q, v):
        def step(state, _):
            q, v = state
            v = v + 0.01 * acceleration(q, v)
            return (q + 0.01 * v, v), q
        return jax.lax.scan(step, (q, v), None, length=50)

    return f


@program(lambda r: (*f32(np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), -1).reshape(-1, 2)),
                    np.array([(k, k + 1) for k in range(63) if k % 8 < 7] + [(k, k + 8) for k in range(56)])))
def cloth_of_springs(jax):
    jnp = jax.numpy

    def f(x, springs):
        def force(x):
            d = x[springs[:, 1]] - x[springs[:, 0]]
            n = jnp.linalg.norm(d, axis=1, keepdims=True)
            pull = 50.0 * (n - 1.0) * d / n
            return jnp.zeros_like(x).at[springs[:, 0]].add(pull).at[springs[:, 1]].add(-pull) + jnp.array([0.0, -1.0])

        fixed = jnp.arange(64) >= 56

        def step(_, state):
            x, before = state
            new = x + 0.99 * (x - before) + 1e-3 * force(x)
            return jnp.where(fixed[:, None], x, new), x

        return jax.lax.fori_loop(0, 80, step, (x, x))[0]

    return f


@program(lambda r: f32(r.choice([-1.0, 1.0], (24, 24)), r.random((20, 2, 24, 24))))
def magnets_by_metropolis(jax):
    jnp = jax.numpy

    def f(spins, randoms):
        board = (jnp.arange(24)[:, None] + jnp.arange(24)) % 2

        def half(s, u, color):
            around = sum(jnp.roll(s, d, a) for d in (1, -1) for a in (0, 1))
            flip = (u < jnp.exp(-2 * 0.5 * s * around)) & (board == color)
            return jnp.where(flip, -s, s)

        def sweep(s, u):
            s = half(half(s, u[0], 0), u[1], 1)
            return s, s.mean()

        return jax.lax.scan(sweep, spins, randoms)

    return f


@program(lambda r: f32(r.normal(size=(20, 3)), r.normal(size=(20, 3)) * 0.1))
def bodies_with_checkpoints(jax):
    jnp = jax.numpy

    def force(x):
        one = lambda a: jax.vmap(lambda b: (b - a) / (jnp.sum((b - a) ** 2) + 0.1) ** 1.5)(x).sum(axis=0)
        return jax.vmap(one)(x)

    def last(v, x):
        @jax.checkpoint
        def step(state, _):
            x, v = state
            v = v + 0.01 * force(x)
            return (x + 0.01 * v, v), None
        (x, _), _ = jax.lax.scan(step, (x, v), None, length=20)
        return jnp.sum(x ** 2)

    return lambda x, v: jax.value_and_grad(last)(v, x)


# ---- finance, filters and states ----


@program(lambda r: f32(100.0, 0.2, 0.03, r.normal(size=(64, 500))), 1e-3)
def price_of_an_option_and_its_derivatives(jax):
    jnp = jax.numpy

    def price(start, vol, rate, z):
        dt = 1 / len(z)
        paths = start * jnp.exp(jnp.cumsum((rate - 0.5 * vol ** 2) * dt + vol * jnp.sqrt(dt) * z, axis=0))
        return jnp.exp(-rate) * jnp.mean(jnp.maximum(paths.mean(axis=0) - 100.0, 0.0))

    return jax.value_and_grad(price, argnums=(0, 1, 2))


@program(lambda r: f32(100.0, np.linspace(80, 120, 9)))
def options_on_a_binomial_tree(jax):
    jnp, n = jax.numpy, 60

    def price(start, strike):
        up = jnp.exp(0.2 / jnp.sqrt(n))
        p = (jnp.exp(0.05 / n) - 1 / up) / (up - 1 / up)
        at = lambda k, j: start * up ** (2 * j - k)
        j = jnp.arange(n + 1.0)
        value = jnp.maximum(strike - at(n, j), 0.0)

        def back(i, value):
            k = n - 1 - i
            hold = jnp.exp(-0.05 / n) * (p * jnp.roll(value, -1) + (1 - p) * value)
            return jnp.where(j <= k, jnp.maximum(hold, strike - at(k, j)), 0.0)

        return jax.lax.fori_loop(0, n, back, value)[0]

    return lambda start, strikes: jax.vmap(jax.value_and_grad(price), (None, 0))(start, strikes)


@program(lambda r: f32(r.normal(size=15), r.normal(size=200), r.normal(size=(15, 200)), r.random(15)))
def particle_filter(jax):
    jnp = jax.numpy

    def f(ys, start, noises, offsets):
        def step(x, row):
            y, e, u = row
            x = 0.5 * x + 25 * x / (1 + x ** 2) * 0.1 + e
            w = jax.nn.softmax(jax.scipy.stats.norm.logpdf(y, x ** 2 / 20, 1.0))
            at = jnp.searchsorted(jnp.cumsum(w), (jnp.arange(x.size) + u) / x.size)
            return x[jnp.clip(at, 0, x.size - 1)], (jnp.sum(w * x), 1 / jnp.sum(w ** 2))
        return jax.lax.scan(step, start, (ys, noises, offsets))[1]

    return f


@program(lambda r: f32(r.normal(size=(40, 2)) * 0.1 + 1.0))
def extended_kalman_filter(jax):
    jnp = jax.numpy

    def f(ys):
        move = lambda x: jnp.array([x[0] + 0.1 * x[1], x[1] - 0.1 * jnp.sin(x[0])])
        look = lambda x: jnp.array([jnp.sqrt(1 + x[0] ** 2), x[0] * x[1]])

        def step(state, y):
            x, p = state
            a = jax.jacfwd(move)(x)
            x, p = move(x), a @ p @ a.T + 0.01 * jnp.eye(2)
            h = jax.jacrev(look)(x)
            s = h @ p @ h.T + 0.1 * jnp.eye(2)
            gain = jnp.linalg.solve(s, h @ p).T
            x = x + gain @ (y - look(x))
            return (x, (jnp.eye(2) - gain @ h) @ p), x

        return jax.lax.scan(step, (jnp.zeros(2), jnp.eye(2)), ys)

    return f


@program(lambda r: f32(r.normal(size=(64, 4, 4)), r.normal(size=4)))
def hidden_states_in_parallel(jax):
    jnp = jax.numpy

    def f(logs, start):
        product = lambda a, b: jax.nn.logsumexp(a[..., :, :, None] + b[..., None, :, :], axis=-2)
        every = jax.lax.associative_scan(product, jax.nn.log_softmax(logs, axis=-1))
        return jax.nn.logsumexp(start[None, :, None] + every, axis=1)

    return f


@program(lambda r: f32(r.normal(size=(128, 8)), -np.abs(r.normal(size=16)), r.normal(size=(8, 16)) * 0.3, r.normal(size=(16, 8)) * 0.3))
def state_space_layer(jax):
    jnp = jax.numpy

    def f(u, a, b, c):
        decay = jnp.exp(0.1 * a)
        join = lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1])
        _, x = jax.lax.associative_scan(join, (jnp.broadcast_to(decay, (u.shape[0], 16)), u @ b))
        y = x @ c
        return y + u * jax.nn.sigmoid(y)

    return lambda *args: jax.value_and_grad(lambda *a: jnp.mean(f(*a) ** 2), argnums=(1, 2, 3))(*args)


# ---- control ----


@program(lambda r: f32(np.array([1.0, 0.0]), np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.0], [0.1]])))
def linear_quadratic_control(jax):
    jnp = jax.numpy

    def f(x, a, b):
        def back(p, _):
            k = jnp.linalg.solve(0.1 * jnp.eye(1) + b.T @ p @ b, b.T @ p @ a)
            return jnp.eye(2) + a.T @ p @ (a - b @ k), k
        _, gains = jax.lax.scan(back, jnp.eye(2), None, length=50)
        step = lambda x, k: ((a - b @ k) @ x, x)
        return jax.lax.scan(step, x, gains[::-1])

    return f


@program(lambda r: f32(r.normal(size=(10, 40, 15))))
def cross_entropy_method(jax):
    jnp = jax.numpy

    def cost(us):
        step = lambda s, u: ((s[0] + 0.1 * s[1], s[1] + 0.1 * (u - jnp.sin(s[0]))), s[0] ** 2 + 0.01 * u ** 2)
        return jax.lax.scan(step, (1.0, 0.0), us)[1].sum()

    def f(noises):
        def improve(state, e):
            mean, std = state
            tries = mean + std * e
            _, best = jax.lax.top_k(-jax.vmap(cost)(tries), 8)
            chosen = tries[best]
            return (chosen.mean(axis=0), chosen.std(axis=0) + 0.05), cost(mean)
        return jax.lax.scan(improve, (jnp.zeros(15), jnp.ones(15)), noises)

    return f


# ---- images and shapes ----


@program(lambda r: f32(np.linspace(-1, 1, 20)))
def ray_marching(jax):
    jnp = jax.numpy

    def distance(p):
        sphere = jnp.linalg.norm(p) - 0.6
        box = jnp.linalg.norm(jnp.maximum(jnp.abs(p - jnp.array([0.5, 0.4, 0.0])) - 0.3, 0.0)) - 0.05
        h = jnp.clip(0.5 + 0.5 * (box - sphere) / 0.2, 0.0, 1.0)
        return box * (1 - h) + sphere * h - 0.2 * h * (1 - h)

    def shade(x, y):
        start, direction = jnp.array([x, y, -2.0]), jnp.array([0.0, 0.0, 1.0])
        t = jax.lax.fori_loop(0, 30, lambda _, t: t + distance(start + t * direction), 0.0)
        normal = jax.grad(distance)(start + t * direction)
        return jnp.where(t < 4.0, jnp.maximum(jnp.dot(normal, jnp.array([0.6, 0.6, -0.5])), 0.0), 0.0)

    return lambda xs: jax.vmap(jax.vmap(shade, (0, None)), (None, 0))(xs, xs)


@program(lambda r: f32(r.random((32, 40)), np.array([[0.9, -0.2], [0.2, 0.9]])))
def warped_image(jax):
    jnp = jax.numpy

    def f(image, matrix):
        h, w = image.shape
        ys, xs = jnp.meshgrid(jnp.arange(h) - h / 2, jnp.arange(w) - w / 2, indexing="ij")
        y, x = jnp.einsum("ij,jhw->ihw", matrix, jnp.stack([ys, xs])) + jnp.array([h / 2, w / 2])[:, None, None]
        y0, x0 = jnp.floor(y).astype(jnp.int32), jnp.floor(x).astype(jnp.int32)

        def pixel(i, j):
            inside = (i >= 0) & (i < h) & (j >= 0) & (j < w)
            return jnp.where(inside, image[jnp.clip(i, 0, h - 1), jnp.clip(j, 0, w - 1)], 0.0)

        a, b = y - y0, x - x0
        top = (1 - b) * pixel(y0, x0) + b * pixel(y0, x0 + 1)
        return (1 - a) * top + a * ((1 - b) * pixel(y0 + 1, x0) + b * pixel(y0 + 1, x0 + 1))

    return f


@program(lambda r: f32(r.random((2, 48, 48))))
def edges_of_images(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(images):
        line = jnp.exp(-0.5 * jnp.linspace(-2, 2, 5) ** 2)
        blur = jnp.outer(line, line) / line.sum() ** 2
        filters = jnp.array([[[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]], dtype=jnp.float32)
        x = lax.conv(images[:, None], blur[None, None], (1, 1), "SAME")
        g = lax.conv(x, filters[:, None], (1, 1), "SAME")
        size = jnp.hypot(g[:, 0], g[:, 1])
        peak = lax.reduce_window(size, -jnp.inf, lax.max, (1, 3, 3), (1, 1, 1), "SAME")
        return jnp.where((size == peak) & (size > 0.1), size, 0.0), jnp.arctan2(g[:, 1], g[:, 0])

    return f


@program(lambda r: (r.random((20, 24)) < 0.6,))
def connected_components(jax):
    jnp, lax = jax.numpy, jax.lax

    def f(mask):
        labels = jnp.where(mask, jnp.arange(mask.size).reshape(mask.shape) + 1, 0)

        def spread(state):
            labels, _ = state
            near = lax.reduce_window(labels, 0, lax.max, (3, 1), (1, 1), "SAME")
            near = jnp.maximum(near, lax.reduce_window(labels, 0, lax.max, (1, 3), (1, 1), "SAME"))
            new = jnp.where(mask, near, 0)
            return new, jnp.any(new != labels)

        labels, _ = lax.while_loop(lambda s: s[1], spread, (labels, True))
        return labels, jnp.sum(jnp.bincount(labels.ravel(), length=mask.size + 1)[1:] > 0)

    return f


@program(lambda r: f32(r.random((24, 24, 3)) * 255))
def histogram_equalization(jax):
    jnp = jax.numpy

    def f(image):
        gray = jnp.dot(image, jnp.array([0.299, 0.587, 0.114]))
        counts, edges = jnp.histogram(gray, bins=64, range=(0.0, 256.0))
        share = jnp.cumsum(counts) / gray.size
        return jnp.interp(gray, (edges[:-1] + edges[1:]) / 2, share), jnp.percentile(gray, jnp.array([5.0, 50.0, 95.0]))

    return f


# ---- algorithms ----


@program(lambda r: (r.integers(0, 30, 150), r.integers(0, 30, 150), *f32(r.random(150))))
def shortest_ways_from_one_place(jax):
    jnp = jax.numpy

    def f(heads, tails, lengths):
        def relax(state):
            d, _ = state
            new = d.at[tails].min(d[heads] + lengths)
            return new, jnp.any(new < d)
        start = jnp.full(30, 1e9).at[0].set(0.0)
        return jax.lax.while_loop(lambda s: s[1], relax, (start, True))[0]

    return f


@program(lambda r: (r.integers(1, 20, 25), *f32(r.random(25))))
def knapsack(jax):
    jnp = jax.numpy

    def f(sizes, values):
        room = jnp.arange(101)

        def add(best, item):
            size, value = item
            with_it = jnp.where(room >= size, best[jnp.maximum(room - size, 0)] + value, -jnp.inf)
            return jnp.maximum(best, with_it), with_it > best

        best, taken = jax.lax.scan(add, jnp.zeros(101), (sizes, values))

        def back(left, row):
            size, t = row
            use = t[left]
            return jnp.where(use, left - size, left), use

        _, used = jax.lax.scan(back, 100, (sizes, taken), reverse=True)
        return best[-1], used

    return f


@program(lambda r: f32(np.cumsum(r.normal(size=40)), np.cumsum(r.normal(size=50))))
def time_warping(jax):
    jnp = jax.numpy

    def f(a, b):
        costs = (a[:, None] - b) ** 2

        def row(before, c):
            def cell(left, x):
                cost, up, diagonal = x
                value = cost + jnp.minimum(left, jnp.minimum(up, diagonal))
                return value, value
            shifted = jnp.concatenate([jnp.array([jnp.inf]), before[:-1]])
            new = jax.lax.scan(cell, jnp.inf, (c, before, shifted))[1]
            return new, new

        first = jnp.cumsum(costs[0])
        return jax.lax.scan(row, first, costs[1:])[0][-1]

    return lambda a, b: jax.value_and_grad(f)(a, b)


@program(lambda r: f32(np.sort(r.random(12)), r.normal(size=12), np.linspace(0.1, 0.9, 33)), 2e-3)
def cubic_splines(jax):
    jnp = jax.numpy

    def f(x, y, t):
        x = jnp.linspace(0, 1, 12) + 0.01 * x
        h = jnp.diff(x)
        right = 6 * jnp.diff(jnp.diff(y) / h)
        matrix = jnp.diag(2 * (h[:-1] + h[1:])) + jnp.diag(h[1:-1], 1) + jnp.diag(h[1:-1], -1)
        m = jnp.pad(jnp.linalg.solve(matrix, right), 1)
        k = jnp.clip(jnp.searchsorted(x, t) - 1, 0, 10)
        a, b = x[k + 1] - t, t - x[k]
        return (m[k] * a ** 3 + m[k + 1] * b ** 3) / (6 * h[k]) + (y[k] / h[k] - m[k] * h[k] / 6) * a + (y[k + 1] / h[k] - m[k + 1] * h[k] / 6) * b

    return f


@program(lambda r: f32(r.normal(size=(100, 16)), r.normal(size=(20, 16))))
def nearest_neighbours(jax):
    jnp = jax.numpy

    def f(points, queries):
        unit = lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True)
        scores, at = jax.lax.top_k(unit(queries) @ unit(points).T, 5)
        distances = jnp.sum((queries[:, None] - points[at]) ** 2, axis=-1)
        order = jnp.argsort(distances, axis=1)
        return jnp.take_along_axis(at, order, axis=1), jnp.take_along_axis(distances, order, axis=1), jnp.median(scores, axis=0)

    return f


@program(lambda r: f32(r.normal(size=64)))
def differentiable_ranks(jax):
    jnp = jax.numpy

    def ranks(x):
        return jax.nn.sigmoid((x[:, None] - x) / 0.1).sum(axis=1) + 0.5

    def f(x):
        target = jnp.arange(1.0, x.size + 1)
        value, g = jax.value_and_grad(lambda x: jnp.mean((ranks(x) - target) ** 2))(x)
        return value, g, jnp.corrcoef(ranks(x), target)[0, 1]

    return f


@program(lambda r: f32(r.normal(size=(6, 6))), 1e-3)
def eigenvalues_by_iteration(jax):
    jnp = jax.numpy

    def f(a):
        a = a @ a.T + jnp.diag(jnp.arange(1.0, 7.0) * 3)

        def step(_, state):
            a, v = state
            q, r = jnp.linalg.qr(a)
            return r @ q, v @ q

        d, v = jax.lax.fori_loop(0, 60, step, (a, jnp.eye(6)))
        return jnp.sort(jnp.diagonal(d)), jnp.linalg.slogdet(a)[1], jnp.abs(v @ d @ v.T - a).max() < 1e-2

    return f
