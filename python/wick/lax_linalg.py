"""Names of jax.lax.linalg."""
from wick.numpy import linalg as _own
from wick.numpy import eye, matrix_transpose, where, zeros_like
from wick.scipy.linalg import lu_pivots
from wick.trace import ops
from wick.trace.control import scan
from wick.trace.eager import api
from wick.trace.transform import vmap


@api
def cholesky(x, *, symmetrize_input=True):
    """The lower triangle of Cholesky's factorization."""
    return _own.cholesky(x, symmetrize_input=symmetrize_input)


@api
def eigh(x, *, lower=True, symmetrize_input=True, sort_eigenvalues=True, subset_by_index=None):
    """(eigenvectors, eigenvalues) of symmetric matrices."""
    values, vectors = _own.eigh(x, UPLO=None if symmetrize_input else "L" if lower else "U")
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


@api
def tridiagonal_solve(dl, d, du, b):
    """x of the equations dl[i] * x[i - 1] + d[i] * x[i] + du[i] * x[i + 1] = b[i], by elimination without pivots; b has a last
    axis of right sides."""
    dl, d, du, b = ops.convert(dl, d, du, b)
    if d.ndim != 1:
        return vmap(tridiagonal_solve)(dl, d, du, b)

    def eliminate(last, row):
        (over, right), (below, on, above, b) = last, row
        pivot = on - below * over
        made = above / pivot, (b - below * right) / pivot
        return made, made

    def substitute(x, row):
        over, right = row
        x = right - over * x
        return x, x

    none = zeros_like(b[0])
    _, rows = scan(eliminate, (zeros_like(d[0]), none), (dl.at[0].set(0.0), d, du, b))
    return scan(substitute, none, rows, reverse=True)[1]


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
