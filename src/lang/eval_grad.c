/* The evaluator: grad, value_and_grad, vjp, jvp, with_vjp. */
#include "lang/eval_tape.h"

/* What a vjp keeps: the tape, the result, and the arguments by which it is differentiated. */
typedef struct eval_pull {
  eval_tape *tape;
  const wick_datum *result;
  uint32_t narg;
  const wick_datum **arg;
  bool one; /* the cotangent of the only argument is no tuple */
} eval_pull;

/* Makes the float tensors of d variables of the tape. */
static const wick_datum *grad_variable(eval *e, eval_tape *tape, const wick_datum *d)
{
  if (d->kind == WICK_DATUM_TENSOR) {
    if (!(WICK_FLOATS >> d->tensor.elem & 1)) return d;
    wick_datum *own = wick_dup(e->mem, wick_datum, d, 1);
    if (d->weak) *own = *wick_eval_cast(e, d, d->tensor.elem), own->weak = false;
    eval_step *s = wick_tape_step(e, tape, 0, NULL, 1);
    s->out[0] = wick_dup(e->mem, wick_datum, own, 1);
    wick_tape_trace(e, tape, s, 0, own);
    return own;
  }
  if (d->kind != WICK_DATUM_TUPLE && d->kind != WICK_DATUM_DATA) return d;
  wick_datum *own = wick_dup(e->mem, wick_datum, d, 1);
  own->item = wick_new(e->mem, const wick_datum *, d->n + 1u);
  for (uint32_t i = 0; i < d->n; i++) own->item[i] = grad_variable(e, tape, d->item[i]);
  return own;
}

/* Runs f on a tape, with variables for the arguments `wrt`. */
static eval_pull grad_forwards(eval *e, const wick_ast *n, const wick_datum *f, uint32_t narg,
                               const wick_datum *const *arg, uint32_t nwrt, const uint32_t *wrt)
{
  eval_pull p = {.tape = wick_tape_begin(e), .narg = nwrt};
  const wick_datum **in = wick_dup(e->mem, const wick_datum *, arg, narg);
  p.arg = wick_new(e->mem, const wick_datum *, nwrt + 1u);
  for (uint32_t i = 0; i < nwrt; i++)
    if (wrt[i] < narg) p.arg[i] = in[wrt[i]] = grad_variable(e, p.tape, arg[wrt[i]]);
  p.result = wick_eval_apply(e, n, f, narg, in);
  return p;
}

/* The cotangents of the arguments: a tuple, or that of the only one. */
static const wick_datum *grad_backwards(eval *e, const wick_ast *n, const eval_pull *p,
                                        const wick_datum *cotangent)
{
  wick_datum *all = wick_eval_new(e, WICK_DATUM_TUPLE, p->narg);
  if (e->failed) return all;
  eval_cotangents c = wick_tape_cotangents(e, p->tape);
  wick_tape_seed(e, n, &c, p->tape, p->result, cotangent);
  wick_tape_pull(e, n, &c, p->tape);
  for (uint32_t i = 0; i < p->narg && !e->failed; i++)
    all->item[i] = wick_tape_cotangent(e, &c, p->tape, p->arg[i]);
  return p->one && p->narg == 1 ? all->item[0] : all;
}

const wick_datum *wick_eval_pull(eval *e, const wick_ast *n, const wick_datum *fn,
                                 const wick_datum *cotangent)
{
  return grad_backwards(e, n, fn->pull, cotangent);
}

/* grad and value_and_grad: by the first argument, or those of `wrt`. */
static const wick_datum *grad_value(eval *e, const wick_ast *n, const wick_datum *fn, uint32_t narg,
                                    const wick_datum *const *arg)
{
  const wick_datum *list = fn->n > 1 ? fn->item[1] : NULL;
  bool one = !list || list->kind == WICK_DATUM_TENSOR;
  uint32_t nwrt = one ? 1 : list->n, *wrt = wick_new(e->mem, uint32_t, nwrt + 1u);
  for (uint32_t i = 0; i < nwrt && list; i++)
    wrt[i] = (uint32_t)wick_eval_get(one ? list : list->item[i], 0).i;
  eval_pull p = grad_forwards(e, n, fn->item[0], narg, arg, nwrt, wrt);
  p.one = one;
  if (e->failed) return fn;
  const wick_datum *g = grad_backwards(e, n, &p, wick_tape_number(e, p.result, 1));
  if (fn->entity->form == WICK_FORM_GRAD || e->failed) return g;
  wick_datum *both = wick_eval_new(e, WICK_DATUM_TUPLE, 2);
  both->item[0] = wick_tape_strip(e, p.result, p.tape);
  both->item[1] = g;
  return both;
}

static eval_pull grad_all(eval *e, const wick_ast *n, const wick_datum *f, uint32_t narg,
                          const wick_datum *const *arg)
{
  uint32_t *wrt = wick_new(e->mem, uint32_t, narg + 1u);
  for (uint32_t i = 0; i < narg; i++) wrt[i] = i;
  eval_pull p = grad_forwards(e, n, f, narg, arg, narg, wrt);
  p.one = true;
  return p;
}

static const wick_datum *grad_vjp(eval *e, const wick_ast *n, const wick_datum *fn, uint32_t narg,
                                  const wick_datum *const *arg)
{
  eval_pull p = grad_all(e, n, fn->item[0], narg, arg);
  if (e->failed) return fn;
  wick_datum *both = wick_eval_new(e, WICK_DATUM_TUPLE, 2),
             *back = wick_eval_new(e, WICK_DATUM_FN, 0);
  back->entity = fn->entity, back->literal = fn->literal;
  back->pull = wick_dup(e->mem, eval_pull, &p, 1);
  both->item[0] = wick_tape_strip(e, p.result, p.tape);
  both->item[1] = back;
  return both;
}

/* Zeros in the form of the cotangent of a value. */
static const wick_datum *grad_zeros(eval *e, const eval_pull *p)
{
  const eval_cotangents none = {0};
  return wick_tape_cotangent(e, &none, p->tape, p->result);
}

/* The cotangents of f are linear in that of its result; their derivative by it, times the tangents
 * of the arguments, is the tangent of the result. */
static const wick_datum *grad_jvp(eval *e, const wick_ast *n, const wick_datum *fn, uint32_t narg,
                                  const wick_datum *const *arg)
{
  uint32_t half = narg / 2;
  eval_pull p = grad_all(e, n, fn->item[0], half, arg), q = {.narg = 1, .one = true};
  if (e->failed) return fn;
  p.one = false;
  q.tape = wick_tape_begin(e);
  q.arg = wick_new(e->mem, const wick_datum *, 1);
  q.arg[0] = grad_variable(e, q.tape, grad_zeros(e, &p));
  q.result = grad_backwards(e, n, &p, q.arg[0]);
  wick_datum *tangents = wick_eval_new(e, WICK_DATUM_TUPLE, half),
             *both = wick_eval_new(e, WICK_DATUM_TUPLE, 2);
  for (uint32_t i = 0; i < half; i++) tangents->item[i] = arg[half + i];
  both->item[0] = wick_tape_strip(e, p.result, p.tape);
  both->item[1] = grad_backwards(e, n, &q, tangents);
  return both;
}

/* ---- functions with a derivative of their own ---- */

/* A call: the derivative, its arguments, and the result as the outer tapes see them. */
typedef struct eval_own {
  const wick_datum *back;
  uint32_t narg;
  const wick_datum **arg;
  const wick_datum *result;
} eval_own;

/* Lists the float tensors of d, in order. */
static void grad_leaves(const wick_datum *d, uint32_t *n, const wick_datum **out)
{
  if (d->kind == WICK_DATUM_TENSOR && WICK_FLOATS >> d->tensor.elem & 1) {
    if (out) out[*n] = d;
    ++*n;
  }
  if (d->kind == WICK_DATUM_TUPLE || d->kind == WICK_DATUM_DATA)
    for (uint32_t i = 0; i < d->n; i++) grad_leaves(d->item[i], n, out);
}

/* d, whose float tensors are results of the step. */
static const wick_datum *grad_results(eval *e, eval_tape *tape, eval_step *s, uint32_t *at,
                                      const wick_datum *d)
{
  if (d->kind == WICK_DATUM_TENSOR) {
    if (!(WICK_FLOATS >> d->tensor.elem & 1)) return d;
    wick_datum *own = wick_dup(e->mem, wick_datum, d, 1);
    s->out[*at] = d;
    wick_tape_trace(e, tape, s, (*at)++, own);
    return own;
  }
  if (d->kind != WICK_DATUM_TUPLE && d->kind != WICK_DATUM_DATA) return d;
  wick_datum *own = wick_dup(e->mem, wick_datum, d, 1);
  own->item = wick_new(e->mem, const wick_datum *, d->n + 1u);
  for (uint32_t i = 0; i < d->n; i++) own->item[i] = grad_results(e, tape, s, at, d->item[i]);
  return own;
}

static const wick_datum *grad_own(eval *e, const wick_ast *n, const wick_datum *fn, uint32_t narg,
                                  const wick_datum *const *arg)
{
  uint32_t count = 0, nresult = 0, at = 0;
  eval_tape *tape = NULL;
  for (uint32_t i = 0; i < narg; i++) grad_leaves(arg[i], &count, NULL);
  const wick_datum **leaf = wick_new(e->mem, const wick_datum *, count + 1u),
                   **in = wick_new(e->mem, const wick_datum *, narg + 1u);
  count = 0;
  for (uint32_t i = 0; i < narg; i++) grad_leaves(arg[i], &count, leaf);
  for (uint32_t i = 0; i < count; i++)
    if (leaf[i]->trace && (!tape || leaf[i]->trace->tape->number > tape->number))
      tape = leaf[i]->trace->tape;
  if (!tape) /* what the function captures is constant */
    return wick_eval_untraced(e, wick_eval_apply(e, n, fn->item[0], narg, arg));
  for (uint32_t i = 0; i < narg; i++) in[i] = wick_tape_strip(e, arg[i], tape);
  const wick_datum *r = wick_tape_strip(e, grad_own(e, n, fn, narg, in), tape);
  if (e->failed) return r;
  grad_leaves(r, &nresult, NULL);
  eval_step *s = wick_tape_step(e, tape, count, leaf, nresult);
  const eval_own own = {.back = fn->item[1], .narg = narg, .arg = in, .result = r};
  s->own = wick_dup(e->mem, eval_own, &own, 1);
  return grad_results(e, tape, s, &at, r);
}

/* The cotangent of the result: those of the step's results in the form of d. */
static const wick_datum *grad_cotangent(eval *e, const wick_datum *const *of, uint32_t *at,
                                        const wick_datum *d)
{
  if (d->kind == WICK_DATUM_TENSOR && WICK_FLOATS >> d->tensor.elem & 1) {
    const wick_datum *own = of[(*at)++];
    return own ? own : wick_tape_number(e, d, 0);
  }
  bool parts = d->kind == WICK_DATUM_TUPLE || d->kind == WICK_DATUM_DATA;
  wick_datum *out = wick_eval_new(e, parts ? d->kind : WICK_DATUM_TUPLE, parts ? d->n : 0);
  if (parts) out->entity = d->entity;
  for (uint32_t i = 0; i < out->n; i++) out->item[i] = grad_cotangent(e, of, at, d->item[i]);
  return out;
}

void wick_tape_pull_own(eval *e, const wick_ast *n, eval_cotangents *c, const eval_step *s)
{
  const eval_own *o = s->own;
  uint32_t at = 0, count = 0;
  const wick_datum **arg = wick_new(e->mem, const wick_datum *, o->narg + 1u);
  for (uint32_t i = 0; i < o->narg; i++) arg[i] = o->arg[i];
  arg[o->narg] = grad_cotangent(e, c->of[s->number], &at, o->result);
  const wick_datum *g = wick_eval_apply(e, n, o->back, o->narg + 1, arg);
  if (e->failed) return;
  grad_leaves(g, &count, NULL);
  if (count != s->narg) {
    wick_eval_fail(e, n, "the derivative has %u cotangents for %u tensors", count, s->narg);
    return;
  }
  const wick_datum **leaf = wick_new(e->mem, const wick_datum *, count + 1u);
  count = 0;
  grad_leaves(g, &count, leaf);
  for (uint32_t i = 0; i < count; i++) wick_tape_give(e, n, c, s, i, leaf[i]);
}

const wick_datum *wick_eval_differentiate(eval *e, const wick_ast *n, const wick_datum *fn,
                                          uint32_t narg, const wick_datum *const *arg)
{
  switch (fn->entity->form) {
  case WICK_FORM_VJP: return grad_vjp(e, n, fn, narg, arg);
  case WICK_FORM_JVP: return grad_jvp(e, n, fn, narg, arg);
  case WICK_FORM_WITH_VJP: return grad_own(e, n, fn, narg, arg);
  default: return grad_value(e, n, fn, narg, arg);
  }
}
