/* Suppression of boxes that overlap better ones, for formats whose rules the operator non_max_suppression
 * does not have: labels, sides that count whole pixels, a threshold that adapts. */
#ifndef WICK_IMPORT_KIT_SUPPRESS_H
#define WICK_IMPORT_KIT_SUPPRESS_H

#include "ir/build.h"

typedef struct wick_boxes {
  wick_value corners; /* [batch, count, (low, low, high, high)], the best box first */
  wick_value valid;   /* bool [batch, count]; the others are not kept, and suppress none */
  wick_value label; /* [batch, count]: only boxes of equal labels suppress each other; 0: all do */
  double overlap;   /* a box is suppressed if its overlap with a kept one is more than that */
  bool equal;       /* or as much */
  double side;      /* added to each side: 1 where corners are pixels that belong to the box */
  double eta; /* below 1: multiplies the threshold after each kept box while it is above 0.5 */
} wick_boxes;

/* Returns which boxes are kept, bool [batch, count]. Runs step by step, in time O(count^2). */
wick_value wick_boxes_kept(wick_builder *b, const wick_boxes *s);
/* Returns the order i64 [batch, count] in which the elements that are marked come first. */
wick_value wick_boxes_first(wick_builder *b, wick_value marked);
/* Returns the rows of x [batch, count, width] in an order i64 [batch, n]. */
wick_value wick_boxes_rows(wick_builder *b, wick_value x, wick_value order);

#endif
