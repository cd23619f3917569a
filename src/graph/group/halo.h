/* Halos: zeros around a buffer, so that what reads beyond a tensor's bounds for zeros needs no
 * condition.
 *
 * A halo is a matter of the buffer, not of the tensor: the buffer is larger, the tensor is a
 * strided view of its inside, and a kernel writes the zeros in every run (the arena is shared).
 * Groups that rely on it say so in their schedule. */
#ifndef WICK_GRAPH_GROUP_HALO_H
#define WICK_GRAPH_GROUP_HALO_H

#include "ir/build.h"
#include "loop/schedule.h"
#include "target/target.h"

/* How far the guarded reads of parameter k reach beyond it, where all of them give 0 there; false
 * where it is not at all, too far, or sizes are not constant. */
bool wick_halo_wanted(const wick_func *group, uint32_t k, wick_halo *out);
void wick_halo_join(wick_halo *h, const wick_halo *more, uint32_t rank); /* the larger of both */

/* In the low function that b builds: a buffer with the halo, its zeros written; the result is the
 * view of its inside. */
wick_value wick_halo_alloc(wick_builder *b, const wick_target *t, wick_type tensor,
                           const wick_halo *h, wick_arena *tmp);

/* Adds the step to the group's schedule. */
void wick_halo_declare(wick_func *group, uint32_t k, const wick_halo *h, wick_arena *tmp);

#endif
