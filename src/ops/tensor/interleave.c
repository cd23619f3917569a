/* interleave: tensors whose elements alternate along an axis. A strided upsampling is split into
 * phases, which this operator puts together. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/layout/layout.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_status interleave_infer(wick_infer *c)
{
  const wick_type_info *x, *t;
  wick_dim dim[WICK_MAX_RANK];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_interleave_axis].i;
  WICK_TRY(wick_infer_tensor(c, 0, "operand 0", 1, &x));
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = x->dim[k];
  wick_dim before = x->dim[axis];
  for (uint32_t i = 1; i < c->nin; i++) {
    WICK_TRY(wick_infer_alike(c, i, wick_str_printf(c->mem, "operand %u", i), 1, &t));
    bool same = t->rank == x->rank;
    for (uint32_t k = 0; same && k < x->rank; k++)
      same = k == axis || wick_infer_meet(c, &dim[k], t->dim[k]);
    /* The last operands may have one element less than the first. */
    wick_dim less = wick_dim_sub(c->module->dims, x->dim[axis], wick_dim_const(1));
    if (!same || (!wick_dim_eq(t->dim[axis], before) && !wick_dim_eq(t->dim[axis], less)) ||
        (wick_dim_eq(before, less) && !wick_dim_eq(t->dim[axis], less)))
      return wick_infer_fail(c, WICK_ETYPE, "operand %u, %s, does not alternate with %s on axis %u",
                             i, wick_infer_type_text(c, c->in[i]->type),
                             wick_infer_type_text(c, c->in[0]->type), axis);
    before = t->dim[axis];
    dim[axis] = wick_dim_add(c->module->dims, dim[axis], t->dim[axis]);
  }
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  wick_infer_moved(c, UINT32_MAX);
  return NULL;
}

static wick_status interleave_ref(wick_ref *c)
{
  const wick_tensor *out = &c->out[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_interleave_axis].i;
  int64_t outer = wick_ref_product(out, 0, axis),
          inner = wick_ref_product(out, axis + 1, out->rank), at = 0;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < out->dim[axis]; i++) {
      const wick_tensor *x = &c->in[i % c->nin];
      int64_t row = o * x->dim[axis] + i / c->nin;
      for (int64_t k = 0; k < inner; k++)
        wick_ref_move(out, (uint64_t)at++, x, (uint64_t)(row * inner + k));
    }
  return NULL;
}

static void interleave_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], count = wick_dim_const((int64_t)c->nin);
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_interleave_axis].i,
           n = wick_stage_map(c, 0, "interleave", axis);
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  index[at] = wick_dim_floordiv(t, axis[at].sym, count);
  wick_dim turn = wick_dim_mod(t, axis[at].sym, count);
  wick_value v = {0};
  for (uint32_t i = 0; i < c->nin && !b->status; i++) {
    wick_value own = wick_stage_read0(b, c->in[i], index);
    v = v.id ? wick_build3(b, WICK_OP_where,
                           wick_stage_compare(b, WICK_OP_eq, turn, wick_dim_const((int64_t)i)), own,
                           v)
             : own;
  }
  c->out[0] = wick_map_end(b, 1, &v);
}

static void interleave_map(const wick_func *f, const wick_node *n, uint32_t k, wick_view_map *out)
{
  int64_t axis = n->attr[WICK_ATTR_interleave_axis].i;
  (void)f;
  out->begin[axis] = wick_dim_const(k);
  out->step[axis] = n->nin;
}

const wick_op wick_op_interleave = {
    .name = "interleave",
    .doc = "Interleaves n operands along `axis`: element n*i + k of the result is element i of "
           "operand k. The last operands may have one element less. The other dimensions are equal",
    .nin = {1, WICK_ANY},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .rearranges = true,
    .view_of = {WICK_VIEW_OF_RESULT, interleave_map},
    .layout = wick_layout_join,
    .infer = interleave_infer,
    .ref = interleave_ref,
    .compute = interleave_compute,
    .grad = wick_grad_interleave,
    .linear = {UINT32_MAX},
    .batch.run = wick_batch_axes,
};
