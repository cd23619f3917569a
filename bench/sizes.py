#!/usr/bin/env python3
"""Programs for dynamic sizes on Wick, ONNX Runtime and OpenVINO: trained models of ../shared/models, each compiled
once for a range of sizes and run at several of them; the table goes into README.md.

    build/venv/bin/python bench/sizes.py [--threads 1,2] [--rounds 5] [--seconds 0.5] [NAME ...]

At each size these run in turns: Wick's one program for all sizes; Wick compiled only for that size; ONNX Runtime;
OpenVINO with the file's dynamic sizes; OpenVINO with the file at only that size. The ratio is that of the first to
the fastest of the peers. Tools of ../shared/bench measure the times, and compare outputs for new random inputs."""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import networks
import report

MODELS = report.SHARED.parent / "models"
# The ranges of a program; the sizes that it is run at, of those dimensions in that order.
CASES = {
    "minilm_l6_v2": (
        {"batch": "1..64", "sequence": "1..512"},
        [(1, 8), (1, 64), (1, 128), (8, 8), (8, 64), (8, 128)],
    ),
    "ppocr_v4_det": (
        {"p2o.DynamicDimension.0": "1", "p2o.DynamicDimension.1": "32..1280:32", "p2o.DynamicDimension.2": "32..1280:32"},
        [(1, 320, 480), (1, 640, 640), (1, 736, 1280)],
    ),
}
COLUMNS = {"wick": "wick", "own": "for the size", "ort": "ort", "openvino": "openvino", "openvino_own": "openvino, reshaped"}
PEERS = [c for c in COLUMNS if c not in ("wick", "own")]

# In a process of its own, as libraries of peers are. FOLDER/any.onnx and fixed.onnx, inputs beside both; NAME=VALUE...
FIX = """
import pathlib, sys
import numpy as np, onnx
folder, model = pathlib.Path(sys.argv[2]), onnx.load(sys.argv[1])
size = {k: int(v) for k, v in (x.split("=") for x in sys.argv[3:])}
onnx.save(model, folder / "any.onnx")
rng, made = np.random.default_rng(1), {x.name for x in model.graph.initializer}
inputs = [x for x in model.graph.input if x.name not in made]
for k, x in enumerate(inputs):
    for d in x.type.tensor_type.shape.dim:
        if d.dim_param:
            d.dim_value = size[d.dim_param]
    shape = [d.dim_value for d in x.type.tensor_type.shape.dim]
    kind = onnx.helper.tensor_dtype_to_np_dtype(x.type.tensor_type.elem_type)
    whole = np.ones(shape) if k else rng.integers(1, 20000, shape)  # words; a mask; kinds
    a = rng.standard_normal(shape) if np.issubdtype(kind, np.floating) else whole
    for stem in "any", "fixed":
        np.save(folder / f"{stem}.input_{k}.npy", a.astype(kind))
onnx.save(model, folder / "fixed.onnx")
"""


def programs(a, name, size, threads, program, folder):
    """Each column's command, in the protocol of peers.py."""
    import peers

    dims = [f"{k}={v}" for k, v in zip(CASES[name][0], size)]
    subprocess.run([sys.executable, "-c", FIX, MODELS / name / "model.onnx", folder, *dims], check=True)
    inputs = ",".join(peers.inputs_of(str(folder / "any.onnx")))
    wick = [a.wick, "bench", "--pipe", "--inputs", inputs, "--threads", threads]
    peer = [sys.executable, report.SHARED / "peers.py", "--threads", threads]
    commands = {"wick": [*wick, program], "own": [*wick, folder / "any.onnx"],
                "ort": [*peer, folder / "any.onnx", "--worker", "ort"],
                "openvino": [*peer, folder / "any.onnx", "--worker", "openvino"],
                "openvino_own": [*peer, folder / "fixed.onnx", "--worker", "openvino"]}  # fmt: skip
    return {c: list(map(str, x)) for c, x in commands.items()}, inputs.split(",")


def measure(a, name, size, threads, program):
    """Milliseconds of each column, and Wick's largest difference from ONNX Runtime."""
    import peers

    with tempfile.TemporaryDirectory() as d:
        commands, inputs = programs(a, name, size, threads, program, pathlib.Path(d))
        env = dict(os.environ, OMP_NUM_THREADS=str(threads))
        running = {c: peers.Runner(x, env) for c, x in commands.items()}
        wrong = [f"{c}: {r.why}" for c, r in running.items() if not r.ok]
        if wrong:
            sys.exit(f"{name} {size}: {'; '.join(wrong)}")
        took = {c: [] for c in running}
        for _ in range(a.rounds):
            for c, r in running.items():
                took[c].append(r.best_ms(a.seconds))
        difference = peers.difference(running["wick"].outputs(), running["ort"].outputs())
        for r in running.values():
            r.q.stdin.close()
    return {c: statistics.median(t) for c, t in took.items()}, difference


def rows_of(a, name, program):
    threads = [int(t) for t in a.threads.split(",")]
    for size in CASES[name][1]:
        row = [name, "x".join(map(str, size))]
        for t in threads:
            ms, difference = measure(a, name, size, t, program)
            row += [*(f"{ms[c]:.3f}" for c in COLUMNS), f"{ms['wick'] / min(ms[p] for p in PEERS):.2f}"]
            row += [networks.show(difference)]
        print(" ".join(f"{x:>12s}" for x in row), flush=True)
        yield row


def main():
    a = networks.arguments(__doc__, known=list(CASES), threads="1,2", rounds=5, seconds=0.5)
    sys.path.insert(0, str(report.SHARED))
    rows = []
    for name in a.names:
        with tempfile.TemporaryDirectory() as d:
            program = pathlib.Path(d) / "open.wick"
            dims = [x for k, v in CASES[name][0].items() for x in ("--dim", f"{k}={v}")]
            networks.wick_says(a, "compile", MODELS / name / "model.onnx", *dims, "-o", program)
            rows += rows_of(a, name, program)
    head = ["model", "size"]
    for t in a.threads.split(","):
        head += [f"{c} ms" + (f", {t} thread{'s' if t != '1' else ''}" if c == "wick" else "") for c in COLUMNS.values()]
        head += ["ratio", "difference"]
    text = report.table(head, rows)
    print(text)
    if a.names == list(CASES):
        peers = report.versions(networks.PEERS.values())
        report.write("sizes", f"{report.machine()}; {peers}; {report.today()}; medians of {a.rounds} rounds.\n\n{text}")


if __name__ == "__main__":
    main()
