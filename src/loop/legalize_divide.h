/* Division of integers by arithmetic of floats: processors divide no vectors of integers. */
#ifndef WICK_LOOP_LEGALIZE_DIVIDE_H
#define WICK_LOOP_LEGALIZE_DIVIDE_H

#include "ir/expr.h"
#include "target/target.h"

/* Builds x / y, truncated (op div_unchecked), or x - x / y * y (rem_unchecked), exactly. Neither y
 * nor the quotient's type fails: they are as these operators demand. Returns 0 if dividing lane by
 * lane is better. */
wick_value wick_legalize_divide(wick_builder *b, const wick_target *t, wick_opcode op, wick_value x,
                                wick_value y);

#endif
