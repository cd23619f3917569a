/* What a loop function's numbers are known to be at a point of it: differences of integers (i64) that
 * follow from how they are computed, and from the conditions that hold there. */
#ifndef WICK_LOOP_INTEGER_FACTS_H
#define WICK_LOOP_INTEGER_FACTS_H

#include "loop/differences.h"

typedef struct wick_integer_facts {
  const wick_func *f;
  const uint32_t *definer;
  wick_differences d;
} wick_integer_facts;

void wick_integer_facts_begin(wick_integer_facts *s, const wick_func *f, wick_arena *mem);

/* Returns true if the facts are about v: a number of type i64. */
bool wick_is_integer(const wick_integer_facts *s, wick_value v);
/* Returns the node that defines v, or NULL for a parameter. */
const wick_node *wick_integer_definer(const wick_integer_facts *s, wick_value v);

/* Adds what follows from the operator of n, which has no regions. */
void wick_integer_facts_define(wick_integer_facts *s, const wick_node *n);
/* Adds a <= b + c, and what follows from it for sums and maxima. */
void wick_integer_facts_add(wick_integer_facts *s, uint32_t a, uint32_t b, int64_t c);
/* Adds that v is in the interval. */
void wick_integer_facts_within(wick_integer_facts *s, wick_value v, wick_interval x);
/* Returns the bounds of x - y. */
wick_interval wick_integer_facts_apart(wick_integer_facts *s, wick_value x, wick_value y);
/* Adds that v is y, or a value whose distance from y is in the interval. */
void wick_integer_facts_beside(wick_integer_facts *s, wick_value v, wick_value y,
                               wick_interval apart);
/* Adds what follows if the condition v is true, or false. */
void wick_integer_facts_assume(wick_integer_facts *s, wick_value v, bool truth);

typedef enum wick_truth { WICK_UNKNOWN, WICK_FALSE, WICK_TRUE } wick_truth;
/* Returns what the facts imply for the condition v. */
wick_truth wick_integer_facts_truth(wick_integer_facts *s, wick_value v);

/* The comparison n of two integers holds, or does not hold, if a <= b + c. Returns false if n is no
 * such comparison. Value 0 is the number 0. */
bool wick_integer_comparison(const wick_integer_facts *s, const wick_node *n, bool holds,
                             wick_difference *out);

#endif
