#!/usr/bin/env python3
"""Random convolutions and matrix products of at least 50 MFLOP, as shares of the machine's ceiling of multiply-adds.

    build/venv/bin/python bench/random_products.py [--seed 1] [--count 60] [--threads 1] [--save FOLDER] [--write] [FAMILY ...]

A case is an ONNX model of one node: a convolution over one to three dimensions, with any stride, dilation, groups and odd channels,
or a matrix product of odd sizes. `wick bench --roofline` measures the time and, at the same moment, the limits. The operations are those
of the definition, 2 for each product of an element of the window or row that is inside the image; algorithms that need fewer (Winograd's) may exceed 100 %.
`allowed` is the share that memory allows: the operands and the result pass through it once. Families: conv1d, conv2d, conv3d, grouped, matmul, batched, gemm.
"""

import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np

import report
from random_operators import Case, Draw, arguments, cases

LEAST, MOST = 50e6, 2e9  # operations
NEAREST = 0.75  # memory must allow at least this share, or the case says little about products
WICK = os.environ.get("WICK_COMMAND", str(report.ROOT / "build" / "wick"))


def window(d, rank):
    """Kernel, strides, dilations, pads."""
    kernel = [d.pick(1, 2, 3, 3, 3, 4, 5, 7)] * rank
    if d.r.random() < 0.25:
        kernel = [d.pick(1, 3, 5) for _ in range(rank)]
    strides = [d.pick(1, 1, 1, 2, 2, 3)] * rank
    dilations = [d.pick(1, 1, 1, 1, 2, 3)] * rank
    pads = [d.whole(0, k // 2) for k in kernel]
    return kernel, strides, dilations, pads + pads


def convolution(d, rank, group=1):
    """(case, operations, bytes)"""
    kernel, strides, dilations, pads = window(d, rank)
    c, m = (d.near(2, max(2, 384 // group)) for _ in range(2))
    work = d.near(LEAST * 1.2, MOST / 1.2)
    pixels = max(1, work / (2 * group * c * m * np.prod(kernel)))  # of the result
    out = [max(1, round(pixels ** (1 / rank) * d.r.uniform(0.7, 1.4))) for _ in range(rank)]
    reach = [(k - 1) * e + 1 for k, e in zip(kernel, dilations)]
    size = [max(l, (o - 1) * s + l - 2 * p) for o, s, l, p in zip(out, strides, reach, pads)]
    out = [(n + 2 * p - l) // s + 1 for n, p, l, s in zip(size, pads, reach, strides)]
    taps = 1
    for k, e, s, p, n, o in zip(kernel, dilations, strides, pads, size, out):
        at = np.arange(o)[:, None] * s + np.arange(k) * e - p
        taps *= int(((at >= 0) & (at < n)).sum())
    x, w = [1, group * c, *size], [group * m, c, *kernel]
    flops = 2 * group * c * m * taps
    nbytes = 4 * (np.prod(x) + np.prod(w) + group * m * np.prod(out))
    case = lambda: Case("Conv", {"x": d.tensor(x), "w": d.weights(*w), "b": (d.tensor([group * m]),)},
                        group=group, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads)  # fmt: skip
    return case, flops, nbytes


def conv1d(d):
    return convolution(d, 1)


def conv2d(d):
    return convolution(d, 2)


def conv3d(d):
    return convolution(d, 3)


def grouped(d):
    return convolution(d, d.pick(1, 2, 2, 3), d.pick(2, 3, 4, 8, 16, 32))


def sizes(d, batch):
    work = d.near(LEAST * 1.2, MOST / 1.2) / (2 * batch)
    a, b, c = (x ** (1 / 3) for x in d.r.dirichlet(np.ones(3) * 6) * 27)
    m, n = (max(1, round(work ** (1 / 3) * x / (a * b * c) ** (1 / 3) * d.r.uniform(0.5, 2))) for x in (a, b))
    return m, n, max(1, round(work / (m * n)))


def product(op, d, batch, a, b, **attributes):
    m, k = a
    _, n = b
    ta, tb = attributes.get("transA", 0), attributes.get("transB", 0)
    nbytes = 4 * batch * (m * k + k * n + m * n)
    sa, sb = [k, m] if ta else [m, k], [n, k] if tb else [k, n]
    constant = batch == 1 and d.r.random() < 0.6

    def case():
        lead = [batch] if batch > 1 else []
        other = d.weights(*sb) if constant else d.tensor([*lead, *sb])
        more = {"c": (d.tensor([n]),)} if op == "Gemm" else {}
        return Case(op, {"a": d.tensor([*lead, *sa]), "b": other, **more}, **attributes)

    return case, 2 * batch * m * n * k, nbytes


def matmul(d):
    m, n, k = sizes(d, 1)
    return product("MatMul", d, 1, (m, k), (k, n))


def batched(d):
    batch = d.near(2, 24)
    m, n, k = sizes(d, batch)
    return product("MatMul", d, batch, (m, k), (k, n))


def gemm(d):
    m, n, k = sizes(d, 1)
    return product("Gemm", d, 1, (m, k), (k, n), transA=d.whole(0, 1), transB=d.whole(0, 1))


FAMILIES = {f.__name__: f for f in (conv1d, conv2d, conv3d, grouped, matmul, batched, gemm)}


def measure(path, threads, seconds=0.4):
    """(seconds, operations a second, bytes a second, slowest kernel)"""
    command = [WICK, "bench", path, "--json", "--roofline", "--threads", str(threads), "--seconds", str(seconds)]
    r = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    slow = max(r["kernels"], key=lambda k: k["seconds"])
    return r["latency"]["minimum_seconds"], r["ceiling_flops_per_second"], r["memory_bytes_per_second"], slow["name"]


def main():
    a = arguments(__doc__, FAMILIES, 60, 1)
    found = []
    folder = a.save or pathlib.Path(tempfile.mkdtemp())
    limits = []
    for number, name, drawn in cases(a, FAMILIES, lambda family, seed: family(Draw(seed))):
        if len(found) == a.count:
            break
        case, flops, nbytes = drawn
        if not LEAST <= flops <= MOST:
            continue
        path = folder / f"{number}.onnx"
        case = case()
        path.write_bytes(case.model().SerializeToString())
        seconds, ceiling, bandwidth, kernel = measure(path, a.threads)
        if not a.save:
            path.unlink()
        allowed = min(1, flops / ceiling / (nbytes / bandwidth))
        share = flops / seconds / ceiling
        limits.append((ceiling, bandwidth))
        note = "" if allowed >= NEAREST else "  (memory)"
        print(f"{100 * share:6.1f} % allowed {100 * allowed:4.0f} % {1e-6 * flops:7.0f} MFLOP {1e6 * seconds:9.1f} us {number:5d} {case} {kernel}{note}", flush=True)
        if allowed >= NEAREST:
            found.append((share, name, number))
    shares = [f[0] for f in found]
    ceiling, bandwidth = (statistics.median(x) for x in zip(*limits))
    limit = f"multiply-adds {ceiling * 1e-9:.1f} GFLOP/s, memory {bandwidth * 1e-9:.1f} GB/s"
    under = sum(s < 0.6 for s in shares)
    line = f"median {100 * statistics.median(shares):.0f} %, worst {100 * min(shares):.0f} %, under 60 %: {under} of {len(shares)}"
    print(f"\n{limit} (medians); {line}")
    rows = []
    for n in a.families:
        own = [f[0] for f in found if f[1] == n]
        if own:
            rows.append([n, len(own), f"{100 * statistics.median(own):.0f} %", f"{100 * min(own):.0f} %", sum(s < 0.6 for s in own)])
            print("  ".join(str(x) for x in rows[-1]))
    if a.write:
        about = f"{report.machine()}; {report.today()}; seed {a.seed}, {a.threads} thread{'s' * (a.threads > 1)}; {limit}; {line}.\n\n"
        report.write("random products", about + report.table(["family", "cases", "median", "worst", "under 60 %"], rows))


if __name__ == "__main__":
    main()
