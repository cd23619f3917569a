"""Convolutions and spectra of signals, as in jax.scipy.signal."""
import numpy as np

from wick import lax, numpy as wnp
from wick.errors import InvalidArgument
from wick.scipy.spectra import csd, istft, stft, welch  # noqa: F401
from wick.trace import ops
from wick.trace.eager import api
from wick.trace.scope import fail


def _convolved(what, x, y, mode, late=False):
    """`late`: of an even number of places, the later one counts as the middle of y."""
    x, y = ops.convert(x, y)
    if x.ndim != y.ndim or not 1 <= x.ndim <= 3:
        fail(InvalidArgument, f"{what}: the shapes {x.shape} and {y.shape} do not fit together")
    if mode not in ("full", "same", "valid"):
        fail(InvalidArgument, f"{what}: the mode {mode!r} is none of full, same, valid")
    if mode == "valid" and any(m < n for m, n in zip(x.shape, y.shape)):
        x, y = y, x
    pads = {"full": [(n - 1, n - 1) for n in y.shape], "valid": [(0, 0)] * y.ndim,
            "same": [(n // 2, (n - 1) // 2)[::-1 if late else 1] for n in y.shape]}[mode]
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
    return _of_images("convolve2d", in1, in2, mode, boundary, fillvalue)


def _of_images(what, x, y, mode, boundary, fillvalue, late=False):
    if boundary != "fill" or fillvalue != 0:
        fail(InvalidArgument, f"{what}: only boundary=\"fill\" with zeros is supported")
    return _convolved(what, x, y, mode, late)


@api
def correlate(in1, in2, mode="full", method="auto", precision=None):
    """The correlation of arrays of 1 to 3 dimensions."""
    return _convolved("correlate", in1, wnp.flip(in2), mode)


@api
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The correlation of images, with zeros around them."""
    return _of_images("correlate2d", in1, wnp.flip(in2), mode, boundary, fillvalue, late=True)


@api
def fftconvolve(in1, in2, mode="full", axes=None):
    """The convolution of arrays of 1 to 3 dimensions, computed directly; along some of their axes, by Fourier transforms."""
    if axes is None:
        return _convolved("fftconvolve", in1, in2, mode)
    x, y = ops.convert(in1, in2)
    axes = [ops.axis_of("fftconvolve", a, x.ndim) for a in np.atleast_1d(axes).tolist()]
    if x.ndim != y.ndim or mode not in ("full", "same", "valid"):
        fail(InvalidArgument, f"fftconvolve: the shapes {x.shape} and {y.shape} do not fit together, or the mode {mode!r} is none of full, same, valid")
    if mode == "valid" and any(x.shape[a] < y.shape[a] for a in axes):
        x, y = y, x
    whole = [x.shape[a] + y.shape[a] - 1 for a in axes]
    made = wnp.fft.irfftn(wnp.fft.rfftn(x, whole, axes) * wnp.fft.rfftn(y, whole, axes), whole, axes)
    for a, n in zip(axes, whole):
        count = {"full": n, "same": x.shape[a], "valid": x.shape[a] - y.shape[a] + 1}[mode]
        begin = (n - count) // 2
        made = lax.slice_in_dim(made, begin, begin + count, axis=a)
    return made


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
