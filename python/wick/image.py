"""Images of another size, as in jax.image: a product with one matrix of weights for each dimension."""
import math

import numpy as np

from wick.errors import InvalidArgument
from wick.trace import ops
from wick.trace.eager import api, is_traced
from wick.trace.scope import fail


def _lanczos(radius):
    def kernel(x):
        near = np.where(x == 0, 1.0, x)
        y = radius * np.sin(math.pi * near) * np.sin(math.pi * near / radius) / (math.pi * near) ** 2
        return np.where(x > radius, 0.0, np.where(x == 0, 1.0, y))
    return kernel


def _cubic(x):
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0.0, np.where(x >= 1, far, near))


_KERNELS = {"linear": lambda x: np.maximum(0, 1 - x), "cubic": _cubic, "lanczos3": _lanczos(3.0), "lanczos5": _lanczos(5.0)}
_ALIASES = {"bilinear": "linear", "trilinear": "linear", "triangle": "linear", "bicubic": "cubic", "tricubic": "cubic"}


class ResizeMethod:
    """The methods of resize."""

    NEAREST, LINEAR, LANCZOS3, LANCZOS5, CUBIC = "nearest", "linear", "lanczos3", "lanczos5", "cubic"

    @staticmethod
    def from_string(s):
        return s


def _weights(n, m, scale, shift, kernel, antialias):
    """The matrix [n, m] of a dimension of n elements that becomes m. The scale and the shift may be traced: NumPy's functions
    are those of wick.numpy then."""
    wide = np.maximum(1 / scale, 1.0) if antialias else 1.0
    at = (np.arange(m) + 0.5) / scale - shift / scale - 0.5
    weights = kernel(np.abs(at[None, :] - np.arange(n)[:, None]) / wide)
    total = weights.sum(axis=0, keepdims=True)
    weights = np.where(np.abs(total) > 1000 * np.finfo(np.float32).eps, weights / np.where(total == 0, 1, total), 0)
    return np.where((at >= -0.5) & (at <= n - 0.5), weights, 0).astype(np.float32)


def _kernel(method):
    name = _ALIASES.get(method, method)
    if name not in _KERNELS:
        fail(InvalidArgument, f"the method {method!r} of resizing is none of nearest, {', '.join([*_KERNELS, *_ALIASES])}")
    return _KERNELS[name]


def _multiplied(x, matrices):
    """x times the matrices, each along its dimension."""
    for axis, w in matrices.items():
        moved = ops.move(x, axis, x.ndim - 1)
        x = ops.move(ops.matmul(moved, ops.as_elem(ops.array(w), x.elem)), x.ndim - 1, axis)
    return x


@api
def resize(image, shape, method, antialias=True, precision=None):
    """The image in another shape; dimensions that stay as they are are not read between elements."""
    x = ops.array(image)
    shape = ops.shape_of("resize", shape)
    if len(shape) != x.ndim:
        fail(InvalidArgument, f"resize: the shape {shape} for an image of the shape {x.shape}")
    axes = [a for a in range(x.ndim) if shape[a] != x.shape[a]]
    if method == "nearest":
        for a in axes:
            at = np.floor((np.arange(shape[a]) + 0.5) * x.shape[a] / shape[a]).astype(np.int64)
            x = ops.gather(x, ops.array(at), a)
        return x
    kernel, x = _kernel(method), ops.floating(x)
    return _multiplied(x, {a: _weights(x.shape[a], shape[a], shape[a] / x.shape[a], 0.0, kernel, antialias) for a in axes})


@api
def scale_and_translate(image, shape, spatial_dims, scale, translation, method, antialias=True, precision=None):
    """The image in another shape, scaled and moved along `spatial_dims` by factors and distances."""
    x = ops.floating(ops.array(image))
    scale, translation = [v if is_traced(v) else np.asarray(v, np.float64) for v in (scale, translation)]
    shape, kernel = ops.shape_of("scale_and_translate", shape), _kernel(method)
    return _multiplied(x, {a: _weights(x.shape[a], shape[a], s, t, kernel, antialias) for a, s, t in zip(spatial_dims, scale, translation)})
