/* Differences between integers that are known at a point of a function: a <= b + c for values a, b
 * and a number c. Value 0 is the number 0, so that bounds of a value are differences, too. A fact
 * holds until the scope in which it was added is left.
 *
 * Source: Bodik, Gupta and Sarkar 2000, "ABCD: eliminating array bounds checks on demand". */
#ifndef WICK_LOOP_DIFFERENCES_H
#define WICK_LOOP_DIFFERENCES_H

#include "base/arena.h"
#include "ir/ir.h"

typedef struct wick_difference {
  uint32_t a, b; /* a <= b + c */
  int64_t c;
  uint32_t next_of_a, next_of_b; /* the fact before in the lists of a and b */
} wick_difference;

typedef struct wick_differences {
  wick_arena *mem;
  wick_list(wick_difference) fact;   /* at[0] is unused */
  uint32_t *first_of_a, *first_of_b; /* per value: its last fact as a, as b; 0: none */
  /* of the current query, per value */
  uint32_t *query;
  int64_t *distance;
  uint32_t nquery;
} wick_differences;

void wick_differences_begin(wick_differences *d, uint32_t nvalue, wick_arena *mem);

/* Adds a <= b + c. */
void wick_difference_add(wick_differences *d, uint32_t a, uint32_t b, int64_t c);
void wick_difference_equal(wick_differences *d, uint32_t a, uint32_t b, int64_t c); /* a == b + c */

/* The facts that are added after a mark are forgotten by a rewind. */
static inline uint32_t wick_differences_mark(const wick_differences *d) { return d->fact.n; }
void wick_differences_rewind(wick_differences *d, uint32_t mark);

/* Finds the least c with a <= b + c, or the largest with a >= b + c, that the facts imply. Returns
 * false if there is none. A search visits a bounded number of facts, so that it may miss some. */
bool wick_difference_most(wick_differences *d, uint32_t a, uint32_t b, int64_t *out);
bool wick_difference_least(wick_differences *d, uint32_t a, uint32_t b, int64_t *out);

/* Returns the bounds of a; INT64_MIN and INT64_MAX if none are known. */
typedef struct wick_interval {
  int64_t lo, hi; /* both included */
} wick_interval;
wick_interval wick_difference_interval(wick_differences *d, uint32_t a);

#endif
