/* Derivatives of element-wise arithmetic with several operands. For equal operands, max and min
 * give each half of the cotangent; clip passes it on at its bounds. */
#include <math.h>

#include "ir/expr.h"
#include "ops/gradient/grad.h"

/* Sets operand k's cotangent from one in the result's shape. */
static void scalar_give(wick_adjoint *a, uint32_t k, wick_value g)
{
  a->din[k] = wick_grad_to(a->b, g, a->in[k]);
}

void wick_grad_add(wick_adjoint *a)
{
  for (uint32_t k = 0; k < 2; k++)
    if (a->wanted[k]) scalar_give(a, k, a->dout[0]);
}

void wick_grad_sub(wick_adjoint *a)
{
  if (a->wanted[0]) scalar_give(a, 0, a->dout[0]);
  if (a->wanted[1]) scalar_give(a, 1, expr_neg(a->b, a->dout[0]));
}

void wick_grad_mul(wick_adjoint *a)
{
  for (uint32_t k = 0; k < 2; k++)
    if (a->wanted[k]) scalar_give(a, k, expr_mul(a->b, a->dout[0], a->in[1 - k]));
}

void wick_grad_div(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_value g = expr_div(b, a->dout[0], a->in[1]);
  if (a->wanted[0]) scalar_give(a, 0, g);
  if (a->wanted[1]) scalar_give(a, 1, expr_neg(b, expr_mul(b, g, a->out[0])));
}

void wick_grad_fma(wick_adjoint *a)
{
  wick_grad_mul(a);
  if (a->wanted[2]) scalar_give(a, 2, a->dout[0]);
}

void wick_grad_neg(wick_adjoint *a) { a->din[0] = expr_neg(a->b, a->dout[0]); }

void wick_grad_abs(wick_adjoint *a)
{
  wick_value sign = wick_build1(a->b, WICK_OP_sign, a->in[0]);
  a->din[0] = expr_mul(a->b, a->dout[0], sign);
}

/* Gives operand k the cotangent g where it alone is the result, and half of g where both operands
 * are equal. */
static void scalar_extreme(wick_adjoint *a, uint32_t k)
{
  wick_builder *b = a->b;
  wick_opcode better = a->node->op == WICK_OP_max ? WICK_OP_gt : WICK_OP_lt;
  wick_value g = a->dout[0], own = a->in[k], other = a->in[1 - k];
  if (b->status) return;
  wick_value zero = expr_k(b, g, 0), half = expr_mulk(b, g, 0.5);
  wick_value equal = wick_build2(b, WICK_OP_eq, own, other);
  wick_value rest = expr_where(b, equal, half, zero), wins = wick_build2(b, better, own, other);
  scalar_give(a, k, expr_where(b, wins, g, rest));
}

void wick_grad_extreme(wick_adjoint *a)
{
  for (uint32_t k = 0; k < 2; k++)
    if (a->wanted[k]) scalar_extreme(a, k);
}

/* fmod and mod: x minus y times the integer part of x / y */
void wick_grad_fmod(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (a->wanted[0]) scalar_give(a, 0, a->dout[0]);
  if (!a->wanted[1]) return;
  wick_value whole = expr_div(b, expr_sub(b, a->in[0], a->out[0]), a->in[1]);
  whole = wick_build1(b, WICK_OP_round_even, whole);
  scalar_give(a, 1, expr_neg(b, expr_mul(b, a->dout[0], whole)));
}

/* With respect to x: y x^(y-1), or 0 where y is 0. With respect to y: x^y log x, or 0 where x is
 * not positive. */
void wick_grad_pow(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_value x = a->in[0], y = a->in[1], g = a->dout[0];
  if (a->wanted[0]) {
    wick_value zero = expr_k(b, x, 0), flat = expr_eq(b, y, 0);
    wick_value less = expr_addk(b, y, -1);
    less = expr_where(b, flat, zero, less);
    wick_value slope = expr_mul(b, y, wick_build2(b, WICK_OP_pow, x, less));
    slope = expr_where(b, flat, zero, slope);
    scalar_give(a, 0, expr_mul(b, g, slope));
  }
  if (a->wanted[1]) {
    wick_value above = expr_gt(b, x, 0), one = expr_k(b, x, 1);
    wick_value log = wick_build1(b, WICK_OP_log, expr_where(b, above, x, one));
    scalar_give(a, 1, expr_mul(b, g, expr_mul(b, a->out[0], log)));
  }
}

void wick_grad_where(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_value g = a->dout[0], zero = expr_k(b, g, 0);
  if (a->wanted[1]) scalar_give(a, 1, expr_where(b, a->in[0], g, zero));
  if (a->wanted[2]) scalar_give(a, 2, expr_where(b, a->in[0], zero, g));
}

/* Between floats. The rounding is ignored. */
void wick_grad_cast(wick_adjoint *a)
{
  if (a->b->status) return;
  a->din[0] = wick_build_cast(a->b, a->dout[0], wick_built_info(a->b, a->in[0])->elem);
}

/* clip: passes the cotangent to x where x is the result, else to the bound that is. */
void wick_grad_bound(wick_adjoint *a)
{
  wick_builder *b = a->b;
  bool has[3] = {true, a->node->nin > 1 && a->in[1].id, a->node->nin > 2 && a->in[2].id};
  wick_value g = a->dout[0], zero = expr_k(b, g, 0), low = a->in[0], on = g;
  if (has[2]) {
    if (has[1]) low = wick_build2(b, WICK_OP_max, low, a->in[1]);
    wick_value above = wick_build2(b, WICK_OP_gt, low, a->in[2]);
    if (a->wanted[2]) scalar_give(a, 2, expr_where(b, above, g, zero));
    on = expr_where(b, above, zero, g);
  }
  if (has[1]) {
    wick_value below = wick_build2(b, WICK_OP_lt, a->in[0], a->in[1]);
    if (a->wanted[1]) scalar_give(a, 1, expr_where(b, below, on, zero));
    on = expr_where(b, below, zero, on);
  }
  if (a->wanted[0]) scalar_give(a, 0, on);
}
