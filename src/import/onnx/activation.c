/* Imports activations. */
#include <math.h>

#include "import/onnx/import.h"

static void activation_plain(wick_onnx_op *o)
{
  o->out[0] = wick_build1(o->b, o->row->op, o->in[0]);
}

/* Imports operators whose float attributes have ONNX's names in Wick: copies every attribute that
 * the row declares. Shrink also accepts integers. */
static void activation_floats(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, o->row->op);
  const wick_op *row = wick_ops[o->row->op];
  for (uint32_t i = 0; i < wick_op_nattr(row); i++)
    wick_emit_set_float(&e, row->attr[i].name,
                        wick_onnx_float(o, row->attr[i].name, (float)row->attr[i].dflt));
  wick_value x = o->in[0];
  if (o->row->op == WICK_OP_shrink) x = wick_emit_widen(o->b, WICK_OP_shrink, x);
  o->out[0] = wick_build_cast(o->b, wick_emit_end1(&e, x), wick_onnx_info(o, 0)->elem);
}

/* max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0). If alpha is 0 or not finite, builds exactly
 * this formula: then its two parts are not the cases x < 0 and x >= 0, and NaN propagates. */
static void activation_celu(wick_onnx_op *o)
{
  double alpha = wick_onnx_float(o, "alpha", 1);
  if (alpha != 0 && isfinite(alpha)) {
    activation_floats(o);
    return;
  }
  wick_value x = o->in[0];
  wick_value low = wick_build1(o->b, WICK_OP_exp, wick_emit_by(o->b, WICK_OP_div, x, alpha));
  low = wick_emit_by(o->b, WICK_OP_mul, wick_emit_by(o->b, WICK_OP_sub, low, 1), alpha);
  o->out[0] = wick_build2(o->b, WICK_OP_add, wick_emit_by(o->b, WICK_OP_max, x, 0),
                          wick_emit_by(o->b, WICK_OP_min, low, 0));
}

/* In opset 1 the constants of Selu have fewer digits. */
static void activation_selu_1(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_selu);
  wick_emit_set_float(&e, "alpha", wick_onnx_float(o, "alpha", 1.6732f));
  wick_emit_set_float(&e, "gamma", wick_onnx_float(o, "gamma", 1.0507f));
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

static void activation_gelu(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_gelu);
  wick_emit_set_int(&e, "approximate", wick_onnx_word(o, "approximate", "none tanh"));
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

/* Before opset 7 a slope of rank 1 aligns with the channels. From 7 on it broadcasts from the last
 * axis. */
static void activation_prelu_1(wick_onnx_op *o)
{
  const wick_type_info *x = wick_onnx_info(o, 0), *slope = wick_onnx_info(o, 1);
  wick_value s = o->in[1];
  if (slope->rank == 1 && x->rank > 2 && !wick_dim_is(slope->dim[0], 1)) {
    wick_dim dim[WICK_MAX_RANK] = {slope->dim[0]};
    for (uint32_t i = 1; i < x->rank - 1u; i++) dim[i] = wick_dim_const(1);
    s = wick_build_reshape(o->b, s, x->rank - 1u, dim);
  }
  o->out[0] = wick_build2(o->b, WICK_OP_prelu, o->in[0], s);
}

static void activation_prelu(wick_onnx_op *o)
{
  o->out[0] = wick_build2(o->b, WICK_OP_prelu, o->in[0], o->in[1]);
}

/* Before opset 11 the bounds are attributes. In opset 1 an absent attribute is no bound; from 6 on
 * it is the largest float. */
static void activation_clip_1(wick_onnx_op *o)
{
  static const char *const names[] = {"min", "max"};
  static const float most[] = {-0x1.fffffep+127f, 0x1.fffffep+127f};
  wick_value in[3] = {o->in[0]};
  for (int i = 0; i < 2; i++)
    if (o->opset >= 6 || wick_onnx_attr_find(o, names[i]))
      in[i + 1] = wick_emit_number(o->b, in[0], wick_onnx_float(o, names[i], most[i]));
  o->out[0] = wick_build(o->b, WICK_OP_clip, 3, in, NULL, 0, NULL);
}

static void activation_clip(wick_onnx_op *o)
{
  o->out[0] = wick_build(o->b, WICK_OP_clip, 3, (wick_value[]){o->in[0], o->in[1], o->in[2]}, NULL,
                         0, NULL);
}

/* swish(a) * b */
static void activation_swiglu(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_swish);
  wick_emit_set_float(&e, "alpha", wick_onnx_float(o, "alpha", 1));
  o->out[0] = wick_build2(o->b, WICK_OP_mul, wick_emit_end1(&e, o->in[0]), o->in[1]);
}

#define PLAIN(type, since, op)                                                                     \
  {                                                                                                \
    type, since, {1, 1}, 1, "", activation_plain, WICK_OP_##op, 0                                  \
  }
#define FLOATS(type, since, attrs, op)                                                             \
  {                                                                                                \
    type, since, {1, 1}, 1, attrs, activation_floats, WICK_OP_##op, 0                              \
  }

const wick_onnx_row wick_onnx_activation_rows[] = {
    {"Celu", 12, {1, 1}, 1, "alpha:f", activation_celu, WICK_OP_celu, 0},
    {"Clip", 1, {1, 1}, 1, "max:f min:f", activation_clip_1, 0, 0},
    {"Clip", 11, {1, 3}, 1, "", activation_clip, 0, 0},
    FLOATS("Elu", 1, "alpha:f", elu),
    {"Gelu", 20, {1, 1}, 1, "approximate:s", activation_gelu, 0, 0},
    FLOATS("HardSigmoid", 1, "alpha:f beta:f", hard_sigmoid),
    PLAIN("HardSwish", 14, hard_swish),
    FLOATS("LeakyRelu", 1, "alpha:f", leaky_relu),
    PLAIN("Mish", 18, mish),
    {"PRelu", 1, {2, 2}, 1, "", activation_prelu_1, 0, 0},
    {"PRelu", 7, {2, 2}, 1, "", activation_prelu, 0, 0},
    PLAIN("Relu", 1, relu),
    {"Selu", 1, {1, 1}, 1, "alpha:f gamma:f", activation_selu_1, 0, 0},
    FLOATS("Selu", 6, "alpha:f gamma:f", selu),
    FLOATS("Shrink", 9, "bias:f lambd:f", shrink),
    PLAIN("Sigmoid", 1, sigmoid),
    PLAIN("Softplus", 1, softplus),
    PLAIN("Softsign", 1, softsign),
    {"SwiGLU", 28, {2, 2}, 1, "alpha:f", activation_swiglu, 0, 0},
    FLOATS("Swish", 24, "alpha:f", swish),
    FLOATS("ThresholdedRelu", 10, "alpha:f", thresholded_relu),
    {0},
};
