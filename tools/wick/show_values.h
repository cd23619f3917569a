/* Formats the elements of an array as NumPy prints them. */
#ifndef WICK_TOOLS_SHOW_VALUES_H
#define WICK_TOOLS_SHOW_VALUES_H

#include "base/str.h"

#include "tensor_io.h"

/* Adds what NumPy's str() gives of the array, all elements and without a newline at the end:
 * brackets, columns of one width, 75 characters a line. Floats have the fewest digits that tell
 * them from their neighbours, at most 8 after the point. */
void wick_show_values(const wick_array *a, wick_text *out, wick_arena *tmp);

#endif
