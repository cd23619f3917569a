/* Drops results of branches and loops that nobody uses, with what makes them.
 *
 * Needs: nothing. Guarantees: each result of an `if` is used; what a loop stacks is used; what it
 * carries is used behind it, or by what it computes for that, and changes. Leaves alone: whatever
 * has an effect, and how often a loop runs. Exact. */
#ifndef WICK_GRAPH_UNUSED_H
#define WICK_GRAPH_UNUSED_H

#include "ir/ir.h"

wick_func *wick_pass_unused(const wick_func *f, wick_arena *mem);

#endif
