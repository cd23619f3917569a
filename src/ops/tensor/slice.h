/* Resolves slices for importers. */
#ifndef WICK_OPS_TENSOR_SLICE_H
#define WICK_OPS_TENSOR_SLICE_H

#include "ir/dim.h"

/* Resolves one dimension of a slice as Python and ONNX define it: from `start` to before `end`,
 * by `step`, which is not 0. Negative numbers count from the end, and both ends are clamped to
 * the dimension. Out: the first index and the number of elements. Returns false if the sign of
 * an end is not known. */
bool wick_slice_resolve(wick_dims *t, wick_dim dim, wick_dim start, wick_dim end, int64_t step,
                        wick_dim *out_begin, wick_dim *out_size);

#endif
