/* Assigns blocked layouts. Images between convolutions keep their channels in blocks of one vector,
 * and weights are packed once, here.
 *
 * The column `layout` of an operator says what it does with packed operands (ops/layout/layout.h).
 *
 * Needs: a verified graph function without control flow; weights of convolutions as constants (run
 * constant_fold first). Guarantees: the same results, class rounding. The sums of a convolution run
 * over blocks of channels, then the window, then the channels of a block. If groups are not whole
 * blocks, channels of other groups may take part with weight 0. `pack` and `unpack` are only where
 * a packed and a plain value meet. If the tuning records have a Winograd tile for a layer, it is
 * used; records may be NULL. Leaves alone: ranks other than 4, elements other than f32, sizes that
 * are not constant, targets without vectors, groups that would fill less than half of their blocks,
 * and element-wise nodes that would write something other than 0 to elements without a channel. */
#ifndef WICK_GRAPH_LAYOUT_ASSIGN_LAYOUTS_H
#define WICK_GRAPH_LAYOUT_ASSIGN_LAYOUTS_H

#include "ir/pass.h"
#include "loop/tuning_records.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_assign_layouts(const wick_pass_context *pass, const wick_func *f,
                                                  wick_func **out);

#endif
