/* Helpers that build nodes for the differentiation rules. */
#include "ir/expr.h"
#include "ops/gradient/grad.h"

wick_value wick_grad_reshape(wick_builder *b, wick_value x, uint32_t n, const wick_dim *dim)
{
  if (b->status) return x;
  wick_type want = wick_type_tensor(b->module, wick_built_info(b, x)->elem, n, dim);
  if (wick_type_eq(want, wick_built_type(b, x))) return x;
  return wick_build_reshape(b, x, n, dim);
}

wick_value wick_grad_shape_of(wick_builder *b, wick_value g, wick_value x)
{
  if (b->status) return g;
  const wick_type_info *t = wick_built_info(b, x);
  return wick_grad_reshape(b, g, t->rank, t->dim);
}

wick_value wick_grad_expand(wick_builder *b, wick_value g, wick_value x)
{
  if (b->status) return g;
  const wick_type_info *t = wick_built_info(b, x);
  wick_type want = wick_type_tensor(b->module, wick_built_info(b, g)->elem, t->rank, t->dim);
  if (wick_type_eq(want, wick_built_type(b, g))) return g;
  wick_attr a = {.n = t->rank, .dims = t->dim};
  return wick_build(b, WICK_OP_broadcast_to, 1, &g, &a, 0, NULL);
}

wick_value wick_grad_fill(wick_builder *b, wick_value x, double number)
{
  if (b->status) return x;
  if (wick_built_info(b, x)->kind == WICK_DATA)
    return wick_cotangent_zero(b, wick_built_type(b, x));
  return wick_build_const(b, wick_built_type(b, x), number, (int64_t)number);
}

wick_value wick_grad_transpose(wick_builder *b, wick_value x, uint32_t n, const int64_t *perm)
{
  bool same = true;
  for (uint32_t k = 0; k < n; k++) same = same && perm[k] == (int64_t)k;
  return same || b->status ? x : wick_build_transpose(b, x, n, perm);
}

wick_value wick_grad_sum(wick_builder *b, wick_value x, uint32_t n, const int64_t *axis, bool keep)
{
  wick_attr a[2] = {{.n = n, .ints = axis}, {.i = keep}};
  return n && !b->status ? wick_build(b, WICK_OP_reduce_sum, 1, &x, a, 0, NULL) : x;
}

wick_value wick_grad_to(wick_builder *b, wick_value g, wick_value x)
{
  if (b->status) return g;
  const wick_type_info *t = wick_built_info(b, x), *u = wick_built_info(b, g);
  int64_t axis[WICK_MAX_RANK];
  uint32_t n = 0, lead = u->rank - t->rank;
  for (uint32_t k = 0; k < u->rank; k++)
    if (k < lead || !wick_dim_eq(u->dim[k], t->dim[k - lead])) axis[n++] = k;
  return wick_grad_shape_of(b, wick_grad_sum(b, g, n, axis, true), x);
}

wick_value wick_grad_pad(wick_builder *b, wick_value x, const wick_dim *pad)
{
  if (b->status) return x;
  uint32_t n = 2u * wick_built_info(b, x)->rank;
  bool none = true;
  for (uint32_t k = 0; k < n; k++) none = none && wick_dim_is(pad[k], 0);
  wick_attr a[2] = {{.n = n, .dims = pad}, {.i = 0}};
  return none ? x : wick_build(b, WICK_OP_pad, 1, &x, a, 0, NULL);
}

wick_value wick_grad_slice(wick_builder *b, wick_value x, uint32_t axis, wick_dim begin,
                           wick_dim size, int64_t step)
{
  if (b->status) return x;
  bool whole =
      step == 1 && wick_dim_is(begin, 0) && wick_dim_eq(size, wick_built_info(b, x)->dim[axis]);
  return whole ? x : wick_build_slice_axis(b, x, axis, begin, size, step);
}

wick_value wick_grad_concat(wick_builder *b, uint32_t axis, uint32_t n, const wick_value *in)
{
  return n == 1 ? in[0] : wick_build_concat(b, axis, n, in);
}

wick_value wick_grad_count(wick_builder *b, wick_dim n, uint32_t axis, uint32_t rank)
{
  if (b->status) return (wick_value){0};
  wick_type one = wick_type_tensor(b->module, WICK_I64, 0, NULL);
  wick_value in[2] = {wick_build_const(b, one, 0, 0)};
  in[1] = wick_build_const(b, one, 0, 1);
  wick_attr count = {.n = 1, .dims = &n};
  wick_value v = wick_build(b, WICK_OP_range, 2, in, &count, 0, NULL);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) dim[k] = k == axis ? n : wick_dim_const(1);
  return wick_grad_reshape(b, v, rank, dim);
}

bool wick_grad_sizes(wick_builder *b, wick_value x, int64_t *out_dim)
{
  if (b->status) return false;
  if (wick_type_const_dims(wick_built_info(b, x), out_dim)) return true;
  wick_build_fail(b, WICK_EUNSUPPORTED, "its sizes must be known before it can be differentiated");
  return false;
}
