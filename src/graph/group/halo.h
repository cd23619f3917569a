/* Halos: zeros around a buffer, so that reads outside of the tensor need no condition.
 *
 * A halo belongs to the buffer, not to the tensor. The buffer is larger, the tensor is a strided
 * view of its inside, and a kernel writes the zeros in every run, because the arena is shared. A
 * group that relies on a halo says so in its schedule. */
#ifndef WICK_GRAPH_GROUP_HALO_H
#define WICK_GRAPH_GROUP_HALO_H

#include "ir/build.h"
#include "loop/schedule.h"
#include "target/target.h"

/* Finds how far the guarded reads of parameter k reach outside of its tensor, if all of them yield
 * 0 there. Maps that copy contiguous elements need no halo. Returns false if no other read reaches
 * outside, if reads reach too far, or if sizes are not constant. */
bool wick_halo_wanted(const wick_func *group, uint32_t k, wick_halo *out);
/* Returns true if a tensor whose buffer has no halo should be copied to one that has it, if `share`
 * groups use the copy. This is not
 * so for a transposition in registers whose rows are inside or outside as a whole: it reads each
 * element once, and a condition for each row costs less than another copy (loop/nest_turn.c). Nor is
 * it for a sum of products that reads vectors of the tensor, if only few of its tiles read outside. */
bool wick_halo_is_worth_copy(const wick_func *group, const wick_target *t, uint32_t k,
                             const wick_halo *h, uint32_t share, wick_arena *tmp);
/* Enlarges h on each side to the larger extent of both. */
void wick_halo_join(wick_halo *h, const wick_halo *more, uint32_t rank);

/* Builds a buffer with the halo and a kernel that writes its zeros, in the low function b. Returns
 * the view of its inside. */
wick_value wick_halo_alloc(wick_builder *b, const wick_target *t, wick_type tensor,
                           const wick_halo *h, wick_arena *tmp);

/* Adds a step for the halo of parameter k to the group's schedule. */
void wick_halo_declare(wick_func *group, uint32_t k, const wick_halo *h, wick_arena *tmp);

#endif
