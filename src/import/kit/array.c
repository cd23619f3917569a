/* Operators on arrays whose meaning formats share. */
#include "import/kit/array.h"

#include "ir/element.h"
#include "ops/ref.h"

/* ---- sizes ---- */

wick_dim wick_array_product(wick_import_node *n, uint32_t count, const wick_dim *dim)
{
  wick_dim all = wick_dim_const(1);
  for (uint32_t k = 0; k < count; k++) all = wick_dim_mul(n->c->module->dims, all, dim[k]);
  return all;
}

wick_value wick_array_matrix(wick_import_node *n, wick_value x, uint32_t axis)
{
  if (n->b->status || !x.id) return x;
  const wick_type_info *t = wick_built_info(n->b, x);
  wick_dim dim[2] = {wick_array_product(n, axis, t->dim), {0}};
  dim[1] = wick_array_product(n, t->rank - axis, t->dim + axis);
  return t->rank == 2 && axis == 1 ? x : wick_build_reshape(n->b, x, 2, dim);
}

wick_value wick_array_sizes(wick_import_node *n, uint32_t count, const wick_dim *dim, wick_elem e)
{
  wick_value part[WICK_MAX_RANK];
  wick_dim one = wick_dim_const(1);
  for (uint32_t k = 0; k < count; k++) {
    part[k] = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, dim[k]));
    part[k] = wick_build_reshape(n->b, part[k], 1, &one);
  }
  if (!count) return (wick_value){0};
  wick_value all = count > 1 ? wick_build_concat(n->b, 0, count, part) : part[0];
  return wick_build_cast(n->b, all, e);
}

/* ---- slices ---- */

typedef struct array_slice { /* of x, before dimensions are dropped and inserted */
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  uint32_t
      index[WICK_MAX_RANK]; /* of the entry whose element `at` selects the index, plus 1; or 0 */
  wick_dim
      out[3 * WICK_MAX_RANK]; /* the result's dimensions: of each entry, and of the rest of x */
  uint32_t rank, nout;
} array_slice;

/* Clamps a begin or an end that counts from the end if it is negative. */
static wick_dim array_clamp(wick_dims *t, wick_dim v, wick_dim size, int64_t low, wick_dim high)
{
  int64_t lo, hi;
  wick_dim_range(t, v, &lo, &hi);
  if (hi < 0) v = wick_dim_add(t, v, size);
  return wick_dim_min(t, wick_dim_max(t, v, wick_dim_const(low)), high);
}

static void array_entry(wick_import *c, const wick_array_strided *s, uint32_t k, wick_dim size,
                        uint32_t axis, array_slice *out)
{
  wick_dims *t = c->module->dims;
  wick_dim one = wick_dim_const(1), zero = wick_dim_const(0), last = wick_dim_sub(t, size, one);
  int64_t step = s->stride[k];
  bool down = step < 0, shrink = s->shrink_mask >> k & 1;
  bool open_begin = !shrink && s->begin_mask >> k & 1, open_end = s->end_mask >> k & 1;
  out->index[axis] = 0, out->step[axis] = shrink ? 1 : step;
  if (!s->begin && !open_begin) { /* an index that only the run knows */
    out->index[axis] = k + 1, out->step[axis] = 1;
    out->begin[axis] = zero, out->shape[axis] = size;
    return;
  }
  wick_dim begin = open_begin ? (down ? last : zero)
                   : down     ? array_clamp(t, s->begin[k], size, -1, last)
                              : array_clamp(t, s->begin[k], size, 0, size);
  if (shrink) {
    out->begin[axis] = begin, out->shape[axis] = one;
    return;
  }
  wick_dim end = s->end ? s->end[k] : zero;
  if (s->offset && s->begin) end = wick_dim_add(t, s->begin[k], end);
  end = open_end ? (down ? wick_dim_const(-1) : size)
        : down   ? array_clamp(t, end, size, -1, last)
                 : array_clamp(t, end, size, 0, size);
  wick_dim span = down ? wick_dim_sub(t, begin, end) : wick_dim_sub(t, end, begin);
  out->begin[axis] = begin;
  out->shape[axis] =
      wick_dim_max(t, wick_dim_ceildiv(t, span, wick_dim_const(down ? -step : step)), zero);
  if (wick_dim_is(out->shape[axis], 0)) out->begin[axis] = zero, out->step[axis] = 1;
}

static void array_whole(const wick_type_info *x, uint32_t axis, array_slice *out)
{
  out->begin[axis] = wick_dim_const(0), out->shape[axis] = x->dim[axis];
  out->step[axis] = 1, out->index[axis] = 0;
}

/* Finds the slice of each dimension. Returns false after a failure. */
static bool array_entries(wick_import_node *n, const wick_type_info *x, const wick_array_strided *s,
                          array_slice *out)
{
  uint32_t axis = 0, named = 0, dots = 0;
  for (uint32_t k = 0; k < s->n && k < 2 * WICK_MAX_RANK; k++) {
    bool ellipsis = s->ellipsis_mask >> k & 1;
    dots += ellipsis;
    named += !ellipsis && !(s->new_axis_mask >> k & 1);
  }
  if (dots > 1) {
    wick_import_fail(n, WICK_ETYPE, "it has %u ellipses, at most one is possible", dots);
    return false;
  }
  if (named > x->rank || s->n > 2 * WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "it slices %u dimensions of an input of rank %u", named,
                     x->rank);
    return false;
  }
  for (uint32_t k = 0; k < s->n; k++) {
    bool ellipsis = s->ellipsis_mask >> k & 1, fresh = !ellipsis && s->new_axis_mask >> k & 1;
    if (ellipsis) {
      for (uint32_t most = x->rank - named; most > 0; most--, axis++) {
        array_whole(x, axis, out);
        out->out[out->nout++] = x->dim[axis];
      }
    } else if (fresh) {
      out->out[out->nout++] = wick_dim_const(1);
    } else {
      bool shrink = s->shrink_mask >> k & 1;
      if (!s->stride[k] || s->stride[k] == INT64_MIN) {
        wick_import_fail(n, WICK_ERANGE, "a stride is %lld", (long long)s->stride[k]);
        return false;
      }
      bool unknown = !s->begin && !(s->begin_mask >> k & 1);
      if ((unknown && !shrink) || (!s->end && !shrink && !(s->end_mask >> k & 1)))
        return wick_import_unknown(n, s->at, "the begin of a slice, on which its size depends,");
      array_entry(n->c, s, k, x->dim[axis], axis, out);
      if (!shrink) out->out[out->nout++] = out->shape[axis];
      axis++;
    }
  }
  for (; axis < x->rank; axis++) {
    array_whole(x, axis, out);
    out->out[out->nout++] = x->dim[axis];
  }
  out->rank = x->rank;
  return true;
}

wick_value wick_array_strided_slice(wick_import_node *n, wick_value x, const wick_array_strided *s)
{
  wick_builder *b = n->b;
  array_slice a = {.nout = 0};
  const wick_type_info t = *wick_built_info(b, x);
  bool whole = true;
  if (!array_entries(n, &t, s, &a)) return (wick_value){0};
  for (uint32_t k = 0; k < a.rank && !b->status; k++)
    if (a.index[k]) {
      wick_dim at = wick_dim_const(a.index[k] - 1), one = wick_dim_const(1);
      wick_value index = wick_emit_slice(b, s->at, 0, at, one);
      x = wick_emit_gather(b, WICK_OP_gather, x, index, k);
      a.shape[k] = one;
    }
  for (uint32_t k = 0; k < a.rank; k++)
    whole = whole && (a.index[k] || (wick_dim_eq(a.shape[k], t.dim[k]) && a.step[k] == 1));
  if (!whole) x = wick_build_slice(b, x, a.rank, a.begin, a.shape, a.step);
  if (a.nout > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its rank is %u, the most is %d", a.nout, WICK_MAX_RANK);
    return (wick_value){0};
  }
  return a.nout == a.rank && !s->shrink_mask ? x : wick_build_reshape(b, x, a.nout, a.out);
}

wick_value wick_array_reverse(wick_import_node *n, wick_value x, uint32_t axes)
{
  wick_builder *b = n->b;
  if (b->status) return x;
  wick_dims *dims = n->c->module->dims;
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim begin[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) {
    bool turn = axes >> k & 1 && !wick_dim_is(t->dim[k], 0);
    begin[k] = turn ? wick_dim_sub(dims, t->dim[k], wick_dim_const(1)) : wick_dim_const(0);
    step[k] = turn ? -1 : 1;
  }
  return wick_build_slice(b, x, t->rank, begin, t->dim, step);
}

/* ---- gather ---- */

/* With batches, rows of x are numbered through all batches: index + batch number * size. */
wick_value wick_array_gather(wick_import_node *n, wick_value x, wick_value index, uint32_t axis,
                             uint32_t batch)
{
  wick_builder *b = n->b;
  wick_dims *d = b->module->dims;
  if (!batch || b->status) return wick_emit_gather(b, WICK_OP_gather, x, index, axis);
  const wick_type_info t = *wick_built_info(b, x), i = *wick_built_info(b, index);
  wick_dim rows = wick_dim_const(1), flat[WICK_MAX_RANK], one[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK];
  uint32_t nout = 0, nperm = 0;
  if (batch > axis || batch > i.rank || axis >= t.rank || t.rank + i.rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "%u batch dimensions do not fit axis %u", batch, axis);
    return (wick_value){0};
  }
  /* x with the axis after the batches: [batches..., size, before..., after...] */
  for (uint32_t k = 0; k < batch; k++) perm[nperm++] = k;
  perm[nperm++] = axis;
  for (uint32_t k = batch; k < t.rank; k++)
    if (k != axis) perm[nperm++] = k;
  x = wick_build_transpose(b, x, t.rank, perm);
  for (uint32_t k = 0; k < batch; k++) {
    if (!wick_import_equal(n, t.dim[k], i.dim[k])) {
      wick_import_fail(n, WICK_ETYPE, "its operands differ in batch dimension %u", k);
      return (wick_value){0};
    }
    rows = wick_dim_mul(d, rows, t.dim[k]);
  }
  uint32_t nflat = 0;
  flat[nflat++] = wick_dim_mul(d, rows, t.dim[axis]);
  for (uint32_t k = batch + 1; k < t.rank; k++) flat[nflat++] = t.dim[perm[k]];
  x = wick_build_reshape(b, x, nflat, flat);
  for (uint32_t k = 0; k < i.rank; k++) one[k] = k < batch ? t.dim[k] : wick_dim_const(1);
  wick_value at = wick_build_reshape(b, wick_emit_count(b, rows), i.rank, one);
  wick_value zero = wick_emit_number(b, index, 0), size = wick_emit_number(b, at, 0);
  wick_value wide = wick_build_cast(b, index, WICK_I64);
  if (!wick_dim_is_const(t.dim[axis])) {
    wick_import_must_be_known(n, "the size of the axis", t.dim[axis]);
    return (wick_value){0};
  }
  size = wick_emit_number(b, at, (double)t.dim[axis].v);
  wick_value negative = wick_build2(b, WICK_OP_lt, index, zero);
  wick_value turned = wick_build2(b, WICK_OP_add, wide, size);
  wide = wick_build3(b, WICK_OP_where, negative, turned, wide);
  wide = wick_build2(b, WICK_OP_add, wide, wick_build2(b, WICK_OP_mul, at, size));
  wick_value y = wick_emit_gather(b, WICK_OP_gather, x, wide, 0);
  /* [index..., before..., after...]: `before` goes between the batches and the other indices */
  uint32_t nbefore = axis - batch;
  for (uint32_t k = 0; k < batch; k++) perm[nout++] = k;
  for (uint32_t k = 0; k < nbefore; k++) perm[nout++] = i.rank + k;
  for (uint32_t k = batch; k < i.rank; k++) perm[nout++] = k;
  for (uint32_t k = nbefore; k < nflat - 1; k++) perm[nout++] = i.rank + k;
  return nbefore ? wick_build_transpose(b, y, nout, perm) : y;
}

/* ---- pads ---- */

static wick_value array_pad(wick_import_node *n, wick_value x, const wick_dim *before,
                            const wick_dim *after, wick_value fill, int mode)
{
  wick_builder *b = n->b;
  if (b->status) return x;
  uint32_t rank = wick_built_info(b, x)->rank;
  wick_dim pad[2 * WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) pad[k] = before[k], pad[rank + k] = after[k];
  wick_emit e = wick_emit_begin(b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  wick_emit_set_int(&e, "mode", mode);
  return fill.id ? wick_emit_end2(&e, x, fill) : wick_emit_end1(&e, x);
}

wick_value wick_array_pad(wick_import_node *n, wick_value x, const wick_dim *before,
                          const wick_dim *after, wick_value fill)
{
  return array_pad(n, x, before, after, fill, 0);
}

/* Symmetric: parts of each side, reversed, beside x. */
static wick_value array_symmetric(wick_import_node *n, wick_value x, const wick_dim *before,
                                  const wick_dim *after)
{
  wick_builder *b = n->b;
  wick_dims *t = b->module->dims;
  for (uint32_t k = 0; k < wick_built_info(b, x)->rank && !b->status; k++) {
    wick_dim size = wick_built_info(b, x)->dim[k];
    wick_value part[3];
    uint32_t np = 0;
    if (!wick_dim_is(before[k], 0)) {
      wick_value head = wick_emit_slice(b, x, k, wick_dim_const(0), before[k]);
      part[np++] = wick_array_reverse(n, head, 1u << k);
    }
    part[np++] = x;
    if (!wick_dim_is(after[k], 0)) {
      wick_value tail = wick_emit_slice(b, x, k, wick_dim_sub(t, size, after[k]), after[k]);
      part[np++] = wick_array_reverse(n, tail, 1u << k);
    }
    if (np > 1) x = wick_build_concat(b, k, np, part);
  }
  return x;
}

wick_value wick_array_mirror_pad(wick_import_node *n, wick_value x, const wick_dim *before,
                                 const wick_dim *after, bool symmetric)
{
  if (symmetric) return array_symmetric(n, x, before, after);
  return array_pad(n, x, before, after, (wick_value){0}, 1);
}

/* ---- space and batch ---- */

static bool array_blocks(wick_import_node *n, const wick_type_info *x, uint32_t nblock,
                         const int64_t *block)
{
  bool good = x->rank >= nblock + 1 && x->rank + nblock <= WICK_MAX_RANK;
  for (uint32_t k = 0; k < nblock; k++) good = good && block[k] >= 1 && block[k] <= INT32_MAX;
  if (!good) wick_import_fail(n, WICK_ETYPE, "its blocks do not fit an input of rank %u", x->rank);
  return good;
}

wick_value wick_array_space_to_batch(wick_import_node *n, wick_value x, uint32_t nblock,
                                     const int64_t *block, const wick_dim *before,
                                     const wick_dim *after, wick_value fill)
{
  wick_builder *b = n->b;
  wick_dims *d = b->module->dims;
  wick_dim head[WICK_MAX_RANK] = {{0}}, tail[WICK_MAX_RANK] = {{0}}, split[WICK_MAX_RANK],
           out[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK];
  if (!array_blocks(n, wick_built_info(b, x), nblock, block)) return (wick_value){0};
  uint32_t rank = wick_built_info(b, x)->rank, np = 0, ns = 0;
  for (uint32_t k = 0; k < rank; k++) {
    bool in = k >= 1 && k <= nblock;
    head[k] = in ? before[k - 1] : wick_dim_const(0),
    tail[k] = in ? after[k - 1] : wick_dim_const(0);
  }
  x = wick_array_pad(n, x, head, tail, fill);
  if (b->status) return x;
  const wick_type_info t = *wick_built_info(b, x);
  split[ns++] = out[0] = t.dim[0];
  for (uint32_t k = 1; k < rank; k++) {
    if (k > nblock) {
      split[ns++] = out[k] = t.dim[k];
      continue;
    }
    wick_dim by = wick_dim_const(block[k - 1]);
    if (!wick_import_equal(n, wick_dim_mod(d, t.dim[k], by), wick_dim_const(0))) {
      wick_import_fail(n, WICK_ETYPE, "the size of axis %u is no multiple of %lld", k,
                       (long long)block[k - 1]);
      return (wick_value){0};
    }
    out[k] = wick_dim_floordiv(d, t.dim[k], by);
    split[ns++] = out[k], split[ns++] = by;
    out[0] = wick_dim_mul(d, out[0], by);
  }
  x = wick_build_reshape(b, x, ns, split);
  for (uint32_t k = 0; k < nblock; k++) perm[np++] = 2 + 2 * k;
  perm[np++] = 0;
  for (uint32_t k = 0; k < nblock; k++) perm[np++] = 1 + 2 * k;
  for (uint32_t k = 1 + 2 * nblock; k < ns; k++) perm[np++] = k;
  x = wick_build_transpose(b, x, ns, perm);
  return wick_build_reshape(b, x, rank, out);
}

wick_value wick_array_batch_to_space(wick_import_node *n, wick_value x, uint32_t nblock,
                                     const int64_t *block, const wick_dim *before,
                                     const wick_dim *after)
{
  wick_builder *b = n->b;
  wick_dims *d = b->module->dims;
  wick_dim split[WICK_MAX_RANK], out[WICK_MAX_RANK], begin[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK], all = 1;
  const wick_type_info t = *wick_built_info(b, x);
  if (!array_blocks(n, &t, nblock, block)) return (wick_value){0};
  uint32_t np = 0, ns = 0;
  for (uint32_t k = 0; k < nblock; k++) {
    split[ns++] = wick_dim_const(block[k]);
    if (wick_mul_overflows(all, block[k], &all)) all = 0;
  }
  if (!all ||
      !wick_import_equal(n, wick_dim_mod(d, t.dim[0], wick_dim_const(all)), wick_dim_const(0))) {
    wick_import_fail(n, WICK_ETYPE, "the batch is no multiple of the blocks");
    return (wick_value){0};
  }
  out[0] = split[ns++] = wick_dim_floordiv(d, t.dim[0], wick_dim_const(all));
  for (uint32_t k = 1; k < t.rank; k++) {
    split[ns++] = t.dim[k];
    out[k] = k <= nblock ? wick_dim_mul(d, t.dim[k], wick_dim_const(block[k - 1])) : t.dim[k];
  }
  x = wick_build_reshape(b, x, ns, split);
  perm[np++] = nblock;
  for (uint32_t k = 0; k < nblock; k++) perm[np++] = nblock + 1 + k, perm[np++] = k;
  for (uint32_t k = 2 * nblock + 1; k < ns; k++) perm[np++] = k;
  x = wick_build_reshape(b, wick_build_transpose(b, x, ns, perm), t.rank, out);
  bool cut = false;
  for (uint32_t k = 0; k < t.rank; k++) {
    bool in = k >= 1 && k <= nblock;
    begin[k] = in ? before[k - 1] : wick_dim_const(0);
    if (!in) continue;
    cut = cut || !wick_dim_is(before[k - 1], 0) || !wick_dim_is(after[k - 1], 0);
    out[k] = wick_dim_sub(d, wick_dim_sub(d, out[k], before[k - 1]), after[k - 1]);
  }
  return cut ? wick_build_slice(b, x, t.rank, begin, out, NULL) : x;
}

wick_value wick_array_reverse_sequence(wick_import_node *n, wick_value x, wick_value length,
                                       uint32_t seq, uint32_t batch)
{
  wick_builder *b = n->b;
  if (b->status) return x;
  const wick_type_info t = *wick_built_info(b, x);
  wick_dim rows[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t.rank; k++) rows[k] = k == batch ? t.dim[k] : wick_dim_const(1);
  wick_value at = wick_emit_count_along(b, t.dim[seq], seq, t.rank);
  wick_value many = wick_build_reshape(b, wick_build_cast(b, length, WICK_I64), t.rank, rows);
  wick_value last = wick_emit_by(b, WICK_OP_sub, many, 1);
  wick_value inside = wick_build2(b, WICK_OP_lt, at, many);
  wick_value turned = wick_build2(b, WICK_OP_sub, last, at);
  wick_value index = wick_build3(b, WICK_OP_where, inside, turned, at);
  index = wick_emit_expand(b, index, t.rank, t.dim);
  return wick_emit_gather(b, WICK_OP_gather_elements, x, index, seq);
}

/* ---- stacks ---- */

wick_value wick_array_stack(wick_import_node *n, uint32_t count, const wick_value *in,
                            uint32_t axis)
{
  wick_value *part = wick_new(n->c->tmp, wick_value, count + 1);
  for (uint32_t k = 0; k < count; k++) part[k] = wick_emit_unsqueeze(n->b, in[k], axis);
  return wick_build_concat(n->b, axis, count, part);
}

void wick_array_unstack(wick_import_node *n, wick_value x, uint32_t axis, uint32_t count,
                        wick_value *out)
{
  wick_dim one = wick_dim_const(1);
  if (!n->b->status &&
      !wick_import_equal(n, wick_built_info(n->b, x)->dim[axis], wick_dim_const(count))) {
    wick_import_fail(n, WICK_ETYPE, "axis %u does not have size %u", axis, count);
    return;
  }
  for (uint32_t k = 0; k < count; k++)
    out[k] = wick_emit_squeeze(n->b, wick_emit_slice(n->b, x, axis, wick_dim_const(k), one), axis);
}

/* ---- where ---- */

wick_value wick_array_where(wick_import_node *n, wick_value x)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_built_info(b, x);
  wick_dim count = wick_type_numel(b->module, wick_built_type(b, x)), stride = wick_dim_const(1);
  wick_value place, size = {0}, row[WICK_MAX_RANK];
  wick_tensor known;
  x = wick_build_reshape(b, wick_build_cast(b, x, WICK_BOOL), 1, &count);
  if (b->status) return x;
  if (wick_known_value(b, n->c->tmp, x, &known)) {
    int64_t m = 0, numel = (int64_t)wick_ref_numel(&known),
            *at = wick_new(n->c->tmp, int64_t, (size_t)numel + 1);
    for (int64_t k = 0; k < numel; k++)
      if (wick_load_elem(WICK_BOOL, known.data, (uint64_t)k).i) at[m++] = k;
    place = wick_import_copied(n->c, n->name, WICK_I64, 1, &m, at, (uint64_t)m * sizeof *at);
  } else {
    place = wick_build1(b, WICK_OP_nonzero, x);
    size = (wick_value){place.id + 1};
  }
  for (uint32_t k = t.rank; k-- > 0;) {
    if (!wick_dim_is_const(t.dim[k])) {
      wick_import_must_be_known(n, "the size of its input", t.dim[k]);
      return (wick_value){0};
    }
    row[k] = wick_dim_is(stride, 1) ? place : wick_emit_by(b, WICK_OP_div, place, (double)stride.v);
    if (k) row[k] = wick_emit_by(b, WICK_OP_mod, row[k], (double)t.dim[k].v);
    row[k] = wick_emit_unsqueeze(b, row[k], 1);
    stride = wick_dim_mul(b->module->dims, stride, t.dim[k]);
  }
  wick_value y = t.rank == 1 ? row[0] : wick_build_concat(b, 1, t.rank, row);
  return size.id ? wick_import_bounded(n->c, y, 0, size) : y;
}

bool wick_array_broadcast(wick_import_node *n, uint32_t na, const wick_dim *a, uint32_t nb,
                          const wick_dim *b, uint32_t *out_n, wick_dim *out)
{
  *out_n = na > nb ? na : nb;
  for (uint32_t k = 0; k < *out_n; k++) {
    uint32_t skip_a = *out_n - na, skip_b = *out_n - nb;
    wick_dim x = k < skip_a ? wick_dim_const(1) : a[k - skip_a],
             y = k < skip_b ? wick_dim_const(1) : b[k - skip_b];
    out[k] = wick_dim_is(x, 1) ? y : x;
    if (!wick_dim_is(x, 1) && !wick_dim_is(y, 1) && !wick_import_equal(n, x, y)) {
      wick_import_fail(n, WICK_ETYPE, "its shapes do not broadcast");
      return false;
    }
  }
  return true;
}
