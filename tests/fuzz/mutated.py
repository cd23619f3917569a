#!/usr/bin/env python3
"""Model files that went wrong: those of ONNX's own suite with bytes, sizes, types, names, attributes and nodes changed at
random, each imported, compiled and run by the Python package.

    build/venv/bin/python tests/fuzz/mutated.py [--models 10000] [--seed 1] [--jobs 2] [--build build] [--keep DIR]

It is a failure if the process crashes or hangs (over 10 s of a processor's time for a model, or two minutes), or
takes more than 2 GiB. A model is its seed: the same number gives the same file. Failures are kept with their output;
the exit status is 1 if there are any."""

import argparse
import contextlib
import os
import pathlib
import random
import resource
import select
import subprocess
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS, NBYTES = 10, 2 << 30
WAIT = 120  # seconds in which a machine with other work to do has given a process that has not stopped its 10
EXTREME = [0, 1, -1, 2, 3, 7, 255, 4096, 1 << 20, (1 << 31) - 1, -(1 << 31), 1 << 32, 1 << 40, (1 << 63) - 1, -(1 << 63)]


# ---- mutations of what a model says: each takes a random generator and the model


def nodes(g):
    for n in g.node:
        yield n
        for a in n.attribute:
            if a.HasField("g"):
                yield from nodes(a.g)


def pick(r, things):
    things = list(things)
    return r.choice(things) if things else None


def change_dim(r, m):
    v = pick(r, [*m.graph.input, *m.graph.output, *m.graph.value_info])
    shape = v.type.tensor_type.shape if v else None
    what = r.randrange(5)
    if shape is None or (what and not shape.dim):
        return
    if what == 0:
        shape.dim.add().dim_value = r.choice(EXTREME)
    elif what == 1:
        del shape.dim[r.randrange(len(shape.dim))]
    elif what == 2:
        shape.dim[r.randrange(len(shape.dim))].dim_value = r.choice([*EXTREME, *range(9)])
    elif what == 3:
        shape.dim[r.randrange(len(shape.dim))].dim_param = r.choice(["N", "", "a b", "N*2"])
    else:
        del shape.dim[:]


def change_type(r, m):
    v = pick(r, [*m.graph.input, *m.graph.output])
    if v:
        v.type.tensor_type.elem_type = r.randrange(-1, 30)


def change_attribute(r, m):
    a = pick(r, [a for n in nodes(m.graph) for a in n.attribute])
    if not a:
        return
    what = r.randrange(6)
    if what == 0:
        a.i = r.choice([*EXTREME, *range(-3, 6)])
    elif what == 1 and a.ints:
        a.ints[r.randrange(len(a.ints))] = r.choice([*EXTREME, *range(-3, 6)])
    elif what == 2:
        a.ints.extend(r.choice(EXTREME) for _ in range(r.randrange(1, 12)))
    elif what == 3:
        a.f = r.choice([0.0, -1.0, 1e38, float("nan"), float("inf")])
    elif what == 4:
        a.type = r.randrange(0, 16)
    else:
        a.s = r.choice([b"", b"SAME_UPPER", b"\xff\xfe", b"x" * 300])


def drop_attribute(r, m):
    n = pick(r, [n for n in nodes(m.graph) if n.attribute])
    if n:
        del n.attribute[r.randrange(len(n.attribute))]


def change_operand(r, m):
    n = pick(r, [n for n in nodes(m.graph) if n.input])
    names = [v.name for v in m.graph.input] + [o for n in nodes(m.graph) for o in n.output]
    if not n:
        return
    k = r.randrange(len(n.input))
    what = r.randrange(3)
    if what == 0:
        n.input[k] = r.choice([*names, "", "nobody"])
    elif what == 1:
        del n.input[k]
    else:
        n.input.append(r.choice([*names, ""]))


def change_result(r, m):
    n = pick(r, nodes(m.graph))
    if n and n.output:
        n.output[r.randrange(len(n.output))] = r.choice([v.name for v in m.graph.input] + ["", "other"])
    elif n:
        n.output.append("other")


def change_operator(r, m):
    n, other = pick(r, nodes(m.graph)), pick(r, SEEDS)
    other = pick(r, nodes(other.graph))
    if n and other:
        n.op_type, n.domain = other.op_type, other.domain


def change_opset(r, m):
    o = pick(r, m.opset_import)
    if o:
        o.version = r.choice([0, 1, 5, 7, 9, 11, 13, 17, 19, 22, 26, 29, 1 << 40])


def repeat_node(r, m):
    n = pick(r, m.graph.node)
    if n:
        for _ in range(r.randrange(1, 5)):
            m.graph.node.add().CopyFrom(n)


def drop_node(r, m):
    if m.graph.node:
        del m.graph.node[r.randrange(len(m.graph.node))]


def change_tensor(r, m):
    tensors = [*m.graph.initializer, *(a.t for n in nodes(m.graph) for a in n.attribute if a.HasField("t"))]
    t = pick(r, tensors)
    if not t:
        v = pick(r, m.graph.input)
        if v:  # an input becomes an empty initializer
            t = m.graph.initializer.add()
            t.name, t.data_type = v.name, v.type.tensor_type.elem_type
        return
    what = r.randrange(4)
    if what == 0:
        t.data_type = r.randrange(0, 28)
    elif what == 1:
        t.dims.append(r.choice(EXTREME))
    elif what == 2 and t.dims:
        t.dims[r.randrange(len(t.dims))] = r.choice(EXTREME)
    else:
        t.raw_data = bytes(r.randrange(256) for _ in range(r.randrange(40)))


# What the first look finds comes less often.
STRUCTURE = [*[change_dim] * 6, *[change_attribute] * 6, *[change_type] * 2, *[drop_attribute] * 2, *[change_operator] * 2,
             change_operand, change_result, change_opset, repeat_node, drop_node, change_tensor]  # fmt: skip


# ---- mutations of bytes


def change_bytes(r, b):
    for _ in range(r.randrange(1, 6)):
        if not b:
            return
        k, what = r.randrange(len(b)), r.randrange(5)
        if what == 0:
            b[k] = r.randrange(256)
        elif what == 1:
            b[k] ^= 1 << r.randrange(8)
        elif what == 2:
            del b[k : k + r.randrange(1, 9)]
        elif what == 3:
            b[k:k] = bytes(r.randrange(256) for _ in range(r.randrange(1, 9)))
        else:
            b[k:k] = b[k : k + r.randrange(1, 60)]
    if r.random() < 0.2:
        del b[r.randrange(len(b) + 1) :]


def seeds():
    """The suite's models of some kilobytes, in an order that does not change."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():  # of how expected values are computed
        warnings.simplefilter("ignore")
        found = sorted(collect_testcases(None), key=lambda t: t.name)
    return [t.model for t in found if t.model.ByteSize() < 20000]


def mutated(seed):
    r = random.Random(seed)
    m = type(SEEDS[0])()
    m.CopyFrom(r.choice(SEEDS))
    structure = r.random()
    if r.random() < 0.7:  # else most are refused for results that are not as declared
        for v in m.graph.output:
            v.type.tensor_type.ClearField("shape")
    for _ in range(r.choice([1, 1, 1, 2, 4]) if structure < 0.8 else 0):
        try:
            r.choice(STRUCTURE)(r, m)
        except ValueError:  # a number that the field cannot hold
            pass
    b = bytearray(m.SerializeToString())
    if structure > 0.75:
        change_bytes(r, b)
    return bytes(b)


# ---- one process that takes them, one that watches it


def worker(build):
    """Reads one seed per line, and answers with its outcome."""
    resource.setrlimit(resource.RLIMIT_AS, (NBYTES, NBYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.insert(0, str(build / "python"))
    import numpy as np
    import wick

    for line in sys.stdin:
        try:
            s = wick.InferenceSession(mutated(int(line)), cache="")
            feeds = {}
            for i in s.get_inputs():
                shape = [d if isinstance(d, int) else 2 for d in i.shape]
                if np.prod([float(d) for d in shape]) > 1e6:
                    raise wick.WickError("large")
                kind = i.type[len("tensor(") : -1]
                kind = {"float": "float32", "double": "float64"}.get(kind, kind)
                feeds[i.name] = np.ones(shape, np.dtype(kind) if hasattr(np, kind.rstrip("_")) else np.float32)
            s.run(None, feeds)
            print("ran", flush=True)
        except (wick.WickError, ValueError, TypeError, MemoryError) as e:
            print("refused", type(e).__name__, flush=True)


class Watched:
    def __init__(self, build):
        command = [sys.executable, __file__, "--worker", "--build", build]
        self.p = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip

    def give(self, seed):
        self.p.stdin.write(f"{seed}\n".encode())
        self.p.stdin.flush()
        self.seed, self.begun, self.used = seed, time.monotonic(), self.processor()

    def processor(self):
        """Seconds that the processes of its session have had, those that it has waited for too."""
        ticks = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                field = stat.read_text().rpartition(")")[2].split()  # from the state, field 3 of proc(5), on
                if field[3] == str(self.p.pid):
                    ticks += sum(map(int, field[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def late(self, more):
        took = time.monotonic() - self.begun
        return took > WAIT or (took > SECONDS and self.processor() - self.used > SECONDS + more)

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.p.pid, 9)
        return self.p.communicate()[1].decode(errors="replace")[-400:]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", type=int, default=10000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--keep", type=pathlib.Path)
    p.add_argument("--worker", action="store_true")
    a = p.parse_args()
    global SEEDS
    SEEDS = seeds()
    if a.worker:
        return worker(a.build.resolve())
    keep = a.keep or a.build / "mutated"
    keep.mkdir(parents=True, exist_ok=True)
    first, last = a.seed * 1_000_000, a.seed * 1_000_000 + a.models
    left, count, found = iter(range(first, last)), {}, 0
    busy = {}

    def next_one(w):
        seed = next(left, None)
        if seed is None:
            w.p.stdin.close()
            w.p.wait()
            del busy[w.p.stdout]
        else:
            w.give(seed)

    def finding(w, why):
        nonlocal found
        found += 1
        name = keep / f"{w.seed}.onnx"
        name.write_bytes(mutated(w.seed))
        print(f"{name}: {why}: {w.end()}", flush=True)
        del busy[w.p.stdout]
        again = Watched(a.build)
        busy[again.p.stdout] = again
        next_one(again)

    for _ in range(a.jobs):
        w = Watched(a.build)
        busy[w.p.stdout] = w
        next_one(w)
    slowest = 0.0
    while busy:
        ready, _, _ = select.select(list(busy), [], [], 0.5)
        for w in list(busy.values()):
            if w.p.stdout in ready:
                line = w.p.stdout.readline().decode().split()
                if not line:
                    finding(w, f"the process ended, status {w.p.wait()}")
                    continue
                slowest = max(slowest, time.monotonic() - w.begun)
                count[" ".join(line)] = count.get(" ".join(line), 0) + 1
                next_one(w)
            elif w.late(5 * (sum(count.values()) < a.jobs)):  # the first one imports
                finding(w, f"longer than {SECONDS} s of a processor, or {WAIT} s")
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{a.models} models: {', '.join(f'{n} {k}' for k, n in sorted(count.items()))}; the slowest took {slowest:.1f} s, "
          f"the largest process {child:.0f} MiB; {found} findings")  # fmt: skip
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
