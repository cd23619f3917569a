/* Helpers that build tensor operators from other tensor operators. */
#include "ops/compose.h"

wick_value wick_compose_channels(wick_builder *b, wick_value v, wick_value x)
{
  if (b->status) return v;
  uint32_t rank = wick_built_info(b, x)->rank;
  wick_dim dim[WICK_MAX_RANK] = {wick_built_info(b, v)->dim[0]};
  for (uint32_t k = 2; k < rank; k++) dim[k - 1] = wick_dim_const(1);
  return rank > 2 ? wick_build_reshape(b, v, rank - 1, dim) : v;
}

wick_value wick_compose_reduce(wick_builder *b, wick_opcode op, wick_value x, uint32_t naxis,
                               const int64_t *axis)
{
  wick_attr a[2] = {{.n = naxis, .ints = axis}, {.i = 1}};
  return wick_build(b, op, 1, &x, a, 0, NULL);
}

wick_value wick_compose_wide(wick_builder *b, wick_value x)
{
  if (b->status) return x;
  return wick_build_cast(b, x, wick_elem_storage[wick_built_info(b, x)->elem].arith);
}
