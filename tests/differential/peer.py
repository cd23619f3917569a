#!/usr/bin/env python3
"""Random graphs on Wick and on ONNX Runtime, where it takes them.

    build/venv/bin/python tests/differential/peer.py [--graphs 2000] [--seed 0] [--build build] [--keep DIR]

driver.export_test writes the graphs as ONNX. An element is compared where the model in f64 (`--precision f64`) is near
what Wick computes, so that it does not hang on how something is rounded; integers, where they are the same. Floats may
differ by 1e-3 of the largest magnitude of their result, those of 16 bits by 2e-2. What is infinite or not a number, and
integers that were cast from floats out of their range, is each library's own."""

import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def drawn(rng, info):
    kind = info.type[len("tensor(") : -1]
    kind = {"float": "float32", "double": "float64"}.get(kind, kind)
    if kind.startswith(("float", "bfloat")):
        import ml_dtypes  # noqa: F401: names bfloat16

        return rng.uniform(-2, 2, info.shape).astype(np.dtype(kind))
    if kind == "bool":
        return rng.random(info.shape) < 0.5
    return rng.integers(0 if kind.startswith("u") else -10, 11, info.shape).astype(kind)


def wide(x):
    x = np.asarray(x)
    return x.astype(np.float64) if x.dtype.kind in "fV" or x.dtype.name == "bfloat16" else x


def compare(got, exact, want):
    """What is wrong with a result, or None; and how many elements were compared."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {got.shape}, wanted {want.dtype} {want.shape}", 0
    short = got.dtype.itemsize == 2
    g, e, w = wide(got), wide(exact), wide(want)
    if g.dtype.kind != "f":
        stable = g == e
        return ("other integers" if (g[stable] != w[stable]).any() else None), int(stable.sum())
    if e.dtype.kind != "f" or e.shape != g.shape:
        return None, 0
    fine = np.isfinite(g) & np.isfinite(e) & np.isfinite(w)
    size = np.abs(e[fine]).max(initial=0)
    limit = (2e-2 if short else 1e-3) * size
    stable = fine.copy()
    stable[fine] = np.abs(g[fine] - e[fine]) <= limit / 8
    off = np.abs(g[stable] - w[stable])
    bad = off > limit
    return (f"off by {off.max():.3g} of {size:.3g}" if bad.any() else None), int(stable.sum())


def one(path, seed, count):
    import onnxruntime as ort
    import wick

    data = path.read_bytes()
    options = ort.SessionOptions()
    options.log_severity_level = 4
    try:
        peer = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception:
        count["refused by ONNX Runtime"] += 1
        return None
    rng = np.random.default_rng(seed)
    try:
        session = wick.InferenceSession(data, cache="")
        feeds = {i.name: drawn(rng, i) for i in session.get_inputs()}
        got = session.run(None, feeds)
        inputs = [feeds[i.name] for i in session.get_inputs()]
        exact = wick.load(data).compile(precision="f64", cache="").run(inputs)
    except wick.WickError as e:
        count["fails on these inputs: " + type(e).__name__] += 1
        return None
    try:
        want = peer.run(None, feeds)
    except Exception:
        count["fails in ONNX Runtime"] += 1
        return None
    count["compared"] += 1
    for k, (g, e, w) in enumerate(zip(got, exact, want)):
        why, n = compare(np.asarray(g), np.asarray(e), np.asarray(w))
        count["elements"] += n
        if why:
            return f"result {k}: {why}"
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=int, default=2000)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--keep", type=pathlib.Path)
    a = p.parse_args()
    sys.path.insert(0, str(a.build.resolve() / "python"))
    count, bad = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as d:
        folder = a.keep or pathlib.Path(d)
        folder.mkdir(parents=True, exist_ok=True)
        env = dict(os.environ, WICK_EXPORT_DIR=str(folder), WICK_RANDOM_GRAPHS=str(a.graphs), WICK_RANDOM_SEED=str(a.seed))
        subprocess.run([a.build / "tests" / "driver.export_test"], env=env, check=True, stdout=subprocess.DEVNULL)
        for path in sorted(folder.glob("*.onnx"), key=lambda f: int(f.stem)):
            why = one(path, int(path.stem), count)
            if why:
                bad += 1
                print(f"{path.stem}: {why}", flush=True)
    print(", ".join(f"{n} {k}" for k, n in sorted(count.items())), f"; {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
