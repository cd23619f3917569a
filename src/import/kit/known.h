/* What is known of values while a function is built. */
#ifndef WICK_IMPORT_KIT_KNOWN_H
#define WICK_IMPORT_KIT_KNOWN_H

#include "ir/build.h"

/* Returns the node that defines a value, or NULL for parameters of the function or a region. */
const wick_node *wick_emit_definer(const wick_builder *b, wick_value v);

/* Computes a small value (at most 4096 elements) that depends only on constants and known sizes.
 * Its data live in `tmp`. Returns false if these do not determine it. */
bool wick_known_value(wick_builder *b, wick_arena *tmp, wick_value v, wick_tensor *out);
/* The same for up to 2^26 elements: initial values. */
bool wick_known_large(wick_builder *b, wick_arena *tmp, wick_value v, wick_tensor *out);
/* The same if it may depend on strings, whose elements are their numbers in the module's table. */
bool wick_known_text(wick_builder *b, wick_arena *tmp, wick_value v, wick_tensor *out);

#endif
