/* Unification. */
#include "lang/type.h"

/* Sets levels, and returns whether `v` occurs in a type that it would be bound to. */
static bool unify_occurs(wick_types *t, wick_ty *v, wick_ty *a)
{
  a = wick_ty_of(a);
  if (a == v) return true;
  if (a->kind == WICK_TY_VAR && a->level != WICK_TY_GENERIC && a->level > v->level)
    a->level = v->level;
  if (wick_ty_step(t)) return false;
  if (a->kind == WICK_TY_SHAPE && a->rest && unify_occurs(t, v, a->rest)) return true;
  for (uint32_t i = 0; i < a->n; i++)
    if (unify_occurs(t, v, a->arg[i])) return true;
  return false;
}

static bool unify_clash(wick_clash *out, wick_clash_kind kind, wick_ty *a, wick_ty *b)
{
  *out = (wick_clash){.kind = kind, .a = a, .b = b};
  return false;
}

static bool unify_elem(wick_ty *a, wick_ty *b, wick_clash *out)
{
  if (a->kind == WICK_TY_ELEM && b->kind == WICK_TY_ELEM)
    return a->elem == b->elem || unify_clash(out, WICK_CLASH_ELEM, a, b);
  if (a->kind == WICK_TY_ELEM || (a->rigid && b->kind == WICK_TY_VAR)) {
    wick_ty *c = a;
    a = b, b = c;
  }
  if (a->rigid) return unify_clash(out, WICK_CLASH_RIGID, a, b); /* two, or one and a type */
  if (b->kind == WICK_TY_ELEM) {
    if (!(a->elems & WICK_BIT(b->elem))) return unify_clash(out, WICK_CLASH_ELEM, a, b);
  } else {
    uint64_t both = a->elems & b->elems;
    if (!both) return unify_clash(out, WICK_CLASH_ELEM, a, b);
    if (b->rigid && a->elems != ~(uint64_t)0 && !a->literal)
      b->elems = both; /* what operators ask of a user's element type */
    else if (!b->rigid)
      b->elems = both;
    if (a->literal > b->literal && !b->rigid) b->literal = a->literal;
    if (b->level != WICK_TY_GENERIC && b->level > a->level) b->level = a->level;
  }
  a->link = b;
  return true;
}

static bool unify_dim_list(wick_types *t, uint32_t n, const wick_dim *a, const wick_dim *b,
                           wick_ty *x, wick_ty *y, wick_clash *out)
{
  for (uint32_t i = 0; i < n; i++)
    if (!wick_unify_dims(t, a[i], b[i])) {
      *out = (wick_clash){WICK_CLASH_SIZE, x, y, wick_ty_dim(t, a[i]), wick_ty_dim(t, b[i])};
      return false;
    }
  return true;
}

static bool unify_bind_shape(wick_types *t, wick_ty *v, wick_ty *s, wick_clash *out)
{
  if (v == wick_ty_of(s)) return true;
  if (v->rigid && s->kind == WICK_TY_VAR && !s->rigid) {
    wick_ty *c = v;
    v = s, s = c;
  }
  if (v->rigid) return unify_clash(out, WICK_CLASH_RIGID, v, s);
  if (unify_occurs(t, v, s)) return unify_clash(out, WICK_CLASH_RANK, v, s);
  v->link = s;
  return true;
}

static bool unify_shape(wick_types *t, wick_ty *x, wick_ty *y, wick_clash *out)
{
  wick_ty *a = wick_ty_flat(t, x), *b = wick_ty_flat(t, y);
  if (a == b) return true;
  if (a->kind == WICK_TY_VAR) return unify_bind_shape(t, a, b, out);
  if (b->kind == WICK_TY_VAR) return unify_bind_shape(t, b, a, out);
  if (!a->rest) {
    wick_ty *c = a;
    a = b, b = c;
  }
  if (!a->rest)
    return a->ndim == b->ndim ? unify_dim_list(t, a->ndim, a->dim, b->dim, a, b, out)
                              : unify_clash(out, WICK_CLASH_RANK, a, b);
  uint32_t back = a->ndim - a->front;
  if (!b->rest) {
    if (b->ndim < a->ndim) return unify_clash(out, WICK_CLASH_RANK, a, b);
    uint32_t n = b->ndim - a->ndim;
    if (!unify_dim_list(t, a->front, a->dim, b->dim, a, b, out) ||
        !unify_dim_list(t, back, a->dim + a->front, b->dim + b->ndim - back, a, b, out))
      return false;
    return unify_bind_shape(t, wick_ty_of(a->rest), wick_ty_shape(t, n, b->dim + a->front, n, NULL),
                            out);
  }
  /* Both have a rest. The longer ends go into the other's rest, around a common new rest. */
  uint32_t bback = b->ndim - b->front, front = a->front < b->front ? a->front : b->front,
           end = back < bback ? back : bback;
  if (!unify_dim_list(t, front, a->dim, b->dim, a, b, out) ||
      !unify_dim_list(t, end, a->dim + a->ndim - end, b->dim + b->ndim - end, a, b, out))
    return false;
  wick_ty *ra = wick_ty_of(a->rest), *rb = wick_ty_of(b->rest);
  if (ra == rb)
    return a->front == b->front && back == bback ? true : unify_clash(out, WICK_CLASH_RANK, a, b);
  uint32_t fa = a->front - front, fb = b->front - front;
  wick_ty *in_a = wick_ty_shape(t, fa + back - end, a->dim + front, fa, ra),
          *in_b = wick_ty_shape(t, fb + bback - end, b->dim + front, fb, rb);
  if (in_b == rb) return unify_bind_shape(t, rb, in_a, out);
  if (in_a == ra) return unify_bind_shape(t, ra, in_b, out);
  wick_ty *u = wick_ty_var(t, WICK_SORT_SHAPE);
  in_a = wick_ty_shape(t, fa + back - end, a->dim + front, fa, u);
  in_b = wick_ty_shape(t, fb + bback - end, b->dim + front, fb, u);
  return unify_bind_shape(t, ra, in_b, out) && unify_bind_shape(t, rb, in_a, out);
}

/* ---- sizes ---- */

static wick_ty_dimvar *unify_flexible(wick_types *t, wick_dim d)
{
  uint32_t n = (uint32_t)((uint64_t)d.v - (uint64_t)INT64_MIN);
  if (wick_dim_is_const(d) || n >= t->of_symbol.n || !t->of_symbol.at[n]) return NULL;
  wick_ty_dimvar *v = &t->dimvars.at[t->of_symbol.at[n] - 1];
  return v->rigid || v->level == WICK_TY_GENERIC ? NULL : v;
}

static bool unify_bind_dim(wick_types *t, wick_dim sym, wick_dim value)
{
  wick_ty_dimvar *v = unify_flexible(t, sym);
  if (!v || wick_dim_uses(t->dims, value, sym)) return false;
  int64_t lo, hi;
  wick_dim_range(t->dims, value, &lo, &hi);
  if (hi < 0) return false;
  wick_dim_list list = {0};
  if (!wick_dim_is_const(value)) wick_dim_symbols(t->dims, value, t->mem, &list);
  for (uint32_t i = 0; i < list.n; i++) {
    wick_ty_dimvar *w = unify_flexible(t, list.at[i]);
    if (w && w->level > v->level) w->level = v->level;
  }
  v->value = value;
  return true;
}

bool wick_unify_dims(wick_types *t, wick_dim a, wick_dim b)
{
  a = wick_ty_dim(t, a), b = wick_ty_dim(t, b);
  if (wick_dim_eq(a, b)) return true;
  wick_ty_step(t);
  if (unify_bind_dim(t, a, b) || unify_bind_dim(t, b, a)) return true;
  if (wick_dim_eq(a, t->any) || wick_dim_eq(b, t->any)) return true;
  if (wick_dim_is_const(a) && wick_dim_is_const(b)) return false;
  wick_dim d = wick_dim_sub(t->dims, a, b);
  wick_dim_list list = {0};
  if (wick_dim_is_const(d)) return wick_dim_is(d, 0);
  wick_dim_symbols(t->dims, d, t->mem, &list);
  bool flexible = false;
  for (uint32_t i = 0; i < list.n; i++) {
    wick_dim coef, rest;
    if (!unify_flexible(t, list.at[i])) continue;
    flexible = true;
    if (!wick_dim_linear(t->dims, d, list.at[i], &coef, &rest) || !wick_dim_is_const(coef))
      continue;
    wick_dim minus = wick_dim_sub(t->dims, wick_dim_const(0), rest),
             value = wick_dim_floordiv(t->dims, minus, coef);
    if (!wick_dim_eq(wick_dim_mul(t->dims, value, coef), minus)) {
      if (wick_dim_is_const(minus)) return false;
      continue;
    }
    return unify_bind_dim(t, list.at[i], value);
  }
  /* An equation that no unknown solves is checked at run time, unless it never holds. */
  return flexible && wick_dim_may_equal(t->dims, a, b);
}

/* ---- types ---- */

bool wick_unify(wick_types *t, wick_ty *x, wick_ty *y, wick_clash *out)
{
  wick_ty *a = wick_ty_of(x), *b = wick_ty_of(y);
  if (a == b || a->kind == WICK_TY_ERROR || b->kind == WICK_TY_ERROR) return true;
  if (wick_ty_step(t)) return true;
  if (a->kind == WICK_TY_SHAPE || b->kind == WICK_TY_SHAPE ||
      (a->kind == WICK_TY_VAR && a->sort == WICK_SORT_SHAPE))
    return unify_shape(t, a, b, out);
  if (a->kind == WICK_TY_ELEM || b->kind == WICK_TY_ELEM ||
      (a->kind == WICK_TY_VAR && a->sort == WICK_SORT_ELEM))
    return unify_elem(a, b, out);
  if (a->kind == WICK_TY_VAR || b->kind == WICK_TY_VAR) {
    if (a->kind != WICK_TY_VAR || (a->rigid && b->kind == WICK_TY_VAR)) {
      wick_ty *c = a;
      a = b, b = c;
    }
    if (a->rigid) return unify_clash(out, WICK_CLASH_RIGID, a, b);
    if (unify_occurs(t, a, b)) return unify_clash(out, WICK_CLASH_OCCURS, a, b);
    a->link = b;
    return true;
  }
  if (a->kind != b->kind || a->n != b->n || a->data != b->data)
    return unify_clash(out, WICK_CLASH_KIND, a, b);
  if (a->kind == WICK_TY_SIZE) return unify_dim_list(t, 1, &a->size, &b->size, a, b, out);
  for (uint32_t i = 0; i < a->n; i++)
    if (!wick_unify(t, a->arg[i], b->arg[i], out)) return false;
  return true;
}

wick_ty *wick_ty_join(wick_types *t, wick_ty *x, wick_ty *y)
{
  wick_ty *a = wick_ty_of(x), *b = wick_ty_of(y);
  if (wick_ty_step(t)) return a;
  if (a == b || a->kind != b->kind || a->n != b->n) return a->kind == WICK_TY_ERROR ? b : a;
  if (a->kind == WICK_TY_SIZE) return wick_dim_eq(wick_ty_dim(t, b->size), t->any) ? b : a;
  if (a->kind == WICK_TY_SHAPE) {
    a = wick_ty_flat(t, a), b = wick_ty_flat(t, b);
    if (a->kind != WICK_TY_SHAPE || b->kind != a->kind || a->ndim != b->ndim) return a;
    wick_dim *dim = wick_dup(t->mem, wick_dim, a->dim, a->ndim);
    bool same = true;
    for (uint32_t i = 0; i < a->ndim; i++)
      if (wick_dim_eq(wick_ty_dim(t, b->dim[i]), t->any)) dim[i] = t->any, same = false;
    return same ? a : wick_ty_shape(t, a->ndim, dim, a->front, a->rest);
  }
  bool same = true;
  wick_ty **arg = wick_new(t->mem, wick_ty *, a->n);
  for (uint32_t i = 0; i < a->n; i++) {
    arg[i] = wick_ty_join(t, a->arg[i], b->arg[i]);
    same = same && arg[i] == wick_ty_of(a->arg[i]);
  }
  if (same) return a;
  wick_ty *c = wick_ty_new(t, a->kind, a->n, arg);
  c->data = a->data, c->at = a->at;
  return c;
}
