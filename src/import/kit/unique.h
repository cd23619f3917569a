/* The different elements of a vector, for importers. */
#ifndef WICK_IMPORT_KIT_UNIQUE_H
#define WICK_IMPORT_KIT_UNIQUE_H

#include "import/kit/import.h"

/* Sorts a vector of that size, stably: the positions; the sorted elements are x at them. */
wick_value wick_array_order(wick_import_node *n, wick_value x, wick_dim size);
/* Writes x [n] to the positions [n], which are a permutation. */
wick_value wick_array_put(wick_import_node *n, wick_value position, wick_value x);

typedef struct wick_unique {
  wick_value
      values; /* in the order in which they occur first; `count` of them (wick_import_bounded) */
  wick_value number; /* [n], i64: for each element of x, its number among the values */
  wick_value count;  /* of rank 0 */
} wick_unique;

/* x is a vector. Returns false after a failure: strings and truth values have no order. */
bool wick_array_unique(wick_import_node *n, wick_value x, wick_unique *out);

#endif
