/* Inlines in rounds, because a called function may call others. */
#include "graph/inline.h"

#include <string.h>

#include "ir/call.h"
#include "ir/copy.h"

enum {
  /* limit on nodes: functions that call each other twice double in each round */
  INLINE_MOST = 1 << 20,
  INLINE_CYCLE = 128 /* most nodes of functions that are merged because they call each other */
};

/* The entry of a module keeps its name; if it is recursive, the function that its calls run has
 * another one. */
static const char inline_again[] = "main.again";

/* Returns whether values of f are objects: the entry, whose values are in memory, calls such
 * functions. */
static bool inline_has_objects(const wick_func *f)
{
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (wick_kind_is_object(wick_info_of(f, (wick_value){v})->kind)) return true;
  return false;
}

/* Returns the graph whose nodes replace n; NULL if n is no call, or stays one. */
static const wick_func *inline_callee(const wick_func *f, const wick_node *n, wick_arena *mem)
{
  const wick_func *g = wick_callee(f->module, n);
  if (!g || (inline_has_objects(g) && !inline_has_objects(f))) return NULL;
  if (!wick_func_stays(g, mem)) return g;
  if (wick_func_is_entry(g) && !wick_func_recurs(g, mem)) return g;
  bool merges =
      g->nnode <= INLINE_CYCLE && f->nnode <= INLINE_CYCLE && wick_func_recurs_through(f, g, mem);
  return merges ? g : NULL;
}

static bool inline_names(const wick_func *f, const wick_func *g)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (wick_node_names(&f->node[i], g)) return true;
  return false;
}

static bool inline_any(const wick_func *f, wick_arena *mem)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (inline_callee(f, &f->node[i], mem)) return true;
  return false;
}

static void inline_call_again(wick_copier *c, const wick_node *n, wick_arena *mem)
{
  wick_node *again = wick_dup(mem, wick_node, n, 1);
  wick_attr callee = {.s = wick_intern(c->f->module, inline_again)};
  again->attr = wick_dup(&c->f->module->mem, wick_attr, &callee, 1);
  wick_copy_node(c, again);
}

static void inline_call(wick_copier *c, const wick_func *f, const wick_node *n, wick_arena *mem)
{
  const wick_func *g = wick_callee(f->module, n);
  wick_value *in = wick_new(mem, wick_value, n->nin + 1u);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = c->to[n->in[k].id];
  c->b.loc = n->loc;
  wick_build_body(&c->b, g, n, in, &c->to[n->first.id]);
  for (uint32_t k = 0; k < n->nout && !c->b.status; k++) {
    const wick_value_info *old = &f->value[n->first.id + k];
    wick_build_name(&c->b, c->to[n->first.id + k], old->name, old->relation);
  }
}

static wick_status inline_once(const wick_func *f, wick_arena *mem, wick_func **out)
{
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (inline_callee(f, n, mem) && !c.b.status)
      inline_call(&c, f, n, mem);
    else
      wick_copy_node(&c, n);
    if (c.b.nodes.n > INLINE_MOST)
      wick_build_fail(&c.b, WICK_ELIMIT,
                      "together with the functions that it calls it has more than %d nodes",
                      INLINE_MOST);
  }
  return wick_copy_finish(&c, out);
}

/* Removes the functions that only f called, and those that they called. `now` is f's new version. */
static void inline_drop(const wick_func *f, const wick_func *of, const wick_func *now)
{
  wick_module *m = f->module;
  for (uint32_t i = 0; i < of->nnode; i++) {
    const char *name = wick_named_func(&of->node[i], 0);
    const wick_func *g = name ? wick_module_find(m, name) : NULL;
    bool called = g && (g == f || wick_func_is_entry(g) || inline_names(now, g));
    for (uint32_t k = 0; g && k < m->funcs.n && !called; k++)
      called = m->funcs.at[k] != f && m->funcs.at[k] != g && inline_names(m->funcs.at[k], g);
    if (!g || called) continue;
    wick_module_remove(m, g->name);
    inline_drop(f, g, now);
  }
}

/* Renames the calls of the entry in f; those of a recursive one run a function of another name. */
static wick_status inline_rename(const wick_func *f, const char *name, wick_arena *mem,
                                 wick_func **out)
{
  wick_copier c = wick_copy_begin(f, mem);
  c.b.name = name;
  for (uint32_t i = 0; i < f->nnode; i++)
    if (wick_func_is_entry(wick_callee(f->module, &f->node[i])))
      inline_call_again(&c, &f->node[i], mem);
    else
      wick_copy_node(&c, &f->node[i]);
  return wick_copy_finish(&c, out);
}

/* Returns whether what the entry computes becomes a function that it calls: it is recursive, or has
 * objects. */
static bool inline_splits(const wick_func *entry, wick_arena *mem)
{
  return wick_func_recurs(entry, mem) || inline_has_objects(entry);
}

/* Gives the entry f another name, and builds an entry that calls it. */
static wick_status inline_split(const wick_func *f, wick_arena *mem, wick_func **out)
{
  wick_copier entry = wick_copy_begin(f, mem);
  const char *name = wick_intern(f->module, inline_again);
  WICK_TRY(inline_rename(f, name, mem, out));
  wick_module_set(f->module, *out);
  const wick_node *r = wick_return(f);
  wick_type *type = wick_new(mem, wick_type, r->nin + 1u);
  wick_value *result = wick_new(mem, wick_value, r->nin + 1u);
  for (uint32_t k = 0; k < r->nin; k++) type[k] = wick_type_of(f, r->in[k]);
  wick_attr callee = {.s = name};
  entry.b.loc = r->loc;
  wick_value v = wick_build(&entry.b, WICK_OP_call, f->nparam, entry.to + 1, &callee, r->nin, type);
  for (uint32_t k = 0; k < r->nin && !entry.b.status; k++) {
    const wick_value_info *old = &f->value[r->in[k].id];
    result[k] = (wick_value){v.id + k};
    wick_build_name(&entry.b, result[k], old->name, old->relation);
  }
  wick_build_return(&entry.b, r->nin, result);
  return wick_copy_finish(&entry, out);
}

wick_status wick_pass_inline(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *mem = pass->mem;
  wick_func *r;
  WICK_TRY(inline_once(f, mem, &r)); /* at least a copy: passes return new functions */
  while (inline_any(r, mem)) WICK_TRY(inline_once(r, mem, &r));
  const wick_func *entry = wick_module_find(f->module, wick_entry_name);
  bool again = entry && (inline_splits(entry, mem) || wick_module_find(f->module, inline_again));
  inline_drop(f, f, r);
  if (again && wick_func_is_entry(f)) return inline_split(r, mem, out);
  if (again) return inline_rename(r, f->name, mem, out);
  *out = r;
  return NULL;
}
