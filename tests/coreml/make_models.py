"""Makes the models of cases.zip: small models of Core ML, with inputs and the outputs that NumPy computes.

Core ML itself runs only on Apple's systems; the oracles here are written after the documentation of
mlmodel/format. Needs coremltools 9:  python tests/coreml/make_models.py
Each case is a folder of the archive: model.mlmodel, input_K.npy, output_K.npy.
"""
import io
import os
import sys
import zipfile

import coremltools as ct
import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

RNG = np.random.default_rng(7)
CASES = {}


def rand(*shape):
    return RNG.normal(0, 1, shape).astype(np.float32)


def positive(*shape):
    return (np.abs(rand(*shape)) + 0.3).astype(np.float32)


def save(name, spec, inputs, outputs):
    assert name not in CASES, name
    CASES[name] = (spec.SerializeToString(), inputs, outputs)


def case(name, inputs, build, expected, classic=False):
    """inputs: arrays named a, b, c ...; build(b) adds layers from these to outputs y, z, w ..."""
    names = "abcdefg"[: len(inputs)]
    expected = [np.asarray(e) for e in (expected if isinstance(expected, list) else [expected])]
    outs = ["y", "z", "w", "v", "u"][: len(expected)]
    ins = [(n, datatypes.Array(*x.shape)) for n, x in zip(names, inputs)]
    b = NeuralNetworkBuilder(ins, [(o, None) for o in outs], disable_rank5_shape_mapping=not classic)
    build(b)
    spec = b.spec
    kinds = ct.proto.FeatureTypes_pb2.ArrayFeatureType
    for f in spec.description.output:
        f.type.multiArrayType.dataType = kinds.FLOAT32
    for f, x in zip(spec.description.input, inputs):
        f.type.multiArrayType.dataType = kinds.INT32 if x.dtype == np.int32 else kinds.FLOAT32
    if classic:
        for f, e in zip(spec.description.output, expected):
            f.type.multiArrayType.shape.extend(e.shape)
    save(name, spec, [x if x.dtype == np.int32 else np.asarray(x, np.float32) for x in inputs], [e.astype(np.float32) for e in expected])


# ---- oracles ----


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def pads(size, k, s, mode):
    """Padding [before, after] of one axis by the documentation of SamePadding."""
    if isinstance(mode, tuple):
        return mode
    if mode == "valid":
        return (0, 0)
    total = max(0, (-(-size // s) - 1) * s + k - size)
    half = total // 2
    return (half, total - half) if mode == "same" else (total - half, half)


def conv(x, w, stride, pad, dilation=None, group=1, bias=None):
    """x [N, C, ...], w [M, C/group, ...]"""
    d = w.ndim - 2
    dilation = dilation or [1] * d
    k = [(w.shape[2 + i] - 1) * dilation[i] + 1 for i in range(d)]
    p = [pads(x.shape[2 + i], k[i], stride[i], pad[i]) for i in range(d)]
    x = np.pad(x.astype(np.float64), [(0, 0), (0, 0)] + p)
    out = [(x.shape[2 + i] - k[i]) // stride[i] + 1 for i in range(d)]
    y = np.zeros([x.shape[0], w.shape[0]] + out)
    m, c = w.shape[0] // group, w.shape[1]
    for g in range(group):
        for o in np.ndindex(*out):
            at = tuple(slice(o[i] * stride[i], o[i] * stride[i] + k[i], dilation[i]) for i in range(d))
            part = x[(slice(None), slice(g * c, g * c + c)) + at]
            y[(slice(None), slice(g * m, g * m + m)) + o] = np.einsum(
                "nx,mx->nm", part.reshape(len(x), -1), w[g * m : g * m + m].reshape(m, -1)
            )
    if bias is not None:
        y += bias.reshape([1, -1] + [1] * d)
    return y


def deconv(x, w, stride, crop, size, group=1, bias=None):
    """x [N, C, ...], w [C, M/group, ...]; crop: elements cut at the begin of each axis"""
    d = w.ndim - 2
    full = [(x.shape[2 + i] - 1) * stride[i] + w.shape[2 + i] for i in range(d)]
    m, c = w.shape[1], x.shape[1] // group
    y = np.zeros([x.shape[0], m * group] + full)
    for g in range(group):
        for i in np.ndindex(*x.shape[2:]):
            at = tuple(slice(i[k] * stride[k], i[k] * stride[k] + w.shape[2 + k]) for k in range(d))
            part = np.einsum("nc,cm...->nm...", x[(slice(None), slice(g * c, g * c + c)) + i], w[g * c : g * c + c])
            y[(slice(None), slice(g * m, g * m + m)) + at] += part
    y = y[(slice(None), slice(None)) + tuple(slice(crop[i], crop[i] + size[i]) for i in range(d))]
    return y if bias is None else y + bias.reshape([1, -1] + [1] * d)


def pool(x, k, stride, pad, kind, exclude=False):
    d = len(k)
    p = [pads(x.shape[-d + i], k[i], stride[i], pad[i]) for i in range(d)]
    lead = [(0, 0)] * (x.ndim - d)
    fill = -np.inf if kind == "MAX" else 0
    one = np.pad(np.ones_like(x), lead + p)
    x = np.pad(x.astype(np.float64), lead + p, constant_values=fill)
    out = [(x.shape[-d + i] - k[i]) // stride[i] + 1 for i in range(d)]
    y = np.zeros(list(x.shape[:-d]) + out)
    axes = tuple(range(-d, 0))
    for o in np.ndindex(*out):
        at = (Ellipsis,) + tuple(slice(o[i] * stride[i], o[i] * stride[i] + k[i]) for i in range(d))
        if kind == "MAX":
            v = x[at].max(axes)
        elif kind == "L2":
            v = np.sqrt((x[at] ** 2).sum(axes))
        else:
            v = x[at].sum(axes) / (one[at].sum(axes) if exclude else np.prod(k))
        y[(Ellipsis,) + o] = v
    return y


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def erf(x):
    import math

    return np.vectorize(math.erf)(x)


def grid(mode, size, n, start=0.0, span=None):
    """The positions of n samples of an axis."""
    span = size - 1.0 if span is None else span
    i = np.arange(n)
    if mode == "STRICT_ALIGN_ENDPOINTS_MODE":
        at = start + i * (span / (n - 1) if n > 1 else 0)
    elif mode == "ALIGN_ENDPOINTS_MODE":
        at = start + (i * (span / (n - 1)) if n > 1 else i + span / 2)
    elif mode == "UPSAMPLE_MODE":
        at = start + i * (span + 1) / n
    else:
        step = max(1.0, span) / n
        at = start + (i + 0.5) * step
    return np.clip(at, 0, size - 1)


def sample(x, ys, xs):
    """Bilinear samples of x [..., H, W]."""

    def line(v, at, axis):
        lo, hi = np.floor(at).astype(int), np.ceil(at).astype(int)
        shape = [1] * v.ndim
        shape[axis] = len(at)
        w = (at - lo).reshape(shape)
        return np.take(v, lo, axis) * (1 - w) + np.take(v, hi, axis) * w

    return line(line(x.astype(np.float64), ys, x.ndim - 2), xs, x.ndim - 1)


# ---- element by element ----


def elementwise():
    x, p = rand(2, 3, 4, 5), positive(2, 3, 4, 5)
    for name, f in dict(
        ceil=np.ceil, floor=np.floor, sign=np.sign, sin=np.sin, cos=np.cos, tan=np.tan, atan=np.arctan, sinh=np.sinh,
        cosh=np.cosh, tanh=np.tanh, asinh=np.arcsinh, erf=erf, exp2=np.exp2, round=np.round,
    ).items():
        case(name, [x], lambda b: getattr(b, "add_" + name)("n", "a", "y"), f(x))
    small = np.tanh(x).astype(np.float32) * np.float32(0.9)
    for name, f in dict(asin=np.arcsin, acos=np.arccos, atanh=np.arctanh).items():
        case(name, [small], lambda b: getattr(b, "add_" + name)("n", "a", "y"), f(small))
    case("acosh", [p + 1], lambda b: b.add_acosh("n", "a", "y"), np.arccosh(p + 1))
    case("copy", [x], lambda b: b.add_copy("n", "a", "y"), x)
    alpha, beta = rand(3), positive(3)
    col = lambda v: v.reshape(3, 1, 1)
    for kind, params, want in [
        ("RELU", None, np.maximum(x, 0)),
        ("LEAKYRELU", [0.2], np.where(x >= 0, x, 0.2 * x)),
        ("TANH", None, np.tanh(x)),
        ("SCALED_TANH", [1.5, 0.7], 1.5 * np.tanh(0.7 * x)),
        ("SIGMOID", None, sigmoid(x)),
        ("LINEAR", [2.0, -0.5], 2 * x - 0.5),
        ("SIGMOID_HARD", [0.3, 0.4], np.clip(0.3 * x + 0.4, 0, 1)),
        ("PRELU", alpha, np.where(x >= 0, x, col(alpha) * x)),
        ("ELU", 1.3, np.where(x >= 0, x, 1.3 * np.expm1(x))),
        ("THRESHOLDEDRELU", 0.25, np.where(x >= 0.25, x, 0)),
        ("SOFTSIGN", None, x / (1 + np.abs(x))),
        ("SOFTPLUS", None, np.log1p(np.exp(x))),
        ("PARAMETRICSOFTPLUS", [alpha, beta], col(alpha) * np.log1p(np.exp(col(beta) * x))),
    ]:
        case("activation_" + kind.lower(), [x], lambda b: b.add_activation("n", kind, "a", "y", params), want)
    for mode, want in [
        ("sqrt", np.sqrt(2 * p + 1)), ("rsqrt", 1 / np.sqrt(2 * p + 1 + 1e-3)), ("inverse", 1 / (2 * p + 1 + 1e-3)),
        ("power", (2 * p + 1) ** 1.5), ("exp", np.exp(2 * p + 1)), ("log", np.log(2 * p + 1)),
        ("abs", np.abs(2 * p + 1)), ("threshold", np.maximum(2 * p + 1, 1.5)),
    ]:
        case("unary_" + mode, [p], lambda b: b.add_unary("n", "a", "y", mode, alpha=1.5, shift=1, scale=2, epsilon=1e-3), want)
    case("unary_abs_plain", [x], lambda b: b.add_unary("n", "a", "y", "abs"), np.abs(x))
    for mode, want in [
        ("EXACT", 0.5 * x * (1 + erf(x / np.sqrt(2)))),
        ("TANH_APPROXIMATION", 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
        ("SIGMOID_APPROXIMATION", x * sigmoid(1.702 * x)),
    ]:
        case("gelu_" + mode.lower(), [x], lambda b: b.add_gelu("n", "a", "y", mode), want)
    case("clip", [x], lambda b: b.add_clip("n", "a", "y", -0.5, 0.7), np.clip(x, -0.5, 0.7))
    case("clamped_relu", [x], lambda b: b.add_clamped_relu("n", "a", "y", 0.3, 0.8), np.minimum(np.where(x >= 0, x, 0.3 * x), 0.8))
    binary()
    numbers()


def binary():
    x, y, v = rand(2, 3, 4, 5), rand(2, 3, 4, 5), rand(4, 1)
    p = positive(2, 3, 4, 5)
    for mode, f in dict(ADD=np.add, MULTIPLY=np.multiply, MAX=np.maximum, MIN=np.minimum).items():
        case("several_" + mode.lower(), [x, y, p], lambda b: b.add_elementwise("n", ["a", "b", "c"], "y", mode), f(f(x, y), p))
    case("average", [x, y, p], lambda b: b.add_elementwise("n", ["a", "b", "c"], "y", "AVE"), (x + y + p) / 3)
    case("add_scalar", [x], lambda b: b.add_elementwise("n", ["a"], "y", "ADD", 0.75), x + 0.75)
    case("multiply_scalar", [x], lambda b: b.add_elementwise("n", ["a"], "y", "MULTIPLY", 0.75), x * 0.75)
    c = rand(2, 3, 1, 1)
    case("add_channels", [x, c], lambda b: b.add_elementwise("n", ["a", "b"], "y", "ADD"), x + c)
    for name, f in dict(add=np.add, subtract=np.subtract, multiply=np.multiply, max=np.maximum, min=np.minimum).items():
        case("broadcast_" + name, [x, v], lambda b: getattr(b, "add_%s_broadcastable" % name)("n", ["a", "b"], "y"), f(x, v))
    w = positive(4, 1)
    case("broadcast_divide", [x, w], lambda b: b.add_divide_broadcastable("n", ["a", "b"], "y"), x / w)
    case("broadcast_floor_div", [x * 5, w], lambda b: b.add_floor_div_broadcastable("n", ["a", "b"], "y"), np.floor(x * 5 / w))
    case("broadcast_mod", [x * 5, w], lambda b: b.add_mod_broadcastable("n", ["a", "b"], "y"), np.mod(x * 5, w))
    case("broadcast_pow", [p, v], lambda b: b.add_pow_broadcastable("n", ["a", "b"], "y"), p**v)
    r, s = np.round(x), np.round(y)
    for name, f, more in [
        ("equal", np.equal, {}), ("not_equal", np.not_equal, {}), ("less_than", np.less, {}),
        ("less_equal", np.less_equal, dict(use_less_than_equal=True)), ("greater_than", np.greater, {}),
        ("greater_equal", np.greater_equal, dict(use_greater_than_equal=True)),
    ]:
        method = "add_" + {"less_equal": "less_than", "greater_equal": "greater_than"}.get(name, name)
        case(name, [r, s], lambda b: getattr(b, method)("n", ["a", "b"], "y", **more), f(r, s))
        case(name + "_scalar", [r], lambda b: getattr(b, method)("n", ["a"], "y", alpha=1.0, **more), f(r, 1))
    t, u = (x > 0).astype(np.float32), (y > 0).astype(np.float32)
    for mode, f in dict(AND=np.logical_and, OR=np.logical_or, XOR=np.logical_xor).items():
        case("logical_" + mode.lower(), [t, u], lambda b: b.add_logical("n", ["a", "b"], "y", mode), f(t, u))
    case("logical_not", [t], lambda b: b.add_logical("n", ["a"], "y", "NOT"), np.logical_not(t))
    case("where", [t, x, v], lambda b: b.add_where_broadcastable("n", ["a", "b", "c"], "y"), np.where(t != 0, x, v))


def numbers():
    x = rand(2, 3, 4, 5)
    for shape in [(1,), (3,), (1, 4, 5), (3, 4, 5)]:
        w, c = rand(*shape), rand(*shape)
        full = [s.reshape(-1, 1, 1) if len(shape) == 1 else s for s in (w, c)]
        tag = "x".join(map(str, shape))
        case("bias_" + tag, [x], lambda b: b.add_bias("n", c, "a", "y", shape), x + full[1])
        case("scale_" + tag, [x], lambda b: b.add_scale("n", w, c, True, "a", "y", shape, shape), x * full[0] + full[1])
    case("scale_plain", [x], lambda b: b.add_scale("n", rand(3) * 0 + 2, None, False, "a", "y", [3]), x * 2)
    case("fill_like", [x], lambda b: b.add_fill_like("n", "a", "y", 3.5), np.full_like(x, 3.5))

    def shaped(layer):
        def build(b):
            b.add_load_constant_nd("s", "s", np.array([2.0, 3.0]), [2])
            layer(b)
            b.add_elementwise("e", ["f", "a"], "y", "ADD")

        return build

    r = rand(2, 3)
    case("fill_static", [r], lambda b: [b.add_fill_static("n", "f", [2, 3], 1.5), b.add_elementwise("e", ["f", "a"], "y", "ADD")], r + 1.5)
    case("fill_dynamic", [r], shaped(lambda b: b.add_fill_dynamic("n", "s", "f", 1.5)), r + 1.5)
    v = rand(3)
    case("broadcast_to_static", [v], lambda b: b.add_broadcast_to_static("n", "a", "y", [2, 3]), np.broadcast_to(v, (2, 3)))
    case("broadcast_to_like", [v, r], lambda b: b.add_broadcast_to_like("n", ["a", "b"], "y"), np.broadcast_to(v, (2, 3)))
    case("broadcast_to_dynamic", [v, r], lambda b: [b.add_get_shape("s", "b", "s"), b.add_broadcast_to_dynamic("n", ["a", "s"], "y")], np.broadcast_to(v, (2, 3)))
    q = rand(4)
    case("range_static", [q], lambda b: [b.add_range_static("n", "f", None, 4, 0, 1), b.add_elementwise("e", ["f", "a"], "y", "MULTIPLY")], np.arange(4) * q)
    k = rand(5, 2)

    def ranged(b):
        b.add_get_shape("s", "a", "s")
        b.add_slice_static("l", "s", "l", [0], [1], [1], [False], [False])
        b.add_range_dynamic("n", ["l"], "r", 0, 1)
        b.add_expand_dims("x", "r", "x", [1])
        b.add_add_broadcastable("e", ["x", "a"], "y")

    case("range_dynamic", [k], ranged, np.arange(5)[:, None] + k)
    c5 = rand(2, 3, 4)
    case("load_constant", [rand(1, 1, 2, 3, 4) * 0], lambda b: [b.add_load_constant("n", "f", c5, [2, 3, 4]), b.add_elementwise("e", ["f", "a"], "y", "ADD")], c5[None, None])


# ---- windows and images ----


def windows():
    x = rand(2, 4, 7, 9)

    def add(name, w, bias, stride, border, group=1, dilation=(1, 1), pad=(0, 0, 0, 0), mode="BOTTOM_RIGHT_HEAVY", inp=None):
        inp = x if inp is None else inp
        kh, kw = w.shape[2:]

        def build(b):
            b.add_convolution(
                "n", w.shape[1], w.shape[0], kh, kw, stride[0], stride[1], border, group, w.transpose(2, 3, 1, 0), bias,
                bias is not None, input_name="a", output_name="y", dilation_factors=list(dilation), padding_top=pad[0],
                padding_bottom=pad[1], padding_left=pad[2], padding_right=pad[3], same_padding_asymmetry_mode=mode,
            )

        p = [pad[:2], pad[2:]] if border == "valid" else ["same" if mode[0] == "B" else "lower"] * 2
        flat = inp.reshape((-1,) + inp.shape[-3:])
        y = conv(flat, w, stride, p, list(dilation), group, bias)
        case(name, [inp], build, y.reshape(inp.shape[:-3] + y.shape[1:]))

    add("conv_valid", rand(5, 4, 3, 2), rand(5), (1, 1), "valid")
    add("conv_plain", rand(5, 4, 1, 1), None, (1, 1), "valid")
    add("conv_stride", rand(5, 4, 3, 3), rand(5), (2, 3), "valid")
    add("conv_same", rand(5, 4, 3, 4), rand(5), (2, 2), "same")
    add("conv_same_top", rand(5, 4, 4, 4), rand(5), (2, 2), "same", mode="TOP_LEFT_HEAVY")
    add("conv_pad", rand(5, 4, 3, 3), rand(5), (2, 1), "valid", pad=(1, 2, 0, 3))
    add("conv_dilation", rand(5, 4, 3, 2), rand(5), (1, 2), "valid", dilation=(2, 3))
    add("conv_dilation_same", rand(5, 4, 3, 3), None, (1, 1), "same", dilation=(2, 2))
    add("conv_group", rand(6, 2, 3, 3), rand(6), (1, 1), "same", group=2)
    add("conv_depthwise", rand(4, 1, 3, 3), rand(4), (2, 2), "same", group=4)
    add("conv_rank5", rand(5, 4, 3, 3), rand(5), (1, 1), "same", inp=rand(2, 3, 4, 5, 6))
    transposed(x)
    three(rand(1, 4, 5, 6, 7))
    pools(x)
    images(x)


def transposed(x):
    def add(name, w, bias, stride, border, group=1, pad=(0, 0), out=None):
        """w [C, M/group, kh, kw]"""
        kh, kw = w.shape[2:]
        full = [(x.shape[2 + i] - 1) * stride[i] + w.shape[2 + i] for i in range(2)]
        if out:
            size, crop = list(out), [(full[i] - out[i]) // 2 for i in range(2)]
        elif border == "same":
            size = [x.shape[2 + i] * stride[i] for i in range(2)]
            crop = [max(full[i] - size[i], 0) // 2 for i in range(2)]
        else:
            size, crop = [full[i] - 2 * pad[i] for i in range(2)], list(pad)

        def build(b):
            b.add_convolution(
                "n", x.shape[1], w.shape[1] * group, kh, kw, stride[0], stride[1], border, group, w.transpose(2, 3, 0, 1),
                bias, bias is not None, True, None if out is None else list(out), "a", "y", padding_top=pad[0],
                padding_bottom=pad[0], padding_left=pad[1], padding_right=pad[1],
            )

        case(name, [x], build, deconv(x, w, stride, crop, size, group, bias))

    add("deconv_valid", rand(4, 3, 3, 2), rand(3), (2, 1), "valid")
    add("deconv_pad", rand(4, 3, 4, 4), rand(3), (2, 2), "valid", pad=(1, 1))
    add("deconv_same", rand(4, 3, 4, 4), rand(3), (2, 2), "same")
    add("deconv_same_odd", rand(4, 3, 3, 3), None, (2, 2), "same")
    add("deconv_group", rand(4, 2, 3, 3), rand(4), (1, 2), "valid", group=2)
    add("deconv_shape", rand(4, 3, 3, 3), rand(3), (2, 2), "valid", out=(13, 17))


def three(x):
    w, c = rand(6, 4, 2, 3, 3), rand(6)

    def build(b, **more):
        b.add_convolution3d("n", 4, 6, 2, 3, 3, w, c, True, input_name="a", output_name="y", **more)

    case("conv3d_valid", [x], build, conv(x, w, [1, 1, 1], ["valid"] * 3, bias=c))
    case("conv3d_same", [x], lambda b: build(b, padding_mode="same", stride_depth=2, stride_width=2), conv(x, w, [2, 1, 2], ["same"] * 3, bias=c))
    case(
        "conv3d_custom", [x],
        lambda b: build(b, padding_mode="custom", padding_front=1, padding_top=2, padding_bottom=1, padding_right=2, dilation_height=2),
        conv(x, w, [1, 1, 1], [(1, 0), (2, 1), (0, 2)], [1, 2, 1], bias=c),
    )
    g = rand(6, 2, 2, 3, 3)
    case(
        "conv3d_group", [x], lambda b: b.add_convolution3d("n", 4, 6, 2, 3, 3, g, None, False, 2, input_name="a", output_name="y"),
        conv(x, g, [1, 1, 1], ["valid"] * 3, group=2),
    )
    d = rand(4, 3, 2, 3, 3)
    case(
        "deconv3d", [x],
        lambda b: b.add_convolution3d("n", 4, 3, 2, 3, 3, d.transpose(1, 0, 2, 3, 4), c[:3], True, stride_depth=2, stride_height=2, stride_width=1, is_deconv=True, input_name="a", output_name="y"),
        deconv(x, d, [2, 2, 1], [0, 0, 0], [10, 13, 9], 1, c[:3]),
    )
    for kind in ["MAX", "AVERAGE"]:
        case("pool3d_%s" % kind.lower(), [x], lambda b: b.add_pooling3d("n", "a", "y", kind, 2, 3, 2, 1, 2, 2, "valid"), pool(x, [2, 3, 2], [1, 2, 2], ["valid"] * 3, kind))
        case("pool3d_%s_same" % kind.lower(), [x], lambda b: b.add_pooling3d("n", "a", "y", kind, 2, 3, 2, 1, 2, 2, "same"), pool(x, [2, 3, 2], [1, 2, 2], ["same"] * 3, kind))
        case("global_pool3d_%s" % kind.lower(), [x], lambda b: b.add_global_pooling3d("n", "a", "y", kind), (x.max if kind == "MAX" else x.mean)((2, 3, 4), keepdims=True))
    case(
        "pool3d_exclude", [x],
        lambda b: b.add_pooling3d("n", "a", "y", "AVERAGE", 2, 3, 2, 1, 2, 2, "custom", 1, 0, 1, 1, 0, 1, average_pooling_count_excludes_padding=True),
        pool(x, [2, 3, 2], [1, 2, 2], [(1, 0), (1, 1), (0, 1)], "AVERAGE", True),
    )


def pools(x):
    for kind in ["MAX", "AVERAGE", "L2"]:
        tag = kind.lower()
        case("pool_%s" % tag, [x], lambda b: b.add_pooling("n", 3, 2, 2, 2, kind, "VALID", "a", "y"), pool(x, [3, 2], [2, 2], ["valid"] * 2, kind))
        for ex in [True, False]:
            case(
                "pool_%s_same_%d" % (tag, ex), [x], lambda b: b.add_pooling("n", 3, 3, 2, 2, kind, "SAME", "a", "y", exclude_pad_area=ex),
                pool(x, [3, 3], [2, 2], ["same"] * 2, kind, ex),
            )
        case(
            "pool_%s_pad" % tag, [x], lambda b: b.add_pooling("n", 3, 3, 1, 2, kind, "VALID", "a", "y", padding_top=1, padding_bottom=2, padding_left=1),
            pool(x, [3, 3], [1, 2], [(1, 2), (1, 0)], kind, True),
        )
        last_pixel(x, kind)
        whole = dict(MAX=x.max((2, 3), keepdims=True), AVERAGE=x.mean((2, 3), keepdims=True), L2=np.sqrt((x * x).sum((2, 3), keepdims=True)))
        case("pool_%s_global" % tag, [x], lambda b: b.add_pooling("n", 1, 1, 1, 1, kind, "VALID", "a", "y", is_global=True), whole[kind])


def last_pixel(x, kind):
    """includeLastPixel by its documentation: the sizes are rounded up."""
    for name, k, s, p in [("a", 3, 2, 0), ("b", 3, 2, 1), ("c", 2, 3, 1)]:
        out, pad = [], []
        for size in x.shape[2:]:
            n = -(-(size + 2 * p - k) // s) + 1
            if p and (n - 1) * s >= size + p:
                n -= 1
            out.append(n)
            pad.append((p, max(0, (n - 1) * s + k - size - p)))
        y = pool(x, [k, k], [s, s], pad, kind, True)[:, :, : out[0], : out[1]]

        def build(b):
            b.add_pooling("n", k, k, s, s, kind, "INCLUDE_LAST_PIXEL", "a", "y", exclude_pad_area=True, padding_top=p, padding_bottom=p, padding_left=p, padding_right=p)

        case("pool_%s_last_%s" % (kind.lower(), name), [x], build, y)


def images(x):
    for kind, mode in [("constant", "constant"), ("reflection", "reflect"), ("replication", "edge")]:
        more = dict(constant_values=1.5) if kind == "constant" else {}
        case(
            "padding_" + kind, [x], lambda b: b.add_padding("n", 2, 1, 3, 0, 1.5, "a", "y", kind),
            np.pad(x, [(0, 0), (0, 0), (3, 0), (2, 1)], mode, **more),
        )
    case("constant_pad", [x], lambda b: b.add_constant_pad("n", ["a"], "y", 2.5, False, [0, 0, 1, 2, 0, 0, 3, 1]), np.pad(x, [(0, 0), (1, 2), (0, 0), (3, 1)], constant_values=2.5))
    case("constant_pad_size", [x], lambda b: b.add_constant_pad("n", ["a"], "y", 2.5, True, [0, 2, 0, 6, 7, 0, 0, 12]), np.pad(x, [(0, 0), (0, 2), (0, 0), (0, 3)], constant_values=2.5))
    case("crop", [x], lambda b: b.add_crop("n", 1, 2, 3, 1, None, ["a"], "y"), x[:, :, 3:6, 1:7])
    like = rand(2, 4, 3, 5)
    case("crop_like", [x, like], lambda b: b.add_crop("n", 0, 0, 0, 0, [2, 1], ["a", "b"], "y"), x[:, :, 2:5, 1:6])
    case("upsample_nearest", [x], lambda b: b.add_upsample("n", 2, 3, "a", "y", "NN"), x.repeat(2, 2).repeat(3, 3))
    up = lambda m: sample(x, grid(m, 7, 14), grid(m, 9, 27))
    case("upsample_default", [x], lambda b: b.add_upsample("n", 2, 3, "a", "y", "BILINEAR"), up("UPSAMPLE_MODE"))
    case("upsample_corners", [x], lambda b: b.add_upsample("n", 2, 3, "a", "y", "BILINEAR", "ALIGN_CORNERS_TRUE"), up("STRICT_ALIGN_ENDPOINTS_MODE"))
    half = lambda size, n: np.clip((np.arange(n) + 0.5) * size / n - 0.5, 0, size - 1)
    case("upsample_half", [x], lambda b: b.add_upsample("n", 2, 3, "a", "y", "BILINEAR", "ALIGN_CORNERS_FALSE"), sample(x, half(7, 14), half(9, 27)))
    modes = ["STRICT_ALIGN_ENDPOINTS_MODE", "ALIGN_ENDPOINTS_MODE", "UPSAMPLE_MODE", "ROI_ALIGN_MODE"]
    for mode in modes:
        for h, w in [(5, 12), (1, 4)]:
            case("resize_%s_%d" % (mode.split("_")[0].lower(), h), [x], lambda b: b.add_resize_bilinear("n", "a", "y", h, w, mode), sample(x, grid(mode, 7, h), grid(mode, 9, w)))
    crop_resize(modes)
    for mode in ["SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "PIXEL_SHUFFLE"]:
        if mode == "SPACE_TO_DEPTH":
            v = rand(2, 3, 4, 6)
            want = v.reshape(2, 3, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 12, 2, 3)
        else:
            v = rand(2, 12, 2, 3)
            order = (2, 2, 3) if mode == "DEPTH_TO_SPACE" else (3, 2, 2)
            axes = (0, 3, 4, 1, 5, 2) if mode == "DEPTH_TO_SPACE" else (0, 1, 4, 2, 5, 3)
            want = v.reshape((2,) + order + (2, 3)).transpose(axes).reshape(2, 3, 4, 6)
        case(mode.lower(), [v], lambda b: b.add_reorganize_data("n", "a", "y", mode, 2), want)


def crop_resize(modes):
    x = rand(1, 2, 3, 8, 10)
    boxes = np.array([[1, 2, 5, 7], [0, 0, 7, 9], [2.5, 1.5, 6, 4]], np.float32)
    for mode in modes:
        ys = [[sample(x[0, n], grid(mode, 8, 4, r[0], r[2] - r[0]), grid(mode, 10, 3, r[1], r[3] - r[1])) for n in range(2)] for r in boxes]
        case("crop_resize_" + mode.split("_")[0].lower(), [x, boxes.reshape(3, 1, 4, 1, 1)], lambda b: b.add_crop_resize("n", ["a", "b"], "y", 4, 3, mode), np.array(ys))
    mode = modes[0]
    centre = np.stack([(boxes[:, 1] + boxes[:, 3]) / 2 / 9, (boxes[:, 0] + boxes[:, 2]) / 2 / 7, (boxes[:, 3] - boxes[:, 1]) / 9, (boxes[:, 2] - boxes[:, 0]) / 7], 1)
    rows = np.concatenate([np.array([[1], [0], [1]]), centre], 1).astype(np.float32)
    ys = [[sample(x[0, int(r[0])], grid(mode, 8, 4, q[0], q[2] - q[0]), grid(mode, 10, 3, q[1], q[3] - q[1]))] for r, q in zip(rows, boxes)]
    case("crop_resize_named", [x, rows.reshape(3, 1, 5, 1, 1)], lambda b: b.add_crop_resize("n", ["a", "b"], "y", 4, 3, mode, True, "CENTER_SIZE_WIDTH_FIRST"), np.array(ys))


# ---- norms and products ----


def norms():
    x = rand(2, 3, 4, 5)
    g, h, m, v = rand(3), rand(3), rand(3), positive(3)
    col = lambda t: t.reshape(3, 1, 1)
    case("batchnorm", [x], lambda b: b.add_batchnorm("n", 3, g, h, m, v, "a", "y", epsilon=1e-3), col(g) * (x - col(m)) / np.sqrt(col(v) + 1e-3) + col(h))

    def over(axes, eps, mean_only=False):
        c = x - x.mean(axes, keepdims=True)
        return c if mean_only else c / np.sqrt((c * c).mean(axes, keepdims=True) + eps)

    case("batchnorm_instance", [x], lambda b: b.add_batchnorm("n", 3, g, h, None, None, "a", "y", True, True, 1e-3), col(g) * over((2, 3), 1e-3) + col(h))

    def whole(b):  # which the builder has no argument for
        b.add_batchnorm("n", 3, g, h, None, None, "a", "y", True, True, 1e-3)
        b.spec.neuralNetwork.layers[-1].batchnorm.instanceNormalization = False

    case("batchnorm_batch", [x], whole, col(g) * over((0, 2, 3), 1e-3) + col(h))
    for across in [True, False]:
        for variance in [True, False]:
            axes = (1, 2, 3) if across else (2, 3)
            case("mvn_%d%d" % (across, variance), [x], lambda b: b.add_mvn("n", "a", "y", across, variance, 1e-3), over(axes, 1e-3, not variance))
    case("l2normalize", [x], lambda b: b.add_l2_normalize("n", "a", "y", 1e-3), x / np.sqrt((x * x).sum((1, 2, 3), keepdims=True) + 1e-3))
    z = rand(2, 7, 3, 3)
    s = np.stack([(z[:, max(0, c - 2) : c + 3] ** 2).sum(1) for c in range(7)], 1)
    case("lrn", [z], lambda b: b.add_lrn("n", "a", "y", 0.5, 0.75, 5, 2.0), z / (2 + 0.5 / 5 * s) ** 0.75)
    lg, lb = rand(4, 5), rand(4, 5)
    case("layer_norm", [x], lambda b: b.add_layer_normalization("n", "a", "y", [4, 5], lg, lb, 1e-3), over((2, 3), 1e-3) * lg + lb)
    case("softmax", [x], lambda b: b.add_softmax("n", "a", "y"), softmax(x, -3))
    case("softmax_nd", [x], lambda b: b.add_softmax_nd("n", "a", "y", -1), softmax(x, -1))
    w, c = rand(7, 12), rand(7)
    for shape, out in [((12,), None), ((3, 12), None), ((2, 3, 12), None), ((2, 3, 2, 2), (2, 7, 1, 1)), ((2, 3, 12, 1, 1), (2, 3, 7, 1, 1))]:
        t = rand(*shape)
        flat = t if out is None else t.reshape(out[: len(out) - 3] + (12,))
        y = flat @ w.T + c
        case("inner_product_%d" % len(shape), [t], lambda b: b.add_inner_product("n", w, c, 12, 7, True, "a", "y"), y if out is None else y.reshape(out))
    i = np.array([3, 0, 5, 1], np.int32)
    e, eb = rand(4, 6), rand(4)
    look = e.T[i] + eb
    case("embedding", [i.reshape(4, 1, 1, 1)], lambda b: b.add_embedding("n", e, eb, 6, 4, True, "a", "y"), look.reshape(4, 4, 1, 1))
    case("embedding_nd", [i.reshape(2, 2, 1)], lambda b: b.add_embedding_nd("n", "a", "y", 6, 4, e, eb), look.reshape(2, 2, 4))
    p, q = rand(2, 3, 4), rand(2, 4, 5)
    case("matmul", [p, q], lambda b: b.add_batched_mat_mul("n", ["a", "b"], "y"), p @ q)
    case("matmul_transposed", [p.transpose(0, 2, 1).copy(), q.transpose(0, 2, 1).copy()], lambda b: b.add_batched_mat_mul("n", ["a", "b"], "y", True, True), p @ q)
    case("matmul_broadcast", [p, q[0]], lambda b: b.add_batched_mat_mul("n", ["a", "b"], "y"), p @ q[0])
    case("matmul_weights", [p], lambda b: b.add_batched_mat_mul("n", ["a"], "y", weight_matrix_rows=4, weight_matrix_columns=5, W=q[1], bias=c[:5]), p @ q[1] + c[:5])
    d1, d2 = rand(2, 5, 1, 1), rand(2, 5, 1, 1)
    for cos in [False, True]:
        y = (d1 * d2).sum(1, keepdims=True)
        if cos:
            y = y / np.sqrt((d1**2).sum(1, keepdims=True) * (d2**2).sum(1, keepdims=True))
        case("dot_%d" % cos, [d1, d2], lambda b: b.add_elementwise("n", ["a", "b"], "y", "COS" if cos else "DOT"), y)


# ---- shapes ----


def shapes():
    x = rand(2, 3, 4, 5)
    last = x.transpose(0, 2, 3, 1)
    case("flatten_first", [x], lambda b: b.add_flatten("n", 0, "a", "y"), x.reshape(2, 60, 1, 1))
    case("flatten_last", [x], lambda b: b.add_flatten("n", 1, "a", "y"), last.reshape(2, 60, 1, 1))
    case("flatten_2d", [x], lambda b: b.add_flatten_to_2d("n", "a", "y", 2), x.reshape(6, 20))
    case("flatten_2d_negative", [x], lambda b: b.add_flatten_to_2d("n", "a", "y", -1), x.reshape(24, 5))
    case("expand_dims", [x[0]], lambda b: b.add_expand_dims("n", "a", "y", [0, -1]), x[0][None, ..., None])
    s = x.reshape(1, 6, 1, 20)
    case("squeeze", [s], lambda b: b.add_squeeze("n", "a", "y", [0, -2]), x.reshape(6, 20))
    case("squeeze_all", [s], lambda b: b.add_squeeze("n", "a", "y", None, True), x.reshape(6, 20))
    case("reshape_static", [x], lambda b: b.add_reshape_static("n", "a", "y", [4, -1, 5]), x.reshape(4, 6, 5))
    like = rand(6, 20)
    case("reshape_like", [x, like], lambda b: b.add_reshape_like("n", ["a", "b"], "y"), x.reshape(6, 20))
    case("reshape_dynamic", [x, like], lambda b: [b.add_get_shape("s", "b", "s"), b.add_reshape_dynamic("n", ["a", "s"], "y")], x.reshape(6, 20))
    case("reshape_rank", [x], lambda b: b.add_rank_preserving_reshape("n", "a", "y", [0, 6, -1, 5]), x.reshape(2, 6, 2, 5))
    case("transpose", [x], lambda b: b.add_transpose("n", [3, 1, 0, 2], "a", "y"), x.transpose(3, 1, 0, 2))
    case("get_shape", [x], lambda b: b.add_get_shape("n", "a", "y"), np.array([2, 3, 4, 5]))
    z = rand(2, 2, 4, 5)
    case("concat", [x, z], lambda b: b.add_elementwise("n", ["a", "b"], "y", "CONCAT"), np.concatenate([x, z], 1))
    case("concat_nd", [x, z[:, :1].repeat(3, 1)], lambda b: b.add_concat_nd("n", ["a", "b"], "y", -1), np.concatenate([x, z[:, :1].repeat(3, 1)], -1))
    w = rand(2, 3, 4, 5)
    case("concat_interleave", [x, w], lambda b: b.add_concat_nd("n", ["a", "b"], "y", 1, True), np.stack([x, w], 2).reshape(2, 6, 4, 5))
    t = rand(2, 6, 4, 5)
    case("split", [t], lambda b: b.add_split("n", "a", ["y", "z", "w"]), np.split(t, 3, 1))
    case("split_nd", [t], lambda b: b.add_split_nd("n", "a", ["y", "z"], 1, split_sizes=[2, 4]), [t[:, :2], t[:, 2:]])
    case("split_nd_equal", [t], lambda b: b.add_split_nd("n", "a", ["y", "z"], -2, 2), np.split(t, 2, -2))
    case("stack", [x, w], lambda b: b.add_stack("n", ["a", "b"], "y", 2), np.stack([x, w], 2))
    f = rand(2, 1, 3, 2, 2)
    case("sequence_repeat", [f], lambda b: b.add_sequence_repeat("n", 3, "a", "y"), np.tile(f, (3, 1, 1, 1, 1)))
    case("tile", [x], lambda b: b.add_tile("n", "a", "y", [1, 2, 1, 3]), np.tile(x, (1, 2, 1, 3)))
    for axis, (from_, to, step) in dict(channel=(1, -1, 1), height=(0, 4, 3), width=(1, -2, 2)).items():
        at = [slice(None)] * 4
        at[dict(channel=1, height=2, width=3)[axis]] = slice(from_, to, step)
        case("slice_" + axis, [x], lambda b: b.add_slice("n", "a", "y", axis, from_, to, step), x[tuple(at)])
    case(
        "slice_static", [x], lambda b: b.add_slice_static("n", "a", "y", [0, -2, 3, 0], [1, 3, 0, 5], [1, 1, -2, 2], [True, False, False, False], [True, False, True, False], [False, False, False, False]),
        x[:, -2:3, 3::-2, 0:5:2],
    )
    case(
        "slice_static_squeeze", [x], lambda b: b.add_slice_static("n", "a", "y", [0, 1, 0, 0], [0, 0, 0, 4], [1, 1, 1, 1], [True, False, True, False], [True, False, True, False], [False, True, False, False]),
        x[:, 1, :, 0:4],
    )

    def dynamic(b):
        b.add_load_constant_nd("s", "s", np.array([0.0, 1.0, 0.0, 2.0]), [4])
        b.add_get_shape("e", "a", "e")
        b.add_slice_dynamic("n", ["a", "s", "e"], "y", strides=[1, 1, 2, 1], begin_masks=[False] * 4, end_masks=[False] * 4)

    case("slice_dynamic", [x], dynamic, x[:, 1:, ::2, 2:])
    case("slice_by_size", [x, np.array([1.0])], lambda b: b.add_slice_by_size("n", ["a", "b"], "y", 3, 2), x[..., 1:3])
    case("reverse", [x], lambda b: b.add_reverse("n", "a", "y", [True, False, False, True]), x[::-1, :, :, ::-1])
    n = np.array([2.0, 4.0])
    rs = x.copy()
    for k in range(2):
        rs[k, :, : int(n[k])] = x[k, :, : int(n[k])][:, ::-1]
    case("reverse_seq", [x, n], lambda b: b.add_reverse_sequence("n", ["a", "b"], "y", 0, 2), rs)
    v = rand(2, 9, 3)
    case("sliding_windows", [v], lambda b: b.add_sliding_windows("n", "a", "y", 1, 3, 2), np.stack([v[:, i : i + 3] for i in range(0, 7, 2)], 1))
    case("lower_triangular", [x], lambda b: b.add_lower_triangular("n", "a", "y", 1), np.tril(x, 1))
    case("upper_triangular", [x], lambda b: b.add_upper_triangular("n", "a", "y", -1), np.triu(x, -1))
    case("band", [x], lambda b: b.add_matrix_band_part("n", "a", "y", 1, 2), np.triu(np.tril(x, 2), -1))
    case("band_lower", [x], lambda b: b.add_matrix_band_part("n", "a", "y", -1, 0), np.tril(x))


# ---- positions ----


def positions():
    x = rand(4, 3, 5)
    i = np.array([2, 0, -1], np.int32)
    case("gather", [x, i], lambda b: b.add_gather("n", ["a", "b"], "y", 1), x[:, i])
    nd = np.array([[0, 1], [3, 2]], np.int32)
    case("gather_nd", [x, nd], lambda b: b.add_gather_nd("n", ["a", "b"], "y"), x[[0, 3], [1, 2]])
    along = RNG.integers(0, 3, (4, 2, 5)).astype(np.int32)
    case("gather_along", [x, along], lambda b: b.add_gather_along_axis("n", ["a", "b"], "y", 1), np.take_along_axis(x, along, 1))
    modes = dict(
        UPDATE=lambda a, u: u, ADD=lambda a, u: a + u, SUB=lambda a, u: a - u, MUL=lambda a, u: a * u, DIV=lambda a, u: a / u,
        MAX=np.maximum, MIN=np.minimum,
    )
    j = np.array([2, 0], np.int32)
    u = positive(4, 2, 5)
    for mode, f in modes.items():
        want = x.copy()
        want[:, [2, 0]] = f(x[:, [2, 0]], u)
        case("scatter_" + mode.lower(), [x, j, u], lambda b: b.add_scatter("n", ["a", "b", "c"], "y", 1, mode), want)
        want = x.copy()
        v = positive(2, 5)
        want[[0, 3], [1, 2]] = f(x[[0, 3], [1, 2]], v)
        case("scatter_nd_" + mode.lower(), [x, nd, v], lambda b: b.add_scatter_nd("n", ["a", "b", "c"], "y", mode), want)
        at = np.array([1, 0]).reshape(1, 2, 1).repeat(4, 0).repeat(5, 2)
        want = x.copy()
        np.put_along_axis(want, at, f(np.take_along_axis(x, at, 1), u), 1)
        case("scatter_along_" + mode.lower(), [x, at.astype(np.int32), u], lambda b: b.add_scatter_along_axis("n", ["a", "b", "c"], "y", 1, mode), want)
    order = np.argsort(-x, -1, kind="stable")[..., :3]
    case("top_k", [x], lambda b: b.add_topk("n", ["a"], ["y", "z"], 3, -1), [np.take_along_axis(x, order, -1), order])
    low = np.argsort(x, 0, kind="stable")[:2]
    case("bottom_k", [x], lambda b: b.add_topk("n", ["a"], ["y", "z"], 2, 0, True), [np.take_along_axis(x, low, 0), low])
    case("argsort", [x], lambda b: b.add_argsort("n", "a", "y", 1), np.argsort(x, 1))
    case("argsort_down", [x], lambda b: b.add_argsort("n", "a", "y", 2, True), np.argsort(-x, 2))
    case("argmax", [x], lambda b: b.add_argmax("n", "a", "y", 1), x.argmax(1)[:, None])
    case("argmin", [x], lambda b: b.add_argmin("n", "a", "y", -1, False), x.argmin(-1))
    case("argmax_vector", [x[0, 0]], lambda b: b.add_argmax("n", "a", "y", 0, False), x[0, 0].argmax(keepdims=True))
    h = np.array([[1, 3], [0, 2]], np.int32)
    eye = np.where(np.eye(4)[h] > 0, 5.0, -1.0)
    case("one_hot", [h], lambda b: b.add_one_hot("n", ["a"], "y", 4, -1, 5.0, -1.0), eye)
    case("one_hot_axis", [h], lambda b: b.add_one_hot("n", ["a"], "y", 4, 1, 5.0, -1.0), eye.transpose(0, 2, 1))
    suppression()
    reductions()


def suppression():
    boxes = np.array([[[1, 1, 2, 2], [1.1, 1, 2, 2], [5, 5, 2, 2], [5, 5.2, 2, 2], [9, 9, 1, 1]]], np.float32)
    scores = np.array([[[0.9, 0.1], [0.2, 0.8], [0.3, 0.6], [0.7, 0.1], [0.05, 0.02]]], np.float32)
    for per_class in [False, True]:
        best, cls = scores[0].max(1), scores[0].argmax(1)
        kept = []
        for k in np.argsort(-best, kind="stable"):
            if best[k] < 0.1 or len(kept) == 4:
                continue
            p = boxes[0, k]
            clash = False
            for j in kept:
                q = boxes[0, j]
                side = [max(0, min(p[d] + p[2 + d] / 2, q[d] + q[2 + d] / 2) - max(p[d] - p[2 + d] / 2, q[d] - q[2 + d] / 2)) for d in (0, 1)]
                inter = side[0] * side[1]
                clash |= inter / (p[2] * p[3] + q[2] * q[3] - inter) > 0.5 and (not per_class or cls[j] == cls[k])
            if not clash:
                kept.append(k)
        ob, os_, oi = np.zeros((1, 4, 4)), np.zeros((1, 4, 2)), np.full((1, 4), -1)
        ob[0, : len(kept)], os_[0, : len(kept)], oi[0, : len(kept)] = boxes[0, kept], scores[0, kept], kept
        case(
            "suppression_%d" % per_class, [boxes, scores], lambda b: b.add_nms("n", ["a", "b"], ["y", "z", "w", "v"], 0.5, 0.1, 4, per_class),
            [ob, os_, oi, np.array([len(kept)])],
        )


def reductions():
    x = positive(2, 3, 4, 5)
    axes = dict(CHW=(1, 2, 3), HW=(2, 3), C=(1,), H=(2,), W=(3,))
    fs = dict(
        sum=np.sum, avg=np.mean, prod=np.prod, logsum=lambda v, a, **k: np.log(v + 1e-3).sum(a, **k), sumsquare=lambda v, a, **k: (v * v).sum(a, **k),
        L1=lambda v, a, **k: np.abs(v).sum(a, **k), L2=lambda v, a, **k: np.sqrt((v * v).sum(a, **k)), max=np.max, min=np.min,
    )
    for k, (mode, f) in enumerate(fs.items()):
        for axis in list(axes) if mode in ("sum", "max") else [list(axes)[k % 5]]:
            case("reduce_%s_%s" % (mode.lower(), axis.lower()), [x], lambda b: b.add_reduce("n", "a", "y", axis, mode, 1e-3), f(x, axes[axis], keepdims=True))
    case("reduce_argmax", [x], lambda b: b.add_reduce("n", "a", "y", "H", "argmax"), x.argmax(2, keepdims=True))
    nd = dict(
        l1=fs["L1"], l2=fs["L2"], max=np.max, min=np.min, sum=np.sum, prod=np.prod, mean=np.mean, logsum=lambda v, a, **k: np.log(v.sum(a, **k)),
        sumsquare=fs["sumsquare"], logsumexp=lambda v, a, **k: np.log(np.exp(v).sum(a, **k)),
    )
    for mode, f in nd.items():
        case("reduce_nd_" + mode, [x], lambda b: getattr(b, "add_reduce_" + mode)("n", "a", "y", [0, -1], False), f(x, (0, 3)))
    case("reduce_all", [x], lambda b: b.add_reduce_sum("n", "a", "y", None, False, True), np.array([x.sum()]))
    case("reduce_keep", [x], lambda b: b.add_reduce_mean("n", "a", "y", [1], True), x.mean(1, keepdims=True))
    for ex in [False, True]:
        for rev in [False, True]:
            v = x[:, :, :, ::-1] if rev else x
            y = np.cumsum(v, 3) - (v if ex else 0)
            case("cumsum_%d%d" % (ex, rev), [x], lambda b: b.add_cumsum("n", ["a"], "y", 3, rev, ex), y[:, :, :, ::-1] if rev else y)


# ---- recurrent ----


def recurrent():
    s, n, i, h = 5, 2, 3, 4
    x = rand(s, n, i, 1, 1)
    h0, c0 = rand(1, n, h, 1, 1), rand(1, n, h, 1, 1)
    clip = lambda v: np.clip(v, -50, 50)
    flat = lambda v: v.reshape(v.shape[:3])
    hard = lambda v: np.clip(0.2 * v + 0.5, 0, 1)
    lift = lambda v: np.asarray(v)[..., None, None]

    def lstm(v, wx, wh, b, peep=None, hh=None, cc=None, coupled=False, forget=False, gate=sigmoid):
        hh = np.zeros((n, h)) if hh is None else hh
        cc = np.zeros((n, h)) if cc is None else cc
        out = []
        for t in v:
            z = [clip(t @ wx[k].T + hh @ wh[k].T + b[k]) for k in range(4)]  # i, f, o, z
            if forget:
                z[1] = z[1] + 1
            p = peep or [0, 0, 0]
            ig, fg = gate(z[0] + p[0] * cc), gate(z[1] + p[1] * cc)
            cc = cc * (1 - ig if coupled else fg) + ig * np.tanh(z[3])
            hh = np.tanh(cc) * gate(z[2] + p[2] * cc)
            out.append(hh)
        return np.array(out), hh, cc

    def weights():
        return [rand(h, h) for _ in range(4)], [rand(h, i) for _ in range(4)], [rand(h) for _ in range(4)]

    wh, wx, b4 = weights()
    peep = [rand(h) for _ in range(3)]
    for name, more, kw in [
        ("plain", dict(), dict()), ("peephole", dict(peep=peep), dict(peep=peep)),
        ("coupled", dict(coupled_input_forget_gate=True), dict(coupled=True)), ("forget", dict(forget_bias=True), dict(forget=True)),
        ("hard", dict(inner_activation="SIGMOID_HARD"), dict(gate=hard)),
    ]:
        y, hh, cc = lstm(flat(x), wx, wh, b4, **kw)
        case("lstm_" + name, [x], lambda b: b.add_unilstm("n", wh, wx, b4, h, i, ["a"], ["y"], output_all=True, **more), lift(y))
    y, hh, cc = lstm(flat(x), wx, wh, b4, hh=flat(h0)[0], cc=flat(c0)[0])
    case("lstm_states", [x, h0, c0], lambda b: b.add_unilstm("n", wh, wx, b4, h, i, ["a", "b", "c"], ["y", "z", "w"], output_all=True), [lift(y), lift(hh[None]), lift(cc[None])])
    case("lstm_last", [x], lambda b: b.add_unilstm("n", wh, wx, b4, h, i, ["a"], ["y"]), lift(lstm(flat(x), wx, wh, b4)[1][None]))
    back = lstm(flat(x)[::-1], wx, wh, b4)[0]
    case("lstm_reverse", [x], lambda b: b.add_unilstm("n", wh, wx, b4, h, i, ["a"], ["y"], output_all=True, reverse_input=True), lift(back))
    vh, vx, vb = weights()
    yb, hb, cb = lstm(flat(x)[::-1], vx, vh, vb)
    yf, hf, cf = lstm(flat(x), wx, wh, b4)
    case("bilstm", [x], lambda b: b.add_bidirlstm("n", wh, wx, b4, vh, vx, vb, h, i, ["a"], ["y"], output_all=True), lift(np.concatenate([yf, yb[::-1]], 2)))
    case(
        "bilstm_last", [x], lambda b: b.add_bidirlstm("n", wh, wx, b4, vh, vx, vb, h, i, ["a"], ["y", "z", "w", "v", "u"]),
        [lift(np.concatenate([hf, hb], 1)[None])] + [lift(v[None]) for v in (hf, cf, hb, cb)],
    )
    gh, gx, gb = [rand(h, h) for _ in range(3)], [rand(h, i) for _ in range(3)], [rand(h) for _ in range(3)]

    def gru(v, hh, gate):
        out = []
        for t in v:
            z, r = (gate(t @ gx[k].T + hh @ gh[k].T + gb[k]) for k in (0, 1))
            o = np.tanh(t @ gx[2].T + (hh * r) @ gh[2].T + gb[2])
            hh = (1 - z) * o + z * hh
            out.append(hh)
        return np.array(out)

    case("gru", [x], lambda b: b.add_gru("n", gh, gx, gb, h, i, ["a"], ["y"], output_all=True), lift(gru(flat(x), np.zeros((n, h)), hard)))
    y = gru(flat(x), flat(h0)[0], sigmoid)
    case("gru_states", [x, h0], lambda b: b.add_gru("n", gh, gx, gb, h, i, ["a", "b"], ["y", "z"], inner_activation="SIGMOID"), [lift(y[-1:]), lift(y[-1:])])

    def simple(v, hh, f):
        out = []
        for t in v:
            hh = f(clip(t @ wx[0].T + hh @ wh[0].T + b4[0]))
            out.append(hh)
        return np.array(out)

    case("rnn", [x], lambda b: b.add_simple_rnn("n", wh[0], wx[0], b4[0], h, i, "TANH", ["a"], ["y"], output_all=True), lift(simple(flat(x), np.zeros((n, h)), np.tanh)))
    case("rnn_relu", [x], lambda b: b.add_simple_rnn("n", wh[0], wx[0], b4[0], h, i, "RELU", ["a"], ["y"]), lift(simple(flat(x), np.zeros((n, h)), lambda v: np.maximum(v, 0))[-1:]))


# ---- control flow ----


def flows():
    x = rand(3)
    for k, on in enumerate([1.0, 0.0]):

        def build(b):
            branch = b.add_branch("n", "b")
            yes = NeuralNetworkBuilder(nn_spec=branch.branch.ifBranch)
            yes.add_elementwise("p", ["a"], "y", "ADD", 10.0)
            no = NeuralNetworkBuilder(nn_spec=branch.branch.elseBranch)
            no.add_elementwise("q", ["a"], "y", "MULTIPLY", 2.0)

        case("branch_%d" % k, [x, np.array([on])], build, x + 10 if on else x * 2)

    def counted(b):
        b.add_copy("i", "a", "y")
        loop = b.add_loop("n", max_iterations=3)
        body = NeuralNetworkBuilder(nn_spec=loop.loop.bodyNetwork)
        body.add_elementwise("p", ["y"], "t", "MULTIPLY", 2.0)
        body.add_elementwise("q", ["t"], "u", "ADD", 1.0)
        body.add_copy("r", "u", "y")

    want = x
    for _ in range(3):
        want = want * 2 + 1
    case("loop_counted", [x], counted, want)

    def limited(b):
        """Doubles y until its sum is at least b."""
        b.add_copy("i", "a", "y")
        loop = b.add_loop("n", condition="on")
        test = NeuralNetworkBuilder(nn_spec=loop.loop.conditionNetwork)
        test.add_reduce_sum("s", "y", "s", [0], True)
        test.add_less_than("l", ["s", "b"], "on")
        body = NeuralNetworkBuilder(nn_spec=loop.loop.bodyNetwork)
        body.add_elementwise("p", ["y"], "t", "MULTIPLY", 2.0)
        body.add_copy("r", "t", "y")

    p = positive(3)
    want = p
    while want.sum() < 40:
        want = want * 2
    case("loop_condition", [p, np.array([40.0])], limited, want)

    def broken(b, jump="break"):
        """Adds 1 for each step, but ends (or skips the rest of the step) once the sum is above b."""
        b.add_copy("i", "a", "y")
        loop = b.add_loop("n", max_iterations=20)
        body = NeuralNetworkBuilder(nn_spec=loop.loop.bodyNetwork)
        body.add_elementwise("p", ["y"], "t", "ADD", 1.0)
        body.add_copy("r", "t", "y")
        body.add_reduce_sum("s", "y", "s", [0], True)
        body.add_greater_than("g", ["s", "b"], "on")
        inner = NeuralNetworkBuilder(nn_spec=body.add_branch("h", "on").branch.ifBranch)
        getattr(inner, "add_loop_" + jump)("k")
        body.add_elementwise("m", ["y"], "v2", "MULTIPLY", 1.5)
        body.add_copy("o", "v2", "y")

    for jump in ["break", "continue"]:
        want = p
        for _ in range(20):
            want = want + 1
            if want.sum() > 30:
                if jump == "break":
                    break
                continue
            want = want * 1.5
        case("loop_" + jump, [p, np.array([30.0])], lambda b: broken(b, jump), want)


# ---- old networks, of rank 5 ----


def classics():
    x = rand(3, 6, 7)
    w, c = rand(4, 3, 3, 3), rand(4)

    def build(b):
        b.add_convolution("c", 3, 4, 3, 3, 1, 1, "same", 1, w.transpose(2, 3, 1, 0), c, True, input_name="a", output_name="c")
        b.add_activation("r", "RELU", "c", "r")
        b.add_permute("p", [0, 2, 3, 1], "r", "p")
        b.add_flatten("f", 0, "p", "f")
        b.add_softmax("s", "f", "y")

    y = np.maximum(conv(x[None], w, [1, 1], ["same"] * 2, bias=c), 0)[0].transpose(1, 2, 0).ravel()
    case("classic_image", [x], build, softmax(y, 0), classic=True)
    v = rand(6)
    m, d = rand(4, 6), rand(4)
    case("classic_vector", [v], lambda b: b.add_inner_product("n", m, d, 6, 4, True, "a", "y"), m @ v + d, classic=True)
    case("classic_reshape", [x], lambda b: b.add_reshape("n", "a", "y", (6, 7, 3), 0), x.reshape(6, 7, 3), classic=True)
    case("classic_reshape_last", [x], lambda b: b.add_reshape("n", "a", "y", (2, 9, 7), 1), x.transpose(1, 2, 0).reshape(9, 7, 2).transpose(2, 0, 1), classic=True)
    case("classic_concat", [x, x * 2], lambda b: b.add_elementwise("n", ["a", "b"], "y", "CONCAT"), np.concatenate([x, x * 2]), classic=True)
    case("classic_permute", [x], lambda b: b.add_permute("n", [0, 3, 1, 2], "a", "y"), x.transpose(2, 0, 1), classic=True)


# ---- weights, pictures, labels ----


def stored():
    x, w, c = rand(2, 12), rand(7, 12), rand(7)
    for bits, mode in [(16, "linear"), (8, "linear"), (4, "linear"), (3, "linear"), (1, "linear"), (8, "kmeans_lut"), (4, "linear_lut"), (2, "linear_lut")]:
        b = NeuralNetworkBuilder([("a", datatypes.Array(2, 12))], [("y", None)], disable_rank5_shape_mapping=True)
        b.add_inner_product("n", w, c, 12, 7, True, "a", "y")
        q = quantize(b.spec, bits, mode)
        p = q.neuralNetwork.layers[0].innerProduct
        y = x @ decode(p.weights, (7, 12)).T + decode(p.bias, (7,))
        for f in list(q.description.input) + list(q.description.output):
            f.type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
        save("weights_%s_%d" % (mode, bits), q, [x], [y.astype(np.float32)])


def quantize(spec, bits, mode):
    from coremltools.models.neural_network.quantization_utils import quantize_weights

    if mode == "kmeans_lut":
        mode = "linear_lut"
    q = quantize_weights(ct.models.MLModel(spec, skip_model_load=True), bits, mode)
    return q.get_spec() if hasattr(q, "get_spec") else q


def decode(w, shape):
    """Weights as the documentation of QuantizationParams says; bits run from the high end of a byte."""
    if len(w.floatValue):
        return np.array(w.floatValue, np.float32).reshape(shape)
    if w.float16Value:
        return np.frombuffer(w.float16Value, np.float16).astype(np.float32).reshape(shape)
    q = w.quantization
    bits = np.unpackbits(np.frombuffer(w.rawValue, np.uint8))[: int(np.prod(shape)) * q.numberOfBits]
    v = bits.reshape(-1, q.numberOfBits) @ (1 << np.arange(q.numberOfBits - 1, -1, -1))
    if q.WhichOneof("QuantizationType") == "lookupTableQuantization":
        return np.array(q.lookupTableQuantization.floatValue, np.float32)[v].reshape(shape)
    scale, bias = (np.array(t, np.float32).reshape(-1, 1) for t in (q.linearQuantization.scale, q.linearQuantization.bias))
    return (v.reshape(len(scale), -1) * scale + (bias if bias.size else 0)).astype(np.float32).reshape(shape)


def pictures():
    from coremltools.models.neural_network import flexible_shape_utils  # noqa: F401  (names the form)

    for colour in ["RGB", "BGR", "GRAYSCALE"]:
        n = 1 if colour == "GRAYSCALE" else 3
        x = RNG.integers(0, 256, (1, n, 4, 5)).astype(np.uint8)
        w = rand(2, n, 1, 1)
        b = NeuralNetworkBuilder([("a", datatypes.Array(n, 4, 5))], [("y", None)])
        b.add_convolution("n", n, 2, 1, 1, 1, 1, "valid", 1, w.transpose(2, 3, 1, 0), None, False, input_name="a", output_name="y")
        b.set_pre_processing_parameters(["a"], colour == "BGR", red_bias=-1.0, green_bias=-2.0, blue_bias=-3.0, gray_bias=-4.0, image_scale=0.5, image_format="NCHW")
        t = b.spec.description.input[0].type
        t.imageType.width, t.imageType.height = 5, 4
        t.imageType.colorSpace = getattr(ct.proto.FeatureTypes_pb2.ImageFeatureType, colour)
        f = x.astype(np.float64)[:, ::-1] if colour == "BGR" else x.astype(np.float64)
        bias = dict(RGB=[-1, -2, -3], BGR=[-3, -2, -1], GRAYSCALE=[-4])[colour]
        y = conv(0.5 * f + np.array(bias).reshape(1, -1, 1, 1), w, [1, 1], ["valid"] * 2)[0]
        b.spec.description.output[0].type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
        b.spec.description.output[0].type.multiArrayType.shape.extend(y.shape)
        save("picture_" + colour.lower(), b.spec, [x], [y.astype(np.float32)])


def labelled():
    for kind in ["text", "number"]:
        x, w = rand(5), rand(3, 5)
        labels = ["cat", "dog", "owl"] if kind == "text" else [10, 20, 30]
        b = NeuralNetworkBuilder([("a", datatypes.Array(5))], [("p", datatypes.Array(3))], mode="classifier")
        b.add_inner_product("n", w, None, 5, 3, False, "a", "t")
        b.add_softmax("s", "t", "p")
        b.set_class_labels(labels, predicted_feature_name="label", prediction_blob="p")
        b.spec.description.input[0].type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32
        p = softmax(w @ x, 0)
        outs = {"label": np.array([labels[p.argmax()]]), b.spec.description.predictedProbabilitiesName: p.astype(np.float32)}
        save("labels_" + kind, b.spec, [x], [outs[f.name] for f in b.spec.description.output])


# ---- models other than networks ----


def trained():
    """Models of scikit-learn, whose predictions are the expected outputs."""
    from sklearn import ensemble, linear_model, preprocessing, svm, tree
    from sklearn.impute import SimpleImputer

    x = RNG.normal(0, 1, (120, 4))
    t = x[:, 0] * 2 - x[:, 1] + np.sin(3 * x[:, 2])
    two = (t > 0).astype(int)
    three = np.digitize(t, [-0.8, 0.8])
    convert = ct.converters.sklearn.convert

    def add(name, model, y, shift=0):
        model.fit(x, y) if y is not None else model.fit(x)
        spec = convert(model, [("a", datatypes.Array(4))], "y").get_spec()
        for k in range(2):
            v = x[k + 3 + shift : k + 4 + shift]
            if hasattr(model, "predict_proba") and name.endswith(("two", "three")):
                p = model.predict_proba(v)[0]
                if name.startswith("forest"):  # a leaf is a vote, and scores are not transformed
                    p = np.sum([e.predict_proba(v)[0] > 0.5 for e in model.estimators_], 0)
                outs = {"y": np.array([model.classes_[p.argmax()]], np.int64), spec.description.predictedProbabilitiesName: p.astype(np.float32)}
            elif hasattr(model, "predict"):
                outs = {"y": np.asarray(model.predict(v), np.float64)}
            else:
                outs = {"y": model.transform(v)[0].astype(np.float64)}
            save("%s_%d" % (name, k), spec, [v[0]], [np.asarray(outs[f.name]) for f in spec.description.output])

    add("tree_regressor", tree.DecisionTreeRegressor(max_depth=5), t)
    add("tree_two", tree.DecisionTreeClassifier(max_depth=4), two)
    add("tree_three", tree.DecisionTreeClassifier(max_depth=4), three)
    add("forest_regressor", ensemble.RandomForestRegressor(7, max_depth=5, random_state=1), t)
    add("forest_three", ensemble.RandomForestClassifier(7, max_depth=5, random_state=1), three)
    add("boosted_regressor", ensemble.GradientBoostingRegressor(n_estimators=9, random_state=1), t)
    add("boosted_two", ensemble.GradientBoostingClassifier(n_estimators=9, random_state=1), two)
    add("linear_regressor", linear_model.LinearRegression(), t)
    logistic("logistic_two", linear_model.LogisticRegression().fit(x, two), x[9], 0)
    logistic("logistic_three", linear_model.LogisticRegression(multi_class="ovr").fit(x, three), x[9], 1)
    logistic("logistic_reference", linear_model.LogisticRegression().fit(x, three), x[9], 0)
    for kernel in ["linear", "rbf", "poly", "sigmoid"]:
        add("svr_" + kernel, svm.SVR(kernel=kernel, gamma=0.3, coef0=0.2), t)
    add("svc_rbf_two", svm.SVC(probability=True, gamma=0.3, random_state=1), two)
    add("svc_poly_three", svm.SVC(probability=True, kernel="poly", gamma=0.3, coef0=0.5, random_state=1), three)
    add("scaler", preprocessing.StandardScaler(), None)
    for norm in ["l1", "l2", "max"]:
        add("normalizer_" + norm, preprocessing.Normalizer(norm), None)
    joined(x, t)


def model(kind, ins, outs):
    """A model with features of these types, which are lists of (name, type)."""
    spec = ct.proto.Model_pb2.Model()
    spec.specificationVersion = 4
    for fs, to in ((ins, spec.description.input), (outs, spec.description.output)):
        for name, t in fs:
            f = to.add()
            f.name = name
            if isinstance(t, int):
                f.type.multiArrayType.shape.append(t)
                f.type.multiArrayType.dataType = ct.proto.FeatureTypes_pb2.ArrayFeatureType.DOUBLE
            else:
                getattr(f.type, t + "Type").MergeFromString(b"")
    getattr(spec, kind).SetInParent()
    return spec, getattr(spec, kind)


def logistic(name, trained, v, encoding):
    """A logistic regression; with a reference, the scores are those above the first class's."""
    spec, m = model("glmClassifier", [("a", 4)], [("y", "int64"), ("p", "double")])
    spec.description.output[1].type.dictionaryType.int64KeyType.MergeFromString(b"")
    spec.description.predictedFeatureName, spec.description.predictedProbabilitiesName = "y", "p"
    w, c = trained.coef_, trained.intercept_
    if len(w) > 1 and not encoding:
        w, c = w[1:] - w[0], c[1:] - c[0]
    for row in w:
        m.weights.add().value.extend(row)
    m.offset.extend(c)
    m.classEncoding = encoding
    m.int64ClassLabels.vector.extend(trained.classes_)
    p = trained.predict_proba(v[None])[0]
    save(name, spec, [v], [np.array([p.argmax()], np.int64), p.astype(np.float32)])


def joined(x, t):
    v = x[5]
    spec, m = model("imputer", [("a", 4)], [("y", 4)])
    m.imputedDoubleArray.vector.extend([9.0, 8.0, 7.0, 6.0])
    m.replaceDoubleValue = float("nan")
    w = v.copy()
    w[1] = np.nan
    want = w.copy()
    want[1] = 8
    save("imputer", spec, [w], [want])
    spec, m = model("arrayFeatureExtractor", [("a", 4)], [("y", 3)])
    m.extractIndex.extend([2, 0, 2])
    save("extractor", spec, [v], [v[[2, 0, 2]]])
    spec, m = model("featureVectorizer", [("a", 4), ("b", "double")], [("y", 5)])
    for name, n in (("b", 1), ("a", 4)):
        c = m.inputList.add()
        c.inputColumn, c.inputDimensions = name, n
    save("vectorizer", spec, [v, np.array([3.5])], [np.concatenate([[3.5], v])])
    spec, m = model("oneHotEncoder", [("a", "int64")], [("y", 3)])
    m.int64Categories.vector.extend([5, 7, 9])
    m.handleUnknown = 1
    save("one_hot_encoder", spec, [np.array([7])], [np.array([0.0, 1, 0])])
    spec, m = model("categoricalMapping", [("a", "int64")], [("y", "string")])
    m.int64ToStringMap.map[3] = "three"
    m.int64ToStringMap.map[4] = "four"
    m.strValue = "other"
    save("category", spec, [np.array([4])], [np.array(["four"])])
    save("category_other", spec, [np.array([8])], [np.array(["other"])])
    spec, m = model("pipelineRegressor", [("a", 4)], [("y", "double")])
    first, s = model("scaler", [("a", 4)], [("s", 4)])
    s.shiftValue.extend([1.0])
    s.scaleValue.extend([1.0, 2.0, 3.0, 4.0])
    second, g = model("glmRegressor", [("s", 4)], [("y", "double")])
    g.weights.add().value.extend([1.0, -1.0, 0.5, 2.0])
    g.offset.append(0.25)
    g.postEvaluationTransform = 2
    m.pipeline.models.extend([first, second])
    score = ((v + 1) * [1, 2, 3, 4]) @ [1, -1, 0.5, 2] + 0.25
    save("pipeline", spec, [v], [np.array([0.5 * (1 + erf(np.array(score / np.sqrt(2))))])])
    spec, m = model("dictVectorizer", [("a", "double")], [("y", 3)])
    spec.description.input[0].type.dictionaryType.stringKeyType.MergeFromString(b"")
    m.stringToIndex.vector.extend(["red", "green", "blue"])
    save("dict_vectorizer", spec, [v[:3]], [v[:3]])
    spec, m = model("identity", [("a", 4)], [("y", 4)])
    save("identity", spec, [v], [v])
    detector()


def detector():
    boxes = np.array([[1, 1, 2, 2], [1.1, 1, 2, 2], [5, 5, 2, 2], [9, 9, 1, 1]])
    conf = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.6], [0.05, 0.02]])
    spec, m = model("nonMaximumSuppression", [("c", 2), ("b", 4), ("t", "double")], [("y", 2), ("z", 4)])
    for f, n in zip(spec.description.input, [2, 4]):
        f.type.multiArrayType.shape[:] = [4, n]
    spec.description.input[2].type.isOptional = True
    m.confidenceInputFeatureName, m.coordinatesInputFeatureName, m.iouThresholdInputFeatureName = "c", "b", "t"
    m.confidenceOutputFeatureName, m.coordinatesOutputFeatureName = "y", "z"
    m.iouThreshold, m.confidenceThreshold = 0.5, 0.1
    m.pickTop.perClass = False
    kept = [0, 2]
    save("detector", spec, [conf, boxes], [conf[kept], boxes[kept]])


def optional():
    """An optional state, whose default is 0.5."""
    x = rand(2, 3)
    b = NeuralNetworkBuilder([("a", datatypes.Array(2, 3)), ("s", datatypes.Array(2, 3))], [("y", None)], disable_rank5_shape_mapping=True)
    b.add_elementwise("n", ["a", "s"], "y", "ADD")
    kinds = ct.proto.FeatureTypes_pb2.ArrayFeatureType
    for f in list(b.spec.description.input) + list(b.spec.description.output):
        f.type.multiArrayType.dataType = kinds.FLOAT32
    b.spec.description.input[1].type.isOptional = True
    b.spec.description.input[1].type.multiArrayType.floatDefaultValue = 0.5
    save("optional", b.spec, [x], [x + np.float32(0.5)])
    b = NeuralNetworkBuilder([("a", datatypes.Array(2, 3))], [("y", None), ("z", None)], disable_rank5_shape_mapping=True)
    b.add_softmax_nd("m", "a", "z", 7)
    b.add_custom("n", ["a"], ["y"])
    save("refused", b.spec, [], [])
    f = rand(4, 3)
    b = NeuralNetworkBuilder([("a", datatypes.Array(2, 3))], [("y", None)], disable_rank5_shape_mapping=True)
    b.add_reduce_sum("n", "a", "y", [0], True)
    t = b.spec.description.input[0].type.multiArrayType
    t.dataType = b.spec.description.output[0].type.multiArrayType.dataType = kinds.FLOAT32
    for lo, hi in ((1, -1), (3, 3)):
        r = t.shapeRange.sizeRanges.add()
        r.lowerBound, r.upperBound = lo, hi
    save("flexible", b.spec, [f], [f.sum(0, keepdims=True)])

def write(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        def put(name, data):
            z.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)

        for name, (model, inputs, outputs) in sorted(CASES.items()):
            put(name + "/model.mlmodel", model)
            for kind, arrays in (("input", inputs), ("output", outputs)):
                for k, a in enumerate(arrays):
                    f = io.BytesIO()
                    np.save(f, np.ascontiguousarray(a))
                    put("%s/%s_%d.npy" % (name, kind, k), f.getvalue())
    print("%d cases, %d bytes" % (len(CASES), os.path.getsize(path)))


if __name__ == "__main__":
    for part in [elementwise, windows, norms, shapes, positions, recurrent, flows, classics, stored, pictures, labelled, trained, optional]:
        part()
    write(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "cases.zip"))
