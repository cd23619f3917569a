/* The matrices of Winograd convolutions, and the convolution that uses them.
 *
 * Interpolation points with small numerators and denominators keep errors small: for six points 0,
 * +-5/8, +-3/2 have less than half the error of 0, +-1, +-2 (measured: largest error over the
 * largest output of layers with random weights). */
#include "ops/nn/winograd.h"
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"

#include <math.h>

#include "ops/nn/blocked.h"
#include "ops/ref.h"
#include "ops/stage.h"

/* ---- matrices ---- */

typedef struct winograd_ratio {
  int64_t num, den; /* den > 0, in lowest terms */
} winograd_ratio;

static winograd_ratio winograd_make(int64_t num, int64_t den)
{
  int64_t a = num < 0 ? -num : num, b = den < 0 ? -den : den;
  while (b) {
    int64_t rest = a % b;
    a = b, b = rest;
  }
  if (den < 0) a = -a;
  return (winograd_ratio){num / a, den / a};
}
static winograd_ratio winograd_mul(winograd_ratio x, winograd_ratio y)
{
  return winograd_make(x.num * y.num, x.den * y.den);
}
static winograd_ratio winograd_sub(winograd_ratio x, winograd_ratio y)
{
  return winograd_make(x.num * y.den - y.num * x.den, x.den * y.den);
}
static double winograd_number(winograd_ratio x) { return (double)x.num / (double)x.den; }

/* The finite points for n products. Infinity is an additional point. */
static const winograd_ratio winograd_points[WICK_WINOGRAD_MOST + 1][WICK_WINOGRAD_MOST - 1] = {
    [4] = {{0, 1}, {1, 1}, {-1, 1}},
    [6] = {{0, 1}, {5, 8}, {-5, 8}, {3, 2}, {-3, 2}},
    [8] = {{0, 1}, {1, 1}, {-1, 1}, {2, 1}, {-2, 1}, {1, 2}, {-1, 2}},
};

/* Computes the coefficients of the product of (x - point) over all finite points except `without`.
 */
static void winograd_polynomial(const winograd_ratio *point, int64_t n, int64_t without,
                                double *out)
{
  winograd_ratio c[WICK_WINOGRAD_MOST] = {{1, 1}};
  int64_t degree = 0;
  for (int64_t k = 0; k < WICK_WINOGRAD_MOST; k++) c[k].den = 1;
  for (int64_t q = 0; q < n; q++) {
    if (q == without) continue;
    degree++;
    for (int64_t k = degree; k >= 0; k--)
      c[k] = winograd_sub(k ? c[k - 1] : (winograd_ratio){0, 1}, winograd_mul(point[q], c[k]));
  }
  for (int64_t k = 0; k <= degree; k++) out[k] = winograd_number(c[k]);
}

bool wick_winograd_of(int64_t m, int64_t r, wick_winograd *out)
{
  *out = (wick_winograd){.m = m, .r = r, .n = m + r - 1};
  int64_t n = out->n, finite = n - 1;
  if (m < 1 || r < 1 || n > WICK_WINOGRAD_MOST || !winograd_points[n][0].den) return false;
  const winograd_ratio *point = winograd_points[n];
  for (int64_t k = 0; k < finite; k++) {
    winograd_ratio scale = {1, 1}, power = {1, 1};
    for (int64_t q = 0; q < finite; q++)
      if (q != k) scale = winograd_mul(scale, winograd_sub(point[k], point[q]));
    scale = winograd_make(scale.den, scale.num);
    for (int64_t i = 0; i < m || i < r; i++, power = winograd_mul(power, point[k])) {
      if (i < m) out->at[i][k] = winograd_number(power);
      if (i < r) out->g[k][i] = winograd_number(winograd_mul(power, scale));
    }
    winograd_polynomial(point, finite, k, out->bt[k]);
  }
  out->at[m - 1][finite] = out->g[finite][r - 1] = 1;
  winograd_polynomial(point, finite, -1, out->bt[finite]);
  return true;
}

double wick_winograd_bound(const wick_winograd *w, int64_t channels, double unit)
{
  double growth = 0, roundings = (double)(4 * (w->n + 2) + 1 + channels) * unit;
  for (int64_t i = 0; i < w->m; i++) {
    double row = 0;
    for (int64_t k = 0; k < w->n; k++) {
      double g = 0, b = 0;
      for (int64_t j = 0; j < w->r; j++) g += fabs(w->g[k][j]);
      for (int64_t j = 0; j < w->n; j++) b += fabs(w->bt[k][j]);
      row += fabs(w->at[i][k]) * g * b;
    }
    growth = fmax(growth, row);
  }
  return roundings < 1 ? roundings / (1 - roundings) * growth * growth : INFINITY;
}

/* ---- the model ---- */

/* Returns the cycles to read weights. Those beyond the second cache come from memory; the
 * arithmetic hides half of that time. */
static double winograd_weights(const wick_target *t, double numbers)
{
  double nbytes = 4 * numbers;
  return nbytes > (double)wick_target_cache(t, 2)
             ? nbytes / WICK_LINE * wick_target_weights(t, (uint64_t)nbytes) / 2
             : 0;
}

/* Returns the cost of the products. Register tiles are full if there are many places; small numbers
 * of tiles leave some of them partly empty. */
static double winograd_products_cost(const wick_target *t, const wick_winograd_layer *l,
                                     double places, double taps)
{
  double least = places < 6 ? 6 : places, in = (double)(l->in / l->group * l->lanes),
         out = (double)l->out;
  return taps * least * in * out / wick_target_products(t) +
         winograd_weights(t, taps * in * out * (double)l->lanes);
}

static const int64_t winograd_tiles_tried[] = {2, 3, 4};

/* Returns true if a transform exists and the image has two tiles along each side. */
static bool winograd_fits(const wick_target *t, const wick_winograd_layer *l, int64_t m,
                          wick_winograd *out)
{
  return t->vector_bytes && l->taps > 1 && 2 * m <= l->y && 2 * m <= l->x &&
         wick_winograd_of(m, l->taps, out);
}

int64_t wick_winograd_tile(const wick_target *t, const wick_winograd_layer *l)
{
  double images = (double)l->images,
         dot = l->dot > 1 ? (double)l->dot : 1, /* and smaller weights */
      places = images * (double)(l->y * l->x),
         least = winograd_products_cost(t, l, places, (double)(l->taps * l->taps)) / dot;
  int64_t best = 0;
  for (size_t i = 0; i < WICK_COUNT(winograd_tiles_tried); i++) {
    wick_winograd w;
    if (!winograd_fits(t, l, winograd_tiles_tried[i], &w)) continue;
    double tiles = images * (double)(wick_ceildiv_i64(l->y, w.m) * wick_ceildiv_i64(l->x, w.m)),
           n2 = (double)(w.n * w.n);
    /* a vector of a transformed tile takes about as long as nine products, one of them eight */
    double cost = 1.1 * winograd_products_cost(t, l, tiles, n2) +
                  tiles * n2 * (9 * (double)l->in + 8 * (double)l->out) / wick_target_products(t);
    if (cost < 0.95 * least) least = cost, best = w.m;
  }
  return best;
}

/* Builds a function on packed operands that has only this layer. Its image is as large as the
 * result. */
static wick_option winograd_option(const wick_winograd_layer *l, int64_t m, wick_arena *mem)
{
  long long lanes = l->lanes, n = l->images, in = l->in, out = l->out, y = l->y, x = l->x,
            taps = l->taps, lo = taps / 2, hi = taps - 1 - lo, n2 = (m + taps - 1) * (m + taps - 1);
  const char *weights = m ? wick_str_printf(mem, "%lld,%lld,%lld", n2, out, in)
                          : wick_str_printf(mem, "%lld,%lld,%lld,%lld", out, in, taps, taps),
             *op = m ? wick_str_printf(mem, "conv_winograd %%0, %%1 {tile=%lld, taps=%lld, ",
                                       (long long)m, taps)
                     : "conv_packed %0, %1 {";
  wick_option o = {.steps = m ? wick_str_printf(mem, "tiles of %lld", (long long)m) : "as it is"};
  o.graph = wick_str_printf(
      mem,
      "graph @tiles%lld(%%0: f32[%lld,%lld,%lld,%lld,%lld], %%1: f32[%s,%lld,%lld]) -> "
      "f32[%lld,%lld,%lld,%lld,%lld] { %%2 = %spad=[%lld,%lld,%lld,%lld]} return %%2 }",
      (long long)m, n, in, y, x, lanes, weights, lanes, lanes, n, out, y, x, lanes, op, lo, lo, hi,
      hi);
  return o;
}

wick_status wick_winograd_choose(const wick_target *t, wick_tuning_records *records,
                                 const wick_winograd_layer *l, wick_arena *mem, int64_t *out_tile)
{
  enum { MOST = 1 + WICK_COUNT(winograd_tiles_tried) };
  wick_winograd w;
  wick_option option[MOST];
  int64_t tile[MOST], best = wick_winograd_tile(t, l);
  wick_choice c = {.option = option};
  *out_tile = best;
  if (!records) return NULL;
  for (size_t i = 0; i < MOST; i++) {
    int64_t m = i ? winograd_tiles_tried[i - 1] : 0;
    if (m && !winograd_fits(t, l, m, &w)) continue;
    if (m == best) c.first = c.noption;
    option[c.noption] = winograd_option(l, m, mem), tile[c.noption++] = m;
  }
  if (c.noption < 2) return NULL;
  wick_text key = wick_text_begin(mem);
  wick_target_name(t, &key);
  wick_text_printf(&key, " (Winograd %lldx%lld: %lldx%lldx%lld, %lld by %lld blocks of %lld)",
                   (long long)l->taps, (long long)l->taps, (long long)l->images, (long long)l->y,
                   (long long)l->x, (long long)l->in, (long long)l->out, (long long)l->lanes);
  uint32_t chosen;
  c.key = key.at;
  WICK_TRY(wick_tuning_records_choose(records, &c, mem, &chosen));
  *out_tile = tile[chosen];
  return NULL;
}

/* ---- a matrix times a vector of values ---- */

/* A read-only matrix. C17 does not accept arrays of arrays as parameters that are arrays of
 * constant arrays. */
typedef double winograd_matrix[WICK_WINOGRAD_MOST][WICK_WINOGRAD_MOST];

typedef struct winograd_sum {
  wick_builder *b;
  wick_value v; /* 0: not yet computed */
} winograd_sum;

static void winograd_add(winograd_sum *s, double factor, wick_value x)
{
  if (factor == 0 || s->b->status) return;
  if (!s->v.id)
    s->v = factor == 1 ? x : wick_build2(s->b, WICK_OP_mul, wick_build_like(s->b, x, factor), x);
  else if (factor == 1 || factor == -1)
    s->v = wick_build2(s->b, factor > 0 ? WICK_OP_add : WICK_OP_sub, s->v, x);
  else
    s->v = wick_build3(s->b, WICK_OP_muladd, wick_build_like(s->b, x, factor), x, s->v);
}

/* Returns true if rows (or columns, `by_column`) p and q are equal except for signs. */
static bool winograd_pair(winograd_matrix t, int64_t n, int64_t p, int64_t q, bool by_column)
{
  bool same = false, other = false;
  for (int64_t k = 0; k < n; k++) {
    double x = by_column ? t[k][p] : t[p][k], y = by_column ? t[k][q] : t[q][k];
    if (x != y && x != -y) return false;
    same = same || (x == y && x != 0);
    other = other || (x == -y && x != 0);
  }
  return same && other;
}

/* Multiplies by rows. Rows that form pairs share the sums of their equal entries and of their
 * opposite entries. */
static void winograd_rows(wick_builder *b, winograd_matrix t, int64_t rows, int64_t cols,
                          const wick_value *in, wick_value *out)
{
  for (int64_t p = 0; p < rows; p++) {
    bool pair = p + 1 < rows && winograd_pair(t, cols, p, p + 1, false);
    winograd_sum even = {b, {0}}, odd = {b, {0}};
    for (int64_t k = 0; k < cols; k++)
      winograd_add(pair && t[p][k] != t[p + 1][k] ? &odd : &even, t[p][k], in[k]);
    out[p] = even.v;
    if (!pair) continue;
    out[p] = wick_build2(b, WICK_OP_add, even.v, odd.v);
    out[++p] = wick_build2(b, WICK_OP_sub, even.v, odd.v);
  }
}

/* Multiplies by columns. Columns that form pairs are replaced by their sum and their difference. */
static void winograd_apply(wick_builder *b, winograd_matrix t, int64_t rows, int64_t cols,
                           const wick_value *in, wick_value *out)
{
  wick_value paired[WICK_WINOGRAD_MOST];
  winograd_matrix folded;
  for (int64_t k = 0; k < cols; k++) {
    bool pair = k + 1 < cols && winograd_pair(t, rows, k, k + 1, true);
    paired[k] = in[k];
    for (int64_t i = 0; i < rows; i++) folded[i][k] = t[i][k];
    if (!pair) continue;
    paired[k] = wick_build2(b, WICK_OP_add, in[k], in[k + 1]);
    paired[k + 1] = wick_build2(b, WICK_OP_sub, in[k], in[k + 1]);
    for (int64_t i = 0; i < rows; i++) {
      bool equal = t[i][k] == t[i][k + 1];
      folded[i][k] = equal ? t[i][k] : 0;
      folded[i][k + 1] = equal ? 0 : t[i][k];
    }
    k++;
  }
  winograd_rows(b, folded, rows, cols, paired, out);
}

/* Computes out = t in t' for a square of values in row-major order. */
static void winograd_square(wick_builder *b, winograd_matrix t, int64_t rows, int64_t cols,
                            const wick_value *in, wick_value *out)
{
  wick_value half[WICK_WINOGRAD_MOST][WICK_WINOGRAD_MOST], column[WICK_WINOGRAD_MOST],
      result[WICK_WINOGRAD_MOST];
  for (int64_t j = 0; j < cols; j++) {
    for (int64_t i = 0; i < cols; i++) column[i] = in[i * cols + j];
    winograd_apply(b, t, rows, cols, column, result);
    for (int64_t i = 0; i < rows; i++) half[i][j] = result[i];
  }
  for (int64_t i = 0; i < rows; i++) winograd_apply(b, t, rows, cols, half[i], &out[i * rows]);
}

/* ---- the operator: x [N, CB, Y, X, c], u [n * n, OB, CB / group, c, v] ---- */

typedef struct winograd_shape {
  wick_winograd w;
  const int64_t *pad;
  wick_dim y, x;   /* of the result */
  wick_dim ty, tx; /* number of tiles */
  /* axes of the tiles' places: one, in row-major order; two if sizes are dynamic */
  uint32_t nplace;
  wick_dim place[2]; /* their extents */
} winograd_shape;

static const int64_t winograd_no_pad[4] = {0};

/* Reads the shape. Returns false if the attributes name no transform, or the pads are not four. */
static bool winograd_of(wick_dims *t, const wick_attr *a, const wick_dim *x, winograd_shape *out)
{
  out->pad = a[2].n ? a[2].ints : winograd_no_pad;
  if (!wick_winograd_of(a[0].i, a[1].i, &out->w) || (a[2].n && a[2].n != 4)) return false;
  wick_dim size[2], m = wick_dim_const(out->w.m);
  for (uint32_t k = 0; k < 2; k++)
    size[k] =
        wick_dim_add(t, x[2 + k], wick_dim_const(out->pad[k] + out->pad[2 + k] + 1 - out->w.r));
  out->y = size[0], out->x = size[1];
  out->ty = wick_dim_ceildiv(t, size[0], m), out->tx = wick_dim_ceildiv(t, size[1], m);
  out->nplace = wick_dim_is_const(out->y) && wick_dim_is_const(out->x) ? 1 : 2;
  out->place[0] = out->nplace == 1 ? wick_dim_mul(t, out->ty, out->tx) : out->ty;
  out->place[1] = out->tx;
  return true;
}

static wick_status conv_winograd_infer(wick_infer *c)
{
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type),
                       *u = wick_type_get(c->module, c->in[1]->type);
  winograd_shape s;
  if (x->rank != 5 || u->rank != 5)
    return wick_infer_fail(c, WICK_ETYPE,
                           "operands of rank %u and %u are not packed for each other", x->rank,
                           u->rank);
  if (!wick_packed_elems(x->elem, u->elem))
    return wick_infer_fail(c, WICK_ETYPE, "operands of different elements");
  if (!winograd_of(c->module->dims, c->attr, x->dim, &s))
    return wick_infer_fail(c, WICK_ETYPE, "no transform gives tiles of %lld with %lld taps",
                           (long long)c->attr[WICK_ATTR_conv_winograd_tile].i,
                           (long long)c->attr[WICK_ATTR_conv_winograd_taps].i);
  wick_dim group = wick_dim_const(c->attr[WICK_ATTR_conv_winograd_group].i);
  if (!wick_dim_is(u->dim[0], s.w.n * s.w.n) ||
      !wick_dim_eq(wick_dim_mul(c->module->dims, u->dim[2], group), x->dim[1]) ||
      !wick_dim_is(wick_dim_mod(c->module->dims, u->dim[1], group), 0) ||
      !wick_dim_eq(u->dim[3], x->dim[4]))
    return wick_infer_fail(c, WICK_ETYPE, "x and u have different channels, or u another size");
  for (uint32_t k = 0; k < 2; k++) {
    int64_t lo, hi;
    wick_dim_range(c->module->dims, k ? s.x : s.y, &lo, &hi);
    if (lo < 0) return wick_infer_fail(c, WICK_ETYPE, "the window is larger than the padded image");
  }
  wick_dim dim[5] = {x->dim[0], u->dim[1], s.y, s.x, u->dim[4]};
  c->out[0].type = wick_type_tensor(c->module, wick_packed_sum(x->elem), 5, dim);
  return NULL;
}

/* Computes the products of one tile for one output channel by their definition. */
static void winograd_tile_ref(const wick_ref *c, const winograd_shape *s, const int64_t *at,
                              int64_t ty, int64_t tx, double *product)
{
  const wick_tensor *x = &c->in[0], *u = &c->in[1];
  const int64_t *xd = x->dim, *ud = u->dim, n = s->w.n,
                first = at[1] / (ud[1] / c->attr[WICK_ATTR_conv_winograd_group].i) * ud[2];
  for (int64_t cb = 0; cb < ud[2]; cb++)
    for (int64_t i = 0; i < xd[4]; i++)
      for (int64_t k = 0; k < n * n; k++) {
        double v = 0;
        for (int64_t p = 0; p < n; p++)
          for (int64_t q = 0; q < n; q++) {
            int64_t y = ty * s->w.m + p - s->pad[0], z = tx * s->w.m + q - s->pad[1];
            if (s->w.bt[k / n][p] == 0 || s->w.bt[k % n][q] == 0) continue; /* not a product */
            if (y < 0 || y >= xd[2] || z < 0 || z >= xd[3]) continue;
            int64_t xi = (((at[0] * xd[1] + first + cb) * xd[2] + y) * xd[3] + z) * xd[4] + i;
            v += s->w.bt[k / n][p] * s->w.bt[k % n][q] *
                 wick_load_elem(x->elem, x->data, (uint64_t)xi).f;
          }
        int64_t ui = (((k * ud[1] + at[1]) * ud[2] + cb) * ud[3] + i) * ud[4] + at[4];
        product[k] += v * wick_load_elem(u->elem, u->data, (uint64_t)ui).f;
      }
}

static wick_status conv_winograd_ref(wick_ref *c)
{
  winograd_shape s;
  wick_dim xd[5];
  for (uint32_t k = 0; k < 5; k++) xd[k] = wick_dim_const(c->in[0].dim[k]);
  winograd_of(c->module->dims, c->attr, xd, &s);
  int64_t at[5] = {0}, n = s.w.n;
  uint64_t k = 0;
  if (wick_ref_numel(&c->out[0]) == 0) return NULL;
  do {
    double product[WICK_WINOGRAD_MOST * WICK_WINOGRAD_MOST] = {0}, sum = 0;
    winograd_tile_ref(c, &s, at, at[2] / s.w.m, at[3] / s.w.m, product);
    for (int64_t i = 0; i < n * n; i++) {
      double by = s.w.at[at[2] % s.w.m][i / n] * s.w.at[at[3] % s.w.m][i % n];
      if (by != 0) sum += by * product[i];
    }
    wick_store_elem(c->out[0].elem, c->out[0].data, k++, (wick_scalar){.f = sum});
  } while (wick_ref_next(5, c->out[0].dim, at));
  return NULL;
}

/* ---- stages ---- */

/* Converts between the axes of a tile's place and the tile's row and column. */
static void winograd_unplace(wick_dims *t, const winograd_shape *s, const wick_axis *axis,
                             wick_dim *y, wick_dim *x)
{
  bool one = s->nplace == 1;
  *y = one ? wick_dim_floordiv(t, axis[0].sym, s->tx) : axis[0].sym;
  *x = one ? wick_dim_mod(t, axis[0].sym, s->tx) : axis[1].sym;
}

static void winograd_place(wick_dims *t, const winograd_shape *s, wick_dim y, wick_dim x,
                           wick_dim *at)
{
  at[0] = s->nplace == 1 ? wick_dim_add(t, wick_dim_mul(t, y, s->tx), x) : y;
  if (s->nplace > 1) at[1] = x;
}

/* Makes axes of those names, with the axes of the places after the first `before`. */
static uint32_t winograd_axes(wick_builder *b, const winograd_shape *s, uint32_t n,
                              const char *const *name, const wick_dim *extent, uint32_t before,
                              uint32_t reduce, wick_axis *axis)
{
  static const char *const one[] = {"t"}, *const two[] = {"ty", "tx"};
  for (uint32_t k = 0; k < n + s->nplace; k++) {
    bool place = k >= before && k < before + s->nplace;
    uint32_t at = k < before ? k : k - s->nplace;
    axis[k] = place ? wick_make_axis(b, (s->nplace == 1 ? one : two)[k - before],
                                     s->place[k - before], false)
                    : wick_make_axis(b, name[at], extent[at], at >= n - reduce);
  }
  return n + s->nplace;
}

/* Returns the type of a tensor with `own` elements for each point of the axes that are not reduced.
 */
static wick_type winograd_type(wick_module *m, wick_elem e, int64_t own, uint32_t naxis,
                               const wick_axis *axis)
{
  wick_dim dim[WICK_MAX_RANK] = {wick_dim_const(own)};
  for (uint32_t k = 0; k < naxis; k++) dim[k + 1] = axis[k].extent;
  return wick_type_tensor(m, e, naxis + 1, dim);
}

/* Builds [n * n, N, CB, places, c]: the transformed tiles of x. */
static wick_value winograd_tiles(const wick_compute *c, winograd_shape *s)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_dim m = wick_dim_const(s->w.m), extent[3] = {x->dim[0], x->dim[1], x->dim[4]}, y, z;
  static const char *const name[3] = {"n", "cb", "c"};
  wick_axis axis[5];
  wick_value in[WICK_WINOGRAD_MOST * WICK_WINOGRAD_MOST],
      out[WICK_WINOGRAD_MOST * WICK_WINOGRAD_MOST];
  uint32_t naxis = winograd_axes(b, s, 3, name, extent, 2, 0, axis);
  wick_elem sum = wick_packed_sum(x->elem);
  wick_type type = winograd_type(b->module, sum, s->w.n * s->w.n, naxis, axis);
  wick_map_begin(b, "tiles", naxis, axis, 1, &type);
  winograd_unplace(t, s, &axis[2], &y, &z);
  y = wick_dim_mul(t, y, m), z = wick_dim_mul(t, z, m);
  for (int64_t i = 0; i < s->w.n * s->w.n; i++) {
    wick_dim at[5] = {
        axis[0].sym, axis[1].sym, wick_dim_add(t, y, wick_dim_const(i / s->w.n - s->pad[0])),
        wick_dim_add(t, z, wick_dim_const(i % s->w.n - s->pad[1])), axis[naxis - 1].sym};
    in[i] = wick_build_cast(b, wick_stage_read0(b, c->in[0], at), sum);
  }
  winograd_square(b, s->w.bt, s->w.n, s->w.n, in, out);
  return wick_map_end(b, (uint32_t)(s->w.n * s->w.n), out);
}

/* Builds [n * n, N, OB, places, v]: the products of the tiles with the weights, summed over the
 * channels of the group. */
static wick_value winograd_products(const wick_compute *c, const winograd_shape *s,
                                    wick_value tiles)
{
  wick_builder *b = c->b;
  if (b->status) return tiles;
  const wick_type_info *v = wick_built_info(b, tiles);
  const wick_dim *u = wick_built_info(b, c->in[1])->dim;
  wick_dim extent[6] = {v->dim[0], v->dim[1], u[1], u[4], u[2], v->dim[v->rank - 1]};
  static const char *const name[6] = {"xi", "n", "ob", "v", "cb", "c"};
  wick_axis a[8];
  uint32_t naxis = winograd_axes(b, s, 6, name, extent, 3, 2, a), kept = naxis - 2;
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < kept; k++) dim[k] = a[k].extent;
  wick_fold_begin(b, "products", naxis, a, wick_type_tensor(b->module, v->elem, kept, dim),
                  WICK_OP_add);
  wick_dims *t = b->module->dims;
  int64_t group = c->attr[WICK_ATTR_conv_winograd_group].i;
  wick_dim of = wick_dim_floordiv(t, a[2].sym, wick_dim_floordiv(t, u[1], wick_dim_const(group))),
           cb = group > 1 ? wick_dim_add(t, wick_dim_mul(t, of, u[2]), a[kept].sym) : a[kept].sym;
  wick_dim vi[6] = {a[0].sym, a[1].sym, cb},
           ui[5] = {a[0].sym, a[2].sym, a[kept].sym, a[kept + 1].sym, a[kept - 1].sym};
  for (uint32_t k = 0; k < s->nplace; k++) vi[3 + k] = a[3 + k].sym;
  vi[3 + s->nplace] = a[kept + 1].sym;
  wick_value x = wick_read(b, tiles, vi, 0, NULL, (wick_value){0}),
             w = wick_read(b, c->in[1], ui, 0, NULL, (wick_value){0});
  return wick_fold_end_muladd(b, x, wick_build_cast(b, w, v->elem));
}

/* Returns the sentence for the contract. */
static const char *winograd_states(const wick_compute *c, const winograd_shape *s, wick_elem e)
{
  const wick_dim *u = wick_built_info(c->b, c->in[1])->dim;
  int64_t lo, channels = INT64_MAX;
  wick_dim_range(c->b->module->dims, wick_dim_mul(c->b->module->dims, u[2], u[3]), &lo, &channels);
  double unit = ldexp(1, -wick_elem_storage[e].mantissa - 1),
         bound = wick_winograd_bound(&s->w, channels, unit);
  return wick_str_printf(c->b->mem, "Winograd %lldx%lld of %lldx%lld by %.1e sum max|x| max|w|",
                         (long long)s->w.m, (long long)s->w.m, (long long)s->w.r, (long long)s->w.r,
                         bound);
}

/* Builds [m * m, N, OB, places, v]: tiles of the result. */
static wick_value winograd_outputs(const wick_compute *c, winograd_shape *s, wick_value products)
{
  wick_builder *b = c->b;
  if (b->status) return products;
  const wick_type_info *p = wick_built_info(b, products);
  static const char *const name[3] = {"n", "ob", "v"};
  wick_dim extent[3] = {p->dim[1], p->dim[2], p->dim[p->rank - 1]}, at[6];
  wick_axis axis[5];
  wick_value in[WICK_WINOGRAD_MOST * WICK_WINOGRAD_MOST],
      out[WICK_WINOGRAD_MOST * WICK_WINOGRAD_MOST];
  uint32_t naxis = winograd_axes(b, s, 3, name, extent, 2, 0, axis);
  wick_type type = winograd_type(b->module, p->elem, s->w.m * s->w.m, naxis, axis);
  wick_map_begin_within(b, winograd_states(c, s, p->elem), "outputs", naxis, axis, 1, &type);
  for (uint32_t k = 0; k < naxis; k++) at[k + 1] = axis[k].sym;
  for (int64_t i = 0; i < s->w.n * s->w.n; i++) {
    at[0] = wick_dim_const(i);
    in[i] = wick_read(b, products, at, 0, NULL, (wick_value){0});
  }
  winograd_square(b, s->w.at, s->w.m, s->w.n, in, out);
  return wick_map_end(b, (uint32_t)(s->w.m * s->w.m), out);
}

static void conv_winograd_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  winograd_shape s;
  if (!winograd_of(t, c->attr, wick_built_info(b, c->in[0])->dim, &s)) return;
  wick_value outputs = winograd_outputs(c, &s, winograd_products(c, &s, winograd_tiles(c, &s)));
  const wick_dim *od = wick_type_get(b->module, c->out_type[0])->dim;
  static const char *const name[5] = {"n", "ob", "y", "x", "v"};
  wick_axis a[5];
  for (uint32_t k = 0; k < 5; k++) a[k] = wick_make_axis(b, name[k], od[k], false);
  wick_dim m = wick_dim_const(s.w.m), y = a[2].sym, x = a[3].sym;
  wick_dim within =
      wick_dim_add(t, wick_dim_mul(t, wick_dim_mod(t, y, m), m), wick_dim_mod(t, x, m));
  wick_dim at[6] = {within, a[0].sym, a[1].sym};
  winograd_place(t, &s, wick_dim_floordiv(t, y, m), wick_dim_floordiv(t, x, m), &at[3]);
  at[3 + s.nplace] = a[4].sym;
  wick_map_begin(b, "conv", 5, a, 1, c->out_type);
  wick_value v = wick_read(b, outputs, at, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_conv_winograd = {
    .name = "conv_winograd",
    .doc = "A 2-D Winograd convolution of packed operands. Tiles have `tile` x `tile` outputs, "
           "the kernel `taps` x `taps` elements. u [(tile + taps - 1)^2, blocks, input blocks of "
           "a group, lane, lane] holds the transformed weights. Each block belongs to one of "
           "`group` groups. Sums run over the input blocks, then over the lanes of a block; those "
           "of narrow floats are f32. The result is approximate: an infinity or NaN spreads to "
           "its whole tile",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"tile", WICK_ATTR_INT, 0, true, NULL, 1, WICK_WINOGRAD_MOST},
             {"taps", WICK_ATTR_INT, 0, true, NULL, 1, WICK_WINOGRAD_MOST},
             {"pad", WICK_ATTR_INTS, 0, false, NULL, 0, 1 << 20},
             {"group", WICK_ATTR_INT, 1, false, NULL, 1, 1 << 20}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = conv_winograd_infer,
    .ref = conv_winograd_ref,
    .compute = conv_winograd_compute,
    .grad = wick_grad_none,
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};
