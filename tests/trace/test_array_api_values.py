"""Values of the functions of the array API standard 2024.12 that move, index, search, sort, create, transform and factorize arrays,
under tracing, for random shapes and all types; NumPy 2, which follows the standard, is the oracle. (Elementwise functions and
reductions: test_numpy.py.)"""
import zlib

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402

pytestmark = pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy before 2.1 lacks names of the standard")

FLOATS, COMPLEX = ("float32", "float64"), ("complex64", "complex128")
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS, ALL = WHOLE + FLOATS, ("bool",) + WHOLE + FLOATS
ANY = ALL + COMPLEX  # for functions that only move elements
CASES = {}


class Random:
    """Shapes, types and contents of one case."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def shape(self, least=0, most=4, empty=0.1):
        rank = self.rng.integers(least, most + 1)
        return tuple([0 if self.rng.random() < empty / max(rank, 1) else int(self.rng.integers(1, 5)) for _ in range(rank)])

    def array(self, shape, types=ANY, type=None):
        kind = np.dtype(type or self.rng.choice(types))
        if kind.kind == "b":
            return self.rng.random(shape) < 0.5
        if kind.kind in "iu":  # few values, so that some are equal, and those at the ends
            info = np.iinfo(kind)
            x = self.rng.integers(max(info.min, -3), 5, shape).astype(kind)
            return np.where(self.rng.random(shape) < 0.1, self.rng.choice([info.min, info.max], shape), x).astype(kind)
        x = np.asarray(np.round(self.rng.normal(size=shape) * 4) / 2)
        return np.asarray(x + 1j * np.round(self.rng.normal(size=shape) * 4) / 2 if kind.kind == "c" else x).astype(kind)

    def axis(self, x):
        return int(self.rng.integers(-x.ndim, x.ndim))

    def axes(self, x):
        """Some of the dimensions, or None for all."""
        if self.rng.random() < 0.3:
            return None
        return tuple([int(a) - (x.ndim if self.rng.random() < 0.5 else 0) for a in self.rng.permutation(x.ndim)[:self.rng.integers(1, x.ndim + 1)]])

    def maybe(self):
        return bool(self.rng.random() < 0.5)

    def below(self, n, shape=(), least=0):
        return self.rng.integers(least, n, shape)


def case(*names):
    """Registers make(random) -> (arrays, named arguments and all else that is known) for functions."""

    def decorated(make):
        for name in names or (make.__name__.strip("_"),):
            CASES[name] = make
        return make
    return decorated


def own(name, package):
    for part in name.split("."):
        package = getattr(package, part)
    return package


# ---- moves ----


@case("concat")
def _concat(r):
    shape, n = r.shape(1), int(r.below(4, least=1))
    axis = int(r.below(len(shape)))
    kinds = {k: [k] for k in COMPLEX} | {k: [k] for k in ALL} | {"mixed": WHOLE[:7]}
    types = kinds[str(r.rng.choice(list(kinds)))]
    parts = [r.array(shape[:axis] + (int(r.below(4)),) + shape[axis + 1:], types) for _ in range(n)]
    return (parts,), {"axis": axis - len(shape) if r.maybe() else axis}


@case("stack")
def _stack(r):
    shape, kind = r.shape(0, 3), r.rng.choice(ANY)
    return ([r.array(shape, type=kind) for _ in range(r.below(4, least=1))],), {"axis": int(r.below(len(shape) + 1, least=-len(shape) - 1))}


@case("expand_dims")
def _expand_dims(r):
    x = r.array(r.shape())
    return (x,), {"axis": int(r.below(x.ndim + 1, least=-x.ndim - 1))}


@case("flip")
def _flip(r):
    x = r.array(r.shape(1))
    return (x,), {"axis": r.axes(x)}


@case("moveaxis")
def _moveaxis(r):
    x = r.array(r.shape(1))
    n = int(r.below(x.ndim + 1, least=1))
    return (x, tuple(map(int, r.rng.permutation(x.ndim)[:n])), tuple([int(a) - x.ndim for a in r.rng.permutation(x.ndim)[:n]])), {}


@case("permute_dims")
def _permute(r):
    x = r.array(r.shape())
    return (x, tuple(map(int, r.rng.permutation(x.ndim)))), {}


@case("repeat")
def _repeat(r):
    x = r.array(r.shape(1))
    axis = r.axis(x)
    count = int(r.below(4)) if r.maybe() else [int(n) for n in r.below(4, x.shape[axis])]
    return (x, count), {"axis": axis}


@case("reshape")
def _reshape(r):
    x = r.array(r.shape(empty=0))
    at = r.rng.permutation(x.ndim) if x.ndim else []
    shape = tuple([x.shape[k] for k in at]) + (1,) * int(r.below(2))
    return (x, (-1,) if r.maybe() else shape), {}


@case("roll")
def _roll(r):
    x = r.array(r.shape(1))
    axes = r.axes(x)
    return (x, int(r.below(9, least=-9)) if axes is None else tuple(map(int, r.below(9, len(axes), -9)))), {"axis": axes}


@case("squeeze")
def _squeeze(r):
    x = r.array((1,) + r.shape(0, 2) + (1, 3))
    return (x,), {"axis": [0, -2, (0, -2)][r.below(3)]}


@case("tile")
def _tile(r):
    return (r.array(r.shape(0, 3)), tuple(map(int, r.below(4, int(r.below(4)))))), {}


@case("unstack")
def _unstack(r):
    x = r.array(r.shape(1, empty=0))
    return (x,), {"axis": r.axis(x)}


@case("broadcast_to")
def _broadcast_to(r):
    shape = r.shape(1)
    return (r.array(tuple([1 if r.maybe() else n for n in shape])[int(r.below(len(shape))):]), shape), {}


@case("broadcast_arrays")
def _broadcast_arrays(r):
    shape = r.shape(1, 3)
    return tuple([r.array(tuple([1 if r.maybe() else n for n in shape])[int(r.below(len(shape))):]) for _ in range(2)]), {}


@case("tril", "triu")
def _triangle(r):
    return (r.array(r.shape(2)),), {"k": int(r.below(4, least=-4))}


@case("meshgrid")
def _meshgrid(r):
    kind = r.rng.choice(ANY)
    return tuple([r.array((int(r.below(4, least=1)),), type=kind) for _ in range(r.below(4, least=1))]), {"indexing": "ij" if r.maybe() else "xy"}


@case("matrix_transpose", "linalg.matrix_transpose")
def _matrix_transpose(r):
    return (r.array(r.shape(2)),), {}


@case("linalg.diagonal")
def _diagonal(r):
    return (r.array(r.shape(2)),), {"offset": int(r.below(4, least=-3))}


@case("linalg.trace")
def _trace(r):
    return (r.array(r.shape(2), NUMBERS),), {"offset": int(r.below(3, least=-2))}


@case("diff")
def _diff(r):
    x = r.array(r.shape(1), NUMBERS)
    axis = r.axis(x)
    more = {"prepend": np.take(x, [0], axis)} if x.shape[axis] and r.maybe() else {}
    return (x,), {"axis": axis, "n": int(r.below(4)), **more}


@case("cumulative_sum", "cumulative_prod")
def _cumulative(r):
    x = r.array(r.shape(1), NUMBERS[:-2] if r.maybe() else FLOATS)
    return (x,), {"axis": r.axis(x), "include_initial": r.maybe()}


# ---- indices, orders and sets ----


@case("take")
def _take(r):
    x = r.array(r.shape(1, empty=0))
    axis = r.axis(x)
    return (x, r.below(x.shape[axis], int(r.below(5)))), {"axis": axis}


@case("take_along_axis")
def _take_along_axis(r):
    x = r.array(r.shape(1, empty=0))
    axis = r.axis(x) % x.ndim
    return (x, r.below(x.shape[axis], x.shape[:axis] + (int(r.below(4, least=1)),) + x.shape[axis + 1:])), {"axis": axis}


@case("argmax", "argmin")
def _arg(r):
    x = r.array(r.shape(1, empty=0), NUMBERS)
    return (x,), {"axis": None if r.maybe() else r.axis(x), "keepdims": r.maybe()}


@case("count_nonzero")
def _count(r):
    x = r.array(r.shape(1), ANY)
    return (x,), {"axis": r.axes(x), "keepdims": r.maybe()}


@case("sort", "argsort")
def _sort(r):
    x = r.array(r.shape(1), ALL)
    return (x,), {"axis": r.axis(x), "stable": True}


@case("searchsorted")
def _searchsorted(r):
    kind = str(r.rng.choice(NUMBERS))
    return (np.sort(r.array((int(r.below(7, least=1)),), type=kind)), r.array(r.shape(1, 3), type=kind)), {"side": "right" if r.maybe() else "left"}


@case("where")
def _where(r):
    shape, kind = r.shape(1, 3), str(r.rng.choice(ANY))
    part = lambda types=None: r.array(tuple([1 if r.maybe() else n for n in shape])[int(r.below(len(shape))):], types or (kind,))
    return (part(("bool",)), part(), part()), {}


@case("clip")
def _clip(r):
    kind = str(r.rng.choice(NUMBERS))
    x = r.array(r.shape(), type=kind)
    return (x, None if r.maybe() else r.array((), type=kind), None if r.maybe() else r.array(x.shape, type=kind)), {}


@case("isin")
def _isin(r):
    kind = str(r.rng.choice(ALL))
    return (r.array(r.shape(), type=kind), r.array((int(r.below(4)),), type=kind)), {"invert": r.maybe()}


# ---- creation ----


@case("arange")
def _arange(r):
    a, b, step = [round(float(v), 1) if r.maybe() else int(v) for v in (r.rng.normal() * 5, r.rng.normal() * 9, r.rng.choice([-3, -1, 1, 2]))]
    kind = None if r.maybe() else str(r.rng.choice(FLOATS + ("int32", "int64")))
    if kind and kind[0] == "i":
        a, b, step = int(a), int(b), int(step)
    return (a, b, step or 1), {"dtype": kind or ("float32" if any(isinstance(v, float) for v in (a, b, step)) else "int64")}


@case("linspace")
def _linspace(r):
    return (float(r.rng.normal()), float(r.rng.normal() * 9)), {"num": int(r.below(7, least=1)), "endpoint": r.maybe(), "dtype": str(r.rng.choice(FLOATS))}


@case("eye")
def _eye(r):
    return (int(r.below(5)), int(r.below(5))), {"k": int(r.below(4, least=-3)), "dtype": str(r.rng.choice(ALL))}


@case("ones_like", "zeros_like")
def _like(r):
    return (r.array(r.shape()),), {}


@case("full_like")
def _full_like(r):
    return (r.array(r.shape()), int(r.below(2))), {}


# ---- products and factorizations ----


def _kind_of_products(r):
    return str(r.rng.choice(FLOATS + COMPLEX + ("int32", "int64", "uint8")))


@case("matmul", "linalg.matmul")
def _matmul(r):
    kind, batch, (m, k, n) = _kind_of_products(r), r.shape(0, 2, 0), r.below(5, 3, 1)
    a = (k,) if r.maybe() else (*[1 if r.maybe() else d for d in batch], m, k)
    b = (k,) if r.maybe() else (*batch, k, n)
    return (r.array(a, type=kind), r.array(b, type=kind)), {}


@case("tensordot", "linalg.tensordot")
def _tensordot(r):
    kind, n = _kind_of_products(r), int(r.below(3))
    common = tuple(r.below(4, n, 1))
    a, b = r.array(r.shape(0, 2, 0) + common, type=kind), r.array(common + r.shape(0, 2, 0), type=kind)
    if r.maybe() and n:
        return (a, b), {"axes": [list(range(a.ndim - n, a.ndim)), list(range(n))]}
    return (a, b), {"axes": n}


@case("vecdot", "linalg.vecdot")
def _vecdot(r):
    kind, shape = _kind_of_products(r), r.shape(1, 3)
    return (r.array(shape, type=kind), r.array(shape, type=kind)), {"axis": -int(r.below(len(shape) + 1, least=1))}


@case("linalg.outer")
def _outer(r):
    kind = _kind_of_products(r)
    return (r.array((int(r.below(5)),), type=kind), r.array((int(r.below(5)),), type=kind)), {}


@case("linalg.cross")
def _cross(r):
    kind, shape = str(r.rng.choice(FLOATS + ("int32",))), r.shape(0, 2)
    return (r.array(shape + (3,), type=kind), r.array(shape + (3,), type=kind)), {}


def _square(r, least=1):
    n = int(r.below(6, least=least))
    x = r.rng.normal(size=r.shape(0, 2, 0) + (n, n)) + 3 * np.eye(n)
    return x.astype(str(r.rng.choice(FLOATS)))


@case("linalg.det", "linalg.inv", "linalg.slogdet")
def _inv(r):
    return (_square(r),), {}


@case("linalg.matrix_power")
def _matrix_power(r):
    return (_square(r), int(r.below(5, least=-2))), {}


@case("linalg.cholesky", "linalg.eigvalsh")
def _positive(r):
    x = _square(r)
    return (x @ np.swapaxes(x, -1, -2) / 4,), {}


@case("linalg.solve")
def _solve(r):
    x = _square(r)
    return (x, r.rng.normal(size=x.shape[:-1] + (int(r.below(4, least=1)),)).astype(x.dtype)), {}


def _matrix(r):
    shape = r.shape(0, 1, 0) + tuple(r.below(6, 2, 1))
    return r.rng.normal(size=shape).astype(str(r.rng.choice(FLOATS)))


@case("linalg.svdvals", "linalg.pinv", "linalg.matrix_rank")
def _svdvals(r):
    return (_matrix(r),), {}


@case("linalg.matrix_norm")
def _matrix_norm(r):
    return (_matrix(r),), {"ord": [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf][r.below(9)] or "fro", "keepdims": r.maybe()}


@case("linalg.vector_norm")
def _vector_norm(r):
    x = r.array(r.shape(1, 3, 0), FLOATS + COMPLEX)
    return (x,), {"axis": r.axes(x), "ord": [1, 2, 3, 0, np.inf, -np.inf, 0.5][r.below(7)], "keepdims": r.maybe()}


# ---- transforms ----


def _lengths(r, x, axes):
    return None if r.maybe() else tuple([int(r.below(7, least=1)) for _ in range(x.ndim if axes is None else len(axes))])


@case("fft.fft", "fft.ifft", "fft.hfft", "fft.irfft")
def _fft(r):
    x = r.array(r.shape(1, 3, 0), COMPLEX)
    axis = r.axis(x)
    n = None if r.maybe() and x.shape[axis] > 1 else int(r.below(8, least=1))
    return (x,), {"n": n, "axis": axis, "norm": str(r.rng.choice(["forward", "ortho", "backward"]))}


@case("fft.rfft", "fft.ihfft")
def _rfft(r):
    x = r.array(r.shape(1, 3, 0), FLOATS)
    return (x,), {"n": None if r.maybe() else int(r.below(8, least=1)), "axis": r.axis(x), "norm": str(r.rng.choice(["forward", "ortho", "backward"]))}


@case("fft.fftn", "fft.ifftn")
def _fftn(r):
    x = r.array(r.shape(1, 3, 0), COMPLEX)
    axes = r.axes(x) or tuple(range(x.ndim))
    return (x,), {"axes": axes, "s": _lengths(r, x, axes)}


@case("fft.rfftn")
def _rfftn(r):
    x = r.array(r.shape(1, 3, 0), FLOATS)
    axes = r.axes(x) or tuple(range(x.ndim))
    return (x,), {"axes": axes, "s": _lengths(r, x, axes)}


@case("fft.irfftn")
def _irfftn(r):
    x = r.array(r.shape(1, 3, 0), COMPLEX)
    axes = r.axes(x) or tuple(range(x.ndim))
    return (x,), {"axes": axes, "s": tuple([int(r.below(7, least=2)) for _ in axes])}


@case("fft.fftshift", "fft.ifftshift")
def _shift(r):
    x = r.array(r.shape(1), FLOATS + COMPLEX)
    return (x,), {"axes": r.axes(x)}


@case("fft.fftfreq", "fft.rfftfreq")
def _freq(r):
    return (int(r.below(9, least=1)), ), {"d": float(r.below(5, least=1)) / 2}


def given(args):
    """(the arrays among the arguments, a function that puts others in their places)"""
    arrays, structure = wick.tree.flatten(args)
    at = [k for k, x in enumerate(arrays) if isinstance(x, np.ndarray)]

    def build(values):
        made = dict(zip(at, values))
        return wick.tree.unflatten(structure, [made.get(k, x) for k, x in enumerate(arrays)])

    return [arrays[k] for k in at], build


def check(what, found, wanted):
    found, wanted = [[np.asarray(x) for x in wick.tree.leaves(v)] for v in (found, wanted)]
    assert len(found) == len(wanted), what
    for f, w in zip(found, wanted):
        assert f.shape == w.shape, what
        if what[0] not in ("fft.fftfreq", "fft.rfftfreq"):  # of the default type
            assert f.dtype == w.dtype or {f.dtype.kind, w.dtype.kind} == {"i"}, (what, f.dtype, w.dtype)
        if w.dtype.kind in "biu":
            assert np.array_equal(f, w), (what, f, w)
        else:
            tolerance = 2e-4 if f.dtype in (np.float32, np.complex64) else 1e-9
            np.testing.assert_allclose(f, w, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(w[np.isfinite(w)]).max(initial=0))), err_msg=str(what))


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    """Eight random cases in one traced function, and one of them outside."""
    made = []
    for seed in range(8):
        args, named = CASES[name](Random([zlib.crc32(name.encode()), seed]))
        with np.errstate(all="ignore"):
            made.append((args, named, own(name, np)(*args, **named)))
    split = [given(args) for args, _, _ in made]

    def f(*arrays):
        return [own(name, wnp)(*build(values), **named) for (_, build), (_, named, _), values in zip(split, made, arrays)]

    found = wick.function(f)(*[arrays for arrays, _ in split])
    for (args, named, wanted), out in zip(made, found):
        check((name, args, named), out, wanted)
    args, named, wanted = made[0]
    check((name, "outside", args, named), own(name, wnp)(*args, **named), wanted)


@pytest.mark.parametrize("seed", range(6))
def test_decompositions(seed):
    """What eigh, qr and svd give makes the matrix again; signs are free."""
    x = _matrix(Random(seed))
    square = _square(Random(seed + 100))
    h = square + np.swapaxes(square, -1, -2)

    def f(x, h):
        (q, r), (u, s, vh), (w, v) = wnp.linalg.qr(x), wnp.linalg.svd(x, full_matrices=False), wnp.linalg.eigh(h)
        return q @ r, wnp.triu(r) == r, (u * s[..., None, :]) @ vh, s, (v * w[..., None, :]) @ wnp.matrix_transpose(v), w

    qr, triangular, usv, s, vwv, w = wick.function(f)(x, h)
    tolerance = 1e-4 if np.float32 in (x.dtype, h.dtype) else 1e-9
    assert triangular.all()
    for found, wanted in ((qr, x), (usv, x), (s, np.linalg.svd(x, compute_uv=False)), (vwv, h), (w, np.linalg.eigvalsh(h))):
        np.testing.assert_allclose(found, wanted, atol=tolerance * 10, rtol=tolerance)


@pytest.mark.parametrize("seed", range(6))
def test_sets(seed):
    """unique_* with sizes, sets and positions that are not 0."""
    r = Random(seed)
    x = r.array(r.shape(1, 2, 0), ALL)
    y = r.array((4,), type=x.dtype)
    values, at, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    n = len(values)
    found = wick.function(lambda x: wnp.unique_all(wnp.asarray(x), size=n))(x)
    for f, w in zip(found, (values, at, inverse.reshape(x.shape), counts)):
        assert np.array_equal(f, w) and f.dtype == w.dtype
    places = np.nonzero(x)
    found = wick.function(lambda x: wnp.nonzero(x, size=len(places[0])))(x)
    assert all(np.array_equal(f, w) for f, w in zip(found, places))
    for name in ("union1d", "setdiff1d", "intersect1d", "setxor1d"):
        wanted = getattr(np, name)(x, y)
        if wanted.size:
            found = wick.function(lambda x, y: getattr(wnp, name)(x, y, size=wanted.size))(x, y)
            assert np.array_equal(found, wanted), (name, x, y)
