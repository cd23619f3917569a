/* Dimension expressions: whether two can be equal, and which of two equal ones is simpler. */
#include "ir/dim_table.h"

wick_dim wick_dim_difference(wick_dims *t, wick_dim a, wick_dim b)
{
  wick_dim d = wick_dim_sub(t, a, b);
  if (wick_dim_is_const(d) || !wick_dim_usable(t, d)) return d;
  wick_dim_form f = wick_dim_get(t, d);
  int64_t factor = f.constant;
  for (uint32_t k = 0; k < f.nterm; k++) factor = wick_gcd_i64(factor, f.term[k].coef);
  return factor > 1 ? wick_dim_floordiv(t, d, wick_dim_const(factor)) : d;
}

bool wick_dim_solve(wick_dims *t, wick_dim d, int64_t value, wick_arena *tmp, wick_dim *out_sym,
                    int64_t *out)
{
  wick_dim_list used = {0};
  wick_dim coef, rest;
  wick_dim_symbols(t, d, tmp, &used);
  if (used.n != 1 || !wick_dim_linear(t, d, used.at[0], &coef, &rest)) return false;
  if (!wick_dim_is_const(coef) || !wick_dim_is_const(rest)) return false;
  *out_sym = used.at[0];
  return !wick_sub_overflows(value, rest.v, out) && (*out = wick_floordiv_i64(*out, coef.v), true);
}

bool wick_dim_may_equal(wick_dims *t, wick_dim a, wick_dim b)
{
  if (!wick_dim_usable(t, a) || !wick_dim_usable(t, b)) return false;
  wick_dim d = wick_dim_difference(t, a, b);
  if (wick_dim_is_const(d)) return d.v == 0;
  wick_range x = wick_dim_range_of(t, a), y = wick_dim_range_of(t, b);
  if (x.hi < y.lo || y.hi < x.lo) return false;
  if (!wick_dim_usable(t, d)) return true;
  wick_range r = wick_dim_range_of(t, d);
  if (r.lo > 0 || r.hi < 0) return false;
  wick_dim_form f = wick_dim_get(t, d);
  int64_t divisor = 0;
  for (uint32_t k = 0; k < f.nterm; k++) divisor = wick_gcd_i64(divisor, f.term[k].coef);
  return divisor < 2 || f.constant % divisor == 0;
}

wick_dim wick_dim_simpler(const wick_dims *t, wick_dim a, wick_dim b)
{
  if (wick_dim_is_const(a) || !wick_dim_usable(t, b)) return a;
  if (wick_dim_is_const(b)) return b;
  uint32_t na = t->exprs.at[wick_dim_number(a)].natom, nb = t->exprs.at[wick_dim_number(b)].natom;
  return nb < na ? b : a;
}
