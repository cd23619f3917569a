/* Finds the accesses of a low function. One traversal resolves views and finds accesses;
 * union-find ties the roots that regions mix. Begin with wick_alias_of. */
#include "low/alias.h"

#include <string.h>

#include "ir/op.h"
#include "loop/schedule.h"

typedef struct alias_state {
  const wick_func *f;
  wick_arena *mem;
  wick_alias *out;
  uint32_t *definer, *parent, *tied;
  uint32_t *up; /* union-find over roots and opaque buffers; 0: a class of its own */
  const wick_schedule **schedule; /* per name in the module: the schedule, for groups with halos */
} alias_state;

static bool alias_is_buffer(const wick_func *f, wick_value v)
{
  return v.id && wick_info_of(f, v)->kind == WICK_BUFFER;
}

void wick_low_effect(const wick_func *f, const wick_node *n, uint32_t k, bool *out_reads,
                     bool *out_writes)
{
  *out_reads = *out_writes = false;
  if (!alias_is_buffer(f, n->in[k])) return;
  if (n->op == WICK_OP_copy) {
    *out_writes = k == 0, *out_reads = k == 1;
  } else if (n->op == WICK_OP_load || n->op == WICK_OP_store) {
    *out_writes = n->op == WICK_OP_store, *out_reads = !*out_writes;
  } else if (wick_op_of(n)->heap) {
    *out_writes = n->op == WICK_OP_object_get_tensor, *out_reads = !*out_writes;
  } else if (n->nregion && alias_is_buffer(f, n->in[0])) { /* loops on buffers carry no operands */
    *out_writes = n->op == WICK_OP_loop && k == 1, *out_reads = !*out_writes;
  } else if (n->op == WICK_OP_kernel || n->op == WICK_OP_call) {
    const wick_func *callee = wick_module_find(f->module, n->attr[WICK_ATTR_kernel_callee].s);
    bool staged = callee && callee->level == WICK_GROUP;
    bool said = callee && !staged && k < callee->nparam;
    uint32_t nwritten = staged ? wick_return(callee)->nin : 0;
    *out_writes = staged ? k < nwritten : !said || callee->qual[k] != WICK_IN;
    *out_reads = staged ? k >= nwritten : !said || callee->qual[k] != WICK_OUT;
  }
}

/* ---- classes ---- */

static uint32_t alias_class(alias_state *s, uint32_t v)
{
  while (s->up[v] && s->up[v] != v) v = s->up[v];
  return v;
}

static void alias_tie(alias_state *s, wick_value a, wick_value b)
{
  if (!alias_is_buffer(s->f, a) || !alias_is_buffer(s->f, b)) return;
  uint32_t x = alias_class(s, s->out->memref[a.id].root.id),
           y = alias_class(s, s->out->memref[b.id].root.id);
  s->up[x] = s->up[y] = x < y ? x : y;
}

/* Ties the buffers that pass through a node's regions: operands, parameters, yields and results. */
static void alias_tie_regions(alias_state *s, const wick_node *n)
{
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *g = &n->region[r];
    const wick_node *y = &s->f->node[g->end - 1];
    bool loop = n->op != WICK_OP_if;
    /* the first parameter is the index, the first operand the count */
    for (uint32_t k = 1; loop && k < g->nparam; k++) {
      wick_value p = {g->first.id + k};
      alias_tie(s, p, n->in[k]);
      alias_tie(s, p, y->in[k]);
    }
    for (uint32_t k = 0; k < n->nout; k++) {
      wick_value v = {n->first.id + k};
      alias_tie(s, v, y->in[k + loop]);
      if (loop) alias_tie(s, v, n->in[k + 1]);
    }
  }
}

/* ---- positions ---- */

static void alias_root(alias_state *s, wick_value v)
{
  if (alias_is_buffer(s->f, v))
    s->out->memref[v.id] = wick_memref_make(s->f->module, wick_type_of(s->f, v), v, 0, s->mem);
}

static void alias_opaque(alias_state *s, wick_value first, uint32_t n)
{
  for (uint32_t k = 0; k < n; k++) {
    wick_value v = {first.id + k};
    alias_root(s, v);
    if (!alias_is_buffer(s->f, v)) continue;
    s->out->memref[v.id].known = s->out->memref[v.id].dynamic = false;
    s->up[v.id] = v.id; /* it is in a class now, perhaps alone */
  }
}

static void alias_view(alias_state *s, const wick_node *n)
{
  const wick_memref *from = &s->out->memref[n->in[0].id];
  wick_elem e = wick_info_of(s->f, n->first)->elem;
  int64_t bits, offset = 0;
  bool known = wick_memref_resolved(from) &&
               !wick_mul_overflows(n->attr[WICK_ATTR_view_offset].i,
                                   (int64_t)wick_elem_storage[e].bits, &bits) &&
               bits % 8 == 0 && !wick_add_overflows(from->offset, bits / 8, &offset);
  wick_memref *p = &s->out->memref[n->first.id];
  *p = wick_memref_make(s->f->module, wick_type_of(s->f, n->first), from->root, offset, s->mem);
  wick_picked choice = wick_view_choice(n);
  bool one = from->choice.index.id == 0;
  if (!choice.index.id && one) {
    p->known = p->known && known;
    p->dynamic = p->dynamic && known;
    return;
  }
  bool part = !choice.index.id && from->dynamic; /* a part of a row, or all of it */
  if (part)
    p->dynamic = wick_memref_contiguous(p) && from->elem_bytes == p->elem_bytes && known;
  else
    p->dynamic = p->dynamic && known && one && !choice.step && !choice.reverse;
  if (p->dynamic) {
    p->known = false;
    p->choice = part ? from->choice : choice;
    p->row = part ? from->row : p->numel;
    return;
  }
  known = known && !part;
  int64_t all; /* a second choice, or a part of a chosen position */
  p->known = p->known && known &&
             (one || (!choice.index.id && from->elem_bytes == p->elem_bytes)) &&
             p->rank < WICK_MAX_RANK;
  p->choice = choice.index.id ? choice : from->choice;
  if (choice.index.id && !choice.step && p->known) p->choice.step = wick_memref_numel(p);
  if (wick_mul_overflows(p->choice.count, p->choice.step * p->elem_bytes, &all) ||
      all > INT64_MAX / 32)
    p->known = false;
  if (!p->known) p->choice = (wick_picked){.count = 1};
}

static void alias_places(alias_state *s)
{
  const wick_func *f = s->f;
  uint32_t *stack = wick_new(s->mem, uint32_t, f->nnode), depth = 0;
  for (uint32_t v = 1; v <= f->nparam; v++) alias_root(s, (wick_value){v});
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    while (depth && f->node[stack[depth - 1]].end <= i) depth--;
    s->parent[i] = depth ? stack[depth - 1] : UINT32_MAX;
    if (n->nregion) stack[depth++] = i;
    for (uint32_t r = 0; r < n->nregion; r++)
      alias_opaque(s, n->region[r].first, n->region[r].nparam);
    if (n->op == WICK_OP_view)
      alias_view(s, n);
    else if (n->nregion || n->op == WICK_OP_call)
      alias_opaque(s, n->first, n->nout);
    else
      for (uint32_t k = 0; k < n->nout; k++) alias_root(s, (wick_value){n->first.id + k});
  }
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_if || f->node[i].op == WICK_OP_loop)
      alias_tie_regions(s, &f->node[i]); /* other regions carry numbers */
}

/* ---- accesses ---- */

static void alias_access(alias_state *s, wick_access x)
{
  uint32_t root = s->out->memref[x.value.id].root.id;
  wick_push(s->mem, &s->out->access[s->tied[root] ? s->tied[root] : root], x);
}

/* Returns the schedule of a kernel's group, if it may have halos. */
static const wick_schedule *alias_schedule(alias_state *s, const wick_node *n)
{
  const wick_module *m = s->f->module;
  const wick_func *g =
      n->op == WICK_OP_kernel ? wick_module_find(m, n->attr[WICK_ATTR_kernel_callee].s) : NULL;
  if (!g || g->level != WICK_GROUP || !g->schedule || !strstr(g->schedule, "halo")) return NULL;
  uint32_t name = wick_names_find(&m->names, g->name, strlen(g->name));
  if (!s->schedule) s->schedule = wick_new(s->mem, const wick_schedule *, m->names.n);
  if (s->schedule[name]) return s->schedule[name];
  wick_schedule *schedule = wick_schedule_begin(g, s->mem);
  wick_status bad = wick_schedule_apply(schedule, g->schedule);
  /* the pass that builds its loops reports the error */
  return s->schedule[name] = bad ? NULL : schedule;
}

static void alias_halo(alias_state *s, const wick_schedule *schedule, wick_access *x)
{
  uint32_t nout = wick_return(schedule->group)->nin;
  if (x->operand < nout || x->operand - nout >= schedule->group->nparam) return;
  const wick_memref *p = &s->out->memref[x->value.id];
  const wick_halo *h = &schedule->halo[x->operand - nout];
  if (!p->known) return; /* it overlaps all of its root anyway */
  int64_t *dim = wick_dup(s->mem, int64_t, p->dim, p->rank);
  bool any = false;
  for (uint32_t k = 0; k < p->rank; k++) {
    any = any || h->lo[k] || h->hi[k];
    dim[k] += h->lo[k] + h->hi[k];
  }
  if (any) x->halo = h->lo, x->dim = dim;
}

static void alias_accesses(alias_state *s)
{
  const wick_func *f = s->f;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op == WICK_OP_view) continue;
    const wick_schedule *schedule = alias_schedule(s, n);
    for (uint32_t k = 0; k < n->nin; k++) {
      if (!alias_is_buffer(f, n->in[k])) continue;
      wick_access x = {.node = i, .operand = k, .value = n->in[k]};
      wick_low_effect(f, n, k, &x.reads, &x.writes);
      if (schedule) alias_halo(s, schedule, &x);
      alias_access(s, x);
    }
  }
}

wick_alias wick_alias_of(const wick_func *f, wick_arena *mem)
{
  wick_alias a = {.f = f};
  alias_state s = {.f = f, .mem = mem, .out = &a};
  a.memref = wick_new(mem, wick_memref, f->nvalue + 1);
  a.access = wick_new(mem, wick_access_list, f->nvalue + 1);
  a.definer = wick_definers_of(f, mem);
  a.parent = s.parent = wick_new(mem, uint32_t, f->nnode);
  a.tied = s.tied = wick_new(mem, uint32_t, f->nvalue + 1);
  s.up = wick_new(mem, uint32_t, f->nvalue + 1);
  alias_places(&s);
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (a.memref[v].root.id == v && s.up[v]) s.tied[v] = alias_class(&s, v);
  alias_accesses(&s);
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (s.tied[v]) a.access[v] = a.access[s.tied[v]];
  return a;
}

wick_memref wick_access_memref(const wick_alias *a, const wick_access *x)
{
  wick_memref p = a->memref[x->value.id];
  if (!x->halo) return p;
  p.dim = x->dim;
  for (uint32_t k = 0; k < p.rank; k++) p.offset -= x->halo[k] * p.stride[k] * p.elem_bytes;
  p.known = p.known && p.offset >= 0;
  return p;
}

/* ---- lifetimes ---- */

bool wick_alias_repeats(const wick_alias *a, uint32_t i, uint32_t outer, wick_interval *out)
{
  bool found = false;
  *out = (wick_interval){i, i};
  for (uint32_t p = a->parent[i]; p != UINT32_MAX && p != outer; p = a->parent[p])
    if (a->f->node[p].op != WICK_OP_if)
      *out = (wick_interval){p, a->f->node[p].end - 1}, found = true;
  return found;
}

uint32_t wick_alias_scope(const wick_alias *a, wick_value root)
{
  return a->definer[root.id] == UINT32_MAX ? UINT32_MAX : a->parent[a->definer[root.id]];
}

bool wick_alias_planned(const wick_func *f, const uint32_t *definer, wick_value root)
{
  uint32_t d = definer[root.id];
  return d != UINT32_MAX && f->node[d].op == WICK_OP_alloc &&
         wick_info_of(f, root)->space == WICK_ARENA;
}

static void alias_widen(wick_interval *all, wick_interval x, bool *any)
{
  if (!*any || x.first < all->first) all->first = x.first;
  if (!*any || x.last > all->last) all->last = x.last;
  *any = true;
}

bool wick_alias_live(const wick_alias *a, wick_value root, wick_interval *out)
{
  bool any = false;
  uint32_t scope = wick_alias_scope(a, root);
  const wick_access_list *list = &a->access[root.id];
  for (uint32_t i = 0; i < list->n; i++) {
    wick_interval x;
    uint32_t node = list->at[i].node;
    /* Members of a tied class may be defined further out, or carried. Their lives are therefore
     * those in the whole function. */
    wick_alias_repeats(a, node, a->tied[root.id] ? UINT32_MAX : scope, &x);
    alias_widen(out, x, &any);
    const wick_node *n = &a->f->node[node];
    if (n->nregion) alias_widen(out, (wick_interval){node, n->end - 1}, &any);
  }
  return any;
}
