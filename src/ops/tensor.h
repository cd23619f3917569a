/* Helpers for the inference of tensor operators. */
#ifndef WICK_OPS_TENSOR_H
#define WICK_OPS_TENSOR_H

#include "ir/op.h"

/* Fails unless operand i is present, and is a tensor in the plain layout with at least that rank.
 * `what` is its name in messages. */
WICK_CHECKED wick_status wick_infer_tensor(const wick_infer *c, uint32_t i, const char *what,
                                           uint32_t least_rank, const wick_type_info **out);
/* The same, and the operand must have the element type of the first operand. */
WICK_CHECKED wick_status wick_infer_alike(const wick_infer *c, uint32_t i, const char *what,
                                          uint32_t least_rank, const wick_type_info **out);
void wick_infer_out(wick_infer *c, uint32_t k, wick_elem e, uint32_t rank, const wick_dim *dim);

/* Converts an axis in -rank .. rank-1 to 0 .. rank-1. Fails if it is outside of that range. */
WICK_CHECKED wick_status wick_infer_axis(const wick_infer *c, int64_t axis, uint32_t rank,
                                         uint32_t *out);
/* Broadcasts dim[] (*rank of them, in and out) with the dimensions of another tensor by NumPy's
 * rule. */
WICK_CHECKED wick_status wick_infer_broadcast(const wick_infer *c, uint32_t *rank, wick_dim *dim,
                                              uint32_t other_rank, const wick_dim *other);

/* Returns true if d is a multiple of `by`, possibly by a shape constraint. */
bool wick_infer_divides(const wick_infer *c, wick_dim d, wick_dim by);

/* Returns the type as text such as "f32[2,3]", for messages. */
const char *wick_infer_type_text(const wick_infer *c, wick_type t);
const char *wick_infer_dim_text(const wick_infer *c, wick_dim d);

/* Infers the contents of results if the operator only moves elements of the operands in the bit set
 * `moved`. The operator's own reference finds them; it moves expressions as it moves integers. The
 * contents of the other operands must be constant. If something is unknown or too large, the
 * contents are unknown. */
void wick_infer_moved(wick_infer *c, uint32_t moved);

/* Returns the sizes of all dimensions as a concrete tensor without data. Returns false if one is
 * not constant. */
bool wick_infer_concrete(const wick_infer *c, wick_type t, wick_tensor *out);

#endif
