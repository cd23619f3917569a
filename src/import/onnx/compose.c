/* Helpers for ONNX operators that become compositions of several operators of Wick. */
#include "import/onnx/import.h"

/* Returns the type of x, which must have that axis. Returns NULL after a failure. */
static const wick_type_info *compose_info(wick_onnx_op *o, wick_value x, uint32_t axis,
                                          uint32_t most)
{
  if (o->b->status || !x.id) return NULL;
  const wick_type_info *t = wick_built_info(o->b, x);
  if (axis < most + t->rank && t->rank + most <= WICK_MAX_RANK) return t;
  wick_build_fail(o->b, WICK_ETYPE, "rank %u has no axis %u", t->rank, axis);
  return NULL;
}

/* Some exporters write a vector of one element instead of a scalar. */
wick_value wick_onnx_scalar(wick_onnx_op *o, uint32_t i)
{
  return wick_onnx_info(o, i)->rank ? wick_onnx_reshape(o, o->in[i], 0, NULL) : o->in[i];
}

wick_value wick_onnx_expand(wick_onnx_op *o, wick_value x, uint32_t n, const wick_dim *dim)
{
  wick_onnx_emit e = wick_onnx_begin(o, WICK_OP_broadcast_to);
  wick_onnx_set_dims(&e, "shape", n, dim);
  return wick_onnx_end1(&e, x);
}

wick_value wick_onnx_count(wick_onnx_op *o, wick_dim n)
{
  wick_type scalar = wick_type_tensor(o->c->module, WICK_I64, 0, NULL);
  wick_onnx_emit e = wick_onnx_begin(o, WICK_OP_range);
  wick_onnx_set_dims(&e, "count", 1, &n);
  return wick_onnx_end2(&e, wick_build_const(o->b, scalar, 0, 0),
                        wick_build_const(o->b, scalar, 0, 1));
}

wick_value wick_onnx_count_along(wick_onnx_op *o, wick_dim n, uint32_t axis, uint32_t rank)
{
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) dim[k] = k == axis ? n : wick_dim_const(1);
  return wick_onnx_reshape(o, wick_onnx_count(o, n), rank, dim);
}

wick_value wick_onnx_unsqueeze(wick_onnx_op *o, wick_value x, uint32_t axis)
{
  const wick_type_info *t = compose_info(o, x, axis, 1);
  if (!t) return (wick_value){0};
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k <= t->rank; k++)
    dim[k] = k == axis ? wick_dim_const(1) : t->dim[k - (k > axis)];
  return wick_onnx_reshape(o, x, t->rank + 1, dim);
}

wick_value wick_onnx_squeeze(wick_onnx_op *o, wick_value x, uint32_t axis)
{
  const wick_type_info *t = compose_info(o, x, axis, 0);
  if (!t) return (wick_value){0};
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0, n = 0; k < t->rank; k++)
    if (k != axis) dim[n++] = t->dim[k];
  return wick_onnx_reshape(o, x, t->rank - 1, dim);
}

wick_value wick_onnx_slice(wick_onnx_op *o, wick_value x, uint32_t axis, wick_dim begin,
                           wick_dim size)
{
  const wick_type_info *t = compose_info(o, x, axis, 0);
  if (!t) return (wick_value){0};
  wick_dim from[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) {
    from[k] = k == axis ? begin : wick_dim_const(0);
    shape[k] = k == axis ? size : t->dim[k];
  }
  wick_onnx_emit e = wick_onnx_begin(o, WICK_OP_slice);
  wick_onnx_set_dims(&e, "begin", t->rank, from);
  wick_onnx_set_dims(&e, "shape", t->rank, shape);
  return wick_onnx_end1(&e, x);
}

wick_value wick_onnx_concat(wick_onnx_op *o, uint32_t axis, uint32_t n, const wick_value *in)
{
  wick_onnx_emit e = wick_onnx_begin(o, WICK_OP_concat);
  wick_onnx_set_int(&e, "axis", axis);
  return wick_onnx_end(&e, n, in);
}

wick_value wick_onnx_gather(wick_onnx_op *o, wick_opcode op, wick_value x, wick_value index,
                            uint32_t axis)
{
  wick_onnx_emit e = wick_onnx_begin(o, op);
  wick_onnx_set_int(&e, "axis", axis);
  return wick_onnx_end2(&e, x, index);
}

wick_value wick_onnx_by(wick_onnx_op *o, wick_opcode op, wick_value x, double number)
{
  if (o->b->status || !x.id) return (wick_value){0};
  return wick_build2(o->b, op, x, wick_onnx_number(o, x, number));
}

wick_value wick_onnx_reduce1(wick_onnx_op *o, wick_opcode op, wick_value x, int64_t axis,
                             bool keepdims)
{
  return wick_onnx_reduce(o, op, x, 1, &axis, keepdims);
}

wick_value wick_onnx_table(wick_onnx_op *o, wick_elem elem, uint32_t rank, const int64_t *dim,
                           const double *numbers)
{
  wick_module *m = o->c->module;
  size_t n = 1;
  for (uint32_t k = 0; k < rank; k++) n *= (size_t)dim[k];
  wick_type type = wick_type_tensor_const(m, WICK_F64, rank, dim);
  const void *kept = wick_arena_copy(&m->mem, numbers, n * sizeof *numbers, sizeof *numbers);
  uint32_t k = wick_onnx_constant_add(m, o->nout ? wick_onnx_name(o->c, o->node->output.at[0]) : "",
                                      type, kept, n * sizeof *numbers);
  return wick_build_cast(o->b, wick_build_constant(o->b, k), elem);
}

wick_value wick_onnx_widen(wick_onnx_op *o, wick_opcode op, wick_value x)
{
  wick_elem e = wick_built_info(o->b, x)->elem;
  if (wick_ops[op]->elems & WICK_BIT(e)) return x;
  return wick_build_cast(o->b, x, wick_elem_is_int(e) ? WICK_F64 : WICK_F32);
}
