/* Drops kernels and copies whose results nobody reads, and the allocs that are then left.
 *
 * Needs: a verified low function without `free`. Guarantees: the same results; a kernel that may
 * fail is dropped like another, since only its result matters. Leaves alone: kernels of which one
 * result is wanted; calls, and what control flow carries. Exact. */
#ifndef WICK_LOW_DEAD_STORE_H
#define WICK_LOW_DEAD_STORE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_dead_store(const wick_pass_context *pass, const wick_func *f,
                                              wick_func **out);

#endif
