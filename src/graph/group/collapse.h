/* Makes the dimensions of a group fewer and longer. Neighbouring dimensions become one dimension if
 * all reads take them together, and dimensions of size 1 go: vectors then run over [8, 3, 5]
 * elements as over 120, and the templates see the folds of [1, 1000, 1, 1] as those of a row.
 *
 * Groups with windows or sums of products keep constant dimensions, by which their templates choose
 * tiles. There a pair with a dynamic dimension becomes one (the tokens of all sentences, for
 * example), and the last dimensions of a convolution at single positions, if its rows are not whole
 * vectors. Tiles then have one remainder in all instead of one for each outer index. A dynamic
 * last dimension of the output stays, because vectors run along it. Exact.
 *
 * The parameters and results of the group change their types: kernels take their buffers as views.
 * Bit k of joins[i] allows that dimensions k and k + 1 become one; i counts the parameters, then
 * the results. Elements of a buffer with a halo, for example, may not be contiguous there. */
#ifndef WICK_GRAPH_GROUP_COLLAPSE_H
#define WICK_GRAPH_GROUP_COLLAPSE_H

#include "ir/copy.h"

wick_func *wick_group_collapse(const wick_func *group, const uint32_t *joins, wick_arena *mem);

#endif
