/* Results whose size depends on data: they have the size's bound, and the number of what is there
 * stands beside them, as an output of its own where they are one (NAME.size.AXIS). */
#include <math.h>

#include "import/onnx/import.h"
#include "ir/element.h"
#include "ops/ref.h"

enum { COMPACT_MOST = 1 << 28 };

void wick_onnx_bound(wick_onnx_context *c, wick_value v, uint32_t axis, wick_value count)
{
  if (v.id) wick_push(c->tmp, &c->bounded, (wick_onnx_bounded){v, axis, count});
}

const wick_onnx_bounded *wick_onnx_bounded_find(const wick_onnx_context *c, wick_value v)
{
  for (uint32_t i = 0; i < c->bounded.n; i++)
    if (c->bounded.at[i].v.id == v.id) return &c->bounded.at[i];
  return NULL;
}

bool wick_onnx_whole(wick_onnx_op *o, wick_value v, const char *what)
{
  const wick_onnx_bounded *d = wick_onnx_bounded_find(o->c, v);
  if (!d) return true;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "the size of %s depends on data", what);
  wick_onnx_want(o, v);
  return false;
}

static wick_value compact_number(wick_onnx_op *o, int64_t i)
{
  return wick_build_const(o->b, wick_type_tensor(o->c->module, WICK_I64, 0, NULL), 0, i);
}

wick_value wick_onnx_size(wick_onnx_op *o, wick_dim d)
{
  return wick_dim_is_const(d) ? compact_number(o, d.v)
                              : wick_build1(o->b, WICK_OP_size, wick_onnx_count(o, d));
}

static int64_t compact_most(const wick_onnx_op *o, wick_dim d)
{
  int64_t lo, hi;
  wick_dim_range(o->c->module->dims, d, &lo, &hi);
  return hi;
}

static wick_value compact_flat(wick_onnx_op *o, wick_value x, wick_dim n)
{
  return wick_onnx_reshape(o, x, 1, &n);
}

wick_value wick_onnx_sums(wick_onnx_op *o, wick_value x)
{
  wick_onnx_emit e = wick_onnx_begin(o, WICK_OP_cumsum);
  wick_onnx_set_int(&e, "axis", 0);
  return wick_onnx_end1(&e, x);
}

/* What is known of a mask: how many of its elements are true, and a constant of their places; false
 * where it is not known. */
static bool compact_known(wick_onnx_op *o, wick_value mask, wick_value *places, int64_t *count)
{
  wick_tensor t;
  if (!wick_onnx_known(o->c, mask, &t)) return false;
  int64_t n = (int64_t)wick_ref_numel(&t);
  double *at = wick_new(o->c->tmp, double, (size_t)n + 1);
  *count = 0;
  for (int64_t i = 0; i < n; i++)
    if (wick_load_int(t.elem, t.data, (uint64_t)i)) at[(*count)++] = (double)i;
  *places = wick_onnx_table(o, WICK_I64, 1, count, at);
  return true;
}

wick_value wick_onnx_places(wick_onnx_op *o, wick_value mask, wick_dim n, wick_dim *size,
                            wick_value *count)
{
  wick_value places = {0};
  int64_t known;
  *count = (wick_value){0};
  *size = n;
  if (o->b->status) return places;
  if (compact_known(o, mask, &places, &known)) {
    *size = wick_dim_const(known);
    return places;
  }
  if (wick_dim_is(n, 0)) return wick_onnx_count(o, n);
  places = wick_build1(o->b, WICK_OP_places, mask);
  *count = (wick_value){places.id + 1};
  return places;
}

static bool compact_numel(wick_onnx_op *o, wick_value x, wick_dim *out)
{
  *out = wick_type_numel(o->c->module, wick_built_type(o->b, x));
  if (compact_most(o, *out) <= COMPACT_MOST) {
    if (!wick_dim_is_const(*out))
      wick_onnx_equal(o, wick_dim_min(o->c->module->dims, *out, wick_dim_const(1)),
                      wick_dim_const(1));
    return true;
  }
  wick_onnx_fail(
      o, WICK_EUNSUPPORTED,
      "its input has up to %lld elements, at most %d are possible: open sizes want ranges",
      (long long)compact_most(o, *out), COMPACT_MOST);
  return false;
}

/* ---- NonZero ---- */

/* x by a size: a quotient or a rest. */
static wick_value compact_by(wick_onnx_op *o, wick_opcode op, wick_value x, wick_dim by)
{
  return wick_dim_is_const(by) ? wick_onnx_by(o, op, x, (double)by.v)
                               : wick_build2(o->b, op, x, wick_onnx_size(o, by));
}

static void compact_non_zero(wick_onnx_op *o)
{
  const wick_type_info t = *wick_onnx_info(o, 0);
  wick_dim n, size, stride = wick_dim_const(1);
  uint32_t rank = t.rank ? t.rank : 1;
  wick_value x, count, row[WICK_MAX_RANK];
  if (!compact_numel(o, o->in[0], &n)) return;
  x = compact_flat(o, o->in[0], n);
  if (wick_dim_is(n, 0)) {
    int64_t none[2] = {rank, 0};
    o->out[0] = wick_onnx_table(o, WICK_I64, 2, none, NULL);
    return;
  }
  if (t.elem != WICK_BOOL) x = wick_onnx_by(o, WICK_OP_ne, x, 0);
  wick_value place = wick_onnx_places(o, x, n, &size, &count);
  for (uint32_t k = rank; k-- > 0;) {
    wick_dim extent = t.rank ? t.dim[k] : wick_dim_const(1);
    row[k] = wick_dim_is(stride, 1) ? place : compact_by(o, WICK_OP_div, place, stride);
    if (k) row[k] = compact_by(o, WICK_OP_mod, row[k], extent);
    row[k] = wick_onnx_unsqueeze(o, row[k], 0);
    stride = wick_dim_mul(o->c->module->dims, stride, extent);
  }
  o->out[0] = wick_onnx_concat(o, 0, rank, row);
  if (count.id) wick_onnx_bound(o->c, o->out[0], 1, count);
}

/* ---- Compress ---- */

static void compact_compress(wick_onnx_op *o)
{
  const wick_type_info *c = wick_onnx_info(o, 1);
  bool flat = !wick_onnx_attr_find(o, "axis");
  uint32_t axis = 0;
  wick_dim n, size;
  wick_value x = o->in[0], count;
  if (!compact_numel(o, x, &n)) return;
  if (flat)
    x = compact_flat(o, x, n);
  else if (!wick_onnx_axis(o, wick_onnx_int(o, "axis", 0), wick_onnx_info(o, 0)->rank, &axis))
    return;
  if (o->b->status) return;
  wick_dim extent = wick_built_info(o->b, x)->dim[axis], rows = c->rank ? c->dim[0] : extent;
  bool known = wick_dim_is_const(rows) && wick_dim_is_const(extent);
  if (c->elem != WICK_BOOL || c->rank != 1 || wick_dim_is(rows, 0) ||
      compact_most(o, rows) > COMPACT_MOST || (known && rows.v > extent.v)) {
    wick_onnx_fail(o, WICK_ETYPE, "the condition is no row of at most %lld bools",
                   (long long)compact_most(o, extent));
    return;
  }
  wick_value place = wick_onnx_places(o, o->in[1], rows, &size, &count);
  o->out[0] = wick_onnx_gather(o, WICK_OP_gather, x, place, axis);
  if (count.id) wick_onnx_bound(o->c, o->out[0], axis, count);
}

/* ---- NonMaxSuppression: the best box of all classes at a time, and what it covers goes ---- */

typedef struct compact_boxes {
  int64_t batch, classes, n, most;
  wick_value low[2], high[2], area, number;  /* [batch, 1, n]; number: [1, 1, n] */
  wick_value of_low[2], of_high[2], of_area; /* the same for each class, [batch, classes, n] */
  double overlap;
} compact_boxes;

/* Column k of [batch, n, 4] as [batch, 1, n]. */
static wick_value compact_column(wick_onnx_op *o, const compact_boxes *s, int64_t k)
{
  wick_dim shape[3] = {wick_dim_const(s->batch), wick_dim_const(1), wick_dim_const(s->n)};
  wick_value x = wick_onnx_slice(o, o->in[0], 2, wick_dim_const(k), wick_dim_const(1));
  return wick_onnx_reshape(o, x, 3, shape);
}

static void compact_corners(wick_onnx_op *o, compact_boxes *s)
{
  wick_builder *b = o->b;
  bool center = wick_onnx_int(o, "center_point_box", 0) != 0;
  for (int64_t k = 0; k < 2; k++) {
    wick_value p = compact_column(o, s, k), q = compact_column(o, s, k + 2);
    if (center) {
      wick_value half = wick_onnx_by(o, WICK_OP_mul, q, 0.5);
      q = wick_build2(b, WICK_OP_add, p, half);
      p = wick_build2(b, WICK_OP_sub, p, half);
    }
    s->low[k] = wick_build2(b, WICK_OP_min, p, q);
    s->high[k] = wick_build2(b, WICK_OP_max, p, q);
  }
  wick_value side = wick_build2(b, WICK_OP_sub, s->high[0], s->low[0]);
  s->area = wick_build2(b, WICK_OP_mul, side, wick_build2(b, WICK_OP_sub, s->high[1], s->low[1]));
}

/* What the loop reads in each step, made before it. */
static void compact_classes(wick_onnx_op *o, compact_boxes *s)
{
  wick_dim all[3] = {wick_dim_const(s->batch), wick_dim_const(s->classes), wick_dim_const(s->n)};
  for (uint32_t k = 0; k < 2; k++) {
    s->of_low[k] = wick_onnx_expand(o, s->low[k], 3, all);
    s->of_high[k] = wick_onnx_expand(o, s->high[k], 3, all);
  }
  s->of_area = wick_onnx_expand(o, s->area, 3, all);
  s->number = wick_onnx_count_along(o, all[2], 2, 3);
}

/* x [batch, classes, n] at the boxes `best` [batch, classes, 1]. */
static wick_value compact_of(wick_onnx_op *o, wick_value x, wick_value best)
{
  return wick_onnx_gather(o, WICK_OP_gather_elements, x, best, 2);
}

/* The first box whose score is `top`: a fold in vectors, where `argmax` is none. */
static wick_value compact_best(wick_onnx_op *o, const compact_boxes *s, wick_value left,
                               wick_value top)
{
  wick_builder *b = o->b;
  wick_value here = wick_build2(b, WICK_OP_eq, left, top);
  wick_value at = wick_build3(b, WICK_OP_where, here, s->number, compact_number(o, s->n - 1));
  return wick_onnx_reduce1(o, WICK_OP_reduce_min, at, 2, true);
}

/* The boxes that `best` covers, and itself: [batch, classes, n]. */
static wick_value compact_covered(wick_onnx_op *o, const compact_boxes *s, wick_value best)
{
  wick_builder *b = o->b;
  wick_value both = {0};
  for (uint32_t k = 0; k < 2; k++) {
    wick_value low = compact_of(o, s->of_low[k], best);
    wick_value high = compact_of(o, s->of_high[k], best);
    low = wick_build2(b, WICK_OP_max, low, s->low[k]);
    high = wick_build2(b, WICK_OP_min, high, s->high[k]);
    wick_value side = wick_build1(b, WICK_OP_relu, wick_build2(b, WICK_OP_sub, high, low));
    both = k ? wick_build2(b, WICK_OP_mul, both, side) : side;
  }
  wick_value sum = wick_build2(b, WICK_OP_add, compact_of(o, s->of_area, best), s->area),
             united = wick_build2(b, WICK_OP_sub, sum, both),
             over =
                 wick_onnx_by(o, WICK_OP_gt, wick_build2(b, WICK_OP_div, both, united), s->overlap);
  return wick_build2(b, WICK_OP_or, over, wick_build2(b, WICK_OP_eq, s->number, best));
}

/* The loop: [most, batch, classes, 1] of the best boxes, and whether they are any. */
static wick_value compact_select(wick_onnx_op *o, const compact_boxes *s, wick_value scores)
{
  wick_builder *b = o->b;
  wick_type type[2] = {wick_type_tensor(o->c->module, WICK_I64, 0, NULL),
                       wick_built_type(b, scores)};
  wick_value in[2] = {compact_number(o, s->most), scores}, y[4];
  wick_dim most = wick_dim_const(s->most);
  wick_attr a[2] = {{.i = 2}, {.n = 1, .dims = &most}};
  wick_build_open(b, WICK_OP_loop, 2, in, a, 0, NULL);
  wick_value left = {wick_region_begin(b, 2, type).id + 1};
  wick_value top = wick_onnx_reduce1(o, WICK_OP_reduce_max, left, 2, true);
  y[2] = compact_best(o, s, left, top);
  y[3] = wick_onnx_by(o, WICK_OP_gt, top, -(double)INFINITY);
  wick_value gone = wick_onnx_number(o, left, -(double)INFINITY);
  y[1] = wick_build3(b, WICK_OP_where, compact_covered(o, s, y[2]), gone, left);
  y[0] = wick_build_const(b, wick_type_tensor(o->c->module, WICK_BOOL, 0, NULL), 0, 1);
  wick_yield(b, 4, y);
  return (wick_value){wick_build_close(b).id + 1}; /* behind what it carries */
}

/* [most, batch, classes, 1] as one row, a class behind another. */
static wick_value compact_row(wick_onnx_op *o, const compact_boxes *s, wick_value x)
{
  static const int64_t perm[4] = {1, 2, 0, 3};
  return compact_flat(o, wick_onnx_transpose(o, x, 4, perm),
                      wick_dim_const(s->batch * s->classes * s->most));
}

static bool compact_nms_begin(wick_onnx_op *o, compact_boxes *s, wick_value *scores)
{
  const wick_type_info *x = wick_onnx_info(o, 0), *y = wick_onnx_info(o, 1);
  uint32_t n;
  const double *number;
  for (uint32_t k = 0; k < 3; k++)
    if (x->rank != 3 || y->rank != 3) {
      wick_onnx_fail(o, WICK_ETYPE, "boxes and scores have ranks %u and %u, wanted 3", x->rank,
                     y->rank);
      return false;
    } else if (!wick_dim_is_const(x->dim[k]) || !wick_dim_is_const(y->dim[k])) {
      return wick_onnx_open(o, "a size of boxes and scores",
                            wick_dim_is_const(x->dim[k]) ? y->dim[k] : x->dim[k]);
    }
  s->batch = y->dim[0].v, s->classes = y->dim[1].v, s->n = y->dim[2].v;
  if (x->dim[0].v != s->batch || x->dim[1].v != s->n || x->dim[2].v != 4 || !s->n) {
    wick_onnx_fail(o, WICK_ETYPE, "boxes and scores do not fit each other");
    return false;
  }
  if (!wick_onnx_one(o, 2, "max_output_boxes_per_class", 0, &s->most)) return false;
  s->most = wick_max_i64(0, wick_min_i64(s->most, s->n));
  if (wick_onnx_has(o, 3)) {
    if (!wick_onnx_floats(o, 3, "iou_threshold", &n, &number)) return false;
    if (n == 1) s->overlap = (double)(float)number[0];
  }
  *scores = o->in[1];
  if (!wick_onnx_has(o, 4)) return true;
  wick_value least = wick_onnx_scalar(o, 4);
  *scores = wick_build3(o->b, WICK_OP_where, wick_build2(o->b, WICK_OP_gt, o->in[1], least),
                        o->in[1], wick_onnx_number(o, o->in[1], -(double)INFINITY));
  return !o->b->status;
}

static void compact_nms(wick_onnx_op *o)
{
  compact_boxes s = {0};
  wick_value scores, count, column[3];
  int64_t none[2] = {0, 3};
  wick_dim size;
  if (!compact_nms_begin(o, &s, &scores)) return;
  int64_t all = s.batch * s.classes * s.most;
  if (!all) {
    o->out[0] = wick_onnx_table(o, WICK_I64, 2, none, NULL);
    return;
  }
  compact_corners(o, &s);
  compact_classes(o, &s);
  wick_value best = compact_select(o, &s, scores);
  if (o->b->status) return;
  wick_value box = compact_row(o, &s, best), some = compact_row(o, &s, (wick_value){best.id + 1});
  wick_value place = wick_onnx_places(o, some, wick_dim_const(all), &size, &count);
  column[0] = wick_onnx_by(o, WICK_OP_div, place, (double)(s.classes * s.most));
  column[1] = wick_onnx_by(o, WICK_OP_mod, wick_onnx_by(o, WICK_OP_div, place, (double)s.most),
                           (double)s.classes);
  column[2] = wick_onnx_gather(o, WICK_OP_gather, box, place, 0);
  for (uint32_t k = 0; k < 3; k++) column[k] = wick_onnx_unsqueeze(o, column[k], 1);
  o->out[0] = wick_onnx_concat(o, 1, 3, column);
  if (count.id) wick_onnx_bound(o->c, o->out[0], 0, count);
}

const wick_onnx_row wick_onnx_compact_rows[] = {
    {"Compress", 9, {2, 2}, 1, "axis:i", compact_compress, 0, 0},
    {"NonMaxSuppression", 10, {2, 5}, 1, "center_point_box:i", compact_nms, 0, 0},
    {"NonZero", 9, {1, 1}, 1, "", compact_non_zero, 0, 0},
    {0},
};
