/* Convolutions and matrix products of dequantized numbers become integer ones: (x * a) by (w * b)
 * is (x by w) * (a * b).
 *
 * Needs: a verified graph function before constants are folded, so that weights are still integers
 * times their scale. Guarantees: the sums are i32 and exact if both factors are 8-bit integers,
 * minus 8-bit zero points, times one scale for x, and one scale for w or one for each output
 * channel or column of w. A product with both scales, and the bias, follow in f32. Class: rounding.
 * The result is nearer to the real one than sums of rounded products. Its last bits differ from
 * QLinearConv, which multiplies by all three scales at once. Leaves alone: sums that could exceed
 * i32, other scales, and factors of other types. */
#ifndef WICK_GRAPH_FUSE_QDQ_H
#define WICK_GRAPH_FUSE_QDQ_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_fuse_qdq(const wick_pass_context *pass, const wick_func *f,
                                            wick_func **out);

#endif
