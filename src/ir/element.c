/* Converts bits to numbers and numbers to bits, for every stored element type. */
#include "ir/element.h"

#include <math.h>
#include <string.h>

/* ---- narrow floats, by their format's parameters ---- */

typedef struct element_format {
  int exp_bits, man_bits, bias;
  bool infinity; /* has infinities */
  bool one_nan;  /* f8e4m3: all ones is NaN; fnuz: only 0x80 is */
  bool fnuz;
} element_format;

static element_format element_format_of(wick_elem e)
{
  switch (e) {
  case WICK_F16: return (element_format){5, 10, 15, true, false, false};
  case WICK_BF16: return (element_format){8, 7, 127, true, false, false};
  case WICK_F8E4M3: return (element_format){4, 3, 7, false, true, false};
  case WICK_F8E4M3FNUZ: return (element_format){4, 3, 8, false, false, true};
  case WICK_F8E5M2: return (element_format){5, 2, 15, true, false, false};
  case WICK_F8E5M2FNUZ: return (element_format){5, 2, 16, false, false, true};
  case WICK_F4E2M1: return (element_format){2, 1, 1, false, false, false};
  /* f8e8m0, which is handled separately */
  default: return (element_format){8, 0, 127, false, true, false};
  }
}

/* Returns a quiet NaN of this sign, whose mantissa begins with the n bits `man`. */
static double element_quiet(bool negative, uint32_t man, int n)
{
  uint64_t bits =
      (uint64_t)negative << 63 | UINT64_C(0xfff) << 51 | (n ? (uint64_t)man << (52 - n) : 0);
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double element_decode(wick_elem e, uint32_t bits)
{
  if (e == WICK_F8E8M0) return bits == 0xff ? (double)NAN : ldexp(1.0, (int)bits - 127);
  element_format f = element_format_of(e);
  uint32_t man = bits & ((1u << f.man_bits) - 1),
           exp = bits >> f.man_bits & ((1u << f.exp_bits) - 1);
  uint32_t top = (1u << f.exp_bits) - 1;
  double sign = bits >> (f.man_bits + f.exp_bits) & 1 ? -1 : 1;
  if (f.fnuz && man == 0 && exp == 0 && sign < 0) return element_quiet(true, 0, 0);
  if (f.infinity && exp == top)
    return man ? element_quiet(sign < 0, man, f.man_bits) : sign * (double)INFINITY;
  if (f.one_nan && exp == top && man == (1u << f.man_bits) - 1)
    return element_quiet(sign < 0, 0, 0);
  if (exp == 0) return sign * ldexp(man, 1 - f.bias - f.man_bits);
  return sign * ldexp(man + (1u << f.man_bits), (int)exp - f.bias - f.man_bits);
}

static uint32_t element_nan(wick_elem e, const element_format *f, double x)
{
  uint32_t sign = signbit(x) ? 1u << (f->man_bits + f->exp_bits) : 0;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (f->fnuz) return 1u << (f->man_bits + f->exp_bits);
  if (e == WICK_F4E2M1) return sign ^ 8; /* no NaN: a zero of the opposite sign */
  if (f->one_nan) return sign | ((1u << (f->man_bits + f->exp_bits)) - 1);
  uint32_t man = (uint32_t)(bits >> (52 - f->man_bits)) & ((1u << f->man_bits) - 1);
  return sign | ((1u << f->exp_bits) - 1) << f->man_bits | 1u << (f->man_bits - 1) | man;
}

static uint32_t element_overflow(wick_elem e, const element_format *f, uint32_t sign)
{
  if (e == WICK_F4E2M1) return sign | 7;
  if (f->infinity) return sign | ((1u << f->exp_bits) - 1) << f->man_bits;
  return element_nan(e, f, copysign((double)NAN, sign ? -1 : 1));
}

static uint32_t element_encode_e8m0(double x)
{
  if (isnan(x) || isinf(x) || x < 0) return 0xff;
  int exp;
  double m = frexp(x, &exp); /* x = m * 2^exp, m in [0.5, 1) */
  exp += m >= 0.75 ? 0 : -1; /* the nearest power of two; halves round up */
  if (x == 0 || exp < -127) return 0;
  return exp > 127 ? 0xff : (uint32_t)(exp + 127);
}

static uint32_t element_encode(wick_elem e, double x)
{
  if (e == WICK_F8E8M0) return element_encode_e8m0(x);
  element_format f = element_format_of(e);
  uint32_t sign = signbit(x) ? 1u << (f.man_bits + f.exp_bits) : 0;
  if (isnan(x)) return element_nan(e, &f, x);
  double a = fabs(x);
  if (isinf(x)) return element_overflow(e, &f, sign);
  int exp = 0;
  if (a != 0) frexp(a, &exp), exp -= 1;
  if (exp < 1 - f.bias) exp = 1 - f.bias; /* subnormal */
  /* exact scaling, then rounding to nearest even */
  double q = nearbyint(ldexp(a, f.man_bits - exp));
  if (q >= ldexp(1, f.man_bits + 1)) q /= 2, exp++;
  if (q == 0) return f.fnuz ? 0 : sign;
  uint32_t man = (uint32_t)q, bits;
  if (man < 1u << f.man_bits)
    bits = man;
  else {
    int64_t biased = exp + f.bias;
    if (biased >= 1 << f.exp_bits) return element_overflow(e, &f, sign);
    bits = (uint32_t)biased << f.man_bits | (man & ((1u << f.man_bits) - 1));
  }
  uint32_t top = ((1u << f.exp_bits) - 1) << f.man_bits,
           last = (1u << (f.exp_bits + f.man_bits)) - 1;
  if ((f.infinity && bits >= top) || (f.one_nan && bits >= last))
    return element_overflow(e, &f, sign);
  return sign | bits;
}

uint16_t wick_f64_to_bits16(wick_elem e, double x) { return (uint16_t)element_encode(e, x); }
double wick_bits16_to_f64(wick_elem e, uint16_t bits) { return element_decode(e, bits); }

/* ---- memory ---- */

#define ELEMENT_GET(type)                                                                          \
  {                                                                                                \
    type x;                                                                                        \
    memcpy(&x, (const char *)data + k * sizeof x, sizeof x);                                       \
    return (wick_scalar){.i = (int64_t)x};                                                         \
  }

static uint32_t element_sub_byte(const void *data, uint64_t k, uint32_t bits)
{
  const unsigned char *p = data;
  uint64_t bit = k * bits;
  return (uint32_t)p[bit / 8] >> (bit % 8) & ((1u << bits) - 1);
}

static int64_t element_sign(uint32_t x, uint32_t bits)
{
  return (int64_t)x - (x >> (bits - 1) ? (int64_t)1 << bits : 0);
}

wick_scalar wick_load_elem(wick_elem e, const void *data, uint64_t k)
{
  uint32_t bits = wick_elem_storage[e].bits;
  switch (e) {
  case WICK_F64: {
    double x;
    memcpy(&x, (const char *)data + k * 8, 8);
    return (wick_scalar){.f = x};
  }
  case WICK_F32: {
    float x;
    memcpy(&x, (const char *)data + k * 4, 4);
    return (wick_scalar){.f = (double)x};
  }
  case WICK_F16:
  case WICK_BF16: {
    uint16_t x;
    memcpy(&x, (const char *)data + k * 2, 2);
    return (wick_scalar){.f = element_decode(e, x)};
  }
  case WICK_I64:
  case WICK_U64:
  case WICK_STRING: ELEMENT_GET(int64_t)
  case WICK_I32: ELEMENT_GET(int32_t)
  case WICK_U32: ELEMENT_GET(uint32_t)
  case WICK_I16: ELEMENT_GET(int16_t)
  case WICK_U16: ELEMENT_GET(uint16_t)
  case WICK_I8: ELEMENT_GET(int8_t)
  case WICK_U8: ELEMENT_GET(uint8_t)
  case WICK_BOOL: return (wick_scalar){.i = ((const unsigned char *)data)[k] != 0};
  case WICK_I4:
  case WICK_I2: return (wick_scalar){.i = element_sign(element_sub_byte(data, k, bits), bits)};
  case WICK_U4:
  case WICK_U2: return (wick_scalar){.i = element_sub_byte(data, k, bits)};
  case WICK_F4E2M1: return (wick_scalar){.f = element_decode(e, element_sub_byte(data, k, 4))};
  case WICK_F8E4M3:
  case WICK_F8E4M3FNUZ:
  case WICK_F8E5M2:
  case WICK_F8E5M2FNUZ:
  case WICK_F8E8M0: return (wick_scalar){.f = element_decode(e, ((const unsigned char *)data)[k])};
  default: return (wick_scalar){.i = 0};
  }
}

int64_t wick_load_int(wick_elem e, const void *data, uint64_t k)
{
  return wick_load_elem(e, data, k).i;
}

void wick_store_elem(wick_elem e, void *data, uint64_t k, wick_scalar s)
{
  unsigned char *p = data;
  uint32_t bits = wick_elem_storage[e].bits;
  if (e == WICK_F64) {
    memcpy(p + k * 8, &s.f, 8);
  } else if (e == WICK_F32) {
    float x = (float)s.f;
    memcpy(p + k * 4, &x, 4);
  } else if (e == WICK_BOOL) {
    p[k] = s.i != 0;
  } else {
    uint64_t x = wick_elem_is_float(e) ? element_encode(e, s.f) : (uint64_t)s.i;
    if (bits < 8) {
      uint64_t bit = k * bits;
      uint32_t mask = ((1u << bits) - 1) << (bit % 8);
      p[bit / 8] = (unsigned char)((p[bit / 8] & ~mask) | ((uint32_t)x << (bit % 8) & mask));
    } else {
      for (uint32_t i = 0; i < bits / 8; i++) p[k * (bits / 8) + i] = (unsigned char)(x >> (8 * i));
    }
  }
}

wick_scalar wick_round_elem(wick_elem e, wick_scalar s)
{
  if (e == WICK_F64) return s;
  if (e == WICK_F32) return (wick_scalar){.f = (double)(float)s.f};
  unsigned char stored[16] = {0};
  wick_store_elem(e, stored, 0, s);
  return wick_load_elem(e, stored, 0);
}

static int64_t element_saturate(wick_elem to, double x)
{
  if (isnan(x)) return 0;
  uint32_t bits = wick_elem_storage[to].bits;
  bool is_signed = wick_elem_class(to) == WICK_SINT;
  double lo = is_signed ? -ldexp(1, (int)bits - 1) : 0, hi = ldexp(1, (int)bits - is_signed);
  x = trunc(x);
  if (x >= hi)
    return is_signed    ? (int64_t)(((uint64_t)1 << (bits - 1)) - 1)
           : bits == 64 ? -1
                        : (int64_t)(((uint64_t)1 << bits) - 1);
  if (x <= lo) return is_signed ? -(int64_t)(((uint64_t)1 << (bits - 1)) - 1) - 1 : 0;
  return is_signed ? (int64_t)x : (int64_t)(uint64_t)x;
}

/* Converts an integer to a double that rounds to every narrower type as the integer does. If it
 * has too many bits, the last bit that is kept is set if any bit was lost. */
static double element_odd(int64_t i, bool is_unsigned)
{
  const int64_t exact = (int64_t)1 << 53;
  if (is_unsigned ? (uint64_t)i < (uint64_t)exact : i > -exact && i < exact) return (double)i;
  int64_t top = is_unsigned ? (int64_t)((uint64_t)i >> 12) : i >> 12; /* 52 bits and a sign */
  return ldexp((double)(top | ((i & 0xfff) != 0)), 12);
}

wick_scalar wick_cast_elem(wick_elem from, wick_elem to, wick_scalar s)
{
  bool ff = wick_elem_is_float(from), tf = wick_elem_is_float(to);
  if (to == WICK_BOOL) return (wick_scalar){.i = ff ? s.f != 0 : s.i != 0};
  if (ff && tf) return wick_round_elem(to, s);
  if (ff) return (wick_scalar){.i = element_saturate(to, s.f)};
  if (!tf) return wick_round_elem(to, s);
  if (to == WICK_F64)
    return (wick_scalar){.f = from == WICK_U64 ? (double)(uint64_t)s.i : (double)s.i};
  return wick_round_elem(to, (wick_scalar){.f = element_odd(s.i, from == WICK_U64)});
}

wick_scalar wick_eval_scalar(wick_opcode op, const wick_attr *attr, wick_elem elem, wick_elem out,
                             const wick_scalar *in)
{
  const wick_op *row = wick_ops[op];
  wick_elem arith = wick_elem_storage[out].arith;
  wick_scalar s = row->eval(attr, elem, out, in);
  return wick_round_elem(out, arith == out ? s : wick_round_elem(arith, s));
}
