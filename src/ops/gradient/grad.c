/* The walk of reverse-mode differentiation. Forwards it finds the values that depend on the
 * variables; backwards it propagates cotangents. */
#include "ops/gradient/grad.h"

#include "ir/expr.h"

void wick_grad_zero(wick_adjoint *a) { (void)a; }

void wick_grad_none(wick_adjoint *a)
{
  wick_build_fail(a->b, WICK_EUNSUPPORTED, "%s has no derivative", wick_ops[a->node->op]->name);
}

void wick_grad_opened(wick_adjoint *a) { wick_grad_through(a, wick_op_of(a->node)->expand); }

bool wick_grad_opens(const wick_node *n)
{
  const wick_op *row = wick_op_of(n);
  return row->grad == wick_grad_opened || (!row->grad && row->expand && !n->nregion);
}

bool wick_grad_hides(const wick_node *n)
{
  const wick_op *row = wick_op_of(n);
  return row->objects && row->grad == wick_grad_none && !n->nregion;
}

bool wick_grad_has(const wick_builder *b, wick_value v)
{
  const wick_type_info *t = v.id && v.id < b->values.n ? wick_built_info(b, v) : NULL;
  if (t && t->kind == WICK_DATA) return wick_has_cotangent(b->module, wick_built_type(b, v));
  return t && t->kind == WICK_TENSOR && WICK_FLOATS >> t->elem & 1;
}

/* Returns true if v has cotangents and elements. A value without elements changes nothing, and
 * needs no rule. */
static bool grad_counts(const wick_builder *b, wick_value v)
{
  return wick_grad_has(b, v) && wick_has_cotangent(b->module, wick_built_type(b, v));
}

/* ---- facts about values ---- */

typedef struct grad_fact {
  bool active;   /* depends on a variable of the differentiation */
  bool leaf;     /* is a variable of the differentiation */
  wick_value to; /* the sum of its cotangents so far */
} grad_fact;

typedef struct grad_walk {
  wick_builder *b;
  const wick_grad_request *r;
  uint32_t first, limit; /* values that the nodes define: first .. limit-1 */
  grad_fact *own;        /* facts about these values */
  grad_fact *outer;      /* of wrt: among earlier values, only the variables count */
} grad_walk;

/* Returns the facts about v. NULL: there are none, and none are recorded. */
static grad_fact *grad_fact_of(const grad_walk *w, wick_value v)
{
  for (uint32_t i = 0; i < w->r->nkept; i++)
    if (w->r->kept[i].taken.id == v.id) v = w->r->kept[i].made;
  if (v.id >= w->first && v.id < w->limit) return &w->own[v.id - w->first];
  for (uint32_t i = 0; v.id && i < w->r->nwrt; i++)
    if (w->r->wrt[i].id == v.id) return &w->outer[i];
  return NULL;
}

static bool grad_is_active(const grad_walk *w, wick_value v)
{
  const grad_fact *f = grad_fact_of(w, v);
  return f && f->active;
}

bool wick_grad_active(const wick_adjoint *a, wick_value v) { return grad_is_active(a->walk, v); }

static void grad_add(const grad_walk *w, wick_value v, wick_value cotangent)
{
  grad_fact *f = grad_fact_of(w, v);
  if (!f || !f->active || !cotangent.id || w->b->status) return;
  wick_type type = wick_cotangent_type(w->b->module, wick_built_type(w->b, v), w->b->mem);
  if (!wick_type_eq(type, wick_built_type(w->b, cotangent)))
    wick_build_fail(w->b, WICK_EINTERNAL, "a cotangent is of another type than its value");
  else if (f->to.id && !wick_type_eq(type, wick_built_type(w->b, f->to)))
    f->to = wick_products_add(w->b, f->to, cotangent);
  else
    f->to = f->to.id ? wick_cotangent_add(w->b, f->to, cotangent) : cotangent;
}

/* Returns the request's entry of a node; NULL: it has none. */
static const wick_grad_own *grad_own(const wick_grad_request *r, uint32_t node)
{
  uint32_t lo = 0, hi = r->nown;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (r->own[mid].node < node)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < r->nown && r->own[lo].node == node ? &r->own[lo] : NULL;
}

/* ---- forwards ---- */

/* Returns the index after a node and its regions. For a node that is still open, this is the end of
 * its nodes so far. */
static uint32_t grad_next(const wick_builder *b, uint32_t i)
{
  return b->nodes.at[i].end > i ? b->nodes.at[i].end : i + 1;
}

/* Marks v, which a node defines, as active if `from` is. Returns true if v was not active before.
 */
static bool grad_follows(const grad_walk *w, wick_value v, wick_value from)
{
  grad_fact *f = grad_fact_of(w, v);
  if (f->active || !grad_counts(w->b, v) || !grad_is_active(w, from)) return false;
  return f->active = true;
}

static void grad_forwards(const grad_walk *w, uint32_t begin, uint32_t end);

/* The results of node i depend on everything that the node and its regions use. */
static void grad_uses_forwards(const grad_walk *w, uint32_t i)
{
  const wick_node *n = &w->b->nodes.at[i];
  if (wick_op_of(n)->grad == wick_grad_zero) return;
  for (const wick_node *use = n; use < w->b->nodes.at + grad_next(w->b, i); use++)
    for (uint32_t k = 0; k < use->nin; k++)
      for (uint32_t o = 0; o < n->nout && grad_is_active(w, use->in[k]); o++)
        grad_follows(w, (wick_value){n->first.id + o}, use->in[k]);
}

/* Of an if or a switch, whose regions take the fields of data. */
static void grad_branch_forwards(const grad_walk *w, const wick_node *n)
{
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_node *y = &w->b->nodes.at[n->region[r].end - 1];
    for (uint32_t k = 0; k < n->region[r].nparam; k++)
      grad_follows(w, (wick_value){n->region[r].first.id + k}, n->in[0]);
    grad_forwards(w, n->region[r].begin, n->region[r].end - 1);
    for (uint32_t k = 0; k < n->nout; k++) grad_follows(w, (wick_value){n->first.id + k}, y->in[k]);
  }
}

/* Propagates activity through the values that a loop carries until it no longer changes, because
 * they depend on their values in the previous step. */
static void grad_loop_forwards(const grad_walk *w, const wick_node *n)
{
  const wick_region *g = &n->region[0];
  const wick_node *y = &w->b->nodes.at[g->end - 1];
  for (uint32_t k = 1; k < n->nin; k++) grad_follows(w, (wick_value){g->first.id + k}, n->in[k]);
  for (bool again = true; again;) {
    again = false;
    grad_forwards(w, g->begin, g->end - 1);
    for (uint32_t k = 1; k < n->nin; k++)
      again = grad_follows(w, (wick_value){g->first.id + k}, y->in[k]) || again;
  }
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value last = k + 1u < n->nin ? (wick_value){g->first.id + 1 + k} : y->in[1 + k];
    grad_follows(w, (wick_value){n->first.id + k}, last);
  }
}

/* The results of a node with a derivative of its own depend on what its entry names. */
static void grad_own_forwards(const grad_walk *w, const wick_node *n, const wick_grad_own *own)
{
  for (uint32_t o = 0; o < n->nout; o++) {
    wick_value v = {n->first.id + o};
    if (own->follows && !own->follows[o]) continue;
    if (own->always && grad_counts(w->b, v)) grad_fact_of(w, v)->active = true;
    for (uint32_t k = 0; k < own->nin; k++) grad_follows(w, v, own->in[k]);
  }
}

/* Propagates activity through the nodes of one region, in order. */
static void grad_forwards(const grad_walk *w, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i = grad_next(w->b, i)) {
    const wick_node *n = &w->b->nodes.at[i];
    const wick_grad_own *own = grad_own(w->r, i);
    for (uint32_t k = 0; k < n->nin && !own && wick_grad_hides(n); k++)
      if (grad_is_active(w, n->in[k]))
        wick_build_fail(w->b, WICK_EUNSUPPORTED,
                        "%s has no derivative: a value that is "
                        "differentiated by gets into it",
                        wick_op_of(n)->name);
    if (own)
      grad_own_forwards(w, n, own);
    else if (!n->nout)
      continue;
    else if (n->op == WICK_OP_if || n->op == WICK_OP_switch)
      grad_branch_forwards(w, n);
    else if (n->op == WICK_OP_loop)
      grad_loop_forwards(w, n);
    else
      grad_uses_forwards(w, i);
  }
}

/* ---- backwards ---- */

/* Returns the first value that a node or its regions define. The last ones are the node's results.
 */
static uint32_t grad_first(const wick_builder *b, uint32_t node)
{
  const wick_node *n = &b->nodes.at[node];
  uint32_t first = n->nout ? n->first.id : b->values.n;
  for (uint32_t i = node; i < n->end; i++) {
    const wick_node *own = &b->nodes.at[i];
    if (own->nout && own->first.id < first) first = own->first.id;
    for (uint32_t r = 0; r < own->nregion; r++)
      if (own->region[r].nparam && own->region[r].first.id < first) first = own->region[r].first.id;
  }
  return first;
}

/* Finds the values from outside that the regions of a node use, each once. */
static void grad_captures(const grad_walk *w, uint32_t node, wick_adjoint *a)
{
  const wick_builder *b = w->b;
  const wick_node *n = &b->nodes.at[node];
  uint32_t first = grad_first(b, node), most = 0;
  for (uint32_t i = node + 1; i < n->end; i++) most += b->nodes.at[i].nin;
  wick_value *v = wick_new(b->mem, wick_value, most + 1u);
  for (uint32_t i = node + 1; i < n->end; i++)
    for (uint32_t k = 0; k < b->nodes.at[i].nin; k++) {
      wick_value in = b->nodes.at[i].in[k];
      bool own = in.id >= first && in.id < n->first.id;
      for (uint32_t j = 0; j < a->ncaptured && !own; j++) own = v[j].id == in.id;
      if (!own && grad_is_active(w, in)) v[a->ncaptured++] = in;
    }
  a->captured = v;
  a->dcaptured = wick_new(b->mem, wick_value, a->ncaptured + 1u);
}

static wick_value grad_taken(const grad_walk *w, wick_value made)
{
  for (uint32_t i = 0; i < w->r->nkept; i++)
    if (w->r->kept[i].made.id == made.id) return w->r->kept[i].taken;
  return made;
}

static void grad_rule(wick_adjoint *a)
{
  const wick_op *row = wick_op_of(a->node);
  a->b->loc = a->node->loc;
  if (row->grad)
    row->grad(a);
  else if (wick_grad_opens(a->node))
    wick_grad_through(a, row->expand);
  else
    wick_grad_none(a);
}

/* Sets, for each operand, whether its cotangent is needed, and the sum so far. The same value gets
 * its sum only once. */
static void grad_sums(const grad_walk *w, uint32_t n, const wick_value *in, bool *wanted,
                      wick_value *sum)
{
  for (uint32_t k = 0; k < n; k++) {
    const grad_fact *f = grad_fact_of(w, in[k]);
    wanted[k] = f && f->active;
    if (wanted[k]) sum[k] = f->to;
    for (uint32_t i = 0; i < k; i++)
      if (in[i].id == in[k].id) sum[k] = (wick_value){0};
  }
}

static void grad_give(const grad_walk *w, const wick_adjoint *a, uint32_t n)
{
  for (uint32_t k = 0; k < n && !w->b->status; k++) {
    if (!a->wanted[k]) continue;
    if (a->summed[k] && a->sum[k].id)
      grad_fact_of(w, a->in[k])->to = a->din[k];
    else
      grad_add(w, a->in[k], a->din[k]);
  }
}

static void grad_node(const grad_walk *w, uint32_t node)
{
  wick_builder *b = w->b;
  const wick_node n = b->nodes.at[node];
  const wick_grad_own *own = grad_own(w->r, node);
  uint32_t nin = own ? own->nin : n.nin;
  wick_value *dout = wick_new(b->mem, wick_value, n.nout + 1u),
             *out = wick_new(b->mem, wick_value, n.nout + 1u),
             *din = wick_new(b->mem, wick_value, nin + 1u),
             *sum = wick_new(b->mem, wick_value, nin + 1u);
  bool *wanted = wick_new(b->mem, bool, nin + 1u), *summed = wick_new(b->mem, bool, nin + 1u),
       any = false;
  for (uint32_t k = 0; k < n.nout; k++) {
    wick_value made = {n.first.id + k};
    const grad_fact *f = grad_fact_of(w, made);
    if (!f->leaf) dout[k] = f->to;
    any = any || dout[k].id;
    out[k] = grad_taken(w, made);
  }
  if (!any && !(own && own->always)) return;
  wick_adjoint a = {.b = b,
                    .node = &n,
                    .in = own ? own->in : n.in,
                    .out = out,
                    .dout = dout,
                    .wanted = wanted,
                    .din = din,
                    .sum = sum,
                    .summed = summed,
                    .walk = w};
  grad_sums(w, nin, a.in, wanted, sum);
  for (uint32_t k = 0; k < nin && !own && !b->status; k++) /* rules know no lists of products */
    if (sum[k].id && !wick_type_eq(wick_built_type(b, sum[k]), wick_built_type(b, a.in[k])) &&
        wick_built_info(b, a.in[k])->kind == WICK_TENSOR)
      sum[k] = (wick_value){0};
  if (n.nregion && !own) grad_captures(w, node, &a);
  if (own) {
    b->loc = n.loc;
    own->grad(&a, own->arg);
  } else {
    grad_rule(&a);
  }
  grad_give(w, &a, nin);
  for (uint32_t k = 0; k < a.ncaptured && !b->status; k++)
    grad_add(w, a.captured[k], a.dcaptured[k]);
}

void wick_grad_build(wick_builder *b, const wick_grad_request *r, wick_value *out)
{
  if (b->status) return;
  uint32_t n = 0, *node = wick_new(b->mem, uint32_t, r->end - r->begin + 1);
  grad_walk w = {.b = b, .r = r, .first = b->values.n, .limit = b->values.n};
  for (uint32_t i = r->begin; i < r->end; i = grad_next(b, i)) {
    uint32_t first = grad_first(b, i);
    w.first = first < w.first ? first : w.first;
    node[n++] = i;
  }
  w.own = wick_new(b->mem, grad_fact, w.limit - w.first + 1);
  w.outer = wick_new(b->mem, grad_fact, r->nwrt + 1);
  for (uint32_t i = 0; i < r->nwrt; i++) {
    grad_fact *f = grad_fact_of(&w, r->wrt[i]);
    if (f && grad_counts(b, r->wrt[i])) f->active = f->leaf = true;
    if (f && r->initial) f->to = r->initial[i];
  }
  grad_forwards(&w, r->begin, r->end);
  for (uint32_t i = 0; i < r->nof; i++) grad_add(&w, r->of[i], r->cotangent[i]);
  wick_loc loc = b->loc;
  while (n-- > 0 && !b->status) grad_node(&w, node[n]);
  b->loc = loc;
  for (uint32_t i = 0; i < r->nwrt; i++) {
    const grad_fact *f = grad_fact_of(&w, r->wrt[i]);
    out[i] = f && !b->status ? f->to : (wick_value){0};
  }
}

/* Operands that are the same value get its cotangent only once. */
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
  const wick_grad_request r = {.begin = begin,
                               .end = b->nodes.n,
                               .nof = nof,
                               .of = of,
                               .cotangent = cotangent,
                               .nwrt = nwrt,
                               .wrt = wrt};
  wick_grad_build(b, &r, got);
  for (uint32_t i = 0; i < nwrt; i++) {
    uint32_t k = 0;
    while (a->in[k].id != wrt[i].id) k++;
    a->din[k] = got[i];
  }
}
