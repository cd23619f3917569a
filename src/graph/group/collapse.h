/* Neighbouring dimensions of which one is open, and which all reads of a group take together,
 * become one: tokens of all sentences, places of all lines. Tiles then have one remainder for all
 * of them rather than one each. The last dimension, along which vectors lie, stays. Exact.
 *
 * The group's parameters and results change their types: kernels take their buffers as views. */
#ifndef WICK_GRAPH_GROUP_COLLAPSE_H
#define WICK_GRAPH_GROUP_COLLAPSE_H

#include "ir/copy.h"

wick_func *wick_group_collapse(const wick_func *group, wick_arena *mem);

#endif
