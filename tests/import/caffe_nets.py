"""Writes networks of Caffe without Caffe: the text of a network, and files of weights in the forms of all versions."""
import numpy as np
from caffe2_nets import field


class Word(str):
    """An enumerator, which has no quotes in the text form."""


def text(value, depth=0):
    """A dictionary as the text form of a message: lists are repeated fields."""
    out = []
    for name, v in value.items():
        for one in v if isinstance(v, list) else [v]:
            if isinstance(one, dict):
                out.append("  " * depth + name + " {\n" + text(one, depth + 1) + "  " * depth + "}\n")
            else:
                shown = one if isinstance(one, Word) else '"' + one + '"' if isinstance(one, str) else str(one).lower()
                out.append("  " * depth + f"{name}: {shown}\n")
    return "".join(out)


def layer(kind, bottom=(), top=("y",), blobs=(), name=None, **more):
    """A layer; `more` has its parameters, such as pooling_param={...}."""
    return {"name": name or f"{kind}_{top[0] if top else bottom[0]}", "type": kind, "bottom": list(bottom), "top": list(top), **more}, list(blobs)


def inputs(arrays):
    """An Input layer for each array."""
    return [layer("Input", [], [n], name=n, input_param={"shape": {"dim": list(a.shape)}}) for n, a in arrays.items()]


def prototxt(layers):
    return 'name: "net"\n' + text({"layer": [l for l, _ in layers]})


def blob(a, old=False, double=False):
    a = np.asarray(a)
    if old:
        shape = b"".join(field(k + 1, d) for k, d in enumerate([1] * (4 - a.ndim) + list(a.shape)))
    else:
        shape = field(7, field(1, b"".join(bytes([d]) if d < 128 else bytes([d & 127 | 128, d >> 7]) for d in a.shape)))
    return shape + (field(8, a.astype("<f8").tobytes()) if double else field(5, a.astype("<f4").tobytes()))


def weights(layers, old=False, double=False):
    """A NetParameter that has the layers' names, types and blobs."""
    out = field(1, "net")
    for l, blobs in layers:
        body = field(1, l["name"]) + field(2, l["type"]) + b"".join(field(3, b) for b in l["bottom"]) + b"".join(field(4, t) for t in l["top"])
        out += field(100, body + b"".join(field(7, blob(b, old, double)) for b in blobs))
    return out


def write(folder, layers, **form):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "net.prototxt").write_text(prototxt(layers))
    (folder / "net.caffemodel").write_bytes(weights(layers, **form))
    return folder / "net.prototxt"
