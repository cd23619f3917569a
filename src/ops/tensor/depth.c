/* depth_to_space and space_to_depth: move blocks of image elements to channels, and back. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_status depth_to_space_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dims *t = c->module->dims;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 4, &x));
  wick_dim block = wick_dim_const(c->attr[WICK_ATTR_depth_to_space_block].i),
           area = wick_dim_mul(t, block, block);
  if (x->rank != 4) return wick_infer_fail(c, WICK_ETYPE, "x has rank %u, expected 4", x->rank);
  if (!wick_infer_divides(c, x->dim[1], area))
    return wick_infer_fail(c, WICK_ETYPE, "%s channels in blocks of %s",
                           wick_infer_dim_text(c, x->dim[1]), wick_infer_dim_text(c, area));
  wick_dim dim[4] = {x->dim[0], wick_dim_floordiv(t, x->dim[1], area),
                     wick_dim_mul(t, x->dim[2], block), wick_dim_mul(t, x->dim[3], block)};
  wick_infer_out(c, 0, x->elem, 4, dim);
  return NULL;
}

static wick_status depth_to_space_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  int64_t s = c->attr[WICK_ATTR_depth_to_space_block].i, channels = out->dim[1], at = 0;
  for (int64_t n = 0; n < out->dim[0]; n++)
    for (int64_t ch = 0; ch < channels; ch++)
      for (int64_t y = 0; y < out->dim[2]; y++)
        for (int64_t i = 0; i < out->dim[3]; i++) {
          int64_t place = y % s * s + i % s, from = c->attr[WICK_ATTR_depth_to_space_order].i
                                                        ? ch * s * s + place
                                                        : place * channels + ch;
          wick_ref_move(
              out, (uint64_t)at++, x,
              (uint64_t)(((n * x->dim[1] + from) * x->dim[2] + y / s) * x->dim[3] + i / s));
        }
  return NULL;
}

static void depth_to_space_compute(const wick_compute *c)
{
  wick_dims *t = c->b->module->dims;
  wick_axis axis[WICK_MAX_RANK];
  wick_stage_map(c, 0, "depth_to_space", axis);
  wick_dim s = wick_dim_const(c->attr[WICK_ATTR_depth_to_space_block].i), y = axis[2].sym,
           x = axis[3].sym;
  wick_dim place =
      wick_dim_add(t, wick_dim_mul(t, wick_dim_mod(t, y, s), s), wick_dim_mod(t, x, s));
  wick_dim channel =
      c->attr[WICK_ATTR_depth_to_space_order].i
          ? wick_dim_add(t, wick_dim_mul(t, axis[1].sym, wick_dim_mul(t, s, s)), place)
          : wick_dim_add(t, wick_dim_mul(t, place, axis[1].extent), axis[1].sym);
  wick_dim index[4] = {axis[0].sym, channel, wick_dim_floordiv(t, y, s),
                       wick_dim_floordiv(t, x, s)};
  wick_value v = wick_read(c->b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(c->b, 1, &v);
}

const wick_op wick_op_depth_to_space = {
    .name = "depth_to_space",
    .doc = "Moves channels into space: x [N, C*b*b, H, W] becomes [N, C, H*b, W*b], where b is "
           "`block`. With `dcr` the block position is the slower part of the channel index, with "
           "`crd` the faster one",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"block", WICK_ATTR_INT, 1, true, NULL, 1, 1 << 15},
             {"order", WICK_ATTR_ENUM, 0, false, "dcr crd", 0, 0}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .rearranges = true,
    .infer = depth_to_space_infer,
    .ref = depth_to_space_ref,
    .compute = depth_to_space_compute,
    .grad = wick_grad_depth_to_space,
    .linear = {1},
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};

/* ---- the inverse, in the order dcr ---- */

static wick_status space_to_depth_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dims *t = c->module->dims;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 4, &x));
  wick_dim block = wick_dim_const(c->attr[WICK_ATTR_depth_to_space_block].i), dim[4];
  if (x->rank != 4) return wick_infer_fail(c, WICK_ETYPE, "x has rank %u, expected 4", x->rank);
  for (uint32_t k = 2; k < 4; k++) {
    if (!wick_infer_divides(c, x->dim[k], block))
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u is %s, in blocks of %s", k,
                             wick_infer_dim_text(c, x->dim[k]), wick_infer_dim_text(c, block));
    dim[k] = wick_dim_floordiv(t, x->dim[k], block);
  }
  dim[0] = x->dim[0];
  dim[1] = wick_dim_mul(t, x->dim[1], wick_dim_mul(t, block, block));
  wick_infer_out(c, 0, x->elem, 4, dim);
  return NULL;
}

static wick_status space_to_depth_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  int64_t s = c->attr[WICK_ATTR_depth_to_space_block].i, channels = x->dim[1], at = 0;
  for (int64_t n = 0; n < out->dim[0]; n++)
    for (int64_t ch = 0; ch < out->dim[1]; ch++)
      for (int64_t y = 0; y < out->dim[2]; y++)
        for (int64_t i = 0; i < out->dim[3]; i++) {
          int64_t place = ch / channels, row = y * s + place / s, column = i * s + place % s;
          wick_ref_move(
              out, (uint64_t)at++, x,
              (uint64_t)(((n * channels + ch % channels) * x->dim[2] + row) * x->dim[3] + column));
        }
  return NULL;
}

static void space_to_depth_compute(const wick_compute *c)
{
  wick_dims *t = c->b->module->dims;
  wick_dim channels = wick_built_info(c->b, c->in[0])->dim[1];
  wick_axis axis[WICK_MAX_RANK];
  wick_stage_map(c, 0, "space_to_depth", axis);
  wick_dim s = wick_dim_const(c->attr[WICK_ATTR_depth_to_space_block].i),
           place = wick_dim_floordiv(t, axis[1].sym, channels);
  wick_dim index[4] = {
      axis[0].sym, wick_dim_mod(t, axis[1].sym, channels),
      wick_dim_add(t, wick_dim_mul(t, axis[2].sym, s), wick_dim_floordiv(t, place, s)),
      wick_dim_add(t, wick_dim_mul(t, axis[3].sym, s), wick_dim_mod(t, place, s))};
  wick_value v = wick_read(c->b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(c->b, 1, &v);
}

const wick_op wick_op_space_to_depth = {
    .name = "space_to_depth",
    .doc = "Moves space into channels: x [N, C, H*b, W*b] becomes [N, b*b*C, H, W], where b is "
           "`block`. The position in a block is the slower part of the channel index",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"block", WICK_ATTR_INT, 1, true, NULL, 1, 1 << 15}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .rearranges = true,
    .infer = space_to_depth_infer,
    .ref = space_to_depth_ref,
    .compute = space_to_depth_compute,
    .grad = wick_grad_space_to_depth,
    .linear = {1},
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};
