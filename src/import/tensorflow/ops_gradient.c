/* What tf.GradientTape leaves in a graph: the derivatives of operators. Those of windows, slices and resizing follow
 * from the operator itself, which is built on a variable; the others are formulas. */
#include "import/tensorflow/ops.h"
#include "ops/gradient/grad.h"

/* ---- element-wise: x or y, and the cotangent ---- */

/* dy where x lies strictly between the two limits, else 0. */
static wick_value gradient_between(wick_import_node *n, wick_value x, wick_value dy, double low,
                                   double high)
{
  wick_builder *b = n->b;
  wick_value in = wick_emit_by(b, WICK_OP_gt, x, low);
  if (high > low) in = wick_build2(b, WICK_OP_and, in, wick_emit_by(b, WICK_OP_lt, x, high));
  return wick_build3(b, WICK_OP_where, in, dy, wick_emit_number(b, dy, 0));
}

/* dy times `slope` where x is below 0, dy times `other` elsewhere. */
static wick_value gradient_below(wick_import_node *n, wick_value x, wick_value dy, wick_value slope,
                                 double other)
{
  wick_builder *b = n->b;
  wick_value rest = other == 1 ? dy : wick_emit_by(b, WICK_OP_mul, dy, other);
  return wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_lt, x, 0),
                     wick_build2(b, WICK_OP_mul, dy, slope), rest);
}

enum { /* of rows; from SIGMOID on the operands are y, dy, before that dy, x or y */
       GRADIENT_RELU,
       GRADIENT_RELU6,
       GRADIENT_LEAKY_RELU,
       GRADIENT_ELU,
       GRADIENT_SELU,
       GRADIENT_SOFTPLUS,
       GRADIENT_SOFTSIGN,
       GRADIENT_SIGMOID,
       GRADIENT_TANH,
       GRADIENT_SQRT,
       GRADIENT_RSQRT,
       GRADIENT_RECIPROCAL
};

void wick_tf_import_gradient_unary(wick_import_node *n)
{
  wick_builder *b = n->b;
  const double scale = 1.0507009873554805, alpha = 1.6732632423543772;
  bool after = n->row->arg >= GRADIENT_SIGMOID;
  wick_value x = n->in[after ? 0 : 1], dy = n->in[after ? 1 : 0], t;
  switch (n->row->arg) {
  case GRADIENT_RELU: t = gradient_between(n, x, dy, 0, 0); break;
  case GRADIENT_RELU6: t = gradient_between(n, x, dy, 0, 6); break;
  case GRADIENT_LEAKY_RELU:
    t = wick_emit_by(b, WICK_OP_mul, dy, wick_import_real(n, "alpha", (double)0.2f));
    t = wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_gt, x, 0), dy, t);
    break;
  case GRADIENT_ELU: t = gradient_below(n, x, dy, wick_emit_by(b, WICK_OP_add, x, 1), 1); break;
  case GRADIENT_SELU:
    t = gradient_below(n, x, dy, wick_emit_by(b, WICK_OP_add, x, scale * alpha), scale);
    break;
  case GRADIENT_SOFTPLUS:
    t = wick_build2(b, WICK_OP_mul, dy, wick_build1(b, WICK_OP_sigmoid, x));
    break;
  case GRADIENT_SOFTSIGN:
    t = wick_emit_by(b, WICK_OP_add, wick_build1(b, WICK_OP_abs, x), 1);
    t = wick_build2(b, WICK_OP_div, dy, wick_build2(b, WICK_OP_mul, t, t));
    break;
  case GRADIENT_SIGMOID:
    t = wick_build2(b, WICK_OP_sub, wick_emit_number(b, x, 1), x);
    t = wick_build2(b, WICK_OP_mul, dy, wick_build2(b, WICK_OP_mul, x, t));
    break;
  case GRADIENT_TANH:
    t = wick_build2(b, WICK_OP_sub, wick_emit_number(b, x, 1), wick_build2(b, WICK_OP_mul, x, x));
    t = wick_build2(b, WICK_OP_mul, dy, t);
    break;
  case GRADIENT_SQRT:
    t = wick_build2(b, WICK_OP_div, wick_emit_by(b, WICK_OP_mul, dy, 0.5), x);
    break;
  case GRADIENT_RSQRT:
    t = wick_build2(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_mul, dy, -0.5), x);
    t = wick_build2(b, WICK_OP_mul, t, wick_build2(b, WICK_OP_mul, x, x));
    break;
  default:
    t = wick_build2(b, WICK_OP_mul, wick_build1(b, WICK_OP_neg, dy),
                    wick_build2(b, WICK_OP_mul, x, x));
  }
  n->out[0] = t;
}

/* ---- sums ---- */

/* The axes of x but that of the channels. */
static uint32_t gradient_axes(uint32_t rank, bool last, int64_t *axes)
{
  uint32_t count = 0;
  for (uint32_t k = 0; k < rank; k++)
    if (k != (last ? rank - 1 : 1)) axes[count++] = k;
  return count;
}

void wick_tf_import_gradient_bias(wick_import_node *n)
{
  int64_t axes[WICK_MAX_RANK];
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  uint32_t rank = wick_import_info(n, 0)->rank,
           count = gradient_axes(rank, wick_tf_is_channels_last(n), axes);
  n->out[0] = wick_emit_reduce(n->b, WICK_OP_reduce_sum, n->in[0], count, axes, false);
}

/* dy, x, scale, mean, variance -> by x, by the scale, by the offset */
void wick_tf_import_gradient_batch_norm(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t axes[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK];
  bool last = wick_tf_is_channels_last(n);
  if (!wick_import_rank(n, 0, 4, 5)) return;
  const wick_type_info info = *wick_import_info(n, 0);
  uint32_t rank = info.rank, count = gradient_axes(rank, last, axes);
  for (uint32_t k = 0; k < rank; k++) dim[k] = wick_dim_const(1);
  dim[last ? rank - 1 : 1] = info.dim[last ? rank - 1 : 1];
  wick_value v[3]; /* scale, mean, variance */
  for (uint32_t k = 0; k < 3; k++) v[k] = wick_build_reshape(b, n->in[2 + k], rank, dim);
  wick_value dy = wick_build_cast(b, n->in[0], WICK_F32);
  wick_value off = wick_build2(b, WICK_OP_sub, wick_build_cast(b, n->in[1], WICK_F32), v[1]);
  wick_value by =
      wick_emit_by(b, WICK_OP_add, v[2], wick_import_real(n, "epsilon", (double)0.0001f));
  by = wick_build1(b, WICK_OP_rsqrt, by);
  wick_value both = wick_build2(b, WICK_OP_mul, dy, off), t = dy;
  if (wick_import_int(n, "is_training", 1)) {
    wick_value mean = wick_emit_reduce(b, WICK_OP_reduce_mean, both, count, axes, true);
    mean = wick_build2(b, WICK_OP_mul, mean, wick_build2(b, WICK_OP_mul, by, by));
    t = wick_build2(b, WICK_OP_sub, dy,
                    wick_emit_reduce(b, WICK_OP_reduce_mean, dy, count, axes, true));
    t = wick_build2(b, WICK_OP_sub, t, wick_build2(b, WICK_OP_mul, off, mean));
  }
  t = wick_build2(b, WICK_OP_mul, t, wick_build2(b, WICK_OP_mul, v[0], by));
  wick_value scale = wick_build2(b, WICK_OP_mul, both, by);
  if (b->status) return;
  n->out[0] = wick_build_cast(b, t, info.elem);
  if (n->nout > 1) n->out[1] = wick_emit_reduce(b, WICK_OP_reduce_sum, scale, count, axes, false);
  if (n->nout > 2) n->out[2] = wick_emit_reduce(b, WICK_OP_reduce_sum, dy, count, axes, false);
  for (uint32_t k = 3; k < n->nout; k++)
    n->out[k] = wick_build_const(b, wick_type_tensor(n->c->module, WICK_F32, 0, NULL), 0, 0);
}

/* Two shapes -> the axes of each along which it was broadcast. */
void wick_tf_import_broadcast_axes(wick_import_node *n)
{
  uint32_t rank[2], most = 0;
  const wick_dim *dim[2];
  wick_elem e = wick_import_info(n, 0)->elem;
  for (uint32_t i = 0; i < 2; i++) {
    if (!wick_import_dims(n, i, "the shape", &rank[i], &dim[i])) return;
    most = rank[i] > most ? rank[i] : most;
  }
  for (uint32_t i = 0; i < 2 && i < n->nout; i++) {
    double *axes = wick_new(n->c->tmp, double, most + 1u);
    int64_t count = 0;
    for (uint32_t k = 0; k < most; k++) {
      uint32_t lead = most - rank[i], other = most - rank[1 - i];
      wick_dim mine = k < lead ? wick_dim_const(1) : dim[i][k - lead];
      wick_dim his = k < other ? wick_dim_const(1) : dim[1 - i][k - other];
      if (k >= lead && !wick_dim_is_const(mine) && !wick_dim_eq(mine, his) &&
          !wick_dim_is(his, 1)) {
        wick_import_must_be_known(n, "a size", mine);
        return;
      }
      if (k < lead || wick_dim_is(mine, 1)) axes[count++] = k;
    }
    n->out[i] = wick_emit_table(n->b, "axes", e, 1, &count, axes);
  }
}

/* An axis and shapes -> where each part begins in their concatenation. */
void wick_tf_import_concat_offset(wick_import_node *n)
{
  int64_t axis;
  uint32_t at;
  wick_dim begin = wick_dim_const(0);
  wick_elem e = wick_import_info(n, 1)->elem;
  if (!wick_import_one(n, 0, "the axis", 0, &axis)) return;
  for (uint32_t i = 1; i < n->nin; i++) {
    uint32_t rank;
    const wick_dim *dim;
    if (!wick_import_dims(n, i, "the shape", &rank, &dim) || !wick_import_axis(n, axis, rank, &at))
      return;
    wick_dim *offset = wick_new(n->c->tmp, wick_dim, rank + 1u);
    for (uint32_t k = 0; k < rank; k++) offset[k] = k == at ? begin : wick_dim_const(0);
    if (i - 1 < n->nout) n->out[i - 1] = wick_array_sizes(n, rank, offset, e);
    begin = wick_dim_add(n->c->module->dims, begin, dim[at]);
  }
}

/* ---- through the operator itself ---- */

enum { GRADIENT_VARIABLE = -1, GRADIENT_SIZE = -2, GRADIENT_NONE = -3 };

static const struct gradient_form { /* by the row's arg */
  const char *forward;
  int8_t in[4]; /* its operands: operands of the node, the variable, the size of a resized image */
  int8_t like;  /* the operand that the variable equals; -1: only its sizes are known */
  int8_t sizes; /* the operand with them */
  int8_t by;    /* the cotangent's operand */
} gradient_forms[] = {
    {"Conv2D", {0, -1, -3, -3}, -1, 1, 2},
    {"DepthwiseConv2dNative", {0, -1, -3, -3}, -1, 1, 2},
    {"Conv3D", {0, -1, -3, -3}, -1, 1, 2},
    {"MaxPool", {-1, -3, -3, -3}, 0, -1, 2},
    {"MaxPool3D", {-1, -3, -3, -3}, 0, -1, 2},
    {"AvgPool", {-1, -3, -3, -3}, -1, 0, 1},
    {"AvgPool3D", {-1, -3, -3, -3}, -1, 0, 1},
    {"ResizeBilinear", {-1, -2, -3, -3}, 1, -1, 0},
    {"ResizeBicubic", {-1, -2, -3, -3}, 1, -1, 0},
    {"StridedSlice", {-1, 1, 2, 3}, -1, 0, 4},
    {"LRN", {-1, -3, -3, -3}, 1, -1, 0},
    {"CropAndResize", {-1, 1, 2, -2}, -1, 3, 0},
    {"ResizeNearestNeighbor",
     {-1, -2, -3, -3},
     -1,
     -1,
     0},                                       /* the sizes: [batch, operand 1, channels] */
    {"MirrorPad", {-1, 1, -3, -3}, -1, -1, 0}, /* the sizes: those of dy less operand 1 */
};
enum { GRADIENT_NEAREST = 12, GRADIENT_MIRROR = 13 };

/* The sizes of the variable. Returns false after a failure. */
static bool gradient_sizes(wick_import_node *n, const struct gradient_form *f, uint32_t *rank,
                           wick_dim *out)
{
  uint32_t count;
  const wick_dim *dim;
  const wick_type_info t = *wick_import_info(n, (uint32_t)f->by);
  wick_dims *d = n->c->module->dims;
  bool own = f->sizes >= 0;
  if (!wick_import_dims(n, own ? (uint32_t)f->sizes : 1, "the sizes", &count, &dim)) return false;
  *rank = own ? count : t.rank;
  bool fits = *rank <= WICK_MAX_RANK;
  if (n->row->arg == GRADIENT_NEAREST) fits = t.rank == 4 && count == 2;
  if (n->row->arg == GRADIENT_MIRROR) fits = count == 2u * t.rank;
  if (!fits) {
    wick_import_fail(n, WICK_ETYPE, "%u sizes for a result of rank %u", count, t.rank);
    return false;
  }
  for (uint32_t k = 0; k < *rank; k++) {
    if (own)
      out[k] = dim[k];
    else if (n->row->arg == GRADIENT_NEAREST)
      out[k] = k == 1 || k == 2 ? dim[k - 1] : t.dim[k];
    else
      out[k] = wick_dim_sub(d, t.dim[k], wick_dim_add(d, dim[2 * k], dim[2 * k + 1]));
  }
  return true;
}

void wick_tf_import_gradient_through(wick_import_node *n)
{
  wick_builder *b = n->b;
  const struct gradient_form *f = &gradient_forms[n->row->arg];
  wick_value dy = n->in[f->by], x, in[8] = {{0}}, out[8] = {{0}}, dx = {0};
  uint32_t begin, rank;
  wick_dim dim[WICK_MAX_RANK];
  const wick_type_info t = *wick_import_info(n, (uint32_t)f->by);
  if (f->like >= 0) {
    x = wick_build_again(b, n->in[f->like]);
  } else {
    if (!gradient_sizes(n, f, &rank, dim)) return;
    x = wick_build_const(b, wick_type_tensor(n->c->module, t.elem, rank, dim), 0, 0);
  }
  wick_import_node node = *n;
  node.nin = 0, node.in = in, node.out = out, node.nout = 1,
  node.row = wick_tf_row_find(f->forward);
  for (uint32_t k = 0; k < 4 && f->in[k] != GRADIENT_NONE; k++) {
    if (f->in[k] == GRADIENT_SIZE && t.rank != 4) {
      wick_import_fail(n, WICK_ETYPE, "the cotangent has rank %u, expected 4", t.rank);
      return;
    }
    in[k] = f->in[k] == GRADIENT_VARIABLE ? x
            : f->in[k] == GRADIENT_SIZE   ? wick_array_sizes(n, 2, &t.dim[1], WICK_I32)
                                          : n->in[f->in[k]];
    node.nin = k + 1;
  }
  begin = b->nodes.n;
  if (b->status) return;
  node.row->import(&node);
  n->failed = node.failed;
  if (n->failed || b->status) return;
  if (!wick_type_eq(wick_built_type(b, out[0]), wick_built_type(b, dy))) {
    wick_import_fail(n, WICK_ETYPE, "the cotangent has not the type of the result of %s",
                     f->forward);
    return;
  }
  const wick_grad_request r = {.begin = begin,
                               .end = b->nodes.n,
                               .nof = 1,
                               .of = out,
                               .cotangent = &dy,
                               .nwrt = 1,
                               .wrt = &x};
  wick_grad_build(b, &r, &dx);
  if (b->status) return;
  n->out[0] = dx.id ? dx : wick_build_const(b, wick_built_type(b, x), 0, 0);
}
