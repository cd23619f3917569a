"""Further kinds of networks for random_networks.py: state spaces, mixtures of experts, graphs, sound, windows, tables."""

import math

import numpy as np
from network_blocks import Net, attend, cross_attention, cut, feed_forward, fused_attention, group_norm, heads_of, number, scan, split
from onnx import TensorProto, helper

TWICE = np.array([1, 1, 2, 2], np.float32)


def state_space(d):
    """Mamba: a gated product, a short causal convolution, and a scan whose decay the input selects."""
    width, tokens, states = d.near(24, 160), d.near(8, 120), d.pick(4, 8, 16)
    n, inner = Net(d, 1, tokens, width), 2 * width
    x, rank = "x", max(2, width // 16)
    for _ in range(d.whole(1, 3)):
        y, gate = split(n, n.linear(n.rms_norm(x, width), width, 2 * inner), [inner, inner], 2)
        y = n.convolve(n.op("Transpose", y, perm=[0, 2, 1]), inner, inner, [4], 1, inner, act="silu", pads=[3, 0])
        y = n.op("Transpose", y, perm=[2, 0, 1])
        step, b, c = split(n, n.linear(y, inner, rank + 2 * states), [rank, states, states], 2)
        step = n.op("Softplus", n.linear(step, rank, inner))
        a = n.constant(-np.tile(np.arange(1, states + 1, dtype=np.float32), (inner, 1)))

        def body(m, h, given, a):
            step, b, c, y = (m.op("Reshape", g, m.ints(*s)) for g, s in zip(given, [(-1, 1), (1, -1), (-1, 1), (-1, 1)]))
            h = m.op("Add", m.op("Mul", h, m.op("Exp", m.op("Mul", step, a))), m.op("Mul", m.op("Mul", step, y), b))
            return h, m.op("Reshape", m.op("MatMul", h, c), m.ints(1, -1)), [1, inner]

        steps = [(step, [1, inner]), (b, [1, states]), (c, [1, states]), (y, [1, inner])]
        out = scan(n, n.constant(np.zeros((inner, states), np.float32)), [inner, states], steps, a, body)
        out = n.op("Add", out, n.op("Mul", y, n.normal(inner, scale=1)))
        out = n.op("Mul", n.op("Transpose", out, perm=[1, 0, 2]), n.activate(gate, "silu"))
        x = n.op("Add", x, n.linear(out, inner, width))
    return n, n.linear(n.rms_norm(x, width), width, d.near(20, 500))


def token_shift(d):
    """RWKV: products of shifted tokens, a decaying sum in each channel, unrolled, and a squared ReLU."""
    width, tokens = d.near(32, 256), d.near(4, 24)
    n, x = Net(d, 1, tokens, width), "x"
    for _ in range(d.whole(1, 3)):
        mixed = []
        y = n.norm(x, width)
        before = cut(n, n.op("Pad", y, n.ints(0, 1, 0, 0, 0, 0)), 1, 0, tokens)
        for _ in range(3):
            mu = np.random.default_rng(len(n.nodes)).random(width).astype(np.float32)
            parts = n.op("Mul", y, n.constant(mu)), n.op("Mul", before, n.constant(1 - mu))
            mixed.append(n.op("MatMul", n.op("Add", *parts), n.normal(width, width, scale=width**-0.5)))
        r, k, v = n.op("Sigmoid", mixed[0]), n.op("Exp", mixed[1]), mixed[2]
        decay = n.op("Exp", n.op("Neg", n.op("Exp", n.normal(1, 1, width, scale=1))))
        over, under, out = None, None, []
        for t in range(tokens):
            kt, vt = cut(n, k, 1, t, t + 1), cut(n, v, 1, t, t + 1)
            kv = n.op("Mul", kt, vt)
            over = kv if over is None else n.op("Add", n.op("Mul", over, decay), kv)
            under = kt if under is None else n.op("Add", n.op("Mul", under, decay), kt)
            out.append(n.op("Div", over, under))
        y = n.op("Mul", r, n.op("Concat", *out, axis=1))
        x = n.op("Add", x, n.op("MatMul", y, n.normal(width, width, scale=width**-0.5)))
        y = n.op("Relu", n.op("MatMul", n.norm(x, width), n.normal(width, 3 * width, scale=width**-0.5)))
        x = n.op("Add", x, n.op("MatMul", n.op("Mul", y, y), n.normal(3 * width, width, scale=width**-0.5)))
    return n, n.linear(n.norm(x, width), width, d.near(20, 500))


def experts(d):
    """A mixture of experts: a router, the best of which get their weights back by a scatter, and products in a batch of experts."""
    heads, each, tokens, count = d.pick(2, 4), d.pick(16, 32, 48), d.near(8, 100), d.pick(4, 6, 8)
    width, x = heads * each, "x"
    n, inner = Net(d, 1, tokens, width), d.near(width, 3 * width)
    for _ in range(d.whole(1, 3)):
        x = n.op("Add", x, n.attention(n.norm(x, width), tokens, width, heads))
        y = n.op("Reshape", n.norm(x, width), n.ints(tokens, width))
        scores = n.op("Softmax", n.linear(y, width, count), axis=-1)
        values, places = f"v{len(n.nodes)}", f"p{len(n.nodes)}"
        n.nodes.append(helper.make_node("TopK", [scores, n.ints(2)], [values, places], axis=-1))
        values = n.op("Div", values, n.op("ReduceSum", values, n.ints(-1)))
        gates = n.op("ScatterElements", n.constant(np.zeros((tokens, count), np.float32)), places, values, axis=1)
        y = n.op("Unsqueeze", y, n.ints(0))
        hidden = n.activate(n.op("MatMul", y, n.normal(count, width, inner, scale=width**-0.5)), "silu")
        hidden = n.op("Mul", hidden, n.op("MatMul", y, n.normal(count, width, inner, scale=width**-0.5)))
        out = n.op("MatMul", hidden, n.normal(count, inner, width, scale=inner**-0.5))
        gates = n.op("Unsqueeze", n.op("Transpose", gates, perm=[1, 0]), n.ints(2))
        out = n.op("ReduceSum", n.op("Mul", out, gates), n.ints(0))
        x = n.op("Add", x, out)
    return n, n.linear(n.norm(x, width), width, d.near(20, 500))


def diffusion(d):
    """The U-Net of latent diffusion: group normalization, SiLU, an embedding of the time, attention over the image."""
    side, c, groups = d.pick(8, 16, 24, 32), d.pick(32, 48, 64), d.pick(4, 8, 16)
    n, heads, skips = Net(d, d.pick(1, 2), 4, side, side), d.pick(1, 2, 4), []
    time = n.activate(n.linear(n.normal(1, c, scale=1), c, 4 * c), "silu")
    x, width, depth = n.convolve("x", 4, c, [3, 3], act=None), c, d.whole(1, 2)

    def block(x, cin, out):
        y = n.convolve(n.activate(group_norm(n, x, cin, groups), "silu"), cin, out, [3, 3], act=None)
        y = n.op("Add", y, n.op("Unsqueeze", n.linear(time, 4 * c, out), n.ints(2, 3)))
        y = n.convolve(n.activate(group_norm(n, y, out, groups), "silu"), out, out, [3, 3], act=None)
        return n.op("Add", y, x if cin == out else n.convolve(x, cin, out, [1, 1], act=None))

    def over_image(x, c, side):
        y = n.op("Transpose", n.op("Reshape", group_norm(n, x, c, groups), n.ints(0, c, side * side)), perm=[0, 2, 1])
        y = n.op("Add", y, n.attention(n.norm(y, c), side * side, c, heads))
        y = n.op("Add", y, feed_forward(n, n.norm(y, c), c, 2, "gelu"))
        return n.op("Add", x, n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1]), n.ints(0, c, side, side)))

    for level in range(depth):
        x, width = block(x, width, c << level), c << level
        skips.append((x, width))
        x, side = n.convolve(x, width, width, [3, 3], 2, act=None), side // 2
    x = block(over_image(block(x, width, width), width, side), width, width)
    for skip, out in reversed(skips):
        x = n.op("Resize", x, "", n.constant(TWICE), mode="nearest")
        x = n.op("Concat", n.convolve(x, width, width, [3, 3], act=None), skip, axis=1)
        x, width = block(x, width + out, out), out
    return n, n.convolve(n.activate(group_norm(n, x, width, groups), "silu"), width, 4, [3, 3], act=None)


def querying(d):
    """DETR: an encoder over the image, a decoder of learned queries with cross attention."""
    size, heads, each = d.pick(64, 96, 128), d.pick(2, 4, 8), d.pick(16, 32)
    n, width, queries = Net(d, 1, 3, size, size), heads * each, d.near(10, 100)
    x, c = "x", 3
    for level in range(4):
        x, c = n.convolve(x, c, d.near(16, 32) << level, [3, 3], 2), n.last
    side = size // 16
    tokens = side * side
    x = n.op("Transpose", n.op("Reshape", n.convolve(x, c, width, [1, 1], act=None), n.ints(1, width, tokens)), perm=[0, 2, 1])
    for _ in range(d.whole(1, 2)):
        x = n.norm(n.op("Add", x, n.attention(n.op("Add", x, n.normal(1, tokens, width, scale=0.1)), tokens, width, heads)), width)
        x = n.norm(n.op("Add", x, feed_forward(n, x, width, 2, "relu")), width)
    q = n.normal(1, queries, width, scale=1)
    for _ in range(d.whole(1, 3)):
        q = n.norm(n.op("Add", q, n.attention(q, queries, width, heads)), width)
        q = n.norm(n.op("Add", q, cross_attention(n, q, queries, x, tokens, width, heads)), width)
        q = n.norm(n.op("Add", q, feed_forward(n, q, width, 2, "relu")), width)
    box = n.activate(n.linear(n.activate(n.linear(q, width, width), "relu"), width, 4), "Sigmoid")
    return n, n.op("Concat", n.op("Softmax", n.linear(q, width, d.near(5, 100)), axis=-1), box, axis=2)


def partial(d):
    """YOLO: stages that split their channels, pools in a row, levels that are upsampled and concatenated, decoded boxes."""
    size, c = d.pick(96, 128, 160, 192), d.pick(8, 12, 16, 24)
    n, levels, classes = Net(d, 1, 3, size, size), [], d.near(1, 80)

    def stage(x, cin, out, depth, add=True):
        mid = out // 2
        parts = split(n, n.convolve(x, cin, 2 * mid, [1, 1], act="silu"), [mid, mid], 1)
        for _ in range(depth):
            y = n.convolve(n.convolve(parts[-1], mid, mid, [3, 3], act="silu"), mid, mid, [3, 3], act="silu")
            parts.append(n.op("Add", parts[-1], y) if add else y)
        return n.convolve(n.op("Concat", *parts, axis=1), mid * len(parts), out, [1, 1], act="silu")

    x = n.convolve("x", 3, c, [3, 3], 2, act="silu")
    for level in range(4):
        x = stage(n.convolve(x, c, 2 * c, [3, 3], 2, act="silu"), 2 * c, 2 * c, d.whole(1, 2)) if level < 3 else x
        c = 2 * c if level < 3 else c
        levels.append((x, c))
    y = n.convolve(x, c, c // 2, [1, 1], act="silu")
    pools = [y]
    for _ in range(3):
        pools.append(n.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
    x = n.convolve(n.op("Concat", *pools, axis=1), 2 * c, c, [1, 1], act="silu")
    skip, of_skip = levels[1]
    up = n.op("Resize", x, "", n.constant(TWICE), mode="nearest")
    up = stage(n.op("Concat", up, skip, axis=1), c + of_skip, of_skip, 1, False)
    found = []
    for y, wide, side in (up, of_skip, size // 8), (x, c, size // 16):
        box = n.convolve(n.convolve(y, wide, 16, [3, 3], act="silu"), 16, 64, [1, 1], act=None)
        label = n.convolve(n.convolve(y, wide, max(16, classes), [3, 3], act="silu"), max(16, classes), classes, [1, 1], act=None)
        found.append(n.op("Reshape", n.op("Concat", box, label, axis=1), n.ints(1, 64 + classes, side * side)))
    cells = (size // 8) ** 2 + (size // 16) ** 2
    box, label = split(n, n.op("Concat", *found, axis=2), [64, classes], 1)
    box = n.op("Transpose", n.op("Reshape", box, n.ints(1, 4, 16, cells)), perm=[0, 2, 1, 3])
    box = n.op("Conv", n.op("Softmax", box, axis=1), n.constant(np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1)))
    near, far = split(n, n.op("Reshape", box, n.ints(1, 4, cells)), [2, 2], 1)
    anchor = n.normal(1, 2, cells, scale=10)
    near, far = n.op("Sub", anchor, near), n.op("Add", anchor, far)
    middle = n.op("Div", n.op("Add", near, far), number(n, 2))
    return n, n.op("Concat", middle, n.op("Sub", far, near), n.op("Sigmoid", label), axis=1)


def points(d):
    """PointNet and DGCNN: the same products for each point, the nearest neighbours of each, maxima over them."""
    count, near, x, c = d.near(64, 500), d.pick(4, 8, 16), "x", 3
    n = Net(d, 1, 3, count)
    for _ in range(d.whole(0, 2)):
        square = n.op("ReduceSum", n.op("Mul", x, x), n.ints(1))
        inner = n.op("MatMul", n.op("Transpose", x, perm=[0, 2, 1]), x)
        far = n.op("Sub", n.op("Sub", n.op("Mul", inner, number(n, 2)), square), n.op("Transpose", square, perm=[0, 2, 1]))
        best, places = f"v{len(n.nodes)}", f"p{len(n.nodes)}"
        n.nodes.append(helper.make_node("TopK", [far, n.ints(near)], [best, places], axis=-1))
        rows = n.op("Reshape", n.op("Transpose", x, perm=[0, 2, 1]), n.ints(count, c))
        others = n.op("Gather", rows, n.op("Reshape", places, n.ints(count, near)), axis=0)
        own = n.op("Expand", n.op("Unsqueeze", rows, n.ints(1)), n.ints(count, near, c))
        edge = n.op("Transpose", n.op("Concat", n.op("Sub", others, own), own, axis=2), perm=[2, 0, 1])
        out = d.near(16, 80)
        y = n.convolve(n.op("Unsqueeze", edge, n.ints(0)), 2 * c, out, [1, 1], act="LeakyRelu")
        x, c = n.op("ReduceMax", y, n.ints(3), keepdims=0), out
    for _ in range(d.whole(2, 4)):
        out = d.near(32, 300)
        x, c = n.activate(n.batch_norm(n.convolve(x, c, out, [1], act=None), out), "relu"), out
    whole = n.op("ReduceMax", x, n.ints(2))
    if d.r.random() < 0.5:
        x = n.op("Concat", x, n.op("Expand", whole, n.ints(1, c, count)), axis=1)
        return n, n.convolve(n.convolve(x, 2 * c, d.pick(64, 100), [1]), n.last, d.near(3, 50), [1], act=None)
    return n, n.linear(n.activate(n.linear(n.op("Flatten", whole), c, 128), "relu"), 128, d.near(5, 60))


def messages(d):
    """A network over a graph: nodes are gathered along edges, and what the edges compute is summed where they end."""
    nodes, degree, c = d.near(50, 1500), d.whole(2, 8), d.near(8, 64)
    n, width, x = Net(d, nodes, c), d.near(16, 128), "x"
    r = np.random.default_rng(nodes)
    edges = nodes * degree
    start, end = (r.integers(0, nodes, edges) for _ in range(2))
    start, target, end = n.constant(start), end, n.constant(end)
    way, kind = n.constant(target.reshape(-1, 1)), d.pick("sum", "edge", "attention")
    for _ in range(d.whole(1, 3)):
        zeros = n.constant(np.zeros((nodes, width), np.float32))
        if kind == "sum":
            y = n.op("Gather", n.linear(x, c, width), start, axis=0)
        elif kind == "edge":
            y = n.op("Concat", n.op("Gather", x, start, axis=0), n.op("Gather", x, end, axis=0), axis=1)
            y = n.linear(n.activate(n.linear(y, 2 * c, width), "silu"), width, width)
        else:
            h = n.linear(x, c, width)
            score = n.op("Add", n.op("Gather", n.linear(h, width, 1), start, axis=0), n.op("Gather", n.linear(h, width, 1), end, axis=0))
            score = n.op("Exp", n.op("LeakyRelu", score, alpha=0.2))
            total = n.op("ScatterND", n.constant(np.full((nodes, 1), 1e-6, np.float32)), way, score, reduction="add")
            y = n.op("Mul", n.op("Gather", h, start, axis=0), n.op("Div", score, n.op("Gather", total, end, axis=0)))
        y = n.op("ScatterND", zeros, way, y, reduction="add")
        x, c = n.activate(n.norm(n.op("Add", y, n.linear(x, c, width)), width), "relu"), width
    return n, n.linear(n.op("ReduceMean", x, n.ints(0)), c, d.near(2, 40))


def sounding(d):
    """wav2vec: strided convolutions over samples, a grouped convolution as position, a transformer."""
    heads, each, length = d.pick(2, 4), d.pick(16, 32), d.near(1500, 12000)
    n, width, c = Net(d, 1, 1, length), heads * each, d.near(24, 96)
    x, cin = "x", 1
    for k, stride in (10, 5), (3, 2), (3, 2), (3, 2), (2, 2):
        y = n.convolve(x, cin, c, [k], stride, act=None, pads=[0, 0])
        length, cin = (length - k) // stride + 1, c
        y = n.op("InstanceNormalization", y, n.normal(c, scale=1), n.normal(c, scale=0.1)) if x == "x" else y
        x = n.activate(y, "gelu")
    x = n.op("Transpose", x, perm=[0, 2, 1])
    x, k = n.linear(n.norm(x, c), c, width), d.pick(15, 31)
    place = n.activate(n.convolve(n.op("Transpose", x, perm=[0, 2, 1]), width, width, [k], 1, d.pick(4, 8), act=None), "gelu")
    x = n.norm(n.op("Add", x, n.op("Transpose", place, perm=[0, 2, 1])), width)
    for _ in range(d.whole(1, 3)):
        x = n.norm(n.op("Add", x, n.attention(x, length, width, heads)), width)
        x = n.norm(n.op("Add", x, feed_forward(n, x, width, 3, "gelu")), width)
    return n, n.op("LogSoftmax", n.linear(x, width, d.near(20, 60)), axis=-1)


def conformer(d):
    """Halves of a feed-forward block around attention and a gated depthwise convolution over time."""
    heads, each, tokens, k = d.pick(2, 4), d.pick(16, 32, 36, 64), d.near(20, 200), d.pick(7, 15, 31)
    width, x = heads * each, "x"
    n, half = Net(d, d.pick(1, 1, 2), tokens, width), None
    half = number(n, 0.5)
    for _ in range(d.whole(1, 3)):
        x = n.op("Add", x, n.op("Mul", feed_forward(n, n.norm(x, width), width, 4, "silu"), half))
        x = n.op("Add", x, n.attention(n.norm(x, width), tokens, width, heads))
        y = n.convolve(n.op("Transpose", n.norm(x, width), perm=[0, 2, 1]), width, 2 * width, [1], act=None)
        y, gate = split(n, y, [width, width], 1)
        y = n.convolve(n.op("Mul", y, n.op("Sigmoid", gate)), width, width, [k], 1, width, act=None)
        y = n.convolve(n.activate(n.batch_norm(y, width), "silu"), width, width, [1], act=None)
        x = n.op("Add", x, n.op("Transpose", y, perm=[0, 2, 1]))
        x = n.op("Add", x, n.op("Mul", feed_forward(n, n.norm(x, width), width, 4, "silu"), half))
        x = n.norm(x, width)
    return n, n.op("LogSoftmax", n.linear(x, width, d.near(20, 300)), axis=-1)


def vocoder(d):
    """HiFi-GAN: transposed convolutions over time, and dilated residual blocks of several kernels, averaged."""
    mel, frames, c = d.pick(20, 40, 80), d.near(8, 60), d.pick(32, 48, 64, 96)
    n = Net(d, 1, mel, frames)
    x = n.convolve("x", mel, c, [7], act=None)
    for _ in range(d.whole(2, 3)):
        k, stride = d.pick((4, 2), (8, 4), (16, 8))
        w = n.normal(c, c // 2, k, scale=(c * k / stride) ** -0.5)
        pads = [(k - stride) // 2] * 2
        x = n.op("ConvTranspose", n.activate(x, "LeakyRelu"), w, n.normal(c // 2, scale=0.1), kernel_shape=[k], strides=[stride], pads=pads)
        c, total = c // 2, None
        for k in (3, 7, 11)[: d.whole(2, 3)]:
            y = x
            for dilation in (1, 3):
                z = n.convolve(n.activate(y, "LeakyRelu"), c, c, [k], 1, 1, dilation, act=None)
                z = n.convolve(n.activate(z, "LeakyRelu"), c, c, [k], act=None)
                y = n.op("Add", y, z)
            total = n.op("Add", total, y) if total else y
        x = n.op("Div", total, number(n, 3))
    return n, n.op("Tanh", n.convolve(n.activate(x, "LeakyRelu"), c, 1, [7], act=None))


def tabular(d):
    """Columns of numbers and of categories, whose embeddings are looked up, and a residual perceptron."""
    batch, numeric, categories = d.pick(1, 1, 8, 32, 128), d.near(5, 100), d.whole(0, 6)
    n, parts = Net(d, batch, numeric + categories), []
    c = numeric
    y = cut(n, "x", 1, 0, numeric)
    parts.append(n.batch_norm(y, numeric) if d.r.random() < 0.5 else y)
    for k in range(categories):
        column = n.op("Clip", n.op("Abs", cut(n, "x", 1, numeric + k, numeric + k + 1)), number(n, 0), number(n, 2.5))
        which = n.op("Cast", n.op("Mul", column, number(n, 4)), to=TensorProto.INT64)
        parts.append(n.op("Gather", n.normal(11, d.pick(4, 8, 16), scale=1), n.op("Squeeze", which, n.ints(1)), axis=0))
        c += n.last
    x, a = n.op("Concat", *parts, axis=1) if categories else parts[0], d.pick("relu", "gelu", "silu", "Selu")
    width = d.near(32, 512)
    x = n.linear(x, c, width)
    for _ in range(d.whole(1, 5)):
        y = n.norm(x, width) if d.r.random() < 0.5 else n.batch_norm(x, width)
        x = n.op("Add", x, n.linear(n.activate(n.linear(y, width, width), a), width, width))
    return n, n.linear(n.activate(x, a), width, d.pick(1, 2, 10))


def siamese(d):
    """Two images by the same layers, their embeddings compared."""
    size, c, x = d.pick(32, 48, 64, 96), 3, "x"
    n = Net(d, 2, 3, size, size)
    for level in range(d.whole(3, 4)):
        out = d.near(12, 48) << (level // 2)
        stride = d.pick(1, 1, 2)
        x, c, size = n.convolve(x, c, out, [3, 3], stride), out, math.ceil(size / stride)
        if size > 1:
            x, size = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), size // 2
    x = n.linear(n.op("Flatten", n.op("GlobalAveragePool", x)), c, 64)
    x = n.op("Div", x, n.op("ReduceL2", x, n.ints(1)))
    a, b = split(n, x, [1, 1], 0)
    away = n.op("Abs", n.op("Sub", a, b))
    near = n.op("ReduceSum", n.op("Mul", a, b), n.ints(1))
    return n, n.op("Sigmoid", n.op("Add", n.linear(away, 64, 1), near))


def windows(d):
    """Swin: attention in windows that are rolled every second time, patches that are merged."""
    window, count, heads, each = d.pick(4, 7), d.pick(2, 4), d.pick(2, 3, 4), d.pick(16, 32)
    side, width = window * count, heads * each
    n = Net(d, 1, 3, 4 * side, 4 * side)
    x = n.convolve("x", 3, width, [4, 4], 4, act=None, pads=[0] * 4)
    x = n.norm(n.op("Transpose", n.op("Reshape", x, n.ints(1, width, side * side)), perm=[0, 2, 1]), width)

    def roll(x, by, side):
        for axis in 1, 2:
            x = n.op("Concat", cut(n, x, axis, by % side, None), cut(n, x, axis, 0, by % side), axis=axis)
        return x

    for stage in range(2 if count == 4 else 1):
        for shift in (0, window // 2) * d.whole(1, 2):
            tokens, c = window * window, side // window
            y = n.op("Reshape", n.norm(x, width), n.ints(1, side, side, width))
            y = roll(y, shift, side) if shift else y
            y = n.op("Transpose", n.op("Reshape", y, n.ints(1, c, window, c, window, width)), perm=[0, 1, 3, 2, 4, 5])
            y = n.op("Reshape", y, n.ints(c * c, tokens, width))
            y = fused_attention(n, y, tokens, width, heads, n.normal(1, heads, tokens, tokens, scale=0.1))
            y = n.op("Transpose", n.op("Reshape", y, n.ints(1, c, c, window, window, width)), perm=[0, 1, 3, 2, 4, 5])
            y = n.op("Reshape", y, n.ints(1, side, side, width))
            y = roll(y, -shift, side) if shift else y
            x = n.op("Add", x, n.op("Reshape", y, n.ints(1, side * side, width)))
            x = n.op("Add", x, feed_forward(n, n.norm(x, width), width, 4, "gelu"))
        if not stage and count == 4:
            y = n.op("Reshape", x, n.ints(1, side, side, width))
            parts = [cut(n, cut(n, y, 1, i, None, 2), 2, j, None, 2) for j in range(2) for i in range(2)]
            side, heads = side // 2, 2 * heads
            y = n.op("Reshape", n.op("Concat", *parts, axis=3), n.ints(1, side * side, 4 * width))
            x, width = n.op("MatMul", n.norm(y, 4 * width), n.normal(4 * width, 2 * width, scale=width**-0.5)), 2 * width
    return n, n.linear(n.op("ReduceMean", n.norm(x, width), n.ints(1), keepdims=0), width, d.near(10, 1000))


def reading(d):
    """Optical character recognition: convolutions that flatten the height, recurrent layers, the scores that CTC takes."""
    height, length, c = 32, d.pick(64, 96, 128, 160), 1
    n, x = Net(d, 1, 1, height, length), "x"
    for level, pool in enumerate(([2, 2], [2, 2], [2, 1], [2, 1])):
        out = d.near(16, 40) << min(level, 2)
        x = n.convolve(x, c, out, [3, 3], act=None)
        x, c = n.op("MaxPool", n.activate(n.batch_norm(x, out), "relu"), kernel_shape=pool, strides=pool), out
    x, c = n.convolve(x, c, out, [2, 1], pads=[0] * 4), out
    x = n.op("Transpose", n.op("Squeeze", x, n.ints(2)), perm=[2, 0, 1])
    op, gates = d.pick(("LSTM", 4), ("GRU", 3))
    for _ in range(d.whole(1, 2)):
        width = d.near(24, 128)
        w, r = n.normal(2, gates * width, c, scale=c**-0.5), n.normal(2, gates * width, width, scale=width**-0.5)
        more = {"linear_before_reset": 1} if op == "GRU" else {}
        x = n.op(op, x, w, r, n.normal(2, 2 * gates * width, scale=0.1), hidden_size=width, direction="bidirectional", **more)
        x, c = n.op("Reshape", n.op("Transpose", x, perm=[0, 2, 1, 3]), n.ints(0, 0, -1)), 2 * width
    return n, n.op("LogSoftmax", n.linear(x, c, d.near(30, 500)), axis=-1)


def translating(d):
    """A recurrent encoder, and a decoder that attends to it at every step."""
    steps, size, width, out = d.near(6, 40), d.near(16, 100), d.near(16, 160), d.near(4, 12)
    n = Net(d, steps, 1, size)
    w, r = n.normal(1, 3 * width, size, scale=size**-0.5), n.normal(1, 3 * width, width, scale=width**-0.5)
    states = n.op("GRU", "x", w, r, n.normal(1, 6 * width, scale=0.1), hidden_size=width, linear_before_reset=1)
    states = n.op("Reshape", states, n.ints(steps, width))
    keys, h, results = n.linear(states, width, width), n.op("Gather", states, n.ints(steps - 1), axis=0), []
    wq, ws = n.normal(width, width, scale=width**-0.5), n.normal(width, 1, scale=width**-0.5)
    wx, wh = n.normal(2 * width, 3 * width, scale=width**-0.5), n.normal(width, 3 * width, scale=width**-0.5)
    one = number(n, 1)
    for _ in range(out):
        score = n.op("MatMul", n.op("Tanh", n.op("Add", keys, n.op("MatMul", h, wq))), ws)
        context = n.op("MatMul", n.op("Transpose", n.op("Softmax", score, axis=0), perm=[1, 0]), states)
        xz, xr, xn = split(n, n.op("MatMul", n.op("Concat", context, h, axis=1), wx), [width] * 3, 1)
        hz, hr, hn = split(n, n.op("MatMul", h, wh), [width] * 3, 1)
        z, r = n.op("Sigmoid", n.op("Add", xz, hz)), n.op("Sigmoid", n.op("Add", xr, hr))
        new = n.op("Tanh", n.op("Add", xn, n.op("Mul", r, hn)))
        h = n.op("Add", n.op("Mul", z, h), n.op("Mul", n.op("Sub", one, z), new))
        results.append(h)
    return n, n.op("Softmax", n.linear(n.op("Concat", *results, axis=0), width, d.near(50, 1000)), axis=-1)


def rotating(d):
    """Llama: rotated queries and keys, keys and values that several heads share, one token after kept ones or all at once."""
    heads, each, shared = d.pick(4, 8), d.pick(16, 32, 64), d.pick(1, 2, 4)
    width, past = heads * each, d.pick(0, 0, d.near(10, 300))
    tokens = 1 if past else d.near(8, 128)
    n, few, total = Net(d, 1, tokens, width), heads // shared, tokens + past
    angle = np.outer(np.arange(past, total), 1e4 ** (-np.arange(each // 2) * 2 / each))
    cos, sin = (n.constant(np.tile(f(angle), 2).astype(np.float32)[None, None]) for f in (np.cos, np.sin))
    mask = n.constant(np.triu(np.full((tokens, total), -1e9, np.float32), 1 + past)) if not past else None

    def rotate(y):
        turned = n.op("Concat", n.op("Neg", cut(n, y, 3, each // 2, None)), cut(n, y, 3, 0, each // 2), axis=3)
        return n.op("Add", n.op("Mul", y, cos), n.op("Mul", turned, sin))

    def product(y, cin, cout):
        return n.op("MatMul", y, n.normal(cin, cout, scale=cin**-0.5))

    def repeat(y):
        if shared == 1:
            return y
        y = n.op("Expand", n.op("Unsqueeze", y, n.ints(2)), n.ints(1, few, shared, total, each))
        return n.op("Reshape", y, n.ints(1, heads, total, each))

    x, grow = "x", d.near(2 * width, 3 * width)
    for _ in range(d.whole(1, 4)):
        y = n.rms_norm(x, width)
        q = rotate(heads_of(n, product(y, width, width), tokens, heads, each))
        k = rotate(heads_of(n, product(y, width, few * each), tokens, few, each))
        v = heads_of(n, product(y, width, few * each), tokens, few, each)
        if past:
            k, v = (n.op("Concat", n.normal(1, few, past, each, scale=1), t, axis=2) for t in (k, v))
        y = attend(n, q, n.op("Transpose", repeat(k), perm=[0, 1, 3, 2]), repeat(v), each, mask)
        x = n.op("Add", x, product(n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.ints(1, tokens, width)), width, width))
        y = n.rms_norm(x, width)
        x = n.op("Add", x, product(n.op("Mul", n.activate(product(y, width, grow), "silu"), product(y, width, grow)), grow, width))
    return n, product(n.rms_norm(x, width), width, d.near(50, 2000))


def segmenting(d):
    """DeepLab: dilated convolutions beside a mean of the image, resized and concatenated."""
    size = d.pick(64, 96, 128, 160)
    n, x, c, skip = Net(d, 1, 3, size, size), "x", 3, None
    for level in range(4):
        out = d.near(12, 24) << min(level, 2)
        x, c = n.convolve(x, c, out, [3, 3], 2 if level < 3 else 1), out
        x = n.op("Add", x, n.convolve(n.convolve(x, c, c, [3, 3], 1, c, act="relu"), c, c, [1, 1], act=None))
        skip = skip or (x, c) if level == 1 else skip
    side, mid = size // 8, d.near(24, 96)
    parts = [n.convolve(x, c, mid, [1, 1])] + [n.convolve(x, c, mid, [3, 3], 1, 1, rate) for rate in (2, 4, 6)]
    pooled = n.convolve(n.op("GlobalAveragePool", x), c, mid, [1, 1])
    parts.append(n.op("Resize", pooled, "", "", n.ints(1, mid, side, side), mode="linear"))
    x = n.convolve(n.op("Concat", *parts, axis=1), 5 * mid, mid, [1, 1])
    x = n.op("Resize", x, "", n.constant(TWICE), mode="linear")
    x = n.op("Concat", x, n.convolve(skip[0], skip[1], 16, [1, 1]), axis=1)
    x = n.convolve(n.convolve(x, mid + 16, mid, [3, 3]), mid, d.near(2, 25), [1, 1], act=None)
    return n, n.op("Softmax", n.op("Resize", x, "", n.constant(TWICE * TWICE), mode="linear"), axis=1)


def parallel(d):
    """HRNet: branches of several resolutions, fused by strided convolutions and by resizing."""
    size, c = d.pick(64, 96, 128), d.near(10, 40)
    n = Net(d, 1, 3, size, size)
    x = n.convolve(n.convolve("x", 3, 32, [3, 3], 2), 32, c, [3, 3], 2)
    levels = [(x, c), (n.convolve(x, c, 2 * c, [3, 3], 2), 2 * c)]
    for _ in range(d.whole(1, 3)):
        levels = [(n.op("Relu", n.op("Add", x, n.convolve(n.convolve(x, w, w, [3, 3]), w, w, [3, 3], act=None))), w) for x, w in levels]
        (a, c), (b, w) = levels
        up = n.op("Resize", n.convolve(b, w, c, [1, 1], act=None), "", n.constant(TWICE), mode="nearest")
        down = n.convolve(a, c, w, [3, 3], 2, act=None)
        levels = [(n.op("Relu", n.op("Add", a, up)), c), (n.op("Relu", n.op("Add", b, down)), w)]
    (a, c), (b, w) = levels
    x = n.op("Concat", a, n.op("Resize", b, "", n.constant(TWICE), mode="linear"), axis=1)
    return n, n.convolve(x, c + w, d.near(5, 30), [1, 1], act=None)


def shuffling(d):
    """ShuffleNet: halves of the channels, depthwise convolutions, a shuffle."""
    size = d.pick(64, 96, 128, 160, 224)
    n, c = Net(d, 1, 3, size, size), d.near(8, 40) * 2
    x, side = n.convolve("x", 3, c, [3, 3], 2), size // 2

    def branch(y, cin, out, stride):
        y = n.convolve(n.convolve(y, cin, out, [1, 1]), out, out, [3, 3], stride, out, act=None)
        return n.convolve(y, out, out, [1, 1])

    def shuffle(x, c, side):
        y = n.op("Transpose", n.op("Reshape", x, n.ints(1, 2, c // 2, side, side)), perm=[0, 2, 1, 3, 4])
        return n.op("Reshape", y, n.ints(1, c, side, side))

    for _ in range(d.whole(2, 4)):
        left = n.convolve(n.convolve(x, c, c, [3, 3], 2, c, act=None), c, c, [1, 1])
        x, c, side = n.op("Concat", left, branch(x, c, c, 2), axis=1), 2 * c, (side + 1) // 2
        x = shuffle(x, c, side)
        for _ in range(d.whole(1, 3)):
            a, b = split(n, x, [c // 2, c // 2], 1)
            x = shuffle(n.op("Concat", a, branch(b, c // 2, c // 2, 1), axis=1), c, side)
    return n, n.head(x, c, d.near(10, 1000))


def language(d):
    """BERT: tokens are looked up, a mask is made of the input, attention after it, pooled by the first token."""
    heads, each, tokens, words = d.pick(2, 4, 6), d.pick(16, 32, 64), d.near(8, 128), d.near(100, 2000)
    n, width = Net(d, 1, tokens), heads * each
    which = n.op("Cast", n.op("Clip", n.op("Mul", n.op("Abs", "x"), number(n, words / 5)), number(n, 0), number(n, words - 1)), to=TensorProto.INT64)
    x = n.op("Add", n.op("Gather", n.normal(words, width, scale=1), which, axis=0), n.normal(1, tokens, width, scale=0.1))
    keep = n.op("Cast", n.op("Greater", which, n.constant(np.array(3, np.int64))), to=TensorProto.FLOAT)
    mask = n.op("Mul", n.op("Sub", number(n, 1), n.op("Unsqueeze", keep, n.ints(1, 2))), number(n, -1e4))
    x = n.norm(x, width)
    for _ in range(d.whole(1, 4)):
        x = n.norm(n.op("Add", x, n.attention(x, tokens, width, heads, mask)), width)
        x = n.norm(n.op("Add", x, feed_forward(n, x, width, 4, "gelu")), width)
    x = n.op("Tanh", n.linear(n.op("Gather", x, n.constant(np.array(0, np.int64)), axis=1), width, width))
    return n, n.linear(x, width, d.near(2, 20))


FAMILIES = {f.__name__: f for f in (state_space, token_shift, experts, diffusion, querying, partial, points, messages, sounding, conformer,
                                    vocoder, tabular, siamese, windows, reading, translating, rotating, segmenting, parallel, shuffling,
                                    language)}  # fmt: skip
