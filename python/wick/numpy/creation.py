"""Functions that make arrays, and those about types."""
import math

import numpy as np

from wick import types
from wick.errors import InvalidArgument, TypeMismatch
from wick.trace import elements, ops
from wick.trace.complex import concerns, dtype_of, is_complex, is_complex_type, real_type
from wick.trace.eager import api, complex_too, is_traced, made
from wick.trace.scope import Traced, emit, fail, name_of

DTYPES = {"bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
          "uint32": "u32", "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64"}


class ScalarType(type):
    """The type of float32 and its like. They are NumPy's where types are given or compared; a call converts traced arrays, too."""

    def __new__(cls, of):
        return super().__new__(cls, of.__name__, (), {"dtype": np.dtype(of), "__doc__": of.__doc__})

    def __init__(cls, of):
        super().__init__(cls.__name__)

    def __call__(cls, x=0):
        return astype(x, cls.dtype) if is_traced(x) else cls.dtype.type(x)

    def __eq__(cls, other):
        return cls is other or np.dtype(cls.dtype) == other

    def __hash__(cls):
        return hash(cls.dtype)

    def __instancecheck__(cls, x):
        return isinstance(x, cls.dtype.type)

    def __repr__(cls):
        return f"wick.numpy.{cls.__name__}"


complex64, complex128 = ScalarType(np.complex64), ScalarType(np.complex128)
for _name, _elem in DTYPES.items():
    globals()[_name if _name != "bool" else "bool_"] = ScalarType(types.dtype(_elem).type)


def elem_of(dtype, default=None):
    """Wick's element type of a dtype argument."""
    if dtype is None:
        return default
    elem = elements.of_dtype(dtype.dtype if isinstance(dtype, (np.ndarray, Traced)) else dtype)
    if elem is None:
        fail(TypeMismatch, f"the dtype {dtype} is not supported in traced functions")
    return elem


def _shape(what, shape):
    return ops.shape_of(what, shape)


def _filled(what, shape, value, dtype):
    shape = _shape(what, shape)
    elem = elem_of(dtype)
    if is_traced(value):
        return ops.full(shape, value, elem or ops.elem_for(value)[0])
    weak = not elem and ops.is_number(value)
    elem = elem or ops.elem_for(value)[0] if ops.is_number(value) or elem else elements.of_dtype(np.asarray(value).dtype)
    array = np.broadcast_to(np.asarray(value).astype(types.dtype(elem)), shape)
    return made(array, (lambda: ops.broadcast_to(ops.number(value, elem, weak=True), shape)) if weak else None)


@complex_too
def zeros(shape, dtype=None, device=None):
    """Zeros."""
    return _filled("zeros", shape, 0, dtype or "f32")


@complex_too
def ones(shape, dtype=None, device=None):
    """Ones."""
    return _filled("ones", shape, 1, dtype or "f32")


@complex_too
def empty(shape, dtype=None, device=None):
    """An array without certain contents: zeros."""
    return zeros(shape, dtype=dtype)


@complex_too
def full(shape, fill_value, dtype=None, *, device=None):
    """An array with one value everywhere."""
    return _filled("full", shape, fill_value, dtype)


def _like(x):
    if isinstance(x, Traced):
        return x.shape, x.elem
    if ops.is_number(x):
        return (), elements.number(x)
    x = x if hasattr(x, "dtype") else array(x)
    return tuple(x.shape), elem_of(x.dtype)


@complex_too
def full_like(x, /, fill_value, dtype=None, *, shape=None, device=None):
    """An array like x with one value everywhere."""
    own, elem = _like(x)
    return _filled("full_like", own if shape is None else shape, fill_value, dtype or elem)


@complex_too
def zeros_like(x, /, dtype=None, *, shape=None, device=None):
    """Zeros of the shape and type of x."""
    return full_like(x, 0, dtype=dtype, shape=shape)


@complex_too
def ones_like(x, /, dtype=None, *, shape=None, device=None):
    """Ones of the shape and type of x."""
    return full_like(x, 1, dtype=dtype, shape=shape)


empty_like = zeros_like


@complex_too
def asarray(obj, /, dtype=None, device=None, copy=None):
    """obj as an array; numbers of Python become f32 and i64."""
    elem = elem_of(dtype)
    if is_traced(obj):
        x = ops.array(obj)
        return ops.as_elem(x, elem or x.elem)
    if ops.is_number(obj):
        return made(np.asarray(obj, types.dtype(elem or elements.number(obj))), None if elem else lambda: ops.array(obj))
    if isinstance(obj, (list, tuple)):
        from wick.trace import tree
        leaves = tree.leaves(obj)
        if not elem and leaves and all(ops.is_number(v) for v in leaves):
            elem = max([elements.number(v) for v in leaves], key=elements.RANK.get)
        elem = elem or (elements.FLOAT if not leaves else None)
    x = np.array(obj)
    return made(x.astype(types.dtype(elem)) if elem else x)


@complex_too
def array(obj, /, dtype=None, *, copy=True, ndmin=0):
    """The same as asarray."""
    x = asarray(obj, dtype=dtype)
    while x.ndim < ndmin:
        x = x[None]
    return x


def from_dlpack(x, /, *, device=None, copy=None):
    """An array of another library."""
    return asarray(np.from_dlpack(x))


def arange(start, /, stop=None, step=1, dtype=None, device=None):
    """The numbers from start (or 0) up to stop, without it."""
    if stop is None:
        start, stop = 0, start
    for v in (start, stop, step):
        if isinstance(v, Traced):
            fail(TypeMismatch, "arange of a traced value: the size of the result has to be known when the function is compiled")
    whole = all(isinstance(v, (int, np.integer)) for v in (start, stop, step))
    elem = elem_of(dtype, elements.INT if whole else elements.FLOAT)
    count = max(0, math.ceil((stop - start) / step))
    values = np.arange(count) * step + start
    return made(values.astype(types.dtype(elem)), lambda: ops.iota(count, elem, start, step))


@complex_too
def linspace(start, stop, /, num=50, *, dtype=None, device=None, endpoint=True, retstep=False, axis=0):
    """`num` numbers from start to stop, at equal distances, along an axis."""
    if axis != 0:
        from wick.numpy.manipulation import moveaxis
        out = linspace(start, stop, num, dtype=dtype, endpoint=endpoint, retstep=retstep)
        return (moveaxis(out[0], 0, axis), out[1]) if retstep else moveaxis(out, 0, axis)
    num = ops.whole("linspace: num", num)
    elem = elem_of(dtype, elements.FLOAT)
    if is_traced(start, stop):
        if dtype is None:
            elem = ops.floating(ops.convert(start, stop)[0]).elem
        start, stop = ops.as_elem(start, elem), ops.as_elem(stop, elem)
        step = (stop - start) / max(1, num - 1 if endpoint else num)
        shape = ops.broadcast_shapes("linspace", start.shape, stop.shape)
        at = ops.reshape(ops.iota(num, elem), (num,) + (1,) * len(shape))
        out = start + at * step
        if endpoint and num > 1:
            out = ops.where(ops.binary("eq", at, num - 1, "bool"), stop, out)
    else:
        out, step = np.linspace(start, stop, num, endpoint=endpoint, retstep=True)
        out = made(out.astype(types.dtype(elem)))
    return (out, step) if retstep else out


def logspace(start, stop, num=50, *, base=10.0, endpoint=True, dtype=None):
    """base to the powers of linspace(start, stop)."""
    return asarray(np.logspace(start, stop, num, endpoint=endpoint, base=base).astype(types.dtype(elem_of(dtype, elements.FLOAT))))


def geomspace(start, stop, num=50, *, endpoint=True, dtype=None):
    """Numbers from start to stop with equal ratios."""
    return asarray(np.geomspace(start, stop, num, endpoint=endpoint).astype(types.dtype(elem_of(dtype, elements.FLOAT))))


@complex_too
def eye(n_rows, n_cols=None, /, k=0, dtype=None, device=None):
    """Ones on diagonal k, zeros elsewhere."""
    n = ops.whole("eye", n_rows)
    m = n if n_cols is None else ops.whole("eye", n_cols)
    elem = elem_of(dtype, elements.FLOAT)
    direct = n * m and -n < k < m and elem != "bool"
    return made(np.eye(n, m, k, dtype=types.dtype(elem)), (lambda: ops.typed(f"op.eye(k = {k})", elem, (n, m))) if direct else None)


@complex_too
def identity(n, dtype=None):
    """Ones on the diagonal, zeros elsewhere."""
    return eye(n, dtype=dtype)


def tri(n, m=None, k=0, dtype=None):
    """Ones at and below diagonal k."""
    return made(np.tri(n, m, k, dtype=types.dtype(elem_of(dtype, elements.FLOAT))))


@api
def _triangle(x, /, upper, k):
    x = ops.array(x)
    if x.ndim < 2:
        fail(InvalidArgument, f"{'triu' if upper else 'tril'}: an array of the shape {x.shape} has no matrices")
    n, m = x.shape[-2:]
    k = min(max(k, -n - 1), m + 1)
    return emit(f"op.trilu({name_of(x)}, upper = {'true' if upper else 'false'}, k = {k})", x.elem, x.shape)


def tril(x, /, k=0):
    """The lower triangle of matrices, up to diagonal k."""
    return _triangle(x, False, k)


def triu(x, /, k=0):
    """The upper triangle of matrices, from diagonal k on."""
    return _triangle(x, True, k)


def tril_indices(n, k=0, m=None):
    """The positions of the lower triangle."""
    return tuple(map(made, np.tril_indices(n, k, m)))


def triu_indices(n, k=0, m=None):
    """The positions of the upper triangle."""
    return tuple(map(made, np.triu_indices(n, k, m)))


@api
def meshgrid(*arrays, indexing="xy", sparse=False, copy=True):
    """Coordinates of a grid: each array along an axis of its own; with `sparse`, of size 1 along the others."""
    arrays = [ops.array(x) for x in arrays]
    sizes_of = [x.shape[0] if x.ndim else 1 for x in arrays]
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = [1, 0]
    shape = tuple([sizes_of[k] for k in order])
    out = []
    for k, x in enumerate(arrays):
        at = [1] * len(arrays)
        at[order.index(k)] = sizes_of[k]
        out.append(ops.reshape(x, at) if sparse else ops.broadcast_to(ops.reshape(x, at), shape))
    return out


def indices(dimensions, dtype=None, sparse=False):
    """The positions along each axis, of an array with these dimensions."""
    return made(np.indices(dimensions).astype(types.dtype(elem_of(dtype, elements.INT))))


# ---- types ----


@api
def astype(x, dtype, /, *, copy=True, device=None):
    """x in another type; floats become whole numbers without their fraction."""
    x = ops.array(x)
    elem = elem_of(dtype)
    if elem == "bool" and x.elem != "bool":
        return ops.binary("ne", x, 0, "bool")
    return ops.as_elem(x, elem)


def result_type(*xs):
    """The type of an operation on arrays, types and numbers."""
    if concerns(xs, None):
        return np.result_type(result_type(*[real_type(x) for x in xs]), np.complex64)
    elem = weak = None
    for x in xs:
        if isinstance(x, Traced) or ops.is_number(x):
            one = (x.elem, x.weak) if isinstance(x, Traced) else (elements.number(x), True)
        else:
            one = elem_of(x.dtype if hasattr(x, "dtype") and not isinstance(x, type) else x), False
        made_type = one if elem is None else elements.promote(elem, weak, *one)
        if made_type is None:
            raise TypeMismatch(f"{elem} and {one[0]} have no common type")
        elem, weak = made_type
    return types.dtype(elem)


promote_types = result_type


def can_cast(from_, to, /):
    """Does a type hold all values of another, by the promotion table?"""
    if concerns((from_, to), None):
        return result_type(from_, to) == dtype_of(to)
    a, b = (elem_of(x.dtype if hasattr(x, "dtype") and not isinstance(x, type) else x) for x in (from_, to))
    made_type = elements.promote(a, False, b, False)
    return made_type is not None and made_type[0] == b


_KINDS = {"bool": ("bool",), "signed integer": elements.SIGNED, "unsigned integer": elements.UNSIGNED,
          "integral": elements.SIGNED + elements.UNSIGNED, "real floating": elements.FLOATS, "complex floating": (),
          "numeric": elements.SIGNED + elements.UNSIGNED + elements.FLOATS}


def isdtype(dtype, kind):
    """Is a type of a kind ("integral", "real floating", ...), of one of several, or a certain one?"""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if concerns((dtype, kind), None):
        return kind in ("complex floating", "numeric") if isinstance(kind, str) and not is_complex_type(kind) else (
            concerns((dtype,), None) and concerns((kind,), None) and dtype_of(dtype) == dtype_of(kind))
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise InvalidArgument(f"isdtype: the kind {kind!r} is none of {', '.join(_KINDS)}")
        return elem_of(dtype) in _KINDS[kind]
    return elem_of(dtype) == elem_of(kind)


def issubdtype(a, b):
    """As in NumPy; floats that NumPy lacks are floats."""
    kind = dtype_of(a) if is_complex_type(a) else types.dtype(elem_of(a))
    other = dtype_of(b) if is_complex_type(b) else b
    if kind.kind == "V" and isinstance(b, type) and issubclass(b, np.generic):
        return np.issubdtype(np.float16, b)
    return np.issubdtype(kind, other)


def _type_of(x):
    """The element type of an array, or of what names one."""
    return elem_of(getattr(x, "dtype", x) if isinstance(x, (Traced, np.ndarray, np.generic)) else x)


def finfo(type, /):
    """Facts about a type of floats."""
    return elements.finfo(_type_of(real_type(type)))


def iinfo(type, /):
    """Facts about a type of whole numbers."""
    return np.iinfo(types.dtype(_type_of(type)))


def broadcast_shapes(*shapes):
    """The shape that these shapes broadcast to."""
    return np.broadcast_shapes(*shapes)


def shape(x):
    """The sizes of the dimensions."""
    return x.shape if hasattr(x, "shape") else np.shape(x)


def ndim(x):
    """The number of dimensions."""
    return len(shape(x))


def size(x, axis=None):
    """The number of elements, or of those along an axis."""
    return math.prod(shape(x)) if axis is None else shape(x)[axis]


def iscomplexobj(x):
    """Is it a complex array?"""
    return is_complex(x)


def isscalar(x):
    """Is it a number, or an array of rank 0?"""
    return ops.is_number(x) or getattr(x, "shape", None) == ()


def copy(x, order=None):
    """x, whose contents do not change."""
    return asarray(x)


def diag_indices(n, ndim=2):
    """The positions of the diagonal of an array with `ndim` dimensions of n elements."""
    return tuple([made(np.arange(n)) for _ in range(ndim)])


def diag_indices_from(x):
    """The positions of the diagonal of x."""
    return diag_indices(x.shape[0], len(x.shape))


def tril_indices_from(x, k=0):
    """The positions of the lower triangle of x."""
    return tril_indices(x.shape[-2], k, x.shape[-1])


def triu_indices_from(x, k=0):
    """The positions of the upper triangle of x."""
    return triu_indices(x.shape[-2], k, x.shape[-1])


def mask_indices(n, mask_func, k=0, *, size=None):
    """The positions that a mask like triu keeps, of a square matrix; with `size`, the mask may be a traced one."""
    if size is not None:
        from wick.numpy.searching import nonzero
        return nonzero(mask_func(ones((n, n), int), k), size=size)
    from wick.environment import ensure_compile_time_eval
    with ensure_compile_time_eval():
        kept = np.nonzero(np.asarray(mask_func(np.ones((n, n), int), k)))
    return tuple([made(x) for x in kept])
