/* Branches, and the state of an import that can be undone. */
#include "import/tensorflow/flow.h"
#include "import/tensorflow/ops.h"

#include <string.h>

wick_tf_trial wick_tf_trial_begin(const wick_import *c)
{
  const wick_tf *t = wick_tf_of(c);
  return (wick_tf_trial){.errors = c->errors,
                         .misfits = c->misfits,
                         .unknown = c->unknown,
                         .sizes = c->sizes,
                         .bounded = c->bounded.n,
                         .nodes = c->b.nodes.n,
                         .values = c->b.values.n,
                         .open = c->b.open.n,
                         .checks = c->b.constraints.n,
                         .branch_checks = c->b.branch_constraints.n,
                         .trail = t->trail.n,
                         .nvariable = t->variables.n,
                         .variables =
                             wick_dup(c->tmp, wick_tf_variable,
                                      t->variables.n ? t->variables.at : (wick_tf_variable[]){{0}},
                                      t->variables.n + !t->variables.n)};
}

wick_tf_value wick_tf_trial_variable(const wick_tf_trial *t, uint32_t variable)
{
  if (variable < t->nvariable) return t->variables[variable].current;
  return (wick_tf_value){.kind = WICK_TF_NOTHING};
}

void wick_tf_trial_undo(wick_import_node *n, const wick_tf_trial *s)
{
  wick_import *c = n->c;
  wick_tf *t = wick_tf_of(c);
  if (c->over) return;
  c->errors.list.n = s->errors.list.n, c->errors.more = s->errors.more;
  c->misfits = s->misfits, c->unknown = s->unknown, c->sizes = s->sizes;
  c->bounded.n = s->bounded;
  c->b.nodes.n = s->nodes, c->b.values.n = s->values, c->b.open.n = s->open;
  c->b.constraints.n = s->checks, c->b.branch_constraints.n = s->branch_checks;
  c->b.status = NULL;
  n->failed = false;
  wick_tf_rewind(c, s->trail);
  for (uint32_t i = 0; i < t->variables.n; i++)
    t->variables.at[i].current = wick_tf_trial_variable(s, i);
}

/* ---- values in regions ---- */

static bool flow_is_tensor(const wick_tf_value *v)
{
  return v->kind == WICK_TF_TENSOR || (v->kind == WICK_TF_LIST && v->v.id);
}

static bool flow_same_value(const wick_tf_value *a, const wick_tf_value *b)
{
  return a->kind == b->kind && a->v.id == b->v.id && a->at == b->at;
}

/* Runs a part with the location of the node. Returns false after an error. */
static bool flow_part(wick_import_node *n, wick_tf_part *part, void *arg, const wick_tf_value *in,
                      uint32_t nout, wick_tf_value *out)
{
  wick_import *c = n->c;
  uint32_t before = c->errors.list.n + c->errors.more;
  bool good = part(n, arg, in, out);
  c->b.loc = wick_loc_add(c->module, n->location);
  good =
      good && !c->over && !n->failed && !c->b.status && c->errors.list.n + c->errors.more == before;
  for (uint32_t k = 0; k < nout && good; k++) {
    good = out[k].kind != WICK_TF_NOTHING && out[k].kind != WICK_TF_BROKEN;
    if (good && out[k].v.id && wick_import_bounded_find(c, out[k].v)) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "the size of a result of its body depends on data");
      good = false;
    }
  }
  return good;
}

/* ---- branches ---- */

typedef struct flow_if {
  wick_import_node *n;
  wick_value cond;
  wick_tf_part *const *part;
  void *const *arg;
  const wick_tf_value *in;
  uint32_t nout;
  wick_tf_value *y[2];          /* the results of both parts, then the variables that they assign */
  wick_list(uint32_t) assigned; /* variables */
} flow_if;

static bool flow_note(wick_arena *tmp, flow_if *f, uint32_t variable)
{
  for (uint32_t i = 0; i < f->assigned.n; i++)
    if (f->assigned.at[i] == variable) return false;
  wick_push(tmp, &f->assigned, variable);
  return true;
}

/* Imports a part in its region. Sets *again if it assigns a variable that is not in the list. */
static bool flow_if_region(flow_if *f, uint32_t r, const wick_tf_trial *t, bool *again)
{
  wick_import *c = f->n->c;
  wick_tf *tf = wick_tf_of(c);
  wick_region_begin(&c->b, 0, NULL);
  uint32_t mark = wick_tf_mark(c);
  wick_tf_value *out = wick_new(c->tmp, wick_tf_value, f->nout + 1u);
  if (!flow_part(f->n, f->part[r], f->arg[r], f->in, f->nout, out)) return false;
  for (uint32_t i = 0; i < tf->variables.n; i++) {
    wick_tf_value was = wick_tf_trial_variable(t, i);
    if (!flow_same_value(&tf->variables.at[i].current, &was))
      *again = flow_note(c->tmp, f, i) || *again;
  }
  f->y[r] = wick_new(c->tmp, wick_tf_value, f->nout + f->assigned.n + 1u);
  for (uint32_t k = 0; k < f->nout; k++) f->y[r][k] = out[k];
  for (uint32_t i = 0; i < f->assigned.n; i++) {
    f->y[r][f->nout + i] = wick_tf_variable_value(f->n, f->assigned.at[i]);
    if (f->y[r][f->nout + i].kind == WICK_TF_BROKEN) return false;
  }
  for (uint32_t i = 0; i < tf->variables.n; i++)
    tf->variables.at[i].current = wick_tf_trial_variable(t, i);
  wick_tf_rewind(c, mark);
  wick_value *flat = wick_new(c->tmp, wick_value, f->nout + f->assigned.n + 1u);
  uint32_t nflat = 0;
  for (uint32_t k = 0; k < f->nout + f->assigned.n; k++)
    if (flow_is_tensor(&f->y[r][k])) flat[nflat++] = f->y[r][k].v;
  wick_yield(&c->b, nflat, flat);
  wick_build_open_attr(&c->b, r, wick_build_branch_constraints(&c->b, t->checks));
  return !c->b.status;
}

/* Lists without items get those of the other part, so that both have one type. */
static bool flow_if_alike(const flow_if *f)
{
  const wick_builder *b = f->n->b;
  for (uint32_t k = 0; k < f->nout + f->assigned.n; k++) {
    const wick_tf_value *x = &f->y[0][k], *y = &f->y[1][k];
    if (x->kind != y->kind || flow_is_tensor(x) != flow_is_tensor(y)) return false;
    if (!flow_is_tensor(x)) {
      if (x->at != y->at) return false;
    } else if (!wick_type_eq(wick_built_type(b, x->v), wick_built_type(b, y->v))) {
      return false;
    }
  }
  return true;
}

static bool flow_if_both(flow_if *f, wick_tf_value *out)
{
  wick_import *c = f->n->c;
  wick_tf_trial t = wick_tf_trial_begin(c);
  bool again = true, good = true;
  for (int tries = 0; again && tries < 4; tries++) {
    again = false;
    if (tries) wick_tf_trial_undo(f->n, &t);
    wick_value cond = f->cond;
    wick_build_open(&c->b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
    for (uint32_t r = 0; r < 2 && good; r++) good = flow_if_region(f, r, &t, &again);
    if (!good) break;
  }
  if (good && !flow_if_alike(f)) {
    good = false;
    wick_import_unknown(f->n, f->cond, "the condition, on which shapes depend,");
  }
  if (!good) {
    if (c->b.status) wick_import_add(c, f->n, c->b.status, f->n->location);
    c->b.status = NULL, c->b.open.n = t.open;
    wick_tf_rewind(c, t.trail);
    f->n->failed = true;
    return false;
  }
  wick_value next = wick_build_close(&c->b);
  for (uint32_t k = 0; k < f->nout + f->assigned.n; k++) {
    wick_tf_value v = f->y[0][k];
    v.stored = NULL;
    if (flow_is_tensor(&v)) v.v = next, next.id++;
    if (k < f->nout)
      out[k] = v;
    else
      wick_tf_of(c)->variables.at[f->assigned.at[k - f->nout]].current = v;
  }
  return !c->b.status;
}

bool wick_tf_branch(wick_import_node *n, wick_value cond, wick_tf_part *const *part,
                    void *const *arg, const wick_tf_value *in, uint32_t nout, wick_tf_value *out)
{
  int64_t known;
  if (wick_import_known_int(n->c, cond, &known))
    return flow_part(n, part[known ? 0 : 1], arg[known ? 0 : 1], in, nout, out);
  if (wick_built_info(n->b, cond)->rank) cond = wick_build_reshape(n->b, cond, 0, NULL);
  flow_if f = {.n = n, .cond = cond, .part = part, .arg = arg, .in = in, .nout = nout};
  return flow_if_both(&f, out);
}

/* ---- If, While, Case ---- */

typedef struct flow_function {
  const wick_tf_name_attrs *function;
  uint32_t nin, nout;
} flow_function;

static bool flow_function_part(wick_import_node *n, void *arg, const wick_tf_value *in,
                               wick_tf_value *out)
{
  const flow_function *f = arg;
  return wick_tf_call(n, f->function, f->nin, in, f->nout, out);
}

static const wick_tf_name_attrs *flow_attr(const wick_import_node *n, const char *name)
{
  const wick_tf_attr *a = wick_tf_attr_find(n, name);
  return a ? a->func : NULL;
}

/* A condition that is no bool is true if it is not zero. */
static wick_value flow_condition(wick_import_node *n, const wick_tf_value *v)
{
  if (v->kind != WICK_TF_TENSOR) {
    wick_import_fail(n, WICK_ETYPE, "the condition is no tensor");
    return (wick_value){0};
  }
  const wick_type_info *t = wick_built_info(n->b, v->v);
  if (t->elem == WICK_STRING || t->rank) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the condition is %s of rank %u, expected one number",
                     wick_elem_name(t->elem), t->rank);
    return (wick_value){0};
  }
  return wick_build_cast(n->b, v->v, WICK_BOOL);
}

static void flow_set(wick_import_node *n, const wick_tf_value *v)
{
  for (uint32_t k = 0; k < n->nout; k++) wick_tf_op_of(n)->out[k] = v[k];
}

void wick_tf_import_if(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  wick_value cond = flow_condition(n, &o->in[0]);
  flow_function f[2] = {{flow_attr(n, "then_branch"), n->nin - 1, n->nout},
                        {flow_attr(n, "else_branch"), n->nin - 1, n->nout}};
  wick_tf_part *const part[2] = {flow_function_part, flow_function_part};
  void *const arg[2] = {&f[0], &f[1]};
  wick_tf_value *out = wick_new(n->c->tmp, wick_tf_value, n->nout + 1u);
  if (cond.id && wick_tf_branch(n, cond, part, arg, o->in + 1, n->nout, out)) flow_set(n, out);
}

typedef struct flow_case {
  wick_value index;
  uint32_t at, n;
  const wick_tf_attr_list *branches;
  uint32_t nin, nout;
} flow_case;

static bool flow_case_one(wick_import_node *n, void *arg, const wick_tf_value *in,
                          wick_tf_value *out)
{
  const flow_case *c = arg;
  return wick_tf_call(n, &c->branches->func.at[c->at], c->nin, in, c->nout, out);
}

/* The branches from `at` on. The last one is taken for an index outside, too. */
static bool flow_case_rest(wick_import_node *n, void *arg, const wick_tf_value *in,
                           wick_tf_value *out)
{
  flow_case here = *(const flow_case *)arg, rest = here;
  if (here.at + 1 >= here.n) return flow_case_one(n, &here, in, out);
  rest.at++;
  wick_value number = wick_emit_number(n->b, here.index, here.at);
  wick_value cond = wick_build2(n->b, WICK_OP_eq, here.index, number);
  wick_tf_part *const part[2] = {flow_case_one, flow_case_rest};
  void *const both[2] = {&here, &rest};
  return !n->b->status && wick_tf_branch(n, cond, part, both, in, here.nout, out);
}

void wick_tf_import_case(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  const wick_tf_attr *a = wick_tf_attr_find(n, "branches");
  if (!a || !a->list || !a->list->func.n || a->list->func.n > 1000) {
    wick_import_fail(n, WICK_EPARSE, "it has no branches, or more than 1000");
    return;
  }
  flow_case all = {.index = o->in[0].v,
                   .n = (uint32_t)a->list->func.n,
                   .branches = a->list,
                   .nin = n->nin - 1,
                   .nout = n->nout};
  wick_tf_value *out = wick_new(n->c->tmp, wick_tf_value, n->nout + 1u);
  int64_t known;
  if (o->in[0].kind != WICK_TF_TENSOR) {
    wick_import_fail(n, WICK_ETYPE, "the index is no tensor");
  } else if (wick_import_known_int(n->c, all.index, &known)) {
    all.at = known < 0 || known >= all.n ? all.n - 1 : (uint32_t)known;
    if (flow_part(n, flow_case_one, &all, o->in + 1, n->nout, out)) flow_set(n, out);
  } else if (flow_case_rest(n, &all, o->in + 1, out)) {
    flow_set(n, out);
  }
}

static bool flow_test_part(wick_import_node *n, void *arg, const wick_tf_value *in,
                           wick_tf_value *out)
{
  if (!flow_function_part(n, arg, in, out)) return false;
  wick_value cond = flow_condition(n, out);
  *out = wick_tf_tensor_value(cond);
  return cond.id != 0;
}

void wick_tf_import_while(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  flow_function test = {flow_attr(n, "cond"), n->nin, 1},
                body = {flow_attr(n, "body"), n->nin, n->nin};
  wick_tf_loop l = {.n = n->nin,
                    .var = wick_dup(n->c->tmp, wick_tf_value, o->in, n->nin + 1u),
                    .test = flow_test_part,
                    .body = flow_function_part,
                    .test_arg = &test,
                    .body_arg = &body};
  if (n->nout > n->nin)
    wick_import_fail(n, WICK_EPARSE, "it has %u outputs and carries %u values", n->nout, n->nin);
  else if (wick_tf_loop_build(n, &l))
    flow_set(n, l.var);
}

void wick_tf_import_partitioned_call(wick_import_node *n)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  wick_tf_value *out = wick_new(n->c->tmp, wick_tf_value, n->nout + 1u);
  const wick_tf_name_attrs *f = flow_attr(n, "f");
  wick_tf_name_attrs named = {.name = o->vertex->def->op, .attr = o->vertex->def->attr};
  if (!f && !wick_tf_row_find(o->vertex->op)) f = &named; /* the operator is the function */
  if (wick_tf_call(n, f, n->nin, o->in, n->nout, out)) flow_set(n, out);
}
