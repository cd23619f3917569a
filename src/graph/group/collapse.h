/* Neighbouring dimensions of a group become one dimension if one of them is dynamic and all reads
 * take them together: the tokens of all sentences, for example. Tiles then have one remainder in
 * all instead of one for each outer index. The last dimension stays, because vectors lie along it.
 * Exact.
 *
 * The parameters and results of the group change their types: kernels take their buffers as views.
 */
#ifndef WICK_GRAPH_GROUP_COLLAPSE_H
#define WICK_GRAPH_GROUP_COLLAPSE_H

#include "ir/copy.h"

wick_func *wick_group_collapse(const wick_func *group, wick_arena *mem);

#endif
