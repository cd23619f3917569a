/* Imports Caffe2's operators on images: convolutions, pools, norms, resizing. With the argument
 * order = NHWC the channels are last. */
#include <math.h>

#include "import/caffe2/ops.h"
#include "import/kit/nhwc.h"

enum { WINDOW_MOST = 3 };

typedef struct window {
  uint32_t n; /* spatial dimensions */
  bool last;  /* NHWC */
  bool ceil;  /* as Caffe's pools: a window may end after the padding */
  int64_t kernel[WINDOW_MOST], stride[WINDOW_MOST], dilation[WINDOW_MOST], pad[2 * WINDOW_MOST];
} window;

/* ---- order ---- */

/* Returns the image with its channels second. */
static wick_value window_image(wick_import_node *n, bool *out_last)
{
  *out_last = wick_import_word(n, "order", "NCHW NHWC") == 1 && wick_import_info(n, 0)->rank > 2;
  return *out_last ? wick_nhwc_first(n->c, n->in[0]) : n->in[0];
}

void wick_caffe2_order(wick_import_node *n)
{
  n->out[0] = n->row->arg ? wick_nhwc_last(n->b, n->in[0]) : wick_nhwc_first(n->c, n->in[0]);
}

/* ---- windows ---- */

/* Reads "kernel", "kernel_h" and "kernel_w", or "kernels"; the same for strides and dilations. */
static bool window_numbers(wick_import_node *n, const char *name, uint32_t count, int64_t otherwise,
                           int64_t *out)
{
  static const char *const ends[] = {"_h", "_w"};
  wick_arena *mem = n->c->tmp;
  wick_import_attr list = wick_import_ints(n, wick_str_printf(mem, "%ss", name));
  if (list.n && list.n != count) {
    wick_import_fail(n, WICK_EPARSE, "%ss has %u numbers, expected %u", name, list.n, count);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) {
    out[k] = wick_import_int(n, name, otherwise);
    if (list.n) out[k] = list.ints[k];
    if (count == 2)
      out[k] = wick_import_int(n, wick_str_printf(mem, "%s%s", name, ends[k]), out[k]);
    if (out[k] < 1 || out[k] > INT32_MAX / 4) {
      wick_import_fail(n, WICK_ERANGE, "%s is %lld, expected 1 or more", name, (long long)out[k]);
      return false;
    }
  }
  return true;
}

/* Pads of SAME (2) and of Caffe's pools (3), which round the sizes up. */
static bool window_legacy(wick_import_node *n, window *w, const wick_dim *size, int64_t mode)
{
  for (uint32_t k = 0; k < w->n && mode == 2; k++) {
    if (!wick_dim_is_const(size[k]))
      return wick_import_must_be_known(n, "the image's size", size[k]);
    int64_t out = (size[k].v + w->stride[k] - 1) / w->stride[k],
            span = (w->kernel[k] - 1) * w->dilation[k] + 1,
            all = (out - 1) * w->stride[k] + span - size[k].v;
    all = all > 0 ? all : 0;
    w->pad[k] = all / 2, w->pad[w->n + k] = all - all / 2;
  }
  w->ceil = mode == 3;
  return true;
}

static bool window_pads(wick_import_node *n, window *w, const wick_dim *size)
{
  static const char *const sides[] = {"pad_t", "pad_l", "pad_b", "pad_r"};
  wick_import_attr list = wick_import_ints(n, "pads");
  int64_t one = wick_import_int(n, "pad", 0), mode = wick_import_int(n, "legacy_pad", 0);
  if (list.n && list.n != 2 * w->n) {
    wick_import_fail(n, WICK_EPARSE, "pads has %u numbers, expected %u", list.n, 2 * w->n);
    return false;
  }
  for (uint32_t k = 0; k < 2 * w->n; k++) {
    w->pad[k] = list.n ? list.ints[k] : one;
    if (w->n == 2) w->pad[k] = wick_import_int(n, sides[k], w->pad[k]);
    if (w->pad[k] < 0 || w->pad[k] > INT32_MAX / 4) {
      wick_import_fail(n, WICK_ERANGE, "a pad is %lld, expected 0 or more", (long long)w->pad[k]);
      return false;
    }
  }
  return mode != 2 && mode != 3 ? true : window_legacy(n, w, size, mode);
}

/* Reads the window over x, whose channels are second. */
static bool window_read(wick_import_node *n, wick_value x, window *w)
{
  if (n->b->status) return false;
  const wick_type_info *t = wick_built_info(n->b, x);
  w->n = t->rank > 2 ? t->rank - 2u : 0;
  if (w->n < 1 || w->n > WINDOW_MOST) {
    wick_import_fail(n, WICK_ETYPE, "the image has rank %u, expected 3 to 5", t->rank);
    return false;
  }
  return window_numbers(n, "kernel", w->n, wick_import_int(n, "kernel", 0), w->kernel) &&
         window_numbers(n, "stride", w->n, 1, w->stride) &&
         window_numbers(n, "dilation", w->n, 1, w->dilation) && window_pads(n, w, t->dim + 2);
}

static void window_set(wick_emit *e, const window *w)
{
  wick_emit_set_ints(e, "stride", w->n, w->stride);
  wick_emit_set_ints(e, "pad", 2 * w->n, w->pad);
  wick_emit_set_ints(e, "dilation", w->n, w->dilation);
}

static wick_value window_end(wick_import_node *n, wick_value y, bool last)
{
  return last ? wick_nhwc_last(n->b, y) : y;
}

/* ---- convolutions and pools ---- */

void wick_caffe2_conv(wick_import_node *n)
{
  window w = {0};
  wick_value in[3] = {window_image(n, &w.last), n->in[1], n->in[2]};
  int64_t adj[WINDOW_MOST] = {0}, group = wick_import_int(n, "group", 1);
  if (w.last) in[1] = wick_nhwc_first(n->c, in[1]);
  if (n->failed || !window_read(n, in[0], &w)) return;
  wick_emit e = wick_emit_begin(n->b, n->row->arg ? WICK_OP_conv_transpose : WICK_OP_conv);
  window_set(&e, &w);
  wick_emit_set_int(&e, "group", group);
  for (uint32_t k = 0; n->row->arg && k < w.n; k++) {
    adj[k] = wick_import_int(n, "adj", 0);
    if (w.n == 2) adj[k] = wick_import_int(n, k ? "adj_w" : "adj_h", adj[k]);
  }
  if (n->row->arg) wick_emit_set_ints(&e, "output_pad", w.n, adj);
  n->out[0] = window_end(n, wick_emit_end(&e, in[2].id ? 3 : 2, in), w.last);
}

void wick_caffe2_pool(wick_import_node *n)
{
  window w = {0};
  bool average = n->row->op == WICK_OP_avg_pool;
  wick_value x = window_image(n, &w.last);
  if (n->failed || n->b->status) return;
  if (n->row->arg || wick_import_int(n, "global_pooling", 0)) {
    int64_t axes[WICK_MAX_RANK];
    uint32_t rank = wick_built_info(n->b, x)->rank, count = 0;
    for (uint32_t k = 2; k < rank; k++) axes[count++] = k;
    wick_value y = wick_emit_reduce(n->b, average ? WICK_OP_reduce_mean : WICK_OP_reduce_max, x,
                                    count, axes, true);
    n->out[0] = window_end(n, y, w.last);
    return;
  }
  if (!window_read(n, x, &w)) return;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  window_set(&e, &w);
  wick_emit_set_ints(&e, "kernel", w.n, w.kernel);
  wick_emit_set_int(&e, "ceil", w.ceil);
  if (average) wick_emit_set_int(&e, "count_pad", wick_import_int(n, "count_include_pad", 0));
  n->out[0] = window_end(n, wick_emit_end1(&e, x), w.last);
}

/* ---- norms ---- */

void wick_caffe2_lrn(wick_import_node *n)
{
  bool last;
  wick_value x = window_image(n, &last);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_lrn);
  wick_emit_set_int(&e, "size", wick_import_int(n, "size", 1));
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "alpha", 0));
  wick_emit_set_float(&e, "beta", wick_import_real(n, "beta", 0));
  wick_emit_set_float(&e, "bias", wick_import_real(n, "bias", 1));
  n->out[0] = window_end(n, wick_emit_end1(&e, x), last);
}

void wick_caffe2_batch_norm(wick_import_node *n)
{
  bool last;
  wick_value in[5] = {window_image(n, &last)};
  for (uint32_t k = 1; k < 5; k++) in[k] = n->in[k];
  if (!wick_import_int(n, "is_test", 0)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "it trains (is_test is 0), which is not supported");
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_batch_norm);
  wick_emit_set_float(&e, "epsilon", wick_import_real(n, "epsilon", 1e-5));
  n->out[0] = window_end(n, wick_emit_end(&e, 5, in), last);
}

void wick_caffe2_instance_norm(wick_import_node *n)
{
  bool last;
  wick_value in[3] = {window_image(n, &last), n->in[1], n->in[2]};
  wick_emit e = wick_emit_begin(n->b, n->row->arg ? WICK_OP_group_norm : WICK_OP_instance_norm);
  wick_emit_set_float(&e, "epsilon", wick_import_real(n, "epsilon", 1e-5));
  if (n->row->arg) wick_emit_set_int(&e, "groups", wick_import_int(n, "group", 32));
  n->out[0] = window_end(n, wick_emit_end(&e, 3, in), last);
}

/* Normalizes all dimensions from `axis` on. More results are the mean and the deviation. */
void wick_caffe2_layer_norm(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t axis, count = 0, rank = wick_import_info(n, 0)->rank;
  int64_t axes[WICK_MAX_RANK];
  if (!wick_caffe2_axis(n, 1, &axis)) return;
  double epsilon = wick_import_real(n, "epsilon", 1e-5);
  wick_emit e = wick_emit_begin(b, WICK_OP_layer_norm);
  wick_emit_set_float(&e, "epsilon", epsilon);
  wick_emit_set_int(&e, "axis", axis);
  n->out[0] = wick_emit_end(&e, n->nin > 2 ? 3 : 1, n->in);
  for (uint32_t k = axis; k < rank; k++) axes[count++] = k;
  if (n->nout < 2) return;
  n->out[1] = wick_emit_reduce(b, WICK_OP_reduce_mean, n->in[0], count, axes, true);
  wick_value d = wick_build2(b, WICK_OP_sub, n->in[0], n->out[1]);
  d = wick_emit_reduce(b, WICK_OP_reduce_mean, wick_build2(b, WICK_OP_mul, d, d), count, axes,
                       true);
  d = wick_build1(b, WICK_OP_sqrt, wick_emit_by(b, WICK_OP_add, d, epsilon));
  if (b->status) return;
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < axis; k++) dim[k] = wick_import_info(n, 0)->dim[k];
  dim[axis] = wick_dim_const(1);
  n->out[1] = wick_build_reshape(b, n->out[1], axis + 1, dim);
  if (n->nout > 2) n->out[2] = wick_build_reshape(b, d, axis + 1, dim);
}

/* ---- sizes ---- */

static wick_dim window_scaled(wick_import_node *n, wick_dim size, double scale)
{
  if (scale == floor(scale) && scale >= 1 && scale < 1e6)
    return wick_dim_mul(n->c->module->dims, size, wick_dim_const((int64_t)scale));
  if (wick_dim_is_const(size)) return wick_dim_const(wick_whole_i64((double)size.v * scale));
  wick_import_must_be_known(n, "the image's size", size);
  return size;
}

/* Nearest elements at o / scale, or linear between the corners. */
void wick_caffe2_resize(wick_import_node *n)
{
  bool last;
  wick_value x = window_image(n, &last);
  if (n->failed || n->b->status) return;
  const wick_type_info *t = wick_built_info(n->b, x);
  double scale[4] = {1, 1, wick_import_real(n, "height_scale", 1),
                     wick_import_real(n, "width_scale", 1)};
  if (t->rank != 4 || !(scale[2] > 0) || !(scale[3] > 0)) {
    wick_import_fail(n, WICK_ETYPE, "rank %u and scales %g and %g, expected 4 and positive ones",
                     t->rank, scale[2], scale[3]);
    return;
  }
  wick_dim shape[4];
  for (uint32_t k = 0; k < 4; k++) shape[k] = window_scaled(n, t->dim[k], scale[k]);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_resize);
  enum { NEAREST, LINEAR, CORNERS = 3, ASYMMETRIC = 4, FLOOR = 2 };
  wick_emit_set_dims(&e, "shape", 4, shape);
  wick_emit_set_int(&e, "mode", n->row->arg ? LINEAR : NEAREST);
  wick_emit_set_int(&e, "coordinates", n->row->arg ? CORNERS : ASYMMETRIC);
  if (!n->row->arg) {
    wick_emit_set_floats(&e, "scale", 4, scale);
    wick_emit_set_int(&e, "nearest", FLOOR);
  }
  if (!n->failed) n->out[0] = window_end(n, wick_emit_end1(&e, x), last);
}

void wick_caffe2_pad(wick_import_node *n)
{
  window w = {.n = 2};
  wick_dim pad[8];
  wick_value x = window_image(n, &w.last);
  int mode = wick_import_word(n, "mode", "constant reflect edge");
  if (n->failed || n->b->status || !window_pads(n, &w, NULL)) return;
  if (wick_built_info(n->b, x)->rank != 4) {
    wick_import_fail(n, WICK_ETYPE, "the image has rank %u, expected 4",
                     wick_built_info(n->b, x)->rank);
    return;
  }
  for (uint32_t k = 0; k < 8; k++)
    pad[k] = wick_dim_const(k % 4 < 2 ? 0 : w.pad[k / 4 * 2 + k % 4 - 2]);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 8, pad);
  wick_emit_set_int(&e, "mode", mode);
  wick_value value = wick_emit_number(n->b, x, wick_import_real(n, "value", 0));
  wick_value y = wick_emit_end(&e, mode ? 1 : 2, (wick_value[]){x, value});
  n->out[0] = window_end(n, y, w.last);
}

void wick_caffe2_shuffle(wick_import_node *n)
{
  bool last;
  wick_value x = window_image(n, &last);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_channel_shuffle);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "groups", wick_import_int(n, "group", 1));
  n->out[0] = window_end(n, wick_emit_end1(&e, x), last);
}
