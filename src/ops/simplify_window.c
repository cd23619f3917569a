/* Simplification of convolutions and pools: what is around an image becomes an attribute. */
#include <math.h>
#include <string.h>

#include "ops/nn/window.h"
#include "ops/simplify.h"

#define END                                                                                        \
  {                                                                                                \
    NULL, NULL, NULL, NULL                                                                         \
  }

static const wick_value window_none = {0};

/* The matched node on other operands, with other pads, and other dilations unless they are NULL. */
static wick_value window_build(wick_rewriter *r, const wick_value *in, const int64_t *pad,
                               const int64_t *dilation)
{
  const wick_node *n = r->node;
  uint32_t space = wick_rewrite_info(r, in[0])->rank - 2u;
  wick_attr a[WICK_MAX_ATTR];
  memcpy(a, n->attr, n->nattr * sizeof *a);
  a[WICK_WINDOW_PAD] = (wick_attr){.n = 2 * space, .ints = pad};
  if (dilation) a[WICK_WINDOW_DILATION] = (wick_attr){.n = space, .ints = dilation};
  return wick_build(&r->c.b, n->op, n->nin, in, a, 0, NULL);
}

/* The operands of the matched node with x as the first. */
static const wick_value *window_operands(wick_rewriter *r, wick_value x)
{
  wick_value *in = wick_new(r->mem, wick_value, r->node->nin);
  memcpy(in, r->in, r->node->nin * sizeof *in);
  in[0] = x;
  return in;
}

/* ---- pads ---- */

/* Finds the pads of the matched node together with those of v, a `pad` before it, of mode
 * `constant`. *x: what is padded. Fails if images or channels are padded, or something is cut off. */
static bool window_pads_of(wick_rewriter *r, wick_value v, wick_value *x, int64_t *own,
                           int64_t *pad)
{
  wick_node d;
  if (!wick_rewrite_def(r, v, WICK_OP_pad, &d)) return false;
  uint32_t rank = wick_rewrite_info(r, d.in[0])->rank, space = rank - 2;
  const wick_attr *list = &r->node->attr[WICK_WINDOW_PAD], *more = &d.attr[WICK_ATTR_pad_pad];
  if (d.attr[WICK_ATTR_pad_mode].i || more->n != 2 * rank) return false;
  for (uint32_t k = 0; k < 2 * rank; k++) {
    wick_dim size = more->dims[k];
    if (!wick_dim_is_const(size) || size.v < 0 || size.v > WICK_WINDOW_LIMIT) return false;
    if (k % rank < 2 && size.v) return false; /* images, or channels */
    if (k % rank < 2) continue;
    uint32_t at = (k < rank ? 0 : space) + k % rank - 2;
    own[at] = list->n ? list->ints[at] : 0;
    pad[at] = size.v + own[at];
    if (pad[at] > WICK_WINDOW_LIMIT) return false;
  }
  *x = d.in[0];
  return true;
}

static bool window_pads(wick_rewriter *r, wick_value *x, int64_t *own, int64_t *pad)
{
  return window_pads_of(r, r->in[0], x, own, pad);
}

static wick_value window_pad_into_conv(wick_rewriter *r)
{
  int64_t own[2 * WICK_MAX_RANK], pad[2 * WICK_MAX_RANK];
  wick_value x;
  if (!window_pads(r, &x, own, pad)) return window_none;
  return window_build(r, window_operands(r, x), pad, NULL);
}

/* Zero points that a pad adds to quantized numbers are zeros after they are subtracted. */
static wick_value window_zero_points_into_conv(wick_rewriter *r)
{
  int64_t own[2 * WICK_MAX_RANK], pad[2 * WICK_MAX_RANK], zero = 0, fill = 0;
  wick_value v = r->in[0], x;
  wick_node d;
  wick_elem e = wick_rewrite_info(r, v)->elem;
  bool shifted = wick_elem_is_int(e) && wick_rewrite_def(r, v, WICK_OP_sub, &d) &&
                 wick_rewrite_int(r, d.in[1], &zero);
  if (shifted) v = d.in[0];
  if (!wick_rewrite_def(r, v, WICK_OP_cast, &d)) return window_none;
  v = d.in[0];
  wick_elem own_elem = wick_rewrite_info(r, v)->elem;
  if (!wick_elem_is_int(own_elem) || !wick_elem_is_int(e) ||
      wick_elem_storage[own_elem].bits >= wick_elem_storage[e].bits ||
      !wick_rewrite_def(r, v, WICK_OP_pad, &d) ||
      (d.nin > 1 && d.in[1].id && !wick_rewrite_int(r, d.in[1], &fill)) || fill != zero ||
      !window_pads_of(r, v, &x, own, pad))
    return window_none;
  x = wick_build_cast(&r->c.b, x, e);
  if (shifted) {
    wick_type one = wick_type_tensor(r->c.f->module, e, 0, NULL);
    wick_value number = wick_build_const(&r->c.b, one, 0, zero);
    x = wick_build2(&r->c.b, WICK_OP_sub, x, number);
  }
  return window_build(r, window_operands(r, x), pad, NULL);
}

/* Zeros that a pad adds count as elements. Those of the pool itself must count as well, or there
 * are none. */
static wick_value window_pad_into_avg_pool(wick_rewriter *r)
{
  int64_t own[2 * WICK_MAX_RANK], pad[2 * WICK_MAX_RANK];
  wick_value x;
  if (!window_pads(r, &x, own, pad)) return window_none;
  bool counts = r->node->attr[WICK_ATTR_avg_pool_count_pad].i;
  for (uint32_t k = 0; k < 2 * (wick_rewrite_info(r, x)->rank - 2u); k++)
    if (!counts && own[k]) return window_none;
  wick_attr a[WICK_MAX_ATTR];
  memcpy(a, r->node->attr, r->node->nattr * sizeof *a);
  a[WICK_WINDOW_PAD].ints = pad, a[WICK_WINDOW_PAD].n = 2 * (wick_rewrite_info(r, x)->rank - 2u);
  a[WICK_ATTR_avg_pool_count_pad].i = 1;
  return wick_build(&r->c.b, WICK_OP_avg_pool, 1, &x, a, 0, NULL);
}

/* Whether no element of v is below 0 or -0. */
static bool window_is_positive(wick_rewriter *r, wick_value v)
{
  wick_node d;
  double c;
  if (wick_rewrite_def(r, v, WICK_OP_relu, &d)) return true;
  return wick_rewrite_def(r, v, WICK_OP_min, &d) && wick_rewrite_number(r, d.in[1], &c) && c > 0 &&
         wick_rewrite_def(r, d.in[0], WICK_OP_relu, &d);
}

/* A maximum leaves its own padding out. So does one over numbers that are never greater than an
 * element of the window: infinitely small ones, or zeros beside positive elements. Each window must
 * have an element. */
static wick_value window_pad_into_max_pool(wick_rewriter *r)
{
  const wick_node *n = r->node;
  int64_t own[2 * WICK_MAX_RANK], pad[2 * WICK_MAX_RANK];
  wick_value x;
  wick_node d;
  double c = 0;
  if (n->nout > 1 || n->attr[WICK_ATTR_max_pool_ceil].i || n->attr[WICK_WINDOW_DILATION].n ||
      !window_pads(r, &x, own, pad))
    return window_none;
  wick_rewrite_def(r, r->in[0], WICK_OP_pad, &d);
  if (d.nin > 1 && !wick_rewrite_number(r, d.in[1], &c)) return window_none;
  if (!wick_elem_is_float(wick_rewrite_info(r, x)->elem)) return window_none;
  if (!(isinf(c) && c < 0) && !(c == 0 && window_is_positive(r, x))) return window_none;
  uint32_t space = wick_rewrite_info(r, x)->rank - 2u;
  for (uint32_t k = 0; k < 2 * space; k++)
    if (pad[k] >= n->attr[WICK_ATTR_max_pool_kernel].ints[k % space]) return window_none;
  return window_build(r, &x, pad, NULL);
}

/* ---- taps that meet no element ---- */

/* Finds the first and the last tap of dimension k that meet an element of an image of `in` elements
 * for one of `out` windows. */
static bool window_taps(const wick_window *w, uint32_t k, int64_t in, int64_t out, int64_t *first,
                        int64_t *last)
{
  *first = -1;
  for (int64_t tap = 0; tap < w->kernel[k]; tap++) {
    int64_t at = tap * w->dilation[k] - w->begin[k]; /* of window 0; a window begins each stride */
    int64_t skip = at < 0 ? (-at + w->stride[k] - 1) / w->stride[k] : 0;
    if (skip >= out || at + skip * w->stride[k] >= in) continue;
    if (*first < 0) *first = tap;
    *last = tap;
  }
  return *first >= 0;
}

enum { WINDOW_TAPS = 64 };

/* Cuts off the taps of a convolution that only meet its padding. */
static wick_value window_cut_taps(wick_rewriter *r)
{
  const wick_type_info *x = wick_rewrite_info(r, r->in[0]), *w = wick_rewrite_info(r, r->in[1]),
                       *y = wick_info_of(r->c.f, r->node->first);
  int64_t xd[WICK_MAX_RANK], wd[WICK_MAX_RANK], yd[WICK_MAX_RANK], pad[2 * WICK_WINDOW_MAX];
  uint32_t space = w->rank - 2u;
  if (!wick_type_const_dims(x, xd) || !wick_type_const_dims(w, wd) || !wick_type_const_dims(y, yd))
    return window_none;
  wick_window window = wick_window_of(r->node->attr, space, wd + 2);
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  bool less = false;
  for (uint32_t k = 0; k < w->rank; k++) begin[k] = wick_dim_const(0), shape[k] = w->dim[k];
  for (uint32_t k = 0; k < space; k++) {
    int64_t first, last;
    if (wd[2 + k] > WINDOW_TAPS || !window_taps(&window, k, xd[2 + k], yd[2 + k], &first, &last))
      return window_none;
    pad[k] = window.begin[k] - first * window.dilation[k];
    pad[space + k] = window.end[k] - (wd[2 + k] - 1 - last) * window.dilation[k];
    if (pad[k] < 0 || pad[space + k] < 0) return window_none;
    begin[2 + k] = wick_dim_const(first), shape[2 + k] = wick_dim_const(last + 1 - first);
    less = less || last + 1 - first < wd[2 + k];
  }
  if (!less) return window_none;
  wick_value *in = wick_new(r->mem, wick_value, r->node->nin);
  memcpy(in, r->in, r->node->nin * sizeof *in);
  in[1] = wick_build_slice(&r->c.b, in[1], w->rank, begin, shape, NULL);
  return window_build(r, in, pad, NULL);
}

/* ---- space to batch ---- */

/* The images in which every block-th pixel of x is a neighbour: x as [N, C, rows, block, ...], with
 * the blocks' dimensions moved to the images, in the order of `perm`. */
typedef struct window_phases {
  wick_value x;
  int64_t block[WICK_WINDOW_MAX];
  int64_t perm[WICK_MAX_RANK];
  uint32_t rank; /* of x as it is transposed */
} window_phases;

/* Finds such images: reshape(transpose(reshape(x))). A dimension without phases may stay whole. */
static bool window_phases_of(wick_rewriter *r, wick_value v, window_phases *p)
{
  wick_node merged, turned, parts;
  if (!wick_rewrite_def(r, v, WICK_OP_reshape, &merged) ||
      !wick_rewrite_def(r, merged.in[0], WICK_OP_transpose, &turned) ||
      !wick_rewrite_def(r, turned.in[0], WICK_OP_reshape, &parts))
    return false;
  int64_t xd[WICK_MAX_RANK], pd[WICK_MAX_RANK], vd[WICK_MAX_RANK];
  const wick_type_info *x = wick_rewrite_info(r, parts.in[0]),
                       *split = wick_rewrite_info(r, turned.in[0]), *y = wick_rewrite_info(r, v);
  uint32_t space = x->rank - 2u, at = 2, place[WICK_MAX_RANK], nbatch = 1;
  if (x->rank < 3 || space > WICK_WINDOW_MAX || y->rank != x->rank ||
      !wick_type_const_dims(x, xd) || !wick_type_const_dims(split, pd) ||
      !wick_type_const_dims(y, vd) || split->rank < 3 || pd[0] != xd[0] || pd[1] != xd[1])
    return false;
  p->x = parts.in[0], p->rank = split->rank;
  uint32_t outer[WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < space; k++) {
    outer[k] = at, p->block[k] = 1;
    if (at >= split->rank) return false;
    if (pd[at] != xd[2 + k]) {
      if (at + 1 >= split->rank || pd[at] * pd[at + 1] != xd[2 + k]) return false;
      p->block[k] = pd[++at], nbatch++;
    }
    at++;
  }
  if (at != split->rank || nbatch == 1) return false;
  for (uint32_t k = 0; k < split->rank; k++) {
    const wick_attr *a = &turned.attr[WICK_ATTR_transpose_perm];
    p->perm[k] = a->n ? a->ints[k] : split->rank - 1 - (int64_t)k;
    place[p->perm[k]] = k;
  }
  /* images and phases come first, then the channels, then the dimensions of space */
  if (place[1] != nbatch) return false;
  for (uint32_t k = 0; k < space; k++)
    if (place[outer[k]] != nbatch + 1 + k || vd[2 + k] != xd[2 + k] / p->block[k]) return false;
  return vd[1] == xd[1];
}

/* conv(space_to_batch(x)) becomes space_to_batch(conv(x)) with the blocks as dilation. Behind it
 * stands, as a rule, the inverse. */
static wick_value window_conv_of_phases(wick_rewriter *r)
{
  window_phases p;
  if (!window_phases_of(r, r->in[0], &p)) return window_none;
  int64_t wd[WICK_MAX_RANK], yd[WICK_MAX_RANK], pad[2 * WICK_WINDOW_MAX], dilation[WICK_WINDOW_MAX],
      xd[WICK_MAX_RANK];
  const wick_type_info *y = wick_info_of(r->c.f, r->node->first);
  uint32_t space = y->rank - 2u, at = 2;
  if (!wick_type_const_dims(wick_rewrite_info(r, r->in[1]), wd) || !wick_type_const_dims(y, yd) ||
      !wick_type_const_dims(wick_rewrite_info(r, p.x), xd))
    return window_none;
  wick_window w = wick_window_of(r->node->attr, space, wd + 2);
  wick_dim dim[WICK_MAX_RANK] = {wick_dim_const(xd[0]), wick_dim_const(yd[1])};
  for (uint32_t k = 0; k < space; k++) {
    if (w.stride[k] != 1) return window_none;
    pad[k] = w.begin[k] * p.block[k], pad[space + k] = w.end[k] * p.block[k];
    dilation[k] = w.dilation[k] * p.block[k];
    if (pad[k] > WICK_WINDOW_LIMIT || pad[space + k] > WICK_WINDOW_LIMIT ||
        dilation[k] > WICK_WINDOW_LIMIT)
      return window_none;
    dim[at++] = wick_dim_const(yd[2 + k]);
    if (p.block[k] > 1) dim[at++] = wick_dim_const(p.block[k]);
  }
  wick_builder *b = &r->c.b;
  wick_value v = window_build(r, window_operands(r, p.x), pad, dilation);
  if (b->status || at != p.rank) return window_none;
  v = wick_build_reshape(b, v, p.rank, dim);
  v = wick_build_transpose(b, v, p.rank, p.perm);
  return wick_build_reshape(b, v, y->rank, y->dim);
}

const wick_rewrite wick_simplify_conv[] = {
    {"conv(pad(x), ..)", NULL, NULL, window_pad_into_conv},
    {"conv(pad(x, 0), ..)", NULL, NULL, window_pad_into_conv},
    {"conv(cast(x), ..)", NULL, NULL, window_zero_points_into_conv},
    {"conv(sub(x, y), ..)", NULL, NULL, window_zero_points_into_conv},
    {"conv(reshape(transpose(reshape(x))), ..)", NULL, NULL, window_conv_of_phases},
    {"conv(x, ..)", NULL, NULL, window_cut_taps},
    END};

const wick_rewrite wick_simplify_avg_pool[] = {
    {"avg_pool(pad(x))", NULL, NULL, window_pad_into_avg_pool},
    {"avg_pool(pad(x, 0))", NULL, NULL, window_pad_into_avg_pool},
    END};

const wick_rewrite wick_simplify_max_pool[] = {
    {"max_pool(pad(x, ..))", NULL, NULL, window_pad_into_max_pool}, END};
