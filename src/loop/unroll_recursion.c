/* Each round replaces all calls by the original body, while the result is small. */
#include "loop/unroll_recursion.h"

#include "ir/call.h"
#include "ir/copy.h"
#include "ir/replay.h"

enum { UNROLL_NODES = 128 };

static bool unroll_is_call(const wick_func *f, const wick_node *n)
{
  return n->op == WICK_OP_call && n->attr[WICK_ATTR_call_callee].s == f->name;
}

/* Returns the number of calls of f by itself; 0 if f contains a loop. */
static uint32_t unroll_calls(const wick_func *f)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (f->node[i].op == WICK_OP_for || f->node[i].op == WICK_OP_while) return 0;
    n += unroll_is_call(f, &f->node[i]);
  }
  return n;
}

static wick_status unroll_once(const wick_func *f, const wick_func *body, wick_arena *mem,
                               wick_func **out)
{
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!unroll_is_call(f, n)) {
      wick_copy_node(&c, n);
      continue;
    }
    wick_replay r = wick_replay_func(&c.b, body);
    for (uint32_t k = 0; k < n->nin; k++) r.to[1 + k] = c.to[n->in[k].id];
    wick_replay_nodes(&r, 0, body->nnode - 1);
    for (uint32_t k = 0; k < n->nout; k++)
      c.to[n->first.id + k] = wick_replayed(&r, wick_return(body)->in[k]);
  }
  return wick_copy_finish(&c, out);
}

wick_status wick_pass_unroll_recursion(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out)
{
  *out = (wick_func *)(uintptr_t)f;
  for (uint32_t n; (n = unroll_calls(*out)) && (*out)->nnode + n * f->nnode <= UNROLL_NODES;)
    WICK_TRY(unroll_once(*out, f, pass->mem, out));
  return NULL;
}
