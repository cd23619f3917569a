"""vmap, and the operations across its rows: psum, all_gather, axis_index and their like.

The function of a row is recorded as one function of the program. An operation across rows cuts it in two: the first part is
applied to all rows, and gives everything that may still be used; the operation follows, on all rows; the rest is a second
function, whose parameters have the names that the values had in the first."""
import contextlib
import re
import weakref

import numpy as np

from wick.errors import InvalidArgument, Unsupported
from wick.trace import nest, ops, scope as scopes, tree
from wick.trace.scope import Scope, emit_all, fail, name_of, sizes, type_of

_NAME = re.compile(r"[a-z]+\d+")


class Rows:
    """One vmap that is being recorded."""

    def __init__(self, name, count, rows, avals):
        """rows: (array of the outer scope, has it rows?) of each parameter; avals: the parameters' types."""
        self.name, self.count, self.outer = name, count, scopes.current()
        self.scope = Scope(self.outer.root, self.outer)
        self.scope.rows, self.scope.defined = self, weakref.WeakValueDictionary()
        self.parameters = nest.parameters(self.scope, avals)
        self.values = {p.name: (p, *r) for p, r in zip(self.parameters, rows)}  # name: (in the function, outside, has it rows?)
        self._at = None

    def index(self):
        """The position of the row."""
        if self._at is None:
            with self._outside():
                at = ops.iota(self.count)
            self._at = self._parameter(at, True)
        return self._at

    def _parameter(self, outside, has_rows):
        inside = nest.parameters(self.scope, [(outside.elem, outside.shape[1:] if has_rows else outside.shape, False)])[0]
        self.values[inside.name] = inside, outside, has_rows
        return inside

    @contextlib.contextmanager
    def _outside(self):
        scopes._state.scope = self.outer
        try:
            yield
        finally:
            scopes._state.scope = self.scope

    def across(self, x, operation, has_rows):
        """operation(x of all rows); `has_rows`: does it give a row for each?"""
        self._cut([v for n, v in self.scope.defined.items() if n not in self.values and v.scope is self.scope])
        own = self.values.get(x.name)
        with self._outside():
            whole = own[1] if own else ops.array(x)
            if own is None or not own[2]:
                whole = ops.broadcast_to(ops.reshape(whole, (1,) + whole.shape), (self.count,) + whole.shape)
            made = operation(whole)
        return self._parameter(made, has_rows)

    def _cut(self, results):
        """Ends the function here: `results` are computed for all rows."""
        if results:
            with self._outside():
                made = self._applied(results)
            for x, whole in zip(results, made):
                self.values[x.name] = x, whole, True
        self.scope.lines, self.scope.places = [], []

    def _applied(self, results):
        """Records the function that gives the results, and its application to all rows."""
        with self._inside():
            last = nest.result_text(results)
        used = set(_NAME.findall(last)).union(*[_NAME.findall(line) for line in self.scope.lines])
        given = [v for n, v in self.values.items() if n in used]
        if not any([has_rows for _, _, has_rows in given]):
            self._at = None
            with self._inside():
                self.index()
            given.append(self.values[self._at.name])
        name = self.outer.root.fresh("f")
        head = ", ".join([f"{inside.name}: {type_of(inside)}" for inside, _, _ in given])
        self.outer.nest(f"let {name} = fn({head}) -> {nest.result_type(results)} {{", self.scope, last + " }")
        text = f"vmap({name}, axes = {sizes([0 if has_rows else -1 for _, _, has_rows in given])})"
        types = [(x.elem, (self.count,) + x.shape) for x in results]
        return emit_all(nest.call_text(text, [outside for _, outside, _ in given]), types)

    @contextlib.contextmanager
    def _inside(self):
        scopes._state.scope = self.scope
        try:
            yield
        finally:
            scopes._state.scope = self.outer

    def finish(self, call):
        """(the results of all rows, their structure) of call(parameters)."""
        with scopes.recording(self.scope):
            leaves, structure = tree.flatten(call(self.parameters))
            leaves = [ops.array(x) for x in leaves]
            if not leaves:
                return [], structure
            for x in leaves:
                name_of(x)
        self.scope.open = True
        made = self._applied(leaves)
        self.scope.open = False
        return made, structure


def _axis(what, name):
    """The vmap of this name, and those inside of it that are being recorded, from the outermost to the innermost."""
    found, scope = [], scopes.current()
    while scope is not None:
        rows = getattr(scope, "rows", None)
        if rows is None:
            if _known(scope, name):
                fail(Unsupported, f"{what} over the axis {name!r} inside of a loop, a branch or a derivative is not supported: "
                                  "call it in the function that vmap is given")
            break
        found.append(rows)
        if rows.name == name:
            return found[::-1]
        scope = scope.parent
    fail(InvalidArgument, f"{what}: there is no axis {name!r}: give vmap(f, axis_name={name!r})")


def _known(scope, name):
    while scope is not None:
        if getattr(scope, "rows", None) is not None and scope.rows.name == name:
            return True
        scope = scope.parent
    return False


def _across(levels, x, operation, has_rows):
    """The operation over the rows of the outermost level, on x of the innermost one."""
    if len(levels) == 1:
        return levels[0].across(x, operation, has_rows)
    inner = lambda whole: _across(levels[:-1], whole, operation, has_rows)
    return levels[-1].across(x, inner, True)


def _names(axis_name):
    return axis_name if isinstance(axis_name, (tuple, list)) else (axis_name,)


def _reduction(name, doc, reduce):
    def reduced(x, axis_name, *, axis_index_groups=None):
        if axis_index_groups is not None:
            fail(Unsupported, f"{name}: axis_index_groups are not supported")

        def one(leaf, axis):
            levels = _axis(name, axis)
            if ops.is_number(leaf):
                n = levels[0].count
                return leaf * n if name == "psum" else leaf
            return _across(levels, ops.array(leaf), reduce, False)

        for axis in _names(axis_name):
            x = tree.map(lambda leaf: one(leaf, axis), x)
        return x
    reduced.__name__, reduced.__doc__ = name, doc
    return reduced


def _reduced(op):
    return lambda x: ops.reduce(op, ops.floating(x) if op == "mean" else x, 0)


psum = _reduction("psum", "The sum over the rows of a vmap with this axis_name.", _reduced("sum"))
pmean = _reduction("pmean", "The mean over the rows of a vmap with this axis_name.", _reduced("mean"))
pmax = _reduction("pmax", "The largest over the rows of a vmap with this axis_name.", _reduced("max"))
pmin = _reduction("pmin", "The least over the rows of a vmap with this axis_name.", _reduced("min"))


def axis_index(axis_name):
    """The position of the row in the vmap with this axis_name."""
    levels = [rows for name in _names(axis_name) for rows in _axis_of_any("axis_index", name)]
    at = levels[0].index()
    for rows in levels[1:]:
        at = at * rows.count + rows.index()
    return at


def _axis_of_any(what, name):
    """The vmap of this name, at any depth of loops and derivatives."""
    scope = scopes.current()
    while scope is not None:
        if getattr(scope, "rows", None) is not None and scope.rows.name == name:
            return [scope.rows]
        scope = scope.parent
    fail(InvalidArgument, f"{what}: there is no axis {name!r}: give vmap(f, axis_name={name!r})")


def axis_size(axis_name):
    """The number of rows of the vmap with this axis_name."""
    made = 1
    for name in _names(axis_name):
        made *= _axis_of_any("axis_size", name)[0].count
    return made


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False):
    """The values of all rows, stacked along `axis`, or with `tiled` one after another."""
    levels = _axis("all_gather", axis_name)

    def one(leaf):
        leaf = ops.array(leaf)
        made = _across(levels, leaf, lambda whole: whole, False)
        at = ops.axis_of("all_gather", axis, leaf.ndim + (not tiled))
        made = ops.move(made, 0, at)
        shape = leaf.shape
        return ops.reshape(made, shape[:at] + (levels[0].count * shape[at],) + shape[at + 1:]) if tiled else made

    return tree.map(one, x)


def ppermute(x, axis_name, perm):
    """The values of other rows: each pair of `perm` is (from, to); rows that get none are 0."""
    levels = _axis("ppermute", axis_name)
    source = np.full(levels[0].count, -1)
    for a, b in perm:
        source[b] = a

    def moved(whole):
        out = ops.gather(whole, ops.array(np.maximum(source, 0)), 0)
        if (source >= 0).all():
            return out
        there = ops.reshape(ops.array(source >= 0), (whole.shape[0],) + (1,) * (whole.ndim - 1))
        return ops.where(there, out, 0)

    return tree.map(lambda leaf: _across(levels, ops.array(leaf), moved, True), x)


def pshuffle(x, axis_name, perm):
    """ppermute, where row k gets the value of row perm[k]."""
    return ppermute(x, axis_name, [(a, b) for b, a in enumerate(perm)])


def all_to_all(x, axis_name, split_axis, concat_axis, *, axis_index_groups=None, tiled=False):
    """Row k gets the k-th part along `split_axis` of all rows, stacked along `concat_axis`."""
    if tiled:
        fail(Unsupported, "all_to_all with tiled is not supported")
    levels = _axis("all_to_all", axis_name)

    def one(leaf):
        leaf = ops.array(leaf)
        if leaf.shape[split_axis] != levels[0].count:
            fail(InvalidArgument, f"all_to_all: the dimension {split_axis} of {leaf.shape} is not the number of rows, {levels[0].count}")
        made = _across(levels, leaf, lambda whole: ops.move(whole, split_axis + 1, 0), True)  # [row k, from row, rest]
        return ops.move(made, 0, concat_axis)

    return tree.map(one, x)
