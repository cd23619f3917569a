"""Factorizations of wick.numpy.linalg beside NumPy: sizes, matrices without full rank, batches and derivatives."""
import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402

linalg = wnp.linalg


def some(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


def close(found, wanted, atol=1e-9):
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=atol)


def orthonormal(q):
    close(q.T @ q, np.eye(q.shape[1]))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_square(n):
    a = some(n, n)
    values, vectors = linalg.eigh(a + a.T)
    close(values, np.linalg.eigvalsh(a + a.T)), close(vectors * values @ vectors.T, a + a.T), orthonormal(vectors)
    u, s, vh = linalg.svd(a)
    close(s, np.linalg.svd(a)[1]), close(u * s @ vh, a), orthonormal(u), orthonormal(vh.T)
    for found, wanted in zip(linalg.qr(a), np.linalg.qr(a)):
        close(found, wanted)
    close(linalg.cholesky(a @ a.T + np.eye(n)), np.linalg.cholesky(a @ a.T + np.eye(n)))
    close(linalg.det(a), np.linalg.det(a)), close(linalg.inv(a), np.linalg.inv(a))


def test_more_rows_than_columns():
    a = some(5, 3)
    for mode in ("reduced", "complete"):
        for found, wanted in zip(linalg.qr(a, mode=mode), np.linalg.qr(a, mode=mode)):
            close(found, wanted)
    u, s, vh = linalg.svd(a)
    assert u.shape == (5, 5)
    orthonormal(u), close(u[:, :3] * s @ vh, a)
    u, s, vh = linalg.svd(a.T)
    assert vh.shape == (5, 5)
    orthonormal(vh.T), close(u * s @ vh[:3], a.T)
    packed, taus = linalg.geqrf(a)
    close(linalg.householder_product(packed, taus), np.linalg.qr(a)[0])
    close(linalg.householder_product(packed, taus[:2])[:, :2], np.linalg.qr(a)[0][:, :2])


def test_symmetric_matrices_by_one_half():
    rng = np.random.default_rng(5)
    a, b, w = rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=(4, 4))
    a = a @ a.T + np.eye(4)
    lower, upper = a + np.triu(w, 1), a + np.tril(w, -1)  # the other half is not read
    l = np.linalg.cholesky(a)
    close(wick.scipy.linalg.cholesky(lower, lower=True), l), close(wick.scipy.linalg.cholesky(upper), l.T)
    close(wick.lax.linalg.cholesky(lower, symmetrize_input=False), l)
    close(wick.scipy.linalg.cho_solve(wick.scipy.linalg.cho_factor(upper), b), np.linalg.solve(a, b))
    close(wick.scipy.linalg.solve(lower, b, lower=True, assume_a="pos"), np.linalg.solve(a, b))
    values, vectors = linalg.eigh(lower, UPLO="L", symmetrize_input=False)
    close(values, np.linalg.eigvalsh(a)), close(vectors * values @ np.swapaxes(vectors, 0, 1), a)

    # derivatives are those of JAX: by all elements, and right for symmetric changes
    slope = wick.grad(lambda a: wnp.sum(wick.scipy.linalg.cholesky(a, lower=True) * w))(a)
    half = lambda x: np.tril(x, -1) + np.diag(np.diag(x) / 2)
    close(slope, np.linalg.solve(l.T, half(l.T @ np.tril(w))) @ np.linalg.inv(l))
    slope = wick.grad(lambda a: wnp.sum(wick.scipy.linalg.solve(a, b, assume_a="pos") * w[:, :2]))(a)
    close(slope, -np.linalg.solve(a, w[:, :2]) @ np.linalg.solve(a, b).T)


def test_without_full_rank():
    ones, few = np.ones((6, 6)), np.zeros((4, 3))
    few[:, 0] = 1
    for a in (few, 0 * few, ones):
        u, s, vh = linalg.svd(a, full_matrices=False)
        orthonormal(u), close(u * s @ vh, a)
    values, vectors = linalg.eigh(ones)
    orthonormal(vectors), close(vectors * values @ vectors.T, ones)
    assert linalg.matrix_rank(ones) == 1
    close(linalg.pinv(ones), ones / 36)
    hilbert = 1 / (np.arange(8)[:, None] + np.arange(8) + 1)
    np.testing.assert_allclose(linalg.svdvals(hilbert), np.linalg.svd(hilbert)[1], rtol=1e-5)
    assert np.isnan(linalg.eigvalsh(np.full((3, 3), np.nan))).all()


def test_batches():
    a = some(4, 5, 3)
    u, s, vh = linalg.svd(a, full_matrices=False)
    close(np.einsum("bij,bj,bjk->bik", u, s, vh), a)
    packed, taus = linalg.geqrf(a)
    close(linalg.householder_product(packed, taus), np.linalg.qr(a)[0])


LOSSES = {
    "eigh": lambda a: sum([wnp.sum(x ** 4) for x in linalg.eigh(a + a.T)]),
    "qr": lambda a: sum([wnp.sum(wnp.sin(x)) for x in linalg.qr(a)]),
    "complete qr": lambda a: sum([wnp.sum(wnp.sin(x)) for x in linalg.qr(a[:, :2], mode="complete")]),
    "svd": lambda a: sum([wnp.sum(x ** 4) for x in linalg.svd(a[:, :3], full_matrices=False)]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives(name):
    """Of first and second order, in both modes, beside differences."""
    f, a, t, h = LOSSES[name], some(4, 4) + np.eye(4), some(4, 4) / 3, 1e-5
    slope = wick.function(wick.grad(f))
    jvp = wick.function(lambda a: wick.jvp(f, (a,), (t,))[1])(a)
    value = wick.function(f)
    np.testing.assert_allclose((slope(a) * t).sum(), jvp, rtol=1e-9)
    np.testing.assert_allclose(jvp, (value(a + h * t) - value(a - h * t)) / (2 * h), rtol=1e-5)
    second = wick.function(lambda a: wick.jvp(wick.grad(f), (a,), (t,))[1])(a)
    wanted = (slope(a + h * t) - slope(a - h * t)) / (2 * h)
    np.testing.assert_allclose(second, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


# ---- matrices that are not symmetric ----


def by_size(w):
    return w[np.lexsort((np.round(w.imag, 3), np.round(np.abs(w), 3)))]


MATRICES = {
    "numbers": np.random.default_rng(3).normal(size=(6, 6)), "one row": np.float64([[2]]), "rotation": np.float64([[0, 1], [-1, 0]]), "zeros": np.zeros((3, 3)),
    "cycle": np.roll(np.eye(5), 1, 0), "triangle": np.triu(np.arange(16.0).reshape(4, 4) + 1), "shared values": np.float64([[3, 1, 0], [0, 3, 0], [0, 0, 1]]),
    "complex": np.random.default_rng(4).normal(size=(4, 4)) + 1j * np.random.default_rng(5).normal(size=(4, 4)),
}


@pytest.mark.parametrize("name", MATRICES)
def test_eigenvalues_of_matrices_that_are_not_symmetric(name):
    a = MATRICES[name]
    found = wick.numpy.linalg.eigvals(a)
    np.testing.assert_allclose(by_size(found), by_size(np.linalg.eigvals(a).astype(complex)), atol=1e-7)
    w, v = wick.numpy.linalg.eig(a)
    np.testing.assert_allclose(a @ v, v * w, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1)


def test_eigenvalues_of_many_matrices_and_their_derivatives():
    a = np.random.default_rng(6).normal(size=(2, 3, 4, 4))
    found = wick.numpy.linalg.eigvals(a)
    for at in np.ndindex(2, 3):
        np.testing.assert_allclose(by_size(found[at]), by_size(np.linalg.eigvals(a[at]).astype(complex)), atol=1e-9)
    radius = lambda a: wnp.max(wnp.abs(wnp.linalg.eigvals(a)))
    slope, h = wick.grad(radius)(a[0, 0]), 1e-6
    for at in ((0, 0), (1, 2), (3, 1)):
        step = np.zeros((4, 4))
        step[at] = h
        rise = (np.abs(np.linalg.eigvals(a[0, 0] + step)).max() - np.abs(np.linalg.eigvals(a[0, 0] - step)).max()) / (2 * h)
        np.testing.assert_allclose(slope[at], rise, rtol=1e-5)


def test_roots_of_polynomials():
    for p in ([1, -6, 11, -6], [2, 0, 8], [0, 0, 1, -3, 2, 0], [5], [1, 2, 3, 4, 5]):
        np.testing.assert_allclose(by_size(wnp.roots(np.float64(p))), by_size(np.roots(np.float64(p)).astype(complex)), atol=1e-9)
    traced = wick.function(lambda p: wnp.roots(p, strip_zeros=False))(np.float64([1, 2, 3, 4]))
    np.testing.assert_allclose(by_size(traced), by_size(np.roots([1, 2, 3, 4])), atol=1e-9)
