"""Inputs and outputs of a model, and those of compiled code, which are only arrays: a sequence is a list of arrays
NAME.0, NAME.1, ..., an optional without a value is None, a map is a dict of the values in an array NAME, whose keys
are known, or of the arrays NAME.keys and NAME.values; a sequence of maps is a list of dicts."""
import collections
import collections.abc
import functools
import json
import numbers
import re

import numpy as np

from wick import _core, types
from wick.errors import TypeMismatch


@functools.cache
def _key(type):
    return re.search(r"map\((\w+),|$", type).group(1)


class Port(collections.namedtuple("Port", "name elem shape symbols type keys", defaults=("", None))):
    """An input or output: its name, Wick's element type, sizes (-1: dynamic; None if the rank is dynamic), names of
    dynamic sizes.

    `type`: "" for a tensor, which uses none of the following; seq(f32), optional(f32), optional(seq(f32)),
    map(string,f32), seq(map(i64,f32)): then `shape` is None, and `elem` is the type of a map's values. `keys`: the keys
    of a map, or None if they are not known.
    """

    __slots__ = ()
    seq = property(lambda self: "seq(" in self.type)
    optional = property(lambda self: self.type.startswith("optional("))
    map = property(lambda self: "map(" in self.type)
    #: The element type of a map's keys.
    key = property(lambda self: _key(self.type))

    def onnx_type(self):
        """seq(map(int64,tensor(float))"""
        if not self.type:
            return f"tensor({types.onnx_name(self.elem)})"
        text = re.sub(r"map\((\w+),", lambda m: f"map({types.onnx_name(m.group(1))},", self.type)
        return re.sub(rf"([(,]){self.elem}\)", rf"\1tensor({types.onnx_name(self.elem)}))", text, count=1)


class Ports:
    """`all`: the model's own inputs or outputs, built from the arrays `flat` and from the metadata."""

    def __init__(self, kind, flat, metadata):
        prefix, noted = f"onnx.{kind}.", {}
        for key, text in metadata.items():
            if key.startswith(prefix):
                at, count, type, *keys = text.split(" ", 3)
                noted[int(at)] = key[len(prefix):], 0 if count == "?" else int(count), type, tuple(json.loads(keys[0])) if keys else None
        ports, self._take, at = [], [], 0  # for each: its first index in `flat`, and the number of arrays; None: a tensor
        while at < len(flat) or len(ports) in noted:
            name, count, type, keys = noted.get(len(ports), ("", None, "", None))
            if count is None:
                ports.append(flat[at])
            else:
                elem = re.search(r"(\w+)\)*$", type).group(1)
                ports.append(Port(name, elem, None, (), type, keys))
            self._take.append((at, count))
            at += 1 if count is None else max(count, 0)
        self.all, self.plain = tuple(ports), not noted
        keys = [p.keys or () for p in self.all]
        self._places = [{key: i for i, key in enumerate(k)} for k in keys]
        self._order = [tuple(sorted(range(len(k)), key=k.__getitem__)) for k in keys]
        self._sorted = [tuple(k[i] for i in order) for k, order in zip(keys, self._order)]

    def flat(self, values):
        """Values of the model's inputs -> arrays of the code's."""
        if self.plain:
            return values
        out = []
        for port, value, places in zip(self.all, values, self._places):
            if not port.type:
                out.append(value)
            elif port.map:
                out.extend(spread(port, value) if port.keys is None else [filled(port, places, value)])
            else:
                out.extend(elements(port, value))
        return out

    def packed(self, arrays):
        """Arrays of the code's outputs -> values of the model's."""
        if self.plain:
            return arrays
        out = []
        for port, (at, count), keys, order in zip(self.all, self._take, self._sorted, self._order):
            if count is not None and port.map:
                out.append(dicts(port, keys, order, arrays[at]) if port.keys is not None else
                           dicts(port, tuple(arrays[at].tolist()), tuple(range(arrays[at].size)), arrays[at + 1]))
            elif count is None or (count == 1 and not port.seq):
                out.append(arrays[at])
            else:
                out.append(None if count < 0 else list(arrays[at:at + count]))
        return out


# ---- maps ----

# For element types: the name of the Python objects, and their types.
_KINDS = {"string": (str, "a string", {str}), "i64": (numbers.Integral, "an integer", {int})}
_NUMBER = numbers.Real, "a number", {float, int}


def as_map(port, value):
    """A dict that an input takes."""
    if not isinstance(value, collections.abc.Mapping):
        raise TypeMismatch(f"input \"{port.name}\" is {port.type}: expected a dict, {type(value).__name__} is given")
    value = dict(value)
    key, number = _KINDS[port.key], _KINDS.get(port.elem, _NUMBER)
    if not (set(map(type, value)) <= key[2] and set(map(type, value.values())) <= number[2]):
        _check(port, value, key, number)
    return value


def _check(port, value, key, number):
    place = f"input \"{port.name}\" is {port.type}: expected"
    for k, x in value.items():
        if not isinstance(k, key[0]) or isinstance(k, bool):
            raise TypeMismatch(f"{place} {key[1]} for a key, {k!r} is given")
        if not isinstance(x, number[0]):
            raise TypeMismatch(f"{place} {number[1]} for the key {k!r}, {x!r} is given")


def _fill(port, array, places, values):
    try:
        for at, x in zip(places, values):
            array[at] = x
    except OverflowError as e:
        raise TypeMismatch(f"input \"{port.name}\" is {port.type}: a number does not fit: {e}") from None
    return array


def _empty(elem, n):
    return np.full(n, "", object) if elem == "string" else np.zeros(n, types.dtype(elem))


def spread(port, value):
    """All keys, in order, and all values."""
    keys, n = sorted(value), len(value)
    return [_fill(port, _empty(port.key, n), range(n), keys), _fill(port, _empty(port.elem, n), range(n), map(value.get, keys))]


def filled(port, places, value):
    """The values of the keys that the code knows; of those that the map has not, 0 or \"\"."""
    known = [(places[key], x) for key, x in value.items() if key in places]
    return _fill(port, _empty(port.elem, len(places)), *zip(*known)) if known else _empty(port.elem, len(places))


def dicts(port, keys, order, values):
    """A list of dicts, or one, with the keys in this order, whose values are in these columns."""
    if port.seq and port.elem == "f32" and keys:
        return _core.dicts(keys, order, values)
    rows = values[..., list(order)].tolist()
    return [dict(zip(keys, row)) for row in rows] if port.seq else dict(zip(keys, rows))


# ---- shapes that code is compiled for ----


def elements(port, value):
    """The arrays that a sequence or an optional consists of."""
    return [] if value is None else value if port.seq else [value]


def shape_of(port, value):
    """The shapes that code is compiled for: an array's shape, the shapes of a list's arrays, None for None, and the
    number of keys of a map if they are not known."""
    if value is None:
        return None
    if isinstance(value, dict):
        return () if port.keys is not None else (len(value),)
    return tuple([a.shape for a in value]) if isinstance(value, list) else value.shape


def shapes_of(ports, values):
    """{name: shape} for compiling: of a list also its number of elements, and each element's shape."""
    shapes = {}
    for port, value in zip(ports, values):
        if not port.type:
            shapes[port.name] = value.shape
        elif port.map:
            parts = ("keys", "values") if port.keys is None else ()
            shapes.update({f"{port.name}.{part}": (len(value),) for part in parts})
        else:
            parts = elements(port, value)
            shapes[port.name] = (-1 if value is None else len(parts),)
            shapes.update({f"{port.name}.{k}": a.shape for k, a in enumerate(parts)})
    return shapes
