/* Operators on shapes, those that keep the elements, and joins. */
#include "import/tensorflow/ops.h"

/* ---- sizes ---- */

static wick_value shape_of(wick_import_node *n, wick_value x, const char *attr)
{
  wick_elem e = WICK_I32;
  if (wick_import_attr_has(n, attr) && !wick_tf_attr_elem(n, attr, &e)) return (wick_value){0};
  return wick_build_cast(n->b, wick_build1(n->b, WICK_OP_shape, x), e);
}

void wick_tf_import_shape(wick_import_node *n) /* of each operand */
{
  const wick_tf_op *o = wick_tf_op_of(n);
  for (uint32_t k = 0; k < n->nout && k < n->nin; k++) {
    if (o->in[k].kind == WICK_TF_VARIABLE) {
      wick_tf_value v = wick_tf_variable_value(n, o->in[k].at);
      n->out[k] = v.v.id ? shape_of(n, v.v, "out_type") : v.v;
    } else if (n->in[k].id) {
      n->out[k] = shape_of(n, n->in[k], "out_type");
    } else {
      wick_import_fail(n, WICK_ETYPE, "operand %u is no tensor", k);
    }
  }
}

void wick_tf_import_size(wick_import_node *n)
{
  wick_elem e;
  if (!wick_tf_attr_elem_or(n, "out_type", WICK_I32, &e)) return;
  n->out[0] = wick_build_cast(n->b, wick_build1(n->b, WICK_OP_size, n->in[0]), e);
}

void wick_tf_import_rank(wick_import_node *n)
{
  wick_type type = wick_type_tensor(n->c->module, WICK_I32, 0, NULL);
  n->out[0] = wick_build_const(n->b, type, 0, wick_import_info(n, 0)->rank);
}

/* ---- the same elements ---- */

void wick_tf_import_identity(wick_import_node *n) /* of each operand, whatever it is */
{
  const wick_tf_op *o = wick_tf_op_of(n);
  for (uint32_t k = 0; k < n->nout && k < n->nin; k++) {
    o->out[k] = o->in[k];
    n->out[k] = n->in[k];
  }
}

void wick_tf_import_reshape(wick_import_node *n) /* x, shape */
{
  uint32_t rank;
  const wick_dim *dim;
  if (!wick_import_dims(n, 1, "the shape", &rank, &dim)) return;
  if (rank > WICK_MAX_RANK)
    wick_import_fail(n, WICK_EUNSUPPORTED, "its rank is %u, the most is %d", rank, WICK_MAX_RANK);
  else
    n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

void wick_tf_import_ensure_shape(wick_import_node *n)
{
  const wick_tf_attr *a = wick_tf_attr_find(n, "shape");
  const wick_type_info *t = wick_import_info(n, 0);
  const wick_tf_shape *s = a ? a->shape : NULL;
  wick_dim dim[WICK_MAX_RANK];
  n->out[0] = n->in[0];
  if (!s || s->unknown_rank) return;
  if (s->dim.n != t->rank) {
    wick_import_fail(n, WICK_ETYPE, "the operand has rank %u, expected %zu", t->rank, s->dim.n);
    return;
  }
  uint32_t rank = t->rank;
  for (uint32_t k = 0; k < rank; k++) {
    dim[k] = t->dim[k];
    if (s->dim.at[k].size < 0) continue;
    dim[k] = wick_dim_const(s->dim.at[k].size);
    if (wick_import_equal(n, t->dim[k], dim[k])) continue;
    wick_import_fail(n, WICK_ETYPE, "axis %u has another size than %lld", k,
                     (long long)s->dim.at[k].size);
    return;
  }
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

void wick_tf_import_expand_dims(wick_import_node *n) /* x, axis */
{
  int64_t axis;
  uint32_t at, rank = wick_import_info(n, 0)->rank;
  if (wick_import_one(n, 1, "the axis", 0, &axis) && wick_import_axis(n, axis, rank + 1, &at))
    n->out[0] = wick_emit_unsqueeze(n->b, n->in[0], at);
}

void wick_tf_import_squeeze(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_import_attr axes = wick_import_ints(n, "squeeze_dims");
  bool gone[WICK_MAX_RANK] = {false};
  wick_dim dim[WICK_MAX_RANK], one = wick_dim_const(1);
  uint32_t rank = 0, at;
  if (!axes.n) axes = wick_import_ints(n, "axis");
  for (uint32_t k = 0; k < axes.n; k++) {
    if (!wick_import_axis(n, axes.ints[k], t->rank, &at)) return;
    if (!wick_import_equal(n, t->dim[at], one)) {
      wick_import_fail(n, WICK_ETYPE, "axis %u is not 1", at);
      return;
    }
    gone[at] = true;
  }
  for (uint32_t k = 0; k < t->rank && !axes.n; k++) gone[k] = wick_dim_eq(t->dim[k], one);
  for (uint32_t k = 0; k < t->rank; k++)
    if (!gone[k]) dim[rank++] = t->dim[k];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

void wick_tf_import_transpose(wick_import_node *n) /* x, perm */
{
  uint32_t count, at;
  const int64_t *perm;
  int64_t from[WICK_MAX_RANK];
  const wick_type_info *t = wick_import_info(n, 0);
  if (!wick_import_numbers(n, 1, "the permutation", &count, &perm)) return;
  if (count != t->rank) {
    wick_import_fail(n, WICK_ETYPE, "the permutation has %u numbers, expected %u", count, t->rank);
    return;
  }
  for (uint32_t k = 0; k < count; k++) {
    if (!wick_import_axis(n, perm[k], t->rank, &at)) return;
    from[k] = at;
  }
  n->out[0] = wick_build_transpose(n->b, n->in[0], count, from);
}

void wick_tf_import_invert_permutation(wick_import_node *n)
{
  uint32_t count;
  const int64_t *perm;
  if (!wick_import_numbers(n, 0, "the permutation", &count, &perm)) return;
  double *back = wick_new(n->c->tmp, double, count + 1u);
  for (uint32_t k = 0; k < count; k++) {
    if (perm[k] < 0 || perm[k] >= (int64_t)count) {
      wick_import_fail(n, WICK_ETYPE, "%lld is no axis", (long long)perm[k]);
      return;
    }
    back[perm[k]] = k;
  }
  int64_t dim = count;
  n->out[0] = wick_emit_table(n->b, n->name, wick_import_info(n, 0)->elem, 1, &dim, back);
}

/* ---- joins ---- */

void wick_tf_import_pack(wick_import_node *n)
{
  wick_value *part = wick_new(n->c->tmp, wick_value, n->nin + 1u);
  uint32_t at, rank = wick_import_info(n, 0)->rank;
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), rank + 1, &at)) return;
  for (uint32_t k = 0; k < n->nin; k++) part[k] = wick_emit_unsqueeze(n->b, n->in[k], at);
  n->out[0] = n->nin == 1 ? part[0] : wick_build_concat(n->b, at, n->nin, part);
}

void wick_tf_import_unpack(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  uint32_t at;
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), t->rank, &at)) return;
  int64_t count = wick_import_int(n, "num", -1);
  if (!wick_import_equal(n, t->dim[at], wick_dim_const(count)) || count < (int64_t)n->nout) {
    wick_import_fail(n, WICK_ETYPE, "axis %u is not %lld", at, (long long)count);
    return;
  }
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value part = wick_emit_slice(n->b, n->in[0], at, wick_dim_const(k), wick_dim_const(1));
    n->out[k] = wick_emit_squeeze(n->b, part, at);
  }
}

void wick_tf_import_concat(wick_import_node *n) /* arg: the operand that is the axis comes first */
{
  uint32_t where = n->row->arg ? 0 : n->nin - 1, first = n->row->arg != 0, at;
  int64_t axis;
  if (!wick_import_one(n, where, "the axis", 0, &axis) ||
      !wick_import_axis(n, axis, wick_import_info(n, first)->rank, &at))
    return;
  n->out[0] = n->nin == 2 ? n->in[first] : wick_build_concat(n->b, at, n->nin - 1, n->in + first);
}

static void shape_cut(wick_import_node *n, wick_value x, uint32_t axis, const wick_dim *size)
{
  wick_dim begin = wick_dim_const(0);
  for (uint32_t k = 0; k < n->nout; k++) {
    n->out[k] = wick_emit_slice(n->b, x, axis, begin, size[k]);
    begin = wick_dim_add(n->c->module->dims, begin, size[k]);
  }
}

void wick_tf_import_split(wick_import_node *n) /* axis, x */
{
  int64_t axis, parts = wick_import_int(n, "num_split", 0);
  uint32_t at;
  const wick_type_info *t = wick_import_info(n, 1);
  if (!wick_import_one(n, 0, "the axis", 0, &axis) || !wick_import_axis(n, axis, t->rank, &at))
    return;
  if (parts < (int64_t)n->nout || parts < 1) {
    wick_import_fail(n, WICK_EPARSE, "num_split is %lld", (long long)parts);
    return;
  }
  wick_dim by = wick_dim_const(parts), size = wick_dim_floordiv(n->c->module->dims, t->dim[at], by);
  if (!wick_import_equal(n, wick_dim_mod(n->c->module->dims, t->dim[at], by), wick_dim_const(0))) {
    wick_import_fail(n, WICK_ETYPE, "axis %u is no multiple of %lld", at, (long long)parts);
    return;
  }
  wick_dim *all = wick_new(n->c->tmp, wick_dim, n->nout + 1u);
  for (uint32_t k = 0; k < n->nout; k++) all[k] = size;
  shape_cut(n, n->in[1], at, all);
}

void wick_tf_import_split_v(wick_import_node *n) /* x, sizes, axis */
{
  int64_t axis;
  uint32_t at, count, open = UINT32_MAX;
  const wick_dim *size;
  const wick_type_info *t = wick_import_info(n, 0);
  if (!wick_import_one(n, 2, "the axis", 0, &axis) || !wick_import_axis(n, axis, t->rank, &at) ||
      !wick_import_dims(n, 1, "the sizes", &count, &size))
    return;
  if (count < n->nout) {
    wick_import_fail(n, WICK_ETYPE, "there are %u sizes, expected %u", count, n->nout);
    return;
  }
  wick_dim *all = wick_dup(n->c->tmp, wick_dim, size, count + 1u), rest = t->dim[at];
  for (uint32_t k = 0; k < count; k++) {
    if (wick_dim_is_const(all[k]) && all[k].v == -1)
      open = k;
    else
      rest = wick_dim_sub(n->c->module->dims, rest, all[k]);
  }
  if (open < count) all[open] = rest;
  shape_cut(n, n->in[0], at, all);
}
