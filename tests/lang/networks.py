"""The networks of examples/networks as ONNX models of the same weights, which are inputs by the names of the program."""

import numpy as np
import onnx
from onnx import TensorProto, helper


class Net:
    """An ONNX model that grows; its weights get their values as they are named."""

    def __init__(self, **inputs):
        self.rng = np.random.default_rng(41)
        self.nodes, self.given, self.fed, self.constants = [], {}, {}, []
        for name, shape in inputs.items():
            self.fed[name] = self.rng.uniform(-1, 1, shape).astype(np.float32)

    def op(self, kind, *operands, count=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(kind, operands, names, **attributes))
        return names[0] if count == 1 else names

    def number(self, x):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.asarray(x), name))
        return name

    def weight(self, name, *shape, low=None, high=None):
        fan = np.prod(shape[1:]) if len(shape) > 1 else 10
        high = high or np.sqrt(3 / fan)
        x = self.rng.uniform(-high if low is None else low, high, shape)
        self.given[name] = x.astype(np.float32)
        return name

    def dense(self, name, x, i, o):
        return self.op("Gemm", x, self.weight(f"{name}.w", i, o), self.weight(f"{name}.b", o))

    def conv(self, name, x, o, c, *k, stride=1, pad=0, group=1, kind="Conv", bias=True):
        pads = [pad] * 2 * len(k) if isinstance(pad, int) else pad
        strides = [stride] * len(k) if isinstance(stride, int) else stride
        shape = (c, o, *k) if kind == "ConvTranspose" else (o, c, *k)
        more = [self.weight(f"{name}.b", o)] if bias else []
        return self.op(kind, x, self.weight(f"{name}.w", *shape), *more, strides=strides, pads=pads, group=group)

    def norm(self, name, x, c):
        w = [self.weight(f"{name}.{p}", c, low=l, high=h) for p, l, h in (("scale", 0.5, 1.5), ("shift", -0.5, 0.5), ("mean", -0.5, 0.5), ("variance", 0.5, 1.5))]
        return self.op("BatchNormalization", x, *w, epsilon=1e-5)

    def normed(self, name, x, o, c, *k, **more):
        return self.norm(f"{name}.norm", self.conv(name, x, o, c, *k, bias=False, **more), o)

    def active(self, *a, **more):
        return self.op("Relu", self.normed(*a, **more))

    def pool(self, x, k, stride, pad=0, kind="MaxPool", rank=2):
        return self.op(kind, x, kernel_shape=[k] * rank, strides=[stride] * rank, pads=[pad] * 2 * rank)

    def flat(self, x):
        return self.op("Flatten", x)

    def model(self, *results):
        values = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in {**self.fed, **self.given}.items()]
        outputs = [helper.make_tensor_value_info(r, TensorProto.FLOAT, None) for r in results]
        graph = helper.make_graph(self.nodes, "network", values, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), {**self.fed, **self.given}


def mlp():
    n = Net(x=(4, 20))
    x = n.op("Relu", n.dense("w.first", "x", 20, 128))
    x = n.op("Relu", n.dense("w.second", x, 128, 64))
    return n.model(n.op("Softmax", n.dense("w.last", x, 64, 10)))


def lenet():
    n = Net(x=(2, 1, 28, 28))
    x = n.pool(n.op("Tanh", n.conv("w.first", "x", 6, 1, 5, 5, pad=2)), 2, 2, kind="AveragePool")
    x = n.pool(n.op("Tanh", n.conv("w.second", x, 16, 6, 5, 5)), 2, 2, kind="AveragePool")
    x = n.op("Tanh", n.dense("w.third", n.flat(x), 400, 120))
    x = n.op("Tanh", n.dense("w.fourth", x, 120, 84))
    return n.model(n.op("Softmax", n.dense("w.last", x, 84, 10)))


def residual(image, k, stride, c=8, o=10):
    """ResNet-18 over images of any rank."""
    rank = len(image)
    n = Net(x=(1, 3, *image))

    def block(name, x, i, o, stride=1):
        y = n.active(f"{name}.first", x, o, i, *[3] * rank, stride=stride, pad=1)
        y = n.normed(f"{name}.second", y, o, o, *[3] * rank, pad=1)
        x = n.normed(f"{name}.beside", x, o, i, *[1] * rank, stride=stride) if stride > 1 else x
        return n.op("Relu", n.op("Add", x, y))

    x = n.active("w.first", "x", c, 3, *[k] * rank, stride=stride, pad=3)
    x = n.pool(x, 3, 2, 1, rank=rank)
    x = block("w.b", block("w.a", x, c, c), c, c)
    for first, second, i in (("c", "d", c), ("e", "f", 2 * c), ("g", "h", 4 * c)):
        x = block(f"w.{second}", block(f"w.{first}", x, i, 2 * i, 2), 2 * i, 2 * i)
    return n.model(n.dense("w.last", n.flat(n.op("GlobalAveragePool", x)), 8 * c, o))


def resnet():
    return residual((224, 224), 7, 2)


def resnet3d():
    return residual((16, 56, 56), 7, [1, 2, 2])


def mobilenet():
    n = Net(x=(1, 3, 224, 224))
    x = n.active("w.first", "x", 8, 3, 3, 3, stride=2, pad=1)
    for name, i, o, stride in zip("abcdefghijklm", (8, 16, 32, 32, 64, 64, *[128] * 6, 256), (16, 32, 32, 64, 64, *[128] * 6, 256, 256), (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1)):
        x = n.active(f"w.{name}.each", x, i, 1, 3, 3, stride=stride, pad=1, group=i)
        x = n.active(f"w.{name}.pixel", x, o, i, 1, 1)
    return n.model(n.op("Softmax", n.dense("w.last", n.flat(n.op("GlobalAveragePool", x)), 256, 10)))


def vgg(c=8, d=32):
    n = Net(x=(1, 3, 224, 224))
    x, i = "x", 3
    for name, o, halved in zip("abcdefgh", (1, 2, 4, 4, 8, 8, 8, 8), (1, 1, 0, 1, 0, 1, 0, 1)):
        x, i = n.op("Relu", n.conv(f"w.{name}", x, o * c, i, 3, 3, pad=1)), o * c
        x = n.pool(x, 2, 2) if halved else x
    x = n.op("Relu", n.dense("w.first", n.flat(x), 392 * c, d))
    x = n.op("Relu", n.dense("w.second", x, d, d))
    return n.model(n.op("Softmax", n.dense("w.last", x, d, 10)))


def squeezenet():
    n = Net(x=(1, 3, 224, 224))

    def fire(name, x, i, s, c):
        x = n.op("Relu", n.conv(f"w.{name}.squeeze", x, s, i, 1, 1))
        near = n.op("Relu", n.conv(f"w.{name}.pixel", x, c, s, 1, 1))
        return n.op("Concat", near, n.op("Relu", n.conv(f"w.{name}.window", x, c, s, 3, 3, pad=1)), axis=1)

    x = n.pool(n.op("Relu", n.conv("w.first", "x", 64, 3, 3, 3, stride=2)), 3, 2)
    for name, i, s, c in zip("abcdefgh", (64, 128, 128, 256, 256, 384, 384, 512), (16, 16, 32, 32, 48, 48, 64, 64), (64, 64, 128, 128, 192, 192, 256, 256)):
        x = fire(name, x, i, s, c)
        x = n.pool(x, 3, 2) if name in "bd" else x
    x = n.op("Relu", n.conv("w.last", x, 10, 512, 1, 1))
    return n.model(n.op("Softmax", n.flat(n.op("GlobalAveragePool", x))))


def densenet(g=8):
    n = Net(x=(1, 3, 64, 64))

    def before(name, x, c):
        return n.op("Relu", n.norm(name, x, c))

    def block(name, x, i):
        for layer in "abc":
            y = n.weight(f"{name}.{layer}.w", g, i, 3, 3)
            x = n.op("Concat", x, n.op("Conv", before(f"{name}.{layer}.norm", x, i), y, pads=[1] * 4), axis=1)
            i += g
        return x

    x = n.op("Conv", "x", n.weight("w.first", 2 * g, 3, 7, 7), strides=[2, 2], pads=[3] * 4)
    x = block("w.one", n.pool(before("w.norm", x, 2 * g), 3, 2, 1), 2 * g)
    x = n.op("Conv", before("w.half.norm", x, 5 * g), n.weight("w.half.w", 2 * g, 5 * g, 1, 1))
    x = before("w.end", block("w.two", n.pool(x, 2, 2, kind="AveragePool"), 2 * g), 5 * g)
    return n.model(n.dense("w.last", n.flat(n.op("GlobalAveragePool", x)), 5 * g, 10))


def inception(c=2):
    n = Net(x=(1, 3, 299, 299))

    def pixel(name, x, o, i):
        return n.active(name, x, o * c, i * c, 1, 1)

    def same(name, x, o, i):
        return n.active(name, x, o * c, i * c, 3, 3, pad=1)

    def half(name, x, o, i):
        return n.active(name, x, o * c, i * c, 3, 3, stride=2)

    def row(name, x, o, i):
        return n.active(name, x, o * c, i * c, 1, 7, pad=[0, 3, 0, 3])

    def column(name, x, o, i):
        return n.active(name, x, o * c, i * c, 7, 1, pad=[3, 0, 3, 0])

    def pooled(name, x, o, i):
        return pixel(name, n.pool(x, 3, 1, 1, kind="AveragePool"), o, i)

    def joined(*x):
        return n.op("Concat", *x, axis=1)

    def small(w, x, i, p):
        five = n.active(f"{w}.five_end", pixel(f"{w}.five", x, 3, i), 4 * c, 3 * c, 5, 5, pad=2)
        three = same(f"{w}.three_end", same(f"{w}.three_more", pixel(f"{w}.three", x, 4, i), 6, 4), 6, 6)
        return joined(pixel(f"{w}.pixel", x, 4, i), five, three, pooled(f"{w}.pooled", x, p, i))

    def wide(w, x, s):
        one = column(f"{w}.one_end", row(f"{w}.one_row", pixel(f"{w}.one", x, s, 48), s, s), 12, s)
        two = row(f"{w}.two_row", column(f"{w}.two_column", pixel(f"{w}.two", x, s, 48), s, s), s, s)
        two = row(f"{w}.two_end", column(f"{w}.two_more", two, s, s), 12, s)
        return joined(pixel(f"{w}.pixel", x, 12, 48), one, two, pooled(f"{w}.pooled", x, 12, 48))

    def beside(w, x):
        return joined(
            n.active(f"{w}_row", x, 24 * c, 24 * c, 1, 3, pad=[0, 1, 0, 1]), n.active(f"{w}_column", x, 24 * c, 24 * c, 3, 1, pad=[1, 0, 1, 0])
        )

    def split(w, x, i):
        one = beside(f"{w}.one", pixel(f"{w}.one", x, 24, i))
        two = beside(f"{w}.two", same(f"{w}.two_more", pixel(f"{w}.two", x, 28, i), 24, 28))
        return joined(pixel(f"{w}.pixel", x, 20, i), one, two, pooled(f"{w}.pooled", x, 12, i))

    x = n.active("w.stem.a", "x", 2 * c, 3, 3, 3, stride=2)
    x = n.active("w.stem.b", x, 2 * c, 2 * c, 3, 3)
    x = pixel("w.stem.d", n.pool(same("w.stem.c", x, 4, 2), 3, 2), 5, 4)
    x = n.pool(n.active("w.stem.e", x, 12 * c, 5 * c, 3, 3), 3, 2)
    for name, i, p in (("a", 12, 2), ("b", 16, 4), ("c", 18, 4)):
        x = small(f"w.{name}", x, i, p)
    six = half("w.first.six_end", same("w.first.six_more", pixel("w.first.six", x, 4, 18), 6, 4), 6, 6)
    x = joined(half("w.first.three", x, 24, 18), six, n.pool(x, 3, 2))
    for name, s in (("d", 8), ("e", 10), ("f", 10), ("g", 12)):
        x = wide(f"w.{name}", x, s)
    seven = column("w.second.seven_column", row("w.second.seven_row", pixel("w.second.seven", x, 12, 48), 12, 12), 12, 12)
    x = joined(half("w.second.three_end", pixel("w.second.three", x, 12, 48), 20, 12), half("w.second.seven_end", seven, 12, 12), n.pool(x, 3, 2))
    x = split("w.i", split("w.h", x, 80), 128)
    return n.model(n.op("Softmax", n.dense("w.last", n.flat(n.op("GlobalAveragePool", x)), 128 * c, 10)))


def dcgan(c=8, z=16):
    n = Net(noise=(2, z))
    x = n.op("Reshape", n.dense("w.first", "noise", z, 64 * c), n.number(np.array([2, 4 * c, 4, 4])))
    x = n.op("Relu", n.norm("w.norm", x, 4 * c))
    for name, i in (("a", 4), ("b", 2)):
        x = n.conv(f"w.{name}", x, i * c // 2, i * c, 4, 4, stride=2, pad=1, kind="ConvTranspose", bias=False)
        x = n.op("Relu", n.norm(f"w.{name}.norm", x, i * c // 2))
    return n.model(n.op("Tanh", n.conv("w.last", x, 3, c, 4, 4, stride=2, pad=1, kind="ConvTranspose")))


def dqn():
    n = Net(x=(1, 4, 84, 84))
    x = n.op("Relu", n.conv("w.first", "x", 32, 4, 8, 8, stride=4))
    x = n.op("Relu", n.conv("w.second", x, 64, 32, 4, 4, stride=2))
    x = n.op("Relu", n.conv("w.third", x, 64, 64, 3, 3))
    return n.model(n.dense("w.last", n.op("Relu", n.dense("w.fourth", n.flat(x), 3136, 512)), 512, 6))


def lstm(i=20, u=16):
    n = Net(x=(12, 3, i))

    def layer(name, x, i):
        w = []
        for part, *shape in (("w", 4 * u, i), ("r", 4 * u, u), ("b", 8 * u)):
            w.append(n.op("Unsqueeze", n.weight(f"{name}.{part}", *shape), n.number(np.array([0]))))
        return n.op("LSTM", x, *w, hidden_size=u, count=2)

    y, _ = layer("w.first", "x", i)
    _, h = layer("w.second", n.op("Squeeze", y, n.number(np.array([1]))), u)
    return n.model(n.op("Softmax", n.dense("w.last", n.op("Squeeze", h, n.number(np.array([0]))), u, 10)))


def yolo(c=4, o=18):
    n = Net(x=(1, 3, 160, 160))

    def layer(name, x, o, i, k):
        return n.op("LeakyRelu", n.normed(f"w.{name}", x, o * c, i * c if i else 3, k, k, pad=k // 2), alpha=0.1)

    def boxes(x):
        return n.op("Sigmoid", n.op("Transpose", x, perm=[0, 2, 3, 1]))

    x = "x"
    for name, o_, i in (("a", 1, 0), ("b", 2, 1), ("c", 4, 2), ("d", 8, 4)):
        x = n.pool(layer(name, x, o_, i, 3), 2, 2)
    detail = layer("e", x, 16, 8, 3)
    x = layer("g", layer("f", n.pool(detail, 2, 2), 32, 16, 3), 16, 32, 1)
    coarse = n.conv("w.coarse", layer("h", x, 32, 16, 3), o, 32 * c, 1, 1)
    wide = n.op("Resize", layer("i", x, 8, 16, 1), "", n.number(np.array([1, 1, 2, 2], np.float32)), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    fine = n.conv("w.fine", layer("j", n.op("Concat", wide, detail, axis=1), 16, 24, 3), o, 16 * c, 1, 1)
    return n.model(boxes(coarse), boxes(fine))


def transformer(v=50, t=12, d=24, h=3, k=8, f=48):
    n = Net()
    n.fed["words"] = n.rng.integers(0, v, (2, t))

    def norm(name, x):
        return n.op("LayerNormalization", x, n.weight(f"{name}.scale", d), n.weight(f"{name}.shift", d), epsilon=1e-5)

    def shaped(x, *shape):
        return n.op("Reshape", x, n.number(np.array(shape)))

    def added(x, w, b, o):
        return n.op("Add", n.op("MatMul", x, w), b)

    def heads(name, x):
        parts = []
        for part in ("query", "key", "value"):
            w, b = n.weight(f"{name}.{part}", d, h, k, high=0.3), n.weight(f"{name}.{part}_bias", h, k)
            y = added(x, shaped(w, d, h * k), shaped(b, h * k), h * k)
            parts.append(n.op("Transpose", shaped(y, 2, t, h, k), perm=[0, 2, 1, 3]))
        q, key, value = parts
        scores = n.op("MatMul", n.op("Div", q, n.number(np.float32(np.sqrt(np.float32(k))))), n.op("Transpose", key, perm=[0, 1, 3, 2]))
        scores = n.op("Where", n.number(np.tri(t) > 0), scores, n.number(np.float32(-np.inf)))
        y = n.op("MatMul", n.op("Softmax", scores), value)
        y = shaped(n.op("Transpose", y, perm=[0, 2, 1, 3]), 2, t, h * k)
        return added(y, shaped(n.weight(f"{name}.out", h, k, d, high=0.3), h * k, d), n.weight(f"{name}.out_bias", d), d)

    def block(name, x):
        x = n.op("Add", x, heads(f"{name}.heads", norm(f"{name}.norm", x)))
        y = added(norm(f"{name}.last", x), n.weight(f"{name}.up.w", d, f), n.weight(f"{name}.up.b", f), f)
        return n.op("Add", x, added(n.op("Gelu", y), n.weight(f"{name}.down.w", f, d), n.weight(f"{name}.down.b", d), d))

    x = n.op("Add", n.op("Gather", n.weight("w.tokens", v, d), "words"), n.weight("w.positions", t, d))
    x = norm("w.norm", block("w.b", block("w.a", x)))
    return n.model(n.op("MatMul", x, n.weight("w.last", d, v)))


NETWORKS = {f.__name__: f for f in (mlp, lenet, resnet, resnet3d, mobilenet, vgg, squeezenet, densenet, inception, dcgan, dqn, lstm, yolo, transformer)}
