/* Activity spreads through the nodes in order, and again until nothing changes: loops carry it from
 * one iteration to the next, and regions yield it to nodes before them. What is needed spreads in the
 * same way from the results back. */
#include "graph/grad/activity.h"

#include "graph/grad/shadow.h"
#include "ir/call.h"
#include "ir/op.h"
#include "ops/gradient/grad.h"

static bool activity_mark(const wick_func *f, bool *active, wick_value to, wick_value from)
{
  if (active[to.id] || !from.id || !active[from.id] ||
      !wick_has_cotangent(f->module, wick_type_of(f, to)))
    return false;
  return active[to.id] = true;
}

static bool activity_node(const wick_func *f, const wick_node *n, bool *active)
{
  bool changed = false;
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *g = &n->region[r];
    const wick_node *y = &f->node[g->end - 1];
    uint32_t skip = n->op == WICK_OP_loop, ncarried = n->nin - 1u; /* a loop: index, condition */
    for (uint32_t k = 0; k < g->nparam && n->op == WICK_OP_switch; k++)
      changed |= activity_mark(f, active, (wick_value){g->first.id + k}, n->in[0]);
    for (uint32_t k = 0; k < n->nout; k++)
      changed |= activity_mark(f, active, (wick_value){n->first.id + k}, y->in[skip + k]);
    for (uint32_t k = 0; skip && k < ncarried; k++) {
      wick_value param = {g->first.id + 1 + k};
      changed |= activity_mark(f, active, param, n->in[1 + k]);
      changed |= activity_mark(f, active, param, y->in[1 + k]);
      changed |= activity_mark(f, active, (wick_value){n->first.id + k}, param);
    }
  }
  if (n->nregion || wick_op_of(n)->grad == wick_grad_zero) return changed;
  for (uint32_t k = 0; k < n->nin; k++)
    for (uint32_t o = 0; o < n->nout; o++)
      changed |= activity_mark(f, active, (wick_value){n->first.id + o}, n->in[k]);
  return changed;
}

/* Whatever comes from references may depend on active values: what a reference holds, and what a
 * function computes that takes some. */
static void activity_from_refs(const wick_func *f, bool *active)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    bool from = n->op == WICK_OP_ref_get ||
                (wick_named_func(n, 0) && n->op != WICK_OP_closure && wick_shadow_moves(f, n));
    for (uint32_t k = 0; from && k < n->nout; k++)
      if (wick_has_cotangent(f->module, f->value[n->first.id + k].type))
        active[n->first.id + k] = true;
  }
}

void wick_activity(const wick_func *f, bool *active)
{
  activity_from_refs(f, active);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < f->nnode; i++) again |= activity_node(f, &f->node[i], active);
  }
}

static bool activity_need(bool *needed, wick_value v, bool if_needed)
{
  bool changed = if_needed && v.id && !needed[v.id];
  if (changed) needed[v.id] = true;
  return changed;
}

/* A result of a branch needs what the arms yield for it, a value that a loop carries also what the
 * next iteration takes. */
static bool activity_need_regions(const wick_func *f, const wick_node *n, bool *needed)
{
  bool changed = false, loop = n->op == WICK_OP_loop;
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *g = &n->region[r];
    const wick_node *y = &f->node[g->end - 1];
    uint32_t ncarried = loop ? n->nin - 1u : 0;
    for (uint32_t k = 0; k < n->nout; k++)
      changed |= activity_need(needed, y->in[loop + k], needed[n->first.id + k]);
    for (uint32_t k = 0; k < ncarried; k++) {
      bool next = needed[g->first.id + 1 + k];
      changed |= activity_need(needed, y->in[1 + k], next);
      changed |= activity_need(needed, n->in[1 + k], next || needed[n->first.id + k]);
    }
    for (uint32_t k = 0; k < g->nparam && n->op == WICK_OP_switch; k++)
      changed |= activity_need(needed, n->in[0], needed[g->first.id + k]);
  }
  return changed;
}

/* What calls and references take counts as needed. */
static bool activity_need_node(const wick_func *f, const wick_node *n, bool *needed)
{
  if (n->nregion) return activity_need_regions(f, n, needed);
  if (n->op == WICK_OP_yield) return false; /* its region's node decides */
  bool changed = false,
       any = !n->nout || wick_named_func(n, 0) || wick_shadow_moves(f, n) || wick_shadow_on(f, n);
  if (!any && wick_op_of(n)->grad == wick_grad_zero) return false;
  for (uint32_t k = 0; k < n->nout; k++) any = any || needed[n->first.id + k];
  for (uint32_t k = 0; k < n->nin; k++) changed |= activity_need(needed, n->in[k], any);
  return changed;
}

void wick_tangents_needed(const wick_func *f, bool *needed)
{
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = f->nnode; i-- > 0;) again |= activity_need_node(f, &f->node[i], needed);
  }
}

void wick_refuse_hidden(wick_builder *b, const wick_func *f, const bool *active)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    bool hides = (n->op == WICK_OP_closure || n->op == WICK_OP_apply);
    for (uint32_t k = 0; k < n->nin && hides; k++) {
      if (!active[n->in[k].id] && !wick_shadow_changes(f->module, wick_type_of(f, n->in[k])))
        continue;
      b->loc = n->loc;
      wick_build_fail(b, WICK_EUNSUPPORTED,
                      "%s has no derivative: a value that is differentiated by gets into it",
                      wick_op_of(n)->name);
    }
  }
}
