/* Polynomials: the choice of the coefficient table by type, and Horner's scheme. */
#include "ops/poly/poly.h"

const wick_poly *wick_poly_of(wick_builder *b, wick_value x, const wick_poly *t)
{
  return &t[wick_expr_format_of(b, x)->elem == WICK_F64];
}

wick_value wick_poly_eval(wick_builder *b, wick_value x, const wick_poly *t)
{
  wick_value r = expr_k(b, x, t->c[t->n - 1]);
  for (uint32_t i = t->n - 1; i-- > 0;) r = expr_mad(b, r, x, expr_k(b, x, t->c[i]));
  return r;
}
