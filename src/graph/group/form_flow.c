/* Control flow on buffers. Both regions of a branch copy their results into one destination. A
 * value that a loop carries has one buffer, and the next value is copied into it at the end of the
 * region. Later passes over copies let kernels write to the destination directly. In a procedure
 * numbers are results of branches, and carried by loops, in registers. */
#include "graph/group/form_objects.h"
#include "graph/group/form_state.h"
#include "graph/group/registers.h"
#include "graph/group/template.h"
#include "ir/call.h"
#include "ops/elementwise/scalar.h"

static wick_value flow_alloc(form_state *s, wick_type tensor)
{
  wick_type type = wick_form_buffer(s, tensor, WICK_ARENA);
  return wick_build(&s->b, WICK_OP_alloc, 0, NULL, NULL, 1, &type);
}

static void flow_copy(form_state *s, wick_value to, wick_value from)
{
  wick_value copy[2] = {to, from};
  if (to.id && from.id) wick_build(&s->b, WICK_OP_copy, 2, copy, NULL, 0, NULL);
}

/* Returns the buffer of the low function that v is a view of. */
static wick_value flow_root(const form_state *s, wick_value v)
{
  for (uint32_t i = s->b.nodes.n; i-- > 0;) {
    const wick_node *n = &s->b.nodes.at[i];
    if (n->op == WICK_OP_view && n->first.id == v.id) v = n->in[0];
  }
  return v;
}

void wick_form_assign(form_state *s, uint32_t n, const wick_value *to, wick_value *from)
{
  for (uint32_t k = 0; k < n; k++) {
    if (!to[k].id || !from[k].id || from[k].id == to[k].id) continue;
    wick_value root = flow_root(s, from[k]);
    bool aside = false;
    for (uint32_t j = 0; j < n; j++) aside = aside || root.id == to[j].id;
    if (!aside || s->b.status) continue;
    const wick_type_info *x = wick_built_info(&s->b, to[k]);
    wick_type type = wick_type_buffer(s->f->module, x->elem, x->rank, x->dim, WICK_ARENA);
    wick_value t = wick_build(&s->b, WICK_OP_alloc, 0, NULL, NULL, 1, &type);
    flow_copy(s, t, from[k]);
    from[k] = t;
  }
  for (uint32_t k = 0; k < n; k++)
    if (from[k].id != to[k].id) flow_copy(s, to[k], from[k]);
}

/* Constants that got a buffer inside a region have none outside of it. */
static void flow_region(form_state *s, const wick_region *r, wick_errors *all)
{
  wick_form_nodes(s, r->begin, r->end - 1, all);
}

typedef struct flow_mark {
  uint32_t ninner, nfound;
} flow_mark;

static flow_mark flow_enter(const form_state *s) { return (flow_mark){s->inner.n, s->found.n}; }

static void flow_leave(form_state *s, flow_mark mark)
{
  while (s->inner.n > mark.ninner) s->low[s->inner.at[--s->inner.n]] = (wick_value){0};
  wick_form_forget(s, mark.nfound);
}

/* Returns whether v is in a register. */
static bool flow_is_number(const form_state *s, wick_value v)
{
  return s->registers && wick_form_number(s->f, v).id;
}

/* Writes the registers of those of n values that are numbers. Returns how many they are. */
static uint32_t flow_registers(form_state *s, uint32_t n, const wick_value *v, wick_value *out)
{
  uint32_t nout = 0;
  for (uint32_t k = 0; k < n; k++)
    if (flow_is_number(s, v[k])) out[nout++] = wick_form_register(s, v[k]);
  return nout;
}

/* The values first, first + 1, ... that are numbers become the registers from `reg` on. */
static void flow_bind(form_state *s, wick_value first, uint32_t n, wick_value reg)
{
  for (uint32_t k = 0; k < n; k++)
    if (flow_is_number(s, (wick_value){first.id + k})) s->reg[first.id + k].id = reg.id++;
}

/* Allocates the results that are in memory. Those of a branch at the end of a procedure are the
 * procedure's own. */
static void flow_results(form_state *s, const wick_node *n)
{
  bool last = s->registers && wick_is_last(s->f, (uint32_t)(n - s->f->node));
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    if (flow_is_number(s, v)) continue;
    s->low[v.id] = last ? s->result[k] : flow_alloc(s, wick_type_of(s->f, v));
  }
}

/* Emits region r of a branch, and copies what it yields to the results. Writes the numbers that it
 * yields, and returns how many they are. */
static uint32_t flow_arm(form_state *s, const wick_node *n, uint32_t r, wick_value *number,
                         wick_errors *all)
{
  flow_mark mark = flow_enter(s);
  const wick_node *y = &s->f->node[n->region[r].end - 1];
  flow_region(s, &n->region[r], all);
  s->b.loc = n->loc;
  wick_value *from = wick_new(s->tmp, wick_value, y->nin + 1u);
  uint32_t nnumber = flow_registers(s, y->nin, y->in, number);
  for (uint32_t k = 0; k < y->nin; k++)
    if (!flow_is_number(s, y->in[k])) from[k] = wick_form_low(s, y->in[k]);
  wick_form_assign(s, y->nin, s->low + n->first.id, from);
  flow_leave(s, mark);
  return nnumber;
}

static void flow_if(form_state *s, const wick_node *n, wick_errors *all)
{
  wick_value cond = s->registers ? wick_form_register(s, n->in[0]) : wick_form_low(s, n->in[0]);
  flow_results(s, n);
  wick_build_open(&s->b, WICK_OP_if, 1, &cond, n->attr, 0, NULL);
  wick_value *number = wick_new(s->tmp, wick_value, n->nout + 1u);
  for (uint32_t r = 0; r < 2; r++) {
    wick_region_begin(&s->b, 0, NULL);
    uint32_t nnumber = flow_arm(s, n, r, number, all);
    wick_yield(&s->b, nnumber, number);
  }
  flow_bind(s, n->first, n->nout, wick_build_close(&s->b));
}

/* Emits the choice among the constructors from `at` on in this order. Writes the numbers that the
 * chosen region yields, and returns how many they are. */
static uint32_t flow_choose(form_state *s, const wick_node *n, const uint32_t *order, uint32_t at,
                            wick_value *number, wick_errors *all)
{
  uint32_t r = order[at], nnumber;
  if (at + 1 == n->nregion) {
    wick_errors_add(all, wick_form_fields(s, n, r));
    return flow_arm(s, n, r, number, all);
  }
  wick_value is = wick_form_switch_test(s, n, order, at);
  wick_build_open(&s->b, WICK_OP_if, 1, &is, NULL, 0, NULL);
  wick_region_begin(&s->b, 0, NULL);
  wick_errors_add(all, wick_form_fields(s, n, r));
  nnumber = flow_arm(s, n, r, number, all);
  wick_yield(&s->b, nnumber, number);
  wick_region_begin(&s->b, 0, NULL);
  nnumber = flow_choose(s, n, order, at + 1, number, all);
  wick_yield(&s->b, nnumber, number);
  wick_value v = wick_build_close(&s->b);
  for (uint32_t k = 0; k < nnumber; k++) number[k].id = v.id + k;
  return nnumber;
}

static void flow_switch(form_state *s, const wick_node *n, wick_errors *all)
{
  wick_value *number = wick_new(s->tmp, wick_value, n->nout + 1u);
  flow_results(s, n);
  wick_form_register(s, n->in[0]);
  if (n->attr[WICK_ATTR_switch_only].i >= 0) {
    uint32_t r = (uint32_t)n->attr[WICK_ATTR_switch_only].i;
    wick_errors_add(all, wick_form_fields(s, n, r));
    flow_arm(s, n, r, number, all);
  } else {
    flow_choose(s, n, wick_form_switch_order(s, n), 0, number, all);
  }
  for (uint32_t k = 0, at = 0; k < n->nout; k++)
    if (flow_is_number(s, (wick_value){n->first.id + k})) s->reg[n->first.id + k] = number[at++];
}

/* ---- loops ---- */

static const wick_imm *flow_known(const form_state *s, wick_value v)
{
  uint32_t d = s->g.definer[v.id];
  const wick_node *n = d == UINT32_MAX ? NULL : &s->f->node[d];
  return n && n->op == WICK_OP_const && !wick_const_imm(n)->constant ? wick_const_imm(n) : NULL;
}

typedef struct flow_loop {
  const wick_node *n;
  uint32_t ncarried;
  wick_value *carried, *stacked, index, more; /* more: 0 if the loop never stops early */
} flow_loop;

/* Returns true if the loop makes as many steps as its stacked results have rows, unless it stops
 * early. */
static bool flow_all(const form_state *s, const wick_node *loop)
{
  const wick_imm *count = flow_known(s, loop->in[0]);
  const wick_value_info *v = &s->f->value[loop->in[0].id];
  wick_dim most = wick_loop_most(loop->attr);
  if (v->ncontent == 1 && wick_dim_eq(v->content[0], most)) return true;
  return count && wick_dim_is_const(most) && count->i >= most.v;
}

static void flow_loop_begin(form_state *s, flow_loop *l, wick_errors *all)
{
  const wick_node *n = l->n, *y = &s->f->node[n->region[0].end - 1];
  const wick_imm *more = flow_known(s, y->in[0]);
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    if (k < l->ncarried && flow_is_number(s, v)) continue;
    wick_value to = s->low[v.id] = flow_alloc(s, wick_type_of(s->f, v));
    if (k < l->ncarried) {
      l->carried[k] = to;
      s->low[n->region[0].first.id + 1 + k] = to;
      flow_copy(s, to, wick_form_low(s, n->in[1 + k]));
    } else {
      l->stacked[k - l->ncarried] = to;
      bool whole = flow_all(s, n) && more && more->i;
      if (!whole) /* rows that no iteration may write */
        wick_errors_add(all, wick_form_fill(s, to, wick_type_of(s->f, v), &(wick_imm){.f = 0}));
    }
  }
  if (s->registers) return;
  l->index = s->low[n->region[0].first.id] = flow_alloc(s, wick_type_of(s->f, n->region[0].first));
  if (!more || !more->i) l->more = flow_alloc(s, wick_type_of(s->f, y->in[0]));
}

/* Copies v to row `index` of a stacked result. */
static void flow_stack(form_state *s, const flow_loop *l, wick_value whole, wick_value v)
{
  wick_type row = wick_form_buffer(s, wick_type_of(s->f, v), WICK_ARENA);
  wick_dim numel = wick_type_numel(s->f->module, wick_type_of(s->f, v)),
           most = wick_loop_most(l->n->attr);
  int64_t lo, hi;
  wick_dim_range(s->f->module->dims, most, &lo, &hi);
  if (hi < 1) return;
  if (flow_is_number(s, v)) {
    wick_value store[3] = {whole, l->index, wick_form_register(s, v)};
    wick_build(&s->b, WICK_OP_store, 3, store, NULL, 0, NULL);
    return;
  }
  wick_picked choice = {.index = l->index, .count = hi};
  if (wick_dim_is_const(numel)) choice.step = numel.v;
  flow_copy(s, wick_build_view(&s->b, whole, row, 0, &choice), wick_form_low(s, v));
}

/* Copies the stacked values of a step to their rows. Values that were carried into the step are
 * copied at the beginning (`before`), because kernels overwrite them; others at the end. */
static void flow_rows(form_state *s, const flow_loop *l, bool before)
{
  const wick_region *g = &l->n->region[0];
  const wick_node *y = &s->f->node[g->end - 1];
  for (uint32_t k = 1 + l->ncarried; k < y->nin; k++) {
    uint32_t v = y->in[k].id;
    bool carried = v > g->first.id && v <= g->first.id + l->ncarried;
    if (carried == before) flow_stack(s, l, l->stacked[k - 1 - l->ncarried], y->in[k]);
  }
}

/* Copies the next values to the carried buffers. All of them change at once. */
static void flow_loop_end(form_state *s, flow_loop *l)
{
  const wick_node *y = &s->f->node[l->n->region[0].end - 1];
  wick_value *from = wick_new(s->tmp, wick_value, l->ncarried);
  flow_rows(s, l, false);
  if (l->more.id) flow_copy(s, l->more, wick_form_low(s, y->in[0]));
  for (uint32_t k = 0; k < l->ncarried; k++)
    if (l->carried[k].id) from[k] = wick_form_low(s, y->in[1 + k]); /* else a number */
  wick_form_assign(s, l->ncarried, l->carried, from);
}

static void flow_loop_body(form_state *s, flow_loop *l, wick_errors *all)
{
  flow_rows(s, l, true);
  flow_region(s, &l->n->region[0], all);
  s->b.loc = l->n->loc;
  flow_loop_end(s, l);
}

/* Returns true if no check of the number of steps is needed. */
static bool flow_is_within(const form_state *s, const wick_node *n)
{
  return !n->attr[WICK_ATTR_loop_stacked].i ||
         wick_group_counts_within(s->f, n, wick_loop_most(n->attr));
}

static void flow_loop_form(form_state *s, const wick_node *n, flow_loop *l, wick_errors *all)
{
  wick_value count = wick_form_low(s, n->in[0]);
  flow_loop_begin(s, l, all);
  wick_value in[3] = {count, l->index, l->more};
  wick_attr attr[] = {[WICK_ATTR_loop_stacked] = {.i = 0},
                      [WICK_ATTR_loop_most] =
                          flow_is_within(s, n) ? (wick_attr){0} : n->attr[WICK_ATTR_loop_most]};
  wick_build_open(&s->b, WICK_OP_loop, 2 + (l->more.id != 0), in, attr, 0, NULL);
  wick_region_begin(&s->b, 0, NULL);
  flow_mark mark = flow_enter(s);
  flow_loop_body(s, l, all);
  wick_yield(&s->b, 0, NULL);
  flow_leave(s, mark);
  wick_build_close(&s->b);
}

/* Functions that are called have data and references, in registers. The entry passes data on, and
 * returns it. */
static bool flow_refuses(const wick_func *f, const wick_node *n, wick_value v, bool called)
{
  wick_kind kind = wick_info_of(f, v)->kind;
  bool passed = kind == WICK_DATA && (n->op == WICK_OP_call || n->op == WICK_OP_return);
  return kind == WICK_FN || (wick_kind_is_object(kind) && !called && !passed);
}

wick_status wick_form_refuses_objects(const wick_func *f, wick_arena *tmp)
{
  bool called = wick_func_is_called(f);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    bool object = wick_op_of(n)->effect == WICK_EFFECT && !(called && wick_form_is_object(n));
    for (uint32_t k = 0; k < n->nin && !object; k++)
      object = n->in[k].id && flow_refuses(f, n, n->in[k], called);
    for (uint32_t k = 0; k < n->nout && !object; k++)
      object = flow_refuses(f, n, (wick_value){n->first.id + k}, called);
    if (object)
      return wick_fail(tmp, WICK_EUNSUPPORTED,
                       n->loc.id ? wick_loc_text(f->module, n->loc) : f->name,
                       "%s: %sfunction values and effects are not compiled yet",
                       wick_op_of(n)->name, called ? "" : "data, references, ");
  }
  return NULL;
}

/* ---- loops of procedures ---- */

/* Fails the run if the loop would make more steps than its stacked results have rows. */
static void flow_check_count(form_state *s, const wick_node *n, wick_value count)
{
  wick_builder *b = &s->b;
  if (flow_is_within(s, n)) return;
  wick_value most = wick_build_i64(b, wick_loop_most(n->attr).v);
  wick_build_failure(b, WICK_ERANGE, wick_build2(b, WICK_OP_gt, count, most), most,
                     wick_dim_const(0));
}

/* Opens a loop, up to its body. The numbers that it carries, from in[2] on, are after the index,
 * and in a loop that may end early after whether it goes on. */
static wick_value flow_open(form_state *s, const flow_loop *l, bool always, uint32_t nin,
                            wick_value *in)
{
  wick_builder *b = &s->b;
  wick_type *type = wick_new(s->tmp, wick_type, nin);
  wick_value count = in[1];
  for (uint32_t k = 0; k < nin; k++) type[k] = wick_built_type(b, in[k]);
  if (always) {
    type[1] = type[0];
    wick_build_open(b, WICK_OP_for, nin, in, NULL, 0, NULL);
    return wick_region_begin(b, nin - 1, type + 1);
  }
  type[1] = wick_form_number(s->f, s->f->node[l->n->region[0].end - 1].in[0]);
  in[1] = wick_build_const(b, type[1], 0, 1);
  wick_build_open(b, WICK_OP_while, nin, in, NULL, 0, NULL);
  wick_value v = wick_region_begin(b, nin, type);
  wick_value within = wick_build2(b, WICK_OP_lt, v, count);
  within = wick_build2(b, WICK_OP_and, within, (wick_value){v.id + 1});
  wick_yield(b, 1, &within);
  return wick_region_begin(b, nin, type);
}

static void flow_loop_registers(form_state *s, const wick_node *n, flow_loop *l, wick_errors *all)
{
  wick_builder *b = &s->b;
  const wick_region *g = &n->region[0];
  const wick_node *y = &s->f->node[g->end - 1];
  const wick_imm *more = flow_known(s, y->in[0]);
  bool always = more && more->i;
  wick_value *in = wick_new(s->tmp, wick_value, l->ncarried + 2);
  flow_loop_begin(s, l, all);
  in[1] = wick_form_register(s, n->in[0]);
  flow_check_count(s, n, in[1]);
  in[0] = wick_build_i64(b, 0);
  uint32_t nin = 2 + flow_registers(s, l->ncarried, n->in + 1, in + 2);
  wick_value v = flow_open(s, l, always, nin, in);
  if (b->status) return;
  l->index = s->reg[g->first.id] = v;
  flow_bind(s, (wick_value){g->first.id + 1}, l->ncarried, (wick_value){v.id + (always ? 1 : 2)});
  flow_mark mark = flow_enter(s);
  flow_loop_body(s, l, all);
  wick_value *next = wick_new(s->tmp, wick_value, nin);
  if (!always) {
    next[1] = wick_form_register(s, y->in[0]);
    next[0] = wick_build2(b, WICK_OP_add, v, wick_build_i64(b, 1));
  }
  flow_registers(s, l->ncarried, y->in + 1, next + 2);
  wick_yield(b, always ? nin - 2 : nin, always ? next + 2 : next);
  flow_leave(s, mark);
  v = wick_build_close(b);
  flow_bind(s, n->first, l->ncarried, (wick_value){v.id + (always ? 0 : 2)});
}

void wick_form_flow(form_state *s, uint32_t i, wick_errors *all)
{
  const wick_node *n = &s->f->node[i];
  s->b.loc = n->loc;
  if (n->op == WICK_OP_if) {
    flow_if(s, n, all);
  } else if (n->op == WICK_OP_switch) {
    flow_switch(s, n, all);
  } else {
    flow_loop l = {.n = n, .ncarried = n->nin - 1u};
    l.carried = wick_new(s->tmp, wick_value, l.ncarried + 1);
    l.stacked = wick_new(s->tmp, wick_value, n->nout + 1);
    if (s->registers)
      flow_loop_registers(s, n, &l, all);
    else
      flow_loop_form(s, n, &l, all);
  }
  wick_errors_add(all, s->b.status);
}
