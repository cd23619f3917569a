"""Solutions of linear systems that are given as functions, as in jax.scipy.sparse.linalg. Derivatives are solutions again
(wick.lax.custom_linear_solve)."""
import functools

from wick import lax, numpy as wnp
from wick.errors import InvalidArgument
from wick.flatten_util import ravel_pytree
from wick.trace import ops
from wick.trace.control import while_loop
from wick.trace.scope import fail


def _flat(A, b, x0, M):
    """The system on vectors: (the product, b, the first x, the preconditioner, the way back)."""
    if not callable(A):
        matrix = ops.array(A)
        A = functools.partial(wnp.matmul, matrix)
    vector, back = ravel_pytree(b)
    vector = ops.floating(vector)

    def on_vectors(f):
        return lambda v: ravel_pytree(f(back(v)))[0]

    first = wnp.zeros_like(vector) if x0 is None else ravel_pytree(x0)[0]
    return on_vectors(A), vector, first, (lambda v: v) if M is None else on_vectors(M) if callable(M) else functools.partial(wnp.matmul, M), back


def _conjugate(A, b, x, M, limit, most):
    z = M(b - A(x))

    def step(s):
        k, x, r, z, p, rz = s
        ap = A(p)
        alpha = rz / wnp.vdot(p, ap)
        x, r = x + alpha * p, r - alpha * ap
        z = M(r)
        new = wnp.vdot(r, z)
        return k + 1, x, r, z, z + new / rz * p, new

    r = b - A(x)
    start = 0, x, r, z, z, wnp.vdot(r, z)
    return while_loop(lambda s: (wnp.vdot(s[2], s[2]) > limit) & (s[0] < most), step, start)[1]


def _biconjugate(A, b, x, M, limit, most):
    r = b - A(x)
    one = ops.full((), 1, b.elem)

    def step(s):
        k, x, r, alpha, omega, rho, p, q = s
        new = wnp.vdot(rhat, r)
        beta = new / rho * (alpha / omega)
        p = r + beta * (p - omega * q)
        phat = M(p)
        q = A(phat)
        alpha = new / wnp.vdot(rhat, q)
        half = r - alpha * q
        shat = M(half)
        t = A(shat)
        tt = wnp.vdot(t, t)
        omega = wnp.vdot(t, half) / wnp.where(tt == 0, 1.0, tt)
        return k + 1, x + alpha * phat + omega * shat, half - omega * t, alpha, wnp.where(omega == 0, 1.0, omega), new, p, q

    rhat = r
    zero = wnp.zeros_like(b)
    return while_loop(lambda s: (wnp.vdot(s[2], s[2]) > limit) & (s[0] < most), step, (0, x, r, one, one, one, zero, zero))[1]


def _minimal(A, b, x, M, limit, most, restart):
    """GMRES: each round solves a least-squares problem in a space of at most `restart` vectors."""
    n = min(restart, b.shape[0])

    def round_of(s):
        k, x, _ = s
        r = M(b - A(x))
        norm = wnp.linalg.norm(r)
        basis = wnp.zeros((n + 1, b.shape[0]), b.dtype).at[0].set(r / wnp.where(norm == 0, 1.0, norm))

        def extend(j, s):
            basis, h = s
            w = M(A(basis[j]))
            first = basis @ w
            w = w - first @ basis
            again = basis @ w
            w = w - again @ basis
            size = wnp.linalg.norm(w)
            small = size < 1e-6 * norm
            basis = basis.at[j + 1].set(wnp.where(small, 0.0, w / wnp.where(small, 1.0, size)))
            return basis, h.at[:, j].set((first + again).at[j + 1].add(wnp.where(small, 0.0, size)))

        basis, h = lax.fori_loop(0, n, extend, (basis, wnp.zeros((n + 1, n), b.dtype)))
        y = wnp.linalg.pinv(h) @ wnp.zeros(n + 1, b.dtype).at[0].set(norm)
        x = x + y @ basis[:n]
        rest = b - A(x)
        return k + 1, x, wnp.vdot(rest, rest)

    rest = b - A(x)
    return while_loop(lambda s: (s[2] > limit) & (s[0] < most), round_of, (0, x, wnp.vdot(rest, rest)))[1]


def _solved(name, steps, symmetric, A, b, x0, tol, atol, maxiter, M):
    A, b, first, M, back = _flat(A, b, x0, M)
    if first.shape != b.shape:
        fail(InvalidArgument, f"{name}: x0 has {first.shape[0]} elements and b has {b.shape[0]}")
    most = 10 * b.shape[0] if maxiter is None else maxiter

    def solve(matvec, b):
        limit = wnp.maximum(tol ** 2 * wnp.vdot(b, b), atol ** 2)
        return steps(matvec, b, first, M, limit, most)

    return back(lax.custom_linear_solve(A, b, solve, symmetric=symmetric)), None


def cg(A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter=None, M=None):
    """(x, None) with A(x) = b, by conjugate gradients, for A that is symmetric and positive definite."""
    return _solved("cg", _conjugate, True, A, b, x0, tol, atol, maxiter, M)


def bicgstab(A, b, x0=None, *, tol=1e-5, atol=0.0, maxiter=None, M=None):
    """(x, None) with A(x) = b, by stabilized biconjugate gradients."""
    return _solved("bicgstab", _biconjugate, False, A, b, x0, tol, atol, maxiter, M)


def gmres(A, b, x0=None, *, tol=1e-5, atol=0.0, restart=20, maxiter=None, M=None, solve_method="batched"):
    """(x, None) with A(x) = b, by minimal residuals."""
    return _solved("gmres", functools.partial(_minimal, restart=restart), False, A, b, x0, tol, atol, maxiter, M)
