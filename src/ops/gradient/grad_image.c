/* Derivatives of resize, grid_sample and roi_align. */
#include <string.h>

#include "ir/expr.h"
#include "ops/gradient/grad.h"
#include "ops/image/resize.h"
#include "ops/image/roi.h"

/* ---- resize: a product with a matrix along each axis, which the operator itself computes ---- */

/* Builds [out, in]: the identity matrix, resized along one axis as the node resizes axis k. */
static wick_value image_matrix(const wick_adjoint *a, uint32_t k, int64_t in, int64_t out)
{
  wick_builder *b = a->b;
  const wick_attr *at = a->node->attr;
  int64_t square[2] = {in, in};
  wick_dim shape[2] = {wick_dim_const(out), wick_dim_const(in)};
  uint32_t rank = at[WICK_ATTR_resize_shape].n;
  double scale[2] = {at[WICK_ATTR_resize_scale].n ? at[WICK_ATTR_resize_scale].floats[k] : 1, 1};
  bool crop = at[WICK_ATTR_resize_roi].n == 2 * rank;
  double roi[4] = {crop ? at[WICK_ATTR_resize_roi].floats[k] : 0, 0,
                   crop ? at[WICK_ATTR_resize_roi].floats[rank + k] : 1, 1};
  wick_type type = wick_type_tensor_const(b->module, wick_built_info(b, a->in[0])->elem, 2, square);
  wick_attr diagonal = {.i = 0}, own[WICK_MAX_ATTR];
  wick_value eye = wick_build(b, WICK_OP_eye, 0, NULL, &diagonal, 1, &type);
  memcpy(own, at, a->node->nattr * sizeof *own);
  own[WICK_ATTR_resize_shape] = (wick_attr){.n = 2, .dims = shape};
  if (at[WICK_ATTR_resize_scale].n)
    own[WICK_ATTR_resize_scale] = (wick_attr){.n = 2, .floats = scale};
  if (crop) own[WICK_ATTR_resize_roi] = (wick_attr){.n = 4, .floats = roi};
  own[WICK_ATTR_resize_outside] = (wick_attr){.f = 0};
  return wick_build(b, WICK_OP_resize, 1, &eye, own, 0, NULL);
}

void wick_grad_resize(wick_adjoint *a)
{
  wick_builder *b = a->b;
  int64_t x[WICK_MAX_RANK], y[WICK_MAX_RANK];
  if (!wick_grad_sizes(b, a->in[0], x) || !wick_grad_sizes(b, a->out[0], y)) return;
  uint32_t rank = wick_built_info(b, a->in[0])->rank;
  wick_value g = a->dout[0];
  int64_t outer = 1, inner = 1;
  for (uint32_t k = 0; k < rank; k++) inner *= y[k];
  for (uint32_t k = 0; k < rank; outer *= x[k++]) {
    inner = y[k] ? inner / y[k] : 0;
    if (wick_resize_keeps(a->node->attr, k, wick_dim_const(x[k]), wick_dim_const(y[k]))) continue;
    wick_value matrix = image_matrix(a, k, x[k], y[k]);
    wick_dim dim[3] = {wick_dim_const(outer), wick_dim_const(y[k]), wick_dim_const(inner)};
    g = wick_grad_reshape(b, g, inner == 1 ? 2 : 3, dim);
    g = inner == 1 ? wick_build2(b, WICK_OP_matmul, g, matrix)
                   : wick_build2(b, WICK_OP_matmul, wick_build_swap(b, matrix), g);
  }
  a->din[0] = wick_grad_shape_of(b, g, a->in[0]);
}

/* ---- grid_sample, built from operators ---- */

enum { SAMPLE_MOST = 3 };
enum { SAMPLE_LINEAR, SAMPLE_NEAREST, SAMPLE_CUBIC };
enum { SAMPLE_ZEROS, SAMPLE_BORDER, SAMPLE_REFLECTION };

typedef struct sample {
  wick_builder *b;
  const wick_attr *attr;
  uint32_t n;
  wick_dim dim[3]; /* N, C, positions */
  wick_value x;    /* [N, C, elements] */
  double size[SAMPLE_MOST];
  wick_value at[SAMPLE_MOST], tap[SAMPLE_MOST]; /* [N, 1, positions] */
} sample;

static double sample_low(const sample *s)
{
  return s->attr[WICK_ATTR_grid_sample_align].i ? 0 : -0.5;
}
static double sample_range(const sample *s, uint32_t k)
{
  return s->size[k] - (s->attr[WICK_ATTR_grid_sample_align].i ? 1 : 0);
}

static wick_value sample_clamp(const sample *s, wick_value v, uint32_t k)
{
  return expr_at_most(s->b, expr_at_least(s->b, v, 0), s->size[k] - 1);
}

/* Mirrors v at the ends until it is inside. */
static wick_value sample_reflect(const sample *s, wick_value v, uint32_t k)
{
  wick_builder *b = s->b;
  double low = sample_low(s), range = sample_range(s, k);
  if (!(range > 0)) return expr_addk(b, expr_mulk(b, v, 0), low);
  wick_value d = expr_abs(b, expr_addk(b, v, -low));
  d = wick_build2(b, WICK_OP_fmod, d, expr_k(b, d, 2 * range));
  wick_value back = expr_addk(b, expr_neg(b, d), 2 * range);
  return expr_addk(b, wick_build2(b, WICK_OP_min, d, back), low);
}

static wick_value sample_bring(const sample *s, wick_value v, uint32_t k)
{
  wick_builder *b = s->b;
  int64_t padding = s->attr[WICK_ATTR_grid_sample_padding].i;
  double low = sample_low(s);
  if (padding == SAMPLE_ZEROS || b->status) return v;
  wick_value below = expr_lt(b, v, low), above = expr_gt(b, v, low + sample_range(s, k));
  wick_value inner = padding == SAMPLE_BORDER ? sample_clamp(s, v, k) : sample_reflect(s, v, k);
  return expr_where(b, wick_build2(b, WICK_OP_or, below, above), inner, v);
}

/* Converts coordinates from -1 .. 1 to elements. */
static wick_value sample_from_ends(const sample *s, wick_value u, uint32_t k)
{
  wick_builder *b = s->b;
  u = expr_addk(b, u, 1);
  if (s->attr[WICK_ATTR_grid_sample_align].i)
    return expr_mulk(b, expr_mulk(b, u, 0.5), s->size[k] - 1);
  return expr_mulk(b, expr_addk(b, expr_mulk(b, u, s->size[k]), -1), 0.5);
}

static void sample_coordinates(sample *s, wick_value grid)
{
  wick_builder *b = s->b;
  wick_dim dim[3] = {s->dim[0], wick_dim_const(1), s->dim[2]};
  bool nearest = s->attr[WICK_ATTR_grid_sample_mode].i == SAMPLE_NEAREST;
  for (uint32_t k = 0; k < s->n && !b->status; k++) {
    wick_value u = wick_grad_slice(b, grid, s->n + 1, wick_dim_const((int64_t)s->n - 1 - k),
                                   wick_dim_const(1), 1);
    u = wick_grad_reshape(b, u, 3, dim);
    if (b->status) return;
    if (!s->attr[WICK_ATTR_grid_sample_elements].i) u = sample_from_ends(s, u, k);
    if (nearest) u = wick_build1(b, WICK_OP_round_even, u);
    u = sample_bring(s, u, k);
    s->at[k] = s->tap[k] = nearest ? wick_build1(b, WICK_OP_trunc, u) : u;
  }
}

/* Reads the elements at the taps, [N, C, positions]. */
static wick_value sample_pixel(const sample *s)
{
  wick_builder *b = s->b;
  wick_value at = {0}, inside = {0};
  for (uint32_t k = 0; k < s->n && !b->status; k++) {
    wick_value i = s->tap[k], last = expr_k(b, i, s->size[k] - 1), zero = expr_k(b, i, 0);
    wick_value from = wick_build2(b, WICK_OP_ge, i, zero), to = wick_build2(b, WICK_OP_le, i, last);
    wick_value in = wick_build2(b, WICK_OP_and, from, to);
    if (s->attr[WICK_ATTR_grid_sample_padding].i == SAMPLE_REFLECTION)
      i = expr_where(b, in, i, wick_build1(b, WICK_OP_trunc, sample_reflect(s, i, k)));
    else if (s->attr[WICK_ATTR_grid_sample_padding].i == SAMPLE_ZEROS)
      inside = inside.id ? wick_build2(b, WICK_OP_and, inside, in) : in;
    if (b->status) return at;
    i = wick_build_cast(b, sample_clamp(s, i, k), WICK_I64);
    if (at.id) at = expr_mulk(b, at, s->size[k]);
    at = at.id ? expr_add(b, at, i) : i;
  }
  wick_attr shape = {.n = 3, .dims = s->dim}, axis = {.i = 2};
  wick_value in[2] = {s->x, wick_build(b, WICK_OP_broadcast_to, 1, &at, &shape, 0, NULL)};
  wick_value v = wick_build(b, WICK_OP_gather_elements, 2, in, &axis, 0, NULL);
  if (!inside.id || b->status) return v;
  return expr_where(b, inside, v, expr_k(b, v, 0));
}

/* Builds the weight of the i-th neighbour, for the fraction f. */
static wick_value sample_weight(const sample *s, wick_value f, uint32_t i, bool cubic)
{
  wick_builder *b = s->b;
  const double a = -0.75;
  double place = cubic ? (double)i - 1 : (double)i; /* relative to the floor */
  wick_value d = place < 1 ? expr_addk(b, f, -place) : expr_addk(b, expr_neg(b, f), place);
  if (!cubic) return expr_addk(b, expr_neg(b, d), 1);
  bool far = i == 0 || i == 3;
  const double terms[2][4] = {{a + 2, -(a + 3), 0, 1}, {a, -5 * a, 8 * a, -4 * a}};
  wick_value v = expr_k(b, d, terms[far][0]);
  for (uint32_t t = 1; t < 4; t++) v = expr_addk(b, expr_mul(b, v, d), terms[far][t]);
  return v;
}

static wick_value sample_value(sample *s, uint32_t k)
{
  wick_builder *b = s->b;
  bool cubic = s->attr[WICK_ATTR_grid_sample_mode].i == SAMPLE_CUBIC;
  if (k == s->n) return sample_pixel(s);
  wick_value whole = wick_build1(b, WICK_OP_floor, s->at[k]), f = expr_sub(b, s->at[k], whole),
             sum = {0};
  for (uint32_t i = 0; i < (cubic ? 4 : 2) && !b->status; i++) {
    s->tap[k] = expr_addk(b, whole, (double)i - cubic);
    wick_value v = sample_value(s, k + 1), w = sample_weight(s, f, i, cubic);
    v = expr_mul(b, v, w);
    sum = sum.id ? expr_add(b, sum, v) : v;
  }
  return sum;
}

static void sample_rows(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  int64_t x[WICK_MAX_RANK], grid[WICK_MAX_RANK], elements = 1, places = 1;
  if (!wick_grad_sizes(b, in[0], x) || !wick_grad_sizes(b, in[1], grid)) return;
  sample s = {.b = b, .attr = n->attr, .n = wick_built_info(b, in[0])->rank - 2u};
  wick_dim dim[WICK_MAX_RANK] = {wick_dim_const(x[0]), wick_dim_const(x[1])};
  for (uint32_t k = 0; k < s.n; k++) {
    s.size[k] = (double)x[2 + k];
    elements *= x[2 + k], places *= grid[1 + k];
    dim[2 + k] = wick_dim_const(grid[1 + k]);
  }
  wick_dim flat[3] = {dim[0], dim[1], wick_dim_const(elements)};
  s.dim[0] = dim[0], s.dim[1] = dim[1], s.dim[2] = wick_dim_const(places);
  s.x = wick_grad_reshape(b, in[0], 3, flat);
  sample_coordinates(&s, in[1]);
  if (b->status) return;
  wick_value v = s.attr[WICK_ATTR_grid_sample_mode].i == SAMPLE_NEAREST ? sample_pixel(&s)
                                                                        : sample_value(&s, 0);
  out[0] = wick_grad_reshape(b, v, 2 + s.n, dim);
}

void wick_grad_grid_sample(wick_adjoint *a) { wick_grad_through(a, sample_rows); }

/* ---- roi_align, built from operators: the mean of samples is a product with weights along each
 * axis ---- */

typedef struct region {
  wick_builder *b;
  const wick_attr *attr;
  wick_value rois; /* [R, 4] */
  wick_dim n;      /* R */
  double size;     /* elements of the image along the axis */
  int64_t bins;
} region;

static wick_value region_along(const region *r, wick_dim n, uint32_t axis, wick_value like)
{
  wick_value v = wick_grad_count(r->b, n, axis, 4);
  return r->b->status ? v : wick_build_cast(r->b, v, wick_built_info(r->b, like)->elem);
}

/* Returns one of the four numbers of each region, in elements, [R, 1, 1, 1]. */
static wick_value region_end(const region *r, uint32_t column)
{
  wick_builder *b = r->b;
  wick_dim one = wick_dim_const(1), dim[4] = {r->n, one, one, one};
  wick_value v = wick_grad_slice(b, r->rois, 1, wick_dim_const(column), one, 1);
  v = wick_grad_reshape(b, v, 4, dim);
  if (b->status) return v;
  v = expr_mulk(b, v, r->attr[WICK_ATTR_roi_align_scale].f);
  return r->attr[WICK_ATTR_roi_align_half].i ? expr_addk(b, v, -0.5) : v;
}

/* Builds [R, bins, elements]: the share of each element in the samples of a bin along an axis. If
 * the number of samples depends on the length of a bin, the samples begin with the first one that
 * may be in the image. */
static wick_value region_weights(const region *r, uint32_t axis)
{
  wick_builder *b = r->b;
  int64_t ratio = r->attr[WICK_ATTR_roi_align_ratio].i,
          samples = ratio ? ratio : 2 * (int64_t)r->size + 4;
  wick_value first = region_end(r, 1 - axis), length = region_end(r, 3 - axis);
  length = expr_sub(b, length, first);
  if (b->status) return first;
  if (!r->attr[WICK_ATTR_roi_align_half].i) length = expr_at_least(b, length, 1);
  wick_value bin = expr_div(b, length, expr_k(b, length, (double)r->bins)),
             place = region_along(r, wick_dim_const(r->bins), 1, bin),
             begin = expr_add(b, first, expr_mul(b, place, bin)),
             i = region_along(r, wick_dim_const(samples), 2, bin);
  if (b->status) return first;
  wick_value count = ratio ? expr_k(b, bin, (double)ratio)
                           : expr_at_least(b, wick_build1(b, WICK_OP_ceil, bin), 0),
             share = expr_at_least(b, count, 1), step = expr_div(b, bin, share);
  if (!ratio) {
    wick_value skip = expr_div(b, expr_addk(b, expr_neg(b, begin), -1), step);
    skip = wick_build1(b, WICK_OP_ceil, expr_addk(b, skip, -0.5));
    i = expr_add(b, i, expr_at_least(b, skip, 0));
  }
  wick_value at = expr_add(b, begin, expr_mul(b, expr_addk(b, i, 0.5), step));
  if (b->status) return first;
  wick_value from = wick_build2(b, WICK_OP_ge, at, expr_k(b, at, -1)),
             to = wick_build2(b, WICK_OP_le, at, expr_k(b, at, r->size)),
             on = wick_build2(b, WICK_OP_and, from, to),
             there = wick_build2(b, WICK_OP_lt, i, count);
  on = wick_build2(b, WICK_OP_and, on, there);
  at = expr_at_most(b, expr_at_least(b, at, 0), r->size - 1);
  wick_value element = region_along(r, wick_dim_const((int64_t)r->size), 3, bin);
  if (b->status) return first;
  wick_value w = expr_addk(b, expr_neg(b, expr_abs(b, expr_sub(b, at, element))), 1);
  w = expr_at_least(b, w, 0);
  w = expr_where(b, on, w, expr_k(b, w, 0));
  w = expr_div(b, w, share);
  static const int64_t summed = 2;
  return wick_grad_sum(b, w, 1, &summed, false);
}

static void region_rows(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  int64_t x[WICK_MAX_RANK], rois[WICK_MAX_RANK];
  if (!wick_grad_sizes(b, in[0], x) || !wick_grad_sizes(b, in[1], rois)) return;
  region r = {.b = b, .attr = n->attr, .rois = in[1], .n = wick_dim_const(rois[0])};
  wick_value w[2];
  for (uint32_t k = 0; k < 2; k++) {
    r.size = (double)x[2 + k], r.bins = n->attr[WICK_ATTR_roi_align_shape].ints[k];
    wick_dim dim[4] = {r.n, wick_dim_const(1), wick_dim_const(r.bins), wick_dim_const(x[2 + k])};
    w[k] = wick_grad_reshape(b, region_weights(&r, k), 4, dim);
  }
  wick_attr axis = {.i = 0};
  wick_value from[2] = {in[0], in[2]}, y = wick_build(b, WICK_OP_gather, 2, from, &axis, 0, NULL);
  y = wick_build2(b, WICK_OP_matmul, w[0], y);
  out[0] = wick_build2(b, WICK_OP_matmul, y, wick_build_swap(b, w[1]));
}

/* The maximum of samples has no derivative. */
void wick_grad_roi_align(wick_adjoint *a)
{
  if (a->node->attr[WICK_ATTR_roi_align_mode].i)
    wick_grad_none(a);
  else
    wick_grad_through(a, region_rows);
}
