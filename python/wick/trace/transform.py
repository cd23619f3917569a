"""Transformations of functions of arrays: each is the transformation of Wick's language, applied to the traced function.

Outside of a trace the transformed functions compile themselves."""
import functools

import numpy as np

from wick.errors import InvalidArgument, TypeMismatch
from wick.trace import elements, ops, scope as scopes, tree
from wick.trace.axes import Rows
from wick.trace.function import Function
from wick.trace.nest import Nested, aval, call_text
from wick.trace.scope import emit_all, fail, name_of, sizes


class Transformed(Function):
    """A transformed function. Numbers of Python are arguments of the compiled function; where it needs to know whole numbers
    and bools (`range(n)`, `if flag`), it is compiled for each value of them."""

    knows_numbers = False

    def __call__(self, *args, **named):
        if scopes.current() is not None:
            return self.__wrapped__(*args, **named)
        if not self.knows_numbers:
            try:
                return super().__call__(*args, **named)
            except TypeMismatch:
                if not any([type(x) in (int, bool, str) for x in tree.leaves((args, named))]):
                    raise
        from wick.trace.eager import run
        out = run(self.__wrapped__, self.__wrapped__, args, named, True)
        self.knows_numbers = True
        return out


def transformed(make):
    """A transformation whose results run inside of a trace as they are, and compiled outside of one."""

    @functools.wraps(make)
    def transformation(f, *args, **named):
        if not callable(f):
            fail(TypeMismatch, f"wick.{make.__name__}: {f!r} is no function; it takes a function, and gives one: "
                               f"wick.{make.__name__}(f)(x)")
        inner = make(f, *args, **named)
        functools.update_wrapper(inner, f if hasattr(f, "__name__") else make)
        return Transformed(inner)

    return transformation


def _selected(args, argnums):
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for n in numbers:
        if not -len(args) <= n < len(args):
            fail(InvalidArgument, f"argnums: there is no argument {n}, {len(args)} are given")
    return tuple([n % len(args) for n in numbers])


def _partial(f, args, named, numbers):
    """(leaves of the arguments with these numbers, their structures, f of such leaves)"""
    leaves, structure = tree.flatten(tuple([args[n] for n in numbers]))
    leaves = [ops.array(x) for x in leaves]

    def call(arrays):
        chosen, full = structure.build(iter(arrays)), list(args)
        for n, value in zip(numbers, chosen):
            full[n] = value
        return f(*full, **named)

    return leaves, structure, call


def _need_floats(what, leaves):
    for x in leaves:
        if not elements.is_float(x.elem):
            fail(TypeMismatch, f"{what} needs floats, an array of {x.elem} is given: convert it with astype, or leave it out of argnums")


def _strong(x):
    return x.elem, x.shape, False


def _one(x, like):
    return ops.full(like[1], x, like[0])


@transformed
def value_and_grad(f, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """The function that gives f's value and its gradient by the arguments `argnums`; with `has_aux`, f gives a pair,
    whose second item is returned beside the value: ((value, aux), gradient). With `holomorphic` the value is complex; with
    `allow_int` the gradient by what is no float is 0."""
    if holomorphic:
        return _holomorphic(f, argnums, has_aux)

    def value_and_grad_f(*args, **named):
        numbers = _selected(args, argnums)
        given, structure, call = _partial(f, args, named, numbers)
        at = [k for k, x in enumerate(given) if not allow_int or elements.is_float(x.elem)]
        leaves = [given[k] for k in at]
        _need_floats("grad", leaves)
        aux = []

        def loss(arrays):
            made = dict(zip(at, arrays))
            out = call([made.get(k, x) for k, x in enumerate(given)])
            if not has_aux:
                return out
            if not isinstance(out, tuple) or len(out) != 2:
                fail(TypeMismatch, "grad with has_aux: the function has to return a pair (value, aux)")
            rest, kept = tree.flatten(out[1])
            aux.append(kept)
            return [out[0]] + _aside(rest)

        inner = Nested(loss, [_strong(x) for x in leaves], differentiated=True)
        if not inner.results or inner.results[0][1] != () or not elements.is_float(inner.results[0][0]) or (len(inner.results) > 1 and not has_aux):
            found = " and ".join([scopes.type_text(e, s) for e, s, _ in inner.results]) or "nothing"
            fail(TypeMismatch, f"grad needs a function whose value is a float of shape (); it gives {found}")
        first, rest = _apart(inner, leaves, 1)
        value, *more, gradient = _value_and_cotangents(first, leaves)
        rest = more if rest is None else rest
        found = dict(zip(at, gradient))
        gradient = [found[k] if k in found else ops.full(x.shape, 0, x.elem) for k, x in enumerate(given)]
        made = structure.build(iter(tree.conjugated(structure, gradient)))
        made = made[0] if isinstance(argnums, int) else made
        value = inner.structure.build(iter([value])) if not has_aux else (value, aux[0].build(iter(rest)))
        return value, made

    return value_and_grad_f


def _holomorphic(f, argnums, has_aux):
    """The derivative of a holomorphic function is that of its real part."""

    def real(*args, **named):
        out = f(*args, **named)
        value = out[0] if has_aux else out
        return value.real, out

    both = value_and_grad(real, argnums, True)

    def value_and_grad_f(*args, **named):
        (_, out), gradient = both(*args, **named)
        return out, gradient

    return value_and_grad_f


def _aside(rest):
    """What a function that is differentiated gives beside its value, without a derivative where the trace takes no other."""
    return [stop_gradient(x) for x in rest] if scopes.current().parent.is_constant() else rest


def _apart(inner, leaves, count):
    """(the function of the first results, the others). If the trace takes derivatives of the others, they are results of a call of
    their own: this derivative leaves them alone. Otherwise the function is whole, and None stands for the others."""
    if count == len(inner.results) or scopes.current().is_constant():
        return inner, None
    return inner.leading(count), emit_all(call_text(inner.name, leaves), inner.types())[count:]


def _value_and_cotangents(inner, leaves):
    types = inner.types()
    cotangents = [(x.elem, x.shape) for x in leaves]
    if not leaves:
        return [*emit_all(call_text(inner.name, []), types), []]
    if len(types) == 1:
        wrt = "0" if len(leaves) == 1 else sizes(range(len(leaves)))
        scope = scopes.current()
        names = [scope.root.fresh() for _ in range(1 + len(leaves))]
        pattern = names[1] if len(leaves) == 1 else f"({', '.join(names[1:])})"
        scope.add(f"let ({names[0]}, {pattern}) = value_and_grad({inner.name}, wrt = {wrt}){call_text('', leaves)}")
        made = [type(leaves[0])(scope, n, *t) for n, t in zip(names, types + cotangents)]
        return [made[0], made[1:]]
    out, back = _pull(inner, leaves)
    zeros = [_one(1.0, inner.results[0])] + [_one(0, r) for r in inner.results[1:]]
    return [*out, back(zeros)]


def _pull(inner, leaves):
    """vjp of a function: its results, and the function of cotangents."""
    scope = scopes.current()
    types = inner.types()
    names, back = [scope.root.fresh() for _ in types], scope.root.fresh("back")
    pattern = names[0] if len(names) == 1 else f"({', '.join(names)})"
    scope.add(f"let ({pattern}, {back}) = vjp({inner.name}){call_text('', leaves)}")
    out = [type(leaves[0])(scope, n, *t) for n, t in zip(names, types)]

    def pull(cotangents):
        if not scope.open:
            fail(InvalidArgument, "the function that vjp gave is used outside of the function that was traced")
        given = [name_of(c) if elements.is_float(t[0]) else "()" for c, t in zip(cotangents, types)]
        argument = given[0] if len(given) == 1 else f"({', '.join(given)})"
        return emit_all(f"{back}({argument})", [(x.elem, x.shape) for x in leaves])

    return out, pull


@transformed
def grad(f, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """The gradient of f by the arguments `argnums`; with `has_aux`, (gradient, aux). With `holomorphic` the value is complex;
    with `allow_int` the gradient by what is no float is 0."""
    both = value_and_grad(f, argnums, has_aux, holomorphic, allow_int)

    def grad_f(*args, **named):
        value, gradient = both(*args, **named)
        return (gradient, value[1]) if has_aux else gradient

    return grad_f


def _cotangents(what, given, structure, results):
    leaves, s = tree.flatten(given)
    if s != structure:
        fail(TypeMismatch, f"{what}: the structure is {s}, that of the result is {structure}")
    out = []
    for x, (elem, shape, _) in zip(leaves, results):
        x = ops.array(x)
        if x.shape != shape:
            fail(InvalidArgument, f"{what}: an array of the shape {x.shape} is given, the result has the shape {shape}")
        out.append(ops.as_elem(x, elem) if elements.is_float(elem) else x)
    return out


def vjp(f, *primals, has_aux=False):
    """(f(*primals), the function from a cotangent of the result to those of the primals); with `has_aux`, aux is third."""
    if scopes.current() is None:
        return _vjp_outside(f, primals, has_aux)
    leaves, structure, call = _partial(f, primals, {}, tuple(range(len(primals))))
    _need_floats("vjp", leaves)
    aux = []

    def both(arrays):
        out = call(arrays)
        if not has_aux:
            return out
        rest, kept = tree.flatten(out[1])
        aux.append(kept)
        first, s = tree.flatten(out[0])
        aux.append(s)
        return first + _aside(rest)

    inner = Nested(both, [_strong(x) for x in leaves], differentiated=True)
    own = aux[1] if has_aux else inner.structure
    n = own.count
    first, rest = _apart(inner, leaves, n)
    out, pull = _pull(first, leaves)

    def back(cotangent):
        given = tree.conjugated(own, _cotangents("vjp", cotangent, own, first.results[:n]))
        return structure.build(iter(tree.conjugated(structure, pull(given + [_one(0, r) for r in first.results[n:]]))))

    value = own.build(iter(out[:n]))
    return (value, back, aux[0].build(iter(out[n:] if rest is None else rest))) if has_aux else (value, back)


def _vjp_outside(f, primals, has_aux):
    value = Function(f)(*primals)
    aux = value[1] if has_aux else None

    def back(primals, cotangent):
        return vjp((lambda *a: f(*a)[0]) if has_aux else f, *primals)[1](cotangent)

    compiled = Function(back)
    pull = lambda cotangent: compiled(primals, cotangent)
    return (value[0], pull, aux) if has_aux else (value, pull)


def linearize(f, *primals, has_aux=False):
    """(f(*primals), the derivative as a function of tangents); of a function that gives (value, aux) also aux."""
    out = Function(f)(*primals)
    if has_aux:
        return out[0], lambda *tangents: jvp(f, primals, tangents, True)[1], out[1]
    return out, lambda *tangents: jvp(f, primals, tangents)[1]


def linear_transpose(f, *primals):
    """The transposed function of a linear one: from a cotangent of its result to those of arguments like `primals`."""
    zeros = tree.map(lambda x: np.zeros(x.shape, x.dtype), primals)
    return lambda cotangent: vjp(f, *zeros)[1](cotangent)


def _jvp(f, primals, tangents):
    leaves, structure, call = _partial(f, tuple(primals), {}, tuple(range(len(primals))))
    _need_floats("jvp", leaves)
    given = _cotangents("jvp", tuple(tangents), structure, [aval(x) for x in leaves])
    inner = Nested(call, [_strong(x) for x in leaves], differentiated=True)
    types = inner.types()
    scope = scopes.current()
    values, slopes = [scope.root.fresh() for _ in types], [scope.root.fresh() for _ in types]
    pack = lambda names: names[0] if len(names) == 1 else f"({', '.join(names)})"
    patterns = pack(values), pack([n if elements.is_float(t[0]) else "_" for n, t in zip(slopes, types)])
    scope.add(f"let ({patterns[0]}, {patterns[1]}) = jvp({inner.name}){call_text('', leaves + given)}")
    made = [type(leaves[0])(scope, n, *t) for n, t in zip(values, types)]
    tangent = [type(leaves[0])(scope, n, *t) if elements.is_float(t[0]) else _one(0, (*t, False)) for n, t in zip(slopes, types)]
    return inner.structure.build(iter(made)), inner.structure.build(iter(tangent))


def jvp(f, primals, tangents, has_aux=False):
    """(f(*primals), the derivative of f in the direction of the tangents); of a function that gives (value, aux) also aux."""
    if scopes.current() is None:
        return Function(lambda p, t: jvp(f, p, t, has_aux))(tuple(primals), tuple(tangents))
    out, slopes = _jvp(f, primals, tangents)
    if not has_aux:
        return out, slopes
    if not isinstance(out, tuple) or len(out) != 2:
        fail(TypeMismatch, "jvp: with has_aux the function has to return a pair (value, aux)")
    return out[0], slopes[0], out[1]


@transformed
def vmap(f, in_axes=0, out_axes=0, axis_name=None, axis_size=None, spmd_axis_name=None):
    """f of every row of its arguments. `in_axes`: the axis of each argument's rows, None for an argument as it is, or a
    structure of them; `out_axes`: where the rows of the results go. `axis_name` names the rows for psum and its like."""

    def vmap_f(*args, **named):
        leaves, structure = tree.flatten((args, named))
        axes = tree.broadcast_prefix(list(in_axes) if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args),
                                     tree.structure(list(args)), "vmap: in_axes")
        axes += [0] * (len(leaves) - len(axes))
        plain = [a is None and type(x) in (int, bool, float, str) for x, a in zip(leaves, axes)]  # stay as they are
        every, leaves = leaves, [ops.array(x) for x, p in zip(leaves, plain) if not p]
        axes = [a for a, p in zip(axes, plain) if not p]
        rows = [x if a is None else ops.move(x, ops.axis_of("vmap: in_axes", a, x.ndim), 0) for x, a in zip(leaves, axes)]
        counts = {x.shape[0] for x, a in zip(rows, axes) if a is not None} | ({axis_size} if axis_size is not None else set())
        if len(counts) != 1:
            fail(InvalidArgument, "vmap: the arguments have different numbers of rows: " + " and ".join(map(str, sorted(counts)))
                 if counts else "vmap: no argument has rows: every in_axes is None")
        inner = Rows(axis_name, counts.pop(), [(x, a is not None) for x, a in zip(rows, axes)],
                     [(x.elem, x.shape if a is None else x.shape[1:], x.weak) for x, a in zip(rows, axes)])

        def call(arrays):
            given = iter(arrays)
            return _call(f, structure, [x if p else next(given) for x, p in zip(every, plain)])

        out, made = inner.finish(call)
        outs = tree.broadcast_prefix(out_axes, made, "vmap: out_axes")
        out = [ops.dynamic_index(x, ops.number(0, "i64"), 0) if a is None else ops.move(x, 0, ops.axis_of("vmap: out_axes", a, x.ndim))
               for x, a in zip(out, outs)]
        return made.build(iter(out))

    return vmap_f


def _call(f, structure, arrays):
    args, named = structure.build(iter(arrays))
    return f(*args, **named)


@transformed
def checkpoint(f, *, prevent_cse=True, policy=None, concrete=False, static_argnums=(), static_argnames=()):
    """f; its derivative computes it again instead of keeping what it computed on the way. Static arguments are no arrays."""
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = {static_argnames} if isinstance(static_argnames, str) else set(static_argnames)

    def checkpoint_f(*args, **named):
        fixed = {n % len(args) for n in static if -len(args) <= n < len(args)}
        arrays_of = lambda args, named: (tuple([a for n, a in enumerate(args) if n not in fixed]), {k: v for k, v in named.items() if k not in names})
        leaves, structure = tree.flatten(arrays_of(args, named))
        leaves = [ops.array(x) for x in leaves]

        def call(arrays):
            given, by_name = structure.build(iter(arrays))
            given = iter(given)
            return f(*[a if n in fixed else next(given) for n, a in enumerate(args)], **{**named, **by_name})

        inner = Nested(call, [_strong(x) for x in leaves])
        out = emit_all(call_text(f"checkpoint({inner.name})", leaves), inner.types())
        return inner.structure.build(iter(out))

    return checkpoint_f


remat = checkpoint


def stop_gradient(x):
    """x, which counts as constant when a function that contains it is differentiated."""
    if scopes.current() is None:
        return x

    def stop(leaf):
        leaf = ops.array(leaf)
        return ops.unary("stop_gradient", leaf) if elements.is_float(leaf.elem) else leaf

    return tree.map(stop, x)


def _columns(x):
    """The unit vectors of the shape of x, one after another."""
    flat = ops.typed("op.eye()", x.elem, (x.size, x.size))
    return ops.reshape(flat, (x.size,) + x.shape)


def _jacobian(f, argnums, rows):
    """`rows(f, leaves, structure)` -> for each result and leaf a derivative; common to both modes."""

    def jacobian_f(*args, **named):
        numbers = _selected(args, argnums)
        leaves, structure, call = _partial(f, args, named, numbers)
        _need_floats("jacobian", leaves)
        results, table = rows(call, leaves)
        made = [structure.build(iter(row)) for row in table]
        made = [m[0] if isinstance(argnums, int) else m for m in made]
        return results.build(iter(made))

    return jacobian_f


def _with_aux(derivative, f, *how):
    """The derivative of f's value beside its aux, of a function that gives (value, aux)."""
    of_value = derivative(lambda *args, **named: f(*args, **named)[0], *how)
    return lambda *args, **named: (of_value(*args, **named), f(*args, **named)[1])


@transformed
def jacfwd(f, argnums=0, has_aux=False, holomorphic=False):
    """The derivative of each element of f's result by each element of the arguments, in forward mode: result + argument
    dimensions. With `has_aux` f gives (value, aux), and (derivative, aux) is given."""
    if has_aux:
        return _with_aux(jacfwd, f, argnums)

    def rows(call, leaves):
        table, found = [], []
        for k, x in enumerate(leaves):
            def one(direction, k=k):
                def only(*arrays):
                    out, s = tree.flatten(call(list(arrays[:k]) + [arrays[k]] + list(arrays[k + 1:])))
                    found.append(s)
                    return out
                zeros = [direction if i == k else ops.full(y.shape, 0, y.elem) for i, y in enumerate(leaves)]
                return _jvp(only, leaves, zeros)[1]

            # with the rows last: those of the argument
            out = vmap(one)(_columns(x))
            table.append([ops.reshape(ops.transpose(d, tuple(range(1, d.ndim)) + (0,)), d.shape[1:] + x.shape) for d in out])
        return found[0], [list(row) for row in zip(*table)]

    return _jacobian(f, argnums, rows)


@transformed
def jacrev(f, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """The same as jacfwd, in reverse mode."""
    if has_aux:
        return _with_aux(jacrev, f, argnums)

    def rows(call, leaves):
        inner = Nested(call, [_strong(x) for x in leaves], differentiated=True)
        table = []
        for k, (elem, shape, _) in enumerate(inner.results):
            if not elements.is_float(elem):
                fail(TypeMismatch, f"jacrev needs results of floats, one is {elem}")

            def one(cotangent, k=k):  # with a vjp of its own: a function of cotangents that is captured has no derivative
                return _pull(inner, leaves)[1]([cotangent if i == k else _one(0, r) for i, r in enumerate(inner.results)])

            like = type(leaves[0])(None, None, elem, shape)
            out = vmap(one)(_columns(like))
            table.append([ops.reshape(d, shape + x.shape) for d, x in zip(out, leaves)])
        return inner.structure, table

    return _jacobian(f, argnums, rows)


jacobian = jacrev


def hessian(f, argnums=0, has_aux=False, holomorphic=False):
    """The second derivatives of f; of a function that gives (value, aux) also aux."""
    return jacfwd(jacrev(f, argnums, has_aux), argnums, has_aux)
