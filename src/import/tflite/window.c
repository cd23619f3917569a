/* Operators that dilate and pad arrays, or reduce windows of them: DILATE, REDUCE_WINDOW, and their
 * forms in StableHLO. */
#include <string.h>

#include "import/kit/array.h"
#include "import/tflite/ops.h"

enum { WINDOW_LARGEST = 4096 }; /* steps of a window along one axis */

/* ---- dilation and padding ---- */

/* Inserts step - 1 elements between neighbours along the axis. */
static wick_value window_dilate(wick_import_node *n, wick_value x, uint32_t axis, int64_t step,
                                wick_value fill)
{
  wick_builder *b = n->b;
  wick_dims *t = n->c->module->dims;
  wick_dim dim[WICK_MAX_RANK];
  if (step == 1 || b->status || n->failed) return x;
  wick_type_info info = *wick_built_info(b, x);
  if (info.rank == WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "it has %u dimensions, expected fewer", info.rank);
    return x;
  }
  for (uint32_t k = 0; k < info.rank; k++) dim[k < axis + 1 ? k : k + 1] = info.dim[k];
  dim[axis + 1] = wick_dim_const(step - 1);
  const wick_value part[] = {wick_emit_unsqueeze(b, x, axis + 1),
                             wick_emit_expand(b, fill, info.rank + 1, dim)};
  x = wick_build_concat(b, axis + 1, 2, part);
  wick_dim all = wick_dim_mul(t, info.dim[axis], wick_dim_const(step));
  memcpy(dim, info.dim, info.rank * sizeof *dim);
  dim[axis] = all;
  x = wick_build_reshape(b, x, info.rank, dim);
  return wick_emit_slice(b, x, axis, wick_dim_const(0),
                         wick_dim_sub(t, all, wick_dim_const(step - 1)));
}

static wick_value window_fill(wick_import_node *n, uint32_t i)
{
  wick_value fill = n->in[i];
  return wick_import_info(n, i)->rank ? wick_build_reshape(n->b, fill, 0, NULL) : fill;
}

/* The numbers of an option, one for each dimension of operand 0; `otherwise` if it is absent. Returns
 * false after a failure. */
static bool window_option(wick_import_node *n, uint32_t field, const char *what, uint32_t count,
                          int64_t least, int64_t otherwise, int64_t *out)
{
  wick_flat_list l = wick_flat_vector(wick_tflite_op_of(n)->options2, field, 8);
  if (l.n && l.n != count) {
    wick_import_fail(n, WICK_EPARSE, "it has %u %s, expected %u", l.n, what, count);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) {
    out[k] = l.n ? wick_flat_item_int(l, k, 8) : otherwise;
    if (out[k] >= least && out[k] <= INT32_MAX) continue;
    wick_import_fail(n, WICK_ERANGE, "one of its %s is %lld, expected %lld to %d", what,
                     (long long)out[k], (long long)least, INT32_MAX);
    return false;
  }
  return true;
}

/* The numbers of operand i, one for each dimension of operand 0. */
static bool window_operand(wick_import_node *n, uint32_t i, const char *what, int64_t *out)
{
  uint32_t count, rank = wick_import_info(n, 0)->rank;
  const wick_dim *dim;
  if (!wick_import_dims(n, i, what, &count, &dim)) return false;
  bool good = count == rank;
  for (uint32_t k = 0; k < count && good; k++) {
    good = wick_dim_is_const(dim[k]) && dim[k].v >= 1 && dim[k].v <= INT32_MAX;
    out[k] = dim[k].v;
  }
  if (!good)
    wick_import_fail(n, WICK_ETYPE, "%s must be known, at least 1, and one for each dimension",
                     what);
  return good;
}

static void window_dilation(wick_import_node *n)
{
  int64_t step[WICK_MAX_RANK];
  if (!window_operand(n, 1, "the dilations", step)) return;
  wick_value x = n->in[0], fill = window_fill(n, 2);
  uint32_t rank = wick_import_info(n, 0)->rank;
  for (uint32_t k = 0; k < rank; k++) x = window_dilate(n, x, k, step[k], fill);
  n->out[0] = x;
}

/* Pads, or crops by negative numbers, after `interior` elements are inserted between neighbours. */
static wick_value window_pad(wick_import_node *n, const int64_t *low, const int64_t *high,
                             const int64_t *interior, wick_value fill)
{
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  uint32_t rank = wick_import_info(n, 0)->rank;
  wick_value x = n->in[0];
  bool any = false;
  for (uint32_t k = 0; k < rank; k++) {
    x = window_dilate(n, x, k, interior[k] + 1, fill);
    before[k] = wick_dim_const(low[k]), after[k] = wick_dim_const(high[k]);
    any = any || low[k] || high[k];
  }
  return any && !n->failed ? wick_array_pad(n, x, before, after, fill) : x;
}

static void window_padding(wick_import_node *n)
{
  int64_t low[WICK_MAX_RANK], high[WICK_MAX_RANK], interior[WICK_MAX_RANK];
  uint32_t rank = wick_import_info(n, 0)->rank;
  if (window_option(n, 0, "paddings", rank, -INT32_MAX, 0, low) &&
      window_option(n, 1, "paddings", rank, -INT32_MAX, 0, high) &&
      window_option(n, 2, "paddings", rank, 0, 0, interior))
    n->out[0] = window_pad(n, low, high, interior, window_fill(n, 1));
}

/* ---- windows ---- */

typedef struct window_axis {
  int64_t size, stride, dilation;
} window_axis;

/* Combines the elements of each window along one axis, which are `dilation` apart. */
static wick_value window_along(wick_import_node *n, wick_value x, uint32_t axis, window_axis w,
                               wick_opcode op)
{
  wick_builder *b = n->b;
  wick_dims *t = n->c->module->dims;
  if (b->status || n->failed || (w.size == 1 && w.stride == 1)) return x;
  const wick_type_info info = *wick_built_info(b, x);
  wick_dim span = wick_dim_const((w.size - 1) * w.dilation + 1);
  wick_dim count = wick_dim_add(
      t, wick_dim_floordiv(t, wick_dim_sub(t, info.dim[axis], span), wick_dim_const(w.stride)),
      wick_dim_const(1));
  if (wick_dim_is_const(count) && count.v < 1) {
    wick_import_fail(n, WICK_ETYPE, "a window of %lld is larger than the input along axis %u",
                     (long long)span.v, axis);
    return x;
  }
  wick_value all = {0};
  for (int64_t k = 0; k < w.size; k++) {
    int64_t first = k * w.dilation, stride[WICK_MAX_RANK];
    wick_dim begin[WICK_MAX_RANK], end[WICK_MAX_RANK];
    for (uint32_t d = 0; d < info.rank; d++)
      begin[d] = wick_dim_const(0), end[d] = info.dim[d], stride[d] = 1;
    begin[axis] = wick_dim_const(first), stride[axis] = w.stride;
    wick_dim last =
        wick_dim_mul(t, wick_dim_sub(t, count, wick_dim_const(1)), wick_dim_const(w.stride));
    end[axis] = wick_dim_add(t, last, wick_dim_const(first + 1));
    const wick_array_strided s = {.n = info.rank, .begin = begin, .end = end, .stride = stride};
    wick_value part = wick_array_strided_slice(n, x, &s);
    if (b->status || n->failed) return x;
    all = k ? wick_build2(b, op, all, part) : part;
  }
  return all;
}

static void window_reduce(wick_import_node *n, wick_value x, const int64_t *size,
                          const int64_t *stride, const int64_t *dilation, wick_opcode op)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  for (uint32_t k = 0; k < rank; k++) {
    if (size[k] > WINDOW_LARGEST) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "a window has %lld elements, expected at most %d",
                       (long long)size[k], WINDOW_LARGEST);
      return;
    }
    x = window_along(n, x, k, (window_axis){size[k], stride[k], dilation[k]}, op);
  }
  if (n->b->status || n->failed) return;
  n->out[0] = wick_build2(n->b, op, x, window_fill(n, 1));
}

static void window_reduction(wick_import_node *n)
{
  static const wick_opcode op[] = {WICK_OP_none, WICK_OP_add, WICK_OP_mul, WICK_OP_min,
                                   WICK_OP_max,  WICK_OP_and, WICK_OP_or};
  int64_t size[WICK_MAX_RANK], stride[WICK_MAX_RANK], dilation[WICK_MAX_RANK],
      kind = wick_flat_int(wick_tflite_op_of(n)->options2, 0, 4, 0);
  if (kind < 1 || kind >= (int64_t)WICK_COUNT(op)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its reduction %lld is unknown", (long long)kind);
    return;
  }
  if (window_operand(n, 2, "the windows", size) && window_operand(n, 3, "the strides", stride) &&
      window_operand(n, 4, "the dilations", dilation))
    window_reduce(n, n->in[0], size, stride, dilation, op[kind]);
}

static void window_stablehlo(wick_import_node *n)
{
  int64_t size[WICK_MAX_RANK], stride[WICK_MAX_RANK], base[WICK_MAX_RANK], dilation[WICK_MAX_RANK],
      pad[2 * WICK_MAX_RANK], low[WICK_MAX_RANK], high[WICK_MAX_RANK];
  uint32_t rank = wick_import_info(n, 0)->rank;
  if (!window_option(n, 0, "window sizes", rank, 1, 1, size) ||
      !window_option(n, 1, "strides", rank, 1, 1, stride) ||
      !window_option(n, 2, "dilations", rank, 1, 1, base) ||
      !window_option(n, 3, "dilations", rank, 1, 1, dilation) ||
      !window_option(n, 4, "paddings", 2 * rank, -INT32_MAX, 0, pad))
    return;
  wick_opcode op;
  if (!wick_tflite_combines(n, (uint32_t)wick_flat_int(wick_tflite_op_of(n)->options2, 5, 4, 0),
                            &op))
    return;
  if (op == WICK_OP_none) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its body combines nothing");
    return;
  }
  for (uint32_t k = 0; k < rank; k++) low[k] = pad[2 * k], high[k] = pad[2 * k + 1], base[k] -= 1;
  wick_value x = window_pad(n, low, high, base, window_fill(n, 1));
  window_reduce(n, x, size, stride, dilation, op);
}

/* ---- the table ---- */

/* Sparse constants are dense already. */
static void window_same(wick_import_node *n) { n->out[0] = n->in[0]; }

#define ROW(name, nin, fn)                                                                         \
  {                                                                                                \
    name, 1, {nin, nin}, 1, NULL, fn, WICK_OP_none, 0, NULL, NULL                                  \
  }

const wick_import_op wick_tflite_window_ops[] = {
    ROW("DENSIFY", 1, window_same),
    ROW("DILATE", 3, window_dilation),
    ROW("REDUCE_WINDOW", 5, window_reduction),
    ROW("STABLEHLO_PAD", 2, window_padding),
    ROW("STABLEHLO_REDUCE_WINDOW", 2, window_stablehlo),
    {0},
};
