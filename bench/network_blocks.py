"""Blocks of which random_networks.py and network_kinds.py make networks."""

import numpy as np
import unseen
from onnx import TensorProto, helper

LAST = np.iinfo(np.int64).max


class Net(unseen.Net):
    """Adds blocks of more kinds. `d` draws sizes, and `random` makes the weights."""

    def __init__(self, d, *shape):
        super().__init__(*shape)
        self.d, self.random = d, d.r

    def normal(self, *shape, scale):
        """Remembers the last size of the newest weights in `last`."""
        self.last = shape[-1]
        return super().normal(*shape, scale=scale)

    def convolve(self, x, cin, cout, kernel, stride=1, group=1, dilation=1, act="relu", pads=None):
        """In as many dimensions as the kernel has."""
        n = len(kernel)
        w = self.normal(cout, cin // group, *kernel, scale=(2 / (cin // group * np.prod(kernel))) ** 0.5)
        pads = pads or [(k - 1) * dilation // 2 for k in kernel] * 2
        x = self.op("Conv", x, w, self.normal(cout, scale=0.1), kernel_shape=list(kernel), strides=[stride] * n, pads=pads,
                    group=group, dilations=[dilation] * n)  # fmt: skip
        return self.activate(x, act)

    def activate(self, x, act):
        if act == "gelu":
            half, one = self.constant(np.float32(0.5)), self.constant(np.float32(1))
            erf = self.op("Erf", self.op("Div", x, self.constant(np.float32(2**0.5))))
            return self.op("Mul", self.op("Mul", x, self.op("Add", erf, one)), half)
        if act == "tanh_gelu":
            cube = self.op("Mul", self.op("Mul", x, x), x)
            inner = self.op("Add", x, self.op("Mul", cube, self.constant(np.float32(0.044715))))
            tanh = self.op("Tanh", self.op("Mul", inner, self.constant(np.float32((2 / np.pi) ** 0.5))))
            return self.op("Mul", self.op("Mul", x, self.constant(np.float32(0.5))), self.op("Add", tanh, self.constant(np.float32(1))))
        if act in ("relu", "silu", "hswish", None):
            return self.act(x, act)
        return self.op(act, x)

    def batch_norm(self, x, c):
        v = lambda: self.normal(c, scale=0.1)
        return self.op("BatchNormalization", x, self.constant(np.ones(c, np.float32)), v(), v(), self.constant(np.ones(c, np.float32)))

    def rms_norm(self, x, c):
        mean = self.op("ReduceMean", self.op("Mul", x, x), self.ints(-1))
        root = self.op("Sqrt", self.op("Add", mean, self.constant(np.float32(1e-5))))
        return self.op("Mul", self.op("Mul", x, self.op("Reciprocal", root)), self.constant(np.ones(c, np.float32)))

    def ints(self, *of):
        return self.constant(np.array(of, np.int64))

    def attention(self, x, tokens, width, heads, mask=None):
        each = width // heads
        q, k, v = (self.op("Transpose", self.op("Reshape", self.linear(x, width, width), self.ints(-1, tokens, heads, each)), perm=p)
                   for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))  # fmt: skip
        scores = self.op("Mul", self.op("MatMul", q, k), self.constant(np.float32(each**-0.5)))
        if mask is not None:
            scores = self.op("Add", scores, mask)
        y = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", y, self.ints(-1, tokens, width)), width, width)


def cut(n, x, axis, first, last, step=1):
    """x[..., first:last:step, ...]; `last` may be None."""
    return n.op("Slice", x, n.ints(first), n.ints(LAST if last is None else last), n.ints(axis), n.ints(step))


def split(n, x, sizes, axis):
    names = [f"s{len(n.nodes)}_{k}" for k in range(len(sizes))]
    n.nodes.append(helper.make_node("Split", [x, n.ints(*sizes)], names, axis=axis))
    return names


def number(n, value):
    return n.constant(np.float32(value))


def feed_forward(n, x, width, grow, act):
    return n.linear(n.activate(n.linear(x, width, grow * width), act), grow * width, width)


def heads_of(n, x, tokens, heads, each, perm=(0, 2, 1, 3)):
    return n.op("Transpose", n.op("Reshape", x, n.ints(-1, tokens, heads, each)), perm=list(perm))


def attend(n, q, k, v, each, extra=None):
    """Softmax of q k v, of which k is transposed already."""
    scores = n.op("Mul", n.op("MatMul", q, k), number(n, each**-0.5))
    if extra is not None:
        scores = n.op("Add", scores, extra)
    return n.op("MatMul", n.op("Softmax", scores, axis=-1), v)


def cross_attention(n, x, tokens, y, others, width, heads):
    each = width // heads
    q = heads_of(n, n.linear(x, width, width), tokens, heads, each)
    k = heads_of(n, n.linear(y, width, width), others, heads, each, (0, 2, 3, 1))
    v = heads_of(n, n.linear(y, width, width), others, heads, each)
    out = n.op("Transpose", attend(n, q, k, v, each), perm=[0, 2, 1, 3])
    return n.linear(n.op("Reshape", out, n.ints(-1, tokens, width)), width, width)


def fused_attention(n, x, tokens, width, heads, extra=None):
    """Queries, keys and values of one product, split along a new axis, as in timm and Swin."""
    each = width // heads
    y = n.op("Reshape", n.linear(x, width, 3 * width), n.ints(-1, tokens, 3, heads, each))
    y = n.op("Transpose", y, perm=[2, 0, 3, 1, 4])
    q, k, v = (n.op("Gather", y, n.constant(np.array(i, np.int64)), axis=0) for i in range(3))
    out = attend(n, q, n.op("Transpose", k, perm=[0, 1, 3, 2]), v, each, extra)
    return n.linear(n.op("Reshape", n.op("Transpose", out, perm=[0, 2, 1, 3]), n.ints(-1, tokens, width)), width, width)


def group_norm(n, x, c, groups):
    """As exporters write it: an instance normalization of groups, then a factor and an offset for each channel."""
    y = n.op("Reshape", x, n.ints(0, groups, -1))
    y = n.op("InstanceNormalization", y, n.constant(np.ones(groups, np.float32)), n.constant(np.zeros(groups, np.float32)))
    y = n.op("Reshape", y, n.op("Shape", x))
    return n.op("Add", n.op("Mul", y, n.normal(c, 1, 1, scale=1)), n.normal(c, 1, 1, scale=0.1))


def scan(n, carry, shape, steps, constants, body):
    """A Scan over `steps`, lists of (tensor, shape of an element); `body` returns the next state and the result of a step."""
    inner, outer = type(n).__new__(type(n)), n.nodes
    inner.__dict__.update(n.__dict__, nodes=[])
    names = [f"i{len(outer)}_{k}" for k in range(len(steps) + 1)]
    following, result, of_result = body(inner, names[0], names[1:], constants)
    info = lambda name, s: helper.make_tensor_value_info(name, TensorProto.FLOAT, s)
    for k, node in enumerate(inner.nodes):  # names of a body are its own
        for field in (node.input, node.output):
            field[:] = [f"b{len(outer)}{s}" if s.startswith("t") else s for s in field]
    own = lambda s: f"b{len(outer)}{s}" if s.startswith("t") else s
    ins = [info(m, s) for m, s in zip(names, [shape, *(s for _, s in steps)])]
    graph = helper.make_graph(inner.nodes, "body", ins, [info(own(following), shape), info(own(result), of_result)])
    last, all_of = f"l{len(outer)}", f"y{len(outer)}"
    outer.append(helper.make_node("Scan", [carry, *(t for t, _ in steps)], [last, all_of], body=graph, num_scan_inputs=len(steps)))
    return all_of
