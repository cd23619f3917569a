/* Powers and remainders of floats for expansions. */
#ifndef WICK_OPS_POLY_POLY_POW_H
#define WICK_OPS_POLY_POLY_POW_H

#include "ops/poly/poly.h"

wick_value wick_poly_pow(wick_builder *b, wick_value x, wick_value y);

/* Builds x - trunc(x / y) y, exactly, with the sign of x. */
wick_value wick_poly_fmod(wick_builder *b, wick_value x, wick_value y);

#endif
