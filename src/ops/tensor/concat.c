/* concat and split: join tensors along an axis, and divide a tensor along an axis. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/layout/layout.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* ---- concat ---- */

static wick_status concat_infer(wick_infer *c)
{
  const wick_type_info *x, *t;
  wick_dim dim[WICK_MAX_RANK];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_concat_axis].i;
  WICK_TRY(wick_infer_tensor(c, 0, "operand 0", 1, &x));
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = x->dim[k];
  for (uint32_t i = 1; i < c->nin; i++) {
    WICK_TRY(wick_infer_alike(c, i, wick_str_printf(c->mem, "operand %u", i), 1, &t));
    bool same = t->rank == x->rank;
    for (uint32_t k = 0; same && k < x->rank; k++)
      same = k == axis || wick_infer_meet(c, &dim[k], t->dim[k]);
    if (!same)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u, %s, does not fit %s along axis %u", i,
                             wick_infer_type_text(c, c->in[i]->type),
                             wick_infer_type_text(c, c->in[0]->type), axis);
    dim[axis] = wick_dim_add(c->module->dims, dim[axis], t->dim[axis]);
  }
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  wick_infer_moved(c, UINT32_MAX);
  return NULL;
}

static wick_status concat_ref(wick_ref *c)
{
  const wick_tensor *out = &c->out[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_concat_axis].i;
  int64_t outer = wick_ref_product(out, 0, axis), at = 0;
  for (int64_t o = 0; o < outer; o++)
    for (uint32_t i = 0; i < c->nin; i++) {
      int64_t run = wick_ref_product(&c->in[i], axis, out->rank);
      for (int64_t k = 0; k < run; k++)
        wick_ref_move(out, (uint64_t)at++, &c->in[i], (uint64_t)(o * run + k));
    }
  return NULL;
}

static void concat_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], end = wick_dim_const(0);
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_concat_axis].i,
           n = wick_stage_map(c, 0, "concat", axis);
  wick_value v = {0};
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  for (uint32_t i = 0; i < c->nin && !b->status;
       i++) { /* the element is in the last operand that begins at or before it */
    const wick_type_info *x = wick_built_info(b, c->in[i]);
    wick_dim begin = end;
    end = wick_dim_add(t, end, x->dim[at]);
    if (wick_dim_is(x->dim[at], 0)) continue;
    index[at] = wick_dim_sub(t, axis[at].sym, begin);
    wick_value zero = c->nin > 1 ? wick_stage_zero(b, x->elem) : (wick_value){0};
    wick_value own = wick_read(b, c->in[i], index, 0, NULL, zero);
    v = v.id ? wick_build3(b, WICK_OP_where, wick_stage_compare(b, WICK_OP_lt, axis[at].sym, begin),
                           v, own)
             : own;
  }
  if (!v.id) v = wick_stage_zero(b, wick_type_get(b->module, c->out_type[0])->elem);
  c->out[0] = wick_map_end(b, 1, &v);
}

static void concat_map(const wick_func *f, const wick_node *n, uint32_t k, wick_view_map *out)
{
  uint32_t axis = (uint32_t)n->attr[WICK_ATTR_concat_axis].i;
  wick_dims *t = f->module->dims;
  int64_t known = 0; /* constants are added as numbers: there may be thousands of operands */
  for (uint32_t i = 0; i < k; i++) {
    wick_dim d = wick_info_of(f, n->in[i])->dim[axis];
    if (!wick_dim_is_const(d) || wick_add_overflows(known, d.v, &known))
      out->begin[axis] = wick_dim_add(t, out->begin[axis], d);
  }
  out->begin[axis] = wick_dim_add(t, out->begin[axis], wick_dim_const(known));
}

const wick_op wick_op_concat = {
    .name = "concat",
    .doc = "The operands one after another along `axis`. All other dimensions are equal",
    .nin = {1, WICK_ANY},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .rearranges = true,
    .view_of = {WICK_VIEW_OF_RESULT, concat_map},
    .simplify = wick_simplify_concat,
    .layout = wick_layout_join,
    .infer = concat_infer,
    .ref = concat_ref,
    .compute = concat_compute,
    .grad = wick_grad_concat_row,
    .linear = {UINT32_MAX},
    .batch.run = wick_batch_axes,
};

/* ---- split ---- */

static wick_status split_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dims *t = c->module->dims;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_split_axis].i;
  const wick_attr *sizes = &c->attr[WICK_ATTR_split_sizes];
  uint32_t n = sizes->n ? sizes->n : (uint32_t)c->attr[WICK_ATTR_split_parts].i;
  WICK_TRY(wick_infer_results(c, n));
  wick_dim dim[WICK_MAX_RANK], total = x->dim[axis], rest = total,
                               part = wick_dim_ceildiv(t, total, wick_dim_const(n));
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = x->dim[k];
  for (uint32_t i = 0; i < n; i++) {
    dim[axis] = sizes->n ? sizes->dims[i] : wick_dim_min(t, part, rest);
    rest = wick_dim_sub(t, rest, dim[axis]);
    wick_infer_out(c, i, x->elem, x->rank, dim);
  }
  if (sizes->n ? !wick_infer_equal(c, rest, wick_dim_const(0))
               : wick_dim_is_const(rest) && !wick_dim_is(rest, 0))
    return wick_infer_fail(c, WICK_ETYPE, "the parts have %s elements together, the axis %s",
                           wick_infer_dim_text(c, wick_dim_sub(t, total, rest)),
                           wick_infer_dim_text(c, total));
  c->nout = n;
  wick_infer_moved(c, 1);
  return NULL;
}

static wick_status split_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_split_axis].i;
  int64_t outer = wick_ref_product(x, 0, axis), at = 0;
  for (int64_t o = 0; o < outer; o++)
    for (uint32_t i = 0; i < c->nout; i++) {
      int64_t run = wick_ref_product(&c->out[i], axis, x->rank);
      for (int64_t k = 0; k < run; k++)
        wick_ref_move(&c->out[i], (uint64_t)(o * run + k), x, (uint64_t)at++);
    }
  return NULL;
}

/* A slice for each part: readers take the elements from x itself, or the slice is a view of it. */
static void split_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  wick_dims *t = b->module->dims;
  uint32_t axis = (uint32_t)n->attr[WICK_ATTR_split_axis].i;
  const wick_attr *sizes = &n->attr[WICK_ATTR_split_sizes];
  wick_dim total = wick_built_info(b, in[0])->dim[axis], begin = wick_dim_const(0),
           part = wick_dim_ceildiv(t, total, wick_dim_const(n->nout));
  for (uint32_t i = 0; i < n->nout && !b->status; i++) {
    wick_dim size =
        sizes->n ? sizes->dims[i] : wick_dim_min(t, part, wick_dim_sub(t, total, begin));
    out[i] = wick_build_slice_axis(b, in[0], axis, begin, size, 1);
    begin = wick_dim_add(t, begin, size);
  }
}

const wick_op wick_op_split = {
    .name = "split",
    .doc = "x split along `axis`, into parts of the given sizes, or into `parts` equal parts, of "
           "which the last ones may be smaller",
    .nin = {1, 1},
    .nout = {1, WICK_ANY},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0},
             {"parts", WICK_ATTR_INT, 1, false, NULL, 1, WICK_MAX_RESULTS},
             {"sizes", WICK_ATTR_DIMS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .infer = split_infer,
    .ref = split_ref,
    .expand = split_expand,
    .grad = wick_grad_split,
    .linear = {1},
    .batch.run = wick_batch_axes,
};
