/* Imports operators that write parts of tensors, sort or reverse along an axis, and sample at given
 * positions. */
#include "import/onnx/import.h"

static void scatter_elements(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_scatter_elements);
  wick_emit_set_int(&e, "axis", wick_onnx_int(o, "axis", 0));
  wick_emit_set_int(&e, "reduction", wick_onnx_word(o, "reduction", "none add mul max min"));
  o->out[0] = wick_emit_end(&e, 3, o->in);
}

static void scatter_nd(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_scatter_nd);
  wick_emit_set_int(&e, "reduction", wick_onnx_word(o, "reduction", "none add mul max min"));
  o->out[0] = wick_emit_end(&e, 3, o->in);
}

/* Writes the updates to positions from the write index on, which each batch has for itself. With
 * `circular`, positions wrap. It is built as a gather: each position selects its update, if it
 * has one. */
static void scatter_tensor(wick_onnx_op *o)
{
  const wick_type_info *x = wick_onnx_info(o, 0), *u = wick_onnx_info(o, 1);
  wick_builder *b = o->b;
  uint32_t axis;
  if (!wick_onnx_axis(o, wick_onnx_int(o, "axis", -2), x->rank, &axis)) return;
  if (axis == 0 || u->rank != x->rank) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "axis %u and ranks %u and %u, expected axis 1 or more, equal ranks", axis,
                   x->rank, u->rank);
    return;
  }
  wick_value position = wick_emit_count_along(o->b, x->dim[axis], axis, x->rank);
  if (wick_onnx_has(o, 2)) {
    wick_dim column[WICK_MAX_RANK];
    for (uint32_t k = 0; k < x->rank; k++) column[k] = k ? wick_dim_const(1) : x->dim[0];
    position =
        wick_build2(b, WICK_OP_sub, position, wick_build_reshape(o->b, o->in[2], x->rank, column));
  }
  if (b->status) return;
  if (wick_onnx_word(o, "mode", "linear circular")) {
    wick_value n = wick_build1(b, WICK_OP_size, wick_emit_count(o->b, x->dim[axis])),
               negative = wick_emit_by(o->b, WICK_OP_lt, position, 0);
    position =
        wick_build3(b, WICK_OP_where, negative, wick_build2(b, WICK_OP_add, position, n), position);
  }
  wick_value many = wick_build1(b, WICK_OP_size, wick_emit_count(o->b, u->dim[axis]));
  wick_value inside = wick_build2(b, WICK_OP_and, wick_emit_by(o->b, WICK_OP_ge, position, 0),
                                  wick_build2(b, WICK_OP_lt, position, many));
  if (b->status) return;
  wick_value at =
      wick_build3(b, WICK_OP_where, inside, position, wick_emit_number(o->b, position, 0));
  wick_value taken = wick_emit_gather(o->b, WICK_OP_gather_elements, o->in[1],
                                      wick_emit_expand(o->b, at, x->rank, x->dim), axis);
  o->out[0] = wick_build3(b, WICK_OP_where, inside, taken, o->in[0]);
}

/* Reverses the first len[b] elements of each slice and keeps the rest. */
static void scatter_reverse(wick_onnx_op *o)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  wick_builder *b = o->b;
  uint32_t batch, time;
  if (!wick_onnx_axis(o, wick_onnx_int(o, "batch_axis", 1), x->rank, &batch) ||
      !wick_onnx_axis(o, wick_onnx_int(o, "time_axis", 0), x->rank, &time))
    return;
  if (batch == time) {
    wick_onnx_fail(o, WICK_ETYPE, "both axes are %u", time);
    return;
  }
  wick_dim column[WICK_MAX_RANK];
  for (uint32_t k = 0; k < x->rank; k++) column[k] = k == batch ? x->dim[k] : wick_dim_const(1);
  wick_value t = wick_emit_count_along(o->b, x->dim[time], time, x->rank),
             length = wick_build_reshape(o->b, o->in[1], x->rank, column),
             turned = wick_build2(b, WICK_OP_sub, wick_emit_by(o->b, WICK_OP_sub, length, 1), t);
  wick_value at = wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_lt, t, length), turned, t);
  o->out[0] = wick_emit_gather(o->b, WICK_OP_gather_elements, o->in[0],
                               wick_emit_expand(o->b, at, x->rank, x->dim), time);
}

/* ---- order ---- */

static void scatter_top(wick_onnx_op *o, const wick_dim *k)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", wick_onnx_int(o, "axis", -1));
  wick_emit_set_dims(&e, "k", 1, k);
  wick_emit_set_int(&e, "least", !wick_onnx_int(o, "largest", 1));
  wick_value first = wick_emit_end1(&e, o->in[0]);
  for (uint32_t i = 0; i < o->nout && first.id; i++) o->out[i] = (wick_value){first.id + i};
}

static void scatter_top_1(wick_onnx_op *o)
{
  wick_dim k = wick_dim_const(wick_onnx_int(o, "k", 1));
  scatter_top(o, &k);
}

static void scatter_top_k(wick_onnx_op *o)
{
  uint32_t n;
  const wick_dim *k;
  if (!wick_onnx_dims(o, 1, "K", &n, &k)) return;
  if (n != 1)
    wick_onnx_fail(o, WICK_ETYPE, "K has %u numbers, expected 1", n);
  else
    scatter_top(o, k);
}

/* ---- samples ---- */

static void scatter_grid(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_grid_sample);
  const char *modes = o->opset < 20 ? "bilinear nearest bicubic" : "linear nearest cubic";
  wick_emit_set_int(&e, "mode", wick_onnx_word(o, "mode", modes));
  wick_emit_set_int(&e, "padding", wick_onnx_word(o, "padding_mode", "zeros border reflection"));
  wick_emit_set_int(&e, "align", wick_onnx_int(o, "align_corners", 0) != 0);
  o->out[0] = wick_emit_end2(&e, o->in[0], o->in[1]);
}

/* Builds n coordinates from -1 to 1 along one axis. -1 and 1 are the outer positions with
 * align_corners, otherwise the outer edges. */
static wick_value scatter_grid_line(wick_onnx_op *o, wick_elem elem, int64_t n)
{
  bool align = wick_onnx_int(o, "align_corners", 0) != 0;
  double *at = wick_new(o->c->tmp, double, (size_t)n);
  for (int64_t i = 0; i < n; i++) {
    double edge = ((double)(2 * i + 1) - (double)n) / (double)n;
    at[i] = !align ? edge : n > 1 ? (double)(2 * i) / (double)(n - 1) - 1 : 0;
  }
  return wick_onnx_table(o, elem, 1, &n, at);
}

/* Builds theta [N, d, d + 1] times the positions of a grid [d..., 1], x first. */
static void scatter_affine(wick_onnx_op *o)
{
  uint32_t n, d;
  const int64_t *size;
  const wick_type_info *theta = wick_onnx_info(o, 0);
  if (!wick_onnx_numbers(o, 1, "size", &n, &size)) return;
  d = n - 2;
  if ((n != 4 && n != 5) || theta->rank != 3) {
    wick_onnx_fail(o, WICK_ETYPE, "size has %u numbers, theta rank %u; expected 4 or 5, and 3", n,
                   theta->rank);
    return;
  }
  wick_dim shape[5], flat[3] = {wick_dim_const(1), wick_dim_const(d + 1), wick_dim_const(1)};
  wick_value part[4];
  for (uint32_t k = 0; k < d; k++) {
    if (size[2 + k] < 1 || size[2 + k] > 1 << 20) {
      wick_onnx_fail(o, WICK_ERANGE, "size %lld of the grid", (long long)size[2 + k]);
      return;
    }
    shape[k] = wick_dim_const(size[2 + k]);
    flat[0] = wick_dim_mul(o->c->module->dims, flat[0], shape[k]);
  }
  shape[d] = wick_dim_const(1);
  for (uint32_t k = 0; k <= d; k++) { /* x, y, z, 1 */
    wick_value line = k < d ? scatter_grid_line(o, theta->elem, size[1 + d - k]) : (wick_value){0};
    wick_dim column[5];
    for (uint32_t i = 0; i <= d; i++)
      column[i] = k < d && i == d - 1 - k ? shape[i] : wick_dim_const(1);
    line =
        k < d ? wick_build_reshape(o->b, line, d + 1, column) : wick_emit_number(o->b, o->in[0], 1);
    part[k] = wick_emit_expand(o->b, line, d + 1, shape);
  }
  if (o->b->status) return;
  wick_value grid = wick_build_reshape(o->b, wick_build_concat(o->b, d, d + 1, part), 2, flat);
  wick_value y = wick_build2(o->b, WICK_OP_matmul, grid,
                             wick_build_transpose(o->b, o->in[0], 3, (const int64_t[]){0, 2, 1}));
  wick_dim out[5] = {theta->dim[0]};
  for (uint32_t k = 0; k < d; k++) out[1 + k] = shape[k];
  out[d + 1] = wick_dim_const(d);
  o->out[0] = wick_build_reshape(o->b, y, d + 2, out);
}

#define SCATTER(type, since, nin, attrs, fn)                                                       \
  {                                                                                                \
    type, since, {nin, nin}, 1, attrs, fn, 0, 0                                                    \
  }

const wick_onnx_row wick_onnx_scatter_rows[] = {
    SCATTER("AffineGrid", 20, 2, "align_corners:i", scatter_affine),
    SCATTER("GridSample", 16, 2, "align_corners:i mode:s padding_mode:s", scatter_grid),
    SCATTER("ReverseSequence", 10, 2, "batch_axis:i time_axis:i", scatter_reverse),
    SCATTER("Scatter", 9, 3, "axis:i", scatter_elements),
    {"Scatter", 11, {0, 0}, 0, "", NULL, 0, 0},
    SCATTER("ScatterElements", 11, 3, "axis:i", scatter_elements),
    SCATTER("ScatterElements", 16, 3, "axis:i reduction:s", scatter_elements),
    SCATTER("ScatterND", 11, 3, "", scatter_nd),
    SCATTER("ScatterND", 16, 3, "reduction:s", scatter_nd),
    {"TensorScatter", 24, {2, 3}, 1, "axis:i mode:s", scatter_tensor, 0, 0},
    {"TopK", 1, {1, 1}, 2, "axis:i k:i!", scatter_top_1, 0, 0},
    {"TopK", 10, {2, 2}, 2, "axis:i", scatter_top_k, 0, 0},
    {"TopK", 11, {2, 2}, 2, "axis:i largest:i sorted:i", scatter_top_k, 0, 0},
    {0},
};
