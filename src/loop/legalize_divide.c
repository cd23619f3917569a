/* Divides by multiplying with a reciprocal, which is computed once where the divisor does not
 * change.
 *
 * Integers of n <= 32 bits: trunc((x +- 0.5) * (1 / y)), where the half has the sign of x. The
 * distance of (x +- 0.5) / y from the next whole number is at least 0.5 / |y|, and the error is at
 * most 2^(n-e) / |y| for factors whose relative errors have the sum 2^-e. For n <= 16, e = 22 in
 * f32. For n = 32, e = 52 in f64. So the whole number is exact.
 *
 * Integers of 64 bits are divided like that if all lanes are below 2^50. Otherwise the magnitudes are
 * divided as unsigned numbers. The reciprocal is too small by 2^-44 to 2^-43, so that no quotient is
 * too large, and a first quotient leaves a remainder below 2^22 y. The quotient of that is too small
 * by at most 1. */
#include "loop/legalize_divide.h"

#include "loop/legalize_soft.h"

typedef struct divide {
  wick_builder *b;
  const wick_target *t;
  bool remainder;
} divide;

/* Conversions that stay in range need no checks. */
static wick_value divide_whole(const divide *d, wick_value x, wick_elem to)
{
  wick_type type = wick_type_with_elem(d->b->module, wick_built_type(d->b, x), to);
  const wick_attr within = {.i = 1};
  return wick_build(d->b, WICK_OP_cast, 1, &x, &within, 1, &type);
}

static wick_value divide_muladd(const divide *d, wick_value x, wick_value y, wick_value z)
{
  if (d->t->fma & WICK_BIT(WICK_F64)) return wick_build3(d->b, WICK_OP_fma, x, y, z);
  return expr_add(d->b, expr_mul(d->b, x, y), z);
}

/* x +- 0.5 */
static wick_value divide_away(const divide *d, wick_value x, bool is_signed)
{
  wick_value half = expr_k(d->b, x, 0.5);
  if (is_signed) half = wick_expr_with_sign(d->b, half, x);
  return expr_add(d->b, x, half);
}

static wick_value divide_short(const divide *d, wick_value x, wick_value y, wick_elem e)
{
  wick_builder *b = d->b;
  bool is_signed = wick_elem_class(e) == WICK_SINT;
  wick_value u = wick_build_cast(b, x, WICK_F32), v = wick_build_cast(b, y, WICK_F32);
  wick_value r = expr_div(b, expr_k(b, v, 1), v);
  wick_value q = divide_whole(d, expr_mul(b, divide_away(d, u, is_signed), r), WICK_I32);
  if (d->remainder) { /* exact: all numbers are below 2^24 */
    q = wick_build_cast(b, q, WICK_F32);
    q = divide_whole(d, expr_sub(b, u, expr_mul(b, q, v)), WICK_I32);
  }
  return wick_build_cast(b, q, e);
}

/* Returns scale / y, where y is an integer, in f64: with a relative error of 2^-52. */
static wick_value divide_reciprocal(const divide *d, wick_value y, double scale)
{
  wick_value wide = wick_build_cast(d->b, y, WICK_F64);
  return expr_div(d->b, expr_k(d->b, wide, scale), wide);
}

static wick_value divide_word(const divide *d, wick_value x, wick_value y, wick_elem e)
{
  wick_builder *b = d->b;
  wick_value u = wick_build_cast(b, x, WICK_F64), r = divide_reciprocal(d, y, 1);
  wick_value away = divide_away(d, u, e == WICK_I32);
  wick_value q = divide_whole(d, expr_mul(b, away, r), e);
  return d->remainder ? expr_sub(b, x, expr_mul(b, q, y)) : q;
}

/* ---- 64 bits ---- */

enum { DIVIDE_SMALL = 50 }; /* bits of a magnitude that f64 divides at once */

/* Returns whether a lane of x or y is not below 2^50. */
static wick_value divide_is_large(const divide *d, wick_value x, wick_value y, bool is_signed)
{
  wick_builder *b = d->b;
  if (is_signed) {
    wick_value bias = wick_expr_int(b, x, (int64_t)1 << DIVIDE_SMALL);
    x = expr_add(b, x, bias), y = expr_add(b, y, bias);
  }
  x = wick_build2(b, WICK_OP_bit_or, x, y);
  x = wick_expr_shr(b, wick_build_cast(b, x, WICK_U64), DIVIDE_SMALL + is_signed);
  return wick_build1(b, WICK_OP_any, wick_build2(b, WICK_OP_ne, x, wick_expr_int(b, x, 0)));
}

/* The bits of 1.5 * 2^52: the bits of this number plus a whole number are their sum. */
static const int64_t divide_magic = 0x4338000000000000;

/* Converts an integer below 2^51: where a target has no instruction for this, two are enough. */
static wick_value divide_widened(const divide *d, wick_value x)
{
  wick_builder *b = d->b;
  x = wick_build_cast(b, x, WICK_I64);
  x = wick_expr_from_bits(b, expr_add(b, x, wick_expr_int(b, x, divide_magic)));
  return expr_sub(b, x, expr_k(b, x, wick_expr_format_of(b, x)->magic));
}

static wick_value divide_narrowed(const divide *d, wick_value x, wick_elem e)
{
  wick_builder *b = d->b;
  x = wick_expr_bits(b, expr_add(b, x, expr_k(b, x, wick_expr_format_of(b, x)->magic)));
  return wick_build_cast(b, expr_sub(b, x, wick_expr_int(b, x, divide_magic)), e);
}

/* Integers below 2^50; `by` is y in f64, and r its reciprocal. */
static wick_value divide_small(const divide *d, wick_value x, wick_value by, wick_value r,
                               wick_elem e)
{
  wick_builder *b = d->b;
  wick_value u = divide_widened(d, x), q = expr_mul(b, divide_away(d, u, e == WICK_I64), r);
  q = d->t->round & WICK_BIT(WICK_F64) ? wick_build1(b, WICK_OP_trunc, q)
                                       : wick_legalize_round(b, WICK_OP_trunc, q);
  if (d->remainder) q = divide_muladd(d, expr_neg(b, q), by, u);
  return divide_narrowed(d, q, e);
}

/* Any integers; m is the magnitude of y, and r its reciprocal. The parts are those of a sum that
 * ends as the quotient or the remainder. */
static wick_value divide_large(const divide *d, wick_value x, wick_value y, wick_value m,
                               wick_value r, wick_elem e)
{
  wick_builder *b = d->b;
  bool is_signed = e == WICK_I64;
  wick_value n = wick_build_cast(b, is_signed ? expr_abs(b, x) : x, WICK_U64), q[2];
  for (uint32_t i = 0; i < 2; i++) {
    wick_value f = expr_mul(b, wick_build_cast(b, n, WICK_F64), r);
    q[i] = divide_whole(d, f, WICK_U64);
    n = expr_sub(b, n, expr_mul(b, q[i], m));
  }
  wick_value more = wick_build2(b, WICK_OP_ge, n, m), sign = x;
  if (d->remainder) {
    n = expr_where(b, more, expr_sub(b, n, m), n);
  } else {
    n = expr_add(b, q[0], q[1]);
    n = expr_where(b, more, expr_add(b, n, wick_expr_int(b, n, 1)), n);
    sign = wick_build2(b, WICK_OP_bit_xor, x, y);
  }
  if (!is_signed) return n;
  n = wick_build_cast(b, n, e);
  sign = wick_expr_shr(b, sign, 63); /* 0 or -1 */
  return expr_sub(b, wick_build2(b, WICK_OP_bit_xor, n, sign), sign);
}

/* Both reciprocals are outside of the branches, so that they can leave loops in which y does not
 * change. */
static wick_value divide_long(const divide *d, wick_value x, wick_value y, wick_elem e)
{
  wick_builder *b = d->b;
  wick_value by = divide_widened(d, y), small = expr_div(b, expr_k(b, by, 1), by);
  wick_value m = wick_build_cast(b, e == WICK_I64 ? expr_abs(b, y) : y, WICK_U64);
  wick_value large = divide_reciprocal(d, m, 1 - 0x1p-44);
  wick_if_begin(b, divide_is_large(d, x, y, e == WICK_I64), 1, &x);
  wick_value r = divide_large(d, x, y, m, large, e);
  wick_if_else(b, 1, &r);
  r = divide_small(d, x, by, small, e);
  return wick_if_end(b, 1, &r);
}

wick_value wick_legalize_divide(wick_builder *b, const wick_target *t, wick_opcode op, wick_value x,
                                wick_value y)
{
  enum { LONG_LANES = 4, VECTOR = 16 };
  divide d = {b, t, op == WICK_OP_rem_unchecked};
  const wick_type_info *info = wick_built_info(b, x);
  uint32_t bits = wick_elem_storage[info->elem].bits;
  if (info->lanes < 2 || t->soft_float || t->vector_bytes < VECTOR) return (wick_value){0};
  if (bits <= 16) return divide_short(&d, x, y, info->elem);
  if (bits == 32) return divide_word(&d, x, y, info->elem);
  return t->vector_bytes >= LONG_LANES * 8 ? divide_long(&d, x, y, info->elem) : (wick_value){0};
}
