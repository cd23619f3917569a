"""Functions of the library's networks beside NumPy: rows of a text in the language, arguments, and what it gives."""

import itertools
import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Row:
    text: str  # an expression of the arguments; it may be a tuple of `count` tensors
    args: dict  # arrays by name; those of floats are differentiated
    oracle: object  # a function of the same arguments, by name
    count: int = 1
    still: tuple = field(default=())  # arguments that are not differentiated
    smooth: bool = True  # False: no derivative is compared


RNG = np.random.default_rng(17)


def some(*shape, low=-1.0, high=1.0):
    return RNG.uniform(low, high, shape).round(3)


def apart(*shape):
    """Numbers that are at least 0.1 from each other and from 0, so that differences do not cross a bend."""
    n = math.prod(shape)
    return (0.1 * (RNG.permutation(n) - n // 2) + 0.05).reshape(shape)


def labels(*shape, classes):
    return RNG.integers(0, classes, shape)


# ---- layers ----


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def normal(x):
    """The distribution function of the normal distribution."""
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def padded(x, pad, value=0.0):
    d = len(pad) // 2
    return np.pad(x, [(0, 0), (0, 0), *zip(pad[:d], pad[d:])], constant_values=value)


def windows(x, window, stride, dilation):
    """[n, c, out..., window...]."""
    d = len(window)
    sizes = [(s - (k - 1) * g - 1) // t + 1 for s, k, t, g in zip(x.shape[2:], window, stride, dilation)]
    out = np.zeros((*x.shape[:2], *sizes, *window), x.dtype)
    for at in itertools.product(*map(range, window)):
        part = tuple(slice(a * g, a * g + (n - 1) * t + 1, t) for a, g, n, t in zip(at, dilation, sizes, stride))
        out[(..., *at)] = x[(slice(None), slice(None), *part)]
    return out, d


def conv(x, w, b, stride, pad, dilation=None, group=1):
    patch, d = windows(padded(x, pad), w.shape[2:], stride, dilation or [1] * len(stride))
    c, o, parts = w.shape[1], len(w) // group, []
    for g in range(group):
        parts.append(np.tensordot(patch[:, g * c : (g + 1) * c], w[g * o : (g + 1) * o], ([1, *range(2 + d, 2 + 2 * d)], range(1, 2 + d))))
    y = np.concatenate(parts, -1)
    return np.moveaxis(y, -1, 1) + b.reshape(-1, *[1] * d)


def conv_transpose(x, w, b, stride, pad, more):
    d, window = len(stride), w.shape[2:]
    sizes = [(s - 1) * t + k for s, t, k in zip(x.shape[2:], stride, window)]
    y = np.zeros((len(x), w.shape[1], *[s + m for s, m in zip(sizes, more)]))
    for at in itertools.product(*map(range, window)):
        part = tuple(slice(a, a + (n - 1) * t + 1, t) for a, n, t in zip(at, x.shape[2:], stride))
        y[(slice(None), slice(None), *part)] += np.moveaxis(np.tensordot(x, w[(slice(None), slice(None), *at)], (1, 0)), -1, 1)
    cut = tuple(slice(a, n - z) for a, z, n in zip(pad[:d], pad[d:], y.shape[2:]))
    return y[(slice(None), slice(None), *cut)] + b.reshape(-1, *[1] * d)


def pool(x, window, stride, pad, f, value):
    patch, d = windows(padded(x, pad, value), window, stride, [1] * len(stride))
    return f(patch, axis=tuple(range(2 + d, 2 + 2 * d)))


def even(x, axes, small):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + small)


def scaled(y, scale, shift):
    n = (1, -1, *[1] * (y.ndim - 2))
    return y * scale.reshape(n) + shift.reshape(n)


def grouped(x, scale, shift, groups):
    y = even(x.reshape(len(x), groups, -1), 2, 1e-5).reshape(x.shape)
    return scaled(y, scale, shift)


def trained(x, scale, shift, mean, variance):
    m, v = x.mean((0, 2, 3)), x.var((0, 2, 3))
    return scaled(even(x, (0, 2, 3), 1e-5), scale, shift), mean + 0.1 * (m - mean), variance + 0.1 * (v - variance)


def layer_norm(x, scale, shift, small=1e-5):
    return even(x, -1, small) * scale + shift


IMAGE = {"x": some(2, 4, 5, 6)}
FILTER = {"w": some(3, 4, 3, 2), "b": some(3)}
NORM = {"scale": some(4), "shift": some(4)}

LAYERS = {
    "dense": Row("nn.dense(nn.Dense(w, b), x)", {"w": some(3, 4), "b": some(4), "x": some(2, 5, 3)}, lambda w, b, x: x @ w + b),
    "conv1": Row(
        "nn.conv(nn.Filter(w, b), x, (2,), (1, 2))", {"w": some(3, 2, 3), "b": some(3), "x": some(2, 2, 7)},
        lambda w, b, x: conv(x, w, b, (2,), (1, 2)),
    ),
    "conv2": Row("nn.conv(nn.Filter(w, b), x, (2, 1), (1, 0, 2, 1))", FILTER | IMAGE, lambda w, b, x: conv(x, w, b, (2, 1), (1, 0, 2, 1))),
    "conv3": Row(
        "nn.conv(nn.Filter(w, b), x, (1, 2, 1), (1, 0, 1, 0, 1, 1))", {"w": some(2, 2, 2, 3, 2), "b": some(2), "x": some(1, 2, 3, 5, 4)},
        lambda w, b, x: conv(x, w, b, (1, 2, 1), (1, 0, 1, 0, 1, 1)),
    ),
    "conv_dilated": Row(
        "nn.conv_dilated(nn.Filter(w, b), x, (1, 1), (1, 1, 1, 1), (2, 3))", FILTER | IMAGE,
        lambda w, b, x: conv(x, w, b, (1, 1), (1, 1, 1, 1), (2, 3)),
    ),
    "conv_grouped": Row(
        "nn.conv_grouped(nn.Filter(w, b), x, (1, 2), (0, 1, 1, 0), 2)", {"w": some(6, 2, 2, 3), "b": some(6)} | IMAGE,
        lambda w, b, x: conv(x, w, b, (1, 2), (0, 1, 1, 0), group=2),
    ),
    "conv_depthwise": Row(
        "nn.conv_grouped(nn.Filter(w, b), x, (1, 1), (1, 1, 1, 1), 4)", {"w": some(4, 1, 3, 3), "b": some(4)} | IMAGE,
        lambda w, b, x: conv(x, w, b, (1, 1), (1, 1, 1, 1), group=4),
    ),
    "conv_transpose1": Row(
        "nn.conv_transpose(nn.Spread(w, b), x, (2,), (1, 0), (1,))", {"w": some(2, 3, 3), "b": some(3), "x": some(2, 2, 4)},
        lambda w, b, x: conv_transpose(x, w, b, (2,), (1, 0), (1,)),
    ),
    "conv_transpose2": Row(
        "nn.conv_transpose(nn.Spread(w, b), x, (2, 3), (1, 0, 1, 1), (0, 0))", {"w": some(4, 2, 3, 2), "b": some(2)} | IMAGE,
        lambda w, b, x: conv_transpose(x, w, b, (2, 3), (1, 0, 1, 1), (0, 0)),
    ),
    "conv_transpose3": Row(
        "nn.conv_transpose(nn.Spread(w, b), x, (1, 2, 1), (0, 0, 0, 0, 0, 0), (0, 1, 0))",
        {"w": some(2, 2, 2, 2, 2), "b": some(2), "x": some(1, 2, 2, 3, 2)},
        lambda w, b, x: conv_transpose(x, w, b, (1, 2, 1), (0, 0, 0, 0, 0, 0), (0, 1, 0)),
    ),
    "max_pool": Row(
        "nn.max_pool(x, (2, 3), (2, 2), (0, 1, 1, 1))", {"x": apart(2, 2, 5, 6)},
        lambda x: pool(x, (2, 3), (2, 2), (0, 1, 1, 1), np.max, -np.inf),
    ),
    "max_pool3": Row(
        "nn.max_pool(x, (2, 1, 2), (1, 1, 2), (0, 0, 0, 0, 0, 0))", {"x": apart(1, 2, 3, 3, 4)},
        lambda x: pool(x, (2, 1, 2), (1, 1, 2), (0,) * 6, np.max, -np.inf),
    ),
    "average_pool": Row(
        "nn.average_pool(x, (2, 3), (2, 2), (0, 1, 1, 1))", IMAGE,
        lambda x: pool(x, (2, 3), (2, 2), (0, 1, 1, 1), np.nanmean, np.nan),
    ),
    "average_pool1": Row("nn.average_pool(x, (2,), (1,), (0, 0))", {"x": some(2, 3, 5)}, lambda x: pool(x, (2,), (1,), (0, 0), np.nanmean, np.nan)),
    "global_average": Row("nn.global_average(x)", IMAGE, lambda x: x.mean((2, 3))),
    "global_max": Row("nn.global_max(x)", {"x": apart(2, 3, 2, 2, 2)}, lambda x: x.max((2, 3, 4))),
    "flatten": Row("nn.flatten(x)", IMAGE, lambda x: x.reshape(2, -1)),
    "upsample": Row("nn.upsample(x)", IMAGE, lambda x: x.repeat(2, 2).repeat(2, 3)),
    "layer_norm": Row(
        "nn.layer_norm(nn.Norm(scale, shift), x, 1e-3)", NORM | {"x": some(2, 3, 4)},
        lambda scale, shift, x: layer_norm(x, scale, shift, 1e-3),
    ),
    "rms_norm": Row(
        "nn.rms_norm(scale, x, 1e-5)", {"scale": some(4), "x": some(2, 3, 4)},
        lambda scale, x: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale,
    ),
    "group_norm": Row(
        "nn.group_norm(nn.Norm(scale, shift), x, 2, 1e-5)", NORM | IMAGE, lambda scale, shift, x: grouped(x, scale, shift, 2),
    ),
    "instance_norm": Row(
        "nn.instance_norm(nn.Norm(scale, shift), x, 1e-5)", NORM | IMAGE, lambda scale, shift, x: grouped(x, scale, shift, 4),
    ),
    "batch_norm": Row(
        "nn.batch_norm(nn.BatchNorm(scale, shift, center, variance), x, 1e-5)",
        NORM | {"center": some(4), "variance": some(4, low=0.5)} | IMAGE,
        lambda scale, shift, center, variance, x: scaled(scaled(x, np.ones(4), -center), scale / np.sqrt(variance + 1e-5), shift),
    ),
    "batch_norm_training": Row(
        "{ let (y, l) = nn.batch_norm_training(nn.BatchNorm(scale, shift, center, variance), x, 0.1, 1e-5)\n(y, l.mean, l.variance) }",
        NORM | {"center": some(4), "variance": some(4, low=0.5)} | IMAGE,
        lambda scale, shift, center, variance, x: trained(x, scale, shift, center, variance), count=3,
    ),
    "embed": Row("nn.embed(table, tokens)", {"table": some(5, 3), "tokens": labels(2, 4, classes=5)}, lambda table, tokens: table[tokens]),
    "relu6": Row("nn.relu6(7.0 * x)", {"x": apart(3, 7)}, lambda x: np.clip(7 * x, 0, 6)),
    "hard_tanh": Row("nn.hard_tanh(x)", {"x": apart(30)}, lambda x: np.clip(x, -1, 1)),
    "log_sigmoid": Row("nn.log_sigmoid(9.0 * x)", {"x": some(7)}, lambda x: np.log(sigmoid(9 * x))),
    "tanh_shrink": Row("nn.tanh_shrink(x)", {"x": some(7)}, lambda x: x - np.tanh(x)),
    "soft_shrink": Row("nn.soft_shrink(x, 0.5)", {"x": apart(30)}, lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0)),
    "squared_relu": Row("nn.squared_relu(x)", {"x": apart(7)}, lambda x: np.maximum(x, 0) ** 2),
    "glu": Row("nn.glu(x)", {"x": some(2, 3, 6)}, lambda x: x[..., :3] * sigmoid(x[..., 3:])),
    "swiglu": Row("nn.gated(fn(y) { swish(y) }, x)", {"x": some(2, 6)}, lambda x: x[..., :3] * x[..., 3:] * sigmoid(x[..., 3:])),
}

# ---- attention ----


def attention(q, k, v, mask=True):
    return softmax(np.where(mask, q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), -np.inf)) @ v


HEADS = ("query", "key", "value", "out", "query_bias", "key_bias", "value_bias", "out_bias")


def some_heads(d=4, h=2, k=3):
    shapes = (d, h, k), (d, h, k), (d, h, k), (h, k, d), (h, k), (h, k), (h, k), (d,)
    return {n: some(*s) for n, s in zip(HEADS, shapes)}


def multi_head(l, x, y, mask=True):
    def projected(n, x):
        return np.einsum("ntd,dhk->nhtk", x, l[n]) + l[n + "_bias"][:, None]

    z = attention(projected("query", x), projected("key", y), projected("value", y), mask)
    return np.einsum("nhtk,hkd->ntd", z, l["out"]) + l["out_bias"]


def heads_of(prefix, names):
    return {n: names[prefix + n] for n in HEADS}


def rotary(x, start, base=100.0):
    r = x.shape[-1] // 2
    turn = np.exp(1j * np.arange(start, start + x.shape[-2])[:, None] * base ** (-np.arange(r) / r))
    z = (x[..., :r] + 1j * x[..., r:]) * turn
    return np.concatenate([z.real, z.imag], -1)


def sinusoidal(t, d, base=100.0):
    angle = np.arange(t)[:, None] * base ** (-(np.arange(d) // 2 * 2) / d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angle), np.cos(angle))


def gelu(x):
    return x * normal(x)


def block(kind, **p):
    """A block of an encoder or a decoder; `last`: its norms come after the sums."""
    last = kind.endswith("last")
    mask = np.arange(3) <= np.arange(3)[:, None]

    def norm(prefix, x):
        return layer_norm(x, p[prefix + "scale"], p[prefix + "shift"])

    def beside(x, prefix, f):
        return norm(prefix, x + f(x)) if last else x + f(norm(prefix, x))

    x = beside(p["x"], "n_", lambda x: multi_head(heads_of("a_", p), x, x, mask))
    if kind.startswith("decoder"):
        x = beside(x, "m_", lambda x: multi_head(heads_of("o_", p), x, p["encoded"]))
    return beside(x, "l_", lambda x: gelu(x @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"])


def block_row(kind):
    decoder = kind.startswith("decoder")
    heads = {"a_": some_heads(), **({"o_": some_heads()} if decoder else {})}
    args = {prefix + n: v for prefix, l in heads.items() for n, v in l.items()}
    for prefix in ("n_", *(("m_",) if decoder else ()), "l_"):
        args |= {prefix + "scale": some(4), prefix + "shift": some(4)}
    args |= {"up": some(4, 5), "up_bias": some(5), "down": some(5, 4), "down_bias": some(4), "x": some(2, 3, 4)}
    if decoder:
        args["encoded"] = some(2, 2, 4)

    def text(prefix):
        return f"attention.Heads({', '.join(prefix + n for n in HEADS)})"

    parts = [text("a_"), "nn.Norm(n_scale, n_shift)", *([text("o_"), "nn.Norm(m_scale, m_shift)"] if decoder else [])]
    parts += ["nn.Dense(up, up_bias)", "nn.Dense(down, down_bias)", "nn.Norm(l_scale, l_shift)"]
    more = ", encoded, attention.causal(x, x), [[true]]" if decoder else ", attention.causal(x, x)"
    layer = "Decoder" if decoder else "Encoder"
    return Row(f"attention.{kind}(attention.{layer}({', '.join(parts)}), fn(y) {{ gelu(y) }}, x{more})", args, lambda **p: block(kind, **p))


QKV = {"q": some(2, 3, 4), "k": some(2, 5, 4), "v": some(2, 5, 3)}
SEEN = [[True, False, True, True, False], [True] * 5, [False, False, False, False, True]]

ATTENTION = {
    "dot_product": Row("attention.dot_product(q, k, v)", QKV, attention),
    "dot_product_masked": Row(
        "attention.dot_product_masked(q, k, v, mask)", QKV | {"mask": np.array(SEEN)}, lambda q, k, v, mask: attention(q, k, v, mask),
    ),
    "causal": Row(
        "attention.dot_product_masked(q, k, v, attention.causal(q, k))", QKV,
        lambda q, k, v: attention(q, k, v, np.arange(5) <= np.arange(3)[:, None] + 2),
    ),
    "padding": Row(
        "attention.dot_product_masked(q, k, v, attention.padding(lengths, k))",
        {"q": some(2, 1, 3, 2), "k": some(2, 1, 4, 2), "v": some(2, 1, 4, 2), "lengths": np.array([1, 3])},
        lambda q, k, v, lengths: attention(q, k, v, np.arange(4) < lengths.reshape(2, 1, 1, 1)),
    ),
    "multi_head": Row(
        f"attention.multi_head(attention.Heads({', '.join(HEADS)}), x, y)", some_heads() | {"x": some(2, 3, 4), "y": some(2, 5, 4)},
        lambda x, y, **l: multi_head(l, x, y),
    ),
    "multi_head_masked": Row(
        f"attention.multi_head_masked(attention.Heads({', '.join(HEADS)}), x, x, attention.causal(x, x))", some_heads() | {"x": some(2, 3, 4)},
        lambda x, **l: multi_head(l, x, x, np.tri(3) > 0),
    ),
    "sinusoidal": Row("attention.sinusoidal(x, 100.0) * x", {"x": some(5, 6)}, lambda x: x * sinusoidal(5, 6)),
    "rotary": Row("attention.rotary(x, 3, 100.0)", {"x": some(2, 2, 4, 6)}, lambda x: rotary(x, 3)),
    **{kind: block_row(kind) for kind in ("encoder", "encoder_norm_last", "decoder", "decoder_norm_last")},
}  # fmt: skip

# ---- recurrent layers ----


def rnn_cell(w, r, b, x, h):
    u = len(r)
    return np.tanh(x @ w.T + h @ r.T + b[:u] + b[u:])


def lstm_cell(w, r, b, x, h, c):
    u = r.shape[1]
    i, o, f, g = np.split(x @ w.T + h @ r.T + b[: 4 * u] + b[4 * u :], 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_cell(w, r, b, x, h):
    u = r.shape[1]
    (wz, wr, wn), (rz, rr, rn) = np.split(x @ w.T + b[: 3 * u], 3, -1), np.split(h @ r.T + b[3 * u :], 3, -1)
    z = sigmoid(wz + rz)
    return (1 - z) * np.tanh(wn + sigmoid(wr + rr) * rn) + z * h


def steps(cell, x, *state):
    out = []
    for row in x:
        state = cell(row, *state)
        state = state if isinstance(state, tuple) else (state,)
        out.append(state[0])
    return (np.stack(out), *state)


def recurrent(gates, i=3, u=2, prefix=""):
    return {prefix + "w": some(gates * u, i), prefix + "r": some(gates * u, u), prefix + "b": some(2 * gates * u)}


def both(x, fw, fr, fb, bw, br, bb):
    zero = np.zeros((2, 2)), np.zeros((2, 2))
    y, *_ = steps(lambda *a: lstm_cell(fw, fr, fb, *a), x, *zero)
    z, *_ = steps(lambda *a: lstm_cell(bw, br, bb, *a), x[::-1], *zero)
    return np.concatenate([y, z[::-1]], -1)


STEP, SEQUENCE, STATE, CELL = {"x": some(2, 3)}, {"x": some(4, 2, 3)}, {"h": some(2, 2)}, {"c": some(2, 2)}
ZERO = np.zeros((2, 2))

RECURRENT = {
    "rnn_cell": Row("recurrent.rnn_cell(recurrent.Rnn(w, r, b), x, h)", recurrent(1) | STEP | STATE, rnn_cell),
    "rnn": Row(
        "recurrent.rnn(recurrent.Rnn(w, r, b), x)", recurrent(1) | SEQUENCE,
        lambda w, r, b, x: steps(lambda *a: rnn_cell(w, r, b, *a), x, ZERO), count=2,
    ),
    "lstm_cell": Row("recurrent.lstm_cell(recurrent.Lstm(w, r, b), x, h, c)", recurrent(4) | STEP | STATE | CELL, lstm_cell, count=2),
    "lstm": Row(
        "recurrent.lstm(recurrent.Lstm(w, r, b), x)", recurrent(4) | SEQUENCE,
        lambda w, r, b, x: steps(lambda *a: lstm_cell(w, r, b, *a), x, ZERO, ZERO), count=3,
    ),
    "lstm_from": Row(
        "recurrent.lstm_from(recurrent.Lstm(w, r, b), x, h, c)", recurrent(4) | SEQUENCE | STATE | CELL,
        lambda w, r, b, x, h, c: steps(lambda *a: lstm_cell(w, r, b, *a), x, h, c), count=3,
    ),
    "lstm_both": Row(
        "recurrent.lstm_both(recurrent.Lstm(fw, fr, fb), recurrent.Lstm(bw, br, bb), x)",
        recurrent(4, prefix="f") | recurrent(4, prefix="b") | SEQUENCE, lambda **p: both(**p),
    ),
    "gru_cell": Row("recurrent.gru_cell(recurrent.Gru(w, r, b), x, h)", recurrent(3) | STEP | STATE, gru_cell),
    "gru": Row(
        "recurrent.gru(recurrent.Gru(w, r, b), x)", recurrent(3) | SEQUENCE,
        lambda w, r, b, x: steps(lambda *a: gru_cell(w, r, b, *a), x, ZERO), count=2,
    ),
    "gru_from": Row(
        "recurrent.gru_from(recurrent.Gru(w, r, b), x, h)", recurrent(3) | SEQUENCE | STATE,
        lambda w, r, b, x, h: steps(lambda *a: gru_cell(w, r, b, *a), x, h), count=2,
    ),
}  # fmt: skip

# ---- losses ----


def hot(classes, n):
    return np.eye(n)[classes]


def soft(x, target):
    return -(target * log_softmax(x)).sum(-1).mean()


def ctc(x, classes):
    """By all paths."""
    p, t, total = softmax(x), len(x), 0.0
    for path in itertools.product(range(x.shape[1]), repeat=t):
        joined = [a for a, b in zip(path, (-1, *path)) if a != b and a != 0]
        total += math.prod(p[i, a] for i, a in enumerate(path)) if joined == list(classes) else 0.0
    return -np.log(total)


def best(x, classes, k):
    own = np.take_along_axis(x, classes[..., None], -1)
    return np.float32(((x > own).sum(-1) < k).mean())


def crossed(x, classes):
    out = np.zeros((4, 4), np.int64)
    np.add.at(out, (classes, x.argmax(-1)), 1)
    return out


PAIR = {"y": apart(3, 4), "target": some(3, 4) * 0.01}
CLASSES = {"x": some(2, 3, 4), "at": labels(2, 3, classes=4)}
CHANCE = {"target": softmax(some(2, 3, 4))}
YES = {"x": some(2, 5, low=-4, high=4), "target": some(2, 5, low=0.1, high=0.9)}

LOSSES = {
    "mean_squared": Row("losses.mean_squared(y, target)", PAIR, lambda y, target: ((y - target) ** 2).mean()),
    "mean_absolute": Row("losses.mean_absolute(y, target)", PAIR, lambda y, target: abs(y - target).mean()),
    "huber": Row(
        "losses.huber(y, target, 0.3)", PAIR,
        lambda y, target: np.where(abs(y - target) < 0.3, (y - target) ** 2 / 2, 0.3 * abs(y - target) - 0.045).mean(),
    ),
    "log_cosh": Row("losses.log_cosh(y, target)", PAIR, lambda y, target: np.log(np.cosh(y - target)).mean()),
    "cross_entropy": Row("losses.cross_entropy(x, at)", CLASSES, lambda x, at: soft(x, hot(at, 4))),
    "cross_entropy_soft": Row("losses.cross_entropy_soft(x, target)", {"x": CLASSES["x"]} | CHANCE, soft),
    "cross_entropy_smoothed": Row(
        "losses.cross_entropy_smoothed(x, at, 0.2)", CLASSES, lambda x, at: soft(x, 0.8 * hot(at, 4) + 0.05),
    ),
    "binary_cross_entropy": Row(
        "losses.binary_cross_entropy(x, target)", YES,
        lambda x, target: -(target * np.log(sigmoid(x)) + (1 - target) * np.log(1 - sigmoid(x))).mean(),
    ),
    "focal": Row(
        "losses.focal(x, target, 2.0)", {"x": YES["x"], "target": labels(2, 5, classes=2) * 1.0},
        lambda x, target: -(np.log(np.where(target > 0, sigmoid(x), sigmoid(-x))) * np.where(target > 0, sigmoid(-x), sigmoid(x)) ** 2).mean(),
        still=("target",),
    ),
    "divergence": Row(
        "losses.divergence(x, target)", {"x": CLASSES["x"]} | CHANCE,
        lambda x, target: (target * (np.log(target) - log_softmax(x))).sum(-1).mean(),
    ),
    "hinge": Row(
        "losses.hinge(y, target)", {"y": apart(3, 4), "target": np.sign(some(3, 4))}, lambda y, target: np.maximum(1 - y * target, 0).mean(),
        still=("target",),
    ),
    "cosine": Row(
        "losses.cosine(x, y, 1e-3)", {"x": some(3, 4), "y": some(3, 4)},
        lambda x, y: (x * y).sum(-1) / (np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1) + 1e-3),
    ),
    "triplet": Row(
        "losses.triplet(x, y, z, 0.7)", {"x": some(3, 4), "y": some(3, 4), "z": some(3, 4)},
        lambda x, y, z: np.maximum(((x - y) ** 2 - (x - z) ** 2).sum(-1) + 0.7, 0).mean(),
    ),
    "gaussian": Row(
        "losses.gaussian(x, y, v)", {"x": some(3, 4), "y": some(3, 4), "v": some(3, 4)},
        lambda x, y, v: (v / 2 + (x - y) ** 2 / np.exp(v) / 2).mean(),
    ),
    "poisson": Row("losses.poisson(x, target)", {"x": some(4), "target": some(4)}, lambda x, target: (np.exp(x) - target * x).mean()),
    "ctc": Row("losses.ctc(x, at)", {"x": some(5, 3), "at": np.array([1, 2])}, lambda x, at: ctc(x, at)),
    "ctc_repeat": Row("losses.ctc(x, at)", {"x": some(5, 3), "at": np.array([2, 2, 1])}, lambda x, at: ctc(x, at)),
    "accuracy": Row("losses.accuracy(x, at)", CLASSES, lambda x, at: np.float32((x.argmax(-1) == at).mean()), smooth=False),
    "accuracy_of_best": Row("losses.accuracy_of_best(x, at, 2)", CLASSES, lambda x, at: best(x, at, 2), smooth=False),
    "confusion": Row("losses.confusion(x, at)", {"x": some(9, 4), "at": labels(9, classes=4)}, lambda x, at: crossed(x, at), smooth=False),
}  # fmt: skip

# ---- linear algebra, optimizers, lists ----


def positive(n):
    x = some(n, n)
    return x @ x.T + n * np.eye(n)


def adam(w, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    return w - 0.1 * (m / (1 - 0.9**3)) / (np.sqrt(v / (1 - 0.99**3)) + 1e-8), m, v


def lower(a):
    return np.linalg.cholesky((np.tril(a) + np.tril(a, -1).T))


def signed_qr(a):
    q, r = np.linalg.qr(a)
    sign = np.where(np.diagonal(r) < 0, -1.0, 1.0)
    return q * sign, r * sign[:, None]


SYMMETRIC = "(a + transpose(a, perm = (1, 0)))"
MOMENTS = "optim.Moments(first = m, second = v, power1 = 0.81, power2 = 0.9801)"

OTHERS = {
    "cholesky": Row("linalg.cholesky(a)", {"a": positive(4)}, lower),
    "cholesky_whole": Row(f"linalg.cholesky_whole(0.5 * {SYMMETRIC})", {"a": positive(4)}, lambda a: np.linalg.cholesky((a + a.T) / 2)),
    "cholesky_solve": Row("linalg.cholesky_solve(a, b)", {"a": positive(3), "b": some(3, 2)}, lambda a, b: np.linalg.solve(lower(a) @ lower(a).T, b)),
    "solve_lower": Row("linalg.solve_lower(a, b)", {"a": positive(3), "b": some(3, 2)}, lambda a, b: np.linalg.solve(np.tril(a), b)),
    "solve_upper": Row("linalg.solve_upper(a, b)", {"a": positive(3), "b": some(3, 2)}, lambda a, b: np.linalg.solve(np.triu(a), b)),
    "solve": Row("linalg.solve(a, b)", {"a": some(4, 4) + 2 * np.eye(4)[::-1], "b": some(4, 2)}, np.linalg.solve),
    "inverse": Row("linalg.inverse(a)", {"a": positive(3)}, np.linalg.inv),
    "determinant": Row("linalg.determinant(a)", {"a": some(4, 4)}, np.linalg.det),
    "qr": Row("linalg.qr(a)", {"a": some(4, 3)}, signed_qr, count=2),
    "qr_of_diagonal": Row("linalg.qr(a)", {"a": np.diag([3.0, -2.0, 1.0])}, signed_qr, count=2),
    "reflected_qr": Row("linalg.reflected_qr(a)", {"a": some(5, 3)}, lambda a: tuple(np.linalg.qr(a)), count=2),
    "householder": Row("{ let (p, f) = linalg.householder(a)\nlinalg.householder_product(p, f) }", {"a": some(5, 3)}, lambda a: np.linalg.qr(a)[0]),
    "symmetric_eigen": Row(f"linalg.symmetric_eigen({SYMMETRIC}).0", {"a": some(4, 4)}, lambda a: np.linalg.eigvalsh(a + a.T)),
    "eigenvectors": Row(f"linalg.symmetric_eigen({SYMMETRIC}).1**2.0", {"a": some(6, 6)}, lambda a: np.linalg.eigh(a + a.T)[1] ** 2),
    "eigen_of_diagonal": Row(f"linalg.symmetric_eigen({SYMMETRIC}).1**2.0", {"a": np.diag([3.0, -1.0, 2.0])}, lambda a: np.linalg.eigh(a + a.T)[1] ** 2),
    "singular_values": Row("linalg.singular_values(a).1", {"a": some(5, 3)}, lambda a: np.linalg.svd(a)[1]),
    "singular_vectors": Row(
        "{ let (u, s, v) = linalg.singular_values(a)\n(u**2.0, v**2.0, u * s @ v) }", {"a": some(5, 3)},
        lambda a: (np.linalg.svd(a)[0][:, :3] ** 2, np.linalg.svd(a)[2] ** 2, a), count=3,
    ),
    "conjugate_gradients": Row(
        "linalg.conjugate_gradients(fn(x) { a @ x }, b, 1e-13, 20).0", {"a": positive(3), "b": some(3)}, np.linalg.solve, smooth=False,
    ),
    "sgd": Row("optim.sgd(w, g, 0.1)", {"w": some(3), "g": some(3)}, lambda w, g: w - 0.1 * g),
    "momentum": Row("optim.momentum(w, g, v, 0.1, 0.9)", {"w": some(3), "g": some(3), "v": some(3)}, lambda w, g, v: (w - 0.1 * (0.9 * v + g), 0.9 * v + g), count=2),
    "nesterov": Row(
        "optim.nesterov(w, g, v, 0.1, 0.9)", {"w": some(3), "g": some(3), "v": some(3)},
        lambda w, g, v: (w - 0.1 * (g + 0.9 * (0.9 * v + g)), 0.9 * v + g), count=2,
    ),
    "rmsprop": Row(
        "optim.rmsprop(w, g, v, 0.1, 0.9, 1e-3).0", {"w": some(3), "g": some(3), "v": some(3, low=0.1)},
        lambda w, g, v: w - 0.1 * g / (np.sqrt(0.9 * v + 0.1 * g * g) + 1e-3),
    ),
    "adagrad": Row(
        "optim.adagrad(w, g, v, 0.1, 1e-3).0", {"w": some(3), "g": some(3), "v": some(3, low=0.1)},
        lambda w, g, v: w - 0.1 * g / (np.sqrt(v + g * g) + 1e-3),
    ),
    "adam": Row(
        f"{{ let (w, m) = optim.adam(w, g, {MOMENTS}, 0.1, 0.9, 0.99, 1e-8)\n(w, m.first, m.second) }}",
        {"w": some(3), "g": some(3), "m": some(3), "v": some(3, low=0.1)}, adam, count=3,
    ),
    "warm_cosine": Row(
        "optim.warm_cosine(step, 10.0, 100.0, rate)", {"step": np.array(37.0), "rate": np.array(0.2)},
        lambda step, rate: rate * 0.5 * (1 + np.cos(np.pi * (step - 10) / 90)),
    ),
    "exponential": Row(
        "optim.exponential(step, factor, 10.0, rate)", {"step": np.array(37.0), "factor": np.array(0.5), "rate": np.array(0.2)},
        lambda step, factor, rate: rate * factor ** (step / 10),
    ),
    "norm": Row("optim.norm((x, y), 0.0)", {"x": some(3), "y": some(2, 2)}, lambda x, y: np.sqrt((x * x).sum() + (y * y).sum())),
    "clip": Row("optim.clip((x, y), 0.5)", {"x": some(3), "y": some(2, 2)}, lambda x, y: tuple(0.5 * z / np.sqrt((x * x).sum() + (y * y).sum()) for z in (x, y)), count=2),
    "list_map": Row("list.fold(fn(s, r) { s + r }, x[0] * 0.0, list.map(fn(r) { sin(r) }, list.from_rows(x)))", {"x": some(4, 3)}, lambda x: np.sin(x).sum(0)),
    "list_fold": Row("list.fold(fn(s, r) { s * 0.5 + r * s }, x[0], list.from_rows(x))", {"x": some(4, 3)}, lambda x: folded(x)),
    "list_sort": Row(
        "list.fold(fn(s, r) { 0.5 * s + r }, 0.0, list.sort(fn(a, b) { a < b }, list.from_rows(x)))", {"x": apart(6)},
        lambda x: sum(np.sort(x) * 0.5 ** np.arange(5, -1, -1)),
    ),
    "list_zip": Row(
        "list.fold(fn(s, r) { s + r }, x[0] * 0.0, list.zip_with(fn(a, b) { a * b }, list.reverse(list.from_rows(x)), list.from_rows(y)))", {"x": some(4, 3), "y": some(4, 3)},
        lambda x, y: (x[::-1] * y).sum(0),
    ),
    "iterate": Row("iteration.iterate(fn(y) { sin(y) + x }, 5, x)", {"x": some(3)}, lambda x: iterated(x)),
    "init_full": Row("init.full(x, c)", {"x": some(2, 3), "c": np.array(0.7)}, lambda x, c: 0 * x + c),
    "init_normal": Row("init.normal(7, x, m, d) - (m + d * random.normal(7, x))", {"x": some(3), "m": np.array(0.3), "d": np.array(2.0)}, lambda x, m, d: 0 * x * m * d),
    "dropout": Row("grad(fn(x) { sum(random.dropout(7, 0.5, x)) })(x) * x - random.dropout(7, 0.5, x)", {"x": some(20)}, lambda x: 0 * x),
    "uniform": Row(
        "random.uniform(7, x, l, h) - (l + (h - l) * random.uniform(7, x, 0.0, 1.0))", {"x": some(3), "l": np.array(0.3), "h": np.array(2.0)},
        lambda x, l, h: 0 * x * l * h,
    ),
}  # fmt: skip


def folded(x):
    s = x[0]
    for r in x:
        s = s * 0.5 + r * s
    return s


def iterated(x):
    y = x
    for _ in range(5):
        y = np.sin(y) + x
    return y


FAMILIES = {"layers": LAYERS, "attention": ATTENTION, "recurrent": RECURRENT, "losses": LOSSES, "others": OTHERS}
