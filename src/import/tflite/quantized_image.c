/* Pools and bilinear resizes of quantized tensors.
 * Source: reference kernels of TensorFlow Lite. */
#include "import/tflite/quantized.h"

#include <math.h>

/* ---- pools ---- */

/* The sum of each window, by a depthwise convolution with ones. */
static wick_value image_window_sum(wick_import_node *n, wick_value x, int64_t channels,
                                   const wick_nhwc_window *w)
{
  static const int64_t perm[] = {3, 0, 1, 2};
  wick_dim dim[] = {wick_dim_const(1), wick_dim_const(w->kernel[0]), wick_dim_const(w->kernel[1]),
                    wick_dim_const(channels)};
  wick_value ones = wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_I32, 4, dim), 0, 1);
  return wick_nhwc_conv(n, x, ones, perm, (wick_value){0}, w, channels);
}

/* sum / count, rounded to the nearest, ties away from 0. */
static wick_value image_mean(wick_builder *b, wick_value sum, wick_value count)
{
  if (b->status) return sum;
  wick_value half = wick_emit_by(b, WICK_OP_div, count, 2), zero = wick_emit_number(b, sum, 0);
  wick_value positive = wick_build2(b, WICK_OP_gt, sum, zero);
  wick_value up = wick_build2(b, WICK_OP_add, sum, half),
             down = wick_build2(b, WICK_OP_sub, sum, half);
  sum = wick_build3(b, WICK_OP_where, positive, up, down);
  return wick_build2(b, WICK_OP_div, sum, count);
}

bool wick_tflite_quantized_pool(wick_import_node *n, const wick_nhwc_window *w)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  const wick_type_info t = *wick_import_info(n, 0);
  int64_t lo, hi;
  if (!wick_tflite_is_quantized(x)) return false;
  wick_tflite_range(n, wick_tflite_byte(n, 5), &lo, &hi);
  if (n->row->op == WICK_OP_max_pool) {
    wick_value v = wick_nhwc_pool(n, WICK_OP_max_pool, n->in[0], w);
    n->out[0] = wick_tflite_clip(b, v, (double)lo, (double)hi);
    return true;
  }
  if (!wick_dim_is_const(t.dim[3])) {
    wick_import_must_be_known(n, "the number of channels", t.dim[3]);
    return true;
  }
  wick_value sum = image_window_sum(n, wick_build_cast(b, n->in[0], WICK_I32), t.dim[3].v, w);
  wick_dim image[] = {wick_dim_const(1), t.dim[1], t.dim[2], wick_dim_const(1)};
  wick_value one = wick_build_const(b, wick_type_tensor(n->c->module, WICK_I32, 0, NULL), 0, 1);
  wick_value count = image_window_sum(n, wick_emit_expand(b, one, 4, image), 1, w);
  n->out[0] = wick_fixed_end(b, image_mean(b, sum, count), 0, lo, hi, y->elem);
  return true;
}

/* ---- bilinear: weights of 10 bits ---- */

typedef struct
    image_axis { /* the two neighbours of each result along an axis, and the upper one's share */
  wick_value low, high, share;
} image_axis;

static image_axis image_bilinear_axis(wick_import_node *n, int64_t in, int64_t out, bool align,
                                      bool half, uint32_t axis)
{
  int64_t one = 1 << 10, scale = (one * in + out / 2) / out, dim[4] = {1, 1, 1, 1};
  int64_t *low = wick_new(n->c->tmp, int64_t, (size_t)out * 3 + 1), *high = low + out,
          *share = high + out;
  if (align && out > 1) scale = (one * (in - 1) + (out - 1) / 2) / (out - 1);
  for (int64_t o = 0; o < out; o++) {
    int64_t at = half ? o * scale + scale / 2 - (1 << 9) : o * scale;
    low[o] = wick_max_i64(at / one, 0);
    high[o] = wick_min_i64((at + one - 1) / one, in - 1);
    low[o] = wick_min_i64(low[o], in - 1), high[o] = wick_max_i64(high[o], 0);
    share[o] = at - one * low[o];
  }
  dim[axis] = out;
  wick_import *c = n->c;
  uint64_t nbytes = (uint64_t)out * sizeof *low;
  image_axis a;
  a.low = wick_import_copied(c, n->name, WICK_I64, 1, &out, low, nbytes);
  a.high = wick_import_copied(c, n->name, WICK_I64, 1, &out, high, nbytes);
  a.share = wick_import_copied(c, n->name, WICK_I64, 4, dim, share, nbytes);
  return a;
}

/* a * (1024 - share) + b * share */
static wick_value image_mix(wick_builder *b, wick_value low, wick_value high, wick_value share)
{
  wick_value rest = wick_build2(b, WICK_OP_sub, wick_emit_number(b, share, 1024), share);
  low = wick_build2(b, WICK_OP_mul, low, rest), high = wick_build2(b, WICK_OP_mul, high, share);
  return wick_build2(b, WICK_OP_add, low, high);
}

/* Numbers of u8 are interpolated in floats. */
static image_axis image_real_axis(wick_import_node *n, int64_t in, int64_t out, bool align,
                                  bool half, uint32_t axis)
{
  float scale = (float)in / (float)out;
  int64_t *low = wick_new(n->c->tmp, int64_t, (size_t)out * 2 + 1), *high = low + out,
          dim[4] = {1, 1, 1, 1};
  double *share = wick_new(n->c->tmp, double, (size_t)out + 1);
  if (align && out > 1) scale = (float)(in - 1) / (float)(out - 1);
  for (int64_t o = 0; o < out; o++) {
    float at = half ? ((float)o + 0.5f) * scale - 0.5f : (float)o * scale;
    low[o] = wick_max_i64((int64_t)floorf(at), 0);
    high[o] = wick_max_i64(wick_min_i64((int64_t)ceilf(at), in - 1), 0);
    low[o] = wick_min_i64(low[o], in - 1);
    share[o] = (double)(at - (float)low[o]);
  }
  dim[axis] = out;
  image_axis a;
  a.low = wick_import_copied(n->c, n->name, WICK_I64, 1, &out, low, (uint64_t)out * sizeof *low);
  a.high = wick_import_copied(n->c, n->name, WICK_I64, 1, &out, high, (uint64_t)out * sizeof *high);
  a.share = wick_emit_table(n->b, n->name, WICK_F32, 4, dim, share);
  return a;
}

static wick_value image_real_bilinear(wick_import_node *n, const image_axis *rows,
                                      const image_axis *columns)
{
  wick_builder *b = n->b;
  wick_value x = wick_build_cast(b, n->in[0], WICK_F32), sum = {0};
  wick_value rest = wick_build2(b, WICK_OP_sub, wick_emit_number(b, x, 1), rows->share),
             left = wick_build2(b, WICK_OP_sub, wick_emit_number(b, x, 1), columns->share);
  for (int k = 0; k < 4 && !b->status;
       k++) { /* the columns in the outer, the rows in the inner turn */
    wick_value v = wick_emit_gather(b, WICK_OP_gather, x, k & 1 ? rows->high : rows->low, 1);
    v = wick_emit_gather(b, WICK_OP_gather, v, k & 2 ? columns->high : columns->low, 2);
    v = wick_build2(b, WICK_OP_mul, v, k & 1 ? rows->share : rest);
    v = wick_build2(b, WICK_OP_mul, v, k & 2 ? columns->share : left);
    sum = k ? wick_build2(b, WICK_OP_add, sum, v) : v;
  }
  sum = wick_tflite_round(b, sum, 0, UINT8_MAX);
  return b->status ? sum : wick_build_cast(b, sum, WICK_U8);
}

bool wick_tflite_quantized_bilinear(wick_import_node *n, const wick_dim *size, bool align,
                                    bool half)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  const wick_type_info t = *wick_import_info(n, 0);
  int64_t lo, hi;
  if (!wick_tflite_is_quantized(x)) return false;
  for (uint32_t k = 0; k < 2; k++)
    if (!wick_dim_is_const(size[k]) || !wick_dim_is_const(t.dim[1 + k]) || size[k].v < 1 ||
        size[k].v > 1 << 20 || t.dim[1 + k].v < 1 || t.dim[1 + k].v > 1 << 20) {
      wick_import_must_be_known(n, "the sizes of the image", size[k]);
      return true;
    }
  if (x->elem == WICK_U8) {
    image_axis down = image_real_axis(n, t.dim[1].v, size[0].v, align, half, 1);
    image_axis right = image_real_axis(n, t.dim[2].v, size[1].v, align, half, 2);
    n->out[0] = image_real_bilinear(n, &down, &right);
    return true;
  }
  wick_value v = wick_build_cast(b, n->in[0], WICK_I64);
  image_axis rows = image_bilinear_axis(n, t.dim[1].v, size[0].v, align, half, 1),
             columns = image_bilinear_axis(n, t.dim[2].v, size[1].v, align, half, 2);
  wick_value upper = wick_emit_gather(b, WICK_OP_gather, v, rows.low, 1),
             lower = wick_emit_gather(b, WICK_OP_gather, v, rows.high, 1);
  v = image_mix(b, upper, lower, rows.share);
  wick_value left = wick_emit_gather(b, WICK_OP_gather, v, columns.low, 2),
             right = wick_emit_gather(b, WICK_OP_gather, v, columns.high, 2);
  v = image_mix(b, left, right, columns.share);
  if (b->status) return true;
  wick_value half_up = wick_emit_number(b, v, 1 << 19),
             half_down = wick_emit_number(b, v, -(1 << 19));
  wick_value positive = wick_build2(b, WICK_OP_gt, v, wick_emit_number(b, v, 0));
  v = wick_build2(b, WICK_OP_add, v, wick_build3(b, WICK_OP_where, positive, half_up, half_down));
  v = wick_emit_by(b, WICK_OP_div, v, 1 << 20);
  wick_tflite_range(n, 0, &lo, &hi);
  n->out[0] = wick_fixed_end(b, v, 0, lo, hi, y->elem);
  return true;
}
