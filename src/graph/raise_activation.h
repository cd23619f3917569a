/* Replaces an activation that is written out, as x * tanh(log(1 + exp(x))), by its operator, which
 * is computed faster and overflows later.
 *
 * The pass does not match forms. It evaluates an expression of one tensor and numbers at many points,
 * in f64, and compares the results with those of each operator in its table. So all forms match that
 * are equal up to algebra.
 *
 * Needs: a verified graph function. Class: rounding. The results for infinities are the operator's.
 * Leaves alone: expressions whose intermediate values have other uses, expressions with operators
 * that are not continuous, and activations whose operators would not be faster. */
#ifndef WICK_GRAPH_RAISE_ACTIVATION_H
#define WICK_GRAPH_RAISE_ACTIVATION_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_raise_activation(const wick_pass_context *pass,
                                                    const wick_func *f, wick_func **out);

#endif
