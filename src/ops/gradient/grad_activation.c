/* Derivatives of activations. At a corner the slope is that of the side where the function is zero,
 * or that of the left side. */
#include "ir/expr.h"
#include "ops/gradient/grad.h"

typedef struct activation { /* the state of one rule */
  wick_builder *b;
  const wick_attr *attr;
  wick_value x, y, g;
} activation;

#define ACTIVATION(row)                                                                            \
  static wick_value row##_dx(const activation *t);                                                 \
  void wick_grad_##row(wick_adjoint *a)                                                            \
  {                                                                                                \
    activation t = {a->b, a->node->attr, a->in[0], a->out[0], a->dout[0]};                         \
    if (!a->b->status) a->din[0] = row##_dx(&t);                                                   \
  }                                                                                                \
  static wick_value row##_dx(const activation *t)

static wick_value activation_zero(const activation *t) { return expr_k(t->b, t->g, 0); }

/* Builds g times `slope` where x is below 0, else g. */
static wick_value activation_below(const activation *t, wick_value slope)
{
  wick_value below = expr_lt(t->b, t->x, 0), scaled = expr_mul(t->b, t->g, slope);
  return expr_where(t->b, below, scaled, t->g);
}

ACTIVATION(relu)
{
  wick_value above = expr_gt(t->b, t->x, 0);
  return expr_where(t->b, above, t->g, activation_zero(t));
}

ACTIVATION(leaky_relu)
{
  return activation_below(t, expr_k(t->b, t->x, t->attr[WICK_ATTR_leaky_relu_alpha].f));
}

void wick_grad_prelu(wick_adjoint *a)
{
  activation t = {a->b, NULL, a->in[0], a->out[0], a->dout[0]};
  if (a->wanted[0]) a->din[0] = wick_grad_to(a->b, activation_below(&t, a->in[1]), a->in[0]);
  if (!a->wanted[1]) return;
  wick_value below = expr_lt(a->b, t.x, 0), product = expr_mul(a->b, t.g, t.x);
  product = expr_where(a->b, below, product, activation_zero(&t));
  a->din[1] = wick_grad_to(a->b, product, a->in[1]);
}

ACTIVATION(thresholded_relu)
{
  wick_value above = expr_gt(t->b, t->x, t->attr[WICK_ATTR_thresholded_relu_alpha].f);
  return expr_where(t->b, above, t->g, activation_zero(t));
}

ACTIVATION(shrink)
{
  wick_value outside = expr_gt(t->b, expr_abs(t->b, t->x), t->attr[WICK_ATTR_shrink_lambd].f);
  return expr_where(t->b, outside, t->g, activation_zero(t));
}

/* Builds `inside` where 0 < line < 1, `beyond` where line is above, else 0. */
static wick_value activation_between(const activation *t, wick_value line, wick_value inside,
                                     wick_value beyond)
{
  wick_value zero = activation_zero(t), above = expr_gt(t->b, line, 0),
             full = expr_lt(t->b, line, 1);
  wick_value r = expr_where(t->b, full, inside, beyond);
  return expr_where(t->b, above, r, zero);
}

ACTIVATION(hard_sigmoid)
{
  double alpha = t->attr[WICK_ATTR_hard_sigmoid_alpha].f;
  wick_value line =
      expr_addk(t->b, expr_mulk(t->b, t->x, alpha), t->attr[WICK_ATTR_hard_sigmoid_beta].f);
  wick_value inside = expr_mulk(t->b, t->g, alpha), zero = activation_zero(t);
  return activation_between(t, line, inside, zero);
}

ACTIVATION(hard_swish)
{
  wick_value line = expr_addk(t->b, expr_mulk(t->b, t->x, 1.0 / 6), 0.5);
  wick_value slope = expr_addk(t->b, expr_mulk(t->b, t->x, 1.0 / 3), 0.5);
  return activation_between(t, line, expr_mul(t->b, t->g, slope), t->g);
}

ACTIVATION(softsign)
{
  wick_value base = expr_addk(t->b, expr_abs(t->b, t->x), 1);
  return expr_div(t->b, t->g, expr_mul(t->b, base, base));
}

/* Builds y (1 - y). */
static wick_value activation_bell(const activation *t, wick_value y)
{
  wick_value rest = expr_sub(t->b, expr_k(t->b, y, 1), y);
  return expr_mul(t->b, y, rest);
}

ACTIVATION(sigmoid) { return expr_mul(t->b, t->g, activation_bell(t, t->y)); }

ACTIVATION(softplus) { return expr_mul(t->b, t->g, wick_build1(t->b, WICK_OP_sigmoid, t->x)); }

/* Builds exp(x / by) for x below 0, and 1 above. No unused value overflows. */
static wick_value activation_exp(const activation *t, double by)
{
  wick_value x = expr_at_most(t->b, t->x, 0);
  if (by != 1) x = expr_div(t->b, x, expr_k(t->b, x, by));
  return wick_build1(t->b, WICK_OP_exp, x);
}

ACTIVATION(elu)
{
  return activation_below(t, expr_mulk(t->b, activation_exp(t, 1), t->attr[WICK_ATTR_elu_alpha].f));
}

ACTIVATION(celu) { return activation_below(t, activation_exp(t, t->attr[WICK_ATTR_celu_alpha].f)); }

ACTIVATION(selu)
{
  wick_value g =
      activation_below(t, expr_mulk(t->b, activation_exp(t, 1), t->attr[WICK_ATTR_selu_alpha].f));
  return expr_mulk(t->b, g, t->attr[WICK_ATTR_selu_gamma].f);
}

/* Builds s + z s (1 - s) for s = sigmoid(z). */
static wick_value activation_gate(const activation *t, wick_value z)
{
  wick_value s = wick_build1(t->b, WICK_OP_sigmoid, z);
  return expr_add(t->b, s, expr_mul(t->b, z, activation_bell(t, s)));
}

ACTIVATION(swish)
{
  wick_value z = expr_mulk(t->b, t->x, t->attr[WICK_ATTR_swish_alpha].f);
  return expr_mul(t->b, t->g, activation_gate(t, z));
}

/* tanh(softplus x) + x sigmoid(x) (1 - tanh^2) */
ACTIVATION(mish)
{
  wick_builder *b = t->b;
  wick_value h = wick_build1(b, WICK_OP_tanh, wick_build1(b, WICK_OP_softplus, t->x));
  wick_value square = expr_mul(b, h, h), rest = expr_sub(b, expr_k(b, h, 1), square);
  wick_value s = expr_mul(b, t->x, wick_build1(b, WICK_OP_sigmoid, t->x));
  return expr_mul(b, t->g, expr_add(b, h, expr_mul(b, s, rest)));
}

#define ACTIVATION_ROOT_HALF 0.707106781186547524401
#define ACTIVATION_NORMAL 0.398942280401432677940 /* 1 / sqrt(2 pi) */
#define ACTIVATION_LINE 1.5957691216057307118     /* 2 sqrt(2 / pi) */

/* P(Z <= x) + x times the normal density; for x sigmoid(z): sigmoid(z) + x z' s (1 - s) */
ACTIVATION(gelu)
{
  wick_builder *b = t->b;
  wick_value square = expr_mul(b, t->x, t->x), slope;
  if (t->attr[WICK_ATTR_gelu_approximate].i) {
    wick_value z = expr_addk(b, expr_mulk(b, square, ACTIVATION_LINE * 0.044715), ACTIVATION_LINE),
               dz = expr_addk(b, expr_mulk(b, square, 3 * ACTIVATION_LINE * 0.044715),
                              ACTIVATION_LINE);
    wick_value s = wick_build1(b, WICK_OP_sigmoid, expr_mul(b, z, t->x));
    slope = expr_mul(b, activation_bell(t, s), dz);
    slope = expr_mul(b, slope, t->x);
    return expr_mul(b, t->g, expr_add(b, s, slope));
  }
  wick_value half = wick_build1(b, WICK_OP_erf, expr_mulk(b, t->x, ACTIVATION_ROOT_HALF));
  half = expr_addk(b, expr_mulk(b, half, 0.5), 0.5);
  slope = wick_build1(b, WICK_OP_exp_minus, expr_mulk(b, square, -0.5));
  slope = expr_mulk(b, expr_mul(b, slope, t->x), ACTIVATION_NORMAL);
  return expr_mul(b, t->g, expr_add(b, half, slope));
}
