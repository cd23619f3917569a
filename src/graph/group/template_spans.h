/* Long sums of floats come in spans: the error of a sum grows with the terms that are added to one
 * state one after another, so a state of its own takes each span of them, and is added to the sum
 * (loop/schedule.h). Whatever template has made the loops. */
#ifndef WICK_GRAPH_GROUP_TEMPLATE_SPANS_H
#define WICK_GRAPH_GROUP_TEMPLATE_SPANS_H

#include "loop/schedule.h"

/* Adds the steps to those of the templates, which are legal. */
WICK_CHECKED wick_status wick_template_spans(wick_func *g, wick_arena *tmp, wick_text *steps);

#endif
