/* Imports MXNet's operators on images. Layouts with the channels last are turned around them. */
#include <math.h>
#include <string.h>

#include "import/kit/nhwc.h"
#include "import/mxnet/ops.h"

enum { WINDOW_MOST = 3 };

typedef struct window {
  uint32_t n;
  bool last;
  int64_t kernel[WINDOW_MOST], stride[WINDOW_MOST], dilation[WINDOW_MOST], pad[2 * WINDOW_MOST];
} window;

/* ---- layouts ---- */

static bool window_is_last(const wick_import_node *n)
{
  const char *layout = wick_import_text(n, "layout", NULL);
  size_t size = layout ? strlen(layout) : 0;
  return size > 2 && layout[size - 1] == 'C';
}

static wick_value window_end(wick_import_node *n, wick_value y, bool last)
{
  return last ? wick_nhwc_last(n->b, y) : y;
}

/* ---- windows ---- */

static bool window_list(wick_import_node *n, const char *name, uint32_t count, int64_t otherwise,
                        int64_t least, int64_t *out)
{
  wick_import_attr a = wick_import_ints(n, name);
  for (uint32_t k = 0; k < count; k++) {
    out[k] = a.n == 1 ? a.ints[0] : k < a.n ? a.ints[k] : otherwise;
    if (out[k] < least || out[k] > INT32_MAX / 4 || (a.n > 1 && a.n != count)) {
      wick_import_fail(n, WICK_ERANGE, "%s does not fit %u dimensions", name, count);
      return false;
    }
  }
  return true;
}

/* Reads the window over an image of that rank. */
static bool window_read(wick_import_node *n, uint32_t rank, window *w)
{
  w->n = rank > 2 ? rank - 2u : 0;
  if (w->n < 1 || w->n > WINDOW_MOST) {
    wick_import_fail(n, WICK_ETYPE, "the image has rank %u, expected 3 to 5", rank);
    return false;
  }
  if (!window_list(n, "kernel", w->n, 1, 1, w->kernel) ||
      !window_list(n, "stride", w->n, 1, 1, w->stride) ||
      !window_list(n, "dilate", w->n, 1, 1, w->dilation) ||
      !window_list(n, "pad", w->n, 0, 0, w->pad))
    return false;
  memcpy(w->pad + w->n, w->pad, w->n * sizeof *w->pad);
  return true;
}

static void window_set(wick_emit *e, const window *w)
{
  wick_emit_set_ints(e, "stride", w->n, w->stride);
  wick_emit_set_ints(e, "pad", 2 * w->n, w->pad);
  wick_emit_set_ints(e, "dilation", w->n, w->dilation);
}

void wick_mxnet_conv(wick_import_node *n)
{
  window w = {.last = window_is_last(n)};
  int64_t adj[WINDOW_MOST];
  wick_value in[3] = {n->in[0], n->in[1], n->in[2]};
  if (!window_read(n, wick_import_info(n, 0)->rank, &w) || !window_list(n, "adj", w.n, 0, 0, adj))
    return;
  if (n->row->arg && wick_import_ints(n, "target_shape").n) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "target_shape is not supported");
    return;
  }
  if (w.last) in[0] = wick_nhwc_first(n->c, in[0]), in[1] = wick_nhwc_first(n->c, in[1]);
  wick_emit e = wick_emit_begin(n->b, n->row->arg ? WICK_OP_conv_transpose : WICK_OP_conv);
  window_set(&e, &w);
  wick_emit_set_int(&e, "group", wick_import_int(n, "num_group", 1));
  if (n->row->arg) wick_emit_set_ints(&e, "output_pad", w.n, adj);
  n->out[0] = window_end(n, wick_emit_end(&e, in[2].id ? 3 : 2, in), w.last);
}

/* ---- pools ---- */

static wick_value window_whole(wick_import_node *n, wick_value x, int type)
{
  static const wick_opcode ops[] = {WICK_OP_reduce_max, WICK_OP_reduce_mean, WICK_OP_reduce_sum,
                                    WICK_OP_reduce_l2};
  int64_t axes[WICK_MAX_RANK];
  uint32_t count = 0, rank = wick_built_info(n->b, x)->rank;
  for (uint32_t k = 2; k < rank; k++) axes[count++] = k;
  return wick_emit_reduce(n->b, ops[type], x, count, axes, true);
}

/* Rounds the sizes up: the last window may end after the padding, whatever is in it. */
static bool window_full(wick_import_node *n, window *w, const wick_dim *size)
{
  for (uint32_t k = 0; k < w->n; k++) {
    if (!wick_dim_is_const(size[k]))
      return wick_import_must_be_known(n, "the image's size", size[k]);
    int64_t all = size[k].v + 2 * w->pad[k] - w->kernel[k], rest = all % w->stride[k];
    if (all > 0 && rest) w->pad[w->n + k] += w->stride[k] - rest;
  }
  return true;
}

void wick_mxnet_pool(wick_import_node *n)
{
  enum { MAX, AVG, SUM, LP };
  window w = {.last = window_is_last(n)};
  int type = wick_import_word(n, "pool_type", "max avg sum lp");
  int form = wick_import_word(n, "pooling_convention", "valid full same");
  wick_value x = w.last ? wick_nhwc_first(n->c, n->in[0]) : n->in[0];
  if (n->failed || n->b->status) return;
  if (wick_import_int(n, "global_pool", 0)) {
    n->out[0] = window_end(n, window_whole(n, x, type), w.last);
    return;
  }
  const wick_type_info *t = wick_built_info(n->b, x);
  if (!window_read(n, t->rank, &w)) return;
  bool counts = wick_import_int(n, "count_include_pad", 1) != 0, ceil = form == 1 && type == AVG;
  if (form == 2 || type == LP || (type == SUM && form == 1)) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "pool_type %s with pooling_convention %s is not supported",
                     wick_import_text(n, "pool_type", "max"),
                     wick_import_text(n, "pooling_convention", "valid"));
    return;
  }
  if (form == 1 && type == MAX && !window_full(n, &w, t->dim + 2)) return;
  wick_emit e = wick_emit_begin(n->b, type == MAX ? WICK_OP_max_pool : WICK_OP_avg_pool);
  window_set(&e, &w);
  wick_emit_set_ints(&e, "kernel", w.n, w.kernel);
  wick_emit_set_int(&e, "ceil", ceil);
  if (type != MAX) wick_emit_set_int(&e, "count_pad", type == SUM || counts);
  wick_value y = wick_emit_end1(&e, x);
  int64_t area = 1;
  for (uint32_t k = 0; k < w.n; k++) area *= w.kernel[k];
  if (type == SUM) y = wick_emit_by(n->b, WICK_OP_mul, y, (double)area);
  n->out[0] = window_end(n, y, w.last);
}

/* Means of parts whose sizes divide the image's. */
void wick_mxnet_adaptive(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  int64_t size[2];
  window w = {.n = 2, .dilation = {1, 1}};
  if (!window_list(n, "output_size", 2, 1, 1, size)) return;
  if (t->rank != 4) {
    wick_import_fail(n, WICK_ETYPE, "the image has rank %u, expected 4", t->rank);
    return;
  }
  for (uint32_t k = 0; k < 2; k++) {
    if (!wick_dim_is_const(t->dim[2 + k])) {
      wick_import_must_be_known(n, "the image's size", t->dim[2 + k]);
      return;
    }
    if (t->dim[2 + k].v % size[k]) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "a size of %lld does not divide the image's %lld",
                       (long long)size[k], (long long)t->dim[2 + k].v);
      return;
    }
    w.kernel[k] = w.stride[k] = t->dim[2 + k].v / size[k];
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_avg_pool);
  window_set(&e, &w);
  wick_emit_set_ints(&e, "kernel", 2, w.kernel);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* ---- norms ---- */

/* With fix_gamma, the default, the scale is 1. */
void wick_mxnet_batch_norm(wick_import_node *n)
{
  uint32_t axis, rank = wick_import_info(n, 0)->rank;
  if (!wick_mxnet_axis(n, "axis", 1, rank, &axis)) return;
  wick_value in[5] = {n->in[0], n->in[1], n->in[2], n->in[3], n->in[4]};
  bool last = axis + 1 == rank && rank > 2;
  if (axis != 1 && !last) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "axis %u of rank %u is not supported", axis, rank);
    return;
  }
  if (last) in[0] = wick_nhwc_first(n->c, in[0]);
  if (wick_import_int(n, "fix_gamma", 1)) {
    const wick_type_info *s = wick_import_info(n, 1);
    in[1] = wick_build_const(n->b, wick_type_tensor(n->c->module, s->elem, s->rank, s->dim), 1, 1);
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_batch_norm);
  wick_emit_set_float(&e, "epsilon", wick_import_real(n, "eps", 1e-3));
  n->out[0] = window_end(n, wick_emit_end(&e, 5, in), last);
}

void wick_mxnet_norm(wick_import_node *n)
{
  bool layer = n->row->op == WICK_OP_layer_norm;
  uint32_t axis = 0, rank = wick_import_info(n, 0)->rank;
  wick_value in[3] = {n->in[0], n->in[1], n->in[2]};
  int64_t perm[WICK_MAX_RANK];
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_float(&e, "epsilon", wick_import_real(n, "eps", layer ? 1e-5 : 1e-3));
  if (layer) {
    if (!wick_mxnet_axis(n, "axis", -1, rank, &axis)) return;
    for (uint32_t i = 0; i < rank; i++) perm[i] = i; /* the axis and the last one change places */
    perm[axis] = rank - 1, perm[rank - 1] = axis;
    if (axis + 1 < rank) in[0] = wick_build_transpose(n->b, in[0], rank, perm);
    wick_emit_set_int(&e, "axis", rank - 1);
  }
  wick_value y = wick_emit_end(&e, 3, in);
  n->out[0] = layer && axis + 1 < rank ? wick_build_transpose(n->b, y, rank, perm) : y;
}

/* The scale and the bias have an element for each group (MXNet 1), or for each channel. */
void wick_mxnet_group_norm(wick_import_node *n)
{
  int64_t groups = wick_import_int(n, "num_groups", 1);
  wick_value in[3] = {n->in[0], n->in[1], n->in[2]};
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  if (groups < 1) {
    wick_import_fail(n, WICK_ERANGE, "num_groups is %lld", (long long)groups);
    return;
  }
  wick_dim channels = wick_import_info(n, 0)->dim[1];
  const wick_dim each[2] = {wick_dim_const(groups), wick_dim_floordiv(n->c->module->dims, channels,
                                                                      wick_dim_const(groups))};
  for (uint32_t i = 1; i < 3 && !n->b->status; i++) {
    if (!wick_import_rank(n, i, 1, 1)) return;
    if (!wick_dim_eq(wick_import_info(n, i)->dim[0], each[0])) continue;
    in[i] = wick_emit_expand(n->b, wick_emit_unsqueeze(n->b, in[i], 1), 2, each);
    in[i] = wick_build_reshape(n->b, in[i], 1, &channels);
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_group_norm);
  wick_emit_set_float(&e, "epsilon", wick_import_real(n, "eps", 1e-5));
  wick_emit_set_int(&e, "groups", groups);
  n->out[0] = wick_emit_end(&e, 3, in);
}

/* x / sqrt(sum of squares + eps): over each image, over channels, or over positions */
void wick_mxnet_l2(wick_import_node *n)
{
  wick_builder *b = n->b;
  int mode = wick_import_word(n, "mode", "instance channel spatial");
  uint32_t rank = wick_import_info(n, 0)->rank, count = 0;
  int64_t axes[WICK_MAX_RANK];
  for (uint32_t k = 1; k < rank; k++)
    if (mode == 0 || (mode == 1) == (k == 1)) axes[count++] = k;
  wick_value sum = wick_emit_reduce(b, WICK_OP_reduce_sum_square, n->in[0], count, axes, true);
  sum = wick_emit_by(b, WICK_OP_add, sum, wick_import_real(n, "eps", 1e-10));
  sum = wick_build1(b, WICK_OP_sqrt, sum);
  n->out[0] = wick_build2(b, WICK_OP_div, n->in[0], sum);
}

void wick_mxnet_lrn(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_lrn);
  wick_emit_set_int(&e, "size", wick_import_int(n, "nsize", 5));
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", 1e-4));
  wick_emit_set_float(&e, "beta", wick_import_real(n, "beta", 0.75));
  wick_emit_set_float(&e, "bias", wick_import_real(n, "knorm", 2));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* ---- sizes ---- */

void wick_mxnet_pad(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  wick_import_attr width = wick_import_ints(n, "pad_width");
  wick_dim pad[2 * WICK_MAX_RANK];
  int mode = wick_import_word(n, "mode", "constant reflect edge");
  if (width.n != 2 * rank) {
    wick_import_fail(n, WICK_EPARSE, "pad_width has %u numbers for rank %u", width.n, rank);
    return;
  }
  for (uint32_t k = 0; k < 2 * rank; k++)
    pad[k] = wick_dim_const(width.ints[k < rank ? 2 * k : 2 * (k - rank) + 1]);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  wick_emit_set_int(&e, "mode", mode);
  wick_value value = wick_emit_number(n->b, n->in[0], wick_import_real(n, "constant_value", 0));
  if (!n->failed) n->out[0] = wick_emit_end(&e, mode ? 1 : 2, (wick_value[]){n->in[0], value});
}

static wick_value window_resized(wick_import_node *n, wick_value x, wick_dim h, wick_dim w,
                                 bool linear, bool corners)
{
  const wick_type_info *t = wick_built_info(n->b, x);
  const wick_dim shape[4] = {t->dim[0], t->dim[1], h, w};
  enum { NEAREST, LINEAR, HALF = 0, CORNERS = 3, ASYMMETRIC = 4, FLOOR = 2 };
  wick_emit e = wick_emit_begin(n->b, WICK_OP_resize);
  wick_emit_set_dims(&e, "shape", 4, shape);
  wick_emit_set_int(&e, "mode", linear ? LINEAR : NEAREST);
  wick_emit_set_int(&e, "coordinates", !linear ? ASYMMETRIC : corners ? CORNERS : HALF);
  if (!linear) wick_emit_set_int(&e, "nearest", FLOOR);
  return wick_emit_end1(&e, x);
}

/* Nearest elements; bilinear is a transposed convolution with the weights in the second operand. */
void wick_mxnet_upsample(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  int64_t scale = wick_import_int(n, "scale", 1);
  int type = wick_import_word(n, "sample_type", "nearest bilinear");
  wick_dims *d = n->c->module->dims;
  if (n->failed) return;
  if (t->rank != 4 || scale < 1 || scale > 1024 || (!type && n->nin != 1)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "rank %u, scale %lld and %u inputs are not supported",
                     t->rank, (long long)scale, n->nin);
    return;
  }
  wick_dim by = wick_dim_const(scale);
  if (!type) {
    n->out[0] = window_resized(n, n->in[0], wick_dim_mul(d, t->dim[2], by),
                               wick_dim_mul(d, t->dim[3], by), false, false);
    return;
  }
  int64_t kernel = 2 * scale - scale % 2, pad = (kernel - scale + 1) / 2;
  window w = {.n = 2, .stride = {scale, scale}, .dilation = {1, 1}, .pad = {pad, pad, pad, pad}};
  if (n->nin < 2 || !wick_dim_is_const(t->dim[1])) {
    wick_import_fail(n, WICK_EPARSE,
                     "its weights are missing, or the number of channels is not known");
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_conv_transpose);
  window_set(&e, &w);
  wick_emit_set_int(&e, "group", t->dim[1].v);
  n->out[0] = wick_emit_end2(&e, n->in[0], n->in[1]);
}

/* Sizes, or scales of the sizes; between the corners unless align_corners is off. */
void wick_mxnet_resize(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  static const char *const sizes[] = {"height", "width"}, *const scales[] = {"scale_height",
                                                                             "scale_width"};
  wick_dim out[2];
  if (t->rank != 4 || n->nin > 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "rank %u and %u inputs are not supported", t->rank,
                     n->nin);
    return;
  }
  for (uint32_t k = 0; k < 2; k++) {
    double scale = wick_import_real(n, scales[k], 0);
    out[k] = wick_dim_const(wick_import_int(n, sizes[k], 1));
    if (scale > 0 && !wick_dim_is_const(t->dim[2 + k])) {
      wick_import_must_be_known(n, "the image's size", t->dim[2 + k]);
      return;
    }
    if (scale > 0) out[k] = wick_dim_const((int64_t)((double)t->dim[2 + k].v * scale));
    if (out[k].v < 1 || out[k].v > 1 << 20) {
      wick_import_fail(n, WICK_ERANGE, "%s is %lld", sizes[k], (long long)out[k].v);
      return;
    }
  }
  n->out[0] = window_resized(n, n->in[0], out[0], out[1], true,
                             wick_import_int(n, "align_corners", 1) != 0);
}

void wick_mxnet_blocks(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "block", wick_import_int(n, "block_size", 1));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}
