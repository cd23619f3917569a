/* When the walk comes to a loop, the nodes of its region that hang on nothing in it are copied
 * first, with those of loops within it; the walk then leaves them out. */
#include "graph/invariant.h"

#include "ir/copy.h"

enum { INVARIANT_MORE = 4 }; /* times the elements of its operands */

typedef struct invariant_state {
  wick_copier c;
  bool *done; /* per node: it was copied before its loop */
  bool *in;   /* per value: defined in the loop that is looked at, and not moved out of it */
} invariant_state;

static int64_t invariant_numel(const wick_func *f, wick_value v)
{
  wick_dim n = wick_type_numel(f->module, wick_type_of(f, v));
  return wick_dim_is_const(n) ? n.v : 0;
}

/* What it makes is not much more than what it is made of. */
static bool invariant_pays(const wick_func *f, const wick_node *n)
{
  int64_t from = 1, to = 0;
  for (uint32_t k = 0; k < n->nin; k++)
    if (n->in[k].id) from += invariant_numel(f, n->in[k]);
  for (uint32_t k = 0; k < n->nout; k++) to += invariant_numel(f, (wick_value){n->first.id + k});
  return n->op == WICK_OP_const || to <= INVARIANT_MORE * from;
}

static bool invariant_moves(const invariant_state *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  if (n->nregion || op->terminator || op->effect != WICK_PURE || n->op == WICK_OP_call)
    return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (s->in[n->in[k].id]) return false;
  return invariant_pays(s->c.f, n);
}

static void invariant_mark(invariant_state *s, wick_value first, uint32_t n, bool in)
{
  for (uint32_t k = 0; k < n; k++) s->in[first.id + k] = in;
}

static void invariant_loop(invariant_state *s, const wick_node *loop)
{
  const wick_func *f = s->c.f;
  uint32_t begin = (uint32_t)(loop - f->node) + 1;
  for (uint32_t i = begin; i < loop->end; i++) {
    const wick_node *n = &f->node[i];
    if (!s->done[i]) invariant_mark(s, n->first, n->nout, true);
    for (uint32_t r = 0; r < n->nregion; r++)
      invariant_mark(s, n->region[r].first, n->region[r].nparam, true);
  }
  invariant_mark(s, loop->region[0].first, loop->region[0].nparam, true);
  for (uint32_t i = begin; i < loop->end; i++) {
    const wick_node *n = &f->node[i];
    if (n->op == WICK_OP_if) { /* what its arms hold may not run */
      i = n->end - 1;
      continue;
    }
    if (s->done[i] || !invariant_moves(s, n)) continue;
    wick_copy_node(&s->c, n);
    invariant_mark(s, n->first, n->nout, false);
    s->done[i] = true;
  }
  for (uint32_t i = begin; i < loop->end; i++)
    invariant_mark(s, f->node[i].first, f->node[i].nout, false);
}

wick_func *wick_pass_invariant(const wick_func *f, wick_arena *mem)
{
  invariant_state s = {.c = wick_copy_begin(f, mem)};
  s.done = wick_new(mem, bool, f->nnode);
  s.in = wick_new(mem, bool, f->nvalue + 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op == WICK_OP_loop) invariant_loop(&s, n);
    if (!s.done[i]) wick_copy_node(&s.c, n);
  }
  return wick_copy_end(&s.c);
}
