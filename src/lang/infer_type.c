/* From annotations to types; data types; copies of schemes. */
#include "lang/infer_state.h"

/* ---- sorts ---- */

static bool infer_type_is(const wick_ast *n, const char *name)
{
  return n->kind == WICK_AST_TYPE_NAME && !n->ref && strcmp(n->name, name) == 0;
}

static void infer_type_sort(infer *s, wick_ast *n, wick_ty_sort sort, bool *changed)
{
  wick_lang_entity *e = n->ref;
  if (!e || e->kind != WICK_ENTITY_VARIABLE) return;
  wick_ty_sort now = (wick_ty_sort)e->state;
  if (e->assigned && now == sort) return;
  bool elem = (now == WICK_SORT_ELEM && sort == WICK_SORT_TYPE) ||
              (now == WICK_SORT_TYPE && sort == WICK_SORT_ELEM);
  if (e->assigned && !elem) {
    if (n->flag && n->kind == WICK_AST_NAME) return;
    static const char *const word[] = {"a type", "an element type", "a size", "several sizes"};
    wick_lang_report(&s->p->sources, n->name_at, "`%s` is %s here, but %s elsewhere", e->name,
                     word[sort], word[now]);
    wick_lang_note(&s->p->sources, e->at, "it is used first here");
    n->flag = true;
    return;
  }
  sort = elem ? WICK_SORT_ELEM : sort;
  if (e->assigned && e->state == (int)sort) return;
  e->assigned = true, e->state = (int)sort;
  *changed = true;
}

/* Finds what the variables in a type stand for. */
static void infer_type_visit(infer *s, wick_ast *n, wick_ty_sort sort, bool *changed)
{
  if (!n) return;
  if (n->kind == WICK_AST_SPREAD) sort = WICK_SORT_SHAPE;
  if (n->kind == WICK_AST_NAME || n->kind == WICK_AST_SPREAD) infer_type_sort(s, n, sort, changed);
  if (n->kind != WICK_AST_TYPE_NAME) {
    wick_ty_sort kids =
        n->kind == WICK_AST_BINARY || n->kind == WICK_AST_UNARY ? WICK_SORT_SIZE : WICK_SORT_TYPE;
    for (uint32_t i = 0; i < n->nkid; i++) infer_type_visit(s, n->kid[i], kids, changed);
    return;
  }
  const wick_lang_entity *e = n->ref;
  bool data = e && (e->kind == WICK_ENTITY_TYPE || e->kind == WICK_ENTITY_STRUCT);
  bool wraps = infer_type_is(n, "Ref") || infer_type_is(n, "Cotangent");
  if (!e && !wraps) return; /* there is no such type, as is said already */
  if (e && e->kind == WICK_ENTITY_VARIABLE)
    infer_type_sort(s, n, n->flag ? WICK_SORT_ELEM : WICK_SORT_TYPE, changed);
  for (uint32_t i = 0; i < n->nkid; i++) {
    wick_ty_sort k = wraps ? WICK_SORT_TYPE : WICK_SORT_SIZE;
    if (data) {
      const wick_lang_entity *v = e->variable[i < e->nvariable ? i : e->nvariable - 1];
      if (!e->nvariable || !v->assigned) continue;
      k = (wick_ty_sort)v->state;
      if (k == WICK_SORT_SHAPE) k = WICK_SORT_SIZE; /* several sizes, each by itself */
    }
    infer_type_visit(s, n->kid[i], k, changed);
  }
}

static void infer_type_sorts_of(infer *s, wick_ast *n, bool *changed)
{
  bool types = n->kind == WICK_AST_FIELD_TYPE || n->kind == WICK_AST_CTOR;
  if (n->kind == WICK_AST_PARAM || types) {
    for (uint32_t i = 0; i < n->nkid; i++) infer_type_visit(s, n->kid[i], WICK_SORT_TYPE, changed);
    return;
  }
  bool fn = n->kind == WICK_AST_FN || n->kind == WICK_AST_OP;
  for (uint32_t i = 0; i < n->nkid; i++) {
    if (!n->kid[i]) continue;
    bool type = (fn && i == 1) || (n->kind == WICK_AST_LET && i == 1) ||
                (n->kind == WICK_AST_ASCRIBE && i == 1);
    bool params = (n->kind == WICK_AST_TYPE || n->kind == WICK_AST_STRUCT) && i == 0;
    if (type)
      infer_type_visit(s, n->kid[i], WICK_SORT_TYPE, changed);
    else if (!params)
      infer_type_sorts_of(s, n->kid[i], changed);
  }
}

void wick_infer_data_sorts(infer *s)
{
  bool changed = true;
  for (uint32_t round = 0; changed && round < 64; round++) {
    changed = false;
    for (uint32_t i = 0; i < s->p->datas.n; i++)
      infer_type_sorts_of(s, s->p->datas.at[i]->decl, &changed);
  }
  for (uint32_t i = 0; i < s->p->datas.n; i++)
    for (uint32_t k = 0; k < s->p->datas.at[i]->nvariable; k++) {
      wick_lang_entity *v = s->p->datas.at[i]->variable[k];
      if (!v->assigned) v->assigned = true, v->state = v->spread ? WICK_SORT_SHAPE : WICK_SORT_TYPE;
    }
}

void wick_infer_sorts(infer *s, const wick_lang_entity *fn)
{
  bool changed = false;
  infer_type_sorts_of(s, fn->decl, &changed);
}

/* ---- annotations ---- */

wick_ty *wick_infer_variable(infer *s, wick_lang_entity *e)
{
  wick_ty **at = &s->typed->variable[e->index];
  if (*at) return *at;
  wick_ty_sort sort = e->assigned ? (wick_ty_sort)e->state : WICK_SORT_TYPE;
  if (sort == WICK_SORT_SIZE && !e->inner) {
    *at = wick_ty_size(
        s->t, wick_ty_rigid_size(s->t, wick_str_printf(s->mem, "%s'%u", e->name, s->t->nfresh++)));
  } else {
    *at = wick_ty_var(s->t, sort);
    (*at)->name = sort == WICK_SORT_SIZE || e->inner ? NULL : e->name;
    (*at)->rigid = !e->inner && sort != WICK_SORT_SIZE;
    if ((*at)->rigid) (*at)->level = 0;
  }
  (*at)->at = e->at;
  return *at;
}

/* In an instance, len(x) of a parameter or a bound name is known. */
static wick_dim infer_type_len(infer *s, const wick_ast *n)
{
  const wick_lang_entity *f = n->kid[0]->kind == WICK_AST_NAME ? n->kid[0]->ref : NULL,
                         *e = n->nkid == 2 && n->kid[1]->kind == WICK_AST_NAME ? n->kid[1]->ref
                                                                               : NULL;
  if (!f || f->kind != WICK_ENTITY_FORM || f->form != WICK_FORM_LEN || !e ||
      e->kind != WICK_ENTITY_LOCAL || !s->typed->local[e->number])
    return WICK_DIM_INVALID;
  const wick_ty *t = wick_ty_of(s->typed->local[e->number]);
  if (t->kind != WICK_TY_TENSOR || !wick_ty_ranked(s->t, t->arg[1])) return WICK_DIM_INVALID;
  const wick_ty *shape = wick_ty_flat(s->t, t->arg[1]);
  wick_dim d = shape->ndim ? wick_ty_dim(s->t, shape->dim[0]) : WICK_DIM_INVALID;
  return wick_dim_is_const(d) ? d : WICK_DIM_INVALID;
}

static wick_dim infer_type_size(infer *s, const wick_ast *n, uint32_t *left);

/* The number of a local: that of an index of a loop that is written out, or what a `let` says. */
static wick_dim infer_type_local(infer *s, const wick_lang_entity *e, uint32_t *left)
{
  const wick_typed *f = s->typed;
  if (f && f->known && e->parent == f->entity &&
      !wick_dim_eq(f->known[e->number], WICK_DIM_INVALID))
    return f->known[e->number];
  if (!e->value) return WICK_DIM_INVALID;
  const wick_ty *t = f && f->local[e->number] ? wick_ty_of(f->local[e->number]) : NULL;
  const wick_ty *elem = t && t->kind == WICK_TY_TENSOR ? wick_ty_of(t->arg[0]) : NULL;
  if (elem && elem->kind == WICK_TY_ELEM && elem->elem != WICK_I64) return WICK_DIM_INVALID;
  return infer_type_size(s, e->value, left);
}

static wick_dim infer_type_size(infer *s, const wick_ast *n, uint32_t *left)
{
  wick_dims *d = s->t->dims;
  if (!*left) return WICK_DIM_INVALID;
  --*left;
  if (n->kind == WICK_AST_INT)
    return wick_literal_fits(n, WICK_I64) ? wick_dim_const(n->i) : WICK_DIM_INVALID;
  if (n->kind == WICK_AST_ANY_SIZE) return s->t->any;
  if (n->kind == WICK_AST_NAME && n->ref && n->ref->kind == WICK_ENTITY_VARIABLE) {
    wick_ty *v = wick_ty_of(wick_infer_variable(s, n->ref));
    return v->kind == WICK_TY_SIZE ? wick_ty_dim(s->t, v->size) : WICK_DIM_INVALID;
  }
  const wick_ast *list = n->kind == WICK_AST_FIELD || n->kind == WICK_AST_INDEX ? n->kid[0] : n;
  if (list->kind == WICK_AST_NAME && list->ref && list->ref->kind == WICK_ENTITY_LOCAL &&
      list->ref->fixed) {
    wick_static k; /* of a static parameter the value is known at each use */
    bool is = wick_infer_static(s, n, NULL, &k);
    if (is && k.size && !k.expr) return wick_ty_dim(s->t, wick_ty_of(k.size)->size);
    if (is && k.known && k.n == 1) return wick_dim_const(k.ints[0]);
    return s->symbolic && list == n ? wick_ty_static_size(s->t, n->ref) : s->t->any;
  }
  if (n->kind == WICK_AST_NAME && n->ref && n->ref->kind == WICK_ENTITY_LOCAL)
    return infer_type_local(s, n->ref, left);
  if (n->kind == WICK_AST_CALL && s->typed->instance) return infer_type_len(s, n);
  if (n->kind == WICK_AST_UNARY && n->op == '-')
    return wick_dim_sub(d, wick_dim_const(0), infer_type_size(s, n->kid[0], left));
  if (n->kind != WICK_AST_BINARY) return WICK_DIM_INVALID;
  wick_dim a = infer_type_size(s, n->kid[0], left), b = infer_type_size(s, n->kid[1], left);
  if (wick_dim_eq(a, WICK_DIM_INVALID) || wick_dim_eq(b, WICK_DIM_INVALID)) return WICK_DIM_INVALID;
  if (wick_dim_eq(a, s->t->any) || wick_dim_eq(b, s->t->any)) return s->t->any;
  switch (n->op) {
  case '+': return wick_dim_add(d, a, b);
  case '-': return wick_dim_sub(d, a, b);
  case '*': return wick_dim_mul(d, a, b);
  case '/': return wick_dim_is(b, 0) ? WICK_DIM_INVALID : wick_dim_floordiv(d, a, b);
  case '%': return wick_dim_is(b, 0) ? WICK_DIM_INVALID : wick_dim_mod(d, a, b);
  default: return WICK_DIM_INVALID;
  }
}

wick_dim wick_infer_size(infer *s, const wick_ast *n)
{
  uint32_t left = 1000; /* nodes: names of `let` may stand for each other many times */
  return infer_type_size(s, n, &left);
}

/* ---- differences ---- */

typedef struct infer_term {
  const wick_ast *node; /* NULL: it has been taken away */
  bool minus;
} infer_term;

typedef wick_list(infer_term) infer_terms;

static bool infer_type_same(const wick_ast *a, const wick_ast *b)
{
  if (a->kind != b->kind || a->nkid != b->nkid || a->op != b->op) return false;
  switch (a->kind) {
  case WICK_AST_INT:
    if (a->i != b->i) return false;
    break;
  case WICK_AST_NAME:
    if (a->ref != b->ref || !a->ref) return false;
    break;
  case WICK_AST_FIELD:
    if (a->name != b->name || a->i != b->i) return false;
    break;
  case WICK_AST_BINARY:
  case WICK_AST_UNARY:
  case WICK_AST_INDEX: break;
  default: return false; /* calls may have effects */
  }
  for (uint32_t i = 0; i < a->nkid; i++)
    if (!a->kid[i] || !b->kid[i] || !infer_type_same(a->kid[i], b->kid[i])) return false;
  return true;
}

/* Adds the terms of n that are no sizes, and the sizes to *sum. */
static void infer_type_terms(infer *s, const wick_ast *n, bool minus, infer_terms *out,
                             wick_dim *sum)
{
  wick_dim d = wick_infer_size(s, n);
  if (!wick_dim_eq(d, WICK_DIM_INVALID)) {
    bool any = wick_dim_eq(d, s->t->any) || wick_dim_eq(*sum, s->t->any);
    *sum = any     ? s->t->any
           : minus ? wick_dim_sub(s->t->dims, *sum, d)
                   : wick_dim_add(s->t->dims, *sum, d);
  } else if (n->kind == WICK_AST_BINARY && (n->op == '+' || n->op == '-')) {
    infer_type_terms(s, n->kid[0], minus, out, sum);
    infer_type_terms(s, n->kid[1], minus == (n->op == '+'), out, sum);
  } else if (n->kind == WICK_AST_UNARY && n->op == '-') {
    infer_type_terms(s, n->kid[0], !minus, out, sum);
  } else {
    for (uint32_t i = 0; i < out->n; i++) {
      infer_term *t = &out->at[i];
      if (!t->node || t->minus == minus || !infer_type_same(t->node, n)) continue;
      t->node = NULL;
      return;
    }
    infer_term t = {n, minus};
    wick_push(s->mem, out, t);
  }
}

wick_dim wick_infer_span(infer *s, const wick_ast *begin, const wick_ast *end)
{
  infer_terms term = {0};
  wick_dim sum = wick_dim_const(0);
  infer_type_terms(s, end, false, &term, &sum);
  infer_type_terms(s, begin, true, &term, &sum);
  for (uint32_t i = 0; i < term.n; i++)
    if (term.at[i].node) return WICK_DIM_INVALID;
  return sum;
}

static wick_dim infer_type_checked_size(infer *s, wick_ast *n)
{
  wick_dim d = wick_infer_size(s, n);
  int64_t lo, hi;
  if (wick_dim_eq(d, WICK_DIM_INVALID)) {
    bool lost = n->kind == WICK_AST_NAME && !n->ref;
    if (!lost) wick_lang_report(&s->p->sources, n->at, "this is no size");
    return s->t->any;
  }
  wick_dim_range(s->t->dims, d, &lo, &hi);
  if (hi < 0) {
    wick_lang_report(&s->p->sources, n->at, "the size %lld is negative", (long long)hi);
    return s->t->any;
  }
  return d;
}

/* The shape that sizes and at most one `...` make. */
static wick_ty *infer_type_shape(infer *s, wick_lang_at at, uint32_t n, wick_ast *const *size)
{
  wick_dim *dim = wick_new(s->mem, wick_dim, n);
  uint32_t ndim = 0, front = 0;
  wick_ty *rest = NULL;
  if (n > WICK_MAX_RANK) {
    wick_lang_report(&s->p->sources, at, "tensors have at most %d dimensions", WICK_MAX_RANK);
    return s->t->error;
  }
  for (uint32_t i = 0; i < n; i++) {
    wick_ast *k = size[i];
    if (k->kind != WICK_AST_SPREAD) {
      dim[ndim++] = infer_type_checked_size(s, k);
    } else if (rest) {
      wick_lang_report(&s->p->sources, k->at, "a shape has at most one `...`");
    } else if (k->ref) {
      rest = wick_infer_variable(s, k->ref), front = ndim;
    } else {
      return s->t->error;
    }
  }
  return wick_ty_shape(s->t, ndim, dim, rest ? front : ndim, rest);
}

static wick_ty *infer_type_tensor(infer *s, wick_ast *n, wick_ty *elem)
{
  wick_ty *shape = infer_type_shape(s, n->at, n->nkid, n->kid);
  return shape->kind == WICK_TY_ERROR ? shape : wick_ty_tensor(s->t, elem, shape);
}

static wick_ty *infer_type_argument(infer *s, wick_ast *n, const wick_lang_entity *v)
{
  wick_ty_sort sort = (wick_ty_sort)v->state;
  const wick_lang_entity *e = n->ref;
  if (sort == WICK_SORT_SIZE) return wick_ty_size(s->t, infer_type_checked_size(s, n));
  if (sort == WICK_SORT_ELEM) {
    if (e && e->kind == WICK_ENTITY_ELEM && !n->nkid) return s->t->elem[e->elem];
    if (e && e->kind == WICK_ENTITY_VARIABLE && !n->nkid) return wick_infer_variable(s, n->ref);
    if (e || n->kind != WICK_AST_NAME)
      wick_lang_report(&s->p->sources, n->at, "expected an element type for `%s`", v->name);
    return s->t->error;
  }
  if (n->kind == WICK_AST_NAME && e && e->kind == WICK_ENTITY_ELEM)
    return wick_ty_scalar(s->t, e->elem);
  if (n->kind == WICK_AST_NAME && e && e->kind == WICK_ENTITY_VARIABLE) {
    wick_ty *a = wick_infer_variable(s, n->ref);
    return a->kind == WICK_TY_VAR && a->sort == WICK_SORT_ELEM
               ? wick_ty_tensor(s->t, a, s->t->scalar_shape)
               : a;
  }
  if (n->kind == WICK_AST_TYPE_NAME || n->kind == WICK_AST_TYPE_TUPLE ||
      n->kind == WICK_AST_TYPE_FN)
    return wick_infer_annotation(s, n);
  if (n->kind != WICK_AST_NAME)
    wick_lang_report(&s->p->sources, n->at, "expected a type for `%s`", v->name);
  return s->t->error;
}

static wick_ty *infer_type_data(infer *s, wick_ast *n, wick_lang_entity *e)
{
  wick_ty **arg = wick_new(s->mem, wick_ty *, e->nvariable);
  bool shape = e->nvariable && e->variable[e->nvariable - 1]->state == WICK_SORT_SHAPE;
  if (n->nkid != e->nvariable && !(shape && n->nkid + 1 >= e->nvariable)) {
    wick_lang_report(&s->p->sources, n->at, "`%s` takes %u argument%s, found %u", e->name,
                     e->nvariable, e->nvariable == 1 ? "" : "s", n->nkid);
    wick_lang_note(&s->p->sources, e->at, "it is declared here");
    return s->t->error;
  }
  for (uint32_t i = 0; i < e->nvariable; i++)
    arg[i] = shape && i + 1 == e->nvariable ? infer_type_shape(s, n->at, n->nkid - i, n->kid + i)
                                            : infer_type_argument(s, n->kid[i], e->variable[i]);
  wick_ty *a = wick_ty_new(s->t, WICK_TY_DATA, e->nvariable, arg);
  a->data = e;
  return a;
}

static wick_ty *infer_type_cotangent(infer *s, const wick_ast *n, wick_ty *of)
{
  wick_entity_kind kind = s->typed->entity->kind;
  wick_ty *t = NULL;
  if (kind == WICK_ENTITY_TYPE || kind == WICK_ENTITY_STRUCT)
    wick_lang_report(&s->p->sources, n->at, "`Cotangent` is a type of signatures, not of fields");
  else if (!(t = wick_infer_cotangent(s, of)))
    wick_lang_report(&s->p->sources, n->at, "the type whose cotangent this is is not known");
  return t ? t : s->t->error;
}

wick_ty *wick_infer_annotation(infer *s, wick_ast *n)
{
  wick_ty *out = s->t->error;
  wick_ty **arg = wick_new(s->mem, wick_ty *, n->nkid + 1);
  wick_lang_entity *e = n->ref;
  if (n->kind == WICK_AST_TYPE_TUPLE) {
    for (uint32_t i = 0; i < n->nkid; i++) arg[i] = wick_infer_annotation(s, n->kid[i]);
    out = wick_ty_new(s->t, WICK_TY_TUPLE, n->nkid, arg);
  } else if (n->kind == WICK_AST_TYPE_FN) {
    const wick_ast *list = n->kid[0];
    arg = wick_new(s->mem, wick_ty *, list->nkid);
    for (uint32_t i = 0; i < list->nkid; i++) arg[i] = wick_infer_annotation(s, list->kid[i]);
    out = wick_ty_fn(s->t, list->nkid, arg, wick_infer_annotation(s, n->kid[1]));
  } else if (n->kind == WICK_AST_TYPE_NAME && e && e->kind == WICK_ENTITY_ELEM) {
    out = infer_type_tensor(s, n, s->t->elem[e->elem]);
  } else if (n->kind == WICK_AST_TYPE_NAME && e && e->kind == WICK_ENTITY_VARIABLE) {
    wick_ty *v = wick_infer_variable(s, e);
    out = v->kind == WICK_TY_VAR && v->sort == WICK_SORT_ELEM ? infer_type_tensor(s, n, v) : v;
    if (wick_ty_of(out)->kind == WICK_TY_SIZE) out = s->t->error;
    return out;
  } else if (n->kind == WICK_AST_TYPE_NAME && e) {
    out = infer_type_data(s, n, e);
  } else if ((infer_type_is(n, "Ref") || infer_type_is(n, "Cotangent")) && !n->module) {
    if (n->nkid == 1) {
      const wick_lang_entity any = {.name = n->name, .state = WICK_SORT_TYPE};
      arg[0] = infer_type_argument(s, n->kid[0], &any);
      out = infer_type_is(n, "Ref") ? wick_ty_new(s->t, WICK_TY_REF, 1, arg)
                                    : infer_type_cotangent(s, n, arg[0]);
    } else {
      wick_lang_report(&s->p->sources, n->at, "`%s` takes 1 argument, found %u", n->name, n->nkid);
    }
  }
  if (out->kind != WICK_TY_ERROR) out->at = n->at;
  return out;
}

/* ---- data types ---- */

/* Makes the types of the constructors; all variables are generic. */
void wick_infer_data(infer *s, wick_lang_entity *e)
{
  wick_typed *typed = wick_new(s->mem, wick_typed, 1);
  typed->entity = e;
  typed->variable = wick_new(s->mem, wick_ty *, e->nvariable);
  s->typed = e->typed = typed;
  wick_ty *self = wick_ty_new(s->t, WICK_TY_DATA, e->nvariable, NULL);
  self->data = e;
  for (uint32_t i = 0; i < e->nvariable; i++) {
    self->arg[i] = wick_infer_variable(s, e->variable[i]);
    if (self->arg[i]->kind == WICK_TY_VAR) self->arg[i]->level = WICK_TY_GENERIC;
  }
  for (uint32_t k = 0; k < e->nctor; k++) {
    wick_ast *decl = e->ctor[k]->decl;
    wick_ty **field = wick_new(s->mem, wick_ty *, decl->nkid);
    bool is_struct = e->kind == WICK_ENTITY_STRUCT;
    for (uint32_t i = 0; i < decl->nkid; i++)
      field[i] = wick_infer_annotation(s, is_struct ? decl->kid[i]->kid[0] : decl->kid[i]);
    e->ctor[k]->scheme = wick_new(s->mem, wick_scheme, 1);
    e->ctor[k]->scheme->type =
        decl->nkid || is_struct ? wick_ty_fn(s->t, decl->nkid, field, self) : self;
  }
  e->scheme = wick_new(s->mem, wick_scheme, 1);
  e->scheme->type = self;
}

wick_ty *wick_lang_field_type(wick_types *t, wick_ty *self, uint32_t ctor, uint32_t field)
{
  const wick_ty *a = wick_ty_of(self), *c = a->data->ctor[ctor]->scheme->type;
  return wick_ty_substitute(t, c->arg[field], a->n, a->data->scheme->type->arg, a->arg);
}
