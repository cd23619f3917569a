/* The body becomes that of a `while`, which carries whether it goes on, the scalar parameters and
 * the results. A branch at the end yields all of them. A call that passes another buffer on is no
 * step: the buffer may be in the frame, which the step would write again. */
#include "loop/tail_calls.h"

#include "ir/call.h"
#include "ir/copy.h"

typedef struct tail {
  wick_copier c;
  const wick_func *f;
  wick_arena *tmp;
  uint32_t nparam, nout;   /* those that are carried */
  const uint32_t *carried; /* the parameters that are scalars */
  const wick_type *type;   /* of the carried values */
} tail;

/* Returns the last node of a region if its results are exactly what the region ends with; else
 * NULL. */
static const wick_node *tail_last(const wick_func *f, uint32_t begin, uint32_t end)
{
  const wick_node *last = NULL, *r = &f->node[end - 1];
  for (uint32_t i = begin; i + 1 < end; i = f->node[i].end) last = &f->node[i];
  if (!last || last->nout != r->nin) return NULL;
  for (uint32_t k = 0; k < r->nin; k++)
    if (r->in[k].id != last->first.id + k) return NULL;
  return last;
}

static bool tail_is_buffer(const wick_func *f, uint32_t param)
{
  return wick_info_of(f, (wick_value){param + 1})->kind == WICK_BUFFER;
}

static bool tail_is_call(const wick_func *f, const wick_node *n)
{
  bool same = n->op == WICK_OP_call && n->attr[WICK_ATTR_call_callee].s == f->name;
  for (uint32_t k = 0; same && k < f->nparam; k++)
    same = !tail_is_buffer(f, k) || n->in[k].id == k + 1;
  return same;
}

/* Returns whether the region ends in a call of f, in one of its branches. */
static bool tail_any(const wick_func *f, uint32_t begin, uint32_t end)
{
  const wick_node *last = tail_last(f, begin, end);
  if (!last) return false;
  if (tail_is_call(f, last)) return true;
  bool any = false;
  for (uint32_t r = 0; last->op == WICK_OP_if && r < 2; r++)
    any = any || tail_any(f, last->region[r].begin, last->region[r].end);
  return any;
}

/* Builds the region, and sets `out` to the carried values after it. `param`: those before it. */
static void tail_region(tail *t, uint32_t begin, uint32_t end, wick_value param, wick_value *out)
{
  const wick_func *f = t->f;
  wick_builder *b = &t->c.b;
  uint32_t n = 1 + t->nparam;
  const wick_node *last = tail_any(f, begin, end) ? tail_last(f, begin, end) : NULL;
  uint32_t stop = last ? (uint32_t)(last - f->node) : end - 1;
  for (uint32_t i = begin; i < stop; i++) wick_copy_node(&t->c, &f->node[i]);
  if (last && last->op == WICK_OP_if) {
    b->loc = last->loc;
    wick_build_open(b, WICK_OP_if, 1, &t->c.to[last->in[0].id], NULL, 0, NULL);
    for (uint32_t r = 0; r < 2; r++) {
      wick_region_begin(b, 0, NULL);
      tail_region(t, last->region[r].begin, last->region[r].end, param, out);
      wick_yield(b, n + t->nout, out);
    }
    wick_value v = wick_build_close(b);
    for (uint32_t k = 0; k < n + t->nout; k++) out[k].id = v.id + k;
    return;
  }
  const wick_node *r = &f->node[end - 1];
  out[0] = wick_build_const(b, t->type[0], 0, last != NULL);
  for (uint32_t k = 0; k < t->nparam; k++)
    out[1 + k] = last ? t->c.to[last->in[t->carried[k]].id] : (wick_value){param.id + k};
  for (uint32_t k = 0; k < t->nout; k++)
    out[n + k] = last ? wick_build_const(b, t->type[n + k], 0, 0) : t->c.to[r->in[k].id];
}

wick_status wick_pass_tail_calls(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  *out = (wick_func *)(uintptr_t)f;
  if (!wick_func_is_procedure(f) || !tail_any(f, 0, f->nnode)) return NULL;
  const wick_node *ret = wick_return(f);
  uint32_t *carried = wick_new(pass->tmp, uint32_t, f->nparam + 1), nparam = 0;
  for (uint32_t k = 0; k < f->nparam; k++)
    if (!tail_is_buffer(f, k)) carried[nparam++] = k;
  uint32_t n = 1 + nparam + ret->nin;
  wick_type *type = wick_new(pass->tmp, wick_type, n);
  wick_value *v = wick_new(pass->tmp, wick_value, n);
  tail t = {wick_copy_begin(f, pass->mem), f, pass->tmp, nparam, ret->nin, carried, type};
  wick_builder *b = &t.c.b;
  type[0] = wick_type_scalar(f->module, WICK_BOOL, 1);
  v[0] = wick_build_const(b, type[0], 0, 1);
  for (uint32_t k = 0; k < nparam; k++)
    type[1 + k] = f->value[1 + carried[k]].type, v[1 + k] = t.c.to[1 + carried[k]];
  for (uint32_t k = 0; k < ret->nin; k++) {
    type[1 + nparam + k] = wick_type_of(f, ret->in[k]);
    v[1 + nparam + k] = wick_build_const(b, type[1 + nparam + k], 0, 0);
  }
  wick_build_open(b, WICK_OP_while, n, v, NULL, 0, NULL);
  wick_value go = wick_region_begin(b, n, type);
  wick_yield(b, 1, &go);
  wick_value first = wick_region_begin(b, n, type);
  for (uint32_t k = 0; k < nparam; k++) t.c.to[1 + carried[k]] = (wick_value){first.id + 1 + k};
  tail_region(&t, 0, f->nnode, (wick_value){first.id + 1}, v);
  wick_yield(b, n, v);
  first = wick_build_close(b);
  for (uint32_t k = 0; k < ret->nin; k++) v[k].id = first.id + 1 + nparam + k;
  wick_build_return(b, ret->nin, v);
  return wick_copy_finish(&t.c, out);
}
