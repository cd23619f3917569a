#!/usr/bin/env python3
"""How much tuning gains over the schedules that the cost model chooses, on networks that were not used to develop it.

    build/venv/bin/python bench/tuned.py [--minutes 1] [--write] [NAME ...]

`wick tune` searches each network of unseen.py, and the float models of ../shared/models whose shapes are fixed; records
are kept, so that a second run continues the first one. A group's ratio is the time of the best schedule found over that
of the model's choice; it is 1 if none was faster by more than the noise. The goal is a geometric mean over the groups
of at least 1 / 1.1.
"""

import argparse
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

import report
import unseen

REAL = {"mnist_cnn": [], "super_resolution": ["--dim", "batch_size=1"], "ultraface_rfb_320": []}
GOAL = 1 / 1.1


def models(folder, names):
    found = {path.stem: path for path in unseen.make(folder, [n for n in names if n in unseen.NETWORKS])}
    for name in names:
        files = sorted((report.SHARED.parent / "models" / name).glob("*.onnx"))
        if name not in unseen.NETWORKS and files:
            found[name] = files[0]
    return found


def groups(path):
    """(the group or choice, its trials, best time over the first) of each group and choice in a file of records."""
    found = []
    for line in path.read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "group":
            found.append([describe(rest[rest.index("(") :]), 0, 1.0])
        elif word == "time":
            best, first = map(int, re.findall(r"\d+", rest))
            found[-1][2] = best / first
        elif word == "tried":
            found[-1][1] += 1
    return [f for f in found if f[1]]


def describe(key):
    if " -> " not in key:
        return key.strip("()")
    fold = re.search(r'fold \{name="(\w+)", axes=\[([^\]]*)\]', key)
    if not fold:
        return "no sum, " + re.search(r"-> (\S+)", key)[1]
    return f"{fold[1]}, " + re.sub(r"\w+:1, |:", lambda m: ":" if m[0] == ":" else "", fold[2]).replace(" | ", " over ")


def tune(a, name, model):
    records = a.build / f"{name}.records"
    command = [a.wick, "tune", model, *REAL.get(name, []), "--minutes", a.minutes, "-o", records]
    r = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"{name}: {r.stdout}{r.stderr}")
    print(f"{name}: {r.stdout.splitlines()[-1]}", flush=True)
    return groups(records)


def mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else 1.0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", metavar="NAME")
    p.add_argument("--wick", type=pathlib.Path, default=report.ROOT / "build" / "wick")
    p.add_argument("--build", type=pathlib.Path, default=report.ROOT / "build" / "bench" / "tuned")
    p.add_argument("--minutes", type=float, default=1)
    p.add_argument("--write", action="store_true", help="the table into README.md")
    a = p.parse_args()
    names = a.names or [*unseen.NETWORKS, *REAL]
    a.build.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("WICK_CACHE_DIR", str(a.build / "cache"))
    found = {name: tune(a, name, model) for name, model in models(a.build, names).items()}
    rows, every = [], [g for gs in found.values() for g in gs]
    for name, gs in found.items():
        ratios, trials = [g[2] for g in gs], sum(g[1] for g in gs)
        rows.append([name, len(gs), trials, sum(r < 1 for r in ratios), f"{mean(ratios):.3f}"])
    whole = mean([g[2] for g in every])
    rows.append(["**all groups**", len(every), "", sum(g[2] < 1 for g in every), f"**{whole:.3f}**"])
    text = report.table(["network", "groups", "trials", "replaced", "best / first"], rows)
    worst = [[what, f"{ratio:.2f}"] for what, _, ratio in sorted(every, key=lambda g: g[2])[:12]]
    text += "\nThe groups that gained most:\n\n" + report.table(["group", "best / first"], worst)
    print(text)
    if a.write:
        about = f"{report.machine()}; {report.today()}; {a.minutes:g} minutes a network.\n\n"
        report.write("tuned", about + text)
    sys.exit(0 if whole >= GOAL else f"the geometric mean is below {GOAL:.2f}")


if __name__ == "__main__":
    main()
