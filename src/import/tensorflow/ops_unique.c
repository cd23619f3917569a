/* Operators that look for equal or missing elements: Unique, ListDiff, SparseFillEmptyRows, DynamicPartition. */
#include "import/kit/bounded.h"
#include "import/kit/unique.h"
#include "import/tensorflow/ops.h"

static wick_value unique_size(wick_import_node *n, wick_dim d)
{
  return wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, d));
}

static wick_value unique_at(wick_import_node *n, wick_value x, wick_value index)
{
  return wick_emit_gather(n->b, WICK_OP_gather, x, index, 0);
}

/* x [n] -> its different elements in the order of their first occurrence, for each element its
 * number among them, and how often each occurs. */
void wick_tf_import_unique(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_elem e;
  wick_unique u;
  if (!wick_import_rank(n, 0, 1, 1)) return;
  if (!wick_tf_attr_elem_or(n, "out_idx", WICK_I32, &e)) return;
  wick_dim size = wick_import_info(n, 0)->dim[0];
  if (!wick_array_unique(n, n->in[0], &u)) return;
  n->out[0] = u.values;
  if (n->nout > 1) n->out[1] = wick_build_cast(b, u.number, e);
  if (n->nout < 3) return;
  wick_emit s = wick_emit_begin(b, WICK_OP_scatter_elements);
  wick_emit_set_int(&s, "reduction", 1);
  wick_type type = wick_type_tensor(n->c->module, e, 1, &size);
  wick_value none = wick_build_const(b, type, 0, 0), ones = wick_build_const(b, type, 0, 1);
  wick_value in[] = {none, u.number, ones};
  n->out[2] = wick_import_bounded(n->c, wick_emit_end(&s, 3, in), 0, u.count);
}

/* The elements of x that are not in y, and their positions; both are known. */
void wick_tf_import_list_diff(wick_import_node *n)
{
  const int64_t *x, *y;
  uint32_t nx, ny;
  wick_elem e;
  if (!wick_tf_attr_elem_or(n, "out_idx", WICK_I32, &e)) return;
  if (!wick_import_numbers(n, 0, "x", &nx, &x) || !wick_import_numbers(n, 1, "y", &ny, &y)) return;
  double *left = wick_new(n->c->tmp, double, nx + 1u), *at = wick_new(n->c->tmp, double, nx + 1u);
  int64_t count = 0;
  for (uint32_t i = 0; i < nx; i++) {
    bool found = false;
    for (uint32_t k = 0; k < ny; k++) found = found || x[i] == y[k];
    if (!found) left[count] = (double)x[i], at[count++] = i;
  }
  n->out[0] = wick_emit_table(n->b, n->name, wick_import_info(n, 0)->elem, 1, &count, left);
  if (n->nout > 1) n->out[1] = wick_emit_table(n->b, n->name, e, 1, &count, at);
}

/* indices [n, 2], values [n], shape [2], default -> the same with one entry in each row that had
 * none; which rows had none; where each entry went. */
void wick_tf_import_fill_empty_rows(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t rank;
  const wick_dim *shape;
  if (!wick_import_rank(n, 0, 2, 2) || !wick_import_dims(n, 2, "the shape", &rank, &shape)) return;
  wick_dims *d = n->c->module->dims;
  wick_dim size = wick_import_info(n, 0)->dim[0], rows = shape[0], one = wick_dim_const(1);
  wick_dim width = wick_import_info(n, 0)->dim[1], all = wick_dim_add(d, size, rows);
  wick_value index = wick_build_cast(b, n->in[0], WICK_I64);
  wick_value row = wick_emit_squeeze(b, wick_emit_slice(b, index, 1, wick_dim_const(0), one), 1);
  wick_type type = wick_type_tensor(n->c->module, WICK_I64, 1, &rows);
  wick_emit s = wick_emit_begin(b, WICK_OP_scatter_elements);
  wick_emit_set_int(&s, "reduction", 1);
  wick_value ones = wick_build_const(b, wick_type_tensor(n->c->module, WICK_I64, 1, &size), 0, 1);
  wick_value none = wick_build_const(b, type, 0, 0);
  wick_value entries = wick_emit_end(&s, 3, (wick_value[]){none, row, ones});
  wick_value empty = wick_emit_by(b, WICK_OP_eq, entries, 0);
  wick_value number = wick_emit_count(b, rows), last = unique_size(n, rows);
  wick_value key =
      wick_build3(b, WICK_OP_where, empty, number, last); /* the others go to the end */
  key = wick_build_concat(b, 0, 2, (wick_value[]){row, key});
  wick_value order = wick_array_order(n, key, all);
  wick_dim pad[] = {wick_dim_const(0), wick_dim_const(0), wick_dim_const(0),
                    wick_dim_sub(d, width, one)};
  wick_emit p = wick_emit_begin(b, WICK_OP_pad);
  wick_emit_set_dims(&p, "pad", 4, pad);
  wick_value more = wick_emit_end1(&p, wick_emit_unsqueeze(b, number, 1));
  wick_value both = wick_build_concat(b, 0, 2, (wick_value[]){index, more});
  wick_value fill = wick_emit_expand(b, n->in[3], 1, &rows);
  wick_value values = wick_build_concat(b, 0, 2, (wick_value[]){n->in[1], fill});
  wick_value added =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, empty, WICK_I64), 0, false);
  wick_value count = wick_build2(b, WICK_OP_add, added, unique_size(n, size));
  n->out[0] = wick_import_bounded(n->c, unique_at(n, both, order), 0, count);
  if (n->nout > 1) n->out[1] = wick_import_bounded(n->c, unique_at(n, values, order), 0, count);
  if (n->nout > 2) n->out[2] = empty;
  if (n->nout > 3) {
    wick_value back = wick_array_put(n, order, wick_emit_count(b, all));
    n->out[3] = wick_emit_slice(b, back, 0, wick_dim_const(0), size);
  }
}

/* The rows of each part, in order: as many as there are, at most all. */
void wick_tf_import_partition(wick_import_node *n) /* x, the part of each row */
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0), p = *wick_import_info(n, 1);
  wick_dim dim[WICK_MAX_RANK], rows = wick_dim_const(1);
  uint32_t rank = 0;
  if (p.rank > t.rank) {
    wick_import_fail(n, WICK_ETYPE, "there are more parts than rows");
    return;
  }
  for (uint32_t i = 0; i < p.rank; i++) rows = wick_dim_mul(n->c->module->dims, rows, p.dim[i]);
  dim[rank++] = rows;
  for (uint32_t i = p.rank; i < t.rank; i++) dim[rank++] = t.dim[i];
  wick_value x = wick_build_reshape(b, n->in[0], rank, dim);
  wick_value part = wick_build_reshape(b, n->in[1], 1, &rows);
  for (uint32_t k = 0; k < n->nout && !b->status; k++) {
    wick_value at = wick_array_where(n, wick_emit_by(b, WICK_OP_eq, part, k));
    if (!at.id || b->status) return;
    const wick_import_sized *s = wick_import_bounded_find(n->c, at);
    wick_value count = s ? s->count : (wick_value){0};
    n->out[k] = unique_at(n, x, wick_emit_squeeze(b, at, 1));
    if (count.id) n->out[k] = wick_import_bounded(n->c, n->out[k], 0, count);
  }
}
