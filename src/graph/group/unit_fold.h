/* Replaces folds that read a single element by maps. The softmax of [1, 1000] along its first axis,
 * for example, has such folds. The map computes the fold's first state, one step, and its end, and
 * templates compute it in line. Sums of products stay, because their templates also choose how
 * their operands are read. Exact. */
#ifndef WICK_GRAPH_GROUP_UNIT_FOLD_H
#define WICK_GRAPH_GROUP_UNIT_FOLD_H

#include "ir/copy.h"

wick_func *wick_group_unit_fold(const wick_func *group, wick_arena *mem);

#endif
