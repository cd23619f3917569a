/* NumPy's .npz: a zip file of .npy files, stored or deflated. */
#ifndef WICK_TOOLS_NPZ_H
#define WICK_TOOLS_NPZ_H

#include "tensor_io.h"

/* Adds every tensor to the list, in the file's order, by the name of its entry without ".npy". */
WICK_CHECKED wick_status wick_npz_read(wick_span bytes, const char *location, wick_arena *mem,
                                       wick_arrays *list);

/* Writes the tensors uncompressed, each under its name; the same bytes for the same tensors. */
WICK_CHECKED wick_status wick_npz_write(const wick_arrays *list, const char *path, wick_arena *tmp);

#endif
