"""Runtimes beside each other, in turns, each in a process of its own.

Threads of a runtime wait actively for its next run, and a process has one allocator: in one process, runs of less than a millisecond
took up to twice their time behind another runtime's. A runtime that ends with a signal is started again for the next model.
"""

import math
import multiprocessing
import time

import numpy as np

ROUND = 0.01  # seconds
QUIET = 0.1  # seconds; threads of ONNX Runtime wait actively for 50 ms, measured
PATIENCE = 300  # seconds for one answer
PEERS = "onnxruntime", "openvino"


def session(package, model, threads):
    o = package.SessionOptions()
    o.intra_op_num_threads, o.inter_op_num_threads = threads, 1
    o.log_severity_level = 4
    s = package.InferenceSession(model, o, providers=["CPUExecutionProvider"])
    return lambda feed: s.run(None, feed)


def wick(model, threads):
    import wick

    return session(wick, model, threads)


def onnxruntime(model, threads):
    import onnxruntime

    return session(onnxruntime, model, threads)


def openvino(model, threads):
    import openvino

    core = openvino.Core()
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(core.read_model(model), "CPU", settings).create_infer_request()
    return lambda feed: list(request.infer(feed, share_inputs=True, share_outputs=True).values())


LOADERS = {f.__name__: f for f in (wick, onnxruntime, openvino)}


def serve(name, threads, pipe):
    """The process of a runtime: answers `load MODEL FEED` with the seconds of a run, `time` with those of a run in a round, `outputs`."""
    run = feed = runs = None
    while True:
        try:
            what, *args = pipe.recv()
        except EOFError:  # the bench has ended
            return
        try:
            if what == "load":
                run = None  # frees the model before
                (model, feed) = args
                run = LOADERS[name](model, threads)
                run(feed)
                begin = time.perf_counter()
                run(feed)
                runs = max(1, min(300, int(ROUND / max(time.perf_counter() - begin, 1e-6))))
                answer = None
            elif what == "time":
                if threads > 1:
                    time.sleep(QUIET)
                    run(feed)
                begin = time.perf_counter()
                for _ in range(runs):
                    run(feed)
                answer = (time.perf_counter() - begin) / runs
            else:
                answer = [np.array(y) for y in run(feed)]
            pipe.send((True, answer))
        except Exception as e:  # what a runtime says of a model that it refuses
            pipe.send((False, f"{type(e).__name__}: {e}"))


class Refused(Exception):
    """A runtime that does not run this model."""


class Runtime:
    def __init__(self, name, threads):
        self.name, self.threads, self.process = name, threads, None

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(self.name, self.threads, other), daemon=True)
        self.process.start()
        other.close()

    def ask(self, *message):
        if self.process is None:
            self.start()
        try:
            self.pipe.send(message)
            if not self.pipe.poll(PATIENCE):
                raise EOFError
            ok, answer = self.pipe.recv()
        except (EOFError, OSError):
            self.process.kill()
            self.process.join()
            code, self.process = self.process.exitcode, None
            raise Refused(f"{self.name} ended with {code}")
        if not ok:
            raise Refused(f"{self.name}: {answer}")
        return answer


class Runtimes:
    """Wick and its peers."""

    def __init__(self, threads):
        self.all = {n: Runtime(n, threads) for n in LOADERS}

    def measure(self, model, feed, rounds, shortest, longest):
        """({runtime: seconds of a run, the least of all rounds}, difference of Wick's outputs from a peer's), or None if no peer runs
        the model or its time is out of range."""
        times = {}
        for name in PEERS:
            try:
                self.all[name].ask("load", model, feed)
                times[name] = [self.all[name].ask("time")]
            except Refused:
                times.pop(name, None)
        if not times or not shortest < min(t[0] for t in times.values()) < longest:
            return None
        self.all["wick"].ask("load", model, feed)
        times["wick"] = []
        error = difference(self.all["wick"].ask("outputs"), self.all[next(iter(times))].ask("outputs"))
        for _ in range(rounds):
            for name, t in times.items():
                t.append(self.all[name].ask("time"))
        return {name: min(t) for name, t in times.items()}, error


def difference(got, want):
    """The largest difference over all outputs, divided by the largest magnitude, of elements that are finite in
    both."""
    worst = 0.0
    for g, w in zip(got, want):
        if g.shape != w.shape or g.dtype != w.dtype:
            return math.inf
        g, w = g.astype(np.float64), w.astype(np.float64)
        both = np.isfinite(g) & np.isfinite(w)
        if both.any():
            worst = max(worst, np.abs(g[both] - w[both]).max() / max(np.abs(w[both]).max(), 1e-30))
    return worst
