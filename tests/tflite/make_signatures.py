#!/usr/bin/env python3
"""Writes models/signatures.tflite: x + y under the name "sum", x * x under the name "square". Needs ai-edge-litert."""

import pathlib

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from tflite_build import Case, Tensor, Writer, options


def mapping(name, index):
    m = schema.TensorMapT()
    m.name, m.tensorIndex = name, index
    return m


def main():
    x, y = (Tensor([2, 3], "f4", None, np.zeros([2, 3], "f4")) for _ in range(2))
    out = Tensor([2, 3], "f4")
    w = Writer()
    w.add(Case("ADD", 1, [x, y], [out], options("AddOptions")))
    first, second = w.g, schema.SubGraphT()
    second.tensors, second.operators, second.inputs, second.outputs = [], [], [], []
    w.g = second
    w.add(Case("SQUARE", 1, [x], [out], options("SquareOptions")))
    w.m.subgraphs, w.m.signatureDefs = [first, second], []
    for index, (key, inputs) in enumerate((("sum", ["x", "y"]), ("square", ["x"]))):
        s = schema.SignatureDefT()
        s.signatureKey, s.subgraphIndex = key, index
        s.inputs = [mapping(n, k) for k, n in enumerate(inputs)]
        s.outputs = [mapping("result", len(inputs))]
        w.m.signatureDefs.append(s)
    b = flatbuffers.Builder(1024)
    b.Finish(w.m.Pack(b), b"TFL3")
    pathlib.Path(__file__).with_name("models").joinpath("signatures.tflite").write_bytes(bytes(b.Output()))


if __name__ == "__main__":
    main()
