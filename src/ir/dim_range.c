/* Dimension expressions: ranges, by interval arithmetic that saturates. */
#include "ir/dim_table.h"

static int64_t dim_range_clamp(int64_t v) { return wick_max_i64(v, WICK_RANGE_LO); }

/* The product of two bounds. An infinite bound times 0 is 0, because all values are finite. */
static int64_t dim_range_mul_end(int64_t a, int64_t b)
{
  if (!a || !b) return 0;
  int64_t p;
  bool infinite =
      a <= WICK_RANGE_LO || a == WICK_RANGE_HI || b <= WICK_RANGE_LO || b == WICK_RANGE_HI;
  if (infinite || wick_mul_overflows(a, b, &p))
    return (a < 0) == (b < 0) ? WICK_RANGE_HI : WICK_RANGE_LO;
  return dim_range_clamp(p);
}

static wick_range dim_range_mul(wick_range a, wick_range b)
{
  int64_t p[4] = {dim_range_mul_end(a.lo, b.lo), dim_range_mul_end(a.lo, b.hi),
                  dim_range_mul_end(a.hi, b.lo), dim_range_mul_end(a.hi, b.hi)};
  wick_range r = {p[0], p[0]};
  for (int i = 1; i < 4; i++) {
    r.lo = wick_min_i64(r.lo, p[i]);
    r.hi = wick_max_i64(r.hi, p[i]);
  }
  return r;
}

static wick_range dim_range_add(wick_range a, wick_range b)
{
  wick_range r;
  if (a.lo <= WICK_RANGE_LO || b.lo <= WICK_RANGE_LO)
    r.lo = WICK_RANGE_LO;
  else if (wick_add_overflows(a.lo, b.lo, &r.lo))
    r.lo = a.lo < 0 ? WICK_RANGE_LO : WICK_RANGE_HI;
  if (a.hi == WICK_RANGE_HI || b.hi == WICK_RANGE_HI)
    r.hi = WICK_RANGE_HI;
  else if (wick_add_overflows(a.hi, b.hi, &r.hi))
    r.hi = a.hi < 0 ? WICK_RANGE_LO : WICK_RANGE_HI;
  return (wick_range){dim_range_clamp(r.lo), dim_range_clamp(r.hi)};
}

static wick_range dim_range_power(wick_range a, uint32_t n)
{
  wick_range lo = {1, 1}, hi = {1, 1};
  for (uint32_t i = 0; i < n && i < 64; i++) { /* 64 doublings saturate; 0 and 1 stay */
    lo = dim_range_mul(lo, (wick_range){a.lo, a.lo});
    hi = dim_range_mul(hi, (wick_range){a.hi, a.hi});
  }
  if (n % 2) { /* the sign differs from that of 64 factors */
    if (n > 64 && a.lo < 0) lo = dim_range_mul(lo, (wick_range){-1, -1});
    if (n > 64 && a.hi < 0) hi = dim_range_mul(hi, (wick_range){-1, -1});
    return (wick_range){lo.lo, hi.hi};
  }
  if (a.lo >= 0) return (wick_range){lo.lo, hi.hi};
  if (a.hi <= 0) return (wick_range){hi.lo, lo.hi};
  return (wick_range){0, wick_max_i64(lo.hi, hi.hi)};
}

static int64_t dim_range_div_end(int64_t a, int64_t b)
{
  if (a <= WICK_RANGE_LO || a == WICK_RANGE_HI)
    return (a < 0) == (b < 0) ? WICK_RANGE_HI : WICK_RANGE_LO;
  return dim_range_clamp(wick_floordiv_i64(a, b));
}

/* The divisor is not 0, so it is in [lo, -1] or in [1, hi]. In each of these the quotient is
 * monotone in both operands. */
static wick_range dim_range_floordiv(wick_range a, wick_range b)
{
  int64_t end[4];
  int n = 0;
  if (b.hi > 0) end[n++] = wick_max_i64(b.lo, 1), end[n++] = b.hi;
  if (b.lo < 0) end[n++] = b.lo, end[n++] = wick_min_i64(b.hi, -1);
  if (!n) return (wick_range){WICK_RANGE_LO, WICK_RANGE_HI};
  wick_range r = {WICK_RANGE_HI, WICK_RANGE_LO};
  for (int i = 0; i < n; i++) {
    int64_t p = dim_range_div_end(a.lo, end[i]), q = dim_range_div_end(a.hi, end[i]);
    r.lo = wick_min_i64(r.lo, wick_min_i64(p, q));
    r.hi = wick_max_i64(r.hi, wick_max_i64(p, q));
  }
  return r;
}

static wick_range dim_range_mod(wick_range a, wick_range b)
{
  wick_range r = {0, 0}, q = dim_range_floordiv(a, b);
  if (b.lo == b.hi && q.lo == q.hi && q.lo > WICK_RANGE_LO && q.lo != WICK_RANGE_HI)
    return dim_range_add(a, dim_range_mul(q, (wick_range){-b.lo, -b.lo})); /* all values are in
                                                                              one period */
  if (b.hi > 0) r.hi = b.hi == WICK_RANGE_HI ? b.hi : b.hi - 1;
  if (b.lo < 0) r.lo = b.lo <= WICK_RANGE_LO ? b.lo : b.lo + 1;
  if (b.lo > 0 && a.lo >= 0) r.hi = wick_min_i64(r.hi, a.hi);
  if (b.hi < 0 && a.hi <= 0) r.lo = wick_max_i64(r.lo, a.lo);
  return r;
}

wick_range wick_range_atom(wick_atom_kind kind, uint32_t narg, const wick_range *arg)
{
  if (kind == WICK_ATOM_FLOORDIV) return dim_range_floordiv(arg[0], arg[1]);
  if (kind == WICK_ATOM_MOD) return dim_range_mod(arg[0], arg[1]);
  wick_range r = arg[0];
  for (uint32_t i = 1; i < narg; i++) {
    bool is_min = kind == WICK_ATOM_MIN;
    r.lo = is_min ? wick_min_i64(r.lo, arg[i].lo) : wick_max_i64(r.lo, arg[i].lo);
    r.hi = is_min ? wick_min_i64(r.hi, arg[i].hi) : wick_max_i64(r.hi, arg[i].hi);
  }
  return r;
}

/* Other ranges for some symbols; n = 0: none. */
typedef struct dim_range_box {
  uint32_t n;
  const wick_dim *sym;
  const int64_t *lo, *hi;
  uint64_t mask;
} dim_range_box;

static wick_range dim_range_in_box(const wick_dims *t, wick_dim d, const dim_range_box *box);

static wick_range dim_range_of_atom(const wick_dims *t, uint32_t atom, const dim_range_box *box)
{
  const wick_dim_cell *c = wick_dim_cell_of(t, atom);
  wick_range own = {dim_range_clamp(c->atom.lo),
                    dim_range_clamp(wick_max_i64(c->atom.lo, c->atom.hi))};
  if (!(c->mask & box->mask)) return own;
  if (c->atom.kind == WICK_ATOM_SYMBOL) {
    for (uint32_t i = 0; i < box->n; i++)
      if (wick_dim_eq(box->sym[i], c->self))
        return (wick_range){dim_range_clamp(box->lo[i]), dim_range_clamp(box->hi[i])};
    return own;
  }
  wick_range r = {0}, next[2];
  /* min and max are applied to two arguments at a time */
  for (uint32_t i = 0; i < c->atom.narg; i++) {
    next[i != 0] = dim_range_in_box(t, c->atom.arg[i], box);
    if (i) r = next[0] = wick_range_atom(c->atom.kind, 2, next);
  }
  return r;
}

static wick_range dim_range_form(const wick_dims *t, wick_dim_form form, const dim_range_box *box)
{
  wick_range sum = {form.constant, form.constant};
  for (uint32_t i = 0; i < form.nterm; i++) {
    const wick_term *m = &form.term[i];
    wick_range product = {m->coef, m->coef};
    for (uint32_t k = 0, n = 1; k < m->natom; k += n, n = 1) {
      while (k + n < m->natom && m->atom[k + n] == m->atom[k]) n++;
      product = dim_range_mul(product, dim_range_power(dim_range_of_atom(t, m->atom[k], box), n));
    }
    sum = dim_range_add(sum, product);
  }
  return sum;
}

static wick_range dim_range_in_box(const wick_dims *t, wick_dim d, const dim_range_box *box)
{
  if (wick_dim_is_const(d)) return (wick_range){d.v, d.v};
  const wick_dim_expr *e = &t->exprs.at[wick_dim_number(d)];
  return e->mask & box->mask ? dim_range_form(t, e->form, box) : e->range;
}

wick_range wick_range_form(const wick_dims *t, wick_dim_form form)
{
  return dim_range_form(t, form, &(dim_range_box){0});
}

void wick_dim_range(const wick_dims *t, wick_dim d, int64_t *out_lo, int64_t *out_hi)
{
  wick_range r = {WICK_RANGE_LO, WICK_RANGE_HI};
  if (wick_dim_usable(t, d)) r = wick_dim_range_of(t, d);
  *out_lo = r.lo, *out_hi = r.hi;
}

void wick_dim_range_with(const wick_dims *t, wick_dim d, uint32_t n, const wick_dim *sym,
                         const int64_t *lo, const int64_t *hi, int64_t *out_lo, int64_t *out_hi)
{
  dim_range_box box = {.n = n, .sym = sym, .lo = lo, .hi = hi};
  for (uint32_t i = 0; i < n; i++)
    if (wick_dim_usable(t, sym[i]) && !wick_dim_is_const(sym[i]))
      box.mask |= t->exprs.at[wick_dim_number(sym[i])].mask;
  wick_range r = {WICK_RANGE_LO, WICK_RANGE_HI};
  if (wick_dim_usable(t, d)) r = dim_range_in_box(t, d, &box);
  *out_lo = r.lo, *out_hi = r.hi;
}
