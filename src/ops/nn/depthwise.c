/* Depthwise convolutions of bytes by dot products: the four products of a channel are neighbouring
 * columns of this channel.
 *
 * A row of an image holds blocks of channels, column after column. Some of its columns, transposed
 * in registers, are a vector with k columns of each channel. Neighbouring outputs read the same
 * columns: each output has its own weights, which are zero outside of its window. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/nn/blocked.h"
#include "ops/ref.h"
#include "ops/stage.h"

/* x [N, CB, Y, X, c]; w [CB, R, E, G, c, k]: output column x has phase x mod E, and sums over G * k
 * columns, beginning with the first column of the window of phase 0. Result [N, CB, Y', X', c]. */
typedef struct depthwise_shape {
  int64_t stride[2], pad[4], taps;
} depthwise_shape;

static depthwise_shape depthwise_of(const wick_attr *a)
{
  depthwise_shape s = {.stride = {1, 1}, .taps = a[2].i};
  for (uint32_t i = 0; i < a[0].n && i < 2; i++) s.stride[i] = a[0].ints[i];
  for (uint32_t i = 0; i < a[1].n && i < 4; i++) s.pad[i] = a[1].ints[i];
  return s;
}

static wick_status depthwise_packed_infer(wick_infer *c)
{
  wick_dims *t = c->module->dims;
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type),
                       *w = wick_type_get(c->module, c->in[1]->type);
  depthwise_shape s = depthwise_of(c->attr);
  if (x->rank != 5 || w->rank != 6)
    return wick_infer_fail(c, WICK_ETYPE, "operands of rank %u and %u, expected 5 and 6", x->rank,
                           w->rank);
  if (c->attr[WICK_ATTR_depthwise_packed_stride].n & ~2u ||
      c->attr[WICK_ATTR_depthwise_packed_pad].n & ~4u)
    return wick_infer_fail(c, WICK_ETYPE, "stride has 2 entries, pad has 4");
  if (!wick_dim_eq(w->dim[0], x->dim[1]) || !wick_dim_eq(w->dim[4], x->dim[4]))
    return wick_infer_fail(c, WICK_ETYPE, "x and w have different channels");
  for (uint32_t i = 1; i < 6; i++)
    if (!wick_dim_is_const(w->dim[i]) || w->dim[i].v < 1)
      return wick_infer_fail(c, WICK_ETYPE, "the weights have no constant, positive sizes");
  int64_t columns = w->dim[3].v * w->dim[5].v, wanted = (w->dim[2].v - 1) * s.stride[1] + s.taps;
  if (wanted > columns)
    return wick_infer_fail(c, WICK_ETYPE, "the windows of %lld phases take %lld columns of %lld",
                           (long long)w->dim[2].v, (long long)wanted, (long long)columns);
  const int64_t kernel[2] = {w->dim[1].v, s.taps};
  wick_dim dim[5] = {x->dim[0], x->dim[1], x->dim[2], x->dim[3], x->dim[4]};
  for (uint32_t k = 0; k < 2; k++) {
    wick_dim span =
        wick_dim_add(t, dim[2 + k], wick_dim_const(s.pad[k] + s.pad[2 + k] - kernel[k]));
    dim[2 + k] =
        wick_dim_add(t, wick_dim_floordiv(t, span, wick_dim_const(s.stride[k])), wick_dim_const(1));
  }
  c->out[0].type = wick_type_tensor(c->module, WICK_I32, 5, dim);
  return NULL;
}

static wick_status depthwise_packed_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *w = &c->in[1];
  const int64_t *xd = x->dim, *wd = w->dim;
  depthwise_shape s = depthwise_of(c->attr);
  int64_t at[5] = {0};
  uint64_t n = 0;
  if (wick_ref_numel(&c->out[0]) == 0) return NULL;
  do {
    uint32_t sum = 0;
    int64_t phase = at[3] % wd[2], first = (at[3] - phase) * s.stride[1] - s.pad[1];
    for (int64_t r = 0; r < wd[1]; r++)
      for (int64_t j = 0; j < wd[3] * wd[5]; j++) {
        int64_t row = at[2] * s.stride[0] + r - s.pad[0], column = first + j,
                u = c->attr[WICK_ATTR_depthwise_packed_fill].i;
        if (row >= 0 && row < xd[2] && column >= 0 && column < xd[3])
          u = wick_load_int(
              x->elem, x->data,
              (uint64_t)((((at[0] * xd[1] + at[1]) * xd[2] + row) * xd[3] + column) * xd[4] +
                         at[4]));
        int64_t wi = ((at[1] * wd[1] + r) * wd[2] + phase) * wd[3] + j / wd[5];
        wi = (wi * wd[4] + at[4]) * wd[5] + j % wd[5];
        sum += (uint32_t)u * (uint32_t)wick_load_int(w->elem, w->data, (uint64_t)wi);
      }
    wick_store_elem(WICK_I32, c->out[0].data, n++, (wick_scalar){.i = (int32_t)sum});
  } while (wick_ref_next(c->out[0].rank, c->out[0].dim, at));
  return NULL;
}

static void depthwise_packed_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *w = wick_built_info(b, c->in[1]);
  depthwise_shape s = depthwise_of(c->attr);
  static const char *const name[5] = {"n", "oc", "y", "x", "v"};
  const wick_dim *od = wick_type_get(b->module, c->out_type[0])->dim;
  wick_axis axis[8];
  for (uint32_t k = 0; k < 5; k++) axis[k] = wick_make_axis(b, name[k], od[k], false);
  axis[5] = wick_make_axis(b, "r", w->dim[1], true);
  axis[6] = wick_make_axis(b, "g", w->dim[3], true);
  axis[7] = wick_make_axis(b, "q", w->dim[5], true);
  wick_dim row = wick_dim_mul(t, axis[2].sym, wick_dim_const(s.stride[0])),
           phase = wick_dim_mod(t, axis[3].sym, w->dim[2]),
           column = wick_dim_mul(t, wick_dim_floordiv(t, axis[3].sym, w->dim[2]),
                                 wick_dim_const(w->dim[2].v * s.stride[1]));
  row = wick_dim_add(t, wick_dim_sub(t, row, wick_dim_const(s.pad[0])), axis[5].sym);
  column = wick_dim_add(t, column, wick_dim_mul(t, axis[6].sym, w->dim[5]));
  column = wick_dim_add(t, wick_dim_sub(t, column, wick_dim_const(s.pad[1])), axis[7].sym);
  wick_dim xi[5] = {axis[0].sym, axis[1].sym, row, column, axis[4].sym},
           wi[6] = {axis[1].sym, axis[5].sym, phase, axis[6].sym, axis[4].sym, axis[7].sym};
  wick_type one = wick_type_scalar(b->module, x->elem, 1);
  wick_fold_begin(b, "conv", 8, axis, c->out_type[0], WICK_OP_add);
  wick_value outside = wick_build_const(b, one, 0, c->attr[WICK_ATTR_depthwise_packed_fill].i),
             u = wick_read(b, c->in[0], xi, 0, NULL, outside),
             v = wick_read(b, c->in[1], wi, 0, NULL, (wick_value){0});
  u = wick_build_cast(b, u, WICK_I32), v = wick_build_cast(b, v, WICK_I32);
  c->out[0] = wick_fold_end_muladd(b, u, v);
}

const wick_op wick_op_depthwise_packed = {
    .name = "depthwise_packed",
    .doc = "A 2-D convolution of each channel by itself, for bytes in blocks of channels: x [N, "
           "CB, Y, X, c] with w [CB, R, E, G, c, k]. Output column x has phase x mod E. It sums "
           "over R rows and over the G * k columns that begin at the window of phase 0; weights "
           "outside of its own `taps` columns are 0. Sums are i32, which wrap; x is `fill` in its "
           "padding",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"stride", WICK_ATTR_INTS, 0, false, NULL, 1, 1 << 20},
             {"pad", WICK_ATTR_INTS, 0, false, NULL, -(1 << 20), 1 << 20},
             {"taps", WICK_ATTR_INT, 1, false, NULL, 1, 1 << 20},
             {"fill", WICK_ATTR_INT, 0, false, NULL, -128, 255}},
    .level = WICK_GRAPH,
    .elems = WICK_BIT(WICK_U8) | WICK_BIT(WICK_I8),
    .infer = depthwise_packed_infer,
    .ref = depthwise_packed_ref,
    .compute = depthwise_packed_compute,
    .grad = wick_grad_zero,
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};
