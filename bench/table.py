#!/usr/bin/env python3
"""Times the benchmark networks on Wick and its peers, and prints the table of README.md.

    build/venv/bin/python bench/table.py [--models DIR] [--threads 1,2] [--runs 3] [--rounds 7]
                                         [--seconds 1.0] [NAME ...]

Uses ../shared/bench: make_models.py makes the networks in DIR where they are not there yet, peers.py
times one of them on all runtimes side by side and compares the outputs. A whole run is all networks
once; what is shown are the medians over the runs of milliseconds for one inference, and of Wick's
share of the fastest peer's time.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
SHARED = ROOT / ".." / "shared" / "bench"
NETWORKS = ["alexnet", "dcgan", "densenet121", "dqn", "inception_v1", "lenet", "mobilenet_v2",
            "resnet18", "resnet50", "shufflenet", "squeezenet", "vgg19"]  # fmt: skip


def measure(a, name, threads):
    """Milliseconds by runtime; exits where an output is wrong."""
    wick = f"{a.wick} bench --pipe {{model}} --inputs {{inputs}} --threads {{threads}}"
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        subprocess.run(
            [sys.executable, SHARED / "peers.py", a.models / f"{name}.onnx", "--wick", wick]
            + ["--threads", str(threads), "--only", a.only, "--json", f.name]
            + ["--rounds", str(a.rounds), "--seconds", str(a.seconds)],
            check=True,
            stdout=sys.stderr,
        )
        return json.load(f)["ms"]


def row(name, runs):
    """The medians, and the ratio to the fastest peer of the same run."""
    ratio = [r["wick"] / min(v for k, v in r.items() if k != "wick") for r in runs]
    names = ["wick", *sorted(k for k in runs[0] if k != "wick")]
    return statistics.median(ratio), {n: statistics.median(r[n] for r in runs) for n in names}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("names", nargs="*")
    p.add_argument("--models", type=pathlib.Path, default=ROOT / "build" / "networks")
    p.add_argument("--wick", default=str(ROOT / "build" / "wick"))
    p.add_argument("--threads", default="1,2")
    p.add_argument("--only", default="ort,openvino")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--seconds", type=float, default=1.0)
    a = p.parse_args()
    names = a.names or NETWORKS
    missing = [n for n in names if not (a.models / f"{n}.onnx").exists()]
    if missing:
        subprocess.run([sys.executable, SHARED / "make_models.py", a.models, *missing], check=True)
    for threads in map(int, a.threads.split(",")):
        runs = {n: [] for n in names}
        for _ in range(a.runs):
            for n in names:
                runs[n].append(measure(a, n, threads))
        rows = {n: row(n, runs[n]) for n in names}
        peers = list(rows[names[0]][1])
        print(f"\n{threads} thread{'s' * (threads > 1)}, ms\n")
        print("| network |", " | ".join(peers), "| wick / fastest peer |")
        print("|---|" + "---:|" * (len(peers) + 1))
        for n, (ratio, ms) in rows.items():
            print(f"| {n} |", " | ".join(f"{ms[k]:.3f}" for k in peers), f"| {ratio:.2f} |")
        mean = math.exp(statistics.fmean(math.log(r) for r, _ in rows.values()))
        print(f"| geometric mean |{' |' * len(peers)} {mean:.2f} |", flush=True)


if __name__ == "__main__":
    main()
