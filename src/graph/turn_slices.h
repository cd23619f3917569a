/* Replaces operators on slices that lanes cannot run along, because the slices are short, or because
 * a few neighbouring ones alternate in memory: the operand is transposed first, so that neighbouring
 * slices are contiguous, or each slice is, and the results are transposed back. Operators say in
 * which cases that pays (the column `turn`).
 *
 * Needs: a verified graph function, after the passes that look for these operators. Guarantees: the
 * same results, class rounding: sums along a slice may be taken in another order. Leaves alone:
 * sizes of slices that are not constant, and targets without vectors. */
#ifndef WICK_GRAPH_TURN_SLICES_H
#define WICK_GRAPH_TURN_SLICES_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_turn_slices(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out);

#endif
