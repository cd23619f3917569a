/* The least and the largest value of an expression over the axes of a stage. */
#include "ir/ir.h"

void wick_axes_ends(wick_dims *t, wick_dim d, uint32_t n, const wick_axis *axis,
                    wick_dim *out_least, wick_dim *out_most)
{
  *out_least = *out_most = d;
  for (uint32_t k = 0; k < n; k++) {
    wick_dim sym = axis[k].sym, coef, rest, zero = wick_dim_const(0),
             last = wick_dim_sub(t, axis[k].extent, wick_dim_const(1));
    if (wick_dim_is_const(axis[k].extent) || !wick_dim_uses(t, d, sym) ||
        !wick_dim_linear(t, d, sym, &coef, &rest))
      continue;
    int64_t lo, hi;
    wick_dim_range(t, coef, &lo, &hi);
    if (lo < 0 && hi > 0) continue;
    *out_least = wick_dim_substitute(t, *out_least, 1, &sym, hi <= 0 ? &last : &zero);
    *out_most = wick_dim_substitute(t, *out_most, 1, &sym, hi <= 0 ? &zero : &last);
  }
}
