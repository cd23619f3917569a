/* Exponentials: reduction, polynomial, scaling by exponent bits. */
#include "ops/poly/poly_exp.h"

#include <math.h>

/* ln2 in two parts: the first 15 bits (f32) or 33 bits (f64), and the rest. */
static const double exp_ln2[2][2] = {{0x1.62e4p-1, 0x1.7f7d1cp-20},
                                     {0x1.62e42feep-1, 0x1.a39ef35793c76p-33}};

/* e^r = 1 + r + r^2 P(r); errors 2^-28 and 2^-59, relative to e^r. */
static const wick_poly exp_table[2] = {
    {5, {0x1.fffffcp-2, 0x1.555482p-3, 0x1.555824p-5, 0x1.12449cp-7, 0x1.6b01e6p-10}},
    {11,
     {0x1p-1, 0x1.555555555555cp-3, 0x1.55555555554fap-5, 0x1.111111110e95fp-7,
      0x1.6c16c16c325ffp-10, 0x1.a01a01b4ab3f2p-13, 0x1.a01a0130235bbp-16, 0x1.71dded27f760dp-19,
      0x1.27e5bbb5007dap-22, 0x1.af7122c30dfe6p-26, 0x1.1e39a55037ef2p-29}},
};

/* The same; errors 2^-28 and 2^-59, relative to e^r - 1. */
static const wick_poly exp_expm1_table[2] = {
    {6, {0x1p-1, 0x1.555554p-3, 0x1.5554aap-5, 0x1.11118ep-7, 0x1.6d78d8p-10, 0x1.a0333ep-13}},
    {12,
     {0x1p-1, 0x1.5555555555555p-3, 0x1.5555555555559p-5, 0x1.1111111111104p-7,
      0x1.6c16c16c14bcbp-10, 0x1.a01a01a0211e1p-13, 0x1.a01a01ae5f57ap-16, 0x1.71de3a3bfcf14p-19,
      0x1.27e4ca9a68946p-22, 0x1.ae649c0c60e72p-26, 0x1.1f8dd41752901p-29, 0x1.612833947317ep-33}},
};

/* sinh r = r + r^3 P(r^2), cosh r = 1 + r^2 P(r^2); relative errors 2^-34 and 2^-65. */
static const wick_poly exp_sinh_table[2] = {
    {3, {0x1.555556p-3, 0x1.110fc2p-7, 0x1.a2d6b2p-13}},
    {6,
     {0x1.5555555555555p-3, 0x1.111111111137cp-7, 0x1.a01a019eada41p-13, 0x1.71de402fcf5a3p-19,
      0x1.ae4e722ccf54ap-26, 0x1.7fda341651662p-33}},
};
static const wick_poly exp_cosh_table[2] = {
    {3, {0x1p-1, 0x1.5554e2p-5, 0x1.6d54dp-10}},
    {6,
     {0x1p-1, 0x1.5555555555558p-5, 0x1.6c16c16c14f95p-10, 0x1.a01a01adbcbedp-16,
      0x1.27e4cb5531e15p-22, 0x1.1f8d4ae74ed06p-29}},
};

/* e^x is 0 below [0] and inf above [1]. sinh and cosh are inf from [2] on. e^-[3] is lost when
 * it is added to 1. */
static const double exp_range[2][4] = {{-104, 89, 89.6, 40}, {-746, 710, 710.6, 80}};

static uint32_t exp_wide(wick_builder *b, wick_value x)
{
  return wick_expr_format_of(b, x)->elem == WICK_F64;
}

wick_value wick_poly_exp2i(wick_builder *b, wick_value like, wick_value k)
{
  const wick_expr_format *f = wick_expr_format_of(b, like);
  wick_value biased = expr_add(b, k, wick_expr_int(b, k, f->bias));
  return wick_expr_from_bits(b, wick_expr_shl(b, biased, f->mantissa));
}

/* The first half of the reduction for e^x: r, and n as a float. `shifted` is n + magic, whose low
 * bits are n. */
typedef struct exp_reduced {
  wick_value n, shifted, r;
} exp_reduced;

static void exp_nearest(wick_builder *b, wick_value shifted, exp_reduced *out)
{
  out->shifted = shifted;
  out->n = expr_sub(b, shifted, expr_k(b, shifted, wick_expr_format_of(b, shifted)->magic));
}

/* Returns n as an integer. */
static wick_value exp_integer(wick_builder *b, const exp_reduced *e)
{
  wick_value magic = expr_k(b, e->shifted, wick_expr_format_of(b, e->shifted)->magic);
  wick_value bits = wick_expr_bits(b, e->shifted);
  return expr_sub(b, bits, wick_expr_bits(b, magic));
}

static exp_reduced exp_reduce(wick_builder *b, wick_value x, wick_value rest)
{
  const double *ln2 = exp_ln2[exp_wide(b, x)];
  exp_reduced e;
  wick_value magic = expr_k(b, x, wick_expr_format_of(b, x)->magic);
  wick_value sum = rest.id ? expr_add(b, x, rest) : x;
  exp_nearest(b, expr_mad(b, sum, expr_k(b, x, M_LOG2E), magic), &e);
  e.r = expr_mad(b, e.n, expr_k(b, x, -ln2[0]), x);
  if (rest.id) e.r = expr_add(b, e.r, rest);
  e.r = expr_mad(b, e.n, expr_k(b, x, -ln2[1]), e.r);
  return e;
}

/* r + r (r P(r)): the square of a tiny r would be below the normal range. */
static wick_value exp_minus_one(wick_builder *b, wick_value r, const wick_poly *table)
{
  wick_value p = wick_poly_eval(b, r, wick_poly_of(b, r, table));
  return expr_mad(b, expr_mul(b, r, p), r, r);
}

/* Builds e^r 2^n. */
static wick_value exp_whole(wick_builder *b, const exp_reduced *e)
{
  wick_value in[2] = {expr_addk(b, exp_minus_one(b, e->r, exp_table), 1), e->shifted};
  return wick_build(b, WICK_OP_mul_exp2, 2, in, NULL, 0, NULL);
}

wick_value wick_poly_exp_within(wick_builder *b, wick_value x, wick_value rest)
{
  exp_reduced e = exp_reduce(b, x, rest);
  wick_value s = wick_poly_exp2i(b, x, exp_integer(b, &e));
  return expr_mad(b, exp_minus_one(b, e.r, exp_table), s, s);
}

wick_value wick_poly_exp(wick_builder *b, wick_value x)
{
  const double *range = exp_range[exp_wide(b, x)];
  x = expr_at_most(b, expr_at_least(b, x, range[0]), range[1]);
  exp_reduced e = exp_reduce(b, x, (wick_value){0});
  return exp_whole(b, &e);
}

double wick_poly_exp_least(wick_elem elem)
{
  return elem == WICK_F64 ? -0x1.6232bdd7abcd1p+9 : -0x1.5d589ep+6;
}

wick_value wick_poly_exp_flushed(wick_builder *b, wick_value x)
{
  double least = wick_poly_exp_least(wick_expr_format_of(b, x)->elem);
  wick_value is_lost = expr_lt(b, x, least), zero = expr_k(b, x, 0);
  x = expr_at_most(b, expr_at_least(b, x, least), WICK_POLY_EXP_MOST);
  return expr_where(b, is_lost, zero, wick_poly_exp_within(b, x, (wick_value){0}));
}

/* 2^x = 2^n e^(r ln2), where r = x - n is exact. */

wick_value wick_poly_exp2_sum(wick_builder *b, wick_value x, wick_value rest)
{
  const double *range = exp_range[exp_wide(b, x)];
  x = expr_at_least(b, x, floor(range[0] * M_LOG2E));
  x = expr_at_most(b, x, ceil(range[1] * M_LOG2E));
  exp_reduced e;
  exp_nearest(b, expr_add(b, x, expr_k(b, x, wick_expr_format_of(b, x)->magic)), &e);
  wick_value r = expr_sub(b, x, e.n); /* exact */
  if (rest.id) r = expr_add(b, r, rest);
  e.r = expr_mulk(b, r, M_LN2);
  return exp_whole(b, &e);
}

wick_value wick_poly_exp2(wick_builder *b, wick_value x)
{
  return wick_poly_exp2_sum(b, x, (wick_value){0});
}

/* 2^k q + (2^k - 1), where q = e^r - 1. Half of it is computed first, so that 2^128 does not
 * overflow. */
wick_value wick_poly_expm1(wick_builder *b, wick_value x)
{
  const double *range = exp_range[exp_wide(b, x)];
  const wick_expr_format *f = wick_expr_format_of(b, x);
  wick_value z = expr_at_most(b, expr_at_least(b, x, -range[3]), range[1]);
  exp_reduced e = exp_reduce(b, z, (wick_value){0});
  wick_value q = exp_minus_one(b, e.r, exp_expm1_table);
  wick_value k = exp_integer(b, &e);
  wick_value s = wick_poly_exp2i(b, x, expr_sub(b, k, wick_expr_int(b, k, 1)));
  wick_value y = expr_mulk(b, expr_mad(b, s, q, expr_addk(b, s, -0.5)), 2);
  wick_value is_tiny = expr_lt(b, expr_abs(b, x), ldexp(1, -(int)f->mantissa - 2));
  /* Also for -0, and for numbers that would lose bits when they are halved. */
  return expr_where(b, is_tiny, x, y);
}

wick_value wick_poly_expm1_minus(wick_builder *b, wick_value x)
{
  x = expr_at_least(b, x, -exp_range[exp_wide(b, x)][3]);
  exp_reduced e = exp_reduce(b, x, (wick_value){0});
  wick_value s = wick_poly_exp2i(b, x, exp_integer(b, &e));
  return expr_mad(b, s, exp_minus_one(b, e.r, exp_expm1_table), expr_addk(b, s, -1));
}

/* ---- hyperbolic functions ---- */

/* With a = 2^(n-2), c = 2^(-n-2) and |x| = n ln2 + r:
 * sinh |x| = 2 ((a + c) sinh r + (a - c) cosh r), cosh |x| = 2 ((a + c) cosh r + (a - c) sinh r).
 */
wick_value wick_poly_hyperbolic(wick_builder *b, wick_value x, bool sine)
{
  wick_value size = expr_at_most(b, expr_abs(b, x), exp_range[exp_wide(b, x)][2]);
  exp_reduced e = exp_reduce(b, size, (wick_value){0});
  wick_value k = exp_integer(b, &e), two = wick_expr_int(b, k, 2), few = wick_expr_int(b, k, 100);
  wick_value low = expr_where(b, wick_build2(b, WICK_OP_lt, k, few), k, few);
  wick_value a = wick_poly_exp2i(b, x, expr_sub(b, k, two));
  wick_value c = wick_poly_exp2i(b, x, expr_neg(b, expr_add(b, low, two)));
  wick_value r2 = expr_mul(b, e.r, e.r), sum = expr_add(b, a, c), difference = expr_sub(b, a, c);
  wick_value s = wick_poly_eval(b, r2, wick_poly_of(b, x, exp_sinh_table));
  s = expr_mad(b, expr_mul(b, e.r, r2), s, e.r);
  wick_value h = wick_poly_eval(b, r2, wick_poly_of(b, x, exp_cosh_table));
  h = expr_mad(b, r2, h, expr_k(b, x, 1));
  wick_value y = sine ? expr_mad(b, sum, s, expr_mul(b, difference, h))
                      : expr_mad(b, difference, s, expr_mul(b, sum, h));
  y = expr_mulk(b, y, 2);
  return sine ? wick_expr_with_sign(b, y, x) : y;
}

/* tanh |x| = -q / (q + 2) with q = e^(-2|x|) - 1. Nothing overflows or cancels. */
wick_value wick_poly_tanh(wick_builder *b, wick_value x)
{
  wick_value q = wick_poly_expm1_minus(b, expr_mulk(b, expr_abs(b, x), -2));
  return wick_expr_with_sign(b, expr_abs(b, expr_div(b, q, expr_addk(b, q, 2))), x);
}
