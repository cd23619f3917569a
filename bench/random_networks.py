#!/usr/bin/env python3
"""Networks of random kinds, depths and widths on Wick, ONNX Runtime and OpenVINO, in turns.

    build/venv/bin/python bench/random_networks.py [--seed 1] [--count 100] [--threads 1] [--save FOLDER] [FAMILY ...]

A grammar of blocks makes them, with random weights and odd widths. The ratio is Wick's time over that of the faster of the
peers that run the network, each the least of all rounds. Outputs are compared with ONNX Runtime's.
"""

import io
import warnings

import network_kinds
import numpy as np
import onnx
import random_operators as operators
import unseen
from network_blocks import Net
from onnx import TensorProto, helper
from side_by_side import Runtimes

TOLERANCE = 1e-3


def act(d):
    return d.pick("relu", "relu", "relu", "silu", "hswish", "LeakyRelu", "gelu")


def stem(d, n, size):
    c = d.near(12, 64)
    x = n.convolve("x", 3, c, [d.pick(3, 5, 7)] * 2, 2)
    if d.r.random() < 0.5 and size > 100:
        x = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    return x, c


def images(d):
    size = d.pick(64, 96, 112, 128, 160, 192, 224)
    return Net(d, d.pick(1, 1, 1, 2), 3, size, size), size


def residual(d):
    n, size = images(d)
    (x, c), a = stem(d, n, size), act(d)
    for stage in range(d.whole(2, 4)):
        out = d.near(20, 80) << stage
        for i in range(d.whole(1, 3)):
            stride = 2 if stage and not i else 1
            y = n.batch_norm(n.convolve(x, c, out, [3, 3], stride, act=None), out)
            y = n.convolve(n.activate(y, a), out, out, [3, 3], act=None)
            x = x if c == out and stride == 1 else n.convolve(x, c, out, [1, 1], stride, act=None)
            x, c = n.activate(n.op("Add", x, y), a), out
    return n, n.head(x, c, d.near(10, 1000))


def bottleneck(d):
    n, size = images(d)
    (x, c), a, g = stem(d, n, size), act(d), d.pick(1, 2, 4, 8, 16)
    for stage in range(d.whole(2, 4)):
        mid, grow = d.whole(2, 9) * g << min(stage, 2 if g > 8 else 3), d.pick(2, 4)
        for i in range(d.whole(1, 3)):
            stride = 2 if stage and not i else 1
            y = n.convolve(n.convolve(x, c, mid, [1, 1], act=a), mid, mid, [3, 3], stride, g, act=a)
            y = n.convolve(y, mid, mid * grow, [1, 1], act=None)
            x = x if c == mid * grow and stride == 1 else n.convolve(x, c, mid * grow, [1, 1], stride, act=None)
            x, c = n.activate(n.op("Add", x, y), a), mid * grow
    return n, n.head(x, c, d.near(10, 1000))


def inverted(d):
    n, size = images(d)
    (x, c), a = stem(d, n, size), d.pick("relu", "hswish", "silu")
    for stage in range(d.whole(3, 6)):
        out, grow, k = d.near(12, 40) * (stage + 1), d.pick(2, 3, 4, 6), d.pick(3, 3, 5, 7)
        for i in range(d.whole(1, 3)):
            squeeze = max(4, c // 4) if d.r.random() < 0.4 else 0
            x, c = unseen.inverted(n, x, c, c * grow, out, k, 2 if not i and stage % 2 else 1, a, squeeze, "Sigmoid"), out
    return n, n.head(x, c, d.near(10, 1000))


def dense(d):
    n, size = images(d)
    x, c = stem(d, n, size)
    for stage in range(d.whole(2, 4)):
        grow = d.near(8, 40)
        for _ in range(d.whole(2, 6)):
            y = n.convolve(n.activate(n.batch_norm(x, c), "relu"), c, 3 * grow, [1, 1])
            x, c = n.op("Concat", x, n.convolve(y, 3 * grow, grow, [3, 3], act=None), axis=1), c + grow
        x, c = n.convolve(n.activate(n.batch_norm(x, c), "relu"), c, c // 2, [1, 1], act=None), c // 2
        x = n.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    return n, n.head(x, c, d.near(10, 1000))


def branching(d):
    n, size = images(d)
    x, c = stem(d, n, size)
    for stage in range(d.whole(2, 5)):
        a, b, e, f = (d.near(8, 64) * (1 + stage // 2) for _ in range(4))
        one = n.convolve(x, c, a, [1, 1])
        two = n.convolve(n.convolve(x, c, b // 2 + 1, [1, 1]), b // 2 + 1, b, [3, 3])
        k = d.pick(5, 7)
        three = n.convolve(n.convolve(n.convolve(x, c, e, [1, 1]), e, e, [1, k]), e, e, [k, 1])
        pool = n.op(d.pick("MaxPool", "AveragePool"), x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
        x, c = n.op("Concat", one, two, three, n.convolve(pool, c, f, [1, 1]), axis=1), a + b + e + f
        if stage % 2:
            x = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    return n, n.head(x, c, d.near(10, 1000))


def unet(d):
    size = d.pick(64, 96, 128)
    n = Net(d, 1, d.pick(1, 3), size, size)
    x, c, kept, width = "x", n.shape[1], [], d.near(10, 40)
    depth = d.whole(2, 4)
    for level in range(depth + 1):
        out = width << level
        x, c = n.convolve(n.convolve(x, c, out, [3, 3]), out, out, [3, 3]), out
        if level < depth:
            kept.append((x, c))
            x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    for skip, out in reversed(kept):
        if d.r.random() < 0.6:
            x = n.op("ConvTranspose", x, n.normal(c, out, 2, 2, scale=c**-0.5), kernel_shape=[2, 2], strides=[2, 2])
        else:
            x = n.op("Resize", x, "", n.constant(np.array([1, 1, 2, 2], np.float32)), mode=d.pick("nearest", "linear"))
            x = n.convolve(x, c, out, [1, 1], act=None)
        x, c = n.convolve(n.convolve(n.op("Concat", x, skip, axis=1), 2 * out, out, [3, 3]), out, out, [3, 3]), out
    return n, n.op("Sigmoid", n.convolve(x, c, d.pick(1, 2, 19), [1, 1], act=None))


def detecting(d):
    size = d.pick(128, 160, 192)
    n = Net(d, 1, 3, size, size)
    (x, c), levels = stem(d, n, 0), []
    for level in range(4):
        out = d.near(20, 70) * (level + 1)
        x, c = n.convolve(n.convolve(x, c, out, [3, 3], 2, act="silu"), out, out, [3, 3], act="silu"), out
        levels.append((x, c))
    width, heads, up = d.near(24, 96), [], None
    for y, c in reversed(levels[1:]):
        y = n.convolve(y, c, width, [1, 1], act=None)
        if up:
            y = n.op("Add", y, n.op("Resize", up, "", n.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest"))
        up = y
        box = n.convolve(n.convolve(y, width, width, [3, 3]), width, 24, [3, 3], act=None)
        heads.append(n.op("Reshape", n.op("Transpose", box, perm=[0, 2, 3, 1]), n.ints(1, -1, 6)))
    return n, n.op("Sigmoid", n.op("Concat", *heads, axis=1))


def mixing(d):
    tokens, width = d.near(16, 220), d.near(40, 400)
    n, a = Net(d, d.pick(1, 1, 4), tokens, width), d.pick("gelu", "tanh_gelu", "relu")
    x, t, w = "x", d.near(20, 300), d.whole(1, 4)
    for _ in range(d.whole(2, 5)):
        y = n.op("Transpose", n.norm(x, width), perm=[0, 2, 1])
        y = n.linear(n.activate(n.linear(y, tokens, t), a), t, tokens)
        x = n.op("Add", x, n.op("Transpose", y, perm=[0, 2, 1]))
        x = n.op("Add", x, n.linear(n.activate(n.linear(n.norm(x, width), width, w * width), a), w * width, width))
    return n, n.norm(x, width)


def transformer(d):
    heads, each = d.pick(2, 3, 4, 6, 8), d.pick(16, 24, 32, 48, 64)
    tokens, width, a = d.near(8, 260), heads * each, d.pick("gelu", "tanh_gelu", "relu", "silu")
    n, first = Net(d, d.pick(1, 1, 2), tokens, width), d.r.random() < 0.6
    x, grow = "x", d.pick(2, 3, 4)
    for _ in range(d.whole(1, 4)):
        x = n.op("Add", x, n.attention(n.norm(x, width) if first else x, tokens, width, heads))
        x = x if first else n.norm(x, width)
        y = n.linear(n.activate(n.linear(n.norm(x, width) if first else x, width, grow * width), a), grow * width, width)
        x = n.op("Add", x, y)
        x = x if first else n.norm(x, width)
    return n, n.linear(x, width, d.near(10, 500))


def decoder(d):
    heads, each = d.pick(2, 4, 8), d.pick(16, 32, 64)
    tokens, width = d.near(8, 160), heads * each
    n = Net(d, 1, tokens, width)
    mask = n.constant(np.triu(np.full((tokens, tokens), -1e9, np.float32), 1))
    x, grow = "x", d.near(width, 3 * width)
    for _ in range(d.whole(1, 4)):
        x = n.op("Add", x, n.attention(n.rms_norm(x, width), tokens, width, heads, mask))
        y = n.rms_norm(x, width)
        y = n.op("Mul", n.activate(n.linear(y, width, grow), "silu"), n.linear(y, width, grow))
        x = n.op("Add", x, n.linear(y, grow, width))
    return n, n.linear(n.rms_norm(x, width), width, d.near(50, 2000))


def vision(d):
    heads, each, patch = d.pick(2, 3, 4, 6), d.pick(32, 64), d.pick(8, 14, 16)
    side, width = d.whole(6, 14), heads * each
    n = Net(d, 1, 3, side * patch, side * patch)
    x = n.op("Conv", "x", n.normal(width, 3, patch, patch, scale=0.05), kernel_shape=[patch] * 2, strides=[patch] * 2)
    x = n.op("Transpose", n.op("Reshape", x, n.ints(1, width, side * side)), perm=[0, 2, 1])
    x = n.op("Concat", n.normal(1, 1, width, scale=1), x, axis=1)
    tokens = side * side + 1
    x = n.op("Add", x, n.normal(1, tokens, width, scale=0.1))
    for _ in range(d.whole(1, 4)):
        x = n.op("Add", x, n.attention(n.norm(x, width), tokens, width, heads))
        x = n.op("Add", x, n.linear(n.activate(n.linear(n.norm(x, width), width, 4 * width), "gelu"), 4 * width, width))
    x = n.op("Gather", n.norm(x, width), n.constant(np.array(0, np.int64)), axis=1)
    return n, n.linear(x, width, d.near(10, 1000))


def convnext(d):
    n, size = images(d)
    c = d.near(24, 80)
    x = n.convolve("x", 3, c, [4, 4], 4, act=None, pads=[0] * 4)
    for stage in range(d.whole(1, 3)):
        if stage:
            x, c = n.convolve(x, c, 2 * c, [2, 2], 2, act=None, pads=[0] * 4), 2 * c
        for _ in range(d.whole(1, 3)):
            y = n.op("Transpose", n.convolve(x, c, c, [7, 7], 1, c, act=None), perm=[0, 2, 3, 1])
            y = n.linear(n.activate(n.linear(n.norm(y, c), c, 4 * c), "gelu"), 4 * c, c)
            x = n.op("Add", x, n.op("Transpose", y, perm=[0, 3, 1, 2]))
    return n, n.head(x, c, d.near(10, 1000))


def dilated(d):
    c, length = d.near(12, 160), d.near(100, 6000)
    n, k, gated = Net(d, 1, d.pick(1, 20, 80), length), d.pick(2, 3, 5), d.r.random() < 0.5
    x, skips = n.convolve("x", n.shape[1], c, [1], act=None), None
    for i in range(d.whole(3, 8)):
        dilation = 2 ** (i % 5)
        pads = [(k - 1) * dilation, 0]
        if gated:
            y = n.op("Mul", n.convolve(x, c, c, [k], 1, 1, dilation, "Tanh", pads), n.convolve(x, c, c, [k], 1, 1, dilation, "Sigmoid", pads))
        else:
            y = n.convolve(x, c, c, [k], 1, 1, dilation, "relu", pads)
        x = n.op("Add", x, n.convolve(y, c, c, [1], act=None))
        skips = n.op("Add", skips, y) if skips else y
    return n, n.convolve(n.activate(skips, "relu"), c, d.near(2, 100), [1], act=None)


def volumes(d):
    size, frames, c = d.pick(16, 24, 32, 40), d.pick(8, 12, 16), d.near(6, 32)
    n = Net(d, 1, d.pick(1, 2, 3), frames, size, size)
    x = n.convolve("x", n.shape[1], c, [3, 3, 3])
    for stage in range(d.whole(1, 3)):
        out = c if not stage else d.near(10, 64)
        y = n.convolve(x, c, out, d.pick([3, 3, 3], [3, 3, 3], [1, 3, 3], [3, 1, 1]), 2 if stage else 1)
        y = n.convolve(y, out, out, [3, 3, 3], act=None)
        x, c = n.activate(n.op("Add", y, n.convolve(x, c, out, [1, 1, 1], 2 if stage else 1, act=None)), "relu"), out
    return n, n.head(x, c, d.near(10, 200))


def recurrent(d):
    op, gates = d.pick(("LSTM", 4), ("GRU", 3))
    steps, size, width, ways = d.near(5, 60), d.near(16, 160), d.near(16, 256), d.pick(1, 2)
    n = Net(d, steps, d.pick(1, 1, 4), size)
    x, c = "x", size
    for _ in range(d.whole(1, 3)):
        w, r = n.normal(ways, gates * width, c, scale=c**-0.5), n.normal(ways, gates * width, width, scale=width**-0.5)
        more = {"linear_before_reset": 1} if op == "GRU" else {}
        x = n.op(op, x, w, r, n.normal(ways, 2 * gates * width, scale=0.1), hidden_size=width,
                 direction="bidirectional" if ways == 2 else "forward", **more)  # fmt: skip
        x, c = n.op("Reshape", n.op("Transpose", x, perm=[0, 2, 1, 3]), n.ints(0, 0, -1)), ways * width
    return n, n.op("LogSoftmax", n.linear(x, c, d.near(5, 200)), axis=-1)


def upscaling(d):
    size, c, up = d.pick(40, 64, 80), d.near(16, 64), d.pick(2, 3, 4)
    n = Net(d, 1, d.pick(1, 3), size, size)
    x = first = n.convolve("x", n.shape[1], c, [d.pick(3, 5, 9)] * 2)
    for _ in range(d.whole(1, 5)):
        y = n.convolve(n.convolve(x, c, c, [3, 3], act="LeakyRelu"), c, c, [3, 3], act=None)
        x = n.op("Add", x, y)
    x = n.convolve(n.op("Add", x, first), c, n.shape[1] * up * up, [3, 3], act=None)
    return n, n.op("DepthToSpace", x, blocksize=up, mode=d.pick("DCR", "CRD"))


def generating(d):
    c, side = d.near(40, 200), d.pick(4, 7, 8)
    n = Net(d, d.pick(1, 1, 4), d.near(20, 120))
    x = n.op("Reshape", n.linear("x", n.shape[1], c * side * side), n.ints(-1, c, side, side))
    for _ in range(d.whole(2, 4)):
        out, k = max(6, c // 2), d.pick(2, 3, 4, 5)
        w = n.normal(c, out, k, k, scale=(c * k) ** -0.5)
        more = dict(pads=[(k - 1) // 2] * 4, output_padding=[k % 2] * 2) if k > 2 else {}
        x = n.op("ConvTranspose", x, w, kernel_shape=[k, k], strides=[2, 2], **more)
        x, c = n.activate(n.batch_norm(x, out), d.pick("relu", "LeakyRelu")), out
    return n, n.op("Tanh", n.convolve(x, c, d.pick(1, 3), [3, 3], act=None))


FAMILIES = {f.__name__: f for f in (residual, bottleneck, inverted, dense, branching, unet, detecting, mixing, transformer, decoder, vision,
                                    convnext, dilated, volumes, recurrent, upscaling, generating)}  # fmt: skip
FAMILIES |= network_kinds.FAMILIES


def model_of(n, y):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, n.shape)]
    outputs = [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)]
    graph = helper.make_graph(n.nodes, "random", inputs, outputs, n.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    out = io.BytesIO()
    onnx.save(onnx.shape_inference.infer_shapes(model), out)
    return out.getvalue()


def main():
    a = operators.arguments(__doc__, FAMILIES, 100, 5)
    warnings.filterwarnings("ignore")
    table, runtimes = [], Runtimes(a.threads)
    for number, name, (n, y) in operators.cases(a, FAMILIES, lambda family, seed: family(operators.Draw(seed))):
        if len(table) == a.count:
            break
        model = model_of(n, y)
        if a.save:
            a.save.mkdir(parents=True, exist_ok=True)
            (a.save / f"{name}{number}.onnx").write_bytes(model)
        feed = {"x": n.d.tensor(n.shape)}
        ms, error = runtimes.measure(model, feed, a.rounds, 0, 10)
        peer = min((k for k in ms if k != "wick"), key=ms.get)
        ratio = ms["wick"] / ms[peer]
        table.append((ratio, name, ms["wick"] * 1e6, ms[peer] * 1e6))
        wrong = f"  DIFFERS {error:.0e}" if error > TOLERANCE else ""
        shape = "x".join(map(str, n.shape))
        print(f"{ratio:7.2f} {ms['wick'] * 1e3:9.3f} ms {ms[peer] * 1e3:9.3f} ms {peer:11s} {number:4d} {name} {shape}, {len(n.nodes)} nodes{wrong}", flush=True)
    line, rows = operators.summary(table, a.families, a.threads)
    if a.write:
        operators.write("random networks", a.seed, a.threads, line, rows)


if __name__ == "__main__":
    main()
