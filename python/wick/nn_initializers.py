"""First values of weights by key: wick.nn.initializers, as in jax.nn.initializers."""
import math
import types as _types

from wick import numpy as wnp, random
from wick.errors import InvalidArgument


def _fans(shape, in_axis, out_axis):
    size = math.prod(shape) / (shape[in_axis] * shape[out_axis])
    return shape[in_axis] * size, shape[out_axis] * size


def zeros(key, shape, dtype=None):
    """Zeros."""
    return wnp.zeros(shape, dtype)


def ones(key, shape, dtype=None):
    """Ones."""
    return wnp.ones(shape, dtype)


def constant(value, dtype=None):
    """One value."""
    return lambda key, shape, dtype=dtype: wnp.full(shape, value, dtype)


def normal(stddev=1e-2, dtype=None):
    """Normal numbers."""
    return lambda key, shape, dtype=dtype: wnp.multiply(random.normal(key, shape, dtype), stddev)


def uniform(scale=1e-2, dtype=None):
    """Uniform numbers from 0 to scale."""
    return lambda key, shape, dtype=dtype: wnp.multiply(random.uniform(key, shape, dtype), scale)


def truncated_normal(stddev=1e-2, dtype=None, lower=-2.0, upper=2.0):
    """Normal numbers between two bounds, in units of their deviation before it was cut."""
    return lambda key, shape, dtype=dtype: wnp.multiply(random.truncated_normal(key, lower, upper, shape, dtype), stddev)


def variance_scaling(scale, mode, distribution, in_axis=-2, out_axis=-1, dtype=None):
    """Numbers whose variance is `scale` divided by the number of inputs, of outputs, or their mean."""
    def init(key, shape, dtype=dtype):
        fan_in, fan_out = _fans(shape, in_axis, out_axis)
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}
        if mode not in fans:
            raise InvalidArgument(f"variance_scaling: the mode {mode!r} is none of {', '.join(fans)}")
        variance = scale / fans[mode]
        if distribution == "normal":
            return wnp.multiply(random.normal(key, shape, dtype), math.sqrt(variance))
        if distribution == "uniform":
            return wnp.multiply(random.uniform(key, shape, dtype, -1.0, 1.0), math.sqrt(3 * variance))
        if distribution != "truncated_normal":
            raise InvalidArgument(f"variance_scaling: the distribution {distribution!r} is none of normal, truncated_normal, uniform")
        return wnp.multiply(random.truncated_normal(key, -2.0, 2.0, shape, dtype), math.sqrt(variance) / 0.87962566103423978)
    return init


def _scaled(scale, mode, distribution):
    return lambda in_axis=-2, out_axis=-1, dtype=None: variance_scaling(scale, mode, distribution, in_axis, out_axis, dtype)


def orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """Matrices with orthogonal columns or rows: those of `column_axis`, and all other axes as one."""
    def init(key, shape, dtype=dtype):
        if len(shape) < 2:
            raise InvalidArgument(f"orthogonal: the shape {tuple(shape)} has fewer than two dimensions")
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        made = wnp.multiply(random.orthogonal(key, max(rows, columns), (), dtype), scale)[:rows, :columns]
        others = [n for k, n in enumerate(shape) if k != column_axis % len(shape)]
        return wnp.moveaxis(wnp.reshape(made, (*others, columns)), -1, column_axis)
    return init


def delta_orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """Weights of convolutions that are orthogonal matrices at the middle of the window, and 0 elsewhere."""
    def init(key, shape, dtype=dtype):
        if len(shape) not in (3, 4, 5) or shape[-1] < shape[-2]:
            raise InvalidArgument(f"delta_orthogonal: the shape {tuple(shape)} is none of 3 to 5 dimensions with at least as many outputs as inputs")
        made = wnp.multiply(random.orthogonal(key, shape[-1], (), dtype), scale)[:shape[-2]]
        at = tuple([(n - 1) // 2 for n in shape[:-2]])
        return wnp.asarray(wnp.pad(made[(None,) * len(at)], [(k, n - 1 - k) for k, n in zip(at, shape)] + [(0, 0)] * 2))
    return init


initializers = _types.SimpleNamespace(
    zeros=zeros, ones=ones, constant=constant, normal=normal, uniform=uniform, truncated_normal=truncated_normal, variance_scaling=variance_scaling, orthogonal=orthogonal,
    delta_orthogonal=delta_orthogonal,
    glorot_normal=_scaled(1.0, "fan_avg", "truncated_normal"), glorot_uniform=_scaled(1.0, "fan_avg", "uniform"),
    lecun_normal=_scaled(1.0, "fan_in", "truncated_normal"), lecun_uniform=_scaled(1.0, "fan_in", "uniform"),
    he_normal=_scaled(2.0, "fan_in", "truncated_normal"), he_uniform=_scaled(2.0, "fan_in", "uniform"),
    kaiming_normal=_scaled(2.0, "fan_in", "truncated_normal"), kaiming_uniform=_scaled(2.0, "fan_in", "uniform"),
    xavier_normal=_scaled(1.0, "fan_avg", "truncated_normal"), xavier_uniform=_scaled(1.0, "fan_avg", "uniform"))
