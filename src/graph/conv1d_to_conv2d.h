/* One-dimensional convolutions, [N, C, X], become convolutions over images with one row, [N, C, 1,
 * X], because those have blocked layouts (graph/layout).
 *
 * The pass adds a view before and a view after each convolution. Element-wise nodes and pools
 * between two convolutions are converted as well, so that the views between them cancel.
 *
 * Needs: a verified graph function, after decompose; weights as constants (run constant_fold
 * first). Leaves alone: convolutions with fewer channels than a block is good for, and weights
 * whose bytes are made later. Exact. */
#ifndef WICK_GRAPH_CONV1D_TO_CONV2D_H
#define WICK_GRAPH_CONV1D_TO_CONV2D_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_conv1d_to_conv2d(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

#endif
