/* The axes that each component of a fold's state has. A component has an axis if its initial value
 * or its step depends on that axis, directly or through other components. Along the other axes it
 * is one number for all. In attention, for example, a running maximum and a running sum have the
 * rows of a table, and the weighted sums have its rows and columns. This follows from what each
 * component reads. */
#ifndef WICK_LOOP_STATES_H
#define WICK_LOOP_STATES_H

#include "ir/ir.h"

typedef struct wick_states {
  uint32_t n;            /* components */
  const uint64_t *axes;  /* per component: a set of axes of the fold */
  const uint64_t *value; /* per value of the group: the same, for values in the fold's regions */
} wick_states;

/* Only the first 64 axes are tracked. */
wick_states wick_states_of(const wick_func *g, const wick_node *fold, wick_arena *mem);

#endif
