/* Index notation: the elements are expressions like any other; indices are i64, and their ranges
 * follow from what they index.
 *
 * An index that is alone in a place of a tensor has the range of that dimension; others have the
 * largest range for which all reads are inside, or the size that the user writes. A read under a
 * condition on its indices decides no range, and is inside if the condition says so. */
#include "lang/infer_state.h"
#include "lang/lex.h"

/* ---- affine expressions ---- */

bool wick_infer_is_index(const wick_ast *n)
{
  return n->kind == WICK_AST_NAME && n->ref && n->ref->kind == WICK_ENTITY_LOCAL &&
         n->ref->decl->kind == WICK_AST_INDEX_NAME;
}

static wick_dim affine_add(infer *s, wick_dim a, wick_dim b, int64_t sign)
{
  if (wick_dim_eq(a, s->t->any) || wick_dim_eq(b, s->t->any)) return s->t->any;
  return wick_dim_add(s->t->dims, a, wick_dim_mul(s->t->dims, b, wick_dim_const(sign)));
}

static wick_dim affine_mul(infer *s, wick_dim a, wick_dim b)
{
  if (wick_dim_eq(a, s->t->any) || wick_dim_eq(b, s->t->any)) return s->t->any;
  return wick_dim_mul(s->t->dims, a, b);
}

/* *out += sign * x */
static bool affine_sum(infer *s, wick_affine *out, const wick_affine *x, int64_t sign)
{
  out->offset = affine_add(s, out->offset, x->offset, sign);
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t k = 0;
    while (k < out->n && out->index[k] != x->index[i]) k++;
    if (k == WICK_MAX_RANK) return false;
    if (k == out->n) {
      out->index[out->n] = x->index[i];
      out->coef[out->n++] = wick_dim_const(0);
    }
    out->coef[k] = affine_add(s, out->coef[k], x->coef[i], sign);
    if (!wick_dim_is(out->coef[k], 0)) continue;
    out->n--;
    for (; k < out->n; k++) out->index[k] = out->index[k + 1], out->coef[k] = out->coef[k + 1];
  }
  return true;
}

bool wick_infer_affine(infer *s, const wick_ast *n, wick_affine *out)
{
  wick_affine a, b;
  *out = (wick_affine){.offset = wick_dim_const(0)};
  if (wick_infer_is_index(n)) {
    out->n = 1, out->index[0] = n->ref, out->coef[0] = wick_dim_const(1);
    return true;
  }
  wick_dim d = wick_infer_size(s, n);
  if (!wick_dim_eq(d, WICK_DIM_INVALID)) {
    out->offset = d;
    return true;
  }
  if (n->kind == WICK_AST_UNARY && n->op == '-')
    return wick_infer_affine(s, n->kid[0], &a) && affine_sum(s, out, &a, -1);
  if (n->kind != WICK_AST_BINARY || (n->op != '+' && n->op != '-' && n->op != '*')) return false;
  if (!wick_infer_affine(s, n->kid[0], &a) || !wick_infer_affine(s, n->kid[1], &b)) return false;
  if (n->op != '*') {
    *out = a;
    return affine_sum(s, out, &b, n->op == '+' ? 1 : -1);
  }
  const wick_affine *x = a.n ? &a : &b, *k = a.n ? &b : &a;
  if (k->n) return false;
  *out = *x;
  out->offset = affine_mul(s, x->offset, k->offset);
  for (uint32_t i = 0; i < x->n; i++) out->coef[i] = affine_mul(s, x->coef[i], k->offset);
  return true;
}

bool wick_lang_affine(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                      wick_affine *out)
{
  wick_typed typed = *f;
  infer s = {.p = p, .t = t, .mem = p->mem, .typed = &typed};
  return wick_infer_affine(&s, n, out);
}

/* ---- conditions ---- */

/* Adds x - y - strict >= 0. */
static void guard_add(infer *s, wick_guards *g, const wick_affine *x, const wick_affine *y,
                      bool strict)
{
  wick_affine e = *x;
  if (!affine_sum(s, &e, y, -1)) return;
  if (strict) e.offset = affine_add(s, e.offset, wick_dim_const(1), -1);
  wick_push(s->mem, g, e);
}

bool wick_infer_guards(infer *s, const wick_ast *n, bool holds, wick_guards *out)
{
  if (n->kind == WICK_AST_UNARY && n->op == '!')
    return wick_infer_guards(s, n->kid[0], !holds, out);
  if (n->kind == WICK_AST_BLOCK && n->nkid == 1) n = n->kid[0];
  if (n->kind != WICK_AST_BINARY) return false;
  if (n->op == (holds ? WICK_TOKEN_AND : WICK_TOKEN_OR)) {
    bool first = wick_infer_guards(s, n->kid[0], holds, out);
    return wick_infer_guards(s, n->kid[1], holds, out) && first;
  }
  static const struct {
    int op;
    bool swap, strict; /* left - right >= strict, or right - left */
  } rule[] = {{WICK_TOKEN_GE, false, false},
              {'>', false, true},
              {WICK_TOKEN_LE, true, false},
              {'<', true, true}};
  wick_affine a, b;
  if (!wick_infer_affine(s, n->kid[0], &a) || !wick_infer_affine(s, n->kid[1], &b)) return false;
  if (n->op == (holds ? WICK_TOKEN_EQ : WICK_TOKEN_NE)) {
    guard_add(s, out, &a, &b, false), guard_add(s, out, &b, &a, false);
    return true;
  }
  for (uint32_t i = 0; i < 4; i++) {
    if (n->op != rule[i].op) continue;
    bool swap = rule[i].swap == holds, strict = rule[i].strict == holds;
    guard_add(s, out, swap ? &b : &a, swap ? &a : &b, strict);
    return true;
  }
  return false;
}

bool wick_lang_guards(wick_lang_program *p, wick_types *t, const wick_typed *f, const wick_ast *n,
                      wick_guards *out)
{
  wick_typed typed = *f;
  infer s = {.p = p, .t = t, .mem = p->mem, .typed = &typed};
  return wick_infer_guards(&s, n, true, out);
}

/* ---- reads ---- */

typedef struct notation_read { /* one place of a tensor */
  const wick_ast *part;
  wick_affine at;
  wick_dim size;
  bool guarded;           /* a condition on its indices holds */
  bool above, below;      /* its range makes it inside: it need not be checked */
  uint32_t begin, nguard; /* of notation.guards */
} notation_read;

typedef struct notation {
  infer *s;
  wick_guards guards; /* those that hold here */
  wick_guards all;    /* of the reads */
  wick_list(notation_read) reads;
  wick_list(const wick_ast *) indices; /* the declarations */
  uint32_t before;                     /* problems when the element began */
} notation;

static wick_dim *notation_range(notation *c, const wick_lang_entity *e)
{
  wick_ty *t = c->s->typed->type[e->decl->id];
  return t ? &wick_ty_of(t)->size : NULL;
}

static void notation_set(notation *c, const wick_lang_entity *e, wick_dim size, wick_lang_at at)
{
  wick_ty *t = wick_ty_size(c->s->t, size);
  t->at = at;
  c->s->typed->type[e->decl->id] = t;
}

static bool notation_is_plain(const wick_affine *a)
{
  return a->n == 1 && wick_dim_is(a->coef[0], 1) && wick_dim_is(a->offset, 0);
}

static bool notation_shares(const wick_affine *a, const wick_affine *b)
{
  for (uint32_t i = 0; i < a->n; i++)
    for (uint32_t k = 0; k < b->n; k++)
      if (a->index[i] == b->index[k]) return true;
  return false;
}

/* An index that is alone in a place has the range of the dimension. */
static void notation_plain(notation *c, const notation_read *r)
{
  infer *s = c->s;
  const wick_lang_entity *e = r->at.index[0];
  const wick_dim *range = notation_range(c, e);
  if (!range) {
    notation_set(c, e, r->size, r->part->at);
    return;
  }
  if (wick_unify_dims(s->t, *range, r->size)) return;
  const wick_ty *old = s->typed->type[e->decl->id];
  wick_lang_report(
      &s->p->sources, r->part->at, "the index `%s` ranges over %s here, and over %s elsewhere",
      e->name, wick_ty_text(s->t, wick_ty_size(s->t, r->size)), wick_ty_text(s->t, (wick_ty *)old));
  wick_lang_note(&s->p->sources, old->at, "its range comes from here");
}

static void notation_part(notation *c, const wick_ast *k, wick_dim size)
{
  infer *s = c->s;
  notation_read r = {.part = k, .size = size};
  if (k->kind == WICK_AST_SLICE) {
    wick_lang_report(&s->p->sources, k->at,
                     "index notation has no slices: give the dimension an index");
    return;
  }
  if (!wick_infer_affine(s, k, &r.at)) return;
  if (!r.at.n && (wick_dim_is_const(r.at.offset) ? r.at.offset.v < 0 : false)) return;
  if (!r.at.n && k->kind == WICK_AST_INT) return; /* checked as any index is */
  r.begin = c->all.n;
  for (uint32_t i = 0; i < c->guards.n; i++) {
    if (!notation_shares(&c->guards.at[i], &r.at)) continue;
    wick_push(s->mem, &c->all, c->guards.at[i]);
    r.nguard++;
  }
  r.guarded = r.nguard > 0;
  wick_push(s->mem, &c->reads, r);
}

static void notation_walk(notation *c, const wick_ast *n)
{
  infer *s = c->s;
  if (n->kind == WICK_AST_IF) {
    uint32_t mark = c->guards.n;
    notation_walk(c, n->kid[0]);
    for (uint32_t arm = 1; arm < 3; arm++) {
      if (!n->kid[arm]) continue;
      wick_infer_guards(s, n->kid[0], arm == 1, &c->guards);
      notation_walk(c, n->kid[arm]);
      c->guards.n = mark;
    }
    return;
  }
  if (n->kind == WICK_AST_REDUCE)
    for (uint32_t i = 0; i < n->kid[0]->nkid; i++)
      wick_push(s->mem, &c->indices, n->kid[0]->kid[i]);
  for (uint32_t i = n->kind == WICK_AST_REDUCE ? 1 : 0; i < n->nkid; i++)
    if (n->kid[i]) notation_walk(c, n->kid[i]);
  if (n->kind != WICK_AST_INDEX || !s->typed->type[n->kid[0]->id]) return;
  const wick_ty *t = wick_ty_of(s->typed->type[n->kid[0]->id]);
  if (t->kind != WICK_TY_TENSOR || !wick_ty_ranked(s->t, t->arg[1])) return;
  const wick_ty *shape = wick_ty_flat(s->t, t->arg[1]);
  for (uint32_t i = 0; i + 1 < n->nkid && i < shape->ndim; i++)
    notation_part(c, n->kid[i + 1], wick_ty_dim(s->t, shape->dim[i]));
}

/* ---- ranges ---- */

/* The least or the greatest value of an affine expression, without the index `but`. INVALID: an
 * index has no range yet; `?`: it depends on what is not known here. */
static wick_dim notation_extreme(notation *c, const wick_affine *a, bool greatest,
                                 const wick_lang_entity *but)
{
  infer *s = c->s;
  wick_dim sum = a->offset;
  for (uint32_t i = 0; i < a->n; i++) {
    int64_t lo, hi;
    if (a->index[i] == but) continue;
    const wick_dim *range = notation_range(c, a->index[i]);
    if (!range) return WICK_DIM_INVALID;
    if (wick_dim_eq(a->coef[i], s->t->any)) return s->t->any;
    wick_dim_range(s->t->dims, a->coef[i], &lo, &hi);
    if (lo < 0 && hi > 0) return s->t->any;
    if (greatest != (lo >= 0)) continue;
    wick_dim last = affine_add(s, wick_ty_dim(s->t, *range), wick_dim_const(1), -1);
    sum = affine_add(s, sum, affine_mul(s, a->coef[i], last), 1);
  }
  return sum;
}

/* The largest range of its index k for which a read is inside; INVALID: not known yet. */
static wick_dim notation_fits(notation *c, const notation_read *r, uint32_t k)
{
  infer *s = c->s;
  wick_dims *d = s->t->dims;
  int64_t lo, hi;
  wick_dim coef = r->at.coef[k];
  wick_dim_range(d, coef, &lo, &hi);
  bool any = wick_dim_eq(coef, s->t->any) || (lo < 1 && hi > -1);
  wick_dim rest = notation_extreme(c, &r->at, lo > 0, r->at.index[k]);
  if (wick_dim_eq(rest, WICK_DIM_INVALID)) return rest;
  if (any || wick_dim_eq(rest, s->t->any) || wick_dim_eq(r->size, s->t->any)) return s->t->any;
  wick_dim room =
      lo > 0 ? affine_add(s, affine_add(s, r->size, wick_dim_const(1), -1), rest, -1) : rest;
  if (lo < 0) coef = wick_dim_sub(d, wick_dim_const(0), coef);
  return wick_dim_floordiv(d, affine_add(s, room, coef, 1), coef);
}

/* One round over the reads with one index without a range; returns whether one got a range. */
static bool notation_round(notation *c)
{
  infer *s = c->s;
  bool any = false;
  for (uint32_t i = 0; i < c->indices.n; i++) {
    const wick_lang_entity *e = c->indices.at[i]->ref;
    wick_dim least = WICK_DIM_INVALID;
    wick_lang_at at = c->indices.at[i]->at;
    if (!e || notation_range(c, e)) continue;
    for (uint32_t j = 0; j < c->reads.n; j++) {
      notation_read *r = &c->reads.at[j];
      uint32_t k = 0;
      while (k < r->at.n && r->at.index[k] != e) k++;
      if (k == r->at.n || r->guarded) continue;
      wick_dim n = notation_fits(c, r, k);
      if (wick_dim_eq(n, WICK_DIM_INVALID)) continue;
      bool first = wick_dim_eq(least, WICK_DIM_INVALID);
      int64_t lo, hi;
      if (first || wick_dim_eq(n, s->t->any))
        least = n;
      else if (!wick_dim_eq(least, s->t->any))
        least = wick_dim_min(s->t->dims, least, n);
      if (first) at = r->part->at;
      wick_dim_range(s->t->dims, r->at.coef[k], &lo, &hi);
      *(lo > 0 ? &r->above : &r->below) = true;
    }
    if (wick_dim_eq(least, WICK_DIM_INVALID)) continue;
    notation_set(c, e, least, at);
    any = true;
  }
  return any;
}

static void notation_explicit(notation *c)
{
  infer *s = c->s;
  for (uint32_t i = 0; i < c->indices.n; i++) {
    const wick_ast *k = c->indices.at[i];
    if (!k->nkid || !k->ref) continue;
    wick_dim d = wick_infer_size(s, k->kid[0]);
    if (wick_dim_eq(d, WICK_DIM_INVALID)) {
      wick_lang_report(&s->p->sources, k->kid[0]->at,
                       "the size of the index `%s` must be a number or a size", k->name);
      d = s->t->any;
    }
    notation_set(c, k->ref, d, k->kid[0]->at);
  }
}

/* Indices of a result that index nothing have the sizes that the signature says. */
static void notation_declared(notation *c, const wick_ast *index, wick_ty *want)
{
  const wick_ty *t = wick_ty_of(want);
  if (t->kind != WICK_TY_TENSOR || !wick_ty_ranked(c->s->t, t->arg[1])) return;
  const wick_ty *shape = wick_ty_flat(c->s->t, t->arg[1]);
  for (uint32_t i = 0; i < index->nkid && i < shape->ndim && shape->ndim == index->nkid; i++)
    if (index->kid[i]->ref && !notation_range(c, index->kid[i]->ref))
      notation_set(c, index->kid[i]->ref, wick_ty_dim(c->s->t, shape->dim[i]), index->kid[i]->at);
}

static void notation_free(notation *c)
{
  infer *s = c->s;
  bool first = s->p->sources.problems.n == c->before; /* else it may follow from those */
  for (uint32_t i = 0; i < c->indices.n; i++) {
    const wick_ast *k = c->indices.at[i];
    if (!k->ref || notation_range(c, k->ref)) continue;
    bool used = false;
    for (uint32_t j = 0; j < c->reads.n && !used; j++)
      for (uint32_t m = 0; m < c->reads.at[j].at.n; m++)
        used = used || c->reads.at[j].at.index[m] == k->ref;
    if (first)
      wick_lang_report(
          &s->p->sources, k->at,
          used ? "the range of the index `%s` is not known: give it a size, as in `%s: n`"
               : "the range of the index `%s` is not known: it indexes nothing",
          k->name, k->name);
    notation_set(c, k->ref, s->t->any, k->at);
  }
}

/* ---- bounds ---- */

/* The bound of an expression that follows from the ranges, or from a condition: e >= e - g where
 * g >= 0. */
static wick_dim notation_bound(notation *c, const notation_read *r, bool greatest)
{
  infer *s = c->s;
  wick_dim best = notation_extreme(c, &r->at, greatest, NULL);
  for (uint32_t i = 0; i < r->nguard; i++) {
    wick_affine e = r->at;
    if (!affine_sum(s, &e, &c->all.at[r->begin + i], greatest ? 1 : -1)) continue;
    if (e.n >= r->at.n) continue; /* about other indices */
    wick_dim d = notation_extreme(c, &e, greatest, NULL);
    if (wick_dim_eq(d, s->t->any)) continue;
    if (wick_dim_eq(best, s->t->any))
      best = d;
    else
      best = greatest ? wick_dim_min(s->t->dims, best, d) : wick_dim_max(s->t->dims, best, d);
  }
  return best;
}

static void notation_inside(notation *c, const notation_read *r)
{
  infer *s = c->s;
  wick_dim zero = wick_dim_const(0), size = wick_ty_dim(s->t, r->size);
  wick_dim lo = r->below ? zero : notation_bound(c, r, false), hi = zero;
  if (wick_dim_eq(size, s->t->any)) return; /* the running program checks it */
  hi = r->above ? affine_add(s, size, wick_dim_const(1), -1) : notation_bound(c, r, true);
  if (wick_dim_eq(lo, s->t->any) || wick_dim_eq(hi, s->t->any)) return;
  wick_ty *arg[3 + WICK_MAX_RANK] = {wick_ty_size(s->t, lo), wick_ty_size(s->t, hi),
                                     wick_ty_size(s->t, size)};
  for (uint32_t i = 0; i < r->at.n; i++)
    arg[3 + i] = wick_ty_size(s->t, wick_ty_dim(s->t, *notation_range(c, r->at.index[i])));
  wick_infer_need(s, WICK_NEEDS_INSIDE, r->part, NULL, 3 + r->at.n, arg);
}

/* Adds the names of the indices of n, each once, in the order of wick_infer_affine. */
static void notation_names(const wick_ast *n, uint32_t *count, const char **name)
{
  if (wick_infer_is_index(n)) {
    for (uint32_t i = 0; i < *count; i++)
      if (name[i] == n->name) return;
    if (*count < WICK_MAX_RANK) name[(*count)++] = n->name;
  }
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i]) notation_names(n->kid[i], count, name);
}

bool wick_infer_solve_inside(infer *s, wick_constraint *c)
{
  wick_dim v[3 + WICK_MAX_RANK];
  int64_t lo, hi, least, most;
  for (uint32_t i = 0; i < c->n; i++) {
    v[i] = wick_ty_dim(s->t, wick_ty_of(c->arg[i])->size);
    if (wick_dim_eq(v[i], s->t->any)) return true;
    if (i < 3) continue;
    wick_dim_range(s->t->dims, v[i], &lo, &hi);
    if (wick_dim_is(v[i], 0)) return true; /* nothing is read */
  }
  wick_dim_range(s->t->dims, v[0], &lo, &hi);
  wick_dim_range(s->t->dims, affine_add(s, v[1], v[2], -1), &least, &most);
  if (lo >= 0 && most < 0) return true;
  bool outside = hi < 0 || least >= 0;
  if (!outside && !s->last) return false;
  const char *name[WICK_MAX_RANK];
  uint32_t n = 0;
  notation_names(c->node, &n, name);
  wick_text t = wick_text_begin(s->mem);
  for (uint32_t i = 0; i + 3 < c->n; i++)
    wick_text_printf(&t, "%s`%s` ranges over %s", i ? ", " : "", i < n ? name[i] : "?",
                     wick_ty_text(s->t, wick_ty_size(s->t, v[i + 3])));
  wick_infer_wrong(s, c, "indices from %s to %s %s outside of the size %s%s%s%s",
                   wick_ty_text(s->t, wick_ty_size(s->t, v[0])),
                   wick_ty_text(s->t, wick_ty_size(s->t, v[1])), outside ? "are" : "may be",
                   wick_ty_text(s->t, wick_ty_size(s->t, v[2])), t.n ? " (" : "", t.n ? t.at : "",
                   t.n ? ")" : "");
  return true;
}

bool wick_infer_solve_range(infer *s, wick_constraint *c)
{
  int64_t lo, hi;
  wick_dim d = wick_ty_dim(s->t, wick_ty_of(c->arg[0])->size);
  if (wick_dim_eq(d, s->t->any)) return true;
  wick_dim_range(s->t->dims, d, &lo, &hi);
  if (lo >= 0) return true;
  if (hi >= 0) return s->last;
  wick_infer_wrong(s, c, "the index `%s` ranges over %s: what it indexes is too small",
                   c->node->name, wick_ty_text(s->t, c->arg[0]));
  return true;
}

/* ---- operators ---- */

/* Tensors that are locals have as many dimensions as they get indices. */
static void notation_ranks(notation *c, wick_ast *n)
{
  infer *s = c->s;
  if (n->kind == WICK_AST_REDUCE) {
    for (uint32_t i = 0; i < n->kid[0]->nkid; i++)
      if (n->kid[0]->kid[i]->ref)
        s->typed->local[n->kid[0]->kid[i]->ref->number] = wick_ty_scalar(s->t, WICK_I64);
  }
  for (uint32_t i = 0; i < n->nkid; i++)
    if (n->kid[i]) notation_ranks(c, n->kid[i]);
  const wick_ast *x = n->kind == WICK_AST_INDEX ? n->kid[0] : NULL;
  uint32_t npart = n->nkid - 1;
  if (!x || x->kind != WICK_AST_NAME || !x->ref || x->ref->kind != WICK_ENTITY_LOCAL ||
      !s->typed->local[x->ref->number] || npart > WICK_MAX_RANK)
    return;
  const wick_ty *t = wick_ty_of(s->typed->local[x->ref->number]);
  bool ranked = t->kind == WICK_TY_TENSOR && wick_ty_ranked(s->t, t->arg[1]);
  uint32_t ndim = ranked ? wick_ty_flat(s->t, t->arg[1])->ndim : 0;
  if (ranked && npart < ndim) /* more than enough are a mistake in any expression */
    wick_lang_report(&s->p->sources, n->at,
                     "%s has %u dimension%s, and gets %u ind%s: each dimension needs one",
                     wick_ty_text(s->t, s->typed->local[x->ref->number]), ndim,
                     ndim == 1 ? "" : "s", npart, npart == 1 ? "ex" : "ices");
  if (ranked || (t->kind != WICK_TY_VAR && t->kind != WICK_TY_TENSOR)) return;
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < npart; i++) dim[i] = wick_ty_size_var(s->t);
  wick_ty *want = wick_ty_tensor(s->t, wick_ty_var(s->t, WICK_SORT_ELEM),
                                 wick_ty_shape(s->t, npart, dim, npart, NULL));
  wick_infer_expect(s, x, s->typed->local[x->ref->number], want, "what is indexed");
}

static wick_ty *notation_define(infer *s, wick_ast *n, wick_ty *want)
{
  wick_ast *index = n->kid[0];
  notation c = {.s = s, .before = s->p->sources.problems.n};
  wick_dim dim[WICK_MAX_RANK];
  wick_ty *elem = wick_ty_var(s->t, WICK_SORT_ELEM);
  if (index->nkid > WICK_MAX_RANK) {
    wick_lang_report(&s->p->sources, index->at, "a result has at most %d indices", WICK_MAX_RANK);
    return s->t->error;
  }
  for (uint32_t i = 0; i < index->nkid; i++) {
    if (index->kid[i]->ref)
      s->typed->local[index->kid[i]->ref->number] = wick_ty_scalar(s->t, WICK_I64);
    wick_push(s->mem, &c.indices, index->kid[i]);
  }
  notation_ranks(&c, n->kid[1]);
  wick_ty *body = wick_infer_expr(s, n->kid[1]);
  if (s->p->sources.problems.n == c.before)
    wick_infer_expect(s, n->kid[1], body, wick_ty_tensor(s->t, elem, s->t->scalar_shape),
                      wick_str_printf(s->mem, "an element of `%s`", n->name));
  notation_walk(&c, n->kid[1]);
  for (uint32_t i = 0; i < c.reads.n; i++)
    if (notation_is_plain(&c.reads.at[i].at) && !c.reads.at[i].guarded &&
        !c.reads.at[i].at.index[0]->decl->nkid)
      notation_plain(&c, &c.reads.at[i]);
  notation_explicit(&c);
  while (notation_round(&c)) {
  }
  if (want) notation_declared(&c, index, want);
  while (notation_round(&c)) {
  }
  notation_free(&c);
  for (uint32_t i = 0; i < c.indices.n; i++) {
    wick_ast *k = (wick_ast *)c.indices.at[i];
    wick_ty *range = k->ref ? s->typed->type[k->ref->decl->id] : NULL;
    if (range) wick_infer_need(s, WICK_NEEDS_RANGE, k, NULL, 1, &range);
  }
  for (uint32_t i = 0; i < c.reads.n; i++) {
    const notation_read *r = &c.reads.at[i];
    bool equal = notation_is_plain(&r->at) && !r->guarded && !r->at.index[0]->decl->nkid;
    if (!equal) notation_inside(&c, r);
  }
  for (uint32_t i = 0; i < index->nkid; i++)
    dim[i] = index->kid[i]->ref ? *notation_range(&c, index->kid[i]->ref) : s->t->any;
  return wick_ty_tensor(s->t, elem, wick_ty_shape(s->t, index->nkid, dim, index->nkid, NULL));
}

wick_ty *wick_infer_reduce(infer *s, wick_ast *n)
{
  wick_ty *elem = wick_ty_var(s->t, WICK_SORT_ELEM);
  elem->elems = WICK_NUMBERS;
  wick_ty *number = wick_ty_tensor(s->t, elem, s->t->scalar_shape);
  wick_infer_expect(s, n->kid[1], wick_infer_expr(s, n->kid[1]), number,
                    wick_str_printf(s->mem, "what `%s` reduces", n->name));
  return number;
}

void wick_infer_index_op(infer *s, const wick_lang_entity *e, const wick_ty *f)
{
  wick_ast *list = e->decl->kid[2];
  wick_ty **result = wick_new(s->mem, wick_ty *, list->nkid);
  wick_ty *whole = e->decl->kid[1] || s->typed->instance ? wick_ty_of(f->arg[f->n - 1]) : NULL;
  for (uint32_t i = 0; i < list->nkid; i++) {
    wick_ast *n = list->kid[i];
    wick_ty *want = whole;
    if (list->nkid > 1)
      want = whole && whole->kind == WICK_TY_TUPLE && i < whole->n ? whole->arg[i] : NULL;
    result[i] = notation_define(s, n, want);
    s->typed->local[n->ref->number] = s->typed->type[n->id] = result[i];
  }
  wick_ty *out = list->nkid == 1 ? result[0] : wick_ty_new(s->t, WICK_TY_TUPLE, list->nkid, result);
  wick_infer_expect(s, list->nkid ? list->kid[0] : e->decl, out, f->arg[f->n - 1], "the result");
}
