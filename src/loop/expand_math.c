/* Expands scalar operators in rounds, because an expansion may contain operators that are expanded
 * themselves. */
#include "loop/expand_math.h"

#include "ir/copy.h"
/* The type of the last operand decides, because it is data for every scalar operator. */
static bool expand_math_hits(const wick_op *op, wick_elem e)
{
  return op->scalar && op->expand && (!op->expands || op->expands & WICK_BIT(e));
}

/* Floats without arithmetic: the same operator on their arithmetic type, rounded at the end. */
static bool expand_math_widened(wick_builder *b, const wick_node *n, const wick_value *in,
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

bool wick_expand_math_node(wick_builder *b, const wick_node *n, const wick_value *in,
                           wick_value *out)
{
  if (b->status || !n->nin || !in[n->nin - 1].id) return false;
  if (!expand_math_hits(wick_op_of(n), wick_built_info(b, in[n->nin - 1])->elem)) return false;
  if (!expand_math_widened(b, n, in, out)) wick_op_of(n)->expand(b, n, in, out);
  return true;
}

static wick_status expand_math_once(const wick_func *f, wick_arena *mem, wick_func **out)
{
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    wick_value in[4], *to = &c.to[n->first.id];
    for (uint32_t k = 0; k < n->nin && k < 4; k++) in[k] = c.to[n->in[k].id];
    c.b.loc = n->loc;
    if (!wick_op_of(n)->scalar || !wick_expand_math_node(&c.b, n, in, to)) wick_copy_node(&c, n);
  }
  return wick_copy_finish(&c, out);
}

static bool expand_math_wanted(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!wick_op_of(n)->scalar || !n->nin) continue;
    wick_elem e = wick_type_get(f->module, wick_type_of(f, n->in[n->nin - 1]))->elem;
    if (expand_math_hits(wick_op_of(n), e)) return true;
  }
  return false;
}

wick_status wick_pass_expand_math(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  wick_arena *mem = pass->mem;
  WICK_TRY(expand_math_once(f, mem, out)); /* at least a copy: passes return new functions */
  while (expand_math_wanted(*out)) WICK_TRY(expand_math_once(*out, mem, out));
  return NULL;
}
