/* Schemes: types with generic unknowns, and the constraints on these. */
#include "lang/infer_state.h"

void wick_infer_size_levels(infer *s, const wick_typed *f, uint32_t level)
{
  for (uint32_t i = 0; i < f->entity->nvariable; i++) {
    const wick_ty *v = f->variable[i];
    if (!v || f->entity->variable[i]->inner || v->kind != WICK_TY_SIZE) continue;
    uint32_t n = (uint32_t)((uint64_t)v->size.v - (uint64_t)INT64_MIN);
    s->t->dimvars.at[s->t->of_symbol.at[n] - 1].level = level;
  }
}

/* Elements of literals in a function, which its type does not show, have their default at each use
 * that does not decide them. */
static void scheme_literals(infer *s, wick_ty *x)
{
  wick_ty *a = wick_ty_of(x);
  if (wick_ty_step(s->t)) return;
  if (a->kind == WICK_TY_VAR && a->literal && !a->rigid) wick_push(s->mem, &s->literals, a);
  for (uint32_t i = 0; i < a->n; i++) scheme_literals(s, a->arg[i]);
}

enum { MOST_PENDING = 200000 };

/* An item of a list that is a static parameter of e. */
static bool scheme_is_item(const wick_ast *n, const wick_lang_entity *e)
{
  const wick_ast *list = n->kind == WICK_AST_FIELD || n->kind == WICK_AST_INDEX ? n->kid[0] : NULL;
  return list && list->kind == WICK_AST_NAME && list->ref && list->ref->fixed &&
         list->ref->parent == e;
}

/* The same expression with the arguments of e in the place of its static parameters; NULL if one of
 * them is neither a number nor an expression. */
static wick_ast *scheme_substitute(infer *s, const wick_ast *n, const wick_lang_entity *e,
                                   const wick_static *fixed)
{
  wick_ast *out = wick_dup(s->mem, wick_ast, n, 1);
  if (n->kind == WICK_AST_NAME && n->ref && n->ref->fixed && n->ref->parent == e) {
    const wick_static *k = &fixed[n->ref->index];
    if (!k->known) return k->expr ? wick_dup(s->mem, wick_ast, k->expr, 1) : NULL;
    if (k->n != 1 || k->word) return NULL;
    bool whole = !((double)k->ints[0] < k->f) && !((double)k->ints[0] > k->f);
    *out = (wick_ast){.kind = whole ? WICK_AST_INT : WICK_AST_FLOAT, .at = n->at};
    out->i = k->ints[0], out->f = k->f;
    return out;
  }
  if (scheme_is_item(n, e) && !fixed[n->kid[0]->ref->index].expr) {
    wick_static v;
    if (!wick_infer_static(s, n, fixed, &v) || !v.known) return NULL;
    *out = (wick_ast){.kind = WICK_AST_INT, .at = n->at, .i = v.ints[0], .f = v.f};
    return out;
  }
  out->kid = wick_dup(s->mem, wick_ast *, n->kid, n->nkid);
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i] && !(out->kid[i] = scheme_substitute(s, n->kid[i], e, fixed))) return NULL;
  return out;
}

/* Whether a static parameter that is not known is in d. */
static bool scheme_is_open(infer *s, wick_dim d)
{
  bool open = false;
  for (uint32_t i = 0; i < s->t->statics.n && !open; i++)
    open = wick_dim_uses(s->t->dims, d, s->t->statics.at[i].symbol);
  return open;
}

/* A size with the arguments of e in the place of its static parameters. */
static wick_static scheme_size(infer *s, wick_ty *size, const wick_lang_entity *e,
                               const wick_static *fixed)
{
  static const wick_ast open = {.kind = WICK_AST_ERROR}; /* the caller has no such expression */
  uint32_t n = 0;
  wick_dim *from = wick_new(s->mem, wick_dim, s->t->statics.n),
           *to = wick_new(s->mem, wick_dim, s->t->statics.n),
           d = wick_ty_dim(s->t, wick_ty_of(size)->size);
  for (uint32_t i = 0; i < s->t->statics.n; i++) {
    const wick_ty_static *k = &s->t->statics.at[i];
    if (k->param->parent != e || !wick_dim_uses(s->t->dims, d, k->symbol)) continue;
    const wick_static *v = &fixed[k->param->index];
    from[n] = k->symbol;
    if (v->known && v->n == 1 && !v->word)
      to[n++] = wick_dim_const(v->ints[0]);
    else if (v->size)
      to[n++] = wick_ty_dim(s->t, wick_ty_of(v->size)->size);
    else if (v->expr && v->expr->kind == WICK_AST_NAME)
      to[n++] = wick_ty_static_size(s->t, v->expr->ref);
    else
      return (wick_static){0};
  }
  d = wick_dim_substitute(s->t->dims, d, n, from, to);
  wick_ty *out = wick_ty_size(s->t, d);
  if (scheme_is_open(s, d)) return (wick_static){.expr = &open, .size = out};
  return wick_infer_static_size(s, out);
}

static wick_static scheme_static(infer *s, const wick_static *k, const wick_lang_entity *e,
                                 const wick_static *fixed)
{
  wick_static out;
  if (k->item) {
    wick_static *item = wick_new(s->mem, wick_static, k->n);
    for (uint32_t i = 0; i < k->n; i++) item[i] = scheme_static(s, &k->item[i], e, fixed);
    return wick_infer_static_list(s, k->list, k->n, item);
  }
  if (!k->expr) return *k;
  if (k->expr->kind == WICK_AST_NAME)
    return k->expr->ref->parent == e ? fixed[k->expr->ref->index] : *k;
  if (scheme_is_item(k->expr, e) && !fixed[k->expr->kid[0]->ref->index].expr)
    return wick_infer_static(s, k->expr, fixed, &out) ? out : (wick_static){0};
  const wick_ast *n = scheme_substitute(s, k->expr, e, fixed);
  bool known = n && wick_infer_static(s, n, NULL, &out);
  if (known && (out.known || !k->size)) return out;
  if (k->size) return scheme_size(s, k->size, e, fixed);
  return known ? out : (wick_static){0};
}

/* Sets the static arguments of a constraint of e: its own parameters, or those from which the
 * arguments of a function that e calls come. */
static void scheme_fix(infer *s, wick_constraint *k, const wick_lang_entity *e,
                       const wick_static *fixed)
{
  if (!k->fixed) {
    k->fixed = fixed, k->nfixed = e->decl->kid[0]->nkid;
    return;
  }
  wick_static *next = wick_dup(s->mem, wick_static, k->fixed, k->nfixed);
  for (uint32_t i = 0; i < k->nfixed; i++) next[i] = scheme_static(s, &next[i], e, fixed);
  k->fixed = next;
}

static void scheme_copy_static(infer *s, wick_static *k)
{
  if (k->size) k->size = wick_ty_copy(s->t, k->size);
  if (!k->item) return;
  wick_static *item = wick_dup(s->mem, wick_static, k->item, k->n);
  for (uint32_t i = 0; i < k->n; i++) scheme_copy_static(s, &item[i]);
  k->item = item;
}

/* Copies the sizes among the static arguments of a constraint. */
static void scheme_copy_fixed(infer *s, wick_constraint *k)
{
  wick_static *next = k->fixed ? wick_dup(s->mem, wick_static, k->fixed, k->nfixed) : NULL;
  for (uint32_t i = 0; next && i < k->nfixed; i++) scheme_copy_static(s, &next[i]);
  k->fixed = next;
}

static void scheme_needs(infer *s, const wick_scheme *c, wick_lang_at at, const wick_lang_entity *e,
                         const wick_static *fixed)
{
  uint32_t stamp = s->t->stamp;
  if (s->pending.n > MOST_PENDING) s->t->exhausted = true;
  for (uint32_t i = 0; i < c->n && !s->t->exhausted; i++) {
    wick_constraint k = c->needs[i];
    s->t->stamp = stamp;
    k.arg = wick_new(s->mem, wick_ty *, k.n);
    for (uint32_t j = 0; j < k.n; j++) k.arg[j] = wick_ty_copy(s->t, c->needs[i].arg[j]);
    for (uint32_t j = 0; j < k.n; j++) scheme_literals(s, k.arg[j]);
    scheme_copy_fixed(s, &k);
    if (!k.origin.source) k.origin = k.at;
    k.at = at, k.done = false;
    if (fixed) scheme_fix(s, &k, e, fixed);
    wick_push(s->mem, &s->pending, k);
  }
}

static wick_ty *scheme_instance(infer *s, const wick_scheme *c, wick_lang_at at,
                                const wick_lang_entity *e, const wick_static *fixed)
{
  if (c->monomorphic) return c->type;
  wick_ty_begin_copy(s->t);
  wick_ty *out = wick_ty_copy(s->t, c->type);
  scheme_needs(s, c, at, e, fixed);
  return out;
}

wick_ty *wick_infer_instance(infer *s, const wick_scheme *c, wick_lang_at at)
{
  return scheme_instance(s, c, at, NULL, NULL);
}

static bool scheme_is_about_static(const wick_ast *n)
{
  bool is =
      n->kind == WICK_AST_NAME && n->ref && n->ref->kind == WICK_ENTITY_LOCAL && n->ref->fixed;
  for (uint32_t i = 0; i < n->nkid && !is; i++) is = n->kid[i] && scheme_is_about_static(n->kid[i]);
  return is;
}

wick_ty *wick_infer_signature(infer *s, const wick_typed *f, wick_ty *type)
{
  const wick_lang_entity *e = f->entity;
  const wick_ast *list = e->decl->kid[0];
  wick_ty *t = wick_ty_of(type);
  wick_typed use = *f, *here = s->typed;
  if (!f->fixed || t->kind != WICK_TY_FN) return type;
  wick_ty **arg = wick_dup(s->mem, wick_ty *, t->arg, t->n);
  s->typed = &use;
  for (uint32_t i = 0; i < t->n; i++) {
    wick_ast *said = i + 1 < t->n ? list->kid[i]->kid[0] : e->decl->kid[1];
    if (said && scheme_is_about_static(said)) arg[i] = wick_infer_annotation(s, said);
  }
  s->typed = here;
  return wick_ty_fn(s->t, t->n - 1, arg, arg[t->n - 1]);
}

/* The same for a use; `type` has just been copied. */
static wick_ty *scheme_with_static(infer *s, const wick_lang_entity *e, wick_ty *type,
                                   const wick_static *fixed)
{
  if (!fixed || !e->typed || e->running) return type;
  wick_typed use = *e->typed;
  use.fixed = fixed;
  use.variable = wick_new(s->mem, wick_ty *, e->nvariable);
  for (uint32_t i = 0; i < e->nvariable; i++)
    if (e->typed->variable[i] && !e->variable[i]->inner)
      use.variable[i] = wick_ty_copy(s->t, e->typed->variable[i]);
  return wick_infer_signature(s, &use, type);
}

wick_ty *wick_infer_use(infer *s, const wick_lang_entity *e, wick_lang_at at,
                        const wick_static *fixed)
{
  /* In its own body, a function with a signature changes sizes from call to call, and nothing
   * else, so that the number of its instances is bounded. */
  bool own = e->running && !e->scheme->monomorphic;
  if (own) wick_infer_size_levels(s, e->typed, WICK_TY_GENERIC);
  wick_ty *t = scheme_instance(s, e->scheme, at, e, fixed);
  t = scheme_with_static(s, e, t, fixed);
  if (own) wick_infer_size_levels(s, e->typed, 0);
  return t;
}

wick_ty *wick_infer_leaf(infer *s, const wick_constraint *c)
{
  if (c->leaf->monomorphic) return c->leaf->type;
  uint32_t first = c->noperand + 1;
  wick_ty_begin_copy(s->t);
  for (uint32_t i = first; i < c->n; i++)
    wick_ty_copy_as(s->t, c->captured[i - first], wick_ty_of(c->arg[i]));
  wick_ty *out = wick_ty_copy(s->t, c->leaf->type);
  scheme_needs(s, c->leaf, c->at, NULL, NULL);
  return out;
}

/* ---- generic unknowns ---- */

static void scheme_unknowns(infer *s, const wick_scheme *c, wick_ty_list *out)
{
  wick_ty_unknowns(s->t, c->type, out);
  for (uint32_t i = 0; i < c->n; i++)
    for (uint32_t k = 0; k < c->needs[i].n; k++) wick_ty_unknowns(s->t, c->needs[i].arg[k], out);
}

/* Where a function around the one that map_tensors applies becomes generic, so do the unknowns that
 * the latter captures: as arguments of the constraint, each use of the outer function has them anew. */
static void scheme_capture(infer *s, wick_constraint *c)
{
  wick_scheme *leaf = c->leaf;
  uint32_t first = c->noperand + 1;
  wick_ty_list known = {0};
  if (!leaf || !leaf->local || wick_ty_step(s->t)) return;
  wick_infer_capture(s, leaf->n, leaf->needs);
  for (uint32_t i = 0; i < leaf->own.n; i++) wick_push(s->mem, &known, leaf->own.at[i]);
  for (uint32_t i = first; i < c->n; i++) wick_push(s->mem, &known, c->captured[i - first]);
  uint32_t before = known.n;
  scheme_unknowns(s, leaf, &known);
  uint32_t more = known.n - before;
  if (!more) return;
  wick_ty **arg = wick_new(s->mem, wick_ty *, c->n + more),
          **captured = wick_new(s->mem, wick_ty *, c->n + more - first);
  for (uint32_t i = 0; i < c->n; i++) arg[i] = c->arg[i];
  for (uint32_t i = first; i < c->n; i++) captured[i - first] = c->captured[i - first];
  for (uint32_t i = 0; i < more; i++)
    arg[c->n + i] = captured[c->n + i - first] = known.at[before + i];
  c->arg = arg, c->captured = captured, c->n += more;
}

void wick_infer_capture(infer *s, uint32_t n, wick_constraint *needs)
{
  for (uint32_t i = 0; i < n; i++) scheme_capture(s, &needs[i]);
}

static void scheme_generalize(infer *s, const wick_constraint *c, uint32_t level)
{
  for (uint32_t k = 0; k < c->n; k++) wick_ty_generalize(s->t, c->arg[k], level);
  if (!c->leaf || !c->leaf->local || wick_ty_step(s->t)) return;
  wick_ty_generalize(s->t, c->leaf->type, level);
  for (uint32_t i = 0; i < c->leaf->n; i++) scheme_generalize(s, &c->leaf->needs[i], level);
}

void wick_infer_generalize_needs(infer *s, uint32_t from, uint32_t level)
{
  for (uint32_t i = from; i < s->pending.n; i++) scheme_generalize(s, &s->pending.at[i], level);
}

wick_scheme *wick_infer_generalize(infer *s, wick_ty *type, uint32_t from)
{
  wick_scheme *c = wick_new(s->mem, wick_scheme, 1);
  wick_infer_solve(s, from);
  wick_ty_generalize(s->t, c->type = type, s->t->level);
  wick_infer_generalize_needs(s, from, s->t->level);
  c->n = s->pending.n - from, c->local = true;
  c->needs = wick_dup(s->mem, wick_constraint, c->n ? &s->pending.at[from] : NULL, c->n);
  wick_infer_capture(s, c->n, c->needs);
  scheme_unknowns(s, c, &c->own);
  s->pending.n = from;
  return c;
}
