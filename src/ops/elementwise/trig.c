/* Trigonometric and hyperbolic functions and their inverses. */
#include <math.h>

#include "ops/gradient/grad.h"
#include "ops/poly/poly_exp.h"
#include "ops/poly/poly_log.h"
#include "ops/poly/poly_trig.h"

#define TRIG_EVAL(name, expr)                                                                      \
  static wick_scalar name##_eval(const wick_attr *a, wick_elem e, wick_elem out,                   \
                                 const wick_scalar *in)                                            \
  {                                                                                                \
    (void)a, (void)e, (void)out;                                                                   \
    double x = in[0].f;                                                                            \
    return (wick_scalar){.f = expr};                                                               \
  }

TRIG_EVAL(sin, sin(x))
TRIG_EVAL(cos, cos(x))
TRIG_EVAL(tan, tan(x))
TRIG_EVAL(asin, asin(x))
TRIG_EVAL(acos, acos(x))
TRIG_EVAL(atan, atan(x))
TRIG_EVAL(sinh, sinh(x))
TRIG_EVAL(cosh, cosh(x))
TRIG_EVAL(tanh, tanh(x))
TRIG_EVAL(asinh, asinh(x))
TRIG_EVAL(acosh, acosh(x))
TRIG_EVAL(atanh, atanh(x))

static void sin_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_sin(b, in[0]);
}

const wick_op wick_op_sin = {
    .name = "sin",
    .doc = "The sine of x radians, of any size; -0 for -0, NaN for infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = sin_expand,
    .scalar = WICK_RULE_SAME,
    .eval = sin_eval,
    .ulp = 1.5,
    .grad = wick_grad_sin,
};

static void cos_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_cos(b, in[0]);
}

const wick_op wick_op_cos = {
    .name = "cos",
    .doc = "The cosine of x radians, of any size; NaN for infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = cos_expand,
    .scalar = WICK_RULE_SAME,
    .eval = cos_eval,
    .ulp = 1.5,
    .grad = wick_grad_cos,
};

static void tan_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_tan(b, in[0]);
}

const wick_op wick_op_tan = {
    .name = "tan",
    .doc = "The tangent of x radians, of any size; -0 for -0, NaN for infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = tan_expand,
    .scalar = WICK_RULE_SAME,
    .eval = tan_eval,
    .ulp = 3,
    .grad = wick_grad_tan,
};

static void asin_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_asin(b, in[0]);
}

const wick_op wick_op_asin = {
    .name = "asin",
    .doc = "The angle in [-pi/2, pi/2] whose sine is x; -0 for -0, NaN outside [-1, 1]",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = asin_expand,
    .scalar = WICK_RULE_SAME,
    .eval = asin_eval,
    .ulp = 2.5,
    .grad = wick_grad_asin,
};

static void acos_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_acos(b, in[0]);
}

const wick_op wick_op_acos = {
    .name = "acos",
    .doc = "The angle in [0, pi] whose cosine is x; NaN outside [-1, 1]",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = acos_expand,
    .scalar = WICK_RULE_SAME,
    .eval = acos_eval,
    .ulp = 1.5,
    .grad = wick_grad_acos,
};

static void atan_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_atan(b, in[0]);
}

const wick_op wick_op_atan = {
    .name = "atan",
    .doc = "The angle in [-pi/2, pi/2] whose tangent is x; -0 for -0, -pi/2 and pi/2 for "
           "infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = atan_expand,
    .scalar = WICK_RULE_SAME,
    .eval = atan_eval,
    .ulp = 2.5,
    .grad = wick_grad_atan,
};

static void sinh_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_hyperbolic(b, in[0], true);
}

const wick_op wick_op_sinh = {
    .name = "sinh",
    .doc = "(exp(x) - exp(-x)) / 2; -0 for -0, infinities for infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = sinh_expand,
    .scalar = WICK_RULE_SAME,
    .eval = sinh_eval,
    .ulp = 4.5,
    .grad = wick_grad_sinh,
};

static void cosh_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_hyperbolic(b, in[0], false);
}

const wick_op wick_op_cosh = {
    .name = "cosh",
    .doc = "(exp(x) + exp(-x)) / 2; inf for infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = cosh_expand,
    .scalar = WICK_RULE_SAME,
    .eval = cosh_eval,
    .ulp = 3.5,
    .grad = wick_grad_cosh,
};

static void tanh_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_tanh(b, in[0]);
}

const wick_op wick_op_tanh = {
    .name = "tanh",
    .doc = "sinh(x) / cosh(x); -0 for -0, -1 and 1 for infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = tanh_expand,
    .scalar = WICK_RULE_SAME,
    .eval = tanh_eval,
    .ulp = 3,
    .grad = wick_grad_tanh,
};

static void asinh_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_asinh(b, in[0]);
}

const wick_op wick_op_asinh = {
    .name = "asinh",
    .doc = "The t with sinh t = x; -0 for -0, infinities for infinities",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = asinh_expand,
    .scalar = WICK_RULE_SAME,
    .eval = asinh_eval,
    .ulp = 2.5,
    .grad = wick_grad_asinh,
};

static void acosh_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_acosh(b, in[0]);
}

const wick_op wick_op_acosh = {
    .name = "acosh",
    .doc = "The t >= 0 with cosh t = x; NaN below 1, inf for inf",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = acosh_expand,
    .scalar = WICK_RULE_SAME,
    .eval = acosh_eval,
    .ulp = 2.5,
    .grad = wick_grad_acosh,
};

static void atanh_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_poly_atanh(b, in[0]);
}

const wick_op wick_op_atanh = {
    .name = "atanh",
    .doc = "The t with tanh t = x; -0 for -0, infinities for -1 and 1, NaN outside",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = atanh_expand,
    .scalar = WICK_RULE_SAME,
    .eval = atanh_eval,
    .ulp = 3,
    .grad = wick_grad_atanh,
};
