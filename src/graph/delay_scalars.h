/* Element-wise nodes are delayed until after data movement: move(f(x)) becomes f(move(x)), where
 * nothing before f could compute it. Then both are one kernel, which reads x and writes the result
 * once. It is the opposite of sink_data_movement (graph/sink_data_movement.h), for what is left.
 *
 * Moves are nodes of one operand that rearrange it in a kernel of their own: transpose,
 * channel_shuffle, depth_to_space, space_to_depth. The other operands of f are numbers, or constants
 * along axes that a transpose permutes.
 *
 * Needs: a verified graph function, after all passes that look for element-wise nodes. Guarantees:
 * the arithmetic of each element stays the same (class: exact). Leaves alone: element-wise nodes
 * after a node whose kernel takes them, and those with other users.
 *
 * delay_casts does so early, and only from a cast to wider elements on: move(f(cast(x))) becomes
 * f(cast(move(x))), whatever computes x. Fewer bytes are moved, and passes that look for bytes before
 * an operator find them: the zero point of a quantized image with the channels last is subtracted
 * before its transposition. */
#ifndef WICK_GRAPH_DELAY_SCALARS_H
#define WICK_GRAPH_DELAY_SCALARS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_delay_scalars(const wick_pass_context *pass, const wick_func *f,
                                                 wick_func **out);
WICK_CHECKED wick_status wick_pass_delay_casts(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out);

#endif
