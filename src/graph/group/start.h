/* Integer sums of a group begin with what is added to them: `fold + p`, p a parameter, becomes a
 * fold whose `init` reads p. Exact: sums of integers wrap, in any order. Such a fold is one sum
 * from its beginning to its end: a schedule may not take it in parts (loop/schedule.h). */
#ifndef WICK_GRAPH_GROUP_START_H
#define WICK_GRAPH_GROUP_START_H

#include "ir/copy.h"

wick_func *wick_group_start(const wick_func *group, wick_arena *mem);

#endif
