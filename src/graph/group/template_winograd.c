/* Blocks of rows of tiles: their transformed tiles and products lie in scratch memory, sized for
 * the cache; a tile of outputs is made in registers, inside the loops of the output. */
#include "graph/group/template_winograd.h"

#include "graph/group/template.h"
#include "ir/ir.h"

enum { WINOGRAD_CACHED = 1 << 20 }; /* bytes of weights that stay in a cache between runs */

typedef struct winograd_group {
  const wick_schedule *s;
  const wick_stage *tiles, *products, *outputs, *out;
  int64_t m;                              /* tile */
  int64_t n, in, ob, y, x, ty, tx, lanes; /* extents; ob: blocks of output channels */
} winograd_group;

static int64_t winograd_extent(const wick_stage *st, uint32_t axis)
{
  return wick_dim_is_const(st->axis[axis].extent) ? st->axis[axis].extent.v : 0;
}

static const wick_node *winograd_node(const winograd_group *w, const wick_stage *st)
{
  return &w->s->group->node[st->node];
}

/* A map whose result has one dimension of its own; how long that is, else 0. */
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
  if (w->out->fold || w->out->naxis != 5 || !winograd_own(w, w->tiles) || !w->products->fold ||
      w->tiles->naxis != 4 || w->products->naxis != 7 || w->outputs->naxis != 4)
    return false;
  while ((w->m + 1) * (w->m + 1) <= winograd_own(w, w->outputs)) w->m++;
  if (!w->m || !winograd_reads(w, w->products, w->tiles) ||
      !winograd_reads(w, w->outputs, w->products))
    return false;
  for (const wick_stage *st = w->outputs + 1; st < w->out; st++)
    if (st->fold || winograd_own(w, st)) return false;
  w->n = winograd_extent(w->out, 0), w->ob = winograd_extent(w->out, 1);
  w->y = winograd_extent(w->out, 2), w->x = winograd_extent(w->out, 3);
  w->lanes = winograd_extent(w->out, 4);
  w->in = winograd_extent(w->tiles, 1);
  w->ty = wick_ceildiv_i64(w->y, w->m), w->tx = wick_ceildiv_i64(w->x, w->m);
  return w->n > 0 && w->ob > 0 && w->y > 0 && w->x > 0 && w->in > 0;
}

/* Rows of tiles in a block: scratch of about the second cache, equal blocks, not fewer tiles than
 * registers want. */
static int64_t winograd_rows(const winograd_group *w, const wick_target *t)
{
  int64_t n2 = winograd_own(w, w->tiles), row = n2 * w->tx * w->lanes * 4 * (w->in + w->ob),
          room = t->cache_bytes[1] ? (int64_t)t->cache_bytes[1] : 1 << 20;
  int64_t rows = wick_max_i64(room / row, wick_ceildiv_i64(24, w->tx));
  rows = wick_min_i64(wick_max_i64(rows, 1), w->ty);
  return wick_ceildiv_i64(w->ty, wick_ceildiv_i64(w->ty, rows));
}

/* Parts of the output channels: a task each where blocks of tiles are too few. */
static int64_t winograd_parts(const winograd_group *w, int64_t blocks)
{
  int64_t parts = 1;
  while (blocks * parts < 4 && parts < 4 && w->ob % (2 * parts) == 0 && w->ob / parts >= 8)
    parts *= 2;
  return parts;
}

static const char *winograd_loop(const winograd_group *w, const wick_stage *st, uint32_t axis)
{
  const wick_dims *t = w->s->group->module->dims;
  return wick_dim_atom(t, wick_dim_get(t, st->axis[axis].sym).term->atom[0])->name;
}

bool wick_template_winograd(const wick_schedule *s, const wick_target *t, wick_text *steps)
{
  winograd_group w;
  if (!winograd_group_of(s, &w)) return false;
  int64_t rows = winograd_rows(&w, t), blocks = w.n * wick_ceildiv_i64(w.ty, rows),
          part = w.ob / winograd_parts(&w, blocks);
  const char *o = w.out->name, *loop[5];
  for (uint32_t k = 0; k < 5; k++) loop[k] = winograd_loop(&w, w.out, k);
  for (const wick_stage *st = w.outputs + 1; st < w.out; st++)
    wick_text_printf(steps, "inline %s; ", st->name);
  wick_text_printf(steps, "split %s.%s op:%lld; split %s.%s yt:%lld; split %s.yt yi:%lld; ", o,
                   loop[1], (long long)part, o, loop[2], (long long)(rows * w.m), o,
                   (long long)w.m);
  wick_text_printf(steps, "split %s.%s xi:%lld; order %s: %s %s %s op yt %s yi xi %s; ", o, loop[3],
                   (long long)w.m, o, loop[0], loop[1], loop[2], loop[3], loop[4]);
  wick_text_printf(steps, "parallel %s.%s %s.%s %s.%s; vector %s.%s; unroll %s.yi %s.xi; ", o,
                   loop[0], o, loop[1], o, loop[2], o, loop[4], o, o);
  wick_text_printf(steps, "at tiles %s.%s scratch; vector tiles.c; ", o, loop[2]);
  wick_tile tile = wick_template_tile(
      t, wick_info_of(s->group, winograd_node(&w, w.out)->first)->elem, part, rows * w.tx);
  wick_text_printf(steps, "at products %s.%s scratch; split products.ob oi:%lld; ", o, loop[2],
                   (long long)tile.vectors);
  wick_text_printf(steps, "split products.t ti:%lld; split products.c u:4; ",
                   (long long)tile.places);
  wick_text_add(steps, "order products: xi n ob t cb c u ti oi v; vector products.v; "
                       "unroll products.u products.ti products.oi; ");
  int64_t weights = winograd_own(&w, w.tiles) * w.in * w.ob * w.lanes * w.lanes * 4;
  if (weights > WINOGRAD_CACHED) wick_text_add(steps, "prefetch products.ob; ");
  wick_text_printf(steps, "at outputs %s.%s reg; ", o, loop[3]);
  wick_text_add(steps, "unroll outputs.n outputs.ob outputs.t; vector outputs.v; ");
  return true;
}
