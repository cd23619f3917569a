/* In rounds: what is called may call others. */
#include "graph/calls.h"

#include "ir/called.h"
#include "ir/copy.h"

enum {
  CALLS_MOST = 1 << 20
}; /* nodes: functions that call each other twice double in each round */

static bool calls_any(const wick_func *f, const wick_func *callee)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_func *g = wick_callee(f->module, &f->node[i]);
    if (g && (!callee || g == callee)) return true;
  }
  return false;
}

static wick_status calls_once(const wick_func *f, wick_arena *mem, wick_func **out)
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
    wick_build_called(&c.b, n, in, &c.to[n->first.id]);
    for (uint32_t k = 0; k < n->nout && !c.b.status; k++) {
      const wick_value_info *old = &f->value[n->first.id + k];
      wick_build_name(&c.b, c.to[n->first.id + k], old->name, old->relation);
    }
    if (c.b.nodes.n > CALLS_MOST)
      wick_build_fail(&c.b, WICK_ELIMIT, "with what it calls it has more than %d nodes",
                      CALLS_MOST);
  }
  return wick_copy_finish(&c, out);
}

/* Functions that f called, and nobody else does, with those that they called. */
static void calls_drop(const wick_func *f)
{
  wick_module *m = f->module;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_func *g = wick_callee(m, &f->node[i]);
    bool called = false;
    for (uint32_t k = 0; g && k < m->funcs.n && !called; k++)
      called = m->funcs.at[k] != f && m->funcs.at[k] != g && calls_any(m->funcs.at[k], g);
    if (!g || called) continue;
    wick_module_remove(m, g->name);
    calls_drop(g);
  }
}

wick_status wick_pass_calls(const wick_func *f, wick_arena *mem, wick_func **out)
{
  wick_func *r;
  WICK_TRY(calls_once(f, mem, &r)); /* a copy at least: passes return new functions */
  while (calls_any(r, NULL)) WICK_TRY(calls_once(r, mem, &r));
  calls_drop(f);
  *out = r;
  return NULL;
}
