/* The error function, and the normal distribution's tail, for expansions. */
#ifndef WICK_OPS_POLY_POLY_ERF_H
#define WICK_OPS_POLY_POLY_ERF_H

#include "ops/poly/poly_exp.h"

wick_value wick_poly_erf(wick_builder *b, wick_value x);
/* Builds t Phi(-t) as a scaled product, where Phi is the normal distribution and t = |x|, up to
 * where it underflows. */
wick_poly_scaled wick_poly_normal_tail(wick_builder *b, wick_value x);

#endif
