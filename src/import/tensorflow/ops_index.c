/* Operators with indices: gather, scatter, segments, top-k, and sparse tensors as three operands. */
#include <string.h>

#include "import/tensorflow/ops.h"

static wick_dims *index_dims(const wick_import_node *n) { return n->c->module->dims; }

static wick_value index_i64(wick_import_node *n, wick_value v)
{
  return wick_build_cast(n->b, v, WICK_I64);
}

/* ---- gather ---- */

/* Rows of x that several batch axes share: the batch axes become one, whose position is added to the
 * indices. */
static wick_value index_batched(wick_import_node *n, wick_value x, wick_value index, uint32_t axis,
                                uint32_t batch)
{
  const wick_type_info t = *wick_built_info(n->b, x), s = *wick_built_info(n->b, index);
  wick_dims *d = index_dims(n);
  wick_dim one = wick_dim_const(1), nbatch = one, outer = one, inner = one, each = one,
           dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < batch; k++) nbatch = wick_dim_mul(d, nbatch, t.dim[k]);
  for (uint32_t k = batch; k < axis; k++) outer = wick_dim_mul(d, outer, t.dim[k]);
  for (uint32_t k = axis + 1; k < t.rank; k++) inner = wick_dim_mul(d, inner, t.dim[k]);
  for (uint32_t k = batch; k < s.rank; k++) each = wick_dim_mul(d, each, s.dim[k]);
  wick_value flat = wick_build_reshape(n->b, x, 4, (wick_dim[]){nbatch, outer, t.dim[axis], inner});
  flat = wick_build_transpose(n->b, flat, 4, (int64_t[]){0, 2, 1, 3});
  wick_dim all = wick_dim_mul(d, nbatch, t.dim[axis]);
  flat = wick_build_reshape(n->b, flat, 3, (wick_dim[]){all, outer, inner});
  wick_value rows = wick_build_reshape(n->b, index_i64(n, index), 2, (wick_dim[]){nbatch, each});
  wick_value first = wick_emit_count_along(n->b, nbatch, 0, 2);
  wick_value size = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, t.dim[axis]));
  first = wick_build2(n->b, WICK_OP_mul, first, size);
  wick_value y =
      wick_emit_gather(n->b, WICK_OP_gather, flat, wick_build2(n->b, WICK_OP_add, rows, first), 0);
  y = wick_build_transpose(n->b, y, 4, (int64_t[]){0, 2, 1, 3}); /* [batch, outer, each, inner] */
  uint32_t r = 0;
  for (uint32_t k = 0; k < axis; k++) dim[r++] = t.dim[k];
  for (uint32_t k = batch; k < s.rank && r < WICK_MAX_RANK; k++) dim[r++] = s.dim[k];
  for (uint32_t k = axis + 1; k < t.rank && r < WICK_MAX_RANK; k++) dim[r++] = t.dim[k];
  return wick_build_reshape(n->b, y, r, dim);
}

void wick_tf_import_gather(wick_import_node *n) /* x, indices, axis */
{
  int64_t axis = 0, batch = wick_import_int(n, "batch_dims", 0);
  uint32_t at;
  const wick_type_info *t = wick_import_info(n, 0), *s = wick_import_info(n, 1);
  if (n->nin > 2 && !wick_import_one(n, 2, "the axis", 0, &axis)) return;
  if (!wick_import_axis(n, axis, t->rank, &at)) return;
  if (batch < 0) batch += s->rank;
  if (batch < 0 || batch > s->rank || batch > (int64_t)at) {
    wick_import_fail(n, WICK_ETYPE, "batch_dims is %lld", (long long)batch);
    return;
  }
  n->out[0] = batch ? index_batched(n, n->in[0], n->in[1], at, (uint32_t)batch)
                    : wick_emit_gather(n->b, WICK_OP_gather, n->in[0], n->in[1], at);
}

void wick_tf_import_gather_nd(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_gather_nd);
  wick_emit_set_int(&e, "batch", wick_import_int(n, "batch_dims", 0));
  n->out[0] = wick_emit_end2(&e, n->in[0], n->in[1]);
}

/* ---- scatter ---- */

enum { INDEX_SET, INDEX_ADD, INDEX_MUL, INDEX_MAX, INDEX_MIN, INDEX_SUB };

wick_value wick_tf_scatter(wick_import_node *n, wick_value x, wick_value index, wick_value update,
                           int how)
{
  if (how == INDEX_SUB) update = wick_build1(n->b, WICK_OP_neg, update);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_scatter_nd);
  wick_emit_set_int(&e, "reduction", how == INDEX_SUB ? INDEX_ADD : how);
  wick_value in[] = {x, index, update};
  return wick_emit_end(&e, 3, in);
}

void wick_tf_import_tensor_scatter(wick_import_node *n) /* x, indices, updates */
{
  n->out[0] = wick_tf_scatter(n, n->in[0], n->in[1], n->in[2], n->row->arg);
}

static wick_value index_filled(wick_import_node *n, wick_elem e, uint32_t rank, const wick_dim *dim,
                               double number)
{
  wick_type type = wick_type_tensor(n->c->module, e, rank, dim);
  bool is_float = wick_elem_is_float(e);
  return wick_build_const(n->b, type, is_float ? number : 0, is_float ? 0 : wick_whole_i64(number));
}

void wick_tf_import_scatter_nd(wick_import_node *n) /* indices, updates, shape */
{
  uint32_t rank;
  const wick_dim *dim;
  if (!wick_import_dims(n, 2, "the shape", &rank, &dim)) return;
  if (rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its rank is %u", rank);
    return;
  }
  wick_elem e = wick_import_info(n, 1)->elem;
  bool logic = e == WICK_BOOL;
  wick_value none = index_filled(n, e, rank, dim, 0);
  n->out[0] = wick_tf_scatter(n, none, n->in[0], n->in[1], logic ? INDEX_SET : INDEX_ADD);
}

void wick_tf_import_one_hot(wick_import_node *n) /* indices, depth, on, off */
{
  uint32_t count;
  const wick_dim *depth;
  int64_t axis = wick_import_int(n, "axis", -1);
  if (!wick_import_dims(n, 1, "the depth", &count, &depth)) return;
  wick_value off = wick_emit_unsqueeze(n->b, n->in[3], 0),
             on = wick_emit_unsqueeze(n->b, n->in[2], 0);
  wick_value values = wick_build_concat(n->b, 0, 2, (wick_value[]){off, on});
  /* negative indices give no element: they do not count from the end */
  wick_value i = index_i64(n, n->in[0]), none = wick_emit_number(n->b, i, 0);
  wick_value far = wick_emit_number(n->b, i, 1e18), below = wick_build2(n->b, WICK_OP_lt, i, none);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_one_hot);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "depth", 1, depth);
  n->out[0] = wick_emit_end2(&e, wick_build3(n->b, WICK_OP_where, below, far, i), values);
}

void wick_tf_import_top_k(wick_import_node *n) /* x, k (arg: an attribute) */
{
  wick_dim k = wick_dim_const(wick_import_int(n, "k", 1));
  uint32_t count;
  const wick_dim *given;
  wick_elem e;
  if (!n->row->arg) {
    if (!wick_import_dims(n, 1, "k", &count, &given)) return;
    k = given[0];
  }
  if (!wick_tf_attr_elem_or(n, "index_type", WICK_I32, &e)) return;
  wick_emit t = wick_emit_begin(n->b, WICK_OP_top_k);
  wick_emit_set_int(&t, "axis", -1);
  wick_emit_set_dims(&t, "k", 1, &k);
  wick_value y = wick_emit_end1(&t, n->in[0]);
  n->out[0] = y;
  if (n->nout > 1 && y.id) n->out[1] = wick_build_cast(n->b, (wick_value){y.id + 1}, e);
}

/* Is the target among the k largest? Elements that equal it do not count before it. */
void wick_tf_import_in_top_k(wick_import_node *n) /* predictions, targets, k */
{
  wick_builder *b = n->b;
  int64_t k;
  if (!wick_import_one(n, 2, "k", wick_import_int(n, "k", 1), &k)) return;
  wick_value target = wick_emit_unsqueeze(b, index_i64(n, n->in[1]), 1);
  wick_value of = wick_emit_gather(b, WICK_OP_gather_elements, n->in[0], target, 1);
  wick_value above = wick_build_cast(b, wick_build2(b, WICK_OP_gt, n->in[0], of), WICK_I32);
  wick_value count = wick_emit_reduce1(b, WICK_OP_reduce_sum, above, 1, false);
  n->out[0] = wick_emit_by(b, WICK_OP_lt, count, (double)k);
}

/* ---- segments ---- */

/* Combines the rows of x [n..., rest] by their numbers [n...] into [count, rest]. Rows with a
 * negative number are left out. */
static wick_value index_segments(wick_import_node *n, wick_value x, wick_value ids, wick_dim count,
                                 int how, double first)
{
  const wick_type_info t = *wick_built_info(n->b, x), s = *wick_built_info(n->b, ids);
  wick_dim dim[WICK_MAX_RANK], rows = wick_dim_const(1);
  wick_dims *d = index_dims(n);
  uint32_t rank = 0;
  if (n->b->status || s.rank > t.rank) {
    if (!n->b->status) wick_import_fail(n, WICK_ETYPE, "there are more numbers than rows");
    return (wick_value){0};
  }
  for (uint32_t k = 0; k < s.rank; k++) rows = wick_dim_mul(d, rows, s.dim[k]);
  dim[rank++] = rows;
  for (uint32_t k = s.rank; k < t.rank; k++) dim[rank++] = t.dim[k];
  x = wick_build_reshape(n->b, x, rank, dim);
  wick_value i =
      wick_build_reshape(n->b, index_i64(n, ids), 2, (wick_dim[]){rows, wick_dim_const(1)});
  /* one more row takes what has no segment */
  wick_value size = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, count));
  wick_value below = wick_build2(n->b, WICK_OP_lt, i, wick_emit_number(n->b, i, 0));
  i = wick_build3(n->b, WICK_OP_where, below, size, i);
  dim[0] = wick_dim_add(d, count, wick_dim_const(1));
  wick_value y = wick_tf_scatter(n, index_filled(n, t.elem, rank, dim, first), i, x, how);
  return wick_emit_slice(n->b, y, 0, wick_dim_const(0), count);
}

static double index_neutral(wick_elem e, int how)
{
  bool is_float = wick_elem_is_float(e);
  if (how == INDEX_ADD) return 0;
  if (how == INDEX_MUL) return 1;
  double least = e == WICK_F16    ? -65504
                 : e == WICK_F64  ? -1.7976931348623157e308
                 : e == WICK_BF16 ? -3.3895313892515355e38
                                  : -3.4028234663852886e38;
  if (is_float) return how == INDEX_MAX ? least : -least;
  int bits = wick_elem_storage[e].bits;
  bool has_sign = e == WICK_I8 || e == WICK_I16 || e == WICK_I32 || e == WICK_I64;
  double span = 1;
  for (int i = 0; i < bits - has_sign; i++) span *= 2;
  if (how == INDEX_MAX) return has_sign ? -span : 0;
  return bits == 64 ? 9223372036854774784.0 : span - 1;
}

/* x, numbers, count; empty segments have the neutral number */
void wick_tf_import_unsorted_segment(wick_import_node *n)
{
  uint32_t one;
  const wick_dim *count;
  if (!wick_import_dims(n, 2, "the number of segments", &one, &count)) return;
  wick_elem e = wick_import_info(n, 0)->elem;
  n->out[0] =
      index_segments(n, n->in[0], n->in[1], count[0], n->row->arg, index_neutral(e, n->row->arg));
}

/* The number of segments is the last number plus one, which must be known. */
static bool index_last(wick_import_node *n, uint32_t i, wick_dim *out)
{
  const double *ids;
  uint32_t count;
  if (!wick_import_reals(n, i, "the numbers of the segments", &count, &ids)) return false;
  *out = wick_dim_const(count ? (int64_t)ids[count - 1] + 1 : 0);
  return true;
}

/* arg: how, or INDEX_SUB for the mean. Empty segments are 0. */
void wick_tf_import_segment(wick_import_node *n) /* x, numbers */
{
  wick_dim count;
  wick_builder *b = n->b;
  int how = n->row->arg;
  if (!index_last(n, 1, &count)) return;
  wick_elem e = wick_import_info(n, 0)->elem;
  wick_value one = index_filled(n, e, wick_import_info(n, 1)->rank, wick_import_info(n, 1)->dim, 1);
  wick_value sizes = index_segments(n, one, n->in[1], count, INDEX_ADD, 0);
  if (b->status) return;
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = wick_import_info(n, 0)->rank;
  for (uint32_t k = 0; k < rank; k++) dim[k] = k ? wick_dim_const(1) : count;
  sizes = wick_build_reshape(b, sizes, rank, dim);
  int combine = how == INDEX_SUB ? INDEX_ADD : how;
  wick_value y = index_segments(n, n->in[0], n->in[1], count, combine, index_neutral(e, combine));
  wick_value empty = wick_emit_by(b, WICK_OP_eq, sizes, 0), none = wick_emit_number(b, sizes, 0);
  if (how == INDEX_SUB) {
    wick_value least = wick_emit_by(b, WICK_OP_max, sizes, 1);
    y = wick_build2(b, WICK_OP_div, y, least);
  }
  n->out[0] = wick_build3(b, WICK_OP_where, empty, none, y);
}

/* Rows of x by index, then combined: arg 0: sum, 1: mean, 2: sum / sqrt(n), +4: the number of
 * segments is an operand */
void wick_tf_import_sparse_segment(wick_import_node *n) /* x, indices, numbers, count */
{
  wick_builder *b = n->b;
  wick_dim count;
  uint32_t one;
  const wick_dim *given;
  int how = n->row->arg & 3;
  if (n->row->arg & 4) {
    if (!wick_import_dims(n, 3, "the number of segments", &one, &given)) return;
    count = given[0];
  } else if (!index_last(n, 2, &count)) {
    return;
  }
  wick_value rows = wick_emit_gather(b, WICK_OP_gather, n->in[0], n->in[1], 0);
  wick_value sum = index_segments(n, rows, n->in[2], count, INDEX_ADD, 0);
  n->out[0] = sum;
  if (!how || b->status) return;
  const wick_type_info t = *wick_built_info(b, sum);
  const wick_type_info *s = wick_import_info(n, 2);
  wick_value ones = index_filled(n, t.elem, s->rank, s->dim, 1);
  wick_value sizes = index_segments(n, ones, n->in[2], count, INDEX_ADD, 0);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t.rank; k++) dim[k] = k ? wick_dim_const(1) : count;
  sizes = wick_emit_by(b, WICK_OP_max, wick_build_reshape(b, sizes, t.rank, dim), 1);
  if (how == 2) sizes = wick_build1(b, WICK_OP_sqrt, sizes);
  n->out[0] = wick_build2(b, WICK_OP_div, sum, sizes);
}

/* ---- counts ---- */

/* x, size, weights. arg: DenseBincount, whose x may have rows */
void wick_tf_import_bincount(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t one;
  const wick_dim *size;
  if (!wick_import_dims(n, 1, "the size", &one, &size)) return;
  const wick_type_info t = *wick_import_info(n, 0), w = *wick_import_info(n, 2);
  wick_elem e = w.elem;
  wick_value x = index_i64(n, n->in[0]), weight;
  bool none = w.rank && wick_dim_eq(w.dim[0], wick_dim_const(0)), rows = n->row->arg && t.rank == 2;
  bool binary = n->row->arg && wick_import_int(n, "binary_output", 0);
  weight = none || binary ? index_filled(n, e, t.rank, t.dim, 1) : n->in[2];
  wick_dim dim[2] = {rows ? t.dim[0] : size[0], size[0]}, flat = wick_dim_const(1);
  for (uint32_t k = 0; k < t.rank; k++) flat = wick_dim_mul(index_dims(n), flat, t.dim[k]);
  if (!rows) {
    x = wick_build_reshape(b, x, 1, &flat);
    weight = wick_build_reshape(b, weight, 1, &flat);
  }
  /* numbers from `size` on are not counted: they get the weight 0 */
  wick_value end = wick_build1(b, WICK_OP_size, wick_emit_count(b, size[0]));
  wick_value out = wick_build2(b, WICK_OP_ge, x, end), zero = wick_emit_number(b, x, 0);
  x = wick_build3(b, WICK_OP_where, out, zero, x);
  weight = wick_build3(b, WICK_OP_where, out, wick_emit_number(b, weight, 0), weight);
  wick_emit s = wick_emit_begin(b, WICK_OP_scatter_elements);
  wick_emit_set_int(&s, "reduction", binary ? INDEX_MAX : INDEX_ADD);
  wick_emit_set_int(&s, "axis", rows);
  wick_value in[] = {index_filled(n, e, rows ? 2 : 1, dim, 0), x, weight};
  n->out[0] = wick_emit_end(&s, 3, in);
}

/* Sorted rows and values: arg: after equal elements */
void wick_tf_import_search_sorted(wick_import_node *n) /* [rows, n], [rows, k] */
{
  wick_builder *b = n->b;
  wick_elem e;
  if (!wick_tf_attr_elem_or(n, "out_type", WICK_I32, &e)) return;
  if (!wick_import_rank(n, 0, 2, 2) || !wick_import_rank(n, 1, 2, 2)) return;
  wick_value list = wick_emit_unsqueeze(b, n->in[0], 1), x = wick_emit_unsqueeze(b, n->in[1], 2);
  wick_value before = wick_build2(b, n->row->arg ? WICK_OP_le : WICK_OP_lt, list, x);
  n->out[0] = wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, before, e), 2, false);
}

void wick_tf_import_bucketize(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_import_attr a = wick_import_attr_of(n, "boundaries", 'F');
  int64_t dim = a.kind == 'F' ? a.n : 0;
  wick_value x = wick_build_cast(b, n->in[0], WICK_F32);
  if (!dim) {
    n->out[0] =
        index_filled(n, WICK_I32, wick_import_info(n, 0)->rank, wick_import_info(n, 0)->dim, 0);
    return;
  }
  wick_value list = wick_emit_table(b, n->name, WICK_F32, 1, &dim, a.floats);
  x = wick_emit_unsqueeze(b, x, wick_import_info(n, 0)->rank);
  wick_value before = wick_build_cast(b, wick_build2(b, WICK_OP_le, list, x), WICK_I32);
  n->out[0] = wick_emit_reduce1(b, WICK_OP_reduce_sum, before, -1, false);
}

/* ---- positions ---- */

/* The positions of elements that are not 0, [n, rank], of which the first `count` rows are valid. */
void wick_tf_import_where(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dims *d = index_dims(n);
  wick_dim flat = wick_dim_const(1);
  for (uint32_t k = 0; k < t.rank; k++) flat = wick_dim_mul(d, flat, t.dim[k]);
  wick_value mask = wick_build_reshape(b, wick_build_cast(b, n->in[0], WICK_BOOL), 1, &flat);
  wick_value at = wick_build1(b, WICK_OP_nonzero, mask);
  if (b->status) return;
  wick_value count = {at.id + 1}, *part = wick_new(n->c->tmp, wick_value, t.rank + 1u);
  for (uint32_t k = t.rank; k-- > 0;) {
    wick_value size = wick_build1(b, WICK_OP_size, wick_emit_count(b, t.dim[k]));
    size = wick_build2(b, WICK_OP_max, size, wick_emit_number(b, size, 1));
    wick_value i = k ? wick_build2(b, WICK_OP_mod, at, size) : at;
    part[k] = wick_emit_unsqueeze(b, i, 1);
    at = wick_build2(b, WICK_OP_div, at, size);
  }
  if (!t.rank) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the operand has no dimensions");
    return;
  }
  n->out[0] = t.rank == 1 ? part[0] : wick_build_concat(b, 1, t.rank, part);
  n->out[0] = wick_import_bounded(n->c, n->out[0], 0, wick_build_reshape(b, count, 0, NULL));
}

/* ---- sparse tensors ---- */

/* indices, shape, values, default -> dense. arg: the order of SparseTensorDenseAdd: indices, values,
 * shape, x */
void wick_tf_import_sparse_to_dense(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value index = n->in[0], base;
  if (n->row->arg) {
    n->out[0] = wick_tf_scatter(n, n->in[3], index_i64(n, index), n->in[1], INDEX_ADD);
    return;
  }
  uint32_t rank;
  const wick_dim *dim;
  if (!wick_import_dims(n, 1, "the shape", &rank, &dim)) return;
  base = wick_emit_expand(b, n->in[3], rank, dim);
  const wick_type_info t = *wick_import_info(n, 0);
  wick_value values = n->in[2];
  if (t.rank == 0) { /* one element of a vector */
    wick_dim one[] = {wick_dim_const(1), wick_dim_const(1)};
    index = wick_build_reshape(b, index, 2, one);
    values = wick_build_reshape(b, values, 1, one);
  } else if (t.rank == 1) {
    index = wick_emit_unsqueeze(b, index, 1);
  }
  if (t.rank && wick_built_info(b, values)->rank == 0) /* the same value everywhere */
    values = wick_emit_expand(b, values, 1, t.dim);
  n->out[0] = wick_tf_scatter(n, base, index_i64(n, index), values, INDEX_SET);
}

/* indices [n, 2], values, shape, x [k, m]: sum over n of value * x[column] in each row */
void wick_tf_import_sparse_matmul(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t rank;
  const wick_dim *dim;
  if (!wick_import_dims(n, 2, "the shape", &rank, &dim)) return;
  if (rank != 2 || !wick_import_rank(n, 3, 2, 2)) {
    if (!n->failed) wick_import_fail(n, WICK_ETYPE, "the sparse operand has rank %u", rank);
    return;
  }
  wick_value zero = index_filled(n, wick_import_info(n, 1)->elem, 2, dim, 0);
  wick_value a = wick_tf_scatter(n, zero, index_i64(n, n->in[0]), n->in[1], INDEX_ADD),
             x = n->in[3];
  if (wick_import_int(n, "adjoint_a", 0)) a = wick_build_swap(b, a);
  if (wick_import_int(n, "adjoint_b", 0)) x = wick_build_swap(b, x);
  n->out[0] = wick_build2(b, WICK_OP_matmul, a, x);
}

/* indices [n, r], shape, new shape: the same elements at other indices */
void wick_tf_import_sparse_reshape(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_dims *d = index_dims(n);
  uint32_t from, to;
  const wick_dim *old, *given;
  if (!wick_import_dims(n, 1, "the shape", &from, &old) ||
      !wick_import_dims(n, 2, "the new shape", &to, &given))
    return;
  if (!from || !to || from > WICK_MAX_RANK || to > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "a shape has no dimensions, or too many");
    return;
  }
  wick_dim numel = wick_dim_const(1), known = numel, dim[WICK_MAX_RANK];
  uint32_t open = to;
  for (uint32_t k = 0; k < from; k++) numel = wick_dim_mul(d, numel, old[k]);
  for (uint32_t k = 0; k < to; k++) {
    dim[k] = given[k];
    if (wick_dim_is_const(given[k]) && given[k].v == -1)
      open = k;
    else
      known = wick_dim_mul(d, known, given[k]);
  }
  if (wick_dim_is_const(known) && known.v < 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the new shape is empty");
    return;
  }
  if (open < to) dim[open] = wick_dim_floordiv(d, numel, known);
  wick_value flat = {0}, *part = wick_new(n->c->tmp, wick_value, to + 1u);
  wick_value *size = wick_new(n->c->tmp, wick_value, to + 1u);
  for (uint32_t k = 0; k < from; k++) {
    wick_value i =
        wick_emit_slice(b, index_i64(n, n->in[0]), 1, wick_dim_const(k), wick_dim_const(1));
    wick_value by = wick_build1(b, WICK_OP_size, wick_emit_count(b, old[k]));
    flat = k ? wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, flat, by), i) : i;
  }
  for (uint32_t k = to; k-- > 0;) {
    wick_value by = wick_build1(b, WICK_OP_size, wick_emit_count(b, dim[k]));
    part[k] = k ? wick_build2(b, WICK_OP_mod, flat, by) : flat;
    flat = wick_build2(b, WICK_OP_div, flat, by);
    size[k] = wick_emit_unsqueeze(b, by, 0);
  }
  n->out[0] = to == 1 ? part[0] : wick_build_concat(b, 1, to, part);
  if (n->nout > 1) n->out[1] = to == 1 ? size[0] : wick_build_concat(b, 0, to, size);
}

/* indices [m], dims [r] -> [r, m] */
void wick_tf_import_unravel(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t count;
  const wick_dim *dim;
  if (!wick_import_dims(n, 1, "the shape", &count, &dim)) return;
  wick_value flat = n->in[0], *part = wick_new(n->c->tmp, wick_value, count + 1u);
  for (uint32_t k = count; k-- > 0;) {
    wick_value by = wick_build1(b, WICK_OP_size, wick_emit_count(b, dim[k]));
    by = wick_build_cast(b, by, wick_import_info(n, 0)->elem);
    part[k] = wick_emit_unsqueeze(b, wick_build2(b, WICK_OP_mod, flat, by), 0);
    flat = wick_build2(b, WICK_OP_div, flat, by);
  }
  if (count)
    n->out[0] = count == 1 ? part[0] : wick_build_concat(b, 0, count, part);
  else
    wick_import_fail(n, WICK_ETYPE, "the shape is empty");
}

/* Rows of several operands at known positions. */
void wick_tf_import_stitch(wick_import_node *n) /* indices..., data... */
{
  wick_builder *b = n->b;
  uint32_t half = n->nin / 2;
  int64_t most = -1;
  wick_value y = {0};
  for (uint32_t k = 0; k < half; k++) {
    const double *at;
    uint32_t count;
    if (!wick_import_reals(n, k, "the positions", &count, &at)) return;
    for (uint32_t i = 0; i < count; i++) most = (int64_t)at[i] > most ? (int64_t)at[i] : most;
  }
  for (uint32_t k = 0; k < half; k++) {
    const wick_type_info s = *wick_import_info(n, k), t = *wick_import_info(n, half + k);
    wick_dim dim[WICK_MAX_RANK], rows = wick_dim_const(1);
    uint32_t rank = 0;
    if (s.rank > t.rank) {
      wick_import_fail(n, WICK_ETYPE, "there are more positions than rows");
      return;
    }
    for (uint32_t i = 0; i < s.rank; i++) rows = wick_dim_mul(index_dims(n), rows, s.dim[i]);
    dim[rank++] = rows;
    for (uint32_t i = s.rank; i < t.rank; i++) dim[rank++] = t.dim[i];
    wick_value x = wick_build_reshape(b, n->in[half + k], rank, dim);
    wick_dim column[] = {rows, wick_dim_const(1)};
    wick_value at = wick_build_reshape(b, index_i64(n, n->in[k]), 2, column);
    dim[0] = wick_dim_const(most + 1);
    if (!k) y = index_filled(n, t.elem, rank, dim, 0);
    y = wick_tf_scatter(n, y, at, x, INDEX_SET);
  }
  n->out[0] = y;
}

/* Each sequence is reversed up to its length. */
void wick_tf_import_reverse_sequence(wick_import_node *n) /* x, lengths */
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  uint32_t seq, batch;
  if (!wick_import_axis(n, wick_import_int(n, "seq_dim", 0), t.rank, &seq) ||
      !wick_import_axis(n, wick_import_int(n, "batch_dim", 0), t.rank, &batch))
    return;
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t.rank; k++) dim[k] = k == batch ? t.dim[k] : wick_dim_const(1);
  wick_value length = wick_build_reshape(b, index_i64(n, n->in[1]), t.rank, dim);
  wick_value at = wick_emit_count_along(b, t.dim[seq], seq, t.rank);
  wick_value back = wick_emit_by(b, WICK_OP_sub, wick_build2(b, WICK_OP_sub, length, at), 1);
  wick_value inside = wick_build2(b, WICK_OP_lt, at, length);
  wick_value index = wick_build3(b, WICK_OP_where, inside, back, at);
  index = wick_emit_expand(b, index, t.rank, t.dim);
  n->out[0] = wick_emit_gather(b, WICK_OP_gather_elements, n->in[0], index, seq);
}

/* ---- matrices ---- */

/* Is the element of the matrices of x within a band of diagonals? -1: no limit */
void wick_tf_import_band_part(wick_import_node *n) /* x, lower, upper */
{
  int64_t lower, upper;
  wick_value x = n->in[0];
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK) ||
      !wick_import_one(n, 1, "the number of lower diagonals", -1, &lower) ||
      !wick_import_one(n, 2, "the number of upper diagonals", -1, &upper))
    return;
  for (int side = 0; side < 2; side++) {
    int64_t k = side ? upper : lower;
    if (k < 0) continue;
    wick_emit e = wick_emit_begin(n->b, WICK_OP_trilu);
    wick_emit_set_int(&e, "upper", !side);
    wick_emit_set_int(&e, "k", side ? k : -k);
    x = wick_emit_end1(&e, x);
  }
  n->out[0] = x;
}

/* A vector on the diagonal of a matrix of zeros, for each row of x. arg: Diag, of a vector */
void wick_tf_import_diag(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  if (!wick_import_rank(n, 0, 1, n->row->arg ? 1 : WICK_MAX_RANK - 1)) return;
  for (uint32_t i = 1; i < n->nin; i++) { /* MatrixDiagV3: only the main diagonal, 0 elsewhere */
    const double *v;
    uint32_t count;
    if (!wick_import_reals(n, i, "an operand", &count, &v)) return;
    for (uint32_t k = 0; k < count; k++)
      if (v[k] != (i == 2 || i == 3 ? -1 : 0)) {
        wick_import_fail(n, WICK_EUNSUPPORTED, "only square matrices with the main diagonal");
        return;
      }
  }
  wick_dim size = t.dim[t.rank - 1];
  wick_value row = wick_emit_count_along(b, size, 0, 2),
             column = wick_emit_count_along(b, size, 1, 2);
  wick_value on = wick_build2(b, WICK_OP_eq, row, column);
  wick_value x = wick_emit_unsqueeze(b, n->in[0], t.rank);
  n->out[0] = wick_build3(b, WICK_OP_where, on, x, wick_emit_number(b, x, 0));
}

/* The main diagonal of matrices. */
void wick_tf_import_diag_part(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  int64_t k = 0;
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  if (n->nin > 1 && !wick_import_one(n, 1, "the diagonal", 0, &k)) return;
  wick_dim rows = t.dim[t.rank - 2], columns = t.dim[t.rank - 1];
  if (!wick_dim_is_const(rows) || !wick_dim_is_const(columns)) {
    if (k || !wick_dim_eq(rows, columns)) {
      wick_import_must_be_known(n, "the size of the matrix", rows);
      return;
    }
  }
  wick_dims *d = index_dims(n);
  wick_dim r = k < 0 ? wick_dim_sub(d, rows, wick_dim_const(-k)) : rows;
  wick_dim c = k > 0 ? wick_dim_sub(d, columns, wick_dim_const(k)) : columns;
  wick_value x = n->in[0];
  wick_dim count = wick_dim_min(d, r, c);
  x = wick_emit_slice(b, x, t.rank - 2u, wick_dim_const(k < 0 ? -k : 0), count);
  x = wick_emit_slice(b, x, t.rank - 1u, wick_dim_const(k > 0 ? k : 0), count);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < t.rank; i++) dim[i] = i + 1 < t.rank ? wick_dim_const(1) : count;
  for (uint32_t i = 0; i + 2 < t.rank; i++) dim[i] = t.dim[i];
  dim[t.rank - 2] = count, dim[t.rank - 1] = wick_dim_const(1);
  wick_value at = wick_emit_count_along(b, count, t.rank - 2u, t.rank);
  at = wick_emit_expand(b, at, t.rank, dim);
  wick_value y = wick_emit_gather(b, WICK_OP_gather_elements, x, at, t.rank - 1u);
  n->out[0] = wick_emit_squeeze(b, y, t.rank - 1u);
}

void wick_tf_import_set_diag(wick_import_node *n) /* x, diagonal */
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  int64_t k = 0;
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  if (n->nin > 2 && !wick_import_one(n, 2, "the diagonal", 0, &k)) return;
  if (k || !wick_dim_eq(t.dim[t.rank - 2], t.dim[t.rank - 1])) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "only square matrices with the main diagonal");
    return;
  }
  wick_dim size = t.dim[t.rank - 1];
  wick_value row = wick_emit_count_along(b, size, 0, 2),
             column = wick_emit_count_along(b, size, 1, 2);
  wick_value on = wick_build2(b, WICK_OP_eq, row, column);
  wick_value d = wick_emit_unsqueeze(b, n->in[1], t.rank - 1u);
  n->out[0] = wick_build3(b, WICK_OP_where, on, d, n->in[0]);
}
