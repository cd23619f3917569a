/* Algebraic simplification. Nodes that equal something cheaper become that, by the column
 * `simplify` of their operators (ops/simplify.h). Element-wise nodes read the operand of a
 * `broadcast_to` directly if broadcasting gives them the same shape.
 *
 * Needs: a verified graph function. Guarantees: the same results, bit for bit (class: exact).
 * Running the pass again finds nothing, unless it stopped at its limit of repetitions. Leaves
 * alone: x + 0, x * 0, x - x and other identities that do not hold for -0, infinities or NaN. */
#ifndef WICK_GRAPH_SIMPLIFY_H
#define WICK_GRAPH_SIMPLIFY_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_simplify(const wick_pass_context *pass, const wick_func *f,
                                            wick_func **out);

#endif
