/* Polynomials for the expansions of elementary functions. All that is built with them is free of
 * branches, so that it is the same on scalars and vectors, and of `fma` where the row does not say
 * otherwise, so that it is the same code on machines without it: products that must be exact are
 * products of numbers with few bits.
 *
 * Coefficients come from scripts/minimax.py: Remez' exchange in high precision, then rounding from
 * the lowest power up, each time with a new fit of the rest. */
#ifndef WICK_OPS_POLY_POLY_H
#define WICK_OPS_POLY_POLY_H

#include "ir/expr.h"
#include "ops/elementwise/scalar.h"

/* Coefficients from the lowest power up. */
typedef struct wick_poly {
  uint32_t n;
  double c[24];
} wick_poly;

/* The table of x's type: t[0] for f32, t[1] for f64. */
const wick_poly *wick_poly_of(wick_builder *b, wick_value x, const wick_poly *t);
/* c[0] + c[1] x + ..., by Horner's scheme. */
wick_value wick_poly_eval(wick_builder *b, wick_value x, const wick_poly *t);

#endif
