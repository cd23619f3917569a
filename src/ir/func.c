/* Side tables of a function: the nodes that use a value, the node that defines it. */
#include "ir/ir.h"

const wick_type_info *wick_info_of(const wick_func *f, wick_value v)
{
  return wick_type_get(f->module, f->value[v.id].type);
}

wick_uses wick_uses_of(const wick_func *f, wick_arena *mem)
{
  uint32_t *first = wick_new(mem, uint32_t, f->nvalue + 3), total = 0;
  for (uint32_t i = 0; i < f->nnode; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++) first[f->node[i].in[k].id + 2]++, total++;
  for (uint32_t v = 2; v < f->nvalue + 3; v++) first[v] += first[v - 1];
  uint32_t *use = wick_new(mem, uint32_t, total);
  for (uint32_t i = 0; i < f->nnode; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++) use[first[f->node[i].in[k].id + 1]++] = i;
  return (wick_uses){first, use};
}

const uint32_t *wick_definers_of(const wick_func *f, wick_arena *mem)
{
  uint32_t *definer = wick_new(mem, uint32_t, f->nvalue + 1);
  for (uint32_t v = 0; v <= f->nvalue; v++) definer[v] = UINT32_MAX;
  for (uint32_t i = 0; i < f->nnode; i++)
    for (uint32_t k = 0; k < f->node[i].nout; k++) definer[f->node[i].first.id + k] = i;
  return definer;
}

static void func_dims(const wick_module *m, wick_type type, wick_arena *mem, wick_dim_list *out)
{
  const wick_type_info *t = wick_type_get(m, type);
  for (uint32_t k = 0; k < t->nitem; k++) func_dims(m, t->item[k], mem, out);
  for (uint32_t k = 0; t->kind != WICK_TUPLE && k < t->rank; k++) {
    wick_dim_symbols(m->dims, t->dim[k], mem, out);
    if (t->stride) wick_dim_symbols(m->dims, t->stride[k], mem, out);
  }
}

wick_dim_list wick_func_sizes(const wick_func *f, wick_arena *mem)
{
  wick_dim_list out = {0};
  for (uint32_t v = 1; v <= f->nparam; v++) func_dims(f->module, f->value[v].type, mem, &out);
  for (uint32_t i = 0; i < f->nnode; i = f->node[i].end)
    for (uint32_t k = 0; k < f->node[i].nout; k++)
      func_dims(f->module, f->value[f->node[i].first.id + k].type, mem, &out);
  return out;
}
