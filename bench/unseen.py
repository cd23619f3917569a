"""Networks that were not used to choose schedules: other kinds and sizes than those of the shared bench, with random
weights.

    python3 bench/unseen.py FOLDER [NAME ...]      makes FOLDER/NAME.onnx
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save


class Net:
    """An ONNX graph that grows node by node; methods return the name of the result that they add."""

    def __init__(self, *shape):
        self.random = np.random.default_rng(4)
        self.nodes, self.weights = [], []
        self.shape = shape

    def constant(self, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array, order="C"), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def normal(self, *shape, scale):
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"t{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0]

    def conv(self, x, cin, cout, k, stride=1, group=1, act=None):
        w = self.normal(cout, cin // group, k, k, scale=(2 / (cin // group * k * k)) ** 0.5)
        b = self.normal(cout, scale=0.1)
        pads = [k // 2] * 4
        x = self.op("Conv", x, w, b, kernel_shape=[k, k], strides=[stride] * 2, pads=pads, group=group)
        return self.act(x, act)

    def act(self, x, act):
        if act == "hswish":
            return self.op("HardSwish", x)
        if act == "silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        return self.op("Relu", x) if act == "relu" else x

    def squeeze(self, x, c, mid, act, gate):
        y = self.conv(self.op("GlobalAveragePool", x), c, mid, 1, act=act)
        y = self.conv(y, mid, c, 1)
        y = self.op(gate, y, **({"alpha": 1 / 6} if gate == "HardSigmoid" else {}))
        return self.op("Mul", x, y)

    def linear(self, x, cin, cout):
        y = self.op("MatMul", x, self.normal(cin, cout, scale=cin**-0.5))
        return self.op("Add", y, self.normal(cout, scale=0.1))

    def norm(self, x, c):
        one, zero = np.ones(c, np.float32), np.zeros(c, np.float32)
        return self.op("LayerNormalization", x, self.constant(one), self.constant(zero), axis=-1)

    def head(self, x, c, classes=1000):
        x = self.op("Flatten", self.op("GlobalAveragePool", x))
        return self.op("Softmax", self.linear(x, c, classes))

    def save(self, path, y):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)]
        outputs = [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, path.stem, inputs, outputs, self.weights)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def inverted(n, x, cin, mid, cout, k, stride, act, squeeze, gate):
    y = n.conv(x, cin, mid, 1, act=act) if mid != cin else x
    y = n.conv(y, mid, mid, k, stride, mid, act)
    if squeeze:
        y = n.squeeze(y, mid, squeeze, "relu" if act != "silu" else act, gate)
    y = n.conv(y, mid, cout, 1)
    return n.op("Add", x, y) if stride == 1 and cin == cout else y


def mobilenet_v3():
    n = Net(1, 3, 224, 224)
    x, c = n.conv("x", 3, 16, 3, 2, act="hswish"), 16
    for k, mid, out, se, act, stride in [
        (3, 16, 16, 0, "relu", 1), (3, 64, 24, 0, "relu", 2), (3, 72, 24, 0, "relu", 1),
        (5, 72, 40, 24, "relu", 2), (5, 120, 40, 32, "relu", 1), (5, 120, 40, 32, "relu", 1),
        (3, 240, 80, 0, "hswish", 2), (3, 200, 80, 0, "hswish", 1), (3, 184, 80, 0, "hswish", 1),
        (3, 480, 112, 120, "hswish", 1), (3, 672, 112, 168, "hswish", 1),
        (5, 672, 160, 168, "hswish", 2), (5, 960, 160, 240, "hswish", 1), (5, 960, 160, 240, "hswish", 1),
    ]:  # fmt: skip
        x, c = inverted(n, x, c, mid, out, k, stride, act, se, "HardSigmoid"), out
    return n, n.head(n.conv(x, c, 960, 1, act="hswish"), 960)


def efficientnet_b0():
    n = Net(1, 3, 224, 224)
    x, c = n.conv("x", 3, 32, 3, 2, act="silu"), 32
    for grow, k, stride, out, times in [(1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
                                        (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)]:  # fmt: skip
        for i in range(times):
            x = inverted(n, x, c, c * grow, out, k, stride if i == 0 else 1, "silu", c // 4, "Sigmoid")
            c = out
    return n, n.head(n.conv(x, c, 1280, 1, act="silu"), 1280)


def resnext50():
    n = Net(1, 3, 224, 224)
    x = n.conv("x", 3, 64, 7, 2, act="relu")
    x, c = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 64
    for stage, times in enumerate([3, 4, 6, 3]):
        mid, out = 128 << stage, 256 << stage
        for i in range(times):
            stride = 2 if stage and i == 0 else 1
            y = n.conv(x, c, mid, 1, act="relu")
            y = n.conv(n.conv(y, mid, mid, 3, stride, 32, "relu"), mid, out, 1)
            x = n.op("Relu", n.op("Add", y, x if i else n.conv(x, c, out, 1, stride)))
            c = out
    return n, n.head(x, c)


def unet():
    n = Net(1, 3, 192, 192)
    x, c, kept = "x", 3, []
    for depth in range(5):
        out = 32 << depth
        x = n.conv(n.conv(x, c, out, 3, act="relu"), out, out, 3, act="relu")
        c = out
        if depth < 4:
            kept.append((x, c))
            x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    for skip, out in reversed(kept):
        up = n.normal(c, out, 2, 2, scale=(1 / c) ** 0.5)
        x = n.op("ConvTranspose", x, up, kernel_shape=[2, 2], strides=[2, 2])
        x = n.op("Concat", x, skip, axis=1)
        x = n.conv(n.conv(x, 2 * out, out, 3, act="relu"), out, out, 3, act="relu")
        c = out
    return n, n.op("Sigmoid", n.conv(x, c, 1, 1))


def transformer(tokens=96, width=320, heads=5, layers=4):
    n = Net(1, tokens, width)
    each, x = width // heads, "x"
    split = n.constant(np.array([tokens, heads, each], np.int64))
    whole = n.constant(np.array([1, tokens, width], np.int64))
    for _ in range(layers):
        y, part = n.norm(x, width), []
        for perm in ([1, 0, 2], [1, 2, 0], [1, 0, 2]):
            part.append(n.op("Transpose", n.op("Reshape", n.linear(y, width, width), split), perm=perm))
        scores = n.op("Mul", n.op("MatMul", part[0], part[1]), n.constant(np.float32(each**-0.5)))
        y = n.op("MatMul", n.op("Softmax", scores, axis=-1), part[2])
        y = n.op("Reshape", n.op("Transpose", y, perm=[1, 0, 2]), whole)
        x = n.op("Add", x, n.linear(y, width, width))
        y = n.linear(n.norm(x, width), width, 4 * width)
        half = n.op("Mul", y, n.constant(np.float32(0.5)))
        erf = n.op("Erf", n.op("Mul", y, n.constant(np.float32(0.5**0.5))))
        y = n.op("Mul", half, n.op("Add", erf, n.constant(np.float32(1))))
        x = n.op("Add", x, n.linear(y, 4 * width, width))
    return n, n.norm(x, width)


def gru(steps=24, batch=4, width=768):
    n = Net(steps, batch, 256)
    x, c = "x", 256
    for _ in range(2):
        w, r = n.normal(1, 3 * width, c, scale=c**-0.5), n.normal(1, 3 * width, width, scale=width**-0.5)
        b = n.normal(1, 6 * width, scale=0.1)
        x = n.op("GRU", x, w, r, b, hidden_size=width, linear_before_reset=1)
        x, c = n.op("Squeeze", x, n.constant(np.array([1], np.int64))), width
    return n, n.linear(x, c, 512)


NETWORKS = {f.__name__: f for f in (mobilenet_v3, efficientnet_b0, resnext50, unet, transformer, gru)}


def make(folder, names=NETWORKS):
    """Paths of the networks, which are made if they do not exist yet."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / f"{name}.onnx"
        if not path.exists():
            network, result = NETWORKS[name]()
            network.save(path, result)
    return [folder / f"{name}.onnx" for name in names]


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2:] or NETWORKS)
