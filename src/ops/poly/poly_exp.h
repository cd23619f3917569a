/* Exponentials and hyperbolic functions for expansions.
 *
 * The reduction is Cody and Waite's: x = n ln2 + r with a whole n and |r| <= ln2 / 2, where ln2 has
 * two parts and n times the first is exact. `mul_exp2` applies 2^n. */
#ifndef WICK_OPS_POLY_POLY_EXP_H
#define WICK_OPS_POLY_POLY_EXP_H

#include "ops/poly/poly.h"

wick_value wick_poly_exp(wick_builder *b, wick_value x); /* for any x */

enum { WICK_POLY_EXP_MOST = 40 };

/* Returns the least number of which the power of e is a normal number. Minus that, its power is
 * finite. */
double wick_poly_exp_least(wick_elem elem);
/* Builds e^(x + rest) for a sum from wick_poly_exp_least to minus that. `rest` is small compared
 * with 1, and may be 0. */
wick_value wick_poly_exp_within(wick_builder *b, wick_value x, wick_value rest);
/* Builds e^x, where x above 40 counts as 40, and 0 for x below wick_poly_exp_least: numbers below the normal range are
 * never computed, because a vector of them takes 300 ns on many of x86's processors, and so does
 * each product that reads it. */
wick_value wick_poly_exp_flushed(wick_builder *b, wick_value x);

/* Builds e^x - 1 for x <= 0. */
wick_value wick_poly_expm1_minus(wick_builder *b, wick_value x);

/* Builds 2^(x + rest). `rest` is small compared with 1, and may be 0. */
wick_value wick_poly_exp2_sum(wick_builder *b, wick_value x, wick_value rest);
wick_value wick_poly_exp2(wick_builder *b, wick_value x);
wick_value wick_poly_expm1(wick_builder *b, wick_value x);
wick_value wick_poly_tanh(wick_builder *b, wick_value x);
wick_value wick_poly_hyperbolic(wick_builder *b, wick_value x, bool sine); /* sinh or cosh */

/* Builds 2^k as a float, for an integer k whose power is a normal number. */
wick_value wick_poly_exp2i(wick_builder *b, wick_value like, wick_value k);

#endif
