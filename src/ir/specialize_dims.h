/* Numbers in the place of symbols: the same function, group or low function, for some sizes alone.
 *
 * Types, dimensions in attributes, checks and what is known of contents follow; so do the ranges of
 * stages' axes. Nodes stay one by one, schedules word for word, so that the order of every sum is
 * the same: a copy for some sizes gives the bits that the function for all of them gives. The
 * contract, whose text has extents, is left out.
 *
 * A branch that relies on sizes to be equal which never are with these numbers has nothing left but
 * that error: below the level of graphs, where regions yield no values, its region becomes empty.
 */
#ifndef WICK_IR_SPECIALIZE_DIMS_H
#define WICK_IR_SPECIALIZE_DIMS_H

#include "ir/build.h"

typedef struct wick_pins {
  uint32_t n;
  const wick_dim *sym, *by; /* sym[i] becomes by[i] */
} wick_pins;

/* Callees are pinned, and in the module, before those who use them; kernels of a low function,
 * which a branch that goes may have been alone to call, may be pinned later. Fails where inference
 * does not take the sizes: they do not keep f's checks, or make one negative. */
WICK_CHECKED wick_status wick_func_pin(const wick_func *f, const wick_pins *pins, wick_arena *mem,
                                       wick_func **out);

#endif
