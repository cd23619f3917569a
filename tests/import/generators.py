"""Small decoders that generate text, for searches of com.microsoft: an embedding of words and positions, and one layer
of attention with a cache."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper


def constants(d, words, heads, size, positions):
    h = heads * size
    f = lambda n, *shape: numpy_helper.from_array(d.f(*shape), n)  # noqa: E731
    return [f("wte", words, h), f("wpe", positions, h), f("w", h, 3 * h), f("b", 3 * h), f("head", h, words)]


def decoder(d, words, heads, size, positions=64):
    """The graph: ids, positions, a mask and a cache; numbers for each word, and the cache."""
    n = helper.make_node
    nodes = [n("Gather", ["wte", "input_ids"], ["e"]), n("Gather", ["wpe", "position_ids"], ["p"]), n("Add", ["e", "p"], ["x"]),
             n("Attention", ["x", "w", "b", "attention_mask", "past_0"], ["y", "present_0"], domain="com.microsoft", num_heads=heads, unidirectional=1),
             n("Add", ["x", "y"], ["z"]), n("MatMul", ["z", "head"], ["logits"])]
    i, f = TensorProto.INT32, TensorProto.FLOAT
    v = helper.make_tensor_value_info
    inputs = [v("input_ids", i, ["B", "S"]), v("position_ids", i, ["B", "S"]), v("attention_mask", i, ["B", "T"]), v("past_0", f, [2, "B", heads, "P", size])]
    return helper.make_graph(nodes, "decoder", inputs, [v("logits", f, ["B", "S", words]), v("present_0", f, [2, "B", heads, "T", size])],
                             constants(d, words, heads, size, positions))


# ---- encoders and decoders ----

class Net:
    """Nodes and constants of a graph, whose names begin with a prefix."""

    def __init__(self, d, prefix=""):
        self.d, self.prefix, self.nodes, self.first = d, prefix, [], []

    def op(self, kind, *inputs, out=None, **attributes):
        out = out or f"{self.prefix}v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def number(self, *values):
        name = f"{self.prefix}c{len(self.first)}"
        self.first.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def weight(self, *shape):
        name = f"{self.prefix}w{len(self.first)}"
        self.first.append(numpy_helper.from_array(self.d.f(*shape, scale=0.7), name))
        return name

    def heads(self, x, weight, heads, size, out=None):
        """x @ weight, split into heads: [batch, heads, length, size]."""
        y = self.op("Reshape", self.op("MatMul", x, weight), self.number(0, 0, heads, size))
        return self.op("Transpose", y, perm=[0, 2, 1, 3], out=out)

    def attend(self, q, k, v, width, mask=None):
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        if mask:
            scores = self.op("Add", scores, mask)
        y = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.op("Reshape", y, self.number(0, 0, width))


class Translator:
    """An encoder and a decoder with caches as T5's (`audio`: as Whisper's) for a search of com.microsoft. Names of
    weights begin with w: both graphs have the same ones."""

    def __init__(self, d, words, heads, size, layers=1, audio=0, hidden=True, whole=False):
        self.words, self.heads, self.size, self.layers, self.audio, self.hidden, self.whole = words, heads, size, layers, audio, hidden, whole
        self.width = h = heads * size
        shapes = {"wte": (words, h), "wpe": (64, h), "head": (h, words), "conv": (audio or 1, h)}
        for k in range(layers):
            shapes |= {f"{n}{k}": (h, h) for n in ("q", "k", "v", "o", "cq", "ck", "cv", "co")}
        self.shared = {n: numpy_helper.from_array(d.f(*s, scale=0.5), "w_" + n) for n, s in shapes.items()}
        self.d, self.v = d, helper.make_tensor_value_info

    def graph(self, net, name, inputs, outputs):
        used = {i for n in net.nodes for i in n.input}
        return helper.make_graph(net.nodes, name, inputs, outputs, net.first + [w for w in self.shared.values() if w.name in used])

    def memory(self, net):
        """What the encoder says of its input."""
        if self.audio:
            return net.op("MatMul", net.op("Transpose", "encoder_input_ids", perm=[0, 2, 1]), "w_conv")
        x = net.op("Gather", "w_wte", "encoder_input_ids")
        lower = net.op("Cast", net.op("Unsqueeze", "encoder_attention_mask", net.number(2)), to=TensorProto.FLOAT)
        return net.op("Tanh", net.op("Mul", x, lower))

    def cross(self, net, x):
        return [net.heads(x, f"w_c{n}{k}", self.heads, self.size, out=f"present_{w}_cross_{k}")
                for k in range(self.layers) for n, w in (("k", "key"), ("v", "value"))]

    def decode(self, net, ids, past, cross, mask):
        """ids [batch, n], past and cross: names of caches. Gives the logits and present caches."""
        if self.whole:
            ids = net.op("Slice", ids, net.number(-1), net.number(1 << 30), net.number(1))
        n = net.op("Gather", net.op("Shape", ids), net.number(1))
        length = net.op("Gather", net.op("Shape", past[0]), net.number(2)) if past else net.number(0)
        begin, end = (net.op("Squeeze", v) for v in (length, net.op("Add", length, n)))
        step = net.op("Squeeze", net.number(1))
        x = net.op("Add", net.op("Gather", "w_wte", ids), net.op("Gather", "w_wpe", net.op("Range", begin, end, step)))
        for k in range(self.layers):
            q = net.heads(x, f"w_q{k}", self.heads, self.size)
            now = []
            for i, w in enumerate(("k", "v")):
                out = f"present_{('key', 'value')[i]}_self_{k}"
                if past:
                    now.append(net.op("Concat", past[2 * k + i], net.heads(x, f"w_{w}{k}", self.heads, self.size), axis=2, out=out))
                else:
                    now.append(net.heads(x, f"w_{w}{k}", self.heads, self.size, out=out))
            x = net.op("Add", x, net.op("MatMul", net.attend(q, *now, self.width), f"w_o{k}"))
            q = net.heads(x, f"w_cq{k}", self.heads, self.size)
            x = net.op("Add", x, net.op("MatMul", net.attend(q, cross[2 * k], cross[2 * k + 1], self.width, mask), f"w_co{k}"))
        return net.op("MatMul", x, "w_head", out="logits")

    def caches(self, prefix, kind, length):
        return [self.v(f"{prefix}_{w}_{kind}_{k}", TensorProto.FLOAT, ["B", self.heads, length, self.size])
                for k in range(self.layers) for w in ("key", "value")]

    def bias(self, net):
        """-30 where the mask is 0: [batch, 1, 1, length]"""
        if self.audio:
            return None
        free = net.op("Cast", net.op("Unsqueeze", "encoder_attention_mask", net.number(1, 2)), to=TensorProto.FLOAT)
        far = net.op("Cast", net.number(30), to=TensorProto.FLOAT)
        return net.op("Mul", net.op("Sub", free, net.op("Cast", net.number(1), to=TensorProto.FLOAT)), far)

    def given(self):
        i = TensorProto.INT32
        if self.audio:
            return [self.v("encoder_input_ids", TensorProto.FLOAT, ["B", self.audio, "E"])]
        return [self.v("encoder_input_ids", i, ["B", "E"]), self.v("encoder_attention_mask", i, ["B", "E"])]

    def encoder(self, first=True):
        """first: it also has the decoder's first step."""
        net = Net(self.d, "e")
        x = self.memory(net)
        cross = self.cross(net, x)
        if not first:
            return self.graph(net, "encoder", self.given(), self.caches("present", "cross", "E"))
        self.whole, whole = False, self.whole
        self.decode(net, "decoder_input_ids", [], cross, self.bias(net))
        self.whole = whole
        net.op("Identity", x, out="encoder_hidden_states")
        f = TensorProto.FLOAT
        outputs = [self.v("logits", f, ["B", "S", self.words]), self.v("encoder_hidden_states", f, ["B", "E", self.width])]
        return self.graph(net, "encoder", self.given() + [self.v("decoder_input_ids", TensorProto.INT32, ["B", "S"])],
                          outputs + self.caches("present", "self", "S") + self.caches("present", "cross", "E"))

    def decoder(self):
        net = Net(self.d, "d")
        i, f = TensorProto.INT32, TensorProto.FLOAT
        inputs = [self.v("input_ids", i, ["B", "S" if self.whole else 1])] + [x for x in self.given()[1:]]
        if self.hidden:
            inputs.append(self.v("encoder_hidden_states", f, ["B", "E", self.width]))
        past, cross = self.caches("past", "self", "P"), self.caches("past", "cross", "E")
        self.decode(net, "input_ids", [p.name for p in past], [c.name for c in cross], self.bias(net))
        return self.graph(net, "decoder", inputs + past + cross, [self.v("logits", f, ["B", 1, self.words])] + self.caches("present", "self", "T"))
