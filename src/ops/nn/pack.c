/* pack splits an axis into blocks, whose elements become the last axis. unpack is the inverse. */
#include <string.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/nn/blocked.h"
#include "ops/ref.h"
#include "ops/stage.h"

static wick_status pack_infer(wick_infer *c)
{
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  int64_t axis = c->attr[WICK_ATTR_pack_axis].i, block = c->attr[WICK_ATTR_pack_block].i;
  wick_dim dim[WICK_MAX_RANK];
  if (t->rank >= WICK_MAX_RANK)
    return wick_infer_fail(c, WICK_ETYPE, "the rank is %u already", t->rank);
  memcpy(dim, t->dim, t->rank * sizeof *dim);
  dim[axis] = wick_dim_ceildiv(c->module->dims, t->dim[axis], wick_dim_const(block));
  dim[t->rank] = wick_dim_const(block);
  c->out[0].type = wick_type_tensor(c->module, t->elem, t->rank + 1u, dim);
  return NULL;
}

static uint64_t pack_product(const int64_t *dim, uint32_t from, uint32_t to)
{
  uint64_t n = 1;
  for (uint32_t k = from; k < to; k++) n *= (uint64_t)dim[k];
  return n;
}

/* Moves elements between [outer, extent, inner] and [outer, blocks, inner, block], for both
 * operators. */
static void pack_move(const wick_tensor *flat, const wick_tensor *packed, int64_t axis,
                      bool to_packed)
{
  uint64_t outer = pack_product(flat->dim, 0, (uint32_t)axis),
           inner = pack_product(flat->dim, (uint32_t)axis + 1, flat->rank);
  uint64_t extent = (uint64_t)flat->dim[axis], nblock = (uint64_t)packed->dim[axis],
           size = wick_elem_bytes(flat->elem, 1), block = (uint64_t)packed->dim[flat->rank];
  char *f = flat->data, *p = packed->data;
  for (uint64_t n = 0; n < outer; n++)
    for (uint64_t e = 0; e < extent; e++) {
      char *from = f + (n * extent + e) * inner * size;
      char *to = p + (((n * nblock + e / block) * inner) * block + e % block) * size;
      for (uint64_t i = 0; i < inner; i++, from += size, to += size * block) {
        if (to_packed)
          memcpy(to, from, size);
        else
          memcpy(from, to, size);
      }
    }
}

static wick_status pack_ref(wick_ref *c)
{
  pack_move(&c->in[0], &c->out[0], c->attr[WICK_ATTR_pack_axis].i, true);
  return NULL;
}

static void pack_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_axes_of(b, c->out_type[0], axis), at = (uint32_t)c->attr[WICK_ATTR_pack_axis].i;
  wick_dim block = wick_dim_const(c->attr[WICK_ATTR_pack_block].i);
  for (uint32_t k = 0; k < x->rank; k++) index[k] = axis[k].sym;
  index[at] = wick_dim_add(t, wick_dim_mul(t, axis[at].sym, block), axis[n - 1].sym);
  bool exact = wick_dim_is(wick_dim_mod(t, x->dim[at], block), 0);
  wick_map_begin(b, "pack", n, axis, 1, c->out_type);
  wick_value zero =
      exact ? (wick_value){0} : wick_build_const(b, wick_type_scalar(b->module, x->elem, 1), 0, 0);
  wick_value v = wick_read(b, c->in[0], index, 0, NULL, zero);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_pack = {
    .name = "pack",
    .doc = "Splits an axis into blocks: [.., C, ..] becomes [.., ceil(C / block), .., block]. "
           "Elements beyond C are 0",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 1, false, NULL, 0, 0},
             {"block", WICK_ATTR_INT, 16, false, NULL, 1, 1024}},
    .level = WICK_GRAPH,
    .elems = WICK_PLAIN,
    .infer = pack_infer,
    .ref = pack_ref,
    .compute = pack_compute,
    .grad = wick_grad_pack,
    .batch.run = wick_batch_axes,
};

static wick_status unpack_infer(wick_infer *c)
{
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  int64_t axis = c->attr[WICK_ATTR_unpack_axis].i;
  wick_dim extent = c->attr[WICK_ATTR_unpack_extent].n == 1
                        ? c->attr[WICK_ATTR_unpack_extent].dims[0]
                        : WICK_DIM_INVALID,
           dim[WICK_MAX_RANK];
  if (t->rank < 2 || axis >= t->rank - 1)
    return wick_infer_fail(c, WICK_ETYPE, "the axis is the block itself");
  if (!wick_dim_is_const(t->dim[t->rank - 1]))
    return wick_infer_fail(c, WICK_ETYPE, "the block has no constant size");
  if (c->attr[WICK_ATTR_unpack_extent].n != 1 ||
      !wick_dim_eq(wick_dim_ceildiv(c->module->dims, extent, t->dim[t->rank - 1]), t->dim[axis]))
    return wick_infer_fail(c, WICK_ETYPE, "the extent does not have as many blocks as the operand");
  memcpy(dim, t->dim, t->rank * sizeof *dim);
  dim[axis] = extent;
  c->out[0].type = wick_type_tensor(c->module, t->elem, t->rank - 1u, dim);
  return NULL;
}

static wick_status unpack_ref(wick_ref *c)
{
  pack_move(&c->out[0], &c->in[0], c->attr[WICK_ATTR_unpack_axis].i, false);
  return NULL;
}

static void unpack_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], block = x->dim[x->rank - 1];
  uint32_t n = wick_axes_of(b, c->out_type[0], axis),
           at = (uint32_t)c->attr[WICK_ATTR_unpack_axis].i;
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  index[at] = wick_dim_floordiv(t, axis[at].sym, block);
  index[n] = wick_dim_mod(t, axis[at].sym, block);
  wick_map_begin(b, "unpack", n, axis, 1, c->out_type);
  wick_value v = wick_read(b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_unpack = {
    .name = "unpack",
    .doc = "The inverse of `pack`: the axis has `extent` elements again",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 1, false, NULL, 0, 0},
             {"extent", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_PLAIN,
    .infer = unpack_infer,
    .ref = unpack_ref,
    .compute = unpack_compute,
    .grad = wick_grad_unpack,
    .batch.run = wick_batch_axes,
};
