/* The template for Winograd's algorithm, which runs by blocks of rows of tiles. The transformed
 * tiles and the products are in scratch memory, sized for the cache. A tile of outputs is computed
 * in registers, inside the loops of the output. */
#include "graph/group/cost.h"
#include "graph/group/template_state.h"

/* Weights of this part of the second cache can be fetched for the next product. */
enum { WINOGRAD_NEAR = 4 };

typedef struct winograd_group {
  const wick_schedule *s;
  const wick_stage *tiles, *products, *outputs, *out;
  int64_t m;                              /* outputs of a tile along each axis */
  int64_t n, in, ob, y, x, ty, tx, lanes; /* extents; ob: blocks of output channels */
  int64_t group;                          /* number of groups of channels */
  /* sizes are dynamic: rows and columns of tiles have an axis each; y and x are typical */
  bool dynamic;
} winograd_group;

static int64_t winograd_extent(const wick_stage *st, uint32_t axis)
{
  return wick_dim_is_const(st->axis[axis].extent) ? st->axis[axis].extent.v : 0;
}

/* Returns the typical extent of an axis. It is used only to compare costs. */
static int64_t winograd_typical(const winograd_group *w, uint32_t axis)
{
  return wick_dim_typical(w->s->group->module->dims, w->out->axis[axis].extent);
}

static const wick_node *winograd_node(const winograd_group *w, const wick_stage *st)
{
  return &w->s->group->node[st->node];
}

/* Returns the extent of the dimension that a map's result has of its own; 0 if it has none. */
static int64_t winograd_own(const winograd_group *w, const wick_stage *st)
{
  const wick_type_info *t = wick_info_of(w->s->group, winograd_node(w, st)->first);
  return !st->fold && t->rank == st->naxis + 1u ? t->dim[0].v : 0;
}

static bool winograd_reads(const winograd_group *w, const wick_stage *st, const wick_stage *from)
{
  for (uint32_t i = st->node + 1; i < winograd_node(w, st)->end; i++) {
    const wick_node *n = &w->s->group->node[i];
    if (n->op == WICK_OP_read && n->in[0].id == winograd_node(w, from)->first.id) return true;
  }
  return false;
}

static bool winograd_group_of(const wick_schedule *s, winograd_group *w)
{
  *w = (winograd_group){.s = s};
  if (s->nstage < 4) return false;
  w->out = &s->stage[s->output];
  w->tiles = &s->stage[0], w->products = &s->stage[1], w->outputs = &s->stage[2];
  uint32_t dynamic = w->dynamic = w->tiles->naxis == 5;
  if (w->out->fold || w->out->naxis != 5 || !winograd_own(w, w->tiles) || !w->products->fold ||
      w->tiles->naxis != 4 + dynamic || w->products->naxis != 7 + dynamic ||
      w->outputs->naxis != 4 + dynamic)
    return false;
  while ((w->m + 1) * (w->m + 1) <= winograd_own(w, w->outputs)) w->m++;
  if (!w->m || !winograd_reads(w, w->products, w->tiles) ||
      !winograd_reads(w, w->outputs, w->products))
    return false;
  for (const wick_stage *st = w->outputs + 1; st < w->out; st++)
    if (st->fold || winograd_own(w, st)) return false;
  w->n = winograd_typical(w, 0), w->y = winograd_typical(w, 2), w->x = winograd_typical(w, 3);
  w->ob = winograd_extent(w->out, 1);
  w->lanes = winograd_extent(w->out, 4);
  w->in = winograd_extent(w->tiles, 1);
  w->group = w->in / wick_max_i64(winograd_extent(w->products, 5 + dynamic), 1);
  w->ty = wick_ceildiv_i64(w->y, w->m), w->tx = wick_ceildiv_i64(w->x, w->m);
  return w->n > 0 && w->ob > 0 && w->y > 0 && w->x > 0 && w->in > 0 && w->group > 0;
}

/* How the work is divided: into rows of tiles in a block, and parts of the output channels. A task
 * is a part of a block. The tasks of a block share its transformed tiles. */
typedef struct winograd_cut {
  int64_t rows, parts;
  int64_t columns; /* columns of tiles in a block; 0: whole rows */
  wick_tile tile;  /* tile of the products, in registers */
} winograd_cut;

/* Returns the time of the slowest of `workers` in units of an equal share of the products. The time
 * includes its tasks, and the weights that it fetches for each task, which take as long as `fetch`
 * tiles of products. */
static double winograd_time(const winograd_group *w, const winograd_cut *c, int64_t workers,
                            double fetch)
{
  int64_t blocks = wick_ceildiv_i64(w->ty, c->rows), tasks = w->n * blocks * c->parts;
  double most = 0, all = (double)(w->n * w->ty * c->parts);
  for (int64_t i = 0, at = 0; i < workers; i++) {
    int64_t begin = at, end = (tasks * (i + 1) + workers / 2) / workers, rows = 0;
    for (; at < end; at++) rows += wick_min_i64(c->rows, w->ty - at / c->parts % blocks * c->rows);
    double time = (double)rows + fetch * (double)(end - begin) / (double)w->tx;
    if (time > most) most = time;
  }
  return most * (double)workers / all;
}

/* Returns the cost of a division with one worker and with a few, including the data of the block
 * that each part reads again. A vector of weights arrives in `far` cycles, most of which the
 * products hide. */
static double winograd_cost(const winograd_group *w, const winograd_cut *c, bool near, double far)
{
  double parts = (near ? 0.005 : 0.02) * (double)c->parts, cost = 0;
  for (int64_t workers = 1; workers <= 4; workers *= 2)
    cost += (winograd_time(w, c, workers, 0.6 * far) + c->tile.slack + parts) / (double)workers;
  return cost;
}

/* Returns true if the last block would be a single row of tiles that the edge of the image cuts, so
 * that its extent differs from that of the rows in the other blocks. */
static bool winograd_cuts_row(const winograd_group *w, int64_t rows)
{
  return !w->dynamic && w->y % w->m && rows < w->ty && w->ty % rows == (rows > 1);
}

enum { WINOGRAD_LEAST = 8, WINOGRAD_WHOLE = 49 }; /* tiles of a block */
enum { WINOGRAD_PARTS = 4 };

/* Finds the least and the most tiles in a row. */
static void winograd_columns(const winograd_group *w, int64_t *least, int64_t *most)
{
  wick_dim_range(w->s->group->module->dims, w->out->axis[3].extent, least, most);
  *least = wick_ceildiv_i64(*least, w->m), *most = wick_ceildiv_i64(*most, w->m);
}

/* Returns the best tile of products. Its vectors belong to one group, so that they share the
 * elements that they read. */
static wick_tile winograd_tile(const winograd_group *w, const wick_target *t, int64_t vectors,
                               int64_t positions, double far)
{
  wick_elem elem = wick_info_of(w->s->group, winograd_node(w, w->out)->first)->elem;
  wick_tile best = {1, 1, 1e300};
  int64_t least = 0, most = 0;
  if (w->dynamic) winograd_columns(w, &least, &most);
  if (w->group == 1) return wick_template_tile(t, elem, vectors, positions, least, most, far);
  for (int64_t v = 1; v <= vectors && v <= 8; v++) {
    wick_tile x = wick_template_tile(t, elem, v, positions, least, most, far);
    bool one = (w->ob / w->group) % x.vectors == 0 && vectors % x.vectors == 0;
    if (one && x.slack < best.slack) best = x;
  }
  return best;
}

/* Returns the number of consecutive positions in a block. */
static int64_t winograd_positions(const winograd_group *w, const winograd_cut *c)
{
  return w->dynamic ? w->tx : c->rows * w->tx;
}

/* Tries all numbers of parts with c->rows rows and keeps the best division. `near` is the number of
 * rows with which a block stays in the second cache. A vector of weights arrives in `far` cycles.
 */
static void winograd_cut_try(const winograd_group *w, const wick_target *t, winograd_cut *c,
                             int64_t near, double far, winograd_cut *best, double *lowest)
{
  if (winograd_cuts_row(w, c->rows)) return;
  for (c->parts = 1; c->parts <= WINOGRAD_PARTS && w->ob % c->parts == 0; c->parts *= 2) {
    c->tile = winograd_tile(w, t, w->ob / c->parts, winograd_positions(w, c), far);
    double cost = winograd_cost(w, c, c->rows <= near, far);
    if (cost < *lowest - 0.001) *best = *c, *lowest = cost;
  }
}

static int64_t winograd_budget(const wick_target *t) { return (int64_t)wick_target_cache(t, 2); }

/* Returns the bytes of a transformed tile and of its products. */
static int64_t winograd_nbytes(const winograd_group *w)
{
  return winograd_own(w, w->tiles) * w->lanes * 4 * (w->in + w->ob);
}

enum { WINOGRAD_COLUMNS = 32 };

/* Divides work of dynamic sizes. A block has as many rows of a typical size as fit into the second
 * cache. It has whole rows, unless the longest row needs more than twice that memory. */
static winograd_cut winograd_cut_dynamic(const winograd_group *w, const wick_target *t,
                                         int64_t weights)
{
  int64_t least, most, tile = winograd_nbytes(w), budget = winograd_budget(t),
                       tiles = wick_max_i64(budget / tile, 1);
  winograd_columns(w, &least, &most);
  winograd_cut best = {.rows = 1, .parts = 1}, c = {.rows = 1};
  if (most <= 2 * budget / tile) {
    c.rows = wick_min_i64(tiles / wick_max_i64(w->tx, 1), 2 * budget / tile / most);
  } else {
    c.columns = wick_min_i64(wick_max_i64(tiles, WINOGRAD_LEAST), WINOGRAD_COLUMNS);
    c.rows = tiles / c.columns;
  }
  c.rows = wick_max_i64(wick_min_i64(c.rows, w->ty), 1);
  double lowest = 1e300;
  winograd_cut_try(w, t, &c, c.rows, wick_cost_first(t, (uint64_t)weights), &best, &lowest);
  return best;
}

/* Divides the work. Blocks fit into the second cache, unless they would then have too few tiles for
 * the weights that are streamed with them. */
static winograd_cut winograd_cut_of(const winograd_group *w, const wick_target *t, int64_t weights)
{
  if (w->dynamic) return winograd_cut_dynamic(w, t, weights);
  int64_t row = winograd_nbytes(w) * w->tx, budget = winograd_budget(t),
          least = wick_min_i64(wick_ceildiv_i64(WINOGRAD_LEAST, w->tx), w->ty),
          most = wick_max_i64(budget / row, weights <= budget ? least : WINOGRAD_WHOLE / w->tx);
  winograd_cut best = {.rows = w->ty, .parts = 1}, c = {.rows = 0};
  double lowest = 1e300, far = wick_cost_first(t, (uint64_t)weights);
  most = wick_min_i64(wick_max_i64(most, least), w->ty);
  for (c.rows = most; c.rows >= least; c.rows--)
    winograd_cut_try(w, t, &c, budget / row, far, &best, &lowest);
  for (c.rows = most + 1; !best.tile.positions;
       c.rows++) /* a block of all rows is always possible */
    winograd_cut_try(w, t, &c, budget / row, far, &best, &lowest);
  return best;
}

/* Applies the knobs. Returns false if the result does not fit. */
static bool winograd_knobs(const winograd_group *w, const wick_target *t, const wick_knobs *k,
                           winograd_cut *c)
{
  if (k->rows) c->rows = wick_min_i64(k->rows, w->ty);
  if (k->parts) c->parts = k->parts;
  if (winograd_cuts_row(w, c->rows) || w->ob % c->parts) return false;
  int64_t most = w->ob / c->parts, positions = winograd_positions(w, c);
  if (k->vectors) c->tile.vectors = k->vectors;
  if (k->columns) c->tile.positions = k->columns;
  c->tile.vectors = wick_min_i64(c->tile.vectors, most);
  c->tile.positions = wick_min_i64(c->tile.positions, positions);
  return c->tile.vectors * (c->tile.positions + 1) + 2 <= (t->nvector ? t->nvector : 8);
}

static const char *winograd_loop(const winograd_group *w, const wick_stage *st, uint32_t axis)
{
  const wick_dims *t = w->s->group->module->dims;
  return wick_dim_atom(t, wick_dim_get(t, st->axis[axis].sym).term->atom[0])->name;
}

/* Prefetches weights if they exceed the first cache: those of the next product, unless these are
 * too many for the second cache. */
static void winograd_prefetch(const winograd_group *w, const wick_target *t, const winograd_cut *c,
                              int64_t weights, int knob, wick_text *steps)
{
  int64_t each = weights / winograd_own(w, w->tiles) / c->parts,
          first = (int64_t)wick_target_cache(t, 1);
  bool early = knob ? knob > 1 : weights > first,
       channels = knob ? knob == 2 : each > winograd_budget(t) / WINOGRAD_NEAR;
  if (early) wick_text_printf(steps, "prefetch products.%s; ", channels ? "ob" : "xi");
}

/* Writes the loops of the output: tasks, then the tiles of each task. */
static void winograd_output(const winograd_group *w, const winograd_cut *c, wick_text *steps)
{
  const char *o = w->out->name, *loop[5], *x = c->columns ? "xt" : NULL;
  for (uint32_t k = 0; k < 5; k++) loop[k] = winograd_loop(w, w->out, k);
  wick_text_printf(steps, "split %s.%s op:%lld; split %s.%s yt:%lld; split %s.yt yi:%lld; ", o,
                   loop[1], (long long)(w->ob / c->parts), o, loop[2], (long long)(c->rows * w->m),
                   o, (long long)w->m);
  if (x)
    wick_text_printf(steps, "split %s.%s xt:%lld; ", o, loop[3], (long long)(c->columns * w->m));
  wick_text_printf(steps, "split %s.%s xi:%lld; order %s: %s %s %s%s%s op yt %s yi xi %s; ", o,
                   x ? x : loop[3], (long long)w->m, o, loop[0], loop[2], x ? loop[3] : "",
                   x ? " " : "", loop[1], x ? x : loop[3], loop[4]);
  wick_text_printf(steps, "parallel %s.%s %s.%s ", o, loop[0], o, loop[2]);
  if (x) wick_text_printf(steps, "%s.%s ", o, loop[3]);
  wick_text_printf(steps, "%s.%s; vector %s.%s; unroll %s.yi %s.xi; ", o, loop[1], o, loop[4], o,
                   o);
  if (w->dynamic) wick_text_printf(steps, "tail %s.yi mask; tail %s.xi mask; ", o, o);
  wick_text_printf(steps, "at tiles %s.%s scratch; vector tiles.c; ", o, x ? loop[3] : loop[2]);
  wick_text_printf(steps, "at products %s.%s scratch; ", o, loop[1]);
}

bool template_winograd_match(template_state *t)
{
  winograd_group *w = wick_new(t->tmp, winograd_group, 1);
  t->found = w;
  return winograd_group_of(t->s, w);
}

void template_winograd(template_state *t)
{
  const winograd_group *w = t->found;
  wick_text *steps = &t->steps;
  int64_t weights = winograd_own(w, w->tiles) * w->in / w->group * w->ob * w->lanes * w->lanes * 4;
  winograd_cut cut = winograd_cut_of(w, t->t, weights);
  t->refused = !winograd_knobs(w, t->t, &t->knobs, &cut);
  if (t->refused) return;
  for (const wick_stage *st = w->outputs + 1; st < w->out; st++)
    wick_text_printf(steps, "inline %s; ", st->name);
  winograd_output(w, &cut, steps);
  const char *position = w->dynamic ? "tx" : "t";
  wick_text_printf(steps, "split products.ob oi:%lld; split products.%s ti:%lld; ",
                   (long long)cut.tile.vectors, position, (long long)cut.tile.positions);
  if (w->dynamic) wick_text_add(steps, "tail products.tx overlap; ");
  wick_text_printf(steps, "split products.c u:%lld; ",
                   (long long)(t->knobs.unroll ? wick_max_i64(t->knobs.unroll, 2) : 4));
  wick_text_printf(steps, "order products: xi n ob %s%s cb c u ti oi v; vector products.v; ",
                   w->dynamic ? "ty " : "", position);
  wick_text_add(steps, "unroll products.u products.ti products.oi; ");
  winograd_prefetch(w, t->t, &cut, weights, t->knobs.prefetch, steps);
  wick_text_printf(steps, "at outputs %s.%s reg; unroll outputs.n outputs.ob %s; ", w->out->name,
                   cut.columns ? "xt" : winograd_loop(w, w->out, 3),
                   w->dynamic ? "outputs.ty outputs.tx" : "outputs.t");
  wick_text_add(steps, "vector outputs.v; ");
}
