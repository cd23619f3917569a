"""The functions of the Python array API standard 2024.12 and others of NumPy, for traced functions.

Outside of a trace they compile what they compute, and give arrays of NumPy."""
import math

import numpy as _np

from wick.trace import spelling as _spelling
from wick.numpy import creation as _creation, elementwise as _elementwise, manipulation as _manipulation
from wick.numpy import products as _products, reductions as _reductions, searching as _searching
from wick.numpy import applied as _applied, comparison as _comparison, polynomials as _polynomials
from wick.environment import Array as ndarray

_HIDDEN = {"api", "knows", "sized", "math", "builtins", "elem_of", "truth", "made", "complex_too", "concerns", "dtype_of", "is_complex", "is_complex_type", "real_type", "fail", "emit", "emit_all", "name_of", "sizes", "number", "is_traced",
           "elements", "index", "ops", "np", "types", "contract", "total", "abs_number", "abs_of", "all_of", "max_of", "min_of", "sum_of", "in_type", "eigvals"}
__all__ = []
for _module in (_creation, _elementwise, _manipulation, _products, _reductions, _searching, _applied, _comparison, _polynomials):
    for _name, _f in vars(_module).items():
        if _name.startswith("_") or _name in _HIDDEN or not callable(_f) or isinstance(_f, type) and not isinstance(_f, _creation.ScalarType):
            continue
        if isinstance(_f, type) or getattr(_f, "__module__", "").startswith("wick.numpy"):
            globals()[_name] = _f
            __all__.append(_name)

from wick.numpy import fft, linalg  # noqa: E402, F401
from wick.numpy.linalg import matrix_rank  # noqa: E402, F401
from wick.numpy.ufuncs import frompyfunc, ufunc  # noqa: E402, F401

mgrid, ogrid, r_, c_, s_, index_exp = (getattr(_applied, _name) for _name in "mgrid ogrid r_ c_ s_ index_exp".split())
bool = bool_  # noqa: F821
single, double, float_, int_, uint, dtype, generic = float32, float64, float32, int64, uint64, _np.dtype, _np.generic  # noqa: F821
try:
    from ml_dtypes import bfloat16 as _bfloat16
    bfloat16 = _creation.ScalarType(_bfloat16)
except ImportError:
    pass
floating, integer, inexact, number, signedinteger, unsignedinteger = (
    _np.floating, _np.integer, _np.inexact, _np.number, _np.signedinteger, _np.unsignedinteger)
e, pi, inf, nan, newaxis, euler_gamma = math.e, math.pi, math.inf, math.nan, None, _np.euler_gamma
complexfloating, character, flexible, object_ = _np.complexfloating, _np.character, _np.flexible, _np.object_
csingle, cdouble, complex_ = complex64, complex128, complex64  # noqa: F821
array_repr, array_str, set_printoptions, get_printoptions, printoptions, save, savez, load = (
    getattr(_np, _name) for _name in
    "array_repr array_str set_printoptions get_printoptions printoptions save savez load".split())


def i0(x):
    """The modified Bessel function of order 0."""
    from wick.scipy import special
    return special.i0(x)


__array_api_version__ = "2024.12"

_spelling.spell(__name__, globals())
