"""Random operators: element-wise functions, convolutions, products, pools, reductions. Each maker returns a Case."""

import math

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from tflite_build import INT4, Case, Tensor, broadcast, constant, f32, maker, numbers, open_batch, operand, options, pick, result, same, scale, shape_of, weights, zero_point


# ---- element-wise ----


def far_quotients(case):
    """Where the kernel of DIV divides by 2^32 or more, or by less than 1, which C++ does not define."""
    x, y, z = *case.operands, case.results[0]
    a, b = np.broadcast_arrays(x.data.astype(np.int64) - x.quant[1][0], y.data.astype(np.int64) - y.quant[1][0])
    a = np.where(b < 0, -a, a)
    headroom = 31 - np.ceil(np.log2(np.where(a < 0, -a, a + 1).clip(1))).astype(int)
    shift = math.frexp(np.float32(x.quant[0][0]) / (np.float32(y.quant[0][0]) * np.float32(z.quant[0][0])))[1]
    exponent = np.floor(np.log2(np.abs(b).clip(1))).astype(int) + headroom - shift
    return (exponent > 31) | (exponent < 0)


def two(rng, dtype, most=5):
    shape = shape_of(rng, 1, most)
    x, y = operand(rng, shape, dtype), operand(rng, broadcast(rng, shape), dtype)
    return (x, y) if rng.random() < 0.7 else (y, x)


@maker("ADD", "SUB", "MUL", "DIV")
def binary(rng, name):
    dtype = pick(rng, "f4", "i1", "u1", "i2", "i4", "i8") if name != "DIV" else pick(rng, "f4", "i1", "u1", "i4")
    act = int(rng.choice([0, 0, 1, 2, 3])) if dtype not in ("i8",) else 0
    x, y = two(rng, dtype)
    if name == "DIV":  # no divisor of 0
        zero = y.quant[1][0] if y.quant else 0
        y.data = np.where(y.data == zero, y.data.dtype.type(zero + 1 if zero < 100 else zero - 1), y.data)
        y.fixed = bool(rng.integers(0, 2))
    z = result(rng, dtype)
    extra = {}
    if x.quant:
        s, t = x.quant[0][0], y.quant[0][0]
        around = {"MUL": s * t * 64, "DIV": s / t / 4}.get(name, max(s, t))
        z = result(rng, dtype, base=around)
    if name in ("ADD", "SUB"):
        extra = {"potScaleInt16": bool(dtype == "i2" and rng.random() < 0.3)}
        if extra["potScaleInt16"]:
            k = -int(rng.integers(6, 13))
            for t in (x, y, z):
                t.quant = ([2.0 ** (k - int(rng.integers(0, 3)))], [0], 0)
            z.quant = ([2.0**k], [0], 0)
    case = Case(name, {"i2": 4, "i1": 2, "i8": 6 if name == "MUL" else 4}.get(dtype, 1), [x, y], [z], options(name.title() + "Options", fusedActivationFunction=act, **extra))
    if name == "DIV" and x.quant:
        case.undefined = far_quotients(case)
    return case


@maker("MAXIMUM", "MINIMUM")
def extremes(rng, name):
    x, y = two(rng, pick(rng, "f4", "i4", "i8", "i1", "u1", "i2"))
    y.quant = x.quant
    return Case(name, 4, [x, y], [same(x)], options("MaximumMinimumOptions"))


@maker("SQUARED_DIFFERENCE")
def squared(rng, name):
    dtype = pick(rng, "f4", "i1", "i4")
    x, y = two(rng, dtype, 4)
    base = max(x.quant[0][0], y.quant[0][0]) ** 2 * 100 if x.quant else None
    return Case(name, 2, [x, y], [result(rng, dtype, base=base)], options("SquaredDifferenceOptions"))


@maker("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
def compare(rng, name):
    dtypes = ("f4", "i1", "u1", "i4", "i8", "i2") + (("?",) if "EQUAL" in name[-5:] and name[0] in "EN" else ())
    x, y = two(rng, pick(rng, *dtypes), 4)
    if x.quant and rng.random() < 0.5:
        y.quant = x.quant
    for t in (x, y):  # scales of 1 and more have no meaning in the kernel
        t.quant = ([min(t.quant[0][0], 0.9)], *t.quant[1:]) if t.quant else None
    return Case(name, 2 if x.quant else 1, [x, y], [Tensor([], "?")], options("".join(w.title() for w in name.split("_")) + "Options"))


@maker("LOGISTIC", "TANH")
def squash(rng, name):
    dtype = pick(rng, "f4", "i1", "u1", "i2")
    q = {"i1": ([1 / 256], [-128], 0), "u1": ([1 / 256], [0], 0), "i2": ([1 / 32768], [0], 0)} if name == "LOGISTIC" else {"i1": ([1 / 128], [0], 0), "u1": ([1 / 128], [128], 0), "i2": ([1 / 32768], [0], 0)}
    x = operand(rng, [256], dtype)
    if dtype == "i2":
        x.quant = ([f32(rng.choice([1 / 4096, 1 / 2048, 1 / 8192, 1 / 32768, rng.uniform(1e-5, 1e-3)]))], [0], 0)
    case = Case(name, 3, [x], [result(rng, dtype, quant=q.get(dtype))])
    if dtype in ("i1", "u1"):
        case.real = (lambda v: 1 / (1 + np.exp(-v))) if name == "LOGISTIC" else np.tanh
    return case


ERF = np.vectorize(math.erf)
REALS = {"EXP": np.exp, "LOG": lambda v: np.log(np.maximum(v, 1e-300)), "ELU": lambda v: np.where(v < 0, np.expm1(np.minimum(v, 0)), v)}


def gelu(v):
    return 0.5 * v * (1 + ERF(v / math.sqrt(2)))


def gelu_tanh(v):
    return 0.5 * v * (1 + np.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))


@maker("ABS", "NEG", "EXP", "LOG", "SQRT", "RSQRT", "SIN", "COS", "FLOOR", "CEIL", "ROUND", "SQUARE", "SIGN")
def unary(rng, name):
    types = {"ABS": ("f4", "i4", "i1", "i2"), "NEG": ("f4", "i4", "i8"), "EXP": ("f4", "i1", "i2"), "LOG": ("f4", "i1"), "SQRT": ("f4", "i1"), "RSQRT": ("f4", "i1", "i2"), "SIGN": ("f4", "i4")}
    dtype = pick(rng, *types.get(name, ("f4",)))
    x = operand(rng, [256] if dtype == "i1" else shape_of(rng, 1, 6), dtype, -128 if dtype == "i1" and name in ("LOG", "SQRT", "RSQRT") else None)
    if dtype == "f4" and name in ("LOG", "SQRT", "RSQRT") or dtype == "i2" and name == "RSQRT":
        x.data = (np.abs(x.data) + x.data.dtype.type(1)).clip(1 if dtype == "i2" else 0, 32767 if dtype == "i2" else None).astype(dtype)
    if dtype == "f4" and name == "ROUND" and rng.random() < 0.5:
        x.data = np.round(x.data * 2) / np.float32(2)
    if dtype == "i1" and name == "LOG":
        x.data = np.maximum(x.data, np.int8(-127))
    y = result(rng, dtype)
    if name in ("ABS", "RSQRT") and y.quant and rng.random() < 0.4:
        y.quant = (x.quant[0], y.quant[1], 0)
    if name == "RSQRT" and x.quant:  # the factor between the scales has a multiplier
        x.quant, y.quant = (([max(t.quant[0][0], 1e-4)], *t.quant[1:]) for t in (x, y))
    if dtype == "i2" and name == "EXP":  # all results are finite
        x.quant = ([min(x.quant[0][0], 0.001)], [0], 0)
    kind = {"ABS": "AbsOptions", "NEG": "NegOptions", "EXP": "ExpOptions", "COS": "CosOptions", "SQUARE": "SquareOptions", "SIGN": "SignOptions"}.get(name)
    case = Case(name, 2 if dtype in ("i1", "i2") else 1, [x], [y], options(kind) if kind else None)
    case.real = REALS.get(name) if dtype == "i1" else None
    return open_batch(case)


@maker("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "ELU", "HARD_SWISH", "LEAKY_RELU", "GELU")
def activation(rng, name):
    types = {"GELU": ("f4", "i1", "u1"), "ELU": ("f4", "i1"), "HARD_SWISH": ("f4", "i1", "u1")}
    dtype, o = pick(rng, *types.get(name, ("f4", "i1", "u1", "i2"))), None
    if name == "LEAKY_RELU":
        o = options("LeakyReluOptions", alpha=f32(rng.choice([0.1, 0.3, 0.01, -0.5, 1.5])))
    if name == "GELU":
        o = options("GeluOptions", approximate=bool(rng.integers(0, 2)))
    x = operand(rng, [256], dtype)
    case = Case(name, 2 if name in ("LEAKY_RELU", "RELU", "RELU6") else 1, [x], [result(rng, dtype, base=x.quant[0][0] if x.quant else None)], o)
    if dtype in ("i1", "u1"):
        case.real = REALS.get(name) or (gelu_tanh if name == "GELU" and o[1].approximate else gelu if name == "GELU" else None)
    return open_batch(case)


@maker("PRELU")
def prelu(rng, name):
    dtype, shape = pick(rng, "f4", "i1", "u1"), shape_of(rng, 3, 4)
    alpha = shape[-1:] if rng.random() < 0.5 else [1 if rng.random() < 0.5 else n for n in shape[1:]]
    x, a = operand(rng, shape, dtype), operand(rng, alpha, dtype, fixed=True)
    return Case(name, 1, [x, a], [result(rng, dtype, base=x.quant[0][0] if x.quant else None)])


@maker("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT")
def logical(rng, name):
    x, y = two(rng, "?", 4)
    word = "".join(w.title() for w in name.split("_"))
    return Case(name, 1, [x] if name == "LOGICAL_NOT" else [x, y], [Tensor([], "?")], options(word + "Options"))


@maker("BITWISE_XOR", "RIGHT_SHIFT")
def bits(rng, name):
    dtype, shape = pick(rng, "i1", "u1", "i2", "u2", "i4", "u4"), shape_of(rng)
    x, y = Tensor(shape, dtype, None, numbers(rng, shape, dtype)), Tensor(shape, dtype, None, numbers(rng, shape, dtype))
    if name == "RIGHT_SHIFT":
        y.data = (np.abs(y.data.astype(np.int64)) % 7).astype(dtype)
    return Case(name, 1, [x, y], [Tensor([], dtype)], options("BitwiseXorOptions" if name[0] == "B" else "RightShiftOptions"))


@maker("ADD_N", "ATAN2", "FLOOR_DIV", "FLOOR_MOD", "POW", "ZEROS_LIKE")
def arithmetic(rng, name):
    types = {"ADD_N": ("f4", "i4"), "ATAN2": ("f4",), "FLOOR_DIV": ("f4", "i4", "i1", "i2"), "FLOOR_MOD": ("f4", "i4", "i8", "i1", "i2"), "POW": ("f4", "i4"), "ZEROS_LIKE": ("f4", "i4", "i8")}
    dtype = pick(rng, *types[name])
    if name == "ZEROS_LIKE":
        x = operand(rng, shape_of(rng), dtype)
        return Case(name, 1, [x], [same(x)], options("ZerosLikeOptions"))
    shape = shape_of(rng)
    xs = [Tensor(shape, dtype, None, numbers(rng, shape, dtype)) for _ in range(int(rng.integers(2, 5)) if name == "ADD_N" else 2)]
    if name in ("FLOOR_DIV", "FLOOR_MOD", "POW"):
        s = broadcast(rng, shape)
        xs[1] = Tensor(s, dtype, None, numbers(rng, s, dtype))
    if name in ("FLOOR_DIV", "FLOOR_MOD"):
        y = xs[1].data
        xs[1].data = np.where((y == 0) | (y == -1), y.dtype.type(3), y)
        if dtype != "f4":
            xs[0].data.flat[0] = np.iinfo(dtype).min
    if name == "POW":
        xs[0].data, xs[1].data = np.abs(xs[0].data) % 5, np.abs(xs[1].data) % 4
    kind = {"ADD_N": "AddNOptions", "FLOOR_DIV": "FloorDivOptions", "FLOOR_MOD": "FloorModOptions", "POW": "PowOptions", "ATAN2": "ATan2Options"}[name]
    return Case(name, {"FLOOR_DIV": 3, "FLOOR_MOD": 2}.get(name, 1), xs, [Tensor([], dtype)], options(kind))


@maker("CAST")
def cast(rng, name):
    source, target = pick(rng, "f4", "i4", "i8", "?", "u1", "i1", "i2", "u2", "u4", "f2"), pick(rng, "f4", "i4", "i8", "?", "u1", "i1", "i2", "u2", "u4", "f2")
    x = Tensor(shape_of(rng), source, None, None)
    x.data = numbers(rng, x.shape, source)
    if x.data.dtype.kind == "f" and np.dtype(target).kind == "u":
        x.data = np.abs(x.data)
    return open_batch(Case(name, 6, [x], [Tensor([], target)], options("CastOptions")))


@maker("FAKE_QUANT")
def fake_quant(rng, name):
    x = operand(rng, shape_of(rng), "f4")
    o = options("FakeQuantOptions", min=f32(-rng.uniform(0, 4)), max=f32(rng.uniform(0.1, 4)), numBits=int(rng.integers(2, 17)), narrowRange=bool(rng.random() < 0.1))
    return Case(name, 2, [x], [Tensor([], "f4")], o)


@maker("SELECT", "SELECT_V2")
def select(rng, name):
    shape = shape_of(rng)
    shape[-1] += 1  # LiteRT makes a scalar of one element
    x = operand(rng, shape, pick(rng, "f4", "i4", "i1", "u1", "i2", "i8", "?"))
    v2 = name == "SELECT_V2"
    y = broadcast(rng, x.shape) if v2 else x.shape
    c = broadcast(rng, x.shape) if v2 else x.shape if rng.random() < 0.5 else x.shape[:1]
    return Case(name, 1 if v2 else 2, [operand(rng, c, "?"), x, Tensor(y, x.dtype, x.quant, numbers(rng, y, x.dtype))], [same(x)], options("SelectV2Options" if v2 else "SelectOptions"))


@maker("QUANTIZE")
def quantize(rng, name):
    source, target = pick(rng, "f4", "i1", "u1", "i2"), pick(rng, "i1", "u1", "i2")
    x = operand(rng, shape_of(rng), source)
    y = result(rng, target, base=x.quant[0][0] if x.quant else None)
    if source == "f4" and rng.random() < 0.2 and len(x.shape) > 1:  # one scale for each slice
        axis = int(rng.integers(0, len(x.shape)))
        y = Tensor([], target, ([f32(v) for v in rng.uniform(0.01, 0.2, x.shape[axis])], [0] * x.shape[axis], axis))
        y.shape = x.shape
    return Case(name, 3, [x], [y], options("QuantizeOptions"))


@maker("DEQUANTIZE")
def dequantize(rng, name):
    source = pick(rng, "i1", "u1", "i2", "f2", INT4)
    x = operand(rng, shape_of(rng), source)
    if source == INT4:
        x.quant, x.fixed = ([f32(rng.uniform(0.01, 0.2))], [0], 0), True
    x.fixed = x.fixed or rng.random() < 0.2
    if source == "i1" and rng.random() < 0.3:
        axis = int(rng.integers(0, len(x.shape)))
        x.quant = ([f32(v) for v in rng.uniform(0.01, 0.2, x.shape[axis])], [0] * x.shape[axis], axis)
    return open_batch(Case(name, 5 if len(x.quant[0] if x.quant else [1]) > 1 else 3, [x], [Tensor([], "f4")], options("DequantizeOptions")))


# ---- convolutions and products ----


def accumulated(rng, xt, x, w, depth):
    """A result whose scale fits sums of `depth` products."""
    if xt == "f4":
        return Tensor([], "f4")
    typical = x.quant[0][0] * np.mean(w.quant[0]) * math.sqrt(depth) * (5000 if xt != "i2" else 1e6) / (100 if xt != "i2" else 30000)
    return result(rng, xt, base=typical)


def bias_of(rng, n, xt, x, w, wide=True):
    if xt == "f4":
        return Tensor([n], "f4", None, numbers(rng, [n], "f4"), True)
    product = [f32(np.float32(x.quant[0][0]) * np.float32(s)) for s in w.quant[0]]
    kind = "i8" if xt == "i2" and wide else "i4"
    return Tensor([n], kind, (product, [0] * len(product), 0), rng.integers(-2000, 2000, n).astype(kind), True)


def convolution(rng, depthwise):
    kind = pick(rng, "f4", "i1", "u1", "i2", "hybrid", "int4")
    hybrid = kind == "hybrid"
    xt, wt = {"hybrid": ("f4", "i1"), "int4": ("i1", INT4), "i2": ("i2", "i1")}.get(kind, (kind, kind))
    n, h, w, c = int(rng.integers(1, 3)), int(rng.integers(3, 12)), int(rng.integers(3, 12)), int(rng.integers(1, 6))
    kh, kw, out, groups = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 7)), 1
    if not depthwise and kind in ("f4", "i1") and rng.random() < 0.15:
        groups = 2
        c, out = 2 * c, 2 * out
    multiplier = int(rng.integers(1, 3))
    shape, channels = ([1, kh, kw, c * multiplier], c * multiplier) if depthwise else ([out, kh, kw, c // groups], out)
    axis = 3 if depthwise else 0
    many = wt != "u1" and (hybrid or kind == "i2" or rng.random() < 0.7)
    k = Tensor(shape, wt, None, weights(rng, shape, wt), True)
    x = operand(rng, [n, h, w, c], xt)
    if wt != "f4":
        s = [f32(v) for v in rng.uniform(0.001, 0.02, channels if many else 1) * 2.0 ** rng.integers(-3, 4, channels if many else 1)]
        k.quant = (s, [0] * len(s), axis) if wt != "u1" else (s, [zero_point(rng, "u1")], 0)
    bias = Tensor([channels], "f4", None, numbers(rng, [channels], "f4"), True) if hybrid else bias_of(rng, channels, xt, x, k, depthwise or rng.random() < 0.7)
    if rng.random() < 0.2 and not depthwise:
        bias = None
    common = dict(padding=int(rng.integers(0, 2)), strideH=int(rng.integers(1, 4)), strideW=int(rng.integers(1, 3)), fusedActivationFunction=int(rng.choice([0, 1, 2, 3])))
    common["dilationHFactor"] = common["dilationWFactor"] = int(rng.choice([1, 1, 2])) if common["strideH"] == common["strideW"] == 1 else 1
    if bias is not None and bias.dtype == np.int32 and xt == "i2":
        common["quantizedBiasType"] = schema.TensorType.INT32
    return common, multiplier, [x, k, bias], accumulated(rng, xt, x, k, kh * kw * (1 if depthwise else c)) if not hybrid else Tensor([], "f4")


@maker("CONV_2D")
def conv(rng, name):
    common, _, operands, y = convolution(rng, False)
    return open_batch(Case(name, 3 if operands[0].dtype == np.int8 else 1, operands, [y], options("Conv2DOptions", **common)))


@maker("DEPTHWISE_CONV_2D")
def depthwise(rng, name):
    common, multiplier, operands, y = convolution(rng, True)
    return open_batch(Case(name, 3 if operands[0].dtype == np.int8 else 2, operands, [y], options("DepthwiseConv2DOptions", depthMultiplier=multiplier, **common)))


@maker("FULLY_CONNECTED")
def fully_connected(rng, name):
    kind = pick(rng, "f4", "i1", "u1", "i2", "hybrid", "int4")
    hybrid = kind == "hybrid"
    xt, wt = {"hybrid": ("f4", "i1"), "int4": ("i1", INT4), "i2": ("i2", "i1")}.get(kind, (kind, kind))
    depth, units = int(rng.integers(1, 40)), int(rng.integers(1, 12))
    head = [int(v) for v in rng.integers(1, 5, rng.integers(1, 4))]
    x, w = operand(rng, [*head, depth], xt), Tensor([units, depth], wt, None, weights(rng, [units, depth], wt), rng.random() < 0.85 or wt == INT4)
    if wt != "f4":
        many = kind in ("i1", "i2", "int4") and rng.random() < 0.4
        s = [f32(v) for v in rng.uniform(0.001, 0.02, units if many else 1) * 2.0 ** rng.integers(-3, 4, units if many else 1)]
        w.quant = (s, [0 if wt != "u1" else zero_point(rng, "u1")] * len(s), 0)
    bias = Tensor([units], "f4", None, numbers(rng, [units], "f4"), True) if hybrid else bias_of(rng, units, xt, x, w, rng.random() < 0.7)
    if rng.random() < 0.2:
        bias = None
    o = options("FullyConnectedOptions", fusedActivationFunction=int(rng.choice([0, 1, 2, 3])), asymmetricQuantizeInputs=bool(hybrid and rng.integers(0, 2)), keepNumDims=bool(rng.integers(0, 2)))
    if bias is not None and bias.dtype == np.int32 and xt == "i2":
        o[1].quantizedBiasType = schema.TensorType.INT32
    return open_batch(Case(name, 9 if hybrid else 4 if wt == "i1" else 1, [x, w, bias], [accumulated(rng, xt, x, w, depth) if not hybrid else Tensor([], "f4")], o))


@maker("BATCH_MATMUL")
def batch_matmul(rng, name):
    kind = pick(rng, "f4", "i1", "i2", "hybrid")
    xt, yt = ("f4", "i1") if kind == "hybrid" else (kind, kind)
    i, j, k = (int(v) for v in rng.integers(1, 9, 3))
    # LiteRT 2.3 takes wrong scales of rows with two dimensions of batches
    b = [int(v) for v in rng.integers(1, 4, rng.integers(0, 4 if kind != "hybrid" else 2))]
    adj = [bool(v) for v in rng.integers(0, 2, 2)]
    c = broadcast(rng, b) if b and kind != "hybrid" else b
    x, y = operand(rng, [*b, k, i] if adj[0] else [*b, i, k], xt), operand(rng, [*c, j, k] if adj[1] else [*c, k, j], yt)
    if kind == "hybrid":
        y.quant, y.data, y.fixed = ([f32(rng.uniform(0.001, 0.05))], [0], 0), weights(rng, y.shape, "i1"), bool(rng.integers(0, 2))
    o = options("BatchMatMulOptions", adjX=adj[0], adjY=adj[1], asymmetricQuantizeInputs=bool(kind == "hybrid" and rng.integers(0, 2)))
    z = accumulated(rng, xt, x, y, k) if x.quant else Tensor([], xt)
    if xt == "i2":
        z = result(rng, "i2", base=x.quant[0][0] * y.quant[0][0] * math.sqrt(k) * 10000)
    return Case(name, 4, [x, y], [z], o)


@maker("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
def pool(rng, name):
    dtype = pick(rng, "f4", "i1", "u1", "i2") if name[0] != "L" else "f4"
    x = operand(rng, [int(rng.integers(1, 3)), int(rng.integers(3, 12)), int(rng.integers(3, 12)), int(rng.integers(1, 5))], dtype)
    o = options("Pool2DOptions", padding=int(rng.integers(0, 2)), strideH=int(rng.integers(1, 4)), strideW=int(rng.integers(1, 3)), filterHeight=int(rng.integers(1, 4)), filterWidth=int(rng.integers(1, 4)), fusedActivationFunction=int(rng.choice([0, 1, 2, 3])))
    return open_batch(Case(name, {"i2": 3, "i1": 2}.get(dtype, 1), [x], [same(x)], o))


@maker("TRANSPOSE_CONV")
def transpose_conv(rng, name):
    kind = pick(rng, "f4", "i1", "u1", "i2", "hybrid")
    xt, wt = {"i2": ("i2", "i1"), "hybrid": ("f4", "i1")}.get(kind, (kind, kind))
    n, h, w, c, out = (int(v) for v in rng.integers(1, 5, 5))
    kh, kw, sh, sw = (int(v) for v in rng.integers(1, 4, 4))
    padding = int(rng.integers(0, 2))
    size = [n, h * sh, w * sw, out] if padding == 0 else [n, (h - 1) * sh + kh, (w - 1) * sw + kw, out]
    x, k = operand(rng, [n, h, w, c], xt), Tensor([out, kh, kw, c], wt, None, weights(rng, [out, kh, kw, c], wt), True)
    if wt != "f4":
        many = wt == "i1" and (kind != "hybrid" or rng.random() < 0.7)
        s = [f32(v) for v in rng.uniform(0.001, 0.02, out if many else 1)]
        k.quant = (s, [0] * len(s), 0) if wt == "i1" else (s, [zero_point(rng, "u1")], 0)
    operands = [constant(size), k, x]
    if rng.random() < 0.5:
        operands.append(bias_of(rng, out, xt, x, k))
    o = options("TransposeConvOptions", padding=padding, strideH=sh, strideW=sw, fusedActivationFunction=int(rng.choice([0, 0, 1, 3])))
    return Case(name, 4 if len(operands) > 3 or o[1].fusedActivationFunction else 2, operands, [accumulated(rng, xt, x, k, c * kh * kw)], o)


@maker("CONV_3D", "CONV_3D_TRANSPOSE")
def conv_3d(rng, name):
    n, d, h, w, c, out = (int(v) for v in rng.integers(1, 5, 6))
    k = [int(v) for v in rng.integers(1, 4, 3)]
    s = [int(v) for v in rng.integers(1, 3, 3)]
    padding, back = int(rng.integers(0, 2)), name != "CONV_3D"
    x = operand(rng, [n, d + 2, h + 2, w + 2, c], "f4")
    o = options("Conv3DOptions", padding=padding, strideD=s[0], strideH=s[1], strideW=s[2], fusedActivationFunction=int(rng.choice([0, 1, 3])), dilationDFactor=1, dilationHFactor=1, dilationWFactor=1)
    shape = [*k, out, c] if back else [*k, c, out]
    f, bias = operand(rng, shape, "f4", fixed=True), operand(rng, [out], "f4", fixed=True)
    size = [n, *((m * t if padding == 0 else (m - 1) * t + q) for m, t, q in zip(x.shape[1:4], s, k)), out]
    return Case(name, 1, [constant(size), f, x, bias] if back else [x, f, bias], [Tensor([], "f4")], o)


# ---- along an axis ----


@maker("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION")
def along_last(rng, name):
    dtype = pick(rng, "f4", "i1", "u1") if name != "SOFTMAX" else pick(rng, "f4", "i1", "u1", "i2", "wide")
    xt, yt = ("i1", "i2") if dtype == "wide" else (dtype, dtype)
    q = {"SOFTMAX": {"i1": ([1 / 256], [-128], 0), "u1": ([1 / 256], [0], 0), "i2": ([1 / 32768], [0], 0)}, "LOG_SOFTMAX": {"i1": ([16 / 256], [127], 0), "u1": ([16 / 256], [255], 0)}, "L2_NORMALIZATION": {"i1": ([1 / 128], [0], 0), "u1": ([1 / 128], [128], 0)}}[name].get(yt)
    if dtype == "wide":
        q = ([1 / 65536], [-32768], 0)
    o = {"SOFTMAX": lambda: options("SoftmaxOptions", beta=f32(rng.choice([1, 0.5, 2]))), "LOG_SOFTMAX": lambda: options("LogSoftmaxOptions"), "L2_NORMALIZATION": lambda: options("L2NormOptions")}[name]()
    x = operand(rng, shape_of(rng, 1, 4), xt, base=0.1 if xt != "i2" else 1e-3)
    return open_batch(Case(name, 3 if dtype in ("i2", "wide") else 2, [x], [Tensor([], yt, q)], o))


@maker("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL")
def reduction(rng, name):
    types = {"REDUCE_PROD": ("f4", "i4", "i1", "i2"), "REDUCE_ANY": ("?",), "REDUCE_ALL": ("?",)}.get(name, ("f4", "i1", "i4", "u1", "i2", "i8"))
    dtype = pick(rng, *types)
    x = operand(rng, shape_of(rng, 1, 6), dtype)
    if name == "REDUCE_PROD" and dtype == "i4":
        x.data = x.data % 3
    axes = [int(v) for v in rng.choice(len(x.shape), int(rng.integers(1, len(x.shape) + 1)), replace=False)]
    n = int(np.prod([x.shape[k] for k in axes]))
    axes = [k - len(x.shape) if rng.random() < 0.3 else k for k in axes]
    y = same(x) if name in ("REDUCE_MAX", "REDUCE_MIN") else result(rng, dtype, base=x.quant[0][0] * (math.sqrt(n) if name == "SUM" else 1) if x.quant else None)
    if y.quant and name in ("MEAN", "SUM") and rng.random() < 0.3:
        y.quant = x.quant
    if y.quant and name == "SUM" and rng.random() < 0.05:  # sums beyond 32 bits
        y.quant = ([f32(10.0 ** rng.uniform(-11, -8))], *y.quant[1:])
    case = Case(name, 1 if dtype == "?" else 2, [x, constant(axes)], [y], options("ReducerOptions", keepDims=bool(rng.integers(0, 2))))
    return case


@maker("CUMSUM")
def cumsum(rng, name):
    x = operand(rng, shape_of(rng), pick(rng, "f4", "i4", "i8"))
    o = options("CumsumOptions", exclusive=bool(rng.integers(0, 2)), reverse=bool(rng.integers(0, 2)))
    return Case(name, 1, [x, constant(int(rng.integers(-len(x.shape), len(x.shape))))], [same(x)], o)


@maker("ARG_MAX", "ARG_MIN")
def arg(rng, name):
    x = operand(rng, shape_of(rng, 1, 4), pick(rng, "f4", "i1", "u1", "i4", "?"))
    wide = bool(rng.integers(0, 2))
    o = options("ArgMaxOptions" if name == "ARG_MAX" else "ArgMinOptions", outputType=schema.TensorType.INT64 if wide else schema.TensorType.INT32)
    return Case(name, 3, [x, constant(int(rng.integers(-len(x.shape), len(x.shape))))], [Tensor([], "i8" if wide else "i4")], o)


@maker("LOCAL_RESPONSE_NORMALIZATION")
def local_response(rng, name):
    o = options("LocalResponseNormalizationOptions", radius=int(rng.integers(0, 4)), bias=f32(rng.uniform(0.5, 2)), alpha=f32(rng.uniform(0, 1)), beta=f32(rng.uniform(0.2, 1)))
    return Case(name, 1, [operand(rng, shape_of(rng, 4, 4), "f4")], [Tensor([], "f4")], o)
