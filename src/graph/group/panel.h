/* Gives a sum of products a panel: a map that copies one of its factors, which the fold reads instead. The
 * template computes the map for one block of the output at a time, in scratch memory. Where a tile of the
 * output reads rows in many distant parts of the memory, processors do not fetch them ahead; the panel
 * reads each row in sequence. Exact. */
#ifndef WICK_GRAPH_GROUP_PANEL_H
#define WICK_GRAPH_GROUP_PANEL_H

#include "ir/copy.h"
#include "target/target.h"

#define WICK_PANEL "panel" /* the name of the map */

/* Returns the group itself if it needs no panel. */
wick_func *wick_group_panel(wick_func *group, const wick_target *t, wick_arena *mem,
                            wick_arena *tmp);

#endif
