#!/usr/bin/env python3
"""A stream through a model that carries its state: Silero VAD over 1,000 chunks of sound, one after another, on Wick,
ONNX Runtime and OpenVINO, one thread each, through their Python packages; the table goes into README.md.

    build/venv/bin/python bench/stream.py [--chunks 1000] [--rounds 7]

A chunk is 512 samples after 64 of the chunk before; the state that a run outputs is the next run's input. All three
read it where the last run wrote it: Wick and ONNX Runtime by two bindings in turn, OpenVINO by two pairs of shared
tensors. Runtimes take turns, a stream each; a round is a turn of each. The difference is that of all probabilities
from ONNX Runtime's.

The model has a branch for each of two rates, and OpenVINO refuses it: there it runs the branch of 16 kHz alone at these sizes,
as ONNX Runtime's own simplification gives it, and so does ONNX Runtime once more."""

import argparse
import copy
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

import report

MODEL = report.SHARED.parent / "models" / "silero_vad" / "model.onnx"
RATE, SAMPLES, CONTEXT = 16000, 512, 64


def chunks(n):
    """Tones that come and go in noise, cut into chunks that begin with the end of the chunk before."""
    rng = np.random.default_rng(1)
    t = np.arange(n * SAMPLES) / RATE
    sound = 0.3 * np.sin(2 * np.pi * (180 + 60 * np.sin(t)) * t) * (np.sin(0.7 * t) > 0) + 0.02 * rng.standard_normal(t.size)
    sound = np.concatenate([np.zeros(CONTEXT), sound]).astype("f")
    return [np.ascontiguousarray(sound[None, i * SAMPLES : (i + 1) * SAMPLES + CONTEXT]) for i in range(n)]


def one_branch(folder):
    """The branch of 16 kHz at these sizes, simplified until no branch is left."""
    import onnx
    import onnxruntime as ort

    model = onnx.load(str(MODEL))
    ports = {p.name: p for p in model.graph.input}
    for name, shape in (("input", (1, SAMPLES + CONTEXT)), ("state", (2, 1, 128))):
        ports[name].CopyFrom(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape))
    model.graph.input.remove(ports["sr"])
    nodes = []
    for node in model.graph.node:
        then = next((x.g for x in node.attribute if x.name == "then_branch"), None)
        pairs = zip([x.name for x in then.output], node.output) if then else ()
        nodes += [copy.deepcopy(n) for n in (then.node if then else [node] if node.op_type == "Identity" else [])]
        nodes += [onnx.helper.make_node("Identity", [x], [y]) for x, y in pairs]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    source, out = folder / "source.onnx", folder / "branch.onnx"
    onnx.save(model, str(source))
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    o.optimized_model_filepath = str(out)
    ort.InferenceSession(str(source), o, ["CPUExecutionProvider"])
    return out


class Bound:
    """ONNX Runtime's interface, which Wick's package has too: two bindings, each of which reads the state that the
    other one writes."""

    def __init__(self, package, session):
        self.session, self.x = session, np.zeros((1, SAMPLES + CONTEXT), "f")
        state = [np.zeros((2, 1, 128), "f") for _ in range(2)]
        self.state, self.p = state, np.zeros((1, 1), "f")
        self.rate = package.OrtValue.ortvalue_from_numpy(np.array(RATE, "i8"))
        self.bindings = []
        for k in range(2):
            b = session.io_binding()
            for name, array in (("input", self.x), ("state", state[k])):
                b.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
            if any(i.name == "sr" for i in session.get_inputs()):
                b.bind_ortvalue_input("sr", self.rate)
            for name, array in (("output", self.p), ("stateN", state[1 - k])):
                b.bind_output(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
            self.bindings.append(b)

    def stream(self, sound, out):
        self.state[0][...] = 0
        for i, chunk in enumerate(sound):
            self.x[...] = chunk
            self.session.run_with_iobinding(self.bindings[i & 1])
            out[i] = self.p[0, 0]


def wick_stream(a):
    sys.path.insert(0, str(a.python))
    import wick

    o = wick.SessionOptions()
    o.intra_op_num_threads = 1
    return Bound(wick, wick.InferenceSession(str(MODEL), o))


def ort_stream(model):
    import onnxruntime as ort

    o = ort.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    return Bound(ort, ort.InferenceSession(str(model), o, ["CPUExecutionProvider"]))


class OpenVino:
    def __init__(self, model):
        import openvino as ov

        core = ov.Core()
        self.request = core.compile_model(str(model), "CPU", {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY",
                                                         "INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()  # fmt: skip
        self.x, self.state = np.zeros((1, SAMPLES + CONTEXT), "f"), [np.zeros((2, 1, 128), "f") for _ in range(2)]
        self.shared = [ov.Tensor(s, shared_memory=True) for s in self.state]
        self.p = ov.Tensor(np.zeros((1, 1), "f"))
        self.request.set_tensor("input", ov.Tensor(self.x, shared_memory=True))
        self.request.set_tensor("output", self.p)

    def stream(self, sound, out):
        self.state[0][...] = 0
        for i, chunk in enumerate(sound):
            self.x[...] = chunk
            self.request.set_tensor("state", self.shared[i & 1])
            self.request.set_tensor("stateN", self.shared[1 - (i & 1)])
            self.request.infer()
            out[i] = self.p.data[0, 0]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--chunks", type=int, default=1000)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--python", type=pathlib.Path, default=report.ROOT / "build" / "python", help="Wick's package")
    a = p.parse_args()
    report.need_shared()
    sound = chunks(a.chunks)
    with tempfile.TemporaryDirectory() as d:
        branch = one_branch(pathlib.Path(d))
        made = {"wick": wick_stream(a), "ort": ort_stream(MODEL), "ort, one branch": ort_stream(branch),
                "openvino, one branch": OpenVino(branch)}  # fmt: skip
    out = {name: np.zeros(a.chunks, "f") for name in made}
    took = {name: [] for name in made}
    for name in made:
        made[name].stream(sound[:20], out[name])
    for _ in range(a.rounds):
        for name, runtime in made.items():
            begin = time.perf_counter()
            runtime.stream(sound, out[name])
            took[name].append((time.perf_counter() - begin) / a.chunks * 1000)
    ms = {name: statistics.median(t) for name, t in took.items()}
    faster = min(t for name, t in ms.items() if name != "wick")
    rows = [[name, f"{ms[name]:.4f}", f"{min(took[name]):.4f}", f"{ms[name] / faster:.2f}",
             f"{np.abs(out[name] - out['ort']).max():.1e}"] for name in made]  # fmt: skip
    text = report.table(["one thread", "ms a chunk, median", "least", "of the faster peer", "difference"], rows)
    print(text)
    if a.chunks == 1000:
        peers = report.versions(["onnxruntime", "openvino"])
        report.write("stream", f"{report.machine()}; {peers}; {report.today()}; {a.rounds} rounds.\n\n{text}")
    sys.exit(f"{ms['wick'] - faster:.3f} ms over the faster peer" if ms["wick"] > faster + 0.05 else 0)


if __name__ == "__main__":
    main()
