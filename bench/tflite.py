#!/usr/bin/env python3
"""TensorFlow Lite models of ../shared/models on Wick and on LiteRT with XNNPACK, in turns: the median of the ratios of the rounds.

    build/venv/bin/python bench/tflite.py --litert PYTHON [--threads 1] [--rounds 9] [--seconds 0.1] [NAME ...]

PYTHON is the interpreter of a virtual environment with ai-edge-litert. Wick computes the bits of LiteRT's reference kernels; XNNPACK
rounds otherwise."""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

import report

MODELS = report.SHARED.parent / "models"

# The peer's process: answers "run N" with "ok".
PEER = """
import sys
import numpy as np
from ai_edge_litert.interpreter import Interpreter
it = Interpreter(model_path=sys.argv[1], num_threads=int(sys.argv[2]))
it.allocate_tensors()
for d, f in zip(it.get_input_details(), sys.argv[3:]):
    it.set_tensor(d["index"], np.load(f))
it.invoke()
print("ready", flush=True)
for line in sys.stdin:
    for _ in range(int(line.split()[1])):
        it.invoke()
    print("ok", flush=True)
"""


def names():
    found = [f for f in sorted(MODELS.glob("*/model.json")) if json.loads(f.read_text())["format"] == "tflite"]
    return [f.parent.name for f in found]


class Runner:
    def __init__(self, command):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if not self.process.stdout.readline().startswith("ready"):
            sys.exit(f"{command[:3]} did not start")

    def seconds(self, n):
        begin = time.perf_counter()
        self.process.stdin.write(f"run {n}\n")
        self.process.stdin.flush()
        self.process.stdout.readline()
        return (time.perf_counter() - begin) / n

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def in_turns(runners, a):
    """Milliseconds of each of two runners, and the median of the ratios of the rounds."""
    runs = [max(1, int(a.seconds / r.seconds(max(1, int(0.02 / r.seconds(1)))))) for r in runners]
    rounds = [[r.seconds(n) for r, n in zip(runners, runs)] for _ in range(a.rounds)]
    for r in runners:
        r.end()
    return [1e3 * statistics.median(x[k] for x in rounds) for k in range(2)] + [statistics.median(w / p for w, p in rounds)]


def measure(a, name):
    """Returns milliseconds of Wick and of LiteRT, and the median of the ratios."""
    folder = MODELS / name
    model = folder / json.loads((folder / "model.json").read_text())["model"]
    inputs = sorted(folder.glob("input_*.npy"))
    runners = [Runner([a.wick, "bench", "--pipe", model, "--inputs", *inputs, "--threads", a.threads]),
               Runner([a.litert, "-c", PEER, model, a.threads, *inputs])]  # fmt: skip
    return in_turns(runners, a)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*")
    p.add_argument("--litert", required=True)
    p.add_argument("--wick", default=report.ROOT / "build" / "wick")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--seconds", type=float, default=0.1)
    a = p.parse_args()
    rows, ratios = [], {}
    for name in a.names or names():
        wick, peer, ratio = measure(a, name)
        ratios.setdefault("int8" if "int8" in name else "float", []).append(ratio)
        rows.append([name, f"{wick:.4f}", f"{peer:.4f}", f"{ratio:.2f}"])
        print(*rows[-1], flush=True)
    print(f"\n{report.machine()}, {a.threads} threads\n")
    print(report.table(["network", "Wick ms", "LiteRT ms", "ratio"], rows))
    for kind, r in ratios.items():
        print(f"{kind}: geometric mean {math.exp(statistics.mean(map(math.log, r))):.2f}, worst {max(r):.2f}")


if __name__ == "__main__":
    main()
