/* Gathers: elements selected by indices that are data. Negative indices count from the end; an
 * index out of range fails the run. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_status gather_indices(const wick_infer *c, uint32_t least_rank,
                                  const wick_type_info **out)
{
  WICK_TRY(wick_infer_tensor(c, 1, "the indices", least_rank, out));
  if (wick_elem_is_int((*out)->elem)) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "the indices are %s, expected integers",
                         wick_elem_name((*out)->elem));
}

/* Reads the index at position `at` of the indices, for a dimension of `size`. */
static wick_status gather_index(const wick_ref *c, uint64_t at, int64_t size, int64_t *out)
{
  int64_t i = wick_load_int(c->in[1].elem, c->in[1].data, at);
  *out = i < 0 ? i + size : i;
  if (*out >= 0 && *out < size) return NULL;
  return wick_ref_fail(c, WICK_ERANGE, "index %lld is outside [%lld, %lld]", (long long)i,
                       (long long)-size, (long long)size - 1);
}

/* In a stage: reads the index at `index` of the indices, as an i64 in 0 .. size-1. If it is out
 * of range, fails the run with the index. */
static wick_value gather_stage_index(const wick_compute *c, const wick_dim *index, wick_dim size)
{
  wick_builder *b = c->b;
  wick_value raw = wick_read(b, c->in[1], index, 0, NULL, (wick_value){0});
  wick_value i = wick_build_cast(b, raw, WICK_I64), n = wick_stage_number(b, size, WICK_I64),
             zero = wick_build_i64(b, 0);
  wick_value negative = wick_build2(b, WICK_OP_lt, i, zero),
             from_end = wick_build2(b, WICK_OP_add, i, n),
             at = wick_build3(b, WICK_OP_where, negative, from_end, i),
             below = wick_build2(b, WICK_OP_lt, at, zero),
             above = wick_build2(b, WICK_OP_ge, at, n),
             bad = wick_build2(b, WICK_OP_or, below, above);
  wick_build_failure(b, WICK_ERANGE, bad, i, size);
  /* 0 if it is bad, because a failed run continues to its end */
  return wick_build3(b, WICK_OP_where, bad, zero, at);
}

/* ---- gather ---- */

static wick_status gather_infer(wick_infer *c)
{
  const wick_type_info *x, *indices;
  wick_dim dim[2 * WICK_MAX_RANK];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  WICK_TRY(gather_indices(c, 0, &indices));
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_gather_axis].i, n = 0;
  if (x->rank + indices->rank - 1 > WICK_MAX_RANK)
    return wick_infer_fail(c, WICK_ELIMIT, "rank %u, at most %d is possible",
                           x->rank + indices->rank - 1u, WICK_MAX_RANK);
  for (uint32_t k = 0; k < axis; k++) dim[n++] = x->dim[k];
  for (uint32_t k = 0; k < indices->rank; k++) dim[n++] = indices->dim[k];
  for (uint32_t k = axis + 1; k < x->rank; k++) dim[n++] = x->dim[k];
  wick_infer_out(c, 0, x->elem, n, dim);
  wick_infer_moved(c, 1);
  return NULL;
}

static wick_status gather_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_gather_axis].i;
  int64_t outer = wick_ref_product(x, 0, axis), inner = wick_ref_product(x, axis + 1, x->rank),
          count = (int64_t)wick_ref_numel(&c->in[1]), at = 0;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t k = 0; k < count; k++) {
      int64_t i;
      WICK_TRY(gather_index(c, (uint64_t)k, x->dim[axis], &i));
      for (int64_t e = 0; e < inner; e++)
        wick_ref_move(&c->out[0], (uint64_t)at++, x,
                      (uint64_t)((o * x->dim[axis] + i) * inner + e));
    }
  return NULL;
}

static void gather_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], from[WICK_MAX_RANK];
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_gather_axis].i,
           own = wick_built_info(b, c->in[1])->rank;
  wick_stage_map(c, 0, "gather", axis);
  for (uint32_t k = 0; k < own; k++) from[k] = axis[at + k].sym;
  for (uint32_t k = 0; k < x->rank; k++)
    index[k] = k == at ? WICK_DIM_ANY : axis[k < at ? k : k + own - 1].sym;
  wick_value i = gather_stage_index(c, from, x->dim[at]);
  wick_value v = wick_read(b, c->in[0], index, 1, &i, (wick_value){0});
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_gather = {
    .name = "gather",
    .doc = "Elements of x at the indices along `axis`; the dimensions of the indices replace this "
           "axis. Negative indices count from the end. An index out of range fails the run",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .aux_operands = 1u << 1,
    .effect = WICK_MAY_FAIL,
    .infer = gather_infer,
    .ref = gather_ref,
    .compute = gather_compute,
    .simplify = wick_simplify_gather,
    .grad = wick_grad_gather,
    .linear = {1},
    .batch.run = wick_batch_gather,
};

/* ---- gather_elements ---- */

static wick_status gather_elements_infer(wick_infer *c)
{
  const wick_type_info *x, *indices;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  WICK_TRY(gather_indices(c, 0, &indices));
  if (indices->rank != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "the indices have rank %u, expected %u as x has",
                           indices->rank, x->rank);
  for (uint32_t k = 0; k < x->rank; k++) {
    int64_t lo, hi;
    wick_dim_range(c->module->dims, wick_dim_sub(c->module->dims, indices->dim[k], x->dim[k]), &lo,
                   &hi);
    if (k != (uint32_t)c->attr[WICK_ATTR_gather_elements_axis].i && lo > 0)
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u of the indices is %s, x has %s", k,
                             wick_infer_dim_text(c, indices->dim[k]),
                             wick_infer_dim_text(c, x->dim[k]));
  }
  wick_infer_out(c, 0, x->elem, x->rank, indices->dim);
  wick_infer_moved(c, 1);
  return NULL;
}

static wick_status gather_elements_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_gather_elements_axis].i;
  int64_t index[WICK_MAX_RANK] = {0}, stride[WICK_MAX_RANK], i;
  wick_ref_strides(x, stride);
  if (wick_ref_numel(out) == 0) return NULL;
  uint64_t at = 0;
  do {
    int64_t from = 0;
    WICK_TRY(gather_index(c, at, x->dim[axis], &i));
    for (uint32_t k = 0; k < x->rank; k++) from += (k == axis ? i : index[k]) * stride[k];
    wick_ref_move(out, at++, x, (uint64_t)from);
  } while (wick_ref_next(out->rank, out->dim, index));
  return NULL;
}

static void gather_elements_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], from[WICK_MAX_RANK];
  uint32_t at = (uint32_t)c->attr[WICK_ATTR_gather_elements_axis].i,
           n = wick_stage_map(c, 0, "gather_elements", axis);
  for (uint32_t k = 0; k < n; k++) from[k] = index[k] = axis[k].sym;
  index[at] = WICK_DIM_ANY;
  wick_value i = gather_stage_index(c, from, x->dim[at]);
  wick_value v = wick_read(b, c->in[0], index, 1, &i, (wick_value){0});
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_gather_elements = {
    .name = "gather_elements",
    .doc = "For each element of the indices, the element of x at the same position, except that "
           "the index gives the position along `axis`. Negative indices count from the end. An "
           "index out of range fails the run",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .aux_operands = 1u << 1,
    .effect = WICK_MAY_FAIL,
    .infer = gather_elements_infer,
    .ref = gather_elements_ref,
    .compute = gather_elements_compute,
    .grad = wick_grad_gather_elements,
    .linear = {1},
    .batch.run = wick_batch_gather_elements,
};

/* ---- gather_nd ---- */

static wick_status gather_nd_infer(wick_infer *c)
{
  const wick_type_info *x, *indices;
  wick_dim dim[2 * WICK_MAX_RANK];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  WICK_TRY(gather_indices(c, 1, &indices));
  uint32_t batch = (uint32_t)c->attr[WICK_ATTR_gather_nd_batch].i, last = indices->rank - 1u, n = 0;
  wick_dim depth = indices->dim[last];
  if (!wick_dim_is_const(depth) || depth.v < 1 || batch > last || batch + depth.v > x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "tuples of %s indices after %u batch dimensions into %s",
                           wick_infer_dim_text(c, depth), batch,
                           wick_infer_type_text(c, c->in[0]->type));
  for (uint32_t k = 0; k < batch; k++)
    if (!wick_infer_equal(c, indices->dim[k], x->dim[k]))
      return wick_infer_fail(c, WICK_ETYPE, "batch dimension %u is %s, of the indices %s", k,
                             wick_infer_dim_text(c, x->dim[k]),
                             wick_infer_dim_text(c, indices->dim[k]));
  for (uint32_t k = 0; k < last; k++) dim[n++] = indices->dim[k];
  for (uint32_t k = batch + (uint32_t)depth.v; k < x->rank; k++) dim[n++] = x->dim[k];
  if (n > WICK_MAX_RANK)
    return wick_infer_fail(c, WICK_ELIMIT, "rank %u, at most %d is possible", n, WICK_MAX_RANK);
  wick_infer_out(c, 0, x->elem, n, dim);
  wick_infer_moved(c, 1);
  return NULL;
}

static wick_status gather_nd_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *indices = &c->in[1];
  uint32_t batch = (uint32_t)c->attr[WICK_ATTR_gather_nd_batch].i, last = indices->rank - 1;
  int64_t depth = indices->dim[last], tuples = wick_ref_product(indices, 0, last),
          per_batch = wick_ref_product(indices, batch, last),
          inner = wick_ref_product(x, batch + (uint32_t)depth, x->rank), at = 0;
  for (int64_t t = 0; t < tuples; t++) {
    int64_t from = t / per_batch;
    for (int64_t d = 0; d < depth; d++) {
      int64_t i, size = x->dim[batch + (uint32_t)d];
      WICK_TRY(gather_index(c, (uint64_t)(t * depth + d), size, &i));
      from = from * size + i;
    }
    for (int64_t e = 0; e < inner; e++)
      wick_ref_move(&c->out[0], (uint64_t)at++, x, (uint64_t)(from * inner + e));
  }
  return NULL;
}

static void gather_nd_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *indices = wick_built_info(b, c->in[1]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], from[WICK_MAX_RANK];
  wick_value any[WICK_MAX_RANK];
  uint32_t batch = (uint32_t)c->attr[WICK_ATTR_gather_nd_batch].i, last = indices->rank - 1u,
           depth = (uint32_t)indices->dim[last].v;
  wick_stage_map(c, 0, "gather_nd", axis);
  for (uint32_t k = 0; k < last; k++) from[k] = axis[k].sym;
  for (uint32_t k = 0; k < x->rank; k++) {
    if (k < batch) {
      index[k] = axis[k].sym;
    } else if (k < batch + depth) {
      from[last] = wick_dim_const(k - batch);
      index[k] = WICK_DIM_ANY;
      any[k - batch] = gather_stage_index(c, from, x->dim[k]);
    } else {
      index[k] = axis[last + k - batch - depth].sym;
    }
  }
  wick_value v = wick_read(b, c->in[0], index, depth, any, (wick_value){0});
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_gather_nd = {
    .name = "gather_nd",
    .doc = "The last dimension of the indices holds tuples that index x, after `batch` dimensions "
           "that both operands share. Each tuple is replaced by the part of x that it selects. "
           "Negative indices count from the end. An index out of range fails the run",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"batch", WICK_ATTR_INT, 0, false, NULL, 0, WICK_MAX_RANK}},
    .level = WICK_GRAPH,
    .aux_operands = 1u << 1,
    .effect = WICK_MAY_FAIL,
    .infer = gather_nd_infer,
    .ref = gather_nd_ref,
    .compute = gather_nd_compute,
    .grad = wick_grad_gather_nd,
    .linear = {1},
    .batch.run = wick_batch_gather_nd,
};
