"""Solutions whose derivatives follow from what they solve, not from the steps that found them."""
from wick.trace import tree
from wick.trace.custom import custom_vjp
from wick.trace.transform import linear_transpose, linearize, stop_gradient


def _plus_derivative(x, correction):
    """x, with the derivative of a correction that is 0 but for rounding."""
    return tree.map(lambda x, c: x + (c - stop_gradient(c)), x, correction)


def _solution(matvec, turned, b, solve, transpose_solve, depth):
    """(x, aux) of solve(matvec, b). The derivative is a solution, too, whose own derivative is one, `depth` times; after that
    the steps of a solver are differentiated."""
    x, aux = tree.map(stop_gradient, solve(matvec, b))

    def backward(_, g):
        return (_solution(turned, matvec, g, transpose_solve, solve, depth - 1)[0] if depth else transpose_solve(turned, g)[0],)

    inverse = custom_vjp.of_constants(lambda r: r, lambda r: (r, None), backward)
    return _plus_derivative(x, inverse(tree.map(lambda b, a: b - a, b, matvec(x)))), aux


def custom_linear_solve(matvec, b, solve, transpose_solve=None, symmetric=False, has_aux=False):
    """x with matvec(x) = b, as solve(matvec, b) gives it; its derivative is a solution of the transposed system."""

    def pair(f):
        return f if has_aux else lambda matvec, b: (f(matvec, b), None)

    turned = matvec if symmetric else lambda v: linear_transpose(matvec, b)(v)[0]
    x, aux = _solution(matvec, turned, b, pair(solve), pair(transpose_solve or solve), 1)
    return (x, aux) if has_aux else x


def custom_root(f, initial_guess, solve, tangent_solve, has_aux=False):
    """x with f(x) = 0, as solve(f, initial_guess) gives it; its derivative is tangent_solve(g, y), x with g(x) = y of the linear g."""
    found = stop_gradient(solve(f, initial_guess))
    x, aux = found if has_aux else (found, None)
    y, linear = linearize(f, x)
    x = _plus_derivative(x, tangent_solve(linear, tree.map(lambda y: -y, y)))
    return (x, aux) if has_aux else x
