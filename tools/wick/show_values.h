/* Formats the elements of an array as NumPy prints them. */
#ifndef WICK_TOOLS_SHOW_VALUES_H
#define WICK_TOOLS_SHOW_VALUES_H

#include "base/str.h"

#include "tensor_io.h"

/* Adds the text that NumPy's str() gives for the array, with all elements and without a newline at
 * the end: brackets, columns of equal width, 75 characters a line. Floats have the fewest digits
 * that distinguish them from their neighbours, at most 8 after the point. */
void wick_show_values(const wick_array *a, wick_text *out, wick_arena *tmp);

#endif
