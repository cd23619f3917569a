"""Linear algebra, as in jax.scipy.linalg."""
import numpy as np

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.numpy.linalg import cho_solve, det, eigh as _eigh, expm, inv, norm, pinv, solve_triangular as _triangular  # noqa: F401
from wick.numpy import linalg as _own
from wick.trace import ops
from wick.trace.eager import api
from wick.trace.scope import fail


@api
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The triangle of Cholesky's factorization; the upper one unless `lower`."""
    return _own.cholesky(a, upper=not lower)


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
    """x with a @ x = b; assume_a="pos" of a that is symmetric and positive definite."""
    if assume_a != "pos":
        return _own.solve(a, b)
    return cho_solve((_own.cholesky(a), True), b)


@api
def eigh(a, b=None, lower=True, eigvals_only=False):
    """(eigenvalues, eigenvectors) of symmetric matrices."""
    if b is not None:
        fail(InvalidArgument, "eigh: a second matrix is not supported")
    made = _eigh(a, UPLO="L" if lower else "U")
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
