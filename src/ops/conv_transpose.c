/* Transposed convolution: each element of x spreads its window over the result. */
#include "ops/ref.h"
#include "ops/window.h"

enum { TRANSPOSE_GROUP = WICK_WINDOW_NATTR, TRANSPOSE_OUTPUT_PAD };

static wick_status conv_transpose_operands(wick_infer *c, const wick_type_info *x,
                                           const wick_type_info *w, wick_dim channels)
{
  if (w->rank != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "w has rank %u, wanted %u as x has", w->rank, x->rank);
  if (!wick_dim_eq(w->dim[0], x->dim[1]))
    return wick_infer_fail(c, WICK_ETYPE, "x has %s channels, w is for %s",
                           wick_infer_dim_text(c, x->dim[1]), wick_infer_dim_text(c, w->dim[0]));
  wick_dim group = wick_dim_const(c->attr[TRANSPOSE_GROUP].i);
  if (!wick_dim_is(wick_dim_mod(c->module->dims, x->dim[1], group), 0))
    return wick_infer_fail(c, WICK_ETYPE, "%s channels in %lld groups",
                           wick_infer_dim_text(c, x->dim[1]), (long long)group.v);
  for (uint32_t k = 2; k < w->rank; k++)
    if (!wick_dim_is_const(w->dim[k]) || w->dim[k].v < 1)
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u of w is %s, wanted a number above 0", k,
                             wick_infer_dim_text(c, w->dim[k]));
  if (c->nin > 2 && c->in[2]) {
    const wick_type_info *bias;
    WICK_TRY(wick_infer_alike(c, 2, "bias", 1, &bias));
    if (bias->rank != 1 || !wick_dim_eq(bias->dim[0], channels))
      return wick_infer_fail(c, WICK_ETYPE, "bias is %s, wanted [%s]",
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
  wick_dim channels = wick_dim_mul(t, w->dim[1], wick_dim_const(c->attr[TRANSPOSE_GROUP].i));
  WICK_TRY(conv_transpose_operands(c, x, w, channels));
  const wick_attr *extra = &c->attr[TRANSPOSE_OUTPUT_PAD];
  if (extra->n && extra->n + 2 != x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "output_pad has %u numbers, wanted %u", extra->n,
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

/* out * 1 = i * stride + at * dilation - begin, solved for i. *none: no i; -1: i lies outside x. */
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
  int64_t channels;          /* of one group */
  int64_t weight_step;       /* from input channel to input channel */
  const wick_scalar *x;      /* of the image, at the group's first channel */
  const wick_scalar *weight; /* of the group's first input channel, at the output channel */
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
  int64_t group = c->attr[TRANSPOSE_GROUP].i, kernel = wick_ref_product(w, 2, w->rank),
          size = wick_ref_product(x, 2, x->rank), per_group = w->dim[1];
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

const wick_op wick_op_conv_transpose = {
    .name = "conv_transpose",
    .doc = "Transposed convolution of x [N, C, spatial...] with w [C, M/group, window...], plus "
           "bias [M]: y[n,m,o] is the sum of x[n,c,i] * w[c,m,k] over all c, i, k with "
           "o = i*stride + k*dilation - pad, where x is 0 outside; plus bias[m]. `output_pad` "
           "lengthens the end. Summed in the order c, k by fma, f16 and bf16 in f32; integers wrap",
    .nin = {2, 3},
    .nout = {1, 1},
    .attr = {WICK_WINDOW_ATTRS,
             {"group", WICK_ATTR_INT, 1, false, NULL, 1, WICK_WINDOW_LIMIT},
             {"output_pad", WICK_ATTR_INTS, 0, false, NULL, 0, WICK_WINDOW_LIMIT}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = conv_transpose_infer,
    .ref = conv_transpose_ref,
};
