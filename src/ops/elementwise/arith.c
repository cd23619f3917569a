/* Element-wise arithmetic that machines have: sums, products, signs, maximum and minimum. Integers
 * wrap. Floats round to nearest even; NaN and infinities follow IEEE 754. */
#include <math.h>

#include "ir/expr.h"
#include "ops/gradient/grad.h"
#include "ops/poly/poly.h"
#include "ops/simplify.h"

static wick_scalar arith_wrap(uint64_t x) { return (wick_scalar){.i = (int64_t)x}; }

static wick_scalar add_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  return wick_elem_is_float(e) ? (wick_scalar){.f = x[0].f + x[1].f}
                               : arith_wrap((uint64_t)x[0].i + (uint64_t)x[1].i);
}
static wick_scalar add_neutral(wick_elem e)
{
  return wick_elem_is_float(e) ? (wick_scalar){.f = 0} : (wick_scalar){.i = 0};
}
static wick_dim add_content(wick_dims *t, const wick_dim *x) { return wick_dim_add(t, x[0], x[1]); }

const wick_op wick_op_add = {
    .name = "add",
    .doc = "x + y. Integers wrap",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .simplify = wick_simplify_add,
    .scalar = WICK_RULE_SAME,
    .eval = add_eval,
    .content = add_content,
    .neutral = add_neutral,
    .grad = wick_grad_add,
};

static wick_scalar sub_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  return wick_elem_is_float(e) ? (wick_scalar){.f = x[0].f - x[1].f}
                               : arith_wrap((uint64_t)x[0].i - (uint64_t)x[1].i);
}
static wick_dim sub_content(wick_dims *t, const wick_dim *x) { return wick_dim_sub(t, x[0], x[1]); }

const wick_op wick_op_sub = {
    .name = "sub",
    .doc = "x - y. Integers wrap",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .simplify = wick_simplify_add,
    .scalar = WICK_RULE_SAME,
    .eval = sub_eval,
    .content = sub_content,
    .grad = wick_grad_sub,
};

static wick_scalar mul_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  return wick_elem_is_float(e) ? (wick_scalar){.f = x[0].f * x[1].f}
                               : arith_wrap((uint64_t)x[0].i * (uint64_t)x[1].i);
}
static wick_scalar mul_neutral(wick_elem e)
{
  return wick_elem_is_float(e) ? (wick_scalar){.f = 1} : (wick_scalar){.i = 1};
}
static wick_dim mul_content(wick_dims *t, const wick_dim *x) { return wick_dim_mul(t, x[0], x[1]); }

const wick_op wick_op_mul = {
    .name = "mul",
    .doc = "x * y. Integers wrap",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .scalar = WICK_RULE_SAME,
    .eval = mul_eval,
    .content = mul_content,
    .neutral = mul_neutral,
    .grad = wick_grad_mul,
};

/* C's fma in the type's arithmetic: double would round an f32 result twice. */
static wick_scalar fma_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)e;
  if (out == WICK_F64) return (wick_scalar){.f = fma(x[0].f, x[1].f, x[2].f)};
  return (wick_scalar){.f = (double)fmaf((float)x[0].f, (float)x[1].f, (float)x[2].f)};
}

const wick_op wick_op_fma = {
    .name = "fma",
    .doc = "x * y + z, rounded once",
    .nin = {3, 3},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = fma_eval,
    .flops = 2,
    .grad = wick_grad_fma,
};

/* The operand that carries n has n in its low bits; here it is the difference. */
static wick_scalar mul_exp2_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                 const wick_scalar *x)
{
  (void)a, (void)e;
  double n = x[1].f - (out == WICK_F64 ? 0x1.8p52 : 0x1.8p23);
  if (isnan(n)) return (wick_scalar){.f = n};
  return (wick_scalar){.f = ldexp(x[0].f, (int)fmax(fmin(n, 9999), -9999))};
}

const wick_op wick_op_mul_exp2 = {
    .name = "mul_exp2",
    .doc = "x * 2^n for |x| from 1/2 to 2, rounded once. y is n + 1.5 * 2^23 for f32 and "
           "n + 1.5 * 2^52 for f64, where |n| is at most 190 or 1534. Exponentials "
           "expand into it",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_GROUP | WICK_LOOP,
    .elems = WICK_BIT(WICK_F32) | WICK_BIT(WICK_F64),
    .scalar = WICK_RULE_SAME,
    .eval = mul_exp2_eval,
};

const wick_op wick_op_muladd = {
    .name = "muladd",
    .doc = "x * y + z, rounded once if the target has `fma`, else after each step. The result is "
           "the same on all machines of one CPU level",
    .nin = {3, 3},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .scalar = WICK_RULE_SAME,
    .eval = fma_eval,
    .flops = 2,
    .grad = wick_grad_fma,
};

static wick_scalar mul_high_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                 const wick_scalar *x)
{
  (void)e, (void)out;
  int64_t product = x[0].i * x[1].i + a[WICK_ATTR_mul_high_add].i;
  return (wick_scalar){.i = (int32_t)(uint32_t)((uint64_t)product >> a[WICK_ATTR_mul_high_bits].i)};
}

const wick_op wick_op_mul_high = {
    .name = "mul_high",
    .doc = "(x * y + add) / 2^bits, rounded down; the product and the sum have 64 bits. With 31 "
           "bits, this is the product of fixed-point numbers with 31 bits after the point, "
           "rounded to the nearest if `add` is 2^30; -1 * -1 wraps to -1",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"add", WICK_ATTR_INT, 0, false, NULL, 0, (int64_t)1 << 61},
             {"bits", WICK_ATTR_INT, 31, false, NULL, 31, 32}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_BIT(WICK_I32),
    .scalar = WICK_RULE_SAME,
    .eval = mul_high_eval,
    .grad = wick_grad_zero,
};

static wick_scalar neg_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  return wick_elem_is_float(e) ? (wick_scalar){.f = -x[0].f} : arith_wrap(0 - (uint64_t)x[0].i);
}

static wick_dim neg_content(wick_dims *t, const wick_dim *x)
{
  return wick_dim_sub(t, wick_dim_const(0), x[0]);
}

const wick_op wick_op_neg = {
    .name = "neg",
    .doc = "-x. The sign bit of floats is flipped, also that of NaN; integers wrap",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .simplify = wick_simplify_again,
    .scalar = WICK_RULE_SAME,
    .eval = neg_eval,
    .content = neg_content,
    .grad = wick_grad_neg,
};

static wick_scalar abs_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (wick_elem_is_float(e)) return (wick_scalar){.f = fabs(x[0].f)};
  bool negative = wick_elem_class(e) == WICK_SINT && x[0].i < 0;
  return negative ? arith_wrap(0 - (uint64_t)x[0].i) : x[0];
}
static wick_dim abs_content(wick_dims *t, const wick_dim *x)
{
  return wick_dim_max(t, x[0], neg_content(t, x));
}

const wick_op wick_op_abs = {
    .name = "abs",
    .doc = "|x|. The sign bit of floats is cleared, also that of NaN; the least integer stays as "
           "it is",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .simplify = wick_simplify_again,
    .scalar = WICK_RULE_SAME,
    .eval = abs_eval,
    .content = abs_content,
    .grad = wick_grad_abs,
};

static wick_scalar sign_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (wick_elem_is_float(e))
    return isnan(x[0].f) ? x[0] : (wick_scalar){.f = (x[0].f > 0) - (x[0].f < 0)};
  if (wick_elem_class(e) == WICK_UINT) return (wick_scalar){.i = x[0].i != 0};
  return (wick_scalar){.i = (x[0].i > 0) - (x[0].i < 0)};
}
static wick_dim sign_content(wick_dims *t, const wick_dim *x)
{
  wick_dim low = wick_dim_max(t, x[0], wick_dim_const(-1));
  return wick_dim_min(t, low, wick_dim_const(1));
}

static void sign_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  wick_elem e = wick_built_info(b, in[0])->elem;
  wick_value zero = expr_k(b, in[0], 0), one = expr_k(b, in[0], 1);
  wick_value r = wick_elem_is_float(e) ? expr_where(b, expr_eq(b, in[0], 0), zero, in[0]) : zero;
  if (wick_elem_class(e) != WICK_UINT)
    r = expr_where(b, expr_lt(b, in[0], 0), expr_k(b, in[0], -1), r);
  out[0] = expr_where(b, expr_gt(b, in[0], 0), one, r);
}

const wick_op wick_op_sign = {
    .name = "sign",
    .doc = "-1, 0 or 1; +0 for both zeros, NaN for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .expand = sign_expand,
    .scalar = WICK_RULE_SAME,
    .eval = sign_eval,
    .content = sign_content,
    .grad = wick_grad_zero,
};

/* NaN if an operand is NaN. Of two zeros, max gives +0 and min gives -0, unless both have the
 * same sign. Both are therefore associative, and any schedule gives the same bits. IEEE 754-2019
 * calls them maximum and minimum. */
static wick_scalar arith_extreme(wick_elem e, const wick_scalar *x, bool max)
{
  if (!wick_elem_is_float(e)) {
    bool less =
        wick_elem_class(e) == WICK_UINT ? (uint64_t)x[0].i < (uint64_t)x[1].i : x[0].i < x[1].i;
    return x[less == max];
  }
  if (isnan(x[0].f) || isnan(x[1].f)) return (wick_scalar){.f = (double)NAN};
  if (x[0].f == x[1].f) return x[(signbit(x[0].f) != 0) == max];
  return x[(x[0].f < x[1].f) == max];
}

static wick_scalar max_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  return arith_extreme(e, x, true);
}
static wick_dim max_content(wick_dims *t, const wick_dim *x) { return wick_dim_max(t, x[0], x[1]); }

/* Returns the least (sign -1) or largest (sign +1) value of a type. */
static wick_scalar arith_end(wick_elem e, int sign)
{
  uint32_t bits = wick_elem_storage[e].bits;
  if (wick_elem_is_float(e)) return (wick_scalar){.f = sign * (double)INFINITY};
  if (e == WICK_BOOL) return (wick_scalar){.i = sign > 0};
  if (wick_elem_class(e) == WICK_UINT)
    return (wick_scalar){.i = sign < 0     ? 0
                              : bits == 64 ? -1
                                           : (int64_t)(((uint64_t)1 << bits) - 1)};
  int64_t top = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
  return (wick_scalar){.i = sign > 0 ? top : -top - 1};
}
static wick_scalar max_neutral(wick_elem e) { return arith_end(e, -1); }
static wick_scalar min_neutral(wick_elem e) { return arith_end(e, 1); }

const wick_op wick_op_max = {
    .name = "max",
    .doc = "The larger of x and y. NaN if one is NaN; +0 is above -0",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_PLAIN,
    .simplify = wick_simplify_bound,
    .scalar = WICK_RULE_SAME,
    .eval = max_eval,
    .content = max_content,
    .neutral = max_neutral,
    .grad = wick_grad_extreme,
};

static wick_scalar min_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  return arith_extreme(e, x, false);
}
static wick_dim min_content(wick_dims *t, const wick_dim *x) { return wick_dim_min(t, x[0], x[1]); }

const wick_op wick_op_min = {
    .name = "min",
    .doc = "The smaller of x and y. NaN if one is NaN; -0 is below +0",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_PLAIN,
    .simplify = wick_simplify_bound,
    .scalar = WICK_RULE_SAME,
    .eval = min_eval,
    .content = min_content,
    .neutral = min_neutral,
    .grad = wick_grad_extreme,
};
