"""Branches and loops on traced values: wick.cond, switch, while_loop, fori, scan and what is made of them."""
import numpy as np

from wick.errors import InvalidArgument, TypeMismatch
from wick.trace import elements, nest, ops, scope as scopes, tree
from wick.trace.function import Function
from wick.trace.nest import result_text
from wick.trace.scope import Traced, emit, fail, name_of, type_of


def _outside(f):
    """A call outside of a trace compiles it: functions are static, all else is traced."""
    import functools

    @functools.wraps(f)
    def called(*args, **named):
        if scopes.current() is not None:
            return f(*args, **named)
        leaves, structure = tree.flatten((args, named))
        fixed = [callable(x) or isinstance(x, str) or x is None for x in leaves]
        at = len(leaves)
        for name in sorted(named, reverse=True):  # the leaves of `named` are last, by name
            count = tree.structure(named[name]).count
            at -= count
            fixed[at:at + count] = [True] * count if name in _STATIC_NAMES else fixed[at:at + count]
        if f.__name__ in _STATIC:
            fixed = [b or (isinstance(x, int) and not isinstance(x, bool) and (f.__name__ == "scan" or k in _STATIC[f.__name__]))
                     for k, (b, x) in enumerate(zip(fixed, leaves))]

        def run(*arrays):
            given = iter(arrays)
            a, n = structure.build(iter([x if b else next(given) for x, b in zip(leaves, fixed)]))
            return f(*a, **n)

        run.__name__ = f.__name__
        return Function(run)(*[x for x, b in zip(leaves, fixed) if not b])

    return called


#: Arrays that NumPy makes are of f64 where those of wick.numpy are of f32, and whole numbers are of i64 where JAX's are of i32:
#: a program may mix them.
_WIDENED = (("f32", "f64"), ("i32", "i64"))
_STATIC_NAMES = frozenset(("axis", "length", "reverse", "unroll", "batch_size", "_split_transpose"))
_STATIC = {"fori": (0, 1), "fori_loop": (0, 1), "scan": (), "map": (), "associative_scan": ()}


def _arms(what, calls):
    """Records functions without parameters as blocks whose results have common types: [(scope, leaves)], structure."""
    arms, structure = [], None
    for f in calls:
        with scopes.nested() as inner:
            leaves, s = tree.flatten(f())
            arms.append((inner, [ops.array(x) for x in leaves]))
        if structure is not None and s != structure:
            fail(TypeMismatch, f"{what}: the structures of the results differ: {structure} and {s}")
        structure = s
    for k, (inner, leaves) in enumerate(arms):
        for i, (x, first) in enumerate(zip(leaves, arms[0][1])):
            if x.shape != first.shape:
                fail(TypeMismatch, f"{what}: the results of the branches have different types: {type_of(first)} and {type_of(x)}")
    return arms, structure


def _unified(what, arms):
    """The arms with results of common types."""
    kinds, weaknesses = [], []
    for column in zip(*[leaves for _, leaves in arms]):
        elem, weak = column[0].elem, column[0].weak
        for x in column[1:]:
            made = elements.promote(elem, weak, x.elem, x.weak)
            mixed = tuple(sorted((elem, x.elem))) in _WIDENED
            if made is None or not mixed and ((made[0] != elem and not weak) or (made[0] != x.elem and not x.weak)):
                fail(TypeMismatch, f"{what}: the results of the branches have different types: {type_of(column[0])} and {type_of(x)}")
            elem, weak = made
        kinds.append(elem)
        weaknesses.append(weak)
    for inner, leaves in arms:
        inner.open = True
        with scopes.recording(inner):
            leaves[:] = [ops.as_elem(x, e) for x, e in zip(leaves, kinds)]
            inner.add(result_text(leaves) if leaves else "()")
    return [(e, x.shape, w) for e, x, w in zip(kinds, arms[0][1], weaknesses)]


def _pattern(results):
    root = scopes.current().root
    names = [root.fresh() for _ in results]
    return names, names[0] if len(names) == 1 else f"({', '.join(names)})"


def _made(names, results):
    from wick.trace.array import Array
    return [Array(scopes.current(), n, *r) for n, r in zip(names, results)]


def _chain(what, conditions, calls):
    """if c0 { } else if c1 { } ... else { }"""
    arms, structure = _arms(what, calls)
    results = _unified(what, arms)
    if not results:
        return structure.build(iter(()))
    outer = scopes.current()
    names, pattern = _pattern(results)
    place = scopes.user_place()
    for k, (inner, _) in enumerate(arms):
        head = f"let {pattern} = if {name_of(conditions[0])} {{" if k == 0 else "} else {" if k == len(arms) - 1 else f"}} else if {name_of(conditions[k])} {{"
        outer.lines += [head] + inner.lines
        outer.places += [place] + inner.places
    outer.add("}")
    return structure.build(iter(_made(names, results)))


def _condition(what, c):
    if not isinstance(c, Traced):
        return c
    if c.shape != ():
        fail(TypeMismatch, f"{what}: the condition has the shape {c.shape}, expected (): use any, all, or wick.numpy.where")
    return c if c.elem == "bool" else ops.binary("ne", c, 0, "bool")


@_outside
def cond(pred, true_fun, false_fun, *operands, operand=None):
    """true_fun(*operands) if pred is true, else false_fun(*operands)."""
    if operand is not None and not operands:
        operands = (operand,)
    c = _condition("cond", pred)
    if not isinstance(c, Traced):
        return (true_fun if c else false_fun)(*operands)
    return _chain("cond", [c], [lambda: true_fun(*operands), lambda: false_fun(*operands)])


@_outside
def switch(index, branches, *operands, operand=None):
    """branches[index](*operands); an index outside is clamped."""
    if operand is not None and not operands:
        operands = (operand,)
    branches = list(branches)
    if not branches:
        fail(InvalidArgument, "switch: there are no branches")
    if not isinstance(index, Traced):
        return branches[min(max(ops.whole("switch", index), 0), len(branches) - 1)](*operands)
    if index.shape != () or not elements.is_whole(index.elem):
        fail(TypeMismatch, f"switch: the index is {type_of(index)}, expected a whole number of shape ()")
    if len(branches) == 1:
        return branches[0](*operands)
    conditions = [ops.binary("le", index, k, "bool") for k in range(len(branches) - 1)]
    return _chain("switch", conditions, [lambda f=f: f(*operands) for f in branches])


# ---- loops ----


class _Loop:
    """Carried values: their structure, their types, and the names that they have inside of the loop."""

    def __init__(self, what, start):
        leaves, self.structure = tree.flatten(start)
        self.what, self.leaves = what, [ops.array(x) for x in leaves]

    def body(self, call, more=lambda: []):
        """Records call(carried) -> carried; converts what is carried to the types that the body gives. `more` gives
        further carried values, (parameter, next value) of each. Returns the scope, whose last line is the next values, and
        the names of the parameters."""
        for _ in range(4):
            inner, names, out = self._record(call)
            wider = self._wider(out)
            if wider is None:
                break
            self.leaves = [ops.as_elem(x, e) for x, e in zip(self.leaves, wider)]
        self.weak = [x.weak and s.weak for x, s in zip(out, self.leaves)]
        inner.open = True
        with scopes.recording(inner):
            out = [ops.as_elem(x, s.elem) for x, s in zip(out, self.leaves)]
            added = more()
            out += [value for _, value in added]
            inner.add(result_text(out) if out else "()")
        return inner, names + [parameter for parameter, _ in added]

    def _record(self, call):
        with scopes.nested() as inner:
            names = nest.parameters(inner, [(x.elem, x.shape, x.weak) for x in self.leaves])
            out, structure = tree.flatten(call(self.structure.build(iter(names))))
            out = [ops.array(x) for x in out]
        if structure != self.structure:
            fail(TypeMismatch, f"{self.what}: the body gives the structure {structure}, it is given {self.structure}")
        return inner, names, out

    def _wider(self, out):
        """The types of what is carried if weak ones have to change, or numbers of 32 bits meet those of 64; else None."""
        kinds = []
        for x, start in zip(out, self.leaves):
            made = elements.promote(x.elem, x.weak, start.elem, start.weak)
            if x.shape != start.shape or made is None or (made[0] != start.elem and not start.weak and (start.elem, x.elem) not in _WIDENED):
                fail(TypeMismatch, f"{self.what}: a carried value is {type_of(start)} before the body and {type_of(x)} after it")
            kinds.append(made[0])
        return kinds if kinds != [x.elem for x in self.leaves] else None

    @property
    def results(self):
        return [(x.elem, x.shape, k < len(self.weak) and self.weak[k]) for k, x in enumerate(self.leaves)]

    @property
    def first(self):
        return result_text(self.leaves) if self.leaves else "()"

    def carried(self, names):
        return names[0].name if len(names) == 1 else f"({', '.join([n.name for n in names])})"

    def finish(self, head, inner):
        outer = scopes.current()
        names, pattern = _pattern(self.results)
        outer.nest(f"let {pattern} = {head} {{" if names else f"{head} {{", inner, "}")
        made = _made(names, self.results)
        self.rest = made[self.structure.count:]  # what the body has beside the structure
        return self.structure.build(iter(made))


@_outside
def while_loop(cond_fun, body_fun, init_val):
    """Applies body_fun while cond_fun(value) is true; gives the last value."""
    loop = _Loop("while_loop", init_val)
    inner, names = loop.body(body_fun)
    outer = scopes.current()
    test = outer.root.fresh("c")
    with scopes.nested() as check:
        params = nest.parameters(check, [(x.elem, x.shape, False) for x in loop.leaves])
        c = cond_fun(loop.structure.build(iter(params)))
        c = _condition("while_loop", ops.array(c))
        last = name_of(c)
    heads = ", ".join([f"{p.name}: {type_of(p)}" for p in params])
    outer.nest(f"let {test} = fn({heads}) -> bool {{", check, last + " }")
    head = f"while {test}({', '.join([n.name for n in names])}) with {loop.carried(names)} = {loop.first}"
    return loop.finish(head, inner)


def _bound(what, x):
    if isinstance(x, Traced):
        if x.shape != () or not elements.is_whole(x.elem):
            fail(TypeMismatch, f"{what}: a bound is {type_of(x)}, expected a whole number of shape ()")
        return name_of(ops.as_elem(x, "i64"))
    return str(ops.whole(what, x)) if ops.whole(what, x) >= 0 else f"({ops.whole(what, x)})"


@_outside
def fori(lower, upper, body_fun, init_val, *, unroll=None):
    """body_fun(i, value) for i from lower up to upper, without it; gives the last value."""
    a, b = _bound("fori", lower), _bound("fori", upper)
    i = scopes.current().root.fresh("i")
    loop = _Loop("fori", init_val)
    typed = [x for x in (lower, upper) if isinstance(x, Traced) or (isinstance(x, (np.integer, np.ndarray)) and x.dtype != np.int64)]
    kind = elements.of_dtype(typed[0].dtype) if typed else elements.INT

    def step(value):
        from wick.trace.array import Array
        at = Array(scopes.current(), i, "i64", ())
        return body_fun(ops.as_elem(at, kind), value)

    inner, names = loop.body(step)
    return loop.finish(f"for {i} in {a}..{b} with {loop.carried(names)} = {loop.first}", inner)


fori_loop = fori


def _rows(what, xs, length):
    leaves, structure = tree.flatten(xs)
    leaves = [ops.array(x) for x in leaves]
    counts = {x.shape[0] if x.ndim else None for x in leaves} | ({length} if length is not None else set())
    if None in counts or len(counts) != 1:
        found = ", ".join([str(x.shape) for x in leaves])
        fail(InvalidArgument, f"{what}: the arrays have to have the same number of rows; their shapes are {found}"
             + (f", length is {length}" if length is not None else "") if leaves else f"{what}: there is no array: give length=")
    return leaves, structure, counts.pop()


@_outside
def scan(f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False):
    """f(carried, row of xs) -> (carried, row of the result), from the first row to the last; gives the last carried value
    and the rows of the result."""
    from wick.trace.array import Array
    leaves, structure, count = _rows("scan", xs, length)
    if not count:
        return _no_rows(f, init, leaves, structure)
    i = scopes.current().root.fresh("i")
    last = {}  # of the body: its position, and the row that it gives

    def body(value):
        at = Array(scopes.current(), i, "i64", ())
        at = ops.binary("sub", count - 1, at) if reverse else at
        out = f(value, structure.build(iter([ops.dynamic_index(x, at, 0) for x in leaves])))
        if not isinstance(out, tuple) or len(out) != 2:
            fail(TypeMismatch, "scan: the body has to return a pair (carried value, row of the result)")
        row, kept = tree.flatten(out[1])
        last.update(at=at, row=[ops.array(x) for x in row], structure=kept)
        return out[0]

    def stacked():
        scope, out = scopes.current(), []
        for x in last["row"]:
            rows = Array(scope, scope.root.fresh("p"), x.elem, (count,) + x.shape)
            out.append((rows, emit(f"{name_of(rows)} with [{name_of(last['at'])}] = {name_of(x)}", x.elem, rows.shape)))
        return out

    loop = _Loop("scan", init)
    inner, names = loop.body(body, stacked)
    loop.leaves += [ops.full((count,) + x.shape, 0, x.elem) for x in last["row"]]
    value = loop.finish(f"for {i} in 0..{count} with {loop.carried(names)} = {loop.first}", inner)
    return value, last["structure"].build(iter(loop.rest))


def _no_rows(f, init, leaves, structure):
    """The result of a scan without rows; f is recorded once, aside, for the types."""
    loop, last = _Loop("scan", init), {}

    def body(value):
        carried, last["row"] = f(value, structure.build(iter([ops.full(x.shape[1:], 0, x.elem) for x in leaves])))
        return carried

    with scopes.nested():
        loop.body(body)
    rows, kept = tree.flatten(last["row"])
    rows = [ops.array(x) for x in rows]
    return loop.structure.build(iter(loop.leaves)), kept.build(iter([ops.full((0,) + x.shape, 0, x.elem) for x in rows]))


def map(f, xs, *, batch_size=None):
    """f of each row, one after another; wick.vmap is usually faster."""
    return scan(lambda c, x: (c, f(x)), (), xs)[1]


@_outside
def associative_scan(fn, elems, reverse=False, axis=0):
    """The results of fn on the rows up to each one, for an associative fn on whole batches of rows: log2(n) steps."""
    leaves, structure = tree.flatten(elems)
    leaves = [ops.move(ops.array(x), ops.axis_of("associative_scan", axis, ops.array(x).ndim), 0) for x in leaves]
    n = leaves[0].shape[0]
    turn = lambda x: ops.slice_axis(x, 0, n - 1, n, -1) if reverse and n else x
    leaves = [turn(x) for x in leaves]
    step = 1
    while step < n:
        early = structure.build(iter([ops.slice_axis(x, 0, 0, n - step) for x in leaves]))
        late = structure.build(iter([ops.slice_axis(x, 0, step, n - step) for x in leaves]))
        made = [ops.array(x) for x in tree.leaves(fn(early, late))]
        leaves = [ops.concat([ops.slice_axis(x, 0, 0, step), ops.as_elem(m, x.elem)], 0) for x, m in zip(leaves, made)]
        step *= 2
    return structure.build(iter([ops.move(turn(x), 0, ops.axis_of("associative_scan", axis, x.ndim)) for x in leaves]))
