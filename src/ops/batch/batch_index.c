/* Batches of operators with indices: those of all rows are those of one larger tensor. */
#include "ir/expr.h"
#include "ops/batch/batch.h"

/* Returns whether index 0 is one of x, so that rows that do not matter can have it. */
static bool index_exists(const wick_batching *a, uint32_t axis)
{
  int64_t lo, hi;
  if (!a->mask.id) return true;
  wick_dim_range(a->b->module->dims, wick_batch_dim(a, 0, axis), &lo, &hi);
  return lo > 0;
}

static bool index_exist(const wick_batching *a)
{
  bool all = true;
  for (uint32_t k = 0; k < wick_batch_rank(a, 0); k++) all = all && index_exists(a, k);
  return all;
}

/* x [n, a.., axis, b..] by indices [n, i..] of each row: [n, a.., i.., b..]. */
static wick_value index_pairs(wick_batching *a, wick_value x, wick_value index, uint32_t axis)
{
  wick_builder *b = a->b;
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, index);
  wick_dim dim[WICK_MAX_RANK + 1];
  uint32_t ni = t->rank - 1u;
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->dim[k];
  dim[t->rank] = wick_dim_const(1);
  wick_value in[2] = {wick_batch_move(b, x, axis + 1, 1),
                      wick_build_reshape(b, index, ni + 2, dim)};
  wick_attr attr = {.i = 1};
  wick_value y = wick_build(b, WICK_OP_gather_nd, 2, in, &attr, 0, NULL);
  /* the dimensions before the axis now follow those of the indices */
  for (uint32_t k = 0; k < axis; k++) y = wick_batch_move(b, y, 1 + ni + k, 1 + k);
  return y;
}

void wick_batch_gather(wick_batching *a)
{
  wick_builder *b = a->b;
  wick_attr attr = a->node->attr[WICK_ATTR_gather_axis];
  uint32_t axis = (uint32_t)attr.i;
  if (b->status) return;
  if (!index_exists(a, axis)) {
    wick_batch_rows(a);
    return;
  }
  bool own = wick_batch_has(a, 1) || a->mask.id;
  wick_value in[2] = {a->in[0], own ? wick_batch_harmless(a, 1, 0) : a->in[1]};
  if (own && wick_batch_has(a, 0)) {
    a->out[0] = index_pairs(a, in[0], in[1], axis);
    return;
  }
  if (!own) attr.i++;
  a->out[0] = wick_build(b, WICK_OP_gather, 2, in, &attr, 0, NULL);
  if (own) a->out[0] = wick_batch_move(b, a->out[0], axis, 0);
}

void wick_batch_gather_elements(wick_batching *a)
{
  wick_attr attr = a->node->attr[WICK_ATTR_gather_elements_axis];
  if (a->b->status) return;
  if (!index_exist(a)) {
    wick_batch_rows(a);
    return;
  }
  wick_value in[2] = {wick_batch_full(a, 0), wick_batch_harmless(a, 1, 0)};
  attr.i++;
  a->out[0] = wick_build(a->b, WICK_OP_gather_elements, 2, in, &attr, 0, NULL);
}

void wick_batch_gather_nd(wick_batching *a)
{
  wick_builder *b = a->b;
  wick_attr attr = a->node->attr[WICK_ATTR_gather_nd_batch];
  if (b->status) return;
  if (!index_exist(a)) {
    wick_batch_rows(a);
    return;
  }
  wick_value in[2] = {a->in[0], wick_batch_harmless(a, 1, 0)};
  if (wick_batch_has(a, 0) || attr.i) in[0] = wick_batch_full(a, 0), attr.i++;
  a->out[0] = wick_build(b, WICK_OP_gather_nd, 2, in, &attr, 0, NULL);
}

/* The index is limited to the axis, so it needs no harmless one. */
void wick_batch_dynamic_index(wick_batching *a)
{
  wick_builder *b = a->b;
  const wick_attr *attr = a->node->attr;
  uint32_t axis = (uint32_t)attr[WICK_ATTR_dynamic_index_axis].i;
  wick_dim n = b->status ? wick_dim_const(0) : wick_batch_dim(a, 0, axis);
  if (!wick_batch_has(a, 1)) {
    wick_batch_axes_first(a);
    return;
  }
  if (!wick_dim_is_const(n)) {
    wick_batch_rows(a);
    return;
  }
  wick_value i = a->in[1];
  i = wick_build2(b, WICK_OP_max, i, expr_k(b, i, 0));
  i = wick_build2(b, WICK_OP_min, i, expr_k(b, i, (double)n.v - 1));
  if (attr[WICK_ATTR_dynamic_index_reverse].i) i = expr_sub(b, expr_k(b, i, (double)n.v - 1), i);
  if (wick_batch_has(a, 0)) {
    a->out[0] = index_pairs(a, a->in[0], i, axis);
    return;
  }
  wick_value in[2] = {a->in[0], i};
  wick_attr along = {.i = axis};
  a->out[0] = wick_batch_move(b, wick_build(b, WICK_OP_gather, 2, in, &along, 0, NULL), axis, 0);
}

void wick_batch_scatter_elements(wick_batching *a)
{
  wick_attr *attr = wick_batch_attrs(a);
  if (a->b->status) return;
  if (!index_exist(a)) {
    wick_batch_rows(a);
    return;
  }
  wick_value in[3] = {wick_batch_full(a, 0), wick_batch_harmless(a, 1, 0), wick_batch_full(a, 2)};
  attr[WICK_ATTR_scatter_elements_axis].i++;
  a->out[0] = wick_build(a->b, WICK_OP_scatter_elements, 3, in, attr, 0, NULL);
}

/* The row is one more number of each tuple. */
void wick_batch_scatter_nd(wick_batching *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  if (!index_exist(a)) {
    wick_batch_rows(a);
    return;
  }
  wick_value index = wick_build_cast(b, wick_batch_harmless(a, 1, 0), WICK_I64);
  if (b->status) return;
  wick_type_info t = *wick_built_info(b, index);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t.rank; k++) dim[k] = k + 1 < t.rank ? t.dim[k] : wick_dim_const(1);
  wick_value row = wick_batch_count(a, WICK_I64, t.rank);
  wick_attr shape = {.n = t.rank, .dims = dim};
  wick_value pair[2] = {wick_build(b, WICK_OP_broadcast_to, 1, &row, &shape, 0, NULL), index};
  wick_value in[3] = {wick_batch_full(a, 0), wick_build_concat(b, t.rank - 1u, 2, pair),
                      wick_batch_full(a, 2)};
  a->out[0] = wick_build(b, WICK_OP_scatter_nd, 3, in, a->node->attr, 0, NULL);
}
