/* Convolutions and matrix products of dequantized numbers become those of the integers: (x * a) by
 * (w * b) is (x by w) * (a * b).
 *
 * Needs: a verified graph function, before constants are folded: weights as integers times their
 * scale show what they are. Guarantees: where both factors are integers of 8 bits, less zero points
 * of 8 bits, times one scale for x and one for w, or for each of w's output channels or columns,
 * the sums are i32 and exact; a product with both scales, and the bias, follow in f32. Class:
 * rounding: the result is nearer to the real one than sums of rounded products; its last bits are
 * not those of QLinearConv, which multiplies by all three scales at once. Leaves alone: sums that
 * could leave i32, other scales, factors of other types. */
#ifndef WICK_GRAPH_QUANTIZED_H
#define WICK_GRAPH_QUANTIZED_H

#include "ir/copy.h"

wick_func *wick_pass_quantized(const wick_func *f, wick_arena *mem);

#endif
