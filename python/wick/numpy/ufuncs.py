"""Functions of elements with methods, as NumPy's ufuncs have them: reduce, accumulate, outer, at, reduceat."""
import numpy as np

from wick.errors import InvalidArgument, Unsupported
from wick.numpy import applied, elementwise, manipulation, reductions
from wick.numpy.creation import astype
from wick.trace import index, ops
from wick.trace.control import associative_scan, fori, scan
from wick.trace.eager import api
from wick.trace.scope import fail

METHODS = ("reduce", "accumulate", "outer", "at", "reduceat")


class ufunc:
    """A function of single elements for arrays that broadcast, and its methods for a function of two."""

    def __init__(self, f, nin, nout, *, identity=None, reduced=None, associative=False, update=None):
        """`reduced` is the function's reduction, `update` the method of x.at[i] that applies it, where there are such."""
        self.f, self.nin, self.nout, self.identity = f, nin, nout, identity
        self._reduced, self._associative, self._update = reduced, associative, update
        self.__name__ = getattr(f, "__name__", "ufunc")
        for name in METHODS:
            setattr(self, name, api(getattr(self, f"_{name}")))

    def __call__(self, *args):
        if len(args) != self.nin:
            raise InvalidArgument(f"{self.__name__} takes {self.nin} arguments, {len(args)} are given")
        return self.f(*args)

    def _of_two(self, method):
        if (self.nin, self.nout) != (2, 1):
            fail(Unsupported, f"{self.__name__}.{method}: only functions of two arguments with one result have it")

    def _reduce(self, a, axis=0, dtype=None, keepdims=False, initial=None, where=None):
        """What the function makes of the elements along axes, from the first to the last."""
        self._of_two("reduce")
        a = ops.array(a) if dtype is None else astype(a, dtype)
        if where is not None:
            start = self.identity if initial is None else initial
            if start is None:
                fail(InvalidArgument, f"{self.__name__}.reduce: with where=, initial= is needed")
            a = ops.where(ops.array(where), a, start)
        axes = range(a.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
        axes = sorted([ops.axis_of("reduce", k, a.ndim) for k in axes], reverse=True)
        if self._reduced is not None:
            made = self._reduced(a, axis=tuple(axes), keepdims=keepdims)
            return made if initial is None else self.f(made, initial)
        for k in axes:
            made = self._along(ops.move(a, k, 0))
            a = manipulation.expand_dims(made, axis=k) if keepdims else made
        return a if initial is None else self.f(initial, a)

    def _along(self, rows):
        if not rows.shape[0]:
            if self.identity is None:
                fail(InvalidArgument, f"{self.__name__}.reduce of no elements: it has no identity")
            return ops.full(rows.shape[1:], self.identity, rows.elem)
        return fori(1, rows.shape[0], lambda k, made: self.f(made, rows[k]), self._first(rows))

    def _first(self, rows):
        """The first row, in the type of the function's results."""
        return ops.as_elem(rows[0], ops.array(self.f(rows[0], rows[0])).elem)

    def _accumulate(self, a, axis=0, dtype=None):
        """What the function makes of the elements up to each position."""
        self._of_two("accumulate")
        a = ops.array(a) if dtype is None else astype(a, dtype)
        rows = ops.move(a, ops.axis_of("accumulate", axis, a.ndim), 0)
        if self._associative:
            made = associative_scan(self.f, rows)
        else:
            first = self._first(rows)
            step = lambda made, row: (self.f(made, row),) * 2
            made = ops.concat([ops.reshape(first, (1,) + first.shape), scan(step, first, rows[1:])[1]], 0)
        return ops.move(made, 0, axis % a.ndim)

    def _outer(self, a, b):
        """The function of all pairs of elements."""
        self._of_two("outer")
        a, b = ops.array(a), ops.array(b)
        return self.f(ops.reshape(a, a.shape + (1,) * b.ndim), b)

    def _at(self, a, indices, b=None, inplace=True):
        if inplace:
            fail(Unsupported, f"{self.__name__}.at: traced arrays do not change: give inplace=False, and use the result")
        a = ops.array(a)
        place = index.At(a)[indices]
        if b is None:
            return place.set(self.f(place.get()))
        self._of_two("at")
        if self._update is not None:
            return getattr(place, self._update)(b)
        if isinstance(indices, tuple) or isinstance(indices, slice):
            fail(Unsupported, f"{self.__name__}.at: only positions along the first axis are supported")
        order = ops.array(indices)
        values = ops.broadcast_to(ops.array(b), order.shape + a.shape[1:])
        order, values = ops.reshape(order, (order.size,)), ops.reshape(values, (order.size,) + a.shape[1:])
        step = lambda k, x: index.At(x)[order[k]].set(self.f(x[order[k]], values[k]))
        return fori(0, order.size, step, a)

    def _reduceat(self, a, indices, axis=0, dtype=None):
        """The function of the elements between each two positions."""
        self._of_two("reduceat")
        a = ops.array(a) if dtype is None else astype(a, dtype)
        if not isinstance(indices, (np.ndarray, list, tuple)):
            fail(Unsupported, f"{self.__name__}.reduceat needs positions that are known when the function is compiled")
        axis, at = ops.axis_of("reduceat", axis, a.ndim), [int(i) for i in indices]
        n = a.shape[axis]
        if any([not 0 <= i < n for i in at]):
            fail(InvalidArgument, f"{self.__name__}.reduceat: a position of {at} is not below {n}")
        ends = [max(b, i + 1) for i, b in zip(at, at[1:] + [n])]
        parts = [self._reduce(ops.slice_axis(a, axis, i, e - i), axis, keepdims=True) for i, e in zip(at, ends)]
        return manipulation.concat(parts, axis=axis)


def frompyfunc(func, /, nin, nout, *, identity=None):
    """A function of single elements as one with the methods of a ufunc."""
    return ufunc(applied.vectorize(func), nin, nout, identity=identity)


#: Functions that have the methods: (name, identity, the reduction, is it associative, the method of x.at[i]).
_WITH_METHODS = (
    ("add", 0, "sum", True, "add"), ("multiply", 1, "prod", True, "multiply"), ("maximum", None, "max", True, "max"),
    ("minimum", None, "min", True, "min"), ("logical_and", True, "all", True, None), ("logical_or", False, "any", True, None),
    ("logical_xor", False, None, True, None), ("bitwise_and", None, None, True, None), ("bitwise_or", 0, None, True, None),
    ("bitwise_xor", 0, None, True, None), ("logaddexp", None, None, True, None), ("logaddexp2", None, None, True, None),
    ("fmax", None, None, True, None), ("fmin", None, None, True, None), ("hypot", 0, None, True, None), ("gcd", 0, None, True, None),
    ("lcm", None, None, True, None), ("subtract", None, None, False, "subtract"), ("divide", None, None, False, "divide"),
    ("pow", None, None, False, "power"), ("floor_divide", None, None, False, None), ("remainder", None, None, False, None),
    ("atan2", None, None, False, None), ("equal", None, None, False, None), ("not_equal", None, None, False, None),
    ("less", None, None, False, None), ("less_equal", None, None, False, None), ("greater", None, None, False, None),
    ("greater_equal", None, None, False, None))
for _name, _identity, _reduced, _associative, _update in _WITH_METHODS:
    _function = getattr(elementwise, _name)
    _made = ufunc(_function, 2, 1, identity=_identity, reduced=_reduced and getattr(reductions, _reduced), associative=_associative, update=_update)
    for _method in METHODS:
        setattr(_function, _method, getattr(_made, _method))
