"""Complex numbers in traced functions and outside of them, and Fourier transforms, against NumPy; derivatives as JAX has them."""
import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402
from wick import lax  # noqa: E402

R = np.random.default_rng(3)
A, B, C, S = [(R.normal(size=s) + 1j * R.normal(size=s)).astype(np.complex64) for s in ((3, 4), (3, 4), (4, 3), (4, 4))]
X = np.abs(R.normal(size=(3, 4))).astype(np.float32)


def close(found, wanted, tolerance=2e-4):
    wanted = np.asarray(wanted)
    assert np.shape(found) == wanted.shape
    assert (np.asarray(found).dtype.kind == "c") == (wanted.dtype.kind == "c")
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * max(1, np.abs(wanted).max(initial=0)))


ROWS = {
    "sums": lambda n, a, b, c, s, x: [a + b, a - b, -a, +a, a + 1, 1 - a, x + 2j, x - a, a - x, n.add(x, a), np.ones(4, np.float32) + a],
    "products": lambda n, a, b, c, s, x: [a * b, a * 2.5, 1j * x, x * a, a * x, np.ones(4, np.complex64) * a, n.square(a), n.multiply(a, x), np.pi * a],
    "quotients": lambda n, a, b, c, s, x: [a / b, x / a, a / x, 1 / a, n.reciprocal(a), 2j / x, (a * 1e-30) / (b * 1e-30), (a * 1e30) / (b * 1e30)],
    "powers": lambda n, a, b, c, s, x: [a ** 2, a ** -1, a ** 0, a ** 5, a ** 0.5, a ** b, 2.0 ** a, x ** a, (a * 0) ** 2.5, n.power(a, 3)],
    "parts": lambda n, a, b, c, s, x: [a.real, a.imag, a.conj(), abs(a), n.abs(a * 1e30), n.abs(a * 0), n.angle(a), n.angle(a, deg=True), n.conj(x), n.imag(x), n.angle(-x)],
    "functions": lambda n, a, b, c, s, x: [getattr(n, f)(a) for f in "exp log sqrt sin cos tan sinh cosh tanh log10 log2 exp2 log1p expm1 sign".split()],
    "branches of the root": lambda n, a, b, c, s, x: [n.sqrt(x * (-1 + 0j)), n.sqrt(-x - 0.1j), n.sqrt(a * 0), n.log(-x + 0j), n.tanh(30 * a.real + 1j * a.imag)],
    "matrices": lambda n, a, b, c, s, x: [a @ c, n.dot(a, c), n.vdot(a, b), n.tensordot(a, c, 1), n.outer(a, b), n.inner(a, b), n.kron(a, b), a @ x.T, x @ c,
                                          n.vecdot(a, b), n.convolve(a[0], b[1])],
    "einsum": lambda n, a, b, c, s, x: [n.einsum("ij,ij->i", a, b), n.einsum("ij,jk->ki", a, c), n.einsum("ij,ij,ij->", a, b, x), n.einsum("ij,jk,kl,l->i", a, c, a, b[0])],
    "linear algebra": lambda n, a, b, c, s, x: [n.linalg.norm(a), n.linalg.norm(a, axis=1), n.linalg.solve(s, c), n.linalg.solve(s, x[0]), n.linalg.inv(s),
                                                n.linalg.matrix_power(s, 3), n.linalg.vector_norm(a, axis=0)],
    "norms of matrices": lambda n, a, b, c, s, x: [n.linalg.norm(a, ord=o) for o in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)] + [
        n.linalg.norm(n.stack([a, b]), ord=2, axis=(1, 2)), n.linalg.norm(n.stack([a, b]), ord="nuc", axis=(0, 2), keepdims=True), n.linalg.norm(c, ord=1, axis=(1, 0))],
    "singular values": lambda n, a, b, c, s, x: [n.linalg.svdvals(a), n.linalg.svdvals(c), n.linalg.svdvals(n.stack([s, s.T * 2])), n.linalg.cond(s), n.linalg.matrix_rank(a),
                                                 n.linalg.matrix_rank(n.outer(a[0], b[0]))],
    "reductions": lambda n, a, b, c, s, x: [a.sum(), a.mean(0), n.sum(a, axis=1, keepdims=True), a.prod(), n.prod(a, axis=1), n.cumsum(a, 1), n.cumprod(a, 1), a.var(),
                                            a.std(0), n.trace(s), n.var(a, ddof=1), n.count_nonzero(a)],
    "moves": lambda n, a, b, c, s, x: [a.T, a.reshape(-1), n.stack([a, b]), n.concatenate([a, x], axis=1), n.roll(a, 1, 0), n.flip(a, 1), n.tile(a, (2, 1)),
                                       n.repeat(a, 2, axis=0), n.pad(a, 1), n.pad(a, 1, constant_values=2), n.moveaxis(a, 0, 1), a[None], n.diag(s), n.triu(s), n.diff(a),
                                       *n.split(a, 2, axis=1), n.broadcast_to(a[0], (2, 4)), n.append(a, x, axis=0), n.hstack([a, b]), *[r for r in a]],
    "indices": lambda n, a, b, c, s, x: [a[0], a[:, 1:3], a[..., -1], a[::-1], a[np.array([2, 0])], a[1, 2], n.take(a, np.array([1, 3]), axis=1),
                                         n.take_along_axis(a, np.array([[1], [0], [2]]), axis=1)],
    "choices": lambda n, a, b, c, s, x: [n.where(x > 0.5, a, b), n.where(x > 0.5, a, 0), n.where(x > 0.5, x, a), n.select([x > 1, x > 0.5], [a, b], 0)],
    "comparisons": lambda n, a, b, c, s, x: [a == b, a == a, a != b, n.isnan(a / 0), n.isfinite(a), n.isinf(a), n.iscomplex(a + x), n.isreal(a.real + 0j), n.allclose(a, a),
                                             n.isclose(a, b), n.array_equal(a, a), n.array_equal(a, b)],
    "creation": lambda n, a, b, c, s, x: [n.zeros((2, 2), dtype=n.complex64), n.ones(3, n.complex64), n.zeros_like(a), n.ones_like(a), n.full_like(a, 2j),
                                          n.eye(3, dtype=n.complex64), x.astype(n.complex64), n.asarray(x, dtype=n.complex64), n.full((2,), np.complex64(1 + 2j))],
    "orders": lambda n, a, b, c, s, x: [n.sort(a), n.sort(a, axis=0), n.sort(a, axis=None), n.argsort(a), n.sort(a.real + 1j * x)],
    "numbers of one row": lambda n, a, b, c, s, x: [n.exp(-2j * np.pi * np.float32(0.25) * x), n.exp(1j * x) * a, a * np.complex64(2 + 1j)],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore")
def test_functions(name):
    row = ROWS[name]
    wanted = row(np, A, B, C, S, X)
    found = wick.function(lambda *arrays: row(wnp, *arrays))(A, B, C, S, X)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted):
        close(f, w)


def test_updates():
    made = wick.function(lambda a, i: [a.at[0].set(1j), a.at[1, i].add(2 + 1j), a.at[:, 0].multiply(2j), a.at[0].subtract(a[1]), a.at[5].get(mode="fill", fill_value=3j)])(A, 2)
    wanted = [A.copy() for _ in range(4)]
    wanted[0][0] = 1j
    wanted[1][1, 2] += 2 + 1j
    wanted[2][:, 0] *= 2j
    wanted[3][0] -= A[1]
    for f, w in zip(made, wanted + [np.full(4, 3j, np.complex64)]):
        close(f, w)
    close(wnp.fft.fft(X[0]).at[0].set(1j)[0], np.complex64(1j))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 12, 16, 17, 31, 37, 48, 60, 64, 67, 97, 128, 131, 210, 256, 1000, 1009, 1024])
def test_transforms(n):
    x = R.normal(size=(3, n)).astype(np.float32)
    z = (x + 1j * R.normal(size=(3, n))).astype(np.complex64)

    def f(m, x, z):
        return [m.fft.fft(x), m.fft.fft(z), m.fft.ifft(z), m.fft.rfft(x), m.fft.irfft(z, n), m.fft.fft(x, norm="ortho", axis=0), m.fft.ifft(z, 10, norm="forward"),
                m.fft.hfft(z, n), m.fft.ihfft(x), *([m.fft.irfft(m.fft.rfft(x))] if n > 1 else [])]

    for found, wanted in zip(wick.function(lambda x, z: f(wnp, x, z))(x, z), f(np, x, z)):
        close(found, wanted, 2e-5)


def test_transforms_of_several_axes():
    x = R.normal(size=(4, 6, 8)).astype(np.float32)

    def f(m, x):
        return [m.fft.fftn(x), m.fft.fft2(x), m.fft.ifft2(x), m.fft.rfftn(x), m.fft.rfft2(x), m.fft.irfft2(m.fft.rfft2(x)), m.fft.irfftn(m.fft.rfftn(x)),
                m.fft.fftn(x, axes=(0, 1)), m.fft.fftn(x, (4, 4), axes=(0, 2)), m.fft.irfft2(m.fft.rfft2(x), s=(6, 7)), m.fft.ifftshift(m.fft.fftshift(m.fft.fft(x))), m.fft.ifftn(x + 1j)]

    for found, wanted in zip(wick.function(lambda x: f(wnp, x))(x), f(np, x)):
        close(found, wanted, 2e-5)
    close(lax.fft(x, "RFFT", (6, 8)), np.fft.rfft2(x), 2e-5)


def test_loops_and_branches_carry_them():
    def f(z, zs, m):
        last, rows = lax.scan(lambda c, x: (c * 0.5 + x, c), z, zs)
        grown, count = lax.while_loop(lambda c: wnp.abs(c[0]).max() < 10, lambda c: (c[0] * (1.1 + 0.2j), c[1] + 1), (z, 0))
        turned = lax.fori_loop(0, 5, lambda i, c: c @ m * 0.3 + i, z)
        chosen = lax.cond(z.real.sum() > 100, lambda a: a * 2, lambda a: a * 1j, z)
        return (last, rows, grown, count, turned, chosen, wick.vmap(lambda a, b: wnp.vdot(a, b))(zs, zs[::-1]),
                wick.vmap(lambda a: a * z, in_axes=1, out_axes=1)(zs.T), lax.associative_scan(lambda l, r: l * r, zs))

    z, zs, m = A[0], B, S
    last, rows = z, []
    for x in zs:
        rows.append(last)
        last = last * 0.5 + x
    grown, count, turned = z, 0, z
    while np.abs(grown).max() < 10:
        grown, count = grown * (1.1 + 0.2j), count + 1
    for i in range(5):
        turned = turned @ m * 0.3 + i
    wanted = (last, np.stack(rows), grown, count, turned, z * 1j, np.sum(zs.conj() * zs[::-1], axis=1), np.stack([row * z for row in zs], axis=1), np.cumprod(zs, axis=0))
    for f_, w in zip(wick.function(f)(z, zs, m), wanted):
        close(f_, w)


def test_derivatives():
    z, m, x = A[0], S, X[0]
    close(wick.grad(lambda z: wnp.sum(wnp.abs(m @ z) ** 2))(z), 2 * ((m @ z).conj() @ m))  # the conjugate of the steepest direction, as in JAX
    close(wick.grad(lambda z: wnp.sum(z ** 3), holomorphic=True)(z), 3 * z ** 2)
    value, gradient = wick.value_and_grad(lambda z: wnp.sum(wnp.sin(z)), holomorphic=True)(z)
    close(value, np.sin(z).sum()), close(gradient, np.cos(z))
    close(wick.function(lambda z: wick.vjp(lambda z: wnp.exp(z) * z, z)[1](z))(z)[0], z * (np.exp(z) * z + np.exp(z)))
    close(wick.jvp(lambda z: wnp.exp(z) * z, (z,), (1j * z,))[1], 1j * z * (np.exp(z) * z + np.exp(z)))
    weights = np.arange(4, dtype=np.float32)
    power = lambda x: wnp.sum(wnp.abs(wnp.fft.fft(x)) ** 2 * weights)
    matrix = np.fft.fft(np.eye(4))
    close(wick.grad(power)(x), 2 * np.real(matrix.conj().T @ (weights * (matrix @ x))))
    close(wick.hessian(power)(x), 2 * np.real(matrix.conj().T @ np.diag(weights) @ matrix))
    assert wick.grad(lambda z: abs(z))(0j) == 0

    @wick.custom_vjp
    def double(z):
        return z * 2
    double.defvjp(lambda z: (double(z), None), lambda _, g: (g * 3j,))
    close(wick.function(lambda z: wick.vjp(double, z)[1](z))(z)[0], 3j * z)


def test_structures():
    assert len(wick.tree.leaves({"a": A, "b": X})) == 2
    close(wick.tree.map(lambda a: a * a, [A])[0], A * A)
    assert wick.tree.structure([1j]) == wick.tree.structure([1.0])
    flat, back = wick.flatten_util.ravel_pytree({"a": A})
    close(back(flat)["a"], A)
    shape = wick.eval_shape(lambda z: z * 2j, wick.ShapeDtype((3,), wnp.complex64))
    assert shape.shape == (3,) and shape.dtype == np.complex64
    program = wick.function(lambda z, x: z * x).lower(wick.ShapeDtype((3,), np.complex64), wick.ShapeDtype((3,))).compile()
    close(program(A[0, :3], X[0, :3]), A[0, :3] * X[0, :3])


def test_types():
    assert wnp.result_type(A, X) == np.complex64 and wnp.result_type(np.float64, np.complex64) == np.complex128
    assert wnp.result_type(X, 1j) == np.complex64 and wnp.promote_types(wnp.int32, complex) == np.complex64
    assert wnp.isdtype(A.dtype, "complex floating") and not wnp.isdtype(A.dtype, "real floating") and wnp.isdtype(A.dtype, np.complex64)
    assert wnp.issubdtype(A.dtype, wnp.complexfloating) and not wnp.issubdtype(X.dtype, wnp.complexfloating)
    assert wnp.iscomplexobj(A) and wnp.isrealobj(X) and wnp.finfo(wnp.complex64).eps == np.finfo(np.float32).eps
    assert wnp.can_cast(wnp.float32, wnp.complex64) and not wnp.can_cast(wnp.complex64, wnp.float32)
    assert wick.function(lambda z: z * 2)(A.astype(np.complex128)).dtype == np.complex128


def test_polynomials_correlations_and_truth():
    z = A.copy()
    z[0, 0] = 0
    v, w = z[1], z[2, :3]
    for n in (lambda n, v, w, z: [n.correlate(v, w, m) for m in ("full", "same", "valid")] + [n.correlate(w, v, "full"), n.polyadd(v, w), n.polysub(w, v), n.polymul(v, w)],
              lambda n, v, w, z: [n.polyval(v, z), n.polyval(v.real, z), n.polyval(v[:1], z), n.polyder(v), n.polyint(v)],
              lambda n, v, w, z: [n.any(z, axis=0), n.all(z), n.logical_not(z), n.logical_and(z, z[::-1]), n.logical_or(z, z.real), n.where(z, z.real, 2)]):
        for found, want in zip(wick.function(lambda *a: n(wnp, *a))(v, w, z), n(np, v, w, z)):
            assert found.shape == np.shape(want)
            close(found, want, 1e-4)
    assert wick.function(lambda z: wnp.nonzero(z, size=2))(z)[1].tolist() == np.nonzero(z)[1][:2].tolist()


def test_what_has_no_meaning_is_refused():
    for f, words in ((lambda a, x: a > 1, "no order"), (lambda a, x: wnp.argmax(a), "argmax of complex"), (lambda a, x: wick.nn.relu(a), "complex"),
                     (lambda a, x: x.at[0].set(2j), "complex"), (lambda a, x: a.at[0].max(a), "at"), (lambda a, x: wnp.linalg.svd(a), "svd of complex"),
                     (lambda a, x: wick.grad(lambda z: z * z)(a[0, 0]), "grad needs"), (lambda a, x: wnp.fft.rfft(a), "rfft"), (lambda a, x: wnp.fft.fft(x, norm="l2"), "norm"),
                     (lambda a, x: lax.scan(lambda c, v: (c + v, None), 0.0, a[0]), "complex")):
        with pytest.raises((wick.Unsupported, wick.TypeMismatch, wick.InvalidArgument), match=rf"test_complex.py:\d+: .*{words}"):
            wick.function(f)(A, X)


def test_spectra_of_signals():
    from wick.scipy import signal
    x = R.normal(size=(2, 301)).astype(np.float32)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(32) / 32)
    wide = np.pad(x, [(0, 0), (16, 16)])
    wide = np.pad(wide, [(0, 0), (0, -(wide.shape[1] - 32) % 16)])
    frames = np.stack([wide[:, k:k + 32] for k in range(0, wide.shape[1] - 31, 16)], axis=1)
    f, t, z = wick.function(lambda x: signal.stft(x, fs=4.0, nperseg=32))(x)
    close(z, np.swapaxes(np.fft.rfft(frames * window), 1, 2) / window.sum())
    close(f, np.fft.rfftfreq(32, 0.25)), close(t, np.arange(frames.shape[1]) * 4.0)
    for overlap in (16, 24):
        times, back = wick.function(lambda x: signal.istft(signal.stft(x, nperseg=32, noverlap=overlap)[2], nperseg=32, noverlap=overlap))(x)
        close(back[:, :301], x), close(times, np.arange(back.shape[1]))
    rows = np.stack([x[:, k:k + 32] for k in range(0, 301 - 31, 16)], axis=1)
    rows = rows - rows.mean(-1, keepdims=True)
    power = np.abs(np.fft.rfft(rows * window)) ** 2 / (window ** 2).sum() * np.where(np.arange(17) % 16 == 0, 1, 2)
    close(wick.function(lambda x: signal.welch(x, nperseg=32)[1])(x), power.mean(1))
    bias = 1 + sum([1 / (2 * k + 1) - 1 / (2 * k) for k in range(1, (rows.shape[1] - 1) // 2 + 1)])
    close(wick.function(lambda x: signal.welch(x, nperseg=32, average="median")[1])(x), np.median(power, axis=1) / bias)
    close(wick.function(lambda x: signal.csd(x, x, nperseg=32)[1].real)(x), power.mean(1))
    for f in (lambda x: signal.stft(x, nperseg=32, noverlap=32), lambda x: signal.stft(x, window="kaiser"), lambda x: signal.welch(x, average="max")):
        with pytest.raises(wick.InvalidArgument):
            wick.function(f)(x)


def test_derivatives_of_norms_of_matrices():
    """JAX's gradient is the conjugate of the direction of steepest ascent: for the sum of the singular values conj(u @ vh)."""
    u, s, vh = np.linalg.svd(A, full_matrices=False)
    close(wick.grad(lambda z: wnp.linalg.norm(z, ord="nuc"))(A), np.conj(u @ vh), 1e-3)
    for order, k in ((2, 0), (-2, -1)):
        close(wick.grad(lambda z: wnp.linalg.norm(z, ord=order))(A), np.conj(np.outer(u[:, k], vh[k])), 1e-3)
    close(wick.grad(lambda z: wnp.linalg.norm(z, ord="fro"))(A), np.conj(A) / np.linalg.norm(A), 1e-4)
