"""Further names of jax.lax that programs use now and then."""
from wick import numpy as wnp
from wick.errors import InvalidArgument, Unsupported
from wick.numpy import products as _products
from wick.trace import elements, ops
from wick.trace.axes import axis_index, axis_size, psum
from wick.trace.complex import pair
from wick.trace.eager import api
from wick.trace.scope import fail


def dtype(x):
    """The element type of an array or a number."""
    return wnp.result_type(x)


@api
def clz(x):
    """The number of zeros before the first bit of whole numbers."""
    x = ops.array(x)
    elem = "u" + x.elem[1:]
    bits = x if x.elem == elem else ops.bitcast(x, elem)
    step = 1
    while step < elements.WIDTH[elem] * 8:  # fills all bits after the first
        bits = ops.binary("bit_or", bits, ops.binary("shift_right", bits, step))
        step *= 2
    return ops.as_elem(wnp.bitwise_count(ops.unary("bit_not", bits)), x.elem)


@api
def population_count(x):
    """The number of bits that are 1, of the type of x."""
    x = ops.array(x)
    return ops.as_elem(wnp.bitwise_count(x), x.elem)


@api
def reduce_xor(x, axes):
    """The exclusive or along axes."""
    x = ops.array(x)
    for axis in sorted([a % x.ndim for a in axes], reverse=True):
        while x.shape[axis] > 1:
            half, odd = divmod(x.shape[axis], 2)
            parts = [ops.slice_axis(x, axis, k * half, half) for k in (0, 1)]
            rest = [ops.slice_axis(x, axis, 2 * half, 1)] if odd else []
            x = ops.concat([ops.binary("bit_xor", *parts)] + rest, axis)
        x = ops.reshape(x, x.shape[:axis] + x.shape[axis + 1:])
    return x


@api
def broadcast_to_rank(x, rank):
    """x with dimensions of size 1 in front."""
    x = ops.array(x)
    return ops.reshape(x, (1,) * (rank - x.ndim) + x.shape)


def platform_dependent(*args, default=None, **per_platform):
    """The function of the platform `cpu`, or `default`, applied to the arguments."""
    f = per_platform.get("cpu", default)
    if f is None:
        fail(Unsupported, "platform_dependent: there is no function for cpu, and no default")
    return f(*args)


@api
def ragged_dot(lhs, rhs, group_sizes, precision=None, preferred_element_type=None, group_offset=None):
    """Products of groups of rows, one after another, each with a matrix of its own; rows after the last group give 0."""
    return _products.in_type(lambda lhs, rhs: _ragged(lhs, rhs, group_sizes), lhs, rhs, preferred_element_type)


def _ragged(lhs, rhs, group_sizes):
    ends = wnp.cumsum(ops.array(group_sizes))
    rows = ops.iota(lhs.shape[0])
    group = wnp.sum(wnp.expand_dims(rows, axis=1) >= ends, axis=1)
    out = ops.full((lhs.shape[0], rhs.shape[-1]), 0, lhs.elem)
    for g in range(rhs.shape[0]):
        own = ops.reshape(ops.binary("eq", group, g, "bool"), (-1, 1))
        out = out + ops.matmul(ops.where(own, lhs, 0), rhs[g])
    return out


def psum_scatter(x, axis_name, *, scatter_dimension=0, axis_index_groups=None, tiled=False):
    """The sum over the rows of vmap, of which each row gets a part."""
    whole, n = psum(x, axis_name), axis_size(axis_name)
    at = axis_index(axis_name)
    if not tiled:
        return wnp.take(whole, at, axis=scatter_dimension)
    part = whole.shape[scatter_dimension] // n
    return wnp.take(whole, at * part + wnp.arange(part), axis=scatter_dimension)


class FftType:
    """The kinds of transforms that `fft` takes."""

    FFT, IFFT, RFFT, IRFFT = "FFT", "IFFT", "RFFT", "IRFFT"


@api
def complex(x, y):
    """The complex array of a real and an imaginary part."""
    return pair(x, y)


def fft(x, fft_type, fft_lengths):
    """Transforms along the last axes: "FFT", "IFFT", "RFFT" or "IRFFT"."""
    kind = str(getattr(fft_type, "name", fft_type)).lower()
    if kind not in ("fft", "ifft", "rfft", "irfft"):
        fail(InvalidArgument, f"fft: the type {fft_type!r} is none of FFT, IFFT, RFFT, IRFFT")
    lengths = tuple(fft_lengths)
    return getattr(wnp.fft, f"{kind}n")(x, lengths, tuple(range(-len(lengths), 0)))
