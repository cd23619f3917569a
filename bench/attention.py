#!/usr/bin/env python3
"""Attention by itself on Wick, ONNX Runtime and OpenVINO; the table goes into README.md.

    build/venv/bin/python bench/attention.py [--threads 1,2] [--write]

Each case is a model of one layer's attention as in transformers: queries, keys and values [1, sequence, heads, d] are
transposed to [1, heads, sequence, d], and keys once more. Products, scale, mask, softmax, products, and a transposition
back follow. peers.py of ../shared/bench times it on all runtimes in turns, and compares the outputs.
"""

import argparse
import itertools
import pathlib

import networks
import numpy as np
import onnx
import report
from onnx import TensorProto, helper, numpy_helper

CASES = list(itertools.product((128, 512, 2048), ((12, 64), (8, 128)), ("", "mask")))
ROUNDS, SECONDS = 3, 0.1


def save(folder, sequence, heads, d, mask):
    """Writes the model, and its inputs into the same folder. With `mask`, a mask has a number for each query and
    key."""
    path = folder / f"attention_{sequence}_{heads}x{d}{'_' * bool(mask)}{mask}.onnx"
    shape, perm = [1, sequence, heads, d], [0, 2, 1, 3]
    nodes = [helper.make_node("Transpose", [x], [f"{x}h"], perm=perm if x != "k" else [0, 2, 3, 1]) for x in "qkv"]
    nodes += [helper.make_node("MatMul", ["qh", "kh"], ["s"]), helper.make_node("Mul", ["s", "scale"], ["scaled"])]
    nodes += [helper.make_node("Add", ["scaled", "mask"], ["masked"])] if mask else []
    nodes += [helper.make_node("Softmax", ["masked" if mask else "scaled"], ["p"], axis=-1),
              helper.make_node("MatMul", ["p", "vh"], ["h"]),
              helper.make_node("Transpose", ["h"], ["y"], perm=perm)]  # fmt: skip
    known = [numpy_helper.from_array(np.array(d**-0.5, np.float32), "scale")]
    shapes = {x: shape for x in "qkv"} | ({"mask": [1, 1, sequence, sequence]} if mask else {})
    info = [helper.make_tensor_value_info(x, TensorProto.FLOAT, s) for x, s in shapes.items()]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "attention", info, [out], known)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    rng = np.random.default_rng(4)
    for i, s in enumerate(shapes.values()):
        np.save(path.with_suffix(f".input_{i}.npy"), rng.standard_normal(s).astype(np.float32))
    return path


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--wick", type=pathlib.Path, default=report.ROOT / "build" / "wick")
    p.add_argument("--build", type=pathlib.Path, default=report.ROOT / "build" / "bench", help="models and results")
    p.add_argument("--threads", default="1,2")
    p.add_argument("--write", action="store_true", help="the table into README.md")
    a = p.parse_args()
    report.need_shared()
    a.wick = a.wick.resolve()
    folder = a.build / "attention"
    results = folder / networks.program_hash(a.wick)
    results.mkdir(parents=True, exist_ok=True)
    head = ["sequence", "heads x d", "mask", "threads", "wick ms", *(f"{n} ms" for n in networks.PEERS), "ratio",
            "difference"]  # fmt: skip
    rows = []
    for sequence, (heads, d), mask in CASES:
        model = save(folder, sequence, heads, d, mask)
        for threads in map(int, a.threads.split(",")):
            r = networks.measure(a, model, threads, results / f"{model.stem}.{threads}.json", ROUNDS, SECONDS)
            ms = r["ms"]
            rows.append([str(sequence), f"{heads} x {d}", "yes" if mask else "", str(threads), f"{ms['wick']:.3f}",
                         *(f"{ms[n]:.3f}" for n in networks.PEERS), f"{networks.ratio(ms):.2f}",
                         networks.show(networks.error([r]))])  # fmt: skip
            print(" ".join(rows[-1]), flush=True)
    if a.write:
        about = f"{report.machine()}; {report.versions(networks.PEERS.values())}; {report.today()}.\n\n"
        report.write("attention", about + report.table(head, rows))


if __name__ == "__main__":
    main()
