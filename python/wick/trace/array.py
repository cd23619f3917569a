"""Arrays in a trace: operators and methods as in NumPy."""
import numpy as np

from wick.errors import TypeMismatch
from wick.trace import elements, index, ops
from wick.trace.scope import Traced, fail, type_of
from wick.trace.tree import Pair


def _numpy():
    import wick.numpy
    return wick.numpy


def _operator(name, reflected=False):
    if reflected:
        return lambda x, y: getattr(_numpy(), name)(y, x) if _operand(y) else NotImplemented
    return lambda x, y: getattr(_numpy(), name)(x, y) if _operand(y) else NotImplemented


def _operand(y):
    return isinstance(y, (Traced, Pair, bool, int, float, complex, np.ndarray, np.generic, list, tuple)) or hasattr(y, "__array__")


def _method(name):
    def method(x, *args, **named):
        return getattr(_numpy(), name)(x, *args, **named)
    method.__name__ = name
    return method


class Array(Traced):
    """An array whose contents are known when the compiled function runs; its type and shape are known now."""

    __slots__ = ()
    __array_priority__ = 1000

    def __repr__(self):
        return f"<traced {type_of(self)}>"

    # ---- what needs contents ----

    def _unknown(self, what, instead):
        fail(TypeMismatch, f"{what} of a traced array: its contents are known only when the compiled function runs. {instead}")

    def __bool__(self):
        self._unknown("the truth", "Use wick.cond(condition, f, g, ...), wick.while_loop(condition, body, start), or "
                      "wick.numpy.where(condition, x, y) instead of if, while, and, or, not; or make it a static argument")

    def __float__(self):
        self._unknown("float()", "Leave it an array (x.astype(float)), or return it")

    def __int__(self):
        self._unknown("int()", "Leave it an array (x.astype(int)), or make it a static argument")

    def __index__(self):
        self._unknown("a whole number", "Use it as an index of an array, in wick.fori(first, end, body, start) instead of range, in "
                      "wick.scan, in wick.switch, or make it a static argument")

    def __hash__(self):
        self._unknown("the hash", "A key of a dictionary, an element of a set and an argument of a cache are known when the function "
                      "is compiled: take elements by an index, as in table[x], or make it a static argument")

    def __format__(self, spec):
        if not spec:
            return repr(self)
        self._unknown("the text", f"wick.debug.print(\"{{x:{spec}}}\", x=x) writes it when the function runs")

    def __complex__(self):
        self._unknown("complex()", "Leave it an array")

    def __array__(self, *_, **__):
        self._unknown("np.asarray()", "Use the functions of wick.numpy instead of NumPy's")

    def item(self, *_):
        self._unknown("item()", "Leave it an array, or return it")

    def tolist(self):
        self._unknown("tolist()", "Leave it an array, or return it")

    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        """NumPy's functions of elements are those of wick.numpy; np_array + x comes here, too."""
        f = getattr(_numpy(), _UFUNCS.get(ufunc.__name__, ufunc.__name__), None)
        if method != "__call__":
            f = getattr(f, method, None)
        elif named:
            f = None
        if f is None:
            self._unknown(f"np.{ufunc.__name__}", "Use the functions of wick.numpy instead of NumPy's")
        return f(*inputs, **named)

    def __array_function__(self, f, kinds, args, named):
        own = _numpy()
        for part in f.__module__.split(".")[1:]:
            own = getattr(own, part, None)
        own = getattr(own, f.__name__, None)
        if own is None or own is f:
            self._unknown(f"np.{f.__name__}", "Use the functions of wick.numpy instead of NumPy's")
        return own(*args, **named)

    def __array_namespace__(self, *, api_version=None):
        return _numpy()

    # ---- structure ----

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of an array of rank 0")
        return self.shape[0]

    def __iter__(self):
        if not self.shape:
            fail(TypeMismatch, "iteration over an array of rank 0")
        return iter([self[k] for k in range(self.shape[0])])

    def __getitem__(self, key):
        return index.get(self, key)

    def __setitem__(self, key, value):
        fail(TypeMismatch, "traced arrays do not change: write x = x.at[index].set(value)")

    at = property(index.At)
    T = property(lambda x: ops.transpose(x, range(x.ndim)[::-1]))
    real = property(lambda x: x)
    imag = property(lambda x: ops.full(x.shape, 0, x.elem))

    @property
    def mT(x):
        return _numpy().matrix_transpose(x)

    def astype(x, dtype, copy=True):
        return _numpy().astype(x, dtype)

    def reshape(x, *shape, order="C"):
        return _numpy().reshape(x, shape[0] if len(shape) == 1 else shape, order=order)

    def transpose(x, *axes):
        return _numpy().transpose(x, (axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes) or None)

    def flatten(x, order="C"):
        return _numpy().ravel(x, order=order)

    def copy(x):
        return x

    def __round__(x, digits=None):
        """round(x) gives whole numbers, as that of Python's numbers does."""
        return _numpy().round(x).astype(int) if digits is None else _numpy().round(x, digits)

    def view(x, dtype=None):
        elem = x.elem if dtype is None else elements.of_dtype(dtype)
        if elem is None or elements.WIDTH[elem] != elements.WIDTH[x.elem]:
            fail(TypeMismatch, f"view: the bits of {x.elem} are no numbers of {dtype}: the sizes differ")
        return ops.bitcast(x, elem)

    def block_until_ready(x):
        return x

    def to_device(x, device, stream=None):
        return x

    def fill(x, value):
        fail(TypeMismatch, "traced arrays do not change: use wick.numpy.full_like(x, value)")

    def sort(x, axis=-1, **named):
        return _numpy().sort(x, axis=axis, **named)

    ravel = flatten


for _name in ("sum mean prod max min var std all any argmax argmin argsort cumsum cumprod clip dot squeeze swapaxes take "
              "repeat round trace diagonal conj ptp searchsorted nonzero compress argpartition").split():
    setattr(Array, _name, _method({"max": "max", "min": "min"}.get(_name, _name)))

_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
           "pow": "power", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
           "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "divmod": "divmod"}
for _name, _function in _BINARY.items():
    setattr(Array, f"__{_name}__", _operator(_function))
    setattr(Array, f"__r{_name}__", _operator(_function, reflected=True))
for _name, _function in dict(lt="less", le="less_equal", gt="greater", ge="greater_equal", eq="equal", ne="not_equal").items():
    setattr(Array, f"__{_name}__", _operator(_function))
for _name, _function in dict(neg="negative", pos="positive", abs="abs", invert="bitwise_invert", floor="floor",
                             ceil="ceil", trunc="trunc").items():
    setattr(Array, f"__{_name}__", _method(_function))

#: NumPy's names of ufuncs that differ from those of wick.numpy.
_UFUNCS = {"true_divide": "divide", "absolute": "abs", "invert": "bitwise_invert", "left_shift": "bitwise_left_shift",
           "right_shift": "bitwise_right_shift", "rint": "round", "arctan2": "atan2", "fabs": "abs", "conjugate": "conj"}
