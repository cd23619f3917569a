/* The template for a depthwise convolution followed by a pointwise one. Rows of the first result,
 * in all channels, are in scratch memory, and the tiles of the second convolution consume them
 * while they are in the cache. */
#include "graph/group/template_state.h"
#include "loop/product.h"

enum { DEPTHWISE_UNROLL = 8, DEPTHWISE_ROWS = 8, DEPTHWISE_WORKERS = 4 };

typedef struct depthwise_group {
  const wick_stage *depthwise; /* a fold */
  const wick_stage *between;   /* the map that is kept */
  const wick_stage *pointwise; /* a sum of products */
  const void *tiles;           /* the tiles of `pointwise` (template_outer_product_of) */
} depthwise_group;

static bool depthwise_reads(const template_state *t, const wick_stage *st, const wick_stage *from)
{
  for (uint32_t i = st->node + 1; i < template_node(t, st)->end; i++) {
    const wick_node *n = &t->g->node[i];
    if (n->op == WICK_OP_read && n->in[0].id == template_node(t, from)->first.id) return true;
  }
  return false;
}

/* Returns true if the group has two folds, maps between them, and maps after them. The second fold
 * must read only the last of the maps between them. */
static bool depthwise_group_of(const template_state *t, depthwise_group *g)
{
  *g = (depthwise_group){0};
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (st->fold && g->pointwise) return false;
    if (st->fold && !g->depthwise)
      g->depthwise = st;
    else if (st->fold)
      g->pointwise = st;
  }
  wick_product p;
  if (!g->pointwise || t->out->fold || !wick_product_of(t->g, template_node(t, g->pointwise), &p))
    return false;
  for (const wick_stage *st = g->depthwise + 1; st < g->pointwise; st++) {
    if (!depthwise_reads(t, g->pointwise, st)) continue;
    if (g->between) return false;
    g->between = st;
  }
  return g->between && g->between->naxis == t->out->naxis && t->out->naxis == 5 &&
         template_read_in_place(t, g->depthwise) && template_read_in_place(t, g->pointwise);
}

/* Writes the loops of the map that is kept: vectors of channels, and several columns in registers.
 */
static void depthwise_between(template_state *t, const depthwise_group *g, const char *row)
{
  const wick_stage *st = g->between;
  const char *name = st->name, *axis[5];
  int64_t width = template_extent(t, st, 3), most = t->t->nvector / 4, positions = 1;
  for (uint32_t k = 0; k < 5; k++) axis[k] = template_loop(t, st, k);
  for (int64_t p = 2; p <= most; p++)
    if (width % p == 0) positions = p;
  if (positions == 1 && width > 8) positions = 4;
  wick_text_printf(&t->steps, "at %s %s.%s scratch; ", name, t->out->name, row);
  wick_text_printf(&t->steps, "split %s.%s xi:%lld; order %s: %s %s %s %s xi %s; ", name, axis[3],
                   (long long)positions, name, axis[0], axis[1], axis[2], axis[3], axis[4]);
  wick_text_printf(&t->steps, "vector %s.%s; unroll %s.xi; at %s %s.%s reg; ", name, axis[4], name,
                   g->depthwise->name, name, axis[3]);
  template_fold_loops(t, g->depthwise,
                      &(template_fold){UINT32_MAX, 4, UINT32_MAX, template_extent(t, st, 4),
                                       DEPTHWISE_UNROLL, false, false});
}

/* Returns the number of rows in a block, chosen so that a few workers have equal shares. */
static int64_t depthwise_rows(int64_t height)
{
  int64_t best = 1, least = INT64_MAX;
  for (int64_t n = wick_min_i64(DEPTHWISE_ROWS, height); 2 * n >= DEPTHWISE_ROWS || best == 1;
       n--) {
    int64_t share = wick_ceildiv_i64(wick_ceildiv_i64(height, n), DEPTHWISE_WORKERS) * n;
    if (share < least) best = n, least = share;
    if (n == 1) break;
  }
  return best;
}

bool template_depthwise_pointwise_match(template_state *t)
{
  depthwise_group *g = wick_new(t->tmp, depthwise_group, 1);
  t->found = g;
  if (!depthwise_group_of(t, g) || !template_is(g->between, 4, t->lanes) || t->lanes < 2)
    return false;
  for (uint32_t k = 0; k < 5; k++)
    if (!template_extent(t, t->out, k) || !template_extent(t, g->between, k)) return false;
  g->tiles = template_outer_product_of(t, g->pointwise);
  return g->tiles;
}

void template_depthwise_pointwise(template_state *t)
{
  const depthwise_group *g = t->found;
  for (uint32_t i = 0; i < t->s->output; i++)
    if (!t->s->stage[i].fold && &t->s->stage[i] != g->between)
      wick_text_printf(&t->steps, "inline %s; ", t->s->stage[i].name);
  t->rows = depthwise_rows(template_extent(t, t->out, 2));
  template_outer_product_loops(t, g->pointwise, g->tiles);
  depthwise_between(t, g, template_loop(t, t->out, 2));
}
