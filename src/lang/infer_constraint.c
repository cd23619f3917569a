/* Constraints: what could not be decided where it was found. */
#include <stdarg.h>
#include <stdio.h>

#include "lang/hints.h"
#include "lang/infer_state.h"
#include "lang/library.h"

void wick_infer_need(infer *s, wick_constraint_kind kind, const wick_ast *n,
                     const wick_lang_entity *e, uint32_t narg, wick_ty *const *arg)
{
  wick_constraint c = {.kind = kind, .node = n, .at = n->at, .entity = e, .n = narg};
  c.arg = wick_dup(s->mem, wick_ty *, arg, narg);
  wick_push(s->mem, &s->pending, c);
  wick_infer_solve(s, s->pending.n - 1);
}

void wick_infer_wrong(infer *s, const wick_constraint *c, const char *fmt, ...)
{
  char text[2048];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  wick_lang_report(&s->p->sources, c->at, "%s", text);
  if (c->origin.source) wick_lang_note(&s->p->sources, c->origin, "it is needed here");
}

static void infer_constraint_unify(infer *s, const wick_constraint *c, wick_ty *found,
                                   wick_ty *expected)
{
  wick_clash clash;
  if (wick_unify(s->t, found, expected, &clash)) return;
  bool shape = wick_ty_of(expected)->kind == WICK_TY_SHAPE;
  wick_infer_wrong(s, c, shape ? "expected shape [%s], found [%s]" : "expected %s, found %s",
                   wick_ty_text(s->t, expected), wick_ty_text(s->t, found));
}

/* ---- broadcasting ---- */

typedef enum infer_sizes { SIZES_DIFFER, SIZES_UNKNOWN, SIZES_KNOWN } infer_sizes;

bool wick_infer_open_size(infer *s, wick_dim d)
{
  wick_dim_list list = {0};
  if (wick_dim_is_const(d) || wick_dim_eq(d, s->t->any)) return false;
  wick_dim_symbols(s->t->dims, d, s->mem, &list);
  for (uint32_t i = 0; i < list.n; i++) {
    uint32_t n = (uint32_t)((uint64_t)list.at[i].v - (uint64_t)INT64_MIN);
    if (n < s->t->of_symbol.n && s->t->of_symbol.at[n] &&
        !s->t->dimvars.at[s->t->of_symbol.at[n] - 1].rigid)
      return true;
  }
  return false;
}

static infer_sizes infer_constraint_sizes(infer *s, wick_dim a, wick_dim b, wick_dim *out)
{
  a = wick_ty_dim(s->t, a), b = wick_ty_dim(s->t, b);
  *out = a;
  if (wick_dim_eq(a, b) || wick_dim_is(b, 1)) return SIZES_KNOWN;
  *out = b;
  if (wick_dim_is(a, 1)) return SIZES_KNOWN;
  if (wick_dim_eq(a, s->t->any) || wick_dim_eq(b, s->t->any)) {
    *out = wick_dim_is_const(a) && a.v > 1 ? a : wick_dim_is_const(b) && b.v > 1 ? b : s->t->any;
    return SIZES_KNOWN;
  }
  bool open_a = wick_infer_open_size(s, a), open_b = wick_infer_open_size(s, b);
  if (!open_a && !open_b) return SIZES_DIFFER;
  if (s->last) {
    *out = open_a ? b : a;
    return wick_unify_dims(s->t, a, b) ? SIZES_KNOWN : SIZES_DIFFER;
  }
  if (!open_a && !wick_dim_is(a, 1)) {
    *out = a; /* the other is this size or 1 */
    return SIZES_UNKNOWN;
  }
  *out = b;
  return SIZES_UNKNOWN;
}

static bool infer_constraint_broadcast(infer *s, wick_constraint *c)
{
  wick_ty *a = wick_ty_flat(s->t, c->arg[0]), *b = wick_ty_flat(s->t, c->arg[1]);
  if (a->kind == WICK_TY_ERROR || b->kind == WICK_TY_ERROR) return true;
  bool empty_a = a->kind == WICK_TY_SHAPE && !a->ndim && !a->rest,
       empty_b = b->kind == WICK_TY_SHAPE && !b->ndim && !b->rest;
  if (a == b || empty_a || empty_b) {
    infer_constraint_unify(s, c, empty_a ? b : a, c->arg[2]);
    return true;
  }
  bool same_rest = a->kind == WICK_TY_SHAPE && b->kind == WICK_TY_SHAPE && a->rest && b->rest &&
                   wick_ty_of(a->rest) == wick_ty_of(b->rest) && a->ndim == b->ndim &&
                   a->front == b->front;
  if (!same_rest && (!wick_ty_ranked(s->t, a) || !wick_ty_ranked(s->t, b))) {
    if (s->last) infer_constraint_unify(s, c, a, b), infer_constraint_unify(s, c, a, c->arg[2]);
    return s->last;
  }
  uint32_t n = a->ndim > b->ndim ? a->ndim : b->ndim;
  wick_dim *dim = wick_new(s->mem, wick_dim, n);
  bool known = true;
  for (uint32_t i = 0; i < n; i++) {
    wick_dim x = i < n - a->ndim ? wick_dim_const(1) : a->dim[i - (n - a->ndim)],
             y = i < n - b->ndim ? wick_dim_const(1) : b->dim[i - (n - b->ndim)];
    infer_sizes r = infer_constraint_sizes(s, x, y, &dim[i]);
    if (r == SIZES_DIFFER) {
      wick_text t = wick_text_begin(s->mem);
      wick_ty_printer p = {.t = s->t, .out = &t};
      wick_text_add(&t, "shapes do not broadcast: [");
      wick_ty_print(&p, a);
      wick_text_add(&t, "] and [");
      wick_ty_print(&p, b);
      wick_text_add(&t, "]: size ");
      wick_ty_print_dim(&p, x);
      wick_text_add(&t, " is not ");
      wick_ty_print_dim(&p, y);
      wick_infer_wrong(s, c, "%s", t.at);
      bool here = !c->origin.source && c->node->kind == WICK_AST_BINARY;
      for (uint32_t k = 0; here && k < c->node->nkid && k < 2; k++) {
        wick_ty *o = wick_ty_of(s->typed->type[c->node->kid[k]->id]);
        if (o->at.source && o->at.begin != c->node->kid[k]->at.begin)
          wick_lang_note(&s->p->sources, o->at, "%s comes from here", wick_ty_text(s->t, o));
      }
      if (!wick_dim_is_const(x) || !wick_dim_is_const(y)) wick_infer_help_sizes(s);
      wick_clash ignored;
      (void)wick_unify(s->t, c->arg[2], s->t->error, &ignored);
      return true;
    }
    /* Unless one of two sizes is known not to be 1, the result is not known. */
    if (r == SIZES_UNKNOWN) {
      known = false;
      if (!wick_dim_is_const(dim[i]) || dim[i].v < 2) dim[i] = WICK_DIM_INVALID;
    }
  }
  wick_ty *out = wick_ty_flat(s->t, c->arg[2]);
  if (!known && out->kind != WICK_TY_VAR) return false;
  for (uint32_t i = 0; i < n; i++)
    if (wick_dim_eq(dim[i], WICK_DIM_INVALID)) dim[i] = wick_ty_size_var(s->t);
  infer_constraint_unify(s, c, wick_ty_shape(s->t, n, dim, a->front, same_rest ? a->rest : NULL),
                         c->arg[2]);
  return known;
}

/* ---- fields ---- */

/* x.f where x has no fields: f is a function, or x a module that is not read. */
static void infer_constraint_field_help(infer *s, const wick_ast *n, const wick_ty *object)
{
  const char *help = wick_lang_foreign_value(n->name), *module = n->kid[0]->name;
  if (object->kind == WICK_TY_FN && n->kid[0]->kind == WICK_AST_NAME &&
      wick_lang_library_find(module))
    wick_lang_help(&s->p->sources, "`use %s` reads the module of the library", module);
  else if (object->kind == WICK_TY_TENSOR && wick_lang_map_get(&s->p->forms, n->name))
    wick_lang_help(&s->p->sources, "functions take values as arguments: `%s(x)`", n->name);
  else if (object->kind == WICK_TY_REF)
    wick_lang_help(&s->p->sources, "`read(r)` is the value that a reference holds");
  else if (object->kind == WICK_TY_TENSOR && help)
    wick_lang_help(&s->p->sources, "%s", help);
}

static bool infer_constraint_field(infer *s, wick_constraint *c)
{
  const wick_ast *n = c->node;
  wick_ty *o = wick_ty_of(c->arg[0]);
  if (o->kind == WICK_TY_ERROR) {
    infer_constraint_unify(s, c, c->arg[1], s->t->error);
    wick_ty *r = wick_ty_of(c->arg[1]);
    if (r->kind == WICK_TY_VAR && !r->rigid) r->link = s->t->error;
    return true;
  }
  if (o->kind == WICK_TY_VAR && !o->rigid) {
    if (wick_infer_asks(s))
      wick_infer_wrong(s, c, "the type of this object is not known; give its type");
    return s->last;
  }
  if (!n->name && o->kind == WICK_TY_TUPLE && n->i >= 0 && n->i < o->n) {
    infer_constraint_unify(s, c, o->arg[n->i], c->arg[1]);
    return true;
  }
  wick_ty *of = o->kind == WICK_TY_COT ? wick_ty_of(o->arg[0]) : o;
  const wick_lang_entity *e = of->kind == WICK_TY_DATA ? of->data : NULL;
  if (n->name && e && e->kind == WICK_ENTITY_STRUCT) {
    const wick_ast *list = e->ctor[0]->decl;
    const char *near = NULL;
    size_t least = 3;
    for (uint32_t i = 0; i < list->nkid; i++) {
      if (list->kid[i]->name == n->name) {
        wick_ty *field = wick_lang_field_type(s->t, of, 0, i);
        if (of != o) field = wick_infer_cotangent(s, field);
        if (field) infer_constraint_unify(s, c, field, c->arg[1]);
        return field || s->last;
      }
      size_t d = wick_str_distance(list->kid[i]->name, n->name);
      if (d < least && d < strlen(n->name)) least = d, near = list->kid[i]->name;
    }
    wick_infer_wrong(s, c, "%s has no field `%s`%s%s%s", wick_ty_text(s->t, o), n->name,
                     near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    wick_lang_note(&s->p->sources, e->at, "it is declared here");
  } else if (!n->name) {
    wick_infer_wrong(s, c, "%s has no item %lld", wick_ty_text(s->t, o), (long long)n->i);
  } else {
    wick_infer_wrong(s, c, "%s has no fields", wick_ty_text(s->t, o));
    infer_constraint_field_help(s, n, o);
  }
  wick_ty *r = wick_ty_of(c->arg[1]);
  if (r->kind == WICK_TY_VAR && !r->rigid) r->link = s->t->error;
  return true;
}

/* ---- indices ---- */

/* The size of begin:end:step of a dimension of size d. */
static wick_dim infer_constraint_slice(infer *s, const wick_constraint *c, const wick_ty *part,
                                       wick_dim d)
{
  wick_dims *t = s->t->dims;
  wick_dim end[3] = {wick_dim_const(0), d, wick_dim_const(1)};
  for (uint32_t i = 0; i < 3; i++) {
    const wick_ty *k = wick_ty_of(part->arg[i]);
    if (k->kind != WICK_TY_SIZE) continue;
    end[i] = wick_ty_dim(s->t, k->size);
    if (i < 2 && wick_dim_is_const(end[i]) && end[i].v < 0) end[i] = wick_dim_add(t, d, end[i]);
  }
  if (wick_dim_is_const(end[2]) && end[2].v < 1) {
    wick_infer_wrong(s, c, "the step %lld of a slice is not positive", (long long)end[2].v);
    return s->t->any;
  }
  for (uint32_t i = 0; i < 3; i++)
    if (wick_dim_eq(end[i], s->t->any)) return s->t->any;
  wick_dim over = wick_dim_sub(t, end[1], d), size = wick_dim_sub(t, end[1], end[0]);
  int64_t lo, hi;
  wick_dim_range(t, over, &lo, &hi);
  if (lo > 0 && !wick_dim_eq(d, s->t->any)) {
    wick_infer_wrong(s, c, "the slice ends at %lld, beyond the size %lld", (long long)end[1].v,
                     (long long)d.v);
    return s->t->any;
  }
  wick_dim_range(t, size, &lo, &hi);
  if (hi < 0) {
    wick_infer_wrong(s, c, "the slice begins after its end");
    return s->t->any;
  }
  return wick_dim_is(end[2], 1) ? size : wick_dim_ceildiv(t, size, end[2]);
}

bool wick_infer_solve_index(infer *s, wick_constraint *c)
{
  wick_ty *tensor = wick_ty_of(c->arg[0]);
  if (tensor->kind != WICK_TY_TENSOR) return true;
  wick_ty *shape = wick_ty_flat(s->t, tensor->arg[1]);
  uint32_t npart = c->n - 2, ndim = 0;
  if (shape->kind == WICK_TY_ERROR) return true;
  if (shape->kind != WICK_TY_SHAPE || (shape->rest && shape->front < npart)) {
    if (wick_infer_asks(s))
      wick_infer_wrong(s, c, "the number of dimensions is not known; give the type");
    return s->last;
  }
  if (shape->ndim < npart) {
    wick_infer_wrong(s, c, "%s has %u dimension%s, and gets %u ind%s", wick_ty_text(s->t, tensor),
                     shape->ndim, shape->ndim == 1 ? "" : "s", npart, npart == 1 ? "ex" : "ices");
    wick_ty *r = wick_ty_of(wick_ty_of(c->arg[1])->arg[1]);
    if (r->kind == WICK_TY_VAR && !r->rigid) r->link = s->t->error;
    return true;
  }
  for (uint32_t i = 0; i < npart; i++) {
    wick_ty *k = wick_ty_of(c->arg[i + 2]);
    if (k->kind != WICK_TY_TENSOR || wick_ty_ranked(s->t, k->arg[1])) continue;
    wick_clash clash;
    if (!s->last) return false;
    (void)wick_unify(s->t, k->arg[1], s->t->scalar_shape, &clash);
  }
  wick_dim dim[3 * WICK_MAX_RANK];
  bool list = false;
  for (uint32_t i = 0; i < npart; i++) {
    wick_ty *k = wick_ty_of(c->arg[i + 2]);
    wick_dim d = wick_ty_dim(s->t, shape->dim[i]);
    if (k->kind == WICK_TY_TUPLE) {
      dim[ndim++] = infer_constraint_slice(s, c, k, d);
      continue;
    }
    if (k->kind != WICK_TY_TENSOR) continue;
    const wick_ast *ast = c->node->kid[i + 1];
    bool minus = ast->kind == WICK_AST_UNARY && ast->op == '-';
    const wick_ast *number = minus ? ast->kid[0] : ast;
    if (number->kind == WICK_AST_INT && wick_dim_is_const(d) &&
        (minus ? number->i > d.v : number->i >= d.v))
      wick_infer_wrong(s, c, "the index %s%lld is outside of the size %lld", minus ? "-" : "",
                       (long long)number->i, (long long)d.v);
    const wick_ty *ks = wick_ty_flat(s->t, k->arg[1]);
    if (ks->ndim && list) wick_infer_wrong(s, c, "only one index may be a tensor of indices");
    list = list || ks->ndim;
    for (uint32_t j = 0; j < ks->ndim && ndim < 2 * WICK_MAX_RANK; j++) dim[ndim++] = ks->dim[j];
  }
  uint32_t front = ndim + (shape->rest ? shape->front - npart : shape->ndim - npart);
  for (uint32_t i = npart; i < shape->ndim; i++) dim[ndim++] = shape->dim[i];
  if (ndim > WICK_MAX_RANK) {
    wick_infer_wrong(s, c, "tensors have at most %d dimensions", WICK_MAX_RANK);
    return true;
  }
  infer_constraint_unify(s, c, wick_ty_shape(s->t, ndim, dim, front, shape->rest),
                         wick_ty_of(c->arg[1])->arg[1]);
  return true;
}

/* ---- all ---- */

static bool infer_constraint_solve(infer *s, wick_constraint *c)
{
  switch (c->kind) {
  case WICK_NEEDS_BROADCAST: return infer_constraint_broadcast(s, c);
  case WICK_NEEDS_OPERATOR: return wick_infer_solve_operator(s, c);
  case WICK_NEEDS_INDEX: return wick_infer_solve_index(s, c);
  case WICK_NEEDS_FIELD: return infer_constraint_field(s, c);
  case WICK_NEEDS_COTANGENT: return wick_infer_solve_cotangent(s, c);
  case WICK_NEEDS_BATCH: return wick_infer_solve_batch(s, c);
  case WICK_NEEDS_MEMBER: return wick_infer_solve_member(s, c);
  case WICK_NEEDS_INSIDE: return wick_infer_solve_inside(s, c);
  case WICK_NEEDS_RANGE: return wick_infer_solve_range(s, c);
  default: return wick_infer_solve_form(s, c);
  }
}

void wick_infer_solve(infer *s, uint32_t from)
{
  bool progress = true;
  while (progress) {
    progress = false;
    for (uint32_t i = from; i < s->pending.n; i++) {
      wick_constraint c = s->pending.at[i]; /* solving may add others */
      if (c.done || s->t->exhausted) continue;
      s->pending.at[i].done = true;
      if (infer_constraint_solve(s, &c))
        progress = true;
      else
        s->pending.at[i].done = false;
    }
    uint32_t to = from;
    for (uint32_t i = from; i < s->pending.n; i++)
      if (!s->pending.at[i].done) s->pending.at[to++] = s->pending.at[i];
    s->pending.n = to;
    if (to == from) break;
  }
}
