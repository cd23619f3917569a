"""Schur's form of matrices that need not be symmetric, and functions of matrices by it. The results are complex."""
import functools

from wick import numpy as wnp
from wick.errors import InvalidArgument, Unsupported
from wick.numpy.eigenvalues import of_matrices, schur_of_matrix
from wick.numpy import linalg as _own
from wick.trace import complex as pairs, elements, ops
from wick.trace.control import fori
from wick.trace.eager import api
from wick.trace.scope import fail


def schur(a, output="real"):
    """(t, z): a triangle and a unitary matrix with z @ t @ z.conj().T = a."""
    if output not in ("real", "complex"):
        raise InvalidArgument(f"schur: output is {output!r}, expected 'real' or 'complex'")
    if output == "real":
        raise Unsupported("schur: blocks of two rows for pairs of eigenvalues are not supported: give output='complex'")
    return _schur(a)


@functools.partial(api, takes_complex=True)
def _schur(a):
    t, z = of_matrices(schur_of_matrix, *_own._parts("schur", a))
    return pairs.pair(*t), pairs.pair(*z)


@functools.partial(api, takes_complex=True)
def rsf2csf(T, Z, check_finite=True):
    """(t, z) of the complex form, from the real one."""
    t, turned = of_matrices(schur_of_matrix, *_own._parts("rsf2csf", T))
    return pairs.pair(*t), pairs.pair(*pairs.both_parts(Z)) @ pairs.pair(*turned)


def _triangle(t, f):
    """(f of a triangle, the least distance of two eigenvalues), from f of the diagonal: Parlett's recurrence (Golub and Van Loan, algorithm 9.1.1)."""
    n = t.shape[-1]
    at = wnp.arange(n)
    values = wnp.diagonal(t)
    apart = values[None, :] - values[:, None]
    one = apart == 0
    by = wnp.where(one, 1.0, apart)
    zero = wnp.zeros((n, n), dtype=t.re.dtype)
    start = pairs.pair(wnp.where(at[:, None] == at, f.re, 0.0), wnp.where(at[:, None] == at, f.im, 0.0))

    def diagonal(p, made):
        at_p = at[None, :] - at[:, None] == p
        found = (t @ made - made @ t) / by
        return made + pairs.pair(wnp.where(at_p, found.re, zero), wnp.where(at_p, found.im, zero))

    least = wnp.min(wnp.where(at[None, :] > at[:, None], wnp.abs(apart), wnp.inf))
    return fori(1, n, diagonal, start), least


def funm(A, func, disp=True):
    """func of a matrix, by its values for the eigenvalues; with disp=False also an estimate of the relative error."""
    made, error = _funm(A, func=func)
    return made if disp else (made, error)


@functools.partial(api, takes_complex=True)
def _funm(a, func):
    re, im = _own._parts("funm", a)
    if re.ndim != 2:
        fail(InvalidArgument, f"funm: expected one square matrix, the shape {re.shape} is given")
    t, z = [pairs.pair(*v) for v in of_matrices(schur_of_matrix, re, im)]
    f = func(wnp.diagonal(t))
    made, least = _triangle(t, pairs.pair(*pairs.both_parts(f)))
    eps = float(elements.finfo(re.elem).eps)
    least = wnp.where(least == 0, eps, least)
    error = wnp.clip(eps / least * wnp.linalg.norm(wnp.triu(wnp.abs(t), 1), 1), eps, 1.0)
    made = z @ made @ wnp.conj(wnp.matrix_transpose(z))
    return made, wnp.where(wnp.all(wnp.isfinite(made)), error, wnp.inf)
