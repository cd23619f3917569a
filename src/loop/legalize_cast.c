/* Converts narrow floats by their bits, with a table of the formats' parameters. */
#include "loop/legalize_cast.h"

#include <math.h>

typedef struct legalize_format {
  wick_elem bits; /* the unsigned integer of its size */
  int32_t size, man, bias;
  uint32_t most; /* the largest finite code */
  uint32_t over; /* the code for infinity and larger numbers */
  /* NaN without its sign bit; f4e2m1 has none and uses -0, or 0 for a negative NaN */
  uint32_t nan;
  bool infinity; /* `over` is infinity; NaNs have the codes after it, and keep their upper bits */
  bool fnuz;     /* there is no -0: its code is NaN */
} legalize_format;

static legalize_format legalize_format_of(wick_elem e)
{
  switch (e) {
  case WICK_F16:
    return (legalize_format){WICK_U16, 16, 10, 15, 0x7bff, 0x7c00, 0x7e00, true, false};
  case WICK_BF16:
    return (legalize_format){WICK_U16, 16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, true, false};
  case WICK_F8E4M3: return (legalize_format){WICK_U8, 8, 3, 7, 0x7e, 0x7f, 0x7f, false, false};
  case WICK_F8E4M3FNUZ: return (legalize_format){WICK_U8, 8, 3, 8, 0x7f, 0x80, 0x80, false, true};
  case WICK_F8E5M2: return (legalize_format){WICK_U8, 8, 2, 15, 0x7b, 0x7c, 0x7e, true, false};
  case WICK_F8E5M2FNUZ: return (legalize_format){WICK_U8, 8, 2, 16, 0x7f, 0x80, 0x80, false, true};
  default: return (legalize_format){WICK_U4, 4, 1, 1, 7, 7, 8, false, false}; /* f4e2m1 */
  }
}

/* ---- words of 32 bits ---- */

static wick_value legalize_u(wick_builder *b, wick_value like, uint32_t i)
{
  return wick_expr_int(b, like, (int64_t)i);
}
static wick_value legalize_op(wick_builder *b, wick_opcode op, wick_value x, uint32_t i)
{
  return wick_build2(b, op, x, legalize_u(b, x, i));
}
static wick_value legalize_and(wick_builder *b, wick_value x, uint32_t i)
{
  return legalize_op(b, WICK_OP_bit_and, x, i);
}
static wick_value legalize_or(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_bit_or, x, y);
}

static wick_value legalize_bitcast(wick_builder *b, wick_value x, wick_elem to)
{
  wick_type want = wick_type_with_elem(b->module, wick_built_type(b, x), to);
  return wick_build(b, WICK_OP_bitcast, 1, &x, NULL, 1, &want);
}
static wick_value legalize_word(wick_builder *b, wick_value f32)
{
  return legalize_bitcast(b, f32, WICK_U32);
}
static wick_value legalize_float(wick_builder *b, wick_value word)
{
  return legalize_bitcast(b, word, WICK_F32);
}

/* ---- to f32 ---- */

/* Decodes a power of two. The exponent's code is the same as in f32, except 0 (2^-127) and 255
 * (NaN). */
static wick_value legalize_decode_power(wick_builder *b, wick_value code)
{
  wick_value zero = legalize_op(b, WICK_OP_eq, code, 0),
             last = legalize_op(b, WICK_OP_eq, code, 255);
  wick_value r = expr_where(b, zero, legalize_u(b, code, 0x00400000), wick_expr_shl(b, code, 23));
  return legalize_float(b, expr_where(b, last, legalize_u(b, code, 0x7fc00000), r));
}

/* Moves the code's exponent and fraction to their positions in f32. The result is wrong only by the
 * difference of the biases, also below the normal range. A multiplication corrects that exactly. */
static wick_value legalize_decode(wick_builder *b, wick_value x, wick_elem e)
{
  wick_elem bits = e == WICK_F8E8M0 ? WICK_U8 : legalize_format_of(e).bits;
  wick_value code = wick_build_cast(b, legalize_bitcast(b, x, bits), WICK_U32);
  if (e == WICK_F8E8M0) return legalize_decode_power(b, code);
  if (e == WICK_BF16) return legalize_float(b, wick_expr_shl(b, code, 16));
  legalize_format f = legalize_format_of(e);
  uint32_t top = 1u << (f.size - 1);
  wick_value size = legalize_and(b, code, top - 1);
  wick_value scaled = legalize_float(b, wick_expr_shl(b, size, (uint32_t)(23 - f.man)));
  wick_value r = legalize_word(b, expr_mulk(b, scaled, ldexp(1, 127 - f.bias)));
  if (f.infinity) {
    wick_value is_inf = legalize_op(b, WICK_OP_ge, size, f.over),
               is_nan = legalize_op(b, WICK_OP_gt, size, f.over), none = legalize_u(b, size, 0);
    r = legalize_or(b, r, expr_where(b, is_inf, legalize_u(b, r, 0x7f800000), none));
    r = legalize_or(b, r, expr_where(b, is_nan, legalize_u(b, r, 0x00400000), none));
  }
  if (!f.infinity && e != WICK_F4E2M1) {
    wick_value is_nan = legalize_op(b, WICK_OP_eq, f.fnuz ? code : size, f.nan);
    r = expr_where(b, is_nan, legalize_u(b, r, 0x7fc00000), r);
  }
  wick_value sign = wick_expr_shl(b, legalize_and(b, code, top), (uint32_t)(32 - f.size));
  r = legalize_or(b, r, sign); /* the sign, also of a NaN */
  return legalize_float(b, r);
}

/* ---- from f32 ---- */

/* Encodes the nearest power of two; halves round up. NaN and negative numbers give NaN. */
static wick_value legalize_encode_power(wick_builder *b, wick_value x)
{
  wick_value word = legalize_word(b, x);
  wick_value normal = legalize_op(b, WICK_OP_ge, word, 0x00800000);
  wick_value half =
      expr_where(b, normal, legalize_u(b, word, 0x00400000), legalize_u(b, word, 0x00200000));
  wick_value r = wick_expr_shr(b, expr_add(b, word, half), 23);
  wick_value bad = wick_build1(b, WICK_OP_not, wick_build2(b, WICK_OP_ge, x, expr_k(b, x, 0)));
  r = expr_where(b, expr_eq(b, x, 0), legalize_u(b, r, 0), r);
  return expr_where(b, bad, legalize_u(b, r, 255), r);
}

/* Returns the code of |x|, whose bits are `size`. It rounds in integers; below the normal range it
 * adds a number whose last bit has the weight of the smallest code. */
static wick_value legalize_round(wick_builder *b, wick_value size, const legalize_format *f)
{
  uint32_t shift = (uint32_t)(23 - f->man), less = (uint32_t)(127 - f->bias) << 23;
  wick_value odd = legalize_and(b, wick_expr_shr(b, size, shift), 1);
  wick_value up = legalize_op(b, WICK_OP_add, size, (1u << (shift - 1)) - 1 - less);
  wick_value r = wick_expr_shr(b, expr_add(b, up, odd), shift);
  if (f->bias == 127) return r;
  double magic = ldexp(1, 1 - f->bias - f->man + 23);
  wick_value m = legalize_word(b, expr_addk(b, legalize_float(b, size), magic));
  wick_value small = expr_sub(b, m, legalize_word(b, expr_k(b, legalize_float(b, size), magic)));
  return expr_where(b, legalize_op(b, WICK_OP_lt, size, less + (1u << 23)), small, r);
}

static wick_value legalize_encode_word(wick_builder *b, wick_value x, const legalize_format *f)
{
  uint32_t top = 1u << (f->size - 1);
  wick_value word = legalize_word(b, x), size = legalize_and(b, word, 0x7fffffff);
  wick_value r = legalize_round(b, size, f);
  if (f->bias != 127) /* if the exponents are those of f32, numbers that are too large already have
                         the code of infinity */
    r = expr_where(b, legalize_op(b, WICK_OP_gt, r, f->most), legalize_u(b, r, f->over), r);
  wick_value nan = legalize_u(b, r, f->nan);
  if (f->infinity) {
    wick_value kept =
        legalize_and(b, wick_expr_shr(b, size, (uint32_t)(23 - f->man)), (1u << f->man) - 1);
    nan = legalize_or(b, nan, kept);
  }
  r = expr_where(b, legalize_op(b, WICK_OP_gt, size, 0x7f800000), nan, r);
  wick_value sign = wick_expr_shr(b, legalize_and(b, word, 0x80000000), (uint32_t)(32 - f->size));
  if (f->fnuz) sign = expr_where(b, legalize_op(b, WICK_OP_eq, r, 0), r, sign); /* there is no -0 */
  if (f->fnuz) return expr_where(b, legalize_op(b, WICK_OP_eq, r, top), r, legalize_or(b, r, sign));
  return wick_build2(b, WICK_OP_bit_xor, r, sign);
}

static wick_value legalize_encode(wick_builder *b, wick_value x, wick_elem e)
{
  if (e == WICK_F8E8M0)
    return legalize_bitcast(b, wick_build_cast(b, legalize_encode_power(b, x), WICK_U8), e);
  legalize_format f = legalize_format_of(e);
  return legalize_bitcast(b, wick_build_cast(b, legalize_encode_word(b, x, &f), f.bits), e);
}

/* ---- wider types, rounded to odd: the last bit is set if any bit was lost, so that only the
 * rounding that follows matters (Boldo and Melquiond 2008) ---- */

static wick_value legalize_odd_f64(wick_builder *b, wick_value x)
{
  wick_value r = wick_build_cast(b, x, WICK_F32), back = wick_build_cast(b, r, WICK_F64);
  wick_value word = legalize_word(b, r);
  wick_value larger = wick_build2(b, WICK_OP_gt, expr_abs(b, back), expr_abs(b, x));
  wick_value down = expr_sub(b, word, wick_build_cast(b, larger, WICK_U32));
  wick_value odd = legalize_or(b, down, legalize_u(b, down, 1));
  wick_value exact = wick_build2(b, WICK_OP_eq, back, x);
  wick_value keep = wick_build2(b, WICK_OP_or, exact, wick_build2(b, WICK_OP_ne, x, x));
  return expr_where(b, keep, r, legalize_float(b, odd));
}

/* Integers of 64 bits with more than 48 significant bits first lose the lower 16. */
static wick_value legalize_odd_wide(wick_builder *b, wick_value x)
{
  wick_value top = wick_expr_shr(b, x, 16);
  wick_value lost = wick_build2(b, WICK_OP_ne, wick_expr_shl(b, top, 16), x);
  wick_value odd = legalize_or(b, top, wick_build_cast(b, lost, wick_built_info(b, x)->elem));
  wick_value large = expr_mulk(b, wick_build_cast(b, odd, WICK_F64), 65536);
  wick_value above = wick_expr_shr(b, x, 48); /* only zeros, or copies of the sign */
  wick_value small = expr_eq(b, above, 0);
  if (wick_elem_class(wick_built_info(b, x)->elem) == WICK_SINT)
    small = wick_build2(b, WICK_OP_or, small, expr_eq(b, above, -1));
  return expr_where(b, small, wick_build_cast(b, x, WICK_F64), large);
}

static wick_value legalize_to_f32(wick_builder *b, wick_value x, wick_elem from)
{
  if (from == WICK_F64) return legalize_odd_f64(b, x);
  if (!wick_elem_is_int(from) || wick_elem_storage[from].bits < 32)
    return wick_build_cast(b, x, WICK_F32); /* exact */
  bool wide = wick_elem_storage[from].bits == 64;
  return legalize_odd_f64(b, wide ? legalize_odd_wide(b, x) : wick_build_cast(b, x, WICK_F64));
}

wick_value wick_legalize_cast(wick_builder *b, wick_value x, wick_elem to, uint64_t native)
{
  wick_elem from = wick_built_info(b, x)->elem;
  if (from == to) return x;
  if (wick_legalize_is_narrow(from))
    x = native & WICK_BIT(from) ? wick_build_cast(b, x, WICK_F32) : legalize_decode(b, x, from);
  else
    x = legalize_to_f32(b, x, from);
  if (!wick_legalize_is_narrow(to)) return wick_build_cast(b, x, to);
  return native & WICK_BIT(to) ? wick_build_cast(b, x, to) : legalize_encode(b, x, to);
}
