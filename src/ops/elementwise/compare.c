/* Comparisons, tests for NaN and infinity, and the selection between two elements. */
#include <math.h>

#include "ops/gradient/grad.h"
#include "ops/poly/poly.h"
#include "ops/simplify.h"

typedef struct compare_order { /* all are false if one of them is NaN */
  bool less, equal, greater;
} compare_order;

static compare_order compare_elements(wick_elem e, const wick_scalar *x)
{
  if (wick_elem_is_float(e))
    return (compare_order){x[0].f<x[1].f, x[0].f == x[1].f, x[0].f> x[1].f};
  if (wick_elem_class(e) == WICK_UINT)
    return (compare_order){
        (uint64_t)x[0].i<(uint64_t)x[1].i, x[0].i == x[1].i, (uint64_t)x[0].i>(uint64_t) x[1].i};
  return (compare_order){x[0].i<x[1].i, x[0].i == x[1].i, x[0].i> x[1].i};
}

/* Returns the contents of a comparison of two dimension expressions: 0, 1, or an expression with
 * these values if the ranges do not decide it (x > y is min(max(x - y, 0), 1)). */
static wick_dim compare_content(wick_dims *t, const wick_dim *x, bool less, bool equal,
                                bool greater)
{
  wick_dim zero = wick_dim_const(0), one = wick_dim_const(1), d = wick_dim_sub(t, x[0], x[1]),
           back = wick_dim_sub(t, x[1], x[0]);
  if (!wick_dim_may_equal(t, x[0], x[1]) && !wick_dim_eq(d, WICK_DIM_INVALID) && less == greater)
    return wick_dim_const(less);
  wick_dim above = wick_dim_min(t, wick_dim_max(t, d, zero), one),
           below = wick_dim_min(t, wick_dim_max(t, back, zero), one);
  if (less != greater) { /* x < y is y > x */
    wick_dim strict = greater ? above : below, other = greater ? below : above;
    return equal ? wick_dim_sub(t, one, other) : strict;
  }
  wick_dim differ = wick_dim_min(t, wick_dim_max(t, wick_dim_max(t, d, back), zero), one);
  return equal ? wick_dim_sub(t, one, differ) : differ;
}

static wick_scalar eq_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  compare_order o = compare_elements(e, x);
  return (wick_scalar){.i = o.equal};
}
static wick_dim eq_content(wick_dims *t, const wick_dim *x)
{
  return compare_content(t, x, false, true, false);
}

const wick_op wick_op_eq = {
    .name = "eq",
    .doc = "x == y. False if one is NaN; zeros of either sign are equal",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_PLAIN | WICK_TEXTS,
    .scalar = WICK_RULE_COMPARE,
    .eval = eq_eval,
    .content = eq_content,
    .grad = wick_grad_zero,
};

static wick_scalar ne_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  compare_order o = compare_elements(e, x);
  return (wick_scalar){.i = !o.equal};
}
static wick_dim ne_content(wick_dims *t, const wick_dim *x)
{
  return compare_content(t, x, true, false, true);
}

const wick_op wick_op_ne = {
    .name = "ne",
    .doc = "x != y. True if one is NaN",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_PLAIN | WICK_TEXTS,
    .scalar = WICK_RULE_COMPARE,
    .eval = ne_eval,
    .content = ne_content,
    .grad = wick_grad_zero,
};

static wick_scalar lt_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  compare_order o = compare_elements(e, x);
  return (wick_scalar){.i = o.less};
}
static wick_dim lt_content(wick_dims *t, const wick_dim *x)
{
  return compare_content(t, x, true, false, false);
}

const wick_op wick_op_lt = {
    .name = "lt",
    .doc = "x < y. False if one is NaN",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .scalar = WICK_RULE_COMPARE,
    .eval = lt_eval,
    .content = lt_content,
    .grad = wick_grad_zero,
};

static wick_scalar le_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  compare_order o = compare_elements(e, x);
  return (wick_scalar){.i = o.less || o.equal};
}
static wick_dim le_content(wick_dims *t, const wick_dim *x)
{
  return compare_content(t, x, true, true, false);
}

const wick_op wick_op_le = {
    .name = "le",
    .doc = "x <= y. False if one is NaN",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .scalar = WICK_RULE_COMPARE,
    .eval = le_eval,
    .content = le_content,
    .grad = wick_grad_zero,
};

static wick_scalar gt_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  compare_order o = compare_elements(e, x);
  return (wick_scalar){.i = o.greater};
}
static wick_dim gt_content(wick_dims *t, const wick_dim *x)
{
  return compare_content(t, x, false, false, true);
}

const wick_op wick_op_gt = {
    .name = "gt",
    .doc = "x > y. False if one is NaN",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .scalar = WICK_RULE_COMPARE,
    .eval = gt_eval,
    .content = gt_content,
    .grad = wick_grad_zero,
};

static wick_scalar ge_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  compare_order o = compare_elements(e, x);
  return (wick_scalar){.i = o.greater || o.equal};
}
static wick_dim ge_content(wick_dims *t, const wick_dim *x)
{
  return compare_content(t, x, false, true, true);
}

const wick_op wick_op_ge = {
    .name = "ge",
    .doc = "x >= y. False if one is NaN",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .scalar = WICK_RULE_COMPARE,
    .eval = ge_eval,
    .content = ge_content,
    .grad = wick_grad_zero,
};

/* ---- classes of floats ---- */

static wick_scalar isnan_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return (wick_scalar){.i = isnan(x[0].f)};
}

static void isnan_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_build2(b, WICK_OP_ne, in[0], in[0]);
}

const wick_op wick_op_isnan = {
    .name = "isnan",
    .doc = "Whether x is NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = isnan_expand,
    .scalar = WICK_RULE_COMPARE,
    .eval = isnan_eval,
    .grad = wick_grad_zero,
};

static wick_scalar isinf_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e, (void)out;
  return (wick_scalar){.i = isinf(x[0].f) && (x[0].f > 0 ? a[1].i : a[0].i)};
}

static void isinf_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  bool below = n->attr[WICK_ATTR_isinf_detect_negative].i,
       above = n->attr[WICK_ATTR_isinf_detect_positive].i;
  wick_value x = below && above ? expr_abs(b, in[0]) : in[0];
  double bound = above ? (double)INFINITY : (double)-INFINITY;
  out[0] = expr_eq(b, x, below || above ? bound : (double)NAN);
}

const wick_op wick_op_isinf = {
    .name = "isinf",
    .doc = "Whether x is infinite; `detect_negative` and `detect_positive` select the signs",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"detect_negative", WICK_ATTR_BOOL, 1, false, NULL, 0, 0},
             {"detect_positive", WICK_ATTR_BOOL, 1, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = isinf_expand,
    .scalar = WICK_RULE_COMPARE,
    .eval = isinf_eval,
    .grad = wick_grad_zero,
};

/* ---- choice ---- */

static wick_scalar where_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e, (void)out;
  return x[0].i ? x[1] : x[2];
}
static wick_dim where_content(wick_dims *t, const wick_dim *x)
{
  if (wick_dim_eq(x[1], x[2])) return x[1];
  if (wick_dim_is_const(x[0])) return wick_dim_is(x[0], 0) ? x[2] : x[1];
  return wick_dim_add(t, x[2], wick_dim_mul(t, x[0], wick_dim_sub(t, x[1], x[2])));
}

const wick_op wick_op_where = {
    .name = "where",
    .doc = "x if the condition is true, else y. The bits of the selected operand are kept, "
           "whatever the other is",
    .nin = {3, 3},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_PLAIN | WICK_TEXTS,
    .simplify = wick_simplify_where,
    .scalar = WICK_RULE_SELECT,
    .eval = where_eval,
    .content = where_content,
    .grad = wick_grad_where,
};
