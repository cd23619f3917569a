"""Programs with complex numbers and Fourier transforms: physics, signals, layers in the frequency domain. What they give under
JAX is kept in programs_expected.npz, which programs_expected.py writes."""
import numpy as np

from trace_programs import f32, program


def _normal(*shapes):
    return lambda r: f32(*[r.normal(size=s) for s in shapes])


@program(lambda r: ({"w": f32(r.normal(size=(4, 6, 5)))[0] + 1j * f32(r.normal(size=(4, 6, 5)))[0], "skip": f32(r.normal(size=(4, 6)))[0]}, *f32(r.normal(size=(3, 4, 32)))), 1e-3)
def fourier_neural_operator(jax):
    jnp = jax.numpy

    def layer(p, x):
        modes = p["w"].shape[-1]
        spectrum = jnp.fft.rfft(x)[..., :modes]
        mixed = jnp.einsum("bik,iok->bok", spectrum, p["w"])
        out = jnp.zeros(mixed.shape[:-1] + (x.shape[-1] // 2 + 1,), dtype=jnp.complex64).at[..., :modes].set(mixed)
        return jax.nn.gelu(jnp.fft.irfft(out, n=x.shape[-1]) + jnp.einsum("bix,io->box", x, p["skip"]))

    def loss(p, x):
        return jnp.mean(layer(p, x) ** 2)

    def f(p, x):
        value, g = jax.value_and_grad(loss)(p, x)
        new = jax.tree.map(lambda w, d: w - 0.1 * jnp.conj(d), p, g)
        return value, loss(new, x), jnp.abs(g["w"]), g["skip"]

    return f


@program(_normal((32, 32)), 1e-3)
def turbulence_in_a_plane(jax):
    jnp = jax.numpy

    def f(start):
        k = jnp.fft.fftfreq(32, 1 / 32)
        kx, ky = jnp.meshgrid(k, k, indexing="ij")
        square = kx ** 2 + ky ** 2
        inverse = jnp.where(square == 0, 0, 1 / jnp.where(square == 0, 1, square))
        kept = (jnp.abs(kx) < 32 / 3) & (jnp.abs(ky) < 32 / 3)

        def slope(w):
            psi = w * inverse
            u, v = jnp.fft.ifft2(1j * ky * psi).real, jnp.fft.ifft2(-1j * kx * psi).real
            wx, wy = jnp.fft.ifft2(1j * kx * w).real, jnp.fft.ifft2(1j * ky * w).real
            return jnp.where(kept, -jnp.fft.fft2(u * wx + v * wy), 0)

        def step(w, _):
            dt, nu = 1e-3, 0.05
            half = w + dt / 2 * slope(w)
            w = (w + dt * slope(half)) / (1 + nu * dt * square)
            return w, jnp.sum(jnp.abs(w) ** 2 * inverse)

        last, energy = jax.lax.scan(step, jnp.fft.fft2(start), None, length=20)
        return jnp.fft.ifft2(last).real, energy

    return f


@program(lambda r: f32(np.cos(np.linspace(0, 2 * np.pi, 64, endpoint=False)) + 0.1 * r.normal(size=64)), 2e-3)
def kuramoto_sivashinsky(jax):
    jnp = jax.numpy

    def f(u):
        k = jnp.fft.rfftfreq(64, d=22 / 64 / (2 * jnp.pi))
        linear = k ** 2 - k ** 4
        h = 0.1
        e, e2 = jnp.exp(h * linear), jnp.exp(h * linear / 2)
        roots = jnp.exp(1j * jnp.pi * (jnp.arange(16) + 0.5) / 16)
        lr = h * linear[:, None] + roots[None]
        q = h * jnp.mean((jnp.exp(lr / 2) - 1) / lr, axis=1).real
        f1 = h * jnp.mean((-4 - lr + jnp.exp(lr) * (4 - 3 * lr + lr ** 2)) / lr ** 3, axis=1).real
        f2 = h * jnp.mean((2 + lr + jnp.exp(lr) * (-2 + lr)) / lr ** 3, axis=1).real
        f3 = h * jnp.mean((-4 - 3 * lr - lr ** 2 + jnp.exp(lr) * (4 - lr)) / lr ** 3, axis=1).real
        g = lambda v: -0.5j * k * jnp.fft.rfft(jnp.fft.irfft(v) ** 2)

        def step(v, _):
            nv = g(v)
            a = e2 * v + q * nv
            na = g(a)
            b = e2 * v + q * na
            nb = g(b)
            c = e2 * a + q * (2 * nb - nv)
            v = e * v + nv * f1 + 2 * (na + nb) * f2 + g(c) * f3
            return v, jnp.fft.irfft(v)

        return jax.lax.scan(step, jnp.fft.rfft(u), None, length=30)[1][-1]

    return f


@program(_normal((128,)), 1e-3)
def wave_packet_by_split_steps(jax):
    jnp = jax.numpy

    def f(noise):
        x = jnp.linspace(-10, 10, 128, endpoint=False)
        k = 2 * jnp.pi * jnp.fft.fftfreq(128, d=20 / 128)
        wave = jnp.exp(-(x + 3) ** 2) * jnp.exp(2j * x) + 0.01 * noise
        wave = wave / jnp.sqrt(jnp.sum(jnp.abs(wave) ** 2))
        potential = jnp.exp(-0.5j * 0.01 * 0.5 * x ** 2)
        kinetic = jnp.exp(-0.5j * 0.01 * k ** 2)

        def step(i, w):
            return potential * jnp.fft.ifft(kinetic * jnp.fft.fft(potential * w))

        wave = jax.lax.fori_loop(0, 50, step, wave)
        density = jnp.abs(wave) ** 2
        return density, jnp.sum(density * x), jnp.vdot(wave, k * 1j * wave).imag

    return f


@program(_normal((3, 3)), 1e-3)
def variational_quantum_circuit(jax):
    jnp = jax.numpy

    def rotation(angle):
        c, s = jnp.cos(angle / 2), jnp.sin(angle / 2)
        return jnp.array([[c, -1j * s], [-1j * s, c]])

    def phase(angle):
        return jnp.diag(jnp.exp(1j * jnp.array([-0.5, 0.5]) * angle))

    def apply(state, gate, qubit):
        return jnp.moveaxis(jnp.tensordot(gate, state, axes=((1,), (qubit,))), 0, qubit)

    def energy(angles):
        state = jnp.zeros((2, 2, 2), dtype=jnp.complex64).at[0, 0, 0].set(1)
        swap = jnp.eye(4, dtype=jnp.complex64)[jnp.array([0, 1, 3, 2])].reshape(2, 2, 2, 2)
        for layer in angles:
            for q in range(3):
                state = apply(apply(state, rotation(layer[q]), q), phase(layer[q] * 0.7), q)
            for q in range(2):
                state = jnp.moveaxis(jnp.tensordot(swap, state, axes=((2, 3), (q, q + 1))), (0, 1), (q, q + 1))
        p = (state.conj() * state).real
        z = jnp.array([1.0, -1.0])
        return jnp.einsum("abc,a,b->", p, z, z) + 0.5 * jnp.einsum("abc,c->", p, z)

    def f(angles):
        for _ in range(3):
            angles = angles - 0.2 * jax.grad(energy)(angles)
        return angles, energy(angles)

    return f


@program(lambda r: ({"a": f32(-np.abs(r.normal(size=8)))[0], "w": f32(3 * r.normal(size=8))[0], "c": f32(r.normal(size=(2, 8)))[0], "step": np.float32(0.05)}, *f32(r.normal(size=64), r.normal(size=64))), 1e-3)
def diagonal_state_space_layer(jax):
    jnp = jax.numpy

    def kernel(p, n):
        lam = p["a"] + 1j * p["w"]
        c = p["c"][0] + 1j * p["c"][1]
        z = jnp.exp(p["step"] * lam)
        powers = jnp.exp(jnp.outer(jnp.arange(n), p["step"] * lam))
        return 2 * jnp.real(powers @ (c * (z - 1) / lam))

    def layer(p, u):
        n = u.shape[0]
        k = kernel(p, n)
        return jnp.fft.irfft(jnp.fft.rfft(u, n=2 * n) * jnp.fft.rfft(k, n=2 * n), n=2 * n)[:n]

    def f(p, u, y):
        loss = lambda p: jnp.mean((layer(p, u) - y) ** 2)
        return layer(p, u), jax.value_and_grad(loss)(p)

    return f


@program(lambda r: (f32(r.uniform(0.8, 0.99, 6))[0], f32(r.uniform(0, 3, 6))[0], *f32(r.normal(size=(40, 6)), r.normal(size=(40, 6)))), 1e-3)
def linear_recurrent_unit(jax):
    jnp = jax.numpy

    def f(size, angle, re, im):
        def outputs(size, angle):
            lam = size * jnp.exp(1j * angle)
            inputs = re + 1j * im
            rows = jnp.broadcast_to(lam, inputs.shape)

            def combine(l, r):
                return l[0] * r[0], r[0] * l[1] + r[1]

            return jax.lax.associative_scan(combine, (rows, inputs * jnp.sqrt(1 - size ** 2)))[1]

        loss = lambda size, angle: jnp.sum(jnp.abs(outputs(size, angle)[-1]) ** 2)
        return outputs(size, angle).real, jax.grad(loss, argnums=(0, 1))(size, angle)

    return f


@program(_normal((16, 16)), 2e-3)
def image_from_few_frequencies(jax):
    jnp = jax.numpy

    def f(image):
        rng = np.random.default_rng(0)
        mask = jnp.asarray(rng.uniform(size=(16, 16)) < 0.5)
        seen = jnp.where(mask, jnp.fft.fft2(image, norm="ortho"), 0)

        def shrink(z, by):
            size = jnp.abs(z)
            return z * jnp.maximum(1 - by / jnp.maximum(size, 1e-6), 0)

        def step(state, _):
            x, v, t = state
            off = jnp.where(mask, jnp.fft.fft2(v, norm="ortho") - seen, 0)
            new = shrink(v - jnp.fft.ifft2(off, norm="ortho"), 0.05)
            after = (1 + jnp.sqrt(1 + 4 * t ** 2)) / 2
            return (new, new + (t - 1) / after * (new - x), after), jnp.linalg.norm(off)

        start = jnp.fft.ifft2(seen, norm="ortho")
        (x, _, _), residuals = jax.lax.scan(step, (start, start, jnp.float32(1)), None, length=15)
        return jnp.abs(x), residuals

    return f


@program(_normal((400,)), 2e-3)
def mel_spectrogram(jax):
    jnp = jax.numpy

    def f(signal):
        frames = jnp.stack([signal[i: i + 64] for i in range(0, 400 - 64 + 1, 32)]) * jnp.hanning(64)
        power = jnp.abs(jnp.fft.rfft(frames, axis=-1)) ** 2
        mel = lambda h: 2595 * jnp.log10(1 + h / 700)
        edges = 700 * (10 ** (jnp.linspace(mel(0.0), mel(4000.0), 12) / 2595) - 1)
        bins = jnp.linspace(0, 4000, 33)
        up = (bins[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
        down = (edges[2:, None] - bins[None]) / (edges[2:] - edges[1:-1])[:, None]
        bank = jnp.maximum(0, jnp.minimum(up, down))
        logs = jnp.log(power @ bank.T + 1e-6)
        return logs, jax.scipy.fft.dct(logs, norm="ortho")[:, :5]

    return f


@program(_normal((24, 24)), 5e-3)
def phase_retrieval(jax):
    jnp = jax.numpy

    def f(image):
        target = jnp.abs(image)
        target = target / jnp.linalg.norm(target)

        def step(phase, _):
            far = jnp.fft.fft2(jnp.exp(1j * phase), norm="ortho") / 24
            error = jnp.mean((jnp.abs(far) - target) ** 2)
            back = jnp.fft.ifft2(target * jnp.exp(1j * jnp.angle(far)), norm="ortho")
            return jnp.angle(back), error

        _, errors = jax.lax.scan(step, jnp.zeros((24, 24)) + 0.1 * jnp.arange(24), None, length=6)
        return errors

    return f


@program(_normal((256,)), 1e-3)
def envelope_and_autocorrelation(jax):
    jnp = jax.numpy

    def f(x):
        n = x.shape[0]
        t = jnp.arange(n)
        x = jnp.sin(0.3 * t) * (1 + 0.3 * jnp.cos(0.02 * t)) + 0.1 * x
        gains = jnp.zeros(n).at[0].set(1).at[n // 2].set(1).at[1:n // 2].set(2)
        analytic = jnp.fft.ifft(jnp.fft.fft(x) * gains)
        spectrum = jnp.fft.rfft(x - x.mean(), 2 * n)
        correlation = jnp.fft.irfft(spectrum * spectrum.conj())[:n]
        frequency = jnp.diff(jnp.unwrap(jnp.angle(analytic[50:200]))) / (2 * jnp.pi)
        return jnp.abs(analytic), correlation / correlation[0], frequency

    return f


@program(lambda r: f32(r.uniform(1, 2, 4), r.uniform(0.5, 1, 4)), 1e-3)
def circuit_of_alternating_current(jax):
    jnp = jax.numpy

    def response(resistances, capacities, omega):
        y = 1 / resistances + 1j * omega * capacities
        a = jnp.diag(y + jnp.roll(y, 1)) - jnp.diag(y[:-1], 1) - jnp.diag(y[:-1], -1)
        return jnp.linalg.solve(a, jnp.array([1.0, 0, 0, 0], dtype=jnp.complex64))

    def f(resistances, capacities):
        omegas = jnp.logspace(-1, 1, 7)
        v = jax.vmap(response, in_axes=(None, None, 0))(resistances, capacities, omegas)
        g = jax.grad(lambda r: jnp.sum(20 * jnp.log10(jnp.abs(response(r, capacities, 1.0)))))(resistances)
        return jnp.abs(v), jnp.angle(v), g

    return f


@program(lambda r: f32(np.linspace(-1.5, 0.5, 20), np.linspace(-1, 1, 16)), 1e-3)
def fractals_of_complex_numbers(jax):
    jnp = jax.numpy

    def f(x, y):
        c = x[None, :] + 1j * y[:, None]

        def step(state, _):
            z, count = state
            inside = jnp.abs(z) < 2
            z = jnp.where(inside, z ** 2 + c, z)
            return (z, count + inside), None

        (_, count), _ = jax.lax.scan(step, (jnp.zeros_like(c), jnp.zeros(c.shape, int)), None, length=20)
        newton = jax.lax.fori_loop(0, 12, lambda _, z: z - (z ** 3 - 1) / (3 * z ** 2), c + 0.05)
        return count, newton.real, newton.imag

    return f


@program(_normal((6,), (40,)), 1e-3)
def frequency_response_of_a_filter(jax):
    jnp = jax.numpy

    def f(taps, x):
        w = jnp.linspace(0, jnp.pi, 16)
        z = jnp.exp(-1j * w)
        response = sum(t * z ** k for k, t in enumerate(taps))
        wanted = jnp.where(w < 1, 1.0, 0.0)
        loss = lambda taps: jnp.mean((jnp.abs(jnp.exp(-1j * jnp.outer(w, jnp.arange(6))) @ taps) - wanted) ** 2)
        designed = jax.lax.fori_loop(0, 20, lambda _, t: t - 0.3 * jax.grad(loss)(t), taps)
        filtered = jnp.fft.ifft(jnp.fft.fft(x, 45) * jnp.fft.fft(designed, 45)).real
        return jnp.abs(response), jnp.angle(response[:-1]), designed, filtered, jnp.convolve(x, designed)

    return f
