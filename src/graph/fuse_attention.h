/* Attention becomes one node. The pass fuses the product of queries with keys, its scale and mask,
 * the softmax, and the product with the values into `attention`, where that is faster than three
 * kernels.
 *
 * It matches matmul(softmax(f(matmul(q, transpose(k)))), v), where the softmax is along the last
 * axis, and f divides or multiplies by numbers, then adds a mask or sets the elements that a mask
 * selects to a number. The size of a block of keys is chosen so that its data stays in the nearest
 * caches.
 *
 * Needs: a verified graph function. Class: rounding, because the weights are divided by their sum
 * at the end, and each block has sums of its own. Leaves alone: intermediate values with other
 * users, sizes that may be 0, few queries, and keys that are not transposed. */
#ifndef WICK_GRAPH_FUSE_ATTENTION_H
#define WICK_GRAPH_FUSE_ATTENTION_H

#include "ir/pass.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_fuse_attention(const wick_pass_context *pass, const wick_func *f,
                                                  wick_func **out);

#endif
