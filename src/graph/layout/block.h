/* Blocked layouts: images between convolutions keep their channels in blocks of one vector, weights
 * are packed here, once.
 *
 * What a node does with packed operands is its row's column `layout` (ops/layout.h).
 *
 * Needs: a verified graph function without control flow; weights of convolutions as constants (fold
 * first). Guarantees: the same results; sums of a convolution run over blocks of channels, then the
 * window, then the channels of a block (class: rounding; where groups are not whole blocks,
 * channels of other groups may take part with weight 0). `pack` and `unpack` stand only where a
 * packed and a plain value meet. Leaves alone: other ranks than 4, elements other than f32, sizes
 * that are not constant, targets without vectors, groups that would fill less than half of their
 * blocks, and element-wise nodes that would fill places without a channel with something else than
 * 0. Where records have a tile of minimal filtering for a layer, it is taken; NULL: none have. */
#ifndef WICK_GRAPH_LAYOUT_BLOCK_H
#define WICK_GRAPH_LAYOUT_BLOCK_H

#include "ir/copy.h"
#include "loop/records.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_block(const wick_func *f, const wick_target *t, bool strict,
                                         wick_records *records, wick_arena *mem, wick_func **out);

#endif
