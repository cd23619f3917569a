#!/usr/bin/env python3
"""Operators in index notation beside the same function of Wick's own operators: one thread, in turns, in one run.

    build/venv/bin/python bench/notation.py [--rounds 15] [--tune SECONDS] [OPERATOR ...]

The operators are those of examples/notation/operators.wick; sizes are of the paper that it names. All tensors are inputs. Both
functions must return the same results; the ratio is that of the medians. With --tune each of both is also tuned for so many
seconds, and its gain is the median of the time of Wick's own schedules over that of the tuned ones.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np

import report

WICK = os.environ.get("WICK_COMMAND", str(report.ROOT / "build" / "wick"))
OPERATORS = report.ROOT / "examples" / "notation" / "operators.wick"
SECONDS = 0.05  # of a batch

FC = "fn fc(x: f32[b, m], w: f32[n, m], v: f32[n]) { relu(x @ transpose(w, perm = (1, 0)) + v) }\n"
TURN = "transpose({}, perm = (1, 0))"

# name, parameters, the operator's call, the same by Wick's own operators
ROWS = [
    ("tmm", "a: f32[128, 1024], b: f32[1024, 1024]", "tmm(a, b)", "a @ " + TURN.format("b")),
    ("tmm", "a: f32[128, 4096], b: f32[16384, 4096]", "tmm(a, b)", "a @ " + TURN.format("b")),
    ("mm", "a: f32[512, 512], b: f32[512, 512]", "mm(a, b)", "a @ b"),
    ("mtm", "a: f32[512, 512], b: f32[512, 512]", "mtm(a, b)", TURN.format("a") + " @ b"),
    ("mtmt", "a: f32[512, 256], b: f32[128, 512]", "mtmt(a, b)", TURN.format("a") + " @ " + TURN.format("b")),
    ("tbmm", "a: f32[500, 26, 72], b: f32[500, 26, 72]", "tbmm(a, b)", "a @ transpose(b, perm = (0, 2, 1))"),
    ("grouped", "x: f32[32, 32, 4, 14, 14], k: f32[32, 4, 4, 3, 3], v: f32[32, 4]", "grouped(x, k, v)",
     "reshape(conv(reshape(x, shape = (32, 128, 14, 14)), reshape(k, shape = (128, 4, 3, 3)), reshape(v, shape = (128,)), group = 32),"
     " shape = (32, 32, 4, 12, 12))"),
    ("grouped", "x: f32[4, 32, 16, 14, 14], k: f32[32, 16, 16, 3, 3], v: f32[32, 16]", "grouped(x, k, v)",
     "reshape(conv(reshape(x, shape = (4, 512, 14, 14)), reshape(k, shape = (512, 16, 3, 3)), reshape(v, shape = (512,)), group = 32),"
     " shape = (4, 32, 16, 12, 12))"),
    ("strided", "x: f32[4, 64, 57, 57], k: f32[128, 64, 3, 3]", "strided(x, k)", "conv(x, k, stride = (2, 2))"),
    ("fcrelu", "x: f32[128, 1024], w: f32[1024, 1024], v: f32[1024]", "fcrelu(x, w, v)", "fc(x, w, v)"),
    ("mlp", "x: f32[128, 128], a: f32[1024, 128], b: f32[1024], c: f32[512, 1024], d: f32[512], e: f32[1, 512], f: f32[1]",
     "mlp(x, a, b, c, d, e, f)", "fc(fc(fc(x, a, b), c, d), e, f)"),
    ("bags", "t: f32[100000, 64], s: f32[100000, 64], i: i64[128, 50], j: i64[128, 50]", "bags(t, s, i, j)",
     "(sum(gather(t, i, axis = 0), axes = (1,)), sum(gather(s, j, axis = 0), axes = (1,)))"),
    ("kru", "a: f32[16, 16], b: f32[16, 16], c: f32[16, 16], x: f32[256, 16, 16, 16]", "kru(a, b, c, x)",
     "transpose(transpose(transpose(x @ transpose(c, perm = (1, 0)), perm = (0, 1, 3, 2)) @ transpose(b, perm = (1, 0)), perm = (0, 3, 2, 1))"
     " @ transpose(a, perm = (1, 0)), perm = (0, 3, 1, 2))"),
    ("gated", "x: f32[1, 32, 4000], p: f32[32, 32, 2], q: f32[32], r: f32[32, 32, 2], s: f32[32]", "gated(32, x, p, q, r, s)",
     "{ let f = conv(x, p, q, dilation = (32,), pad = (32, 0))\nlet g = conv(x, r, s, dilation = (32,), pad = (32, 0))\n(f, g, tanh(f) * sigmoid(g)) }"),
]


class Program:
    """A function that `wick bench --pipe` runs."""

    def __init__(self, folder, name, *further):
        words = [WICK, "bench", f"{name}.wick", "--pipe", "--threads", "1", "--inputs", "in.npz", *further]
        self.folder, self.name = folder, name
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder)
        if not self.process.stdout.readline().startswith("ready"):
            raise SystemExit(f"{name}: it does not run")
        first = self.run(1)
        self.count = max(1, min(10_000, int(SECONDS / max(min(first, self.run(1)), 1e-7))))

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def run(self, n):
        begin = time.perf_counter()
        self.ask(f"run {n}")
        return (time.perf_counter() - begin) / n

    def outputs(self):
        out = self.folder / self.name
        out.mkdir()
        self.ask(f"output {out}")
        return [np.load(f) for f in sorted(out.glob("*.npy"))]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def feed(parameters):
    rng = np.random.default_rng(1)
    data = {}
    for p in parameters.replace("], ", "]; ").split("; "):
        name, _, kind = p.partition(": ")
        shape = [int(n) for n in kind[4:-1].split(", ")]
        data[name] = rng.integers(0, 100_000, shape) if kind.startswith("i64") else rng.standard_normal(shape).astype(np.float32)
    return data


def tuned(folder, kind, seconds):
    """A program with the schedules that `wick tune` found."""
    words = [WICK, "tune", f"{kind}.wick", "--minutes", str(seconds / 60), "-o", f"{kind}.records"]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return Program(folder, kind, "--tuning", f"{kind}.records")


def measure(row, rounds, seconds):
    """The times of both, and with seconds to tune them the times after that."""
    name, parameters, call, own = row
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "operators.wick").write_text(OPERATORS.read_text())
        for kind, body in ("notation", call), ("own", own):
            (folder / f"{kind}.wick").write_text(f"use operators {{ {name} }}\n{FC}fn main({parameters}) {{ {body} }}\n")
        np.savez(folder / "in.npz", **feed(parameters))
        programs = [Program(folder, n) for n in ("notation", "own")]
        programs += [tuned(folder, n, seconds) for n in ("notation", "own") if seconds]
        times = [[] for _ in programs]
        for _ in range(rounds):
            for p, t in zip(programs, times):
                t.append(p.run(p.count))
        for x, y in zip(*(p.outputs() for p in programs[:2])):
            assert np.allclose(x, y, rtol=1e-3, atol=1e-3 * max(1, np.abs(y).max())), name
        for p in programs:
            p.close()
        return [statistics.median(t) for t in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--tune", type=float, default=0, metavar="SECONDS")
    parser.add_argument("operator", nargs="*")
    a = parser.parse_args()
    print("| operator | sizes | notation, ms | own, ms | ratio |" + " gain of notation | of own | ratio when tuned |" * bool(a.tune))
    print("|---|---|---|---|---|" + "---|---|---|" * bool(a.tune))
    gains = []
    for row in ROWS:
        if a.operator and row[0] not in a.operator:
            continue
        mine, own, *after = measure(row, a.rounds, a.tune)
        sizes = ", ".join(p.partition("[")[2].rstrip("],") for p in row[1].split("], "))
        print(f"| {row[0]} | {sizes} | {mine * 1e3:.3f} | {own * 1e3:.3f} | {mine / own:.2f} |", end="")
        if after:
            gains.append((mine / after[0], own / after[1]))
            print(f" {gains[-1][0]:.2f} | {gains[-1][1]:.2f} | {after[0] / after[1]:.2f} |", end="")
        print(flush=True)
    if gains:
        print("geometric means of the gains: " + ", ".join([f"{statistics.geometric_mean(g):.3f}" for g in zip(*gains)]))


if __name__ == "__main__":
    main()
