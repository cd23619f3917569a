/* Inlines a call by a replay of the callee. A worklist follows the calls to find recursion. */
#include "ir/call.h"

#include "ir/replay.h"

const wick_func *wick_callee(const wick_module *m, const wick_node *n)
{
  const wick_func *f =
      n->op == WICK_OP_call ? wick_module_find(m, n->attr[WICK_ATTR_call_callee].s) : NULL;
  return f && f->level == WICK_GRAPH ? f : NULL;
}

/* Returns true if f calls itself, directly or through others. */
static bool call_recurs(const wick_builder *b, const wick_func *f)
{
  const wick_module *m = b->module;
  wick_list(const wick_func *) seen = {0};
  wick_push(b->mem, &seen, f);
  for (uint32_t at = 0; at < seen.n; at++)
    for (uint32_t i = 0; i < seen.at[at]->nnode; i++) {
      const wick_func *g = wick_callee(m, &seen.at[at]->node[i]);
      if (g == f) return true;
      bool known = !g;
      for (uint32_t k = 0; k < seen.n && !known; k++) known = seen.at[k] == g;
      if (!known) wick_push(b->mem, &seen, g);
    }
  return false;
}

void wick_build_inlined_call(wick_builder *b, const wick_node *n, const wick_value *in,
                             wick_value *out)
{
  const wick_func *f = wick_callee(b->module, n);
  if (b->status) return;
  if (!f || call_recurs(b, f)) {
    wick_build_fail(b, WICK_EUNSUPPORTED,
                    f ? "@%s calls itself, which is not supported" : "there is no function @%s",
                    n->attr[WICK_ATTR_call_callee].s);
    return;
  }
  wick_replay r = wick_replay_func(b, f);
  for (uint32_t k = 0; k < f->nparam; k++) r.to[1 + k] = in[k];
  for (uint32_t i = 0; i < f->nconstraint; i++)
    wick_build_shape_constraint(b, f->constraint[i].a, f->constraint[i].b, f->constraint[i].loc);
  wick_replay_nodes(&r, 0, f->nnode - 1);
  for (uint32_t k = 0; k < n->nout; k++) out[k] = wick_replayed(&r, wick_return(f)->in[k]);
}
