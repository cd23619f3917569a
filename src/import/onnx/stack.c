/* Imports sequences whose length is known only at run time. All items have one type. Such a
 * sequence is a `tuple` of an empty tuple and one tensor that has the items along a new first
 * axis. */
#include "import/onnx/import.h"

wick_value wick_onnx_stack_make(wick_builder *b, wick_value items)
{
  wick_value mark = wick_build(b, WICK_OP_tuple, 0, NULL, NULL, 0, NULL);
  const wick_value item[] = {mark, items};
  return wick_build(b, WICK_OP_tuple, 2, item, NULL, 0, NULL);
}

wick_value wick_onnx_stack(const wick_builder *b, wick_value v)
{
  const wick_type_info *t = wick_built_info(b, v);
  bool is = t->kind == WICK_TUPLE && t->nitem == 2 &&
            wick_type_get(b->module, t->item[0])->kind == WICK_TUPLE;
  const wick_node *n = is ? wick_emit_definer(b, v) : NULL;
  return n ? n->in[1] : (wick_value){0};
}

/* Moves the axis `from` of x to `to`. */
static wick_value stack_move(wick_onnx_op *o, wick_value x, uint32_t from, uint32_t to)
{
  int64_t perm[WICK_MAX_RANK];
  uint32_t rank = wick_built_info(o->b, x)->rank;
  for (uint32_t k = 0, old = 0; k < rank; k++) {
    if (old == from) old++;
    perm[k] = k == to ? from : old++;
  }
  return from == to ? x : wick_build_transpose(o->b, x, rank, perm);
}

wick_value wick_onnx_stack_split(wick_onnx_op *o, wick_value x, uint32_t axis, bool keep)
{
  wick_value y = stack_move(o, x, axis, 0);
  if (keep) y = wick_emit_unsqueeze(o->b, y, axis + 1);
  return o->b->status ? y : wick_onnx_stack_make(o->b, y);
}

wick_value wick_onnx_stack_concat(wick_onnx_op *o, wick_value items, bool fresh)
{
  uint32_t axis, n = 0;
  const wick_type_info *t = wick_built_info(o->b, items);
  if (!wick_onnx_axis(o, wick_onnx_int(o, "axis", 0), (int64_t)t->rank - 1 + fresh, &axis))
    return (wick_value){0};
  wick_value y = stack_move(o, items, 0, axis);
  if (fresh || o->b->status) return y;
  wick_dim dim[WICK_MAX_RANK];
  t = wick_built_info(o->b, y);
  for (uint32_t k = 0; k < t->rank; k++, n++) {
    dim[n] = t->dim[k];
    if (k == axis) dim[n] = wick_dim_mul(o->c->module->dims, dim[n], t->dim[++k]);
  }
  return wick_build_reshape(o->b, y, n, dim);
}

/* Inserts an item at the end or in front. */
wick_value wick_onnx_stack_insert(wick_onnx_op *o, wick_value items, wick_value item, bool front)
{
  wick_value one = wick_emit_unsqueeze(o->b, item, 0);
  const wick_value part[] = {front ? one : items, front ? items : one};
  wick_value y = o->b->status ? (wick_value){0} : wick_build_concat(o->b, 0, 2, part);
  return o->b->status ? (wick_value){0} : wick_onnx_stack_make(o->b, y);
}

wick_value wick_onnx_stack_erase(wick_onnx_op *o, wick_value items, bool front)
{
  wick_dim n = wick_built_info(o->b, items)->dim[0], one = wick_dim_const(1);
  wick_value y = wick_emit_slice(o->b, items, 0, front ? one : wick_dim_const(0),
                                 wick_dim_sub(o->c->module->dims, n, one));
  return o->b->status ? (wick_value){0} : wick_onnx_stack_make(o->b, y);
}

/* Sets the operands of a SequenceMap's body at an index: the item of each stack, and other inputs
 * unchanged. Returns false if a stack has another length. */
static bool stack_operands(wick_onnx_op *o, wick_dim n, wick_value index, wick_value *in)
{
  for (uint32_t i = 0; i < o->nin; i++) {
    wick_value x = in[i] = o->in[i];
    if (wick_built_info(o->b, x)->kind != WICK_TUPLE) continue;
    x = wick_onnx_stack(o->b, x);
    if (!x.id || !wick_onnx_equal(o, wick_built_info(o->b, x)->dim[0], n)) {
      wick_onnx_fail(o, WICK_EUNSUPPORTED, "input %u has another length than input 0", i);
      return false;
    }
    wick_emit e = wick_emit_begin(o->b, WICK_OP_dynamic_index);
    wick_emit_set_int(&e, "axis", 0);
    in[i] = wick_emit_end2(&e, x, index);
  }
  return !o->b->status;
}

/* Builds the region of the loop. Sets *out to the first result. */
static bool stack_steps(wick_onnx_op *o, const wick_onnx_graph *body, wick_dim n, wick_value *out)
{
  wick_type i64 = wick_type_tensor(o->c->module, WICK_I64, 0, NULL);
  wick_value count = wick_onnx_size(o, n), *in = wick_new(o->c->tmp, wick_value, o->nin),
             *y = wick_new(o->c->tmp, wick_value, body->output.n + 2);
  const wick_attr attr[] = {
      [WICK_ATTR_loop_stacked] = {.i = o->nout}, [WICK_ATTR_loop_most] = {.n = 1, .dims = &n}};
  wick_build_open(o->b, WICK_OP_loop, 1, &count, attr, 0, NULL);
  wick_value index = wick_region_begin(o->b, 1, &i64);
  if (o->b->status || !stack_operands(o, n, index, in) ||
      !wick_onnx_subgraph(o, body, o->nin, in, y + 1))
    return false;
  for (uint32_t k = 0; k < o->nout; k++)
    if (wick_built_info(o->b, y[1 + k])->kind != WICK_TENSOR) {
      wick_onnx_fail(
          o, WICK_EUNSUPPORTED,
          "the length of input 0 must be known, because an output of its body is not a tensor");
      return false;
    }
  y[0] = wick_build_const(o->b, wick_type_tensor(o->c->module, WICK_BOOL, 0, NULL), 0, 1);
  wick_yield(o->b, 1 + o->nout, y);
  *out = wick_build_close(o->b);
  return !o->b->status;
}

void wick_onnx_stack_map(wick_onnx_op *o, const wick_onnx_graph *body)
{
  wick_onnx_trial t = wick_onnx_trial_begin(o);
  wick_dim n = wick_built_info(o->b, wick_onnx_stack(o->b, o->in[0]))->dim[0];
  wick_value first;
  if (!stack_steps(o, body, n, &first)) {
    wick_onnx_trial_stop(o, &t);
    return;
  }
  for (uint32_t k = 0; k < o->nout; k++)
    o->out[k] = wick_onnx_stack_make(o->b, (wick_value){first.id + k});
}
