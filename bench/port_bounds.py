#!/usr/bin/env python3
"""The inner loops of Wick's kernels on llvm-mca's models of processors, as shares of the bound that their ports set.

    build/venv/bin/python bench/port_bounds.py [--write] [--llvm-mca llvm-mca-19] [PROCESSOR ...]

For each processor of `wick targets` that LLVM has a model of: compiles a matrix product, a Winograd and a depthwise convolution, a
byte product, and a product of bf16, with --tune; takes the loop with the most multiply-adds; and divides the cycles that the
model's ports and dispatch need for an iteration at least (its block throughput) by the cycles that it computes for one, dependences
and all. The model knows no caches: all loads hit the first one. --write puts the table into bench/README.md.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import report

ROUNDS = 200
ROOT = pathlib.Path(__file__).resolve().parent.parent
WICK = ROOT / "build" / "wick"
MULTIPLY = re.compile(r"^(?:\{vex\}\s*)?v?(fn?madd|fmadd|p?dp|fmla|bfdot|bfmmla|[us]+dot|vfmacc|pmadd)")
#: processor: target, LLVM's model
MODELS = {
    "haswell": ("x86-64-v3", "haswell"), "alderlake": ("x86-64-v3+avxvnni", "alderlake"), "zen2": ("x86-64-v3", "znver2"),
    "zen3": ("x86-64-v3", "znver3"), "zen4": ("x86-64-v4+avx512vnni+avx512bf16", "znver4"), "skylake-x": ("x86-64-v4", "skylake-avx512"),
    "cascadelake": ("x86-64-v4+avx512vnni", "cascadelake"), "icelake": ("x86-64-v4+avx512vnni", "icelake-server"),
    "sapphirerapids": ("x86-64-v4+avx512vnni+avx512bf16", "sapphirerapids"), "neoverse-n1": ("armv8.2-a", "neoverse-n1"),
    "neoverse-v1": ("armv8.2-a", "neoverse-v1"), "neoverse-v2": ("armv8.2-a", "neoverse-v2"), "cortex-a53": ("armv8-a", "cortex-a53"),
    "cortex-a55": ("armv8.2-a", "cortex-a55"), "zen5": ("x86-64-v4+avx512vnni+avx512bf16", "znver5"), "cortex-a76": ("armv8.2-a", "cortex-a76"),
    "cortex-a78": ("armv8.2-a", "cortex-a78"), "cortex-x2": ("armv8.2-a", "cortex-x2"),
}  # fmt: skip


def save(path, node, x, weights, elem=1, kind=np.float32, out=1):
    rng = np.random.default_rng(1)
    w = rng.standard_normal(weights).astype(np.float32) if kind == np.float32 else rng.integers(-100, 100, weights).astype(kind)
    graph = helper.make_graph([node], "one", [helper.make_tensor_value_info("x", elem, x)],
                              [helper.make_tensor_value_info("y", out, None)], [numpy_helper.from_array(w, "w")])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def cases(folder):
    """Yields name, model and options."""
    product = save(folder / "product.onnx", helper.make_node("MatMul", ["x", "w"], ["y"]), [128, 768], [768, 768])
    yield "product", product, ()
    yield "Winograd", save(folder / "winograd.onnx", helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4), [1, 128, 28, 28], [128, 128, 3, 3]), ()
    yield "depthwise", save(folder / "depthwise.onnx", helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4, group=128), [1, 128, 28, 28], [128, 1, 3, 3]), ()
    yield "bytes", save(folder / "bytes.onnx", helper.make_node("MatMulInteger", ["x", "w"], ["y"]), [128, 768], [768, 768], 2, np.int8, 6), ()
    yield "bf16", product, ("--precision", "bf16")


def loops(text, comment):
    """Yields the lines of innermost loops: from a label to a jump back to it, without a label between."""
    label, body = None, []
    for line in text.splitlines():
        line = line.split(comment)[0].strip()
        if re.match(r"^[.\w$]+:$", line):
            label, body = line[:-1], []
        elif line and not line.startswith("."):
            body.append(line)
            if label and re.match(r"^(j\w+|b\.?\w*|cbn?z\b.*)\s", line + " ") and line.split()[-1].rstrip() == label:
                yield body
                label, body = None, []


def width(line):
    return 512 if "zmm" in line else 256 if "ymm" in line else 128


def share_of(body, model, mca, target):
    arch = "x86-64" if target.startswith("x86") else "aarch64"
    done = subprocess.run([mca, f"-march={arch}", f"-mcpu={model}", f"-iterations={ROUNDS}"], input="\n".join(body[:-1]) + "\n",
                          capture_output=True, text=True)  # fmt: skip
    cycles, least = (re.search(rf"{what}:\s+([\d.]+)", done.stdout) for what in ("Total Cycles", "Block RThroughput"))
    return float(least.group(1)) * ROUNDS / float(cycles.group(1)) if cycles and least else None


def share(name, path, options, mca):
    target, model = MODELS[name]
    done = subprocess.run([WICK, "compile", path, "--no-cache", "--emit", "asm", "--target", target, "--tune", name, *options],
                          capture_output=True, text=True)  # fmt: skip
    if done.returncode:
        return None
    body = max(loops(done.stdout, "#" if target.startswith("x86") else "//"), key=lambda b: sum(width(x) for x in b if MULTIPLY.match(x)), default=None)
    if not body or not any(MULTIPLY.match(x) for x in body):
        return None
    return share_of(body, model, mca, target)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("processor", nargs="*", choices=[[], *MODELS])
    args.add_argument("--write", action="store_true")
    args.add_argument("--llvm-mca", default="llvm-mca-19")
    args = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        all_cases = list(cases(pathlib.Path(folder)))
        lines = ["| processor | " + " | ".join(c[0] for c in all_cases) + " |", "| --- |" + " ---: |" * len(all_cases)]
        for name in args.processor or MODELS:
            found = [share(name, path, options, args.llvm_mca) for _, path, options in all_cases]
            lines.append(f"| `{name}` | " + " | ".join("-" if s is None else f"{100 * s:.0f} %" for s in found) + " |")
            print(lines[-1], flush=True)
    if args.write:
        report.write("port bounds", "\n".join(lines))


if __name__ == "__main__":
    main()
