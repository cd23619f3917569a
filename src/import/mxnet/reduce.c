/* Imports MXNet's reductions, searches and look-ups. Indices are floats there. */
#include "import/kit/array.h"
#include "import/mxnet/ops.h"

/* Reads `axis`, one, several or none (all), and `exclude` (the others). Returns false after a failure. */
static bool reduce_axes(wick_import_node *n, uint32_t *out_n, int64_t *out)
{
  uint32_t rank = wick_import_info(n, 0)->rank, axis;
  wick_import_attr given = wick_import_ints(n, "axis");
  bool exclude = wick_import_int(n, "exclude", 0) != 0, at[WICK_MAX_RANK] = {false};
  for (uint32_t k = 0; k < given.n; k++) {
    if (!wick_import_axis(n, given.ints[k], rank, &axis)) return false;
    at[axis] = true;
  }
  *out_n = 0;
  for (uint32_t k = 0; k < rank; k++)
    if (given.n ? at[k] != exclude : true) out[(*out_n)++] = k;
  return true;
}

void wick_mxnet_reduce(wick_import_node *n)
{
  uint32_t count;
  int64_t axes[WICK_MAX_RANK];
  if (!reduce_axes(n, &count, axes)) return;
  n->out[0] = wick_emit_reduce(n->b, n->row->op, n->in[0], count, axes,
                               wick_import_int(n, "keepdims", 0) != 0);
  wick_dim one = wick_dim_const(1); /* there are no scalars */
  if (!n->b->status && !wick_built_info(n->b, n->out[0])->rank)
    n->out[0] = wick_build_reshape(n->b, n->out[0], 1, &one);
}

void wick_mxnet_l2_norm(wick_import_node *n)
{
  int64_t order = wick_import_int(n, "ord", 2);
  wick_import_op row = *n->row;
  row.op = order == 1 ? WICK_OP_reduce_l1 : WICK_OP_reduce_l2;
  if (order != 1 && order != 2) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "ord is %lld, expected 1 or 2", (long long)order);
    return;
  }
  const wick_import_op *own = n->row;
  n->row = &row;
  wick_mxnet_reduce(n);
  n->row = own;
}

/* The position is a float. Without an axis it counts through all elements. */
void wick_mxnet_arg(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_value x = n->in[0];
  uint32_t axis = 0;
  wick_dim all = wick_array_product(n, t->rank, t->dim);
  bool flat = !wick_import_attr_has(n, "axis") && !n->row->arg;
  if (flat)
    x = wick_build_reshape(n->b, x, 1, &all);
  else if (!wick_mxnet_axis(n, "axis", 1, t->rank, &axis))
    return;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "keepdims", flat || wick_import_int(n, "keepdims", 0));
  n->out[0] = wick_build_cast(n->b, wick_emit_end1(&e, x), WICK_F32);
}

static wick_value reduce_top(wick_import_node *n, uint32_t axis, wick_dim k, bool least)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "least", least);
  wick_emit_set_dims(&e, "k", 1, &k);
  return wick_emit_end1(&e, n->in[0]);
}

void wick_mxnet_top_k(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  uint32_t axis;
  wick_elem elem;
  int type = wick_import_word(n, "ret_typ", "indices value both mask");
  int64_t k = wick_import_int(n, "k", 1);
  if (!wick_mxnet_axis(n, "axis", -1, t->rank, &axis) || !wick_mxnet_dtype(n, WICK_F32, &elem))
    return;
  if (type == 3 || k < 0) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "ret_typ mask and k of %lld are not supported",
                     (long long)k);
    return;
  }
  wick_value y = reduce_top(n, axis, k ? wick_dim_const(k) : t->dim[axis],
                            wick_import_int(n, "is_ascend", 0) != 0);
  if (n->b->status) return;
  wick_value index = wick_build_cast(n->b, (wick_value){y.id + 1}, elem);
  n->out[0] = type ? y : index;
  if (type == 2) n->out[1] = index;
}

void wick_mxnet_sort(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  uint32_t axis;
  wick_elem elem;
  if (!wick_mxnet_axis(n, "axis", -1, t->rank, &axis) || !wick_mxnet_dtype(n, WICK_F32, &elem))
    return;
  wick_value y = reduce_top(n, axis, t->dim[axis], wick_import_int(n, "is_ascend", 1) != 0);
  if (n->b->status) return;
  n->out[0] = n->row->arg ? wick_build_cast(n->b, (wick_value){y.id + 1}, elem) : y;
}

/* ---- look-ups ---- */

/* Indices as i64; outside of an axis of `size` they are clipped, or wrap. */
static wick_value reduce_index(wick_import_node *n, wick_value i, wick_dim size, bool wrap)
{
  wick_builder *b = n->b;
  i = wick_build_cast(b, i, WICK_I64);
  wick_value count = wick_build1(b, WICK_OP_size, wick_emit_count(b, size));
  if (wrap) {
    wick_value rest = wick_build2(b, WICK_OP_mod, i, count);
    return rest;
  }
  i = wick_emit_by(b, WICK_OP_max, i, 0);
  return wick_build2(b, WICK_OP_min, i, wick_emit_by(b, WICK_OP_sub, count, 1));
}

void wick_mxnet_take(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  uint32_t axis;
  int mode = wick_import_word(n, "mode", "clip wrap raise");
  if (!wick_mxnet_axis(n, "axis", 0, t->rank, &axis)) return;
  wick_value i = mode == 2 ? wick_build_cast(n->b, n->in[1], WICK_I64)
                           : reduce_index(n, n->in[1], t->dim[axis], mode == 1);
  n->out[0] = wick_emit_gather(n->b, WICK_OP_gather, n->in[0], i, axis);
}

/* Operands: indices, and the table. */
void wick_mxnet_embedding(wick_import_node *n)
{
  if (!wick_import_rank(n, 1, 2, 2)) return;
  wick_value i = reduce_index(n, n->in[0], wick_import_info(n, 1)->dim[0], false);
  n->out[0] = wick_emit_gather(n->b, WICK_OP_gather, n->in[1], i, 0);
}

/* One element of each slice along an axis, by its index. */
void wick_mxnet_pick(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  uint32_t axis;
  bool wrap = wick_import_word(n, "mode", "clip wrap") == 1;
  if (!wick_mxnet_axis(n, "axis", -1, t->rank, &axis)) return;
  wick_value i = reduce_index(n, n->in[1], t->dim[axis], wrap);
  if (wick_import_info(n, 1)->rank + 1u == t->rank) i = wick_emit_unsqueeze(n->b, i, axis);
  wick_value y = wick_emit_gather(n->b, WICK_OP_gather_elements, n->in[0], i, axis);
  n->out[0] = wick_import_int(n, "keepdims", 0) ? y : wick_emit_squeeze(n->b, y, axis);
}

/* Indices [k, ...]: their first dimension counts the axes. */
void wick_mxnet_gather_nd(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 1)->rank;
  int64_t perm[WICK_MAX_RANK];
  if (!wick_import_rank(n, 1, 1, WICK_MAX_RANK)) return;
  for (uint32_t k = 0; k < rank; k++) perm[k] = (k + 1) % rank;
  wick_value i = wick_build_cast(n->b, n->in[1], WICK_I64);
  i = wick_build_transpose(n->b, i, rank, perm);
  n->out[0] = wick_build2(n->b, WICK_OP_gather_nd, n->in[0], i);
}

void wick_mxnet_one_hot(wick_import_node *n)
{
  wick_elem elem;
  uint32_t rank = wick_import_info(n, 0)->rank;
  if (!wick_mxnet_dtype(n, WICK_F32, &elem)) return;
  wick_value i = wick_emit_unsqueeze(n->b, wick_build_cast(n->b, n->in[0], WICK_I64), rank);
  wick_value count =
      wick_emit_count_along(n->b, wick_dim_const(wick_import_int(n, "depth", 1)), rank, rank + 1);
  wick_value is = wick_build2(n->b, WICK_OP_eq, i, count);
  if (n->b->status) return;
  wick_type one = wick_type_tensor(n->c->module, elem, 0, NULL);
  double on = wick_import_real(n, "on_value", 1), off = wick_import_real(n, "off_value", 0);
  wick_value yes = wick_build_const(n->b, one, on, wick_whole_i64(on));
  wick_value no = wick_build_const(n->b, one, off, wick_whole_i64(off));
  n->out[0] = wick_build3(n->b, WICK_OP_where, is, yes, no);
}

/* ---- sequences [steps, batch, ...], or [batch, steps, ...] with axis 1 ---- */

/* Replaces what is after each sequence's length, or takes its last element. */
void wick_mxnet_sequence(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info *t = wick_import_info(n, 0);
  int64_t axis = wick_import_int(n, "axis", 0);
  bool counted = wick_import_int(n, "use_sequence_length", 0) && n->nin > 1;
  if (t->rank < 2 || axis < 0 || axis > 1) {
    wick_import_fail(n, WICK_ETYPE, "axis %lld of rank %u, expected 0 or 1 of 2 or more",
                     (long long)axis, t->rank);
    return;
  }
  wick_dim steps = t->dim[axis], dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = wick_dim_const(1);
  dim[1 - axis] = t->dim[1 - axis];
  wick_value length = counted ? wick_build_cast(b, n->in[1], WICK_I64) : (wick_value){0};
  if (counted) length = wick_build_reshape(b, length, t->rank, dim);
  if (!n->row->arg && !counted) {
    n->out[0] = n->in[0];
  } else if (!n->row->arg) {
    wick_value at = wick_emit_count_along(b, steps, (uint32_t)axis, t->rank);
    wick_value keep = wick_build2(b, WICK_OP_lt, at, length);
    wick_value by = wick_emit_number(b, n->in[0], wick_import_real(n, "value", 0));
    n->out[0] = wick_build3(b, WICK_OP_where, keep, n->in[0], by);
  } else if (!counted) {
    wick_dim last = wick_dim_sub(n->c->module->dims, steps, wick_dim_const(1));
    wick_value y = wick_emit_slice(b, n->in[0], (uint32_t)axis, last, wick_dim_const(1));
    n->out[0] = wick_emit_squeeze(b, y, (uint32_t)axis);
  } else {
    for (uint32_t k = 0; k < t->rank; k++) dim[k] = k == axis ? wick_dim_const(1) : t->dim[k];
    wick_value last = wick_emit_expand(b, wick_emit_by(b, WICK_OP_sub, length, 1), t->rank, dim);
    wick_value y = wick_emit_gather(b, WICK_OP_gather_elements, n->in[0], last, (uint32_t)axis);
    n->out[0] = wick_emit_squeeze(b, y, (uint32_t)axis);
  }
}

void wick_mxnet_cumsum(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_mxnet_axis(n, "axis", 0, wick_import_info(n, 0)->rank, &axis)) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_cumsum);
  wick_emit_set_int(&e, "axis", axis);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* Each sequence of x [steps, batch, ...] is reversed in its length. */
void wick_mxnet_sequence_reverse(wick_import_node *n)
{
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  bool counted = n->nin > 1 && wick_import_int(n, "use_sequence_length", 0);
  n->out[0] = counted ? wick_array_reverse_sequence(n, n->in[0], n->in[1], 0, 1)
                      : wick_array_reverse(n, n->in[0], 1);
}

/* Zeros of a given shape, in which the indices [axes, rows...] select where the elements go. */
void wick_mxnet_scatter_nd(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_import_attr shape = wick_import_ints(n, "shape");
  wick_dim dim[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK];
  uint32_t rank = wick_import_info(n, 1)->rank;
  bool good = shape.n >= 1 && shape.n <= WICK_MAX_RANK;
  if (!wick_import_rank(n, 1, 1, WICK_MAX_RANK)) return;
  for (uint32_t k = 0; good && k < shape.n; k++) {
    good = shape.ints[k] >= 0 && shape.ints[k] <= INT32_MAX;
    if (good) dim[k] = wick_dim_const(shape.ints[k]);
  }
  if (!good) {
    wick_import_fail(n, WICK_EPARSE, "shape has %u sizes that do not fit", shape.n);
    return;
  }
  for (uint32_t k = 0; k < rank; k++) perm[k] = (k + 1) % rank;
  wick_value at = wick_build_cast(b, n->in[1], WICK_I64);
  at = wick_build_transpose(b, at, rank, perm);
  wick_value zero = wick_emit_expand(b, wick_emit_number(b, n->in[0], 0), shape.n, dim);
  wick_emit e = wick_emit_begin(b, WICK_OP_scatter_nd);
  n->out[0] = wick_emit_end(&e, 3, (wick_value[]){zero, at, n->in[0]});
}
