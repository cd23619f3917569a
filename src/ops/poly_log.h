/* Logarithms and inverse hyperbolic functions for expansions. */
#ifndef WICK_OPS_POLY_LOG_H
#define WICK_OPS_POLY_LOG_H

#include "ops/poly.h"

wick_value wick_poly_log(wick_builder *b, wick_value x);
wick_value wick_poly_log2(wick_builder *b, wick_value x);
wick_value wick_poly_log1p(wick_builder *b, wick_value x);
wick_value wick_poly_asinh(wick_builder *b, wick_value x);
wick_value wick_poly_acosh(wick_builder *b, wick_value x);
wick_value wick_poly_atanh(wick_builder *b, wick_value x);

#endif
