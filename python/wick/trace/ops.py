"""Operations on traced arrays with their rules for types and shapes: one function for each kind of operator.

The compiler infers the types again: those of the results of a traced function are declared in its text, so that a rule
that is wrong is an error."""
import functools
import math
import operator

import numpy as np

from wick.errors import InvalidArgument, OutOfRange, TypeMismatch
from wick.trace import elements
from wick.trace.scope import Traced, constant, emit, emit_all, fail, name_of, number, sizes, type_of, type_text
from wick.trace.tree import Pair


# ---- operands ----


def is_number(x):
    """Is it a number whose type follows from the context? NumPy's f64 and i64 scalars are, as Python's numbers."""
    return isinstance(x, (bool, int, float)) or isinstance(x, (np.int64, np.bool_))


def array(x):
    """What a program gives as an array, as a traced one."""
    if isinstance(x, Traced):
        return x
    if is_number(x):
        return number(x, elements.number(x), weak=True)
    if isinstance(x, (np.ndarray, np.generic)):
        return constant(np.asarray(x))
    if isinstance(x, (list, tuple)):
        return _nested(x)
    if hasattr(x, "__array__") or hasattr(x, "__dlpack__"):
        return constant(np.asarray(x) if hasattr(x, "__array__") else np.from_dlpack(x))
    if isinstance(x, (Pair, complex)):
        fail(TypeMismatch, "complex numbers are given to a function that takes none: use it for the real and the imaginary part")
    fail(TypeMismatch, f"expected an array, a value of the type {type(x).__name__} is given")


def _nested(x):
    from wick.trace import tree
    leaves = tree.leaves(x)
    if not any(isinstance(v, Traced) for v in leaves):
        made = np.array(x)
        if all(is_number(v) for v in leaves):
            kinds = [elements.RANK[elements.number(v)] for v in leaves]
            made = made.astype({0: np.bool_, 1: np.int64, 2: np.float32}[max(kinds)] if kinds else np.float32)
        return constant(made)
    items = [array(v) for v in x]
    items = convert(*items)
    return concat([reshape(i, (1,) + i.shape) for i in items], 0)


def elem_for(x):
    """(element type, is it weak?) of an operand that is not converted yet."""
    if isinstance(x, Traced):
        return x.elem, x.weak
    if is_number(x):
        return elements.number(x), True
    x = array(x)
    return x.elem, x.weak


def common(*xs):
    """The element type that operands have in common, and whether it is weak."""
    elem, weak = elem_for(xs[0])
    for x in xs[1:]:
        other, other_weak = elem_for(x)
        made = elements.promote(elem, weak, other, other_weak)
        if made is None:
            fail(TypeMismatch, f"{elem} and {other} have no common type: convert one of them with astype")
        elem, weak = made
    return elem, weak


def as_elem(x, elem, weak=False):
    """x as an array of an element type."""
    if is_number(x):
        if elements.is_whole(elem) and isinstance(x, float):
            x = int(x)
        return number(bool(x) if elem == "bool" else x, elem, weak)
    x = array(x)
    if x.elem == elem:
        return x if x.weak == weak else type(x)(x.scope, x.name, elem, x.shape, weak)
    if x.weak and elements.is_float(elem) and elements.is_float(x.elem) and isinstance(getattr(x, "given", None), float):
        return number(x.given, elem, weak)
    return emit(f"{elem}({name_of(x)})", elem, x.shape, weak)


def convert(*xs):
    """The operands with one element type."""
    elem, weak = common(*xs)
    return [as_elem(x, elem, weak) for x in xs]


def floating(x):
    """x as floats: whole numbers become the default type."""
    x = array(x)
    return x if elements.is_float(x.elem) else as_elem(x, elements.FLOAT, x.weak)


# ---- shapes ----


@functools.lru_cache(4096)
def _broadcast(a, b):
    out = []
    for k in range(max(len(a), len(b))):
        m = a[-1 - k] if k < len(a) else 1
        n = b[-1 - k] if k < len(b) else 1
        if m != n and m != 1 and n != 1:
            return None
        out.append(n if m == 1 else m)
    return tuple(reversed(out))


def broadcast_shapes(what, *shapes):
    out = ()
    for shape in shapes:
        made = _broadcast(out, shape)
        if made is None:
            fail(InvalidArgument, f"{what}: the shapes {' and '.join(map(str, shapes))} do not broadcast")
        out = made
    return out


def whole(what, n):
    """A whole number that is known while tracing."""
    if isinstance(n, Traced):
        fail(TypeMismatch, f"{what}: a traced value is given, but this has to be known when the function is compiled: "
                           "pass it as a static argument")
    try:
        return operator.index(n)
    except TypeError:
        fail(TypeMismatch, f"{what}: {n!r} is no whole number")


def axis_of(what, axis, rank):
    axis = whole(f"{what}: axis", axis)
    if not -rank <= axis < rank:
        fail(OutOfRange, f"{what}: axis {axis} is outside of the {rank} dimensions")
    return axis % rank


def axes_of(what, axis, rank):
    """Axes that a program names: None for all, one, or several."""
    if axis is None:
        return tuple(range(rank))
    if not isinstance(axis, (tuple, list)):
        return (axis_of(what, axis, rank),)
    axes = tuple([axis_of(what, a, rank) for a in axis])
    if len(set(axes)) != len(axes):
        fail(InvalidArgument, f"{what}: an axis occurs twice in {tuple(axis)}")
    return axes


def shape_of(what, shape):
    if isinstance(shape, (tuple, list, np.ndarray)):
        return tuple([whole(what, n) for n in shape])
    return (whole(what, shape),)


# ---- element by element ----


def attributes(attrs):
    return "".join([f", {k} = {_attribute(v)}" for k, v in attrs.items()])


def _attribute(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, str):
        return f'"{v}"'
    if isinstance(v, (tuple, list)):
        return sizes(v)
    return repr(v)


def unary(op, x, elem=None, **attrs):
    return emit(f"op.{op}({name_of(x)}{attributes(attrs)})", elem or x.elem, x.shape, x.weak and elem is None)


def binary(op, x, y, elem=None, what=None):
    """An operator on two operands, which are converted and broadcast."""
    x, y = convert(x, y)
    return same(op, x, y, elem=elem, what=what)


def same(op, *xs, elem=None, what=None):
    """An operator on operands of one type, which are broadcast."""
    shape = broadcast_shapes(what or op, *[x.shape for x in xs])
    return emit(f"op.{op}({', '.join([name_of(x) for x in xs])})", elem or xs[0].elem, shape, elem is None and all([x.weak for x in xs]))


def where(condition, x, y):
    condition = as_elem(array(condition), "bool") if not _is_bool(condition) else array(condition)
    x, y = convert(x, y)
    shape = broadcast_shapes("where", condition.shape, x.shape, y.shape)
    return emit(f"op.where({name_of(condition)}, {name_of(x)}, {name_of(y)})", x.elem, shape, x.weak and y.weak)


def _is_bool(x):
    return isinstance(x, Traced) and x.elem == "bool"


# ---- reductions ----


def reduce(op, x, axis=None, keepdims=False, elem=None):
    """`op` is the operator's name without `reduce_`."""
    axes = axes_of(op, axis, x.ndim)
    if not axes:
        return x if elem is None else as_elem(x, elem)
    shape = tuple([1 if k in axes else n for k, n in enumerate(x.shape) if keepdims or k not in axes])
    return emit(f"op.reduce_{op}({name_of(x)}, axes = {sizes(axes)}, keepdims = {_attribute(bool(keepdims))})", elem or x.elem, shape, False)


def arg_reduce(op, x, axis, keepdims):
    if axis is None:
        flat = arg_reduce(op, reshape(x, (x.size,)), 0, False)
        return reshape(flat, (1,) * x.ndim) if keepdims else flat
    axis = axis_of(op, axis, x.ndim)
    if x.shape[axis] == 0:
        fail(InvalidArgument, f"{op}: axis {axis} has no elements")
    shape = x.shape[:axis] + ((1,) if keepdims else ()) + x.shape[axis + 1:]
    return emit(f"op.{op}({name_of(x)}, axis = {axis}, keepdims = {_attribute(bool(keepdims))})", "i64", shape)


def cumulative(op, x, axis, **attrs):
    axis = axis_of(op, axis, x.ndim)
    return emit(f"op.{op}({name_of(x)}, axis = {axis}{attributes(attrs)})", x.elem, x.shape)


# ---- shapes of arrays ----


def reshape(x, shape):
    shape = tuple(shape)
    if shape == x.shape:
        return x
    if -1 in shape:
        rest = math.prod([n for n in shape if n != -1])
        if shape.count(-1) > 1 or (x.size % rest if rest else x.size):
            fail(InvalidArgument, f"reshape: an array of the shape {x.shape} cannot have the shape {shape}")
        shape = tuple([(x.size // rest if rest else 0) if n == -1 else n for n in shape])
    if math.prod(shape) != x.size:
        fail(InvalidArgument, f"reshape: an array of the shape {x.shape} cannot have the shape {shape}")
    if shape == x.shape:
        return x
    return emit(f"op.reshape({name_of(x)}, shape = {sizes(shape)})", x.elem, shape, x.weak)


def transpose(x, perm):
    perm = tuple(perm)
    if perm == tuple(range(x.ndim)):
        return x
    return emit(f"op.transpose({name_of(x)}, perm = {sizes(perm)})", x.elem, tuple([x.shape[p] for p in perm]), x.weak)


def move(x, source, to):
    """x with one axis at another place."""
    perm = [k for k in range(x.ndim) if k != source]
    perm.insert(to, source)
    return transpose(x, perm)


def broadcast_to(x, shape):
    shape = tuple(shape)
    if x.shape == shape:
        return x
    if _broadcast(x.shape, shape) != shape:
        fail(InvalidArgument, f"broadcast_to: the shape {x.shape} does not broadcast to {shape}")
    return emit(f"op.broadcast_to({name_of(x)}, shape = {sizes(shape)})", x.elem, shape, x.weak)


def full(shape, value, elem):
    return broadcast_to(as_elem(value, elem), shape)


def concat(xs, axis):
    first = xs[0]
    for x in xs[1:]:
        if x.ndim != first.ndim or any(m != n for k, (m, n) in enumerate(zip(x.shape, first.shape)) if k != axis):
            fail(InvalidArgument, f"concat along axis {axis}: the shapes {' and '.join([str(v.shape) for v in xs])} do not fit together")
    if len(xs) == 1:
        return first
    total = sum([x.shape[axis] for x in xs])
    shape = first.shape[:axis] + (total,) + first.shape[axis + 1:]
    return emit(f"op.concat({', '.join([name_of(x) for x in xs])}, axis = {axis})", first.elem, shape)


def slice(x, begin, shape, step=None):
    begin, shape = tuple(begin), tuple(shape)
    step = tuple(step) if step is not None else (1,) * x.ndim
    if shape == x.shape and not any(begin) and all([s == 1 for s in step]):
        return x
    if 0 in shape:
        return full(shape, 0, x.elem)
    steps = f", step = {sizes(step)}" if any([s != 1 for s in step]) else ""
    return emit(f"op.slice({name_of(x)}, begin = {sizes(begin)}, shape = {sizes(shape)}{steps})", x.elem, shape)


def slice_axis(x, axis, begin, count, step=1):
    at, shape, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    at[axis], shape[axis], steps[axis] = begin, count, step
    return slice(x, at, shape, steps)


def pad(x, before, after, mode="constant", value=None):
    shape = tuple([n + b + a for n, b, a in zip(x.shape, before, after)])
    if not any(before) and not any(after):
        return x
    fill = f", {name_of(as_elem(value, x.elem))}" if value is not None and not (is_number(value) and value == 0) else ""
    return emit(f'op.pad({name_of(x)}{fill}, pad = {sizes(tuple(before) + tuple(after))}, mode = "{mode}")', x.elem, shape)


# ---- products ----


def matmul(x, y):
    x, y = convert(x, y)
    if not x.ndim or not y.ndim:
        fail(InvalidArgument, f"matmul: both operands need a dimension, the shapes are {x.shape} and {y.shape}")
    inner = x.shape[-1], y.shape[-2] if y.ndim > 1 else y.shape[0]
    if inner[0] != inner[1]:
        fail(InvalidArgument, f"matmul: the shapes {x.shape} and {y.shape} do not fit together: the inner sizes are {inner[0]} and {inner[1]}")
    batch = broadcast_shapes("matmul", x.shape[:-2], y.shape[:-2])
    shape = batch + (x.shape[-2:-1] if x.ndim > 1 else ()) + (y.shape[-1:] if y.ndim > 1 else ())
    if x.elem == "bool":
        return as_elem(emit(f"op.matmul(i32({name_of(x)}), i32({name_of(y)}))", "i32", shape), "bool")
    return emit(f"op.matmul({name_of(x)}, {name_of(y)})", x.elem, shape)


# ---- indices ----


def gather(x, indices, axis):
    """Rows of x along an axis; the indices are within bounds."""
    shape = x.shape[:axis] + indices.shape + x.shape[axis + 1:]
    return emit(f"op.gather({name_of(x)}, {name_of(indices)}, axis = {axis})", x.elem, shape)


def gather_elements(x, indices, axis):
    return emit(f"op.gather_elements({name_of(x)}, {name_of(indices)}, axis = {axis})", x.elem, indices.shape)


def dynamic_index(x, index, axis):
    """x at one index, which is clamped."""
    shape = x.shape[:axis] + x.shape[axis + 1:]
    return emit(f"op.dynamic_index({name_of(x)}, {name_of(index)}, axis = {axis})", x.elem, shape)


def top_k(x, k, axis, least):
    shape = x.shape[:axis] + (k,) + x.shape[axis + 1:]
    return emit_all(f"op.top_k({name_of(x)}, k = {k}, axis = {axis}, least = {_attribute(least)})", [(x.elem, shape), ("i64", shape)])


def iota(count, elem="i64", start=0, step=1):
    if count == 0:
        return full((0,), 0, elem)
    return emit(f"op.range({name_of(number(start, elem))}, {name_of(number(step, elem))}, count = ({count},))", elem, (count,))


def typed(text, elem, shape):
    """An operator whose result type is given."""
    return emit(f"({text} : {type_text(elem, shape)})", elem, shape)


def bitcast(x, elem):
    """The bits of x as another type of the same size; they have no derivative."""
    x = unary("stop_gradient", x) if elements.is_float(x.elem) else x
    return typed(f"op.bitcast({name_of(x)})", elem, x.shape)


__all__ = [name for name in globals() if not name.startswith("_")]
