/* Reductions, sums along an axis, and sorting. */
#include "import/coreml/program/ops.h"

void wick_mil_import_reduce(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_elem elem = t->elem;
  int64_t axes[WICK_MAX_RANK];
  uint32_t count;
  if (!wick_mil_axes(n, "axes", t->rank, &count, axes)) return;
  bool keep = wick_import_int(n, "keep_dims", 0) != 0;
  wick_value x = wick_emit_widen(n->b, n->row->op, n->in[0]);
  wick_value y = wick_emit_reduce(n->b, n->row->op, x, count, axes, keep);
  if (!n->b->status) n->out[0] = wick_build_cast(n->b, y, elem);
}

void wick_mil_import_arg(wick_import_node *n)
{
  uint32_t at;
  wick_elem elem;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  if (!wick_import_axis(n, wick_import_int(n, "axis", -1), wick_import_info(n, 0)->rank, &at) ||
      !wick_mil_dtype_of(n, "output_dtype", WICK_I32, &elem))
    return;
  wick_emit_set_int(&e, "axis", at);
  wick_emit_set_int(&e, "keepdims", wick_import_int(n, "keep_dims", 0) != 0);
  n->out[0] = wick_build_cast(n->b, wick_emit_end1(&e, n->in[0]), elem);
}

void wick_mil_import_cumsum(wick_import_node *n)
{
  uint32_t at;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_cumsum);
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), wick_import_info(n, 0)->rank, &at))
    return;
  wick_emit_set_int(&e, "axis", at);
  wick_emit_set_int(&e, "exclusive", wick_import_int(n, "exclusive", 0) != 0);
  wick_emit_set_int(&e, "reverse", wick_import_int(n, "reverse", 0) != 0);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* The first k elements along an axis, in order, and their positions. */
static wick_value reduce_sorted(wick_import_node *n, uint32_t axis, wick_dim k, bool ascending)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "k", 1, &k);
  wick_emit_set_int(&e, "least", ascending);
  return wick_emit_end1(&e, n->in[0]);
}

/* Sorted even where `sort` is false, which allows any order. A k of -1 is the size of the axis. */
void wick_mil_import_top_k(wick_import_node *n) /* x, k */
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_elem elem;
  uint32_t at, count = 0;
  const wick_dim *k = NULL;
  bool ascending = wick_import_int(n, "ascending", 0) != 0;
  if (!wick_import_axis(n, wick_import_int(n, "axis", -1), t->rank, &at) ||
      !wick_mil_dtype_of(n, "output_indices_dtype", WICK_I32, &elem) ||
      (n->in[1].id && !wick_import_dims(n, 1, "k", &count, &k)))
    return;
  if (n->in[1].id && count != 1) {
    wick_import_fail(n, WICK_ETYPE, "k has %u numbers, expected 1", count);
    return;
  }
  wick_dim most = !k ? wick_dim_const(1) : wick_dim_is(k[0], -1) ? t->dim[at] : k[0];
  wick_value y = reduce_sorted(n, at, most, ascending);
  n->out[0] = y;
  if (n->nout > 1) n->out[1] = wick_build_cast(n->b, (wick_value){y.id + 1}, elem);
}

void wick_mil_import_argsort(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  uint32_t at;
  if (!wick_import_axis(n, wick_import_int(n, "axis", -1), t->rank, &at)) return;
  wick_value y = reduce_sorted(n, at, t->dim[at], wick_import_int(n, "ascending", 0) != 0);
  if (!n->b->status) n->out[0] = wick_build_cast(n->b, (wick_value){y.id + 1}, WICK_I32);
}
