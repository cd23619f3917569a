"""Functions with derivatives of their own."""
import contextlib
import contextvars
import functools
import inspect

from wick.errors import InvalidArgument, Unsupported
from wick.trace import elements, ops, scope as scopes, tree
from wick.trace.function import Function
from wick.trace.nest import Nested, call_text, hoisted
from wick.trace.scope import emit_all, fail
from wick.trace.transform import _one, _partial, _strong, vjp


class custom_vjp:
    """A function with a derivative of its own: defvjp(fwd, bwd) with fwd(*args) -> (result, kept) and
    bwd(kept, cotangent) -> the cotangents of the arguments."""

    def __init__(self, f, nondiff_argnums=(), nondiff_argnames=()):
        functools.update_wrapper(self, f)
        static = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        names = list(inspect.signature(f).parameters) if nondiff_argnames else ()
        self._f, self._static = f, tuple(sorted({*static, *[names.index(n) for n in nondiff_argnames]}))
        self._forward = self._backward = None
        self._captures = False  # whether traced arrays that it refers to count as constants
        self._depth = 0  # of its derivatives that are being recorded, which may call the function itself

    def defvjp(self, fwd, bwd):
        self._forward, self._backward = fwd, bwd
        return bwd

    @classmethod
    def of_constants(cls, f, fwd, bwd):
        """A function whose derivative by the traced arrays that it refers to is 0."""
        made = cls(f)
        made._captures = True
        made.defvjp(fwd, bwd)
        return made

    def __call__(self, *args, **named):
        args = self._by_place(args, named)
        if scopes.current() is None:
            return self._outside(args)
        if self._depth > 1:
            return self._f(*args)
        if self._forward is None:
            fail(InvalidArgument, f"{type(self).__name__}: {self._f.__name__} has no derivative: call its defvjp or defjvp")
        numbers = tuple([n for n in range(len(args)) if n not in self._static])
        leaves, structure, call = _partial(self._f, args, {}, numbers)
        fixed = [args[n] for n in self._static]
        inner = Nested(call, [_strong(x) for x in leaves], closed=True)

        def backward(arrays):
            with self._deeper(2):
                kept = _partial(self._forward, args, {}, numbers)[2](arrays[:len(leaves)])[1]
            given, taken = iter(arrays[len(leaves):]), []
            for e, s, _ in inner.results:
                taken.append(next(given) if elements.is_float(e) else _one(0, (e, s, False)))
            with self._deeper(1):
                found = self._backward(*fixed, kept, inner.structure.build(iter(tree.conjugated(inner.structure, taken))))
            return self._shaped(found, structure, leaves)

        floats = [r for r in inner.results if elements.is_float(r[0])]
        back = Nested(backward, [_strong(x) for x in leaves] + [(e, s, False) for e, s, _ in floats], closed=True)
        captured = {**inner.captured, **back.captured}
        for x in captured.values():
            if not self._captures and elements.is_float(x.elem) and not x.scope.is_constant():
                fail(Unsupported, f"{type(self).__name__}: {self._f.__name__} refers to a traced {scopes.type_of(x)} outside of it: "
                                  "pass it as an argument")
        text = self._with(inner, back, leaves, list(captured.values()))
        return inner.structure.build(iter(emit_all(call_text(text, leaves + list(captured.values())), inner.types())))

    def _outside(self, args):
        """A call outside of a trace compiles it: functions and what is no argument of the derivative are known."""
        fixed = [k in self._static or any(map(callable, tree.leaves(x))) for k, x in enumerate(args)]

        def call(*arrays):
            given = iter(arrays)
            return self(*[x if known else next(given) for x, known in zip(args, fixed)])

        call.__name__ = getattr(self._f, "__name__", "call")
        return Function(call)(*[x for x, known in zip(args, fixed) if not known])

    def _by_place(self, args, named):
        """All arguments by place, those that are not given by their defaults."""
        try:
            bound = inspect.signature(self._f).bind(*args, **named)
        except ValueError:  # a function without a signature
            return args
        bound.apply_defaults()
        if bound.kwargs:
            fail(InvalidArgument, f"{type(self).__name__}: {self._f.__name__} has arguments that can only be named: {', '.join(bound.kwargs)}")
        return bound.args

    @contextlib.contextmanager
    def _deeper(self, levels):
        self._depth += levels
        try:
            yield
        finally:
            self._depth -= levels

    def _shaped(self, found, structure, leaves):
        """Cotangents for all leaves: None is zero."""
        found = found if isinstance(found, tuple) else (found,)
        parts, out = list(structure.children), []
        if len(found) != len(parts):
            fail(InvalidArgument, f"custom_vjp: {len(found)} cotangents for {len(parts)} arguments")
        at = 0
        for part, given in zip(parts, found):
            own = [None] * part.count if given is None else tree.conjugated(part, tree.leaves(given))
            for x, g in zip(leaves[at:at + part.count], own):
                out.append(ops.broadcast_to(ops.as_elem(0 if g is None else g, x.elem), x.shape))
            at += part.count
        return [x for x, leaf in zip(out, leaves) if elements.is_float(leaf.elem)]

    def _with(self, inner, back, leaves, captured):
        """with_vjp takes functions that capture nothing: of the arguments and what both functions capture, and of these and
        one cotangent, a tuple if there are several results."""
        scope = scopes.current()
        fresh, pack = scope.root.fresh, lambda parts: parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
        args, results = [fresh("p") for _ in leaves], inner.types()
        heads = ", ".join([f"{a}: {scopes.type_of(x)}" for a, x in zip(args + [c.name for c in captured], leaves + captured)])
        forward, backward, whole = fresh("f"), fresh("f"), fresh("p")
        scope.add(f"let {forward} = fn({heads}) {{ {inner.name}({', '.join(args + list(inner.captured))}) }}")
        cotangents = [fresh("p") if elements.is_float(e) else "_" for e, _ in results]
        kind = pack([scopes.type_text(e, s) if elements.is_float(e) else "()" for e, s in results])
        unpack = f"let {pack(cotangents)} = {whole}\n"
        values = [fresh() for x in leaves if elements.is_float(x.elem)]
        made = iter(values)
        out = [next(made) if elements.is_float(x.elem) else "()" for x in leaves]
        out += [f"op.mul({c.name}, (0.0 : {c.elem}))" if elements.is_float(c.elem) else "()" for c in captured]
        given = ", ".join(args + [c for c in cotangents if c != "_"] + list(back.captured))
        scope.add(f"let {backward} = fn({heads}, {whole}: {kind}) {{\n{unpack}let {pack(values)} = {back.name}({given})\n{pack(out)} }}")
        return f"with_vjp({forward}, {backward})"


class custom_jvp(custom_vjp):
    """A function with a derivative of its own in forward mode: defjvp(rule) with rule(primals, tangents) -> (result, tangent
    of the result). In reverse mode the rule, which is linear in the tangents, is transposed."""

    def __init__(self, f, nondiff_argnums=(), nondiff_argnames=()):
        super().__init__(f, nondiff_argnums, nondiff_argnames)
        self._rule = None

    def defjvp(self, rule, symbolic_zeros=False):
        self._rule = rule
        self.defvjp(lambda *args: (self._f(*args), args), self._transposed)
        return rule

    def defjvps(self, *rules):
        """A rule for each argument, rule(tangent, result, *primals) -> its part of the tangent; None where it has none."""

        def rule(primals, tangents):
            result = self(*primals)
            parts = [r(t, result, *primals) for r, t in zip(rules, tangents) if r is not None]
            total = tree.map(lambda r: ops.full(r.shape, 0, r.elem), result)
            for part in parts:
                total = tree.map(lambda a, b: a + b, total, part)
            return result, total

        self.defjvp(rule)

    def _transposed(self, *given):
        *fixed, args, cotangent = given
        primals = tuple([a for n, a in enumerate(args) if n not in self._static])
        leaves, structure = tree.flatten(primals)
        leaves = [ops.array(x) for x in leaves]
        floats = [k for k, x in enumerate(leaves) if elements.is_float(x.elem)]

        def tangent_map(*tangents):
            moved = iter(tangents)
            whole = [next(moved) if k in floats else ops.full(x.shape, 0, x.elem) for k, x in enumerate(leaves)]
            return self._rule(*fixed, primals, structure.build(iter(whole)))[1]

        zeros = [ops.full(leaves[k].shape, 0, leaves[k].elem) for k in floats]
        found = iter(vjp(tangent_map, *zeros)[1](cotangent))
        return structure.build(iter(tree.conjugated(structure, [next(found) if k in floats else None for k in range(len(leaves))])))


def closure_convert(f, *example_args):
    """(f as a function of its arguments and the float arrays that it refers to, these arrays)"""
    if scopes.current() is None:
        return (lambda *args: f(*args)), []
    leaves, structure, call = _partial(f, example_args, {}, tuple(range(len(example_args))))
    inner = Nested(call, [_strong(x) for x in leaves], closed=True)
    hoisted = [x for x in inner.captured.values() if elements.is_float(x.elem)]

    def converted(*args):
        taken = len(example_args)
        given, found = tree.flatten(tuple(args[:taken]))
        if found != structure or len(args) != taken + len(hoisted):
            fail(InvalidArgument, f"closure_convert: expected arguments like the {taken} examples, and {len(hoisted)} arrays after them")
        moved = iter(args[taken:])
        rest = [next(moved) if elements.is_float(x.elem) else x for x in inner.captured.values()]
        arrays = [ops.as_elem(ops.array(x), like.elem) for x, like in zip(given + rest, leaves + list(inner.captured.values()))]
        return inner.structure.build(iter(emit_all(call_text(inner.name, arrays), inner.types())))

    return converted, hoisted


#: Whether the derivative of a function with slopes is being recorded: in it such functions are their steps.
_recording = contextvars.ContextVar("recording", default=False)


def slopes(*rules):
    """Gives a function of arrays of floats its partial derivatives: for each argument a function of the result and of the
    arguments; None: the derivative of the function's steps. Second derivatives are those of the rules' steps. In a program there is one
    function for all arguments of the same types."""

    def decorated(f):
        @functools.wraps(f)
        def called(*args):
            places = [k for k, x in enumerate(args) if isinstance(x, scopes.Traced) and not scopes.is_literal(x)]
            if not places or _recording.get():
                return f(*args)
            leaves = [args[k] for k in places]
            fixed = {k: x for k, x in enumerate(args) if k not in places}
            key = f, tuple([(k, x.name if isinstance(x, scopes.Traced) else x) for k, x in fixed.items()]), tuple(map(_strong, leaves))
            name, results, structure = hoisted(key, lambda *given: _with_slopes(f, rules, places, fixed)(*given), key[2])
            return structure.build(iter(emit_all(call_text(name, leaves), results)))

        return called

    return decorated


def _with_slopes(f, rules, places, fixed):
    """f of the arguments at these places, where the others are fixed."""

    def whole(given):
        at = dict(zip(places, given)) | {k: scopes.literal_again(x) if isinstance(x, scopes.Traced) else x for k, x in fixed.items()}
        return [at[k] for k in range(len(at))]

    def backward(kept, cotangent):
        before = _recording.set(True)
        try:
            return tuple([_part(f, rules[k], k, kept[0], whole(kept[1]), cotangent) for k in places])
        finally:
            _recording.reset(before)

    made = custom_vjp(lambda *given: f(*whole(given)))
    made.defvjp(lambda *given: (None, (f(*whole(given)), given)), backward)
    return made


def _part(f, rule, place, result, args, cotangent):
    """The cotangent of an argument of a function with slopes."""
    if rule is None:
        return vjp(lambda x: f(*args[:place], x, *args[place + 1:]), args[place])[1](cotangent)[0]
    parts = [ops.same("mul", g, ops.as_elem(slope, g.elem)) for g, slope in zip(tree.leaves(cotangent), tree.leaves(rule(result, *args)))]
    total, shape = functools.reduce(functools.partial(ops.same, "add"), parts), args[place].shape
    return total if total.shape == shape else vjp(lambda x: ops.broadcast_to(x, total.shape), args[place])[1](total)[0]
