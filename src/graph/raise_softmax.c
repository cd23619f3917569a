/* Raises softmax by rules: the quotient, or the product with the reciprocal of the sum. */
#include "graph/raise_softmax.h"

#include "ir/rewrite.h"

/* Returns the axis of v, a reduction of `like` along one axis that it keeps; UINT32_MAX if it is
 * none. */
static uint32_t raise_softmax_axis(wick_rewriter *r, wick_value v, wick_opcode op, wick_value like)
{
  wick_node n;
  if (!wick_rewrite_def(r, v, op, &n) || n.in[0].id != like.id) return UINT32_MAX;
  uint32_t rank = wick_rewrite_info(r, like)->rank, axes = wick_ops[op]->reduced_axes(n.attr, rank),
           axis = 0;
  if (wick_rewrite_info(r, v)->rank != rank || !axes || axes & (axes - 1)) return UINT32_MAX;
  while (axes >> axis != 1) axis++;
  return axis;
}

static wick_value raise_softmax(wick_rewriter *r)
{
  wick_value x = wick_rewrite_var(r, 'x'), e = wick_rewrite_var(r, 'e');
  uint32_t axis = raise_softmax_axis(r, wick_rewrite_var(r, 'm'), WICK_OP_reduce_max, x);
  if (axis == UINT32_MAX ||
      axis != raise_softmax_axis(r, wick_rewrite_var(r, 's'), WICK_OP_reduce_sum, e) ||
      !wick_elem_is_float(wick_rewrite_info(r, x)->elem))
    return (wick_value){0};
  wick_attr a = {.i = axis};
  return wick_build(&r->c.b, WICK_OP_softmax, 1, &x, &a, 0, NULL);
}

static const wick_rewrite raise_softmax_rules[] = {
    {"div(e=exp(sub(x, m=reduce_max(x, ..))), s=reduce_sum(e, ..))", NULL, NULL, raise_softmax},
    {"mul(e=exp(sub(x, m=reduce_max(x, ..))), reciprocal(s=reduce_sum(e, ..)))", NULL, NULL,
     raise_softmax},
    {NULL, NULL, NULL, NULL},
};

wick_status wick_pass_raise_softmax(const wick_pass_context *pass, const wick_func *f,
                                    wick_func **out)
{
  return wick_rewrite_pass(raise_softmax_rules, f, pass->mem, out);
}
