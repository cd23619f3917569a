/* Windows that write in place of reading: which windows reach an output, and by which of their
 * elements. For the stages of transposed convolution and its kin. */
#ifndef WICK_OPS_MEETING_H
#define WICK_OPS_MEETING_H

#include "ir/build.h"
#include "ops/window.h"

/* Along one spatial dimension: which window, and which element of it, the reduced axis' index meets
 * for an output. */
typedef struct wick_meeting {
  wick_axis axis;
  wick_dim x, w;   /* the window's number, which may lie outside; the element's in the window */
  wick_dim kernel; /* elements of a window: w may lie beyond */
  wick_dim rest;   /* there is such a window only where this is 0 */
  bool exact;      /* rest is 0 and w is in bounds for all indices */
} wick_meeting;

wick_meeting wick_meet(wick_builder *b, const wick_window *w, uint32_t k, wick_dim out);
/* The condition that there is such an element, of a window whose number is below `windows`; 0 where
 * it always is. */
wick_value wick_meeting_inside(wick_builder *b, const wick_meeting *m, wick_dim windows);

#endif
