/* Branches whose condition is a constant, and loops that never run.
 *
 * Needs: nothing. Guarantees: no `if` on a constant is left; no `loop` of 0 steps, but for those
 * that stack. Leaves alone: everything else. Exact. */
#ifndef WICK_GRAPH_BRANCH_H
#define WICK_GRAPH_BRANCH_H

#include "ir/ir.h"

wick_func *wick_pass_branch(const wick_func *f, wick_arena *mem);

#endif
