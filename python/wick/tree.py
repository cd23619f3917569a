"""Structures as programs see them: those of wick.trace.tree, where complex arrays are leaves."""
from wick.trace import spelling, tree as _tree
from wick.trace.complex import is_complex as _is_complex
from wick.trace.tree import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey, Structure, keystr, register, unflatten  # noqa: F401


def _leaf(is_leaf):
    return _is_complex if is_leaf is None else lambda x: _is_complex(x) or is_leaf(x)


def flatten(x, is_leaf=None):
    """(leaves, structure)"""
    return _tree.flatten(x, _leaf(is_leaf))


def leaves(x, is_leaf=None):
    """The leaves in their order."""
    return _tree.flatten(x, _leaf(is_leaf))[0]


def structure(x, is_leaf=None):
    """The structure without its leaves."""
    return _tree.flatten(x, _leaf(is_leaf))[1]


def map(f, tree, *rest, is_leaf=None):
    """f of each leaf, with the parts of the other structures at its place."""
    return _tree.map(f, tree, *rest, is_leaf=_leaf(is_leaf))


_NOTHING = object()


def reduce(function, tree, initializer=_NOTHING, is_leaf=None):
    """function of what was made so far and the next leaf, from the first one or `initializer`."""
    return _tree.reduce(function, tree, *(() if initializer is _NOTHING else (initializer,)), is_leaf=_leaf(is_leaf))


def all(x, *, is_leaf=None):
    """Are all leaves true?"""
    return _tree.all(x, is_leaf=_leaf(is_leaf))


def broadcast(prefix, full, is_leaf=None):
    """The structure `full` with the leaves of `prefix`, each as often as there are leaves at its place."""
    return _tree.broadcast(prefix, full, _leaf(is_leaf))


def flatten_with_path(x, is_leaf=None):
    """([(path, leaf)], structure)"""
    return _tree.flatten_with_path(x, _leaf(is_leaf))


def leaves_with_path(x, is_leaf=None):
    """[(path, leaf)]"""
    return _tree.flatten_with_path(x, _leaf(is_leaf))[0]


def map_with_path(f, tree, *rest, is_leaf=None):
    """f of the path of each leaf, the leaf, and the parts of the other structures at its place."""
    return _tree.map_with_path(f, tree, *rest, is_leaf=_leaf(is_leaf))


def transpose(outer, inner, x):
    """A structure of structures, turned inside out. `inner` may be None: that of the first part."""
    return _tree.transpose(outer, inner, x, _leaf(None))


spelling.spell(__name__, globals())
