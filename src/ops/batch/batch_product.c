/* Batches of products, convolutions, and windows whose indices count all elements. */
#include "ir/expr.h"
#include "ops/batch/batch.h"

/* ---- matrix products ---- */

/* Operand k; a vector becomes a matrix: a row on the left, a column on the right. */
static wick_value product_matrix(const wick_batching *a, uint32_t k)
{
  wick_builder *b = a->b;
  wick_dim dim[3], one = wick_dim_const(1);
  if (b->status || wick_batch_rank(a, k) > 1) return a->in[k];
  wick_dim size = wick_batch_dim(a, k, 0);
  uint32_t n = 0;
  if (a->batched[k]) dim[n++] = a->n;
  dim[n++] = k ? size : one;
  dim[n++] = k ? one : size;
  return wick_build_reshape(b, a->in[k], n, dim);
}

void wick_batch_matmul(wick_batching *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  wick_value in[2] = {product_matrix(a, 0), product_matrix(a, 1)};
  uint32_t rank = 2;
  for (uint32_t k = 0; k < 2; k++)
    if (wick_batch_rank(a, k) > rank) rank = wick_batch_rank(a, k);
  for (uint32_t k = 0; k < 2 && !b->status; k++)
    if (a->batched[k]) in[k] = wick_batch_pad_rank(a, in[k], rank);
  wick_value y = wick_batch_build(a, in, a->node->attr);
  wick_dim dim[WICK_MAX_RANK + 1];
  const wick_type_info *t = wick_type_get(b->module, a->type[0]);
  dim[0] = a->n;
  for (uint32_t k = 0; k < t->rank; k++) dim[1 + k] = t->dim[k];
  a->out[0] = wick_build_reshape(b, y, t->rank + 1u, dim);
}

/* Rows are rows of x where the weights are common, else more batches. */
void wick_batch_matmul_packed(wick_batching *a)
{
  if (a->node->nin > 2 ||
      !(a->node->attr[WICK_ATTR_matmul_packed_batch].i || wick_batch_has(a, 1))) {
    wick_batch_axes_first(a);
    return;
  }
  wick_value in[2] = {wick_batch_full(a, 0), wick_batch_full(a, 1)};
  wick_attr *attr = wick_batch_attrs(a);
  attr[WICK_ATTR_matmul_packed_batch].i++;
  wick_batch_results(a, wick_batch_build(a, in, attr));
}

/* A mask is not larger than the scores, so the queries have rows. */
void wick_batch_attention(wick_batching *a)
{
  wick_value *in = wick_dup(a->b->mem, wick_value, a->in, a->node->nin);
  bool *batched = wick_dup(a->b->mem, bool, a->batched, a->node->nin);
  wick_batching own = *a;
  if (a->b->status) return;
  in[0] = wick_batch_full(a, 0), batched[0] = true;
  own.in = in, own.batched = batched;
  wick_batch_broadcast(&own);
}

/* ---- convolutions ---- */

/* The rows of images and weights become groups of one convolution. */
static void product_groups(wick_batching *a, wick_opcode op)
{
  wick_builder *b = a->b;
  wick_attr *attr = wick_batch_attrs(a);
  int64_t *group = &attr[WICK_ATTR_conv_group].i;
  bool common = op == WICK_OP_conv && *group == 1 && !wick_batch_has(a, 0);
  wick_value in[3] = {a->in[0], wick_batch_join(b, wick_batch_full(a, 1), 0), {0}};
  if (!common) {
    in[0] = wick_batch_join(b, wick_batch_move(b, wick_batch_full(a, 0), 0, 1), 1);
    *group *= a->n.v;
  }
  if (a->node->nin > 2 && a->in[2].id) in[2] = wick_batch_join(b, wick_batch_full(a, 2), 0);
  wick_value y = wick_build(b, op, in[2].id ? 3 : 2, in, attr, 0, NULL);
  y = wick_batch_split(b, y, 1, a->n, wick_type_get(b->module, a->type[0])->dim[1]);
  a->out[0] = wick_batch_move(b, y, 1, 0);
}

static void product_conv(wick_batching *a, wick_opcode op)
{
  if (!wick_batch_has(a, 1) && !wick_batch_has(a, 2))
    wick_batch_merge(a);
  else if (wick_dim_is_const(a->n) && a->n.v > 0)
    product_groups(a, op);
  else
    wick_batch_rows(a);
}

void wick_batch_conv(wick_batching *a) { product_conv(a, WICK_OP_conv); }

void wick_batch_conv_transpose(wick_batching *a) { product_conv(a, WICK_OP_conv_transpose); }

/* The rows become groups, as for convolutions by different weights. */
void wick_batch_conv_weight_grad(wick_batching *a)
{
  wick_builder *b = a->b;
  if (!wick_dim_is_const(a->n) || a->n.v < 1) {
    wick_batch_rows(a);
    return;
  }
  wick_attr *attr = wick_batch_attrs(a);
  attr[WICK_ATTR_conv_weight_grad_group].i *= a->n.v;
  wick_value in[2];
  for (uint32_t k = 0; k < 2; k++)
    in[k] = wick_batch_join(b, wick_batch_move(b, wick_batch_full(a, k), 0, 1), 1);
  wick_value y = wick_build(b, WICK_OP_conv_weight_grad, 2, in, attr, 0, NULL);
  a->out[0] = wick_batch_split(b, y, 0, a->n, wick_type_get(b->module, a->type[0])->dim[0]);
}

/* ---- windows whose indices count all elements ---- */

/* The index of the first element of each row, for values of the shape of `like`. */
static wick_value product_first(const wick_batching *a, wick_type row, wick_value like)
{
  wick_builder *b = a->b;
  if (b->status) return like;
  const wick_type_info *t = wick_built_info(b, like);
  wick_value rows = wick_batch_count(a, t->elem, t->rank);
  return expr_mulk(b, rows, (double)wick_type_numel(b->module, row).v);
}

void wick_batch_max_pool(wick_batching *a)
{
  wick_builder *b = a->b;
  wick_batch_merge(a);
  if (a->node->nout < 2 || b->status) return;
  wick_type_info row = *wick_built_info(b, a->in[0]);
  row.rank--, row.dim++;
  wick_value first = product_first(a, wick_type_intern(b->module, &row), a->out[1]);
  a->out[1] = expr_sub(b, a->out[1], first);
}

void wick_batch_unpool(wick_batching *a)
{
  wick_builder *b = a->b;
  bool fixed = wick_dim_is_const(wick_type_numel(b->module, a->type[0])) && !a->mask.id;
  if (!fixed || b->status) {
    wick_batch_rows(a);
    return;
  }
  wick_value in[2] = {a->in[0], wick_batch_full(a, 1)};
  bool batched[2] = {a->batched[0], true};
  in[1] = expr_add(b, in[1], product_first(a, a->type[0], in[1]));
  wick_batching moved = *a;
  moved.in = in, moved.batched = batched;
  wick_batch_merge(&moved);
}
