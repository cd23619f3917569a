"""Functions inside of a trace: a Python function of arrays becomes a function value of the program."""
import copy
import itertools

from wick.trace import ops, scope as scopes, tree
from wick.trace.scope import name_of, type_of

#: So many functions of the package are kept.
HOISTED = 1024


def tuple_text(parts):
    """One by itself, else a tuple."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def result_text(leaves):
    """The value of a function with these results."""
    return tuple_text([name_of(x) for x in leaves])


def result_type(leaves):
    return tuple_text([type_of(x) for x in leaves])


def parameters(scope, avals):
    """Arrays of (element type, shape, weak) for the parameters of a function whose scope this is."""
    from wick.trace.array import Array
    return [Array(scope, scope.root.fresh("p"), elem, shape, weak) for elem, shape, weak in avals]


def aval(x):
    return x.elem, x.shape, x.weak


class Nested:
    """A function value: its name, its results, and the structure that they had in Python."""

    def __init__(self, call, avals, closed=False, differentiated=False):
        """Records call(parameters) -> a structure of arrays. If it is closed, what it uses of outer scopes are further
        parameters: `captured`, arrays by name. If it is differentiated, so may be what its scope holds."""
        outer = scopes.current()
        self.name, self.captured = outer.root.fresh("f"), {}
        outer.root.closed += closed
        with scopes.nested() as inner:
            inner.captured, inner.differentiated = self.captured if closed else None, differentiated
            made = parameters(inner, avals)
            leaves, self.structure = tree.flatten(call(made))
            leaves = [ops.array(x) for x in leaves]
            last = result_text(leaves)
            self.results = [aval(x) for x in leaves]
            self.head = ", ".join([f"{p.name}: {type_of(p)}" for p in made + list(self.captured.values())])
            self.given = ", ".join([p.name for p in made])
            first = f"let {self.name} = fn({self.head}) -> {result_type(leaves)} {{"
        outer.root.closed -= closed
        outer.nest(first, inner, last + " }")

    def types(self):
        return [(elem, shape) for elem, shape, _ in self.results]

    def leading(self, count):
        """The function that gives the first of several results alone."""
        scope, made = scopes.current(), copy.copy(self)
        made.name, made.results = scope.root.fresh("f"), self.results[:count]
        names = [scope.root.fresh() for _ in made.results]
        pattern = ", ".join(names + ["_"] * (len(self.results) - count))
        scope.add(f"let {made.name} = fn({self.head}) {{\nlet ({pattern}) = {self.name}({self.given})\n{tuple_text(names)} }}")
        return made


#: By what makes them, functions that refer to nothing in a trace: (their text, those that they call, the name, results, structure).
_hoisted = {}
_numbers = itertools.count(1)


def hoisted(key, call, avals):
    """(name, results, structure) of a function of the program by itself, which is recorded once for each key: call(*parameters) -> a
    structure of arrays. It refers to nothing else in the trace."""
    if key not in _hoisted:
        _hoisted[key] = _record(f"own{next(_numbers)}", call, avals)
        while len(_hoisted) > HOISTED:
            del _hoisted[next(iter(_hoisted))]
    made, root = _hoisted[key], scopes.current().root
    for text in [*made[1], made[0]]:
        if text not in root.items:
            root.items.append(text)
    return made[2:]


def _record(name, call, avals):
    root = scopes.Root(name)
    with scopes.recording(scopes.Scope(root)) as inner:
        made = parameters(inner, avals)
        leaves, structure = tree.flatten(call(*made))
        leaves = [ops.array(x) for x in leaves]
        last = result_text(leaves)
    assert not root.constants
    head = ", ".join([f"{p.name}: {type_of(p)}" for p in made])
    text = "\n".join([f"fn {name}({head}) -> {result_type(leaves)} {{", *inner.lines, last, "}"])
    return text, root.items, name, [aval(x)[:2] for x in leaves], structure


def call_text(function, arguments):
    return f"{function}({', '.join([name_of(a) for a in arguments])})"
