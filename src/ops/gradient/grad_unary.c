/* Derivatives of element-wise functions of one operand: the cotangent times a slope. */
#include "ir/expr.h"
#include "ops/gradient/grad.h"

typedef struct unary {
  wick_builder *b;
  wick_value x, y; /* operand, result */
} unary;

static void unary_rule(wick_adjoint *a, wick_value (*slope)(const unary *u))
{
  unary u = {a->b, a->in[0], a->out[0]};
  if (a->b->status) return;
  a->din[0] = expr_mul(a->b, a->dout[0], slope(&u));
}

#define UNARY(row)                                                                                 \
  static wick_value row##_slope(const unary *u);                                                   \
  void wick_grad_##row(wick_adjoint *a) { unary_rule(a, row##_slope); }                            \
  static wick_value row##_slope(const unary *u)

#define UNARY_LOG2E 1.44269504088896340736
#define UNARY_LN2 0.693147180559945309417
#define UNARY_ERF 1.12837916709551257390 /* 2 / sqrt(pi) */

static wick_value unary_square(const unary *u, wick_value v) { return expr_mul(u->b, v, v); }

/* Builds (1 - v)(1 + v), which is accurate near 1 and -1. */
static wick_value unary_rest(const unary *u, wick_value v)
{
  wick_value above = expr_addk(u->b, v, 1), one = expr_k(u->b, v, 1);
  return expr_mul(u->b, expr_sub(u->b, one, v), above);
}

static wick_value unary_over(const unary *u, double number, wick_value v)
{
  return expr_div(u->b, expr_k(u->b, v, number), v);
}

UNARY(sqrt) { return unary_over(u, 0.5, u->y); }
UNARY(rsqrt)
{
  wick_value cube = expr_mul(u->b, unary_square(u, u->y), u->y);
  return expr_mulk(u->b, cube, -0.5);
}
UNARY(reciprocal) { return expr_neg(u->b, unary_square(u, u->y)); }

UNARY(exp) { return u->y; }
UNARY(exp2) { return expr_mulk(u->b, u->y, UNARY_LN2); }
UNARY(expm1) { return wick_build1(u->b, WICK_OP_exp, u->x); }
UNARY(log) { return unary_over(u, 1, u->x); }
UNARY(log2) { return unary_over(u, UNARY_LOG2E, u->x); }
UNARY(log1p) { return unary_over(u, 1, expr_addk(u->b, u->x, 1)); }
UNARY(erf)
{
  wick_value e = wick_build1(u->b, WICK_OP_exp_minus, expr_neg(u->b, unary_square(u, u->x)));
  return expr_mulk(u->b, e, UNARY_ERF);
}

UNARY(sin) { return wick_build1(u->b, WICK_OP_cos, u->x); }
UNARY(cos) { return expr_neg(u->b, wick_build1(u->b, WICK_OP_sin, u->x)); }
UNARY(tan) { return expr_addk(u->b, unary_square(u, u->y), 1); }
UNARY(asin) { return wick_build1(u->b, WICK_OP_rsqrt, unary_rest(u, u->x)); }
UNARY(acos) { return expr_neg(u->b, asin_slope(u)); }
UNARY(atan) { return unary_over(u, 1, expr_addk(u->b, unary_square(u, u->x), 1)); }
UNARY(sinh) { return wick_build1(u->b, WICK_OP_cosh, u->x); }
UNARY(cosh) { return wick_build1(u->b, WICK_OP_sinh, u->x); }
UNARY(tanh) { return unary_rest(u, u->y); }
UNARY(asinh)
{
  wick_value square = expr_addk(u->b, unary_square(u, u->x), 1);
  return wick_build1(u->b, WICK_OP_rsqrt, square);
}
UNARY(acosh)
{
  wick_value below = expr_addk(u->b, u->x, -1), above = expr_addk(u->b, u->x, 1);
  return wick_build1(u->b, WICK_OP_rsqrt, expr_mul(u->b, below, above));
}
UNARY(atanh) { return unary_over(u, 1, unary_rest(u, u->x)); }
