/* Fixed-point functions of numbers that only the run knows; those of fixed_math.h in nodes. */
#include "import/tflite/fixed.h"

wick_value wick_fixed_live_mul(wick_builder *b, wick_value x, wick_value y)
{
  x = wick_emit_by(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, x, y), 1073741824);
  return wick_emit_by(b, WICK_OP_shift_right, x, 31);
}

static wick_value live_times(wick_builder *b, wick_value x, double constant)
{
  return wick_fixed_live_mul(b, x, wick_emit_number(b, x, constant));
}

/* x * 2^exponent, saturated to 32 bits. */
static wick_value live_scale(wick_builder *b, wick_value x, int exponent)
{
  x = wick_emit_by(b, WICK_OP_mul, x, (double)((int64_t)1 << exponent));
  x = wick_emit_by(b, WICK_OP_min, x, INT32_MAX);
  return wick_emit_by(b, WICK_OP_max, x, INT32_MIN);
}

wick_value wick_fixed_zeros(wick_builder *b, wick_value x)
{
  wick_value zeros = wick_emit_number(b, x, 32);
  for (int step = 16; step >= 1; step /= 2) {
    wick_value upper = wick_emit_by(b, WICK_OP_shift_right, x, step);
    wick_value any = wick_build2(b, WICK_OP_ne, upper, wick_emit_number(b, upper, 0));
    x = wick_build3(b, WICK_OP_where, any, upper, x);
    if (b->status) return x;
    any = wick_emit_by(b, WICK_OP_mul, wick_build_cast(b, any, WICK_I64), step);
    zeros = wick_build2(b, WICK_OP_sub, zeros, any);
  }
  return wick_build2(b, WICK_OP_sub, zeros, x); /* x is 1, or 0 if it was */
}

wick_value wick_fixed_live_reciprocal(wick_builder *b, wick_value x)
{
  wick_value d = wick_emit_by(b, WICK_OP_add, x, 2147483648.0); /* x + the largest number, plus 1 */
  d = wick_emit_by(b, WICK_OP_shift_right, d, 1);
  wick_value y = wick_emit_by(b, WICK_OP_add, live_times(b, d, -1010580540), 1515870810);
  for (int k = 0; k < 3; k++) {
    wick_value one = wick_emit_number(b, y, 1 << 29);
    wick_value error = wick_build2(b, WICK_OP_sub, one, wick_fixed_live_mul(b, d, y));
    y = wick_build2(b, WICK_OP_add, y, live_scale(b, wick_fixed_live_mul(b, y, error), 2));
  }
  return live_scale(b, y, 1);
}

/* The number of pairs of bits by which x, below 2^29, is shifted to the left. */
static wick_value live_pairs(wick_builder *b, wick_value x)
{
  wick_value pairs = wick_emit_by(b, WICK_OP_sub, wick_fixed_zeros(b, x), 1);
  return wick_emit_by(b, WICK_OP_sub, wick_emit_by(b, WICK_OP_shift_right, pairs, 1), 1);
}

wick_value wick_fixed_live_inverse_root(wick_builder *b, wick_value x, wick_value *out_right)
{
  wick_value right = wick_emit_number(b, x, 11), small = x;
  wick_value two = wick_emit_number(b, x, 2);
  /* x is below 2^31: one division by 4 is enough */
  wick_value big = wick_build2(b, WICK_OP_ge, x, wick_emit_number(b, x, 1 << 29));
  x = wick_build3(b, WICK_OP_where, big, wick_emit_by(b, WICK_OP_shift_right, x, 2), x);
  if (b->status) return x;
  right = wick_build2(b, WICK_OP_add, right, wick_build_cast(b, big, WICK_I64));
  wick_value pairs = live_pairs(b, wick_build2(b, WICK_OP_max, x, two));
  right = wick_build2(b, WICK_OP_sub, right, pairs);
  x = wick_build2(b, WICK_OP_shift_left, x, wick_build2(b, WICK_OP_add, pairs, pairs));
  wick_value half = wick_fixed_divide(b, wick_emit_by(b, WICK_OP_shift_right, x, 1), 1);
  wick_value y = wick_emit_number(b, x, 1 << 28);
  for (int k = 0; k < 5; k++) { /* three integer bits */
    wick_value square = wick_fixed_live_mul(b, y, y);
    wick_value cube = live_scale(b, wick_fixed_live_mul(b, square, y), 6);
    wick_value less = wick_fixed_live_mul(b, half, cube),
               more = live_times(b, y, (1 << 28) + (1 << 27));
    y = live_scale(b, wick_build2(b, WICK_OP_sub, more, less), 3);
  }
  y = live_times(b, y, 1518500250); /* sqrt(1 / 2) */
  wick_value none = wick_emit_number(b, right, 0);
  wick_value left = wick_build2(b, WICK_OP_max, wick_build1(b, WICK_OP_neg, right), none);
  y = wick_build2(b, WICK_OP_shift_left, y, left);
  right = wick_build2(b, WICK_OP_max, right, none);
  wick_value tiny = wick_build2(b, WICK_OP_lt, small, two),
             most = wick_emit_number(b, y, INT32_MAX);
  *out_right = wick_build3(b, WICK_OP_where, tiny, none, right);
  return wick_build3(b, WICK_OP_where, tiny, most, y);
}

/* x * 2^exponent with exponents that the run knows, saturated above. */
static wick_value live_raise(wick_builder *b, wick_value x, wick_value exponent)
{
  return wick_emit_by(b, WICK_OP_min, wick_build2(b, WICK_OP_shift_left, x, exponent), INT32_MAX);
}

/* (12 - zeros) * 2^25 + more: the integer part of the logarithm, with six integer bits. */
static wick_value live_power(wick_builder *b, wick_value zeros, double more)
{
  wick_value whole = wick_build2(b, WICK_OP_sub, wick_emit_number(b, zeros, 12), zeros);
  return wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, whole, 1 << 25), more);
}

wick_value wick_fixed_live_log(wick_builder *b, wick_value x)
{
  const double quarter = 1 << 23, root = 1518500250,
               fourth = 1805811301; /* sqrt(1/2) and its root */
  wick_value zeros = wick_fixed_zeros(b, x), small = live_times(b, x, root);
  wick_value near = live_raise(b, x, wick_emit_by(b, WICK_OP_sub, zeros, 1));
  near = live_scale(b, live_times(b, near, root), 1);
  wick_value room = wick_emit_by(b, WICK_OP_sub, wick_fixed_zeros(b, small), 1);
  wick_value first = live_power(b, zeros, quarter), second = live_power(b, room, -quarter);
  wick_value power = wick_build2(b, WICK_OP_max, first, second);
  wick_value r = wick_build2(b, WICK_OP_min, near, live_raise(b, x, room));
  wick_value p =
      wick_emit_by(b, WICK_OP_shift_right, wick_emit_by(b, WICK_OP_add, r, fourth + 1), 1);
  wick_value q = wick_emit_by(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_sub, r, fourth), 2);
  wick_value square = wick_fixed_live_mul(b, q, q);
  wick_value cubic = live_times(b, wick_fixed_live_mul(b, q, square), 117049297);
  wick_value over = wick_build2(b, WICK_OP_add, wick_fixed_live_mul(b, q, r), cubic);
  wick_value under = wick_build2(b, WICK_OP_add, q, live_times(b, square, 127690142));
  under = wick_fixed_live_mul(b, p, wick_emit_by(b, WICK_OP_add, under, 1057819769));
  under = wick_build2(b, WICK_OP_add, under, live_times(b, q, 638450708));
  wick_value part = wick_fixed_divide(b, over, 6);
  part = wick_fixed_live_mul(b, part, wick_fixed_live_reciprocal(b, under));
  wick_value whole = live_times(b, power, 1488522236); /* log(2) */
  return live_scale(b, wick_build2(b, WICK_OP_add, whole, part), 1);
}
