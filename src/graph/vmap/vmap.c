/* The walk over a function that is batched: which values have rows, operators, calls. */
#include "graph/vmap/vmap.h"

#include "graph/vmap/vmap_state.h"
#include "ir/call.h"

/* ---- which values have rows ---- */

static bool vmap_any(const vmap_walk *w, uint32_t n, const wick_value *v)
{
  for (uint32_t k = 0; k < n; k++)
    if (v[k].id && w->rows[v[k].id]) return true;
  return false;
}

static void vmap_mark_if(vmap_walk *w, const wick_node *n, bool masked)
{
  bool own = w->rows[n->in[0].id];
  for (uint32_t r = 0; r < 2; r++) {
    const wick_node *y = &w->f->node[n->region[r].end - 1];
    vmap_mark(w, n->region[r].begin, n->region[r].end - 1, masked || own);
    for (uint32_t k = 0; k < n->nout; k++)
      if (own || w->rows[y->in[k].id]) w->rows[n->first.id + k] = true;
  }
}

/* Values that a loop carries depend on those of the step before. If rows end at different steps,
 * all carried values have rows. */
static void vmap_mark_loop(vmap_walk *w, const wick_node *n, bool masked)
{
  const wick_region *g = &n->region[0];
  const wick_node *y = &w->f->node[g->end - 1];
  bool ends = masked || w->rows[n->in[0].id];
  for (bool again = true; again;) {
    again = false;
    for (uint32_t k = 1; k < n->nin; k++) {
      bool *param = &w->rows[g->first.id + k];
      bool now = ends || w->rows[n->in[k].id] || w->rows[y->in[k].id];
      again = again || now != *param;
      *param = now;
    }
    vmap_mark(w, g->begin, g->end - 1, ends);
    again = again || (!ends && w->rows[y->in[0].id]);
    for (uint32_t k = 1; k < n->nin; k++)
      again = again || (w->rows[y->in[k].id] && !w->rows[g->first.id + k]);
    ends = ends || w->rows[y->in[0].id];
  }
  for (uint32_t k = 0; k < n->nout; k++) /* without a step, a carried value is the initial one */
    w->rows[n->first.id + k] =
        ends || w->rows[y->in[1 + k].id] || (k + 1u < n->nin && w->rows[g->first.id + 1 + k]);
}

void vmap_mark(vmap_walk *w, uint32_t begin, uint32_t end, bool masked)
{
  for (uint32_t i = begin; i < end; i = w->f->node[i].end) {
    const wick_node *n = &w->f->node[i];
    if (n->op == WICK_OP_if)
      vmap_mark_if(w, n, masked);
    else if (n->op == WICK_OP_loop)
      vmap_mark_loop(w, n, masked);
    else if (vmap_any(w, n->nin, n->in))
      for (uint32_t k = 0; k < n->nout; k++) w->rows[n->first.id + k] = true;
  }
}

/* ---- row by row ---- */

static wick_value vmap_number(wick_builder *b, int64_t i)
{
  return wick_build_const(b, wick_type_tensor(b->module, WICK_I64, 0, NULL), 0, i);
}

/* The number of rows, as a value. */
static wick_value vmap_count(const wick_batching *a)
{
  wick_builder *b = a->b;
  uint32_t k = 0;
  if (wick_dim_is_const(a->n)) return vmap_number(b, a->n.v);
  while (!wick_batch_has(a, k)) k++;
  wick_attr part[] = {[WICK_ATTR_shape_start] = {.i = 0}, [WICK_ATTR_shape_end] = {.i = 1}};
  return wick_build_reshape(b, wick_build(b, WICK_OP_shape, 1, &a->in[k], part, 0, NULL), 0, NULL);
}

static wick_value vmap_row(wick_builder *b, wick_value x, wick_value i)
{
  wick_value in[2] = {x, i};
  wick_attr attr[] = {
      [WICK_ATTR_dynamic_index_axis] = {.i = 0}, [WICK_ATTR_dynamic_index_reverse] = {.i = 0}};
  return wick_build(b, WICK_OP_dynamic_index, 2, in, attr, 0, NULL);
}

/* Builds the node for row i. */
static wick_value vmap_one(const wick_batching *a, wick_opcode op, wick_value i)
{
  wick_builder *b = a->b;
  const wick_node *n = a->node;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
  bool typed = wick_ops[op]->typed;
  for (uint32_t k = 0; k < n->nin; k++)
    in[k] = wick_batch_has(a, k) ? vmap_row(b, a->in[k], i) : a->in[k];
  return wick_build(b, op, n->nin, in, n->attr, typed ? n->nout : 0, typed ? a->type : NULL);
}

/* Yields the results of a node; `more` values before them. */
static void vmap_yield(const wick_batching *a, wick_value more, wick_value first)
{
  wick_value *v = wick_new(a->b->mem, wick_value, a->node->nout + 1u);
  uint32_t n = 0;
  if (more.id) v[n++] = more;
  for (uint32_t k = 0; k < a->node->nout; k++) v[n++] = (wick_value){first.id + k};
  wick_yield(a->b, n, v);
}

/* Zeros instead of the node's results, in rows that do not matter. */
static void vmap_yield_zeros(const wick_batching *a)
{
  wick_value *v = wick_new(a->b->mem, wick_value, a->node->nout + 1u);
  for (uint32_t k = 0; k < a->node->nout; k++) v[k] = wick_build_const(a->b, a->type[k], 0, 0);
  wick_yield(a->b, a->node->nout, v);
}

static void vmap_rows(const wick_batching *a, wick_opcode op)
{
  wick_builder *b = a->b;
  wick_type index = wick_type_tensor(b->module, WICK_I64, 0, NULL);
  wick_attr attr[] = {[WICK_ATTR_loop_stacked] = {.i = a->node->nout},
                      [WICK_ATTR_loop_most] = {.n = 1, .dims = &a->n}};
  if (wick_dim_is(a->n, 0)) { /* there is no row to choose */
    for (uint32_t k = 0; k < a->node->nout; k++)
      a->out[k] = wick_build_const(b, wick_batch_type(a, k), 0, 0);
    return;
  }
  wick_value count = vmap_count(a);
  wick_build_open(b, WICK_OP_loop, 1, &count, attr, 0, NULL);
  wick_value i = wick_region_begin(b, 1, &index);
  wick_value go = wick_build_const(b, wick_type_tensor(b->module, WICK_BOOL, 0, NULL), 0, 1), own;
  if (a->mask.id) {
    wick_value mine = vmap_row(b, a->mask, i);
    wick_build_open(b, WICK_OP_if, 1, &mine, NULL, 0, NULL);
    wick_region_begin(b, 0, NULL);
    vmap_yield(a, (wick_value){0}, vmap_one(a, op, i));
    wick_region_begin(b, 0, NULL);
    vmap_yield_zeros(a);
    own = wick_build_close(b);
  } else {
    own = vmap_one(a, op, i);
  }
  vmap_yield(a, go, own);
  wick_batch_results(a, wick_build_close(b));
}

void wick_batch_rows(wick_batching *a) { vmap_rows(a, a->node->op); }

/* ---- other functions ---- */

void vmap_body(wick_builder *b, const wick_func *f, const wick_batching *a)
{
  vmap_walk w = {.b = b,
                 .f = f,
                 .n = a->n,
                 .call = b->loc,
                 .mask = a->mask,
                 .to = wick_new(b->mem, wick_value, f->nvalue + 1u),
                 .rows = wick_new(b->mem, bool, f->nvalue + 1u)};
  for (uint32_t k = 0; k < f->nparam; k++)
    w.to[1 + k] = a->in[k], w.rows[1 + k] = wick_batch_has(a, k);
  for (uint32_t i = 0; i < f->nconstraint; i++)
    wick_build_shape_constraint(b, f->constraint[i].a, f->constraint[i].b, f->constraint[i].loc);
  vmap_mark(&w, 0, f->nnode - 1, a->mask.id != 0);
  vmap_nodes(&w, 0, f->nnode - 1);
  for (uint32_t k = 0; k < a->node->nout && !b->status; k++)
    a->out[k] = vmap_full(&w, wick_return(f)->in[k]);
}

void wick_batch_through(wick_batching *a)
{
  wick_builder own, *b = a->b;
  const wick_node *n = a->node;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u),
             *out = wick_new(b->mem, wick_value, n->nout + 1u);
  wick_value *given = wick_new(b->mem, wick_value, n->nin + 1u);
  bool *batched = wick_new(b->mem, bool, n->nin + 1u);
  uint32_t nparam = 0;
  wick_func *f;
  wick_build_begin(&own, b->module, WICK_GRAPH, wick_op_of(n)->name, b->mem);
  for (uint32_t k = 0; k < n->nin; k++) {
    if (!a->in[k].id) continue;
    wick_type_info t = *wick_built_info(b, a->in[k]);
    if (a->batched[k]) t.rank--, t.dim++;
    in[k] = wick_build_param(&own, wick_type_intern(b->module, &t), WICK_IN, NULL);
    given[nparam] = a->in[k], batched[nparam++] = a->batched[k];
  }
  own.loc = (wick_loc){0}; /* the nodes get the place of n below */
  wick_op_of(n)->expand(&own, n, in, out);
  wick_build_return(&own, n->nout, out);
  wick_status s = wick_build_end(&own, &f);
  if (s && !b->status) b->status = s;
  if (b->status) return;
  wick_node shown = *n;
  shown.nin = (uint16_t)nparam;
  wick_batching through = *a;
  through.node = &shown, through.in = given, through.batched = batched;
  vmap_body(b, f, &through);
}

static bool vmap_acts(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (wick_op_of(&f->node[i])->effect == WICK_EFFECT) return true;
  return false;
}

bool vmap_has_form(const wick_func *f, wick_arena *mem)
{
  if (wick_func_reaches_recursion(f, mem) || wick_func_reaches(f, vmap_acts, mem)) return false;
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (wick_info_of(f, (wick_value){v})->kind != WICK_TENSOR) return false;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    const wick_func *g = wick_callee(f->module, n);
    bool flow = n->op == WICK_OP_if || n->op == WICK_OP_loop;
    if (n->nregion && !flow) return false;
    if (n->op == WICK_OP_call && (!g || !vmap_has_form(g, mem))) return false;
  }
  return true;
}

static void vmap_call(wick_batching *a, const wick_func *f)
{
  if (!wick_dim_is(a->n, 0) && vmap_has_form(f, a->b->mem))
    vmap_body(a->b, f, a);
  else
    vmap_rows(a, WICK_OP_call);
}

/* ---- nodes ---- */

wick_loc vmap_place(const vmap_walk *w, const wick_node *n)
{
  return wick_loc_inlined(w->b->module, n->loc, w->call);
}

wick_value vmap_full(vmap_walk *w, wick_value v)
{
  return w->rows[v.id] ? w->to[v.id] : wick_batch_repeat(w->b, w->to[v.id], w->n);
}

/* A node that is the same in all rows. If it may fail, it runs only if a row needs it. */
static wick_value vmap_same(vmap_walk *w, const wick_node *n, const wick_value *in)
{
  wick_builder *b = w->b;
  if (!w->mask.id || wick_op_of(n)->effect != WICK_MAY_FAIL) return wick_copy_with(b, w->f, n, in);
  wick_value some = vmap_some(b, w->mask);
  wick_value *zero = wick_new(b->mem, wick_value, n->nout + 1u),
             *own = wick_new(b->mem, wick_value, n->nout + 1u);
  wick_build_open(b, WICK_OP_if, 1, &some, NULL, 0, NULL);
  wick_region_begin(b, 0, NULL);
  wick_value first = wick_copy_with(b, w->f, n, in);
  for (uint32_t k = 0; k < n->nout; k++) own[k] = (wick_value){first.id + k};
  wick_yield(b, n->nout, own);
  wick_region_begin(b, 0, NULL);
  for (uint32_t k = 0; k < n->nout && !b->status; k++)
    zero[k] = wick_build_const(b, w->f->value[n->first.id + k].type, 0, 0);
  wick_yield(b, n->nout, zero);
  return wick_build_close(b);
}

static void vmap_leaf(vmap_walk *w, const wick_node *n)
{
  wick_builder *b = w->b;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
  bool *batched = wick_new(b->mem, bool, n->nin + 1u);
  wick_type *type = wick_new(b->mem, wick_type, n->nout + 1u);
  b->loc = vmap_place(w, n);
  for (uint32_t k = 0; k < n->nin; k++)
    in[k] = w->to[n->in[k].id], batched[k] = w->rows[n->in[k].id];
  for (uint32_t k = 0; k < n->nout; k++) type[k] = w->f->value[n->first.id + k].type;
  if (!vmap_any(w, n->nin, n->in)) {
    wick_value first = vmap_same(w, n, in);
    for (uint32_t k = 0; k < n->nout; k++) w->to[n->first.id + k] = (wick_value){first.id + k};
    return;
  }
  wick_batching a = {.b = b,
                     .node = n,
                     .n = w->n,
                     .in = in,
                     .batched = batched,
                     .type = type,
                     .mask = w->mask,
                     .out = &w->to[n->first.id]};
  const wick_func *f = wick_callee(b->module, n);
  if (f)
    vmap_call(&a, f);
  else
    wick_batch_node(&a);
}

void vmap_nodes(vmap_walk *w, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end && !w->b->status; i = w->f->node[i].end) {
    const wick_node *n = &w->f->node[i];
    if (n->op == WICK_OP_if)
      vmap_if(w, n);
    else if (n->op == WICK_OP_loop)
      vmap_loop(w, n);
    else
      vmap_leaf(w, n);
  }
}

/* ---- the node vmap ---- */

static wick_dim vmap_size(const wick_builder *b, const wick_node *n, const wick_value *in)
{
  const wick_attr *axes = &n->attr[WICK_ATTR_vmap_axes];
  if (n->attr[WICK_ATTR_vmap_n].n) return n->attr[WICK_ATTR_vmap_n].dims[0];
  for (uint32_t k = 0; k < n->nin; k++) {
    int64_t axis = axes->n ? axes->ints[k] : 0;
    if (axis >= 0) return wick_built_info(b, in[k])->dim[axis];
  }
  return wick_dim_const(0);
}

void wick_expand_vmap(wick_copier *c, const wick_node *n)
{
  wick_builder *b = &c->b;
  const wick_attr *axes = &n->attr[WICK_ATTR_vmap_axes];
  const wick_func *f = wick_module_find(b->module, n->attr[WICK_ATTR_vmap_callee].s);
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u);
  bool *batched = wick_new(b->mem, bool, n->nin + 1u);
  wick_type *type = wick_new(b->mem, wick_type, n->nout + 1u);
  wick_attr callee = n->attr[WICK_ATTR_vmap_callee];
  wick_node call = *n;
  call.op = WICK_OP_call, call.attr = &callee, call.nattr = 1;
  b->loc = n->loc;
  if (!f && !b->status) wick_build_fail(b, WICK_EINVAL, "there is no function @%s", callee.s);
  if (b->status) return;
  for (uint32_t k = 0; k < n->nin; k++) in[k] = c->to[n->in[k].id];
  for (uint32_t k = 0; k < n->nout; k++) type[k] = wick_type_of(f, wick_return(f)->in[k]);
  wick_batching a = {.b = b,
                     .node = &call,
                     .n = vmap_size(b, n, in),
                     .in = in,
                     .batched = batched,
                     .type = type,
                     .out = &c->to[n->first.id]};
  for (uint32_t k = 0; k < n->nin; k++) {
    int64_t axis = axes->n ? axes->ints[k] : 0;
    batched[k] = axis >= 0;
    if (batched[k]) in[k] = wick_batch_move(b, in[k], (uint32_t)axis, 0);
  }
  vmap_call(&a, f);
}
