/* Activations: scalar rows that expand into others. */
#include <math.h>

#include "ops/scalar.h"

static wick_scalar relu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (!wick_elem_is_float(e)) return (wick_scalar){.i = x[0].i > 0 ? x[0].i : 0};
  return (wick_scalar){.f = isnan(x[0].f) ? x[0].f : x[0].f > 0 ? x[0].f : 0.0};
}

static void relu_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_build2(b, WICK_OP_max, in[0], wick_build_like(b, in[0], 0));
}

const wick_op wick_op_relu = {
    .name = "relu",
    .doc = "max(x, 0): +0 for -0 and below, NaN for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH | WICK_GROUP | WICK_LOOP,
    .elems = WICK_FLOATS | WICK_SINTS,
    .expand = relu_expand,
    .scalar = WICK_RULE_SAME,
    .eval = relu_eval,
};
