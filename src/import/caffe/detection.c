/* Imports the layers of SSD and Fast R-CNN: boxes of an image. Sources: prior_box_layer.cpp,
 * detection_output_layer.cpp and bbox_util.cpp of the fork for SSD. */
#include <float.h>
#include <math.h>

#include "import/caffe/ops.h"
#include "import/kit/array.h"
#include "import/kit/suppress.h"

/* ---- prior boxes ---- */

enum { PRIOR_RATIOS = 64, PRIOR_MOST = 1 << 24 };

typedef struct prior_boxes {
  int64_t rows, columns; /* of the layer */
  double width, height;  /* of the image */
  double step[2], offset;
  uint32_t nratio;
  double ratio[PRIOR_RATIOS];
  wick_import_attr least, most; /* sizes */
  double *out;
} prior_boxes;

static bool prior_size(wick_import_node *n, uint32_t i, uint32_t axis, int64_t *out)
{
  wick_dim d = wick_import_info(n, i)->dim[axis];
  if (!wick_dim_is_const(d)) return wick_import_must_be_known(n, "the image's size", d);
  *out = d.v;
  return true;
}

/* 1 is the first ratio; none occurs twice. */
static void prior_ratios(wick_import_node *n, prior_boxes *p)
{
  wick_import_attr given = wick_import_attr_of(n, "aspect_ratio", 'F');
  bool flip = wick_import_int(n, "flip", 1) != 0;
  p->ratio[p->nratio++] = 1;
  for (uint32_t i = 0; i < given.n; i++) {
    bool known = !(given.floats[i] > 0);
    for (uint32_t k = 0; k < p->nratio; k++)
      known = known || fabs(given.floats[i] - p->ratio[k]) < 1e-6;
    if (known || p->nratio + 2 > PRIOR_RATIOS) continue;
    p->ratio[p->nratio++] = given.floats[i];
    if (flip) p->ratio[p->nratio++] = 1 / given.floats[i];
  }
}

static bool prior_read(wick_import_node *n, prior_boxes *p)
{
  int64_t size[2] = {0};
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 4, 4) ||
      !prior_size(n, 0, 2, &p->rows) || !prior_size(n, 0, 3, &p->columns) ||
      !prior_size(n, 1, 2, &size[0]) || !prior_size(n, 1, 3, &size[1]))
    return false;
  int64_t all = wick_import_int(n, "img_size", 0);
  p->height = (double)wick_import_int(n, "img_h", all ? all : size[0]);
  p->width = (double)wick_import_int(n, "img_w", all ? all : size[1]);
  double step = wick_import_real(n, "step", 0);
  p->step[0] = wick_import_real(n, "step_h", step);
  p->step[1] = wick_import_real(n, "step_w", step);
  if (p->step[0] == 0 || p->step[1] == 0) {
    p->step[0] = p->height / (double)p->rows;
    p->step[1] = p->width / (double)p->columns;
  }
  p->offset = wick_import_real(n, "offset", 0.5);
  p->least = wick_import_attr_of(n, "min_size", 'F');
  p->most = wick_import_attr_of(n, "max_size", 'F');
  if (!p->least.n || (p->most.n && p->most.n != p->least.n) || !(p->width > 0) ||
      !(p->height > 0)) {
    wick_import_fail(n, WICK_EPARSE, "it has %u min_size and %u max_size", p->least.n, p->most.n);
    return false;
  }
  prior_ratios(n, p);
  return true;
}

static void prior_add(prior_boxes *p, double x, double y, double w, double h)
{
  *p->out++ = (x - w / 2) / p->width;
  *p->out++ = (y - h / 2) / p->height;
  *p->out++ = (x + w / 2) / p->width;
  *p->out++ = (y + h / 2) / p->height;
}

/* The boxes of one position. Sizes are cut to integers, as the layer does. */
static void prior_position(prior_boxes *p, double x, double y)
{
  for (uint32_t s = 0; s < p->least.n; s++) {
    double least = trunc(p->least.floats[s]);
    prior_add(p, x, y, least, least);
    if (p->most.n) {
      double between = sqrt(least * trunc(p->most.floats[s]));
      prior_add(p, x, y, between, between);
    }
    for (uint32_t k = 1; k < p->nratio; k++) {
      double root = sqrt(p->ratio[k]);
      prior_add(p, x, y, least * root, least / root);
    }
  }
}

/* A constant [1, 2, 4 * boxes]: the boxes, and their variances. */
void wick_caffe_prior_box(wick_import_node *n)
{
  prior_boxes p = {0};
  if (!prior_read(n, &p)) return;
  int64_t count = (int64_t)p.least.n * p.nratio + p.most.n, area, dim[3] = {1, 2, 0};
  wick_import_attr variance = wick_import_attr_of(n, "variance", 'F');
  if (wick_mul_overflows(p.rows, p.columns, &area) || wick_mul_overflows(area, count, &count) ||
      count > PRIOR_MOST || count < 1) {
    wick_import_fail(n, WICK_ELIMIT, "it has more than %d boxes", PRIOR_MOST);
    return;
  }
  if (variance.n != 0 && variance.n != 1 && variance.n != 4) {
    wick_import_fail(n, WICK_EPARSE, "it has %u variances, expected 1 or 4", variance.n);
    return;
  }
  dim[2] = 4 * count;
  double *numbers = p.out = wick_new(n->c->tmp, double, 8 * (size_t)count);
  for (int64_t y = 0; y < p.rows; y++)
    for (int64_t x = 0; x < p.columns; x++)
      prior_position(&p, ((double)x + p.offset) * p.step[1], ((double)y + p.offset) * p.step[0]);
  for (int64_t k = 0; k < dim[2]; k++) {
    if (wick_import_int(n, "clip", 0)) numbers[k] = fmin(fmax(numbers[k], 0), 1);
    numbers[dim[2] + k] = variance.n == 4 ? variance.floats[k % 4]
                          : variance.n    ? variance.floats[0]
                                          : 0.1;
  }
  n->out[0] = wick_emit_table(n->b, n->name, WICK_F32, 3, dim, numbers);
}

/* ---- detections ---- */

typedef struct detection {
  wick_import_node *n;
  int64_t images, priors, classes, sets; /* sets of boxes: one, or one for each class */
  int64_t most;                          /* selected boxes of a class */
  wick_value boxes;                      /* [images, priors, sets, 4] */
  wick_value scores;                     /* [images, classes, priors] */
} detection;

static wick_value detection_shaped(wick_builder *b, wick_value x, uint32_t rank, const int64_t *dim)
{
  wick_dim d[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) d[k] = wick_dim_const(dim[k]);
  return wick_build_reshape(b, x, rank, d);
}

static wick_value detection_column(wick_builder *b, wick_value x, uint32_t axis, int64_t at,
                                   int64_t size)
{
  return wick_emit_slice(b, x, axis, wick_dim_const(at), wick_dim_const(size));
}

/* Boxes from the locations [images, priors, sets, 4], by the prior boxes [1, priors, 1, 4]. */
static wick_value detection_decoded(detection *d, wick_value loc, wick_value prior)
{
  enum { CORNER = 1, CENTER_SIZE, CORNER_SIZE };
  wick_builder *b = d->n->b;
  int64_t code = wick_import_int(d->n, "code_type", CORNER);
  wick_value low = detection_column(b, prior, 3, 0, 2), high = detection_column(b, prior, 3, 2, 2);
  wick_value size = wick_build2(b, WICK_OP_sub, high, low);
  if (code == CORNER) return wick_build2(b, WICK_OP_add, prior, loc);
  if (code == CORNER_SIZE) {
    wick_value twice = wick_build_concat(b, 3, 2, (wick_value[]){size, size});
    return wick_build2(b, WICK_OP_add, prior, wick_build2(b, WICK_OP_mul, loc, twice));
  }
  if (code != CENTER_SIZE) {
    wick_import_fail(d->n, WICK_EPARSE, "there is no code_type %lld", (long long)code);
    return loc;
  }
  wick_value center = wick_emit_by(b, WICK_OP_mul, wick_build2(b, WICK_OP_add, low, high), 0.5);
  wick_value move = wick_build2(b, WICK_OP_mul, detection_column(b, loc, 3, 0, 2), size);
  center = wick_build2(b, WICK_OP_add, center, move);
  wick_value half = wick_build1(b, WICK_OP_exp, detection_column(b, loc, 3, 2, 2));
  half = wick_emit_by(b, WICK_OP_mul, wick_build2(b, WICK_OP_mul, half, size), 0.5);
  low = wick_build2(b, WICK_OP_sub, center, half);
  high = wick_build2(b, WICK_OP_add, center, half);
  return wick_build_concat(b, 3, 2, (wick_value[]){low, high});
}

/* Reads the operands: locations, confidences, and prior boxes with their variances. */
static bool detection_read(detection *d)
{
  wick_import_node *n = d->n;
  wick_builder *b = n->b;
  d->classes = wick_import_int(n, "num_classes", 0);
  d->sets = wick_import_int(n, "share_location", 1) ? 1 : d->classes;
  if (!wick_import_rank(n, 2, 3, 3) || !wick_import_rank(n, 0, 2, 4) ||
      !wick_import_rank(n, 1, 2, 4) || !prior_size(n, 0, 0, &d->images) ||
      !prior_size(n, 2, 2, &d->priors))
    return false;
  d->priors /= 4;
  if (d->classes < 1 || d->classes > 1 << 16 || d->priors < 1 || d->priors > PRIOR_MOST ||
      d->images < 1 || d->images > 1 << 16 || !(wick_import_real(n, "nms_param.eta", 1) > 0) ||
      wick_import_real(n, "objectness_score", 0) > 0) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "%lld classes and %lld prior boxes, with eta %g and objectness_score %g",
                     (long long)d->classes, (long long)d->priors,
                     wick_import_real(n, "nms_param.eta", 1),
                     wick_import_real(n, "objectness_score", 0));
    return false;
  }
  const int64_t loc_dim[] = {d->images, d->priors, d->sets, 4}, prior_dim[] = {1, d->priors, 1, 4},
                conf_dim[] = {d->images, d->priors, d->classes}, turned[] = {0, 2, 1};
  wick_value loc = detection_shaped(b, n->in[0], 4, loc_dim);
  wick_value prior = detection_column(b, n->in[2], 1, 0, 1);
  prior = detection_shaped(b, prior, 4, prior_dim);
  if (!wick_import_int(n, "variance_encoded_in_target", 0)) {
    wick_value variance = detection_column(b, n->in[2], 1, 1, 1);
    variance = detection_shaped(b, variance, 4, prior_dim);
    loc = wick_build2(b, WICK_OP_mul, loc, variance);
  }
  d->boxes = detection_decoded(d, loc, prior);
  d->scores = wick_build_transpose(b, detection_shaped(b, n->in[1], 3, conf_dim), 3, turned);
  return !n->failed && !b->status;
}

/* Selects by a threshold that adapts. scores and order [images * sets, classes of a set, most] are sorted;
 * boxes are [images * sets, 4, priors]. Sets the number of selected boxes, and returns their indices. */
static wick_value detection_adaptive(detection *d, wick_value boxes, wick_value sorted,
                                     wick_value order, double eta, wick_value *count)
{
  wick_import_node *n = d->n;
  wick_builder *b = n->b;
  int64_t per = d->classes / d->sets, lines = d->images * d->classes;
  const int64_t each[] = {d->images * d->sets, 1, d->priors, 4}, flat[] = {lines, d->most},
                whole[] = {lines, d->priors, 4};
  const wick_dim all[] = {wick_dim_const(each[0]), wick_dim_const(per), wick_dim_const(d->priors),
                          wick_dim_const(4)};
  boxes = detection_shaped(b, wick_build_swap(b, boxes), 4, each);
  boxes = detection_shaped(b, wick_emit_expand(b, boxes, 4, all), 3, whole);
  order = detection_shaped(b, order, 2, flat);
  wick_boxes s = {.overlap = wick_import_real(n, "nms_param.nms_threshold", 0.3), .eta = eta};
  s.corners = wick_boxes_rows(b, boxes, order);
  s.valid = wick_emit_by(b, WICK_OP_gt, detection_shaped(b, sorted, 2, flat), -(double)INFINITY);
  wick_value kept = wick_boxes_kept(b, &s);
  *count = wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, kept, WICK_I64), 1, false);
  return wick_emit_gather(b, WICK_OP_gather_elements, order, wick_boxes_first(b, kept), 1);
}

/* Selects boxes of each class. Sets their indices and scores [images * classes * most]; those that are
 * not valid have minus infinity. */
static void detection_select(detection *d, wick_value *index, wick_value *score)
{
  wick_import_node *n = d->n;
  wick_builder *b = n->b;
  int64_t k = wick_import_int(n, "nms_param.top_k", -1), per = d->classes / d->sets,
          none = wick_import_int(n, "background_label_id", 0);
  double threshold = wick_import_real(n, "confidence_threshold", -(double)FLT_MAX);
  d->most = k > 0 && k < d->priors ? k : d->priors;
  wick_value low = wick_emit_number(b, d->scores, -(double)INFINITY);
  wick_value good = wick_emit_by(b, WICK_OP_gt, d->scores, threshold);
  if (none >= 0 && none < d->classes) {
    wick_value label = wick_emit_count_along(b, wick_dim_const(d->classes), 1, 3);
    wick_value other = wick_emit_by(b, WICK_OP_eq, label, (double)none);
    good = wick_build2(b, WICK_OP_and, good, wick_build1(b, WICK_OP_not, other));
  }
  wick_value masked = wick_build3(b, WICK_OP_where, good, d->scores, low);
  const int64_t split[] = {d->images * d->sets, per, d->priors}, sides[] = {0, 2, 3, 1},
                sets[] = {d->images * d->sets, 4, d->priors};
  masked = detection_shaped(b, masked, 3, split);
  wick_value boxes = wick_build_transpose(b, d->boxes, 4, sides);
  boxes = detection_shaped(b, boxes, 3, sets);
  wick_dim most = wick_dim_const(d->most);
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 2);
  wick_emit_set_dims(&e, "k", 1, &most);
  wick_value sorted = wick_emit_end1(&e, masked), order = {sorted.id + 1};
  if (b->status) return;
  double eta = wick_import_real(n, "nms_param.eta", 1);
  wick_value y, total;
  if (eta < 1) {
    y = detection_adaptive(d, boxes, sorted, order, eta, &total);
  } else {
    e = wick_emit_begin(b, WICK_OP_non_max_suppression);
    wick_emit_set_dims(&e, "most", 1, &most);
    wick_emit_set_float(&e, "overlap", wick_import_real(n, "nms_param.nms_threshold", 0.3));
    y = wick_emit_end(&e, 3, (wick_value[]){boxes, sorted, order});
    total = (wick_value){y.id + 1};
  }
  if (b->status) return;
  const int64_t all[] = {d->images, d->classes, d->most}, counts[] = {d->images, d->classes, 1},
                flat[] = {d->images * d->classes * d->most};
  wick_value count = detection_shaped(b, total, 3, counts);
  y = detection_shaped(b, y, 3, all);
  *score = wick_emit_gather(b, WICK_OP_gather_elements, d->scores, y, 2);
  wick_value valid = wick_build2(b, WICK_OP_lt, wick_emit_count_along(b, most, 2, 3), count);
  *score = detection_shaped(b, wick_build3(b, WICK_OP_where, valid, *score, low), 1, flat);
  *index = detection_shaped(b, y, 1, flat);
}

/* The positions of the best boxes of each image in the order of classes, images one after the other;
 * those that are not valid are last. Sets how many are valid. */
static wick_value detection_kept(detection *d, wick_value score, int64_t *out_rows,
                                 wick_value *count)
{
  wick_builder *b = d->n->b;
  int64_t all = d->classes * d->most, keep = wick_import_int(d->n, "keep_top_k", -1);
  keep = keep > 0 && keep < all ? keep : all;
  *out_rows = keep * d->images;
  const int64_t images[] = {d->images, all}, one[] = {*out_rows};
  wick_dim k = wick_dim_const(keep), rows = wick_dim_const(*out_rows);
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_dims(&e, "k", 1, &k);
  wick_value best = wick_emit_end1(&e, detection_shaped(b, score, 2, images)), at = {best.id + 1};
  if (b->status) return best;
  wick_value valid = wick_emit_by(b, WICK_OP_gt, best, -(double)INFINITY);
  wick_value image = wick_emit_count_along(b, wick_dim_const(d->images), 0, 2);
  at = wick_build2(b, WICK_OP_add, at, wick_emit_by(b, WICK_OP_mul, image, (double)all));
  wick_value last = wick_emit_number(b, at, (double)(all * d->images));
  at = detection_shaped(b, wick_build3(b, WICK_OP_where, valid, at, last), 1, one);
  wick_value whole = detection_shaped(b, wick_build_cast(b, valid, WICK_I64), 1, one);
  *count = wick_emit_reduce1(b, WICK_OP_reduce_sum, whole, 0, false);
  e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 0);
  wick_emit_set_dims(&e, "k", 1, &rows);
  wick_emit_set_int(&e, "least", 1);
  wick_value y = wick_emit_end1(&e, at);
  return wick_emit_by(b, WICK_OP_min, y, (double)(all * d->images - 1));
}

/* If nothing was found, there is a row for each image, its number and then -1. */
static wick_value detection_or_none(detection *d, wick_value found, int64_t rows, wick_value *count)
{
  wick_builder *b = d->n->b;
  const wick_dim six[] = {wick_dim_const(rows), wick_dim_const(6)};
  wick_value number = wick_emit_count_along(b, wick_dim_const(rows), 0, 2);
  number = wick_build_cast(b, number, WICK_F32);
  wick_value none = wick_emit_expand(b, wick_emit_number(b, number, -1), 2, six);
  none = wick_build_concat(b, 1, 2, (wick_value[]){number, none});
  wick_value empty = wick_emit_by(b, WICK_OP_eq, *count, 0);
  *count =
      wick_build3(b, WICK_OP_where, empty, wick_emit_number(b, *count, (double)d->images), *count);
  return wick_build3(b, WICK_OP_where, empty, none, found);
}

/* Rows of image, class, score and box [1, 1, rows, 7]; how many there are depends on the data. */
void wick_caffe_detection_output(wick_import_node *n)
{
  wick_builder *b = n->b;
  detection d = {.n = n};
  wick_value index = {0}, score = {0}, count = {0};
  int64_t rows;
  if (!detection_read(&d)) return;
  detection_select(&d, &index, &score);
  if (b->status) return;
  wick_value at = detection_kept(&d, score, &rows, &count);
  if (b->status) return;
  double all = (double)(d.classes * d.most);
  wick_value image = wick_emit_by(b, WICK_OP_div, at, all);
  wick_value label = wick_emit_by(b, WICK_OP_mod, at, all);
  label = wick_emit_by(b, WICK_OP_div, label, (double)d.most);
  wick_value box = wick_emit_by(b, WICK_OP_mul, image, (double)d.priors);
  wick_value chosen = wick_emit_gather(b, WICK_OP_gather, index, at, 0);
  box = wick_build2(b, WICK_OP_add, box, chosen);
  if (d.sets > 1) {
    box = wick_emit_by(b, WICK_OP_mul, box, (double)d.sets);
    box = wick_build2(b, WICK_OP_add, box, label);
  }
  const int64_t flat[] = {d.images * d.priors * d.sets, 4}, column[] = {rows, 1},
                out[] = {1, 1, rows, 7};
  wick_value boxes = detection_shaped(b, d.boxes, 2, flat), part[4];
  part[0] = detection_shaped(b, wick_build_cast(b, image, WICK_F32), 2, column);
  part[1] = detection_shaped(b, wick_build_cast(b, label, WICK_F32), 2, column);
  part[2] = detection_shaped(b, wick_emit_gather(b, WICK_OP_gather, score, at, 0), 2, column);
  part[3] = wick_emit_gather(b, WICK_OP_gather, boxes, box, 0);
  wick_value found = wick_build_concat(b, 1, 4, part);
  found = detection_or_none(&d, found, rows, &count);
  n->out[0] = wick_import_bounded(n->c, detection_shaped(b, found, 4, out), 2, count);
}

/* ---- regions ---- */

/* The largest elements in bins of regions [rows, (image, x, y, x, y)]. */
void wick_caffe_roi_pool(wick_import_node *n)
{
  const int64_t shape[2] = {wick_import_int(n, "pooled_h", 0), wick_import_int(n, "pooled_w", 0)};
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 2, 4)) return;
  wick_value rows = wick_array_matrix(n, n->in[1], 1);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_roi_max_pool);
  wick_emit_set_ints(&e, "shape", 2, shape);
  wick_emit_set_float(&e, "scale", wick_import_real(n, "spatial_scale", 1));
  n->out[0] = wick_emit_end2(&e, n->in[0], rows);
}
