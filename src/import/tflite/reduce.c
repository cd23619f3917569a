/* Reductions, sums along an axis, and positions of extremes. */
#include "import/tflite/ops.h"
#include "import/tflite/quantized.h"

/* Reads the axes as a bit set; an empty list reduces nothing. */
static bool reduce_axes(wick_import_node *n, uint32_t *out_n, int64_t *axes)
{
  uint32_t count, axis, seen = 0, rank = wick_import_info(n, 0)->rank;
  const int64_t *list;
  *out_n = 0;
  if (!wick_import_numbers(n, 1, "the axes", &count, &list)) return false;
  for (uint32_t k = 0; k < count; k++) {
    if (!wick_import_axis(n, list[k], rank, &axis)) return false;
    seen |= 1u << axis;
  }
  for (uint32_t k = 0; k < rank; k++)
    if (seen >> k & 1) axes[(*out_n)++] = k;
  return true;
}

static void reduce_reduce(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t count;
  int64_t axes[WICK_MAX_RANK];
  bool keep = wick_tflite_byte(n, 0) != 0;
  if (!reduce_axes(n, &count, axes)) return;
  if (!count) {
    n->out[0] = wick_build_again(b, n->in[0]);
    return;
  }
  if (wick_tflite_quantized_reduce(n, count, axes, keep)) return;
  wick_value x = n->in[0];
  wick_elem e = wick_import_info(n, 0)->elem;
  bool mean = n->row->op == WICK_OP_reduce_mean && wick_elem_is_int(e);
  if (mean) { /* of integers: the sum, divided towards 0 */
    wick_dim numel = wick_dim_const(1);
    for (uint32_t k = 0; k < count; k++)
      numel = wick_dim_mul(n->c->module->dims, numel, wick_import_info(n, 0)->dim[axes[k]]);
    if (!wick_dim_is_const(numel) || !numel.v) {
      wick_import_must_be_known(n, "the number of elements", numel);
      return;
    }
    wick_value sum =
        wick_emit_reduce(b, WICK_OP_reduce_sum, wick_build_cast(b, x, WICK_I64), count, axes, keep);
    sum = wick_emit_by(b, WICK_OP_div, sum, (double)numel.v);
    n->out[0] = b->status ? sum : wick_build_cast(b, sum, e);
    return;
  }
  if (e == WICK_BOOL) { /* any and all, as the largest and the least number */
    x = wick_emit_reduce(b, n->row->op, wick_build_cast(b, x, WICK_I32), count, axes, keep);
    n->out[0] = b->status ? x : wick_build_cast(b, x, WICK_BOOL);
    return;
  }
  n->out[0] = wick_emit_reduce(b, n->row->op, x, count, axes, keep);
}

static void reduce_arg(wick_import_node *n)
{
  int64_t at;
  uint32_t axis;
  if (!wick_import_one(n, 1, "the axis", 0, &at) ||
      !wick_import_axis(n, at, wick_import_info(n, 0)->rank, &axis))
    return;
  wick_value x = n->in[0];
  if (wick_import_info(n, 0)->elem == WICK_BOOL) x = wick_build_cast(n->b, x, WICK_I32);
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "keepdims", 0);
  wick_value y = wick_emit_end1(&e, x);
  n->out[0] = n->b->status ? y : wick_build_cast(n->b, y, wick_tflite_out(n, 0)->elem);
}

static void reduce_cumsum(wick_import_node *n)
{
  int64_t at;
  uint32_t axis;
  if (!wick_import_one(n, 1, "the axis", 0, &at) ||
      !wick_import_axis(n, at, wick_import_info(n, 0)->rank, &axis))
    return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_cumsum);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "exclusive", wick_tflite_byte(n, 0) != 0);
  wick_emit_set_int(&e, "reverse", wick_tflite_byte(n, 1) != 0);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

#define F NULL
#define ROW(name, fn, opcode)                                                                      \
  {                                                                                                \
    name, 1, {2, 2}, 1, NULL, fn, WICK_OP_##opcode, 0, F, NULL                                     \
  }

const wick_import_op wick_tflite_reduce_ops[] = {
    ROW("ARG_MAX", reduce_arg, argmax),
    ROW("ARG_MIN", reduce_arg, argmin),
    ROW("CUMSUM", reduce_cumsum, cumsum),
    ROW("MEAN", reduce_reduce, reduce_mean),
    ROW("REDUCE_ALL", reduce_reduce, reduce_min),
    ROW("REDUCE_ANY", reduce_reduce, reduce_max),
    ROW("REDUCE_MAX", reduce_reduce, reduce_max),
    ROW("REDUCE_MIN", reduce_reduce, reduce_min),
    ROW("REDUCE_PROD", reduce_reduce, reduce_prod),
    ROW("SUM", reduce_reduce, reduce_sum),
    {0},
};
