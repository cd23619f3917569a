#!/usr/bin/env python3
"""Random graphs on Wick and on ONNX Runtime.

    build/venv/bin/python tests/differential/peer.py [--graphs 2000] [--seed 0] [--build build] [--keep DIR]

tests.random.export_test writes the graphs as ONNX: first each row with each element type alone, then graphs of those
pairs that ONNX Runtime takes. An element is compared if the model in f64 (`--precision f64`) is near Wick's result,
so that it does not depend on rounding; integers, if they are equal. Floats may differ by 1e-3 of the largest
magnitude of their result, those of 16 bits by 2e-2; infinities and NaN are not compared. If graphs differ, their
nodes are compared one by one, on the inputs that they get from Wick: OWN lists those that may differ, and why."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]



def attribute(node, name, default=None):
    import onnx

    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def cast_out_of_range(node, x):
    import onnx

    to = onnx.helper.tensor_dtype_to_np_dtype(attribute(node, "to"))
    if to.kind not in "iu" or wide(x[0]).dtype.kind != "f":
        return False
    limits, w = np.iinfo(to), wide(x[0])
    return not ((w > limits.min - 1) & (w < limits.max + 1)).all()


def integer_overflow(node, x):
    if x[0].dtype.kind not in "iu":
        return False
    w = np.maximum(np.abs(x[0].astype(np.float64)), 1)
    with np.errstate(over="ignore"):
        most = {
            "Pow": lambda: (w ** np.abs(x[1].astype(np.float64))).max(),
            "ReduceProd": lambda: np.prod(w),
            "ReduceSum": lambda: w.sum(),
            "ReduceSumSquare": lambda: (w * w).sum(),
        }[node.op_type]()
    return most > np.iinfo(x[0].dtype).max


def beyond_32_bits(node, x):
    return x[0].dtype.itemsize == 8 and x[0].dtype.kind in "iu" and bool((np.abs(x[0].astype(np.float64)) >= 1 << 31).any())


def has_nan(node, x):
    return any(i is not None and wide(i).dtype.kind == "f" and not np.isfinite(wide(i)).all() for i in x)


def activation_without_alpha(node, x):
    names = {n.decode() for n in attribute(node, "activations", [])}
    return attribute(node, "activation_alpha") is None and bool(names & {"Affine", "ScaledTanh", "ThresholdedRelu"})


def nearest_on_an_edge(node, x):
    if attribute(node, "mode", b"nearest") != b"nearest" or len(x) < 4 or x[3] is None:
        return False
    for n, m in zip(x[0].shape, x[3]):  # places in steps of n / m, from a multiple of n / 2m on: twice them are whole at times
        if n != m and ((np.arange(2 * m + 1) * n) % m == 0)[1:-1].any():
            return True
    return False


# Where results may differ: ONNX's text leaves them open, or ONNX Runtime's are not those of the text.
def mean_beyond_deviation(node, x):
    v = wide(x[0]).astype(np.float64)
    over, each = tuple(range(2, v.ndim)), (1, -1, *[1] * (v.ndim - 2))
    step = np.abs(x[1].astype(np.float64)).reshape(each) / np.sqrt(v.var(over, keepdims=True) + attribute(node, "epsilon", 1e-5))
    mean = v.mean(over, keepdims=True)
    largest = np.abs((v - mean) * step).max() + np.abs(x[2].astype(np.float64)).max()
    return bool((np.abs(mean) * step).max() * 2.0**-23 > 5e-4 * largest)


OWN = {
    "Cast": [cast_out_of_range],  # "undefined" in the text
    "Pow": [integer_overflow],  # what overflows is not said; it goes through doubles there
    "ReduceProd": [integer_overflow],  # nor here; it is the least or largest integer there
    "ReduceSum": [integer_overflow],
    "ReduceSumSquare": [integer_overflow],
    "Clip": [beyond_32_bits],  # two or more elements of 2508226560, between 1 and 4: 1 there
    "Hardmax": [has_nan],  # no order of NaN is said
    "MaxPool": [has_nan],
    "TopK": [has_nan],
    "ArgMax": [has_nan],
    "ArgMin": [has_nan],
    # The text: values that are not given are those of the operator, alpha 1; there it is 0. ScaledTanh is no operator any more.
    "LSTM": [activation_without_alpha],
    "GRU": [activation_without_alpha],
    "RNN": [activation_without_alpha],
    "InstanceNormalization": [mean_beyond_deviation],  # x * s + (b - mean * s) there: one element of -3379 is off by 0.001
    "Resize": [nearest_on_an_edge],  # places are rounded to float there, before the element is chosen
}


def own(node, inputs):
    return any(is_own(node, inputs) for is_own in OWN.get(node.op_type, []))


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
        return f"{got.dtype} {got.shape}, expected {want.dtype} {want.shape}", 0
    short = got.dtype.itemsize == 2
    g, e, w = (np.atleast_1d(wide(x)) for x in (got, exact, want))
    if g.dtype.kind != "f":
        stable = g == e
        return ("other integers" if (g[stable] != w[stable]).any() else None), int(stable.sum())
    if e.dtype.kind != "f" or e.shape != g.shape:
        return None, 0
    fine = np.isfinite(g) & np.isfinite(e) & np.isfinite(w)
    size = np.abs(e[fine]).max(initial=0)
    limit = max((2e-2 if short else 1e-3) * size, 1e-12)  # less is what rounding leaves of a difference
    stable = fine.copy()
    stable[fine] = np.abs(g[fine] - e[fine]) <= limit / 8
    off = np.abs(g[stable] - w[stable])
    bad = off > limit
    return (f"off by {off.max():.3g} of {size:.3g}" if bad.any() else None), int(stable.sum())


def session_of(data):
    """ONNX Runtime's session, or None if it refuses the model."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception:
        return None


def run(data, feeds, precision=None):
    """Wick's results; sizes may depend on the contents of inputs."""
    import wick

    options = wick.SessionOptions()
    options.precision = precision
    return [np.asarray(x) for x in wick.InferenceSession(data, options, cache="").run(None, feeds)]


def alone(model, node, values, declared):
    """A model of one node, and its inputs that are not constant. `declared` has the types that are known, by name."""
    import onnx

    constants = {i.name: i for i in model.graph.initializer}
    names = [i for i in dict.fromkeys(node.input) if i]
    feeds = {i: values[i] for i in names if i not in constants}
    inputs = [
        onnx.helper.make_tensor_value_info(i, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for i, x in feeds.items()
    ]
    outputs = [declared.get(o) or onnx.helper.make_empty_tensor_value_info(o) for o in node.output if o]
    graph = onnx.helper.make_graph([node], "g", inputs, outputs, [constants[i] for i in names if i in constants])
    made = onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    return made.SerializeToString(), feeds


def guilty(data, feeds):
    """The first node that differs on Wick's inputs for no known reason; None: rounding or known reasons explain all
    differences."""
    import onnx
    import wick

    model = onnx.load_model_from_string(data)
    values = {i.name: onnx.numpy_helper.to_array(i) for i in model.graph.initializer} | feeds
    inferred = onnx.shape_inference.infer_shapes(model).graph
    declared = {i.name: i for i in [*inferred.value_info, *inferred.output]}
    for node in model.graph.node:
        single, ins = alone(model, node, values, declared)
        try:
            got, exact = run(single, ins), run(single, ins, "f64")
        except wick.WickError as e:
            return f"{node.op_type}: {e}"
        values |= dict(zip([o for o in node.output if o], got))
        peer = session_of(single)
        try:
            want = peer.run(None, ins) if peer else got
        except Exception:
            continue
        for g, e, w in zip(got, exact, want):
            why = compare(g, e, np.asarray(w))[0]
            if why and not own(node, [values.get(i) for i in node.input]):
                return f"{node.op_type}: {why}"
    return None


def one(path, seed):
    """Returns the difference or None, what to count, and the number of compared elements."""
    import wick

    data = path.read_bytes()
    peer = session_of(data)
    if not peer:
        return None, "refused by ONNX Runtime", 0
    rng = np.random.default_rng(seed)
    try:
        feeds = {i.name: drawn(rng, i) for i in wick.InferenceSession(data, cache="").get_inputs()}
        got, exact = run(data, feeds), run(data, feeds, "f64")
    except wick.WickError as e:
        return None, "fail on these inputs: " + type(e).__name__, 0
    try:
        want = peer.run(None, feeds)
    except Exception:
        return None, "fail in ONNX Runtime", 0
    compared = [compare(np.asarray(g), np.asarray(e), np.asarray(w)) for g, e, w in zip(got, exact, want)]
    elements = sum(n for _, n in compared)
    if not any(why for why, _ in compared):
        return None, "compared", elements
    why = guilty(data, feeds)
    return why, "compared" if why else "compared by nodes", elements


def graphs(a, folder, count, seed, **wish):
    """Graphs of the generator, as files SEED.ROW.ELEMENT.onnx."""
    folder.mkdir(parents=True, exist_ok=True)
    env = dict(os.environ, WICK_EXPORT_DIR=str(folder), WICK_RANDOM_GRAPHS=str(count), WICK_RANDOM_SEED=str(seed), **wish)
    subprocess.run([a.build / "tests" / "tests.random.export_test"], env=env, check=True, stdout=subprocess.DEVNULL)
    return sorted(folder.glob("*.onnx"), key=lambda f: int(f.name.split(".")[0]))


def pair_of(path):
    return tuple(path.name.split(".")[1:3])


def taken(a, folder):
    """The pairs of an operator and an element type that ONNX Runtime supports as a single node."""
    found = set()
    for path in graphs(a, folder, a.alone, 0, WICK_RANDOM_ALONE="1"):
        pair = pair_of(path)
        if pair in found or pair[1] == "bf16":  # NumPy has none
            continue
        if session_of(path.read_bytes()):
            found.add(pair)
    return sorted(found)


def check(path):
    return one(path, int(path.name.split(".")[0]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=int, default=2000)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--alone", type=int, default=2500, help="graphs that say what ONNX Runtime takes")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--keep", type=pathlib.Path, help="leaves the graphs there")
    a = p.parse_args()
    a.build = a.build.resolve()
    sys.path.insert(0, str(a.build / "python"))
    count, bad = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as d:
        pairs = taken(a, pathlib.Path(d) / "alone")
        types = pathlib.Path(d) / "types"
        types.write_text("".join(f"{row} {elem}\n" for row, elem in pairs))
        files = graphs(a, a.keep or pathlib.Path(d) / "graphs", a.graphs, a.seed, WICK_RANDOM_TYPES=str(types))
        with concurrent.futures.ProcessPoolExecutor(a.jobs) as pool:
            for path, (why, what, elements) in zip(files, pool.map(check, files, chunksize=4)):
                count[what] += 1
                count["elements"] += elements
                if why:
                    bad += 1
                    print(f"{path.stem}: {why}", flush=True)
    print(f"{len(pairs)} pairs of row and element type;", ", ".join(f"{n} {k}" for k, n in sorted(count.items())), f"; {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
