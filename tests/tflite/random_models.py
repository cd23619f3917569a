#!/usr/bin/env python3
"""Compares random TensorFlow Lite operators with LiteRT's reference kernels.

    python tests/tflite/random_models.py --count 200 --seed 1 --wick build/wick [--only CONV_2D,ADD] [--case 17]

Needs ai-edge-litert. Integers must be equal, but for tables of real functions: they may differ by one step where the function is
within an ulp of a rounding tie, which is counted. Floats may differ by 1e-5 of the largest output, before a fused activation limits it
(RELU_N1_TO_1, RELU6): sums of large products are inexact by a share of their size, also where they cancel. A recurrent layer may differ by
ties of its quantized state, which are computed (recurrent_ties.py) and counted. Where the reference set lacks a
kernel, LiteRT's plain built-in kernels are taken. Each operator is a model of its own for LiteRT, which runs in a process of
its own (some models end it); Wick compiles `--batch` of them in one model, and a model that fails again by itself.
"""

import argparse
import collections
import copy
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import recurrent_ties
import tflite_makers  # noqa: F401  (the makers register themselves)
import tflite_more  # noqa: F401
import tflite_recurrent  # noqa: F401
import tflite_signal  # noqa: F401
import tflite_window  # noqa: F401
from tflite_build import MAKERS, model

# Operators whose reference kernels of LiteRT 2.3 have defects: the results of quantized sums are not written, and the window of a
# normalization lacks its last channel.
PLAIN = {"SUM", "LOCAL_RESPONSE_NORMALIZATION"}


def litert(pipe):
    """The process of LiteRT: answers (model, inputs of each run, without the reference set, with XNNPACK) with the outputs of each run, or with why it refuses."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    while True:
        try:
            data, feeds, plain, delegated = pipe.recv()
        except EOFError:
            return
        answer = None
        sets = OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        for kind in [OpResolverType.BUILTIN] if delegated else sets[plain:]:
            try:
                it = Interpreter(model_content=data, experimental_op_resolver_type=kind)
                it.allocate_tensors()
                answer = []
                for run in feeds:
                    for d, x in zip(it.get_input_details(), run):
                        it.set_tensor(d["index"], x)
                    it.invoke()
                    answer.append([it.get_tensor(d["index"]) for d in it.get_output_details()])
                break
            except (ValueError, RuntimeError) as e:
                answer = str(e).strip().split("\n")[0]
        pipe.send(answer)


class LiteRT:
    def __init__(self):
        self.process = None

    def run(self, case):
        if self.process is None:
            self.pipe, other = multiprocessing.Pipe()
            self.process = multiprocessing.Process(target=litert, args=(other,), daemon=True)
            self.process.start()
            other.close()
        try:
            self.pipe.send((model([case]), case.runs(), case.code in PLAIN, case.delegated))
            if self.pipe.poll(60):
                return self.pipe.recv()
        except (EOFError, OSError):
            pass
        self.process.kill()
        self.process.join()
        code, self.process = self.process.exitcode, None
        return f"LiteRT ended with {code}"


def without_limits(case):
    """The same operator without its fused RELU_N1_TO_1 or RELU6, or None if it has none or its results are no floats."""
    if case.steps or not case.options or getattr(case.options[1], "fusedActivationFunction", 0) not in (2, 3) or case.results[0].dtype.kind != "f":
        return None
    free = copy.copy(case)
    free.options = case.options[0], copy.copy(case.options[1])
    free.options[1].fusedActivationFunction = 0
    return free


def largest(outputs):
    """The largest finite magnitude of the outputs of all runs."""
    return max(float(np.abs(y[np.isfinite(y)]).max(initial=0)) for run in outputs for y in map(np.atleast_1d, run) if y.dtype.kind == "f")


def near_tie(case):
    """Where the real result is within an ulp of f32 of a tie, for each element; None: ties have one meaning."""
    if case.exact:
        real, near = case.exact
    elif case.real:
        x, y = case.operands[0], case.results[0]
        real = case.real((x.data.astype(np.float64) - x.quant[1][0]) * x.quant[0][0]) / y.quant[0][0]
        near = np.spacing(np.abs(real).astype(np.float32)).astype(np.float64) * 4
    else:
        return None
    return np.abs(np.abs(real - np.floor(real)) - 0.5) <= np.maximum(near, 1e-30)


def compare(case, got, want):
    """Returns "", "tie", or what differs."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    if not want.size:
        return ""
    got, want = np.atleast_1d(got), np.atleast_1d(want)
    if want.dtype.kind != "f":
        d = np.abs(got.astype(np.int64) - want.astype(np.int64))
        if case.undefined is not None:
            d[case.undefined] = 0
        if not d.max():
            return ""
        near = near_tie(case)
        if near is not None and d.max() == 1 and np.all(near[d > 0]):
            return "tie"
        at = np.unravel_index(int(d.argmax()), d.shape)
        return f"{int((d > 0).sum())} of {d.size} differ, by at most {d.max()}: {got[at]}, expected {want[at]} at {[int(k) for k in at]}"
    limit = 1e-5 * max(1e-3, case.largest, np.abs(want[np.isfinite(want)]).max(initial=0))
    with np.errstate(invalid="ignore", over="ignore"):
        d = np.abs(got.astype(np.float64) - want.astype(np.float64))
    d[(got == want) | (np.isnan(got) & np.isnan(want))] = 0
    return "" if d.max() <= limit else f"error {d.max():.3g} above {limit:.3g}"


def wick(command, cases, folder):
    """Returns the outputs of all cases in each run, or the message of a failure. The cases have equally many runs."""
    path, files, frames = folder / "m.tflite", [], cases[0].frames
    path.write_bytes(model(cases))
    for x in [np.stack(f) if frames > 1 else f[0] for c in cases for f in zip(*c.runs())]:
        files.append(folder / f"in_{len(files)}.npy")
        np.save(files[-1], x)
    out = folder / "out"
    how = ["--frames"] if frames > 1 else []
    feeds = ["--inputs", *files] if files else []
    r = subprocess.run([command, "run", path, "--no-cache", *how, *feeds, "--outputs", out], capture_output=True, text=True, errors="replace", timeout=600)
    if r.returncode:
        return (r.stderr or f"exit {r.returncode}").strip()[:300]
    all = [np.load(out / f"output_{i}.npy") for i in range(sum(len(c.results) for c in cases))]
    return [[y[k] for y in all] for k in range(frames)] if frames > 1 else [all]


class Count:
    def __init__(self):
        self.what, self.refused = collections.Counter(), collections.Counter()

    def add(self, what, index, case, why=""):
        self.what[what] += 1
        if what == "refused":
            self.refused[case.code] += 1
        if what != "passed":
            print(f"{what} {index} {case.code}: {why}\n    {case.about()}", flush=True)


def check(command, cases, count):
    """cases: (index, case, outputs of LiteRT)"""
    if not cases:
        return
    with tempfile.TemporaryDirectory() as d:
        got = wick(command, [c for _, c, _ in cases], pathlib.Path(d))
    if isinstance(got, str):
        if len(cases) == 1:
            count.add("failed", *cases[0][:2], got)
        else:
            half = len(cases) // 2
            check(command, cases[:half], count)
            check(command, cases[half:], count)
        return
    for index, case, want in cases:
        own, got = [run[: len(case.results)] for run in got], [run[len(case.results) :] for run in got]
        found = [(k, r, compare(case, g, w)) for r in range(case.frames) for k, (g, w) in enumerate(zip(case.trim(own[r]), case.trim(want[r])))]
        worst = next((f"output {k}{f' of run {r}' if r else ''}: {f}" for k, r, f in found if f and f != "tie"), "")
        if worst and recurrent_ties.applies(case) and recurrent_ties.explain(case, own, want):
            worst, found = "", [(0, 0, "tie")]
        count.add("failed" if worst else "tie" if any(f == "tie" for _, _, f in found) else "passed", index, case, worst)


def make(seed, index, names):
    rng = np.random.default_rng([seed, index])
    case = MAKERS[names[index % len(names)]](rng, names[index % len(names)])
    if case.open_batch is None:
        case.open_batch = bool(rng.random() < 0.15)
    return case


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only")
    p.add_argument("--case", type=int, help="only the case of this index")
    p.add_argument("--batch", type=int, default=25)
    p.add_argument("--wick", default="build/wick")
    a = p.parse_args()
    names = a.only.split(",") if a.only else sorted(MAKERS)
    peer, count, batches = LiteRT(), Count(), collections.defaultdict(list)
    for i in range(a.count) if a.case is None else [a.case]:
        case = make(a.seed, i, names)
        want = peer.run(case)
        if isinstance(want, str):
            count.add("refused", i, case, want)
            continue
        free = without_limits(case)
        unlimited = peer.run(free) if free else []
        if unlimited and not isinstance(unlimited, str):
            case.largest = largest(unlimited)
        batch = batches[case.frames]
        batch.append((i, case, want))
        if len(batch) == a.batch:
            check(a.wick, batch, count)
            batch.clear()
    for batch in batches.values():
        check(a.wick, batch, count)
    print(", ".join(f"{count.what[k]} {k}" for k in ("passed", "tie", "failed", "refused")), "by LiteRT")
    return 1 if count.what["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
