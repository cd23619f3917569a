/* phases_to_space: puts the phases of a strided upsampling, which are dimensions of their own, at
 * their positions. It is depth_to_space for any number of axes, whose result may begin inside of
 * the first block, and for fewer phases than the stride. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

/* x is [N, phases of each axis, C, windows of each axis]. */
static wick_status phases_to_space_infer(wick_infer *c)
{
  const wick_attr *a = c->attr;
  const wick_type_info *x;
  wick_dims *t = c->module->dims;
  wick_dim dim[WICK_MAX_RANK];
  uint32_t n = a[WICK_ATTR_phases_to_space_stride].n;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  if (a[WICK_ATTR_phases_to_space_begin].n != n || a[WICK_ATTR_phases_to_space_shape].n != n ||
      x->rank != 2 + 2 * n)
    return wick_infer_fail(
        c, WICK_ETYPE, "x has rank %u, for %u strides, %u beginnings and %u sizes", x->rank, n,
        a[WICK_ATTR_phases_to_space_begin].n, a[WICK_ATTR_phases_to_space_shape].n);
  dim[0] = x->dim[0], dim[1] = x->dim[1 + n];
  for (uint32_t k = 0; k < n; k++) {
    int64_t s = a[WICK_ATTR_phases_to_space_stride].ints[k],
            begin = a[WICK_ATTR_phases_to_space_begin].ints[k], least, most, lo, hi;
    wick_dim size = dim[2 + k] = a[WICK_ATTR_phases_to_space_shape].dims[k],
             rest = wick_dim_sub(t, wick_dim_mul(t, x->dim[2 + n + k], wick_dim_const(s)),
                                 wick_dim_add(t, size, wick_dim_const(begin)));
    wick_dim_range(t, x->dim[1 + k], &least, &most);
    wick_dim_range(t, rest, &lo, &hi);
    if (s < 1 || begin < 0 || least > s)
      return wick_infer_fail(c, WICK_ETYPE, "axis %u: %s phases of %lld, which begin at %lld", k,
                             wick_infer_dim_text(c, x->dim[1 + k]), (long long)s, (long long)begin);
    if (hi < 0 && !wick_dim_is(size, 0))
      return wick_infer_fail(c, WICK_ERANGE, "axis %u: elements %lld to %s of %s blocks of %lld", k,
                             (long long)begin, wick_infer_dim_text(c, size),
                             wick_infer_dim_text(c, x->dim[2 + n + k]), (long long)s);
  }
  wick_infer_out(c, 0, x->elem, 2 + n, dim);
  return NULL;
}

static wick_status phases_to_space_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  int64_t index[WICK_MAX_RANK] = {0}, stride[WICK_MAX_RANK];
  uint32_t n = out->rank - 2u;
  wick_ref_strides(x, stride);
  if (wick_ref_numel(out) == 0) return NULL;
  uint64_t at = 0;
  do {
    int64_t from = index[0] * stride[0] + index[1] * stride[1 + n];
    bool some = true;
    for (uint32_t k = 0; k < n; k++) {
      int64_t s = c->attr[WICK_ATTR_phases_to_space_stride].ints[k],
              i = index[2 + k] + c->attr[WICK_ATTR_phases_to_space_begin].ints[k];
      some = some && i % s < x->dim[1 + k] && i / s < x->dim[2 + n + k];
      from += i % s * stride[1 + k] + i / s * stride[2 + n + k];
    }
    if (some) wick_ref_move(out, at, x, (uint64_t)from); /* otherwise results are already zero */
    at++;
  } while (wick_ref_next(out->rank, out->dim, index));
  return NULL;
}

static void phases_to_space_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_stage_map(c, 0, "phases_to_space", axis) - 2u;
  bool whole = true;
  index[0] = axis[0].sym, index[1 + n] = axis[1].sym;
  for (uint32_t k = 0; k < n; k++) {
    wick_dim s = wick_dim_const(c->attr[WICK_ATTR_phases_to_space_stride].ints[k]),
             begin = wick_dim_const(c->attr[WICK_ATTR_phases_to_space_begin].ints[k]),
             i = wick_dim_add(t, axis[2 + k].sym, begin);
    index[1 + k] = wick_dim_mod(t, i, s), index[2 + n + k] = wick_dim_floordiv(t, i, s);
    whole = whole && wick_dim_eq(x->dim[1 + k], s);
  }
  wick_value v =
      wick_read(b, c->in[0], index, 0, NULL, whole ? (wick_value){0} : wick_stage_zero(b, x->elem));
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_phases_to_space = {
    .name = "phases_to_space",
    .doc = "Moves phases into space: x [N, P.., C, Q..], with a number of phases P and of blocks Q "
           "for each of `stride`, becomes [N, C, shape..]. Element i along an axis is that of "
           "phase (i + begin) mod stride and block floor((i + begin) / stride); 0 if x has no such "
           "phase",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"stride", WICK_ATTR_INTS, 0, true, NULL, 0, 0},
             {"begin", WICK_ATTR_INTS, 0, true, NULL, 0, 0},
             {"shape", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .infer = phases_to_space_infer,
    .ref = phases_to_space_ref,
    .compute = phases_to_space_compute,
    .grad = wick_grad_phases_to_space,
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};
