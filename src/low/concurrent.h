/* Instructions that may run at the same time. */
#ifndef WICK_LOW_CONCURRENT_H
#define WICK_LOW_CONCURRENT_H

#include "low/alias.h"

/* Per node of a planned function: it touches no byte that is written by one of the kernels and
 * copies in front of it, back to the first one that is not so marked, and writes none that they
 * touch. The plan decides: what shares memory waits. False for what is neither kernel nor copy, and
 * in regions. */
const bool *wick_low_concurrent(const wick_alias *a, wick_arena *mem);

#endif
