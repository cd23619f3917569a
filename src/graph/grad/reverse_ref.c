/* Reverse mode through references (graph/grad/shadow.h). The nodes of the builder that read and write
 * primal references have derivatives of their own, which work on the shadows. */
#include "graph/grad/reverse.h"
#include "graph/grad/shadow.h"

typedef struct reverse_ref {
  wick_shadow of;
  uint32_t n;   /* items of the primal reference */
  uint32_t *at; /* per item: its place among what the node is differentiated by; UINT32_MAX: none */
} reverse_ref;

/* A node that stored values: the shadow has their cotangents. The contents before had none yet. */
static void reverse_stored_grad(wick_adjoint *a, void *arg)
{
  const reverse_ref *s = arg;
  wick_builder *b = a->b;
  wick_value *part = wick_new(b->mem, wick_value, s->n + 1u);
  bool any = false;
  for (uint32_t k = 0; k < s->n; k++) any = any || s->at[k] != UINT32_MAX;
  if (any) wick_shadow_get(b, s->of, part);
  wick_shadow_set(b, s->of, NULL);
  for (uint32_t k = 0; k < s->n && !b->status; k++) {
    if (s->at[k] == UINT32_MAX || !part[k].id) continue;
    wick_value *d = &a->din[s->at[k]];
    *d = d->id ? wick_cotangent_add(b, *d, part[k]) : part[k];
  }
}

static void reverse_read_grad(wick_adjoint *a, void *arg)
{
  const reverse_ref *s = arg;
  wick_builder *b = a->b;
  wick_value *part = wick_new(b->mem, wick_value, s->n + 1u);
  bool any = false;
  for (uint32_t k = 0; k < s->n; k++) any = any || a->dout[k].id;
  if (!any) return;
  wick_shadow_get(b, s->of, part);
  for (uint32_t k = 0; k < s->n && !b->status; k++)
    if (a->dout[k].id) part[k] = wick_cotangent_add(b, part[k], a->dout[k]);
  wick_shadow_set(b, s->of, part);
}

/* Adds an entry for the last node of the builder, which stored v[0..n), values of the function; NULL:
 * what is not differentiated by. */
static reverse_ref *reverse_stored(wick_reverse_walk *w, uint32_t n, const wick_value *v)
{
  wick_builder *b = w->b;
  uint32_t nin = 0;
  wick_value *in = wick_new(b->mem, wick_value, n + 1u);
  reverse_ref *s = wick_new(b->mem, reverse_ref, 1);
  *s = (reverse_ref){.n = n, .at = wick_new(b->mem, uint32_t, n + 1u)};
  for (uint32_t k = 0; k < n; k++) {
    s->at[k] = UINT32_MAX;
    if (!v || !w->active[v[k].id]) continue;
    wick_value own = wick_replayed(&w->to, v[k]);
    for (s->at[k] = 0; s->at[k] < nin && in[s->at[k]].id != own.id;) s->at[k]++;
    if (s->at[k] == nin) in[nin++] = own;
  }
  wick_push(b->mem, &w->own,
            (wick_grad_own){.node = b->nodes.n - 1,
                            .nin = nin,
                            .in = in,
                            .grad = reverse_stored_grad,
                            .arg = s,
                            .always = true});
  return s;
}

void wick_reverse_ref(wick_reverse_walk *w, const wick_node *n)
{
  wick_builder *b = w->b;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = wick_replayed(&w->to, n->in[k]);
  if (n->op == WICK_OP_ref_new) {
    wick_value primal = wick_build(b, n->op, n->nin, in, NULL, 0, NULL);
    if (b->status) return;
    reverse_ref *s = reverse_stored(w, n->nin, n->in);
    s->of.primal = primal;
    w->to.to[n->first.id] = wick_shadow_pair(b, primal, NULL, &s->of.shadow);
    return;
  }
  wick_shadow of = wick_shadow_open(b, in[0]);
  in[0] = of.primal;
  wick_value v = wick_build(b, n->op, n->nin, in, NULL, 0, NULL);
  if (b->status) return;
  if (n->op == WICK_OP_ref_set) {
    reverse_stored(w, n->nin - 1u, n->in + 1)->of = of;
    return;
  }
  reverse_ref *s = wick_new(b->mem, reverse_ref, 1);
  *s = (reverse_ref){.of = of, .n = n->nout};
  for (uint32_t k = 0; k < n->nout; k++) w->to.to[n->first.id + k] = (wick_value){v.id + k};
  wick_push(
      b->mem, &w->own,
      (wick_grad_own){.node = b->nodes.n - 1, .grad = reverse_read_grad, .arg = s, .always = true});
}

wick_value wick_reverse_enter(wick_reverse_walk *w, const wick_func *f, uint32_t k, wick_value v)
{
  wick_builder *b = w->b;
  wick_value pair = wick_shadow_enter(b, f, k, v, NULL);
  if (b->status || !wick_shadow_pairs(b->module, f->value[1 + k].type)) return pair;
  wick_shadow of = wick_shadow_open(b, pair);
  reverse_stored(w, wick_built_info(b, v)->nitem, NULL)->of = of;
  return pair;
}
