/* A first traversal finds the maps that only add a parameter to a fold. A second one replaces them
 * by maps that copy the fold, which are later inlined. */
#include "graph/group/fold_bias.h"

#include "ir/op.h"

typedef struct fold_bias_state {
  const wick_func *g;
  const uint32_t *definer;
  wick_uses uses;
  uint32_t
      *fold; /* per node: for such a map, the fold that absorbs its addition; UINT32_MAX: none */
  uint32_t *map; /* per node: for such a fold, its map */
  wick_copier c;
} fold_bias_state;

/* Returns true if v is the only result of stage s, and its dimensions are the axes of s in order.
 */
static bool fold_bias_plain(const wick_func *g, const wick_node *s)
{
  uint32_t rank = 0;
  for (uint32_t a = 0; a < wick_stage_axes(s)->n; a++) rank += !wick_stage_axes(s)->axes[a].reduce;
  return s->nout == 1 && wick_info_of(g, s->first)->rank == rank;
}

/* Returns true if f is a sum of integers that begins with 0 and whose result is the plain sum. */
static bool fold_bias_is_sum(const wick_func *g, const wick_node *f)
{
  if (f->op != WICK_OP_fold || !fold_bias_plain(g, f)) return false;
  const wick_region *init = &f->region[0], *merge = &f->region[2], *finish = &f->region[3];
  if (wick_info_of(g, f->first)->elem != WICK_I32 || init->end - init->begin != 2 ||
      merge->end - merge->begin != 2 || finish->end - finish->begin != 1)
    return false;
  const wick_node *zero = &g->node[init->begin];
  return zero->op == WICK_OP_const && !wick_const_imm(zero)->constant &&
         wick_const_imm(zero)->i == 0 && g->node[merge->begin].op == WICK_OP_add;
}

/* Returns true if the read's index is the stage's axes in order. */
static bool fold_bias_identity(const wick_node *s, const wick_node *read)
{
  if (read->attr[WICK_ATTR_read_guard].i || read->nin != 1 ||
      wick_read_index(read)->n != wick_stage_axes(s)->n)
    return false;
  for (uint32_t k = 0; k < wick_stage_axes(s)->n; k++) {
    const wick_axis *a = &wick_stage_axes(s)->axes[k];
    wick_dim d = wick_read_index(read)->dims[k];
    if (!wick_dim_eq(d, a->sym) && !(wick_dim_is(d, 0) && wick_dim_is(a->extent, 1))) return false;
  }
  return true;
}

/* Returns true if m adds a parameter to a fold. Returns the reads of both as well. */
static bool fold_bias_adds(const fold_bias_state *s, const wick_node *m, const wick_node **fold,
                           const wick_node **with)
{
  const wick_region *body = &m->region[0];
  if (m->op != WICK_OP_map || !fold_bias_plain(s->g, m) || body->end - body->begin != 4)
    return false;
  const wick_node *n = &s->g->node[body->begin];
  if (n[0].op != WICK_OP_read || n[1].op != WICK_OP_read || n[2].op != WICK_OP_add ||
      n[3].in[0].id != n[2].first.id)
    return false;
  uint32_t first =
      s->definer[n[0].in[0].id] == UINT32_MAX; /* the position of the read of the fold */
  const wick_node *a = &n[first], *p = &n[!first];
  uint32_t d = s->definer[a->in[0].id];
  bool both = n[2].in[0].id + n[2].in[1].id == a->first.id + p->first.id && a != p;
  if (!both || d == UINT32_MAX || s->definer[p->in[0].id] != UINT32_MAX ||
      p->attr[WICK_ATTR_read_guard].i || p->nin != 1 || !fold_bias_identity(m, a) ||
      !fold_bias_is_sum(s->g, &s->g->node[d]))
    return false;
  uint32_t v = a->in[0].id;
  if (s->uses.first[v + 1] - s->uses.first[v] != 1 ||
      !wick_type_eq(wick_type_of(s->g, a->in[0]), wick_type_of(s->g, m->first)))
    return false;
  *fold = &s->g->node[d], *with = p;
  return true;
}

/* Builds the fold's initial value: a read of the parameter, like that of the map, but in the fold's
 * own axes. */
static wick_value fold_bias_read(fold_bias_state *s, const wick_node *fold, const wick_node *map,
                                 const wick_node *with)
{
  wick_dims *t = s->g->module->dims;
  wick_dim from[WICK_MAX_RANK], to[WICK_MAX_RANK], index[WICK_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t a = 0; a < wick_stage_axes(fold)->n; a++)
    if (!wick_stage_axes(fold)->axes[a].reduce)
      from[n] = wick_stage_axes(map)->axes[n].sym, to[n] = wick_stage_axes(fold)->axes[a].sym, n++;
  for (uint32_t k = 0; k < wick_read_index(with)->n; k++)
    index[k] = wick_dim_substitute(t, wick_read_index(with)->dims[k], n, from, to);
  return wick_read(&s->c.b, s->c.to[with->in[0].id], index, 0, NULL, (wick_value){0});
}

wick_func *wick_group_fold_bias(const wick_func *g, wick_arena *mem)
{
  fold_bias_state s = {.g = g, .definer = wick_definers_of(g, mem), .uses = wick_uses_of(g, mem)};
  s.fold = wick_new(mem, uint32_t, g->nnode), s.map = wick_new(mem, uint32_t, g->nnode);
  const wick_node **with = wick_new(mem, const wick_node *, g->nnode), *fold, *p;
  uint32_t any = 0, init = UINT32_MAX;
  for (uint32_t i = 0; i < g->nnode; i++) s.fold[i] = s.map[i] = UINT32_MAX;
  for (uint32_t i = 0; i < g->nnode; i++)
    if (g->node[i].nregion == 1 && fold_bias_adds(&s, &g->node[i], &fold, &p)) {
      uint32_t f = (uint32_t)(fold - g->node);
      s.fold[g->node[i].region[0].begin + 2] = f, s.map[f] = i, with[f] = p, any++;
    }
  if (!any) return (wick_func *)(uintptr_t)g;
  s.c = wick_copy_begin(g, mem);
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    if (s.fold[i] != UINT32_MAX) { /* the fold already contains the sum */
      bool second = with[s.fold[i]]->first.id == n->in[0].id;
      s.c.to[n->first.id] = s.c.to[n->in[second].id];
    } else if (init != UINT32_MAX && i == g->node[init].region[0].begin) {
      fold = &g->node[init];
      s.c.to[n->first.id] = fold_bias_read(&s, fold, &g->node[s.map[init]], with[init]);
      init = UINT32_MAX;
    } else {
      if (s.map[i] != UINT32_MAX) init = i;
      wick_copy_node(&s.c, n);
    }
  }
  return wick_copy_end(&s.c);
}
