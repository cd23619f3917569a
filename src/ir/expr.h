/* Short names for building expressions of elements, for operators and passes that build many. They
 * work at every level, on tensors, scalars and vectors. */
#ifndef WICK_IR_EXPR_H
#define WICK_IR_EXPR_H

#include "ir/build.h"

/* A constant of like's type. */
static inline wick_value expr_k(wick_builder *b, wick_value like, double c)
{
  return wick_build_like(b, like, c);
}
static inline wick_value expr_add(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_add, x, y);
}
static inline wick_value expr_sub(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_sub, x, y);
}
static inline wick_value expr_mul(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_mul, x, y);
}
static inline wick_value expr_div(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_div, x, y);
}
/* x * y + z, fused or not. */
static inline wick_value expr_mad(wick_builder *b, wick_value x, wick_value y, wick_value z)
{
  return wick_build3(b, WICK_OP_muladd, x, y, z);
}
static inline wick_value expr_neg(wick_builder *b, wick_value x)
{
  return wick_build1(b, WICK_OP_neg, x);
}
static inline wick_value expr_abs(wick_builder *b, wick_value x)
{
  return wick_build1(b, WICK_OP_abs, x);
}
static inline wick_value expr_where(wick_builder *b, wick_value c, wick_value x, wick_value y)
{
  return wick_build3(b, WICK_OP_where, c, x, y);
}
/* x * c, x + c, and comparisons of x with c. */
static inline wick_value expr_mulk(wick_builder *b, wick_value x, double c)
{
  return expr_mul(b, x, expr_k(b, x, c));
}
static inline wick_value expr_addk(wick_builder *b, wick_value x, double c)
{
  return expr_add(b, x, expr_k(b, x, c));
}
static inline wick_value expr_lt(wick_builder *b, wick_value x, double c)
{
  return wick_build2(b, WICK_OP_lt, x, expr_k(b, x, c));
}
static inline wick_value expr_gt(wick_builder *b, wick_value x, double c)
{
  return wick_build2(b, WICK_OP_gt, x, expr_k(b, x, c));
}
static inline wick_value expr_eq(wick_builder *b, wick_value x, double c)
{
  return wick_build2(b, WICK_OP_eq, x, expr_k(b, x, c));
}
/* x limited by a bound; NaN stays NaN. */
static inline wick_value expr_at_least(wick_builder *b, wick_value x, double c)
{
  return expr_where(b, expr_lt(b, x, c), expr_k(b, x, c), x);
}
static inline wick_value expr_at_most(wick_builder *b, wick_value x, double c)
{
  return expr_where(b, expr_gt(b, x, c), expr_k(b, x, c), x);
}

/* The constants of the formats f32 and f64. */
typedef struct wick_expr_format {
  wick_elem elem, bits; /* the type, and the signed integer of its size */
  uint32_t mantissa;    /* stored bits of the fraction */
  int64_t bias;
  double magic; /* 1.5 * 2^mantissa: x + magic has x rounded to a whole number in its low bits */
} wick_expr_format;
const wick_expr_format *wick_expr_format_of(wick_builder *b, wick_value x);

wick_value wick_expr_bits(wick_builder *b, wick_value x);              /* a float's bits */
wick_value wick_expr_from_bits(wick_builder *b, wick_value x);         /* the reverse */
wick_value wick_expr_int(wick_builder *b, wick_value like, int64_t i); /* an integer constant */
wick_value wick_expr_shl(wick_builder *b, wick_value x, uint32_t n);
wick_value wick_expr_shr(wick_builder *b, wick_value x, uint32_t n);
/* x with the sign of `sign`; x is not negative. */
wick_value wick_expr_with_sign(wick_builder *b, wick_value x, wick_value sign);
/* x with only the upper half of its mantissa, so that its square is exact. */
wick_value wick_expr_upper(wick_builder *b, wick_value x);

#endif
