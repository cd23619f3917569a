/* Emulates operators of f32 and f64 for which the target has no instruction. The results have the
 * same bits. */
#ifndef WICK_LOOP_LEGALIZE_SOFT_H
#define WICK_LOOP_LEGALIZE_SOFT_H

#include "ir/expr.h"

wick_value wick_legalize_fma(wick_builder *b, wick_value x, wick_value y, wick_value z);
wick_value wick_legalize_sqrt(wick_builder *b, wick_value x);
/* floor, ceil, trunc or round_even of x. */
wick_value wick_legalize_round(wick_builder *b, wick_opcode op, wick_value x);

#endif
