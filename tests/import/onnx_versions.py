"""Models of one node for each schema version of each operator: ONNX's own cases, written for older opsets."""
import collections
import functools

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper

# Inputs that were attributes before: operator -> [(version from which on they are inputs, input, attribute)].
_REDUCE = "L1 L2 LogSum LogSumExp Max Mean Min Prod SumSquare".split()
MOVED = {
    "Reshape": [(5, 1, "shape")], "Squeeze": [(13, 1, "axes")], "Unsqueeze": [(13, 1, "axes")], "Split": [(13, 1, "split")],
    "Slice": [(10, 1, "starts"), (10, 2, "ends"), (10, 3, "axes")], "Pad": [(11, 1, "pads"), (11, 2, "value")],
    "Clip": [(11, 1, "min"), (11, 2, "max")], "TopK": [(10, 1, "k")], "Upsample": [(9, 1, "scales")],
    "ReduceSum": [(13, 1, "axes")], **{f"Reduce{name}": [(18, 1, "axes")] for name in _REDUCE},
}
RENAMED = {("Pad", 1): {"pads": "paddings"}}
WORDS = {("GridSample", 16): {"linear": "bilinear", "cubic": "bicubic"}}  # what attributes' words were called
BROADCAST = "Add And Div Equal Greater Less Mul Or Pow Sub Xor".split()  # before opset 7 only where it is said


@functools.cache
def schemas():
    """{(domain, operator): [schema, ...]}, oldest first."""
    found = collections.defaultdict(list)
    for s in defs.get_all_schemas_with_history():
        found[s.domain, s.name].append(s)
    return {k: sorted(v, key=lambda s: s.since_version) for k, v in sorted(found.items())}


def tensor_type(value):
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "US":
        return onnx.TensorProto.STRING
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def type_name(value):
    return f"tensor({onnx.TensorProto.DataType.Name(tensor_type(value)).lower()})"


def allowed(schema, index, value, formals):
    formal = formals[min(index, len(formals) - 1)]
    return type_name(value) in formal.types


def array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def plain(values):
    """Tensors only: no sequences, optionals or maps."""
    return all(isinstance(v, (np.ndarray, np.generic)) for v in values)


def attribute(value, name, schema):
    """An input's value as the attribute that stood for it."""
    a = schema.attributes[name]
    flat = np.asarray(value).ravel().tolist()
    if a.type in (defs.OpSchema.AttrType.INT, defs.OpSchema.AttrType.FLOAT):
        flat = flat[0]
        return int(flat) if a.type == defs.OpSchema.AttrType.INT else float(flat)
    return [int(v) if a.type == defs.OpSchema.AttrType.INTS else float(v) for v in flat]


def downgrade(node, feeds, schema):
    """(node, the names of its inputs that stay) for that schema, or None where it cannot be said there."""
    op, version = node.op_type, schema.since_version
    if any(a.HasField("g") for a in node.attribute):
        return None  # the nodes within are those of their opset
    names, attrs = list(node.input), {a.name: helper.get_attribute_value(a) for a in node.attribute}
    for since, index, name in MOVED.get(op, ()):
        if version >= since or index >= len(names):
            continue
        value = feeds.get(names[index])
        name = RENAMED.get((op, version), {}).get(name, name)
        if names[index]:
            if value is None or name not in schema.attributes:
                return None
            attrs[name] = attribute(value, name, schema)
        names[index] = None
    names = [n for n in names if n is not None]
    while names and not names[-1]:
        names.pop()
    if any(isinstance(v, onnx.GraphProto) for v in attrs.values()):
        return None  # the graphs' own nodes are of the case's opset
    known = {k: v for k, v in attrs.items() if k in schema.attributes}
    for k, v in attrs.items():
        if k not in known and not _default(op, k, v):
            return None
    if op == "PRelu" and version < 7 and np.size(feeds[names[1]]) not in (1, np.shape(feeds[names[0]])[1]):
        return None  # a slope for each channel, or one
    if op in BROADCAST and version < 7 and len({np.shape(feeds[n]) for n in names}) > 1:
        a, b = (np.shape(feeds[n]) for n in names)
        if a[len(a) - len(b):] != b:
            return None
        known["broadcast"] = 1
    if not schema.min_input <= len(names) <= schema.max_input or not schema.min_output <= len(node.output) <= schema.max_output:
        return None
    if any(a.required and k not in known for k, a in schema.attributes.items()):
        return None
    if not all(allowed(schema, i, feeds[n], schema.inputs) for i, n in enumerate(names) if n):
        return None
    made = helper.make_node(op, names, list(node.output), node.name, domain=node.domain)
    for k, v in known.items():
        kind = schema.attributes[k].type
        if isinstance(v, bytes):
            v = v.decode()
            v = WORDS.get((op, version), {}).get(v, v)
        if kind == defs.OpSchema.AttrType.FLOAT:
            v = float(v)
        elif kind == defs.OpSchema.AttrType.STRING and isinstance(v, int):  # Cast's `to`, at first
            v = onnx.TensorProto.DataType.Name(v)
        made.attribute.append(helper.make_attribute(k, v, attr_type=kind.value))
    return made, names


def _default(op, name, value):
    """The attribute says what older versions do anyway."""
    for s in schemas_of[op]:
        if name in s.attributes and s.attributes[name].default_value.name:
            return helper.get_attribute_value(s.attributes[name].default_value) == value
    return value == 0


schemas_of = collections.defaultdict(list)
for (_, _name), _list in schemas().items():
    schemas_of[_name].extend(_list)


def _model(schema, node, name, feeds, outputs):
    """feeds: {input: value}; outputs: {output: value, or its type and shape}."""
    inputs = [helper.make_tensor_value_info(n, tensor_type(v), np.shape(v)) for n, v in feeds.items()]
    results = [helper.make_tensor_value_info(n, *(w if isinstance(w, tuple) else (tensor_type(w), np.shape(w))))
               for n, w in outputs.items()]
    opsets = [helper.make_opsetid(node.domain, schema.since_version)]
    if node.domain:
        opsets.append(helper.make_opsetid("", 21))
    g = helper.make_graph([node], name, inputs, results)
    return helper.make_model(g, opset_imports=opsets, ir_version=8 if schema.since_version < 21 else 10)


def by_hand():
    """Operators and versions that ONNX has no case for: (schema, name, model, feeds)."""
    x = np.arange(32, dtype="f4").reshape(1, 2, 4, 4) / 7 - 2
    rois = np.array([[0, 0, 0, 2, 2], [0, 1, 0, 3, 3]], "f4")
    two, axis = np.array([2], "f4"), np.array([1], "f4")
    nodes = [("GlobalLpPool", dict(p=2), {"x": x}), ("MaxRoiPool", dict(pooled_shape=[2, 2]), {"x": x, "rois": rois}),
             ("Upsample", dict(height_scale=2.0, width_scale=2.0), {"x": x}), ("Tile", {}, {"x": x, "tiles": two, "axis": axis}),
             ("Resize", {}, {"x": x, "scales": np.array([1, 1, 2, 2], "f4")}), ("Dropout", dict(ratio=0.3), {"x": x}),
             ("BatchNormalization", dict(epsilon=1e-3), {"x": x, **{k: np.array([0.5, 2], "f4") for k in ("s", "b", "m", "v")}}),
             ("RandomNormalLike", dict(seed=1.0), {"x": x}), ("RandomUniformLike", dict(seed=1.0), {"x": x}),
             ("RandomNormal", dict(seed=1.0, shape=[2, 3]), {}), ("RandomUniform", dict(seed=1.0, shape=[2, 3]), {})]
    for op, attrs, feeds in nodes:
        for schema in schemas()["", op]:
            made = downgrade(helper.make_node(op, list(feeds), ["y"], **attrs), feeds, schema)
            if made is None or schema.deprecated or (op == "Resize" and schema.since_version > 10):
                continue
            given = {n: feeds[n] for n in made[1]}
            result = {"y": (onnx.TensorProto.FLOAT, [None] * (4 if feeds else 2))}
            yield schema, f"{op} by hand", _model(schema, made[0], op, given, result), list(given.values())


def cases():
    """Yields (schema, the case's name, model, feeds, expected, tolerances)."""
    from onnx.backend.test.case.node import collect_testcases
    for case in sorted((t for t in collect_testcases(None) if t.model is not None), key=lambda t: t.name):
        graph = case.model.graph
        if len(graph.node) != 1 or graph.initializer or case.model.functions or not case.data_sets:
            continue
        values, want = ([array(v) for v in part] for part in case.data_sets[0])
        node = graph.node[0]
        history = schemas().get((node.domain, node.op_type))
        if not history or not plain(values) or not plain(want):
            continue
        feeds = {i.name: v for i, v in zip(graph.input, values)}
        for schema in history:
            if schema.deprecated:
                continue
            made = downgrade(node, feeds, schema)
            if made is None:
                continue
            node_v, names = made
            given = {n: feeds[n] for n in dict.fromkeys(names) if n}
            like = [f.type_str == schema.inputs[0].type_str for f in schema.outputs] if schema.inputs else []
            first = feeds.get(names[0]) if names else None
            results = [(tensor_type(first if k < len(like) and like[k] and first is not None else w), np.shape(w)) for k, w in enumerate(want)]
            model = _model(schema, node_v, case.name, given, dict(zip((o for o in node_v.output if o), results)))
            yield schema, case.name, model, list(given.values()), want, (case.rtol, case.atol)
