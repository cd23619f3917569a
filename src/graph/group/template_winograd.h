/* The first schedule of a convolution by Winograd's algorithm. */
#ifndef WICK_GRAPH_GROUP_TEMPLATE_WINOGRAD_H
#define WICK_GRAPH_GROUP_TEMPLATE_WINOGRAD_H

#include "graph/group/template.h"
#include "loop/schedule.h"
#include "target/target.h"

/* Adds the steps, under these knobs; false where the group is something else. *refused: the knobs
 * do not fit.
 *   tiles (a map with dimensions of its own) -> products (a fold) -> outputs (as tiles)
 *   -> maps in line -> the output, element-wise */
bool wick_template_winograd(const wick_schedule *s, const wick_target *t, const wick_knobs *knobs,
                            wick_text *steps, bool *refused);

#endif
