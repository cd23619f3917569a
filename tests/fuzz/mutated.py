#!/usr/bin/env python3
"""Model files that went wrong: those of ONNX's own suite and of com.microsoft with bytes, sizes, types, names, attributes and nodes changed at
random, each imported, compiled and run by the Python package.

    build/venv/bin/python tests/fuzz/mutated.py [--models 10000] [--seed 1] [--jobs 2] [--build build] [--keep DIR]

`watched.py` says what a failure is."""

import pathlib
import random
import sys
import warnings

import watched

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


# ---- the models


def seeds():
    """The suite's models of some kilobytes and one of each operator of com.microsoft, in an order that does not change."""
    import onnx
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():  # of how expected values are computed
        warnings.simplefilter("ignore")
        found = sorted(collect_testcases(None), key=lambda t: t.name)
    models = [t.model for t in found if t.model.ByteSize() < 20000]
    return models + [onnx.load(path) for path in sorted(pathlib.Path(__file__).parent.glob("onnx/microsoft_*.onnx"))]


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
        watched.change_bytes(r, b)
    return bytes(b)


def model(seed, wick):
    return watched.run(wick, mutated(seed))


def keep(seed, folder):
    name = folder / f"{seed}.onnx"
    name.write_bytes(mutated(seed))
    return name


def main():
    global SEEDS
    SEEDS = seeds()
    return watched.main(__doc__, __file__, 10000, "models", model, keep)


if __name__ == "__main__":
    sys.exit(main())
