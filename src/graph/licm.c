/* When the traversal reaches a loop, it first copies the invariant nodes of its region, and of
 * loops inside it. It then skips them inside the region. */
#include "graph/licm.h"

#include "ir/copy.h"
#include "loop/licm.h"

enum { LICM_MORE = 4 }; /* limit on the ratio of the result's elements to those of the operands */

typedef struct licm_state {
  wick_copier c;
  bool *done; /* per node: it was copied before its loop */
  bool *in;   /* per value: defined in the current loop, and not moved out of it */
} licm_state;

static int64_t licm_numel(const wick_func *f, wick_value v)
{
  wick_dim n = wick_type_numel(f->module, wick_type_of(f, v));
  return wick_dim_is_const(n) ? n.v : 0;
}

/* Returns true if the result of n is not much larger than its operands. */
static bool licm_pays(const wick_func *f, const wick_node *n)
{
  int64_t from = 1, to = 0;
  for (uint32_t k = 0; k < n->nin; k++)
    if (n->in[k].id) from += licm_numel(f, n->in[k]);
  for (uint32_t k = 0; k < n->nout; k++) to += licm_numel(f, (wick_value){n->first.id + k});
  return n->op == WICK_OP_const || to <= LICM_MORE * from;
}

static bool licm_moves(const licm_state *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  if (n->nregion || op->terminator || op->effect != WICK_PURE || n->op == WICK_OP_call)
    return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (s->in[n->in[k].id]) return false;
  return licm_pays(s->c.f, n);
}

static void licm_mark(licm_state *s, wick_value first, uint32_t n, bool in)
{
  for (uint32_t k = 0; k < n; k++) s->in[first.id + k] = in;
}

/* Returns the region of n that surely runs, or NULL. */
static const wick_region *licm_sure(const wick_node *n)
{
  int64_t only = n->op == WICK_OP_switch ? n->attr[WICK_ATTR_switch_only].i : -1;
  return only < 0 ? NULL : &n->region[only];
}

/* Copies the invariant nodes of the range before the loop. */
static void licm_range(licm_state *s, uint32_t begin, uint32_t end)
{
  const wick_func *f = s->c.f;
  for (uint32_t i = begin; i < end; i++) {
    const wick_node *n = &f->node[i];
    const wick_region *sure = licm_sure(n);
    if (sure) licm_range(s, sure->begin, sure->end);
    if (n->nregion && n->op != WICK_OP_loop) { /* its branches may not run */
      i = n->end - 1;
      continue;
    }
    if (s->done[i] || !licm_moves(s, n)) continue;
    wick_copy_node(&s->c, n);
    licm_mark(s, n->first, n->nout, false);
    s->done[i] = true;
  }
}

static void licm_loop(licm_state *s, const wick_node *loop)
{
  const wick_func *f = s->c.f;
  uint32_t begin = (uint32_t)(loop - f->node) + 1;
  for (uint32_t i = begin; i < loop->end; i++) {
    const wick_node *n = &f->node[i];
    if (!s->done[i]) licm_mark(s, n->first, n->nout, true);
    for (uint32_t r = 0; r < n->nregion; r++)
      licm_mark(s, n->region[r].first, n->region[r].nparam, true);
  }
  licm_mark(s, loop->region[0].first, loop->region[0].nparam, true);
  licm_range(s, begin, loop->end);
  for (uint32_t i = begin; i < loop->end; i++)
    licm_mark(s, f->node[i].first, f->node[i].nout, false);
}

wick_status wick_pass_licm(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *mem = pass->mem;
  if (f->level == WICK_LOOP) return wick_licm_loop(pass, f, out);
  licm_state s = {.c = wick_copy_begin(f, mem)};
  s.done = wick_new(mem, bool, f->nnode);
  s.in = wick_new(mem, bool, f->nvalue + 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op == WICK_OP_loop) licm_loop(&s, n);
    if (!s.done[i]) wick_copy_node(&s.c, n);
  }
  return wick_copy_finish(&s.c, out);
}
