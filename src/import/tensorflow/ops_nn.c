/* Layers of networks. Images are [N, spatial..., C] unless data_format says otherwise; Wick's
 * operators take [N, C, spatial...], and transpositions between two of them cancel. */
#include <math.h>
#include <string.h>

#include "import/tensorflow/ops.h"

enum { NN_SPATIAL = 3 };

/* A window over the spatial axes. */
typedef struct nn_window {
  uint32_t n;
  bool last; /* channels are the last axis */
  int64_t kernel[NN_SPATIAL], stride[NN_SPATIAL], dilation[NN_SPATIAL];
  wick_dim pad[2 * NN_SPATIAL]; /* begins, then ends */
  bool constant;                /* the pads are numbers */
} nn_window;

static wick_dims *nn_dims(const wick_import_node *n) { return n->c->module->dims; }

wick_value wick_tf_channels_first(wick_import_node *n, wick_value x)
{
  if (n->b->status || !x.id) return (wick_value){0};
  uint32_t rank = wick_built_info(n->b, x)->rank;
  int64_t perm[WICK_MAX_RANK] = {0, rank - 1};
  for (uint32_t k = 2; k < rank; k++) perm[k] = k - 1;
  return wick_build_transpose(n->b, x, rank, perm);
}

wick_value wick_tf_channels_last(wick_import_node *n, wick_value x)
{
  if (n->b->status || !x.id) return (wick_value){0};
  uint32_t rank = wick_built_info(n->b, x)->rank;
  int64_t perm[WICK_MAX_RANK] = {0};
  for (uint32_t k = 1; k + 1 < rank; k++) perm[k] = k + 1;
  perm[rank - 1] = 1;
  return wick_build_transpose(n->b, x, rank, perm);
}

/* Does data_format put the channels last? */
bool wick_tf_is_channels_last(wick_import_node *n)
{
  const char *f = wick_import_text(n, "data_format", "NHWC");
  if (strcmp(f, "NHWC") == 0 || strcmp(f, "NDHWC") == 0) return true;
  if (strcmp(f, "NCHW") != 0 && strcmp(f, "NCDHW") != 0)
    wick_import_fail(n, WICK_EUNSUPPORTED, "the data_format is \"%s\"", wick_import_shown(n->c, f));
  return false;
}

/* Reads the entries of a list over all axes that belong to the spatial ones. */
static bool nn_list(wick_import_node *n, const nn_window *w, const char *name, int64_t *out)
{
  wick_import_attr a = wick_import_ints(n, name);
  uint32_t first = w->last ? 1 : 2;
  for (uint32_t k = 0; k < w->n; k++) out[k] = 1;
  if (!a.n) return true;
  if (a.n != w->n + 2) {
    wick_import_fail(n, WICK_EPARSE, "%s has %u numbers, expected %u", name, a.n, w->n + 2);
    return false;
  }
  for (uint32_t k = 0; k < w->n; k++) {
    out[k] = a.ints[first + k];
    if (out[k] >= 1 && out[k] <= 1 << 30) continue;
    wick_import_fail(n, WICK_ERANGE, "%s has %lld", name, (long long)out[k]);
    return false;
  }
  int64_t channel = a.ints[w->last ? w->n + 1 : 1];
  if (a.ints[0] == 1 && channel == 1) return true;
  wick_import_fail(n, WICK_EUNSUPPORTED, "%s is not 1 for the batch or the channels", name);
  return false;
}

/* The pads of one axis for SAME: enough for ceil(size / stride) positions, the larger half at the
 * end. */
static void nn_same(wick_import_node *n, nn_window *w, uint32_t k, wick_dim size)
{
  wick_dims *t = nn_dims(n);
  int64_t reach = (w->kernel[k] - 1) * w->dilation[k] + 1, stride = w->stride[k];
  wick_dim total;
  if (stride == 1) {
    total = wick_dim_const(reach - 1);
  } else {
    wick_dim count = wick_dim_floordiv(t, wick_dim_add(t, size, wick_dim_const(stride - 1)),
                                       wick_dim_const(stride));
    wick_dim last =
        wick_dim_mul(t, wick_dim_sub(t, count, wick_dim_const(1)), wick_dim_const(stride));
    wick_dim need = wick_dim_sub(t, wick_dim_add(t, last, wick_dim_const(reach)), size);
    total = wick_dim_max(t, need, wick_dim_const(0));
  }
  w->pad[k] = wick_dim_floordiv(t, total, wick_dim_const(2));
  w->pad[w->n + k] = wick_dim_sub(t, total, w->pad[k]);
}

/* Reads strides, dilations and padding for an image of these spatial sizes. */
static bool nn_window_read(wick_import_node *n, nn_window *w, const wick_dim *size)
{
  int padding = wick_import_word(n, "padding", "SAME VALID EXPLICIT");
  if (n->failed || !nn_list(n, w, "strides", w->stride) || !nn_list(n, w, "dilations", w->dilation))
    return false;
  wick_import_attr pads = wick_import_ints(n, "explicit_paddings");
  w->constant = true;
  if (padding == 2 && pads.n != 2 * (w->n + 2)) {
    wick_import_fail(n, WICK_EPARSE, "explicit_paddings has %u numbers, expected %u", pads.n,
                     2 * (w->n + 2));
    return false;
  }
  for (uint32_t k = 0; k < w->n; k++) {
    w->pad[k] = w->pad[w->n + k] = wick_dim_const(0);
    if (padding == 0) nn_same(n, w, k, size[k]);
    if (padding == 2) {
      uint32_t at = 2 * (k + (w->last ? 1 : 2));
      w->pad[k] = wick_dim_const(pads.ints[at]);
      w->pad[w->n + k] = wick_dim_const(pads.ints[at + 1]);
      if (pads.ints[at] < 0 || pads.ints[at + 1] < 0) {
        wick_import_fail(n, WICK_ERANGE, "explicit_paddings has a negative number");
        return false;
      }
    }
    w->constant =
        w->constant && wick_dim_is_const(w->pad[k]) && wick_dim_is_const(w->pad[w->n + k]);
  }
  return true;
}

/* Pads that depend on sizes are added by a node of their own. */
static wick_value nn_padded(wick_import_node *n, nn_window *w, wick_value x, double fill)
{
  wick_dim pad[2 * WICK_MAX_RANK];
  uint32_t rank = w->n + 2;
  if (w->constant) return x;
  for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
  for (uint32_t k = 0; k < w->n; k++) {
    pad[2 + k] = w->pad[k], pad[rank + 2 + k] = w->pad[w->n + k];
    w->pad[k] = w->pad[w->n + k] = wick_dim_const(0);
  }
  w->constant = true;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  return wick_emit_end2(&e, x, wick_emit_number(n->b, x, fill));
}

static void nn_set(wick_import_node *n, wick_emit *e, const nn_window *w)
{
  int64_t *pad = wick_new(n->c->tmp, int64_t, 2 * NN_SPATIAL);
  for (uint32_t k = 0; k < 2 * w->n; k++) pad[k] = w->pad[k].v;
  wick_emit_set_ints(e, "pad", 2 * w->n, pad);
  wick_emit_set_ints(e, "stride", w->n, w->stride);
  wick_emit_set_ints(e, "dilation", w->n, w->dilation);
}

static void nn_begin(wick_import_node *n, nn_window *w, uint32_t i, wick_dim *size)
{
  const wick_type_info *t = wick_import_info(n, i);
  *w = (nn_window){.n = t->rank - 2u, .last = wick_tf_is_channels_last(n)};
  for (uint32_t k = 0; k < w->n; k++) size[k] = t->dim[k + (w->last ? 1 : 2)];
}

/* The window's sizes are the first axes of the filter. */
static bool nn_kernel(wick_import_node *n, nn_window *w, uint32_t filter)
{
  const wick_type_info *t = wick_import_info(n, filter);
  if (t->rank != w->n + 2) {
    wick_import_fail(n, WICK_ETYPE, "the filter has rank %u, expected %u", t->rank, w->n + 2);
    return false;
  }
  for (uint32_t k = 0; k < w->n; k++) {
    if (!wick_dim_is_const(t->dim[k]) || t->dim[k].v < 1)
      return wick_import_must_be_known(n, "the filter's size", t->dim[k]);
    w->kernel[k] = t->dim[k].v;
  }
  return true;
}

/* Moves the last two axes of a filter to the front, in this order. */
static wick_value nn_filter(wick_import_node *n, const nn_window *w, wick_value f, uint32_t first,
                            uint32_t second)
{
  int64_t perm[WICK_MAX_RANK] = {w->n + first, w->n + second};
  for (uint32_t k = 0; k < w->n; k++) perm[2 + k] = k;
  return wick_build_transpose(n->b, f, w->n + 2, perm);
}

/* ---- convolutions ---- */

/* arg: every channel by itself; the filter is [spatial..., channels, multiplier] */
void wick_tf_import_conv(wick_import_node *n)
{
  nn_window w;
  wick_dim size[WICK_MAX_RANK];
  if (!wick_import_rank(n, 0, 3, 2 + NN_SPATIAL)) return;
  nn_begin(n, &w, 0, size);
  if (n->failed || !nn_kernel(n, &w, 1) || !nn_window_read(n, &w, size)) return;
  const wick_type_info f = *wick_import_info(n, 1), *t = wick_import_info(n, 0);
  wick_dim channels = t->dim[w.last ? w.n + 1 : 1], depth = f.dim[w.n];
  if (!wick_dim_is_const(channels)) {
    if (!n->row->arg || !wick_import_equal(n, channels, depth)) {
      wick_import_must_be_known(n, "the number of channels", channels);
      return;
    }
    channels = depth;
  }
  if (!wick_dim_is_const(depth) || depth.v < 1 || channels.v % depth.v != 0) {
    wick_import_fail(n, WICK_ETYPE, "the filter does not fit the %lld channels",
                     (long long)channels.v);
    return;
  }
  wick_value x = w.last ? wick_tf_channels_first(n, n->in[0]) : n->in[0], filter;
  int64_t group = n->row->arg ? channels.v : channels.v / depth.v;
  if (n->row->arg) {
    wick_dim dim[WICK_MAX_RANK] = {wick_dim_mul(nn_dims(n), depth, f.dim[w.n + 1]),
                                   wick_dim_const(1)};
    for (uint32_t k = 0; k < w.n; k++) dim[2 + k] = f.dim[k];
    filter = wick_build_reshape(n->b, nn_filter(n, &w, n->in[1], 0, 1), w.n + 2, dim);
  } else {
    filter = nn_filter(n, &w, n->in[1], 1, 0);
  }
  x = nn_padded(n, &w, x, 0);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_conv);
  nn_set(n, &e, &w);
  wick_emit_set_int(&e, "group", group);
  wick_value y = wick_emit_end2(&e, x, filter);
  n->out[0] = w.last ? wick_tf_channels_last(n, y) : y;
}

/* The gradient of a convolution by its input, which is a transposed convolution. arg: of a depthwise
 * one. Operands: the result's shape, the filter, x. */
void wick_tf_import_conv_transpose(wick_import_node *n)
{
  nn_window w;
  uint32_t count;
  const wick_dim *shape;
  wick_dim size[WICK_MAX_RANK], out[WICK_MAX_RANK];
  wick_dims *t = nn_dims(n);
  if (!wick_import_rank(n, 2, 3, 2 + NN_SPATIAL)) return;
  nn_begin(n, &w, 2, size);
  if (n->failed || !nn_kernel(n, &w, 1)) return;
  if (!wick_import_dims(n, 0, "the shape of the result", &count, &shape)) return;
  if (count != w.n + 2 && count != w.n) {
    wick_import_fail(n, WICK_ETYPE, "the shape of the result has %u numbers", count);
    return;
  }
  for (uint32_t k = 0; k < w.n; k++) out[k] = shape[k + (count == w.n ? 0 : w.last ? 1 : 2)];
  if (!nn_window_read(n, &w, out)) return;
  int64_t more[NN_SPATIAL];
  int padding = wick_import_word(n, "padding", "SAME VALID EXPLICIT");
  for (uint32_t k = 0; k < w.n; k++) {
    int64_t reach = (w.kernel[k] - 1) * w.dilation[k] + 1;
    wick_dim whole =
        wick_dim_mul(t, wick_dim_sub(t, size[k], wick_dim_const(1)), wick_dim_const(w.stride[k]));
    wick_dim rest = wick_dim_sub(t, wick_dim_add(t, whole, wick_dim_const(reach)), out[k]);
    if (!wick_dim_is_const(rest)) {
      wick_import_must_be_known(n, "a spatial size of the result", rest);
      return;
    }
    /* rest: what padding takes away; below 0: rows that no window reaches */
    int64_t total = rest.v > 0 ? rest.v : 0;
    if (padding == 0) {
      w.pad[k] = wick_dim_const(total / 2);
      w.pad[w.n + k] = wick_dim_const(total - total / 2);
    } else {
      total = w.pad[k].v + w.pad[w.n + k].v;
    }
    more[k] = total - rest.v;
    if (more[k] >= 0 && more[k] <= INT32_MAX) continue;
    wick_import_fail(n, WICK_ETYPE, "the shape of the result does not fit axis %u", k);
    return;
  }
  const wick_type_info f = *wick_import_info(n, 1);
  wick_value x = w.last ? wick_tf_channels_first(n, n->in[2]) : n->in[2], filter;
  int64_t group = 1;
  if (n->row->arg) { /* [spatial..., C, M] -> [C * M, 1, spatial...], in C groups */
    wick_dim dim[WICK_MAX_RANK] = {wick_dim_mul(t, f.dim[w.n], f.dim[w.n + 1]), wick_dim_const(1)};
    for (uint32_t k = 0; k < w.n; k++) dim[2 + k] = f.dim[k];
    filter = wick_build_reshape(n->b, nn_filter(n, &w, n->in[1], 0, 1), w.n + 2, dim);
    if (!wick_dim_is_const(f.dim[w.n])) return;
    group = f.dim[w.n].v;
  } else {
    filter = nn_filter(n, &w, n->in[1], 1, 0);
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_conv_transpose);
  nn_set(n, &e, &w);
  wick_emit_set_int(&e, "group", group);
  wick_emit_set_ints(&e, "output_pad", w.n, more);
  wick_value y = wick_emit_end2(&e, x, filter);
  n->out[0] = w.last ? wick_tf_channels_last(n, y) : y;
}

/* ---- pools ---- */

static bool nn_pool_window(wick_import_node *n, nn_window *w, wick_dim *size)
{
  if (!wick_import_rank(n, 0, 3, 2 + NN_SPATIAL)) return false;
  nn_begin(n, w, 0, size);
  if (n->failed) return false;
  if (n->nin < 3) return nn_list(n, w, "ksize", w->kernel) && nn_window_read(n, w, size);
  uint32_t count[2]; /* MaxPoolV2: the window's sizes and the strides are operands */
  const int64_t *list[2];
  if (!wick_import_numbers(n, 1, "the window's sizes", &count[0], &list[0]) ||
      !wick_import_numbers(n, 2, "the strides", &count[1], &list[1]))
    return false;
  if (count[0] != w->n + 2 || count[1] != w->n + 2) {
    wick_import_fail(n, WICK_ETYPE, "the window has not %u sizes", w->n + 2);
    return false;
  }
  int padding = wick_import_word(n, "padding", "SAME VALID");
  w->constant = true;
  for (uint32_t k = 0; k < w->n; k++) {
    w->kernel[k] = list[0][k + (w->last ? 1 : 2)], w->stride[k] = list[1][k + (w->last ? 1 : 2)];
    w->dilation[k] = 1;
    w->pad[k] = w->pad[w->n + k] = wick_dim_const(0);
    if (w->kernel[k] < 1 || w->stride[k] < 1) {
      wick_import_fail(n, WICK_ERANGE, "a size of the window or a stride is below 1");
      return false;
    }
    if (padding == 0) nn_same(n, w, k, size[k]);
    w->constant =
        w->constant && wick_dim_is_const(w->pad[k]) && wick_dim_is_const(w->pad[w->n + k]);
  }
  return !n->failed;
}

static wick_value nn_pool(wick_import_node *n, const nn_window *w, wick_value x)
{
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  nn_set(n, &e, w);
  wick_emit_set_ints(&e, "kernel", w->n, w->kernel);
  return wick_emit_end1(&e, x);
}

void wick_tf_import_pool(wick_import_node *n)
{
  nn_window w;
  wick_dim size[WICK_MAX_RANK];
  if (!nn_pool_window(n, &w, size)) return;
  wick_value x = w.last ? wick_tf_channels_first(n, n->in[0]) : n->in[0], y;
  if (w.constant) {
    y = nn_pool(n, &w, x);
  } else if (n->row->op == WICK_OP_max_pool) {
    bool is_float = wick_elem_is_float(wick_import_info(n, 0)->elem);
    x = nn_padded(n, &w, x, is_float ? (double)-INFINITY : -1e300);
    y = nn_pool(n, &w, x);
  } else { /* the mean of what is inside: by the mean of ones */
    nn_window same = w;
    wick_value ones = wick_build_const(n->b, wick_built_type(n->b, x), 1, 1);
    ones = nn_pool(n, &same, nn_padded(n, &same, ones, 0));
    x = nn_padded(n, &w, x, 0);
    y = wick_build2(n->b, WICK_OP_div, nn_pool(n, &w, x), ones);
  }
  n->out[0] = w.last ? wick_tf_channels_last(n, y) : y;
}

/* The largest elements and their positions in [N, H, W, C], or in each image. */
void wick_tf_import_max_pool_argmax(wick_import_node *n)
{
  nn_window w;
  wick_dim size[WICK_MAX_RANK];
  wick_elem e;
  wick_builder *b = n->b;
  if (!nn_pool_window(n, &w, size) || !wick_tf_attr_elem_or(n, "Targmax", WICK_I64, &e)) return;
  if (!w.constant || !w.last || w.n != 2) {
    wick_import_must_be_known(n, "the image's size", size[0]);
    return;
  }
  const wick_type_info info = *wick_import_info(n, 0);
  wick_value x = wick_tf_channels_first(n, n->in[0]);
  wick_emit p = wick_emit_begin(b, WICK_OP_max_pool);
  nn_set(n, &p, &w);
  wick_emit_set_ints(&p, "kernel", w.n, w.kernel);
  wick_emit_set_int(&p, "indices", 1);
  wick_attr attr[WICK_MAX_ATTR];
  memcpy(attr, p.attr, sizeof attr);
  wick_type want[2] = {{0}};
  (void)want;
  wick_value y = wick_build(b, WICK_OP_max_pool, 1, &x, attr, 0, NULL);
  if (b->status) return;
  wick_value at = {y.id + 1};
  /* the index counts [N, C, H, W]: taken apart and counted as [N, H, W, C] */
  wick_dims *t = nn_dims(n);
  wick_dim area = wick_dim_mul(t, size[0], size[1]), channels = info.dim[3];
  if (!wick_dim_is_const(area) || !wick_dim_is_const(channels) || area.v < 1 || channels.v < 1) {
    wick_import_must_be_known(n, "the image's size", area);
    return;
  }
  wick_value place = wick_emit_by(b, WICK_OP_mod, at, (double)area.v);
  wick_value plane = wick_emit_by(b, WICK_OP_div, at, (double)area.v);
  wick_value channel = wick_emit_by(b, WICK_OP_mod, plane, (double)channels.v);
  wick_value flat =
      wick_build2(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, place, (double)channels.v), channel);
  if (wick_import_int(n, "include_batch_in_index", 0)) {
    wick_value image = wick_emit_by(b, WICK_OP_div, plane, (double)channels.v);
    image = wick_emit_by(b, WICK_OP_mul, image, (double)(area.v * channels.v));
    flat = wick_build2(b, WICK_OP_add, flat, image);
  }
  n->out[0] = wick_tf_channels_last(n, y);
  if (n->nout > 1) n->out[1] = wick_build_cast(b, wick_tf_channels_last(n, flat), e);
}

/* ---- blocks of channels ---- */

/* [N, H, W, b*b*C] and [N, H*b, W*b, C]. TensorFlow counts the block before the channel, as Wick's
 * `dcr` does. */
void wick_tf_import_depth_space(wick_import_node *n)
{
  bool last = wick_tf_is_channels_last(n);
  if (n->failed || !wick_import_rank(n, 0, 4, 4)) return;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "block", wick_import_int(n, "block_size", 2));
  wick_value y = wick_emit_end1(&e, last ? wick_tf_channels_first(n, n->in[0]) : n->in[0]);
  n->out[0] = last ? wick_tf_channels_last(n, y) : y;
}

/* ---- windows as rows ---- */

/* Every element of the windows of x, as slices: [N, rows, columns, taps..., C] in the order of the
 * taps. */
static uint32_t nn_taps(wick_import_node *n, const nn_window *w, wick_value x, const wick_dim *out,
                        wick_value *tap)
{
  const wick_type_info t = *wick_built_info(n->b, x);
  uint32_t count = 0;
  wick_dim begin[4], shape[4] = {t.dim[0], out[0], out[1], t.dim[3]};
  int64_t step[4] = {1, w->stride[0], w->stride[1], 1};
  begin[0] = begin[3] = wick_dim_const(0);
  for (int64_t i = 0; i < w->kernel[0]; i++)
    for (int64_t k = 0; k < w->kernel[1]; k++) {
      begin[1] = wick_dim_const(i * w->dilation[0]), begin[2] = wick_dim_const(k * w->dilation[1]);
      tap[count++] = wick_build_slice(n->b, x, 4, begin, shape, step);
    }
  return count;
}

enum { NN_TAPS = 1024 };

/* Pads an image [N, H, W, C] for its window and counts the positions. False after a failure. */
static bool nn_image(wick_import_node *n, nn_window *w, double fill, wick_value *x, wick_dim *out)
{
  wick_dims *t = nn_dims(n);
  wick_dim pad[8], size[2];
  for (uint32_t k = 0; k < 8; k++) pad[k] = wick_dim_const(0);
  for (uint32_t k = 0; k < 2; k++) pad[1 + k] = w->pad[k], pad[5 + k] = w->pad[2 + k];
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 8, pad);
  *x = wick_emit_end2(&e, n->in[0], wick_emit_number(n->b, n->in[0], fill));
  if (n->b->status) return false;
  for (uint32_t k = 0; k < 2; k++) {
    int64_t reach = (w->kernel[k] - 1) * w->dilation[k] + 1;
    size[k] = wick_dim_sub(t, wick_built_info(n->b, *x)->dim[1 + k], wick_dim_const(reach));
    out[k] = wick_dim_add(t, wick_dim_floordiv(t, size[k], wick_dim_const(w->stride[k])),
                          wick_dim_const(1));
  }
  if (w->kernel[0] <= NN_TAPS && w->kernel[0] * w->kernel[1] <= NN_TAPS) return true;
  wick_import_fail(n, WICK_ELIMIT, "a window of more than %d elements", NN_TAPS);
  return false;
}

/* max over the window of x + filter */
void wick_tf_import_dilation(wick_import_node *n)
{
  nn_window w = {.n = 2, .last = true};
  wick_dim out[2];
  wick_value x;
  const wick_type_info f = *wick_import_info(n, 1);
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 3, 3)) return;
  for (uint32_t k = 0; k < 2; k++) {
    if (!wick_dim_is_const(f.dim[k])) {
      wick_import_must_be_known(n, "the filter's size", f.dim[k]);
      return;
    }
    w.kernel[k] = f.dim[k].v;
  }
  if (!nn_list(n, &w, "rates", w.dilation)) return;
  int64_t rates[2] = {w.dilation[0], w.dilation[1]};
  int padding = wick_import_word(n, "padding", "SAME VALID");
  if (n->failed || !nn_list(n, &w, "strides", w.stride)) return;
  w.dilation[0] = rates[0], w.dilation[1] = rates[1];
  for (uint32_t k = 0; k < 2; k++) {
    w.pad[k] = w.pad[2 + k] = wick_dim_const(0);
    if (padding == 0) nn_same(n, &w, k, wick_import_info(n, 0)->dim[1 + k]);
  }
  if (!nn_image(n, &w, (double)-INFINITY, &x, out)) return;
  wick_value *tap = wick_new(n->c->tmp, wick_value, NN_TAPS), y = {0};
  uint32_t count = nn_taps(n, &w, x, out, tap);
  wick_dim rows = wick_dim_const(count);
  wick_value filter = wick_build_reshape(n->b, n->in[1], 2, (wick_dim[]){rows, f.dim[2]});
  for (uint32_t k = 0; k < count; k++) {
    wick_value add = wick_emit_slice(n->b, filter, 0, wick_dim_const(k), wick_dim_const(1));
    add = wick_build2(n->b, WICK_OP_add, tap[k], wick_emit_squeeze(n->b, add, 0));
    y = k ? wick_build2(n->b, WICK_OP_max, y, add) : add;
  }
  n->out[0] = y;
}

void wick_tf_import_image_patches(wick_import_node *n)
{
  nn_window w = {.n = 2, .last = true};
  wick_dim out[2];
  wick_value x;
  if (!wick_import_rank(n, 0, 4, 4) || !nn_list(n, &w, "ksizes", w.kernel) ||
      !nn_list(n, &w, "strides", w.stride) || !nn_list(n, &w, "rates", w.dilation))
    return;
  int padding = wick_import_word(n, "padding", "SAME VALID");
  for (uint32_t k = 0; k < 2 && !n->failed; k++) {
    w.pad[k] = w.pad[2 + k] = wick_dim_const(0);
    if (padding == 0) nn_same(n, &w, k, wick_import_info(n, 0)->dim[1 + k]);
  }
  if (n->failed || !nn_image(n, &w, 0, &x, out)) return;
  wick_value *tap = wick_new(n->c->tmp, wick_value, NN_TAPS);
  uint32_t count = nn_taps(n, &w, x, out, tap);
  n->out[0] = count == 1 ? tap[0] : wick_build_concat(n->b, 3, count, tap);
}
