/* What a run has computed, for people: labels with their scores, or shapes and ranges. */
#ifndef WICK_TOOLS_SHOW_H
#define WICK_TOOLS_SHOW_H

#include "tensor_io.h"

enum { WICK_SHOW_TOP = 5 };

/* A line for each output. Where `labels` (of a model's metadata: "a,b,c", or a JSON list of
 * strings; NULL: none) has as many as the last output has classes, its WICK_SHOW_TOP best instead;
 * likewise of maps, by their keys. */
void wick_show(const wick_array *output, uint32_t n, const char *labels, wick_arena *tmp);

#endif
