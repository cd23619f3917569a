/* A replay that keeps the current contents of each reference. */
#include "graph/promote_refs.h"

#include "ir/replay.h"

typedef struct promote_ref { /* one that is promoted */
  uint32_t made;             /* the node that makes it */
  uint32_t n;                /* values that it holds */
  wick_value *now;           /* the contents, in the new function */
} promote_ref;

typedef struct promote_state {
  const wick_func *f;
  wick_arena *tmp;
  promote_ref **of; /* by old value; NULL: not promoted */
} promote_state;

/* The reference that n reads or writes, if that is promoted. */
static promote_ref *promote_on(const promote_state *s, const wick_node *n)
{
  bool on = n->op == WICK_OP_ref_get || n->op == WICK_OP_ref_set;
  return on ? s->of[n->in[0].id] : NULL;
}

/* Finds the references that are promoted. Returns false if there are none. */
static bool promote_find(promote_state *s)
{
  bool any = false;
  const wick_func *f = s->f;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op != WICK_OP_ref_new) continue;
    promote_ref *p = s->of[n->first.id] = wick_new(s->tmp, promote_ref, 1);
    *p = (promote_ref){i, n->nin, wick_new(s->tmp, wick_value, n->nin)};
  }
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    for (uint32_t k = promote_on(s, n) != NULL; k < n->nin; k++) s->of[n->in[k].id] = NULL;
  }
  for (uint32_t v = 1; v <= f->nvalue; v++) any = any || s->of[v];
  return any;
}

typedef wick_list(promote_ref *) promote_list;

/* Lists the references from outside n that its regions write, each once. */
static promote_list promote_written(const promote_state *s, const wick_node *n)
{
  promote_list out = {0};
  uint32_t at = (uint32_t)(n - s->f->node);
  for (uint32_t i = at + 1; i < n->end; i++) {
    const wick_node *set = &s->f->node[i];
    promote_ref *p = set->op == WICK_OP_ref_set ? s->of[set->in[0].id] : NULL;
    bool known = !p || p->made > at;
    for (uint32_t k = 0; k < out.n && !known; k++) known = out.at[k] == p;
    if (!known) wick_push(s->tmp, &out, p);
  }
  return out;
}

typedef wick_list(wick_value) promote_values;

static void promote_add(const promote_state *s, promote_values *out, const promote_list *refs)
{
  for (uint32_t i = 0; i < refs->n; i++)
    for (uint32_t k = 0; k < refs->at[i]->n; k++) wick_push(s->tmp, out, refs->at[i]->now[k]);
}

/* The contents are the values from `first` on. Returns the value after them. */
static wick_value promote_take(const promote_list *refs, wick_value first)
{
  for (uint32_t i = 0; i < refs->n; i++)
    for (uint32_t k = 0; k < refs->at[i]->n; k++, first.id++) refs->at[i]->now[k] = first;
  return first;
}

/* Replays a region. Contents come after its first `ncarried` parameters if it is a loop's, and
 * after `nkept` of its yields. */
static void promote_region(wick_replay *r, const promote_state *s, const wick_node *n,
                           const wick_region *g, const promote_list *refs, uint32_t nkept)
{
  wick_builder *b = r->b;
  const wick_node *y = &r->node[g->end - 1];
  bool loop = n->op == WICK_OP_loop;
  promote_values before = {0}, yield = {0};
  promote_add(s, &before, refs);
  uint32_t nparam = g->nparam + (loop ? before.n : 0);
  wick_type *type = wick_new(s->tmp, wick_type, nparam + 1);
  for (uint32_t k = 0; k < g->nparam; k++) type[k] = r->value[g->first.id + k].type;
  for (uint32_t k = g->nparam; k < nparam; k++)
    type[k] = wick_built_type(b, before.at[k - g->nparam]);
  wick_value param = wick_region_begin(b, nparam, type);
  for (uint32_t k = 0; k < g->nparam; k++) r->to[g->first.id + k] = (wick_value){param.id + k};
  if (loop) promote_take(refs, (wick_value){param.id + g->nparam});
  wick_replay_nodes(r, g->begin, g->end - 1);
  for (uint32_t k = 0; k < nkept; k++) wick_push(s->tmp, &yield, wick_replayed(r, y->in[k]));
  promote_add(s, &yield, refs);
  for (uint32_t k = nkept; k < y->nin; k++) wick_push(s->tmp, &yield, wick_replayed(r, y->in[k]));
  if (!b->status) wick_yield(b, yield.n, yield.at);
  uint32_t at = 0;
  for (uint32_t i = 0; i < refs->n; i++) /* the next region begins as this one did */
    for (uint32_t k = 0; k < refs->at[i]->n; k++) refs->at[i]->now[k] = before.at[at++];
}

static bool promote_flow(wick_replay *r, const promote_state *s, const wick_node *n,
                         const wick_value *in, wick_value *out)
{
  wick_builder *b = r->b;
  promote_list refs = promote_written(s, n);
  promote_values all = {0};
  if (!refs.n) return false;
  bool loop = n->op == WICK_OP_loop;
  uint32_t ncarried = loop ? n->nin - 1u : n->nout;
  for (uint32_t k = 0; k < n->nin; k++) wick_push(s->tmp, &all, in[k]);
  if (loop) promote_add(s, &all, &refs);
  wick_build_open(b, n->op, all.n, all.at, n->attr, 0, NULL);
  for (uint32_t g = 0; g < n->nregion && !b->status; g++)
    promote_region(r, s, n, &n->region[g], &refs, loop + ncarried);
  wick_value first = wick_build_close(b);
  for (uint32_t k = 0; k < ncarried; k++) out[k] = (wick_value){first.id + k};
  wick_value after = promote_take(&refs, (wick_value){first.id + ncarried});
  for (uint32_t k = ncarried; k < n->nout; k++, after.id++) out[k] = after;
  return true;
}

static bool promote_instead(wick_replay *r, const wick_node *n, const wick_value *in,
                            wick_value *out)
{
  promote_state *s = r->arg;
  promote_ref *p = n->op == WICK_OP_ref_new ? s->of[n->first.id] : promote_on(s, n);
  if (n->nregion) return promote_flow(r, s, n, in, out);
  if (!p) return false;
  for (uint32_t k = 0; k < p->n; k++) {
    if (n->op == WICK_OP_ref_get)
      out[k] = p->now[k];
    else
      p->now[k] = in[k + (n->op == WICK_OP_ref_set)];
  }
  return true;
}

wick_status wick_pass_promote_refs(const wick_pass_context *pass, const wick_func *f,
                                   wick_func **out)
{
  wick_builder b = {.mem = pass->mem};
  promote_state s = {.f = f, .tmp = pass->tmp};
  s.of = wick_new(pass->tmp, promote_ref *, f->nvalue + 1);
  *out = (wick_func *)(uintptr_t)f;
  if (!promote_find(&s)) return NULL;
  wick_replay r = {.b = &b, .instead = promote_instead, .arg = &s};
  return wick_replay_whole(&r, f, out);
}
