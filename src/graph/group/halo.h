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

/* Finds how far the guarded reads of parameter k reach outside of it, if all of them give 0 there.
 * Returns false if no read does, if they reach too far, or if sizes are not constant. */
bool wick_halo_wanted(const wick_func *group, uint32_t k, wick_halo *out);
void wick_halo_join(wick_halo *h, const wick_halo *more, uint32_t rank); /* the larger of both */

/* Builds in b, a low function, a buffer with the halo and a kernel that writes its zeros. Returns
 * the view of its inside. */
wick_value wick_halo_alloc(wick_builder *b, const wick_target *t, wick_type tensor,
                           const wick_halo *h, wick_arena *tmp);

/* Adds the step to the group's schedule. */
void wick_halo_declare(wick_func *group, uint32_t k, const wick_halo *h, wick_arena *tmp);

#endif
