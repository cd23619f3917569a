/* Prints concrete tensors as programs of the language write them. */
#ifndef WICK_OPS_TENSOR_TEXT_H
#define WICK_OPS_TENSOR_TEXT_H

#include "base/string_table.h"
#include "ir/op.h"

/* Appends "[[1, 2], [3, 4]]", "2.5", "true"; a float with the fewest digits that read back to it.
 * `strings` has the elements of tensors of strings. */
void wick_tensor_text(const wick_string_table *strings, const wick_tensor *t, wick_text *out);

#endif
