/* Makes one product of branches that multiply the same tensor by constant weights and are added up:
 * conv(x, v) + conv(x, w) becomes conv(x, v + w), as blocks of training form have it (RepVGG, MobileOne).
 *
 * Needs: a verified graph function; normalizations folded into weights (run fold_scale first). Guarantees: in a
 * sum, no convolution is left whose windows are within those of another one of the same tensor and stride, and
 * whose groups are parts of that one's, no factor per channel of a tensor that such a convolution reads, and no
 * second product of a tensor with a constant matrix. Numbers per channel are added to the bias. New weights are
 * added up in f64 and rounded once. Class: rounding. Leaves alone: branches with other users, windows that are
 * dilated differently, x itself beside a single product, as residuals have it, and floats of 16 bits, of which a
 * sum would lose digits. */
#ifndef WICK_GRAPH_MERGE_BRANCHES_H
#define WICK_GRAPH_MERGE_BRANCHES_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_merge_branches(const wick_pass_context *pass, const wick_func *f,
                                                  wick_func **out);

#endif
