#!/usr/bin/env python3
"""Convolutions by themselves, one thread, as shares of the machine's ceiling; the table goes into README.md.

    build/venv/bin/python bench/layers.py [--runs 60] [--rounds 3] [FILTER ...]

Each layer is an ONNX model of one node. kernel_times.c runs it through the public interface with a profile; the kernels
that compute count, but not those that change the layout of images. The ceiling is ../shared/bench/peak.c, measured
repeatedly between the layers; the minimum time of all rounds is compared with the highest ceiling, so that both are
measured without other load. In the object that `wick compile` writes, the innermost loops of these kernels are searched
for operands on the stack. FILTERs are parts of layers' names; the table is written only if all layers are measured.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import report

LAYOUT = re.compile(r"^((halo|copy)\.|.*\.(pack|unpack|pad|copy|transpose)\.)")  # kernels that compute nothing
MFLOP = 50  # smaller layers were not tuned for and have no goal


@dataclasses.dataclass
class Layer:
    kind: str  # decides the goal
    name: str
    cin: int
    size: tuple
    cout: int
    kernel: tuple
    stride: int = 1
    dilation: int = 1
    group: int = 1

    @property
    def pad(self):
        return [self.dilation * (k - 1) // 2 for k in self.kernel] * 2

    @property
    def out(self):
        half = len(self.pad) // 2
        return [(s + 2 * p - self.dilation * (k - 1) - 1) // self.stride + 1
                for s, k, p in zip(self.size, self.kernel, self.pad[:half])]  # fmt: skip

    @property
    def flops(self):
        return int(2 * self.cout * np.prod(self.out) * self.cin // self.group * np.prod(self.kernel))

    @property
    def goal(self):
        """The least share of the ceiling, in percent; 0: none."""
        if self.kind == "resnet50":
            return 75
        return 0 if self.flops < MFLOP * 10**6 else 25 if self.cout < 8 else 45

    def save(self, path):
        rng, n = np.random.default_rng(20), len(self.size)
        w = rng.standard_normal((self.cout, self.cin // self.group, *self.kernel)).astype(np.float32)
        node = helper.make_node("Conv", ["x", "w"], ["y"], pads=self.pad, strides=[self.stride] * n,
                                dilations=[self.dilation] * n, group=self.group)  # fmt: skip
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, self.cin, *self.size])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, self.cout, *self.out])
        graph = helper.make_graph([node], "layer", [x], [y], [numpy_helper.from_array(w, "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def layers():
    found = []

    def add(kind, cin, size, cout, kernel, **more):
        size = size if isinstance(size, tuple) else (size, size)
        kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        by = lambda t: "x".join(map(str, t))
        rest = "".join(f", {k} {v}" for k, v in more.items())
        name = f"{cin} to {cout}, {by(size)}, {by(kernel)}{rest}"
        found.append(Layer(kind, name, cin, size, cout, kernel, **more))

    for c, s in [(64, 56), (128, 28), (256, 14), (512, 7)]:
        add("resnet50", c, s, c, 3)
    for c, s in [(128, 56), (256, 28), (512, 14)]:
        add("resnet50", c, s, c, 3, stride=2)
    for c, s, o in [(64, 56, 64), (64, 56, 256), (256, 56, 64), (256, 56, 128), (128, 28, 512), (512, 28, 128),
                    (512, 28, 256), (256, 14, 1024), (1024, 14, 256), (1024, 14, 512), (512, 7, 2048),
                    (2048, 7, 512)]:  # fmt: skip
        add("resnet50", c, s, o, 1)
    for c, s, o in [(256, 56, 512), (512, 28, 1024), (1024, 14, 2048)]:
        add("resnet50", c, s, o, 1, stride=2)
    for c in (17, 24, 100):
        add("other", c, 56, 128, 3)
        add("other", 128, 56, c, 3)
        add("other", c, 112, c, 3)
        add("other", 256, 56, c, 1)
        add("other", c, 56, 256, 1)
    add("other", 3, 224, 64, 7, stride=2)
    add("other", 3, 224, 64, 3)
    add("other", 3, 224, 17, 5)
    add("other", 128, 28, 128, (1, 7))
    add("other", 128, 28, 128, (7, 1))
    add("other", 64, (1, 4096), 64, (1, 3))
    add("other", 64, (4096,), 64, (3,))
    add("other", 64, 112, 128, 3, stride=3)
    add("other", 100, 57, 100, 3, stride=3)
    add("other", 64, 56, 64, 3, dilation=2)
    add("other", 100, 28, 100, 3, dilation=2)
    for c, s in [(128, 28), (256, 28), (100, 56), (68, 56)]:
        add("other", c, s, c, 3, group=4)
    for o in range(2, 8):
        add("other", 64, 224, o, 3)
    return found


# ---- time ----


def compile_c(source, out, *options):
    subprocess.run(["cc", "-O2", str(source), "-o", str(out), *map(str, options)], check=True)
    return out


def ceiling(peak):
    """GFLOP/s of float32 multiply-add on one thread."""
    found = re.search(r"float32 multiply-add\s+([\d.]+)", subprocess.check_output([peak, "1"], text=True))
    if not found:
        sys.exit("peak.c measures this machine's ceiling only with AVX-512")
    return float(found[1])


def kernel_rows(program, model, runs, *more, files=()):
    """(least nanoseconds, name and schedule) of each kernel."""
    text = subprocess.check_output(list(map(str, [program, *more, model, runs, *files])), text=True)
    return [(int(line.split()[0]), line.split(maxsplit=2)[2]) for line in text.splitlines()]


def kernel_time(program, model, runs):
    """The least nanoseconds of the kernels that compute."""
    return sum(ns for ns, kernel in kernel_rows(program, model, runs) if not LAYOUT.match(kernel))


def arguments(doc, runs, rounds):
    """What all benches of single layers take."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--wick", type=pathlib.Path, default=report.ROOT / "build" / "wick")
    p.add_argument("--build", type=pathlib.Path, default=report.ROOT / "build" / "bench", help="programs, models")
    p.add_argument("--runs", type=int, default=runs)
    p.add_argument("--rounds", type=int, default=rounds)
    return p


def programs(a, name):
    """The folder of a bench, with a cache of its own; the ceiling's program; that of kernel times."""
    report.need_shared()
    folder, lib = a.build / name, a.wick.resolve().parent / "lib"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["WICK_CACHE_DIR"] = str(folder / "cache")
    peak = compile_c(report.SHARED / "peak.c", folder / "peak", "-march=native", "-pthread")
    times = compile_c(report.ROOT / "bench" / "kernel_times.c", folder / "kernel_times",
                      "-I", report.ROOT / "include", "-L", lib, "-lwick", f"-Wl,-rpath,{lib}")  # fmt: skip
    return folder, peak, times


# ---- the stack ----


def loops(code):
    """Innermost loops of one function's [(address, instruction)]: between a backward branch and its target."""
    back = []
    for at, text in code:
        jump = re.match(r"j\w+\s+(?:0x)?([0-9a-f]+)", text)
        if jump and code[0][0] <= int(jump[1], 16) <= at:
            back.append((int(jump[1], 16), at))
    inner = [b for b in back if not any(o != b and b[0] <= o[0] and o[1] <= b[1] for o in back)]
    return [[text for at, text in code if lo <= at <= hi] for lo, hi in inner]


def stack_operands(wick, model):
    """(of vector instructions, of all) in the innermost loops of the kernels that compute."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([wick, "compile", "--strict", model, "-o", folder], check=True, stdout=subprocess.DEVNULL)
        (obj,) = pathlib.Path(folder).glob("*.o")
        text = subprocess.check_output(["objdump", "-d", "--no-show-raw-insn", str(obj)], text=True)
    return stack_operands_of(text)


def stack_operands_of(text):
    """The same, from the output of objdump."""
    vector = every = 0
    for name, body in re.findall(r"^[0-9a-f]+ <(.*)>:\n((?: .*\n)*)", text, re.M):
        if not name.endswith(".loop") or LAYOUT.match(name):
            continue
        code = [(int(a, 16), t) for a, t in re.findall(r"^\s*([0-9a-f]+):\t(.*)$", body, re.M)]
        frame = any(re.match(r"mov\s+%rsp,%rbp", t) for _, t in code)  # else %rbp is a register like any other
        for loop in loops(code):
            hits = [t for t in loop if re.search(r"\(%r[sb]p" if frame else r"\(%rsp", t)]
            every += len(hits)
            vector += sum("mm" in t for t in hits)
    return vector, every


# ---- the table ----


def row(layer, ns, top, stack):
    share = 100 * layer.flops / ns / top
    verdict = "" if not layer.goal else "yes" if share >= layer.goal else "**no**"
    return [layer.name, f"{layer.flops / 1e6:.0f}", f"{ns / 1e3:.1f}", f"{share:.0f} %",
            f"{layer.goal} %" if layer.goal else "", verdict, stack]  # fmt: skip


def main():
    p = arguments(__doc__, runs=60, rounds=3)
    p.add_argument("filters", nargs="*", metavar="FILTER")
    a = p.parse_args()
    a.wick = a.wick.resolve()
    folder, peak, program = programs(a, "layers")
    todo = [x for x in layers() if not a.filters or any(f in x.name for f in a.filters)]
    top, least, stack = 0.0, {}, {}
    for r in range(a.rounds):
        for k, x in enumerate(todo):
            if k % 8 == 0:
                top = max(top, ceiling(peak))
                print(f"round {r + 1} of {a.rounds}: ceiling {top:.1f} GFLOP/s", flush=True)
            model = folder / (re.sub(r"\W+", "_", x.name) + ".onnx")
            x.save(model)
            ns = kernel_time(program, model, a.runs)
            least[x.name] = min(ns, least.get(x.name, ns))
            if r == 0:
                vector, every = stack_operands(a.wick, model)
                stack[x.name] = f"{vector}" if vector == every else f"{vector}, {every - vector} scalar"
            share = 100 * x.flops / least[x.name] / top
            print(f"  {x.name}: {share:.0f} %, wanted {x.goal} %, on the stack {stack[x.name]}", flush=True)
    table = {k: [row(x, least[x.name], top, stack[x.name]) for x in todo if x.kind == k] for k in ("resnet50", "other")}
    head = ["layer", "MFLOP", "us", "share", "wanted", "reached", "on the stack"]
    if not a.filters:
        about = f"{report.machine()}; {report.today()}; ceiling {top:.1f} GFLOP/s; least of {a.rounds} rounds of {a.runs} runs.\n"
        text = f"\nResNet-50:\n\n{report.table(head, table['resnet50'])}"
        text += f"\nShapes that nobody tuned for; those with less than {MFLOP} MFLOP have no goal:\n\n"
        report.write("layers", about + text + report.table(head, table["other"]))
    missed = [x.name for x in todo if 100 * x.flops / least[x.name] / top < x.goal]
    print("\n".join(["not reached:", *missed]) if missed else "all reached")
    sys.exit(1 if missed or any(not s.startswith("0") for s in stack.values()) else 0)


if __name__ == "__main__":
    main()
