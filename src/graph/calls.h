/* What is called stands in the place of the call; functions that were called go.
 *
 * Needs: nothing. Guarantees: no calls of graphs. Fails: WICK_EUNSUPPORTED for a function that
 * calls itself, WICK_ELIMIT where the whole becomes too large. Exact. */
#ifndef WICK_GRAPH_CALLS_H
#define WICK_GRAPH_CALLS_H

#include "ir/ir.h"

WICK_CHECKED wick_status wick_pass_calls(const wick_func *f, wick_arena *mem, wick_func **out);

#endif
