/* Exponentials, logarithms and the error function. */
#include <math.h>

#include "ops/gradient/grad.h"
#include "ops/poly/poly_erf.h"
#include "ops/poly/poly_log.h"

#define MATH_EVAL(name, expr)                                                                      \
  static wick_scalar name##_eval(const wick_attr *a, wick_elem e, wick_elem out,                   \
                                 const wick_scalar *in)                                            \
  {                                                                                                \
    (void)a, (void)e, (void)out;                                                                   \
    double x = in[0].f;                                                                            \
    return (wick_scalar){.f = expr};                                                               \
  }

MATH_EVAL(exp, exp(x))
MATH_EVAL(exp2, exp2(x))
MATH_EVAL(expm1, expm1(x))
MATH_EVAL(log, log(x))
MATH_EVAL(log2, log2(x))
MATH_EVAL(log1p, log1p(x))
MATH_EVAL(erf, erf(x))

static void exp_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_exp(b, in[0]);
}

const wick_op wick_op_exp = {
    .name = "exp",
    .doc = "e to the power x; 0 for -inf, NaN for NaN; results below the normal range are "
           "kept",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = exp_expand,
    .scalar = WICK_RULE_SAME,
    .eval = exp_eval,
    .ulp = 1.1,
    .grad = wick_grad_exp,
};

static void exp_minus_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                             wick_value *out)
{
  (void)n;
  out[0] = wick_poly_exp_flushed(b, in[0]);
}

static wick_scalar exp_minus_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                  const wick_scalar *in)
{
  (void)a, (void)out;
  double x = in[0].f > WICK_POLY_EXP_MOST ? WICK_POLY_EXP_MOST : in[0].f;
  return (wick_scalar){.f = x < wick_poly_exp_least(e) ? 0 : exp(x)};
}

const wick_op wick_op_exp_minus = {
    .name = "exp_minus",
    .doc =
        "e to the power x, where x above 40 counts as 40: a softmax and a log-sum-exp have powers "
        "of numbers that are not above 0. Results below the normal range are 0: a mask makes "
        "many of them",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = exp_minus_expand,
    .scalar = WICK_RULE_SAME,
    .eval = exp_minus_eval,
    .ulp = 1.1,
    .grad = wick_grad_exp,
};

static void exp2_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_exp2(b, in[0]);
}

const wick_op wick_op_exp2 = {
    .name = "exp2",
    .doc = "2 to the power x; 0 for -inf, NaN for NaN; exact for whole x",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = exp2_expand,
    .scalar = WICK_RULE_SAME,
    .eval = exp2_eval,
    .ulp = 1.5,
    .grad = wick_grad_exp2,
};

static void expm1_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_expm1(b, in[0]);
}

const wick_op wick_op_expm1 = {
    .name = "expm1",
    .doc = "exp(x) - 1 without cancellation: x for small x, with its sign of zero; -1 for "
           "-inf",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = expm1_expand,
    .scalar = WICK_RULE_SAME,
    .eval = expm1_eval,
    .ulp = 2,
    .grad = wick_grad_expm1,
};

static void log_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_log(b, in[0]);
}

const wick_op wick_op_log = {
    .name = "log",
    .doc = "The natural logarithm; -inf for zeros, NaN below, inf for inf",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = log_expand,
    .scalar = WICK_RULE_SAME,
    .eval = log_eval,
    .ulp = 1,
    .grad = wick_grad_log,
};

static void log2_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_log2(b, in[0]);
}

const wick_op wick_op_log2 = {
    .name = "log2",
    .doc = "The logarithm to base 2; -inf for zeros, NaN below, inf for inf; exact for "
           "powers of 2",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = log2_expand,
    .scalar = WICK_RULE_SAME,
    .eval = log2_eval,
    .ulp = 2.5,
    .grad = wick_grad_log2,
};

static void log1p_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_log1p(b, in[0]);
}

const wick_op wick_op_log1p = {
    .name = "log1p",
    .doc = "log(1 + x) without cancellation: x for small x, with its sign of zero; -inf "
           "for -1, NaN below",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = log1p_expand,
    .scalar = WICK_RULE_SAME,
    .eval = log1p_eval,
    .ulp = 2,
    .grad = wick_grad_log1p,
};

static void erf_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_erf(b, in[0]);
}

const wick_op wick_op_erf = {
    .name = "erf",
    .doc = "2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x; odd, also for zeros; "
           "-1 and 1 for infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = erf_expand,
    .scalar = WICK_RULE_SAME,
    .eval = erf_eval,
    .ulp = 1.5,
    .grad = wick_grad_erf,
};
