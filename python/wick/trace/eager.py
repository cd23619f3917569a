"""Functions of wick.numpy and its like outside of a trace: each call compiles what it computes, once for each kind of
arguments, and gives arrays of NumPy."""
import functools
import inspect

import numpy as np

from wick.errors import TypeMismatch
from wick.trace import scope as scopes, tree
from wick.trace.complex import concerns
from wick.trace.function import PROGRAMS, Function
from wick.trace.host import result
from wick.trace.scope import Traced

_functions = {}


def _is_array(x):
    return isinstance(x, (np.ndarray, np.generic)) or hasattr(x, "__dlpack__")


def run(f, called, args, named, floats):
    """Arrays are arguments of the compiled function, and with `floats` Python's floats; all else is static."""
    leaves, structure = tree.flatten((args, named))
    if floats and any([_is_array(x) and getattr(x, "dtype", None) == np.float64 for x in leaves]):
        leaves = [np.asarray(x) if type(x) is float else x for x in leaves]  # with all of their digits
    dynamic = [_is_array(x) or (floats and type(x) is float) for x in leaves]
    static = tuple([None if d else x for x, d in zip(leaves, dynamic)])
    key = f, structure, static, tuple(map(type, static)), tuple(dynamic)
    made = _functions.get(key)
    if made is None:
        def call(*arrays):
            given = iter(arrays)
            args, named = structure.build(iter([next(given) if d else x for x, d in zip(leaves, dynamic)]))
            return called(*args, **named)

        call.__name__ = f.__name__
        made = _functions[key] = Function(call, threads=1)
        leaves = list(leaves)
        while len(_functions) > PROGRAMS * 8:
            del _functions[next(iter(_functions))]
    return made(*[x for x, d in zip(leaves, dynamic) if d])


def api(f, takes_complex=False):
    """A function on traced arrays that may also be called outside of a trace. Calls with complex numbers go to
    wick.numpy.complex_functions, unless it takes them itself."""

    @functools.wraps(f)
    def called(*args, **named):
        if scopes.current() is not None:
            if not takes_complex and concerns(args, named):
                from wick.numpy.complex_functions import called as of_complex
                return of_complex(f, args, named)
            return f(*args, **named)
        try:
            return run(f, called, args, named, True)
        except TypeMismatch:
            if not any(type(x) is float for x in tree.leaves((args, named))):
                raise
            return run(f, called, args, named, False)

    return called


def sized(given="size", numpy=None, takes=None):
    """A function whose result has a size that follows from the contents of its arguments, unless the argument `given` says it:
    where nothing is traced, the contents are known, and NumPy's function of the same name computes it (or `numpy`). `takes`: only of so many arguments."""

    def decorated(f):
        theirs = numpy or getattr(np, f.__name__)

        @functools.wraps(f)
        def called(*args, **named):
            if named.get(given) is not None or (takes or len(args)) != len(args) or is_traced(args, named):
                return f(*args, **named)
            from wick.numpy.creation import asarray
            known = [asarray(x) if isinstance(x, (list, tuple)) else x for x in args]
            out = theirs(*known, **{k: v for k, v in named.items() if k not in (given, "fill_value")})
            return tree.map(made, out)

        return called

    return decorated


def knows(*names):
    """A function that has to know the contents of these arguments when it is compiled: outside of a trace, arrays are lists."""

    def decorated(f):
        signature = inspect.signature(f)

        @functools.wraps(f)
        def called(*args, **named):
            if scopes.current() is None:
                bound = signature.bind(*args, **named)
                for name in names:
                    if isinstance(bound.arguments.get(name), np.ndarray):
                        bound.arguments[name] = bound.arguments[name].tolist()
                args, named = bound.args, bound.kwargs
            return f(*args, **named)

        return called

    return decorated


def complex_too(f):
    """A function that computes nothing where it gets real numbers: only calls with complex ones are compiled."""
    computed = api(f)

    @functools.wraps(f)
    def called(*args, **named):
        return computed(*args, **named) if concerns(args, named) else f(*args, **named)

    return called


def made(array, traced=None):
    """An array that does not depend on traced values; traced() may make it more cheaply in a trace."""
    if scopes.current() is None:
        return result(np.ascontiguousarray(array)) if array.ndim else np.array(array)
    from wick.trace import ops
    return traced() if traced else ops.constant(array)


def is_traced(*xs):
    return any(isinstance(x, Traced) for x in tree.leaves(xs))
