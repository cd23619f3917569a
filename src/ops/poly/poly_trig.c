/* Trigonometric functions. The reduction is that of Payne and Hanek, for arguments of any size.
 * Only a few bits of 2 / pi matter: those whose product with x is near the binary point. The
 * exponent of x selects them. The product is one of integers: its top two bits are the quadrant,
 * the others its fraction. There are no branches and no tables in memory: words are picked by
 * selections. */
#include "ops/poly/poly_trig.h"

#include <math.h>

enum { TRIG_MOST_WORDS = 21, TRIG_PICKED = 4 };

/* The bits of 2 / pi after the binary point, after a word of zeros. */
static const uint64_t trig_two_over_pi[2][TRIG_MOST_WORDS] = {
    {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
     0xdebbc561},
    {0,
     0xa2f9836e4e441529,
     0xfc2757d1f534ddc0,
     0xdb6295993c439041,
     0xfe5163abdebbc561,
     0xb7246e3a424dd2e0,
     0x06492eea09d1921c,
     0xfe1deb1cb129a73e,
     0xe88235f52ebb4484,
     0xe99c7026b45f7e41,
     0x3991d639835339f4,
     0x9c845f8bbdf9283b,
     0x1ff897ffde05980f,
     0xef2f118b5a0a6d1f,
     0x6d367ecf27cb09b7,
     0x4f463f669e5fea2d,
     0x7527bac7ebe5f17b,
     0x3d0739f78a5292ea,
     0x6bfb5fb11f8d5d08,
     0x56033046fc7b6bab,
     0xf0cfbc209af4361d},
};

/* pi / 2 in two forms: the upper half of its mantissa and the rest; and rounded, with the
 * rounding error. */
static const double trig_half_pi[2][4] = {
    {0x1.922p+0, -0x1.2aeef4b9ee59ep-18, 0x1.921fb6p+0, -0x1.777a5cf72cecep-25},
    {0x1.921fb58p+0, -0x1.dde973dcb3b3ap-27, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}};

/* sin r = r + r^3 P(r^2) for |r| <= pi / 4; relative errors 2^-27 and 2^-57. */
static const wick_poly trig_sin_table[2] = {
    {3, {-0x1.555546p-3, 0x1.110774p-7, -0x1.9951eap-13}},
    {6,
     {-0x1.5555555555548p-3, 0x1.111111110f731p-7, -0x1.a01a019be953bp-13, 0x1.71de3555612c1p-19,
      -0x1.ae5e4bb3c24f4p-26, 0x1.5d8b64c7cef09p-33}},
};

/* cos r = 1 - r^2 / 2 + r^4 P(r^2); errors 2^-32 and 2^-63. */
static const wick_poly trig_cos_table[2] = {
    {3, {0x1.55554ap-5, -0x1.6c0c28p-10, 0x1.99e80cp-16}},
    {6,
     {0x1.555555555554bp-5, -0x1.6c16c16c15005p-10, 0x1.a01a019c8c7dep-16, -0x1.27e4f7ef0e3ffp-22,
      0x1.1ee9d9c78cddap-29, -0x1.8fa55444cc009p-37}},
};

static uint32_t trig_wide(wick_builder *b, wick_value x)
{
  return wick_expr_format_of(b, x)->elem == WICK_F64;
}

/* ---- reduction ---- */

/* |x| = quadrant * pi / 2 + r + rest modulo 2 pi, where |r| is at most pi / 4 plus a rounding
 * error. */
typedef struct trig_reduced {
  wick_value quadrant; /* an integer, of which only the two lowest bits are valid */
  wick_value r, rest;
} trig_reduced;

/* Words of w = 32 or 64 bits, as unsigned integers. */
typedef struct trig_words {
  wick_builder *b;
  uint32_t w;
  wick_elem elem, sign; /* the unsigned and the signed type of a word */
} trig_words;

static wick_value trig_word(const trig_words *t, wick_value like, uint64_t i)
{
  return wick_expr_int(t->b, like, t->w == 32 ? (int64_t)(i & UINT32_MAX) : (int64_t)i);
}
static wick_value trig_and(const trig_words *t, wick_value x, uint64_t mask)
{
  return wick_build2(t->b, WICK_OP_bit_and, x, trig_word(t, x, mask));
}
static wick_value trig_or(const trig_words *t, wick_value x, wick_value y)
{
  return wick_build2(t->b, WICK_OP_bit_or, x, y);
}

/* Builds the upper word of the product of two words. x has at most 53 bits of 64. */
static wick_value trig_mul_high(const trig_words *t, wick_value x, wick_value y)
{
  wick_builder *b = t->b;
  if (t->w == 32) {
    wick_value p = expr_mul(b, wick_build_cast(b, x, WICK_U64), wick_build_cast(b, y, WICK_U64));
    return wick_build_cast(b, wick_expr_shr(b, p, 32), WICK_U32);
  }
  wick_value xl = trig_and(t, x, UINT32_MAX), xh = wick_expr_shr(b, x, 32);
  wick_value yl = trig_and(t, y, UINT32_MAX), yh = wick_expr_shr(b, y, 32);
  wick_value low = wick_expr_shr(b, expr_mul(b, xl, yl), 32);
  wick_value mid = expr_add(b, expr_mul(b, xh, yl), low); /* no carry: xh has 21 bits */
  wick_value mid2 = expr_add(b, expr_mul(b, xl, yh), trig_and(t, mid, UINT32_MAX));
  wick_value high = expr_add(b, expr_mul(b, xh, yh), wick_expr_shr(b, mid, 32));
  return expr_add(b, high, wick_expr_shr(b, mid2, 32));
}

/* Selects the four words from bit `offset` on, rounded down to a word, by a tree of selections
 * with one level for each bit of the word's number. */
static void trig_pick(const trig_words *t, wick_value offset, wick_value *out)
{
  bool wide = t->w == 64;
  uint32_t n = wide ? 21 : 9;
  wick_value word[TRIG_MOST_WORDS];
  for (uint32_t i = 0; i < n; i++) word[i] = trig_word(t, offset, trig_two_over_pi[wide][i]);
  for (uint32_t step = wide ? 16 : 4; step; step /= 2) {
    wick_value bit = trig_and(t, offset, (uint64_t)step * t->w);
    wick_value set = wick_build2(t->b, WICK_OP_ne, bit, trig_word(t, bit, 0));
    for (uint32_t i = 0; i < TRIG_PICKED + step - 1 && i + step < n; i++)
      word[i] = expr_where(t->b, set, word[i + step], word[i]);
  }
  for (uint32_t i = 0; i < TRIG_PICKED; i++) out[i] = word[i];
}

/* Shifts these words, so that three words begin at bit `offset`. */
static void trig_shift(const trig_words *t, wick_value offset, const wick_value *word,
                       wick_value *out)
{
  wick_builder *b = t->b;
  wick_value up = trig_and(t, offset, t->w - 1);
  wick_value down = wick_build2(b, WICK_OP_bit_xor, up, trig_word(t, up, t->w - 1));
  for (uint32_t i = 0; i < 3; i++) {
    wick_value low = wick_build2(b, WICK_OP_shift_right, wick_expr_shr(b, word[i + 1], 1), down);
    out[i] = trig_or(t, wick_build2(b, WICK_OP_shift_left, word[i], up), low);
  }
}

/* Converts the signed word `high` and the word `low` after it, divided by 2^w, to a float and
 * its rounding error. Pieces of half a word are exact. */
static void trig_fraction(const trig_words *t, wick_value high, wick_value low, wick_value *out_hi,
                          wick_value *out_lo)
{
  wick_builder *b = t->b;
  uint32_t half = t->w / 2;
  wick_elem f = t->w == 32 ? WICK_F32 : WICK_F64;
  uint64_t mask = ((uint64_t)1 << half) - 1;
  wick_value top = wick_expr_shr(b, wick_build_cast(b, high, t->sign), half);
  wick_value piece[4] = {top, trig_and(t, high, mask), wick_expr_shr(b, low, half),
                         trig_and(t, low, mask)};
  for (uint32_t i = 0; i < 4; i++) {
    /* Machines convert signed integers. Half a word is never negative. */
    wick_value x = wick_build_cast(b, wick_build_cast(b, piece[i], t->sign), f);
    piece[i] = expr_mulk(b, x, ldexp(1, -(int)(half * (i + 1))));
  }
  wick_value s1 = expr_add(b, piece[0], piece[1]);
  wick_value e1 = expr_sub(b, piece[1], expr_sub(b, s1, piece[0]));
  wick_value s2 = expr_add(b, s1, piece[2]);
  wick_value e2 = expr_sub(b, piece[2], expr_sub(b, s2, s1));
  *out_hi = s2;
  *out_lo = expr_add(b, expr_add(b, e1, e2), piece[3]);
}

/* Builds (hi + lo) pi / 2 as a float and its rounding error. */
static void trig_times_half_pi(wick_builder *b, wick_value hi, wick_value lo, trig_reduced *out)
{
  const double *p = trig_half_pi[trig_wide(b, hi)];
  wick_value upper = wick_expr_upper(b, hi);
  wick_value first = expr_mulk(b, upper, p[0]); /* exact */
  wick_value rest = expr_mulk(b, expr_add(b, expr_sub(b, hi, upper), lo), p[2]);
  rest = expr_mad(b, upper, expr_k(b, hi, p[1]), rest);
  out->r = expr_add(b, first, rest);
  out->rest = expr_sub(b, rest, expr_sub(b, out->r, first));
}

/* Reduces size = |x|. Below pi / 4, r is `size` itself. */
static trig_reduced trig_reduce(wick_builder *b, wick_value size)
{
  const wick_expr_format *f = wick_expr_format_of(b, size);
  bool wide = trig_wide(b, size);
  trig_words t = {b, wide ? 64 : 32, wide ? WICK_U64 : WICK_U32, f->bits};
  wick_value bits = wick_build_cast(b, wick_expr_bits(b, size), t.elem);
  /* x = m 2^e. The bits before e - 2 only give multiples of 4, and w zeros precede them. */
  wick_value m = trig_or(&t, trig_and(&t, bits, ((uint64_t)1 << f->mantissa) - 1),
                         trig_word(&t, bits, (uint64_t)1 << f->mantissa));
  int64_t shift = (int64_t)t.w - f->bias - f->mantissa - 2;
  wick_value offset =
      expr_add(b, wick_expr_shr(b, bits, f->mantissa), trig_word(&t, bits, (uint64_t)shift));
  wick_value picked[TRIG_PICKED], word[3];
  trig_pick(&t, offset, picked);
  trig_shift(&t, offset, picked, word);
  /* the upper two words of the product of m and the three words */
  wick_value middle = expr_mul(b, m, word[1]);
  wick_value low = expr_add(b, middle, trig_mul_high(&t, m, word[2]));
  wick_value carry = wick_build_cast(b, wick_build2(b, WICK_OP_lt, low, middle), t.elem);
  wick_value high = expr_add(b, expr_mul(b, m, word[0]), trig_mul_high(&t, m, word[1]));
  high = expr_add(b, high, carry);
  /* the quadrant, rounded to nearest; the fraction is then in [-1/2, 1/2) */
  wick_value one = trig_word(&t, high, 1);
  wick_value quadrant = expr_add(b, wick_expr_shr(b, high, t.w - 3), one);
  quadrant = wick_build_cast(b, wick_expr_shr(b, quadrant, 1), t.sign);
  wick_value high2 = trig_or(&t, wick_expr_shl(b, high, 2), wick_expr_shr(b, low, t.w - 2));
  wick_value hi, lo;
  trig_fraction(&t, high2, wick_expr_shl(b, low, 2), &hi, &lo);
  trig_reduced r;
  trig_times_half_pi(b, hi, lo, &r);
  wick_value small = expr_lt(b, size, M_PI_4);
  r.quadrant = expr_where(b, small, wick_expr_int(b, quadrant, 0), quadrant);
  r.r = expr_where(b, small, size, r.r);
  r.rest = expr_where(b, small, expr_k(b, size, 0), r.rest);
  return r;
}

/* ---- sine, cosine, tangent ---- */

typedef struct trig_pair {
  wick_value sin, cos; /* of r + rest */
} trig_pair;

static trig_pair trig_both(wick_builder *b, const trig_reduced *x)
{
  wick_value z = expr_mul(b, x->r, x->r), half = expr_mulk(b, z, -0.5);
  wick_value s = wick_poly_eval(b, z, wick_poly_of(b, z, trig_sin_table));
  wick_value c = wick_poly_eval(b, z, wick_poly_of(b, z, trig_cos_table));
  /* sin (r + rest) = sin r + rest cos r, cos (r + rest) = cos r - rest sin r */
  wick_value slope = expr_mad(b, half, x->rest, x->rest);
  s = expr_add(b, x->r, expr_mad(b, expr_mul(b, x->r, z), s, slope));
  c = expr_mad(b, expr_mul(b, z, z), c, expr_neg(b, expr_mul(b, x->r, x->rest)));
  return (trig_pair){s, expr_addk(b, expr_add(b, half, c), 1)};
}

static wick_value trig_is_odd(wick_builder *b, wick_value quadrant)
{
  wick_value one = wick_expr_int(b, quadrant, 1);
  wick_value bit = wick_build2(b, WICK_OP_bit_and, quadrant, one);
  return wick_build2(b, WICK_OP_ne, bit, wick_expr_int(b, quadrant, 0));
}

/* Negates y if bit `bit` of k is set, and again if x is negative (without x: not). NaN if `size`
 * is infinite or NaN. */
static wick_value trig_sign(wick_builder *b, wick_value y, wick_value k, uint32_t bit, wick_value x,
                            wick_value size)
{
  uint32_t top = wick_expr_format_of(b, y)->elem == WICK_F64 ? 63 : 31;
  wick_value flip = wick_expr_shl(b, k, top - bit);
  if (x.id) flip = wick_build2(b, WICK_OP_bit_xor, flip, wick_expr_bits(b, x));
  wick_value mask = wick_expr_int(b, k, top == 63 ? INT64_MIN : INT32_MIN);
  flip = wick_build2(b, WICK_OP_bit_and, flip, mask);
  y = wick_expr_from_bits(b, wick_build2(b, WICK_OP_bit_xor, wick_expr_bits(b, y), flip));
  wick_value finite = expr_lt(b, size, (double)INFINITY);
  return expr_where(b, finite, y, expr_k(b, y, (double)NAN));
}

wick_value wick_poly_sin(wick_builder *b, wick_value x)
{
  wick_value size = expr_abs(b, x);
  trig_reduced r = trig_reduce(b, size);
  trig_pair p = trig_both(b, &r);
  wick_value y = expr_where(b, trig_is_odd(b, r.quadrant), p.cos, p.sin);
  return trig_sign(b, y, r.quadrant, 1, x, size);
}

wick_value wick_poly_cos(wick_builder *b, wick_value x)
{
  wick_value size = expr_abs(b, x);
  trig_reduced r = trig_reduce(b, size);
  trig_pair p = trig_both(b, &r);
  wick_value y = expr_where(b, trig_is_odd(b, r.quadrant), p.sin, p.cos);
  wick_value next = expr_add(b, r.quadrant, wick_expr_int(b, r.quadrant, 1));
  return trig_sign(b, y, next, 1, (wick_value){0}, size);
}

wick_value wick_poly_tan(wick_builder *b, wick_value x)
{
  wick_value size = expr_abs(b, x);
  trig_reduced r = trig_reduce(b, size);
  trig_pair p = trig_both(b, &r);
  wick_value odd = trig_is_odd(b, r.quadrant);
  wick_value y = expr_div(b, expr_where(b, odd, p.cos, p.sin), expr_where(b, odd, p.sin, p.cos));
  return trig_sign(b, y, r.quadrant, 0, x, size);
}

/* ---- inverses ---- */

/* asin x = x + x^3 P(x^2) for |x| <= 1/2; relative errors 2^-27 and 2^-59. */
static const wick_poly trig_asin_table[2] = {
    {5, {0x1.5555c8p-3, 0x1.330204p-4, 0x1.747bbap-5, 0x1.8c3e2ep-6, 0x1.595c84p-5}},
    {13,
     {0x1.5555555555577p-3, 0x1.333333332e131p-4, 0x1.6db6db7212683p-5, 0x1.f1c71a94f2838p-6,
      0x1.6e8bdee0576c9p-6, 0x1.1c49f05a4bde3p-6, 0x1.ca1f8dc369648p-7, 0x1.7585865da49d9p-7,
      0x1.613ca1dfce338p-7, 0x1.e5f420ccac073p-9, 0x1.639ce79a26f5p-6, -0x1.57fe2a77e9e57p-6,
      0x1.0b46f5c405375p-5}},
};

/* atan x = x + x^3 P(x^2) for |x| <= tan(pi / 8); errors 2^-30 and 2^-59. */
static const wick_poly trig_atan_table[2] = {
    {5, {-0x1.55554ap-2, 0x1.9991ep-3, -0x1.23b964p-3, 0x1.b21fb8p-4, -0x1.f2ca0cp-5}},
    {11,
     {-0x1.555555555553cp-2, 0x1.999999999564ep-3, -0x1.24924922a0693p-3, 0x1.c71c70e107f32p-4,
      -0x1.745cf84ba4901p-4, 0x1.3b110f00b7fp-4, -0x1.10eb449f3a19bp-4, 0x1.df08ab63eada4p-5,
      -0x1.9cb4a603b6dc2p-5, 0x1.37888eb04d616p-5, -0x1.24c01849e0ae5p-6}},
};

/* x + x z P(z) */
static wick_value trig_odd(wick_builder *b, wick_value x, wick_value z, const wick_poly *table)
{
  wick_value p = wick_poly_eval(b, z, wick_poly_of(b, z, table));
  return expr_mad(b, expr_mul(b, x, z), p, x);
}

/* Builds asin |x|, or, if |x| is above 1/2, asin sqrt((1 - |x|) / 2), which is acos |x| / 2. */
static wick_value trig_asin_size(wick_builder *b, wick_value size, wick_value large)
{
  wick_value below = expr_mad(b, size, expr_k(b, size, -0.5), expr_k(b, size, 0.5)); /* exact */
  wick_value z = expr_where(b, large, below, expr_mul(b, size, size));
  wick_value u = expr_where(b, large, wick_build1(b, WICK_OP_sqrt, below), size);
  return trig_odd(b, u, z, trig_asin_table);
}

/* Builds c pi / 2 - y, with both parts of pi / 2. */
static wick_value trig_from_half_pi(wick_builder *b, double c, wick_value y)
{
  const double *p = trig_half_pi[trig_wide(b, y)];
  return expr_add(b, expr_k(b, y, c * p[2]), expr_sub(b, expr_k(b, y, c * p[3]), y));
}

wick_value wick_poly_asin(wick_builder *b, wick_value x)
{
  wick_value size = expr_abs(b, x), large = expr_gt(b, size, 0.5);
  wick_value p = trig_asin_size(b, size, large);
  wick_value y = expr_where(b, large, trig_from_half_pi(b, 1, expr_add(b, p, p)), p);
  return wick_expr_with_sign(b, expr_abs(b, y), x);
}

wick_value wick_poly_acos(wick_builder *b, wick_value x)
{
  wick_value size = expr_abs(b, x), large = expr_gt(b, size, 0.5), below = expr_lt(b, x, 0);
  wick_value p = trig_asin_size(b, size, large), twice = expr_add(b, p, p);
  wick_value signed_p = expr_where(b, below, expr_neg(b, p), p);
  wick_value far = expr_where(b, below, trig_from_half_pi(b, 2, twice), twice);
  return expr_where(b, large, far, trig_from_half_pi(b, 1, signed_p));
}

/* If |x| is above tan(3 pi / 8), atan |x| is pi / 2 + atan(-1 / |x|). If it is above tan(pi /
 * 8), it is pi / 4 + atan((|x| - 1) / (|x| + 1)). */
wick_value wick_poly_atan(wick_builder *b, wick_value x)
{
  const double *p = trig_half_pi[trig_wide(b, x)];
  wick_value t = expr_abs(b, x), one = expr_k(b, x, 1), zero = expr_k(b, x, 0);
  wick_value far = expr_gt(b, t, 0x1.3504f3p1), middle = expr_gt(b, t, 0x1.a82798p-2);
  wick_value upper =
      expr_where(b, far, expr_k(b, x, -1), expr_where(b, middle, expr_sub(b, t, one), t));
  wick_value lower = expr_where(b, far, t, expr_where(b, middle, expr_add(b, t, one), one));
  wick_value u = expr_div(b, upper, lower);
  wick_value y = trig_odd(b, u, expr_mul(b, u, u), trig_atan_table);
  wick_value base =
      expr_where(b, far, expr_k(b, x, p[2]), expr_where(b, middle, expr_k(b, x, p[2] / 2), zero));
  wick_value rest =
      expr_where(b, far, expr_k(b, x, p[3]), expr_where(b, middle, expr_k(b, x, p[3] / 2), zero));
  return wick_expr_with_sign(b, expr_abs(b, expr_add(b, base, expr_add(b, y, rest))), x);
}
