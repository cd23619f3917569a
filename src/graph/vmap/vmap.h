/* Batching of graph functions: what a function computes for each of n rows, in nodes that work on
 * all rows at once.
 *
 * Operators have the column `batch` (ops/batch/batch.h). A branch on a condition that differs from
 * row to row runs both arms and selects; in rows that an arm does not concern, operands of
 * operators that may fail are harmless. A loop runs until all rows have ended; those that have
 * ended keep their values. Functions that are recursive or have effects, or that work on other
 * values than tensors, are called row by row in a loop. */
#ifndef WICK_GRAPH_VMAP_VMAP_H
#define WICK_GRAPH_VMAP_VMAP_H

#include "ir/copy.h"

/* Builds the nodes that replace a node `vmap`, and sets c->to of its results. The function that it
 * names, and all functions that this one calls, contain no transformations. */
void wick_expand_vmap(wick_copier *c, const wick_node *n);

#endif
