/* Logarithms and inverse hyperbolic functions for expansions. */
#ifndef WICK_OPS_POLY_POLY_LOG_H
#define WICK_OPS_POLY_POLY_LOG_H

#include "ops/poly/poly.h"

/* Splits a finite x > 0 into 2^e (1 + f), with 1 + f in [2/3, 4/3). */
typedef struct wick_poly_split {
  wick_value k; /* e as an integer; subnormal numbers are scaled first */
  wick_value e, f;
} wick_poly_split;
wick_poly_split wick_poly_log_split(wick_builder *b, wick_value x);

wick_value wick_poly_log(wick_builder *b, wick_value x);
wick_value wick_poly_log2(wick_builder *b, wick_value x);
wick_value wick_poly_log1p(wick_builder *b, wick_value x);
/* Builds log(1 + x) for x from 0 to 1. */
wick_value wick_poly_log1p_unit(wick_builder *b, wick_value x);
wick_value wick_poly_asinh(wick_builder *b, wick_value x);
wick_value wick_poly_acosh(wick_builder *b, wick_value x);
wick_value wick_poly_atanh(wick_builder *b, wick_value x);

#endif
