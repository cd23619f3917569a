/* Fixed-point arithmetic as LiteRT's reference kernels do it, bit for bit.
 *
 * A real factor is a multiplier in [2^30, 2^31) and a shift. Most kernels round a product with it
 * twice: to the high half of the doubled product, then, ties away from zero, when they divide by a
 * power of two. Fully connected layers round once.
 * Source: gemmlowp's documents on low precision; quantization_util of TensorFlow Lite. */
#ifndef WICK_IMPORT_TFLITE_FIXED_H
#define WICK_IMPORT_TFLITE_FIXED_H

#include "import/kit/emit.h"

typedef struct wick_fixed {
  int32_t multiplier;
  int shift; /* positive: to the left, before the product */
} wick_fixed;

wick_fixed wick_fixed_of(double real);

/* x * f for numbers that are known. */
int64_t wick_fixed_number(int64_t x, wick_fixed f);

/* x, integers, times f; the result is i32 for x in i32, else i64. With n > 1 factors there is one for each index of the last
 * axis. */
wick_value wick_fixed_mul(wick_builder *b, wick_value x, uint32_t n, const wick_fixed *f);
/* x * 2^left * f, for x in i32 from -2^bits to 2^bits - 1: the same number, of two products of 32 bits
 * where that is enough. */
wick_value wick_fixed_mul_left(wick_builder *b, wick_value x, int bits, int left, wick_fixed f);
/* x * f for x in i32 from -2^bits to 2^bits: with fewer steps for up to 30 bits. */
wick_value wick_fixed_mul_below(wick_builder *b, wick_value x, int bits, wick_fixed f);
/* x times f plus `zero`, a zero point, but ties are rounded upwards, also those of negative numbers. */
wick_value wick_fixed_mul_up(wick_builder *b, wick_value x, uint32_t n, const wick_fixed *f,
                             int64_t zero);
/* The same, rounded once, ties upwards. Results that need more than 32 bits are the least number. */
wick_value wick_fixed_mul_once(wick_builder *b, wick_value x, uint32_t n, const wick_fixed *f,
                               int64_t zero);
/* x, sums of 16-bit products in i64, times f, whose multiplier is rounded to 15 bits, in i32: results
 * that need more bits wrap. */
wick_value wick_fixed_mul_wide(wick_builder *b, wick_value x, uint32_t n, const wick_fixed *f);
/* x in i64, divided by 2^exponent, ties away from zero. */
wick_value wick_fixed_divide(wick_builder *b, wick_value x, int exponent);
/* The same, with exponents in i64 that only the run knows. */
wick_value wick_fixed_divide_by(wick_builder *b, wick_value x, wick_value exponent);
/* Adds the zero point, clamps to [lo, hi], and converts to `to`. */
wick_value wick_fixed_end(wick_builder *b, wick_value x, int64_t zero, int64_t lo, int64_t hi,
                          wick_elem to);

/* fixed_live.c: functions of i64 that hold numbers of 32 bits; as fixed_math.h has them. */
/* The high half of the doubled product, rounded to the nearest. */
wick_value wick_fixed_live_mul(wick_builder *b, wick_value x, wick_value y);
/* The leading zero bits of x, of 32, for x in [0, 2^32). */
wick_value wick_fixed_zeros(wick_builder *b, wick_value x);
/* 1 / (1 + x) for x in [0, 1). */
wick_value wick_fixed_live_reciprocal(wick_builder *b, wick_value x);
/* log(x) with five integer bits, for x >= 1 with twelve. */
wick_value wick_fixed_live_log(wick_builder *b, wick_value x);
/* 1 / sqrt(x) for an integer x in [0, 2^31): a multiplier without integer bits and a right shift. */
wick_value wick_fixed_live_inverse_root(wick_builder *b, wick_value x, wick_value *out_right);

#endif
