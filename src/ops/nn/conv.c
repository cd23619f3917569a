/* Convolution over one to three spatial dimensions. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/layout/layout.h"
#include "ops/nn/window.h"
#include "ops/ref.h"
#include "ops/simplify.h"
#include "ops/stage.h"
#include "ops/work.h"

static wick_status conv_infer(wick_infer *c)
{
  const wick_type_info *x, *w, *bias = NULL;
  wick_dims *t = c->module->dims;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  WICK_TRY(wick_window_check(c, x->rank, c->attr));
  WICK_TRY(wick_infer_alike(c, 1, "w", 0, &w));
  if (w->rank != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "w has rank %u, expected %u as x has", w->rank, x->rank);
  int64_t group = c->attr[WICK_ATTR_conv_group].i, kernel[WICK_WINDOW_MAX];
  wick_dim channels = wick_dim_mul(t, w->dim[1], wick_dim_const(group));
  if (!wick_infer_equal(c, channels, x->dim[1]))
    return wick_infer_fail(c, WICK_ETYPE, "x has %s channels, w is for %lld groups of %s",
                           wick_infer_dim_text(c, x->dim[1]), (long long)group,
                           wick_infer_dim_text(c, w->dim[1]));
  if (!wick_infer_divides(c, w->dim[0], wick_dim_const(group)))
    return wick_infer_fail(c, WICK_ETYPE, "%s output channels in %lld groups",
                           wick_infer_dim_text(c, w->dim[0]), (long long)group);
  for (uint32_t k = 2; k < w->rank; k++) {
    if (!wick_dim_is_const(w->dim[k]) || w->dim[k].v < 1)
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u of w is %s, expected a number above 0", k,
                             wick_infer_dim_text(c, w->dim[k]));
    kernel[k - 2] = w->dim[k].v;
  }
  if (c->nin > 2 && c->in[2]) {
    WICK_TRY(wick_infer_alike(c, 2, "bias", 1, &bias));
    if (bias->rank != 1 || !wick_infer_equal(c, bias->dim[0], w->dim[0]))
      return wick_infer_fail(c, WICK_ETYPE, "bias is %s, expected [%s]",
                             wick_infer_type_text(c, c->in[2]->type),
                             wick_infer_dim_text(c, w->dim[0]));
  }
  wick_window window = wick_window_of(c->attr, x->rank - 2, kernel);
  wick_dim dim[WICK_MAX_RANK] = {x->dim[0], w->dim[0]};
  for (uint32_t k = 0; k < window.n; k++)
    WICK_TRY(wick_window_size(c, &window, k, x->dim[2 + k], false, &dim[2 + k]));
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  return NULL;
}

/* One row of outputs along the last spatial dimension. */
typedef struct conv_row {
  wick_window3 w;
  bool is_float;
  int64_t channels;          /* of one group */
  const wick_scalar *x;      /* the image, from the group's first channel on */
  const wick_scalar *weight; /* the weights of the output channel */
  wick_scalar *acc;
} conv_row;

/* Adds the products of a weight that is not finite with the zeros of the padding. They concern the
 * outputs outside of lo .. hi-1. */
static void conv_row_padding(const conv_row *r, wick_scalar weight, int64_t lo, int64_t hi)
{
  if (!r->is_float || isfinite(weight.f)) return;
  for (int64_t i = 0; i < r->w.out[2]; i++)
    if (i < lo || i >= hi) r->acc[i].f += 0 * weight.f;
}

static void conv_row_sum(const conv_row *r, int64_t z, int64_t y)
{
  const wick_window3 *w = &r->w;
  const wick_scalar *weight = r->weight;
  for (int64_t c = 0; c < r->channels; c++)
    for (int64_t kz = 0; kz < w->kernel[0]; kz++)
      for (int64_t ky = 0; ky < w->kernel[1]; ky++) {
        int64_t iz = wick_window3_at(w, 0, z, kz), iy = wick_window3_at(w, 1, y, ky);
        for (int64_t kx = 0; kx < w->kernel[2]; kx++, weight++) {
          int64_t lo = 0, hi = 0;
          if (iz >= 0 && iy >= 0) wick_window3_inside(w, 2, kx, &lo, &hi);
          conv_row_padding(r, *weight, lo, hi);
          if (lo >= hi) continue;
          int64_t ix = lo * w->stride[2] + kx * w->dilation[2] - w->begin[2];
          wick_ref_axpy(r->is_float, (uint64_t)(hi - lo), r->acc + lo, *weight,
                        r->x + ((c * w->in[0] + iz) * w->in[1] + iy) * w->in[2] + ix, w->stride[2]);
        }
      }
}

static wick_status conv_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *w = &c->in[1], *out = &c->out[0];
  const wick_tensor *bias = c->nin > 2 && c->in[2].data ? &c->in[2] : NULL;
  wick_window window = wick_window_of(c->attr, x->rank - 2, w->dim + 2);
  conv_row r = {.w = wick_window3_of(&window, x, out),
                .is_float = wick_elem_is_float(x->elem),
                .channels = w->dim[1]};
  const wick_scalar *all = wick_ref_load(c->mem, x);
  int64_t kernel = wick_ref_product(w, 1, w->rank), size = wick_ref_product(x, 2, x->rank);
  int64_t per_group = out->dim[1] / c->attr[WICK_ATTR_conv_group].i;
  wick_scalar *weight = wick_new(c->mem, wick_scalar, (size_t)kernel);
  r.weight = weight;
  r.acc = wick_new(c->mem, wick_scalar, (size_t)r.w.out[2]);
  uint64_t at = 0;
  for (int64_t n = 0; n < out->dim[0]; n++)
    for (int64_t m = 0; m < out->dim[1]; m++) {
      wick_ref_read(w, (uint64_t)(m * kernel), (uint64_t)kernel, weight);
      wick_scalar start =
          bias ? wick_load_elem(bias->elem, bias->data, (uint64_t)m) : (wick_scalar){.i = 0};
      r.x = all + (n * x->dim[1] + m / per_group * r.channels) * size;
      for (int64_t z = 0; z < r.w.out[0]; z++)
        for (int64_t y = 0; y < r.w.out[1]; y++, at += (uint64_t)r.w.out[2]) {
          for (int64_t i = 0; i < r.w.out[2]; i++) r.acc[i] = start;
          conv_row_sum(&r, z, y);
          wick_ref_write(out, at, (uint64_t)r.w.out[2], r.acc);
        }
    }
  return NULL;
}

/* ---- stages ---- */

/* Returns the group of output channel oc; 0 without groups. */
static wick_dim conv_group(wick_dims *t, wick_dim oc, wick_dim channels, int64_t group)
{
  if (group == 1) return wick_dim_const(0);
  return wick_dim_floordiv(t, oc, wick_dim_floordiv(t, channels, wick_dim_const(group)));
}

static void conv_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *w = wick_built_info(b, c->in[1]),
                       *out = wick_type_get(b->module, c->out_type[0]);
  int64_t kernel[WICK_WINDOW_MAX], group = c->attr[WICK_ATTR_conv_group].i;
  for (uint32_t k = 2; k < w->rank; k++) kernel[k - 2] = w->dim[k].v;
  wick_window window = wick_window_of(c->attr, x->rank - 2u, kernel);
  uint32_t nsp = window.n, n = 2 + nsp;
  bool depthwise = wick_dim_is(w->dim[1], 1) && group > 1;
  wick_axis axis[3 + 2 * WICK_WINDOW_MAX];
  axis[0] = wick_make_axis(b, "n", out->dim[0], false);
  axis[1] = wick_make_axis(b, "oc", out->dim[1], false);
  for (uint32_t k = 0; k < nsp; k++)
    axis[2 + k] = wick_make_axis(b, wick_window_axis(nsp, k), out->dim[2 + k], false);
  if (!depthwise) axis[n++] = wick_make_axis(b, "ic", w->dim[1], true);
  wick_dim ic = depthwise ? wick_dim_const(0) : axis[n - 1].sym,
           first = wick_dim_mul(t, conv_group(t, axis[1].sym, out->dim[1], group), w->dim[1]);
  wick_dim xi[WICK_MAX_RANK] = {axis[0].sym, wick_dim_add(t, first, ic)},
           wi[WICK_MAX_RANK] = {axis[1].sym, ic};
  for (uint32_t k = 0; k < nsp; k++) {
    axis[n] = wick_make_axis(b, wick_window_tap(nsp, k), w->dim[2 + k], true);
    xi[2 + k] = wick_window_at(t, &window, k, axis[2 + k].sym, axis[n].sym);
    wi[2 + k] = axis[n++].sym;
  }
  wick_elem acc = wick_stage_arith(x->elem);
  wick_value state = wick_stage_fold(b, "conv", n, axis, c->out_type[0], WICK_OP_add, acc),
             none = {0};
  wick_value zero = wick_window_padded(&window) ? wick_stage_zero(b, x->elem) : none;
  wick_value a = wick_build_cast(b, wick_read(b, c->in[0], xi, 0, NULL, zero), acc),
             v = wick_build_cast(b, wick_read(b, c->in[1], wi, 0, NULL, none), acc);
  state = wick_stage_finish(b, wick_stage_muladd(b, a, v, state), WICK_OP_add);
  if (c->nin > 2 && c->in[2].id)
    state =
        wick_build2(b, WICK_OP_add, state,
                    wick_build_cast(b, wick_read(b, c->in[2], &axis[1].sym, 0, NULL, none), acc));
  c->out[0] = wick_stage_end(b, state, c->out_type[0]);
}

const wick_op wick_op_conv = {
    .name = "conv",
    .doc = "Convolution of x [N, C, spatial...] with w [M, C/group, window...], plus bias [M]: "
           "y[n,m,o] = sum(c,k) x[n,c,o*stride+k*dilation-pad] * w[m,c,k] + bias[m]. x is 0 in "
           "its padding; `pad` lists the padding at the beginning of every dimension, then at the "
           "end. Sums run in the order c, k, each step one fma; f16 and bf16 are summed in f32; "
           "integers wrap",
    .nin = {2, 3},
    .nout = {1, 1},
    .attr = {WICK_WINDOW_ATTRS, {"group", WICK_ATTR_INT, 1, false, NULL, 1, WICK_WINDOW_LIMIT}},
    .level = WICK_GRAPH,
    .simplify = wick_simplify_conv,
    .product_operands = wick_conv_factors,
    .elems = WICK_NUMBERS,
    .layout = wick_layout_conv,
    .infer = conv_infer,
    .ref = conv_ref,
    .products = wick_products_conv,
    .compute = conv_compute,
    .grad = wick_grad_conv,
    .linear = {1 | 4, 2 | 4},
    .batch = {wick_batch_conv, .in = {1}, .out = {1}},
};
