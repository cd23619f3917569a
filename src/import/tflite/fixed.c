/* Fixed-point arithmetic as LiteRT's reference kernels do it. */
#include "import/tflite/fixed.h"

#include "ir/element.h"

#include <math.h>

wick_fixed wick_fixed_of(double real)
{
  wick_fixed f = {0};
  if (!(real > 0) || isinf(real)) return f;
  double q = frexp(real, &f.shift);
  int64_t fixed = (int64_t)round(q * 2147483648.0);
  if (fixed == (int64_t)1 << 31) fixed /= 2, f.shift++;
  if (f.shift < -31) return (wick_fixed){0};
  if (f.shift > 30) return (wick_fixed){INT32_MAX, 30};
  f.multiplier = (int32_t)fixed;
  return f;
}

static int64_t fixed_divide(int64_t x, int exponent)
{
  if (exponent <= 0) return x;
  return (x + ((int64_t)1 << (exponent - 1)) - (x < 0)) >> exponent;
}

int64_t wick_fixed_number(int64_t x, wick_fixed f)
{
  int left = f.shift > 0 ? f.shift : 0, right = f.shift > 0 ? 0 : -f.shift;
  int64_t wide = (int32_t)(uint32_t)((uint64_t)x << left);
  return fixed_divide((wide * f.multiplier + ((int64_t)1 << 30)) >> 31, right);
}

static bool fixed_same(uint32_t n, const int64_t *v)
{
  bool same = true;
  for (uint32_t i = 1; i < n; i++) same = same && v[i] == v[0];
  return same;
}

/* Builds one number of x's type, or one for each index of the last axis. */
static wick_value fixed_table(wick_builder *b, wick_value x, uint32_t n, const int64_t *v)
{
  if (b->status) return x;
  int64_t dim = n;
  wick_elem e = wick_built_info(b, x)->elem;
  if (fixed_same(n, v))
    return wick_build_const(b, wick_type_tensor(b->module, e, 0, NULL), 0, v[0]);
  wick_type type = wick_type_tensor_const(b->module, e, 1, &dim);
  uint64_t nbytes = wick_elem_bytes(e, n);
  void *kept = wick_arena_alloc(&b->module->mem, nbytes, 64);
  for (uint32_t i = 0; i < n; i++) wick_store_elem(e, kept, i, (wick_scalar){.i = v[i]});
  return wick_build_constant(b, wick_emit_constant(b->module, "", type, kept, nbytes));
}

/* x / 2^right in i32, rounded to the nearest, ties upwards or away from zero. Nothing overflows if x
 * is above the least number and below the largest, as upper halves of products are. */
static wick_value fixed_round_narrow(wick_builder *b, wick_value x, uint32_t n,
                                     const int64_t *right, bool away)
{
  int64_t *first = wick_new(b->mem, int64_t, n), *any = wick_new(b->mem, int64_t, n);
  bool all = true, some = false;
  for (uint32_t i = 0; i < n; i++) {
    any[i] = right[i] > 0;
    first[i] = any[i] ? right[i] - 1 : 0;
    all = all && any[i], some = some || any[i];
  }
  if (!some) return x;
  wick_value count = fixed_table(b, x, n, any);
  if (away) {
    wick_value sign = wick_emit_by(b, WICK_OP_shift_right, x, 31);
    if (!all) sign = wick_build2(b, WICK_OP_mul, sign, count);
    x = wick_build2(b, WICK_OP_add, x, sign);
  }
  x = wick_build2(b, WICK_OP_shift_right, x, fixed_table(b, x, n, first));
  x = wick_build2(b, WICK_OP_add, x, count);
  return wick_build2(b, WICK_OP_shift_right, x, count);
}

/* (x * m + add) >> bits, with one multiplier for each index. */
static wick_value fixed_high(wick_builder *b, wick_value x, uint32_t n, const int64_t *m,
                             int64_t add, int64_t bits)
{
  wick_emit e = wick_emit_begin(b, WICK_OP_mul_high);
  wick_emit_set_int(&e, "add", add);
  wick_emit_set_int(&e, "bits", bits);
  return wick_emit_end2(&e, x, fixed_table(b, x, n, m));
}

/* (((x * m + add) >> 31) / 2^right, ties upwards) + zero. If all shifts are at least 2, so that only
 * bits above the lower 32 of the product are used, this is (((x * m + add) >> 32) + c) >>
 * (right - 1), where c has the half that rounds and, if there is room, `zero`. */
static wick_value fixed_high_up(wick_builder *b, wick_value x, uint32_t n, const int64_t *m,
                                const int64_t *right, int64_t add, int64_t zero)
{
  enum { LEAST = 2, ROOM = 20 }; /* 2^8 * 2^20 is below 2^29, x * m / 2^32 at most 2^30 */
  bool word = true, room = true;
  int64_t *c = wick_new(b->mem, int64_t, n), *shift = wick_new(b->mem, int64_t, n);
  for (uint32_t i = 0; i < n; i++)
    word = word && right[i] >= LEAST, room = room && right[i] <= ROOM;
  if (word) {
    for (uint32_t i = 0; i < n; i++) {
      shift[i] = right[i] - 1;
      c[i] = ((int64_t)1 << (right[i] - LEAST)) + (room ? zero * ((int64_t)1 << shift[i]) : 0);
    }
    x = fixed_high(b, x, n, m, add, 32);
    x = wick_build2(b, WICK_OP_add, x, fixed_table(b, x, n, c));
    x = wick_build2(b, WICK_OP_shift_right, x, fixed_table(b, x, n, shift));
    if (room) return x;
  } else {
    x = fixed_round_narrow(b, fixed_high(b, x, n, m, add, 31), n, right, false);
  }
  return zero ? wick_emit_by(b, WICK_OP_add, x, (double)zero) : x;
}

/* (x + round - negative) >> right, where `negative` is 1 for x < 0 and right > 0. */
static wick_value fixed_round(wick_builder *b, wick_value x, uint32_t n, const int64_t *right)
{
  int64_t *half = wick_new(b->mem, int64_t, n), *down = wick_new(b->mem, int64_t, n);
  bool any = false, all = true;
  for (uint32_t i = 0; i < n; i++) {
    half[i] = right[i] > 0 ? (int64_t)1 << (right[i] - 1) : 0;
    down[i] = right[i] > 0;
    any = any || right[i] > 0, all = all && right[i] > 0;
  }
  if (!any) return x;
  wick_value sign = wick_emit_by(b, WICK_OP_shift_right, x, 63);
  if (!all) sign = wick_build2(b, WICK_OP_mul, sign, fixed_table(b, x, n, down));
  x = wick_build2(b, WICK_OP_add, x, fixed_table(b, x, n, half));
  x = wick_build2(b, WICK_OP_add, x, sign);
  return wick_build2(b, WICK_OP_shift_right, x, fixed_table(b, x, n, right));
}

/* x * f; ties of the last rounding go upwards, or away from zero. */
static wick_value fixed_mul(wick_builder *b, wick_value x, uint32_t n, const wick_fixed *f,
                            int64_t zero, bool away)
{
  if (b->status) return x;
  const int64_t half = (int64_t)1 << 30;
  int64_t *m = wick_new(b->mem, int64_t, n), *left = wick_new(b->mem, int64_t, n),
          *right = wick_new(b->mem, int64_t, n);
  bool shifts = false;
  for (uint32_t i = 0; i < n; i++) {
    m[i] = f[i].multiplier;
    left[i] = (int64_t)1 << (f[i].shift > 0 ? f[i].shift : 0);
    right[i] = f[i].shift > 0 ? 0 : -f[i].shift;
    shifts = shifts || f[i].shift > 0;
  }
  bool narrow = wick_built_info(b, x)->elem == WICK_I32;
  if (shifts) { /* in 32 bits, as the kernels do */
    x = wick_build_cast(b, x, WICK_I32);
    x = wick_build2(b, WICK_OP_mul, x, fixed_table(b, x, n, left));
  }
  if (narrow && !away) return fixed_high_up(b, x, n, m, right, half, zero);
  if (narrow) {
    x = fixed_round_narrow(b, fixed_high(b, x, n, m, half, 31), n, right, true);
  } else {
    x = wick_build_cast(b, x, WICK_I64);
    x = wick_build2(b, WICK_OP_mul, x, fixed_table(b, x, n, m));
    x = wick_emit_by(b, WICK_OP_add, x, (double)half);
    x = wick_emit_by(b, WICK_OP_shift_right, x, 31);
    x = fixed_round(b, x, n, right);
  }
  return zero ? wick_emit_by(b, WICK_OP_add, x, (double)zero) : x;
}

wick_value wick_fixed_mul(wick_builder *b, wick_value x, uint32_t n, const wick_fixed *f)
{
  return fixed_mul(b, x, n, f, 0, true);
}

wick_value wick_fixed_mul_up(wick_builder *b, wick_value x, uint32_t n, const wick_fixed *f,
                             int64_t zero)
{
  return fixed_mul(b, x, n, f, zero, false);
}

/* y / 2^right, ties away from zero, where y has the half that rounds already and is not above the
 * largest number. The sign may be that of x, of which y is a positive part: 0 is rounded to 0 with
 * any. */
static wick_value fixed_away(wick_builder *b, wick_value y, wick_value x, int64_t right)
{
  wick_value sign = wick_emit_by(b, WICK_OP_shift_right, x, 31);
  y = wick_build2(b, WICK_OP_add, y, sign);
  return wick_emit_by(b, WICK_OP_shift_right, y, (double)right);
}

/* x * 2^left * m is a number of 40 bits and more, but what is left of it is (x * m + half) >> low for
 * low = 31 - left, and with m = high * 2^low + rest this is x * high + ((x * rest + half) >> low). */
wick_value wick_fixed_mul_left(wick_builder *b, wick_value x, int bits, int left, wick_fixed f)
{
  int low = 31 - left;
  if (b->status) return x;
  if (f.shift > 0 || f.multiplier < 0 || bits > left || bits + left > 30) {
    x = wick_emit_by(b, WICK_OP_mul, x, (double)((int64_t)1 << left));
    return wick_fixed_mul(b, x, 1, &f);
  }
  int64_t right = -f.shift, high = f.multiplier >> low, rest = f.multiplier - (high << low);
  if (!rest && high % ((int64_t)1 << right) == 0) /* nothing is rounded */
    return wick_emit_by(b, WICK_OP_mul, x, (double)(high >> right));
  wick_value y = wick_emit_by(b, WICK_OP_mul, x, (double)high);
  if (rest) {
    wick_value part = wick_emit_by(b, WICK_OP_mul, x, (double)rest);
    part = wick_emit_by(b, WICK_OP_add, part, (double)((int64_t)1 << (low - 1)));
    part = wick_emit_by(b, WICK_OP_shift_right, part, low);
    y = wick_build2(b, WICK_OP_add, y, part);
  }
  if (!right) return y;
  y = wick_emit_by(b, WICK_OP_add, y, (double)((int64_t)1 << (right - 1)));
  return fixed_away(b, y, x, right);
}

wick_value wick_fixed_mul_below(wick_builder *b, wick_value x, int bits, wick_fixed f)
{
  int64_t right = -f.shift;
  if (b->status || bits > 30 || right < 1 || right > 30) return wick_fixed_mul(b, x, 1, &f);
  int64_t m = f.multiplier, half = (int64_t)1 << (right - 1);
  wick_value y = fixed_high(b, x, 1, &m, ((int64_t)1 << 30) + half * ((int64_t)1 << 31), 31);
  return fixed_away(b, y, x, right);
}

/* (x * m + half) >> right in i64, with one number for each factor. Shifts are those of a processor,
 * modulo 64. */
static wick_value fixed_product(wick_builder *b, wick_value x, uint32_t n, const int64_t *m,
                                const int64_t *right)
{
  int64_t *half = wick_new(b->mem, int64_t, n), *by = wick_new(b->mem, int64_t, n);
  for (uint32_t i = 0; i < n; i++) {
    half[i] = (int64_t)((uint64_t)1 << ((right[i] - 1) & 63));
    by[i] = right[i] & 63;
  }
  x = wick_build_cast(b, x, WICK_I64);
  x = wick_build2(b, WICK_OP_mul, x, fixed_table(b, x, n, m));
  x = wick_build2(b, WICK_OP_add, x, fixed_table(b, x, n, half));
  return wick_build2(b, WICK_OP_shift_right, x, fixed_table(b, x, n, by));
}

/* x in i64 as i32; a number that needs more bits is the least one, as when a processor converts floats. */
static wick_value fixed_narrow(wick_builder *b, wick_value x)
{
  wick_value least = wick_emit_number(b, x, INT32_MIN), most = wick_emit_number(b, x, INT32_MAX);
  wick_value above = wick_build2(b, WICK_OP_gt, x, most);
  x = wick_build3(b, WICK_OP_where, above, least, wick_build2(b, WICK_OP_max, x, least));
  return b->status ? x : wick_build_cast(b, x, WICK_I32);
}

wick_value wick_fixed_mul_once(wick_builder *b, wick_value x, uint32_t n, const wick_fixed *f,
                               int64_t zero)
{
  if (b->status) return x;
  int64_t *m = wick_new(b->mem, int64_t, n), *right = wick_new(b->mem, int64_t, n);
  bool narrow = wick_built_info(b, x)->elem == WICK_I32, above = true;
  for (uint32_t i = 0; i < n; i++) {
    m[i] = f[i].multiplier, right[i] = 31 - f[i].shift;
    above = above && right[i] > 31;
  }
  if (narrow && above) {
    for (uint32_t i = 0; i < n; i++) right[i] -= 31;
    return fixed_high_up(b, x, n, m, right, 0, zero);
  }
  if (narrow && fixed_same(n, right) && right[0] == 31)
    x = fixed_high(b, x, n, m, (int64_t)1 << 30, 31);
  else
    x = fixed_narrow(b, fixed_product(b, x, n, m, right));
  return zero ? wick_emit_by(b, WICK_OP_add, x, (double)zero) : x;
}

wick_value wick_fixed_mul_wide(wick_builder *b, wick_value x, uint32_t n, const wick_fixed *f)
{
  if (b->status) return x;
  int64_t *m = wick_new(b->mem, int64_t, n), *right = wick_new(b->mem, int64_t, n);
  for (uint32_t i = 0; i < n; i++) {
    m[i] = f[i].multiplier < 0x7FFF0000 ? (f[i].multiplier + (1 << 15)) >> 16 : 0x7FFF;
    right[i] = 15 - f[i].shift;
  }
  x = fixed_product(b, x, n, m, right);
  return b->status ? x : wick_build_cast(b, x, WICK_I32);
}

wick_value wick_fixed_divide(wick_builder *b, wick_value x, int exponent)
{
  int64_t right = exponent;
  return b->status ? x : fixed_round(b, x, 1, &right);
}

wick_value wick_fixed_divide_by(wick_builder *b, wick_value x, wick_value exponent)
{
  if (b->status) return x;
  wick_value one = wick_emit_number(b, x, 1), zero = wick_emit_number(b, x, 0);
  wick_value right = wick_build2(b, WICK_OP_max, exponent, zero);
  wick_value any = wick_build_cast(b, wick_build2(b, WICK_OP_gt, right, zero), WICK_I64);
  wick_value half =
      wick_build2(b, WICK_OP_shift_left, any,
                  wick_build2(b, WICK_OP_max, wick_build2(b, WICK_OP_sub, right, one), zero));
  wick_value sign = wick_build2(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_shift_right, x, 63), any);
  x = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_add, x, half), sign);
  return wick_build2(b, WICK_OP_shift_right, x, right);
}

wick_value wick_fixed_end(wick_builder *b, wick_value x, int64_t zero, int64_t lo, int64_t hi,
                          wick_elem to)
{
  wick_value in[3];
  if (b->status) return x;
  if (zero) x = wick_emit_by(b, WICK_OP_add, x, (double)zero);
  in[0] = x;
  in[1] = wick_emit_number(b, x, (double)lo), in[2] = wick_emit_number(b, x, (double)hi);
  x = wick_build(b, WICK_OP_clip, 3, in, NULL, 0, NULL);
  return b->status ? x : wick_build_cast(b, x, to);
}
