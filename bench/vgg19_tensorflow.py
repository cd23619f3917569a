#!/usr/bin/env python3
"""VGG-19 on Wick and on TensorFlow (keras.applications, tf.function), side by side; the table goes into README.md.

    python3 bench/vgg19_tensorflow.py [--rounds 5] [--seconds 1] [--tensorflow PYTHON]

TensorFlow is large and runs in its own Python: PYTHON must have the package tensorflow-cpu. Both have random weights
of the same shapes, and run one image of 224 x 224 in turns. ../shared/bench/peers.py measures the times."""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

import report

THREADS = (1, 2)


def worker(threads):
    """Speaks the protocol of peers.py: says `ready`, then runs the network as often as it is told to."""
    import tensorflow as tf

    begun = time.perf_counter()
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    network = tf.keras.applications.VGG19(weights=None)
    run = tf.function(lambda x: network(x, training=False))
    image = tf.random.normal((1, 224, 224, 3))
    run(image).numpy()
    print("ready", time.perf_counter() - begun, flush=True)
    for line in sys.stdin:
        for _ in range(int(line.split()[1])):
            run(image).numpy()
        print("ok", flush=True)


def version(python):
    code = "import importlib.metadata as m; print(m.version('tensorflow-cpu'))"
    r = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return r.stdout.strip()


def measure(a, threads):
    """The medians of the rounds, and that of their ratios."""
    sys.path.insert(0, str(report.SHARED))
    import peers

    model = a.build / "models" / "vgg19.onnx"
    commands = {
        "wick": f"{a.wick} bench --pipe {model} --inputs {model.with_suffix('.input_0.npy')} --threads {threads}".split(),
        "tensorflow": [a.tensorflow, __file__, "--worker", str(threads)],
    }
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), TF_CPP_MIN_LOG_LEVEL="3")
    running = {n: peers.Runner(c, env) for n, c in commands.items()}
    for n, r in running.items():
        if not r.ok:
            sys.exit(f"{n}: {r.why}")
    rounds = [{n: r.best_ms(a.seconds) for n, r in running.items()} for _ in range(a.rounds)]
    for r in running.values():
        r.q.stdin.close()
    ms = {n: statistics.median(x[n] for x in rounds) for n in running}
    return ms, statistics.median(x["wick"] / x["tensorflow"] for x in rounds)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--wick", type=pathlib.Path, default=report.ROOT / "build" / "wick")
    p.add_argument("--build", type=pathlib.Path, default=report.ROOT / "build" / "bench", help="models")
    p.add_argument("--tensorflow", default=sys.executable, metavar="PYTHON")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=1.0)
    p.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.worker:
        return worker(a.worker)
    report.need_shared()
    found = version(a.tensorflow)
    if not found:
        sys.exit(f"{a.tensorflow} has no package tensorflow-cpu; name a Python that has it by --tensorflow")
    rows = []
    for threads in THREADS:
        ms, ratio = measure(a, threads)
        rows.append([threads, f"{ms['wick']:.1f}", f"{ms['tensorflow']:.1f}", f"{ratio:.2f}"])
        print(*rows[-1])
    head = ["threads", "wick ms", "tensorflow ms", "ratio"]
    about = f"{report.machine()}; tensorflow-cpu {found}; {report.today()}; medians of {a.rounds} rounds.\n\n"
    report.write("keras", about + report.table(head, rows))


if __name__ == "__main__":
    main()
