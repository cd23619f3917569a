/* Helpers for the inference of tensor operators. */
#ifndef WICK_OPS_TENSOR_H
#define WICK_OPS_TENSOR_H

#include "ir/op.h"

/* Fails unless operand i is present and a tensor in the plain layout of at least that rank. `what`
 * names it in messages. */
WICK_CHECKED wick_status wick_infer_tensor(const wick_infer *c, uint32_t i, const char *what,
                                           uint32_t least_rank, const wick_type_info **out);
/* The same for an operand that has the element type of the first. */
WICK_CHECKED wick_status wick_infer_alike(const wick_infer *c, uint32_t i, const char *what,
                                          uint32_t least_rank, const wick_type_info **out);
void wick_infer_out(wick_infer *c, uint32_t k, wick_elem e, uint32_t rank, const wick_dim *dim);

/* Converts an axis in -rank .. rank-1 to 0 .. rank-1; fails outside of it. */
WICK_CHECKED wick_status wick_infer_axis(const wick_infer *c, int64_t axis, uint32_t rank,
                                         uint32_t *out);
/* NumPy's rule, for dim (rank of them, in and out) and the dimensions of another tensor. */
WICK_CHECKED wick_status wick_infer_broadcast(const wick_infer *c, uint32_t *rank, wick_dim *dim,
                                              uint32_t other_rank, const wick_dim *other);

/* Whether d is a multiple of `by`, perhaps by a shape constraint. */
bool wick_infer_divides(const wick_infer *c, wick_dim d, wick_dim by);

/* "f32[2,3]" for messages. */
const char *wick_infer_type_text(const wick_infer *c, wick_type t);
const char *wick_infer_dim_text(const wick_infer *c, wick_dim d);

/* Contents of the results of a row that only moves elements of the operands in the bit set `moved`:
 * found by its own reference, which moves expressions as it moves integers. Contents of its other
 * operands must be constant. Where something is not known, or too large, the contents are not
 * known. */
void wick_infer_moved(wick_infer *c, uint32_t moved);

/* Sizes of all dimensions, as a concrete tensor without data; false where one is not constant. */
bool wick_infer_concrete(const wick_infer *c, wick_type t, wick_tensor *out);

#endif
