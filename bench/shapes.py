#!/usr/bin/env python3
"""Convolutions and matrix products that a seed draws, one thread, as shares of the machine's limit.

    build/venv/bin/python bench/shapes.py SEED... [--count 100] [--only conv|matmul] [--runs 15] [--rounds 2]

Each is an ONNX model of one node of 20 MFLOP to 2 GFLOP. It is compiled twice, strictly and with Winograd's algorithm
where Wick chooses it; its result is compared with ONNX Runtime's. The limit is the smaller of the peak and the
operations for each byte of the operands times the bandwidth, both by ../shared/bench/peak.c, measured repeatedly
between the shapes. The kernels that compute count, as in layers.py: the minimum time of all rounds is compared with the
highest peak. The second column has the share of all kernels, including those that change the layout of operands.
Operations are those of the definition, so that Winograd's algorithm may exceed the limit.

On a shared machine: `--step prepare` compiles and compares, `--step time --part 1/4` measures a quarter, `--below 60`
only those that were below 60 %, `--step report` prints. Times are kept between steps; `--keep` uses earlier times.
"""

import dataclasses
import json
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
STEPS = ("prepare", "time", "report")


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
class Case:
    """A shape, compiled in one way."""

    shape: Shape
    strict: bool
    key: str
    model: object  # the file
    rows: dict = dataclasses.field(default_factory=dict)  # kernels: least nanoseconds

    @property
    def options(self):
        return [] if self.strict else ["--winograd"]

    @property
    def schedule(self):
        return "\n      ".join(k.replace("\t", ": ", 1) for k in self.rows if not layers.LAYOUT.match(k))

    def nanoseconds(self, whole):
        return sum(ns for k, ns in self.rows.items() if whole or not layers.LAYOUT.match(k))

    def share(self, limits, whole=False):
        allowed = min(limits[0], self.shape.flops / self.shape.nbytes * limits[1])
        return 100 * self.shape.flops / self.nanoseconds(whole) / allowed if self.rows else 0

    def time(self, program, runs, anew):
        """The least of these runs and of those before, unless anew, or the kernels are others."""
        rows = {kernel: ns for ns, kernel in layers.kernel_rows(program, self.model, runs, *self.options)}
        same = not anew and rows.keys() == self.rows.keys()
        self.rows = {k: min(ns, self.rows[k]) for k, ns in rows.items()} if same else rows


def machine_limits(peak, top):
    """GFLOP/s and GB/s of one thread, the highest seen."""
    text = subprocess.check_output([peak, "1"], text=True)
    rate = lambda what: float(re.search(rf"{what}\s+([\d.]+)", text)[1])
    return [max(top[0], rate("float32 multiply-add")), max(top[1], rate("streaming read"))]


def prepare(program, folder, cases, seed):
    """Writes the model, compiles it, and compares its outputs with ONNX Runtime's for the same inputs."""
    shape, rng = cases[0].shape, np.random.default_rng(seed)
    model = shape.model(rng)
    onnx.save(model, cases[0].model)
    feed = {f"x{i}": rng.standard_normal(d, dtype=np.float32) for i, d in enumerate(shape.inputs)}
    files = [folder / f"{n}.bin" for n in feed]
    for f, x in zip(files, feed.values()):
        x.tofile(f)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    want = session.run(None, feed)[0]
    for case in cases:
        layers.kernel_rows(program, case.model, 1, *case.options, "--out", folder / "y.bin", files=files)
        got = np.fromfile(folder / "y.bin", dtype=np.float32).reshape(want.shape)
        error = np.abs(got - want).max() / np.abs(want).max()
        if not error <= TOLERANCE:
            sys.exit(f"{shape.name}: the largest difference is {error:.1e}")


# ---- what is kept between steps ----


def cases_of(folder, seed, kind, count, kept):
    """Lists of the cases of a shape each."""
    found = []
    for i, shape in enumerate(draw(seed, kind, count)):
        found.append([])
        for strict in (True, False) if kind == "conv" else (True,):
            key = f"{kind}-{seed}-{i}-{'direct' if strict else 'chosen'}"
            case = Case(shape, strict, key, folder / f"{kind}-{seed}-{i}.onnx")
            case.rows = kept["times"].get(key, case.rows)
            found[-1].append(case)
    return found


def part_of(a, cases, limits):
    k, n = (int(x) for x in a.part.split("/"))
    if a.shapes:
        return [cases[int(i)] for i in a.shapes.split(",")]
    return [c for i, c in enumerate(cases) if i % n == k - 1 and (not a.below or any(x.share(limits) < a.below for x in c))]


def run(a, peak, program, folder, seed, kind, kept):
    cases = cases_of(folder, seed, kind, a.count, kept)
    todo = part_of(a, cases, kept["limits"])
    if "prepare" in a.step:
        for i, c in enumerate(todo):
            prepare(program, folder, c, i)
    for r in range(a.rounds if "time" in a.step else 0):
        for i, c in enumerate(todo):
            if i % 25 == 0:
                kept["limits"] = machine_limits(peak, kept["limits"])
            for case in c:
                case.time(program, a.runs, r == 0 and not a.keep)
                kept["times"][case.key] = case.rows
    (folder / "times.json").write_text(json.dumps(kept))
    if "report" not in a.step:
        return []
    return [summary(seed, kind, part, kept["limits"], a.worst) for part in map(list, zip(*cases))]


def summary(seed, kind, part, limits, worst):
    how = "direct" if part[0].strict else "as chosen"
    part = sorted((x for x in part if x.rows), key=lambda x: x.share(limits))
    shares, whole = ([x.share(limits, w) for x in part] for w in (False, True))
    median, least = statistics.median(shares), shares[0]
    print(f"\nseed {seed}, {len(part)} {kind}, {how}: median {median:.0f} %, worst {least:.0f} % "
          f"(with layouts: median {statistics.median(whole):.0f} %, worst {min(whole):.0f} %); "
          f"peak {limits[0]:.1f} GFLOP/s, {limits[1]:.1f} GB/s")  # fmt: skip
    for x in part[:worst]:
        print(f"  {x.share(limits):3.0f} % ({x.share(limits, True):3.0f} %)  {x.nanoseconds(False) / 1e3:8.1f} us  "
              f"{x.shape.flops / 1e6:5.0f} MFLOP  {x.key}: {x.shape.name}\n      {x.schedule}")  # fmt: skip
    sys.stdout.flush()
    reached = median >= MEDIAN and least >= WORST
    layouts = f"{statistics.median(whole):.0f} %, {min(whole):.0f} %"
    return [f"{kind}, {how}, seed {seed}", f"{median:.0f} %", f"{least:.0f} %", layouts, "yes" if reached else "**no**"]


def main():
    p = layers.arguments(__doc__, runs=15, rounds=2)
    p.add_argument("seeds", nargs="+", metavar="SEED")
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--only", choices=("conv", "matmul"))
    p.add_argument("--peak", type=float, nargs=2, default=(0.0, 0.0), metavar=("GFLOP/s", "GB/s"),
                   help="measured when the machine was left alone; at least what is measured now")  # fmt: skip
    p.add_argument("--worst", type=int, default=10, help="how many are listed with their schedules")
    p.add_argument("--step", action="append", choices=STEPS, help="only these; all")
    p.add_argument("--part", default="1/1", metavar="K/N", help="every N-th shape, from the K-th on")
    p.add_argument("--shapes", default="", metavar="I,J", help="only these, by their numbers")
    p.add_argument("--below", type=float, default=0, metavar="PERCENT", help="only shapes of which that was kept")
    p.add_argument("--keep", action="store_true", help="the least of what was kept and of these runs")
    p.add_argument("--write", action="store_true", help="puts the table into README.md")
    a = p.parse_args()
    a.step = a.step or STEPS
    folder, peak, program = layers.programs(a, "shapes")
    file = folder / "times.json"
    kept = json.loads(file.read_text()) if file.exists() else {"limits": [0.0, 0.0], "times": {}}
    kept["limits"] = [max(x, y) for x, y in zip(kept["limits"], a.peak)]
    table = []
    for seed in a.seeds:
        for kind in (a.only,) if a.only else ("conv", "matmul"):
            table += run(a, peak, program, folder, seed, kind, kept)
    if "report" not in a.step:
        return
    head = ["drawn", "median", "worst", "with layouts", f"{MEDIAN} % and {WORST} % reached"]
    print("\n" + report.table(head, table))
    if a.write:
        about = f"{report.machine()}; {report.today()}; ceiling {kept['limits'][0]:.1f} GFLOP/s, {kept['limits'][1]:.1f} GB/s.\n\n"
        report.write("shapes", about + report.table(head, table))
    sys.exit(0 if all(row[-1] == "yes" for row in table) else 1)


if __name__ == "__main__":
    main()
