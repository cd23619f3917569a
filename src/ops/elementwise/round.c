/* Rounding to whole numbers. NaN, infinities and zeros (with their sign) stay as they are; a result
 * of zero has the sign of x. */
#include <math.h>

#include "ops/elementwise/scalar.h"
#include "ops/gradient/grad.h"

#define ROUND_EVAL(name, expr)                                                                     \
  static wick_scalar name##_eval(const wick_attr *a, wick_elem e, wick_elem out,                   \
                                 const wick_scalar *in)                                            \
  {                                                                                                \
    (void)a, (void)e, (void)out;                                                                   \
    double x = in[0].f;                                                                            \
    return (wick_scalar){.f = expr};                                                               \
  }

ROUND_EVAL(floor, floor(x))
ROUND_EVAL(ceil, ceil(x))
ROUND_EVAL(trunc, trunc(x))
ROUND_EVAL(round_even, nearbyint(x))

const wick_op wick_op_floor = {
    .name = "floor",
    .doc = "The largest whole number that is not above x; zeros keep their sign",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = floor_eval,
    .grad = wick_grad_zero,
};

const wick_op wick_op_ceil = {
    .name = "ceil",
    .doc = "The smallest whole number that is not below x; -0 for x in (-1, -0]",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = ceil_eval,
    .grad = wick_grad_zero,
};

const wick_op wick_op_trunc = {
    .name = "trunc",
    .doc = "x without its fraction; a zero has the sign of x",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = trunc_eval,
    .grad = wick_grad_zero,
};

const wick_op wick_op_round_even = {
    .name = "round_even",
    .doc = "The nearest whole number; ties go to the even one. A zero has the sign of x",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = round_even_eval,
    .grad = wick_grad_zero,
};
