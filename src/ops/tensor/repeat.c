/* Repeated elements: along dimensions of size 1 (broadcast_to), and whole tensors (tile). */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* ---- expand ---- */

static wick_status expand_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dim dim[WICK_MAX_RANK];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  if (c->attr[WICK_ATTR_broadcast_to_shape].n > WICK_MAX_RANK)
    return wick_infer_fail(c, WICK_ELIMIT, "rank %u, at most %d is possible",
                           c->attr[WICK_ATTR_broadcast_to_shape].n, WICK_MAX_RANK);
  uint32_t rank = x->rank;
  for (uint32_t k = 0; k < rank; k++) dim[k] = x->dim[k];
  WICK_TRY(wick_infer_broadcast(c, &rank, dim, c->attr[WICK_ATTR_broadcast_to_shape].n,
                                c->attr[WICK_ATTR_broadcast_to_shape].dims));
  wick_infer_out(c, 0, x->elem, rank, dim);
  wick_infer_moved(c, 1);
  return NULL;
}

static wick_status expand_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  int64_t index[WICK_MAX_RANK] = {0}, stride[WICK_MAX_RANK];
  uint32_t lead = out->rank - x->rank;
  wick_ref_strides(x, stride);
  if (wick_ref_numel(out) == 0) return NULL;
  uint64_t at = 0;
  do {
    int64_t from = 0;
    for (uint32_t k = 0; k < x->rank; k++)
      if (x->dim[k] != 1) from += index[lead + k] * stride[k];
    wick_ref_move(out, at++, x, (uint64_t)from);
  } while (wick_ref_next(out->rank, out->dim, index));
  return NULL;
}

static void expand_compute(const wick_compute *c)
{
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_stage_map(c, 0, "broadcast_to", axis);
  wick_broadcast_index(c->b->module, wick_built_type(c->b, c->in[0]), n, axis, index);
  wick_value v = wick_read(c->b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(c->b, 1, &v);
}

const wick_op wick_op_broadcast_to = {
    .name = "broadcast_to",
    .doc = "x, broadcast against the dimensions `shape`",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"shape", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .rearranges = true,
    .simplify = wick_simplify_expand,
    .infer = expand_infer,
    .ref = expand_ref,
    .compute = expand_compute,
    .grad = wick_grad_expand_row,
    .linear = {1},
    .batch.run = wick_batch_axes,
};

/* ---- tile ---- */

static wick_status tile_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dim dim[WICK_MAX_RANK];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  if (c->attr[WICK_ATTR_tile_repeats].n != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "repeats has %u numbers, x has rank %u",
                           c->attr[WICK_ATTR_tile_repeats].n, x->rank);
  for (uint32_t k = 0; k < x->rank; k++)
    dim[k] = wick_dim_mul(c->module->dims, x->dim[k], c->attr[WICK_ATTR_tile_repeats].dims[k]);
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  wick_infer_moved(c, 1);
  return NULL;
}

static wick_status tile_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  int64_t index[WICK_MAX_RANK] = {0}, stride[WICK_MAX_RANK];
  wick_ref_strides(x, stride);
  if (wick_ref_numel(out) == 0) return NULL;
  uint64_t at = 0;
  do {
    int64_t from = 0;
    for (uint32_t k = 0; k < x->rank; k++) from += index[k] % x->dim[k] * stride[k];
    wick_ref_move(out, at++, x, (uint64_t)from);
  } while (wick_ref_next(out->rank, out->dim, index));
  return NULL;
}

static void tile_compute(const wick_compute *c)
{
  wick_dims *t = c->b->module->dims;
  const wick_type_info *x = wick_built_info(c->b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_stage_map(c, 0, "tile", axis);
  for (uint32_t k = 0; k < n; k++)
    index[k] = wick_dim_is(c->attr[WICK_ATTR_tile_repeats].dims[k], 1)
                   ? axis[k].sym
                   : wick_dim_mod(t, axis[k].sym, x->dim[k]);
  wick_value v = wick_read(c->b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(c->b, 1, &v);
}

const wick_op wick_op_tile = {
    .name = "tile",
    .doc = "x repeated `repeats` times along each dimension",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"repeats", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .infer = tile_infer,
    .ref = tile_ref,
    .compute = tile_compute,
    .grad = wick_grad_tile,
    .linear = {1},
    .batch.run = wick_batch_axes,
};
