/* Logarithms: x = 2^e (1 + f) with 1 + f in [2/3, 4/3), log x = e ln2 + log(1 + f), and a
 * polynomial for the last. ln2 has two parts, so that e times the first is exact (Cody and Waite).
 */
#include "ops/poly/poly_log.h"

#include <math.h>

/* log(1 + f) = f - f^2 / 2 + f^3 P(f); relative errors 2^-27 and 2^-58. */
static const wick_poly log_table[2] = {
    {8,
     {0x1.555506p-2, -0x1.fffefp-3, 0x1.99d028p-3, -0x1.559dc8p-3, 0x1.1ed72p-3, -0x1.f311a8p-4,
      0x1.1e6688p-3, -0x1.0804ap-3}},
    {20,
     {0x1.5555555555538p-2, -0x1.fffffffffff36p-3, 0x1.99999999a009ap-3, -0x1.55555555650f2p-3,
      0x1.24924920b8e42p-3, -0x1.fffffff10824dp-4, 0x1.c71c7409676f3p-4, -0x1.99999d535324p-4,
      0x1.745cb6605371bp-4, -0x1.5554c8623fe3fp-4, 0x1.3b1dacadc4228p-4, -0x1.249f6e380598cp-4,
      0x1.106a043326a73p-4, -0x1.fe6a67811db01p-5, 0x1.efb6ab41ac306p-5, -0x1.d6cbe0f2af31p-5,
      0x1.563d24cd9231ap-5, -0x1.3a7fa8db29634p-5, 0x1.5bfc5d1ffdd48p-4, -0x1.555fe11ad0f36p-4}},
};

static const double log_ln2[2][2] = {{0x1.62e4p-1, 0x1.7f7d1cp-20},
                                     {0x1.62e42feep-1, 0x1.a39ef35793c76p-33}};

/* Converts an integer of few bits to a float, by placing its bits in the fraction of a sum. */
static wick_value log_small_float(wick_builder *b, wick_value k, double magic, wick_value like)
{
  wick_value m = expr_k(b, like, magic);
  wick_value sum = expr_add(b, k, wick_expr_bits(b, m));
  return expr_sub(b, wick_expr_from_bits(b, sum), m);
}

/* Splits a positive normal number; `offset` is added to e. */
static wick_poly_split log_split_normal(wick_builder *b, wick_value x, wick_value offset)
{
  const wick_expr_format *f = wick_expr_format_of(b, x);
  wick_value bits = wick_expr_bits(b, x);
  int64_t two_thirds = (f->bias - 1) << f->mantissa | ((int64_t)1 << f->mantissa) / 3;
  wick_poly_split s;
  s.k = wick_expr_shr(b, expr_sub(b, bits, wick_expr_int(b, bits, two_thirds)), f->mantissa);
  wick_value m = expr_sub(b, bits, wick_expr_shl(b, s.k, f->mantissa));
  s.f = expr_addk(b, wick_expr_from_bits(b, m), -1);
  s.e = log_small_float(b, s.k, f->magic, x);
  if (offset.id) s.e = expr_add(b, s.e, offset);
  return s;
}

/* log(1 + f) - f, which is f^2 (f P(f) - 1/2). */
static wick_value log_tail(wick_builder *b, wick_value f)
{
  wick_value p = wick_poly_eval(b, f, wick_poly_of(b, f, log_table));
  return expr_mul(b, expr_mul(b, f, f), expr_mad(b, p, f, expr_k(b, f, -0.5)));
}

static wick_value log_sum(wick_builder *b, const wick_poly_split *s)
{
  const double *ln2 = log_ln2[wick_expr_format_of(b, s->f)->elem == WICK_F64];
  wick_value rest = expr_mad(b, s->e, expr_k(b, s->f, ln2[1]), log_tail(b, s->f));
  return expr_mad(b, s->e, expr_k(b, s->f, ln2[0]), expr_add(b, s->f, rest));
}

/* Returns y for zero < x < inf, -inf at zero, NaN below it, and x itself for inf and NaN. */
static wick_value log_domain(wick_builder *b, wick_value x, double zero, wick_value y)
{
  wick_value edge = expr_where(b, expr_eq(b, x, zero), expr_k(b, x, (double)-INFINITY),
                               expr_k(b, x, (double)NAN));
  y = expr_where(b, expr_lt(b, x, (double)INFINITY), y, x);
  return expr_where(b, wick_build2(b, WICK_OP_le, x, expr_k(b, x, zero)), edge, y);
}

/* Numbers below the normal range are scaled into it first. */
wick_poly_split wick_poly_log_split(wick_builder *b, wick_value x)
{
  const wick_expr_format *f = wick_expr_format_of(b, x);
  double up = (int)f->mantissa + 1;
  wick_value small = expr_lt(b, x, ldexp(1, 1 - (int)f->bias));
  wick_value scaled = expr_where(b, small, expr_mulk(b, x, ldexp(1, (int)up)), x);
  return log_split_normal(b, scaled, expr_where(b, small, expr_k(b, x, -up), expr_k(b, x, 0)));
}

wick_value wick_poly_log(wick_builder *b, wick_value x)
{
  wick_poly_split s = wick_poly_log_split(b, x);
  return log_domain(b, x, 0, log_sum(b, &s));
}

wick_value wick_poly_log2(wick_builder *b, wick_value x)
{
  wick_poly_split s = wick_poly_log_split(b, x);
  wick_value natural = expr_add(b, s.f, log_tail(b, s.f));
  return log_domain(b, x, 0, expr_mad(b, natural, expr_k(b, x, M_LOG2E), s.e));
}

/* Builds log(1 + x). 1 + x = u + c exactly, and with u = 2^e (1 + g), f is g + c / 2^e. For
 * small x, e is 0 and f is x. */
static wick_value log_one_plus(wick_builder *b, wick_value x)
{
  const wick_expr_format *format = wick_expr_format_of(b, x);
  wick_value one = expr_k(b, x, 1), u = expr_add(b, x, one), part = expr_sub(b, u, one);
  wick_value c = expr_add(b, expr_sub(b, one, expr_sub(b, u, part)), expr_sub(b, x, part));
  wick_poly_split s = log_split_normal(b, u, (wick_value){0});
  wick_value few = wick_expr_int(b, s.k, 100); /* above, c does not matter */
  wick_value k = expr_where(b, wick_build2(b, WICK_OP_lt, s.k, few), s.k, few);
  wick_value biased = expr_sub(b, wick_expr_int(b, k, format->bias), k);
  wick_value down = wick_expr_from_bits(b, wick_expr_shl(b, biased, format->mantissa));
  s.f = expr_mad(b, c, down, s.f);
  return log_sum(b, &s);
}

/* log(1 + x) is x below that, and the square of x, which may be below the normal range, is not
 * computed. */
static double log_tiny(wick_builder *b, wick_value x)
{
  return ldexp(1, -(int)wick_expr_format_of(b, x)->mantissa - 3);
}

wick_value wick_poly_log1p(wick_builder *b, wick_value x)
{
  double tiny = log_tiny(b, x);
  wick_value is_tiny = expr_lt(b, expr_abs(b, x), tiny); /* also -0 */
  wick_value z = expr_where(b, is_tiny, expr_k(b, x, tiny), x);
  return expr_where(b, is_tiny, x, log_domain(b, z, -1, log_one_plus(b, z)));
}

wick_value wick_poly_log1p_unit(wick_builder *b, wick_value x)
{
  double tiny = log_tiny(b, x);
  wick_value y = log_one_plus(b, expr_at_least(b, x, tiny));
  return expr_where(b, expr_lt(b, x, tiny), x, y);
}

/* ---- inverse hyperbolic functions ---- */

/* From here on x^2 + 1 rounds to x^2. log(2 x) is used instead, so that nothing overflows. */
static double log_large(wick_builder *b, wick_value x)
{
  return ldexp(1, (int)wick_expr_format_of(b, x)->mantissa / 2 + 3);
}

/* Builds log(1 + w), or log(2 + 2 t) for large t. */
static wick_value log_of_two(wick_builder *b, wick_value t, wick_value w)
{
  wick_value large = expr_gt(b, t, log_large(b, t));
  wick_value x = expr_where(b, large, t, w);
  wick_value y = log_domain(b, x, -1, log_one_plus(b, x));
  return expr_add(b, y, expr_where(b, large, expr_k(b, t, M_LN2), expr_k(b, t, 0)));
}

/* log(t + sqrt(t^2 + 1)) with t = |x|, as log(1 + t + t^2 / (1 + sqrt(t^2 + 1))). */
wick_value wick_poly_asinh(wick_builder *b, wick_value x)
{
  wick_value t = expr_abs(b, x), t2 = expr_mul(b, t, t);
  wick_value root = wick_build1(b, WICK_OP_sqrt, expr_addk(b, t2, 1));
  wick_value w = expr_add(b, t, expr_div(b, t2, expr_addk(b, root, 1)));
  return wick_expr_with_sign(b, log_of_two(b, expr_addk(b, t, -1), w), x);
}

/* log(x + sqrt(x^2 - 1)), as log(1 + t + sqrt(2 t + t^2)) with t = x - 1. */
wick_value wick_poly_acosh(wick_builder *b, wick_value x)
{
  wick_value t = expr_addk(b, x, -1);
  wick_value square = expr_mad(b, t, t, expr_add(b, t, t));
  wick_value y = log_of_two(b, t, expr_add(b, t, wick_build1(b, WICK_OP_sqrt, square)));
  return expr_where(b, expr_lt(b, x, 1), expr_k(b, x, (double)NAN), y);
}

/* log((1 + t) / (1 - t)) / 2 with t = |x|, as log(1 + 2 t / (1 - t)) / 2. */
wick_value wick_poly_atanh(wick_builder *b, wick_value x)
{
  wick_value t = expr_abs(b, x);
  wick_value w = expr_div(b, expr_add(b, t, t), expr_sub(b, expr_k(b, t, 1), t));
  return wick_expr_with_sign(b, expr_mulk(b, wick_poly_log1p(b, w), 0.5), x);
}
