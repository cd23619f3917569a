/* Imports the optimizers of the training preview: one step for each optimized tensor. */
#include "import/onnx/import.h"

/* Checks the operands: R (rate), T (step count), then all X, all gradients, and `nstate` groups
 * of states. Returns false after it added a failure. */
static bool training_counts(wick_onnx_op *o, uint32_t nstate, uint32_t *out_n)
{
  uint32_t n = (o->nin - 2) / (2 + nstate);
  *out_n = n;
  if (n && o->nin == 2 + n * (2 + nstate) && o->nout == n * (1 + nstate)) return true;
  wick_onnx_fail(o, WICK_EPARSE,
                 "%u inputs and %u outputs, expected 2 + %u for each tensor, and %u", o->nin,
                 o->nout, 2 + nstate, 1 + nstate);
  return false;
}

static wick_value training_rate(wick_onnx_op *o, wick_value x)
{
  return wick_build_cast(o->b, wick_onnx_scalar(o, 0), wick_built_info(o->b, x)->elem);
}

/* x + a * y */
static wick_value training_add(wick_onnx_op *o, wick_value x, double a, wick_value y)
{
  return wick_build2(o->b, WICK_OP_add, x, wick_emit_by(o->b, WICK_OP_mul, y, a));
}

static wick_value training_regularized(wick_onnx_op *o, wick_value gradient, wick_value x)
{
  double by = wick_onnx_float(o, "norm_coefficient", 0);
  return by != 0 ? training_add(o, gradient, by, x) : gradient;
}

static void training_adagrad(wick_onnx_op *o)
{
  uint32_t n;
  wick_builder *b = o->b;
  if (!training_counts(o, 1, &n)) return;
  for (uint32_t i = 0; i < n; i++) {
    wick_value x = o->in[2 + i], g = training_regularized(o, o->in[2 + n + i], x);
    wick_value steps = wick_build_cast(b, wick_onnx_scalar(o, 1), wick_built_info(b, x)->elem);
    wick_value rate = wick_build2(
        b, WICK_OP_div, training_rate(o, x),
        wick_emit_by(o->b, WICK_OP_add,
                     wick_emit_by(o->b, WICK_OP_mul, steps, wick_onnx_float(o, "decay_factor", 0)),
                     1));
    wick_value h =
        wick_build2(b, WICK_OP_add, o->in[2 + 2 * n + i], wick_build2(b, WICK_OP_mul, g, g));
    wick_value root = wick_emit_by(o->b, WICK_OP_add, wick_build1(b, WICK_OP_sqrt, h),
                                   wick_onnx_float(o, "epsilon", 1e-6f));
    o->out[i] = wick_build2(
        b, WICK_OP_sub, x, wick_build2(b, WICK_OP_div, wick_build2(b, WICK_OP_mul, rate, g), root));
    o->out[n + i] = h;
    if (b->status) return;
  }
}

/* Builds the rate. It is adjusted by sqrt(1 - beta^T) / (1 - alpha^T), except at step 0. */
static wick_value training_adam_rate(wick_onnx_op *o, wick_value x, double alpha, double beta)
{
  wick_builder *b = o->b;
  wick_value t = wick_build_cast(b, wick_onnx_scalar(o, 1), wick_built_info(b, x)->elem),
             rate = training_rate(o, x);
  if (b->status) return x;
  wick_value one = wick_emit_number(o->b, x, 1);
  wick_value bias_a = wick_build2(b, WICK_OP_sub, one,
                                  wick_build2(b, WICK_OP_pow, wick_emit_number(o->b, x, alpha), t)),
             bias_b = wick_build2(b, WICK_OP_sub, one,
                                  wick_build2(b, WICK_OP_pow, wick_emit_number(o->b, x, beta), t));
  wick_value adjusted =
      wick_build2(b, WICK_OP_div,
                  wick_build2(b, WICK_OP_mul, rate, wick_build1(b, WICK_OP_sqrt, bias_b)), bias_a);
  return wick_build3(b, WICK_OP_where, wick_emit_by(o->b, WICK_OP_gt, t, 0), adjusted, rate);
}

static void training_adam(wick_onnx_op *o)
{
  uint32_t n;
  wick_builder *b = o->b;
  double alpha = wick_onnx_float(o, "alpha", 0.9f), beta = wick_onnx_float(o, "beta", 0.999f),
         post = wick_onnx_float(o, "norm_coefficient_post", 0);
  if (!training_counts(o, 2, &n)) return;
  for (uint32_t i = 0; i < n; i++) {
    wick_value x = o->in[2 + i], g = training_regularized(o, o->in[2 + n + i], x);
    wick_value v = training_add(o, wick_emit_by(o->b, WICK_OP_mul, o->in[2 + 2 * n + i], alpha),
                                1 - alpha, g),
               h = training_add(o, wick_emit_by(o->b, WICK_OP_mul, o->in[2 + 3 * n + i], beta),
                                1 - beta, wick_build2(b, WICK_OP_mul, g, g));
    wick_value root = wick_emit_by(o->b, WICK_OP_add, wick_build1(b, WICK_OP_sqrt, h),
                                   wick_onnx_float(o, "epsilon", 1e-6f));
    wick_value step =
        wick_build2(b, WICK_OP_div,
                    wick_build2(b, WICK_OP_mul, training_adam_rate(o, x, alpha, beta), v), root);
    wick_value y = wick_build2(b, WICK_OP_sub, x, step);
    o->out[i] = post != 0 ? wick_emit_by(o->b, WICK_OP_mul, y, 1 - post) : y;
    o->out[n + i] = v;
    o->out[2 * n + i] = h;
    if (b->status) return;
  }
}

static void training_momentum(wick_onnx_op *o)
{
  uint32_t n;
  wick_builder *b = o->b;
  double alpha = wick_onnx_float(o, "alpha", 0), beta = wick_onnx_float(o, "beta", 0);
  int nesterov = wick_onnx_word(o, "mode", "standard nesterov");
  if (!training_counts(o, 1, &n)) return;
  for (uint32_t i = 0; i < n; i++) {
    wick_value x = o->in[2 + i], g = training_regularized(o, o->in[2 + n + i], x);
    wick_value first =
        wick_emit_by(o->b, WICK_OP_gt, wick_build_cast(b, wick_onnx_scalar(o, 1), WICK_I64), 0);
    if (b->status) return;
    wick_value by = wick_build3(b, WICK_OP_where, first, wick_emit_number(o->b, x, beta),
                                wick_emit_number(o->b, x, 1)); /* beta scales only later steps */
    wick_value v =
        wick_build2(b, WICK_OP_add, wick_emit_by(o->b, WICK_OP_mul, o->in[2 + 2 * n + i], alpha),
                    wick_build2(b, WICK_OP_mul, by, g));
    wick_value way = nesterov ? training_add(o, g, alpha, v) : v;
    o->out[i] =
        wick_build2(b, WICK_OP_sub, x, wick_build2(b, WICK_OP_mul, training_rate(o, x), way));
    o->out[n + i] = v;
    if (b->status) return;
  }
}

#define TRAINING(name) "ai.onnx.preview.training." name

const wick_onnx_row wick_onnx_training_rows[] = {
    {TRAINING("Adagrad"),
     1,
     {5, WICK_ANY},
     WICK_ANY,
     "decay_factor:f epsilon:f norm_coefficient:f",
     training_adagrad,
     0,
     0},
    {TRAINING("Adam"),
     1,
     {6, WICK_ANY},
     WICK_ANY,
     "alpha:f beta:f epsilon:f norm_coefficient:f norm_coefficient_post:f",
     training_adam,
     0,
     0},
    {TRAINING("Gradient"), 1, {1, WICK_ANY}, WICK_ANY, "xs:S! zs:S y:s!", wick_onnx_gradient, 0, 0},
    {TRAINING("Momentum"),
     1,
     {5, WICK_ANY},
     WICK_ANY,
     "alpha:f! beta:f! mode:s! norm_coefficient:f!",
     training_momentum,
     0,
     0},
    {0},
};
