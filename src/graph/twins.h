/* A loop that does what an earlier one does, and more, takes its place: a derivative runs a loop
 * again, and keeps rows of it.
 *
 * Needs: nothing. Guarantees: of two loops in one region with the same count and values to begin
 * with one is left where the body of the first, node by node, is what the second's begins with, the
 * second yields what the first does, and whatever else it uses was there before the first. Leaves
 * alone: loops that are farther apart than 64 others. Exact. */
#ifndef WICK_GRAPH_TWINS_H
#define WICK_GRAPH_TWINS_H

#include "ir/ir.h"

wick_func *wick_pass_twins(const wick_func *f, wick_arena *mem);

#endif
