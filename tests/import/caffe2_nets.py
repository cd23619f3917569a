"""Writes networks of Caffe2 without Caffe2: the wire format of a NetDef."""
import struct

import numpy as np


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, value):
    """A varint for integers, 4 bytes for floats, else bytes with their length."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, (int, np.integer)):
        return varint(number << 3) + varint(int(value))
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def argument(name, value):
    out = field(1, name)
    if isinstance(value, (list, tuple, np.ndarray)):
        floats = any(isinstance(v, (float, np.floating)) for v in value)
        return out + b"".join(field(5 if floats else 6, float(v) if floats else int(v)) for v in value)
    return out + field(2 if isinstance(value, float) else 4 if isinstance(value, str) else 3, value)


def operator(kind, inputs, outputs, **arguments):
    out = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(4, kind)
    return out + b"".join(field(5, argument(n, v)) for n, v in arguments.items())


def net(name, operators, inputs=(), outputs=()):
    return field(1, name) + b"".join(field(2, o) for o in operators) + b"".join(field(7, i) for i in inputs) + b"".join(field(8, o) for o in outputs)


def weight(name, a):
    kind = {"f4": "", "f8": "Double", "i4": "Int", "i8": "Int64", "b1": "Bool"}[a.dtype.str[1:]]
    values = [float(v) for v in a.ravel()] if a.dtype.kind == "f" else [int(v) for v in a.ravel()]
    return operator(f"GivenTensor{kind}Fill", [], [name], shape=list(a.shape), values=values)


def write(folder, operators, inputs, outputs, weights):
    """predict_net.pb and, if there are weights, init_net.pb. Returns the path of the former."""
    folder.mkdir(exist_ok=True)
    (folder / "predict_net.pb").write_bytes(net("n", operators, [*inputs, *weights], outputs))
    if weights:
        (folder / "init_net.pb").write_bytes(net("n_init", [weight(n, a) for n, a in weights.items()]))
    return folder / "predict_net.pb"
