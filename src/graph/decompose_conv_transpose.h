/* Transposed convolutions become convolutions. With stride s, all outputs of one phase (the index
 * modulo s) use the same elements of the window. Each phase is therefore a convolution with a part
 * of the window, and the results of the phases alternate.
 *
 * There are three forms. The pass takes the one that costs least in vectors of output channels
 * times elements of windows:
 * - a convolution for each phase, followed by `interleave`;
 * - all phases as channels of one convolution, followed by `depth_to_space` and a slice. It is used
 *   if the output channels fill no vector and the window is a multiple of the stride;
 * - a matrix product, for images of one pixel.
 * No form adds weights of 0 that the window does not have, because 0 times infinity is not 0.
 *
 * Needs: a verified graph function; weights as constants (run constant_fold first). Guarantees: the
 * same sums, in the order of input channels and then the window backwards (class: rounding). Groups
 * stay groups, in the first form. Leaves alone: weights that are not constant, results that may
 * have fewer elements than the stride, and windows that do not reach an edge of the result, because
 * the convolution would need negative pads. */
#ifndef WICK_GRAPH_DECOMPOSE_CONV_TRANSPOSE_H
#define WICK_GRAPH_DECOMPOSE_CONV_TRANSPOSE_H

#include "ir/pass.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_decompose_conv_transpose(const wick_pass_context *pass,
                                                            const wick_func *f, wick_func **out);

#endif
