"""Writes the seeds of the fuzzers of Caffe, Caffe2 and MXNet, layers of the tests, several to a file, and one of each operator of com.microsoft."""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/import"))

import caffe_cases  # noqa: E402
from caffe2_nets import field, net, operator  # noqa: E402
from caffe_nets import blob, inputs, prototxt  # noqa: E402

AT = pathlib.Path(__file__).parent


def renamed(layers, prefix):
    """Names are a case's own. Weights are in the text, too, if they are few."""
    for l, blobs in layers:
        l = {**l, "name": prefix + l["name"], "bottom": [prefix + b for b in l["bottom"]], "top": [prefix + t for t in l["top"]]}
        if blobs and sum(b.size for b in blobs) < 120:
            l["blobs"] = [{"shape": {"dim": list(b.shape)}, "data": [float(v) for v in b.round(1).ravel()]} for b in blobs]
        yield l, []


def caffe():
    cases = list({**caffe_cases.OPENCV, **{n: c for n, (c, _) in caffe_cases.NUMPY.items()}}.items())
    for at in range(0, len(cases), 12):
        layers = [l for k, (_, (arrays, made)) in enumerate(cases[at:at + 12]) for l in renamed(inputs(arrays) + made, f"{k}")]
        (AT / "caffe" / f"layers{at // 12}.prototxt").write_text(prototxt(layers))
    w = caffe_cases.normal(2, 1, 3, 3)
    head = field(1, "n") + field(3, "x") + b"".join(field(4, d) for d in (1, 1, 6, 6))
    param = field(1, 2) + field(2, 0) + field(4, 3)
    new = field(1, "c") + field(2, "Convolution") + field(3, "x") + field(4, "y") + field(106, param) + field(7, blob(w))
    v1 = field(2, "x") + field(3, "y") + field(4, "c") + field(5, 4) + field(10, param) + field(6, blob(w, old=True))
    v0 = field(1, field(1, "c") + field(2, "conv") + field(3, 2) + field(4, 0) + field(8, 3) + field(50, blob(w, double=True))) + field(2, "x") + field(3, "y")
    for name, layer in ("new", field(100, new)), ("v1", field(2, v1)), ("v0", field(2, v0)):
        (AT / "caffe" / f"{name}.caffemodel").write_bytes(head + layer)


def caffe2():
    window = {"kernel": 3, "pad": 1, "stride": 2}
    image = [("Conv", ["x", "w"], window), ("ConvTranspose", ["x", "w"], {"kernel": 3}), ("MaxPool", ["x"], {**window, "legacy_pad": 3}), ("AveragePool", ["x"], {"kernels": [2, 3]}),
             ("LRN", ["x"], {"size": 3, "alpha": 0.1}), ("SpatialBN", ["x", "v", "v", "v", "v"], {"is_test": 1}), ("InstanceNorm", ["x", "v", "v"], {}), ("LayerNorm", ["x"], {"axis": 1}),
             ("ResizeNearest", ["x"], {"height_scale": 2.0, "order": "NHWC"}), ("PadImage", ["x"], {"pad": 1, "mode": "reflect"}), ("ChannelShuffle", ["x"], {"group": 3}),
             ("Add", ["x", "v"], {"broadcast": 1, "axis": 1}), ("PRelu", ["x", "v"], {}), ("NCHW2NHWC", ["x"], {})]
    rows = [("FC", ["x", "f"], {}), ("MatMul", ["m", "m"], {"trans_b": 1}), ("Softmax", ["m"], {}), ("Concat", ["m", "m"], {"axis": 1}), ("Split", ["m"], {"axis": 1, "split": [2, 4]}),
            ("Slice", ["x"], {"starts": [0, 1, 2, 0], "ends": [-1, 3, -2, 5]}), ("Reshape", ["x"], {"shape": [0, -1, 4]}), ("Squeeze", ["x"], {"dims": [1]}), ("ExpandDims", ["m"], {"dims": [0, 2]}),
            ("Transpose", ["x"], {"axes": [0, 3, 1, 2]}), ("Tile", ["m"], {"tiles": 3}), ("ReduceSum", ["x"], {"axes": [1, 3]}), ("ReduceBackMean", ["x"], {"num_reduce_dim": 2}), ("TopK", ["m"], {"k": 3}),
            ("ArgMax", ["m"], {"axis": 1}), ("Cast", ["m"], {"to": 10}), ("Clip", ["m"], {"min": 0.0}), ("Normalize", ["m"], {}), ("CosineSimilarity", ["m", "m"], {}), ("Pow", ["m"], {"exponent": 2.0})]
    fill = operator("GivenTensorFill", [], ["f"], shape=[2, 144], values=[0.5] * 288)
    for name, ops, first in ("image", image, []), ("rows", rows, [fill]):
        made = [operator(k, i, [f"{k}{n}", *([f"{k}{n}b"] if k in ("Split", "TopK", "Concat") else [])], **a) for n, (k, i, a) in enumerate(ops)]
        (AT / "caffe2" / f"{name}.pb").write_bytes(net("n", first + made, ["x", "y", "m", "w", "v"], [f"{k}{n}" for n, (k, _, _) in enumerate(ops)]))


def mxnet():
    import mxnet_cases
    import test_mxnet

    cases = [(kind, [*arrays, *weights], attributes, 1) for kind, arrays, weights, attributes, _ in test_mxnet.CASES]
    cases += [case for _, case in mxnet_cases.cases()]
    cases = list({json.dumps([c[0], c[2]], default=str): c for c in cases}.values())
    kinds = {"u1": 3, "i4": 4, "i1": 5, "i8": 6}
    for at in range(0, len(cases), 40):
        nodes, heads = [], []
        for k, (kind, arrays, attributes, results) in enumerate(cases[at:at + 40]):
            first = len(nodes)
            nodes += [("null", f"x{k}_{n}", {"__shape__": a.shape, **({"__dtype__": kinds[a.dtype.str[1:]]} if a.dtype.str[1:] in kinds else {})}, []) for n, a in enumerate(arrays)]
            heads += [(len(nodes), n) for n in range(results)]
            nodes.append((kind, f"y{k}", attributes, range(first, len(nodes))))
        (AT / "mxnet" / f"operators{at // 40}.json").write_text(test_mxnet.symbol(nodes, heads))
    import struct
    array = struct.pack("<IiIqqiiif", 0xF993FAC9, 0, 2, 1, 2, 1, 0, 0, 0.5) + struct.pack("<f", 1)
    (AT / "mxnet" / "small.params").write_bytes(struct.pack("<QQQ", 0x112, 0, 1) + array + struct.pack("<QQ", 1, 5) + b"arg:w")


def microsoft():
    """The smallest of some configurations of each operator."""
    import test_microsoft as t

    found = {}

    def keep(bytes_, op):
        if len(bytes_) < len(found.get(op, bytes(3000))):
            found[op] = bytes_

    made = t.model
    t.model = lambda op, *a: [m := made(op, *a), keep(m[0], op)][0]
    t.compare = lambda op, operands, *, constants=(), outputs=1, rtol=0, atol=0, steps=0, **attributes: t.model(
        op, operands, constants, [True] * outputs if isinstance(outputs, int) else outputs, attributes)  # fmt: skip
    for kind in next(m for m in t.test_random.pytestmark if m.name == "parametrize").args[1]:
        for seed in range(8):
            kind(t.Draw(seed))
    for op, bytes_ in found.items():
        (AT / "onnx" / f"microsoft_{op}.onnx").write_bytes(bytes_)


if __name__ == "__main__":
    for make in caffe, caffe2, mxnet:
        (AT / make.__name__).mkdir(exist_ok=True)
        make()
    microsoft()
