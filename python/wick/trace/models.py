"""Models inside of a trace: their operators are recorded, so that they are differentiated and batched as all else.

The model comes as a module in Wick's text (docs/text.md), for the shapes that it is called with."""
import collections
import math
import re

import numpy as np

from wick import types
from wick.errors import InvalidArgument, TypeMismatch, Unsupported, WickError, raised
from wick.options import unknown
from wick.trace import control, elements, ops
from wick.trace.scope import Traced, emit_all, fail, name_of, type_text

#: A model keeps its graphs for that many combinations of shapes.
GRAPHS = 16

#: Operators whose number of results differs: of one, they give a tuple, too.
_TUPLES = frozenset(("max_pool", "split"))

_Node = collections.namedtuple("_Node", "op callee operands attributes regions results")
_Region = collections.namedtuple("_Region", "parameters nodes")

# ---- the text ----

_TOKEN = re.compile(r'\s+|[%@]?"(?:\\.|[^"\\])*"|[%@]?[\w.$/]+(?:[-+]\d+)?|->|-?(?:\d[\w.]*(?:[-+]\d+)?|inf|nan)|.')
_ESCAPE = re.compile(r'\\(x..|.)')


def _unquoted(text):
    if not text.endswith('"'):
        return text
    head, body = text.split('"', 1)
    put = lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "x" else {"n": "\n", "t": "\t"}.get(m[1], m[1])
    return head + _ESCAPE.sub(put, body[:-1])


class _Reader:
    """Reads the functions of a module, which are canonical text."""

    def __init__(self, text):
        self._tokens = [t for t in _TOKEN.findall(text) if not t.isspace()]
        self._at = 0
        self.functions = {}
        while self._at < len(self._tokens):
            self._function()

    def _next(self):
        self._at += 1
        return self._tokens[self._at - 1]

    def _is(self, *texts):
        return self._at < len(self._tokens) and self._tokens[self._at] in texts

    def _take(self, text):
        found = self._is(text)
        self._at += found
        return found

    def _list(self, read, end):
        out = []
        while not self._take(end):
            out.append(read())
            self._take(",")
        return out

    def _function(self):
        kind, name = self._next(), _unquoted(self._next())
        if kind != "graph":
            fail(Unsupported, f"the model has a part of the kind {kind}, which traced functions do not read")
        parameters = self._parameters()
        while not self._take("{"):
            self._at += 1
        while self._is("constraint"):  # of sizes, which are numbers here
            fail(Unsupported, "the model has sizes that are not known for these shapes of its inputs")
        self.functions[name] = _Region(parameters, self._list(self._node, "}"))

    def _parameters(self):
        self._take("(")
        return self._list(self._parameter, ")")

    def _parameter(self):
        if self._is("@state", "@given"):
            fail(Unsupported, "the model keeps states from run to run, which a traced function has none of")
        name = _unquoted(self._next())
        self._take(":")
        self._type()
        return name

    def _type(self):
        """(element type, shape), and the name of the tensor."""
        elem, shape = self._next(), []
        if not self._take("["):
            fail(Unsupported, f"the model has a value of the type {elem}, which is no tensor")
        shape = self._list(self._next, "]")
        if not all([n.isdigit() for n in shape]):
            fail(Unsupported, f"the model has the size {' '.join(shape)}, which does not follow from the shapes of its inputs")
        if self._take("as"):
            self._take("gone")
            self._next()
        return elem, tuple(map(int, shape))

    def _value(self):
        """An attribute: numbers, words, lists of them."""
        if self._take("["):
            return self._list(self._value, "]")
        text = self._next()
        return f"-{self._next()}" if text == "-" else text

    def _attribute(self):
        name = self._next()
        self._take("=")
        return name, self._value()

    def _node(self):
        names, callee = [], None
        while self._is_name():
            names.append(_unquoted(self._next()))
            self._take(",")
        self._take("=")
        op = self._next()
        if self._tokens[self._at][0] == "@" or op == "const":
            callee = self._value()
        operands = []
        while self._is_name() or self._is("_"):
            operands.append(_unquoted(self._next()))
            if not self._take(","):
                break
        attributes = dict(self._list(self._attribute, "}")) if self._take("{") else {}
        regions = []
        while self._is("("):
            parameters = self._parameters()
            self._take("{")
            regions.append(_Region(parameters, self._list(self._node, "}")))
        kinds = []
        if self._take(":"):
            kinds.append(self._type())
            while self._take(","):
                kinds.append(self._type())
        if self._is("loc"):
            while not self._take(")"):
                self._at += 1
        return _Node(op, callee and _unquoted(callee), operands, attributes, regions, list(zip(names, kinds)))

    def _is_name(self):
        return self._tokens[self._at][0] == "%"


def _split(text):
    """(lines of constants, the functions' text)"""
    lines = text.split("\n")
    first = next(k for k, line in enumerate(lines) if line.startswith(("graph ", "data ")))
    return [line for line in lines[:first] if line.startswith("constant ")], "\n".join(lines[first:])


def _constant(line):
    """(name, array) of a line `constant @name : type = data`."""
    head, _, data = line.partition(" = ")
    name, _, kind = head[len("constant "):].rpartition(" : ")
    elem, shape = re.match(r"(\w+)\[(.*)\]", kind).groups()
    shape = tuple(map(int, filter(None, shape.split(","))))
    numpy_type = types.dtype(elem) if elem in elements.RANK else None
    if numpy_type is None:
        return _unquoted(name)[1:], None
    if data.startswith("hex"):
        made = np.frombuffer(bytes.fromhex(data[5:-1]), np.uint8).view(numpy_type)
    else:
        digits = data[1:-1].split(",") if data != "[]" else []
        bits = [int(d, 16) if "0x" in d else None for d in digits]
        made = np.array([0 if b is not None else float(d) if elements.is_float(elem) else int(d) for b, d in zip(bits, digits)], numpy_type)
        for k, b in enumerate(bits):
            if b is not None:
                made.view(f"u{made.itemsize}")[k] = b
    return _unquoted(name)[1:], made.reshape(shape)


# ---- models ----


def _constants(model):
    """The constants of a model by name, some of which only certain shapes have."""
    return model.__dict__.setdefault("_traced_constants", {})


def _printed(model, shapes, contents):
    try:
        with model._lock:
            return _split(raised(model._core.print, shapes, contents, True).decode())
    except WickError as error:
        fail(type(error), str(error))


def _graph(model, inputs, known):
    """The functions of a model by name, for the shapes of these inputs; `known` are arrays of those whose contents are known."""
    kept = model.__dict__.setdefault("_traced_graphs", collections.OrderedDict())
    shapes = {p.name: x.shape for p, x in zip(model.inputs, inputs)}
    contents = {p.name: types.memory(p.elem, known[p.name]) for p in model.inputs if p.name in known}
    key = tuple(sorted(shapes.items())), tuple([(name, x.tobytes()) for name, x in known.items()])
    if key not in kept:
        lines, text = _printed(model, shapes, contents)
        for name, array in map(_constant, lines):
            _constants(model).setdefault(name, array)
        kept[key] = _Reader(text).functions
        while len(kept) > GRAPHS:
            kept.popitem(last=False)
    return kept[key]


def parameters(model):
    """The weights of a model: its constants of floats with at least one dimension, by name."""
    if not _constants(model):
        _constants(model).update(map(_constant, _printed(model, {}, {})[0]))
    return {n: c for n, c in _constants(model).items() if c is not None and c.ndim and elements.is_float(elements.of_dtype(c.dtype))}


def call(model, args, named, given=None):
    """The outputs of a model as traced arrays; `given` are arrays for constants, by name."""
    inputs, known = _inputs(model, args, named)
    _check_outputs(model)
    functions = _graph(model, inputs, known)
    weights = dict(_constants(model))
    wrong = sorted(set(given or ()) - set(weights))
    if wrong:
        fail(InvalidArgument, unknown("parameter", wrong, list(weights)))
    for name, x in (given or {}).items():
        x, kept = ops.array(x), weights[name]
        if x.shape != kept.shape:
            fail(TypeMismatch, f"the parameter \"{name}\" has the shape {kept.shape}, {x.shape} is given")
        weights[name] = ops.as_elem(x, elements.of_dtype(kept.dtype))
    out = _Run(model, functions, weights).function("@main", inputs)
    return out[0] if len(out) == 1 else tuple(out)


def _check_outputs(model):
    sized = sorted({p.name for p in model.outputs} ^ {p[0] for p in model._core.outputs})
    if sized or any([getattr(p, "type", "") for p in model.outputs]):
        fail(Unsupported, f"the model has outputs whose sizes only the run knows, or that are no tensors: {', '.join(p.name for p in model.outputs)}")


#: Inputs of that many numbers, as axes and sizes are, are taken as known if the program gives them as such.
_KNOWN = 64


def _inputs(model, args, named):
    """The inputs as traced arrays, and by name those whose contents are known."""
    names = [p.name for p in model.inputs]
    wrong = sorted(set(named) - set(names))
    if wrong:
        fail(InvalidArgument, unknown("input", wrong, names))
    given = dict(zip(names, args))
    if len(args) > len(names) or set(given) & set(named) or len(given) + len(named) != len(names):
        by_name = f", and {', '.join(sorted(named))} by name" if named else ""
        fail(InvalidArgument, f"the inputs are {', '.join(names)}; {len(args)} are given by order{by_name}")
    given.update(named)
    out, known = [], {}
    for p in model.inputs:
        if getattr(p, "type", None) or p.elem not in elements.RANK:
            fail(Unsupported, f"the input \"{p.name}\" is {getattr(p, 'type', None) or p.elem}: traced functions take tensors of numbers")
        x = given[p.name]
        if isinstance(x, (int, float, list, tuple, np.ndarray, np.generic)) and np.size(x) <= _KNOWN:
            x = known[p.name] = np.asarray(x, types.dtype(p.elem), order="C")
        x = ops.as_elem(x, p.elem) if ops.is_number(x) else ops.array(x)
        fits = p.shape is None or (len(p.shape) == x.ndim and all([d < 0 or d == n for d, n in zip(p.shape, x.shape)]))
        if x.elem != p.elem or not fits:
            want = "any shape" if p.shape is None else [d if d >= 0 else s or "?" for d, s in zip(p.shape, p.symbols)]
            fail(TypeMismatch, f"the input \"{p.name}\" is {type_text(p.elem, want) if p.shape else p.elem}, {type_text(x.elem, x.shape)} is given")
        out.append(x)
    return out, known


class _Run:
    """Records the nodes of a model's functions."""

    def __init__(self, model, functions, weights):
        self._model, self._functions, self._weights = model, functions, weights

    def function(self, name, operands):
        f = self._functions[name]
        return self._region(f, dict(zip(f.parameters, operands)), {})

    def _region(self, region, own, around):
        """The results of a region, whose values are visible in those inside of it."""
        values = {**around, **own}
        for node in region.nodes[:-1]:
            made = self._node(node, values)
            values.update({name: v for (name, _), v in zip(node.results, made)})
        return [values[o] for o in region.nodes[-1].operands]

    def _node(self, node, values):
        special = getattr(self, f"_{node.op}", None)
        return (special or self._plain)(node, values)

    def _plain(self, node, values):
        operands = list(node.operands)
        while operands and operands[-1] == "_":
            operands.pop()
        if "_" in operands or node.regions or node.callee:
            fail(Unsupported, f"the model's operator `{node.op}` is not supported in this form in a traced function")
        given = [name_of(values[o]) for o in operands] + [f"{k} = {_attribute(v)}" for k, v in node.attributes.items()]
        text, kinds = f"op.{node.op}({', '.join(given)})", [k for _, k in node.results]
        for elem, _ in kinds:
            if elem not in elements.RANK:
                fail(Unsupported, f"the model's operator `{node.op}` gives elements of the type {elem}, which traced functions have none of")
        if len(kinds) > 1:
            return emit_all(text, kinds)
        return [ops.typed(f"{text}.0" if node.op in _TUPLES else text, *kinds[0])]

    def _resize(self, node, values):
        """Its factors are floats, which attributes of programs cannot list, but they are mostly the ratios of the sizes."""
        x, (_, (_, shape)) = values[node.operands[0]], node.results[0]
        left = dict(node.attributes)
        if [float(s) for s in left.pop("scale", ())] not in ([], [n / m for n, m in zip(shape, x.shape)]) or "roi" in left:
            fail(Unsupported, "the model resizes by factors that are not the ratios of the sizes, or a part of an image")
        return self._plain(node._replace(attributes=left), values)

    def _clip(self, node, values):
        """One of its bounds may be missing."""
        x, low, *high = node.operands
        if low != "_":
            return self._plain(node, values)
        return [ops.same("min", values[x], values[high[0]])] if high else [values[x]]

    def _const(self, node, values):
        (_, (elem, shape)), = node.results
        if not node.callee.startswith("@"):
            value = float(node.callee) if elements.is_float(elem) else int({"true": 1, "false": 0}.get(node.callee, node.callee))
            return [ops.full(shape, value, elem)]
        weight = self._weights[node.callee[1:]]
        if weight is None:
            fail(Unsupported, f"the model's constant {node.callee[1:]} has elements of the type {elem}, which traced functions have none of")
        return [weight if isinstance(weight, Traced) else ops.array(weight)]

    def _cast(self, node, values):
        return [ops.as_elem(values[node.operands[0]], node.results[0][1][0])]

    def _call(self, node, values):
        return self.function(node.callee, [values[o] for o in node.operands])

    def _if(self, node, values):
        arms = [lambda r=r: tuple(self._region(r, {}, values)) for r in node.regions]
        return list(control.cond(values[node.operands[0]], *arms))

    def _loop(self, node, values):
        """Carried values and rows of stacked ones; the region gives whether it goes on, then both."""
        stacked = int(node.attributes.get("stacked", 0))
        count, *start = [values[o] for o in node.operands]
        region, n = node.regions[0], len(start)
        step = lambda i, carried: self._region(region, dict(zip(region.parameters, [i, *carried])), values)
        if not stacked:
            def body(state):
                i, _, carried = state
                go, *new = step(i, carried)
                return i + 1, go, tuple(new)

            first = ops.number(0, "i64"), ops.number(True, "bool"), tuple(start)
            return list(control.while_loop(lambda s: ops.binary("and", s[1], ops.binary("lt", s[0], count, "bool")), body, first)[2])
        rows = [k[1][0] for _, k in node.results[n:]]
        if len(set(rows)) != 1 or self._ends(region):
            fail(Unsupported, "the model has a loop that may end early and stacks results: their number is known to the run only")

        def row(carried, i):
            _, *new = step(i, carried)
            return tuple(new[:n]), tuple(new[n:])

        last, all_rows = control.scan(row, tuple(start), ops.iota(rows[0]))
        return [*last, *all_rows]

    def _ends(self, region):
        """Whether a loop's region may end it: its first result is not the constant true."""
        go = region.nodes[-1].operands[0]
        made = next((n for n in region.nodes if any(name == go for name, _ in n.results)), None)
        return not (made and made.op == "const" and made.callee in ("1", "true"))


def _attribute(value):
    if isinstance(value, list):
        return f"({', '.join(map(_attribute, value))}{',' if len(value) == 1 else ''})"
    if value in ("true", "false"):
        return value
    if value.endswith('"'):
        return value
    try:
        number = float(value)
    except ValueError:
        return f'"{value}"'
    if not math.isfinite(number):
        fail(Unsupported, f"the model has an attribute that is {value}, which a program cannot write")
    return value
