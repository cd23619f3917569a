/* Resolves slices for importers. */
#ifndef WICK_OPS_TENSOR_SLICE_H
#define WICK_OPS_TENSOR_SLICE_H

#include "ir/dim.h"

/* One dimension of a slice as Python and ONNX have it: from `start` to `end`, excluded, by `step`,
 * which is not 0; negative numbers count from the end, and both are brought into the dimension.
 * out: the first index and the number of elements. False where a sign is not known. */
bool wick_slice_resolve(wick_dims *t, wick_dim dim, wick_dim start, wick_dim end, int64_t step,
                        wick_dim *out_begin, wick_dim *out_size);

#endif
