#!/usr/bin/env python3
"""How long the networks take to compile and to load, and what memory that takes; the table goes into README.md.

    build/venv/bin/python bench/compile.py [--runs 3] [NAME ...]

Seconds are those of `wick run`, from the start of the process to its end, with one inference: cold, into an empty
cache, from the cache, and of an artifact; the minimum of the runs counts. A peak is the most memory that the process
had at once, including mapped weights but not the code generator's processes. The exit status is 1 if a run from an
artifact has more than its packed weights, arena, scratch memory and 20 MiB, if a run from the cache takes more than
0.15 s, or a cold run of resnet50 more than 1 s or of bert_base more than 2 s.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import networks
import report

MIB = 1 << 20
OVER = 20 * MIB
CACHED = 0.15
COLD = {"resnet50": 1, "bert_base": 2}


# Runs in its own process, because the memory of this process would count in the peak of those that it starts.
INPUTS = """
import pathlib, sys
import numpy as np, onnx
graph, rng = onnx.load(sys.argv[1], load_external_data=False).graph, np.random.default_rng(1)
made = {x.name for x in graph.initializer}
for k, x in enumerate(x for x in graph.input if x.name not in made):
    kind = onnx.helper.tensor_dtype_to_np_dtype(x.type.tensor_type.elem_type)
    shape = [d.dim_value for d in x.type.tensor_type.shape.dim]
    a = rng.standard_normal(shape) if np.issubdtype(kind, np.floating) else rng.integers(0, 2, shape)
    np.save(pathlib.Path(sys.argv[2]) / f"{k}.npy", a.astype(kind))
"""


def inputs(model, folder):
    subprocess.run([sys.executable, "-c", INPUTS, model, folder], check=True)
    return sorted(folder.glob("*.npy"))


def run(*command):
    """Seconds, and the most bytes in memory, of the process itself."""
    begin = time.perf_counter()
    p = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    took = time.perf_counter() - begin
    p.returncode = status
    if status:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return took, used.ru_maxrss * 1024


def least(a, prepare, *command):
    results = []
    for _ in range(a.runs):
        prepare()
        results.append(run(*command))
    return min(r[0] for r in results), max(r[1] for r in results)


def sizes(wick, artifact):
    """Constants, arena and scratch of two threads."""
    text = subprocess.run([wick, "bench", artifact, "--seconds", "0"], check=True, capture_output=True, text=True).stdout
    k, arena, scratch = re.search(r"constants (\S+) MiB, arena (\S+) MiB, scratch (\S+) MiB a thread", text).groups()
    return (float(k) + float(arena) + 2 * float(scratch)) * MIB


def measure(a, name, folder):
    model, cache, artifact = a.build / "models" / f"{name}.onnx", folder / "cache", folder / "x.wick"
    os.environ["WICK_CACHE_DIR"] = str(cache)
    feed = ["--inputs", *inputs(model, folder), "--threads", 2]
    empty = lambda: shutil.rmtree(cache, ignore_errors=True)  # noqa: E731
    cold, compiling = least(a, empty, a.wick, "run", model, *feed)
    cached, _ = least(a, lambda: None, a.wick, "run", model, *feed)
    run(a.wick, "compile", model, "-o", artifact)
    loaded, running = least(a, lambda: None, a.wick, "run", artifact, *feed)
    return cold, cached, loaded, compiling, running, sizes(a.wick, artifact)


def wrong(name, cold, cached, running, size):
    if cold > COLD.get(name, cold):
        yield f"{name}: {cold:.2f} s cold"
    if cached > CACHED:
        yield f"{name}: {cached:.2f} s from the cache"
    if running > size + OVER:
        yield f"{name}: {(running - size) / MIB:.0f} MiB more than its weights, arena and scratch"


def main():
    a = networks.arguments(__doc__, runs=3)
    names, rows, bad = a.names, [], []
    for name in names:
        with tempfile.TemporaryDirectory(dir=a.build) as folder:
            cold, cached, loaded, compiling, running, size = measure(a, name, pathlib.Path(folder))
        bad += wrong(name, cold, cached, running, size)
        seconds = [f"{x:.2f}" for x in (cold, cached, loaded)]
        rows.append([name, *seconds, *(f"{x / MIB:.0f}" for x in (compiling, running, size))])
        print(*rows[-1], flush=True)
    if names == report.NETWORKS:
        head = ["network", "cold s", "cached s", "artifact s", "compiling MiB", "running MiB", "weights, arena, scratch MiB"]
        report.write("compile", f"{report.machine()}; {report.today()}; {a.runs} runs.\n\n" + report.table(head, rows))
    sys.exit("\n".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
