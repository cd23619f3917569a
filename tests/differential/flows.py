#!/usr/bin/env python3
"""Random ONNX models with dynamic sizes, branches, loops, scans, sequences and optionals on Wick and on the
reference.

    build/venv/bin/python tests/differential/flows.py [--models 2000] [--seed 0] [--jobs 2] [--build build] [--keep DIR]

A model is its seed. It is compiled once, for all sizes, and run at five of them, as by onnx.reference and ONNX
Runtime: it must agree with one of these, since both have limits and errors of their own. Floats may differ by 1e-3
of the largest magnitude of their result. A model that differs runs again with inputs that are changed by 1e-6: if
the reference changes as much, the case is undecided (a condition changes its outcome). A model that Wick refuses
counts as a difference, unless MISSING has a reason."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import sys
import traceback

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = {"N": (2, 5), "S": (2, 9), "T": (3, 17)}  # slices need at least this
RUNS = 5

# What docs/roadmap.md names as missing.
MISSING = ()

Value = collections.namedtuple("Value", "name shape")  # f32; dimensions are numbers, or expressions of SIZES
Sequence = collections.namedtuple("Sequence", "name shapes")


def size_of(dim, sizes):
    return dim if isinstance(dim, int) else eval(dim, {"max": max}, dict(sizes))  # noqa: S307: our own


class Draw:
    """Draws a model; `values` and `sequences` are those that the next node may read."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.np = np.random.default_rng(seed)
        self.nodes, self.values, self.sequences, self.count = [], [], [], 0
        self.inputs = []

    # ---- nodes

    def name(self, stem="v"):
        self.count += 1
        return f"{stem}{self.count}"

    def node(self, op, ins, nout=1, **attributes):
        from onnx import helper

        outs = [self.name(op[0].lower()) for _ in range(nout)]
        self.nodes.append(helper.make_node(op, ins, outs, **attributes))
        return outs[0] if nout == 1 else outs

    def constant(self, array):
        from onnx import numpy_helper

        return self.node("Constant", [], value=numpy_helper.from_array(np.asarray(array)))

    def ints(self, *numbers):
        return self.constant(np.asarray(numbers, np.int64))

    def weights(self, *shape):
        return self.constant(np.asarray(self.np.uniform(-1, 1, shape) / (shape[0] ** 0.5 if shape else 1), "f"))

    def graph(self, inputs, build):
        """A subgraph of the nodes that build() adds, with its own names."""
        from onnx import TensorProto, helper

        saved = self.nodes, list(self.values), list(self.sequences)
        self.nodes = []
        outs = []
        for out in build():
            name = self.node("Identity", [out if isinstance(out, str) else out.name])
            kind = TensorProto.BOOL if isinstance(out, str) else TensorProto.FLOAT
            rank = 0 if isinstance(out, str) else len(out.shape) if isinstance(out, Value) and out.shape is not None else None
            made = helper.make_tensor_value_info(name, kind, None if rank is None else [None] * rank)
            if isinstance(out, Sequence):
                made = helper.make_tensor_sequence_value_info(name, kind, None)
            outs.append(made)
        g = helper.make_graph(self.nodes, self.name("g"), inputs, outs)
        self.nodes, self.values, self.sequences = saved
        return g

    # ---- what is there

    def some(self, fits=lambda v: True):
        found = [v for v in self.values if fits(v)]
        return self.r.choice(found) if found else None

    def like(self, v):
        """Of v's shape."""
        return self.some(lambda w: w.shape == v.shape)

    def put(self, name, shape):
        self.values.append(Value(name, tuple(shape)))
        return self.values[-1]

    def scalar(self, v):
        """One number that depends on v."""
        return self.node("ReduceMean", [v.name], keepdims=0)

    def size(self, v, axis):
        """A dimension of v as i64[]."""
        return self.node("Gather", [self.node("Shape", [v.name]), self.constant(np.int64(axis))], axis=0)

    # ---- steps that keep a shape

    def unary(self, v):
        return self.node(self.r.choice(["Relu", "Tanh", "Sigmoid", "Neg", "Abs", "Sin", "HardSwish", "Softsign"]), [v.name])

    def binary(self, v):
        other = self.like(v).name if self.r.random() < 0.7 else self.weights()
        if v.shape and isinstance(v.shape[-1], int) and self.r.random() < 0.3:
            other = self.weights(v.shape[-1])
        return self.node(self.r.choice(["Add", "Sub", "Max", "Min"]), [v.name, other])

    def normed(self, v):
        axis = self.r.randrange(len(v.shape)) if v.shape else None
        if axis is None:
            return self.unary(v)
        how = self.r.randrange(4)
        if how == 0:
            return self.node("Softmax", [v.name], axis=axis)
        if how == 1:
            return self.node("CumSum", [self.node("Tanh", [v.name]), self.constant(np.int64(axis))], reverse=self.r.randrange(2))
        mean = self.node(self.r.choice(["ReduceMean", "ReduceMax"]), [v.name, self.ints(axis)], keepdims=1)
        return self.node("Sub", [v.name, mean])

    def product(self, v):
        if len(v.shape) < 2 or not isinstance(v.shape[-1], int):
            return self.unary(v)
        return self.node("MatMul", [v.name, self.weights(v.shape[-1], v.shape[-1])])

    def chosen(self, v):
        return self.node("Where", [self.node("Greater", [v.name, self.weights()]), v.name, self.like(v).name])

    def keep(self, v, depth):
        """A value of v's shape."""
        flow = depth > 0 and self.r.random() < 0.3
        step = self.r.choice([self.branch, self.loop, self.scan] if flow else [self.unary, self.binary, self.normed, self.product, self.chosen])
        if not flow:
            return self.put(step(v), v.shape)
        return step(v, depth - 1)

    def steps(self, v, depth):
        for _ in range(self.r.randrange(1, 4)):
            v = self.keep(v, depth)
        return v

    # ---- steps that change it

    def change(self, v):
        how, rank = self.r.randrange(9), len(v.shape)
        axis = self.r.randrange(rank) if rank else 0
        dim = v.shape[axis] if rank else 1
        rest = v.shape[:axis] + v.shape[axis + 1 :]
        if how == 0 and rank > 1:
            perm = self.r.sample(range(rank), rank)
            return self.put(self.node("Transpose", [v.name], perm=perm), [v.shape[p] for p in perm])
        if how == 1 and rank:
            both = self.node("Concat", [v.name, self.like(v).name], axis=axis)
            return self.put(both, v.shape[:axis] + (2 * dim if isinstance(dim, int) else f"2*({dim})",) + v.shape[axis + 1 :])
        if how == 2 and rank and (dim in SIZES or isinstance(dim, int) and dim > 1):
            cut = self.node("Slice", [v.name, self.ints(1), self.ints(1 << 40), self.ints(axis)])
            return self.put(cut, v.shape[:axis] + (dim - 1 if isinstance(dim, int) else f"({dim}-1)",) + v.shape[axis + 1 :])
        if how == 3 and rank:
            axes = self.ints(axis)
            op = self.r.choice(["ReduceMean", "ReduceMax", "ReduceMin"])
            return self.put(self.node(op, [v.name, axes], keepdims=0), rest)
        if how == 4 and rank:
            return self.put(self.node("Gather", [v.name, self.constant(np.int64(self.r.choice([0, 1, -1]) if dim != 1 else 0))], axis=axis), rest)
        if how == 5 and rank > 1:
            flat = [f"({d})" for d in v.shape]
            whole = int(np.prod(v.shape)) if all(isinstance(d, int) for d in v.shape) else "*".join(flat)
            return self.put(self.node("Reshape", [v.name, self.ints(-1)]), [whole])
        if how == 6 and rank > 1 and isinstance(v.shape[-1], int):
            m = self.r.randrange(1, 9)
            return self.put(self.node("MatMul", [v.name, self.weights(v.shape[-1], m)]), v.shape[:-1] + (m,))
        if how == 7:
            return self.spread(v)
        return self.put(self.node("Unsqueeze", [v.name, self.ints(0)]), (1, *v.shape)) if rank < 3 else self.keep(v, 0)

    def spread(self, v):
        w = self.some()
        return self.put(self.node("Expand", [self.scalar(v), self.node("Shape", [w.name])]), w.shape)

    # ---- control flow

    def branch(self, v, depth):
        condition = self.node("Greater", [self.scalar(self.some()), self.weights()])
        arms = [self.graph([], lambda: [self.steps(v, depth)]) for _ in range(2)]
        return self.put(self.node("If", [condition], then_branch=arms[0], else_branch=arms[1]), v.shape)

    def trips(self):
        """A count, and its dimension, or None if it is not known."""
        how = self.r.randrange(3)
        if how == 0:
            n = self.r.randrange(0, 8)
            return self.constant(np.int64(n)), n
        if how == 1:
            return "count", None
        v = self.some(lambda v: any(d in SIZES for d in v.shape))
        axis = self.r.choice([k for k, d in enumerate(v.shape) if d in SIZES])
        return self.size(v, axis), v.shape[axis]

    def loop(self, v, depth):
        from onnx import TensorProto, helper

        count, rows = self.trips()
        stops = self.r.random() < 0.3
        stacked = rows is not None and not stops and len(v.shape) < 4 and self.r.random() < 0.5
        carried = [v] + ([self.some()] if self.r.random() < 0.5 else [])
        names = [self.name("c") for _ in carried]
        i, go = self.name("i"), self.name("go")
        inputs = [helper.make_tensor_value_info(i, TensorProto.INT64, []), helper.make_tensor_value_info(go, TensorProto.BOOL, [])]
        inputs += [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names]

        def body():
            inner = [self.put(n, w.shape) for n, w in zip(names, carried)]
            if self.r.random() < 0.5:
                self.put(self.node("Cast", [i], to=TensorProto.FLOAT), ())
            elements = [s for s in self.sequences if isinstance(rows, int) and len(s.shapes) >= rows > 0 and len(set(s.shapes)) == 1]
            if elements and self.r.random() < 0.7:
                s = self.r.choice(elements)
                self.put(self.node("SequenceAt", [s.name, i]), s.shapes[0])
            outs = [self.steps(w, depth) for w in inner]
            on = self.node("Less", [self.scalar(outs[0]), self.weights()]) if stops else self.node("Identity", [go])
            rows_of = [self.like(outs[0])] if stacked else []
            return [on, *outs, *rows_of]

        made = self.node("Loop", [count, self.r.choice(["", self.constant(np.bool_(True))]), *[w.name for w in carried]],
                         len(carried) + stacked, body=self.graph(inputs, body))
        made = [made] if isinstance(made, str) else made
        if stacked and rows != 0:
            self.put(made[-1], (rows, *v.shape))
        return [self.put(n, w.shape) for n, w in zip(made, carried)][0]

    def scan(self, v, depth):
        from onnx import TensorProto, helper

        over = self.some(lambda w: len(w.shape) > 1)
        if over is None:
            return self.keep(v, 0)
        row, state = self.name("r"), self.name("s")
        inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in (state, row)]

        def body():
            before, part = self.put(state, v.shape), self.put(row, over.shape[1:])
            part = self.steps(part, depth)
            self.put(self.node("Add", [before.name, self.scalar(part)]), v.shape)
            return [self.steps(self.values[-1], depth), part]

        made = self.node("Scan", [v.name, over.name], 2, num_scan_inputs=1, body=self.graph(inputs, body),
                         scan_input_directions=[self.r.randrange(2)], scan_output_directions=[self.r.randrange(2)])
        self.put(made[1], over.shape)
        return self.put(made[0], v.shape)

    # ---- sequences

    def sequence(self):
        """Another sequence, or a value from one."""
        how = self.r.randrange(11)
        s = self.r.choice(self.sequences) if self.sequences else None
        if s is None or how == 0:
            of = [self.some() for _ in range(self.r.randrange(1, 5))]
            if self.r.random() < 0.6:
                of = [self.like(of[0]) for _ in of]
            return self.list(self.node("SequenceConstruct", [v.name for v in of]), [v.shape for v in of])
        n = len(s.shapes)
        if how == 1:
            return self.split()
        if how == 2:
            v, at = self.some(), self.r.randrange(-n, n + 1)
            ins = [s.name, v.name] + ([self.constant(np.int64(at))] if self.r.random() < 0.7 else [])
            at = (at if at >= 0 else at + n) if len(ins) == 3 else n
            return self.list(self.node("SequenceInsert", ins), [*s.shapes[:at], v.shape, *s.shapes[at:]])
        if how == 3 and n:
            at = self.r.randrange(-n, n)
            ins = [s.name] + ([self.constant(np.int64(at))] if self.r.random() < 0.7 else [])
            at = at % n if len(ins) == 2 else n - 1
            return self.list(self.node("SequenceErase", ins), [*s.shapes[:at], *s.shapes[at + 1 :]])
        if how == 4:
            from onnx import TensorProto

            return self.put(self.node("Cast", [self.node("SequenceLength", [s.name])], to=TensorProto.FLOAT), ())
        if how == 5 and n and len(set(s.shapes)) == 1:
            return self.joined(s)
        if how == 6 and n:
            return self.mapped(s)
        if how == 7:
            return self.grown(s)
        if how == 8:
            arms = [self.graph([], lambda: [self.appended(s, v)]) for v in [self.some()] for _ in range(2)]
            condition = self.node("Greater", [self.scalar(self.some()), self.weights()])
            return self.list(self.node("If", [condition], then_branch=arms[0], else_branch=arms[1]), [*s.shapes, self.appendix])
        if how == 9:
            return self.optional()
        if n:
            at = self.r.randrange(-n, n)
            return self.put(self.node("SequenceAt", [s.name, self.constant(np.int64(at))]), s.shapes[at])
        return self.list(self.node("SequenceEmpty", []), [])

    def list(self, name, shapes):
        self.sequences.append(Sequence(name, [tuple(x) for x in shapes]))
        return self.sequences[-1]

    def appended(self, s, v):
        self.appendix = v.shape
        return self.list(self.node("SequenceInsert", [s.name, self.keep(v, 0).name]), [*s.shapes, v.shape])

    def split(self):
        v = self.some(lambda v: any(isinstance(d, int) for d in v.shape))
        if v is None:
            return None
        axis = self.r.choice([k for k, d in enumerate(v.shape) if isinstance(d, int)])
        dim, shape = v.shape[axis], lambda n: (*v.shape[:axis], n, *v.shape[axis + 1 :])
        how = self.r.randrange(3)
        if how == 0:
            keep = self.r.randrange(2)
            shapes = [shape(1) if keep else (*v.shape[:axis], *v.shape[axis + 1 :])] * dim
            return self.list(self.node("SplitToSequence", [v.name], axis=axis, keepdims=keep), shapes)
        if how == 1:
            part = self.r.randrange(1, dim + 1)
            shapes = [shape(min(part, dim - k)) for k in range(0, dim, part)]
            return self.list(self.node("SplitToSequence", [v.name, self.constant(np.int64(part))], axis=axis), shapes)
        first = self.r.randrange(1, dim) if dim > 1 else 1
        parts = [first, dim - first] if dim > 1 else [1]
        return self.list(self.node("SplitToSequence", [v.name, self.ints(*parts)], axis=axis), [shape(p) for p in parts])

    def joined(self, s):
        shape, n = s.shapes[0], len(s.shapes)
        if not shape or self.r.random() < 0.5:
            axis = self.r.randrange(len(shape) + 1)
            return self.put(self.node("ConcatFromSequence", [s.name], axis=axis, new_axis=1), (*shape[:axis], n, *shape[axis:]))
        axis = self.r.randrange(len(shape))
        d = n * shape[axis] if isinstance(shape[axis], int) else f"{n}*({shape[axis]})"
        return self.put(self.node("ConcatFromSequence", [s.name], axis=axis), (*shape[:axis], d, *shape[axis + 1 :]))

    def mapped(self, s):
        from onnx import TensorProto, helper

        x = self.name("e")
        beside = [self.some()] if self.r.random() < 0.4 else []
        names = [self.name("b") for _ in beside]
        inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in [x, *names]]

        def body():  # of elements of any shape
            y = Value(self.node(self.r.choice(["Tanh", "Relu", "Neg"]), [x]), None)
            for n in names:
                y = Value(self.node("Add", [y.name, self.node("ReduceMean", [n], keepdims=0)]), None)
            return [y]

        return self.list(self.node("SequenceMap", [s.name, *[v.name for v in beside]], body=self.graph(inputs, body)), s.shapes)

    def grown(self, s):
        """A loop that appends in each step."""
        from onnx import TensorProto, helper

        v, n = self.some(), self.r.randrange(0, 5)
        i, go, c = self.name("i"), self.name("go"), self.name("c")
        inputs = [helper.make_tensor_value_info(i, TensorProto.INT64, []), helper.make_tensor_value_info(go, TensorProto.BOOL, []),
                  helper.make_tensor_sequence_value_info(c, TensorProto.FLOAT, None)]

        def body():
            x = self.put(self.node("Mul", [v.name, self.node("Cast", [i], to=TensorProto.FLOAT)]), v.shape)
            return [self.node("Identity", [go]), self.appended(Sequence(c, []), x)]

        made = self.node("Loop", [self.constant(np.int64(n)), "", s.name], body=self.graph(inputs, body))
        return self.list(made, [*s.shapes, *[v.shape] * n])

    def optional(self):
        v = self.some()
        o = self.node("Optional", [v.name])
        if self.r.random() < 0.4:
            has = self.node("OptionalHasElement", [o])
            arms = [self.graph([], lambda: [Value(self.node("OptionalGetElement", [o]), v.shape)]), self.graph([], lambda: [self.keep(v, 0)])]
            return self.put(self.node("If", [has], then_branch=arms[0], else_branch=arms[1]), v.shape)
        return self.put(self.node("OptionalGetElement", [o]), v.shape)

    # ---- a model

    def model(self):
        from onnx import TensorProto, helper

        shapes = [("N", "S", 4), ("T", 6), ("N", 3, "T"), ("S",), (5,), ("N", "T")]
        inputs = []
        for k, shape in enumerate(self.r.sample(shapes, self.r.randrange(2, 4))):
            self.put(f"x{k}", shape)
            inputs.append(helper.make_tensor_value_info(f"x{k}", TensorProto.FLOAT, shape))
        if not any(d in SIZES for v in self.values for d in v.shape):
            self.put("x9", ("N", "S"))
            inputs.append(helper.make_tensor_value_info("x9", TensorProto.FLOAT, ("N", "S")))
        inputs.append(helper.make_tensor_value_info("count", TensorProto.INT64, []))
        self.inputs = [(v.name, v.shape) for v in self.values]
        given = {v.name for v in self.values}
        for _ in range(self.r.randrange(6, 16)):
            how = self.r.random()
            v = self.some()
            if how < 0.25:
                self.change(v)
            elif how < 0.6:
                self.sequence()
            else:
                self.keep(v, 2)
            self.values = [v for v in self.values if len(v.shape) <= 4]
        outs = [v for v in self.values if v.name not in given][-4:]
        made = [helper.make_tensor_value_info(v.name, TensorProto.FLOAT, None) for v in outs]
        if self.sequences and self.r.random() < 0.7:
            made.append(helper.make_tensor_sequence_value_info(self.sequences[-1].name, TensorProto.FLOAT, None))
        g = helper.make_graph(self.nodes, "g", inputs, made)
        return helper.make_model(g, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


# ---- running


def flat(results):
    """Sequences as their elements, after their lengths."""
    out = []
    for x in results:
        out += [np.asarray(len(x)), *x] if isinstance(x, list) else [np.asarray(x)]
    return [np.asarray(x) for x in out]


def off(got, want):
    """What is wrong with a result, or None."""
    if len(got) != len(want):
        return f"{len(got)} results, expected {len(want)}"
    for k, (g, w) in enumerate(zip(got, want)):
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"result {k}: {g.dtype} {g.shape}, expected {w.dtype} {w.shape}"
        fine = np.isfinite(w)
        limit = 1e-3 * max(1e-2, np.abs(w[fine]).max(initial=0))
        with np.errstate(invalid="ignore"):
            far = np.abs(g[fine] - w[fine])
        if not (far <= limit).all():
            return f"result {k}: off by {far.max():.3g} of {limit * 1e3:.3g}"
    return None


class Oracle:
    """Runs the reference evaluator, or ONNX Runtime if that fails or disagrees with the others."""

    def __init__(self, model, data):
        from peer import session_of

        self.model, self.session = model, session_of(data)

    def reference(self, feeds):
        from onnx.reference import ReferenceEvaluator
        from onnx.reference.op_run import OpRun

        class SequenceInsert(OpRun):  # its own changes the list that it gets, which others see
            def _run(self, sequence, x, at=None):
                made = list(sequence)
                made.insert(len(made) if at is None else int(at), x)
                return (made,)

        try:
            with np.errstate(all="ignore"):
                return flat(ReferenceEvaluator(self.model, new_ops=[SequenceInsert]).run(None, feeds))
        except Exception:  # some attributes and types it does not know
            return None

    def runtime(self, feeds):
        try:
            return flat(self.session.run(None, feeds)) if self.session else None
        except Exception:
            return None

    def differs(self, feeds, got, rng):
        """Returns None if there is no reference result, otherwise the error, or ""."""
        said = [x for x in (f(feeds) for f in (self.reference, self.runtime)) if x is not None]
        if not said:
            return None
        whys = [off(got, x) for x in said]
        if not all(whys):
            return ""
        run = self.reference if self.reference(feeds) is not None else self.runtime
        return whys[0] if self.stable(run, feeds, said[0], rng) else ""

    @staticmethod
    def stable(run, feeds, want, rng):
        """Do inputs that are moved a little give the same?"""
        for _ in range(6):
            moved = {k: (x * (1 + rng.uniform(-1e-6, 1e-6, x.shape))).astype(x.dtype) if x.dtype.kind == "f" else x for k, x in feeds.items()}
            if off(run(moved), want):
                return False
        return True


def refused(e):
    return any(m in str(e) for m in MISSING)


def one(seed, keep=None):
    """Returns what to count, and the difference or None."""
    import wick
    draw = Draw(seed)
    model = draw.model()
    data = model.SerializeToString()
    if keep:
        (keep / f"{seed}.onnx").write_bytes(data)
    rng = np.random.default_rng(seed)
    ranges = {name: r for name, r in SIZES.items() if any(name in shape for _, shape in draw.inputs)}
    try:
        program = wick.compile(data, cache="", dynamic=True) if seed % 2 else wick.compile(data, cache="", ranges=ranges)
    except wick.WickError as e:
        return ("missing", None) if refused(e) else ("are refused", f"refused: {e}")
    oracle, silent = Oracle(model, data), 0
    for run in range(RUNS):
        sizes = {k: lo if run == 0 else hi if run == 1 else int(rng.integers(lo, hi + 1)) for k, (lo, hi) in SIZES.items()}
        feeds = {n: rng.uniform(-2, 2, [size_of(d, sizes) for d in shape]).astype("f") for n, shape in draw.inputs}
        feeds["count"] = np.asarray(rng.integers(0, 6), np.int64)
        try:
            got = flat(program.run([feeds[p.name] for p in program.inputs]))
        except wick.WickError as e:
            return "fail", f"{sizes}: {e}"
        why = oracle.differs(feeds, got, rng)
        silent += why is None
        if why:
            return "differ", f"{sizes}, count {feeds['count']}: {why}"
    return "without a reference" if silent == RUNS else "agree", None


def safely(seed, keep):
    try:
        return seed, *one(seed, keep)
    except Exception:
        return seed, "error", traceback.format_exc()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", type=int, default=2000)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    p.add_argument("--keep", type=pathlib.Path, help="leaves the models there")
    a = p.parse_args()
    sys.path.insert(0, str(a.build.resolve() / "python"))
    if a.keep:
        a.keep.mkdir(parents=True, exist_ok=True)
    seeds, count, bad = range(a.seed, a.seed + a.models), collections.Counter(), 0
    with concurrent.futures.ProcessPoolExecutor(a.jobs) as pool:
        for seed, what, why in pool.map(safely, seeds, [a.keep] * len(seeds), chunksize=4):
            count[what] += 1
            if why:
                bad += 1
                print(f"{seed}: {why}", flush=True)
    print(f"{a.models} models at {RUNS} sizes:", ", ".join(f"{n} {k}" for k, n in sorted(count.items())), f"; {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
