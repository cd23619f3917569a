/* Decides branches whose conditions follow from the contents of small inputs. A specialization for
 * given contents keeps only the region that runs.
 *
 * The instructions are walked once, in order. The contents of a buffer are known if one kernel has
 * written all of it from buffers with known contents, in a region that cannot be reached twice with
 * other contents. */
#ifndef WICK_DRIVER_SPECIALIZATION_BRANCH_DECISIONS_H
#define WICK_DRIVER_SPECIALIZATION_BRANCH_DECISIONS_H

#include "ir/ir.h"

typedef wick_list(uint32_t) wick_branch_inputs;

/* Finds those of f's first `ninput` parameters whose contents decide a branch or a loop's
 * count: whole numbers or bools, at most WICK_GUARD_BYTES_MAX bytes. A decision may need
 * several of them. */
void wick_branch_inputs_find(const wick_func *f, uint32_t ninput, wick_arena *mem, wick_arena *tmp,
                             wick_branch_inputs *out);

/* Specializes `f`, which is not planned yet and whose groups have constant sizes, for these
 * contents of parameters (NULL: not known). A branch that is decided gets a constant condition, and
 * the region that never runs becomes empty. dead_store later removes the kernels whose results
 * nobody reads. */
wick_func *wick_branch_decide(const wick_func *f, uint32_t ninput, const void *const *input,
                              wick_arena *mem, wick_arena *tmp);

#endif
