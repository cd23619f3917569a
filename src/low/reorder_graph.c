/* Finds dependences through memory: an instruction depends on those that wrote the bytes that it
 * touches, and on those that touched the bytes that it writes. */
#include "low/reorder_graph.h"

#include <stdlib.h>

#include "ir/call.h"
#include "ir/op.h"

enum { ORDER_PAIRS = 1 << 26 }; /* limit on compared pairs of accesses of one root, in total */

struct order_edge {
  uint32_t from, to; /* steps */
};

typedef struct order_build {
  const wick_func *f;
  wick_alias a;
  wick_reorder_graph *g;
  uint32_t *step_of; /* per node; UINT32_MAX: none */
  wick_list(struct order_edge) edges;
  wick_arena *mem;
} order_build;

static bool order_moves(const wick_node *n)
{
  return n->nregion || wick_op_of(n)->effect == WICK_EFFECT || n->op == WICK_OP_call;
}

static void order_steps(order_build *b)
{
  const wick_func *f = b->f;
  b->step_of = wick_new(b->mem, uint32_t, f->nnode);
  b->g->step = wick_new(b->mem, wick_order_step, f->nnode);
  for (uint32_t i = 0; i < f->nnode; i++) b->step_of[i] = UINT32_MAX;
  for (uint32_t i = 0; i < f->nnode; i = f->node[i].end) {
    if (!order_moves(&f->node[i])) continue;
    for (uint32_t k = i; k < f->node[i].end; k++) b->step_of[k] = b->g->nstep;
    b->g->step[b->g->nstep++] = (wick_order_step){.node = i};
  }
}

static void order_edge(order_build *b, uint32_t from, uint32_t to)
{
  wick_push(b->mem, &b->edges, (struct order_edge){from, to});
}

/* An access, and the range of bytes of its root that it covers. */
typedef struct order_reach {
  uint32_t access;
  bool pure; /* it only reads */
  int64_t begin, end;
  wick_memref memref;
} order_reach;

static int order_reach_compare(const void *a, const void *b)
{
  const order_reach *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->access > y->access) - (x->access < y->access);
}

/* By the later step; for the same one, the nearest earlier step first. */
static int order_edge_compare(const void *a, const void *b)
{
  const struct order_edge *x = a, *y = b;
  if (x->to != y->to) return x->to < y->to ? -1 : 1;
  return (x->from < y->from) - (x->from > y->from);
}

static order_reach *order_reaches(const order_build *b, const wick_access_list *list, bool *written)
{
  order_reach *r = wick_new(b->mem, order_reach, list->n);
  *written = false;
  for (uint32_t i = 0; i < list->n; i++) {
    const wick_access *x = &list->at[i];
    wick_memref p = wick_access_memref(&b->a, x);
    r[i] = (order_reach){i, x->reads && !x->writes, INT64_MIN, INT64_MAX, p};
    if (p.known) r[i].begin = p.offset, r[i].end = wick_memref_end(&p);
    *written = *written || x->writes || !x->reads;
  }
  qsort(r, list->n, sizeof *r, order_reach_compare);
  return r;
}

/* Makes each access depend on the one before it. */
static void order_chain(order_build *b, const wick_access_list *list)
{
  for (uint32_t i = 1; i < list->n; i++) {
    uint32_t from = b->step_of[list->at[i - 1].node], to = b->step_of[list->at[i].node];
    if (from != to) order_edge(b, from, to);
  }
}

/* Finds the pairs of accesses of one root that overlap. In the order of their beginnings, each
 * one is compared with those that end after its beginning. If there are too many pairs in total,
 * the accesses become a chain. */
static void order_root_edges(order_build *b, uint32_t root, uint64_t *npair)
{
  const wick_access_list *list = &b->a.access[root];
  bool written;
  order_reach *r = order_reaches(b, list, &written);
  uint32_t first = b->edges.n, *open = wick_new(b->mem, uint32_t, list->n), nopen = 0;
  for (uint32_t i = 0; i < list->n && written && *npair < ORDER_PAIRS; i++) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < nopen; k++) {
      const order_reach *x = &r[open[k]];
      if (x->end <= r[i].begin) continue;
      open[kept++] = open[k];
      ++*npair;
      uint32_t s = b->step_of[list->at[x->access].node], t = b->step_of[list->at[r[i].access].node];
      if (s == t || (x->pure && r[i].pure) || wick_memref_disjoint(&x->memref, &r[i].memref))
        continue;
      order_edge(b, s < t ? s : t, s < t ? t : s);
    }
    nopen = kept;
    open[nopen++] = i;
  }
  if (*npair >= ORDER_PAIRS) {
    b->edges.n = first;
    if (written) order_chain(b, list);
  } else if (b->edges.n > first) {
    qsort(b->edges.at + first, b->edges.n - first, sizeof *b->edges.at, order_edge_compare);
  }
}

/* Adds edges for operands that are not buffers but results of steps. */
static void order_value_edges(order_build *b)
{
  const wick_func *f = b->f;
  for (uint32_t i = 0; i < f->nnode; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++) {
      uint32_t d = b->a.definer[f->node[i].in[k].id];
      if (d == UINT32_MAX || b->step_of[d] == UINT32_MAX || b->step_of[i] == UINT32_MAX) continue;
      if (b->step_of[d] != b->step_of[i]) order_edge(b, b->step_of[d], b->step_of[i]);
    }
}

/* Keeps what prints or asserts in order, among what may fail, too. */
static void order_says(order_build *b)
{
  const wick_func *f = b->f;
  uint32_t last = UINT32_MAX;
  if (!wick_module_says(f->module)) return;
  for (uint32_t i = 0; i < f->nnode; i++) {
    uint32_t step = b->step_of[i];
    if (step == UINT32_MAX || step == last || !wick_kernel_fails(f, &f->node[i], b->mem)) continue;
    if (last != UINT32_MAX) order_edge(b, last, step);
    last = step;
  }
}

/* Groups the edges by one end: first[k] .. first[k + 1] - 1 of the result are the other ends for
 * step k. */
static const uint32_t *order_by(order_build *b, bool by_from, uint32_t **out_first)
{
  uint32_t n = b->edges.n, nstep = b->g->nstep, *first = wick_new(b->mem, uint32_t, nstep + 2);
  uint32_t *all = wick_new(b->mem, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) first[(by_from ? b->edges.at[i].from : b->edges.at[i].to) + 2]++;
  for (uint32_t i = 2; i < nstep + 2; i++) first[i] += first[i - 1];
  for (uint32_t i = 0; i < n; i++) {
    struct order_edge e = b->edges.at[i];
    all[first[(by_from ? e.from : e.to) + 1]++] = by_from ? e.to : e.from;
  }
  *out_first = first;
  return all;
}

static void order_lists(order_build *b)
{
  uint32_t *from, *to;
  const uint32_t *after = order_by(b, true, &from), *before = order_by(b, false, &to);
  for (uint32_t i = 0; i < b->g->nstep; i++) {
    wick_order_step *s = &b->g->step[i];
    s->after = after + from[i], s->nafter = from[i + 1] - from[i];
    s->before = before + to[i], s->nbefore = to[i + 1] - to[i];
  }
}

/* Finds the steps that need a root, each once. */
static void order_root(order_build *b, uint32_t root)
{
  wick_reorder_graph *g = b->g;
  const wick_access_list *list = &b->a.access[root];
  wick_order_root *r = &g->root[g->nroot++];
  uint32_t *user = wick_new(b->mem, uint32_t, list->n);
  *r = (wick_order_root){.user = user};
  r->nbytes = wick_type_typical_nbytes(b->f->module, b->f->value[root].type);
  for (uint32_t k = 0; k < list->n; k++) {
    uint32_t s = b->step_of[list->at[k].node];
    if (!r->nuser || user[r->nuser - 1] != s) user[r->nuser++] = s;
  }
}

/* Lists the arena's roots and the steps that need them. Tied roots are always in use and are not
 * counted. */
static void order_roots(order_build *b)
{
  const wick_func *f = b->f;
  wick_reorder_graph *g = b->g;
  g->root = wick_new(b->mem, wick_order_root, f->nvalue + 1);
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (b->a.memref[v].root.id == v && !b->a.tied[v] &&
        wick_alias_planned(f, b->a.definer, (wick_value){v}) &&
        wick_alias_scope(&b->a, (wick_value){v}) == UINT32_MAX)
      order_root(b, v);
  for (uint32_t r = 0; r < g->nroot; r++)
    for (uint32_t k = 0; k < g->root[r].nuser; k++) g->step[g->root[r].user[k]].nneeds++;
  for (uint32_t i = 0; i < g->nstep; i++) {
    g->step[i].needs = wick_new(b->mem, uint32_t, g->step[i].nneeds);
    g->step[i].nneeds = 0;
  }
  for (uint32_t r = 0; r < g->nroot; r++)
    for (uint32_t k = 0; k < g->root[r].nuser; k++) {
      wick_order_step *s = &g->step[g->root[r].user[k]];
      s->needs[s->nneeds++] = r;
    }
}

wick_reorder_graph wick_reorder_graph_of(const wick_func *f, wick_arena *mem)
{
  wick_reorder_graph g = {0};
  order_build b = {.f = f, .a = wick_alias_of(f, mem), .g = &g, .mem = mem};
  uint64_t npair = 0;
  order_steps(&b);
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (b.a.memref[v].root.id == v && (!b.a.tied[v] || b.a.tied[v] == v))
      order_root_edges(&b, v, &npair);
  order_value_edges(&b);
  order_says(&b);
  order_lists(&b);
  order_roots(&b);
  return g;
}
