/* channel_shuffle: the exchange of channels between the groups of grouped convolutions. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/layout/layout.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

static wick_status channel_shuffle_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  wick_dim groups = wick_dim_const(c->attr[WICK_ATTR_channel_shuffle_groups].i),
           size = x->dim[c->attr[WICK_ATTR_channel_shuffle_axis].i];
  if (!wick_infer_divides(c, size, groups))
    return wick_infer_fail(c, WICK_ETYPE, "%s elements in %lld groups",
                           wick_infer_dim_text(c, size), (long long)groups.v);
  return wick_infer_same(c);
}

static wick_status channel_shuffle_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_channel_shuffle_axis].i;
  int64_t groups = c->attr[WICK_ATTR_channel_shuffle_groups].i, size = x->dim[axis],
          inner = wick_ref_product(x, axis + 1, x->rank), outer = wick_ref_product(x, 0, axis);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t k = 0; k < size; k++) {
      int64_t from = k % groups * (size / groups) + k / groups;
      for (int64_t i = 0; i < inner; i++)
        wick_ref_move(&c->out[0], (uint64_t)((o * size + k) * inner + i), x,
                      (uint64_t)((o * size + from) * inner + i));
    }
  return NULL;
}

static void channel_shuffle_compute(const wick_compute *c)
{
  wick_dims *t = c->b->module->dims;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK],
      groups = wick_dim_const(c->attr[WICK_ATTR_channel_shuffle_groups].i);
  uint32_t n = wick_stage_map(c, 0, "channel_shuffle", axis),
           at = (uint32_t)c->attr[WICK_ATTR_channel_shuffle_axis].i;
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  wick_dim size = wick_dim_floordiv(t, axis[at].extent, groups);
  index[at] = wick_dim_add(t, wick_dim_mul(t, wick_dim_mod(t, axis[at].sym, groups), size),
                           wick_dim_floordiv(t, axis[at].sym, groups));
  wick_value v = wick_read(c->b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(c->b, 1, &v);
}

const wick_op wick_op_channel_shuffle = {
    .name = "channel_shuffle",
    .doc = "Interleaves `groups` groups of consecutive elements along the axis: element k of the "
           "result is element k / groups of group k mod groups",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 1, false, NULL, 0, 0},
             {"groups", WICK_ATTR_INT, 1, true, NULL, 1, 1 << 20}},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .rearranges = true,
    .layout = wick_layout_shuffle,
    .infer = channel_shuffle_infer,
    .ref = channel_shuffle_ref,
    .compute = channel_shuffle_compute,
    .grad = wick_grad_channel_shuffle,
    .linear = {1},
    .batch.run = wick_batch_axes,
};
