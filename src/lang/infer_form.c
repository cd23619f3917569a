/* The functions of the language: references, printing, and the transformations. */
#include "lang/infer_state.h"

static bool infer_form_unify(infer *s, const wick_constraint *c, wick_ty *found, wick_ty *expected,
                             const char *what)
{
  wick_clash clash;
  if (wick_unify(s->t, found, expected, &clash)) return true;
  wick_infer_wrong(s, c, "%s: expected %s, found %s", what, wick_ty_text(s->t, expected),
                   wick_ty_text(s->t, found));
  return false;
}

static wick_ty *infer_form_tensor(infer *s, uint64_t elems)
{
  wick_ty *e = wick_ty_var(s->t, WICK_SORT_ELEM);
  e->elems = elems;
  return wick_ty_tensor(s->t, e, wick_ty_var(s->t, WICK_SORT_SHAPE));
}

/* ---- cotangents ---- */

typedef enum infer_floats { FLOATS_UNKNOWN, FLOATS_ALL, FLOATS_NOT_ALL } infer_floats;
typedef wick_list(const wick_lang_entity *) infer_seen;

static infer_floats infer_form_floats(infer *s, wick_ty *x, infer_seen *seen)
{
  wick_ty *a = wick_ty_of(x);
  if (wick_ty_step(s->t)) return FLOATS_ALL;
  if (a->kind == WICK_TY_TENSOR) {
    const wick_ty *e = wick_ty_of(a->arg[0]);
    if (e->kind == WICK_TY_ELEM) return wick_elem_is_float(e->elem) ? FLOATS_ALL : FLOATS_NOT_ALL;
    return !(e->elems & ~(uint64_t)(WICK_FLOATS)) ? FLOATS_ALL : FLOATS_UNKNOWN;
  }
  if (a->kind == WICK_TY_VAR) return FLOATS_UNKNOWN;
  infer_floats all = FLOATS_ALL;
  if (a->kind == WICK_TY_DATA) {
    for (uint32_t i = 0; i < seen->n; i++)
      if (seen->at[i] == a->data) return FLOATS_ALL;
    wick_push(s->mem, seen, a->data);
    for (uint32_t k = 0; k < a->data->nctor; k++)
      for (uint32_t i = 0; i < a->data->ctor[k]->decl->nkid; i++) {
        infer_floats f = infer_form_floats(s, wick_lang_field_type(s->t, a, k, i), seen);
        if (f != FLOATS_ALL) all = all == FLOATS_NOT_ALL ? all : f;
      }
    return all;
  }
  if (a->kind != WICK_TY_TUPLE) return FLOATS_NOT_ALL;
  for (uint32_t i = 0; i < a->n; i++) {
    infer_floats f = infer_form_floats(s, a->arg[i], seen);
    if (f != FLOATS_ALL) all = all == FLOATS_NOT_ALL ? all : f;
  }
  return all;
}

wick_ty *wick_infer_cotangent(infer *s, wick_ty *x)
{
  wick_ty *a = wick_ty_of(x);
  infer_seen seen = {0};
  if (a->kind == WICK_TY_ERROR || a->kind == WICK_TY_COT || wick_ty_step(s->t)) return a;
  if (a->kind == WICK_TY_VAR) return NULL;
  if (a->kind == WICK_TY_TENSOR || a->kind == WICK_TY_DATA) {
    infer_floats f = infer_form_floats(s, a, &seen);
    if (f == FLOATS_UNKNOWN && s->last) f = FLOATS_ALL;
    if (f == FLOATS_UNKNOWN) return NULL;
    if (f == FLOATS_ALL) return a;
    return a->kind == WICK_TY_TENSOR ? s->t->unit : wick_ty_new(s->t, WICK_TY_COT, 1, &a);
  }
  if (a->kind == WICK_TY_FN || a->kind == WICK_TY_REF) return s->t->unit;
  if (a->kind != WICK_TY_TUPLE) return wick_ty_new(s->t, WICK_TY_COT, 1, &a);
  wick_ty **item = wick_new(s->mem, wick_ty *, a->n);
  for (uint32_t i = 0; i < a->n; i++)
    if (!(item[i] = wick_infer_cotangent(s, a->arg[i]))) return NULL;
  return wick_ty_new(s->t, WICK_TY_TUPLE, a->n, item);
}

bool wick_infer_solve_cotangent(infer *s, wick_constraint *c)
{
  wick_ty *t = wick_infer_cotangent(s, c->arg[0]);
  if (t) infer_form_unify(s, c, c->arg[1], t, "the cotangent");
  return t != NULL;
}

static wick_ty *infer_form_cot(infer *s, const wick_constraint *c, wick_ty *x)
{
  wick_ty *t = wick_infer_cotangent(s, x);
  if (t) return t;
  wick_constraint k = *c;
  t = wick_ty_var(s->t, WICK_SORT_TYPE);
  k.kind = WICK_NEEDS_COTANGENT, k.n = 2, k.done = false;
  k.arg = wick_dup(s->mem, wick_ty *, ((wick_ty *[]){x, t}), 2);
  wick_push(s->mem, &s->pending, k);
  return t;
}

wick_ty *wick_infer_cotangent_of(infer *s, const wick_ast *n, wick_ty *x)
{
  const wick_constraint c = {.node = n, .at = n->at};
  return infer_form_cot(s, &c, x);
}

/* ---- named static arguments: wrt = 0, axes = (0, -1) ---- */

static bool infer_form_static(infer *s, const wick_constraint *c, const char *name,
                              wick_static *out)
{
  for (uint32_t i = 1; i < c->node->nkid; i++) {
    const wick_ast *k = c->node->kid[i];
    if (k->kind != WICK_AST_NAMED || strcmp(k->name, name) != 0) continue;
    if (wick_infer_static(s, k->kid[0], c->fixed, out) && out->known && !out->word) return true;
    wick_lang_report(&s->p->sources, k->at, "`%s` must be a number or several, known here", name);
    return false;
  }
  return false;
}

static wick_ty *infer_form_wrt(infer *s, const wick_constraint *c, const wick_ty *f)
{
  wick_static wrt;
  int64_t zero = 0;
  bool given = infer_form_static(s, c, "wrt", &wrt), many = given && wrt.n != 1;
  if (!given) wrt = (wick_static){.n = 1, .ints = &zero};
  wick_ty **item = wick_new(s->mem, wick_ty *, wrt.n);
  for (uint32_t i = 0; i < wrt.n; i++) {
    if (wrt.ints[i] < 0 || wrt.ints[i] >= f->n - 1) {
      wick_infer_wrong(s, c, "the function has no parameter %lld to differentiate by",
                       (long long)wrt.ints[i]);
      return s->t->error;
    }
    item[i] = infer_form_cot(s, c, f->arg[wrt.ints[i]]);
  }
  return many ? wick_ty_new(s->t, WICK_TY_TUPLE, wrt.n, item) : item[0];
}

static wick_ty *infer_form_pullback(infer *s, const wick_constraint *c, const wick_ty *f)
{
  uint32_t n = f->n - 1;
  wick_ty **item = wick_new(s->mem, wick_ty *, n);
  for (uint32_t i = 0; i < n; i++) item[i] = infer_form_cot(s, c, f->arg[i]);
  return n == 1 ? item[0] : wick_ty_new(s->t, WICK_TY_TUPLE, n, item);
}

static wick_ty *infer_form_pair(infer *s, wick_ty *a, wick_ty *b)
{
  return wick_ty_new(s->t, WICK_TY_TUPLE, 2, (wick_ty *[]){a, b});
}

/* ---- vmap ---- */

/* Each part of an argument or result has an axis more. */
static wick_ty *infer_form_parts(infer *s, const wick_constraint *c, uint32_t n, wick_ty **part)
{
  wick_ty **out = wick_new(s->mem, wick_ty *, n);
  for (uint32_t i = 0; i < n; i++) {
    out[i] = wick_ty_var(s->t, WICK_SORT_TYPE);
    wick_constraint k = *c;
    k.done = false;
    k.arg = wick_dup(s->mem, wick_ty *, ((wick_ty *[]){part[i], out[i], c->arg[2]}), 3);
    wick_push(s->mem, &s->pending, k);
  }
  return wick_ty_new(s->t, WICK_TY_TUPLE, n, out);
}

/* The fields of a struct, or their cotangents; NULL: x is something else. */
static wick_ty **infer_form_fields(infer *s, const wick_constraint *c, wick_ty *x, uint32_t *out_n)
{
  wick_ty *of = x->kind == WICK_TY_COT ? wick_ty_of(x->arg[0]) : x;
  if (of->kind != WICK_TY_DATA || of->data->kind != WICK_ENTITY_STRUCT) return NULL;
  *out_n = of->data->ctor[0]->decl->nkid;
  wick_ty **field = wick_new(s->mem, wick_ty *, *out_n + 1u);
  for (uint32_t i = 0; i < *out_n; i++) {
    field[i] = wick_lang_field_type(s->t, of, 0, i);
    if (of != x) field[i] = infer_form_cot(s, c, field[i]);
  }
  return field;
}

bool wick_infer_solve_batch(infer *s, wick_constraint *c)
{
  wick_ty *in = wick_ty_of(c->arg[0]), *out = wick_ty_of(c->arg[1]);
  wick_dim n = wick_ty_of(c->arg[2])->size;
  const wick_ty *known = in->kind == WICK_TY_VAR ? out : in;
  if (known->kind == WICK_TY_VAR && !s->last) return false;
  uint32_t nfield;
  wick_ty **field = infer_form_fields(s, c, in, &nfield);
  if (field && c->is_result) {
    infer_form_unify(s, c, out, infer_form_parts(s, c, nfield, field), "vmap");
    return true;
  }
  if (known->kind == WICK_TY_TUPLE) {
    wick_ty **part = wick_new(s->mem, wick_ty *, known->n);
    if (c->is_result && known == out && !s->last) return false; /* it may be that of a struct */
    for (uint32_t i = 0; i < known->n; i++) part[i] = wick_ty_var(s->t, WICK_SORT_TYPE);
    infer_form_unify(s, c, in, wick_ty_new(s->t, WICK_TY_TUPLE, known->n, part), "vmap");
    infer_form_unify(s, c, out, infer_form_parts(s, c, known->n, part), "vmap");
    return true;
  }
  if (known->kind == WICK_TY_ERROR) return true;
  if (known->kind != WICK_TY_TENSOR && known->kind != WICK_TY_VAR) {
    wick_infer_wrong(s, c, "`vmap` takes tensors and tuples of them, found %s%s",
                     wick_ty_text(s->t, in),
                     field ? "; a struct is passed whole, for all rows (-1 in `axes`)" : "");
    return true;
  }
  wick_ty *e = wick_ty_var(s->t, WICK_SORT_ELEM), *rest = wick_ty_var(s->t, WICK_SORT_SHAPE);
  wick_dim dim[WICK_MAX_RANK + 1];
  for (uint32_t k = 0; k < c->axis; k++) dim[k] = wick_ty_var(s->t, WICK_SORT_SIZE)->size;
  dim[c->axis] = n;
  infer_form_unify(s, c, in,
                   wick_ty_tensor(s->t, e, wick_ty_shape(s->t, c->axis, dim, c->axis, rest)),
                   "an argument of the mapped function");
  infer_form_unify(
      s, c, out, wick_ty_tensor(s->t, e, wick_ty_shape(s->t, c->axis + 1, dim, c->axis + 1, rest)),
      "an argument with an axis more");
  return true;
}

static wick_ty *infer_form_batched(infer *s, const wick_constraint *c, wick_ty *x, wick_ty *size,
                                   int64_t axis, bool is_result)
{
  wick_ty *t = wick_ty_var(s->t, WICK_SORT_TYPE);
  wick_constraint k = *c;
  k.kind = WICK_NEEDS_BATCH, k.n = 3, k.axis = (uint32_t)axis, k.done = false;
  k.is_result = is_result;
  k.arg = wick_dup(s->mem, wick_ty *, ((wick_ty *[]){x, t, size}), 3);
  wick_push(s->mem, &s->pending, k);
  return t;
}

static bool infer_form_axes(infer *s, const wick_constraint *c, const char *name, int64_t least,
                            const wick_static *axes)
{
  for (uint32_t i = 0; i < axes->n; i++) {
    if (axes->ints[i] >= least && axes->ints[i] < WICK_MAX_RANK) continue;
    wick_infer_wrong(s, c, "`%s` of `vmap` is %lld, expected %lld to %d", name,
                     (long long)axes->ints[i], (long long)least, WICK_MAX_RANK - 1);
    return false;
  }
  return true;
}

/* axes = (0, -1): -1 for an argument that has no more axis; out: where the result has it. */
static wick_ty *infer_form_vmap(infer *s, const wick_constraint *c, const wick_ty *f)
{
  wick_static in = {0}, to = {0};
  bool given = infer_form_static(s, c, "axes", &in), turned = infer_form_static(s, c, "out", &to);
  uint32_t n = f->n - 1;
  if ((given && !infer_form_axes(s, c, "axes", -1, &in)) ||
      (turned && !infer_form_axes(s, c, "out", 0, &to)))
    return s->t->error;
  if (turned && to.n != 1) {
    wick_infer_wrong(s, c, "`out` has %u numbers, expected one, for all results", to.n);
    return s->t->error;
  }
  if (given && in.n != n) {
    wick_infer_wrong(s, c, "`axes` has %u number%s, and the function %u parameter%s", in.n,
                     in.n == 1 ? "" : "s", n, n == 1 ? "" : "s");
    return s->t->error;
  }
  wick_ty *size = wick_ty_var(s->t, WICK_SORT_SIZE), **param = wick_new(s->mem, wick_ty *, n);
  for (uint32_t i = 0; i < n; i++)
    param[i] = given && in.ints[i] < 0
                   ? f->arg[i]
                   : infer_form_batched(s, c, f->arg[i], size, given ? in.ints[i] : 0, false);
  wick_ty *all = infer_form_batched(s, c, f->arg[n], size, turned ? to.ints[0] : 0, true);
  return wick_ty_fn(s->t, n, param, all);
}

/* ---- map_tensors, zip_tensors ---- */

static void infer_form_apply(infer *s, const wick_constraint *c, uint32_t n, wick_ty **x,
                             wick_ty *result)
{
  wick_ty *f = wick_ty_of(wick_infer_leaf(s, c));
  if (f->kind != WICK_TY_FN || f->n != n + 1) {
    infer_form_unify(s, c, wick_ty_fn(s->t, n, x, result), f, "the function, for a tensor");
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    wick_clash clash;
    if (wick_unify(s->t, x[i], f->arg[i], &clash)) continue;
    wick_infer_wrong(s, c, "the function of `%s` takes %s here, and meets the tensor %s",
                     c->entity->name, wick_ty_text(s->t, f->arg[i]), wick_ty_text(s->t, x[i]));
    return;
  }
  infer_form_unify(s, c, f->arg[n], result, "the result");
}

static wick_ty *infer_form_leaf(infer *s, wick_constraint *c, uint32_t n, wick_ty **x,
                                infer_seen *seen, bool *unknown)
{
  wick_ty *a = wick_ty_of(x[0]), **part = wick_new(s->mem, wick_ty *, n);
  if (a->kind == WICK_TY_VAR) *unknown = true;
  if (wick_ty_step(s->t)) return s->t->error;
  if (a->kind == WICK_TY_ERROR || a->kind == WICK_TY_VAR) return a;
  if (a->kind == WICK_TY_TENSOR) {
    wick_ty *result = wick_ty_var(s->t, WICK_SORT_TYPE);
    for (uint32_t i = 1; i < n; i++) /* of an integer the cotangent is () */
      if (wick_ty_of(x[i])->kind == WICK_TY_TUPLE) return a;
    infer_form_apply(s, c, n, x, result);
    return result;
  }
  if (a->kind != WICK_TY_TUPLE && a->kind != WICK_TY_DATA) {
    wick_infer_wrong(s, c, "`%s` takes structures of tensors, found %s", c->entity->name,
                     wick_ty_text(s->t, a));
    return s->t->error;
  }
  for (uint32_t i = 1; i < n; i++) {
    wick_ty *b = wick_ty_of(x[i]);
    if (b->kind == WICK_TY_VAR) {
      *unknown = true;
      return a;
    }
    bool cot = b->kind == WICK_TY_COT && a->kind == WICK_TY_DATA;
    if (cot) return a;
    if (b->kind == a->kind && b->data == a->data && (a->data || a->n == b->n)) continue;
    wick_infer_wrong(s, c, "`%s` takes structures of one form, found %s and %s", c->entity->name,
                     wick_ty_text(s->t, a), wick_ty_text(s->t, b));
    return s->t->error;
  }
  if (a->kind == WICK_TY_TUPLE) {
    wick_ty **item = wick_new(s->mem, wick_ty *, a->n);
    for (uint32_t k = 0; k < a->n; k++) {
      for (uint32_t i = 0; i < n; i++) part[i] = wick_ty_of(x[i])->arg[k];
      item[k] = infer_form_leaf(s, c, n, part, seen, unknown);
    }
    return wick_ty_new(s->t, WICK_TY_TUPLE, a->n, item);
  }
  for (uint32_t i = 0; i < seen->n; i++)
    if (seen->at[i] == a->data) return a;
  wick_push(s->mem, seen, a->data);
  for (uint32_t k = 0; k < a->data->nctor; k++)
    for (uint32_t j = 0; j < a->data->ctor[k]->decl->nkid; j++) {
      for (uint32_t i = 0; i < n; i++) part[i] = wick_lang_field_type(s->t, x[i], k, j);
      wick_ty *r = infer_form_leaf(s, c, n, part, seen, unknown);
      if (!*unknown) infer_form_unify(s, c, r, part[0], "a field keeps its type");
    }
  return a;
}

static bool infer_form_map(infer *s, wick_constraint *c)
{
  infer_seen seen = {0};
  bool unknown = false;
  for (uint32_t i = 1; i < c->noperand; i++)
    unknown = unknown || wick_ty_of(c->arg[i])->kind == WICK_TY_VAR;
  if (unknown) {
    if (wick_infer_asks(s)) wick_infer_wrong(s, c, "the structure's type is not known; give it");
    return s->last;
  }
  wick_ty *r = infer_form_leaf(s, c, c->noperand - 1, c->arg + 1, &seen, &unknown);
  infer_form_unify(s, c, r, c->arg[c->noperand], "the result");
  return true;
}

/* ---- all ---- */

static wick_ty *infer_form_transformed(infer *s, wick_constraint *c, const wick_ty *f)
{
  uint32_t n = f->n - 1;
  switch (c->entity->form) {
  case WICK_FORM_GRAD:
  case WICK_FORM_VALUE_AND_GRAD: {
    wick_ty *e = wick_ty_var(s->t, WICK_SORT_ELEM);
    e->elems = WICK_FLOATS;
    if (!n) {
      wick_infer_wrong(s, c, "`%s` takes a function with a parameter", c->entity->name);
      return s->t->error;
    }
    if (!infer_form_unify(s, c, f->arg[n], wick_ty_tensor(s->t, e, s->t->scalar_shape),
                          "the result of a function that is differentiated"))
      return s->t->error;
    wick_ty *g = infer_form_wrt(s, c, f);
    return wick_ty_fn(s->t, n, f->arg,
                      c->entity->form == WICK_FORM_GRAD ? g : infer_form_pair(s, f->arg[n], g));
  }
  case WICK_FORM_VJP: {
    wick_ty *ct = infer_form_cot(s, c, f->arg[n]);
    return wick_ty_fn(
        s->t, n, f->arg,
        infer_form_pair(s, f->arg[n], wick_ty_fn(s->t, 1, &ct, infer_form_pullback(s, c, f))));
  }
  case WICK_FORM_JVP: {
    wick_ty **param = wick_new(s->mem, wick_ty *, 2 * n);
    for (uint32_t i = 0; i < n; i++)
      param[i] = f->arg[i], param[n + i] = infer_form_cot(s, c, f->arg[i]);
    return wick_ty_fn(s->t, 2 * n, param,
                      infer_form_pair(s, f->arg[n], infer_form_cot(s, c, f->arg[n])));
  }
  case WICK_FORM_VMAP: return infer_form_vmap(s, c, f);
  case WICK_FORM_WITH_VJP: {
    wick_ty **param = wick_new(s->mem, wick_ty *, n + 1);
    for (uint32_t i = 0; i < n; i++) param[i] = f->arg[i];
    param[n] = infer_form_cot(s, c, f->arg[n]);
    infer_form_unify(s, c, c->arg[1], wick_ty_fn(s->t, n + 1, param, infer_form_pullback(s, c, f)),
                     "the gradient of `with_vjp`");
    return wick_ty_of(c->arg[0]);
  }
  case WICK_FORM_SPECIALIZE: {
    uint32_t k = c->noperand - 1;
    if (k > n) {
      wick_infer_wrong(s, c, "the function takes %u argument%s, found %u", n, n == 1 ? "" : "s", k);
      return s->t->error;
    }
    for (uint32_t i = 0; i < k; i++)
      infer_form_unify(s, c, c->arg[i + 1], f->arg[i], "an argument of `specialize`");
    return wick_ty_fn(s->t, n - k, f->arg + k, f->arg[n]);
  }
  default: return wick_ty_of(c->arg[0]);
  }
}

static bool infer_form_simple(infer *s, wick_constraint *c, wick_ty *result)
{
  wick_ty *content;
  switch (c->entity->form) {
  case WICK_FORM_SQUARE: {
    wick_ty *t = infer_form_tensor(s, WICK_NUMBERS);
    if (infer_form_unify(s, c, c->arg[0], t, "the operand of `square`"))
      infer_form_unify(s, c, c->arg[0], result, "the result");
    return true;
  }
  case WICK_FORM_STOP_GRADIENT:
    infer_form_unify(s, c, c->arg[0], result, "the result");
    return true;
  case WICK_FORM_REF:
    infer_form_unify(s, c, wick_ty_new(s->t, WICK_TY_REF, 1, c->arg), result, "the result");
    return true;
  case WICK_FORM_READ:
    infer_form_unify(s, c, c->arg[0], wick_ty_new(s->t, WICK_TY_REF, 1, &result), "what is read");
    return true;
  case WICK_FORM_WRITE:
    content = wick_ty_var(s->t, WICK_SORT_TYPE);
    infer_form_unify(s, c, c->arg[0], wick_ty_new(s->t, WICK_TY_REF, 1, &content),
                     "what is written to");
    infer_form_unify(s, c, c->arg[1], content, "what is written");
    infer_form_unify(s, c, s->t->unit, result, "the result");
    return true;
  case WICK_FORM_PRINT: infer_form_unify(s, c, s->t->unit, result, "the result"); return true;
  case WICK_FORM_ASSERT:
    infer_form_unify(s, c, c->arg[0], wick_ty_scalar(s->t, WICK_BOOL), "what is asserted");
    infer_form_unify(s, c, s->t->unit, result, "the result");
    return true;
  case WICK_FORM_LEN: {
    wick_dim d = wick_ty_size_var(s->t);
    wick_ty *t = infer_form_tensor(s, ~(uint64_t)0);
    t->arg[1] = wick_ty_shape(s->t, 1, &d, 1, t->arg[1]);
    if (!infer_form_unify(s, c, c->arg[0], t, "the operand of `len`"))
      wick_lang_help(&s->p->sources,
                     "`list.length(l)`, `array.length(v)` and `strings.length(s)` of "
                     "the library count other things");
    infer_form_unify(s, c, wick_ty_scalar(s->t, WICK_I64), result, "the result");
    return true;
  }
  default: return false;
  }
}

bool wick_infer_solve_form(infer *s, wick_constraint *c)
{
  wick_ty *result = c->arg[c->noperand];
  if (infer_form_simple(s, c, result)) return true;
  if (c->leaf) return infer_form_map(s, c);
  const wick_ty *f = wick_ty_of(c->arg[0]);
  if (f->kind == WICK_TY_VAR && !s->last) return false;
  if (f->kind != WICK_TY_FN) {
    if (f->kind != WICK_TY_ERROR)
      wick_infer_wrong(s, c, "`%s` takes a function, found %s", c->entity->name,
                       wick_ty_text(s->t, c->arg[0]));
    infer_form_unify(s, c, s->t->error, result, "");
    wick_ty *r = wick_ty_of(result);
    if (r->kind == WICK_TY_VAR && !r->rigid) r->link = s->t->error;
    return true;
  }
  infer_form_unify(s, c, infer_form_transformed(s, c, f), result, "the result");
  return true;
}
