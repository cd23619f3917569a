/* Inlines in rounds, because a called function may call others. */
#include "graph/inline.h"

#include "ir/call.h"
#include "ir/copy.h"

enum {
  INLINE_MOST = 1 << 20
}; /* limit on nodes: functions that call each other twice double in each round */

static bool inline_any(const wick_func *f, const wick_func *callee)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_func *g = wick_callee(f->module, &f->node[i]);
    if (g && (!callee || g == callee)) return true;
  }
  return false;
}

static wick_status inline_once(const wick_func *f, wick_arena *mem, wick_func **out)
{
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!wick_callee(f->module, n) || c.b.status) {
      wick_copy_node(&c, n);
      continue;
    }
    wick_value *in = wick_new(mem, wick_value, n->nin + 1u);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = c.to[n->in[k].id];
    c.b.loc = n->loc;
    wick_build_inlined_call(&c.b, n, in, &c.to[n->first.id]);
    for (uint32_t k = 0; k < n->nout && !c.b.status; k++) {
      const wick_value_info *old = &f->value[n->first.id + k];
      wick_build_name(&c.b, c.to[n->first.id + k], old->name, old->relation);
    }
    if (c.b.nodes.n > INLINE_MOST)
      wick_build_fail(&c.b, WICK_ELIMIT,
                      "together with the functions that it calls it has more than %d nodes",
                      INLINE_MOST);
  }
  return wick_copy_finish(&c, out);
}

/* Removes the functions that only f called, and those that they called. */
static void inline_drop(const wick_func *f)
{
  wick_module *m = f->module;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_func *g = wick_callee(m, &f->node[i]);
    bool called = false;
    for (uint32_t k = 0; g && k < m->funcs.n && !called; k++)
      called = m->funcs.at[k] != f && m->funcs.at[k] != g && inline_any(m->funcs.at[k], g);
    if (!g || called) continue;
    wick_module_remove(m, g->name);
    inline_drop(g);
  }
}

wick_status wick_pass_inline(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *mem = pass->mem;
  wick_func *r;
  WICK_TRY(inline_once(f, mem, &r)); /* at least a copy: passes return new functions */
  while (inline_any(r, NULL)) WICK_TRY(inline_once(r, mem, &r));
  inline_drop(f);
  *out = r;
  return NULL;
}
