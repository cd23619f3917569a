/* Functions of fixed-point numbers as gemmlowp computes them, for values that are known.
 *
 * A number has `width` bits (16 or 32), of which one is the sign and `integer` are before the point.
 * Source: gemmlowp, fixedpoint/fixedpoint.h. */
#ifndef WICK_IMPORT_TFLITE_FIXED_MATH_H
#define WICK_IMPORT_TFLITE_FIXED_MATH_H

#include <stdint.h>

/* exp(x) for x <= 0; the result has no integer bits. */
int64_t wick_fixed_exp(int64_t x, int integer, int width);
/* 1 / (1 + x) and (1 - x) / (1 + x) for x in [0, 1), both without integer bits. */
int64_t wick_fixed_reciprocal(int64_t x, int width);
int64_t wick_fixed_logistic(int64_t x, int integer, int width);
int64_t wick_fixed_tanh(int64_t x, int integer, int width);
/* 1 / sqrt(x) for an integer x of 31 bits: a multiplier without integer bits and a right shift. */
int64_t wick_fixed_inverse_root(int64_t x, int *out_right);

#endif
