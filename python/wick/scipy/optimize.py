"""Minima of functions of a vector, as in jax.scipy.optimize."""
import collections

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.trace import ops, scope as scopes
from wick.trace.control import while_loop
from wick.trace.function import Function
from wick.trace.scope import fail
from wick.trace.transform import value_and_grad

OptimizeResults = collections.namedtuple("OptimizeResults", "x success status fun jac hess_inv nfev njev nit")


def _step_length(f, x, direction, value, slope, most=30):
    """(a step that satisfies Wolfe's conditions, evaluations), by bisection between what is too short and too long."""

    def narrow(s):
        k, t, low, high, _ = s
        new, gradient = f(x + t * direction)
        long = ~(new <= value + 1e-4 * t * slope)
        short = ~long & (wnp.vdot(gradient, direction) < 0.9 * slope)
        low, high = wnp.where(short, t, low), wnp.where(long, t, high)
        done = ~(long | short)
        return k + 1, wnp.where(done, t, wnp.where(wnp.isfinite(high), (low + high) / 2, 2 * t)), low, high, done

    one = ops.full((), 1, x.elem)
    made = while_loop(lambda s: ~s[4] & (s[0] < most), narrow, (0, one, one * 0, one * wnp.inf, False))
    return made[1], made[0]


def minimize(fun, x0, args=(), *, method, tol=None, options=None):
    """The least value of fun(x, *args) near x0, by the method BFGS: Nocedal and Wright, Numerical Optimization, algorithm 6.1."""
    if str(method).lower() != "bfgs":
        fail(InvalidArgument, f"minimize: the method {method!r} is not supported, only 'BFGS' is")
    if scopes.current() is None:
        return Function(lambda x0, args: minimize(fun, x0, args, method=method, tol=tol, options=options))(x0, args)
    options = dict(options or {})
    x = ops.floating(x0)
    if x.ndim != 1:
        fail(InvalidArgument, f"minimize: x0 has the shape {x.shape}, expected a vector")
    limit = options.get("gtol", 1e-5 if tol is None else tol)
    most = options.get("maxiter") or x.shape[0] * 200
    f = value_and_grad(lambda x: fun(x, *args))
    identity = wnp.eye(x.shape[0], dtype=x.dtype)

    def go(s):
        x, value, gradient, inverse, steps, calls, _ = s
        direction = -inverse @ gradient
        slope = wnp.vdot(gradient, direction)
        t, tried = _step_length(f, x, direction, value, slope)
        moved = t * direction
        new, after = f(x + moved)
        change = after - gradient
        scale = wnp.vdot(moved, change)
        rho = wnp.where(scale > 0, 1 / wnp.where(scale > 0, scale, 1.0), 0.0)
        left = identity - rho * wnp.outer(moved, change)
        inverse = wnp.where(scale > 0, left @ inverse @ left.T + rho * wnp.outer(moved, moved), inverse)
        better = new <= value
        x, kept, gradient = wnp.where(better, x + moved, x), wnp.where(better, new, value), wnp.where(better, after, gradient)
        return x, kept, gradient, inverse, steps + 1, calls + tried + 1, ~better

    value, gradient = f(x)
    unfinished = lambda s: (wnp.max(wnp.abs(s[2])) > limit) & (s[4] < most) & ~s[6]
    x, value, gradient, inverse, steps, calls, stuck = while_loop(unfinished, go, (x, value, gradient, identity, 0, 1, False))
    done = wnp.max(wnp.abs(gradient)) <= limit
    status = wnp.where(done, 0, wnp.where(stuck, 3, 1))
    return OptimizeResults(x, done, status, value, gradient, inverse, calls, calls, steps)
