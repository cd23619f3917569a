/* Operands and numbers of layers. */
#include "import/coreml/layers.h"
#include "import/kit/array.h"

wick_value wick_coreml_as(wick_import_node *n, wick_value x, wick_elem elem)
{
  return n->b->status || !x.id ? x : wick_build_cast(n->b, x, elem);
}

wick_value wick_coreml_float(wick_import_node *n, uint32_t i)
{
  return wick_coreml_as(n, n->in[i], WICK_F32);
}

wick_value wick_coreml_index(wick_import_node *n, uint32_t i)
{
  return wick_coreml_as(n, n->in[i], WICK_I64);
}

bool wick_coreml_sizes(wick_import_node *n, uint32_t i, const char *what, uint32_t *out_n,
                       const wick_dim **out)
{
  wick_value *in = wick_new(n->c->tmp, wick_value, (size_t)i + 1);
  in[i] = wick_coreml_index(n, i);
  if (n->b->status) return false;
  wick_import_node with = *n;
  with.in = in;
  bool good = wick_import_dims(&with, i, what, out_n, out);
  n->failed = n->failed || with.failed;
  return good;
}

bool wick_coreml_axis(wick_import_node *n, wick_value x, int64_t otherwise, uint32_t *out)
{
  if (n->b->status) return false;
  return wick_import_axis(n, wick_import_int(n, "axis", otherwise), wick_built_info(n->b, x)->rank,
                          out);
}

wick_value wick_coreml_fold(wick_import_node *n, wick_value x, uint32_t inner)
{
  if (n->b->status || !x.id) return x;
  const wick_type_info *t = wick_built_info(n->b, x);
  wick_dim dim[WICK_MAX_RANK];
  if (t->rank < inner) {
    wick_import_fail(n, WICK_ETYPE, "the rank of its input is %u, expected %u or more", t->rank,
                     inner);
    return (wick_value){0};
  }
  uint32_t lead = t->rank - inner;
  dim[0] = wick_array_product(n, lead, t->dim);
  for (uint32_t k = 0; k < inner; k++) dim[1 + k] = t->dim[lead + k];
  return lead == 1 ? x : wick_build_reshape(n->b, x, inner + 1, dim);
}

wick_value wick_coreml_unfold(wick_import_node *n, wick_value y, wick_value like, uint32_t inner)
{
  if (n->b->status || !y.id) return y;
  const wick_type_info *t = wick_built_info(n->b, like), *have = wick_built_info(n->b, y);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t lead = t->rank - inner;
  for (uint32_t k = 0; k < lead; k++) dim[k] = t->dim[k];
  for (uint32_t k = 0; k < inner; k++) dim[lead + k] = have->dim[1 + k];
  return lead == 1 ? y : wick_build_reshape(n->b, y, lead + inner, dim);
}

double wick_coreml_positive(const wick_import_node *n, const char *name, double otherwise)
{
  double v = wick_import_real(n, name, 0);
  return v == 0 ? otherwise : v;
}
