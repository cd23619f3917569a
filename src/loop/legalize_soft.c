/* Software emulation: rounding adds 2^mantissa; square roots are computed digit by digit; fused
 * multiply-add uses f64 for f32, and integers for f64. */
#include "loop/legalize_soft.h"

#include <math.h>

/* ---- rounding ---- */

/* |x| + 2^m has no fraction bits. From 2^m on, x itself has none. */
static wick_value soft_nearest(wick_builder *b, wick_value size)
{
  double m = ldexp(1, (int)wick_expr_format_of(b, size)->mantissa);
  wick_value r = expr_addk(b, expr_addk(b, size, m), -m);
  return expr_where(b, expr_lt(b, size, m), r, size);
}

wick_value wick_legalize_round(wick_builder *b, wick_opcode op, wick_value x)
{
  wick_value size = expr_abs(b, x), near = soft_nearest(b, size);
  if (op == WICK_OP_round_even) return wick_expr_with_sign(b, near, x);
  if (op == WICK_OP_trunc) {
    wick_value above = wick_build2(b, WICK_OP_gt, near, size);
    return wick_expr_with_sign(b, expr_where(b, above, expr_addk(b, near, -1), near), x);
  }
  wick_value r = wick_expr_with_sign(b, near, x);
  wick_value wrong = wick_build2(b, op == WICK_OP_floor ? WICK_OP_gt : WICK_OP_lt, r, x);
  r = expr_where(b, wrong, expr_addk(b, r, op == WICK_OP_floor ? -1 : 1), r);
  return wick_expr_with_sign(b, expr_abs(b, r), x);
}

/* ---- words ---- */

static wick_value soft_u(wick_builder *b, wick_value like, uint64_t i)
{
  return wick_expr_int(b, like, (int64_t)i);
}
static wick_value soft_and(wick_builder *b, wick_value x, uint64_t mask)
{
  return wick_build2(b, WICK_OP_bit_and, x, soft_u(b, x, mask));
}
static wick_value soft_or(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_bit_or, x, y);
}
static wick_value soft_not(wick_builder *b, wick_value x) { return wick_build1(b, WICK_OP_not, x); }
static wick_value soft_both(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_and, x, y);
}
static wick_value soft_bit(wick_builder *b, wick_value condition, wick_value like)
{
  return wick_build_cast(b, condition, wick_built_info(b, like)->elem);
}
static wick_value soft_finite(wick_builder *b, wick_value x)
{
  return expr_lt(b, expr_abs(b, x), (double)INFINITY);
}

/* |x| = m 2^e, where m has all mantissa bits, also below the normal range. m is an unsigned
 * integer, e a signed one. */
typedef struct soft_parts {
  wick_value m, e;
} soft_parts;

static soft_parts soft_unpack(wick_builder *b, wick_value x)
{
  const wick_expr_format *f = wick_expr_format_of(b, x);
  int up = (int)f->mantissa + 2;
  wick_value size = expr_abs(b, x), small = expr_lt(b, size, ldexp(1, 1 - (int)f->bias));
  size = expr_where(b, small, expr_mulk(b, size, ldexp(1, up)), size);
  wick_value bits = wick_expr_bits(b, size), none = wick_expr_int(b, bits, 0);
  soft_parts p;
  p.e = expr_sub(b, wick_expr_shr(b, bits, f->mantissa),
                 wick_expr_int(b, bits, f->bias + f->mantissa));
  p.e = expr_sub(b, p.e, expr_where(b, small, wick_expr_int(b, bits, up), none));
  wick_value one = wick_expr_int(b, bits, (int64_t)1 << f->mantissa);
  p.m = soft_or(b, soft_and(b, bits, ((uint64_t)1 << f->mantissa) - 1), one);
  p.m = wick_build_cast(b, p.m, f->elem == WICK_F64 ? WICK_U64 : WICK_U32);
  return p;
}

/* ---- square roots ---- */

/* Computes one bit of the root in each step, as by hand, and one more bit for rounding. The
 * remainder shows whether further bits are set. Source: the method of FreeBSD's msun e_sqrt.c. */
wick_value wick_legalize_sqrt(wick_builder *b, wick_value x)
{
  const wick_expr_format *f = wick_expr_format_of(b, x);
  soft_parts p = soft_unpack(b, x);
  wick_value e = expr_add(b, p.e, wick_expr_int(b, p.e, f->mantissa)); /* x = 1.fff 2^e */
  wick_value odd = wick_build2(b, WICK_OP_bit_and, e, wick_expr_int(b, e, 1));
  odd = wick_build2(b, WICK_OP_ne, odd, wick_expr_int(b, odd, 0));
  wick_value rest = expr_where(b, odd, expr_add(b, p.m, p.m), p.m), q = soft_u(b, rest, 0), s = q;
  rest = expr_add(b, rest, rest);
  for (uint32_t k = f->mantissa + 2; k-- > 0;) {
    wick_value bit = soft_u(b, q, (uint64_t)1 << k), t = expr_add(b, s, bit);
    wick_value fits = wick_build2(b, WICK_OP_le, t, rest);
    s = expr_where(b, fits, expr_add(b, t, bit), s);
    rest = expr_where(b, fits, expr_sub(b, rest, t), rest);
    q = expr_where(b, fits, expr_add(b, q, bit), q);
    rest = expr_add(b, rest, rest);
  }
  wick_value more = soft_bit(b, wick_build2(b, WICK_OP_ne, rest, soft_u(b, rest, 0)), q);
  wick_value up = wick_build2(b, WICK_OP_bit_and, soft_and(b, q, 1), more);
  q = wick_build_cast(b, wick_expr_shr(b, expr_add(b, q, up), 1), f->bits);
  wick_value biased = expr_add(b, wick_expr_shr(b, e, 1), wick_expr_int(b, e, f->bias - 1));
  wick_value r = expr_add(b, wick_expr_shl(b, biased, f->mantissa), q);
  wick_value normal = soft_both(b, expr_gt(b, x, 0), soft_finite(b, x));
  wick_value below = expr_where(b, expr_lt(b, x, 0), expr_k(b, x, (double)NAN), x);
  return expr_where(b, normal, wick_expr_from_bits(b, r), below);
}

/* ---- fused multiply-add of f32 ---- */

/* In f64 the product is exact. The sum is rounded to odd, with the error that two additions find
 * (Knuth), so that only the rounding to f32 matters (Boldo and Melquiond 2008). */
static wick_value soft_fma32(wick_builder *b, wick_value x, wick_value y, wick_value z)
{
  wick_value p = expr_mul(b, wick_build_cast(b, x, WICK_F64), wick_build_cast(b, y, WICK_F64));
  wick_value c = wick_build_cast(b, z, WICK_F64), s = expr_add(b, p, c), part = expr_sub(b, s, p);
  wick_value error = expr_add(b, expr_sub(b, p, expr_sub(b, s, part)), expr_sub(b, c, part));
  wick_value bits = wick_expr_bits(b, s), one = wick_expr_int(b, bits, 1);
  wick_value even = wick_build2(b, WICK_OP_eq, wick_build2(b, WICK_OP_bit_and, bits, one),
                                wick_expr_int(b, bits, 0));
  wick_value lost = soft_both(b, even, expr_gt(b, expr_abs(b, error), 0)); /* false for NaN */
  wick_value away = wick_build2(b, WICK_OP_eq, expr_gt(b, error, 0), expr_gt(b, s, 0));
  wick_value step = expr_where(b, away, one, wick_expr_int(b, bits, -1));
  wick_value odd = wick_expr_from_bits(b, expr_add(b, bits, step));
  return wick_build_cast(b, expr_where(b, lost, odd, s), WICK_F32);
}

/* ---- fused multiply-add of f64 ---- */

typedef struct soft_wide { /* 128 bits */
  wick_value hi, lo;
} soft_wide;

static soft_wide soft_product(wick_builder *b, wick_value x, wick_value y)
{
  wick_value xl = soft_and(b, x, UINT32_MAX), xh = wick_expr_shr(b, x, 32);
  wick_value yl = soft_and(b, y, UINT32_MAX), yh = wick_expr_shr(b, y, 32);
  wick_value mid = expr_add(b, expr_mul(b, xh, yl), wick_expr_shr(b, expr_mul(b, xl, yl), 32));
  wick_value mid2 = expr_add(b, expr_mul(b, xl, yh), soft_and(b, mid, UINT32_MAX));
  wick_value hi = expr_add(b, expr_mul(b, xh, yh), wick_expr_shr(b, mid, 32));
  return (soft_wide){expr_add(b, hi, wick_expr_shr(b, mid2, 32)), expr_mul(b, x, y)};
}

static soft_wide soft_choose(wick_builder *b, wick_value c, soft_wide x, soft_wide y)
{
  return (soft_wide){expr_where(b, c, x.hi, y.hi), expr_where(b, c, x.lo, y.lo)};
}

/* Shifts right by n in [0, 127], and sets the last bit if any bit was lost. Shifts by more bits
 * than a word has give 0, as the combination of the three parts requires. */
static soft_wide soft_shift_right(wick_builder *b, soft_wide x, wick_value n)
{
  wick_value width = soft_u(b, n, 64), rest = expr_sub(b, width, n), more = expr_sub(b, n, width);
  wick_opcode right = WICK_OP_shift_right, left = WICK_OP_shift_left;
  soft_wide r;
  r.hi = wick_build2(b, right, x.hi, n);
  r.lo = soft_or(b, wick_build2(b, right, x.lo, n), wick_build2(b, left, x.hi, rest));
  r.lo = soft_or(b, r.lo, wick_build2(b, right, x.hi, more));
  wick_value lo = wick_build2(b, left, r.lo, n);
  wick_value hi = soft_or(b, wick_build2(b, left, r.hi, n), wick_build2(b, right, r.lo, rest));
  hi = soft_or(b, hi, wick_build2(b, left, r.lo, more));
  wick_value lost = wick_build2(b, WICK_OP_or, wick_build2(b, WICK_OP_ne, lo, x.lo),
                                wick_build2(b, WICK_OP_ne, hi, x.hi));
  r.lo = soft_or(b, r.lo, soft_bit(b, lost, r.lo));
  return r;
}

/* Returns x + y, or |x - y|. out_swapped: y was larger. */
static soft_wide soft_add_or_subtract(wick_builder *b, soft_wide x, soft_wide y, wick_value differ,
                                      wick_value *out_swapped)
{
  wick_value same = wick_build2(b, WICK_OP_eq, x.hi, y.hi);
  wick_value less = wick_build2(b, WICK_OP_or, wick_build2(b, WICK_OP_lt, x.hi, y.hi),
                                soft_both(b, same, wick_build2(b, WICK_OP_lt, x.lo, y.lo)));
  soft_wide big = soft_choose(b, less, y, x), little = soft_choose(b, less, x, y);
  soft_wide sum, difference;
  sum.lo = expr_add(b, x.lo, y.lo);
  wick_value carry = soft_bit(b, wick_build2(b, WICK_OP_lt, sum.lo, x.lo), x.lo);
  sum.hi = expr_add(b, expr_add(b, x.hi, y.hi), carry);
  wick_value borrow = soft_bit(b, wick_build2(b, WICK_OP_lt, big.lo, little.lo), x.lo);
  difference.lo = expr_sub(b, big.lo, little.lo);
  difference.hi = expr_sub(b, expr_sub(b, big.hi, little.hi), borrow);
  *out_swapped = less;
  return soft_choose(b, differ, difference, sum);
}

/* Shifts x left until its first bit is the highest, and adjusts its exponent. */
static soft_wide soft_normalize(wick_builder *b, soft_wide x, wick_value *e)
{
  wick_value zero = soft_u(b, x.hi, 0), none = wick_expr_int(b, *e, 0);
  for (uint32_t k = 64; k; k /= 2) {
    wick_value upper = k == 64 ? x.hi : wick_expr_shr(b, x.hi, 64 - k);
    wick_value empty = wick_build2(b, WICK_OP_eq, upper, zero);
    soft_wide up = {x.lo, zero};
    if (k < 64) {
      up.hi = soft_or(b, wick_expr_shl(b, x.hi, k), wick_expr_shr(b, x.lo, 64 - k));
      up.lo = wick_expr_shl(b, x.lo, k);
    }
    x = soft_choose(b, empty, up, x);
    *e = expr_sub(b, *e, expr_where(b, empty, wick_expr_int(b, *e, k), none));
  }
  return x;
}

/* Returns the bits of x 2^e, rounded to nearest even. x's first bit is the highest of 128. */
static wick_value soft_pack(wick_builder *b, soft_wide x, wick_value e)
{
  wick_value zero = soft_u(b, x.hi, 0), one = wick_expr_int(b, e, 1);
  wick_value lost = wick_build2(b, WICK_OP_ne, x.lo, zero);
  wick_value top = soft_or(b, x.hi, soft_bit(b, lost, x.hi));
  wick_value biased = expr_add(b, e, wick_expr_int(b, e, 127 + 1023));
  /* below the normal range there are fewer bits */
  wick_value shift = expr_at_most(b, expr_at_least(b, expr_sub(b, one, biased), 0), 63);
  shift = wick_build_cast(b, shift, WICK_U64);
  wick_value moved = wick_build2(b, WICK_OP_shift_right, top, shift);
  wick_value back = wick_build2(b, WICK_OP_shift_left, moved, shift);
  moved = soft_or(b, moved, soft_bit(b, wick_build2(b, WICK_OP_ne, back, top), moved));
  wick_value m = wick_expr_shr(b, moved, 11), odd = soft_and(b, m, 1);
  wick_value half = expr_add(b, soft_and(b, moved, 0x7ff), expr_add(b, odd, soft_u(b, odd, 0x3ff)));
  m = expr_add(b, m, wick_expr_shr(b, half, 11));
  wick_value exponent = expr_at_least(b, expr_sub(b, biased, one), 0);
  wick_value r = expr_add(b, wick_expr_shl(b, exponent, 52), wick_build_cast(b, m, WICK_I64));
  wick_value inf = wick_expr_int(b, r, (int64_t)0x7ff << 52);
  return expr_where(b, expr_gt(b, biased, 2046), inf, r);
}

/* Converts the product and the addend to integers of 128 bits, with two free bits above. The one
 * with the smaller exponent is shifted right. */
static wick_value soft_fma64(wick_builder *b, wick_value x, wick_value y, wick_value z)
{
  soft_parts px = soft_unpack(b, x), py = soft_unpack(b, y), pz = soft_unpack(b, z);
  wick_value no_z = expr_eq(b, z, 0), zero = soft_u(b, px.m, 0);
  soft_wide p = soft_product(b, px.m, py.m);
  p.hi = soft_or(b, wick_expr_shl(b, p.hi, 20), wick_expr_shr(b, p.lo, 44));
  p.lo = wick_expr_shl(b, p.lo, 20);
  soft_wide a = {expr_where(b, no_z, zero, wick_expr_shl(b, pz.m, 9)), zero};
  wick_value ep = expr_add(b, expr_add(b, px.e, py.e), wick_expr_int(b, px.e, -20));
  wick_value ea = expr_add(b, pz.e, wick_expr_int(b, pz.e, -73));
  ea = expr_where(b, no_z, wick_expr_int(b, ea, -9999), ea);
  wick_value d = expr_sub(b, ea, ep), first = wick_build2(b, WICK_OP_ge, ea, ep);
  wick_value n = wick_build_cast(b, expr_at_most(b, expr_abs(b, d), 127), WICK_U64);
  soft_wide big = soft_choose(b, first, a, p);
  soft_wide little = soft_shift_right(b, soft_choose(b, first, p, a), n);
  wick_value e = expr_where(b, first, ea, ep);
  wick_value sp = wick_build2(b, WICK_OP_bit_xor, wick_expr_bits(b, x), wick_expr_bits(b, y));
  wick_value sa = wick_expr_bits(b, z), swapped;
  wick_value differ = expr_lt(b, wick_build2(b, WICK_OP_bit_xor, sp, sa), 0);
  soft_wide r = soft_add_or_subtract(b, big, little, differ, &swapped);
  wick_value by_a = wick_build2(b, WICK_OP_xor, first, soft_both(b, differ, swapped));
  wick_value is_zero = wick_build2(b, WICK_OP_eq, soft_or(b, r.hi, r.lo), zero);
  r = soft_normalize(b, r, &e);
  wick_value size = wick_expr_from_bits(b, soft_pack(b, r, e));
  wick_value sign = wick_expr_from_bits(b, expr_where(b, by_a, sa, sp));
  wick_value exact = expr_where(b, is_zero, expr_k(b, x, 0), wick_expr_with_sign(b, size, sign));
  /* a product that is 0, infinite or NaN already gives the right result, but not one that
   * overflows */
  wick_value plain = expr_add(b, expr_mul(b, x, y), z);
  wick_value factors = soft_both(b, soft_finite(b, x), soft_finite(b, y));
  wick_value normal = soft_both(b, factors, soft_finite(b, z));
  wick_value some = soft_both(b, soft_not(b, expr_eq(b, x, 0)), soft_not(b, expr_eq(b, y, 0)));
  plain = expr_where(b, soft_both(b, factors, soft_not(b, soft_finite(b, z))), z, plain);
  return expr_where(b, soft_both(b, normal, some), exact, plain);
}

wick_value wick_legalize_fma(wick_builder *b, wick_value x, wick_value y, wick_value z)
{
  return wick_built_info(b, x)->elem == WICK_F64 ? soft_fma64(b, x, y, z) : soft_fma32(b, x, y, z);
}
