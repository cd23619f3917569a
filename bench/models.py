#!/usr/bin/env python3
"""Trained models of ../shared/models on Wick, ONNX Runtime and OpenVINO, each at the sizes of its first kept input: times
in turns by peers.py; the table goes into README.md.

    build/venv/bin/python bench/models.py [--threads 1,2] [--rounds 5] [--seconds 0.5] [NAME ...]

That all kept outputs are met is another matter: `check.py` of the same folder. Here outputs for random inputs are
compared with ONNX Runtime's, and the difference is in the table: for numbers that mean nothing a network may amplify
what its arithmetic rounds, and then OpenVINO's difference is as large.

All get a file in which weights are weights alone: those that are inputs, too, as in files of before 2020, a caller may
replace, so that ONNX Runtime does without most optimizations, and warns of each."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import networks
import report

MODELS = report.SHARED.parent / "models"


def names():
    """All ONNX models whose sizes a session can be compiled for."""
    found = [f for f in sorted(MODELS.glob("*/model.json")) if json.loads(f.read_text())["format"] == "onnx"]
    return [f.parent.name for f in found]


# In a process of its own, as libraries of peers are.
STRIP = """
import sys, onnx
model = onnx.load(sys.argv[1])
made = {x.name for x in model.graph.initializer}
inputs = [x for x in model.graph.input if x.name not in made]
del model.graph.input[:]
model.graph.input.extend(inputs)
onnx.save(model, sys.argv[2])
"""


def weights_alone(name, to):
    """Writes the model without inputs that are weights, and its kept inputs into the same folder."""
    folder, model = MODELS / name, to / "model.onnx"
    source = folder / json.loads((folder / "model.json").read_text())["model"]
    subprocess.run([sys.executable, "-c", STRIP, source, model], check=True)
    for x in (*folder.glob("input_*.npy"), *source.parent.glob(f"{source.stem}.input_*.npy")):
        shutil.copy(x, to / x.name)
    return model


def measure(a, name, threads):
    wick = f"{a.wick} bench --pipe {{model}} --inputs {{inputs}} --threads {{threads}}"
    with tempfile.TemporaryDirectory() as d:
        model, out = weights_alone(name, pathlib.Path(d)), pathlib.Path(d) / "out.json"
        command = [sys.executable, report.SHARED / "peers.py", model, "--threads", threads, "--only",
                   ",".join(networks.PEERS), "--rounds", a.rounds, "--seconds", a.seconds, "--wick", wick, "--json", out]  # fmt: skip
        r = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        return json.loads(out.read_text()) if out.exists() else r.stdout + r.stderr


def main():
    a = networks.arguments(__doc__, known=names(), threads="1,2", rounds=5, seconds=0.5)
    rows, over = [], []
    for name in a.names:
        row = [name]
        for t in map(int, a.threads.split(",")):
            found = measure(a, name, t)
            if not isinstance(found, dict) or "wick" not in found["ms"]:
                print(f"{name}: Wick did not run: {str(found)[-200:]}")
                break
            ms = found["ms"]
            ratio = networks.ratio(ms)
            over += [f"{name} ({t})"] if ms["wick"] > ms[networks.fastest(ms)] + 0.1 else []
            row += [f"{ms['wick']:.3f}", *(f"{ms[p]:.3f}" if p in ms else "-" for p in networks.PEERS), f"{ratio:.2f}"]
            row += [networks.show(found["difference"][p]) if p in ms else "-" for p in ("wick", "openvino")]
        else:
            rows.append(row)
            print(" ".join(f"{x:>12s}" for x in row), flush=True)
    means = ["**geometric mean**"]
    for k in range(len(a.threads.split(","))):
        means += ["", "", "", f"**{networks.geometric([float(r[4 + 6 * k]) for r in rows]):.2f}**", "", ""]
    head = ["model"]
    for t in a.threads.split(","):
        head += [f"wick ms, {t} thread{'s' if t != '1' else ''}", *(f"{p} ms" for p in networks.PEERS), "ratio"]
        head += ["difference", "openvino's"]
    text = report.table(head, rows + [means])
    print(text)
    if a.names == names():
        peers = report.versions(networks.PEERS.values())
        report.write("models", f"{report.machine()}; {peers}; {report.today()}; medians of {a.rounds} rounds.\n\n{text}")
    sys.exit(f"more than 0.1 ms over the faster peer: {' '.join(over)}" if over else 0)


if __name__ == "__main__":
    main()
