/* A traversal from the results backwards finds which values have the pair of dimensions, and at
 * which positions. */
#include "graph/group/collapse.h"

#include <string.h>

#include "ir/op.h"

enum { COLLAPSE_NONE = WICK_MAX_RANK };

typedef struct collapse {
  wick_copier c; /* first, so that the callback for types can reach the rest */
  const wick_func *g;
  wick_dim outer, inner; /* the extents */
  uint32_t *at;          /* per value: the first dimension of the pair, or COLLAPSE_NONE */
  wick_dim both;         /* the symbol of the new axis, in the stage that is being copied */
} collapse;

/* ---- finding ---- */

static bool collapse_has(const collapse *s, const wick_type_info *t, uint32_t k)
{
  return t->kind == WICK_TENSOR && k + 1u < t->rank && wick_dim_eq(t->dim[k], s->outer) &&
         wick_dim_eq(t->dim[k + 1], s->inner);
}

/* Records that v has the pair at dimension k. Returns false if it does not, or also has it at
 * another position. */
static bool collapse_mark(collapse *s, wick_value v, uint32_t k)
{
  if (!collapse_has(s, wick_info_of(s->g, v), k)) return false;
  if (s->at[v.id] != COLLAPSE_NONE) return s->at[v.id] == k;
  s->at[v.id] = k;
  return true;
}

/* Returns the stage's axis that is dimension k of its results, or NULL if the results have
 * dimensions of their own. */
static const wick_axis *collapse_axis(const collapse *s, const wick_node *stage, uint32_t k)
{
  const wick_attr *axes = wick_stage_axes(stage);
  uint32_t kept = 0, found = UINT32_MAX;
  for (uint32_t a = 0; a < axes->n; a++) {
    if (axes->axes[a].reduce) continue;
    if (kept++ == k) found = a;
  }
  return kept == wick_info_of(s->g, stage->first)->rank ? &axes->axes[found] : NULL;
}

static bool collapse_uses(const collapse *s, wick_dim d, const wick_axis *pair)
{
  wick_dims *dims = s->g->module->dims;
  return !wick_dim_eq(d, WICK_DIM_ANY) &&
         (wick_dim_uses(dims, d, pair[0].sym) || wick_dim_uses(dims, d, pair[1].sym));
}

/* Returns true if a read uses both axes of the pair unchanged and next to each other, or neither of
 * them. */
static bool collapse_read(collapse *s, const wick_node *n, const wick_axis *pair)
{
  const wick_dim *index = wick_read_index(n)->dims;
  uint32_t used = 0, k = COLLAPSE_NONE;
  for (uint32_t i = 0; i < wick_read_index(n)->n; i++) {
    if (!collapse_uses(s, index[i], pair)) continue;
    if (!used++) k = i;
  }
  return !used || (used == 2 && wick_dim_eq(index[k], pair[0].sym) &&
                   wick_dim_eq(index[k + 1], pair[1].sym) && collapse_mark(s, n->in[0], k));
}

/* Returns true if n, which is no read, does not use the axes of the pair. */
static bool collapse_other(const collapse *s, const wick_node *n, const wick_axis *pair)
{
  for (uint32_t a = 0; a < n->nattr; a++) {
    if (wick_op_of(n)->attr[a].kind != WICK_ATTR_DIMS) continue;
    for (uint32_t i = 0; i < n->attr[a].n; i++)
      if (collapse_uses(s, n->attr[a].dims[i], pair)) return false;
  }
  return true;
}

static bool collapse_stage(collapse *s, const wick_node *stage)
{
  uint32_t k = s->at[stage->first.id];
  for (uint32_t r = 1; r < stage->nout; r++)
    if (s->at[stage->first.id + r] != k) return false;
  if (k == COLLAPSE_NONE) return true;
  const wick_axis *first = collapse_axis(s, stage, k), *second = collapse_axis(s, stage, k + 1);
  if (!first || second != first + 1) return false;
  const wick_node *end = s->g->node + stage->end;
  for (const wick_node *n = stage + 1; n < end; n++)
    if (n->op == WICK_OP_read ? !collapse_read(s, n, first) : !collapse_other(s, n, first))
      return false;
  return true;
}

/* Returns true if each read of a value with the pair is in a stage that has the pair, too. */
static bool collapse_agrees(const collapse *s, const wick_node *stage)
{
  uint32_t k = s->at[stage->first.id];
  const wick_axis *pair = k == COLLAPSE_NONE ? NULL : collapse_axis(s, stage, k);
  for (const wick_node *n = stage + 1; n < s->g->node + stage->end; n++) {
    if (n->op != WICK_OP_read || s->at[n->in[0].id] == COLLAPSE_NONE) continue;
    if (!pair || !collapse_uses(s, wick_read_index(n)->dims[s->at[n->in[0].id]], pair))
      return false;
  }
  return true;
}

/* Returns true if dimensions k and k + 1 of the results can become one. */
static bool collapse_can(collapse *s, uint32_t k)
{
  const wick_func *g = s->g;
  const wick_node *y = wick_return(g);
  const wick_type_info *t = wick_info_of(g, y->in[0]);
  s->outer = t->dim[k], s->inner = t->dim[k + 1];
  if ((wick_dim_is_const(s->outer) && wick_dim_is_const(s->inner)) || wick_dim_is(s->outer, 1) ||
      wick_dim_is(s->inner, 1))
    return false;
  for (uint32_t v = 0; v <= g->nvalue; v++) s->at[v] = COLLAPSE_NONE;
  for (uint32_t i = 0; i < y->nin; i++) {
    const wick_type_info *result = wick_info_of(g, y->in[i]);
    if (k + 2u >= result->rank || !collapse_mark(s, y->in[i], k)) return false;
  }
  wick_list(const wick_node *) stages = {0};
  for (uint32_t i = 0; i + 1 < g->nnode; i = g->node[i].end) {
    const wick_node *n = &g->node[i];
    if (n->op != WICK_OP_map && n->op != WICK_OP_fold) return false;
    wick_push(s->c.b.mem, &stages, n);
  }
  for (uint32_t i = stages.n; i-- > 0;)
    if (!collapse_stage(s, stages.at[i])) return false;
  for (uint32_t i = 0; i < stages.n; i++)
    if (!collapse_agrees(s, stages.at[i])) return false;
  return true;
}

/* ---- building the group again ---- */

static wick_type collapse_type(const wick_copier *c, wick_value old)
{
  const collapse *s = (const collapse *)(const void *)c;
  const wick_type_info *t = wick_info_of(s->g, old);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t k = s->at[old.id];
  if (k == COLLAPSE_NONE) return wick_type_of(s->g, old);
  memcpy(dim, t->dim, k * sizeof *dim);
  dim[k] = wick_dim_mul(s->g->module->dims, s->outer, s->inner);
  memcpy(dim + k + 1, t->dim + k + 2, (t->rank - k - 2u) * sizeof *dim);
  return wick_type_tensor(s->g->module, t->elem, t->rank - 1u, dim);
}

/* Returns the stage with one axis instead of the pair. */
static wick_node collapse_axes(collapse *s, const wick_node *stage, const wick_axis *pair)
{
  wick_dims *dims = s->g->module->dims;
  wick_node n = *stage;
  wick_attr *attr = wick_dup(s->c.b.mem, wick_attr, stage->attr, stage->nattr);
  wick_axis *axes =
      wick_dup(s->c.b.mem, wick_axis, wick_stage_axes(stage)->axes, wick_stage_axes(stage)->n);
  uint32_t k = (uint32_t)(pair - wick_stage_axes(stage)->axes);
  const wick_atom *symbol = wick_dim_atom(dims, wick_dim_get(dims, pair->sym).term->atom[0]);
  axes[k] = wick_make_axis(&s->c.b, symbol->name, wick_dim_mul(dims, s->outer, s->inner), false);
  memmove(axes + k + 1, axes + k + 2, (attr[WICK_ATTR_map_axes].n - k - 2u) * sizeof *axes);
  attr[WICK_ATTR_map_axes].axes = axes, attr[WICK_ATTR_map_axes].n--;
  n.attr = attr;
  s->both = axes[k].sym;
  return n;
}

static wick_node collapse_index(collapse *s, const wick_node *read)
{
  wick_node n = *read;
  uint32_t k = s->at[read->in[0].id], rank = wick_read_index(read)->n;
  wick_attr *attr = wick_dup(s->c.b.mem, wick_attr, read->attr, read->nattr);
  wick_dim *index = wick_dup(s->c.b.mem, wick_dim, wick_read_index(read)->dims, rank);
  index[k] = s->both;
  memmove(index + k + 1, index + k + 2, (rank - k - 2u) * sizeof *index);
  attr[WICK_ATTR_read_index].dims = index, attr[WICK_ATTR_read_index].n--;
  n.attr = attr;
  return n;
}

static wick_copier collapse_begin(collapse *s, wick_arena *mem)
{
  wick_copier c = {.f = s->g, .to = wick_new(mem, wick_value, s->g->nvalue + 1)};
  c.retype = collapse_type;
  wick_build_begin(&c.b, s->g->module, s->g->level, s->g->name, mem);
  wick_build_keep_constraints(&c.b, s->g);
  return c;
}

static wick_func *collapse_copy(collapse *s, wick_arena *mem)
{
  const wick_func *g = s->g;
  s->c = collapse_begin(s, mem);
  for (uint32_t v = 1; v <= g->nparam; v++)
    s->c.to[v] =
        wick_build_param(&s->c.b, collapse_type(&s->c, (wick_value){v}), g->qual[v - 1], NULL);
  wick_node *changed =
      wick_new(mem, wick_node, g->nnode); /* the copier still uses nodes that are not closed */
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    uint32_t k = n->nregion              ? s->at[n->first.id]
                 : n->op == WICK_OP_read ? s->at[n->in[0].id]
                                         : COLLAPSE_NONE;
    if (k != COLLAPSE_NONE)
      changed[i] = n->nregion ? collapse_axes(s, n, collapse_axis(s, n, k)) : collapse_index(s, n);
    wick_copy_node(&s->c, k == COLLAPSE_NONE ? n : &changed[i]);
  }
  return wick_copy_end(&s->c);
}

wick_func *wick_group_collapse(const wick_func *group, wick_arena *mem)
{
  collapse s = {.g = group, .at = wick_new(mem, uint32_t, group->nvalue + 1)};
  s.c.b.mem = mem;
  for (uint32_t k = 0; k + 2 < wick_info_of(s.g, wick_return(s.g)->in[0])->rank;)
    if (collapse_can(&s, k))
      s.g = collapse_copy(
          &s, mem); /* the copy has fewer values; the new dimension may collapse further */
    else
      k++;
  return (wick_func *)(uintptr_t)s.g;
}
