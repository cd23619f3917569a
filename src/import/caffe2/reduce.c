/* Imports Caffe2's reductions and searches, and sums of rows of a table. */
#include "import/caffe2/ops.h"
#include "import/kit/array.h"

/* Over the argument `axes`, by default all. */
void wick_caffe2_reduce(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  wick_import_attr given = wick_import_ints(n, "axes");
  int64_t axes[WICK_MAX_RANK];
  uint32_t count = given.n ? given.n : rank;
  if (count > rank) {
    wick_import_fail(n, WICK_ETYPE, "%u axes for rank %u", count, rank);
    return;
  }
  for (uint32_t k = 0; k < count; k++) {
    uint32_t axis = k;
    if (given.n && !wick_import_axis(n, given.ints[k], rank, &axis)) return;
    axes[k] = axis;
  }
  n->out[0] = wick_emit_reduce(n->b, n->row->op, n->in[0], count, axes,
                               wick_import_int(n, "keepdims", 1) != 0);
}

/* Over the first or the last num_reduce_dim dimensions. */
void wick_caffe2_reduce_ends(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  int64_t count = wick_import_int(n, "num_reduce_dim", 1), axes[WICK_MAX_RANK];
  if (n->nin > 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "lengths are not supported");
    return;
  }
  if (count < 0 || count > rank) {
    wick_import_fail(n, WICK_ERANGE, "num_reduce_dim is %lld for rank %u", (long long)count, rank);
    return;
  }
  for (int64_t k = 0; k < count; k++) axes[k] = n->row->arg ? rank - count + k : k;
  n->out[0] = wick_emit_reduce(n->b, n->row->op, n->in[0], (uint32_t)count, axes, false);
}

void wick_caffe2_reduce_all(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  int64_t axes[WICK_MAX_RANK];
  wick_opcode op = n->row->op;
  for (uint32_t k = 0; k < rank; k++) axes[k] = k;
  if (op == WICK_OP_reduce_sum && wick_import_int(n, "average", 0)) op = WICK_OP_reduce_mean;
  n->out[0] = wick_emit_reduce(n->b, op, n->in[0], rank, axes, false);
}

void wick_caffe2_arg(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_caffe2_axis(n, -1, &axis)) return;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "keepdims", wick_import_int(n, "keepdims", 1));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* k is an argument, or the second operand. */
void wick_caffe2_top_k(wick_import_node *n)
{
  uint32_t axis;
  int64_t k = wick_import_int(n, "k", 1);
  if (!wick_caffe2_axis(n, -1, &axis) || (n->nin > 1 && !wick_import_one(n, 1, "k", 1, &k))) return;
  if (k < 1) {
    wick_import_fail(n, WICK_ERANGE, "k is %lld, expected 1 or more", (long long)k);
    return;
  }
  wick_dim most = wick_dim_const(k);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "k", 1, &most);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
  if (n->nout > 1) n->out[1] = (wick_value){n->out[0].id + 1};
}

/* Operands: indices, and how many classes there are. */
void wick_caffe2_one_hot(wick_import_node *n)
{
  int64_t size;
  if (!wick_import_one(n, 1, "the number of classes", 1, &size)) return;
  wick_value classes = wick_emit_count_along(n->b, wick_dim_const(size), 1, 2);
  wick_value index = wick_emit_unsqueeze(n->b, wick_build_cast(n->b, n->in[0], WICK_I64), 1);
  n->out[0] = wick_build_cast(n->b, wick_build2(n->b, WICK_OP_eq, index, classes), WICK_BOOL);
}

/* Sums of rows of a table: operands are the table, weights of the rows if there are any, the rows'
 * indices, and how many of them belong to each result, in order. */
void wick_caffe2_bags(wick_import_node *n)
{
  wick_builder *b = n->b;
  bool weighted = n->row->arg == 2;
  uint32_t at = weighted ? 2 : 1;
  if (!wick_import_rank(n, 0, 1, WICK_MAX_RANK) || !wick_import_rank(n, at, 1, 1) ||
      !wick_import_rank(n, at + 1, 1, 1))
    return;
  wick_value rows = wick_emit_gather(b, WICK_OP_gather, n->in[0], n->in[at], 0);
  if (b->status) return;
  const wick_type_info *t = wick_built_info(b, rows);
  wick_dim count = t->dim[0], bags = wick_import_info(n, at + 1)->dim[0];
  wick_dim dim[WICK_MAX_RANK] = {bags};
  uint32_t rank = t->rank;
  wick_value flat = wick_array_matrix(n, rows, 1);
  /* the matrix that says which rows belong to which result: begin <= row < end */
  wick_value length = wick_build_cast(b, n->in[at + 1], WICK_I64);
  wick_emit sums = wick_emit_begin(b, WICK_OP_cumsum);
  wick_emit_set_int(&sums, "axis", 0);
  wick_value end = wick_emit_end1(&sums, length);
  wick_value begin = wick_build2(b, WICK_OP_sub, end, length);
  wick_value row = wick_emit_count_along(b, count, 1, 2);
  wick_value after = wick_build2(b, WICK_OP_ge, row, wick_emit_unsqueeze(b, begin, 1));
  wick_value before = wick_build2(b, WICK_OP_lt, row, wick_emit_unsqueeze(b, end, 1));
  wick_value own = wick_build2(b, WICK_OP_and, after, before);
  if (b->status) return;
  own = wick_build_cast(b, own, wick_built_info(b, flat)->elem);
  if (weighted) own = wick_build2(b, WICK_OP_mul, own, wick_emit_unsqueeze(b, n->in[1], 0));
  wick_value y = wick_build2(b, WICK_OP_matmul, own, flat);
  if (n->row->arg == 1) {
    wick_value size = wick_emit_by(b, WICK_OP_max, length, 1);
    size = wick_emit_unsqueeze(b, size, 1);
    if (b->status) return;
    y = wick_build2(b, WICK_OP_div, y, wick_build_cast(b, size, wick_built_info(b, flat)->elem));
  }
  for (uint32_t k = 1; k < rank; k++) dim[k] = wick_built_info(b, rows)->dim[k];
  if (!b->status) n->out[0] = wick_build_reshape(b, y, rank, dim);
}

void wick_caffe2_cumsum(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_caffe2_axis(n, 0, &axis)) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_cumsum);
  wick_emit_set_int(&e, "axis", axis);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}
