"""Linear algebra: the extension `linalg` of the array API, for matrices with a few hundred rows."""
import collections
import functools
import math

from wick.errors import InvalidArgument, Unsupported
from wick.numpy.elementwise import abs as abs_of
from wick.numpy.manipulation import diagonal as _diagonal, expand_dims, matrix_transpose, permute_dims
from wick.numpy.products import cross, matmul, outer, tensordot, vecdot  # noqa: F401
from wick.numpy.reductions import max as max_of, min as min_of, sum as sum_of
from wick.trace import elements, ops, scope as scopes, spelling
from wick.trace.complex import both_parts, pair
from wick.trace.eager import api
from wick.trace.scope import emit_all, fail, name_of

EigenResult = collections.namedtuple("EighResult", "eigenvalues eigenvectors")
EigResult = collections.namedtuple("EigResult", "eigenvalues eigenvectors")
QRResult = collections.namedtuple("QRResult", "Q R")
SVDResult = collections.namedtuple("SVDResult", "U S Vh")
SlogdetResult = collections.namedtuple("SlogdetResult", "sign logabsdet")


def _matrices(what, x, square=False):
    x = ops.floating(x)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        fail(InvalidArgument, f"{what}: an array of the shape {x.shape} is given, expected {'square ' if square else ''}matrices")
    return x


def _library(function, operands, results, ranks=None):
    """A function of the language's module linalg, for each matrix, or for arrays of those ranks; `results` are shapes of one."""
    root = scopes.current().root
    root.modules["linalg"] = True
    ends = ranks or (2,) * len(operands)
    batch = ops.broadcast_shapes(function, *[x.shape[:x.ndim - k] for x, k in zip(operands, ends)])
    rows = [ops.broadcast_to(x, batch + x.shape[x.ndim - k:]) for x, k in zip(operands, ends)]
    rows = [ops.reshape(x, (math.prod(batch),) + x.shape[x.ndim - k:]) if batch else x for x, k in zip(rows, ends)]
    text = f"linalg.{function}"
    if batch:
        names = [root.fresh("m") for _ in rows]
        heads = ", ".join([f"{n}: {scopes.type_text(x.elem, x.shape[1:])}" for n, x in zip(names, rows)])
        text = f"vmap(fn({heads}) {{ linalg.{function}({', '.join(names)}) }})"
    head = (math.prod(batch),) if batch else ()
    made = emit_all(f"{text}({', '.join([name_of(x) for x in rows])})", [(rows[0].elem, head + r) for r in results])
    return [ops.reshape(x, batch + r) for x, r in zip(made, results)]


def _wide(x):
    """The language's functions compute in f32 and f64."""
    return ops.as_elem(x, "f32") if x.elem in ("f16", "bf16") else x


def _mean_with_transpose(x):
    """The same for a symmetric x, with a derivative that is symmetric, too, as JAX has it."""
    return ops.binary("mul", ops.same("add", x, matrix_transpose(x)), 0.5)


@api
def cholesky(x, /, *, upper=False, symmetrize_input=True):
    """The triangle l with l times its transpose equal to x, which is symmetric and positive definite. Without
    `symmetrize_input` the lower half of x is read alone, and the derivative is that of JAX, which is not symmetric."""
    x = _matrices("cholesky", x, square=True)
    x = _mean_with_transpose(x) if symmetrize_input else x
    made = ops.as_elem(_library("cholesky_whole", [_wide(x)], [x.shape[-2:]])[0], x.elem)
    return matrix_transpose(made) if upper else made


@api
def solve(x1, x2, /):
    """x with x1 @ x = x2."""
    x1, x2 = ops.convert(x1, x2)
    a, b = _matrices("solve", x1, square=True), ops.floating(x2)
    vector = b.ndim == 1
    b = ops.reshape(b, b.shape + (1,)) if vector else b
    if b.shape[-2] != a.shape[-1]:
        fail(InvalidArgument, f"solve: the shapes {x1.shape} and {x2.shape} do not fit together")
    made = ops.as_elem(_library("solve", [_wide(a), _wide(b)], [b.shape[-2:]])[0], a.elem)
    return ops.reshape(made, made.shape[:-1]) if vector else made


@api
def inv(x, /):
    """The inverse."""
    x = _matrices("inv", x, square=True)
    return ops.as_elem(_library("inverse", [_wide(x)], [x.shape[-2:]])[0], x.elem)


@api
def solve_triangular(a, b, *, lower=False, trans=0):
    """x with a @ x = b, for a triangle a."""
    a, b = [ops.floating(v) for v in ops.convert(a, b)]
    vector = b.ndim == 1
    b = ops.reshape(b, b.shape + (1,)) if vector else b
    if trans in (1, "T"):
        a, lower = matrix_transpose(a), not lower
    made = _library("solve_lower" if lower else "solve_upper", [a, b], [b.shape[-2:]])[0]
    return ops.reshape(made, made.shape[:-1]) if vector else made


@api
def cho_solve(c, b):
    """x with a @ x = b, of (the Cholesky triangle of a, is it the lower one?)."""
    l, lower = c if isinstance(c, tuple) else (c, True)
    l = l if lower else matrix_transpose(l)
    y = solve_triangular(l, b, lower=True)
    return solve_triangular(matrix_transpose(ops.array(l)), y, lower=False)


@api
def det(x, /):
    """The determinant."""
    x = _matrices("det", x, square=True)
    return ops.as_elem(_library("determinant", [_wide(x)], [()])[0], x.elem)


@api
def slogdet(x, /):
    """(the sign of the determinant, the logarithm of its size), by the triangles of an elimination."""
    from wick.trace.control import fori
    from wick.trace import index
    x = _wide(_matrices("slogdet", x, square=True))
    if x.ndim > 2:
        from wick.trace.transform import vmap
        return SlogdetResult(*vmap(slogdet)(x))
    n = x.shape[-1]

    def eliminate(j, state):
        u, sign, total = state
        column = ops.where(ops.binary("lt", ops.iota(n), j, "bool"), -1, abs_of(u[:, j]))
        p = ops.arg_reduce("argmax", column, 0, False)
        row, other = u[p], u[j]
        u = u.at[p].set(other).at[j].set(row)
        pivot = row[j]
        safe = ops.where(ops.binary("eq", pivot, 0, "bool"), 1, pivot)
        factor = ops.where(ops.binary("gt", ops.iota(n), j, "bool"), u[:, j] / safe, 0)
        u = u - ops.reshape(factor, (n, 1)) * row
        swapped = ops.where(ops.binary("eq", p, j, "bool"), 1, -1)
        return u, sign * ops.unary("sign", pivot) * ops.as_elem(swapped, x.elem), total + ops.unary("log", abs_of(pivot))

    one, zero = ops.full((), 1, x.elem), ops.full((), 0, x.elem)
    _, sign, total = fori(0, n, eliminate, (x, one, zero))
    return SlogdetResult(sign, total)


@api
def qr(x, /, *, mode="reduced"):
    """(q with orthonormal columns, the triangle r) with q @ r = x, with the signs of LAPACK."""
    if mode not in ("reduced", "r", "complete"):
        fail(InvalidArgument, f"qr: the mode {mode!r} is none of reduced, complete, r")
    x = _matrices("qr", x)
    m, n = x.shape[-2:]
    if mode == "complete" and m > n:
        return _complete_qr(x)
    square = x[..., :m] if m < n else x
    k = square.shape[-1]
    q, r = [ops.as_elem(v, x.elem) for v in _library("reflected_qr", [_wide(square)], [(m, k), (k, k)])]
    r = ops.concat([r, ops.matmul(matrix_transpose(q), x[..., m:])], x.ndim - 1) if m < n else r
    return r if mode == "r" else QRResult(q, r)


def _complete_qr(x):
    """All columns of q, for more rows than columns. The derivative is that of the reflections."""
    from wick.numpy.creation import triu
    m, n = x.shape[-2:]
    packed, taus = geqrf(x)
    wide = ops.concat([packed, ops.full(x.shape[:-1] + (m - n,), 0, x.elem)], x.ndim - 1)
    factors = ops.concat([taus, ops.full(x.shape[:-2] + (m - n,), 0, x.elem)], x.ndim - 2)
    return QRResult(householder_product(wide, factors), triu(packed))


@api
def geqrf(x, /):
    """(packed, taus): Householder's reflections of matrices with at least as many rows as columns, and r, as LAPACK has them."""
    x = _matrices("geqrf", x)
    m, n = x.shape[-2:]
    if m < n:
        fail(Unsupported, "geqrf of matrices with more columns than rows is not supported")
    if not n:
        return x, ops.full(x.shape[:-2] + (0,), 0, x.elem)
    return tuple([ops.as_elem(v, x.elem) for v in _library("householder", [_wide(x)], [(m, n), (n,)])])


@api
def householder_product(a, taus, /):
    """The first columns of the product of reflections that geqrf gives: a has their vectors below the diagonal."""
    a, taus = _matrices("householder_product", a), ops.floating(taus)
    m, n = a.shape[-2:]
    if taus.shape[:-1] != a.shape[:-2] or taus.ndim != a.ndim - 1 or taus.shape[-1] > n or m < n:
        fail(InvalidArgument, f"householder_product: the shapes {a.shape} and {taus.shape} do not fit together")
    rest = n - taus.shape[-1]
    taus = ops.concat([taus, ops.full(taus.shape[:-1] + (rest,), 0, taus.elem)], taus.ndim - 1) if rest else taus
    return ops.as_elem(_library("householder_product", [_wide(a), _wide(taus)], [(m, n)], ranks=(2, 1))[0], a.elem)


@api
def eigh(x, /, *, UPLO=None, symmetrize_input=True):
    """(eigenvalues in ascending order, eigenvectors as columns) of symmetric matrices. Without `symmetrize_input` one
    triangle is read alone, that of UPLO."""
    x = _matrices("eigh", x, square=True)
    n = x.shape[-1]
    whole = _mean_with_transpose(x) if symmetrize_input else symmetric(x, UPLO or "L")
    values, vectors = _library("symmetric_eigen", [_wide(whole)], [(n,), (n, n)])
    return EigenResult(ops.as_elem(values, x.elem), ops.as_elem(vectors, x.elem))


def symmetric(x, half):
    """The symmetric matrix of which x has one half, "L" or "U"."""
    from wick.numpy.creation import tril, triu
    part, strict = (tril(x), tril(x, -1)) if half == "L" else (triu(x), triu(x, 1))
    return ops.same("add", part, matrix_transpose(strict))


def eigvalsh(x, /, *, UPLO=None, symmetrize_input=True):
    """The eigenvalues of symmetric matrices in ascending order."""
    return eigh(x, UPLO=UPLO, symmetrize_input=symmetrize_input)[0]


@api
def svd(x, /, *, full_matrices=True, compute_uv=True):
    """(u, singular values, v's transpose), by turns of pairs of columns."""
    x = _matrices("svd", x)
    m, n = x.shape[-2:]
    if m < n:
        u, s, vh = svd(matrix_transpose(x), full_matrices=full_matrices)
        return SVDResult(matrix_transpose(vh), s, matrix_transpose(u)) if compute_uv else s
    u, s, vh = [ops.as_elem(v, x.elem) for v in _library("singular_values", [_wide(x)], [(m, n), (n,), (n, n)])]
    if not compute_uv:
        return s
    if full_matrices and m > n:
        rest = ops.array(qr(u, mode="complete")[0])
        u = ops.concat([u, rest[..., n:]], x.ndim - 1)
    return SVDResult(u, s, vh)


@api
def svdvals(x, /):
    """The singular values in descending order."""
    return svd(x, full_matrices=False)[1]


@api
def pinv(x, /, *, rtol=None):
    """The pseudo-inverse."""
    x = _matrices("pinv", x)
    u, s, vh = svd(x, full_matrices=False)
    rtol = max(x.shape[-2:]) * float(elements.finfo(x.elem).eps) if rtol is None else rtol
    small = ops.same("le", s, ops.binary("mul", max_of(s, axis=-1, keepdims=True), rtol), elem="bool")
    inverse = ops.where(small, 0, ops.binary("div", 1.0, ops.where(small, 1, s)))
    return ops.matmul(ops.same("mul", matrix_transpose(vh), ops.reshape(inverse, inverse.shape[:-1] + (1,) + inverse.shape[-1:])),
                      matrix_transpose(u))


@api
def matrix_power(x, n, /):
    """The n-th power of square matrices."""
    x, n = _matrices("matrix_power", x, square=True), ops.whole("matrix_power", n)
    from wick.numpy.creation import eye
    if n < 0:
        return matrix_power(inv(x), -n)
    made, square = None, x
    while n:
        if n & 1:
            made = square if made is None else ops.matmul(made, square)
        n >>= 1
        square = ops.matmul(square, square) if n else square
    return ops.broadcast_to(ops.as_elem(eye(x.shape[-1]), x.elem), x.shape) if made is None else made


@api
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of vectors."""
    x = ops.floating(x)
    if ord == 2:
        return ops.reduce("l2", x, axis, keepdims) if x.ndim else abs_of(x)
    size = abs_of(x)
    if ord == 1:
        return ops.reduce("sum", size, axis, keepdims)
    if ord in (math.inf, -math.inf):
        return ops.reduce("max" if ord > 0 else "min", size, axis, keepdims)
    if ord == 0:
        return ops.as_elem(sum_of(ops.binary("ne", x, 0, "bool"), axis=axis, keepdims=keepdims), x.elem)
    return ops.binary("pow", ops.reduce("sum", ops.binary("pow", size, float(ord)), axis, keepdims), 1.0 / ord)


@api
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of matrices."""
    x = _matrices("matrix_norm", x)
    if ord == "fro":
        return ops.reduce("l2", x, (-2, -1), keepdims)
    if ord in (2, -2, "nuc"):
        s = svdvals(x)
        made = {2: max_of, -2: min_of, "nuc": sum_of}[ord](s, axis=-1)
        return ops.reshape(made, made.shape + (1, 1)) if keepdims else made
    along, across = (-2, -1) if ord in (1, -1) else (-1, -2)
    sums = ops.reduce("sum", abs_of(x), along, True)
    made = ops.reduce("max" if ord > 0 else "min", sums, across, True)
    return made if keepdims else ops.reshape(made, made.shape[:-2])


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors or matrices, as in NumPy."""
    if isinstance(axis, (tuple, list)) and len(axis) == 2:
        if ord in (None, "fro"):
            return vector_norm(x, axis=tuple(axis), keepdims=keepdims)
        rank = len(x.shape)
        first, second = axes = [ops.axis_of("norm", a, rank) for a in axis]
        made = matrix_norm(permute_dims(x, [k for k in range(rank) if k not in axes] + [first, second]), ord=ord)
        return expand_dims(made, axis=tuple(sorted(axes))) if keepdims else made
    if axis is None and ord is not None and len(x.shape) == 2:
        return matrix_norm(x, ord=ord, keepdims=keepdims)
    return vector_norm(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)


@api
def trace(x, /, *, offset=0, dtype=None):
    """The sum of the diagonal of matrices."""
    return sum_of(diagonal(x, offset=offset), axis=-1, dtype=dtype)


@api
def diagonal(x, /, *, offset=0):
    """The diagonal of matrices, along the last axis."""
    return _diagonal(x, offset, -2, -1)


@api
def matrix_rank(x, /, *, rtol=None):
    """The number of singular values above a limit."""
    x = _matrices("matrix_rank", x)
    s = svdvals(x)
    rtol = max(x.shape[-2:]) * float(elements.finfo(x.elem).eps) if rtol is None else rtol
    limit = ops.binary("mul", max_of(s, axis=-1, keepdims=True), rtol)
    return sum_of(ops.same("gt", s, limit, elem="bool"), axis=-1)


@api
def lstsq(a, b, rcond=None):
    """(x with the least |a @ x - b|, the squared residuals, the rank, the singular values)"""
    a, b = [ops.floating(v) for v in ops.convert(a, b)]
    x = ops.matmul(pinv(a), b)
    apart = ops.same("sub", ops.matmul(a, x), b)
    return x, sum_of(ops.same("mul", apart, apart), axis=0), matrix_rank(a), svdvals(a)


@api
def multi_dot(arrays):
    """The product of several matrices."""
    made = arrays[0]
    for x in arrays[1:]:
        made = ops.matmul(made, x)
    return made


@api
def cond(x, /):
    """The largest singular value divided by the least."""
    s = svdvals(x)
    return ops.same("div", max_of(s, axis=-1), min_of(s, axis=-1))


@api
def expm(x, /, *, upper_triangular=False, max_squarings=16):
    """The exponential of a matrix: Taylor's series of a scaled matrix, squared again. The named arguments have no effect."""
    from wick.trace.control import fori
    x = _matrices("expm", x, square=True)
    size = max_of(ops.reduce("sum", abs_of(x), -2))
    count = ops.binary("max", ops.unary("ceil", ops.unary("log2", ops.binary("add", size, 1e-30))), 0)
    scaled = ops.same("div", x, ops.unary("exp2", ops.binary("add", count, 1.0)))
    from wick.numpy.creation import eye
    one = ops.as_elem(eye(x.shape[-1]), x.elem)
    made = one
    for k in range(18, 0, -1):
        made = ops.same("add", one, ops.binary("div", ops.matmul(scaled, made), float(k)))
    return fori(0, ops.binary("add", ops.as_elem(count, "i64"), 1), lambda _, e: ops.matmul(e, e), made)


@api
def tensorsolve(a, b, axes=None):
    """x with tensordot(a, x, x.ndim) = b."""
    a, b = [ops.floating(v) for v in ops.convert(a, b)]
    if axes is not None:
        axes = ops.axes_of("tensorsolve", axes, a.ndim)
        a = ops.transpose(a, [k for k in range(a.ndim) if k not in axes] + list(axes))
    tail = a.shape[b.ndim:]
    return ops.reshape(solve(ops.reshape(a, (b.size, b.size)), ops.reshape(b, (b.size,))), tail)


@api
def tensorinv(a, ind=2):
    """The inverse of tensordot(a, x, ...), where `ind` dimensions are those of results."""
    a = ops.floating(a)
    n = math.prod(a.shape[:ind])
    return ops.reshape(inv(ops.reshape(a, (n, n))), a.shape[ind:] + a.shape[:ind])


@functools.partial(api, takes_complex=True)
def eig(x):
    """(eigenvalues, eigenvectors as columns) of square matrices, in no certain order, as complex numbers."""
    from wick.numpy.eigenvalues import of_matrices, of_matrix
    values, vectors = of_matrices(of_matrix, *_parts("eig", x))
    return EigResult(pair(*values), pair(*vectors))


@functools.partial(api, takes_complex=True)
def eigvals(x):
    """The eigenvalues of square matrices, in no certain order, as complex numbers."""
    from wick.numpy.eigenvalues import of_matrices, values_of_matrix
    return pair(*of_matrices(values_of_matrix, *_parts("eigvals", x)))


def _parts(name, x):
    """The real and the imaginary part of square matrices."""
    re, im = both_parts(x)
    if re.ndim < 2 or re.shape[-1] != re.shape[-2] or not re.shape[-1]:
        fail(InvalidArgument, f"{name}: expected square matrices, the shape {re.shape} is given")
    return _wide(re), _wide(im)


__all__ = [name for name, f in list(globals().items()) if not name.startswith("_") and getattr(f, "__module__", "").startswith("wick.numpy")]


spelling.spell(__name__, globals())
