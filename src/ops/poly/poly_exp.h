/* Exponentials and hyperbolic functions for expansions.
 *
 * The reduction is Cody and Waite's: x = n ln2 + r with a whole n and |r| <= ln2 / 2, where ln2 has
 * two parts and n times the first is exact. 2^n is applied by `mul_exp2`, or in two factors, each a
 * normal number, so that results below the normal range are rounded once. */
#ifndef WICK_OPS_POLY_POLY_EXP_H
#define WICK_OPS_POLY_POLY_EXP_H

#include "ops/poly/poly.h"

typedef struct wick_poly_scaled { /* m * s */
  wick_value m, s;
} wick_poly_scaled;

/* Builds e^(x + rest) for |x| up to 200 (f32) or 1400 (f64). `rest` is small compared with 1, and
 * may be 0. */
wick_poly_scaled wick_poly_exp_scaled(wick_builder *b, wick_value x, wick_value rest);
wick_value wick_poly_exp(wick_builder *b, wick_value x); /* for any x */

/* Builds e^x for x <= 40: for x <= 0 it is in (0, 1], or 0 after it underflows. */
wick_value wick_poly_exp_minus(wick_builder *b, wick_value x);

/* Returns the least number of which the power of e is a normal number. */
double wick_poly_exp_normal(wick_elem elem);
/* Builds e^x for x <= 40, and 0 for x below wick_poly_exp_normal. */
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
