"""Complex arrays: pairs of traced arrays, the real and the imaginary part. In structures they are nodes with two leaves, so that
loops, branches and transformations carry them."""
import numpy as np

from wick.errors import TypeMismatch
from wick.trace import index, ops
from wick.trace.array import Array
from wick.trace.scope import fail, type_text
from wick.trace.tree import Pair

ELEMS = {np.dtype(np.complex64): "f32", np.dtype(np.complex128): "f64"}


class Complex(Pair):
    """A complex array in a trace."""

    __slots__ = ()
    __hash__ = Array.__hash__
    __array_priority__ = 1001

    shape = property(lambda z: z.re.shape)
    ndim = property(lambda z: z.re.ndim)
    size = property(lambda z: z.re.size)
    dtype = property(lambda z: np.dtype(np.complex128 if z.re.elem == "f64" else np.complex64))
    itemsize = property(lambda z: z.dtype.itemsize)
    nbytes = property(lambda z: z.size * z.itemsize)
    weak = property(lambda z: z.re.weak)
    real = property(lambda z: z.re)
    imag = property(lambda z: z.im)
    T = property(lambda z: pair(z.re.T, z.im.T))
    mT = property(lambda z: pair(z.re.mT, z.im.mT))
    at = property(lambda z: index.At(z, _Update))

    def __repr__(self):
        return f"<traced {type_text(str(self.dtype), self.shape)}>"

    def __getitem__(self, key):
        return pair(index.get(self.re, key), index.get(self.im, key))

    def __iter__(self):
        return iter([pair(a, b) for a, b in zip(self.re, self.im)])

    def copy(self):
        return self

    def _unordered(self, _):
        fail(TypeMismatch, "complex numbers have no order: compare their real parts or absolute values")

    __lt__ = __le__ = __gt__ = __ge__ = _unordered


for _name, _f in vars(Array).items():  # operators and methods call functions of wick.numpy, which take complex numbers
    if callable(_f) and _name not in vars(Complex) and _name not in ("__new__", "__init__", "__class__", "_unknown", "view", "sort", "__round__"):
        setattr(Complex, _name, _f)
Complex._unknown = Array._unknown


def pair(re, im):
    """The complex array of two parts, which get one type and one shape."""
    re, im = ops.convert(ops.floating(re), ops.floating(im))
    if re.elem in ("f16", "bf16"):
        re, im = ops.as_elem(re, "f32"), ops.as_elem(im, "f32")
    shape = ops.broadcast_shapes("complex", re.shape, im.shape)
    weak = re.weak and im.weak
    re, im = [ops.as_elem(ops.broadcast_to(x, shape), x.elem, weak) for x in (re, im)]
    return Complex(re, im)


def is_complex(x):
    """Is it a complex array or number?"""
    kind = type(x)
    return kind is Complex or isinstance(x, complex) or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind == "c")


def is_complex_type(x):
    """Is it what programs write for a type of complex numbers?"""
    if x is complex:
        return True
    if isinstance(x, str):
        return x in ("complex64", "complex128")
    return isinstance(x, (type, np.dtype)) and dtype_of(x).kind == "c"


def dtype_of(x):
    """NumPy's type of what programs write for one, or of an array; that of objects for classes of the program."""
    own = getattr(x, "dtype", x)
    try:
        return np.dtype(own if isinstance(own, np.dtype) else x)
    except TypeError:
        return np.dtype(object)


def real_type(x):
    """The type of the parts of a complex type or array, a number for a number; else x."""
    if x is complex or (isinstance(x, complex) and not isinstance(x, np.generic)):
        return 0.0
    if is_complex(x) or is_complex_type(x):
        return np.dtype(np.float64 if dtype_of(x) == np.complex128 else np.float32)
    return x


def parts(x):
    """(real part, imaginary part); the imaginary part of a real array or number is None."""
    if type(x) is Complex:
        return x.re, x.im
    if is_complex(x):
        if isinstance(x, np.ndarray):
            return ops.array(np.ascontiguousarray(x.real)), ops.array(np.ascontiguousarray(x.imag))
        return ops.array(x.real), ops.array(x.imag)
    return x, None


def both_parts(x):
    """The same with an imaginary part in any case."""
    re, im = parts(x)
    re = ops.floating(re)
    return re, ops.full(re.shape, 0, re.elem) if im is None else im


def concerns(args, named):
    """Is one of the arguments a complex array, a list of such, or a type of complex numbers?"""
    for x in (*args, *named.values()) if named else args:
        kind = type(x)
        if kind is Complex or kind is complex:
            return True
        if kind in _NEVER:
            continue
        if kind is list or kind is tuple:
            if concerns(x, None):
                return True
        elif is_complex(x) or is_complex_type(x):
            return True
    return False


_NEVER = frozenset((int, float, bool, slice, type(None)))


class _Update:
    """z.at[key]: the updates of a complex array."""

    def __init__(self, z, key):
        self._z, self._key = z, key

    def _each(self, method, values, **mode):
        re, im = parts(values)
        at = [index.At(x)[self._key] for x in (self._z.re, self._z.im)]
        return pair(getattr(at[0], method)(re, **mode), getattr(at[1], method)(0.0 if im is None else im, **mode))

    def get(self, mode=None, fill_value=None, **named):
        re, im = (None, None) if fill_value is None else parts(fill_value)
        fill = [0.0, 0.0] if fill_value is None and mode == "fill" else [re, 0.0 if im is None and re is not None else im]
        return pair(*[index.At(x)[self._key].get(mode=mode, fill_value=f, **named) for x, f in zip((self._z.re, self._z.im), fill)])

    def set(self, values, **mode):
        return self._each("set", values, **mode)

    def add(self, values, **mode):
        return self._each("add", values, **mode)

    def subtract(self, values, **mode):
        return self._each("subtract", values, **mode)

    def multiply(self, values, **mode):
        return self.set(self.get() * values, **mode)

    mul = multiply

    def divide(self, values, **mode):
        return self.set(self.get() / values, **mode)

    def power(self, values, **mode):
        return self.set(self.get() ** values, **mode)

    def apply(self, f, **mode):
        return self.set(f(self.get()), **mode)

    def __getattr__(self, name):
        fail(TypeMismatch, f"at[...].{name}: complex arrays have get, set, add, subtract, multiply, divide, power and apply")
