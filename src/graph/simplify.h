/* Algebraic simplification: nodes that are equal to something cheaper become that, by the column
 * `simplify` of their rows (ops/simplify.h); element-wise nodes read the operands of `expand` where
 * broadcasting gives them the same shape without it.
 *
 * Needs: a verified graph function. Guarantees: the same results, bit for bit (class: exact), and
 * that running it again finds nothing, or that it has been run often enough. Leaves alone: x + 0, x
 * * 0, x - x and what else is not exact for -0, infinities or NaN. */
#ifndef WICK_GRAPH_SIMPLIFY_H
#define WICK_GRAPH_SIMPLIFY_H

#include "ir/copy.h"

wick_func *wick_pass_simplify(const wick_func *f, wick_arena *mem);

#endif
