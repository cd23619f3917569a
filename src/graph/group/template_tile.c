/* The register tile of a sum of products: all tiles that fit into the registers are tried, and the
 * cost model chooses. */
#include "graph/group/cost.h"
#include "graph/group/template_state.h"

/* Returns the cycles per step that a tile needs in addition to its sum, to begin and to store its
 * elements. Storing is hidden by the next tile's products if there are few elements to store. */
static double tile_ends(const template_stream *s, int64_t products)
{
  enum { HIDDEN = 256, BEGIN = 12 };
  static const double store = 1.5, read = 3;
  double cycles = BEGIN;
  if (!s->steps) return 0;
  if (products * s->steps > HIDDEN / (1 + (int64_t)s->beside))
    cycles += (store + read * s->beside) * (double)products;
  return cycles / (double)s->steps;
}

/* The part of a step that hides the latency of the vectors' loads. */
static const double tile_hidden = 0.85;

/* Returns the cost of all tiles, full ones and those at the ends, that cover the extents `all`.
 * Each element of the output has `own` sums. */
static double tile_cost(const template_state *t, const template_tile *all, const template_tile *x,
                        int64_t own, const template_stream *stream)
{
  const int64_t extent[4] = {all->ob, all->vb, all->th, all->tw},
                tile[4] = {x->ob, x->vb, x->th, x->tw};
  double cost = 0;
  for (uint32_t rest = 0; rest < 16; rest++) { /* bit k: the last, smaller tile along k */
    int64_t size[4], count[2] = {1, 1};        /* number of vectors, number of positions */
    for (uint32_t k = 0; k < 4; k++) {
      bool last = rest >> k & 1;
      size[k] = last ? extent[k] % tile[k] : tile[k];
      count[k / 2] *= last ? size[k] != 0 : extent[k] / tile[k];
    }
    if (!count[0] || !count[1]) continue;
    int64_t vectors = own * size[0] * size[1], positions = size[2] * size[3];
    wick_cost_tile c = {vectors,     positions,     vectors * positions,
                        stream->all, stream->apart, stream->fresh};
    if (stream->each) c.stream_bytes = (uint64_t)c.vectors * stream->each;
    double step = wick_cost_step(t->t, &c),
           wait = (double)vectors * stream->far + stream->visit - tile_hidden * step;
    step += tile_ends(stream, c.products);
    cost += (double)(count[0] * count[1]) * step;
    if (rest < 4 && wait > 0) cost += (double)count[0] * wait; /* only the first positions wait */
  }
  return cost;
}

/* Returns the cost of n positions in a row if the row ends in a loop whose steps overlap
 * (loop/nest_overlap.c). */
static double tile_row_cost(const template_state *t, template_tile all, template_tile x, int64_t n,
                            const template_roles *r, const template_stream *stream)
{
  int64_t rest = n % x.tw, size = x.tw;
  while (rest && wick_tail_smaller(size, false) >= rest) size = wick_tail_smaller(size, false);
  all.tw = rest ? n - rest + size : n;
  /* two steps of the next smaller size */
  if (n < size) x.tw = wick_tail_smaller(size, false), all.tw = 2 * x.tw;
  return tile_cost(t, &all, &x, r->own, stream);
}

/* Returns the next of the sizes 1, 2, 3, 4, 6, 8, 12, 16, 24, ... */
static int64_t tile_next_size(int64_t n) { return n == 1 ? 2 : n % 3 ? n / 2 * 3 : n / 3 * 4; }

/* Returns the cost of a tile. If the extent along x is symbolic, this is the mean cost per
 * position for sizes around the typical one, plus a small share of the cost of each smaller
 * size, because few positions require many vectors. The sizes are powers of two and three times
 * powers of two, which are most frequent in practice. */
static double tile_sizes_cost(const template_state *t, const template_tile *all,
                              const template_tile *x, const template_roles *r,
                              const template_stream *stream)
{
  enum { AROUND = 4 };
  static const double rare = 1.0 / 16;
  int64_t least = r->least, most = r->most, typical = all->tw;
  if (r->x != UINT32_MAX && template_varies(t->out, r->x))
    wick_dim_range(t->g->module->dims, t->out->axis[r->x].extent, &least, &most);
  if (!most) return tile_cost(t, all, x, r->own, stream);
  least = wick_max_i64(least, typical / AROUND), most = wick_min_i64(most, typical * AROUND);
  double cost = 0, sizes = 0;
  for (int64_t n = 1; n <= most; n = tile_next_size(n))
    if (n >= least) cost += tile_row_cost(t, *all, *x, n, r, stream) / (double)n, sizes++;
  cost =
      sizes > 0 ? cost / sizes * (double)typical : tile_row_cost(t, *all, *x, typical, r, stream);
  for (template_tile few = *all; few.tw > 1;) {
    double share = rare * (double)typical;
    few.tw = wick_ceildiv_i64(few.tw, 2);
    template_tile part = {x->ob, x->vb, x->th, wick_min_i64(x->tw, few.tw)};
    cost += share / (double)few.tw * tile_cost(t, &few, &part, r->own, stream);
  }
  return cost;
}

/* Returns true if `n` vectors are neither a part of a block of the weights nor whole blocks. */
static bool tile_parts_blocks(const template_roles *r, int64_t n)
{
  return r->run && r->run % n && n % r->run;
}

/* Returns the cheapest tile that fits into the registers, of which template_spare is left over.
 * Vectors along two axes are used only if they cover the second of these axes, and only if each
 * vector is used several times. Otherwise vectors are read in their order in memory. */
static template_tile tile_search(const template_state *t, int64_t spare, const template_tile *all,
                                 const template_tile *most, const template_roles *r,
                                 const template_stream *stream)
{
  template_tile best = {1, 1, 1, 1}, x;
  double least = 1e300;
  int64_t registers = t->t->nvector ? t->t->nvector : 8;
  bool both = all->th * all->tw > 1;
  for (x.ob = 1; x.ob <= all->ob && x.ob <= 8; x.ob++)
    for (x.vb = 1; x.vb <= all->vb && x.vb <= 14; x.vb++)
      for (x.th = 1; x.th <= all->th && x.th <= 4; x.th++)
        for (x.tw = 1; x.tw <= most->tw && x.tw <= 28; x.tw++) {
          if (r->own * x.ob * x.vb * (x.th * x.tw + r->parts) + spare > registers) break;
          /* several rows only if a tile has whole rows */
          if (x.th > 1 && x.tw != all->tw) continue;
          if (tile_parts_blocks(r, x.vb)) continue;
          if (x.ob > 1 && (x.vb != all->vb || (r->own * all->vb > 1 && !both))) continue;
          double cost = tile_sizes_cost(t, all, &x, r, stream);
          if (cost < least * 0.999) best = x, least = cost;
        }
  return best;
}

int64_t template_spare(const template_state *t, wick_elem e)
{
  return t->t->fma & WICK_BIT(e) ? 2 : 3;
}

template_tile template_tile_best(template_state *t, int64_t spare, const template_tile *all,
                                 const template_tile *most, const template_roles *r,
                                 const template_stream *stream)
{
  const wick_knobs *k = &t->knobs;
  if (!k->vectors && !k->rows && !k->columns) return tile_search(t, spare, all, most, r, stream);
  bool blocks = all->ob > 1 && (all->vb == 1 || k->parts > 1); /* of rows, if a row has several */
  template_tile x = {blocks ? wick_min_i64(k->vectors, all->ob) : 1,
                     blocks ? 1 : wick_min_i64(k->vectors, all->vb), wick_min_i64(k->rows, all->th),
                     wick_min_i64(k->columns, all->tw)};
  int64_t registers = t->t->nvector ? t->t->nvector : 8;
  t->refused = x.ob < 1 || x.vb < 1 || x.th < 1 || x.tw < 1 ||
               r->own * x.ob * x.vb * (x.th * x.tw + r->parts) + spare > registers ||
               (x.th > 1 && x.tw != all->tw) || tile_parts_blocks(r, x.vb);
  return t->refused ? (template_tile){1, 1, 1, 1} : x;
}

wick_tile wick_template_tile(const wick_target *t, wick_elem elem, int64_t vectors,
                             int64_t positions, int64_t least_positions, int64_t most, double far)
{
  template_state s = {.t = t};
  template_roles r = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,      vectors, positions,
                      0,          1,          1,          least_positions, most,    0};
  template_stream once = {.far = far};
  template_tile all = {vectors, 1, 1, positions},
                best = template_tile_best(&s, template_spare(&s, elem), &all, &all, &r, &once);
  double least = (double)(vectors * positions) / 2;
  return (wick_tile){best.ob, best.tw, tile_sizes_cost(&s, &all, &best, &r, &once) / least};
}
