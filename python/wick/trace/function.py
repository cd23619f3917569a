"""wick.function: a function of Python, traced into a program, compiled for the types and shapes of its arguments."""
import collections
import functools
import inspect
import math
import os
import re
import threading

import numpy as np

from wick import types
from wick.errors import InvalidArgument, TypeMismatch, WickError, raised
from wick.options import unknown
from wick.program import Model, Options, Program
from wick.trace import elements, nest, ops, scope as scopes, tree
from wick.trace.complex import is_complex_type, real_type
from wick.trace.host import ARRAYS, result
from wick.trace.scope import Root, Scope, place_text, type_text

#: A function keeps that many compiled programs, those that were used last.
PROGRAMS = 128

_ELEMS = {types.dtype(e): e for e in elements.ALL if e != "bf16"}


class ShapeDtype:
    """The shape and type of an argument, for `lower` and `compile`."""

    def __new__(cls, shape, dtype=np.float32, **_):
        if is_complex_type(dtype):
            part = cls(shape, np.float32 if dtype is complex else real_type(dtype))
            return cls.paired(part, part)
        return super().__new__(cls)

    def __init__(self, shape, dtype=np.float32, *, sharding=None, weak_type=False):
        self.shape, self.dtype = tuple(shape), dtype

    @staticmethod
    def paired(re, im):
        return _ComplexShapeDtype(re, im)

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    def __eq__(self, other):
        return isinstance(other, ShapeDtype) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self):
        return hash((self.shape, self.dtype))

    def __repr__(self):
        return f"ShapeDtype({self.shape}, {self.dtype})"


class _ComplexShapeDtype(tree.Pair):
    """The shape and type of a complex array."""

    __slots__ = ()

    shape = property(lambda self: self.re.shape)
    dtype = property(lambda self: np.result_type(self.re.dtype, np.complex64))
    ndim = property(lambda self: self.re.ndim)
    size = property(lambda self: self.re.size)

    def __repr__(self):
        return f"ShapeDtype({self.shape}, {self.dtype})"


def _aval(x):
    """(element type, shape, weak) of an argument; None if it is no array."""
    kind = type(x)
    if kind in ARRAYS:
        elem = _ELEMS.get(x.dtype) or elements.of_dtype(x.dtype)
        return elem and (elem, x.shape, False)
    if kind is float or kind is int or kind is bool or ops.is_number(x):
        return elements.number(x), (), True
    if isinstance(x, ShapeDtype):
        return elements.of_dtype(x.dtype), x.shape, False
    if isinstance(x, (np.ndarray, np.generic)):
        elem = elements.of_dtype(x.dtype)
        return elem and (elem, x.shape, False)
    return None


def _describe(x, leaves):
    """Adds the leaves of an argument, in the order of tree.flatten, and returns what equal kinds of arguments have in
    common: much sooner than with a structure."""
    kind = type(x)
    if kind in ARRAYS and x.dtype.kind != "c":
        leaves.append(x)
        return x.dtype, x.shape
    if kind is float or kind is int or kind is bool:
        leaves.append(x)
        return kind
    if kind is tuple or kind is list:
        return kind, *[_describe(v, leaves) for v in x]
    if kind is dict and all([type(k) is str for k in x]):
        return kind, *[(k, _describe(x[k], leaves)) for k in sorted(x)]
    own, structure = tree.flatten(x)
    leaves += own
    return structure, *[(type(v), getattr(v, "dtype", None), getattr(v, "shape", None)) for v in own]


def _value(x, aval):
    """The array that a program takes for an argument."""
    if type(x) in ARRAYS and x.flags.c_contiguous and x.dtype in _ELEMS:
        return x
    try:
        return np.asarray(x, types.dtype(aval[0]), order="C")
    except OverflowError:
        raise InvalidArgument(f"{x} does not fit in {aval[0]}") from None


class Lowered:
    """A function as a program of Wick's language: `.text`. `compile` makes machine code of it."""

    def __init__(self, name, call, avals, donated=()):
        root = Root(name)
        with scopes.recording(Scope(root)) as scope:
            parameters = nest.parameters(scope, avals)
            leaves, self.structure = tree.flatten(call(parameters))
            leaves = [ops.array(x) for x in leaves]
            result, result_type = nest.result_text(leaves), nest.result_type(leaves)
        self.name, self.avals = f"traced_{name}" if name in root.modules else name, avals
        self.donated = [parameters[k].name for k in donated]
        self.results = [nest.aval(x) for x in leaves]
        kept = [(copy, n, scopes.written(copy)) for _, copy, n in root.constants.values()]
        self.constants = [(copy, n) for copy, n, text in kept if not text]
        written = [f"let {n} = {text}" for _, n, text in kept if text]
        heads = [f"{p.name}: {type_text(p.elem, p.shape)}" for p in parameters]
        heads += [f"{n}: {type_text(elements.of_dtype(c.dtype), c.shape)}" for c, n in self.constants]
        before = [f"use {m}" for m in root.modules] + root.items
        self._shift = sum([text.count("\n") + 1 for text in before])
        body = [f"fn {self.name}({', '.join(heads)}) -> {result_type} {{"] + written + scope.lines + [result, "}"]
        self.places = [None] * (1 + len(written)) + scope.places + [None, None]
        self._lines = [k for k, line in enumerate(body) for _ in range(line.count("\n") + 1)]
        self.text = "\n".join(before + body) + "\n"
        self._used = root.folder

    def model(self):
        """The program as a wick.Model."""
        path = os.path.join(self._used or "", f"{self.name}.wick")
        with self.places_in_errors():
            return Model(self.text.encode(), path, entry=self.name)

    def compile(self, **options):
        return Executable(self, **options)

    def bundle(self, folder, name=None, *, target=None, embed=False):
        """Writes NAME.o, NAME.h and NAME.weights.bin into a folder: a C function that runs without Wick, for any target of
        docs/targets.md. Arrays are its arguments in the order of the structure's leaves. Returns the bytes of its memories by
        name: flash, ram, stack, constants."""
        self.check_closed()
        name = name or self.name
        with self.places_in_errors():
            return raised(self.model()._core.bundle, os.fspath(folder), name, target, bool(embed), tuple(self.donated))

    def check_closed(self):
        """Refuses to write a program that needs more than its arguments, or that computes nothing."""
        if self.constants:
            raise InvalidArgument(f"{self.name}: it refers to {len(self.constants)} arrays of more than {scopes.SMALL} elements, or "
                                  f"{scopes.SMALL_INDICES} integers, outside of it: pass them as arguments")
        if not self.results:
            raise InvalidArgument(f"{self.name} computes nothing")

    def places_in_errors(self):
        return _Places(self)

    def place(self, line):
        """The user's place of a line of the text."""
        k = line - 1 - self._shift
        return self.places[self._lines[k]] if 0 <= k < len(self._lines) else None


class _Places:
    """Names the user's lines in errors about the program."""

    def __init__(self, lowered):
        self.lowered = lowered

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        if not isinstance(error, WickError) or not error.args:
            return
        low = self.lowered
        pattern = r"(?:[^\s:]*/)?" + re.escape(low.name) + r"\.wick:(\d+)(?::\d+)?(: )?"
        replaced = re.sub(pattern, lambda m: place_text(low.place(int(m[1]))) or f"{low.name}: ", str(error.args[0]))
        raise kind(replaced).with_traceback(trace) from None


class Executable:
    """Machine code of a function for arguments of certain types and shapes. A call runs it."""

    def __init__(self, lowered, **options):
        self.lowered = lowered
        with lowered.places_in_errors():
            self.program = lowered.model().compile(donate=lowered.donated, **options) if lowered.results else None
        self._constants = [copy for copy, _ in lowered.constants]

    def run(self, leaves):
        """Arrays in the order of the parameters -> the leaves of the result."""
        if self.program is None:
            return []
        try:
            return self.program.run(leaves + self._constants)
        except WickError:
            with self.lowered.places_in_errors():
                raise

    def __call__(self, *args, **named):
        leaves = tree.leaves((args, named))
        if len(leaves) != len(self.lowered.avals):
            raise InvalidArgument(f"{self.lowered.name}: compiled for {len(self.lowered.avals)} arrays, {len(leaves)} are given")
        for x, aval in zip(leaves, self.lowered.avals):
            given = _aval(x)
            if given is None or given[1] != aval[1] or (given[0] != aval[0] and not given[2]):
                raise TypeMismatch(f"{self.lowered.name}: compiled for {type_text(*aval[:2])}, {type_text(*given[:2]) if given else x!r} is given")
        out = self.run([_value(x, a) for x, a in zip(leaves, self.lowered.avals)])
        return self.lowered.structure.build(iter(out))

    def save(self, path):
        """Writes the machine code to a file, which wick.Program.load reads."""
        self.lowered.check_closed()
        self.program.save(path)


class Function:
    """A function of Python whose calls run compiled code.

    Arguments and results are structures (tuples, lists, dicts, named tuples, dataclasses) of arrays and numbers. A call
    compiles the function once for each structure, and for the types and shapes of the arrays.
    """

    direct = False  # in wick.disable_jit, which concerns those of programs
    of_program = False

    def __init__(self, f, static=(), donate=(), **options):
        Options(**options)
        self.__wrapped__ = f
        functools.update_wrapper(self, f, updated=())
        self._options = options
        self._signature = inspect.signature(f) if static != () or donate != () else None
        self._static, self._donate = self._names("static", static), self._names("donate", donate)
        self._programs, self._lock = collections.OrderedDict(), threading.Lock()

    def _names(self, what, given):
        """The names of the parameters that `static` or `donate` gives by name or position."""
        given = (given,) if isinstance(given, (int, str)) else tuple(given)
        names = list(self._signature.parameters) if given else []
        wrong = [s for s in given if (s not in names if isinstance(s, str) else not -len(names) <= s < len(names))]
        if wrong:
            raise InvalidArgument(f"{self._name}: {what}: " + unknown("parameter", [str(w) for w in wrong], names))
        return frozenset(s if isinstance(s, str) else names[s] for s in given)

    @property
    def _name(self):
        name = re.sub(r"\W", "_", getattr(self.__wrapped__, "__name__", "traced"), flags=re.ASCII).lower().lstrip("_")
        return name if name[:1].isalpha() and name not in _WORDS else f"traced_{name}"

    def _split(self, args, named):
        """(key of the static arguments, leaves, structure, function of leaves)"""
        f = self.__wrapped__
        if self._signature is None:
            leaves, structure = tree.flatten((args, named))

            def call(arrays):
                args, named = structure.build(iter(arrays))
                return f(*args, **named)

            return None, leaves, structure, call
        bound = self._signature.bind(*args, **named)
        bound.apply_defaults()
        static = {n: v for n, v in bound.arguments.items() if n in self._static}
        key = tuple(sorted(static.items(), key=lambda item: item[0]))
        try:
            hash(key)
        except TypeError:
            raise TypeMismatch(f"{self._name}: static arguments have to be hashable, {static} are given") from None
        leaves, structure = tree.flatten({n: v for n, v in bound.arguments.items() if n not in self._static})

        def call(arrays):
            bound.arguments.update(static)
            bound.arguments.update(structure.build(iter(arrays)))
            return f(*bound.args, **bound.kwargs)

        return tuple([(n, type(v), v) for n, v in key]), leaves, structure, call

    def _donated(self, structure):
        """The numbers of the leaves that are donated."""
        out, at = [], 0
        if self._donate:
            for name, child in zip(structure.data[0], structure.children):
                out += range(at, at + child.count) if name in self._donate else ()
                at += child.count
        return out

    def _arguments(self, leaves):
        """The types of the leaves, which are arrays and numbers."""
        avals = []
        for x in leaves:
            aval = _aval(x)
            if aval is None and hasattr(x, "__array__"):
                x = np.asarray(x)
                aval = _aval(x)
            if aval is None:
                what = f"an array of {x.dtype}" if isinstance(x, np.ndarray) else f"a value of the type {type(x).__name__}"
                raise TypeMismatch(f"{self._name}: {what} is no array that can be traced; what is known when the function is "
                                   f"compiled is a static argument: wick.function(f, static=...)")
            avals.append(aval)
        return avals

    def __call__(self, *args, **named):
        if scopes.current() is not None or (Function.direct and self.of_program):
            return self.__wrapped__(*args, **named)
        if self._signature is None:
            leaves = []
            key = tuple([_describe(x, leaves) for x in args]), _describe(named, leaves) if named else None
            program = self._programs.get(key)
            if program is None:
                program = self._compile(key, *self._split(args, named)[1:])
        else:
            static, leaves, structure, call = self._split(args, named)
            key = static, structure, tuple([_describe(x, []) for x in leaves])
            program = self._programs.get(key) or self._compile(key, leaves, structure, call)
        out = program.run([x if native and x.flags.c_contiguous else _value(x, a)
                           for x, native, a in zip(leaves, program.native, program.lowered.avals)])
        structure = program.lowered.structure
        return result(out[0]) if structure is tree.LEAF else structure.build(map(result, out))

    def _compile(self, key, leaves, structure, call):
        avals = self._arguments(leaves)
        with self._lock:
            program = self._programs.get(key)
            if program is None:
                program = Lowered(self._name, call, avals, self._donated(structure)).compile(**self._options)
                program.native = [type(x) in ARRAYS and x.dtype in _ELEMS for x in leaves]  # as for all calls with this key
                self._programs[key] = program
                while len(self._programs) > PROGRAMS:
                    self._programs.popitem(last=False)
            return program

    def lower(self, *args, **named):
        """The program for arguments of these types and shapes: arrays, numbers, or wick.ShapeDtype."""
        _, leaves, structure, call = self._split(args, named)
        return Lowered(self._name, call, self._arguments(leaves), self._donated(structure))

    def compile(self, *args, **named):
        """Machine code for arguments of these types and shapes."""
        return self.lower(*args, **named).compile(**self._options)

    def __get__(self, instance, owner=None):
        return self if instance is None else _Bound(self, instance)

    def __repr__(self):
        return f"<wick.function {self._name}>"


class _Bound:
    """A method: the instance is its first argument."""

    def __init__(self, function, instance):
        self._function, self._instance = function, instance

    def __call__(self, *args, **named):
        return self._function(self._instance, *args, **named)

    def lower(self, *args, **named):
        return self._function.lower(self._instance, *args, **named)


#: Words of the language, and its functions that the text of a trace calls: no name for a function.
_WORDS = frozenset("as else false fn for if in let match static struct true type use while with op "
                   "checkpoint grad jvp mod value_and_grad vjp vmap with_vjp".split()) | frozenset(elements.ALL)


def function(f=None, *, static=(), donate=(), **options):
    """Compiles a function of arrays: as a decorator, or wick.function(f, static=("axis",)).

    `static` names parameters (or gives their positions) that are known when it is compiled: each value of them has a
    program of its own. A call may write its results into the arrays of the parameters in `donate`. Options are those of Model.compile (threads, precision, ...).
    """
    if f is None:
        return lambda f: function(f, static=static, donate=donate, **options)
    if not callable(f):
        raise TypeMismatch(f"wick.function: {f!r} is no function")
    made = Function(f, static, donate, **options)
    made.of_program = True
    return made


def jit(f=None, *, static_argnums=(), static_argnames=(), donate_argnums=(), donate_argnames=(), inline=False, keep_unused=False,
        in_shardings=None, out_shardings=None, device=None, backend=None, compiler_options=None, **options):
    """wick.function with the parameters' names of jax.jit; the last ones are about devices and XLA, and have no effect."""
    both = lambda numbers, names: tuple([v for given in (numbers, names) for v in ((given,) if isinstance(given, (int, str)) else given or ())])
    return function(f, static=both(static_argnums, static_argnames), donate=both(donate_argnums, donate_argnames), **options)


def _shapes_aside(f, args, named):
    """eval_shape inside of a trace: f may refer to its arrays. What f records is left out."""
    from wick.trace import nest, ops
    leaves, structure = tree.flatten((args, named))
    kinds = [(elements.of_dtype(x.dtype), tuple(x.shape), False) if hasattr(x, "dtype") else (*ops.elem_for(x)[:1], ops.array(x).shape, False)
             for x in leaves]
    with scopes.nested() as inner:
        args, named = structure.build(iter(nest.parameters(inner, kinds)))
        out = f(*args, **named)
        return tree.map(lambda x: ShapeDtype(x.shape, x.dtype), tree.map(ops.array, out))


def eval_shape(f, *args, **named):
    """The structure of f(*args), with ShapeDtype for each array; nothing is computed."""
    if scopes.current() is not None:
        return _shapes_aside(f, args, named)
    args, named = tree.map(lambda x: ShapeDtype(x.shape, x.dtype) if isinstance(x, scopes.Traced) else x, (args, named))
    lowered = (f if isinstance(f, Function) else Function(f)).lower(*args, **named)
    return lowered.structure.build(iter([ShapeDtype(shape, types.dtype(elem)) for elem, shape, _ in lowered.results]))


def block_until_ready(x):
    """x: calls return when their results are there."""
    return x
