/* Building of tensor rows from tensor rows. */
#include "ops/compose.h"

wick_value wick_compose_ints(wick_builder *b, uint32_t n, const int64_t *v)
{
  wick_module *m = b->module;
  wick_text name = wick_text_begin(&m->mem);
  wick_text_add(&name, "i64");
  for (uint32_t i = 0; i < n; i++) wick_text_printf(&name, ".%lld", (long long)v[i]);
  wick_type type = wick_type_tensor_const(m, WICK_I64, 1, (int64_t[]){n});
  uint32_t constant = wick_constant_find(m, name.at);
  if (!constant || !wick_type_eq(wick_constant_get(m, constant)->type, type))
    constant = wick_constant_add(m, name.at, type, wick_dup(&m->mem, int64_t, v, n), n * sizeof *v);
  return wick_build_constant(b, constant);
}

wick_value wick_compose_reshape(wick_builder *b, wick_value x, uint32_t n, const int64_t *dim)
{
  return wick_build2(b, WICK_OP_reshape, x, wick_compose_ints(b, n, dim));
}

wick_value wick_compose_channels(wick_builder *b, wick_value v, wick_value x)
{
  if (b->status) return v;
  int64_t dim[WICK_MAX_RANK] = {-1};
  uint32_t rank = wick_built_info(b, x)->rank;
  for (uint32_t k = 2; k < rank; k++) dim[k - 1] = 1;
  return rank > 2 ? wick_compose_reshape(b, v, rank - 1, dim) : v;
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
