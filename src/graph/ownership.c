/* Values are owned if one of their uses ends a reference. This is found for all functions together,
 * until nothing changes. */
#include "graph/ownership.h"

#include "ir/call.h"
#include "runtime/heap.h"

static uint32_t ownership_find(const wick_ownership *o, const wick_func *f)
{
  uint32_t i = 0;
  while (i < o->n && o->func[i]->name != f->name) i++;
  return i;
}

bool wick_ownership_param(const wick_ownership *o, const wick_func *f, uint32_t k)
{
  uint32_t i = ownership_find(o, f);
  return i < o->n && o->owns[i][k + 1];
}

const wick_ctor *wick_switch_ctor(const wick_func *f, const wick_node *n, uint32_t r)
{
  return &wick_data_get(f->module, wick_type_of(f, n->in[0]))->ctor[r];
}

uint64_t wick_field_words(const wick_module *m, wick_type field)
{
  uint64_t nbytes;
  bool tensor = wick_type_get(m, field)->kind == WICK_TENSOR;
  return tensor && wick_type_nbytes((wick_module *)(uintptr_t)m, field, &nbytes)
             ? wick_max_u64(1, (nbytes + 7) / 8)
             : 1;
}

uint64_t wick_ctor_words(const wick_module *m, const wick_ctor *k)
{
  uint64_t words = 1;
  for (uint32_t i = 0; i < k->nfield; i++) words += wick_field_words(m, k->field[i]);
  return words;
}

bool wick_ownership_ends(const wick_ownership *o, const wick_func *f, const wick_node *n,
                         uint32_t k)
{
  const wick_func *g;
  switch (n->op) {
  case WICK_OP_call: g = wick_callee(f->module, n); return g && wick_ownership_param(o, g, k);
  case WICK_OP_ref_set: return k > 0;
  case WICK_OP_construct:
  case WICK_OP_ref_new:
  case WICK_OP_loop:
  case WICK_OP_yield:
  case WICK_OP_return:
  case WICK_OP_object_release:
  case WICK_OP_object_take: return true;
  default: return false;
  }
}

/* Returns whether a block of this class is made between two nodes. */
static bool ownership_makes(const wick_func *f, uint32_t begin, uint32_t end, uint32_t class)
{
  for (uint32_t i = begin; i < end; i++) {
    const wick_node *n = &f->node[i];
    if (n->op != WICK_OP_construct) continue;
    const wick_ctor *k = &wick_data_get(f->module, wick_type_of(f, n->first))
                              ->ctor[n->attr[WICK_ATTR_construct_ctor].i];
    if (k->nfield && wick_heap_class(wick_ctor_words(f->module, k)) == class) return true;
  }
  return false;
}

/* A switch takes its operand apart if a field is owned, or if its memory can be used again. */
static bool ownership_takes(const wick_func *f, const wick_node *n, const bool *owns)
{
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *g = &n->region[r];
    for (uint32_t k = 0; k < g->nparam; k++)
      if (owns[g->first.id + k]) return true;
    const wick_ctor *c = wick_switch_ctor(f, n, r);
    if (c->nfield &&
        ownership_makes(f, g->begin, g->end, wick_heap_class(wick_ctor_words(f->module, c))))
      return true;
  }
  return false;
}

/* Finds more values of function i that are owned. recurs: which functions call themselves. Returns
 * whether there were any. */
static bool ownership_step(wick_ownership *o, uint32_t i, const bool *recurs, wick_arena *mem)
{
  const wick_func *f = o->func[i];
  const uint32_t *definer = NULL;
  bool *owns = o->owns[i], more = false;
  for (uint32_t at = f->nnode; at-- > 0;) {
    const wick_node *n = &f->node[at];
    for (uint32_t k = 0; k < n->nin; k++) {
      uint32_t v = n->in[k].id;
      if (!wick_is_object(f, n->in[k]) || owns[v]) continue;
      bool ends = n->op == WICK_OP_switch ? ownership_takes(f, n, owns)
                  : n->op == WICK_OP_object_release || n->op == WICK_OP_object_take
                      ? false
                      : wick_ownership_ends(o, f, n, k);
      owns[v] = ends, more = more || ends;
    }
    /* A call at the end of a recursion stays one if nothing must be released after it. */
    const wick_func *g = wick_callee(f->module, n);
    uint32_t to = g ? ownership_find(o, g) : o->n;
    if (to == o->n || !recurs[i] || !recurs[to] || !wick_is_last(f, at)) continue;
    if (!definer) definer = wick_definers_of(f, mem);
    for (uint32_t k = 0; k < n->nin; k++) {
      bool made = wick_is_object(f, n->in[k]) && definer[n->in[k].id] != UINT32_MAX;
      if (!made || o->owns[to][k + 1]) continue;
      o->owns[to][k + 1] = more = true;
    }
  }
  return more;
}

/* What the entry passes on is owned by the function that it calls. Returns whether that is new. */
static bool ownership_entry(wick_ownership *o, uint32_t i)
{
  const wick_func *f = o->func[i];
  bool more = false;
  for (uint32_t at = 0; at < f->nnode && wick_func_is_entry(f); at++) {
    const wick_node *n = &f->node[at];
    const wick_func *g = wick_callee(f->module, n);
    uint32_t to = g ? ownership_find(o, g) : o->n;
    for (uint32_t k = 0; k < n->nin && to < o->n; k++) {
      if (!wick_is_object(f, n->in[k]) || n->in[k].id > f->nparam || o->owns[to][k + 1]) continue;
      o->owns[to][k + 1] = more = true;
    }
  }
  return more;
}

static bool ownership_has_objects(const wick_func *f)
{
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (wick_is_object(f, (wick_value){v})) return true;
  return false;
}

wick_ownership wick_ownership_of(const wick_module *m, wick_arena *mem)
{
  wick_list(const wick_func *) func = {0};
  for (uint32_t i = 0; i < m->funcs.n; i++)
    if (m->funcs.at[i]->level == WICK_GRAPH && ownership_has_objects(m->funcs.at[i]))
      wick_push(mem, &func, m->funcs.at[i]);
  wick_ownership o = {func.n, func.at, wick_new(mem, bool *, func.n + 1u)};
  bool *recurs = wick_new(mem, bool, func.n + 1u);
  for (uint32_t i = 0; i < o.n; i++) {
    o.owns[i] = wick_new(mem, bool, o.func[i]->nvalue + 1u);
    recurs[i] = wick_func_recurs(o.func[i], mem);
  }
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < o.n; i++) {
      more = ownership_entry(&o, i) || more;
      more = ownership_step(&o, i, recurs, mem) || more;
    }
  }
  return o;
}
