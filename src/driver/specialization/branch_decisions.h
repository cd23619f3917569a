/* What small buffers of a low function hold, as far as it follows from what small inputs hold: the
 * conditions of branches, of which copies for given contents keep one way alone.
 *
 * The instructions are walked once, in order. A buffer is known where a kernel has written it whole
 * from buffers that were known, in a place that cannot be reached twice with other contents. */
#ifndef WICK_DRIVER_SPECIALIZATION_BRANCH_DECISIONS_H
#define WICK_DRIVER_SPECIALIZATION_BRANCH_DECISIONS_H

#include "ir/ir.h"

typedef wick_list(uint32_t) wick_known_inputs;

/* Of f's first `ninput` parameters those from whose contents a branch's condition or a loop's count
 * follows: whole numbers or bools, at most WICK_HELD_MOST bytes. Some of them may be wanted
 * together.
 */
void wick_known_watch(const wick_func *f, uint32_t ninput, wick_arena *mem, wick_arena *tmp,
                      wick_known_inputs *out);

/* `f`, not planned yet, whose groups have constant sizes, for these contents of parameters (NULL:
 * not known): branches that are always taken the same way have a constant for their condition and
 * nothing in the region that is never run. What then nobody reads is left for dead_store. */
wick_func *wick_known_decide(const wick_func *f, uint32_t ninput, const void *const *input,
                             wick_arena *mem, wick_arena *tmp);

#endif
