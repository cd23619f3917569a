/* Imports com.microsoft's operators that ONNX Runtime's optimizer writes into diffusion models. Its CPU
 * provider has no kernels for them; their meaning is that of its documentation. */
#include "import/kit/nhwc.h"
#include "import/onnx/microsoft.h"

/* ---- normalization of groups of channels ---- */

/* Returns operand i, [channels] or [batch, channels], so that it broadcasts over an image. One of the
 * image's rank stays as it is. */
static wick_value diffusion_wide(wick_onnx_op *o, uint32_t i, bool last)
{
  const wick_type_info t = *wick_onnx_info(o, i), *x = wick_onnx_info(o, 0);
  wick_dim dim[WICK_MAX_RANK];
  if (t.rank == x->rank) return o->in[i];
  if (t.rank < 1 || t.rank > 2) {
    wick_onnx_fail(o, WICK_ETYPE, "input %u has rank %u, expected 1, 2 or %u", i, t.rank, x->rank);
    return (wick_value){0};
  }
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = wick_dim_const(1);
  if (t.rank == 2) dim[0] = t.dim[0];
  dim[last ? x->rank - 1 : 1] = t.dim[t.rank - 1];
  return wick_build_reshape(o->b, o->in[i], x->rank, dim);
}

/* Normalizes x in f32, where scale and bias are, and applies the activation. */
static wick_value diffusion_normalized(wick_onnx_op *o, wick_value x, bool last)
{
  wick_builder *b = o->b;
  wick_value in[3] = {last ? wick_nhwc_move(b, x, true) : x, o->in[1], o->in[2]};
  for (uint32_t k = 0; k < 3; k++) in[k] = wick_build_cast(b, in[k], WICK_F32);
  wick_emit e = wick_emit_begin(b, WICK_OP_group_norm);
  wick_emit_set_float(&e, "epsilon", wick_onnx_float(o, "epsilon", 1e-5f));
  wick_emit_set_int(&e, "groups", wick_onnx_int(o, "groups", 1));
  wick_value y = wick_emit_end(&e, 3, in);
  if (wick_onnx_int(o, "activation", 0)) {
    e = wick_emit_begin(b, WICK_OP_swish);
    wick_emit_set_float(&e, "alpha", 1);
    y = wick_emit_end1(&e, y);
  }
  y = wick_build_cast(b, y, wick_onnx_info(o, 0)->elem);
  return last ? wick_nhwc_last(b, y) : y;
}

/* Operands: x, scale, bias of the result; if row->arg, also what is added to x before, of which the second
 * may be missing. The sum is the second result. */
static void diffusion_groups(wick_onnx_op *o)
{
  int64_t act = wick_onnx_int(o, "activation", 0);
  uint32_t rank = wick_onnx_info(o, 0)->rank;
  bool last = wick_onnx_int(o, "channels_last", 1);
  if (rank < 3 || act < 0 || act > 1) {
    wick_onnx_fail(o, WICK_ERANGE, "rank %u and activation %lld, expected 3 or more, and 0 or 1",
                   rank, (long long)act);
    return;
  }
  wick_value x = o->in[0];
  for (uint32_t i = 3; o->row->arg && i < 5; i++)
    if (wick_onnx_has(o, i)) {
      wick_value wide = diffusion_wide(o, i, last);
      if (o->failed) return;
      x = wick_build2(o->b, WICK_OP_add, x, wide);
    }
  o->out[0] = diffusion_normalized(o, x, last);
  if (wick_microsoft_wants(o, 1)) o->out[1] = x;
}

/* ---- biases ---- */

static void diffusion_bias(wick_onnx_op *o)
{
  o->out[0] = wick_microsoft_biased(o, wick_microsoft_biased(o, o->in[0], 1), 2);
}

/* The first half of the channels of x + bias times the gelu of the second half. */
static void diffusion_split_gelu(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  const wick_type_info t = *wick_onnx_info(o, 0);
  if (t.rank < 1 || (wick_dim_is_const(t.dim[t.rank - 1]) && t.dim[t.rank - 1].v % 2)) {
    wick_onnx_fail(o, WICK_ETYPE, "the last axis cannot be halved");
    return;
  }
  uint32_t axis = t.rank - 1;
  wick_dim half = wick_dim_floordiv(o->c->module->dims, t.dim[axis], wick_dim_const(2));
  wick_value x = wick_microsoft_biased(o, o->in[0], 1);
  wick_value left = wick_emit_slice(b, x, axis, wick_dim_const(0), half);
  wick_value right = wick_emit_slice(b, x, axis, half, half);
  o->out[0] = wick_build2(b, WICK_OP_mul, left, wick_build1(b, WICK_OP_gelu, right));
}

/* softmax(x + bias) over the axes from `axis` on together */
static void diffusion_softmax(wick_onnx_op *o)
{
  wick_value x = wick_microsoft_biased(o, o->in[0], 1);
  wick_onnx_as(o, "Softmax", 11, 1, &x);
}

#define GROUPS "activation:i! channels_last:i epsilon:f groups:i!"
#define ROW(name, least, most, nout, attrs, import, arg)                                           \
  {                                                                                                \
    "com.microsoft." name, 1, {least, most}, nout, attrs, import, 0, arg                           \
  }

const wick_onnx_row wick_onnx_microsoft_diffusion_rows[] = {
    ROW("BiasAdd", 3, 3, 1, "", diffusion_bias, 0),
    ROW("BiasSoftmax", 2, 2, 1, "axis:i is_inner_broadcast:i", diffusion_softmax, 0),
    ROW("BiasSplitGelu", 2, 2, 1, "", diffusion_split_gelu, 0),
    ROW("GroupNorm", 3, 3, 1, GROUPS, diffusion_groups, 0),
    ROW("SkipGroupNorm", 4, 5, 2, GROUPS, diffusion_groups, 1),
    {0},
};
