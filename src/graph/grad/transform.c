/* Expansion of transformations in reverse and forward mode. */
#include "graph/grad/transform.h"

#include "graph/grad/forward.h"
#include "ir/call.h"
#include "ops/gradient/grad.h"

/* Returns the function that n transforms. NULL after a failure. */
static const wick_func *transform_callee(wick_copier *c, const wick_node *n)
{
  const char *name = n->attr[WICK_ATTR_value_and_grad_callee].s;
  const wick_func *f = wick_module_find(c->b.module, name);
  if (f && f->level == WICK_GRAPH) return f;
  wick_build_fail(&c->b, WICK_EINVAL, "there is no function @%s", name);
  return NULL;
}

/* Sets `in` to the operands. An operand that is another one, too, gets a value of its own, because
 * each is a variable of its own. */
static void transform_operands(wick_copier *c, const wick_node *n, wick_value *in)
{
  for (uint32_t k = 0; k < n->nin; k++) {
    bool twice = false;
    in[k] = c->to[n->in[k].id];
    for (uint32_t i = 0; i < k; i++) twice = twice || in[i].id == in[k].id;
    if (twice) in[k] = wick_build_again(&c->b, in[k]);
  }
}

/* Builds the body of f. */
static void transform_body(wick_copier *c, const wick_node *n, const wick_func *f,
                           const wick_value *in, wick_value *out)
{
  wick_node call = *n;
  call.nin = (uint16_t)f->nparam, call.nout = wick_return(f)->nin;
  wick_build_body(&c->b, f, &call, in, out);
}

void wick_expand_value_and_grad(wick_copier *c, const wick_node *n)
{
  wick_builder *b = &c->b;
  const wick_func *f = transform_callee(c, n);
  const wick_attr *by = &n->attr[WICK_ATTR_value_and_grad_wrt];
  if (!f || b->status) return;
  uint32_t nout = wick_return(f)->nin;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u), *out = &c->to[n->first.id],
             *wrt = wick_new(b->mem, wick_value, by->n + 1);
  transform_operands(c, n, in);
  uint32_t begin = b->nodes.n;
  transform_body(c, n, f, in, out);
  if (b->status) return;
  for (uint32_t i = 0; i < by->n; i++) wrt[i] = in[by->ints[i]];
  uint32_t end = b->nodes.n;
  wick_value seed = wick_grad_fill(b, out[0], 1);
  const wick_grad_request r = {.begin = begin,
                               .end = end,
                               .nof = 1,
                               .of = out,
                               .cotangent = &seed,
                               .nwrt = by->n,
                               .wrt = wrt};
  wick_grad_build(b, &r, out + nout);
  for (uint32_t i = 0; i < by->n && !b->status; i++)
    if (!out[nout + i].id) out[nout + i] = wick_grad_fill(b, wrt[i], 0);
}

void wick_expand_jvp(wick_copier *c, const wick_node *n)
{
  wick_builder *b = &c->b;
  const wick_func *f = transform_callee(c, n);
  const wick_attr *by = &n->attr[WICK_ATTR_jvp_wrt];
  if (!f || b->status) return;
  uint32_t nout = wick_return(f)->nin;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u), *out = &c->to[n->first.id],
             *tangent = wick_new(b->mem, wick_value, f->nparam + 1);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = c->to[n->in[k].id];
  for (uint32_t i = 0; i < by->n; i++) tangent[by->ints[i]] = in[f->nparam + i];
  wick_value *got = wick_new(b->mem, wick_value, nout + 1u);
  wick_forward_body(b, f, in, tangent, out, got);
  for (uint32_t k = 0, at = nout; k < nout && !b->status; k++)
    if (wick_grad_has(b, out[k])) out[at++] = got[k].id ? got[k] : wick_grad_fill(b, out[k], 0);
}
