/* Each round replaces all calls by the original body, while the result is small. */
#include "loop/unroll_recursion.h"

#include "ir/call.h"
#include "ir/copy.h"
#include "ir/replay.h"

enum {
  UNROLL_NODES = 256, /* of the result */
  UNROLL_HEAP = 8,    /* an operator on objects is as much code as that many others */
};

static bool unroll_is_call(const wick_func *f, const wick_node *n)
{
  return n->op == WICK_OP_call && n->attr[WICK_ATTR_call_callee].s == f->name;
}

static uint32_t unroll_size(const wick_func *f)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->nnode; i++) n += wick_op_of(&f->node[i])->heap ? UNROLL_HEAP : 1;
  return n;
}

/* Returns whether `body` has a view of a parameter whose operand in n is in another space: the view's
 * type has the space. */
static bool unroll_moves_view(const wick_func *f, const wick_node *n, const wick_func *body)
{
  for (uint32_t i = 0; i < body->nnode; i++) {
    uint32_t k = body->node[i].op == WICK_OP_view ? body->node[i].in[0].id : 0;
    if (k && k <= n->nin && !wick_type_eq(wick_type_of(f, n->in[k - 1]), body->value[k].type))
      return true;
  }
  return false;
}

/* Returns the number of calls of f by itself; 0 if f contains a loop over a range, or a call cannot be
 * replaced. */
static uint32_t unroll_calls(const wick_func *f, const wick_func *body)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (f->node[i].op == WICK_OP_for) return 0;
    if (!unroll_is_call(f, &f->node[i])) continue;
    if (unroll_moves_view(f, &f->node[i], body)) return 0;
    n++;
  }
  return n;
}

/* A view is in the space of its buffer, which may be another one than the parameter's. */
static bool unroll_view(wick_replay *r, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_builder *b = r->b;
  if (n->op != WICK_OP_view || b->status) return false;
  wick_type_info t = *wick_type_get(b->module, r->value[n->first.id].type);
  t.space = wick_built_info(b, in[0])->space;
  wick_type type = wick_type_intern(b->module, &t);
  *out = wick_build(b, n->op, n->nin, in, n->attr, 1, &type);
  return true;
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
    r.call = n->loc;
    for (uint32_t k = 0; k < n->nin; k++) r.to[1 + k] = c.to[n->in[k].id];
    r.instead = unroll_view;
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
  uint32_t size = unroll_size(f);
  for (uint32_t n; (n = unroll_calls(*out, f)) && unroll_size(*out) + n * size <= UNROLL_NODES;)
    WICK_TRY(unroll_once(*out, f, pass->mem, out));
  return NULL;
}
