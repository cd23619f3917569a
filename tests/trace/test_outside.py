"""Functions of wick.numpy and transformations outside of traced functions, where the contents of arrays are known."""
import functools

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402

X, Y = np.array([3, 1, 0, 2, 0, 1]), np.float32([1, 2, 0, -1])


def given(*arrays):
    return [wnp.asarray(a) for a in arrays]


#: Functions whose results have sizes that depend on contents: NumPy's function of the same arguments is the oracle.
SIZED = {
    "nonzero": (X,), "where": (X > 0,), "argwhere": (X,), "flatnonzero": (X,), "unique": (X,), "bincount": (X,), "repeat": (Y, np.array([1, 0, 2, 1])),
    "compress": (Y > 0, Y), "extract": (Y > 0, Y), "setdiff1d": (X, np.array([1])), "union1d": (X, np.array([7])), "intersect1d": (X, np.array([1, 9])),
    "setxor1d": (X, np.array([1, 9])), "trim_zeros": (X,), "split": (Y, np.array([1, 3])), "array_split": (Y, np.array([2])),
}


@pytest.mark.parametrize("name", SIZED)
def test_sizes_follow_from_contents(name):
    found, wanted = getattr(wnp, name)(*given(*SIZED[name])), getattr(np, name)(*SIZED[name])
    found, wanted = wick.tree.leaves(found), wick.tree.leaves(wanted)
    assert len(found) == len(wanted)
    for f, w in zip(found, wanted):
        assert np.array_equal(f, w) and f.dtype == w.dtype


def test_sets_and_segments():
    values, at, inverse, counts = wnp.unique_all(wnp.asarray(X))
    assert values.tolist() == [0, 1, 2, 3] and at.tolist() == [2, 1, 3, 0] and counts.tolist() == [2, 2, 1, 1]
    assert np.array_equal(values[inverse], X)
    assert wnp.unique(wnp.asarray(X), return_counts=True)[1].tolist() == [2, 2, 1, 1]
    assert wnp.bincount(wnp.asarray(X[:4]), weights=wnp.asarray(Y)).dtype == np.float32
    assert wick.ops.segment_sum(wnp.asarray(Y), wnp.asarray(X[:4])).tolist() == [0, 2, -1, 1]
    known = wick.function(lambda y: y[wnp.nonzero(X)[0][:2]])  # in a trace, too, where nothing is traced
    assert known(Y).tolist() == [1, 2]
    with pytest.raises(wick.Unsupported, match="give size="):
        wick.function(lambda x: wnp.unique(x))(X)


def test_types_of_operators():
    """Operators of results give the types that they give in traced functions, where NumPy has f64."""
    a, b, x, h = given(np.uint8([1, 2]), np.int32([3, 4]), np.float32([0.5, 2]), np.float16([1, 2]))
    for f in (lambda: a * 2.5, lambda: b / 2, lambda: x * np.float64(2), lambda: x * b, lambda: b ** 0.5, lambda: np.sqrt(b), lambda: wnp.arange(3) / 3, lambda: b.mean(),
              lambda: b.std()):
        assert f().dtype == np.float32
    assert (h * b).dtype == np.float16 and (b * 1j).dtype == np.complex64
    assert (x * np.ones(2)).dtype == np.float64  # an array of f64 stays one
    assert isinstance(x * 2, wick.Array) and isinstance(wnp.sum(x), wnp.ndarray) and not isinstance(np.ones(2), wick.Array)
    assert x.ptp() == 1.5 and len(x.devices()) == 1


def test_names_of_functions_are_no_words_of_the_language():
    for name in ("vmap", "grad", "mod", "checkpoint", "with_vjp", "f32"):
        f = lambda x: wick.vmap(lambda v: wick.grad(lambda w: (w % 0.75) * w)(v))(x)
        f.__name__ = name
        assert np.allclose(wick.function(f)(np.float32([0.5, 1])), [1, 1.25])
    assert wick.vmap(wnp.linalg.norm)(np.float32([[3, 4], [6, 8]])).tolist() == [5, 10]


def test_functions_as_arguments():
    @functools.partial(wick.custom_vjp, nondiff_argnums=(0,))
    def apply(f, x):
        return f(x)

    apply.defvjp(lambda f, x: (f(x), x), lambda f, x, g: (10 * g,))
    assert apply(wnp.square, 3.0) == 9 and wick.grad(lambda x: apply(wnp.square, x))(3.0) == 10
    found = wick.scipy.optimize.minimize(lambda x: wnp.sum((x - 2) ** 2), np.zeros(2, np.float32), method="BFGS")
    assert np.allclose(found.x, 2, atol=1e-3)


def test_updates_where_a_mask_is_true():
    m = Y > 0
    f = wick.function(lambda x, m: (x.at[m].set(0.0), x.at[m].add(1), x.at[m].max(1.5), x.at[m, ...].mul(2)))
    for found, wanted in zip(f(Y, m), ([0, 0, 0, -1], [2, 3, 0, -1], [1.5, 2, 0, -1], [2, 4, 0, -1])):
        assert found.tolist() == wanted
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    g = wick.function(lambda x, m: (x.at[m].set(x[0] * 0 + 7), x.at[:, m[:2]].add(1)))
    assert g(rows, np.array([True, False, True]))[0].tolist() == [[7, 7], [2, 3], [7, 7]]
    assert g(rows, np.array([True, False, True]))[1].tolist() == [[1, 1], [3, 3], [5, 5]]
    with pytest.raises(wick.Unsupported, match="mask"):
        wick.function(lambda x, m: x.at[m].set(x))(Y, m)
    assert wick.grad(lambda x: wick.function(lambda x: x.at[x > 0].mul(3))(x).sum())(Y).tolist() == [3, 3, 1, 1]


def test_elements_that_an_index_has_twice():
    at = np.array([0, 0, 2, 9])
    f = wick.function(lambda x, at: (x.at[at].apply(lambda v: 2 * v), x.at[at].power(2)))
    assert f(np.float32([3, 3, 3]), at)[0].tolist() == [12, 3, 6] and f(np.float32([3, 3, 3]), at)[1].tolist() == [81, 3, 9]
    assert wnp.asarray(np.float32([3, 3])).at[np.array([1, 1])].power(2).tolist() == [3, 81]


def test_arrays_of_64_bits_in_loops():
    """What NumPy makes is f64, what wick.numpy makes f32: loops and branches take both."""
    total, rows = wick.lax.scan(lambda c, x: (c + x, c), wnp.zeros(()), np.arange(3.0))
    assert total == 3 and rows.dtype == np.float64
    assert wick.lax.fori_loop(0, 3, lambda i, c: c + np.ones(2), wnp.zeros(2)).tolist() == [3, 3]
    assert wick.function(lambda p, x: wick.cond(p, lambda: x, lambda: wnp.zeros(2)))(True, np.ones(2)).dtype == np.float64
    with pytest.raises(wick.TypeMismatch, match="carried value"):
        wick.lax.scan(lambda c, x: (c + 1.5, x), np.int32(0), np.arange(3))


def test_what_is_out_of_bounds():
    x = np.ones((2, 3), np.float32)
    for f, text in ((lambda x: wick.lax.slice(x, (0, 0), (3, 3)), "slice"), (lambda x: wnp.diag(x[None]), "diag"), (lambda x: wnp.pad(x, ((1, 1),) * 3), "pad")):
        with pytest.raises(wick.WickError, match=f"test_outside.py.*{text}"):
            wick.function(f)(x)


def test_other_orders():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(wick.lax.reshape(x, (3, 2), (1, 0)), x.T)
    assert wnp.sort_complex(wnp.asarray(np.float32([2, 1]))).tolist() == [1, 2]
