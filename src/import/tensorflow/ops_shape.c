/* Operators that move elements: shapes, slices, pads, joins. */
#include <string.h>

#include "import/tensorflow/ops.h"

static wick_dims *shape_dims(const wick_import_node *n) { return n->c->module->dims; }

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
  wick_elem e = WICK_I32;
  if (wick_import_attr_has(n, "out_type") && !wick_tf_attr_elem(n, "out_type", &e)) return;
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
  for (uint32_t k = 0; k < n->nout && k < n->nin; k++) o->out[k] = o->in[k];
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
    begin = wick_dim_add(shape_dims(n), begin, size[k]);
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
  wick_dim by = wick_dim_const(parts), size = wick_dim_floordiv(shape_dims(n), t->dim[at], by);
  if (!wick_import_equal(n, wick_dim_mod(shape_dims(n), t->dim[at], by), wick_dim_const(0))) {
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
      rest = wick_dim_sub(shape_dims(n), rest, all[k]);
  }
  if (open < count) all[open] = rest;
  shape_cut(n, n->in[0], at, all);
}

/* ---- slices ---- */

/* Element k of a vector: through the concat that made it, else by a slice. */
wick_value wick_tf_element(wick_import_node *n, wick_value v, uint32_t k)
{
  const wick_node *d = wick_emit_definer(n->b, v);
  if (d && d->op == WICK_OP_concat) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < d->nin; i++) {
      const wick_type_info *t = wick_built_info(n->b, d->in[i]);
      if (t->rank != 1 || !wick_dim_is_const(t->dim[0])) break;
      if (k == at && t->dim[0].v == 1) return wick_build_reshape(n->b, d->in[i], 0, NULL);
      if (k < at + t->dim[0].v) break;
      at += (uint32_t)t->dim[0].v;
    }
  }
  if (wick_built_info(n->b, v)->rank == 0) return v;
  wick_value part = wick_emit_slice(n->b, v, 0, wick_dim_const(k), wick_dim_const(1));
  return wick_build_reshape(n->b, part, 0, NULL);
}

/* What is known of element k of an operand. */
static bool shape_element(wick_import_node *n, uint32_t i, uint32_t k, wick_dim *out)
{
  const wick_value_info *v = &n->b->values.at[n->in[i].id];
  int64_t known;
  if (v->content && k < v->ncontent) {
    *out = v->content[k];
    return true;
  }
  wick_value e = wick_tf_element(n, n->in[i], k);
  if (n->b->status || !e.id) return false;
  v = &n->b->values.at[e.id];
  if (v->ncontent == 1)
    *out = v->content[0];
  else if (wick_import_known_int(n->c, e, &known))
    *out = wick_dim_const(known < -((int64_t)1 << 60) ? -((int64_t)1 << 60) : known);
  else
    return false;
  return true;
}

static wick_dim shape_clamp(wick_dims *t, wick_dim x, wick_dim lo, wick_dim hi)
{
  return wick_dim_min(t, wick_dim_max(t, x, lo), hi);
}

typedef struct shape_cutter {
  wick_import_node *n;
  wick_value x; /* what was cut so far at run time */
  uint32_t nspec, rank;
  int64_t begin_mask, end_mask, ellipsis, fresh, shrink;
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK], out[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  uint32_t nout;
} shape_cutter;

/* An index that only the run knows: x[.., i, ..]. */
static bool shape_dynamic(shape_cutter *s, uint32_t k, uint32_t axis)
{
  wick_import_node *n = s->n;
  if (!(s->shrink >> k & 1))
    return wick_import_unknown(n, n->in[1], "the begin of a slice that is no single index");
  wick_value i = wick_build_cast(n->b, wick_tf_element(n, n->in[1], k), WICK_I64);
  wick_value one = wick_emit_gather(n->b, WICK_OP_gather, s->x, i, axis);
  s->x = wick_emit_unsqueeze(n->b, one, axis);
  s->begin[axis] = wick_dim_const(0), s->shape[axis] = wick_dim_const(1), s->step[axis] = 1;
  return !n->b->status;
}

/* One entry of the specification, for one axis of x. */
static bool shape_entry(shape_cutter *s, uint32_t k, uint32_t axis, wick_dim size)
{
  wick_import_node *n = s->n;
  wick_dims *t = shape_dims(n);
  wick_dim begin, end, by, none = wick_dim_const(0), one = wick_dim_const(1);
  if (!shape_element(n, 3, k, &by) || !wick_dim_is_const(by))
    return wick_import_unknown(n, n->in[3], "the step of a slice");
  if (by.v == 0) {
    wick_import_fail(n, WICK_ETYPE, "a step is 0");
    return false;
  }
  bool back = by.v < 0, single = s->shrink >> k & 1;
  wick_dim lo = back ? wick_dim_const(-1) : none, hi = back ? wick_dim_sub(t, size, one) : size;
  begin = back ? hi : none;
  if (!(s->begin_mask >> k & 1) || single) {
    if (!shape_element(n, 1, k, &begin)) return shape_dynamic(s, k, axis);
    int64_t low, high;
    wick_dim_range(t, begin, &low, &high);
    if (high < 0) begin = wick_dim_add(t, begin, size);
    if (single && wick_dim_is_const(begin) && wick_dim_is_const(size) &&
        (begin.v < 0 || begin.v >= size.v)) {
      wick_import_fail(n, WICK_ERANGE, "the index %lld is outside of axis %u, which has %lld",
                       (long long)begin.v, axis, (long long)size.v);
      return false;
    }
    if (!single) begin = shape_clamp(t, begin, lo, hi);
  }
  s->begin[axis] = begin, s->step[axis] = by.v;
  if (single) {
    s->shape[axis] = one, s->step[axis] = 1;
    return true;
  }
  end = back ? wick_dim_const(-1) : size;
  if (!(s->end_mask >> k & 1)) {
    if (!shape_element(n, 2, k, &end))
      return wick_import_unknown(n, n->in[2], "the end of a slice");
    int64_t low, high;
    wick_dim_range(t, end, &low, &high);
    if (high < 0) end = wick_dim_add(t, end, size);
    end = shape_clamp(t, end, lo, hi);
  }
  wick_dim span = back ? wick_dim_sub(t, begin, end) : wick_dim_sub(t, end, begin);
  int64_t stride = back ? -by.v : by.v;
  span = wick_dim_add(t, span, wick_dim_const(stride - 1));
  s->shape[axis] = wick_dim_max(t, wick_dim_floordiv(t, span, wick_dim_const(stride)), none);
  return true;
}

static bool shape_entries(shape_cutter *s, const wick_type_info *t)
{
  uint32_t axis = 0, fresh = 0;
  bool dots = false;
  for (uint32_t k = 0; k < s->nspec; k++) fresh += s->fresh >> k & 1 && !(s->ellipsis >> k & 1);
  for (uint32_t k = 0; k < s->nspec; k++) {
    if (s->ellipsis >> k & 1 && !dots) {
      uint32_t after = 0;
      dots = true;
      for (uint32_t j = k + 1; j < s->nspec; j++) after += !(s->fresh >> j & 1);
      for (; axis + after < t->rank; axis++) s->out[s->nout++] = t->dim[axis];
    } else if (s->fresh >> k & 1) {
      if (s->nout < WICK_MAX_RANK) s->out[s->nout++] = wick_dim_const(1);
    } else if (axis >= t->rank) {
      wick_import_fail(s->n, WICK_ETYPE, "it has more indices than the operand has dimensions, %u",
                       t->rank);
      return false;
    } else {
      if (!shape_entry(s, k, axis, t->dim[axis])) return false;
      if (!(s->shrink >> k & 1)) s->out[s->nout++] = s->shape[axis];
      axis++;
    }
    if (s->nout > WICK_MAX_RANK || t->rank + fresh > WICK_MAX_RANK) {
      wick_import_fail(s->n, WICK_EUNSUPPORTED, "the result has too many dimensions");
      return false;
    }
  }
  for (; axis < t->rank; axis++) s->out[s->nout++] = t->dim[axis];
  return true;
}

void wick_tf_import_strided_slice(wick_import_node *n) /* x, begin, end, step */
{
  const wick_type_info info = *wick_import_info(n, 0), *spec = wick_import_info(n, 1);
  shape_cutter s = {.n = n,
                    .x = n->in[0],
                    .rank = info.rank,
                    .begin_mask = wick_import_int(n, "begin_mask", 0),
                    .end_mask = wick_import_int(n, "end_mask", 0),
                    .ellipsis = wick_import_int(n, "ellipsis_mask", 0),
                    .fresh = wick_import_int(n, "new_axis_mask", 0),
                    .shrink = wick_import_int(n, "shrink_axis_mask", 0)};
  if (spec->rank != 1 || !wick_dim_is_const(spec->dim[0]) || spec->dim[0].v > 2 * WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "its begin is no vector of known length");
    return;
  }
  s.nspec = (uint32_t)spec->dim[0].v;
  for (uint32_t i = 2; i < 4; i++) {
    const wick_type_info *other = wick_import_info(n, i);
    if (other->rank == 1 && wick_dim_eq(other->dim[0], spec->dim[0])) continue;
    wick_import_fail(n, WICK_ETYPE, "begin, end and step have different lengths");
    return;
  }
  for (uint32_t k = 0; k < info.rank; k++)
    s.begin[k] = wick_dim_const(0), s.shape[k] = info.dim[k], s.step[k] = 1;
  if (!shape_entries(&s, &info)) return;
  wick_value y = wick_build_slice(n->b, s.x, info.rank, s.begin, s.shape, s.step);
  n->out[0] = wick_build_reshape(n->b, y, s.nout, s.out);
}

void wick_tf_import_slice(wick_import_node *n) /* x, begin, size */
{
  const wick_type_info info = *wick_import_info(n, 0), *spec = wick_import_info(n, 1);
  wick_dims *t = shape_dims(n);
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  wick_value x = n->in[0];
  if (spec->rank != 1 || !wick_dim_eq(spec->dim[0], wick_dim_const(info.rank)) ||
      wick_import_info(n, 2)->rank != 1 ||
      !wick_dim_eq(wick_import_info(n, 2)->dim[0], spec->dim[0])) {
    wick_import_fail(n, WICK_ETYPE, "begin and size have not one number for each dimension");
    return;
  }
  for (uint32_t k = 0; k < info.rank; k++) {
    bool known = shape_element(n, 1, k, &begin[k]);
    if (!shape_element(n, 2, k, &shape[k])) {
      wick_import_unknown(n, n->in[2], "the size of a slice");
      return;
    }
    bool rest = wick_dim_is_const(shape[k]) && shape[k].v == -1;
    if (known) {
      if (rest) shape[k] = wick_dim_sub(t, info.dim[k], begin[k]);
      continue;
    }
    if (rest) {
      wick_import_unknown(n, n->in[1], "the begin of a slice to the end");
      return;
    }
    /* a window that begins where only the run knows: its rows are gathered */
    wick_value from = wick_build_cast(n->b, wick_tf_element(n, n->in[1], k), WICK_I64);
    wick_value at = wick_build2(n->b, WICK_OP_add, wick_emit_count(n->b, shape[k]), from);
    x = wick_emit_gather(n->b, WICK_OP_gather, x, at, k);
    begin[k] = wick_dim_const(0);
  }
  n->out[0] = wick_build_slice(n->b, x, info.rank, begin, shape, NULL);
}

void wick_tf_import_reverse(wick_import_node *n) /* x, axes (arg: a bool for each axis) */
{
  const wick_type_info info = *wick_import_info(n, 0);
  wick_dim begin[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  uint32_t count, at;
  const int64_t *axes = NULL;
  for (uint32_t k = 0; k < info.rank; k++) begin[k] = wick_dim_const(0), step[k] = 1;
  if (n->row->arg) {
    const double *bits;
    if (!wick_import_reals(n, 1, "the axes", &count, &bits)) return;
    for (uint32_t k = 0; k < count && k < info.rank; k++) step[k] = bits[k] != 0 ? -1 : 1;
  } else {
    if (!wick_import_numbers(n, 1, "the axes", &count, &axes)) return;
    for (uint32_t k = 0; k < count; k++) {
      if (!wick_import_axis(n, axes[k], info.rank, &at)) return;
      step[at] = -1;
    }
  }
  for (uint32_t k = 0; k < info.rank; k++)
    if (step[k] < 0) begin[k] = wick_dim_sub(shape_dims(n), info.dim[k], wick_dim_const(1));
  n->out[0] = wick_build_slice(n->b, n->in[0], info.rank, begin, info.dim, step);
}

/* ---- pads and repetitions ---- */

/* Reads paddings [rank, 2] as the begins, then the ends. */
static bool shape_pads(wick_import_node *n, uint32_t i, uint32_t rank, wick_dim *out)
{
  const wick_type_info *t = wick_import_info(n, i);
  wick_dim count = wick_dim_const(rank);
  if (t->rank != 2 || !wick_dim_eq(t->dim[0], count) ||
      !wick_dim_eq(t->dim[1], wick_dim_const(2))) {
    wick_import_fail(n, WICK_ETYPE, "the paddings are not [%u, 2]", rank);
    return false;
  }
  wick_dim flat = wick_dim_const(2 * (int64_t)rank);
  wick_value v = wick_build_reshape(n->b, n->in[i], 1, &flat);
  if (n->b->status) return false;
  const wick_value_info *info = &n->b->values.at[v.id];
  wick_tensor known;
  if (!info->content && wick_known_value(n->b, n->c->tmp, v, &known)) {
    for (uint32_t k = 0; k < 2 * rank; k++)
      out[k / 2 + (k % 2 ? rank : 0)] = wick_dim_const(wick_load_elem(known.elem, known.data, k).i);
    return true;
  }
  if (!info->content) return wick_import_unknown(n, n->in[i], "the padding");
  for (uint32_t k = 0; k < 2 * rank; k++) out[k / 2 + (k % 2 ? rank : 0)] = info->content[k];
  return true;
}

static wick_value shape_pad(wick_import_node *n, wick_value x, uint32_t rank, const wick_dim *pad,
                            int64_t mode, wick_value fill)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  wick_emit_set_int(&e, "mode", mode);
  wick_value in[] = {x, fill};
  return wick_emit_end(&e, fill.id ? 2 : 1, in);
}

void wick_tf_import_pad(wick_import_node *n) /* x, paddings, value */
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  wick_dim pad[2 * WICK_MAX_RANK];
  if (!shape_pads(n, 1, rank, pad)) return;
  n->out[0] = rank ? shape_pad(n, n->in[0], rank, pad, 0, n->nin > 2 ? n->in[2] : (wick_value){0})
                   : n->in[0];
}

/* REFLECT leaves the border out; SYMMETRIC repeats it: per axis, slices in reverse. */
void wick_tf_import_mirror_pad(wick_import_node *n)
{
  const wick_type_info info = *wick_import_info(n, 0);
  wick_dim pad[2 * WICK_MAX_RANK], none = wick_dim_const(0), one = wick_dim_const(1);
  wick_dims *t = shape_dims(n);
  wick_value x = n->in[0];
  int mode = wick_import_word(n, "mode", "REFLECT SYMMETRIC");
  if (n->failed || !shape_pads(n, 1, info.rank, pad)) return;
  if (mode == 0) {
    n->out[0] = shape_pad(n, x, info.rank, pad, 1, (wick_value){0});
    return;
  }
  for (uint32_t k = 0; k < info.rank; k++) {
    wick_value part[3];
    uint32_t count = 0;
    wick_dim before = pad[k], after = pad[info.rank + k], size = info.dim[k];
    if (!wick_dim_eq(before, none))
      part[count++] = wick_build_slice_axis(n->b, x, k, wick_dim_sub(t, before, one), before, -1);
    part[count++] = x;
    if (!wick_dim_eq(after, none))
      part[count++] = wick_build_slice_axis(n->b, x, k, wick_dim_sub(t, size, one), after, -1);
    if (count > 1) x = wick_build_concat(n->b, k, count, part);
  }
  n->out[0] = x;
}

void wick_tf_import_tile(wick_import_node *n) /* x, multiples */
{
  uint32_t count;
  const wick_dim *dim;
  if (!wick_import_dims(n, 1, "the multiples", &count, &dim)) return;
  if (count != wick_import_info(n, 0)->rank) {
    wick_import_fail(n, WICK_ETYPE, "there are %u multiples, expected %u", count,
                     wick_import_info(n, 0)->rank);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_tile);
  wick_emit_set_dims(&e, "repeats", count, dim);
  n->out[0] = count ? wick_emit_end1(&e, n->in[0]) : n->in[0];
}

void wick_tf_import_fill(wick_import_node *n) /* shape, value */
{
  uint32_t rank;
  const wick_dim *dim;
  if (!wick_import_dims(n, 0, "the shape", &rank, &dim)) return;
  wick_tensor t;
  if (rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its rank is %u, the most is %d", rank, WICK_MAX_RANK);
  } else if (wick_import_info(n, 1)->elem != WICK_STRING &&
             wick_known_value(n->b, n->c->tmp, n->in[1], &t)) {
    wick_scalar s = wick_load_elem(t.elem, t.data, 0);
    bool is_float = wick_elem_is_float(t.elem);
    wick_type type = wick_type_tensor(n->c->module, t.elem, rank, dim);
    n->out[0] = wick_build_const(n->b, type, is_float ? s.f : 0, is_float ? 0 : s.i);
  } else {
    n->out[0] = wick_emit_expand(n->b, n->in[1], rank, dim);
  }
}

void wick_tf_import_like(wick_import_node *n) /* arg: the number */
{
  const wick_tf_op *o = wick_tf_op_of(n);
  if (o->in[0].kind == WICK_TF_LIST) { /* zeros of a list */
    o->out[0] = o->in[0];
    o->out[0].v = (wick_value){0};
    return;
  }
  if (o->in[0].kind != WICK_TF_TENSOR) {
    wick_import_fail(n, WICK_ETYPE, "the operand is no tensor");
    return;
  }
  bool is_float = wick_elem_is_float(wick_import_info(n, 0)->elem);
  n->out[0] = wick_build_const(n->b, wick_built_type(n->b, n->in[0]), is_float ? n->row->arg : 0,
                               is_float ? 0 : n->row->arg);
}

void wick_tf_import_empty(wick_import_node *n) /* shape; its contents are undefined, here 0 */
{
  uint32_t rank;
  const wick_dim *dim;
  wick_elem e;
  if (wick_tf_attr_elem(n, "dtype", &e) && wick_import_dims(n, 0, "the shape", &rank, &dim) &&
      rank <= WICK_MAX_RANK)
    n->out[0] = wick_build_const(n->b, wick_type_tensor(n->c->module, e, rank, dim), 0, 0);
}

/* The number of steps from start to limit. Floats must be known. */
void wick_tf_import_range(wick_import_node *n) /* start, limit, delta */
{
  wick_dims *t = shape_dims(n);
  wick_dim start, limit, delta, count;
  wick_elem e = wick_import_info(n, 0)->elem;
  if (wick_elem_is_float(e)) {
    const double *v[3];
    uint32_t one;
    for (uint32_t i = 0; i < 3; i++)
      if (!wick_import_reals(n, i, "a bound of the range", &one, &v[i])) return;
    double steps = (*v[1] - *v[0]) / *v[2];
    if (!(steps < 1e9)) {
      wick_import_fail(n, WICK_ERANGE, "the range has no end, or too many numbers");
      return;
    }
    int64_t whole = steps <= 0 ? 0 : (int64_t)steps;
    count = wick_dim_const(whole + (steps > (double)whole));
  } else {
    if (!shape_element(n, 0, 0, &start) || !shape_element(n, 1, 0, &limit)) {
      wick_import_unknown(n, n->in[1], "a bound of the range");
      return;
    }
    if (!shape_element(n, 2, 0, &delta) || !wick_dim_is_const(delta) || !delta.v) {
      wick_import_unknown(n, n->in[2], "the step of the range");
      return;
    }
    wick_dim span = delta.v > 0 ? wick_dim_sub(t, limit, start) : wick_dim_sub(t, start, limit);
    int64_t step = delta.v > 0 ? delta.v : -delta.v;
    span = wick_dim_add(t, span, wick_dim_const(step - 1));
    count = wick_dim_max(t, wick_dim_floordiv(t, span, wick_dim_const(step)), wick_dim_const(0));
  }
  wick_emit r = wick_emit_begin(n->b, WICK_OP_range);
  wick_emit_set_dims(&r, "count", 1, &count);
  n->out[0] = wick_emit_end2(&r, n->in[0], n->in[2]);
}

void wick_tf_import_linspace(wick_import_node *n) /* start, stop, count */
{
  int64_t count;
  wick_builder *b = n->b;
  if (!wick_import_one(n, 2, "the number of points", 0, &count)) return;
  if (count < 1) {
    wick_import_fail(n, WICK_ERANGE, "the number of points is %lld", (long long)count);
    return;
  }
  wick_elem e = wick_import_info(n, 0)->elem;
  wick_value i = wick_build_cast(b, wick_emit_count(b, wick_dim_const(count)), e);
  wick_value span = wick_build2(b, WICK_OP_sub, n->in[1], n->in[0]);
  wick_value step = wick_emit_by(b, WICK_OP_div, span, count > 1 ? (double)(count - 1) : 1);
  n->out[0] = wick_build2(b, WICK_OP_add, n->in[0], wick_build2(b, WICK_OP_mul, i, step));
}

void wick_tf_import_broadcast_to(wick_import_node *n) /* x, shape */
{
  uint32_t rank;
  const wick_dim *dim;
  if (wick_import_dims(n, 1, "the shape", &rank, &dim))
    n->out[0] = wick_emit_expand(n->b, n->in[0], rank, dim);
}

void wick_tf_import_broadcast_args(wick_import_node *n) /* two shapes */
{
  uint32_t na, nb;
  const wick_dim *a, *b;
  if (!wick_import_dims(n, 0, "the shape", &na, &a) ||
      !wick_import_dims(n, 1, "the shape", &nb, &b))
    return;
  uint32_t rank = na > nb ? na : nb;
  wick_value *part = wick_new(n->c->tmp, wick_value, rank + 1u);
  wick_elem e = wick_import_info(n, 0)->elem;
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim one = wick_dim_const(1), x = k + na >= rank ? a[k + na - rank] : one,
             y = k + nb >= rank ? b[k + nb - rank] : one, d = wick_dim_eq(x, one) ? y : x;
    if (!wick_dim_eq(x, one) && !wick_dim_eq(y, one) && !wick_import_equal(n, x, y)) {
      wick_import_fail(n, WICK_ETYPE, "the shapes do not broadcast");
      return;
    }
    wick_value size = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, d));
    part[k] = wick_emit_unsqueeze(n->b, wick_build_cast(n->b, size, e), 0);
  }
  wick_type none = wick_type_tensor_const(n->c->module, e, 1, (int64_t[]){0});
  n->out[0] = rank > 1    ? wick_build_concat(n->b, 0, rank, part)
              : rank == 1 ? part[0]
                          : wick_build_const(n->b, none, 0, 0);
}

void wick_tf_import_roll(wick_import_node *n) /* x, shifts, axes */
{
  uint32_t nshift, naxis, at;
  const int64_t *shift, *axes;
  wick_value x = n->in[0];
  const wick_type_info info = *wick_import_info(n, 0);
  wick_dims *t = shape_dims(n);
  if (!wick_import_numbers(n, 1, "the shifts", &nshift, &shift) ||
      !wick_import_numbers(n, 2, "the axes", &naxis, &axes))
    return;
  for (uint32_t k = 0; k < naxis && k < nshift; k++) {
    if (!wick_import_axis(n, axes[k], info.rank, &at)) return;
    wick_dim size = info.dim[at], by = wick_dim_mod(t, wick_dim_const(shift[k]), size);
    wick_dim rest = wick_dim_sub(t, size, by);
    wick_value tail = wick_emit_slice(n->b, x, at, rest, by);
    wick_value head = wick_emit_slice(n->b, x, at, wick_dim_const(0), rest);
    x = wick_build_concat(n->b, at, 2, (wick_value[]){tail, head});
  }
  n->out[0] = x;
}

/* ---- blocks ---- */

/* Moves blocks between the batch and the spatial axes. arg: to the batch */
void wick_tf_import_batch_blocks(wick_import_node *n) /* x, block shape, paddings or crops */
{
  const wick_type_info info = *wick_import_info(n, 0);
  wick_dims *t = shape_dims(n);
  uint32_t m, rank = info.rank;
  const int64_t *block;
  wick_dim pad[2 * WICK_MAX_RANK], all[2 * WICK_MAX_RANK], dim[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK];
  if (!wick_import_numbers(n, 1, "the shape of a block", &m, &block)) return;
  if (!m || m + 1 > rank || rank + m > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "blocks of %u dimensions of an operand of rank %u", m, rank);
    return;
  }
  for (uint32_t k = 0; k < m; k++)
    if (block[k] < 1) {
      wick_import_fail(n, WICK_ERANGE, "a block has the size %lld", (long long)block[k]);
      return;
    }
  if (!shape_pads(n, 2, m, pad)) return;
  bool to = n->row->arg != 0;
  for (uint32_t k = 0; k < 2 * rank; k++) all[k] = wick_dim_const(0);
  for (uint32_t k = 0; k < m; k++) {
    wick_dim none = wick_dim_const(0);
    all[1 + k] = to ? pad[k] : wick_dim_sub(t, none, pad[k]);
    all[rank + 1 + k] = to ? pad[m + k] : wick_dim_sub(t, none, pad[m + k]);
  }
  int64_t blocks = 1;
  for (uint32_t k = 0; k < m; k++) blocks *= block[k];
  wick_value x = to ? shape_pad(n, n->in[0], rank, all, 0, (wick_value){0}) : n->in[0];
  if (n->b->status) return;
  wick_dim cur[WICK_MAX_RANK], batch;
  for (uint32_t k = 0; k < rank; k++) cur[k] = wick_built_info(n->b, x)->dim[k];
  uint32_t r = 0;
  if (to) { /* [N, S/b, b, ..., rest] -> [b.., N, S/b.., rest] */
    dim[r++] = cur[0];
    for (uint32_t k = 0; k < m; k++) {
      dim[r++] = wick_dim_floordiv(t, cur[1 + k], wick_dim_const(block[k]));
      dim[r++] = wick_dim_const(block[k]);
      perm[k] = 2 + 2 * k, perm[m + 1 + k] = 1 + 2 * k;
    }
    perm[m] = 0;
    batch = wick_dim_mul(t, cur[0], wick_dim_const(blocks));
  } else { /* [b.., N, S.., rest] -> [N, S, b, ..., rest] */
    for (uint32_t k = 0; k < m; k++) dim[r++] = wick_dim_const(block[k]);
    batch = wick_dim_floordiv(t, cur[0], wick_dim_const(blocks));
    dim[r++] = batch;
    for (uint32_t k = 0; k < m; k++) {
      dim[r++] = cur[1 + k];
      perm[1 + 2 * k] = m + 1 + k, perm[2 + 2 * k] = k;
    }
    perm[0] = m;
  }
  for (uint32_t k = m + 1; k < rank; k++) perm[r] = r, dim[r++] = cur[k];
  wick_value y = wick_build_transpose(n->b, wick_build_reshape(n->b, x, r, dim), r, perm);
  cur[0] = batch;
  for (uint32_t k = 0; k < m; k++)
    cur[1 + k] = to ? wick_dim_floordiv(t, cur[1 + k], wick_dim_const(block[k]))
                    : wick_dim_mul(t, cur[1 + k], wick_dim_const(block[k]));
  y = wick_build_reshape(n->b, y, rank, cur);
  n->out[0] = to ? y : shape_pad(n, y, rank, all, 0, (wick_value){0});
}
