"""Structures of arrays: nested tuples, lists, dicts, named tuples, dataclasses, structs of
`.wick` files and registered classes.

`None` is a structure without leaves. Everything else that is none of these is a leaf."""
import builtins
import collections
import dataclasses
import functools

import numpy as np

from wick.errors import InvalidArgument, TypeMismatch
from wick.language import Struct
from wick.trace.scope import Traced, fail


class Pair:
    """A complex array or number as a node of a structure: its real and its imaginary part. wick.trace.complex has the
    arrays of a trace."""

    __slots__ = ("re", "im")

    def __init__(self, re, im):
        self.re, self.im = re, im


#: Complex types by those of the parts.
_COMPLEX = {np.dtype(np.float32): np.dtype(np.complex64), np.dtype(np.float64): np.dtype(np.complex128)}


def _paired(re, im):
    """What a node of complex numbers is with these parts."""
    if isinstance(re, np.ndarray) and isinstance(im, np.ndarray) and re.shape == im.shape and re.dtype in _COMPLEX and re.dtype == im.dtype:
        made = type(re)(re.shape, _COMPLEX[re.dtype])
        made.real, made.imag = re, im
        return made
    if isinstance(re, Traced) or isinstance(im, Traced):
        from wick.trace.complex import pair
        return pair(re, im)
    if not isinstance(re, (np.ndarray, np.generic, float, int)):
        return getattr(type(re), "paired", Pair)(re, im)
    made = np.empty(np.shape(re), np.result_type(re, np.complex64))
    made.real, made.imag = re, im
    return made.view(type(re)) if isinstance(re, np.ndarray) else made[()]


_CLASSES = {}  # class: (flatten, unflatten, keys), from register


def register(cls, flatten, unflatten, keys=None):
    """Makes instances of a class structures: flatten(x) -> (children, static data), unflatten(data, children) -> x. keys(x)
    are those of the children in paths, by default their numbers."""
    _CLASSES[cls] = flatten, unflatten, keys
    return cls


class Structure:
    """A structure without its leaves. Equal structures have equal hashes."""

    __slots__ = ("kind", "data", "children", "count", "_hash")

    def __init__(self, kind, data, children):
        self.kind, self.data, self.children = kind, data, children
        self.count = 1 if kind is _LEAF else sum([c.count for c in children])
        self._hash = hash((kind, data, children))

    num_leaves = property(lambda self: self.count)

    def unflatten(self, leaves):
        return unflatten(self, leaves)

    def __eq__(self, other):
        return self is other or (isinstance(other, Structure) and self._hash == other._hash and self.kind is other.kind
                                 and self.data == other.data and self.children == other.children)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        if self.kind is _LEAF:
            return "*"
        if self.kind is None:
            return "None"
        if self.kind is Pair:
            return "complex"
        if self.kind is dict:
            return "{" + ", ".join(f"{k!r}: {c!r}" for k, c in zip(self.data[0], self.children)) + "}"
        inner = ", ".join(map(repr, self.children))
        if self.kind is tuple:
            return f"({inner},)" if len(self.children) == 1 else f"({inner})"
        return f"[{inner}]" if self.kind is list else f"{self.kind.__name__}({inner})"

    def build(self, leaves):
        """The structure with the next leaves of an iterator."""
        kind = self.kind
        if kind is _LEAF:
            return next(leaves)
        if kind is None:
            return None
        children = [c.build(leaves) for c in self.children]
        if kind is Pair:
            return _paired(*children)
        if kind is tuple:
            return tuple(children)
        if kind is list:
            return children
        if kind is dict:
            keys, made = self.data
            by_key = dict(zip(keys, children))
            return made(by_key) if made is not dict else by_key
        if kind in _CLASSES:
            return _CLASSES[kind][1](self.data, children)
        if hasattr(kind, "_fields") or issubclass(kind, Struct):
            return kind(*children)
        made = object.__new__(kind)
        for field, child in zip(self.data, children):
            object.__setattr__(made, field, child)
        return made


class _LEAF:
    """The kind of a leaf."""


LEAF = Structure(_LEAF, None, ())
_NONE = Structure(None, None, ())


def _parts(x):
    """(kind, data, children) of one level, or None for a leaf."""
    kind = type(x)
    if x is None:
        return None, None, ()
    if kind is tuple or kind is list:
        return kind, None, x
    if isinstance(x, dict):
        try:
            keys = tuple(x) if kind is collections.OrderedDict else tuple(sorted(x))
        except TypeError:
            keys = tuple(x)
        made = collections.OrderedDict if kind is collections.OrderedDict else dict
        return dict, (keys, made), [x[k] for k in keys]
    if kind in _CLASSES:
        children, data = _CLASSES[kind][0](x)
        return kind, data, tuple(children)
    if isinstance(x, tuple) and hasattr(kind, "_fields"):
        return kind, None, x
    if isinstance(x, Struct):
        return kind, None, x.fields
    if isinstance(x, Pair):
        return Pair, None, (x.re, x.im)
    if kind is complex or (isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind == "c"):
        return Pair, None, (x.real, x.imag)
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = tuple(f.name for f in dataclasses.fields(x))
        return kind, names, [getattr(x, n) for n in names]
    return None


def _add(x, leaves, is_leaf):
    parts = None if is_leaf is not None and is_leaf(x) else _parts(x)
    if parts is None:
        leaves.append(x)
        return LEAF
    kind, data, children = parts
    if kind is None:
        return _NONE
    return Structure(kind, data, tuple([_add(c, leaves, is_leaf) for c in children]))


def flatten(x, is_leaf=None):
    """(leaves, structure)"""
    leaves = []
    return leaves, _add(x, leaves, is_leaf)


def leaves(x, is_leaf=None):
    return flatten(x, is_leaf)[0]


def structure(x, is_leaf=None):
    return flatten(x, is_leaf)[1]


def unflatten(structure, leaves):
    leaves = list(leaves)
    if len(leaves) != structure.count:
        raise InvalidArgument(f"the structure {structure} has {structure.count} leaves, {len(leaves)} are given")
    return structure.build(iter(leaves))


def map(f, x, *others, is_leaf=None):
    """f of each leaf, with the parts of the other structures at its place."""
    first, s = flatten(x, is_leaf)
    rest = [_as(s, o) for o in others]
    return s.build(iter([f(*row) for row in zip(first, *rest)]))


def _as(s, x):
    """The parts of x at the leaves of the structure s; whole subtrees of x may be at a leaf."""
    out = []

    def walk(s, x):
        if s.kind is _LEAF:
            out.append(x)
            return
        parts = _parts(x)
        if parts is None or parts[0] is not s.kind or len(parts[2]) != len(s.children) or parts[1] != s.data:
            fail(TypeMismatch, f"the structures differ: {s} and {structure(x)}")
        for child, part in zip(s.children, parts[2]):
            walk(child, part)

    walk(s, x)
    return out


def broadcast_prefix(prefix, s, what):
    """A value for each leaf of the structure s: `prefix` is a structure whose leaves stand for whole parts of s."""
    out = []

    def walk(prefix, s):
        parts = None if prefix is None else _parts(prefix)
        if parts is None:
            out.extend([prefix] * s.count)
        elif s.kind is _LEAF or len(parts[2]) != len(s.children):
            raise InvalidArgument(f"{what}: {prefix!r} does not fit the structure {s}")
        else:
            for p, child in zip(parts[2], s.children):
                walk(p, child)

    walk(prefix, s)
    return out


def reduce(f, x, *initial, is_leaf=None):
    return functools.reduce(f, leaves(x, is_leaf), *initial)


def all(x, *, is_leaf=None):
    return builtins.all(leaves(x, is_leaf))


def broadcast(prefix, full, is_leaf=None):
    """The structure `full` with the leaves of `prefix`, each as often as there are leaves at its place."""
    s = structure(full, is_leaf)
    return s.build(iter(broadcast_prefix(prefix, s, "broadcast")))


def conjugated(s, leaves):
    """The leaves of a structure with the imaginary parts of complex arrays negated.

    A derivative by a complex array is that by its two parts; JAX, whose products of cotangents have no conjugates, has
    its conjugate."""
    flags = imaginary(s)
    return [-x if f and x is not None else x for x, f in zip(leaves, flags)] if any(flags) else list(leaves)


def imaginary(s):
    """For each leaf of a structure, whether it is the imaginary part of a complex array."""
    if s.kind is _LEAF:
        return [False]
    if s.kind is Pair:
        return [False, True]
    return [f for child in s.children for f in imaginary(child)]


# ---- paths ----

DictKey = collections.namedtuple("DictKey", "key")
SequenceKey = collections.namedtuple("SequenceKey", "idx")
GetAttrKey = collections.namedtuple("GetAttrKey", "name")
FlattenedIndexKey = collections.namedtuple("FlattenedIndexKey", "key")


def keystr(path, *, simple=False, separator=""):
    """A path as Python writes it: ['w'][0].name; simple: the keys alone."""
    if simple:
        return separator.join([str(k[0]) for k in path])
    return separator.join([f".{k.name}" if isinstance(k, GetAttrKey) else f"[{k[0]!r}]" for k in path])


def _keys(x, kind, data, children):
    """The keys of the children of x."""
    if kind is dict:
        return [DictKey(k) for k in data[0]]
    if kind in _CLASSES:
        keys = _CLASSES[kind][2]
        return [FlattenedIndexKey(k) for k in range(len(children))] if keys is None else keys(x)
    names = None if kind in (tuple, list) else getattr(kind, "_fields", None) or data
    return [GetAttrKey(n) for n in names] if names else [SequenceKey(k) for k in range(len(children))]


def _paths(x, is_leaf, path=()):
    """The path of each leaf of x."""
    parts = None if is_leaf is not None and is_leaf(x) else _parts(x)
    if parts is None:
        return [path]
    return [p for key, child in zip(_keys(x, *parts), parts[2]) for p in _paths(child, is_leaf, path + (key,))]


def flatten_with_path(x, is_leaf=None):
    """([(path, leaf)], structure)"""
    found, s = flatten(x, is_leaf)
    return list(zip(_paths(x, is_leaf), found)), s


def leaves_with_path(x, is_leaf=None):
    return flatten_with_path(x, is_leaf)[0]


def map_with_path(f, x, *others, is_leaf=None):
    """f of the path of each leaf, the leaf, and the parts of the other structures at its place."""
    s = structure(x, is_leaf)
    rest = [_as(s, o) for o in (x, *others)]
    return s.build(iter([f(*row) for row in zip(_paths(x, is_leaf), *rest)]))


def transpose(outer, inner, x, is_leaf=None):
    """A structure of structures, turned inside out. `inner` may be None: that of the first part."""
    inner = structure(_as(outer, x)[0], is_leaf) if inner is None else inner
    rows = [leaves(part, is_leaf) for part in _as(outer, x)]
    return inner.build(iter([outer.build(iter(list(column))) for column in zip(*rows)]))
