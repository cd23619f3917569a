/* Convolutions on packed images: the choice of the algorithm, its weights, and the order of
 * channels. */
#include <string.h>

#include "ops/layout/layout_conv.h"
#include "ops/nn/conv_cost.h"
#include "ops/nn/window.h"

enum { CONV_FEW_CHANNELS = 8, CONV_LANES_SUM = 8 };

/* ---- weights; those of places without a channel are 0 ---- */

/* Copies w[o][c], which has `area` elements, to out[row[o] + column[k].to], with a distance of
 * `step` elements, where c is column[k].channel among the columns of o's group. A part has some of
 * the output channels. */
typedef struct layout_conv_column {
  int64_t channel, to; /* channel -1: none */
} layout_conv_column;

typedef struct layout_conv_deferred {
  wick_deferred_constant r;
  int64_t no, nc, area, step, ncolumn;
  int64_t per_group; /* output channels with the same columns */
  int64_t *row;
  layout_conv_column *column;
  wick_elem elem; /* of the result */
} layout_conv_deferred;

enum { CONV_PART = 16 };

static void layout_conv_make(const wick_deferred_constant *r, const void *from, uint32_t part,
                             void *to)
{
  const layout_conv_deferred *x = (const layout_conv_deferred *)(const void *)r;
  int64_t first = (int64_t)part * CONV_PART, end = wick_min_i64(x->no, first + CONV_PART);
  for (int64_t o = first; o < end; o++)
    for (int64_t k = 0; k < x->ncolumn; k++) {
      const layout_conv_column *c = &x->column[o / x->per_group * x->ncolumn + k];
      if (c->channel < 0) continue;
      const char *in = (const char *)from + 4 * ((o * x->nc + c->channel) * x->area);
      int64_t at = x->row[o] + c->to;
      float *out = (float *)to + at;
      uint16_t *half = (uint16_t *)to + at;
      for (int64_t i = 0; i < x->area && x->elem == WICK_F32; i++)
        memcpy(&out[i * x->step], in + 4 * i, 4);
      for (int64_t i = 0; i < x->area && x->elem != WICK_F32; i++)
        half[i * x->step] = wick_layout_half(x->elem, in + 4 * i);
    }
}

static layout_conv_deferred *layout_conv_deferred_of(wick_layouts *s, const layout_conv *v,
                                                     int64_t groups, int64_t ncolumn, int64_t step)
{
  wick_arena *mem = &s->c.f->module->mem;
  layout_conv_deferred *x = wick_new(mem, layout_conv_deferred, 1);
  *x = (layout_conv_deferred){.no = v->wd[0],
                              .nc = v->wd[1],
                              .area = v->area,
                              .step = step,
                              .per_group = v->wd[0] / groups,
                              .elem = v->elem,
                              .row = wick_new(mem, int64_t, (size_t)v->wd[0])};
  x->r = (wick_deferred_constant){v->w, (uint32_t)wick_ceildiv_i64(v->wd[0], CONV_PART), x,
                                  layout_conv_make};
  x->column = wick_new(mem, layout_conv_column, (size_t)(groups * ncolumn));
  x->ncolumn = ncolumn;
  return x;
}

/* Copies the window's sizes to dim[at] and after. Returns the index after them. */
static uint32_t layout_conv_window(const layout_conv *v, int64_t *dim, uint32_t at)
{
  memcpy(dim + at, v->wd + 2, v->nsp * sizeof *dim);
  return at + v->nsp;
}

/* Packs depthwise weights as [blocks, R, S, c], or weights for a plain input as [OB, R, S, C, co].
 */
static wick_value layout_conv_by_channel(wick_layouts *s, const layout_conv *v)
{
  int64_t b = s->block, c = v->wd[1], area = v->area, dim[WICK_MAX_RANK];
  uint32_t rank = layout_conv_window(v, dim, 1);
  dim[0] = wick_order_places(&v->out) / b;
  if (!v->depthwise) dim[rank++] = c;
  dim[rank++] = b;
  layout_conv_deferred *x = layout_conv_deferred_of(s, v, 1, c, c * b);
  for (int64_t o = 0; o < v->wd[0]; o++) {
    int64_t place = wick_order_place(&v->out, o);
    x->row[o] = place / b * area * c * b + place % b;
  }
  for (int64_t i = 0; i < c; i++) x->column[i] = (layout_conv_column){i, i * b};
  return wick_layout_new_weights(s, v->elem, rank, dim, &x->r);
}

/* Packs weights for a plain input, with k neighbours in a row together: [OB, R, S / k, C, co, k].
 */
static wick_value layout_conv_by_taps(wick_layouts *s, const layout_conv *v)
{
  int64_t b = s->block, c = v->wd[1], row = v->wd[1 + v->nsp], area = v->area,
          dim[WICK_MAX_RANK] = {wick_order_places(&v->out) / b};
  uint32_t rank = layout_conv_window(v, dim, 1);
  dim[rank - 1] = row / v->k;
  dim[rank++] = c, dim[rank++] = b, dim[rank++] = v->k;
  const wick_constant *w = wick_layout_constant(s, v->n->in[1]);
  const uint16_t *half = wick_layout_halves(s, w, v->elem);
  uint64_t n = (uint64_t)(dim[0] * area * c * b);
  uint16_t *out = wick_arena_alloc(&s->c.f->module->mem, n * sizeof *out, 64);
  memset(out, 0, n * sizeof *out);
  for (int64_t o = 0; o < v->wd[0]; o++)
    for (int64_t i = 0; i < c; i++)
      for (int64_t t = 0; t < area; t++) {
        int64_t place = wick_order_place(&v->out, o), unit = (place / b * area + t) / v->k;
        out[((unit * c + i) * b + place % b) * v->k + t % v->k] = half[(o * c + i) * area + t];
      }
  return wick_layout_new_constant(s, w->name, v->elem, out, rank, dim);
}

/* Packs weights along runs: [OB, runs, R, S, length, co], or [.., length / k, co, k]. */
static wick_value layout_conv_by_runs(wick_layouts *s, const layout_conv *v)
{
  wick_dims *t = s->c.f->module->dims;
  int64_t b = s->block, area = v->area, n = v->runs.n, dot = v->k,
          units = wick_ceildiv_i64(v->runs.length, dot), length = units * dot, share = v->wd[1];
  int64_t dim[WICK_MAX_RANK] = {wick_order_places(&v->out) / b, n};
  uint32_t rank = layout_conv_window(v, dim, 2);
  dim[rank++] = units, dim[rank++] = b;
  if (dot > 1) dim[rank++] = dot;
  layout_conv_deferred *x = layout_conv_deferred_of(s, v, v->group, n * length, length * b);
  for (int64_t o = 0; o < v->wd[0]; o++) {
    int64_t place = wick_order_place(&v->out, o);
    x->row[o] = place / b * n * area * length * b + place % b * dot;
  }
  for (int64_t group = 0; group < v->group; group++) {
    for (int64_t q = 0; q < n; q++) { /* finds which channels of the group are in a run */
      int64_t first = wick_runs_first(t, &v->runs, wick_dim_const(group), wick_dim_const(q)).v;
      for (int64_t k = 0; k < length; k++) {
        int64_t c = k < v->runs.length ? wick_order_channel(&v->in, first + k) : -1;
        x->column[(group * n + q) * length + k] =
            (layout_conv_column){c >= 0 && c / share == group ? c % share : -1,
                                 (q * area * units + k / dot) * b * dot + k % dot};
      }
    }
  }
  return wick_layout_new_weights(s, v->elem, rank, dim, &x->r);
}

/* Packs weights for lanes along the input's channels: [O, blocks of the group, R, S, c]. */
static wick_value layout_conv_by_lanes(wick_layouts *s, const layout_conv *v)
{
  int64_t b = s->block, area = v->area, share = v->wd[1], n = v->runs.n,
          dim[WICK_MAX_RANK] = {v->wd[0], n};
  uint32_t rank = layout_conv_window(v, dim, 2);
  dim[rank++] = b;
  layout_conv_deferred *x = layout_conv_deferred_of(s, v, v->group, share, b);
  for (int64_t o = 0; o < v->wd[0]; o++) x->row[o] = o * n * area * b;
  for (int64_t group = 0; group < v->group; group++)
    for (int64_t c = 0; c < share; c++) {
      int64_t place = wick_order_place(&v->in, group * share + c) - group * n * b;
      x->column[group * share + c] = (layout_conv_column){c, place / b * area * b + place % b};
    }
  return wick_layout_new_weights(s, v->elem, rank, dim, &x->r);
}

/* ---- transformed weights ---- */

/* Transformed weights are [n * n, OB, CB of a group, ci, co]. A part is a block of output channels,
 * which belong to one group. */
typedef struct layout_conv_transform {
  wick_deferred_constant r;
  wick_winograd w;
  int64_t b, ob, cb, nc, group;
  wick_order in, out;
} layout_conv_transform;

/* Transforms filters that are stored next to each other: x[tap][filter] to u[point][filter]. */
static void layout_conv_filters(const wick_winograd *w, float x[][CONV_PART], float u[][CONV_PART])
{
  double half[WICK_WINOGRAD_MOST][WICK_WINOGRAD_MOST][CONV_PART] = {{{0}}};
  int64_t n = w->n, r = w->r;
  for (int64_t i = 0; i < n; i++)
    for (int64_t q = 0; q < r; q++)
      for (int64_t p = 0; p < r; p++)
        for (int l = 0; l < CONV_PART; l++) half[i][q][l] += w->g[i][p] * x[p * r + q][l];
  for (int64_t k = 0; k < n * n; k++) {
    double sum[CONV_PART] = {0};
    for (int64_t q = 0; q < r; q++)
      for (int l = 0; l < CONV_PART; l++) sum[l] += w->g[k % n][q] * half[k / n][q][l];
    for (int l = 0; l < CONV_PART; l++) u[k][l] = (float)sum[l];
  }
}

static void layout_conv_transform_make(const wick_deferred_constant *r, const void *from,
                                       uint32_t part, void *to)
{
  enum { MOST = WICK_WINOGRAD_MOST * WICK_WINOGRAD_MOST };
  const layout_conv_transform *t = (const layout_conv_transform *)(const void *)r;
  int64_t b = t->b, points = t->w.n * t->w.n, taps = t->w.r * t->w.r;
  int64_t group = part / (t->ob / t->group);
  /* for each place of the input, there is a 1-D slice for each point */
  for (int64_t at = 0; at < t->cb * b; at++) {
    int64_t c = wick_order_channel(&t->in, group * t->cb * b + at) - group * t->nc;
    for (int64_t first = 0; c >= 0 && first < b; first += CONV_PART) {
      int64_t lanes = wick_min_i64(CONV_PART, b - first);
      float x[MOST][CONV_PART], u[MOST][CONV_PART];
      memset(x, 0, sizeof x);
      for (int64_t l = 0; l < lanes; l++) {
        int64_t o = wick_order_channel(&t->out, part * b + first + l);
        for (int64_t k = 0; o >= 0 && k < taps; k++)
          memcpy(&x[k][l], (const char *)from + 4 * ((o * t->nc + c) * taps + k), 4);
      }
      layout_conv_filters(&t->w, x, u);
      for (int64_t k = 0; k < points; k++)
        memcpy((float *)to + ((k * t->ob + part) * t->cb * b + at) * b + first, u[k],
               (size_t)lanes * 4);
    }
  }
}

static wick_value layout_conv_by_transform(wick_layouts *s, const layout_conv *v, int64_t m)
{
  layout_conv_transform *x = wick_new(&s->c.f->module->mem, layout_conv_transform, 1);
  if (!wick_winograd_of(m, v->wd[2], &x->w)) return (wick_value){0};
  x->b = s->block, x->nc = v->wd[1], x->in = v->in, x->out = v->out;
  x->ob = wick_order_places(&v->out) / x->b, x->cb = wick_order_places(&v->in) / x->b / v->group;
  x->group = v->group;
  x->r = (wick_deferred_constant){v->w, (uint32_t)x->ob, x, layout_conv_transform_make};
  int64_t n = x->w.n, dim[5] = {n * n, x->ob, x->cb, x->b, x->b};
  return wick_layout_new_weights(s, WICK_F32, 5, dim, &x->r);
}

/* ---- choices ---- */

/* Returns true if the channels of each group fill the same number of blocks, and the groups follow
 * each other. */
static bool layout_conv_apart(const wick_layouts *s, const layout_conv *v, const wick_order *o)
{
  int64_t blocks = wick_order_places(o) / s->block, share = o->channels / v->group;
  if (v->group == 1) return true;
  if (blocks % v->group || o->channels % v->group) return false;
  for (int64_t c = 0; c < o->channels; c++)
    if (wick_order_place(o, c) / s->block / (blocks / v->group) != c / share) return false;
  return true;
}

static bool layout_conv_ones(const wick_attr *a)
{
  for (uint32_t k = 0; k < a->n; k++)
    if (a->ints[k] != 1) return false;
  return true;
}

/* A convolution in blocks of channels, for the decision whether Winograd's algorithm is faster. */
typedef struct layout_filter {
  const wick_target *target;
  wick_tuning_records *records; /* NULL: none */
  wick_arena *mem;              /* memory for errors in the records */
  bool strict;
  const wick_attr *attr;
  const int64_t *w, *y; /* dimensions of the weights and of the result */
  int64_t in, out, lanes, dot;
} layout_filter;

/* Finds the dimensions of a convolution's result. Dynamic sizes are replaced by typical ones. */
static bool layout_conv_result(const wick_func *f, const wick_node *n, int64_t *y)
{
  const wick_type_info *t = wick_info_of(f, n->first);
  for (uint32_t k = 0; k < t->rank; k++) y[k] = wick_dim_typical(f->module->dims, t->dim[k]);
  return t->rank == 4;
}

/* Finds the tile with which Winograd's algorithm is the fastest choice, or 0. */
static wick_status layout_conv_filter(const layout_filter *c, int64_t *out)
{
  *out = 0;
  const wick_attr *a = c->attr;
  wick_winograd_layer l = {.images = c->y[0],
                           .in = c->in,
                           .out = c->out,
                           .group = c->attr[WICK_ATTR_conv_group].i,
                           .lanes = c->lanes,
                           .y = c->y[2],
                           .x = c->y[3],
                           .taps = c->w[2],
                           .dot = c->dot};
  if (c->strict || c->w[2] != c->w[3] || !layout_conv_ones(&a[0]) || !layout_conv_ones(&a[2]))
    return NULL;
  for (uint32_t k = 0; k < a[1].n; k++)
    if (a[1].ints[k] < 0) return NULL;
  return wick_winograd_choose(c->target, c->records, &l, c->mem, out);
}

/* Finds the tile with which the convolution v is transformed, or 0. */
static wick_status layout_conv_tile(const wick_layouts *s, const layout_conv *v, int64_t *out)
{
  int64_t y[WICK_MAX_RANK];
  *out = 0;
  if (v->plain || v->across || v->depthwise || v->in.block != s->block ||
      !layout_conv_apart(s, v, &v->in) || !layout_conv_apart(s, v, &v->out) ||
      !layout_conv_result(s->c.f, v->n, y))
    return NULL;
  return layout_conv_filter(&(layout_filter){s->target, s->records, s->mem, s->strict, v->n->attr,
                                             v->wd, y, wick_order_places(&v->in) / s->block,
                                             wick_order_places(&v->out) / s->block, s->block, v->k},
                            out);
}

enum { CONV_PAIR = 2 }; /* 16-bit floats that a dot product multiplies at once */

/* Only dot products multiply weights in their narrow type. Depthwise and transformed weights are
 * not multiplied by dot products. */
wick_factors wick_conv_factors(const wick_narrowing *c)
{
  int64_t w[WICK_MAX_RANK], y[WICK_MAX_RANK], block = c->target->vector_bytes / 4;
  const wick_type_info *info = wick_info_of(c->f, c->n->in[1]);
  wick_factors image = {1, 0, 0}, both = {3, 1, info->rank};
  if (info->rank != 4 || !wick_type_const_dims(info, w) || block < 2) return both;
  int64_t group = c->n->attr[WICK_ATTR_conv_group].i, in = group * wick_ceildiv_i64(w[1], block),
          out = group * wick_ceildiv_i64(w[0] / group, block);
  bool dots = wick_target_dot(c->target, c->elem, c->elem, CONV_PAIR),
       depthwise = w[1] == 1 && group == w[0];
  layout_filter filter = {c->target, NULL, NULL, c->strict, c->n->attr, w,
                          y,         in,   out,  block,     CONV_PAIR};
  bool few = w[1] < CONV_FEW_CHANNELS || (group > 1 && w[1] % block); /* they do not fill blocks */
  int64_t tile = 0; /* by the model: without records, the choice cannot fail */
  if (!few && layout_conv_result(c->f, c->n, y) && layout_conv_filter(&filter, &tile)) tile = 0;
  return !dots || depthwise || tile ? image : both;
}

/* Chooses the order of the result: one part for each group, or the order in which the result is
 * used next. The latter requires that each of its blocks belongs to one group, and that there are
 * not many more blocks. */
static void layout_conv_out(const wick_layouts *s, layout_conv *v)
{
  const wick_order *next = wick_layout_wanted(s, v->n);
  v->out = wick_order_make(v->wd[0], v->group, s->block, false);
  bool whole = v->group == 1 || (next && !next->shuffled && next->parts % v->group == 0);
  if (next && whole && 4 * wick_order_places(next) <= 5 * wick_order_places(&v->out))
    v->out = *next;
}

/* Chooses the order of the input for lanes along the channels of the result. */
static bool layout_conv_along(const wick_layouts *s, layout_conv *v)
{
  const wick_order *own = wick_layout_order(s, v->x);
  if (v->plain) return true;
  /* otherwise the result's order, because the value combined with the result has that order soon */
  if (own) {
    v->in = *own;
  } else if (v->in.block == s->block) {
    v->in = wick_order_make(v->channels, v->group, s->block, false);
    if (2 * wick_order_places(&v->in) > 3 * v->channels)
      v->in = wick_order_make(v->channels, 1, s->block, false);
  }
  if (wick_runs_of(&v->in, v->group, &v->runs)) return true;
  v->in = wick_order_make(v->channels, 1, s->block, false);
  return wick_runs_of(&v->in, v->group, &v->runs);
}

/* Returns true if a packed convolution reads the result, through element-wise operators, pools and
 * whatever else keeps the layout. The result is then packed sooner or later. */
static bool layout_conv_feeds(const wick_layouts *s, const wick_node *n)
{
  enum { FEEDS_MOST = 32 };
  wick_value next[FEEDS_MOST] = {n->first};
  for (uint32_t at = 0, end = 1; at < end; at++)
    for (uint32_t i = s->uses.first[next[at].id]; i < s->uses.first[next[at].id + 1]; i++) {
      const wick_node *user = &s->c.f->node[s->uses.use[i]];
      const wick_type_info *w = user->op == WICK_OP_conv ? wick_layout_info(s, user->in[1]) : NULL;
      if (w && !wick_dim_is(w->dim[1], 1)) return true;
      if ((wick_op_of(user)->scalar || wick_op_of(user)->layout) && user->nout == 1 &&
          wick_layout_is_image(s, user->first) && end < FEEDS_MOST)
        next[end++] = user->first;
    }
  return false;
}

/* The costs of one position of the result, in vectors of products, for each way to convolve.
 * `along` and `across` are packed, with the lanes along the channels of the result or of the input;
 * `plain` has the lanes along a row of the result. */
typedef struct layout_conv_cost {
  double along, across, plain;
} layout_conv_cost;

static layout_conv_cost layout_conv_costs(const wick_layouts *s, const layout_conv *v,
                                          const wick_runs *blocks)
{
  int64_t area = v->area, b = s->block, places = wick_order_places(&v->out) / b,
          all = v->wd[0] * v->wd[1] * area,
          width = wick_dim_typical(s->c.f->module->dims,
                                   wick_layout_info(s, v->n->first)->dim[1 + v->nsp]);
  const wick_attr *stride = &v->n->attr[WICK_ATTR_conv_stride];
  width = wick_max_i64(width, 1);
  int64_t in = v->depthwise ? 1 : v->plain ? v->channels : v->runs.n * v->runs.length, tile = 0;
  static const double wide = 2;                /* narrow floats become words before a product */
  if (layout_conv_tile(s, v, &tile)) tile = 0; /* a wrong record is reported later */
  double plain = wick_conv_plain_cost(s->target, v->wd[0], v->group, v->wd[1] * area,
                                      stride->n ? stride->ints[v->nsp - 1] : 1) *
                 (double)all * (double)wick_ceildiv_i64(width, b) / (double)width;
  return (layout_conv_cost){(double)(places * in * area) / (double)v->k / (tile ? 2 : 1),
                            (double)(v->wd[0] * (blocks->n * area + CONV_LANES_SUM)),
                            v->k > 1 ? wide * plain : plain};
}

/* Returns the time in which a vector is packed or unpacked, in vectors of products: what its bytes
 * take to and from the cache that holds the image, its copy and the result. */
static double layout_conv_move(const wick_layouts *s, const layout_conv *v)
{
  wick_module *m = s->c.f->module;
  return wick_target_move(s->target,
                          2 * wick_type_typical_nbytes(m, wick_type_of(s->c.f, v->x)) +
                              wick_type_typical_nbytes(m, wick_type_of(s->c.f, v->n->first)));
}

/* Returns the same for weights that are packed by every run, for each position of the result. */
static double layout_conv_building(const wick_layouts *s, const layout_conv *v)
{
  enum { MOVES = 3 };
  wick_module *m = s->c.f->module;
  const wick_type_info *y = wick_layout_info(s, v->n->first);
  uint64_t nbytes = wick_type_typical_nbytes(m, wick_type_of(s->c.f, v->n->in[1]));
  double positions = (double)wick_dim_typical(m->dims, y->dim[0]);
  if (v->w) return 0;
  for (uint32_t k = 0; k < v->nsp; k++)
    positions *= (double)wick_dim_typical(m->dims, y->dim[2 + k]);
  return MOVES * wick_target_move(s->target, nbytes) * (double)nbytes / s->target->vector_bytes /
         (positions < 1 ? 1 : positions);
}

/* Returns true if it is faster to convolve plain operands, because packing the image and unpacking
 * the result would take longer than what blocks save. */
static bool layout_conv_stays_plain(const wick_layouts *s, const layout_conv *v, bool own,
                                    double packed, double plain)
{
  const wick_attr *stride = &v->n->attr[WICK_ATTR_conv_stride];
  int64_t b = s->block, out = wick_ceildiv_i64(v->wd[0], b), in = wick_ceildiv_i64(v->channels, b);
  for (uint32_t k = 0; k < stride->n; k++) in *= stride->ints[k];
  bool feeds = layout_conv_feeds(s, v->n);
  double move = layout_conv_move(s, v);
  packed += layout_conv_building(s, v) +
            move * (double)((v->plain || own ? 0 : in) + (v->across == feeds ? out : 0));
  return plain + move * (double)((own ? in : 0) + (feeds ? out : 0)) < packed;
}

/* Chooses the best way. Returns false for plain operands, also if groups would leave more than half
 * of the lanes empty. With few output channels, lanes along the input's channels need fewer
 * products, even with the final sum over lanes. */
static bool layout_conv_way(const wick_layouts *s, layout_conv *v)
{
  const wick_order *own = wick_layout_order(s, v->x);
  wick_order in = own ? *own : wick_order_make(v->channels, v->group, s->block, false);
  wick_runs blocks = {.n = 0};
  bool may = !v->plain && !v->depthwise && wick_runs_of_blocks(&in, v->group, &blocks),
       along = v->depthwise || (layout_conv_along(s, v) &&
                                (v->group == 1 || wick_order_places(&v->out) <= 2 * v->wd[0]));
  layout_conv_cost c = layout_conv_costs(s, v, &blocks);
  v->across = may && (along ? 4 * c.across < 3 * c.along : c.across < c.plain);
  if ((!own || !v->w) &&
      layout_conv_stays_plain(s, v, own != NULL, v->across ? c.across : c.along, c.plain))
    return false;
  if (v->across) v->in = in, v->runs = blocks;
  return v->across || along;
}

/* Finds the target's dot products for x in its type in memory. The weights are then stored in that
 * type, too. */
static bool layout_conv_dots(const wick_layouts *s, layout_conv *v)
{
  wick_elem e = wick_layout_info(s, v->x)->elem;
  const wick_dot *dot = wick_target_dot(s->target, e, e, CONV_PAIR);
  if (!dot || !wick_layout_holds(s, v->w, e)) return false;
  v->elem = e, v->k = CONV_PAIR;
  return true;
}

/* Returns true if dot products run over neighbours in a row. These must fill whole dot products,
 * because 0 times an additional neighbour is not 0 if that neighbour is infinite. */
static bool layout_conv_rows(const layout_conv *v)
{
  const wick_attr *dilation = &v->n->attr[WICK_ATTR_conv_dilation];
  return (!dilation->n || dilation->ints[v->nsp - 1] == 1) && v->wd[1 + v->nsp] % v->k == 0;
}

/* Falls back to sums in words if the channels of a group begin within a dot product. */
static bool layout_conv_words(const wick_layouts *s, layout_conv *v)
{
  bool apart = v->group > 1 && !v->across;
  if (apart && !wick_runs_whole(s->c.f->module->dims, &v->runs, v->k)) v->elem = WICK_F32, v->k = 1;
  return true;
}

static bool layout_conv_fits(const wick_layouts *s, layout_conv *v)
{
  int64_t c = v->channels, o = v->wd[0];
  const wick_order *own = wick_layout_order(s, v->x);
  v->depthwise = v->group > 1 && v->group == c && o == c && v->wd[1] == 1;
  bool few = v->group == 1 && c < CONV_FEW_CHANNELS && s->c.to[v->x.id].id,
       dots = !v->depthwise && layout_conv_dots(s, v);
  v->plain = few && (!dots || layout_conv_rows(v));
  v->in = own ? *own : wick_order_make(c, 1, few && dots ? v->k : s->block, false);
  v->out = v->in;
  if (v->depthwise) return v->in.block == s->block && layout_conv_way(s, v);
  layout_conv_out(s, v);
  return layout_conv_way(s, v) && layout_conv_words(s, v);
}

static bool layout_conv_of(const wick_layouts *s, const wick_node *n, layout_conv *v)
{
  if (wick_layout_info(s, n->in[0])->elem != WICK_F32) return false;
  *v = (layout_conv){.n = n,
                     .x = wick_layout_narrow(s, n->in[0]),
                     .w = wick_layout_weights(s, n->in[1]),
                     .elem = WICK_F32,
                     .k = 1,
                     .group = n->attr[WICK_ATTR_conv_group].i};
  if (!wick_layout_is_image(s, n->in[0]) || !wick_layout_is_image(s, n->in[1])) return false;
  v->biased = n->nin > 2 && n->in[2].id;
  if (v->biased) v->bias = wick_layout_constant(s, n->in[2]);
  v->channels = wick_layout_info(s, n->in[0])->dim[1].v;
  v->nsp = wick_layout_info(s, n->in[0])->rank - 2u;
  if (!wick_type_const_dims(wick_layout_info(s, n->in[1]), v->wd)) return false;
  v->area = 1;
  for (uint32_t k = 0; k < v->nsp; k++) v->area *= v->wd[2 + k];
  return layout_conv_fits(s, v) && (v->w || wick_layout_conv_builds(v));
}

static void layout_conv_set(wick_layouts *s, const layout_conv *v, wick_value y)
{
  int64_t channels[2 + WICK_WINDOW_MAX] = {1, v->wd[0], 1, 1, 1};
  wick_value bias = {0};
  if (v->biased && !v->bias)
    bias = wick_layout_conv_bias(s, v);
  else if (v->biased)
    bias = v->across ? wick_layout_new_constant(s, v->bias->name, WICK_F32, v->bias->data,
                                                v->nsp + 2, channels)
                     : wick_layout_channels(s, v->bias, v->nsp + 2, &v->out);
  if (bias.id) y = wick_build2(&s->c.b, WICK_OP_add, y, bias);
  if (v->across)
    s->c.to[v->n->first.id] = y;
  else
    wick_layout_set(s, v->n, y, &v->out);
}

/* Returns x with its padding as part of the image, so that no pads are left. Images of dynamic size
 * have no halo (graph/group/halo.h), so each read of the window would need a test: three
 * convolutions of 64 channels, 3 x 3, took 2.3 times as long as with known sizes. Depthwise
 * convolutions are excluded, because they do little besides reading the image. */
static wick_value layout_conv_padded(wick_layouts *s, const layout_conv *v, wick_value x,
                                     wick_attr *pads)
{
  static const int64_t none[2 * WICK_WINDOW_MAX] = {0};
  const wick_type_info *t = wick_layout_info(s, v->x);
  int64_t size[WICK_MAX_RANK];
  bool any = false, apart = v->depthwise || wick_type_const_dims(t, size);
  for (uint32_t k = 0; k < pads->n; k++) {
    any = any || pads->ints[k] > 0;
    apart = apart || pads->ints[k] < 0;
  }
  if (!any || apart || s->c.b.status) return x;
  uint32_t rank = wick_built_info(&s->c.b, x)->rank;
  wick_dim around[2 * (3 + WICK_WINDOW_MAX)];
  for (uint32_t k = 0; k < 2 * rank; k++) around[k] = wick_dim_const(0);
  for (uint32_t k = 0; k < pads->n; k++) /* begins, ends */
    around[k < v->nsp ? 2 + k : rank + 2 + k - v->nsp] = wick_dim_const(pads->ints[k]);
  wick_attr a[2] = {{.n = 2 * rank, .dims = around}, {.i = 0}};
  *pads = (wick_attr){.n = pads->n, .ints = none};
  return wick_build(&s->c.b, WICK_OP_pad, 1, &x, a, 0, NULL);
}

bool wick_layout_conv(wick_layouts *s, const wick_node *n)
{
  layout_conv v;
  wick_attr a[WICK_MAX_ATTR] = {{0}};
  if (!layout_conv_of(s, n, &v)) return wick_layout_conv_bytes(s, n);
  int64_t tile;
  wick_status failed = layout_conv_tile(s, &v, &tile);
  if (failed && !s->failed) s->failed = failed;
  if (tile) {
    a[WICK_ATTR_conv_winograd_tile].i = tile;
    a[WICK_ATTR_conv_winograd_taps].i = v.wd[2];
    a[WICK_ATTR_conv_winograd_pad] = n->attr[WICK_ATTR_conv_pad];
    a[WICK_ATTR_conv_winograd_group].i = v.group;
    wick_value in[2] = {wick_layout_pack(s, v.x, &v.in)};
    in[1] = v.w ? layout_conv_by_transform(s, &v, tile) : wick_layout_conv_transformed(s, &v, tile);
    layout_conv_set(s, &v, wick_build(&s->c.b, WICK_OP_conv_winograd, 2, in, a, 0, NULL));
    return true;
  }
  memcpy(a, n->attr, 4 * sizeof *a); /* stride, pad, dilation, group */
  bool places =
      !v.plain && !v.depthwise && (v.group > 1 || wick_order_places(&v.in) != v.in.channels);
  a[4].i = places ? v.in.channels : 0;
  a[5].i = places ? v.in.parts : 1;
  a[6].i = places && v.in.shuffled;
  a[WICK_ATTR_conv_packed_spatial].i = v.nsp;
  wick_value in[2] = {v.plain ? s->c.to[v.x.id] : wick_layout_pack(s, v.x, &v.in)};
  in[1] = !v.w                     ? wick_layout_conv_built(s, &v)
          : v.across               ? layout_conv_by_lanes(s, &v)
          : v.plain && v.k > 1     ? layout_conv_by_taps(s, &v)
          : v.plain || v.depthwise ? layout_conv_by_channel(s, &v)
                                   : layout_conv_by_runs(s, &v);
  in[0] = layout_conv_padded(s, &v, in[0], &a[1]);
  layout_conv_set(s, &v, wick_build(&s->c.b, WICK_OP_conv_packed, 2, in, a, 0, NULL));
  return true;
}
