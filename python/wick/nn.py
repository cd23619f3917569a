"""Functions of neural networks, as in jax.nn."""
import functools
import math

from wick import numpy as wnp
from wick.trace import elements, ops, spelling
from wick.trace.eager import api
from wick.trace.scope import emit, name_of
from wick.nn_initializers import initializers  # noqa: F401

#: Functions of floats that are operators.
OPERATORS = {"sigmoid": "sigmoid", "softplus": "softplus", "soft_sign": "softsign", "hard_swish": "hard_swish", "mish": "mish",
             "erf": "erf"}


def _define():
    for name, op in OPERATORS.items():
        def f(x, /, op=op):
            return ops.unary(op, ops.floating(x))
        f.__name__, f.__doc__ = name, f"{name} of each element."
        globals()[name] = api(f)


_define()
hard_silu = globals()["hard_swish"]
sigmoid, softplus = globals()["sigmoid"], globals()["softplus"]


@api
def relu(x, /):
    """max(x, 0)"""
    x = ops.array(x)
    return ops.unary("relu", x) if x.elem not in elements.UNSIGNED else x


@api
def relu6(x, /):
    """min(max(x, 0), 6)"""
    return wnp.clip(x, 0, 6)


@api
def silu(x, /):
    """x * sigmoid(x)"""
    return ops.unary("swish", ops.floating(x))


swish = silu


@api
def gelu(x, approximate=True):
    """x times the probability that a normal number is at most x."""
    return ops.unary("gelu", ops.floating(x), approximate="tanh" if approximate else "none")


@api
def elu(x, alpha=1.0):
    """x, or alpha * (exp(x) - 1) below 0."""
    x = ops.floating(x)
    below = ops.where(ops.binary("gt", x, 0, "bool"), 0, x)
    return ops.where(ops.binary("gt", x, 0, "bool"), x, ops.binary("mul", ops.unary("expm1", below), alpha))


@api
def celu(x, alpha=1.0):
    """x, or alpha * (exp(x / alpha) - 1) below 0."""
    x = ops.floating(x)
    return wnp.maximum(x, 0.0) + alpha * wnp.expm1(wnp.minimum(x, 0.0) / alpha)


@api
def selu(x, /):
    """The scaled elu."""
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


@api
def leaky_relu(x, negative_slope=0.01):
    """x, or negative_slope * x below 0."""
    x = ops.floating(x)
    return ops.where(ops.binary("ge", x, 0, "bool"), x, ops.binary("mul", x, negative_slope))


@api
def hard_sigmoid(x, /):
    """min(max(x + 3, 0), 6) / 6"""
    return relu6(ops.floating(x) + 3.0) / 6.0


@api
def hard_tanh(x, /):
    """min(max(x, -1), 1)"""
    return wnp.clip(ops.floating(x), -1, 1)


@api
def log_sigmoid(x, /):
    """log(sigmoid(x))"""
    return -softplus(-ops.floating(x))


@api
def squareplus(x, b=4.0):
    """(x + sqrt(x * x + b)) / 2"""
    x = ops.floating(x)
    return (x + wnp.sqrt(x * x + b)) / 2


@api
def sparse_plus(x, /):
    """0 up to -1, x from 1 on, and (x + 1)**2 / 4 between."""
    x = ops.floating(x)
    return wnp.where(x <= -1, 0.0, wnp.where(x >= 1, x, (x + 1) ** 2 / 4))


@api
def glu(x, axis=-1):
    """The first half of x times the sigmoid of the second."""
    a, b = wnp.split(x, 2, axis=axis)
    return a * sigmoid(b)


def _softmax(op, x, axis, where):
    x = ops.floating(x)
    if where is not None:
        x = ops.where(where, x, -math.inf)
    if isinstance(axis, (tuple, list)) and len(axis) == 1:
        axis = axis[0]
    if not isinstance(axis, int):
        most = ops.unary("stop_gradient", ops.reduce("max", x, axis, True))
        shifted = ops.same("sub", x, most)
        total = ops.reduce("sum", ops.unary("exp", shifted), axis, True)
        if op == "log_softmax":
            return ops.same("sub", shifted, ops.unary("log", total))
        return ops.same("div", ops.unary("exp", shifted), total)
    made = emit(f"op.{op}({name_of(x)}, axis = {ops.axis_of(op, axis, x.ndim)})", x.elem, x.shape)
    return made if where is None or op != "softmax" else ops.where(where, made, 0)


@api
def softmax(x, /, axis=-1, *, where=None):
    """exp(x) divided by its sum along an axis."""
    return _softmax("softmax", x, axis, where)


@api
def log_softmax(x, /, axis=-1, *, where=None):
    """The logarithm of softmax."""
    return _softmax("log_softmax", x, axis, where)


@api
def logsumexp(x, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """log(sum(exp(x))) along axes, with weights b; with `return_sign` (the logarithm of the size of the sum, its sign)."""
    x = ops.floating(x)
    if return_sign and b is None:
        b = 1.0
    if where is not None:
        x = ops.where(where, x, -math.inf)
    if b is None:
        return ops.reduce("log_sum_exp", x, axis, keepdims) if ops.axes_of("logsumexp", axis, x.ndim) else x
    most = ops.unary("stop_gradient", ops.reduce("max", x, axis, True))
    most = ops.where(wnp.isfinite(most), most, 0)
    total = ops.reduce("sum", ops.binary("mul", ops.unary("exp", ops.same("sub", x, most)), b), axis, True)
    size = ops.unary("abs", total) if return_sign else total
    made = ops.same("add", ops.unary("log", size), most)
    out = [made, wnp.sign(total)] if return_sign else [made]
    out = out if keepdims else [wnp.squeeze(v, axis=axis) for v in out]
    return tuple(out) if return_sign else out[0]


@api
def logmeanexp(x, axis=None, keepdims=False):
    """log(mean(exp(x))) along axes."""
    x = ops.floating(x)
    count = math.prod([x.shape[a] for a in ops.axes_of("logmeanexp", axis, x.ndim)])
    return logsumexp(x, axis=axis, keepdims=keepdims) - math.log(count)


@api
def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-5):
    """x with mean 0 and variance 1 along axes."""
    x = ops.floating(x)
    mean = wnp.mean(x, axis=axis, keepdims=True) if mean is None else mean
    if variance is None:
        variance = wnp.mean(wnp.square(x - mean), axis=axis, keepdims=True)
    return (x - mean) / wnp.sqrt(variance + epsilon)


@api
def one_hot(x, num_classes, *, dtype=None, axis=-1):
    """1 at the position that each whole number names, 0 elsewhere; all 0 for a number outside."""
    x, n = ops.as_elem(x, "i64"), ops.whole("one_hot: num_classes", num_classes)
    axis = ops.axis_of("one_hot", axis, x.ndim + 1)
    at = ops.reshape(ops.iota(n), [n if k == axis else 1 for k in range(x.ndim + 1)])
    same = ops.same("eq", wnp.expand_dims(x, axis=axis), at, elem="bool")
    return ops.as_elem(same, elements.FLOAT if dtype is None else elements.of_dtype(dtype))


@api
def dot_product_attention(query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, query_seq_lengths=None,
                          key_value_seq_lengths=None, local_window_size=None, implementation=None):
    """Attention of [batch, positions, heads, features], as in jax.nn. Several heads of queries may share one of keys and values. Lengths are
    those of each row of the batch; a window is (positions before, positions after), or one number for both."""
    query, key, value = ops.convert(query, key, value)
    q, k, v = [wnp.swapaxes(x, -3, -2) for x in (query, key, value)]
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = _by_heads(q, wnp.swapaxes(k, -1, -2)) * scale
    if bias is not None:
        scores = scores + bias
    if is_causal:
        mask_causal = wnp.tril(wnp.ones(scores.shape[-2:], dtype=bool))
        scores = wnp.where(mask_causal, scores, float(elements.finfo(scores.elem).min))
    if mask is not None:
        scores = wnp.where(mask, scores, float(elements.finfo(scores.elem).min))
    seen = _seen(scores.shape, query_seq_lengths, key_value_seq_lengths, local_window_size)
    if seen is not None:
        scores = wnp.where(seen, scores, float(elements.finfo(scores.elem).min))
    made = wnp.swapaxes(_by_heads(softmax(scores), v), -3, -2)
    if query_seq_lengths is None:
        return made
    return wnp.where(wnp.arange(made.shape[-3])[:, None, None] < wnp.reshape(ops.array(query_seq_lengths), (-1, 1, 1, 1)), made, 0)


def _by_heads(x, y):
    """x @ y, where each head of y belongs to as many heads of x as there are, one after the other."""
    heads, shared = x.shape[-3], y.shape[-3]
    if heads == shared or shared == 1 or heads % shared:
        return ops.matmul(x, y)
    made = ops.matmul(ops.reshape(x, x.shape[:-3] + (shared, heads // shared) + x.shape[-2:]), wnp.expand_dims(y, axis=-3))
    return ops.reshape(made, made.shape[:-4] + (heads,) + made.shape[-2:])


def _seen(shape, query_lengths, key_lengths, window):
    """Which keys each position sees, of the shape of the scores or one that broadcasts to it; None: all."""
    queries, keys = wnp.arange(shape[-2])[:, None], wnp.arange(shape[-1])
    parts = [at < wnp.reshape(ops.array(lengths), (-1, 1, 1, 1))
             for at, lengths in ((queries, query_lengths), (keys, key_lengths)) if lengths is not None]
    if window is not None:
        before, after = window if isinstance(window, (tuple, list)) else (window, window)
        parts.append((keys >= queries - before) & (keys <= queries + after))
    return functools.reduce(wnp.logical_and, parts) if parts else None


def scaled_matmul(x, y, scale):
    """x @ y * scale"""
    return wnp.matmul(x, y) * scale


@api
def log1mexp(x):
    """log(1 - exp(-x)) for x > 0"""
    x = ops.floating(x)
    low = x < math.log(2)
    near, far = ops.where(low, x, 0.5), ops.where(low, 1.0, x)
    return ops.where(low, wnp.log(-wnp.expm1(-near)), wnp.log1p(-wnp.exp(-far)))


@api
def sparse_sigmoid(x, /):
    """0 up to -1, 1 from 1 on, and (x + 1) / 2 between."""
    return 0.5 * wnp.clip(ops.floating(x) + 1.0, 0.0, 2.0)


@api
def identity(x):
    """x"""
    return ops.array(x)


tanh = wnp.tanh


spelling.spell(__name__, globals())
