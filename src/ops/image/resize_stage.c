/* The stages of resize. A coordinate is an exact fraction whose numerator is affine in the index:
 * positions are quotients and weights are remainders, for all sizes. */
#include <math.h>

#include "ops/image/resize.h"
#include "ops/stage.h"

/* The ratio that keeps the corners: o * (in - 1) / (length - 1), where length = in * p/q is the
 * result's length before rounding. It is 0 if length is 1. */
static wick_ratio resize_corners(wick_dims *t, const wick_attr *attr, wick_ratio s, wick_dim in,
                                 wick_dim out, wick_dim o)
{
  wick_dim one = wick_dim_const(1), over = wick_dim_mul(t, o, wick_dim_sub(t, in, one));
  wick_dim under = wick_dim_sub(t, out, one);
  if (attr[WICK_ATTR_resize_scale].n) {
    over = wick_dim_mul(t, over, s.under);
    under = wick_dim_sub(t, wick_dim_mul(t, in, s.over), s.under);
  }
  return (wick_ratio){over, wick_dim_max(t, under, one)};
}

/* Returns x's coordinate as over/under, with under > 0. */
static wick_ratio resize_coordinate(wick_dims *t, const wick_attr *attr, uint32_t k, wick_dim in,
                                    wick_dim out, wick_dim o)
{
  wick_dim one = wick_dim_const(1), two = wick_dim_const(2), none = wick_dim_const(0);
  wick_ratio s = wick_resize_scale(attr, k, in, out);
  /* (o + 1/2) / (p/q) - 1/2 = ((2o + 1)q - p) / 2p */
  wick_dim twice = wick_dim_add(t, wick_dim_mul(t, o, two), one);
  wick_ratio half = {wick_dim_sub(t, wick_dim_mul(t, twice, s.under), s.over),
                     wick_dim_mul(t, s.over, two)};
  switch (attr[WICK_ATTR_resize_coordinates].i) {
  case RESIZE_HALF_PIXEL: return half;
  case RESIZE_HALF_PIXEL_SYMMETRIC: /* adds in/2 * (1 - out / (in * p/q)), which is (in*p -
                                       out*q) / 2p */
    half.over = wick_dim_add(
        t, half.over, wick_dim_sub(t, wick_dim_mul(t, in, s.over), wick_dim_mul(t, out, s.under)));
    return half;
  case RESIZE_PYTORCH_HALF_PIXEL: return wick_dim_is(out, 1) ? (wick_ratio){none, one} : half;
  case RESIZE_ALIGN_CORNERS: return resize_corners(t, attr, s, in, out, o);
  case RESIZE_ASYMMETRIC: return (wick_ratio){wick_dim_mul(t, o, s.under), s.over};
  case RESIZE_TF_HALF_PIXEL: return (wick_ratio){wick_dim_mul(t, twice, s.under), half.under};
  default: break;
  }
  /* roi is in units of 2^-20 */
  const double unit = 1 << 20;
  uint32_t rank = attr[WICK_ATTR_resize_roi].n / 2;
  wick_dim begin = wick_dim_const((int64_t)nearbyint(attr[WICK_ATTR_resize_roi].floats[k] * unit)),
           end = wick_dim_const(
               (int64_t)nearbyint(attr[WICK_ATTR_resize_roi].floats[rank + k] * unit)),
           last = wick_dim_sub(t, in, one), steps = wick_dim_sub(t, out, one);
  if (wick_dim_is(out, 1))
    return (wick_ratio){wick_dim_mul(t, wick_dim_add(t, begin, end), last),
                        wick_dim_const((int64_t)unit * 2)};
  wick_dim at = wick_dim_add(t, wick_dim_mul(t, begin, steps),
                             wick_dim_mul(t, o, wick_dim_sub(t, end, begin)));
  return (wick_ratio){wick_dim_mul(t, at, last),
                      wick_dim_mul(t, steps, wick_dim_const((int64_t)unit))};
}

static wick_dim resize_clamp(wick_dims *t, wick_dim i, wick_dim in)
{
  wick_dim last = wick_dim_sub(t, in, wick_dim_const(1));
  return wick_dim_max(t, wick_dim_min(t, i, last), wick_dim_const(0));
}

static wick_dim resize_nearest(wick_dims *t, const wick_attr *attr, wick_ratio x, wick_dim in)
{
  wick_dim two = wick_dim_const(2), over2 = wick_dim_mul(t, x.over, two),
           under2 = wick_dim_mul(t, x.under, two), i;
  switch (attr[WICK_ATTR_resize_nearest].i) {
  case RESIZE_PREFER_FLOOR: i = wick_dim_ceildiv(t, wick_dim_sub(t, over2, x.under), under2); break;
  case RESIZE_PREFER_CEIL: i = wick_dim_floordiv(t, wick_dim_add(t, over2, x.under), under2); break;
  case RESIZE_CEIL: i = wick_dim_ceildiv(t, x.over, x.under); break;
  default: i = wick_dim_floordiv(t, x.over, x.under);
  }
  return resize_clamp(t, i, in);
}

/* ---- weights ---- */

static wick_value resize_number(wick_builder *b, wick_elem e, double x)
{
  return wick_build_const(b, wick_type_scalar(b->module, e, 1), x, 0);
}

/* Returns the weight of an element at distance d >= 0. `far` says that d is from 1 to 2 (cubic),
 * or at least 1 (linear). */
static wick_value resize_weight(wick_builder *b, const wick_attr *attr, wick_value d, wick_elem e,
                                bool far)
{
  double c = attr[WICK_ATTR_resize_cubic].f;
  if (attr[WICK_ATTR_resize_mode].i == RESIZE_IS_LINEAR)
    return far ? resize_number(b, e, 0) : wick_build2(b, WICK_OP_sub, resize_number(b, e, 1), d);
  wick_value v = resize_number(b, e, far ? c : c + 2);
  const double near_terms[3] = {-(c + 3), 0, 1}, far_terms[3] = {-5 * c, 8 * c, -4 * c};
  for (uint32_t i = 0; i < 3; i++)
    v = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, v, d),
                    resize_number(b, e, far ? far_terms[i] : near_terms[i]));
  return v;
}

/* ---- interpolation of all axes in one map ---- */

typedef struct resize_taps { /* of one axis */
  uint32_t n, axis;
  wick_dim at[RESIZE_MOST_TAPS];
  wick_value weight[RESIZE_MOST_TAPS];
  /* the tap is left out if this is false; no value: it always counts */
  wick_value inside[RESIZE_MOST_TAPS];
} resize_taps;

/* Returns v if the condition holds or does not exist, else 0. */
static wick_value resize_where(wick_builder *b, wick_value condition, wick_value v, wick_elem e)
{
  return condition.id ? wick_build3(b, WICK_OP_where, condition, v, resize_number(b, e, 0)) : v;
}

static resize_taps resize_taps_of(const wick_compute *c, uint32_t k, wick_dim in, wick_dim out,
                                  wick_dim o, wick_elem e)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  bool linear = c->attr[WICK_ATTR_resize_mode].i == RESIZE_IS_LINEAR,
       exclude = c->attr[WICK_ATTR_resize_exclude].i;
  resize_taps r = {.n = linear ? 2 : 4, .axis = k};
  wick_ratio x = resize_coordinate(t, c->attr, k, in, out, o);
  wick_dim first =
      wick_dim_sub(t, wick_dim_floordiv(t, x.over, x.under), wick_dim_const(linear ? 0 : 1));
  wick_value f = wick_build2(b, WICK_OP_div,
                             wick_stage_number(b, wick_dim_mod(t, x.over, x.under), e),
                             wick_stage_number(b, x.under, e)),
             total = {0};
  for (uint32_t i = 0; i < r.n; i++) { /* distances f+1, f, 1-f, 2-f */
    uint32_t place = linear ? i + 1 : i;
    wick_value d = place < 2
                       ? wick_build2(b, WICK_OP_add, f, resize_number(b, e, 1 - (double)place))
                       : wick_build2(b, WICK_OP_sub, resize_number(b, e, (double)place - 1), f);
    wick_dim at = wick_dim_add(t, first, wick_dim_const(i));
    r.weight[i] = resize_weight(b, c->attr, d, e, place == 0 || place == 3);
    r.at[i] = resize_clamp(t, at, in);
    if (!exclude) continue;
    r.inside[i] = wick_stage_inside(b, 1, &at, &in);
    r.weight[i] = resize_where(b, r.inside[i], r.weight[i], e);
    total = total.id ? wick_build2(b, WICK_OP_add, total, r.weight[i]) : r.weight[i];
  }
  for (uint32_t i = 0; exclude && i < r.n; i++)
    r.weight[i] = wick_build2(b, WICK_OP_div, r.weight[i], total);
  return r;
}

static wick_value resize_interpolate(const wick_compute *c, uint32_t n, const resize_taps *taps,
                                     wick_dim *index, wick_elem e)
{
  wick_builder *b = c->b;
  if (n == 0) return wick_build_cast(b, wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}), e);
  wick_value sum = {0};
  for (uint32_t i = 0; i < taps->n; i++) {
    index[taps->axis] = taps->at[i];
    wick_value v = resize_interpolate(c, n - 1, taps + 1, index, e);
    /* an infinity that is left out must not be multiplied by 0 */
    v = resize_where(b, taps->inside[i], v, e);
    sum = sum.id ? wick_stage_muladd(b, v, taps->weight[i], sum)
                 : wick_build2(b, WICK_OP_mul, v, taps->weight[i]);
  }
  return sum;
}

/* ---- tables ---- */

uint32_t wick_resize_ntap(const wick_attr *attr)
{
  int64_t mode = attr[WICK_ATTR_resize_mode].i;
  return mode == RESIZE_IS_NEAREST ? 1 : mode == RESIZE_IS_LINEAR ? 2 : RESIZE_MOST_TAPS;
}

static double resize_round(wick_elem e, double x) { return e == WICK_F32 ? (double)(float)x : x; }

/* The same operation on numbers of type e as in a stage. */
static double resize_table_op(wick_opcode op, wick_elem e, double x, double y)
{
  wick_scalar both[2] = {{.f = x}, {.f = y}};
  return wick_eval_scalar(op, NULL, e, e, both).f;
}

/* resize_weight, for a number. */
static double resize_table_weight(const wick_attr *attr, double d, wick_elem e, bool far)
{
  double c = attr[WICK_ATTR_resize_cubic].f;
  if (attr[WICK_ATTR_resize_mode].i == RESIZE_IS_LINEAR)
    return resize_table_op(WICK_OP_sub, e, 1, d);
  const double near_terms[3] = {-(c + 3), 0, 1}, far_terms[3] = {-5 * c, 8 * c, -4 * c};
  double v = resize_round(e, far ? c : c + 2);
  for (uint32_t i = 0; i < 3; i++)
    v = resize_table_op(WICK_OP_add, e, resize_table_op(WICK_OP_mul, e, v, d),
                        resize_round(e, far ? far_terms[i] : near_terms[i]));
  return v;
}

void wick_resize_table(wick_dims *t, const wick_attr *attr, uint32_t k, int64_t in, int64_t out,
                       wick_elem e, int32_t *index, double *weight)
{
  wick_dim nin = wick_dim_const(in), nout = wick_dim_const(out);
  bool linear = attr[WICK_ATTR_resize_mode].i == RESIZE_IS_LINEAR;
  uint32_t taps = wick_resize_ntap(attr);
  for (int64_t o = 0; o < out; o++) {
    wick_ratio x = resize_coordinate(t, attr, k, nin, nout, wick_dim_const(o));
    if (attr[WICK_ATTR_resize_mode].i == RESIZE_IS_NEAREST) {
      index[o] = (int32_t)resize_nearest(t, attr, x, nin).v;
      continue;
    }
    int64_t first = wick_dim_floordiv(t, x.over, x.under).v - !linear;
    double f =
        resize_table_op(WICK_OP_div, e, resize_round(e, (double)wick_dim_mod(t, x.over, x.under).v),
                        resize_round(e, (double)x.under.v));
    for (uint32_t i = 0; i < taps; i++) {
      uint32_t place = linear ? i + 1 : i;
      double d = place < 2 ? resize_table_op(WICK_OP_add, e, f, 1 - (double)place)
                           : resize_table_op(WICK_OP_sub, e, (double)place - 1, f);
      index[i * out + o] = (int32_t)resize_clamp(t, wick_dim_const(first + (int64_t)i), nin).v;
      weight[i * out + o] = resize_table_weight(attr, d, e, place == 0 || place == 3);
    }
  }
}

/* ---- the crop ---- */

/* Returns v, or the value for elements outside x if a coordinate is outside. */
static wick_value resize_beyond(const wick_compute *c, const wick_type_info *x,
                                const wick_axis *axis, wick_value v)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  wick_value beyond = {0};
  for (uint32_t k = 0; k < x->rank; k++) {
    wick_ratio at = resize_coordinate(t, c->attr, k, x->dim[k], axis[k].extent, axis[k].sym);
    wick_dim end = wick_dim_mul(t, at.under, wick_dim_sub(t, x->dim[k], wick_dim_const(1)));
    if (wick_resize_keeps(c->attr, k, x->dim[k], axis[k].extent)) continue;
    wick_value hit =
        wick_build2(b, WICK_OP_or, wick_stage_compare(b, WICK_OP_lt, at.over, wick_dim_const(0)),
                    wick_stage_compare(b, WICK_OP_gt, at.over, end));
    beyond = beyond.id ? wick_build2(b, WICK_OP_or, beyond, hit) : hit;
  }
  if (!beyond.id || b->status) return v;
  double other = c->attr[WICK_ATTR_resize_outside].f;
  wick_value o = wick_build_const(b, wick_built_type(b, v), other, (int64_t)other);
  return wick_build3(b, WICK_OP_where, beyond, o, v);
}

/* ---- antialias: a fold for each axis ---- */

/* Resizes axis k of `from` by a fold, whose second state is the sum of the weights. */
static wick_value resize_fold(const wick_compute *c, wick_value from, uint32_t k, wick_type type,
                              wick_ratio ratio, wick_elem e)
{
  double scale = (double)ratio.over.v / (double)ratio.under.v;
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, from);
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim index[WICK_MAX_RANK];
  bool linear = c->attr[WICK_ATTR_resize_mode].i == RESIZE_IS_LINEAR;
  int64_t reach = (int64_t)ceil((linear ? 1 : 2) / scale);
  uint32_t n = wick_axes_of(b, type, axis);
  for (uint32_t i = 0; i < n; i++) index[i] = axis[i].sym;
  axis[n] = wick_make_axis(b, "t", wick_dim_const(2 * reach), true);
  wick_ratio at = resize_coordinate(t, c->attr, k, x->dim[k], axis[k].extent, axis[k].sym);
  wick_dim shift = wick_dim_sub(t, axis[n].sym, wick_dim_const(reach - 1)),
           place = wick_dim_add(t, wick_dim_floordiv(t, at.over, at.under), shift),
           rest = wick_dim_mod(t, at.over, at.under);
  wick_type s = wick_type_scalar(b->module, e, 1), both[4] = {s, s, s, s};
  wick_fold_open(b, wick_str_printf(b->mem, "resize%u", k), n + 1, axis, 1, &type);
  wick_region_begin(b, 0, NULL);
  wick_value zero = resize_number(b, e, 0), pair[2] = {zero, zero};
  wick_yield(b, 2, pair);
  wick_value state = wick_region_begin(b, 2, both), one = resize_number(b, e, 1);
  wick_value f =
      wick_build2(b, WICK_OP_div, wick_stage_number(b, rest, e), wick_stage_number(b, at.under, e));
  wick_value d = wick_build2(b, WICK_OP_sub, wick_stage_number(b, shift, e), f);
  d = wick_build1(b, WICK_OP_abs, wick_build2(b, WICK_OP_mul, d, resize_number(b, e, scale)));
  wick_value w =
      wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_lt, d, one),
                  resize_weight(b, c->attr, d, e, false), resize_weight(b, c->attr, d, e, true));
  /* Elements within reach of the weights, decided exactly on integers. Others are left out of
   * the sum. */
  wick_dim far =
               wick_dim_mul(t, wick_dim_sub(t, wick_dim_mul(t, shift, at.under), rest), ratio.over),
           end = wick_dim_mul(t, wick_dim_mul(t, at.under, ratio.under),
                              wick_dim_const(linear ? 1 : 2));
  wick_value inside =
      wick_build2(b, WICK_OP_and, wick_stage_compare(b, WICK_OP_lt, far, end),
                  wick_stage_compare(b, WICK_OP_gt, far, wick_dim_sub(t, wick_dim_const(0), end)));
  if (c->attr[WICK_ATTR_resize_exclude].i) {
    wick_value there = wick_stage_inside(b, 1, &place, &x->dim[k]);
    if (there.id) inside = wick_build2(b, WICK_OP_and, inside, there);
  }
  w = resize_where(b, inside, w, e);
  index[k] = resize_clamp(t, place, x->dim[k]);
  wick_value v = wick_build_cast(b, wick_read(b, from, index, 0, NULL, (wick_value){0}), e);
  v = resize_where(b, inside, v, e);
  pair[0] = wick_stage_muladd(b, v, w, state);
  pair[1] = wick_build2(b, WICK_OP_add, (wick_value){state.id + 1}, w);
  wick_yield(b, 2, pair);
  uint32_t m = wick_region_begin(b, 4, both).id;
  for (uint32_t i = 0; i < 2; i++)
    pair[i] = wick_build2(b, WICK_OP_add, (wick_value){m + i}, (wick_value){m + 2 + i});
  wick_yield(b, 2, pair);
  m = wick_region_begin(b, 2, both).id;
  return wick_stage_end(b, wick_build2(b, WICK_OP_div, (wick_value){m}, (wick_value){m + 1}), type);
}

/* Resizes the axes that shrink, in the arithmetic type. Returns the tensor whose other axes are
 * still to be resized. */
static wick_value resize_shrink(const wick_compute *c, wick_elem e, bool *done)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]),
                       *out = wick_type_get(b->module, c->out_type[0]);
  wick_dim dim[WICK_MAX_RANK];
  wick_value v = c->in[0];
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = x->dim[k];
  for (uint32_t k = 0; k < x->rank; k++) {
    wick_ratio s = wick_resize_scale(c->attr, k, x->dim[k], out->dim[k]);
    bool known = wick_dim_is_const(s.over) && wick_dim_is_const(s.under);
    double scale = known ? (double)s.over.v / (double)s.under.v : 0;
    done[k] = wick_resize_keeps(c->attr, k, x->dim[k], out->dim[k]);
    if (done[k] || !c->attr[WICK_ATTR_resize_antialias].i || scale >= 1) continue;
    if (!known) {
      wick_build_fail(b, WICK_EUNSUPPORTED, "antialias of axis %u, whose scale is not a number", k);
      return v;
    }
    dim[k] = out->dim[k];
    v = resize_fold(c, v, k, wick_type_tensor(b->module, e, x->rank, dim), s, e);
    done[k] = true;
  }
  return v;
}

void wick_resize_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  wick_elem e = wick_stage_arith(x->elem);
  bool done[WICK_MAX_RANK] = {false},
       nearest = c->attr[WICK_ATTR_resize_mode].i == RESIZE_IS_NEAREST;
  wick_compute rest = *c;
  wick_value from = nearest ? c->in[0] : resize_shrink(c, e, done);
  rest.in = &from;
  uint32_t n = wick_stage_map(c, 0, "resize", axis), ntaps = 0;
  resize_taps taps[3]; /* inference allows no more */
  for (uint32_t k = 0; k < n; k++) {
    index[k] = axis[k].sym;
    if (nearest && !wick_resize_keeps(c->attr, k, x->dim[k], axis[k].extent))
      index[k] = resize_nearest(
          b->module->dims, c->attr,
          resize_coordinate(b->module->dims, c->attr, k, x->dim[k], axis[k].extent, axis[k].sym),
          x->dim[k]);
    else if (!nearest && !done[k])
      taps[ntaps++] = resize_taps_of(c, k, x->dim[k], axis[k].extent, axis[k].sym, e);
  }
  wick_value v = nearest ? wick_read(b, from, index, 0, NULL, (wick_value){0})
                         : resize_interpolate(&rest, ntaps, taps, index, e);
  if (!b->status) v = wick_build_cast(b, v, wick_type_get(b->module, c->out_type[0])->elem);
  if (c->attr[WICK_ATTR_resize_coordinates].i == RESIZE_CROP) v = resize_beyond(c, x, axis, v);
  c->out[0] = wick_map_end(b, 1, &v);
}
