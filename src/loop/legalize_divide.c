/* Divides by multiplying with a reciprocal, which is computed once where the divisor does not
 * change.
 *
 * Integers of n <= 32 bits: trunc((x +- 0.5) * (1 / y)), where the half has the sign of x. The
 * distance of (x +- 0.5) / y from the next whole number is at least 0.5 / |y|, and the error is at
 * most 2^(n-e) / |y| for factors whose relative errors have the sum 2^-e. For n <= 16, e = 22 in
 * f32. For n = 32, e = 44 in f64, where the reciprocal is one of f32 after one step of Newton's
 * method. So the whole number is exact.
 *
 * Integers of 64 bits: the magnitudes are divided as unsigned numbers. The reciprocal is too small
 * by 2^-44 to 2^-43, so that no quotient is too large, and a first quotient leaves a remainder
 * below 2^22 y. The quotient of that is too small by at most 1. */
#include "loop/legalize_divide.h"

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

/* Returns scale / y in f64, with a relative error of about 2^-46; y is an integer. */
static wick_value divide_reciprocal(const divide *d, wick_value y, double scale)
{
  wick_builder *b = d->b;
  wick_value wide = wick_build_cast(b, y, WICK_F64), narrow;
  bool is_long = wick_elem_storage[wick_built_info(b, y)->elem].bits == 64;
  narrow = wick_build_cast(b, is_long ? wide : y, WICK_F32);
  wick_value first = expr_div(b, expr_k(b, narrow, 1), narrow);
  first = wick_build_cast(b, first, WICK_F64);
  wick_value error = divide_muladd(d, expr_neg(b, wide), first, expr_k(b, wide, scale));
  return divide_muladd(d, first, error, first);
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

static wick_value divide_word(const divide *d, wick_value x, wick_value y, wick_elem e)
{
  wick_builder *b = d->b;
  wick_value u = wick_build_cast(b, x, WICK_F64), r = divide_reciprocal(d, y, 1);
  wick_value away = divide_away(d, u, e == WICK_I32);
  wick_value q = divide_whole(d, expr_mul(b, away, r), e);
  return d->remainder ? expr_sub(b, x, expr_mul(b, q, y)) : q;
}

/* The parts of a sum that ends as the quotient or the remainder. */
static wick_value divide_long(const divide *d, wick_value x, wick_value y, wick_elem e)
{
  wick_builder *b = d->b;
  bool is_signed = e == WICK_I64;
  wick_value n = wick_build_cast(b, is_signed ? expr_abs(b, x) : x, WICK_U64);
  wick_value m = wick_build_cast(b, is_signed ? expr_abs(b, y) : y, WICK_U64);
  wick_value r = divide_reciprocal(d, m, 1 - 0x1p-44), q[2];
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
