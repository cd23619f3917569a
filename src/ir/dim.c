/* Dimension expressions: the table, the order of terms, and sums and products. */
#include "ir/dim.h"

#include <string.h>

#include "base/hash.h"
#include "ir/dim_table.h"

static bool dim_fits(int64_t v) { return v >= -((int64_t)1 << 62); }

/* ---- the three tables ---- */

static wick_dim_index dim_index_make(wick_arena *mem)
{
  return (wick_dim_index){.slot = wick_new(mem, wick_dim_slot, 64), .nslot = 64};
}

static void dim_index_put(wick_dim_index *x, uint32_t hash, uint32_t id)
{
  uint32_t i = hash & (x->nslot - 1);
  while (x->slot[i].id) i = (i + 1) & (x->nslot - 1);
  x->slot[i] = (wick_dim_slot){hash, id};
}

static void dim_index_add(wick_arena *mem, wick_dim_index *x, uint32_t hash, uint32_t id)
{
  if (++x->n > x->nslot / 2) {
    wick_dim_index more = {.slot = wick_new(mem, wick_dim_slot, (size_t)x->nslot * 2),
                           .nslot = x->nslot * 2,
                           .n = x->n};
    for (uint32_t i = 0; i < x->nslot; i++)
      if (x->slot[i].id) dim_index_put(&more, x->slot[i].hash, x->slot[i].id);
    *x = more;
  }
  dim_index_put(x, hash, id);
}

static uint32_t dim_fold(uint64_t hash) { return (uint32_t)(hash ^ (hash >> 32)); }

wick_dims *wick_dims_create(wick_arena *mem)
{
  wick_dims *t = wick_new(mem, wick_dims, 1);
  t->mem = mem;
  t->expr_index = dim_index_make(mem);
  t->atom_index = dim_index_make(mem);
  t->mono_index = dim_index_make(mem);
  t->quotient = wick_new(mem, wick_dim_quotient, WICK_DIM_QUOTIENTS);
  wick_push(mem, &t->exprs, (wick_dim_expr){0}); /* INVALID */
  wick_push(mem, &t->exprs, (wick_dim_expr){0}); /* ANY */
  wick_push(mem, &t->atoms, NULL);
  wick_push(mem, &t->monos, (wick_term){0});
  return t;
}

/* Scratch memory in the table's own arena. It is released unless something was interned after
 * it. */
typedef struct dim_scratch {
  wick_mark mark;
  uint32_t n;
} dim_scratch;

static uint32_t dim_count(const wick_dims *t) { return t->exprs.n + t->atoms.n + t->monos.n; }

static dim_scratch dim_scratch_begin(const wick_dims *t)
{
  return (dim_scratch){wick_arena_mark(t->mem), dim_count(t)};
}

static void dim_scratch_end(wick_dims *t, dim_scratch s)
{
  if (dim_count(t) == s.n) wick_arena_rewind(t->mem, s.mark);
}

/* ---- order ---- */

static int dim_compare_i64(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int dim_compare_atom(const wick_dims *t, uint32_t x, uint32_t y)
{
  if (x == y) return 0;
  const wick_dim_cell *a = t->atoms.at[x], *b = t->atoms.at[y];
  if (a->atom.kind != b->atom.kind) return a->atom.kind < b->atom.kind ? -1 : 1;
  if (a->atom.kind == WICK_ATOM_SYMBOL) {
    if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
    int c = strcmp(a->atom.name, b->atom.name);
    if (!c) c = dim_compare_i64(a->atom.lo, b->atom.lo);
    return c ? c : dim_compare_i64(a->atom.hi, b->atom.hi);
  }
  if (a->atom.narg != b->atom.narg) return a->atom.narg < b->atom.narg ? -1 : 1;
  for (uint32_t i = 0; i < a->atom.narg; i++) {
    int c = wick_dim_compare(t, a->atom.arg[i], b->atom.arg[i]);
    if (c) return c;
  }
  return 0;
}

/* Compares by degree, the highest first, then atom by atom. Multiplication by a monomial keeps
 * this order. */
static int dim_compare_mono(const wick_dims *t, const wick_term *a, const wick_term *b)
{
  if (a->atom == b->atom) return 0;
  if (a->natom != b->natom) return a->natom > b->natom ? -1 : 1;
  for (uint32_t i = 0; i < a->natom; i++) {
    int c = dim_compare_atom(t, a->atom[i], b->atom[i]);
    if (c) return c;
  }
  return 0;
}

int wick_dim_compare(const wick_dims *t, wick_dim a, wick_dim b)
{
  if (a.v == b.v) return 0;
  bool ca = wick_dim_is_const(a), cb = wick_dim_is_const(b);
  if (ca && cb) return dim_compare_i64(a.v, b.v);
  if (ca != cb) return ca ? 1 : -1;
  wick_dim_form f = wick_dim_get(t, a), g = wick_dim_get(t, b);
  for (uint32_t i = 0; i < f.nterm && i < g.nterm; i++) {
    int c = dim_compare_mono(t, &f.term[i], &g.term[i]);
    if (!c) c = dim_compare_i64(f.term[i].coef, g.term[i].coef);
    if (c) return c;
  }
  if (f.nterm != g.nterm) return f.nterm < g.nterm ? -1 : 1;
  return dim_compare_i64(f.constant, g.constant);
}

/* ---- monomials ---- */

wick_term wick_mono_atom(const wick_dims *t, uint32_t atom)
{
  return (wick_term){.coef = 1, .natom = 1, .atom = &t->atoms.at[atom]->id};
}

/* Interns a monomial. The atoms are sorted, and in scratch memory; they are copied if the
 * monomial is new. */
static wick_term dim_mono_intern(wick_dims *t, const uint32_t *atom, uint32_t natom)
{
  if (natom == 0) return (wick_term){.coef = 1};
  if (natom == 1) return wick_mono_atom(t, atom[0]);
  uint64_t h = WICK_HASH_SEED;
  for (uint32_t i = 0; i < natom; i++) h = wick_hash_u64(h, atom[i]);
  uint32_t hash = dim_fold(h);
  const wick_dim_index *x = &t->mono_index;
  for (uint32_t i = hash & (x->nslot - 1); x->slot[i].id; i = (i + 1) & (x->nslot - 1)) {
    if (x->slot[i].hash != hash) continue;
    const wick_term *m = &t->monos.at[x->slot[i].id];
    if (m->natom == natom && memcmp(m->atom, atom, natom * sizeof *atom) == 0) return *m;
  }
  wick_term m = {.coef = 1, .natom = natom, .atom = wick_dup(t->mem, uint32_t, atom, natom)};
  dim_index_add(t->mem, &t->mono_index, hash, t->monos.n);
  wick_push(t->mem, &t->monos, m);
  return m;
}

wick_term wick_mono_mul(wick_dims *t, wick_term a, wick_term b)
{
  a.coef = b.coef = 1;
  if (!a.natom) return b;
  if (!b.natom) return a;
  dim_scratch s = dim_scratch_begin(t);
  uint32_t *atom = wick_new(t->mem, uint32_t, (size_t)a.natom + b.natom), n = 0;
  for (uint32_t i = 0, j = 0; i < a.natom || j < b.natom;) {
    bool first = j == b.natom || (i < a.natom && dim_compare_atom(t, a.atom[i], b.atom[j]) <= 0);
    atom[n++] = first ? a.atom[i++] : b.atom[j++];
  }
  wick_term m = dim_mono_intern(t, atom, n);
  dim_scratch_end(t, s);
  return m;
}

bool wick_mono_div(wick_dims *t, wick_term a, wick_term b, wick_term *out)
{
  if (b.natom > a.natom) return false;
  dim_scratch s = dim_scratch_begin(t);
  uint32_t *atom = wick_new(t->mem, uint32_t, a.natom), n = 0, j = 0;
  for (uint32_t i = 0; i < a.natom; i++) {
    if (j < b.natom && a.atom[i] == b.atom[j])
      j++;
    else
      atom[n++] = a.atom[i];
  }
  bool divides = j == b.natom;
  if (divides) *out = dim_mono_intern(t, atom, n);
  dim_scratch_end(t, s);
  return divides;
}

/* ---- atoms ---- */

static uint32_t dim_atom_find(const wick_dims *t, const wick_atom *a, uint32_t hash)
{
  const wick_dim_index *x = &t->atom_index;
  for (uint32_t i = hash & (x->nslot - 1); x->slot[i].id; i = (i + 1) & (x->nslot - 1)) {
    if (x->slot[i].hash != hash) continue;
    const wick_atom *b = &t->atoms.at[x->slot[i].id]->atom;
    if (a->kind != b->kind || a->narg != b->narg) continue;
    bool same = a->kind == WICK_ATOM_SYMBOL
                    ? a->lo == b->lo && a->hi == b->hi && strcmp(a->name, b->name) == 0
                    : memcmp(a->arg, b->arg, a->narg * sizeof *a->arg) == 0;
    if (same) return x->slot[i].id;
  }
  return 0;
}

static wick_dim_cell *dim_atom_new(wick_dims *t, wick_atom a, uint32_t hash)
{
  wick_dim_cell *c = wick_new(t->mem, wick_dim_cell, 1);
  *c = (wick_dim_cell){
      .atom = a, .id = t->atoms.n, .self = WICK_DIM_INVALID, .natom = 1, .depth = 1};
  dim_index_add(t->mem, &t->atom_index, hash, c->id);
  wick_push(t->mem, &t->atoms, c);
  return c;
}

wick_dim wick_dim_symbol(wick_dims *t, const char *name, int64_t lo, int64_t hi)
{
  wick_atom a = {.kind = WICK_ATOM_SYMBOL, .name = name, .lo = lo, .hi = hi};
  uint64_t h = wick_hash_u64(wick_hash_str(WICK_HASH_SEED, name), (uint64_t)lo);
  uint32_t hash = dim_fold(wick_hash_u64(h, (uint64_t)hi));
  uint32_t id = dim_atom_find(t, &a, hash);
  if (!id) {
    a.name = wick_str_dup(t->mem, name);
    wick_dim_cell *c = dim_atom_new(t, a, hash);
    id = c->id;
    c->mask = (uint64_t)1 << (id & 63);
    for (size_t i = 0, n = strlen(name); i < 8; i++)
      c->prefix = c->prefix << 8 | (i < n ? (unsigned char)name[i] : 0);
  }
  return wick_dim_from_atom(t, id);
}

uint32_t wick_dim_intern_atom(wick_dims *t, wick_atom_kind kind, uint32_t narg, const wick_dim *arg)
{
  wick_atom a = {.kind = kind, .narg = narg, .arg = arg};
  uint64_t h = wick_hash_u64(WICK_HASH_SEED, kind);
  for (uint32_t i = 0; i < narg; i++) h = wick_hash_u64(h, (uint64_t)arg[i].v);
  uint32_t hash = dim_fold(h), id = dim_atom_find(t, &a, hash);
  if (id) return id;
  wick_dim_cell c = {.natom = 1, .depth = 1};
  wick_range range[WICK_DIM_ARGS];
  if (narg > WICK_DIM_ARGS) return 0;
  for (uint32_t i = 0; i < narg; i++) {
    range[i] = wick_dim_range_of(t, arg[i]);
    if (wick_dim_is_const(arg[i])) continue;
    const wick_dim_expr *e = &t->exprs.at[wick_dim_number(arg[i])];
    c.natom += e->natom;
    c.mask |= e->mask;
    if (e->depth >= c.depth) c.depth = e->depth + 1;
    if (c.natom > WICK_DIM_ATOMS || c.depth > WICK_DIM_DEPTH) return 0;
  }
  wick_range r = wick_range_atom(kind, narg, range);
  a.lo = r.lo, a.hi = r.hi;
  a.arg = wick_dup(t->mem, wick_dim, arg, narg);
  wick_dim_cell *cell = dim_atom_new(t, a, hash);
  cell->natom = c.natom, cell->depth = c.depth, cell->mask = c.mask;
  return cell->id;
}

const wick_atom *wick_dim_atom(const wick_dims *t, uint32_t atom)
{
  return &t->atoms.at[atom]->atom;
}

/* ---- expressions ---- */

wick_dim_form wick_dim_key(const wick_dims *t, wick_dim d)
{
  if (wick_dim_is_const(d)) return (wick_dim_form){.constant = d.v};
  return t->exprs.at[wick_dim_number(d)].key;
}

wick_dim_form wick_dim_get(const wick_dims *t, wick_dim d)
{
  if (wick_dim_is_const(d)) return (wick_dim_form){.constant = d.v};
  return wick_dim_usable(t, d) ? t->exprs.at[wick_dim_number(d)].form : (wick_dim_form){0};
}

wick_range wick_dim_range_of(const wick_dims *t, wick_dim d)
{
  return wick_dim_is_const(d) ? (wick_range){d.v, d.v} : t->exprs.at[wick_dim_number(d)].range;
}

const wick_dim_cell *wick_dim_lone(const wick_dims *t, wick_dim d)
{
  wick_dim_form f = wick_dim_get(t, d);
  if (f.constant || f.nterm != 1 || f.term[0].coef != 1 || f.term[0].natom != 1) return NULL;
  return t->atoms.at[f.term[0].atom[0]];
}

static uint32_t dim_expr_find(const wick_dims *t, wick_dim_form key, uint32_t hash)
{
  const wick_dim_index *x = &t->expr_index;
  for (uint32_t i = hash & (x->nslot - 1); x->slot[i].id; i = (i + 1) & (x->nslot - 1)) {
    if (x->slot[i].hash != hash) continue;
    wick_dim_form k = t->exprs.at[x->slot[i].id].key;
    if (k.nterm != key.nterm || k.constant != key.constant) continue;
    uint32_t n = 0;
    while (n < k.nterm && k.term[n].atom == key.term[n].atom && k.term[n].coef == key.term[n].coef)
      n++;
    if (n == k.nterm) return x->slot[i].id;
  }
  return 0;
}

/* Computes the counts and masks of a form, and whether it has a floordiv at its top. Returns
 * false if it is too large. */
static bool dim_measure(const wick_dims *t, wick_dim_form f, wick_dim_expr *e, bool *divides)
{
  for (uint32_t i = 0; i < f.nterm; i++) {
    for (uint32_t k = 0; k < f.term[i].natom; k++) {
      const wick_dim_cell *c = t->atoms.at[f.term[i].atom[k]];
      e->natom += c->natom;
      e->mask |= c->mask;
      if (c->depth > e->depth) e->depth = c->depth;
      *divides |= c->atom.kind == WICK_ATOM_FLOORDIV;
      if (e->natom > WICK_DIM_ATOMS) return false;
    }
  }
  return true;
}

/* Interns the expression. If it is new, it uses key's terms without a copy. */
static wick_dim dim_intern(wick_dims *t, wick_dim_form key)
{
  if (!key.nterm) return dim_fits(key.constant) ? wick_dim_const(key.constant) : WICK_DIM_INVALID;
  uint64_t h = wick_hash_u64(WICK_HASH_SEED, (uint64_t)key.constant);
  for (uint32_t i = 0; i < key.nterm; i++)
    h = wick_hash_u64(wick_hash_u64(h, (uint64_t)key.term[i].coef), (uintptr_t)key.term[i].atom);
  uint32_t hash = dim_fold(h), id = dim_expr_find(t, key, hash);
  if (!id) {
    wick_dim_expr e = {.key = key, .form = key};
    bool divides = false;
    if (!dim_measure(t, key, &e, &divides)) return WICK_DIM_INVALID;
    e.range = wick_range_form(t, key);
    if (divides) wick_dim_put_mods(t, &e.form);
    if (e.form.term != e.key.term) {
      e.natom = e.depth = 0;
      if (!dim_measure(t, e.form, &e, &divides)) return WICK_DIM_INVALID;
      wick_range r = wick_range_form(t, e.form);
      e.range.lo = wick_max_i64(e.range.lo, r.lo);
      e.range.hi = wick_min_i64(e.range.hi, r.hi);
    }
    id = t->exprs.n;
    dim_index_add(t->mem, &t->expr_index, hash, id);
    wick_push(t->mem, &t->exprs, e);
  }
  return (wick_dim){WICK_DIM_EXPR + (int64_t)id};
}

wick_dim wick_dim_from_atom(wick_dims *t, uint32_t atom)
{
  wick_dim_cell *c = t->atoms.at[atom];
  if (!wick_dim_eq(c->self, WICK_DIM_INVALID)) return c->self;
  if (c->atom.kind == WICK_ATOM_MOD) {
    c->self = wick_dim_mod(t, c->atom.arg[0], c->atom.arg[1]);
  } else {
    wick_term *term = wick_new(t->mem, wick_term, 1);
    *term = wick_mono_atom(t, atom);
    c->self = dim_intern(t, (wick_dim_form){.nterm = 1, .term = term});
  }
  return c->self;
}

/* ---- sums and products ---- */

bool wick_dim_accumulate(wick_dims *t, wick_dim_form *acc, int64_t coef, wick_term mono,
                         wick_dim_form p)
{
  if (coef == 0) return true;
  if (acc->nterm + p.nterm > 2 * WICK_DIM_ATOMS) return false;
  uint32_t np = p.nterm + (mono.natom && p.constant), i = 0, j = 0;
  wick_term *out = wick_new(t->mem, wick_term, (size_t)acc->nterm + np);
  wick_dim_form sum = {.constant = acc->constant, .term = out};
  int64_t c;
  if (!mono.natom &&
      (wick_mul_overflows(coef, p.constant, &c) ||
       wick_add_overflows(c, acc->constant, &sum.constant) || !dim_fits(sum.constant)))
    return false;
  wick_term next = {0};
  bool have = false; /* `next` holds term j of coef * mono * p */
  while (i < acc->nterm || j < np) {
    if (!have && j < np) {
      bool is_term = j < p.nterm;
      next = is_term ? p.term[j] : mono;
      if (wick_mul_overflows(coef, is_term ? p.term[j].coef : p.constant, &c)) return false;
      if (is_term && mono.natom) next = wick_mono_mul(t, p.term[j], mono);
      next.coef = c;
      have = true;
    }
    int order = !have ? -1 : i == acc->nterm ? 1 : dim_compare_mono(t, &acc->term[i], &next);
    wick_term put = order <= 0 ? acc->term[i++] : next;
    if (order == 0 && wick_add_overflows(put.coef, next.coef, &put.coef)) return false;
    if (order >= 0) have = false, j++;
    if (!dim_fits(put.coef)) return false;
    if (put.coef) out[sum.nterm++] = put;
  }
  *acc = sum;
  return true;
}

/* Returns a + k * b. */
static wick_dim dim_combine(wick_dims *t, wick_dim a, int64_t k, wick_dim b)
{
  if (!wick_dim_usable(t, a) || !wick_dim_usable(t, b)) return WICK_DIM_INVALID;
  dim_scratch s = dim_scratch_begin(t);
  wick_dim_form acc = wick_dim_key(t, a);
  bool ok = wick_dim_accumulate(t, &acc, k, (wick_term){0}, wick_dim_key(t, b));
  wick_dim d = ok ? dim_intern(t, acc) : WICK_DIM_INVALID;
  dim_scratch_end(t, s);
  return d;
}

wick_dim wick_dim_add(wick_dims *t, wick_dim a, wick_dim b)
{
  if (wick_dim_is(a, 0) && wick_dim_usable(t, b)) return b;
  if (wick_dim_is(b, 0) && wick_dim_usable(t, a)) return a;
  return dim_combine(t, a, 1, b);
}

wick_dim wick_dim_sub(wick_dims *t, wick_dim a, wick_dim b)
{
  if (wick_dim_is(b, 0) && wick_dim_usable(t, a)) return a;
  return dim_combine(t, a, -1, b);
}

wick_dim wick_dim_mul(wick_dims *t, wick_dim a, wick_dim b)
{
  if (wick_dim_is_const(a)) {
    wick_dim c = a;
    a = b, b = c;
  }
  if (!wick_dim_usable(t, a) || !wick_dim_usable(t, b)) return WICK_DIM_INVALID;
  if (wick_dim_is_const(b)) return b.v == 1 ? a : dim_combine(t, wick_dim_const(0), b.v, a);
  wick_dim_form ka = wick_dim_key(t, a), kb = wick_dim_key(t, b), acc = {0};
  if ((uint64_t)ka.nterm * kb.nterm > WICK_DIM_ATOMS) return WICK_DIM_INVALID;
  dim_scratch s = dim_scratch_begin(t);
  bool ok = wick_dim_accumulate(t, &acc, kb.constant, (wick_term){0}, ka);
  for (uint32_t i = 0; i < kb.nterm && ok; i++)
    ok = wick_dim_accumulate(t, &acc, kb.term[i].coef, kb.term[i], ka);
  wick_dim d = ok ? dim_intern(t, acc) : WICK_DIM_INVALID;
  dim_scratch_end(t, s);
  return d;
}

static bool dim_has_mod(const wick_dims *t, const wick_term *m)
{
  for (uint32_t i = 0; i < m->natom; i++)
    if (t->atoms.at[m->atom[i]]->atom.kind == WICK_ATOM_MOD) return true;
  return false;
}

wick_dim wick_dim_from_form(wick_dims *t, wick_dim_form form)
{
  dim_scratch s = dim_scratch_begin(t);
  wick_term *plain = wick_new(t->mem, wick_term, form.nterm);
  wick_dim_form key = {.constant = form.constant, .term = plain};
  for (uint32_t i = 0; i < form.nterm; i++)
    if (!dim_has_mod(t, &form.term[i])) plain[key.nterm++] = form.term[i];
  wick_dim d = dim_intern(t, key);
  for (uint32_t i = 0; i < form.nterm && key.nterm < form.nterm; i++) {
    if (!dim_has_mod(t, &form.term[i])) continue;
    wick_dim product = wick_dim_const(form.term[i].coef);
    for (uint32_t k = 0; k < form.term[i].natom; k++)
      product = wick_dim_mul(t, product, wick_dim_from_atom(t, form.term[i].atom[k]));
    d = wick_dim_add(t, d, product);
  }
  dim_scratch_end(t, s);
  return d;
}
