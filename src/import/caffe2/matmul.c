/* Imports Caffe2's products, and norms of rows. */
#include "import/caffe2/ops.h"
#include "import/kit/array.h"

/* X [d0, ..., dn] as a matrix from `axis` on, times the transposed weights, plus a bias. */
void wick_caffe2_fc(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info *x = wick_import_info(n, 0), *w = wick_import_info(n, 1);
  uint32_t axis, axis_w;
  wick_dim dim[WICK_MAX_RANK];
  if (!wick_caffe2_axis(n, 1, &axis) ||
      !wick_import_axis(n, wick_import_int(n, "axis_w", 1), w->rank, &axis_w))
    return;
  wick_value left = wick_array_matrix(n, n->in[0], axis),
             right = wick_array_matrix(n, n->in[1], axis_w);
  if (!n->row->arg) right = wick_build_swap(b, right);
  wick_value y = wick_build2(b, WICK_OP_matmul, left, right);
  if (n->nin > 2) y = wick_build2(b, WICK_OP_add, y, n->in[2]);
  if (b->status) return;
  for (uint32_t k = 0; k < axis; k++) dim[k] = x->dim[k];
  dim[axis] = wick_built_info(b, y)->dim[1];
  n->out[0] = wick_build_reshape(b, y, axis + 1, dim);
}

/* A matrix product of the operands from their axes on. */
void wick_caffe2_matmul(wick_import_node *n)
{
  uint32_t a, b;
  if (!wick_import_axis(n, wick_import_int(n, "axis_a", 1), wick_import_info(n, 0)->rank, &a) ||
      !wick_import_axis(n, wick_import_int(n, "axis_b", 1), wick_import_info(n, 1)->rank, &b))
    return;
  wick_value x = wick_array_matrix(n, n->in[0], a);
  wick_value y = wick_array_matrix(n, n->in[1], b);
  if (wick_import_int(n, "trans_a", 0)) x = wick_build_swap(n->b, x);
  if (wick_import_int(n, "trans_b", 0)) y = wick_build_swap(n->b, y);
  n->out[0] = wick_build2(n->b, WICK_OP_matmul, x, y);
}

void wick_caffe2_batch_matmul(wick_import_node *n)
{
  wick_value x[2] = {n->in[0], n->in[1]};
  for (uint32_t i = 0; i < 2; i++)
    if (wick_import_int(n, i ? "trans_b" : "trans_a", 0) &&
        wick_import_rank(n, i, 2, WICK_MAX_RANK))
      x[i] = wick_build_swap(n->b, x[i]);
  if (!n->failed) n->out[0] = wick_build2(n->b, WICK_OP_matmul, x[0], x[1]);
}

/* Over all dimensions from `axis` on. */
void wick_caffe2_softmax(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0);
  uint32_t axis;
  if (!wick_caffe2_axis(n, 1, &axis)) return;
  bool plain = axis + 1 == x->rank;
  wick_value rows = plain ? n->in[0] : wick_array_matrix(n, n->in[0], axis);
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", -1);
  wick_value y = wick_emit_end1(&e, rows);
  n->out[0] = plain ? y : wick_build_reshape(n->b, y, x->rank, x->dim);
}

static wick_value matmul_row_sum(wick_import_node *n, wick_value a, wick_value b)
{
  wick_value y = wick_build2(n->b, WICK_OP_mul, a, b);
  return wick_emit_reduce1(n->b, WICK_OP_reduce_sum, y, 1, false);
}

/* For each row: a product, half of a squared distance, or the cosine of an angle. */
void wick_caffe2_dot(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!wick_import_rank(n, 0, 1, WICK_MAX_RANK) || !wick_import_rank(n, 1, 1, WICK_MAX_RANK))
    return;
  wick_value x = wick_array_matrix(n, n->in[0], 1), y = wick_array_matrix(n, n->in[1], 1);
  if (n->row->arg == 1) {
    wick_value d = wick_build2(b, WICK_OP_sub, x, y);
    n->out[0] = wick_emit_by(b, WICK_OP_mul, matmul_row_sum(n, d, d), 0.5);
    return;
  }
  wick_value dot = matmul_row_sum(n, x, y);
  if (n->row->arg == 2) {
    wick_value size = wick_emit_by(b, WICK_OP_max, matmul_row_sum(n, x, x), 1e-12);
    wick_value other = wick_emit_by(b, WICK_OP_max, matmul_row_sum(n, y, y), 1e-12);
    size = wick_build1(b, WICK_OP_sqrt, wick_build2(b, WICK_OP_mul, size, other));
    dot = wick_build2(b, WICK_OP_div, dot, size);
  }
  n->out[0] = dot;
}

/* x / max(norm, 1e-12) along an axis */
void wick_caffe2_normalize(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_caffe2_axis(n, -1, &axis)) return;
  wick_value norm = wick_emit_reduce1(n->b, n->row->op, n->in[0], axis, true);
  norm = wick_emit_by(n->b, WICK_OP_max, norm, 1e-12);
  n->out[0] = wick_build2(n->b, WICK_OP_div, n->in[0], norm);
}
