/* Smooth activations: scalar operators that expand into exponentials and the like. Where the
 * formula gives inf * 0, the result is the limit. */
#include <math.h>

#include "ops/gradient/grad.h"
#include "ops/poly/poly_erf.h"
#include "ops/poly/poly_log.h"

#define SMOOTH_GELU_LINE 1.5957691216057307118 /* 2 sqrt(2 / pi) */
#define SMOOTH_GELU_CUBE (0.044715 * SMOOTH_GELU_LINE)

/* A gate (sigmoid and the like) that is below the normal range is 0: x86's processors take 100 to
 * 300 ns for a vector of such numbers, and again in each product that reads it. */

static long double smooth_sigmoid(wick_elem e, long double x)
{
  return x < wick_poly_exp_least(e) ? 0 : 1 / (1 + expl(-x));
}

/* Returns x * gate. The gate goes to 0 faster than x goes to infinity. */
static double smooth_gated(double x, long double gate)
{
  return gate == 0 ? copysign(0, x) : (double)(x * gate);
}

/* Builds y, or a zero with the sign of x where z is below `least`. */
static wick_value smooth_or_zero(wick_builder *b, wick_value z, double least, wick_value x,
                                 wick_value y)
{
  wick_value zero = wick_expr_with_sign(b, expr_k(b, x, 0), x);
  return expr_where(b, expr_lt(b, z, least), zero, y);
}

/* Builds x / (1 + e^-z), or a zero with the sign of x where e^z is below the normal range. */
static wick_value smooth_gate(wick_builder *b, wick_value x, wick_value z)
{
  double least = wick_poly_exp_least(wick_built_info(b, x)->elem);
  wick_value t = expr_at_most(b, expr_at_least(b, expr_neg(b, z), least), -least);
  t = wick_poly_exp_within(b, t, (wick_value){0});
  return smooth_or_zero(b, z, least, x, expr_div(b, x, expr_addk(b, t, 1)));
}

static wick_scalar sigmoid_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                const wick_scalar *x)
{
  (void)a, (void)out;
  return (wick_scalar){.f = (double)smooth_sigmoid(e, x[0].f)};
}

static void sigmoid_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                           wick_value *out)
{
  (void)n;
  out[0] = smooth_gate(b, expr_k(b, in[0], 1), in[0]);
}

const wick_op wick_op_sigmoid = {
    .name = "sigmoid",
    .doc = "1 / (1 + exp(-x)); 0 and 1 for infinities. Results below the normal range are 0",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = sigmoid_expand,
    .scalar = WICK_RULE_SAME,
    .eval = sigmoid_eval,
    .ulp = 2.5,
    .grad = wick_grad_sigmoid,
};

static wick_scalar softplus_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                 const wick_scalar *x)
{
  (void)a, (void)out;
  double size = -fabs(x[0].f), t = size < wick_poly_exp_least(e) ? 0 : exp(size);
  return (wick_scalar){.f = log1p(t) + (x[0].f < 0 ? 0 : x[0].f)};
}

static void softplus_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                            wick_value *out)
{
  (void)n;
  wick_value l = wick_poly_log1p_unit(b, wick_poly_exp_flushed(b, expr_neg(b, expr_abs(b, in[0]))));
  out[0] = expr_add(b, l, expr_at_least(b, in[0], 0));
}

const wick_op wick_op_softplus = {
    .name = "softplus",
    .doc = "log(1 + exp(x)); 0 for -inf, inf for inf. Results below the normal range are 0",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = softplus_expand,
    .scalar = WICK_RULE_SAME,
    .eval = softplus_eval,
    .ulp = 2.5,
    .grad = wick_grad_softplus,
};

static wick_scalar elu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e;
  if (!(x[0].f < 0)) return x[0];
  return (wick_scalar){.f = wick_round_step(out, a[0].f) * expm1(x[0].f)};
}

static void elu_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_value below = expr_mulk(b, wick_poly_expm1_minus(b, in[0]), n->attr[WICK_ATTR_elu_alpha].f);
  out[0] = expr_where(b, expr_lt(b, in[0], 0), below, in[0]);
}

const wick_op wick_op_elu = {
    .name = "elu",
    .doc = "x where x >= 0 or -0, else alpha * (exp(x) - 1); NaN for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = elu_expand,
    .scalar = WICK_RULE_SAME,
    .eval = elu_eval,
    .ulp = 2.5,
    .grad = wick_grad_elu,
};

static wick_scalar celu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e;
  if (!(x[0].f < 0)) return x[0];
  double alpha = wick_round_step(out, a[0].f);
  return (wick_scalar){.f = alpha *
                            wick_round_step(out, expm1(wick_round_step(out, x[0].f / alpha)))};
}

static void celu_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_value alpha = expr_k(b, in[0], n->attr[WICK_ATTR_celu_alpha].f),
             z = expr_div(b, in[0], alpha);
  wick_value q =
      n->attr[WICK_ATTR_celu_alpha].f > 0 ? wick_poly_expm1_minus(b, z) : wick_poly_expm1(b, z);
  out[0] = expr_where(b, expr_lt(b, in[0], 0), expr_mul(b, alpha, q), in[0]);
}

const wick_op wick_op_celu = {
    .name = "celu",
    .doc = "x where x >= 0 or -0, else alpha * (exp(x / alpha) - 1), rounded after each step; NaN "
           "for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = celu_expand,
    .scalar = WICK_RULE_SAME,
    .eval = celu_eval,
    .ulp = 3,
    .grad = wick_grad_celu,
};

static wick_scalar selu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e;
  double alpha = wick_round_step(out, a[0].f), gamma = wick_round_step(out, a[1].f);
  return (wick_scalar){.f = gamma * (x[0].f < 0 ? alpha * expm1(x[0].f) : x[0].f)};
}

static void selu_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  double alpha = n->attr[WICK_ATTR_selu_alpha].f, gamma = n->attr[WICK_ATTR_selu_gamma].f;
  wick_value below = expr_mulk(b, wick_poly_expm1_minus(b, in[0]), alpha);
  out[0] = expr_mulk(b, expr_where(b, expr_lt(b, in[0], 0), below, in[0]), gamma);
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
    .expand = selu_expand,
    .scalar = WICK_RULE_SAME,
    .eval = selu_eval,
    .ulp = 2.5,
    .grad = wick_grad_selu,
};

static wick_scalar swish_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  double z = wick_round_step(out, wick_round_step(out, a[0].f) * x[0].f);
  return (wick_scalar){.f = smooth_gated(x[0].f, smooth_sigmoid(e, z))};
}

static void swish_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  double alpha = n->attr[WICK_ATTR_swish_alpha].f;
  out[0] = smooth_gate(b, in[0], alpha == 1 ? in[0] : expr_mulk(b, in[0], alpha));
}

const wick_op wick_op_swish = {
    .name = "swish",
    .doc = "x * sigmoid(alpha * x), with a rounded product; a zero where the sigmoid is 0",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = swish_expand,
    .scalar = WICK_RULE_SAME,
    .eval = swish_eval,
    .ulp = 3.5,
    .grad = wick_grad_swish,
};

static wick_scalar mish_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (x[0].f < wick_poly_exp_least(e)) return (wick_scalar){.f = -0.0};
  long double t = expl(-fabsl(x[0].f)); /* tanh(log(1 + u)) = (u^2 + 2u) / (u^2 + 2u + 2) */
  long double gate =
      x[0].f > 0 ? (1 + 2 * t) / (1 + 2 * t + 2 * t * t) : (t * t + 2 * t) / (t * t + 2 * t + 2);
  return (wick_scalar){.f = smooth_gated(x[0].f, gate)};
}

static void mish_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  wick_value x = in[0], one = expr_k(b, x, 1), two = expr_k(b, x, 2);
  double least = wick_poly_exp_least(wick_built_info(b, x)->elem);
  wick_value t = expr_at_least(b, expr_neg(b, expr_abs(b, x)), least);
  wick_value u = wick_poly_exp_within(b, t, (wick_value){0}), u2 = expr_add(b, u, two);
  wick_value below = expr_lt(b, x, 0), line = expr_mad(b, u, two, one);
  wick_value lower =
      expr_where(b, below, expr_mad(b, u, u2, two), expr_mad(b, expr_add(b, u, u), u, line));
  wick_value upper = expr_mul(b, x, expr_where(b, below, expr_mul(b, u, u2), line));
  out[0] = smooth_or_zero(b, x, least, x, expr_div(b, upper, lower));
}

const wick_op wick_op_mish = {
    .name = "mish",
    .doc = "x * tanh(log(1 + exp(x))); -0 where exp(x) is below the normal range",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = mish_expand,
    .scalar = WICK_RULE_SAME,
    .eval = mish_eval,
    .ulp = 4.5,
    .grad = wick_grad_mish,
};

/* The operand of sigmoid in the tanh form: 2 sqrt(2 / pi) (x + 0.044715 x^3), step by step. */
static double smooth_gelu_inner(wick_elem out, double x)
{
  double square = wick_round_step(out, x * x);
  double y = wick_round_step(out, square * wick_round_step(out, SMOOTH_GELU_CUBE));
  y = wick_round_step(out, y + wick_round_step(out, SMOOTH_GELU_LINE));
  return wick_round_step(out, y * x);
}

static wick_scalar gelu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  double v = x[0].f;
  const long double root = 0.707106781186547524400844362104849039L;
  long double gate = a[0].i                          ? smooth_sigmoid(e, smooth_gelu_inner(out, v))
                     : v < wick_poly_normal_least(e) ? 0
                                                     : erfcl(v * -root) / 2;
  return (wick_scalar){.f = smooth_gated(v, gate)};
}

static void gelu_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_value x = in[0];
  if (n->attr[WICK_ATTR_gelu_approximate].i) {
    wick_value y = expr_mulk(b, expr_mul(b, x, x), SMOOTH_GELU_CUBE);
    out[0] = smooth_gate(b, x, expr_mul(b, expr_addk(b, y, SMOOTH_GELU_LINE), x));
    return;
  }
  wick_value tail = wick_poly_normal_tail(b, x);
  wick_value y = expr_where(b, expr_lt(b, x, 0), expr_neg(b, tail), expr_sub(b, x, tail));
  out[0] = smooth_or_zero(b, x, wick_poly_normal_least(wick_built_info(b, x)->elem), x, y);
}

const wick_op wick_op_gelu = {
    .name = "gelu",
    .doc = "x * P(Z <= x) with Z normal: x / 2 * (1 + erf(x / sqrt(2))). With approximate = tanh: "
           "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), whose polynomial is rounded "
           "after each step. -0 where the factor of x is below the normal range",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"approximate", WICK_ATTR_ENUM, 0, false, "none tanh", 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = gelu_expand,
    .scalar = WICK_RULE_SAME,
    .eval = gelu_eval,
    .ulp = 5,
    .grad = wick_grad_gelu,
};
