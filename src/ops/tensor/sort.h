/* Sorting inside loop nests: pairs of a key and a number, by the digits of the key. */
#ifndef WICK_OPS_TENSOR_SORT_H
#define WICK_OPS_TENSOR_SORT_H

#include "ops/elementwise/scalar.h"

enum { WICK_SORT_NSCRATCH = 3 };

typedef struct wick_sort {
  wick_elem elem;  /* of keys */
  uint32_t bits;   /* of a digit */
  uint32_t ndigit; /* of a key */
  /* Scratch of the walk: keys and numbers, i32, [2, most], of which row 0 is sorted; and how many
   * there are of each digit. */
  wick_value key, number, count;
} wick_sort;

/* The types of the scratch of a sort of at most `most` elements of type x. */
wick_sort wick_sort_of(wick_builder *b, wick_elem x, wick_dim most,
                       wick_type type[WICK_SORT_NSCRATCH]);
/* An unsigned number that rises as x does (least), or falls. NaN are equal, and above all else; so
 * are -0 and 0, to each other. */
wick_value wick_sort_key(wick_builder *b, const wick_sort *s, wick_value x, bool least);
void wick_sort_put(wick_builder *b, const wick_sort *s, wick_value place, wick_value key,
                   wick_value number);
wick_value wick_sort_number(wick_builder *b, const wick_sort *s, wick_value place); /* an i64 */
/* The first n pairs by rising keys, equal ones as they were; of them the first k are wanted. */
void wick_sort_run(wick_builder *b, const wick_sort *s, wick_value n, wick_value k);

#endif
