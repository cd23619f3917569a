/* Data movement sinks below element-wise nodes: f(move(x)) becomes move(f(x)). Then f fuses with
 * the node that computes x, and neighbouring moves cancel in later passes.
 *
 * Moves are reshape, transpose, channel_shuffle, depth_to_space, space_to_depth, broadcast_to (f is
 * computed for fewer elements then) and concat (f is applied to each operand). The other operands
 * of f are numbers, or constants along axes that a transpose permutes or a concat leaves alone. Below
 * the result of a convolution, a reshape that divides dimensions also sinks below f with operands that
 * it can be undone for, such as the bias of each channel.
 *
 * Needs: a verified graph function. Guarantees: the arithmetic of each element stays the same
 * (class: exact). Leaves alone: moves whose results have other users, element-wise nodes with two
 * operands that are not constant, pads and slices (f would be computed for other elements), and
 * casts to wider elements (more bytes would move). */
#ifndef WICK_GRAPH_SINK_DATA_MOVEMENT_H
#define WICK_GRAPH_SINK_DATA_MOVEMENT_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_sink_data_movement(const wick_pass_context *pass,
                                                      const wick_func *f, wick_func **out);

#endif
