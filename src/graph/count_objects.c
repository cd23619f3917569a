/* First a walk over the regions finds what to do before each node; then the function is copied. */
#include "graph/count_objects.h"

#include "graph/ownership.h"
#include "ir/copy.h"
#include "runtime/heap.h"

enum { COUNT_RETAIN, COUNT_RELEASE, COUNT_TAKE, COUNT_FREE };

typedef struct count_action {
  uint32_t kind, value, next; /* next: the one after it before the same node, or 0 */
} count_action;

typedef struct counts {
  const wick_func *f;
  wick_ownership o;
  wick_arena *tmp;
  wick_uses uses;
  bool *own;                      /* per value: the region that is walked owns a reference */
  wick_list(uint32_t) owned;      /* the values that are owned in a region around, or were */
  wick_list(count_action) action; /* at[0] is unused */
  uint32_t *first, *last;         /* per node: its actions */
  uint32_t *reuse;                /* per node: the value whose memory it reuses, or 0 */
} counts;

static void count_add(counts *c, uint32_t node, uint32_t kind, uint32_t value)
{
  uint32_t id = c->action.n;
  wick_push(c->tmp, &c->action, ((count_action){kind, value, 0}));
  if (c->first[node])
    c->action.at[c->last[node]].next = id;
  else
    c->first[node] = id;
  c->last[node] = id;
}

/* Returns whether one of the nodes begin .. end-1 uses v. */
static bool count_used(const counts *c, uint32_t v, uint32_t begin, uint32_t end)
{
  for (uint32_t u = c->uses.first[v]; u < c->uses.first[v + 1]; u++)
    if (c->uses.use[u] >= begin && c->uses.use[u] < end) return true;
  return false;
}

static void count_own(counts *c, uint32_t v)
{
  c->own[v] = true;
  wick_push(c->tmp, &c->owned, v);
}

/* ---- memory that is used again ---- */

static uint32_t count_class(const counts *c, const wick_ctor *k)
{
  return wick_heap_class(wick_ctor_words(c->f->module, k));
}

/* Returns whether node n constructs a block of this class in new memory. */
static bool count_fits(const counts *c, uint32_t i, uint32_t class)
{
  const wick_node *n = &c->f->node[i];
  if (n->op != WICK_OP_construct || c->reuse[i]) return false;
  const wick_ctor *k = &wick_data_get(c->f->module, wick_type_of(c->f, n->first))
                            ->ctor[n->attr[WICK_ATTR_construct_ctor].i];
  return k->nfield && count_class(c, k) == class;
}

static bool count_fits_within(const counts *c, uint32_t begin, uint32_t end, uint32_t class)
{
  for (uint32_t i = begin; i < end; i++)
    if (c->f->node[i].op == WICK_OP_loop)
      i = c->f->node[i].end - 1;
    else if (count_fits(c, i, class))
      return true;
  return false;
}

/* Gives v's memory to a block on each way through the nodes begin .. end-1, or frees it. */
static void count_place(counts *c, uint32_t v, uint32_t begin, uint32_t end, uint32_t class)
{
  for (uint32_t i = begin; i < end; i = c->f->node[i].end) {
    const wick_node *n = &c->f->node[i];
    if (count_fits(c, i, class)) {
      c->reuse[i] = v;
      return;
    }
    if (!n->nregion || n->op == WICK_OP_loop || !count_fits_within(c, i, n->end, class)) continue;
    for (uint32_t r = 0; r < n->nregion; r++)
      count_place(c, v, n->region[r].begin, n->region[r].end, class);
    return;
  }
  count_add(c, begin, COUNT_FREE, v);
}

/* ---- regions ---- */

static void count_region(counts *c, uint32_t begin, uint32_t end);

/* Owns a field, if it is used. */
static void count_field(counts *c, const wick_region *g, uint32_t k)
{
  uint32_t v = g->first.id + k;
  if (!wick_is_object(c->f, (wick_value){v})) return;
  if (count_used(c, v, g->begin, g->end)) count_own(c, v);
}

/* Begins a region of a `switch` that owns its operand v. */
static void count_take(counts *c, const wick_region *g, const wick_ctor *k, uint32_t v)
{
  const wick_func *f = c->f;
  bool fields = false, used = count_used(c, v, g->begin, g->end);
  uint32_t class = count_class(c, k);
  for (uint32_t i = 0; i < g->nparam; i++) {
    wick_value field = {g->first.id + i};
    bool object = wick_is_object(f, field) && count_used(c, field.id, g->begin, g->end);
    fields = fields || object;
    if (object && used) count_add(c, g->begin, COUNT_RETAIN, field.id);
  }
  c->own[v] = used;
  if (used || !k->nfield) {
    for (uint32_t i = 0; i < g->nparam; i++) count_field(c, g, i);
    return;
  }
  bool fits = count_fits_within(c, g->begin, g->end, class);
  if (!fields && !fits) {
    count_add(c, g->begin, COUNT_RELEASE, v);
    return;
  }
  count_add(c, g->begin, COUNT_TAKE, v);
  for (uint32_t i = 0; i < g->nparam; i++) {
    wick_value field = {g->first.id + i};
    count_field(c, g, i);
    if (wick_is_object(f, field) && !c->own[field.id])
      count_add(c, g->begin, COUNT_RELEASE, field.id);
  }
  if (fits)
    count_place(c, v, g->begin, g->end, class);
  else
    count_add(c, g->begin, COUNT_FREE, v);
}

/* Begins region r of n, which owns the n values v. */
static void count_enter(counts *c, const wick_node *n, uint32_t r, uint32_t nv, const uint32_t *v)
{
  const wick_region *g = &n->region[r];
  for (uint32_t i = 0; i < nv; i++) {
    c->own[v[i]] = true;
    if (n->op == WICK_OP_switch && v[i] == n->in[0].id) {
      count_take(c, g, wick_switch_ctor(c->f, n, r), v[i]);
    } else if (!count_used(c, v[i], g->begin, g->end)) {
      count_add(c, g->begin, COUNT_RELEASE, v[i]);
      c->own[v[i]] = false;
    }
  }
  for (uint32_t k = 0; n->op == WICK_OP_loop && k < g->nparam; k++) {
    wick_value p = {g->first.id + k};
    if (!wick_is_object(c->f, p)) continue;
    if (count_used(c, p.id, g->begin, g->end))
      count_own(c, p.id);
    else
      count_add(c, g->begin, COUNT_RELEASE, p.id);
  }
}

/* Walks the regions of n, which is in a region that ends at `end`. Values that die in n belong to its
 * regions; those that live on are only looked at in them. */
static void count_regions(counts *c, const wick_node *n, uint32_t end)
{
  uint32_t i = (uint32_t)(n - c->f->node), nv = 0, nkept = 0, nowned = c->owned.n;
  uint32_t *dies = wick_new(c->tmp, uint32_t, nowned + 1u),
           *kept = wick_new(c->tmp, uint32_t, nowned + 1u);
  for (uint32_t k = 0; k < nowned; k++) {
    uint32_t v = c->owned.at[k];
    if (!c->own[v]) continue;
    c->own[v] = false;
    if (n->op != WICK_OP_loop && count_used(c, v, i, n->end) && !count_used(c, v, n->end, end))
      dies[nv++] = v;
    else
      kept[nkept++] = v;
  }
  for (uint32_t r = 0; r < n->nregion; r++) {
    count_enter(c, n, r, nv, dies);
    count_region(c, n->region[r].begin, n->region[r].end);
    c->owned.n = nowned;
  }
  for (uint32_t k = 0; k < nkept; k++) c->own[kept[k]] = true;
}

/* ---- nodes ---- */

/* Returns whether operand k of n is the last use of a reference that the region owns. */
static bool count_moves(const counts *c, const wick_node *n, uint32_t k, uint32_t end)
{
  uint32_t v = n->in[k].id;
  if (!c->own[v] || count_used(c, v, (uint32_t)(n - c->f->node) + 1, end)) return false;
  for (uint32_t j = 0; j < n->nin; j++)
    if (n->in[j].id == v && (j > k || !wick_ownership_ends(&c->o, c->f, n, j))) return false;
  return true;
}

static void count_operands(counts *c, const wick_node *n, uint32_t end)
{
  uint32_t i = (uint32_t)(n - c->f->node);
  for (uint32_t k = 0; k < n->nin; k++) {
    if (!wick_is_object(c->f, n->in[k]) || !wick_ownership_ends(&c->o, c->f, n, k)) continue;
    if (count_moves(c, n, k, end))
      c->own[n->in[k].id] = false;
    else
      count_add(c, i, COUNT_RETAIN, n->in[k].id);
  }
}

/* Releases what n, or its regions, used last. */
static void count_after(counts *c, const wick_node *n, uint32_t end)
{
  uint32_t i = (uint32_t)(n - c->f->node);
  for (uint32_t k = c->owned.n; k-- > 0 && n->end < end;) {
    uint32_t v = c->owned.at[k];
    if (!c->own[v] || !count_used(c, v, i, n->end) || count_used(c, v, n->end, end)) continue;
    count_add(c, n->end, COUNT_RELEASE, v);
    c->own[v] = false;
  }
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    if (!wick_is_object(c->f, v)) continue;
    if (count_used(c, v.id, n->end, end))
      count_own(c, v.id);
    else
      count_add(c, n->end, COUNT_RELEASE, v.id);
  }
}

static void count_region(counts *c, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i = c->f->node[i].end) {
    const wick_node *n = &c->f->node[i];
    count_operands(c, n, end);
    if (n->nregion) count_regions(c, n, end);
    count_after(c, n, end);
  }
}

/* ---- the new function ---- */

static void count_build(wick_copier *p, const count_action *a, wick_value *memory)
{
  wick_builder *b = &p->b;
  wick_value v = p->to[a->value];
  switch (a->kind) {
  case COUNT_RETAIN: wick_build(b, WICK_OP_object_retain, 1, &v, NULL, 0, NULL); break;
  case COUNT_RELEASE: wick_build(b, WICK_OP_object_release, 1, &v, NULL, 0, NULL); break;
  case COUNT_TAKE:
    memory[a->value] = wick_build(b, WICK_OP_object_take, 1, &v, NULL, 0, NULL);
    break;
  default: wick_build(b, WICK_OP_object_free, 1, &memory[a->value], NULL, 0, NULL); break;
  }
}

static void count_reuse(wick_copier *p, const counts *c, const wick_node *n, wick_value memory)
{
  wick_value *in = wick_new(c->tmp, wick_value, n->nin + 1u);
  wick_attr attr[] = {[WICK_ATTR_construct_ctor] = n->attr[WICK_ATTR_construct_ctor],
                      [WICK_ATTR_construct_reuse] = {.i = 1}};
  wick_type type = wick_type_of(c->f, n->first);
  in[0] = memory;
  for (uint32_t k = 0; k < n->nin; k++) in[1 + k] = p->to[n->in[k].id];
  p->b.loc = n->loc;
  p->to[n->first.id] = wick_build(&p->b, WICK_OP_construct, n->nin + 1u, in, attr, 1, &type);
}

wick_status wick_pass_count_objects(const wick_pass_context *pass, const wick_func *f,
                                    wick_func **out)
{
  wick_arena *tmp = pass->tmp;
  bool any = false;
  *out = (wick_func *)(uintptr_t)f;
  for (uint32_t v = 1; v <= f->nvalue; v++) any = any || wick_is_object(f, (wick_value){v});
  if (!any) return NULL;
  counts c = {.f = f, .tmp = tmp, .o = wick_ownership_of(f->module, tmp)};
  c.uses = wick_uses_of(f, tmp);
  c.own = wick_new(tmp, bool, f->nvalue + 1u);
  c.first = wick_new(tmp, uint32_t, f->nnode + 1u);
  c.last = wick_new(tmp, uint32_t, f->nnode + 1u);
  c.reuse = wick_new(tmp, uint32_t, f->nnode + 1u);
  wick_push(tmp, &c.action, (count_action){0});
  for (uint32_t k = 0; k < f->nparam; k++) {
    if (!wick_is_object(f, (wick_value){k + 1}) || !wick_ownership_param(&c.o, f, k)) continue;
    if (count_used(&c, k + 1, 0, f->nnode))
      count_own(&c, k + 1);
    else
      count_add(&c, 0, COUNT_RELEASE, k + 1);
  }
  count_region(&c, 0, f->nnode);
  wick_value *memory = wick_new(tmp, wick_value, f->nvalue + 1u);
  wick_copier p = wick_copy_begin(f, pass->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    p.b.loc = n->loc;
    for (uint32_t a = c.first[i]; a; a = c.action.at[a].next)
      count_build(&p, &c.action.at[a], memory);
    if (c.reuse[i])
      count_reuse(&p, &c, n, memory[c.reuse[i]]);
    else
      wick_copy_node(&p, n);
  }
  return wick_copy_finish(&p, out);
}
