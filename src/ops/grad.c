/* The walk: which values depend on what is differentiated by, forwards; cotangents, backwards. */
#include "ops/grad.h"

#include "ir/expr.h"

void wick_grad_zero(wick_adjoint *a) { (void)a; }

void wick_grad_none(wick_adjoint *a)
{
  wick_build_fail(a->b, WICK_EUNSUPPORTED, "%s has no derivative", wick_ops[a->node->op]->name);
}

bool wick_grad_has(const wick_builder *b, wick_value v)
{
  const wick_type_info *t = v.id && v.id < b->values.n ? wick_built_info(b, v) : NULL;
  return t && t->kind == WICK_TENSOR && !t->layout && WICK_FLOATS >> t->elem & 1;
}

/* ---- what is known of values ---- */

typedef struct grad_fact {
  bool active;   /* depends on what is differentiated by */
  bool leaf;     /* is what is differentiated by */
  wick_value to; /* the sum of its cotangents so far */
} grad_fact;

typedef struct grad_walk {
  wick_builder *b;
  uint32_t first, limit; /* values that the nodes define: first .. limit-1 */
  grad_fact *own;        /* of these */
  uint32_t nwrt;         /* values from before that take part are those differentiated by */
  const wick_value *wrt;
  grad_fact *outer;
} grad_walk;

/* NULL: nothing, and nothing is to be kept. */
static grad_fact *grad_fact_of(const grad_walk *w, wick_value v)
{
  if (v.id >= w->first && v.id < w->limit) return &w->own[v.id - w->first];
  for (uint32_t i = 0; v.id && i < w->nwrt; i++)
    if (w->wrt[i].id == v.id) return &w->outer[i];
  return NULL;
}

static void grad_add(const grad_walk *w, wick_value v, wick_value cotangent)
{
  grad_fact *f = grad_fact_of(w, v);
  if (!f || !f->active || !cotangent.id || w->b->status) return;
  if (!wick_type_eq(wick_built_type(w->b, v), wick_built_type(w->b, cotangent)))
    wick_build_fail(w->b, WICK_EINTERNAL, "a cotangent is of another type than its value");
  else
    f->to = f->to.id ? expr_add(w->b, f->to, cotangent) : cotangent;
}

/* ---- forwards ---- */

static bool grad_depends(const grad_walk *w, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nin; k++) {
    const grad_fact *f = grad_fact_of(w, n->in[k]);
    if (f && f->active) return true;
  }
  return false;
}

/* The nodes of one region, in order, that depend on what is differentiated by. */
static uint32_t grad_forwards(grad_walk *w, uint32_t begin, uint32_t end, uint32_t *out_node)
{
  uint32_t count = 0;
  for (uint32_t i = begin; i < end; i++) {
    const wick_node *n = &w->b->nodes.at[i];
    bool depends = grad_depends(w, n);
    for (uint32_t k = i + 1; k < n->end && !depends; k++)
      depends = grad_depends(w, &w->b->nodes.at[k]);
    if (depends) out_node[count++] = i;
    for (uint32_t k = 0; k < n->nout && depends; k++) {
      wick_value v = {n->first.id + k};
      grad_fact *f = grad_fact_of(w, v);
      f->active = f->active || wick_grad_has(w->b, v) || n->nregion;
    }
    i = n->end > i ? n->end - 1 : i;
  }
  return count;
}

/* ---- backwards ---- */

static void grad_node(const grad_walk *w, wick_node n)
{
  wick_builder *b = w->b;
  wick_value *dout = wick_new(b->mem, wick_value, n.nout),
             *out = wick_new(b->mem, wick_value, n.nout),
             *din = wick_new(b->mem, wick_value, n.nin + 1u);
  bool *wanted = wick_new(b->mem, bool, n.nin + 1u), any = false;
  for (uint32_t k = 0; k < n.nout; k++) {
    out[k] = (wick_value){n.first.id + k};
    const grad_fact *f = grad_fact_of(w, out[k]);
    if (!f->leaf) dout[k] = f->to;
    any = any || dout[k].id;
  }
  if (!any) return;
  for (uint32_t k = 0; k < n.nin; k++) {
    const grad_fact *f = grad_fact_of(w, n.in[k]);
    wanted[k] = f && f->active;
  }
  wick_adjoint a = {
      .b = b, .node = &n, .in = n.in, .out = out, .dout = dout, .wanted = wanted, .din = din};
  const wick_op *row = wick_op_of(&n);
  b->loc = n.loc;
  if (row->grad)
    row->grad(&a);
  else if (row->expand && !n.nregion)
    wick_grad_through(&a, row->expand);
  else
    wick_grad_none(&a);
  for (uint32_t k = 0; k < n.nin && !b->status; k++)
    if (wanted[k]) grad_add(w, n.in[k], din[k]);
}

void wick_grad_build(wick_builder *b, uint32_t begin, uint32_t end, uint32_t nof,
                     const wick_value *of, const wick_value *cotangent, uint32_t nwrt,
                     const wick_value *wrt, wick_value *out)
{
  if (b->status) return;
  grad_walk w = {.b = b, .first = b->values.n, .limit = b->values.n, .nwrt = nwrt, .wrt = wrt};
  for (uint32_t i = begin; i < end && w.first == w.limit; i++)
    if (b->nodes.at[i].nout) w.first = b->nodes.at[i].first.id;
  w.own = wick_new(b->mem, grad_fact, w.limit - w.first + 1);
  w.outer = wick_new(b->mem, grad_fact, nwrt + 1);
  for (uint32_t i = 0; i < nwrt; i++) {
    grad_fact *f = grad_fact_of(&w, wrt[i]);
    if (f && wick_grad_has(b, wrt[i])) f->active = f->leaf = true;
  }
  uint32_t *node = wick_new(b->mem, uint32_t, end - begin + 1),
           n = grad_forwards(&w, begin, end, node);
  for (uint32_t i = 0; i < nof; i++) grad_add(&w, of[i], cotangent[i]);
  wick_loc loc = b->loc;
  while (n-- > 0 && !b->status) grad_node(&w, b->nodes.at[node[n]]);
  b->loc = loc;
  for (uint32_t i = 0; i < nwrt; i++) {
    const grad_fact *f = grad_fact_of(&w, wrt[i]);
    out[i] = f && !b->status ? f->to : (wick_value){0};
  }
}

/* Operands that are one value get its cotangent once. */
void wick_grad_through(wick_adjoint *a, wick_grad_define *define)
{
  wick_builder *b = a->b;
  const wick_node *n = a->node;
  uint32_t begin = b->nodes.n, nwrt = 0, nof = 0;
  wick_value *made = wick_new(b->mem, wick_value, n->nout),
             *of = wick_new(b->mem, wick_value, n->nout),
             *cotangent = wick_new(b->mem, wick_value, n->nout),
             *wrt = wick_new(b->mem, wick_value, n->nin + 1u),
             *got = wick_new(b->mem, wick_value, n->nin + 1u);
  define(b, n, a->in, made);
  for (uint32_t k = 0; k < n->nout && !b->status; k++)
    if (a->dout[k].id) of[nof] = made[k], cotangent[nof++] = a->dout[k];
  for (uint32_t k = 0; k < n->nin; k++) {
    bool fresh = a->wanted[k];
    for (uint32_t i = 0; i < k; i++) fresh = fresh && a->in[i].id != a->in[k].id;
    if (fresh) wrt[nwrt++] = a->in[k];
  }
  wick_grad_build(b, begin, b->nodes.n, nof, of, cotangent, nwrt, wrt, got);
  for (uint32_t i = 0; i < nwrt; i++) {
    uint32_t k = 0;
    while (a->in[k].id != wrt[i].id) k++;
    a->din[k] = got[i];
  }
}
