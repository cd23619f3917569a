/* The tape of the evaluator: which steps computed a value, and their cotangents.
 *
 * Each differentiation has a tape. A tensor that depends on variables of several tapes has a trace
 * on each; an operator on it is recorded on the innermost tape, with operands and results as the
 * outer tapes see them, then on the next one. Cotangents are computed by operators that the outer
 * tapes record in turn, so that derivatives are of any order. */
#include "lang/eval_tape.h"

#include "ir/element.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"

/* ---- traces ---- */

static const eval_trace *tape_find(const wick_datum *d, const eval_tape *tape)
{
  for (const eval_trace *t = d ? d->trace : NULL; t; t = t->outer)
    if (t->tape == tape) return t;
  return NULL;
}

static const eval_trace *tape_without(eval *e, const eval_trace *t, const eval_tape *tape)
{
  if (!t || t->tape == tape) return t ? t->outer : NULL;
  const eval_trace *outer = tape_without(e, t->outer, tape);
  if (outer == t->outer) return t;
  eval_trace *own = wick_dup(e->mem, eval_trace, t, 1);
  own->outer = outer;
  return own;
}

const wick_datum *wick_tape_strip(eval *e, const wick_datum *d, const eval_tape *tape)
{
  if (!d) return d;
  if (d->kind == WICK_DATUM_TENSOR) {
    if (tape ? !tape_find(d, tape) : !d->trace) return d;
    wick_datum *own = wick_dup(e->mem, wick_datum, d, 1);
    own->trace = tape ? tape_without(e, d->trace, tape) : NULL;
    return own;
  }
  if (d->kind != WICK_DATUM_TUPLE && d->kind != WICK_DATUM_DATA) return d;
  wick_datum *own = wick_dup(e->mem, wick_datum, d, 1);
  own->item = wick_new(e->mem, const wick_datum *, d->n + 1u);
  for (uint32_t i = 0; i < d->n; i++) own->item[i] = wick_tape_strip(e, d->item[i], tape);
  return own;
}

const wick_datum *wick_eval_untraced(eval *e, const wick_datum *d)
{
  return wick_tape_strip(e, d, NULL);
}

bool wick_eval_is_traced(uint32_t narg, const wick_datum *const *arg)
{
  for (uint32_t i = 0; i < narg; i++)
    if (arg[i] && arg[i]->trace) return true;
  return false;
}

/* ---- recording ---- */

eval_tape *wick_tape_begin(eval *e)
{
  eval_tape *t = wick_new(e->mem, eval_tape, 1);
  t->number = ++e->ntape;
  return t;
}

static bool tape_counts(const wick_datum *d)
{
  return d->kind == WICK_DATUM_TENSOR && WICK_FLOATS >> d->tensor.elem & 1;
}

/* The innermost of the tapes that see one of the operands. */
static eval_tape *tape_innermost(uint32_t narg, const wick_datum *const *arg)
{
  eval_tape *tape = NULL;
  for (uint32_t i = 0; i < narg; i++)
    if (arg[i] && arg[i]->trace && (!tape || arg[i]->trace->tape->number > tape->number))
      tape = arg[i]->trace->tape;
  return tape;
}

eval_step *wick_tape_step(eval *e, eval_tape *tape, uint32_t narg, const wick_datum *const *arg,
                          uint32_t nout)
{
  eval_step *s = wick_new(e->mem, eval_step, 1);
  s->narg = narg, s->nout = nout;
  s->arg = wick_new(e->mem, const wick_datum *, narg + 1u);
  s->from = wick_new(e->mem, const eval_trace *, narg + 1u);
  s->out = wick_new(e->mem, const wick_datum *, nout + 1u);
  for (uint32_t i = 0; i < narg; i++) {
    s->from[i] = tape_find(arg[i], tape);
    s->arg[i] = wick_tape_strip(e, arg[i], tape);
  }
  s->number = tape->step.n;
  wick_push(e->mem, &tape->step, s);
  return s;
}

void wick_tape_trace(eval *e, eval_tape *tape, eval_step *step, uint32_t result, wick_datum *d)
{
  if (!tape_counts(d)) return;
  eval_trace *t = wick_new(e->mem, eval_trace, 1);
  *t = (eval_trace){.tape = tape, .step = step, .result = result, .outer = d->trace};
  d->trace = t;
}

/* Records a step like `like` on the innermost tape, after the outer ones. */
static void tape_record(eval *e, const eval_step *like, uint32_t narg, const wick_datum *const *arg,
                        uint32_t nout, wick_datum *const *out)
{
  eval_tape *tape = tape_innermost(narg, arg);
  if (!tape || e->failed) return;
  eval_step *s = wick_tape_step(e, tape, narg, arg, nout);
  s->op = like->op, s->attr = like->attr, s->move = like->move;
  tape_record(e, like, narg, s->arg, nout, out);
  for (uint32_t k = 0; k < nout; k++) {
    s->out[k] = wick_dup(e->mem, wick_datum, out[k], 1);
    wick_tape_trace(e, tape, s, k, out[k]);
  }
}

void wick_eval_record(eval *e, wick_opcode op, const wick_attr *attr, uint32_t narg,
                      const wick_datum *const *arg, uint32_t nout, wick_datum *const *out)
{
  if (!wick_eval_is_traced(narg, arg)) return;
  uint32_t nattr = attr ? wick_op_nattr(wick_ops[op]) : 0;
  const eval_step like = {.op = op,
                          .attr = nattr ? wick_dup(e->mem, wick_attr, attr, nattr) : NULL};
  tape_record(e, &like, narg, arg, nout, out);
}

void wick_eval_record_move(eval *e, uint32_t narg, const wick_datum *const *arg,
                           const int64_t *from, wick_datum *out)
{
  if (!wick_eval_is_traced(narg, arg)) return;
  uint64_t n = wick_ref_numel(&out->tensor);
  int64_t *move = wick_new(e->mem, int64_t, n + 1);
  for (uint64_t k = 0; k < n; k++) move[k] = from ? from[k] : (int64_t)k;
  tape_record(e, &(eval_step){.move = move}, narg, arg, 1, &out);
}

/* ---- cotangents ---- */

static const wick_datum *tape_run(eval *e, const wick_ast *n, wick_opcode op, uint32_t narg,
                                  const wick_datum *const *arg, const wick_attr *attr)
{
  const wick_datum *out = NULL;
  wick_eval_run(e, n, op, narg, arg, attr, 0, NULL, 1, &out);
  return e->failed ? wick_eval_fail(e, n, " ") : out;
}

const wick_datum *wick_tape_number(eval *e, const wick_datum *like, double number)
{
  const wick_datum *d = wick_eval_tensor(e, like->tensor.elem, like->tensor.rank, like->tensor.dim);
  for (uint64_t k = 0; k < wick_ref_numel(&like->tensor); k++)
    wick_eval_set(d, k, (wick_scalar){.f = number});
  return d;
}

static const wick_datum *tape_shaped(eval *e, const wick_ast *n, const wick_datum *d, uint32_t rank,
                                     const int64_t *size)
{
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) dim[k] = wick_dim_const(size[k]);
  wick_attr shape = {.n = rank, .dims = dim};
  return tape_run(e, n, WICK_OP_reshape, 1, &d, &shape);
}

static void tape_add(eval *e, const wick_ast *n, eval_cotangents *c, const eval_trace *to,
                     const wick_datum *d)
{
  if (!to || !d || e->failed) return;
  const wick_datum **at = &c->of[to->step->number][to->result];
  const wick_datum *arg[2] = {*at, d};
  *at = *at ? tape_run(e, n, WICK_OP_add, 2, arg, NULL) : d;
}

/* Elements that a step moved go back: those that came from the same one are added. */
static void tape_pull_move(eval *e, const wick_ast *n, eval_cotangents *c, const eval_step *s)
{
  int64_t total = (int64_t)wick_ref_numel(&s->out[0]->tensor), first = 0;
  const wick_datum *flat = tape_shaped(e, n, c->of[s->number][0], 1, &total);
  for (uint32_t i = 0; i < s->narg && !e->failed; i++) {
    int64_t size = (int64_t)wick_ref_numel(&s->arg[i]->tensor), count = 0;
    for (int64_t k = 0; k < total; k++)
      if (s->move[k] >= first && s->move[k] < first + size) count++;
    if (s->from[i] && count) {
      const wick_datum *of = wick_eval_tensor(e, WICK_I64, 1, &count),
                       *to = wick_eval_tensor(e, WICK_I64, 1, &count);
      uint64_t at = 0;
      for (int64_t k = 0; k < total; k++) {
        if (s->move[k] < first || s->move[k] >= first + size) continue;
        wick_eval_set(of, at, (wick_scalar){.i = k});
        wick_eval_set(to, at++, (wick_scalar){.i = s->move[k] - first});
      }
      wick_attr axis = {.i = 0}, add[] = {[WICK_ATTR_scatter_elements_reduction] = {.i = 1},
                                          [WICK_ATTR_scatter_elements_axis] = {.i = 0}};
      const wick_datum *part[2] = {flat, of}, *into[3];
      into[0] = wick_tape_number(e, wick_eval_tensor(e, s->arg[i]->tensor.elem, 1, &size), 0);
      into[1] = to;
      into[2] = tape_run(e, n, WICK_OP_gather, 2, part, &axis);
      if (e->failed) return;
      const wick_datum *back = tape_run(e, n, WICK_OP_scatter_elements, 3, into, add);
      if (e->failed) return;
      tape_add(e, n, c, s->from[i],
               tape_shaped(e, n, back, s->arg[i]->tensor.rank, s->arg[i]->tensor.dim));
    }
    first += size;
  }
}

/* The graph that the rule of one operator builds. */
typedef struct tape_rule {
  wick_builder b;
  const eval_step *s;
  uint32_t node;            /* the operator */
  const wick_datum **value; /* of the graph; NULL: not computed */
  wick_value *in, *cotangent, *got;
} tape_rule;

static wick_type tape_type(const eval *e, const wick_datum *d)
{
  return wick_type_tensor_const(e->t->module, d->tensor.elem, d->tensor.rank, d->tensor.dim);
}

static void tape_build(eval *e, const eval_cotangents *c, tape_rule *r)
{
  const eval_step *s = r->s;
  wick_builder *b = &r->b;
  wick_type *want = wick_new(e->mem, wick_type, s->nout + 1u);
  wick_value *of = wick_new(e->mem, wick_value, s->nout + 1u),
             *wrt = wick_new(e->mem, wick_value, s->narg + 1u);
  r->in = wick_new(e->mem, wick_value, s->narg + 1u);
  r->got = wick_new(e->mem, wick_value, s->narg + 1u);
  r->cotangent = wick_new(e->mem, wick_value, s->nout + 1u);
  wick_build_begin(b, e->t->module, WICK_GRAPH, "eval", e->mem);
  for (uint32_t i = 0; i < s->narg; i++)
    if (s->arg[i]) r->in[i] = wick_build_param(b, tape_type(e, s->arg[i]), WICK_IN, "");
  for (uint32_t k = 0; k < s->nout; k++) {
    want[k] = tape_type(e, s->out[k]);
    if (c->of[s->number][k]) r->cotangent[k] = wick_build_param(b, want[k], WICK_IN, "");
  }
  bool typed = wick_ops[s->op]->typed;
  wick_value first =
      wick_build(b, s->op, s->narg, r->in, s->attr, typed ? s->nout : 0, typed ? want : NULL);
  r->node = b->nodes.n - 1;
  wick_grad_request request = {.end = b->nodes.n, .of = of, .cotangent = r->cotangent, .wrt = wrt};
  wick_value *seed = wick_new(e->mem, wick_value, s->nout + 1u);
  for (uint32_t k = 0; k < s->nout; k++)
    if (r->cotangent[k].id)
      of[request.nof].id = first.id + k, seed[request.nof++] = r->cotangent[k];
  request.cotangent = seed;
  for (uint32_t i = 0; i < s->narg; i++)
    if (s->from[i]) wrt[request.nwrt++] = r->in[i];
  wick_value *got = wick_new(e->mem, wick_value, s->narg + 1u);
  wick_grad_build(b, &request, got);
  for (uint32_t i = 0, k = 0; i < s->narg; i++)
    if (s->from[i]) r->got[i] = got[k++];
}

/* Finds the nodes that the cotangents need, from the last one to the first. */
static bool *tape_needed(eval *e, const tape_rule *r)
{
  const wick_builder *b = &r->b;
  bool *need = wick_new(e->mem, bool, b->values.n), *node = wick_new(e->mem, bool, b->nodes.n);
  for (uint32_t i = 0; i < r->s->narg; i++) need[r->got[i].id] = true;
  for (uint32_t i = b->nodes.n; i-- > 0;) {
    const wick_node *n = &b->nodes.at[i];
    for (uint32_t k = 0; k < n->nout; k++) node[i] = node[i] || need[n->first.id + k];
    for (uint32_t k = 0; k < n->nin && node[i]; k++) need[n->in[k].id] = true;
  }
  return node;
}

static const wick_datum *tape_constant(eval *e, const wick_node *n, const wick_type_info *t)
{
  int64_t dim[WICK_MAX_RANK];
  wick_type_const_dims(t, dim);
  const wick_imm *imm = wick_const_imm(n);
  const wick_datum *d = wick_eval_tensor(e, t->elem, t->rank, dim);
  const void *data = imm->constant ? wick_constant_bytes(e->t->module, imm->constant) : NULL;
  for (uint64_t k = 0; k < wick_ref_numel(&d->tensor); k++)
    wick_eval_set(d, k,
                  data                          ? wick_load_elem(t->elem, data, k)
                  : wick_elem_is_float(t->elem) ? (wick_scalar){.f = imm->f}
                                                : (wick_scalar){.i = imm->i});
  return d;
}

static void tape_node(eval *e, const wick_ast *ast, tape_rule *r, const wick_node *n)
{
  wick_builder *b = &r->b;
  const wick_datum **arg = wick_new(e->mem, const wick_datum *, n->nin + 1u);
  wick_type *want = wick_new(e->mem, wick_type, n->nout + 1u);
  bool typed = wick_op_of(n)->typed;
  if (n->op == WICK_OP_const) {
    r->value[n->first.id] = tape_constant(e, n, wick_built_info(b, n->first));
    return;
  }
  if (n->nregion) {
    wick_eval_fail(e, ast, "the evaluator does not differentiate `%s`", wick_ops[r->s->op]->name);
    return;
  }
  for (uint32_t k = 0; k < n->nin; k++) arg[k] = n->in[k].id ? r->value[n->in[k].id] : NULL;
  for (uint32_t k = 0; k < n->nout; k++)
    want[k] = wick_built_type(b, (wick_value){n->first.id + k});
  wick_eval_run(e, ast, n->op, n->nin, arg, n->attr, typed ? n->nout : 0, typed ? want : NULL,
                n->nout, &r->value[n->first.id]);
}

static void tape_pull_operator(eval *e, const wick_ast *ast, eval_cotangents *c, const eval_step *s)
{
  tape_rule r = {.s = s};
  tape_build(e, c, &r);
  if (r.b.status) {
    wick_eval_fail(e, ast, "%s", r.b.status->message);
    return;
  }
  r.value = wick_new(e->mem, const wick_datum *, r.b.values.n);
  for (uint32_t i = 0; i < s->narg; i++)
    if (s->arg[i]) r.value[r.in[i].id] = s->arg[i];
  for (uint32_t k = 0; k < s->nout; k++) {
    if (r.cotangent[k].id) r.value[r.cotangent[k].id] = c->of[s->number][k];
    r.value[r.b.nodes.at[r.node].first.id + k] = s->out[k];
  }
  const bool *needed = tape_needed(e, &r);
  for (uint32_t i = 0; i < r.b.nodes.n && !e->failed; i = r.b.nodes.at[i].end)
    if (i != r.node && needed[i]) tape_node(e, ast, &r, &r.b.nodes.at[i]);
  for (uint32_t i = 0; i < s->narg && !e->failed; i++)
    if (s->from[i] && r.got[i].id) tape_add(e, ast, c, s->from[i], r.value[r.got[i].id]);
}

/* ---- the way back ---- */

eval_cotangents wick_tape_cotangents(eval *e, const eval_tape *tape)
{
  eval_cotangents c = {.n = tape->step.n,
                       .of = wick_new(e->mem, const wick_datum **, tape->step.n + 1u)};
  for (uint32_t i = 0; i < c.n; i++)
    c.of[i] = wick_new(e->mem, const wick_datum *, tape->step.at[i]->nout + 1u);
  return c;
}

void wick_tape_seed(eval *e, const wick_ast *n, eval_cotangents *c, const eval_tape *tape,
                    const wick_datum *result, const wick_datum *cotangent)
{
  if (result->kind == WICK_DATUM_TENSOR && cotangent->kind == WICK_DATUM_TENSOR) {
    if (cotangent->weak) cotangent = wick_eval_cast(e, cotangent, result->tensor.elem);
    tape_add(e, n, c, tape_find(result, tape), cotangent);
  }
  bool parts = result->kind == WICK_DATUM_TUPLE || result->kind == WICK_DATUM_DATA;
  if (parts && (cotangent->n != result->n || cotangent->entity != result->entity))
    wick_eval_fail(e, n, "the cotangent has another form than the result");
  for (uint32_t i = 0; parts && i < result->n && !e->failed; i++)
    wick_tape_seed(e, n, c, tape, result->item[i], cotangent->item[i]);
}

void wick_tape_pull(eval *e, const wick_ast *n, eval_cotangents *c, const eval_tape *tape)
{
  for (uint32_t i = c->n; i-- > 0 && !e->failed;) {
    const eval_step *s = tape->step.at[i];
    bool any = false;
    for (uint32_t k = 0; k < s->nout; k++) any = any || c->of[i][k];
    if (!any || !s->narg) continue;
    if (s->own)
      wick_tape_pull_own(e, n, c, s);
    else if (s->move)
      tape_pull_move(e, n, c, s);
    else
      tape_pull_operator(e, n, c, s);
  }
}

void wick_tape_give(eval *e, const wick_ast *n, eval_cotangents *c, const eval_step *s,
                    uint32_t operand, const wick_datum *cotangent)
{
  if (cotangent->kind == WICK_DATUM_TENSOR && cotangent->weak)
    cotangent = wick_eval_cast(e, cotangent, s->arg[operand]->tensor.elem);
  tape_add(e, n, c, s->from[operand], cotangent);
}

const wick_datum *wick_tape_cotangent(eval *e, const eval_cotangents *c, const eval_tape *tape,
                                      const wick_datum *d)
{
  if (tape_counts(d)) {
    const eval_trace *t = tape_find(d, tape);
    const wick_datum *own = t && t->step->number < c->n ? c->of[t->step->number][t->result] : NULL;
    return own ? own : wick_tape_number(e, d, 0);
  }
  if (d->kind != WICK_DATUM_TUPLE && d->kind != WICK_DATUM_DATA)
    return wick_eval_new(e, WICK_DATUM_TUPLE, 0);
  wick_datum *out = wick_eval_new(e, d->kind, d->n);
  out->entity = d->entity;
  for (uint32_t i = 0; i < d->n; i++) out->item[i] = wick_tape_cotangent(e, c, tape, d->item[i]);
  return out;
}
