/* Folds scales and shifts per channel into the weights and bias of the convolution or matrix
 * product before them, and scales into the weights of the one after them. A normalization with given
 * statistics then costs nothing, nor does the division of an image by 255.
 *
 * Needs: a verified graph function; weights and factors as constants (run constant_fold first), and
 * normalizations decomposed. Guarantees: no chain of add, sub, mul, div and neg by constants that
 * vary only along the output channels is left after a product, nor a mul or div along the input
 * channels before it. Factors above 0 pass a relu or leaky_relu. Factors are collected in f64 and
 * rounded once with the weights. Quotients by a number become products if only functions with a stated
 * error read them, and quotients by the roots of whole rows, as in norms, always. Class: rounding.
 * Leaves alone: results with other users, factors that are not finite, weights that are not constant,
 * and matrix products with a shift but no factor. */
#ifndef WICK_GRAPH_FOLD_SCALE_H
#define WICK_GRAPH_FOLD_SCALE_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_fold_scale(const wick_pass_context *pass, const wick_func *f,
                                              wick_func **out);

#endif
