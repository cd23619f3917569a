#!/usr/bin/env python3
"""The fourteen networks in bf16 on Wick and on OpenVINO with its bf16 hint: times, and errors against f64; the table
goes into README.md.

    build/venv/bin/python bench/precision.py [--precision bf16] [--threads 1] [--rounds 7] [--inputs 8] [NAME ...]

Times are those of ../shared/bench/peers.py: rounds of both in turn, the median of their best batches. Errors are the
RMS of the differences from `wick --precision f64` over the RMS of its numbers, over all elements for 8 random inputs;
of the networks without their final softmax, which hides differences. The table is written only if all networks are
measured.
"""

import math
import pathlib
import sys
import tempfile

import numpy as np

import networks
import report

PEER = "openvino_bf16"


def runner(command):
    sys.path.insert(0, str(report.SHARED))
    import peers

    r = peers.Runner(list(map(str, command)), None)
    if not r.ok:
        sys.exit(f"{' '.join(map(str, command))}: {r.why}")
    return r


def runners(a, model, precisions, threads):
    """Wick in each precision, and the peer."""
    import peers

    inputs = ",".join(peers.inputs_of(str(model)))
    found = {p: runner([a.wick, "bench", "--pipe", model, "--inputs", inputs, "--threads", threads, "--precision", p])
             for p in precisions}  # fmt: skip
    found[PEER] = runner([sys.executable, report.SHARED / "peers.py", model, "--threads", threads, "--worker", PEER])
    return found


def close(found):
    for r in found.values():
        r.q.stdin.close()
        r.q.wait()


def times(a, model, threads):
    """Milliseconds of both."""
    found = runners(a, model, [a.precision], threads)
    each = {n: [] for n in found}
    for _ in range(a.rounds):
        for n, r in found.items():
            each[n].append(r.best_ms(a.seconds))
    close(found)
    return {n: float(np.median(t)) for n, t in each.items()}


def errors(a, model):
    """RMS of the differences from f64 over the RMS of the f64 results, for both."""
    import peers

    found = runners(a, model, ["f64", a.precision], 1)
    rng = np.random.default_rng(a.seed)
    off, size = dict.fromkeys(found, 0.0), 0.0
    feeds = [np.load(f) for f in peers.inputs_of(str(model))]
    with tempfile.TemporaryDirectory() as d:
        for _ in range(a.inputs):
            files = [str(pathlib.Path(d) / f"{k}.npy") for k in range(len(feeds))]
            for f, x in zip(files, feeds):
                np.save(f, peers.fresh(x, rng))
            outputs = {}
            for n, r in found.items():
                r.ask("feed " + ",".join(files))
                outputs[n] = [y.astype(np.float64) for y in r.outputs()]
            size += sum(float(np.sum(w * w)) for w in outputs["f64"])
            for n in off:
                off[n] += sum(float(np.sum((y - w) ** 2)) for y, w in zip(outputs[n], outputs["f64"]))
    close(found)
    return {n: math.sqrt(x / size) for n, x in off.items()}


def main():
    a = networks.arguments(__doc__, precision="bf16", threads="1,2", rounds=7, seconds=1.0, inputs=8, seed=1)
    sys.path.insert(0, str(report.SHARED))
    names, threads = a.names, [int(t) for t in a.threads.split(",") if t != "0"]
    networks.make_models(a.build / "logits", names, "--logits")
    rows, ratios, bad = [], {t: [] for t in threads}, []
    for name in names:
        row = [name]
        for t in threads:
            ms = times(a, a.build / "models" / f"{name}.onnx", t)
            ratios[t].append(ms[a.precision] / ms[PEER])
            row += [f"{ms[a.precision]:.3f}", f"{ms[PEER]:.3f}", f"{ratios[t][-1]:.2f}"]
        rms = errors(a, a.build / "logits" / f"{name}.onnx")
        bad += [name] if rms[a.precision] > rms[PEER] else []
        rows.append(row + [f"{rms[a.precision]:.2e}", f"{rms[PEER]:.2e}"])
        print(" ".join(f"{x:>12s}" for x in rows[-1]), flush=True)
    means = ["**geometric mean**"]
    for t in threads:
        means += ["", "", f"**{math.exp(sum(map(math.log, ratios[t])) / len(names)):.2f}**"]
    rows.append(means + ["", ""])
    head = ["network"]
    for t in threads:
        head += [f"wick ms, {t} thread{'s' if t > 1 else ''}", "openvino ms", "ratio"]
    text = report.table(head + ["wick RMS error", "openvino RMS error"], rows)
    print(text)
    if names == report.NETWORKS and threads:
        peers = report.versions(["openvino"])
        report.write("precision", f"{a.precision}; {report.machine()}; {peers}; {report.today()}.\n\n{text}")
    sys.exit(f"larger errors: {' '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
