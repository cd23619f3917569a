"""Element types: Wick's names, NumPy's types, ONNX's names and numbers, and packed types.

bfloat16, float8, float4 and integers below a byte are those of the package ml_dtypes, which is
imported when the first of them occurs.
"""
import functools
import numbers

import numpy as np

from wick import _core

# Wick's name: (NumPy's or ml_dtypes' name, ONNX's name, ONNX's number, DLPack's (code, bits) or None)
_ROWS = {
    "f64": ("float64", "double", 11, (2, 64)),
    "f32": ("float32", "float", 1, (2, 32)),
    "f16": ("float16", "float16", 10, (2, 16)),
    "bf16": ("bfloat16", "bfloat16", 16, (4, 16)),
    "f8e4m3": ("float8_e4m3fn", "float8e4m3fn", 17, (10, 8)),
    "f8e4m3fnuz": ("float8_e4m3fnuz", "float8e4m3fnuz", 18, (11, 8)),
    "f8e5m2": ("float8_e5m2", "float8e5m2", 19, (12, 8)),
    "f8e5m2fnuz": ("float8_e5m2fnuz", "float8e5m2fnuz", 20, (13, 8)),
    "f8e8m0": ("float8_e8m0fnu", "float8e8m0", 24, (14, 8)),
    "f4e2m1": ("float4_e2m1fn", "float4e2m1", 23, None),
    "i64": ("int64", "int64", 7, (0, 64)),
    "i32": ("int32", "int32", 6, (0, 32)),
    "i16": ("int16", "int16", 5, (0, 16)),
    "i8": ("int8", "int8", 3, (0, 8)),
    "i4": ("int4", "int4", 22, None),
    "i2": ("int2", "int2", 26, None),
    "u64": ("uint64", "uint64", 13, (1, 64)),
    "u32": ("uint32", "uint32", 12, (1, 32)),
    "u16": ("uint16", "uint16", 4, (1, 16)),
    "u8": ("uint8", "uint8", 2, (1, 8)),
    "u4": ("uint4", "uint4", 21, None),
    "u2": ("uint2", "uint2", 25, None),
    "bool": ("bool", "bool", 9, (6, 8)),
    "c64": ("complex64", "complex64", 14, (5, 64)),
    "c128": ("complex128", "complex128", 15, (5, 128)),
    "string": ("object", "string", 8, None),
}
_OWN = frozenset(("bf16", "f8e4m3", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0", "f4e2m1", "i4",
                  "i2", "u4", "u2"))
_BITS = {"f4e2m1": 4, "i4": 4, "u4": 4, "i2": 2, "u2": 2}  # of those below a byte


@functools.cache
def dtype(elem):
    """NumPy's type of Wick's element type."""
    name = _ROWS[elem][0]
    if elem not in _OWN:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(f"arrays of {elem} need the package ml_dtypes") from None
    return np.dtype(getattr(ml_dtypes, name))


_BY_NAME = {row[0]: elem for elem, row in _ROWS.items()}


def elem_of(numpy_type):
    """Wick's element type for NumPy's, or None."""
    numpy_type = np.dtype(numpy_type)
    if numpy_type.kind in "OSUT":
        return "string"
    return _BY_NAME.get(numpy_type.name)


def elem_of_dlpack(code_bits):
    return next((elem for elem, row in _ROWS.items() if row[3] == tuple(code_bits)), None)


def dlpack_of(elem):
    return _ROWS[elem][3]


def onnx_name(elem):
    return _ROWS[elem][1]


def onnx_number(elem):
    return _ROWS[elem][2]


_BY_NUMBER = {row[2]: elem for elem, row in _ROWS.items()}


def elem_of_onnx(number):
    return _BY_NUMBER.get(number)


def kept(elem, array, given):
    """Returns whether the converted array has the values of the original, except for digits of floats."""
    kind = given.dtype.kind
    if elem == "string":
        return kind in "OSUT"
    if elem[0] in "iu" or elem == "bool":
        return np.array_equal(array, given)
    return kind in ("biufVc" if elem[0] == "c" else "biufV") or kind == "O" and all(isinstance(x, numbers.Real) for x in given.flat)


# ---- memory ----


def nbytes(elem, shape):
    """Of a dense tensor."""
    n = int(np.prod(shape, dtype=np.int64)) if len(shape) else 1
    if elem == "string":
        return 16 * n
    return (n * _BITS[elem] + 7) // 8 if elem in _BITS else n * dtype(elem).itemsize


def is_plain(elem):
    """Is the memory of an array of this type Wick's layout?"""
    return elem not in _BITS and elem not in _OWN and elem != "string"


def memory(elem, array):
    """The bytes of a dense array in Wick's layout: the array itself if nothing is packed."""
    if elem in _BITS:
        return _pack(array, _BITS[elem])
    if elem == "string":
        return _addresses(array)
    # An array of a type that NumPy does not know has no buffer.
    return array.reshape(-1).view(np.uint8) if elem in _OWN else array


def empty(elem, shape, allocate=np.empty):
    """An array with any contents, and the buffer that a run writes. `allocate` takes a shape and a NumPy type."""
    if elem in _BITS:
        return None, np.empty(nbytes(elem, shape), np.uint8)
    if elem == "string":
        return None, np.empty((int(np.prod(shape, dtype=np.int64)), 2), np.uint64)
    array = allocate(shape, dtype(elem))
    return array, memory(elem, array)


def unpacked(elem, shape, array, buffer):
    """The array, after a run has written `buffer`."""
    if elem == "string":
        text = _texts(shape, buffer)
        if array is None:
            return text
        array[...] = text
        return array
    return _unpack(elem, shape, buffer) if array is None else array


def equals(elem, array, required):
    """Does the array have the required contents?"""
    if elem == "string":
        texts = _texts(array.shape, np.frombuffer(required, np.uint64).reshape(-1, 2))
        return np.array_equal(texts, array.astype(str).astype(object))
    return memory(elem, array).tobytes() == required


class _Addresses(np.ndarray):
    """For strings: keeps the bytes that they point to alive."""


def _addresses(array):
    strings = array.reshape(-1).tolist()
    out = np.frombuffer(_core.addresses(strings), np.uint64).reshape(-1, 2).view(_Addresses)
    out.strings = strings
    return out


def _texts(shape, buffer):
    """The strings that a run left there, before the session's next run."""
    out = np.empty(len(buffer), object)
    out[:] = _core.texts(buffer)
    return out.reshape(shape)


def _pack(array, bits):
    """The first element in the lowest bits."""
    each = 8 // bits
    raw = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    raw = np.concatenate([raw, np.zeros(-raw.size % each, np.uint8)]).reshape(-1, each)
    return np.bitwise_or.reduce(raw << (np.arange(each, dtype=np.uint8) * bits), axis=1,
                                dtype=np.uint8)


def _unpack(elem, shape, packed):
    bits = _BITS[elem]
    shifts = np.arange(8 // bits, dtype=np.uint8) * bits
    raw = ((packed[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)
    raw = raw[:int(np.prod(shape, dtype=np.int64))]
    if elem.startswith("i"):  # extends the sign
        raw = np.where(raw >> (bits - 1), raw | ((0xFF << bits) & 0xFF), raw).astype(np.uint8)
    return raw.astype(np.uint8).view(dtype(elem)).reshape(shape)
