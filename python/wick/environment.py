"""Names of jax about devices, settings and the like: there is one device, the processor."""
import contextlib

import numpy as np

from wick.errors import Unsupported
from wick.trace import ops, scope as scopes, tree
from wick.trace.host import array
from wick.trace.scope import Traced, fail
from wick.trace.tree import Pair


class _ArrayType(type):
    def __instancecheck__(cls, x):
        return isinstance(x, (Traced, Pair, array, np.generic)) or (type(x) is np.ndarray and not x.ndim)


class Array(metaclass=_ArrayType):
    """For isinstance(x, wick.Array): arrays of traced functions, and results outside of them."""


class Device:
    """The processor."""

    platform, device_kind, id, process_index = "cpu", "cpu", 0, 0

    def __repr__(self):
        return "CpuDevice(id=0)"


_CPU = Device()


def devices(backend=None):
    """A list of the one device."""
    return [_CPU]


def device_count(backend=None):
    """1"""
    return 1


def process_index(backend=None):
    """0"""
    return 0


def default_backend():
    """The name of the device's kind."""
    return "cpu"


local_devices, local_device_count, process_count, host_id, host_count = devices, device_count, device_count, process_index, device_count


def device_put(x, device=None, **_):
    """The structure with its numbers and lists as arrays."""
    return tree.map(lambda v: v if isinstance(v, (Traced, np.ndarray)) else ops.array(v) if scopes.current() else np.asarray(v), x)


def device_get(x):
    """The structure itself: arrays outside of traced functions are NumPy's."""
    return x


@contextlib.contextmanager
def named_scope(name):
    """A name for what is traced inside; errors name lines instead."""
    yield


def named_call(f, *, name=None):
    """f itself."""
    return f


@contextlib.contextmanager
def ensure_compile_time_eval():
    """What is computed of NumPy's arrays inside stays NumPy's."""
    outer, scopes._state.scope = scopes.current(), None
    try:
        yield
    finally:
        scopes._state.scope = outer


def clear_caches():
    """Forgets the compiled functions of wick.numpy outside of traced functions."""
    from wick.trace import eager
    eager._functions.clear()


def effects_barrier():
    """Nothing: a call returns when its effects are done."""


def custom_gradient(f):
    """f(*args) -> (result, the function that gives the cotangents of its arguments), as a function with that derivative."""
    from wick.trace.custom import custom_vjp
    made = custom_vjp(lambda *args: f(*args)[0])

    def backward(args, g):
        found = f(*args)[1](g)
        return found if isinstance(found, tuple) else (found,)

    made.defvjp(lambda *args: (made(*args), args), backward)
    return made


def make_jaxpr(f, static_argnums=()):
    """The function that gives the text of the program that is traced, in the language."""
    from wick.trace.function import jit
    return lambda *args, **named: jit(f, static_argnums=static_argnums).lower(*args, **named).text


class Config:
    """Settings of jax: those that change what is computed are refused, the others have no effect."""

    jax_enable_x64 = False
    x64_enabled = False

    def update(self, name, value):
        if name == "jax_enable_x64" and value:
            fail(Unsupported, "jax_enable_x64: the default types are float32 and int64 here. Arrays of float64 stay float64: give dtype=wick.numpy.float64 "
                              "to functions that make arrays")
        if name in ("jax_debug_nans", "jax_debug_infs", "jax_disable_jit") and value:
            fail(Unsupported, f"{name} is not supported")
        setattr(self, name, value)


config = Config()


def _refused(name, instead):
    def f(*_, **__):
        fail(Unsupported, f"wick.{name}: {instead}")
    f.__name__ = name
    return f


class _Policies:
    """jax.checkpoint_policies: what a derivative keeps. `checkpoint` keeps the arguments, with any of them."""

    def __getattr__(self, name):
        return lambda *_, **__: None


checkpoint_policies = _Policies()


@contextlib.contextmanager
def _nothing(*_, **__):
    """A setting that has no effect here."""
    yield


default_matmul_precision = default_device = log_compiles = checking_leaks = check_tracer_leaks = _nothing
numpy_dtype_promotion = numpy_rank_promotion = transfer_guard = enable_checks = _nothing


def typeof(x):
    """The shape and type of an array."""
    from wick.trace.function import ShapeDtype
    return ShapeDtype(np.shape(x), x.dtype if hasattr(x, "dtype") else ops.elem_for(x)[0])


@contextlib.contextmanager
def disable_jit(disable=True):
    """What wick.function and wick.jit made runs as a function of Python inside, with arrays of NumPy: each function of
    wick.numpy by itself."""
    from wick.trace.function import Function
    outer, Function.direct = Function.direct, bool(disable)
    try:
        yield
    finally:
        Function.direct = outer


_NO_CALLS = "a compiled function does not call Python. Return what the call needs, or compute it before"
pure_callback, io_callback = [_refused(n, _NO_CALLS) for n in ("pure_callback", "io_callback")]
