"""Names of jax.lax that programs use."""
import builtins
import collections
import functools
import math

from wick import numpy as wnp
from wick.errors import InvalidArgument, Unsupported
from wick.lax_gather import (GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers, gather, scatter,  # noqa: F401
                             scatter_add, scatter_max, scatter_min, scatter_mul, scatter_sub)
from wick.lax_more import (FftType, broadcast_to_rank, clz, complex, dtype, fft, platform_dependent, population_count, psum_scatter,  # noqa: F401
                           ragged_dot, reduce_xor)
from wick.lax_solve import custom_linear_solve, custom_root  # noqa: F401
from wick.nn import log_softmax, relu, sigmoid as logistic, softmax  # noqa: F401
from wick.numpy import products as _products
from wick.trace import elements, index, ops, spelling, tree
from wick.trace.axes import (all_gather, all_to_all, axis_index, axis_size, pmax, pmean, pmin, ppermute, pshuffle,  # noqa: F401
                             psum)
from wick.trace.control import associative_scan, cond, fori, map, scan, switch, while_loop  # noqa: F401
from wick.trace.eager import api
from wick.trace.scope import emit, fail, name_of, sizes
from wick.trace.transform import stop_gradient  # noqa: F401

fori_loop = fori

#: Names of jax.lax for functions of wick.numpy.
SAME = {"add": "add", "sub": "subtract", "mul": "multiply", "neg": "negative", "abs": "abs", "sign": "sign", "exp": "exp", "exp2": "exp2",
        "log": "log", "log1p": "log1p", "expm1": "expm1", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
        "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
        "atan2": "atan2", "sqrt": "sqrt", "cbrt": "cbrt", "floor": "floor", "ceil": "ceil", "pow": "pow", "max": "maximum", "min": "minimum",
        "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "square": "square",
        "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "bitwise_not": "bitwise_invert",
        "shift_left": "bitwise_left_shift", "shift_right_arithmetic": "bitwise_right_shift", "is_finite": "isfinite",
        "reciprocal": "reciprocal", "nextafter": "nextafter", "rem": "fmod", "full": "full",
        "full_like": "full_like", "transpose": "permute_dims", "broadcast_shapes": "broadcast_shapes",
        "convert_element_type": "astype", "expand_dims": "expand_dims", "squeeze": "squeeze", "batch_matmul": "matmul",
        "tile": "tile", "stack": "stack", "unstack": "unstack", "empty": "empty"}
for _name, _own in SAME.items():
    globals()[_name] = getattr(wnp, _own)

for _name, _op in {"rsqrt": "rsqrt", "erf": "erf"}.items():
    def _f(x, _op=_op):
        return ops.unary(_op, ops.floating(x))
    _f.__name__ = _name
    globals()[_name] = api(_f)


@api
def reshape(operand, new_sizes, dimensions=None):
    """The elements, in the order of the dimensions that are given, in another shape."""
    return wnp.reshape(operand if dimensions is None else wnp.permute_dims(operand, dimensions), new_sizes)


class RoundingMethod:
    """What `round` does with halves."""

    AWAY_FROM_ZERO, TO_NEAREST_EVEN = 0, 1


@api
def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):
    """The nearest whole number."""
    x = ops.floating(x)
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return ops.unary("round_even", x)
    whole = ops.unary("trunc", x)
    return ops.where(wnp.abs(x - whole) >= 0.5, whole + wnp.sign(x), whole)


@api
def div(x, y):
    """x / y; of whole numbers, without the fraction."""
    return ops.binary("div", x, y)


def with_sharding_constraint(x, shardings):
    """x: there is one device."""
    return x


@api
def erfc(x):
    """1 - erf(x), with all its digits where it is small."""
    from wick.scipy.special_series import erfc_of
    return erfc_of(ops.floating(x))


@api
def erf_inv(x):
    """The inverse of erf: Giles' polynomials, and two steps of Newton's method."""
    x = ops.floating(x)
    w = -wnp.log((1 - x) * (1 + x))
    central = w < 5
    near = [2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941]
    far = [-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682]
    at = wnp.where(central, w - 2.5, wnp.sqrt(wnp.where(central, 5.0, w)) - 3)
    p = None
    for a, b in zip(near, far):
        c = wnp.where(central, ops.as_elem(a, x.elem), ops.as_elem(b, x.elem))
        p = c if p is None else c + p * at
    y = p * x
    if x.elem == "f64":
        for _ in range(2):
            y = y - (ops.unary("erf", y) - x) / (2 / math.sqrt(math.pi) * wnp.exp(-y * y))
    return wnp.where(x == 1, math.inf, wnp.where(x == -1, -math.inf, y))


@api
def integer_pow(x, y):
    """x to a power that is a whole number of Python."""
    return wnp.pow(x, int(y))


@api
def select(condition, x, y):
    """x where the condition is true, else y."""
    return wnp.where(condition, x, y)


@api
def select_n(which, *cases):
    """The case that each element of `which` names."""
    which = ops.array(which)
    if which.elem == "bool":
        return wnp.where(which, cases[1], cases[0])
    return wnp.choose(which, list(cases))


@api
def clamp(low, x, high):
    """x, or the nearest number between low and high."""
    return wnp.minimum(wnp.maximum(x, low), high)


@api
def shift_right_logical(x, y):
    """The bits of x shifted down, with zeros from above."""
    x = ops.array(x)
    if x.elem not in elements.SIGNED:
        return wnp.bitwise_right_shift(x, y)
    unsigned = "u" + x.elem[1:]
    return ops.bitcast(ops.binary("shift_right", ops.bitcast(x, unsigned), ops.as_elem(y, unsigned)), x.elem)


@api
def bitcast_convert_type(x, dtype):
    """The bits of x as another type; if its elements have fewer bits, they are along a new last axis, the low bits first."""
    x, elem = ops.array(x), elements.of_dtype(dtype)
    old, new = elements.WIDTH[x.elem], elements.WIDTH[elem]
    if old == new:
        return ops.bitcast(x, elem)
    many, few = f"u{builtins.max(old, new)}", f"u{builtins.min(old, new)}"
    count = builtins.max(old, new) // builtins.min(old, new)
    shifts = ops.binary("mul", ops.iota(count, many), builtins.min(old, new))
    bits = ops.bitcast(x, f"u{old}")
    if old > new:
        parts = ops.same("shift_right", ops.reshape(bits, bits.shape + (1,)), shifts)
        return ops.bitcast(ops.as_elem(ops.binary("bit_and", parts, 2 ** new - 1), few), elem)
    if x.shape[-1:] != (count,):
        fail(InvalidArgument, f"bitcast_convert_type: the last of the sizes {x.shape} has to be {count}, for {elem} of {x.elem}")
    return ops.bitcast(ops.reduce("sum", ops.same("shift_left", ops.as_elem(bits, many), shifts), -1), elem)


@api
def iota(dtype, size):
    """0, 1, 2, ..."""
    return ops.iota(ops.whole("iota", size), elements.of_dtype(dtype))


@api
def broadcasted_iota(dtype, shape, dimension):
    """The positions along a dimension."""
    shape = ops.shape_of("broadcasted_iota", shape)
    at = ops.iota(shape[dimension], elements.of_dtype(dtype))
    return ops.broadcast_to(ops.reshape(at, [n if k == dimension else 1 for k, n in enumerate(shape)]), shape)


@api
def broadcast(x, sizes):
    """x with new dimensions before its own."""
    x = ops.array(x)
    return ops.broadcast_to(x, tuple(sizes) + x.shape)


@api
def broadcast_in_dim(x, shape, broadcast_dimensions):
    """x with its dimensions at these places of a shape."""
    x, at = ops.array(x), [1] * len(shape)
    for n, d in zip(x.shape, broadcast_dimensions):
        at[d] = n
    return ops.broadcast_to(ops.reshape(x, at), tuple(shape))


@api
def rev(x, dimensions):
    """x backwards along dimensions."""
    return wnp.flip(x, axis=tuple(dimensions))


@api
def concatenate(operands, dimension):
    """Arrays one after another."""
    return wnp.concat(list(operands), axis=dimension)


@api
def pad(x, padding_value, padding_config):
    """x with (low, high, interior) elements added along each dimension; negative numbers remove some."""
    x = ops.array(x)
    for axis, (_, _, inside) in enumerate(padding_config):
        n = x.shape[axis]
        if inside and n > 1:
            filled = ops.full(x.shape[:axis + 1] + (inside,) + x.shape[axis + 1:], padding_value, x.elem)
            wide = ops.concat([ops.reshape(x, x.shape[:axis + 1] + (1,) + x.shape[axis + 1:]), filled], axis + 1)
            x = ops.reshape(wide, x.shape[:axis] + (n * (inside + 1),) + x.shape[axis + 1:])
            x = ops.slice_axis(x, axis, 0, n + (n - 1) * inside)
    low, high = [c[0] for c in padding_config], [c[1] for c in padding_config]
    cut = [builtins.max(0, -v) for v in low], [builtins.max(0, -v) for v in high]
    x = ops.slice(x, cut[0], [n - a - b for n, a, b in zip(x.shape, *cut)])
    return ops.pad(x, [builtins.max(0, v) for v in low], [builtins.max(0, v) for v in high], "constant", padding_value)


# ---- slices ----


@api
def slice(x, start_indices, limit_indices, strides=None):
    """x[start:limit:stride] of each dimension."""
    x = ops.array(x)
    if not len(start_indices) == len(limit_indices) == x.ndim or any([not 0 <= a <= b <= n for a, b, n in zip(start_indices, limit_indices, x.shape)]):
        fail(InvalidArgument, f"slice: from {tuple(start_indices)} to {tuple(limit_indices)} is outside of the shape {x.shape}")
    parts = zip(start_indices, limit_indices, strides or (1,) * len(start_indices))
    return index.get(x, tuple([_slice(a, b, s) for a, b, s in parts]))


_slice = builtins.slice


@api
def slice_in_dim(x, start_index, limit_index, stride=1, axis=0):
    """x[start:limit:stride] of one dimension."""
    x = ops.array(x)
    return index.get(x, (_slice(None),) * ops.axis_of("slice_in_dim", axis, x.ndim) + (_slice(start_index, limit_index, stride),))


@api
def index_in_dim(x, at, axis=0, keepdims=True):
    """x at one position of a dimension."""
    x = ops.array(x)
    axis = ops.axis_of("index_in_dim", axis, x.ndim)
    made = index.get(x, (_slice(None),) * axis + (at,))
    return wnp.expand_dims(made, axis=axis) if keepdims else made


def _starts(x, starts, block):
    """The first positions of a block, clamped so that it lies in x: texts, or numbers where they are static."""
    starts = [starts[k] for k in range(x.ndim)] if hasattr(starts, "shape") else list(starts)
    if len(starts) != x.ndim or len(block) != x.ndim:
        fail(InvalidArgument, f"a block of an array of the shape {x.shape} needs {x.ndim} starts and sizes, {len(starts)} and {len(block)} are given")
    out = []
    for at, n, m in zip(starts, x.shape, block):
        if m > n:
            fail(InvalidArgument, f"a block of the shape {tuple(block)} is larger than the array of the shape {x.shape}")
        if not hasattr(at, "scope"):
            at = ops.whole("start", at)
            out.append(builtins.min(builtins.max(at + n if at < 0 else at, 0), n - m))
            continue
        at = index._wrapped(at, n)
        out.append(0 if n == m else name_of(emit(f"op.clip({name_of(at)}, (0 : i64), ({n - m} : i64))", "i64", ())))
    return out


def _place(x, starts, block):
    return ", ".join([":" if n == m else f"{a}:{a} + {m}" for a, n, m in zip(starts, x.shape, block)])


@api
def dynamic_slice(x, start_indices, slice_sizes):
    """The block of a static size at traced positions, which are clamped so that it lies in x."""
    x, block = ops.array(x), ops.shape_of("dynamic_slice", slice_sizes)
    starts = _starts(x, start_indices, block)
    if builtins.all(isinstance(s, int) for s in starts):
        return ops.slice(x, starts, block)
    return emit(f"{name_of(x)}[{_place(x, starts, block)}]", x.elem, block)


@api
def dynamic_slice_in_dim(x, start_index, slice_size, axis=0):
    """dynamic_slice along one dimension."""
    x = ops.array(x)
    axis = ops.axis_of("dynamic_slice_in_dim", axis, x.ndim)
    starts, block = [0] * x.ndim, list(x.shape)
    starts[axis], block[axis] = start_index, slice_size
    return dynamic_slice(x, starts, block)


@api
def dynamic_index_in_dim(x, at, axis=0, keepdims=True):
    """x at a traced position of a dimension."""
    return index_in_dim(x, at, axis, keepdims)


@api
def dynamic_update_slice(x, update, start_indices):
    """x with a block replaced, at positions that are clamped so that it lies in x."""
    x = ops.array(x)
    update = ops.as_elem(update, x.elem)
    if x.ndim == 0:
        return update
    starts = _starts(x, start_indices, update.shape)
    if update.shape == x.shape:
        return update
    return emit(f"{name_of(x)} with [{_place(x, starts, update.shape)}] = {name_of(update)}", x.elem, x.shape)


@api
def dynamic_update_slice_in_dim(x, update, start_index, axis):
    """dynamic_update_slice along one dimension."""
    x, update = ops.array(x), ops.array(update)
    axis = ops.axis_of("dynamic_update_slice_in_dim", axis, x.ndim)
    return dynamic_update_slice(x, update, [start_index if k == axis else 0 for k in range(x.ndim)])


@api
def dynamic_update_index_in_dim(x, update, at, axis):
    """x with one row of a dimension replaced."""
    x, update = ops.array(x), ops.array(update)
    axis = ops.axis_of("dynamic_update_index_in_dim", axis, x.ndim)
    return dynamic_update_slice_in_dim(x, update if update.ndim == x.ndim else wnp.expand_dims(update, axis=axis), at, axis)


# ---- reductions, sorting ----


_KINDS = {"add": wnp.sum, "multiply": wnp.prod, "maximum": wnp.max, "minimum": wnp.min, "logical_and": wnp.all, "logical_or": wnp.any}


def _rows_combined(computation, leaves, structure, axis):
    """The rows along an axis of several arrays as one, by an associative function of structures: in halves."""
    n = leaves[0].shape[axis]
    while n > 1:
        half, odd = divmod(n, 2)
        first, second = [structure.build(iter([ops.slice_axis(x, axis, k * half, half) for x in leaves])) for k in (0, 1)]
        made = [ops.as_elem(m, x.elem) for m, x in zip(tree.leaves(computation(first, second)), leaves)]
        leaves = [ops.concat([m, ops.slice_axis(x, axis, n - 1, 1)], axis) if odd else m for m, x in zip(made, leaves)]
        n = half + odd
    return leaves


@api
def _combined(computation, operands, init, axes, what):
    """reduce by any associative function: of each axis by itself."""
    leaves, structure = tree.flatten(operands)
    leaves, starts = [ops.array(x) for x in leaves], tree.leaves(init)
    if len(starts) != len(leaves):
        fail(InvalidArgument, f"{what}: {len(leaves)} operands, and {len(starts)} initial values")
    axes = sorted([ops.axis_of(what, a, leaves[0].ndim) for a in axes], reverse=True)
    empty = 0 in [leaves[0].shape[a] for a in axes]
    for axis in axes:
        if not empty:
            leaves = _rows_combined(computation, leaves, structure, axis)
        leaves = [ops.full(x.shape[:axis] + x.shape[axis + 1:], 0, x.elem) if empty
                  else ops.reshape(x, x.shape[:axis] + x.shape[axis + 1:]) for x in leaves]
    starts = [ops.broadcast_to(ops.as_elem(v, x.elem), x.shape) for v, x in zip(starts, leaves)]
    if empty:
        return structure.build(iter(starts))
    made = tree.leaves(computation(structure.build(iter(leaves)), structure.build(iter(starts))))
    return structure.build(iter([ops.as_elem(m, x.elem) for m, x in zip(made, leaves)]))


def reduce(operands, init_values, computation, dimensions):
    """A reduction by an associative function of two arrays, or of two structures of arrays."""
    name = getattr(computation, "__name__", "")
    if name in _KINDS and getattr(wnp, name, None) is computation and not isinstance(operands, (tuple, list, dict)):
        return computation(_KINDS[name](operands, axis=tuple(dimensions)), init_values)
    return _combined(computation, operands, init_values, dimensions, "reduce")


for _name, _op in {"sum": "sum", "prod": "prod", "max": "max", "min": "min", "and": "all", "or": "any"}.items():
    globals()[f"reduce_{_name}"] = lambda x, axes, f=getattr(wnp, _op): f(x, axis=tuple(axes))


@api
def cumsum(x, axis=0, reverse=False):
    """The sums up to each position, or from it on."""
    return ops.cumulative("cumsum", ops.array(x), axis, reverse=reverse)


@api
def cumprod(x, axis=0, reverse=False):
    """The products up to each position, or from it on."""
    return ops.cumulative("cumprod", ops.array(x), axis, reverse=reverse)


def _turned(f):
    def made(x, axis=0, reverse=False):
        return wnp.flip(f(wnp.flip(x, axis=axis), axis=axis), axis=axis) if reverse else f(x, axis=axis)
    made.__doc__ = f.__doc__
    return api(made)


cummax, cummin = _turned(wnp.cummax), _turned(wnp.cummin)


@api
def cumlogsumexp(x, axis=0, reverse=False):
    """The logarithms of the sums of exponentials up to each position."""
    return associative_scan(wnp.logaddexp, x, reverse=reverse, axis=axis)


def _arg(name):
    def made(operand, axis, index_dtype=None):
        at = getattr(wnp, name)(operand, axis=axis)
        return at if index_dtype is None else wnp.astype(at, index_dtype)
    made.__name__, made.__doc__ = name, f"wick.numpy.{name} along an axis, as a type of whole numbers."
    return api(made)


argmax, argmin = _arg("argmax"), _arg("argmin")


@api
def top_k(x, k, axis=-1):
    """(the k largest elements along an axis in descending order, their positions)"""
    x = ops.array(x)
    k = ops.whole("top_k", k)
    if x.ndim and ops.axis_of("top_k", axis, x.ndim) != x.ndim - 1:
        return tuple([wnp.moveaxis(v, -1, axis) for v in top_k(wnp.moveaxis(x, axis, -1), k)])
    if not x.ndim or k > x.shape[-1]:
        fail(InvalidArgument, f"top_k: {k} elements of an array of the shape {x.shape}")
    return tuple(ops.top_k(x, k, x.ndim - 1, False))


@api
def sort(operand, dimension=-1, is_stable=True, num_keys=1):
    """Elements in order; of several arrays, all of them in the order of the first."""
    if not isinstance(operand, (tuple, list)):
        return wnp.sort(operand, axis=dimension)
    xs = [ops.array(x) for x in operand]
    axis = ops.axis_of("sort", dimension, xs[0].ndim)
    at = wnp.lexsort(list(xs[:num_keys])[::-1], axis=axis)
    return tuple([ops.gather_elements(x, at, axis) for x in xs])


@api
def sort_key_val(keys, values, dimension=-1):
    """Keys in order, and the values in the order of the keys."""
    return sort((keys, values), dimension)


# ---- products and convolutions ----


@api
def dot(x, y, *, precision=None, preferred_element_type=None):
    """The product of vectors and matrices."""
    return _products.in_type(wnp.dot, x, y, preferred_element_type)


@api
def dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None):
    """The product over pairs of dimensions: ((those of lhs, of rhs), (those of the batch in lhs, in rhs))."""
    (a, b), (c, d) = dimension_numbers
    product = lambda lhs, rhs: _products.contract(lhs, rhs, (tuple(a), tuple(b)), (tuple(c), tuple(d)))
    return _products.in_type(product, lhs, rhs, preferred_element_type)


def _pads(padding, shape, window, stride, dilation, base=None):
    """(low, high) of each dimension; "SAME": so that the result has ceil(n / stride) elements."""
    if not isinstance(padding, str):
        return [tuple(p) if isinstance(p, (tuple, list)) else (p, p) for p in padding]
    if padding.upper() == "VALID":
        return [(0, 0)] * len(shape)
    if padding.upper() not in ("SAME", "SAME_LOWER"):
        fail(InvalidArgument, f"the padding {padding!r} is none of SAME, SAME_LOWER, VALID")
    out = []
    for n, k, s, d in zip(shape, window, stride, dilation):
        total = builtins.max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
        small, large = total // 2, total - total // 2
        out.append((small, large) if padding.upper() == "SAME" else (large, small))
    return out


def _layout(numbers, rank):
    if numbers is None:
        return "NC" + "DHW"[5 - rank:], "OI" + "DHW"[5 - rank:], "NC" + "DHW"[5 - rank:]
    if hasattr(numbers, "lhs_spec"):
        numbers = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    if isinstance(numbers[0], str):
        return numbers
    texts = []
    for spec, first in zip(numbers, ("NC", "OI", "NC")):
        letters = [""] * rank
        for place, letter in zip(spec, first + "DHW"[5 - rank:]):
            letters[place] = letter
        texts.append("".join(letters))
    return tuple(texts)


ConvDimensionNumbers = collections.namedtuple("ConvDimensionNumbers", "lhs_spec rhs_spec out_spec")


def conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers):
    """The dimensions of batch, channels and space of a convolution's operands and result."""
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    texts = _layout(dimension_numbers, len(lhs_shape))
    spatial = "".join([c for c in texts[1] if c not in "OI"])
    return ConvDimensionNumbers(*[tuple([t.index(c) for c in first + spatial]) for t, first in zip(texts, ("NC", "OI", "NC"))])


@api
def conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None,
                         feature_group_count=1, batch_group_count=1, precision=None, preferred_element_type=None):
    """A convolution; `lhs_dilation` puts zeros between the elements of lhs."""
    made = lambda lhs, rhs: _convolution(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, batch_group_count)
    return _products.in_type(made, lhs, rhs, preferred_element_type)


def _convolution(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, batch_group_count):
    rank = lhs.ndim - 2
    if rank < 1 or rhs.ndim != lhs.ndim:
        fail(InvalidArgument, f"conv_general_dilated: the shapes {lhs.shape} and {rhs.shape} do not fit together")
    if batch_group_count != 1 and feature_group_count != 1:
        fail(InvalidArgument, "conv_general_dilated: one of feature_group_count and batch_group_count has to be 1")
    texts = _layout(dimension_numbers, lhs.ndim)
    spatial = [c for c in texts[0] if c not in "NC"]
    x = ops.transpose(lhs, [texts[0].index(c) for c in "NC"] + [texts[0].index(c) for c in spatial])
    w = ops.transpose(rhs, [texts[1].index(c) for c in "OI"] + [texts[1].index(c) for c in spatial])
    if batch_group_count != 1:  # parts of the batch become groups of channels
        feature_group_count = ops.whole("batch_group_count", batch_group_count)
        x = ops.reshape(x, (feature_group_count, -1) + x.shape[1:])
        x = ops.transpose(x, (1, 0) + tuple(range(2, x.ndim)))
        x = ops.reshape(x, (x.shape[0], -1) + x.shape[3:])
    dilation = tuple(rhs_dilation or (1,) * rank)
    stride, group = tuple(window_strides), ops.whole("feature_group_count", feature_group_count)
    base = tuple(lhs_dilation or (1,) * rank)
    if builtins.any(b != 1 for b in base):
        x = pad(x, 0, [(0, 0, 0)] * 2 + [(0, 0, b - 1) for b in base])
    pads = _pads(padding, x.shape[2:], w.shape[2:], stride, dilation)
    if builtins.any(v < 0 for p in pads for v in p):
        x = pad(x, 0, [(0, 0, 0)] * 2 + [(builtins.min(a, 0), builtins.min(b, 0), 0) for a, b in pads])
        pads = [(builtins.max(a, 0), builtins.max(b, 0)) for a, b in pads]
    if x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        fail(InvalidArgument, f"conv_general_dilated: {x.shape[1]} channels, weights for {w.shape[1]} in {group} groups")
    if rank > 3:
        fail(Unsupported, f"conv_general_dilated: {rank} spatial dimensions are not supported")
    out = [(n + a + b - (k - 1) * d - 1) // s + 1 for n, (a, b), k, d, s in zip(x.shape[2:], pads, w.shape[2:], dilation, stride)]
    both = [p[0] for p in pads] + [p[1] for p in pads]
    text = f"op.conv({name_of(x)}, {name_of(w)}, stride = {sizes(stride)}, pad = {sizes(both)}, dilation = {sizes(dilation)}, group = {group})"
    made = emit(text, x.elem, (x.shape[0], w.shape[0], *out))
    order = "NC" + "".join(spatial)
    return ops.transpose(made, [order.index(c) for c in texts[2]])


@api
def conv(lhs, rhs, window_strides, padding, preferred_element_type=None):
    """A convolution of [batch, channels, spatial...] with [outputs, inputs, window...]."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type)


@api
def conv_with_general_padding(lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None, preferred_element_type=None):
    """The same, with dilations."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, preferred_element_type=preferred_element_type)


@api
def conv_transpose(lhs, rhs, strides, padding, rhs_dilation=None, dimension_numbers=None, transpose_kernel=False,
                   preferred_element_type=None):
    """A convolution with fractional strides, as in jax.lax."""
    lhs, rhs = ops.array(lhs), ops.array(rhs)
    rank = lhs.ndim - 2
    if dimension_numbers is None:
        dimension_numbers = {1: ("NHC", "HIO", "NHC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}[rank]
    texts = _layout(dimension_numbers, lhs.ndim)
    spatial = [c for c in texts[0] if c not in "NC"]
    window = [rhs.shape[texts[1].index(c)] for c in spatial]
    dilation = tuple(rhs_dilation or (1,) * rank)
    if isinstance(padding, str):
        pads = [_transposed_pads(k, s, d, padding) for k, s, d in zip(window, strides, dilation)]
    else:
        pads = [tuple(p) for p in padding]
    if transpose_kernel:
        rhs = wnp.flip(rhs, axis=tuple([texts[1].index(c) for c in spatial]))
        texts = texts[0], texts[1].replace("I", "*").replace("O", "I").replace("*", "O"), texts[2]
    return conv_general_dilated(lhs, rhs, (1,) * rank, pads, tuple(strides), dilation, texts, preferred_element_type=preferred_element_type)


def _transposed_pads(k, s, d, padding):
    k = (k - 1) * d + 1
    if padding.upper() == "SAME":
        total = k + s - 2
        low = k - 1 if s > k - 1 else -(-total // 2)
    else:
        total = k + s - 2 + builtins.max(k - s, 0)
        low = k - 1
    return low, total - low


@api
def reduce_window(x, init_value, computation, window_dimensions, window_strides=None, padding="VALID", base_dilation=None,
                  window_dilation=None):
    """What an associative function makes of windows: lax.add, lax.mul, lax.max, lax.min, or another one."""
    x = ops.array(x)
    kind = getattr(computation, "__name__", "")
    kind = kind if x.elem != "bool" and getattr(wnp, kind, None) is computation else None
    start = ops.as_elem(init_value, x.elem)
    if base_dilation is not None:
        x = pad(x, start, [(0, 0, b - 1) for b in base_dilation])
    window = tuple(window_dimensions)
    stride, dilation = tuple(window_strides or (1,) * x.ndim), tuple(window_dilation or (1,) * x.ndim)
    pads = _pads(padding, x.shape, window, stride, dilation)
    neutral = {"add": 0, "multiply": 1, "maximum": elements.lowest(x.elem), "minimum": elements.highest(x.elem)}.get(kind)
    plain = ops.is_number(init_value) and (init_value == neutral or math.isinf(init_value) and kind in ("maximum", "minimum"))
    axes = [k for k in range(x.ndim) if (window[k], stride[k], pads[k]) != (1, 1, (0, 0))]
    one = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}.get(kind)
    both = (lambda a, b: ops.same(one, a, b)) if one else lambda a, b: ops.as_elem(computation(a, b), x.elem)
    made = _windows(x, both, axes, window, stride, dilation, pads, neutral if plain else start)
    return made if plain else ops.as_elem(computation(made, start), x.elem)


def _windows(x, both, axes, window, stride, dilation, pads, fill):
    """Each axis by itself: these functions may be applied one after another."""
    for a in axes:
        low, high = pads[a]
        if low or high:
            part = lambda n: [ops.broadcast_to(ops.as_elem(fill, x.elem), x.shape[:a] + (n,) + x.shape[a + 1:])] if n else []
            x = ops.concat(part(low) + [x] + part(high), a)
        count = (x.shape[a] - (window[a] - 1) * dilation[a] - 1) // stride[a] + 1
        parts = [ops.slice_axis(x, a, k * dilation[a], count, stride[a]) for k in range(window[a])]
        x = functools.reduce(both, parts)
    return x


def stop_gradient_tree(x):
    """stop_gradient of a structure."""
    return stop_gradient(x)


def optimization_barrier(x):
    """x"""
    return x


class Precision:
    """Accepted, and without effect: products of f32 are computed in f32."""

    DEFAULT = HIGH = HIGHEST = None



# ---- further functions ----


def _special(name):
    def f(*args):
        from wick.scipy import special
        return getattr(special, name)(*args)
    f.__name__, f.__doc__ = name, f"wick.scipy.special.{name}"
    return f


lgamma, digamma, zeta, polygamma, betainc = [_special(n) for n in ("gammaln", "digamma", "zeta", "polygamma", "betainc")]
igamma, igammac, bessel_i0e, bessel_i1e = [_special(n) for n in ("gammainc", "gammaincc", "i0e", "i1e")]
conj, real, imag = wnp.conj, wnp.real, wnp.imag


@api
def split(x, sizes, axis=0):
    """Parts of these sizes along an axis."""
    return wnp.split(x, [builtins.sum(sizes[:k + 1]) for k in range(len(sizes) - 1)], axis=axis)


@api
def collapse(x, start_dimension, stop_dimension=None):
    """x with some of its dimensions as one."""
    x = ops.array(x)
    first = ops.axis_of("collapse", start_dimension, x.ndim)
    last = x.ndim if stop_dimension is None else stop_dimension % (x.ndim + 1) if stop_dimension >= 0 else stop_dimension + x.ndim
    return ops.reshape(x, x.shape[:first] + (math.prod(x.shape[first:last]),) + x.shape[last:])


@api
def reduce_precision(x, exponent_bits, mantissa_bits):
    """x rounded to another type's precision, of those that there are."""
    elem = {(5, 10): "f16", (8, 7): "bf16", (8, 23): "f32", (11, 52): "f64"}.get((exponent_bits, mantissa_bits))
    x = ops.floating(x)
    if elem is None:
        fail(Unsupported, f"reduce_precision to {exponent_bits} and {mantissa_bits} bits is not supported: only f16, bf16, f32 and f64 are")
    return ops.as_elem(ops.as_elem(x, elem), x.elem)


@api
def index_take(src, idxs, axes):
    """The slices of size 1 at several positions, without the axes."""
    x = ops.array(src)
    place = [_slice(None)] * x.ndim
    for a, at in zip(axes, idxs):
        place[a] = ops.array(at)
    return index.get(x, tuple(place))


@api
def conv_general_dilated_patches(lhs, filter_shape, window_strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None,
                                 precision=None, preferred_element_type=None):
    """The windows of a convolution as channels."""
    x = ops.array(lhs)
    texts = _layout(dimension_numbers, x.ndim)
    channels, count = x.shape[texts[0].index("C")], math.prod(filter_shape)
    one = wnp.tile(wnp.reshape(wnp.eye(count, dtype=x.dtype), (count, 1) + tuple(filter_shape)), (channels,) + (1,) * (x.ndim - 1))
    first = "OI" + "".join([c for c in texts[0] if c not in "NC"])
    one = ops.transpose(ops.array(one), [first.index(c) for c in texts[1]])
    return conv_general_dilated(x, one, window_strides, padding, lhs_dilation, rhs_dilation, texts, channels)


@api
def conv_general_dilated_local(lhs, rhs, window_strides, padding, filter_shape, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None,
                               precision=None):
    """A convolution with weights of its own at each position: rhs has (channels * window) inputs, and the spatial sizes of the result."""
    texts = _layout(dimension_numbers, ops.array(lhs).ndim)
    windows = conv_general_dilated_patches(lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, texts)
    letters = lambda text, names: "".join([names.get(c, c.lower()) for c in text])
    return wnp.einsum(f"{letters(texts[2], {'C': 'i'})},{letters(texts[1], {})}->{letters(texts[2], {'C': 'o'})}", windows, rhs)


def approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True):
    """(the k largest elements, their positions), exactly."""
    moved = wnp.moveaxis(operand, reduction_dimension, -1)
    return tuple([wnp.moveaxis(v, -1, reduction_dimension) for v in top_k(moved, k)])


def approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1, aggregate_to_topk=True):
    """(the k least elements, their positions), exactly."""
    values, at = approx_max_k(wnp.negative(operand), k, reduction_dimension)
    return wnp.negative(values), at


spelling.spell(__name__, globals())


def __getattr__(name):
    if name == "linalg":
        import wick.lax_linalg
        return wick.lax_linalg
    raise AttributeError(f"module 'wick.lax' has no attribute {name!r}")
