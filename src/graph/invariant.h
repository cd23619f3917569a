/* What gives the same in each step of a loop is computed before it.
 *
 * Needs: nothing. Guarantees: pure nodes of a loop's region whose operands come from outside of it
 * stand in front of the loop. Leaves alone: what may fail or draws (it might not have run), what an
 * arm of a branch may not come to, and what makes much of little: that is made where it is used.
 * Exact. */
#ifndef WICK_GRAPH_INVARIANT_H
#define WICK_GRAPH_INVARIANT_H

#include "ir/ir.h"

wick_func *wick_pass_invariant(const wick_func *f, wick_arena *mem);

#endif
