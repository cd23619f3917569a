"""The rules of the array API standard 2024.12 for names, types, promotion and shapes, over the functions of wick.numpy under
tracing. Only traces are made; nothing is compiled.

Source of the names and rules: https://data-apis.org/array-api/2024.12"""
import inspect
import itertools

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402
import wick.numpy as wnp  # noqa: E402

SIGNED, UNSIGNED, FLOATS = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64"), ("float32", "float64")
WHOLE, NUMBERS = SIGNED + UNSIGNED, SIGNED + UNSIGNED + FLOATS
ALL = ("bool",) + NUMBERS

#: Functions of one array by the types that the standard demands of them; the result has the type of the operand.
UNARY = {"abs": NUMBERS, "negative": SIGNED + FLOATS, "positive": NUMBERS, "sign": NUMBERS, "square": NUMBERS, "floor": NUMBERS, "ceil": NUMBERS,
         "trunc": NUMBERS, "round": NUMBERS, "bitwise_invert": ("bool",) + WHOLE, "reciprocal": FLOATS}
UNARY |= {name: FLOATS for name in "acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10 sin sinh sqrt tan tanh".split()}
TESTS = {"isfinite": NUMBERS, "isinf": NUMBERS, "isnan": NUMBERS, "signbit": FLOATS, "logical_not": ("bool",)}
BINARY = {"add": NUMBERS, "subtract": NUMBERS, "multiply": NUMBERS, "floor_divide": NUMBERS, "remainder": NUMBERS, "pow": NUMBERS, "maximum": NUMBERS,
          "minimum": NUMBERS, "divide": FLOATS, "atan2": FLOATS, "copysign": FLOATS, "hypot": FLOATS, "logaddexp": FLOATS, "nextafter": FLOATS,
          "bitwise_and": ("bool",) + WHOLE, "bitwise_or": ("bool",) + WHOLE, "bitwise_xor": ("bool",) + WHOLE, "bitwise_left_shift": WHOLE,
          "bitwise_right_shift": WHOLE}
COMPARISONS = {"equal": ALL, "not_equal": ALL, "less": NUMBERS, "less_equal": NUMBERS, "greater": NUMBERS, "greater_equal": NUMBERS,
               "logical_and": ("bool",), "logical_or": ("bool",), "logical_xor": ("bool",)}
OPERATORS = {"add": "+", "subtract": "-", "multiply": "*", "floor_divide": "//", "remainder": "%", "pow": "**", "divide": "/", "bitwise_and": "&",
             "bitwise_or": "|", "bitwise_xor": "^", "bitwise_left_shift": "<<", "bitwise_right_shift": ">>", "equal": "==", "not_equal": "!=", "less": "<",
             "less_equal": "<=", "greater": ">", "greater_equal": ">="}
#: Reductions: the types of operands, and of the result; None: that of the operand.
REDUCTIONS = {"max": (NUMBERS, None), "min": (NUMBERS, None), "mean": (FLOATS, None), "std": (FLOATS, None), "var": (FLOATS, None), "all": (ALL, "bool"),
              "any": (ALL, "bool"), "sum": (NUMBERS, "sum"), "prod": (NUMBERS, "sum"), "count_nonzero": (ALL, "int64")}
OTHERS = """arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros zeros_like
astype broadcast_arrays broadcast_to can_cast finfo iinfo isdtype result_type clip conj imag real matmul matrix_transpose tensordot vecdot
concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin nonzero searchsorted where take
take_along_axis unique_all unique_counts unique_inverse unique_values argsort sort cumulative_sum cumulative_prod diff
e inf nan newaxis pi bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64""".split()
LINALG = """cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer pinv qr slogdet
solve svd svdvals tensordot trace vecdot vector_norm""".split()


def shaped(f, *args):
    return wick.eval_shape(f, *args)


def spec(dtype, shape=(2, 3)):
    return wick.ShapeDtype(shape, np.dtype(dtype))


def promoted(a, b):
    """The type of an operation; None where the standard names none."""
    if a == b:
        return a
    kinds = {a in FLOATS, b in FLOATS}
    if "bool" in (a, b) or len(kinds) > 1:
        return None
    made = np.promote_types(a, b).name
    return None if made in FLOATS and a in WHOLE else made


def test_all_names_are_there():
    names = [*UNARY, *TESTS, *BINARY, *COMPARISONS, *REDUCTIONS, *OTHERS]
    assert [n for n in names if not hasattr(wnp, n)] == []
    assert [n for n in LINALG if not hasattr(wnp.linalg, n)] == []
    assert wnp.__array_api_version__ == "2024.12"


@pytest.mark.parametrize("name", [*UNARY, *TESTS])
def test_functions_of_one_array(name):
    f = getattr(wnp, name)
    for dtype in {**UNARY, **TESTS}[name]:
        for shape in ((), (2, 3), (0, 4)):
            made = shaped(f, spec(dtype, shape))
            assert (made.shape, made.dtype) == (shape, np.dtype("bool" if name in TESTS else dtype)), dtype
    kinds = [p.kind for p in inspect.signature(f).parameters.values()]
    assert kinds[0] == inspect.Parameter.POSITIONAL_ONLY


@pytest.mark.parametrize("name", [*BINARY, *COMPARISONS])
def test_promotion_of_functions_of_two_arrays(name):
    f, types = getattr(wnp, name), {**BINARY, **COMPARISONS}[name]
    for a, b in itertools.product(types, types):
        wanted = promoted(a, b)
        if wanted is None:
            continue
        made = shaped(f, spec(a), spec(b, (3,)))
        assert (made.shape, made.dtype) == ((2, 3), np.dtype("bool" if name in COMPARISONS else wanted)), (a, b)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_functions(name):
    types = {**BINARY, **COMPARISONS}[name]
    for dtype in types:
        call = eval(f"lambda x, y: x {OPERATORS[name]} y")
        made, wanted = shaped(call, spec(dtype), spec(dtype)), shaped(getattr(wnp, name), spec(dtype), spec(dtype))
        assert made == wanted
        number = True if dtype == "bool" else 2.0 if dtype in FLOATS else 2
        for flipped in (lambda x: call(x, number), lambda x: call(number, x)):
            assert shaped(flipped, spec(dtype)) == wanted, dtype


def test_types_that_have_no_common_type():
    for a in SIGNED:
        with pytest.raises(wick.TypeMismatch, match="no common type"):
            shaped(wnp.add, spec(a), spec("uint64"))
        with pytest.raises(wick.TypeMismatch):
            wnp.result_type(np.dtype(a), np.dtype("uint64"))


def test_result_type_and_can_cast():
    for a, b in itertools.product(ALL, ALL):
        wanted = promoted(a, b)
        if wanted is not None:
            assert wnp.result_type(np.dtype(a), np.dtype(b)) == np.dtype(wanted)
            assert wnp.can_cast(np.dtype(a), np.dtype(wanted))
            assert wnp.can_cast(np.dtype(a), np.dtype(b)) == (wanted == b)


SHAPES = ((), (3,), (1,), (2, 3), (2, 1), (4, 1, 3), (1, 2, 1), (0, 3))


def test_broadcasting():
    for a, b in itertools.product(SHAPES, SHAPES):
        try:
            wanted = np.broadcast_shapes(a, b)
        except ValueError:
            with pytest.raises(wick.InvalidArgument, match="do not broadcast"):
                shaped(wnp.add, spec("float32", a), spec("float32", b))
            continue
        assert shaped(wnp.add, spec("float32", a), spec("float32", b)).shape == wanted
        assert shaped(lambda x, y: wnp.where(x > 0, x, y), spec("float32", a), spec("float32", b)).shape == wanted
        assert [x.shape for x in shaped(lambda x, y: wnp.broadcast_arrays(x, y), spec("float32", a), spec("float32", b))] == [wanted, wanted]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    f, (types, result) = getattr(wnp, name), REDUCTIONS[name]
    for dtype in types:
        wanted = dtype if result is None else result
        if result == "sum":  # at least the default types
            wanted = dtype if dtype in FLOATS else "uint64" if dtype in UNSIGNED else "int64"
        for axis, keepdims in itertools.product((None, 0, -1, (0, 2), ()), (False, True)):
            x = np.ones((2, 3, 4))
            made = shaped(lambda v: f(v, axis=axis, keepdims=keepdims), spec(dtype, x.shape))
            assert made.shape == np.sum(x, axis=axis, keepdims=keepdims).shape and made.dtype == np.dtype(wanted), (dtype, axis)


#: Calls whose shape is that of NumPy.
CALLS = {
    "concat": lambda n, x: n.concat([x, x], axis=1), "concat flat": lambda n, x: n.concat([x, x], axis=None), "stack": lambda n, x: n.stack([x, x], axis=-1),
    "expand_dims": lambda n, x: n.expand_dims(x, axis=-2), "flip": lambda n, x: n.flip(x, axis=(0, 1)), "moveaxis": lambda n, x: n.moveaxis(x, (0, 1), (-1, 0)),
    "permute_dims": lambda n, x: n.permute_dims(x, (2, 0, 1)), "repeat": lambda n, x: n.repeat(x, 3, axis=1), "repeat flat": lambda n, x: n.repeat(x, 2),
    "reshape": lambda n, x: n.reshape(x, (4, -1)), "roll": lambda n, x: n.roll(x, (1, 2), axis=(0, 2)), "squeeze": lambda n, x: n.squeeze(x[:, :1], axis=1),
    "tile": lambda n, x: n.tile(x, (2, 1, 1, 3)), "argmax": lambda n, x: n.argmax(x, axis=1, keepdims=True), "argmin": lambda n, x: n.argmin(x),
    "take": lambda n, x: n.take(x, np.array([0, 2, 1, 0]), axis=1), "argsort": lambda n, x: n.argsort(x, axis=0), "sort": lambda n, x: n.sort(x),
    "cumulative_sum": lambda n, x: n.cumulative_sum(x, axis=1, include_initial=True), "cumulative_prod": lambda n, x: n.cumulative_prod(x, axis=0),
    "diff": lambda n, x: n.diff(x, axis=2, n=2), "matmul": lambda n, x: n.matmul(x, n.matrix_transpose(x)), "vecdot": lambda n, x: n.vecdot(x, x, axis=1)
    if n is wnp else n.vecdot(n.moveaxis(x, 1, -1), n.moveaxis(x, 1, -1)), "tensordot": lambda n, x: n.tensordot(x, x, axes=((0, 1), (0, 1))),
    "tril": lambda n, x: n.tril(x, k=1), "triu": lambda n, x: n.triu(x, k=-1), "unstack": lambda n, x: n.unstack(x, axis=2)[3],
    "broadcast_to": lambda n, x: n.broadcast_to(x, (5, 2, 3, 4)), "linspace": lambda n, x: n.linspace(0, 1, 7, endpoint=False),
    "searchsorted": lambda n, x: n.searchsorted(n.reshape(x, (24,)), x[0, 0]), "clip": lambda n, x: n.clip(x, 0, 1),
    "indexing": lambda n, x: x[..., None, ::-2, 1:3], "index arrays": lambda n, x: x[:, np.array([0, 2]), np.array([[1], [0]])],
    "meshgrid": lambda n, x: n.meshgrid(x[0, 0], x[0, :, 0], indexing="ij")[1], "eye": lambda n, x: n.eye(3, 5, k=1), "arange": lambda n, x: n.arange(1, 10, 4),
}


@pytest.mark.parametrize("name", CALLS)
def test_shapes(name):
    x = np.zeros((2, 3, 4), np.float32)
    try:
        wanted = np.shape(CALLS[name](np, x))
    except AttributeError:
        pytest.skip(f"this NumPy has no such function: {name}")
    assert shaped(lambda x: CALLS[name](wnp, x), x).shape == wanted


def test_shapes_of_linear_algebra():
    x, b = spec("float32", (5, 3, 3)), spec("float32", (5, 3, 2))
    shapes = {"cholesky": (5, 3, 3), "det": (5,), "inv": (5, 3, 3), "matrix_norm": (5,), "matrix_rank": (5,), "pinv": (5, 3, 3), "trace": (5,),
              "svdvals": (5, 3), "eigvalsh": (5, 3), "diagonal": (5, 3)}
    for name, wanted in shapes.items():
        assert shaped(getattr(wnp.linalg, name), x).shape == wanted, name
    assert shaped(wnp.linalg.solve, x, b).shape == (5, 3, 2)
    values = shaped(wnp.linalg.eigh, x)
    assert values.eigenvalues.shape == (5, 3) and values.eigenvectors.shape == (5, 3, 3)
    assert [v.shape for v in shaped(wnp.linalg.slogdet, x)] == [(5,), (5,)] and [v.shape for v in shaped(wnp.linalg.qr, b)] == [(5, 3, 2), (5, 2, 2)]
