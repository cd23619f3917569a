"""Functions of elements: a table where an operator has the meaning, and what is composed of operators."""
import math

import numpy as np

from wick.errors import TypeMismatch
from wick.trace import elements, ops
from wick.trace.eager import api, sized
from wick.trace.scope import fail

#: Functions of floats; whole numbers become floats first. Name: operator.
FLOATS = {name: name for name in "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p log2 sqrt exp2 "
          "reciprocal".split()}
#: Functions of numbers that give whole numbers as they are.
ROUNDING = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round_even"}
COMPARISONS = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
#: Functions of whole numbers, and of bools where there is a second operator.
BITS = {"bitwise_and": ("bit_and", "and"), "bitwise_or": ("bit_or", "or"), "bitwise_xor": ("bit_xor", "xor")}
LOGICAL = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}
#: Names of NumPy for functions that the standard calls otherwise.
OTHER_NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
               "arctan2": "atan2", "power": "pow", "absolute": "abs", "true_divide": "divide", "mod": "remainder", "rint": "round",
               "invert": "bitwise_invert", "bitwise_not": "bitwise_invert", "left_shift": "bitwise_left_shift",
               "right_shift": "bitwise_right_shift", "conjugate": "conj", "fabs": "abs", "around": "round", "degrees": "rad2deg", "radians": "deg2rad"}


def _named(name, doc, f):
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    globals()[name] = api(f)


def _define():
    for name, op in FLOATS.items():
        _named(name, f"{name} of each element.", lambda x, /, op=op: ops.unary(op, ops.floating(x)))
    for name, op in ROUNDING.items():
        _named(name, f"{name} of each element.", _to_decimals if name == "round" else lambda x, /, op=op: _rounded(op, x))
    for name, op in COMPARISONS.items():
        _named(name, f"{name} of elements.", lambda x, y, /, op=op, name=name: _compared(op, name, x, y))
    for name, (op, logical) in BITS.items():
        _named(name, f"{name} of elements.", lambda x, y, /, op=op, logical=logical, name=name: _bits(op, logical, name, x, y))
    for name, op in LOGICAL.items():
        _named(name, f"{name} of truth values.",
               lambda x, y, /, op=op, name=name: ops.same(op, truth(x), truth(y), what=name))


def _rounded(op, x):
    x = ops.array(x)
    return ops.unary(op, x) if elements.is_float(x.elem) else x


def _to_decimals(x, /, decimals=0):
    scale = 10.0 ** ops.whole("round: decimals", decimals)
    return _rounded("round_even", x) if scale == 1 else _rounded("round_even", ops.array(x) * scale) / scale


def _compared(op, name, x, y):
    if _numbers_too_large(x, y):
        fail(TypeMismatch, f"{name}: the number does not fit in the array's type")
    x, y = ops.convert(x, y)
    if x.elem == "bool" and op not in ("eq", "ne"):
        x, y = ops.as_elem(x, "u8"), ops.as_elem(y, "u8")
    return ops.same(op, x, y, elem="bool", what=name)


def _numbers_too_large(x, y):
    return False


def _bits(op, logical, name, x, y):
    x, y = ops.convert(x, y)
    if elements.is_float(x.elem):
        fail(TypeMismatch, f"{name} of {x.elem}: expected whole numbers or bools")
    return ops.same(logical if x.elem == "bool" else op, x, y, what=name)


def truth(x):
    x = ops.array(x)
    return x if x.elem == "bool" else ops.binary("ne", x, 0, "bool")


_define()
# the linter does not see what _define makes
sin, cos, atan, exp, log, log1p, sqrt, floor, trunc, expm1 = [globals()[n] for n in
                                                              "sin cos atan exp log log1p sqrt floor trunc expm1".split()]


# ---- arithmetic ----


def _arithmetic(op, name, x, y, of_bools=None):
    x, y = ops.convert(x, y)
    if x.elem == "bool":
        if of_bools is None:
            fail(TypeMismatch, f"{name} of bools is not defined: use a logical function, or convert with astype")
        op = of_bools
    return ops.same(op, x, y, what=name)


@api
def add(x, y, /):
    """x + y; of bools, whether one is true."""
    return _arithmetic("add", "add", x, y, "or")


@api
def subtract(x, y, /):
    """x - y"""
    return _arithmetic("sub", "subtract", x, y)


@api
def multiply(x, y, /):
    """x * y; of bools, whether both are true."""
    return _arithmetic("mul", "multiply", x, y, "and")


@api
def divide(x, y, /):
    """x / y, of floats: whole numbers are converted."""
    x, y = ops.convert(x, y)
    return ops.same("div", ops.floating(x), ops.floating(y), what="divide")


@api
def floor_divide(x, y, /):
    """The largest whole number that is not above x / y."""
    shift = _power_of_two(y)
    x, y = _numbers("floor_divide", x, y)
    if shift is not None and not elements.is_float(x.elem):
        return ops.binary("shift_right", x, shift)
    rest = ops.same("mod", x, y, what="floor_divide")
    if not elements.is_float(x.elem):
        quotient = ops.same("div", x, y)
        if elements.lowest(x.elem) == 0:
            return quotient
        below = logical_and(ops.binary("ne", rest, 0, "bool"), ops.binary("ne", ops.binary("lt", x, 0, "bool"), ops.binary("lt", y, 0, "bool"), "bool"))
        return ops.where(below, ops.binary("sub", quotient, 1), quotient)
    quotient = ops.unary("round_even", ops.same("div", ops.same("sub", x, rest), y))
    quotient = ops.where(ops.binary("eq", rest, y, "bool"), -1, quotient)  # a small x, which rest has lost; y may be infinite
    ratio = ops.same("div", x, y)
    quotient = ops.where(ops.binary("eq", quotient, 0, "bool"), ops.binary("mul", ratio, 0), quotient)  # of its sign
    return ops.where(ops.binary("eq", y, 0, "bool"), ratio, quotient)


@api
def remainder(x, y, /):
    """x - floor(x / y) * y, with the sign of y."""
    shift = _power_of_two(y)
    x, y = _numbers("remainder", x, y)
    if shift is not None and not elements.is_float(x.elem):
        return ops.binary("bit_and", x, (1 << shift) - 1)
    return ops.same("mod", x, y, what="remainder")


def _power_of_two(y):
    """k if y is the number 2**k of Python, else None: shifts and masks are faster than divisions, and equal for negative x, too."""
    return y.bit_length() - 1 if type(y) is int and y > 0 and y & y - 1 == 0 else None


@api
def fmod(x, y, /):
    """x - trunc(x / y) * y, with the sign of x."""
    return ops.same("fmod", *_numbers("fmod", x, y), what="fmod")


def divmod(x, y, /):
    """(floor_divide(x, y), remainder(x, y))"""
    return floor_divide(x, y), remainder(x, y)


def _numbers(name, x, y):
    x, y = ops.convert(x, y)
    if x.elem == "bool":
        fail(TypeMismatch, f"{name} of bools is not defined: convert them with astype")
    return x, y


@api
def pow(x, y, /):
    """x to the power y; a whole number of Python as y gives products, whose derivatives are exact."""
    if isinstance(y, (int, np.int64)) and not isinstance(y, bool):
        x = ops.array(x)
        if elements.is_float(x.elem) and -8 <= y <= 8:
            return _whole_power(x, int(y))
    return ops.same("pow", *_numbers("pow", x, y), what="pow")


def _whole_power(x, n):
    if n == 0:
        return ops.broadcast_to(ops.as_elem(1, x.elem, x.weak), x.shape)
    made, square, left = None, x, abs_number(n)
    while left:
        if left & 1:
            made = square if made is None else ops.same("mul", made, square)
        left >>= 1
        if left:
            square = ops.same("mul", square, square)
    return ops.unary("reciprocal", made) if n < 0 else made


def abs_number(n):
    return n if n >= 0 else -n


float_power = api(lambda x, y, /: ops.same("pow", *[ops.floating(v) for v in ops.convert(x, y)]))


@api
def negative(x, /):
    """-x"""
    x = ops.array(x)
    if x.elem == "bool":
        fail(TypeMismatch, "negative of bools is not defined: use logical_not")
    return ops.unary("neg", x)


@api
def positive(x, /):
    """x"""
    return ops.array(x)


@api
def abs(x, /):
    """|x|"""
    x = ops.array(x)
    return x if x.elem == "bool" or x.elem in elements.UNSIGNED else ops.unary("abs", x)


@api
def sign(x, /):
    """-1, 0 or 1"""
    return ops.unary("sign", ops.array(x))


@api
def square(x, /):
    """x * x"""
    x = ops.array(x)
    return _arithmetic("mul", "square", x, x, "and")


@api
def maximum(x, y, /):
    """The larger of x and y; NaN if one is NaN."""
    return ops.binary("max", x, y, what="maximum")


@api
def minimum(x, y, /):
    """The smaller of x and y; NaN if one is NaN."""
    return ops.binary("min", x, y, what="minimum")


@api
def fmax(x, y, /):
    """The larger of x and y; of a NaN and a number the number."""
    x, y = ops.convert(x, y)
    return ops.where(isnan(x), y, ops.where(isnan(y), x, ops.same("max", x, y)))


@api
def fmin(x, y, /):
    """The smaller of x and y; of a NaN and a number the number."""
    x, y = ops.convert(x, y)
    return ops.where(isnan(x), y, ops.where(isnan(y), x, ops.same("min", x, y)))


@api
def clip(x, /, min=None, max=None):
    """x, or the nearest number between min and max."""
    x = ops.array(x)
    if min is not None:
        x = ops.binary("max", x, min, what="clip")
    return x if max is None else ops.binary("min", x, max, what="clip")


# ---- truth and bits ----


@api
def logical_not(x, /):
    """Whether x is false or 0."""
    return ops.unary("not", truth(x))


@api
def bitwise_invert(x, /):
    """The bits that x does not have; of bools, whether x is false."""
    x = ops.array(x)
    if elements.is_float(x.elem):
        fail(TypeMismatch, f"bitwise_invert of {x.elem}: expected whole numbers or bools")
    return ops.unary("not" if x.elem == "bool" else "bit_not", x)


def _shift(op, x, y):
    x, y = ops.convert(x, y)
    if not elements.is_whole(x.elem):
        fail(TypeMismatch, f"{op} of {x.elem}: expected whole numbers")
    return ops.same(op, x, y)


@api
def bitwise_left_shift(x, y, /):
    """The bits of x shifted up by y."""
    return _shift("shift_left", x, y)


@api
def bitwise_right_shift(x, y, /):
    """The bits of x shifted down by y."""
    return _shift("shift_right", x, y)


def _of_floats(op, x):
    x = ops.array(x)
    return ops.unary(op, x, "bool") if elements.is_float(x.elem) else ops.full(x.shape, False, "bool")


@api
def isnan(x, /):
    """Whether x is not a number."""
    return _of_floats("isnan", x)


@api
def isinf(x, /):
    """Whether x is infinite."""
    return _of_floats("isinf", x)


@api
def isfinite(x, /):
    """Whether x is a number that is not infinite."""
    return ops.unary("not", ops.same("or", _of_floats("isnan", x), _of_floats("isinf", x)))


@api
def signbit(x, /):
    """Whether x has a minus sign, also as a zero."""
    x = ops.array(x)
    if not elements.is_float(x.elem):
        return ops.binary("lt", x, 0, "bool") if x.elem != "bool" else ops.full(x.shape, False, "bool")
    whole = f"i{elements.WIDTH[x.elem]}"
    return ops.binary("lt", ops.bitcast(x, whole), ops.as_elem(0, whole), "bool")


@api
def copysign(x, y, /):
    """|x| with the sign of y."""
    x, y = [ops.floating(v) for v in ops.convert(x, y)]
    size = ops.unary("abs", x)
    return ops.where(signbit(y), ops.unary("neg", size), size)


@api
def nextafter(x, y, /):
    """The next float after x in the direction of y."""
    x, y = [ops.floating(v) for v in ops.convert(x, y)]
    x, y = ops.broadcast_to(x, ops.broadcast_shapes("nextafter", x.shape, y.shape)), y
    whole = f"i{elements.WIDTH[x.elem]}"
    bits = ops.bitcast(x, whole)
    up = ops.binary("eq", ops.binary("lt", x, y, "bool"), ops.binary("gt", x, 0, "bool"), "bool")
    moved = ops.where(up, ops.binary("add", bits, 1), ops.binary("sub", bits, 1))
    least = ops.bitcast(ops.full((), 1, whole), x.elem)
    from_zero = ops.where(ops.binary("gt", y, 0, "bool"), least, ops.unary("neg", least))
    moved = ops.where(ops.binary("eq", x, 0, "bool"), from_zero, ops.bitcast(moved, x.elem))
    moved = ops.where(ops.binary("eq", x, y, "bool"), y, moved)
    return ops.where(ops.same("or", isnan(x), isnan(y)), ops.same("add", x, y), moved)


@api
def spacing(x, /):
    """The distance from x to the next float away from zero."""
    x = ops.floating(x)
    return ops.same("sub", nextafter(x, copysign(ops.as_elem(math.inf, x.elem), x)), x)


# ---- floats ----


@api
def log10(x, /):
    """The logarithm to base 10."""
    x = ops.floating(x)
    return ops.binary("mul", ops.unary("log", x), 1 / math.log(10)) if x.elem != "f64" else _log10(x)


def _log10(x):
    """Of two parts, so that powers of 10 are exact to an ulp."""
    return ops.binary("div", ops.unary("log", x), math.log(10))


@api
def cbrt(x, /):
    """The cube root."""
    x = ops.floating(x)
    root = ops.binary("pow", ops.unary("abs", x), 1 / 3)
    return copysign(root, x)


@api
def hypot(x, y, /):
    """sqrt(x * x + y * y), without overflow on the way."""
    x, y = [ops.unary("abs", ops.floating(v)) for v in ops.convert(x, y)]
    big, small = ops.same("max", x, y, what="hypot"), ops.same("min", x, y)
    by = ops.where(ops.binary("eq", big, 0, "bool"), 1, big)
    ratio = ops.same("div", small, by)
    made = ops.same("mul", big, ops.unary("sqrt", ops.binary("add", ops.same("mul", ratio, ratio), 1)))
    infinite = ops.same("or", isinf(x), isinf(y))
    return ops.where(infinite, math.inf, made)


@api
def atan2(y, x, /):
    """The angle of the point (x, y), from -pi to pi."""
    y, x = [ops.floating(v) for v in ops.convert(y, x)]
    shape = ops.broadcast_shapes("atan2", y.shape, x.shape)
    y, x = ops.broadcast_to(y, shape), ops.broadcast_to(x, shape)
    steep = ops.binary("gt", ops.unary("abs", y), ops.unary("abs", x), "bool")
    top, bottom = ops.where(steep, x, y), ops.where(steep, y, x)
    both = ops.same("and", isinf(x), isinf(y))
    unit = lambda v: copysign(ops.as_elem(1.0, v.elem), v)
    top, bottom = ops.where(both, unit(top), top), ops.where(both, unit(bottom), bottom)
    zero = ops.binary("eq", bottom, 0, "bool")
    angle = ops.unary("atan", ops.same("div", top, ops.where(zero, 1, bottom)))
    angle = ops.where(ops.same("and", zero, signbit(x)), ops.unary("neg", angle), angle)
    half, whole = copysign(ops.as_elem(math.pi / 2, y.elem), y), copysign(ops.as_elem(math.pi, y.elem), y)
    flat = ops.where(signbit(x), ops.same("add", angle, whole), angle)
    return ops.where(steep, ops.same("sub", half, angle), flat)


@api
def logaddexp(x, y, /):
    """log(exp(x) + exp(y)), without overflow on the way."""
    x, y = [ops.floating(v) for v in ops.convert(x, y)]
    apart = ops.same("sub", x, y, what="logaddexp")
    larger = ops.binary("ge", apart, 0, "bool")  # both sides are smooth where they meet, so that all derivatives are right
    distance = ops.where(larger, apart, ops.unary("neg", apart))
    made = ops.same("add", ops.where(larger, x, y), ops.unary("softplus", ops.unary("neg", distance)))
    return ops.where(isnan(apart), ops.same("add", x, y), made)


@api
def logaddexp2(x, y, /):
    """log2(2**x + 2**y)"""
    x, y = [ops.binary("mul", ops.floating(v), math.log(2)) for v in ops.convert(x, y)]
    return ops.binary("mul", logaddexp(x, y), 1 / math.log(2))


@api
def sinc(x, /):
    """sin(pi x) / (pi x), 1 at 0."""
    x = ops.floating(x)
    zero = ops.binary("eq", x, 0, "bool")
    at = ops.binary("mul", ops.where(zero, 1, x), math.pi)
    return ops.where(zero, 1, ops.same("div", ops.unary("sin", at), at))


@api
def heaviside(x, y, /):
    """0 below 0, 1 above it, y at 0."""
    x, y = [ops.floating(v) for v in ops.convert(x, y)]
    return ops.where(ops.binary("eq", x, 0, "bool"), y, ops.as_elem(ops.binary("gt", x, 0, "bool"), x.elem))


@api
def deg2rad(x, /):
    """Degrees as radians."""
    return ops.binary("mul", ops.floating(x), math.pi / 180)


@api
def rad2deg(x, /):
    """Radians as degrees."""
    return ops.binary("mul", ops.floating(x), 180 / math.pi)


@api
def ldexp(x, n, /):
    """x * 2**n"""
    return ops.binary("mul", ops.floating(x), ops.unary("exp2", ops.floating(n)))


@api
def frexp(x, /):
    """(m, e) with x = m * 2**e, and the size of m in [0.5, 1)."""
    x = ops.floating(x)
    wide = ops.as_elem(x, "f64")
    bits = ops.bitcast(wide, "i64")
    power = ((bits >> 52) & 0x7FF) - 1022
    plain = isfinite(x) & (ops.binary("ne", x, 0, "bool"))
    m = ops.bitcast((bits & ~(0x7FF << 52)) | (1022 << 52), "f64")
    return ops.where(plain, ops.as_elem(m, x.elem), x), ops.as_elem(ops.where(plain, power, 0), "i32")


@api
def modf(x, /):
    """(the fraction of x, x without it)"""
    x = ops.floating(x)
    whole = ops.unary("trunc", x)
    return ops.where(isinf(x), copysign(ops.as_elem(0.0, x.elem), x), ops.same("sub", x, whole)), whole


@api
def nan_to_num(x, /, nan=0.0, posinf=None, neginf=None):
    """x with numbers in the place of NaN and infinities."""
    x = ops.array(x)
    if not elements.is_float(x.elem):
        return x
    most = float(elements.finfo(x.elem).max)
    made = ops.where(isnan(x), nan, x)
    made = ops.where(ops.binary("eq", x, math.inf, "bool"), most if posinf is None else posinf, made)
    return ops.where(ops.binary("eq", x, -math.inf, "bool"), -most if neginf is None else neginf, made)


@api
def conj(x, /):
    """The conjugate of complex numbers."""
    return ops.array(x)


@api
def real(x, /):
    """The real part."""
    return ops.array(x)


@api
def imag(x, /):
    """The imaginary part."""
    x = ops.array(x)
    return ops.full(x.shape, 0, x.elem)


@api
def angle(x, deg=False):
    """The angle of complex numbers."""
    x = ops.floating(x)
    return ops.where(ops.binary("lt", x, 0, "bool"), 180.0 if deg else math.pi, 0.0)


@api
def fix(x, /):
    """x without its fraction."""
    return ops.unary("trunc", ops.floating(x))


@api
def bitwise_count(x, /):
    """The number of bits that are 1, of the size of x."""
    x = ops.array(x)
    if x.elem in elements.SIGNED:
        x = ops.bitcast(ops.unary("abs", x), "u" + x.elem[1:])
    x = ops.as_elem(x, "u64")
    for mask, shift in ((0x5555555555555555, 1), (0x3333333333333333, 2), (0x0F0F0F0F0F0F0F0F, 4)):
        x = (x & mask) + ((x >> shift) & mask)
    for shift in (8, 16, 32):
        x = x + (x >> shift)
    return ops.as_elem(x & 127, "u8")


@api
def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    """Angles with multiples of the period added, so that neighbours are less than half of it apart."""
    from wick.numpy.manipulation import moveaxis
    from wick.numpy.reductions import cumsum, diff
    p = moveaxis(ops.floating(p), axis, -1)
    apart = diff(p, axis=-1)
    half = period / 2
    near = (apart + half) % period - half
    near = ops.where((near == -half) & (apart > 0), half, near)
    move = ops.where(ops.unary("abs", apart) < (half if discont is None else discont), 0.0, near - apart)
    made = ops.concat([p[..., :1], p[..., 1:] + cumsum(move, axis=-1)], p.ndim - 1)
    return moveaxis(made, -1, axis)


@api
def gcd(x, y, /):
    """The greatest common divisor."""
    from wick.trace.control import while_loop
    x, y = _numbers("gcd", x, y)
    shape = ops.broadcast_shapes("gcd", x.shape, y.shape)
    x, y = abs(ops.broadcast_to(x, shape)), abs(ops.broadcast_to(y, shape))

    def step(pair):
        a, b = pair
        done = ops.binary("eq", b, 0, "bool")
        rest = ops.same("mod", a, ops.where(done, 1, b))
        return ops.where(done, a, b), ops.where(done, 0, rest)

    from wick.numpy.reductions import any as any_of
    return while_loop(lambda pair: any_of(ops.binary("ne", pair[1], 0, "bool")), step, (x, y))[0]


@api
def lcm(x, y, /):
    """The least common multiple."""
    x, y = _numbers("lcm", x, y)
    d = gcd(x, y)
    return abs(ops.same("mul", ops.same("div", x, ops.where(ops.binary("eq", d, 0, "bool"), 1, d)), y))


@sized(takes=1)
@api
def where(condition, x=None, y=None, /, *, size=None, fill_value=None):
    """x where the condition is true, else y; with the condition alone, its positions, as nonzero gives them."""
    if x is None and y is None:
        from wick.numpy.searching import nonzero
        return nonzero(condition, size=size, fill_value=fill_value)
    return ops.where(truth(condition), x, y)


def select(conditions, choices, default=0):
    """For each element the choice of the first condition that is true."""
    out = default
    for c, x in list(zip(conditions, choices))[::-1]:
        out = where(c, x, out)
    return out


for _other, _own in OTHER_NAMES.items():
    globals()[_other] = globals()[_own]
