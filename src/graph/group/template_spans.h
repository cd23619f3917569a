/* Splits long sums of floats into spans. The error of a sum grows with the number of terms that are
 * added to one state in sequence. Each span therefore has a state of its own, which is then added
 * to the sum (loop/schedule.h). This works with the loops of any template. */
#ifndef WICK_GRAPH_GROUP_TEMPLATE_SPANS_H
#define WICK_GRAPH_GROUP_TEMPLATE_SPANS_H

#include "loop/schedule.h"

/* Adds the steps to those of the templates. The result is legal. */
WICK_CHECKED wick_status wick_template_spans(wick_func *g, wick_arena *tmp, wick_text *steps);

#endif
