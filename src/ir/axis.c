/* What the axes of a stage do to an expression, and to the element that is read. */
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

int64_t wick_read_stride(const wick_func *g, const wick_node *read, wick_dim sym)
{
  wick_dims *dims = g->module->dims;
  const wick_type_info *info = wick_info_of(g, read->in[0]);
  wick_dim coef, rest;
  int64_t sum = 0, stride = 1;
  for (uint32_t k = info->rank; k-- > 0;) {
    wick_dim d = wick_read_index(read)->dims[k];
    if (wick_dim_eq(d, WICK_DIM_ANY) || !wick_dim_is_const(info->dim[k])) return 0;
    if (wick_dim_uses(dims, d, sym)) {
      if (!wick_dim_linear(dims, d, sym, &coef, &rest) || !wick_dim_is_const(coef)) return 0;
      sum += coef.v * stride;
    }
    if (wick_mul_overflows(stride, info->dim[k].v, &stride)) return 0;
  }
  return sum;
}
