/* Imports NonMaxSuppression: selects boxes in the order of their scores, without those that
 * overlap a selected one, for each class. */
#include <math.h>

#include "import/onnx/import.h"
#include "ir/element.h"

typedef struct non_max_suppression_boxes {
  wick_dim batch, classes, n, most;
  double overlap;
} non_max_suppression_boxes;

/* Returns the lower and the higher one of columns k and k + 2 of [batch, n, 4]: the sides along
 * an axis, [batch, 1, n]. */
static void non_max_suppression_sides(wick_onnx_op *o, int64_t k, wick_value *out)
{
  wick_builder *b = o->b;
  static const int64_t turned[3] = {0, 2, 1};
  wick_value p[2];
  for (int64_t i = 0; i < 2; i++) {
    p[i] = wick_emit_slice(o->b, o->in[0], 2, wick_dim_const(k + 2 * i), wick_dim_const(1));
    p[i] = wick_build_transpose(o->b, p[i], 3, turned);
  }
  if (wick_onnx_int(o, "center_point_box", 0)) {
    wick_value half = wick_emit_by(o->b, WICK_OP_mul, p[1], 0.5);
    p[1] = wick_build2(b, WICK_OP_add, p[0], half);
    p[0] = wick_build2(b, WICK_OP_sub, p[0], half);
  }
  out[0] = wick_build2(b, WICK_OP_min, p[0], p[1]);
  out[1] = wick_build2(b, WICK_OP_max, p[0], p[1]);
}

/* Returns the boxes as [batch, 4, n]: low y, low x, high y, high x. */
static wick_value non_max_suppression_corners(wick_onnx_op *o)
{
  wick_value y[2], x[2];
  non_max_suppression_sides(o, 0, y);
  non_max_suppression_sides(o, 1, x);
  return wick_build_concat(o->b, 1, 4, (wick_value[]){y[0], x[0], y[1], x[1]});
}

static bool non_max_suppression_begin(wick_onnx_op *o, non_max_suppression_boxes *s)
{
  const wick_type_info *x = wick_onnx_info(o, 0), *y = wick_onnx_info(o, 1);
  uint32_t n;
  int64_t most;
  const double *number;
  if (x->rank != 3 || y->rank != 3) {
    wick_onnx_fail(o, WICK_ETYPE, "boxes and scores have ranks %u and %u, expected 3", x->rank,
                   y->rank);
    return false;
  }
  s->batch = y->dim[0], s->classes = y->dim[1], s->n = y->dim[2];
  if (!wick_onnx_equal(o, x->dim[0], s->batch) || !wick_onnx_equal(o, x->dim[1], s->n) ||
      !wick_dim_is(x->dim[2], 4) || wick_dim_is(s->n, 0)) {
    wick_onnx_fail(o, WICK_ETYPE, "boxes and scores do not fit each other");
    return false;
  }
  if (!wick_onnx_one(o, 2, "max_output_boxes_per_class", 0, &most)) return false;
  s->most = wick_dim_min(o->c->module->dims, wick_dim_const(wick_max_i64(0, most)), s->n);
  if (wick_onnx_has(o, 3)) {
    if (!wick_onnx_floats(o, 3, "iou_threshold", &n, &number)) return false;
    if (n == 1) s->overlap = (double)(float)number[0];
  }
  return !o->b->status;
}

/* Selects among the `k` boxes with the best scores of each class. */
static wick_value non_max_suppression_among(wick_onnx_op *o, const non_max_suppression_boxes *s,
                                            wick_value corners, wick_value scores, wick_dim k)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 2);
  wick_emit_set_dims(&e, "k", 1, &k);
  wick_value top = wick_emit_end1(&e, scores), in[3] = {corners, top, {top.id + 1}};
  e = wick_emit_begin(o->b, WICK_OP_non_max_suppression);
  wick_emit_set_dims(&e, "most", 1, &s->most);
  wick_emit_set_float(&e, "overlap", s->overlap);
  return wick_emit_end(&e, 3, in);
}

/* Selects the boxes and counts them. It first selects among a few times as many boxes as are
 * requested. If these are not enough, it selects among all. */
static wick_value non_max_suppression_taken(wick_onnx_op *o, const non_max_suppression_boxes *s,
                                            wick_value scores)
{
  enum { TIMES = 4, LEAST = 256 };
  wick_builder *b = o->b;
  wick_dims *t = o->c->module->dims;
  wick_value corners = non_max_suppression_corners(o);
  wick_dim few = wick_dim_mul(t, s->most, wick_dim_const(TIMES));
  few = wick_dim_min(t, wick_dim_max(t, few, wick_dim_const(LEAST)), s->n);
  if (wick_dim_eq(few, s->n) || b->status)
    return non_max_suppression_among(o, s, corners, scores, s->n);
  wick_value some = non_max_suppression_among(o, s, corners, scores, few);
  wick_value more = wick_build_cast(b, (wick_value){some.id + 2}, WICK_I32);
  wick_dim lines = wick_dim_mul(t, s->batch, s->classes);
  more = wick_emit_reduce1(o->b, WICK_OP_reduce_max, wick_build_reshape(o->b, more, 1, &lines), 0,
                           false);
  more = wick_emit_by(o->b, WICK_OP_gt, more, 0);
  wick_build_open(b, WICK_OP_if, 1, &more, NULL, 0, NULL);
  wick_region_begin(b, 0, NULL);
  wick_value all = non_max_suppression_among(o, s, corners, scores, s->n);
  wick_yield(b, 2, (wick_value[]){all, {all.id + 1}});
  wick_region_begin(b, 0, NULL);
  wick_yield(b, 2, (wick_value[]){some, {some.id + 1}});
  return wick_build_close(b);
}

/* Returns the boxes of all classes, [batch * classes * most], and which of them exist. */
static wick_value non_max_suppression_select(wick_onnx_op *o, const non_max_suppression_boxes *s,
                                             wick_dim all, wick_value *there)
{
  wick_builder *b = o->b;
  wick_value scores = o->in[1];
  if (wick_onnx_has(o, 4)) {
    wick_value more = wick_build2(b, WICK_OP_gt, scores, wick_onnx_scalar(o, 4));
    scores = wick_build3(b, WICK_OP_where, more, scores,
                         wick_emit_number(o->b, scores, -(double)INFINITY));
  }
  wick_value boxes = non_max_suppression_taken(o, s, scores), count = {boxes.id + 1};
  wick_value position = wick_emit_count_along(o->b, s->most, 2, 3);
  count = wick_emit_unsqueeze(o->b, count, 2);
  *there = wick_build_reshape(o->b, wick_build2(b, WICK_OP_lt, position, count), 1, &all);
  return wick_build_reshape(o->b, boxes, 1, &all);
}

static void non_max_suppression_import(wick_onnx_op *o)
{
  non_max_suppression_boxes s = {0};
  wick_dims *t = o->c->module->dims;
  wick_builder *b = o->b;
  wick_value there, count, column[3];
  wick_dim size;
  if (!non_max_suppression_begin(o, &s)) return;
  wick_dim lines = wick_dim_mul(t, s.batch, s.classes), all = wick_dim_mul(t, lines, s.most);
  if (wick_dim_is(all, 0)) {
    int64_t none[2] = {0, 3};
    o->out[0] = wick_onnx_table(o, WICK_I64, 2, none, NULL);
    return;
  }
  wick_value box = non_max_suppression_select(o, &s, all, &there);
  if (b->status) return;
  wick_value position = wick_onnx_places(o, there, all, &size, &count);
  wick_value line = wick_build2(b, WICK_OP_div, position, wick_onnx_size(o, s.most));
  column[0] = wick_build2(b, WICK_OP_div, line, wick_onnx_size(o, s.classes));
  column[1] = wick_build2(b, WICK_OP_mod, line, wick_onnx_size(o, s.classes));
  column[2] = wick_emit_gather(o->b, WICK_OP_gather, box, position, 0);
  for (uint32_t k = 0; k < 3; k++) column[k] = wick_emit_unsqueeze(o->b, column[k], 1);
  o->out[0] = wick_build_concat(o->b, 1, 3, column);
  if (count.id) o->out[0] = wick_onnx_bound(o, o->out[0], 0, count);
}

const wick_onnx_row wick_onnx_suppress_rows[] = {
    {"NonMaxSuppression", 10, {2, 5}, 1, "center_point_box:i", non_max_suppression_import, 0, 0},
    {0},
};
