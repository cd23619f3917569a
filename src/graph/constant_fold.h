/* Constant folding. A node whose operands are all constants becomes a constant; the reference of
 * its operator computes the value. A loop of constants, all of whose results are small, is evaluated
 * if that takes less than a hundredth of a second by estimate.
 *
 * Needs: a verified graph function. Guarantees: the same results. The pass is exact with respect to
 * the references: moves and integers are exact, floats are computed in f64 and rounded to the type.
 * Leaves alone: nodes whose evaluation fails (the run reports the error if it reaches the node),
 * sizes that are not constant, results of more than `limit_bytes` in all, and results that are
 * larger than 4 KiB and more than four times their operands, because they would bloat the file. */
#ifndef WICK_GRAPH_CONSTANT_FOLD_H
#define WICK_GRAPH_CONSTANT_FOLD_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_constant_fold(const wick_pass_context *pass, const wick_func *f,
                                                 wick_func **out); /* limit: 1 GiB */

#endif
