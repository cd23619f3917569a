"""Schur's form and functions of matrices, Faddeeva's function, Dawson's integral and spherical harmonics, beside SciPy."""
import pytest

np = pytest.importorskip("numpy")
special = pytest.importorskip("scipy.special")
linalg = pytest.importorskip("scipy.linalg")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402

own = wick.scipy.special
R = np.random.default_rng(5)


def matrix(n, dtype):
    a = R.normal(size=(n, n))
    return (a + 1j * R.normal(size=(n, n)) if np.dtype(dtype).kind == "c" else a).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_schur_and_functions_of_matrices(n, dtype):
    a = matrix(n, dtype)
    near = 1e-4 if dtype in ("float32", "complex64") else 1e-11
    t, z = wick.function(lambda a: wick.scipy.linalg.schur(a, output="complex"))(a)
    assert t.dtype == (np.complex64 if near == 1e-4 else np.complex128)
    assert abs(z @ t @ z.conj().T - a).max() < near and abs(z @ z.conj().T - np.eye(n)).max() < near and not abs(np.tril(t, -1)).max() > near
    found, error = wick.scipy.linalg.funm(a, lambda x: wnp.exp(x) * x, disp=False)
    wanted = linalg.expm(a.astype("complex128")) @ a
    assert abs(found - wanted).max() < near * (1 + abs(wanted).max()) and 0 < error < 1
    t, z = wick.scipy.linalg.rsf2csf(*linalg.schur(a))
    assert abs(z @ t @ z.conj().T - a).max() < near


def test_schur_of_batches_and_of_the_real_form():
    a = R.normal(size=(3, 4, 4))
    t, z = wick.scipy.linalg.schur(a, output="complex")
    assert abs(z @ t @ z.conj().swapaxes(1, 2) - a).max() < 1e-12
    with pytest.raises(wick.Unsupported, match="give output='complex'"):
        wick.scipy.linalg.schur(a)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dawson(dtype):
    x = np.concatenate([np.linspace(-12, 12, 201), [1e-30, 1e-8, 0.5, 50.3, 999, 1001, 1e20, np.inf, -np.inf]]).astype(dtype)
    found = own.dawsn(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, special.dawsn(x.astype("float64")), rtol=1e-6 if dtype == "float32" else 1e-14, atol=0)
    near = x[:201].astype("float64")
    np.testing.assert_allclose(wick.vmap(wick.grad(own.dawsn))(near), 1 - 2 * near * special.dawsn(near), atol=1e-14)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_faddeeva(dtype):
    z = (3 * R.normal(size=200) + 2j * R.normal(size=200)).astype(dtype)
    found = own.wofz(z)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, special.wofz(z.astype("complex128")), rtol=2e-5 if dtype == "complex64" else 1e-12)
    assert own.wofz(np.float32(0.5)).dtype == np.complex64


def test_spherical_harmonics():
    n, m = [np.array(p) for p in zip(*[(n, m) for n in range(7) for m in range(-n, n + 1)])]
    theta, phi = R.uniform(0, 3.1, n.size), R.uniform(0, 6.2, n.size)
    wanted = special.sph_harm_y(n, m, theta, phi)
    np.testing.assert_allclose(own.sph_harm_y(n, m, theta, phi), wanted, atol=1e-14)
    traced = wick.function(lambda n, m, t, p: own.sph_harm_y(n, m, t, p, n_max=6))
    np.testing.assert_allclose(traced(n, m, theta, phi), wanted, atol=1e-14)
    slope = wick.grad(lambda t: wnp.real(own.sph_harm_y(3, 2, t, 0.4)))(np.array(0.7))
    step = lambda t: special.sph_harm_y(3, 2, t, 0.4).real
    assert abs(slope - (step(0.7 + 1e-5) - step(0.7 - 1e-5)) / 2e-5) < 1e-9
    with pytest.raises(wick.InvalidArgument, match="n_max must be a number"):
        wick.function(lambda n: own.sph_harm_y(n, 1, 0.3, 0.2))(n)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_special_matrices(n):
    own, a = wick.scipy.linalg, np.arange(1, n + 2) * np.array([1.5, -2.0, 3.0, 0.5, 4.0, 5.0, -6.0])[:n + 1]
    rows = [(own.fiedler(a), linalg.fiedler(a)), (own.invhilbert(n), linalg.invhilbert(n))]
    rows += [(own.invpascal(n, kind), linalg.invpascal(n, kind)) for kind in ("symmetric", "lower", "upper")]
    if n > 1:
        rows += [(own.fiedler_companion(a), linalg.fiedler_companion(a)), (own.leslie(a, a[:-1]), linalg.leslie(a, a[:-1]))]
    for found, wanted in rows:
        np.testing.assert_allclose(found, wanted, rtol=1e-7)
