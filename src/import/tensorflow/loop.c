/* Loops. Each pass imports the body in a region and learns from it: values that no step changes
 * leave the loop, lists get the shape of their items, variables that are assigned are carried, and
 * counters with known limits give the number of steps. The last pass is kept. */
#include "import/tensorflow/flow.h"

#include <string.h>

enum { LOOP_PASSES = 40, LOOP_MOST_STEPS = 4096 };

typedef enum loop_mode {
  LOOP_CARRIED,
  LOOP_FIXED,   /* no step changes it */
  LOOP_COUNTER, /* start + index * step */
  LOOP_STACKED  /* a list that gets item `index` in each step */
} loop_mode;

typedef struct loop_var {
  loop_mode mode;
  wick_tf_value first; /* its initial value */
  wick_tf_value in, next;
  bool counts; /* in the last pass it was increased by `step` */
  int64_t step;
  uint32_t variable; /* 1 + the variable whose value it is; 0: a value of the loop */
} loop_var;

typedef struct loop_plan {
  wick_import_node *n;
  const wick_tf_loop *l;
  uint32_t nvar, room;
  loop_var *var;
  wick_tf_trial before;
  bool counted, changed, never;
  wick_dim count; /* the number of steps, if counted */
  wick_value index, steps;
  uint32_t first_node, first_value; /* of the region */
} loop_plan;

static void loop_add(loop_plan *p, loop_var v)
{
  if (p->nvar == p->room) {
    loop_var *var = wick_new(p->n->c->tmp, loop_var, 2u * p->room + 8u);
    for (uint32_t k = 0; k < p->nvar; k++) var[k] = p->var[k];
    p->var = var, p->room = 2u * p->room + 8u;
  }
  p->var[p->nvar++] = v;
}

static bool loop_is_tensor(const wick_tf_value *v)
{
  return v->kind == WICK_TF_TENSOR || (v->kind == WICK_TF_LIST && v->v.id);
}

static wick_value loop_number(loop_plan *p, wick_elem e, int64_t i)
{
  return wick_build_const(p->n->b, wick_type_tensor(p->n->c->module, e, 0, NULL), 0, i);
}

/* Runs the test or the body with the values of the variables in place. */
static bool loop_part(loop_plan *p, wick_tf_part *part, void *arg, bool next, wick_tf_value *out)
{
  wick_import *c = p->n->c;
  wick_tf *t = wick_tf_of(c);
  wick_tf_value *in = wick_new(c->tmp, wick_tf_value, p->nvar + 1);
  uint32_t before = c->errors.list.n + c->errors.more;
  for (uint32_t k = 0; k < p->nvar; k++) {
    in[k] = next ? p->var[k].next : p->var[k].in;
    if (p->var[k].variable) t->variables.at[p->var[k].variable - 1].current = in[k];
  }
  bool good = part(p->n, arg, in, out);
  c->b.loc = wick_loc_add(c->module, p->n->location);
  return good && !c->over && !p->n->failed && !c->b.status &&
         c->errors.list.n + c->errors.more == before;
}

static bool loop_test(loop_plan *p, bool next, wick_value *out)
{
  wick_tf_value v = {0};
  *out = (wick_value){0};
  if (!loop_part(p, p->l->test, p->l->test_arg, next, &v) || v.kind != WICK_TF_TENSOR) return false;
  *out = v.v;
  return true;
}

/* ---- what a pass tells ---- */

static const wick_value_info *loop_info(const loop_plan *p, wick_value v)
{
  return &p->n->b->values.at[v.id];
}

/* The known number or size that a scalar is. */
static bool loop_known(const loop_plan *p, wick_value v, wick_dim *out)
{
  const wick_value_info *i = loop_info(p, v);
  if (i->ncontent != 1) return false;
  *out = i->content[0];
  return true;
}

/* Is it an integer that grows by a constant in each step? */
static void loop_find_counter(loop_plan *p, loop_var *v)
{
  const wick_node *n =
      v->next.kind == WICK_TF_TENSOR ? wick_emit_definer(p->n->b, v->next.v) : NULL;
  wick_dim by, start;
  v->counts = false;
  if (v->mode == LOOP_COUNTER) v->counts = true;
  if (v->mode != LOOP_CARRIED || !n || n->op != WICK_OP_add || v->variable) return;
  const wick_type_info *t = wick_built_info(p->n->b, v->in.v);
  if (!wick_elem_is_int(t->elem) || t->rank) return;
  for (uint32_t i = 0; i < 2; i++)
    if (n->in[i].id == v->in.v.id && loop_known(p, n->in[1 - i], &by) && wick_dim_is_const(by) &&
        by.v > 0 && by.v < INT32_MAX && loop_known(p, v->first.v, &start)) {
      v->counts = true;
      v->step = by.v;
    }
}

/* The smallest number of steps after which a comparison of a counter with a limit is false. */
static bool loop_limit(loop_plan *p, const wick_node *n, wick_dim *out)
{
  wick_dims *t = p->n->c->module->dims;
  bool less = n->op == WICK_OP_lt || n->op == WICK_OP_le,
       more = n->op == WICK_OP_gt || n->op == WICK_OP_ge;
  if (!less && !more) return false;
  wick_value counter = n->in[more], limit = n->in[less];
  wick_dim start, end;
  if (!loop_known(p, limit, &end)) return false;
  if (n->op == WICK_OP_le || n->op == WICK_OP_ge) end = wick_dim_add(t, end, wick_dim_const(1));
  for (uint32_t k = 0; k < p->nvar; k++) {
    const loop_var *v = &p->var[k];
    if (!v->counts || v->next.v.id != counter.id || !loop_known(p, v->first.v, &start)) continue;
    wick_dim span = wick_dim_add(t, wick_dim_sub(t, end, start), wick_dim_const(v->step - 1));
    *out = wick_dim_floordiv(t, span, wick_dim_const(v->step));
    return true;
  }
  return false;
}

/* Finds the number of steps from the test after a step: comparisons that all must hold. */
static bool loop_count(loop_plan *p, wick_value test, wick_dim *out)
{
  wick_dims *t = p->n->c->module->dims;
  wick_list(wick_value) open = {0};
  bool any = false;
  wick_push(p->n->c->tmp, &open, test);
  while (open.n) {
    wick_value v = open.at[--open.n];
    int64_t known;
    wick_dim steps;
    if (wick_import_known_int(p->n->c, v, &known) && known) continue;
    const wick_node *n = wick_emit_definer(p->n->b, v);
    if (!n) return false;
    bool same = n->op == WICK_OP_cast && wick_built_info(p->n->b, n->in[0])->elem == WICK_BOOL;
    if (n->op == WICK_OP_and || n->op == WICK_OP_reshape || same) {
      for (uint32_t i = 0; i < n->nin; i++) wick_push(p->n->c->tmp, &open, n->in[i]);
      continue;
    }
    if (!loop_limit(p, n, &steps)) return false;
    *out = any ? wick_dim_min(t, *out, steps) : steps;
    any = true;
  }
  if (any) *out = wick_dim_max(t, *out, wick_dim_const(0));
  return any;
}

static uint32_t loop_uses(const loop_plan *p, wick_value v)
{
  uint32_t n = 0;
  for (uint32_t i = p->first_node; i < p->n->b->nodes.n; i++)
    for (uint32_t k = 0; k < p->n->b->nodes.at[i].nin; k++)
      n += p->n->b->nodes.at[i].in[k].id == v.id;
  return n;
}

/* Is the list, which had no items, given item `index` in each step, and read by nothing else? */
static bool loop_stacks(const loop_plan *p, const loop_var *v)
{
  const wick_tf_stored *s = v->next.stored;
  if (v->first.kind != WICK_TF_LIST || v->first.v.id || !s || s->list.id != v->in.v.id ||
      loop_uses(p, v->in.v) != 1)
    return false;
  wick_dim length = v->first.list->length;
  bool fits = wick_dim_eq(length, p->count) || wick_dim_is(length, 0) || /* it grows */
              (wick_dim_is_const(length) && wick_dim_is_const(p->count) && p->count.v <= length.v);
  for (uint32_t k = 0; k < p->nvar && fits; k++) {
    const loop_var *i = &p->var[k];
    wick_dim start;
    if (i->counts && i->step == 1 && i->in.v.id == s->index.id &&
        loop_known(p, i->first.v, &start) && wick_dim_eq(start, wick_dim_const(0)))
      return true;
  }
  return false;
}

/* ---- passes ---- */

/* The value of a variable before the loop, as the region may carry it. */
static wick_value loop_initial(loop_plan *p, loop_var *v)
{
  if (v->first.kind != WICK_TF_LIST || v->first.v.id) return v->first.v;
  wick_tf_value shaped = v->first;
  shaped.list = v->in.list ? v->in.list : v->first.list;
  return wick_tf_list_items(p->n->c, &shaped);
}

static bool loop_open(loop_plan *p)
{
  wick_import *c = p->n->c;
  wick_value *in = wick_new(c->tmp, wick_value, p->nvar + 1), cond;
  wick_type *type = wick_new(c->tmp, wick_type, p->nvar + 1);
  uint32_t n = 1, nstacked = 0;
  int64_t on;
  for (uint32_t k = 0; k < p->nvar; k++) {
    const wick_tf_list *list = p->var[k].in.list;
    p->var[k].in = p->var[k].first;
    if (list) p->var[k].in.list = list;
    p->var[k].in.stored = NULL;
    nstacked += p->var[k].mode == LOOP_STACKED;
  }
  if (!p->counted) {
    for (uint32_t k = 0; k < p->nvar; k++) p->var[k].next = p->var[k].first;
    if (!loop_test(p, false, &cond)) return false;
    p->never = wick_import_known_int(c, cond, &on) && !on;
    if (p->never) return false;
  }
  if (!p->counted) {
    wick_value many = loop_number(p, WICK_I64, INT64_MAX), none = loop_number(p, WICK_I64, 0);
    p->steps = wick_build3(p->n->b, WICK_OP_where, cond, many, none);
  } else {
    p->steps = wick_dim_is_const(p->count)
                   ? loop_number(p, WICK_I64, p->count.v)
                   : wick_build1(p->n->b, WICK_OP_size, wick_emit_count(p->n->b, p->count));
  }
  in[0] = p->steps;
  type[0] = wick_type_tensor(c->module, WICK_I64, 0, NULL);
  for (uint32_t k = 0; k < p->nvar; k++) {
    loop_var *v = &p->var[k];
    if (v->mode != LOOP_CARRIED) continue;
    wick_value first = loop_initial(p, v);
    if (!first.id) continue; /* a list whose items have no shape yet */
    in[n] = first;
    type[n++] = wick_built_type(p->n->b, first);
  }
  wick_attr attr[] = {[WICK_ATTR_loop_stacked] = {.i = nstacked},
                      [WICK_ATTR_loop_most] = {.n = nstacked > 0, .dims = &p->count}};
  if (p->n->b->status) return false;
  p->first_node = p->n->b->nodes.n;
  wick_build_open(p->n->b, WICK_OP_loop, n, in, attr, 0, NULL);
  p->index = wick_region_begin(p->n->b, n, type);
  p->first_value = p->index.id;
  n = 1;
  for (uint32_t k = 0; k < p->nvar; k++) {
    loop_var *v = &p->var[k];
    if (v->mode == LOOP_CARRIED &&
        (loop_is_tensor(&v->first) || (v->in.list && v->in.list->shaped)))
      v->in.v = (wick_value){p->index.id + n++};
    if (v->mode == LOOP_COUNTER) {
      wick_elem e = wick_built_info(p->n->b, v->first.v)->elem;
      wick_value i = wick_build_cast(p->n->b, p->index, e);
      if (v->step != 1) i = wick_emit_by(p->n->b, WICK_OP_mul, i, (double)v->step);
      v->in.v = wick_build2(p->n->b, WICK_OP_add, i, v->first.v);
    }
  }
  return !p->n->b->status;
}

/* Compares the values before and after a step. Returns whether the next pass knows more. */
static bool loop_learn(loop_plan *p)
{
  wick_tf *t = wick_tf_of(p->n->c);
  bool more = false;
  for (uint32_t k = 0; k < p->nvar; k++) {
    loop_var *v = &p->var[k];
    if (v->next.kind != v->in.kind) {
      wick_import_fail(p->n, WICK_ETYPE, "value %u becomes a value of another kind", k);
      return false;
    }
    if (v->mode == LOOP_CARRIED && v->next.v.id == v->in.v.id && v->next.at == v->in.at) {
      v->mode = LOOP_FIXED;
      more = more || loop_is_tensor(&v->in);
    } else if (v->mode == LOOP_CARRIED && !loop_is_tensor(&v->in)) {
      if (v->next.kind != WICK_TF_LIST || !v->next.list->shaped) {
        wick_import_fail(p->n, WICK_EUNSUPPORTED, "its resources change from step to step");
        return false;
      }
      v->in.list = v->next.list; /* now the shape of its items is known */
      p->changed = !wick_dim_eq(v->next.list->length, v->first.list->length);
      more = true;
    } else if (v->mode == LOOP_FIXED && v->next.v.id != v->in.v.id) {
      v->mode = LOOP_CARRIED;
      more = true;
    }
  }
  for (uint32_t i = 0; i < t->variables.n; i++) {
    bool known = false;
    const wick_tf_value was = wick_tf_trial_variable(&p->before, i),
                        *is = &t->variables.at[i].current;
    for (uint32_t k = 0; k < p->nvar; k++) known = known || p->var[k].variable == i + 1;
    if (known || (was.kind == is->kind && was.v.id == is->v.id)) continue;
    loop_add(p, (loop_var){.variable = i + 1});
    more = true;
  }
  for (uint32_t k = 0; k < p->nvar; k++) loop_find_counter(p, &p->var[k]);
  return more;
}

static bool loop_types_change(const loop_plan *p)
{
  for (uint32_t k = 0; k < p->nvar; k++) {
    const loop_var *v = &p->var[k];
    if (v->mode == LOOP_CARRIED && loop_is_tensor(&v->in) && v->next.v.id &&
        !wick_type_eq(wick_built_type(p->n->b, v->in.v), wick_built_type(p->n->b, v->next.v)))
      return true;
  }
  return false;
}

/* Does a list without items get some that no stacked result has? Then it grows from step to step. */
static bool loop_grows(const loop_plan *p)
{
  for (uint32_t k = 0; k < p->nvar; k++) {
    const loop_var *v = &p->var[k];
    if (v->mode == LOOP_CARRIED && v->first.kind == WICK_TF_LIST && v->next.stored &&
        wick_dim_is(v->first.list->length, 0))
      return true;
  }
  return false;
}

static wick_value loop_item(const loop_var *v)
{
  return v->next.stored ? v->next.stored->item : (wick_value){0};
}

/* Ends the region and sets the last values. */
static bool loop_close(loop_plan *p, wick_value test)
{
  wick_import *c = p->n->c;
  wick_builder *b = p->n->b;
  wick_value *y = wick_new(c->tmp, wick_value, p->nvar + 1);
  uint32_t n = 0;
  y[n++] = p->counted ? loop_number(p, WICK_BOOL, 1) : test;
  for (uint32_t k = 0; k < p->nvar; k++)
    if (p->var[k].mode == LOOP_CARRIED) y[n++] = p->var[k].next.v;
  for (uint32_t k = 0; k < p->nvar; k++)
    if (p->var[k].mode == LOOP_STACKED) y[n++] = loop_item(&p->var[k]);
  wick_yield(b, n, y);
  wick_value result = wick_build_close(b);
  for (uint32_t k = 0; k < p->nvar; k++) {
    loop_var *v = &p->var[k];
    v->next.stored = NULL;
    if (v->mode == LOOP_CARRIED) v->next.v = result, result.id++;
    if (v->mode == LOOP_FIXED) v->next = v->first;
  }
  for (uint32_t k = 0; k < p->nvar; k++) {
    loop_var *v = &p->var[k];
    if (v->mode == LOOP_STACKED) {
      wick_value items = result;
      result.id++;
      wick_dim length = v->first.list->length;
      if (!wick_dim_eq(length, p->count) && !wick_dim_is(length, 0)) {
        const wick_type_info *t = wick_built_info(b, items);
        wick_dim pad[2 * WICK_MAX_RANK] = {{0}};
        for (uint32_t i = 0; i < 2u * t->rank; i++) pad[i] = wick_dim_const(0);
        pad[t->rank] = wick_dim_const(length.v - p->count.v);
        wick_emit e = wick_emit_begin(b, WICK_OP_pad);
        wick_emit_set_dims(&e, "pad", 2u * t->rank, pad);
        items = wick_emit_end1(&e, items);
      }
      v->next = wick_tf_list_of(c, items);
    }
    if (v->mode == LOOP_COUNTER) {
      wick_elem elem = wick_built_info(b, v->first.v)->elem;
      wick_value steps = wick_build_cast(b, p->steps, elem);
      if (v->step != 1) steps = wick_emit_by(b, WICK_OP_mul, steps, (double)v->step);
      v->next.v = wick_build2(b, WICK_OP_add, steps, v->first.v);
    }
  }
  return !b->status;
}

/* ---- unrolling ---- */

static bool loop_unrolled(loop_plan *p)
{
  wick_tf_value *next = wick_new(p->n->c->tmp, wick_tf_value, p->nvar + 1);
  for (uint32_t k = 0; k < p->nvar; k++)
    p->var[k].in =
        p->var[k].variable ? wick_tf_variable_value(p->n, p->var[k].variable - 1) : p->l->var[k];
  for (int64_t step = 0; step <= LOOP_MOST_STEPS; step++) {
    wick_value test;
    int64_t on;
    if (!loop_test(p, false, &test)) return false;
    if (!wick_import_known_int(p->n->c, test, &on))
      return wick_import_unknown(p->n, test,
                                 "the number of steps of a loop whose values change their shapes");
    if (!on) {
      for (uint32_t k = 0; k < p->nvar; k++) p->var[k].next = p->var[k].in;
      return true;
    }
    if (!loop_part(p, p->l->body, p->l->body_arg, false, next)) return false;
    for (uint32_t k = 0; k < p->nvar; k++)
      p->var[k].in = p->var[k].variable
                         ? wick_tf_of(p->n->c)->variables.at[p->var[k].variable - 1].current
                         : next[k];
  }
  wick_import_fail(p->n, WICK_ELIMIT, "values change their shapes in a loop of more than %d steps",
                   LOOP_MOST_STEPS);
  return false;
}

/* ---- the loop ---- */

typedef enum loop_state { LOOP_FAILED, LOOP_AGAIN, LOOP_DONE, LOOP_UNROLL } loop_state;

/* A value that a counted pass no longer carries. */
static void loop_decide(loop_plan *p)
{
  for (uint32_t k = 0; k < p->nvar; k++)
    if (p->var[k].mode == LOOP_CARRIED && loop_stacks(p, &p->var[k])) p->var[k].mode = LOOP_STACKED;
  for (uint32_t k = 0; k < p->nvar; k++)
    if (p->var[k].counts) p->var[k].mode = LOOP_COUNTER;
}

static loop_state loop_pass(loop_plan *p)
{
  wick_tf *t = wick_tf_of(p->n->c);
  for (uint32_t k = 0; k < p->nvar; k++)
    if (p->var[k].variable) {
      p->var[k].first = wick_tf_variable_value(p->n, p->var[k].variable - 1);
      if (p->var[k].first.kind == WICK_TF_BROKEN) return LOOP_FAILED;
    }
  if (!loop_open(p)) return p->never ? LOOP_DONE : LOOP_FAILED;
  wick_tf_value *next = wick_new(p->n->c->tmp, wick_tf_value, p->nvar + 1);
  if (!loop_part(p, p->l->body, p->l->body_arg, false, next)) return LOOP_FAILED;
  for (uint32_t k = 0; k < p->nvar; k++) {
    loop_var *v = &p->var[k];
    v->next = v->variable ? t->variables.at[v->variable - 1].current : next[k];
    if (v->next.kind == WICK_TF_BROKEN || v->next.kind == WICK_TF_NOTHING) return LOOP_FAILED;
  }
  if (!p->counted) {
    bool more = loop_learn(p);
    if (p->n->failed) return LOOP_FAILED;
    if (p->changed) return LOOP_UNROLL;
    if (more) return LOOP_AGAIN;
  }
  if (loop_types_change(p)) return LOOP_UNROLL;
  wick_value test = {0};
  if (!p->counted) {
    if (!loop_test(p, true, &test)) return LOOP_FAILED;
    if (loop_count(p, test, &p->count)) {
      p->counted = true;
      loop_decide(p);
      return LOOP_AGAIN;
    }
  }
  if (loop_grows(p)) return LOOP_UNROLL;
  return loop_close(p, test) ? LOOP_DONE : LOOP_FAILED;
}

static bool loop_fail(loop_plan *p)
{
  wick_import *c = p->n->c;
  if (c->b.status) wick_import_add(c, p->n, c->b.status, p->n->location);
  c->b.status = NULL, c->b.open.n = p->before.open;
  wick_tf_rewind(c, p->before.trail);
  p->n->failed = true;
  return false;
}

bool wick_tf_loop_build(wick_import_node *n, wick_tf_loop *l)
{
  wick_import *c = n->c;
  wick_tf *t = wick_tf_of(c);
  loop_plan p = {.n = n, .l = l, .before = wick_tf_trial_begin(c)};
  for (uint32_t k = 0; k < l->n; k++) loop_add(&p, (loop_var){.first = l->var[k]});
  loop_state s = LOOP_AGAIN;
  for (int pass = 0; pass < LOOP_PASSES && s == LOOP_AGAIN; pass++) {
    if (pass) wick_tf_trial_undo(n, &p.before);
    s = loop_pass(&p);
  }
  if (s == LOOP_UNROLL || s == LOOP_AGAIN) {
    wick_tf_trial_undo(n, &p.before);
    if (!loop_unrolled(&p)) return loop_fail(&p);
    s = LOOP_DONE;
  }
  if (s == LOOP_FAILED) return loop_fail(&p);
  wick_tf_rewind(c, p.before.trail);
  for (uint32_t k = 0; k < p.nvar; k++) {
    const wick_tf_value v = p.never ? p.var[k].first : p.var[k].next;
    if (p.var[k].variable)
      t->variables.at[p.var[k].variable - 1].current = v;
    else
      l->var[k] = v;
  }
  return !c->b.status;
}
