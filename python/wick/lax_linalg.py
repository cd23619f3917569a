"""Names of jax.lax.linalg."""
from wick.numpy import linalg as _own
from wick.numpy import matrix_transpose, where, eye
from wick.scipy.linalg import lu_pivots
from wick.trace import ops
from wick.trace.eager import api


@api
def cholesky(x, *, symmetrize_input=True):
    """The lower triangle of Cholesky's factorization."""
    x = ops.array(x)
    return _own.cholesky((x + matrix_transpose(x)) / 2 if symmetrize_input else x)


@api
def eigh(x, *, lower=True, symmetrize_input=True, sort_eigenvalues=True, subset_by_index=None):
    """(eigenvectors, eigenvalues) of symmetric matrices."""
    x = ops.array(x)
    values, vectors = _own.eigh((x + matrix_transpose(x)) / 2 if symmetrize_input else x, UPLO="L" if lower else "U")
    return vectors, values


@api
def triangular_solve(a, b, *, left_side=False, lower=False, transpose_a=False, conjugate_a=False, unit_diagonal=False):
    """x with a @ x = b, or with x @ a = b, for a triangle a."""
    a, b = ops.convert(a, b)
    if unit_diagonal:
        a = where(eye(a.shape[-1], dtype=bool), 1.0, a)
    if left_side:
        return _own.solve_triangular(a, b, lower=lower, trans=int(transpose_a))
    turned = _own.solve_triangular(a, matrix_transpose(b), lower=lower, trans=int(not transpose_a))
    return matrix_transpose(turned)


def lu(x):
    """(both triangles in one matrix, the rows that were swapped, the permutation)"""
    return lu_pivots(x)


def qr(x, *, full_matrices=True):
    """(q, r)"""
    return tuple(_own.qr(x, mode="complete" if full_matrices else "reduced"))


def svd(x, *, full_matrices=True, compute_uv=True, subset_by_index=None):
    """(u, singular values, v's transpose)"""
    made = _own.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(made) if compute_uv else made
