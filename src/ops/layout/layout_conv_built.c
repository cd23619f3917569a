/* Weights of packed convolutions that are computed, by nodes that pack them. */
#include "ops/layout/layout_conv.h"
#include "ops/nn/window.h"

bool wick_layout_conv_builds(const layout_conv *v)
{
  return (v->group == 1 || v->depthwise) && v->in.parts == 1 && v->k == 1;
}

/* Reshapes to `rank` dimensions. */
static wick_value conv_built_shape(wick_builder *b, wick_value x, uint32_t rank, const int64_t *dim)
{
  wick_dim to[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) to[k] = wick_dim_const(dim[k]);
  return wick_build_reshape(b, x, rank, to);
}

/* Moves the channels of w [O, C, window] after the window. If x is packed, they are one run. */
static wick_value conv_built_last(wick_builder *b, const layout_conv *v, wick_value w)
{
  int64_t perm[WICK_MAX_RANK] = {0}, dim[WICK_MAX_RANK] = {v->wd[0], 1};
  uint32_t rank = v->nsp + 2;
  for (uint32_t k = 2; k < rank; k++) perm[k - 1] = k, dim[k] = v->wd[k];
  perm[rank - 1] = 1, dim[rank] = v->wd[1];
  w = wick_build_transpose(b, w, rank, perm);
  return v->plain ? w : conv_built_shape(b, w, rank + 1, dim);
}

/* Returns true if all places of both orders are channels, in their order. */
static bool conv_built_whole(const layout_conv *v)
{
  return v->out.parts == 1 && wick_order_places(&v->out) == v->wd[0] &&
         wick_order_places(&v->in) == v->wd[1];
}

/* Returns the slice of taps that the weights are, or NULL. The phases of a transposed convolution are
 * slices of the same weights, which are then packed once. */
static const wick_node *conv_built_slice(const wick_layouts *s, const layout_conv *v, int64_t *taps)
{
  enum { MOST = 16 }; /* times as many taps as the slice has */
  uint32_t d = s->definer[v->n->in[1].id];
  const wick_node *n = d == UINT32_MAX ? NULL : &s->c.f->node[d];
  int64_t from[WICK_MAX_RANK], all = 1;
  if (!n || n->op != WICK_OP_slice || n->nin != 1 ||
      !wick_type_const_dims(wick_layout_info(s, n->in[0]), from) || from[0] != v->wd[0] ||
      from[1] != v->wd[1])
    return NULL;
  const wick_attr *a = n->attr;
  for (uint32_t k = 0; k < 2 + v->nsp; k++)
    if (!wick_dim_is_const(a[WICK_ATTR_slice_begin].dims[k])) return NULL;
  for (uint32_t k = 0; k < 2; k++) /* channels in another order */
    if (a[WICK_ATTR_slice_step].n && a[WICK_ATTR_slice_step].ints[k] != 1) return NULL;
  for (uint32_t k = 0; k < v->nsp; k++) all *= taps[k] = from[2 + k];
  return all <= MOST * v->area ? n : NULL;
}

/* Selects the taps of x, whose axes begin at `axis`. */
static wick_value conv_built_select(wick_builder *b, const layout_conv *v, const wick_node *slice,
                                    wick_value x, uint32_t axis)
{
  const wick_attr *a = slice->attr;
  for (uint32_t k = 0; k < v->nsp; k++)
    x = wick_build_slice_axis(b, x, axis + k, a[WICK_ATTR_slice_begin].dims[2 + k],
                              wick_dim_const(v->wd[2 + k]),
                              a[WICK_ATTR_slice_step].n ? a[WICK_ATTR_slice_step].ints[2 + k] : 1);
  return x;
}

/* Builds [OB, CB, taps.., ci, co] by a single transposition; with `first`, the taps are first. All
 * places must be channels. */
static wick_value conv_built_blocks(wick_layouts *s, const layout_conv *v, bool first)
{
  wick_builder *b = &s->c.b;
  int64_t in = v->in.block, out = v->out.block, taps[WICK_WINDOW_MAX],
          dim[WICK_MAX_RANK] = {v->wd[0] / out, out, v->wd[1] / in, in}, perm[WICK_MAX_RANK];
  const wick_node *slice = conv_built_slice(s, v, taps);
  uint32_t n = 0;
  for (uint32_t k = 0; k < v->nsp; k++) dim[4 + k] = slice ? taps[k] : v->wd[2 + k];
  for (uint32_t k = 0; first && k < v->nsp; k++) perm[n++] = 4 + k;
  perm[n++] = 0, perm[n++] = 2;
  for (uint32_t k = 0; !first && k < v->nsp; k++) perm[n++] = 4 + k;
  perm[n++] = 3, perm[n++] = 1;
  wick_value w = wick_layout_plain(s, slice ? slice->in[0] : v->n->in[1]);
  w = wick_build_transpose(b, conv_built_shape(b, w, n, dim), n, perm);
  return slice ? conv_built_select(b, v, slice, w, first ? 0 : 2) : w;
}

wick_value wick_layout_conv_built(wick_layouts *s, const layout_conv *v)
{
  wick_builder *b = &s->c.b;
  bool blocks = !v->across && !v->depthwise && !v->plain && v->channels % v->in.block == 0;
  if (blocks && conv_built_whole(v)) return conv_built_blocks(s, v, false);
  wick_value w = wick_layout_plain(s, v->n->in[1]);
  if (v->across) return wick_build_pack(b, w, 1, &v->in);
  if (v->depthwise) {
    int64_t dim[WICK_MAX_RANK] = {v->wd[0]};
    for (uint32_t k = 0; k < v->nsp; k++) dim[1 + k] = v->wd[2 + k];
    w = conv_built_shape(b, w, 1 + v->nsp, dim);
  } else if (!blocks) {
    w = conv_built_last(b, v, w);
  } else {
    w = wick_build_pack(b, w, 1, &v->in);
  }
  return wick_build_pack(b, w, 0, &v->out);
}

wick_value wick_layout_conv_bias(wick_layouts *s, const layout_conv *v)
{
  int64_t dim[WICK_MAX_RANK] = {1, v->wd[0], 1, 1, 1};
  wick_value bias = conv_built_shape(&s->c.b, wick_layout_plain(s, v->n->in[2]), v->nsp + 2, dim);
  return v->across ? bias : wick_build_pack(&s->c.b, bias, 1, &v->out);
}

/* Builds the constant [n * n, r * r] of the products of rows of the weights' transform. */
static wick_value conv_built_rows(wick_layouts *s, const wick_winograd *w)
{
  int64_t dim[2] = {w->n * w->n, w->r * w->r};
  float *data =
      wick_arena_alloc(&s->c.f->module->mem, (size_t)(dim[0] * dim[1]) * sizeof *data, 64);
  for (int64_t k = 0; k < dim[0]; k++)
    for (int64_t t = 0; t < dim[1]; t++)
      data[k * dim[1] + t] = (float)(w->g[k / w->n][t / w->r] * w->g[k % w->n][t % w->r]);
  return wick_layout_new_constant(s, "winograd", WICK_F32, data, 2, dim);
}

wick_value wick_layout_conv_transformed(wick_layouts *s, const layout_conv *v, int64_t m)
{
  wick_builder *b = &s->c.b;
  wick_winograd t;
  if (!wick_winograd_of(m, v->wd[2], &t)) return (wick_value){0};
  int64_t ob = wick_order_places(&v->out) / s->block, cb = wick_order_places(&v->in) / s->block,
          n = s->block, taps = t.r * t.r, dim[3] = {v->wd[0], v->wd[1], taps},
          first[5] = {2, 0, 1, 3, 4};
  wick_value w;
  if (conv_built_whole(v)) {
    w = conv_built_blocks(s, v, true);
  } else {
    w = conv_built_shape(b, wick_layout_plain(s, v->n->in[1]), 3, dim);
    w = wick_build_pack(b, w, 1, &v->in);
    w = wick_build_transpose(b, wick_build_pack(b, w, 0, &v->out), 5, first);
  }
  int64_t flat[2] = {taps, ob * cb * n * n}, to[5] = {t.n * t.n, ob, cb, n, n};
  w = conv_built_shape(b, w, 2, flat);
  wick_value rows = conv_built_rows(s, &t);
  return conv_built_shape(b, wick_build2(b, WICK_OP_matmul, rows, w), 5, to);
}
