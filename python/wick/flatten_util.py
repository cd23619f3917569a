"""A structure of arrays as one vector, as in jax.flatten_util."""
import math

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick import tree


def ravel_pytree(pytree):
    """(the elements of all arrays as one vector, the function from such a vector to the structure)"""
    leaves, structure = tree.flatten(pytree)
    arrays = [x if hasattr(x, "dtype") else wnp.asarray(x) for x in leaves]
    shapes, dtypes = [x.shape for x in arrays], [x.dtype for x in arrays]
    flat = wnp.concatenate([wnp.ravel(x) for x in arrays]) if arrays else wnp.zeros((0,))

    def unravel(vector):
        if vector.shape != flat.shape:
            raise InvalidArgument(f"ravel_pytree: a vector of {flat.shape[0]} elements is expected, the shape is {vector.shape}")
        at, out = 0, []
        for shape, dtype in zip(shapes, dtypes):
            n = math.prod(shape)
            out.append(wnp.astype(wnp.reshape(vector[at:at + n], shape), dtype))
            at += n
        return structure.build(iter(out))

    return flat, unravel
