/* Simplifies: repeats a traversal until it changes nothing, at most SIMPLIFY_ROUNDS times. */
#include "graph/simplify.h"

#include "ir/op.h"
#include "ir/rewrite.h"

enum { SIMPLIFY_ROUNDS = 8 };

/* Builds n on the operand of a `broadcast_to` instead of its result, if n's result keeps its shape.
 * Returns 0 otherwise. */
static wick_value simplify_expanded(wick_rewriter *r, const wick_node *n, wick_value *in)
{
  wick_builder *b = &r->c.b;
  bool any = false;
  const wick_type_info *to = wick_info_of(r->c.f, n->first);
  if (!wick_op_of(n)->scalar || n->nin < 2 || wick_op_of(n)->typed) return (wick_value){0};
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_node d;
    bool other = false; /* another operand has the result's shape by itself */
    for (uint32_t i = 0; i < n->nin; i++) {
      const wick_type_info *t = in[i].id ? wick_built_info(b, in[i]) : NULL;
      bool same = i != k && t && t->rank == to->rank;
      for (uint32_t j = 0; same && j < to->rank; j++) same = wick_dim_eq(t->dim[j], to->dim[j]);
      other = other || same;
    }
    if (other && in[k].id && wick_rewrite_def(r, in[k], WICK_OP_broadcast_to, &d))
      in[k] = d.in[0], any = true;
  }
  return any ? wick_copy_with(b, r->c.f, n, in) : (wick_value){0};
}

static bool simplify_node(wick_rewriter *r, const wick_node *n)
{
  if (n->nout == 1 && !n->nregion && !r->c.b.status) {
    wick_value *in = wick_new(r->mem, wick_value, n->nin);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = r->c.to[n->in[k].id];
    r->c.b.loc = n->loc;
    wick_value v = simplify_expanded(r, n, in);
    if (v.id) {
      wick_rewrite_by(r, n, v);
      return true;
    }
  }
  return wick_rewrite_node(r, n, wick_op_of(n)->simplify);
}

static wick_func *simplify_once(const wick_func *f, wick_arena *mem, uint32_t *hits)
{
  wick_rewriter r = wick_rewriter_begin(f, mem);
  *hits = 0;
  for (uint32_t i = 0; i < f->nnode; i++) *hits += simplify_node(&r, &f->node[i]);
  return wick_copy_end(&r.c);
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
