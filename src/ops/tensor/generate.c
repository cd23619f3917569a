/* Tensors computed from their own indices: ranges, one-hot vectors, identity and triangular
 * matrices. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* ---- range ---- */

static wick_status range_infer(wick_infer *c)
{
  const wick_type_info *t;
  WICK_TRY(wick_infer_tensor(c, 0, "start", 0, &t));
  wick_elem e = t->elem;
  if (t->rank) return wick_infer_fail(c, WICK_ETYPE, "start has rank %u, expected 0", t->rank);
  WICK_TRY(wick_infer_alike(c, 1, "delta", 0, &t));
  if (t->rank) return wick_infer_fail(c, WICK_ETYPE, "delta has rank %u, expected 0", t->rank);
  if (c->attr[WICK_ATTR_range_count].n != 1)
    return wick_infer_fail(c, WICK_ETYPE, "count has %u numbers, expected 1",
                           c->attr[WICK_ATTR_range_count].n);
  wick_dim n = c->attr[WICK_ATTR_range_count].dims[0];
  wick_infer_out(c, 0, e, 1, &n);
  const wick_dim *start = c->in[0]->content, *delta = c->in[1]->content;
  if (!start || !delta || !wick_dim_is_const(n) || n.v < 0 || n.v > WICK_MAX_CONTENT) return NULL;
  wick_dim *content = wick_new(&c->module->mem, wick_dim, (size_t)n.v);
  for (int64_t i = 0; i < n.v; i++) {
    wick_dims *dims = c->module->dims;
    content[i] = wick_dim_add(dims, *start, wick_dim_mul(dims, wick_dim_const(i), *delta));
    if (wick_dim_eq(content[i], WICK_DIM_INVALID)) return NULL;
  }
  c->out[0].content = content;
  c->out[0].ncontent = (uint32_t)n.v;
  return NULL;
}

static wick_status range_ref(wick_ref *c)
{
  wick_elem e = c->in[0].elem;
  wick_scalar start = wick_load_elem(e, c->in[0].data, 0),
              delta = wick_load_elem(e, c->in[1].data, 0);
  for (int64_t i = 0; i < c->out[0].dim[0]; i++) {
    wick_scalar v;
    if (wick_elem_is_float(e))
      v.f = start.f + (double)i * delta.f;
    else
      v.i = (int64_t)((uint64_t)start.i + (uint64_t)i * (uint64_t)delta.i);
    wick_store_elem(e, c->out[0].data, (uint64_t)i, v);
  }
  return NULL;
}

static void range_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_axis axis[WICK_MAX_RANK];
  wick_stage_map(c, 0, "range", axis);
  wick_dim none[1] = {{0}};
  wick_value start = wick_read(b, c->in[0], none, 0, NULL, (wick_value){0}),
             delta = wick_read(b, c->in[1], none, 0, NULL, (wick_value){0});
  if (b->status) return;
  wick_elem e = wick_built_info(b, start)->elem, acc = wick_stage_arith(e);
  wick_value v = wick_stage_muladd(b, wick_stage_number(b, axis[0].sym, acc),
                                   wick_build_cast(b, delta, acc), wick_build_cast(b, start, acc));
  v = wick_build_cast(b, v, e);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_range = {
    .name = "range",
    .doc = "start + i * delta for each i below `count`, rounded once. Integers wrap",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"count", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = range_infer,
    .ref = range_ref,
    .compute = range_compute,
    .grad = wick_grad_range,
    .batch.run = wick_batch_rows,
};

/* ---- one_hot ---- */

/* The position of the new dimension; -1: last. */
static wick_status one_hot_axis(const wick_infer *c, uint32_t rank, uint32_t *out)
{
  int64_t axis = c->attr[WICK_ATTR_one_hot_axis].i;
  return wick_infer_axis(c, axis, rank + 1, out);
}

static wick_status one_hot_infer(wick_infer *c)
{
  const wick_type_info *x, *values;
  wick_dim dim[WICK_MAX_RANK];
  uint32_t axis, n = 0;
  WICK_TRY(wick_infer_tensor(c, 0, "the indices", 0, &x));
  WICK_TRY(wick_infer_tensor(c, 1, "the values", 1, &values));
  if (!wick_elem_is_int(x->elem))
    return wick_infer_fail(c, WICK_ETYPE, "the indices are %s, expected integers",
                           wick_elem_name(x->elem));
  if (values->rank != 1 || !wick_infer_equal(c, values->dim[0], wick_dim_const(2)))
    return wick_infer_fail(c, WICK_ETYPE, "the values are %s, expected two",
                           wick_infer_type_text(c, c->in[1]->type));
  if (c->attr[WICK_ATTR_one_hot_depth].n != 1 || x->rank >= WICK_MAX_RANK)
    return wick_infer_fail(c, WICK_ETYPE, "depth has %u numbers, expected 1",
                           c->attr[WICK_ATTR_one_hot_depth].n);
  WICK_TRY(one_hot_axis(c, x->rank, &axis));
  for (uint32_t k = 0; k <= x->rank; k++)
    dim[k] = k == axis ? c->attr[WICK_ATTR_one_hot_depth].dims[0] : x->dim[n++];
  wick_infer_out(c, 0, values->elem, x->rank + 1u, dim);
  return NULL;
}

static uint32_t one_hot_place(const wick_attr *attr, uint32_t rank)
{
  int64_t axis = attr[WICK_ATTR_one_hot_axis].i;
  return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static wick_status one_hot_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  uint32_t axis = one_hot_place(c->attr, out->rank);
  int64_t depth = out->dim[axis], outer = wick_ref_product(out, 0, axis),
          inner = wick_ref_product(out, axis + 1, out->rank), at = 0;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t d = 0; d < depth; d++)
      for (int64_t i = 0; i < inner; i++) {
        int64_t index = wick_load_int(x->elem, x->data, (uint64_t)(o * inner + i));
        if (index < 0) index += depth;
        wick_ref_move(out, (uint64_t)at++, &c->in[1], index == d);
      }
  return NULL;
}

static void one_hot_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_stage_map(c, 0, "one_hot", axis), at = one_hot_place(c->attr, n), own = 0;
  wick_value none = {0};
  for (uint32_t k = 0; k < n; k++)
    if (k != at) index[own++] = axis[k].sym;
  wick_value i = wick_build_cast(b, wick_read(b, c->in[0], index, 0, NULL, none), WICK_I64),
             depth = wick_stage_number(b, axis[at].extent, WICK_I64);
  i = wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_lt, i, wick_build_i64(b, 0)),
                  wick_build2(b, WICK_OP_add, i, depth), i);
  wick_value hit = wick_build2(b, WICK_OP_eq, i, wick_index(b, axis[at].sym));
  wick_dim off = wick_dim_const(0), on = wick_dim_const(1);
  wick_value v = wick_build3(b, WICK_OP_where, hit, wick_read(b, c->in[1], &on, 0, NULL, none),
                             wick_read(b, c->in[1], &off, 0, NULL, none));
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_one_hot = {
    .name = "one_hot",
    .doc = "Replaces each index by `depth` elements along a new dimension at `axis`: values[1] at "
           "the index, values[0] elsewhere. Negative indices count from the end. An index out of "
           "range gives values[0] only",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_INT, -1, false, NULL, 0, 0},
             {"depth", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .aux_operands = 1u << 0,
    .infer = one_hot_infer,
    .ref = one_hot_ref,
    .compute = one_hot_compute,
    .grad = wick_grad_one_hot,
    .batch.run = wick_batch_axes_first,
};

/* ---- triangle, eye ---- */

static wick_status triangle_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 2, &x));
  return wick_infer_same(c);
}

static wick_status triangle_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  int64_t rows = x->dim[x->rank - 2], columns = x->dim[x->rank - 1],
          k = c->attr[WICK_ATTR_trilu_k].i;
  uint64_t n = wick_ref_numel(x);
  for (uint64_t at = 0; at < n; at++) {
    int64_t row = (int64_t)at / columns % rows, column = (int64_t)at % columns;
    bool kept = c->attr[WICK_ATTR_trilu_upper].i ? column >= row + k : column <= row + k;
    if (kept) wick_ref_move(&c->out[0], at, x, at);
  }
  return NULL;
}

static void triangle_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_elem e = wick_built_info(b, c->in[0])->elem;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_stage_map(c, 0, "trilu", axis);
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  wick_dim border =
      wick_dim_add(b->module->dims, index[n - 2], wick_dim_const(c->attr[WICK_ATTR_trilu_k].i));
  wick_value kept = wick_stage_compare(
      b, c->attr[WICK_ATTR_trilu_upper].i ? WICK_OP_ge : WICK_OP_le, index[n - 1], border);
  wick_value v =
      wick_build3(b, WICK_OP_where, kept, wick_read(b, c->in[0], index, 0, NULL, (wick_value){0}),
                  wick_stage_zero(b, e));
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_trilu = {
    .name = "trilu",
    .doc = "The matrices in the last two dimensions of x, with 0 below diagonal `k` (`upper`) or "
           "above it. The main diagonal is 0; diagonals to its right are positive",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"upper", WICK_ATTR_BOOL, 1, false, NULL, 0, 0},
             {"k", WICK_ATTR_INT, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_PLAIN,
    .simplify = wick_simplify_triangle,
    .infer = triangle_infer,
    .ref = triangle_ref,
    .compute = triangle_compute,
    .grad = wick_grad_triangle,
    .batch.run = wick_batch_axes,
};

static wick_status eye_infer(wick_infer *c)
{
  const wick_type_info *t = wick_type_get(c->module, c->want[0]);
  if (t->kind == WICK_TENSOR && t->rank == 2 && (WICK_PLAIN & WICK_BIT(t->elem))) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "the result is %s, expected a matrix of numbers",
                         wick_infer_type_text(c, c->want[0]));
}

static wick_status eye_ref(wick_ref *c)
{
  wick_tensor *out = &c->out[0];
  bool is_float = wick_elem_is_float(out->elem);
  wick_scalar one = is_float ? (wick_scalar){.f = 1} : (wick_scalar){.i = 1};
  for (int64_t i = 0; i < out->dim[0]; i++) {
    int64_t j = i + c->attr[WICK_ATTR_eye_k].i;
    if (j >= 0 && j < out->dim[1])
      wick_store_elem(out->elem, out->data, (uint64_t)(i * out->dim[1] + j), one);
  }
  return NULL;
}

static void eye_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_axis axis[WICK_MAX_RANK];
  wick_stage_map(c, 0, "eye", axis);
  wick_dim border =
      wick_dim_add(b->module->dims, axis[0].sym, wick_dim_const(c->attr[WICK_ATTR_eye_k].i));
  wick_value v = wick_build_cast(b, wick_stage_compare(b, WICK_OP_eq, axis[1].sym, border),
                                 wick_type_get(b->module, c->out_type[0])->elem);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_eye = {
    .name = "eye",
    .doc = "A matrix with 1 on diagonal `k` and 0 elsewhere. The main diagonal is 0; diagonals to "
           "its right are positive",
    .nout = {1, 1},
    .attr = {{"k", WICK_ATTR_INT, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .typed = true,
    .infer = eye_infer,
    .ref = eye_ref,
    .compute = eye_compute,
    .grad = wick_grad_zero,
};
