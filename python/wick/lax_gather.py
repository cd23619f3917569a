"""jax.lax.gather and scatter: windows of an array at traced positions, by dimension numbers. The meaning of the numbers is
that of StableHLO's gather and scatter."""
import collections
import enum

from wick.errors import InvalidArgument
from wick.trace import index, ops
from wick.trace.eager import api
from wick.trace.scope import emit, fail, name_of


class GatherScatterMode(enum.Enum):
    """What becomes of windows that do not lie in the array."""

    CLIP, FILL_OR_DROP, PROMISE_IN_BOUNDS, ONE_HOT = range(4)

    @staticmethod
    def from_any(mode):
        """A mode from its name, or from None."""
        names = {None: "FILL_OR_DROP", "fill": "FILL_OR_DROP", "drop": "FILL_OR_DROP", "clip": "CLIP", "promise_in_bounds": "PROMISE_IN_BOUNDS"}
        if isinstance(mode, GatherScatterMode):
            return mode
        if mode not in names:
            fail(InvalidArgument, f"the mode {mode!r} is not one of clip, fill, drop, promise_in_bounds")
        return GatherScatterMode[names[mode]]


GatherDimensionNumbers = collections.namedtuple(
    "GatherDimensionNumbers", "offset_dims collapsed_slice_dims start_index_map operand_batching_dims start_indices_batching_dims",
    defaults=((), ()))
ScatterDimensionNumbers = collections.namedtuple(
    "ScatterDimensionNumbers", "update_window_dims inserted_window_dims scatter_dims_to_operand_dims operand_batching_dims "
    "scatter_indices_batching_dims", defaults=((), ()))


class _Windows:
    """Windows of x: the dimensions that `starts` places come first (`perm`), and `place` has the position of each element
    in them, of the shape batch + windows in these dimensions."""

    def __init__(self, what, x, starts, sizes, mapped, batching, starts_batching, mode):
        starts = ops.array(starts)
        if not starts.ndim or starts.shape[-1] != len(mapped) or len(sizes) != x.ndim:
            fail(InvalidArgument, f"{what}: starts of the shape {starts.shape} for {len(mapped)} mapped dimensions, and windows of the shape "
                                  f"{tuple(sizes)} of an array of the shape {x.shape}")
        for d, (n, m) in enumerate(zip(x.shape, sizes)):
            if m > n:
                fail(InvalidArgument, f"{what}: a window of {m} elements in dimension {d}, which has {n}")
        self.batch = starts.shape[:-1]
        self.moved = [*batching, *mapped]
        self.perm = self.moved + [d for d in range(x.ndim) if d not in self.moved]
        self.sizes = [sizes[d] for d in self.perm]
        self.valid, self.place = None, []
        rank = len(self.batch)
        for k, d in enumerate(self.moved):
            n, m = x.shape[d], sizes[d]
            if k < len(batching):
                axis = starts_batching[k]
                at = ops.reshape(ops.iota(self.batch[axis]), [-1 if a == axis else 1 for a in range(rank)])
                at = at if k else ops.broadcast_to(at, self.batch)
            else:
                at = ops.as_elem(index.get(starts, (Ellipsis, k - len(batching))), "i64")
                inside = emit(f"op.clip({name_of(at)}, (0 : i64), ({n - m} : i64))", "i64", at.shape)
                if mode == GatherScatterMode.CLIP:
                    at = inside
                elif mode == GatherScatterMode.FILL_OR_DROP:
                    good = ops.binary("eq", at, inside, "bool")
                    self.valid = good if self.valid is None else ops.binary("and", self.valid, good)
                    at = inside
            offsets = ops.reshape(ops.iota(m), [m if j == k else 1 for j in range(len(self.moved))])
            self.place.append(ops.binary("add", ops.reshape(at, at.shape + (1,) * len(self.moved)), offsets))
        rest = zip(self.sizes[len(self.moved):], [x.shape[d] for d in self.perm[len(self.moved):]])
        self.place += [slice(0, m) for m, _ in rest]

    def spread(self):
        """`valid`, of the shape batch + windows in order of `perm`, with ones."""
        return ops.reshape(self.valid, self.valid.shape + (1,) * len(self.perm))

    def order(self, window_dims, dropped):
        """The dimensions of batch + windows in order of `perm`, as those of the result: windows at window_dims."""
        rank = len(self.batch)
        kept = iter([rank + self.perm.index(d) for d in range(len(self.perm)) if d not in dropped])
        batch, count = iter(range(rank)), rank + len(window_dims)
        return [next(kept) if d in window_dims else next(batch) for d in range(count)]


@api
def gather(operand, start_indices, dimension_numbers, slice_sizes, *, unique_indices=False, indices_are_sorted=False, mode=None,
           fill_value=None):
    """The windows of the size `slice_sizes` at `start_indices`."""
    x, n = ops.array(operand), dimension_numbers
    mode = GatherScatterMode.from_any("clip" if mode is None else mode)
    dropped = [*n.collapsed_slice_dims, *n.operand_batching_dims]
    for d in dropped:
        if slice_sizes[d] not in (0, 1):
            fail(InvalidArgument, f"gather: dimension {d} is collapsed, and its windows have {slice_sizes[d]} elements")
    w = _Windows("gather", x, start_indices, slice_sizes, n.start_index_map, n.operand_batching_dims, n.start_indices_batching_dims, mode)
    out = index.get(ops.transpose(x, w.perm), tuple(w.place)) if w.place else x
    if w.valid is not None:
        out = ops.where(w.spread(), out, index.missing(x.elem) if fill_value is None else fill_value)
    order = w.order(n.offset_dims, dropped)
    last = [a for a in range(out.ndim) if a not in order]
    out = ops.transpose(out, order + last)
    return ops.reshape(out, out.shape[:len(order)])


def _scatter(name, method):
    def scatter(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None):
        x, n = ops.array(operand), dimension_numbers
        values = ops.as_elem(updates, x.elem)
        mode = GatherScatterMode.from_any(mode)
        dropped = [*n.inserted_window_dims, *n.operand_batching_dims]
        window = iter([values.shape[d] for d in n.update_window_dims])
        sizes = [1 if d in dropped else next(window) for d in range(x.ndim)]
        w = _Windows(name, x, scatter_indices, sizes, n.scatter_dims_to_operand_dims, n.operand_batching_dims, n.scatter_indices_batching_dims, mode)
        order = w.order(n.update_window_dims, dropped)
        back = sorted(range(len(order)), key=lambda k: order[k])
        values = ops.reshape(ops.transpose(values, back), w.batch + tuple(w.sizes))
        place = w.place
        if w.valid is not None:  # a window that is not whole is dropped: its first positions are outside
            good = ops.reshape(w.valid, w.valid.shape + (1,) * len(w.moved))
            place = [ops.where(good, place[0], x.shape[w.moved[0]])] + place[1:]
        moved = ops.transpose(x, w.perm)
        if place:
            moved = getattr(index.Update(moved, tuple(place)), method)(values, mode="drop" if w.valid is not None else "promise_in_bounds")
        else:
            moved = values if method == "set" else getattr(index.Update(moved, ...), method)(values)
        return ops.transpose(moved, sorted(range(x.ndim), key=lambda k: w.perm[k]))

    scatter.__name__ = name
    scatter.__doc__ = "operand with windows at `scatter_indices` " + ("replaced." if method == "set" else f"changed by {method}.")
    return api(scatter)


scatter, scatter_add, scatter_sub, scatter_mul, scatter_min, scatter_max = [
    _scatter(*pair) for pair in (("scatter", "set"), ("scatter_add", "add"), ("scatter_sub", "subtract"), ("scatter_mul", "multiply"),
                                 ("scatter_min", "min"), ("scatter_max", "max"))]
