/* Inference at the types of one use of a function. */
#include "lang/infer_state.h"
#include "lang/lex.h"

static void instance_solve(infer *s)
{
  wick_infer_solve(s, 0);
  wick_infer_defaults(s, 0, NULL);
  wick_infer_solve(s, 0);
  s->last = true;
  wick_infer_solve(s, 0);
}

/* Parameters first: a size `?` of the result then gets the number that follows from them. */
static bool instance_meet(infer *s, wick_lang_at at, const char *name, const wick_ty *type,
                          const wick_ty *want)
{
  const wick_ast here = {.kind = WICK_AST_NAME, .at = at, .name_at = at};
  bool ok = true;
  for (uint32_t i = 0; i < type->n && i < want->n && ok; i++)
    ok = wick_infer_expect(s, &here, want->arg[i], type->arg[i],
                           i + 1 < type->n
                               ? wick_str_printf(s->mem, "argument %u of `%s`", i + 1, name)
                               : wick_str_printf(s->mem, "the result of `%s`", name));
  return ok;
}

/* Sizes that the signature leaves open (`?`) are known at a use whose argument has them. */
static wick_ty *instance_param(wick_types *t, wick_ty *given, wick_ty *declared)
{
  const wick_ty *a = wick_ty_of(given), *b = wick_ty_of(declared);
  if (a->kind != WICK_TY_TENSOR || b->kind != WICK_TY_TENSOR || !wick_ty_ready(t, given))
    return declared;
  const wick_ty *shape = wick_ty_flat(t, a->arg[1]);
  for (uint32_t i = 0; i < shape->ndim; i++)
    if (!wick_dim_is_const(wick_ty_dim(t, shape->dim[i]))) return declared;
  return given;
}

/* Says for which use a version of a function has problems. */
static void instance_note(infer *s, uint32_t before, wick_lang_at at)
{
  if (s->p->sources.problems.n > before && at.source)
    wick_lang_note(&s->p->sources, at, "for the sizes and types of this use");
}

/* The type of a static list, which no value in the program has. */
static wick_ty *instance_list(infer *s, const wick_static *k)
{
  wick_ty **item = wick_new(s->mem, wick_ty *, k->n);
  for (uint32_t i = 0; i < k->n; i++) {
    wick_ty *elem = i && k->list == WICK_AST_ARRAY ? wick_ty_of(item[0])->arg[0]
                                                   : wick_infer_literal_elem(s, 1);
    item[i] = wick_ty_tensor(s->t, elem, s->t->scalar_shape);
  }
  wick_dim n = wick_dim_const(k->n);
  if (k->list == WICK_AST_TUPLE || !k->n) return wick_ty_new(s->t, WICK_TY_TUPLE, k->n, item);
  return wick_ty_tensor(s->t, wick_ty_of(item[0])->arg[0], wick_ty_shape(s->t, 1, &n, 1, NULL));
}

const wick_typed *wick_lang_instance(wick_lang_program *p, wick_types *t, wick_lang_entity *e,
                                     wick_lang_at at, wick_ty *want, const wick_static *fixed)
{
  infer s = {.p = p, .t = t, .mem = p->mem};
  uint32_t before = p->sources.problems.n;
  const wick_ast *list = e->decl->kid[0];
  wick_typed *f = s.typed = wick_infer_typed(&s, e);
  t->level = 1, t->most += e->nnode * (uint64_t)500;
  wick_ty_begin_copy(t);
  f->fn = wick_ty_copy(t, e->scheme->type);
  f->fixed = fixed;
  for (uint32_t i = 0; i < e->nvariable; i++)
    if (e->typed->variable[i] && !e->variable[i]->inner)
      f->variable[i] = wick_ty_copy(t, e->typed->variable[i]);
  f->instance = true;
  f->fn = wick_infer_signature(&s, f, f->fn);
  if (!instance_meet(&s, at, e->name, f->fn, want)) return f;
  wick_clash clash;
  for (uint32_t i = 0; fixed && i < list->nkid; i++)
    if (fixed[i].list) (void)wick_unify(t, f->fn->arg[i], instance_list(&s, &fixed[i]), &clash);
  for (uint32_t i = 0; i < list->nkid; i++)
    f->local[list->kid[i]->ref->number] = f->type[list->kid[i]->id] =
        instance_param(t, want->arg[i], f->fn->arg[i]);
  wick_infer_body(&s, e, f->fn);
  instance_solve(&s);
  if (s.p->sources.problems.n == before) instance_meet(&s, at, e->name, f->fn, want);
  instance_note(&s, before, at);
  return f;
}

/* A part of the function of `outer` that is inferred anew. */
static wick_typed *instance_part(infer *s, const wick_typed *outer)
{
  const wick_lang_entity *e = outer->entity;
  wick_typed *f = s->typed = wick_dup(s->mem, wick_typed, outer, 1);
  f->type = wick_dup(s->mem, wick_ty *, outer->type, e->nnode);
  f->local = wick_dup(s->mem, wick_ty *, outer->local, e->number);
  f->poly = wick_dup(s->mem, wick_scheme *, outer->poly, e->number);
  f->variable = wick_dup(s->mem, wick_ty *, outer->variable, e->nvariable);
  s->t->level = 1, s->t->most += e->nnode * (uint64_t)500;
  f->instance = true;
  return f;
}

const wick_typed *wick_lang_instance_step(wick_lang_program *p, wick_types *t,
                                          const wick_typed *outer, const wick_ast *loop,
                                          int64_t index, wick_ty *carried)
{
  infer s = {.p = p, .t = t, .mem = p->mem};
  uint32_t before = p->sources.problems.n, n = outer->entity->number;
  wick_typed *f = instance_part(&s, outer);
  const wick_ast *name = loop->kid[0];
  wick_ast *pattern = loop->kid[3];
  wick_dim *known = wick_new(p->mem, wick_dim, n);
  for (uint32_t i = 0; i < n; i++) known[i] = outer->known ? outer->known[i] : WICK_DIM_INVALID;
  if (name->kind == WICK_AST_BIND) known[name->ref->number] = wick_dim_const(index);
  f->known = known;
  if (pattern) wick_infer_pattern(&s, pattern, carried);
  wick_infer_expr(&s, loop->kid[5]);
  instance_solve(&s);
  instance_note(&s, before, loop->at);
  return f;
}

const wick_typed *wick_lang_instance_literal(wick_lang_program *p, wick_types *t,
                                             const wick_typed *outer, wick_ast *literal,
                                             wick_lang_at at, wick_ty *want)
{
  infer s = {.p = p, .t = t, .mem = p->mem};
  uint32_t before = p->sources.problems.n;
  const wick_lang_entity *e = outer->entity;
  wick_typed *f = instance_part(&s, outer);
  for (uint32_t i = 0; i < e->nvariable; i++) /* those of the literal are new */
    if (e->variable[i]->inner) f->variable[i] = NULL;
  f->fn = wick_ty_of(wick_infer_expr(&s, literal));
  instance_meet(&s, at, "the function", f->fn, want);
  instance_solve(&s);
  instance_note(&s, before, at);
  return f;
}

bool wick_lang_static(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                      wick_static *out)
{
  wick_typed typed = *f;
  infer s = {.p = p, .t = t, .mem = p->mem, .typed = &typed};
  return wick_infer_static_argument(&s, n, out) && out->known;
}

/* ---- conditions that sizes decide ---- */

static bool instance_compare(int op, int64_t a, int64_t b, bool *out)
{
  switch (op) {
  case '<': *out = a < b; return true;
  case '>': *out = a > b; return true;
  case WICK_TOKEN_LE: *out = a <= b; return true;
  case WICK_TOKEN_GE: *out = a >= b; return true;
  case WICK_TOKEN_EQ: *out = a == b; return true;
  case WICK_TOKEN_NE: *out = a != b; return true;
  default: return false;
  }
}

bool wick_infer_decided(infer *s, const wick_ast *n, bool *out)
{
  bool a, b;
  if (!s->typed->instance) return false;
  if (n->kind == WICK_AST_BOOL) {
    *out = n->i != 0;
    return true;
  }
  if (n->kind == WICK_AST_UNARY && n->op == '!' && wick_infer_decided(s, n->kid[0], out)) {
    *out = !*out;
    return true;
  }
  if (n->kind == WICK_AST_NAME) {
    wick_static k;
    bool known = wick_infer_static(s, n, NULL, &k) && k.known && k.n == 1;
    *out = known && k.ints[0];
    return known;
  }
  if (n->kind != WICK_AST_BINARY) return false;
  if (n->op == WICK_TOKEN_AND || n->op == WICK_TOKEN_OR) {
    bool or = n->op == WICK_TOKEN_OR;
    if (!wick_infer_decided(s, n->kid[0], &a)) return false;
    *out = a;
    if (a == or) return true;
    if (!wick_infer_decided(s, n->kid[1], &b)) return false;
    *out = b;
    return true;
  }
  wick_dim x = wick_infer_size(s, n->kid[0]), y = wick_infer_size(s, n->kid[1]);
  return wick_dim_is_const(x) && wick_dim_is_const(y) && instance_compare(n->op, x.v, y.v, out);
}

bool wick_lang_decided(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                       bool *out)
{
  wick_typed typed = *f;
  infer s = {.p = p, .t = t, .mem = p->mem, .typed = &typed};
  return wick_infer_decided(&s, n, out);
}

wick_dim wick_lang_size(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n)
{
  wick_typed typed = *f;
  infer s = {.p = p, .t = t, .mem = p->mem, .typed = &typed};
  return wick_infer_size(&s, n);
}

wick_dim wick_lang_span(wick_lang_program *p, wick_types *t, const wick_typed *f,
                        const wick_ast *begin, const wick_ast *end)
{
  wick_typed typed = *f;
  infer s = {.p = p, .t = t, .mem = p->mem, .typed = &typed};
  return wick_infer_span(&s, begin, end);
}
