"""wick.numpy under tracing against NumPy: a row for each function, with the arguments that it is called with."""
import zlib

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402

FLOATS, WHOLE = (np.float32, np.float64), (np.int8, np.int32, np.int64, np.uint8, np.uint32)
SHAPES = ((), (5,), (3, 4), (2, 3, 4))


def values(rng, shape, dtype, low=-3.0, high=3.0):
    dtype = np.dtype(dtype)
    if dtype == bool:
        return np.asarray(rng.integers(0, 2, shape).astype(bool))
    if dtype.kind == "f":
        return np.asarray(rng.uniform(low, high, shape).astype(dtype))
    return np.asarray(rng.integers(max(low, 0) if dtype.kind == "u" else low, high + 1, shape).astype(dtype))


def agree(found, expected, dtype=True, tolerance=1.0):
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for f, e in zip(found, expected):
            agree(f, e, dtype, tolerance)
        return
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    if dtype:
        assert found.dtype == expected.dtype, (found.dtype, expected.dtype)
    if expected.dtype.kind == "f":
        small = {np.float16: 2e-3, np.float32: 2e-6}.get(found.dtype.type, 1e-13) * tolerance
        np.testing.assert_allclose(found, expected, rtol=small, atol=small)
    else:
        np.testing.assert_array_equal(found, expected)


def run(calls, *arrays):
    """All calls in one traced function."""
    return wick.function(lambda *xs: [f(*xs) for f in calls])(*arrays)


# ---- functions of elements ----

#: name: (lowest and highest argument, types)
UNARY = {
    "abs": (-3, 3, FLOATS + WHOLE), "acos": (-1, 1, FLOATS), "acosh": (1, 9, FLOATS), "asin": (-1, 1, FLOATS), "asinh": (-9, 9, FLOATS),
    "atan": (-9, 9, FLOATS), "atanh": (-0.9, 0.9, FLOATS), "bitwise_invert": (-9, 9, WHOLE + (bool,)), "ceil": (-9, 9, FLOATS + WHOLE),
    "cos": (-9, 9, FLOATS), "cosh": (-3, 3, FLOATS), "exp": (-3, 3, FLOATS), "expm1": (-3, 3, FLOATS), "floor": (-9, 9, FLOATS + WHOLE),
    "isfinite": (-3, 3, FLOATS + WHOLE), "isinf": (-3, 3, FLOATS + WHOLE), "isnan": (-3, 3, FLOATS + WHOLE), "log": (0.1, 9, FLOATS),
    "log1p": (-0.9, 9, FLOATS), "log2": (0.1, 9, FLOATS), "log10": (0.1, 9, FLOATS), "logical_not": (-1, 1, FLOATS + WHOLE + (bool,)),
    "negative": (-3, 3, FLOATS + WHOLE), "positive": (-3, 3, FLOATS + WHOLE), "reciprocal": (0.1, 3, FLOATS), "round": (-9, 9, FLOATS + WHOLE),
    "sign": (-2, 2, FLOATS + WHOLE), "signbit": (-3, 3, FLOATS), "sin": (-9, 9, FLOATS), "sinh": (-3, 3, FLOATS), "square": (-3, 3, FLOATS + WHOLE),
    "sqrt": (0, 9, FLOATS), "tan": (-1, 1, FLOATS), "tanh": (-3, 3, FLOATS), "trunc": (-9, 9, FLOATS + WHOLE), "exp2": (-3, 3, FLOATS),
    "cbrt": (-9, 9, FLOATS), "sinc": (-3, 3, FLOATS), "deg2rad": (-9, 9, FLOATS), "rad2deg": (-9, 9, FLOATS), "nan_to_num": (-3, 3, FLOATS),
    "spacing": (0.1, 3, FLOATS), "modf": (-9, 9, FLOATS),
}
NUMBERS = FLOATS + WHOLE
BINARY = {
    "add": NUMBERS, "subtract": NUMBERS, "multiply": NUMBERS, "divide": FLOATS, "remainder": FLOATS, "floor_divide": FLOATS, "atan2": FLOATS,
    "maximum": NUMBERS, "minimum": NUMBERS, "equal": NUMBERS + (bool,), "not_equal": NUMBERS + (bool,), "less": NUMBERS, "less_equal": NUMBERS,
    "greater": NUMBERS, "greater_equal": NUMBERS, "logical_and": NUMBERS + (bool,), "logical_or": NUMBERS + (bool,),
    "logical_xor": NUMBERS + (bool,), "bitwise_and": WHOLE + (bool,), "bitwise_or": WHOLE + (bool,), "bitwise_xor": WHOLE + (bool,),
    "copysign": FLOATS, "hypot": FLOATS, "logaddexp": FLOATS, "logaddexp2": FLOATS, "nextafter": FLOATS, "fmod": FLOATS, "fmax": NUMBERS,
    "fmin": NUMBERS, "heaviside": FLOATS,
}
BROADCAST = (((), ()), ((4,), ()), ((3, 1), (4,)), ((2, 3, 4), (3, 4)), ((2, 1, 4), (1, 3, 1)))


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_an_element(name):
    low, high, kinds = UNARY[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    arrays = [values(rng, shape, kind, low, high) for kind in kinds for shape in SHAPES]
    found = wick.function(lambda *xs: [getattr(wnp, name)(x) for x in xs])(*arrays)
    for x, f in zip(arrays, found):
        agree(f, getattr(np, name)(x), tolerance=4)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_elements(name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    pairs = [(values(rng, a, kind), values(rng, b, kind)) for kind in BINARY[name] for a, b in BROADCAST]
    found = wick.function(lambda pairs: [getattr(wnp, name)(x, y) for x, y in pairs])(pairs)
    for (x, y), f in zip(pairs, found):
        agree(f, getattr(np, name)(x, y), tolerance=8)


@pytest.mark.parametrize("name", ("floor_divide", "remainder", "fmod", "gcd", "lcm"))
def test_whole_quotients(name):
    rng = np.random.default_rng(3)
    pairs = [(values(rng, (40,), k, -18, 18), np.where((y := values(rng, (40,), k, -7, 7)) == 0, 3, y).astype(k)) for k in WHOLE]
    found = wick.function(lambda pairs: [getattr(wnp, name)(x, y) for x, y in pairs])(pairs)
    for (x, y), f in zip(pairs, found):
        agree(f, getattr(np, name)(x, y))


@pytest.mark.parametrize("name", ("bitwise_left_shift", "bitwise_right_shift"))
def test_shifts(name):
    rng = np.random.default_rng(3)
    for kind in WHOLE:
        x, y = values(rng, (20,), kind, 0, 100), values(rng, (20,), kind, 0, 6)
        agree(run([getattr(wnp, name)], x, y)[0], getattr(np, name)(x, y))


def test_powers():
    x = np.float32([-2, -0.5, 0, 0.3, 1, 2.5])
    out = wick.function(lambda x: [x ** n for n in range(-3, 10)] + [wnp.abs(x) ** 2.5, 2.0 ** x, x.astype(wnp.int32) ** 3])(x)
    with np.errstate(divide="ignore"):
        expected = [x ** np.float32(n) for n in range(-3, 10)] + [np.abs(x) ** np.float32(2.5), np.float32(2) ** x, x.astype(np.int32) ** 3]
    agree(out, expected, tolerance=10)


def test_special_values_of_functions():
    special = np.float32([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3.5])
    x, y = map(np.ravel, np.meshgrid(special, special))
    names = "atan2 hypot logaddexp copysign maximum minimum fmax fmin nextafter".split()
    found = wick.function(lambda x, y: [getattr(wnp, n)(x, y) for n in names])(x, y)
    with np.errstate(all="ignore"):
        for n, f in zip(names, found):
            e = getattr(np, n)(x, y)
            np.testing.assert_allclose(f, e, rtol=3e-6, err_msg=n)
            good = ~np.isnan(e) & (e != 0 if "max" in n or "min" in n else True)  # which zero is larger is not said
            np.testing.assert_array_equal(np.signbit(f[good]), np.signbit(e[good]), err_msg=n)


# ---- everything else: calls with their arguments ----

r = np.random.default_rng(7)
V, M, T = r.normal(size=6).astype("f"), r.normal(size=(3, 4)).astype("f"), r.normal(size=(2, 3, 4)).astype("f")
W, N = r.integers(-5, 6, (3, 4)), np.array([3, 1, 2, 1, 0])
B = r.integers(0, 2, (3, 4)).astype(bool)
G = np.where(r.uniform(size=(3, 4)) < 0.3, np.nan, M).astype("f")
S = (lambda a: (a @ a.T + 4 * np.eye(4)).astype("f"))(r.normal(size=(4, 4)))
SORTED = np.sort(V)

#: name: expressions of x (wick.numpy or NumPy) and the arrays above
CALLS = {
    "reshape": ["x.reshape(T, (4, 6))", "x.reshape(T, -1)", "x.reshape(T, (2, -1))"],
    "permute_dims": ["x.permute_dims(T, (2, 0, 1))"], "transpose": ["x.transpose(T)", "x.transpose(T, (1, 0, 2))"],
    "matrix_transpose": ["x.matrix_transpose(T)"], "swapaxes": ["x.swapaxes(T, 0, -1)"], "moveaxis": ["x.moveaxis(T, 0, -1)", "x.moveaxis(T, (0, 1), (2, 0))"],
    "concat": ["x.concat((M, M), axis=0)", "x.concat((M, M), axis=-1)", "x.concat((M, V), axis=None)"], "concatenate": ["x.concatenate([T, T], 1)"],
    "stack": ["x.stack((M, M))", "x.stack((M, M), axis=-1)"], "vstack": ["x.vstack((V, V))"], "hstack": ["x.hstack((V, V))", "x.hstack((M, M))"],
    "dstack": ["x.dstack((M, M))"], "column_stack": ["x.column_stack((V, V))"], "expand_dims": ["x.expand_dims(M, axis=1)", "x.expand_dims(M, axis=(0, -1))"],
    "squeeze": ["x.squeeze(M[None, :, None], axis=0)", "x.squeeze(M[None, :, None])"], "broadcast_to": ["x.broadcast_to(V, (2, 6))"],
    "broadcast_arrays": ["x.broadcast_arrays(V[:, None], V)"], "flip": ["x.flip(T)", "x.flip(T, axis=1)", "x.flip(T, axis=(0, 2))"],
    "fliplr": ["x.fliplr(M)"], "flipud": ["x.flipud(M)"], "rot90": ["x.rot90(M)", "x.rot90(M, 2)", "x.rot90(M, -1)"],
    "roll": ["x.roll(M, 2)", "x.roll(M, -1, axis=1)", "x.roll(M, (1, 2), axis=(0, 1))"], "repeat": ["x.repeat(M, 2)", "x.repeat(M, 3, axis=1)", "x.repeat(V, np.arange(6))"],
    "tile": ["x.tile(M, 2)", "x.tile(M, (2, 1, 3))"], "unstack": ["x.unstack(M)", "x.unstack(M, axis=1)"], "split": ["x.split(V, 3)", "x.split(M, [1, 3], axis=1)"],
    "array_split": ["x.array_split(V, 4)"], "hsplit": ["x.hsplit(M, 2)"], "vsplit": ["x.vsplit(M, 3)"],
    "pad": ["x.pad(M, 1)", "x.pad(M, ((1, 2), (0, 3)), constant_values=5)", "x.pad(M, 2, mode='reflect')", "x.pad(M, 2, mode='edge')",
            "x.pad(M, ((1, 2), (2, 1)), mode='wrap')", "x.pad(M, 2, mode='symmetric')", "x.pad(V, (1, 2), constant_values=(3, 4))", "x.pad(B, 1)"],
    "append": ["x.append(V, V)", "x.append(M, M, axis=1)"], "delete": ["x.delete(V, 2)", "x.delete(M, [0, 2], axis=1)"], "insert": ["x.insert(V, 2, 5)"],
    "diag": ["x.diag(V)", "x.diag(V, 1)", "x.diag(V, -2)", "x.diag(M)", "x.diag(M, 1)"], "diagonal": ["x.diagonal(T)", "x.diagonal(T, 1, 1, 2)", "x.diagonal(T, -1, 2, 0)"],
    "diagflat": ["x.diagflat(V[:3])"], "take": ["x.take(M, N[:3], axis=1)", "x.take(M, N)", "x.take(V, 2)", "x.take(M, N - 3, axis=0, mode='wrap')"],
    "take_along_axis": ["x.take_along_axis(M, W % 3, axis=0)", "x.take_along_axis(M, W % 4, axis=1)"], "choose": ["x.choose(W % 3, [M, M + 1, M + 2])"],
    "resize": ["x.resize(V, (4, 3))"], "ravel": ["x.ravel(T)"], "rollaxis": ["x.rollaxis(T, 2)"], "tril": ["x.tril(M)", "x.tril(T, k=1)", "x.tril(W, k=-1)"],
    "triu": ["x.triu(M)", "x.triu(T, k=-1)"], "meshgrid": ["x.meshgrid(V, V[:3])", "x.meshgrid(V, V[:3], indexing='ij')"], "atleast_1d": ["x.atleast_1d(V[0])"],
    "atleast_2d": ["x.atleast_2d(V)"], "atleast_3d": ["x.atleast_3d(M)"],
    "sum": ["x.sum(T)", "x.sum(T, axis=1)", "x.sum(T, axis=(0, -1), keepdims=True)", "x.sum(W)", "x.sum(B)", "x.sum(W.astype(np.int8))", "x.sum(M, initial=2.0)"],
    "prod": ["x.prod(M)", "x.prod(W, axis=0)"], "max": ["x.max(T)", "x.max(T, axis=1, keepdims=True)", "x.max(W, axis=(0, 1))"], "min": ["x.min(T, axis=-1)"],
    "mean": ["x.mean(T)", "x.mean(T, axis=(0, 2))"], "var": ["x.var(T)", "x.var(M, axis=0, ddof=1)", "x.var(M, axis=1, keepdims=True)"], "std": ["x.std(T, axis=1)"],
    "all": ["x.all(B)", "x.all(B, axis=1)", "x.all(W, axis=0, keepdims=True)"], "any": ["x.any(B)", "x.any(B, axis=1)"],
    "count_nonzero": ["x.count_nonzero(W)", "x.count_nonzero(W, axis=1)"], "cumulative_sum": ["x.cumulative_sum(V)", "x.cumulative_sum(T, axis=1, include_initial=True)"],
    "cumulative_prod": ["x.cumulative_prod(V)"], "cumsum": ["x.cumsum(M)", "x.cumsum(W, axis=1)"], "cumprod": ["x.cumprod(M, axis=0)"],
    "diff": ["x.diff(M)", "x.diff(M, n=2, axis=1)", "x.diff(V, prepend=1.0, append=2.0)"], "gradient": ["x.gradient(V)", "x.gradient(M, axis=0)", "x.gradient(V, 0.5)"],
    "trapezoid": ["x.trapezoid(V)", "x.trapezoid(M, SORTED[:4])", "x.trapezoid(M, dx=0.5, axis=0)"], "average": ["x.average(M, axis=0)", "x.average(M, axis=1, weights=np.abs(V[:4]))"],
    "ptp": ["x.ptp(M, axis=1)"], "nansum": ["x.nansum(G, axis=0)"], "nanprod": ["x.nanprod(G)"], "nanmax": ["x.nanmax(G, axis=1)"], "nanmin": ["x.nanmin(G)"],
    "nanmean": ["x.nanmean(G)"], "nanvar": ["x.nanvar(G)"], "nanstd": ["x.nanstd(G)"], "cov": ["x.cov(M)", "x.cov(M, rowvar=False)"], "corrcoef": ["x.corrcoef(M)"],
    "argmax": ["x.argmax(T)", "x.argmax(T, axis=1)", "x.argmax(W, axis=0, keepdims=True)", "x.argmax(B, axis=1)"], "argmin": ["x.argmin(T)", "x.argmin(T, axis=-1)"],
    "sort": ["x.sort(T)", "x.sort(W, axis=0)", "x.sort(T, axis=None)"], "argsort": ["x.argsort(M)", "x.argsort(W, axis=1, stable=True)"],
    "lexsort": ["x.lexsort((N, N % 2))"], "searchsorted": ["x.searchsorted(SORTED, M)", "x.searchsorted(SORTED, SORTED, side='right')", "x.searchsorted(np.sort(N), N, side='right')"],
    "digitize": ["x.digitize(M, SORTED)"], "isin": ["x.isin(W, N)", "x.isin(W, N, invert=True)"], "histogram": ["x.histogram(M, 5)", "x.histogram(M, 4, range=(-1.0, 1.0), density=True)"],
    "quantile": ["x.quantile(M, 0.3)", "x.quantile(T, np.float32([0.1, 0.7]), axis=1)", "x.quantile(M, 0.5, axis=0, keepdims=True)", "x.quantile(M, 0.4, method='lower')"],
    "percentile": ["x.percentile(M, 30.0, axis=1)"], "median": ["x.median(M)", "x.median(T, axis=1)", "x.median(V)"],
    "interp": ["x.interp(M, SORTED, V)", "x.interp(M, SORTED, V, left=-5.0, right=7.0)"],
    "matmul": ["x.matmul(M, M.T)", "x.matmul(T, M.T)", "x.matmul(V, V)", "x.matmul(M, V[:4])", "x.matmul(W, W.T)"], "dot": ["x.dot(M, M.T)", "x.dot(V, V)", "x.dot(M, T.swapaxes(1, 2))"],
    "vdot": ["x.vdot(M, M)"], "vecdot": ["x.vecdot(M, M)", "x.vecdot(T, M, axis=-1)"], "inner": ["x.inner(M, T)"], "outer": ["x.outer(V, M)"],
    "kron": ["x.kron(M, S)", "x.kron(V, M)"], "cross": ["x.cross(M.T, M.T)", "x.cross(M, M[:, ::-1], axis=0)"], "tensordot": ["x.tensordot(T, T, axes=((0, 1), (0, 1)))", "x.tensordot(T, M.T, axes=1)", "x.tensordot(V, V, axes=0)"],
    "einsum": ["x.einsum('ij,kj->ik', M, M)", "x.einsum('bij,kj->bik', T, M)", "x.einsum('ii->i', S)", "x.einsum('ij->', M)", "x.einsum('i,j->ij', V, V)",
               "x.einsum('...ij,kj->...ik', T, M)", "x.einsum('ij,jk,kl', M, M.T, M)", "x.einsum('bij,bij->b', T, T)", "x.einsum('ij,ij->ij', M, M)", "x.einsum('bij->jb', T)",
               "x.einsum('ii', S)", "x.einsum('...i,i->...', T, V[:4])"],
    "polyval": ["x.polyval(V, M)"], "vander": ["x.vander(V)", "x.vander(V, 3, increasing=True)"], "convolve": ["x.convolve(V, V[:3])", "x.convolve(V, V[:3], 'same')", "x.convolve(V, V[:4], 'same')", "x.convolve(V, V[:3], 'valid')"],
    "correlate": ["x.correlate(V, V[:3])", "x.correlate(V, V[:3], 'full')"], "clip": ["x.clip(M, -0.5, 0.5)", "x.clip(W, 0, 3)", "x.clip(M, None, M.T.reshape(3, 4))"],
    "where": ["x.where(B, M, 2 * M)", "x.where(B, W, 0)", "x.where(B, M, 0.0)"], "select": ["x.select([M > 1, M > 0], [M, 2 * M], 5.0)"], "ldexp": ["x.ldexp(M, W.astype(np.int32))"],
    "astype": ["x.astype(M, np.int32)", "x.astype(W, np.float64)", "x.astype(M, bool)", "x.astype(B, np.float32)"],
    "full_like": ["x.full_like(M, 3)", "x.full_like(W, 2, dtype=np.float32)"], "zeros_like": ["x.zeros_like(T)"], "ones_like": ["x.ones_like(W)"],
    "linalg": ["x.linalg.cholesky(S)", "x.linalg.cholesky(S, upper=True)", "x.linalg.solve(S, V[:4])", "x.linalg.solve(S, M.T)", "x.linalg.inv(S)", "x.linalg.det(S)", "x.linalg.slogdet(-S)",
               "x.linalg.matrix_power(S, 3)", "x.linalg.matrix_power(S, -2)", "x.linalg.vector_norm(M, axis=1)", "x.linalg.vector_norm(T, ord=1)", "x.linalg.vector_norm(T, axis=(0, 2), ord=np.inf)",
               "x.linalg.matrix_norm(T)", "x.linalg.matrix_norm(M, ord=1)", "x.linalg.matrix_norm(T, ord=np.inf, keepdims=True)", "x.linalg.norm(M)", "x.linalg.norm(M, axis=0)",
               "x.linalg.trace(T[:, :, :3])", "x.linalg.diagonal(T, offset=1)", "x.linalg.eigvalsh(S)", "x.linalg.svdvals(M)", "x.linalg.pinv(M)", "x.linalg.outer(V, V)",
               "x.linalg.vecdot(M, M)", "x.linalg.matmul(M, M.T)", "x.linalg.tensordot(M, M.T, axes=1)", "x.linalg.cross(M.T, M.T)", "x.linalg.matrix_rank(S)", "x.linalg.cond(S)"],
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    given = dict(V=V, M=M, T=T, W=W, N=N, B=B, G=G, S=S, SORTED=SORTED)
    calls = [compile(text, text, "eval") for text in CALLS[name]]
    found = wick.function(lambda given: [eval(c, {"x": wnp, "np": np, **given}) for c in calls])(given)
    for text, c, f in zip(CALLS[name], calls, found):
        with np.errstate(all="ignore"):
            expected = eval(c, {"x": np, "np": np, **given})
        whole_floats = name in ("median", "quantile", "percentile", "interp", "histogram", "linalg", "cov", "corrcoef", "trapezoid", "average", "gradient", "diff", "vander")
        agree(f, expected, dtype=not whole_floats, tolerance=60)


def test_functions_without_a_twin():
    """Functions that NumPy lacks, or has with other arguments."""
    x = np.float32([3, 1, 2, 2, 5])
    out = wick.function(lambda x: dict(
        cummax=wnp.cummax(x), cummin=wnp.cummin(x), nonzero=wnp.nonzero(x > 1.5, size=6), unique=wnp.unique_all(x, size=4), counts=wnp.bincount(x.astype(int), length=7),
        down=wnp.sort(x, descending=True), order=wnp.argsort(x, descending=True), eigh=wnp.linalg.eigh(wnp.diag(x)), qr=wnp.linalg.qr(wnp.vander(x, 3)),
        svd=wnp.linalg.svd(wnp.vander(x, 3), full_matrices=False), expm=wnp.linalg.expm(wnp.outer(x, x) / 50), triangle=wnp.linalg.solve_triangular(wnp.tril(wnp.outer(x, x) + wnp.eye(5)), x, lower=True)))(x)
    assert out["cummax"].tolist() == [3, 3, 3, 3, 5] and out["cummin"].tolist() == [3, 1, 1, 1, 1]
    assert out["nonzero"][0].tolist() == [0, 2, 3, 4, 0, 0]
    values, at, inverse, counts = out["unique"]
    assert values.tolist() == [1, 2, 3, 5] and at.tolist() == [1, 2, 0, 4] and inverse.tolist() == [2, 0, 1, 1, 3] and counts.tolist() == [1, 2, 1, 1]
    assert out["counts"].tolist() == [0, 1, 2, 1, 0, 1, 0]
    assert out["down"].tolist() == [5, 3, 2, 2, 1] and out["order"].tolist() == [4, 0, 2, 3, 1]
    np.testing.assert_allclose(out["eigh"][0], np.sort(x), rtol=1e-6)
    q, rr = out["qr"]
    np.testing.assert_allclose(q @ rr, np.vander(x, 3), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(q.T @ q, np.eye(3), atol=1e-5)
    u, s, vh = out["svd"]
    np.testing.assert_allclose(u * s @ vh, np.vander(x, 3), rtol=1e-4, atol=1e-4)
    scipy_linalg = pytest.importorskip("scipy.linalg")
    np.testing.assert_allclose(out["expm"], scipy_linalg.expm(np.outer(x, x) / 50), rtol=1e-5)
    np.testing.assert_allclose(out["triangle"], np.linalg.solve(np.tril(np.outer(x, x) + np.eye(5)), x), rtol=1e-4)


def test_creation():
    rows = ["zeros((2, 3))", "ones(3, dtype=np.int32)", "full((2,), 7)", "full((2, 2), 1.5)", "eye(3)", "eye(2, 3, k=1)", "eye(2, k=5)", "arange(5)", "arange(2, 9, 3)", "arange(5, 0, -2)",
            "arange(0.0, 1.0, 0.25)", "linspace(0, 1, 5)", "linspace(-1.0, 1.0, 4, endpoint=False)", "tri(3)", "asarray([[1, 2], [3, 4]])", "asarray([1.5, 2])", "asarray(True)",
            "identity(3)", "indices((2, 3))", "logspace(0, 2, 3)", "geomspace(1, 8, 4)", "zeros(0)", "tril_indices(3)", "triu_indices(3, 1)"]
    for inside in (True, False):
        both = (lambda: [eval(f"wnp.{text}") for text in rows])
        found = wick.function(both)() if inside else both()
        for text, f in zip(rows, found):
            e = eval(f"np.{text}")
            e = tuple(e) if isinstance(e, tuple) else e.astype(np.float32) if e.dtype == np.float64 else e
            agree(f, e)


# ---- promotion ----

KINDS = "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64".split()
TYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32, np.float64]


def test_promotion_table():
    """NumPy's table within a kind; of a whole number and a float the float; i64 and u64 have no common type."""
    for a in TYPES:
        for b in TYPES:
            pair = {np.dtype(a).kind, np.dtype(b).kind}
            if pair == {"i", "u"} and np.uint64 in (a, b):
                with pytest.raises(wick.TypeMismatch, match="no common type"):
                    wnp.result_type(a, b)
                continue
            e = np.result_type(a, b) if len(pair - {"i", "u", "b"}) != 1 or pair == {"f"} or "b" in pair else max([np.dtype(a), np.dtype(b)], key=lambda d: d.kind == "f")
            assert wnp.result_type(a, b) == e, (a, b)
    arrays = [np.ones(2, t) for t in TYPES]
    out = wick.function(lambda xs: [[x + y for y in xs if {x.dtype.kind, y.dtype.kind} != {"i", "u"} or "uint64" not in (x.dtype.name, y.dtype.name)] for x in xs])(arrays)
    for x, row in zip(arrays, out):
        others = [y for y in arrays if {x.dtype.kind, y.dtype.kind} != {"i", "u"} or np.uint64 not in (x.dtype, y.dtype)]
        for y, f in zip(others, row):
            assert f.dtype == wnp.result_type(x, y), (x.dtype, y.dtype)


def test_numbers_of_python_are_weak():
    for t in TYPES[1:]:
        x = np.ones(2, t)
        a, b, c, d = wick.function(lambda x: (x + 1, 2 * x, x * 1.5, x + True))(x)
        assert a.dtype == b.dtype == d.dtype == t
        assert c.dtype == (t if np.dtype(t).kind == "f" else np.float32)
    out = wick.function(lambda x: (x + 1, np.sqrt(2.0) * x, x / 3, wnp.pi * x, 1 - x))(np.float16([1, 2]))
    assert {o.dtype for o in out} == {np.dtype(np.float16)}
    assert [o.dtype for o in wick.function(lambda i: (i / 2, i // 2, i * 2.0, wnp.mean(i), wnp.sin(i)))(np.arange(3))] == [np.float32, np.int64] + [np.float32] * 3
    assert wick.function(lambda a, x: a * x)(2.0, np.ones(2, np.float16)).dtype == np.float16


# ---- indices ----


def random_index(rng, shape):
    items, fancy = [], rng.integers(0, 2)
    for n in shape:
        kind = rng.integers(0, 5 if fancy else 4)
        if kind == 0:
            items.append(int(rng.integers(-n, n)))
        elif kind == 1:
            items.append(slice(None))
        elif kind == 2:
            ends = [None if rng.integers(0, 3) == 0 else int(rng.integers(-n - 1, n + 2)) for _ in range(2)]
            items.append(slice(*ends, [None, 1, 2, -1, -2][rng.integers(0, 5)]))
        elif kind == 3:
            items += [None, slice(None)] if rng.integers(0, 2) else [slice(None)]
        else:
            items.append(rng.integers(-n, n, [(2,), (3, 2), (1,), ()][rng.integers(0, 3)] if fancy else (2,)))
    if rng.integers(0, 3) == 0 and items:
        cut = rng.integers(0, len(items))
        if not any(i is None for i in items):
            items = items[:cut] + [Ellipsis] + items[cut + 1:]
    return tuple(items)


def valid(x, index):
    try:
        x[index]
        return True
    except IndexError:
        return False


@pytest.mark.parametrize("traced", (False, True))
def test_random_indices(traced):
    """Static indices, and the same with arrays and numbers that are traced; and updates at them."""
    rng = np.random.default_rng(11 + traced)
    cases = []
    while len(cases) < 60:
        x = rng.normal(size=[(5,), (4, 3), (3, 4, 2)][rng.integers(0, 3)]).astype("f")
        index = random_index(rng, x.shape)
        if valid(x, index):
            cases.append((x, index))
    moving = [[i for i in index if traced and isinstance(i, (int, np.ndarray))] for _, index in cases]

    def f(xs, moving):
        out = []
        for x, (_, index), given in zip(xs, cases, moving):
            given = iter(given)
            index = tuple([next(given) if traced and isinstance(i, (int, np.ndarray)) else i for i in index])
            part = x[index]
            out.append((part, x.at[index].set(2 * part + 1), x.at[index].add(1.0), x.at[index].multiply(2.0), x.at[index].max(0.5)))
        return out

    for (x, index), (part, put, add, mul, most) in zip(cases, wick.function(f)([x for x, _ in cases], moving)):
        np.testing.assert_array_equal(part, x[index], err_msg=str(index))
        e = x.copy()
        e[index] = 2 * x[index] + 1
        np.testing.assert_array_equal(put, e, err_msg=str(index))
        for found, op, value in ((add, np.add, 1), (mul, np.multiply, 2), (most, np.maximum, 0.5)):
            e = x.copy()
            op.at(e, index, np.float32(value))
            np.testing.assert_allclose(found, e, rtol=1e-6, err_msg=str(index))


def test_indices_outside_and_masks():
    x = np.arange(5, dtype=np.float32)
    get = wick.function(lambda x, i: (x[i], x.at[i].set(9.0), x[wnp.stack([i, i])], x.at[wnp.stack([i])].set(9.0, mode="drop")))
    for i, read, put in ((7, 4, x), (-9, 0, x), (-1, 4, [0, 1, 2, 3, 9]), (2, 2, [0, 1, 9, 3, 4])):
        a, b, c, d = get(x, i)
        assert a == read and b.tolist() == list(put) and c.tolist() == [read, read] and d.tolist() == list(put)
    with pytest.raises(wick.OutOfRange, match="index"):
        wick.function(lambda x, i: x.at[wnp.stack([i])].set(1.0, mode="promise_in_bounds"))(x, 7)
    rows = wick.function(lambda x, i: (x.at[i].set(wnp.arange(4.0)), x.at[i].add(1.0), x.at[i].get(mode="fill"), wnp.take(x, i)))
    put, added, got, taken = rows(x, np.array([4, 9, 0, -7]))
    assert put.tolist() == [2, 1, 2, 3, 0] and added.tolist() == [1, 1, 2, 3, 5]
    assert got[0] == taken[0] == 4 and np.isnan(got[[1, 3]]).all() and np.isnan(taken[[1, 3]]).all()
    assert rows(x, np.array([5, 6, 7, 8]))[0].tolist() == x.tolist()
    mask = np.array([True, False, True, False, True])
    assert wick.function(lambda x: x[mask])(x).tolist() == [0, 2, 4]
    assert wick.function(lambda x: (x[True, 1:], x[2:, np.array(True)]))(x)[1].tolist() == [[2], [3], [4]]
    with pytest.raises(wick.Unsupported, match="it selects nothing"):
        wick.function(lambda x: x[False])(x)
    with pytest.raises(wick.Unsupported, match="wick.numpy.where"):
        wick.function(lambda x: x[x > 1])(x)
    with pytest.raises(wick.OutOfRange, match="index 5 is out of bounds for a dimension of size 5"):
        wick.function(lambda x: x[5])(x)
    with pytest.raises(wick.Unsupported, match="dynamic_slice"):
        wick.function(lambda x, i: x[i:])(x, 2)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_unique_slices(axis):
    x = np.random.default_rng(3).integers(0, 2, (9, 2, 2)).astype(np.float32)
    want = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    n = want[0].shape[axis]
    found = wick.function(lambda x: wnp.unique(x, True, True, True, axis, size=n))(x)
    for f, w in zip(found, want):
        assert np.array_equal(f, w.reshape(f.shape))
    filled = wick.function(lambda x: wnp.unique(x, axis=axis, size=n + 1, fill_value=-1))(x)
    assert (np.take(filled, n, axis) == -1).all() and np.array_equal(np.delete(filled, n, axis), want[0])
    assert np.array_equal(wnp.unique(x, axis=axis), want[0])


def test_unique_numbers_that_are_none():
    x = np.float32([np.nan, 1, np.nan, 2, 1])
    values, counts = wick.function(lambda x: wnp.unique(x, return_counts=True, size=4, fill_value=-1))(x)
    np.testing.assert_array_equal(values, [1, 2, np.nan, -1])
    assert counts.tolist() == [2, 1, 2, 0]
    apart = wick.function(lambda x: (wnp.unique(x, size=4, equal_nan=False), wnp.unique_values(x, size=4)))(x)
    np.testing.assert_array_equal(apart, [[1, 2, np.nan, np.nan]] * 2)


def test_positions_of_a_mask():
    x = np.arange(16, dtype=np.float32).reshape(4, 4) % 5
    found = wick.function(lambda x: wnp.mask_indices(4, wnp.triu, 1) + wnp.mask_indices(4, lambda m, k: m * (x > 2), size=3))(x)
    for f, w in zip(found, np.mask_indices(4, np.triu, 1) + tuple(p[:3] for p in np.nonzero(x > 2))):
        assert np.array_equal(f, w)


# ---- methods and operators ----


def test_methods_and_operators():
    x, y = M, np.abs(M) + 1
    f = lambda x, y: [x + y, 1 + x, x - y, 1 - x, x * y, x / y, 1 / y, x // y, x % y, y ** 2, 2 ** y, -x, +x, abs(x), x @ y.T, x < y, x <= y, x > 0, x >= 0, x == y, x != y,
                      x.sum(axis=0), x.mean(), x.max(axis=1), x.min(), x.prod(), x.std(), x.var(axis=0), x.reshape(4, 3), x.reshape((2, 6)), x.T, x.transpose(1, 0), x.flatten(), x.ravel(),
                      x.astype(int), x.argmax(axis=1), x.argmin(), x.cumsum(axis=0), x.clip(-1, 1), x.dot(y.T), x.squeeze(), x.swapaxes(0, 1), x.take(np.array([1, 2]), axis=1), x.repeat(2, axis=0),
                      x.round(), (x > 0).any(), (x > 0).all(axis=0), ~(x > 0), (x > 0) & (y > 1), (x > 0) | (y > 2), (x > 0) ^ (y > 2), x.diagonal(), x.trace(), x.mT if hasattr(x, "mT") else x.T, divmod(x, y)[1]]
    found = wick.function(f)(x, y)
    for a, b in zip(found, f(x, y)):
        agree(a, b, dtype=False, tolerance=8)
    i = W
    g = lambda i: [i << 2, i >> 1, i & 3, i | 4, i ^ 5, ~i, 3 & i, 1 << (i & 3), -i, i // 3, i % 3, i * i]
    for a, b in zip(wick.function(g)(i), g(i)):
        agree(a, b)
    rows = wick.function(lambda x: (len(x), [row * 2 for row in x], x.shape, x.ndim, x.size))(x)
    assert rows[0] == 3 and rows[2] == (3, 4) and rows[3] == 2 and rows[4] == 12
    np.testing.assert_array_equal(rows[1][2], x[2] * 2)


def test_functions_of_numpy_on_traced_arrays():
    """NumPy's functions find wick.numpy's."""
    f = lambda x: [np.sin(x), np.ones(4, np.float32) * x, np.maximum(x, 0), np.sum(x, axis=0), np.concatenate([x, x]), np.linalg.norm(x), np.float32(2) * x, np.arange(4) + x]
    for a, b in zip(wick.function(f)(M), f(M)):
        agree(a, b, dtype=False, tolerance=4)


def test_every_name_is_tested():
    """Each function of the array API standard is in a table above, or named here."""
    standard = ("asarray arange empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros zeros_like astype can_cast finfo iinfo isdtype result_type "
                "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal "
                "exp expm1 floor floor_divide greater greater_equal hypot isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum "
                "multiply negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh square sqrt subtract tan tanh trunc take take_along_axis matmul matrix_transpose tensordot vecdot "
                "broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin count_nonzero nonzero searchsorted where unique_all unique_counts "
                "unique_inverse unique_values argsort sort cumulative_prod cumulative_sum max mean min prod std sum var all any diff").split()
    missing = [name for name in standard if not hasattr(wnp, name)]
    assert not missing
    extension = "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm".split()
    assert not [name for name in extension if not hasattr(wnp.linalg, name)]


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float32", "float64"])
def test_floor_divide_at_the_limits(dtype):
    """The least whole numbers, whose difference with a remainder is none; infinite divisors; the sign of zero."""
    whole = np.dtype(dtype).kind != "f"
    least = np.iinfo(dtype).min if whole else 0
    numbers = [least, np.iinfo(dtype).max, 1, 2, 3, 7] + [-1, -2, -5] * (least < 0) if whole else \
        [np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 3.5, 1e4, -1e-7, 1e-7, 0.1, -0.1]
    x, y = [t.ravel() for t in np.meshgrid(*[np.array(numbers, dtype)] * 2)]
    if whole:
        kept = (y != 0) & ~((x == least) & (y == np.array(-1).astype(dtype)) & (least < 0))
        x, y = x[kept], y[kept]
    with np.errstate(all="ignore"):
        want = x // y
    found = wick.function(wnp.floor_divide)(x, y)
    np.testing.assert_array_equal(found, want)
    kept = ~np.isnan(want)
    assert np.array_equal(np.signbit(found[kept]), np.signbit(want[kept]))


@pytest.mark.parametrize("elem", ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"])
def test_division_by_powers_of_two(elem):
    """They are shifts and masks, of negative numbers, too."""
    limits = np.iinfo(elem)
    x = np.array([limits.min, limits.min + 1, limits.max, 0, 1, 3, 64, 100], elem)
    x = np.concatenate([x, -x])
    f = wick.function(lambda x: [(x // y, x % y, *divmod(x, y)) for y in (1, 2, 4, 64)])
    text = f.lower(x).text
    assert "op.div" not in text and "op.mod" not in text
    for y, found in zip((1, 2, 4, 64), f(x)):
        for a, b in zip(found, (x // y, x % y) * 2):
            assert a.dtype == b.dtype and np.array_equal(a, b)


WEAK = {
    "set": lambda n, x: x.at[0].set(0.1), "add": lambda n, x: x.at[1:].add(0.1), "multiply": lambda n, x: x.at[np.array([0, 1])].multiply(0.1),
    "stack": lambda n, x: n.stack([x[0], 0.1]), "append": lambda n, x: n.append(x, 0.1), "array": lambda n, x: n.array([x[0], 0.1]),
    "put": lambda n, x: n.put(x, n.array([1]), 0.1, inplace=False), "linspace": lambda n, x: n.linspace(x[0], 0.1, 5),
    "where": lambda n, x: n.where(x > 0.5, x, 0.1), "full_like": lambda n, x: n.full_like(x, 0.1),
}


@pytest.mark.parametrize("name", WEAK)
def test_numbers_of_python_keep_their_digits(name):
    """In arrays of f64 they are no f32 that were converted."""
    x = np.array([0.3, 0.7, 0.2, 0.9])
    f = wick.function(lambda x: WEAK[name](wnp, x))
    assert ": f32" not in f.lower(x).text
    found = f(x)
    assert found.dtype == np.float64 and (name in ("add", "multiply") or 0.1 in found)
