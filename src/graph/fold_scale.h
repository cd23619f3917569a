/* Scales and shifts per channel behind a convolution or matrix product go into its weights and
 * bias: what a normalization by given statistics becomes costs nothing then.
 *
 * Needs: a verified graph function; weights and factors as constants (fold first, normalizations
 * expanded). Guarantees: a chain of add, sub, mul, div and neg by constants that vary along the
 * output channels alone is gone; factors are gathered in f64 and rounded once with the weights.
 * So are quotients by a number that only functions of a stated error read: they are products.
 * Class: rounding. Leaves alone: results that somebody else uses, factors that are not finite,
 * weights that are not constant, matrix products with a shift but no factor. */
#ifndef WICK_GRAPH_FOLD_SCALE_H
#define WICK_GRAPH_FOLD_SCALE_H

#include "ir/copy.h"

wick_func *wick_pass_fold_scale(const wick_func *f, wick_arena *mem);

#endif
