"""Names of jax.lax.linalg."""
from wick.numpy import linalg as _own
from wick.numpy import arange, eye, matrix_transpose, tril, where, zeros_like
from wick.numpy.linalg import geqrf, householder_product  # noqa: F401
from wick.scipy.linalg import lu_pivots
from wick.trace import ops
from wick.trace.control import fori, scan
from wick.trace.eager import api
from wick.trace.transform import vmap


@api
def cholesky(x, *, symmetrize_input=True):
    """The lower triangle of Cholesky's factorization."""
    return _own.cholesky(x, symmetrize_input=symmetrize_input)


@api
def eigh(x, *, lower=True, symmetrize_input=True, sort_eigenvalues=True, subset_by_index=None):
    """(eigenvectors, eigenvalues) of symmetric matrices."""
    values, vectors = _own.eigh(x, UPLO="L" if lower else "U", symmetrize_input=symmetrize_input)
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


@api
def lu_pivots_to_permutation(pivots, permutation_size):
    """The permutation of that many rows by the rows that each step swapped with its own."""
    pivots = ops.array(pivots)
    if pivots.ndim > 1:
        return vmap(lambda p: lu_pivots_to_permutation(p, permutation_size))(pivots)

    def swap(k, order):
        return order.at[k].set(order[pivots[k]]).at[pivots[k]].set(order[k])

    return fori(0, pivots.shape[0], swap, ops.as_elem(arange(permutation_size), pivots.elem))


@api
def symmetric_product(a_matrix, c_matrix, *, alpha=1.0, beta=0.0, symmetrize_output=False):
    """alpha * a @ a.T + beta * c, for a symmetric c."""
    a, c = ops.convert(a_matrix, c_matrix)
    return alpha * (a @ matrix_transpose(a)) + beta * c


@api
def cholesky_update(r_matrix, w_vector):
    """The upper triangle of r.T @ r + w * w.T."""
    r, w = ops.convert(r_matrix, w_vector)
    return matrix_transpose(_own.cholesky(matrix_transpose(r) @ r + w[:, None] * w))


@api
def hessenberg(a):
    """(packed, taus): Householder's reflections that make square matrices zero below the first subdiagonal, as LAPACK has them."""
    a = _own._matrices("hessenberg", a, square=True)
    if a.ndim > 2:
        return vmap(hessenberg)(a)
    n = a.shape[0]
    at = ops.iota(n)

    def step(k, state):
        h, vectors, taus = state
        column = h[:, k]
        first, x = column[k + 1], where(at > k + 1, column, 0.0)
        rest = (x * x).sum()
        size = (first * first + rest) ** 0.5
        pivot = where(rest == 0, first, where(first < 0, size, -size))
        tau = where(rest == 0, 0.0, (pivot - first) / where(rest == 0, 1.0, pivot))
        v = (x / where(rest == 0, 1.0, first - pivot)).at[k + 1].set(1.0)
        h = h - tau * v[:, None] * (v @ h)
        h = h - tau * (h @ v)[:, None] * v
        return h, vectors.at[:, k].set(where(at > k + 1, v, 0.0)), taus.at[k].set(tau)

    start = a, zeros_like(a), zeros_like(a[0])
    h, vectors, taus = fori(0, max(n - 2, 0), step, start)
    return h - tril(h, -2) + vectors, taus[:max(n - 1, 0)]


def qr(x, *, full_matrices=True):
    """(q, r)"""
    return tuple(_own.qr(x, mode="complete" if full_matrices else "reduced"))


def svd(x, *, full_matrices=True, compute_uv=True, subset_by_index=None):
    """(u, singular values, v's transpose)"""
    made = _own.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(made) if compute_uv else made
