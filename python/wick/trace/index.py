"""x[...] and x.at[...] of traced arrays, as in NumPy and JAX.

Indices that are read are clamped to the valid range after negative ones were counted from the end. Sizes of results have
to be known when the function is compiled, so masks are refused."""
import builtins
import math

import numpy as np

from wick.errors import InvalidArgument, OutOfRange, TypeMismatch, Unsupported
from wick.trace import elements, ops
from wick.trace.scope import Traced, emit, fail, name_of, number


class _Index:
    """One item of an index that takes a dimension of x."""

    def __init__(self, axis):
        self.axis = axis


class _Slice(_Index):
    def __init__(self, axis, begin, count, step):
        super().__init__(axis)
        self.begin, self.count, self.step = begin, count, step


class _At(_Index):
    """An index array, or a single traced index: `value` is a Traced, or an array of NumPy within bounds."""

    def __init__(self, axis, value):
        super().__init__(axis)
        self.value = value

    @property
    def shape(self):
        return self.value.shape


class _Int(_Index):
    def __init__(self, axis, value):
        super().__init__(axis)
        self.value, self.shape = value, ()


def _items(index):
    """The items of an index, with masks of NumPy as positions."""
    out = []
    for item in index if isinstance(index, tuple) else (index,):
        if isinstance(item, list):
            item = np.asarray(item, np.int64 if not item else None) if not _any_traced(item) else ops.array(item)
        if isinstance(item, np.ndarray) and item.dtype == bool and item.ndim:
            out += list(np.nonzero(item))
            continue
        if isinstance(item, (bool, np.bool_, np.ndarray)) and np.asarray(item).dtype == bool:
            if not item:
                fail(Unsupported, "an index is false: it selects nothing")
            out.append(None)
            continue
        if isinstance(item, Traced) and item.elem == "bool":
            fail(Unsupported, "the size of a selection by a traced mask is not known when the function is compiled: use "
                              "wick.numpy.where(mask, x, other), which keeps the shape")
        out.append(item)
    return out


def _any_traced(item):
    return any([_any_traced(i) if isinstance(i, list) else isinstance(i, Traced) for i in item])


def _parse(shape, index, outside=False):
    """(items in order: _Index or None for a new dimension). `outside`: known indices out of bounds are legal, too."""
    items = _items(index)
    taken = builtins.sum([item is not None and item is not Ellipsis for item in items])
    if taken > len(shape):
        fail(OutOfRange, f"{taken} indices for an array of the shape {shape}")
    if builtins.sum([item is Ellipsis for item in items]) > 1:
        fail(InvalidArgument, "an index has more than one Ellipsis")
    if not any([item is Ellipsis for item in items]):
        items.append(Ellipsis)
    out, axis = [], 0
    for item in items:
        if item is None:
            out.append(None)
        elif item is Ellipsis:
            for _ in range(len(shape) - taken):
                out.append(_Slice(axis, 0, shape[axis], 1))
                axis += 1
        else:
            out.append(_one(item, axis, shape[axis], outside))
            axis += 1
    return out


def _one(item, axis, n, outside):
    if isinstance(item, builtins.slice):
        return _slice(item, axis, n)
    if isinstance(item, Traced):
        if not elements.is_whole(item.elem):
            fail(TypeMismatch, f"an index is an array of {item.elem}: indices are whole numbers")
        return _At(axis, item)
    if isinstance(item, np.ndarray) and item.ndim:
        if item.dtype.kind not in "iu":
            fail(TypeMismatch, f"an index is an array of {item.dtype}: indices are whole numbers")
        item = item.astype(np.int64)
        if item.size and not (-n <= item.min() and item.max() < n):
            if outside:
                return _At(axis, ops.array(item))
            fail(OutOfRange, f"an index in {item.min()} to {item.max()} is out of bounds for a dimension of size {n}")
        return _At(axis, np.where(item < 0, item + n, item))
    i = ops.whole("index", item)
    if not -n <= i < n:
        if outside:
            return _At(axis, ops.array(np.asarray(i)))
        fail(OutOfRange, f"index {i} is out of bounds for a dimension of size {n}")
    return _Int(axis, i % n)


def _slice(item, axis, n):
    for end in (item.start, item.stop, item.step):
        if isinstance(end, Traced):
            fail(Unsupported, "the size of a slice with traced ends is not known when the function is compiled: use "
                              "wick.lax.dynamic_slice(x, starts, sizes)")
    begin, end, step = item.indices(n)
    return _Slice(axis, begin, len(range(begin, end, step)), step)


def _wrapped(i, n):
    """A traced index as i64, with negative ones counted from the end."""
    signed = i.elem in elements.SIGNED
    i = ops.as_elem(i, "i64")
    return ops.where(ops.binary("lt", i, 0, "bool"), ops.binary("add", i, n), i) if signed else i


def _clamped(i, n):
    i = _wrapped(i, n)
    return emit(f"op.clip({name_of(i)}, (0 : i64), ({n - 1} : i64))", "i64", i.shape)


def get(x, index, outside=False):
    """x[index]"""
    items = _parse(x.shape, index, outside)
    kept = [item for item in items if item is not None]
    arrays = [item for item in kept if isinstance(item, _At)]
    tensors = any([item.shape for item in arrays])
    y = ops.slice(x, [_begin(i) for i in kept], [_count(i, x.shape) for i in kept],
                  [i.step if isinstance(i, _Slice) else 1 for i in kept])
    if not tensors:
        return _get_scalars(y, items, kept)
    return _get_tensors(y, items, kept)


def _begin(item):
    return item.begin if isinstance(item, _Slice) else item.value if isinstance(item, _Int) else 0


def _count(item, shape):
    return item.count if isinstance(item, _Slice) else 1 if isinstance(item, _Int) else shape[item.axis]


def _get_scalars(y, items, kept):
    for item in reversed(kept):
        if isinstance(item, _At):
            if y.shape[item.axis] == 0:
                fail(OutOfRange, "an index into a dimension of size 0")
            y = ops.dynamic_index(y, _wrapped(ops.array(item.value), y.shape[item.axis]), item.axis)
    sizes = iter([n for n in [i.count if isinstance(i, _Slice) else None for i in kept] if n is not None])
    return ops.reshape(y, [1 if item is None else next(sizes) for item in items if item is None or isinstance(item, _Slice)])


def _get_tensors(y, items, kept):
    """Indices that are arrays: the dimensions of the indices are where the first one is, or first of all if a slice is
    between two of them."""
    advanced = [k for k, item in enumerate(items) if isinstance(item, (_At, _Int))]
    together = advanced == list(range(advanced[0], advanced[-1] + 1))
    arrays = [item for item in kept if isinstance(item, (_At, _Int))]
    shape = ops.broadcast_shapes("index", *[a.shape for a in arrays])
    before = len([i for i in items[:advanced[0]]]) if together else 0
    rest = [item for item in kept if isinstance(item, _Slice)]
    if len(arrays) == 1:
        out = ops.gather(y, _positions(arrays[0], y.shape[arrays[0].axis]), arrays[0].axis)
        at = arrays[0].axis
    else:
        flat = _flat_positions(arrays, y.shape, shape)
        turned = ops.transpose(y, [a.axis for a in arrays] + [r.axis for r in rest])
        tail = turned.shape[len(arrays):]
        out = ops.gather(ops.reshape(turned, (math.prod(turned.shape[:len(arrays)]),) + tail), flat, 0)
        at = 0
    # now: dimensions of the slices before `at`, those of the index, the others
    slices_before = len([i for i in items[:advanced[0]] if isinstance(i, _Slice)]) if together else 0
    rank = len(shape)
    axes = [k for k in range(out.ndim) if not at <= k < at + rank]
    out = ops.transpose(out, axes[:slices_before] + list(range(at, at + rank)) + axes[slices_before:])
    sizes = []
    for k, item in enumerate(items):
        if k == (advanced[0] if together else 0):
            sizes += shape
        if item is None:
            sizes.append(1)
        elif isinstance(item, _Slice):
            sizes.append(item.count)
    return ops.reshape(out, sizes)


def _positions(item, n):
    if isinstance(item.value, Traced):
        return _clamped(item.value, n)
    return ops.array(np.asarray(item.value, np.int64))


def _flat_positions(arrays, sizes, shape):
    """The row-major positions that several indices make, in the dimensions that they index."""
    flat = None
    for a in arrays:
        n = sizes[a.axis]
        at = number(0, "i64") if isinstance(a, _Int) else _positions(a, n)
        flat = at if flat is None else ops.binary("add", ops.binary("mul", flat, n), at)
    return ops.broadcast_to(flat, shape)


def missing(elem):
    """What stands for an element that is not there."""
    return math.nan if elements.is_float(elem) else elements.lowest(elem) if elem in elements.SIGNED else elements.highest(elem)


def _inside(i, n):
    """Whether each traced index is within bounds."""
    i = _wrapped(i, n)
    return ops.binary("and", ops.binary("ge", i, 0, "bool"), ops.binary("lt", i, n, "bool"))


def _spread(items, checks):
    """The truth values of all index arrays, in dimensions that broadcast to those of the result."""
    arrays = [item for item in items if isinstance(item, (_At, _Int))]
    shape = ops.broadcast_shapes("index", *[a.shape for a in arrays])
    good = checks[0]
    for c in checks[1:]:
        good = ops.binary("and", good, c)
    good = ops.broadcast_to(good, shape)
    advanced = [k for k, item in enumerate(items) if isinstance(item, (_At, _Int))]
    together = advanced == list(range(advanced[0], advanced[-1] + 1)) or not shape
    after = [item for item in (items[advanced[-1] + 1:] if together else items) if item is None or isinstance(item, _Slice)]
    return ops.reshape(good, shape + (1,) * len(after))


# ---- updates ----


class At:
    """x.at: x.at[index].set(v) and its like give a new array. `update` has them."""

    __slots__ = ("_x", "_update")

    def __init__(self, x, update=None):
        self._x, self._update = x, update or Update

    def __getitem__(self, index):
        return self._update(self._x, index)


class Update:
    def __init__(self, x, index):
        self._x, self._index = x, index

    def get(self, mode=None, fill_value=None, indices_are_sorted=False, unique_indices=False, wrap_negative_indices=True):
        """x[index]; with mode="fill", `fill_value` for indices outside: by default the number that is none, or the least."""
        out = get(self._x, self._index, outside=True)
        if mode not in ("fill", "drop"):
            return out
        items = _parse(self._x.shape, self._index, outside=True)
        checks = [_inside(i.value, self._x.shape[i.axis]) for i in items if isinstance(i, _At) and isinstance(i.value, Traced)]
        if not checks:
            return out
        good = _spread(items, checks)
        return ops.where(good, out, missing(out.elem) if fill_value is None else fill_value)

    def set(self, values, **mode):
        return self._update("none", values, None, **mode)

    def add(self, values, **mode):
        return self._update("add", values, lambda old, new: ops.binary("add", old, new), **mode)

    def subtract(self, values, **mode):
        return self.add(-ops.array(values), **mode)

    def multiply(self, values, **mode):
        return self._update("mul", values, lambda old, new: ops.binary("mul", old, new), **mode)

    mul = multiply

    def divide(self, values, **mode):
        x = self._x
        return self.multiply(1 / ops.as_elem(values, x.elem), **mode)

    def power(self, values, **mode):
        return self.apply(lambda old: old ** values, **mode) if np.ndim(values) == 0 else self.set(self.get() ** values, **mode)

    def min(self, values, **mode):
        return self._update("min", values, lambda old, new: ops.binary("min", old, new), **mode)

    def max(self, values, **mode):
        return self._update("max", values, lambda old, new: ops.binary("max", old, new), **mode)

    def apply(self, f, unique_indices=False, **mode):
        """f of the elements; one that occurs several times in the index is replaced as often."""
        items = _parse(self._x.shape, self._index, outside=True)
        if unique_indices or not any([isinstance(i, _At) and i.shape for i in items]):
            return self.set(f(self.get()), **mode)
        from wick.trace.control import fori
        at, _ = self._flat(self._x.shape, mode.get("mode"))
        at = ops.reshape(at, (at.size,))
        replaced = lambda k, x: At(x)[get(at, k)].set(f(get(x, get(at, k))), mode="drop")
        return ops.reshape(fori(0, at.size, replaced, ops.reshape(self._x, (self._x.size,))), self._x.shape)

    def _update(self, reduction, values, combine, mode=None, indices_are_sorted=False, unique_indices=False):
        x, masked = self._x, self._masked(values, combine)
        if masked is not None:
            return masked
        values = ops.array(values)
        made = ops.common(x, values)[0]
        if made != x.elem and not (values.weak or elements.RANK[made] == elements.RANK[x.elem]):
            fail(TypeMismatch, f"an array of {x.elem} is updated with values of {values.elem}: convert them with astype")
        values = ops.as_elem(values, x.elem)
        items = _parse(x.shape, self._index, outside=True)
        if mode not in (None, "drop", "clip", "promise_in_bounds", "fill"):
            fail(InvalidArgument, f"the mode {mode!r} is not one of drop, clip, promise_in_bounds")
        kept = [item for item in items if item is not None]
        simple = all([not isinstance(i, _At) or not i.shape for i in kept]) and all([i.step == 1 for i in kept if isinstance(i, _Slice)])
        return self._block(items, kept, values, combine) if simple else self._scatter(reduction, values, mode)

    def _masked(self, values, combine):
        """An update where a traced mask is true, with values that are the same for all of its elements; else None."""
        index = self._index if isinstance(self._index, tuple) else (self._index,)
        masks = [k for k, item in enumerate(index) if isinstance(item, Traced) and item.elem == "bool"]
        whole = lambda item: item is Ellipsis or item == builtins.slice(None)
        if len(masks) != 1 or not all([whole(item) for k, item in enumerate(index) if k != masks[0]]):
            return None
        x, mask, values = self._x, index[masks[0]], ops.array(values)
        before, after = index[:masks[0]], index[masks[0] + 1:]
        first = len(before) if Ellipsis not in before else x.ndim - len(after) - mask.ndim - builtins.sum([i is Ellipsis for i in after])
        last = first + mask.ndim
        if first < 0 or mask.shape != x.shape[first:last] or not mask.ndim:
            fail(InvalidArgument, f"a mask of the shape {mask.shape} for an array of the shape {x.shape}")
        if values.ndim > x.ndim - last:
            return None
        mask = ops.reshape(mask, mask.shape + (1,) * (x.ndim - last))
        new = ops.as_elem(values, x.elem) if combine is None else combine(x, ops.as_elem(values, x.elem))
        return ops.where(mask, new, x)

    def _block(self, items, kept, values, combine):
        """An update of a block at static or traced positions; one outside is dropped."""
        x = self._x
        shape = [1 if i is None else i.count for i in items if i is None or isinstance(i, _Slice)]
        counts = [i.count for i in kept if isinstance(i, _Slice)]
        values = ops.reshape(ops.broadcast_to(values, tuple(shape)), counts)
        if 0 in counts:
            return x
        texts, inside, old = [], None, x
        for item in kept:
            n = x.shape[item.axis]
            if isinstance(item, _Slice):
                texts.append(":" if item.count == n else f"{item.begin}:{item.begin + item.count}")
            elif isinstance(item, _Int):
                texts.append(str(item.value))
            else:
                i = _wrapped(item.value, n)
                clamped = emit(f"op.clip({name_of(i)}, (0 : i64), ({n - 1} : i64))", "i64", ())
                good = ops.binary("eq", i, clamped, "bool")
                inside = good if inside is None else ops.binary("and", inside, good)
                texts.append(name_of(clamped))
        while texts and texts[-1] == ":":
            texts.pop()
        if not texts:
            return values if combine is None else combine(x, values)
        place = ", ".join(texts)
        part = lambda: emit(f"{name_of(x)}[{place}]", x.elem, tuple(counts))
        old = part() if inside is not None or combine else None
        new = combine(old, values) if combine else values
        if inside is not None:
            new = ops.where(inside, new, old)
        return emit(f"{name_of(x)} with [{place}] = {name_of(new)}", x.elem, x.shape)

    def _scatter(self, reduction, values, mode):
        """Any other update: on the flat array, at the positions that the index selects."""
        x = self._x
        at, valid = self._flat(x.shape, mode)
        flat = ops.reshape(x, (x.size,))
        values = ops.reshape(ops.broadcast_to(values, at.shape), (at.size,))
        at = ops.reshape(at, (at.size,))
        if valid is not None:
            valid = ops.reshape(valid, (at.size,))
            if reduction == "none":
                return self._set_valid(flat, at, values, valid)
            neutral = {"add": 0, "mul": 1, "min": elements.highest(x.elem), "max": elements.lowest(x.elem)}[reduction]
            at, values = ops.where(valid, at, 0), ops.where(valid, values, ops.as_elem(neutral, x.elem))
        return ops.reshape(self._scattered(reduction, flat, at, values), x.shape)

    def _set_valid(self, flat, at, values, valid):
        """Updates that are dropped write again what the last valid one writes, or what is there if none is valid: this leaves
        the array where it is, which one more element for them would not. They have no derivative."""
        size, order = at.shape[0], ops.iota(at.shape[0])
        if not size:
            return self._x
        last = ops.reduce("max", ops.where(valid, order, -1))
        some = ops.binary("ge", last, 0, "bool")
        place = ops.where(some, ops.gather(at, ops.where(some, last, 0), 0), 0)
        kept = ops.where(some, ops.gather(values, ops.where(some, last, 0), 0), ops.gather(flat, place, 0))
        at = ops.where(valid, at, place)
        return ops.reshape(self._scattered("none", flat, at, ops.where(valid, values, kept)), self._x.shape)

    @staticmethod
    def _scattered(reduction, flat, at, values):
        if flat.elem == "bool" and reduction != "none":  # of numbers: the maximum is "or", the minimum "and"
            reduction = {"add": "max", "mul": "min"}.get(reduction, reduction)
            return ops.as_elem(Update._scattered(reduction, ops.as_elem(flat, "u8"), at, ops.as_elem(values, "u8")), "bool")
        text = f'op.scatter_elements({name_of(flat)}, {name_of(at)}, {name_of(values)}, axis = 0, reduction = "{reduction}")'
        return emit(text, flat.elem, flat.shape)

    def _flat(self, shape, mode):
        """(positions in the flat array, whether each is valid; None: they all are)"""
        items = _parse(shape, self._index, outside=True)
        if not any([isinstance(i, _At) and isinstance(i.value, Traced) for i in items if i is not None]):
            index = tuple([self._static(i) for i in items])
            return ops.array(np.arange(math.prod(shape)).reshape(shape)[index]), None
        advanced = [k for k, i in enumerate(items) if isinstance(i, (_At, _Int))]
        together = advanced == list(range(advanced[0], advanced[-1] + 1))
        common = ops.broadcast_shapes("index", *[items[k].shape for k in advanced])
        sizes, place = [], {}
        for k, item in enumerate(items):
            if k == (advanced[0] if together else 0):
                first = len(sizes)
                sizes += common
            if item is None or isinstance(item, _Slice):
                place[k] = len(sizes)
                sizes.append(1 if item is None else item.count)
        flat, stride = None, [math.prod(shape[a + 1:]) for a in range(len(shape))]
        for k, item in enumerate(items):
            if item is None:
                continue
            n = shape[item.axis]
            if isinstance(item, _Slice):
                dims = [1] * len(sizes)
                dims[place[k]] = item.count
                part = ops.array((item.begin + item.step * np.arange(item.count)).reshape(dims) * stride[item.axis])
            else:
                value = number(item.value, "i64") if isinstance(item, _Int) else ops.array(item.value)
                i = self._checked(_wrapped(value, n), n, mode, stride[item.axis], math.prod(shape)) if isinstance(item, _At) else value
                part = ops.binary("mul", i, stride[item.axis])
                part = ops.reshape(part, part.shape + (1,) * (len(sizes) - first - len(common)))
            flat = part if flat is None else ops.binary("add", flat, part)
        flat = ops.broadcast_to(flat, tuple(sizes))
        if mode in ("clip", "promise_in_bounds"):
            return flat, None
        return flat, ops.binary("lt", flat, math.prod(shape), "bool")

    @staticmethod
    def _checked(i, n, mode, stride, total):
        """An index that is invalid in one dimension is so in the flat array."""
        if mode == "clip":
            return emit(f"op.clip({name_of(i)}, (0 : i64), ({n - 1} : i64))", "i64", i.shape)
        if mode == "promise_in_bounds":
            return i
        good = ops.binary("and", ops.binary("ge", i, 0, "bool"), ops.binary("lt", i, n, "bool"))
        return ops.where(good, i, total // stride + 1)

    @staticmethod
    def _static(item):
        if item is None:
            return None
        if isinstance(item, _Slice):
            if not item.count:
                return builtins.slice(0, 0)
            stop = item.begin + item.step * item.count
            return builtins.slice(item.begin, stop if stop >= 0 else None, item.step)
        return item.value
