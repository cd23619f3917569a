#!/usr/bin/env python3
"""Prints docs/onnx.md: each operator of ONNX in each schema version, whether Wick imports it, with which element
types, and its tests. `make docs` writes it; needs the onnx package, and build/wick (WICK_COMMAND)."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/import"))
import onnx_versions  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build/wick"))
NEWEST = {"": 28, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1, "ai.onnx.preview": 1}
# ONNX's names of element types, and Wick's.
TYPES = {"double": "f64", "float": "f32", "float16": "f16", "bfloat16": "bf16", "float8e4m3fn": "f8e4m3",
         "float8e4m3fnuz": "f8e4m3fnuz", "float8e5m2": "f8e5m2", "float8e5m2fnuz": "f8e5m2fnuz", "float8e8m0": "f8e8m0",
         "float6e2m3": "f6e2m3", "float6e3m2": "f6e3m2", "float4e2m1": "f4e2m1", "int64": "i64", "int32": "i32", "int16": "i16",
         "int8": "i8", "int4": "i4", "int2": "i2",
         "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "uint4": "u4", "uint2": "u2", "bool": "bool",
         "complex64": "c64", "complex128": "c128", "string": "string"}
GROUPS = [("all", list(TYPES.values())), ("floats", "f64 f32 f16 bf16".split()), ("ints", "i64 i32 i16 i8".split()),
          ("uints", "u64 u32 u16 u8".split()), ("f8", "f8e4m3 f8e4m3fnuz f8e5m2 f8e5m2fnuz".split()),
          ("small", "i4 i2 u4 u2".split()), ("complex", "c64 c128".split())]


def read_ranges():
    """{operator with its domain: [(first, last)]}, from the importer's table."""
    found = {}
    for line in subprocess.run([WICK, "ops", "--onnx"], capture_output=True, text=True, check=True).stdout.splitlines():
        name, *ranges = line.split()
        found[name] = [tuple(map(int, r.split("-"))) for r in ranges]
    return found


def spans(history):
    """[(schema, first opset, last opset)]"""
    newest = NEWEST.get(history[0].domain, history[-1].since_version)
    ends = [s.since_version - 1 for s in history[1:]] + [max(newest, history[-1].since_version)]
    return [(s, s.since_version, e) for s, e in zip(history, ends)]


def first_types(schema):
    """The element types that the first input may have."""
    return sorted(t[7:-1] for t in schema.inputs[0].types if t.startswith("tensor(")) if schema.inputs else []


def retyped(schema, model, feeds, kind):
    """The case's model with its first type replaced: with its other inputs as constants, and with all."""
    elem = onnx.TensorProto.DataType.Value(kind.upper())
    node, values = model.graph.node[0], dict(zip((i.name for i in model.graph.input), feeds))
    first, place = node.input[0] if node.input else "", {n: i for i, n in enumerate(node.input)}
    old = onnx_versions.tensor_type(values[first]) if first in values else 0
    bound = {n for n, v in values.items() if onnx_versions.tensor_type(v) == old and f"tensor({kind})" in
             schema.inputs[min(place[n], len(schema.inputs) - 1)].types}
    for constants in (False, True):
        made = onnx.ModelProto.FromString(model.SerializeToString())
        del made.graph.input[:]
        for a in made.graph.node[0].attribute:
            if node.op_type == "BitCast" and a.name == "to":
                a.i = elem
        for o in made.graph.output:
            o.ClearField("type")
        for name, value in values.items():
            value = np.asarray(value)
            if name in bound and not constants:
                made.graph.input.append(helper.make_tensor_value_info(name, elem, value.shape))
            elif value.dtype == object or (name in bound and kind == "string"):
                break
            else:
                value = value.astype(helper.tensor_dtype_to_np_dtype(elem)) if name in bound else value
                made.graph.initializer.append(numpy_helper.from_array(value, name))
        else:
            yield made


def types_read():
    """{(domain, operator, version): element types that are read}, by importing a case of each."""
    first = {}
    for schema, _, model, feeds, *_ in onnx_versions.cases():
        first.setdefault((schema.domain, schema.name, schema.since_version), (schema, model, feeds))
    for schema, _, model, feeds in onnx_versions.by_hand():
        first.setdefault((schema.domain, schema.name, schema.since_version), (schema, model, feeds))
    found = collections.defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for key, (schema, model, feeds) in first.items():
            for kind in first_types(schema):
                for made in retyped(schema, model, feeds, kind) if kind in TYPES else ():
                    path = os.path.join(folder, f"{len(files)}.onnx")
                    with open(path, "wb") as f:
                        f.write(made.SerializeToString())
                    files[path] = key, kind
        paths = list(files)
        for k in range(0, len(paths), 500):
            out = subprocess.run([WICK, "check", "--json", *paths[k:k + 500]], capture_output=True, text=True).stdout
            for m in json.loads(out):
                if m["good"] and "needs" not in m:
                    key, kind = files[m["file"]]
                    found[key].add(TYPES[kind])
    return found


def compact(types):
    """"floats ints bool" """
    left, words = set(types), []
    for word, group in GROUPS:
        if set(group) <= left:
            words.append(word)
            left -= set(group)
    return " ".join(words + [t for t in TYPES.values() if t in left])


def suite():
    """{(domain, operator, version): names of ONNX's own cases}"""
    from onnx.backend.test.case.node import collect_testcases
    found = collections.defaultdict(list)
    for case in sorted((t for t in collect_testcases(None) if t.model is not None), key=lambda t: t.name):
        opsets = {o.domain: o.version for o in case.model.opset_import}
        for domain, op in sorted({(n.domain, n.op_type) for n in case.model.graph.node}):
            since = [s.since_version for s in onnx_versions.schemas().get((domain, op), []) if s.since_version <= opsets.get(domain, 0)]
            if since and (len(case.model.graph.node) == 1 or "_expanded" not in case.name):
                found[domain, op, since[-1]].append(case.name)
    return found


def own_tests():
    """{operator: Wick's tests that name it}"""
    found = collections.defaultdict(list)
    files = [*sorted(ROOT.glob("src/import/onnx/*_test.c")), *sorted(ROOT.glob("tests/import/test_*.py")), *sorted(ROOT.glob("tests/python/test_*.py"))]
    for path in files:
        for word in set(re.findall(r"[A-Z][A-Za-z0-9]+", path.read_text())):
            found[word].append(str(path.relative_to(ROOT)))
    return found


def tests_of(key, cases, versions, own):
    names = cases.get(key, [])
    if names:
        return ", ".join(f"`{n}`" for n in names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    if key in versions:
        return "`tests/import/test_versions.py`"
    return ", ".join(f"`{p}`" for p in own.get(key[1], [])[:1])


def read(name, first, last, ranges):
    """How much of first to last is read."""
    have = [(max(a, first), min(b, last)) for a, b in ranges.get(name, []) if a <= last and b >= first]
    if not have:
        return "no"
    lo, hi = min(a for a, _ in have), max(b for _, b in have)
    return "yes" if (lo, hi) == (first, last) else f"{lo}-{hi}"


HEAD = """# ONNX

What Wick reads of ONNX: each operator in each version of its schema (`make docs` writes this page; `wick ops --onnx` lists
the importer's rows alone, `wick check` says what a model has that is not read).
Operators of other domains are functions of a program: [Operators of imported models](language.md#operators-of-imported-models).

- `opsets`: those in which the version holds.
- `read`: whether all of them are read, or which.
- `types`: element types of the first input, of those in the schema; each was tried with a model. `-`: there was no case to try
  it with. Words stand for several: {groups}.
- `tests`: cases of ONNX's own suite that reach the version, else Wick's tests of it.

{count}
"""


def main():
    ranges, types, cases, own = read_ranges(), types_read(), suite(), own_tests()
    versions = {(s.domain, s.name, s.since_version) for s, *_ in [*onnx_versions.cases(), *onnx_versions.by_hand()]}
    lines, total, good = [], 0, 0
    domain = None
    for (d, op), history in onnx_versions.schemas().items():
        name = f"{d}.{op}" if d else op
        if d != domain:
            domain = d
            lines += ["", f"## {d or 'ai.onnx'}", "", "| operator | opsets | read | types | tests |", "|---|---|---|---|---|"]
        for k, (schema, first, last) in enumerate(spans(history)):
            key = d, op, schema.since_version
            if schema.deprecated:
                lines.append(f"| {op if not k else ''} | {first}-{last} | deprecated | | |")
                continue
            how = read(name, first, last, ranges)
            total, good = total + 1, good + (how != "no")
            have, want = types.get(key, set()), {TYPES[t] for t in first_types(schema) if t in TYPES}
            missing = want - have
            kinds = "" if how == "no" else "-" if not have else compact(have) + (f"; not {compact(missing)}" if missing else "")
            tests = tests_of(key, cases, versions, own) if how != "no" else ""
            lines.append(f"| {op if not k else ''} | {first}-{last} | {how} | {kinds} | {tests} |")
    lines += ["", "## com.microsoft", "", "ONNX Runtime's own operators, which its optimizer and converters write. Most become the operators that they stand for, and are fused as these are.",
              "", "| operator | tests |", "|---|---|"]
    lines += [f"| {name.split('.')[-1]} | `tests/import/test_microsoft.py` |" for name in sorted(ranges) if name.startswith("com.microsoft.")]
    groups = "; ".join(f"{w}: {' '.join(g)}" if w != "all" else "all" for w, g in GROUPS if w != "all")
    count = f"Of the {total} schema versions of onnx {onnx.__version__} that are not deprecated {good} are read."
    print(HEAD.format(groups=groups, count=count) + "\n".join(lines))


if __name__ == "__main__":
    main()
