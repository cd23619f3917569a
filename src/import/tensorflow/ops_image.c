/* Images: sizes, crops, colours, boxes. */
#include <math.h>
#include <string.h>

#include "import/kit/projective.h"
#include "import/tensorflow/ops.h"

/* ---- crops ---- */

/* The coordinates of one axis for each box: [boxes, count]. `at` is the column of the box's low
 * edge, its high edge comes two columns later. */
static wick_value image_coordinates(wick_import_node *n, wick_value boxes, uint32_t at,
                                    wick_dim size, int64_t count)
{
  wick_builder *b = n->b;
  wick_value low = wick_emit_slice(b, boxes, 1, wick_dim_const(at), wick_dim_const(1));
  wick_value high = wick_emit_slice(b, boxes, 1, wick_dim_const(at + 2), wick_dim_const(1));
  wick_value last = wick_build1(b, WICK_OP_size, wick_emit_count(b, size));
  last = wick_emit_by(b, WICK_OP_sub, wick_build_cast(b, last, WICK_F32), 1);
  if (count == 1) {
    wick_value sum = wick_build2(b, WICK_OP_add, low, high);
    return wick_build2(b, WICK_OP_mul, wick_emit_by(b, WICK_OP_mul, sum, 0.5), last);
  }
  wick_value span = wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, high, low), last);
  wick_value step = wick_emit_by(b, WICK_OP_div, span, (double)(count - 1));
  wick_value i = wick_emit_count_along(b, wick_dim_const(count), 1, 2);
  wick_value way = wick_build2(b, WICK_OP_mul, wick_build_cast(b, i, WICK_F32), step);
  return wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, low, last), way);
}

typedef struct image_axis {
  wick_value low, high, weight, inside; /* each with rank 4: [boxes, rows, columns, 1] */
} image_axis;

static image_axis image_neighbours(wick_import_node *n, wick_value at, wick_dim size, bool column,
                                   int64_t count, wick_dim boxes)
{
  wick_builder *b = n->b;
  wick_dim one = wick_dim_const(1), many = wick_dim_const(count);
  wick_dim dim[] = {boxes, column ? one : many, column ? many : one, one};
  at = wick_build_reshape(b, at, 4, dim);
  wick_value last = wick_build1(b, WICK_OP_size, wick_emit_count(b, size));
  last = wick_emit_by(b, WICK_OP_sub, wick_build_cast(b, last, WICK_F32), 1);
  wick_value zero = wick_emit_number(b, at, 0);
  wick_value above = wick_build2(b, WICK_OP_ge, at, zero),
             below = wick_build2(b, WICK_OP_le, at, last);
  image_axis a = {.inside = wick_build2(b, WICK_OP_and, above, below)};
  wick_value safe = wick_build2(b, WICK_OP_min, wick_build2(b, WICK_OP_max, at, zero), last);
  wick_value low = wick_build1(b, WICK_OP_floor, safe), high = wick_build1(b, WICK_OP_ceil, safe);
  a.weight = wick_build2(b, WICK_OP_sub, safe, low);
  if (wick_import_word(n, "method", "bilinear nearest")) { /* halves away from 0 */
    low = high = wick_build1(b, WICK_OP_floor, wick_emit_by(b, WICK_OP_add, safe, 0.5));
    a.weight = wick_emit_by(b, WICK_OP_mul, a.weight, 0);
  }
  a.low = wick_build_cast(b, low, WICK_I64), a.high = wick_build_cast(b, high, WICK_I64);
  return a;
}

/* The elements of the image at these rows and columns: [boxes, rows, columns, C]. */
static wick_value image_pick(wick_import_node *n, wick_value x, wick_value image, wick_value row,
                             wick_value column, const wick_dim *dim)
{
  wick_value part[] = {wick_emit_expand(n->b, image, 4, dim), wick_emit_expand(n->b, row, 4, dim),
                       wick_emit_expand(n->b, column, 4, dim)};
  wick_value at = wick_build_concat(n->b, 3, 3, part);
  return wick_build_cast(n->b, wick_build2(n->b, WICK_OP_gather_nd, x, at), WICK_F32);
}

static wick_value image_blend(wick_import_node *n, wick_value a, wick_value b, wick_value weight)
{
  wick_value d = wick_build2(n->b, WICK_OP_sub, b, a);
  return wick_build2(n->b, WICK_OP_add, a, wick_build2(n->b, WICK_OP_mul, d, weight));
}

void wick_tf_import_crop_and_resize(wick_import_node *n) /* x, boxes [k, 4], images [k], size */
{
  wick_builder *b = n->b;
  uint32_t count;
  const int64_t *size;
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 2, 2) ||
      !wick_import_numbers(n, 3, "the size", &count, &size))
    return;
  if (count != 2 || size[0] < 1 || size[1] < 1) {
    wick_import_fail(n, WICK_ETYPE, "the size is not two numbers above 0");
    return;
  }
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dim boxes = wick_import_info(n, 1)->dim[0], one = wick_dim_const(1);
  wick_dim dim[] = {boxes, wick_dim_const(size[0]), wick_dim_const(size[1]), one};
  wick_value edges = wick_build_cast(b, n->in[1], WICK_F32);
  wick_value ys = image_coordinates(n, edges, 0, t.dim[1], size[0]);
  wick_value xs = image_coordinates(n, edges, 1, t.dim[2], size[1]);
  image_axis y = image_neighbours(n, ys, t.dim[1], false, size[0], boxes);
  image_axis x = image_neighbours(n, xs, t.dim[2], true, size[1], boxes);
  wick_value image = wick_build_reshape(b, wick_build_cast(b, n->in[2], WICK_I64), 4,
                                        (wick_dim[]){boxes, one, one, one});
  wick_value ll = image_pick(n, n->in[0], image, y.low, x.low, dim);
  wick_value lh = image_pick(n, n->in[0], image, y.low, x.high, dim);
  wick_value hl = image_pick(n, n->in[0], image, y.high, x.low, dim);
  wick_value hh = image_pick(n, n->in[0], image, y.high, x.high, dim);
  wick_value top = image_blend(n, ll, lh, x.weight), bottom = image_blend(n, hl, hh, x.weight);
  wick_value z = image_blend(n, top, bottom, y.weight);
  wick_value inside = wick_build2(b, WICK_OP_and, y.inside, x.inside);
  wick_value other = wick_emit_number(b, z, wick_import_real(n, "extrapolation_value", 0));
  n->out[0] = wick_build3(b, WICK_OP_where, inside, z, other);
}

/* image, transforms, size, fill value */
void wick_tf_import_projective(wick_import_node *n)
{
  uint32_t count;
  const int64_t *size;
  wick_outside outside;
  const char *mode = wick_import_text(n, "fill_mode", "CONSTANT");
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_numbers(n, 2, "the size", &count, &size))
    return;
  if (count != 2 || size[0] < 1 || size[1] < 1 || !wick_outside_named(mode, &outside)) {
    wick_import_fail(n, WICK_ETYPE,
                     "the size is not two numbers above 0, or the fill mode is unknown");
    return;
  }
  const wick_dim dim[2] = {wick_dim_const(size[0]), wick_dim_const(size[1])};
  wick_value fill = wick_emit_number(n->b, n->in[0], 0);
  if (n->nin > 3) fill = wick_build_cast(n->b, n->in[3], wick_import_info(n, 0)->elem);
  bool linear = strcmp(wick_import_text(n, "interpolation", "NEAREST"), "BILINEAR") == 0;
  n->out[0] = wick_projective(n, n->in[0], n->in[1], dim, linear, outside, fill);
}

/* ---- colours ---- */

void wick_tf_import_adjust_contrast(wick_import_node *n) /* x [..., H, W, C], factor */
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  if (!wick_import_rank(n, 0, 3, WICK_MAX_RANK)) return;
  int64_t axes[] = {rank - 3, rank - 2};
  wick_value mean = wick_emit_reduce(n->b, WICK_OP_reduce_mean, n->in[0], 2, axes, true);
  wick_value off = wick_build2(n->b, WICK_OP_sub, n->in[0], mean);
  off = wick_build2(n->b, WICK_OP_mul, off, n->in[1]);
  n->out[0] = wick_build2(n->b, WICK_OP_add, off, mean);
}

void wick_tf_import_rgb_to_hsv(wick_import_node *n)
{
  n->out[0] = wick_array_rgb_to_hsv(n, n->in[0]);
}

void wick_tf_import_hsv_to_rgb(wick_import_node *n)
{
  n->out[0] = wick_array_hsv_to_rgb(n, n->in[0]);
}

/* One channel of images [..., 3], as [..., 1]. */
static wick_value image_channel(wick_import_node *n, wick_value x, uint32_t k)
{
  uint32_t last = n->b->status ? 0 : wick_built_info(n->b, x)->rank - 1u;
  return wick_emit_slice(n->b, x, last, wick_dim_const(k), wick_dim_const(1));
}

/* Turns the hue; the largest and the least channel keep their values. */
static wick_value image_turned(wick_import_node *n, wick_value x, wick_value turn)
{
  wick_builder *b = n->b;
  wick_value hue = image_channel(n, wick_array_rgb_to_hsv(n, x), 0);
  hue = wick_build2(b, WICK_OP_add, hue, turn);
  hue = wick_build2(b, WICK_OP_sub, hue, wick_build1(b, WICK_OP_floor, hue));
  if (b->status) return x;
  const wick_type_info t = *wick_built_info(b, hue);
  wick_value full = wick_emit_expand(b, wick_emit_number(b, hue, 1), t.rank, t.dim);
  wick_value pure = wick_build_concat(b, t.rank - 1u, 3, (wick_value[]){hue, full, full});
  pure = wick_array_hsv_to_rgb(n, pure);
  wick_value high = wick_emit_reduce1(b, WICK_OP_reduce_max, x, -1, true);
  wick_value low = wick_emit_reduce1(b, WICK_OP_reduce_min, x, -1, true);
  wick_value range = wick_build2(b, WICK_OP_sub, high, low);
  return wick_build2(b, WICK_OP_add, low, wick_build2(b, WICK_OP_mul, range, pure));
}

static wick_value image_saturated(wick_import_node *n, wick_value x, wick_value factor)
{
  wick_builder *b = n->b;
  wick_value hsv = wick_array_rgb_to_hsv(n, x);
  wick_value h = image_channel(n, hsv, 0), s = image_channel(n, hsv, 1),
             v = image_channel(n, hsv, 2);
  s = wick_build2(b, WICK_OP_mul, s, factor);
  s = wick_emit_by(b, WICK_OP_min, wick_emit_by(b, WICK_OP_max, s, 0), 1);
  uint32_t last = b->status ? 0 : wick_built_info(b, s)->rank - 1u;
  return wick_array_hsv_to_rgb(n, wick_build_concat(b, last, 3, (wick_value[]){h, s, v}));
}

/* AdjustHue (arg 0), AdjustSaturation (arg 1): x [..., 3], number. They compute in f32. */
void wick_tf_import_adjust_color(wick_import_node *n)
{
  wick_elem e = wick_import_info(n, 0)->elem;
  if (!wick_import_rank(n, 0, 3, WICK_MAX_RANK)) return;
  wick_value x = wick_build_cast(n->b, n->in[0], WICK_F32),
             by = wick_build_cast(n->b, n->in[1], WICK_F32);
  wick_value y = n->row->arg ? image_saturated(n, x, by) : image_turned(n, x, by);
  if (y.id) n->out[0] = wick_build_cast(n->b, y, e);
}

/* ---- boxes ---- */

/* Selects boxes [batch, 4, k] by scores [batch, k]: indices [batch, most] and their numbers
 * [batch]. */
static bool image_select(wick_import_node *n, wick_value boxes, wick_value scores, wick_dim most,
                         double overlap, wick_value threshold, wick_value *index, wick_value *count)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_built_info(b, scores);
  if (b->status) return false;
  wick_value low[2], high[2];
  for (uint32_t k = 0; k < 2; k++) { /* corners in any order */
    wick_value a = wick_emit_slice(b, boxes, 1, wick_dim_const(k), wick_dim_const(1));
    wick_value c = wick_emit_slice(b, boxes, 1, wick_dim_const(k + 2), wick_dim_const(1));
    low[k] = wick_build2(b, WICK_OP_min, a, c), high[k] = wick_build2(b, WICK_OP_max, a, c);
  }
  boxes = wick_build_concat(b, 1, 4, (wick_value[]){low[0], low[1], high[0], high[1]});
  if (threshold.id) {
    wick_value good = wick_build2(b, WICK_OP_gt, scores, threshold);
    wick_value none = wick_emit_number(b, scores, (double)-INFINITY);
    scores = wick_build3(b, WICK_OP_where, good, scores, none);
  }
  wick_emit s = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&s, "axis", 1);
  wick_emit_set_dims(&s, "k", 1, &t.dim[1]);
  wick_value sorted = wick_emit_end1(&s, scores);
  if (b->status) return false;
  wick_value order = {sorted.id + 1};
  sorted = wick_emit_unsqueeze(b, sorted, 1), order = wick_emit_unsqueeze(b, order, 1);
  wick_emit e = wick_emit_begin(b, WICK_OP_non_max_suppression);
  wick_emit_set_dims(&e, "most", 1, &most);
  wick_emit_set_float(&e, "overlap", overlap);
  wick_value y = wick_emit_end(&e, 3, (wick_value[]){boxes, sorted, order});
  if (b->status) return false;
  *index = wick_emit_squeeze(b, y, 1);
  *count = wick_build_reshape(b, (wick_value){y.id + 1}, 1, t.dim);
  return !b->status;
}

static bool image_float(wick_import_node *n, uint32_t i, const char *what, double *out)
{
  uint32_t count;
  const double *v;
  if (!wick_import_reals(n, i, what, &count, &v)) return false;
  *out = count ? v[0] : 0;
  return true;
}

/* arg: the version, 2 to 5. Operands: boxes [k, 4], scores [k], most, overlap, threshold, sigma */
void wick_tf_import_non_max_suppression(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t one;
  const wick_dim *most;
  double overlap = 0.5, sigma = 0;
  int version = n->row->arg;
  if (!wick_import_rank(n, 0, 2, 2) ||
      !wick_import_dims(n, 2, "the number of boxes", &one, &most) ||
      (n->nin > 3 && !image_float(n, 3, "the overlap", &overlap)) ||
      (version == 5 && !image_float(n, 5, "sigma", &sigma)))
    return;
  if (version == 1) overlap = wick_import_real(n, "iou_threshold", 0.5);
  if (sigma != 0) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "soft suppression (sigma %g)", sigma);
    return;
  }
  wick_value boxes =
      wick_emit_unsqueeze(b, wick_build_swap(b, wick_build_cast(b, n->in[0], WICK_F32)), 0);
  wick_value scores = wick_emit_unsqueeze(b, wick_build_cast(b, n->in[1], WICK_F32), 0);
  wick_value threshold = {0}, index, count;
  if (n->nin > 4) threshold = wick_build_cast(b, n->in[4], WICK_F32);
  bool pad = wick_import_int(n, "pad_to_max_output_size", 0) != 0;
  wick_dim boxes_n = wick_import_info(n, 1)->dim[0];
  wick_dim limit = pad ? most[0] : wick_dim_min(n->c->module->dims, most[0], boxes_n);
  if (!image_select(n, boxes, scores, limit, overlap, threshold, &index, &count)) return;
  index = wick_emit_squeeze(b, index, 0), count = wick_build_reshape(b, count, 0, NULL);
  n->out[0] = wick_build_cast(b, index, WICK_I32);
  uint32_t at = 1;
  if (version == 5 && n->nout > 1) {
    wick_value chosen = wick_emit_gather(b, WICK_OP_gather, n->in[1], index, 0);
    wick_value i = wick_emit_count(b, limit), c = wick_build_cast(b, count, WICK_I64);
    wick_value valid = wick_build2(b, WICK_OP_lt, i, c);
    n->out[at++] = wick_build3(b, WICK_OP_where, valid, chosen, wick_emit_number(b, chosen, 0));
  }
  wick_value whole = wick_build_cast(b, count, WICK_I64);
  if (version >= 4 && at < n->nout) n->out[at] = wick_build_cast(b, count, WICK_I32);
  if (pad) return;
  n->out[0] = wick_import_bounded(n->c, n->out[0], 0, whole);
  if (version == 5 && n->nout > 1) n->out[1] = wick_import_bounded(n->c, n->out[1], 0, whole);
}

/* boxes [batch, k, 1 or classes, 4], scores [batch, k, classes], most of a class, most of all,
 * overlap, threshold. Each class is an image of its own; then the best of all classes are taken. */
void wick_tf_import_combined_suppression(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t most, total;
  double overlap;
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 3, 3) ||
      !wick_import_one(n, 2, "the most boxes of a class", 0, &most) ||
      !wick_import_one(n, 3, "the most boxes", 0, &total) ||
      !image_float(n, 4, "the overlap", &overlap))
    return;
  const wick_type_info t = *wick_import_info(n, 1);
  wick_dims *d = n->c->module->dims;
  wick_dim batch = t.dim[0], k = t.dim[1], classes = t.dim[2], four = wick_dim_const(4);
  if (!wick_dim_is_const(classes) || most < 1 || total < 1 || classes.v < 1) {
    wick_import_must_be_known(n, "the number of classes", classes);
    return;
  }
  int64_t all = most * classes.v, kept = total < all ? total : all;
  bool per_class = wick_import_int(n, "pad_per_class", 0) != 0;
  int64_t width = per_class ? kept : total;
  wick_dim images = wick_dim_mul(d, batch, classes);
  wick_value boxes = wick_build_transpose(b, n->in[0], 4, (int64_t[]){0, 2, 3, 1});
  boxes = wick_emit_expand(b, boxes, 4, (wick_dim[]){batch, classes, four, k});
  boxes = wick_build_reshape(b, boxes, 3, (wick_dim[]){images, four, k});
  wick_value scores = wick_build_transpose(b, n->in[1], 3, (int64_t[]){0, 2, 1}), index, count;
  scores = wick_build_reshape(b, scores, 2, (wick_dim[]){images, k});
  wick_dim m = wick_dim_const(most), flat = wick_dim_const(all);
  if (!image_select(n, boxes, scores, m, overlap, n->in[5], &index, &count)) return;
  wick_value i = wick_emit_count_along(b, m, 1, 2);
  wick_value valid =
      wick_build2(b, WICK_OP_lt, i, wick_emit_unsqueeze(b, wick_build_cast(b, count, WICK_I64), 1));
  index = wick_build_cast(b, index, WICK_I64);
  wick_value best = wick_emit_gather(b, WICK_OP_gather_elements, scores, index, 1);
  best = wick_build3(b, WICK_OP_where, valid, best, wick_emit_number(b, best, (double)-INFINITY));
  best = wick_build_reshape(b, best, 2, (wick_dim[]){batch, flat});
  wick_emit s = wick_emit_begin(b, WICK_OP_top_k);
  wick_dim keep = wick_dim_const(kept);
  wick_emit_set_int(&s, "axis", 1);
  wick_emit_set_dims(&s, "k", 1, &keep);
  wick_value top = wick_emit_end1(&s, best);
  if (b->status) return;
  wick_value place = {top.id + 1};
  valid = wick_emit_by(b, WICK_OP_gt, top, (double)-INFINITY);
  wick_value none = wick_emit_number(b, top, 0);
  wick_value score = wick_build3(b, WICK_OP_where, valid, top, none);
  wick_value class =
      wick_build_cast(b, wick_emit_by(b, WICK_OP_div, place, (double)most), WICK_F32);
  class = wick_build3(b, WICK_OP_where, valid, class, none);
  boxes = wick_build_transpose(b, boxes, 3, (int64_t[]){0, 2, 1}); /* [images, k, 4] */
  wick_dim wide[] = {images, m, four};
  wick_value at = wick_emit_expand(b, wick_emit_unsqueeze(b, index, 2), 3, wide);
  wick_value chosen = wick_emit_gather(b, WICK_OP_gather_elements, boxes, at, 1);
  chosen = wick_build_reshape(b, chosen, 3, (wick_dim[]){batch, flat, four});
  wick_dim last[] = {batch, keep, four};
  at = wick_emit_expand(b, wick_emit_unsqueeze(b, place, 2), 3, last);
  chosen = wick_emit_gather(b, WICK_OP_gather_elements, chosen, at, 1);
  wick_value low = wick_emit_number(b, chosen, 0), high = wick_emit_number(b, chosen, 1);
  if (wick_import_int(n, "clip_boxes", 1)) chosen = wick_build3(b, WICK_OP_clip, chosen, low, high);
  chosen = wick_build3(b, WICK_OP_where, wick_emit_unsqueeze(b, valid, 2), chosen, low);
  wick_value number =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, valid, WICK_I32), 1, false);
  const wick_value out[] = {chosen, score, class, number};
  for (uint32_t k2 = 0; k2 < n->nout && k2 < 4; k2++) {
    n->out[k2] = out[k2];
    if (k2 == 3 || width == kept || b->status) continue;
    uint32_t rank = k2 ? 2 : 3;
    wick_dim pad[6];
    for (uint32_t j = 0; j < 2 * rank; j++) pad[j] = wick_dim_const(0);
    pad[rank + 1] = wick_dim_const(width - kept);
    wick_emit e = wick_emit_begin(b, WICK_OP_pad);
    wick_emit_set_dims(&e, "pad", 2 * rank, pad);
    n->out[k2] = wick_emit_end1(&e, out[k2]);
  }
}
