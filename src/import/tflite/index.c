/* Gathers, scatters, and operators whose results are positions. */
#include <math.h>

#include "import/kit/array.h"
#include "import/kit/unique.h"
#include "import/tflite/ops.h"

static void index_gather(wick_import_node *n)
{
  uint32_t axis, batch;
  if (!wick_import_axis(n, wick_tflite_i32(n, 0, 0), wick_import_info(n, 0)->rank, &axis)) return;
  int64_t own = wick_tflite_i32(n, 1, 0), rank = wick_import_info(n, 1)->rank;
  if (!wick_import_axis(n, own, rank + 1, &batch)) return;
  if (own < 0) batch--; /* counts from the rank, which is no batch dimension */
  n->out[0] = wick_array_gather(n, n->in[0], n->in[1], axis, batch);
}

static void index_gather_nd(wick_import_node *n)
{
  n->out[0] = wick_build2(n->b, WICK_OP_gather_nd, n->in[0], n->in[1]);
}

/* Operands: indices, updates, shape. Updates of one element are added. */
static void index_scatter_nd(wick_import_node *n)
{
  uint32_t count;
  const wick_dim *dim;
  if (!wick_import_dims(n, 2, "the shape", &count, &dim)) return;
  wick_value zero = wick_emit_number(n->b, n->in[1], 0);
  wick_value x = wick_emit_expand(n->b, zero, count, dim);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_scatter_nd);
  bool flag = wick_import_info(n, 1)->elem == WICK_BOOL;
  wick_emit_set_int(&e, "reduction", flag ? 0 : 1);
  const wick_value in[] = {x, n->in[0], n->in[1]};
  n->out[0] = wick_emit_end(&e, 3, in);
}

/* Operands: indices (rank 0 to 2), the shape, the values, the value elsewhere. */
static void index_sparse_to_dense(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t count;
  const wick_dim *dim;
  const wick_type_info *t = wick_import_info(n, 0);
  if (!wick_import_dims(n, 1, "the shape", &count, &dim) || !wick_import_rank(n, 0, 0, 2)) return;
  wick_value fill = n->in[3], index = n->in[0], updates = n->in[2];
  wick_dim rows = t->rank ? t->dim[0] : wick_dim_const(1), two[2] = {rows, wick_dim_const(1)};
  if (t->rank < 2) index = wick_build_reshape(b, index, 2, two);
  if (wick_import_info(n, 3)->rank) fill = wick_build_reshape(b, fill, 0, NULL);
  if (!wick_import_info(n, 2)->rank) updates = wick_emit_expand(b, updates, 1, &rows);
  const wick_value in[] = {wick_emit_expand(b, fill, count, dim), index, updates};
  n->out[0] = wick_build(b, WICK_OP_scatter_nd, 3, in, NULL, 0, NULL);
}

static void index_one_hot(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t ndepth;
  const wick_dim *depth;
  wick_value value[2];
  if (!wick_import_dims(n, 1, "the depth", &ndepth, &depth)) return;
  if (ndepth != 1) {
    wick_import_fail(n, WICK_ETYPE, "the depth has %u numbers, expected 1", ndepth);
    return;
  }
  wick_dim one = wick_dim_const(1);
  for (uint32_t k = 0; k < 2; k++) value[k] = wick_build_reshape(b, n->in[3 - k], 1, &one);
  /* a negative index is out of range: no element is on */
  wick_value index = wick_build_cast(b, n->in[0], WICK_I64), zero = wick_emit_number(b, index, 0),
             far = wick_emit_number(b, index, (double)INT32_MAX);
  index = wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_lt, index, zero), far, index);
  wick_emit e = wick_emit_begin(b, WICK_OP_one_hot);
  wick_emit_set_int(&e, "axis", wick_tflite_i32(n, 0, 0));
  wick_emit_set_dims(&e, "depth", 1, depth);
  n->out[0] = wick_emit_end2(&e, index, wick_build_concat(b, 0, 2, value));
}

static void index_where(wick_import_node *n)
{
  if (!wick_import_rank(n, 0, 1, WICK_MAX_RANK)) return;
  n->out[0] = wick_array_where(n, n->in[0]);
}

static void index_unique(wick_import_node *n)
{
  wick_unique u;
  if (!wick_import_rank(n, 0, 1, 1) || !wick_array_unique(n, n->in[0], &u)) return;
  n->out[0] = u.values;
  n->out[1] = wick_build_cast(n->b, u.number, wick_tflite_out(n, 1)->elem);
}

static void index_top_k(wick_import_node *n)
{
  uint32_t count;
  const wick_dim *k;
  if (!wick_import_dims(n, 1, "k", &count, &k)) return;
  if (count != 1) {
    wick_import_fail(n, WICK_ETYPE, "k has %u numbers, expected 1", count);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_top_k);
  wick_emit_set_dims(&e, "k", 1, k);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
  wick_value at = {n->out[0].id + 1};
  if (n->nout > 1 && !n->b->status)
    n->out[1] = wick_build_cast(n->b, at, wick_tflite_out(n, 1)->elem);
}

/* The update is placed at the indices, which are moved so that it fits. */
static void index_dynamic_update(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info x = *wick_import_info(n, 0), u = *wick_import_info(n, 1);
  if (x.rank != u.rank) {
    wick_import_fail(n, WICK_ETYPE, "the update has rank %u, expected %u", u.rank, x.rank);
    return;
  }
  if (!x.rank) {
    n->out[0] = wick_build_again(b, n->in[1]);
    return;
  }
  wick_value part[WICK_MAX_RANK], zero = {0};
  wick_value at = wick_build_cast(b, n->in[2], WICK_I64);
  for (uint32_t k = 0; k < x.rank && !b->status; k++) {
    wick_dim room = wick_dim_sub(b->module->dims, x.dim[k], u.dim[k]);
    wick_value first =
        wick_emit_squeeze(b, wick_emit_slice(b, at, 0, wick_dim_const(k), wick_dim_const(1)), 0);
    if (!wick_dim_is_const(room)) {
      wick_import_must_be_known(n, "the sizes of the operands", room);
      return;
    }
    zero = wick_emit_number(b, first, 0);
    first = wick_build2(b, WICK_OP_max, wick_emit_by(b, WICK_OP_min, first, (double)room.v), zero);
    wick_value along = wick_emit_count_along(b, u.dim[k], k, x.rank);
    along = wick_build2(b, WICK_OP_add, along, first);
    along = wick_emit_expand(b, along, x.rank, u.dim);
    part[k] = wick_emit_unsqueeze(b, along, x.rank);
  }
  const wick_value in[] = {n->in[0], wick_build_concat(b, x.rank, x.rank, part), n->in[1]};
  n->out[0] = wick_build(b, WICK_OP_scatter_nd, 3, in, NULL, 0, NULL);
}

/* ---- segments ---- */

enum { SEGMENT_ADD = 1, SEGMENT_MUL, SEGMENT_MAX, SEGMENT_MIN };

/* Rows of x are combined by their segment; segments without rows have the neutral element. Rows of
 * negative segments are dropped: they go to one more segment, which is cut off. */
static void index_segment(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info x = *wick_import_info(n, 0), s = *wick_import_info(n, 1);
  int64_t count = 0;
  uint32_t nlist;
  if (n->nin > 2) {
    if (!wick_import_one(n, 2, "the number of segments", 0, &count)) return;
  } else { /* SEGMENT_SUM: the last one's number plus 1 */
    const double *list;
    if (!wick_import_reals(n, 1, "the segments", &nlist, &list)) return;
    count = nlist ? (int64_t)list[nlist - 1] + 1 : 0;
  }
  if (count < 0 || count > INT32_MAX || s.rank != 1 || !x.rank) {
    wick_import_fail(n, WICK_ERANGE, "%lld segments of an input of rank %u do not fit",
                     (long long)count, x.rank);
    return;
  }
  wick_dim dim[WICK_MAX_RANK], two[2] = {s.dim[0], wick_dim_const(1)};
  for (uint32_t k = 0; k < x.rank; k++) dim[k] = k ? x.dim[k] : wick_dim_const(count + 1);
  static const double neutral[] = {0, 0, 1, -INFINITY, INFINITY};
  double fill = neutral[n->row->arg];
  if (x.elem == WICK_F32 && n->row->arg >= SEGMENT_MAX)
    fill = fill < 0 ? -3.4028234663852886e38 : 3.4028234663852886e38;
  wick_value none = wick_emit_expand(b, wick_emit_number(b, n->in[0], fill), x.rank, dim);
  wick_value at = wick_build_cast(b, n->in[1], WICK_I64),
             last = wick_emit_number(b, at, (double)count);
  wick_value below = wick_build2(b, WICK_OP_lt, at, wick_emit_number(b, at, 0));
  at = wick_build_reshape(b, wick_build3(b, WICK_OP_where, below, last, at), 2, two);
  wick_emit e = wick_emit_begin(b, WICK_OP_scatter_nd);
  wick_emit_set_int(&e, "reduction", n->row->arg);
  const wick_value in[] = {none, at, n->in[0]};
  wick_value y = wick_emit_end(&e, 3, in);
  n->out[0] = wick_emit_slice(b, y, 0, wick_dim_const(0), wick_dim_const(count));
}

/* ---- diagonals ---- */

/* [..., m] becomes [..., m, m], with x on the diagonal. */
static void index_matrix_diag(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  if (!wick_import_rank(n, 0, 1, WICK_MAX_RANK - 1)) return;
  wick_dim m = t.dim[t.rank - 1];
  wick_value row = wick_emit_count_along(b, m, 0, 2), column = wick_emit_count_along(b, m, 1, 2);
  wick_value on = wick_build2(b, WICK_OP_eq, row, column);
  wick_value x = wick_emit_unsqueeze(b, n->in[0], t.rank);
  n->out[0] = wick_build3(b, WICK_OP_where, on, x, wick_emit_number(b, x, 0));
}

static void index_set_diag(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0), d = *wick_import_info(n, 1);
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  wick_dim rows = t.dim[t.rank - 2], columns = t.dim[t.rank - 1], dim[WICK_MAX_RANK];
  if (d.rank + 1u != t.rank || !wick_dim_is_const(rows) || !wick_dim_is_const(columns)) {
    wick_import_fail(n, WICK_ETYPE, "the diagonal does not fit a matrix of known sizes");
    return;
  }
  /* one number for each row */
  int64_t least = wick_min_i64(rows.v, columns.v);
  wick_dim zero[WICK_MAX_RANK], more[WICK_MAX_RANK];
  for (uint32_t k = 0; k < d.rank; k++) zero[k] = more[k] = wick_dim_const(0);
  more[d.rank - 1] = wick_dim_const(rows.v - least);
  wick_value x = wick_array_pad(n, n->in[1], zero, more, (wick_value){0});
  for (uint32_t k = 0; k < t.rank; k++) dim[k] = t.dim[k];
  dim[t.rank - 1] = wick_dim_const(1);
  x = wick_build_reshape(b, x, t.rank, dim);
  wick_value row = wick_emit_count_along(b, rows, 0, 2),
             column = wick_emit_count_along(b, columns, 1, 2);
  wick_value on = wick_build2(b, WICK_OP_eq, row, column);
  n->out[0] = wick_build3(b, WICK_OP_where, on, x, n->in[0]);
}

/* The number of boundaries that are at most x. */
static void index_bucketize(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_flat_list l = wick_flat_vector(wick_tflite_op_of(n)->options, 0, 4);
  const wick_type_info t = *wick_import_info(n, 0);
  double *bound = wick_new(n->c->tmp, double, l.n + 1u);
  int64_t dim = l.n;
  for (uint32_t k = 0; k < l.n; k++) bound[k] = (double)wick_flat_item_f32(l, k);
  wick_value all = wick_emit_table(b, n->name, WICK_F32, 1, &dim, bound);
  wick_value x = wick_emit_unsqueeze(b, n->in[0], t.rank);
  if (b->status) return;
  x = wick_build_cast(b, x, WICK_F32);
  wick_value at = wick_build_cast(b, wick_build2(b, WICK_OP_ge, x, all), WICK_I32);
  n->out[0] = wick_emit_reduce1(b, WICK_OP_reduce_sum, at, -1, false);
}

#define F NULL

const wick_import_op wick_tflite_index_ops[] = {
    {"BUCKETIZE", 1, {1, 1}, 1, NULL, index_bucketize, WICK_OP_none, 0, F, NULL},
    {"DYNAMIC_UPDATE_SLICE", 1, {3, 3}, 1, NULL, index_dynamic_update, WICK_OP_none, 0, F, NULL},
    {"GATHER", 1, {2, 2}, 1, NULL, index_gather, WICK_OP_none, 0, F, NULL},
    {"GATHER_ND", 1, {2, 2}, 1, NULL, index_gather_nd, WICK_OP_none, 0, F, NULL},
    {"MATRIX_DIAG", 1, {1, 1}, 1, NULL, index_matrix_diag, WICK_OP_none, 0, F, NULL},
    {"MATRIX_SET_DIAG", 1, {2, 2}, 1, NULL, index_set_diag, WICK_OP_none, 0, F, NULL},
    {"ONE_HOT", 1, {4, 4}, 1, NULL, index_one_hot, WICK_OP_none, 0, F, NULL},
    {"SCATTER_ND", 1, {3, 3}, 1, NULL, index_scatter_nd, WICK_OP_none, 0, F, NULL},
    {"SEGMENT_SUM", 1, {2, 2}, 1, NULL, index_segment, WICK_OP_none, SEGMENT_ADD, F, NULL},
    {"SPARSE_TO_DENSE", 1, {4, 4}, 1, NULL, index_sparse_to_dense, WICK_OP_none, 0, F, NULL},
    {"TOPK_V2", 1, {2, 2}, 2, NULL, index_top_k, WICK_OP_none, 0, F, NULL},
    {"UNIQUE", 1, {1, 1}, 2, NULL, index_unique, WICK_OP_none, 0, F, NULL},
    {"UNSORTED_SEGMENT_MAX", 1, {3, 3}, 1, NULL, index_segment, WICK_OP_none, SEGMENT_MAX, F, NULL},
    {"UNSORTED_SEGMENT_MIN", 1, {3, 3}, 1, NULL, index_segment, WICK_OP_none, SEGMENT_MIN, F, NULL},
    {"UNSORTED_SEGMENT_PROD",
     1,
     {3, 3},
     1,
     NULL,
     index_segment,
     WICK_OP_none,
     SEGMENT_MUL,
     F,
     NULL},
    {"UNSORTED_SEGMENT_SUM", 1, {3, 3}, 1, NULL, index_segment, WICK_OP_none, SEGMENT_ADD, F, NULL},
    {"WHERE", 1, {1, 1}, 1, NULL, index_where, WICK_OP_none, 0, F, NULL},
    {0},
};
