"""Linear algebra, as in jax.scipy.linalg."""
import math

import numpy as np

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.numpy.linalg import cho_solve, det, eigh as _eigh, expm, inv, norm, pinv, solve_triangular as _triangular  # noqa: F401
from wick.numpy import linalg as _own
from wick.scipy.matrix_functions import funm, rsf2csf, schur  # noqa: F401
from wick.trace import ops, spelling
from wick.trace.control import fori
from wick.trace.custom import custom_vjp
from wick.trace.transform import jvp, vmap
from wick.trace.eager import api
from wick.trace.scope import fail


@api
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The triangle of Cholesky's factorization; the upper one unless `lower`. This half of a is read alone."""
    made = _own.cholesky(a if lower else wnp.matrix_transpose(a), symmetrize_input=False)
    return made if lower else wnp.matrix_transpose(made)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """(the triangle, is it the lower one?) for cho_solve."""
    return cholesky(a, lower=lower), lower


@api
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    """x with a @ x = b, for a triangle a."""
    if unit_diagonal:
        n = ops.array(a).shape[-1]
        a = wnp.where(wnp.eye(n, dtype=bool), 1.0, a)
    return _triangular(a, b, lower=lower, trans=trans)


@api
def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a="gen"):
    """x with a @ x = b; with assume_a="pos" a is symmetric, and the lower or the upper half of it is read alone."""
    return _own.solve(a if assume_a != "pos" else _halves["L" if lower else "U"](a), b)


def _by_half(half):
    """A symmetric matrix by one half, with the derivative of the whole, as JAX has it."""
    whole = lambda a: _own.symmetric(ops.floating(a), half)
    return custom_vjp.of_constants(whole, lambda a: (whole(a), None), lambda _, d: (d,))


_halves = {half: _by_half(half) for half in "LU"}


@api
def eigh(a, b=None, lower=True, eigvals_only=False):
    """(eigenvalues, eigenvectors) of symmetric matrices."""
    if b is not None:
        fail(InvalidArgument, "eigh: a second matrix is not supported")
    made = _eigh(a)
    return made[0] if eigvals_only else made


def svd(a, full_matrices=True, compute_uv=True):
    """(u, singular values, v's transpose)"""
    return _own.svd(a, full_matrices=full_matrices, compute_uv=compute_uv)


def qr(a, mode="full"):
    """(q, r); mode="economic" for matrices with more rows than columns."""
    shape = wnp.shape(a)
    return _own.qr(a, mode="reduced" if mode == "economic" or shape[-1] == shape[-2] else "complete")


@api
def block_diag(*arrays):
    """The matrix with these blocks on its diagonal."""
    arrays = [wnp.atleast_2d(x) for x in ops.convert(*arrays)]
    width, at, rows = sum([x.shape[1] for x in arrays]), 0, []
    for x in arrays:
        rows.append(ops.pad(x, (0, at), (0, width - at - x.shape[1])))
        at += x.shape[1]
    return ops.concat(rows, 0)


@api
def toeplitz(c, r=None):
    """The matrix with c as its first column, and r (or c) as its first row, which is constant along diagonals."""
    c = wnp.ravel(c)
    r = c if r is None else wnp.ravel(r)
    both = wnp.concatenate([wnp.flip(r[1:]), c])
    n, m = c.shape[0], r.shape[0]
    return both[np.arange(n)[:, None] - np.arange(m) + m - 1]


# ---- factorizations by elimination ----


@api
def lu_pivots(a):
    """(both triangles in one matrix, the row that each step swapped with its own, the permutation of the rows)"""
    a = ops.floating(a)
    if a.ndim < 2:
        fail(InvalidArgument, f"lu: an array of the shape {a.shape} is given, expected matrices")
    if a.ndim > 2:
        return vmap(lu_pivots)(a)
    m, n = a.shape
    steps = min(m, n)
    rows = ops.iota(m)

    def choose(j, state):
        fixed, pivots, order = state
        column = wnp.where(rows < j, -1.0, wnp.abs(fixed[:, j]))
        p = wnp.argmax(column)
        swap = lambda x: x.at[j].set(x[p]).at[p].set(x[j])
        fixed = swap(fixed)
        pivot = fixed[j, j]
        factor = wnp.where(rows > j, fixed[:, j] / wnp.where(pivot == 0, 1.0, pivot), 0.0)
        after = ops.iota(n) > j
        fixed = fixed - factor[:, None] * wnp.where(after, fixed[j], 0.0)
        column = wnp.where(rows > j, factor, fixed[:, j])
        return fixed.at[:, j].set(column), pivots.at[j].set(p), swap(order)

    start = a, ops.full((steps,), 0, "i64"), rows
    both, pivots, order = fori(0, steps, choose, start)
    return both, pivots, order


def lu_factor(a, overwrite_a=False, check_finite=True):
    """(both triangles in one matrix, the row that each step swapped with its own) for lu_solve."""
    return lu_pivots(a)[:2]


def _triangles(both):
    m, n = both.shape[-2:]
    k = min(m, n)
    lower = wnp.tril(both[..., :, :k], -1) + wnp.eye(m, k, dtype=both.dtype)
    return lower, wnp.triu(both[..., :k, :])


@api
def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """(p, l, u) with p @ l @ u = a, or (p @ l, u)."""
    both, _, order = lu_pivots(a)
    l, u = _triangles(both)
    m = both.shape[-2]
    p = ops.as_elem(wnp.expand_dims(ops.iota(m), axis=1) == wnp.expand_dims(order, axis=-2), both.elem)
    return (wnp.matmul(p, l), u) if permute_l else (p, l, u)


@api
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """x with a @ x = b, of lu_factor(a); with trans=1, of a's transpose."""
    both, pivots = ops.array(lu_and_piv[0]), ops.array(lu_and_piv[1])
    b = ops.array(b)
    l, u = _triangles(both)
    n = both.shape[-1]

    def swap(order, p, k):
        return order.at[k].set(order[p]).at[p].set(order[k])

    order = fori(0, n, lambda k, order: swap(order, pivots[k], k), ops.iota(n))
    if not trans:
        return _triangular(u, _triangular(l, b[order], lower=True), lower=False)
    y = _triangular(l, _triangular(u, b, lower=False, trans=1), lower=True, trans=1)
    return y[wnp.argsort(order)]


# ---- functions of matrices ----


@api
def polar(a, side="right", method="svd", eps=None, max_iterations=None):
    """(the nearest orthonormal matrix u, the positive p) with u @ p = a, or p @ u with side="left"."""
    u, s, vh = _own.svd(a, full_matrices=False)
    v = wnp.matrix_transpose(vh)
    return wnp.matmul(u, vh), wnp.matmul(v * s, vh) if side == "right" else wnp.matmul(u * s, wnp.matrix_transpose(u))


@api
def sqrtm(a, blocksize=1):
    """The matrix whose square is a, where it is real: the iteration of Denman and Beavers, 24 steps."""
    a = ops.floating(a)
    n = a.shape[-1]
    step = lambda _, s: ((s[0] + inv(s[1])) / 2, (s[1] + inv(s[0])) / 2)
    return fori(0, 24, step, (a, ops.broadcast_to(wnp.eye(n, dtype=a.dtype), a.shape)))[0]


def expm_frechet(A, E, *, method=None, compute_expm=True):
    """(expm(A), its derivative in the direction E)"""
    made = jvp(expm, (A,), (E,))
    return made if compute_expm else made[1]


@api
def eigh_tridiagonal(d, e, *, eigvals_only=False, select="a", select_range=None, tol=None):
    """The eigenvalues of a symmetric matrix with the diagonal d and e beside it."""
    if select != "a":
        fail(InvalidArgument, f"eigh_tridiagonal: select={select!r} is not supported, only 'a' is")
    d, e = ops.convert(d, e)
    return eigh(wnp.diag(d) + wnp.diag(e, 1) + wnp.diag(e, -1), eigvals_only=eigvals_only)


def hilbert(n):
    """The matrix with 1 / (i + j + 1)."""
    at = np.arange(n)
    return wnp.asarray((1 / (at[:, None] + at + 1)).astype(np.float32))


def pascal(n, kind="symmetric"):
    """The binomial coefficients as a matrix."""
    rows = [[1.0 if j == 0 else 0.0 for j in range(n)] for _ in range(n)]
    for i in range(1, n):
        for j in range(1, i + 1):
            rows[i][j] = rows[i - 1][j - 1] + rows[i - 1][j]
    lower = np.array(rows)
    made = {"lower": lower, "upper": lower.T, "symmetric": lower @ lower.T}[kind]
    return wnp.asarray(made.astype(np.float32))


def _moved(c, rows):
    """The matrix whose row i is c from -i on, which begins again at its end."""
    n = c.shape[0]
    return wnp.take(c, (np.arange(n) - np.arange(rows)[:, None]) % n, axis=0)


@api
def circulant(c):
    """The matrix whose columns are c, each one element lower than the one before it."""
    return _moved(ops.array(c), c.shape[0]).T


@api
def hankel(c, r=None):
    """The matrix with c as the first column and r as the last row, and equal elements where i + j is equal."""
    c = ops.array(c)
    r = ops.full(c.shape, 0, c.elem) if r is None else ops.array(r)
    every = wnp.concatenate([c, r[1:]])
    return wnp.take(every, np.arange(c.shape[0])[:, None] + np.arange(r.shape[0]), axis=0)


@api
def companion(a):
    """The matrix whose characteristic polynomial has the coefficients a, the highest power first."""
    a = ops.floating(ops.array(a))
    return wnp.concatenate([(-a[1:] / a[0])[None], wnp.eye(a.shape[0] - 2, a.shape[0] - 1, dtype=a.dtype)])


@api
def convolution_matrix(a, n, mode="full"):
    """The matrix by which a product with a vector of n elements is its convolution with a."""
    a = ops.array(a)
    m = a.shape[0]
    padded = wnp.concatenate([a, ops.full((n - 1,), 0, a.elem)])
    made = _moved(padded, n).T
    first, rows = {"full": (0, n + m - 1), "same": ((min(n, m) - 1) // 2, max(n, m)), "valid": (min(n, m) - 1, max(n, m) - min(n, m) + 1)}[mode]
    return made[first:first + rows]


@api
def solve_sylvester(a, b, q, *, method="schur", tol=1e-8):
    """x with a x + x b = q, by the linear equations of all elements: for small matrices."""
    a, b, q = ops.convert(a, b, q)
    m, n = q.shape
    whole = wnp.kron(a, wnp.eye(n, dtype=a.dtype)) + wnp.kron(wnp.eye(m, dtype=a.dtype), b.T)
    return wnp.reshape(wnp.linalg.solve(whole, wnp.reshape(q, (m * n,))), (m, n))


def hadamard(n, dtype=int):
    """Hadamard's matrix of a power of two."""
    if n < 1 or n & (n - 1):
        raise InvalidArgument(f"hadamard: n is {n}, expected a power of two")
    made = np.ones((1, 1))
    while len(made) < n:
        made = np.block([[made, made], [made, -made]])
    return wnp.asarray(made, dtype=dtype)


def helmert(n, full=False):
    """Helmert's matrix of n rows, without the first one, whose elements are equal."""
    at = np.arange(n)
    made = np.tril(np.ones((n, n)), -1) - np.diag(at)
    made[0] = 1
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return wnp.asarray((made if full else made[1:]).astype(np.float32))


@api
def fiedler(a):
    """The distances |a[i] - a[j]|."""
    a = ops.array(a)
    return wnp.abs(a[..., :, None] - a[..., None, :])


@api
def fiedler_companion(a):
    """A matrix of five diagonals whose characteristic polynomial has the coefficients a, the first one of which is not 0."""
    a = ops.floating(a)
    a, n = a / a[0], a.shape[0] - 1
    made = wnp.zeros((n, n), dtype=a.dtype)
    if n < 2:
        return -a[1:, None][:n]
    at = lambda first, last: np.arange(first, last, 2)
    made = made.at[at(3, n), at(1, n - 2)].set(1.0).at[at(2, n), at(1, n - 1)].set(-a[3::2])
    made = made.at[at(0, n - 2), at(2, n)].set(1.0).at[at(0, n - 1), at(1, n)].set(-a[2::2])
    return made.at[0, 0].set(-a[1]).at[1, 0].set(1.0)


@api
def leslie(f, s):
    """The first row f, and s below the diagonal."""
    f, s = ops.convert(f, s)
    return wnp.diag(s, -1).at[0].set(f)


def invhilbert(n):
    """The inverse of hilbert(n), whose elements are whole numbers."""
    term = lambda i, j: (-1) ** (i + j) * (i + j - 1) * math.comb(n + i - 1, n - j) * math.comb(n + j - 1, n - i) * math.comb(i + j - 2, i - 1) ** 2
    return wnp.asarray(np.array([[float(term(i, j)) for j in range(1, n + 1)] for i in range(1, n + 1)], np.float32))


def invpascal(n, kind="symmetric"):
    """The inverse of pascal(n, kind)."""
    lower = np.array([[float((-1) ** (i - j) * math.comb(i, j)) for j in range(n)] for i in range(n)])
    made = {"lower": lambda: lower, "upper": lambda: lower.T, "symmetric": lambda: lower.T @ lower}
    if kind not in made:
        raise InvalidArgument(f"invpascal: kind is {kind!r}, expected 'symmetric', 'lower' or 'upper'")
    return wnp.asarray(made[kind]().astype(np.float32))


def dft(n, scale=None):
    """The matrix of a Fourier transform."""
    made = np.exp(-2j * np.pi * (np.outer(np.arange(n), np.arange(n)) % n) / n)
    by = {None: 1.0, "sqrtn": n ** -0.5, "n": 1 / n}[scale]
    return wnp.asarray((made * by).astype(np.complex64))


spelling.spell(__name__, globals())
