"""Arrays outside of traced functions: NumPy's, with x.at[...] as traced ones have it."""
import typing

import numpy as np


class _Part(typing.NamedTuple):
    """A slice, which is no key of a table."""

    start: object
    stop: object
    step: object


def _kept(index):
    """The items of an index, with masks as positions."""
    out = []
    for i in index if isinstance(index, tuple) else (index,):
        if isinstance(i, np.ndarray) and i.dtype == bool and i.ndim:
            out += np.nonzero(i)
        else:
            out.append(_Part(i.start, i.stop, i.step) if isinstance(i, slice) else i)
    return tuple(out)


def _updated(x, index, method, *args, **named):
    from wick.trace import ops
    from wick.trace.tree import Pair
    place = tuple([slice(*i) if isinstance(i, _Part) else i for i in index])
    return getattr((x if isinstance(x, Pair) else ops.array(x)).at[place], method)(*args, **named)


def _method(name):
    def method(self, *args, **named):
        from wick.trace.eager import api
        global _updated_outside
        _updated_outside = _updated_outside or api(_updated, takes_complex=True)
        return _updated_outside(self._x, self._index, name, *args, **named)
    method.__name__ = name
    return method


_updated_outside = None


class Update:
    """x.at[index] outside of traced functions: each method gives a new array."""

    def __init__(self, x, index):
        self._x, self._index = x, _kept(index)


for _name in "get set add subtract multiply mul divide power min max apply".split():
    setattr(Update, _name, _method(_name))


class _At:
    def __init__(self, x):
        self._x = x

    def __getitem__(self, index):
        return Update(self._x, index)


#: Types of 64 bits a part; what they become where no operand has one of them.
_WIDE = {"d": np.float32, "D": np.complex64}


def _narrowed(made, operands):
    """A result with the type that it has in a traced function: NumPy's operations on integers and numbers give floats of 64 bits."""
    types = [x.dtype for x in operands if isinstance(x, np.ndarray)]
    if any([t.char in _WIDE for t in types]):
        return made
    floats = [t for t in types if t.kind == "f" and made.dtype.kind == "f"]
    return made.astype(max(floats, key=lambda t: t.itemsize) if floats else _WIDE[made.dtype.char])


def _statistic(name):
    def method(self, *args, **named):
        x = self.astype(np.float32) if self.dtype.kind in "iub" else self
        return getattr(super(array, x), name)(*args, **named)
    method.__name__ = name
    return method


class array(np.ndarray):  # the name is what repr shows
    """A result: an array of NumPy that also has `at`."""

    at = property(_At)

    def __getitem__(self, index):
        from wick.trace.eager import is_traced
        from wick.trace.scope import current
        if current() is not None and is_traced(index):  # x[i] in a traced function that refers to x
            from wick.trace import ops
            return ops.array(self)[index]
        return super().__getitem__(index)

    def __array_wrap__(self, made, context=None, return_scalar=False):
        if context is not None and made.dtype.char in _WIDE:
            made = _narrowed(made, context[1])
        return made.view(array) if made.ndim else made[()]  # sums and the like are NumPy's scalars, as those of its own arrays

    def block_until_ready(self):
        return self

    weak_type = False
    is_fully_addressable = is_fully_replicated = True
    mean, var, std = map(_statistic, ("mean", "var", "std"))  # `sort` stays in place: NumPy's own functions call it

    def ptp(self, axis=None, **named):
        return np.ptp(self, axis, **named)

    def devices(self):
        from wick.environment import devices
        return set(devices())


#: Types of arrays that need no conversion.
ARRAYS = frozenset((np.ndarray, array))


def result(x):
    """An array of NumPy as the result of a call."""
    return x.view(array) if type(x) is np.ndarray and x.ndim else x
