#!/usr/bin/env python3
"""The networks of examples/networks, written in the language, beside the same ONNX models: in turns, in one run.

    build/venv/bin/python bench/language_networks.py [--rounds 15] [--threads 1] [NAME ...]

Weights are inputs of both. The ratio is that of the medians."""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import report

sys.path.insert(0, str(report.ROOT / "tests" / "lang"))
from networks import NETWORKS  # noqa: E402
from test_networks import SIZES  # noqa: E402

SECONDS = 0.03  # of a batch


def start(folder, threads, *words):
    """`wick bench --pipe` of a model."""
    command = [report.ROOT / "build" / "wick", "bench", *words, "--pipe", "--threads", str(threads), "--inputs", "in.npz"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder)
    if not process.stdout.readline().startswith("ready"):
        raise SystemExit(f"{words[0]}: it does not run")
    return process


def run(process, count):
    begin = time.perf_counter()
    process.stdin.write(f"run {count}\n")
    process.stdin.flush()
    process.stdout.readline()
    return (time.perf_counter() - begin) / count


def measure(name, rounds, threads):
    """The median times in the language and of the ONNX model."""
    model, fed = NETWORKS[name]()
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "x.onnx").write_bytes(model.SerializeToString())
        np.savez(pathlib.Path(folder) / "in.npz", **fed)
        program = report.ROOT / "examples" / "networks" / f"{name}.wick"
        both = [start(folder, threads, program, "--dim", *SIZES[name].split()), start(folder, threads, "x.onnx")]
        count = max(1, int(SECONDS / min([run(p, 2) for p in both])))
        times = [[run(p, count) for p in both] for _ in range(rounds)]
        for p in both:
            p.stdin.close()
            p.wait()
    return [statistics.median(t) for t in zip(*times)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("names", nargs="*")
    a = parser.parse_args()
    print("| network | language, ms | ONNX, ms | ratio |\n|---|---|---|---|")
    for name in a.names or NETWORKS:
        mine, other = measure(name, a.rounds, a.threads)
        print(f"| {name} | {mine * 1e3:.3f} | {other * 1e3:.3f} | {mine / other:.2f} |", flush=True)


main()
