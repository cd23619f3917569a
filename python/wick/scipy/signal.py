"""Convolutions and spectra of signals, as in jax.scipy.signal."""
import numpy as np

from wick import lax, numpy as wnp
from wick.errors import InvalidArgument
from wick.scipy.spectra import csd, istft, stft, welch  # noqa: F401
from wick.trace import ops
from wick.trace.eager import api
from wick.trace.scope import fail


def _convolved(what, x, y, mode):
    x, y = ops.convert(x, y)
    if x.ndim != y.ndim or not 1 <= x.ndim <= 3:
        fail(InvalidArgument, f"{what}: the shapes {x.shape} and {y.shape} do not fit together")
    if mode not in ("full", "same", "valid"):
        fail(InvalidArgument, f"{what}: the mode {mode!r} is none of full, same, valid")
    if mode == "valid" and any(m < n for m, n in zip(x.shape, y.shape)):
        x, y = y, x
    pads = {"full": [(n - 1, n - 1) for n in y.shape], "valid": [(0, 0)] * y.ndim,
            "same": [(n - 1 - (n - 1) // 2, (n - 1) // 2) for n in y.shape]}[mode]
    turned = wnp.flip(y)
    made = lax.conv_general_dilated(ops.reshape(x, (1, 1) + x.shape), ops.reshape(turned, (1, 1) + y.shape), (1,) * x.ndim, pads)
    return ops.reshape(made, made.shape[2:])


@api
def convolve(in1, in2, mode="full", method="auto", precision=None):
    """The convolution of arrays of 1 to 3 dimensions."""
    return _convolved("convolve", in1, in2, mode)


@api
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The convolution of images, with zeros around them."""
    if boundary != "fill" or fillvalue != 0:
        fail(InvalidArgument, "convolve2d: only boundary=\"fill\" with zeros is supported")
    return _convolved("convolve2d", in1, in2, mode)


@api
def correlate(in1, in2, mode="full", method="auto", precision=None):
    """The correlation of arrays of 1 to 3 dimensions."""
    return _convolved("correlate", in1, wnp.flip(in2), mode)


@api
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The correlation of images, with zeros around them."""
    return convolve2d(in1, wnp.flip(in2), mode, boundary, fillvalue)


@api
def fftconvolve(in1, in2, mode="full", axes=None):
    """The convolution of arrays of 1 to 3 dimensions, computed directly."""
    if axes is not None:
        fail(InvalidArgument, "fftconvolve: axes are not supported")
    return _convolved("fftconvolve", in1, in2, mode)


@api
def detrend(data, axis=-1, type="linear", bp=0, overwrite_data=None):
    """The data without their mean, or without the straight line that fits them best."""
    x = wnp.moveaxis(ops.floating(ops.array(data)), axis, -1)
    if type not in ("linear", "constant") or bp != 0:
        fail(InvalidArgument, f"detrend: type={type!r} and bp={bp!r}, expected linear or constant, and no break points")
    rest = x - wnp.mean(x, axis=-1, keepdims=True)
    if type == "linear":
        at = np.arange(x.shape[-1]) - (x.shape[-1] - 1) / 2
        at, slope = [ops.as_elem(ops.array(v), x.elem) for v in (at, at / max((at * at).sum(), 1))]
        rest = rest - wnp.sum(rest * slope, axis=-1, keepdims=True) * at
    return wnp.moveaxis(rest, -1, axis)
