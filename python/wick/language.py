"""Programs of Wick's language: functions and types of a file as attributes of an object.

A value of a data type is an object of the class of its constructor. It crosses to compiled code as bytes
(docs/language.md), blocks before those that refer to them, so that neither side recurses."""
import os
import reprlib
import struct
import sys
import tempfile
import threading

import numpy as np

from wick import _core, types
from wick.errors import InvalidArgument, TypeMismatch, raised
from wick.options import unknown
from wick.ports import Port
from wick.program import Model, Options, as_array


# ---- values ----


class Data:
    """A value of a data type. Its class is the constructor; `match` binds its fields in order. It does not change."""

    __slots__ = ()
    __match_args__ = ()

    def __init__(self, *fields):
        if len(fields) != len(self.__match_args__):
            raise TypeError(f"{type(self).__name__} has {len(self.__match_args__)} fields, {len(fields)} are given")
        for name, field in zip(self.__match_args__, fields):
            object.__setattr__(self, name, field)

    def __setattr__(self, name, value):
        raise AttributeError(f"a {type(self).__name__} does not change")

    __delattr__ = lambda self, name: self.__setattr__(name, None)

    @property
    def fields(self):
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __eq__(self, other):
        waiting = [(self, other)]  # a list may be longer than Python's stack
        while waiting:
            a, b = waiting.pop()
            if a is b:
                continue
            if isinstance(a, Data) and type(a) is type(b):
                waiting.extend(zip(a.fields, b.fields))
            elif isinstance(a, (tuple, list)) and type(a) is type(b) and len(a) == len(b):
                waiting.extend(zip(a, b))
            elif isinstance(a, (Data, tuple, list)) or isinstance(b, (Data, tuple, list)) or not np.array_equal(a, b):
                return False
        return True

    __hash__ = None

    def __repr__(self):
        out, waiting = [], [self]  # texts and values, the next one last
        while waiting:
            x = waiting.pop()
            if len(out) > 10000:
                return "".join(out) + "..."
            if isinstance(x, str):
                out.append(x)
            elif not isinstance(x, Data):
                out.append(reprlib.repr(x))
            elif not x.__match_args__:
                out.append(type(x).__name__)
            else:
                out.append(type(x).__name__ + "(")
                waiting.append(")")
                for k, field in reversed(list(enumerate(x.fields))):
                    named = f"{x.__match_args__[k]}=" if isinstance(x, Struct) else ""
                    waiting += [field, ", " * (k > 0) + named]
        return "".join(out)

    def __reduce__(self):
        raise TypeError("values of a program's data types are not pickled")


class Struct(Data):
    """A value of a struct: its fields have names."""

    __slots__ = ()

    def __init__(self, *fields, **named):
        names = self.__match_args__
        wrong = sorted(set(named) - set(names))
        if wrong:
            raise TypeError(unknown("field", wrong, names))
        given = dict(zip(names, fields))
        twice = sorted(set(given) & set(named))
        if twice:
            raise TypeError(f"given twice: {', '.join(twice)}")
        given.update(named)
        missing = [n for n in names if n not in given]
        if missing or len(fields) > len(names):
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(names)}")
        super().__init__(*[given[n] for n in names])


def _class(module, name, fields, is_struct):
    names = tuple(f if is_struct else f"_{f}" for f in fields)
    body = {"__slots__": names, "__match_args__": names, "__module__": module, "__qualname__": name}
    return type(name, (Struct if is_struct else Data,), body)


# ---- types, as the bytes of data describe them ----


_WHOLE = {"i64": "<q", "i32": "<i", "i16": "<h", "i8": "<b", "u64": "<Q", "u32": "<I", "u16": "<H", "u8": "<B"}
_FORMATS = {**_WHOLE, "f64": "<d", "f32": "<f", "bool": "<?"}  # of numbers, in a block


class _Field:
    def __init__(self, data, elem, shape):
        self.data, self.elem, self.shape = data, elem, shape
        self.nbytes = 8
        if data is None:
            self.nbytes = types.nbytes(elem, shape)
        self.words = 1 if data is not None else max(1, (self.nbytes + 7) // 8)
        self._format = _FORMATS.get(elem) if shape == () else None

    def pack(self, value, where):
        """The words of a tensor."""
        kind = int if self.elem in _WHOLE else bool if self.elem == "bool" else float
        if self._format and type(value) is kind:  # much sooner than with an array
            try:
                return struct.pack(self._format, value).ljust(8, b"\0")
            except (struct.error, OverflowError):
                pass  # the message is below
        array = as_array(Port(where, self.elem, self.shape, ("",) * len(self.shape)), value)
        return types.memory(self.elem, array).tobytes().ljust(8 * self.words, b"\0")

    def unpack(self, data, at):
        if self._format:
            return struct.unpack_from(self._format, data, at)[0]
        array, buffer = types.empty(self.elem, self.shape)
        buffer.reshape(-1).view(np.uint8)[:] = np.frombuffer(data, np.uint8, self.nbytes, at)
        return _plain(types.unpacked(self.elem, self.shape, array, buffer))


class _Constructor:
    def __init__(self, name, fields, parts):
        self.name, self.fields, self.parts = name, fields, parts
        kind = lambda f: 0 if f.data is not None else 2 if f.shape else 1
        self.order = sorted(range(len(fields)), key=lambda k: kind(fields[k]))  # in the block
        self.links = [k for k in self.order if fields[k].data is not None]
        self.rest = self.order[len(self.links):]
        self.words = sum(f.words for f in fields)


class _Types:
    """The types in a description; the first is that of the value."""

    ELEMS = ("f64 f32 f16 bf16 f8e4m3 f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0 f4e2m1 i64 i32 i16 i8 i4 i2 u64 u32 u16 u8 u4 u2 "
             "bool c64 c128 string").split()

    def __init__(self, bytes):
        self.bytes, self._at = bytes, 0
        self.names, self.constructors = [], []
        for _ in range(self._u32()):
            self.names.append(self._str())
            self.constructors.append([self._constructor() for _ in range(self._u32())])

    def _u32(self):
        self._at += 4
        return struct.unpack_from("<I", self.bytes, self._at - 4)[0]

    def _str(self):
        n = self._u32()
        self._at += n
        return self.bytes[self._at - n:self._at].decode()

    def _constructor(self):
        name, fields = self._str(), []
        for _ in range(self._u32()):
            self._str()
            data = self._u32()
            if data:
                fields.append(_Field(data - 1, None, None))
                continue
            elem, rank = self.ELEMS[self._u32()], self._u32()
            fields.append(_Field(None, elem, struct.unpack_from(f"<{rank}q", self.bytes, self._at)))
            self._at += 8 * rank
        parts = [(self._str(), self._str(), bool(self._u32()), self._u32()) for _ in range(self._u32())]
        return _Constructor(name, fields, parts)


# ---- parts: tuples and structs ----


def _flatten(parts, at, value, where, out):
    """Adds the leaves of a value that consists of parts[at], ...; returns the part after them."""
    name, struct_name, leaf, n = parts[at]
    at += 1
    if leaf:
        out.append((where, value))
        return at
    if struct_name:
        if not isinstance(value, Struct) or type(value).__name__ != struct_name:
            raise TypeMismatch(f"{where}: expected a {struct_name}, {reprlib.repr(value)} is given")
        value = value.fields
    if not isinstance(value, tuple) or len(value) != n:
        raise TypeMismatch(f"{where}: expected a tuple of {n}, {reprlib.repr(value)} is given")
    for k, item in enumerate(value):
        at = _flatten(parts, at, item, f"{where}.{parts[at][0] or k}", out)
    return at


def _rebuild(parts, at, leaves, classes):
    """The value that parts[at], ... are, of the leaves of an iterator; and the part after it."""
    _, struct_name, leaf, n = parts[at]
    at += 1
    if leaf:
        return next(leaves), at
    items = []
    for _ in range(n):
        item, at = _rebuild(parts, at, leaves, classes)
        items.append(item)
    return (classes.struct(struct_name)(*items) if struct_name else tuple(items)), at


def _plain(array):
    """A number for a tensor of rank 0."""
    return array.item() if isinstance(array, np.ndarray) and array.ndim == 0 and array.dtype.kind in "biufc" else array


# ---- bytes ----

_MAGIC, _VERSION = b"wickdata", 1


def _children(t, kind, value, where):
    """(constructor's index, leaves) of a value of that type."""
    for k, c in enumerate(t.constructors[kind]):
        if isinstance(value, Data) and not isinstance(value, Struct) and type(value).__name__ == c.name:
            leaves, at = [], 1
            for i, field in enumerate(value.fields):
                at = _flatten(c.parts, at, field, f"{where}.{i}" if len(where) < 200 else where, leaves)
            return k, leaves
    names = [c.name for c in t.constructors[kind]]
    raise TypeMismatch(f"{where}: expected a {t.names[kind]} ({', '.join(names)}), {reprlib.repr(value)} is given")


def encode(t, value, where):
    """The bytes of a value of the type."""
    blocks, number = [], {}  # number: by identity of an object and type, its value
    stack = [(value, 0, where, None)]
    kept = []  # so that identities stay those of these objects
    while stack:
        x, kind, place, opened = stack.pop()
        if (id(x), kind) in number:
            continue
        if opened is None:
            k, leaves = _children(t, kind, x, place)
            kept.append(x)
            c = t.constructors[kind][k]
            if not c.fields:
                number[id(x), kind] = 2 * k + 1
                continue
            stack.append((x, kind, place, (k, leaves)))
            stack += [(leaves[f][1], c.fields[f].data, leaves[f][0], None) for f in reversed(c.links)]
            continue
        k, leaves = opened
        c = t.constructors[kind][k]
        made = [struct.pack("<II", kind, k)]
        for f in c.links:
            made.append(struct.pack("<Q", number[id(leaves[f][1]), c.fields[f].data]))
        for f in c.rest:
            field = c.fields[f]
            made.append(field.pack(leaves[f][1], leaves[f][0]))
        number[id(x), kind] = 2 * len(blocks)
        blocks.append(b"".join(made))
    out = [_MAGIC, struct.pack("<IIQ", _VERSION, 0, len(t.bytes)), t.bytes, b"\0" * (-len(t.bytes) % 8),
           struct.pack("<Q", len(blocks)), *blocks, struct.pack("<QQ", number[id(value), 0], 0)]
    return b"".join(out)


def decode(t, data, classes):
    """The value in these bytes, which compiled code wrote."""
    at = 24 + len(t.bytes) + -len(t.bytes) % 8
    n, = struct.unpack_from("<Q", data, at)
    at += 8
    made, nullary = [], {}
    for kind, constructors in enumerate(t.constructors):
        for k, c in enumerate(constructors):
            if not c.fields:
                nullary[kind, k] = _build(t, kind, c, [], classes)
    value = lambda kind, v: nullary[kind, v >> 1] if v & 1 else made[v >> 1]
    for _ in range(n):
        kind, k = struct.unpack_from("<II", data, at)
        at += 8
        c = t.constructors[kind][k]
        leaves = [None] * len(c.fields)
        for f in c.links:
            leaves[f] = value(c.fields[f].data, struct.unpack_from("<Q", data, at)[0])
            at += 8
        for f in c.rest:
            field = c.fields[f]
            leaves[f] = field.unpack(data, at)
            at += 8 * field.words
        made.append(_build(t, kind, c, leaves, classes))
    return value(0, struct.unpack_from("<Q", data, at)[0])


def _build(t, kind, c, leaves, classes):
    made = classes.constructor(t.names[kind], c.name)
    if isinstance(made, Data):
        return made
    fields, at, leaves = [], 1, iter(leaves)
    for _ in range(c.parts[0][3]):
        field, at = _rebuild(c.parts, at, leaves, classes)
        fields.append(field)
    return made(*fields)


# ---- functions and modules ----


#: A function keeps the programs of that many combinations of sizes, those that were used last.
PROGRAMS = 64


class Function:
    """A function of a program. A call compiles it for the sizes of its arguments and runs it: numbers, arrays, tuples,
    structs and values of data types -> a result of the same kinds."""

    def __init__(self, module, name, type, parameters, **options):
        self.module, self.name, self.type, self.parameters = module, name, type, tuple(parameters)
        self.__name__, self.__doc__ = name, type
        self._options = Options(**options)
        self._model, self._lock = None, threading.Lock()
        self._programs = {}  # by sizes, the one that was used last at the end

    @property
    def model(self):
        """The function as a wick.Model, with inputs and outputs for the parts of parameters and results."""
        with self._lock:
            if self._model is None:
                self._model = Model(self.module.__file__, entry=self.name)
                inputs, outputs, self._parameters, self._result = self._model._core.data
                self._types = [b and _Types(b) for b in inputs], [b and _Types(b) for b in outputs]
            return self._model

    def _arguments(self, args, named):
        wrong = sorted(set(named) - set(self.parameters))
        if wrong:
            raise InvalidArgument(f"{self.name}: " + unknown("parameter", wrong, self.parameters))
        given = dict(zip(self.parameters, args))
        if len(args) > len(self.parameters) or set(given) & set(named) or len(given) + len(named) != len(self.parameters):
            raise InvalidArgument(f"{self.name} takes {len(self.parameters)} arguments: {', '.join(self.parameters)}")
        given.update(named)
        return tuple([given[p] for p in self.parameters])

    def __call__(self, *args, sizes=None, **named):
        """`sizes` gives those that no argument shows: {"n": 3}."""
        if "wick.trace.scope" in sys.modules and sys.modules["wick.trace.scope"].current() is not None:
            from wick.trace import modules
            return modules.call(self, args, named)
        model, leaves = self.model, []
        arguments, at = self._arguments(args, named), 1
        for name, argument in zip(self.parameters, arguments):
            at = _flatten(self._parameters, at, argument, name, leaves)
        ins, shapes = [], {}
        for port, t, (where, value) in zip(model.inputs, self._types[0], leaves):
            if t:
                ins.append(encode(t, value, where))
                continue
            array = as_array(port._replace(name=where), value)
            shapes[port.name] = array.shape
            ins.append(types.memory(port.elem, array))
        program = self._program(shapes, sizes or {})
        made = [types.empty(p.elem, p.shape) for p in program._all]
        session = program._take()
        try:
            data = raised(session.call, tuple(ins), tuple([buffer for _, buffer in made]))
            out = [decode(t, bytes, self.module) if t else _plain(types.unpacked(p.elem, p.shape, a, b))
                   for p, t, bytes, (a, b) in zip(program._all, self._types[1], data, made)]
        finally:
            program._give(session)
        return _rebuild(self._result, 0, iter(out), self.module)[0]

    def _program(self, shapes, sizes):
        key = tuple(sorted(shapes.items())), tuple(sorted(sizes.items()))
        with self._lock:
            program = self._kept(key)
        if program is None:
            dynamic = {p.name for p in self._model.inputs if any(d < 0 for d in p.shape)}
            options = {name: getattr(self._options, name) for name in Options.FIELDS}
            made = self._model.compile(shapes={n: s for n, s in shapes.items() if n in dynamic}, sizes=sizes, **options)
            with self._lock:
                program = self._kept(key) or self._programs.setdefault(key, made)
                while len(self._programs) > PROGRAMS:
                    del self._programs[next(iter(self._programs))]
        return program

    def _kept(self, key):
        program = self._programs.pop(key, None)
        if program is not None:
            self._programs[key] = program
        return program

    def __repr__(self):
        return f"<{self.type}>"


class Module:
    """A program: its functions, structs and constructors are attributes."""

    def __init__(self, path, **options):
        functions, declared = raised(_core.library, path)
        self.__file__ = path
        self._classes, self._structs = {}, {}
        for name, is_struct, constructors in declared:
            for constructor, fields in constructors:
                made = _class(path, constructor, fields, is_struct)
                made = made if fields or is_struct else made()
                (self._structs if is_struct else self._classes)[name if is_struct else (name, constructor)] = made
                self.__dict__.setdefault(constructor, made)
        #: The functions by name.
        self.functions = {name: Function(self, name, type, parameters, **options) for name, type, parameters in functions}
        self.__dict__.update(self.functions)

    def constructor(self, type, name):
        """The class of a constructor, or its only value if it has no fields. `type` is "List[i64]"."""
        made = self._classes.get((type.partition("[")[0], name))
        return made if made is not None else next(c for (_, n), c in self._classes.items() if n == name)

    def struct(self, name):
        return self._structs[name]

    def __repr__(self):
        return f"<wick program {self.__file__!r}: {', '.join(self.functions)}>"


def module_of_text(source, name):
    """The module of a program's text, str or bytes; None: it is something else. The text is kept in a file."""
    text = source.encode() if isinstance(source, str) and "{" in source else source
    if not isinstance(text, (bytes, bytearray, memoryview)) or not _core.is_program(text):
        return None
    folder = tempfile.TemporaryDirectory(prefix="wick-")
    name = os.path.basename(name)
    path = os.path.join(folder.name, name if name.endswith(".wick") else "program.wick")
    with open(path, "wb") as file:
        file.write(text)
    module = Module(path)
    module._folder = folder  # as long as functions may be compiled
    return module


def is_program(path):
    """Does the file look like a program, of the language or in Relay's text?"""
    if os.fspath(path).endswith((".relay", ".rly")):
        return True
    try:
        with open(path, "rb") as file:
            return _core.is_program(file.read(1 << 16))
    except OSError:
        return False  # whoever reads it tells why
