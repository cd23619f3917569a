/* The values of a function that depend on variables of a differentiation. */
#ifndef WICK_GRAPH_GRAD_ACTIVITY_H
#define WICK_GRAPH_GRAD_ACTIVITY_H

#include "ir/ir.h"

/* Sets active[v] for each value that has a cotangent and depends on an active one. `active` has the
 * parameters of f already. Results of calls depend on all operands. */
void wick_activity(const wick_func *f, bool *active);

#endif
