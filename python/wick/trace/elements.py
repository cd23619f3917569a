"""Element types of traced arrays: names, categories, and what two of them give.

As in the array API standard; of an integer and a float the float (as JAX has it), and numbers of Python take the type
of the array that they meet."""
import functools

import numpy as np

from wick import types

FLOATS = ("bf16", "f16", "f32", "f64")
SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
ALL = ("bool",) + SIGNED + UNSIGNED + FLOATS
WIDTH = {"bool": 1, "bf16": 16, "f16": 16, "f32": 32, "f64": 64, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8,
         "u16": 16, "u32": 32, "u64": 64}
FLOAT, INT = "f32", "i64"  # of numbers without a type
RANK = {e: 0 if e == "bool" else 2 if e in FLOATS else 1 for e in ALL}  # bool, whole numbers, floats


def is_float(elem):
    return RANK[elem] == 2


def is_whole(elem):
    return RANK[elem] == 1


@functools.cache
def of_dtype(dtype):
    """Wick's element type for what programs write as a dtype; None if it has none."""
    if dtype is float:
        return FLOAT
    if dtype is int:
        return INT
    if dtype is bool:
        return "bool"
    if isinstance(dtype, str):
        if dtype in ALL:
            return dtype
        if dtype == "bfloat16":
            return "bf16"
    try:
        elem = types.elem_of(dtype)
    except TypeError:
        return None
    return elem if elem in RANK else None


def number(value):
    """The element type of a number of Python."""
    return "bool" if isinstance(value, (bool, np.bool_)) else FLOAT if isinstance(value, float) else INT


@functools.cache
def promote(a, weak_a, b, weak_b):
    """(element type, is it weak?) of an operation on two types; None if the table has no such pair."""
    if a == b:
        return a, weak_a and weak_b
    if weak_a != weak_b:
        strong, weak = (b, a) if weak_a else (a, b)
        return (strong, False) if RANK[weak] <= RANK[strong] else (weak, RANK[strong] == 0 or RANK[weak] == 2)
    if RANK[a] != RANK[b]:
        return (a if RANK[a] > RANK[b] else b), weak_a
    return _of_one_kind(a, b, weak_a)


def _of_one_kind(a, b, weak):
    if is_float(a):
        return ("f32" if WIDTH[a] == WIDTH[b] else max(a, b, key=WIDTH.get)), weak
    if (a in SIGNED) == (b in SIGNED):
        return max(a, b, key=WIDTH.get), weak
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    if WIDTH[signed] > WIDTH[unsigned]:
        return signed, weak
    return (SIGNED[UNSIGNED.index(unsigned) + 1], weak) if unsigned != "u64" else None


def finfo(elem):
    if elem == "bf16":
        import ml_dtypes
        return ml_dtypes.finfo(types.dtype(elem))
    return np.finfo(types.dtype(elem))


def lowest(elem):
    """The least number, as Python has it: -inf for floats."""
    return float("-inf") if is_float(elem) else False if elem == "bool" else int(np.iinfo(types.dtype(elem)).min)


def highest(elem):
    return float("inf") if is_float(elem) else True if elem == "bool" else int(np.iinfo(types.dtype(elem)).max)
