/* Imports windows over more than three spatial dimensions. Wick's operators have up to three.
 * The first dimensions, the outer ones, are removed from the window. For a convolution, elements
 * of the window along them become channels, and positions along them become batch entries. Pools
 * first pool the inner dimensions, and then the others. */
#include <string.h>

#include "import/onnx/import.h"

enum { SPATIAL_INNER = WICK_ONNX_WINDOW, SPATIAL_MOST_TAPS = 4096 };

/* A convolution's outer dimensions. */
typedef struct spatial {
  wick_onnx_op *o;
  const wick_onnx_window *w;
  uint32_t outer;  /* the number of outer dimensions */
  bool transposed; /* zeros are inserted into x, and weights are in reverse order */
  int64_t size[WICK_ONNX_SPATIAL], out[WICK_ONNX_SPATIAL]; /* of x after padding; of the result */
  int64_t taps;
  wick_dim n, c, inner[SPATIAL_INNER]; /* sizes of x */
} spatial;

static wick_value spatial_pad(wick_onnx_op *o, wick_value x, uint32_t axis, int64_t before,
                              int64_t after)
{
  if (o->b->status || (!before && !after)) return x;
  uint32_t rank = wick_built_info(o->b, x)->rank;
  wick_dim pad[2 * WICK_MAX_RANK];
  for (uint32_t k = 0; k < 2 * rank; k++)
    pad[k] = wick_dim_const(k == axis ? before : k == rank + axis ? after : 0);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  return wick_emit_end1(&e, x);
}

/* Inserts s - 1 zeros between the n elements along an axis. */
static wick_value spatial_stretch(wick_onnx_op *o, wick_value x, uint32_t axis, int64_t n,
                                  int64_t s)
{
  if (o->b->status || s == 1 || n < 2) return x;
  wick_type_info t = *wick_built_info(o->b, x);
  wick_dim dim[WICK_MAX_RANK];
  memcpy(dim, t.dim, t.rank * sizeof *dim);
  x = spatial_pad(o, wick_emit_unsqueeze(o->b, x, axis + 1), axis + 1, 0, s - 1);
  dim[axis] = wick_dim_const(n * s);
  return spatial_pad(o, wick_build_reshape(o->b, x, t.rank, dim), axis, 0, 1 - s);
}

/* Pads x along the outer dimensions, and computes the sizes. */
static wick_value spatial_begin(spatial *s, const int64_t *out_pad)
{
  wick_onnx_op *o = s->o;
  const wick_onnx_window *w = s->w;
  const wick_type_info *t = wick_onnx_info(o, 0);
  wick_value x = o->in[0];
  s->n = t->dim[0], s->c = t->dim[1], s->taps = 1;
  for (uint32_t k = 0; k < SPATIAL_INNER; k++) s->inner[k] = t->dim[2 + s->outer + k];
  for (uint32_t k = 0; k < s->outer; k++) {
    wick_dim d = wick_onnx_info(o, 0)->dim[2 + k];
    if (!wick_dim_is_const(d))
      return wick_onnx_must_be_known(o, "an outer size of more than three", d), (wick_value){0};
    int64_t n = d.v, reach = (w->kernel[k] - 1) * w->dilation[k], before = w->pad[k],
            after = w->pad[w->n + k];
    if (s->transposed) {
      x = spatial_stretch(o, x, 2 + k, n, w->stride[k]);
      n = n ? (n - 1) * w->stride[k] + 1 : 0;
      before = reach - before, after = reach - after + out_pad[k];
    }
    s->size[k] = n + before + after;
    s->out[k] =
        s->size[k] <= reach ? 0 : (s->size[k] - reach - 1) / (s->transposed ? 1 : w->stride[k]) + 1;
    s->taps = s->taps > SPATIAL_MOST_TAPS ? s->taps : s->taps * w->kernel[k];
    if (s->out[k] < 1 || s->taps > SPATIAL_MOST_TAPS) {
      wick_onnx_fail(o, s->out[k] < 1 ? WICK_ETYPE : WICK_EUNSUPPORTED,
                     s->out[k] < 1 ? "its window does not fit into spatial dimension %u"
                                   : "the window is too large in more than three dimensions (%u)",
                     k);
      return (wick_value){0};
    }
    x = spatial_pad(o, x, 2 + k, before, after);
  }
  return x;
}

/* Slices the elements of x that one element of the window reads, `at` along each outer
 * dimension: [n, c, 1, out..., inner]. */
static wick_value spatial_tap(const spatial *s, wick_value x, const int64_t *at)
{
  wick_onnx_op *o = s->o;
  uint32_t rank = 2 + s->outer + SPATIAL_INNER;
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  if (o->b->status) return x;
  for (uint32_t k = 0; k < rank; k++)
    begin[k] = wick_dim_const(0), shape[k] = wick_built_info(o->b, x)->dim[k], step[k] = 1;
  for (uint32_t k = 0; k < s->outer; k++) {
    int64_t tap = s->transposed ? s->w->kernel[k] - 1 - at[k] : at[k];
    begin[2 + k] = wick_dim_const(tap * s->w->dilation[k]);
    shape[2 + k] = wick_dim_const(s->out[k]);
    step[2 + k] = s->transposed ? 1 : s->w->stride[k];
  }
  wick_emit e = wick_emit_begin(o->b, WICK_OP_slice);
  wick_emit_set_dims(&e, "begin", rank, begin);
  wick_emit_set_dims(&e, "shape", rank, shape);
  wick_emit_set_ints(&e, "step", rank, step);
  return wick_emit_unsqueeze(o->b, wick_emit_end1(&e, x), 2);
}

static wick_dim spatial_outs(const spatial *s, wick_dim n)
{
  for (uint32_t k = 0; k < s->outer; k++)
    n = wick_dim_mul(s->o->c->module->dims, n, wick_dim_const(s->out[k]));
  return n;
}

/* Gathers the slices for all elements of the window: [n * out..., c * taps, inner]. */
static wick_value spatial_unfold(const spatial *s, wick_value x)
{
  wick_onnx_op *o = s->o;
  int64_t at[WICK_ONNX_SPATIAL] = {0}, perm[WICK_MAX_RANK];
  wick_value *tap = wick_new(o->c->tmp, wick_value, (size_t)s->taps);
  for (int64_t i = 0; i < s->taps; i++) {
    tap[i] = spatial_tap(s, x, at);
    for (uint32_t k = s->outer; k-- > 0 && ++at[k] == s->w->kernel[k];) at[k] = 0;
  }
  x = wick_build_concat(o->b, 2, (uint32_t)s->taps, tap); /* [n, c, taps, out..., inner] */
  uint32_t rank = 0;
  perm[rank++] = 0;
  for (uint32_t k = 0; k < s->outer; k++) perm[rank++] = 3 + k;
  perm[rank++] = 1, perm[rank++] = 2;
  for (uint32_t k = 0; k < SPATIAL_INNER; k++) perm[rank++] = 3 + s->outer + k;
  wick_dim dim[2 + SPATIAL_INNER] = {
      spatial_outs(s, s->n), wick_dim_mul(o->c->module->dims, s->c, wick_dim_const(s->taps))};
  memcpy(dim + 2, s->inner, sizeof s->inner);
  return wick_build_reshape(o->b, wick_build_transpose(o->b, x, rank, perm), 2 + SPATIAL_INNER,
                            dim);
}

/* Merges the outer dimensions of the weights into the input channels, which are axis 1, or 0 if
 * transposed. */
static wick_value spatial_weights(const spatial *s)
{
  wick_onnx_op *o = s->o;
  wick_type_info t = *wick_onnx_info(o, 1);
  wick_dims *dims = o->c->module->dims;
  wick_dim dim[2 + SPATIAL_INNER] = {t.dim[0], t.dim[1]};
  int64_t perm[WICK_MAX_RANK];
  wick_value w = o->in[1];
  for (uint32_t k = 0; k < t.rank; k++) perm[k] = k;
  for (uint32_t k = 0; k < s->outer && s->transposed; k++) perm[1 + k] = 2 + k;
  if (s->transposed) perm[1 + s->outer] = 1, w = wick_build_transpose(o->b, w, t.rank, perm);
  uint32_t in = s->transposed ? 0 : 1;
  dim[in] = wick_dim_mul(dims, dim[in], wick_dim_const(s->taps));
  for (uint32_t k = 0; k < SPATIAL_INNER; k++)
    dim[2 + k] = wick_dim_const(s->w->kernel[s->outer + k]);
  return wick_build_reshape(o->b, w, 2 + SPATIAL_INNER, dim);
}

/* Returns the window without the outer dimensions. */
static wick_onnx_window spatial_inner(const wick_onnx_window *w, uint32_t outer)
{
  wick_onnx_window in = {.n = w->n - outer};
  for (uint32_t k = 0; k < in.n; k++) {
    in.kernel[k] = w->kernel[outer + k], in.stride[k] = w->stride[outer + k];
    in.dilation[k] = w->dilation[outer + k];
    in.pad[k] = w->pad[outer + k], in.pad[in.n + k] = w->pad[w->n + outer + k];
  }
  return in;
}

wick_value wick_onnx_spatial_conv(wick_onnx_op *o, wick_opcode op, const wick_onnx_window *w,
                                  const int64_t *out_pad)
{
  spatial s = {.o = o, .w = w, .outer = w->n - SPATIAL_INNER};
  s.transposed = op == WICK_OP_conv_transpose;
  if (w->n + 3 > WICK_MAX_RANK) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "it has %u spatial dimensions, the most is %d", w->n,
                   WICK_MAX_RANK - 3);
    return (wick_value){0};
  }
  wick_value x = spatial_begin(&s, out_pad);
  if (o->failed || o->b->status) return (wick_value){0};
  wick_onnx_window inner = spatial_inner(w, s.outer);
  wick_value in[3] = {spatial_unfold(&s, x), spatial_weights(&s), o->in[2]};
  wick_emit e = wick_emit_begin(o->b, op);
  wick_onnx_window_set(&e, &inner);
  wick_emit_set_int(&e, "group", wick_onnx_int(o, "group", 1));
  if (s.transposed) wick_emit_set_ints(&e, "output_pad", inner.n, out_pad + s.outer);
  wick_value y = wick_emit_end(&e, wick_onnx_has(o, 2) ? 3 : 2, in);
  if (o->b->status) return (wick_value){0};
  const wick_type_info *t = wick_built_info(o->b, y); /* [n * out..., channels, inner] */
  wick_dim dim[WICK_MAX_RANK] = {s.n};
  int64_t perm[WICK_MAX_RANK] = {0, 1 + s.outer};
  uint32_t rank = 2 + w->n;
  for (uint32_t k = 0; k < s.outer; k++) dim[1 + k] = wick_dim_const(s.out[k]), perm[2 + k] = 1 + k;
  for (uint32_t k = 1; k < t->rank; k++) dim[s.outer + k] = t->dim[k];
  for (uint32_t k = 2 + s.outer; k < rank; k++) perm[k] = k;
  return wick_build_transpose(o->b, wick_build_reshape(o->b, y, rank, dim), rank, perm);
}

/* ---- pools ---- */

/* Pools x along w's dimensions, which are the last ones, as [rest, 1, dims...]. */
static wick_value spatial_pool_last(wick_onnx_op *o, const wick_emit *form,
                                    const wick_onnx_window *w, wick_value x)
{
  if (o->b->status) return x;
  wick_type_info t = *wick_built_info(o->b, x);
  uint32_t rest = t.rank - w->n;
  wick_dim dim[WICK_MAX_RANK] = {wick_dim_const(1), wick_dim_const(1)}, whole[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rest; k++)
    whole[k] = t.dim[k], dim[0] = wick_dim_mul(o->c->module->dims, dim[0], t.dim[k]);
  for (uint32_t k = 0; k < w->n; k++) dim[2 + k] = t.dim[rest + k];
  wick_emit e = *form;
  wick_onnx_window_set(&e, w);
  wick_emit_set_ints(&e, "kernel", w->n, w->kernel);
  x = wick_emit_end1(&e, wick_build_reshape(o->b, x, 2 + w->n, dim));
  if (o->b->status) return x;
  for (uint32_t k = 0; k < w->n; k++) whole[rest + k] = wick_built_info(o->b, x)->dim[2 + k];
  return wick_build_reshape(o->b, x, t.rank, whole);
}

wick_value wick_onnx_spatial_pool(wick_onnx_op *o, const wick_emit *form, const wick_onnx_window *w)
{
  int64_t perm[WICK_MAX_RANK];
  wick_value x = o->in[0];
  uint32_t rank = 2 + w->n;
  /* pools the last dimensions, then moves them in front of the others */
  for (uint32_t left = w->n; left;) {
    uint32_t n = left > SPATIAL_INNER ? SPATIAL_INNER : left;
    /* dimensions from left - n on */
    wick_onnx_window whole = spatial_inner(w, left - n), part = whole;
    part.n = n;
    for (uint32_t k = 0; k < n; k++) part.pad[n + k] = whole.pad[whole.n + k];
    x = spatial_pool_last(o, form, &part, x);
    for (uint32_t k = 0; k < w->n; k++) perm[2 + k] = 2 + (k + w->n - n) % w->n;
    perm[0] = 0, perm[1] = 1;
    x = wick_build_transpose(o->b, x, rank, perm);
    left -= n;
  }
  return x;
}
