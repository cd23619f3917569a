/* The panel has the elements of the parameter that the fold reads, with those outside of the parameter
 * that a halo or a condition gives. The template says which read that is. */
#include "graph/group/panel.h"

#include "graph/group/template.h"
#include "ir/op.h"

typedef struct panel {
  wick_copier c;
  const wick_node *fold, *read;                        /* what the panel copies */
  int64_t first[WICK_MAX_RANK], extent[WICK_MAX_RANK]; /* the part of each dimension that is read */
  wick_value made;
} panel;

/* Finds the fold, and the part of each dimension that it reads. Returns false if it is not known. */
static bool panel_spans(panel *p)
{
  const wick_func *g = p->c.f;
  const wick_attr *index = wick_read_index(p->read);
  for (uint32_t i = 0; !p->fold; i = g->node[i].end)
    if (p->read < &g->node[0] + g->node[i].end) p->fold = &g->node[i];
  for (uint32_t k = 0; k < index->n; k++) {
    int64_t last;
    if (wick_dim_eq(index->dims[k], WICK_DIM_ANY)) return false;
    wick_dim_range(g->module->dims, index->dims[k], &p->first[k], &last);
    p->extent[k] = last - p->first[k] + 1;
  }
  return true;
}

/* Builds the map that copies. */
static void panel_build(panel *p)
{
  wick_builder *b = &p->c.b;
  const wick_func *g = p->c.f;
  const wick_type_info *info = wick_info_of(g, p->read->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK], at[WICK_MAX_RANK];
  for (uint32_t k = 0; k < info->rank; k++) {
    dim[k] = wick_dim_const(p->extent[k]);
    axis[k] = wick_make_axis(b, wick_str_printf(b->mem, "p%u", k), dim[k], false);
    at[k] = wick_dim_add(b->module->dims, axis[k].sym, wick_dim_const(p->first[k]));
  }
  wick_type type = wick_type_tensor(b->module, info->elem, info->rank, dim);
  b->loc = p->read->loc;
  wick_map_begin(b, WICK_PANEL, info->rank, axis, 1, &type);
  wick_value fill = {0};
  for (uint32_t i = 0; i < g->nnode && p->read->nin > 1; i++)
    if (g->node[i].first.id == p->read->in[1].id && g->node[i].op == WICK_OP_const) {
      wick_copy_node(&p->c, &g->node[i]);
      fill = p->c.to[g->node[i].first.id];
    }
  wick_value x = wick_read(b, p->c.to[p->read->in[0].id], at, 0, NULL, fill);
  p->made = wick_map_end(b, 1, &x);
}

/* Builds the fold's read, of the panel instead of the parameter. */
static void panel_read(panel *p)
{
  wick_builder *b = &p->c.b;
  const wick_attr *index = wick_read_index(p->read);
  wick_dim at[WICK_MAX_RANK];
  for (uint32_t k = 0; k < index->n; k++)
    at[k] = wick_dim_sub(b->module->dims, index->dims[k], wick_dim_const(p->first[k]));
  p->c.to[p->read->first.id] = wick_read(b, p->made, at, 0, NULL, (wick_value){0});
}

wick_func *wick_group_panel(wick_func *group, const wick_target *t, wick_arena *mem,
                            wick_arena *tmp)
{
  panel p = {.c = {.f = group}, .read = wick_template_panel(group, t, tmp)};
  if (!p.read || !panel_spans(&p)) return group;
  p.c = wick_copy_begin(group, mem);
  for (uint32_t i = 0; i < group->nnode; i++) {
    const wick_node *n = &group->node[i];
    if (n == p.fold) panel_build(&p);
    if (n == p.read)
      panel_read(&p);
    else
      wick_copy_node(&p.c, n);
  }
  return wick_copy_end(&p.c);
}
