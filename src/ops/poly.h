/* Expressions for the expansions of elementary functions: short names for building nodes, tables of
 * coefficients per type, and the pieces that several functions share. All is free of branches, so
 * that it is the same on scalars and vectors, and of `fma`, so that it is the same code on machines
 * without it: products that must be exact are products of numbers with few bits.
 *
 * Coefficients come from scripts/minimax.py: Remez' exchange in high precision, then rounding from
 * the lowest power up, each time with a new fit of the rest. */
#ifndef WICK_OPS_POLY_H
#define WICK_OPS_POLY_H

#include "ops/scalar.h"

/* Coefficients from the lowest power up. */
typedef struct wick_poly {
  uint32_t n;
  double c[24];
} wick_poly;

static inline wick_value poly_k(wick_builder *b, wick_value like, double c)
{
  return wick_build_like(b, like, c);
}
static inline wick_value poly_add(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_add, x, y);
}
static inline wick_value poly_sub(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_sub, x, y);
}
static inline wick_value poly_mul(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_mul, x, y);
}
static inline wick_value poly_div(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_div, x, y);
}
/* x * y + z, fused or not. */
static inline wick_value poly_mad(wick_builder *b, wick_value x, wick_value y, wick_value z)
{
  return wick_build3(b, WICK_OP_muladd, x, y, z);
}
static inline wick_value poly_neg(wick_builder *b, wick_value x)
{
  return wick_build1(b, WICK_OP_neg, x);
}
static inline wick_value poly_abs(wick_builder *b, wick_value x)
{
  return wick_build1(b, WICK_OP_abs, x);
}
static inline wick_value poly_where(wick_builder *b, wick_value c, wick_value x, wick_value y)
{
  return wick_build3(b, WICK_OP_where, c, x, y);
}
/* x * c, x + c, and comparisons of x with c. */
static inline wick_value poly_mulk(wick_builder *b, wick_value x, double c)
{
  return poly_mul(b, x, poly_k(b, x, c));
}
static inline wick_value poly_addk(wick_builder *b, wick_value x, double c)
{
  return poly_add(b, x, poly_k(b, x, c));
}
static inline wick_value poly_lt(wick_builder *b, wick_value x, double c)
{
  return wick_build2(b, WICK_OP_lt, x, poly_k(b, x, c));
}
static inline wick_value poly_gt(wick_builder *b, wick_value x, double c)
{
  return wick_build2(b, WICK_OP_gt, x, poly_k(b, x, c));
}
static inline wick_value poly_eq(wick_builder *b, wick_value x, double c)
{
  return wick_build2(b, WICK_OP_eq, x, poly_k(b, x, c));
}
/* x within a bound; NaN stays NaN. */
static inline wick_value poly_at_least(wick_builder *b, wick_value x, double c)
{
  return poly_where(b, poly_lt(b, x, c), poly_k(b, x, c), x);
}
static inline wick_value poly_at_most(wick_builder *b, wick_value x, double c)
{
  return poly_where(b, poly_gt(b, x, c), poly_k(b, x, c), x);
}

/* What depends on f32 or f64. */
typedef struct wick_poly_format {
  wick_elem elem, bits; /* the type, and the signed integer of its size */
  uint32_t mantissa;    /* stored bits of the fraction */
  int64_t bias;
  double magic; /* 1.5 * 2^mantissa: x + magic has x rounded to a whole number in its low bits */
} wick_poly_format;
const wick_poly_format *wick_poly_format_of(wick_builder *b, wick_value x);

/* The table of x's type: t[0] for f32, t[1] for f64. */
const wick_poly *wick_poly_of(wick_builder *b, wick_value x, const wick_poly *t);
/* c[0] + c[1] x + ..., by Horner's scheme. */
wick_value wick_poly_eval(wick_builder *b, wick_value x, const wick_poly *t);

wick_value wick_poly_bits(wick_builder *b, wick_value x);              /* a float's bits */
wick_value wick_poly_from_bits(wick_builder *b, wick_value x);         /* and back */
wick_value wick_poly_int(wick_builder *b, wick_value like, int64_t i); /* an integer constant */
wick_value wick_poly_shl(wick_builder *b, wick_value x, uint32_t n);
wick_value wick_poly_shr(wick_builder *b, wick_value x, uint32_t n);
/* x with the sign of `sign`; x is not negative. */
wick_value wick_poly_with_sign(wick_builder *b, wick_value x, wick_value sign);
/* x with the upper half of its mantissa alone, so that its square is exact. */
wick_value wick_poly_upper(wick_builder *b, wick_value x);

#endif
