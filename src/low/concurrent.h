/* Instructions that may run at the same time. */
#ifndef WICK_LOW_CONCURRENT_H
#define WICK_LOW_CONCURRENT_H

#include "low/alias.h"

/* Returns a flag per node of a planned function: the node can run concurrently with the kernels and
 * copies before it, back to the nearest one that is not marked. It touches no byte that they write,
 * and writes no byte that they touch, nor others of the same cache lines in turns with them. Nodes
 * whose buffers share memory in the plan therefore wait.
 * False for nodes that are neither kernel nor copy, and for the first one of a region or after a
 * region. */
const bool *wick_low_concurrent(const wick_alias *a, wick_arena *mem);

#endif
