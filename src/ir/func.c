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

wick_func *wick_func_head(wick_module *m, wick_level level, const char *name, uint32_t nparam,
                          const wick_type *param, const wick_qualifier *qual, uint32_t nresult,
                          const wick_type *result, wick_arena *mem)
{
  wick_value_info *value = wick_new(mem, wick_value_info, nparam + nresult + 1);
  wick_value *in = wick_new(mem, wick_value, nresult);
  for (uint32_t i = 0; i < nparam; i++) value[1 + i].type = param[i];
  for (uint32_t i = 0; i < nresult; i++) {
    in[i] = (wick_value){1 + nparam + i};
    value[in[i].id].type = result[i];
  }
  wick_node *node = wick_new(mem, wick_node, 1);
  *node = (wick_node){.op = WICK_OP_return, .nin = (uint16_t)nresult, .end = 1, .in = in};
  wick_func *f = wick_new(mem, wick_func, 1);
  *f = (wick_func){.module = m,
                   .name = wick_intern(m, name),
                   .level = level,
                   .nparam = nparam,
                   .qual = qual ? wick_dup(mem, wick_qualifier, qual, nparam)
                                : wick_new(mem, wick_qualifier, nparam),
                   .nnode = 1,
                   .node = node,
                   .nvalue = nparam + nresult,
                   .value = value,
                   .head = true};
  return f;
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
