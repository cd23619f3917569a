/* Boxes without those that overlap better ones: NON_MAX_SUPPRESSION, and the custom operator at the
 * end of detectors of the SSD kind, which decodes and selects boxes.
 * Source: kernels of TensorFlow Lite. */
#include <math.h>

#include "import/tflite/flex.h"
#include "import/tflite/ops.h"
#include "import/tflite/quantized.h"

typedef struct detect_selected {
  wick_value box;   /* i64 [classes, most], padded with 0 */
  wick_value there; /* bool [classes, most] */
  wick_value count; /* i64 [classes] */
} detect_selected;

/* Selects boxes [n, 4] by scores [classes, n]; a score of minus infinity does not count. */
static detect_selected detect_select(wick_import_node *n, wick_value boxes, wick_value scores,
                                     int64_t most, double overlap)
{
  static const int64_t turn[] = {1, 0};
  wick_builder *b = n->b;
  detect_selected s = {boxes, boxes, boxes};
  if (b->status) return s;
  wick_dim count = wick_built_info(b, scores)->dim[1], size = wick_dim_const(most);
  wick_value corners = wick_emit_unsqueeze(b, wick_build_transpose(b, boxes, 2, turn), 0);
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 2);
  wick_emit_set_dims(&e, "k", 1, &count);
  wick_value top = wick_emit_end1(&e, wick_emit_unsqueeze(b, scores, 0));
  const wick_value in[3] = {corners, top, {top.id + 1}};
  e = wick_emit_begin(b, WICK_OP_non_max_suppression);
  wick_emit_set_dims(&e, "most", 1, &size);
  wick_emit_set_float(&e, "overlap", overlap);
  wick_value found = wick_emit_end(&e, 3, in);
  s.box = wick_emit_squeeze(b, found, 0);
  s.count = wick_emit_squeeze(b, (wick_value){found.id + 1}, 0);
  wick_value position = wick_emit_count_along(b, size, 1, 2);
  s.there = wick_build2(b, WICK_OP_lt, position, wick_emit_unsqueeze(b, s.count, 1));
  return s;
}

/* x where the condition holds, else the number. */
static wick_value detect_or(wick_builder *b, wick_value there, wick_value x, double otherwise)
{
  return wick_build3(b, WICK_OP_where, there, x, wick_emit_number(b, x, otherwise));
}

/* ---- NON_MAX_SUPPRESSION_V4 and V5 ---- */

/* Corners in any order become low and high ones. */
static wick_value detect_corners(wick_import_node *n, wick_value boxes)
{
  wick_builder *b = n->b;
  wick_value side[4];
  for (uint32_t k = 0; k < 4; k++)
    side[k] = wick_emit_slice(b, boxes, 1, wick_dim_const(k), wick_dim_const(1));
  wick_value out[4];
  for (uint32_t k = 0; k < 4; k++)
    out[k] = wick_build2(b, k < 2 ? WICK_OP_min : WICK_OP_max, side[k % 2], side[k % 2 + 2]);
  return wick_build_concat(b, 1, 4, out);
}

static bool detect_number(wick_import_node *n, uint32_t i, const char *what, double *out)
{
  uint32_t count;
  const double *v;
  if (!wick_import_reals(n, i, what, &count, &v)) return false;
  if (count == 1) *out = v[0];
  if (count != 1) wick_import_fail(n, WICK_ETYPE, "%s has %u numbers, expected 1", what, count);
  return count == 1;
}

static void detect_suppress(wick_import_node *n)
{
  wick_builder *b = n->b;
  double most, overlap, least, sigma = 0;
  bool soft = n->row->arg;
  if (!wick_import_rank(n, 0, 2, 2) || !wick_import_rank(n, 1, 1, 1) ||
      !detect_number(n, 2, "the most boxes", &most) ||
      !detect_number(n, 3, "the overlap", &overlap) ||
      !detect_number(n, 4, "the least score", &least) ||
      (soft && !detect_number(n, 5, "the softness", &sigma)))
    return;
  if (sigma > 0 || !(most >= 0) || most > 1 << 24) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "%g boxes with a softness of %g are not supported", most,
                     sigma);
    return;
  }
  wick_value scores = n->in[1], low = wick_emit_number(b, scores, least);
  wick_value above = wick_build2(b, WICK_OP_gt, scores, low);
  wick_value counted = wick_emit_unsqueeze(b, detect_or(b, above, scores, -INFINITY), 0);
  wick_value corners = detect_corners(n, n->in[0]);
  /* equal overlaps are suppressed, too */
  double limit = (double)nextafterf((float)overlap, -1);
  detect_selected s = detect_select(n, corners, counted, (int64_t)most, limit);
  wick_value box = wick_emit_squeeze(b, s.box, 0), there = wick_emit_squeeze(b, s.there, 0);
  wick_value score = detect_or(b, there, wick_emit_gather(b, WICK_OP_gather, scores, box, 0), 0);
  if (b->status) return;
  n->out[0] = wick_build_cast(b, box, WICK_I32);
  if (soft) n->out[1] = score;
  n->out[n->nout - 1] = wick_build_cast(b, wick_emit_squeeze(b, s.count, 0), WICK_I32);
}

/* ---- TFLite_Detection_PostProcess ---- */

typedef struct detect_options {
  int64_t most, categories, each, classes;
  bool regular;                    /* each class by itself */
  double least, overlap, scale[4]; /* scale: y, x, h, w */
} detect_options;

static double detect_option(wick_import_node *n, const char *key, double otherwise)
{
  double v = otherwise;
  if (!wick_flex_number(wick_tflite_op_of(n)->custom, key, &v) && isnan(otherwise))
    wick_import_fail(n, WICK_EPARSE, "its option \"%s\" is missing", key);
  return v;
}

static bool detect_read(wick_import_node *n, detect_options *o)
{
  static const char *const scales[] = {"y_scale", "x_scale", "h_scale", "w_scale"};
  if (!wick_flex_is_map(wick_tflite_op_of(n)->custom)) {
    wick_import_fail(n, WICK_EPARSE, "its options are no map in the FlexBuffers format");
    return false;
  }
  const double needed[] = {
      detect_option(n, "max_detections", NAN), detect_option(n, "max_classes_per_detection", NAN),
      detect_option(n, "detections_per_class", 100), detect_option(n, "num_classes", NAN)};
  int64_t *out[] = {&o->most, &o->categories, &o->each, &o->classes};
  for (size_t k = 0; k < WICK_COUNT(needed); k++) {
    if (!(needed[k] >= 1) || needed[k] > 1 << 24) {
      if (!n->failed) wick_import_fail(n, WICK_ERANGE, "its options have the number %g", needed[k]);
      return false;
    }
    *out[k] = (int64_t)needed[k];
  }
  o->regular = detect_option(n, "use_regular_nms", 0) != 0;
  o->least = detect_option(n, "nms_score_threshold", NAN);
  o->overlap = detect_option(n, "nms_iou_threshold", NAN);
  for (int k = 0; k < 4; k++) o->scale[k] = detect_option(n, scales[k], NAN);
  if (n->failed) return false;
  if (!(o->overlap > 0 && o->overlap <= 1)) {
    wick_import_fail(n, WICK_ERANGE, "its overlap is %g, expected more than 0 and at most 1",
                     o->overlap);
    return false;
  }
  return true;
}

static wick_value detect_real(wick_import_node *n, uint32_t i)
{
  return wick_tflite_is_quantized(wick_tflite_in(n, i))
             ? wick_tflite_real(n, i, n->in[i], (wick_value){0})
             : n->in[i];
}

/* Column k of [n, 4 or more], in f64. */
static wick_value detect_column(wick_builder *b, wick_value x, uint32_t k)
{
  x = wick_emit_slice(b, x, 1, wick_dim_const(k), wick_dim_const(1));
  return b->status ? x : wick_build_cast(b, x, WICK_F64);
}

/* Boxes are given relative to anchors: y and x by its size, the sizes as logarithms. */
static wick_value detect_decode(wick_import_node *n, const detect_options *o)
{
  wick_builder *b = n->b;
  wick_value code = wick_emit_squeeze(b, detect_real(n, 0), 0), anchor = detect_real(n, 2), out[4];
  for (uint32_t k = 0; k < 2; k++) {
    wick_value size = detect_column(b, anchor, k + 2);
    wick_value centre = wick_emit_by(b, WICK_OP_div, detect_column(b, code, k), o->scale[k]);
    centre = wick_build2(b, WICK_OP_mul, centre, size);
    centre = wick_build2(b, WICK_OP_add, centre, detect_column(b, anchor, k));
    wick_value half = wick_emit_by(b, WICK_OP_div, detect_column(b, code, k + 2), o->scale[k + 2]);
    half = wick_emit_by(b, WICK_OP_mul, wick_build1(b, WICK_OP_exp, half), 0.5);
    half = wick_build2(b, WICK_OP_mul, half, size);
    if (b->status) return code;
    centre = wick_build_cast(b, centre, WICK_F32), half = wick_build_cast(b, half, WICK_F32);
    out[k] = wick_build2(b, WICK_OP_sub, centre, half);
    out[k + 2] = wick_build2(b, WICK_OP_add, centre, half);
  }
  return wick_build_concat(b, 1, 4, out);
}

typedef struct detect_results {
  wick_value box, category, score, there, count; /* [N]; there: [N]; count: [] */
} detect_results;

/* Columns [n, have] with zeros after them, as one axis. */
static wick_value detect_columns(wick_import_node *n, wick_value x, int64_t have, int64_t want)
{
  wick_builder *b = n->b;
  wick_dim rest[2], all;
  if (b->status) return x;
  rest[0] = wick_built_info(b, x)->dim[0], rest[1] = wick_dim_const(want - have);
  if (want > have) {
    wick_value part[] = {x, wick_emit_expand(b, wick_emit_number(b, x, 0), 2, rest)};
    x = wick_build_concat(b, 1, 2, part);
  }
  all = wick_dim_mul(n->c->module->dims, rest[0], wick_dim_const(want));
  return wick_build_reshape(b, x, 1, &all);
}

/* Scores [n, classes]: the best boxes by their best class, each with its best classes. */
static detect_results detect_fast(wick_import_node *n, const detect_options *o, wick_value boxes,
                                  wick_value scores)
{
  wick_builder *b = n->b;
  int64_t have = wick_min_i64(o->categories, o->classes);
  wick_dim each = wick_dim_const(have), one = wick_dim_const(1),
           wide[] = {wick_dim_const(o->most), each};
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_dims(&e, "k", 1, &each);
  wick_value top = wick_emit_end1(&e, scores), category = {top.id + 1};
  wick_value best = wick_emit_squeeze(b, wick_emit_slice(b, top, 1, wick_dim_const(0), one), 1);
  wick_value above = wick_build2(b, WICK_OP_ge, best, wick_emit_number(b, best, o->least));
  best = wick_emit_unsqueeze(b, detect_or(b, above, best, -INFINITY), 0);
  detect_selected s = detect_select(n, boxes, best, o->most, o->overlap);
  wick_value box = wick_emit_squeeze(b, s.box, 0), there = wick_emit_squeeze(b, s.there, 0);
  detect_results r;
  r.score = wick_emit_gather(b, WICK_OP_gather, top, box, 0);
  r.score = detect_columns(n, r.score, have, o->categories);
  r.category = wick_emit_gather(b, WICK_OP_gather, category, box, 0);
  r.category = detect_columns(n, r.category, have, o->categories);
  r.box = wick_emit_expand(b, wick_emit_unsqueeze(b, box, 1), 2, wide);
  r.box = detect_columns(n, r.box, have, o->categories);
  there = wick_emit_expand(b, wick_emit_unsqueeze(b, there, 1), 2, wide);
  there = b->status ? there : wick_build_cast(b, there, WICK_I32);
  there = detect_columns(n, there, have, o->categories);
  r.there = b->status ? there : wick_build_cast(b, there, WICK_BOOL);
  r.count = wick_emit_squeeze(b, s.count, 0);
  return r;
}

/* The best of all classes, each of which selects its own boxes. */
static detect_results detect_regular(wick_import_node *n, const detect_options *o, wick_value boxes,
                                     wick_value scores)
{
  static const int64_t turn[] = {1, 0};
  wick_builder *b = n->b;
  int64_t each = wick_min_i64(o->each, o->most), all = each * o->classes;
  wick_dim size = wick_dim_const(all), most = wick_dim_const(wick_min_i64(o->most, all));
  scores = wick_build_transpose(b, scores, 2, turn);
  wick_value above = wick_build2(b, WICK_OP_ge, scores, wick_emit_number(b, scores, o->least));
  wick_value counted = detect_or(b, above, scores, -INFINITY);
  detect_selected s = detect_select(n, boxes, counted, each, o->overlap);
  wick_value own = wick_emit_gather(b, WICK_OP_gather_elements, scores, s.box, 1);
  own = wick_build_reshape(b, detect_or(b, s.there, own, -INFINITY), 1, &size);
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_dims(&e, "k", 1, &most);
  wick_value top = wick_emit_end1(&e, own), at = {top.id + 1};
  wick_value flat = wick_build_reshape(b, s.box, 1, &size);
  wick_value lowest = wick_emit_number(b, top, -INFINITY);
  detect_results r = {.score = top};
  r.box = wick_emit_gather(b, WICK_OP_gather, flat, at, 0);
  r.category = wick_emit_by(b, WICK_OP_div, at, (double)each);
  r.there = wick_build2(b, WICK_OP_gt, top, lowest);
  if (b->status) return r;
  r.count =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, r.there, WICK_I64), 0, false);
  return r;
}

/* Pads with zeros to n elements along axis 0, and adds the batch's axis. */
static wick_value detect_result(wick_import_node *n, wick_value x, int64_t count)
{
  wick_builder *b = n->b;
  wick_dim dim[2];
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  int64_t missing = wick_dim_is_const(t->dim[0]) ? count - t->dim[0].v : 0;
  dim[0] = wick_dim_const(missing), dim[1] = t->rank > 1 ? t->dim[1] : wick_dim_const(1);
  if (missing > 0) {
    wick_value part[] = {x, wick_emit_expand(b, wick_emit_number(b, x, 0), t->rank, dim)};
    x = wick_build_concat(b, 0, 2, part);
  }
  return wick_emit_unsqueeze(b, x, 0);
}

static void detect_post_process(wick_import_node *n)
{
  wick_builder *b = n->b;
  detect_options o = {0};
  if (!wick_import_rank(n, 0, 3, 3) || !wick_import_rank(n, 1, 3, 3) ||
      !wick_import_rank(n, 2, 2, 2) || !detect_read(n, &o))
    return;
  wick_dim with = wick_import_info(n, 1)->dim[2];
  if (!wick_dim_is_const(with) || with.v < o.classes || with.v > o.classes + 1 ||
      !wick_dim_is(wick_import_info(n, 0)->dim[0], 1)) {
    wick_import_fail(n, WICK_ETYPE,
                     "the scores of %s classes of one picture do not fit its option of %lld",
                     wick_dim_is_const(with) ? "other" : "unknown", (long long)o.classes);
    return;
  }
  wick_value boxes = detect_decode(n, &o), scores = wick_emit_squeeze(b, detect_real(n, 1), 0);
  scores =
      wick_emit_slice(b, scores, 1, wick_dim_const(with.v - o.classes), wick_dim_const(o.classes));
  detect_results r = (o.regular ? detect_regular : detect_fast)(n, &o, boxes, scores);
  wick_value box = wick_emit_gather(b, WICK_OP_gather, boxes, r.box, 0);
  box = detect_or(b, wick_emit_unsqueeze(b, r.there, 1), box, 0);
  if (b->status) return;
  wick_value category = wick_build_cast(b, r.category, WICK_F32);
  category = detect_or(b, r.there, category, 0);
  wick_value score = detect_or(b, r.there, r.score, 0);
  int64_t count = o.most * o.categories;
  n->out[0] = detect_result(n, box, count);
  n->out[1] = detect_result(n, category, count);
  n->out[2] = detect_result(n, score, count);
  if (b->status) return;
  n->out[3] = wick_emit_unsqueeze(b, wick_build_cast(b, r.count, WICK_F32), 0);
}

const wick_import_op wick_tflite_detect_ops[] = {
    {"NON_MAX_SUPPRESSION_V4", 1, {5, 5}, 2, NULL, detect_suppress, WICK_OP_none, 0, NULL, NULL},
    {"NON_MAX_SUPPRESSION_V5", 1, {6, 6}, 3, NULL, detect_suppress, WICK_OP_none, 1, NULL, NULL},
    {"TFLite_Detection_PostProcess",
     1,
     {3, 3},
     4,
     NULL,
     detect_post_process,
     WICK_OP_none,
     0,
     NULL,
     NULL},
    {0},
};
