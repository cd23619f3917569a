"""Spectra of signals, as in jax.scipy.signal: transforms of windows that overlap."""
import math

import numpy as np

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.trace import ops
from wick.trace.complex import is_complex
from wick.trace.eager import is_traced
from wick.trace.scope import fail

#: The coefficients of cosines of windows that SciPy has by name.
_WINDOWS = {"boxcar": (1,), "hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08), "nuttall": (0.3635819, 0.4891775, 0.1365995, 0.0106411),
            "blackmanharris": (0.35875, 0.48829, 0.14128, 0.01168)}


def _window(window, n):
    """The window's n numbers, and n."""
    if isinstance(window, str):
        if window not in _WINDOWS:
            fail(InvalidArgument, f"the window {window!r} is none of {', '.join(_WINDOWS)}: give its numbers")
        turn = 2 * math.pi * np.arange(n) / n
        return sum([(-1) ** k * c * np.cos(k * turn) for k, c in enumerate(_WINDOWS[window])]).astype(np.float32), n
    if isinstance(window, tuple):
        fail(InvalidArgument, f"the window {window} is given by a name and numbers: give its elements")
    return window, window.shape[0]


def _sizes(what, window, nperseg, noverlap, nfft, length):
    if nperseg is None:
        nperseg = length if isinstance(window, str) else window.shape[0]
    nperseg = min(ops.whole(f"{what}: nperseg", nperseg), length) if length is not None else nperseg
    window, n = _window(window, nperseg)
    if n != nperseg:
        fail(InvalidArgument, f"{what}: the window has {n} elements, nperseg is {nperseg}")
    noverlap = nperseg // 2 if noverlap is None else noverlap
    nfft = nperseg if nfft is None else nfft
    if noverlap >= nperseg or nfft < nperseg:
        fail(InvalidArgument, f"{what}: noverlap is {noverlap} and nfft {nfft}, expected less than {nperseg} and at least as many")
    return window, nperseg, noverlap, nfft


def _extended(x, boundary, n):
    """x with n elements more at both ends of its last axis."""
    if boundary is None or n == 0:
        return x
    if boundary in ("zeros", "constant"):
        return wnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(n, n)], mode="constant" if boundary == "zeros" else "edge")
    first, last = x[..., 1:n + 1][..., ::-1], x[..., -n - 1:-1][..., ::-1]
    if boundary == "odd":
        first, last = 2 * x[..., :1] - first, 2 * x[..., -1:] - last
    elif boundary != "even":
        fail(InvalidArgument, f"stft: the boundary {boundary!r} is none of even, odd, constant, zeros, None")
    return wnp.concatenate([first, x, last], axis=-1)


def _frames(x, size, step):
    count = (x.shape[-1] - size) // step + 1
    at = np.arange(count)[:, None] * step + np.arange(size)
    return wnp.take(x, at, axis=-1)


def _detrended(kind):
    from wick.scipy.signal import detrend
    if callable(kind):
        return kind
    return (lambda x: x) if kind is False else lambda x: detrend(x, type=kind)


def _spectra(what, x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, mode, boundary=None, padded=False):
    """(frequencies, times, spectra with the times last): those of x, or products of x and y."""
    if scaling not in ("density", "spectrum"):
        fail(InvalidArgument, f"{what}: scaling is {scaling!r}, expected density or spectrum")
    both = [x] if y is None else [x, y]
    length = max([v.shape[-1] for v in both])
    both = [v if v.shape[-1] == length else wnp.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, length - v.shape[-1])]) for v in both]
    window, nperseg, noverlap, nfft = _sizes(what, window, nperseg, noverlap, nfft, length)
    both = [_extended(v, boundary, nperseg // 2) for v in both]
    step = nperseg - noverlap
    if padded:
        rest = -(both[0].shape[-1] - nperseg) % step % nperseg
        both = [wnp.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, rest)]) for v in both]
    if any([is_complex(v) for v in both]):
        return_onesided = False
    flat = _detrended(detrend)
    transform = wnp.fft.rfft if return_onesided else wnp.fft.fft
    made = [transform(flat(_frames(v, nperseg, step)) * window, nfft) for v in both]
    scale = 1 / (fs * wnp.sum(window * window)) if scaling == "density" else 1 / wnp.sum(window) ** 2
    if mode == "stft":
        out = made[0] * wnp.sqrt(scale)
    else:
        out = wnp.conj(made[0]) * made[-1] * scale if y is not None else wnp.abs(made[0]) ** 2 * scale
        if return_onesided:
            twice = np.full(nfft // 2 + 1, 2, np.float32)
            twice[0] = 1
            twice[nfft // 2:] = 1 if nfft % 2 == 0 else 2
            out = out * twice
    count = out.shape[-2]
    times = (np.arange(count) * step + nperseg / 2) / fs - (nperseg / 2 / fs if boundary is not None else 0)
    frequencies = (np.fft.rfftfreq if return_onesided else np.fft.fftfreq)(nfft, 1 / fs)
    return frequencies.astype(np.float32), times.astype(np.float32), wnp.swapaxes(out, -1, -2)


def _given(what, fs, axis, x):
    if is_traced(fs):
        fail(InvalidArgument, f"{what}: fs is known only when the function runs; expected a number")
    if axis not in (-1, x.ndim - 1):
        fail(InvalidArgument, f"{what}: axis is {axis}, expected the last one: use moveaxis")


def stft(x, fs=1.0, window="hann", nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True, boundary="zeros", padded=True, axis=-1):
    """(frequencies, times, Fourier transforms of windows of x, with the times last)."""
    x = x if hasattr(x, "ndim") else wnp.asarray(x)
    _given("stft", fs, axis, x)
    return _spectra("stft", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, "spectrum", "stft", boundary, padded)


def csd(x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1, average="mean"):
    """(frequencies, the cross power of x and y, averaged over windows)."""
    x = x if hasattr(x, "ndim") else wnp.asarray(x)
    _given("csd", fs, axis, x)
    y = y if y is None or hasattr(y, "ndim") else wnp.asarray(y)
    frequencies, _, power = _spectra("csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, "psd")
    if average == "mean":
        return frequencies, wnp.mean(power, axis=-1)
    if average != "median" or is_complex(power):
        fail(InvalidArgument, f"csd: average is {average!r}, expected mean, or median of one signal")
    n = 2 * np.arange(1, (power.shape[-1] - 1) // 2 + 1)
    return frequencies, wnp.median(power, axis=-1) / float(1 + np.sum(1 / (n + 1) - 1 / n))


def welch(x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True, scaling="density", axis=-1, average="mean"):
    """(frequencies, the power of x, averaged over windows)."""
    return csd(x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def istft(Zxx, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, input_onesided=True, boundary=True, time_axis=-1, freq_axis=-2):
    """(times, the signal of which Zxx is the stft)."""
    _given("istft", fs, -1, Zxx)
    z = wnp.moveaxis(Zxx, (freq_axis, time_axis), (-2, -1))
    length = 2 * (z.shape[-2] - 1) if input_onesided else z.shape[-2]
    nfft = nfft if nfft is not None else length + 1 if nperseg == length + 1 else length
    window, nperseg, noverlap, nfft = _sizes("istft", window, nperseg or length, noverlap, nfft, None)
    step, count = nperseg - noverlap, z.shape[-1]
    rows = (wnp.fft.irfft if input_onesided else wnp.fft.ifft)(wnp.swapaxes(z, -1, -2), nfft)[..., :nperseg]
    at = (np.arange(count)[:, None] * step + np.arange(nperseg)).reshape(-1)
    total = nperseg + (count - 1) * step
    rows = rows * window
    summed = wnp.zeros(rows.shape[:-2] + (total,), rows.dtype).at[..., at].add(wnp.reshape(rows, rows.shape[:-2] + (count * nperseg,)) * wnp.sum(window))
    square = wnp.zeros(total).at[at].add(wnp.tile(wnp.asarray(window) ** 2, count))
    summed = summed / wnp.where(square > 1e-10, square, 1.0)
    if boundary:
        summed = summed[..., nperseg // 2:total - nperseg // 2]
    return (np.arange(summed.shape[-1]) / fs).astype(np.float32), summed
