"""The functions of wick.numpy and wick.lax for complex arrays, by name: wick.trace.eager calls `called`.

A function that moves or adds elements is applied to the real and the imaginary parts; a product is the sum of its
parts' products; the others are written out."""
import functools
import itertools
import math

import numpy as np

from wick.errors import InvalidArgument, Unsupported
from wick.trace import ops
from wick.trace.complex import Complex, dtype_of, is_complex, is_complex_type, pair, parts, real_type
from wick.trace.scope import Traced, fail

#: Functions that are linear in the operands at these positions, where numbers and arrays are values; all others stay.
LINEAR = dict.fromkeys(
    "reshape ravel expand_dims squeeze permute_dims transpose matrix_transpose swapaxes moveaxis rollaxis broadcast_to flip fliplr "
    "flipud rot90 roll repeat tile unstack split array_split hsplit vsplit dsplit delete diag diagonal trace diagflat take "
    "take_along_axis resize _triangle sum mean cumsum negative positive diff ediff1d compress nansum cumulative_sum "
    "round atleast_1d atleast_2d atleast_3d trapezoid extract fftshift ifftshift stop_gradient rev slice "
    "slice_in_dim index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_index_in_dim broadcast broadcast_in_dim "
    "optimization_barrier collapse gradient nan_to_num average polyder polyint".split(), (0,))
LINEAR |= {"concat": (0,), "concatenate": (0,), "stack": (0,), "vstack": (0,), "hstack": (0,), "dstack": (0,), "column_stack": (0,),
           "block": (0,), "where": (1, 2), "append": (0, 1), "insert": (0, 2), "add": (0, 1), "subtract": (0, 1), "polyadd": (0, 1), "polysub": (0, 1),
           "choose": (1,), "select": (1, 2), "lax.select": (1, 2), "lax.pad": (0, 1), "dynamic_update_slice": (0, 1), "fill_diagonal": (0, 1),
           "dynamic_update_slice_in_dim": (0, 1), "dynamic_update_index_in_dim": (0, 1), "select_n": None}
#: Products: linear in each of their operands.
PRODUCTS = dict.fromkeys("multiply matmul dot tensordot outer inner kron convolve cross multi_dot dot_general matvec "
                         "batch_matmul conv conv_general_dilated conv_with_general_padding conv_transpose convolve2d fftconvolve polymul".split(), (0, 1))
PRODUCTS["einsum"] = None
#: Products of a pair, and which of them is conjugated.
CONJUGATED = {"vdot": 0, "vecdot": 0, "vecmat": 0, "correlate": 1, "correlate2d": 1}
#: Functions with a result for each of their arrays, of its type.
APART = ("broadcast_arrays", "meshgrid")
FILLED = frozenset("zeros ones empty full eye identity tri zeros_like ones_like full_like linspace arange".split())


@functools.cache
def _numpy():
    import wick.numpy
    return wick.numpy


def called(f, args, named):
    """f of arguments of which one is complex, inside of a trace."""
    name = f.__name__
    if f.__module__.startswith("wick.lax") and f"lax.{name}" in LINEAR:
        name = f"lax.{name}"
    own = _OWN.get(name)
    if own is not None:
        return own(*args, **named)
    if name in FILLED:
        return _filled(f, args, named)
    if name in APART:
        made = zip(args, f(*map(_real, args), **named), f(*map(_imaginary, args), **named))
        return [pair(re, im) if is_complex(x) else re for x, re, im in made]
    if name == "where" and is_complex(args[0]):
        return _numpy().where(~_equal(args[0], 0.0), *args[1:], **named)
    if name in LINEAR:
        at = LINEAR[name]
        return _linear(f, args, named, range(name == "select_n", len(args)) if at is None else at)
    if name in PRODUCTS:
        at = PRODUCTS[name]
        return _product(f, args, named, range(len(args)) if at is None else at)
    if name in CONJUGATED:
        return _product(f, [conj(x) if k == CONJUGATED[name] else x for k, x in enumerate(args)], named, (0, 1))
    fail(Unsupported, f"{name} of complex numbers is missing: use it for the real and the imaginary part, or for the absolute value")


# ---- by parts ----


def _real(x):
    if isinstance(x, (list, tuple)):
        return type(x)([_real(v) for v in x])
    return parts(x)[0]


def _imaginary(x):
    if isinstance(x, (list, tuple)):
        return type(x)([_imaginary(v) for v in x])
    re, im = parts(x)
    if im is not None:
        return im
    return ops.full(x.shape, 0, "f64" if str(x.dtype) == "float64" else "f32") if isinstance(x, (Traced, np.ndarray)) else 0.0


def _paired(re, im):
    if isinstance(re, (list, tuple)):
        return type(re)([_paired(a, b) for a, b in zip(re, im)])
    return pair(re, im)


def _linear(f, args, named, at):
    each = lambda part: [part(x) if k in at else x for k, x in enumerate(args)]
    return _paired(f(*each(_real), **named), f(*each(_imaginary), **named))


def _product(f, args, named, at):
    """The sum over all choices of parts: two of one complex operand, four of two."""
    if f.__name__ in ("multi_dot",):
        return functools.reduce(_numpy().matmul, args[0])
    split = [parts(x) if k in at else (x, None) for k, x in enumerate(args)]
    total = [None, None]
    for choice in itertools.product(*[((0, a), (1, b)) if b is not None else ((0, a),) for a, b in split]):
        turns = sum([k for k, _ in choice])
        made = f(*[x for _, x in choice], **named)
        k, minus = turns % 2, turns % 4 >= 2
        if total[k] is None:
            total[k] = -made if minus else made
        else:
            total[k] = total[k] - made if minus else total[k] + made
    return pair(*total)


def _filled(f, args, named):
    """zeros and its like, with a complex type or value."""
    args = [x for k, x in enumerate(args) if not (k and is_complex_type(x))]
    named = {k: v for k, v in named.items() if not is_complex_type(v)}
    if any([is_complex(x) for x in (*args, *named.values())]) and f.__name__ not in ("zeros_like", "ones_like"):
        value = named.pop("fill_value", args[-1])
        rest = args[:1] if f.__name__.startswith("full") else None
        if rest is None:
            fail(Unsupported, f"{f.__name__} of complex numbers is missing: multiply real numbers by 1j")
        rest = [_real(x) for x in rest]
        return pair(f(*rest, _real(value)), f(*rest, _imaginary(value)))
    return complex_of(f(*[_real(x) for x in args], **named))


def complex_of(x):
    """x as a complex array."""
    if type(x) is Complex:
        return x
    re, im = parts(x)
    re = ops.array(re)
    return pair(re, ops.full(re.shape, 0, ops.floating(re).elem) if im is None else im)


def _split(f):
    """A function of the parts of a complex array."""
    return lambda z, *args, **named: f(*parts(complex_of(z)), *args, **named)


# ---- functions of elements ----


def _divide(x, y):
    (a, b), (c, d) = parts(x), parts(y)
    N = _numpy()
    if d is None:
        return pair(N.divide(a, c), N.divide(b, c))
    scale = N.maximum(N.abs(c), N.abs(d))
    scale = ops.unary("stop_gradient", N.where(N.isfinite(scale) & (scale > 0), scale, 1.0))
    c, d = c / scale, d / scale
    norm = (c * c + d * d) * scale
    if b is None:
        return pair(a * c / norm, -(a * d) / norm)
    return pair((a * c + b * d) / norm, (b * c - a * d) / norm)


def _abs(a, b):
    N = _numpy()
    scale = N.maximum(N.abs(a), N.abs(b))
    usual = N.isfinite(scale) & (scale > 0)
    by = ops.unary("stop_gradient", N.where(usual, scale, 1.0))
    a, b = N.where(usual, a / by, 1.0), N.where(usual, b / by, 0.0)
    return N.where(usual, by * N.sqrt(a * a + b * b), ops.unary("stop_gradient", scale))


def conj(z):
    """The conjugate."""
    re, im = parts(z)
    return z if im is None else pair(re, -im)


def _angle(a, b, deg=False):
    made = _numpy().atan2(b, a)
    return made * (180 / math.pi) if deg else made


def _exp(a, b):
    N = _numpy()
    size = N.exp(a)
    return pair(size * N.cos(b), size * N.sin(b))


def _log(a, b):
    return pair(_numpy().log(_abs(a, b)), _angle(a, b))


def _sqrt(a, b):
    N = _numpy()
    size = _abs(a, b)
    zero = size == 0
    t = N.sqrt(N.where(zero, 1.0, (size + N.abs(a)) / 2))
    other = b / (2 * t)
    left = a < 0
    re, im = N.where(left, N.abs(other), t), N.where(left, N.where(N.signbit(b), -t, t), other)
    return pair(N.where(zero, 0.0, re), N.where(zero, 0.0, im))


def _power(x, y):
    N = _numpy()
    if not is_complex(y) and isinstance(y, (int, np.integer)) and not isinstance(y, bool) and abs(y) <= 64:
        made, square, n = None, x, abs(int(y))
        while n:
            if n & 1:
                made = square if made is None else made * square
            n >>= 1
            square = square * square if n else square
        made = pair(ops.full(x.shape, 1, complex_of(x).re.elem), 0.0) if made is None else made
        return 1 / made if y < 0 else made
    z, w = complex_of(x), complex_of(y)
    zero = (z.re == 0) & (z.im == 0)
    safe = pair(N.where(zero, 1.0, z.re), z.im)
    made = N.exp(w * N.log(safe))
    nothing = (w.re == 0) & (w.im == 0)
    return N.where(zero, N.where(nothing, 1.0, 0.0), made)


def _tanh(a, b):
    N = _numpy()
    t, s = N.tanh(a), N.tan(b)
    return pair(t, s) / pair(ops.full(t.shape, 1, t.elem), t * s)


def _sign(a, b):
    N = _numpy()
    size = _abs(a, b)
    by = N.where(size == 0, 1.0, size)
    return pair(a / by, b / by)


def _trigonometric(first, second, sign):
    """f(a) g(b) and f'(a) h(b), by names."""
    def f(a, b):
        N = _numpy()
        of = lambda names: getattr(N, names[0])(a) * getattr(N, names[1])(b)
        return pair(of(first), sign * of(second))
    return f


def _by_both(f):
    def both(a, b):
        N = _numpy()
        return f(getattr(N, "logical_or"), getattr(N, "logical_and"), a, b)
    return both


def _equal(x, y, rtol=None):
    x, y = complex_of(x), complex_of(y)
    return (x.re == y.re) & (x.im == y.im)


def _isclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    N = _numpy()
    near = N.abs(complex_of(x) - y) <= atol + rtol * N.abs(y)
    return near | (N.isnan(x) & N.isnan(y)) if equal_nan else near


def _prod(x, axis=None, keepdims=False, **_):
    """Multiplies halves until one element is left."""
    N = _numpy()
    z = complex_of(x)
    axes = tuple(range(z.ndim)) if axis is None else ops.axes_of("prod", axis if isinstance(axis, tuple) else (axis,), z.ndim)
    for axis in axes:
        z = N.moveaxis(z, axis, 0)
        while z.shape[0] > 1:
            half, odd = divmod(z.shape[0], 2)
            made = z[:half] * z[half:2 * half]
            z = N.concatenate([made, z[2 * half:]]) if odd else made
        if not z.shape[0]:
            z = pair(ops.full((1,) + z.shape[1:], 1, z.re.elem), 0.0)
        z = N.moveaxis(z, 0, axis)
    return z if keepdims else N.squeeze(z, axis=axes)


def _cumprod(x, axis=None, **_):
    from wick.trace.control import associative_scan
    x = _numpy().ravel(x) if axis is None else x
    return associative_scan(lambda a, b: a * b, x, axis=axis or 0)


def _var(x, axis=None, *, ddof=0, correction=None, keepdims=False, **_):
    N = _numpy()
    off = N.abs(x - N.mean(x, axis=axis, keepdims=True))
    count = x.size // max(1, N.mean(off, axis=axis).size)
    ddof = ddof if correction is None else correction
    return N.sum(off * off, axis=axis, keepdims=keepdims) / (count - ddof)


# ---- types, conversions, and the rest ----


def _astype(x, dtype, **_):
    if is_complex_type(dtype):
        z = complex_of(x)
        elem = "f64" if dtype is not complex and dtype_of(dtype) == np.complex128 else "f32"
        return Complex(ops.as_elem(z.re, elem), ops.as_elem(z.im, elem))
    z = complex_of(x)
    return (z.re != 0) | (z.im != 0) if dtype is bool else _numpy().astype(z.re, dtype)


def _array(x, dtype=None, *, ndmin=0, **_):
    if isinstance(x, (list, tuple)):
        if not any([isinstance(v, (Traced, Complex, list, tuple)) for v in x]):
            x = np.asarray(x)
            x = x.astype(np.complex64) if x.dtype == np.complex128 else x
        else:
            x = _numpy().stack([_array(v) if isinstance(v, (list, tuple)) else v for v in x])
    x = x if dtype is None or not isinstance(x, Complex) else _astype(x, dtype)
    if not is_complex(x) and not is_complex_type(dtype):
        return _numpy().asarray(x, dtype=dtype)
    z = complex_of(x)
    return z if z.ndim >= ndmin else _numpy().reshape(z, (1,) * (ndmin - z.ndim) + z.shape)


def _pad(x, pad_width, mode="constant", *, constant_values=0, **_):
    (a, b), (u, v) = parts(x), parts(constant_values)
    given = [{"constant_values": w} if mode == "constant" else {} for w in (u, 0 if v is None else v)]
    N = _numpy()
    return pair(N.pad(a, pad_width, mode, **given[0]), N.pad(b, pad_width, mode, **given[1]))


def _svdvals(x):
    """The singular values: those of the real matrix of twice the size, which has each twice."""
    return _numpy().linalg.svdvals(_wide(x))[..., ::2]


def _matrix_norm(x, keepdims=False, ord="fro"):
    N = _numpy()
    if ord not in (2, -2, "nuc"):
        return N.linalg.matrix_norm(N.abs(x), keepdims=keepdims, ord=ord)
    return {2: N.max, -2: N.min, "nuc": N.sum}[ord](_svdvals(x), axis=-1).reshape(x.shape[:-2] + (1, 1) * keepdims)


def _cond(x):
    s = _svdvals(x)
    return s[..., 0] / s[..., -1]


def _matrix_rank(x, rtol=None):
    s = _svdvals(x)
    rtol = max(x.shape[-2:]) * float(np.finfo(s.dtype).eps) if rtol is None else rtol
    return (s > s[..., :1] * rtol).sum(-1)


def _wide(a):
    """A complex matrix as a real one of twice the size."""
    N = _numpy()
    a = complex_of(a)
    return N.concatenate([N.concatenate([a.re, -a.im], axis=-1), N.concatenate([a.im, a.re], axis=-1)], axis=-2)


def _solve(a, b, **_):
    N = _numpy()
    b = complex_of(b)
    axis = -1 if b.ndim == 1 else -2
    made = N.linalg.solve(_wide(a), N.concatenate([b.re, b.im], axis=axis))
    return pair(*N.split(made, 2, axis=axis))


def _inv(a):
    N = _numpy()
    n = a.shape[-1]
    made = N.linalg.inv(_wide(a))
    return pair(made[..., :n, :n], made[..., n:, :n])


def _matrix_power(a, n):
    if n < 1:
        fail(InvalidArgument, "matrix_power of complex matrices needs a power of at least 1")
    made = None
    while n:
        made = (a if made is None else made @ a) if n & 1 else made
        n >>= 1
        a = a @ a if n else a
    return made


def _argsort(z, /, *, axis=-1, descending=False, stable=True):
    """The order by the real parts, and by the imaginary parts where these are equal."""
    re, im = parts(complex_of(z))
    at = _numpy().lexsort((im, re), axis=axis)
    return _numpy().flip(at, axis=axis) if descending else at


def _sort(z, /, *, axis=-1, **how):
    if axis is None:
        z, axis = _numpy().ravel(z), 0
    return _numpy().take_along_axis(z, _argsort(z, axis=axis, **how), axis=axis)


def _normal(key, shape=(), dtype=None):
    """Numbers whose parts have the normal distribution, each with half of the variance."""
    from wick import random
    one, two = random.split(key)
    kind = real_type(dtype_of(dtype))
    return pair(random.normal(one, shape, kind), random.normal(two, shape, kind)) * math.sqrt(0.5)


def _polyval(p, x):
    """Horner's rule."""
    total = p[0]
    for k in range(1, len(p)):
        total = total * x + p[k]
    return total if len(p) > 1 else total + 0 * x


def _of_truth(name):
    """A function of whether numbers are not 0."""
    return lambda *args, **named: getattr(_numpy(), name)(*[~_equal(x, 0.0) if is_complex(x) else x for x in args], **named)


_OWN = {
    "sort": _sort, "argsort": _argsort, "normal": _normal,
    "divide": _divide, "div": _divide, "reciprocal": lambda z: _divide(1.0, z), "abs": _split(_abs), "conj": conj, "angle": _split(_angle),
    "real": lambda z: parts(z)[0], "imag": lambda z: parts(complex_of(z))[1], "exp": _split(_exp), "log": _split(_log),
    "sqrt": _split(_sqrt), "pow": _power, "square": lambda z: z * z, "integer_pow": _power,
    "expm1": lambda z: _split(_exp)(z) - 1.0, "log1p": lambda z: _split(_log)(z + 1.0), "exp2": lambda z: _split(_exp)(z * math.log(2)),
    "log10": lambda z: _split(_log)(z) * (1 / math.log(10)), "log2": lambda z: _split(_log)(z) * (1 / math.log(2)), "rsqrt": lambda z: 1 / _split(_sqrt)(z),
    "sin": _split(_trigonometric(("sin", "cosh"), ("cos", "sinh"), 1)), "cos": _split(_trigonometric(("cos", "cosh"), ("sin", "sinh"), -1)),
    "sinh": _split(_trigonometric(("sinh", "cos"), ("cosh", "sin"), 1)), "cosh": _split(_trigonometric(("cosh", "cos"), ("sinh", "sin"), 1)),
    "tanh": _split(_tanh), "tan": lambda z: -1j * _split(_tanh)(1j * z), "sign": _split(_sign),
    "isnan": _split(lambda a, b: _numpy().isnan(a) | _numpy().isnan(b)), "isinf": _split(lambda a, b: _numpy().isinf(a) | _numpy().isinf(b)),
    "isfinite": _split(lambda a, b: _numpy().isfinite(a) & _numpy().isfinite(b)),
    "iscomplex": _split(lambda a, b: b != 0), "isreal": _split(lambda a, b: b == 0),
    "equal": _equal, "not_equal": lambda x, y: ~_equal(x, y), "isclose": _isclose,
    "allclose": lambda *a, **n: _numpy().all(_isclose(*a, **n)), "array_equal": lambda x, y: _numpy().all(_equal(x, y)), "prod": _prod, "cumulative_prod": _cumprod,
    "var": _var, "std": lambda *a, **n: _numpy().sqrt(_var(*a, **n)), "astype": _astype, "array": _array, "asarray": _array,
    "pad": _pad, "matrix_norm": _matrix_norm, "svdvals": _svdvals, "cond": _cond, "matrix_rank": _matrix_rank, "vector_norm": lambda x, **n: _numpy().linalg.vector_norm(_numpy().abs(x), **n),
    "polyval": _polyval, **{name: _of_truth(name) for name in ("any", "all", "logical_not", "logical_and", "logical_or", "logical_xor", "nonzero")},
    "solve": _solve, "inv": _inv, "matrix_power": _matrix_power, "complex": pair, "count_nonzero": lambda z, **n: _numpy().count_nonzero(~_equal(z, 0.0), **n),
}
