/* Powers: 2^(y log2 |x|). The product needs more bits than the result: f32 is computed in f64, and
 * f64 in pairs of f64 (hi + lo, Dekker's arithmetic with fused multiply-add). Remainders: long
 * division, with a digit of many bits in each step. */
#include "ops/poly/poly_pow.h"

#include <math.h>

#include "ops/poly/poly_exp.h"
#include "ops/poly/poly_log.h"

/* ---- pairs ---- */

typedef struct pow_pair {
  wick_value hi, lo;
} pow_pair;

static wick_value pow_fma(wick_builder *b, wick_value x, wick_value y, wick_value z)
{
  return wick_build3(b, WICK_OP_fma, x, y, z);
}

/* Builds x + y + rest as a pair, where |x| >= |y| or x is 0. */
static pow_pair pow_sum(wick_builder *b, wick_value x, wick_value y, wick_value rest)
{
  wick_value hi = expr_add(b, x, y);
  return (pow_pair){hi, expr_add(b, expr_sub(b, y, expr_sub(b, hi, x)), rest)};
}

/* Builds x y as a pair, where y has one part. */
static pow_pair pow_times(wick_builder *b, pow_pair x, wick_value y)
{
  wick_value hi = expr_mul(b, x.hi, y);
  wick_value lo = pow_fma(b, x.hi, y, expr_neg(b, hi));
  return (pow_pair){hi, pow_fma(b, x.lo, y, lo)};
}

static pow_pair pow_product(wick_builder *b, pow_pair x, pow_pair y)
{
  pow_pair r = pow_times(b, x, y.hi);
  r.lo = pow_fma(b, x.hi, y.lo, r.lo);
  return r;
}

static pow_pair pow_constant(wick_builder *b, wick_value like, double hi, double lo)
{
  return (pow_pair){expr_k(b, like, hi), expr_k(b, like, lo)};
}

/* ---- log2 of f64 in two parts ---- */

/* 2 atanh s = 2 s + s^3 (2 / 3 + s^2 P(s^2)) for |s| <= 1/5; error 2^-55. */
static const wick_poly pow_atanh_table = {
    9,
    {0x1.999999999999ap-2, 0x1.2492492491f9p-2, 0x1.c71c71c865d72p-3, 0x1.745d1643c3d1bp-3,
     0x1.3b1414a4652p-3, 0x1.10fc377e4ba1p-3, 0x1.e6c0b0480dfeep-4, 0x1.625cce158f534p-4,
     0x1.c4d05e407fcc1p-3}};

/* Builds log2 x for x > 0. With s = f / (2 + f), log(1 + f) = 2 atanh s. The relative error is
 * 2^-64. */
static pow_pair pow_log2(wick_builder *b, wick_value x)
{
  wick_poly_split x2 = wick_poly_log_split(b, x);
  wick_value f = x2.f, two = expr_k(b, f, 2), below = expr_add(b, f, two);
  wick_value missing = expr_sub(b, f, expr_sub(b, below, two));
  pow_pair s;
  s.hi = expr_div(b, f, below);
  wick_value rest = pow_fma(b, expr_neg(b, s.hi), below, f);
  s.lo = expr_div(b, pow_fma(b, expr_neg(b, s.hi), missing, rest), below);
  pow_pair z = pow_product(b, s, s), cube = pow_product(b, z, s);
  wick_value p = wick_poly_eval(b, z.hi, &pow_atanh_table);
  wick_value tail = expr_mul(b, expr_mul(b, cube.hi, z.hi), p);
  pow_pair third =
      pow_product(b, cube, pow_constant(b, f, 0x1.5555555555555p-1, 0x1.5555555555555p-55));
  wick_value lo = expr_add(b, expr_add(b, s.lo, s.lo), expr_add(b, third.lo, tail));
  pow_pair log = pow_sum(b, expr_add(b, s.hi, s.hi), third.hi, lo);
  log = pow_sum(b, log.hi, log.lo, expr_k(b, f, 0));
  log = pow_product(b, log, pow_constant(b, f, M_LOG2E, 0x1.777d0ffda0d24p-56));
  log = pow_sum(b, x2.e, log.hi, log.lo);
  wick_value edge = expr_where(b, expr_eq(b, x, 0), expr_k(b, x, (double)-INFINITY), x);
  wick_value inside =
      wick_build2(b, WICK_OP_and, expr_gt(b, x, 0), expr_lt(b, x, (double)INFINITY));
  return (pow_pair){expr_where(b, inside, log.hi, edge), log.lo};
}

static wick_value pow_size64(wick_builder *b, wick_value x, wick_value y)
{
  pow_pair z = pow_times(b, pow_log2(b, x), y);
  wick_value inside = expr_lt(b, expr_abs(b, z.hi), 1100);
  return wick_poly_exp2_sum(b, z.hi, expr_where(b, inside, z.lo, expr_k(b, z.lo, 0)));
}

static wick_value pow_size32(wick_builder *b, wick_value x, wick_value y)
{
  wick_value log = wick_poly_log2(b, wick_build_cast(b, x, WICK_F64));
  wick_value z = expr_mul(b, log, wick_build_cast(b, y, WICK_F64));
  return wick_build_cast(b, wick_poly_exp2_sum(b, z, (wick_value){0}), WICK_F32);
}

static wick_value pow_is_whole(wick_builder *b, wick_value x)
{
  return wick_build2(b, WICK_OP_eq, x, wick_build1(b, WICK_OP_trunc, x));
}

wick_value wick_poly_pow(wick_builder *b, wick_value x, wick_value y)
{
  bool wide = wick_expr_format_of(b, x)->elem == WICK_F64;
  wick_value size = expr_abs(b, x);
  wick_value r = wide ? pow_size64(b, size, y) : pow_size32(b, size, y);
  /* 1 to any power, any number to the power 0, and -1 to an infinite power are 1 */
  wick_value unit = wick_build2(b, WICK_OP_and, expr_eq(b, size, 1),
                                expr_eq(b, expr_abs(b, y), (double)INFINITY));
  wick_value one = wick_build2(b, WICK_OP_or, expr_eq(b, x, 1), expr_eq(b, y, 0));
  one = wick_build2(b, WICK_OP_or, one, unit);
  r = expr_where(b, one, expr_k(b, r, 1), r);
  /* odd powers have the sign of x; a negative number to a fraction is NaN */
  wick_value whole = pow_is_whole(b, y), even = pow_is_whole(b, expr_mulk(b, y, 0.5));
  wick_value odd = wick_build2(b, WICK_OP_and, whole, wick_build1(b, WICK_OP_not, even));
  wick_value inside =
      wick_build2(b, WICK_OP_and, expr_lt(b, x, 0), expr_gt(b, x, (double)-INFINITY));
  wick_value none = wick_build2(b, WICK_OP_and, inside, wick_build1(b, WICK_OP_not, whole));
  none = wick_build2(b, WICK_OP_and, none, wick_build1(b, WICK_OP_not, one));
  wick_value s = expr_where(b, odd, wick_expr_with_sign(b, r, x), r);
  return expr_where(b, none, expr_k(b, r, (double)NAN), s);
}

/* ---- remainders ---- */

/* Reduces r by one digit of the quotient: r is below y 2^(bits of a digit), and r - trunc(r / y)
 * y is exact. The quotient may have been rounded up to the next whole number. */
static wick_value pow_digit(wick_builder *b, wick_value r, wick_value y, bool fused)
{
  wick_value q = wick_build1(b, WICK_OP_trunc, expr_div(b, r, y));
  wick_value next = fused ? pow_fma(b, expr_neg(b, q), y, r) : expr_sub(b, r, expr_mul(b, q, y));
  return expr_where(b, expr_lt(b, next, 0), expr_add(b, next, y), next);
}

/* f32 operands in f64, with digits of 28 bits: their products with 24 bits are exact. */
static wick_value pow_fmod32(wick_builder *b, wick_value x, wick_value y)
{
  wick_value r = x;
  for (int k = 9; k >= 0; k--) r = pow_digit(b, r, expr_mulk(b, y, ldexp(1, 28 * k)), false);
  return r;
}

/* Reduces r by the digit for the divisor `place`, unless that is infinite. */
static wick_value pow_digit64(wick_builder *b, wick_value r, wick_value place)
{
  wick_value next = pow_digit(b, r, place, true);
  return expr_where(b, expr_lt(b, place, (double)INFINITY), next, r);
}

/* f64 operands, with digits of 52 bits. The divisors are y 2^(52 k) for k from 40, which the
 * largest x and the smallest y need, down to 0. All digits except the first and the last are
 * computed by a loop, which carries r and 2^(26 k). Loops exist only at the loop level, so fmod
 * is expanded there. */
static wick_value pow_fmod64(wick_builder *b, wick_value x, wick_value y)
{
  enum { LAST = 39 };
  wick_value half = expr_k(b, y, ldexp(1, 26 * LAST));
  wick_value first = expr_mulk(b, expr_mul(b, expr_mul(b, y, half), half), 0x1p52);
  wick_value in[4] = {wick_build_i64(b, 0), wick_build_i64(b, LAST), pow_digit64(b, x, first),
                      half};
  if (b->status) return x;
  wick_type t[3] = {wick_built_type(b, in[0]), wick_built_type(b, in[2]), wick_built_type(b, half)};
  wick_build_open(b, WICK_OP_for, 4, in, NULL, 0, NULL);
  uint32_t index = wick_region_begin(b, 3, t).id;
  wick_value r = {index + 1}, scale = {index + 2}, next[2];
  next[0] = pow_digit64(b, r, expr_mul(b, expr_mul(b, y, scale), scale));
  next[1] = expr_mulk(b, scale, 0x1p-26);
  wick_yield(b, 2, next);
  return pow_digit(b, wick_build_close(b), y, true);
}

/* Quotients below this number are whole numbers of at most 23 or 52 bits. */
static double pow_short(wick_builder *b, wick_value x)
{
  return ldexp(1, (int)wick_expr_format_of(b, x)->mantissa);
}

/* The remainder of a magnitude by another, in as many digits as numbers of their type may need. */
static wick_value pow_fmod_long(wick_builder *b, wick_value size, wick_value by)
{
  if (wick_expr_format_of(b, size)->elem == WICK_F64) return pow_fmod64(b, size, by);
  wick_value x = wick_build_cast(b, size, WICK_F64), y = wick_build_cast(b, by, WICK_F64);
  return wick_build_cast(b, pow_fmod32(b, x, y), WICK_F32);
}

/* Most quotients have one digit. The others are left to a branch that is taken if any lane has one.
 * A divisor 0 (as in the lanes that a masked load leaves empty), NaN and an infinite x need no branch:
 * one digit makes NaN of them. */
wick_value wick_poly_fmod(wick_builder *b, wick_value x, wick_value y)
{
  wick_value size = expr_abs(b, x), by = expr_abs(b, y), r = pow_digit(b, size, by, true);
  wick_value numbers =
      wick_build2(b, WICK_OP_and, expr_lt(b, size, (double)INFINITY), expr_gt(b, by, 0));
  wick_value is_long =
      wick_build2(b, WICK_OP_ge, expr_div(b, size, by), expr_k(b, x, pow_short(b, x)));
  wick_value some = wick_build1(b, WICK_OP_any, wick_build2(b, WICK_OP_and, is_long, numbers));
  wick_if_begin(b, some, 1, &r);
  wick_value all = pow_fmod_long(b, size, by);
  wick_if_else(b, 1, &all);
  r = wick_if_end(b, 1, &r);
  /* x is the remainder by an infinite y */
  wick_value none = wick_build2(b, WICK_OP_and, expr_eq(b, by, (double)INFINITY),
                                expr_lt(b, size, (double)INFINITY));
  return wick_expr_with_sign(b, expr_abs(b, expr_where(b, none, size, r)), x);
}
