/* Removes multiplications and divisions by one. */
#include "graph/drop_identity.h"

#include "ir/copy.h"
#include "ir/element.h"

/* v is a constant whose elements are all 1. */
static bool drop_identity_one(const wick_func *f, const uint32_t *definer, wick_value v)
{
  if (definer[v.id] == UINT32_MAX || f->node[definer[v.id]].op != WICK_OP_const) return false;
  const wick_imm *imm = wick_const_imm(&f->node[definer[v.id]]);
  wick_elem e = wick_info_of(f, v)->elem;
  if (!imm->constant) return wick_elem_is_float(e) ? imm->f == 1 : imm->i == 1;
  const wick_constant *c = wick_constant_get(f->module, imm->constant);
  wick_dim n = wick_type_numel(f->module, c->type);
  if (!c->data || !wick_dim_is(n, 1)) return false;
  wick_scalar x = wick_load_elem(e, c->data, 0);
  return wick_elem_is_float(e) ? x.f == 1 : x.i == 1;
}

/* The operand that equals the node's result; 0 if there is none. */
static wick_value drop_identity_of(const wick_func *f, const uint32_t *definer, const wick_node *n)
{
  if (n->op != WICK_OP_mul && n->op != WICK_OP_div) return (wick_value){0};
  for (uint32_t k = 0; k < (n->op == WICK_OP_mul ? 2 : 1); k++)
    if (drop_identity_one(f, definer, n->in[1 - k]) &&
        wick_type_eq(wick_type_of(f, n->in[k]), wick_type_of(f, n->first)))
      return n->in[k];
  return (wick_value){0};
}

wick_status wick_pass_drop_identity(const wick_pass_context *pass, const wick_func *f,
                                    wick_func **out)
{
  wick_arena *mem = pass->mem;
  const uint32_t *definer = wick_definers_of(f, mem);
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    wick_value same = drop_identity_of(f, definer, n);
    if (same.id)
      c.to[n->first.id] = c.to[same.id];
    else
      wick_copy_node(&c, n);
  }
  return wick_copy_finish(&c, out);
}
