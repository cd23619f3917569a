#!/usr/bin/env python3
"""Single operators whose work depends on data, or runs along an axis: sorting, scanning, compacting, regions of images,
trees. Wick and ONNX Runtime in one process, in turns; the table goes into README.md.

    build/venv/bin/python bench/operators.py [--threads 1] [--rounds 9] [--write] [FILTER ...]

Each is an ONNX model of one node; times are medians of the rounds, each of which has as many runs as fit into 20 ms.
Outputs are compared, in f64 where they are floats. FILTERs are parts of names; the table is written only if all are
measured. The package `wick` is found by PYTHONPATH.
"""

import argparse
import statistics
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import report

ROUND = 0.02  # seconds
RNG = np.random.default_rng(11)


def floats(*shape):
    return RNG.standard_normal(shape, dtype=np.float32)


def whole(least, end, *shape):
    return RNG.integers(least, end, shape, dtype=np.int64)


class Case:
    """A model of one node: (operator, {input: array, or a constant as (array,)}, attributes)."""

    def __init__(self, name, op, inputs, outputs=1, opset=18, domain="", **attributes):
        self.name, self.op, self.inputs, self.attributes = name, op, inputs, attributes
        self.outputs, self.opset, self.domain = outputs, opset, domain

    def model(self):
        fixed = {n: a[0] for n, a in self.inputs.items() if isinstance(a, tuple)}
        self.feed = {n: a for n, a in self.inputs.items() if not isinstance(a, tuple) and a is not None}
        names = [n if a is not None else "" for n, a in self.inputs.items()]
        outputs = [f"y{i}" for i in range(self.outputs)]
        info = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in self.feed.items()]
        node = helper.make_node(self.op, names, outputs, domain=self.domain, **self.attributes)
        graph = helper.make_graph([node], "one", info, [helper.make_empty_tensor_value_info(o) for o in outputs],
                                  [numpy_helper.from_array(a, n) for n, a in fixed.items()])  # fmt: skip
        sets = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(self.domain, 3)] * bool(self.domain)
        model = helper.make_model(graph, opset_imports=sets, ir_version=9)
        try:
            return onnx.shape_inference.infer_shapes(model)
        except onnx.shape_inference.InferenceError:
            return model


def boxes(n):
    corner = RNG.random((1, n, 2), dtype=np.float32) * 900
    return np.concatenate([corner, corner + 20 + 80 * RNG.random((1, n, 2), dtype=np.float32)], 2)


def rois(n, size):
    a = RNG.random((n, 2)) * size * 0.6
    return np.concatenate([a, a + size * (0.1 + 0.3 * RNG.random((n, 2)))], 1).astype(np.float32)


def pooled(x):
    """The maxima of MaxPool 2x2 over x, and their indices."""
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
    best = blocks.argmax(-1)
    row, column = np.arange(h // 2)[:, None] * 2 + best // 2, np.arange(w // 2) * 2 + best % 2
    plane = np.arange(n * c).reshape(n, c, 1, 1) * h * w
    return blocks.max(-1), (plane + row * w + column).astype(np.int64)


def forest(trees, depth, features, rows):
    """Full trees, as attributes."""
    a = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")}
    leaves = {"target_treeids": [], "target_nodeids": [], "target_ids": [], "target_weights": []}
    inner = 2**depth - 1
    for t in range(trees):
        for i in range(2 * inner + 1):
            leaf = i >= inner
            for k, v in zip(a, (t, i, 0 if leaf else int(RNG.integers(features)), 0.0 if leaf else float(RNG.normal() * 0.6),
                                "LEAF" if leaf else "BRANCH_LEQ", 0 if leaf else 2 * i + 1, 0 if leaf else 2 * i + 2)):  # fmt: skip
                a[k].append(v)
            if leaf:
                for k, v in zip(leaves, (t, i, 0, float(RNG.normal()))):
                    leaves[k].append(v)
    return Case(f"TreeEnsembleRegressor of {trees} x depth {depth}, {rows} rows", "TreeEnsembleRegressor",
                {"x": floats(rows, features)}, domain="ai.onnx.ml", n_targets=1,
                **{f"nodes_{k}": v for k, v in a.items()}, **leaves)  # fmt: skip


def one(x):
    return (np.array([x], dtype=np.int64),)


def scans():
    axis = lambda k: (np.array(k, dtype=np.int64),)
    return [
        Case("CumSum along the last axis, 256x1024", "CumSum", {"x": floats(256, 1024), "axis": axis(1)}),
        Case("CumSum along the first axis, 1024x256", "CumSum", {"x": floats(1024, 256), "axis": axis(0)}),
        Case("CumSum of a line of 100000", "CumSum", {"x": floats(100000), "axis": axis(0)}),
        Case("CumSum, 8x128x64, middle", "CumSum", {"x": floats(8, 128, 64), "axis": axis(1)}),
        Case("CumSum of i64, 64x2000", "CumSum", {"x": whole(-9, 9, 64, 2000), "axis": axis(1)}),
    ]


def sorts():
    top = lambda shape, k, **a: Case(f"TopK, k={k} of {'x'.join(map(str, shape))}{', least' if not a.get('largest', 1) else ''}"
                                     f"{', axis ' + str(a['axis']) if 'axis' in a else ''}",
                                     "TopK", {"x": floats(*shape), "k": one(k)}, 2, **a)  # fmt: skip
    unique = lambda a, name, **k: Case(f"Unique of {name}", "Unique", {"x": a}, 4, **k)
    return [
        top((256, 1000), 1), top((256, 1000), 5), top((8, 32000), 50), top((1, 100000), 100),
        top((64, 1000), 1000), top((1, 100000), 100000, largest=0), top((1024, 64), 2), top((1024, 64), 64),
        top((1000, 128), 5, axis=0),
        unique(whole(0, 1000, 20000), "20000 i64, 1000 kinds"), unique(floats(20000), "20000 floats, all of their own"),
        unique(whole(0, 1000, 20000), "20000 i64, as met", sorted=0),
        unique(whole(0, 10, 2000, 4), "rows, 2000x4", axis=0),
    ]  # fmt: skip


def compactions():
    mask = RNG.random(100000) < 0.3
    index = RNG.permutation(10000).astype(np.int64)
    nms = lambda n, most, thr=0.5: Case(
        f"NonMaxSuppression of {n} boxes, at most {most}", "NonMaxSuppression",
        {"boxes": boxes(n), "scores": RNG.random((1, 1, n), dtype=np.float32), "most": one(most),
         "iou": (np.array([thr], np.float32),), "score": (np.array([0.05], np.float32),)})  # fmt: skip
    return [
        Case("NonZero of 100000", "NonZero", {"x": mask}),
        Case("NonZero, 64x64x32", "NonZero", {"x": (RNG.random((64, 64, 32)) < 0.1).astype(np.float32)}),
        Case("Compress of 100000", "Compress", {"x": floats(100000), "c": mask}),
        Case("Compress of rows, 2000x64", "Compress", {"x": floats(2000, 64), "c": mask[:2000]}, axis=0),
        nms(1000, 100), nms(5000, 200), nms(20000, 300, 0.7),
        Case("ScatterElements, 10000 of 10000", "ScatterElements", {"x": floats(10000), "i": index, "u": floats(10000)}),
        Case("ScatterElements, 256 rows of 512", "ScatterElements",
             {"x": floats(256, 512), "i": whole(0, 512, 256, 512), "u": floats(256, 512)}, axis=1),
        Case("ScatterND, 1000 rows of 64 into 5000", "ScatterND",
             {"x": floats(5000, 64), "i": RNG.permutation(5000)[:1000, None].astype(np.int64), "u": floats(1000, 64)}),
        Case("ScatterND, sums, 1000 rows of 64 into 5000", "ScatterND",
             {"x": floats(5000, 64), "i": whole(0, 5000, 1000, 1), "u": floats(1000, 64)}, reduction="add"),
    ]  # fmt: skip


def images():
    x, which = floats(1, 64, 50, 68), np.zeros(100, dtype=np.int64)
    align = lambda mode, ratio, opset=16: Case(
        f"RoiAlign, {mode}, sampling_ratio={ratio}, 100 of 64x50x68", "RoiAlign", {"x": x, "rois": rois(100, 400), "which": which},
        opset=opset, mode=mode, output_height=7, output_width=7, sampling_ratio=ratio, spatial_scale=0.125)  # fmt: skip
    best, places = pooled(floats(1, 32, 64, 64))
    deform = Case("DeformConv 3x3, 32 of 32x28x28", "DeformConv",
                  {"x": floats(1, 32, 28, 28), "w": floats(32, 32, 3, 3), "offset": floats(1, 18, 28, 28)},
                  opset=19, kernel_shape=[3, 3], pads=[1, 1, 1, 1])  # fmt: skip
    return [
        align("avg", 2), align("avg", 0), align("max", 2), align("max", 0),
        Case("MaxRoiPool, 100 of 64x50x68", "MaxRoiPool",
             {"x": x, "rois": np.concatenate([np.zeros((100, 1), np.float32), rois(100, 400)], 1)},
             pooled_shape=[7, 7], spatial_scale=0.125),
        Case("MaxUnpool 2x2, to 32x64x64", "MaxUnpool", {"x": best, "i": places}, kernel_shape=[2, 2], strides=[2, 2]),
        deform,
    ]  # fmt: skip


def others():
    gru = lambda before, steps: Case(
        f"GRU of 256, {steps} steps, linear_before_reset={before}", "GRU",
        {"x": floats(steps, 1, 128), "w": (floats(1, 768, 128) * 0.1,), "r": (floats(1, 768, 256) * 0.1,)},
        2, hidden_size=256, linear_before_reset=before)  # fmt: skip
    conv = lambda g, each: Case(
        f"Conv 3x3 in {g} groups of {each}, 28x28", "Conv",
        {"x": floats(1, g * each, 28, 28), "w": (floats(g * each, each, 3, 3),)}, group=g, pads=[1, 1, 1, 1])  # fmt: skip
    return [forest(100, 6, 30, 1), forest(100, 6, 30, 100), forest(500, 8, 50, 1), gru(0, 32), gru(1, 32),
            conv(4, 17), conv(8, 8), conv(32, 4), conv(4, 32)]  # fmt: skip


def sessions(case, threads):
    import onnxruntime
    import wick

    model = case.model().SerializeToString()
    made = []
    for package in wick, onnxruntime:
        o = package.SessionOptions()
        o.intra_op_num_threads, o.inter_op_num_threads = threads, 1
        made.append(package.InferenceSession(model, o, providers=["CPUExecutionProvider"]))
    return made


def difference(name, got, want):
    """The largest over all outputs, over the largest magnitude."""
    worst = 0.0
    for g, w in zip(got, want):
        if g.shape != w.shape:
            raise SystemExit(f"{name}: {g.shape}, wanted {w.shape}")
        if w.size:
            g, w = g.astype(np.float64), w.astype(np.float64)
            worst = max(worst, np.abs(g - w).max() / max(np.abs(w).max(), 1e-30))
    return worst


def per_run(session, feed):
    """Returns a function that measures the seconds of one run, over as many runs as fit into ROUND."""
    begin = time.perf_counter()
    session.run(None, feed)
    runs = max(1, min(1000, int(ROUND / max(time.perf_counter() - begin, 1e-6))))

    def once():
        begin = time.perf_counter()
        for _ in range(runs):
            session.run(None, feed)
        return (time.perf_counter() - begin) / runs

    return once


def measure(case, threads, rounds):
    both = sessions(case, threads)
    error = difference(case.name, *(s.run(None, case.feed) for s in both))
    timers = [per_run(s, case.feed) for s in both]
    times = [[t() for t in timers] for _ in range(rounds)]
    return [statistics.median(x) * 1e6 for x in zip(*times)], error


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--write", action="store_true", help="the table into README.md")
    p.add_argument("filters", nargs="*", metavar="FILTER")
    a = p.parse_args()
    table = []
    for case in scans() + sorts() + compactions() + images() + others():
        if a.filters and not any(f in case.name for f in a.filters):
            continue
        (own, peer), error = measure(case, a.threads, a.rounds)
        table.append([case.name, f"{own:.1f}", f"{peer:.1f}", f"{own / peer:.2f}", f"{error:.0e}"])
        print(f"{own / peer:8.2f}  {own:10.1f} us  {peer:10.1f} us  {error:.0e}  {case.name}", flush=True)
    if a.write and not a.filters:
        about = (f"{report.machine()}; {report.versions(['onnxruntime'])}; {report.today()}; "
                 f"{a.threads} thread{'s' * (a.threads > 1)}; medians of {a.rounds} rounds.\n\n")  # fmt: skip
        report.write("operators", about + report.table(["operator", "wick us", "ort us", "ratio", "difference"], table))


if __name__ == "__main__":
    main()
