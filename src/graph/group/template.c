/* Chooses a template for a group by the shape of its stages. */
#include "graph/group/template.h"

#include "loop/schedule.h"

/* A map is computed where it is read, unless a read of it has a guard or a run-time index: those
 * want it in memory. */
static bool template_can_inline(const wick_func *g, const wick_node *stage)
{
  if (stage->op != WICK_OP_map) return false;
  const wick_node *ret = wick_return(g);
  for (uint32_t k = 0; k < ret->nin; k++)
    if (ret->in[k].id >= stage->first.id && ret->in[k].id < stage->first.id + stage->nout)
      return false;
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    if (n->op != WICK_OP_read || n->in[0].id < stage->first.id ||
        n->in[0].id >= stage->first.id + stage->nout)
      continue;
    if (n->attr[1].i || n->nin > 1) return false;
  }
  return true;
}

wick_status wick_template_schedule(wick_func *g, const wick_target *t, wick_arena *tmp)
{
  (void)t;
  wick_text steps = wick_text_begin(tmp);
  for (uint32_t i = 0; i < g->nnode; i = g->node[i].end)
    if (template_can_inline(g, &g->node[i]))
      wick_text_printf(&steps, "inline %s; ", g->node[i].attr[0].s);
  g->schedule = wick_intern(g->module, steps.at);
  return NULL;
}
