#!/usr/bin/env python3
"""The fourteen networks of the shared bench on Wick, ONNX Runtime and OpenVINO; the table goes into README.md.

    build/venv/bin/python bench/networks.py [--runs 3] [--threads 1,2] [NAME ...]

../shared/bench has the tools: make_models.py makes the networks (and once more without a final softmax, which
hides differences), peers.py times one of them on all runtimes side by side and compares the outputs. A whole run is
all networks at all thread counts; the table has medians over the runs. What has been measured for the same program
is not measured again: an interrupted bench goes on where it was. The table is written only of all networks.
"""

import argparse
import hashlib
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

import report

PEERS = {"ort": "onnxruntime", "openvino": "openvino"}  # as peers.py names them, and their packages
TOLERANCE = 1e-4


def program_hash(wick):
    """Of the command, the libraries and the code generator beside it."""
    h = hashlib.sha256()
    for f in sorted(f for d in (wick.parent, wick.parent / "lib") for f in d.glob("*wick*") if f.is_file()):
        h.update(f.read_bytes())
    return h.hexdigest()[:12]


def make_models(folder, names, *options):
    missing = [n for n in names if not (folder / f"{n}.onnx").exists()]
    if missing:
        print(f"making {' '.join(missing)}", flush=True)
        command = [sys.executable, report.SHARED / "make_models.py", *options, folder, *missing]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measure(a, model, threads, out, rounds, seconds):
    """What peers.py wrote for one network, now or earlier; a wrong output stands in it, and the bench goes on."""
    if not out.exists():
        part = out.with_suffix(".part")
        wick = f"{a.wick} bench --pipe {{model}} --inputs {{inputs}} --threads {{threads}}"
        command = [sys.executable, report.SHARED / "peers.py", model, "--threads", threads, "--only", ",".join(PEERS)]
        command += ["--rounds", rounds, "--seconds", seconds, "--tolerance", TOLERANCE, "--wick", wick, "--json", part]
        r = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if not part.exists():
            sys.exit(f"{model.name}: {r.stdout}{r.stderr}")
        os.replace(part, out)
    result = json.loads(out.read_text())
    if "wick" not in result["ms"]:
        out.unlink()
        sys.exit(f"{model.name}: wick did not run; try: {a.wick} bench {model}")
    return result


def fastest(ms):
    return min((n for n in ms if n != "wick"), key=ms.get)


def ratio(ms):
    return ms["wick"] / ms[fastest(ms)]


def error(results):
    """The largest difference, or what is wrong with an output's type or shape."""
    found = [r["difference"]["wick"] for r in results]
    return next((f for f in found if isinstance(f, str)), None) or max(found)


def is_wrong(e):
    return isinstance(e, str) or not e <= TOLERANCE


def show(e):
    return e if isinstance(e, str) else f"{e:.0e}"


def network_row(name, runs, logits):
    ms = {n: statistics.median(r["ms"][n] for r in runs) for n in runs[0]["ms"]}
    times = statistics.median(ratio(r["ms"]) for r in runs)
    return times, [name, f"{ms['wick']:.3f}", *(f"{ms[p]:.3f}" for p in PEERS), fastest(ms), f"{times:.2f}",
                   show(error(runs)), show(error([logits]))]  # fmt: skip


def tables(measured, logits, threads):
    text = ""
    for t in threads:
        rows, ratios = [], []
        for name in report.NETWORKS:
            times, row = network_row(name, measured[name, t], logits[name])
            rows.append(row)
            ratios.append(times)
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        rows.append(["**geometric mean**", "", *[""] * len(PEERS), "", f"**{mean:.2f}**", "", ""])
        head = ["network", "wick ms", *(f"{p} ms" for p in PEERS), "fastest peer", "ratio", "difference", "logits"]
        text += f"\n{t} thread{'s' if t > 1 else ''}; the largest ratio is {max(ratios):.2f}:\n\n"
        text += report.table(head, rows)
    return text


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", metavar="NAME")
    p.add_argument("--wick", type=pathlib.Path, default=report.ROOT / "build" / "wick")
    p.add_argument("--build", type=pathlib.Path, default=report.ROOT / "build" / "bench", help="models and results")
    p.add_argument("--threads", default="1,2")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--seconds", type=float, default=1.0)
    a = p.parse_args()
    report.need_shared()
    a.wick, names = a.wick.resolve(), a.names or report.NETWORKS
    threads = [int(t) for t in a.threads.split(",")]
    make_models(a.build / "models", names)
    make_models(a.build / "logits", names, "--logits")
    results = a.build / f"results-{program_hash(a.wick)}-{a.rounds}-{a.seconds:g}"
    measured, logits, begun = {}, {}, time.monotonic()
    for run in range(a.runs):
        folder = results / f"run{run}"
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if run == 0:
                model = a.build / "logits" / f"{name}.onnx"
                logits[name] = measure(a, model, threads[-1], folder / f"{name}.logits.json", 1, 0.1)
            for t in threads:
                model = a.build / "models" / f"{name}.onnx"
                r = measure(a, model, t, folder / f"{name}.{t}.json", a.rounds, a.seconds)
                measured.setdefault((name, t), []).append(r)
                print(f"{time.monotonic() - begun:5.0f} s  run {run + 1} of {a.runs}, {name}, {t} threads: wick "
                      f"{r['ms']['wick']:.3f} ms, {ratio(r['ms']):.2f} of {fastest(r['ms'])}, difference "
                      f"{show(error([r]))}, logits {show(error([logits[name]]))}", flush=True)  # fmt: skip
    wrong = {n for (n, _), runs in measured.items() if is_wrong(error(runs))}
    wrong |= {n for n, r in logits.items() if is_wrong(error([r]))}
    if names == report.NETWORKS:
        peers = report.versions(PEERS.values())
        about = f"{report.machine()}; {peers}; {report.today()}; medians of {a.runs} whole runs.\n"
        report.write("networks", about + tables(measured, logits, threads))
    sys.exit(f"outputs differ by more than {TOLERANCE}: {' '.join(sorted(wrong))}" if wrong else 0)


if __name__ == "__main__":
    main()
