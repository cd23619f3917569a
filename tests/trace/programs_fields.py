"""Programs of more fields: geometry, chemistry, finance, search, optimizers and networks of another kind; the results of
programs_expected.npz are JAX's."""
import numpy as np

from trace_programs import f32, program


# ---- networks ----


def _vit(r):
    n = lambda *s: 0.2 * r.normal(size=s)
    weights = {"patch": n(48, 32), "cls": n(1, 32), "pos": n(17, 32), "qkv": n(2, 32, 96), "out": n(2, 32, 32), "up": n(2, 32, 64), "down": n(2, 64, 32), "head": n(32, 5)}
    return {k: v.astype(np.float32) for k, v in weights.items()}, r.normal(size=(4, 16, 16, 3)).astype(np.float32), r.integers(0, 5, 4).astype(np.int32)


@program(_vit, 1e-3)
def vision_transformer(jax):
    jnp = jax.numpy

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    def block(x, w):
        q, k, v = jnp.split((norm(x) @ w["qkv"]).reshape(-1, 3 * 4, 8), 3, axis=1)
        a = jax.nn.softmax(jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(8), axis=-1)
        x = x + jnp.einsum("hqk,khd->qhd", a, v).reshape(-1, 32) @ w["out"]
        return x + jax.nn.gelu(norm(x) @ w["up"]) @ w["down"], None

    def forward(w, image):
        patches = image.reshape(4, 4, 4, 4, 3).transpose(0, 2, 1, 3, 4).reshape(16, 48)
        x = jnp.concatenate([w["cls"], patches @ w["patch"]]) + w["pos"]
        x, _ = jax.lax.scan(block, x, {k: w[k] for k in ("qkv", "out", "up", "down")})
        return norm(x[0]) @ w["head"]

    def loss(w, images, labels):
        logits = jax.vmap(forward, (None, 0))(w, images)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

    return jax.value_and_grad(loss)


@program(lambda r: (*f32(0.3 * r.normal(size=(64, 96)), 0.2 * r.normal(size=(32, 32)), r.normal(size=(2, 8, 8, 32))),), 1e-3)
def attention_in_shifted_windows(jax):
    jnp = jax.numpy

    def windows(x):
        return x.reshape(2, 2, 4, 2, 4, 32).transpose(0, 1, 3, 2, 4, 5).reshape(8, 16, 32)

    def f(qkv, out, x):
        def loss(qkv, out):
            y = jnp.roll(x, (-2, -2), axis=(1, 2))
            regions = jnp.zeros((1, 8, 8, 32)).at[:, :6, :6].set(1).at[:, 6:, :6].set(2).at[:, :6, 6:].set(3)
            ids = windows(jnp.broadcast_to(regions, (2, 8, 8, 32)))[..., 0]
            mask = jnp.where(ids[:, None, :] == ids[:, :, None], 0.0, -1e9)
            q, k, v = jnp.moveaxis((windows(y) @ qkv[:32]).reshape(8, 16, 3, 4, 8), 2, 0)
            s = jnp.einsum("wqhd,wkhd->whqk", q, k) * 8 ** -0.5 + mask[:, None]
            o = jnp.einsum("whqk,wkhd->wqhd", jax.nn.softmax(s), v).reshape(8, 16, 32) @ out
            o = o.reshape(2, 2, 2, 4, 4, 32).swapaxes(2, 3).reshape(2, 8, 8, 32)
            return (jnp.roll(o, (2, 2), axis=(1, 2)) ** 2).mean()

        return jax.value_and_grad(loss, argnums=(0, 1))(qkv, out)

    return f


@program(lambda r: (*f32(r.normal(size=(2, 32, 16)), 0.3 * r.normal(size=(4, 16, 16)), r.uniform(-1, 1, size=(3, 16))),), 1e-3)
def time_mixing_of_an_rwkv(jax):
    jnp = jax.numpy

    def mix(x, w, p):
        decay, first, blend = p
        last = jnp.pad(x, ((1, 0), (0, 0)))[:-1]
        y = x * jax.nn.sigmoid(blend) + last * (1 - jax.nn.sigmoid(blend))
        k, v, r = y @ w[0], y @ w[1], jax.nn.sigmoid(y @ w[2])

        def step(state, kv):
            a, b, m = state
            k, v = kv
            top = jnp.maximum(m, first + k)
            e1, e2 = jnp.exp(m - top), jnp.exp(first + k - top)
            out = (e1 * a + e2 * v) / (e1 * b + e2)
            top = jnp.maximum(m - jnp.exp(decay), k)
            e1, e2 = jnp.exp(m - jnp.exp(decay) - top), jnp.exp(k - top)
            return (e1 * a + e2 * v, e1 * b + e2, top), out

        start = (jnp.zeros(16), jnp.zeros(16), jnp.full(16, -1e38))
        return (r * jax.lax.scan(step, start, (k, v))[1]) @ w[3]

    def f(x, w, p):
        return jax.value_and_grad(lambda w, p: (jax.vmap(lambda x: mix(x, w, p))(x) ** 2).mean(), argnums=(0, 1))(w, p)

    return f


@program(lambda r: (*f32(r.normal(size=(4, 64, 8)), r.normal(size=(64, 8)), 0.3 * r.normal(size=(8, 24)), r.normal(size=3)),), 1e-3)
def long_convolutions_by_transforms(jax):
    jnp = jax.numpy

    def conv(u, k):
        n = u.shape[-2]
        return jnp.fft.irfft(jnp.fft.rfft(u, 2 * n, axis=-2) * jnp.fft.rfft(k, 2 * n, axis=-2), axis=-2)[..., :n, :]

    def f(x, h, w, c):
        def loss(h, w):
            a, b, v = jnp.split(x @ w, 3, axis=-1)
            decay = jnp.exp(-0.05 * jnp.arange(64))[:, None]
            return ((a * conv(b * v, h * decay) + c[0]) ** 2).mean()

        return loss(h, w), jax.grad(loss, (0, 1))(h, w)

    return f


@program(lambda r: (*f32(0.2 * r.normal(size=(60, 32)), 0.2 * r.normal(size=(32, 4)), r.uniform(-1, 1, (16, 3)), r.normal(size=(16, 3)), r.uniform(size=(16, 3))),), 2e-3)
def radiance_field(jax):
    jnp = jax.numpy

    def encode(p):
        scaled = p[..., None, :] * (2.0 ** jnp.arange(10))[:, None]
        return jnp.concatenate([jnp.sin(scaled), jnp.cos(scaled)], -1).reshape(*p.shape[:-1], 60)

    def render(w, origin, direction):
        t = jnp.linspace(0.5, 2.0, 24)
        points = origin + t[:, None] * direction / jnp.linalg.norm(direction)
        out = jax.nn.relu(encode(points) @ w[0]) @ w[1]
        density, colour = jax.nn.softplus(out[:, 3]), jax.nn.sigmoid(out[:, :3])
        step = jnp.diff(t, append=t[-1:] + 0.1)
        alpha = 1 - jnp.exp(-density * step)
        through = jnp.cumprod(jnp.concatenate([jnp.ones(1), 1 - alpha[:-1] + 1e-10]))
        weight = alpha * through
        return (weight[:, None] * colour).sum(0), (weight * t).sum()

    def f(a, b, o, d, target):
        def loss(w):
            colour, depth = jax.vmap(render, (None, 0, 0))(w, o, d)
            return ((colour - target) ** 2).mean(), depth

        (value, depth), g = jax.value_and_grad(loss, has_aux=True)((a, b))
        return value, depth, g

    return f


@program(lambda r: (*f32(0.4 * r.normal(size=(2, 24)), 0.3 * r.normal(size=(24, 24)), 0.3 * r.normal(size=(24, 1)), r.uniform(-1, 1, (32, 2))),), 2e-3)
def laplacian_of_a_sine_network(jax):
    jnp = jax.numpy

    def net(w, x):
        return (jnp.sin(jnp.sin(3 * x @ w[0]) @ w[1]) @ w[2])[0]

    def laplacian(w, x):
        g = jax.grad(lambda x: net(w, x))
        return sum(jax.jvp(g, (x,), (e,))[1] @ e for e in jnp.eye(2))

    def f(a, b, c, xs):
        loss = lambda w: jnp.mean((jax.vmap(lambda x: laplacian(w, x))(xs) - jnp.prod(jnp.sin(jnp.pi * xs), axis=1)) ** 2)
        return jax.value_and_grad(loss)((a, b, c))

    return f


@program(lambda r: (*f32(0.3 * r.normal(size=(1, 20)), np.zeros(20), 0.3 * r.normal(size=(20, 1)), r.uniform(-3, 3, (6, 10, 1)), r.uniform(0.5, 2, 6)),), 2e-3)
def gradient_through_adaptation(jax):
    jnp = jax.numpy

    def loss(w, x, y):
        return jnp.mean((jnp.tanh(x @ w["a"] + w["b"]) @ w["c"] - y) ** 2)

    def adapted(w, x, y):
        step = lambda w, _: (jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, w, jax.grad(loss)(w, x, y)), None)
        return jax.lax.scan(step, w, None, length=3)[0]

    def f(a, b, c, xs, amplitude):
        ys = amplitude[:, None, None] * jnp.sin(xs)
        task = lambda w, x, y: loss(adapted(w, x[:5], y[:5]), x[5:], y[5:])
        return jax.value_and_grad(lambda w: jax.vmap(task, (None, 0, 0))(w, xs, ys).mean())({"a": a, "b": b, "c": c})

    return f


# ---- optimizers ----


@program(lambda r: (*f32(r.normal(size=(24, 16)), r.normal(size=(64, 24)), r.normal(size=(64, 16))),), 2e-3)
def orthogonal_momentum(jax):
    jnp = jax.numpy

    def orthogonal(g):
        a, b, c = 3.4445, -4.7750, 2.0315
        x = g.T / (jnp.linalg.norm(g) + 1e-7)

        def step(_, x):
            s = x @ x.T
            return a * x + (b * s + c * s @ s) @ x

        return jax.lax.fori_loop(0, 5, step, x).T

    def f(w, x, y):
        def step(state, _):
            w, m = state
            value, g = jax.value_and_grad(lambda w: ((x @ w - y) ** 2).mean())(w)
            m = 0.9 * m + g
            return (w - 0.02 * orthogonal(g + 0.9 * m), m), value

        return jax.lax.scan(step, (w, jnp.zeros_like(w)), None, 12)

    return f


@program(lambda r: (*f32(0.3 * r.normal(size=(12, 8)), r.normal(size=(40, 12)), r.normal(size=(40, 8))),), 5e-3)
def preconditioned_by_inverse_roots(jax):
    jnp = jax.numpy

    def root(m):
        w, v = jnp.linalg.eigh(m)
        return (v * jnp.maximum(w, 1e-6) ** -0.25) @ v.T

    def f(w, x, y):
        loss = lambda w: jnp.mean(jnp.logaddexp(0.0, (x @ w) * y))

        def step(s, _):
            w, l, r = s
            g = jax.grad(loss)(w)
            l, r = l + g @ g.T, r + g.T @ g
            return (w - 0.1 * root(l) @ g @ root(r), l, r), loss(w)

        (w, _, _), values = jax.lax.scan(step, (w, 0.1 * jnp.eye(12), 0.1 * jnp.eye(8)), length=6)
        return w, values

    return f


@program(lambda r: (*f32(r.normal(size=(30, 20)), r.normal(size=30)),), 1e-3)
def lasso_by_splitting(jax):
    jnp = jax.numpy

    def f(a, b):
        factor = jax.scipy.linalg.cho_factor(a.T @ a + jnp.eye(20))

        def step(_, s):
            x, z, u = s
            x = jax.scipy.linalg.cho_solve(factor, a.T @ b + z - u)
            z = jnp.sign(x + u) * jnp.maximum(jnp.abs(x + u) - 0.8, 0)
            return x, z, u + x - z

        x, z, u = jax.lax.fori_loop(0, 80, step, (jnp.zeros(20),) * 3)
        return z, jnp.sum((a @ z - b) ** 2), jnp.count_nonzero(z)

    return f


@program(lambda r: (*f32(r.uniform(0.1, 1, size=(8, 5)), r.uniform(2, 4, size=8), r.uniform(0.5, 1.5, size=5)),), 2e-3)
def linear_program_by_barriers(jax):
    jnp = jax.numpy

    def f(a, b, c):
        def centre(x, t):
            phi = lambda x: -t * c @ x - jnp.log(b - a @ x).sum() - jnp.log(x).sum()

            def newton(s):
                x, _, k = s
                g, h = jax.grad(phi)(x), jax.hessian(phi)(x)
                d = jnp.linalg.solve(h, -g)
                size = jnp.max(jnp.where(d < 0, -d / x, 0)), jnp.max((a @ d) / (b - a @ x))
                x = x + jnp.minimum(1.0, 0.9 / jnp.maximum(jnp.maximum(*size), 1e-6)) * d
                return x, -g @ d / 2, k + 1

            x, _, k = jax.lax.while_loop(lambda s: (jnp.abs(s[1]) > 1e-3) & (s[2] < 30), newton, (x, 1.0, 0))
            return x, c @ x

        return jax.lax.scan(centre, jnp.full(5, 0.2), 3.0 ** jnp.arange(6))

    return f


# ---- geometry and vision ----


@program(lambda r: (*f32(r.normal(size=(30, 3)), np.array([0.3, -0.5, 0.2]), np.array([0.5, 1.0, -0.2]), 0.01 * r.normal(size=(30, 3))),), 1e-3)
def registration_of_points(jax):
    jnp = jax.numpy

    def rotation(v):
        angle = jnp.linalg.norm(v)
        k = jnp.cross(v / angle, jnp.eye(3))
        return jnp.eye(3) - jnp.sin(angle) * k + (1 - jnp.cos(angle)) * k @ k

    def f(p, v, t, noise):
        q = p @ rotation(v).T + t + noise

        def step(state, _):
            r, s = state
            moved = p @ r.T + s
            near = jnp.argmin(((moved[:, None] - q[None]) ** 2).sum(-1), axis=1)
            target = q[near]
            u, _, vt = jnp.linalg.svd((target - target.mean(0)).T @ (p - p.mean(0)))
            r = u @ jnp.diag(jnp.array([1.0, 1.0, jnp.sign(jnp.linalg.det(u @ vt))])) @ vt
            s = target.mean(0) - r @ p.mean(0)
            return (r, s), jnp.sqrt(jnp.mean(jnp.sum((p @ r.T + s - target) ** 2, -1)))

        (r, s), errors = jax.lax.scan(step, (jnp.eye(3), jnp.zeros(3)), None, length=8)
        return r, s, errors

    return f


def _cameras(r):
    points = r.uniform(-1, 1, (12, 3)) + [0, 0, 5]
    poses = 0.1 * r.normal(size=(3, 6))
    return (*f32(poses + 0.02 * r.normal(size=(3, 6)), points + 0.05 * r.normal(size=(12, 3)), poses, points),)


@program(_cameras, 1e-2)
def bundle_adjustment(jax):
    jnp = jax.numpy

    def project(pose, point):
        w = pose[:3]
        rotated = point + jnp.cross(w, point) + 0.5 * jnp.cross(w, jnp.cross(w, point)) + pose[3:]
        return rotated[:2] / rotated[2]

    views = jax.vmap(jax.vmap(project, (None, 0)), (0, None))

    def f(poses, points, true_poses, true_points):
        seen = views(true_poses, true_points)
        flat, unravel = jax.flatten_util.ravel_pytree((poses, points))
        residual = lambda v: (views(*unravel(v)) - seen).ravel()

        def step(state, _):
            v, damping = state
            r, j = residual(v), jax.jacfwd(residual)(v)
            d = jnp.linalg.solve(j.T @ j + damping * jnp.eye(v.size), -j.T @ r)
            better = jnp.sum(residual(v + d) ** 2) < jnp.sum(r ** 2)
            return (jnp.where(better, v + d, v), jnp.where(better, damping * 0.5, damping * 4)), jnp.sum(r ** 2)

        (v, _), cost = jax.lax.scan(step, (flat, 0.1), None, length=3)
        return cost, residual(v)

    return f


@program(lambda r: (*f32(r.uniform(size=(20, 20))), np.linspace(0, np.pi, 12, endpoint=False).astype(np.float32)), 1e-3)
def tomography(jax):
    jnp = jax.numpy

    def project(image, angle):
        x = jnp.arange(20) - 9.5
        u, v = jnp.meshgrid(x, x, indexing="ij")
        at = [jnp.cos(angle) * u - jnp.sin(angle) * v + 9.5, jnp.sin(angle) * u + jnp.cos(angle) * v + 9.5]
        return jax.scipy.ndimage.map_coordinates(image, at, order=1, mode="constant").sum(0)

    def f(image, angles):
        forward = lambda image: jax.vmap(project, (None, 0))(image, angles)
        sinogram = forward(image)
        back = jax.vjp(forward, image)[1]
        rows = jnp.maximum(forward(jnp.ones_like(image)), 1e-3)
        columns = jnp.maximum(back(jnp.ones_like(sinogram))[0], 1e-3)

        def step(_, x):
            return jnp.clip(x + back((sinogram - forward(x)) / rows)[0] / columns, 0, None)

        return sinogram, jax.lax.fori_loop(0, 10, step, jnp.zeros_like(image))

    return f


@program(lambda r: (*f32(r.uniform(size=(24, 32, 3))),), 1e-3)
def seams_removed(jax):
    jnp = jax.numpy

    def f(image):
        def energy(x):
            gray = x @ jnp.array([0.299, 0.587, 0.114])
            gy, gx = jnp.gradient(gray)
            return jnp.abs(gx) + jnp.abs(gy)

        def seam(e):
            def down(above, row):
                padded = jnp.pad(above, 1, constant_values=jnp.inf)
                three = jnp.stack([padded[:-2], padded[1:-1], padded[2:]])
                return row + three.min(0), three.argmin(0) - 1

            last, back = jax.lax.scan(down, e[0], e[1:])
            end = jnp.argmin(last)
            up = lambda j, b: (j + b[j], j + b[j])
            first, rest = jax.lax.scan(up, end, back, reverse=True)
            return jnp.append(rest, end)

        widths = []
        for _ in range(3):
            at = seam(energy(image))
            width = image.shape[1]
            columns = jnp.arange(width - 1)
            image = jnp.take_along_axis(image, jnp.where(columns < at[:, None], columns, columns + 1)[..., None], axis=1)
            widths.append(at)
        return image, jnp.stack(widths)

    return f


@program(lambda r: (*f32(r.uniform(size=(24, 24)), np.outer(*[np.exp(-np.linspace(-2, 2, 5) ** 2)] * 2)),), 2e-3)
def sharpened_by_richardson_and_lucy(jax):
    jnp = jax.numpy

    def f(image, blur):
        blur = blur / blur.sum()
        seen = jax.scipy.signal.convolve2d(image, blur, mode="same")

        def step(x, _):
            ratio = seen / (jax.scipy.signal.convolve(x, blur, mode="same") + 1e-6)
            x = x * jax.scipy.signal.correlate(ratio, blur, mode="same", method="fft")
            return x, jnp.abs(x - image).mean()

        return jax.lax.scan(step, jnp.full_like(image, 0.5), None, length=10)

    return f


@program(lambda r: ((r.uniform(size=(32, 32)) > 0.93).astype(np.float32),), 1e-3)
def lines_by_votes(jax):
    jnp = jax.numpy

    def f(edges):
        angles = jnp.deg2rad(jnp.arange(0, 180, 10))
        ys, xs = jnp.nonzero(edges, size=80, fill_value=0)
        valid = jnp.arange(80) < jnp.sum(edges > 0)
        rho = jnp.round(xs[:, None] * jnp.cos(angles) + ys[:, None] * jnp.sin(angles) + 1e-3).astype(jnp.int32) + 46
        votes = jnp.zeros((92, 18), jnp.int32).at[rho, jnp.arange(18)].add(valid[:, None].astype(jnp.int32))
        values, at = jax.lax.top_k(votes.ravel(), 3)
        return votes, values

    return f


# ---- physics and chemistry ----


@program(lambda r: (*f32(np.stack(np.meshgrid(*[np.arange(4) * 1.2] * 2), -1).reshape(16, 2) + 0.05 * r.normal(size=(16, 2)), 0.3 * r.normal(size=(16, 2))),), 5e-3)
def liquid_in_a_periodic_box(jax):
    jnp = jax.numpy
    box = 4.8

    def pair(r2):
        r2 = jnp.where(r2 > 0, r2, 1.0)
        s6 = (1 / r2) ** 3
        return 4 * (s6 * s6 - s6)

    def energy(x):
        d = x[:, None] - x[None]
        d = d - box * jnp.round(d / box)
        r2 = (d ** 2).sum(-1)
        return 0.5 * jnp.where((r2 < 4.0) & ~jnp.eye(16, dtype=bool), pair(r2), 0).sum()

    def f(x, v):
        force = jax.grad(lambda x: -energy(x))

        def step(s, _):
            x, v, a = s
            v = v + 0.0025 * a
            x = jnp.mod(x + 0.005 * v, box)
            a = force(x)
            v = v + 0.0025 * a
            return (x, v, a), (energy(x), 0.5 * (v ** 2).sum())

        (x, v, _), (u, k) = jax.lax.scan(step, (x, v, force(x)), None, length=30)
        return x, v, u + k

    return f


@program(lambda r: (*f32(r.normal(size=(6, 6)), 0.1 * r.normal(size=(6, 6, 6, 6))),), 2e-3)
def self_consistent_field(jax):
    jnp = jax.numpy

    def f(h, eri):
        h = (h + h.T) / 2 + 3 * jnp.diag(jnp.arange(6.0))
        eri = eri + eri.transpose(1, 0, 2, 3)
        eri = eri + eri.transpose(0, 1, 3, 2)
        eri = 0.2 * (eri + eri.transpose(2, 3, 0, 1))

        def fock(d):
            return h + 2 * jnp.einsum("pqrs,rs->pq", eri, d) - jnp.einsum("prqs,rs->pq", eri, d)

        def step(d, _):
            e, c = jnp.linalg.eigh(fock(d))
            new = c[:, :2] @ c[:, :2].T
            return 0.5 * d + 0.5 * new, jnp.sum(d * (h + fock(d)))

        d, energies = jax.lax.scan(step, jnp.zeros((6, 6)), None, length=20)
        return d, energies, jnp.linalg.eigvalsh(fock(d))

    return f


@program(lambda r: (*f32(r.normal(size=3), np.array([1.0, 2.0, 3.0]), np.array([1.0, 0, 0, 0])),), 1e-3)
def tumbling_body(jax):
    jnp = jax.numpy

    def times(a, b):
        w, v = a[0], a[1:]
        return jnp.concatenate([(w * b[0] - v @ b[1:])[None], w * b[1:] + b[0] * v + jnp.cross(v, b[1:])])

    def f(spin, inertia, attitude):
        def rate(s):
            q, w = s
            return 0.5 * times(q, jnp.concatenate([jnp.zeros(1), w])), -jnp.cross(w, inertia * w) / inertia

        def step(s, _):
            add = lambda s, k, h: jax.tree_util.tree_map(lambda a, b: a + h * b, s, k)
            k1 = rate(s)
            k2 = rate(add(s, k1, 0.01))
            k3 = rate(add(s, k2, 0.01))
            k4 = rate(add(s, k3, 0.02))
            q, w = jax.tree_util.tree_map(lambda s, a, b, c, d: s + 0.02 / 6 * (a + 2 * b + 2 * c + d), s, k1, k2, k3, k4)
            q = q / jnp.linalg.norm(q)
            return (q, w), 0.5 * jnp.sum(inertia * w ** 2)

        def last(spin):
            return jax.lax.scan(step, (attitude, spin), None, length=50)

        (q, w), energy = last(spin)
        return q, w, energy, jax.jacfwd(lambda s: last(s)[0][0])(spin), jax.jacrev(lambda s: last(s)[0][1])(spin)

    return f


@program(lambda r: (*f32(r.uniform(0.3, 1, size=20)),), 2e-3)
def stiffness_of_a_truss(jax):
    jnp = jax.numpy
    nodes = np.array([[x, y] for x in range(5) for y in range(2)], np.float32)
    bars = np.array([(i, k) for i in range(10) for k in range(i + 1, 10) if np.linalg.norm(nodes[i] - nodes[k]) < 1.5][:20])

    def f(areas):
        d = nodes[bars[:, 1]] - nodes[bars[:, 0]]
        length = jnp.linalg.norm(d, axis=1)
        b = jnp.concatenate([-d, d], axis=1) / length[:, None]
        dofs = np.stack([2 * bars[:, 0], 2 * bars[:, 0] + 1, 2 * bars[:, 1], 2 * bars[:, 1] + 1], 1)

        def compliance(areas):
            k = (areas / length)[:, None, None] * b[:, :, None] * b[:, None, :]
            whole = jnp.zeros((20, 20)).at[dofs[:, :, None], dofs[:, None, :]].add(k)
            load = jnp.zeros(16).at[-1].set(-1.0)
            free = whole[4:, 4:] + 1e-4 * jnp.eye(16)
            return load @ jax.scipy.sparse.linalg.cg(lambda v: free @ v, load, maxiter=100, tol=1e-8)[0] + 0 * jnp.linalg.norm(free)

        value, g = jax.value_and_grad(compliance)(areas)
        return value, g

    return f


# ---- finance and statistics ----


@program(lambda r: (*f32(r.normal(size=(64, 11))),), 1e-2)
def american_option_by_regression(jax):
    jnp = jax.numpy

    def f(noise):
        def price(s0, vol):
            paths = s0 * jnp.exp(jnp.cumsum((0.05 - vol ** 2 / 2) * 0.1 + vol * jnp.sqrt(0.1) * noise, axis=1))
            pay = jnp.maximum(1.0 - paths, 0)

            def back(value, k):
                value = value * jnp.exp(-0.05 * 0.1)
                x = jnp.stack([jnp.ones(64), paths[:, k], paths[:, k] ** 2], 1)
                w = (pay[:, k] > 0).astype(jnp.float32)[:, None]
                beta = jnp.linalg.solve(x.T @ (w * x) + 1e-3 * jnp.eye(3), x.T @ (w[:, 0] * value))
                stay = x @ jax.lax.stop_gradient(beta)
                return jnp.where((pay[:, k] > stay) & (pay[:, k] > 0), pay[:, k], value), stay.mean()

            value, means = jax.lax.scan(back, pay[:, -1], jnp.arange(9, -1, -1))
            return value.mean() * jnp.exp(-0.005), means

        value, means = price(1.0, 0.2)
        return value, jax.grad(lambda s, v: price(s, v)[0], argnums=(0, 1))(1.0, 0.2)

    return f


@program(lambda r: (*f32(np.array([0.1, 0.1, 0.8]), r.normal(size=200)),), 5e-3)
def volatility_that_clusters(jax):
    jnp = jax.numpy

    def f(p, returns):
        def loss(q):
            omega, alpha, beta = jax.nn.softplus(q[0]), *(0.99 * jax.nn.softmax(jnp.append(q[1:], 0.0))[:2])

            def step(var, r):
                return omega + alpha * r ** 2 + beta * var, 0.5 * (jnp.log(2 * jnp.pi * var) + r ** 2 / var)

            return jax.lax.scan(step, jnp.var(returns), returns)[1].mean()

        q = jnp.log(p)
        return loss(q), jax.grad(loss)(q), jax.hessian(loss)(q), jax.scipy.optimize.minimize(loss, q, method="BFGS", options={"maxiter": 5}).fun

    return f


@program(lambda r: (*f32(r.normal(size=(24, 5)), 0.1 * r.normal(size=(24, 2))),), 5e-3)
def neighbours_in_the_plane(jax):
    jnp = jax.numpy

    def f(x, y):
        d2 = jnp.sum((x[:, None] - x) ** 2, -1)
        off = ~jnp.eye(24, dtype=bool)

        def row(d, mask):
            def entropy(beta):
                p = jnp.where(mask, jnp.exp(-d * beta), 0)
                s = p.sum()
                return jnp.log(s) + beta * (d * p).sum() / s, p / s

            def halve(_, bounds):
                low, high = bounds
                middle = (low + high) / 2
                sharp = entropy(middle)[0] > jnp.log(8.0)
                return jnp.where(sharp, middle, low), jnp.where(sharp, high, middle)

            low, high = jax.lax.fori_loop(0, 20, halve, (0.0, 20.0))
            return entropy(low)[1]

        p = jax.vmap(row)(d2, off)
        p = (p + p.T) / 48

        def kl(y):
            q = jnp.where(off, 1 / (1 + jnp.sum((y[:, None] - y) ** 2, -1)), 0)
            q = q / q.sum()
            return jnp.sum(jax.scipy.special.xlogy(p, p) - p * jnp.log(jnp.where(off, q, 1.0)))

        def step(s, _):
            y, m = s
            value, g = jax.value_and_grad(kl)(y)
            m = 0.5 * m - 2.0 * g
            return (y + m, m), value

        return jax.lax.scan(step, (y, jnp.zeros_like(y)), None, length=8)

    return f


@program(lambda r: (*f32(r.normal(size=(12, 5)), r.normal(size=(5, 5)), r.normal(size=(5,))), r.integers(0, 5, 12).astype(np.int32)), 1e-3)
def conditional_random_field(jax):
    jnp = jax.numpy

    def f(scores, moves, start, tags):
        def likelihood(scores, moves, start):
            path = start[tags[0]] + scores[jnp.arange(12), tags].sum() + moves[tags[:-1], tags[1:]].sum()
            step = lambda a, s: (jax.nn.logsumexp(a[:, None] + moves, axis=0) + s, None)
            last, _ = jax.lax.scan(step, start + scores[0], scores[1:])
            return path - jax.nn.logsumexp(last)

        marginals = jax.grad(lambda s: jnp.sum(-likelihood(s, moves, start)))(scores) + jax.nn.one_hot(tags, 5)
        return jax.value_and_grad(likelihood, (0, 1, 2))(scores, moves, start), marginals, marginals.sum(1)

    return f


@program(lambda r: (*f32(r.uniform(-2, 2, (60, 3)), r.normal(size=60)),), 1e-3)
def boosted_stumps(jax):
    jnp = jax.numpy

    def f(x, noise):
        y = jnp.where(x[:, 0] > 0, 1.0, -0.5) + x[:, 1] ** 2 + 0.05 * noise
        cuts = jnp.quantile(x, jnp.linspace(0.1, 0.9, 9), axis=0).T

        def stump(residual):
            left = x.T[:, None, :] <= cuts[:, :, None]
            n = left.sum(-1)
            a = jnp.where(left, residual, 0).sum(-1) / jnp.maximum(n, 1)
            b = jnp.where(left, 0, residual).sum(-1) / jnp.maximum(60 - n, 1)
            error = ((residual - jnp.where(left, a[..., None], b[..., None])) ** 2).sum(-1)
            feature, cut = jnp.unravel_index(jnp.argmin(error), error.shape)
            return feature, cuts[feature, cut], a[feature, cut], b[feature, cut]

        def step(made, _):
            feature, cut, a, b = stump(y - made)
            made = made + 0.5 * jnp.where(x[:, feature] <= cut, a, b)
            return made, (feature, cut, ((y - made) ** 2).mean())

        return jax.lax.scan(step, jnp.zeros(60), None, length=15)

    return f


# ---- search and machines ----


@program(lambda r: (np.int32(6),), 1e-6)
def queens_by_backtracking(jax):
    jnp = jax.numpy

    def f(n):
        size = 6

        def free(board, row, column):
            rows = jnp.arange(size)
            hit = (board == column) | (jnp.abs(board - column) == jnp.abs(rows - row))
            return ~jnp.any(hit & (rows < row))

        def step(s):
            board, row, found, tries = s
            column = board[row] + 1
            over = column >= size
            ok = ~over & free(board, row, column)
            board = board.at[row].set(jnp.where(over, -1, column))
            full = ok & (row == n - 1)
            row = jnp.where(over, row - 1, jnp.where(ok & ~full, row + 1, row))
            return board, row, found + full, tries + 1

        s = (jnp.full(size, -1, jnp.int32), jnp.int32(0), jnp.int32(0), jnp.int32(0))
        return jax.lax.while_loop(lambda s: s[1] >= 0, step, s)[2:]

    return f


@program(lambda r: (np.frombuffer(b"abc".ljust(64, b"\0"), np.uint8).copy(),), 1e-6)
def digest_of_a_message(jax):
    jnp = jax.numpy
    primes = [p for p in range(2, 312) if all(p % d for d in range(2, p))][:64]
    part = lambda x: int(x % 1 * 2 ** 32)
    constants = np.array([part(float(p) ** (1 / 3)) for p in primes], np.uint32)
    first = np.array([part(float(p) ** 0.5) for p in primes[:8]], np.uint32)
    turn = lambda x, n: (x >> n) | (x << (32 - n))

    def f(message):
        block = message.at[3].set(0x80).at[63].set(24)
        words = block.reshape(16, 4).astype(jnp.uint32)
        w = (words[:, 0] << 24) | (words[:, 1] << 16) | (words[:, 2] << 8) | words[:, 3]
        w = jnp.concatenate([w, jnp.zeros(48, jnp.uint32)])

        def spread(i, w):
            a, b = w[i - 15], w[i - 2]
            return w.at[i].set(w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >> 10)))

        w = jax.lax.fori_loop(16, 64, spread, w)

        def compress(s, kw):
            a, b, c, d, e, f, g, h = s
            t = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + kw
            u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
            return (t + u, a, b, c, d + t, e, f, g), None

        start = tuple(jnp.asarray(first))
        last, _ = jax.lax.scan(compress, start, constants + w)
        return jnp.stack(last) + first

    return f


@program(lambda r: (np.array([1, 1, 1, 5, 2, 1, 6, 4, 3, 0, 0, 0], np.int32), r.integers(0, 5, 8).astype(np.int32)), 1e-6)
def machine_with_a_tape(jax):
    jnp = jax.numpy

    def f(code, tape):
        def step(s):
            pc, at, tape, count = s
            moves = [lambda t, a: (t, a, pc + 100), lambda t, a: (t.at[a].add(1), a, pc + 1), lambda t, a: (t, (a + 1) % 8, pc + 1),
                     lambda t, a: (t, a, jnp.where(t[a] < 9, 0, pc + 1)), lambda t, a: (t.at[a].set(t[a] * 2 % 11), a, pc + 1),
                     lambda t, a: (t.at[(a + 3) % 8].add(t[a]), a, pc + 1), lambda t, a: (t[::-1], a, pc + 1)]
            tape, at, pc = jax.lax.switch(code[pc], moves, tape, at)
            return pc, at, tape, count + 1

        return jax.lax.while_loop(lambda s: (s[0] < 12) & (s[3] < 100), step, (jnp.int32(0), jnp.int32(0), tape, jnp.int32(0)))

    return f


@program(lambda r: ((lambda d: d + d.T)(r.uniform(1, 9, (7, 7))).astype(np.float32),), 1e-4)
def salesman_by_subsets(jax):
    jnp = jax.numpy

    def f(d):
        n = 6
        subsets = 1 << n
        best = jnp.full((subsets, n), jnp.inf).at[1 << np.arange(n), np.arange(n)].set(d[0, 1:])

        def step(mask, best):
            member = (mask >> jnp.arange(n)) & 1
            others = mask ^ (1 << jnp.arange(n))
            ways = jnp.min(best[others] + d[1:, 1:].T, axis=1)
            return best.at[mask].set(jnp.where((member == 1) & (others > 0), ways, best[mask]))

        best = jax.lax.fori_loop(1, subsets, step, best)
        return jnp.min(best[-1] + d[1:, 0]), best[-1]

    return f


@program(lambda r: (r.integers(0, 20, (25, 2)).astype(np.int32),), 1e-6)
def components_by_union_and_find(jax):
    jnp = jax.numpy

    def f(edges):
        def root(parent, x):
            return jax.lax.while_loop(lambda x: parent[x] != x, lambda x: parent[x], x)

        def join(parent, e):
            a, b = root(parent, e[0]), root(parent, e[1])
            parent = parent.at[jnp.maximum(a, b)].set(jnp.minimum(a, b))
            return parent, a != b

        parent, joined = jax.lax.scan(join, jnp.arange(20, dtype=jnp.int32), edges)
        labels = jax.vmap(lambda x: root(parent, x))(jnp.arange(20, dtype=jnp.int32))
        return labels, joined, jnp.unique(labels, size=20, fill_value=-1), jnp.bincount(labels, length=20)

    return f


@program(lambda r: (*f32(0.5 * r.normal(size=(9, 9)), r.uniform(-1, 1, 32)),), 1e-4)
def game_tree_of_noughts(jax):
    jnp = jax.numpy
    lines = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])

    def f(w, _):
        def won(board, player):
            return jnp.any(jnp.all(board[lines] == player, axis=1))

        def value(board, player, depth):
            if depth == 0:
                return jnp.tanh(board @ w @ board)
            move = lambda at: value(board.at[at].set(player), -player, depth - 1)
            values = jax.vmap(move)(jnp.arange(9))
            values = jnp.where(board == 0, player * values, -jnp.inf)
            best = player * jnp.max(values)
            best = jnp.where(jnp.all(board != 0), 0.0, best)
            return jnp.where(won(board, -player), -player * 1.0, best)

        board = jnp.array([1, -1, 0, 0, 1, 0, 0, 0, -1], jnp.float32)
        return value(board, 1.0, 3), jax.vmap(lambda at: value(board.at[at].set(1.0), -1.0, 2))(jnp.arange(9))

    return f
