"""Calls of operators with what NumPy computes: (expression of %a, %b, ...; arguments; expected)."""

import math

import numpy as np

R = np.random.default_rng(1)
f32, i32, i64 = np.float32, np.int32, np.int64


def normal(*shape):
    return R.standard_normal(shape).astype(f32)


def positive(*shape):
    return R.uniform(0.1, 2, shape).astype(f32)


def ints(low, high, *shape, dtype=i32):
    return R.integers(low, high, shape).astype(dtype)


X, Y, V = normal(2, 3, 4), normal(2, 3, 4), normal(4)
FACTOR, SHIFT = np.array([1395864371, 1073741824, 2000000000, 1500000001], i32), np.array([0, 1, 2, 5], i32)
I, J = ints(-9, 9, 3, 4), ints(1, 5, 3, 4)
B, C = R.random((3, 4)) < 0.5, R.random((3, 4)) < 0.5
IMAGE = normal(2, 4, 7, 6)
LAST = IMAGE.transpose(0, 2, 3, 1)
erf = np.vectorize(math.erf)


def unary(name, fn, x=X):
    return f"{name}(%a)", (x,), fn(x.astype(np.float64)).astype(x.dtype)


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def along(v, rank, axis):
    return v.reshape([-1 if i == axis else 1 for i in range(rank)])


def conv(x, w, stride=(1, 1), pad=(0, 0, 0, 0), dilation=(1, 1), group=1):
    """NCHW, OIHW; the padding is that of the top, left, bottom, right."""
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3]))).astype(np.float64 if x.dtype.kind == "f" else i64)
    n, c, h, wd = x.shape
    o, ci, kh, kw = w.shape
    oh, ow = (h - (kh - 1) * dilation[0] - 1) // stride[0] + 1, (wd - (kw - 1) * dilation[1] - 1) // stride[1] + 1
    out = np.zeros((n, o, oh, ow), x.dtype)
    for g in range(group):
        for r in range(kh):
            for s in range(kw):
                part = x[:, g * ci:(g + 1) * ci, r * dilation[0]:r * dilation[0] + (oh - 1) * stride[0] + 1:stride[0],
                         s * dilation[1]:s * dilation[1] + (ow - 1) * stride[1] + 1:stride[1]]
                at = slice(g * o // group, (g + 1) * o // group)
                out[:, at] += np.einsum("nchw,oc->nohw", part, w[at, :, r, s])
    return out


def conv_transpose(x, w, stride=(1, 1), pad=(0, 0, 0, 0), more=(0, 0)):
    n, c, h, wd = x.shape
    _, o, kh, kw = w.shape
    out = np.zeros((n, o, (h - 1) * stride[0] + kh + more[0], (wd - 1) * stride[1] + kw + more[1]))
    for i in range(h):
        for j in range(wd):
            out[:, :, i * stride[0]:i * stride[0] + kh, j * stride[1]:j * stride[1] + kw] += np.einsum("nc,cohw->nohw", x[:, :, i, j], w)
    return out[:, :, pad[0]:out.shape[2] - pad[2], pad[1]:out.shape[3] - pad[3]]


def pool(x, size, stride, pad, fn, fill):
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3])), constant_values=fill)
    oh, ow = (x.shape[2] - size[0]) // stride[0] + 1, (x.shape[3] - size[1]) // stride[1] + 1
    return np.stack([np.stack([fn(x[:, :, i * stride[0]:i * stride[0] + size[0], j * stride[1]:j * stride[1] + size[1]], axis=(2, 3))
                               for j in range(ow)], -1) for i in range(oh)], -2)


def adaptive(x, n, fn):
    parts = [[fn(x[:, :, i * x.shape[2] // n[0]:-(-(i + 1) * x.shape[2] // n[0]), j * x.shape[3] // n[1]:-(-(j + 1) * x.shape[3] // n[1])], axis=(2, 3))
              for j in range(n[1])] for i in range(n[0])]
    return np.stack([np.stack(p, -1) for p in parts], -2)


def dilation(x, w, stride, pad, spread):
    """The greatest sums of windows and weights [channels, rows, columns]."""
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[2]), (pad[1], pad[3])), constant_values=np.finfo(f32).min)
    high, wide = [(n - 1) * d + 1 for n, d in zip(w.shape[1:], spread)]
    at = [range(0, x.shape[2] - high + 1, stride[0]), range(0, x.shape[3] - wide + 1, stride[1])]
    return np.stack([np.stack([(x[:, :, i:i + high:spread[0], j:j + wide:spread[1]] + w).max((2, 3)) for j in at[1]], -1) for i in at[0]], -2)


def stft(x, w, n, hop, rows):
    """The real and the imaginary parts of the transforms of windows."""
    columns = (x.shape[1] - n) // hop + 1
    z = np.exp(-2j * np.pi * np.outer(np.arange(rows), np.arange(len(w))) / len(w))
    y = np.stack([(x[:, t * hop:t * hop + len(w)] * w) @ z.T for t in range(columns)], -1)
    return np.stack([y.real, y.imag], -1).astype(f32)


def reorg(x, s):
    """Of each image, by its elements' order in memory."""
    n, c, h, w = x.shape
    k, j, i = np.indices((c, h, w))
    few = c // (s * s)
    flat = ((k % few) * s * s * h + (j * s + k // few // s) * s) * w + i * s + k // few % s
    return x.reshape(n, -1)[:, flat].reshape(n, c * s * s, h // s, w // s)


def normalized(x, axes, eps=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def lrn(x, size, axis, bias, alpha, beta):
    x = np.moveaxis(x, axis, 1)
    sums = np.zeros_like(x)
    for c in range(x.shape[1]):
        sums[:, c] = (x[:, max(0, c - size // 2):c + size // 2 + 1] ** 2).sum(1)
    return np.moveaxis(x / (bias + alpha / size * sums) ** beta, 1, axis)


def correlation(x, y, size, far, s1, s2, pad, f):
    x, y = (np.pad(t, ((0, 0), (0, 0), (pad, pad), (pad, pad))) for t in (x, y))
    r, border = far // s2, far + (size - 1) // 2
    h, w = (-(-(n - 2 * border) // s1) for n in x.shape[2:])
    out = np.zeros((len(x), (2 * r + 1) ** 2, h, w))
    for q, i, j in np.ndindex(out.shape[1:]):
        top, left = i * s1 + far, j * s1 + far
        down, right = top + (q // (2 * r + 1) - r) * s2, left + (q % (2 * r + 1) - r) * s2
        out[:, q, i, j] = f(x[:, :, top:top + size, left:left + size], y[:, :, down:down + size, right:right + size]).mean((1, 2, 3))
    return out


def prior(h, w, clip):
    boxes = [(s, s) for s in (0.5, 0.25)] + [(0.5 * r ** 0.5, 0.5 / r ** 0.5) for r in (2, 0.5)]
    out = [((j + 0.5) / w - a * h / w / 2, (i + 0.5) / h - b / 2, (j + 0.5) / w + a * h / w / 2, (i + 0.5) / h + b / 2)
           for i in range(h) for j in range(w) for a, b in boxes]
    return (np.clip(out, 0, 1) if clip else np.array(out))[None].astype(f32)


def crop(x, boxes, at, h, w, outside):
    out = np.zeros((len(boxes), x.shape[1], h, w), f32)
    for b, i, j in np.ndindex(len(boxes), h, w):
        y1, x1, y2, x2 = boxes[b].astype(np.float64)
        v = (y1 + (y2 - y1) * (i / (h - 1) if h > 1 else 0.5)) * (x.shape[2] - 1)
        u = (x1 + (x2 - x1) * (j / (w - 1) if w > 1 else 0.5)) * (x.shape[3] - 1)
        if not (0 <= v <= x.shape[2] - 1 and 0 <= u <= x.shape[3] - 1):
            out[b, :, i, j] = outside
            continue
        a, c, p, q = int(v), math.ceil(v), int(u), math.ceil(u)
        t = x[at[b]]
        out[b, :, i, j] = (t[:, a, p] * (1 - u + p) + t[:, a, q] * (u - p)) * (1 - v + a) + (t[:, c, p] * (1 - u + p) + t[:, c, q] * (u - p)) * (v - a)
    return out


def compressed(x, r=1, c=1):
    """The blocks of r x c elements that are not 0, their columns, and where the rows begin."""
    blocks = x.reshape(len(x) // r, r, x.shape[1] // c, c).swapaxes(1, 2)
    full = blocks.any((2, 3))
    data = blocks[full] if r * c > 1 else blocks[full].reshape(-1)
    return data, np.nonzero(full)[1].astype(i32), np.r_[0, np.cumsum(full.sum(1))].astype(i32)


SPARSE = np.where(R.random((6, 4)) < 0.4, normal(6, 4), 0).astype(f32)
BLOCKS = np.kron(np.array([[1, 0], [0, 1], [0, 0]]), np.ones((2, 2))).astype(f32) * normal(6, 4)
SQUARE = np.where(R.random((5, 5)) < 0.5, normal(5, 5), 0).astype(f32)
BOXES = np.array([[0.1, 0.15, 0.8, 0.72], [0.93, 0.08, 0.21, 0.88], [-0.33, 0.2, 0.75, 1.3]], f32)
W, WG, WT = normal(6, 4, 3, 2), normal(8, 2, 3, 3), normal(4, 5, 3, 3)
DW = normal(4, 1, 3, 3)

def deformed(x, offset, w, stride=(1, 1), pad=(0, 0, 0, 0), dilation=(1, 1), parts=1, groups=1):
    n, c, h, wd = x.shape
    o, ci, kh, kw = w.shape
    oh, ow = offset.shape[2:]
    out = np.zeros((n, o, oh, ow))
    for b, k, u, v, i, j in np.ndindex(n, c, kh, kw, oh, ow):
        at = k // (c // parts) * 2 * kh * kw + 2 * (u * kw + v)
        y, z = i * stride[0] + u * dilation[0] - pad[0] + offset[b, at, i, j], j * stride[1] + v * dilation[1] - pad[1] + offset[b, at + 1, i, j]
        if not (0 <= y < h and 0 <= z < wd):
            continue
        p, q = int(y), int(z)
        r, s, fy, fz = min(p + 1, h - 1), min(q + 1, wd - 1), y - p, z - q
        value = (1 - fy) * ((1 - fz) * x[b, k, p, q] + fz * x[b, k, p, s]) + fy * ((1 - fz) * x[b, k, r, q] + fz * x[b, k, r, s])
        own = slice(k // ci * (o // groups), (k // ci + 1) * (o // groups))
        out[b, own, i, j] += value * w[own, k % ci, u, v]
    return out.astype(f32)


def placed(prob, loc, anchor, clip, threshold, v):
    n, _, count = prob.shape
    out, valid = np.full((n, count, 6), -1, f32), np.zeros(n, i32)
    for b, a in np.ndindex(n, count):
        kind = 1 + np.argmax(prob[b, 1:, a])
        if prob[b, kind, a] < threshold:
            continue
        l, t, r, bottom = anchor[0, a].astype(np.float64)
        x, y, w, h = loc[b, 4 * a:4 * a + 4].astype(np.float64)
        x, y = x * v[0] * (r - l) + (l + r) / 2, y * v[1] * (bottom - t) + (t + bottom) / 2
        w, h = np.exp(w * v[2]) * (r - l) / 2, np.exp(h * v[3]) * (bottom - t) / 2
        box = np.array([x - w, y - h, x + w, y + h])
        out[b, valid[b]] = [kind - 1, prob[b, kind, a], *(box.clip(0, 1) if clip else box)]
        valid[b] += 1
    return out, valid


OFFSET, OFFSET2, TAPS, TAPS2 = normal(2, 18, 5, 4), normal(2, 24, 4, 6), normal(6, 4, 3, 3), normal(6, 2, 3, 2)
PROB, LOC, ANCHOR = softmax(2 * normal(2, 4, 9), 1), normal(2, 36), np.sort(R.random((1, 9, 2, 2)), 2).reshape(1, 9, 4).astype(f32)

def valid(x, threshold, score=1, kind=0):
    """How many boxes are valid, these first, and which they are."""
    count, rows, at = np.zeros(len(x), i32), np.full_like(x, -1), np.full(x.shape[:2], -1, i32)
    for n, boxes in enumerate(x):
        keep = [k for k, b in enumerate(boxes) if b[score] > threshold and (kind < 0 or b[kind] >= 0)]
        count[n], rows[n, :len(keep)], at[n, :len(keep)] = len(keep), boxes[keep], keep
    return count, rows, at


def overlap(a, b):
    low, high = np.minimum(a[:2], a[2:]), np.maximum(a[:2], a[2:])
    first, last = np.minimum(b[:2], b[2:]), np.maximum(b[:2], b[2:])
    both = np.prod(np.maximum(np.minimum(high, last) - np.maximum(low, first), 0))
    rest = np.prod(high - low) + np.prod(last - first) - both
    return both / rest if rest > 0 else 0


def suppressed(x, count, index, most, limit, score=1, kind=0, corner=2, every=False, best=-1, indices=True, bottom=False):
    """Boxes that overlap no better one of their class (or of `every` class)."""
    rows, at, total = np.full_like(x, -1), np.full(x.shape[:2], -1, i32), np.zeros((len(x), 1), i32)
    for n, boxes in enumerate(x):
        order = np.argsort(-boxes[:count[n], score], kind="stable") if limit > 0 else np.arange(count[n])
        found = []
        for j, k in enumerate(order[:best] if limit > 0 and best > 0 else order):
            b = boxes[k]
            if limit > 0 and len(found) == most:
                continue
            if limit > 0 and b[score] > 0:
                if any((every or kind < 0 or b[kind] == f[kind]) and (kind < 0 or f[kind] >= 0) and overlap(f[corner:corner + 4], b[corner:corner + 4]) >= limit for f in found):
                    continue
                found.append(b)
            rows[n, j], at[n, j] = b, index[n, k]
        if indices or bottom:
            keep = at[n] >= 0 if indices else rows[n, :, 0] >= 0
            rows[n] = np.concatenate([rows[n, keep], np.full_like(rows[n, ~keep], -1)])
            at[n], total[n] = np.concatenate([at[n, keep], at[n, ~keep]]), keep.sum()
    return (at, total) if indices else rows


def boxes(images, n, classes=2):
    """Boxes (class, score, corners), some without a class or a score."""
    x = np.concatenate([R.integers(-1, classes, (images, n, 1)), R.uniform(-0.2, 1, (images, n, 1)), R.uniform(0, 1, (images, n, 4))], -1).astype(f32)
    x[:, ::5, 1] = x[:, :1, 1]  # equal scores
    return x


BOXED = boxes(3, 20)
COUNTS = np.array([20, 13, 0], i32)
PLACES = np.stack([R.permutation(20) for _ in range(3)]).astype(i32)

OPERATORS = [
    # ---- element-wise ----
    unary("abs", np.abs), unary("ceil", np.ceil), unary("floor", np.floor), unary("trunc", np.trunc), unary("round", np.round),
    unary("cos", np.cos), unary("sin", np.sin), unary("tan", np.tan), unary("cosh", np.cosh), unary("sinh", np.sinh),
    unary("tanh", np.tanh), unary("atan", np.arctan), unary("asinh", np.arcsinh), unary("exp", np.exp), unary("erf", erf),
    unary("negative", np.negative), unary("sign", np.sign), unary("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    unary("sqrt", np.sqrt, positive(3, 4)), unary("rsqrt", lambda x: 1 / np.sqrt(x), positive(3, 4)),
    unary("log", np.log, positive(3, 4)), unary("log2", np.log2, positive(3, 4)), unary("log10", np.log10, positive(3, 4)),
    unary("acos", np.arccos, positive(3, 4) / 3), unary("asin", np.arcsin, positive(3, 4) / 3),
    unary("atanh", np.arctanh, positive(3, 4) / 3), unary("acosh", np.arccosh, 1 + positive(3, 4)),
    unary("fast_exp", np.exp), unary("fast_tanh", np.tanh), unary("fast_erf", erf), unary("copy", lambda x: x),
    unary("annotation.stop_fusion", lambda x: x), unary("nn.relu", lambda x: np.maximum(x, 0)), ("round(%a)", (np.array([0.5, 1.5, -2.5, 0.49999997], f32),), np.array([1, 2, -3, 0], f32)),
    ("add(%a, %b)", (X, V), X + V), ("subtract(%a, %b)", (X, V), X - V), ("multiply(%a, %b)", (X, V), X * V), ("divide(%a, %b)", (X, V), X / V),
    ("divide(%a, %b)", (I, J), (I / J).astype(i32)), ("floor_divide(%a, %b)", (I, J), I // J),
    ("floor_divide(%a, %b)", (np.array([-2**31, -2**31, 2**31 - 1, -7], i32), np.array([3, 2**31 - 1, -2, 2], i32)), np.array([-715827883, -2, -2**30, -4], i32)), ("floor_mod(%a, %b)", (I, J), I % J),
    ("trunc_divide(%a, %b)", (I, J), np.trunc(I / J).astype(i32)), ("trunc_mod(%a, %b)", (I, J), np.fmod(I, J)), ("mod(%a, %b)", (X, Y), np.fmod(X, Y)),
    ("floor_divide(%a, %b)", (X, V), np.floor(X / V)), ("floor_mod(%a, %b)", (X, V), np.mod(X, V)),
    ("power(%a, %b)", (positive(3, 4), V), None), ("maximum(%a, %b)", (X, V), np.maximum(X, V)), ("minimum(%a, %b)", (X, V), np.minimum(X, V)),
    ("equal(%a, %b)", (I, I.T.reshape(3, 4)), I == I.T.reshape(3, 4)), ("not_equal(%a, %b)", (I, J), I != J), ("less(%a, %b)", (I, J), I < J),
    ("less_equal(%a, %b)", (I, J), I <= J), ("greater(%a, %b)", (I, J), I > J), ("greater_equal(%a, %b)", (I, J), I >= J),
    ("logical_and(%a, %b)", (B, C), B & C), ("logical_or(%a, %b)", (B, C), B | C), ("logical_xor(%a, %b)", (B, C), B ^ C), ("logical_not(%a)", (B,), ~B),
    ("bitwise_and(%a, %b)", (I, J), I & J), ("bitwise_or(%a, %b)", (I, J), I | J), ("bitwise_xor(%a, %b)", (I, J), I ^ J), ("bitwise_not(%a)", (I,), ~I),
    ("bitwise_and(%a, %b)", (B, C), B & C), ("bitwise_not(%a)", (B,), ~B), ("left_shift(%a, %b)", (I, J), I << J), ("right_shift(%a, %b)", (I, J), I >> J),
    ("where(%a, %b, %c)", (B, I, J), np.where(B, I, J)), ("clip(%a, a_min=-0.5f, a_max=0.25f)", (X,), np.clip(X, -0.5, 0.25)),
    ("clip(%a, a_min=-3f, a_max=200f)", (I.astype(np.int8),), np.clip(I, -3, 127).astype(np.int8)), ("ceil(%a)", (I,), I),
    ("isnan(%a)", (np.array([1, np.nan, np.inf], f32),), np.array([False, True, False])), ("isinf(%a)", (np.array([1, np.nan, np.inf], f32),), np.array([False, False, True])),
    ("isfinite(%a)", (np.array([1, np.nan, np.inf], f32),), np.array([True, False, False])), ('cast(%a, dtype="int32")', (X * 5,), (X * 5).astype(i32)),
    ('cast(%a, dtype="bool")', (I,), I != 0), ("cast_like(%a, %b)", (I, X), I.astype(f32)),
    ("fixed_point_multiply(%a, multiplier=1395864371, shift=2)", (I,), np.floor(I * (1395864371 / 2**31 * 4) + 0.5).astype(i32)),
    ("fixed_point_multiply(%a, multiplier=1395864371, shift=-3)", (I * 1000,), np.floor(I * 1000.0 * (1395864371 / 2**31 / 8) + 0.5).astype(i32)),
    ("fixed_point_multiply_per_axis(%a, %b, %c, %d, is_lshift_required=True, is_rshift_required=True, axes=[1])", (I * 1000, FACTOR, SHIFT % 2, SHIFT),
     np.floor(I * 1000.0 * 2.0**(SHIFT % 2) * FACTOR / 2.0**(31 + SHIFT) + 0.5).astype(i32)),
    ("fixed_point_multiply_per_axis(%a, %b, %c, %d, axes=[0])", (I, FACTOR[:3], SHIFT[:3], 0 * SHIFT[:3]), np.floor(I * (FACTOR[:3, None] / 2.0**31) + 0.5).astype(i32)),
    # ---- shapes ----
    ("reshape(%a, newshape=[3, -1])", (X,), X.reshape(3, -1)), ("reshape(%a, newshape=[0, -1])", (X,), X.reshape(2, 12)), ("reshape(%a, newshape=[-3, 0])", (X,), X.reshape(6, 4)),
    ("reshape(%a, newshape=[0, -2])", (X,), X), ("reshape(%a, newshape=[-4, 1, -1, -2])", (X,), X.reshape(1, 2, 3, 4)), ("reshape(%a, newshape=[-2, 1, 1])", (X,), X.reshape(2, 3, 4, 1, 1)),
    ("contrib_reverse_reshape(%a, newshape=[-1, 0])", (X,), X.reshape(6, 4)), ("reshape_like(%a, %b)", (X, normal(6, 4)), X.reshape(6, 4)),
    ("reshape_like(%a, %b, lhs_begin=1, rhs_begin=1)", (X, normal(5, 6, 2)), X.reshape(2, 6, 2)),
    ("expand_dims(%a, axis=1, num_newaxis=2)", (X,), X[:, None, None]), ("expand_dims(%a, axis=-1)", (X,), X[..., None]), ("squeeze(%a)", (normal(1, 3, 1),), None),
    ("squeeze(%a, axis=[0])", (X[None],), X), ("squeeze(%a, axis=[-1])", (X[..., None],), X), ("transpose(%a, axes=[1, 0, 2])", (X,), X.transpose(1, 0, 2)), ("transpose(%a)", (X,), X.T),
    ("transpose(%a, axes=[0, -1, 1])", (X,), X.transpose(0, 2, 1)), ("concatenate((%a, %b), axis=1)", (X, Y), np.concatenate([X, Y], 1)), ("concatenate((%a, %b), axis=-1)", (X, Y), np.concatenate([X, Y], -1)),
    ("stack((%a, %b), axis=1)", (X, Y), np.stack([X, Y], 1)), ("stack((%a, %b), axis=-1)", (X, Y), np.stack([X, Y], -1)),
    ("split(%a, indices_or_sections=2, axis=2)", (X,), tuple(np.split(X, 2, 2))), ("split(%a, indices_or_sections=[1, 3], axis=-1)", (X,), tuple(np.split(X, [1, 3], -1))),
    ("tile(%a, reps=[2, 1, 3])", (X,), np.tile(X, (2, 1, 3))), ("tile(%a, reps=[2, 1, 1, 2])", (X,), np.tile(X, (2, 1, 1, 2))), ("tile(%a, reps=[2])", (X,), np.tile(X, 2)),
    ("repeat(%a, repeats=2, axis=1)", (X,), np.repeat(X, 2, 1)), ("repeat(%a, repeats=3)", (X,), np.repeat(X, 3)), ("reverse(%a, axis=1)", (X,), X[:, ::-1]), ("reverse(%a, axis=-1)", (X,), X[..., ::-1]),
    ("broadcast_to(%a, shape=[3, 2, 4])", (V,), np.broadcast_to(V, (3, 2, 4))), ("broadcast_to_like(%a, %b)", (V, X), np.broadcast_to(V, X.shape)),
    ("zeros_like(%a)", (I,), I * 0), ("ones_like(%a)", (X,), X * 0 + 1), ("full_like(%a, %b)", (X, f32(2.5)), X * 0 + f32(2.5)), ('full(%a, shape=[2, 2], dtype="float32")', (f32(3),), np.full((2, 2), 3, f32)),
    ('zeros(shape=[2], dtype="int32")', (), np.zeros(2, i32)), ('ones(shape=[2, 1], dtype="float32")', (), np.ones((2, 1), f32)), ('full(7, shape=[], dtype="int32")', (), i32(7)),
    ('arange(1f, 6f, 2f, dtype="float32")', (), np.arange(1, 6, 2, dtype=f32)), ('arange(5, 0, -2, start=5, dtype="int32")', (), np.arange(5, 0, -2, dtype=i32)),
    ('meshgrid((%a, %b), indexing="ij")', (V, X[0, 0, :3]), tuple(np.meshgrid(V, X[0, 0, :3], indexing="ij"))), ('meshgrid((%a, %b), indexing="xy")', (V, X[0, 0, :3]), tuple(np.meshgrid(V, X[0, 0, :3]))),
    ('shape_of(%a, dtype="int64")', (X,), np.array([2, 3, 4])), ("ndarray_size(%a)", (X,), i32(24)),
    ('layout_transform(%a, src_layout="NCHW", dst_layout="NHWC")', (IMAGE,), LAST), ('layout_transform(%a, src_layout="NCHW", dst_layout="NCHW2c")', (IMAGE,), IMAGE.reshape(2, 2, 2, 7, 6).transpose(0, 1, 3, 4, 2)),
    ('layout_transform(%a, src_layout="NCHW2c", dst_layout="NHWC")', (IMAGE.reshape(2, 2, 2, 7, 6).transpose(0, 1, 3, 4, 2),), LAST),
    # ---- reductions ----
    ("sum(%a)", (X,), X.sum()), ("sum(%a, axis=[1])", (X,), X.sum(1)), ("sum(%a, axis=[0, -1], keepdims=True)", (X,), X.sum((0, 2), keepdims=True)), ("sum(%a, axis=[1], exclude=True)", (X,), X.sum((0, 2))),
    ("max(%a, axis=[1])", (X,), X.max(1)), ("min(%a, axis=2)", (X,), X.min(2)), ("mean(%a, axis=[1, 2])", (X,), X.mean((1, 2))), ("prod(%a, axis=[1])", (X,), X.prod(1)),
    ("all(%a, axis=[1])", (B,), B.all(1)), ("any(%a, axis=[0])", (B,), B.any(0)), ("variance(%a, mean(%a, axis=[1], keepdims=True), axis=[1])", (X,), X.var(1)),
    ("variance(%a, mean(%a, axis=[1], keepdims=True), axis=[1], unbiased=True)", (X,), X.var(1, ddof=1)),
    ("argmax(%a, axis=[1])", (X,), X.argmax(1).astype(i32)), ("argmin(%a, axis=[-1], keepdims=True)", (X,), X.argmin(-1, keepdims=True).astype(i32)), ("argmax(%a)", (X,), i32(X.argmax())),
    ("argmax(%a, axis=[0], select_last_index=True)", (np.array([1, 2, 2, 0], f32),), i32(2)), ("cumsum(%a, axis=1)", (X,), X.cumsum(1)), ("cumsum(%a)", (I,), I.cumsum()), ("cumprod(%a, axis=0)", (X,), X.cumprod(0)),
    ("cumsum(%a, axis=1, exclusive=True)", (I,), I.cumsum(1) - I), ('cumsum(%a, axis=0, dtype="int64")', (I,), I.cumsum(0, dtype=i64)),
    ("collapse_sum_like(%a, %b)", (X, normal(3, 1)), X.sum((0, 2)).reshape(3, 1)), ("collapse_sum_to(%a, shape=[1, 4])", (X,), X.sum((0, 1)).reshape(1, 4)),
    ("sort(%a, axis=1)", (X,), np.sort(X, 1)), ("sort(%a, axis=-1, is_ascend=False)", (X,), -np.sort(-X, -1)), ("argsort(%a, axis=1)", (X,), np.argsort(X, 1).astype(i32)),
    ('argsort(%a, axis=0, is_ascend=False, dtype="int64")', (X,), np.argsort(-X, 0)), ("topk(%a, k=2, axis=-1)", (X,), (-np.sort(-X, -1)[..., :2], np.argsort(-X, -1)[..., :2].astype(i32))),
    ('topk(%a, k=1, axis=1, ret_type="values", is_ascend=True)', (X,), np.sort(X, 1)[:, :1]), ('topk(%a, k=2, ret_type="indices", dtype="int64")', (V,), np.argsort(-V)[:2]),
    ("searchsorted(%a, %b)", (np.sort(V), X[0]), np.searchsorted(np.sort(V), X[0]).astype(i32)), ("searchsorted(%a, %b, right=True)", (np.sort(J, 1), I), np.stack([np.searchsorted(a, b, "right") for a, b in zip(np.sort(J, 1), I)]).astype(i32)),
    # ---- indices ----
    ("strided_slice(%a, begin=[0, 1], end=[2, 3], strides=[1])", (X,), X[0:2, 1:3]), ("strided_slice(%a, begin=[1, 0, 3], end=[2, 3, 0], strides=[1, 2, -1])", (X,), X[1:2, 0:3:2, 3:0:-1]),
    ("strided_slice(%a, begin=[-2], end=[2147483647], strides=[1], axes=[2])", (X,), X[..., -2:]), ('strided_slice(%a, begin=[0, 1, 1], end=[1, -1, 2], strides=[1], slice_mode="size")', (X,), X[0:1, 1:, 1:3]),
    ("strided_slice(%a, begin=[3], end=[-5], strides=[-1], axes=[2])", (X,), X[..., ::-1]), ("slice_like(%a, %b)", (X, normal(1, 2, 3)), X[:1, :2, :3]), ("slice_like(%a, %b, axes=[2])", (X, normal(1, 2, 3)), X[..., :3]),
    ("take(%a, %b, axis=1)", (X, np.array([[2, 0], [7, 1]], i32)), X[:, [[2, 0], [2, 1]]]), ("take(%a, %b)", (X, np.array([0, 23, 99], i32)), X.reshape(-1)[[0, 23, 23]]),
    ('take(%a, %b, axis=0, mode="wrap")', (X, np.array([-1, 3], i32)), X[[1, 1]]), ("gather(%a, %b, axis=1)", (X, ints(0, 3, 2, 5, 4, dtype=i64)), None),
    ("gather_nd(%a, %b)", (X, np.array([[0, 1], [2, 0]], i64)), X[[0, 1], [2, 0]]), ("adv_index((%a, %b, %c))", (X, np.array([[0], [1]], i64), np.array([2, 0, 1], i64)), X[[[0], [1]], [2, 0, 1]]),
    ('scatter_elements(%a, %b, %c, axis=1, reduction="add")', (np.zeros((2, 3), f32), np.array([[0, 0], [2, 1]], i64), np.ones((2, 2), f32)), np.array([[2, 0, 0], [0, 1, 1]], f32)),
    ("scatter_nd(%a, %b, %c)", (np.zeros((3, 3), f32), np.array([[0, 2], [1, 1]], i64), np.array([5, 6], f32)), np.array([[0, 5, 0], [0, 0, 0], [0, 6, 0]], f32)),
    ('scatter_nd(%a, %b, %c, mode="add")', (np.ones(4, f32), np.array([[1, 1]], i64), np.array([5, 6], f32)), np.array([1, 12, 1, 1], f32)), ("invert_permutation(%a)", (np.array([2, 0, 1], i32),), np.array([1, 2, 0], i32)),
    ("trilu(%a, 1)", (X,), np.triu(X, 1)), ("trilu(%a, -1, upper=False)", (X,), np.tril(X, -1)), ('one_hot(%a, 2f, -1f, depth=4, axis=-1, dtype="float32")', (np.array([[0, 3], [9, -1]], i32),), None),
    ("sequence_mask(%a, %b, mask_value=-1f, axis=0)", (normal(4, 3), np.array([2, 4, 0], i32)), None), ("reverse_sequence(%a, %b, seq_axis=1, batch_axis=0)", (np.arange(8).reshape(2, 4).astype(f32), np.array([3, 1], i64)), np.array([[2, 1, 0, 3], [4, 5, 6, 7]], f32)),
    ("matrix_set_diag(%a, %b, k1=1, k2=1)", (np.zeros((3, 4), f32), np.array([1, 2, 3], f32)), np.diag([1, 2, 3], 1)[:3].astype(f32)), ("matrix_set_diag(%a, %b, k1=-1, k2=-1)", (np.zeros((3, 4), f32), np.array([1, 2], f32)), np.pad(np.diag([1, 2], -1), ((0, 0), (0, 1))).astype(f32)),
    ("unravel_index(%a, %b)", (np.array([22, 41, 37], i32), np.array([7, 6], i32)), np.array(np.unravel_index([22, 41, 37], (7, 6)), i32)),
    ("sparse_to_dense(%a, %b, %c, output_shape=[2, 3])", (np.array([[0, 1], [1, 2]], i64), np.array([3, 4], f32), f32(-1)), np.array([[-1, 3, -1], [-1, -1, 4]], f32)),
    *[("nn.sparse_dense(%a, %b, %c, %d, sparse_lhs=False)", (X2, *compressed(w, *b)), X2 @ w.T) for X2 in (normal(3, 4),) for w, b in ((SPARSE, (1, 1)), (BLOCKS, (2, 2)), (BLOCKS, (3, 1)))],
    *[("nn.sparse_dense(%a, %b, %c, %d, sparse_lhs=True)", (X2, *compressed(SPARSE)), SPARSE @ X2.T) for X2 in (normal(3, 4),)],
    *[("nn.sparse_add(%a, %b, %c, %d)", (X2, *compressed(SPARSE)), SPARSE + X2) for X2 in (normal(6, 4),)],
    ("nn.sparse_transpose(%a, %b, %c)", compressed(SQUARE), compressed(SQUARE.T.copy())),
    ('nn.sparse_conv2d(%a, %b, %c, %d, layout="NHWC", kernel_size=[1, 1])', (LAST, *compressed(SPARSE)), LAST @ SPARSE.T),
    ('nn.sparse_conv2d(%a, %b, %c, %d, layout="NCHW", kernel_size=[1, 1])', (IMAGE, *compressed(BLOCKS, 2, 2)), np.einsum("oc,nchw->nohw", BLOCKS, IMAGE)),
    ("sliding_window(%a, axis=1, window_shape=[2, 3], strides=[1, 1])", (X,), np.lib.stride_tricks.sliding_window_view(X, (2, 3), (1, 2))), ("sliding_window(%a, axis=2, window_shape=[2], strides=[2])", (X,), np.lib.stride_tricks.sliding_window_view(X, 2, 2)[:, :, ::2]),
    ('einsum((%a, %b), equation="ij,jk->ik")', (normal(3, 4), normal(4, 5)), None), ('einsum((%a,), equation="ijk->kj")', (X,), np.einsum("ijk->kj", X)), ('einsum((%a, %b), equation="bij,bj->b")', (X, normal(2, 4)), None),
    ("dft(%a, %b, inverse=False)", (normal(2, 6), normal(2, 6)), None), ("dft(%a, %b, inverse=True)", (normal(2, 6), normal(2, 6)), None),
    # ---- networks ----
    ("nn.dense(%a, %b)", (normal(3, 4), normal(5, 4)), None), ('nn.dense(%a, %b, units=5, out_dtype="int32")', (ints(-99, 99, 3, 4, dtype=np.int8), ints(-99, 99, 5, 4, dtype=np.int8)), None),
    ("nn.matmul(%a, %b, transpose_a=True)", (normal(4, 3), normal(4, 5)), None), ("nn.batch_matmul(%a, %b, transpose_b=True)", (normal(2, 3, 4), normal(2, 5, 4)), None),
    ("nn.bias_add(%a, %b)", (IMAGE, V), IMAGE + along(V, 4, 1)), ("nn.bias_add(%a, %b, axis=-1)", (X, V), X + V), ("nn.batch_flatten(%a)", (IMAGE,), IMAGE.reshape(2, -1)),
    ("nn.softmax(%a)", (X,), softmax(X, -1)), ("nn.softmax(%a, axis=1)", (X,), softmax(X, 1)), ("nn.log_softmax(%a)", (X,), np.log(softmax(X, -1))), ("nn.leaky_relu(%a, alpha=0.1f)", (X,), np.where(X > 0, X, f32(0.1) * X)),
    ("nn.leaky_relu(%a)", (X,), np.where(X > 0, X, X / 4)), ("nn.prelu(%a, %b)", (IMAGE, V), np.where(IMAGE > 0, IMAGE, IMAGE * along(V, 4, 1))), ("%0 = nn.dropout(%a, rate=0.5f); %0.0", (X,), X),
    ("%0 = nn.batch_norm(%a, %b, %c, %d, %e); %0.0", (IMAGE, V, V + 1, V * 2, np.abs(V)), (IMAGE - along(V * 2, 4, 1)) / np.sqrt(along(np.abs(V), 4, 1) + 1e-5) * along(V, 4, 1) + along(V + 1, 4, 1)),
    ("%0 = nn.batch_norm(%a, %b, %c, %d, %e, axis=3, epsilon=0.001f); %0.0", (LAST, V, V + 1, V * 2, np.abs(V)), (LAST - V * 2) / np.sqrt(np.abs(V) + 1e-3) * V + V + 1),
    ("nn.layer_norm(%a, %b, %c)", (X, V, V + 1), normalized(X, (2,)) * V + V + 1), ("nn.layer_norm(%a, %b, %c, axis=1, epsilon=0.01f)", (X, V[:3], V[1:]), normalized(X, (1,), 0.01) * along(V[:3], 3, 1) + along(V[1:], 3, 1)),
    ("nn.instance_norm(%a, %b, %c)", (IMAGE, V, V + 1), normalized(IMAGE, (2, 3)) * along(V, 4, 1) + along(V + 1, 4, 1)), ("nn.instance_norm(%a, %b, %c, axis=3)", (LAST, V, V + 1), normalized(LAST, (1, 2)) * V + V + 1),
    ("nn.group_norm(%a, %b, %c, num_groups=2)", (IMAGE, V, V + 1), normalized(IMAGE.reshape(2, 2, -1), (2,)).reshape(IMAGE.shape) * along(V, 4, 1) + along(V + 1, 4, 1)),
    ("nn.l2_normalize(%a, eps=0.001f, axis=[1])", (X,), X / np.sqrt(np.maximum((X * X).sum(1, keepdims=True), 1e-3))), ("nn.lrn(%a, size=3, axis=1, bias=2f, alpha=0.1f, beta=0.75f)", (IMAGE,), lrn(IMAGE, 3, 1, 2, 0.1, 0.75)),
    ("nn.lrn(%a, size=3, axis=3, bias=2f, alpha=0.1f, beta=0.75f)", (LAST,), lrn(LAST, 3, 3, 2, 0.1, 0.75)), ("nn.pad(%a, 1.5f, pad_width=[[0, 0], [1, 2], [0, 1]])", (X,), np.pad(X, ((0, 0), (1, 2), (0, 1)), constant_values=1.5)),
    ('nn.pad(%a, 0f, pad_width=[[0, 0], [1, 2], [0, 1]], pad_mode="edge")', (X,), np.pad(X, ((0, 0), (1, 2), (0, 1)), "edge")), ('nn.mirror_pad(%a, mode="SYMMETRIC", pad_width=[[0, 0], [2, 1], [1, 4]])', (X,), np.pad(X, ((0, 0), (2, 1), (1, 4)), "symmetric")),
    ('nn.mirror_pad(%a, mode="REFLECT", pad_width=[[0, 0], [2, 1], [1, 3]])', (X,), np.pad(X, ((0, 0), (2, 1), (1, 3)), "reflect")), ("nn.depth_to_space(%a, block_size=2)", (IMAGE,), IMAGE.reshape(2, 2, 2, 1, 7, 6).transpose(0, 3, 4, 1, 5, 2).reshape(2, 1, 14, 12)),
    ("nn.space_to_depth(%a, block_size=2)", (IMAGE[:, :, :6],), IMAGE[:, :, :6].reshape(2, 4, 3, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 16, 3, 3)), ("nn.dilate(%a, strides=[1, 2, 3])", (X,), None),
    ("nn.space_to_batch_nd(%a, block_shape=[2, 2], paddings=[[1, 0], [0, 0]])", (LAST,), np.pad(LAST, ((0, 0), (1, 0), (0, 0), (0, 0))).reshape(2, 4, 2, 3, 2, 4).transpose(2, 4, 0, 1, 3, 5).reshape(8, 4, 3, 4)),
    ("nn.batch_to_space_nd(%a, block_shape=[2, 2], crops=[[1, 0], [0, 1]])", (normal(8, 2, 3, 4),), None), ("nn.cross_entropy(%a, %b)", (positive(3, 4), positive(3, 4)), None), ("nn.cross_entropy_with_logits(%a, %b)", (normal(3, 4), positive(3, 4)), None),
    ("nn.nll_loss(%a, %b, %c)", (normal(3, 4), np.array([0, 3, 1], i32), positive(4)), None), ("nn.fifo_buffer(%a, %b, axis=0)", (normal(2, 3), normal(5, 3)), None),
    # ---- windows ----
    ("nn.conv2d(%a, %b)", (IMAGE, W), conv(IMAGE, W)), ("nn.conv2d(%a, %b, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 2])", (IMAGE, W), conv(IMAGE, W, pad=(1, 1, 1, 1))),
    ("nn.conv2d(%a, %b, strides=[2, 1], padding=[0, 1, 2, 0], dilation=[1, 2])", (IMAGE, W), conv(IMAGE, W, (2, 1), (0, 1, 2, 0), (1, 2))), ("nn.conv2d(%a, %b, padding=[1, 1], groups=2)", (IMAGE, WG), conv(IMAGE, WG, pad=(1, 1, 1, 1), group=2)),
    ('nn.conv2d(%a, %b, data_layout="NHWC", kernel_layout="HWIO", padding=[1, 1, 1, 1])', (LAST, W.transpose(2, 3, 1, 0)), conv(IMAGE, W, pad=(1, 1, 1, 1)).transpose(0, 2, 3, 1)),
    ('nn.conv2d(%a, %b, data_layout="NHWC", kernel_layout="HWOI", groups=4)', (LAST, DW.transpose(2, 3, 0, 1)), conv(IMAGE, DW, group=4).transpose(0, 2, 3, 1)), ("nn.conv2d(%a, %b, groups=4)", (IMAGE, normal(4, 2, 3, 3)), None),
    ('nn.conv2d(%a, %b, out_dtype="int32")', (ints(-99, 99, 1, 3, 5, 5, dtype=np.int8), ints(-99, 99, 2, 3, 3, 3, dtype=np.int8)), None),
    ("nn.conv1d(%a, %b, padding=[1], strides=[2])", (IMAGE[:, :, 0], W[:, :, 0]), conv(IMAGE[:, :, :1], W[:, :, :1], (1, 2), (0, 1, 0, 1))[:, :, 0]),
    ("nn.conv3d(%a, %b, padding=[0, 1, 1])", (IMAGE[:, :, None], W[:, :, None]), conv(IMAGE, W, pad=(1, 1, 1, 1))[:, :, None]),
    ("nn.conv2d_transpose(%a, %b, strides=[2, 2], padding=[1, 1], output_padding=[1, 0])", (IMAGE, WT), conv_transpose(IMAGE, WT, (2, 2), (1, 1, 1, 1), (1, 0))),
    ("nn.conv1d_transpose(%a, %b, strides=[2])", (IMAGE[:, :, 0], WT[:, :, 0]), conv_transpose(IMAGE[:, :, :1], WT[:, :, :1], (1, 2))[:, :, 0]),
    ("nn.max_pool2d(%a, pool_size=[2, 2], strides=[2, 2])", (IMAGE,), pool(IMAGE, (2, 2), (2, 2), (0,) * 4, np.max, 0)), ("nn.max_pool2d(%a, pool_size=[3, 3], strides=[2, 1], padding=[1, 1, 1, 1])", (IMAGE,), pool(IMAGE, (3, 3), (2, 1), (1,) * 4, np.max, -np.inf)),
    ("nn.avg_pool2d(%a, pool_size=[2, 3], strides=[2, 1], padding=[1, 0, 0, 0], count_include_pad=True)", (IMAGE,), pool(IMAGE, (2, 3), (2, 1), (1, 0, 0, 0), np.mean, 0)), ('nn.avg_pool2d(%a, pool_size=[2, 2], strides=[2, 2], layout="NHWC")', (LAST,), pool(IMAGE, (2, 2), (2, 2), (0,) * 4, np.mean, 0).transpose(0, 2, 3, 1)),
    ("nn.max_pool1d(%a, pool_size=[2], strides=[2])", (X,), X.reshape(2, 3, 2, 2).max(-1)), ("nn.avg_pool3d(%a, pool_size=[1, 2, 2], strides=[1, 2, 2])", (IMAGE[:, :, None],), pool(IMAGE, (2, 2), (2, 2), (0,) * 4, np.mean, 0)[:, :, None]),
    ("nn.global_avg_pool2d(%a)", (IMAGE,), IMAGE.mean((2, 3), keepdims=True)), ('nn.global_max_pool2d(%a, layout="NHWC")', (LAST,), LAST.max((1, 2), keepdims=True)),
    ("nn.adaptive_avg_pool2d(%a, output_size=[3, 4])", (IMAGE,), adaptive(IMAGE, (3, 4), np.mean)), ("nn.adaptive_max_pool2d(%a, output_size=[7, 2])", (IMAGE,), adaptive(IMAGE, (7, 2), np.max)), ("nn.adaptive_avg_pool2d(%a, output_size=[1])", (IMAGE,), IMAGE.mean((2, 3), keepdims=True)),
    ("nn.max_pool2d_grad(%b, %a, pool_size=[2, 2], strides=[2, 2])", (normal(1, 1, 4, 4), np.ones((1, 1, 2, 2), f32)), None), ("nn.avg_pool2d_grad(%b, %a, pool_size=[2, 2], strides=[2, 2])", (normal(1, 1, 4, 4), np.ones((1, 1, 2, 2), f32)), np.full((1, 1, 4, 4), 0.25, f32)),
    # ---- boxes ----
    ("vision.get_valid_counts(%a, 0.3f, id_index=0, score_index=1)", (BOXED,), valid(BOXED, 0.3)),
    ("vision.get_valid_counts(%a, %b, id_index=-1, score_index=3)", (BOXED, f32(0.5)), valid(BOXED, 0.5, 3, -1)),
    ("vision.non_max_suppression(%a, %b, %c, -1, 0.4f)", (BOXED, COUNTS, PLACES), suppressed(BOXED, COUNTS, PLACES, -1, 0.4)),
    ("vision.non_max_suppression(%a, %b, %c, 3, 0.2f, force_suppress=True, return_indices=False)", (BOXED, COUNTS, PLACES),
     suppressed(BOXED, COUNTS, PLACES, 3, 0.2, every=True, indices=False)),
    ("vision.non_max_suppression(%a, %b, %c, %d, %e, top_k=9, return_indices=False, invalid_to_bottom=True)", (BOXED, COUNTS, PLACES, i32(-1), f32(0.3)),
     suppressed(BOXED, COUNTS, PLACES, -1, 0.3, best=9, indices=False, bottom=True)),
    ("vision.non_max_suppression(%a, %b, %c, 4, 0.3f, coord_start=1, score_index=0, id_index=-1)", (BOXED[..., 1:], COUNTS, PLACES),
     suppressed(BOXED[..., 1:], COUNTS, PLACES, 4, 0.3, 0, -1, 1)),
    ("vision.non_max_suppression(%a, %b, %c, 2, 0f, return_indices=False)", (BOXED, COUNTS, PLACES), suppressed(BOXED, COUNTS, PLACES, 2, 0, indices=False)),
    ("%0 = vision.get_valid_counts(%a, 0.1f); vision.non_max_suppression(%0.1, %0.0, %0.2, 5, 0.3f)", (BOXED,),
     (lambda c, r, p: suppressed(r, c, p, 5, 0.3))(*valid(BOXED, 0.1))),
    # ---- networks that see ----
    ('reinterpret(%a, dtype="int32")', (X,), X.view(i32)), ('reinterpret(%a, dtype="float32")', (I,), I.view(f32)),
    ("annotation.simulated_quantize(%a, 0.1f, -5f, 5f, kind=1, sign=True, rounding=\"round\")", (X,),
     np.sign(np.clip(X / f32(0.1), -5, 5)) * np.floor(abs(np.clip(X / f32(0.1), -5, 5)) + f32(0.5)) * f32(0.1)),
    ("vision.yolo_reorg(%a, stride=2)", (IMAGE[:, :, :6],), reorg(IMAGE[:, :, :6], 2)),
    ("image.dilation2d(%a, %b, strides=[2, 1], padding=[1, 0, 1, 2], dilations=[2, 1])", (IMAGE, normal(4, 2, 3)), None),
    ('image.dilation2d(%a, %b, data_layout="NHWC", kernel_layout="HWI")', (LAST, normal(2, 3, 4)), None),
    ("stft(%a, %b, n_fft=8, hop_length=3, win_length=6, normalized=True, onesided=True)", (normal(2, 20), normal(6)), None),
    ("stft(%a, %b, n_fft=5, hop_length=5, win_length=5, onesided=False)", (normal(1, 25), normal(5)), None),
    ("nn.correlation(%a, %b, kernel_size=3, max_displacement=2, stride1=2, stride2=1, padding=[2, 2, 2, 2], is_multiply=True, layout=\"NCHW\")",
     (IMAGE, IMAGE[::-1]), correlation(IMAGE, IMAGE[::-1], 3, 2, 2, 1, 2, np.multiply)),
    ("nn.correlation(%a, %b, kernel_size=1, max_displacement=3, stride1=1, stride2=2, padding=[3], is_multiply=False, layout=\"NCHW\")",
     (IMAGE, IMAGE[::-1]), correlation(IMAGE, IMAGE[::-1], 1, 3, 1, 2, 3, lambda x, y: abs(x - y))),
    ("vision.multibox_prior(%a, sizes=[0.5f, 0.25f], ratios=[1f, 2f, 0.5f], steps=[-1f, -1f], offsets=[0.5f, 0.5f], clip=True)", (IMAGE,), prior(7, 6, True)),
    ("vision.multibox_prior(%a, sizes=[0.5f, 0.25f], ratios=[1f, 2f, 0.5f])", (IMAGE,), prior(7, 6, False)),
    ("nn.deformable_conv2d(%a, %b, %c, channels=6, kernel_size=[3, 3], padding=[0, 0, 0, 0], out_layout=\"\")", (IMAGE, OFFSET, TAPS), deformed(IMAGE, OFFSET, TAPS)),
    ("nn.deformable_conv2d(%a, %b, %c, strides=[2, 1], padding=[1, 1, 1, 1], dilation=[1, 2], deformable_groups=2, groups=2)",
     (IMAGE, OFFSET2, TAPS2), deformed(IMAGE, OFFSET2, TAPS2, (2, 1), (1, 1, 1, 1), (1, 2), 2, 2)),
    ("vision.multibox_transform_loc(%a, %b, %c, clip=True, threshold=0.5f, variances=[0.1f, 0.1f, 0.2f, 0.2f])", (PROB, LOC, ANCHOR), placed(PROB, LOC, ANCHOR, True, 0.5, (0.1, 0.1, 0.2, 0.2))),
    ("vision.multibox_transform_loc(%a, %b, %c, clip=False, threshold=-1f, variances=[1f, 0.5f, 0.2f, 0.3f])", (PROB, LOC, ANCHOR), placed(PROB, LOC, ANCHOR, False, -1, (1, 0.5, 0.2, 0.3))),
    ("image.crop_and_resize(%a, %b, %c, crop_size=[4, 3], layout=\"NCHW\", method=\"bilinear\", extrapolation_value=-2f)",
     (IMAGE, BOXES, np.array([1, 0, 1], i32)), crop(IMAGE, BOXES, [1, 0, 1], 4, 3, -2)),
    ("image.crop_and_resize(%a, %b, %c, crop_size=[1, 2], layout=\"NHWC\", method=\"bilinear\")",
     (LAST, BOXES, np.array([1, 0, 1], i32)), crop(IMAGE, BOXES, [1, 0, 1], 1, 2, 0).transpose(0, 2, 3, 1)),
]


def reference(text, a):
    """What NumPy computes where the row above has None."""
    name = text.partition("(")[0]
    f = [x.astype(np.float64) if x.dtype.kind == "f" else x for x in map(np.asarray, a)]
    if name == "nn.dense" or name == "nn.batch_matmul":
        return (f[0].astype(i32) if f[0].dtype.kind == "i" else f[0]) @ np.swapaxes(f[1].astype(i32) if f[1].dtype.kind == "i" else f[1], -1, -2)
    if name == "image.dilation2d":
        if "NHWC" in text:
            return dilation(f[0].transpose(0, 3, 1, 2), f[1].transpose(2, 0, 1), (1, 1), (0, 0, 0, 0), (1, 1)).transpose(0, 2, 3, 1)
        return dilation(f[0], f[1], (2, 1), (1, 0, 1, 2), (2, 1))
    if name == "stft":
        return stft(f[0], f[1], 8, 3, 5) / np.sqrt(f32(8)) if "normalized" in text else stft(f[0], f[1], 5, 5, 5)
    if name == "dft":
        z = (np.fft.ifft if "True" in text else np.fft.fft)(f[0] + 1j * f[1])
        return z.real, z.imag
    if name == "nn.conv2d":
        return conv(f[0].astype(i64) if f[0].dtype.kind == "i" else f[0], f[1].reshape(-1, 1, 3, 3), group=4) if "groups" in text else conv(f[0].astype(i64), f[1].astype(i64)).astype(i32)
    if name == "nn.dilate":
        out = np.zeros((2, 5, 10))
        out[:, ::2, ::3] = f[0]
        return out
    if name == "nn.batch_to_space_nd":
        return f[0].reshape(2, 2, 2, 2, 3, 4).transpose(2, 3, 0, 4, 1, 5).reshape(2, 4, 6, 4)[:, 1:, :-1]
    if name == "one_hot":
        return np.where(f[0][..., None] == np.arange(4), f32(2), f32(-1))
    if name == "nn.max_pool2d_grad":
        return (f[0] == np.kron(pool(f[0], (2, 2), (2, 2), (0,) * 4, np.max, 0), np.ones((2, 2)))).astype(f32)
    return {
        "power": lambda: f[0] ** f[1], "squeeze": lambda: f[0].reshape(3), "gather": lambda: np.take_along_axis(f[0], f[1], 1) if f[1].shape[1] <= 3 else np.stack([np.stack([[f[0][i, f[1][i, j, k], k] for k in range(4)] for j in range(5)]) for i in range(2)]),
        "sequence_mask": lambda: np.where(np.arange(4)[:, None] < f[1], f[0], -1), "einsum": lambda: np.einsum(text.split('"')[1], *f), "nn.matmul": lambda: f[0].T @ f[1],
        "nn.cross_entropy": lambda: -(np.log(f[0]) * f[1]).sum() / 3, "nn.cross_entropy_with_logits": lambda: -(f[0] * f[1]).sum() / 3,
        "nn.nll_loss": lambda: -(f[0][[0, 1, 2], f[1]] * f[2][f[1]]).sum() / f[2][f[1]].sum(), "nn.fifo_buffer": lambda: np.concatenate([f[1], f[0]])[2:],
    }[name]()
