/* Products with copies: matmul(x, y) where y, [.., h * g, k, n], has g copies of each of h matrices,
 * as in attention whose heads share keys and values. The rows of the g products by one matrix become
 * the rows of one product, [.., h, g * m, k] by [.., h, k, n], which is a view of the same result.
 *
 * Needs: a verified graph function, after fuse_attention, which matches the products as they are.
 * Guarantees: the same sums. Exact. Leaves alone: copies that are not adjacent, and products whose
 * operands have different batch dimensions. */
#ifndef WICK_GRAPH_GROUP_HEADS_H
#define WICK_GRAPH_GROUP_HEADS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_group_heads(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out);

#endif
