"""Comparisons of whole arrays, and kinds of numbers."""
import math

from wick.trace import elements, ops
from wick.trace.complex import is_complex
from wick.trace.eager import api
from wick.trace.scope import Traced
from wick.numpy.elementwise import abs as abs_of, isfinite, isinf, isnan, signbit
from wick.numpy.reductions import all as all_of


@api
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements are equal up to a tolerance, |a - b| <= atol + rtol * |b|."""
    a, b = [ops.floating(x) for x in ops.convert(a, b)]
    near = ops.binary("le", abs_of(a - b), atol + rtol * abs_of(b), "bool")
    near = (near & isfinite(b)) | ops.same("eq", a, b, elem="bool")
    return near | (isnan(a) & isnan(b)) if equal_nan else near


@api
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are equal up to a tolerance."""
    return all_of(isclose(a, b, rtol, atol, equal_nan))


@api
def array_equal(a, b, equal_nan=False):
    """Whether two arrays have the same shape and elements."""
    a, b = ops.convert(a, b)
    if a.shape != b.shape:
        return ops.array(False)
    same = ops.same("eq", a, b, elem="bool")
    return all_of(same | (isnan(a) & isnan(b)) if equal_nan and elements.is_float(a.elem) else same)


@api
def array_equiv(a, b):
    """Whether two arrays broadcast to the same elements."""
    a, b = ops.convert(a, b)
    return all_of(ops.same("eq", a, b, elem="bool"))


@api
def isposinf(x, /):
    """Is it the infinity above all numbers?"""
    x = ops.floating(x)
    return ops.binary("eq", x, math.inf, "bool")


@api
def isneginf(x, /):
    """Is it the infinity below all numbers?"""
    return isinf(x) & signbit(ops.floating(x))


@api
def isreal(x, /):
    """Which elements have no imaginary part."""
    return ops.full(ops.array(x).shape, True, "bool")


@api
def iscomplex(x, /):
    """Which elements have an imaginary part."""
    return ops.full(ops.array(x).shape, False, "bool")


def isrealobj(x):
    """Is it no complex array?"""
    return not is_complex(x)


def iterable(x):
    """Can it be iterated over?"""
    return isinstance(x, (list, tuple)) or (isinstance(x, Traced) and x.ndim > 0) or getattr(x, "ndim", 0) > 0
