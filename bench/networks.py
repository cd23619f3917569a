#!/usr/bin/env python3
"""The fourteen networks of the shared bench on Wick, ONNX Runtime and OpenVINO: the tables go into bench/README.md, the
picture into the same folder, the figures into README.md.

    build/venv/bin/python bench/networks.py [--runs 3] [--threads 1,2] [NAME ...]

../shared/bench has the tools: make_models.py makes the networks (and once more without a final softmax, which hides
differences), peers.py times one of them on all runtimes side by side and compares the outputs. A whole run is all
networks at all thread counts; the table has medians over the runs. Networks that were already measured with the same
program are not measured again, so that an interrupted bench continues. The table is written only if all networks are
measured.

The floor of a network is the sum of its kernels' lowest possible times on the machine (`wick bench --roofline`): the
time of the operations (after Winograd's algorithm) at the rate of multiply-adds from registers, or of the bytes at the
rate of the memory. `wick compile --inputs` says how far outputs are from the same model in f64, before a final softmax.
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

import picture
import report

PEERS = {"ort": "onnxruntime", "openvino": "openvino"}  # as peers.py names them, and their packages
TOLERANCE = 1e-4
SETTINGS = """ONNX Runtime: CPUExecutionProvider, all graph optimizations, as many intra-op threads, one inter-op thread, bound
inputs and outputs. OpenVINO: CPU, as many inference threads, performance hint LATENCY, precision hint f32, shared inputs.
Wick: `wick bench --pipe`, nothing tuned."""


def program_hash(wick):
    """The digest of the command, the libraries and the code generator."""
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


def arguments(doc, known=None, **more):
    """The command line of a bench of the networks, whose models are there afterwards, or of others that are `known`:
    NAME..., --wick, --build, and an option for each of `more`, of the type of its default."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", metavar="NAME")
    p.add_argument("--wick", type=pathlib.Path, default=report.ROOT / "build" / "wick")
    p.add_argument("--build", type=pathlib.Path, default=report.ROOT / "build" / "bench", help="models")
    for name, default in more.items():
        p.add_argument(f"--{name}", type=type(default), default=default)
    a = p.parse_args()
    report.need_shared()
    a.wick, a.names = a.wick.resolve(), a.names or known or report.NETWORKS
    if known is None:
        make_models(a.build / "models", a.names)
    return a


def measure(a, model, threads, out, rounds, seconds):
    """Returns what peers.py wrote for one network, now or earlier. It reports a wrong output, and the bench
    continues."""
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


def kept(out, find):
    """Returns the result of `find`, from now or earlier."""
    if not out.exists():
        part = out.with_suffix(".part")
        part.write_text(json.dumps(find()))
        os.replace(part, out)
    return json.loads(out.read_text())


def wick_says(a, *args):
    r = subprocess.run([str(a.wick), *map(str, args)], capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"wick {' '.join(map(str, args))}: {r.stdout}{r.stderr}")
    return r.stdout.splitlines()


def floor(a, model, threads):
    """Milliseconds below which the machine's limits let no kernel of the network go, in all."""
    lines = wick_says(a, "bench", model, "--threads", threads, "--seconds", a.seconds, "--kernels", 0, "--roofline")
    took, _, share = next(line for line in lines if line.endswith(" all kernels")).split()[:3]
    return float(took) * float(share.rstrip("%")) / 100 / 1000


def from_f64(a, model):
    """The largest difference from the model in f64 over the largest magnitude, of all outputs."""
    inputs = sorted(model.parent.glob(f"{model.stem}.input_*.npy"))
    lines = wick_says(a, "compile", model, "--inputs", *inputs, "-o", a.build / "f64.wick")
    begin = next(i for i, line in enumerate(lines) if line.startswith("differences from f64"))
    outputs = [line.split(maxsplit=2) for line in lines[begin + 1 :] if ": node " not in line]
    return max(float(largest) for largest, _, _ in outputs)


def fastest(ms):
    return min((n for n in ms if n != "wick"), key=ms.get)


def ratio(ms):
    return ms["wick"] / ms[fastest(ms)]


def error(results):
    """Returns the largest difference, or the error in an output's type or shape."""
    found = [r["difference"]["wick"] for r in results]
    return next((f for f in found if isinstance(f, str)), None) or max(found)


def is_wrong(e):
    return isinstance(e, str) or not e <= TOLERANCE


def show(e):
    return e if isinstance(e, str) else f"{e:.0e}"


def network_row(name, runs, more):
    ms = {n: statistics.median(r["ms"][n] for r in runs) for n in runs[0]["ms"]}
    times = statistics.median(ratio(r["ms"]) for r in runs)
    peer = ms[fastest(ms)]
    drawn = (name, times, more["floor"] / ms["wick"] * times, [ms[p] / peer for p in PEERS])
    return drawn, [name, f"{ms['wick']:.3f}", f"{ms['wick'] / more['floor']:.2f}", *(f"{ms[p]:.3f}" for p in PEERS),
                   fastest(ms), f"{times:.2f}", show(error(runs)), show(error([more["logits"]])), show(more["f64"])]  # fmt: skip


def geometric(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers)))


def tables(measured, more, threads):
    """The tables; what the picture shows; for each number of threads the geometric mean and the largest ratio."""
    text, panels, figures = "", [], {}
    for t in threads:
        found = [network_row(name, measured[name, t], more[name, t]) for name in report.NETWORKS]
        drawn, rows = [f[0] for f in found], [f[1] for f in found]
        mean, most = geometric([d[1] for d in drawn]), max(d[1] for d in drawn)
        rows.append(["**geometric mean**", *[""] * (3 + len(PEERS)), f"**{mean:.2f}**", "", "", ""])
        head = ["network", "wick ms", "over floor", *(f"{p} ms" for p in PEERS), "fastest peer", "ratio", "difference"]
        of = f"{t} thread{'s' if t > 1 else ''}"
        text += f"\n{of}; the largest ratio is {most:.2f}:\n\n" + report.table([*head, "logits", "f64"], rows)
        panels.append((of, [*drawn, ("geometric mean", mean, 0, [])]))
        figures[t] = (mean, most)
    return text, panels, figures


def headline(figures, about):
    one, two = figures[1], figures[2]
    return (f"14 networks run in {one[0]:.2f} of the time of the faster of ONNX Runtime and OpenVINO on one thread, and in\n"
            f"{two[0]:.2f} on two (float32, geometric means; the largest ratios are {one[1]:.2f} and {two[1]:.2f}). Measured on {about}.\n"
            "`bench/README.md` has the tables and the commands that made them.\n\n"
            "![Times of fourteen networks over those of the fastest peer](bench/networks.svg)\n")  # fmt: skip


def publish(a, measured, more, threads):
    machine, peers = report.machine(), report.versions(PEERS.values())
    text, panels, figures = tables(measured, more, threads)
    report.write("networks", f"{machine}; {peers}; {report.today()}; medians of {a.runs} whole runs.\n\n{SETTINGS}\n{text}")
    svg = report.README.parent / "networks.svg"
    svg.write_text(picture.draw("Inference, float32", panels, list(PEERS.values())))
    print(f"written {svg}")
    if {1, 2} <= set(figures):
        about = f"{machine}, {peers.replace(',', ' and')}, {report.today()}"
        report.write("speed", headline(figures, about), report.ROOT / "README.md")


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
    measured, logits, exact, more, begun = {}, {}, {}, {}, time.monotonic()
    for run in range(a.runs):
        folder = results / f"run{run}"
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if run == 0:
                model = a.build / "logits" / f"{name}.onnx"
                logits[name] = measure(a, model, threads[-1], folder / f"{name}.logits.json", 1, 0.1)
                exact[name] = kept(folder / f"{name}.f64.json", lambda m=model: from_f64(a, m))
            for t in threads:
                model = a.build / "models" / f"{name}.onnx"
                r = measure(a, model, t, folder / f"{name}.{t}.json", a.rounds, a.seconds)
                measured.setdefault((name, t), []).append(r)
                if run == 0:
                    least = kept(folder / f"{name}.{t}.floor.json", lambda m=model, t=t: floor(a, m, t))
                    more[name, t] = {"floor": least, "logits": logits[name], "f64": exact[name]}
                print(f"{time.monotonic() - begun:5.0f} s  run {run + 1} of {a.runs}, {name}, {t} threads: wick "
                      f"{r['ms']['wick']:.3f} ms, {ratio(r['ms']):.2f} of {fastest(r['ms'])}, difference "
                      f"{show(error([r]))}, logits {show(error([logits[name]]))}", flush=True)  # fmt: skip
    wrong = {n for (n, _), runs in measured.items() if is_wrong(error(runs))}
    wrong |= {n for n, r in logits.items() if is_wrong(error([r]))} | {n for n, e in exact.items() if is_wrong(e)}
    if names == report.NETWORKS:
        publish(a, measured, more, threads)
    sys.exit(f"outputs differ by more than {TOLERANCE}: {' '.join(sorted(wrong))}" if wrong else 0)


if __name__ == "__main__":
    main()
