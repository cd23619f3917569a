#!/usr/bin/env python3
"""The first run at each size of a program for dynamic sizes, and the memory in use afterwards, on Wick, ONNX Runtime
and OpenVINO: the models and sizes of sizes.py, in that order, through their Python packages; the table goes into
README.md.

    build/venv/bin/python bench/first.py [--threads 1] [--rounds 5] [NAME ...]

A runtime has a process of its own, which runs the sizes one after another, each 20 times. A first run's cost is how
long it takes over the median of the 19 after it, in milliseconds; the table has the medians of the rounds. Wick does
not specialize here: all runs use the same kernels. It writes to existing arrays; new results would be the caller's
memory, and would be counted twice. Resident memory is that of the process at the end, including Python and NumPy."""

import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import networks
import report
import sizes

RUNS = 20
RUNTIMES = ("wick", *networks.PEERS)


def runner(runtime, model, threads, shapes):
    """A function of a list of inputs, and of which of the sizes they have."""
    if runtime == "wick":
        import numpy as np
        import wick

        program = wick.Program.load(model, threads=threads)
        outputs = [[np.ones(s, e) for s, e in at] for at in shapes]
        return (lambda feeds, k: program.run(feeds, outputs[k])) if outputs else (lambda feeds, k: program.run(feeds))
    if runtime == "ort":
        import onnxruntime as ort

        o = ort.SessionOptions()
        o.intra_op_num_threads, o.inter_op_num_threads = threads, 1
        session = ort.InferenceSession(model, o, ["CPUExecutionProvider"])
        names = [i.name for i in session.get_inputs()]
        return lambda feeds, k: session.run(None, dict(zip(names, feeds)))
    import openvino as ov

    hints = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = ov.Core().compile_model(model, "CPU", hints).create_infer_request()
    return lambda feeds, k: request.infer(feeds, share_inputs=True, share_outputs=True)


def child(runtime, model, threads, shapes, folders):
    """Prints for each size the first run's time and the median of the next ones, resident bytes, and the results."""
    import numpy as np

    run, took, results = runner(runtime, model, int(threads), json.loads(shapes)), [], []
    for at, folder in enumerate(folders):
        feeds = [np.load(f) for f in sorted(pathlib.Path(folder).glob("fixed.input_*.npy"))]
        t = []
        for _ in range(RUNS):
            begin = time.perf_counter()
            y = run(feeds, at)
            t.append(1e3 * (time.perf_counter() - begin))
        took.append((t[0], statistics.median(t[1:])))
        results.append([(x.shape, x.dtype.name) for x in y] if runtime == "wick" else None)
    held = re.search(r"VmRSS:\s*(\d+) kB", pathlib.Path("/proc/self/status").read_text())
    print(json.dumps({"ms": took, "resident": int(held[1]) / 1024, "results": results}))


def measure(a, name, program, folders):
    """Of each runtime, by size: the first run over the next ones; and MiB."""
    found, shapes = {r: [] for r in RUNTIMES}, []
    for k in range(a.rounds + 1):  # the first one only tells the results
        for r in RUNTIMES[: 1 if k == 0 else None]:
            model = program if r == "wick" else sizes.MODELS / name / "model.onnx"
            command = [sys.executable, __file__, "--child", r, model, a.threads, json.dumps(shapes), *folders]
            p = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**a.env})
            if p.returncode:
                sys.exit(f"{name}: {r}: {p.stderr[-400:]}")
            said = json.loads(p.stdout.splitlines()[-1])
            shapes = said["results"] if k == 0 else shapes
            found[r] += [said] if k else []
    over = {r: [statistics.median(first - then for first, then in at) for at in zip(*(f["ms"] for f in x))] for r, x in found.items()}
    return over, {r: statistics.median(f["resident"] for f in x) for r, x in found.items()}


def main():
    import os

    a = networks.arguments(__doc__, known=list(sizes.CASES), threads="1", rounds=5)
    a.env = dict(os.environ, OMP_NUM_THREADS=a.threads, PYTHONPATH=str(a.wick.parent / "python"))
    rows, slow = [], []
    for name in a.names:
        ranges, at = sizes.CASES[name]
        with tempfile.TemporaryDirectory() as d:
            program = pathlib.Path(d) / "open.wick"
            dims = [x for k, v in ranges.items() for x in ("--dim", f"{k}={v}")]
            networks.wick_says(a, "compile", sizes.MODELS / name / "model.onnx", *dims, "-o", program)
            folders = [pathlib.Path(d) / "x".join(map(str, size)) for size in at]
            for folder, size in zip(folders, at):
                folder.mkdir()
                values = [f"{k}={v}" for k, v in zip(ranges, size)]
                subprocess.run([sys.executable, "-c", sizes.FIX, sizes.MODELS / name / "model.onnx", folder, *values], check=True)
            over, resident = measure(a, name, program, folders)
        for k, folder in enumerate(folders):
            slow += [f"{name} {folder.name}"] if k and over["wick"][k] > 1 else []
            rows.append([name, folder.name, *(f"{over[r][k]:.2f}" for r in RUNTIMES), "", "", ""])
        rows[-1][-3:] = [f"{resident[r]:.0f}" for r in RUNTIMES]
        for row in rows[-len(folders) :]:
            print(" ".join(f"{x:>12s}" for x in row), flush=True)
    text = report.table(["model", "size", *(f"{r} ms" for r in RUNTIMES), *(f"{r} MiB" for r in RUNTIMES)], rows)
    print(text)
    if a.names == list(sizes.CASES):
        peers = report.versions(networks.PEERS.values())
        report.write("first", f"{report.machine()}; {peers}; {report.today()}; {a.threads} threads; medians of {a.rounds} rounds.\n\n{text}")
    sys.exit(f"more than 1 ms over the next runs: {', '.join(slow)}" if slow else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:6], sys.argv[6:])
    else:
        main()
