"""The parts of numpy.fft that need no complex numbers; the others are refused."""
import numpy as np

from wick import types
from wick.errors import Unsupported
from wick.numpy.creation import elem_of
from wick.numpy.manipulation import roll as _roll
from wick.trace import elements
from wick.trace.eager import made as _made
from wick.trace.scope import fail


def _frequencies(f, n, d, dtype):
    return _made(f(n, d).astype(types.dtype(elem_of(dtype, elements.FLOAT))))


def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of a transform's elements."""
    return _frequencies(np.fft.fftfreq, n, d, dtype)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of the elements of a real array's transform."""
    return _frequencies(np.fft.rfftfreq, n, d, dtype)


def _shifted(x, axes, half):
    axes = tuple(range(len(x.shape))) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    return _roll(x, tuple([half(x.shape[a]) for a in axes]), axis=axes)


def fftshift(x, axes=None):
    """x with the frequency 0 in the middle."""
    return _shifted(x, axes, lambda n: n // 2)


def ifftshift(x, axes=None):
    """The inverse of fftshift."""
    return _shifted(x, axes, lambda n: -(n // 2))


def _refused(name):
    def transform(*_, **__):
        fail(Unsupported, f"wick.numpy.fft.{name}: there are no complex numbers. A product with matrices of cosines and sines gives the "
                          "real and the imaginary part of a transform")
    transform.__name__ = name
    return transform


for _name in "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft".split():
    globals()[_name] = _refused(_name)
