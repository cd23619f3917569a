/* Layers on the last two dimensions, height and width: padding, cropping, resizing. */
#include <math.h>

#include "import/coreml/layers.h"
#include "import/kit/array.h"

/* ---- padding and cropping ---- */

/* The amounts [top, left, bottom, right]; 0 where the list is absent. */
static bool image_borders(wick_import_node *n, const char *name, int64_t out[4])
{
  wick_coreml_message m = wick_coreml_part(wick_coreml_params(n), name);
  wick_coreml_messages edge = wick_coreml_parts(&m, "borderAmounts", n->c->tmp);
  for (uint32_t k = 0; k < 4; k++) out[k] = 0;
  if (edge.n && edge.n != 2) {
    wick_import_fail(n, WICK_EPARSE, "it has %u border amounts, expected 2", edge.n);
    return false;
  }
  for (uint32_t k = 0; k < edge.n; k++) {
    out[k] = wick_coreml_int(&edge.at[k], "startEdgeSize", 0);
    out[2 + k] = wick_coreml_int(&edge.at[k], "endEdgeSize", 0);
  }
  for (uint32_t k = 0; k < 4; k++)
    if (out[k] < 0 || out[k] > INT32_MAX / 4) {
      wick_import_fail(n, WICK_ERANGE, "a border amount is %lld", (long long)out[k]);
      return false;
    }
  return true;
}

static uint32_t image_rank(wick_import_node *n, wick_value x, uint32_t least)
{
  uint32_t rank = n->b->status ? 0 : wick_built_info(n->b, x)->rank;
  if (rank >= least) return rank;
  wick_import_fail(n, WICK_ETYPE, "the rank of its input is %u, expected %u or more", rank, least);
  return 0;
}

void wick_coreml_padding(wick_import_node *n)
{
  enum { CONSTANT, REFLECT, EDGE };
  wick_dim pad[2 * WICK_MAX_RANK];
  wick_value x = wick_coreml_float(n, 0);
  uint32_t rank = image_rank(n, x, 2);
  int64_t amount[4];
  if (!rank || !image_borders(n, "paddingAmounts", amount)) return;
  const wick_coreml_message *p = wick_coreml_params(n);
  wick_coreml_message constant = wick_coreml_part(p, "constant");
  int mode = wick_coreml_has(p, "reflection")    ? REFLECT
             : wick_coreml_has(p, "replication") ? EDGE
                                                 : CONSTANT;
  for (uint32_t k = 0; k < 2 * rank; k++)
    pad[k] = wick_dim_const(k % rank < rank - 2 ? 0 : amount[k / rank * 2 + k % rank - (rank - 2)]);
  wick_value fill = wick_emit_number(n->b, x, wick_coreml_real(&constant, "value", 0));
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  wick_emit_set_int(&e, "mode", mode);
  n->out[0] = wick_emit_end(&e, mode == CONSTANT ? 2 : 1, (wick_value[]){x, fill});
}

/* padAmounts are [before, after] of each dimension, or a second operand holds them. With
 * padToGivenOutputSizeMode one of each pair is 0, the other the size of the result. */
void wick_coreml_constant_pad(wick_import_node *n)
{
  wick_dims *t = n->c->module->dims;
  wick_value x = wick_coreml_float(n, 0);
  uint32_t count, rank = image_rank(n, x, 1);
  const wick_dim *amount;
  wick_import_attr given = wick_import_ints(n, "padAmounts");
  wick_dim *numbers = wick_new(n->c->tmp, wick_dim, (size_t)given.n + 1), pad[2 * WICK_MAX_RANK];
  for (uint32_t k = 0; k < given.n; k++) numbers[k] = wick_dim_const(given.ints[k]);
  count = given.n, amount = numbers;
  if (!rank || (n->nin > 1 && !wick_coreml_sizes(n, 1, "the padding", &count, &amount))) return;
  if (count != 2 * rank) {
    wick_import_fail(n, WICK_ETYPE, "it has %u pad amounts, expected %u", count, 2 * rank);
    return;
  }
  bool sizes = wick_import_int(n, "padToGivenOutputSizeMode", 0) != 0;
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim lo = amount[2 * k], hi = amount[2 * k + 1], size = wick_built_info(n->b, x)->dim[k];
    if (sizes && !wick_dim_is(lo, 0)) lo = wick_dim_sub(t, lo, size);
    if (sizes && !wick_dim_is(hi, 0)) hi = wick_dim_sub(t, hi, size);
    pad[k] = lo, pad[rank + k] = hi;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  n->out[0] = wick_emit_end2(&e, x, wick_emit_number(n->b, x, wick_import_real(n, "value", 0)));
}

void wick_coreml_crop(wick_import_node *n)
{
  wick_dims *t = n->c->module->dims;
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  wick_value x = n->in[0];
  uint32_t rank = image_rank(n, x, 2);
  int64_t amount[4] = {0};
  wick_import_attr offset = wick_import_ints(n, "offset");
  if (!rank || !image_borders(n, "cropAmounts", amount)) return;
  if (n->nin > 1 && wick_import_info(n, 1)->rank != rank) {
    wick_import_fail(n, WICK_ETYPE, "the ranks of its inputs differ: %u and %u", rank,
                     wick_import_info(n, 1)->rank);
    return;
  }
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim size = wick_built_info(n->b, x)->dim[k];
    uint32_t side = k + 2 - rank;
    begin[k] = wick_dim_const(0), shape[k] = size;
    if (k + 2 < rank) continue;
    if (n->nin > 1) {
      begin[k] = wick_dim_const(side < offset.n ? offset.ints[side] : 0);
      shape[k] = wick_import_info(n, 1)->dim[k];
    } else {
      begin[k] = wick_dim_const(amount[side]);
      shape[k] = wick_dim_sub(t, size, wick_dim_const(amount[side] + amount[2 + side]));
    }
  }
  n->out[0] = wick_build_slice(n->b, x, rank, begin, shape, NULL);
}

/* ---- resizing ---- */

enum { IMAGE_NEAREST, IMAGE_LINEAR };
enum { IMAGE_HALF_PIXEL = 0, IMAGE_CORNERS = 3, IMAGE_ASYMMETRIC = 4 }; /* words of `resize` */

/* Resizes x [N, C, height, width]. */
static wick_value image_resize(wick_import_node *n, wick_value x, const wick_dim *size, int mode,
                               int coordinates, const double *scale)
{
  enum { FLOOR = 2 };
  if (n->b->status) return x;
  const wick_type_info *t = wick_built_info(n->b, x);
  wick_dim dim[4] = {t->dim[0], t->dim[1], size[0], size[1]};
  double *all = wick_new(n->c->mem, double, 4);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_resize);
  wick_emit_set_dims(&e, "shape", 4, dim);
  wick_emit_set_int(&e, "mode", mode);
  wick_emit_set_int(&e, "coordinates", coordinates);
  wick_emit_set_int(&e, "nearest", FLOOR);
  all[0] = all[1] = 1;
  if (scale) {
    all[2] = scale[0], all[3] = scale[1];
    wick_emit_set_floats(&e, "scale", 4, all);
  }
  return wick_emit_end1(&e, x);
}

/* Factors are whole numbers, or fractions with a bilinear mode. */
void wick_coreml_upsample(wick_import_node *n)
{
  enum { DEFAULT, ALIGN_TRUE, ALIGN_FALSE };
  wick_dims *t = n->c->module->dims;
  wick_import_attr whole = wick_import_ints(n, "scalingFactor"),
                   part = wick_import_attr_of(n, "fractionalScalingFactor", 'F');
  wick_value like = wick_coreml_float(n, 0), x = wick_coreml_fold(n, like, 3);
  wick_dim size[2];
  double scale[2] = {1, 1};
  bool linear = wick_import_int(n, "mode", 0) == 1;
  int64_t corners = wick_import_int(n, "linearUpsampleMode", 0);
  if (n->failed || n->b->status) return;
  for (uint32_t k = 0; k < 2; k++) {
    wick_dim have = wick_built_info(n->b, x)->dim[2 + k];
    if (part.n == 2) scale[k] = part.floats[k];
    if (part.n != 2 && whole.n == 2) scale[k] = (double)whole.ints[k];
    if (!(scale[k] > 0 && scale[k] < 1e6)) {
      wick_import_fail(n, WICK_ERANGE, "a scaling factor is %g, expected one above 0", scale[k]);
      return;
    }
    bool exact = scale[k] == floor(scale[k]);
    if (!exact && !wick_dim_is_const(have)) {
      wick_import_must_be_known(n, "the image's size", have);
      return;
    }
    size[k] = exact ? wick_dim_mul(t, have, wick_dim_const((int64_t)scale[k]))
                    : wick_dim_const(wick_whole_i64(floor((double)have.v * scale[k])));
  }
  int coordinates = !linear                  ? IMAGE_ASYMMETRIC
                    : corners == ALIGN_TRUE  ? IMAGE_CORNERS
                    : corners == ALIGN_FALSE ? IMAGE_HALF_PIXEL
                                             : IMAGE_ASYMMETRIC;
  wick_value y = image_resize(n, x, size, linear ? IMAGE_LINEAR : IMAGE_NEAREST, coordinates,
                              coordinates == IMAGE_CORNERS ? NULL : scale);
  n->out[0] = wick_coreml_unfold(n, y, like, 3);
}

enum { IMAGE_STRICT, IMAGE_ALIGN, IMAGE_UPSAMPLE, IMAGE_ROI };

/* Samples an axis at positions [count] (f32), which are in the image: elements below and above, and
 * the line between them. */
static wick_value image_sample(wick_import_node *n, wick_value x, uint32_t axis, int64_t count,
                               const double *at)
{
  wick_builder *b = n->b;
  int64_t *low = wick_new(n->c->tmp, int64_t, (size_t)count),
          *high = wick_new(n->c->tmp, int64_t, (size_t)count);
  double *weight = wick_new(n->c->tmp, double, (size_t)count);
  int64_t dim[4] = {1, 1, 1, 1};
  uint64_t nbytes = (uint64_t)count * sizeof *low;
  for (int64_t k = 0; k < count; k++) {
    low[k] = (int64_t)floor(at[k]), high[k] = (int64_t)ceil(at[k]);
    weight[k] = at[k] - floor(at[k]);
  }
  dim[axis] = count;
  wick_value lo = wick_import_copied(n->c, "low", WICK_I64, 1, &count, low, nbytes);
  wick_value hi = wick_import_copied(n->c, "high", WICK_I64, 1, &count, high, nbytes);
  wick_value w = wick_emit_table(b, "weight", WICK_F32, 4, dim, weight);
  wick_value below = wick_emit_gather(b, WICK_OP_gather, x, lo, axis);
  wick_value above = wick_emit_gather(b, WICK_OP_gather, x, hi, axis);
  wick_value d = wick_build2(b, WICK_OP_sub, above, below);
  return wick_build2(b, WICK_OP_add, below, wick_build2(b, WICK_OP_mul, d, w));
}

/* The positions of `count` samples of an axis with `size` elements. */
static const double *image_grid(wick_import_node *n, int64_t mode, int64_t size, int64_t count)
{
  double *at = wick_new(n->c->tmp, double, (size_t)count), x = (double)size, m = (double)count;
  double start = 0, step = count > 1 ? (x - 1) / (m - 1) : 0;
  if (mode == IMAGE_ALIGN && count == 1) start = (x - 1) / 2;
  if (mode == IMAGE_UPSAMPLE) step = x / m;
  if (mode == IMAGE_ROI) step = fmax(1, x - 1) / m, start = step / 2;
  for (int64_t k = 0; k < count; k++) at[k] = fmax(0, fmin(x - 1, start + (double)k * step));
  return at;
}

static bool image_target(wick_import_node *n, int64_t out[2])
{
  wick_import_attr size = wick_import_ints(n, "targetSize");
  for (uint32_t k = 0; k < 2; k++) {
    out[k] = size.n == 2 ? size.ints[k] : 1;
    if (out[k] < 1 || out[k] > 1 << 20) {
      wick_import_fail(n, WICK_ERANGE, "targetSize has %lld, expected 1 or more",
                       (long long)out[k]);
      return false;
    }
  }
  return true;
}

static int64_t image_mode(wick_import_node *n)
{
  wick_coreml_message m = wick_coreml_part(wick_coreml_params(n), "mode");
  int64_t mode = wick_coreml_int(&m, "samplingMethod", 0);
  if (mode < IMAGE_STRICT || mode > IMAGE_ROI)
    wick_import_fail(n, WICK_EUNSUPPORTED, "there is no sampling method %lld", (long long)mode);
  return mode;
}

void wick_coreml_resize(wick_import_node *n)
{
  int64_t size[2], mode = image_mode(n);
  if (n->failed || !image_target(n, size)) return;
  wick_value like = wick_coreml_float(n, 0), x = wick_coreml_fold(n, like, 3);
  if (n->failed || n->b->status) return;
  const wick_dim *have = wick_built_info(n->b, x)->dim;
  bool one = size[0] == 1 || size[1] == 1, plain = mode <= IMAGE_UPSAMPLE && !one;
  if (plain) {
    wick_dim to[2] = {wick_dim_const(size[0]), wick_dim_const(size[1])};
    x = image_resize(n, x, to, IMAGE_LINEAR,
                     mode == IMAGE_UPSAMPLE ? IMAGE_ASYMMETRIC : IMAGE_CORNERS, NULL);
  } else if (!wick_dim_is_const(have[2]) || !wick_dim_is_const(have[3])) {
    wick_import_must_be_known(n, "the image's size",
                              wick_dim_is_const(have[2]) ? have[3] : have[2]);
    return;
  } else {
    int64_t from[2] = {have[2].v, have[3].v};
    for (uint32_t k = 0; k < 2; k++)
      x = image_sample(n, x, 2 + k, size[k], image_grid(n, mode, from[k], size[k]));
  }
  n->out[0] = wick_coreml_unfold(n, x, like, 3);
}

/* ---- crops that are resized ---- */

/* Splits boxes [n, 4] into the low and high edges of an axis (0 height, 1 width): [n, 1], in
 * elements of the image. */
static void image_edges(wick_import_node *n, wick_value boxes, uint32_t axis, wick_value last,
                        wick_value *low, wick_value *high)
{
  enum { CORNERS_HEIGHT, CORNERS_WIDTH, CENTRE_HEIGHT, CENTRE_WIDTH };
  wick_builder *b = n->b;
  wick_coreml_message m = wick_coreml_part(wick_coreml_params(n), "boxIndicesMode");
  int64_t form = wick_coreml_int(&m, "boxMode", 0);
  double scale = wick_coreml_positive(n, "spatialScale", 1);
  uint32_t at = form == CORNERS_WIDTH || form == CENTRE_WIDTH ? 1 - axis : axis;
  *low = wick_emit_slice(b, boxes, 1, wick_dim_const(at), wick_dim_const(1));
  *high = wick_emit_slice(b, boxes, 1, wick_dim_const(at + 2), wick_dim_const(1));
  if (form == CENTRE_HEIGHT || form == CENTRE_WIDTH) {
    wick_value half = wick_emit_by(b, WICK_OP_mul, *high, 0.5), centre = *low;
    *low = wick_build2(b, WICK_OP_sub, centre, half);
    *high = wick_build2(b, WICK_OP_add, centre, half);
  }
  *low = wick_emit_by(b, WICK_OP_mul, *low, scale);
  *high = wick_emit_by(b, WICK_OP_mul, *high, scale);
  if (!wick_import_int(n, "normalizedCoordinates", 0)) return;
  *low = wick_build2(b, WICK_OP_mul, *low, last);
  *high = wick_build2(b, WICK_OP_mul, *high, last);
}

/* The positions [n, count] of the samples between the edges. */
static wick_value image_positions(wick_import_node *n, int64_t mode, wick_value low,
                                  wick_value high, wick_value last, int64_t count)
{
  wick_builder *b = n->b;
  double m = (double)count;
  wick_value span = wick_build2(b, WICK_OP_sub, high, low), start = low, step;
  if (mode == IMAGE_UPSAMPLE) {
    step = wick_emit_by(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_add, span, 1), 1 / m);
  } else if (mode == IMAGE_ROI) {
    step = wick_emit_by(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_max, span, 1), 1 / m);
    start = wick_build2(b, WICK_OP_add, low, wick_emit_by(b, WICK_OP_mul, step, 0.5));
  } else {
    step = wick_emit_by(b, WICK_OP_mul, span, count > 1 ? 1 / (m - 1) : 0);
    if (count == 1 && mode == IMAGE_ALIGN)
      start = wick_build2(b, WICK_OP_add, low, wick_emit_by(b, WICK_OP_mul, span, 0.5));
  }
  wick_value i = wick_emit_count_along(b, wick_dim_const(count), 1, 2);
  i = wick_coreml_as(n, i, WICK_F32);
  wick_value at = wick_build2(b, WICK_OP_add, start, wick_build2(b, WICK_OP_mul, step, i));
  at = wick_build2(b, WICK_OP_min, at, last);
  return wick_emit_by(b, WICK_OP_max, at, 0);
}

typedef struct image_axis { /* neighbours of the samples, [n, rows, columns, 1] */
  wick_value low, high, weight;
} image_axis;

static image_axis image_neighbours(wick_import_node *n, wick_value at, const wick_dim *dim)
{
  wick_builder *b = n->b;
  at = wick_build_reshape(b, at, 4, dim);
  wick_value low = wick_build1(b, WICK_OP_floor, at), high = wick_build1(b, WICK_OP_ceil, at);
  image_axis a = {.weight = wick_build2(b, WICK_OP_sub, at, low)};
  a.low = wick_coreml_as(n, low, WICK_I64), a.high = wick_coreml_as(n, high, WICK_I64);
  return a;
}

/* The elements of x [batch, H, W, C] at these rows and columns, [n, rows, columns, C]. */
static wick_value image_pick(wick_import_node *n, wick_value x, wick_value batch, wick_value row,
                             wick_value column, const wick_dim *dim)
{
  wick_value part[3];
  part[0] = wick_emit_expand(n->b, batch, 4, dim);
  part[1] = wick_emit_expand(n->b, row, 4, dim);
  part[2] = wick_emit_expand(n->b, column, 4, dim);
  return wick_build2(n->b, WICK_OP_gather_nd, x, wick_build_concat(n->b, 3, 3, part));
}

static wick_value image_blend(wick_import_node *n, wick_value a, wick_value b, wick_value weight)
{
  wick_value d = wick_build2(n->b, WICK_OP_sub, b, a);
  return wick_build2(n->b, WICK_OP_add, a, wick_build2(n->b, WICK_OP_mul, d, weight));
}

/* The boxes [n, 4] and the image of each: those of all images, or that a fifth number names. */
static bool image_boxes(wick_import_node *n, wick_dim batch, wick_value *boxes, wick_value *image,
                        wick_dim *count, bool *named)
{
  wick_builder *b = n->b;
  wick_value all = wick_coreml_float(n, 1);
  if (b->status) return false;
  const wick_type_info t = *wick_built_info(b, all);
  uint32_t width = t.rank >= 3 ? t.rank - 3u : 0;
  wick_dim columns = t.dim[width], rows = wick_array_product(n, width, t.dim);
  *named = wick_dim_is(columns, 5);
  if (t.rank < 4 || (!*named && !wick_dim_is(columns, 4))) {
    wick_import_fail(n, WICK_ETYPE, "the boxes have no dimension of 4 or 5 numbers");
    return false;
  }
  all = wick_build_reshape(b, all, 2, (wick_dim[]){rows, columns});
  wick_dim one = wick_dim_const(1);
  if (*named) {
    *boxes = wick_emit_slice(b, all, 1, one, wick_dim_const(4));
    *image = wick_coreml_as(n, wick_emit_slice(b, all, 1, wick_dim_const(0), one), WICK_I64);
    *image = wick_build_reshape(b, *image, 4, (wick_dim[]){rows, one, one, one});
    *count = rows;
    return !b->status;
  }
  wick_dim total = wick_dim_mul(n->c->module->dims, rows, batch); /* each box of each image */
  wick_value three = wick_build_reshape(b, all, 3, (wick_dim[]){rows, one, columns});
  three = wick_emit_expand(b, three, 3, (wick_dim[]){rows, batch, columns});
  *boxes = wick_build_reshape(b, three, 2, (wick_dim[]){total, columns});
  wick_value i = wick_emit_count_along(b, batch, 1, 2);
  i = wick_emit_expand(b, i, 2, (wick_dim[]){rows, batch});
  *image = wick_build_reshape(b, i, 4, (wick_dim[]){total, one, one, one});
  *count = total;
  return !b->status;
}

void wick_coreml_crop_resize(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t size[2], mode = image_mode(n);
  wick_value x = wick_coreml_fold(n, wick_coreml_float(n, 0), 3), boxes, image;
  wick_dim count, one = wick_dim_const(1);
  bool named;
  if (n->failed || b->status || !image_target(n, size)) return;
  const wick_type_info t = *wick_built_info(b, x); /* [batch, C, H, W] */
  if (!image_boxes(n, t.dim[0], &boxes, &image, &count, &named)) return;
  wick_dim dim[] = {count, wick_dim_const(size[0]), wick_dim_const(size[1]), one};
  image_axis axis[2];
  for (uint32_t k = 0; k < 2; k++) {
    wick_value low, high, last = wick_build1(b, WICK_OP_size, wick_emit_count(b, t.dim[2 + k]));
    last = wick_emit_by(b, WICK_OP_sub, wick_coreml_as(n, last, WICK_F32), 1);
    image_edges(n, boxes, k, last, &low, &high);
    wick_value at = image_positions(n, mode, low, high, last, size[k]);
    axis[k] = image_neighbours(n, at, (wick_dim[]){count, k ? one : dim[1], k ? dim[2] : one, one});
  }
  wick_value last = wick_build_transpose(b, x, 4, (int64_t[]){0, 2, 3, 1});
  wick_value ll = image_pick(n, last, image, axis[0].low, axis[1].low, dim);
  wick_value lh = image_pick(n, last, image, axis[0].low, axis[1].high, dim);
  wick_value hl = image_pick(n, last, image, axis[0].high, axis[1].low, dim);
  wick_value hh = image_pick(n, last, image, axis[0].high, axis[1].high, dim);
  wick_value top = image_blend(n, ll, lh, axis[1].weight),
             bottom = image_blend(n, hl, hh, axis[1].weight);
  wick_value y = image_blend(n, top, bottom, axis[0].weight);
  y = wick_build_transpose(b, y, 4, (int64_t[]){0, 3, 1, 2});
  wick_dim batch = named ? one : t.dim[0],
           rows = named ? count
                        : wick_array_product(n, wick_import_info(n, 1)->rank - 3u,
                                             wick_import_info(n, 1)->dim);
  n->out[0] = wick_build_reshape(b, y, 5, (wick_dim[]){rows, batch, t.dim[1], dim[1], dim[2]});
}

void wick_coreml_reorganize(wick_import_node *n)
{
  enum { SPACE_TO_DEPTH, DEPTH_TO_SPACE, PIXEL_SHUFFLE };
  int64_t mode = wick_import_int(n, "mode", 0), block = wick_import_int(n, "blockSize", 0);
  wick_value like = wick_coreml_float(n, 0), x = wick_coreml_fold(n, like, 3);
  if (n->failed) return;
  if (block < 1 || block > 32768 || mode < 0 || mode > PIXEL_SHUFFLE) {
    wick_import_fail(n, WICK_ERANGE, "the block size is %lld, the mode %lld", (long long)block,
                     (long long)mode);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, mode == SPACE_TO_DEPTH ? WICK_OP_space_to_depth
                                                             : WICK_OP_depth_to_space);
  wick_emit_set_int(&e, "block", block);
  if (mode != SPACE_TO_DEPTH) wick_emit_set_int(&e, "order", mode == PIXEL_SHUFFLE);
  n->out[0] = wick_coreml_unfold(n, wick_emit_end1(&e, x), like, 3);
}
