/* Smooth activations: scalar rows that expand into exponentials and the like. Where the formula
 * would be inf * 0, the limit is meant. */
#include <math.h>

#include "ops/scalar.h"

static double smooth_sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* x * gate, where the gate goes to 0 faster than x to infinity. */
static double smooth_gated(double x, double gate) { return gate == 0 ? copysign(0, x) : x * gate; }

static wick_scalar sigmoid_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.f = smooth_sigmoid(x[0].f)};
}

const wick_op wick_op_sigmoid = {
    .name = "sigmoid",
    .doc = "1 / (1 + exp(-x)); 0 and 1 for infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = sigmoid_eval,

};

static wick_scalar softplus_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                 const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.f = x[0].f > 0 ? x[0].f + log1p(exp(-x[0].f)) : log1p(exp(x[0].f))};
}

const wick_op wick_op_softplus = {
    .name = "softplus",
    .doc = "log(1 + exp(x)); 0 for -inf, inf for inf",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = softplus_eval,

};

static wick_scalar elu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e;
  if (!(x[0].f < 0)) return x[0];
  return (wick_scalar){.f = wick_round_step(out, a[0].f) * expm1(x[0].f)};
}

const wick_op wick_op_elu = {
    .name = "elu",
    .doc = "x where x >= 0 or -0, else alpha * (exp(x) - 1); NaN for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = elu_eval,

};

static wick_scalar celu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e;
  if (!(x[0].f < 0)) return x[0];
  double alpha = wick_round_step(out, a[0].f);
  return (wick_scalar){.f = alpha * expm1(x[0].f / alpha)};
}

const wick_op wick_op_celu = {
    .name = "celu",
    .doc = "x where x >= 0 or -0, else alpha * (exp(x / alpha) - 1); NaN for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = celu_eval,

};

static wick_scalar selu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e;
  double alpha = wick_round_step(out, a[0].f), gamma = wick_round_step(out, a[1].f);
  return (wick_scalar){.f = gamma * (x[0].f < 0 ? alpha * expm1(x[0].f) : x[0].f)};
}

const wick_op wick_op_selu = {
    .name = "selu",
    .doc = "gamma * x where x >= 0 or -0, else gamma * alpha * (exp(x) - 1); NaN for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 1.67326319217681884765625, false, NULL, 0, 0},
             {"gamma", WICK_ATTR_FLOAT, 1.05070102214813232421875, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = selu_eval,

};

static wick_scalar swish_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e;
  return (wick_scalar){
      .f = smooth_gated(x[0].f, smooth_sigmoid(wick_round_step(out, a[0].f) * x[0].f))};
}

const wick_op wick_op_swish = {
    .name = "swish",
    .doc = "x * sigmoid(alpha * x); a zero where that is the limit, as for -inf",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = swish_eval,

};

static wick_scalar mish_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  double t = exp(-fabs(x[0].f)); /* tanh(log(1 + u)) = (u^2 + 2u) / (u^2 + 2u + 2) */
  double gate =
      x[0].f > 0 ? (1 + 2 * t) / (1 + 2 * t + 2 * t * t) : (t * t + 2 * t) / (t * t + 2 * t + 2);
  return (wick_scalar){.f = smooth_gated(x[0].f, gate)};
}

const wick_op wick_op_mish = {
    .name = "mish",
    .doc = "x * tanh(log(1 + exp(x))); -0 for -inf",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = mish_eval,

};

static wick_scalar gelu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e, (void)out;
  double v = x[0].f;
  if (a[0].i == 0)
    return (wick_scalar){.f = smooth_gated(v, erfc(v * -0.70710678118654752440) / 2)};
  double u = 0.79788456080286535588 * (v + 0.044715 * v * v * v);
  return (wick_scalar){.f = smooth_gated(v, smooth_sigmoid(2 * u))};
}

const wick_op wick_op_gelu = {
    .name = "gelu",
    .doc = "x * P(Z <= x), Z normal: x / 2 * (1 + erf(x / sqrt(2))); with approximate = "
           "tanh: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))); -0 for -inf",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"approximate", WICK_ATTR_ENUM, 0, false, "none tanh", 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = gelu_eval,

};
