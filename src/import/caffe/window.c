/* Imports Caffe's layers on images that slide windows over them or change their sizes. */
#include <float.h>
#include <math.h>

#include "import/caffe/ops.h"
#include "import/kit/array.h"

enum { WINDOW_MOST = 3, POOL_MAX = 0, POOL_AVE, POOL_STOCHASTIC };

typedef struct window {
  uint32_t n; /* spatial dimensions */
  int64_t kernel[WINDOW_MOST], stride[WINDOW_MOST], dilation[WINDOW_MOST], pad[2 * WINDOW_MOST];
} window;

/* ---- windows ---- */

/* Reads `name`, once or for each dimension, or `short`_h and `short`_w. */
static bool window_numbers(wick_import_node *n, const char *name, const char *brief, uint32_t count,
                           int64_t otherwise, int64_t least, int64_t *out)
{
  static const char *const ends[] = {"_h", "_w"};
  wick_import_attr list = wick_import_ints(n, name);
  if (list.n > 1 && list.n != count) {
    wick_import_fail(n, WICK_EPARSE, "%s has %u numbers, expected 1 or %u", name, list.n, count);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) {
    out[k] = list.n == 1 ? list.ints[0] : list.n ? list.ints[k] : otherwise;
    if (count == 2)
      out[k] = wick_import_int(n, wick_str_printf(n->c->tmp, "%s%s", brief, ends[k]), out[k]);
    if (out[k] < least || out[k] > INT32_MAX / 4) {
      wick_import_fail(n, WICK_ERANGE, "%s is %lld, expected %lld or more", name, (long long)out[k],
                       (long long)least);
      return false;
    }
  }
  return true;
}

static bool window_read(wick_import_node *n, window *w)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  w->n = rank > 2 ? rank - 2u : 0;
  if (w->n < 1 || w->n > WINDOW_MOST) {
    wick_import_fail(n, WICK_ETYPE, "the image has rank %u, expected 3 to 5", rank);
    return false;
  }
  for (uint32_t k = 0; k < w->n; k++) w->dilation[k] = 1;
  if (!window_numbers(n, "stride", "stride", w->n, 1, 1, w->stride) ||
      !window_numbers(n, "pad", "pad", w->n, 0, 0, w->pad))
    return false;
  for (uint32_t k = 0; k < w->n; k++) w->pad[w->n + k] = w->pad[k];
  return true;
}

static void window_set(wick_emit *e, const window *w)
{
  wick_emit_set_ints(e, "stride", w->n, w->stride);
  wick_emit_set_ints(e, "pad", 2 * w->n, w->pad);
  wick_emit_set_ints(e, "dilation", w->n, w->dilation);
}

/* ---- convolutions ---- */

/* The weights are [outputs, inputs / group, window...]; of a transposed convolution
 * [inputs, outputs / group, window...]. */
void wick_caffe_conv(wick_import_node *n)
{
  enum { TRANSPOSED = 1, DEPTHWISE };
  window w = {0};
  uint32_t axis;
  int64_t outputs = wick_import_int(n, "num_output", 0), group = wick_import_int(n, "group", 1);
  if (!wick_caffe_axis(n, "axis", 1, &axis) || !window_read(n, &w) ||
      !window_numbers(n, "kernel_size", "kernel", w.n, 0, 1, w.kernel) ||
      !window_numbers(n, "dilation", "dilation", w.n, 1, 1, w.dilation))
    return;
  if (n->row->arg == DEPTHWISE) group = outputs;
  if (axis != 1 || outputs < 1 || outputs > INT32_MAX || group < 1 || outputs % group) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "axis %u, num_output %lld and group %lld do not fit",
                     axis, (long long)outputs, (long long)group);
    return;
  }
  bool transposed = n->row->arg == TRANSPOSED;
  int64_t dim[2 + WINDOW_MOST] = {transposed ? -1 : outputs, transposed ? outputs / group : -1};
  for (uint32_t k = 0; k < w.n; k++) dim[2 + k] = w.kernel[k];
  wick_value weight = wick_caffe_weight(n, 0, 2 + w.n, dim), bias = {0};
  bool biased = wick_import_int(n, "bias_term", 1) != 0;
  if (biased && !n->failed) bias = wick_caffe_weight(n, 1, 1, &outputs);
  if (n->failed) return;
  wick_emit e = wick_emit_begin(n->b, transposed ? WICK_OP_conv_transpose : WICK_OP_conv);
  window_set(&e, &w);
  wick_emit_set_int(&e, "group", group);
  n->out[0] = wick_emit_end(&e, biased ? 3 : 2, (wick_value[]){n->in[0], weight, bias});
}

/* ---- pools ---- */

static wick_value window_pooled(wick_import_node *n, wick_value x, wick_opcode op, const window *w,
                                bool ceil)
{
  wick_emit e = wick_emit_begin(n->b, op);
  window_set(&e, w);
  wick_emit_set_ints(&e, "kernel", w->n, w->kernel);
  wick_emit_set_int(&e, "ceil", ceil);
  if (op == WICK_OP_avg_pool) wick_emit_set_int(&e, "count_pad", 1);
  return wick_emit_end1(&e, x);
}

static wick_value window_pool(wick_import_node *n, wick_value x, int64_t method, const window *w,
                              bool ceil)
{
  wick_builder *b = n->b;
  if (method == POOL_MAX) return window_pooled(n, x, WICK_OP_max_pool, w, ceil);
  if (method == POOL_AVE) return window_pooled(n, x, WICK_OP_avg_pool, w, ceil);
  if (method != POOL_STOCHASTIC) {
    wick_import_fail(n, WICK_EPARSE, "there is no pooling method %lld", (long long)method);
    return (wick_value){0};
  }
  /* The expected value of an element that is drawn with its own size as probability. */
  wick_value square = wick_build2(b, WICK_OP_mul, x, x);
  square = window_pooled(n, square, WICK_OP_avg_pool, w, ceil);
  wick_value sum = window_pooled(n, x, WICK_OP_avg_pool, w, ceil);
  return wick_build2(b, WICK_OP_div, square, wick_emit_by(b, WICK_OP_add, sum, (double)FLT_MIN));
}

/* Windows longer than the padded image, or beyond it, have no elements in Caffe. */
static bool window_check(wick_import_node *n, const window *w)
{
  const wick_type_info *t = wick_import_info(n, 0);
  for (uint32_t k = 0; k < w->n; k++) {
    if (w->pad[k] >= w->kernel[k]) {
      wick_import_fail(n, WICK_ERANGE, "pad %lld is not below the kernel's size %lld",
                       (long long)w->pad[k], (long long)w->kernel[k]);
      return false;
    }
    if (w->pad[k] || w->stride[k] <= w->kernel[k]) continue;
    if (!wick_dim_is_const(t->dim[2 + k]))
      return wick_import_must_be_known(n, "the image's size", t->dim[2 + k]);
    int64_t rest = (t->dim[2 + k].v - w->kernel[k]) % w->stride[k];
    if (rest > 0 && rest <= w->stride[k] - w->kernel[k]) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "its last window begins after the image's end");
      return false;
    }
  }
  return true;
}

/* The positions of the largest elements within each channel's image, as floats. */
static wick_value window_mask(wick_import_node *n, wick_value index, wick_value like)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_dim area = wick_array_product(n, t->rank - 2, t->dim + 2);
  wick_value size = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, area));
  index = wick_build2(n->b, WICK_OP_mod, index, size);
  return n->b->status ? index : wick_build_cast(n->b, index, wick_built_info(n->b, like)->elem);
}

void wick_caffe_pool(wick_import_node *n)
{
  window w = {0};
  int64_t method = wick_import_int(n, "pool", POOL_MAX);
  bool ceil = wick_import_int(n, "round_mode", 0) == 0 && wick_import_int(n, "ceil_mode", 1) != 0;
  if (!window_read(n, &w)) return;
  if (wick_import_int(n, "global_pooling", 0)) {
    const wick_type_info *t = wick_import_info(n, 0);
    w = (window){.n = w.n};
    for (uint32_t k = 0; k < w.n; k++) {
      if (!wick_dim_is_const(t->dim[2 + k])) {
        wick_import_must_be_known(n, "the image's size", t->dim[2 + k]);
        return;
      }
      w.kernel[k] = t->dim[2 + k].v, w.stride[k] = w.dilation[k] = 1;
    }
  } else if (!window_numbers(n, "kernel_size", "kernel", w.n, 0, 1, w.kernel) ||
             !window_check(n, &w)) {
    return;
  }
  if (n->nout < 2) {
    n->out[0] = window_pool(n, n->in[0], method, &w, ceil);
    return;
  }
  if (method != POOL_MAX) {
    wick_import_fail(n, WICK_EPARSE, "only max pooling has a second output");
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_max_pool);
  window_set(&e, &w);
  wick_emit_set_ints(&e, "kernel", w.n, w.kernel);
  wick_emit_set_int(&e, "ceil", ceil);
  wick_emit_set_int(&e, "indices", 1);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
  if (n->b->status) return;
  n->out[1] = window_mask(n, (wick_value){n->out[0].id + 1}, n->out[0]);
}

/* Pools into 1, 4, 16 ... bins, one after the other. */
void wick_caffe_spp(wick_import_node *n)
{
  int64_t height = wick_import_int(n, "pyramid_height", 0),
          method = wick_import_int(n, "pool", POOL_MAX);
  wick_value part[16];
  if (!wick_import_rank(n, 0, 4, 4)) return;
  if (height < 1 || height > 16) {
    wick_import_fail(n, WICK_ERANGE, "pyramid_height is %lld, expected 1 to 16", (long long)height);
    return;
  }
  for (uint32_t level = 0; level < height; level++) {
    window w = {.n = 2, .dilation = {1, 1}};
    for (uint32_t k = 0; k < 2; k++) {
      wick_dim size = wick_import_info(n, 0)->dim[2 + k];
      if (!wick_dim_is_const(size)) {
        wick_import_must_be_known(n, "the image's size", size);
        return;
      }
      int64_t bins = (int64_t)1 << level;
      if (bins > size.v) {
        wick_import_fail(n, WICK_ERANGE, "%lld bins do not fit a size of %lld", (long long)bins,
                         (long long)size.v);
        return;
      }
      w.kernel[k] = w.stride[k] = (size.v + bins - 1) / bins;
      w.pad[k] = w.pad[2 + k] = (w.kernel[k] * bins - size.v + 1) / 2;
    }
    part[level] = window_pool(n, n->in[0], method, &w, true);
    if (height > 1) part[level] = wick_array_matrix(n, part[level], 1);
  }
  if (!n->failed)
    n->out[0] = height > 1 ? wick_build_concat(n->b, 1, (uint32_t)height, part) : part[0];
}

/* ---- local response normalization ---- */

void wick_caffe_lrn(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t size = wick_import_int(n, "local_size", 5);
  double alpha = wick_import_real(n, "alpha", 1), beta = wick_import_real(n, "beta", 0.75);
  if (size < 1 || size % 2 == 0 || size > INT32_MAX / 4) {
    wick_import_fail(n, WICK_ERANGE, "local_size is %lld, expected an odd number", (long long)size);
    return;
  }
  if (!wick_import_int(n, "norm_region", 0)) {
    wick_emit e = wick_emit_begin(b, WICK_OP_lrn);
    wick_emit_set_int(&e, "size", size);
    wick_emit_set_float(&e, "alpha", alpha);
    wick_emit_set_float(&e, "beta", beta);
    wick_emit_set_float(&e, "bias", wick_import_real(n, "k", 1));
    n->out[0] = wick_emit_end1(&e, n->in[0]);
    return;
  }
  /* Within a channel: x * (1 + alpha * mean of squares)^-beta; k does not count. */
  window w = {.n = 2, .stride = {1, 1}, .dilation = {1, 1}, .kernel = {size, size}};
  for (uint32_t k = 0; k < 4; k++) w.pad[k] = (size - 1) / 2;
  if (!wick_import_rank(n, 0, 4, 4)) return;
  wick_value y = wick_build2(b, WICK_OP_mul, n->in[0], n->in[0]);
  y = wick_emit_by(b, WICK_OP_mul, window_pooled(n, y, WICK_OP_avg_pool, &w, true), alpha);
  y = wick_emit_by(b, WICK_OP_pow, wick_emit_by(b, WICK_OP_add, y, 1), -beta);
  n->out[0] = wick_build2(b, WICK_OP_mul, n->in[0], y);
}

/* ---- sizes ---- */

static wick_value window_resized(wick_import_node *n, wick_value x, const int64_t *size,
                                 bool linear)
{
  enum { NEAREST, LINEAR, CORNERS = 3, ASYMMETRIC = 4, FLOOR = 2 };
  if (n->b->status) return x;
  const wick_type_info *t = wick_built_info(n->b, x);
  const wick_dim shape[4] = {t->dim[0], t->dim[1], wick_dim_const(size[0]),
                             wick_dim_const(size[1])};
  wick_emit e = wick_emit_begin(n->b, WICK_OP_resize);
  wick_emit_set_dims(&e, "shape", 4, shape);
  wick_emit_set_int(&e, "mode", linear ? LINEAR : NEAREST);
  wick_emit_set_int(&e, "coordinates", linear ? CORNERS : ASYMMETRIC);
  if (!linear) wick_emit_set_int(&e, "nearest", FLOOR);
  return wick_emit_end1(&e, x);
}

static bool window_size(wick_import_node *n, uint32_t i, int64_t *size)
{
  const wick_type_info *t = wick_import_info(n, i);
  if (!wick_import_rank(n, i, 4, 4)) return false;
  for (uint32_t k = 0; k < 2; k++) {
    if (!wick_dim_is_const(t->dim[2 + k]))
      return wick_import_must_be_known(n, "the image's size", t->dim[2 + k]);
    size[k] = t->dim[2 + k].v;
  }
  return true;
}

/* Linear between the corners. Negative pads crop; the size is given, follows from factors, or is that
 * of a second input. */
void wick_caffe_interp(wick_import_node *n)
{
  static const char *const sides[] = {"height", "width"};
  int64_t size[2], to[2],
      zoom = wick_import_int(n, "zoom_factor", 1), shrink = wick_import_int(n, "shrink_factor", 1),
      pad[2] = {wick_import_int(n, "pad_beg", 0), wick_import_int(n, "pad_end", 0)};
  wick_value x = n->in[0];
  if (!window_size(n, 0, size)) return;
  if (zoom < 1 || zoom > 1 << 20 || shrink < 1 || pad[0] > 0 || pad[1] > 0 || pad[0] < -(1 << 30) ||
      pad[1] < -(1 << 30)) {
    wick_import_fail(n, WICK_ERANGE, "its factors or pads are out of range");
    return;
  }
  for (uint32_t k = 0; k < 2; k++) {
    wick_dim from = wick_dim_const(-pad[0]);
    size[k] += pad[0] + pad[1];
    if (size[k] < 1) {
      wick_import_fail(n, WICK_ERANGE, "its pads leave nothing of the image");
      return;
    }
    if (pad[0] || pad[1]) x = wick_emit_slice(n->b, x, 2 + k, from, wick_dim_const(size[k]));
    to[k] = (size[k] - 1) / shrink + 1;
    to[k] = to[k] + (to[k] - 1) * (zoom - 1);
    to[k] = wick_import_int(n, sides[k], to[k]);
  }
  if (n->nin > 1 && !window_size(n, 1, to)) return;
  if (to[0] < 1 || to[1] < 1 || to[0] > 1 << 20 || to[1] > 1 << 20) {
    wick_import_fail(n, WICK_ERANGE, "the new size is %lld x %lld", (long long)to[0],
                     (long long)to[1]);
    return;
  }
  n->out[0] = window_resized(n, x, to, true);
}

/* Writes elements to their positions in larger images; all other elements are 0. */
static wick_value window_placed(wick_import_node *n, const int64_t *size)
{
  wick_builder *b = n->b;
  const wick_type_info *t = wick_import_info(n, 0);
  wick_dims *d = n->c->module->dims;
  wick_dim rows = wick_dim_mul(d, t->dim[0], t->dim[1]),
           from = wick_dim_mul(d, t->dim[2], t->dim[3]), area = wick_dim_const(size[0] * size[1]);
  const wick_dim small[2] = {rows, from}, large[2] = {rows, area};
  const wick_dim out[4] = {t->dim[0], t->dim[1], wick_dim_const(size[0]), wick_dim_const(size[1])};
  wick_value x = wick_build_reshape(b, n->in[0], 2, small);
  wick_value at = wick_build_reshape(b, wick_build_cast(b, n->in[1], WICK_I64), 2, small);
  wick_value zero = wick_emit_expand(b, wick_emit_number(b, n->in[0], 0), 2, large);
  wick_emit e = wick_emit_begin(b, WICK_OP_scatter_elements);
  wick_emit_set_int(&e, "axis", 1);
  wick_value y = wick_emit_end(&e, 3, (wick_value[]){zero, at, x});
  return wick_build_reshape(b, y, 4, out);
}

/* With one input: nearest elements. With two: SegNet's, which puts elements back where a max pool
 * found them. */
void wick_caffe_upsample(wick_import_node *n)
{
  static const char *const scales[] = {"scale_h", "scale_w"},
                           *const pads[] = {"pad_out_h", "pad_out_w"},
                           *const sizes[] = {"upsample_h", "upsample_w"};
  int64_t size[2];
  if (!window_size(n, 0, size)) return;
  for (uint32_t k = 0; k < 2; k++) {
    int64_t scale = wick_import_int(n, scales[k], wick_import_int(n, "scale", 2)),
            less = wick_import_int(n, pads[k], 0);
    if (scale < 1 || scale > 1024 || less < 0 || less > scale || size[k] > 1 << 20) {
      wick_import_fail(n, WICK_ERANGE, "%s is %lld", scales[k], (long long)scale);
      return;
    }
    size[k] = wick_import_int(n, sizes[k], size[k] * scale - less);
    if (size[k] < 1 || size[k] > 1 << 20) {
      wick_import_fail(n, WICK_ERANGE, "%s is %lld", sizes[k], (long long)size[k]);
      return;
    }
  }
  n->out[0] = n->nin > 1 ? window_placed(n, size) : window_resized(n, n->in[0], size, false);
}

/* Zeros around an image: a layer of its own before pads were part of convolutions. */
void wick_caffe_padding(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  int64_t pad = wick_import_int(n, "pad", 0);
  wick_dim side[WICK_MAX_RANK];
  if (pad < 0 || pad > INT32_MAX / 4) {
    wick_import_fail(n, WICK_ERANGE, "pad is %lld", (long long)pad);
    return;
  }
  for (uint32_t k = 0; k < rank; k++) side[k] = wick_dim_const(k < 2 ? 0 : pad);
  n->out[0] = wick_array_pad(n, n->in[0], side, side, (wick_value){0});
}
