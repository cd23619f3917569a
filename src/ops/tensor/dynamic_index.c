/* dynamic_index: one index along an axis, chosen at run time. Loops read sequences with it. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_status dynamic_index_infer(wick_infer *c)
{
  const wick_type_info *x, *i;
  wick_dim dim[WICK_MAX_RANK];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  WICK_TRY(wick_infer_tensor(c, 1, "the index", 0, &i));
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_dynamic_index_axis].i, n = 0;
  if (i->elem != WICK_I64 || i->rank)
    return wick_infer_fail(c, WICK_ETYPE, "the index is no i64 of rank 0");
  if (wick_dim_is(x->dim[axis], 0))
    return wick_infer_fail(c, WICK_ETYPE, "there is nothing along axis %u", axis);
  for (uint32_t k = 0; k < x->rank; k++)
    if (k != axis) dim[n++] = x->dim[k];
  wick_infer_out(c, 0, x->elem, n, dim);
  return NULL;
}

static wick_status dynamic_index_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_dynamic_index_axis].i;
  int64_t outer = wick_ref_product(x, 0, axis), inner = wick_ref_product(x, axis + 1, x->rank),
          n = x->dim[axis], i = wick_load_int(WICK_I64, c->in[1].data, 0);
  i = i < 0 ? 0 : i >= n ? n - 1 : i;
  if (c->attr[WICK_ATTR_dynamic_index_reverse].i) i = n - 1 - i;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t e = 0; e < inner; e++)
      wick_ref_move(&c->out[0], (uint64_t)(o * inner + e), x, (uint64_t)((o * n + i) * inner + e));
  return NULL;
}

static void dynamic_index_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_dynamic_index_axis].i;
  wick_stage_map(c, 0, "dynamic_index", axis);
  for (uint32_t k = 0; k < x->rank; k++)
    index[k] = k == at ? WICK_DIM_ANY : axis[k < at ? k : k - 1].sym;
  wick_value i = wick_read(b, c->in[1], NULL, 0, NULL, (wick_value){0});
  wick_value one = wick_build_i64(b, 1), last = wick_stage_number(b, x->dim[at], WICK_I64);
  last = wick_build2(b, WICK_OP_sub, last, one);
  i = wick_build2(b, WICK_OP_max, i, wick_build_i64(b, 0));
  i = wick_build2(b, WICK_OP_min, i, last);
  if (c->attr[WICK_ATTR_dynamic_index_reverse].i) i = wick_build2(b, WICK_OP_sub, last, i);
  wick_value v = wick_read(b, c->in[0], index, 1, &i, (wick_value){0});
  c->out[0] = wick_map_end(b, 1, &v);
}

static void dynamic_index_map(const wick_func *f, const wick_node *n, uint32_t k,
                              wick_view_map *out)
{
  const wick_type_info *x = wick_info_of(f, n->in[0]);
  uint32_t axis = (uint32_t)n->attr[WICK_ATTR_dynamic_index_axis].i;
  (void)k;
  out->axis[axis] = WICK_VIEW_CHOSEN;
  for (uint32_t d = axis + 1; d < x->rank; d++) out->axis[d] = d - 1;
  if (!n->attr[WICK_ATTR_dynamic_index_reverse].i) return;
  out->begin[axis] = wick_dim_sub(f->module->dims, x->dim[axis], wick_dim_const(1));
  out->step[axis] = -1;
}

const wick_op wick_op_dynamic_index = {
    .name = "dynamic_index",
    .doc = "x at one index along `axis`; the result lacks this dimension. The index is clamped to "
           "the valid range. `reverse` counts it from the end",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0},
             {"reverse", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .aux_operands = 2,
    .view_of = {WICK_VIEW_OF_OPERAND, dynamic_index_map},
    .infer = dynamic_index_infer,
    .ref = dynamic_index_ref,
    .compute = dynamic_index_compute,
    .grad = wick_grad_take,
    .linear = {1},
    .batch.run = wick_batch_dynamic_index,
};
