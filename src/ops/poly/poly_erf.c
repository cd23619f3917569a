/* The error function, and the tail of the normal distribution. */
#include "ops/poly/poly_erf.h"

/* erf x = x + x P(x^2) for |x| < 1.06 and 0.92; relative errors 2^-28 and 2^-56. */
static const wick_poly erf_small_table[2] = {
    {7,
     {0x1.06eba8p-3, -0x1.81273ap-2, 0x1.ce2beap-4, -0x1.b7e3dap-6, 0x1.53515ep-8, -0x1.9e9e44p-11,
      0x1.3a7b4ap-14}},
    {12,
     {0x1.06eba8214db69p-3, -0x1.812746b037a23p-2, 0x1.ce2f21a0455cdp-4, -0x1.b82ce3133e79ap-6,
      0x1.565bcd2788ad4p-8, -0x1.c02db800817a1p-11, 0x1.f9a38a56e3404p-14, -0x1.f4d84478b4f5ep-17,
      0x1.ba1a7b27ca9adp-20, -0x1.6030119b9b3ap-23, 0x1.f7854b6abb80cp-27, -0x1.0c71623ee9c1cp-30}},
};

/* For larger t in f32: erf t = 1 - (P(t) / 1.6)^4; relative error 2^-27. Of all powers, the fourth
 * needs the fewest operations that keep the error of erf below 1.5 ulp, and with 1.6 the values of
 * P are close to 1, where roundings are smallest, when its error counts most. In f64: erf t = 1 -
 * e^P(t); relative error 2^-61. The form is N. Juffa's. */
static const wick_poly erf_large_table[2] = {
    {9,
     {0x1.9ac4bp+0, -0x1.e6192ep-2, -0x1.1db4dp-3, -0x1.3e364p-5, 0x1.3d34a6p-4, -0x1.8115bcp-6,
      0x1.0bbab8p-9, 0x1.62f258p-13, -0x1.de6f02p-16}},
    {20, {-0x1.1547f0e1a3e3p-34,  -0x1.20dd759ce7f21p+0,  -0x1.45f2f8923bfa6p-1,
          -0x1.a4f76225739bp-4,   0x1.39896ff7682f6p-6,   0x1.8bed430baca0fp-13,
          -0x1.b2dfed311d3d6p-10, 0x1.19c0183d669fcp-11,  0x1.15d6d3aa2aed8p-15,
          -0x1.ec783d315a3afp-14, 0x1.1d02ef6b3ba2p-14,   -0x1.ac22f310234c5p-16,
          0x1.e1322c61c50b1p-18,  -0x1.a442ed226858fp-20, 0x1.1e7e8386d9775p-22,
          -0x1.2c845b95f60f5p-25, 0x1.d5892d9ce8abfp-29,  -0x1.01849c2a61776p-32,
          0x1.61ebb4d57d5bfp-37,  -0x1.ca6b8c0f3cf33p-43}},
};

/* Where the second form begins, and from where on erf rounds to 1. */
static const double erf_begin[2] = {1.06, 0.92}, erf_end[2] = {3.95, 5.95};

static uint32_t erf_wide(wick_builder *b, wick_value x)
{
  return wick_expr_format_of(b, x)->elem == WICK_F64;
}

static wick_value erf_large(wick_builder *b, wick_value t)
{
  wick_value p = wick_poly_eval(b, t, wick_poly_of(b, t, erf_large_table));
  if (erf_wide(b, t)) return expr_neg(b, wick_poly_expm1_minus(b, p));
  wick_value square = expr_mul(b, p, p);
  wick_value scaled = expr_mulk(b, square, -1 / (1.6 * 1.6 * 1.6 * 1.6));
  return expr_mad(b, scaled, square, expr_k(b, t, 1));
}

wick_value wick_poly_erf(wick_builder *b, wick_value x)
{
  uint32_t wide = erf_wide(b, x);
  wick_value t = expr_at_most(b, expr_abs(b, x), erf_end[wide]);
  wick_value large = erf_large(b, t);
  wick_value q = wick_poly_eval(b, expr_mul(b, x, x), wick_poly_of(b, x, erf_small_table));
  wick_value small = expr_mad(b, x, q, x);
  wick_value below = expr_lt(b, t, erf_begin[wide]);
  return expr_where(b, below, small, wick_expr_with_sign(b, large, x));
}

/* (t + c) Phi(-t) e^(t^2 / 2), a polynomial in t / (t + c) - 1/2; relative errors 2^-25 and
 * 2^-54. */
static const wick_poly erf_tail_table[2] = {
    {10,
     {0x1.82b4bcp-1, -0x1.373e38p+0, 0x1.8c6d72p+0, -0x1.7e002cp+0, 0x1.eee37p-1, -0x1.ecfbeep-3,
      -0x1.cfdcdcp-3, 0x1.97ae78p-3, 0x1.b7767ap-5, -0x1.ca8d42p-5}},
    {24,
     {0x1.89d3abe1f95aep-1,  -0x1.54ad03f27ca18p+0, 0x1.fb31653876f89p+0,  -0x1.410ed5f87594cp+1,
      0x1.51f6329f01ba2p+1,  -0x1.1b1c254ca3f75p+1, 0x1.54b4d4f48aec5p+0,  -0x1.88590e985fb9bp-2,
      -0x1.a2503778cf2f9p-3, 0x1.1daf1ae14fdc5p-2,  -0x1.f21492a0b18e1p-5, -0x1.a17013c516125p-4,
      0x1.17df10838dd37p-4,  0x1.0b14eebaa1ad9p-5,  -0x1.73e048f03ee37p-5, -0x1.674b322e1bd28p-7,
      0x1.d465fb4b5b33ap-6,  0x1.598709a87919bp-8,  -0x1.2ce3527e68aa8p-6, -0x1.2698123ac1a25p-8,
      0x1.70ba806e92f92p-7,  0x1.2ff658bbd31abp-8,  -0x1.39344f76c729dp-8, -0x1.9aa38a5fc3ddp-9}},
};
static const double erf_tail_center[2] = {4, 5};

/* Builds e^(-t^2 / 2). The square of t's upper half is exact; the rest is passed separately. */
static wick_value erf_gauss(wick_builder *b, wick_value t)
{
  wick_value high = wick_expr_upper(b, t);
  wick_value low = expr_mul(b, expr_sub(b, t, high), expr_add(b, t, high));
  return wick_poly_exp_within(b, expr_mul(b, expr_mulk(b, high, -0.5), high),
                              expr_mulk(b, low, -0.5));
}

double wick_poly_normal_least(wick_elem elem)
{
  return elem == WICK_F64 ? -0x1.2c27b05bf1a0ap+5 : -0x1.9e6602p+3;
}

wick_value wick_poly_normal_tail(wick_builder *b, wick_value x)
{
  uint32_t wide = erf_wide(b, x);
  double most = -wick_poly_normal_least(wick_expr_format_of(b, x)->elem);
  wick_value t = expr_at_most(b, expr_abs(b, x), most);
  wick_value w = expr_div(b, t, expr_addk(b, t, erf_tail_center[wide]));
  wick_value r = expr_mul(b, wick_poly_eval(b, expr_addk(b, w, -0.5), &erf_tail_table[wide]), w);
  return expr_mul(b, r, erf_gauss(b, t));
}
