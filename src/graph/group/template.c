/* Templates: the first schedule of a group from the shape of its stages and the registers of the
 * target.
 *
 *   dot      a sum of products, one factor shared by the lanes: convolution, matrix product.
 * Register tile of vectors by places inner    a sum of products along whose last axis both factors
 * lie: the lanes are parts of the sum. Register tile as before window   any other fold whose lanes
 * are the output's last axis: pooling, depthwise convolution, sums over places row      folds over
 * the output's last axis, one row at a time: softmax, norms map      element by element The output
 * is a map in all of them (group formation sees to that); folds are computed inside its loops, in
 * registers. */
#include "graph/group/template.h"

#include <string.h>

#include "graph/group/template_winograd.h"
#include "ir/op.h"
#include "loop/schedule.h"

enum { TEMPLATE_AXES = 16 };

/* Bytes of weights: that pass by again and again at no cost; that stay in a cache between runs. */
enum { TEMPLATE_NEAR = 256 << 10, TEMPLATE_CACHED = 1 << 20 };

typedef struct template_state {
  wick_func *g;
  const wick_target *t;
  wick_arena *tmp;
  wick_schedule *s;
  wick_text steps;
  const wick_stage *out;
  uint32_t lanes; /* of the output's element type */
} template_state;

static const wick_node *template_node(const template_state *t, const wick_stage *st)
{
  return &t->g->node[st->node];
}

static wick_elem template_elem(const template_state *t) /* of the output */
{
  return wick_info_of(t->g, template_node(t, t->out)->first)->elem;
}

/* ---- what stages are like ---- */

/* A map is computed where it is read, unless a read of it has a guard or a run-time index: those
 * want it in memory. */
static bool template_can_inline(const wick_func *g, const wick_node *stage)
{
  if (stage->op != WICK_OP_map ||
      wick_info_of(g, stage->first)->rank != stage->attr[1].n) /* it gives several at once */
    return false;
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    bool uses = false;
    for (uint32_t k = 0; k < n->nin; k++)
      uses =
          uses || (n->in[k].id >= stage->first.id && n->in[k].id < stage->first.id + stage->nout);
    if (!uses) continue;
    if (n->op == WICK_OP_return) return false;
    if (n->op == WICK_OP_read && (n->attr[1].i || n->nin > 1)) return false;
  }
  return true;
}

static const char *template_loop(const template_state *t, const wick_stage *st, uint32_t axis)
{
  const wick_term *term = wick_dim_get(t->g->module->dims, st->axis[axis].sym).term;
  return wick_dim_atom(t->g->module->dims, term->atom[0])->name;
}

/* The extent, or 0 where it is not constant. */
static int64_t template_extent(const wick_stage *st, uint32_t axis)
{
  return wick_dim_is_const(st->axis[axis].extent) ? st->axis[axis].extent.v : 0;
}

/* Every read of the fold's results, in stages that are not in line, has the reading stage's axes as
 * its index, one by one. */
static bool template_read_in_place(const template_state *t, const wick_stage *fold)
{
  const wick_node *f = template_node(t, fold);
  for (uint32_t s = 0; s < t->s->nstage; s++) {
    const wick_stage *st = &t->s->stage[s];
    const wick_node *n = template_node(t, st);
    for (uint32_t i = st->node + 1; i < n->end; i++) {
      const wick_node *r = &t->g->node[i];
      if (r->op != WICK_OP_read || r->in[0].id < f->first.id ||
          r->in[0].id >= f->first.id + f->nout)
        continue;
      if (st->fold || r->attr[1].i || r->attr[0].n != st->naxis) return false;
      for (uint32_t k = 0; k < st->naxis; k++)
        if (!wick_dim_eq(r->attr[0].dims[k], st->axis[k].sym) &&
            !(wick_dim_is(r->attr[0].dims[k], 0) && wick_dim_is(st->axis[k].extent, 1)))
          return false;
    }
  }
  return true;
}

static uint32_t template_lanes(const template_state *t, const wick_stage *st)
{
  wick_elem e = wick_info_of(t->g, template_node(t, st)->first)->elem;
  uint32_t bits = wick_elem_storage[wick_elem_storage[e].arith].bits;
  return bits && t->t->vector_bytes ? t->t->vector_bytes * 8 / bits : 1;
}

/* How a stage's reads use an axis along which the vector would run: 0 not at all, 1 next to each
 * other, 2 otherwise. */
static unsigned template_step_of(const template_state *t, const wick_node *read, wick_dim sym)
{
  wick_dims *dims = t->g->module->dims;
  uint32_t rank = read->attr[0].n;
  unsigned how = 0;
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim d = read->attr[0].dims[k], coef, rest;
    if (wick_dim_eq(d, WICK_DIM_ANY)) {
      how = 2;
    } else if (wick_dim_uses(dims, d, sym)) {
      bool unit = k == rank - 1 && how == 0 && wick_dim_linear(dims, d, sym, &coef, &rest) &&
                  wick_dim_is(coef, 1);
      how = unit ? 1 : 2;
    }
  }
  return how;
}

/* The two reads whose product a fold's step adds; false where the step is something else. */
static bool template_product(const template_state *t, const wick_stage *fold, const wick_node **a,
                             const wick_node **b)
{
  const wick_node *n = template_node(t, fold);
  const wick_region *step = &n->region[1];
  uint32_t nread = 0, nmuladd = 0, nother = 0;
  for (uint32_t i = step->begin; i < step->end - 1; i++) {
    const wick_node *x = &t->g->node[i];
    if (x->op == WICK_OP_read) {
      *(nread == 0 ? a : b) = x;
      nread++;
    } else if (x->op == WICK_OP_muladd) {
      nmuladd++;
    } else if (x->op != WICK_OP_const) {
      nother++;
    }
  }
  return nread == 2 && nmuladd == 1 && nother == 0;
}

/* ---- dot ---- */

typedef struct template_tile {
  int64_t ob, vb, th, tw; /* output channels, vectors along the last axis, rows, columns */
} template_tile;

/* Cycles for a tile's step along the sum, on a machine with two multiply-add pipes of latency 4 and
 * two loads a cycle. */
static double template_tile_cycles(int64_t vectors, int64_t places)
{
  double fma = (double)(vectors * places) / 2, load = (double)(vectors + places) / 2,
         cycles = fma > load ? fma : load;
  return (cycles > 4 ? cycles : 4) + 0.3;
}

/* Of all tiles, whole ones and those at the ends, that cover the extents `all`. */
static double template_tile_cost(const template_tile *all, const template_tile *t)
{
  const int64_t extent[4] = {all->ob, all->vb, all->th, all->tw},
                tile[4] = {t->ob, t->vb, t->th, t->tw};
  double cost = 0;
  for (uint32_t rest = 0; rest < 16; rest++) { /* bit k: the last, smaller tile along k */
    int64_t size[4], count = 1;
    for (uint32_t k = 0; k < 4; k++) {
      bool last = rest >> k & 1;
      size[k] = last ? extent[k] % tile[k] : tile[k];
      count *= last ? size[k] != 0 : extent[k] / tile[k];
    }
    if (count) cost += (double)count * template_tile_cycles(size[0] * size[1], size[2] * size[3]);
  }
  return cost;
}

/* The cheapest tile that fits the registers: with its vectors, a shared value, and what a product
 * takes where it is an instruction of its own, one is left. Vectors along two axes only where the
 * one behind is covered, and not where each is used once: then they are read in their order. */
static template_tile template_tile_best(const wick_target *t, wick_elem elem,
                                        const template_tile *all)
{
  template_tile best = {1, 1, 1, 1}, x;
  double least = 1e300;
  int64_t registers = t->nvector ? t->nvector : 8;
  bool fused = t->fma & WICK_BIT(elem), both = all->th * all->tw > 1;
  for (x.ob = 1; x.ob <= all->ob && x.ob <= 8; x.ob++)
    for (x.vb = 1; x.vb <= all->vb && x.vb <= 14; x.vb++)
      for (x.th = 1; x.th <= all->th && x.th <= 4; x.th++)
        for (x.tw = 1; x.tw <= all->tw && x.tw <= 28; x.tw++) {
          if (x.ob * x.vb * (x.th * x.tw + 1) + (fused ? 2 : 3) > registers) break;
          if (x.th > 1 && x.tw != all->tw) continue; /* several rows: where a row is one tile */
          if (x.ob > 1 && (x.vb != all->vb || (all->vb > 1 && !both))) continue;
          double cost = template_tile_cost(all, &x);
          if (cost < least * 0.999) best = x, least = cost;
        }
  return best;
}

wick_tile wick_template_tile(const wick_target *t, wick_elem elem, int64_t vectors, int64_t places)
{
  template_tile all = {vectors, 1, 1, places}, best = template_tile_best(t, elem, &all);
  return (wick_tile){best.ob, best.tw};
}

/* The roles of the output's axes: the vector (of `inner` none), output channels (blocks), the last
 * two places. UINT32_MAX: none. */
typedef struct template_roles {
  uint32_t v, o, y, x;
} template_roles;

static bool template_roles_of(const template_state *t, const wick_stage *fold, const wick_node *a,
                              const wick_node *b, template_roles *out)
{
  uint32_t n = t->out->naxis;
  *out = (template_roles){n - 1, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  wick_dim v = fold->axis[n - 1].sym;
  if (template_step_of(t, a, v) != 0) {
    const wick_node *swap = a;
    a = b, b = swap;
  }
  if (template_step_of(t, a, v) != 0 || template_step_of(t, b, v) != 1) return false;
  for (uint32_t k = 0; k + 1 < n; k++) {
    unsigned in_a = template_step_of(t, a, fold->axis[k].sym),
             in_b = template_step_of(t, b, fold->axis[k].sym);
    int64_t extent = template_extent(t->out, k);
    if (extent <= 1) continue;
    if (in_b && (out->o == UINT32_MAX || extent > template_extent(t->out, out->o)) && !in_a)
      out->o = k;
    if (in_a && !in_b) out->y = out->x, out->x = k;
  }
  return true;
}

static void template_order_begin(template_state *t, const wick_stage *st)
{
  wick_text_printf(&t->steps, "order %s:", st->name);
}

/* Bytes of the parameter that a read takes. */
static uint64_t template_bytes(const template_state *t, const wick_node *read)
{
  uint64_t nbytes = UINT64_MAX;
  wick_type_nbytes(t->g->module, wick_type_of(t->g, read->in[0]), &nbytes);
  return nbytes;
}

static bool template_splits_lanes(const wick_stage *st, uint32_t vaxis, int64_t lanes)
{
  return lanes > 1 && template_extent(st, vaxis) != lanes;
}

/* The loops of a fold in registers: the sum outside, in the text's order, its last axis unrolled by
 * some; the tile inside, with the output channels innermost: a value that all lanes share is
 * loaded, used by each of their vectors at once, and dead. */
static void template_fold_loops(template_state *t, const wick_stage *fold, uint32_t oaxis,
                                uint32_t vaxis, int64_t lanes, int64_t unroll)
{
  uint32_t last = UINT32_MAX;
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (fold->axis[k].reduce) last = k;
  int64_t extent = last == UINT32_MAX ? 1 : template_extent(fold, last);
  bool split = last != UINT32_MAX && extent > unroll && unroll > 1;
  if (split)
    wick_text_printf(&t->steps, "split %s.%s u:%lld; ", fold->name, template_loop(t, fold, last),
                     (long long)unroll);
  bool split_v = vaxis != UINT32_MAX && template_splits_lanes(fold, vaxis, lanes);
  if (split_v)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", fold->name,
                     template_loop(t, fold, vaxis), (long long)lanes);
  template_order_begin(t, fold);
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (fold->axis[k].reduce) wick_text_printf(&t->steps, " %s", template_loop(t, fold, k));
  if (split) wick_text_add(&t->steps, " u");
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (!fold->axis[k].reduce && k != vaxis && k != oaxis)
      wick_text_printf(&t->steps, " %s", template_loop(t, fold, k));
  if (oaxis != UINT32_MAX) wick_text_printf(&t->steps, " %s", template_loop(t, fold, oaxis));
  if (split_v) wick_text_printf(&t->steps, " %s", template_loop(t, fold, vaxis));
  if (vaxis != UINT32_MAX)
    wick_text_printf(&t->steps, " %s", split_v ? "lane" : template_loop(t, fold, vaxis));
  wick_text_add(&t->steps, "; ");
  if (vaxis != UINT32_MAX && lanes > 1)
    wick_text_printf(&t->steps, "vector %s.%s; ", fold->name,
                     split_v ? "lane" : template_loop(t, fold, vaxis));
  wick_text_add(&t->steps, "unroll");
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (!fold->axis[k].reduce && (k != vaxis || split_v || lanes <= 1))
      wick_text_printf(&t->steps, " %s.%s", fold->name, template_loop(t, fold, k));
  if (split) wick_text_printf(&t->steps, " %s.u", fold->name);
  if (last != UINT32_MAX && !split && extent <= unroll && extent > 0)
    wick_text_printf(&t->steps, " %s.%s", fold->name, template_loop(t, fold, last));
  wick_text_add(&t->steps, "; ");
}

/* Splits the tile off the output's axes; the names of its loops, outermost first. */
static wick_text template_out_split(template_state *t, const template_roles *r,
                                    const template_tile *tile, int64_t lanes)
{
  const wick_stage *out = t->out;
  bool split_v = template_splits_lanes(out, r->v, lanes);
  const struct {
    uint32_t axis;
    int64_t size;
    const char *name;
  } part[] = {{r->o, tile->ob, "ob"},
              {split_v ? r->v : UINT32_MAX, tile->vb, "vb"},
              {r->y, tile->th, "yi"},
              {r->x, tile->tw, "xi"}};
  wick_text names = wick_text_begin(t->tmp);
  if (split_v)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", out->name, template_loop(t, out, r->v),
                     (long long)lanes);
  for (uint32_t i = 0; i < WICK_COUNT(part); i++) {
    if (part[i].axis == UINT32_MAX || part[i].size < 2) continue;
    wick_text_printf(&t->steps, "split %s.%s %s:%lld; ", out->name,
                     template_loop(t, out, part[i].axis), part[i].name, (long long)part[i].size);
    wick_text_printf(&names, " %s", part[i].name);
  }
  return names;
}

/* The loops of the output around a tile. */
static const char *template_out_loops(template_state *t, const template_roles *r,
                                      const template_tile *tile, bool channels_outside,
                                      int64_t lanes)
{
  const wick_stage *out = t->out;
  const char *o = out->name, *at = NULL, *name = NULL;
  bool split_v = template_splits_lanes(out, r->v, lanes);
  wick_text tiles = template_out_split(t, r, tile, lanes), parallel = wick_text_begin(t->tmp);
  template_order_begin(t, out);
  for (uint32_t pass = 0; pass < 3; pass++) /* channels first or last; the text's order between */
    for (uint32_t k = 0; k < out->naxis; k++) {
      uint32_t when = k != (split_v ? r->v : r->o) ? 1 : channels_outside ? 0 : 2;
      if (when != pass || (k == r->v && !split_v)) continue;
      at = template_loop(t, out, k);
      wick_text_printf(&t->steps, " %s", at);
      wick_text_printf(&parallel, " %s.%s", o, at);
    }
  const char *last = r->v == UINT32_MAX ? "" : split_v ? "lane" : template_loop(t, out, r->v);
  wick_text_printf(&t->steps, "%s %s; ", tiles.n ? tiles.at : "", last);
  if (parallel.n) wick_text_printf(&t->steps, "parallel%s; ", parallel.at);
  if (lanes > 1) wick_text_printf(&t->steps, "vector %s.%s; ", o, last);
  if (tiles.n) wick_text_add(&t->steps, "unroll");
  for (const char *p = tiles.n ? tiles.at : ""; *p; p += strcspn(p, " ")) {
    name = p += strspn(p, " ");
    wick_text_printf(&t->steps, " %s.%.*s", o, (int)strcspn(name, " "), name);
  }
  if (tiles.n) wick_text_add(&t->steps, "; ");
  /* without a vector the last axis is a loop around the fold */
  return lanes > 1 || r->v == UINT32_MAX ? at : last;
}

/* Lanes of a vector along an axis of that extent: all; of a shorter one, masked where that costs
 * nothing, else a power of two within. */
static int64_t template_dot_lanes(const template_state *t, int64_t extent)
{
  int64_t lanes = t->lanes;
  bool mask = t->t->mask & WICK_BIT(template_elem(t));
  while (lanes > extent && (!mask || lanes / 2 >= extent)) lanes /= 2;
  return lanes;
}

static bool template_dot(template_state *t, const wick_stage *fold)
{
  const wick_node *a, *b;
  template_roles r;
  uint32_t n = t->out->naxis;
  if (n < 1 || n > TEMPLATE_AXES || fold->naxis > TEMPLATE_AXES || t->lanes < 2) return false;
  if (!template_product(t, fold, &a, &b) || !template_roles_of(t, fold, a, b, &r)) return false;
  int64_t v = template_extent(t->out, n - 1);
  if (v < 2) return false;
  int64_t lanes = template_dot_lanes(t, v);
  template_tile all = {r.o != UINT32_MAX ? template_extent(t->out, r.o) : 1,
                       wick_ceildiv_i64(v, lanes),
                       r.y != UINT32_MAX ? template_extent(t->out, r.y) : 1,
                       r.x != UINT32_MAX ? template_extent(t->out, r.x) : 1};
  template_tile tile = template_tile_best(t->t, template_elem(t), &all);
  uint64_t weights = template_bytes(t, template_step_of(t, a, fold->axis[n - 1].sym) ? a : b);
  const char *at = template_out_loops(t, &r, &tile, weights > TEMPLATE_NEAR, lanes);
  if (!at) return false;
  bool again = all.th * all.tw > 4 * tile.th * tile.tw; /* time to fetch while these are used */
  if (weights > TEMPLATE_CACHED && r.o != UINT32_MAX && again)
    wick_text_printf(&t->steps, "prefetch %s.%s; ", t->out->name, template_loop(t, t->out, r.o));
  wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  template_fold_loops(t, fold, r.o, n - 1, lanes, 4);
  return true;
}

/* ---- inner ---- */

/* The sum outside, then the tile, the lanes along the sum's last axis. */
static void template_inner_loops(template_state *t, const wick_stage *fold, uint32_t k,
                                 const template_roles *r)
{
  const char *name = template_loop(t, fold, k), *lane = name;
  if (template_splits_lanes(fold, k, t->lanes)) {
    lane = "lane";
    wick_text_printf(&t->steps, "split %s.%s lane:%u; ", fold->name, name, t->lanes);
  }
  template_order_begin(t, fold);
  for (int tile = 0; tile < 2; tile++)
    for (uint32_t a = 0; a < fold->naxis; a++)
      if (fold->axis[a].reduce != (bool)tile && a != r->o && (a != k || lane != name))
        wick_text_printf(&t->steps, " %s", template_loop(t, fold, a));
  if (r->o != UINT32_MAX) wick_text_printf(&t->steps, " %s", template_loop(t, fold, r->o));
  wick_text_printf(&t->steps, " %s; vector %s.%s; unroll", lane, fold->name, lane);
  for (uint32_t a = 0; a < fold->naxis; a++)
    if (!fold->axis[a].reduce)
      wick_text_printf(&t->steps, " %s.%s", fold->name, template_loop(t, fold, a));
  wick_text_add(&t->steps, "; ");
}

static bool template_inner(template_state *t, const wick_stage *fold)
{
  const wick_node *a, *b;
  uint32_t n = t->out->naxis, k = fold->naxis - 1;
  template_roles r = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  if (n < 1 || n > TEMPLATE_AXES || fold->naxis > TEMPLATE_AXES || t->lanes < 2) return false;
  if (!fold->axis[k].reduce || !template_product(t, fold, &a, &b)) return false;
  if (template_step_of(t, a, fold->axis[k].sym) != 1 ||
      template_step_of(t, b, fold->axis[k].sym) != 1 || template_extent(fold, k) < t->lanes)
    return false;
  for (uint32_t i = 0; i < n; i++) {
    bool in_a = template_step_of(t, a, fold->axis[i].sym),
         in_b = template_step_of(t, b, fold->axis[i].sym);
    if (template_extent(t->out, i) > 1 && in_a != in_b) *(in_a ? &r.x : &r.o) = i;
  }
  template_tile all = {r.o != UINT32_MAX ? template_extent(t->out, r.o) : 1, 1, 1,
                       r.x != UINT32_MAX ? template_extent(t->out, r.x) : 1};
  template_tile tile = template_tile_best(t->t, template_elem(t), &all);
  const char *at = template_out_loops(t, &r, &tile, false, 1);
  if (!at) return false;
  wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  template_inner_loops(t, fold, k, &r);
  return true;
}

/* ---- window, row, map ---- */

/* Loops of the output when only its last axis matters: a vector, and `places` of the axis before it
 * in registers. */
static const char *template_simple_out(template_state *t, int64_t places, int64_t lanes)
{
  template_roles r = {t->out->naxis - 1, UINT32_MAX, UINT32_MAX,
                      t->out->naxis > 1 && places > 1 ? t->out->naxis - 2 : UINT32_MAX};
  template_tile tile = {1, 1, 1, places};
  return template_out_loops(t, &r, &tile, true, lanes);
}

static int64_t template_vector_lanes(const template_state *t)
{
  int64_t v = template_extent(t->out, t->out->naxis - 1);
  return v >= t->lanes ? t->lanes : 1;
}

static bool template_window(template_state *t, const wick_stage *fold)
{
  uint32_t n = t->out->naxis;
  const wick_node *f = template_node(t, fold);
  if (n < 1 || n > TEMPLATE_AXES || fold->naxis > TEMPLATE_AXES) return false;
  int64_t lanes = template_vector_lanes(t);
  for (uint32_t i = f->region[1].begin; i < f->region[1].end && lanes > 1; i++)
    if (t->g->node[i].op == WICK_OP_read &&
        template_step_of(t, &t->g->node[i], fold->axis[n - 1].sym) == 2)
      lanes = 1;
  int64_t places = 1, width = n > 1 ? template_extent(t->out, n - 2) : 1,
          most = t->t->nvector / 4; /* a state; elements for it, and for its neighbours */
  for (int64_t p = 2; p <= most && lanes > 1; p++)
    if (width % p == 0) places = p;
  if (places == 1 && lanes > 1 && width > 8) places = 4;
  const char *at = template_simple_out(t, places, lanes);
  if (!at) return false;
  wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  template_fold_loops(t, fold, UINT32_MAX, lanes > 1 ? n - 1 : UINT32_MAX, lanes, 8);
  return true;
}

/* Vectors along the last axis where it is long enough; tasks over all other axes. */
static bool template_map(template_state *t, const wick_stage *none)
{
  (void)none;
  uint32_t n = t->out->naxis;
  if (n < 1 || n > TEMPLATE_AXES) return false;
  int64_t lanes = template_vector_lanes(t);
  if (n == 1) { /* chunks, so that there are tasks */
    const char *name = template_loop(t, t->out, 0);
    int64_t extent = template_extent(t->out, 0);
    if (extent < 1) return false;
    wick_text_printf(&t->steps, "split %s.%s chunk:%d; ", t->out->name, name, 4096);
    if (lanes > 1)
      wick_text_printf(&t->steps, "split %s.chunk lane:%lld; vector %s.lane; ", t->out->name,
                       (long long)lanes, t->out->name);
    wick_text_printf(&t->steps, "parallel %s.%s; ", t->out->name, name);
    return true;
  }
  /* The last axis' loop stays inside the task: a task of one vector is too small. */
  const char *last = template_loop(t, t->out, n - 1);
  if (lanes > 1 && template_extent(t->out, n - 1) != lanes)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", t->out->name, last,
                     (long long)lanes, t->out->name);
  else if (lanes > 1)
    wick_text_printf(&t->steps, "vector %s.%s; ", t->out->name, last);
  uint32_t nparallel = n - 1;
  if (lanes > 1 && template_extent(t->out, n - 1) == lanes && n > 2)
    nparallel = n - 2; /* whole rows of vectors */
  for (uint32_t k = 0; k < nparallel; k++)
    wick_text_printf(&t->steps, "parallel %s.%s; ", t->out->name, template_loop(t, t->out, k));
  return true;
}

/* Index k of every read of the fold is the reading stage's k-th axis that is not reduced. */
static bool template_read_in_order(const template_state *t, const wick_stage *fold)
{
  const wick_node *f = template_node(t, fold);
  for (uint32_t s = 0; s < t->s->nstage; s++) {
    const wick_stage *st = &t->s->stage[s];
    for (uint32_t i = st->node + 1; i < template_node(t, st)->end; i++) {
      const wick_node *r = &t->g->node[i];
      if (r->op != WICK_OP_read || r->in[0].id < f->first.id ||
          r->in[0].id >= f->first.id + f->nout)
        continue;
      uint32_t a = 0;
      for (uint32_t k = 0; k < r->attr[0].n; k++, a++) {
        while (a < st->naxis && st->axis[a].reduce) a++;
        wick_dim d = r->attr[0].dims[k];
        if (a >= st->naxis) return false;
        if (!wick_dim_eq(d, st->axis[a].sym) &&
            !(wick_dim_is(d, 0) && wick_dim_is(st->axis[a].extent, 1)))
          return false;
      }
    }
  }
  return true;
}

/* A fold over rows: one reduced axis, and the output's axes but the last. */
static bool template_is_row(const template_state *t, const wick_stage *fold)
{
  uint32_t reduced = 0, k = 0;
  for (uint32_t a = 0; a < fold->naxis; a++) {
    if (fold->axis[a].reduce)
      reduced++;
    else if (k + 1 >= t->out->naxis || !wick_dim_eq(fold->axis[a].extent, t->out->axis[k++].extent))
      return false;
  }
  return reduced == 1 && k + 1 == t->out->naxis && template_read_in_order(t, fold);
}

/* Folds over the output's last axis, which it reads again: all of them inside the loops over rows,
 * the lanes as partial states. */
static bool template_row(template_state *t, const wick_stage *none)
{
  (void)none;
  uint32_t n = t->out->naxis;
  if (n < 2 || n > TEMPLATE_AXES) return false;
  int64_t lanes = t->lanes > 1 && template_extent(t->out, n - 1) >= 2 * t->lanes ? t->lanes : 1;
  for (uint32_t i = 0; i < t->s->output; i++)
    if (t->s->stage[i].fold && !template_is_row(t, &t->s->stage[i])) return false;
  const char *row = template_loop(t, t->out, n - 2), *last = template_loop(t, t->out, n - 1),
             *o = t->out->name;
  for (uint32_t k = 0; k + 1 < n; k++)
    wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
  if (lanes > 1)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", o, last,
                     (long long)lanes, o);
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *fold = &t->s->stage[i];
    if (!fold->fold) continue;
    uint32_t c = 0;
    while (!fold->axis[c].reduce) c++;
    wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, o, row);
    if (lanes > 1)
      wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", fold->name,
                       template_loop(t, fold, c), (long long)lanes, fold->name);
    for (uint32_t k = 0; k < fold->naxis; k++)
      if (!fold->axis[k].reduce)
        wick_text_printf(&t->steps, "unroll %s.%s; ", fold->name, template_loop(t, fold, k));
  }
  return true;
}

/* Keeps the steps of a template that fits; takes back those of one that does not. */
static bool template_try(template_state *t, bool (*template)(template_state *, const wick_stage *),
                         const wick_stage *fold)
{
  size_t mark = t->steps.n;
  if (template(t, fold)) return true;
  t->steps.n = mark, t->steps.at[mark] = 0;
  return false;
}

static void template_choose(template_state *t)
{
  uint32_t nfold = 0;
  const wick_stage *fold = NULL;
  bool in_place = true, in_line = true;
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (st->fold) {
      fold = st;
      nfold++;
      in_place = in_place && template_read_in_place(t, st);
    } else if (template_can_inline(t->g, template_node(t, st))) {
      wick_text_printf(&t->steps, "inline %s; ", st->name);
    } else {
      in_line = false; /* it lies in memory, before the loops of the output: one task */
    }
  }
  if (t->out->fold || !t->out->naxis || !in_line) return;
  for (uint32_t k = 0; k < t->out->naxis; k++)
    if (!template_extent(t->out, k)) return; /* symbolic, or empty: unscheduled */
  if (nfold == 0)
    template_try(t, template_map, NULL);
  else if (!(nfold == 1 && in_place &&
             (template_try(t, template_dot, fold) || template_try(t, template_inner, fold) ||
              template_try(t, template_window, fold))))
    template_try(t, template_row, NULL);
}

wick_status wick_template_schedule(wick_func *g, const wick_target *target, wick_arena *tmp)
{
  template_state t = {.g = g,
                      .t = target,
                      .tmp = tmp,
                      .s = wick_schedule_begin(g, tmp),
                      .steps = wick_text_begin(tmp)};
  if (!t.s->nstage) return wick_fail(tmp, WICK_EINTERNAL, g->name, "a group without stages");
  t.out = &t.s->stage[t.s->output];
  t.lanes = template_lanes(&t, t.out);
  if (!wick_template_winograd(t.s, target, &t.steps)) template_choose(&t);
  g->schedule = wick_intern(g->module, t.steps.at);
  return wick_schedule_apply(wick_schedule_begin(g, tmp), g->schedule);
}
