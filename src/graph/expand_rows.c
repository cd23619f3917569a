/* Node lowering, in rounds: what a row expands into may have an `expand` itself. */
#include "graph/expand_rows.h"

#include "ir/copy.h"

enum { EXPAND_ROWS_ROUNDS = 16 }; /* rows expand into simpler ones, so few are enough */

static bool expand_rows_hits(const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  return op->expand && !op->compute && !op->scalar;
}

/* What a node becomes may have a size that is taken to be equal to the node's own: it is given
 * that, for branches and loops are to have their types still. */
static wick_value expand_rows_same_type(wick_builder *b, wick_value v, wick_type type)
{
  if (b->status || !v.id || wick_type_eq(wick_built_type(b, v), type)) return v;
  const wick_type_info *t = wick_type_get(b->module, type);
  wick_attr shape = {.n = t->rank, .dims = t->dim};
  return wick_build(b, WICK_OP_reshape, 1, &v, &shape, 0, NULL);
}

static wick_status expand_rows_once(const wick_func *f, wick_arena *mem, wick_func **out)
{
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!expand_rows_hits(n) || c.b.status) {
      wick_copy_node(&c, n);
      continue;
    }
    wick_value *in = wick_new(mem, wick_value, n->nin), *to = wick_new(mem, wick_value, n->nout);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = c.to[n->in[k].id];
    c.b.loc = n->loc;
    wick_op_of(n)->expand(&c.b, n, in, to);
    for (uint32_t k = 0; k < n->nout; k++) {
      const wick_value_info *old = &f->value[n->first.id + k];
      to[k] = expand_rows_same_type(&c.b, to[k], old->type);
      c.to[n->first.id + k] = to[k];
      if (to[k].id) wick_build_name(&c.b, to[k], old->name, old->relation);
    }
  }
  return wick_copy_finish(&c, out);
}

static bool expand_rows_wanted(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (expand_rows_hits(&f->node[i])) return true;
  return false;
}

wick_status wick_pass_expand_rows(const wick_func *f, wick_arena *mem, wick_func **out)
{
  wick_func *r;
  WICK_TRY(expand_rows_once(f, mem, &r)); /* a copy at least: passes return new functions */
  for (uint32_t i = 0; i < EXPAND_ROWS_ROUNDS && expand_rows_wanted(r); i++)
    WICK_TRY(expand_rows_once(r, mem, &r));
  *out = r;
  return NULL;
}
