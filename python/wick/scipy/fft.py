"""Cosine transforms, as in jax.scipy.fft, as products with matrices."""
import numpy as np

from wick import numpy as wnp
from wick.errors import InvalidArgument, Unsupported
from wick.trace import ops
from wick.trace.eager import api
from wick.trace.scope import fail


def _matrix(n, inverse, norm):
    """Rows of cosines; with norm="ortho" they are orthonormal."""
    k, at = np.arange(n)[:, None], np.arange(n)
    m = 2 * np.cos(np.pi * k * (2 * at + 1) / (2 * n))
    scale = np.where(k == 0, (4 * n) ** -0.5, (2 * n) ** -0.5)
    if norm == "ortho":
        return (m * scale).T if inverse else m * scale
    return (m * scale * scale).T if inverse else m


def _transformed(name, x, type, n, axis, norm, inverse):
    x = ops.floating(x)
    if type != 2:
        fail(Unsupported, f"{name}: the type {type} is not supported, expected 2")
    if norm not in (None, "backward", "ortho"):
        fail(Unsupported, f"{name}: the norm {norm!r} is not supported, expected None, 'backward' or 'ortho'")
    axis = ops.axis_of(name, axis, x.ndim)
    size = x.shape[axis]
    n = size if n is None else ops.whole(f"{name}: n", n)
    if n < 1:
        fail(InvalidArgument, f"{name}: n is {n}, expected at least 1")
    if n < size:
        x = x[(slice(None),) * axis + (slice(n),)]
    elif n > size:
        x = wnp.pad(x, [(0, n - size if k == axis else 0) for k in range(x.ndim)])
    m = ops.as_elem(wnp.asarray(_matrix(n, inverse, norm)), x.elem)
    return wnp.moveaxis(wnp.moveaxis(x, axis, -1) @ m.T, -1, axis)


def _all_axes(name, x, type, s, axes, norm, inverse):
    x = ops.floating(x)
    axes = ops.axes_of(name, tuple(range(x.ndim)) if axes is None else axes, x.ndim)
    sizes = [None] * len(axes) if s is None else list(s)
    if len(sizes) != len(axes):
        fail(InvalidArgument, f"{name}: {len(sizes)} sizes for {len(axes)} axes")
    for axis, n in zip(axes, sizes):
        x = _transformed(name, x, type, n, axis, norm, inverse)
    return x


@api
def dct(x, type=2, n=None, axis=-1, norm=None):
    """The cosine transform of type 2 along an axis."""
    return _transformed("dct", x, type, n, axis, norm, False)


@api
def idct(x, type=2, n=None, axis=-1, norm=None):
    """The inverse of dct."""
    return _transformed("idct", x, type, n, axis, norm, True)


@api
def dctn(x, type=2, s=None, axes=None, norm=None):
    """dct along several axes."""
    return _all_axes("dctn", x, type, s, axes, norm, False)


@api
def idctn(x, type=2, s=None, axes=None, norm=None):
    """The inverse of dctn."""
    return _all_axes("idctn", x, type, s, axes, norm, True)
