"""Parts of arrays that are read and replaced, with derivatives, against NumPy."""
import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

SHAPE = (5, 6, 7)


def part(rng, size):
    """An index of an axis: all of it, a slice with or without a step, or a number."""
    first, last = sorted(rng.choice(size + 1, 2, replace=False).tolist())
    return [slice(None), slice(first, last), slice(first, last), slice(first, last, 2), first][rng.integers(5)]


@pytest.mark.parametrize("seed", range(4))
def test_parts(seed):
    rng = np.random.default_rng(seed)
    at = [tuple(part(rng, n) for n in SHAPE[:rng.integers(1, 4)]) for _ in range(8)]
    x = rng.normal(size=SHAPE)
    values = [rng.normal(size=x[i].shape) for i in at]
    weights = rng.normal(size=SHAPE)

    def replaced(x, *values):
        return [wick.numpy.asarray(x).at[i].set(v) for i, v in zip(at, values)]

    def total(x, *values):
        return sum(wick.numpy.sum(y * weights) for y in replaced(x, *values))

    found = wick.function(replaced)(x, *values)
    slopes = wick.function(wick.grad(total, tuple(range(len(at) + 1))))(x, *values)
    of_x = np.zeros(SHAPE)
    for i, v, y, slope in zip(at, values, found, slopes[1:]):
        expected, kept = x.copy(), weights.copy()
        expected[i], kept[i] = v, 0
        of_x += kept
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_allclose(slope, weights[i], rtol=1e-12)
    np.testing.assert_allclose(slopes[0], of_x, rtol=1e-12, atol=1e-12)
