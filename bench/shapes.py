#!/usr/bin/env python3
"""Convolutions and matrix products that a seed draws, one thread, as shares of what the machine allows.

    build/venv/bin/python bench/shapes.py SEED... [--count 100] [--only conv|matmul] [--runs 15] [--rounds 2]

Each is an ONNX model of one node of 20 MFLOP to 2 GFLOP. It is compiled twice, strictly and with minimal filtering
where Wick chooses it; its result is compared with ONNX Runtime's. The limit is the smaller of the peak and the operations for each byte of
the operands times the bandwidth, both by ../shared/bench/peak.c, measured again and again between the shapes. What
counts are the kernels that compute, as in layers.py: the least time of all rounds against the highest peak; in the
second column stands the share of all kernels, with those that bring operands into another layout. Operations
are those of the definition, so that minimal filtering may exceed the limit.
"""

import dataclasses
import random
import re
import statistics
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import layers
import report

LEAST, MOST = 20e6, 2e9
TOLERANCE = 1e-4
MEDIAN, WORST = 70, 40  # percent: the goals


@dataclasses.dataclass
class Shape:
    kind: str
    name: str
    op: str
    inputs: list  # shapes of what is fed
    constants: list
    output: list
    attributes: dict
    flops: float

    @property
    def nbytes(self):
        return 4 * sum(int(np.prod(d)) for d in [*self.inputs, *self.constants, self.output])

    def model(self, rng):
        names = [f"x{i}" for i in range(len(self.inputs))]
        fixed = [numpy_helper.from_array(rng.standard_normal(d, dtype=np.float32), f"w{i}")
                 for i, d in enumerate(self.constants)]  # fmt: skip
        io = lambda n, d: helper.make_tensor_value_info(n, TensorProto.FLOAT, d)
        node = helper.make_node(self.op, [*names, *(f.name for f in fixed)], ["y"], **self.attributes)
        graph = helper.make_graph([node], "shape", list(map(io, names, self.inputs)), [io("y", self.output)], fixed)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


# ---- what a seed draws ----


def draw_conv(r):
    kernel, stride, dilation, group = r.randint(1, 7), r.randint(1, 3), r.randint(1, 2), r.choice((1, 2, 4))
    c, o = (2 * r.randint(1, 256) for _ in range(2))
    size = [r.randint(7, 120) for _ in range(2)]
    pad = dilation * (kernel - 1) // 2
    out = [(s + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for s in size]
    if c % group or o % group or min(out) < 1:
        return None
    rest = "".join(f", {k} {v}" for k, v in (("stride", stride), ("dilation", dilation), ("group", group)) if v > 1)
    return Shape("conv", f"{c} to {o}, {size[0]}x{size[1]}, {kernel}x{kernel}{rest}", "Conv", [[1, c, *size]],
                 [[o, c // group, kernel, kernel]], [1, o, *out],
                 {"strides": [stride] * 2, "dilations": [dilation] * 2, "group": group, "pads": [pad] * 4},
                 2.0 * o * out[0] * out[1] * (c // group) * kernel * kernel)  # fmt: skip


def draw_matmul(r):
    m, k, n = (r.randint(8, 700) for _ in range(3))
    operands, fixed = [[m, k], [k, n]], r.random() < 0.5
    return Shape("matmul", f"{m}x{k} by {k}x{n}{', a constant' if fixed else ''}", "MatMul", operands[: 2 - fixed],
                 operands[2 - fixed :], [m, n], {}, 2.0 * m * k * n)  # fmt: skip


def draw(seed, kind, count):
    """The first `count` that have the operations wanted."""
    r, found = random.Random(f"{kind} {seed}"), []
    while len(found) < count:
        shape = (draw_conv if kind == "conv" else draw_matmul)(r)
        if shape and LEAST <= shape.flops <= MOST:
            found.append(shape)
    return found


# ---- measuring ----


@dataclasses.dataclass
class Result:
    shape: Shape
    strict: bool
    least: float = 1e300  # nanoseconds of what computes
    whole: float = 1e300
    schedule: str = ""
    share: float = 0


def machine_limits(peak, top):
    """GFLOP/s and GB/s of one thread, the highest seen."""
    text = subprocess.check_output([peak, "1"], text=True)
    rate = lambda what: float(re.search(rf"{what}\s+([\d.]+)", text)[1])
    return max(top[0], rate("float32 multiply-add")), max(top[1], rate("streaming read"))


def prepare(shape, folder, seed):
    """Writes the model and its inputs; what ONNX Runtime makes of them."""
    rng = np.random.default_rng(seed)
    model = shape.model(rng)
    onnx.save(model, folder / "shape.onnx")
    feed = {f"x{i}": rng.standard_normal(d, dtype=np.float32) for i, d in enumerate(shape.inputs)}
    files = [folder / f"{n}.bin" for n in feed]
    for f, x in zip(files, feed.values()):
        x.tofile(f)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return files, session.run(None, feed)[0]


def measure(a, program, folder, shape, results, seed):
    files, want = prepare(shape, folder, seed)
    for result in results:
        more = [] if result.strict else ["--filtering"]
        rows, whole = layers.kernels(program, folder / "shape.onnx", a.runs, *more, "--out", folder / "y.bin", files=files)
        got = np.fromfile(folder / "y.bin", dtype=np.float32).reshape(want.shape)
        error = np.abs(got - want).max() / np.abs(want).max()
        if not error <= TOLERANCE:
            sys.exit(f"{shape.name}: the largest difference is {error:.1e}")
        result.least = min(result.least, sum(r[0] for r in rows))
        result.whole = min(result.whole, whole)
        result.schedule = "\n      ".join(f"{name}: {schedule}" for _, name, schedule in rows)


def share(shape, ns, limits):
    allowed = min(limits[0], shape.flops / shape.nbytes * limits[1])
    return 100 * shape.flops / ns / allowed


def run(a, peak, program, folder, seed, kind, top):
    shapes = draw(seed, kind, a.count)
    modes = (True, False) if kind == "conv" else (True,)
    results = [[Result(s, strict) for strict in modes] for s in shapes]
    for r in range(a.rounds):
        for i, (s, rows) in enumerate(zip(shapes, results)):
            if i % 25 == 0:
                top = machine_limits(peak, top)
            measure(a, program, folder, s, rows, i)
    table = []
    for k, strict in enumerate(modes):
        part = [row[k] for row in results]
        for x in part:
            x.share = share(x.shape, x.least, top)
        table.append(summary(seed, kind, strict, part, top, a.worst))
    return table, top


def summary(seed, kind, strict, part, top, worst):
    part.sort(key=lambda x: x.share)
    median, least = statistics.median(x.share for x in part), part[0].share
    whole = statistics.median(share(x.shape, x.whole, top) for x in part)
    how = "direct" if strict else "as chosen"
    print(f"\nseed {seed}, {len(part)} {kind}, {how}: median {median:.0f} %, worst {least:.0f} % "
          f"(with layouts: median {whole:.0f} %); peak {top[0]:.1f} GFLOP/s, {top[1]:.1f} GB/s")  # fmt: skip
    for x in part[:worst]:
        print(f"  {x.share:3.0f} % ({share(x.shape, x.whole, top):3.0f} %)  {x.least / 1e3:8.1f} us  "
              f"{x.shape.flops / 1e6:5.0f} MFLOP  {x.shape.name}\n      {x.schedule}")  # fmt: skip
    sys.stdout.flush()
    reached = median >= MEDIAN and least >= WORST
    return [f"{kind}, {how}, seed {seed}", f"{median:.0f} %", f"{least:.0f} %", "yes" if reached else "**no**"]


def main():
    p = layers.arguments(__doc__, runs=15, rounds=2)
    p.add_argument("seeds", nargs="+", metavar="SEED")
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--only", choices=("conv", "matmul"))
    p.add_argument("--peak", type=float, nargs=2, default=(0.0, 0.0), metavar=("GFLOP/s", "GB/s"),
                   help="measured when the machine was left alone; at least what is measured now")  # fmt: skip
    p.add_argument("--worst", type=int, default=10, help="how many are listed with their schedules")
    p.add_argument("--write", action="store_true", help="puts the table into README.md")
    a = p.parse_args()
    folder, peak, program = layers.programs(a, "shapes")
    table, top = [], tuple(a.peak)
    for seed in a.seeds:
        for kind in (a.only,) if a.only else ("conv", "matmul"):
            rows, top = run(a, peak, program, folder, seed, kind, top)
            table += rows
    head = ["drawn", "median", "worst", f"{MEDIAN} % and {WORST} % reached"]
    print("\n" + report.table(head, table))
    if a.write:
        about = f"{report.machine()}; {report.today()}; ceiling {top[0]:.1f} GFLOP/s, {top[1]:.1f} GB/s.\n\n"
        report.write("shapes", about + report.table(head, table))
    sys.exit(0 if all(row[-1] == "yes" for row in table) else 1)


if __name__ == "__main__":
    main()
