/* The expansion of scalar rows, in rounds: what one row expands into may have an `expand` itself.
 */
#include "loop/expand.h"

bool wick_expand_applies(const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  return op->scalar && op->expand;
}

/* Floats that are no arithmetic type: the same row in that type, rounded at the end. */
static bool expand_widened(wick_builder *b, const wick_node *n, const wick_value *in,
                           wick_value *out)
{
  wick_elem e = wick_built_info(b, in[n->nin - 1])->elem, arith = wick_elem_storage[e].arith;
  if (!wick_elem_is_float(e) || arith == e) return false;
  wick_value wide[4];
  for (uint32_t i = 0; i < n->nin; i++)
    wide[i] = wick_built_info(b, in[i])->elem == e ? wick_build_cast(b, in[i], arith) : in[i];
  out[0] = wick_build(b, n->op, n->nin, wide, n->attr, 0, NULL);
  if (!b->status && wick_built_info(b, out[0])->elem == arith)
    out[0] = wick_build_cast(b, out[0], e);
  return true;
}

void wick_expand_node(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  if (b->status || expand_widened(b, n, in, out)) return;
  wick_op_of(n)->expand(b, n, in, out);
}

static wick_func *expand_once(const wick_func *f, wick_arena *mem)
{
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!wick_expand_applies(n)) {
      wick_copy_node(&c, n);
      continue;
    }
    wick_value in[4];
    for (uint32_t k = 0; k < n->nin; k++) in[k] = c.to[n->in[k].id];
    c.b.loc = n->loc;
    wick_expand_node(&c.b, n, in, &c.to[n->first.id]);
  }
  return wick_copy_end(&c);
}

static bool expand_wanted(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (wick_expand_applies(&f->node[i])) return true;
  return false;
}

wick_func *wick_pass_expand(const wick_func *f, wick_arena *mem)
{
  wick_func *r = expand_once(f, mem); /* a copy at least: passes return new functions */
  while (expand_wanted(r)) r = expand_once(r, mem);
  return r;
}
