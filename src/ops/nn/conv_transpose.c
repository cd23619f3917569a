/* Transposed convolution: each element of x is multiplied by its window and added to the result. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/nn/window.h"
#include "ops/nn/window_source.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/work.h"

static wick_status conv_transpose_operands(wick_infer *c, const wick_type_info *x,
                                           const wick_type_info *w, wick_dim channels)
{
  if (w->rank != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "w has rank %u, expected %u as x has", w->rank, x->rank);
  if (!wick_infer_equal(c, w->dim[0], x->dim[1]))
    return wick_infer_fail(c, WICK_ETYPE, "x has %s channels, w is for %s",
                           wick_infer_dim_text(c, x->dim[1]), wick_infer_dim_text(c, w->dim[0]));
  wick_dim group = wick_dim_const(c->attr[WICK_ATTR_conv_transpose_group].i);
  if (!wick_infer_divides(c, x->dim[1], group))
    return wick_infer_fail(c, WICK_ETYPE, "%s channels in %lld groups",
                           wick_infer_dim_text(c, x->dim[1]), (long long)group.v);
  for (uint32_t k = 2; k < w->rank; k++)
    if (!wick_dim_is_const(w->dim[k]) || w->dim[k].v < 1)
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u of w is %s, expected a number above 0", k,
                             wick_infer_dim_text(c, w->dim[k]));
  if (c->nin > 2 && c->in[2]) {
    const wick_type_info *bias;
    WICK_TRY(wick_infer_alike(c, 2, "bias", 1, &bias));
    if (bias->rank != 1 || !wick_infer_equal(c, bias->dim[0], channels))
      return wick_infer_fail(c, WICK_ETYPE, "bias is %s, expected [%s]",
                             wick_infer_type_text(c, c->in[2]->type),
                             wick_infer_dim_text(c, channels));
  }
  return NULL;
}

static wick_status conv_transpose_infer(wick_infer *c)
{
  const wick_type_info *x, *w;
  wick_dims *t = c->module->dims;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  WICK_TRY(wick_window_check(c, x->rank, c->attr));
  WICK_TRY(wick_infer_alike(c, 1, "w", 2, &w));
  wick_dim channels =
      wick_dim_mul(t, w->dim[1], wick_dim_const(c->attr[WICK_ATTR_conv_transpose_group].i));
  WICK_TRY(conv_transpose_operands(c, x, w, channels));
  const wick_attr *extra = &c->attr[WICK_ATTR_conv_transpose_output_pad];
  if (extra->n && extra->n + 2 != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "output_pad has %u numbers, expected %u", extra->n,
                           x->rank - 2);
  int64_t kernel[WICK_WINDOW_MAX];
  for (uint32_t k = 2; k < w->rank; k++) kernel[k - 2] = w->dim[k].v;
  wick_window window = wick_window_of(c->attr, x->rank - 2, kernel);
  wick_dim dim[WICK_MAX_RANK] = {x->dim[0], channels};
  for (uint32_t k = 0; k < window.n; k++) {
    int64_t reach = window.dilation[k] * (window.kernel[k] - 1) + 1 - window.begin[k] -
                    window.end[k] + (extra->n ? extra->ints[k] : 0) - window.stride[k];
    wick_dim size = wick_dim_add(
        t, wick_dim_mul(t, x->dim[2 + k], wick_dim_const(window.stride[k])), wick_dim_const(reach));
    int64_t lo, hi;
    wick_dim_range(t, size, &lo, &hi);
    if (hi < 0)
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u of the result would have %s elements",
                             2 + k, wick_infer_dim_text(c, size));
    dim[2 + k] = size;
  }
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  return NULL;
}

/* ---- reference ---- */

/* Solves out * 1 = i * stride + at * dilation - begin for i. *none: no such i exists; -1: i is
 * outside of x. */
static int64_t conv_transpose_source(const wick_window3 *w, uint32_t k, int64_t out, int64_t at,
                                     bool *none)
{
  int64_t i = out + w->begin[k] - at * w->dilation[k];
  if (wick_floormod_i64(i, w->stride[k]) != 0) *none = true;
  i = wick_floordiv_i64(i, w->stride[k]);
  return i >= 0 && i < w->in[k] ? i : -1;
}

typedef struct conv_transpose_sum {
  wick_window3 w;
  bool is_float;
  int64_t channels;     /* of one group */
  int64_t weight_step;  /* distance between input channels */
  const wick_scalar *x; /* the image, from the group's first channel on */
  /* the weights of the group's first input channel, for the output channel */
  const wick_scalar *weight;
} conv_transpose_sum;

static wick_scalar conv_transpose_element(const conv_transpose_sum *r, wick_scalar acc, int64_t z,
                                          int64_t y, int64_t x)
{
  const wick_window3 *w = &r->w;
  for (int64_t c = 0; c < r->channels; c++) {
    const wick_scalar *weight = r->weight + c * r->weight_step;
    for (int64_t kz = 0; kz < w->kernel[0]; kz++)
      for (int64_t ky = 0; ky < w->kernel[1]; ky++)
        for (int64_t kx = 0; kx < w->kernel[2]; kx++, weight++) {
          bool none = false;
          int64_t iz = conv_transpose_source(w, 0, z, kz, &none),
                  iy = conv_transpose_source(w, 1, y, ky, &none),
                  ix = conv_transpose_source(w, 2, x, kx, &none);
          if (none) continue;
          wick_scalar zero = {.i = 0};
          bool inside = iz >= 0 && iy >= 0 && ix >= 0;
          wick_ref_axpy(
              r->is_float, 1, &acc, *weight,
              inside ? &r->x[((c * w->in[0] + iz) * w->in[1] + iy) * w->in[2] + ix] : &zero, 1);
        }
  }
  return acc;
}

static wick_status conv_transpose_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *w = &c->in[1], *out = &c->out[0];
  const wick_tensor *bias = c->nin > 2 && c->in[2].data ? &c->in[2] : NULL;
  wick_window window = wick_window_of(c->attr, x->rank - 2, w->dim + 2);
  int64_t group = c->attr[WICK_ATTR_conv_transpose_group].i,
          kernel = wick_ref_product(w, 2, w->rank), size = wick_ref_product(x, 2, x->rank),
          per_group = w->dim[1];
  conv_transpose_sum r = {.w = wick_window3_of(&window, x, out),
                          .is_float = wick_elem_is_float(x->elem),
                          .channels = x->dim[1] / group,
                          .weight_step = per_group * kernel};
  const wick_scalar *xs = wick_ref_load(c->mem, x), *ws = wick_ref_load(c->mem, w);
  uint64_t at = 0;
  for (int64_t n = 0; n < out->dim[0]; n++)
    for (int64_t m = 0; m < out->dim[1]; m++) {
      int64_t first = m / per_group * r.channels;
      wick_scalar start =
          bias ? wick_load_elem(bias->elem, bias->data, (uint64_t)m) : (wick_scalar){.i = 0};
      r.x = xs + (n * x->dim[1] + first) * size;
      r.weight = ws + first * r.weight_step + m % per_group * kernel;
      for (int64_t z = 0; z < r.w.out[0]; z++)
        for (int64_t y = 0; y < r.w.out[1]; y++)
          for (int64_t i = 0; i < r.w.out[2]; i++, at++) {
            wick_scalar v = conv_transpose_element(&r, start, z, y, i);
            wick_ref_write(out, at, 1, &v);
          }
    }
  return NULL;
}

/* ---- stages ---- */

static void conv_transpose_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]), *w = wick_built_info(b, c->in[1]),
                       *out = wick_type_get(b->module, c->out_type[0]);
  int64_t kernel[WICK_WINDOW_MAX];
  for (uint32_t k = 2; k < w->rank; k++) kernel[k - 2] = w->dim[k].v;
  wick_window window = wick_window_of(c->attr, x->rank - 2u, kernel);
  wick_dim groups = wick_dim_const(c->attr[WICK_ATTR_conv_transpose_group].i),
           per_group = wick_dim_floordiv(t, x->dim[1], groups);
  uint32_t nsp = window.n, n = 2 + nsp;
  wick_axis axis[3 + 2 * WICK_WINDOW_MAX];
  axis[0] = wick_make_axis(b, "n", out->dim[0], false);
  axis[1] = wick_make_axis(b, "oc", out->dim[1], false);
  for (uint32_t k = 0; k < nsp; k++)
    axis[2 + k] = wick_make_axis(b, wick_window_axis(nsp, k), out->dim[2 + k], false);
  axis[n++] = wick_make_axis(b, "ic", per_group, true);
  bool grouped = !wick_dim_is(groups, 1);
  wick_dim group = grouped ? wick_dim_floordiv(t, axis[1].sym, w->dim[1]) : wick_dim_const(0),
           channel = wick_dim_add(t, wick_dim_mul(t, group, per_group), axis[n - 1].sym);
  wick_dim xi[WICK_MAX_RANK] = {axis[0].sym, channel},
           wi[WICK_MAX_RANK] = {channel,
                                wick_dim_sub(t, axis[1].sym, wick_dim_mul(t, group, w->dim[1]))};
  wick_window_source m[WICK_WINDOW_MAX];
  bool exact = true;
  for (uint32_t k = 0; k < nsp; k++) {
    m[k] = wick_window_source_of(b, &window, k, axis[2 + k].sym);
    exact = exact && m[k].exact;
    axis[n++] = m[k].axis;
    xi[2 + k] = m[k].x, wi[2 + k] = m[k].w;
  }
  wick_elem acc = wick_stage_arith(x->elem);
  wick_value state =
                 wick_stage_fold(b, "conv_transpose", n, axis, c->out_type[0], WICK_OP_add, acc),
             none = {0}, zero = wick_stage_zero(b, x->elem);
  wick_value a = wick_read(b, c->in[0], xi, 0, NULL, zero),
             v = wick_read(b, c->in[1], wi, 0, NULL, exact ? none : zero);
  for (uint32_t k = 0; k < nsp && !exact; k++) { /* outputs without a window get nothing */
    wick_value on = wick_stage_inside(b, 1, &m[k].w, &w->dim[2 + k]);
    if (on.id) a = wick_build3(b, WICK_OP_where, on, a, zero);
    if (wick_dim_is(m[k].rest, 0)) continue;
    on = wick_stage_compare(b, WICK_OP_eq, m[k].rest, wick_dim_const(0));
    a = wick_build3(b, WICK_OP_where, on, a, zero);
    v = wick_build3(b, WICK_OP_where, on, v, zero);
  }
  a = wick_build_cast(b, a, acc), v = wick_build_cast(b, v, acc);
  state = wick_stage_finish(b, wick_stage_muladd(b, a, v, state), WICK_OP_add);
  if (c->nin > 2 && c->in[2].id)
    state =
        wick_build2(b, WICK_OP_add, state,
                    wick_build_cast(b, wick_read(b, c->in[2], &axis[1].sym, 0, NULL, none), acc));
  c->out[0] = wick_stage_end(b, state, c->out_type[0]);
}

const wick_op wick_op_conv_transpose = {
    .name = "conv_transpose",
    .doc = "Transposed convolution of x [N, C, spatial...] with w [C, M/group, window...], plus "
           "bias [M]: y[n,m,o] is the sum of x[n,c,i] * w[c,m,k] over all c, i and k with o = "
           "i*stride + k*dilation - pad, plus bias[m]. x is 0 outside its bounds. `output_pad` "
           "lengthens the result at its end. Sums run in the order c, k, each step one fma; f16 "
           "and bf16 are summed in f32; integers wrap",
    .nin = {2, 3},
    .nout = {1, 1},
    .attr = {WICK_WINDOW_ATTRS,
             {"group", WICK_ATTR_INT, 1, false, NULL, 1, WICK_WINDOW_LIMIT},
             {"output_pad", WICK_ATTR_INTS, 0, false, NULL, 0, WICK_WINDOW_LIMIT}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = conv_transpose_infer,
    .ref = conv_transpose_ref,
    .products = wick_products_conv_transpose,
    .compute = conv_transpose_compute,
    .grad = wick_grad_conv_transpose,
    .linear = {1 | 4, 2 | 4},
    .batch = {wick_batch_conv_transpose, .in = {1}, .out = {1}},
};
