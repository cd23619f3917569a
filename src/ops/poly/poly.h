/* Polynomials for the expansions of elementary functions. The expansions have no branches, so that
 * they are the same for scalars and vectors. They do not use `fma` unless the operator says
 * otherwise, so that machines without it run the same code. Products that must be exact are
 * therefore products of numbers with few bits.
 *
 * Coefficients come from scripts/minimax.py, which uses Remez' exchange in high precision. It then
 * rounds the coefficients from the lowest power up, each time with a new fit of the rest. */
#ifndef WICK_OPS_POLY_POLY_H
#define WICK_OPS_POLY_POLY_H

#include "ir/expr.h"
#include "ops/elementwise/scalar.h"

/* Coefficients from the lowest power up. */
typedef struct wick_poly {
  uint32_t n;
  double c[24];
} wick_poly;

/* Returns the polynomial for the type of x: t[0] for f32, t[1] for f64. */
const wick_poly *wick_poly_of(wick_builder *b, wick_value x, const wick_poly *t);
/* Builds c[0] + c[1] x + ... by Horner's scheme. */
wick_value wick_poly_eval(wick_builder *b, wick_value x, const wick_poly *t);

#endif
