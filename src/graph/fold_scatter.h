/* Adds the updates of scatters to the tensor that their sum is added to: t - r * scatter(0, i, u)
 * becomes scatter(t, i, -r * u). A step of gradient descent on a table then touches only the rows
 * that were looked up.
 *
 * Needs: a verified graph function. Guarantees: elements that no index selects keep their bits (the
 * sum with a zero would turn -0 into 0, and the product of 0 and a factor that is not finite into
 * NaN); updates of one element are scaled each, and added to it one after the other (class:
 * rounding). Takes scatters that add f32 or f64 to zeros, one after the other, and their sums,
 * differences, negations, and products and quotients with a number. Leaves alone: those with other
 * uses, as in optimizers that need the gradient twice; those in another region; updates that have
 * more elements than the tensor; f16 and bf16, which small updates may not change one by one. */
#ifndef WICK_GRAPH_FOLD_SCATTER_H
#define WICK_GRAPH_FOLD_SCATTER_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_fold_scatter(const wick_pass_context *pass, const wick_func *f,
                                                wick_func **out);

#endif
