"""Inputs and outputs as a model has them, and as compiled code has them: a sequence is a list of arrays, an
optional without a value is None, and each array is an input or output of its own, NAME.0, NAME.1, ..."""
import collections

Port = collections.namedtuple("Port", "name elem shape symbols type", defaults=("",))
Port.__doc__ = """An input or output: its name, Wick's element type, sizes (-1: open), names of open sizes.

`type`: "" for a tensor; seq(f32), optional(f32), optional(seq(f32)), then `shape` is None."""


class Ports:
    """`all`: the model's own inputs or outputs, made of the tensors `flat` and of what the metadata say of lists."""

    def __init__(self, kind, flat, metadata):
        prefix, lists = f"onnx.{kind}.", {}
        for key, text in metadata.items():
            if key.startswith(prefix):
                at, count, type = text.split(" ")
                lists[int(at)] = key[len(prefix):], 0 if count == "?" else int(count), type
        ports, self._take, at = [], [], 0  # of each: where it begins in `flat`, how many; None: a tensor
        while at < len(flat) or len(ports) in lists:
            name, count, type = lists.get(len(ports), ("", None, ""))
            if count is None:
                ports.append(flat[at])
            else:
                elem = type.rstrip(")").rpartition("(")[2]
                ports.append(Port(name, elem, None, (), type))
            self._take.append((at, count))
            at += 1 if count is None else max(count, 0)
        self.all, self.plain = tuple(ports), not lists

    def flat(self, values):
        """Values of the model's inputs -> arrays of the code's."""
        if self.plain:
            return values
        out = []
        for port, value in zip(self.all, values):
            out.extend([value] if not port.type else elements(port, value))
        return out

    def packed(self, arrays):
        """Arrays of the code's outputs -> values of the model's."""
        if self.plain:
            return arrays
        out = []
        for port, (at, count) in zip(self.all, self._take):
            if count is None or (count == 1 and "seq" not in port.type):
                out.append(arrays[at])
            else:
                out.append(None if count < 0 else list(arrays[at:at + count]))
        return out


def elements(port, value):
    """The arrays that a sequence or an optional consists of."""
    return [] if value is None else value if "seq" in port.type else [value]


def shape_of(value):
    """What code is compiled for: an array's shape, of a list those of its arrays, None for None."""
    if value is None:
        return None
    return tuple([a.shape for a in value]) if isinstance(value, list) else value.shape


def shapes_of(ports, values):
    """{name: shape} for compiling: of a list also its number of elements, and each element's shape."""
    shapes = {}
    for port, value in zip(ports, values):
        if not port.type:
            shapes[port.name] = value.shape
            continue
        parts = elements(port, value)
        shapes[port.name] = (-1 if value is None else len(parts),)
        shapes.update({f"{port.name}.{k}": a.shape for k, a in enumerate(parts)})
    return shapes
