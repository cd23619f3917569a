"""Ordinary differential equations, as in jax.experimental.ode: Dormand and Prince's method of order 5 with its own steps."""
import math

from wick import numpy as wnp
from wick.errors import InvalidArgument
from wick.flatten_util import ravel_pytree
from wick.trace import elements, ops, scope as scopes, tree
from wick.trace.control import scan, while_loop
from wick.trace.custom import closure_convert, custom_vjp
from wick.trace.function import Function
from wick.trace.scope import fail
from wick.trace.transform import vjp, vmap

_STAGES = ((), (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9), (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
           (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656), (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84))
_TIMES = (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1)
#: Of the stages: the difference to the result of order 4.
_ERROR = (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def _step(f, y, slope, t, h):
    """(y after a step, its slope there, the estimate of its error)"""
    slopes = [slope]
    for c, row in zip(_TIMES[1:], _STAGES[1:]):
        at = y + h * sum([a * k for a, k in zip(row, slopes) if a])
        slopes.append(f(at, t + c * h))
    return at, slopes[-1], h * sum([e * k for e, k in zip(_ERROR, slopes) if e])


def _norm(x):
    return wnp.sqrt(wnp.mean(x * x))


def _first_step(f, y, slope, t, rtol, atol):
    """The length of the first step, by Hairer, Norsett and Wanner."""
    scale = atol + wnp.abs(y) * rtol
    d0, d1 = [wnp.linalg.norm(v / scale) for v in (y, slope)]
    small = (d0 < 1e-5) | (d1 < 1e-5)
    h0 = wnp.where(small, 1e-6, 0.01 * d0 / wnp.where(small, 1.0, d1))
    d2 = wnp.linalg.norm((f(y + h0 * slope, t + h0) - slope) / scale) / h0
    flat = (d1 <= 1e-15) & (d2 <= 1e-15)
    h1 = wnp.where(flat, wnp.maximum(1e-6, h0 * 1e-3), (0.01 / wnp.where(flat, 1.0, wnp.maximum(d1, d2))) ** 0.2)
    return wnp.minimum(100.0 * h0, h1)


def _solution(f, rtol, atol, mxstep, hmax, y, ts):
    """The values at all times; the steps end at them."""
    slope = f(y, ts[0])

    def to_time(state, end):
        def unfinished(s):
            return (s[0] < end) & (s[4] < mxstep) & (s[3] > 0)

        def advance(s):
            t, y, slope, h, count = s
            left = end - t
            last = h >= left
            used = wnp.minimum(h, left)
            y1, slope1, error = _step(f, y, slope, t, used)
            ratio = _norm(error / (atol + rtol * wnp.maximum(wnp.abs(y), wnp.abs(y1))))
            good = ratio <= 1
            safe = wnp.where(ratio == 0, 1.0, ratio)
            factor = wnp.minimum(10.0, wnp.maximum(0.9 * safe ** -0.2, wnp.where(ratio < 1, 1.0, 0.2)))
            wanted = used * wnp.where(ratio == 0, 10.0, factor)
            wanted = wnp.minimum(wnp.where(good & last, wnp.maximum(h, wanted), wanted), hmax)
            return (wnp.where(good, wnp.where(last, end, t + used), t), wnp.where(good, y1, y), wnp.where(good, slope1, slope), wanted, count + 1)

        t, y, slope, h, _ = while_loop(unfinished, advance, (*state, 0))
        return (t, y, slope, h), y

    h = wnp.minimum(_first_step(f, y, slope, ts[0], rtol, atol), hmax)
    _, ys = scan(to_time, (ts[0], y, slope, h), ts[1:])
    return wnp.concatenate([y[None], ys])


def _solver(func, rtol, atol, mxstep, hmax):
    """The solution as a function of (y, ts, arrays that func takes), whose derivative solves the adjoint equation."""

    @custom_vjp
    def solve(y, ts, *arrays):
        return _solution(lambda y, t: func(y, t, *arrays), rtol, atol, mxstep, hmax, y, ts)

    def forward(y, ts, *arrays):
        ys = solve(y, ts, *arrays)
        return ys, (ys, ts, arrays)

    def backward(kept, g):
        ys, ts, arrays = kept
        sizes = [y.size for y in (ys[0], ys[0], ts[0], *arrays)]
        split = lambda state: wnp.split(state, [sum(sizes[:k + 1]) for k in range(len(sizes) - 1)])

        def adjoint(state, t):
            y, y_bar = split(state)[:2]
            slope, pull = vjp(func, y, -t, *arrays)
            return wnp.concatenate([-slope, *[wnp.ravel(c) for c in pull(y_bar)]])

        def back(carry, i):
            bars, rest = carry
            t_bar = wnp.vdot(func(ys[i], ts[i], *arrays), g[i])
            first = wnp.concatenate([ys[i], bars, wnp.reshape(rest[0] - t_bar, (1,)), rest[1:]])
            made = _solution(adjoint, rtol, atol, mxstep, hmax, first, wnp.stack([-ts[i], -ts[i - 1]]))[1]
            n = ys.shape[1]
            return (made[n:2 * n] + g[i - 1], made[2 * n:]), t_bar

        start = g[-1], wnp.zeros((sum(sizes[2:]),), ys.dtype)
        (y_bar, rest), t_bars = scan(back, start, wnp.arange(ts.shape[0] - 1, 0, -1))
        parts = split(wnp.concatenate([ys[0], y_bar, rest]))
        ts_bar = wnp.concatenate([parts[2], t_bars[::-1]])
        return (y_bar, ts_bar, *[wnp.reshape(p, a.shape) for p, a in zip(parts[3:], arrays)])

    solve.defvjp(forward, backward)
    return solve


def odeint(func, y0, t, *args, rtol=1.4e-8, atol=1.4e-8, mxstep=math.inf, hmax=math.inf):
    """The values at the ascending times t of the solution of dy/dt = func(y, t, *args) that is y0 at the first of them.

    y0 and args are structures of arrays. Steps are chosen so that the estimate of the error is within rtol and atol; the
    derivative is found by the adjoint equation, backwards in time."""
    if scopes.current() is None:
        return Function(lambda y0, t, *args: odeint(func, y0, t, *args, rtol=rtol, atol=atol, mxstep=mxstep, hmax=hmax))(y0, t, *args)
    t = ops.floating(t)
    if t.ndim != 1 or not t.shape[0]:
        fail(InvalidArgument, f"odeint: t has the shape {t.shape}, expected a vector of times")
    y, structured = ravel_pytree(y0)
    y, t = [ops.floating(v) for v in ops.convert(y, t)]
    flat_args, structure = tree.flatten(args)
    flat_args = [ops.array(x) for x in flat_args]
    floats = [elements.is_float(x.elem) for x in flat_args]

    def slope(y, t, *arrays):
        given = iter(arrays)
        args = structure.build(iter([next(given) if f else x for f, x in zip(floats, flat_args)]))
        return ops.as_elem(ravel_pytree(func(structured(y), t, *args))[0], y.elem)

    arrays = [x for x, f in zip(flat_args, floats) if f]
    closed, captured = closure_convert(slope, y, t[0], *arrays)
    mxstep = mxstep if math.isfinite(mxstep) else 2 ** 62
    ys = _solver(closed, rtol, atol, mxstep, hmax)(y, t, *arrays, *captured)
    return vmap(structured)(ys)
