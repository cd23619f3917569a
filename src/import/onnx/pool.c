/* Imports pools: the maximum, the mean or the p-norm of each window. */
#include "import/onnx/import.h"

/* The lists stay in the window until the row is built. */
static bool pool_begin(wick_onnx_op *o, wick_emit *e, wick_onnx_window **out)
{
  wick_onnx_window *w = *out = wick_new(o->c->tmp, wick_onnx_window, 1);
  if (!wick_onnx_window_read(o, NULL, w)) return false;
  if (!wick_onnx_int(o, "count_include_pad", 0)) wick_onnx_window_crop(o, w);
  *e = wick_emit_begin(o->b, o->row->op);
  wick_emit_set_int(e, "ceil", wick_onnx_int(o, "ceil_mode", 0));
  return true;
}

static wick_value pool_end(wick_onnx_op *o, wick_emit *e, const wick_onnx_window *w)
{
  if (w->n > WICK_ONNX_WINDOW) return wick_onnx_spatial_pool(o, e, w);
  wick_onnx_window_set(e, w);
  wick_emit_set_ints(e, "kernel", w->n, w->kernel);
  return wick_emit_end1(e, o->in[0]);
}

static void pool_max(wick_onnx_op *o)
{
  wick_emit e;
  wick_onnx_window *w;
  if (!pool_begin(o, &e, &w)) return;
  bool indices = o->nout > 1 && o->node->output.at[1].nbytes;
  if (indices && w->n > WICK_ONNX_WINDOW) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED,
                   "indices are supported for at most %d spatial dimensions, not %u",
                   WICK_ONNX_WINDOW, w->n);
    return;
  }
  wick_emit_set_int(&e, "indices", indices);
  wick_emit_set_int(&e, "column_major", indices && wick_onnx_int(o, "storage_order", 0));
  o->out[0] = pool_end(o, &e, w);
  if (indices && o->out[0].id) o->out[1] = (wick_value){o->out[0].id + 1};
}

static void pool_average(wick_onnx_op *o)
{
  wick_emit e;
  wick_onnx_window *w;
  if (!pool_begin(o, &e, &w)) return;
  wick_emit_set_int(&e, "count_pad", wick_onnx_int(o, "count_include_pad", 0));
  o->out[0] = pool_end(o, &e, w);
}

/* Reads p, which is a float in opset 1. Returns false if it is not a whole number of at least 1. */
static bool pool_p(wick_onnx_op *o, int64_t *out)
{
  double p = o->opset < 2 ? wick_onnx_float(o, "p", 2) : (double)wick_onnx_int(o, "p", 2);
  *out = p >= 1 && p <= 1024 ? (int64_t)p : 0;
  if ((double)*out == p) return true;
  wick_onnx_fail(o, WICK_ERANGE, "p is %g, expected a whole number from 1 to 1024", p);
  return false;
}

static void pool_lp(wick_onnx_op *o)
{
  wick_emit e;
  wick_onnx_window *w;
  int64_t p;
  if (!pool_begin(o, &e, &w) || !pool_p(o, &p)) return;
  wick_emit_set_int(&e, "p", p);
  o->out[0] = pool_end(o, &e, w);
}

/* ---- over all of the image: reductions ---- */

static wick_value pool_all(wick_onnx_op *o, wick_opcode op, wick_value x)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  int64_t axes[WICK_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t i = 2; i < t->rank; i++) axes[n++] = i;
  if (t->rank < 2)
    wick_onnx_fail(o, WICK_ETYPE, "the input's rank is %u, expected 2 or more", t->rank);
  return wick_emit_reduce(o->b, op, x, n, axes, true);
}

static void pool_global(wick_onnx_op *o) { o->out[0] = pool_all(o, o->row->op, o->in[0]); }

static void pool_global_lp(wick_onnx_op *o)
{
  int64_t p;
  if (!pool_p(o, &p)) return;
  if (p <= 2) {
    o->out[0] = pool_all(o, p == 1 ? WICK_OP_reduce_l1 : WICK_OP_reduce_l2, o->in[0]);
    return;
  }
  wick_value x = wick_build1(o->b, WICK_OP_abs, o->in[0]);
  wick_value sum =
      pool_all(o, WICK_OP_reduce_sum,
               wick_build2(o->b, WICK_OP_pow, x, wick_emit_number(o->b, x, (double)p)));
  o->out[0] = wick_build2(o->b, WICK_OP_pow, sum, wick_emit_number(o->b, x, 1 / (double)p));
}

#define WINDOW "auto_pad:s kernel_shape:I! pads:I strides:I "

const wick_onnx_row wick_onnx_pool_rows[] = {
    {"AveragePool", 1, {1, 1}, 1, WINDOW, pool_average, WICK_OP_avg_pool, 0},
    {"AveragePool", 7, {1, 1}, 1, WINDOW "count_include_pad:i", pool_average, WICK_OP_avg_pool, 0},
    {"AveragePool",
     10,
     {1, 1},
     1,
     WINDOW "count_include_pad:i ceil_mode:i",
     pool_average,
     WICK_OP_avg_pool,
     0},
    {"AveragePool",
     19,
     {1, 1},
     1,
     WINDOW "count_include_pad:i ceil_mode:i dilations:I",
     pool_average,
     WICK_OP_avg_pool,
     0},
    {"GlobalAveragePool", 1, {1, 1}, 1, "", pool_global, WICK_OP_reduce_mean, 0},
    {"GlobalLpPool", 1, {1, 1}, 1, "p:f", pool_global_lp, 0, 0},
    {"GlobalLpPool", 2, {1, 1}, 1, "p:i", pool_global_lp, 0, 0},
    {"GlobalMaxPool", 1, {1, 1}, 1, "", pool_global, WICK_OP_reduce_max, 0},
    {"LpPool",
     1,
     {1, 1},
     1,
     "auto_pad:s kernel_shape:I p:f pads:I strides:I",
     pool_lp,
     WICK_OP_lp_pool,
     0},
    {"LpPool", 2, {1, 1}, 1, WINDOW "p:i", pool_lp, WICK_OP_lp_pool, 0},
    {"LpPool", 18, {1, 1}, 1, WINDOW "p:i ceil_mode:i dilations:I", pool_lp, WICK_OP_lp_pool, 0},
    {"MaxPool", 1, {1, 1}, 1, WINDOW, pool_max, WICK_OP_max_pool, 0},
    {"MaxPool", 8, {1, 1}, 2, WINDOW "storage_order:i", pool_max, WICK_OP_max_pool, 0},
    {"MaxPool",
     10,
     {1, 1},
     2,
     WINDOW "storage_order:i ceil_mode:i dilations:I",
     pool_max,
     WICK_OP_max_pool,
     0},
    {0},
};
