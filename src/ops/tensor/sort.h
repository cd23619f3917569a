/* Sorting inside loop nests: sorts pairs of a key and a number by the digits of the key. */
#ifndef WICK_OPS_TENSOR_SORT_H
#define WICK_OPS_TENSOR_SORT_H

#include "ops/elementwise/scalar.h"

enum { WICK_SORT_NSCRATCH = 3 };

typedef struct wick_sort {
  wick_elem elem;  /* type of the keys */
  uint32_t bits;   /* bits of a digit */
  uint32_t ndigit; /* digits of a key */
  /* Scratch memory of the loop nest: keys and numbers, i32, [2, most], whose row 0 is sorted; and
   * the count of each digit. */
  wick_value key, number, count;
} wick_sort;

/* Returns the types of the scratch memory for a sort of at most `most` elements of type x. */
wick_sort wick_sort_of(wick_builder *b, wick_elem x, wick_dim most,
                       wick_type type[WICK_SORT_NSCRATCH]);
/* Returns an unsigned number that rises as x does (least) or falls. All NaN are equal, and above
 * all other values. -0 and 0 are equal. */
wick_value wick_sort_key(wick_builder *b, const wick_sort *s, wick_value x, bool least);
void wick_sort_put(wick_builder *b, const wick_sort *s, wick_value place, wick_value key,
                   wick_value number);
/* returns an i64 */
wick_value wick_sort_number(wick_builder *b, const wick_sort *s, wick_value place);
/* Sorts the first n pairs by rising keys. The sort is stable. Only the first k pairs are needed. */
void wick_sort_run(wick_builder *b, const wick_sort *s, wick_value n, wick_value k);

#endif
