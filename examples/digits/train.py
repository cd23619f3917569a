"""Trains the demo's network for handwritten digits; writes digits.onnx and some pictures.

    python examples/digits/train.py [--out DIR] [--epochs N] [--held-out K]

The data are the 1797 real digits of scikit-learn (8x8 pixels, ink 0..16). Everything is plain
NumPy: each layer below knows its forward and backward pass and how it is written as ONNX nodes.
The network takes a 64x64 grey picture as a PNG holds it; its first nodes bring it to 8x8, which is
how the data were made (ink counted in blocks of a larger bitmap). README.md says what is in the
files."""

import argparse
import json
import os
import pathlib
import struct
import time
import zlib

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # sums in the same order in every run
import numpy as np  # noqa: E402

LABELS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
SEED = 3
SMALL, LARGE = 8, 64  # pixels a side: of the data, and of the pictures that the network takes
BLOCK = LARGE // SMALL


# --- data -----------------------------------------------------------------------------------------


def load():
    """Ink in [0, 1] as f32[1797, 8, 8], and the digits."""
    from sklearn.datasets import load_digits

    data = load_digits()
    return (data.images / 16.0).astype(np.float32), data.target


def held_out(digits, first=0):
    """Which pictures are held out: every fifth of each class, so that no generator decides."""
    out = np.zeros(len(digits), bool)
    for digit in range(10):
        out[np.flatnonzero(digits == digit)[first::5]] = True
    return out


def picture(ink):
    """u8[64, 64] that a person can read, and whose 8x8 blocks have the mean 255 * ink to within 1.

    Linear interpolation is smooth but moves ink between blocks; adding the interpolated error of
    the means, a few times, brings it back."""
    at = np.clip((np.arange(LARGE) + 0.5) / BLOCK - 0.5, 0, SMALL - 1)
    low = np.minimum(at.astype(int), SMALL - 2)
    up = np.zeros((LARGE, SMALL))
    up[np.arange(LARGE), low] = 1 - (at - low)
    up[np.arange(LARGE), low + 1] += at - low

    def means(x):
        return x.reshape(SMALL, BLOCK, SMALL, BLOCK).mean((1, 3))

    want = 255.0 * ink.astype(np.float64)
    large = up @ want @ up.T
    for _ in range(40):
        large = np.clip(large + up @ (want - means(large)) @ up.T, 0, 255)
    for _ in range(200):  # what is left is a constant in its block
        large = np.clip(large + np.kron(want - means(large), np.ones((BLOCK, BLOCK))), 0, 255)
    return np.rint(large).astype(np.uint8)


def moved(ink, rng):
    """The pictures f32[n, 8, 8], each turned, scaled and shifted a little (bilinear)."""
    n, size = len(ink), ink.shape[1]
    turn, scale = rng.uniform(-0.2, 0.2, n), rng.uniform(0.9, 1.1, n)
    shift = rng.uniform(-0.6, 0.6, (2, n, 1, 1))
    centre = (size - 1) / 2
    y, x = np.mgrid[:size, :size] - centre
    cos, sin = (np.cos(turn) * scale)[:, None, None], (np.sin(turn) * scale)[:, None, None]
    y, x = cos * y - sin * x + centre + shift[0], sin * y + cos * x + centre + shift[1]
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    padded = np.pad(ink, ((0, 0), (1, 1), (1, 1)))
    which = np.arange(n)[:, None, None]
    out = np.zeros(ink.shape)
    for dy in (0, 1):
        for dx in (0, 1):
            weight = np.abs(1 - dy - (y - y0)) * np.abs(1 - dx - (x - x0))
            row, column = np.clip(y0 + dy + 1, 0, size + 1), np.clip(x0 + dx + 1, 0, size + 1)
            out += weight * padded[which, row, column]
    return out.astype(np.float32)


# --- layers: activations are [n, y, x, channel]: a convolution is one matrix product -----


class Param:
    def __init__(self, value):
        self.value = value.astype(np.float32)
        self.grad = np.zeros_like(self.value)
        self.mean, self.square = np.zeros_like(self.value), np.zeros_like(self.value)


def patches(x):
    """The 3x3 neighbourhood of each pixel, zero outside: [n * y * x, 9 * channel]."""
    n, h, w, c = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows = [padded[:, i : i + h, j : j + w] for i in range(3) for j in range(3)]
    return np.concatenate(rows, 3).reshape(n * h * w, 9 * c)


class Conv:
    """3x3, stride 1, padded by 1; no bias, as a batch norm follows."""

    def __init__(self, rng, cin, cout):
        self.cin, self.cout = cin, cout
        self.w = Param(rng.normal(0, np.sqrt(2 / (9 * cin)), (3, 3, cin, cout)))
        self.params = [self.w]

    def forward(self, x, train):
        self.shape, self.cols = x.shape, patches(x)
        y = self.cols @ self.w.value.reshape(9 * self.cin, self.cout)
        return y.reshape(*x.shape[:3], self.cout)

    def backward(self, dy):
        self.w.grad = (self.cols.T @ dy.reshape(-1, self.cout)).reshape(self.w.value.shape)
        turned = self.w.value[::-1, ::-1].transpose(0, 1, 3, 2).reshape(9 * self.cout, self.cin)
        return (patches(dy) @ turned).reshape(self.shape)

    def export(self, out, x):
        w = out.constant("weight", self.w.value.transpose(3, 2, 0, 1))
        return out.node("Conv", [x, w], kernel_shape=[3, 3], pads=[1, 1, 1, 1])


class BatchNorm:
    eps = 1e-5

    def __init__(self, channels):
        self.scale, self.bias = Param(np.ones(channels)), Param(np.zeros(channels))
        self.mean, self.var = np.zeros(channels, np.float32), np.ones(channels, np.float32)
        self.params = [self.scale, self.bias]

    def forward(self, x, train):
        if train:
            mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
            self.mean, self.var = 0.95 * self.mean + 0.05 * mean, 0.95 * self.var + 0.05 * var
        else:
            mean, var = self.mean, self.var
        self.inv = 1 / np.sqrt(var + self.eps)
        self.unit = (x - mean) * self.inv
        return self.unit * self.scale.value + self.bias.value

    def backward(self, dy):
        self.scale.grad, self.bias.grad = (dy * self.unit).sum((0, 1, 2)), dy.sum((0, 1, 2))
        n = dy.size // dy.shape[3]
        mean = (self.unit * self.scale.grad + self.bias.grad) / n
        return self.scale.value * self.inv * (dy - mean)

    def export(self, out, x):
        scale, bias = out.constant("scale", self.scale.value), out.constant("bias", self.bias.value)
        mean, var = out.constant("mean", self.mean), out.constant("var", self.var)
        return out.node("BatchNormalization", [x, scale, bias, mean, var], epsilon=self.eps)


class Relu:
    params = []

    def forward(self, x, train):
        self.on = x > 0
        return x * self.on

    def backward(self, dy):
        return dy * self.on

    def export(self, out, x):
        return out.node("Relu", [x])


class MaxPool:
    """2x2, stride 2. Where several pixels are the largest they share the gradient."""

    params = []

    def forward(self, x, train):
        n, h, w, c = x.shape
        tiles = x.reshape(n, h // 2, 2, w // 2, 2, c)
        y = tiles.max((2, 4), keepdims=True)
        self.on = tiles == y
        return y.reshape(n, h // 2, w // 2, c)

    def backward(self, dy):
        n, h, w, c = dy.shape
        share = dy.reshape(n, h, 1, w, 1, c) / self.on.sum((2, 4), keepdims=True)
        return (self.on * share).astype(np.float32).reshape(n, 2 * h, 2 * w, c)

    def export(self, out, x):
        return out.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])


class Residual:
    """x + f(x), where f is a chain of layers."""

    def __init__(self, *layers):
        self.layers = layers
        self.params = [p for layer in layers for p in layer.params]

    def forward(self, x, train):
        return x + forward(self.layers, x, train)

    def backward(self, dy):
        return dy + backward(self.layers, dy)

    def export(self, out, x):
        return out.node("Add", [export(self.layers, out, x), x])


class GlobalAverage:
    params = []

    def forward(self, x, train):
        self.shape = x.shape
        return x.mean((1, 2))

    def backward(self, dy):
        n, h, w, c = self.shape
        return np.broadcast_to(dy[:, None, None] / (h * w), self.shape)

    def export(self, out, x):
        return out.node("Flatten", [out.node("GlobalAveragePool", [x])], axis=1)


class Linear:
    def __init__(self, rng, cin, cout):
        self.w, self.b = Param(rng.normal(0, np.sqrt(1 / cin), (cin, cout))), Param(np.zeros(cout))
        self.params = [self.w, self.b]

    def forward(self, x, train):
        self.x = x
        return x @ self.w.value + self.b.value

    def backward(self, dy):
        self.w.grad, self.b.grad = self.x.T @ dy, dy.sum(0)
        return dy @ self.w.value.T

    def export(self, out, x):
        w, b = out.constant("weight", self.w.value.T), out.constant("bias", self.b.value)
        return out.node("Gemm", [x, w, b], transB=1)


def forward(layers, x, train):
    for layer in layers:
        x = layer.forward(x, train)
    return x


def backward(layers, dy):
    for layer in reversed(layers):
        dy = layer.backward(dy)
    return dy


def export(layers, out, x):
    for layer in layers:
        x = layer.export(out, x)
    return x


def make_network(rng):
    return [
        Conv(rng, 1, 32), BatchNorm(32), Relu(),
        Residual(
            Conv(rng, 32, 32), BatchNorm(32), Relu(),
            Conv(rng, 32, 32), BatchNorm(32),
        ), Relu(),
        MaxPool(),
        Conv(rng, 32, 64), BatchNorm(64), Relu(),
        GlobalAverage(), Linear(rng, 64, 10),
    ]  # fmt: skip


# --- training -------------------------------------------------------------------------------------


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def adam(params, step, rate, decay=1e-4):
    for p in params:
        p.mean += 0.1 * (p.grad - p.mean)
        p.square += 0.01 * (p.grad**2 - p.square)
        mean, square = p.mean / (1 - 0.9**step), p.square / (1 - 0.99**step)
        p.value -= (rate * (mean / (np.sqrt(square) + 1e-8) + decay * p.value)).astype(np.float32)


def train(ink, digits, mean, std, epochs, batch=64):
    """Adam with a one-cycle rate on moved pictures, cross entropy with smoothed labels."""
    rng = np.random.default_rng(SEED)
    layers = make_network(rng)
    params = [p for layer in layers for p in layer.params]
    target = (np.eye(10) * 0.95 + 0.005).astype(np.float32)[digits]
    steps, step = epochs * (len(ink) // batch), 0
    for epoch in range(epochs):
        order, loss = rng.permutation(len(ink)), 0.0
        for i in range(len(ink) // batch):
            step += 1
            pick = order[i * batch : (i + 1) * batch]
            x = (moved(ink[pick], rng) - mean) / std
            p = softmax(forward(layers, x[..., None], True))
            loss -= float((target[pick] * np.log(p + 1e-9)).sum())
            backward(layers, (p - target[pick]) / batch)
            warm = 0.2 * steps
            falling = 0.5 + 0.5 * np.cos(np.pi * (step - warm) / (steps - warm))
            adam(params, step, 4e-3 * (step / warm if step < warm else falling))
        print(f"epoch {epoch + 1:2} of {epochs}: loss {loss / len(ink):.4f}", flush=True)
    return layers


# --- ONNX -----------------------------------------------------------------------------------------


class Graph:
    """Nodes and constants under names that say where they are: conv_1, conv_1.weight."""

    def __init__(self):
        self.nodes, self.constants, self.count, self.pending = [], [], {}, []

    def constant(self, name, value):
        self.pending.append((name, np.ascontiguousarray(value, np.float32)))
        return ("pending", len(self.pending) - 1)

    def node(self, op, inputs, **attributes):
        from onnx import helper, numpy_helper

        self.count[op] = self.count.get(op, 0) + 1
        name = f"{op.lower()}_{self.count[op]}"
        names = []
        for x in inputs:
            if isinstance(x, tuple):
                part, value = self.pending[x[1]]
                x = f"{name}.{part}"
                self.constants.append(numpy_helper.from_array(value, x))
            names.append(x)
        self.pending.clear()
        self.nodes.append(helper.make_node(op, names, [name], name=name, **attributes))
        return name


def to_onnx(layers, mean, std):
    import onnx
    from onnx import TensorProto, helper

    out = Graph()
    x = out.node("Cast", ["image"], to=TensorProto.FLOAT)
    x = out.node("AveragePool", [x], kernel_shape=[BLOCK, BLOCK], strides=[BLOCK, BLOCK])
    x = out.node("Div", [x, out.constant("full_ink", np.array(255))])
    x = out.node("Sub", [x, out.constant("mean", np.array(mean))])
    x = out.node("Div", [x, out.constant("deviation", np.array(std))])
    out.node("Softmax", [export(layers, out, x)], axis=1)
    out.nodes[-1].output[0] = "probabilities"
    graph = helper.make_graph(
        out.nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.UINT8, [1, 1, LARGE, LARGE])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, len(LABELS)])],
        out.constants,
        "A handwritten digit, light on black, 64x64 grey -> the probability of each digit",
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model.producer_name = "examples/digits/train.py"
    helper.set_model_props(model, {"labels": ",".join(LABELS), "image_layout": "nchw"})
    onnx.checker.check_model(model, full_check=True)
    return model


def predict(model_bytes, pictures):
    """Probabilities f32[n, 10] of u8[n, 64, 64], by ONNX Runtime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model_bytes, providers=["CPUExecutionProvider"])
    return np.stack([session.run(None, {"image": p[None, None]})[0][0] for p in pictures])


# --- files ----------------------------------------------------------------------------------------


def write_png(path, grey):
    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    height, width = grey.shape
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    args.add_argument("--epochs", type=int, default=40)
    args.add_argument("--held-out", type=int, default=0, metavar="K", choices=range(5),
                      help="hold out the pictures K, K + 5, ... of each class")  # fmt: skip
    args = args.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    ink, digits = load()
    out = held_out(digits, args.held_out)
    mean, std = ink[~out].mean(), ink[~out].std()
    start = time.monotonic()
    layers = train(ink[~out], digits[~out], mean, std, args.epochs)
    guess = forward(layers, ((ink[out] - mean) / std)[..., None], False).argmax(1)
    right, count = int((guess == digits[out]).sum()), int(out.sum())
    print(f"trained in {time.monotonic() - start:.0f} s")
    print(f"held out: {right} of {count} right, {100 * right / count:.2f} %")

    model = to_onnx(layers, mean, std).SerializeToString()
    (args.out / "digits.onnx").write_bytes(model)
    shown = [int(np.flatnonzero(out & (digits == digit))[0]) for digit in range(10)]
    for label, i in zip(LABELS, shown):
        write_png(args.out / f"{label}.png", picture(ink[i]))
    try:
        rows = predict(model, [picture(ink[i]) for i in shown])
    except ImportError:
        print("no onnxruntime: expected.json is not written")
        return
    lines = ",\n".join(
        f'  "{label}.png": {json.dumps([float(f"{p:.8g}") for p in row])}'
        for label, row in zip(LABELS, rows)
    )
    (args.out / "expected.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
