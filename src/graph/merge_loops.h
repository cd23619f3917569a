/* Merges two loops, or two branches, if the later one does what the earlier one does, and more. A
 * derivative needs this: it runs a loop or a branch again and keeps intermediate values of it.
 *
 * Needs: nothing. Guarantees: of two loops in one region with the same count and initial values,
 * one is left, if the body of the second begins with the body of the first, node by node, the
 * second yields what the first yields, and everything else that the second uses was defined before
 * the first; the same for two branches on one condition, and their arms. Leaves alone: loops and
 * branches with more than 64 others between them. Exact. */
#ifndef WICK_GRAPH_MERGE_LOOPS_H
#define WICK_GRAPH_MERGE_LOOPS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_merge_loops(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out);

#endif
