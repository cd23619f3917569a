/* Behind sums of integers one factor is left, and no float bias.
 *
 * Where an integer, as a float, is multiplied by a constant, has a constant added, goes through
 * relu or a clip, is added to another such number, and is then divided or multiplied by one
 * positive number, that number goes into the constants. A bias that is a whole number of its scale,
 * as quantizers make it, is added to the convolution's integers instead.
 *
 * Needs: a verified graph function with folded constants; `fold` behind it. Class: rounding: what
 * was rounded several times is rounded less often, as in QLinearConv. Leaves alone: numbers that
 * never were integers, and what has other users. */
#ifndef WICK_GRAPH_RESCALE_H
#define WICK_GRAPH_RESCALE_H

#include "ir/copy.h"

wick_func *wick_pass_rescale(const wick_func *f, wick_arena *mem);

#endif
