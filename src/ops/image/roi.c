/* Regions of interest of images, pooled into results of one size. */
#include "ops/image/roi.h"
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"

#include "ir/expr.h"

static wick_status roi_operands(wick_infer *c, uint32_t columns, const wick_type_info **x,
                                const wick_type_info **rois)
{
  WICK_TRY(wick_infer_tensor(c, 0, "x", 4, x));
  WICK_TRY(wick_infer_alike(c, 1, "the regions", 2, rois));
  const wick_attr *shape = &c->attr[WICK_ATTR_roi_align_shape];
  if ((*x)->rank != 4 || (*rois)->rank != 2 ||
      !wick_infer_equal(c, (*rois)->dim[1], wick_dim_const(columns)))
    return wick_infer_fail(
        c, WICK_ETYPE, "x is %s and the regions are %s, expected %u numbers each",
        wick_infer_type_text(c, c->in[0]->type), wick_infer_type_text(c, c->in[1]->type), columns);
  if (shape->n != 2)
    return wick_infer_fail(c, WICK_ETYPE, "shape has %u numbers, expected 2", shape->n);
  for (uint32_t k = 2; k < 4; k++)
    if (wick_dim_is((*x)->dim[k], 0))
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u of x has no elements", k);
  const wick_dim dim[] = {(*rois)->dim[0], (*x)->dim[1], wick_dim_const(shape->ints[0]),
                          wick_dim_const(shape->ints[1])};
  wick_infer_out(c, 0, (*x)->elem, 4, dim);
  return NULL;
}

static wick_status roi_align_infer(wick_infer *c)
{
  const wick_type_info *x, *rois, *images;
  WICK_TRY(roi_operands(c, 4, &x, &rois));
  WICK_TRY(wick_infer_tensor(c, 2, "the images", 1, &images));
  if (images->rank == 1 && images->elem == WICK_I64 &&
      wick_infer_equal(c, images->dim[0], rois->dim[0]))
    return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "the images are %s, there are %s regions",
                         wick_infer_type_text(c, c->in[2]->type),
                         wick_infer_dim_text(c, rois->dim[0]));
}

static wick_status roi_max_pool_infer(wick_infer *c)
{
  const wick_type_info *x, *rois;
  return roi_operands(c, 5, &x, &rois);
}

/* ---- stages of roi_align ---- */

typedef struct roi_align {
  const wick_compute *c;
  wick_builder *b;
  const wick_type_info *x, *out;
  wick_elem e; /* of the arithmetic */
  int64_t ratio;
} roi_align;

/* A region along one axis, in a stage's body: the position of the first bin, the length of a
 * bin, the samples of a bin, and the size of the image. */
typedef struct roi_line {
  wick_value first, bin, count, size;
} roi_line;

static wick_value roi_number(const roi_align *s, double x)
{
  return wick_build_const(s->b, wick_type_scalar(s->b->module, s->e, 1), x, 0);
}

static roi_line roi_line_of(const roi_align *s, wick_dim r, uint32_t axis)
{
  wick_builder *b = s->b;
  wick_value end[2], zero = roi_number(s, 0);
  bool half = s->c->attr[WICK_ATTR_roi_align_half].i;
  for (uint32_t k = 0; k < 2; k++) { /* columns of a region: x, y, x, y */
    const wick_dim at[] = {r, wick_dim_const(2 * k + 1 - axis)};
    end[k] = wick_build_cast(b, wick_read(b, s->c->in[1], at, 0, NULL, (wick_value){0}), s->e);
    end[k] =
        wick_build2(b, WICK_OP_mul, end[k], roi_number(s, s->c->attr[WICK_ATTR_roi_align_scale].f));
    if (half) end[k] = wick_build2(b, WICK_OP_sub, end[k], roi_number(s, 0.5));
  }
  wick_value length = wick_build2(b, WICK_OP_sub, end[1], end[0]);
  if (!half) length = wick_build2(b, WICK_OP_max, length, roi_number(s, 1));
  roi_line l = {.first = end[0], .size = wick_stage_number(b, s->x->dim[2 + axis], s->e)};
  l.bin = wick_build2(b, WICK_OP_div, length, wick_stage_number(b, s->out->dim[2 + axis], s->e));
  l.count = s->ratio ? roi_number(s, (double)s->ratio)
                     : wick_build2(b, WICK_OP_max, wick_build1(b, WICK_OP_ceil, l.bin), zero);
  return l;
}

/* Builds the coordinate of sample i of bin p. */
static wick_value roi_place(const roi_align *s, const roi_line *l, wick_dim p, wick_value i)
{
  wick_builder *b = s->b;
  wick_value bin = wick_build2(b, WICK_OP_mul, wick_stage_number(b, p, s->e), l->bin);
  wick_value at =
      wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_add, i, roi_number(s, 0.5)), l->bin);
  at = wick_build2(b, WICK_OP_div, at, l->count);
  return wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_add, l->first, bin), at);
}

/* The elements on both sides of a sample, as whole numbers of the arithmetic type, and their
 * weights. `inside`: the sample is at most one element outside of the image. */
typedef struct roi_sample {
  wick_value inside, low, high, low_weight, high_weight;
} roi_sample;

static roi_sample roi_sample_at(const roi_align *s, const roi_line *l, wick_value at)
{
  wick_builder *b = s->b;
  roi_sample p;
  wick_value zero = roi_number(s, 0), one = roi_number(s, 1),
             last = wick_build2(b, WICK_OP_sub, l->size, one);
  p.inside = wick_build2(b, WICK_OP_and, wick_build2(b, WICK_OP_ge, at, roi_number(s, -1)),
                         wick_build2(b, WICK_OP_le, at, l->size));
  at = wick_build2(b, WICK_OP_min, wick_build2(b, WICK_OP_max, at, zero), last);
  p.low = wick_build1(b, WICK_OP_floor, at);
  p.high = wick_build2(b, WICK_OP_min, wick_build2(b, WICK_OP_add, p.low, one), last);
  p.high_weight = wick_build2(b, WICK_OP_sub, at, p.low);
  p.low_weight = wick_build2(b, WICK_OP_sub, one, p.high_weight);
  return p;
}

/* ---- a constant number of samples: each is looked up ---- */

/* Along an axis, [R, bins, samples] each: the index of the element before the sample, or -1
 * outside; of the element after it; and the latter's weight. */
typedef struct roi_found {
  wick_value low, high, weight;
} roi_found;

static roi_found roi_find(const roi_align *s, uint32_t along)
{
  wick_builder *b = s->b;
  const wick_dim dim[] = {s->out->dim[0], s->out->dim[2 + along], wick_dim_const(s->ratio)};
  wick_type place = wick_type_tensor(b->module, WICK_I64, 3, dim),
            types[] = {place, place, wick_type_tensor(b->module, s->e, 3, dim)};
  wick_axis axis[3];
  wick_axes_of(b, place, axis);
  wick_map_begin(b, along ? "x" : "y", 3, axis, 3, types);
  roi_line l = roi_line_of(s, axis[0].sym, along);
  wick_value i = wick_stage_number(b, axis[2].sym, s->e);
  roi_sample p = roi_sample_at(s, &l, roi_place(s, &l, axis[1].sym, i));
  wick_value none = roi_number(s, -1), v[3];
  v[0] = wick_build_cast(b, wick_build3(b, WICK_OP_where, p.inside, p.low, none), WICK_I64);
  v[1] = wick_build_cast(b, p.high, WICK_I64);
  v[2] = p.high_weight;
  wick_value first = wick_map_end(b, 3, v);
  return (roi_found){first, {first.id + 1}, {first.id + 2}};
}

/* Combines the four elements around a sample, weighted, by their sum or maximum. */
static wick_value roi_around(const roi_align *s, const roi_found f[2], const wick_axis *axis,
                             wick_value image, bool best)
{
  wick_builder *b = s->b;
  wick_value none = {0}, zero = wick_build_i64(b, 0), i[2][2], w[2][2], inside[2], sum = {0};
  for (uint32_t k = 0; k < 2; k++) {
    const wick_dim at[] = {axis[0].sym, axis[2 + k].sym, axis[4 + k].sym};
    i[k][0] = wick_roi_kept(b, f[k].low, at);
    i[k][1] = wick_roi_kept(b, f[k].high, at);
    w[k][1] = wick_roi_kept(b, f[k].weight, at);
    w[k][0] = wick_build2(b, WICK_OP_sub, roi_number(s, 1), w[k][1]);
    inside[k] = wick_build2(b, WICK_OP_ge, i[k][0], zero);
    i[k][0] = wick_build2(b, WICK_OP_max, i[k][0], zero);
  }
  for (uint32_t k = 0; k < 4; k++) {
    const wick_dim at[] = {WICK_DIM_ANY, axis[1].sym, WICK_DIM_ANY, WICK_DIM_ANY};
    const wick_value any[] = {image, i[0][k / 2], i[1][k % 2]};
    wick_value v = wick_build_cast(b, wick_read(b, s->c->in[0], at, 3, any, none), s->e),
               by = wick_build2(b, WICK_OP_mul, w[0][k / 2], w[1][k % 2]);
    v = wick_roi_weighed(b, v, by);
    sum = k ? wick_build2(b, best ? WICK_OP_max : WICK_OP_add, sum, v) : v;
  }
  wick_value both = wick_build2(b, WICK_OP_and, inside[0], inside[1]);
  return wick_build3(b, WICK_OP_where, both, sum, roi_number(s, 0));
}

static void roi_align_known(const roi_align *s, wick_value image, bool best)
{
  wick_builder *b = s->b;
  wick_type out = s->c->out_type[0];
  wick_opcode by = best ? WICK_OP_max : WICK_OP_add;
  const roi_found f[2] = {roi_find(s, 0), roi_find(s, 1)};
  wick_axis axis[6];
  wick_axes_of(b, out, axis);
  axis[4] = wick_make_axis(b, "iy", wick_dim_const(s->ratio), true);
  axis[5] = wick_make_axis(b, "ix", wick_dim_const(s->ratio), true);
  wick_value state = wick_stage_fold(b, "roi_align", 6, axis, out, by, s->e);
  wick_value at = wick_roi_kept(b, image, &axis[0].sym);
  state = wick_build2(b, by, state, roi_around(s, f, axis, at, best));
  state = wick_stage_finish(b, state, by);
  if (!best)
    state = wick_build2(b, WICK_OP_div, state, roi_number(s, (double)(s->ratio * s->ratio)));
  s->c->out[0] = wick_stage_end(b, state, out);
}

/* ---- other numbers of samples: a weight for each element ---- */

/* If there are two samples or more, they are at least half an element apart. At most this many
 * are between the neighbours of an element, or between the edge of the image and the outermost
 * sample inside. This includes one more at each end, because the first index is rounded. */
enum { ROI_NEAR = 8 };

/* Adds the weight that sample i gives to an element next to it. */
static void roi_weigh(const roi_align *s, const roi_line *l, wick_dim p, wick_value element,
                      wick_value i, bool best, wick_value *state)
{
  wick_builder *b = s->b;
  wick_value there = wick_build2(b, WICK_OP_and, wick_build2(b, WICK_OP_ge, i, roi_number(s, 0)),
                                 wick_build2(b, WICK_OP_lt, i, l->count));
  roi_sample q = roi_sample_at(s, l, roi_place(s, l, p, i));
  there = wick_build2(b, WICK_OP_and, there, q.inside);
  const wick_value side[] = {q.low, q.high}, weight[] = {q.low_weight, q.high_weight};
  for (uint32_t k = 0; k < 2; k++) {
    wick_value on =
                   wick_build2(b, WICK_OP_and, there, wick_build2(b, WICK_OP_eq, side[k], element)),
               more = wick_build2(b, best ? WICK_OP_max : WICK_OP_add, state[0], weight[k]),
               less = wick_build2(b, WICK_OP_min, state[1], weight[k]);
    state[0] = wick_build3(b, WICK_OP_where, on, more, state[0]);
    state[1] = wick_build3(b, WICK_OP_where, on, less, state[1]);
    state[2] = wick_build2(b, WICK_OP_or, state[2], on);
  }
}

static wick_roi_weights roi_weights(const roi_align *s, uint32_t along, bool best)
{
  wick_builder *b = s->b;
  const wick_dim dim[] = {s->out->dim[0], s->out->dim[2 + along], s->x->dim[2 + along]};
  wick_type number = wick_type_tensor(b->module, s->e, 3, dim),
            types[] = {number, number, wick_type_tensor(b->module, WICK_BOOL, 3, dim)};
  wick_axis axis[3];
  wick_axes_of(b, number, axis);
  wick_map_begin(b, along ? "x" : "y", 3, axis, 3, types);
  roi_line l = roi_line_of(s, axis[0].sym, along);
  wick_value element = wick_stage_number(b, axis[2].sym, s->e), zero = roi_number(s, 0);
  /* just before the element */
  wick_value first = wick_build2(b, WICK_OP_sub, element, roi_number(s, 1)),
             bin = wick_build2(b, WICK_OP_mul, wick_stage_number(b, axis[1].sym, s->e), l.bin);
  first = wick_build2(b, WICK_OP_sub, wick_build2(b, WICK_OP_sub, first, l.first), bin);
  first = wick_build2(b, WICK_OP_div, wick_build2(b, WICK_OP_mul, first, l.count), l.bin);
  first = wick_build2(b, WICK_OP_sub, wick_build1(b, WICK_OP_floor, first), roi_number(s, 1));
  first = wick_build2(b, WICK_OP_max, first, zero);
  wick_value state[3] = {zero, roi_number(s, 2),
                         wick_build_const(b, wick_type_scalar(b->module, WICK_BOOL, 1), 0, 0)};
  if (s->ratio) first = zero;
  for (int64_t i = 0; i < (s->ratio ? s->ratio : ROI_NEAR) && !b->status; i++)
    roi_weigh(s, &l, axis[1].sym, element,
              wick_build2(b, WICK_OP_add, first, roi_number(s, (double)i)), best, state);
  wick_value v = wick_map_end(b, 3, state);
  return (wick_roi_weights){.most = v, .least = {v.id + 1}, .on = {v.id + 2}};
}

/* Returns for which bins a sample is outside: then the first or the last one is. */
static wick_value roi_beyond(const roi_align *s, uint32_t along)
{
  wick_builder *b = s->b;
  const wick_dim dim[] = {s->out->dim[0], s->out->dim[2 + along]};
  wick_type yes = wick_type_tensor(b->module, WICK_BOOL, 2, dim);
  wick_axis axis[2];
  wick_axes_of(b, yes, axis);
  wick_map_begin(b, along ? "beyond.x" : "beyond.y", 2, axis, 1, &yes);
  roi_line l = roi_line_of(s, axis[0].sym, along);
  wick_value last = wick_build2(b, WICK_OP_sub, l.count, roi_number(s, 1));
  roi_sample p = roi_sample_at(s, &l, roi_place(s, &l, axis[1].sym, roi_number(s, 0))),
             q = roi_sample_at(s, &l, roi_place(s, &l, axis[1].sym, last));
  wick_value v = wick_build1(b, WICK_OP_not, wick_build2(b, WICK_OP_and, p.inside, q.inside));
  return wick_map_end(b, 1, &v);
}

/* Returns 1 / (samples of a bin), or 1 if a bin has none. */
static wick_value roi_share_of(const roi_align *s)
{
  wick_builder *b = s->b;
  wick_type type = wick_type_tensor(b->module, s->e, 1, s->out->dim);
  wick_axis axis[1];
  wick_axes_of(b, type, axis);
  wick_map_begin(b, "share", 1, axis, 1, &type);
  roi_line y = roi_line_of(s, axis[0].sym, 0), x = roi_line_of(s, axis[0].sym, 1);
  wick_value one = roi_number(s, 1),
             count =
                 wick_build2(b, WICK_OP_max, wick_build2(b, WICK_OP_mul, y.count, x.count), one);
  count = wick_build2(b, WICK_OP_div, one, count);
  return wick_map_end(b, 1, &count);
}

static void roi_align_compute(const wick_compute *c)
{
  roi_align s = {.c = c,
                 .b = c->b,
                 .x = wick_built_info(c->b, c->in[0]),
                 .out = wick_type_get(c->b->module, c->out_type[0]),
                 .ratio = c->attr[WICK_ATTR_roi_align_ratio].i};
  s.e = wick_stage_arith(s.x->elem);
  bool best = c->attr[WICK_ATTR_roi_align_mode].i;
  wick_value image = wick_roi_images(c, c->in[2]);
  if (s.ratio > ROI_NEAR) {
    roi_align_known(&s, image, best);
    return;
  }
  wick_roi_weights w[2] = {roi_weights(&s, 0, best), roi_weights(&s, 1, best)};
  wick_value share = {0};
  if (!best) share = roi_share_of(&s);
  for (uint32_t k = 0; k < 2 && best; k++) w[k].beyond = roi_beyond(&s, k);
  c->out[0] = wick_roi_dense(c, image, w, best, share);
}

#define ROI_ATTRS                                                                                  \
  {"shape", WICK_ATTR_INTS, 0, true, NULL, 1, 1 << 20},                                            \
  {                                                                                                \
    "scale", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0                                                 \
  }

const wick_op wick_op_roi_align = {
    .name = "roi_align",
    .doc = "Samples x [N, C, H, W] in the regions [R, (x, y, x, y)], times `scale`, of the images "
           "[R]. Each region gives a result of `shape` bins. A bin is the mean or the best of its "
           "samples: `ratio` samples along each axis, or as many as the bin is long (0). Samples "
           "are interpolated linearly. `best` takes the largest of the four neighbours times "
           "their weights; a neighbour of weight 0 counts as 0, whatever its value. A sample more "
           "than one element outside of the image is 0. With `half`, coordinates are those of the "
           "elements' edges; without it, no region is shorter than 1. The number of an image that "
           "does not exist fails the run",
    .nin = {3, 3},
    .nout = {1, 1},
    .attr = {ROI_ATTRS,
             {"ratio", WICK_ATTR_INT, 0, false, NULL, 0, 1 << 10},
             {"mode", WICK_ATTR_ENUM, 0, false, "mean best", 0, 0},
             {"half", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .aux_operands = 1u << 2,
    .effect = WICK_MAY_FAIL,
    .unfusable = true,
    .infer = roi_align_infer,
    .ref = wick_roi_align_ref,
    .compute = roi_align_compute,
    .grad = wick_grad_roi_align,
    .batch = {wick_batch_merge, .in = {0, 1, 1}, .out = {1}},
};

/* ---- roi_max_pool ---- */

/* Returns the index of the first element of bin p in the image, and the index after its last. */
static void roi_range(const roi_align *s, wick_dim r, wick_dim p, uint32_t along,
                      wick_value range[2])
{
  wick_builder *b = s->b;
  wick_value end[2], half = roi_number(s, 0.5), one = roi_number(s, 1);
  /* columns of a region: image, x, y, x, y; halves are rounded away from 0 */
  for (uint32_t k = 0; k < 2; k++) {
    const wick_dim at[] = {r, wick_dim_const(2 * k + 2 - along)};
    wick_value v =
        wick_build_cast(b, wick_read(b, s->c->in[1], at, 0, NULL, (wick_value){0}), s->e);
    v = wick_build2(b, WICK_OP_mul, v, roi_number(s, s->c->attr[WICK_ATTR_roi_align_scale].f));
    wick_value whole = wick_build1(b, WICK_OP_trunc, v),
               rest = wick_build1(b, WICK_OP_abs, wick_build2(b, WICK_OP_sub, v, whole)),
               up = wick_build2(b, WICK_OP_add, whole, wick_build1(b, WICK_OP_sign, v));
    end[k] = wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_ge, rest, half), up, whole);
  }
  wick_value length = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_sub, end[1], end[0]), one);
  length = wick_build2(b, WICK_OP_max, length, one);
  wick_value bin =
      wick_build2(b, WICK_OP_div, length, wick_stage_number(b, s->out->dim[2 + along], s->e));
  for (uint32_t k = 0; k < 2; k++) {
    wick_dim edge = wick_dim_add(b->module->dims, p, wick_dim_const(k));
    wick_value at = wick_build2(b, WICK_OP_mul, wick_stage_number(b, edge, s->e), bin);
    at = wick_build1(b, k ? WICK_OP_ceil : WICK_OP_floor, at);
    range[k] = wick_build2(b, WICK_OP_add, at, end[0]);
  }
}

static wick_roi_weights roi_max_pool_weights(const roi_align *s, uint32_t along)
{
  wick_builder *b = s->b;
  const wick_dim dim[] = {s->out->dim[0], s->out->dim[2 + along], s->x->dim[2 + along]};
  wick_type on = wick_type_tensor(b->module, WICK_BOOL, 3, dim);
  wick_axis axis[3];
  wick_value range[2];
  wick_roi_weights w = {0};
  wick_axes_of(b, on, axis);
  wick_map_begin(b, along ? "x" : "y", 3, axis, 1, &on);
  roi_range(s, axis[0].sym, axis[1].sym, along, range);
  wick_value i = wick_stage_number(b, axis[2].sym, s->e);
  wick_value in = wick_build2(b, WICK_OP_and, wick_build2(b, WICK_OP_ge, i, range[0]),
                              wick_build2(b, WICK_OP_lt, i, range[1]));
  w.on = wick_map_end(b, 1, &in);
  return w;
}

static void roi_max_pool_compute(const wick_compute *c)
{
  roi_align s = {.c = c,
                 .b = c->b,
                 .x = wick_built_info(c->b, c->in[0]),
                 .out = wick_type_get(c->b->module, c->out_type[0])};
  s.e = wick_stage_arith(s.x->elem);
  wick_value image = wick_roi_images(c, c->in[1]);
  const wick_roi_weights w[2] = {roi_max_pool_weights(&s, 0), roi_max_pool_weights(&s, 1)};
  c->out[0] = wick_roi_dense(c, image, w, true, (wick_value){0});
}

const wick_op wick_op_roi_max_pool = {
    .name = "roi_max_pool",
    .doc = "The largest elements of x [N, C, H, W] in the bins of regions [R, (image, x, y, x, "
           "y)]. The coordinates are multiplied by `scale` and rounded to integers, halves away "
           "from 0. Both ends belong to a region; bins overlap if the region is not a multiple of "
           "their number. A bin without elements is 0. NaN is the largest. The number of an image "
           "that does not exist fails the run",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {ROI_ATTRS},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .effect = WICK_MAY_FAIL,
    .unfusable = true,
    .infer = roi_max_pool_infer,
    .ref = wick_roi_max_pool_ref,
    .compute = roi_max_pool_compute,
    .grad = wick_grad_none,
    .batch = {wick_batch_merge, .in = {0, 1}, .out = {1}},
};
