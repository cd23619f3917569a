#!/usr/bin/env python3
"""Operators that move more data than they compute, one thread, as shares of the memory's rate; the table goes into
README.md.

    build/venv/bin/python bench/memory_bound.py [--runs 20] [--rounds 3] [--step prepare|time] [FILTER ...]

Each is an ONNX model of one node, or of a short chain that is one kernel. All of its kernels count, by kernel_times.c.
The share compares its time with that of its inputs and outputs at the rate of ../shared/bench/peak.c's streaming read.
Tensors of a few MB stay in a cache between runs, so that a share may exceed 100 %; an operator that writes as much as
it reads has at most the share of `relu`. FILTERs are parts of names; the table is written only if all are measured.
"""

import re
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import layers
import report

GOAL = 70  # percent
TOLERANCE = 1e-4


class Line:
    """A chain of nodes: (operator, inputs, attributes); inputs are `x`, the node before (None), or constants."""

    def __init__(self, name, shape, *nodes, more=()):
        self.name, self.shapes, self.nodes = name, [shape, *more], nodes

    def model(self):
        rng, fixed, nodes, last = np.random.default_rng(7), [], [], "x0"
        for i, (op, inputs, attributes) in enumerate(self.nodes):
            names = []
            for x in inputs:
                if isinstance(x, np.ndarray):
                    fixed.append(numpy_helper.from_array(x, f"c{len(fixed)}"))
                    x = fixed[-1].name
                names.append(last if x is None else x)
            last = f"y{i}"
            nodes.append(helper.make_node(op, names, [last], **attributes))
        io = lambda n, d: helper.make_tensor_value_info(n, TensorProto.FLOAT, d)
        graph = helper.make_graph(nodes, "line", [io(f"x{i}", d) for i, d in enumerate(self.shapes)],
                                  [helper.make_empty_tensor_value_info(last)], fixed)  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        feed = {f"x{i}": rng.standard_normal(d, dtype=np.float32) for i, d in enumerate(self.shapes)}
        return inferred, feed


def lines():
    one = lambda name, op, shape, inputs=(None,), **a: Line(name, shape, (op, inputs, a))
    image, i64 = [1, 64, 112, 112], lambda *v: np.array(v, dtype=np.int64)
    ones = lambda *d: np.full(d, 0.5, dtype=np.float32)
    scales = np.array([1, 1, 2, 2], dtype=np.float32)
    none = np.zeros(0, dtype=np.float32)
    pool = lambda k, s, p: dict(kernel_shape=[k, k], strides=[s, s], pads=[p] * 4)
    return [
        one("relu", "Relu", image),
        one("add of two", "Add", image, (None, "x0")),
        Line("relu(x * a + b) by channel", image, ("Mul", (None, ones(1, 64, 1, 1)), {}),
             ("Add", (None, ones(1, 64, 1, 1)), {}), ("Relu", (None,), {})),
        Line("x * sigmoid(x)", image, ("Sigmoid", (None,), {}), ("Mul", (None, "x0"), {})),
        one("tanh", "Tanh", image),
        Line("gelu", [128, 3072], ("Div", (None, ones()), {}), ("Erf", (None,), {}), ("Add", (None, ones()), {}),
             ("Mul", (None, "x0"), {})),
        one("lrn 5", "LRN", [1, 96, 55, 55], size=5, alpha=1e-4, beta=0.75, bias=1.0),
        one("max pool 3x3, stride 2", "MaxPool", image, **pool(3, 2, 1)),
        one("max pool 3x3", "MaxPool", image, **pool(3, 1, 1)),
        one("max pool 2x2, stride 2", "MaxPool", image, **pool(2, 2, 0)),
        one("average pool 2x2, stride 2", "AveragePool", image, **pool(2, 2, 0)),
        one("average pool 3x3", "AveragePool", image, **pool(3, 1, 1)),
        one("global average pool", "GlobalAveragePool", [1, 1024, 28, 28]),
        one("global average pool of 7x7", "GlobalAveragePool", [8, 1280, 7, 7]),
        one("sum over the last axis", "ReduceSum", [2048, 512], (None, i64(-1)), keepdims=0),
        one("sum over the last, of 49", "ReduceSum", [16384, 49], (None, i64(-1)), keepdims=0),
        one("maximum over the last axis", "ReduceMax", [2048, 512], axes=[-1], keepdims=0),
        one("sum over the first axis", "ReduceSum", [512, 2048], (None, i64(0)), keepdims=0),
        one("mean over the middle axis", "ReduceMean", [16, 128, 512], axes=[1], keepdims=0),
        one("mean over channels", "ReduceMean", image, axes=[1], keepdims=1),
        one("mean of all", "ReduceMean", [1024, 1024], keepdims=0),
        one("softmax, last axis", "Softmax", [1536, 128], axis=-1),
        one("softmax, last axis of 1000", "Softmax", [256, 1000], axis=-1),
        one("softmax over channels", "Softmax", [1, 21, 128, 128], axis=1),
        one("softmax, middle axis", "Softmax", [16, 128, 256], axis=1),
        one("layer norm", "LayerNormalization", [512, 768], (None, ones(768), ones(768)), axis=-1),
        one("resize twice, nearest", "Resize", [1, 64, 56, 56], (None, none, scales), mode="nearest",
            coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        one("resize twice, linear", "Resize", [1, 64, 56, 56], (None, none, scales), mode="linear",
            coordinate_transformation_mode="half_pixel"),
        one("depth to space 2", "DepthToSpace", [1, 256, 56, 56], blocksize=2),
        one("depth to space 2, CRD", "DepthToSpace", [1, 256, 56, 56], blocksize=2, mode="CRD"),
        one("space to depth 2", "SpaceToDepth", image, blocksize=2),
        one("transpose of a matrix", "Transpose", [1024, 768], perm=[1, 0]),
        one("channels last", "Transpose", image, perm=[0, 2, 3, 1]),
        one("channels first", "Transpose", [1, 112, 112, 64], perm=[0, 3, 1, 2]),
        one("channels last, of 3", "Transpose", [1, 3, 512, 512], perm=[0, 2, 3, 1]),
        one("channels first, of 3", "Transpose", [1, 512, 512, 3], perm=[0, 3, 1, 2]),
        one("heads", "Transpose", [8, 128, 12, 64], perm=[0, 2, 1, 3]),
        one("heads, turned", "Transpose", [8, 128, 12, 64], perm=[0, 2, 3, 1]),
        one("batched transpose", "Transpose", [16, 256, 256], perm=[0, 2, 1]),
        one("pad by 1", "Pad", image, (None, i64(0, 0, 1, 1, 0, 0, 1, 1))),
        one("slice of a half", "Slice", image, (None, i64(28), i64(84), i64(3))),
        one("concat of two", "Concat", image, (None, "x0"), axis=1),
    ]  # fmt: skip


def prepare(program, folder, line, path):
    model, feed = line.model()
    onnx.save(model, path)
    files = [folder / f"{n}.line" for n in feed]
    for f, x in zip(files, feed.values()):
        x.tofile(f)
    want = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feed)[0]
    layers.kernel_rows(program, path, 1, "--out", folder / "out.line", files=files)
    got = np.fromfile(folder / "out.line", dtype=np.float32).reshape(want.shape)
    error = np.abs(got - want).max() / np.abs(want).max()
    if not error <= TOLERANCE:
        raise SystemExit(f"{line.name}: the largest difference is {error:.1e}")
    path.with_suffix(".bytes").write_text(str(want.nbytes + sum(x.nbytes for x in feed.values())))


def bandwidth(peak):
    text = subprocess.check_output([peak, "1"], text=True)
    return float(re.search(r"streaming read\s+([\d.]+)", text)[1])


def main():
    p = layers.arguments(__doc__, runs=20, rounds=3)
    p.add_argument("--step", choices=("prepare", "time"), help="only this; both")
    p.add_argument("filters", nargs="*", metavar="FILTER")
    a = p.parse_args()
    folder, peak, program = layers.programs(a, "lines")
    todo = [x for x in lines() if not a.filters or any(f in x.name for f in a.filters)]
    path = {x.name: folder / (re.sub(r"\W+", "_", x.name) + ".onnx") for x in todo}
    if a.step != "time":
        for x in todo:
            prepare(program, folder, x, path[x.name])
    if a.step == "prepare":
        return
    top, least = 0.0, {}
    for _ in range(a.rounds):
        top = max(top, bandwidth(peak))
        for x in todo:
            rows = layers.kernel_rows(program, path[x.name], a.runs)
            least[x.name] = min(least.get(x.name, (1 << 62, [])), (sum(ns for ns, _ in rows), rows))
    table = []
    for x in todo:
        nbytes, (ns, rows) = int(path[x.name].with_suffix(".bytes").read_text()), least[x.name]
        share = 100 * nbytes / top / ns
        shape = " and ".join("x".join(map(str, d)) for d in x.shapes)
        table.append([x.name, shape, f"{nbytes / 1e6:.1f}", f"{ns / 1e3:.1f}", f"{share:.0f} %",
                      "yes" if share >= GOAL else "**no**"])  # fmt: skip
        print(f"{share:5.0f} %  {ns / 1e3:8.1f} us  {x.name}", flush=True)
        for row in rows if share < GOAL else ():
            print(f"             {row[0] / 1e3:8.1f} us  " + row[1].replace("\t", ": "))
    head = ["operator", "of", "MB", "us", "share", f"{GOAL} %"]
    if not a.filters:
        about = f"{report.machine()}; {report.today()}; {top:.1f} GB/s; least of {a.rounds} rounds of {a.runs} runs.\n\n"
        report.write("lines", about + report.table(head, table))


if __name__ == "__main__":
    main()
