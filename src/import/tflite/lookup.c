/* Rows that are found by keys, and sums of rows by sparse matrices. */
#include "import/kit/array.h"
#include "import/tflite/ops.h"

/* keys to find [n], keys [k], values [k, ...] -> the rows of the values, zeros or empty strings for keys
 * that are not there; and whether they are, [n] in u8. */
static void lookup_table(wick_import_node *n)
{
  wick_builder *b = n->b;
  if (!wick_import_rank(n, 0, 1, 1) || !wick_import_rank(n, 1, 1, 1)) return;
  if (!wick_import_rank(n, 2, 1, WICK_MAX_RANK)) return;
  wick_value same = wick_build2(b, WICK_OP_eq, wick_emit_unsqueeze(b, n->in[0], 1), n->in[1]);
  same = wick_build_cast(b, same, WICK_I32);
  wick_value found = wick_emit_reduce1(b, WICK_OP_reduce_max, same, 1, false);
  wick_emit e = wick_emit_begin(b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "keepdims", 0);
  wick_value rows = wick_emit_gather(b, WICK_OP_gather, n->in[2], wick_emit_end1(&e, same), 0);
  if (b->status) return;
  wick_value has = wick_build_cast(b, found, WICK_BOOL);
  for (uint32_t i = 1; i < wick_import_info(n, 2)->rank; i++) has = wick_emit_unsqueeze(b, has, i);
  wick_value none = wick_import_info(n, 2)->elem == WICK_STRING ? wick_emit_string(b, "")
                                                                : wick_emit_number(b, rows, 0);
  n->out[0] = wick_build3(b, WICK_OP_where, has, rows, none);
  n->out[1] = wick_build_cast(b, found, WICK_U8);
}

/* The sums of x [n, ...] in the buckets [n], of which there are `count`. */
static wick_value lookup_sums(wick_import_node *n, wick_value x, wick_value bucket, wick_dim count)
{
  wick_builder *b = n->b;
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = t->rank;
  for (uint32_t i = 0; i < rank; i++) dim[i] = i ? t->dim[i] : count;
  wick_emit e = wick_emit_begin(b, WICK_OP_scatter_nd);
  wick_emit_set_int(&e, "reduction", 1);
  wick_value none = wick_build_const(b, wick_type_tensor(n->c->module, WICK_F32, rank, dim), 0, 0);
  const wick_value in[3] = {none, wick_emit_unsqueeze(b, bucket, 1), x};
  return wick_emit_end(&e, 3, in);
}

/* rows [n] of the values, their places [n, r] in a sparse matrix of that shape [r], weights [n], values
 * [rows, ...]: for each place but its last number, the weighted sum of its rows. They are combined as sums
 * (0), means (1) or sums by the root of the squares of the weights (2). */
static void lookup_sparse(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t rank;
  const wick_dim *shape;
  int64_t combiner = wick_tflite_byte(n, 0);
  if (!wick_import_rank(n, 0, 1, 1) || !wick_import_rank(n, 1, 2, 2) ||
      !wick_import_rank(n, 3, 1, 1) || !wick_import_rank(n, 4, 2, WICK_MAX_RANK) ||
      !wick_import_dims(n, 2, "the shape", &rank, &shape))
    return;
  const wick_type_info values = *wick_import_info(n, 4);
  if (rank < 2 || rank - 1 + values.rank - 1 > WICK_MAX_RANK || combiner > 2 ||
      !wick_import_equal(n, wick_import_info(n, 1)->dim[1], wick_dim_const(rank))) {
    if (!n->failed) wick_import_fail(n, WICK_EUNSUPPORTED, "the shape has %u numbers", rank);
    return;
  }
  wick_value bucket = {0}, weight = n->in[3];
  wick_dim dim[WICK_MAX_RANK], count = wick_array_product(n, rank - 1, shape);
  for (uint32_t i = 0; i + 1 < rank; i++) { /* the number of the place */
    wick_value own = wick_emit_slice(b, n->in[1], 1, wick_dim_const(i), wick_dim_const(1));
    own = wick_build_cast(b, wick_emit_squeeze(b, own, 1), WICK_I64);
    if (i)
      bucket = wick_build2(b, WICK_OP_mul, bucket, wick_array_sizes(n, 1, &shape[i], WICK_I64));
    bucket = i ? wick_build2(b, WICK_OP_add, bucket, own) : own;
    dim[i] = shape[i];
  }
  wick_value wide = weight;
  for (uint32_t i = 1; i < values.rank; i++) wide = wick_emit_unsqueeze(b, wide, i);
  wick_value x = wick_emit_gather(b, WICK_OP_gather, n->in[4], n->in[0], 0);
  wick_value y = lookup_sums(n, wick_build2(b, WICK_OP_mul, x, wide), bucket, count);
  if (combiner) {
    if (combiner == 2) weight = wick_build2(b, WICK_OP_mul, weight, weight);
    wick_value by = lookup_sums(n, weight, bucket, count);
    if (combiner == 2) by = wick_build1(b, WICK_OP_sqrt, by);
    for (uint32_t i = 1; i < values.rank; i++) by = wick_emit_unsqueeze(b, by, i);
    if (b->status) return;
    wick_value none = wick_emit_by(b, WICK_OP_eq, by, 0);
    by = wick_build3(b, WICK_OP_where, none, wick_emit_number(b, by, 1), by);
    y = wick_build2(b, WICK_OP_div, y, by);
  }
  for (uint32_t i = 1; i < values.rank; i++) dim[rank - 2 + i] = values.dim[i];
  n->out[0] = wick_build_reshape(b, y, rank - 1 + values.rank - 1, dim);
}

#define F NULL

const wick_import_op wick_tflite_lookup_ops[] = {
    {"EMBEDDING_LOOKUP_SPARSE", 1, {5, 5}, 1, NULL, lookup_sparse, WICK_OP_none, 0, F, NULL},
    {"HASHTABLE_LOOKUP", 1, {3, 3}, 2, NULL, lookup_table, WICK_OP_none, 0, F, NULL},
    {0},
};
