"""Eigenvalues of matrices that need not be symmetric: complex numbers, by Francis' implicit QR steps with one shift on Hessenberg's form
(Golub and Van Loan, Matrix Computations, chapter 7). A complex matrix is an array [2, n, n] here: the real and the imaginary part."""
import math

from wick import numpy as wnp
from wick.trace import elements, ops
from wick.trace.control import fori, while_loop
from wick.trace.custom import custom_jvp


def _product(a, b):
    return wnp.stack([a[0] @ b[0] - a[1] @ b[1], a[0] @ b[1] + a[1] @ b[0]])


def _times(a, b):
    return wnp.stack([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]])


def _size(a):
    """The absolute values, with a derivative where they are 0."""
    square = a[0] * a[0] + a[1] * a[1]
    some = square > 0
    return wnp.where(some, wnp.sqrt(wnp.where(some, square, 1.0)), 0.0)


def _over(a, b):
    square = b[0] * b[0] + b[1] * b[1]
    return _times(a, wnp.stack([b[0], -b[1]])) / square


def _root(a):
    """A square root."""
    size = _size(a)
    half = lambda x: wnp.where(x > 0, wnp.sqrt(wnp.where(x > 0, x, 1.0)), 0.0)
    re, im = half(0.5 * (size + a[0])), half(0.5 * (size - a[0]))
    return wnp.stack([re, wnp.where(a[1] < 0, -im, im)])


def _rotated(state, k, x, y):
    """The matrix t, and the basis q in which it is given, with columns k and k + 1 rotated such that (x, y) becomes (r, 0)."""
    from wick.lax import dynamic_slice, dynamic_update_slice
    t, q = state
    n = t.shape[-1]
    r = _size(wnp.stack([_size(x), _size(y)]))
    flat = r == 0
    c, s = [wnp.where(flat, ops.as_elem(v, t.elem), z / wnp.where(flat, 1.0, r)) for z, v in ((x, 1.0), (y, 0.0))]
    c = wnp.where(flat, wnp.stack([c[0], 0 * c[0]]), c)
    rows = [[c[0], s[0]], [-s[0], c[0]]], [[-c[1], -s[1]], [-s[1], c[1]]]
    turn = wnp.stack([wnp.stack([wnp.stack(row) for row in part]) for part in rows])
    back = wnp.stack([turn[0].T, -turn[1].T])
    pair = _product(turn, dynamic_slice(t, (0, k, 0), (2, 2, n)))
    t = dynamic_update_slice(t, pair, (0, k, 0))
    columns = lambda a: dynamic_update_slice(a, _product(dynamic_slice(a, (0, 0, k), (2, n, 2)), back), (0, 0, k))
    return columns(t), columns(q)


def _hessenberg(t, q):
    """t with zeros below its first subdiagonal."""
    n = t.shape[-1]

    def column(j, state):
        return fori(0, n - 2 - j, lambda m, s: _rotated(s, n - 2 - m, s[0][:, n - 2 - m, j], s[0][:, n - 1 - m, j]), state)

    return fori(0, n - 2, column, (t, q)) if n > 2 else (t, q)


def _shift(t, last, steps):
    """The eigenvalue of the last two rows that is nearer to the last element; now and then another number, so that cycles end."""
    a, b, c, d = [t[:, last - 1 + i, last - 1 + j] for i in (0, 1) for j in (0, 1)]
    half = 0.5 * (a - d)
    root = _root(_times(half, half) + _times(b, c))
    near = wnp.where((half * root).sum() > 0, half - root, half + root)
    other = wnp.stack([_size(c), 0 * c[0]])
    return d + wnp.where((steps % 10) == 9, other, near)


def schur_of_matrix(a):
    """(t, q): a triangle with a @ q = q @ t."""
    n = a.shape[-1]
    eps = float(elements.finfo(a.elem).eps)
    one = wnp.stack([wnp.eye(n, dtype=a.dtype), wnp.zeros((n, n), dtype=a.dtype)])
    if n == 1:
        return a, one
    t, q = _hessenberg(a, one)
    at = wnp.arange(1, n)

    def more(state):
        return (state[2] > 0) & (state[4] < 40 * n)

    def step(state):
        t, q, last, steps, total = state
        size = _size(wnp.stack([wnp.diagonal(t[0]), wnp.diagonal(t[1])]))
        below = _size(wnp.stack([wnp.diagonal(t[0], -1), wnp.diagonal(t[1], -1)]))
        apart = (below <= eps * (size[1:] + size[:-1])) & (at <= last)
        first = wnp.max(wnp.where(apart, at, 0))
        shift, done = _shift(t, last, steps), first == last

        def chase(k, state):
            t = state[0]
            begins = k == first
            before = wnp.where(begins, k, k - 1)
            return _rotated(state, k, t[:, k, before] - wnp.where(begins, shift, 0.0), t[:, k + 1, before])

        t, q = fori(first, last, chase, (t, q))
        return t, q, wnp.where(done, last - 1, last), wnp.where(done, 0, steps + 1), total + 1

    return while_loop(more, step, (t, q, n - 1, 0, 0))[:2]


def _vectors(t, q):
    """The eigenvectors as columns, of length 1, whose largest element is real."""
    from wick.lax import dynamic_update_slice
    n = t.shape[-1]
    values = wnp.stack([wnp.diagonal(t[0]), wnp.diagonal(t[1])])
    least = float(elements.finfo(t.elem).eps) * wnp.maximum(wnp.max(_size(t)), 1e-30)
    at = wnp.arange(n)

    def row(j, v):
        i = n - 1 - j
        apart = t[:, i, i][:, None] - values
        apart = wnp.where(_size(apart) < least, wnp.stack([least, 0 * least])[:, None], apart)
        made = -_over(_product(t[:, i][:, None, :], v)[:, 0], apart)
        unit = wnp.stack([wnp.ones(n, dtype=t.dtype), wnp.zeros(n, dtype=t.dtype)])
        return dynamic_update_slice(v, wnp.where(at > i, made, wnp.where(at == i, unit, 0.0))[:, None, :], (0, i, 0))

    v = _product(q, fori(0, n, row, wnp.zeros_like(t)))
    size = _size(v)
    largest = wnp.take_along_axis(v, wnp.broadcast_to(wnp.argmax(size, axis=0), (2, 1, n)), axis=1)
    length = wnp.sqrt((size * size).sum(0)) * _size(largest)
    return _times(v, wnp.stack([largest[0], -largest[1]])) / length


def of_matrix(a):
    """(values [2, n], vectors [2, n, n])"""
    t, q = schur_of_matrix(a)
    return wnp.stack([wnp.diagonal(t[0]), wnp.diagonal(t[1])]), _vectors(t, q)


@custom_jvp
def values_of_matrix(a):
    """The eigenvalues [2, n]."""
    t, _ = schur_of_matrix(a)
    return wnp.stack([wnp.diagonal(t[0]), wnp.diagonal(t[1])])


@values_of_matrix.defjvp
def _values_jvp(primals, tangents):
    """Each value moves by the element on the diagonal of the tangent in the basis of the vectors."""
    values, v = of_matrix(primals[0])
    n = v.shape[-1]
    wide = wnp.linalg.inv(wnp.block([[v[0], -v[1]], [v[1], v[0]]]))
    inverse = wnp.stack([wide[:n, :n], wide[n:, :n]])
    return values, wnp.stack([wnp.diagonal(part) for part in _product(inverse, _product(tangents[0], v))])


def of_matrices(f, re, im):
    """f of matrices [..., n, n], whose parts are stacked for it."""
    from wick.trace.transform import vmap
    a = wnp.stack([re, im])
    if a.ndim == 3:
        return f(a)
    batch = re.shape[:-2]
    made = vmap(f)(ops.reshape(wnp.moveaxis(a, 0, -3), (math.prod(batch), 2) + re.shape[-2:]))
    whole = lambda v: wnp.moveaxis(ops.reshape(v, batch + v.shape[1:]), len(batch), 0)
    return tuple([whole(v) for v in made]) if isinstance(made, tuple) else whole(made)
