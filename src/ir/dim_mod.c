/* Dimension expressions: converts a key, which has no `mod`, to the form, which has.
 *
 * mod(x, b) is x - b*floordiv(x, b), and the key contains the right side. Here each floordiv is
 * combined with multiples of x in the sum to mod(x, b), until its own coefficient has the sign
 * of x's. This keeps ranges tight, because the rest grows with x. For example, x - 7*floordiv(x,
 * 7) is mod(x, 7), x - 6*floordiv(x, 7) is floordiv(x, 7) + mod(x, 7), and x + 9*floordiv(x, 7)
 * stays. The result depends only on the key. */
#include "ir/dim_table.h"

/* The pattern that is searched for: mono * (x - b*quotient), where quotient is floordiv(x, b). */
typedef struct dim_mod_pattern {
  wick_dim x, b;
  uint32_t quotient;
  wick_term mono;
  bool exact; /* only if no multiple of the quotient by a constant remains */
} dim_mod_pattern;

static int64_t dim_mod_coef(const wick_dim_form *p, wick_term mono)
{
  for (uint32_t i = 0; i < p->nterm; i++)
    if (p->term[i].atom == mono.atom) return p->term[i].coef;
  return 0;
}

/* Returns whether p contains sign * mono * q. *times is lowered to the number of times, and *g
 * becomes the common factor of itself and these numbers for all terms. */
static bool dim_mod_contains(wick_dims *t, const wick_dim_form *p, wick_dim_form q, wick_term mono,
                             int64_t sign, int64_t *g, int64_t *times)
{
  for (uint32_t i = 0; i < q.nterm; i++) {
    int64_t n = dim_mod_coef(p, wick_mono_mul(t, q.term[i], mono)) / q.term[i].coef * sign;
    *times = wick_min_i64(*times, n);
    if (n < 1) return false;
    *g = wick_gcd_i64(*g, n);
  }
  return true;
}

/* Returns the number of mods to build, or 0. For a multiple of p it is that multiple; for p + 1
 * it is the same as for p. */
static int64_t dim_mod_times(wick_dims *t, const wick_dim_form *p, const dim_mod_pattern *w,
                             wick_term quotient, int64_t have)
{
  wick_dim_form x = wick_dim_key(t, w->x), b = wick_dim_key(t, w->b);
  int64_t sign = have < 0 ? 1 : -1, times = INT64_MAX, g = have;
  if (!dim_mod_contains(t, p, x, w->mono, sign, &g, &times)) return 0;
  if (b.nterm) return dim_mod_contains(t, p, b, quotient, -sign, &g, &times) ? times : 0;
  int64_t all =
      -wick_floordiv_i64(have / g * sign, b.constant); /* the coefficient that remains has x's
                                                          sign, or is 0 */
  if (w->exact && (have / g % b.constant != 0 || all > times / g)) return 0;
  return wick_min_i64(times / g, all) * g;
}

static bool dim_mod_apply(wick_dims *t, wick_dim_form *p, const dim_mod_pattern *w, int64_t have)
{
  wick_dim_form x = wick_dim_key(t, w->x), b = wick_dim_key(t, w->b), sum = *p;
  wick_term quotient = wick_mono_mul(t, w->mono, wick_mono_atom(t, w->quotient));
  int64_t times = dim_mod_times(t, p, w, quotient, have);
  uint32_t mod = times ? wick_dim_intern_atom(t, WICK_ATOM_MOD, 2, (wick_dim[]){w->x, w->b}) : 0;
  if (!mod) return false;
  if (have > 0) times = -times;
  wick_term term = wick_mono_atom(t, mod);
  if (!wick_dim_accumulate(t, &sum, -times, w->mono, x) ||
      !wick_dim_accumulate(t, &sum, times, quotient, b) ||
      !wick_dim_accumulate(t, &sum, times, w->mono, (wick_dim_form){.nterm = 1, .term = &term}))
    return false;
  *p = sum;
  return true;
}

/* floordiv(x, b) is also floordiv(y, b/d) with y = floordiv(x, d). This is tried if the sum also
 * contains a floordiv by d. */
static bool dim_mod_try_inner(wick_dims *t, wick_dim_form *p, dim_mod_pattern w, int64_t have)
{
  for (uint32_t j = 0; j < p->nterm; j++) {
    wick_term beside = p->term[j], mono;
    if ((beside.coef < 0) == (have < 0)) continue;
    for (uint32_t k = 0; k < beside.natom; k++) {
      const wick_atom *a = wick_dim_atom(t, beside.atom[k]);
      if (a->kind != WICK_ATOM_FLOORDIV || !wick_dim_is_const(a->arg[1])) continue;
      int64_t d = a->arg[1].v;
      if (d >= w.b.v || w.b.v % d) continue;
      if (!wick_mono_div(t, beside, wick_mono_atom(t, beside.atom[k]), &mono)) continue;
      if (mono.atom != w.mono.atom) continue;
      dim_mod_pattern inner = w;
      inner.x = wick_dim_floordiv(t, w.x, wick_dim_const(d));
      inner.b = wick_dim_const(w.b.v / d);
      if (!wick_dim_usable(t, inner.x) || wick_dim_is_const(inner.x)) continue;
      const wick_dim_cell *back = wick_dim_lone(t, wick_dim_floordiv(t, inner.x, inner.b));
      if (!back || back->id != w.quotient) continue; /* equal, but another expression */
      if (dim_mod_apply(t, p, &inner, have)) return true;
    }
  }
  return false;
}

static bool dim_mod_try(wick_dims *t, wick_dim_form *p, uint32_t i, const wick_dim_cell *c,
                        bool exact)
{
  wick_term term = p->term[i];
  dim_mod_pattern w = {.x = c->atom.arg[0], .b = c->atom.arg[1], .quotient = c->id, .exact = exact};
  if (!wick_mono_div(t, term, wick_mono_atom(t, c->id), &w.mono)) return false;
  bool constant = wick_dim_is_const(w.b);
  if (!constant && !wick_mono_div(t, w.mono, wick_dim_key(t, w.b).term[0], &w.mono)) return false;
  int64_t have = term.coef;
  if (!constant && wick_dim_key(t, w.b).term[0].coef < 0) have = -have;
  return dim_mod_apply(t, p, &w, have) || (constant && dim_mod_try_inner(t, p, w, have));
}

/* Combines one floordiv of that depth. Returns false if there is none. */
static bool dim_mod_step(wick_dims *t, wick_dim_form *p, uint32_t depth, bool exact)
{
  for (uint32_t i = 0; i < p->nterm; i++) {
    for (uint32_t k = 0; k < p->term[i].natom; k++) {
      const wick_dim_cell *c = wick_dim_cell_of(t, p->term[i].atom[k]);
      if (c->atom.kind != WICK_ATOM_FLOORDIV || c->depth != depth) continue;
      if (dim_mod_try(t, p, i, c, exact)) return true;
    }
  }
  return false;
}

void wick_dim_put_mods(wick_dims *t, wick_dim_form *p)
{
  uint32_t deepest = 0;
  for (uint32_t i = 0; i < p->nterm; i++) {
    for (uint32_t k = 0; k < p->term[i].natom; k++) {
      const wick_dim_cell *c = wick_dim_cell_of(t, p->term[i].atom[k]);
      if (c->atom.kind == WICK_ATOM_FLOORDIV && c->depth > deepest) deepest = c->depth;
    }
  }
  /* each step uses a part of an x; the budget is an additional limit */
  uint32_t budget = 4 * p->nterm + 16;
  for (uint32_t depth = deepest; depth > 0;
       depth--) /* outer floordivs first, because they contain the inner ones */
    while (budget && (dim_mod_step(t, p, depth, true) || dim_mod_step(t, p, depth, false)))
      budget--;
}
