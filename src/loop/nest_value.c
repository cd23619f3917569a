/* Values of the nest: reuse of available values, index arithmetic, and masks. */
#include <string.h>

#include "base/hash.h"
#include "loop/nest_state.h"

/* ---- available values ---- */

static uint32_t nest_bucket(const uint64_t *key, uint32_t nkey)
{
  uint64_t h = WICK_HASH_SEED;
  for (uint32_t i = 0; i < nkey; i++) h = wick_hash_u64(h, key[i]);
  return (uint32_t)(h % NEST_BUCKETS);
}

nest_known *nest_find(nest *t, const uint64_t *key, uint32_t nkey)
{
  for (uint32_t i = t->bucket[nest_bucket(key, nkey)]; i; i = t->known.at[i - 1].next) {
    nest_known *k = &t->known.at[i - 1];
    if (k->nkey == nkey && memcmp(k->key, key, nkey * sizeof *key) == 0) return k;
  }
  return NULL;
}

wick_value nest_remember(nest *t, const uint64_t *key, uint32_t nkey, wick_value v)
{
  nest_known k = {.nkey = nkey, .value = v, .bucket = nest_bucket(key, nkey)};
  memcpy(k.key, key, nkey * sizeof *key);
  k.next = t->bucket[k.bucket];
  wick_push(t->tmp, &t->known, k);
  t->bucket[k.bucket] = t->known.n;
  return v;
}

uint32_t nest_known_mark(const nest *t) { return t->known.n; }

void nest_known_rewind(nest *t, uint32_t mark)
{
  while (t->known.n > mark) {
    nest_known *k = &t->known.at[--t->known.n];
    t->bucket[k->bucket] = k->next;
  }
}

/* ---- scalars and vectors ---- */

enum { NEST_KEY_INT = 1, NEST_KEY_WIDE, NEST_KEY_DIM, NEST_KEY_IOTA, NEST_KEY_MASK, NEST_KEY_OP };

wick_value nest_i64(nest *t, int64_t i)
{
  uint64_t key[2] = {NEST_KEY_INT, (uint64_t)i};
  nest_known *k = nest_find(t, key, 2);
  return k ? k->value : nest_remember(t, key, 2, wick_build_i64(&t->b, i));
}

wick_value nest_widen(nest *t, wick_value v, uint32_t lanes)
{
  if (lanes == 1 || t->b.status || wick_built_info(&t->b, v)->lanes != 1) return v;
  return nest_repeat(t, v, lanes);
}

wick_value nest_repeat(nest *t, wick_value v, uint32_t lanes)
{
  if (t->b.status) return v;
  const wick_type_info *info = wick_built_info(&t->b, v);
  uint64_t key[3] = {NEST_KEY_WIDE, v.id, lanes};
  nest_known *k = nest_find(t, key, 3);
  if (k) return k->value;
  wick_type want = wick_type_scalar(t->m, info->elem, lanes);
  return nest_remember(t, key, 3, wick_build(&t->b, WICK_OP_broadcast, 1, &v, NULL, 1, &want));
}

wick_value nest_binary(nest *t, wick_opcode op, wick_value x, wick_value y)
{
  if (t->b.status) return (wick_value){0};
  uint32_t lx = wick_built_info(&t->b, x)->lanes, ly = wick_built_info(&t->b, y)->lanes,
           lanes = lx > ly ? lx : ly;
  uint64_t key[4] = {NEST_KEY_OP, op, x.id, y.id};
  nest_known *k = nest_find(t, key, 4);
  if (k) return k->value;
  return nest_remember(t, key, 4,
                       wick_build2(&t->b, op, nest_widen(t, x, lanes), nest_widen(t, y, lanes)));
}

/* ---- expressions ---- */

wick_dim nest_symbol_open(nest *t, const char *name, int64_t hi)
{
  return wick_dim_symbol(t->m->dims, wick_str_printf(t->tmp, "%s.%u", name, t->nsymbol++), 0, hi);
}

wick_dim nest_index_open(nest *t, const char *name, wick_dim n)
{
  int64_t most = nest_high(t, n);
  return most <= 1 ? wick_dim_const(0) : nest_symbol_open(t, name, most - 1);
}

wick_dim nest_symbol_be(nest *t, const char *name, wick_dim d, int64_t hi)
{
  if (wick_dim_is_const(d) || t->b.status) return d;
  wick_value v = nest_dim(t, NULL, d);
  wick_dim sym = nest_symbol_open(t, name, hi);
  wick_push(t->tmp, &t->symbols,
            (struct nest_symbol){.sym = sym, .value = v, .most = d, .exact = true});
  return sym;
}

int64_t nest_high(const nest *t, wick_dim d)
{
  int64_t lo, hi;
  wick_dim_range(t->m->dims, d, &lo, &hi);
  return hi;
}

/* Replaces sym by `most` in d, if this is an upper bound: if d grows with sym, or if sym has
 * exactly this value. */
static wick_dim nest_bound_by(nest *t, wick_dim d, wick_dim sym, wick_dim most, bool exact)
{
  wick_dim coef, rest;
  if (wick_dim_eq(most, WICK_DIM_INVALID) || !wick_dim_uses(t->m->dims, d, sym)) return d;
  bool grows =
      wick_dim_linear(t->m->dims, d, sym, &coef, &rest) && wick_dim_is_const(coef) && coef.v > 0;
  return grows || exact ? wick_dim_substitute(t->m->dims, d, 1, &sym, &most) : d;
}

wick_dim nest_bound(nest *t, const nest_run *r, wick_dim d)
{
  if (r && !wick_dim_eq(r->vsym, WICK_DIM_INVALID))
    d = nest_bound_by(t, d, r->vsym, wick_dim_sub(t->m->dims, r->active, wick_dim_const(1)), false);
  for (uint32_t i = t->symbols.n; i-- > 0;) {
    const struct nest_symbol *s = &t->symbols.at[i];
    d = nest_bound_by(t, d, s->sym, s->most, s->exact);
  }
  return d;
}

static wick_value nest_symbol_value(nest *t, const nest_run *r, wick_dim sym)
{
  if (r && wick_dim_eq(sym, r->vsym)) {
    uint64_t key[2] = {NEST_KEY_IOTA, r->lanes};
    nest_known *k = nest_find(t, key, 2);
    wick_type want = wick_type_scalar(t->m, WICK_I64, r->lanes);
    return k ? k->value
             : nest_remember(t, key, 2, wick_build(&t->b, WICK_OP_iota, 0, NULL, NULL, 1, &want));
  }
  for (uint32_t i = t->symbols.n; i-- > 0;)
    if (wick_dim_eq(t->symbols.at[i].sym, sym)) return t->symbols.at[i].value;
  wick_text text = wick_text_begin(t->tmp);
  wick_dim_print(t->m->dims, sym, &text);
  nest_fail(t, "the symbol %s has no value here", text.at);
  return (wick_value){0};
}

/* Returns the depth of an expression's innermost symbol among the open loops. Sums are built
 * from the outermost symbol inwards, so that parts that do not change in a loop can be moved out
 * of it. */
static uint32_t nest_depth(nest *t, const nest_run *r, wick_dim d)
{
  if (r && !wick_dim_eq(r->vsym, WICK_DIM_INVALID) && wick_dim_uses(t->m->dims, d, r->vsym))
    return UINT32_MAX;
  for (uint32_t i = t->symbols.n; i-- > 0;)
    if (wick_dim_uses(t->m->dims, d, t->symbols.at[i].sym)) return i + 1;
  return 0;
}

static wick_value nest_atom(nest *t, const nest_run *r, uint32_t atom)
{
  const wick_atom *a = wick_dim_atom(t->m->dims, atom);
  if (a->kind == WICK_ATOM_SYMBOL)
    return nest_symbol_value(t, r, wick_dim_from_atom(t->m->dims, atom));
  wick_value v = nest_dim(t, r, a->arg[0]);
  if (a->kind == WICK_ATOM_MIN || a->kind == WICK_ATOM_MAX) {
    for (uint32_t i = 1; i < a->narg; i++)
      v = nest_binary(t, a->kind == WICK_ATOM_MIN ? WICK_OP_min : WICK_OP_max, v,
                      nest_dim(t, r, a->arg[i]));
    return v;
  }
  wick_value by = nest_dim(t, r, a->arg[1]);
  int64_t lo, hi, least, most;
  wick_dim_range(t->m->dims, a->arg[0], &lo, &hi);
  wick_dim_range(t->m->dims, a->arg[1], &least, &most);
  bool bare = lo >= 0 && least > 0; /* neither can be negative or 0, so that no guards are needed */
  if (a->kind == WICK_ATOM_MOD)
    return nest_binary(t, bare ? WICK_OP_rem_unchecked : WICK_OP_mod, v, by);
  if (lo < 0)
    v = nest_binary(t, WICK_OP_sub, v,
                    /* the division is exact, so that truncating is the same as flooring */
                    nest_binary(t, WICK_OP_mod, v, by));
  return nest_binary(t, bare ? WICK_OP_div_unchecked : WICK_OP_div, v, by);
}

static wick_value nest_term(nest *t, const nest_run *r, const wick_term *term)
{
  wick_value v = nest_atom(t, r, term->atom[0]);
  for (uint32_t i = 1; i < term->natom; i++)
    v = nest_binary(t, WICK_OP_mul, v, nest_atom(t, r, term->atom[i]));
  return term->coef == 1 ? v : nest_binary(t, WICK_OP_mul, v, nest_i64(t, term->coef));
}

static wick_dim nest_term_dim(nest *t, const wick_term *term)
{
  wick_dim d = wick_dim_const(term->coef);
  for (uint32_t i = 0; i < term->natom; i++)
    d = wick_dim_mul(t->m->dims, d, wick_dim_from_atom(t->m->dims, term->atom[i]));
  return d;
}

wick_value nest_dim(nest *t, const nest_run *r, wick_dim d)
{
  if (t->b.status) return (wick_value){0};
  if (wick_dim_is_const(d)) return nest_i64(t, d.v);
  if (wick_dim_eq(d, WICK_DIM_INVALID) || wick_dim_eq(d, WICK_DIM_ANY)) {
    nest_fail(t, "an index overflows");
    return (wick_value){0};
  }
  bool wide = r && !wick_dim_eq(r->vsym, WICK_DIM_INVALID) && wick_dim_uses(t->m->dims, d, r->vsym);
  uint64_t key[3] = {NEST_KEY_DIM, (uint64_t)d.v, wide ? r->lanes : 1};
  nest_known *k = nest_find(t, key, 3);
  if (k) return k->value;
  wick_dim_form f = wick_dim_get(t->m->dims, d);
  wick_mark mark = wick_arena_mark(t->tmp);
  (void)mark;
  uint32_t *order = wick_new(t->tmp, uint32_t, f.nterm),
           *depth = wick_new(t->tmp, uint32_t, f.nterm);
  for (uint32_t i = 0; i < f.nterm; i++) {
    uint32_t deep = nest_depth(t, r, nest_term_dim(t, &f.term[i])), j = i;
    for (; j > 0 && depth[j - 1] > deep; j--) depth[j] = depth[j - 1], order[j] = order[j - 1];
    depth[j] = deep, order[j] = i;
  }
  wick_value v = nest_term(t, r, &f.term[order[0]]);
  for (uint32_t i = 1; i < f.nterm; i++)
    v = nest_binary(t, WICK_OP_add, v, nest_term(t, r, &f.term[order[i]]));
  if (f.constant) v = nest_binary(t, WICK_OP_add, v, nest_i64(t, f.constant));
  return nest_remember(t, key, 3, v);
}

wick_value nest_mask(nest *t, const nest_run *r)
{
  if (wick_dim_is(r->active, r->lanes) || t->b.status) return (wick_value){0};
  uint64_t key[3] = {NEST_KEY_MASK, r->lanes, (uint64_t)r->active.v};
  nest_known *k = nest_find(t, key, 3);
  if (k) return k->value;
  return nest_remember(
      t, key, 3,
      nest_binary(t, WICK_OP_lt, nest_symbol_value(t, r, r->vsym), nest_dim(t, NULL, r->active)));
}
