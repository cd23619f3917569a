/* Batches of branches and loops. */
#include "graph/vmap/vmap_state.h"
#include "ir/expr.h"

wick_value vmap_some(wick_builder *b, wick_value mask)
{
  int64_t axis = 0;
  wick_attr attr[] = {[WICK_ATTR_reduce_max_axes] = {.n = 1, .ints = &axis},
                      [WICK_ATTR_reduce_max_keepdims] = {.i = 0}};
  return wick_build(b, WICK_OP_reduce_max, 1, &mask, attr, 0, NULL);
}

static wick_value flow_both(wick_builder *b, wick_value x, wick_value y)
{
  if (!x.id || !y.id) return x.id ? x : y;
  return wick_build2(b, WICK_OP_and, x, y);
}

/* In the rows of bool[n] x, in others y. */
static wick_value flow_select(wick_builder *b, wick_value rows, wick_value x, wick_value y)
{
  if (b->status) return x;
  return expr_where(b, wick_batch_wide(b, rows, wick_built_info(b, x)->rank - 1u), x, y);
}

/* ---- branches ---- */

/* Both arms run, each for its rows. */
static void flow_if_rows(vmap_walk *w, const wick_node *n)
{
  wick_builder *b = w->b;
  wick_value outer = w->mask, c = w->to[n->in[0].id];
  wick_value *then = wick_new(b->mem, wick_value, n->nout + 1u);
  for (uint32_t r = 0; r < 2; r++) {
    const wick_region *g = &n->region[r];
    w->mask = flow_both(b, outer, r ? wick_build1(b, WICK_OP_not, c) : c);
    vmap_nodes(w, g->begin, g->end - 1);
    for (uint32_t k = 0; k < n->nout && !b->status; k++) {
      wick_value v = vmap_full(w, w->f->node[g->end - 1].in[k]);
      if (r == 0)
        then[k] = v;
      else
        w->to[n->first.id + k] = flow_select(b, c, then[k], v);
    }
  }
  w->mask = outer;
}

void vmap_if(vmap_walk *w, const wick_node *n)
{
  wick_builder *b = w->b;
  if (w->rows[n->in[0].id]) {
    flow_if_rows(w, n);
    return;
  }
  wick_value *v = wick_new(b->mem, wick_value, n->nout + 1u);
  b->loc = vmap_place(w, n);
  wick_build_open(b, WICK_OP_if, 1, &w->to[n->in[0].id], n->attr, 0, NULL);
  for (uint32_t r = 0; r < 2 && !b->status; r++) {
    const wick_region *g = &n->region[r];
    wick_region_begin(b, 0, NULL);
    vmap_nodes(w, g->begin, g->end - 1);
    for (uint32_t k = 0; k < n->nout && !b->status; k++) {
      wick_value own = w->f->node[g->end - 1].in[k];
      v[k] = w->rows[n->first.id + k] ? vmap_full(w, own) : w->to[own.id];
    }
    wick_yield(b, n->nout, v);
  }
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < n->nout; k++) w->to[n->first.id + k] = (wick_value){first.id + k};
}

/* ---- loops ---- */

typedef struct flow_loop {
  vmap_walk *w;
  const wick_node *n;
  const wick_region *g;
  const wick_node *y; /* its yield */
  bool ends;          /* rows end at different steps */
  wick_value count;   /* if they do: of each row, or 0 if all rows have as many steps */
} flow_loop;

/* Returns the number of steps, and sets the rows that take the first one. */
static wick_value flow_steps(flow_loop *l, wick_value *out_active)
{
  vmap_walk *w = l->w;
  wick_builder *b = w->b;
  wick_value steps = w->to[l->n->in[0].id], zero = expr_k(b, steps, 0);
  wick_type one = wick_type_tensor(b->module, WICK_BOOL, 0, NULL);
  if (w->rows[l->n->in[0].id]) {
    int64_t axis = 0;
    wick_attr attr[] = {[WICK_ATTR_reduce_max_axes] = {.n = 1, .ints = &axis},
                        [WICK_ATTR_reduce_max_keepdims] = {.i = 0}};
    l->count = w->mask.id ? expr_where(b, w->mask, steps, zero) : steps;
    *out_active = wick_build2(b, WICK_OP_gt, l->count, zero);
    return wick_build(b, WICK_OP_reduce_max, 1, &l->count, attr, 0, NULL);
  }
  *out_active = w->mask.id ? w->mask : wick_batch_repeat(b, wick_build_const(b, one, 0, 1), w->n);
  return w->mask.id ? expr_where(b, vmap_some(b, w->mask), steps, zero) : steps;
}

/* The rows that take the next step. */
static wick_value flow_goes_on(flow_loop *l, wick_value active, wick_value index)
{
  wick_builder *b = l->w->b;
  active = flow_both(b, active, vmap_full(l->w, l->y->in[0]));
  if (!l->count.id) return active;
  return flow_both(b, active, wick_build2(b, WICK_OP_lt, expr_addk(b, index, 1), l->count));
}

/* Yields whether a row goes on, the carried values, which rows go on, and the stacked values. Rows
 * that had ended before this step keep their values, and stack zeros. */
static void flow_yield(flow_loop *l, wick_value param)
{
  vmap_walk *w = l->w;
  wick_builder *b = w->b;
  uint32_t ncarried = l->n->nin - 1u, more = l->ends ? 1 : 0;
  wick_value *v = wick_new(b->mem, wick_value, l->y->nin + 1u);
  for (uint32_t k = 1; k < l->y->nin && !b->status; k++) {
    bool carried = k <= ncarried;
    wick_value own = l->y->in[k], *to = &v[carried ? k : k + more];
    bool rows = l->ends || w->rows[own.id] || (carried && w->rows[l->g->first.id + k]);
    *to = rows ? vmap_full(w, own) : w->to[own.id];
    if (l->ends)
      *to = flow_select(b, w->mask, *to, carried ? (wick_value){param.id + k} : expr_k(b, *to, 0));
  }
  v[0] = w->to[l->y->in[0].id];
  if (l->ends && !b->status) {
    v[1 + ncarried] = flow_goes_on(l, w->mask, param);
    v[0] = vmap_some(b, v[1 + ncarried]);
  }
  wick_yield(b, l->y->nin + more, v);
}

void vmap_loop(vmap_walk *w, const wick_node *n)
{
  wick_builder *b = w->b;
  flow_loop l = {.w = w, .n = n, .g = &n->region[0], .y = &w->f->node[n->region[0].end - 1]};
  uint32_t ncarried = n->nin - 1u, nparam = n->nin;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u), outer = w->mask, active = {0};
  wick_type *type = wick_new(b->mem, wick_type, n->nin + 1u);
  if (b->status) return;
  b->loc = vmap_place(w, n);
  l.ends = outer.id || w->rows[n->in[0].id] || w->rows[l.y->in[0].id];
  in[0] = l.ends ? flow_steps(&l, &active) : w->to[n->in[0].id];
  for (uint32_t k = 1; k <= ncarried; k++)
    in[k] = w->rows[l.g->first.id + k] ? vmap_full(w, n->in[k]) : w->to[n->in[k].id];
  if (l.ends) in[nparam++] = active;
  for (uint32_t k = 0; k < nparam && !b->status; k++)
    type[k] = k ? wick_built_type(b, in[k]) : wick_type_tensor(b->module, WICK_I64, 0, NULL);
  wick_build_open(b, WICK_OP_loop, nparam, in, n->attr, 0, NULL);
  wick_value param = wick_region_begin(b, nparam, type);
  for (uint32_t k = 0; k <= ncarried; k++) w->to[l.g->first.id + k] = (wick_value){param.id + k};
  if (l.ends) w->mask = (wick_value){param.id + 1 + ncarried};
  vmap_nodes(w, l.g->begin, l.g->end - 1);
  if (!b->status) flow_yield(&l, param);
  w->mask = outer;
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < n->nout && !b->status; k++) {
    bool stacked = k >= ncarried;
    wick_value v = {first.id + k + (stacked && l.ends)};
    /* rows come after the steps in stacked values */
    w->to[n->first.id + k] = stacked && w->rows[n->first.id + k] ? wick_batch_move(b, v, 1, 0) : v;
  }
}
