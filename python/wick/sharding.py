"""Names of jax.sharding. There is one device, so that how arrays lie on devices changes nothing."""
import contextlib
import enum
import math

import numpy as np

from wick import environment
from wick.errors import Unsupported
from wick.trace.scope import fail
from wick.trace.transform import vmap


class PartitionSpec(tuple):
    """By which axes of a mesh the dimensions of an array are divided."""

    def __new__(cls, *axes):
        return super().__new__(cls, axes)

    def __repr__(self):
        return f"PartitionSpec{super().__repr__()}"


class AxisType(enum.Enum):
    """Who decides how arrays are divided along an axis of a mesh."""

    Auto, Explicit, Manual = range(3)


class Mesh:
    """The device, with names for axes of size 1."""

    empty, size = False, 1

    def __init__(self, devices, axis_names, axis_types=None):
        devices = np.asarray(devices, dtype=object)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if devices.size != 1:
            fail(Unsupported, f"the mesh has {devices.size} devices, there is one")
        self.devices = devices.reshape((1,) * len(self.axis_names))
        self.shape = dict.fromkeys(self.axis_names, 1)
        self.axis_types = axis_types

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def make_mesh(axis_shapes, axis_names, axis_types=None, *, devices=None):
    """A mesh of axes of size 1."""
    if math.prod(axis_shapes) != 1:
        fail(Unsupported, f"the mesh has {math.prod(axis_shapes)} devices, there is one")
    return Mesh(devices or environment.devices(), axis_names, axis_types)


@contextlib.contextmanager
def use_mesh(mesh):
    """The mesh; nothing depends on it."""
    yield mesh


set_mesh = use_mesh


class Sharding:
    """Where an array is."""

    is_fully_replicated = is_fully_addressable = True
    num_devices = 1


class NamedSharding(Sharding):
    """On a mesh, divided by a PartitionSpec."""

    def __init__(self, mesh, spec, *, memory_kind=None):
        self.mesh, self.spec, self.memory_kind = mesh, spec, memory_kind


class SingleDeviceSharding(Sharding):
    """On one device."""

    def __init__(self, device, *, memory_kind=None):
        self.device, self.memory_kind = device, memory_kind


def shard_map(f=None, mesh=None, in_specs=None, out_specs=None, *, axis_names=(), **_):
    """f, with axes of size 1 for psum and its like: those of the mesh."""
    if f is None:
        return lambda f: shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, axis_names=axis_names)
    names = mesh.axis_names if mesh is not None else tuple(axis_names)
    for name in names:
        f = _with_axis(f, name)
    return f


def _with_axis(f, name):
    return vmap(f, in_axes=None, out_axes=None, axis_name=name, axis_size=1)


def pmap(f, axis_name=None, *, in_axes=0, out_axes=0, static_broadcasted_argnums=(), **_):
    """f of the one row of its arguments, for the one device."""
    from wick.trace import tree
    from wick.trace.function import function

    def rows(*args):
        counts = {np.shape(x)[a] for x, a in zip(tree.leaves(args), tree.broadcast_prefix(in_axes, tree.structure(args), "pmap: in_axes")) if a is not None}
        if counts != {1}:
            fail(Unsupported, f"pmap: the arguments have {' and '.join(map(str, sorted(counts))) or 'no'} rows, there is one device: use wick.vmap")
        return vmap(f, in_axes, out_axes, axis_name)(*args)

    return function(rows, static=static_broadcasted_argnums)
