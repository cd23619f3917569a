"""Names of jax.dtypes. A key of wick.random is an array of the type `prng_key`."""
import numpy as np

from wick import types
from wick.numpy import bfloat16, issubdtype, promote_types, result_type  # noqa: F401
from wick.trace import elements
from wick.trace.complex import dtype_of, is_complex_type

prng_key = np.uint64
float0 = np.dtype([("float0", np.void, 0)])


def canonicalize_dtype(dtype, allow_extended_dtype=False):
    """The type that arrays have for what a program writes: that of Python's types is the default one."""
    if is_complex_type(dtype):
        return np.dtype(np.complex64) if dtype is complex else dtype_of(dtype)
    return types.dtype(elements.of_dtype(dtype))
