/* grid_sample: images sampled at coordinates that are data. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/loop/loop_nest.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { GRID_LINEAR, GRID_NEAREST, GRID_CUBIC };
enum { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION };
enum { GRID_MOST = 3, GRID_TAPS = 4 }; /* most spatial dimensions; most neighbours along one */
static const double grid_cubic = -0.75;

static wick_status grid_sample_infer(wick_infer *c)
{
  const wick_type_info *x, *grid;
  wick_dim dim[WICK_MAX_RANK];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 3, &x));
  WICK_TRY(wick_infer_alike(c, 1, "the grid", 3, &grid));
  uint32_t nsp = x->rank - 2u;
  if (nsp > GRID_MOST || grid->rank != x->rank ||
      !wick_infer_equal(c, grid->dim[nsp + 1], wick_dim_const(nsp)) ||
      !wick_infer_equal(c, grid->dim[0], x->dim[0]))
    return wick_infer_fail(c, WICK_ETYPE, "the grid %s does not fit %s",
                           wick_infer_type_text(c, c->in[1]->type),
                           wick_infer_type_text(c, c->in[0]->type));
  if (c->attr[WICK_ATTR_grid_sample_mode].i == GRID_CUBIC && nsp > 2)
    return wick_infer_fail(c, WICK_EUNSUPPORTED, "cubic sampling of %u dimensions", nsp);
  for (uint32_t k = 0; k < nsp; k++)
    if (wick_dim_is(x->dim[2 + k], 0))
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u of x has no elements", 2 + k);
  dim[0] = x->dim[0], dim[1] = x->dim[1];
  for (uint32_t k = 0; k < nsp; k++) dim[2 + k] = grid->dim[1 + k];
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  return NULL;
}

/* ---- reference ---- */

/* Mirrors a coordinate at lo and hi until it is inside. */
static double grid_reflect(double x, double lo, double hi)
{
  if (!(hi > lo)) return lo;
  double d = fmod(fabs(x - lo), 2 * (hi - lo));
  return lo + (d > hi - lo ? 2 * (hi - lo) - d : d);
}

/* the coordinates of one output element, and the image that is sampled */
typedef struct grid_point {
  const wick_attr *attr;
  uint32_t n;
  int64_t size[GRID_MOST];
  double at[GRID_MOST];
  const wick_scalar *x;
} grid_point;

static void grid_ends(const grid_point *p, uint32_t k, double *lo, double *hi)
{
  bool align = p->attr[WICK_ATTR_grid_sample_align].i;
  *lo = align ? 0 : -0.5;
  *hi = (double)p->size[k] - (align ? 1 : 0.5);
}

/* Returns the element at whole coordinates, which may be outside the image. */
static double grid_pixel(const grid_point *p, const double *at)
{
  int64_t from = 0;
  for (uint32_t k = 0; k < p->n; k++) {
    double lo, hi, i = at[k], last = (double)(p->size[k] - 1);
    grid_ends(p, k, &lo, &hi);
    bool outside = !(i >= 0 && i <= last);
    if (outside && p->attr[WICK_ATTR_grid_sample_padding].i == GRID_ZEROS) return 0;
    if (outside && p->attr[WICK_ATTR_grid_sample_padding].i == GRID_REFLECTION)
      i = trunc(grid_reflect(i, lo, hi));
    i = isnan(i) ? 0 : fmin(fmax(i, 0), last);
    from = from * p->size[k] + (int64_t)i;
  }
  return p->x[from].f;
}

static double grid_weight(bool cubic, double d)
{
  d = fabs(d);
  if (!cubic) return d < 1 ? 1 - d : 0;
  if (d < 1) return ((grid_cubic + 2) * d - (grid_cubic + 3)) * d * d + 1;
  return d < 2 ? ((grid_cubic * d - 5 * grid_cubic) * d + 8 * grid_cubic) * d - 4 * grid_cubic : 0;
}

/* Interpolates along the dimensions from k on. The coordinates of the earlier ones are whole. */
static double grid_value(const grid_point *p, uint32_t k, double *at)
{
  if (k == p->n) return grid_pixel(p, at);
  bool cubic = p->attr[WICK_ATTR_grid_sample_mode].i == GRID_CUBIC;
  double first = floor(p->at[k]) - cubic, sum = 0;
  for (int i = 0; i < (cubic ? 4 : 2); i++) {
    at[k] = first + i;
    sum += grid_weight(cubic, at[k] - p->at[k]) * grid_value(p, k + 1, at);
  }
  return sum;
}

static double grid_sample_point(grid_point *p, const wick_scalar *place)
{
  bool nearest = p->attr[WICK_ATTR_grid_sample_mode].i == GRID_NEAREST,
       align = p->attr[WICK_ATTR_grid_sample_align].i;
  double at[GRID_MOST];
  for (uint32_t k = 0; k < p->n; k++) { /* the grid lists the last dimension first */
    double u = place[p->n - 1 - k].f, size = (double)p->size[k], lo, hi;
    double x = p->attr[WICK_ATTR_grid_sample_elements].i ? u
               : align                                   ? (u + 1) / 2 * (size - 1)
                                                         : ((u + 1) * size - 1) / 2;
    if (nearest) x = nearbyint(x);
    grid_ends(p, k, &lo, &hi);
    if (x < lo || x > hi) {
      if (p->attr[WICK_ATTR_grid_sample_padding].i == GRID_BORDER) x = fmin(fmax(x, 0), size - 1);
      if (p->attr[WICK_ATTR_grid_sample_padding].i == GRID_REFLECTION) x = grid_reflect(x, lo, hi);
    }
    p->at[k] = at[k] = nearest ? trunc(x) : x;
  }
  return nearest ? grid_pixel(p, at) : grid_value(p, 0, at);
}

static wick_status grid_sample_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  grid_point p = {.attr = c->attr, .n = x->rank - 2};
  const wick_scalar *all = wick_ref_load(c->mem, x), *grid = wick_ref_load(c->mem, &c->in[1]);
  int64_t size = wick_ref_product(x, 2, x->rank), points = wick_ref_product(out, 2, out->rank);
  for (uint32_t k = 0; k < p.n; k++) p.size[k] = x->dim[2 + k];
  uint64_t at = 0;
  for (int64_t image = 0; image < x->dim[0] * x->dim[1]; image++)
    for (int64_t i = 0; i < points; i++, at++) {
      p.x = all + image * size;
      wick_scalar v = {
          .f = grid_sample_point(&p, grid + (image / x->dim[1] * points + i) * (int64_t)p.n)};
      wick_ref_write(out, at, 1, &v);
    }
  return NULL;
}

/* ---- stages ---- */

typedef struct grid_stage {
  const wick_compute *c;
  wick_builder *b;
  wick_elem e;
  uint32_t n;
  wick_dim index[WICK_MAX_RANK];
  /* size - 1; the lower mirror and the distance to the upper one */
  wick_value last[GRID_MOST], lo[GRID_MOST], range[GRID_MOST];
  wick_value zero, one;
  wick_value at[GRID_MOST]; /* the sampling coordinates, in elements */
  /* For each axis and neighbour of all points, [axes * taps, N, points...]: the neighbour's
   * index, or -1 outside the image; and its weight. */
  uint32_t ntap;
  wick_value places, weights;
  wick_value tap[GRID_MOST][GRID_TAPS], weight[GRID_MOST][GRID_TAPS]; /* of the current point */
} grid_stage;

static wick_value grid_number(const grid_stage *s, double x)
{
  return wick_build_const(s->b, wick_type_scalar(s->b->module, s->e, 1), x, 0);
}

static wick_value grid_clamp(const grid_stage *s, wick_value x, uint32_t k)
{
  return wick_build2(s->b, WICK_OP_min, wick_build2(s->b, WICK_OP_max, x, s->zero), s->last[k]);
}

static wick_value grid_stage_reflect(const grid_stage *s, wick_value x, uint32_t k)
{
  wick_builder *b = s->b;
  wick_value twice = wick_build2(b, WICK_OP_add, s->range[k], s->range[k]),
             d = wick_build1(b, WICK_OP_abs, wick_build2(b, WICK_OP_sub, x, s->lo[k]));
  d = wick_build2(b, WICK_OP_fmod, d, twice);
  d = wick_build2(b, WICK_OP_min, d, wick_build2(b, WICK_OP_sub, twice, d));
  wick_value none = wick_build2(b, WICK_OP_le, s->range[k], s->zero);
  return wick_build3(b, WICK_OP_where, none, s->lo[k], wick_build2(b, WICK_OP_add, s->lo[k], d));
}

/* Returns x if it is inside the image, otherwise the coordinate by which the padding replaces
 * it. */
static wick_value grid_stage_bring(const grid_stage *s, wick_value x, uint32_t k)
{
  wick_builder *b = s->b;
  int64_t padding = s->c->attr[WICK_ATTR_grid_sample_padding].i;
  if (padding == GRID_ZEROS) return x;
  wick_value hi = wick_build2(b, WICK_OP_add, s->lo[k], s->range[k]);
  wick_value outside = wick_build2(b, WICK_OP_or, wick_build2(b, WICK_OP_lt, x, s->lo[k]),
                                   wick_build2(b, WICK_OP_gt, x, hi));
  wick_value y = padding == GRID_BORDER ? grid_clamp(s, x, k) : grid_stage_reflect(s, x, k);
  return wick_build3(b, WICK_OP_where, outside, y, x);
}

/* Converts a coordinate from the range -1 .. 1 to elements. */
static wick_value grid_from_ends(const grid_stage *s, uint32_t k, wick_value u, wick_value size)
{
  wick_builder *b = s->b;
  wick_value half = grid_number(s, 0.5);
  u = wick_build2(b, WICK_OP_add, u, s->one);
  if (s->c->attr[WICK_ATTR_grid_sample_align].i)
    return wick_build2(b, WICK_OP_mul, wick_build2(b, WICK_OP_mul, u, half), s->last[k]);
  u = wick_build2(b, WICK_OP_sub, wick_build2(b, WICK_OP_mul, u, size), s->one);
  return wick_build2(b, WICK_OP_mul, u, half);
}

static void grid_coordinates(grid_stage *s)
{
  wick_builder *b = s->b;
  const wick_type_info *x = wick_built_info(b, s->c->in[0]);
  bool align = s->c->attr[WICK_ATTR_grid_sample_align].i,
       nearest = s->c->attr[WICK_ATTR_grid_sample_mode].i == GRID_NEAREST;
  wick_dim from[WICK_MAX_RANK] = {s->index[0]};
  for (uint32_t k = 0; k < s->n; k++) from[1 + k] = s->index[2 + k];
  for (uint32_t k = 0; k < s->n; k++) {
    wick_value size = wick_stage_number(b, x->dim[2 + k], s->e);
    s->last[k] = wick_build2(b, WICK_OP_sub, size, s->one);
    s->lo[k] = align ? s->zero : grid_number(s, -0.5);
    s->range[k] = align ? s->last[k] : size;
    from[1 + s->n] = wick_dim_const((int64_t)s->n - 1 - k);
    wick_value u =
        wick_build_cast(b, wick_read(b, s->c->in[1], from, 0, NULL, (wick_value){0}), s->e);
    if (!s->c->attr[WICK_ATTR_grid_sample_elements].i) u = grid_from_ends(s, k, u, size);
    if (nearest) u = wick_build1(b, WICK_OP_round_even, u);
    u = grid_stage_bring(s, u, k);
    s->at[k] = nearest ? wick_build1(b, WICK_OP_trunc, u) : u;
  }
}

/* Returns the index of a neighbour along axis k as an i32. The neighbour is a whole number,
 * which may be outside. The result is -1 if the padding gives 0 there. */
static wick_value grid_stage_place(const grid_stage *s, uint32_t k, wick_value tap)
{
  wick_builder *b = s->b;
  wick_value low = wick_build2(b, WICK_OP_ge, tap, s->zero),
             high = wick_build2(b, WICK_OP_le, tap, s->last[k]);
  wick_value in = wick_build2(b, WICK_OP_and, low, high), i = tap;
  if (s->c->attr[WICK_ATTR_grid_sample_padding].i == GRID_REFLECTION)
    i = wick_build3(b, WICK_OP_where, in, i,
                    wick_build1(b, WICK_OP_trunc, grid_stage_reflect(s, i, k)));
  i = wick_build_cast(b, grid_clamp(s, i, k), WICK_I32); /* NaN becomes 0 */
  if (s->c->attr[WICK_ATTR_grid_sample_padding].i != GRID_ZEROS) return i;
  wick_value none = wick_build_const(b, wick_type_scalar(b->module, WICK_I32, 1), 0, -1);
  return wick_build3(b, WICK_OP_where, in, i, none);
}

/* Returns the weight of the i-th neighbour; f is the fraction of the coordinate. */
static wick_value grid_stage_weight(const grid_stage *s, wick_value f, uint32_t i, bool cubic)
{
  wick_builder *b = s->b;
  double a = grid_cubic;
  uint32_t place = cubic ? i : i + 1; /* the neighbours are at -1, 0, 1 and 2 from the floor */
  wick_value d = place < 2 ? wick_build2(b, WICK_OP_add, f, grid_number(s, 1 - (double)place))
                           : wick_build2(b, WICK_OP_sub, grid_number(s, (double)place - 1), f);
  if (!cubic) return wick_build2(b, WICK_OP_sub, s->one, d);
  bool far = place == 0 || place == 3;
  const double terms[2][4] = {{a + 2, -(a + 3), 0, 1}, {a, -5 * a, 8 * a, -4 * a}};
  wick_value v = grid_number(s, terms[far][0]);
  for (uint32_t t = 1; t < 4; t++)
    v = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, v, d),
                    grid_number(s, terms[far][t]));
  return v;
}

/* Computes the neighbours of all points once: they are the same for all channels. */
static void grid_taps(grid_stage *s)
{
  wick_builder *b = s->b;
  const wick_type_info *out = wick_type_get(b->module, s->c->out_type[0]);
  wick_dim dim[WICK_MAX_RANK] = {wick_dim_const(s->n * s->ntap), out->dim[0]};
  wick_axis axis[WICK_MAX_RANK];
  wick_value v[2 * GRID_MOST * GRID_TAPS] = {{0}};
  uint32_t all = s->n * s->ntap;
  for (uint32_t k = 0; k < s->n; k++) dim[2 + k] = out->dim[2 + k];
  wick_type type[2] = {wick_type_tensor(b->module, WICK_I32, 2 + s->n, dim),
                       wick_type_tensor(b->module, s->e, 2 + s->n, dim)};
  wick_axes_of(b, type[0], axis);
  wick_map_begin(b, "taps", 1 + s->n, axis + 1, 2, type);
  s->index[0] = axis[1].sym;
  for (uint32_t k = 0; k < s->n; k++) s->index[2 + k] = axis[2 + k].sym;
  s->zero = grid_number(s, 0), s->one = grid_number(s, 1);
  grid_coordinates(s);
  for (uint32_t k = 0; k < s->n; k++) {
    wick_value whole = s->ntap > 1 ? wick_build1(b, WICK_OP_floor, s->at[k]) : s->at[k], f = s->one;
    bool cubic = s->ntap == GRID_TAPS;
    if (s->ntap > 1) f = wick_build2(b, WICK_OP_sub, s->at[k], whole);
    for (uint32_t i = 0; i < s->ntap; i++) {
      wick_value tap = wick_build2(b, WICK_OP_add, whole, grid_number(s, (double)i - cubic));
      v[k * s->ntap + i] = grid_stage_place(s, k, s->ntap > 1 ? tap : whole);
      v[all + k * s->ntap + i] = s->ntap > 1 ? grid_stage_weight(s, f, i, cubic) : s->one;
    }
  }
  s->places = wick_map_end(b, 2 * all, v);
  s->weights = (wick_value){s->places.id + 1};
}

/* Interpolates at a point along the axes from k on. place[] has the indices along the earlier
 * axes. */
static wick_value grid_stage_value(const grid_stage *s, uint32_t k, wick_value place[GRID_MOST])
{
  wick_builder *b = s->b;
  wick_value sum = {0}, inside = {0};
  if (k < s->n) {
    for (uint32_t i = 0; i < s->ntap; i++) {
      place[k] = s->tap[k][i];
      wick_value v = grid_stage_value(s, k + 1, place);
      if (s->ntap == 1) return v;
      sum = sum.id ? wick_stage_muladd(b, v, s->weight[k][i], sum)
                   : wick_build2(b, WICK_OP_mul, v, s->weight[k][i]);
    }
    return sum;
  }
  wick_dim index[WICK_MAX_RANK] = {s->index[0], s->index[1]};
  wick_value any[GRID_MOST], zero = wick_build_i64(b, 0);
  bool zeros = s->c->attr[WICK_ATTR_grid_sample_padding].i == GRID_ZEROS;
  for (uint32_t i = 0; i < s->n; i++) {
    any[i] = zeros ? wick_build2(b, WICK_OP_max, place[i], zero) : place[i];
    wick_value in = wick_build2(b, WICK_OP_ge, place[i], zero);
    inside = i ? wick_build2(b, WICK_OP_and, inside, in) : in;
    index[2 + i] = WICK_DIM_ANY;
  }
  wick_value v = wick_read(b, s->c->in[0], index, s->n, any, (wick_value){0});
  v = wick_build_cast(b, v, s->e);
  return zeros ? wick_build3(b, WICK_OP_where, inside, v, s->zero) : v;
}

/* Returns how many channels a point of the loop nest has: they share the indices of neighbours. */
static int64_t grid_channels(const grid_stage *s, wick_dim channels)
{
  enum { MOST = 4, NEIGHBOURS = 32 };
  int64_t neighbours = 1, most, n = channels.v;
  for (uint32_t k = 0; k < s->n; k++) neighbours *= s->ntap;
  most = wick_min_i64(wick_max_i64(NEIGHBOURS / neighbours, 1), MOST);
  return wick_dim_is_const(channels) && n > 0 ? wick_ceildiv_i64(n, wick_ceildiv_i64(n, most))
                                              : most;
}

/* A loop nest over 1-D slices of points, some channels after another. If the last ones are fewer, the
 * last channel is computed repeatedly. */
static void grid_sample_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *d = b->module->dims;
  wick_elem e = wick_built_info(b, c->in[0])->elem;
  const wick_type_info *out = wick_type_get(b->module, c->out_type[0]);
  grid_stage s = {.c = c, .b = b, .e = wick_stage_arith(e), .n = out->rank - 2u};
  s.ntap = c->attr[WICK_ATTR_grid_sample_mode].i == GRID_NEAREST ? 1
           : c->attr[WICK_ATTR_grid_sample_mode].i == GRID_CUBIC ? 4
                                                                 : 2;
  grid_taps(&s);
  wick_axis all[WICK_MAX_RANK], axis[3];
  wick_value any[GRID_MOST] = {{0}}, place[GRID_MOST];
  wick_dim channels = wick_dim_const(grid_channels(&s, out->dim[1])),
           last =
               wick_dim_max(d, wick_dim_sub(d, out->dim[1], wick_dim_const(1)), wick_dim_const(0));
  wick_axes_of(b, c->out_type[0], all);
  axis[0] = all[0], axis[1] = all[2];
  axis[2] = wick_make_axis(b, "channels", wick_dim_ceildiv(d, out->dim[1], channels), false);
  wick_value y = wick_loop_nest_begin(b, "grid_sample", 3, axis, 1, c->out_type);
  wick_dim of[WICK_MAX_RANK] = {WICK_DIM_INVALID, all[0].sym, all[2].sym},
           to[WICK_MAX_RANK] = {all[0].sym, WICK_DIM_INVALID, all[2].sym};
  s.index[0] = all[0].sym;
  s.zero = grid_number(&s, 0);
  for (uint32_t k = 1; k < s.n; k++) {
    any[k - 1] = wick_for_begin(b, wick_build_i64(b, 0), wick_index(b, out->dim[2 + k]), 0, NULL);
    of[2 + k] = to[2 + k] = WICK_DIM_ANY;
  }
  for (uint32_t k = 0; k < s.n; k++)
    for (uint32_t i = 0; i < s.ntap; i++) {
      of[0] = wick_dim_const(k * s.ntap + i);
      wick_value v = wick_read(b, s.places, of, s.n - 1, any, (wick_value){0});
      s.tap[k][i] = wick_build_cast(b, v, WICK_I64);
      s.weight[k][i] = wick_read(b, s.weights, of, s.n - 1, any, (wick_value){0});
    }
  for (int64_t k = 0; k < channels.v; k++) {
    wick_dim own = wick_dim_add(d, wick_dim_mul(d, axis[2].sym, channels), wick_dim_const(k));
    s.index[1] = to[1] = wick_dim_min(d, own, last);
    wick_value v = grid_stage_value(&s, 0, place);
    wick_put(b, y, to, s.n - 1, any, wick_build_cast(b, v, e));
  }
  for (uint32_t k = 1; k < s.n; k++) wick_for_end(b, 0, NULL);
  c->out[0] = wick_loop_nest_end(b);
}

const wick_op wick_op_grid_sample = {
    .name = "grid_sample",
    .doc = "Samples x [N, C, spatial...] at the coordinates in grid [N, out..., coordinates]. The "
           "coordinate of the last dimension comes first. -1 and 1 are the outer edges of the "
           "first and last elements, or with `align` their centres; with `elements`, coordinates "
           "count elements. Sampling is linear, cubic (with coefficient -0.75), or takes the "
           "nearest element, ties to even. Elements out of bounds are 0 (`zeros`), the nearest "
           "border element (`border`), or x mirrored at its edges (`reflection`)",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"mode", WICK_ATTR_ENUM, 0, false, "linear nearest cubic", 0, 0},
             {"padding", WICK_ATTR_ENUM, 0, false, "zeros border reflection", 0, 0},
             {"align", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"elements", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .unfusable = true,
    .elems = WICK_FLOATS,
    .infer = grid_sample_infer,
    .ref = grid_sample_ref,
    .compute = grid_sample_compute,
    .grad = wick_grad_grid_sample,
    .batch = {wick_batch_merge, .in = {1, 1}, .out = {1}},
};
