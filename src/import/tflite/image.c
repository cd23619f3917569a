/* Convolutions, pools, resizes: images with the channels last. */
#include "import/kit/nhwc.h"
#include "import/tflite/ops.h"
#include "import/tflite/quantized.h"

static bool image_window(wick_import_node *n, wick_nhwc_window *w, const wick_dim *size,
                         int64_t padding)
{
  if (!wick_nhwc_window_check(n, w)) return false;
  wick_nhwc_pad(n->c, w, size, padding == 0 ? WICK_NHWC_SAME : WICK_NHWC_VALID);
  return true;
}

/* A window without padding may reach beyond an image by less than its stride: LiteRT divides
 * (size + stride - reach) by the stride, rounds towards zero, and has an empty result. Returns whether
 * result 0 was made so, for an image of operand 0 with that number of channels in the result. */
static bool image_is_empty(wick_import_node *n, const wick_nhwc_window *w, wick_dim channels)
{
  wick_builder *b = n->b;
  wick_dims *t = n->c->module->dims;
  const wick_type_info x = *wick_import_info(n, 0);
  wick_dim dim[WICK_MAX_RANK] = {x.dim[0]};
  bool empty = false;
  for (uint32_t k = 0; k < w->n; k++) {
    wick_dim have = wick_dim_add(t, x.dim[1 + k], wick_dim_add(t, w->before[k], w->after[k]));
    wick_dim reach = wick_dim_const((w->kernel[k] - 1) * w->dilation[k] + 1),
             stride = wick_dim_const(w->stride[k]);
    wick_dim room = wick_dim_sub(t, wick_dim_add(t, have, stride), reach);
    if (wick_dim_is_const(room) && room.v <= -w->stride[k]) return false; /* refused later */
    dim[1 + k] = wick_dim_floordiv(t, wick_dim_max(t, room, wick_dim_const(0)), stride);
    empty = empty || wick_dim_is(dim[1 + k], 0);
  }
  if (!empty || b->status) return false;
  dim[1 + w->n] = channels;
  wick_elem e = wick_tflite_out(n, 0)->elem;
  wick_value zero = wick_build_const(b, wick_type_tensor(b->module, e, 0, NULL), 0, 0);
  n->out[0] = wick_emit_expand(b, zero, 2 + w->n, dim);
  return true;
}

/* Sets a window's size from the weights; they are known but for unusual models. */
static bool image_kernel(wick_import_node *n, uint32_t first, wick_nhwc_window *w)
{
  const wick_type_info *t = wick_import_info(n, 1);
  for (uint32_t i = 0; i < w->n; i++) {
    if (!wick_dim_is_const(t->dim[first + i]))
      return wick_import_must_be_known(n, "the size of the kernel", t->dim[first + i]);
    w->kernel[i] = t->dim[first + i].v;
  }
  return true;
}

/* Fields: padding 0, stride_w 1, stride_h 2; dilations at `dilation` (w, h). */
static bool image_window_2d(wick_import_node *n, uint32_t dilation, wick_nhwc_window *w)
{
  *w = wick_nhwc_window_of(2);
  w->stride[0] = wick_tflite_i32(n, 2, 0), w->stride[1] = wick_tflite_i32(n, 1, 0);
  w->dilation[0] = wick_tflite_i32(n, dilation + 1, 1);
  w->dilation[1] = wick_tflite_i32(n, dilation, 1);
  return image_kernel(n, 1, w) &&
         image_window(n, w, wick_import_info(n, 0)->dim + 1, wick_tflite_byte(n, 0));
}

static wick_value image_bias(const wick_import_node *n)
{
  return wick_import_has(n, 2) ? n->in[2] : (wick_value){0};
}

static void image_conv(wick_import_node *n)
{
  wick_nhwc_window w;
  static const int64_t perm[] = {0, 3, 1, 2};
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 4, 4) || !image_window_2d(n, 4, &w))
    return;
  wick_dim have = wick_import_info(n, 0)->dim[3], take = wick_import_info(n, 1)->dim[3];
  int64_t group = 1;
  if (wick_dim_is_const(have) && wick_dim_is_const(take) && take.v > 0) group = have.v / take.v;
  if (group < 1) group = 1;
  if (image_is_empty(n, &w, wick_import_info(n, 1)->dim[0])) return;
  if (wick_tflite_quantized_conv(n, perm, &w, group, wick_tflite_byte(n, 3))) return;
  wick_value y = wick_nhwc_conv(n, n->in[0], n->in[1], perm, image_bias(n), &w, group);
  n->out[0] = wick_tflite_activate(n, y, wick_tflite_byte(n, 3));
}

static void image_depthwise(wick_import_node *n)
{
  wick_nhwc_window w;
  static const int64_t perm[] = {3, 0, 1, 2};
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 4, 4) || !image_window_2d(n, 5, &w))
    return;
  wick_dim have = wick_import_info(n, 0)->dim[3];
  if (!wick_dim_is_const(have)) {
    wick_import_must_be_known(n, "the number of channels", have);
    return;
  }
  if (image_is_empty(n, &w, wick_import_info(n, 1)->dim[3])) return;
  if (wick_tflite_quantized_conv(n, perm, &w, have.v, wick_tflite_byte(n, 4))) return;
  wick_value y = wick_nhwc_conv(n, n->in[0], n->in[1], perm, image_bias(n), &w, have.v);
  n->out[0] = wick_tflite_activate(n, y, wick_tflite_byte(n, 4));
}

/* Fields: padding 0, stride d w h 1 2 3, activation 4, dilation d w h 5 6 7. Weights D H W I O. */
static bool image_window_3d(wick_import_node *n, wick_nhwc_window *w)
{
  *w = wick_nhwc_window_of(3);
  w->stride[0] = wick_tflite_i32(n, 1, 0);
  w->stride[1] = wick_tflite_i32(n, 3, 0), w->stride[2] = wick_tflite_i32(n, 2, 0);
  w->dilation[0] = wick_tflite_i32(n, 5, 1);
  w->dilation[1] = wick_tflite_i32(n, 7, 1), w->dilation[2] = wick_tflite_i32(n, 6, 1);
  return image_kernel(n, 0, w) && wick_nhwc_window_check(n, w);
}

static void image_conv_3d(wick_import_node *n)
{
  wick_nhwc_window w;
  static const int64_t perm[] = {4, 3, 0, 1, 2};
  if (!wick_import_rank(n, 0, 5, 5) || !wick_import_rank(n, 1, 5, 5) || !image_window_3d(n, &w) ||
      !image_window(n, &w, wick_import_info(n, 0)->dim + 1, wick_tflite_byte(n, 0)))
    return;
  if (image_is_empty(n, &w, wick_import_info(n, 1)->dim[4])) return;
  wick_value y = wick_nhwc_conv(n, n->in[0], n->in[1], perm, image_bias(n), &w, 1);
  n->out[0] = wick_tflite_activate(n, y, wick_tflite_byte(n, 4));
}

/* The padding is that of the convolution that leads from the result's size to the input's. */
static bool image_transposed(wick_import_node *n, uint32_t rank, int64_t padding,
                             wick_nhwc_window *w, const wick_dim **out_size)
{
  wick_dims *t = n->c->module->dims;
  const wick_dim *shape;
  uint32_t nshape;
  if (!wick_import_dims(n, 0, "the output shape", &nshape, &shape)) return false;
  if (nshape != rank) {
    wick_import_fail(n, WICK_ETYPE, "the output shape has %u numbers, expected %u", nshape, rank);
    return false;
  }
  const wick_dim *in = wick_import_info(n, 2)->dim + 1;
  for (uint32_t i = 0; i < w->n && padding == 0; i++) {
    wick_dim last = wick_dim_sub(t, in[i], wick_dim_const(1));
    wick_dim reach = wick_dim_add(t, wick_dim_mul(t, last, wick_dim_const(w->stride[i])),
                                  wick_dim_const((w->kernel[i] - 1) * w->dilation[i] + 1));
    wick_dim total = wick_dim_max(t, wick_dim_sub(t, reach, shape[1 + i]), wick_dim_const(0));
    w->before[i] = wick_dim_floordiv(t, total, wick_dim_const(2));
  }
  *out_size = shape + 1;
  return true;
}

static void image_transpose_conv(wick_import_node *n)
{
  static const int64_t perm[] = {3, 0, 1, 2};
  wick_nhwc_window w = wick_nhwc_window_of(2);
  const wick_dim *size;
  w.stride[0] = wick_tflite_i32(n, 2, 0), w.stride[1] = wick_tflite_i32(n, 1, 0);
  if (!wick_import_rank(n, 1, 4, 4) || !wick_import_rank(n, 2, 4, 4) || !image_kernel(n, 1, &w) ||
      !wick_nhwc_window_check(n, &w) || !image_transposed(n, 4, wick_tflite_byte(n, 0), &w, &size))
    return;
  if (wick_tflite_quantized_transpose_conv(n, perm, &w, size)) return;
  wick_value bias = wick_import_has(n, 3) ? n->in[3] : (wick_value){0};
  wick_value y = wick_nhwc_conv_transpose(n, n->in[2], n->in[1], perm, bias, &w, size, 1);
  n->out[0] = wick_tflite_activate(n, y, wick_tflite_byte(n, 3));
}

static void image_transpose_conv_3d(wick_import_node *n)
{
  static const int64_t perm[] = {4, 3, 0, 1, 2};
  wick_nhwc_window w;
  const wick_dim *size;
  if (!wick_import_rank(n, 1, 5, 5) || !wick_import_rank(n, 2, 5, 5) || !image_window_3d(n, &w) ||
      !image_transposed(n, 5, wick_tflite_byte(n, 0), &w, &size))
    return;
  wick_value bias = wick_import_has(n, 3) ? n->in[3] : (wick_value){0};
  wick_value y = wick_nhwc_conv_transpose(n, n->in[2], n->in[1], perm, bias, &w, size, 1);
  n->out[0] = wick_tflite_activate(n, y, wick_tflite_byte(n, 4));
}

/* Fields: padding 0, stride_w 1, stride_h 2, filter width 3, height 4, activation 5. */
static void image_pool(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_nhwc_window w = wick_nhwc_window_of(2);
  w.stride[0] = wick_tflite_i32(n, 2, 0), w.stride[1] = wick_tflite_i32(n, 1, 0);
  w.kernel[0] = wick_tflite_i32(n, 4, 0), w.kernel[1] = wick_tflite_i32(n, 3, 0);
  if (!wick_import_rank(n, 0, 4, 4) ||
      !image_window(n, &w, wick_import_info(n, 0)->dim + 1, wick_tflite_byte(n, 0)))
    return;
  if (image_is_empty(n, &w, wick_import_info(n, 0)->dim[3])) return;
  if (wick_tflite_quantized_pool(n, &w)) return;
  wick_value x = n->in[0];
  bool l2 = n->row->arg;
  if (l2) x = wick_build2(b, WICK_OP_mul, x, x);
  wick_value y = wick_nhwc_pool(n, n->row->op, x, &w);
  if (l2) y = wick_build1(b, WICK_OP_sqrt, y);
  n->out[0] = wick_tflite_activate(n, y, wick_tflite_byte(n, 5));
}

/* Words of the operator resize. */
enum { NEAREST, LINEAR };
enum { HALF_PIXEL = 0, ALIGN_CORNERS = 3, ASYMMETRIC = 4, TF_HALF_PIXEL = 6 };
enum { PREFER_CEIL = 1, FLOOR = 2 };

static bool image_size(wick_import_node *n, const wick_dim **size)
{
  uint32_t count;
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_dims(n, 1, "the size", &count, size))
    return false;
  if (count == 2) return true;
  wick_import_fail(n, WICK_ETYPE, "the size has %u numbers, expected 2", count);
  return false;
}

static void image_bilinear(wick_import_node *n)
{
  const wick_dim *size;
  bool align = wick_tflite_byte(n, 2), half = wick_tflite_byte(n, 3);
  if (!image_size(n, &size) || wick_tflite_quantized_bilinear(n, size, align, half)) return;
  n->out[0] = wick_nhwc_resize(n, n->in[0], size, LINEAR,
                               align  ? ALIGN_CORNERS
                               : half ? HALF_PIXEL
                                      : ASYMMETRIC,
                               0);
}

static void image_nearest(wick_import_node *n)
{
  const wick_dim *size;
  bool align = wick_tflite_byte(n, 0), half = wick_tflite_byte(n, 1);
  if (!image_size(n, &size)) return;
  n->out[0] = wick_nhwc_resize(n, n->in[0], size, NEAREST,
                               align  ? ALIGN_CORNERS
                               : half ? TF_HALF_PIXEL
                                      : ASYMMETRIC,
                               align ? PREFER_CEIL : FLOOR);
}

static void image_depth_to_space(wick_import_node *n)
{
  n->out[0] = wick_nhwc_depth_to_space(n, n->in[0], wick_tflite_i32(n, 0, 0));
}

static void image_space_to_depth(wick_import_node *n)
{
  n->out[0] = wick_nhwc_space_to_depth(n, n->in[0], wick_tflite_i32(n, 0, 0));
}

#define F NULL

const wick_import_op wick_tflite_image_ops[] = {
    {"AVERAGE_POOL_2D", 1, {1, 1}, 1, NULL, image_pool, WICK_OP_avg_pool, 0, F, NULL},
    {"CONV_2D", 1, {2, 3}, 1, NULL, image_conv, WICK_OP_none, 0, F, NULL},
    {"CONV_3D", 1, {2, 3}, 1, NULL, image_conv_3d, WICK_OP_none, 0, F, NULL},
    {"CONV_3D_TRANSPOSE", 1, {3, 4}, 1, NULL, image_transpose_conv_3d, WICK_OP_none, 0, F, NULL},
    {"DEPTHWISE_CONV_2D", 1, {2, 3}, 1, NULL, image_depthwise, WICK_OP_none, 0, F, NULL},
    {"DEPTH_TO_SPACE", 1, {1, 1}, 1, NULL, image_depth_to_space, WICK_OP_none, 0, F, NULL},
    {"L2_POOL_2D", 1, {1, 1}, 1, NULL, image_pool, WICK_OP_avg_pool, 1, F, NULL},
    {"MAX_POOL_2D", 1, {1, 1}, 1, NULL, image_pool, WICK_OP_max_pool, 0, F, NULL},
    {"RESIZE_BILINEAR", 1, {2, 2}, 1, NULL, image_bilinear, WICK_OP_none, 0, F, NULL},
    {"RESIZE_NEAREST_NEIGHBOR", 1, {2, 2}, 1, NULL, image_nearest, WICK_OP_none, 0, F, NULL},
    {"SPACE_TO_DEPTH", 1, {1, 1}, 1, NULL, image_space_to_depth, WICK_OP_none, 0, F, NULL},
    {"TRANSPOSE_CONV", 1, {3, 4}, 1, NULL, image_transpose_conv, WICK_OP_none, 0, F, NULL},
    {0},
};
