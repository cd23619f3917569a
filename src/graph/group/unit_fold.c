/* A fold's regions for the first state, the step and the end follow one another in the body of the
 * map. The results that one region yields are the parameters of the next one. */
#include "graph/group/unit_fold.h"

#include "ir/op.h"

/* Returns true if all reduced axes of the fold have the extent 1, its results have no dimensions of
 * their own, and it is no sum of products. */
static bool unit_fold_hits(const wick_func *g, const wick_node *n)
{
  uint32_t kept = 0;
  if (n->op != WICK_OP_fold) return false;
  for (uint32_t a = 0; a < wick_stage_axes(n)->n; a++) {
    const wick_axis *axis = &wick_stage_axes(n)->axes[a];
    if (axis->reduce && !wick_dim_is(axis->extent, 1)) return false;
    kept += !axis->reduce;
  }
  for (uint32_t i = n->region[1].begin; i < n->region[1].end; i++)
    if (g->node[i].op == WICK_OP_muladd) return false;
  return wick_info_of(g, n->first)->rank == kept;
}

/* Copies a node of the fold's body. The indices of the reduced axes are 0. */
static void unit_fold_copy(wick_copier *c, const wick_node *fold, const wick_node *n)
{
  wick_dims *dims = c->f->module->dims;
  wick_dim sym[2 * WICK_MAX_RANK], zero[2 * WICK_MAX_RANK];
  wick_node copy = *n;
  wick_attr *attr = wick_dup(c->b.mem, wick_attr, n->attr, n->nattr);
  uint32_t none = 0;
  for (uint32_t a = 0; a < wick_stage_axes(fold)->n; a++)
    if (wick_stage_axes(fold)->axes[a].reduce)
      sym[none] = wick_stage_axes(fold)->axes[a].sym, zero[none++] = wick_dim_const(0);
  for (uint32_t k = 0; k < n->nattr; k++) {
    if (wick_op_of(n)->attr[k].kind != WICK_ATTR_DIMS) continue;
    wick_dim *d = wick_dup(c->b.mem, wick_dim, attr[k].dims, attr[k].n);
    for (uint32_t i = 0; i < attr[k].n; i++)
      if (!wick_dim_eq(d[i], WICK_DIM_ANY)) d[i] = wick_dim_substitute(dims, d[i], none, sym, zero);
    attr[k].dims = d;
  }
  copy.attr = attr;
  wick_copy_node(c, &copy);
}

/* Builds the map. */
static void unit_fold_map(wick_copier *c, const wick_node *fold)
{
  static const uint32_t order[] = {0, 1, 3}; /* there is nothing to merge */
  const wick_func *g = c->f;
  const wick_attr *all = wick_stage_axes(fold);
  wick_axis *axis = wick_new(c->b.mem, wick_axis, all->n + 1);
  wick_type *type = wick_new(c->b.mem, wick_type, fold->nout);
  wick_value *v = NULL;
  uint32_t naxis = 0;
  for (uint32_t a = 0; a < all->n; a++)
    if (!all->axes[a].reduce) axis[naxis++] = all->axes[a];
  for (uint32_t k = 0; k < fold->nout; k++)
    type[k] = wick_type_of(g, (wick_value){fold->first.id + k});
  c->b.loc = fold->loc;
  wick_map_begin(&c->b, fold->attr[WICK_ATTR_fold_name].s, naxis, axis, fold->nout, type);
  for (uint32_t r = 0; r < WICK_COUNT(order); r++) {
    const wick_region *region = &fold->region[order[r]];
    const wick_node *yield = &g->node[region->end - 1];
    for (uint32_t k = 0; k < region->nparam; k++) c->to[region->first.id + k] = v[k];
    for (uint32_t i = region->begin; i + 1 < region->end; i++) unit_fold_copy(c, fold, &g->node[i]);
    v = wick_new(c->b.mem, wick_value, yield->nin + 1);
    for (uint32_t k = 0; k < yield->nin; k++) v[k] = c->to[yield->in[k].id];
  }
  wick_value first = wick_map_end(&c->b, fold->nout, v);
  for (uint32_t k = 0; k < fold->nout; k++) c->to[fold->first.id + k] = (wick_value){first.id + k};
}

wick_func *wick_group_unit_fold(const wick_func *group, wick_arena *mem)
{
  bool any = false;
  for (uint32_t i = 0; i < group->nnode; i++) any = any || unit_fold_hits(group, &group->node[i]);
  if (!any) return (wick_func *)(uintptr_t)group;
  wick_copier c = wick_copy_begin(group, mem);
  for (uint32_t i = 0; i < group->nnode; i++) {
    const wick_node *n = &group->node[i];
    if (unit_fold_hits(group, n)) {
      unit_fold_map(&c, n);
      i = n->end - 1;
    } else {
      wick_copy_node(&c, n);
    }
  }
  return wick_copy_end(&c);
}
