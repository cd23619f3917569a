/* pad: adds elements at the ends of dimensions; negative numbers remove them. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP };

static wick_status pad_infer(wick_infer *c)
{
  const wick_type_info *x, *value;
  wick_dims *t = c->module->dims;
  wick_dim dim[WICK_MAX_RANK];
  const wick_attr *pad = &c->attr[WICK_ATTR_pad_pad];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  if (c->nin > 1 && c->in[1]) {
    WICK_TRY(wick_infer_alike(c, 1, "the value", 0, &value));
    if (value->rank != 0)
      return wick_infer_fail(c, WICK_ETYPE, "the value has rank %u, expected 0", value->rank);
  }
  if (pad->n != 2u * x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "pad has %u numbers, expected %u", pad->n, 2u * x->rank);
  for (uint32_t k = 0; k < x->rank; k++) {
    dim[k] = wick_dim_add(t, x->dim[k], wick_dim_add(t, pad->dims[k], pad->dims[x->rank + k]));
    if (c->attr[WICK_ATTR_pad_mode].i != PAD_CONSTANT && wick_dim_is(x->dim[k], 0) &&
        !wick_dim_is(dim[k], 0))
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u of x has no elements to repeat", k);
  }
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  if (c->attr[WICK_ATTR_pad_mode].i != PAD_CONSTANT || (c->nin > 1 && c->in[1]))
    wick_infer_moved(c, UINT32_MAX);
  return NULL;
}

/* Returns the element of x that is copied to index i, which counts from x's first element; -1:
 * the constant. */
static int64_t pad_source(int64_t mode, int64_t i, int64_t dim)
{
  int64_t period = 2 * (dim - 1);
  switch (mode) {
  case PAD_CONSTANT: return i >= 0 && i < dim ? i : -1;
  case PAD_EDGE: return wick_max_i64(0, wick_min_i64(i, dim - 1));
  case PAD_WRAP: return wick_floormod_i64(i, dim);
  default:
    if (dim == 1) return 0;
    i = wick_floormod_i64(i, period);
    return i < dim ? i : period - i;
  }
}

static wick_status pad_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0],
                    *value = c->nin > 1 && c->in[1].data ? &c->in[1] : NULL;
  int64_t index[WICK_MAX_RANK] = {0}, stride[WICK_MAX_RANK];
  wick_ref_strides(x, stride);
  if (wick_ref_numel(out) == 0) return NULL;
  uint64_t at = 0;
  do {
    int64_t from = 0;
    bool outside = false;
    for (uint32_t k = 0; k < x->rank; k++) {
      int64_t i = pad_source(c->attr[WICK_ATTR_pad_mode].i,
                             index[k] - c->attr[WICK_ATTR_pad_pad].dims[k].v, x->dim[k]);
      outside = outside || i < 0;
      from += i * stride[k];
    }
    if (!outside)
      wick_ref_move(out, at, x, (uint64_t)from);
    else if (value)
      wick_ref_move(out, at, value, 0); /* otherwise results are already zero */
    at++;
  } while (wick_ref_next(out->rank, out->dim, index));
  return NULL;
}

static wick_dim pad_index(wick_dims *t, int64_t mode, wick_dim i, wick_dim dim)
{
  wick_dim zero = wick_dim_const(0), last = wick_dim_sub(t, dim, wick_dim_const(1));
  wick_dim period = wick_dim_max(t, wick_dim_mul(t, last, wick_dim_const(2)), wick_dim_const(1));
  switch (mode) {
  case PAD_CONSTANT: return i;
  case PAD_EDGE: return wick_dim_max(t, wick_dim_min(t, i, last), zero);
  case PAD_WRAP: return wick_dim_mod(t, i, dim);
  default:
    i = wick_dim_mod(t, i, period);
    return wick_dim_max(t, wick_dim_min(t, i, wick_dim_sub(t, period, i)), zero);
  }
}

static void pad_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  int64_t mode = c->attr[WICK_ATTR_pad_mode].i;
  uint32_t n = wick_stage_map(c, 0, "pad", axis);
  for (uint32_t k = 0; k < n; k++) {
    wick_dim begin = c->attr[WICK_ATTR_pad_pad].dims[k],
             end = c->attr[WICK_ATTR_pad_pad].dims[n + k], i = wick_dim_sub(t, axis[k].sym, begin);
    bool padded = !wick_dim_is(begin, 0) || !wick_dim_is(end, 0);
    index[k] = padded ? pad_index(t, mode, i, x->dim[k]) : i;
  }
  wick_value otherwise = {0};
  if (mode == PAD_CONSTANT)
    otherwise = c->nin > 1 && c->in[1].id ? wick_read(b, c->in[1], index, 0, NULL, otherwise)
                                          : wick_stage_zero(b, x->elem);
  wick_value v = wick_read(b, c->in[0], index, 0, NULL, otherwise);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_pad = {
    .name = "pad",
    .doc = "x with elements added before and after each dimension. `pad` lists the numbers at the "
           "beginning of all dimensions, then at the end; negative numbers remove elements. New "
           "elements are the value, by default 0 (`constant`); x mirrored at its first and last "
           "elements, as often as needed (`reflect`); the first or last element (`edge`); or x "
           "repeated (`wrap`)",
    .nin = {1, 2},
    .nout = {1, 1},
    .attr = {{"pad", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             {"mode", WICK_ATTR_ENUM, 0, false, "constant reflect edge wrap", 0, 0}},
    .level = WICK_GRAPH,
    .simplify = wick_simplify_pad,
    .infer = pad_infer,
    .ref = pad_ref,
    .compute = pad_compute,
    .grad = wick_grad_pad_row,
    .batch.run = wick_batch_axes_first,
};
