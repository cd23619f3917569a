/* The error function, and the normal distribution's tail, for expansions. */
#ifndef WICK_OPS_POLY_POLY_ERF_H
#define WICK_OPS_POLY_POLY_ERF_H

#include "ops/poly/poly_exp.h"

wick_value wick_poly_erf(wick_builder *b, wick_value x);
/* Returns the least x for which Phi(x) is a normal number, where Phi is the normal distribution. */
double wick_poly_normal_least(wick_elem elem);
/* Builds t Phi(-t), where t is |x|, but at most -wick_poly_normal_least. */
wick_value wick_poly_normal_tail(wick_builder *b, wick_value x);

#endif
