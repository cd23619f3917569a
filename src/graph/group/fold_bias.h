/* A bias after an integer sum becomes the initial value of the sum: `fold + p`, where p is a
 * parameter of the group, becomes a fold whose `init` reads p.
 *
 * Exact, because integer sums wrap in any order. Such a fold is a single sum from its first to its
 * last element, so a schedule may not apply `rfactor` or `spans` to it (loop/schedule.h). */
#ifndef WICK_GRAPH_GROUP_FOLD_BIAS_H
#define WICK_GRAPH_GROUP_FOLD_BIAS_H

#include "ir/copy.h"

wick_func *wick_group_fold_bias(const wick_func *group, wick_arena *mem);

#endif
