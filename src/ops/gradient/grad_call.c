/* Derivatives of calls. A called function is differentiated as if it were inlined. */
#include "ir/call.h"
#include "ops/gradient/grad.h"

void wick_grad_call(wick_adjoint *a) { wick_grad_through(a, wick_build_inlined_call); }

/* Builds the body of the function on operands that are not merged with the arguments. */
static void call_again(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_value *again = wick_new(b->mem, wick_value, n->nin + 1u);
  for (uint32_t k = 0; k < n->nin && !b->status; k++)
    again[k] = wick_built_info(b, in[k])->kind == WICK_TENSOR
                   ? wick_build1(b, WICK_OP_barrier, in[k])
                   : in[k];
  wick_node call = *n;
  call.op = WICK_OP_call;
  wick_build_inlined_call(b, &call, again, out);
}

void wick_grad_checkpoint(wick_adjoint *a) { wick_grad_through(a, call_again); }

void wick_grad_with_vjp(wick_adjoint *a)
{
  wick_builder *b = a->b;
  const wick_node *n = a->node;
  const char *name = n->attr[WICK_ATTR_with_vjp_vjp].s;
  const wick_func *g = wick_module_find(b->module, name);
  if (b->status) return;
  if (!g || g->level != WICK_GRAPH) {
    wick_build_fail(b, WICK_EINVAL, "there is no function @%s", name);
    return;
  }
  uint32_t nin = n->nin, nout = wick_return(g)->nin;
  wick_value *in = wick_new(b->mem, wick_value, (size_t)n->nin + n->nout + 1);
  wick_type *type = wick_new(b->mem, wick_type, nout + 1u);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = a->in[k];
  for (uint32_t k = 0; k < n->nout; k++)
    if (wick_grad_has(b, a->out[k]))
      in[nin++] = a->dout[k].id ? a->dout[k] : wick_grad_fill(b, a->out[k], 0);
  for (uint32_t k = 0; k < nout; k++) type[k] = wick_type_of(g, wick_return(g)->in[k]);
  wick_attr callee = {.s = name};
  wick_value v = wick_build(b, WICK_OP_call, nin, in, &callee, nout, type);
  uint32_t first = (uint32_t)n->attr[WICK_ATTR_with_vjp_constants].i;
  for (uint32_t k = first, at = 0; k < n->nin && !b->status; k++)
    if (wick_grad_has(b, a->in[k])) a->din[k] = (wick_value){v.id + at++};
}
