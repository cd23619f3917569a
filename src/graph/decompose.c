/* Decomposes in rounds, because the operators in a definition may have definitions themselves. */
#include "graph/decompose.h"

#include "ir/copy.h"
#include "target/target.h"

enum { DECOMPOSE_ROUNDS = 16 }; /* definitions use simpler operators, so few rounds are enough */

static bool decompose_hits(const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  return op->expand && !op->compute && !op->scalar;
}

/* Gives the definition's result the type of the node. Its size may only be assumed equal to the
 * node's own; branches and loops must keep their types. */
static wick_value decompose_same_type(wick_builder *b, wick_value v, wick_type type)
{
  if (b->status || !v.id || wick_type_eq(wick_built_type(b, v), type)) return v;
  const wick_type_info *t = wick_type_get(b->module, type);
  return wick_build_reshape(b, v, t->rank, t->dim);
}

static wick_status decompose_once(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  wick_arena *mem = pass->mem;
  wick_copier c = wick_copy_begin(f, mem);
  if (pass->target) c.b.vector_bytes = pass->target->vector_bytes;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!decompose_hits(n) || c.b.status) {
      wick_copy_node(&c, n);
      continue;
    }
    wick_value *in = wick_new(mem, wick_value, n->nin), *to = wick_new(mem, wick_value, n->nout);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = c.to[n->in[k].id];
    c.b.loc = n->loc;
    wick_op_of(n)->expand(&c.b, n, in, to);
    for (uint32_t k = 0; k < n->nout; k++) {
      const wick_value_info *old = &f->value[n->first.id + k];
      to[k] = decompose_same_type(&c.b, to[k], old->type);
      c.to[n->first.id + k] = to[k];
      if (to[k].id) wick_build_name(&c.b, to[k], old->name, old->relation);
    }
  }
  return wick_copy_finish(&c, out);
}

static bool decompose_wanted(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (decompose_hits(&f->node[i])) return true;
  return false;
}

wick_status wick_pass_decompose(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_func *r;
  WICK_TRY(decompose_once(pass, f, &r)); /* at least a copy: passes return new functions */
  for (uint32_t i = 0; i < DECOMPOSE_ROUNDS && decompose_wanted(r); i++)
    WICK_TRY(decompose_once(pass, r, &r));
  *out = r;
  return NULL;
}
