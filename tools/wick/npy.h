/* NumPy's .npy, versions 1.0 to 3.0.
 *
 * Read: floats, integers, bool, complex and strings ("U" and "S") of both byte orders, C and
 * Fortran order. NumPy has no type for bf16: ml_dtypes writes it as raw items of two bytes ("V2"),
 * which is what is read and written here; the name "bfloat16" is read too. Structures, dates and
 * Python objects are refused by name. Strings are written ("U7": all as long as the longest).
 * Source: numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef WICK_TOOLS_NPY_H
#define WICK_TOOLS_NPY_H

#include "tensor_io.h"

#define WICK_NPY_MAGIC "\x93NUMPY"

/* Reads one array. Bytes after its data are an error. */
WICK_CHECKED wick_status wick_npy_read(wick_span bytes, const char *location, wick_arena *mem,
                                       wick_array *out);

/* The header that precedes the data: version 1.0, a multiple of 64 bytes, as NumPy writes it. */
WICK_CHECKED wick_status wick_npy_header(const wick_array *a, const char *location, wick_arena *mem,
                                         wick_bytes *out);

/* The whole file, header and data, of an array of strings: wick_string each, in UTF-8; what is not
 * becomes U+FFFD. */
WICK_CHECKED wick_status wick_npy_texts(const wick_array *a, const char *location, wick_arena *mem,
                                        wick_bytes out[2]);

#endif
