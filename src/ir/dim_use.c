/* Dimension expressions: queries, substitution of symbols, evaluation, and text. */
#include <math.h>

#include "ir/dim_table.h"

static uint64_t dim_use_mask(const wick_dims *t, wick_dim d)
{
  bool expr = wick_dim_usable(t, d) && !wick_dim_is_const(d);
  return expr ? t->exprs.at[wick_dim_number(d)].mask : 0;
}

static uint64_t dim_use_masks(const wick_dims *t, uint32_t n, const wick_dim *sym)
{
  uint64_t mask = 0;
  for (uint32_t i = 0; i < n; i++) mask |= dim_use_mask(t, sym[i]);
  return mask;
}

bool wick_dim_is_symbol(const wick_dims *t, wick_dim d)
{
  const wick_dim_cell *c = wick_dim_lone(t, d);
  return c && c->atom.kind == WICK_ATOM_SYMBOL;
}

static bool dim_use_in_atom(const wick_dims *t, uint32_t atom, wick_dim symbol)
{
  const wick_dim_cell *c = wick_dim_cell_of(t, atom);
  if (c->atom.kind == WICK_ATOM_SYMBOL) return wick_dim_eq(c->self, symbol);
  for (uint32_t i = 0; i < c->atom.narg; i++)
    if (wick_dim_uses(t, c->atom.arg[i], symbol)) return true;
  return false;
}

bool wick_dim_uses(const wick_dims *t, wick_dim d, wick_dim symbol)
{
  if (!(dim_use_mask(t, d) & dim_use_mask(t, symbol))) return false;
  wick_dim_form f = wick_dim_get(t, d);
  for (uint32_t i = 0; i < f.nterm; i++)
    for (uint32_t k = 0; k < f.term[i].natom; k++)
      if (dim_use_in_atom(t, f.term[i].atom[k], symbol)) return true;
  return false;
}

/* ---- substitution ---- */

typedef struct dim_use_map {
  uint32_t n;
  const wick_dim *sym, *by;
  uint64_t mask;
} dim_use_map;

static wick_dim dim_use_replace(wick_dims *t, wick_dim d, const dim_use_map *map);

static wick_dim dim_use_replace_atom(wick_dims *t, uint32_t atom, const dim_use_map *map)
{
  const wick_dim_cell *c = wick_dim_cell_of(t, atom);
  if (!(c->mask & map->mask)) return wick_dim_from_atom(t, atom);
  if (c->atom.kind == WICK_ATOM_SYMBOL) {
    for (uint32_t i = 0; i < map->n; i++)
      if (wick_dim_eq(map->sym[i], c->self)) return map->by[i];
    return c->self;
  }
  wick_dim r = dim_use_replace(t, c->atom.arg[0], map);
  for (uint32_t i = 1; i < c->atom.narg; i++) {
    wick_dim b = dim_use_replace(t, c->atom.arg[i], map);
    switch (c->atom.kind) {
    case WICK_ATOM_FLOORDIV: r = wick_dim_floordiv(t, r, b); break;
    case WICK_ATOM_MOD: r = wick_dim_mod(t, r, b); break;
    case WICK_ATOM_MIN: r = wick_dim_min(t, r, b); break;
    case WICK_ATOM_MAX: r = wick_dim_max(t, r, b); break;
    case WICK_ATOM_SYMBOL: break;
    }
  }
  return r;
}

static wick_dim dim_use_replace(wick_dims *t, wick_dim d, const dim_use_map *map)
{
  if (!(dim_use_mask(t, d) & map->mask)) return d;
  const wick_dim_cell *lone = wick_dim_lone(t, d);
  if (lone) return dim_use_replace_atom(t, lone->id, map); /* a symbol may become ANY */
  wick_dim_form f = wick_dim_get(t, d);
  wick_dim sum = wick_dim_const(f.constant);
  for (uint32_t i = 0; i < f.nterm; i++) {
    wick_dim product = wick_dim_const(f.term[i].coef);
    for (uint32_t k = 0; k < f.term[i].natom; k++)
      product = wick_dim_mul(t, product, dim_use_replace_atom(t, f.term[i].atom[k], map));
    sum = wick_dim_add(t, sum, product);
  }
  return sum;
}

wick_dim wick_dim_substitute(wick_dims *t, wick_dim d, uint32_t n, const wick_dim *sym,
                             const wick_dim *by)
{
  dim_use_map map = {.n = n, .sym = sym, .by = by, .mask = dim_use_masks(t, n, sym)};
  return dim_use_replace(t, d, &map);
}

/* ---- evaluation ---- */

typedef struct dim_use_values {
  uint32_t n;
  const wick_dim *sym;
  const int64_t *val;
} dim_use_values;

static bool dim_use_eval(const wick_dims *t, wick_dim d, const dim_use_values *v, int64_t *out);

static bool dim_use_divide(wick_atom_kind kind, int64_t a, int64_t b, int64_t *out)
{
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  *out = kind == WICK_ATOM_MOD ? wick_floormod_i64(a, b) : wick_floordiv_i64(a, b);
  return true;
}

static bool dim_use_eval_atom(const wick_dims *t, uint32_t atom, const dim_use_values *v,
                              int64_t *out)
{
  const wick_dim_cell *c = wick_dim_cell_of(t, atom);
  if (c->atom.kind == WICK_ATOM_SYMBOL) {
    for (uint32_t i = 0; i < v->n; i++) {
      if (!wick_dim_eq(v->sym[i], c->self)) continue;
      *out = v->val[i];
      return true;
    }
    return false;
  }
  int64_t r = 0, b;
  if (!dim_use_eval(t, c->atom.arg[0], v, &r)) return false;
  for (uint32_t i = 1; i < c->atom.narg; i++) {
    if (!dim_use_eval(t, c->atom.arg[i], v, &b)) return false;
    if (c->atom.kind == WICK_ATOM_MIN)
      r = wick_min_i64(r, b);
    else if (c->atom.kind == WICK_ATOM_MAX)
      r = wick_max_i64(r, b);
    else if (!dim_use_divide(c->atom.kind, r, b, &r))
      return false;
  }
  *out = r;
  return true;
}

static bool dim_use_eval(const wick_dims *t, wick_dim d, const dim_use_values *v, int64_t *out)
{
  if (!wick_dim_usable(t, d)) return false;
  wick_dim_form f = wick_dim_get(t, d);
  int64_t sum = f.constant;
  for (uint32_t i = 0; i < f.nterm; i++) {
    int64_t product = f.term[i].coef, x;
    for (uint32_t k = 0; k < f.term[i].natom; k++)
      if (!dim_use_eval_atom(t, f.term[i].atom[k], v, &x) ||
          wick_mul_overflows(product, x, &product))
        return false;
    if (wick_add_overflows(sum, product, &sum)) return false;
  }
  *out = sum;
  return true;
}

bool wick_dim_eval(const wick_dims *t, wick_dim d, uint32_t n, const wick_dim *sym,
                   const int64_t *val, int64_t *out)
{
  return dim_use_eval(t, d, &(dim_use_values){.n = n, .sym = sym, .val = val}, out);
}

/* ---- parts ---- */

bool wick_dim_linear(wick_dims *t, wick_dim d, wick_dim sym, wick_dim *out_coef, wick_dim *out_rest)
{
  if (!wick_dim_usable(t, d) || !wick_dim_is_symbol(t, sym)) return false;
  wick_dim_form f = wick_dim_get(t, d);
  wick_term *term[2] = {wick_new(t->mem, wick_term, f.nterm), wick_new(t->mem, wick_term, f.nterm)};
  wick_dim_form rest = {.constant = f.constant, .term = term[0]}, coef = {.term = term[1]};
  wick_term by = wick_mono_atom(t, wick_dim_lone(t, sym)->id), m;
  for (uint32_t i = 0; i < f.nterm; i++) {
    bool divides = wick_mono_div(t, f.term[i], by, &m);
    if (!divides) m = f.term[i];
    m.coef = f.term[i].coef;
    for (uint32_t k = 0; k < m.natom; k++)
      if (dim_use_in_atom(t, m.atom[k], sym)) return false;
    if (!divides)
      term[0][rest.nterm++] = m;
    else if (m.natom)
      term[1][coef.nterm++] = m;
    else
      coef.constant = m.coef;
  }
  *out_coef = wick_dim_from_form(t, coef);
  *out_rest = wick_dim_from_form(t, rest);
  return true;
}

void wick_dim_symbols(const wick_dims *t, wick_dim d, wick_arena *mem, wick_dim_list *list)
{
  wick_dim_form f = wick_dim_get(t, d);
  for (uint32_t i = 0; i < f.nterm; i++) {
    for (uint32_t k = 0; k < f.term[i].natom; k++) {
      const wick_dim_cell *c = wick_dim_cell_of(t, f.term[i].atom[k]);
      for (uint32_t j = 0; j < c->atom.narg; j++) wick_dim_symbols(t, c->atom.arg[j], mem, list);
      if (c->atom.kind != WICK_ATOM_SYMBOL) continue;
      uint32_t j = 0;
      while (j < list->n && !wick_dim_eq(list->at[j], c->self)) j++;
      if (j == list->n) wick_push(mem, list, c->self);
    }
  }
}

/* ---- text ---- */

static void dim_use_print_atom(const wick_dims *t, uint32_t atom, wick_dim_symbol_print symbol,
                               void *arg, wick_text *out)
{
  static const char *const name[] = {[WICK_ATOM_FLOORDIV] = "floordiv(",
                                     [WICK_ATOM_MOD] = "mod(",
                                     [WICK_ATOM_MIN] = "min(",
                                     [WICK_ATOM_MAX] = "max("};
  const wick_atom *a = wick_dim_atom(t, atom);
  if (a->kind == WICK_ATOM_SYMBOL) {
    symbol(arg, atom, out);
    return;
  }
  wick_text_add(out, name[a->kind]);
  for (uint32_t i = 0; i < a->narg; i++) {
    if (i) wick_text_add(out, ", ");
    wick_dim_print_with(t, a->arg[i], symbol, arg, out);
  }
  wick_text_char(out, ')');
}

static void dim_use_print_sign(bool first, bool negative, wick_text *out)
{
  if (first)
    wick_text_add(out, negative ? "-" : "");
  else
    wick_text_add(out, negative ? " - " : " + ");
}

void wick_dim_print_with(const wick_dims *t, wick_dim d, wick_dim_symbol_print symbol, void *arg,
                         wick_text *out)
{
  wick_dim_form f = wick_dim_get(t, d);
  if (!wick_dim_is_const(d) && !wick_dim_usable(t, d))
    wick_text_add(out, wick_dim_eq(d, WICK_DIM_ANY) ? "any" : "?");
  for (uint32_t i = 0; i < f.nterm; i++) {
    int64_t coef = f.term[i].coef;
    dim_use_print_sign(i == 0, coef < 0, out);
    if (coef != 1 && coef != -1) {
      wick_text_int(out, coef < 0 ? -coef : coef);
      wick_text_char(out, '*');
    }
    for (uint32_t k = 0; k < f.term[i].natom; k++) {
      if (k) wick_text_char(out, '*');
      dim_use_print_atom(t, f.term[i].atom[k], symbol, arg, out);
    }
  }
  if (wick_dim_is_const(d)) {
    wick_text_int(out, d.v);
  } else if (f.constant) {
    dim_use_print_sign(false, f.constant < 0, out);
    wick_text_int(out, f.constant < 0 ? -f.constant : f.constant);
  }
}

static void dim_use_print_name(void *arg, uint32_t atom, wick_text *out)
{
  wick_text_add(out, wick_dim_atom(arg, atom)->name);
}

void wick_dim_print(const wick_dims *t, wick_dim d, wick_text *out)
{
  wick_dims *dims = (wick_dims *)(uintptr_t)t; /* printing does not change the table */
  wick_dim_print_with(t, d, dim_use_print_name, dims, out);
}

/* ---- estimates ---- */

enum { DIM_TYPICAL_SPREAD = 1024 };

static double dim_use_typical(const wick_dims *t, wick_dim d);

static double dim_use_typical_symbol(const wick_atom *a)
{
  double lo = a->lo > 1 ? (double)a->lo : 1, hi = a->hi > 1 ? (double)a->hi : 1;
  if (hi > lo * DIM_TYPICAL_SPREAD) hi = lo * DIM_TYPICAL_SPREAD;
  return floor(sqrt(lo * hi));
}

static double dim_use_typical_atom(const wick_dims *t, const wick_atom *a)
{
  if (a->kind == WICK_ATOM_SYMBOL) return dim_use_typical_symbol(a);
  double x = dim_use_typical(t, a->arg[0]);
  for (uint32_t i = 1; i < a->narg; i++) {
    double y = dim_use_typical(t, a->arg[i]);
    switch (a->kind) {
    case WICK_ATOM_MIN: x = fmin(x, y); break;
    case WICK_ATOM_MAX: x = fmax(x, y); break;
    case WICK_ATOM_MOD: x = y != 0 ? x - y * floor(x / y) : 0; break;
    default: x = y != 0 ? floor(x / y) : 0; break;
    }
  }
  return x;
}

static double dim_use_typical(const wick_dims *t, wick_dim d)
{
  if (wick_dim_is_const(d)) return (double)d.v;
  wick_dim_form f = wick_dim_get(t, d);
  double sum = (double)f.constant;
  for (uint32_t i = 0; i < f.nterm; i++) {
    double x = (double)f.term[i].coef;
    for (uint32_t k = 0; k < f.term[i].natom; k++)
      x *= dim_use_typical_atom(t, wick_dim_atom(t, f.term[i].atom[k]));
    sum += x;
  }
  return sum;
}

int64_t wick_dim_typical(const wick_dims *t, wick_dim d)
{
  if (!wick_dim_is_const(d) && !wick_dim_usable(t, d)) return 0;
  double x = dim_use_typical(t, d);
  return x < 0 ? 0 : x < 0x1p62 ? (int64_t)x : (int64_t)1 << 62;
}
