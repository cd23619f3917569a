/* Sliding windows: their attributes, their number, and the positions that they read. */
#include "ops/nn/window.h"

wick_window wick_window_of(const wick_attr *attr, uint32_t n, const int64_t *kernel)
{
  wick_window w = {.n = n};
  const wick_attr *stride = &attr[WICK_WINDOW_STRIDE], *pad = &attr[WICK_WINDOW_PAD],
                  *dilation = &attr[WICK_WINDOW_DILATION];
  for (uint32_t k = 0; k < n; k++) {
    w.kernel[k] = kernel[k];
    w.stride[k] = stride->n ? stride->ints[k] : 1;
    w.begin[k] = pad->n ? pad->ints[k] : 0;
    w.end[k] = pad->n ? pad->ints[n + k] : 0;
    w.dilation[k] = dilation->n ? dilation->ints[k] : 1;
  }
  return w;
}

wick_status wick_window_check(const wick_infer *c, uint32_t rank, const wick_attr *attr)
{
  const wick_attr_spec *spec = wick_ops[c->op]->attr;
  uint32_t n = rank - 2;
  if (rank < 3 || n > WICK_WINDOW_MAX)
    return wick_infer_fail(c, WICK_ETYPE, "x has rank %u, expected 3 to %u", rank,
                           2 + WICK_WINDOW_MAX);
  for (uint32_t i = 0; i < WICK_WINDOW_NATTR; i++) {
    uint32_t want = i == WICK_WINDOW_PAD ? 2 * n : n;
    if (attr[i].n && attr[i].n != want)
      return wick_infer_fail(c, WICK_ETYPE, "%s has %u numbers, expected %u", spec[i].name,
                             attr[i].n, want);
  }
  return NULL;
}

wick_status wick_window_size(const wick_infer *c, const wick_window *w, uint32_t k, wick_dim in,
                             bool ceil, wick_dim *out)
{
  wick_dims *t = c->module->dims;
  int64_t reach = w->dilation[k] * (w->kernel[k] - 1) + 1;
  wick_dim padded = wick_dim_add(t, in, wick_dim_const(w->begin[k] + w->end[k])),
           span = wick_dim_sub(t, padded, wick_dim_const(reach)),
           stride = wick_dim_const(w->stride[k]);
  if (!wick_infer_least(c, span,
                        ceil ? 1 - w->stride[k]
                             : 0)) /* a window may extend beyond the end by less than a stride */
    return wick_infer_fail(c, WICK_ETYPE,
                           "the window reaches over %lld elements of dimension %u, which has %s "
                           "with its padding",
                           (long long)reach, 2 + k, wick_infer_dim_text(c, padded));
  wick_dim last = ceil ? wick_dim_ceildiv(t, span, stride) : wick_dim_floordiv(t, span, stride);
  *out = wick_dim_add(t, last, wick_dim_const(1));
  if (ceil)
    *out = wick_dim_min(
        t, *out, wick_dim_ceildiv(t, wick_dim_add(t, in, wick_dim_const(w->begin[k])), stride));
  return NULL;
}

const char *wick_window_axis(uint32_t n, uint32_t k)
{
  static const char *const name[WICK_WINDOW_MAX] = {"z", "y", "x"};
  return name[WICK_WINDOW_MAX - n + k];
}

const char *wick_window_tap(uint32_t n, uint32_t k)
{
  static const char *const name[WICK_WINDOW_MAX] = {"q", "r", "s"};
  return name[WICK_WINDOW_MAX - n + k];
}

wick_dim wick_window_at(wick_dims *t, const wick_window *w, uint32_t k, wick_dim out, wick_dim tap)
{
  wick_dim at = wick_dim_mul(t, out, wick_dim_const(w->stride[k]));
  at = wick_dim_add(t, at, wick_dim_mul(t, tap, wick_dim_const(w->dilation[k])));
  return wick_dim_sub(t, at, wick_dim_const(w->begin[k]));
}

bool wick_window_padded(const wick_window *w)
{
  bool padded = false;
  for (uint32_t k = 0; k < w->n; k++) padded = padded || w->begin[k] || w->end[k];
  return padded;
}

wick_window3 wick_window3_of(const wick_window *w, const wick_tensor *in, const wick_tensor *out)
{
  wick_window3 r;
  for (uint32_t k = 0; k < 3; k++) {
    uint32_t lead = 3 - w->n, s = k - lead;
    bool real = k >= lead;
    r.in[k] = real ? in->dim[2 + s] : 1;
    r.out[k] = real ? out->dim[2 + s] : 1;
    r.kernel[k] = real ? w->kernel[s] : 1;
    r.stride[k] = real ? w->stride[s] : 1;
    r.begin[k] = real ? w->begin[s] : 0;
    r.end[k] = real ? w->end[s] : 0;
    r.dilation[k] = real ? w->dilation[s] : 1;
  }
  return r;
}

void wick_window3_inside(const wick_window3 *w, uint32_t k, int64_t at, int64_t *lo, int64_t *hi)
{
  int64_t shift = w->begin[k] - at * w->dilation[k]; /* input index = out * stride - shift */
  *lo = wick_max_i64(0, wick_ceildiv_i64(shift, w->stride[k]));
  *hi = wick_min_i64(w->out[k], wick_ceildiv_i64(w->in[k] + shift, w->stride[k]));
}
