"""What a trace records: lines of a program of Wick's language, each with the place in the user's program.

A Scope is the body of one function; nested functions, branches and loops have scopes of their own, whose lines are
put into the outer one's. The current scope is per thread."""
import contextlib
import linecache
import math
import os
import sys
import threading

import numpy as np

from wick import types
from wick.errors import InvalidArgument, OutOfRange, TypeMismatch
from wick.trace import elements

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_state = threading.local()

#: Constants of at most that many elements are written into the program; larger ones are inputs of it.
SMALL = 16
#: The same for integers and bools: if indices are known, the compiler knows which elements are read.
SMALL_INDICES = 1024


class Root:
    """What the scopes of one trace share."""

    def __init__(self, name):
        self.name, self.count = name, 0
        self.constants = {}  # by identity: (array that the user has, its copy, name)
        self.modules = {}  # name: alias, of `use`
        self.items = []  # functions of the program, as text
        self.folder = None  # of the modules that are used
        self.closed = 0  # how many scopes that keep what they capture are being recorded

    def fresh(self, prefix="v"):
        self.count += 1
        if f"{prefix}{self.count}" in elements.RANK:  # a type's name is not free
            self.count += 1
        return f"{prefix}{self.count}"


class Scope:
    rows = None  # of the vmap whose function it is (wick.trace.axes)
    defined = None  # for that: the arrays that it made, by name
    differentiated = False  # whether a derivative is taken of its function
    captured = None  # of a function that has to name what it uses of outer scopes: these arrays, by name

    def __init__(self, root, parent=None):
        self.root, self.parent, self.open = root, parent, True
        self.lines, self.places = [], []

    def add(self, line, place=None):
        self.lines.append(line)
        self.places.append(place or user_place())

    def is_constant(self):
        """Whether no derivative in the trace is taken of what it holds."""
        return not self.differentiated and (self.parent is None or self.parent.is_constant())

    def nest(self, first, inner, last):
        """Adds a block: its first line, the lines of a scope, its last line."""
        place = user_place()
        self.lines.append(first)
        self.lines += inner.lines
        self.lines.append(last)
        self.places.append(place)
        self.places += inner.places
        self.places.append(place)


def current():
    """The scope that is being recorded, or None."""
    return getattr(_state, "scope", None)


@contextlib.contextmanager
def recording(scope):
    outer, _state.scope = current(), scope
    try:
        yield scope
    finally:
        _state.scope, scope.open = outer, False


def nested():
    """A scope inside the current one."""
    outer = current()
    return recording(Scope(outer.root, outer))


# ---- places ----


def user_place():
    """(file, line) of the innermost caller outside of this package."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_PACKAGE) and not code.co_filename.startswith("<frozen"):
            return code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def place_text(place):
    if place is None:
        return ""
    file, line = place
    source = linecache.getline(file, line).strip()
    return f"{file}:{line}: " + (f"`{source}`: " if source else "")


def fail(kind, message):
    """Raises an error at the user's line."""
    raise kind(place_text(user_place()) + message) from None


# ---- arrays ----


class Traced:
    """An array of a program that is being recorded; wick.trace.array gives it operators and methods."""

    __slots__ = ("scope", "name", "elem", "shape", "weak", "given", "__weakref__")  # given: the number of Python that a literal was, with all its digits

    def __init__(self, scope, name, elem, shape, weak=False):
        self.scope, self.name, self.elem, self.shape, self.weak = scope, name, elem, shape, weak
        if scope is not None and scope.defined is not None and name[0] == "v":
            scope.defined[name] = self

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    dtype = property(lambda self: types.dtype(self.elem))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    weak_type = property(lambda self: self.weak)
    device = property(lambda self: "cpu")


def type_text(elem, shape):
    return f"{elem}[{', '.join(map(str, shape))}]" if shape else elem


def type_of(x):
    return type_text(x.elem, x.shape)


def _array_class():
    from wick.trace.array import Array
    return Array


def name_of(x):
    """The name of an array in the program, as an operand of the current scope."""
    scope = x.scope
    if not scope.open or scope.root is not _state.scope.root:
        fail(InvalidArgument, f"a traced {type_of(x)} is used outside of the function that was traced: return it as a result")
    if scope.root.closed:
        _capture(x)
    return x.name


def _capture(x):
    scope = _state.scope
    while scope is not x.scope:
        if scope.captured is not None and x.name[-1].isdigit():
            scope.captured[x.name] = x
        scope = scope.parent


def emit(text, elem, shape, weak=False):
    """Records an operation and returns its result."""
    scope = _state.scope
    name = scope.root.fresh()
    scope.add(f"let {name} = {text}")
    return _array_class()(scope, name, elem, shape, weak)


def emit_all(text, results):
    """Records an operation with several results, [(element type, shape)]; of one result the value is not a tuple."""
    if len(results) == 1:
        return [emit(text, *results[0])]
    scope = _state.scope
    made = [_array_class()(scope, scope.root.fresh(), *r) for r in results]
    scope.add(f"let ({', '.join([m.name for m in made])}) = {text}" if made else text)
    return made


# ---- constants ----


def _digits(value, elem):
    """A number as the language writes it, or None for what has no literal."""
    if elem == "bool":
        return "true" if value else "false"
    if not elements.is_float(elem):
        value, bounds = int(value), np.iinfo(types.dtype(elem))
        if not bounds.min <= value <= bounds.max:
            fail(OutOfRange, f"{value} does not fit in {elem}")
        return str(value) if -(1 << 63) < value < 1 << 63 else None
    value = float(value)
    if elem == "f32":
        with np.errstate(over="ignore"):
            value = float(np.format_float_scientific(np.float32(value)))
    if not math.isfinite(value):
        return None
    text = repr(value)
    return text if "." in text or "e" in text else text + ".0"


def number(value, elem, weak=False):
    """A constant of rank 0."""
    scope = _state.scope
    digits = _digits(value, elem)
    if digits is None:
        return _unwritable(value, elem, weak)
    made = _array_class()(scope, digits if elem == "bool" else f"({digits} : {elem})", elem, (), weak)
    made.given = value
    return made


def is_literal(x):
    """Is it a number that is written where it is used?"""
    return x.name[0] == "("


def literal_again(x):
    """A literal in the current scope."""
    made = _array_class()(_state.scope, x.name, x.elem, x.shape, x.weak)
    made.given = getattr(x, "given", None)
    return made


def _unwritable(value, elem, weak):
    """A number without a literal: infinities, those that are no numbers, and whole numbers of more than 63 bits."""
    if elements.is_float(elem):
        over = {math.inf: "1.0", -math.inf: "-1.0"}.get(float(value), "0.0")
        return emit(f"op.div(({over} : {elem}), (0.0 : {elem}))", elem, (), weak)
    value = int(value)
    if elem == "u64":
        return emit(f"u64(({value - (1 << 64)} : i64))", elem, (), weak)
    return emit("op.sub((-9223372036854775807 : i64), (1 : i64))", elem, (), weak)


def _literal(array, elem):
    """The text of a small array, or None."""
    if array.ndim == 0:
        return _digits(array.item() if elem != "bf16" else float(array), elem)
    parts = [_literal(row, elem) for row in array]
    return None if None in parts else "[" + ", ".join(parts) + "]"


def written(array):
    """The text of a constant that is written into the program, although it has more than SMALL elements; or None."""
    text = _literal(array, elements.of_dtype(array.dtype)) if array.dtype.kind in "iub" and array.size <= SMALL_INDICES else None
    return text and f"({text} : {type_text(elements.of_dtype(array.dtype), array.shape)})"


def constant(array):
    """An array of NumPy in the program that is being recorded."""
    elem = elements.of_dtype(array.dtype)
    if elem is None:
        fail(TypeMismatch, f"arrays of {array.dtype} are not supported in traced functions")
    if array.ndim == 0:
        return number(array.item() if elem != "bf16" else float(array), elem)
    scope, shape = _state.scope, array.shape
    if array.size == 0 or (array.size > SMALL and array.strides == (0,) * array.ndim):
        x = number(array.flat[0] if array.size else 0, elem)
        return emit(f"op.broadcast_to({name_of(x)}, shape = {sizes(shape)})", elem, shape)
    if array.size <= SMALL:
        text = _literal(array, elem)
        if text is not None:
            return _array_class()(scope, f"({text} : {type_text(elem, shape)})", elem, shape)
    root = scope.root
    kept = root.constants.get(id(array))
    if kept is None or kept[0] is not array:
        kept = root.constants[id(array)] = array, np.array(array, order="C"), root.fresh("k")
    while scope.parent is not None:
        scope = scope.parent
    return _array_class()(scope, kept[2], elem, shape)


def sizes(numbers):
    """Whole numbers as an attribute."""
    return f"({', '.join(map(str, numbers))},)" if len(numbers) == 1 else f"({', '.join(map(str, numbers))})"
