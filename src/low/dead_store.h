/* Drops kernels and copies whose results nobody reads, and the allocs that are then left.
 *
 * Needs: a verified low function without `free`. Guarantees: the same results; a kernel that may
 * fail is dropped like another, since only its result matters. Leaves alone: kernels of which one
 * result is wanted; calls, and what control flow carries. Exact. */
#ifndef WICK_LOW_DEAD_STORE_H
#define WICK_LOW_DEAD_STORE_H

#include "ir/ir.h"

wick_func *wick_pass_dead_store(const wick_func *f, wick_arena *mem, wick_arena *tmp);

#endif
