/* slice: regular parts of a tensor. */
#include "ops/tensor/slice.h"
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"

#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* Clamps numbers beyond any possible dimension. The least integer has no expression, and counts
 * as such a number. */
static wick_dim slice_near(wick_dim v)
{
  const int64_t far = (int64_t)1 << 60;
  if (wick_dim_eq(v, WICK_DIM_INVALID)) return wick_dim_const(-far);
  if (wick_dim_is_const(v)) v.v = wick_max_i64(wick_min_i64(v.v, far), -far);
  return v;
}

/* Adds dim to *v if it is negative, then clamps it to least .. most. If *v may have both signs,
 * its sign is floordiv(v, far), which is -1 or 0. Returns false if the sign is not known. */
static bool slice_bring(wick_dims *t, wick_dim dim, wick_dim least, wick_dim most, wick_dim *v)
{
  const int64_t far = (int64_t)1 << 40;
  int64_t lo, hi;
  *v = slice_near(*v);
  wick_dim_range(t, *v, &lo, &hi);
  if (lo < 0 && hi >= 0) {
    if (lo < -far || hi >= far) return false;
    wick_dim sign = wick_dim_floordiv(t, *v, wick_dim_const(far));
    *v = wick_dim_sub(t, *v, wick_dim_mul(t, dim, sign));
  }
  if (hi < 0) *v = wick_dim_add(t, dim, *v);
  *v = wick_dim_max(t, wick_dim_min(t, *v, most), least);
  return true;
}

bool wick_slice_resolve(wick_dims *t, wick_dim dim, wick_dim start, wick_dim end, int64_t step,
                        wick_dim *out_begin, wick_dim *out_size)
{
  wick_dim one = wick_dim_const(1), zero = wick_dim_const(0);
  wick_dim least = step > 0 ? zero : wick_dim_const(-1),
           most = step > 0 ? dim : wick_dim_sub(t, dim, one);
  if (!slice_bring(t, dim, least, most, &start) || !slice_bring(t, dim, least, most, &end))
    return false;
  wick_dim distance = step > 0 ? wick_dim_sub(t, end, start) : wick_dim_sub(t, start, end);
  *out_begin = start;
  *out_size =
      wick_dim_ceildiv(t, wick_dim_max(t, distance, zero), wick_dim_const(step > 0 ? step : -step));
  return true;
}

/* ---- the operator ---- */

static int64_t slice_step(const wick_attr *attr, uint32_t k)
{
  return attr[WICK_ATTR_slice_step].n ? attr[WICK_ATTR_slice_step].ints[k] : 1;
}

static wick_status slice_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dims *t = c->module->dims;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  for (uint32_t i = 0; i < 3; i++)
    if (c->attr[i].n != x->rank && (i != WICK_ATTR_slice_step || c->attr[i].n))
      return wick_infer_fail(c, WICK_ETYPE, "%s has %u numbers, x has rank %u",
                             wick_ops[c->op]->attr[i].name, c->attr[i].n, x->rank);
  for (uint32_t k = 0; k < x->rank; k++) {
    wick_dim begin = c->attr[WICK_ATTR_slice_begin].dims[k],
             size = c->attr[WICK_ATTR_slice_shape].dims[k],
             step = wick_dim_const(slice_step(c->attr, k));
    wick_dim last =
        wick_dim_add(t, begin, wick_dim_mul(t, wick_dim_sub(t, size, wick_dim_const(1)), step));
    int64_t lo, hi, least, most, beyond, inside;
    wick_dim_range(t, begin, &lo, &hi);
    wick_dim_range(t, last, &least, &most);
    wick_dim_range(t, wick_dim_sub(t, last, x->dim[k]), &inside, &beyond);
    if (wick_dim_is(step, 0)) return wick_infer_fail(c, WICK_ETYPE, "the step of axis %u is 0", k);
    if (!wick_dim_is(size, 0) && (hi < 0 || most < 0 || inside >= 0))
      return wick_infer_fail(c, WICK_ERANGE, "axis %u: elements %s to %s of %s", k,
                             wick_infer_dim_text(c, begin), wick_infer_dim_text(c, last),
                             wick_infer_dim_text(c, x->dim[k]));
  }
  wick_infer_out(c, 0, x->elem, x->rank, c->attr[WICK_ATTR_slice_shape].dims);
  wick_infer_moved(c, 1);
  return NULL;
}

static wick_status slice_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  int64_t index[WICK_MAX_RANK] = {0}, stride[WICK_MAX_RANK];
  wick_ref_strides(x, stride);
  if (wick_ref_numel(out) == 0) return NULL;
  uint64_t at = 0;
  do {
    int64_t from = 0;
    for (uint32_t k = 0; k < x->rank; k++) {
      int64_t i = c->attr[WICK_ATTR_slice_begin].dims[k].v + index[k] * slice_step(c->attr, k);
      if (i < 0 || i >= x->dim[k])
        return wick_ref_fail(c, WICK_ERANGE, "element %lld of axis %u, which has %lld",
                             (long long)i, k, (long long)x->dim[k]);
      from += i * stride[k];
    }
    wick_ref_move(out, at++, x, (uint64_t)from);
  } while (wick_ref_next(out->rank, out->dim, index));
  return NULL;
}

static void slice_compute(const wick_compute *c)
{
  wick_dims *t = c->b->module->dims;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_stage_map(c, 0, "slice", axis);
  for (uint32_t k = 0; k < n; k++)
    index[k] = wick_dim_add(t, c->attr[WICK_ATTR_slice_begin].dims[k],
                            wick_dim_mul(t, axis[k].sym, wick_dim_const(slice_step(c->attr, k))));
  wick_value v = wick_read(c->b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(c->b, 1, &v);
}

static void slice_map(const wick_func *f, const wick_node *n, uint32_t k, wick_view_map *out)
{
  (void)f, (void)k;
  for (uint32_t d = 0; d < n->attr[WICK_ATTR_slice_begin].n; d++) {
    out->begin[d] = n->attr[WICK_ATTR_slice_begin].dims[d];
    out->step[d] = slice_step(n->attr, d);
  }
}

const wick_op wick_op_slice = {
    .name = "slice",
    .doc = "Element begin + i*step of each dimension, for each i below `shape`; all of them lie "
           "in x. The default of `step` is 1",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"begin", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             {"shape", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             {"step", WICK_ATTR_INTS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .view_of = {WICK_VIEW_OF_OPERAND, slice_map},
    .simplify = wick_simplify_slice,
    .infer = slice_infer,
    .ref = slice_ref,
    .compute = slice_compute,
    .grad = wick_grad_slice_row,
    .linear = {1},
    .batch.run = wick_batch_axes,
};
