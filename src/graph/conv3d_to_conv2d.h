/* Three-dimensional convolutions, [N, C, D, H, W], become convolutions over images, [N * D, C, H,
 * W], if Winograd's algorithm is then faster.
 *
 * The taps along D become channels: the images that a window reads are concatenated along the
 * channels, and the weights [O, C, T, R, S] become [O, T * C, R, S]. Groups stay groups. The images
 * of an element-wise node between two convolutions stay images.
 *
 * Needs: a verified graph function, after decompose_conv_transpose; weights as constants (run
 * constant_fold first). Guarantees: the same products, summed in another order (class: rounding).
 * Leaves alone: convolutions that are faster as they are, because moving the images would cost more
 * than the algorithm saves. */
#ifndef WICK_GRAPH_CONV3D_TO_CONV2D_H
#define WICK_GRAPH_CONV3D_TO_CONV2D_H

#include "ir/pass.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_conv3d_to_conv2d(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

#endif
