/* Removes kernels and copies whose results are never read, and the allocs that are then unused.
 *
 * Needs: a verified low function without `free`. Guarantees: the same results; a kernel that may
 * fail is removed like any other, since only its result matters. Leaves alone: kernels with a
 * result that is needed, and those that print or assert; calls, and buffers that control flow carries. Exact. */
#ifndef WICK_LOW_DEAD_STORE_H
#define WICK_LOW_DEAD_STORE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_dead_store(const wick_pass_context *pass, const wick_func *f,
                                              wick_func **out);

#endif
