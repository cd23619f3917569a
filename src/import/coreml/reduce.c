/* Reductions. */
#include "import/coreml/layers.h"

void wick_coreml_reduce(wick_import_node *n)
{
  enum { SUM, AVG, PROD, LOGSUM, SUMSQUARE, L1, L2, MAX, MIN, ARGMAX };
  static const wick_opcode ops[] = {
      WICK_OP_reduce_sum, WICK_OP_reduce_mean,       WICK_OP_reduce_prod,
      WICK_OP_reduce_sum, WICK_OP_reduce_sum_square, WICK_OP_reduce_l1,
      WICK_OP_reduce_l2,  WICK_OP_reduce_max,        WICK_OP_reduce_min};
  static const struct {
    uint32_t n;
    int64_t axes[3];
  } axis[] = {{3, {-3, -2, -1}}, {2, {-2, -1}}, {1, {-3}}, {1, {-2}}, {1, {-1}}};
  int64_t mode = wick_import_int(n, "mode", 0), where = wick_import_int(n, "axis", 0);
  wick_value x = wick_coreml_float(n, 0);
  if (mode < SUM || mode > ARGMAX || where < 0 || where > 4 || (mode == ARGMAX && where < 2)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "there is no mode %lld with axis %lld", (long long)mode,
                     (long long)where);
    return;
  }
  if (mode == ARGMAX) {
    uint32_t a;
    if (n->b->status ||
        !wick_import_axis(n, axis[where].axes[0], wick_built_info(n->b, x)->rank, &a))
      return;
    wick_emit e = wick_emit_begin(n->b, WICK_OP_argmax);
    wick_emit_set_int(&e, "axis", a);
    n->out[0] = wick_emit_end1(&e, x);
    return;
  }
  if (mode == LOGSUM)
    x = wick_build1(n->b, WICK_OP_log,
                    wick_emit_by(n->b, WICK_OP_add, x, wick_coreml_positive(n, "epsilon", 1e-6)));
  n->out[0] = wick_emit_reduce(n->b, ops[mode], x, axis[where].n, axis[where].axes, true);
}

/* A result without dimensions keeps one of size 1. */
void wick_coreml_reduce_nd(wick_import_node *n)
{
  wick_import_attr axes = wick_import_ints(n, "axes");
  wick_value x = wick_coreml_float(n, 0);
  int64_t all[WICK_MAX_RANK];
  uint32_t rank = n->b->status ? 0 : wick_built_info(n->b, x)->rank;
  bool whole = wick_import_int(n, "reduceAll", 0) || !axes.n,
       keep = wick_import_int(n, "keepDims", 0) != 0;
  for (uint32_t k = 0; k < rank; k++) all[k] = k;
  wick_value y =
      wick_emit_reduce(n->b, n->row->op, x, whole ? rank : axes.n, whole ? all : axes.ints, keep);
  if (n->b->status) return;
  if (!wick_built_info(n->b, y)->rank)
    y = wick_build_reshape(n->b, y, 1, (wick_dim[]){wick_dim_const(1)});
  n->out[0] = y;
}

void wick_coreml_cumsum(wick_import_node *n)
{
  wick_value x = wick_coreml_float(n, 0);
  int64_t axis;
  uint32_t a;
  if (n->b->status) return;
  if (!wick_import_one(n, 1, "the axis", wick_import_int(n, "axis", 0), &axis) ||
      !wick_import_axis(n, axis, wick_built_info(n->b, x)->rank, &a))
    return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_cumsum);
  wick_emit_set_int(&e, "axis", a);
  wick_emit_set_int(&e, "exclusive", wick_import_int(n, "excludeFinalSum", 0));
  wick_emit_set_int(&e, "reverse", wick_import_int(n, "reverse", 0));
  n->out[0] = wick_emit_end1(&e, x);
}
