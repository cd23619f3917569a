/* Repeats a traversal until it changes nothing, at most SIMPLIFY_ROUNDS times. */
#include "graph/simplify.h"

#include "ir/copy.h"
#include "ops/simplify.h"

enum { SIMPLIFY_ROUNDS = 8 };

/* Builds n on the operand of a `broadcast_to` instead of on its result, if the result's shape stays
 * the same; else 0. */
static wick_value simplify_expanded(wick_simplify *s, const wick_node *n, wick_value *in)
{
  wick_builder *b = &s->c.b;
  bool any = false;
  const wick_type_info *r = wick_info_of(s->c.f, n->first);
  if (!wick_op_of(n)->scalar || n->nin < 2 || wick_op_of(n)->typed) return (wick_value){0};
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_node d;
    bool other = false; /* another operand has the result's shape by itself */
    for (uint32_t i = 0; i < n->nin; i++) {
      const wick_type_info *t = in[i].id ? wick_built_info(b, in[i]) : NULL;
      bool same = i != k && t && t->rank == r->rank;
      for (uint32_t j = 0; same && j < r->rank; j++) same = wick_dim_eq(t->dim[j], r->dim[j]);
      other = other || same;
    }
    if (other && in[k].id && wick_simplify_def(s, in[k], WICK_OP_broadcast_to, &d))
      in[k] = d.in[0], any = true;
  }
  return any ? wick_copy_with(b, s->c.f, n, in) : (wick_value){0};
}

static bool simplify_node(wick_simplify *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  if (n->nout != 1 || n->nregion || s->c.b.status) return false;
  wick_value *in = wick_new(s->mem, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = s->c.to[n->in[k].id];
  s->c.b.loc = n->loc;
  wick_value v = simplify_expanded(s, n, in);
  if (!v.id && op->simplify) v = op->simplify(s, n, in);
  if (!v.id) return false;
  const wick_value_info *old = &s->c.f->value[n->first.id];
  s->c.to[n->first.id] = v;
  if (!s->c.b.values.at[v.id].name) wick_build_name(&s->c.b, v, old->name, old->relation);
  return true;
}

static wick_func *simplify_once(const wick_func *f, wick_arena *mem, uint32_t *hits)
{
  wick_simplify s = {.mem = mem, .uses = wick_uses_of(f, mem)};
  s.c = wick_copy_begin(f, mem);
  *hits = 0;
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (simplify_node(&s, &f->node[i]))
      ++*hits;
    else
      wick_copy_node(&s.c, &f->node[i]);
  }
  return wick_copy_end(&s.c);
}

wick_status wick_pass_simplify(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  uint32_t hits = 1;
  wick_func *r = NULL;
  for (uint32_t i = 0; i < SIMPLIFY_ROUNDS && hits; i++)
    r = simplify_once(r ? r : f, pass->mem, &hits);
  *out = r;
  return NULL;
}
