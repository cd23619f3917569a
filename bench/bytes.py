#!/usr/bin/env python3
"""Quantized convolutions by themselves, one thread, as shares of the ceiling of 8-bit dot products.

    build/venv/bin/python bench/bytes.py [--runs 60] [--rounds 3] [FILTER ...]

The convolutions of ResNet-50 and of MobileNetV2 as QLinearConv on random bytes: the sums and their conversion back to
bytes. The same kernels count as in layers.py. The ceiling is four times that of f32 multiply-adds
(../shared/bench/peak.c) if the machine has dot products of bytes.
"""

import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import layers
import report


def save(layer, path):
    rng, n = np.random.default_rng(20), len(layer.size)
    w = rng.integers(-127, 128, (layer.cout, layer.cin // layer.group, *layer.kernel)).astype(np.int8)
    scale = rng.uniform(0.001, 0.002, layer.cout).astype(np.float32)
    constants = {"sx": np.float32(0.02), "zx": np.uint8(7), "w": w, "sw": scale, "zw": np.zeros(layer.cout, np.int8),
                 "sy": np.float32(0.5), "zy": np.uint8(9), "b": rng.integers(-999, 999, layer.cout).astype(np.int32)}  # fmt: skip
    node = helper.make_node("QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"], ["y"], pads=layer.pad,
                            strides=[layer.stride] * n, group=layer.group)  # fmt: skip
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [1, layer.cin, *layer.size])
    y = helper.make_tensor_value_info("y", TensorProto.UINT8, [1, layer.cout, *layer.out])
    made = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph([node], "layer", [x], [y], made)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def shapes():
    found = [x for x in layers.layers() if x.kind == "resnet50"]

    def add(kind, cin, size, cout, kernel, stride, group=1):
        name = f"{cin} to {cout}, {size}x{size}, {kernel}x{kernel}" + (f", stride {stride}" if stride > 1 else "")
        name += ", depthwise" if group > 1 else ""
        found.append(layers.Layer(kind, name, cin, (size, size), cout, (kernel, kernel), stride, 1, group))

    add("resnet50", 3, 224, 64, 7, 2)
    add("mobilenet_v2", 3, 224, 32, 3, 2)
    for c, s, o in [(32, 112, 16), (16, 112, 96), (96, 56, 24), (24, 56, 144), (144, 56, 24), (144, 28, 32), (32, 28, 192),
                    (192, 28, 32), (192, 14, 64), (64, 14, 384), (384, 14, 64), (384, 14, 96), (96, 14, 576), (576, 14, 96),
                    (576, 7, 160), (160, 7, 960), (960, 7, 160), (960, 7, 320), (320, 7, 1280)]:  # fmt: skip
        add("mobilenet_v2", c, s, o, 1, 1)
    for c, s, stride in [(32, 112, 1), (96, 112, 2), (144, 56, 1), (144, 56, 2), (192, 28, 1), (192, 28, 2), (384, 14, 1),
                         (576, 14, 1), (576, 14, 2), (960, 7, 1)]:  # fmt: skip
        add("mobilenet_v2", c, s, c, 3, stride, c)
    return found


def main():
    p = layers.arguments(__doc__, runs=60, rounds=3)
    p.add_argument("filters", nargs="*", metavar="FILTER")
    a = p.parse_args()
    folder, peak, program = layers.programs(a, "bytes")
    todo = [x for x in shapes() if not a.filters or any(f in x.name for f in a.filters)]
    top, least = 0.0, {}
    for _ in range(a.rounds):
        for k, x in enumerate(todo):
            if k % 8 == 0:
                top = max(top, 4 * layers.ceiling(peak))
            model = folder / (re.sub(r"\W+", "_", x.name) + ".onnx")
            save(x, model)
            least[x.name] = min(layers.kernel_time(program, model, a.runs), least.get(x.name, 1 << 62))
    print(f"{report.machine()}; {report.today()}; ceiling {top:.0f} Gop/s; least of {a.rounds} rounds of {a.runs} runs.\n")
    for kind in ("resnet50", "mobilenet_v2"):
        mine = [x for x in todo if x.kind == kind]
        rows = [[x.name, f"{x.flops / 1e6:.0f}", f"{least[x.name] / 1e3:.1f}",
                 f"{100 * x.flops / least[x.name] / top:.0f} %"] for x in mine]  # fmt: skip
        took = sum(least[x.name] for x in mine)
        share = 100 * sum(x.flops for x in mine) / max(took, 1) / top
        rows.append(["all", f"{sum(x.flops for x in mine) / 1e6:.0f}", f"{took / 1e3:.1f}", f"{share:.0f} %"])
        print(f"{kind}:\n\n{report.table(['layer', 'Mop', 'us', 'share'], rows)}")


if __name__ == "__main__":
    main()
