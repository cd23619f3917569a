/* Operators that take parts of tensors. */
#include "import/tensorflow/ops.h"

/* ---- slices ---- */

static wick_dim slice_clamp(wick_dims *t, wick_dim x, wick_dim lo, wick_dim hi)
{
  return wick_dim_min(t, wick_dim_max(t, x, lo), hi);
}

typedef struct slice_cutter {
  wick_import_node *n;
  wick_value x; /* what was cut so far at run time */
  uint32_t nspec, rank;
  int64_t begin_mask, end_mask, ellipsis, fresh, shrink;
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK], out[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  uint32_t nout;
} slice_cutter;

/* An index that only the run knows: x[.., i, ..]. */
static bool slice_dynamic(slice_cutter *s, uint32_t k, uint32_t axis)
{
  wick_import_node *n = s->n;
  if (!(s->shrink >> k & 1))
    return wick_import_unknown(n, n->in[1], "the begin of a slice that is no single index");
  wick_value i = wick_build_cast(n->b, wick_array_element(n, n->in[1], k), WICK_I64);
  wick_value one = wick_emit_gather(n->b, WICK_OP_gather, s->x, i, axis);
  s->x = wick_emit_unsqueeze(n->b, one, axis);
  s->begin[axis] = wick_dim_const(0), s->shape[axis] = wick_dim_const(1), s->step[axis] = 1;
  return !n->b->status;
}

/* One entry of the specification, for one axis of x. */
static bool slice_entry(slice_cutter *s, uint32_t k, uint32_t axis, wick_dim size)
{
  wick_import_node *n = s->n;
  wick_dims *t = n->c->module->dims;
  wick_dim begin, end, by, none = wick_dim_const(0), one = wick_dim_const(1);
  if (!wick_array_element_dim(n, n->in[3], k, &by) || !wick_dim_is_const(by))
    return wick_import_unknown(n, n->in[3], "the step of a slice");
  if (by.v == 0) {
    wick_import_fail(n, WICK_ETYPE, "a step is 0");
    return false;
  }
  bool back = by.v < 0, single = s->shrink >> k & 1;
  wick_dim lo = back ? wick_dim_const(-1) : none, hi = back ? wick_dim_sub(t, size, one) : size;
  begin = back ? hi : none;
  if (!(s->begin_mask >> k & 1) || single) {
    if (!wick_array_element_dim(n, n->in[1], k, &begin)) return slice_dynamic(s, k, axis);
    int64_t low, high;
    wick_dim_range(t, begin, &low, &high);
    if (high < 0) begin = wick_dim_add(t, begin, size);
    if (single && wick_dim_is_const(begin) && wick_dim_is_const(size) &&
        (begin.v < 0 || begin.v >= size.v)) {
      wick_import_fail(n, WICK_ERANGE, "the index %lld is outside of axis %u, which has %lld",
                       (long long)begin.v, axis, (long long)size.v);
      return false;
    }
    if (!single) begin = slice_clamp(t, begin, lo, hi);
  }
  s->begin[axis] = begin, s->step[axis] = by.v;
  if (single) {
    s->shape[axis] = one, s->step[axis] = 1;
    return true;
  }
  end = back ? wick_dim_const(-1) : size;
  if (!(s->end_mask >> k & 1)) {
    if (!wick_array_element_dim(n, n->in[2], k, &end))
      return wick_import_unknown(n, n->in[2], "the end of a slice");
    int64_t low, high;
    wick_dim_range(t, end, &low, &high);
    if (high < 0) end = wick_dim_add(t, end, size);
    end = slice_clamp(t, end, lo, hi);
  }
  wick_dim span = back ? wick_dim_sub(t, begin, end) : wick_dim_sub(t, end, begin);
  int64_t stride = back ? -by.v : by.v;
  span = wick_dim_add(t, span, wick_dim_const(stride - 1));
  s->shape[axis] = wick_dim_max(t, wick_dim_floordiv(t, span, wick_dim_const(stride)), none);
  return true;
}

static bool slice_entries(slice_cutter *s, const wick_type_info *t)
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
      if (!slice_entry(s, k, axis, t->dim[axis])) return false;
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
  slice_cutter s = {.n = n,
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
  if (!slice_entries(&s, &info)) return;
  wick_value y = wick_build_slice(n->b, s.x, info.rank, s.begin, s.shape, s.step);
  n->out[0] = wick_build_reshape(n->b, y, s.nout, s.out);
}

void wick_tf_import_slice(wick_import_node *n) /* x, begin, size */
{
  const wick_type_info info = *wick_import_info(n, 0), *spec = wick_import_info(n, 1);
  wick_dims *t = n->c->module->dims;
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  wick_value x = n->in[0];
  if (spec->rank != 1 || !wick_dim_eq(spec->dim[0], wick_dim_const(info.rank)) ||
      wick_import_info(n, 2)->rank != 1 ||
      !wick_dim_eq(wick_import_info(n, 2)->dim[0], spec->dim[0])) {
    wick_import_fail(n, WICK_ETYPE, "begin and size have not one number for each dimension");
    return;
  }
  for (uint32_t k = 0; k < info.rank; k++) {
    bool known = wick_array_element_dim(n, n->in[1], k, &begin[k]);
    if (!wick_array_element_dim(n, n->in[2], k, &shape[k])) {
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
    wick_value from = wick_build_cast(n->b, wick_array_element(n, n->in[1], k), WICK_I64);
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
    if (step[k] < 0) begin[k] = wick_dim_sub(n->c->module->dims, info.dim[k], wick_dim_const(1));
  n->out[0] = wick_build_slice(n->b, n->in[0], info.rank, begin, info.dim, step);
}
