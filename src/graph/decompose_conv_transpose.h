/* Transposed convolutions become convolutions. With stride s, all outputs of one phase (the index
 * modulo s) use the same elements of the window. Each phase is therefore a convolution with a part
 * of the window, and the results of the phases alternate.
 *
 * There are three forms:
 * - a convolution for each phase, followed by `interleave`;
 * - the phases as channels of few convolutions, followed by `phases_to_space`. Along each axis, the
 *   phases have n or n + 1 taps; those with the same number are channels of one convolution;
 * - a matrix product, for images of one pixel.
 * The pass takes the first form unless it would need more than 64 convolutions, or the second one
 * costs less although it moves the result once more. No form adds weights of 0 that the window does
 * not have, because 0 times infinity is not 0.
 *
 * Needs: a verified graph function; f32. Weights that are constants become others (run
 * constant_fold first); of other weights slices are taken. Guarantees: the same sums, in the order of
 * input channels and then the window backwards (class: rounding). Groups stay groups. Leaves alone
 * results that may have fewer elements than the stride. */
#ifndef WICK_GRAPH_DECOMPOSE_CONV_TRANSPOSE_H
#define WICK_GRAPH_DECOMPOSE_CONV_TRANSPOSE_H

#include "ir/pass.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_decompose_conv_transpose(const wick_pass_context *pass,
                                                            const wick_func *f, wick_func **out);

#endif
