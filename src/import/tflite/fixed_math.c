/* Functions of fixed-point numbers as gemmlowp computes them. */
#include "import/tflite/fixed_math.h"

#include <stdbool.h>

static int64_t math_most(int width) { return ((int64_t)1 << (width - 1)) - 1; }

static int64_t math_saturate(int64_t x, int width)
{
  int64_t most = math_most(width);
  return x > most ? most : x < -most - 1 ? -most - 1 : x;
}

/* The high half of the doubled product, rounded to the nearest. */
static int64_t math_mul(int64_t a, int64_t b, int width)
{
  int64_t least = -math_most(width) - 1, half = (int64_t)1 << (width - 2);
  if (a == b && a == least) return math_most(width);
  return (a * b + half) >> (width - 1);
}

/* x * 2^exponent: saturating, or rounded to the nearest, ties away from 0. */
static int64_t math_scale(int64_t x, int exponent, int width)
{
  if (exponent > 0) return math_saturate(x * ((int64_t)1 << exponent), width);
  if (!exponent) return x;
  return (x + ((int64_t)1 << (-exponent - 1)) - (x < 0)) >> -exponent;
}

/* A constant of 32 bits in fewer. */
static int64_t math_constant(int64_t x, int width)
{
  return math_saturate(math_scale(x, width - 32, 64), width);
}

/* (a + b) / 2, ties away from 0. */
static int64_t math_half_sum(int64_t a, int64_t b)
{
  int64_t sum = a + b;
  return (sum + (sum >= 0 ? 1 : -1)) / 2;
}

/* exp(x) for x in [-1/4, 0): a Taylor polynomial around -1/8. */
static int64_t math_exp_quarter(int64_t a, int width)
{
  int64_t term = math_constant(1895147668, width), third = math_constant(715827883, width);
  int64_t x = a + ((int64_t)1 << (width - 4)), x2 = math_mul(x, x, width),
          x3 = math_mul(x2, x, width), x4 = math_mul(x2, x2, width);
  int64_t rest = math_scale(x4, -2, width) + x3;
  rest = math_scale(math_mul(rest, third, width) + x2, -1, width);
  return math_saturate(term + math_mul(term, x + rest, width), width);
}

int64_t wick_fixed_exp(int64_t x, int integer, int width)
{
  static const int64_t factor[] = {1672461947, 1302514674, 790015084, 290630308,
                                   39332535,   720401,     242}; /* exp(-2^k), k from -2 on */
  int fraction = width - 1 - integer;
  int64_t quarter = (int64_t)1 << (fraction - 2);
  if (!x) return math_most(width);
  int64_t part = (x & (quarter - 1)) - quarter, rest = part - x;
  int64_t y = math_exp_quarter(math_scale(part, integer, width), width);
  for (int k = -2; k <= 4; k++)
    if (integer > k && rest >> (fraction + k) & 1)
      y = math_mul(y, math_constant(factor[k + 2], width), width);
  if (integer > 5 && x < -((int64_t)1 << (width - 1)) + (36 - integer)) y = 0;
  return y;
}

/* Newton's steps for 1 / d, with d = (1 + x) / 2; the result has two integer bits. */
static int64_t math_newton(int64_t x, int width)
{
  int64_t d = math_half_sum(x, math_most(width)), one = (int64_t)1 << (width - 3);
  int64_t y =
      math_constant(1515870810, width) + math_mul(d, math_constant(-1010580540, width), width);
  for (int k = 0; k < 3; k++) {
    int64_t error = one - math_mul(d, y, width);
    y += math_scale(math_mul(y, error, width), 2, width);
  }
  return y;
}

int64_t wick_fixed_reciprocal(int64_t x, int width)
{
  return math_scale(math_newton(x, width), 1, width);
}

int64_t wick_fixed_logistic(int64_t x, int integer, int width)
{
  if (!x) return (int64_t)1 << (width - 2);
  int64_t y = wick_fixed_reciprocal(wick_fixed_exp(x > 0 ? -x : x, integer, width), width);
  return x > 0 ? y : math_most(width) - y;
}

int64_t wick_fixed_tanh(int64_t x, int integer, int width)
{
  if (!x) return 0;
  int64_t e = wick_fixed_exp(x < 0 ? x : -x, integer + 1, width); /* of 2 x: one more integer bit */
  int64_t y = math_scale(math_newton(e, width) - ((int64_t)1 << (width - 3)), 2, width);
  return x < 0 ? -y : y;
}

int64_t wick_fixed_inverse_root(int64_t x, int *out_right)
{
  enum { W = 32 };
  int zeros = 0;
  if (x <= 1) {
    *out_right = 0;
    return INT32_MAX;
  }
  *out_right = 11;
  while (x >= (int64_t)1 << 29) x /= 4, ++*out_right;
  while (!(x >> (31 - zeros) & 1)) zeros++;
  int pairs = (zeros - 1) / 2 - 1;
  *out_right -= pairs;
  x = pairs > 0 ? x * ((int64_t)1 << 2 * pairs) : x;
  int64_t half = math_scale(x >> 1, -1, W), y = (int64_t)1 << 28;
  for (int k = 0; k < 5; k++) { /* three integer bits */
    int64_t cube = math_scale(math_mul(math_mul(y, y, W), y, W), 6, W);
    y = math_scale(math_mul(((int64_t)1 << 28) + (1 << 27), y, W) - math_mul(half, cube, W), 3, W);
  }
  y = math_mul(y, 1518500250, W); /* sqrt(1 / 2) */
  if (*out_right < 0) y *= (int64_t)1 << -*out_right, *out_right = 0;
  return y;
}
