/* Trees of what is known: read from the nodes of a builder, compared, and built again. */
#include "graph/known.h"

enum { KNOWN_PARTS = 2000 };

bool wick_known_number(const wick_builder *b, wick_value v, int64_t *out)
{
  const wick_value_info *info = &b->values.at[v.id];
  const wick_type_info *t = wick_built_info(b, v);
  if (t->kind != WICK_TENSOR || t->rank || info->ncontent != 1 ||
      !wick_dim_is_const(info->content[0]))
    return false;
  *out = info->content[0].v;
  return true;
}

/* Reads the operands of a node, whose types the definition of its constructor or function says. */
static void known_parts(wick_known_reader *r, wick_known *s, const wick_node *n,
                        const wick_type *declared, wick_known_detail detail)
{
  const wick_node node = *n;
  s->n = node.nin, s->part = wick_new(r->mem, wick_known, node.nin + 1u);
  for (uint32_t k = 0; k < s->n; k++)
    s->part[k] = wick_known_read(r, node.in[k], declared[k], detail);
}

static wick_known known_closure(wick_known_reader *r, const wick_node *n, wick_type type,
                                wick_known_detail detail)
{
  const char *callee = n->attr[WICK_ATTR_closure_callee].s;
  const wick_func *f = wick_module_find(r->b->module, callee);
  wick_type *declared = wick_new(r->mem, wick_type, n->nin + 1u);
  wick_known s = {.kind = WICK_KNOWN_CLOSURE, .type = type, .callee = callee};
  for (uint32_t k = 0; k < n->nin; k++) declared[k] = wick_type_of(f, (wick_value){1 + k});
  known_parts(r, &s, n, declared, detail == WICK_KNOWN_ALL ? detail : WICK_KNOWN_NONE);
  return s;
}

wick_known wick_known_read(wick_known_reader *r, wick_value v, wick_type declared,
                           wick_known_detail detail)
{
  const wick_node *n = NULL;
  wick_known s = {.type = wick_built_type(r->b, v)};
  bool all = detail == WICK_KNOWN_ALL && ++r->nread <= KNOWN_PARTS;
  if (all && wick_known_number(r->b, v, &s.number)) {
    s.kind = WICK_KNOWN_NUMBER;
  } else if (all && (n = r->node(r->arg, v, WICK_OP_construct))) {
    s.kind = WICK_KNOWN_MADE, s.number = n->attr[WICK_ATTR_construct_ctor].i;
    known_parts(r, &s, n, wick_data_get(r->b->module, s.type)->ctor[s.number].field, detail);
  } else if (detail != WICK_KNOWN_NONE && (n = r->node(r->arg, v, WICK_OP_closure)) &&
             wick_module_find(r->b->module, n->attr[WICK_ATTR_closure_callee].s)) {
    return known_closure(r, n, s.type, all ? detail : WICK_KNOWN_CALLEE);
  } else {
    s.type = declared;
    wick_push(r->mem, r->leaves, v);
  }
  return s;
}

bool wick_known_eq(const wick_known *a, const wick_known *b)
{
  if (a->kind != b->kind || !wick_type_eq(a->type, b->type) || a->number != b->number ||
      a->callee != b->callee || a->n != b->n)
    return false;
  for (uint32_t k = 0; k < a->n; k++)
    if (!wick_known_eq(&a->part[k], &b->part[k])) return false;
  return true;
}

void wick_known_types_of(const wick_known *s, wick_arena *mem, wick_known_types *out)
{
  if (s->kind == WICK_KNOWN_NOTHING) wick_push(mem, out, s->type);
  for (uint32_t k = 0; k < s->n; k++) wick_known_types_of(&s->part[k], mem, out);
}

wick_value wick_known_build(wick_builder *b, const wick_known *s, uint32_t *leaf)
{
  if (s->kind == WICK_KNOWN_NOTHING) return (wick_value){1 + (*leaf)++};
  if (s->kind == WICK_KNOWN_NUMBER) return wick_build_const(b, s->type, 0, s->number);
  wick_value *in = wick_new(b->mem, wick_value, s->n + 1);
  for (uint32_t k = 0; k < s->n; k++) in[k] = wick_known_build(b, &s->part[k], leaf);
  if (s->kind == WICK_KNOWN_MADE)
    return wick_build_construct(b, s->type, (uint32_t)s->number, s->n, in);
  wick_attr callee = {.s = s->callee};
  return wick_build(b, WICK_OP_closure, s->n, in, &callee, 1, &s->type);
}
