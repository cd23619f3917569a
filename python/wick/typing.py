"""Types for annotations, as in jax.typing."""
import typing

import numpy as np

from wick.environment import Array

#: What functions of wick.numpy take as an array.
ArrayLike = typing.Union[Array, np.ndarray, np.generic, bool, int, float, complex]
#: What names an element type.
DTypeLike = typing.Union[str, type, np.dtype]
