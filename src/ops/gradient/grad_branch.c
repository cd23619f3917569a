/* Derivatives of branches.
 *
 * A second branch takes the same arm as the first one. It recomputes the values of that arm, and
 * yields the cotangents of the values from outside that the arm uses. */
#include "ir/replay.h"
#include "ops/gradient/grad.h"

/* Builds one arm of the second branch. It yields the cotangents of the captured values. */
static void branch_arm(wick_adjoint *a, const wick_region *g)
{
  wick_builder *b = a->b;
  const wick_node *n = a->node;
  wick_value *of = wick_new(b->mem, wick_value, n->nout + 1u),
             *cotangent = wick_new(b->mem, wick_value, n->nout + 1u),
             *got = wick_new(b->mem, wick_value, a->ncaptured + 1u);
  wick_replay r = wick_replay_begin(b);
  wick_grad_request request = {
      .of = of, .cotangent = cotangent, .nwrt = a->ncaptured, .wrt = a->captured};
  wick_region_begin(b, 0, NULL);
  request.begin = b->nodes.n;
  wick_replay_nodes(&r, g->begin, g->end - 1);
  request.end = b->nodes.n;
  for (uint32_t k = 0; k < n->nout && !b->status; k++)
    if (a->dout[k].id) {
      of[request.nof] = wick_replayed(&r, r.node[g->end - 1].in[k]);
      cotangent[request.nof++] = a->dout[k];
    }
  wick_grad_build(b, &request, got);
  for (uint32_t k = 0; k < a->ncaptured && !b->status; k++)
    if (!got[k].id) got[k] = wick_grad_fill(b, a->captured[k], 0);
  wick_yield(b, a->ncaptured, got);
}

void wick_grad_if(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (!a->ncaptured || b->status) return;
  wick_build_open(b, WICK_OP_if, 1, a->in, a->node->attr, 0, NULL);
  for (uint32_t k = 0; k < 2 && !b->status; k++) branch_arm(a, &a->node->region[k]);
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < a->ncaptured && first.id; k++)
    a->dcaptured[k] = (wick_value){first.id + k};
}
