/* Dimension expressions: the rules of floordiv, mod, min and max. */
#include "base/hash.h"
#include "ir/dim_table.h"

static wick_dim dim_simplify_neg(wick_dims *t, wick_dim a)
{
  return wick_dim_sub(t, wick_dim_const(0), a);
}

static wick_dim dim_simplify_atom(wick_dims *t, wick_atom_kind kind, uint32_t narg,
                                  const wick_dim *arg)
{
  uint32_t id = wick_dim_intern_atom(t, kind, narg, arg);
  return id ? wick_dim_from_atom(t, id) : WICK_DIM_INVALID;
}

/* Returns true if floordiv has one value over a range of numerators, and that value. */
static bool dim_simplify_one_quotient(wick_range r, int64_t c, int64_t *out)
{
  if (r.lo <= WICK_RANGE_LO || r.hi == WICK_RANGE_HI || r.lo > r.hi) return false;
  *out = wick_floordiv_i64(r.lo, c);
  return *out == wick_floordiv_i64(r.hi, c);
}

/* Allocates terms for a selection from a form, in the table's arena. */
static wick_term *dim_simplify_terms(wick_dims *t, wick_dim_form f)
{
  return wick_new(t->mem, wick_term, f.nterm);
}

/* Returns the sum of the magnitudes of the coefficients. */
static double dim_simplify_weight(wick_dim_form f)
{
  double sum = 0;
  for (uint32_t i = 0; i < f.nterm; i++)
    sum += f.term[i].coef < 0 ? -(double)f.term[i].coef : (double)f.term[i].coef;
  return sum;
}

/* Splits a = c*q + rest and returns q. Each term is divided by c, and its remainder keeps its
 * sign. With `exact` only terms without a remainder are taken. The constant of the rest is in
 * [0, c). The rest may combine with other mods. If this makes it no simpler than a, only the
 * constant is split off. */
static wick_dim dim_simplify_split(wick_dims *t, wick_dim a, int64_t c, bool exact,
                                   wick_dim *out_rest)
{
  wick_dim_form f = wick_dim_get(t, a);
  wick_term *term = dim_simplify_terms(t, f);
  wick_dim_form q = {.constant = wick_floordiv_i64(f.constant, c), .term = term};
  for (uint32_t i = 0; i < f.nterm; i++) {
    wick_term m = f.term[i];
    if (m.coef / c == 0 || (exact && m.coef % c != 0)) continue;
    m.coef /= c;
    term[q.nterm++] = m;
  }
  wick_dim constant = wick_dim_const(q.constant), by = wick_dim_const(c);
  if (q.nterm) {
    wick_dim whole = wick_dim_from_form(t, q);
    wick_dim rest = *out_rest = wick_dim_sub(t, a, wick_dim_mul(t, whole, by));
    double weight = dim_simplify_weight(f);
    if (wick_dim_usable(t, rest) && dim_simplify_weight(wick_dim_get(t, rest)) < weight)
      return whole;
  }
  *out_rest = wick_dim_sub(t, a, wick_dim_mul(t, constant, by));
  return constant;
}

/* floordiv(g*p + rest, g*n) = floordiv(p + k, n) if g*k <= rest < g*(k + 1). */
static bool dim_simplify_by_factor(wick_dims *t, wick_dim_form f, int64_t g, wick_dim *out)
{
  wick_mark mark = wick_arena_mark(t->mem);
  wick_term *p = dim_simplify_terms(t, f), *rest = dim_simplify_terms(t, f);
  wick_dim_form fp = {.term = p}, fr = {.constant = f.constant, .term = rest};
  for (uint32_t i = 0; i < f.nterm; i++) {
    wick_term m = f.term[i];
    if (m.coef % g) {
      rest[fr.nterm++] = m;
    } else {
      m.coef /= g;
      p[fp.nterm++] = m;
    }
  }
  bool one = dim_simplify_one_quotient(wick_range_form(t, fr), g, &fp.constant);
  if (one)
    *out = wick_dim_from_form(t, fp);
  else
    wick_arena_rewind(t->mem, mark);
  return one;
}

/* Returns the largest factor of c below `below` that divides a term's coefficient, or 1. */
static int64_t dim_simplify_next_factor(wick_dim_form f, int64_t c, int64_t below)
{
  int64_t best = 1;
  for (uint32_t i = 0; i < f.nterm; i++) {
    int64_t g = wick_gcd_i64(f.term[i].coef, c);
    if (g < below && g > best) best = g;
  }
  return best;
}

static bool dim_simplify_has_atom(wick_dim_form f, uint32_t atom)
{
  for (uint32_t i = 0; i < f.nterm; i++)
    for (uint32_t k = 0; k < f.term[i].natom; k++)
      if (f.term[i].atom[k] == atom) return true;
  return false;
}

/* floordiv(floordiv(x, y) + p, b) = floordiv(x + y*p, y*b) for b > 0. Not applied if p also
 * contains the inner floordiv, in a product. */
static bool dim_simplify_nested(wick_dims *t, wick_dim a, wick_dim b, wick_dim *out)
{
  wick_dim_form f = wick_dim_get(t, a);
  for (uint32_t i = 0; i < f.nterm; i++) {
    uint32_t atom = f.term[i].atom[0];
    const wick_atom *inner = wick_dim_atom(t, atom);
    if (f.term[i].coef != 1 || f.term[i].natom != 1 || inner->kind != WICK_ATOM_FLOORDIV) continue;
    wick_dim p = wick_dim_sub(t, a, wick_dim_from_atom(t, atom));
    wick_dim x = wick_dim_add(t, inner->arg[0], wick_dim_mul(t, p, inner->arg[1]));
    if (dim_simplify_has_atom(wick_dim_get(t, x), atom)) continue;
    *out = wick_dim_floordiv(t, x, wick_dim_mul(t, inner->arg[1], b));
    if (wick_dim_usable(t, *out)) return true;
  }
  return false;
}

/* floordiv(mod(x, m), c) = mod(floordiv(x, c), m/c) if c divides m. Only for a single mod,
 * because in a sum the range would be lost. */
static bool dim_simplify_of_mod(wick_dims *t, wick_dim a, int64_t c, wick_dim *out)
{
  const wick_dim_cell *lone = wick_dim_lone(t, a);
  if (!lone || lone->atom.kind != WICK_ATOM_MOD) return false;
  wick_dim x = lone->atom.arg[0], m = lone->atom.arg[1];
  if (!wick_dim_is_const(m) || m.v % c) return false;
  wick_dim outer = wick_dim_mul(t, wick_dim_floordiv(t, x, m), wick_dim_const(m.v / c));
  *out = wick_dim_sub(t, wick_dim_floordiv(t, x, wick_dim_const(c)), outer);
  return wick_dim_usable(t, *out);
}

static wick_dim dim_simplify_by_const(wick_dims *t, wick_dim a, int64_t c)
{
  if (c < 0) return wick_dim_floordiv(t, dim_simplify_neg(t, a), wick_dim_const(-c));
  if (c == 1) return a;
  int64_t one;
  if (dim_simplify_one_quotient(wick_dim_range_of(t, a), c, &one)) return wick_dim_const(one);
  wick_dim out, q = dim_simplify_split(t, a, c, true, &out);
  if (wick_dim_is(q, 0)) q = dim_simplify_split(t, a, c, false, &out);
  if (!wick_dim_is(q, 0)) return wick_dim_add(t, q, wick_dim_floordiv(t, out, wick_dim_const(c)));
  wick_dim_form f = wick_dim_get(t, a);
  for (int64_t g = c; (g = dim_simplify_next_factor(f, c, g)) > 1;)
    if (dim_simplify_by_factor(t, f, g, &out))
      return wick_dim_floordiv(t, out, wick_dim_const(c / g));
  if (dim_simplify_nested(t, a, wick_dim_const(c), &out)) return out;
  if (dim_simplify_of_mod(t, a, c, &out)) return out;
  bool negative = true; /* -floordiv(-a, c) rounds up */
  for (uint32_t i = 0; i < f.nterm; i++) negative &= f.term[i].coef < 0;
  if (negative) {
    wick_dim up = wick_dim_sub(t, wick_dim_const(c - 1), a);
    return dim_simplify_neg(t, wick_dim_floordiv(t, up, wick_dim_const(c)));
  }
  return dim_simplify_atom(t, WICK_ATOM_FLOORDIV, 2, (wick_dim[]){a, wick_dim_const(c)});
}

/* ---- division by an expression ---- */

/* Sets g to the greatest common monomial of itself and f's terms. If natom is UINT32_MAX, g is
 * unset. */
static void dim_simplify_common(wick_dims *t, wick_dim_form f, wick_term *g)
{
  for (uint32_t i = 0; i < f.nterm + (f.constant != 0); i++) {
    wick_term m = i < f.nterm ? f.term[i] : (wick_term){.coef = f.constant};
    wick_term common = {.coef = wick_gcd_i64(g->coef, m.coef)}, left = m;
    for (uint32_t k = 0; k < g->natom && g->natom != UINT32_MAX; k++) {
      wick_term atom = wick_mono_atom(t, g->atom[k]);
      if (!wick_mono_div(t, left, atom, &left)) continue;
      int64_t coef = common.coef;
      common = wick_mono_mul(t, common, atom);
      common.coef = coef;
    }
    if (g->natom == UINT32_MAX) common.natom = m.natom, common.atom = m.atom;
    *g = common;
  }
}

static wick_dim dim_simplify_divide_out(wick_dims *t, wick_dim_form f, wick_term g)
{
  wick_term *term = dim_simplify_terms(t, f);
  wick_dim_form q = {.constant = f.constant / g.coef, .nterm = f.nterm, .term = term};
  for (uint32_t i = 0; i < f.nterm; i++) {
    if (!wick_mono_div(t, f.term[i], g, &term[i])) return WICK_DIM_INVALID;
    term[i].coef = f.term[i].coef / g.coef;
  }
  if (f.nterm && term[f.nterm - 1].natom == 0) /* g was itself a term */
    q.constant = term[--q.nterm].coef;
  return wick_dim_from_form(t, q);
}

/* Long division by b: a = q*b + r. Applied if b is a single term or divides exactly. */
static wick_dim dim_simplify_long_division(wick_dims *t, wick_dim a, wick_dim b, wick_dim *out_rest)
{
  wick_dim q = wick_dim_const(0), rest = a;
  wick_dim_form fb = wick_dim_get(t, b);
  wick_term lead = fb.term[0], mono;
  for (uint32_t i = 0, nstep = 0; nstep < 256 && wick_dim_usable(t, rest);) {
    wick_dim_form f = wick_dim_get(t, rest);
    if (i >= f.nterm) break;
    wick_term m = f.term[i++];
    if (m.coef % lead.coef || !wick_mono_div(t, m, lead, &mono)) continue;
    wick_term *step = wick_dup(t->mem, wick_term, &mono, 1);
    step->coef = m.coef / lead.coef;
    wick_dim_form one = {.nterm = 1, .term = step};
    if (!mono.natom) one = (wick_dim_form){.constant = step->coef};
    wick_dim part = wick_dim_from_form(t, one);
    q = wick_dim_add(t, q, part);
    rest = wick_dim_sub(t, rest, wick_dim_mul(t, part, b));
    i = 0;
    nstep++;
  }
  bool one_term = fb.nterm == 1 && !fb.constant;
  if (!wick_dim_usable(t, q) || !wick_dim_usable(t, rest) || (!one_term && !wick_dim_is(rest, 0)))
    q = wick_dim_const(0);
  *out_rest = rest;
  return q;
}

static int64_t dim_simplify_low(wick_dims *t, wick_dim d)
{
  return wick_dim_usable(t, d) ? wick_dim_range_of(t, d).lo : WICK_RANGE_LO;
}

static wick_dim dim_simplify_by_expr(wick_dims *t, wick_dim a, wick_dim b)
{
  if (wick_dim_is(a, 0)) return a;
  wick_dim_form fa = wick_dim_get(t, a), fb = wick_dim_get(t, b);
  if (fb.term[0].coef < 0)
    return wick_dim_floordiv(t, dim_simplify_neg(t, a), dim_simplify_neg(t, b));
  wick_term g = {.natom = UINT32_MAX};
  dim_simplify_common(t, fb, &g);
  dim_simplify_common(t, fa, &g);
  if (g.coef != 1 || g.natom)
    return wick_dim_floordiv(t, dim_simplify_divide_out(t, fa, g),
                             dim_simplify_divide_out(t, fb, g));
  wick_range ra = wick_dim_range_of(t, a), rb = wick_dim_range_of(t, b);
  rb.lo += rb.lo == 0, rb.hi -= rb.hi == 0; /* the divisor is not 0 */
  if (rb.lo == rb.hi) return wick_dim_floordiv(t, a, wick_dim_const(rb.lo));
  wick_range r = wick_range_atom(WICK_ATOM_FLOORDIV, 2, (wick_range[]){ra, rb});
  if (r.lo == r.hi) return wick_dim_const(r.lo);
  if (rb.lo > 0 && ra.lo >= 0 && dim_simplify_low(t, wick_dim_sub(t, b, a)) > 0)
    return wick_dim_const(0);
  if (rb.lo > 0 && ra.hi < 0 && dim_simplify_low(t, wick_dim_add(t, a, b)) >= 0)
    return wick_dim_const(-1);
  wick_dim out, q = dim_simplify_long_division(t, a, b, &out);
  if (!wick_dim_is(q, 0)) return wick_dim_add(t, q, wick_dim_floordiv(t, out, b));
  if (rb.lo > 0 && dim_simplify_nested(t, a, b, &out)) return out;
  return dim_simplify_atom(t, WICK_ATOM_FLOORDIV, 2, (wick_dim[]){a, b});
}

wick_dim wick_dim_floordiv(wick_dims *t, wick_dim a, wick_dim b)
{
  if (!wick_dim_usable(t, a) || !wick_dim_usable(t, b) || wick_dim_is(b, 0))
    return WICK_DIM_INVALID;
  if (wick_dim_is_const(a) && wick_dim_is_const(b))
    return b.v == -1 ? dim_simplify_neg(t, a) : wick_dim_const(wick_floordiv_i64(a.v, b.v));
  uint64_t hash = wick_hash_u64(wick_hash_u64(WICK_HASH_SEED, (uint64_t)a.v), (uint64_t)b.v);
  wick_dim_quotient *known = &t->quotient[hash % WICK_DIM_QUOTIENTS];
  if (wick_dim_eq(known->a, a) && wick_dim_eq(known->b, b)) return known->q;
  if (!t->level) t->fuel = WICK_DIM_FUEL;
  if (!t->fuel) return WICK_DIM_INVALID;
  t->fuel--;
  t->level++;
  wick_dim q =
      wick_dim_is_const(b) ? dim_simplify_by_const(t, a, b.v) : dim_simplify_by_expr(t, a, b);
  t->level--;
  if (t->fuel) *known = (wick_dim_quotient){a, b, q};
  return q;
}

wick_dim wick_dim_ceildiv(wick_dims *t, wick_dim a, wick_dim b)
{
  if (wick_dim_usable(t, b) && wick_dim_range_of(t, b).lo > 0) {
    wick_dim up = wick_dim_add(t, a, wick_dim_sub(t, b, wick_dim_const(1)));
    return wick_dim_floordiv(t, up, b);
  }
  return dim_simplify_neg(t, wick_dim_floordiv(t, dim_simplify_neg(t, a), b));
}

wick_dim wick_dim_mod(wick_dims *t, wick_dim a, wick_dim b)
{
  if (wick_dim_is_const(a) && wick_dim_is_const(b) && wick_dim_usable(t, a) &&
      wick_dim_usable(t, b) && b.v != 0)
    return wick_dim_const(b.v == -1 ? 0 : wick_floormod_i64(a.v, b.v));
  return wick_dim_sub(t, a, wick_dim_mul(t, b, wick_dim_floordiv(t, a, b)));
}

/* ---- min and max ---- */

/* Returns true if a <= b is known for all values of the symbols. Each call uses up a part of the
 * budget: without it, nested expressions of malicious input would take exponential time. */
static bool dim_simplify_le(wick_dims *t, wick_dim a, wick_dim b, uint32_t *budget)
{
  if (!*budget) return false;
  --*budget;
  if (dim_simplify_low(t, wick_dim_sub(t, b, a)) >= 0) return true;
  const wick_dim_cell *la = wick_dim_lone(t, a), *lb = wick_dim_lone(t, b);
  if (lb && (lb->atom.kind == WICK_ATOM_MIN || lb->atom.kind == WICK_ATOM_MAX)) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < lb->atom.narg; i++)
      n += dim_simplify_le(t, a, lb->atom.arg[i], budget);
    if (n >= (lb->atom.kind == WICK_ATOM_MAX ? 1 : lb->atom.narg)) return true;
  }
  if (la && (la->atom.kind == WICK_ATOM_MIN || la->atom.kind == WICK_ATOM_MAX)) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < la->atom.narg; i++)
      n += dim_simplify_le(t, la->atom.arg[i], b, budget);
    if (n >= (la->atom.kind == WICK_ATOM_MIN ? 1 : la->atom.narg)) return true;
  }
  return false;
}

typedef struct dim_simplify_list {
  wick_dim at[WICK_DIM_ARGS];
  uint32_t n;
} dim_simplify_list;

/* Inserts d in order, unless it is in the list. Returns false if there are too many. */
static bool dim_simplify_insert(const wick_dims *t, dim_simplify_list *list, wick_dim d)
{
  uint32_t i = 0;
  while (i < list->n && wick_dim_compare(t, list->at[i], d) < 0) i++;
  if (i < list->n && wick_dim_eq(list->at[i], d)) return true;
  if (list->n == WICK_DIM_ARGS) return false;
  for (uint32_t k = list->n++; k > i; k--) list->at[k] = list->at[k - 1];
  list->at[i] = d;
  return true;
}

/* Returns true if another argument is always as good as x. If x is a min or max itself, this may
 * also hold for all of its arguments, or one of them. */
static bool dim_simplify_outdone(wick_dims *t, bool is_min, const dim_simplify_list *list,
                                 uint32_t skip, wick_dim x, uint32_t *budget)
{
  for (uint32_t i = 0; i < list->n; i++) {
    if (i == skip) continue;
    if (is_min ? dim_simplify_le(t, list->at[i], x, budget)
               : dim_simplify_le(t, x, list->at[i], budget))
      return true;
  }
  const wick_dim_cell *c = wick_dim_lone(t, x);
  if (!c || (c->atom.kind != WICK_ATOM_MIN && c->atom.kind != WICK_ATOM_MAX)) return false;
  bool all = is_min == (c->atom.kind == WICK_ATOM_MIN);
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->atom.narg; i++)
    n += dim_simplify_outdone(t, is_min, list, skip, c->atom.arg[i], budget);
  return n >= (all ? c->atom.narg : 1);
}

static uint32_t dim_simplify_size(const wick_dims *t, wick_dim d)
{
  return wick_dim_is_const(d) ? 1 : 1 + t->exprs.at[wick_dim_number(d)].natom;
}

/* Returns the largest size of an argument that is less than `below`, or 0. */
static uint32_t dim_simplify_next_size(const wick_dims *t, const dim_simplify_list *list,
                                       uint32_t below)
{
  uint32_t best = 0;
  for (uint32_t i = 0; i < list->n; i++) {
    uint32_t size = dim_simplify_size(t, list->at[i]);
    if (size < below && size > best) best = size;
  }
  return best;
}

/* Removes arguments that are not needed. It begins with the largest, because a nested expression
 * can be compared with its own parts, but not the reverse. */
static void dim_simplify_prune(wick_dims *t, bool is_min, dim_simplify_list *list)
{
  for (uint32_t size = UINT32_MAX; (size = dim_simplify_next_size(t, list, size)) > 0;) {
    for (uint32_t i = 0; i < list->n;) {
      uint32_t budget = 8 * WICK_DIM_ARGS;
      if (dim_simplify_size(t, list->at[i]) != size ||
          !dim_simplify_outdone(t, is_min, list, i, list->at[i], &budget)) {
        i++;
        continue;
      }
      list->n--;
      for (uint32_t k = i; k < list->n; k++) list->at[k] = list->at[k + 1];
    }
  }
}

static wick_dim dim_simplify_least(wick_dims *t, wick_atom_kind kind, wick_dim a, wick_dim b)
{
  if (!wick_dim_usable(t, a) || !wick_dim_usable(t, b)) return WICK_DIM_INVALID;
  if (wick_dim_eq(a, b)) return a;
  bool is_min = kind == WICK_ATOM_MIN;
  dim_simplify_list list = {.n = 0};
  for (int side = 0; side < 2; side++) {
    wick_dim d = side ? b : a;
    const wick_dim_cell *lone = wick_dim_lone(t, d);
    bool flat = lone && lone->atom.kind == kind;
    for (uint32_t i = 0; i < (flat ? lone->atom.narg : 1); i++)
      if (!dim_simplify_insert(t, &list, flat ? lone->atom.arg[i] : d)) return WICK_DIM_INVALID;
  }
  dim_simplify_prune(t, is_min, &list);
  return list.n == 1 ? list.at[0] : dim_simplify_atom(t, kind, list.n, list.at);
}

wick_dim wick_dim_min(wick_dims *t, wick_dim a, wick_dim b)
{
  return dim_simplify_least(t, WICK_ATOM_MIN, a, b);
}

wick_dim wick_dim_max(wick_dims *t, wick_dim a, wick_dim b)
{
  return dim_simplify_least(t, WICK_ATOM_MAX, a, b);
}
