/* The evaluator: the prelude's forms, and the functions that transformations make. */
#include "lang/eval_state.h"
#include "ops/ref.h"

static bool form_has_parts(const wick_datum *d)
{
  return d->kind == WICK_DATUM_TUPLE || d->kind == WICK_DATUM_DATA;
}

static const wick_datum *form_part_of(eval *e, const wick_datum *d, int64_t k)
{
  if (d->kind == WICK_DATUM_TENSOR) return wick_eval_row(e, d, k);
  if (!form_has_parts(d)) return d;
  wick_datum *out = wick_dup(e->mem, wick_datum, d, 1);
  out->item = wick_new(e->mem, const wick_datum *, d->n);
  for (uint32_t i = 0; i < d->n; i++) out->item[i] = form_part_of(e, d->item[i], k);
  return out;
}

static const wick_datum *form_stacked(eval *e, const wick_ast *n, uint32_t count,
                                      const wick_datum *const *all)
{
  if (e->failed || !form_has_parts(all[0])) return wick_eval_stack(e, n, count, all);
  wick_datum *out = wick_eval_new(e, WICK_DATUM_TUPLE, all[0]->n); /* also of a struct's fields */
  const wick_datum **part = wick_new(e->mem, const wick_datum *, count);
  for (uint32_t k = 1; k < count; k++)
    if (all[k]->n != out->n || all[k]->entity != all[0]->entity)
      return wick_eval_fail(e, n, "the results have different forms");
  for (uint32_t i = 0; i < out->n; i++) {
    for (uint32_t k = 0; k < count; k++) part[k] = all[k]->item[i];
    out->item[i] = form_stacked(e, n, count, part);
  }
  return out;
}

/* d with dimension `from` of each tensor moved to `to`. */
static const wick_datum *form_moved(eval *e, const wick_datum *d, uint32_t from, uint32_t to)
{
  if (form_has_parts(d)) {
    wick_datum *out = wick_dup(e->mem, wick_datum, d, 1);
    out->item = wick_new(e->mem, const wick_datum *, d->n);
    for (uint32_t i = 0; i < d->n; i++) out->item[i] = form_moved(e, d->item[i], from, to);
    return out;
  }
  return from == to ? d : wick_eval_moved(e, d, from, to);
}

/* The static argument `name` of a transformation; NULL: it is not given. */
static const wick_datum *form_named(eval *e, eval_frame *f, const wick_ast *n, const char *name)
{
  for (uint32_t k = 1; k < n->nkid; k++)
    if (n->kid[k]->kind == WICK_AST_NAMED && strcmp(n->kid[k]->name, name) == 0)
      return wick_eval_expr(e, f, n->kid[k]->kid[0]);
  return NULL;
}

/* Number i of `axes` or `out`, which are items of a function that vmap makes; 0: not given. */
static int64_t form_axis(const wick_datum *a, uint32_t i)
{
  if (a->kind == WICK_DATUM_TUPLE) return a->n ? wick_eval_get(a->item[i], 0).i : 0;
  return wick_eval_get(a, a->tensor.rank ? i : 0).i;
}

static int64_t form_count(const wick_datum *d)
{
  while (form_has_parts(d) && d->n) d = d->item[0];
  return d->kind == WICK_DATUM_TENSOR && d->tensor.rank ? d->tensor.dim[0] : -1;
}

/* vmap(f)(...): a loop over one axis of the arguments. */
static const wick_datum *form_vmap(eval *e, const wick_ast *n, const wick_datum *fn, uint32_t narg,
                                   const wick_datum *const *given)
{
  int64_t count = -1;
  bool *whole = wick_new(e->mem, bool, narg);
  const wick_datum **arg = wick_new(e->mem, const wick_datum *, narg);
  for (uint32_t i = 0; i < narg; i++) {
    int64_t axis = form_axis(fn->item[1], i);
    whole[i] = axis < 0;
    arg[i] = whole[i] ? given[i] : form_moved(e, given[i], (uint32_t)axis, 0);
    if (whole[i]) continue;
    int64_t c = form_count(arg[i]);
    if (count >= 0 && c != count) return wick_eval_fail(e, n, "the axes have different sizes");
    count = c;
  }
  if (count < 1) return wick_eval_fail(e, n, "the evaluator maps no empty axis");
  const wick_datum **part = wick_new(e->mem, const wick_datum *, narg),
                   **all = wick_new(e->mem, const wick_datum *, (size_t)count);
  for (int64_t k = 0; k < count && !e->failed; k++) {
    for (uint32_t i = 0; i < narg; i++) part[i] = whole[i] ? arg[i] : form_part_of(e, arg[i], k);
    all[k] = wick_eval_apply(e, n, fn->item[0], narg, part);
  }
  if (e->failed) return fn;
  const wick_datum *out = form_stacked(e, n, (uint32_t)count, all);
  return e->failed ? fn : form_moved(e, out, 0, (uint32_t)form_axis(fn->item[2], 0));
}

static const wick_datum *form_specialized(eval *e, const wick_ast *n, const wick_datum *fn,
                                          uint32_t narg, const wick_datum *const *arg)
{
  uint32_t known = fn->n - 1;
  const wick_datum **all = wick_new(e->mem, const wick_datum *, known + narg);
  for (uint32_t i = 0; i < known; i++) all[i] = fn->item[i + 1];
  for (uint32_t i = 0; i < narg; i++) all[known + i] = arg[i];
  return wick_eval_apply(e, n, fn->item[0], known + narg, all);
}

static const wick_datum *form_map(eval *e, const wick_ast *n, const wick_datum *fn, uint32_t narg,
                                  const wick_datum *const *arg)
{
  const wick_datum *part[16];
  const wick_datum *d = arg[0];
  if (e->failed || d->kind == WICK_DATUM_FN || d->kind == WICK_DATUM_REF || narg > 16) return d;
  for (uint32_t i = 1; i < narg; i++) /* the cotangent of an integer is () */
    if (d->kind == WICK_DATUM_TENSOR && arg[i]->kind == WICK_DATUM_TUPLE) return d;
  if (d->kind == WICK_DATUM_TENSOR) return wick_eval_apply(e, n, fn, narg, arg);
  wick_datum *out = wick_eval_new(e, d->kind, d->n);
  out->entity = d->entity;
  for (uint32_t k = 0; k < d->n; k++) {
    for (uint32_t i = 0; i < narg; i++) {
      if (arg[i]->n != d->n || arg[i]->entity != d->entity)
        return wick_eval_fail(e, n, "the structures have different forms");
      part[i] = arg[i]->item[k];
    }
    out->item[k] = form_map(e, n, fn, narg, part);
  }
  return out;
}

/* A function that a transformation makes: items are its arguments, and `wrt` if it is given, or
 * `axes` and `out` of vmap, which are () if they are not. */
static const wick_datum *form_function(eval *e, eval_frame *f, const wick_ast *n,
                                       const wick_lang_entity *g, uint32_t narg,
                                       const wick_datum *const *arg)
{
  bool vmap = g->form == WICK_FORM_VMAP;
  const wick_datum *first = form_named(e, f, n, vmap ? "axes" : "wrt"),
                   *out = vmap ? form_named(e, f, n, "out") : NULL,
                   *unit = wick_eval_new(e, WICK_DATUM_TUPLE, 0);
  wick_datum *d = wick_eval_new(e, WICK_DATUM_FN, narg + (vmap ? 2 : first ? 1 : 0));
  for (uint32_t i = 0; i < narg; i++) d->item[i] = arg[i];
  if (vmap || first) d->item[narg] = first ? first : unit;
  if (vmap) d->item[narg + 1] = out ? out : unit;
  d->entity = g, d->literal = n;
  return d;
}

const wick_datum *wick_eval_apply_form(eval *e, const wick_ast *n, const wick_datum *fn,
                                       uint32_t narg, const wick_datum *const *arg)
{
  if (fn->pull) return wick_eval_pull(e, n, fn, arg[0]);
  switch (fn->entity->form) {
  case WICK_FORM_VMAP: return form_vmap(e, n, fn, narg, arg);
  case WICK_FORM_SPECIALIZE: return form_specialized(e, n, fn, narg, arg);
  default: return wick_eval_differentiate(e, n, fn, narg, arg);
  }
}

const wick_datum *wick_eval_form(eval *e, eval_frame *f, const wick_ast *n,
                                 const wick_lang_entity *g, uint32_t narg, const wick_datum **arg)
{
  wick_text t = wick_text_begin(e->mem);
  switch (g->form) {
  case WICK_FORM_SQUARE:
    arg[1] = arg[0];
    return wick_eval_operator(e, f, n, WICK_OP_mul, false, 2, arg);
  case WICK_FORM_REF: {
    wick_datum *d = wick_eval_new(e, WICK_DATUM_REF, 1);
    d->item[0] = arg[0];
    return d;
  }
  case WICK_FORM_READ: return arg[0]->item[0];
  case WICK_FORM_WRITE: arg[0]->item[0] = arg[1]; return wick_eval_new(e, WICK_DATUM_TUPLE, 0);
  case WICK_FORM_PRINT:
    for (uint32_t i = 0; i < narg; i++) {
      if (i) wick_text_char(&t, ' ');
      wick_datum_print(e->t, arg[i], &t);
    }
    wick_text_char(&t, '\n');
    if (e->options->print) e->options->print(e->options->arg, t.at);
    return wick_eval_new(e, WICK_DATUM_TUPLE, 0);
  case WICK_FORM_ASSERT:
    if (!wick_eval_get(arg[0], 0).i) {
      for (uint32_t i = 1; i < narg; i++) {
        if (i > 1) wick_text_char(&t, ' ');
        wick_datum_print(e->t, arg[i], &t);
      }
      return wick_eval_fail(e, n, "the assertion does not hold%s%s", narg > 1 ? ": " : "", t.at);
    }
    return wick_eval_new(e, WICK_DATUM_TUPLE, 0);
  case WICK_FORM_LEN: return wick_eval_int(e, arg[0]->tensor.dim[0]);
  case WICK_FORM_CHECKPOINT: return arg[0];
  case WICK_FORM_STOP_GRADIENT: return wick_eval_untraced(e, arg[0]);
  case WICK_FORM_GRAD:
  case WICK_FORM_VALUE_AND_GRAD:
  case WICK_FORM_VJP:
  case WICK_FORM_JVP:
  case WICK_FORM_WITH_VJP:
  case WICK_FORM_VMAP:
  case WICK_FORM_SPECIALIZE: return form_function(e, f, n, g, narg, arg);
  case WICK_FORM_MAP_TENSORS:
  case WICK_FORM_ZIP_TENSORS: return form_map(e, n, arg[0], narg - 1, arg + 1);
  default: return wick_eval_fail(e, n, "the evaluator does not have `%s`", g->name);
  }
}
