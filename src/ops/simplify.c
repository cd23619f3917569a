/* Queries of simplification rules about the function that is being built. */
#include "ops/simplify.h"

#include <string.h>

#include "ir/element.h"

bool wick_simplify_def(wick_simplify *s, wick_value v, wick_opcode op, wick_node *out)
{
  wick_builder *b = &s->c.b;
  if (b->status || !v.id) return false;
  while (s->definer.n < b->values.n) wick_push(s->mem, &s->definer, 0);
  for (; s->nseen < b->nodes.n; s->nseen++) {
    const wick_node *n = &b->nodes.at[s->nseen];
    for (uint32_t k = 0; k < n->nout; k++) s->definer.at[n->first.id + k] = s->nseen + 1;
  }
  uint32_t d = s->definer.at[v.id];
  if (!d || b->nodes.at[d - 1].op != op) return false;
  *out = b->nodes.at[d - 1];
  return true;
}

/* The elements of a constant are bytes, at least one, and the same ones. */
static bool simplify_alike(wick_module *m, const wick_constant *k, wick_elem e)
{
  int64_t numel;
  uint32_t bits = wick_elem_storage[e].bits;
  if (!k->data || bits % 8 || !wick_dim_is_const(wick_type_numel(m, k->type))) return false;
  numel = wick_type_numel(m, k->type).v;
  const char *at = k->data;
  return numel > 0 && !memcmp(at, at + bits / 8, (size_t)(numel - 1) * (bits / 8));
}

static bool simplify_one(wick_simplify *s, wick_value v, wick_scalar *out)
{
  wick_node n;
  if (!wick_simplify_def(s, v, WICK_OP_const, &n)) return false;
  const wick_imm *imm = &n.attr[WICK_ATTR_const_value].imm;
  wick_module *m = s->c.f->module;
  wick_elem e = wick_built_info(&s->c.b, v)->elem;
  if (!imm->constant) {
    *out = wick_elem_is_float(e) ? (wick_scalar){.f = imm->f} : (wick_scalar){.i = imm->i};
    return true;
  }
  const wick_constant *k = wick_constant_get(m, imm->constant);
  if (!simplify_alike(m, k, e)) return false;
  *out = wick_load_elem(e, k->data, 0);
  return true;
}

bool wick_simplify_number(wick_simplify *s, wick_value v, double *out)
{
  wick_scalar x;
  if (!v.id || !wick_elem_is_float(wick_built_info(&s->c.b, v)->elem) || !simplify_one(s, v, &x))
    return false;
  *out = x.f;
  return true;
}

bool wick_simplify_int(wick_simplify *s, wick_value v, int64_t *out)
{
  wick_scalar x;
  wick_class c = v.id ? wick_elem_class(wick_built_info(&s->c.b, v)->elem) : WICK_TEXT;
  if (c == WICK_FLOAT || c == WICK_COMPLEX || c == WICK_TEXT || !simplify_one(s, v, &x))
    return false;
  *out = x.i;
  return true;
}

bool wick_simplify_once(const wick_simplify *s, wick_value old)
{
  return s->uses.first[old.id + 1] - s->uses.first[old.id] == 1;
}
