/* The axes that the components of a fold's state have. A component has an axis where what it begins
 * with, or what a step makes of it, depends on it, by itself or through other components; along the
 * others it is one number for all. A running maximum and a running sum have the rows of a table,
 * the sums that are weighed by them the rows and columns: the text says it by what each of them
 * reads.
 */
#ifndef WICK_LOOP_STATES_H
#define WICK_LOOP_STATES_H

#include "ir/ir.h"

typedef struct wick_states {
  uint32_t n;            /* components */
  const uint64_t *axes;  /* per component: a set of axes of the fold */
  const uint64_t *value; /* per value of the group: of those in the fold's regions, the same */
} wick_states;

/* The first 64 axes count. */
wick_states wick_states_of(const wick_func *g, const wick_node *fold, wick_arena *mem);

#endif
