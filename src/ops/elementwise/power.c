/* Roots and powers. */
#include <math.h>

#include "ops/gradient/grad.h"
#include "ops/poly/poly_pow.h"
#include "ops/simplify.h"

static wick_scalar sqrt_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.f = sqrt(x[0].f)};
}

const wick_op wick_op_sqrt = {
    .name = "sqrt",
    .doc = "The square root, rounded once; -0 for -0, NaN below",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = sqrt_eval,
    .grad = wick_grad_sqrt,
};

static wick_scalar rsqrt_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.f = 1 / sqrt(x[0].f)};
}

static void rsqrt_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  wick_value root = wick_build1(b, WICK_OP_sqrt, in[0]);
  out[0] = wick_build2(b, WICK_OP_div, wick_build_like(b, in[0], 1), root);
}

const wick_op wick_op_rsqrt = {
    .name = "rsqrt",
    .doc = "1 / sqrt(x); an infinity of x's sign for zeros, NaN below",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = rsqrt_expand,
    .scalar = WICK_RULE_SAME,
    .eval = rsqrt_eval,
    .ulp = 1.5,
    .grad = wick_grad_rsqrt,
};

/* ---- pow ---- */

/* Computes x to the power n >= 0 by squaring; products wrap. */
static uint64_t power_integer(uint64_t x, uint64_t n)
{
  uint64_t r = 1;
  for (; n; n >>= 1, x *= x)
    if (n & 1) r *= x;
  return r;
}

static wick_scalar pow_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (wick_elem_is_float(e)) return (wick_scalar){.f = pow(x[0].f, x[1].f)};
  if (wick_elem_class(e) == WICK_SINT && x[1].i < 0) {
    bool unit = x[0].i == 1 || x[0].i == -1;
    return (wick_scalar){.i = !unit ? 0 : x[0].i < 0 && x[1].i % 2 ? -1 : 1};
  }
  return (wick_scalar){.i = (int64_t)power_integer((uint64_t)x[0].i, (uint64_t)x[1].i)};
}

static wick_dim pow_content(wick_dims *t, const wick_dim *x)
{
  if (!wick_dim_is_const(x[1]) || x[1].v < 0 || x[1].v > 8) return WICK_DIM_INVALID;
  wick_dim r = wick_dim_const(1);
  for (int64_t k = 0; k < x[1].v; k++) r = wick_dim_mul(t, r, x[0]);
  return r;
}

/* The same for all bits of n, with selections instead of branches. */
static wick_value power_expand_integer(wick_builder *b, wick_value x, wick_value n)
{
  wick_elem e = wick_built_info(b, x)->elem;
  wick_value one = expr_k(b, x, 1), zero = expr_k(b, x, 0), r = one, square = x, rest = n;
  for (uint32_t k = 0; k < wick_elem_storage[e].bits; k++) {
    wick_value bit = wick_build2(b, WICK_OP_bit_and, rest, one);
    wick_value odd = wick_build2(b, WICK_OP_ne, bit, zero);
    r = expr_where(b, odd, expr_mul(b, r, square), r);
    square = expr_mul(b, square, square);
    rest = wick_expr_shr(b, rest, 1);
  }
  if (wick_elem_class(e) == WICK_UINT) return r;
  /* For a negative n the result is 1 / x^-n. It is 1 or x for x = 1 and -1, as x^n is by n's
   * last bit, and otherwise 0. */
  wick_value unit = wick_build2(b, WICK_OP_or, expr_eq(b, x, 1), expr_eq(b, x, -1));
  return expr_where(b, expr_lt(b, n, 0), expr_where(b, unit, r, zero), r);
}

/* Returns x^y for a number y that takes at most three roundings, or 0. A root of -0 is that of 0,
 * and one of -inf is +inf, or 0 for a negative power. */
static wick_value power_expand_number(wick_builder *b, wick_value x, double y)
{
  bool root = y == 0.5 || y == -0.5 || y == 1.5, inverse = y < 0;
  wick_value r = x, one = expr_k(b, x, 1);
  if (y == 1) return x;
  if (y == 2 || y == 3 || y == 4) {
    r = expr_mul(b, x, x);
    return y == 2 ? r : expr_mul(b, r, y == 3 ? x : r);
  }
  if (y == -1 || y == -2) {
    r = expr_div(b, one, x);
    return y == -1 ? r : expr_mul(b, r, r);
  }
  if (!root) return (wick_value){0};
  x = expr_add(b, x, expr_k(b, x, 0)); /* -0 becomes 0 */
  r = wick_build1(b, WICK_OP_sqrt, x);
  r = inverse ? expr_div(b, one, r) : y == 1.5 ? expr_mul(b, x, r) : r;
  wick_value end = expr_k(b, x, inverse ? 0 : (double)INFINITY);
  return expr_where(b, expr_eq(b, x, -(double)INFINITY), end, r);
}

static void pow_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  bool is_float = wick_elem_is_float(wick_built_info(b, in[0])->elem);
  double y;
  out[0] = (wick_value){0};
  if (is_float && wick_built_number(b, in[1], &y)) out[0] = power_expand_number(b, in[0], y);
  if (out[0].id || b->status) return;
  out[0] = is_float ? wick_poly_pow(b, in[0], in[1]) : power_expand_integer(b, in[0], in[1]);
}

const wick_op wick_op_pow = {
    .name = "pow",
    .doc = "x to the power y. Floats: as pow of C, with 1 if x = 1 or y = 0 whatever the other "
           "is, and NaN if x < 0 and y is no integer. Integers wrap; a negative power is 1 / x^-y "
           "truncated, and 0 if x = 0",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .simplify = wick_simplify_pow,
    .expand = pow_expand,
    .scalar = WICK_RULE_SAME,
    .eval = pow_eval,
    .ulp = 1.5,
    .content = pow_content,
    .grad = wick_grad_pow,
};
