/* Imports com.microsoft's operators on images. */
#include <float.h>

#include "import/onnx/microsoft.h"

/* ---- CropAndResize ---- */

typedef struct image_crops { /* R regions of images, resized to the same size */
  wick_onnx_op *o;
  wick_builder *b;
  wick_value image;    /* [R, 1, 1], the number of each region's image */
  wick_value pixels;   /* [images, rows, columns, channels] */
  wick_value at[2];    /* the row [R, rows, 1], and the column [R, 1, columns], of each element */
  wick_value limit[2]; /* the last row and column of an image; floats of rank 0 */
  int64_t size[2];
  wick_dim regions;
} image_crops;

static bool image_crops_read(image_crops *c)
{
  wick_onnx_op *o = c->o;
  uint32_t n;
  const int64_t *size;
  if (wick_onnx_info(o, 0)->rank != 4 || wick_onnx_info(o, 1)->rank != 2 ||
      wick_onnx_info(o, 2)->rank != 1 || !wick_dim_is(wick_onnx_info(o, 1)->dim[1], 4)) {
    wick_onnx_fail(
        o, WICK_ETYPE, "ranks %u, %u and %u, expected 4, 2 with rows of 4 numbers, and 1",
        wick_onnx_info(o, 0)->rank, wick_onnx_info(o, 1)->rank, wick_onnx_info(o, 2)->rank);
    return false;
  }
  if (!wick_onnx_numbers(o, 3, "crop_size", &n, &size)) return false;
  if (n != 2 || size[0] < 1 || size[1] < 1 || size[0] > 1 << 16 || size[1] > 1 << 16) {
    wick_onnx_fail(o, WICK_ERANGE, "crop_size is no pair of sizes");
    return false;
  }
  c->size[0] = size[0], c->size[1] = size[1];
  c->regions = wick_onnx_info(o, 1)->dim[0];
  return true;
}

/* Sets the positions along an axis: from the region's first to its last row or column, or in the middle
 * between them. */
static void image_crops_axis(image_crops *c, uint32_t axis)
{
  wick_builder *b = c->b;
  wick_onnx_op *o = c->o;
  wick_dim one = wick_dim_const(1), size = wick_dim_const(c->size[axis]);
  wick_value last = wick_onnx_size(o, wick_onnx_info(o, 0)->dim[2 + axis]);
  last = wick_build_cast(b, wick_emit_by(b, WICK_OP_sub, last, 1), WICK_F32);
  c->limit[axis] = last;
  wick_value from = wick_emit_slice(b, o->in[1], 1, wick_dim_const(axis), one);
  wick_value to = wick_emit_slice(b, o->in[1], 1, wick_dim_const(2 + axis), one);
  wick_value at;
  if (c->size[axis] > 1) {
    wick_value step = wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, to, from), last);
    step = wick_emit_by(b, WICK_OP_div, step, (double)(c->size[axis] - 1));
    wick_value index = wick_emit_count_along(b, size, 1, 2);
    wick_value final = wick_emit_by(b, WICK_OP_eq, index, (double)(c->size[axis] - 1));
    at = wick_build2(b, WICK_OP_mul, wick_build_cast(b, index, WICK_F32), step);
    at = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, from, last), at);
    at = wick_build3(b, WICK_OP_where, final, wick_build2(b, WICK_OP_mul, to, last), at);
  } else {
    at = wick_emit_by(b, WICK_OP_mul, wick_build2(b, WICK_OP_add, from, to), 0.5);
    at = wick_build2(b, WICK_OP_mul, at, last);
  }
  c->at[axis] = wick_build_reshape(
      b, at, 3, axis ? (wick_dim[]){c->regions, one, size} : (wick_dim[]){c->regions, size, one});
}

/* The pixels at whole rows and columns: [R, rows, columns, channels]. Those outside are clamped. */
static wick_value image_crops_pixels(const image_crops *c, wick_value row, wick_value column)
{
  wick_builder *b = c->b;
  wick_value part[3] = {c->image, row, column};
  const wick_dim all[] = {c->regions, wick_dim_const(c->size[0]), wick_dim_const(c->size[1])};
  for (uint32_t k = 0; k < 3; k++) {
    if (k) {
      part[k] = wick_emit_by(b, WICK_OP_max, part[k], 0);
      part[k] = wick_build2(b, WICK_OP_min, part[k], c->limit[k - 1]);
    }
    part[k] = wick_emit_expand(b, wick_build_cast(b, part[k], WICK_I64), 3, all);
    part[k] = wick_emit_unsqueeze(b, part[k], 3);
  }
  wick_value index = wick_build_concat(b, 3, 3, part);
  return wick_build2(b, WICK_OP_gather_nd, c->pixels, index);
}

static wick_value image_crops_between(wick_builder *b, wick_value x, wick_value y, wick_value share)
{
  wick_value d = wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, y, x), share);
  return wick_build2(b, WICK_OP_add, x, d);
}

static wick_value image_crops_linear(const image_crops *c)
{
  wick_builder *b = c->b;
  wick_value low[2], high[2], share[2], line[2];
  for (uint32_t k = 0; k < 2; k++) {
    low[k] = wick_build1(b, WICK_OP_floor, c->at[k]);
    high[k] = wick_build1(b, WICK_OP_ceil, c->at[k]);
    share[k] = wick_emit_unsqueeze(b, wick_build2(b, WICK_OP_sub, c->at[k], low[k]), 3);
  }
  for (uint32_t k = 0; k < 2; k++) {
    wick_value left = image_crops_pixels(c, k ? high[0] : low[0], low[1]);
    wick_value right = image_crops_pixels(c, k ? high[0] : low[0], high[1]);
    line[k] = image_crops_between(b, left, right, share[1]);
  }
  return image_crops_between(b, line[0], line[1], share[0]);
}

/* The nearest pixels; those in the middle between two are rounded up. */
static wick_value image_crops_nearest(const image_crops *c)
{
  wick_value at[2];
  for (uint32_t k = 0; k < 2; k++)
    at[k] = wick_build1(c->b, WICK_OP_floor, wick_emit_by(c->b, WICK_OP_add, c->at[k], 0.5));
  return image_crops_pixels(c, at[0], at[1]);
}

static void image_crop_and_resize(wick_onnx_op *o)
{
  static const int64_t last[] = {0, 2, 3, 1}, first[] = {0, 3, 1, 2};
  wick_builder *b = o->b;
  image_crops c = {.o = o, .b = b};
  int nearest = wick_onnx_word(o, "mode", "bilinear nearest");
  wick_dim one = wick_dim_const(1);
  if (o->failed || !image_crops_read(&c)) return;
  c.pixels = wick_build_transpose(b, o->in[0], 4, last);
  c.image = wick_build_reshape(b, o->in[2], 3, (wick_dim[]){c.regions, one, one});
  for (uint32_t k = 0; k < 2; k++) image_crops_axis(&c, k);
  wick_value y = nearest ? image_crops_nearest(&c) : image_crops_linear(&c), inside = {0};
  for (uint32_t k = 0; k < 2; k++) {
    wick_value low = wick_emit_by(b, WICK_OP_ge, c.at[k], 0);
    wick_value high = wick_build2(b, WICK_OP_le, c.at[k], c.limit[k]);
    low = wick_build2(b, WICK_OP_and, low, high);
    inside = k ? wick_build2(b, WICK_OP_and, inside, low) : low;
  }
  if (b->status) return;
  wick_value outside = wick_emit_number(b, y, wick_onnx_float(o, "extrapolation_value", 0));
  y = wick_build3(b, WICK_OP_where, wick_emit_unsqueeze(b, inside, 3), y, outside);
  o->out[0] = wick_build_transpose(b, y, 4, first);
}

/* ---- ConvTransposeWithDynamicPads ---- */

/* The convolution without padding, cropped by operand 2: the begins, then the ends, of each dimension. */
static void image_conv_transpose(wick_onnx_op *o)
{
  wick_value in[3] = {o->in[0], o->in[1], wick_microsoft_optional(o, 3)};
  uint32_t n = 0;
  const int64_t *pad = NULL;
  if (wick_onnx_has(o, 2) && !wick_onnx_numbers(o, 2, "Pads", &n, &pad)) return;
  wick_value y = wick_onnx_as(o, "ConvTranspose", 11, in[2].id ? 3 : 2, in);
  if (!y.id || !n || o->b->status) return;
  const wick_type_info t = *wick_built_info(o->b, y);
  wick_dims *d = o->c->module->dims;
  if (n != 2 * (t.rank - 2u)) {
    wick_onnx_fail(o, WICK_ETYPE, "Pads has %u numbers, expected %u", n, 2 * (t.rank - 2u));
    return;
  }
  for (uint32_t k = 2; k < t.rank; k++) {
    int64_t begin = pad[k - 2], end = pad[k - 2 + n / 2], both;
    if (begin < 0 || end < 0 || wick_add_overflows(begin, end, &both)) {
      wick_onnx_fail(o, WICK_ERANGE, "Pads has negative or too large numbers");
      return;
    }
    y = wick_emit_slice(o->b, y, k, wick_dim_const(begin),
                        wick_dim_sub(d, t.dim[k], wick_dim_const(both)));
  }
  o->out[0] = y;
}

/* ---- MaxpoolWithMask ---- */

typedef struct image_window { /* a window's positions, one after the other */
  wick_onnx_op *o;
  const wick_onnx_window *w;
  wick_value x,
      seen; /* padded; `seen` is false at elements that hide those after them in their row */
  uint32_t rank;
  wick_dim out[2 + WICK_ONNX_SPATIAL];
} image_window;

/* The elements at one place of the window, for all windows. */
static wick_value image_window_at(const image_window *c, wick_value x, const int64_t *place)
{
  wick_dim begin[2 + WICK_ONNX_SPATIAL], shape[2 + WICK_ONNX_SPATIAL];
  int64_t step[2 + WICK_ONNX_SPATIAL];
  if (c->o->b->status) return x;
  for (uint32_t k = 0; k < c->rank; k++) {
    begin[k] = wick_dim_const(k < 2 ? 0 : place[k - 2]);
    shape[k] = k < 2 ? wick_built_info(c->o->b, x)->dim[k] : c->out[k];
    step[k] = k < 2 ? 1 : c->w->stride[k - 2];
  }
  return wick_build_slice(c->o->b, x, c->rank, begin, shape, step);
}

static wick_value image_padded(wick_onnx_op *o, wick_value x, const wick_onnx_window *w,
                               double fill)
{
  wick_dim pad[2 * (2 + WICK_ONNX_SPATIAL)];
  uint32_t rank = w->n + 2;
  for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
  for (uint32_t k = 0; k < w->n; k++) {
    pad[2 + k] = wick_dim_const(w->pad[k]);
    pad[rank + 2 + k] = wick_dim_const(w->pad[w->n + k]);
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  return wick_emit_end2(&e, x, wick_emit_number(o->b, x, fill));
}

/* True where the mask, operand 1, is not 0. The first pixel of an image with rows is always seen. */
static wick_value image_seen(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  const wick_type_info t = *wick_onnx_info(o, 1);
  wick_value seen = wick_emit_by(b, WICK_OP_ne, o->in[1], 0), first = {0};
  for (uint32_t k = 2; t.rank > 3 && k < t.rank; k++) {
    wick_value at = wick_emit_by(b, WICK_OP_eq, wick_emit_count_along(b, t.dim[k], k, t.rank), 0);
    first = first.id ? wick_build2(b, WICK_OP_and, first, at) : at;
  }
  return first.id ? wick_build2(b, WICK_OP_or, seen, first) : seen;
}

/* The maximum of each window. In each of its rows, an element whose mask is 0 ends the row. */
static void image_masked_pool(wick_onnx_op *o)
{
  enum { MOST = 4096 };
  wick_builder *b = o->b;
  wick_dims *d = o->c->module->dims;
  wick_onnx_window w;
  const wick_type_info t = *wick_onnx_info(o, 0), *m = wick_onnx_info(o, 1);
  if (!wick_onnx_window_read(o, NULL, &w)) return;
  int64_t count = 1, place[WICK_ONNX_SPATIAL] = {0};
  for (uint32_t k = 0; k < w.n && count <= MOST; k++)
    if (__builtin_mul_overflow(count, w.kernel[k], &count)) count = INT64_MAX;
  if (m->rank != t.rank || count > MOST) {
    wick_onnx_fail(o, WICK_ERANGE,
                   "the input has rank %u, the mask %u, and a window more than %d elements", t.rank,
                   m->rank, MOST);
    return;
  }
  image_window c = {.o = o, .w = &w, .rank = t.rank};
  for (uint32_t k = 0; k < w.n; k++) {
    wick_dim room =
        wick_dim_add(d, t.dim[2 + k], wick_dim_const(w.pad[k] + w.pad[w.n + k] - w.kernel[k]));
    room = wick_dim_floordiv(d, room, wick_dim_const(w.stride[k]));
    c.out[2 + k] = wick_dim_add(d, room, wick_dim_const(1));
  }
  double lowest = -(double)FLT_MAX;
  c.x = image_padded(o, o->in[0], &w, lowest);
  c.seen = image_padded(o, image_seen(o), &w, 1);
  wick_value y = wick_emit_number(b, c.x, lowest), alive = {0};
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i;
    for (uint32_t k = w.n; k--; rest /= w.kernel[k]) place[k] = rest % w.kernel[k];
    wick_value seen = image_window_at(&c, c.seen, place), x = image_window_at(&c, c.x, place);
    alive = place[w.n - 1] ? wick_build2(b, WICK_OP_and, alive, seen) : seen;
    wick_value more = wick_build2(b, WICK_OP_and, alive, wick_build2(b, WICK_OP_gt, x, y));
    y = wick_build3(b, WICK_OP_where, more, x, y);
  }
  o->out[0] = y;
}

const wick_onnx_row wick_onnx_microsoft_image_rows[] = {
    {"com.microsoft.ConvTransposeWithDynamicPads",
     1,
     {2, 4},
     1,
     "auto_pad:s dilations:I group:i kernel_shape:I output_padding:I strides:I",
     image_conv_transpose,
     0,
     0},
    {"com.microsoft.CropAndResize",
     1,
     {4, 4},
     1,
     "extrapolation_value:f mode:s",
     image_crop_and_resize,
     0,
     0},
    {"com.microsoft.MaxpoolWithMask",
     1,
     {2, 2},
     1,
     "auto_pad:s kernel_shape:I! pads:I storage_order:i strides:I",
     image_masked_pool,
     0,
     0},
    {0},
};
