"""Small ONNX models in ONNX's text, and the work that is left of them: used by tests/forms and scripts/effects.py.

    graph("(float[4,8] x) => (y) <float[8,8] w>", "a = MatMul(x, w)  y = Relu(a)")

Initializers without a value get random numbers between 0.5 and 1.5; integers between -100 and 100 (0 and 100 without a sign)."""

import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

ROOT = pathlib.Path(__file__).resolve().parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
TARGET = "x86-64-v3"  # kernels must not depend on the machine that counts them
OPSET = 21
DECLARED = re.compile(r"(\w+)(?:\[([\d,]*)\])? (\w+)$")
NAMES = {"float": "float32", "float16": "float16", "double": "float64"}


def numbers(kind, shape, rng):
    dtype = np.dtype(NAMES.get(kind, kind))
    if dtype == bool:
        return rng.random(shape) < 0.5
    if dtype.kind == "f":
        return rng.uniform(0.5, 1.5, shape).astype(dtype)
    return rng.integers(-100 if dtype.kind == "i" else 0, 101, shape).astype(dtype)


def graph(header, nodes, opset=OPSET):
    """A model: of the graph's inputs, outputs and initializers, and its nodes, in ONNX's text."""
    head, _, constants = header.rstrip().removesuffix(">").partition("<")
    constants = [c.strip() for c in re.findall(r"(?:\[[^\]]*\]|\{[^}]*\}|[^,])+", constants)]
    drawn = [DECLARED.match(c).groups() for c in constants if "=" not in c]
    constants = ", ".join(c for c in constants if "=" in c)
    text = f'<ir_version: 10, opset_import: ["" : {opset}]> g {head} {f"<{constants}>" if constants else ""} {{ {nodes} }}'
    model = parser.parse_model(text)
    rng = np.random.default_rng(0)
    for kind, shape, name in drawn:
        value = numbers(kind, [int(n) for n in (shape or "").split(",") if n], rng)
        model.graph.initializer.append(numpy_helper.from_array(value, name))
    return model


def operators(model):
    """The number of nodes, which is the number of kernels if each node is one."""
    return sum(n.op_type != "Constant" for n in model.graph.node)


def low(model, *options):
    """The text of the model's kernels."""
    with tempfile.NamedTemporaryFile(suffix=".onnx") as f:
        f.write(model.SerializeToString())
        f.flush()
        command = [WICK, "opt", f.name, "--pipeline", "kernels", "--target", TARGET, "--no-data", "--no-locs", *options]
        r = subprocess.run(command, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return r.stdout


def launches(text):
    """What the entry runs: kernels and copies, by name."""
    entry = text[text.index("low @main") :]
    return re.findall(r"^  (?:%\d+ = )?(kernel @\S+|copy|loop|if)\b", entry[: entry.index("\n}")], re.M)


def inputs(model, seed=1):
    rng = np.random.default_rng(seed)
    held = {i.name for i in model.graph.initializer}
    out = {}
    for value in model.graph.input:
        if value.name not in held:
            t = value.type.tensor_type
            dtype = helper.tensor_dtype_to_np_dtype(t.elem_type)
            shape = [d.dim_value for d in t.shape.dim]
            x = rng.standard_normal(shape) if dtype.kind == "f" else numbers(dtype.name, shape, rng)
            out[value.name] = np.asarray(x, dtype)
    return out


def compare(wick, ort, model, rtol=1e-5, atol=1e-5, seed=1):
    """Wick's results are ONNX Runtime's, within a tolerance; bytes may differ by one, because sums round differently."""
    feeds = inputs(model, seed)
    held = model.SerializeToString()
    want = ort.InferenceSession(held, providers=["CPUExecutionProvider"]).run(None, feeds)
    got = wick.InferenceSession(held).run(None, feeds)
    for x, y in zip(got, want, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        if x.dtype.kind == "f":
            most = np.max(np.abs(y), initial=1)  # sums of such terms cancel, in Winograd's algorithm for one
            np.testing.assert_allclose(x.astype(np.float64), y.astype(np.float64), rtol, atol * float(most))
        else:
            assert np.max(np.abs(x.astype(np.int64) - y.astype(np.int64)), initial=0) <= (x.dtype.itemsize == 1)
