/* Moves of elements sink behind element-wise nodes: f(move(x)) becomes move(f(x)), so that f fuses
 * with what computes x, and moves meet, and go, at the next pass.
 *
 * Moves are reshape, transpose, channel_shuffle, depth_to_space, space_to_depth, expand (f is
 * computed fewer times then) and joins (f for each operand). The other operands of f are numbers,
 * or constants along axes that a transpose permutes or a join leaves alone.
 *
 * Needs: a verified graph function. Guarantees: each element's arithmetic is as it was (class:
 * exact). Leaves alone: moves whose results somebody else uses, element-wise nodes with two
 * operands that are not constant, pads and slices (f would be computed for other elements), casts
 * to wider elements (there would be more bytes to move). */
#ifndef WICK_GRAPH_SINK_H
#define WICK_GRAPH_SINK_H

#include "ir/copy.h"

wick_func *wick_pass_sink(const wick_func *f, wick_arena *mem);

#endif
