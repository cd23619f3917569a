"""Writes the seeds of the fuzzers of Caffe, Caffe2 and MXNet: layers of the tests, several to a file."""
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
    ops = [("Convolution", "xw", {"kernel": "(3, 3)", "num_filter": 4, "no_bias": True, "pad": "(1, 1)"}), ("Pooling", "x", {"kernel": "(3, 3)", "stride": "(2, 2)", "pooling_convention": "full"}),
           ("BatchNorm", "xvvvv", {"eps": 0.001}), ("LayerNorm", "mmm", {}), ("L2Normalization", "x", {"mode": "channel"}), ("LRN", "x", {"nsize": 3}), ("Pad", "x", {"pad_width": "(0,0,0,0,1,1,2,2)", "mode": "edge"}),
           ("UpSampling", "x", {"scale": 2, "sample_type": "nearest"}), ("FullyConnected", "mm", {"num_hidden": 4, "no_bias": True}), ("dot", "mm", {"transpose_b": True}), ("softmax", "m", {"axis": -1}),
           ("Reshape", "x", {"shape": "(-1, 0, -3)"}), ("transpose", "x", {"axes": "(0, 2, 3, 1)"}), ("slice", "x", {"begin": "(0, 1)", "end": "(None, 3)"}), ("slice_axis", "x", {"axis": 1, "begin": 0, "end": 2}),
           ("Concat", "xy", {"dim": 1}), ("SliceChannel", "x", {"num_outputs": 3, "axis": 1}), ("mean", "x", {"axis": "(2, 3)", "keepdims": True}), ("topk", "m", {"k": 2, "ret_typ": "both"}), ("argmax", "m", {"axis": 1}),
           ("one_hot", "m", {"depth": 4}), ("take", "mm", {"axis": 0}), ("broadcast_add", "xy", {}), ("_mul_scalar", "x", {"scalar": 2}), ("Activation", "x", {"act_type": "relu"}), ("LeakyReLU", "x", {"act_type": "elu"}),
           ("clip", "x", {"a_min": 0, "a_max": 1}), ("Cast", "x", {"dtype": "float16"}), ("expand_dims", "x", {"axis": 1}), ("squeeze", "x", {}), ("tile", "m", {"reps": "(2, 3)"}), ("SequenceMask", "x", {"value": 1})]
    names = "xymwv"
    nodes = [{"op": "null", "name": n, "inputs": []} for n in names]
    nodes += [{"op": k, "name": f"{k}{n}", "attrs": {a: str(v) for a, v in more.items()}, "inputs": [[names.index(i), 0, 0] for i in ins]} for n, (k, ins, more) in enumerate(ops)]
    heads = [[len(names) + n, 0, 0] for n in range(len(ops))]
    (AT / "mxnet" / "operators.json").write_text(json.dumps({"nodes": nodes, "arg_nodes": list(range(len(names))), "heads": heads}))
    import struct
    array = struct.pack("<IiIqqiiif", 0xF993FAC9, 0, 2, 1, 2, 1, 0, 0, 0.5) + struct.pack("<f", 1)
    (AT / "mxnet" / "small.params").write_bytes(struct.pack("<QQQ", 0x112, 0, 1) + array + struct.pack("<QQ", 1, 5) + b"arg:w")


if __name__ == "__main__":
    for make in caffe, caffe2, mxnet:
        (AT / make.__name__).mkdir(exist_ok=True)
        make()
