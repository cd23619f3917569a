/* Computes the bytes of the arena that are in use at each instruction, in the function's order. */
#ifndef WICK_LOW_LIVENESS_H
#define WICK_LOW_LIVENESS_H

#include "low/alias.h"

typedef struct wick_live_root {
  wick_value root;
  uint64_t nbytes;
  wick_interval live;
} wick_live_root;

typedef struct wick_liveness {
  uint32_t nroot; /* allocs in the arena that are used, in the order of their definition */
  wick_live_root *root;
  uint64_t *nbytes; /* [nnode]: sum over the roots that are live */
  uint64_t peak_nbytes;
} wick_liveness;

/* Sizes are rounded up to `align` bytes, a power of two. Dynamic sizes are estimated. */
wick_liveness wick_liveness_of(const wick_alias *a, uint64_t align, wick_arena *mem);

#endif
