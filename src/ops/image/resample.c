/* resample: weighted sums of elements along one axis, at positions that are data. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { RESAMPLE_MOST = 16 };

static wick_status resample_infer(wick_infer *c)
{
  const wick_type_info *x, *index, *weight = NULL;
  wick_dim dim[WICK_MAX_RANK];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_resample_axis].i;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  WICK_TRY(wick_infer_tensor(c, 1, "the indices", 2, &index));
  if (index->elem != WICK_I32 || index->rank != 2)
    return wick_infer_fail(c, WICK_ETYPE, "the indices are %s of rank %u, expected i32 of rank 2",
                           wick_elem_name(index->elem), index->rank);
  if (!wick_dim_is_const(index->dim[0]) || index->dim[0].v < 1 || index->dim[0].v > RESAMPLE_MOST)
    return wick_infer_fail(c, WICK_ETYPE, "%s elements for each result, expected 1 to %d",
                           wick_infer_dim_text(c, index->dim[0]), RESAMPLE_MOST);
  if (wick_dim_is(x->dim[axis], 0))
    return wick_infer_fail(c, WICK_ETYPE, "axis %u has no elements", axis);
  if (c->nin > 2 && c->in[2]) {
    WICK_TRY(wick_infer_tensor(c, 2, "the weights", 2, &weight));
    if (weight->rank != 2 || !wick_dim_eq(weight->dim[0], index->dim[0]) ||
        !wick_dim_eq(weight->dim[1], index->dim[1]) || !wick_elem_is_float(weight->elem) ||
        !wick_elem_is_float(x->elem))
      return wick_infer_fail(c, WICK_ETYPE, "the weights are no floats of the indices' shape");
  } else if (!wick_dim_is(index->dim[0], 1)) {
    return wick_infer_fail(c, WICK_ETYPE, "several elements have no weights");
  }
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = k == axis ? index->dim[1] : x->dim[k];
  wick_infer_out(c, 0, weight ? weight->elem : x->elem, x->rank, dim);
  return NULL;
}

static wick_status resample_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *index = &c->in[1], *out = &c->out[0],
                    *weight = c->nin > 2 && c->in[2].data ? &c->in[2] : NULL;
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_resample_axis].i;
  int64_t outer = wick_ref_product(x, 0, axis), inner = wick_ref_product(x, axis + 1, x->rank),
          taps = index->dim[0], n = index->dim[1], size = x->dim[axis];
  for (int64_t at = 0; at < outer * n * inner; at++) {
    int64_t o = at / inner % n;
    wick_scalar sum = {.f = 0};
    for (int64_t t = 0; t < taps; t++) {
      uint64_t tap = (uint64_t)(t * n + o);
      int64_t i = wick_load_int(WICK_I32, index->data, tap);
      i = wick_max_i64(wick_min_i64(i, size - 1), 0);
      uint64_t from = (uint64_t)((at / inner / n * size + i) * inner + at % inner);
      if (!weight) {
        wick_ref_move(out, (uint64_t)at, x, from);
        continue;
      }
      sum.f += wick_load_elem(x->elem, x->data, from).f *
               wick_load_elem(weight->elem, weight->data, tap).f;
    }
    if (weight) wick_ref_write(out, (uint64_t)at, 1, &sum);
  }
  return NULL;
}

static void resample_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *index = wick_built_info(b, c->in[1]);
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_resample_axis].i, n;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim from[WICK_MAX_RANK], size = x->dim[at];
  wick_value sum = {0}, none = {0};
  int64_t taps = index->dim[0].v;
  bool weighted = c->nin > 2 && c->in[2].id;
  wick_elem elem = wick_type_get(b->module, c->out_type[0])->elem,
            e = weighted ? wick_stage_arith(elem) : elem;
  n = wick_stage_map(c, 0, "resample", axis);
  for (uint32_t k = 0; k < n; k++) from[k] = k == at ? WICK_DIM_ANY : axis[k].sym;
  wick_value zero = wick_stage_number(b, wick_dim_const(0), WICK_I32),
             last = wick_stage_number(b, wick_dim_sub(b->module->dims, size, wick_dim_const(1)),
                                      WICK_I32);
  for (int64_t t = 0; t < taps && !b->status; t++) {
    wick_dim tap[2] = {wick_dim_const(t), axis[at].sym};
    wick_value i = wick_read(b, c->in[1], tap, 0, NULL, none);
    i = wick_build2(b, WICK_OP_max, wick_build2(b, WICK_OP_min, i, last), zero);
    i = wick_build_cast(b, i, WICK_I64);
    wick_value v = wick_read(b, c->in[0], from, 1, &i, none);
    if (!weighted) {
      sum = v;
      break;
    }
    v = wick_build_cast(b, v, e);
    wick_value w = wick_build_cast(b, wick_read(b, c->in[2], tap, 0, NULL, none), e);
    sum = t ? wick_stage_muladd(b, v, w, sum) : wick_build2(b, WICK_OP_mul, v, w);
  }
  if (!b->status) sum = wick_build_cast(b, sum, elem);
  c->out[0] = wick_map_end(b, 1, &sum);
}

const wick_op wick_op_resample = {
    .name = "resample",
    .doc =
        "Element o of the result along `axis` is the sum over t of x's element index[t, o] times "
        "weight[t, o], in the order of t; indices are clamped to the axis. Without weights it is "
        "the element index[0, o]. The result has the type of the weights",
    .nin = {2, 3},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .aux_operands = 1u << 1,
    .infer = resample_infer,
    .ref = resample_ref,
    .compute = resample_compute,
    .grad = wick_grad_none,
    .batch.run = wick_batch_axes_first,
};
