"""Products of arrays: dot, einsum and their like."""
import builtins
import math

import numpy as np

from wick import types
from wick.errors import InvalidArgument
from wick.trace import elements, ops
from wick.trace.eager import api
from wick.trace.scope import fail


def _operands(x, y, dtype):
    """The operands of a product, in their common type or that of the result that is asked for."""
    return ops.convert(x, y) if dtype is None else [ops.as_elem(ops.array(v), elements.of_dtype(dtype)) for v in (x, y)]


def in_type(product, x, y, dtype):
    """A product with a result of a type: computed in it if it is the wider one, else in the type of the operands."""
    x, y = ops.convert(x, y)
    if dtype is None:
        return product(x, y)
    elem = elements.of_dtype(dtype)
    wider = elements.RANK[elem] > elements.RANK[x.elem] or types.dtype(elem).itemsize > x.itemsize
    made = product(ops.as_elem(x, elem), ops.as_elem(y, elem)) if wider else product(x, y)
    return ops.as_elem(made, elem)


@api
def matmul(x, y, /, *, precision=None, preferred_element_type=None):
    """The matrix product of the last two dimensions."""
    return ops.matmul(*_operands(x, y, preferred_element_type))


@api
def dot(x, y, /, *, precision=None, preferred_element_type=None):
    """The sum over the last dimension of x and the last but one of y."""
    x, y = _operands(x, y, preferred_element_type)
    if not x.ndim or not y.ndim:
        return ops.same("mul", x, y)
    if y.ndim <= 2:
        return ops.matmul(x, y)
    return tensordot(x, y, ((x.ndim - 1,), (y.ndim - 2,)))


@api
def vdot(x, y, /, *, precision=None, preferred_element_type=None):
    """The sum of the products of all elements."""
    x, y = _operands(x, y, preferred_element_type)
    return ops.matmul(ops.reshape(x, (x.size,)), ops.reshape(y, (y.size,)))


@api
def vecdot(x, y, /, *, axis=-1):
    """The sum of products along an axis."""
    x, y = ops.convert(x, y)
    shape = ops.broadcast_shapes("vecdot", x.shape, y.shape)
    x, y = ops.broadcast_to(x, shape), ops.broadcast_to(y, shape)
    return ops.reduce("sum", ops.same("mul", x, y), axis)


@api
def inner(x, y, /, *, precision=None, preferred_element_type=None):
    """The sum over the last dimensions."""
    x, y = _operands(x, y, preferred_element_type)
    if not x.ndim or not y.ndim:
        return ops.same("mul", x, y)
    return tensordot(x, y, ((-1,), (-1,)))


@api
def outer(x, y, /):
    """All products of elements of two vectors."""
    x, y = ops.convert(x, y)
    return ops.same("mul", ops.reshape(x, (x.size, 1)), ops.reshape(y, (1, y.size)))


@api
def kron(x, y, /):
    """The Kronecker product."""
    x, y = ops.convert(x, y)
    rank = builtins.max(x.ndim, y.ndim)
    a, b = [(1,) * (rank - v.ndim) + v.shape for v in (x, y)]
    x = ops.reshape(x, [n for m in a for n in (m, 1)])
    y = ops.reshape(y, [n for m in b for n in (1, m)])
    return ops.reshape(ops.same("mul", x, y), [m * n for m, n in zip(a, b)])


@api
def cross(x, y, /, *, axis=-1, axisa=-1, axisb=-1, axisc=-1):
    """The vector product of vectors with three elements; of vectors in a plane, its third element alone. The vectors are
    along `axis`, or those of x along `axisa`, of y along `axisb`, of the result along `axisc`."""
    from wick.trace import index
    x, y = ops.convert(x, y)
    if axis is None:
        axis = -1
    if (axisa, axisb, axisc) != (-1, -1, -1):
        made = cross(*[ops.move(v, ops.axis_of("cross", a, v.ndim), v.ndim - 1) for v, a in ((x, axisa), (y, axisb))])
        flat = made.ndim < max(x.ndim, y.ndim)
        return made if flat else ops.move(made, made.ndim - 1, ops.axis_of("cross", axisc, made.ndim))
    sizes = [v.shape[ops.axis_of("cross", axis, v.ndim)] for v in (x, y)]
    if any([n not in (2, 3) for n in sizes]):
        fail(InvalidArgument, f"cross: the vectors have {sizes[0]} and {sizes[1]} elements, expected 3 or 2")
    if sizes[0] != sizes[1]:
        zero = lambda v: ops.full(tuple([1 if k == axis % v.ndim else n for k, n in enumerate(v.shape)]), 0, v.elem)
        x, y = [v if v.shape[axis] == 3 else ops.concat([v, zero(v)], axis % v.ndim) for v in (x, y)]
    shape = ops.broadcast_shapes("cross", x.shape, y.shape)
    x, y = ops.broadcast_to(x, shape), ops.broadcast_to(y, shape)
    axis = ops.axis_of("cross", axis, x.ndim)
    at = lambda v, k: index.get(v, (slice(None),) * axis + (slice(k, k + 1),))
    part = lambda i, j: ops.same("sub", ops.same("mul", at(x, i), at(y, j)), ops.same("mul", at(x, j), at(y, i)))
    if shape[axis] == 2:
        return ops.reshape(part(0, 1), shape[:axis] + shape[axis + 1:])
    return ops.concat([part(1, 2), part(2, 0), part(0, 1)], axis)


@api
def tensordot(x, y, /, axes=2, *, precision=None, preferred_element_type=None):
    """The sum over pairs of dimensions: the last and first ones, or those that are named."""
    x, y = _operands(x, y, preferred_element_type)
    if isinstance(axes, (tuple, list)):
        a, b = [ops.axes_of("tensordot", v if isinstance(v, (tuple, list)) else (v,), w.ndim) for v, w in zip(axes, (x, y))]
    else:
        n = ops.whole("tensordot: axes", axes)
        a, b = tuple(range(x.ndim - n, x.ndim)), tuple(range(n))
    if [x.shape[k] for k in a] != [y.shape[k] for k in b]:
        fail(InvalidArgument, f"tensordot: the shapes {x.shape} and {y.shape} differ along the axes {a} and {b}")
    return contract(x, y, (a, b), ((), ()))


def contract(x, y, sums, batch):
    """The product of x and y over pairs of dimensions: the dimensions of the batch, those left of x, those left of y."""
    rest = [[k for k in range(v.ndim) if k not in s and k not in t] for v, s, t in zip((x, y), sums, batch)]
    shape = [x.shape[k] for k in batch[0]] + [x.shape[k] for k in rest[0]] + [y.shape[k] for k in rest[1]]
    size = lambda v, axes: math.prod([v.shape[k] for k in axes])
    b, m, n, k = size(x, batch[0]), size(x, rest[0]), size(y, rest[1]), size(x, sums[0])
    head = [b] if batch[0] else []
    left = ops.reshape(ops.transpose(x, list(batch[0]) + rest[0] + list(sums[0])), head + [m, k])
    right = ops.reshape(ops.transpose(y, list(batch[1]) + list(sums[1]) + rest[1]), head + [k, n])
    if k == 0:
        return ops.full(tuple(shape), 0, x.elem)
    return ops.reshape(ops.matmul(left, right), shape)


# ---- einsum ----


@api
def einsum(subscripts, /, *operands, preferred_element_type=None, **_):
    """Sums of products by letters: "ij,jk->ik". Operands are multiplied in pairs, the cheapest first."""
    if not isinstance(subscripts, str):
        subscripts, operands = _of_sublists((subscripts, *operands))
    xs = ops.convert(*operands) if preferred_element_type is None else [ops.as_elem(ops.array(x), elements.of_dtype(preferred_element_type)) for x in operands]
    terms, out = _subscripts(subscripts.replace(" ", ""), xs)
    sizes = {}
    for x, term in zip(xs, terms):
        for n, letter in zip(x.shape, term):
            if sizes.setdefault(letter, n) != n and n != 1:
                if sizes[letter] != 1:
                    fail(InvalidArgument, f"einsum: the sizes of `{letter}` in {subscripts} are {sizes[letter]} and {n}")
                sizes[letter] = n
    work = [_traced_out(x, term) for x, term in zip(xs, terms)]
    while len(work) > 1:
        i, j = _cheapest(work, out, sizes)
        b, a = work.pop(j), work.pop(i)
        others = set(out).union(*[t for _, t in work])
        work.append(_pair(a, b, others, sizes))
    return _finish(*work[0], out, sizes)


def _of_sublists(parts):
    """einsum(x, [0, 1], y, [1, 2], [0, 2]) as subscripts and operands."""
    letters = lambda row: "".join(["..." if k is Ellipsis else chr(ord("a") + ops.whole("einsum", k)) for k in row])
    terms = ",".join([letters(row) for row in parts[1::2]])
    return (f"{terms}->{letters(parts[-1])}", parts[:-1:2]) if len(parts) % 2 else (terms, parts[::2])


def _subscripts(text, xs):
    """The letters of each operand and of the result; those of `...` are capitals that are free."""
    left, arrow, out = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(xs):
        fail(InvalidArgument, f"einsum: {text} is for {len(terms)} operands, {len(xs)} are given")
    free = [chr(c) for c in range(0x100, 0x120)]
    most = 0
    for k, (x, term) in enumerate(zip(xs, terms)):
        if "..." in term:
            n = x.ndim - len(term) + 3
            most = builtins.max(most, n)
            terms[k] = term.replace("...", "".join(free[:0] if n <= 0 else free[len(free) - n:]))
        if len(terms[k]) != x.ndim:
            fail(InvalidArgument, f"einsum: the operand {k} of {text} has the shape {x.shape}")
    dots = "".join(free[len(free) - most:]) if most else ""
    if not arrow:
        letters = "".join(terms)
        out = dots + "".join(sorted([c for c in set(letters) if letters.count(c) == 1 and c not in dots]))
    out = out.replace("...", dots)
    for letter in out:
        if not any(letter in t for t in terms):
            fail(InvalidArgument, f"einsum: `{letter}` of the result is in no operand of {text}")
    return terms, out


def _traced_out(x, term):
    """x with one dimension for each letter: repeated letters are diagonals."""
    from wick.numpy.manipulation import diagonal
    for letter in sorted(set(term)):
        while term.count(letter) > 1:
            a, b = [k for k, c in enumerate(term) if c == letter][:2]
            x = diagonal(x, 0, a, b)
            term = "".join([c for k, c in enumerate(term) if k not in (a, b)]) + letter
    return x, term


def _cheapest(work, out, sizes):
    def cost(i, j):
        letters = set(work[i][1]) | set(work[j][1])
        return math.prod([sizes[c] for c in letters])
    pairs = [(i, j) for i in range(len(work)) for j in range(i + 1, len(work))]
    return builtins.min(pairs, key=lambda p: cost(*p))


def _pair(a, b, others, sizes):
    (x, s), (y, t) = [_summed(v, term, others | set(other)) for (v, term), (_, other) in ((a, b), (b, a))]
    shared = [c for c in s if c in t]
    sums = [c for c in shared if c not in others and x.shape[s.index(c)] == y.shape[t.index(c)]]
    batch = [c for c in shared if c in others and x.shape[s.index(c)] == y.shape[t.index(c)]]
    if len(sums) + len(batch) < len(shared) or not sums:
        return _multiplied(x, s, y, t, others)
    at = lambda term, letters: tuple([term.index(c) for c in letters])
    made = contract(x, y, (at(s, sums), at(t, sums)), (at(s, batch), at(t, batch)))
    rest = [c for c in s if c not in sums and c not in batch] + [c for c in t if c not in sums and c not in batch]
    return made, "".join(batch + rest)


def _multiplied(x, s, y, t, others):
    letters = s + "".join([c for c in t if c not in s])
    spread = lambda v, term: ops.reshape(ops.transpose(v, [term.index(c) for c in letters if c in term]),
                                         [v.shape[term.index(c)] if c in term else 1 for c in letters])
    return _summed(ops.same("mul", spread(x, s), spread(y, t)), letters, others)


def _summed(x, term, kept):
    axes = tuple([k for k, c in enumerate(term) if c not in kept])
    return (ops.reduce("sum", x, axes), "".join([c for c in term if c in kept])) if axes else (x, term)


def _finish(x, term, out, sizes):
    x, term = _summed(x, term, set(out))
    x = ops.transpose(x, [term.index(c) for c in out])
    return ops.broadcast_to(x, tuple([sizes[c] for c in out]))


# ---- polynomials and filters ----


@api
def polyval(p, x):
    """The value of a polynomial with coefficients p, the highest power first."""
    from wick.trace import index
    p, x = ops.convert(p, x)
    made = ops.full(x.shape, 0, x.elem)
    for k in range(p.shape[0]):
        made = ops.same("add", ops.same("mul", made, x), index.get(p, k))
    return made


@api
def vander(x, N=None, increasing=False):
    """The powers of a vector's elements, as columns."""
    from wick.numpy.elementwise import pow
    from wick.numpy.manipulation import stack
    x = ops.array(x)
    n = x.shape[0] if N is None else N
    powers = range(n) if increasing else range(n)[::-1]
    return stack([pow(x, k) for k in powers], axis=-1)


@api
def convolve(a, v, mode="full"):
    """The convolution of two vectors."""
    from wick.trace.scope import emit, name_of, sizes
    a, v = ops.convert(a, v)
    a, v = [ops.floating(w) for w in ((a, v) if a.size >= v.size else (v, a))]
    n, m = a.size, v.size
    pads = {"full": (m - 1, m - 1), "same": (m // 2, (m - 1) - m // 2), "valid": (0, 0)}.get(mode)
    if pads is None:
        fail(InvalidArgument, f"convolve: the mode {mode!r} is none of full, same, valid")
    if mode == "same":
        pads = (m - 1 - (m - 1) // 2, (m - 1) // 2)
    from wick.numpy.manipulation import flip
    x, w = ops.reshape(a, (1, 1, n)), ops.reshape(flip(v), (1, 1, m))
    count = n + sum(pads) - m + 1
    made = emit(f"op.conv({name_of(x)}, {name_of(w)}, pad = {sizes(pads)})", a.elem, (1, 1, count))
    return ops.reshape(made, (count,))


@api
def correlate(a, v, mode="valid"):
    """The correlation of two vectors."""
    from wick.numpy.manipulation import flip
    return convolve(a, flip(v), mode)


@api
def matvec(x1, x2, /):
    """The products of matrices and vectors."""
    x1, x2 = ops.convert(x1, x2)
    made = ops.matmul(x1, ops.reshape(x2, x2.shape + (1,)))
    return ops.reshape(made, made.shape[:-1])


@api
def vecmat(x1, x2, /):
    """The products of vectors and matrices."""
    x1, x2 = ops.convert(x1, x2)
    made = ops.matmul(ops.reshape(x1, x1.shape[:-1] + (1,) + x1.shape[-1:]), x2)
    return ops.reshape(made, made.shape[:-2] + made.shape[-1:])


def einsum_path(subscripts, /, *operands, optimize="greedy"):
    """(the pairs of operands that NumPy would multiply, a text about their cost); einsum finds its own."""
    blank = [np.empty(x.shape, np.int8) if hasattr(x, "shape") else x for x in (subscripts, *operands)]
    path, text = np.einsum_path(*blank, optimize=optimize)
    return path[1:], text
