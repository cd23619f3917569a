/* A convolution whose layout is chosen, and weights that are packed when the program runs, because
 * they are no constants: those of networks that are trained. */
#ifndef WICK_OPS_LAYOUT_LAYOUT_CONV_H
#define WICK_OPS_LAYOUT_LAYOUT_CONV_H

#include "ops/layout/layout.h"
#include "ops/nn/winograd.h"

typedef struct layout_conv {
  const wick_node *n;
  wick_value x; /* the value that is read: the image, or the value that it was cast from */
  uint32_t w;   /* number of the constant; 0: the weights are computed */
  bool biased;
  const wick_constant *bias;           /* NULL: it is computed */
  wick_elem elem;                      /* of the packed weights */
  int64_t k;                           /* products in a dot product */
  int64_t channels, wd[WICK_MAX_RANK]; /* of x; [O, C / group, window] */
  uint32_t nsp;                        /* spatial axes */
  int64_t area, group;                 /* places in the window */
  bool plain, depthwise, across;
  wick_order in, out;
  wick_runs runs;
} layout_conv;

/* Returns true if the weights can be packed when the program runs: there are no groups, or each
 * channel is one, and the channels of the image are in one part. */
bool wick_layout_conv_builds(const layout_conv *v);
/* Builds the packed weights (ops/nn/conv_packed.c). */
wick_value wick_layout_conv_built(wick_layouts *s, const layout_conv *v);
/* Builds the bias of the result, packed or plain. */
wick_value wick_layout_conv_bias(wick_layouts *s, const layout_conv *v);
/* Builds the weights of Winograd's algorithm for tiles of m. Returns 0 if it has no such tile. */
wick_value wick_layout_conv_transformed(wick_layouts *s, const layout_conv *v, int64_t m);

#endif
