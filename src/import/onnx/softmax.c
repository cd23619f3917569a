/* Imports softmax and similar operators. */
#include "import/onnx/import.h"

static wick_value softmax_row(wick_onnx_op *o, wick_value x, int64_t axis)
{
  wick_emit e = wick_emit_begin(o->b, o->row->op);
  wick_emit_set_int(&e, "axis", axis);
  return wick_emit_end1(&e, x);
}

/* Before opset 13, softmax is over all axes from `axis` on, flattened to one. */
static void softmax_flat(wick_onnx_op *o)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  uint32_t axis, last = x->rank;
  if (!wick_onnx_axis(o, wick_onnx_int(o, "axis", 1), x->rank, &axis)) return;
  while (last > axis + 1 && wick_dim_is(x->dim[last - 1], 1)) last--;
  if (last == axis + 1) {
    o->out[0] = softmax_row(o, o->in[0], axis);
    return;
  }
  wick_dim flat[WICK_MAX_RANK];
  for (uint32_t k = 0; k < axis; k++) flat[k] = x->dim[k];
  flat[axis] = wick_dim_const(1);
  for (uint32_t k = axis; k < x->rank; k++)
    flat[axis] = wick_dim_mul(o->c->module->dims, flat[axis], x->dim[k]);
  wick_value y = softmax_row(o, wick_build_reshape(o->b, o->in[0], axis + 1, flat), axis);
  o->out[0] = wick_build_reshape(o->b, y, x->rank, x->dim);
}

static void softmax_axis(wick_onnx_op *o)
{
  o->out[0] = softmax_row(o, o->in[0], wick_onnx_int(o, "axis", -1));
}

#define SOFTMAX(type, op)                                                                          \
  {type, 1, {1, 1}, 1, "axis:i", softmax_flat, WICK_OP_##op, 0},                                   \
  {                                                                                                \
    type, 13, {1, 1}, 1, "axis:i", softmax_axis, WICK_OP_##op, 0                                   \
  }

const wick_onnx_row wick_onnx_softmax_rows[] = {
    SOFTMAX("Hardmax", hardmax),
    SOFTMAX("LogSoftmax", log_softmax),
    SOFTMAX("Softmax", softmax),
    {0},
};
