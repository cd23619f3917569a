/* Trigonometric functions and their inverses for expansions. */
#ifndef WICK_OPS_POLY_POLY_TRIG_H
#define WICK_OPS_POLY_POLY_TRIG_H

#include "ops/poly/poly.h"

wick_value wick_poly_sin(wick_builder *b, wick_value x);
wick_value wick_poly_cos(wick_builder *b, wick_value x);
wick_value wick_poly_tan(wick_builder *b, wick_value x);
wick_value wick_poly_asin(wick_builder *b, wick_value x);
wick_value wick_poly_acos(wick_builder *b, wick_value x);
wick_value wick_poly_atan(wick_builder *b, wick_value x);

#endif
