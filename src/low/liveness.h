/* How many bytes of the arena are in use at each instruction, in the order that the function has.
 */
#ifndef WICK_LOW_LIVENESS_H
#define WICK_LOW_LIVENESS_H

#include "low/alias.h"

typedef struct wick_live_root {
  wick_value root;
  uint64_t nbytes;
  wick_interval live;
} wick_live_root;

typedef struct wick_liveness {
  uint32_t nroot; /* allocs in the arena that something needs, in the order of their definition */
  wick_live_root *root;
  uint64_t *nbytes; /* [nnode]: sum over the roots that are live */
  uint64_t peak_nbytes;
} wick_liveness;

/* Sizes rounded up to `align` bytes, a power of two; estimates where they are not
 * constant. */
wick_liveness wick_liveness_of(const wick_alias *a, uint64_t align, wick_arena *mem);

#endif
