"""Names of jax.tree_util for wick.tree."""
import dataclasses
import functools

from wick import tree
from wick.trace import spelling
from wick.tree import (DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey, Structure as PyTreeDef, all as tree_all,  # noqa: F401
                             broadcast as tree_broadcast, flatten as tree_flatten, flatten_with_path as tree_flatten_with_path, keystr,
                             leaves as tree_leaves, leaves_with_path as tree_leaves_with_path, map as tree_map,
                             map_with_path as tree_map_with_path, reduce as tree_reduce, register as register_pytree_node,
                             structure as tree_structure, transpose as tree_transpose, unflatten as tree_unflatten)


class Partial(functools.partial):
    """A function with some of its arguments, which are structures of arrays."""


tree.register(Partial, lambda p: ((p.args, p.keywords), p.func), lambda f, parts: Partial(f, *parts[0], **parts[1]))


def register_pytree_node_class(cls):
    """A class with tree_flatten(self) -> (children, static data) and the class method tree_unflatten(static data, children)."""
    return tree.register(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)


def register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten_func=None):
    """A class by flatten_with_keys(x) -> ([(key, child)], static data)."""

    def flatten(x):
        children, data = flatten_with_keys(x)
        return [child for _, child in children], data

    return tree.register(cls, flatten_func or flatten, unflatten, lambda x: [key for key, _ in flatten_with_keys(x)[0]])


def register_pytree_with_keys_class(cls):
    """A class with tree_flatten_with_keys(self) -> ([(key, child)], static data) and the class method tree_unflatten."""
    return register_pytree_with_keys(cls, lambda x: x.tree_flatten_with_keys(), cls.tree_unflatten)


def treedef_is_leaf(treedef):
    """Whether a structure is a leaf."""
    return not treedef.children and treedef.count == 1


def treedef_children(treedef):
    """The structures inside of a structure."""
    return list(treedef.children)


def treedef_tuple(treedefs):
    """The structure of a tuple of structures."""
    return PyTreeDef(tuple, None, tuple(treedefs))


def all_leaves(iterable, is_leaf=None):
    """Whether all items are leaves."""
    items = list(iterable)
    return tree_leaves(items, is_leaf) == items


def register_dataclass(cls, data_fields=None, meta_fields=None, drop_fields=()):
    """A dataclass whose `data_fields` are structures of arrays and whose `meta_fields` are static. Without names, fields with
    metadata={"static": True} are static."""
    if data_fields is None:
        fields = [f for f in dataclasses.fields(cls) if f.init and f.name not in drop_fields]
        meta_fields = [f.name for f in fields if f.metadata.get("static", False)]
        data_fields = [f.name for f in fields if f.name not in meta_fields]
    data, meta = tuple(data_fields), tuple(meta_fields or ())

    def flatten(x):
        return [getattr(x, n) for n in data], tuple([getattr(x, n) for n in meta])

    return tree.register(cls, flatten, lambda static, children: cls(**dict(zip(data, children)), **dict(zip(meta, static))),
                         lambda x: [GetAttrKey(n) for n in data])


def register_static(cls):
    """A class whose instances are static, and have no leaves."""
    return tree.register(cls, lambda x: ((), x), lambda x, _: x)


spelling.spell(__name__, globals())
