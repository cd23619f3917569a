/* Division and remainders. The element-wise forms are total: an integer divided by zero is 0, and
 * the least integer divided by -1 wraps, so that no machine traps. The operators on tensors fail
 * the run on a zero divisor, which their stages test. */
#include <math.h>

#include "ops/gradient/grad.h"
#include "ops/poly/poly_pow.h"
#include "ops/ref.h"
#include "ops/simplify.h"

typedef struct divide_parts { /* x = quotient * y + rest, truncated; both are 0 if y is 0 */
  uint64_t quotient, rest;
} divide_parts;

static divide_parts divide_integers(wick_elem e, wick_scalar x, wick_scalar y)
{
  if (y.i == 0) return (divide_parts){0, 0};
  if (wick_elem_class(e) == WICK_UINT)
    return (divide_parts){(uint64_t)x.i / (uint64_t)y.i, (uint64_t)x.i % (uint64_t)y.i};
  if (y.i == -1) return (divide_parts){0 - (uint64_t)x.i, 0};
  return (divide_parts){(uint64_t)(x.i / y.i), (uint64_t)(x.i % y.i)};
}

/* The condition under which a stage fails: an integer divisor is zero. Floats never fail. */
static wick_value divide_check(wick_builder *b, const wick_value *in)
{
  if (b->status || wick_elem_is_float(wick_built_info(b, in[1])->elem)) return (wick_value){0};
  return wick_build2(b, WICK_OP_eq, in[1], wick_build_like(b, in[1], 0));
}

static void divide_compute(const wick_compute *c) { wick_scalar_map(c, divide_check); }

/* Builds the machine instruction with a divisor that it accepts. Division by 0 gives 0, and the
 * least integer divided by -1 wraps. */
static wick_value divide_guarded(wick_builder *b, wick_opcode op, wick_value x, wick_value y)
{
  bool is_signed = wick_elem_class(wick_built_info(b, y)->elem) == WICK_SINT;
  wick_value zero = expr_k(b, y, 0), none = expr_eq(b, y, 0), bad = none, minus = none;
  if (is_signed) minus = expr_eq(b, y, -1), bad = wick_build2(b, WICK_OP_or, none, minus);
  wick_value r = wick_build2(b, op, x, expr_where(b, bad, expr_k(b, y, 1), y));
  if (is_signed && op == WICK_OP_div_unchecked) r = expr_where(b, minus, expr_neg(b, x), r);
  return expr_where(b, none, zero, r); /* remainders by 1 and -1 are 0 */
}

/* The reference of the operators on tensors. It fails on a zero divisor, unless the result is
 * empty. */
static wick_status divide_ref(wick_ref *c)
{
  const wick_tensor *y = &c->in[1];
  if (!wick_elem_is_float(y->elem) && wick_ref_numel(&c->out[0]))
    for (uint64_t k = 0; k < wick_ref_numel(y); k++)
      if (wick_load_int(y->elem, y->data, k) == 0)
        return wick_ref_fail(c, WICK_EINVAL, "division by zero");
  return wick_scalar_ref(c);
}

/* The contents of a quotient by a positive number. It is truncated, which is the same as floored
 * for numbers that are not negative. */
static wick_dim divide_content(wick_dims *t, const wick_dim *x)
{
  int64_t lo, hi;
  wick_dim zero = wick_dim_const(0);
  wick_dim_range(t, x[1], &lo, &hi);
  if (lo <= 0) return WICK_DIM_INVALID;
  wick_dim_range(t, x[0], &lo, &hi);
  if (lo >= 0) return wick_dim_floordiv(t, x[0], x[1]);
  wick_dim above = wick_dim_max(t, x[0], zero),
           below = wick_dim_max(t, wick_dim_sub(t, zero, x[0]), zero);
  return wick_dim_sub(t, wick_dim_floordiv(t, above, x[1]), wick_dim_floordiv(t, below, x[1]));
}

/* ---- div ---- */

static wick_scalar div_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (wick_elem_is_float(e)) return (wick_scalar){.f = x[0].f / x[1].f};
  return (wick_scalar){.i = (int64_t)divide_integers(e, x[0], x[1]).quotient};
}

static wick_dim div_content(wick_dims *t, const wick_dim *x) { return divide_content(t, x); }

static void div_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = divide_guarded(b, WICK_OP_div_unchecked, in[0], in[1]);
}

const wick_op wick_op_div = {
    .name = "div",
    .doc = "x / y. Floats follow IEEE 754. Integers truncate towards zero and wrap; a zero "
           "divisor fails the run (as an element of a stage or loop it gives 0)",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .simplify = wick_simplify_div,
    .effect = WICK_MAY_FAIL,
    .ref = divide_ref,
    .compute = divide_compute,
    .expand = div_expand,
    .expands = WICK_INTS,
    .scalar = WICK_RULE_SAME,
    .eval = div_eval,
    .content = div_content,
    .grad = wick_grad_div,
};

/* ---- remainders ---- */

static wick_scalar mod_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (wick_elem_is_float(e)) {
    double r = fmod(x[0].f, x[1].f);
    if (r == 0) return (wick_scalar){.f = copysign(0, x[1].f)};
    bool other = signbit(r) != signbit(x[1].f); /* false for NaN; its value does not matter then */
    return (wick_scalar){.f = other ? r + x[1].f : r};
  }
  int64_t r = (int64_t)divide_integers(e, x[0], x[1]).rest;
  bool other = wick_elem_class(e) == WICK_SINT && r != 0 && (r < 0) != (x[1].i < 0);
  return (wick_scalar){.i = other ? r + x[1].i : r};
}

static wick_dim mod_content(wick_dims *t, const wick_dim *x)
{
  int64_t lo, hi;
  wick_dim_range(t, x[1], &lo, &hi);
  return lo > 0 ? wick_dim_mod(t, x[0], x[1]) : WICK_DIM_INVALID;
}

static void mod_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  bool is_float = wick_elem_is_float(wick_built_info(b, in[0])->elem);
  wick_value r = is_float ? wick_poly_fmod(b, in[0], in[1])
                          : divide_guarded(b, WICK_OP_rem_unchecked, in[0], in[1]);
  wick_value zero = expr_k(b, r, 0), is_zero = expr_eq(b, r, 0);
  wick_value other = wick_build2(b, WICK_OP_ne, expr_lt(b, r, 0), expr_lt(b, in[1], 0));
  r = expr_where(b, other, expr_add(b, r, in[1]), r);
  if (is_float) zero = wick_expr_with_sign(b, zero, in[1]);
  out[0] = expr_where(b, is_zero, zero, r);
}

const wick_op wick_op_mod = {
    .name = "mod",
    .doc = "x - floor(x / y) * y, with the sign of y, also for zero. Floats: the exact remainder "
           "of fmod, plus y, rounded, if its sign differs; NaN if y = 0 or x is infinite. "
           "Integers: a zero divisor fails the run (as an element of a stage or loop it gives 0)",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .effect = WICK_MAY_FAIL,
    .ref = divide_ref,
    .compute = divide_compute,
    .expand = mod_expand,
    .scalar = WICK_RULE_SAME,
    .eval = mod_eval,
    .content = mod_content,
    .grad = wick_grad_fmod,
};

static wick_scalar fmod_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (wick_elem_is_float(e)) return (wick_scalar){.f = fmod(x[0].f, x[1].f)};
  return (wick_scalar){.i = (int64_t)divide_integers(e, x[0], x[1]).rest};
}

static wick_dim fmod_content(wick_dims *t, const wick_dim *x)
{
  return wick_dim_sub(t, x[0], wick_dim_mul(t, x[1], divide_content(t, x)));
}

static void fmod_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  bool is_float = wick_elem_is_float(wick_built_info(b, in[0])->elem);
  out[0] = is_float ? wick_poly_fmod(b, in[0], in[1])
                    : divide_guarded(b, WICK_OP_rem_unchecked, in[0], in[1]);
}

const wick_op wick_op_fmod = {
    .name = "fmod",
    .doc = "x - trunc(x / y) * y, exactly, with the sign of x, also for zero. Floats: NaN if y = "
           "0 or x is infinite. Integers: a zero divisor fails the run (as an element of a stage "
           "or loop it gives 0)",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .effect = WICK_MAY_FAIL,
    .ref = divide_ref,
    .compute = divide_compute,
    .expand = fmod_expand,
    .scalar = WICK_RULE_SAME,
    .eval = fmod_eval,
    .content = fmod_content,
    .grad = wick_grad_fmod,
};

/* ---- what machines have ---- */

const wick_op wick_op_div_unchecked = {
    .name = "div_unchecked",
    .doc = "x / y of integers, truncated, without a guard: y is not 0, and the quotient fits. "
           "`div` expands into it",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_GROUP | WICK_LOOP,
    .elems = WICK_INTS,
    .effect = WICK_MAY_FAIL,
    .scalar = WICK_RULE_SAME,
    .eval = div_eval,
};

const wick_op wick_op_rem_unchecked = {
    .name = "rem_unchecked",
    .doc = "x - trunc(x / y) * y of integers, without a guard: y is not 0, and x / y fits. `mod` "
           "and `fmod` expand into it",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_GROUP | WICK_LOOP,
    .elems = WICK_INTS,
    .effect = WICK_MAY_FAIL,
    .scalar = WICK_RULE_SAME,
    .eval = fmod_eval,
};

/* ---- reciprocal ---- */

static wick_scalar reciprocal_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                   const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.f = 1 / x[0].f};
}

static void reciprocal_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                              wick_value *out)
{
  (void)n;
  out[0] = wick_build2(b, WICK_OP_div, wick_build_like(b, in[0], 1), in[0]);
}

const wick_op wick_op_reciprocal = {
    .name = "reciprocal",
    .doc = "1 / x, rounded once; an infinity of x's sign for zeros",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = reciprocal_expand,
    .scalar = WICK_RULE_SAME,
    .eval = reciprocal_eval,
    .grad = wick_grad_reciprocal,
};
