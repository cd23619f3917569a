/* Windows that write instead of read: which windows contribute to an output, and with which of
 * their elements. The stages of transposed convolution and of col2im use it. */
#ifndef WICK_OPS_NN_WINDOW_SOURCE_H
#define WICK_OPS_NN_WINDOW_SOURCE_H

#include "ir/build.h"
#include "ops/nn/window.h"

/* For one spatial dimension and an index of the reduced axis: the window, and its element, that
 * contribute to an output. */
typedef struct wick_window_source {
  wick_axis axis;
  /* the window's index, which may be out of bounds; the element's index in the window */
  wick_dim x, w;
  wick_dim kernel; /* elements of a window; w may exceed them */
  wick_dim rest;   /* such a window exists only if this is 0 */
  bool exact;      /* rest is 0 and w is in bounds for all indices */
} wick_window_source;

wick_window_source wick_window_source_of(wick_builder *b, const wick_window *w, uint32_t k,
                                         wick_dim out);
/* Builds the condition that such an element exists in a window whose index is below `windows`.
 * Returns 0 if it always exists. */
wick_value wick_window_source_inside(wick_builder *b, const wick_window_source *m,
                                     wick_dim windows);

#endif
