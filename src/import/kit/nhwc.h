/* Images with the channels last (NHWC, also NWC and NDHWC): Wick's operators, which have them second,
 * between transpositions. Those of neighbouring layers cancel in the passes.
 *
 * Helpers take the node for its errors; b->status and n->failed tell of a failure, and the returned
 * value is then 0 or unusable. */
#ifndef WICK_IMPORT_KIT_NHWC_H
#define WICK_IMPORT_KIT_NHWC_H

#include "import/kit/import.h"

enum { WICK_NHWC_SPATIAL = 3 };

/* The window of a convolution or a pool over n spatial dimensions. */
typedef struct wick_nhwc_window {
  uint32_t n;
  int64_t kernel[WICK_NHWC_SPATIAL], stride[WICK_NHWC_SPATIAL], dilation[WICK_NHWC_SPATIAL];
  wick_dim before[WICK_NHWC_SPATIAL], after[WICK_NHWC_SPATIAL]; /* padding */
} wick_nhwc_window;

typedef enum wick_nhwc_padding {
  WICK_NHWC_SAME,      /* the result has ceil(size / stride) elements; the odd one is at the end */
  WICK_NHWC_VALID,     /* none */
  WICK_NHWC_SAME_LOWER /* as SAME; the odd one is at the beginning */
} wick_nhwc_padding;

/* Returns a window of n dimensions with stride and dilation 1 and no padding. */
wick_nhwc_window wick_nhwc_window_of(uint32_t n);
/* Checks kernel, stride and dilation (1 to 2^30). Returns false after a failure. */
bool wick_nhwc_window_check(wick_import_node *n, const wick_nhwc_window *w);
/* Sets the padding by its word, for spatial sizes size[w->n]. */
void wick_nhwc_pad(wick_import *c, wick_nhwc_window *w, const wick_dim *size,
                   wick_nhwc_padding word);

/* Moves the channels: last to second if `first`, else back. */
wick_value wick_nhwc_move(wick_builder *b, wick_value x, bool first);
/* The same, by the values that the import has built already with the channels second. */
wick_value wick_nhwc_first(wick_import *c, wick_value x);
wick_value wick_nhwc_last(wick_builder *b, wick_value x);

/* Convolution of x [N, spatial..., C] with weights whose axes `perm` moves to [M, C / group,
 * window...]; bias [M], or 0. */
wick_value wick_nhwc_conv(wick_import_node *n, wick_value x, wick_value w, const int64_t *perm,
                          wick_value bias, const wick_nhwc_window *window, int64_t group);
/* Transposed convolution, the gradient of a convolution with that window and padding from a result
 * of the spatial sizes `size` [w->n]; weights whose axes `perm` moves to [C, M / group,
 * window...]. */
wick_value wick_nhwc_conv_transpose(wick_import_node *n, wick_value x, wick_value w,
                                    const int64_t *perm, wick_value bias,
                                    const wick_nhwc_window *window, const wick_dim *size,
                                    int64_t group);
/* Pools: avg_pool (padding does not count), max_pool, and others without more attributes. */
wick_value wick_nhwc_pool(wick_import_node *n, wick_opcode op, wick_value x,
                          const wick_nhwc_window *window);
/* Resizes the spatial dimensions, 1 and 2, to `size`, with the words of the operator `resize`
 * (mode: 0 nearest, 1 linear, 2 cubic; coordinates and nearest by their index). */
wick_value wick_nhwc_resize(wick_import_node *n, wick_value x, const wick_dim *size, int mode,
                            int coordinates, int nearest);
wick_value wick_nhwc_space_to_depth(wick_import_node *n, wick_value x, int64_t block);
wick_value wick_nhwc_depth_to_space(wick_import_node *n, wick_value x, int64_t block);

#endif
